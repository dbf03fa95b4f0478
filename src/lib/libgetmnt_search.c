/* SPDX-License-Identifier: MIT */
/*
 * The public search: include/getmnt/search.h, by search/, which reads directories, and discovery,
 * which knows what must not be touched.
 */
#include "search/search.h"

#include "base/fstypes.h"
#include "devmap.h"
#include "discover/discover.h"
#include "os/caller.h"
#include "table/table.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/** Whether a mount point is, or may be, a file. */
static bool covers_file(struct os *os, const struct mount *m, bool unique, bool blocks)
{
	struct k_statx st;
	/* The root of a file system is a directory; but FUSE's may be anything. */
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

/** Add a mount, if its file system has a bulk interface.  @return 0, or -1.  Errors: ENOMEM. */
static int bulk_add(struct search_bulk *bulk, struct map64 *devs, const struct mount *m)
{
	bool xfs = m->fstype && strcmp(m->fstype, "xfs") == 0;
	if (!m->fstype || (!xfs && strcmp(m->fstype, "btrfs") != 0) || is_idmapped(m))
		return 0;
	uint32_t i = map64_put(devs, mount_dev(m), bulk->n);
	if (i == bulk->n) {
		struct bfs_fs **bigger = realloc(bulk->fs, (i + 1) * sizeof(*bigger));
		bulk->fs = bigger ? bigger : bulk->fs;
		if (!bigger || !(bigger[i] = bfs_fs_new(xfs ? OS_INODES_XFS : OS_INODES_BTRFS)))
			return -1;
		++bulk->n;
	}
	return i == MAP64_NONE || map64_put(&bulk->by_mount, m->key, i) == MAP64_NONE ? -1 : 0;
}

/** Find the mounts whose file system has a bulk interface, which have no ID mapping, and on which
    no file is covered by a mount.  @return 0, or -1.  Errors: ENOMEM. */
static int bulk_read_mounts(struct os *os, const struct discovery *d, bool unique,
                            struct search_bulk *bulk)
{
	int rc = 0;
	struct map64 devs;
	map64_init(&devs);
	bulk->unique = unique;
	for (uint32_t i = 0; i < d->tree.count && rc == 0; ++i)
		rc = bulk_add(bulk, &devs, d->tree.nodes[i].mount);
	for (uint32_t i = 0; i < d->tree.count && rc == 0; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		if (bulk->n > 0 && map64_get(&bulk->by_mount, m->parent_key) != MAP64_NONE
		    && covers_file(os, m, unique, discovery_blocks(d, i)))
			map64_remove(&bulk->by_mount, m->parent_key);
	}
	map64_destroy(&devs);
	return rc;
}

/**
 * Find the mounts that can block, by the table only.  Without a table no mount is known, and none
 * is entered.
 *
 * @bulk [out]  The mounts with a bulk interface; or NULL.
 * @return 0, or -1.  Errors: ENOMEM.
 */
static int mounts_read(struct os *os, struct search_mounts *mounts, struct search_bulk *bulk)
{
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	opts.blocking = true;
	opts.guest = true;
	*mounts = (struct search_mounts){.avoid = avoid_new()};
	if (!mounts->avoid)
		return -1;
	map64_init(&mounts->known);
	unsigned fields = DISCOVER_FIELDS | (bulk ? MF_VFS_OPTS : 0);
	struct mount_table *table = table_read_kernel(os, TABLE_AUTO, fields);
	struct devmap *devs = table ? discover_devmap(os, table) : NULL;
	struct discovery *d = devs ? discover(os, devs, table, &opts) : NULL;
	int rc = !d && errno == ENOMEM ? -1 : 0;
	mounts->unique = table && table->unique_ids;
	for (uint32_t i = 0; d && rc == 0 && i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		bool blocks = discovery_blocks(d, i);
		uint32_t known = blocks ? MOUNT_BLOCKS
		                 : fstype_flags(m->fstype) & FST_LAST_POS ? MOUNT_ENDS_LAST_POS
		                                                    : MOUNT_ENDS_READ;
		rc = map64_put(&mounts->known, m->key, known) == MAP64_NONE ? -1 : 0;
		if (rc == 0 && blocks && m->point && d->tree.nodes[i].top == i)
			rc = avoid_add(mounts->avoid, m->point);
	}
	if (d && rc == 0 && bulk)
		rc = bulk_read_mounts(os, d, mounts->unique, bulk);
	if (rc != 0) {
		search_mounts_destroy(mounts);
		if (bulk)
			search_bulk_destroy(bulk);
	}
	discovery_free(d);
	devmap_free(devs);
	table_free(table);
	return rc;
}

enum {
	/* The first version ended here; members are only added after it. */
	OPTIONS_LEAST = offsetof(struct search_options, reserved)
	                + sizeof((struct search_options){0}.reserved),
	OPTIONS_MOST = 4096,
};
_Static_assert(OPTIONS_LEAST % _Alignof(struct search_options) == 0,
               "padding at the end could become a member");

/** Copy options, which may be of another version.
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
	return mounts_read(os, now, NULL);
}

/** searchv(), in a thread that cannot be canceled. */
static SEARCH *search_begin(const char *const roots[], size_t n, const char *pattern,
                            const struct search_options *options)
{
	struct search_options own = {0};
	if (options && options_take(&own, options) != 0)
		return NULL;
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	struct search_mounts mounts;
	struct search_bulk bulk = {0};
	/* Without openat2 a directory may turn out to be on another mount. */
	bool by_bulk = own.engine == SEARCH_ENGINE_BULK && own.flags & SEARCH_METADATA
	               && !(os.disabled & OSC_INODES) && os.caps & OSC_OPENAT2;
	if (own.blocking && !by_bulk)
		return search_new(&os, NULL, NULL, roots, n, pattern, &own);
	if (mounts_read(&os, &mounts, by_bulk ? &bulk : NULL) != 0)
		return NULL;
	mounts.again = mounts_again;
	/* Without such a mount it does not know which IDs to use. */
	struct search_bulk *known = bulk.n > 0 ? &bulk : NULL;
	if (own.blocking)
		search_mounts_destroy(&mounts);
	return search_new(&os, own.blocking ? NULL : &mounts, known, roots, n, pattern, &own);
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
	{
		int error = errno;
		free(roots);
		free(text);
		errno = error;
	}
	return search;
}

/** What search() began, closed when its thread is cancelled. */
static void search_abandon(void *search)
{
	closesearch(search);
}

/* Weak, so that a program may have a search() of its own beside what else is here. */
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
