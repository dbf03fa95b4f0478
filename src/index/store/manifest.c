/* SPDX-License-Identifier: MIT */
/*
 * The manifest as bytes.  All numbers are little-endian.
 *
 *     "gmindexM" (8 bytes), version, whether the index is incomplete (4 bytes each)
 *     root directory, length of `root` (4 bytes each)
 *     uuid (64 bytes), type (32)
 *     fresh, looked, generation, journal, LSN, next (8 bytes each)
 *     root
 *     number of files, of clusters (4 bytes each)
 *     files: number, size (8 bytes each)
 *     clusters: index of the file, number of parents (4 bytes each); offset, size, LSN, checksum of
 *         the first INDEX_HEAD bytes (8 bytes each); number of rows, number of directories (4 bytes
 *         each); minimum and maximum of each column from IC_FIRST_ZONE to IC_END_ZONE - 1 (8 bytes
 *         each); the parents, see index_parents() (4 bytes each)
 *     checksum of all bytes above: XXH3 (8 bytes)
 */
#include "index/store/store_impl.h"

#include "base/array.h"
#include "index/segment/bytes.h"

#include <stdlib.h>
#include <xxhash.h>

enum {
	FILE_SIZE = 16,
	CLUSTER_LEAST = 48 + (IC_END_ZONE - IC_FIRST_ZONE) * 16,   /* bytes of a cluster without
	                                                              parents */
};
enum { PARENTS_NEAR = 16 };  /* number of last parents of a cluster that a new parent is compared
                                with: most duplicates are near */

static const char magic[8] = "gmindexM";

void manifest_destroy(struct manifest *m)
{
	for (size_t i = 0; i < m->nclusters; ++i) {
		segment_close(m->clusters[i].segment);
		delta_free(m->clusters[i].delta);
		free(m->clusters[i].parents);
	}
	free(m->clusters);
	free(m->files);
	free(m->info.root);
	*m = (struct manifest){0};
}

struct index_cluster *manifest_add(struct manifest *m)
{
	if (m->nclusters >= INDEX_CLUSTERS_MAX - 1)
		return fail_null(EFBIG);
	if (!ARRAY_ROOM(m->clusters, m->nclusters, &m->clusters_room))
		return NULL;
	struct index_cluster *c = &m->clusters[m->nclusters++];
	*c = (struct index_cluster){.file = INDEX_NO_FILE};
	return c;
}

static int compare_dirs(const void *a, const void *b)
{
	index_dir x = *(const index_dir *)a, y = *(const index_dir *)b;
	return x < y ? -1 : x > y;
}

/** Sort the parents of a cluster and remove duplicates. */
static void unite_parents(struct index_cluster *c)
{
	size_t n = 1;
	qsort(c->parents, c->nparents, sizeof(*c->parents), compare_dirs);
	for (size_t i = 1; i < c->nparents; ++i)
		if (c->parents[i] != c->parents[n - 1])
			c->parents[n++] = c->parents[i];
	c->nparents = n;
}

int cluster_add_parent(struct index_cluster *c, uint32_t number, index_dir parent)
{
	if (parent == INDEX_DIR_NONE || index_dir_cluster(parent) == number)
		return 0;
	for (size_t i = c->nparents; i > 0 && c->nparents - i < PARENTS_NEAR; --i)
		if (c->parents[i - 1] == parent)
			return 0;
	/* If the array is full, remove duplicates first: a journal can name any directory as
	   parent, but cannot make the array large by duplicates.  At least half of the array is
	   free afterwards. */
	if (c->nparents == c->parents_room) {
		if (c->nparents > 0)
			unite_parents(c);
		if (c->nparents >= c->parents_room / 2
		    && !array_grow(&c->parents, &c->parents_room, sizeof(*c->parents)))
			return -1;
	}
	assert(c->nparents < c->parents_room);
	c->parents[c->nparents++] = parent;
	return 0;
}

void manifest_check(const struct manifest *m)
{
#ifndef NDEBUG
	assert(m->journal < m->next && m->nclusters < INDEX_CLUSTERS_MAX && m->info.root);
	assert(index_clock_valid(m->info.fresh) && index_clock_valid(m->info.looked));
	for (size_t i = 0; i < m->nfiles; ++i)
		assert(m->files[i].number < m->next && m->files[i].size > 0);
	for (size_t i = 0; i < m->nclusters; ++i) {
		const struct index_cluster *c = &m->clusters[i];
		assert(c->nparents <= c->parents_room);
		for (size_t k = 0; k < c->nparents; ++k)
			assert(c->parents[k] != INDEX_DIR_NONE
			       && index_dir_cluster(c->parents[k]) != i);
		if (c->file == INDEX_NO_FILE) {
			assert(!c->segment && delta_size(c->delta) > 0);
			continue;
		}
		assert(c->file < m->nfiles && c->offset % 8 == 0 && c->size % 8 == 0
		       && c->size > 0
		       && c->offset + c->size <= m->files[c->file].size && c->lsn <= m->lsn);
	}
#else
	(void)m;
#endif
}

int manifest_encode(const struct manifest *m, struct strbuf *out)
{
	const struct index_info *info = &m->info;
	size_t start = out->len;
	strbuf_add(out, magic, sizeof(magic));
	bytes_put32(out, INDEX_FORMAT);
	bytes_put32(out, info->incomplete);
	bytes_put32(out, m->root);
	bytes_put32(out, (uint32_t)strlen(info->root));
	strbuf_add(out, info->uuid, sizeof(info->uuid));
	strbuf_add(out, info->type, sizeof(info->type));
	bytes_put64(out, (uint64_t)info->fresh);
	bytes_put64(out, (uint64_t)info->looked);
	bytes_put64(out, info->generation);
	bytes_put64(out, m->journal);
	bytes_put64(out, m->lsn);
	bytes_put64(out, m->next);
	strbuf_puts(out, info->root);
	bytes_put32(out, (uint32_t)m->nfiles);
	bytes_put32(out, (uint32_t)m->nclusters);
	for (size_t i = 0; i < m->nfiles; ++i) {
		bytes_put64(out, m->files[i].number);
		bytes_put64(out, m->files[i].size);
	}
	for (size_t i = 0; i < m->nclusters; ++i) {
		const struct index_cluster *c = &m->clusters[i];
		uint32_t nparents = (uint32_t)c->nparents;
		/* A fold rewrites each cluster that has only a delta, so all clusters have a
		   segment. */
		if (c->file == INDEX_NO_FILE)
			return fail(EINVAL);
		bytes_put32(out, c->file);
		bytes_put32(out, nparents);
		bytes_put64(out, c->offset);
		bytes_put64(out, c->size);
		bytes_put64(out, c->lsn);
		bytes_put64(out, c->head);
		bytes_put32(out, c->summary.nrows);
		bytes_put32(out, c->summary.ndirs);
		for (int k = IC_FIRST_ZONE; k < IC_END_ZONE; ++k) {
			bytes_put64(out, c->summary.min[k]);
			bytes_put64(out, c->summary.max[k]);
		}
		for (uint32_t k = 0; k < nparents; ++k)
			bytes_put32(out, c->parents[k]);
	}
	if (out->failed)
		return fail(ENOMEM);
	bytes_put64(out, XXH3_64bits(out->data + start, out->len - start));
	return out->failed ? fail(ENOMEM) : 0;
}

/** Copy a text without NUL.  @return 0, or -1 (EBADMSG, ENOMEM). */
static int get_text(struct bytes *in, size_t len, char **text)
{
	const char *at = bytes_take(in, len);
	if (!at || memchr(at, '\0', len))
		return fail(EBADMSG);
	*text = strndup(at, len);
	return *text ? 0 : -1;
}

/** Copy a text that is padded with NULs to `size` bytes.  @return whether it ends with a NUL. */
static bool get_field(struct bytes *in, char *text, size_t size)
{
	const char *at = bytes_take(in, size);
	if (at)
		memcpy(text, at, size);
	return at && !text[size - 1];
}

static int get_files(struct bytes *in, struct manifest *m, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (!ARRAY_ROOM(m->files, m->nfiles, &m->files_room))
			return -1;
		struct index_file *file = &m->files[m->nfiles];
		*file = (struct index_file){.number = bytes_get64(in), .size = bytes_get64(in)};
		/* The size must fit off_t and size_t. */
		if (in->failed || file->size == 0 || file->size > SIZE_MAX / 4
		    || file->number >= m->next)
			return fail(EBADMSG);
		++m->nfiles;
	}
	return 0;
}

static int get_cluster(struct bytes *in, struct manifest *m)
{
	uint32_t number = (uint32_t)m->nclusters;
	struct index_cluster *c = manifest_add(m);
	if (!c)
		return -1;
	c->file = bytes_get32(in);
	uint32_t nparents = bytes_get32(in);
	c->offset = bytes_get64(in);
	c->size = bytes_get64(in);
	c->lsn = bytes_get64(in);
	c->head = bytes_get64(in);
	c->summary.nrows = bytes_get32(in);
	c->summary.ndirs = bytes_get32(in);
	for (int k = IC_FIRST_ZONE; k < IC_END_ZONE; ++k) {
		c->summary.min[k] = bytes_get64(in);
		c->summary.max[k] = bytes_get64(in);
	}
	if (in->failed || c->file >= m->nfiles || c->offset % 8 != 0 || c->size == 0
	    || c->size % 8 != 0 || c->size > m->files[c->file].size
	    || c->offset > m->files[c->file].size - c->size
	    || c->lsn > m->lsn || nparents > (size_t)(in->end - in->at) / 4)
		return fail(EBADMSG);
	if (nparents == 0)
		return 0;
	c->parents = malloc(nparents * sizeof(*c->parents));
	if (!c->parents)
		return -1;
	c->nparents = c->parents_room = nparents;
	for (uint32_t k = 0; k < nparents; ++k) {
		c->parents[k] = bytes_get32(in);
		if (c->parents[k] == INDEX_DIR_NONE || index_dir_cluster(c->parents[k]) == number)
			return fail(EBADMSG);
	}
	return 0;
}

int manifest_decode(const char *bytes, size_t size, struct manifest *m)
{
	struct bytes in = {bytes, bytes + size, false};
	struct index_info *info = &m->info;
	*m = (struct manifest){0};
	const char *head = bytes_take(&in, sizeof(magic));
	uint32_t version = bytes_get32(&in);
	if (!head || memcmp(head, magic, sizeof(magic)) != 0 || size < 16 + 8)
		return fail(EBADMSG);
	if (version != INDEX_FORMAT)
		return fail(EPROTONOSUPPORT);
	in.end -= 8;
	struct bytes tail = {in.end, in.end + 8, false};
	if (bytes_get64(&tail) != XXH3_64bits(bytes, size - 8))
		return fail(EBADMSG);
	uint32_t incomplete = bytes_get32(&in);
	if (incomplete > 1)
		return fail(EBADMSG);
	info->incomplete = incomplete;
	m->root = bytes_get32(&in);
	uint32_t root_len = bytes_get32(&in);
	if (!get_field(&in, info->uuid, sizeof(info->uuid))
	    || !get_field(&in, info->type, sizeof(info->type)))
		return fail(EBADMSG);
	info->fresh = (int64_t)bytes_get64(&in);
	info->looked = (int64_t)bytes_get64(&in);
	info->generation = bytes_get64(&in);
	m->journal = bytes_get64(&in);
	m->lsn = bytes_get64(&in);
	m->next = bytes_get64(&in);
	if (get_text(&in, root_len, &info->root) != 0)
		return -1;
	uint32_t nfiles = bytes_get32(&in), nclusters = bytes_get32(&in);
	if (in.failed || nfiles > INDEX_FILES_MAX || nclusters >= INDEX_CLUSTERS_MAX
	    || (uint64_t)nfiles * FILE_SIZE + (uint64_t)nclusters * CLUSTER_LEAST
	               > (size_t)(in.end - in.at)
	    || m->journal >= m->next || m->lsn > UINT64_MAX / 2
	    || !index_clock_valid(info->fresh) || !index_clock_valid(info->looked))
		return fail(EBADMSG);
	if (get_files(&in, m, nfiles) != 0)
		return -1;
	for (uint32_t i = 0; i < nclusters; ++i)
		if (get_cluster(&in, m) != 0)
			return -1;
	return in.failed || in.at != in.end ? fail(EBADMSG) : 0;
}
