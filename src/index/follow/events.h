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

enum { EVENTS_READ = 256 << 10 };   /* size of file_events.buf in bytes */

/** A name in a directory; "." is the directory itself.  Members: index in `handles` of the
    directory; next place of the directory; next place with this hash. */
struct events_place {
	uint32_t dir, next, chain;
	uint32_t name;            /* offset in `bytes` of the name, which has a final NUL */
	uint32_t len;
};

/** A file handle: of a directory with places; or without places, of an object, for events without a
    name, such as a changed link count. */
struct events_handle {
	uint32_t first, last, chain;
	uint32_t bytes, len;
	int32_t type;
};

/** Invariants: the places of a handle are linked from `first` to `last`, in the order of their
    events; what has the same hash is chained from the newest to the oldest; after a loss there are
    no places.  After ENOMEM the events are incomplete, and can only be cleared. */
struct file_events {
	int self;                 /* process ID of the caller, whose own events are not counted in
	                             `others` */
	size_t most;              /* maximum bytes of memory; if exceeded, all events are dropped
	                             and `lost` is set */
	int group;                /* descriptor of os_watch_files(), read by file_events_read() */
	char *buf;                /* EVENTS_READ bytes for file_events_read(); NULL if it is not
	                             used */
	struct events_handle *handles;
	struct events_place *places;
	size_t nhandles, handles_room, nplaces, places_room;
	struct strbuf bytes;
	struct map64 by_handle, by_place;   /* hash --> first element of a chain */
	uint64_t others;          /* number of events of other processes */
	bool lost;                /* events were lost: the index must be updated */
	double first;             /* os_now() when the first event was read; 0: no event */
};

/** Read all available events, and add them.
    @return 0, or -1.  Errors: those of read(2), file_events_add(). */
int file_events_read(struct file_events *events, struct os *os);

/** Add the events in a buffer that was read from fanotify.
    @return 0, or -1.  Errors: ENOMEM; EPROTO: invalid event. */
int file_events_add(struct file_events *events, const void *buf, size_t len);

/** Remove all events, and reset `lost`. */
void file_events_clear(struct file_events *events);

/** Free the memory, including `buf`; `group` stays open. */
void file_events_destroy(struct file_events *events);

/** Get handle number i. */
void file_events_handle(const struct file_events *events, size_t i, struct os_handle *handle);

static inline const char *file_events_name(const struct file_events *events,
                                           const struct events_place *place)
{
	return events->bytes.data + place->name;
}

#endif
