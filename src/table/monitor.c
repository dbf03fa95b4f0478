/* SPDX-License-Identifier: MIT */
/*
 * Watching the mount table.
 *
 *     fanotify --> pending --> look: statmount --> set of known mounts --> changes
 *     mountinfo's poll --> dirty --> scan: the whole table --> differ --'
 *
 * The set is the state that was reported so far.  It changes exactly when a change is reported, so
 * that each change is reported once.
 *
 * An event has only an ID, and statmount shows the mount as it is now, not as it was at the time of
 * the event.  So the kernel's queue is drained first, and later events are considered: a mount with
 * a later DETACH is not read; one with a later MOVE has an unknown place.  A mount that was
 * unmounted before it could be read is reported by its ID, and stays in the set until its DETACH.
 *
 * A MOVE is about the mount that was moved; the mounts on it have new names as well and are read.
 *
 * fanotify does not report changes of options.  poll(2) on mountinfo does, but also every mount and
 * umount; and it misses changes of propagation, of a superblock by fsconfig(2), of a file system
 * that becomes read-only by itself, and renamed directories above a mount point.  So the table is
 * scanned when mountinfo reports a change, but for at most a tenth of the time (half of the time
 * without fanotify), and every five seconds.
 *
 * The kernel shows a mount before it queues the event, so that a scan can be ahead of the events:
 *   - while events are pending, a scan reports options only, and is repeated;
 *   - an ATTACH of a known mount, or of one that a scan has found unmounted, and a DETACH of an
 *     unknown one are ignored;
 *   - a MOVE that a scan has reported (early) is ignored;
 *   - events that are queued while the table is read for the first time, or after an overflow, are
 *     suspect: a MOVE to the place in the table is ignored.
 *
 * When the kernel's queue overflows (FAN_Q_OVERFLOW), the events before are reported, then the loss
 * itself, then the differences to the table.
 */
#include "table/monitor.h"

#include "table/table_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum {
	PENDING_MAX = 1 << 16,   /* events that are read from the kernel and not yet reported */
	BATCH = 1024,            /* events that are reported at once */
	EVENTS_ROOM = 32 * 1024,
};

#define SCAN_SECONDS 5.0         /* longest time between scans */

struct event {
	uint64_t id;
	uint64_t mask;
};

struct monitor {
	struct os *os;
	struct monitor_opts opts;
	int fan, info, task;           /* descriptors; -1 */
	int proc;                      /* /proc/PID, open in case that /proc is unmounted */
	bool out_closed;               /* the caller's descriptor is not open */
	size_t problems;
	struct mount_set set;
	struct changes changes;        /* of this call */

	/* A ring of pending events. */
	struct event *pending;
	size_t room, first, count;
	size_t suspect;                /* number of suspect events, at the front */
	struct map64 ahead;            /* ID -> its pending events, see AHEAD_ */
	struct map64 gone;             /* IDs that a scan found unmounted; events may be pending */

	bool dirty;                    /* the table may have changed */
	double scanned;                /* when the last scan ended */
	double took, cost;             /* seconds of the last scan; the lesser of the last two */
	double happened;               /* when the kernel last reported something */
	char buf[EVENTS_ROOM];
};

#define FOREVER 1e18

static double lesser(double a, double b)
{
	return a < b ? a : b;
}

static double greater(double a, double b)
{
	return a > b ? a : b;
}

/* The pending events of a mount: whether it is detached, and how many times moved. */
enum { AHEAD_DETACH = 1, AHEAD_MOVE = 2 };

static bool is_move(uint64_t mask)
{
	return mask & K_FAN_MNT_ATTACH && mask & K_FAN_MNT_DETACH;
}

static unsigned ahead_of(uint64_t mask)
{
	return is_move(mask) ? AHEAD_MOVE : mask & K_FAN_MNT_DETACH ? AHEAD_DETACH : 0;
}

/* Pending events. */

/** The pending events of a mount. */
static unsigned ahead_get(const struct monitor *m, uint64_t id)
{
	uint32_t waits = map64_get(&m->ahead, id);
	return waits == MAP64_NONE ? 0 : waits;
}

/** Set the pending events of a mount.  @return 0, or -1 (ENOMEM; not if it had some). */
static int ahead_set(struct monitor *m, uint64_t id, unsigned waits)
{
	map64_remove(&m->ahead, id);
	return !waits || map64_put(&m->ahead, id, waits) != MAP64_NONE ? 0 : -1;
}

/** Append an event.  @return 0, or -1 (ENOMEM). */
static int pending_push(struct monitor *m, struct event event)
{
	if (m->count == m->room) {
		size_t room = m->room ? m->room * 2 : 256;
		struct event *ring = malloc(room * sizeof(*ring));
		if (!ring)
			return -1;
		for (size_t i = 0; i < m->count; ++i)
			ring[i] = m->pending[(m->first + i) & (m->room - 1)];
		free(m->pending);
		m->pending = ring;
		m->room = room;
		m->first = 0;
	}
	unsigned ahead = ahead_of(event.mask);
	if (ahead && ahead_set(m, event.id, ahead_get(m, event.id) + ahead) != 0)
		return -1;
	m->pending[(m->first + m->count++) & (m->room - 1)] = event;
	return 0;
}

/** The i-th pending event. */
static struct event pending_at(const struct monitor *m, size_t i)
{
	return m->pending[(m->first + i) & (m->room - 1)];
}

/** Remove the first event. */
static struct event pending_pop(struct monitor *m, bool *suspect)
{
	struct event event = pending_at(m, 0);
	m->first = (m->first + 1) & (m->room - 1);
	--m->count;
	*suspect = m->suspect > 0;
	m->suspect -= *suspect;
	if (ahead_of(event.mask))
		ahead_set(m, event.id, ahead_get(m, event.id) - ahead_of(event.mask));
	return event;
}

/** Append the events of a buffer.  @return 0, or -1. */
static int take_events(struct monitor *m, const char *at, size_t len)
{
	struct fanotify_event_metadata event;
	while (len >= sizeof(event)) {
		memcpy(&event, at, sizeof(event));
		if (event.vers != FANOTIFY_METADATA_VERSION || event.event_len < event.metadata_len
		    || event.metadata_len < sizeof(event) || event.event_len > len) {
			errno = EPROTO;
			return -1;
		}
		struct event told = {.mask = event.mask};
		struct k_fanotify_mnt info;
		for (size_t i = event.metadata_len; i + sizeof(info) <= event.event_len;) {
			memcpy(&info, at + i, sizeof(info));
			if (info.type == K_FAN_INFO_TYPE_MNT)
				told.id = info.mnt_id;
			if (info.len == 0)
				break;
			i += info.len;
		}
		if ((told.id || event.mask & FAN_Q_OVERFLOW) && pending_push(m, told) != 0)
			return -1;
		at += event.event_len;
		len -= event.event_len;
	}
	return 0;
}

/** Read the events from the kernel, at most PENDING_MAX.  @return 0, or -1. */
static int drain(struct monitor *m)
{
	while (m->fan >= 0 && m->count < PENDING_MAX) {
		ssize_t n = os_read(m->os, m->fan, m->buf, sizeof(m->buf));
		if (n == 0 || (n < 0 && errno == EAGAIN)) {
			if (m->count == 0)
				map64_destroy(&m->gone);
			break;
		}
		if (n < 0 || take_events(m, m->buf, (size_t)n) != 0)
			return -1;
		m->dirty = true;
	}
	return 0;
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
static int tell(struct monitor *m, enum change_kind kind, const struct mount *before,
                const struct mount *after)
{
	if (kind != CHANGE_LOST && !(m->opts.kinds & kind))
		return 0;
	return changes_add(&m->changes, kind, before, after);
}

/** Change the place of a known mount.  @return its record, or NULL (ENOMEM). */
static struct kept_mount *replace(struct monitor *m, const struct kept_mount *kept,
                                  const struct mount *now)
{
	struct mount record = kept->mount;
	record.point = now->point;
	record.parent_key = now->parent_key;
	record.parent_id = now->parent_id;
	return mount_set_put(&m->set, &record);
}

/** Change the options of a known mount.  @return its record, or NULL (ENOMEM). */
static struct kept_mount *reoption(struct monitor *m, const struct kept_mount *kept,
                                   const struct mount *now)
{
	struct mount record = kept->mount;
	record.vfs_opts = now->vfs_opts;
	record.fs_opts = now->fs_opts;
	record.opt_fields = now->opt_fields;
	record.propagation = now->propagation;
	record.peer_group = now->peer_group;
	record.master = now->master;
	record.propagate_from = now->propagate_from;
	return mount_set_put(&m->set, &record);
}

/** The path of a mount point relative to its parent's, as far as known. */
static const char *place_on_parent(const struct monitor *m, const struct mount *mount)
{
	const struct kept_mount *parent = mount_set_find(&m->set, mount->parent_key);
	const char *on = parent ? parent->mount.point : NULL;
	if (!on || !mount->point || strncmp(mount->point, on, strlen(on)) != 0)
		return mount->point;
	return mount->point + strlen(on);
}

/** Mark the mounts that a table shows as moved before their events came, without those that only
    moved along with their parent.
    @places  The former place on its parent of the mount of each change. */
static void note_early(struct monitor *m, const struct changes *found, const char *const *places)
{
	for (size_t i = 0; i < found->count; ++i) {
		const struct change *change = &found->list[i];
		if (change->kind != CHANGE_MOVE)
			continue;
		struct kept_mount *kept = mount_set_find(&m->set, change->after->key);
		const char *place = place_on_parent(m, &kept->mount);
		kept->early |= change->before->parent_key != kept->mount.parent_key
		               || !places[i] || !place || strcmp(places[i], place) != 0;
	}
}

/**
 * Report the differences to a table, and update the set.
 *
 * @options_alone  Only options; the pending events will report the rest.
 */
static int update(struct monitor *m, const struct mount_table *table, bool options_alone)
{
	enum { OPTIONS = CHANGE_REMOUNT | CHANGE_PROPAGATION };
	enum { ALL = OPTIONS | CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_MOVE };
	struct changes found = {0};
	const char **places = NULL;
	int rc = tablediff(&m->set, table, options_alone ? OPTIONS : ALL, &found);
	if (rc == 0 && m->fan >= 0) {
		places = calloc(found.count + 1, sizeof(*places));
		rc = places ? 0 : -1;
	}
	for (size_t i = 0; places && i < found.count; ++i) {
		if (found.list[i].kind == CHANGE_MOVE)
			places[i] = place_on_parent(m, found.list[i].before);
	}

	for (size_t i = 0; rc == 0 && i < found.count; ++i) {
		uint64_t key = found.list[i].kind == CHANGE_UMOUNT ? found.list[i].before->key : 0;
		if (key && m->fan >= 0 && map64_put(&m->gone, key, 0) == MAP64_NONE)
			rc = -1;
		mount_set_remove(&m->set, key);
	}
	for (size_t i = 0; rc == 0 && i < table->count; ++i) {
		const struct mount *now = &table->mounts[i];
		struct kept_mount *kept = mount_set_find(&m->set, now->key), *put = kept;
		if (options_alone && kept && mount_changes(&kept->mount, now) & OPTIONS)
			put = reoption(m, kept, now);
		else if (!options_alone && (!kept || !mount_same(&kept->mount, now)))
			put = mount_set_put(&m->set, now);
		else
			continue;
		if (!put)
			rc = -1;
	}
	if (rc == 0 && places)
		note_early(m, &found, places);
	for (size_t i = 0; rc == 0 && i < found.count; ++i) {
		const struct change *change = &found.list[i];
		struct kept_mount *kept = NULL;
		if (change->after)
			kept = mount_set_find(&m->set, change->after->key);
		rc = tell(m, change->kind, change->before, kept ? &kept->mount : NULL);
	}
	changes_destroy(&found);
	free(places);
	return rc;
}

/** Update the times after a scan.  A single slow scan has no effect on the cost. */
static void note_scan(struct monitor *m, double begin)
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
	/* Consume the report of mountinfo about everything up to now. */
	struct pollfd info = {.fd = m->info, .events = POLLPRI};
	os_poll(m->os, &info, 1, 0);
	m->dirty = false;
	struct mount_table *table = read_table(m);
	if (!table || drain(m) != 0) {
		table_free(table);
		return -1;
	}
	/* Pending events will report the changed places. */
	bool busy = m->count > 0;
	int rc = update(m, table, busy);
	table_free(table);
	m->dirty |= busy;
	note_scan(m, begin);
	return rc;
}

/** When the next scan is due. */
static double scan_due(const struct monitor *m)
{
	if (m->dirty)
		return m->scanned + m->cost * (m->fan >= 0 ? 9 : 1);
	return m->scanned + greater(SCAN_SECONDS, m->cost * 100);
}

/* Events. */

/** Report that events were lost, and the differences to the table.  @return 0, or -1. */
static int tell_lost(struct monitor *m)
{
	if (tell(m, CHANGE_LOST, NULL, NULL) != 0)
		return -1;
	struct mount_table *table = read_table(m);
	int rc = table ? update(m, table, false) : -1;
	table_free(table);
	if (rc == 0)
		rc = drain(m);
	m->suspect = m->count;
	return rc;
}

/**
 * Whether a mount has a new name because a mount below it has moved: its place relative to that is
 * the same.  If not, it was moved itself, which an event reports, or a directory was renamed, which
 * a scan finds.
 */
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

/** Report the new names of the mounts on a mount that was moved.  @return 0, or -1. */
static int tell_moved_along(struct monitor *m, uint64_t id, const char *top)
{
	uint64_t *ids;
	size_t n, known = 0;
	if (table_list_ids(m->os, id, &ids, &n) != 0)
		return errno == ENOMEM ? -1 : 0;   /* unmounted: an event will follow */
	for (size_t i = 0; i < n; ++i) {
		if (mount_set_find(&m->set, ids[i]) && !ahead_get(m, ids[i]))
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
		struct kept_mount *put = replace(m, kept, now);
		rc = put ? tell(m, CHANGE_MOVE, &kept->mount, &put->mount) : -1;
	}
	table_free(table);
	return rc;
}

/** Handle an ATTACH.  now: the record of the mount, or NULL if it is gone. */
static int tell_attach(struct monitor *m, uint64_t id, const struct mount *now)
{
	if (mount_set_find(&m->set, id) || map64_get(&m->gone, id) != MAP64_NONE)
		return 0;   /* reported already */
	if (now && !now->point)
		return 0;   /* outside of this root */
	struct mount record = {.key = id, .uniq_id = id};
	if (now)
		record = *now;
	if (ahead_get(m, id) >= AHEAD_MOVE)
		record.point = NULL;
	struct kept_mount *put = mount_set_put(&m->set, &record);
	return put ? tell(m, CHANGE_MOUNT, NULL, &put->mount) : -1;
}

static int tell_detach(struct monitor *m, uint64_t id)
{
	struct kept_mount *kept = mount_set_find(&m->set, id);
	if (!kept)
		return 0;
	mount_set_remove(&m->set, id);
	return tell(m, CHANGE_UMOUNT, &kept->mount, NULL);
}

static int tell_move(struct monitor *m, uint64_t id, const struct mount *now, bool suspect)
{
	struct kept_mount *kept = mount_set_find(&m->set, id);
	if (!kept)
		return now ? tell_attach(m, id, now) : 0;
	bool more = ahead_get(m, id) >= AHEAD_MOVE;
	if (now && !now->point)
		return tell_detach(m, id);   /* moved out of this root */

	struct mount place = {0};
	if (now && !more)
		place = *now;
	bool still = place.point && !(mount_changes(&kept->mount, &place) & CHANGE_MOVE);
	if ((kept->early || suspect) && (still || more || !now)) {
		/* A scan has reported it; if suspect, another event may follow. */
		kept->early &= suspect;
		return 0;
	}
	struct kept_mount *put = replace(m, kept, &place);
	if (!put || tell(m, CHANGE_MOVE, &kept->mount, &put->mount) != 0)
		return -1;
	return place.point ? tell_moved_along(m, id, place.point) : 0;
}

/** Read the mounts of the first n events that still exist. */
static struct mount_table *look(struct monitor *m, size_t n)
{
	uint64_t keys[BATCH];
	size_t nkeys = 0;
	struct map64 asked;
	map64_init(&asked);
	for (size_t i = 0; i < n; ++i) {
		struct event event = pending_at(m, i);
		if (!(event.mask & K_FAN_MNT_ATTACH) || ahead_get(m, event.id) & AHEAD_DETACH)
			continue;
		uint32_t first = map64_put(&asked, event.id, (uint32_t)i);
		if (first == MAP64_NONE) {
			map64_destroy(&asked);
			return NULL;
		}
		if (first == i)
			keys[nkeys++] = event.id;
	}
	map64_destroy(&asked);
	return table_read_some(m->os, m->opts.fields, keys, nkeys);
}

/** Report up to BATCH pending events.  @return 0, or -1. */
static int tell_events(struct monitor *m)
{
	size_t n = m->count < BATCH ? m->count : BATCH;
	struct map64 rows;
	map64_init(&rows);
	int rc = -1;
	struct mount_table *seen = look(m, n);
	/* Later events show whether the records are still those of the first events. */
	if (!seen || map64_reserve(&rows, seen->count) != 0 || drain(m) != 0)
		goto out;
	for (size_t i = 0; i < seen->count; ++i)
		map64_put(&rows, seen->mounts[i].key, (uint32_t)i);

	rc = 0;
	for (size_t i = 0; rc == 0 && i < n; ++i) {
		bool suspect;
		struct event event = pending_pop(m, &suspect);
		uint32_t row = map64_get(&rows, event.id);
		const struct mount *now = row == MAP64_NONE ? NULL : &seen->mounts[row];
		if (event.mask & FAN_Q_OVERFLOW) {
			/* The records are older than the table that is read now. */
			rc = tell_lost(m);
			break;
		}
		if (is_move(event.mask))
			rc = tell_move(m, event.id, now, suspect);
		else if (event.mask & K_FAN_MNT_ATTACH)
			rc = tell_attach(m, event.id, now);
		else
			rc = tell_detach(m, event.id);
	}
out:
	map64_destroy(&rows);
	table_free(seen);
	return rc;
}

/* Waiting. */

/**
 * Wait for an event.
 *
 * @return MONITOR_CHANGES (there may be some), MONITOR_TIMEOUT, or why waiting is useless.
 */
static enum monitor_end wait_for(struct monitor *m, double seconds, int out)
{
	/* When the table is known to have changed, mountinfo need not be polled. */
	struct pollfd fds[] = {
		{.fd = m->fan, .events = POLLIN},
		{.fd = m->dirty ? -1 : m->info, .events = POLLPRI},
		{.fd = m->task, .events = POLLIN},
		{.fd = m->out_closed ? -1 : out},
	};
	double ms = lesser(greater(seconds, 0) * 1000 + 0.999, 1e9);
	int ready = os_poll(m->os, fds, sizeof(fds) / sizeof(*fds), (int)ms);
	if (ready < 0)
		return MONITOR_ERROR;
	if (fds[3].revents & POLLNVAL)
		m->out_closed = true;   /* not open from the start */
	else if (fds[3].revents)
		return MONITOR_CLOSED;
	if (fds[0].revents || fds[1].revents) {
		m->dirty |= fds[1].revents != 0;
		m->happened = os_now();
		return drain(m) == 0 ? MONITOR_CHANGES : MONITOR_ERROR;
	}
	return fds[2].revents ? MONITOR_TASK_ENDED : ready ? MONITOR_CHANGES : MONITOR_TIMEOUT;
}

/** Whether the process whose table could not be read has ended: its mounts disappear first. */
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
		if (m->count)
			rc = tell_events(m);
		double now = os_now();
		if (rc == 0 && (now >= scan_due(m) || (over && m->dirty)))
			rc = scan(m);
		if (rc != 0)
			return task_ended(m) ? MONITOR_TASK_ENDED : MONITOR_ERROR;
		if (m->changes.count) {
			*changes = &m->changes;
			return MONITOR_CHANGES;
		}
		if (m->count)
			continue;
		if (over)
			return MONITOR_TIMEOUT;

		double end = milliseconds < 0 ? FOREVER : m->happened + milliseconds / 1000.0;
		now = os_now();
		enum monitor_end waited = wait_for(m, lesser(end, scan_due(m)) - now, out);
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
	/* Opening mountinfo after the pidfd proves that the pidfd is of that process. */
	m->info = os_openat(m->os, m->proc, "mountinfo", O_RDONLY);
	if (m->info < 0)
		return -1;
	/* Events have unique IDs, as only listmount has. */
	if (o->source == TABLE_LISTMOUNT)
		m->fan = os_watch_mounts(m->os);
	return 0;
}

struct monitor *monitor_new(struct os *os, const struct monitor_opts *opts)
{
	struct monitor *m = calloc(1, sizeof(*m));
	if (!m)
		return NULL;
	m->os = os;
	m->opts = *opts;
	m->opts.fields |= MF_IDS | MF_POINT | MF_VFS_OPTS | MF_FS_OPTS;
	if (opts->kinds & CHANGE_PROPAGATION)
		m->opts.fields |= MF_PROPAGATION;
	m->fan = m->info = m->task = -1;
	m->proc = opts->task ? opts->procfd : -1;
	mount_set_init(&m->set);
	map64_init(&m->ahead);
	map64_init(&m->gone);

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
	m->suspect = m->count;
	note_scan(m, begin);
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
	int error = errno;
	os_close(m->os, m->fan);
	os_close(m->os, m->info);
	os_close(m->os, m->task);
	if (!m->opts.task)
		os_close(m->os, m->proc);
	mount_set_destroy(&m->set);
	changes_destroy(&m->changes);
	map64_destroy(&m->ahead);
	map64_destroy(&m->gone);
	free(m->pending);
	free(m);
	errno = error;
}

bool monitor_has_events(const struct monitor *m)
{
	return m->fan >= 0;
}

size_t monitor_count(const struct monitor *m)
{
	return m->set.count;
}

size_t monitor_problems(const struct monitor *m)
{
	return m->problems;
}
