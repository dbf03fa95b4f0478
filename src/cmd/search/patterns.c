/* SPDX-License-Identifier: MIT */
#include "cmd/search/patterns.h"

#include "base/array.h"
#include "base/escape.h"
#include "cmd/cmd.h"
#include "select/pattern.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int patterns_add(struct pattern_list *list, const char *pattern)
{
	if (!ARRAY_ROOM(list->items, list->n, &list->room))
		return message_error("search", ENOMEM, CX_ERROR);
	list->items[list->n++] = pattern;
	return 0;
}

/** Report why a pattern is invalid.  @title  The option with the pattern.
    @return an exit status. */
static int report(const char *title, const char *pattern, const struct pattern_error *error)
{
	size_t shown = utf8_cut(pattern, 60);
	return usage_error(title, "invalid pattern \"%.*s\"%s, at byte %zu: %s", (int)shown,
	                   pattern, pattern[shown] ? "..." : "", error->at, error->why);
}

/** Check patterns, and join them into one pattern with alternatives.
    @everything [out]  Set if a pattern matches every object.
    @return 0, or an exit status after a message. */
static int join(const struct pattern_list *list, const char *title, int flags,
                const struct advice *advice, struct strbuf *out, bool *everything)
{
	for (size_t i = 0; i < list->n; ++i) {
		const char *item = list->items[i];
		struct pattern_error error;
		struct pattern *pattern = pattern_compile(item, strlen(item),
		                                          (unsigned)flags & PATTERN_FLAGS, &error);
		if (!pattern)
			return errno == ENOMEM ? message_error("search", ENOMEM, CX_ERROR)
			                       : report(title, item, &error);
		*everything |= pattern_everything(pattern);
		bool possible = pattern_possible(pattern);
		pattern_free(pattern);
		if (!possible)
			return advice_never(advice, title, item);
		if (i > 0)
			strbuf_putc(out, '|');
		strbuf_puts(out, item);
	}
	return out->failed ? message_error("search", ENOMEM, CX_ERROR) : 0;
}

int patterns_join(struct patterns *patterns, const char *title, int flags,
                  const struct advice *advice)
{
	bool any = false;
	int status = join(&patterns->find, title, flags, advice, &patterns->text,
	                  &patterns->everything);
	return status ? status : join(&patterns->exclude, "--exclude", flags, advice,
	                              &patterns->excluded, &any);
}

int patterns_refuse(int error)
{
	if (error == E2BIG)   /* each pattern alone is valid */
		return usage_error("search", "too many patterns; what they match may have 65,536 "
		                   "bytes, what they exclude as many, and all 32,768 components");
	return message_error("search", error, CX_ERROR);
}

void patterns_destroy(struct patterns *patterns)
{
	free(patterns->find.items);
	free(patterns->exclude.items);
	strbuf_destroy(&patterns->text);
	strbuf_destroy(&patterns->excluded);
}
