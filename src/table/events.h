/* SPDX-License-Identifier: MIT */
/**
 * Mount events of fanotify that were read and not yet reported; private to table/.
 */
#ifndef GM_TABLE_EVENTS_H
#define GM_TABLE_EVENTS_H

#include "base/map64.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t id;                   /* of the mount; 0: only FAN_Q_OVERFLOW */
	uint64_t mask;
};

struct events {
	int fd;                        /* of fanotify, or -1 */
	struct event *list;
	size_t first, end, room;
	size_t suspect;                /* number of suspect events, at the front */
	struct map64 ahead;            /* ID -> its pending events, see event_ahead() */
};

/** The number of pending events. */
static inline size_t events_count(const struct events *e)
{
	return e->end - e->first;
}

static inline bool event_is_move(const struct event *event)
{
	return event->mask & K_FAN_MNT_ATTACH && event->mask & K_FAN_MNT_DETACH;
}

/** The pending events of a mount: AHEAD_MOVE for each move, and AHEAD_DETACH. */
enum { AHEAD_DETACH = 1, AHEAD_MOVE = 2 };
unsigned events_ahead(const struct events *e, uint64_t id);

/** Remove the first event.  @suspect [out] */
struct event events_pop(struct events *e, bool *suspect);

/**
 * Read events from the kernel as long as there is room.
 *
 * @return 1: some were read; 0: none; or -1.  Errors: those of read(2); ENOMEM; EPROTO.
 */
int events_drain(struct events *e, struct os *os);

void events_destroy(struct events *e);

#endif
