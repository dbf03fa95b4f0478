/* SPDX-License-Identifier: MIT */
/*
 * index: a count in a file that its bytes do not back is refused before memory is allocated for it,
 * also where all checksums are right.
 */
#include "unit.h"

#include "../lib/seal_segment.h"
#include "index/store/store_impl.h"
#include "index_readers.h"
#include "store_world.h"
#include "tree.h"

#include <sys/resource.h>
#include <xxhash.h>

enum { ROOM = 64 << 20 };

static struct tree tree;
static struct os os;

/** Read a file of the index. */
static void get_file(const char *name, struct strbuf *out)
{
	char bytes[4096];
	int fd = openat(tree.fd, name, O_RDONLY);
	CU_ASSERT_FATAL(fd >= 0);
	for (ssize_t n; (n = read(fd, bytes, sizeof(bytes))) > 0;)
		strbuf_add(out, bytes, (size_t)n);
	close(fd);
}

static void put_file(const char *name, const struct strbuf *bytes)
{
	int fd = openat(tree.fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	CU_ASSERT_EQUAL_FATAL(write(fd, bytes->data, bytes->len), (ssize_t)bytes->len);
	close(fd);
}

/** Limit the address space to what is used, and some more.  Sanitizers use all of it. */
static void limit_memory(bool limited)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
	unsigned long pages = 0;
	struct rlimit limit;
	FILE *file = fopen("/proc/self/statm", "r");
	CU_ASSERT_FATAL(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	CU_ASSERT_EQUAL(getrlimit(RLIMIT_AS, &limit), 0);
	limit.rlim_cur = limited ? pages * (rlim_t)sysconf(_SC_PAGESIZE) + ROOM : limit.rlim_max;
	CU_ASSERT_EQUAL(setrlimit(RLIMIT_AS, &limit), 0);
#else
	(void)limited;
#endif
}

/** Read the index with everything.  @return how many readers failed. */
static unsigned read_limited(void)
{
	unsigned failed = 0;
	for (const struct index_reader *reader = index_readers; reader->name; ++reader) {
		STRBUF(out);
		limit_memory(true);
		struct index *index = index_open(&os, tree.fd, INDEX_READ);
		int rc = index ? reader->read(index, &out) : -1, error = errno;
		index_close(index);
		limit_memory(false);
		failed += rc != 0;
		/* ENOENT: the number of the root is that of no directory. */
		if (rc != 0 && error != EBADMSG && error != ENOENT)
			unit_expect(reader->name, strerror(error));
	}
	return failed;
}

static const uint32_t huge[] = {0xf0000000, UINT32_MAX, 0x7fffffff, 0x4000000, 100000};

/** Set a number of the first cluster, seal it and its manifest, and read. */
static unsigned try_cluster(const struct strbuf *manifest, const struct strbuf *segment, size_t at,
                            uint32_t value)
{
	struct manifest m;
	STRBUF(bytes);
	STRBUF(changed);
	CU_ASSERT_EQUAL_FATAL(manifest_decode(manifest->data, manifest->len, &m), 0);
	strbuf_add(&bytes, segment->data, segment->len);
	struct index_cluster *c = &m.clusters[0];
	uint8_t *cluster = (uint8_t *)bytes.data + c->offset;
	store32(cluster + at, value);
	seal_segment(cluster, c->size);
	c->summary.nrows = load32(cluster + 12);
	c->head = XXH3_64bits(cluster, c->size < INDEX_HEAD ? c->size : INDEX_HEAD);
	CU_ASSERT_EQUAL(manifest_encode(&m, &changed), 0);
	put_file(store_name("segment", m.files[0].number).text, &bytes);
	put_file("manifest", &changed);
	manifest_destroy(&m);
	return read_limited();
}

static void begin(struct strbuf *manifest, struct strbuf *segment, char *name, size_t size)
{
	os = unit_os();
	world_begin(&tree);
	struct world *world = world_new(1, 100, 1000, 40);
	struct manifest m;
	CU_ASSERT_EQUAL_FATAL(world_build(world, &os, tree.fd), 0);
	free(world);
	get_file("manifest", manifest);
	CU_ASSERT_EQUAL_FATAL(manifest_decode(manifest->data, manifest->len, &m), 0);
	snprintf(name, size, "%s", store_name("segment", m.files[0].number).text);
	manifest_destroy(&m);
	get_file(name, segment);
	CU_ASSERT_EQUAL(read_limited(), 0);
}

UNIT_TEST(clusters)
{
	STRBUF(manifest);
	STRBUF(segment);
	char name[40];
	begin(&manifest, &segment, name, sizeof(name));
	/* Rows, slots, names, blocks, names of directories. */
	for (size_t at = 12; at <= 28; at += 4) {
		for (size_t i = 0; i < COUNT(huge); ++i) {
			unit_note("header %zu, %#x", at, huge[i]);
			CU_ASSERT(try_cluster(&manifest, &segment, at, huge[i]) > 0);
		}
	}
	/* Offsets and lengths of parts. */
	for (size_t at = PARTS_AT; at < HEADER_SIZE - 8; at += 8) {
		if ((at - PARTS_AT) % 24 == 16)
			continue;
		for (size_t i = 0; i < COUNT(huge); ++i) {
			unit_note("header %zu, %#x", at, huge[i]);
			try_cluster(&manifest, &segment, at, huge[i]);
			try_cluster(&manifest, &segment, at + 4, huge[i]);
		}
	}
	/* The front index, and the range of a leaf: offsets and counts. */
	static const unsigned parts[] = {SP_FRONT, SP_RANGES + IC_NAME, SP_RANGES + SC_NAME};
	for (size_t k = 0; k < COUNT(parts); ++k) {
		size_t offset = load64(segment.data + PARTS_AT + 24 * parts[k]);
		for (size_t at = 0; at < 2 * RANGE_SIZE; at += 4) {
			unit_note("part %u, %zu", parts[k], at);
			try_cluster(&manifest, &segment, offset + at, huge[at / 4 % COUNT(huge)]);
		}
	}
	tree_end(&tree);
}

UNIT_TEST(manifest)
{
	STRBUF(manifest);
	STRBUF(segment);
	char name[40];
	begin(&manifest, &segment, name, sizeof(name));
	for (size_t at = 12; at + 4 < manifest.len - 8; at += 4) {
		for (size_t i = 0; i < COUNT(huge); ++i) {
			STRBUF(bytes);
			strbuf_add(&bytes, manifest.data, manifest.len);
			store32(bytes.data + at, huge[i]);
			store64(bytes.data + bytes.len - 8, XXH3_64bits(bytes.data, bytes.len - 8));
			put_file("manifest", &bytes);
			unit_note("manifest %zu, %#x", at, huge[i]);
			read_limited();
		}
	}
	/* A cluster ends at a multiple of 8: a fold would put another one after it. */
	for (unsigned odd = 0; odd < 8; ++odd) {
		struct manifest m;
		STRBUF(changed);
		CU_ASSERT_EQUAL_FATAL(manifest_decode(manifest.data, manifest.len, &m), 0);
		m.clusters[0].size -= odd;
		CU_ASSERT_EQUAL(manifest_encode(&m, &changed), 0);
		manifest_destroy(&m);
		CU_ASSERT_EQUAL(manifest_decode(changed.data, changed.len, &m), odd ? -1 : 0);
		manifest_destroy(&m);
	}
	/* As many clusters as fit: each must have its bytes. */
	STRBUF(bytes);
	const size_t clusters_at = 20 + 4 + 96 + 48 + 1 + 4;
	strbuf_add(&bytes, manifest.data, clusters_at);
	store32(bytes.data + clusters_at - 4, 0);
	for (int i = 0; i < 500000; ++i) {
		static const char none[8] = {'\xff', '\xff', '\xff', '\xff'};
		if (i == 0)
			strbuf_add(&bytes, "\x20\xa1\x07\0", 4);
		strbuf_add(&bytes, none, sizeof(none));
	}
	strbuf_extend(&bytes, 8);
	store64(bytes.data + bytes.len - 8, XXH3_64bits(bytes.data, bytes.len - 8));
	put_file("manifest", &bytes);
	CU_ASSERT(read_limited() > 0);
	tree_end(&tree);
}

/* Records that each make a cluster. */
UNIT_TEST(journal)
{
	STRBUF(manifest);
	STRBUF(segment);
	STRBUF(bytes);
	char name[40];
	struct manifest m;
	begin(&manifest, &segment, name, sizeof(name));
	CU_ASSERT_EQUAL_FATAL(manifest_decode(manifest.data, manifest.len, &m), 0);
	uint64_t lsn = m.lsn;
	CU_ASSERT_EQUAL(journal_begin(&bytes, m.journal, lsn), 0);
	for (uint32_t i = 0; i < 100000; ++i) {
		const struct journal_record r = {
			.type = JR_REMOVE, .cluster = (uint32_t)m.nclusters + i, .name = "x",
			.len = 1,
		};
		CU_ASSERT_EQUAL_FATAL(journal_append(&bytes, m.journal, &r, ++lsn), 0);
	}
	struct journal_record commit = {.type = JR_COMMIT};
	CU_ASSERT_EQUAL_FATAL(journal_append(&bytes, m.journal, &commit, ++lsn), 0);
	put_file(store_name("journal", m.journal).text, &bytes);
	manifest_destroy(&m);
	CU_ASSERT(read_limited() > 0);
	tree_end(&tree);
}

/** Directories that have no name, as only the root may: readers refuse them, or pass them on. */
UNIT_TEST(nameless)
{
	for (unsigned k = 0; k < 6; ++k) {
		os = unit_os();
		world_begin(&tree);
		struct world *world = world_new(k + 1, 100, 1000, 40);
		for (unsigned i = 1 + k; i < 100; i += 1 + 9 * k)
			*world->dirs[i].name = '\0';
		CU_ASSERT_EQUAL_FATAL(world_build(world, &os, tree.fd), 0);
		unit_note("world %u", k);
		read_limited();
		struct index *index = index_open(&os, tree.fd, INDEX_WRITE);
		CU_ASSERT_PTR_NOT_NULL_FATAL(index);
		index_dir root = index_root(index);
		struct index_row row = {{[IC_MODE] = S_IFREG}};
		CU_ASSERT_EQUAL(index_put(index, root, "x", 1, &row), 0);
		CU_ASSERT_EQUAL(index_fold(index, true), 0);
		index_close(index);
		read_limited();
		free(world);
		tree_end(&tree);
	}
}
