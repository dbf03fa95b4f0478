/* SPDX-License-Identifier: MIT */
/* Options such as --size=+1M as parts of an expression of find(1), all of which must be true. */
#include "cmd/search/options.h"

#include "base/words.h"
#include "cmd/cmd.h"
#include "search/query_host.h"
#include "select/query.h"

#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/** Parse a size: a number with an optional unit, a power of 1024.  @return whether the size is
    valid. */
static bool size_read(const char *text, uint64_t *size)
{
	static const char units[] = "bkmgtp";
	uint64_t n;
	unsigned shift = 0;
	const char *end = word_number(text, &n);
	if (!end)
		return false;
	if (*end) {
		const char *unit = strchr(units, *end | ('a' ^ 'A'));
		if (!unit || (end[1] && strcmp(end + 1, "iB") != 0))
			return false;
		shift = 10 * (unsigned)(unit - units);
	}
	*size = n << shift;
	return *size >> shift == n && *size < INT64_MAX;
}

/** Add a word to the part. */
__attribute__((format(printf, 2, 3)))
static void add_word(struct where *where, const char *format, ...)
{
	struct arena *arena = &where->arena;
	struct where_part *part = &where->parts[where->n - 1];
	va_list args;
	va_start(args, format);
	const char *word = arena_vprintf(arena, format, args);
	va_end(args);
	if (!word)
		arena_fail(arena);
	else
		ARENA_PUSH(arena, part->words, part->n, word);
}

/** Add --size: +N means N or more, -N means N or less. */
static int add_size(struct where *where, const char *value)
{
	uint64_t size;
	char sign = *value == '+' || *value == '-' ? *value : '\0';
	if (!size_read(value + (sign != '\0'), &size))
		return usage_error("--size", "\"%s\": must be a number of bytes, or one with a "
		                   "unit of k, M, G, T or P; +N for N or more, -N for N or less",
		                   value);
	if (sign == '+' && size == 0) {
		add_word(where, "-true");
		return 0;
	}
	add_word(where, "-size");
	if (sign == '+')
		add_word(where, "+%" PRIu64 "c", size - 1);
	else if (sign == '-')
		add_word(where, "-%" PRIu64 "c", size + 1);
	else
		add_word(where, "%" PRIu64 "c", size);
	return 0;
}

/** Add --changed-within or --changed-before: a duration before now such as 2d, or a date. */
static int add_changed(struct where *where, const char *title, bool before, const char *value)
{
	const struct timespec *now = &where->env.now;
	struct timespec ago;
	if (before)
		add_word(where, "!");
	add_word(where, "-newermt");
	if (query_duration(value, &ago) != 0) {
		if (!query_date(value, now, &ago))
			return usage_error(title, "\"%s\": must be a time as 30min, 3h, 2d or 1w, "
			                   "or a date: %s", value, query_date_forms);
		add_word(where, "%s", value);
		return 0;
	}
	bool borrow = now->tv_nsec < ago.tv_nsec;
	add_word(where, "@%jd.%09ld", (intmax_t)(now->tv_sec - ago.tv_sec - borrow),
	         now->tv_nsec - ago.tv_nsec + (borrow ? 1000000000 : 0));
	return 0;
}

/** Add the words of an expression.  @return 0, or an exit status. */
static int add_text(struct where *where, const char *title, const char *value)
{
	struct query_error error = {0};
	size_t n;
	const char **words = query_split(value, &n, &error);
	int status = words ? 0 : usage_error(title, "%s", errno == EINVAL
	                                     ? strbuf_str(&error.why) : strerror(errno));
	for (size_t i = 0; words && i < n; ++i)
		add_word(where, "%s", words[i]);
	free(words);
	strbuf_destroy(&error.why);
	return status;
}

int where_add(struct where *where, const struct option_row *row, const char *value)
{
	static const char *const tests[] = {
		[WHERE_NEWER] = "-newer", [WHERE_USER] = "-user", [WHERE_GROUP] = "-group",
		[WHERE_PERM] = "-perm", [WHERE_LINKS] = "-links",
	};
	char title[OPTION_TITLE_SIZE];
	option_title(row, title);
	if (where->n == 0)
		query_env_host(&where->env, &where->os);   /* no feature of the kernel is needed */
	ARENA_PUSH(&where->arena, where->parts, where->n, (struct where_part){
		.title = arena_text(&where->arena, title), .text = row->base == WHERE_QUERY,
	});
	if (where->arena.failed)
		return message_error("search", ENOMEM, CX_ERROR);
	if (row->base == WHERE_SIZE)
		return add_size(where, value);
	if (row->base == WHERE_WITHIN || row->base == WHERE_BEFORE)
		return add_changed(where, title, row->base == WHERE_BEFORE, value);
	if (row->base == WHERE_QUERY)
		return add_text(where, title, value);
	add_word(where, "%s", row->base == WHERE_EMPTY ? "-empty" : tests[row->base]);
	if (row->base != WHERE_EMPTY)
		add_word(where, "%s", value);
	return 0;
}

int where_parse(struct where *where, bool follow, struct query **query)
{
	struct query_error error = {0};
	int status = 0;
	*query = NULL;
	if (where->n == 0)
		return 0;
	setlocale(LC_CTYPE, "");     /* for patterns, as in find */
	where->env.follow = where->env.follow_roots = follow;
	where->env.quiet = true;
	struct query_part *parts = arena_new(&where->arena, where->n, sizeof(*parts));
	if (where->arena.failed)
		return message_error("search", ENOMEM, CX_ERROR);
	for (size_t i = 0; i < where->n; ++i) {
		const struct where_part *part = &where->parts[i];
		parts[i] = (struct query_part){
			part->words, part->n, part->text ? NULL : part->title,
		};
	}
	*query = query_parse_parts(parts, where->n, &where->env, &error);
	if (!*query && error.why.len == 0) {
		status = message_error("search", errno, CX_ERROR);
	} else if (!*query) {
		/* Of an option, the sentence says which one. */
		const struct where_part *part = &where->parts[error.part];
		status = usage_error(part->text ? part->title : "search", "%s",
		                     strbuf_str(&error.why));
	}
	strbuf_destroy(&error.why);
	return status;
}

void where_destroy(struct where *where)
{
	arena_destroy(&where->arena);
}
