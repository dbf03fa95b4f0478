/* SPDX-License-Identifier: MIT */
/**
 * Shared by the readers of tables; private to table/.
 */
#ifndef GM_TABLE_TABLE_IMPL_H
#define GM_TABLE_TABLE_IMPL_H

#include "base/map64.h"
#include "table/table.h"
#include "table/tablines.h"

#define TABLE_SELF_MOUNTINFO "/proc/self/mountinfo"

/** Make room for n mounts in all.  @return 0, or -1 (ENOMEM). */
int table_reserve(struct mount_table *table, size_t n);

/** Read by listmount(2) and statmount(2).  See table_read_kernel().
    @any_depth  Else fail with E2BIG if mounts are stacked thousands deep: for each mount, the
                kernel walks up to the root, three times in statmount, once for mountinfo. */
struct mount_table *table_read_listmount(struct os *os, unsigned fields, bool any_depth);

/** List the IDs below a mount, ascending, or of all mounts (K_LSMT_ROOT).
    @ids [out]  To be freed by the caller.
    @return 0, or -1.  Errors: those of os_listmount(); ENOMEM. */
int table_list_ids(struct os *os, uint64_t top, uint64_t **ids, size_t *n);

/** Read the mounts with some keys by statmount(2).  See table_read_again(). */
struct mount_table *table_read_some(struct os *os, unsigned fields, const uint64_t *keys, size_t n);

/** Parse the text of an fstab or mtab.  See table_read_file(). */
struct mount_table *table_parse_tabfile(const char *text, size_t len, enum table_source source);

/** Parse the entries of a list of lines.  Those that libmount refuses become TABLINE_DAMAGED,
    without a reason. */
struct mount_table *table_of_lines(struct tablines *lines, enum table_source source);

/* statmount.c */

/** A table that is read mount by mount with statmount(2). */
struct reader {
	struct os *os;
	struct mount_table *table;
	unsigned fields;               /* requested enum mount_fields */
	uint64_t mask;                 /* requested STATMOUNT_* */
	uint64_t seen;                 /* bits that any mount had */
	struct k_statmount *buf;
	size_t room;
	uint64_t *missed;              /* IDs that were listed, but statmount failed */
	size_t nmissed, missed_room;
	struct strbuf text;
	uint64_t attr;                 /* the attributes that vfs_opts was made from */
	const char *vfs_opts;
	bool allowed;                  /* statmount is permitted; EPERM is about one mount */
	bool failed;                   /* memory ran out */
	/* Of listmount.c: */
	unsigned pages;                /* number of listmount calls */
	unsigned threads;              /* number of processors; 0: not known yet */
};

/** Begin with an empty table.  @return 0, or -1.  Ownership: reader_finish(), in any case. */
int reader_init(struct reader *r, struct os *os, unsigned fields);

/** Free all but the table.  @return the table, or NULL if it failed; errno survives. */
struct mount_table *reader_finish(struct reader *r, bool failed);

/** Add a mount to the table unless it was unmounted.  @return 0, or -1. */
int reader_add(struct reader *r, uint64_t id);

/** Remember an ID for which statmount failed.  @return 0, or -1 (ENOMEM). */
int reader_miss(struct reader *r, uint64_t id);

/** Fill the fields that statmount does not have from mountinfo.  @return 0, or -1 (ENOMEM). */
int reader_complete(struct reader *r);

/* events.c: mount events of fanotify that were read and not yet reported */

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
