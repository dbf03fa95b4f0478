/* SPDX-License-Identifier: MIT */
#include "cmd/search/run.h"

#include "base/command.h"
#include "base/escape.h"
#include "cmd/cmd.h"
#include "cmd/found/flow.h"
#include "cmd/found/searched.h"
#include "cmd/progress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/** Seconds between updates of the progress line.  Each of the first FIRST_STEPS steps of the search
    also updates the line. */
#define TICK 0.1
enum { FIRST_STEPS = 64 };

/** Print pending lines, and update the progress line: for search_more.watch. */
static void watch(void *arg)
{
	struct show *show = arg;
	flow_turn(show->flow);
	if (!show->shown || search_asks(show->search))
		return;
	double now = os_now();
	if (show->steps < FIRST_STEPS)
		++show->steps;
	else if (now < show->next)
		return;
	show->next = now + TICK;
	struct search_counts counts;
	getmnt_search_count(show->search, &counts, sizeof(counts));
	char head[120];
	snprintf(head, sizeof(head), "%" PRIu64 " directories, %" PRIu64 " found: ", counts.dirs,
	         show->found);
	flow_progress(show->flow, head, search_where(show->search));
}

/** Report why a mount is not searched by its file server, although --delegate was given: for
    search_more.undelegated. */
static void report_undelegated(void *arg, const char *path, const char *why)
{
	const struct show *show = arg;
	flow_hold(show->flow);
	message(path, "not delegated: %s", why);
	flow_release(show->flow);
}

/** Make the line of an object, in any thread: for search_more.line. */
static void make_line(void *arg, const struct search_object *object, struct strbuf *text)
{
	const struct show *show = arg;
	search_out_line(show->out, object, text);
}

/** Print lines that reading threads made, and count their n objects. */
static void print_lines(void *arg, struct strbuf *text, uint64_t n)
{
	struct show *show = arg;
	show->found += n;
	if (text->len > 0)
		flow_add(show->flow, text);
}

/** Add an object to the disk usage counted in `text`, in any thread: for search_more.line. */
static void note_usage(void *arg, const struct search_object *object, struct strbuf *text)
{
	const struct show *show = arg;
	usage_note(&show->out->usage_options, object, text);
}

/** Add the disk usage that a reading thread counted in `text` to the total. */
static void merge_usage(void *arg, struct strbuf *text, uint64_t n)
{
	struct show *show = arg;
	show->found += n;
	show->failed |= usage_merge(show->out->usage, search_root(show->search), text) != 0;
}

/** Print the results.  @return an exit status. */
static int print_all(struct show *show)
{
	struct search_out *out = show->out;
	bool json = out->form == SF_JSON || out->form == SF_JSONL;
	bool failed = show->failed;
	uint64_t errors = 0;
	struct searchent *e;
	search_out_begin(out);
	while (!failed && (e = getmnt_search_read(show->search))) {
		if (!e->err) {
			++show->found;
			failed = search_out_object(out, show->search, e->path) != 0 || show->failed;
		} else {
			++errors;
			if (json)
				failed = search_out_error(out, show->search, e) != 0;
			else
				searched_report(show->search, e, false, show->flow);
		}
	}
	/* ECANCELED: writing to stdout failed; finish_stdout() reports the failure. */
	int error = failed || errno == ECANCELED ? 0 : errno;
	failed |= show->failed;
	if (failed || (error == 0 && search_out_rest(out) != 0))
		error = ENOMEM;
	if (error && out->action)
		out->action->stopped = true;
	if (search_out_end(out, show->found, errors, error ? "the search ended early"
	                   : errors ? "some objects could not be searched" : NULL) != 0)
		error = ENOMEM;
	if (error) {
		flow_hold(show->flow);
		message("search", "it could not go on: %s", strerror(error));
		flow_release(show->flow);
	}
	return error || errors ? CX_ERROR : CX_OK;
}

/** Report that the pattern given with --usage names a directory.  @return CX_ERROR. */
static int usage_pattern(const char *only)
{
	struct strbuf command = {0};
	command_words(&command, "getmnt", "search", "--usage", "*", "--", only, NULL);
	int status = usage_error("--usage", "\"%s\" is the pattern; to count what is in a "
	                         "directory of this name: %s", only, strbuf_str(&command));
	strbuf_destroy(&command);
	return status;
}

int show_usage(struct show *show, const char *only, const char *const roots[], size_t n)
{
	struct k_statx st;
	/* The only operand is the pattern, but users of du expect that it names a directory. */
	if (only && !strpbrk(only, "*?[|\\")
	    && os_statx(&show->os, AT_FDCWD, only, 0, K_STATX_TYPE, &st) == 0 && S_ISDIR(st.mode))
		return usage_pattern(only);
	show->out->usage = usage_new(roots, show->out->usage_options.depth);
	if (!show->out->usage)
		return message_error("search", errno, CX_ERROR);
	/* Make a row for each root that is a directory, so that its line is printed even if nothing
	   matches.  The search reports roots that cannot be read. */
	for (size_t i = 0; i < n && show->out->usage_options.by == USAGE_ALL; ++i) {
		if (os_statx(&show->os, AT_FDCWD, roots[i], 0, K_STATX_TYPE, &st) == 0
		    && S_ISDIR(st.mode))
			show->failed |= usage_find(show->out->usage, i, "", 0, 0) == USAGE_NONE;
	}
	return 0;
}

int show_run(struct show *show, struct search_more *more, bool lines)
{
	const struct search_out *out = show->out;
	bool columns = out->form == SF_COLUMNS;
	show->shown = progress_open();
	show->out->flow = show->flow = flow_new(&show->os, show->shown, show->search);
	if (!show->flow)
		return message_error("search", errno, CX_ERROR);
	more->source = indexed_source(show->indexed, show->flow);
	more->alters = out->action;
	more->dirs = out->action && out->action->local;
	more->type = out->needs & SN_TYPE;
	more->links = out->needs & SN_LINK;
	more->xattrs = out->needs & SN_XATTRS;
	more->mask = out->needs & SN_MOUNT ? K_STATX_MNT_ID : 0;
	more->statx = true;
	more->watch = watch;
	more->undelegated = report_undelegated;
	more->arg = show;
	more->end = out->nul ? '\0' : '\n';
	if (out->usage) {
		more->lines = merge_usage;
		more->line = note_usage;
	} else if (lines) {
		more->lines = print_lines;
		more->count = out->form == SF_COUNT;
		more->line = columns ? make_line : NULL;
		more->escape = columns && !out->nul ? escape_raw : NULL;
	}
	search_more(show->search, more);
	os_mark(MARK_BEGIN);
	if (out->action)
		out->action->flow = show->flow;
	int status = print_all(show);
	if (out->action && !action_end(out->action))
		status = CX_ERROR;
	search_stop(show->search);
	os_mark(MARK_END);
	flow_end(show->flow);
	show->flow = NULL;
	return status;
}
