/* SPDX-License-Identifier: MIT */
/*
 * Whether metadata calls wait for a disk, judged by their times.
 *
 *     PACE_TRIAL --+-- a look: they wait --> PACE_WAITS --.
 *                  |                           ^    many: they do not
 *                  '-- they do not --> PACE_CALM <--------'
 *
 * A call whose inode is in memory takes about a microsecond; one whose inode is made from a
 * cached block takes five; one that waits for a disk takes 50 and more.  What a slow or an
 * emulated machine takes without waiting is learned from the quickest run.
 *
 * Calls are timed in runs of PACE_RUN or a few more.  The runs of a look are judged together,
 * each as slow or not, so that a pause of the thread itself (preemption, a page fault),
 * however long, makes only one run slow.
 */
#include "bfs/bfs_impl.h"

enum {
	SLOW_LEAST = 8000,        /* ns a call that may be slow */
	SLOW_MOST = 25000,        /* ns a call that is slow in any case */
	SLOW_TIMES = 3,           /* times the quickest run */
	CALM_SLOW = 2,            /* slow runs of PACE_LONG that are too many to be calm */
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
