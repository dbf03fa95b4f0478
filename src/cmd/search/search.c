/* SPDX-License-Identifier: MIT */
/*
 * getmnt search: what matches a pattern, as it is found.
 *
 *     options --> searchv() --+--> readsearch() --> out.c: a line each ------------+--> flow.c
 *                             '--> lines, made by out.c in the threads that read --'
 */
#include "cmd/cmd.h"

#include "base/escape.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/rows.h"
#include "cmd/search/flow.h"
#include "cmd/search/out.h"
#include "os/os.h"
#include "search/pattern.h"
#include "search/search.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
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

static const char *const color_words[] = {
	[COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never", NULL,
};
static const char *const form_words[] = {
	[SF_PATHS] = "paths", [SF_COLUMNS] = "", [SF_LONG] = "long", [SF_JSON] = "json",
	[SF_JSONL] = "jsonl", NULL,
};
static const char *const engine_words[] = {
	[SEARCH_ENGINE_AUTO] = "auto", [SEARCH_ENGINE_SYNC] = "sync",
	[SEARCH_ENGINE_BULK] = "bulk", NULL,
};
static const char *const sort_words[] = {"name", "inode", NULL};
static const char access_letters[] = "rwx", type_letters[] = "bcdflps";

static const struct row_option search_rows[] = {
	{"type", 0, "LETTERS", "only these types: b, c, d, f, l, p, s, as in find", .letters = type_letters},
	{"access", 0, "rwx", "only what you may read, write, execute", .letters = access_letters},
	{"depth", 0, "N", "enter no directory deeper than N"},
	{"first", 0, NULL, "stop after the first match"},
	{"xdev", 0, NULL, "enter no other mount"},
	{"follow", 'L', NULL, "follow symbolic links"},
	{"blocking", 0, NULL, "enter also what can block: NFS, FUSE ..."},
	{"long", 'l', NULL, "print a list like ls -l"},
	{"output", 'o', "[+]COLUMNS", "print columns, separated by tabs"},
	{"metadata", 'm', NULL, "print type, mode, links, owner, size, time, inode"},
	{"list-columns", 'H', NULL, "list the columns"},
	{"count", 0, NULL, "print only the number of matches"},
	{"null", '0', NULL, "end lines with a NUL, and escape nothing"},
	{"json", 'J', NULL, "print a JSON document"},
	{"format", 0, "FORM", "paths, long, json, jsonl (one object per line)", form_words},
	{"sort", 0, "name|inode", "print the entries of a directory in this order", sort_words},
	{"color", 0, "[WHEN]", "color names: auto, always, never", color_words},
	{"period", 0, NULL, "a leading period is matched only by a period"},
	{"paper", 0, NULL, "? matches zero or one character, as in the paper"},
	{"threads", 0, "N", "number of threads (0: chosen)"},
	{"cached", 0, NULL, "use cached attributes, without asking a server"},
	{"ahead", 0, NULL, "fetch attributes in inode order"},
	{"engine", 0, "ENGINE", "how to fetch attributes: auto, sync, bulk", engine_words},
	{"stats", 0, "[text|json]", "print the cost, on standard error", rows_stats_words},
	{"help", 'h', NULL, "print this help"},
};

static const struct row_table search_table = {
	"search", search_rows, sizeof(search_rows) / sizeof(*search_rows),
};

static void search_help(FILE *out)
{
	fputs("Usage:\n getmnt search [options] PATTERN [PATH ...]\n\n"
	      "Print the objects below PATH (default: .) that match PATTERN.\n\n"
	      "Examples:\n getmnt search '*.conf' /etc\n"
	      " getmnt search -l --type=f 'log/*|*.log' /var\n\nOptions:\n", out);
	rows_help(&search_table, out);
	fputs("\nDetails: getmnt-search(8).\n", out);
}

void search_option_words(FILE *out)
{
	rows_words(&search_table, out);
}

void search_option_arguments(const char *indent, FILE *out)
{
	rows_arguments(&search_table, indent, out);
}

/** A number of an option. */
static int take_number(const char *name, const char *text, unsigned *number)
{
	uint64_t value;
	if (!option_number(text, 1000000, &value))
		return usage_error(name, "\"%s\": must be a number up to 1000000", text);
	*number = (unsigned)value;
	return 0;
}

/** Letters of an option, each a bit. */
static int take_letters(const char *name, const char *text, const char *letters, const int *bits, int *set)
{
	int before = *set;
	*set = 0;
	for (const char *p = text; *p; ++p) {
		const char *at = strchr(letters, *p);
		if (!at && *p != ',')
			return usage_error(name, "\"%s\": must be letters of \"%s\"", text, letters);
		*set |= at ? bits[at - letters] : 0;
	}
	if (!*set)
		return usage_error(name, "\"%s\": must be letters of \"%s\"", text, letters);
	*set |= before;
	return 0;
}

/** A form of output; there is one. */
static int take_form(struct asked *asked, const char *name, int form)
{
	if (asked->form >= 0 && asked->form != form)
		return usage_error(name, "only one of --count, --format, --json and --long may be given");
	asked->form = form;
	return 0;
}

static int take_option(void *to, const char *name, const char *arg)
{
	struct asked *asked = to;
	static const int access_bits[] = {SEARCH_R_OK, SEARCH_W_OK, SEARCH_X_OK};
	static const int type_bits[] = {1 << DT_BLK, 1 << DT_CHR, 1 << DT_DIR, 1 << DT_REG,
	                                1 << DT_LNK, 1 << DT_FIFO, 1 << DT_SOCK};
	static const struct {
		const char *name;
		int flag;
	} flags[] = {
		{"cached", SEARCH_CACHED}, {"follow", SEARCH_FOLLOW}, {"paper", SEARCH_PAPER_Q},
		{"period", SEARCH_PERIOD}, {"xdev", SEARCH_XDEV},
	};
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); ++i) {
		if (strcmp(name, flags[i].name) == 0) {
			asked->options.flags |= flags[i].flag;
			return 0;
		}
	}
	if (strcmp(name, "access") == 0)
		return take_letters("--access", arg, access_letters, access_bits, &asked->options.flags);
	if (strcmp(name, "type") == 0)
		return take_letters("--type", arg, type_letters, type_bits, (int *)&asked->types);
	if (strcmp(name, "depth") == 0) {
		int status = take_number("--depth", arg, &asked->options.depth);
		/* To the library that is no bound. */
		if (status == 0 && asked->options.depth == 0)
			return usage_error("--depth", "\"%s\": must be at least 1; to search only PATH itself, "
			                   "use a pattern of one component, as '/*'", arg);
		return status;
	}
	if (strcmp(name, "threads") == 0)
		return take_number("--threads", arg, &asked->options.threads);
	if (strcmp(name, "engine") == 0)
		return rows_word("--engine", arg, engine_words, &asked->options.engine);
	if (strcmp(name, "sort") == 0) {
		int order = 0;
		int status = rows_word("--sort", arg, sort_words, &order);
		asked->options.flags &= ~(SEARCH_BYNAME | SEARCH_BYINODE);
		asked->options.flags |= order ? SEARCH_BYINODE : SEARCH_BYNAME;
		return status;
	}
	if (strcmp(name, "color") == 0)
		return rows_word("--color", arg ? arg : "always", color_words, &asked->color);
	if (strcmp(name, "stats") == 0)
		return rows_stats(arg, &asked->stats);
	if (strcmp(name, "format") == 0) {
		int form;
		int status = rows_word("--format", arg, form_words, &form);
		return status ? status : take_form(asked, "--format", form);
	}
	if (strcmp(name, "json") == 0)
		return take_form(asked, "--json", SF_JSON);
	if (strcmp(name, "long") == 0)
		return take_form(asked, "--long", SF_LONG);
	if (strcmp(name, "count") == 0)
		return take_form(asked, "--count", SF_COUNT);
	if (strcmp(name, "output") == 0)
		asked->columns = arg;
	else if (strcmp(name, "ahead") == 0)
		asked->options.ahead = true;
	else if (strcmp(name, "blocking") == 0)
		asked->options.blocking = true;
	else if (strcmp(name, "first") == 0)
		asked->options.flags |= SEARCH_STOPATFIRST;
	else if (strcmp(name, "list-columns") == 0)
		asked->list_columns = true;
	else if (strcmp(name, "metadata") == 0)
		asked->metadata = true;
	else if (strcmp(name, "null") == 0)
		asked->nul = true;
	else
		asked->help = true;
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
		fputc('{', stderr);
		stats_calls_json(os);
		fputs(",\"mounts_read\":{", stderr);
		stats_calls_json(search_looked(show->search));
		fprintf(stderr, "},\"dirs\":%" PRIu64 ",\"entries\":%" PRIu64 ",\"found\":%" PRIu64
		        ",\"errors\":%" PRIu64 ",\"threads\":%" PRIu64 ",\"seconds\":%.6f}\n", counts.dirs,
		        counts.entries, show->found, counts.errors, counts.threads, seconds);
		return;
	}
	stats_calls_text(os);
	fprintf(stderr, "calls calls to read the mounts: %" PRIu64 "\n", counts.mount_calls);
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
	int status = rows_parse(&search_table, argc, argv, take_option, &asked);
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
