/* SPDX-License-Identifier: MIT */
/*
 * Watching: a kernel whose mounts change whenever it is asked something.
 *
 * The input is what happens, op after op; some of them at each kernel call, so
 * in the middle of every reading.  As in the kernel, a change can be seen before
 * its events are queued, but nothing else is mounted before they are; the queue
 * is short; some changes are announced to nobody.
 *
 * What is told fits to what was told before, and makes in the end the mounts
 * that there are.  By events, and while none was lost, each mount, umount and
 * move is told once.
 *
 *     flags (enum), length of the queue (1), ops: see happen()
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "mounts/monitor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	F_EVENTS = 1 << 0,      /* there is fanotify */
	F_SHORT = 1 << 1,       /* a read gives one event */
	F_FEW = 1 << 2,         /* not all kinds are asked for */

	MAX_MOUNTS = 24,        /* at a time */
	MAX_IDS = 600,
	MAX_DEPTH = 8,
	QUEUE_MAX = 4096,
	ROOM = 256,
};

#define FIRST_ID UINT64_C(0x80000001)

/** A mount of the kernel. */
struct there {
	uint64_t id, parent;    /* id 0: none */
	unsigned name;          /* its name in the parent */
	unsigned options;       /* 1: the mount's, 2: the file system's, 4: shared */
};

/** What has become of an ID. */
struct fate {
	unsigned mounts, umounts, moves;   /* events */
	unsigned names;                    /* times that its name may have changed otherwise */
	unsigned told_mounts, told_umounts, told_moves;
	bool known;                        /* by what was told */
	bool no_place;
	char point[ROOM];
	unsigned options;
};

static struct fuzz_input input;
static unsigned flags, queue_length;
static struct there mounts[MAX_MOUNTS];
static struct fate fates[MAX_IDS];
static unsigned nids;
static uint64_t queue[QUEUE_MAX][2], late[2 * MAX_MOUNTS][2];   /* ID, mask */
static unsigned nqueue, nlate;
static bool overflown, lost, touched, renamed, running;
static double clock_now;

static struct fate *fate_of(uint64_t id)
{
	FUZZ_CHECK(id >= FIRST_ID && id < FIRST_ID + nids);
	return &fates[id - FIRST_ID];
}

static struct there *find(uint64_t id)
{
	for (int i = 0; i < MAX_MOUNTS; ++i) {
		if (mounts[i].id == id && id)
			return &mounts[i];
	}
	return NULL;
}

/** Some mount. */
static struct there *any(void)
{
	unsigned from = fuzz_byte(&input);
	for (unsigned i = 0; i < MAX_MOUNTS; ++i) {
		struct there *m = &mounts[(from + i) % MAX_MOUNTS];
		if (m->id)
			return m;
	}
	return &mounts[0];
}

static unsigned depth_of(const struct there *m)
{
	return m->id == FIRST_ID ? 0 : 1 + depth_of(find(m->parent));
}

static void point_of(const struct there *m, char *out)
{
	if (m->id == FIRST_ID) {
		strcpy(out, "/");
		return;
	}
	point_of(find(m->parent), out);
	size_t n = strlen(out);
	snprintf(out + n, ROOM - n, "%sn%u", n > 1 ? "/" : "", m->name);
}

static bool is_below(const struct there *m, const struct there *top)
{
	while (m->id != FIRST_ID && m != top)
		m = find(m->parent);
	return m == top;
}

/* Events. */

static void push(uint64_t id, uint64_t mask)
{
	if (nqueue >= queue_length) {
		lost = true;
		if (overflown)
			return;
		overflown = true;
		id = 0;
		mask = FAN_Q_OVERFLOW;
	}
	queue[nqueue][0] = id;
	queue[nqueue++][1] = mask;
}

/** Queue events of what happened last. */
static void deliver(unsigned n)
{
	unsigned k = 0;
	for (; k < nlate && k < n; ++k)
		push(late[k][0], late[k][1]);
	memmove(late, late + k, (nlate - k) * sizeof(*late));
	nlate -= k;
}

static void tell_later(uint64_t id, uint64_t mask)
{
	late[nlate][0] = id;
	late[nlate++][1] = mask;
}

/* What happens. */

static void attach(void)
{
	struct there *parent = any(), *m = mounts;
	unsigned name = fuzz_byte(&input) % 4, options = fuzz_byte(&input) % 8;
	while (m < mounts + MAX_MOUNTS && m->id)
		++m;
	if (m == mounts + MAX_MOUNTS || nids == MAX_IDS || depth_of(parent) >= MAX_DEPTH)
		return;
	*m = (struct there){FIRST_ID + nids++, parent->id, name, options};
	tell_later(m->id, K_FAN_MNT_ATTACH);
	fate_of(m->id)->mounts++;
}

/** Take a mount away, and all on it. */
static void detach(struct there *top)
{
	for (struct there *m = mounts; m < mounts + MAX_MOUNTS; ++m) {
		if (m->id && m->parent == top->id && m->id != FIRST_ID)
			detach(m);
	}
	tell_later(top->id, K_FAN_MNT_DETACH);
	fate_of(top->id)->umounts++;
	top->id = 0;
}

static void names_change(const struct there *top)
{
	for (struct there *m = mounts; m < mounts + MAX_MOUNTS; ++m) {
		if (m->id && m != top && is_below(m, top))
			fate_of(m->id)->names++;
	}
}

static void move(struct there *m)
{
	struct there *to = any();
	unsigned name = fuzz_byte(&input) % 4;
	if (is_below(to, m) || depth_of(to) + MAX_DEPTH / 2 > MAX_DEPTH)
		return;
	names_change(m);
	m->parent = to->id;
	m->name = name;
	tell_later(m->id, K_FAN_MNT_ATTACH | K_FAN_MNT_DETACH);
	fate_of(m->id)->moves++;
}

/** Let one thing happen, as the next byte says. */
static void happen(void)
{
	unsigned op = fuzz_byte(&input) % 16;
	struct there *m = op > 3 ? any() : NULL;
	/* Who mounts waits until the one before has told of it. */
	if (op < 10)
		deliver(UINT32_MAX);
	if (op < 4) {
		attach();
	} else if (op < 7 && m->id != FIRST_ID) {
		detach(m);
	} else if (op < 10 && m->id != FIRST_ID) {
		move(m);
	} else if (op < 13) {
		m->options = fuzz_byte(&input) % 8;
		touched |= op < 12;
	} else if (op == 13 && m->id != FIRST_ID) {
		m->name = fuzz_byte(&input) % 4;
		names_change(m);
		fate_of(m->id)->names++;
		renamed = true;
	} else if (op > 13) {
		deliver(1);
	}
	touched |= op < 10;
}

/** Something may happen at any kernel call. */
static void meanwhile(void)
{
	if (!running || input.at == input.end)
		return;
	for (unsigned n = fuzz_byte(&input) % 4; n > 0; --n)
		happen();
}

/* The kernel. */

static ssize_t list(const struct there *top, uint64_t last, uint64_t *ids, size_t n)
{
	size_t got = 0;
	meanwhile();
	if (!top->id) {
		errno = ENOENT;
		return -1;
	}
	for (uint64_t id = last < FIRST_ID ? FIRST_ID : last + 1; id < FIRST_ID + nids
	     && got < n; ++id) {
		const struct there *m = find(id);
		if (m && is_below(m, top) && (m != top || id == FIRST_ID))
			ids[got++] = id;
	}
	return (ssize_t)got;
}

static ssize_t list_all(uint64_t last, uint64_t *ids, size_t n)
{
	return list(find(FIRST_ID), last, ids, n);
}

static ssize_t list_below(uint64_t id, uint64_t last, uint64_t *ids, size_t n)
{
	static const struct there none;
	const struct there *top = find(id);
	return list(top ? top : &none, last, ids, n);
}

static int stat_mount(uint64_t id, uint64_t mask, struct k_statmount *buf, size_t size)
{
	FUZZ_CHECK(size >= sizeof(*buf) + 2 * ROOM);
	const struct there *m = find(id);
	if (!m) {
		meanwhile();
		errno = ENOENT;
		return -1;
	}
	memset(buf, 0, sizeof(*buf));
	buf->mask = mask & (K_STATMOUNT_SB_BASIC | K_STATMOUNT_MNT_BASIC | K_STATMOUNT_MNT_ROOT
	                    | K_STATMOUNT_MNT_POINT | K_STATMOUNT_FS_TYPE | K_STATMOUNT_SB_SOURCE);
	buf->mnt_id = id;
	buf->mnt_parent_id = m->parent;
	buf->mnt_id_old = (uint32_t)(id - FIRST_ID + 20);
	buf->mnt_parent_id_old = (uint32_t)(m->parent - FIRST_ID + 20);
	buf->mnt_attr = m->options & 1 ? MOUNT_ATTR_RDONLY : 0;
	buf->sb_flags = m->options & 2 ? MS_RDONLY : 0;
	buf->mnt_propagation = m->options & 4 ? MS_SHARED : MS_PRIVATE;
	buf->mnt_peer_group = m->options & 4 ? 1 : 0;
	memcpy(buf->str, "/\0tmpfs", 8);
	buf->fs_type = 2;
	buf->sb_source = 2;
	buf->mnt_point = 8;
	point_of(m, buf->str + 8);
	/* What happens next is not in the answer. */
	meanwhile();
	return 0;
}

static ssize_t read_events(void *buf, size_t size)
{
	meanwhile();
	size_t n = 0, used = 0;
	for (; n < nqueue && size - used >= 40 && !(n && flags & F_SHORT); ++n) {
		struct fanotify_event_metadata event = {
			.event_len = 40, .vers = FANOTIFY_METADATA_VERSION, .metadata_len = 24,
			             .mask = queue[n][1], .fd = -1,
		};
		struct k_fanotify_mnt info = {.type = K_FAN_INFO_TYPE_MNT, .len = 16,
		                              .mnt_id = queue[n][0]};
		if (event.mask & FAN_Q_OVERFLOW) {
			event.event_len = 24;
			overflown = false;
		}
		memcpy((char *)buf + used, &event, sizeof(event));
		if (event.event_len == 40)
			memcpy((char *)buf + used + 24, &info, sizeof(info));
		used += event.event_len;
	}
	memmove(queue, queue + n, (nqueue - n) * sizeof(*queue));
	nqueue -= (unsigned)n;
	if (used)
		return (ssize_t)used;
	errno = EAGAIN;
	return -1;
}

static int poll_all(struct pollfd *fds, size_t n, int ms)
{
	meanwhile();
	for (;;) {
		int ready = 0;
		for (size_t i = 0; i < n; ++i) {
			bool pri = fds[i].events & POLLPRI;
			fds[i].revents = 0;
			if (fds[i].fd >= 0 && fds[i].events && (pri ? touched : nqueue > 0)) {
				fds[i].revents = pri ? POLLPRI | POLLERR : POLLIN;
				touched &= !pri;
				++ready;
			}
		}
		if (ready || ms == 0)
			return ready;
		if (input.at < input.end && running) {
			happen();
			clock_now += 0.001;
		} else if (nlate) {
			deliver(UINT32_MAX);
		} else {
			clock_now += ms / 1000.0;
			return 0;
		}
	}
}

static double time_now(void)
{
	return clock_now += 1e-6;
}

/* What is told. */

static unsigned options_of(const struct mount *m)
{
	return (strncmp(m->vfs_opts, "ro", 2) == 0) | (strncmp(m->fs_opts, "ro", 2) == 0) << 1
	       | (m->propagation & MP_SHARED ? 4 : 0);
}

static void know(struct fate *fate, const struct mount *m)
{
	fate->no_place = !m->point;
	snprintf(fate->point, ROOM, "%s", m->point ? m->point : "");
}

/** See that what a change is of is as it was told before. */
static void check_before(const struct fate *fate, const struct change *change, unsigned kinds)
{
	const struct mount *m = change->before;
	bool gone = change->kind == CHANGE_UMOUNT;
	FUZZ_CHECK(fate->known);
	if (kinds & CHANGE_MOVE && (gone || change->kind == CHANGE_MOVE)) {
		FUZZ_CHECK(fate->no_place == !m->point);
		FUZZ_SAME(m->point ? m->point : "", fate->point);
	}
	unsigned differ = m->vfs_opts ? options_of(m) ^ fate->options : 0;
	if (kinds & CHANGE_REMOUNT && (gone || change->kind == CHANGE_REMOUNT))
		FUZZ_CHECK((differ & 3) == 0);
	if (kinds & CHANGE_PROPAGATION && (gone || change->kind == CHANGE_PROPAGATION))
		FUZZ_CHECK((differ & 4) == 0);
}

static void hear(const struct change *change, unsigned kinds)
{
	const struct mount *m = change->after ? change->after : change->before;
	FUZZ_CHECK(change->kind == CHANGE_LOST || change->kind & kinds);
	if (change->kind == CHANGE_LOST) {
		FUZZ_CHECK(lost && !m);
		return;
	}
	struct fate *fate = fate_of(m->key);
	FUZZ_CHECK(m->uniq_id == m->key);
	if (change->before)
		check_before(fate, change, kinds);
	switch (change->kind) {
	case CHANGE_MOUNT:
		FUZZ_CHECK(!fate->known);
		fate->known = true;
		fate->options = m->vfs_opts ? options_of(m) : 0;
		fate->told_mounts++;
		know(fate, m);
		break;
	case CHANGE_UMOUNT:
		fate->known = false;
		fate->told_umounts++;
		break;
	case CHANGE_MOVE:
		fate->told_moves++;
		know(fate, m);
		break;
	case CHANGE_REMOUNT:
		FUZZ_CHECK(((options_of(m) ^ fate->options) & 3) != 0);
		fate->options = (fate->options & 4) | (options_of(m) & 3);
		break;
	case CHANGE_PROPAGATION:
		FUZZ_CHECK(((options_of(m) ^ fate->options) & 4) != 0);
		fate->options = (fate->options & 3) | (options_of(m) & 4);
		break;
	case CHANGE_LOST:
		break;
	}
}

/** What was told makes the mounts that there are. */
static void check_outcome(unsigned kinds)
{
	for (unsigned i = 0; i < nids; ++i) {
		const struct fate *fate = &fates[i];
		const struct there *m = find(FIRST_ID + i);
		FUZZ_CHECK(fate->known == (m != NULL));
		/* No ID comes twice, and nothing moves that has not. */
		FUZZ_CHECK(fate->told_mounts <= 1 && fate->told_umounts <= 1);
		FUZZ_CHECK(fate->told_moves <= fate->moves + fate->names);
		if (!m)
			continue;
		char point[ROOM];
		point_of(m, point);
		if (kinds & CHANGE_MOVE)
			FUZZ_SAME(fate->point, point);
		if (kinds & CHANGE_REMOUNT)
			FUZZ_CHECK((fate->options & 3) == (m->options & 3));
		if (kinds & CHANGE_PROPAGATION)
			FUZZ_CHECK((fate->options & 4) == (m->options & 4));
	}
}

/** By events, each thing is told once. */
static void check_counts(unsigned kinds)
{
	for (unsigned i = 0; i < nids; ++i) {
		const struct fate *fate = &fates[i];
		FUZZ_CHECK(fate->told_mounts == fate->mounts);
		FUZZ_CHECK(fate->told_umounts == fate->umounts);
		if (!(kinds & CHANGE_MOVE))
			continue;
		if (!renamed)
			FUZZ_CHECK(fate->told_moves >= fate->moves);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct fuzz_file files[] = {{"/proc/self/mountinfo", FK_FILE, "", 0}};
	input = fuzz_input(data, size);
	memset(mounts, 0, sizeof(mounts));
	memset(fates, 0, sizeof(fates));
	nids = nqueue = nlate = 0;
	overflown = lost = touched = renamed = running = false;
	clock_now = 1000;
	flags = fuzz_byte(&input);
	queue_length = 2 + fuzz_byte(&input);
	queue_length = queue_length > 200 ? QUEUE_MAX - 1 : queue_length;

	struct fuzz_kernel kernel = {
		.caps = OSC_LISTMOUNT | OSC_REQ_VER1, .statmount_mask = 0x7fff, .cpus = 1,
		.files = files, .nfiles = 1, .listmount = list_all, .submounts = list_below,
		.statmount = stat_mount, .events = flags & F_EVENTS ? read_events : NULL,
		             .poll = poll_all,
		.now = time_now,
	};
	struct os os;
	fuzz_kernel_set(&kernel);
	fuzz_os(&os);

	mounts[nids] = (struct there){FIRST_ID, FIRST_ID - 1, 0, 0};
	fates[nids++].known = true;
	strcpy(fates[0].point, "/");
	/* Without moves and remounts what was before is not told. */
	unsigned kinds = CHANGE_MOUNT | CHANGE_UMOUNT;
	if (!(flags & F_FEW))
		kinds |= CHANGE_REMOUNT | CHANGE_MOVE | CHANGE_PROPAGATION;
	struct monitor_opts opts = {.source = TABLE_LISTMOUNT, .kinds = kinds, .procfd = AT_FDCWD};
	struct monitor *monitor = monitor_new(&os, &opts);
	FUZZ_CHECK(monitor && monitor_info(monitor).events == !!(flags & F_EVENTS)
	           && monitor_info(monitor).mounts == 1);

	running = true;
	const struct changes *changes;
	for (;;) {
		/* In the end longer than it takes to look at all. */
		bool last = input.at == input.end;
		enum monitor_end end = monitor_next(monitor, last ? 60000 : 10, -1, &changes);
		FUZZ_CHECK(end == MONITOR_CHANGES || end == MONITOR_TIMEOUT);
		FUZZ_CHECK(end == MONITOR_TIMEOUT || changes->count > 0);
		for (size_t i = 0; end == MONITOR_CHANGES && i < changes->count; ++i)
			hear(&changes->list[i], kinds);
		if (last && end == MONITOR_TIMEOUT)
			break;
	}
	check_outcome(kinds);
	if (flags & F_EVENTS && !lost)
		check_counts(kinds);
	monitor_free(monitor);
	fuzz_kernel_set(NULL);
	return 0;
}
