/* SPDX-License-Identifier: MIT */
/*
 * getmnt search: what matches a pattern, as it is found.
 *
 *     options --> searchv() --+--> readsearch() --> out.c: a line each ------------+--> flow.c
 *                             '--> lines, made by out.c in the threads that read --'
 */
#include "cmd/cmd.h"

#include "base/escape.h"
#include "cmd/listing.h"
#include "cmd/output.h"
#include "cmd/search/flow.h"
#include "cmd/search/out.h"
#include "os/os.h"
#include "search/pattern.h"
#include "search/search.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Seconds between looks at how far the search is, but for the first steps. */
#define TICK 0.1
enum { FIRST_STEPS = 64 };

enum color { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

struct asked {
	struct search_options options;
	bool nul, metadata, help, list_columns;
	int form;                    /* enum search_form; -1: not asked for */
	int color;                   /* enum color */
	int stats;                   /* enum stats_form */
	unsigned types;              /* 1 << DT_*; 0: all */
	const char *columns;         /* of -o */
};

/** What a search that goes on is shown by. */
struct show {
	SEARCH *search;
	struct search_out *out;
	struct flow *flow;
	struct os os;                /* for what is no part of the search */
	double start, next;
	bool shown;                  /* progress is, as lines on a terminal */
	unsigned steps;              /* of the search, up to FIRST_STEPS */
	uint64_t found;
};

static const char access_letters[] = "rwx", type_letters[] = "bcdflps";

#define FLAG(field) OPT_IS_FLAG(struct asked, field)

static int take_letters(void *to, const struct option_row *row, const char *text);
static int take_flag(void *to, const struct option_row *row, const char *text);
static int take_form(void *to, const struct option_row *row, const char *text);
static int take_sort(void *to, const struct option_row *row, const char *text);
static int take_color(void *to, const struct option_row *row, const char *text);
static int take_depth(void *to, const struct option_row *row, const char *text);
static int take_engine(void *to, const struct option_row *row, const char *text);

/* The base of a row without words is the value that its function sets. */
static const struct option_row search_rows[] = {
	OPTION_GROUP("What to find"),
	{"access", 0, "rwx", "only what we may read, write, execute", .letters = access_letters,
	 .take = take_letters},
	{"first", 0, NULL, "stop after the first match", .base = SEARCH_STOPATFIRST,
	 .take = take_flag},
	{"paper", 0, NULL, "? matches zero or one character, as in the paper",
	 .base = SEARCH_PAPER_Q,
	 .take = take_flag},
	{"period", 0, NULL, "only a period matches a leading period", .base = SEARCH_PERIOD,
	 .take = take_flag},
	{"type", 0, "LETTERS", "only these types: b, c, d, f, l, p, s, as in find",
	 .letters = type_letters, .take = take_letters},
	OPTION_GROUP("Where to search"),
	{"blocking", 0, NULL, "enter file systems that can block (NFS, FUSE ...)",
	 FLAG(options.blocking)},
	{"depth", 0, "N", "do not enter directories deeper than N", .take = take_depth},
	{"follow", 'L', NULL, "follow symbolic links", .base = SEARCH_FOLLOW, .take = take_flag},
	{"xdev", 0, NULL, "do not enter other mounts", .base = SEARCH_XDEV, .take = take_flag},
	OPTION_GROUP("Output"),
	{"color", 0, "[WHEN]", "colors of LS_COLORS: auto, always, never", "auto|always|never",
	 .take = take_color},
	{"count", 0, NULL, "print only the number of matches", .base = SF_COUNT, .take = take_form},
	{"format", 0, "FORM", "paths, long, json (one document) or jsonl", "paths|long|json|jsonl",
	 .take = take_form},
	{"json", 'J', NULL, "same as --format=json", .base = SF_JSON, .take = take_form},
	{"list-columns", 'H', NULL, "list the columns for -o", FLAG(list_columns)},
	{"long", 'l', NULL, "same as --format=long: a list as ls -l", .base = SF_LONG,
	 .take = take_form},
	{"metadata", 'm', NULL, "type, mode, links, owner, size, time, inode, path",
	 FLAG(metadata)},
	{"null", '0', NULL, "end each line with NUL, and escape nothing", FLAG(nul)},
	{"output", 'o', "[+]COL,...", "print these columns, separated by tabs",
	 OPT_IS_TEXT(struct asked, columns)},
	{"sort", 0, "name|inode", "order of the entries of a directory", .take = take_sort},
	OPTION_GROUP("Speed"),
	{"ahead", 0, NULL, "read many attributes at once, by inode number", FLAG(options.ahead)},
	{"cached", 0, NULL, "cached attributes, without asking a server", .base = SEARCH_CACHED,
	 .take = take_flag},
	{"engine", 0, "ENGINE", "how attributes are read: auto, sync, bulk", "auto|sync|bulk",
	 .take = take_engine},
	{"threads", 0, "N", "threads that read (0: chosen)",
	 OPT_IS_NUMBER(struct asked, options.threads, 1000000)},
	OPTION_GROUP("General"),
	OPTION_STATS(struct asked, stats),
	OPTION_HELP(struct asked, help),
};

const struct option_table search_table = {
	"search", search_rows, sizeof(search_rows) / sizeof(*search_rows),
};

static void search_help(FILE *out)
{
	options_help(&search_table,
	             "Usage:\n getmnt search [options] PATTERN [PATH ...]\n\n"
	             "Print the paths below each PATH (the current directory) that match "
	             "PATTERN.\n",
	             NULL, out);
}

/** Letters of an option, each a bit. */
static int take_letters(void *to, const struct option_row *row, const char *text)
{
	static const int access_bits[] = {SEARCH_R_OK, SEARCH_W_OK, SEARCH_X_OK};
	static const int type_bits[] = {1 << DT_BLK, 1 << DT_CHR, 1 << DT_DIR, 1 << DT_REG,
	                                1 << DT_LNK, 1 << DT_FIFO, 1 << DT_SOCK};
	struct asked *asked = to;
	bool types = row->letters == type_letters;
	int bits = 0;
	for (const char *p = text; *p; ++p) {
		const char *at = strchr(row->letters, *p);
		if (at)
			bits |= (types ? type_bits : access_bits)[at - row->letters];
		else if (*p != ',')
			bits = INT_MIN;
	}
	if (bits <= 0)
		return usage_error(types ? "--type" : "--access",
		                   "\"%s\": must be letters of \"%s\"", text,
		                   row->letters);
	if (types)
		asked->types |= (unsigned)bits;
	else
		asked->options.flags |= bits;
	return 0;
}

static int take_flag(void *to, const struct option_row *row, const char *text)
{
	(void)text;
	((struct asked *)to)->options.flags |= row->base;
	return 0;
}

static int take_form(void *to, const struct option_row *row, const char *text)
{
	static const int forms[] = {SF_PATHS, SF_LONG, SF_JSON, SF_JSONL};
	struct asked *asked = to;
	char title[OPTION_TITLE_SIZE];
	int form = row->base;
	if (text) {
		int word = option_word_index(row->words, text, strlen(text));
		if (word < 0)
			return option_bad_word("--format", text, row->words);
		form = forms[word];
	}
	if (asked->form >= 0 && asked->form != form)
		return usage_error(option_title(row, title),
		                   "only one of --count, --format, --json and "
		                   "--long can be given");
	asked->form = form;
	return 0;
}

static int take_sort(void *to, const struct option_row *row, const char *text)
{
	struct asked *asked = to;
	int word = option_word_index(row->argument, text, strlen(text));
	if (word < 0)
		return option_bad_word("--sort", text, row->argument);
	asked->options.flags &= ~(SEARCH_BYNAME | SEARCH_BYINODE);
	asked->options.flags |= word ? SEARCH_BYINODE : SEARCH_BYNAME;
	return 0;
}

static int take_color(void *to, const struct option_row *row, const char *text)
{
	struct asked *asked = to;
	asked->color = text ? option_word_index(row->words, text, strlen(text)) : COLOR_ALWAYS;
	return asked->color < 0 ? option_bad_word("--color", text, row->words) : 0;
}

static int take_engine(void *to, const struct option_row *row, const char *text)
{
	static const int engines[] = {SEARCH_ENGINE_AUTO, SEARCH_ENGINE_SYNC, SEARCH_ENGINE_BULK};
	int word = option_word_index(row->words, text, strlen(text));
	if (word < 0)
		return option_bad_word("--engine", text, row->words);
	((struct asked *)to)->options.engine = engines[word];
	return 0;
}

static int take_depth(void *to, const struct option_row *row, const char *text)
{
	struct asked *asked = to;
	uint64_t depth;
	(void)row;
	if (!option_number(text, 1000000, &depth))
		return usage_error("--depth", "\"%s\": must be a number from 1 to 1000000", text);
	/* To the library 0 is no limit. */
	if (depth == 0)
		return usage_error("--depth",
		                   "\"%s\": must be at least 1; for the entries of PATH itself use "
		                   "a "
		                   "pattern of one component, as '/*'", text);
	asked->options.depth = (unsigned)depth;
	return 0;
}

/** See what is to be printed.  @return 0, or an exit status. */
static int choose_form(const struct asked *asked, struct search_out *out)
{
	enum search_form form = asked->form >= 0 ? (enum search_form)asked->form : SF_PATHS;
	bool json = form == SF_JSON || form == SF_JSONL, columns = asked->columns || asked->metadata;
	if (columns && (form == SF_LONG || form == SF_COUNT))
		return usage_error(asked->columns ? "--output" : "--metadata", "cannot be combined with --%s",
		                   form == SF_LONG ? "long" : "count");
	if (asked->nul && form != SF_PATHS)
		return usage_error("--null", "only for paths and columns");
	if (form == SF_PATHS && columns)
		out->form = form = SF_COLUMNS;
	bool more = asked->columns && *asked->columns == '+';
	if ((columns || json) && (more || !asked->columns)) {
		const char *usual = json ? "PATH,TYPE" : "PATH";
		if (asked->metadata)
			usual = json ? "PATH,TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO"
			             : "TYPE,MODE,NLINK,UID,GID,SIZE,MTIME,INO,PATH";
		search_out_columns(out, usual);
	}
	return asked->columns ? search_out_columns(out, asked->columns + more) : 0;
}

/** Whether names are coloured. */
static bool wants_color(const struct asked *asked, const struct search_out *out)
{
	if ((out->form != SF_PATHS && out->form != SF_LONG) || out->nul || asked->color == COLOR_NEVER)
		return false;
	const char *term = getenv("TERM"), *none = getenv("NO_COLOR");
	return asked->color == COLOR_ALWAYS
	       || (out->terminal && term && *term && strcmp(term, "dumb") != 0 && !(none && *none));
}

/** What was found could not be written: there is no use in going on. */
static void unwritten(void *arg)
{
	struct show *show = arg;
	cancelsearch(show->search);
}

/** What has waited is shown, and where the search is. */
static void watch(void *arg)
{
	struct show *show = arg;
	flow_turn(show->flow);
	if (!show->shown)
		return;
	double now = os_now();
	if (show->steps < FIRST_STEPS)
		++show->steps;
	else if (now < show->next)
		return;
	show->next = now + TICK;
	struct search_counts counts;
	countsearch(show->search, &counts, sizeof(counts));
	char head[120];
	snprintf(head, sizeof(head), "%" PRIu64 " directories, %" PRIu64 " found: ", counts.dirs, show->found);
	flow_progress(show->flow, head, search_where(show->search));
}

/** Make the line of an object, in any thread. */
static void make_line(void *arg, const struct search_object *object, struct strbuf *text)
{
	const struct show *show = arg;
	search_out_line(show->out, object, text);
}

/** Print lines that workers have made, or of which there are so many. */
static void print_lines(void *arg, struct strbuf *text, uint64_t n)
{
	struct show *show = arg;
	show->found += n;
	if (text->len > 0)
		flow_take(show->flow, text);
}

/** Tell of what could not be examined, as find does. */
static void print_error(struct show *show, const struct searchent *e)
{
	struct strbuf text;
	strbuf_init(&text);
	search_error_text(e, &text);
	flow_hold(show->flow);
	message(e->path, "%s", strbuf_str(&text));
	flow_release(show->flow);
	strbuf_destroy(&text);
}

static void print_stats(const struct asked *asked, const struct show *show)
{
	const struct os *os = search_os(show->search);
	double seconds = os_now() - show->start;
	struct search_counts counts;
	countsearch(show->search, &counts, sizeof(counts));
	if (asked->stats == STATS_JSON) {
		struct strbuf out;
		struct json json;
		strbuf_init(&out);
		json_init(&json, &out);
		json_put_object(&json, NULL, JSON_TIGHT);
		stats_calls_json(os, &json);
		json_put_object(&json, "mounts_read", JSON_TIGHT);
		stats_calls_json(search_looked(show->search), &json);
		json_end(&json);
		json_put_number(&json, "dirs", counts.dirs);
		json_put_number(&json, "entries", counts.entries);
		json_put_number(&json, "found", show->found);
		json_put_number(&json, "errors", counts.errors);
		json_put_number(&json, "threads", counts.threads);
		json_put_real(&json, "seconds", seconds, 6);
		json_end(&json);
		fprintf(stderr, "%s\n", strbuf_str(&out));
		strbuf_destroy(&out);
		return;
	}
	stats_calls_text(os);
	fprintf(stderr, "calls to read the mounts: %" PRIu64 "\n", counts.mount_calls);
	fprintf(stderr, "directories read: %" PRIu64 ", entries %" PRIu64 ", found %" PRIu64 ", errors %"
	        PRIu64 "\nthreads: %" PRIu64 ", time: %.6f s\n", counts.dirs, counts.entries, show->found,
	        counts.errors, counts.threads, seconds);
}

/** Search, and print.  @return an exit status. */
static int run_search(struct show *show)
{
	struct search_out *out = show->out;
	bool json = out->form == SF_JSON || out->form == SF_JSONL;
	uint64_t errors = 0;
	struct searchent *e;
	search_out_begin(out);
	while ((e = readsearch(show->search))) {
		if (!e->err) {
			++show->found;
			if (search_out_object(out, show->search, e->path) != 0)
				break;
		} else {
			++errors;
			if (!json)
				print_error(show, e);
			else if (search_out_error(out, e) != 0)
				break;
		}
	}
	/* That stdout could not be written (unwritten()) is told at the end. */
	int error = e || errno == ECANCELED ? 0 : errno;
	if (out->text.failed || out->cell.failed)
		error = ENOMEM;
	if (error) {
		flow_hold(show->flow);
		message("search", "it could not go on: %s", strerror(error));
		flow_release(show->flow);
	}
	search_out_end(out, show->found, errors, error ? "the search ended early"
	               : errors ? "some objects could not be searched" : NULL);
	return error || errors ? CX_ERROR : CX_OK;
}

/** Have what the form needs asked for.
    @optional [out]  Attributes are for colours alone.
    @return 0, or an exit status. */
static int prepare(struct asked *asked, struct search_out *out, bool *optional)
{
	out->nul = asked->nul;
	out->terminal = isatty(STDOUT_FILENO);
	int status = choose_form(asked, out);
	if (status)
		return status;
	if (out->needs & SN_METADATA)
		asked->options.flags |= SEARCH_METADATA;
	if (wants_color(asked, out)) {
		out->colors = colors_new(getenv("LS_COLORS"));
		if (!out->colors) {
			message("search", "%s", strerror(ENOMEM));
			return CX_ERROR;
		}
		bool access = asked->options.flags & (SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK);
		*optional = !(out->needs & SN_METADATA) && !access;
		out->needs |= SN_TYPE;
		if (colors_need_mode(out->colors))
			asked->options.flags |= SEARCH_METADATA;
	}
	return 0;
}

/** Tell why a search could not begin.  @return an exit status. */
static int refuse(const char *pattern, int flags, int error)
{
	struct pattern_error why;
	if (error == EINVAL || error == E2BIG) {
		struct pattern *compiled = pattern_compile(pattern, strlen(pattern), (unsigned)flags & PATTERN_FLAGS,
		                                           &why);
		size_t shown = utf8_cut(pattern, 60);
		if (!compiled && errno != ENOMEM)
			return usage_error("search", "invalid pattern \"%.*s\"%s, at byte %zu: %s", (int)shown, pattern,
			                   pattern[shown] ? "..." : "", why.at, why.why);
		pattern_free(compiled);
	}
	message("search", "%s", strerror(error));
	return CX_ERROR;
}

int cmd_search(int argc, char **argv)
{
	struct asked asked = {
		.options = {.size = sizeof(asked.options), .flags = SEARCH_INCLUDEROOT}, .form = -1,
	};
	int status = options_read(&search_table, argc, argv, &asked, NULL);
	if (status)
		return status;
	if (asked.help || asked.list_columns) {
		if (asked.help) {
			search_help(stdout);
		} else if (search_columns_list(asked.form == SF_JSON) != 0) {
			message(NULL, "%s", strerror(ENOMEM));
			return CX_ERROR;
		}
		return finish_stdout(false) == 0 ? CX_OK : CX_ERROR;
	}
	if (optind == argc)
		return usage_error("search", "no pattern given; example: getmnt search '*.conf' /etc");
	const char *pattern = argv[optind++];
	static const char *const here[] = {"."};
	const char *const *roots = optind < argc ? (const char *const *)argv + optind : here;
	size_t nroots = optind < argc ? (size_t)(argc - optind) : 1;

	for (size_t i = 0; i < nroots; ++i) {
		if (!*roots[i])
			return usage_error("search", "PATH is empty; the current directory is \".\"");
	}
	struct search_out out;
	struct show show = {.out = &out, .start = os_now()};
	bool optional = false;
	search_out_init(&out, asked.form >= 0 ? (enum search_form)asked.form : SF_PATHS, &show.os);
	status = prepare(&asked, &out, &optional);
	if (status)
		goto out;
	os_mark(MARK_BEGIN);
	show.search = searchv(roots, nroots, pattern, &asked.options);
	os_mark(MARK_END);
	if (!show.search) {
		status = refuse(pattern, asked.options.flags, errno);
		goto out;
	}
	os_clone_state(&show.os, search_os(show.search));
	unsigned fds = os_raise_nofile(&show.os, SEARCH_FDS);
	if (asked.options.threads != 1)
		os_grow_fds(&show.os, STDERR_FILENO, fds / 2);
	show.shown = progress_open();
	out.flow = show.flow = flow_new(&show.os, show.shown, unwritten, &show);
	if (!show.flow) {
		message("search", "%s", strerror(errno));
		closesearch(show.search);
		status = CX_ERROR;
		goto out;
	}
	bool columns = out.form == SF_COLUMNS;
	bool first = asked.options.flags & SEARCH_STOPATFIRST, count = out.form == SF_COUNT;
	bool ordered = asked.options.flags & (SEARCH_BYNAME | SEARCH_BYINODE);
	bool lines = !first && (count || (search_out_lines(&out) && !ordered));
	search_more(show.search, &(struct search_more){
		.types = asked.types, .type = out.needs & SN_TYPE, .links = out.needs & SN_LINK,
		.mask = out.needs & SN_MOUNT ? K_STATX_MNT_ID : 0, .statx = true, .optional = optional, .watch = watch,
		.arg = &show,
		.lines = lines ? print_lines : NULL, .count = lines && count, .end = asked.nul ? '\0' : '\n',
		.line = columns ? make_line : NULL, .escape = columns && !asked.nul ? escape_raw : NULL,
	});
	os_mark(MARK_BEGIN);
	status = run_search(&show);
	search_stop(show.search);
	os_mark(MARK_END);
	flow_end(show.flow);
	if (asked.stats)
		print_stats(&asked, &show);
	closesearch(show.search);
	if (finish_stdout(out.form == SF_JSON || out.form == SF_JSONL) != 0)
		status = CX_ERROR;
out:
	search_out_destroy(&out);
	return status;
}
