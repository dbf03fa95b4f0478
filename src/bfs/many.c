/* SPDX-License-Identifier: MIT */
/*
 * Metadata by the file system's own interface: that of all inodes in a range of
 * numbers by one call.
 *
 *     wanted --> files and links, by inode --> runs without large gaps
 *                   a run --> os_inodes() --> matched by inode --> a struct statx
 *
 * The result is to be that of statx(2).  So
 *
 * - only files and symbolic links are asked for: a directory may be a mount
 *   point or the root of a subvolume, and then its number is that of what is
 *   covered.  (That no file is covered, the caller knows.)
 * - what is no attribute of the inode (device, mount, block size, mask) is that of
 *   another of the directory and of its type, for which statx is called.  It is
 *   also told in bulk, and where the two are not the same in all their bytes,
 *   what was told of the directory is not believed.
 * - what is told may be behind what is in memory (os/inodes.h).  Before a first
 *   directory is read all is written, and an inode whose ctime is not before that
 *   is asked for by itself.  So each answer was true at some time since then.  As
 *   an inode that was made since has such a ctime too, none is taken for one that
 *   had its number before.  (A clock that is set back meanwhile undoes this.)
 *
 * One difference is left: btrfs gives a file whose write failed a new mtime in
 * memory, which is never written.
 */
#include "bfs/bulk_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
	RUN_PAYS_XFS = 24,        /* entries that a call is made for */
	RUN_PAYS_BTRFS = 8,
	RUN_GAP = 64,             /* numbers passed over: a chunk of XFS */
	TOLD = 256,               /* inodes told by one call, at most */
	TOLD_USEFUL = 8,          /* of them, for another call to be made */
};

enum fs_state {
	FS_UNTRIED,
	FS_READY,
	FS_REFUSED,
};

struct bulk_fs {
	enum os_inodes_of of;
	pthread_mutex_t lock;
	_Atomic enum fs_state state;
	struct k_statx_time since;  /* what was changed since is asked for by itself */
};

/** One that was asked for by itself, for the others to be like. */
struct like {
	bool known, checked;
	uint64_t ino;
	struct k_statx st;
};

struct many_one {
	uint64_t ino;
	uint32_t i;               /* in what is asked for */
};

struct many {
	struct bulk_fs *fs;       /* of the directory; NULL: it is not asked */
	struct like file, link;
	bool doubted;             /* what is told of the directory */
	size_t norder;
	struct many_one order[MANY_ENTRIES];   /* files and links, by inode */
	bool known[MANY_ENTRIES];
	struct k_statx sts[MANY_ENTRIES];
	struct os_inode told[TOLD];
	alignas(8) char buf[OS_INODES_BUFFER];
};

struct bulk_fs *bulk_fs_new(enum os_inodes_of of)
{
	struct bulk_fs *fs = calloc(1, sizeof(*fs));
	if (!fs)
		return NULL;
	fs->of = of;
	pthread_mutex_init(&fs->lock, NULL);
	return fs;
}

void bulk_fs_free(struct bulk_fs *fs)
{
	if (!fs)
		return;
	pthread_mutex_destroy(&fs->lock);
	free(fs);
}

struct many *many_new(void)
{
	return malloc(sizeof(struct many));
}

void many_free(struct many *many)
{
	free(many);
}

void many_begin(struct many *many, struct os *os, const struct bulk_policy *policy, const struct bulk_dir *dir)
{
	const unsigned possible = K_STATX_BASIC | K_STATX_BTIME | K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE | K_STATX_SUBVOL;
	struct bulk_fs *fs = dir->fs;
	many->fs = NULL;
	if ((policy->statx_mask & K_STATX_BASIC) != K_STATX_BASIC || policy->statx_mask & ~possible)
		return;
	if (atomic_load(&fs->state) == FS_UNTRIED) {
		pthread_mutex_lock(&fs->lock);
		if (atomic_load(&fs->state) == FS_UNTRIED) {
			bool ready = os->statx_works && os_inodes_settle(os, dir->fd, fs->of, many->buf, &fs->since) == 0;
			atomic_store(&fs->state, ready ? FS_READY : FS_REFUSED);
		}
		pthread_mutex_unlock(&fs->lock);
	}
	if (atomic_load(&fs->state) != FS_READY)
		return;
	many->fs = fs;
	many->file.known = many->link.known = many->doubted = false;
}

static int by_inode(const void *left, const void *right)
{
	const struct many_one *a = left, *b = right;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : (a->i > b->i) - (a->i < b->i);
}

/** Put the files and links in order. */
static void put_in_order(struct many *many, const struct bulk_entry *wanted, size_t n)
{
	bool is = true;
	size_t m = 0;
	for (size_t i = 0; i < n; ++i) {
		const struct bulk_entry *entry = &wanted[i];
		if (entry->type != DT_REG && entry->type != DT_LNK)
			continue;
		is = is && (m == 0 || many->order[m - 1].ino <= entry->ino);
		many->order[m++] = (struct many_one){entry->ino, (uint32_t)i};
	}
	if (!is)
		qsort(many->order, m, sizeof(*many->order), by_inode);
	many->norder = m;
}

/** Ask for one by itself, for others of its type to be like.  @return whether it may be. */
static bool like_it(struct many *many, struct like *like, struct os *os, const struct bulk_policy *policy,
                    const struct bulk_dir *dir, const struct bulk_entry *wanted, uint32_t i)
{
	const uint64_t attributes = K_STATX_ATTR_IMMUTABLE | K_STATX_ATTR_APPEND | K_STATX_ATTR_NODUMP
	                            | K_STATX_ATTR_COMPRESSED;
	const struct bulk_entry *entry = &wanted[i];
	struct k_statx *st = &many->sts[i];
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	many->known[i] = os_statx(os, dir->fd, entry->name, flags, policy->statx_mask, st) == 0;
	if (!many->known[i] || (st->mask & K_STATX_BASIC) != K_STATX_BASIC || st->ino != entry->ino
	    || IFTODT(st->mode) != entry->type || st->attributes & ~attributes)
		return false;
	*like = (struct like){.known = true, .ino = entry->ino, .st = *st};
	return true;
}

/** Make the attributes of one after those of another. */
static void make(const struct many *many, struct k_statx *st, const struct like *like, const struct os_inode *inode)
{
	uint64_t bytes = inode->bytes, unit = like->st.blksize;
	if (many->fs->of == OS_INODES_BTRFS && unit > 0)
		bytes = (bytes + unit - 1) / unit * unit;
	*st = like->st;
	st->ino = inode->ino;
	st->size = inode->size;
	st->blocks = bytes / 512;
	st->attributes = inode->attributes & like->st.attributes_mask;
	st->nlink = inode->nlink;
	st->uid = inode->uid;
	st->gid = inode->gid;
	st->mode = inode->mode;
	st->atime = inode->atime;
	st->ctime = inode->ctime;
	st->mtime = inode->mtime;
	if (like->st.mask & K_STATX_BTIME)
		st->btime = inode->btime;
}

/** Whether what is told of an inode can be believed. */
static bool is_settled(const struct bulk_fs *fs, const struct os_inode *inode)
{
	const struct k_statx_time *time = &inode->ctime, *since = &fs->since;
	return inode->plain && (time->sec < since->sec || (time->sec == since->sec && time->nsec < since->nsec));
}

/** Take what was told of an inode for an entry.  @return whether it is of use. */
static bool take(struct many *many, const struct bulk_entry *wanted, uint32_t i, const struct os_inode *inode)
{
	const struct bulk_entry *entry = &wanted[i];
	struct like *like = entry->type == DT_REG ? &many->file : &many->link;
	/* The others are not like one that is told of to be out of the ordinary. */
	many->doubted |= like->known && inode->ino == like->ino && !inode->plain;
	if (IFTODT(inode->mode) != entry->type || !like->known || !is_settled(many->fs, inode))
		return false;
	struct k_statx st;
	make(many, &st, like, inode);
	if (like->ino == inode->ino && !like->checked) {
		like->checked = true;
		many->doubted |= memcmp(&st, &like->st, sizeof(st)) != 0;
	}
	if (!many->known[i]) {
		many->known[i] = true;
		many->sts[i] = st;
	}
	return true;
}

/** Ask for a run of them. */
static void run_ask(struct many *many, struct os *os, const struct bulk_dir *dir,
                    const struct bulk_entry *wanted, const struct many_one *run, size_t n)
{
	uint64_t next = run[0].ino, last = run[n - 1].ino;
	size_t at = 0, useful;
	do {
		/* XFS would go on behind the last; an eighth is for directories between. */
		size_t most = n - at + (n - at) / 8 + 1;
		most = many->fs->of == OS_INODES_XFS && most < TOLD ? most : TOLD;
		ssize_t told = os_inodes(os, dir->fd, many->fs->of, many->buf, &next, last, many->told, most);
		if (told < 0) {
			/* It was allowed before; it is not to be tried for ever. */
			atomic_store(&many->fs->state, FS_REFUSED);
			many->fs = NULL;
			return;
		}
		useful = 0;
		for (ssize_t i = 0; i < told; ++i) {
			const struct os_inode *inode = &many->told[i];
			while (at < n && run[at].ino < inode->ino)
				++at;
			/* Of one inode there may be more names. */
			for (; at < n && run[at].ino == inode->ino; ++at)
				useful += take(many, wanted, run[at].i, inode);
		}
		while (at < n && run[at].ino < next)
			++at;
	} while (at < n && next <= last && !many->doubted && useful >= TOLD_USEFUL);
}

void many_ask(struct many *many, struct os *os, const struct bulk_policy *policy,
              const struct bulk_dir *dir, const struct bulk_entry *wanted, size_t n)
{
	memset(many->known, 0, n * sizeof(*many->known));
	if (!many->fs || many->doubted)
		return;
	put_in_order(many, wanted, n);
	const struct many_one *order = many->order;
	size_t pays = many->fs->of == OS_INODES_XFS ? RUN_PAYS_XFS : RUN_PAYS_BTRFS;
	for (size_t from = 0, to; many->fs && !many->doubted && from < many->norder; from = to) {
		for (to = from + 1; to < many->norder && order[to].ino - order[to - 1].ino <= RUN_GAP;)
			++to;
		if (to - from < pays)
			continue;
		bool good = true;
		for (size_t i = from; i < to && good && !(many->file.known && many->link.known); ++i) {
			struct like *like = wanted[order[i].i].type == DT_REG ? &many->file : &many->link;
			good = like->known || like_it(many, like, os, policy, dir, wanted, order[i].i);
		}
		if (good)
			run_ask(many, os, dir, wanted, order + from, to - from);
	}
	if (many->doubted)
		memset(many->known, 0, n * sizeof(*many->known));
}

struct k_statx *many_answer(struct many *many, size_t i)
{
	return many->known[i] ? &many->sts[i] : NULL;
}
