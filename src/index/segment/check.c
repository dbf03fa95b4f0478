/* SPDX-License-Identifier: MIT */
/*
 * Verify a whole cluster: all checksums and invariants.
 */
#include "index/segment/segment_impl.h"

static const char *const filter_names[] = {"names", "extensions", "trigrams"};

static const char *const column_names[SC_COUNT] = {
	[IC_DIR] = "directories", [IC_NAME] = "names of rows", [IC_UID] = "users",
	[IC_GID] = "groups", [IC_SIZE] = "sizes", [IC_MSEC] = "seconds of mtime",
	[IC_CSEC] = "seconds of ctime", [IC_ASEC] = "seconds of atime",
	[IC_BSEC] = "seconds of btime", [IC_INO] = "inode numbers", [IC_MODE] = "modes",
	[IC_NLINK] = "link counts", [IC_BLOCKS] = "blocks", [IC_MNSEC] = "nanoseconds of mtime",
	[IC_CNSEC] = "nanoseconds of ctime", [IC_ANSEC] = "nanoseconds of atime",
	[IC_BNSEC] = "nanoseconds of btime", [IC_RDEV] = "device numbers",
	[IC_ATTRS] = "attributes", [IC_FLAGS] = "flags", [SC_PARENT] = "parents of directories",
	[SC_ROW] = "rows of directories", [SC_NAME] = "names of directories",
	[SC_LISTED] = "times of listings",
};

static int check_filter(const struct segment *segment, enum segment_filter filter,
                        struct strbuf *why)
{
	const struct part *part = &segment->parts[SP_FILTERS + filter];
	for (uint32_t i = 0; i < part->len / FILTER_BLOCK; ++i) {
		if (!filter_block_valid(part->data, i, filter)) {
			strbuf_printf(why, "the filter of %s is damaged", filter_names[filter]);
			return fail(EBADMSG);
		}
	}
	return 0;
}

/** Whether all filters have the keys of a name.
    @dir  A directory has this name, so it must have the key segment_dir_hash(), too. */
static bool filters_have(struct segment *segment, const char *name, size_t len, bool dir)
{
	size_t ext_len;
	const char *ext = name_extension(name, len, &ext_len);
	uint64_t hash = segment_hash(name, len);
	if (segment_may_have(segment, SF_NAMES, hash) != 1
	    || (dir && segment_may_have(segment, SF_NAMES, segment_dir_hash(hash)) != 1)
	    || (ext && segment_may_have(segment, SF_EXTENSIONS, segment_hash(ext, ext_len)) != 1))
		return false;
	for (size_t i = 0, trigram = 0; i < len; ++i) {
		trigram = trigram_next((uint32_t)trigram, name[i]);
		hash = trigram_hash((uint32_t)trigram);
		if (i >= 2 && segment_may_have(segment, SF_TRIGRAMS, hash) != 1)
			return false;
	}
	return true;
}

static int check_names(struct segment *segment, struct strbuf *why)
{
	if (segment_check_names(segment) != 0)
		return -1;
	for (uint32_t id = 0; id < segment->nnames; ++id) {
		size_t len;
		const char *name = segment_name(segment, id, &len);
		if (!name)
			return -1;
		uint32_t found;
		if (segment_find_name(segment, name, len, false, &found) != 1 || found != id)
			return -1;
		if (!filters_have(segment, name, len, id < segment->ndirnames)) {
			strbuf_puts(why, "a name is missing in a filter");
			return fail(EBADMSG);
		}
	}
	return 0;
}

/** Decode a column, and check that the minimum and maximum stored for each leaf are right. */
static int check_column(struct segment *segment, unsigned column, uint32_t leaves)
{
	for (uint32_t leaf = 0; leaf < leaves; ++leaf) {
		uint32_t n = segment_leaf_values(segment, leaf, column);
		uint64_t values[INDEX_LEAF], min, max, low = UINT64_MAX, high = 0;
		if (segment_decode(segment, leaf, column, values) != 0
		    || segment_range(segment, leaf, column, &min, &max) != 0)
			return -1;
		for (uint32_t i = 0; i < n; ++i) {
			low = values[i] < low ? values[i] : low;
			high = values[i] > high ? values[i] : high;
		}
		if (low != min || high != max)
			return fail(EBADMSG);
	}
	return 0;
}

static int check_columns(struct segment *segment, struct strbuf *why)
{
	for (unsigned column = 0; column < SC_COUNT; ++column) {
		uint32_t leaves = column < SC_PARENT ? segment_leaves(segment)
		                  : (segment->nslots + INDEX_LEAF - 1) / INDEX_LEAF;
		if (check_column(segment, column, leaves) != 0) {
			strbuf_printf(why, "the column of %s is damaged", column_names[column]);
			return fail(EBADMSG);
		}
	}
	return 0;
}

/** Check that each row is in a directory of the cluster, and each directory has exactly one row. */
static int check_slots(struct segment *segment, struct strbuf *why)
{
	struct segment_slot slot;
	uint32_t ndirs = 0, rows = 0;
	for (uint32_t leaf = 0; leaf < segment_leaves(segment); ++leaf) {
		uint64_t dir[INDEX_LEAF], mode[INDEX_LEAF], name[INDEX_LEAF];
		if (segment_decode(segment, leaf, IC_DIR, dir) != 0
		    || segment_decode(segment, leaf, IC_MODE, mode) != 0
		    || segment_decode(segment, leaf, IC_NAME, name) != 0)
			return -1;
		uint32_t n = segment_leaf_rows(segment, leaf);
		for (uint32_t i = 0; i < n; ++i, ++rows) {
			bool is_dir = (mode[i] >> 12 & 15) == DT_DIR;
			size_t len;
			if (segment_slot(segment, (uint32_t)dir[i], &slot) != 0
			    || !segment_name(segment, (uint32_t)name[i], &len))
				return -1;
			bool is_root = is_dir && slot.parent == INDEX_DIR_NONE;
			if ((is_dir ? slot.row != rows || slot.name != name[i]
			     : slot.row == UINT32_MAX)
			    || (len == 0 && !is_root)) {
				strbuf_printf(why, "row %u is in no directory", rows);
				return fail(EBADMSG);
			}
			ndirs += is_dir;
		}
	}
	for (uint32_t i = 0; i < segment->nslots; ++i) {
		if (segment_slot(segment, i, &slot) != 0)
			return -1;
		ndirs -= slot.row != UINT32_MAX;
	}
	if (ndirs == 0)
		return 0;
	strbuf_puts(why, "a directory has no row");
	return fail(EBADMSG);
}

int segment_check(struct segment *segment, struct strbuf *why)
{
	size_t before = why->len;
	int result = 0;
	for (unsigned filter = 0; filter <= SF_TRIGRAMS && result == 0; ++filter)
		result = check_filter(segment, filter, why);
	if (result == 0)
		result = check_names(segment, why);
	if (result != 0 && why->len == before)
		strbuf_puts(why, errno == ENOMEM ? "out of memory" : "the names are damaged");
	if (result == 0)
		result = check_columns(segment, why);
	if (result == 0)
		result = check_slots(segment, why);
	if (result != 0 && why->len == before)
		strbuf_puts(why, errno == ENOMEM ? "out of memory" : "the directories are damaged");
	return result;
}
