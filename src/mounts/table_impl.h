/* SPDX-License-Identifier: MIT */
/**
 * Shared by the readers of tables.
 */
#ifndef GM_MOUNTS_TABLE_IMPL_H
#define GM_MOUNTS_TABLE_IMPL_H

#include "base/map64.h"
#include "mounts/table.h"
#include "mounts/tablines.h"

#define TABLE_SELF_MOUNTINFO "/proc/self/mountinfo"

/** Make room for a total of n mounts.  @return 0, or -1 (ENOMEM). */
int table_reserve(struct mount_table *table, size_t n);

/** Read the table by listmount(2) and statmount(2).  See table_read_kernel().
    @any_depth  false: fail with E2BIG if mounts are stacked thousands deep, because for each mount
    the kernel walks up to the root, three times in statmount, once for mountinfo. */
struct mount_table *table_read_listmount(struct os *os, unsigned fields, bool any_depth);

/** List the IDs of the mounts below a mount, or of all mounts (K_LSMT_ROOT), in ascending order.
    @ids [out]  The caller frees them.
    @return 0, or -1.  Errors: those of os_listmount(); ENOMEM. */
int table_list_ids(struct os *os, uint64_t top, uint64_t **ids, size_t *n);

/** Read the mounts with the given keys by statmount(2).  See table_read_again(). */
struct mount_table *table_read_some(struct os *os, unsigned fields, const uint64_t *keys, size_t n);

/** Parse the text of an fstab or mtab.  See table_read_file(). */
struct mount_table *table_parse_tabfile(const char *text, size_t len, enum table_source source);

/** Parse the entries of a list of lines.  Lines that libmount rejects become TABLINE_DAMAGED,
    without a reason. */
struct mount_table *table_of_lines(struct tablines *lines, enum table_source source);

/* statmount.c */

/** A table that is read mount by mount with statmount(2). */
struct reader {
	struct os *os;
	struct mount_table *table;
	unsigned fields;               /* requested enum mount_fields */
	uint64_t mask;                 /* requested STATMOUNT_* */
	uint64_t seen;                 /* bits that at least one mount had */
	struct k_statmount *buf;
	size_t room;
	uint64_t *missed;              /* IDs that were listed, but statmount failed */
	size_t nmissed, missed_room;
	struct strbuf text;
	uint64_t attr;                 /* the attributes for which vfs_opts was built */
	const char *vfs_opts;
	bool allowed;                  /* statmount is permitted: EPERM concerns a single mount */
	bool failed;                   /* memory ran out */
	/* Of listmount.c: */
	unsigned pages;                /* number of listmount calls */
	unsigned threads;              /* number of processors; 0: not yet known */
};

/** Start with an empty table.  @return 0, or -1.  Call reader_finish() in either case. */
int reader_init(struct reader *r, struct os *os, unsigned fields);

/** Free all but the table.  @return the table, or NULL if reading failed.  Preserves errno. */
struct mount_table *reader_finish(struct reader *r, bool failed);

/** Add a mount to the table unless it was unmounted.  @return 0, or -1. */
int reader_add(struct reader *r, uint64_t id);

/** Record an ID for which statmount failed.  @return 0, or -1 (ENOMEM). */
int reader_miss(struct reader *r, uint64_t id);

/** Read the fields that statmount does not report from mountinfo.  @return 0, or -1 (ENOMEM). */
int reader_complete(struct reader *r);

/* events.c: mount events of fanotify that were read but not yet reported */

struct event {
	uint64_t id;                   /* ID of the mount; 0: the event is FAN_Q_OVERFLOW */
	uint64_t mask;
};

struct events {
	int fd;                        /* fanotify, or -1 */
	struct event *list;
	size_t first, end, room;
	size_t suspect;                /* number of suspect events, at the front */
	struct map64 ahead;            /* ID -> its pending events, see events_ahead() */
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

/** The pending events of a mount: the sum of AHEAD_MOVE for each move, and AHEAD_DETACH. */
enum { AHEAD_DETACH = 1, AHEAD_MOVE = 2 };
unsigned events_ahead(const struct events *e, uint64_t id);

/** Remove and return the first event.  @suspect [out]  Whether it is suspect. */
struct event events_pop(struct events *e, bool *suspect);

/** Read events from the kernel while there is room.
    @return 1: some were read; 0: none; or -1.  Errors: those of read(2); ENOMEM; EPROTO. */
int events_drain(struct events *e, struct os *os);

void events_destroy(struct events *e);

#endif
