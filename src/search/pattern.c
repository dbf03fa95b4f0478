/* SPDX-License-Identifier: MIT */
/*
 * Patterns: alternatives of components, matched by a nondeterministic automaton.
 *
 * The components of all alternatives form one sequence; each component is a state:
 *
 *      pattern     tmp/foo | /var/ * /log
 *      state        0   1      2   3   4
 *      first        x          x             live in the root
 *      always       x                        live in every directory
 *      last             x              x     a match is a result
 *
 * The entries of a directory are matched against its live states.  An entry that matches a last
 * state is a result; otherwise the next state is live below the entry.  The first states of
 * alternatives that are not anchored are always live.  A directory without live states need not be
 * read, and because no state follows a last one, no directory is entered one level too deep.
 */
#include "search/pattern.h"

#include "search/glob.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct pattern_state {
	struct glob glob;
	bool first, last, anchored;
};

struct pattern {
	size_t words;              /* in a set of states */
	uint32_t nstates;
	uint32_t alternatives;     /* those that can match */
	bool recursive;            /* at least one state is always live */
	bool everything;           /* "*": matches every name in every directory */
	uint64_t *first, *always, *last;
	struct pattern_state *states;
	struct glob_pool pool;
	char *text;
};

static const struct pattern_state *state_of(const struct pattern *pattern, size_t word,
                                            uint64_t bits)
{
	return &pattern->states[word * 64 + (size_t)__builtin_ctzll(bits)];
}

/* Compiling */

/** The length of the slash at text[at]: 1, 2 if it is escaped, 0 if it is not a slash. */
static size_t slash_at(const char *text, size_t at, size_t to)
{
	if (at < to && text[at] == '/')
		return 1;
	return to - at > 1 && text[at] == '\\' && text[at + 1] == '/' ? 2 : 0;
}

/** The length of the character at text[at], including its backslash. */
static size_t escaped_at(const char *text, size_t at, size_t to)
{
	return text[at] == '\\' && to - at > 1 ? 2 : 1;
}

/** Allocate a pattern with enough room for a text. */
static struct pattern *pattern_new(const char *text, size_t len)
{
	size_t states = 1, sets = 0, ranges = 0;
	for (size_t i = 0; i < len; ++i) {
		states += text[i] == '/' || text[i] == '|';
		sets += text[i] == '[';
		ranges += (unsigned char)text[i] >= 0x80;
	}
	size_t words = (states + 63) / 64;

	/* Arrays ordered by alignment. */
	struct pattern *pattern = calloc(1, sizeof(*pattern) + 3 * words * sizeof(uint64_t)
	                                 + sets * sizeof(struct glob_set)
	                                 + states * sizeof(struct pattern_state)
	                                 + ranges * sizeof(struct glob_range)
	                                 + len * sizeof(uint32_t) + len + len + states);
	if (!pattern)
		return NULL;
	pattern->first = (uint64_t *)(pattern + 1);
	pattern->always = pattern->first + words;
	pattern->last = pattern->always + words;
	pattern->pool.sets = (struct glob_set *)(pattern->last + words);
	pattern->states = (struct pattern_state *)(pattern->pool.sets + sets);
	pattern->pool.ranges = (struct glob_range *)(pattern->states + states);
	pattern->pool.tokens = (uint32_t *)(pattern->pool.ranges + ranges);
	pattern->text = (char *)(pattern->pool.tokens + len);
	pattern->pool.bytes = pattern->text + len;
	memcpy(pattern->text, text, len);
	return pattern;
}

/** Whether a component is "." or "..", which are never matched. */
static bool is_dots(const struct pattern *pattern, const struct glob *glob)
{
	const char *name = pattern->pool.bytes + glob->bytes;
	return glob->kind == GLOB_EXACT && (strcmp(name, ".") == 0 || strcmp(name, "..") == 0);
}

/** Compile the alternative from..to; if it can never match, it gets no states. */
static int compile_alternative(struct pattern *pattern, size_t from, size_t to, unsigned flags,
                               struct pattern_error *error)
{
	const char *text = pattern->text;
	uint32_t first = pattern->nstates;
	size_t slash = slash_at(text, from, to);
	bool anchored = slash > 0;
	bool never = false;
	size_t at = from + slash;
	for (;;) {
		size_t end = at;
		while (end < to && !(slash = slash_at(text, end, to)))
			end += escaped_at(text, end, to);
		struct pattern_state *state = &pattern->states[pattern->nstates];
		*state = (struct pattern_state){
			.anchored = anchored,
			.first = pattern->nstates == first,
		};
		if (end - at > PATTERN_COMPONENT_MAX) {
			error->why = "a component is longer than 4,096 bytes";
			error->at = at;
			errno = E2BIG;
			return -1;
		}
		if (end > at && glob_compile(&pattern->pool, text, at, end, flags, &state->glob,
		                             error) != 0)
			return -1;
		never = never || end == at || is_dots(pattern, &state->glob);
		++pattern->nstates;
		if (end == to)
			break;
		at = end + slash;
	}
	if (never) {
		pattern->nstates = first;
		return 0;
	}
	++pattern->alternatives;
	pattern->states[pattern->nstates - 1].last = true;
	return 0;
}

/** Fill the sets of states. */
static void pattern_finish(struct pattern *pattern)
{
	pattern->words = pattern->nstates ? (pattern->nstates + 63) / 64 : 1;
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		const struct pattern_state *state = &pattern->states[i];
		uint64_t bit = (uint64_t)1 << i % 64;
		if (state->first)
			pattern->first[i / 64] |= bit;
		if (state->first && !state->anchored) {
			pattern->always[i / 64] |= bit;
			pattern->recursive = true;
		}
		if (state->last)
			pattern->last[i / 64] |= bit;
	}
	pattern->everything = pattern->nstates == 1 && pattern->recursive
	                      && glob_is_any(&pattern->states[0].glob);
}

/** Check the whole text.  @return an error number, or 0. */
static int check_text(const char *text, size_t len, unsigned flags, struct pattern_error *error)
{
	*error = (struct pattern_error){0};
	if (flags & ~(unsigned)PATTERN_FLAGS) {
		error->why = "unknown flags";
		return EINVAL;
	}
	if (len == 0) {
		error->why = "it is empty; * matches everything";
		return EINVAL;
	}
	if (len > PATTERN_MAX) {
		error->why = "it is longer than 65,536 bytes";
		error->at = PATTERN_MAX;
		return E2BIG;
	}
	const char *nul = memchr(text, '\0', len);
	if (nul) {
		error->why = "it contains a NUL byte";
		error->at = (size_t)(nul - text);
		return EINVAL;
	}
	return 0;
}

struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error)
{
	struct pattern_error ignored;
	if (!error)
		error = &ignored;
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

/* Matching */

size_t pattern_words(const struct pattern *pattern)
{
	return pattern->words;
}

unsigned pattern_root(const struct pattern *pattern, uint64_t *live)
{
	memcpy(live, pattern->first, pattern->words * sizeof(*live));
	return pattern->alternatives ? PATTERN_BELOW : 0;
}

bool pattern_everything(const struct pattern *pattern)
{
	return pattern->everything;
}

unsigned pattern_step(const struct pattern *pattern, const uint64_t *live, const char *name,
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
		uint64_t bits = child ? live[w] : live[w] & pattern->last[w];
		uint64_t out = pattern->always[w] | carry;
		carry = 0;
		for (; bits; bits &= bits - 1) {
			const struct pattern_state *state = state_of(pattern, w, bits);
			if (state->last && verdict & PATTERN_MATCH)
				continue;
			if (!glob_match(&pattern->pool, &state->glob, name, len))
				continue;
			uint64_t bit = bits & -bits;
			if (state->last) {
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

bool pattern_literal(const struct pattern *pattern, struct strbuf *path)
{
	if (pattern->alternatives != 1 || pattern->recursive)
		return false;
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		if (pattern->states[i].glob.kind != GLOB_EXACT)
			return false;
	}
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		if (i > 0)
			strbuf_putc(path, '/');
		strbuf_puts(path, pattern->pool.bytes + pattern->states[i].glob.bytes);
	}
	return true;
}
