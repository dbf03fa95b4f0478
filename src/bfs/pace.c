/* SPDX-License-Identifier: MIT */
/*
 * A call whose inode is in memory takes a microsecond or so; one for which it is made
 * of a block that is there, five; one that waits for a disk 50 and more.  What a slow
 * machine, or an emulated one, takes without waiting is learned from the quickest run.
 */
#include "bfs/pace.h"

#include <stdbool.h>

enum {
	SLOW_LEAST = 8000,        /* ns a call that is slow anywhere */
	SLOW_MOST = 25000,        /* ... and one that is, whatever was quickest */
	SLOW_TIMES = 3,           /* the quickest */
	CALM_SLOW = 2,            /* of PACE_LONG, too many to be calm */
};

void pace_set(struct pace *pace, enum pace_state state)
{
	pace->state = state;
	pace->runs = pace->slow = 0;
}

/** Whether a run was slow. */
static bool run_slow(struct pace *pace)
{
	uint64_t each = pace->ns / pace->calls;
	if (pace->quickest == 0 || each < pace->quickest)
		pace->quickest = each;
	uint64_t limit = pace->quickest * SLOW_TIMES;
	limit = limit < SLOW_LEAST ? SLOW_LEAST : limit > SLOW_MOST ? SLOW_MOST : limit;
	return each > limit;
}

void pace_note(struct pace *pace, size_t calls, uint64_t ns)
{
	pace->calls += calls;
	pace->ns += ns == UINT64_MAX ? calls * 2 * SLOW_MOST : ns;
	if (pace->calls < PACE_RUN)
		return;
	pace->slow += run_slow(pace);
	pace->calls = 0;
	pace->ns = 0;
	bool waits = pace->state == PACE_WAITS;
	if (++pace->runs < (waits ? PACE_LONG : PACE_LOOK))
		return;
	waits = pace->slow >= (waits ? CALM_SLOW : PACE_LOOK / 2);
	pace_set(pace, waits ? PACE_WAITS : PACE_CALM);
}
