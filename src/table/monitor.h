/* SPDX-License-Identifier: MIT */
/**
 * Watching the kernel's mount table: each change is reported once.
 *
 * With fanotify mount events (Linux 6.15, CAP_SYS_ADMIN over the namespace), each event has the ID
 * of a mount that was attached, detached or moved, and statmount(2) reads that mount alone; poll(2)
 * on mountinfo reports that something else may have changed, and the table is read.  Without such
 * events, poll(2) reports that the table has changed, and all of it is read; a mount that comes
 * and goes between two readings is not seen.
 *
 * No mount point is touched.
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
	enum table_source source;  /* TABLE_LISTMOUNT; or TABLE_MOUNTINFO, without fanotify */
	unsigned fields;           /* enum mount_fields of the records */
	unsigned kinds;            /* enum change_kind to report, in addition to CHANGE_LOST */
	pid_t task;                /* the process whose mountinfo is read; 0: this one */
	int procfd;                /* the directory of task in /proc */
};

enum monitor_end {
	MONITOR_ERROR = -1,
	MONITOR_CHANGES,     /* there are changes */
	MONITOR_TIMEOUT,     /* the table did not change for that long */
	MONITOR_CLOSED,      /* the reader of the output closed it */
	MONITOR_TASK_ENDED,  /* the process whose table is watched has ended */
};

struct monitor;

/** Start watching.  @return a monitor, or NULL.
    Errors: ENOENT or EACCES (no /proc), ENOSYS (the kernel lacks that source), ESRCH or EINVAL (the
            task has ended), ENOMEM, those of table_read_kernel(). */
struct monitor *monitor_new(struct os *os, const struct monitor_opts *opts);

/** Free a monitor and the changes that it returned; NULL is fine. */
void monitor_free(struct monitor *monitor);

/**
 * Wait for changes.
 *
 * @milliseconds
 *         How long to wait for a change of any kind; negative: no limit.
 * @out    A descriptor that is watched for being closed by its reader, or -1.
 * @changes [out]
 *         With MONITOR_CHANGES, at least one change of the requested kinds, in the order found.
 *         Valid until the next call.
 *
 * A record lacks unknown fields: all except key and uniq_id for a mount that was unmounted before
 * it could be read; the point for a mount that was moved again meanwhile.
 *
 * @return why the call ended.  MONITOR_ERROR sets errno.
 * Errors: ENOMEM; those of reading the table.
 */
enum monitor_end monitor_next(struct monitor *monitor, int milliseconds, int out,
                              const struct changes **changes);

/** Whether the monitor uses fanotify. */
bool monitor_has_events(const struct monitor *monitor);

/** The current number of mounts. */
size_t monitor_count(const struct monitor *monitor);

/** The number of lines that could not be parsed in the last reading. */
size_t monitor_problems(const struct monitor *monitor);

#endif
