/* SPDX-License-Identifier: MIT */
/**
 * Watching the kernel's mount table: each change is reported once.
 *
 * With fanotify mount events (Linux 6.15, CAP_SYS_ADMIN over the namespace), each event has the ID
 * of a mount that was attached, detached or moved, and only that mount is read, by
 * statmount(2).  poll(2) on mountinfo reports that something else may have changed; then the table
 * is read.
 *
 * Without fanotify, poll(2) reports that the table has changed, and the whole table is read; a
 * mount that appears and disappears between two reads is missed.
 *
 * No mount point is accessed.
 */
#ifndef GM_MOUNTS_MONITOR_H
#define GM_MOUNTS_MONITOR_H

#include "os/os.h"
#include "mounts/table.h"
#include "mounts/tablediff.h"

struct monitor_opts {
	enum table_source source;  /* TABLE_LISTMOUNT; or TABLE_MOUNTINFO, without fanotify */
	unsigned fields;           /* enum mount_fields of the records */
	unsigned kinds;            /* the enum change_kind to report, in addition to CHANGE_LOST */
	pid_t task;                /* the process whose mountinfo is read; 0: this process */
	int procfd;                /* the directory of task in /proc */
};

enum monitor_end {
	MONITOR_ERROR = -1,
	MONITOR_CHANGES,     /* there are changes */
	MONITOR_TIMEOUT,     /* no change within the time limit */
	MONITOR_CLOSED,      /* the reader of the output has closed it */
	MONITOR_TASK_ENDED,  /* the process whose table is watched has ended */
};

struct monitor;

/** Start watching.  @return a monitor, or NULL.
    Errors: ENOENT or EACCES (no /proc), ENOSYS (the kernel lacks that source), ESRCH or EINVAL (the
    task has ended), ENOMEM, those of table_read_kernel(). */
struct monitor *monitor_new(struct os *os, const struct monitor_opts *opts);

/** Free a monitor and the changes that it returned; NULL is allowed. */
void monitor_free(struct monitor *monitor);

/**
 * Wait for changes.
 *
 * @milliseconds
 *         How long to wait for a change of any kind; negative: no limit.
 * @out    A descriptor; stop when its reader has closed it.  -1: none.
 * @changes [out]
 *         With MONITOR_CHANGES, at least one change of the requested kinds, in the order found.
 *         Valid until the next call.
 *
 * Records lack unknown fields: a mount that was unmounted before it could be read has only key and
 * uniq_id; a mount that was moved again meanwhile has no point.
 *
 * @return why the call ended.  MONITOR_ERROR sets errno.
 * Errors: ENOMEM; those of reading the table.
 */
enum monitor_end monitor_next(struct monitor *monitor, int milliseconds, int out,
                              const struct changes **changes);

/** The state of a monitor. */
struct monitor_info {
	bool events;               /* it uses fanotify */
	size_t mounts;             /* the current number of mounts */
	size_t problems;           /* unreadable lines in the last read of the table */
};

struct monitor_info monitor_info(const struct monitor *monitor);

#endif
