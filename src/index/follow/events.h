/* SPDX-License-Identifier: MIT */
/**
 * Events of fanotify(7), coalesced into the places where something changed.
 *
 * An event is only a hint to examine a name in a directory: the update compares the index with the
 * object that has the name at that time.  So all events of a name are coalesced into one, and the
 * order of events matters only for directories: a new directory is examined before its contents.
 * Places are stored by directory, directories in the order of their first event.
 */
#ifndef GM_INDEX_FOLLOW_EVENTS_H
#define GM_INDEX_FOLLOW_EVENTS_H

#include "base/map64.h"
#include "base/strbuf.h"
#include "os/os.h"
#include "os/service.h"

#define EVENTS_NONE UINT32_MAX

enum { EVENTS_READ = 256 << 10 };   /* the size of `buf` in bytes */

/** A name of a directory: "." is the directory itself. */
struct events_place {
	uint32_t dir, next, chain;
	uint32_t name;            /* where it is in bytes; with a final NUL */
	uint32_t len;
};

/** A handle: of a directory with places, or (without places) of an object that has other names
    than those reported. */
struct events_handle {
	uint32_t first, last, chain;
	uint32_t bytes, len;
	int32_t type;
};

struct file_events {
	int self;                 /* the process whose own changes do not count */
	size_t most;              /* bytes; beyond it, all is forgotten and `lost` is set */
	int group;                /* the descriptor of os_watch_files(), for file_events_read() */
	char *buf;                /* EVENTS_READ bytes for file_events_read(); or NULL */
	struct events_handle *handles;
	struct events_place *places;
	size_t nhandles, handles_room, nplaces, places_room;
	struct strbuf bytes;
	struct map64 by_handle, by_place;   /* by hash: the first of a chain */
	uint64_t others;          /* events of other processes */
	bool lost;                /* events were lost */
	double first;             /* os_now() when the first event was read; 0: no event */
};

/** Read events, and add them.  @return 0, or -1.  Errors: those of read(2), file_events_add(). */
int file_events_read(struct file_events *events, struct os *os);

/** Add what was read from fanotify.  @return 0, or -1.  Errors: ENOMEM; EPROTO: not an event. */
int file_events_add(struct file_events *events, const void *buf, size_t len);

/** Forget all events, and that some were lost. */
void file_events_clear(struct file_events *events);

/** Free the memory, `buf` too; `group` stays open. */
void file_events_destroy(struct file_events *events);

/** Get a handle. */
void file_events_handle(const struct file_events *events, size_t i, struct os_handle *handle);

static inline const char *file_events_name(const struct file_events *events,
                                           const struct events_place *place)
{
	return events->bytes.data + place->name;
}

#endif
