/* SPDX-License-Identifier: MIT */
/*
 * Metadata through the bulk interface of a file system: one call returns the metadata of all inodes
 * in a range of numbers.
 *
 *     entries --> files and links, by inode --> runs without large gaps
 *                   a run --> os_inodes() --> matched by inode --> a struct statx
 *
 * The result must equal that of statx(2).  Therefore:
 *
 * - Only files and symbolic links are requested.  A directory may be a mount point or the root
 *   of a subvolume; then its number belongs to the covered directory.  (The caller ensures that no
 *   file is covered.)
 * - Values that are not attributes of the inode (device, mount, block size, mask) are copied from
 *   a template: another entry of the same directory and type, for which statx is called.  The
 *   template is also requested in bulk; unless both results are equal in all bytes, bulk
 *   results are not used for the directory.
 * - A bulk result may be older than the inode in memory (os/inodes.h).  So everything is written to
 *   disk before the first directory is read, and statx is called for each inode whose ctime is
 *   not earlier than that.  Thus each result was true at some time since then.  A new inode has a
 *   later ctime too, so it is never mistaken for an earlier one with the same number.  (If the
 *   clock is set back meanwhile, this fails.)
 *
 * One difference remains: btrfs gives a file whose write failed a new mtime in memory, which is
 * never written.
 */
#include "bfs/bfs_impl.h"

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
	RUN_PAYS_XFS = 24,        /* minimum number of entries in a run */
	RUN_PAYS_BTRFS = 8,
	RUN_GAP = 64,             /* maximum gap in a run: a chunk of XFS */
	ANSWERS = 256,            /* maximum number of results per call */
	USEFUL = 8,               /* useful results per call for continuing the run */
};

enum fs_state {
	FS_UNTRIED,
	FS_READY,
	FS_REFUSED,
};

struct bfs_fs {
	enum os_inodes_of of;
	pthread_mutex_t lock;
	_Atomic enum fs_state state;
	struct k_statx_time since;  /* inodes changed since this time need statx */
};

/** The statx result of one entry, used as a template for others of its type. */
struct stat_template {
	bool known, checked;
	uint64_t ino;
	struct k_statx st;
};

struct numbered {
	uint64_t ino;
	uint32_t i;               /* index of the entry */
};

struct bulkstat {
	struct bfs_fs *fs;        /* of the directory; NULL: do not use bulk */
	struct stat_template file, link;
	bool doubted;             /* results for the directory cannot be used */
	size_t norder;
	struct numbered order[BFS_BULKSTAT];   /* files and links, sorted by inode */
	bool known[BFS_BULKSTAT];
	struct k_statx sts[BFS_BULKSTAT];
	struct os_inode answers[ANSWERS];
	alignas(8) char buf[OS_INODES_BUFFER];
};

struct bfs_fs *bfs_fs_new(enum os_inodes_of of)
{
	struct bfs_fs *fs = calloc(1, sizeof(*fs));
	if (!fs)
		return NULL;
	fs->of = of;
	pthread_mutex_init(&fs->lock, NULL);
	return fs;
}

void bfs_fs_free(struct bfs_fs *fs)
{
	if (!fs)
		return;
	pthread_mutex_destroy(&fs->lock);
	free(fs);
}

void bulkstat_begin(const struct bfs_reader *reader, const struct bfs_read *read,
                    struct bulkstat **at)
{
	struct bulkstat *bulk = *at ? *at : malloc(sizeof(*bulk));
	if (!bulk)
		return;
	*at = bulk;
	const unsigned possible = K_STATX_BASIC | K_STATX_BTIME | K_STATX_MNT_ID
	                          | K_STATX_MNT_ID_UNIQUE | K_STATX_SUBVOL;
	unsigned mask = reader->policy->statx_mask;
	struct bfs_fs *fs = read->fs;
	bulk->fs = NULL;
	if ((mask & K_STATX_BASIC) != K_STATX_BASIC || mask & ~possible)
		return;
	if (atomic_load(&fs->state) == FS_UNTRIED) {
		pthread_mutex_lock(&fs->lock);
		if (atomic_load(&fs->state) == FS_UNTRIED) {
			bool ready = reader->os->statx_works
			             && os_inodes_settle(reader->os, read->fd, fs->of, bulk->buf,
			                                 &fs->since) == 0;
			atomic_store(&fs->state, ready ? FS_READY : FS_REFUSED);
		}
		pthread_mutex_unlock(&fs->lock);
	}
	if (atomic_load(&fs->state) != FS_READY)
		return;
	bulk->fs = fs;
	bulk->file.known = bulk->link.known = bulk->doubted = false;
}

static int by_inode(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : (a->i > b->i) - (a->i < b->i);
}

/** Select the files and links, sorted by inode number. */
static void sort_by_inode(struct bulkstat *bulk, const struct bfs_entry *wanted, size_t n)
{
	bool sorted = true;
	size_t m = 0;
	for (size_t i = 0; i < n; ++i) {
		const struct bfs_entry *entry = &wanted[i];
		if (entry->type != DT_REG && entry->type != DT_LNK)
			continue;
		sorted = sorted && (m == 0 || bulk->order[m - 1].ino <= entry->ino);
		bulk->order[m++] = (struct numbered){entry->ino, (uint32_t)i};
	}
	if (!sorted)
		qsort(bulk->order, m, sizeof(*bulk->order), by_inode);
	bulk->norder = m;
}

static struct stat_template *template_of(struct bulkstat *bulk, const struct bfs_entry *entry)
{
	return entry->type == DT_REG ? &bulk->file : &bulk->link;
}

/** Make the i-th entry a template.  @return whether that succeeded. */
static bool template_make(struct bulkstat *bulk, struct stat_template *template,
                          const struct bfs_reader *reader, const struct bfs_read *read,
                          const struct bfs_entry *wanted, uint32_t i)
{
	const uint64_t attributes = K_STATX_ATTR_IMMUTABLE | K_STATX_ATTR_APPEND
	                            | K_STATX_ATTR_NODUMP
	                            | K_STATX_ATTR_COMPRESSED;
	const struct bfs_entry *entry = &wanted[i];
	struct k_statx *st = &bulk->sts[i];
	bulk->known[i] = reader_stat(reader, read, entry, st) == 0;
	if (!bulk->known[i] || (st->mask & K_STATX_BASIC) != K_STATX_BASIC || st->ino != entry->ino
	    || IFTODT(st->mode) != entry->type || st->attributes & ~attributes)
		return false;
	*template = (struct stat_template){.known = true, .ino = entry->ino, .st = *st};
	return true;
}

/** Combine a template and a bulk result. */
static void template_fill(const struct bulkstat *bulk, struct k_statx *st,
                          const struct stat_template *template, const struct os_inode *inode)
{
	uint64_t bytes = inode->bytes, unit = template->st.blksize;
	if (bulk->fs->of == OS_INODES_BTRFS && unit > 0)
		bytes = (bytes + unit - 1) / unit * unit;
	*st = template->st;
	st->ino = inode->ino;
	st->size = inode->size;
	st->blocks = bytes / 512;
	st->attributes = inode->attributes & template->st.attributes_mask;
	st->nlink = inode->nlink;
	st->uid = inode->uid;
	st->gid = inode->gid;
	st->mode = inode->mode;
	st->atime = inode->atime;
	st->ctime = inode->ctime;
	st->mtime = inode->mtime;
	if (template->st.mask & K_STATX_BTIME)
		st->btime = inode->btime;
}

/** Whether a result cannot be outdated. */
static bool is_settled(const struct bfs_fs *fs, const struct os_inode *inode)
{
	const struct k_statx_time *time = &inode->ctime, *since = &fs->since;
	return inode->plain && (time->sec < since->sec
	                        || (time->sec == since->sec && time->nsec < since->nsec));
}

/** Use a result for the i-th entry.  @return whether that was possible. */
static bool answer_use(struct bulkstat *bulk, const struct bfs_entry *wanted, uint32_t i,
                       const struct os_inode *inode)
{
	const struct bfs_entry *entry = &wanted[i];
	struct stat_template *template = template_of(bulk, entry);
	/* A template with flags of its own cannot represent other entries. */
	bulk->doubted |= template->known && inode->ino == template->ino && !inode->plain;
	if (IFTODT(inode->mode) != entry->type || !template->known || !is_settled(bulk->fs, inode))
		return false;
	struct k_statx st;
	template_fill(bulk, &st, template, inode);
	if (template->ino == inode->ino && !template->checked) {
		template->checked = true;
		bulk->doubted |= memcmp(&st, &template->st, sizeof(st)) != 0;
	}
	if (!bulk->known[i]) {
		bulk->known[i] = true;
		bulk->sts[i] = st;
	}
	return true;
}

/** Request a run of entries in bulk. */
static void run_request(struct bulkstat *bulk, const struct bfs_reader *reader,
                    const struct bfs_read *read, const struct bfs_entry *wanted,
                    const struct numbered *run, size_t n)
{
	struct os_inodes range = {
		.of = bulk->fs->of, .buf = bulk->buf, .next = run[0].ino, .last = run[n - 1].ino,
	};
	size_t at = 0, useful;
	do {
		/* XFS continues after the last entry; an eighth is for directories in between. */
		size_t most = n - at + (n - at) / 8 + 1;
		most = bulk->fs->of == OS_INODES_XFS && most < ANSWERS ? most : ANSWERS;
		ssize_t got = os_inodes(reader->os, read->fd, &range, bulk->answers, most);
		if (got < 0) {
			/* It was permitted before, so do not retry forever. */
			atomic_store(&bulk->fs->state, FS_REFUSED);
			bulk->fs = NULL;
			return;
		}
		useful = 0;
		for (ssize_t i = 0; i < got; ++i) {
			const struct os_inode *inode = &bulk->answers[i];
			while (at < n && run[at].ino < inode->ino)
				++at;
			/* An inode may have several names in the directory. */
			for (; at < n && run[at].ino == inode->ino; ++at)
				useful += answer_use(bulk, wanted, run[at].i, inode);
		}
		while (at < n && run[at].ino < range.next)
			++at;
	} while (at < n && range.next <= range.last && !bulk->doubted && useful >= USEFUL);
}

void bulkstat_request(struct bulkstat *bulk, const struct bfs_reader *reader,
                  const struct bfs_read *read, const struct bfs_entry *wanted, size_t n)
{
	memset(bulk->known, 0, n * sizeof(*bulk->known));
	if (!bulk->fs || bulk->doubted)
		return;
	sort_by_inode(bulk, wanted, n);
	const struct numbered *order = bulk->order;
	size_t pays = bulk->fs->of == OS_INODES_XFS ? RUN_PAYS_XFS : RUN_PAYS_BTRFS;
	for (size_t from = 0, to; from < bulk->norder && bulk->fs && !bulk->doubted; from = to) {
		for (to = from + 1; to < bulk->norder; ++to) {
			if (order[to].ino - order[to - 1].ino > RUN_GAP)
				break;
		}
		if (to - from < pays)
			continue;
		bool good = true;
		for (size_t i = from; i < to && good
		     && !(bulk->file.known && bulk->link.known); ++i) {
			uint32_t entry = order[i].i;
			struct stat_template *template = template_of(bulk, &wanted[entry]);
			good = template->known
			       || template_make(bulk, template, reader, read, wanted, entry);
		}
		if (good)
			run_request(bulk, reader, read, wanted, order + from, to - from);
	}
	if (bulk->doubted)
		memset(bulk->known, 0, n * sizeof(*bulk->known));
}

struct k_statx *bulkstat_answer(struct bulkstat *bulk, size_t i)
{
	return bulk->known[i] ? &bulk->sts[i] : NULL;
}
