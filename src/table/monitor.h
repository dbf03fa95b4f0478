/* SPDX-License-Identifier: MIT */
/**
 * Watching the kernel's mount table: each change is told once.
 *
 * Two ways.  By fanotify's mount events (Linux 6.15, CAP_SYS_ADMIN over the
 * namespace) each mount that is attached, detached or moved is told of by its
 * ID, and statmount(2) is asked for that one alone; poll(2) on mountinfo says
 * that something else may have changed, and the table is read for it.  Without
 * such events poll(2) says that the table is another, and it is read whole;
 * what came and went between two readings is not seen then.
 *
 * Nothing is touched but the kernel's table.
 */
#ifndef GM_TABLE_MONITOR_H
#define GM_TABLE_MONITOR_H

#include "os/os.h"
#include "table/table.h"
#include "table/tablediff.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct monitor_opts {
	enum table_source source;  /* how the table is read: TABLE_LISTMOUNT, or
	                              TABLE_MOUNTINFO, which has no use for fanotify */
	unsigned fields;           /* enum mount_fields wanted in the records */
	unsigned kinds;            /* enum change_kind wanted; CHANGE_LOST always is */
	pid_t task;                /* another process, of which mountinfo is read;
	                              0: this one */
	int procfd;                /* its directory of /proc */
};

enum monitor_end {
	MONITOR_ERROR = -1,
	MONITOR_CHANGES,     /* there are some */
	MONITOR_TIMEOUT,     /* nothing happened to the table for so long */
	MONITOR_CLOSED,      /* nobody reads any more what is told */
	MONITOR_TASK_ENDED,  /* the process whose table it is has ended */
};

struct monitor;

/**
 * Begin to watch: what changes from here on is told.
 *
 * @return a monitor, or NULL.
 * Errors: ENOENT or EACCES (no /proc), ENOSYS (that source is missing here),
 *         ESRCH or EINVAL (the task has ended), ENOMEM, those of
 *         table_read_kernel().
 * Ownership: monitor_free().
 */
struct monitor *monitor_new(struct os *os, const struct monitor_opts *opts);

/** Free a monitor and all that it gave out; NULL is fine. */
void monitor_free(struct monitor *monitor);

/**
 * Wait for changes.
 *
 * @milliseconds
 *         How long to wait for something to happen to the table, wanted or
 *         not; negative: for ever.
 * @out    A descriptor whose reader may go away, or -1.
 * @changes [out]
 *         With MONITOR_CHANGES, those of the wanted kinds, at least one, in
 *         the order in which they were found.  They and their records are the
 *         monitor's, until the next call.
 *
 * A record can lack what is not known: of a mount that was gone before it
 * could be asked for, all but key and uniq_id; of one that is moved on before
 * it could be asked where it is, the point.
 *
 * @return why it ended.  MONITOR_ERROR sets errno.
 * Errors: ENOMEM; those of reading the table.
 */
enum monitor_end monitor_next(struct monitor *monitor, int milliseconds, int out,
                              const struct changes **changes);

/** Whether it goes by fanotify. */
bool monitor_has_events(const struct monitor *monitor);

/** The number of mounts now. */
size_t monitor_count(const struct monitor *monitor);

/** Lines of the table that could not be read the last time. */
size_t monitor_problems(const struct monitor *monitor);

#endif
