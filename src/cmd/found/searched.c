/* SPDX-License-Identifier: MIT */
#include "cmd/found/searched.h"

#include "base/fstypes.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/stats.h"
#include "cmd/text.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/** The operation that failed, as a word and as a text: indexed by SEARCH_ERR_*. */
static const struct {
	const char *word, *text;
} error_sources[] = {
	[SEARCH_ERR_OPEN] = {"open", "cannot be opened"},
	[SEARCH_ERR_READ] = {"read", "cannot be read to its end"},
	[SEARCH_ERR_STAT] = {"stat", "attributes not available"},
	[SEARCH_ERR_ACCESS] = {"access", "access cannot be checked"},
	[SEARCH_ERR_LIMIT] = {"limit", "not entered"},
	[SEARCH_ERR_HOST] = {"host", "not searched"},
};

const char *searched_error_word(const struct searchent *e)
{
	return error_sources[e->errsource].word;
}

void searched_error(const struct searchent *e, const char *why, bool find, struct strbuf *text)
{
	const char *last = e->path ? strrchr(e->path, '/') : NULL;
	if (e->errsource == SEARCH_ERR_HOST) {
		bool begun = e->err == ECONNRESET || e->err == EPROTO || e->err == ETIMEDOUT;
		strbuf_printf(text, "%s%s: %s", error_sources[e->errsource].text,
		              begun ? " to the end" : "", why ? why : strerror(e->err));
		if (e->err == ETIMEDOUT)
			strbuf_puts(text, " (--timeout)");
		return;
	}
	/* For an error of an index, getmnt_search_why() has returned the reason. */
	if (why) {
		strbuf_printf(text, "not searched: %s", why);
		return;
	}
	bool entered = e->errsource != SEARCH_ERR_OPEN;
	if (e->err == EREMOTE && last && fstype_dir_waits("proc", last + 1))
		why = "reading it waits for a process (--blocking enters it)";
	else if (e->err == EREMOTE)
		why = "its file system can block (--blocking enters it)";
	else if (e->err == EXDEV && !entered)
		why = "unknown whether its mount can block (--blocking enters it)";
	else if (e->err == ELOOP && !entered)
		why = "leads to itself or to a directory above it";
	else if (e->errsource == SEARCH_ERR_LIMIT)
		why = "deeper than --depth";
	if (find && !why)
		strbuf_puts(text, strerror(e->err));
	else
		strbuf_printf(text, "%s: %s",
		              why ? "not entered" : error_sources[e->errsource].text,
		              why ? why : strerror(e->err));
	if (!find && e->err == ENOENT && !entered && e->path && strpbrk(e->path, "*?["))
		strbuf_puts(text, "; the pattern is the first argument, before the paths");
}

void searched_report(const SEARCH *search, const struct searchent *e, bool find,
                     struct flow *flow)
{
	struct strbuf text = {0};
	searched_error(e, getmnt_search_why(search), find, &text);
	flow_hold(flow);
	message(e->path, "%s", strbuf_str(&text));
	flow_release(flow);
	strbuf_destroy(&text);
}

void searched_stats(const SEARCH *search, int form, uint64_t found, double start,
                    const struct indexed *indexed)
{
	const struct os *os = search_os(search);
	double seconds = os_now() - start;
	struct search_counts counts;
	getmnt_search_count(search, &counts, sizeof(counts));
	struct strbuf out = {0}, query = {0};
	struct text text = {0};
	if (search_query(search))
		query_print(search_query(search), &query);
	if (form == STATS_JSON) {
		struct json json = {.out = &out};
		json_put_object(&json, NULL, JSON_TIGHT);
		stats_calls_json(os, &json);
		json_put_object(&json, "mounts_read", JSON_TIGHT);
		stats_calls_json(search_looked(search), &json);
		json_end(&json);
		json_put_number(&json, "dirs", counts.dirs);
		json_put_number(&json, "entries", counts.entries);
		json_put_number(&json, "found", found);
		json_put_number(&json, "errors", counts.errors);
		json_put_number(&json, "threads", counts.threads);
		json_put_real(&json, "seconds", seconds, 6);
		if (search_query(search))
			json_put_string(&json, "query", strbuf_str(&query));
		indexed_stats_json(indexed, &json);
		json_end(&json);
		strbuf_destroy(&query);
		json_print_stderr(&json);
		return;
	}
	stats_calls_text(os, &text);
	text_put(&text, "calls to read the mounts: %" PRIu64 "\n", counts.mount_calls);
	text_put(&text, "directories read: %" PRIu64 ", entries %" PRIu64 ", found %" PRIu64
	        ", errors %" PRIu64 "\n", counts.dirs, counts.entries, found, counts.errors);
	text_put(&text, "threads: %" PRIu64 ", time: %.6f s\n", counts.threads, seconds);
	indexed_stats_text(indexed, &text);
	if (query.len > 0)
		text_put(&text, "query: %s\n", query.data);
	strbuf_destroy(&query);
	text_print(&text, stderr);
}
