/* SPDX-License-Identifier: MIT */
/*
 * Fold an index: rewrite the clusters with large deltas, with the changes applied, into a new
 * segment file.
 *
 * A cluster in an old file is live if it was not rewritten.  The live clusters of an old file are
 * also copied into the new file, if they are less than half of the old file, or at most twice as
 * large as the new file.  So there are few files, and a cluster is copied rarely.  The new journal
 * begins with the deltas of the clusters that were not rewritten.  The old files and the state in
 * memory stay in use until the new manifest has replaced the old one.
 */
#include "index/store/store_impl.h"

#include "base/array.h"
#include "os/change.h"
#include "os/file.h"

#include <stdlib.h>

enum {
	FOLD_CHANGES = 2048,     /* a cluster is rewritten if it has more changes, or more than
	                            1/FOLD_PART of its rows */
	FOLD_PART = 10,
	FOLD_JOURNAL = 64 << 20, /* maximum bytes of a journal: if it is larger, all clusters with a
	                            delta are rewritten */
};

/** Whether to rewrite a cluster.  @all  Rewrite every cluster that has a delta. */
static bool is_due(const struct index_cluster *c, bool all)
{
	size_t n = delta_size(c->delta);
	return n > 0 && (all || n > FOLD_CHANGES || n * FOLD_PART > c->summary.nrows);
}

/* The contents of a cluster: its segment with its delta applied. */

struct merge {
	struct index_row *rows;
	size_t nrows, rows_room;
	struct segment_name *names;
	size_t nnames, names_room;
	struct segment_slot *slots;
	uint32_t nslots;
};

static void merge_destroy(struct merge *merge)
{
	free(merge->rows);
	free(merge->names);
	free(merge->slots);
}

/** Add a name.  @return its index in merge->names, or UINT32_MAX. */
static uint32_t merge_name(struct merge *merge, const char *text, size_t len)
{
	if (!ARRAY_ROOM(merge->names, merge->nnames, &merge->names_room))
		return UINT32_MAX;
	merge->names[merge->nnames] = (struct segment_name){text, (uint32_t)len};
	return (uint32_t)merge->nnames++;
}

static int merge_row(struct merge *merge, const struct index_row *row, uint32_t name)
{
	if (name == UINT32_MAX || !ARRAY_ROOM(merge->rows, merge->nrows, &merge->rows_room))
		return -1;
	merge->rows[merge->nrows] = *row;
	merge->rows[merge->nrows++].col[IC_NAME] = name;
	return 0;
}

/** Add the rows of a leaf that the delta does not replace or remove. */
static int merge_leaf(struct index *index, uint32_t cluster, struct segment *segment,
                      uint32_t leaf, struct merge *merge)
{
	struct index_row rows[INDEX_LEAF];
	uint32_t n = segment_leaf_rows(segment, leaf);
	for (unsigned k = 0; k < IC_COUNT; ++k) {
		uint64_t values[INDEX_LEAF];
		if (segment_leaf_column(segment, leaf, k, values) != 0)
			return -1;
		for (uint32_t i = 0; i < n; ++i)
			rows[i].col[k] = values[i];
	}
	for (uint32_t i = 0; i < n; ++i) {
		uint32_t id = (uint32_t)rows[i].col[IC_NAME];
		/* Names of the segment come first; segment_leaf_column() checks the numbers. */
		assert(id < segment_names(segment) && id < merge->nnames);
		const struct segment_name *name = &merge->names[id];
		if (!index_is_replaced(index, cluster, &rows[i], name->text, name->len)
		    && merge_row(merge, &rows[i], id) != 0)
			return -1;
	}
	return 0;
}

/** Add the names, slots and rows of the segment of a cluster. */
static int merge_segment(struct index *index, uint32_t cluster, struct segment *segment,
                         struct merge *merge)
{
	const struct delta *d = index->m.clusters[cluster].delta;
	assert(merge->nnames == 0 && segment_slots(segment) <= merge->nslots);
	for (uint32_t i = 0; i < segment_names(segment); ++i) {
		size_t len;
		const char *name = segment_name(segment, i, &len);
		if (!name || merge_name(merge, name, len) == UINT32_MAX)
			return -1;
	}
	for (uint32_t i = 0; i < segment_slots(segment); ++i) {
		struct segment_slot *slot = &merge->slots[i];
		if (!delta_slot(d, i) && segment_slot(segment, i, slot) != 0)
			return -1;
	}
	for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf)
		if (merge_leaf(index, cluster, segment, leaf, merge) != 0)
			return -1;
	return 0;
}

/** Add the directories and rows of the delta of a cluster. */
static int merge_delta(struct index *index, uint32_t cluster, struct merge *merge)
{
	const struct delta *d = index->m.clusters[cluster].delta;
	struct index_change change;
	size_t at = 0;
	assert(d->end_slot <= merge->nslots);
	for (size_t i = 0; i < d->nslots; ++i)
		merge->slots[d->slots[i].slot] = (struct segment_slot){
			d->slots[i].parent, UINT32_MAX, d->slots[i].listed,
		};
	while (index_next_change(index, cluster, &at, &change))
		if (change.row
		    && merge_row(merge, change.row,
		                 merge_name(merge, change.name, change.len)) != 0)
			return -1;
	return 0;
}

/** Append a cluster to `out`, with its delta applied. */
static int merge_cluster(struct index *index, uint32_t cluster, struct strbuf *out,
                         struct segment_summary *summary)
{
	struct merge merge = {0};
	struct segment *segment;
	int rc = -1;
	if (cluster_slots(index, cluster, &merge.nslots) != 0
	    || index_segment(index, cluster, &segment) != 0)
		return -1;
	merge.slots = calloc(merge.nslots + 1, sizeof(*merge.slots));
	if (!merge.slots)
		return -1;
	for (uint32_t i = 0; i < merge.nslots; ++i)
		merge.slots[i] = (struct segment_slot){INDEX_DIR_NONE, UINT32_MAX, 0};
	if ((segment && merge_segment(index, cluster, segment, &merge) != 0)
	    || merge_delta(index, cluster, &merge) != 0)
		goto end;
	struct segment_contents contents = {
		.rows = merge.rows, .nrows = (uint32_t)merge.nrows,
		.names = merge.names, .nnames = (uint32_t)merge.nnames,
		.slots = merge.slots, .nslots = merge.nslots, .lsn = index->lsn,
	};
	rc = segment_write(&contents, out, summary);
	if (segment)
		segment_trim(segment);
end:
	merge_destroy(&merge);
	return rc;
}

/* The new files. */

struct fold {
	struct index *index;
	struct manifest m;       /* the new manifest; clusters that are not rewritten share the
	                            array `parents` with the old manifest */
	bool *moved;             /* [cluster]: in the new file */
	bool *merged;            /* [cluster]: in the new file, with its delta applied */
	struct store_file segment, journal;
	struct strbuf bytes;
	uint64_t journal_lsn;
};

/** Append a cluster to the new segment file, which is created for the first cluster. */
static int fold_write(struct fold *f, uint32_t cluster, const char *bytes, size_t size)
{
	struct os *os = f->index->os;
	struct index_cluster *c = &f->m.clusters[cluster];
	if (f->segment.fd < 0
	    && store_create(os, f->index->dirfd, "segment", f->m.next++, &f->segment) != 0)
		return -1;
	assert(!f->moved[cluster] && size > 0 && f->segment.size % 8 == 0);
	c->file = (uint32_t)f->index->m.nfiles;
	c->offset = f->segment.size;
	c->size = size;
	f->moved[cluster] = true;
	return store_write(os, &f->segment, bytes, size);
}

/** Rewrite the clusters for which is_due() is true. */
static int fold_merge(struct fold *f, bool all)
{
	for (uint32_t i = 0; i < f->m.nclusters; ++i) {
		struct index_cluster *c = &f->m.clusters[i];
		struct segment_summary summary;
		if (!is_due(&f->index->m.clusters[i], all)) {
			/* The manifest has no cluster that is only a delta. */
			assert(c->file != INDEX_NO_FILE);
			continue;
		}
		strbuf_reset(&f->bytes);
		c->parents = NULL;
		c->nparents = c->parents_room = 0;
		f->merged[i] = true;
		if (merge_cluster(f->index, i, &f->bytes, &summary) != 0
		    || store_describe(c, i, f->bytes.data, f->bytes.len, &summary) != 0
		    || !strbuf_text(&f->bytes)
		    || fold_write(f, i, f->bytes.data, f->bytes.len) != 0)
			return -1;
	}
	return 0;
}

/** Copy the clusters of an old file that are not in the new file yet. */
static int fold_copy(struct fold *f, uint32_t file)
{
	const struct manifest *old = &f->index->m;
	for (uint32_t i = 0; i < old->nclusters; ++i) {
		const struct index_cluster *c = &old->clusters[i];
		if (c->file == file && !f->moved[i]
		    && fold_write(f, i, old->files[file].map + c->offset, c->size) != 0)
			/* EFAULT: the kernel cannot read a page of the map. */
			return errno == EFAULT ? fail(EBADMSG) : -1;
	}
	return 0;
}

/** Copy the live clusters of the old files that are mostly unused, or small. */
static int fold_compact(struct fold *f)
{
	const struct manifest *old = &f->index->m;
	uint64_t *live = calloc(old->nfiles + 1, sizeof(*live));
	bool copied = true;
	int rc = live ? 0 : -1;
	for (size_t i = 0; live && i < old->nclusters; ++i)
		if (old->clusters[i].file != INDEX_NO_FILE && !f->moved[i])
			live[old->clusters[i].file] += old->clusters[i].size;
	while (rc == 0 && copied) {
		copied = false;
		for (uint32_t i = 0; rc == 0 && i < old->nfiles; ++i) {
			if (live[i] == 0 || (live[i] >= old->files[i].size / 2
			                     && live[i] > 2 * f->segment.size))
				continue;
			rc = fold_copy(f, i);
			live[i] = 0;
			copied = true;
		}
	}
	free(live);
	return rc;
}

/** Set the files of the new manifest: the old files that have live clusters, and the new file. */
static int fold_files(struct fold *f)
{
	const struct manifest *old = &f->index->m;
	uint32_t *to = malloc((old->nfiles + 1) * sizeof(*to));
	bool *used = calloc(old->nfiles + 1, sizeof(*used));
	int rc = -1;
	if (!to || !used)
		goto end;
	for (size_t i = 0; i < f->m.nclusters; ++i)
		if (f->m.clusters[i].file != INDEX_NO_FILE)
			used[f->m.clusters[i].file] = true;
	for (size_t i = 0; i <= old->nfiles; ++i) {
		if (!used[i])
			continue;
		if (!ARRAY_ROOM(f->m.files, f->m.nfiles, &f->m.files_room))
			goto end;
		to[i] = (uint32_t)f->m.nfiles;
		f->m.files[f->m.nfiles++] = i < old->nfiles ? old->files[i]
			: (struct index_file){.number = f->segment.number, .size = f->segment.size};
	}
	for (size_t i = 0; i < f->m.nclusters; ++i)
		if (f->m.clusters[i].file != INDEX_NO_FILE)
			f->m.clusters[i].file = to[f->m.clusters[i].file];
	rc = 0;
end:
	free(to);
	free(used);
	return rc;
}

/** Append a record to the new journal. */
static int fold_record(struct fold *f, const struct journal_record *r)
{
	const size_t start = f->bytes.len;
	if (journal_append(&f->bytes, f->m.journal, r, ++f->journal_lsn) != 0)
		return -1;
	journal_check(&f->bytes, start, f->m.journal, f->journal_lsn, r);
	return 0;
}

/** Append the changes in the delta of a cluster. */
static int fold_delta(struct fold *f, uint32_t cluster, const struct delta *d)
{
	for (size_t i = 0; d && i < d->nslots; ++i) {
		const struct delta_slot *s = &d->slots[i];
		struct journal_record r = {
			.type = JR_REMOVE_DIR, .cluster = cluster, .slot = s->slot,
		};
		if (s->cleared && fold_record(f, &r) != 0)
			return -1;
		r.type = JR_PUT_DIR;
		r.name = s->name;
		r.len = s->len;
		r.row = s->row;
		r.parent = s->parent;
		r.listed = s->listed;
		if (!s->removed && fold_record(f, &r) != 0)
			return -1;
	}
	for (size_t i = 0; d && i < d->count; ++i) {
		const struct delta_item *item = &d->items[i];
		struct journal_record r = {
			.type = item->gone ? JR_REMOVE : JR_PUT, .cluster = cluster,
			.slot = item->slot, .name = item->name, .len = item->len,
		};
		if (!item->gone)
			r.row = *item->row;
		if (delta_counts(d, item) && fold_record(f, &r) != 0)
			return -1;
	}
	return 0;
}

/** Write the new journal, with the deltas of the clusters that were not rewritten. */
static int fold_journal(struct fold *f)
{
	struct os *os = f->index->os;
	struct journal_record end = journal_commit(&f->m.info);
	strbuf_reset(&f->bytes);
	f->m.journal = f->m.next++;
	f->m.lsn = f->journal_lsn = f->index->lsn;
	if (journal_begin(&f->bytes, f->m.journal, f->m.lsn) != 0)
		return -1;
	for (uint32_t i = 0; i < f->m.nclusters; ++i)
		if (!f->merged[i] && fold_delta(f, i, f->index->m.clusters[i].delta) != 0)
			return -1;
	if (f->journal_lsn > f->m.lsn) {
		if (fold_record(f, &end) != 0)
			return -1;
		end.type = JR_SYNCED;
		if (fold_record(f, &end) != 0)
			return -1;
	}
	if (store_create(os, f->index->dirfd, "journal", f->m.journal, &f->journal) != 0
	    || store_put(os, &f->journal, &f->bytes) != 0)
		return -1;
	if (os_fsync(os, f->journal.fd) != 0)
		return -1;
	/* The new files are invalid if a page of the maps that they were made from was lost. */
	return store_intact(&f->index->m);
}

/** Begin with a copy of the old manifest, without its files. */
static int fold_begin(struct fold *f)
{
	const struct manifest *old = &f->index->m;
	f->m = *old;
	f->m.files = NULL;
	f->m.nfiles = f->m.files_room = 0;
	f->m.clusters = NULL;
	f->moved = calloc(old->nclusters + 1, sizeof(*f->moved));
	f->merged = calloc(old->nclusters + 1, sizeof(*f->merged));
	f->m.clusters = calloc(old->nclusters + 1, sizeof(*f->m.clusters));
	if (!f->moved || !f->merged || !f->m.clusters)
		return -1;
	f->m.clusters_room = old->nclusters + 1;
	for (size_t i = 0; i < old->nclusters; ++i)
		f->m.clusters[i] = old->clusters[i];
	return 0;
}

/** Use the new manifest, which has replaced the old one on disk. */
static void fold_adopt(struct fold *f)
{
	struct index *index = f->index;
	struct manifest *old = &index->m;
	for (uint32_t i = 0; i < old->nclusters; ++i) {
		struct index_cluster *from = &old->clusters[i], *to = &f->m.clusters[i];
		/* The copy in the new manifest keeps the open segments of all other clusters. */
		assert(f->moved[i] || !f->merged[i]);
		if (f->moved[i]) {
			segment_close(from->segment);
			to->segment = NULL;
		}
		if (f->merged[i]) {
			delta_free(from->delta);
			to->delta = NULL;
			free(from->parents);
		}
	}
	for (size_t i = 0; i < old->nfiles; ++i) {
		bool used = false;
		for (size_t k = 0; k < f->m.nfiles; ++k)
			used |= f->m.files[k].number == old->files[i].number;
		if (!used)
			os_unmap(index->os, old->files[i].map, old->files[i].size);
	}
	free(old->files);
	free(old->clusters);
	os_close(index->os, index->journal);
	index->m = f->m;
	index->journal = f->journal.fd;
	index->end = f->journal.size;
	index->lsn = f->journal_lsn;
	index->dirty = false;
	strbuf_reset(&index->pending);
	f->journal.fd = -1;
	f->m.files = NULL;
	f->m.clusters = NULL;
	manifest_check(&index->m);
	store_count(index);
}

/** Map the new segment file by the descriptor that wrote it, and sync the file. */
static int fold_map(struct fold *f)
{
	if (f->segment.fd < 0)
		return 0;
	struct index_file *file = &f->m.files[f->m.nfiles - 1];
	assert(file->number == f->segment.number && !file->map);
	file->map = os_map(f->index->os, f->segment.fd, file->size, &file->lost);
	return file->map ? os_fsync(f->index->os, f->segment.fd) : -1;
}

static void fold_destroy(struct fold *f)
{
	int error = errno;
	const struct manifest *old = &f->index->m;
	/* If fold_adopt() was called, f->m.clusters and f->m.files are NULL. */
	for (uint32_t i = 0; f->m.clusters && f->merged && i < old->nclusters; ++i)
		if (f->merged[i])
			free(f->m.clusters[i].parents);
	if (f->m.files && f->m.nfiles > 0 && f->segment.fd >= 0
	    && f->m.files[f->m.nfiles - 1].number == f->segment.number)
		os_unmap(f->index->os, f->m.files[f->m.nfiles - 1].map, f->segment.size);
	free(f->m.files);
	free(f->m.clusters);
	free(f->moved);
	free(f->merged);
	store_drop(f->index->os, f->index->dirfd, &f->segment);
	store_drop(f->index->os, f->index->dirfd, &f->journal);
	strbuf_destroy(&f->bytes);
	errno = error;
}

int index_relieve(struct index *index)
{
	return index->end + index->pending.len > FOLD_JOURNAL ? index_fold(index, true) : 0;
}

int index_fold(struct index *index, bool all)
{
	struct fold f = {.index = index, .segment.fd = -1, .journal.fd = -1};
	bool due = false, replaced = false;
	if (index->mode != INDEX_WRITE)
		return fail(EBADF);
	if (index_commit(index) != 0)
		return -1;
	all |= index->end > FOLD_JOURNAL;
	for (size_t i = 0; i < index->m.nclusters; ++i)
		due |= is_due(&index->m.clusters[i], all);
	if (!due)
		return 0;
	int rc = fold_begin(&f) == 0 && fold_merge(&f, all) == 0 && fold_compact(&f) == 0
	         && fold_files(&f) == 0 && fold_map(&f) == 0 && fold_journal(&f) == 0
	         ? store_replace(index->os, index->dirfd, &f.m, &replaced) : -1;
	if (replaced) {
		index->dir_unsynced = rc != 0;
		os_close(index->os, f.segment.fd);
		f.segment.fd = -1;
		fold_adopt(&f);
	}
	if (rc == 0)
		rc = store_clean(index->os, index->dirfd, &index->m, NULL);
	fold_destroy(&f);
	return rc;
}
