/* SPDX-License-Identifier: MIT */
/*
 * Parse find's expression language: operators and errors of syntax.
 *
 *   list:    or { "," or }
 *   or:      and { -o and }
 *   and:     factor { [-a] factor }
 *   factor:  { ! } ( "(" list ")" | primary | -exclude factor )
 *
 * The recursion is bounded by the number of open parentheses.
 */
#include "select/query_impl.h"

#include "base/fail.h"
#include "base/words.h"

#include <assert.h>
#include <limits.h>
#include <stdlib.h>

/* Maximum number of open parentheses: evaluation recurses into them, and must not exceed the stack
   of a thread. */
enum { DEPTH_MAX = 1000 };

static struct query_node *parse_list(struct query_parser *p);

static const char *const ands = "-a -and", *const ors = "-o -or", *const nots = "! -not";

/** Get the next word; NULL: no more words.  Processes -daystart, which is not an operand and may
    stand anywhere. */
static const char *peek(struct query_parser *p)
{
	for (; p->at < p->n; ++p->at) {
		if (strcmp(p->words[p->at], "-daystart") != 0)
			return p->words[p->at];
		query_daystart(p);
	}
	return NULL;
}

static bool word_is_in(const char *word, const char *list)
{
	return word && *word && word_in(word, strlen(word), list);
}

static bool next_is(struct query_parser *p, const char *list)
{
	return word_is_in(peek(p), list);
}

/* Lists */

static struct query_node *not_closed(struct query_parser *p)
{
	return query_refuse(p, "\"(\" without its \")\"; a shell needs \\( and \\)");
}

/** Refuse an operator or a ")" where an expression must begin. */
static struct query_node *no_operand(struct query_parser *p)
{
	/* Find the word before, an operator that lacks its operand; skip -daystart. */
	p->primary = p->at;
	size_t i = p->at;
	while (i > 0 && strcmp(p->words[i - 1], "-daystart") == 0)
		--i;
	const char *before = i > 0 ? p->words[i - 1] : NULL;
	bool after = word_is_in(before, "! -not ( , -exclude") || word_is_in(before, ands)
	             || word_is_in(before, ors);
	if (p->at == p->n) {
		p->primary = i - 1;
		if (strcmp(before, "(") == 0)
			return not_closed(p);
		return query_refuse(p, "no expression follows \"%s\"; add one, or remove \"%s\"",
		                    before, before);
	}
	const char *word = p->words[p->at];
	if (strcmp(word, ")") == 0 && after && strcmp(before, "(") == 0)
		return query_refuse(p, "nothing stands between \"(\" and \")\"; add "
		                    "an expression, or remove them");
	if (strcmp(word, ")") == 0 && !(after && p->depth))
		return query_refuse(p, "\")\" without a \"(\" before it");
	if (after && strcmp(before, "(") != 0)
		return query_refuse(p, "no expression stands between \"%s\" and \"%s\"; add one, "
		                    "or remove one of them", before, word);
	return query_refuse(p, "no expression stands before \"%s\"; add one, or remove \"%s\"",
	                    word, word);
}

/** Count an open parenthesis or -exclude.
    @return false: too many are open; the error was set. */
static bool go_deeper(struct query_parser *p)
{
	if (++p->depth <= DEPTH_MAX)
		return true;
	query_refuse(p, "more than %d open parentheses", DEPTH_MAX);
	errno = E2BIG;
	return false;
}

/** Parse an expression in parentheses, from its "(" on. */
static struct query_node *parse_parentheses(struct query_parser *p)
{
	size_t open = p->at++;
	if (!go_deeper(p))
		return NULL;
	struct query_node *node = parse_list(p);
	--p->depth;
	if (!node)
		return NULL;
	if (!next_is(p, ")")) {
		p->primary = open;
		return not_closed(p);
	}
	++p->at;
	return node;
}

static struct query_node *parse_primary(struct query_parser *p)
{
	const char *word = p->words[p->at];
	p->primary = p->at;
	if (*word != '-')
		return query_refuse(p, "\"%s\" is neither a test nor an action; paths come before "
		                    "the expression, and patterns must be quoted", word);
	const struct query_row *row = query_row(word + 1);
	if (!row) {
		const char *near = query_row_near(word + 1);
		return near ? query_refuse(p, "unknown primary \"%s\"; did you mean \"-%s\"?",
		                           word, near)
		            : query_refuse(p, "unknown primary \"%s\"; %s", word, word[1] == '-'
		                           ? "options that begin with \"--\" come before the "
		                             "paths" : "getmnt-find(8) lists the primaries");
	}
	if (row->kind == ROW_REFUSED)
		return query_refuse(p, "\"%s\" %s", word, row->instead);
	if (p->excluding && row->kind == ROW_ACTION)
		return query_refuse(p, "\"%s\" is an action, and cannot stand within \"-exclude\"",
		                    word);
	++p->at;
	if (p->n - p->at < row->args)
		return query_refuse(p, "\"%s\" needs %s", word,
		                    row->args > 1 ? "two arguments" : "an argument");
	if (row->kind == ROW_OPTION && p->test)
		query_warn(p, "%s applies to the whole search, also to \"%s\" before it; write "
		           "it first", word, p->test);
	if (row->kind <= ROW_ACTION && !p->test)
		p->test = word;
	const char *const *args = p->words + p->at;
	p->at += row->args;
	/* Each primary has a function except -daystart, which peek() skips. */
	assert(row->parse && p->at <= p->n);
	return row->parse(p, row, args);
}

static struct query_node *parse_factor(struct query_parser *p)
{
	bool negated = false;
	for (; next_is(p, nots); ++p->at)
		negated = !negated;
	struct query_node *node;
	if (!peek(p) || next_is(p, ") ,") || next_is(p, ands) || next_is(p, ors))
		node = no_operand(p);
	else if (next_is(p, "("))
		node = parse_parentheses(p);
	else
		node = parse_primary(p);
	return negated ? query_not(p, node) : node;
}

static struct query_node *parse_and(struct query_parser *p)
{
	struct query_node *list = query_list(p, OP_AND);
	if (!list)
		return NULL;
	for (;;) {
		struct query_node *node = parse_factor(p);
		if (!node)
			return NULL;
		query_add(list, node);
		if (next_is(p, ands))
			++p->at;
		else if (!peek(p) || next_is(p, ") ,") || next_is(p, ors))
			return query_list_end(list);
	}
}

static struct query_node *parse_or(struct query_parser *p)
{
	struct query_node *list = query_list(p, OP_OR);
	if (!list)
		return NULL;
	for (;; ++p->at) {
		struct query_node *node = parse_and(p);
		if (!node)
			return NULL;
		query_add(list, node);
		if (!next_is(p, ors))
			return query_list_end(list);
	}
}

static struct query_node *parse_list(struct query_parser *p)
{
	struct query_node *list = query_list(p, OP_COMMA);
	if (!list)
		return NULL;
	for (;; ++p->at) {
		struct query_node *node = parse_or(p);
		if (!node)
			return NULL;
		query_add(list, node);
		if (!next_is(p, ","))
			return query_list_end(list);
	}
}

QUERY_PARSE(query_parse_exclude)
{
	(void)args;
	(void)row;
	if (p->excluding)
		return query_refuse(p, "\"-exclude\" within \"-exclude\"; write them one after "
		                    "the other");
	if (!go_deeper(p))
		return NULL;
	p->excluding = true;
	struct query_node *node = parse_factor(p);
	p->excluding = false;
	--p->depth;
	if (!node)
		return NULL;
	return query_exclude(p, node);
}

/* Complete expressions */

/** Parse the words of a part.
    @return the node of the part, or NULL. */
static struct query_node *parse_words(struct query_parser *p)
{
	struct query_node *root = peek(p) ? parse_list(p)
	                                  : query_node(p, query_row_known(p, "true"));
	if (!root)
		return NULL;
	if (p->at < p->n)
		return no_operand(p);
	if (p->prune && p->delete && !p->explicit_depth)
		return query_refuse(p, "-delete processes the contents of a directory before the "
		                    "directory, so -prune would have no effect and files could be "
		                    "deleted that are to be kept; add -depth if this is intended");
	if (p->prompts && p->query->info.files0_from
	    && strcmp(p->query->info.files0_from, "-") == 0)
		return query_refuse(p, "-ok and -okdir read answers from the standard input, and "
		                    "so does \"-files0-from -\"; use a file");
	return root;
}

/** Parse parts, and combine them with AND in p->query. */
static int parse_parts(struct query_parser *p, const struct query_part parts[], size_t n)
{
	struct query_node *all = query_list(p, OP_AND);
	bool prints = false;
	for (size_t i = 0; i < n && all; ++i) {
		*p = (struct query_parser){
			.query = p->query, .env = p->env, .rows = p->rows, .error = p->error,
			.words = parts[i].words, .n = parts[i].n, .option = parts[i].option,
			.part = i, .quiet = p->env->quiet, .day = p->env->now,
			.syntax = query_syntax(NULL),
		};
		p->day.tv_sec -= 24 * 60 * 60;
		struct query_node *root = parse_words(p);
		if (!root)
			return -1;
		prints |= p->prints;
		if (n == 1)
			return query_finish(p, root);
		query_add(all, root);
	}
	p->prints = prints;
	return all ? query_finish(p, query_list_end(all)) : -1;
}

struct query *query_parse_parts(const struct query_part parts[], size_t n,
                                const struct query_env *env, struct query_error *error)
{
	struct query *query = calloc(1, sizeof(*query));
	if (!query)
		return fail_null(ENOMEM);
	query->info.maxdepth = UINT_MAX;
	query->follow = env->follow;
	query->follow_roots = env->follow || env->follow_roots;
	struct query_parser p = {
		.query = query, .env = env, .rows = query_rows(), .error = error,
	};
	if (parse_parts(&p, parts, n) == 0)
		return query;
	int saved = error && error->why.failed ? ENOMEM : errno;
	query_free(query);
	return fail_null(saved);
}

struct query *query_parse(const char *const words[], size_t n, const struct query_env *env,
                          struct query_error *error)
{
	return query_parse_parts(&(struct query_part){.words = words, .n = n}, 1, env, error);
}

/** Copy the next word of a text without its quotes and backslashes.
    @to [in,out]  Where the word and a NUL are stored; the end of the NUL.
    @return the text after the word; NULL: a quote is not closed, or a backslash ends the text. */
static const char *copy_word(const char *at, char **to)
{
	char quote = 0;
	char *out = *to;
	for (; *at && (quote || !strchr(" \t\n", *at)); ++at) {
		if (*at == quote) {
			quote = 0;
		} else if (!quote && (*at == '\'' || *at == '"')) {
			quote = *at;
		} else if (*at == '\\' && quote != '\'') {
			/* Within "", a backslash quotes only these characters. */
			if (quote && !(at[1] && strchr("\"\\$`", at[1])))
				*out++ = *at;
			else if (!*++at)
				return NULL;
			else
				*out++ = *at;
		} else {
			*out++ = *at;
		}
	}
	*out++ = '\0';
	*to = out;
	return quote ? NULL : at;
}

const char **query_split(const char *text, size_t *n, struct query_error *error)
{
	/* The copied words have no quotes, and a NUL replaces each blank, so they need no more
	   bytes than the text.  A word needs at least one byte and a blank. */
	const size_t most = strlen(text) / 2 + 1;
	const char **words = malloc(most * sizeof(*words) + strlen(text) + 1);
	if (!words)
		return NULL;
	char *to = (char *)(words + most);
	*n = 0;
	for (text += strspn(text, " \t\n"); *text; text += strspn(text, " \t\n")) {
		words[(*n)++] = to;
		text = copy_word(text, &to);
		if (!text) {
			struct query_parser p = {.error = error, .primary = *n - 1};
			query_refuse(&p, "the expression ends within quotes or after a \"\\\"; "
			             "close them, or remove it");
			int saved = errno;
			free(words);
			return fail_null(saved);
		}
	}
	return words;
}

struct query *query_parse_text(const char *text, const struct query_env *env,
                               struct query_error *error)
{
	size_t n;
	const char **words = query_split(text, &n, error);
	if (!words)
		return NULL;
	struct query *query = query_parse(words, n, env, error);
	int saved = errno;
	free(words);
	errno = saved;
	return query;
}
