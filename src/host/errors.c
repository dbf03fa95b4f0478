/* SPDX-License-Identifier: MIT */
/*
 * Errors that file systems report: in /sys, without accessing a file system, and as events.
 */
#include "host/host.h"

#include "base/arena.h"
#include "base/fstypes.h"
#include "mountopts/shown.h"
#include "os/service.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

struct reader {
	struct host *host;
	struct host_errors_list *out;
	struct map64 seen;       /* the devices whose file systems were read */
};

static void add_errors(struct reader *r, struct host_errors errors)
{
	ARENA_PUSH(&r->out->arena, r->out->list, r->out->count, errors);
}

/** Read a number from a file in /sys/fs; -1: unknown. */
__attribute__((format(printf, 2, 3)))
static long read_number(struct reader *r, const char *format, ...)
{
	char path[PATH_MAX];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(path, sizeof(path), format, args);
	va_end(args);
	return n < (int)sizeof(path) ? host_read_number(r->host->in.os, path) : -1;
}

/** Read the errors of an ext4 superblock: /sys/fs/ext4/NAME, where NAME is the name of its
    device. */
static void ask_ext4(struct reader *r, const struct mount *m, uint32_t of)
{
	struct os *os = r->host->in.os;
	char path[PATH_MAX], name[NAME_MAX + 1];
	bool named = host_kernel_name(os, m->dev_major, m->dev_minor, name);
	/* Exists since Linux 4.19. */
	long count = named ? read_number(r, "/sys/fs/ext4/%s/errors_count", name) : -1;
	r->out->unknown |= count < 0;
	if (count <= 0)
		return;
	struct host_errors errors = {.of = of, .count = (unsigned long long)count};
	snprintf(path, sizeof(path), "/sys/fs/ext4/%s/last_error_func", name);
	char *function = host_read_kernel(os, path);
	if (function && *function > ' ') {
		function[strcspn(function, "\n")] = '\0';
		errors.detail = arena_printf(&r->out->arena, "the last in %s()", function);
	}
	free(function);
	add_errors(r, errors);
}

/** Sum up the numbers in lines "name number"; append the lines with a positive number to names. */
static unsigned long long add_stats(const char *text, struct strbuf *names)
{
	unsigned long long sum = 0;
	for (const char *at = text; at && *at;) {
		size_t n = strcspn(at, " ");
		char *end = NULL;
		unsigned long long number = at[n] ? strtoull(at + n, &end, 10) : 0;
		if (number) {
			strbuf_printf(names, "%s%.*s %llu", names->len ? ", " : "", (int)n, at,
			              number);
			sum += number;
		}
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return sum;
}

/** Read the errors of a btrfs file system: /sys/fs/btrfs/UUID/devinfo/N. */
static void ask_btrfs(struct reader *r, const struct mount *m, uint32_t of)
{
	struct os *os = r->host->in.os;
	struct fstab_device device = {0};
	_Alignas(struct k_dirent) char buf[32 * 1024];
	char path[PATH_MAX];
	struct os_dir dir;
	if (host_mount_device(r->host, m, &device) != 0) {
		arena_fail(&r->out->arena);
		return;
	}
	const char *uuid = device.tags ? device.tags->uuid : NULL;
	int fd = -1;
	if (uuid && !strchr(uuid, '/')) {
		snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devinfo", uuid);
		fd = os_opendir(os, AT_FDCWD, path);
	}
	if (fd < 0) {
		r->out->unknown = true;
		return;
	}
	struct host_errors errors = {.of = of};
	struct strbuf names = {0};
	os_dir_begin(&dir, os, fd, buf, sizeof(buf));
	for (const char *name; (name = os_dir_next(&dir)) != NULL;) {
		errors.missing += read_number(r, "/sys/fs/btrfs/%s/devinfo/%s/missing", uuid,
		                              name) > 0;
		snprintf(path, sizeof(path), "/sys/fs/btrfs/%.36s/devinfo/%.255s/error_stats", uuid,
		         name);
		char *stats = host_read_kernel(os, path);
		r->out->unknown |= !stats;   /* since Linux 5.14 */
		errors.count += add_stats(stats, &names);
		free(stats);
	}
	os_close(os, fd);
	const char *detail = arena_built(&r->out->arena, &names);
	errors.detail = *detail ? detail : NULL;
	strbuf_destroy(&names);
	if (errors.count || errors.missing)
		add_errors(r, errors);
}

/** Whether a file system was shut down, without accessing it: ext4 shows that in its options (since
    Linux 6.16); on XFS statx(2), which discovery called, fails with EIO. */
static bool is_shut_down(struct reader *r, const struct mount *m)
{
	const struct discovery *d = r->host->in.d;
	bool xfs = strcmp(m->fstype, "xfs") == 0;
	uint32_t node = xfs ? mtree_find(&d->tree, m->key) : MT_NONE;
	if (!xfs)
		return shown_fault(m) == SHOWN_SHUTDOWN;
	unsigned states = node == MT_NONE ? 1u << MT_UNTESTED : d->tree.nodes[node].states;
	const unsigned unseen = 1u << MT_UNTESTED | 1u << MT_UNSEARCHED | 1u << MT_DENIED;
	r->out->unknown |= (states & unseen) != 0;
	return states & 1u << MT_STALE && !(states & 1u << MT_HIDDEN);
}

/** Read the errors of a mount's file system, unless they were read already. */
static void read_mount(struct reader *r, const struct mount *m, uint32_t of)
{
	bool btrfs = strcmp(m->fstype, "btrfs") == 0, xfs = strcmp(m->fstype, "xfs") == 0;
	if (!btrfs && !xfs && !(fstype_flags(m->fstype) & FST_JOURNAL))
		return;
	bool down = is_shut_down(r, m);
	/* Another mount of the same XFS may report the shutdown. */
	if (xfs && !down)
		return;
	if (map64_put(&r->seen, mount_dev(m), of) != of)
		return;
	if (down)
		add_errors(r, (struct host_errors){.of = of, .shutdown = true});
	else if (btrfs)
		ask_btrfs(r, m, of);
	else
		ask_ext4(r, m, of);
}

int host_read_errors(struct host *host, const struct mount *const *mounts, size_t n,
                     struct host_errors_list *errors)
{
	struct reader r = {.host = host, .out = errors, .seen.arena = &errors->arena};
	*errors = (struct host_errors_list){0};
	if (!host->in.live || mounts_path_block(host->in.paths, "/sys/fs")) {
		errors->unknown = true;
		return 0;
	}
	for (uint32_t i = 0; i < n && !errors->arena.failed; ++i) {
		if (mounts[i] && mounts[i]->fstype)
			read_mount(&r, mounts[i], i);
	}
	return arena_check(&errors->arena);
}

void host_errors_destroy(struct host_errors_list *errors)
{
	arena_destroy(&errors->arena);
}

void host_watch_errors(struct host *host, int group)
{
	struct map64 tried = {0};
	const struct mtree *tree = &host->in.d->tree;
	for (uint32_t i = 0; i < tree->count && group >= 0; ++i) {
		const struct mount *m = tree->nodes[i].mount;
		if (!m || !(fstype_flags(m->fstype) & FST_DEVICE)
		    || mtree_shown_state(&tree->nodes[i]) != MT_OK
		    || map64_get(&tried, mount_dev(m)) != MAP64_NONE)
			continue;
		int fd = host_open_mount(host, i);
		/* The kernel refuses all mounts of a file system alike, as without root.  Then the
		   next audit finds the errors. */
		if (fd >= 0) {
			os_errors_add(host->in.os, group, fd);
			map64_put(&tried, mount_dev(m), i);
		}
		os_close(host->in.os, fd);
	}
	map64_destroy(&tried);
}
