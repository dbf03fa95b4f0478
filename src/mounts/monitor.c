/* SPDX-License-Identifier: MIT */
/*
 * Watching the mount table.
 *
 *     fanotify --> pending --> statmount of each mount --> set of known mounts --> changes
 *     poll(mountinfo) --> dirty --> scan of the whole table --> differ --'
 *
 * The set holds the state that was reported so far.  It changes exactly when a change is reported,
 * so that each change is reported once.
 *
 * An event has only an ID, and statmount shows the mount as it is now, not as it was at the time of
 * the event.  So the kernel's queue is drained first, and later events are taken into account: a
 * mount with a later DETACH is not read; for one with a later MOVE the mount point is unknown.  A
 * mount that was unmounted before it could be read is reported by its ID, and stays in the set
 * until its DETACH.
 *
 * A MOVE has the ID of the moved mount only; the mounts on it have new names as well and are read.
 *
 * fanotify does not report changes of options.  poll(2) on mountinfo does, but also reports every
 * mount and umount; and it misses changes of propagation, of a superblock by fsconfig(2), a file
 * system that becomes read-only by itself, and renamed directories above a mount point.  So the
 * table is scanned when mountinfo reports a change, using at most a tenth of the time (half of the
 * time without fanotify), and every five seconds.
 *
 * The kernel shows a mount before it queues the event, so that a scan can be ahead of the events:
 *   - while events are pending, a scan reports options only, and is repeated;
 *   - an ATTACH of a known mount, or of one that a scan has found unmounted, and a DETACH of an
 *     unknown one are ignored;
 *   - a MOVE that a scan has reported (early) is ignored;
 *   - events that are queued while the table is read for the first time, or after an overflow, are
 *     suspect: a MOVE to the mount point that the table has is ignored.
 *
 * When the kernel's queue overflows (FAN_Q_OVERFLOW), the monitor reports the earlier events, then
 * the loss itself, then the differences to the table.
 */
#include "mounts/monitor.h"

#include "base/array.h"
#include "mounts/table_impl.h"
#include "os/service.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>

enum { BATCH = 1024 };           /* number of events reported at once */

#define SCAN_SECONDS 5.0         /* longest time between scans */

struct monitor {
	struct os *os;
	struct monitor_opts opts;
	int info, task;                /* descriptors, or -1 */
	int proc;                      /* /proc/PID, kept open in case /proc is unmounted */
	bool out_closed;               /* the caller's output descriptor is not open */
	size_t problems;
	struct mount_set set;
	struct changes changes;        /* returned by the current call */

	struct events events;          /* pending events */
	struct map64 gone;             /* IDs that a scan found unmounted; events may be pending */

	bool dirty;                    /* the table may have changed */
	double scanned;                /* when the last scan ended */
	double took, cost;             /* seconds of the last scan; the lesser of the last two */
	double happened;               /* when the kernel last reported an event */
};

#define FOREVER 1e18

/** Read the events from the kernel.  @return 0, or -1. */
static int drain(struct monitor *m)
{
	int some = events_drain(&m->events, m->os);
	m->dirty |= some > 0;
	if (some == 0 && events_count(&m->events) == 0)
		map64_destroy(&m->gone);
	return some < 0 ? -1 : 0;
}

/* The table. */

static struct mount_table *read_table(struct monitor *m)
{
	struct mount_table *table;
	if (m->opts.source == TABLE_MOUNTINFO)
		table = table_read_mountinfo(m->os, m->proc, "mountinfo");
	else
		table = table_read_kernel(m->os, TABLE_LISTMOUNT, m->opts.fields);
	if (table)
		m->problems = table->nproblems + table->more_problems;
	return table;
}

/** Report a change if its kind is requested.  @return 0, or -1 (ENOMEM). */
static int report(struct monitor *m, enum change_kind kind, const struct mount *before,
                const struct mount *after)
{
	return m->opts.kinds & kind ? changes_add(&m->changes, kind, before, after) : 0;
}

/** Report the differences between the set and a table, and update the set.
    @kinds  The kinds of changes to consider. */
static int update(struct monitor *m, const struct mount_table *table, unsigned kinds)
{
	return mount_set_update(&m->set, table, kinds, m->opts.kinds,
	                        m->events.fd >= 0 ? &m->gone : NULL, &m->changes);
}

/** Record how long a scan took.  A single slow scan does not increase the cost. */
static void record_scan_time(struct monitor *m, double begin)
{
	double before = m->took;
	m->scanned = os_now();
	m->took = m->scanned - begin;
	m->cost = before > 0 ? lesser(before, m->took) : m->took;
}

/** Read the table, and report the differences.  @return 0, or -1. */
static int scan(struct monitor *m)
{
	double begin = os_now();
	/* Clear mountinfo's report of the changes so far. */
	struct pollfd info = {.fd = m->info, .events = POLLPRI};
	os_poll(m->os, &info, 1, 0);
	m->dirty = false;
	struct mount_table *table = read_table(m);
	if (!table || drain(m) != 0) {
		table_free(table);
		return -1;
	}
	/* Pending events will report changed mount points. */
	bool busy = events_count(&m->events) > 0;
	int rc = update(m, table, busy ? CHANGE_OPTIONS : CHANGE_ALL);
	table_free(table);
	m->dirty |= busy;
	record_scan_time(m, begin);
	return rc;
}

/** The time at which the next scan is due. */
static double scan_due(const struct monitor *m)
{
	if (m->dirty)
		return m->scanned + m->cost * (m->events.fd >= 0 ? 9 : 1);
	return m->scanned + greater(SCAN_SECONDS, m->cost * 100);
}

/* Events. */

/** Report that events were lost, and the differences to the table.  @return 0, or -1. */
static int report_lost(struct monitor *m)
{
	if (report(m, CHANGE_LOST, NULL, NULL) != 0)
		return -1;
	struct mount_table *table = read_table(m);
	int rc = table ? update(m, table, CHANGE_ALL) : -1;
	table_free(table);
	if (rc == 0)
		rc = drain(m);
	m->events.suspect = events_count(&m->events);
	return rc;
}

/** Whether the mount point of a mount changed only because the mount at `top` was moved: its path
    below `top` is the same.  If not, the mount itself was moved, which an event reports, or a
    directory was renamed, which a scan finds. */
static bool moved_along(const struct mount *before, const struct mount *now, const char *top)
{
	size_t n = strlen(top);
	if (!before->point || !now->point || before->parent_key != now->parent_key
	    || strncmp(now->point, top, n) != 0)
		return false;
	size_t all = strlen(before->point), rest = strlen(now->point) - n;
	return all >= rest && strcmp(before->point + all - rest, now->point + n) == 0
	       && strcmp(before->point, now->point) != 0;
}

/** Report the new mount points of the mounts on a moved mount.  @return 0, or -1. */
static int report_moved_along(struct monitor *m, uint64_t id, const char *top)
{
	uint64_t *ids;
	size_t n, known = 0;
	if (table_list_ids(m->os, id, &ids, &n) != 0)
		return errno == ENOMEM ? -1 : 0;   /* unmounted: an event will follow */
	for (size_t i = 0; i < n; ++i) {
		if (mount_set_find(&m->set, ids[i]) && !events_ahead(&m->events, ids[i]))
			ids[known++] = ids[i];
	}
	struct mount_table *table = NULL;
	if (known)
		table = table_read_some(m->os, MF_POINT, ids, known);
	int rc = known && !table ? -1 : 0;
	free(ids);
	for (size_t i = 0; rc == 0 && table && i < table->count; ++i) {
		const struct mount *now = &table->mounts[i];
		struct kept_mount *kept = mount_set_find(&m->set, now->key);
		if (!moved_along(&kept->mount, now, top))
			continue;
		struct kept_mount *put = mount_set_put_at(&m->set, &kept->mount, now);
		rc = put ? report(m, CHANGE_MOVE, &kept->mount, &put->mount) : -1;
	}
	table_free(table);
	return rc;
}

/** Handle an ATTACH event.  @now  The record of the mount, or NULL if it is gone. */
static int report_attach(struct monitor *m, uint64_t id, const struct mount *now)
{
	if (mount_set_find(&m->set, id) || map64_get(&m->gone, id) != MAP64_NONE)
		return 0;   /* already reported */
	if (now && !now->point)
		return 0;   /* outside of this root */
	struct mount record = {.key = id, .uniq_id = id};
	if (now)
		record = *now;
	if (events_ahead(&m->events, id) >= AHEAD_MOVE)
		record.point = NULL;
	struct kept_mount *put = mount_set_put(&m->set, &record);
	return put ? report(m, CHANGE_MOUNT, NULL, &put->mount) : -1;
}

static int report_detach(struct monitor *m, uint64_t id)
{
	struct kept_mount *kept = mount_set_find(&m->set, id);
	if (!kept)
		return 0;
	mount_set_remove(&m->set, id);
	return report(m, CHANGE_UMOUNT, &kept->mount, NULL);
}

static int report_move(struct monitor *m, uint64_t id, const struct mount *now, bool suspect)
{
	struct kept_mount *kept = mount_set_find(&m->set, id);
	if (!kept)
		return now ? report_attach(m, id, now) : 0;
	bool more = events_ahead(&m->events, id) >= AHEAD_MOVE;
	if (now && !now->point)
		return report_detach(m, id);   /* moved out of this root */

	struct mount place = {0};
	if (now && !more)
		place = *now;
	bool still = place.point && !(mount_changes(&kept->mount, &place) & CHANGE_MOVE);
	if ((kept->early || suspect) && (still || more || !now)) {
		/* A scan has reported this move; if the event is suspect, another may follow. */
		kept->early &= suspect;
		return 0;
	}
	struct kept_mount *put = mount_set_put_at(&m->set, &kept->mount, &place);
	if (!put || report(m, CHANGE_MOVE, &kept->mount, &put->mount) != 0)
		return -1;
	return place.point ? report_moved_along(m, id, place.point) : 0;
}

/** Report up to BATCH pending events.  @return 0, or -1. */
static int report_events(struct monitor *m)
{
	struct events *e = &m->events;
	size_t n = events_count(e) < BATCH ? events_count(e) : BATCH, nkeys = 0;
	uint64_t keys[BATCH];
	struct map64 rows = {0};
	struct mount_table *seen = NULL;
	int rc = -1;
	/* Read the mounts that have no later DETACH. */
	for (const struct event *event = e->list + e->first; event < e->list + e->first + n;
	     ++event) {
		if (!(event->mask & K_FAN_MNT_ATTACH)
		    || events_ahead(e, event->id) & AHEAD_DETACH)
			continue;
		uint32_t row = map64_put(&rows, event->id, (uint32_t)nkeys);
		if (row == MAP64_NONE)
			goto out;
		if (row == nkeys)
			keys[nkeys++] = event->id;
	}
	map64_destroy(&rows);
	seen = table_read_some(m->os, m->opts.fields, keys, nkeys);
	/* Later events show whether these records are still valid for the first events. */
	if (!seen || map64_reserve(&rows, seen->count) != 0 || drain(m) != 0)
		goto out;
	for (size_t i = 0; i < seen->count; ++i)
		map64_put(&rows, seen->mounts[i].key, (uint32_t)i);

	rc = 0;
	for (size_t i = 0; rc == 0 && i < n; ++i) {
		bool suspect;
		struct event event = events_pop(e, &suspect);
		uint32_t row = map64_get(&rows, event.id);
		const struct mount *now = row == MAP64_NONE ? NULL : &seen->mounts[row];
		if (event.mask & FAN_Q_OVERFLOW) {
			/* These records are older than the table that report_lost() reads. */
			rc = report_lost(m);
			break;
		}
		if (event_is_move(&event))
			rc = report_move(m, event.id, now, suspect);
		else if (event.mask & K_FAN_MNT_ATTACH)
			rc = report_attach(m, event.id, now);
		else
			rc = report_detach(m, event.id);
	}
out:
	map64_destroy(&rows);
	table_free(seen);
	return rc;
}

/* Waiting. */

/** Wait for an event, until a time.
    @return MONITOR_CHANGES (something may have changed), MONITOR_TIMEOUT, or the reason to stop. */
static enum monitor_end wait_for(struct monitor *m, double until, int out)
{
	/* If the table is already known to have changed, mountinfo need not be polled. */
	struct pollfd fds[] = {
		{.fd = m->events.fd, .events = POLLIN},
		{.fd = m->dirty ? -1 : m->info, .events = POLLPRI},
		{.fd = m->task, .events = POLLIN},
		{.fd = m->out_closed ? -1 : out},
	};
	int ready = os_poll_until(m->os, fds, sizeof(fds) / sizeof(*fds), until);
	if (ready < 0)
		return MONITOR_ERROR;
	if (fds[3].revents & POLLNVAL)
		m->out_closed = true;   /* was not open at the start */
	else if (fds[3].revents)
		return MONITOR_CLOSED;
	if (fds[0].revents || fds[1].revents) {
		m->dirty |= fds[1].revents != 0;
		m->happened = os_now();
		return drain(m) == 0 ? MONITOR_CHANGES : MONITOR_ERROR;
	}
	return fds[2].revents ? MONITOR_TASK_ENDED : ready ? MONITOR_CHANGES : MONITOR_TIMEOUT;
}

/** Whether the process whose table could not be read has ended: its mounts disappear before it
    does. */
static bool task_ended(struct monitor *m)
{
	int error = errno;
	struct pollfd task = {.fd = m->task, .events = POLLIN};
	bool ended = m->task >= 0 && os_poll(m->os, &task, 1, 1000) > 0;
	errno = error;
	return ended;
}

enum monitor_end monitor_next(struct monitor *m, int milliseconds, int out,
                              const struct changes **changes)
{
	mount_set_forget(&m->set);
	m->changes.count = 0;
	m->happened = os_now();
	bool over = false;
	for (;;) {
		int rc = 0;
		if (events_count(&m->events))
			rc = report_events(m);
		double now = os_now();
		if (rc == 0 && (now >= scan_due(m) || (over && m->dirty)))
			rc = scan(m);
		if (rc != 0)
			return task_ended(m) ? MONITOR_TASK_ENDED : MONITOR_ERROR;
		if (m->changes.count) {
			*changes = &m->changes;
			return MONITOR_CHANGES;
		}
		if (events_count(&m->events))
			continue;
		if (over)
			return MONITOR_TIMEOUT;

		double end = milliseconds < 0 ? FOREVER : m->happened + milliseconds / 1000.0;
		enum monitor_end waited = wait_for(m, lesser(end, scan_due(m)), out);
		if (waited != MONITOR_CHANGES && waited != MONITOR_TIMEOUT)
			return waited;
		over = waited == MONITOR_TIMEOUT && os_now() >= end;
	}
}

/* Starting and ending. */

/** Open the descriptors.  @return 0, or -1. */
static int open_all(struct monitor *m)
{
	const struct monitor_opts *o = &m->opts;
	if (o->task)
		m->task = os_pidfd_open(m->os, o->task);
	else
		m->proc = os_openat(m->os, AT_FDCWD, "/proc/self", O_PATH | O_DIRECTORY);
	if (m->proc < 0)
		return -1;
	/* Opening mountinfo after the pidfd proves that the pidfd refers to this process. */
	m->info = os_openat(m->os, m->proc, "mountinfo", O_RDONLY);
	if (m->info < 0)
		return -1;
	/* Events have unique IDs, which only listmount provides. */
	if (o->source == TABLE_LISTMOUNT)
		m->events.fd = os_watch_mounts(m->os);
	return 0;
}

struct monitor *monitor_new(struct os *os, const struct monitor_opts *opts)
{
	struct monitor *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->os = os;
	m->opts = *opts;
	m->opts.kinds |= CHANGE_LOST;
	m->opts.fields |= MF_IDS | MF_POINT | MF_VFS_OPTS | MF_FS_OPTS;
	if (opts->kinds & CHANGE_PROPAGATION)
		m->opts.fields |= MF_PROPAGATION;
	m->events.fd = m->info = m->task = -1;
	m->proc = opts->task ? opts->procfd : -1;

	double begin = os_now();
	struct mount_table *table = NULL;
	if (open_all(m) != 0 || !(table = read_table(m)) || drain(m) != 0)
		goto fail;
	for (size_t i = 0; i < table->count; ++i) {
		if (!mount_set_put(&m->set, &table->mounts[i]))
			goto fail;
	}
	mount_set_forget(&m->set);
	table_free(table);
	m->events.suspect = events_count(&m->events);
	record_scan_time(m, begin);
	return m;

fail:
	table_free(table);
	monitor_free(m);
	return NULL;
}

void monitor_free(struct monitor *m)
{
	if (!m)
		return;
	os_close(m->os, m->events.fd);
	os_close(m->os, m->info);
	os_close(m->os, m->task);
	if (!m->opts.task)
		os_close(m->os, m->proc);
	mount_set_destroy(&m->set);
	changes_destroy(&m->changes);
	map64_destroy(&m->gone);
	events_destroy(&m->events);
	free(m);
}

struct monitor_info monitor_info(const struct monitor *m)
{
	return (struct monitor_info){m->events.fd >= 0, m->set.count, m->problems};
}
