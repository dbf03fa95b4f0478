/* SPDX-License-Identifier: MIT */
/**
 * Whether asking for attributes waits for a disk.  Private to src/bfs/; pure: it is
 * told times, and reads no clock.
 *
 *     PACE_TRIAL --+-- a look: they wait --> PACE_WAITS --.
 *                  |                           ^    many: they do not
 *                  '-- they do not --> PACE_CALM <--------'
 *
 * Calls are timed in runs of PACE_RUN or a few more.  Those of a look are judged
 * together, each as slow or not, so that a pause of the thread itself (the processor is
 * another's, a page is fetched), however long, makes one run slow and no more.
 */
#ifndef GM_BULK_PACE_H
#define GM_BULK_PACE_H

#include <stddef.h>
#include <stdint.h>

enum {
	PACE_RUN = 32,            /* calls that are timed together */
	PACE_LOOK = 8,            /* runs, after which it may be found that they wait */
	PACE_LONG = 128,          /* ... and, once they do, that they no longer do */
};

enum pace_state {
	PACE_TRIAL,               /* not known yet */
	PACE_CALM,
	PACE_WAITS,
};

struct pace {
	enum pace_state state;
	unsigned runs, slow;      /* of this look */
	size_t calls;             /* of this run */
	uint64_t ns;              /* ... and what they took */
	uint64_t quickest;        /* run so far, ns a call; 0: none yet */
};

/** Calls, so many, took so many nanoseconds; UINT64_MAX: nobody knows, and they are
    held to have waited. */
void pace_note(struct pace *pace, size_t calls, uint64_t ns);

/** Begin a new look, in that state. */
void pace_set(struct pace *pace, enum pace_state state);

#endif
