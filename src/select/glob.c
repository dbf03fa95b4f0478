/* SPDX-License-Identifier: MIT */
/*
 * Matching one component of a pattern against one name.
 *
 * A component becomes tokens, one for each character or wildcard.  Literal text at its start
 * (prefix) and end (suffix) is compared as bytes, which is sufficient for most patterns.  The
 * tokens between prefix and suffix are of one of these kinds:
 *
 *   words   stars and literal text: each word is searched for in turn
 *   stars   stars and tokens of one character each: what follows a star is tried at each
 *           character until it matches
 *   nfa     contains a `?` that matches zero or one character: an automaton, whose state is the
 *           set of tokens that may be next (glob_run()); also for many braces: pattern.c
 *
 * For words and stars the leftmost match is sufficient, since the next star can match all
 * characters that follow.  So only the last star is tried at further positions, and the cost is at
 * most the product of the lengths of the name and the pattern.
 *
 * Bytes can be compared only if the literal text is valid UTF-8: wherever its bytes occur in a
 * name, they start and end at the boundary of a character.  Invalid bytes (codes from UTF8_RAW on)
 * remain tokens, since `\xc3*` would otherwise match the first half of an é.
 */
#include "select/glob_impl.h"

#include <assert.h>
#include <string.h>

/** Whether a token is a character of valid UTF-8. */
static bool is_plain(uint32_t token)
{
	uint32_t code = TOKEN_VALUE(token);
	return TOKEN_TYPE(token) == TOKEN_CHAR && (code < UTF8_RAW || code > UTF8_RAW_LAST);
}

/** The length in bytes of a character of valid UTF-8. */
static uint16_t plain_len(uint32_t token)
{
	uint32_t code = TOKEN_VALUE(token);
	return (uint16_t)(1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000));
}

/** Whether a set lists a character, before negation and without regard to nocase. */
static bool set_lists(const struct glob_pool *pool, const struct glob_set *set, uint32_t code)
{
	if (code < 0x80)
		return set->ascii[code / 64] >> code % 64 & 1;
	for (uint32_t i = 0; i < set->nranges; ++i) {
		const struct glob_range *range = &pool->ranges[set->ranges + i];
		if (code >= range->from && code <= range->to)
			return true;
	}
	return false;
}

static bool set_has(const struct glob_pool *pool, const struct glob_set *set, uint32_t code)
{
	bool has = set_lists(pool, set, code);
	if (set->nocase && !has) {
		uint32_t others[CASEFOLD_OTHERS];
		for (size_t n = casefold_others(code, others); n > 0 && !has; --n)
			has = set_lists(pool, set, others[n - 1]);
	}
	return has != set->negated;
}

/** Determine the kind of a component by the n tokens between its prefix and suffix. */
static enum glob_kind kind_of(const uint32_t *tokens, uint32_t n)
{
	enum glob_kind kind = GLOB_WORDS;
	for (uint32_t i = 0; i < n; ++i) {
		if (TOKEN_TYPE(tokens[i]) == TOKEN_OPTIONAL)
			return GLOB_NFA;
		if (TOKEN_TYPE(tokens[i]) != TOKEN_STAR && !is_plain(tokens[i]))
			kind = GLOB_STARS;
	}
	return kind;
}

/** Replace n tokens by the lengths, in bytes, of the words between stars.
    @return the number of words. */
static uint32_t make_words(uint32_t *tokens, uint32_t n)
{
	uint32_t words = 0, len = 0;
	for (uint32_t i = 0; i < n; ++i) {
		if (TOKEN_TYPE(tokens[i]) != TOKEN_STAR) {
			len += plain_len(tokens[i]);
		} else if (len) {
			tokens[words++] = len;
			len = 0;
		}
	}
	return words;
}

int glob_compile(struct glob_pool *pool, const char *text, size_t from, size_t to, unsigned flags,
                 struct glob *glob, struct pattern_error *error)
{
	*glob = (struct glob){.bytes = pool->nbytes, .tokens = pool->ntokens};
	if (glob_parse(pool, text, from, to, flags, NULL, error) != 0)
		return -1;
	assert(pool->nbytes - glob->bytes <= UINT16_MAX
	       && pool->ntokens - glob->tokens <= to - from);
	glob->nbytes = (uint16_t)(pool->nbytes - glob->bytes);
	pool->bytes[pool->nbytes++] = '\0';

	uint32_t *tokens = pool->tokens + glob->tokens;
	uint32_t n = pool->ntokens - glob->tokens;
	glob->no_period = flags & PATTERN_PERIOD && tokens[0] != TOKEN(TOKEN_CHAR, '.');

	uint32_t head = 0;
	while (head < n && TOKEN_TYPE(tokens[head]) == TOKEN_CHAR)
		++head;
	if (head == n) {
		glob->kind = GLOB_EXACT;
		pool->ntokens = glob->tokens;
		return 0;
	}
	for (head = 0; is_plain(tokens[head]); ++head)
		glob->nprefix = (uint16_t)(glob->nprefix + plain_len(tokens[head]));
	for (; is_plain(tokens[n - 1]); --n)
		glob->nsuffix = (uint16_t)(glob->nsuffix + plain_len(tokens[n - 1]));
	n -= head;
	memmove(tokens, tokens + head, n * sizeof(*tokens));
	glob->kind = kind_of(tokens, n);
	if (glob->kind == GLOB_WORDS)
		n = make_words(tokens, n);
	glob->ntokens = (uint16_t)n;
	pool->ntokens = glob->tokens + glob->ntokens;
	assert(glob->nprefix + glob->nsuffix <= glob->nbytes);
	return 0;
}

/* Matching */

/** Find a word in the bytes from `str` to `end`.  For short names this is faster than memmem(),
    which prepares tables first. */
static const char *find_word(const char *str, const char *end, const char *word, size_t len)
{
	assert(len > 0);
	while ((size_t)(end - str) >= len) {
		const char *at = memchr(str, *word, (size_t)(end - str) - len + 1);
		if (!at || memcmp(at, word, len) == 0)
			return at;
		str = at + 1;
	}
	return NULL;
}

/** Whether n bytes contain all words of a GLOB_WORDS component in order. */
static bool match_words(const struct glob_pool *pool, const struct glob *glob, const char *str,
                        size_t n)
{
	const char *end = str + n;
	const char *word = pool->bytes + glob->bytes + glob->nprefix;
	for (uint32_t i = 0; str && i < glob->ntokens; ++i) {
		size_t len = pool->tokens[glob->tokens + i];
		str = find_word(str, end, word, len);
		str = str ? str + len : NULL;
		word += len;
	}
	return str;
}

/** Whether a token matches a character. */
static bool token_takes(const struct glob_pool *pool, uint32_t token, uint32_t code)
{
	uint32_t value = TOKEN_VALUE(token);
	return TOKEN_TYPE(token) == TOKEN_SET ? set_has(pool, &pool->sets[value], code)
	       : TOKEN_TYPE(token) != TOKEN_CHAR || value == code;
}

/** Whether the tokens of a GLOB_STARS component match n bytes. */
static bool match_stars(const struct glob_pool *pool, const struct glob *glob, const char *str,
                        size_t n)
{
	const uint32_t *token = pool->tokens + glob->tokens, *last = token + glob->ntokens;
	const uint32_t *after = NULL;    /* the token after the last star */
	const char *end = str + n, *from = NULL;
	size_t len;
	while (str < end || token < last) {
		if (token < last && TOKEN_TYPE(*token) == TOKEN_STAR) {
			after = ++token;
			from = str;
			if (token == last)
				return true;
		} else if (token < last && str < end
		           && token_takes(pool, *token,
		                          utf8_code(str, (size_t)(end - str), &len))) {
			++token;
			str += len;
		} else {
			if (!after || str == end)
				return false;
			/* Let the star match one more character. */
			utf8_code(from, (size_t)(end - from), &len);
			from += len;
			str = from;
			token = after;
		}
	}
	return true;
}

static void set_put(uint64_t *set, uint32_t place)
{
	set[place / 64] |= (uint64_t)1 << place % 64;
}

/**
 * Do one step of glob_run().  Add to `live` the tokens that can be reached without reading a
 * character, then add to `next` the tokens that can follow a live token after reading `code`. Moves
 * without a character lead to later tokens, so one pass is enough.
 *
 * @code
 *         The character; UINT32_MAX: the end of the name.
 * @return whether a token was added to `next`.
 */
static bool run_step(const struct glob_pool *pool, const uint32_t *tokens, uint32_t n,
                     uint64_t *live, uint64_t *next, uint32_t code, bool period)
{
	bool passed = false;
	for (size_t w = 0; w < GLOB_SET(n); ++w) {
		for (uint64_t done = 0, bits; (bits = live[w] & ~done);) {
			done |= bits & -bits;
			uint32_t place = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(bits));
			if (place == n)
				break;
			uint32_t type = TOKEN_TYPE(tokens[place]);
			uint32_t value = TOKEN_VALUE(tokens[place]);
			/* The added token is later, so this pass has yet to visit it. */
			assert((type != TOKEN_SPLIT && type != TOKEN_JUMP)
			       || (value > place && value <= n));
			if (type == TOKEN_SPLIT || type == TOKEN_JUMP)
				set_put(live, value);
			if (type == TOKEN_SPLIT
			    || ((type == TOKEN_STAR || type == TOKEN_OPTIONAL) && !period))
				set_put(live, place + 1);
			if (code == UINT32_MAX || type >= TOKEN_SPLIT
			    || (period && type != TOKEN_CHAR)
			    || !token_takes(pool, tokens[place], code))
				continue;
			set_put(next, place + (type != TOKEN_STAR));
			passed = true;
		}
	}
	return passed;
}

void glob_run(const struct glob_pool *pool, const uint32_t *tokens, uint32_t n, uint64_t *live,
              const char *name, size_t len, bool period)
{
	const size_t size = GLOB_SET(n) * sizeof(*live);
	assert(n <= GLOB_TOKENS_MAX);
	uint64_t spare[GLOB_SET(GLOB_TOKENS_MAX)], *from = live, *to = spare;
	period = period && len > 0 && *name == '.';
	for (size_t bytes; len > 0; name += bytes, len -= bytes) {
		uint32_t code = utf8_code(name, len, &bytes);
		memset(to, 0, size);
		bool passed = run_step(pool, tokens, n, from, to, code, period);
		uint64_t *swap = from;
		from = to;
		to = swap;
		if (!passed)
			break;
		period = false;
	}
	run_step(pool, tokens, n, from, NULL, UINT32_MAX, false);
	if (from != live)
		memcpy(live, from, size);
}

/** Whether the tokens of a GLOB_NFA component match n bytes. */
static bool match_nfa(const struct glob_pool *pool, const struct glob *glob, const char *str,
                      size_t n)
{
	uint64_t live[GLOB_SET(PATTERN_COMPONENT_MAX)];
	assert(glob->ntokens <= PATTERN_COMPONENT_MAX);
	memset(live, 0, GLOB_SET(glob->ntokens) * sizeof(*live));
	live[0] = 1;
	glob_run(pool, pool->tokens + glob->tokens, glob->ntokens, live, str, n, false);
	return live[glob->ntokens / 64] >> glob->ntokens % 64 & 1;
}

void glob_automaton(struct glob_pool *pool, const char *text, size_t from, size_t to,
                    unsigned flags, struct glob_brace *braces)
{
	struct pattern_error ignored;
	uint32_t first = pool->ntokens;
	braces[from].token = first;
	glob_parse(pool, text, from, to, flags, braces, &ignored);
	pool->nbytes = 0;
	pool->tokens[pool->ntokens++] = TOKEN(TOKEN_END, 0);
	for (uint32_t i = first; i < pool->ntokens; ++i) {
		uint32_t *token = &pool->tokens[i], type = TOKEN_TYPE(*token);
		if (type == TOKEN_SPLIT || type == TOKEN_JUMP)
			*token = TOKEN(type, braces[TOKEN_VALUE(*token)].token);
	}
}

bool glob_is_any(const struct glob *glob)
{
	return glob->kind == GLOB_WORDS && glob->ntokens == 0 && glob->nbytes == 0
	       && !glob->no_period;
}

bool glob_match(const struct glob_pool *pool, const struct glob *glob, const char *name, size_t len)
{
	const char *bytes = pool->bytes + glob->bytes;
	size_t head = glob->nprefix, tail = glob->nsuffix;
	if (glob->kind == GLOB_EXACT)
		return len == glob->nbytes && memcmp(name, bytes, len) == 0;
	if (len < head + tail || (head && memcmp(name, bytes, head) != 0)
	    || (tail && memcmp(name + len - tail, bytes + glob->nbytes - tail, tail) != 0))
		return false;
	if (glob->no_period && len > 0 && name[0] == '.')
		return false;
	name += head;
	len -= head + tail;
	return glob->kind == GLOB_WORDS ? match_words(pool, glob, name, len)
	       : glob->kind == GLOB_STARS ? match_stars(pool, glob, name, len)
	       : match_nfa(pool, glob, name, len);
}
