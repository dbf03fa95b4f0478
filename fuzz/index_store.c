/* SPDX-License-Identifier: MIT */
/*
 * Manifest and journal of an index: whatever their bytes are, they are read or refused; what is
 * read and written again reads the same.
 *
 * The input: a byte (0: a manifest; 1: a journal; 2 more: put versions and checksums right before
 * reading, so that what they protect is reached), and the file.
 */
#include "lib/fuzz.h"

#include "index/store/store_impl.h"

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

enum { JOURNAL = 1, SEAL = 2, NUMBER = 5 };

static void put32(char *at, uint32_t value)
{
	value = htole32(value);
	memcpy(at, &value, sizeof(value));
}

static void put64(char *at, uint64_t value)
{
	value = htole64(value);
	memcpy(at, &value, sizeof(value));
}

/** Put the checksum of a manifest right. */
static void seal_manifest(char *bytes, size_t size)
{
	if (size < 24)
		return;
	memcpy(bytes, "gmindexM", 8);
	put32(bytes + 8, INDEX_FORMAT);
	put64(bytes + size - 8, XXH3_64bits(bytes, size - 8));
}

/** Put head, LSNs and checksums of a journal right. */
static void seal_journal(char *bytes, size_t size)
{
	if (size < JOURNAL_HEAD)
		return;
	memcpy(bytes, "gmindexJ", 8);
	put32(bytes + 8, INDEX_FORMAT);
	put64(bytes + 16, NUMBER);
	put64(bytes + 24, 0);
	put64(bytes + 32, XXH3_64bits(bytes, JOURNAL_HEAD - 8));
	uint64_t lsn = 0;
	for (size_t at = JOURNAL_HEAD; size - at >= 32;) {
		uint32_t length;
		memcpy(&length, bytes + at, sizeof(length));
		length = le32toh(length);
		if (length < 32 || length > size - at)
			break;
		put64(bytes + at + 16, ++lsn);
		put64(bytes + at + length - 8,
		      XXH3_64bits_withSeed(bytes + at, length - 8, NUMBER));
		at += length;
	}
}

static void try_manifest(const char *bytes, size_t size)
{
	struct manifest m, again;
	struct strbuf one = {0}, two = {0};
	if (manifest_decode(bytes, size, &m) != 0) {
		FUZZ_CHECK(errno == EBADMSG || errno == EPROTONOSUPPORT);
	} else {
		FUZZ_CHECK(manifest_encode(&m, &one) == 0 && one.len == size);
		FUZZ_CHECK(manifest_decode(one.data, one.len, &again) == 0);
		FUZZ_CHECK(manifest_encode(&again, &two) == 0 && two.len == one.len
		           && memcmp(one.data, two.data, one.len) == 0);
		for (size_t i = 0; i < m.nclusters; ++i) {
			const struct index_cluster *c = &m.clusters[i];
			FUZZ_CHECK(c->file == INDEX_NO_FILE
			           || (c->file < m.nfiles
			               && c->offset + c->size <= m.files[c->file].size));
		}
		manifest_destroy(&again);
	}
	manifest_destroy(&m);
	strbuf_destroy(&one);
	strbuf_destroy(&two);
}

/** Apply the records, and ask for each of them. */
static void replay(const char *bytes, size_t end, uint64_t last)
{
	struct index index = {.m.root = INDEX_DIR_NONE};
	struct journal_record r, same;
	struct strbuf again = {0};
	size_t at = JOURNAL_HEAD;
	uint64_t lsn = 1;
	while (at < end) {
		size_t from = at, to = 0;
		FUZZ_CHECK(journal_next(bytes, end, &at, NUMBER, lsn, &r));
		strbuf_reset(&again);
		FUZZ_CHECK(journal_append(&again, NUMBER, &r, lsn) == 0 && again.len == at - from);
		FUZZ_CHECK(journal_next(again.data, again.len, &to, NUMBER, lsn, &same)
		           && to == again.len && same.type == r.type && same.len == r.len
		           && memcmp(same.name, r.name, r.len) == 0
		           && memcmp(&same.row, &r.row, sizeof(r.row)) == 0);
		++lsn;
		if (store_apply(&index, &r) != 0) {
			/* A new cluster begins with a directory. */
			FUZZ_CHECK(errno == EBADMSG
			           && r.cluster >= index.m.nclusters + (r.type == JR_PUT_DIR));
			continue;
		}
		if (r.type == JR_COMMIT || r.type == JR_SYNCED)
			continue;
		const struct delta *d = index.m.clusters[r.cluster].delta;
		const struct delta_slot *slot = delta_slot(d, r.slot);
		const struct delta_item *item = delta_find(d, r.slot, r.name, r.len);
		if (r.type == JR_PUT || r.type == JR_REMOVE)
			FUZZ_CHECK(item && item->gone == (r.type == JR_REMOVE));
		else
			FUZZ_CHECK(slot && slot->removed == (r.type == JR_REMOVE_DIR));
		if (r.type == JR_PUT_DIR && r.parent != INDEX_DIR_NONE)
			FUZZ_CHECK(cluster_has_parent(&index, r.cluster, r.parent));
	}
	FUZZ_CHECK(at == end && lsn == last + 1);
	for (uint32_t i = 0; i < index.m.nclusters; ++i) {
		struct index_change change;
		size_t next = 0, n = 0;
		while (index_next_change(&index, i, &next, &change)) {
			FUZZ_CHECK(strlen(change.name) == change.len);
			++n;
		}
		FUZZ_CHECK(n <= delta_size(index.m.clusters[i].delta));
	}
	manifest_destroy(&index.m);
	strbuf_destroy(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t flags = fuzz_byte(&in);
	size_t n, end;
	uint64_t lsn;
	const char *from = fuzz_bytes(&in, size, &n);
	/* Of this size, so that a read beyond it is seen. */
	char *bytes = fuzz_alloc(n + !n);
	memcpy(bytes, n ? from : "", n);
	if (flags & SEAL)
		(flags & JOURNAL ? seal_journal : seal_manifest)(bytes, n);
	if (!(flags & JOURNAL))
		try_manifest(bytes, n);
	else if (journal_scan(bytes, n, NUMBER, 0, &end, &lsn) == 0)
		replay(bytes, end, lsn);
	else
		FUZZ_CHECK(errno == EBADMSG || errno == EPROTONOSUPPORT);
	free(bytes);
	return 0;
}
