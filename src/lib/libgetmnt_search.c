/* SPDX-License-Identifier: MIT */
/*
 * The public search: include/getmnt/search.h, implemented with search/, which reads directories,
 * and discovery, which finds what must not be accessed.
 */
#include "search/search.h"

#include "base/fstypes.h"
#include "discover/discover.h"
#include "os/caller.h"

#include <fcntl.h>
#include <stdlib.h>
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
	       || os_statx_mnt_id(&st, unique) != m->key;
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
	bool xfs = m->fstype && strcmp(m->fstype, "xfs") == 0;
	if (!m->fstype || (!xfs && strcmp(m->fstype, "btrfs") != 0) || is_idmapped(m))
		return 0;
	uint32_t number = map64_put(devs, mount_dev(m), mounts->nfs + 1);
	if (number != mounts->nfs + 1)
		return number;
	struct bfs_fs **fs = reallocarray(mounts->fs, number, sizeof(*fs));
	mounts->fs = fs ? fs : mounts->fs;
	if (!fs || !(fs[mounts->nfs] = bfs_fs_new(xfs ? OS_INODES_XFS : OS_INODES_BTRFS)))
		return MAP64_NONE;
	return ++mounts->nfs;
}

/** Do not use the bulk interface of mounts on which a mount covers a file. */
static void bulk_exclude(struct os *os, const struct discovery *d, struct search_mounts *mounts)
{
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		uint32_t known = map64_get(&mounts->known, m->parent_key);
		if (known == MAP64_NONE || known < MOUNT_FS
		    || !covers_file(os, m, mounts->unique, discovery_blocks(d, i)))
			continue;
		map64_set(&mounts->known, m->parent_key, known % MOUNT_FS);
	}
}

/** Record the properties of a mount.  @return 0, or -1.  Errors: ENOMEM. */
static int mount_note(struct search_mounts *mounts, const struct discovery *d, uint32_t i,
                      bool bulk, struct map64 *devs)
{
	const struct mount *m = d->tree.nodes[i].mount;
	bool blocks = discovery_blocks(d, i);
	uint32_t fs = bulk ? bulk_number(mounts, devs, m) : 0;
	uint32_t known = blocks ? MOUNT_BLOCKS
	                 : fstype_flags(m->fstype) & FST_LAST_POS ? MOUNT_LAST_POS : 0;
	if (m->vfs_opts && strstr(m->vfs_opts, "nosymfollow")) {
		known |= MOUNT_NOSYMFOLLOW;
		mounts->nosymfollow = true;
	}
	if (fs == MAP64_NONE
	    || map64_put(&mounts->known, m->key, known + fs * MOUNT_FS) == MAP64_NONE)
		return -1;
	if (!m->point || d->tree.nodes[i].top != i)
		return 0;
	int rc = fstype_flags(m->fstype) & FST_UNLISTED ? avoid_add(mounts->unlisted, m->point) : 0;
	return blocks && rc == 0 ? avoid_add(mounts->avoid, m->point) : rc;
}

/** Find the mounts that can block, using only the table.  Without a table no mount is known, so
    none is entered.
    @bulk  Also find the mounts that have a file system with a bulk interface and no ID mapping, and
    on which no file is covered by a mount.
    @return 0, or -1.  Errors: ENOMEM. */
static int mounts_read(struct os *os, struct search_mounts *mounts, bool bulk, bool follow)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	opts.blocking = true;
	opts.guest = true;
	*mounts = (struct search_mounts){.avoid = avoid_new(), .unlisted = avoid_new()};
	if (!mounts->avoid || !mounts->unlisted) {
		search_mounts_destroy(mounts);
		return -1;
	}
	struct map64 by_dev = {0};
	unsigned fields = DISCOVER_FIELDS | (bulk || follow ? MF_VFS_OPTS : 0);
	struct mount_table *table = table_read_kernel(os, TABLE_AUTO, fields);
	struct devmap *devs = table ? discover_devmap(os, table) : NULL;
	struct discovery *d = devs ? discover(os, devs, table, &opts) : NULL;
	int rc = !d && errno == ENOMEM ? -1 : 0;
	mounts->unique = table && table->unique_ids;
	for (uint32_t i = 0; d && rc == 0 && i < d->tree.count; ++i)
		rc = mount_note(mounts, d, i, bulk, &by_dev);
	if (rc != 0)
		search_mounts_destroy(mounts);
	else if (mounts->nfs > 0)
		bulk_exclude(os, d, mounts);
	map64_destroy(&by_dev);
	discovery_free(d);
	devmap_free(devs);
	table_free(table);
	return rc;
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

enum {
	/* The first version ended here; new members are only added at the end. */
	OPTIONS_LEAST = offsetof(struct search_options, reserved)
	                + sizeof((struct search_options){0}.reserved),
	OPTIONS_MOST = 4096,
};
_Static_assert(OPTIONS_LEAST % _Alignof(struct search_options) == 0,
               "padding at the end could become a member");

/** Copy options, which may have the layout of another version.
    @return 0, or -1.  Errors: EINVAL; E2BIG: an unknown member is set. */
static int options_take(struct search_options *own, const struct search_options *options)
{
	const unsigned char *bytes = (const unsigned char *)options;
	bool more = options->size > OPTIONS_MOST;
	if (options->size < OPTIONS_LEAST) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 0; i < sizeof(options->reserved); ++i)
		more = more || options->reserved[i] != 0;
	for (size_t i = sizeof(*own); i < options->size && !more; ++i)
		more = bytes[i] != 0;
	if (more) {
		errno = E2BIG;
		return -1;
	}
	memcpy(own, options, options->size < sizeof(*own) ? options->size : sizeof(*own));
	return 0;
}

static int mounts_again(struct os *os, struct search_mounts *now)
{
	return mounts_read(os, now, false, false);
}

/** Implements searchv(), in a thread that cannot be canceled. */
static SEARCH *search_begin(const char *const roots[], size_t n, const char *pattern,
                            const struct search_options *options)
{
	struct search_options own = {0};
	if (options && options_take(&own, options) != 0)
		return NULL;
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	struct search_mounts mounts = {.any = true, .unique = os.caps & OSC_STATX_UNIQUE};
	/* Without openat2, a directory may turn out to be on another mount after it is opened. */
	bool bulk = own.engine == SEARCH_ENGINE_BULK && own.flags & SEARCH_METADATA
	            && !(os.disabled & OSC_INODES) && os.caps & OSC_OPENAT2;
	bool follow = own.flags & SEARCH_FOLLOW;
	if ((!own.blocking || bulk || follow) && mounts_read(&os, &mounts, bulk, follow) != 0)
		return NULL;
	mounts.protected_links = follow && links_are_protected(&os);
	mounts.any = own.blocking;
	mounts.again = own.blocking ? NULL : mounts_again;
	if (own.blocking) {
		avoid_free(mounts.avoid);
		mounts.avoid = NULL;
	}
	return search_new(&os, &mounts, roots, n, pattern, &own);
}

SEARCH *searchv(const char *const roots[], size_t n, const char *pattern,
                const struct search_options *options)
{
	bool given = pattern && (roots || n == 0);
	for (size_t i = 0; given && i < n; ++i)
		given = roots[i] != NULL;
	if (!given) {
		errno = EINVAL;
		return NULL;
	}
	int state = os_cancel_defer();
	SEARCH *search = search_begin(roots, n, pattern, options);
	os_cancel_restore(state);
	return search;
}

SEARCH *opensearch(const char *paths, const char *pattern, int flags)
{
	if (!paths) {
		errno = EINVAL;
		return NULL;
	}
	size_t len = strlen(paths), n = 0;
	const char **roots = malloc((len + 2) * sizeof(*roots));
	char *text = malloc(len + 1);
	SEARCH *search = NULL;
	if (!roots || !text)
		goto out;
	char *to = text;
	roots[n++] = to;
	for (const char *from = paths; *from; ++from) {
		if (*from == '\\' && (from[1] == ':' || from[1] == '\\')) {
			*to++ = *++from;
		} else if (*from == ':') {
			*to++ = '\0';
			roots[n++] = to;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	search = searchv(roots, n, pattern, &(struct search_options){
		.size = sizeof(struct search_options), .flags = flags,
	});
out:
	free(roots);
	free(text);
	return search;
}

/* search(): the entries of a search in a buffer of the caller. */

enum { ALIGN = 8, ATTRIBUTES = sizeof(struct k_statx) };

_Static_assert(sizeof(struct search_head) % ALIGN == 0, "entries begin at a multiple of 8");
_Static_assert(sizeof(struct search_item) % ALIGN == 0, "a struct statx is at a multiple of 8");
_Static_assert(ATTRIBUTES % ALIGN == 0, "the header says 256 bytes");

/** Build the item of an object or error, without its path and attributes. */
static struct search_item raw_item(const SEARCH *search, const struct searchent *e)
{
	struct search_item item = {
		.path_len = (uint32_t)strlen(e->path),
		.err = e->err,
		.errsource = (uint16_t)e->errsource,
		.type = e->err ? 0 : search_type(search),
	};
	uint32_t at = sizeof(item);
	if (e->info) {
		item.statx = at;
		at += ATTRIBUTES;
	}
	item.path = at;
	at += item.path_len + 1;
	item.size = (at + ALIGN - 1) / ALIGN * ALIGN;
	return item;
}

/** Write the rest of a search to a buffer.  @return, errors  As search(); nothing is read if the
    buffer is invalid. */
static ssize_t search_raw(SEARCH *search, void *buffer, size_t len)
{
	if (!buffer || (uintptr_t)buffer % ALIGN != 0) {
		errno = EFAULT;
		return -1;
	}
	struct search_head head = {
		.magic = SEARCH_MAGIC, .version = SEARCH_VERSION, .size = sizeof(head),
		.used = sizeof(head),
	};
	if (len < sizeof(head)) {
		errno = ERANGE;
		return -1;
	}
	struct searchent *e;
	while ((e = readsearch(search))) {
		struct search_item item = raw_item(search, e);
		/* After an entry that does not fit, no further entry is written. */
		if (head.left > 0 || item.size > len - head.used) {
			++head.left;
			head.left_bytes += item.size;
			continue;
		}
		char *at = (char *)buffer + head.used;
		memset(at + item.size - ALIGN, 0, ALIGN);
		memcpy(at, &item, sizeof(item));
		if (item.statx)
			memcpy(at + item.statx, statxsearch(search), ATTRIBUTES);
		memcpy(at + item.path, e->path, item.path_len + 1);
		head.used += item.size;
		++head.entries;
	}
	if (errno != 0)
		return -1;
	memcpy(buffer, &head, sizeof(head));
	return (ssize_t)head.entries;
}

/** Cleanup handler of search() for a canceled thread: close the search. */
static void search_abandon(void *search)
{
	closesearch(search);
}

/* Weak, so that a program may define its own search() and use the rest of the library. */
__attribute__((weak))
ssize_t search(const char *paths, const char *pattern, int flags, void *buffer, size_t len)
{
	SEARCH *whole = opensearch(paths, pattern, flags);
	if (!whole)
		return -1;
	ssize_t n;
	int error;
	pthread_cleanup_push(search_abandon, whole);
	n = search_raw(whole, buffer, len);
	error = errno;
	pthread_cleanup_pop(1);
	errno = error;
	return n;
}
