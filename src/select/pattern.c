/* SPDX-License-Identifier: MIT */
/*
 * Patterns: alternatives of components, matched by a nondeterministic automaton.
 *
 * Each component is a state.  The components that may begin at one offset of the pattern (a place,
 * see expand.h) are a range of states:
 *
 *      pattern     tmp/foo | /{var,usr/lib}/ * /log/ **
 *      state        0   1      2   3   4    5   6    7
 *      first        x          x   x                      live in the root
 *      always       x                                     live in every directory
 *      last             x                           x     a match is a result
 *      next         1          5   4   5    6   7   7     live below a match
 *
 * The entries of a directory are matched against its live states.  An entry that matches a last
 * state is a result; otherwise the next states are live below the entry.  The first states of
 * alternatives that are not anchored are always live.  A directory without live states need not be
 * read, and because no state follows a last one, no directory is entered one level too deep.
 *
 * `**` is a state that matches every name and follows itself.  Where it is live, the states after
 * it (`skip`) are live as well, since `**` may stand for no component.  The next states of all
 * other states are later ones.
 *
 * The states of the pattern of excluded entries come first.  An entry that matches a last state of
 * that pattern is neither a result nor entered.
 *
 * If braces have too many combinations for one state each (expand.c), the place is one state.  All
 * live states of this kind are matched together by an automaton of characters, which contains the
 * whole pattern; the slashes and ends that the automaton reaches determine the next states.
 */
#include "select/pattern.h"

#include "base/casefold.h"
#include "base/fail.h"
#include "select/expand.h"
#include "select/glob_impl.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Maximum bytes of a name that are compared with PATTERN_NOCASE; names of Linux are shorter. */
enum { NAME_LONGEST = 4096 };

/** n states, from the index `first` on. */
struct state_range {
	uint32_t first, n;
};

struct pattern_state {
	struct glob glob;
	struct state_range next;
	struct state_range skip;   /* states after a `**` */
	bool last, excludes;
	bool ends;                 /* a last state without next states */
	bool automaton;            /* matched by the automaton, from the token glob.tokens on */
};

/** Invariants (pattern_check()): `words` words have a bit for each state.  The next states of a
    state are later ones, except that a `**` follows itself.  No state follows a last state, except
    a `**`.  Each array ends before the next array in the same memory begins. */
struct pattern {
	size_t words;              /* number of 64-bit words of a set of states */
	uint32_t nstates;
	bool possible;             /* some path can match */
	bool recursive;            /* a state of the pattern of results is live in every
	                              directory */
	bool everything;           /* matches every name in every directory */
	bool exclude, nocase, period;
	bool has_depths;           /* a state is a ** */
	uint64_t *first, *always, *last, *depths, *finds;   /* sets of states; depths: each `**`;
	                                                       finds: all states that do not
	                                                       exclude */
	struct pattern_state *states;
	struct glob_pool pool;
	struct glob_pool whole;    /* tokens of the automaton; ntokens 0: no automaton */
	uint32_t nexcluding;       /* number of tokens at the start of `whole` that belong to the
	                              pattern of excluded entries */
	struct state_range *ranges;   /* for each place: its states, which are next after a slash in
	                                 the automaton */
};

/** Verdict of step_whole(): the entry is excluded. */
enum { EXCLUDED = 1 << 2 };

static const struct pattern_state *state_of(const struct pattern *pattern, size_t word,
                                            uint64_t bits)
{
	return &pattern->states[word * 64 + (size_t)__builtin_ctzll(bits)];
}

static void set_add(uint64_t *set, struct state_range range)
{
	for (uint32_t i = range.first; i < range.first + range.n; ++i)
		set[i / 64] |= (uint64_t)1 << i % 64;
}

/** Add the states that follow each live `**`. */
static void set_skip(const struct pattern *pattern, uint64_t *live)
{
	for (size_t w = 0; pattern->has_depths && w < pattern->words; ++w) {
		for (uint64_t done = 0, bits; (bits = live[w] & pattern->depths[w] & ~done);) {
			set_add(live, state_of(pattern, w, bits)->skip);
			done |= bits & -bits;
		}
	}
}

/* Compiling */

/** Numbers of array elements that a text needs. */
struct room {
	size_t sets, ranges;
};

static struct room room_of(const char *text, size_t len)
{
	struct room room = {0, 0};
	for (size_t i = 0; i < len; ++i) {
		room.sets += text[i] == '[';
		room.ranges += (unsigned char)text[i] >= 0x80;
	}
	return room;
}

/** Allocate a pattern with its arrays.
    @len  Bytes of the pattern's text. */
static struct pattern *pattern_new(const struct expansion *e, size_t len)
{
	const size_t states = e->noptions, words = states ? (states + 63) / 64 : 1;
	const size_t whole = e->automaton ? len : 0, tokens = e->automaton ? 3 * len + 1 : 0;
	const size_t places = e->automaton ? e->nplaces : 0;
	const struct room room = room_of(strbuf_str(&e->words), e->words.len);
	const struct room more = room_of(e->text, whole);

	/* The arrays follow each other in the order of their alignment. */
	struct pattern *pattern = calloc(1, sizeof(*pattern) + 5 * words * sizeof(uint64_t)
	                                 + (room.sets + more.sets) * sizeof(struct glob_set)
	                                 + states * sizeof(struct pattern_state)
	                                 + places * sizeof(struct state_range)
	                                 + (room.ranges + more.ranges) * sizeof(struct glob_range)
	                                 + (e->words.len + tokens) * sizeof(uint32_t)
	                                 + CASEFOLD_SIZE(e->words.len) + states
	                                 + CASEFOLD_SIZE(whole));
	if (!pattern)
		return NULL;
	pattern->words = words;
	pattern->first = (uint64_t *)(pattern + 1);
	pattern->always = pattern->first + words;
	pattern->last = pattern->always + words;
	pattern->depths = pattern->last + words;
	pattern->finds = pattern->depths + words;
	pattern->pool.sets = (struct glob_set *)(pattern->finds + words);
	pattern->whole.sets = pattern->pool.sets + room.sets;
	pattern->states = (struct pattern_state *)(pattern->whole.sets + more.sets);
	pattern->ranges = (struct state_range *)(pattern->states + states);
	pattern->pool.ranges = (struct glob_range *)(pattern->ranges + places);
	pattern->whole.ranges = pattern->pool.ranges + room.ranges;
	pattern->pool.tokens = (uint32_t *)(pattern->whole.ranges + more.ranges);
	pattern->whole.tokens = pattern->pool.tokens + e->words.len;
	pattern->pool.bytes = (char *)(pattern->whole.tokens + tokens);
	pattern->whole.bytes = pattern->pool.bytes + CASEFOLD_SIZE(e->words.len) + states;
	pattern->nstates = e->noptions;
	return pattern;
}

/** Get the states of a place.  Options are in reverse order, states are not. */
static struct state_range range_of(const struct expansion *e, uint32_t place)
{
	if (place == EXPAND_END)
		return (struct state_range){0, 0};
	const struct expand_place *p = &e->places[place];
	return (struct state_range){e->noptions - p->option - p->noptions, p->noptions};
}

/** Make a state for each option. */
static void make_states(struct pattern *pattern, const struct expansion *e, unsigned flags)
{
	struct pattern_error ignored;
	for (uint32_t i = 0; i < e->noptions; ++i) {
		const struct expand_option *option = &e->options[e->noptions - 1 - i];
		const struct expand_place *place = &e->places[option->place];
		struct pattern_state *state = &pattern->states[i];
		struct state_range next = range_of(e, option->next);
		bool depths = option->kind == EXPAND_DEPTHS;
		*state = (struct pattern_state){
			.next = depths ? (struct state_range){i, 1} : next,
			.skip = depths ? next : (struct state_range){0, 0},
			.last = option->next == EXPAND_END, .excludes = place->excludes,
			.ends = option->next == EXPAND_END && !depths,
			.automaton = option->kind == EXPAND_AUTOMATON,
		};
		if (state->automaton)   /* as a component, the state matches no name: it is
		                           GLOB_EXACT, "" */
			state->glob.tokens = e->braces[place->at].token;
		else
			glob_compile(&pattern->pool, strbuf_str(&e->words), option->from,
			             option->to, flags, &state->glob, &ignored);
		uint64_t bit = (uint64_t)1 << i % 64;
		if (state->last)
			pattern->last[i / 64] |= bit;
		if (!state->excludes)
			pattern->finds[i / 64] |= bit;
		if (state->skip.n) {
			pattern->depths[i / 64] |= bit;
			pattern->has_depths = true;
		}
	}
}

/** Make the automaton from the alternatives that have an EXPAND_AUTOMATON. */
static void make_automaton(struct pattern *pattern, const struct expansion *e, unsigned flags)
{
	struct glob_pool *whole = &pattern->whole;
	for (uint32_t first = 0, end; first < e->nplaces; first = end) {
		const struct expand_place *place = &e->places[first];
		bool needed = false;
		for (end = first; end < e->nplaces && e->places[end].to == place->to; ++end) {
			const struct expand_option *option = &e->options[e->places[end].option];
			for (uint32_t i = 0; i < e->places[end].noptions; ++i)
				needed |= option[i].kind == EXPAND_AUTOMATON;
		}
		if (needed)
			glob_automaton(whole, e->text, place->at, place->to, flags, e->braces);
		if (place->excludes)
			pattern->nexcluding = whole->ntokens;
	}
	for (uint32_t i = 0; i < whole->ntokens; ++i) {
		uint32_t *token = &whole->tokens[i];
		if (TOKEN_TYPE(*token) == TOKEN_SLASH)
			*token = TOKEN(TOKEN_SLASH, e->place_at[TOKEN_VALUE(*token)]);
	}
	for (uint32_t i = 0; i < e->nplaces; ++i)
		pattern->ranges[i] = range_of(e, i);
}

/** Find the states that are live in the root and in every directory, and the properties of the
    pattern that depend on them. */
static void pattern_finish(struct pattern *pattern, const struct expansion *e)
{
	for (uint32_t i = 0; i < e->nplaces; ++i) {
		const struct expand_place *place = &e->places[i];
		pattern->exclude |= place->excludes && place->noptions;
		if (place->first)
			set_add(pattern->first, range_of(e, i));
		if (place->always)
			set_add(pattern->always, range_of(e, i));
	}
	set_skip(pattern, pattern->first);
	set_skip(pattern, pattern->always);
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		const struct pattern_state *state = &pattern->states[i];
		bool always = pattern->always[i / 64] >> i % 64 & 1;
		pattern->possible |= !state->excludes && pattern->first[i / 64] >> i % 64 & 1;
		pattern->recursive |= !state->excludes && always;
		pattern->everything |= always && state->last && !state->automaton
		                       && !pattern->exclude && glob_is_any(&state->glob);
	}
}

/** Assert the invariants of a pattern. */
static void pattern_check(const struct pattern *pattern)
{
#ifndef NDEBUG
	const struct glob_pool *pool = &pattern->pool, *whole = &pattern->whole;
	assert(pattern->words > 0 && pattern->words <= PATTERN_WORDS_MAX
	       && pattern->nstates <= pattern->words * 64);
	assert((const void *)(pool->sets + pool->nsets) <= (const void *)whole->sets
	       && (const void *)(whole->sets + whole->nsets) <= (const void *)pattern->states);
	assert(pool->ranges + pool->nranges <= whole->ranges
	       && (const void *)(whole->ranges + whole->nranges) <= (const void *)pool->tokens);
	assert(pool->tokens + pool->ntokens <= whole->tokens
	       && (const void *)(whole->tokens + whole->ntokens) <= (const void *)pool->bytes);
	assert(pool->bytes + pool->nbytes <= whole->bytes);
	assert(whole->ntokens <= GLOB_TOKENS_MAX && pattern->nexcluding <= whole->ntokens);
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		const struct pattern_state *state = &pattern->states[i];
		bool itself = state->next.n == 1 && state->next.first == i;
		const struct state_range later = itself ? state->skip : state->next;
		assert(itself || state->skip.n == 0);
		assert(later.n == 0 || (later.first > i
		                        && later.first + later.n <= pattern->nstates));
		assert(!state->last || itself || state->next.n == 0);
		assert(!state->automaton || state->glob.tokens < whole->ntokens);
	}
#else
	(void)pattern;
#endif
}

/** Check the length, the flags and the bytes of a pattern.
    @return an error number, or 0. */
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

/** Compile a text.
    @first  Number of bytes at the start that are the pattern of excluded entries, including a "|"
    at its end. */
static struct pattern *compile(const char *text, size_t len, size_t first, unsigned flags,
                               struct pattern_error *error)
{
	struct expansion e;
	struct pattern *pattern = NULL;
	if (expand(&e, text, len, first, flags, error) == 0)
		pattern = pattern_new(&e, len);
	if (pattern) {
		pattern->nocase = flags & PATTERN_NOCASE;
		pattern->period = flags & PATTERN_PERIOD;
		if (e.automaton)
			make_automaton(pattern, &e, flags);
		make_states(pattern, &e, flags);
		pattern_finish(pattern, &e);
		pattern_check(pattern);
	}
	int saved = errno;
	expand_destroy(&e);
	errno = saved;
	return pattern;
}

struct pattern *pattern_compile_excluding(const char *text, size_t len, const char *exclude,
                                          size_t exclude_len, unsigned flags,
                                          struct pattern_error *error)
{
	struct pattern_error ignored;
	if (!error)
		error = &ignored;
	int wrong = exclude ? check_text(exclude, exclude_len, flags, error) : 0;
	error->exclude = wrong;
	if (!wrong)
		wrong = check_text(text, len, flags, error);
	if (wrong)
		return fail_null(wrong);
	if (!exclude)
		return compile(text, len, 0, flags, error);
	size_t first = exclude_len + 1;
	char *both = malloc(first + len);
	if (!both)
		return NULL;
	memcpy(both, exclude, exclude_len);
	both[exclude_len] = '|';
	memcpy(both + first, text, len);
	struct pattern *pattern = compile(both, first + len, first, flags, error);
	int saved = errno;
	error->exclude = error->why && error->at < first;
	error->at -= error->at < first ? 0 : first;
	free(both);
	errno = saved;
	return pattern;
}

struct pattern *pattern_compile(const char *text, size_t len, unsigned flags,
                                struct pattern_error *error)
{
	return pattern_compile_excluding(text, len, NULL, 0, flags, error);
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

bool pattern_possible(const struct pattern *pattern)
{
	return pattern->possible;
}

unsigned pattern_root(const struct pattern *pattern, uint64_t *live)
{
	memcpy(live, pattern->first, pattern->words * sizeof(*live));
	return pattern->possible ? PATTERN_BELOW : 0;
}

bool pattern_everything(const struct pattern *pattern)
{
	return pattern->everything;
}

/** Match an entry against the live states that the automaton matches, and add their next states to
    `child`.
    @return PATTERN_MATCH, EXCLUDED, or 0. */
__attribute__((noinline))
static unsigned step_whole(const struct pattern *pattern, const uint64_t *live, const char *name,
                           size_t len, uint64_t *child)
{
	const struct glob_pool *whole = &pattern->whole;
	const uint32_t n = whole->ntokens;
	uint64_t tokens[GLOB_SET(GLOB_TOKENS_MAX)];
	unsigned verdict = 0;
	bool any = false;
	memset(tokens, 0, GLOB_SET(n) * sizeof(*tokens));
	for (size_t w = 0; w < pattern->words; ++w) {
		for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
			const struct pattern_state *state = state_of(pattern, w, bits);
			if (state->automaton)
				set_add(tokens, (struct state_range){state->glob.tokens, 1});
			any |= state->automaton;
		}
	}
	if (!any)
		return 0;
	glob_run(whole, whole->tokens, n, tokens, name, len, pattern->period);
	for (size_t w = 0; w < GLOB_SET(n); ++w) {
		for (uint64_t bits = tokens[w]; bits; bits &= bits - 1) {
			size_t i = w * 64 + (size_t)__builtin_ctzll(bits);
			uint32_t token = i < n ? whole->tokens[i] : 0;
			if (TOKEN_TYPE(token) == TOKEN_SLASH && child)
				set_add(child, pattern->ranges[TOKEN_VALUE(token)]);
			if (TOKEN_TYPE(token) == TOKEN_END)
				verdict |= i < pattern->nexcluding ? EXCLUDED : PATTERN_MATCH;
		}
	}
	return verdict;
}

/** Do the work of pattern_step() for a name that is in lowercase if the pattern has
    PATTERN_NOCASE. */
__attribute__((always_inline))
static inline unsigned step(const struct pattern *pattern, const uint64_t *live, const char *name,
                     size_t len, uint64_t *child)
{
	unsigned verdict = 0;
	if (child)
		memcpy(child, pattern->always, pattern->words * sizeof(*child));
	for (size_t w = 0; w < pattern->words; ++w) {
		uint64_t bits = child ? live[w] : live[w] & pattern->last[w];
		for (; bits; bits &= bits - 1) {
			const struct pattern_state *state = state_of(pattern, w, bits);
			if ((state->ends && verdict & PATTERN_MATCH)
			    || !glob_match(&pattern->pool, &state->glob, name, len))
				continue;
			if (state->last && state->excludes)
				return 0;
			if (state->last)
				verdict |= PATTERN_MATCH;
			if (child)
				set_add(child, state->next);
		}
	}
	if (pattern->whole.ntokens > 0)
		verdict |= step_whole(pattern, live, name, len, child);
	if (verdict & EXCLUDED)
		return 0;
	if (!child)
		return verdict;
	set_skip(pattern, child);
	if (pattern->recursive)
		return verdict | PATTERN_BELOW;
	uint64_t below = 0;
	for (size_t w = 0; w < pattern->words; ++w)
		below |= child[w] & pattern->finds[w];
	return verdict | (below ? PATTERN_BELOW : 0);
}

/** Do the work of pattern_step() with PATTERN_NOCASE: convert the name to lowercase. */
__attribute__((noinline))
static unsigned step_nocase(const struct pattern *pattern, const uint64_t *live, const char *name,
                            size_t len, uint64_t *child)
{
	char lower[CASEFOLD_SIZE(NAME_LONGEST)];
	len = casefold_text(name, len < NAME_LONGEST ? len : NAME_LONGEST, lower);
	return step(pattern, live, lower, len, child);
}

unsigned pattern_step(const struct pattern *pattern, const uint64_t *live, const char *name,
                      size_t len, uint64_t *child)
{
	assert(child != live);
	if (pattern->everything) {
		if (child)
			memcpy(child, pattern->always, pattern->words * sizeof(*child));
		return PATTERN_MATCH | (child ? PATTERN_BELOW : 0);
	}
	return pattern->nocase ? step_nocase(pattern, live, name, len, child)
	                       : step(pattern, live, name, len, child);
}

bool pattern_nocase(const struct pattern *pattern)
{
	return pattern->nocase;
}

/** Append literal bytes to a pattern of fnmatch(3). */
static void put_escaped(struct strbuf *text, const char *bytes, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if (bytes[i] && strchr("*?[\\", bytes[i]))
			strbuf_putc(text, '\\');
		strbuf_putc(text, bytes[i]);
	}
}

unsigned pattern_last_step(const struct pattern *pattern, const uint64_t *live)
{
	uint64_t last = 0;
	for (size_t w = 0; w < pattern->words; ++w)
		last |= live[w] & pattern->last[w];
	return last ? PATTERN_MATCH : 0;
}

bool pattern_last(const struct pattern *pattern, uint64_t *live, struct strbuf *text, bool *sole)
{
	const struct pattern_state *last = NULL;
	unsigned n = 0;
	bool excludes = false;
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		const struct pattern_state *state = &pattern->states[i];
		/* The last components within an automaton are not determined; a last ** matches any
		   name. */
		if (state->automaton || (state->last && state->skip.n))
			return false;
		if (state->last && !state->excludes && glob_is_any(&state->glob))
			return false;
		if (state->last && !state->excludes) {
			last = state;
			++n;
		}
		excludes |= state->excludes;
	}
	*sole = n == 1 && !excludes;
	memset(live, 0, pattern->words * sizeof(*live));
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		if (pattern->states[i].last && !pattern->states[i].excludes)
			live[i / 64] |= (uint64_t)1 << i % 64;
	}
	if (n != 1)
		return true;
	const struct glob *glob = &last->glob;
	const char *bytes = pattern->pool.bytes + glob->bytes;
	if (glob->kind == GLOB_EXACT) {
		put_escaped(text, bytes, glob->nbytes);
		return true;
	}
	put_escaped(text, bytes, glob->nprefix);
	strbuf_putc(text, '*');
	const char *word = bytes + glob->nprefix;
	for (uint32_t i = 0; glob->kind == GLOB_WORDS && i < glob->ntokens; ++i) {
		size_t len = pattern->pool.tokens[glob->tokens + i];
		put_escaped(text, word, len);
		strbuf_putc(text, '*');
		word += len;
	}
	put_escaped(text, bytes + glob->nbytes - glob->nsuffix, glob->nsuffix);
	return true;
}

bool pattern_literal(const struct pattern *pattern, struct strbuf *path)
{
	if (pattern->recursive || pattern->exclude || pattern->nocase || !pattern->nstates)
		return false;
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		const struct pattern_state *state = &pattern->states[i];
		bool first = pattern->first[i / 64] >> i % 64 & 1, last = i == pattern->nstates - 1;
		if (state->automaton || state->glob.kind != GLOB_EXACT || first != (i == 0)
		    || state->last != last
		    || (!last && (state->next.first != i + 1 || state->next.n != 1)))
			return false;
	}
	for (uint32_t i = 0; i < pattern->nstates; ++i) {
		if (i > 0)
			strbuf_putc(path, '/');
		strbuf_puts(path, pattern->pool.bytes + pattern->states[i].glob.bytes);
	}
	return true;
}
