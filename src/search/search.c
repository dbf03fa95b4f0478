/* SPDX-License-Identifier: MIT */
/*
 * The search: match a pattern and a query during a traversal of directories.
 *
 *     roots, one by one --> bfs --+--> entry(), meta(): records, appended to the output
 *                                 |    by the thread that reads the directory
 *          getmnt_search_read() <-- queue <-- deliver(): the path of the directory
 *
 * Each directory has a node: the live states of the pattern, the mount points below the directory
 * that must not be accessed, and the mount of the directory.  Directories with equal properties
 * share a node, so that nodes are few: only one for a pattern like "*.c".  The number of a node is
 * the tag of its directories in bfs (node.c).
 *
 * Only the output of one step of bfs is kept in memory: a directory with a million entries is
 * returned in parts, unless it is sorted.
 *
 * The thread that reads a directory follows the symlinks in it.  A symlink to a directory becomes a
 * record.  After the root, the target of each of these symlinks is searched as a root, with paths
 * that start with the path of the symlink.  With FOLLOW every directory has its own node, which
 * contains the number of the directory in search_shared.seen, and so identifies its ancestors.
 *
 * Only a directory that is its own ancestor is a loop.  The search ends nevertheless: the
 * directories on a path differ from each other, and there are finitely many directories.  A
 * directory that many symlinks lead to is searched many times.  Memory is bounded by the largest
 * tree without symlinks to directories, since nodes are forgotten between roots, and by the pending
 * symlinks on one path, since symlinks below a symlink are searched before its next sibling.
 */
#include "search/search_impl.h"

#include "base/fail.h"
#include "remote/remote.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

_Static_assert((int)PATTERN_FLAGS == (SEARCH_PERIOD | SEARCH_PAPER_Q | SEARCH_EXTENDED
               | SEARCH_NOCASE), "flags of patterns");
_Static_assert((int)BFS_AUTO == SEARCH_ENGINE_AUTO && (int)BFS_SYNC == SEARCH_ENGINE_SYNC
               && (int)BFS_FS == SEARCH_ENGINE_BULK, "engines");

enum {
	PORTIONS = 4,             /* maximum number, per thread, of portions of large directories
	                             that wait */
	PORTIONS_MOST = 64,       /* maximum number of these portions for all threads together */
	META_BATCH = 256,
	REMOTE_MS = 100,          /* milliseconds to wait for other hosts, before testing whether
	                             the search was cancelled */
	PART = 256 * 1024,        /* bytes of records in a part of a directory */
	ALL_FLAGS = SEARCH_STOPATFIRST | SEARCH_METADATA | SEARCH_INCLUDEROOT | SEARCH_PERIOD
	            | SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK | SEARCH_PAPER_Q | SEARCH_XDEV
	            | SEARCH_CACHED | SEARCH_FOLLOW | ORDER_FLAGS | SEARCH_EXTENDED | SEARCH_NOCASE
	            | SEARCH_VANISHED,
};

/** Whether any mount has, or may have, directories with several device numbers: subvolumes, which
    find's -xdev does not enter. */
static bool has_subvolumes(const struct search_mounts *mounts)
{
	bool found = mounts->n == 0;
	for (uint32_t i = 0; i < mounts->n && !found; ++i) {
		const char *type = mounts->list[i].type;
		found = !type || strcmp(type, "btrfs") == 0 || strcmp(type, "bcachefs") == 0;
	}
	return found;
}

SEARCH *search_new(const struct os *os, struct search_mounts *mounts, const char *const roots[],
                   size_t n, const char *pattern, const struct search_options *options,
                   struct query *query)
{
	SEARCH *search = NULL;
	const struct query_info *info = query ? query_info(query) : NULL;
	int flags = options->flags;
	if (info && info->follow)
		flags |= SEARCH_FOLLOW;
	if (info && (info->xdev || info->mount))
		flags |= SEARCH_XDEV;
	if (info && info->ignore_race)
		flags |= SEARCH_VANISHED;
	if (flags & ~ALL_FLAGS || (flags & ORDER_FLAGS) == ORDER_FLAGS
	    || options->engine < SEARCH_ENGINE_AUTO || options->engine > SEARCH_ENGINE_BULK) {
		search_mounts_destroy(mounts);
		query_free(query);
		return fail_null(EINVAL);
	}
	search = calloc(1, sizeof(*search));
	if (!search) {
		search_mounts_destroy(mounts);
		query_free(query);
		return NULL;
	}
	search->mounts = *mounts;
	os_clone_state(&search->os, os);
	search->looked = *os;
	search->root.fd = search->root.topfd = -1;
	search->parts.dirfd = LOOK_UNOPENED;
	search->more.maxdepth = UINT_MAX;
	search->caller.reader = pthread_self();
	os_origin_init(&search->caller.origin);
	search->flags = flags;
	search->threads = options->threads ? options->threads : os_cpus(&search->os);
	search->depth = options->depth;
	search->access = (flags & SEARCH_R_OK ? R_OK : 0) | (flags & SEARCH_W_OK ? W_OK : 0)
	                 | (flags & SEARCH_X_OK ? X_OK : 0);
	pthread_mutex_init(&search->shared.lock, NULL);
	search->links.end = &search->links.first;
	atomic_init(&search->budget.shares, BFS_AHEAD_SHARES - 1);
	/* A directory is read as a whole, not in parts, if it is sorted, or if its entries may be
	   deleted (-depth). */
	const bool whole = flags & ORDER_FLAGS || (info && info->depth);
	unsigned sharers = whole || search->threads <= 1 ? 0 : search->threads;
	unsigned portions = sharers < PORTIONS_MOST / PORTIONS ? PORTIONS * sharers : PORTIONS_MOST;
	atomic_init(&search->budget.portions, portions);
	search->policy = (struct bfs_policy){
		.order = BFS_DEPTH,
		.statx_mask = flags & SEARCH_METADATA ? K_STATX_BASIC | K_STATX_BTIME
		              : K_STATX_TYPE,
		.batch = META_BATCH,
		.engine = (enum bfs_engine)options->engine,
		.ahead = options->ahead,
		.together = search->threads > 1 && options->engine != SEARCH_ENGINE_SYNC,
		.budget = &search->budget,
		.pause = whole ? 0 : PART,
		.entry = search_entry,
		.meta = search_meta,
		.pass = flags & (SEARCH_FOLLOW | SEARCH_METADATA) ? NULL : search_pass,
		.fs = search_fs,
		.mnt_id = search_mnt_id,
		.last_pos = search_last_pos,
		.wanted = search_wanted,
		.done = search_done,
		.batch_done = search_batch_done,
		.deliver = search_deliver,
		.arg = search,
	};
	int compiled = selection_init(&search->want, pattern, options->exclude,
	                              (unsigned)flags & PATTERN_FLAGS, query);
	if (info)
		search->policy.statx_mask |= info->mask | search->want.act_mask
		                             | (info->unique ? K_STATX_INO : 0);
	search->statx_mask = search->policy.statx_mask;
	search->counts.threads = 1;
	search->roots.names = calloc(n + 1, sizeof(*search->roots.names));
	if (compiled != 0 || !search->roots.names)
		goto fail;
	for (; search->roots.n < n; ++search->roots.n) {
		search->roots.names[search->roots.n] = strdup(roots[search->roots.n]);
		if (!search->roots.names[search->roots.n])
			goto fail;
	}
	if (search_remote_init(search, pattern, options) != 0)
		goto fail;
	search->by_device = info && (info->xdev || info->mount) && has_subvolumes(&search->mounts);
	search->xdev_looks = flags & SEARCH_XDEV
	                     && (!(os->caps & OSC_OPENAT2) || search->by_device);
	if (search->xdev_looks)
		search->policy.fs = NULL;   /* the bulk interface also returns objects covered by a
		                               mount */
	return search;
fail:
	{
		int error = errno;
		getmnt_search_close(search);
		errno = error;
	}
	return NULL;
}

void getmnt_search_cancel(SEARCH *search)
{
	if (search)
		atomic_store(&search->cancelled, true);
}

/** Read more directories.  Thread cancellation is deferred: the workers would wait for a canceled
    thread. */
static void read_more(SEARCH *search)
{
	int state = os_cancel_defer();
	search->caller.reader = pthread_self();
	search->caller.reading = true;
	strbuf_reset(&search->parts.text);
	search->parts.at = search->parts.end = 0;
	if (search->more.watch)
		search->more.watch(search->more.arg);
	if (search->bfs) {
		int rc = bfs_step(search->bfs);
		if (rc < 0)
			search->failed = true;
		if (rc != 2)
			search_root_end(search);
	} else if (search->source.run) {
		if (!search_source_step(search))
			search_root_end(search);
	} else if ((search->links.first || !search_serve_postponed(search))
	           && !search_root_begin(search)) {
		search->ended = !search_remote_turn(search, REMOTE_MS);
	}
	/* Other hosts search while this host reads directories. */
	if (search->bfs)
		search_remote_turn(search, 0);
	search->caller.reading = false;
	os_cancel_restore(state);
}

/** Set entry->below, type and root from search->last. */
static struct searchent *entry_placed(SEARCH *search, struct searchent *entry)
{
	const struct search_last *last = &search->last;
	entry->below = entry->path + last->root_len;
	while (*entry->below == '/')
		++entry->below;
	entry->type = entry->err ? DT_UNKNOWN : last->type;
	entry->root = search_root(search);
	return entry;
}

struct searchent *getmnt_search_read(SEARCH *search)
{
	if (!search)
		return fail_null(EINVAL);
	if (!os_origin_is_here(&search->caller.origin))
		return fail_null(ECHILD);
	for (;;) {
		if (atomic_load(&search->cancelled))
			return fail_null(ECANCELED);
		if (search->failed || search->parts.text.failed || search->last.path.failed
		    || search->last.target.failed)
			return fail_null(ENOMEM);
		if (search->ended)
			return fail_null(0);
		if (search->parts.at < search->parts.end) {
			struct searchent *entry = search_next_entry(search);
			if (entry && !search->last.path.failed && !search->last.target.failed)
				return entry_placed(search, entry);
			continue;
		}
		if (search->parts.at < search->parts.text.len) {
			search_part_begin(search);
			continue;
		}
		struct searchent *entry = search_remote_next(search);
		if (entry)
			return entry_placed(search, entry);
		pthread_testcancel();
		read_more(search);
	}
}

const struct statx *getmnt_search_statx(const SEARCH *search)
{
	return search && search->last.has_st
	       ? (const struct statx *)(const void *)&search->last.st : NULL;
}

void search_more(SEARCH *search, const struct search_more *more)
{
	search->more = *more;
	search->where.wanted = more->watch != NULL;
	if (search->flags & SEARCH_METADATA)
		search->statx_mask |= more->mask;
	search->mounts.exclude_types = more->exclude_types;
	/* With search_options.blocking, the mounts were not read at the start. */
	struct search_mounts now;
	if ((more->exclude_types || more->exported || more->source) && search->mounts.any
	    && !search->mounts.avoid) {
		search->failed |= search_read_mounts(search, 0, &now) != 0;
		if (!search->failed) {
			now.any = true;
			search->mounts = now;
		}
	}
	if (more->one_device && has_subvolumes(&search->mounts))
		search->by_device = search->xdev_looks = true;
	if (more->source && !search->failed)
		search->failed |= search_mounts_place_all(&search->mounts) != 0;
	search->want.identify |= more->dirs;
	selection_limit(&search->want, more->types, more->mindepth, more->maxdepth);
	if (more->visit) {
		/* visit() is called in this thread when an object is found, so there are no
		   workers. */
		search->threads = 1;
		search->policy.together = false;
		search->policy.pass = NULL;
	}
}

unsigned char search_type(const SEARCH *search)
{
	return search->last.type;
}

size_t search_below(const SEARCH *search, const char **below)
{
	const char *path = strbuf_str(&search->last.path) + search->last.root_len;
	/* The path below a root is "" or, if the root was given with a trailing slash, "/". */
	*below = path[0] == '/' && !path[1] ? "" : path;
	return search_root(search);
}

const char *search_where(SEARCH *search)
{
	search->where.wanted = true;
	return strbuf_str(&search->where.text);
}

void search_stop(SEARCH *search)
{
	search_root_end(search);
	search->ended = true;
}

size_t search_root(const SEARCH *search)
{
	return search->last.remote ? search->last.root : search->roots.next - 1;
}

const struct query *search_query(const SEARCH *search)
{
	return search->want.query;
}

const struct os *search_os(const SEARCH *search)
{
	return &search->os;
}

const struct os *search_looked(const SEARCH *search)
{
	return &search->looked;
}

void getmnt_search_count(const SEARCH *search, struct search_counts *counts, size_t size)
{
	struct search_counts now = {0};
	if (search) {
		now = search->counts;
		now.calls = os_calls_total(&search->os);
		now.mount_calls = os_calls_total(&search->looked);
	}
	if (search && search->bfs)
		search_count_bfs(search, &now);
	memset(counts, 0, size);
	memcpy(counts, &now, size < sizeof(now) ? size : sizeof(now));
}

/**
 * Abandon the workers in a child made by fork(2).
 *
 * @shared [out]
 *         Whether data shared with the workers may be half-written.
 * @return false: all data may be half-written, because a thread other than the forking one may have
 *         been reading.
 */
static bool lose_workers(SEARCH *search, bool *shared)
{
	if (search->caller.reading || !pthread_equal(search->caller.reader, pthread_self()))
		return false;
	*shared = search->bfs && bfs_lose_workers(search->bfs);
	return true;
}

/** Close and free a search.
    @shared  Data shared with the workers may be half-written, and is not freed. */
static void search_free(SEARCH *search, bool shared)
{
	remote_free(search->remotes.hosts, !os_origin_is_here(&search->caller.origin));
	search_delegated_free(search, !os_origin_is_here(&search->caller.origin));
	search_root_end(search);
	search_root_close(search);
	os_close(&search->os, search->root.topfd);
	selection_destroy(&search->want);
	search_mounts_destroy(&search->mounts);
	search_mounts_destroy(&search->reread.own);
	search_mounts_destroy(&search->reread.later);
	for (size_t i = 0; i < search->roots.n; ++i)
		free(search->roots.names[i]);
	free(search->roots.names);
	for (int i = 0; i < CHUNKS && search->chunks[i]; ++i)
		free(atomic_load(&search->chunks[i]));
	if (!shared) {
		map64_destroy(&search->shared.by_hash);
		seen_destroy(&search->shared.seen);
		seen_destroy(&search->shared.once);
		seen_destroy(&search->shared.unique);
		map64_destroy(&search->shared.owners);
	}
	while (search->links.first) {
		struct pending_link *pending = search->links.first;
		search->links.first = pending->next;
		free(pending);
	}
	strbuf_destroy(&search->root.place.path);
	strbuf_destroy(&search->root.top.path);
	strbuf_destroy(&search->root.via);
	strbuf_destroy(&search->parts.text);
	strbuf_destroy(&search->last.path);
	strbuf_destroy(&search->root.base);
	strbuf_destroy(&search->root.text);
	strbuf_destroy(&search->parts.postponed);
	strbuf_destroy(&search->parts.postponed_at);
	strbuf_destroy(&search->last.target);
	strbuf_destroy(&search->source.why);
	strbuf_destroy(&search->remotes.text);
	strbuf_destroy(&search->where.text);
	pthread_mutex_destroy(&search->shared.lock);
	os_origin_destroy(&search->caller.origin);
	free(search);
}

int getmnt_search_close(SEARCH *search)
{
	int state = os_cancel_defer();
	bool shared = false;
	if (search && (os_origin_is_here(&search->caller.origin) || lose_workers(search, &shared)))
		search_free(search, shared);
	os_cancel_restore(state);
	return 0;
}
