/* SPDX-License-Identifier: MIT */
/*
 * Patterns: alternatives of components, and the states of a walk.
 *
 * The components of all alternatives stand in one row, each a place:
 *
 *      pattern     tmp/foo | /var/ * /log
 *      place        0   1      2   3   4
 *      first        x          x             live in the root
 *      always       x                        live in every directory
 *      last             x              x     a match is a result
 *
 * A state is the set of places that the entries of a directory are matched
 * with.  Where an entry matches the component at a place, it is a result if
 * that is a last one, else the next place is live below it; so are, always,
 * the first places of what is not anchored.  A state with nothing in it needs
 * no reading, and since a last place is followed by none, no directory is
 * entered one level too deep.
 *
 * What is left of a pattern at a directory (pattern_rest) can be read off its
 * state: each live place is an alternative that begins there, anchored.  This
 * is the decomposition of the paper at a mount point.
 */
#include "search/pattern.h"

#include "search/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct place {
	struct glob glob;
	uint32_t from, to;         /* of the text, from here to the alternative's end */
	bool first, last, anchored;
};

struct pattern {
	size_t words;              /* of a state */
	uint32_t nplaces;
	uint32_t alternatives;     /* that can match */
	bool recursive;            /* always is not empty */
	bool everything;           /* "*": each name matches, in each directory */
	uint64_t *first, *always, *last;
	struct place *places;
	struct glob_pool pool;
	char *text;
};

static const struct place *place_of(const struct pattern *pattern, size_t word, uint64_t bits)
{
	return &pattern->places[word * 64 + (size_t)__builtin_ctzll(bits)];
}

/* Compiling */

/** The length of a slash at a place of the text: 1, 2 if it is escaped, or 0. */
static size_t slash_at(const char *text, size_t at, size_t to)
{
	if (at < to && text[at] == '/')
		return 1;
	return to - at > 1 && text[at] == '\\' && text[at + 1] == '/' ? 2 : 0;
}

/** The length of the character at a place, with its backslash. */
static size_t escaped_at(const char *text, size_t at, size_t to)
{
	return text[at] == '\\' && to - at > 1 ? 2 : 1;
}

/** Allocate a pattern with room for all that a text can need. */
static struct pattern *pattern_new(const char *text, size_t len)
{
	size_t places = 1, sets = 0, ranges = 0;
	for (size_t i = 0; i < len; ++i) {
		places += text[i] == '/' || text[i] == '|';
		sets += text[i] == '[';
		ranges += (unsigned char)text[i] >= 0x80;
	}
	size_t words = (places + 63) / 64;

	/* Arrays in the order of their alignment. */
	struct pattern *pattern = calloc(1, sizeof(*pattern) + 3 * words * sizeof(uint64_t)
	                                 + sets * sizeof(struct glob_set)
	                                 + places * sizeof(struct place)
	                                 + ranges * sizeof(struct glob_range)
	                                 + len * sizeof(uint32_t) + len + len + places);
	if (!pattern)
		return NULL;
	pattern->first = (uint64_t *)(pattern + 1);
	pattern->always = pattern->first + words;
	pattern->last = pattern->always + words;
	pattern->pool.sets = (struct glob_set *)(pattern->last + words);
	pattern->places = (struct place *)(pattern->pool.sets + sets);
	pattern->pool.ranges = (struct glob_range *)(pattern->places + places);
	pattern->pool.tokens = (uint32_t *)(pattern->pool.ranges + ranges);
	pattern->text = (char *)(pattern->pool.tokens + len);
	pattern->pool.bytes = pattern->text + len;
	memcpy(pattern->text, text, len);
	return pattern;
}

/** Whether a component can match no name that a directory gives. */
static bool is_dots(const struct pattern *pattern, const struct glob *glob)
{
	const char *name = pattern->pool.bytes + glob->bytes;
	return glob->kind == GLOB_EXACT && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0);
}

/** Compile the alternative from..to; one that can never match gets no places. */
static int compile_alternative(struct pattern *pattern, size_t from, size_t to, unsigned flags,
                               struct pattern_error *error)
{
	const char *text = pattern->text;
	uint32_t first = pattern->nplaces;
	size_t slash = slash_at(text, from, to);
	bool anchored = slash > 0;
	bool never = false;
	size_t at = from + slash;
	for (;;) {
		size_t end = at;
		while (end < to && !(slash = slash_at(text, end, to)))
			end += escaped_at(text, end, to);
		struct place *place = &pattern->places[pattern->nplaces];
		*place = (struct place){
			.from = (uint32_t)at, .to = (uint32_t)to, .anchored = anchored,
			.first = pattern->nplaces == first,
		};
		if (end - at > PATTERN_COMPONENT_MAX) {
			*error = (struct pattern_error){.why = "a component longer than 4,096 bytes", .at = at};
			errno = E2BIG;
			return -1;
		}
		if (end > at && glob_compile(&pattern->pool, text, at, end, flags, &place->glob,
		                             error) != 0)
			return -1;
		never = never || end == at || is_dots(pattern, &place->glob);
		++pattern->nplaces;
		if (end == to)
			break;
		at = end + slash;
	}
	if (never) {
		pattern->nplaces = first;
		return 0;
	}
	++pattern->alternatives;
	pattern->places[pattern->nplaces - 1].last = true;
	return 0;
}

/** Fill the sets of places, once these are known. */
static void pattern_finish(struct pattern *pattern)
{
	pattern->words = pattern->nplaces ? (pattern->nplaces + 63) / 64 : 1;
	for (uint32_t i = 0; i < pattern->nplaces; ++i) {
		const struct place *place = &pattern->places[i];
		uint64_t bit = (uint64_t)1 << i % 64;
		if (place->first)
			pattern->first[i / 64] |= bit;
		if (place->first && !place->anchored) {
			pattern->always[i / 64] |= bit;
			pattern->recursive = true;
		}
		if (place->last)
			pattern->last[i / 64] |= bit;
	}
	pattern->everything = pattern->nplaces == 1 && pattern->recursive
	                      && glob_is_any(&pattern->places[0].glob);
}

/** What is wrong with a text as a whole.  @return an errno, or 0. */
static int check_text(const char *text, size_t len, unsigned flags, struct pattern_error *error)
{
	*error = (struct pattern_error){0};
	if (flags & ~(unsigned)PATTERN_FLAGS) {
		error->why = "unknown flags";
		return EINVAL;
	}
	if (len == 0) {
		error->why = "it is empty; * is every entry";
		return EINVAL;
	}
	if (len > PATTERN_MAX) {
		error->why = "it is longer than 65,536 bytes";
		error->at = PATTERN_MAX;
		return E2BIG;
	}
	const char *nul = memchr(text, '\0', len);
	if (nul) {
		error->why = "it holds a NUL, which no name does";
		error->at = (size_t)(nul - text);
		return EINVAL;
	}
	return 0;
}

struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error)
{
	struct pattern_error unheard;
	if (!error)
		error = &unheard;
	int wrong = check_text(text, len, flags, error);
	if (wrong) {
		errno = wrong;
		return NULL;
	}
	struct pattern *pattern = pattern_new(text, len);
	if (!pattern)
		return NULL;
	for (size_t from = 0; from <= len; ) {
		size_t to = from;
		while (to < len && text[to] != '|')
			to += escaped_at(text, to, len);
		if (compile_alternative(pattern, from, to, flags, error) != 0) {
			int saved = errno;
			pattern_free(pattern);
			errno = saved;
			return NULL;
		}
		from = to + 1;
	}
	pattern_finish(pattern);
	return pattern;
}

void pattern_free(struct pattern *pattern)
{
	free(pattern);
}

/* States */

size_t pattern_words(const struct pattern *pattern)
{
	return pattern->words;
}

unsigned pattern_root(const struct pattern *pattern, uint64_t *state)
{
	memcpy(state, pattern->first, pattern->words * sizeof(*state));
	return pattern->alternatives ? PATTERN_BELOW : 0;
}

bool pattern_everything(const struct pattern *pattern)
{
	return pattern->everything;
}

unsigned pattern_step(const struct pattern *pattern, const uint64_t *state, const char *name,
                      size_t len, uint64_t *child)
{
	unsigned verdict = 0;
	uint64_t below = 0, carry = 0;
	if (pattern->everything) {
		if (child)
			child[0] = pattern->always[0];
		return PATTERN_MATCH | (child ? PATTERN_BELOW : 0);
	}
	for (size_t w = 0; w < pattern->words; ++w) {
		uint64_t live = child ? state[w] : state[w] & pattern->last[w];
		uint64_t out = pattern->always[w] | carry;
		carry = 0;
		for (; live; live &= live - 1) {
			const struct place *place = place_of(pattern, w, live);
			if (place->last && verdict & PATTERN_MATCH)
				continue;
			if (!glob_match(&pattern->pool, &place->glob, name, len, NULL))
				continue;
			uint64_t bit = live & -live;
			if (place->last) {
				verdict |= PATTERN_MATCH;
			} else {
				out |= bit << 1;
				carry |= bit >> 63;
			}
		}
		if (child)
			child[w] = out;
		below |= out;
	}
	if (child && below)
		verdict |= PATTERN_BELOW;
	return verdict;
}

unsigned pattern_walk(const struct pattern *pattern, const char *path, uint64_t *state)
{
	unsigned verdict = pattern_root(pattern, state);
	for (path += strspn(path, "/"); *path; path += strspn(path, "/")) {
		size_t len = strcspn(path, "/");
		verdict = pattern_step(pattern, state, path, len, state);
		path += len;
	}
	return verdict;
}

size_t pattern_names(const struct pattern *pattern, const uint64_t *state, const char **names,
                     size_t max)
{
	if (pattern->recursive)
		return 0;
	size_t n = 0;
	for (size_t w = 0; w < pattern->words; ++w) {
		for (uint64_t live = state[w]; live; live &= live - 1) {
			const struct glob *glob = &place_of(pattern, w, live)->glob;
			const char *name = pattern->pool.bytes + glob->bytes;
			if (glob->kind != GLOB_EXACT)
				return 0;
			size_t i = 0;
			while (i < n && strcmp(names[i], name) != 0)
				++i;
			if (i < n)
				continue;
			if (n == max)
				return 0;
			names[n++] = name;
		}
	}
	return n;
}

bool pattern_literal(const struct pattern *pattern, struct strbuf *path)
{
	if (pattern->alternatives != 1 || pattern->recursive)
		return false;
	for (uint32_t i = 0; i < pattern->nplaces; ++i) {
		if (pattern->places[i].glob.kind != GLOB_EXACT)
			return false;
	}
	for (uint32_t i = 0; i < pattern->nplaces; ++i) {
		if (i > 0)
			strbuf_putc(path, '/');
		strbuf_puts(path, pattern->pool.bytes + pattern->places[i].glob.bytes);
	}
	return true;
}

/** Append the alternatives that begin at live places, after a separator each.
    @return how many bytes these are; text may be NULL, to know only that. */
static size_t add_alternatives(const struct pattern *pattern, const uint64_t *state, bool anchored,
                               const char *separator, struct strbuf *text)
{
	size_t len = 0;
	for (size_t w = 0; w < pattern->words; ++w) {
		uint64_t always = pattern->always[w];
		for (uint64_t live = state[w] & (anchored ? ~always : always); live; live &= live - 1) {
			const struct place *place = place_of(pattern, w, live);
			size_t n = place->to - place->from;
			if (text) {
				strbuf_puts(text, separator);
				strbuf_puts(text, anchored ? "/" : "");
				strbuf_add(text, pattern->text + place->from, n);
			}
			len += strlen(separator) + anchored + n;
			separator = "|";
		}
	}
	return len;
}

int pattern_rest(const struct pattern *pattern, const uint64_t *state, struct strbuf *text)
{
	size_t len = add_alternatives(pattern, state, true, "", NULL);
	const char *separator = len ? "|" : "";
	if (len + add_alternatives(pattern, state, false, separator, NULL) > PATTERN_MAX) {
		errno = E2BIG;
		return -1;
	}
	add_alternatives(pattern, state, true, "", text);
	add_alternatives(pattern, state, false, separator, text);
	return 0;
}

/* Whole paths */

/** Take the last component off a path.
    @end [in, out]
            Where the path ends; then where that component begins.
    @return its length; 0: there is none. */
static size_t take_last(const char *path, const char **end)
{
	const char *at = *end;
	while (at > path && at[-1] == '/')
		--at;
	size_t len = 0;
	while (at > path && at[-1] != '/') {
		--at;
		++len;
	}
	*end = at;
	return len;
}

bool pattern_match(const struct pattern *pattern, const char *path)
{
	/* Alternative by alternative, each from its last component backwards. */
	const char *start = path + strspn(path, "/");
	const char *end = path + strlen(path), *at = end;
	bool matches = false;
	for (uint32_t i = pattern->nplaces; i-- > 0; ) {
		const struct place *place = &pattern->places[i];
		if (place->last) {
			at = end;
			matches = true;
		}
		if (!matches)
			continue;
		size_t len = take_last(path, &at);
		matches = len > 0 && glob_match(&pattern->pool, &place->glob, at, len, NULL);
		if (matches && place->first && (!place->anchored || at == start))
			return true;
	}
	return false;
}
