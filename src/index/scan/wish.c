/* SPDX-License-Identifier: MIT */
/*
 * Convert the criteria of a scan to filter keys and ranges of columns.
 *
 * Each name that matches a pattern contains the text between its wildcards.  So the trigrams of
 * this text are keys, and the extension in the text after the last wildcard.  If a pattern ignores
 * case, only trigrams are used, and none with the letters k, i or s: these also match characters
 * outside ASCII (Kelvin sign, dotless and dotted i, long s).
 */
#include "index/scan/scan_impl.h"

#include "select/pattern.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

static void add_key(struct wish *wish, struct wish_key key)
{
	if (wish->nkeys < WISH_KEYS)
		wish->keys[wish->nkeys++] = key;
}

/** Add the trigrams of a text that each name contains. */
static void add_trigrams(struct wish *wish, const char *text, size_t len, bool any_case)
{
	for (size_t i = 0; i + 3 <= len; ++i) {
		char key[3];
		bool usable = true;
		for (size_t j = 0; j < 3; ++j) {
			char c = text[i + j];
			key[j] = (char)(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
			usable &= !any_case
			          || ((unsigned char)c < 0x80 && !strchr("kis", key[j]));
		}
		if (usable)
			add_key(wish, (struct wish_key){
				.filter = SF_TRIGRAMS, .hash = segment_hash(key, sizeof(key)),
			});
	}
}

/** Add the extension of names that end in a text.
    @sure  Each name has at least one byte before the text. */
static void add_extension(struct wish *wish, const char *text, size_t len, bool sure)
{
	const char *dot = memrchr(text, '.', len);
	if (!dot || dot + 1 == text + len)
		return;
	/* A name that begins with its only dot has no extension: accept the whole name as key. */
	bool maybe = dot == text && !sure;
	add_key(wish, (struct wish_key){
		.filter = SF_EXTENSIONS,
		.hash = segment_hash(dot + 1, (size_t)(text + len - dot - 1)),
		.or_name = maybe, .name = maybe ? segment_hash(text, len) : 0,
	});
}

/** Add the keys for names that match a pattern of fnmatch(3).  @return 0, or -1 (ENOMEM). */
static int add_pattern(struct wish *wish, const char *pattern, bool any_case)
{
	struct strbuf part = {0};
	bool stars = false;       /* the pattern has a wildcard */
	bool sure = false;        /* at least one byte of the name comes before this part */
	for (const char *p = pattern;; ++p) {
		if (*p == '\\' && p[1]) {
			strbuf_putc(&part, *++p);
			continue;
		}
		if (*p && !strchr("*?[", *p)) {
			strbuf_putc(&part, *p);
			continue;
		}
		if (part.failed)
			break;
		if (*p || stars)
			add_trigrams(wish, strbuf_str(&part), part.len, any_case);
		if (!*p && stars && !any_case)
			add_extension(wish, strbuf_str(&part), part.len, sure);
		if (!*p && !stars && any_case)
			add_trigrams(wish, strbuf_str(&part), part.len, true);
		if (!*p && !stars && !any_case && !wish->literal) {
			add_key(wish, (struct wish_key){
				.filter = SF_NAMES,
				.hash = segment_hash(strbuf_str(&part), part.len),
			});
			wish->literal = strdup(strbuf_str(&part));
			wish->literal_len = part.len;
			part.failed |= !wish->literal;
		}
		/* The rest of a pattern after "[" is not used. */
		if (!*p || *p == '[')
			break;
		stars = true;
		sure |= *p == '?' || part.len > 0;
		strbuf_reset(&part);
	}
	int rc = part.failed ? -1 : 0;
	strbuf_destroy(&part);
	return rc;
}

static void add_column(struct wish *wish, enum index_column column, struct query_range range)
{
	if (range.min == 0 && range.max == UINT64_MAX)
		return;
	assert(wish->ncolumns < WISH_COLUMNS);
	wish->columns[wish->ncolumns++] = (struct wish_column){column, range.min, range.max};
	wish->needs |= UINT32_C(1) << column;
}

static void add_times(struct wish *wish, enum index_column column, struct query_times times)
{
	add_column(wish, column, (struct query_range){
		index_from_signed(times.min), index_from_signed(times.max),
	});
}

int wish_init(struct wish *wish, const struct scan_options *options)
{
	const struct query_bounds *bounds = options->bounds;
	*wish = (struct wish){.bounds = *bounds, .exact = bounds->exact};
	wish->needs = 1 << IC_MODE | 1 << IC_FLAGS;
	add_column(wish, IC_UID, bounds->uid);
	add_column(wish, IC_GID, bounds->gid);
	add_column(wish, IC_SIZE, bounds->size);
	add_times(wish, IC_MSEC, bounds->mtime);
	add_times(wish, IC_CSEC, bounds->ctime);
	add_times(wish, IC_ASEC, bounds->atime);
	add_times(wish, IC_BSEC, bounds->btime);
	add_column(wish, IC_INO, bounds->ino);
	add_column(wish, IC_NLINK, bounds->nlink);
	wish->names = bounds->name;
	if (bounds->name && add_pattern(wish, bounds->name, bounds->any_case) != 0)
		return -1;
	/* A candidate has only one literal name: if this is the name of the bounds, the pattern is
	   not compared, and vice versa. */
	const bool literal = wish->literal;
	wish->memo = bounds->memo;
	/* With a backslash, the name that is searched for may not be what the query compares. */
	if (literal && (!bounds->literal || bounds->any_case)) {
		wish->exact = false;
		wish->memo = (struct query_memo){0};
	}
	if (!options->pattern)
		return 0;
	struct strbuf text = {0};
	wish->live = calloc(pattern_words(options->pattern), sizeof(*wish->live));
	if (!wish->live)
		return -1;
	int rc = 0;
	if (pattern_last(options->pattern, wish->live, &text, &wish->named)) {
		wish->named &= !literal;
		wish->pattern = options->pattern;
		wish->names = true;
		rc = text.failed ? -1 : 0;
		if (text.len > 0 && rc == 0)
			rc = add_pattern(wish, text.data, pattern_nocase(options->pattern));
	}
	strbuf_destroy(&text);
	if (wish->literal && !literal && bounds->name) {
		wish->exact = false;
		wish->memo = (struct query_memo){0};
	}
	return rc;
}

void wish_destroy(struct wish *wish)
{
	free(wish->live);
	free(wish->literal);
}

bool wish_has_summary(const struct wish *wish, const struct segment_summary *summary)
{
	if (wish_may_be_lost(summary->min[IC_CSEC]))
		return true;
	for (size_t i = 0; i < wish->ncolumns; ++i) {
		const struct wish_column *c = &wish->columns[i];
		if (c->column >= IC_FIRST_ZONE && c->column < IC_END_ZONE
		    && (summary->max[c->column] < c->min || summary->min[c->column] > c->max))
			return false;
	}
	return true;
}

int wish_has_filters(const struct wish *wish, struct segment *segment)
{
	for (size_t i = 0; i < wish->nkeys; ++i) {
		const struct wish_key *key = &wish->keys[i];
		int rc = segment_may_have(segment, (enum segment_filter)key->filter, key->hash);
		if (rc == 0 && key->or_name)
			rc = segment_may_have(segment, SF_NAMES, key->name);
		if (rc != 1)
			return rc;
	}
	return 1;
}

bool wish_has_name(const struct wish *wish, const char *name, size_t len)
{
	return (!wish->literal
	        || (len == wish->literal_len && memcmp(name, wish->literal, len) == 0))
	       && query_bounds_name(&wish->bounds, name, len)
	       && (!wish->pattern || pattern_step(wish->pattern, wish->live, name, len, NULL));
}

bool wish_has_row(const struct wish *wish, const struct index_row *row)
{
	unsigned type = index_row_type(row);
	bool lost = row->col[IC_FLAGS] & IF_LOST;
	if (type != DT_UNKNOWN && !(wish->bounds.types >> type & 1))
		return false;
	for (size_t i = 0; i < wish->ncolumns && !lost; ++i) {
		const struct wish_column *c = &wish->columns[i];
		if (row->col[c->column] < c->min || row->col[c->column] > c->max)
			return false;
	}
	return true;
}

enum query_value wish_within(const struct wish *wish, const struct index_row *row)
{
	if (!wish->exact || index_row_type(row) == DT_UNKNOWN || row->col[IC_FLAGS] & IF_LOST)
		return QUERY_OPEN;
	for (size_t i = 0; i < wish->ncolumns; ++i) {
		/* If the seconds are the minimum or maximum, the fraction of the second decides. */
		const struct wish_column *c = &wish->columns[i];
		if (c->column >= IC_MSEC && c->column <= IC_BSEC
		    && (row->col[c->column] == c->min || row->col[c->column] == c->max))
			return QUERY_OPEN;
	}
	return QUERY_YES;
}
