/* SPDX-License-Identifier: MIT */
/*
 * The mounts for a search: the tables of this process and, for a tree that it does not describe,
 * of a process in that namespace; and what discovery finds out about each.
 */
#include "lib/libgetmnt_mounts.h"

#include "base/fstypes.h"
#include "devmap.h"
#include "discover/discover.h"
#include "os/file.h"
#include "search/hosts/delegate.h"
#include "mounts/table.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Whether a mount point is, or may be, a file. */
static bool covers_file(struct os *os, const struct mount *m, bool unique, bool blocks)
{
	struct k_statx st;
	/* The root of a file system is a directory, except for FUSE, where it may be any file. */
	if (m->root && strcmp(m->root, "/") == 0 && m->fstype && strncmp(m->fstype, "fuse", 4) != 0)
		return false;
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | AT_STATX_DONT_SYNC;
	unsigned mask = K_STATX_TYPE | (unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID);
	return blocks || !m->point || os_statx(os, AT_FDCWD, m->point, flags, mask, &st) != 0
	       || !(st.mask & K_STATX_TYPE) || !S_ISDIR(st.mode)
	       || os_statx_mnt_id(&st, unique) != (unique ? m->key : m->id);
}

/** Whether a mount has, or may have, an ID mapping. */
static bool is_idmapped(const struct mount *m)
{
	return !m->vfs_opts || strstr(m->vfs_opts, "idmapped");
}

/** The number of a mount's file system in mounts->fs, from 1; the file system is added if
    necessary.
    @devs  Device -> number.  @return 0: it has no bulk interface; MAP64_NONE: memory ran out. */
static uint32_t bulk_number(struct search_mounts *mounts, struct map64 *devs, const struct mount *m)
{
	enum os_inodes_of of;
	if (!os_inodes_type(m->fstype, &of) || is_idmapped(m))
		return 0;
	uint32_t number = map64_put(devs, mount_dev(m), mounts->nfs + 1);
	if (number != mounts->nfs + 1)
		return number;
	struct bfs_fs **fs = reallocarray(mounts->fs, number, sizeof(*fs));
	mounts->fs = fs ? fs : mounts->fs;
	if (!fs || !(fs[mounts->nfs] = bfs_fs_new(of)))
		return MAP64_NONE;
	return ++mounts->nfs;
}

/** Do not use the bulk interface of mounts on which a mount covers a file. */
static void bulk_exclude(struct os *os, const struct discovery *d, struct search_mounts *mounts)
{
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		uint32_t parent = map64_get(&mounts->by_id, mounts->unique ? m->parent_key
		                                                           : m->parent_id);
		if (parent != MAP64_NONE && mounts->list[parent].fs
		    && covers_file(os, m, mounts->unique, mounts_block(d->mounts, i)))
			mounts->list[parent].fs = 0;
	}
}

/** State for adding the mounts of a table. */
struct reading {
	struct os *os;
	struct search_mounts *mounts;
	struct devmap *devs;
	bool bulk, options, all, delegate;
	struct map64 bulk_by_dev; /* device -> number of its file system */
	struct map64 blocks;      /* device of a mount of this process -> whether it blocks */
};

/** Whether a mount can block.  What the file system stands on is known best where it is mounted by
    this process too. */
static bool mount_blocks(struct reading *r, const struct discovery *d, uint32_t i)
{
	const struct mount *m = d->tree.nodes[i].mount;
	bool blocks = mounts_block_itself(d->mounts, i);
	if (!(fstype_flags(m->fstype) & (FST_LAYERED | FST_DEVICE)))
		return blocks;
	uint32_t known = map64_put(&r->blocks, mount_dev(m), blocks);
	return known == MAP64_NONE ? blocks : known;
}

/** Add the mounts of a table.  @return 0, or -1.  Errors: ENOMEM. */
static int table_add_to(struct reading *r, const struct discovery *d)
{
	struct search_mounts *mounts = r->mounts;
	const uint32_t from = mounts->n;
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		uint32_t node = d->tree.order[i];
		const struct mount *m = d->tree.nodes[node].mount;
		unsigned type = fstype_flags(m->fstype);
		bool blocks = !d->tree.nodes[node].made && mount_blocks(r, d, node);
		uint32_t fs = r->bulk ? bulk_number(mounts, &r->bulk_by_dev, m) : 0;
		struct search_mount mount = {
			.id = mounts->unique ? m->key : m->id,
			.parent = mounts->unique ? m->parent_key : m->parent_id,
			.old_id = m->id, .point = m->point, .type = m->fstype, .fs = fs,
			.flags = (blocks ? MOUNT_BLOCKS : type & FST_LAST_POS ? MOUNT_LAST_POS : 0)
			         | (type & FST_UNLISTED ? MOUNT_UNLISTED : 0)
			         | (type & FST_LAST ? MOUNT_CROSSED : 0)
			         | (m->vfs_opts && strstr(m->vfs_opts, "nosymfollow")
			            ? MOUNT_NOSYMFOLLOW : 0),
		};
		if (r->delegate && delegate_type(m->fstype)) {
			mount.source = m->source;
			mount.dir = m->root;
			mount.opts = m->fs_opts;
		}
		if (fs == MAP64_NONE || (mount.id && search_mounts_add(mounts, &mount) != 0))
			return -1;
	}
	/* Without these calls a mount is recognized only by its place. */
	const unsigned need = OSC_STATX_MNT_ID | OSC_OPENAT2;
	return search_mounts_place(mounts, from, r->all || (r->os->caps & need) != need);
}

/** Open the root of a process, unless its file system can block.  @return a descriptor, or -1. */
static int root_of(struct os *os, int process, const struct mount_table *table)
{
	bool blocks = false;
	for (size_t i = 0; i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		blocks |= m->point && strcmp(m->point, "/") == 0 && mount_type_blocks(m);
	}
	return blocks ? -1 : os_openat(os, process, "root", O_PATH | O_DIRECTORY);
}

/** Read and add the mounts of a process.  @process  Its directory in /proc; -1: this process.
    @return 0, or -1.  Errors: ENOMEM. */
static int mounts_add(struct reading *r, int process)
{
	struct search_mounts *mounts = r->mounts;
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	opts.root_cannot_block = true;
	opts.guest = true;
	unsigned fields = DISCOVER_FIELDS | (r->options ? MF_VFS_OPTS : 0)
	                  | (r->delegate ? MF_SOURCE | MF_FS_OPTS : 0);
	struct mount_table *table = process < 0
	        ? table_read_kernel(r->os, TABLE_AUTO, fields)
	        : table_read_mountinfo(r->os, process, "mountinfo");
	if (table && process >= 0) {
		opts.procfd = process;
		opts.procpath = "mountinfo";
		opts.rootfd = root_of(r->os, process, table);
	}
	if (table && !r->devs)
		r->devs = mounts_devmap(r->os, table);
	struct discovery *d = table && r->devs ? discover(r->os, r->devs, table, &opts) : NULL;
	int rc = !d && errno == ENOMEM ? -1 : 0;
	if (d && mounts_find_blocking(d->mounts) != 0)
		rc = -1;
	if (table && process < 0)
		mounts->unique &= table->unique_ids;
	if (d && rc == 0)
		rc = table_add_to(r, d);
	if (d && process < 0 && d->root != MT_NONE) {
		const struct mount *root = d->tree.nodes[d->root].mount;
		mounts->top = mounts->unique ? root->key : root->id ? root->id
		              : r->os->root_old_id;
	}
	if (process < 0 && !mounts->top && !mounts->unique) {
		int top = os_openat(r->os, AT_FDCWD, "/", O_PATH);
		mounts->top = top < 0 ? 0 : os_mount_id(r->os, top);
		os_close(r->os, top);
	}
	if (d && rc == 0 && mounts->nfs > 0)
		bulk_exclude(r->os, d, mounts);
	discovery_free(d);
	table_free(table);
	if (process >= 0)
		os_close(r->os, opts.rootfd);
	return rc;
}

/** Whether the table of a process lists a mount. */
static bool lists(struct os *os, int process, uint64_t id)
{
	struct mount_table *table = table_read_mountinfo(os, process, "mountinfo");
	bool found = false;
	for (size_t i = 0; table && i < table->count && !found; ++i)
		found = table->mounts[i].id == id;
	table_free(table);
	return found;
}

/** Find a process whose table has a mount, among one process of each mount namespace.
    @proc  /proc.  @return the descriptor of its directory, or -1. */
static int find_process(struct os *os, int proc, uint64_t id)
{
	alignas(struct k_dirent) char buf[16 * 1024];
	struct os_dir dir;
	struct map64 namespaces = {0};
	uint32_t count = 0;
	int found = -1;
	os_dir_begin(&dir, os, proc, buf, sizeof(buf));
	for (const char *name; found < 0 && (name = os_dir_next(&dir));) {
		char link[64];
		if (!isdigit((unsigned char)*name))
			continue;
		int fd = os_openat(os, proc, name, O_PATH | O_DIRECTORY);
		if (fd >= 0 && os_readlinkat(os, fd, "ns/mnt", link, sizeof(link)) > 0
		    && map64_put(&namespaces, map64_text(link), count) == count && ++count
		    && lists(os, fd, id))
			found = fd;
		else
			os_close(os, fd);
	}
	map64_destroy(&namespaces);
	return found;
}

/** Add the mounts of a namespace that has a mount.  @return 0, or -1.
    Errors: ENOENT: no process is in it; ENOMEM. */
static int mounts_add_other(struct reading *r, uint64_t id)
{
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct k_statx st;
	int proc = -1, process = -1, rc = -1;
	if (os_statx(r->os, AT_FDCWD, "/proc", flags, K_STATX_MNT_ID, &st) == 0
	    && search_mounts_refuse(r->mounts, r->os, os_statx_mnt_id(&st, false)) == 0)
		proc = os_opendir(r->os, AT_FDCWD, "/proc");
	if (proc >= 0)
		process = find_process(r->os, proc, id);
	errno = ENOENT;
	if (process >= 0)
		rc = mounts_add(r, process);
	os_close(r->os, process);
	os_close(r->os, proc);
	return rc;
}

/** See search_mounts.read.  @bulk, options, all, delegate  As for libgetmnt_mounts(). */
static int mounts_read(struct os *os, uint64_t id, bool bulk, bool options, bool all,
                       bool delegate, struct search_mounts *now)
{
	struct reading r = {
		.os = os, .mounts = now, .bulk = bulk, .options = options, .all = all,
		.delegate = delegate,
	};
	int rc = search_mounts_init(now);
	/* A table of another process has only 32-bit IDs. */
	now->unique = id == 0 && os->caps & OSC_STATX_UNIQUE;
	now->read = libgetmnt_mounts_again;
	if (rc == 0)
		rc = mounts_add(&r, -1);
	if (rc == 0 && id != 0)
		rc = mounts_add_other(&r, id);
	if (rc != 0)
		search_mounts_destroy(now);
	map64_destroy(&r.bulk_by_dev);
	map64_destroy(&r.blocks);
	devmap_free(r.devs);
	return rc;
}

int libgetmnt_mounts_again(struct os *os, uint64_t id, struct search_mounts *now)
{
	return mounts_read(os, id, false, id != 0, false, false, now);
}

/** Whether the kernel protects symlinks in sticky directories; true if unknown. */
static bool links_are_protected(struct os *os)
{
	char *text;
	size_t len;
	if (os_read_kernel(os, AT_FDCWD, "/proc/sys/fs/protected_symlinks", 16, &text, &len) != 0)
		return true;
	bool is_off = *text == '0';
	free(text);
	return !is_off;
}

int libgetmnt_mounts(struct os *os, struct search_mounts *mounts, bool bulk, bool follow,
                     bool all, bool delegate)
{
	int rc = mounts_read(os, 0, bulk, bulk || follow, all, delegate, mounts);
	mounts->protected_links = rc == 0 && follow && links_are_protected(os);
	return rc;
}
