/* SPDX-License-Identifier: MIT */
/*
 * Metadata, fetched after the verdict on a name.
 *
 *     fetch_add() --+----------------------------> wanted --+--> statx, one by one --+--> meta()
 *                   '--> window --> inode order -----^      '--> many: a range ------'
 *
 * As it comes, a batch is part of one buffer of names, and fetched as soon as it is
 * full.  In order, names are copied, and those of many buffers are fetched together:
 * on a disk about in the order in which the inodes lie, so that a block of them is
 * read once, and not once for each as soon as memory is short.
 *
 * BULK_AUTO times its calls (pace.h), which enters no kernel.  Until it is known
 * whether they wait, each buffer is put in order by itself; then all, if they do,
 * unless the directory has that order anyway or the disk is another machine's; and as
 * it comes, if they do not.
 *
 * Where threads share what they may keep (struct bulk_spare), a large directory is
 * divided: the thread that reads its names leaves them in portions, and any fetches what
 * they stand for.  Where nothing is waited for they are as the names came; of a window they
 * are ranges of its order.
 */
#include "bfs/bulk_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

enum {
	TURNS_TIMED = 4,          /* one of so many parts */
};

void fetch_init(struct fetch *fetch, struct os *os, const struct bulk_how *how)
{
	*fetch = (struct fetch){.os = os, .how = how, .whole = UINT64_MAX};
}

void fetch_destroy(struct fetch *fetch)
{
	many_free(fetch->many);
	free(fetch->wanted);
	bulk_rest_free(fetch->window);
}

/** Pass metadata on. */
static enum bulk_verdict pass(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir,
                              const struct bulk_entry *entry, struct k_statx *st, int error, void *arg)
{
	/* FUSE without allow_other tells other users, root too, nothing but what
	   the VFS itself knows: the mount ID. */
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	if (error == EACCES)
		error = os_statx(fetch->os, dir->fd, entry->name, flags, 0, st) == 0 ? 0 : errno;
	if (error == 0)
		fetch->dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
	enum bulk_verdict verdict = policy->meta(arg, dir, entry, st, error);
	return verdict == BULK_ENTER ? policy->enter(arg, dir, entry) : verdict;
}

/** Fetch that of one entry. */
static enum bulk_verdict fetch_one(struct fetch *fetch, const struct bulk_policy *policy,
                                   struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	struct k_statx st;
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	int rc = os_statx(fetch->os, dir->fd, entry->name, flags, policy->statx_mask, &st);
	return pass(fetch, policy, dir, entry, &st, rc == 0 ? 0 : errno, arg);
}

void fetch_forget(struct fetch *fetch)
{
	fetch->n = 0;
	if (fetch->window && fetch->window->n > 0)
		window_reset(fetch->window);
}

/** Whether the file system of this directory is asked by its own interface. */
static bool many_pays(const struct fetch *fetch, const struct bulk_dir *dir, size_t n)
{
	return fetch->how->engine == BULK_FS && dir->fs && fetch->many && n > 1;
}

void fetch_begin(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir)
{
	fetch->begun = dir->resume;
	fetch->came = dir->resume ? BULK_PORTION : 0;
	fetch->full = false;
	fetch->type = -1;
	if (dir->rest) {
		bulk_rest_free(fetch->window);
		fetch->window = dir->rest;
		dir->rest = NULL;
	}
	if (fetch->how->engine != BULK_FS || !dir->fs || policy->batch <= 1)
		return;
	if (!fetch->many)
		fetch->many = many_new();
	if (fetch->many)
		many_begin(fetch->many, fetch->os, policy, dir);
}

/** The type of a directory's file system, which is asked for once.  0: it is not told. */
static unsigned fs_type(struct fetch *fetch, const struct bulk_dir *dir)
{
	struct statfs fs;
	if (fetch->type < 0)
		fetch->type = os_fstatfs(fetch->os, dir->fd, &fs) == 0 ? (unsigned)fs.f_type : 0;
	return (unsigned)fetch->type;
}

/** Whether the order of inode numbers is that of a disk of this machine. */
static bool order_known(struct fetch *fetch, const struct bulk_dir *dir)
{
	switch (fs_type(fetch, dir)) {
	case 0:
	case NFS_SUPER_MAGIC:
	case SMB_SUPER_MAGIC:
	case CIFS_SUPER_MAGIC:
	case SMB2_SUPER_MAGIC:
	case CEPH_SUPER_MAGIC:
	case AFS_SUPER_MAGIC:
	case AFS_FS_MAGIC:
	case CODA_SUPER_MAGIC:
	case V9FS_MAGIC:
	case FUSE_SUPER_MAGIC:
		return false;
	default:
		return true;
	}
}

/** Whether a look-up of what is not in memory keeps others out of the directory: XFS locks
    the blocks of its index, the first of which is that of all. */
static bool looks_alone(struct fetch *fetch, const struct bulk_dir *dir)
{
	return fs_type(fetch, dir) == K_XFS_SUPER_MAGIC;
}

/** Whether entries of a directory are timed, and put in order by what comes of it. */
static bool adapts(const struct fetch *fetch)
{
	return fetch->how->engine == BULK_AUTO && !fetch->how->ahead;
}

/** It was found that they wait: see whether order helps. */
static void order_judge(struct fetch *fetch, const struct bulk_dir *dir, const struct bulk_entry *wanted, size_t n)
{
	const struct bulk_rest *window = fetch->window;
	bool apt = window && window->sorted ? window->apt : window_apt(wanted, n);
	fetch->ordered = fetch->dev;
	if (looks_alone(fetch, dir))
		fetch->whole = fetch->dev;
	if (apt || !order_known(fetch, dir))
		pace_set(&fetch->pace, PACE_CALM);
}

/** Ask for that of up to PACE_RUN entries by the clock, which does not run while they
    are passed on: what is made of them there is no waiting. */
static void ask_timed(struct fetch *fetch, const struct bulk_policy *policy, const struct bulk_dir *dir,
                      const struct bulk_entry *wanted, size_t n)
{
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	uint64_t since = 0;
	n = n < PACE_RUN ? n : PACE_RUN;
	os_elapsed(fetch->os, &since);
	for (size_t i = 0; i < n; ++i) {
		int rc = os_statx(fetch->os, dir->fd, wanted[i].name, flags, policy->statx_mask, &fetch->run[i].st);
		fetch->run[i].error = rc == 0 ? 0 : errno;
	}
	pace_note(&fetch->pace, n, os_elapsed(fetch->os, &since));
}

/** Fetch that of a part of the entries, at most as many as there is room for. */
static enum bulk_verdict fetch_part(struct fetch *fetch, const struct bulk_policy *policy, struct bulk_dir *dir,
                                    const struct bulk_entry *wanted, size_t n, void *arg)
{
	enum bulk_verdict verdict = BULK_SKIP;
	bool by_many = many_pays(fetch, dir, n);
	/* Of small parts some will do. */
	bool timed = adapts(fetch) && (n >= PACE_RUN || fetch->pace.state != PACE_CALM || ++fetch->turn % TURNS_TIMED == 0);
	bool waited = fetch->pace.state == PACE_WAITS;
	if (by_many)
		many_ask(fetch->many, fetch->os, policy, dir, wanted, n);
	for (size_t i = 0; i < n && verdict < BULK_END_DIR; ++i) {
		const struct bulk_entry *entry = &wanted[i];
		struct k_statx *st = by_many ? many_answer(fetch->many, i) : NULL;
		size_t turn = i % PACE_RUN;
		if (timed && turn == 0)
			ask_timed(fetch, policy, dir, entry, n - i);
		if (timed)
			verdict = pass(fetch, policy, dir, entry, &fetch->run[turn].st, fetch->run[turn].error, arg);
		else if (st)
			verdict = pass(fetch, policy, dir, entry, st, 0, arg);
		else
			verdict = fetch_one(fetch, policy, dir, entry, arg);
	}
	if (fetch->pace.state == PACE_WAITS && !waited)
		order_judge(fetch, dir, wanted, n);
	else if (waited && fetch->dev != fetch->ordered)
		pace_set(&fetch->pace, PACE_TRIAL);
	return verdict;
}

/** How many are fetched together. */
static size_t part_size(struct fetch *fetch, const struct bulk_policy *policy)
{
	return fetch->how->engine == BULK_FS || policy->batch > MANY_ENTRIES ? MANY_ENTRIES : policy->batch;
}

/** Fetch those that are fetched as they come. */
static enum bulk_verdict fetch_wanted(struct fetch *fetch, const struct bulk_policy *policy,
                                      struct bulk_dir *dir, void *arg)
{
	size_t n = fetch->n;
	enum bulk_verdict verdict = BULK_SKIP;
	size_t most = part_size(fetch, policy);
	fetch->n = 0;
	for (size_t i = 0; i < n && verdict < BULK_END_DIR; i += most)
		verdict = fetch_part(fetch, policy, dir, fetch->wanted + i, n - i < most ? n - i : most, arg);
	return verdict;
}

/** Make room for n wanted ones.  @return whether it is there. */
static bool wanted_room(struct fetch *fetch, size_t n)
{
	if (n <= fetch->size)
		return true;
	size_t size = fetch->size ? fetch->size * 2 : 64;
	size = size < n ? n : size;
	struct bulk_entry *bigger = realloc(fetch->wanted, size * sizeof(*bigger));
	if (!bigger)
		return false;
	fetch->wanted = bigger;
	fetch->size = size;
	return true;
}

/** Leave what others may fetch of a large window, in ranges of its order.  @return whether
    something was. */
static bool window_divides(struct fetch *fetch, struct bulk_dir *dir)
{
	struct bulk_rest *window = fetch->window;
	const size_t least = 2 * (size_t)BULK_PORTION;
	if (window->n - window->at < least || !window->spare || atomic_load(&window->spare->portions) == 0
	    || fetch->how->engine == BULK_FS || looks_alone(fetch, dir))
		return false;
	while (window->n - window->at >= least && window_carve(window, &dir->portions))
		;
	return dir->portions;
}

/** Fetch those of the window, in order, unless it is to be paused before. */
static enum bulk_verdict fetch_window(struct fetch *fetch, const struct bulk_policy *policy,
                                      struct bulk_dir *dir, void *arg)
{
	struct bulk_rest *window = fetch->window;
	if (!window || window->n == 0)
		return BULK_SKIP;
	if (!window->taken)
		window_sort(window);
	if (window->apt && window->n >= PACE_RUN)
		pace_set(&fetch->pace, PACE_CALM);
	if (window_divides(fetch, dir)) {
		fetch_pause(fetch, dir);
		return BULK_SKIP;
	}
	struct bulk_entry one, *entries = &one;
	size_t n, most = part_size(fetch, policy);
	if (wanted_room(fetch, most))
		entries = fetch->wanted;
	else
		most = 1;
	while ((n = window_take(window, entries, most)) > 0) {
		enum bulk_verdict verdict = fetch_part(fetch, policy, dir, entries, n, arg);
		if (verdict >= BULK_END_DIR)
			return verdict;
		if (window->at < window->n && policy->pause && policy->pause(arg, dir)) {
			fetch_pause(fetch, dir);
			return verdict;
		}
	}
	window_reset(window);
	fetch->begun = true;
	return BULK_SKIP;
}

void fetch_pause(struct fetch *fetch, struct bulk_dir *dir)
{
	dir->paused = true;
	if (fetch->window && fetch->window->n > 0) {
		dir->rest = fetch->window;
		fetch->window = NULL;
	}
}

enum bulk_verdict fetch_resume(struct fetch *fetch, const struct bulk_policy *policy,
                               struct bulk_dir *dir, bool *ended, void *arg)
{
	*ended = false;
	if (!fetch->window || !fetch->window->taken)
		return BULK_SKIP;
	bool end = fetch->window->ended;
	int error = fetch->window->error;
	enum bulk_verdict verdict = fetch_window(fetch, policy, dir, arg);
	if (!dir->paused && verdict < BULK_END_DIR) {
		*ended = end;
		dir->error = error;
	}
	return verdict;
}

enum bulk_verdict fetch_end(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, void *arg)
{
	enum bulk_verdict verdict = fetch->n > 0 ? fetch_wanted(fetch, policy, dir, arg) : BULK_SKIP;
	if (verdict >= BULK_END_DIR)
		return verdict;
	if (fetch->window && fetch->window->n > 0) {
		fetch->window->ended = true;
		fetch->window->error = dir->error;
	}
	verdict = fetch_window(fetch, policy, dir, arg);
	if (dir->paused)
		dir->error = 0;
	return verdict;
}

/** Whether what comes may be left to any thread: it is of a large directory, and nothing is
    waited for, or not by one for the other. */
static bool divides(const struct fetch *fetch)
{
	const struct bulk_how *how = fetch->how;
	return fetch->came > BULK_PORTION
	       && ((adapts(fetch) && fetch->pace.state == PACE_CALM && fetch->whole != fetch->dev)
	           || (how->engine == BULK_SYNC && !how->ahead));
}

/** Have a window.  @return whether there is one. */
static bool window_there(struct fetch *fetch)
{
	if (!fetch->window)
		fetch->window = window_new(fetch->how->spare);
	return fetch->window;
}

/** Begin a portion.  @return whether one more may wait. */
static bool portion_begin(struct fetch *fetch)
{
	if (!fetch->full)
		fetch->full = !window_there(fetch) || !window_portion(fetch->window);
	return !fetch->full;
}

/** Have an entry wait. */
static enum bulk_verdict fetch_wait(struct fetch *fetch, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	if (!window_there(fetch) || !window_add(fetch->window, entry))
		return fetch_one(fetch, policy, dir, entry, arg);
	if (fetch->window->portion && fetch->window->n == BULK_PORTION && divides(fetch)) {
		window_leave(fetch->window, &dir->portions);
		fetch->window = NULL;
	}
	return BULK_SKIP;
}

enum bulk_verdict fetch_add(struct fetch *fetch, const struct bulk_policy *policy,
                            struct bulk_dir *dir, const struct bulk_entry *entry, void *arg)
{
	if (policy->batch <= 1)
		return fetch_one(fetch, policy, dir, entry, arg);
	++fetch->came;
	/* What waits already may be of a reader who did not see it so. */
	if (fetch->how->ahead || (adapts(fetch) && fetch->pace.state != PACE_CALM)
	    || (fetch->window && fetch->window->n > 0) || (divides(fetch) && portion_begin(fetch)))
		return fetch_wait(fetch, policy, dir, entry, arg);
	if (!wanted_room(fetch, fetch->n + 1))
		return fetch_one(fetch, policy, dir, entry, arg);
	fetch->wanted[fetch->n] = *entry;
	return ++fetch->n < policy->batch ? BULK_SKIP : fetch_wanted(fetch, policy, dir, arg);
}

enum bulk_verdict fetch_buffer_ends(struct fetch *fetch, const struct bulk_policy *policy,
                                    struct bulk_dir *dir, void *arg)
{
	/* One of them is empty. */
	if (fetch->n > 0)
		return fetch_wanted(fetch, policy, dir, arg);
	if (!fetch->window || fetch->window->n == 0)
		return BULK_SKIP;
	bool trial = adapts(fetch) && fetch->pace.state == PACE_TRIAL;
	if (!trial && !window_full(fetch->window, !fetch->begun))
		return BULK_SKIP;
	return fetch_window(fetch, policy, dir, arg);
}
