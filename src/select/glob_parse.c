/* SPDX-License-Identifier: MIT */
/*
 * Convert the text of a pattern to tokens, one for each character or wildcard.
 */
#include "select/glob_impl.h"

#include "base/fail.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

struct parser {
	struct glob_pool *pool;
	const char *text;
	size_t at, to;
	bool nocase;
	uint32_t run;                  /* offset in pool->bytes of the first literal byte that has
	                                  no token yet */
	uint32_t first;                /* index in pool->tokens of the component's first token */
	struct glob_brace *braces;     /* NULL: no automaton is made; adjacent stars become one
	                                  token */
	struct pattern_error *error;
};

static int refuse(struct parser *p, size_t at, const char *why)
{
	*p->error = (struct pattern_error){.why = why, .at = at};
	return fail(EINVAL);
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
	if (to >= 0x80 && pool->ranges) {
		pool->ranges[pool->nranges++] = (struct glob_range){from, to};
		++set->nranges;
	}
}

/** Parse a character class, such as [:alpha:], at p->at.
    @return 1; 0: the text is not a class, but ordinary characters; -1: unknown class. */
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
		*code = utf8_code(text + inner, p->to - inner, &len);
		if (p->to - inner - len >= 2 && memcmp(text + inner + len, close, 2) == 0) {
			p->at = inner + len + 2;
			return 0;
		}
		/* Refuse a name, such as [.hyphen.].  Other text consists of ordinary
		   characters. */
		size_t end = inner;
		while (end < p->to && (isalnum((unsigned char)text[end]) || text[end] == '-'))
			++end;
		if (end - inner > 1 && p->to - end >= 2 && memcmp(text + end, close, 2) == 0)
			return refuse(p, p->at, "[= =] and [. .] hold one character; \\[ is the "
			              "character itself");
	}
	*code = utf8_code(text + p->at, p->to - p->at, &len);
	p->at += len;
	return 0;
}

/** Parse a bracket expression; p->at is after the [. */
static int parse_bracket(struct parser *p, struct glob_set *set)
{
	struct glob_pool *pool = p->pool;
	*set = (struct glob_set){.ranges = pool->nranges};
	size_t open = p->at - 1;
	set->negated = p->at < p->to && (p->text[p->at] == '!' || p->text[p->at] == '^');
	p->at += set->negated;
	for (size_t first = p->at; p->at < p->to; ) {
		if (p->text[p->at] == ']' && p->at > first) {
			++p->at;
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

/** Refuse a backslash at the end of the text. */
static int refuse_end(struct parser *p)
{
	return refuse(p, p->at - 1, "it ends in a backslash; \\\\ is the character itself");
}

size_t glob_atom_end(const char *text, size_t at, size_t to, struct pattern_error *error)
{
	struct glob_pool none = {0};
	struct glob_set set;
	struct parser p = {
		.pool = &none, .text = text, .at = at + 1, .to = to, .error = error,
	};
	if (text[at] == '[')
		return parse_bracket(&p, &set) == 0 ? p.at : 0;
	if (text[at] == '\\' && p.at == to)
		return refuse_end(&p) == 0;
	return text[at] == '\\' ? p.at + 1 : p.at;
}

/* Tokens */

/** Make tokens for the literal bytes from p->run on.  With PATTERN_NOCASE, also convert these bytes
    to lowercase. */
static void end_run(struct parser *p)
{
	struct glob_pool *pool = p->pool;
	const uint32_t from = p->run, token = pool->ntokens;
	size_t len;
	for (; p->run < pool->nbytes; p->run += (uint32_t)len) {
		uint32_t code = utf8_code(pool->bytes + p->run, pool->nbytes - p->run, &len);
		add_token(p, TOKEN(TOKEN_CHAR, p->nocase ? casefold_code(code) : code));
	}
	if (!p->nocase)
		return;
	char *to = pool->bytes + from;
	for (uint32_t i = token; i < pool->ntokens; ++i)
		to = utf8_put(to, TOKEN_VALUE(pool->tokens[i]));
	pool->nbytes = p->run = (uint32_t)(to - pool->bytes);
}

/** Whether the component has a last token and this token is of a type. */
static bool last_is(const struct parser *p, uint32_t type)
{
	const struct glob_pool *pool = p->pool;
	return pool->ntokens > p->first && TOKEN_TYPE(pool->tokens[pool->ntokens - 1]) == type;
}

/** Add a star.  In a component, the star replaces the stars and TOKEN_OPTIONAL before it. */
static void add_star(struct parser *p)
{
	while (!p->braces && (last_is(p, TOKEN_OPTIONAL) || last_is(p, TOKEN_STAR)))
		--p->pool->ntokens;
	add_token(p, TOKEN(TOKEN_STAR, 0));
}

static void add_question(struct parser *p, unsigned flags)
{
	if (!(flags & PATTERN_PAPER_Q))
		add_token(p, TOKEN(TOKEN_ANY, 0));
	else if (p->braces || !last_is(p, TOKEN_STAR))
		add_token(p, TOKEN(TOKEN_OPTIONAL, 0));
}

/** Add the tokens of a brace, comma or slash, which is the character before p->at. */
static void add_brace(struct parser *p)
{
	struct glob_brace *braces = p->braces;
	size_t at = p->at - 1;
	char c = p->text[at];
	if (c == '/')
		add_token(p, TOKEN(TOKEN_SLASH, (uint32_t)p->at));
	else if (c == ',')
		add_token(p, TOKEN(TOKEN_JUMP, braces[at].close + 1));
	braces[p->at].token = p->pool->ntokens;
	uint32_t next = c == '/' || c == '}' ? 0 : braces[at].next;
	if (next && p->text[next] == ',')
		add_token(p, TOKEN(TOKEN_SPLIT, next + 1));
}

/** Parse one wildcard, bracket or brace to a token, or add one literal byte to pool->bytes. */
static int parse_token(struct parser *p, unsigned flags)
{
	struct glob_pool *pool = p->pool;
	char c = p->text[p->at++];
	bool wild = c == '*' || c == '?' || c == '[';
	if (c == '\\') {
		if (p->at == p->to)
			return refuse_end(p);
		c = p->text[p->at++];
	}
	bool brace = p->braces && (c == '/' || p->braces[p->at - 1].close);
	if (wild || brace)
		end_run(p);
	if (brace) {
		add_brace(p);
	} else if (!wild) {
		pool->bytes[pool->nbytes++] = c;
	} else if (c == '*') {
		add_star(p);
	} else if (c == '?') {
		add_question(p, flags);
	} else {
		if (parse_bracket(p, &pool->sets[pool->nsets]) != 0)
			return -1;
		pool->sets[pool->nsets].nocase = p->nocase;
		add_token(p, TOKEN(TOKEN_SET, pool->nsets++));
	}
	return 0;
}

int glob_parse(struct glob_pool *pool, const char *text, size_t from, size_t to, unsigned flags,
               struct glob_brace *braces, struct pattern_error *error)
{
	struct parser p = {
		.pool = pool, .text = text, .at = from, .to = to, .nocase = flags & PATTERN_NOCASE,
		.run = pool->nbytes, .first = pool->ntokens, .braces = braces, .error = error,
	};
	while (p.at < p.to) {
		if (parse_token(&p, flags) != 0)
			return -1;
	}
	end_run(&p);
	return 0;
}
