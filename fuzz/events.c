/* SPDX-License-Identifier: MIT */
/*
 * The bytes of mount events, as they come from fanotify and as they never
 * should; monitor.c has what happens to the mounts.
 *
 * The input: a byte, how many bytes one read gives; then what is read.
 *
 * What is no event ends the watch with EPROTO, and nothing else does; of three
 * mounts that stay none is told to be gone for good.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "mounts/monitor.h"

#include <errno.h>
#include <linux/mount.h>
#include <poll.h>
#include <string.h>

enum { FIRST_KEY = 1000, MOUNTS = 3 };

static struct fuzz_input input;
static size_t one_read;
static double clock_now;

static ssize_t on_events(void *buf, size_t size)
{
	size_t n;
	const char *bytes = fuzz_bytes(&input, one_read < size ? one_read : size, &n);
	if (n == 0) {
		errno = EAGAIN;
		return -1;
	}
	memcpy(buf, bytes, n);
	return (ssize_t)n;
}

static int on_poll(struct pollfd *fds, size_t n, int ms)
{
	int ready = 0;
	for (size_t i = 0; i < n; ++i) {
		bool events = fds[i].fd == FUZZ_WATCH_FD && input.at < input.end;
		fds[i].revents = events ? POLLIN : 0;
		ready += events;
	}
	if (!ready && ms > 0)
		clock_now += ms / 1000.0;
	return ready;
}

static double on_now(void)
{
	return clock_now += 1e-4;
}

static ssize_t on_listmount(uint64_t last, uint64_t *ids, size_t n)
{
	size_t got = 0;
	for (uint64_t key = FIRST_KEY; key < FIRST_KEY + MOUNTS && got < n; ++key) {
		if (key > last)
			ids[got++] = key;
	}
	return (ssize_t)got;
}

static ssize_t on_submounts(uint64_t top, uint64_t last, uint64_t *ids, size_t n)
{
	return top == FIRST_KEY ? on_listmount(last < top ? top : last, ids, n) : 0;
}

static int on_statmount(uint64_t id, uint64_t mask, struct k_statmount *sm, size_t size)
{
	if (id < FIRST_KEY || id >= FIRST_KEY + MOUNTS) {
		errno = ENOENT;
		return -1;
	}
	FUZZ_CHECK(size > sizeof(*sm) + 16);
	*sm = (struct k_statmount){
		.mask = mask & (K_STATMOUNT_SB_BASIC | K_STATMOUNT_MNT_BASIC | K_STATMOUNT_MNT_ROOT
		                | K_STATMOUNT_MNT_POINT
		                | K_STATMOUNT_FS_TYPE),
		.mnt_id = id, .mnt_parent_id = FIRST_KEY, .mnt_id_old = (uint32_t)id,
		          .mnt_parent_id_old = FIRST_KEY,
		.mnt_propagation = MS_PRIVATE, .fs_type = 2, .mnt_point = id == FIRST_KEY ? 0 : 8,
	};
	memcpy(sm->str, "/\0tmpfs\0/a", 11);
	return 0;
}

static const struct fuzz_file *on_open(const char *dir, const char *path, int flags,
                                       uint64_t resolve)
{
	static const struct fuzz_file proc = {.path = "", .kind = FK_DIRENTS};
	static const struct fuzz_file info = {.path = "", .kind = FK_FILE, .bytes = ""};
	(void)dir, (void)flags, (void)resolve;
	return strstr(path, "mountinfo") ? &info : &proc;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	input = fuzz_input(data, size);
	one_read = 16 * (1 + (size_t)fuzz_byte(&input));
	clock_now = 100;
	struct fuzz_kernel kernel = {
		.caps = OSC_LISTMOUNT, .statmount_mask = 0x3ff, .listmount = on_listmount,
		        .submounts = on_submounts,
		.statmount = on_statmount, .open = on_open, .poll = on_poll, .now = on_now,
		             .events = on_events,
	};
	fuzz_kernel_set(&kernel);
	struct os os;
	fuzz_os(&os);
	struct monitor_opts opts = {
		.source = TABLE_LISTMOUNT, .fields = MF_ALL,
		.kinds = CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_REMOUNT | CHANGE_MOVE
		         | CHANGE_PROPAGATION,
	};
	struct monitor *monitor = monitor_new(&os, &opts);
	FUZZ_CHECK(monitor || errno == EPROTO);
	enum monitor_end end = MONITOR_CHANGES;
	for (unsigned calls = 0; monitor && end == MONITOR_CHANGES; ++calls) {
		const struct changes *changes;
		end = monitor_next(monitor, 12000, -1, &changes);
		FUZZ_CHECK(end == MONITOR_CHANGES || end == MONITOR_TIMEOUT
		           || (end == MONITOR_ERROR && errno == EPROTO));
		FUZZ_CHECK(end != MONITOR_CHANGES || changes->count > 0);
		FUZZ_CHECK(calls < size + 100);
	}
	/* All was read; after some quiet the table is as it was. */
	if (end == MONITOR_TIMEOUT) {
		const struct changes *changes;
		FUZZ_CHECK(input.at == input.end);
		for (unsigned calls = 0; end != MONITOR_TIMEOUT || calls < 2; ++calls) {
			end = monitor_next(monitor, 12000, -1, &changes);
			FUZZ_CHECK(end != MONITOR_ERROR && calls < 100);
		}
		FUZZ_CHECK(monitor_info(monitor).mounts == MOUNTS);
	}
	monitor_free(monitor);
	fuzz_kernel_set(NULL);
	return 0;
}
