/* SPDX-License-Identifier: MIT */
/*
 * Matching one component of a pattern against one name.
 *
 * A component becomes tokens, one for each character or wildcard.  Literal text at its start and
 * end is compared as bytes, which is sufficient for most patterns.  The tokens between are of one
 * of these kinds:
 *
 *   words   stars and literal text: each word is searched for in turn
 *   stars   stars and tokens of one character each: what follows a star is tried at each
 *           character until it matches
 *   nfa     contains a `?` that matches zero or one character: an automaton, whose state is the
 *           set of tokens that may be next
 *
 * For words and stars the leftmost match is always the best, since the next star can match all that
 * follows; so only the last star is ever retried, and the cost is at most the length of the name
 * times that of the pattern.
 *
 * Bytes can be compared only if the literal text is valid UTF-8: then it starts and ends between
 * characters wherever it is found.  Invalid bytes (codes from GLOB_RAW on) remain tokens, since
 * `\xc3*` would otherwise match the first half of an é.
 */
#include "search/glob.h"

#include "base/escape.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

/* A token: its type, and a character or the number of a set. */
enum {
	TOKEN_CHAR,
	TOKEN_ANY,        /* one character */
	TOKEN_OPTIONAL,   /* zero or one character */
	TOKEN_SET,
	TOKEN_STAR,
};
#define TOKEN(type, value) ((uint32_t)(type) << 24 | (value))
#define TOKEN_TYPE(token) ((token) >> 24)
#define TOKEN_VALUE(token) ((token) & 0xffffff)

/* Codes for bytes outside UTF-8: in the range of surrogates, which are not characters. */
enum { GLOB_RAW = 0xdc00, GLOB_RAW_LAST = GLOB_RAW + 0xff };

/* Words in a set of positions: before each token, and after the last. */
enum { NFA_WORDS = PATTERN_COMPONENT_MAX / 64 + 1 };

struct parser {
	struct glob_pool *pool;
	const char *text;
	size_t at, to;
	uint32_t run;                  /* the first literal byte that has no token yet */
	uint32_t first;                /* the first token */
	struct pattern_error *error;
};

/** The first character of n > 0 bytes.  @len [out]  Its length in bytes. */
static uint32_t char_at(const char *str, size_t n, size_t *len)
{
	unsigned char c = *str;
	*len = 1;
	if (c < 0x80)
		return c;
	char head[5] = {0};
	memcpy(head, str, n < 4 ? n : 4);
	size_t bytes = utf8_len(head);
	if (bytes == 0)
		return GLOB_RAW + c;
	*len = bytes;
	uint32_t code = c & 0xffu >> (bytes + 1);
	for (size_t i = 1; i < bytes; ++i)
		code = code << 6 | (str[i] & 0x3f);
	return code;
}

/** Whether a token is a character of valid UTF-8. */
static bool is_plain(uint32_t token)
{
	uint32_t code = TOKEN_VALUE(token);
	return TOKEN_TYPE(token) == TOKEN_CHAR && (code < GLOB_RAW || code > GLOB_RAW_LAST);
}

/** The length in bytes of a character of valid UTF-8. */
static uint16_t plain_len(uint32_t token)
{
	uint32_t code = TOKEN_VALUE(token);
	return (uint16_t)(1 + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000));
}

static int refuse(struct parser *p, size_t at, const char *why)
{
	*p->error = (struct pattern_error){.why = why, .at = at};
	errno = EINVAL;
	return -1;
}

static void add_token(struct parser *p, uint32_t token)
{
	p->pool->tokens[p->pool->ntokens++] = token;
}

/* Brackets */

static void set_add(struct glob_pool *pool, struct glob_set *set, uint32_t from, uint32_t to)
{
	for (uint32_t c = from; c <= to && c < 0x80; ++c)
		set->ascii[c / 64] |= (uint64_t)1 << c % 64;
	if (to >= 0x80) {
		pool->ranges[pool->nranges++] = (struct glob_range){from, to};
		++set->nranges;
	}
}

static bool set_has(const struct glob_pool *pool, const struct glob_set *set, uint32_t code)
{
	if (code < 0x80)
		return (set->ascii[code / 64] >> code % 64 & 1) != set->negated;
	for (uint32_t i = 0; i < set->nranges; ++i) {
		const struct glob_range *range = &pool->ranges[set->ranges + i];
		if (code >= range->from && code <= range->to)
			return !set->negated;
	}
	return set->negated;
}

/** Parse the class at p->at.  @return 1; 0: not a class, but ordinary characters; or -1. */
static int parse_class(struct parser *p, struct glob_set *set)
{
	static const struct {
		const char *name;
		int (*has)(int c);
	} classes[] = {
		{"alnum", isalnum}, {"alpha", isalpha}, {"blank", isblank}, {"cntrl", iscntrl},
		{"digit", isdigit}, {"graph", isgraph}, {"lower", islower}, {"print", isprint},
		{"punct", ispunct}, {"space", isspace}, {"upper", isupper}, {"xdigit", isxdigit},
	};
	size_t name = p->at + 2, end = name;
	while (end < p->to && p->text[end] >= 'a' && p->text[end] <= 'z')
		++end;
	if (end == name || p->to - end < 2 || memcmp(p->text + end, ":]", 2) != 0)
		return 0;
	for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); ++i) {
		if (strncmp(classes[i].name, p->text + name, end - name) != 0
		    || classes[i].name[end - name])
			continue;
		for (int c = 1; c < 0x80; ++c) {
			if (classes[i].has(c))
				set_add(p->pool, set, (uint32_t)c, (uint32_t)c);
		}
		p->at = end + 2;
		return 1;
	}
	return refuse(p, p->at, "unknown character class; must be one of [:alnum:], [:alpha:], "
	              "[:blank:], [:cntrl:], [:digit:], [:graph:], [:lower:], [:print:], "
	              "[:punct:], [:space:], [:upper:] and [:xdigit:]");
}

/** Parse one character of a bracket: c, \c, [=c=] or [.c.]. */
static int parse_member(struct parser *p, uint32_t *code)
{
	const char *text = p->text;
	size_t len;
	if (text[p->at] == '\\' && p->to - p->at > 1) {
		++p->at;
	} else if (text[p->at] == '[' && p->to - p->at > 4
	           && (text[p->at + 1] == '=' || text[p->at + 1] == '.')) {
		char close[2] = {text[p->at + 1], ']'};
		size_t inner = p->at + 2;
		*code = char_at(text + inner, p->to - inner, &len);
		if (p->to - inner - len >= 2 && memcmp(text + inner + len, close, 2) == 0) {
			p->at = inner + len + 2;
			return 0;
		}
		/* A name, such as [.hyphen.]; otherwise ordinary characters. */
		size_t end = inner;
		while (end < p->to && (isalnum((unsigned char)text[end]) || text[end] == '-'))
			++end;
		if (end - inner > 1 && p->to - end >= 2 && memcmp(text + end, close, 2) == 0)
			return refuse(p, p->at, "[= =] and [. .] hold one character; \\[ is the "
			              "character itself");
	}
	*code = char_at(text + p->at, p->to - p->at, &len);
	p->at += len;
	return 0;
}

/** Parse a bracket expression; p->at is after the [. */
static int parse_bracket(struct parser *p)
{
	struct glob_pool *pool = p->pool;
	struct glob_set *set = &pool->sets[pool->nsets];
	*set = (struct glob_set){.ranges = pool->nranges};
	size_t open = p->at - 1;
	set->negated = p->at < p->to && (p->text[p->at] == '!' || p->text[p->at] == '^');
	p->at += set->negated;
	for (size_t first = p->at; p->at < p->to; ) {
		if (p->text[p->at] == ']' && p->at > first) {
			++p->at;
			add_token(p, TOKEN(TOKEN_SET, pool->nsets++));
			return 0;
		}
		if (p->to - p->at > 1 && p->text[p->at] == '[' && p->text[p->at + 1] == ':') {
			int class = parse_class(p, set);
			if (class > 0)
				continue;
			if (class < 0)
				return -1;
		}
		size_t begin = p->at;
		uint32_t from;
		if (parse_member(p, &from) != 0)
			return -1;
		uint32_t to = from;
		if (p->to - p->at > 1 && p->text[p->at] == '-' && p->text[p->at + 1] != ']') {
			++p->at;
			if (parse_member(p, &to) != 0)
				return -1;
		}
		if (to < from)
			return refuse(p, begin, "a range that ends before it begins; \\- is the "
			              "character itself");
		set_add(pool, set, from, to);
	}
	return refuse(p, open, "no ] closes this [ before the next / or |; write \\[ for the "
	              "character itself");
}

/* Compiling */

/** Make tokens for the literal bytes that have none yet. */
static void end_run(struct parser *p)
{
	const struct glob_pool *pool = p->pool;
	size_t len;
	for (; p->run < pool->nbytes; p->run += (uint32_t)len)
		add_token(p, TOKEN(TOKEN_CHAR, char_at(pool->bytes + p->run,
		                                       pool->nbytes - p->run, &len)));
}

/** Whether the last token of the component, if any, is of a type. */
static bool last_is(const struct parser *p, uint32_t type)
{
	const struct glob_pool *pool = p->pool;
	return pool->ntokens > p->first && TOKEN_TYPE(pool->tokens[pool->ntokens - 1]) == type;
}

/** Add a star.  It replaces preceding stars and optional tokens. */
static void add_star(struct parser *p)
{
	while (last_is(p, TOKEN_OPTIONAL) || last_is(p, TOKEN_STAR))
		--p->pool->ntokens;
	add_token(p, TOKEN(TOKEN_STAR, 0));
}

static void add_question(struct parser *p, unsigned flags)
{
	if (!(flags & PATTERN_PAPER_Q))
		add_token(p, TOKEN(TOKEN_ANY, 0));
	else if (!last_is(p, TOKEN_STAR))
		add_token(p, TOKEN(TOKEN_OPTIONAL, 0));
}

/** Parse the text into tokens. */
static int parse(struct parser *p, unsigned flags)
{
	struct glob_pool *pool = p->pool;
	while (p->at < p->to) {
		char c = p->text[p->at++];
		if (c == '\\') {
			if (p->at == p->to)
				return refuse(p, p->at - 1, "it ends in a backslash; \\\\ is "
				              "the character itself");
			c = p->text[p->at++];
		} else if (c == '*' || c == '?' || c == '[') {
			end_run(p);
			if (c == '*')
				add_star(p);
			else if (c == '?')
				add_question(p, flags);
			else if (parse_bracket(p) != 0)
				return -1;
			continue;
		}
		pool->bytes[pool->nbytes++] = c;
	}
	end_run(p);
	return 0;
}

/** The kind of n tokens between prefix and suffix. */
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

/** Replace n tokens by the lengths of the words in them.  @return the number of words. */
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
	struct parser p = {
		.pool = pool, .text = text, .at = from, .to = to,
		.run = pool->nbytes, .first = pool->ntokens, .error = error,
	};
	*glob = (struct glob){.bytes = pool->nbytes, .tokens = pool->ntokens};
	if (parse(&p, flags) != 0)
		return -1;
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
	return 0;
}

/* Matching */

/** Find a word.  For short names this is faster than memmem(), which prepares its search. */
static const char *find_word(const char *str, const char *end, const char *word, size_t len)
{
	while ((size_t)(end - str) >= len) {
		const char *at = memchr(str, *word, (size_t)(end - str) - len + 1);
		if (!at || memcmp(at, word, len) == 0)
			return at;
		str = at + 1;
	}
	return NULL;
}

/** Whether n bytes contain all words in order. */
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

/** Whether tokens without TOKEN_OPTIONAL match n bytes. */
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
		           && token_takes(pool, *token, char_at(str, (size_t)(end - str), &len))) {
			++token;
			str += len;
		} else {
			if (!after || str == end)
				return false;
			/* Let the star match one more character. */
			char_at(from, (size_t)(end - from), &len);
			from += len;
			str = from;
			token = after;
		}
	}
	return true;
}

/** Make a position live, and the positions reachable from it without a character. */
static void nfa_reach(const uint32_t *tokens, uint32_t n, uint64_t *live, uint32_t place)
{
	for (;; ++place) {
		uint64_t bit = (uint64_t)1 << place % 64;
		if (live[place / 64] & bit)
			return;
		live[place / 64] |= bit;
		if (place == n || (TOKEN_TYPE(tokens[place]) != TOKEN_STAR
		                   && TOKEN_TYPE(tokens[place]) != TOKEN_OPTIONAL))
			return;
	}
}

/** Whether the tokens match n bytes. */
static bool match_nfa(const struct glob_pool *pool, const struct glob *glob, const char *str,
                      size_t n)
{
	const uint32_t *tokens = pool->tokens + glob->tokens;
	uint32_t last = glob->ntokens;
	size_t words = last / 64 + 1;
	uint64_t sets[2][NFA_WORDS], *live = sets[0], *next = sets[1];
	bool star_ends = TOKEN_TYPE(tokens[last - 1]) == TOKEN_STAR;
	memset(live, 0, words * sizeof(*live));
	nfa_reach(tokens, last, live, 0);
	for (size_t len; n > 0; str += len, n -= len) {
		if (star_ends && live[last / 64] >> last % 64 & 1)
			return true;
		uint32_t code = char_at(str, n, &len);
		bool any = false;
		memset(next, 0, words * sizeof(*next));
		for (size_t w = 0; w < words; ++w) {
			for (uint64_t bits = live[w]; bits; bits &= bits - 1) {
				uint32_t place = (uint32_t)(w * 64 + (size_t)__builtin_ctzll(bits));
				if (place == last)
					break;
				if (!token_takes(pool, tokens[place], code))
					continue;
				nfa_reach(tokens, last, next,
				          place + (TOKEN_TYPE(tokens[place]) != TOKEN_STAR));
				any = true;
			}
		}
		if (!any)
			return false;
		uint64_t *swap = live;
		live = next;
		next = swap;
	}
	return live[last / 64] >> last % 64 & 1;
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
