/* SPDX-License-Identifier: MIT */
/*
 * Split a pattern into components.
 *
 *      text        /{src,lib/sub}/ * .c
 *      places       0        1     2         places follow slashes
 *      options      0: src -> 2, lib -> 1    1: sub -> 2    2: *.c -> end
 *
 * First each alternative is scanned for slashes and braces.  Then the options of each place are
 * determined, from the last place to the first, so that an option can be dropped if no path can
 * match after it.
 *
 * Braces can have exponentially many combinations.  The length of the expanded text is limited
 * (WORK, WORK_PLACE); a place that would exceed the limit becomes one option, the automaton.
 */
#include "select/expand.h"

#include "base/array.h"
#include "base/fail.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A brace whose alternatives are being tried in turn. */
struct expand_choice {
	uint32_t at;              /* offset of the brace or comma before the alternative that is
	                             being tried */
	uint32_t len;             /* bytes of the word that precede the brace */
};

enum {
	WORK = 64 * 1024,         /* limit of the bytes of expanded text, for a pattern */
	WORK_PLACE = 2048,        /* limit of the bytes of expanded text, for one place */
	WORK_BYTE = 8,            /* added to WORK for each byte of the pattern */
	WORK_PLACE_BYTE = 4,      /* added to WORK_PLACE for each byte from the place on */
	EXPANDED_MOST = PATTERN_COMPONENTS_MAX / 2,   /* number of options from which on braces are
	                                                 not expanded */
};

/** Get the length of the slash at text[at]: 1; 2 if it is escaped; 0 if text[at] is not a slash. */
static size_t slash_at(const char *text, size_t at, size_t to)
{
	if (at < to && text[at] == '/')
		return 1;
	return to - at > 1 && text[at] == '\\' && text[at + 1] == '/' ? 2 : 0;
}

/** Get the length of the byte at text[at], including a backslash before it. */
static size_t escaped_at(const char *text, size_t at, size_t to)
{
	return text[at] == '\\' && to - at > 1 ? 2 : 1;
}

static int too_big(struct pattern_error *error, const char *why, size_t at)
{
	*error = (struct pattern_error){.why = why, .at = at};
	return fail(E2BIG);
}

/* Scanning */

static int add_place(struct expansion *e, size_t at, size_t to, struct expand_place like)
{
	if (!ARRAY_ROOM(e->places, e->nplaces, &e->places_size))
		return fail(ENOMEM);
	e->place_at[at] = e->nplaces;
	like.at = (uint32_t)at;
	like.to = (uint32_t)to;
	e->places[e->nplaces++] = like;
	return 0;
}

/** Treat the brace at `open` and its commas as ordinary characters. */
static void forget_brace(struct expansion *e, uint32_t open)
{
	uint32_t at = open;
	do {
		uint32_t next = e->braces[at].next;
		e->braces[at] = (struct glob_brace){0};
		at = next;
	} while (at);
}

/** Scan one character for braces.  While a brace is open, `close` of its element is the offset of
    its last comma, or of the brace itself, and `token` is the offset, plus one, of the brace around
    it.
    @open  The offset of the innermost open brace, plus one; 0: no brace is open. */
static void scan_brace(struct expansion *e, uint32_t at, uint32_t *open)
{
	struct glob_brace *braces = e->braces, *top = *open ? &braces[*open - 1] : NULL;
	if (e->text[at] == '{') {
		braces[at] = (struct glob_brace){.close = at, .token = *open};
		*open = at + 1;
	} else if (e->text[at] == ',' && top) {
		braces[top->close].next = at;
		top->close = at;
	} else if (e->text[at] == '}' && top) {
		uint32_t brace = *open - 1;
		*open = top->token;
		if (!top->next) {
			forget_brace(e, brace);
			return;
		}
		braces[top->close].next = at;
		braces[at].close = at;
		for (; brace != at; brace = braces[brace].next)
			braces[brace].close = at;
	}
}

/** Scan the alternative from `from` to `to`: add its places, and find its braces. */
static int scan_alternative(struct expansion *e, size_t from, size_t to, bool excludes,
                            unsigned flags, struct pattern_error *error)
{
	const char *text = e->text;
	size_t slash = slash_at(text, from, to);
	struct expand_place place = {.first = true, .always = !slash, .excludes = excludes};
	uint32_t open = 0;
	for (size_t at = from + slash, end;; at = end + slash) {
		if (add_place(e, at, to, place) != 0)
			return -1;
		place.first = place.always = false;
		end = at;
		while (end < to && !(slash = slash_at(text, end, to)))
			end += escaped_at(text, end, to);
		for (size_t next; at < end; at = next) {
			next = glob_atom_end(text, at, end, error);
			if (next == 0)
				return -1;
			if (flags & PATTERN_EXTENDED)
				scan_brace(e, (uint32_t)at, &open);
		}
		if (end == to)
			break;
	}
	for (uint32_t around; open; open = around) {
		around = e->braces[open - 1].token;
		forget_brace(e, open - 1);
	}
	return 0;
}

/* Expanding */

static int add_option(struct expansion *e, struct expand_place *place, struct expand_option option,
                      const char *word, size_t len, struct pattern_error *error)
{
	if (e->noptions == PATTERN_COMPONENTS_MAX)
		return too_big(error, "more than 32,768 components, with braces expanded",
		               place->at);
	if (!ARRAY_ROOM(e->options, e->noptions, &e->options_size))
		return fail(ENOMEM);
	option.place = (uint32_t)(place - e->places);
	option.from = (uint32_t)e->words.len;
	strbuf_add(&e->words, word, len);
	option.to = (uint32_t)e->words.len;
	e->options[e->noptions++] = option;
	++place->noptions;
	e->automaton |= option.kind == EXPAND_AUTOMATON;
	return e->words.failed ? fail(ENOMEM) : 0;
}

/** Whether the rest of a path can match from a place on; true for EXPAND_END. */
static bool is_alive(const struct expansion *e, uint32_t place)
{
	return place == EXPAND_END || e->places[place].noptions > 0;
}

/** Get the place after a component that ends at the offset `at`; EXPAND_END: the alternative
    ends. */
static uint32_t place_after(const struct expansion *e, const struct expand_place *place, size_t at)
{
	size_t slash = slash_at(e->text, at, place->to);
	return slash ? e->place_at[at + slash] : EXPAND_END;
}

/** Whether a component is "", "." or "..", which match no name, or "**", which find_depths()
    handles. */
static bool is_special(const char *word, size_t len, unsigned flags)
{
	size_t dots = 0;
	if (flags & PATTERN_EXTENDED && len == 2 && memcmp(word, "**", 2) == 0)
		return true;
	for (size_t i = 0; i < len; ++i, ++dots) {
		i += word[i] == '\\';
		if (i == len || word[i] != '.')
			return false;
	}
	return dots <= 2;
}

/** Find the slashes and ends that can follow a place directly, or after nothing but stars.  An
    empty component, "{,x}/y", makes the next place live in the root, as in "/y"; "**" becomes an
    EXPAND_DEPTHS. reached[at] has bits for the number of stars between the place and the offset
    `at`: 1: none, 2: one, 4: two.
    @return 0, or -1 with error set. */
static int find_depths(struct expansion *e, struct expand_place *place,
                       struct pattern_error *error)
{
	const char *text = e->text;
	uint8_t *reached = e->reached;
	uint32_t far = place->at;
	int rc = 0;
	reached[far] = 1;
	for (uint32_t at = far; at <= far; ++at) {
		const struct glob_brace *brace = &e->braces[at];
		uint8_t stars = reached[at];
		reached[at] = 0;
		if (!stars || rc != 0)
			continue;
		uint32_t to = at;
		if (at == place->to || slash_at(text, at, place->to)) {
			uint32_t next = place_after(e, place, at);
			if (stars & 1 && place->always && next != EXPAND_END)
				e->places[next].first = true;
			if (stars & 4 && is_alive(e, next))
				rc = add_option(e, place, (struct expand_option){
					.next = next, .kind = EXPAND_DEPTHS,
				}, "*", 1, error);
		} else if (brace->close && text[at] == '{') {
			for (uint32_t next = at; text[next] != '}'; next = e->braces[next].next) {
				to = next + 1;
				reached[to] |= stars;
			}
		} else if (brace->close) {
			to = brace->close + 1;
			reached[to] |= stars;
		} else if (text[at] == '*') {
			to = at + 1;
			reached[to] |= stars << 1 & 6;
		}
		far = to > far ? to : far;
	}
	return rc;
}

/** Continue with the next alternative of the innermost brace that has further alternatives.
    @at [out]  The start of the alternative.
    @return false: all alternatives were tried. */
static bool next_choice(struct expansion *e, size_t *at)
{
	while (e->nchoices > 0) {
		struct expand_choice *choice = &e->choices[e->nchoices - 1];
		choice->at = e->braces[choice->at].next;
		if (e->text[choice->at] == ',') {
			*at = choice->at + 1;
			e->word.len = choice->len;
			return true;
		}
		--e->nchoices;
	}
	return false;
}

/** Make an option of each component that may begin at a place.
    @return 0; 1: too many combinations; -1: failed. */
static int find_words(struct expansion *e, struct expand_place *place, unsigned flags,
                      struct pattern_error *error)
{
	size_t at = place->at, to = place->to;
	size_t work = WORK_PLACE + WORK_PLACE_BYTE * (to - at);
	work = work < e->work ? work : e->work;
	e->nchoices = 0;
	strbuf_reset(&e->word);
	for (size_t next, cost; work > 0; at = next, work -= cost, e->work -= cost) {
		const struct glob_brace *brace = &e->braces[at];
		cost = 1;
		if (at == to || slash_at(e->text, at, to)) {
			uint32_t after = place_after(e, place, at);
			cost += e->word.len;
			if (cost > work || (e->nchoices > 0 && e->noptions >= EXPANDED_MOST))
				break;
			if (!is_special(strbuf_str(&e->word), e->word.len, flags)
			    && is_alive(e, after)
			    && add_option(e, place, (struct expand_option){.next = after},
			                  e->word.data, e->word.len, error) != 0)
				return -1;
			if (!next_choice(e, &next))
				return 0;
		} else if (brace->close && e->text[at] == '{') {
			if (!ARRAY_ROOM(e->choices, e->nchoices, &e->choices_size))
				return fail(ENOMEM);
			e->choices[e->nchoices++] = (struct expand_choice){
				.at = (uint32_t)at, .len = (uint32_t)e->word.len,
			};
			next = at + 1;
		} else if (brace->close) {
			next = brace->close + 1;
		} else {
			next = glob_atom_end(e->text, at, to, error);
			/* scan_alternative() has called glob_atom_end() for this offset, so it
			   cannot fail. */
			assert(next > at && next <= to);
			strbuf_add(&e->word, e->text + at, next - at);
			if (e->word.failed)
				return fail(ENOMEM);
			if (e->word.len > PATTERN_COMPONENT_MAX)
				return too_big(error, "a component is longer than 4,096 bytes",
				               place->at);
		}
	}
	return 1;
}

/** Determine the options of a place. */
static int find_options(struct expansion *e, struct expand_place *place, unsigned flags,
                        struct pattern_error *error)
{
	place->option = e->noptions;
	if (flags & PATTERN_EXTENDED && find_depths(e, place, error) != 0)
		return -1;
	const uint32_t noptions = e->noptions, own = place->noptions;
	int rc = find_words(e, place, flags, error);
	if (rc != 1)
		return rc;
	e->noptions = noptions;
	place->noptions = own;
	return add_option(e, place, (struct expand_option){
		.next = EXPAND_END, .kind = EXPAND_AUTOMATON,
	}, "", 0, error);
}

/** Assert the invariants of an expansion. */
static void expand_check(const struct expansion *e)
{
#ifndef NDEBUG
	uint32_t end = e->noptions;
	for (uint32_t i = 0; i < e->nplaces; ++i) {
		const struct expand_place *place = &e->places[i];
		assert(place->at <= place->to && e->place_at[place->at] == i);
		assert(i == 0 || e->places[i - 1].at < place->at);
		assert(place->option + place->noptions == end);
		end = place->option;
		for (uint32_t k = 0; k < place->noptions; ++k) {
			const struct expand_option *option = &e->options[place->option + k];
			assert(option->place == i && option->from <= option->to
			       && option->to <= e->words.len);
			assert(option->next == EXPAND_END
			       || (option->next > i && option->next < e->nplaces));
		}
	}
	assert(end == 0);
#else
	(void)e;
#endif
}

int expand(struct expansion *e, const char *text, size_t len, size_t first, unsigned flags,
           struct pattern_error *error)
{
	*e = (struct expansion){
		.text = text, .work = WORK + WORK_BYTE * len,
		.braces = calloc(len + 2, sizeof(*e->braces)),
		.place_at = calloc(len + 2, sizeof(*e->place_at)),
		.reached = calloc(len + 2, sizeof(*e->reached)),
	};
	if (!e->braces || !e->place_at || !e->reached)
		return fail(ENOMEM);
	for (size_t from = 0; from <= len; ) {
		/* The pattern of excluded entries ends at first - 1, also if it ends in a
		   backslash. */
		size_t to = from, end = from < first ? first - 1 : len;
		while (to < end && text[to] != '|')
			to += escaped_at(text, to, end);
		if (scan_alternative(e, from, to, from < first, flags, error) != 0)
			return -1;
		from = to + 1;
	}
	for (uint32_t i = e->nplaces; i-- > 0;) {
		if (find_options(e, &e->places[i], flags, error) != 0)
			return -1;
	}
	expand_check(e);
	return 0;
}

void expand_destroy(struct expansion *e)
{
	free(e->places);
	free(e->options);
	free(e->braces);
	free(e->place_at);
	free(e->reached);
	free(e->choices);
	strbuf_destroy(&e->words);
	strbuf_destroy(&e->word);
}
