/* SPDX-License-Identifier: MIT */
/*
 * Change an index, and commit the changes.
 *
 * The records of the changes are collected in memory; a commit writes all of them at once.  If
 * writing fails, the journal is truncated to the end of the last commit, and the records stay in
 * memory for the next commit.
 */
#include "index/store/store_impl.h"

#include "os/change.h"

/** Assert the invariants of a writer. */
static void writer_check(const struct index *index)
{
	assert(index->mode == INDEX_WRITE && index->lock >= 0 && index->journal >= 0);
	assert(index->end >= JOURNAL_HEAD && index->end % 8 == 0 && index->pending.len % 8 == 0);
	assert(index->lsn >= index->m.lsn && index->m.nclusters < INDEX_CLUSTERS_MAX);
	(void)index;
}

/** Apply a change to the state in memory, and append its record to index->pending. */
static int change(struct index *index, const struct journal_record *r)
{
	struct strbuf *pending = &index->pending;
	size_t before = pending->len;
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	writer_check(index);
	strbuf_forget(pending);
	if (journal_append(pending, index->m.journal, r, index->lsn + 1) != 0)
		return -1;
	journal_check(pending, before, index->m.journal, index->lsn + 1, r);
	if (store_apply(index, r) != 0) {
		pending->len = before;
		return -1;
	}
	++index->lsn;
	return 0;
}

/** Check that a name is valid for an object other than the root.  @return 0, or -1 (EINVAL). */
static int check_name(const char *name, size_t len)
{
	return len > 0 && name_valid(name, len) ? 0 : fail(EINVAL);
}

/** Check that a directory exists.  @return 0, or -1 (ENOENT ...). */
static int check_dir(struct index *index, index_dir dir)
{
	index_dir parent;
	return index_dir_parent(index, dir, &parent);
}

/** Make the record of a change, without a row. */
static struct journal_record record_of(enum journal_type type, index_dir dir, const char *name,
                                       size_t len)
{
	return (struct journal_record){
		.type = type, .cluster = index_dir_cluster(dir), .slot = index_dir_slot(dir),
		.name = name, .len = len, .parent = INDEX_DIR_NONE,
	};
}

/** Set the row of a record.  IC_DIR becomes the slot of the record. */
static void set_row(struct journal_record *r, const struct index_row *row)
{
	assert((index_row_type(row) == DT_DIR) == (r->type == JR_PUT_DIR));
	r->row = *row;
	r->row.col[IC_DIR] = r->slot;
	r->row.col[IC_NAME] = 0;
}

int index_put(struct index *index, index_dir dir, const char *name, size_t len,
              const struct index_row *row)
{
	struct journal_record r = record_of(JR_PUT, dir, name, len);
	if (check_name(name, len) != 0 || check_dir(index, dir) != 0)
		return -1;
	if (index_row_type(row) == DT_DIR)
		return fail(EINVAL);
	set_row(&r, row);
	return change(index, &r);
}

int index_remove(struct index *index, index_dir dir, const char *name, size_t len)
{
	struct journal_record r = record_of(JR_REMOVE, dir, name, len);
	if (check_name(name, len) != 0 || check_dir(index, dir) != 0)
		return -1;
	return change(index, &r);
}

/** Find a free slot in a cluster, preferably one that was never used.
    @return 1; 0: the cluster has no free slot, or too many rows; or -1. */
static int free_slot(struct index *index, uint32_t cluster, index_dir *dir)
{
	const struct index_cluster *c = &index->m.clusters[cluster];
	uint32_t slots;
	if (cluster_slots(index, cluster, &slots) != 0)
		return -1;
	if (c->summary.nrows + delta_size(c->delta) >= 2 * INDEX_SOFT_ROWS)
		return 0;
	if (slots < INDEX_SLOTS) {
		*dir = index_dir_of(cluster, slots);
		return 1;
	}
	for (uint32_t i = 0; i < slots; ++i) {
		*dir = index_dir_of(cluster, i);
		if (check_dir(index, *dir) != 0)
			return errno == ENOENT ? 1 : -1;
	}
	return 0;
}

/** Choose the number of a new directory: in the cluster of its parent, in the cluster index->spill,
    or in a new cluster. */
static int place_dir(struct index *index, index_dir parent, index_dir *dir)
{
	uint32_t near = parent == INDEX_DIR_NONE ? UINT32_MAX : index_dir_cluster(parent);
	int found = near < index->m.nclusters ? free_slot(index, near, dir) : 0;
	if (found == 0 && index->spill < index->m.nclusters)
		found = free_slot(index, index->spill, dir);
	if (found != 0)
		return found > 0 ? 0 : -1;
	if (index->m.nclusters >= INDEX_CLUSTERS_MAX - 1)
		return fail(EFBIG);
	*dir = index_dir_of((uint32_t)index->m.nclusters, 0);
	return 0;
}

int index_put_dir(struct index *index, index_dir *dir, index_dir parent, const char *name,
                  size_t len, const struct index_row *row, int64_t listed)
{
	bool is_root = parent == INDEX_DIR_NONE, is_new = *dir == INDEX_DIR_NONE;
	index_dir at = *dir;
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	if (is_root ? len != 0 : check_name(name, len) != 0)
		return fail(EINVAL);
	if (index_row_type(row) != DT_DIR || parent == at
	    || (is_root && index->m.root != INDEX_DIR_NONE && index->m.root != at))
		return fail(EINVAL);
	if ((!is_root && check_dir(index, parent) != 0)
	    || (is_new ? place_dir(index, parent, &at) : check_dir(index, at)) != 0)
		return -1;
	struct journal_record r = record_of(JR_PUT_DIR, at, name, len);
	set_row(&r, row);
	r.parent = parent;
	r.listed = listed;
	assert(index_dir_cluster(at) <= index->m.nclusters);
	if (index_dir_cluster(at) == index->m.nclusters)
		index->spill = index_dir_cluster(at);
	if (change(index, &r) != 0)
		return -1;
	*dir = at;
	return 0;
}

int index_remove_dir(struct index *index, index_dir dir)
{
	struct journal_record r = record_of(JR_REMOVE_DIR, dir, "", 0);
	return check_dir(index, dir) == 0 ? change(index, &r) : -1;
}

int index_set_fresh(struct index *index, int64_t fresh, bool incomplete)
{
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	index->dirty |= fresh != index->m.info.fresh || incomplete != index->m.info.incomplete;
	index->m.info.fresh = fresh;
	index->m.info.incomplete = incomplete;
	return 0;
}

int index_set_looked(struct index *index, int64_t looked, uint64_t generation)
{
	struct index_info *info = &index->m.info;
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	index->dirty |= looked != info->looked || generation != info->generation;
	info->looked = looked;
	info->generation = generation;
	return 0;
}

int index_commit(struct index *index)
{
	struct os *os = index->os;
	struct strbuf *pending = &index->pending;
	struct journal_record r = journal_commit(&index->m.info);
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	if (index->dir_unsynced && os_fsync(os, index->dirfd) != 0)
		return -1;
	index->dir_unsynced = false;
	if (pending->len == 0 && !index->dirty)
		return 0;
	if (store_intact(&index->m) != 0)
		return -1;
	writer_check(index);
	size_t before = pending->len;
	strbuf_forget(pending);
	if (journal_append(pending, index->m.journal, &r, index->lsn + 1) != 0)
		return -1;
	journal_check(pending, before, index->m.journal, index->lsn + 1, &r);
	const char *bytes = strbuf_text(pending);
	if (!bytes || os_pwrite_all(os, index->journal, bytes, pending->len, index->end) != 0
	    || os_fdatasync(os, index->journal) != 0) {
		int error = errno;
		pending->len = before;
		os_ftruncate(os, index->journal, index->end);
		return fail(error);
	}
	++index->lsn;
	index->end += pending->len;
	index->m.info.bytes += pending->len;
	index->dirty = false;
	strbuf_reset(pending);
	writer_check(index);
	/* If writing this record fails, it is written with the next commit. */
	r.type = JR_SYNCED;
	if (journal_append(pending, index->m.journal, &r, index->lsn + 1) != 0)
		return 0;
	++index->lsn;
	bytes = strbuf_text(pending);
	if (bytes && os_pwrite_all(os, index->journal, bytes, pending->len, index->end) == 0) {
		index->end += pending->len;
		strbuf_reset(pending);
	}
	return 0;
}
