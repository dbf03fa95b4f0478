/* SPDX-License-Identifier: MIT */
/* Open an index: read the manifest, map the segment files, and replay the journal. */
#include "index/store/store_impl.h"

#include "os/change.h"
#include "os/file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>

enum {
	JOURNAL_MAX = 1 << 30,
	OPEN_TRIES = 8,          /* attempts of a reader to open an index that a writer replaces */
};

struct store_name store_name(const char *kind, uint64_t number)
{
	struct store_name name;
	snprintf(name.text, sizeof(name.text), "%s.%llu", kind, (unsigned long long)number);
	return name;
}

/** Map the segment files of a manifest that are not mapped yet.  @return 0, or -1. */
static int store_map(struct os *os, int dirfd, struct manifest *m)
{
	for (size_t i = 0; i < m->nfiles; ++i) {
		struct index_file *file = &m->files[i];
		struct stat st;
		if (file->map)
			continue;
		int fd = os_open_entry(os, dirfd, store_name("segment", file->number).text,
		                       O_RDONLY | O_NONBLOCK, ENTRY_HERE);
		if (fd < 0)
			return -1;
		bool whole = os_fstatat(os, fd, "", &st) == 0 && S_ISREG(st.st_mode)
		             && (uint64_t)st.st_size >= file->size;
		if (whole)
			file->map = os_map(os, fd, file->size, &file->lost);
		else
			errno = EBADMSG;
		os_close(os, fd);
		if (!file->map)
			return -1;
	}
	return 0;
}

/** Unmap the segment files of a manifest. */
static void store_unmap(struct os *os, struct manifest *m)
{
	for (size_t i = 0; i < m->nfiles; ++i) {
		os_unmap(os, m->files[i].map, m->files[i].size);
		m->files[i].map = NULL;
		m->files[i].lost = NULL;
	}
}

int store_intact(const struct manifest *m)
{
	for (size_t i = 0; i < m->nfiles; ++i) {
		if (m->files[i].lost && os_map_lost(m->files[i].lost))
			return fail(EBADMSG);
	}
	return 0;
}

int store_apply(struct index *index, const struct journal_record *r)
{
	if (r->type == JR_COMMIT) {
		index->m.info.fresh = r->fresh;
		index->m.info.incomplete = r->incomplete;
		index->m.info.looked = r->looked;
		index->m.info.generation = r->generation;
	}
	if (r->type == JR_COMMIT || r->type == JR_SYNCED)
		return 0;
	bool added = r->cluster == index->m.nclusters;
	if (r->cluster > index->m.nclusters)
		return fail(EBADMSG);
	/* The first change of a new cluster adds a directory.  Such a record is large, so the size
	   of the journal limits the number of clusters. */
	if (added && r->type != JR_PUT_DIR)
		return fail(EBADMSG);
	if (added && !manifest_add(&index->m))
		return -1;
	struct index_cluster *c = &index->m.clusters[r->cluster];
	if (!c->delta)
		c->delta = calloc(1, sizeof(*c->delta));
	if (!c->delta
	    || (r->type == JR_PUT_DIR && cluster_add_parent(c, r->cluster, r->parent) != 0)
	    || delta_apply(c->delta, r) != 0) {
		if (added) {
			delta_free(c->delta);
			free(c->parents);
			--index->m.nclusters;
		}
		return -1;
	}
	index_dir dir = index_dir_of(r->cluster, r->slot);
	if (r->type == JR_PUT_DIR && r->parent == INDEX_DIR_NONE)
		index->m.root = dir;
	else if (index->m.root == dir && (r->type == JR_PUT_DIR || r->type == JR_REMOVE_DIR))
		index->m.root = INDEX_DIR_NONE;
	return 0;
}

/** Apply the changes of the journal up to the last commit.  @bytes  The contents of the file. */
static int replay(struct index *index, const char *bytes, size_t size)
{
	struct manifest *m = &index->m;
	struct journal_record r;
	size_t end, at = JOURNAL_HEAD;
	if (journal_scan(bytes, size, m->journal, m->lsn, &end, &index->lsn) != 0)
		return -1;
	index->end = end;
	for (uint64_t lsn = m->lsn + 1; at < end; ++lsn) {
		if (!journal_next(bytes, size, &at, m->journal, lsn, &r))
			return fail(EBADMSG);
		if (store_apply(index, &r) != 0)
			return -1;
	}
	return 0;
}

/** Open, read and replay the journal.  For a writer, truncate it after the last commit, and keep it
    open. */
static int open_journal(struct index *index)
{
	struct os *os = index->os;
	struct store_name name = store_name("journal", index->m.journal);
	bool writes = index->mode == INDEX_WRITE;
	char *text = NULL;
	size_t len = 0;
	int fd = os_open_entry(os, index->dirfd, name.text,
	                       (writes ? O_RDWR : O_RDONLY) | O_NONBLOCK, ENTRY_HERE);
	if (fd < 0)
		return -1;
	int rc = os_file_type(os, fd, NULL, NULL) == S_IFREG ? 0 : fail(EBADMSG);
	if (rc == 0)
		rc = os_read_fd(os, fd, JOURNAL_MAX, &text, &len);
	if (rc == 0)
		rc = replay(index, text, len);
	if (rc == 0 && writes && len > index->end)
		rc = os_ftruncate(os, fd, index->end);
	free(text);
	if (rc == 0 && writes)
		index->journal = fd;
	else
		os_close(os, fd);
	return rc;
}

/** Read and parse the manifest.  @return 0, or -1. */
static int read_manifest(struct index *index)
{
	char *text;
	size_t len;
	if (os_read_regular(index->os, index->dirfd, "manifest", MANIFEST_MAX, &text, &len) != 0)
		return -1;
	int rc = manifest_decode(text, len, &index->m);
	free(text);
	index->size = len;
	return rc;
}

void store_count(struct index *index)
{
	struct index_info *info = &index->m.info;
	info->rows = info->dirs = 0;
	info->bytes = index->size + index->end;
	for (size_t i = 0; i < index->m.nfiles; ++i)
		info->bytes += index->m.files[i].size;
	for (size_t i = 0; i < index->m.nclusters; ++i) {
		info->rows += index->m.clusters[i].summary.nrows;
		info->dirs += index->m.clusters[i].summary.ndirs;
	}
}

/** Read the files of an index once.
    @gone [out]  After an error: a file that the manifest names may be missing or changed because a
    writer has replaced the manifest. */
static int load(struct index *index, bool *gone)
{
	*gone = false;
	if (read_manifest(index) != 0)
		return -1;
	*gone = true;
	if (store_map(index->os, index->dirfd, &index->m) != 0 || open_journal(index) != 0)
		return -1;
	manifest_check(&index->m);
	store_count(index);
	return 0;
}

/** Free what load() allocated and mapped. */
static void unload(struct index *index)
{
	int error = errno;
	store_unmap(index->os, &index->m);
	manifest_destroy(&index->m);
	os_close(index->os, index->journal);
	index->journal = -1;
	errno = error;
}

struct index *index_open(struct os *os, int dirfd, enum index_mode mode)
{
	struct index *index = calloc(1, sizeof(*index));
	if (!index)
		return NULL;
	*index = (struct index){.os = os, .mode = mode, .dirfd = dirfd, .lock = -1, .journal = -1,
	                        .spill = UINT32_MAX};
	bool gone = false, writes = mode == INDEX_WRITE;
	if (writes) {
		index->dirfd = os_openat(os, dirfd, ".", O_RDONLY | O_DIRECTORY);
		index->lock = index->dirfd < 0 ? -1 : store_lock(os, dirfd);
	}
	int rc = writes && index->lock < 0 ? -1 : load(index, &gone);
	/* If files that the manifest names are gone, a writer may have replaced the manifest: read
	   the new one. */
	for (int i = 1; i < OPEN_TRIES && rc != 0 && gone && !writes
	     && (errno == ENOENT || errno == EBADMSG); ++i) {
		unload(index);
		rc = load(index, &gone);
	}
	if (rc != 0 && gone && errno == ENOENT)
		errno = EBADMSG;
	if (rc == 0 && writes)
		rc = store_clean(os, dirfd, &index->m, NULL);
	if (rc != 0) {
		index_close(index);
		return NULL;
	}
	if (!writes)
		index->dirfd = -1;
	return index;
}

void index_close(struct index *index)
{
	if (!index)
		return;
	int error = errno;
	unload(index);
	if (index->mode == INDEX_WRITE) {
		os_close(index->os, index->lock);
		os_close(index->os, index->dirfd);
	}
	strbuf_destroy(&index->pending);
	free(index);
	errno = error;
}

const struct index_info *index_info(const struct index *index)
{
	return &index->m.info;
}

uint32_t index_clusters(const struct index *index)
{
	return (uint32_t)index->m.nclusters;
}

index_dir index_root(const struct index *index)
{
	return index->m.root;
}

const struct segment_summary *index_summary(const struct index *index, uint32_t cluster)
{
	assert(cluster < index->m.nclusters);
	const struct index_cluster *c = &index->m.clusters[cluster];
	return c->file == INDEX_NO_FILE ? NULL : &c->summary;
}

const index_dir *index_parents(const struct index *index, uint32_t cluster, size_t *n)
{
	assert(cluster < index->m.nclusters);
	*n = index->m.clusters[cluster].nparents;
	return index->m.clusters[cluster].parents;
}

/** Get the checksum of the first bytes of a cluster.  They include the header, and so the checksums
    of the parts. */
static uint64_t head_sum(const char *bytes, size_t size)
{
	return XXH3_64bits(bytes, size < INDEX_HEAD ? size : INDEX_HEAD);
}

int index_segment(struct index *index, uint32_t cluster, struct segment **segment)
{
	assert(cluster < index->m.nclusters);
	struct index_cluster *c = &index->m.clusters[cluster];
	if (!c->segment && c->file != INDEX_NO_FILE) {
		const struct index_file *file = &index->m.files[c->file];
		/* Maps exist as long as the clusters that name them. */
		assert(c->file < index->m.nfiles && file->map && file->lost);
		const char *bytes = file->map + c->offset;
		if (head_sum(bytes, c->size) != c->head)
			return fail(EBADMSG);
		c->segment = segment_open(bytes, c->size);
		if (!c->segment)
			return -1;
		segment_guard(c->segment, file->lost);
		if (os_map_lost(file->lost) || segment_lsn(c->segment) != c->lsn
		    || segment_rows(c->segment) != c->summary.nrows) {
			segment_close(c->segment);
			c->segment = NULL;
			return fail(EBADMSG);
		}
	}
	*segment = c->segment;
	return 0;
}

int store_describe(struct index_cluster *c, uint32_t number, const char *bytes, size_t size,
                   const struct segment_summary *summary)
{
	struct segment_slot slot;
	struct segment *segment = segment_open(bytes, size);
	if (!segment)
		return -1;
	int rc = 0;
	c->size = size;
	c->lsn = segment_lsn(segment);
	c->head = head_sum(bytes, size);
	c->summary = *summary;
	c->nparents = 0;
	for (uint32_t i = 0; rc == 0 && i < segment_slots(segment); ++i) {
		rc = segment_slot(segment, i, &slot);
		if (rc == 0 && slot.row != UINT32_MAX)
			rc = cluster_add_parent(c, number, slot.parent);
	}
	segment_close(segment);
	return rc;
}

bool index_is_changed(const struct index *index, uint32_t cluster)
{
	assert(cluster < index->m.nclusters);
	return delta_size(index->m.clusters[cluster].delta) > 0;
}

bool index_is_replaced(const struct index *index, uint32_t cluster, const struct index_row *row,
                       const char *name, size_t len)
{
	const struct delta *d = index->m.clusters[cluster].delta;
	if (!d)
		return false;
	uint32_t number = (uint32_t)row->col[IC_DIR];
	const struct delta_slot *slot = delta_slot(d, number);
	if (index_row_type(row) == DT_DIR)
		return slot;
	return (slot && slot->cleared) || delta_find(d, number, name, len);
}

bool index_next_change(const struct index *index, uint32_t cluster, size_t *at,
                       struct index_change *change)
{
	const struct delta *d = index->m.clusters[cluster].delta;
	for (; d && *at < d->nslots; ++*at) {
		const struct delta_slot *slot = &d->slots[*at];
		if (slot->removed)
			continue;
		*change = (struct index_change){slot->name, slot->len, &slot->row};
		++*at;
		return true;
	}
	for (; d && *at - d->nslots < d->count; ++*at) {
		const struct delta_item *item = &d->items[*at - d->nslots];
		if (!delta_counts(d, item))
			continue;
		assert(item->gone || item->row);
		*change = (struct index_change){item->name, item->len,
		                                 item->gone ? NULL : item->row};
		++*at;
		return true;
	}
	return false;
}
