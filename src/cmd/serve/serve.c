/* SPDX-License-Identifier: MIT */
/*
 * getmnt serve: searches for a getmnt on another host, one after another, over standard input and
 * output (docs/PROTOCOL.md).
 *
 * The server can only search, as this user.  Its memory is bounded: a request, the entries of a
 * frame, and the needs of the search.  If the client does not read, the server waits in write(2);
 * if the client is gone, SIGPIPE ends the server.
 */
#include "cmd/cmd.h"

#include "remote/wire.h"
#include "search/search.h"
#include "select/pattern.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <poll.h>
#include <sys/uio.h>
#include <unistd.h>

#define HOLD 0.1           /* maximum seconds that an entry waits before it is sent */
#define SILENCE 1.0        /* maximum seconds in which nothing is sent during a search */

enum { READ = 64 * 1024, THREADS_MOST = 64 };

struct serve_args {
	bool stdio, help;
};

struct serve {
	struct os os;
	struct wire_reader reader;
	struct strbuf out;         /* pending output; may end with an open frame of entries */
	size_t frame;              /* offset of the open frame; SIZE_MAX: none */
	double written;            /* os_now() of the last write */
	SEARCH *search;
	bool failed;               /* an answer could not be written: the connection ends */
};

#define FLAG(field) OPT_IS_FLAG(struct serve_args, field)

static const struct option_row serve_rows[] = {
	OPTION_GROUP("General"),
	{"stdio", 0, NULL, "requests on standard input, answers on output", FLAG(stdio)},
	OPTION_HELP(struct serve_args, help),
};

const struct option_table serve_table = {
	"serve", serve_rows, sizeof(serve_rows) / sizeof(*serve_rows),
};

/** Write the pending output. */
static void flush(struct serve *serve)
{
	if (serve->frame != SIZE_MAX)
		wire_finish(&serve->out, serve->frame);
	serve->frame = SIZE_MAX;
	struct iovec piece = {(void *)(uintptr_t)strbuf_text(&serve->out), serve->out.len};
	struct iovec *pieces = &piece;
	size_t n = 1;
	if (!piece.iov_base || os_write_all(&serve->os, STDOUT_FILENO, &pieces, &n) != 0) {
		if (!serve->failed && errno != EPIPE)
			message("serve", "the answer cannot be written: %s", strerror(errno));
		serve->failed = true;
		getmnt_search_cancel(serve->search);
	}
	strbuf_reset(&serve->out);
	serve->written = os_now();
}

/** Before each step of a search, send the entries that have waited for HOLD seconds; after SILENCE
    seconds, show the client that this process lives: for search_more.watch. */
static void watch(void *arg)
{
	struct serve *serve = arg;
	double waited = os_now() - serve->written;
	bool entries = serve->out.len > 0;
	if (waited < (entries ? HOLD : SILENCE))
		return;
	if (!entries)
		wire_finish(&serve->out, wire_begin(&serve->out, WIRE_ALIVE));
	flush(serve);
}

/** Append an entry to the open frame, or to a new one. */
static void put_entry(struct serve *serve, const struct talk_entry *entry)
{
	if (serve->frame == SIZE_MAX)
		serve->frame = wire_begin(&serve->out, WIRE_ENTRIES);
	wire_put_entry(&serve->out, entry);
	if (serve->out.len >= WIRE_BATCH)
		flush(serve);
}

static bool note_action(void *arg, const struct query_action *action,
                        const struct query_object *object)
{
	(void)object;
	*(uint32_t *)arg |= 1u << action->index;
	return true;
}

/** Find the actions of the query that the last object reaches: a set of 1 << query_action.index.
    @error [out]  An errno value, or 0. */
static uint32_t reach(const struct serve *serve, int *error)
{
	struct search_visit visit;
	search_last(serve->search, &visit);
	uint32_t actions = (uint32_t)visit.actions;
	if (!actions)
		query_run(search_query(serve->search), &visit.object, note_action, &actions, NULL,
		          error);
	return actions;
}

/** Send the object or error that getmnt_search_read() returned last. */
static void send_entry(struct serve *serve, const struct talk_request *request,
                       const struct searchent *e)
{
	SEARCH *search = serve->search;
	struct talk_entry entry = {.err = e->err, .errsource = e->errsource};
	bool judged = !e->err && search_query(search);
	int error = 0;
	entry.root = search_below(search, &entry.path);
	entry.len = strlen(entry.path);
	if (entry.len > TALK_PATH_MAX) {
		put_entry(serve, &(struct talk_entry){
			.root = entry.root, .path = "", .err = ENAMETOOLONG,
			.errsource = SEARCH_ERR_STAT,
		});
		return;
	}
	if (judged)
		entry.actions = reach(serve, &error);
	if (error) {
		put_entry(serve, &(struct talk_entry){
			.root = entry.root, .path = entry.path, .len = entry.len, .err = error,
			.errsource = SEARCH_ERR_ACCESS,
		});
	}
	if (!e->err) {
		const char *xattrs = search_xattrs(search), *name = xattrs;
		while (name && *name)
			name += strlen(name) + 1;
		entry.xattrs = xattrs;
		entry.xattrs_len = name ? (size_t)(name - xattrs) : 0;
		entry.target = search_target(search);
		entry.target_len = entry.target ? strlen(entry.target) : 0;
		entry.type = search_type(search);
		if (talk_has_attributes(request))
			entry.st = (const void *)getmnt_search_statx(search);
	}
	if (entry.actions || !judged)
		put_entry(serve, &entry);
}

/** Report why the connection ends.  @return CX_ERROR. */
static int refuse(struct serve *serve, const char *why)
{
	enum { SHOWN = 1000 };
	/* Send the reason to the client first: standard error may have no reader. */
	wire_put_refused(&serve->out, why);
	flush(serve);
	message("serve", "%.*s", SHOWN, why);
	return CX_ERROR;
}

/** Report why a search cannot start, by the error of search_open().  @return CX_ERROR. */
static int refuse_search(struct serve *serve, const struct talk_request *request, int error)
{
	struct pattern_error wrong;
	struct strbuf why = {0};
	struct pattern *pattern = pattern_compile(request->pattern, strlen(request->pattern),
	                                          (unsigned)request->flags & PATTERN_FLAGS,
	                                          &wrong);
	if (!pattern && errno != ENOMEM)
		strbuf_printf(&why, "invalid pattern, at byte %zu: %s", wrong.at, wrong.why);
	else if (error == EINVAL)
		strbuf_puts(&why, "a flag, engine or exclusion of the request is not known to this "
		            "version: update the older getmnt");
	else
		strbuf_puts(&why, strerror(error));
	pattern_free(pattern);
	int status = refuse(serve, strbuf_str(&why));
	strbuf_destroy(&why);
	return status;
}

/** Parse the query of a request.  @return NULL after appending the reason to `why`. */
static struct query *parse_query(const struct talk_request *request, struct strbuf *why)
{
	struct query_env env;
	struct query_error error = {0};
	/* Without SEARCH_METADATA, each action of the query needs the attributes of request->mask;
	   with SEARCH_METADATA, the search reads them for all objects. */
	unsigned mask = request->flags & SEARCH_METADATA ? 0 : request->mask;
	size_t n = 0;
	query_env_tests(&env, &mask);
	env.follow = request->flags & SEARCH_FOLLOW;
	env.follow_roots = request->follow_roots;
	struct query *query = query_parse_text(request->query, &env, &error);
	if (query)
		query_actions(query, &n);
	else
		strbuf_puts(why, error.why.len > 0 ? strbuf_str(&error.why) : strerror(errno));
	strbuf_destroy(&error.why);
	if (n <= TALK_ACTIONS)
		return query;
	strbuf_printf(why, "the query has more than %d actions", TALK_ACTIONS);
	query_free(query);
	return NULL;
}

/** Search, and send the results.  @return an exit status. */
static int answer(struct serve *serve, const struct talk_request *request)
{
	struct search_options options = {
		.size = sizeof(options), .flags = request->flags | SEARCH_INCLUDEROOT,
		.threads = request->threads < THREADS_MOST ? request->threads : THREADS_MOST,
		.depth = request->depth, .blocking = request->blocking, .engine = request->engine,
		.ahead = request->ahead,
	};
	struct strbuf why = {0};
	if (request->nexclude > 1)
		return refuse(serve, "more than one pattern of exclusion");
	if (request->nexclude == 1)
		options.exclude = request->exclude[0];
	struct query *query = NULL;
	if (*request->query && !(query = parse_query(request, &why))) {
		int status = refuse(serve, strbuf_str(&why));
		strbuf_destroy(&why);
		return status;
	}
	serve->search = search_open(request->roots, request->n, request->pattern, &options, query);
	if (!serve->search)
		return refuse_search(serve, request, errno);
	search_more(serve->search, &(struct search_more){
		.types = request->types, .type = request->type, .links = request->links,
		.mask = request->mask, .statx = true, .optional = request->optional,
		.roots = request->self, .follow_roots = request->follow_roots,
		.files = request->files, .xattrs = request->xattrs,
		.exported = request->exported,
		.exclude_types = *request->exclude_types ? request->exclude_types : NULL,
		.mindepth = request->mindepth,
		.maxdepth = request->levels - 1,   /* if levels is 0, maxdepth is UINT_MAX: no
		                                      limit */
		.prefix = request->prefix, .name = request->name, .name_root = request->name_root,
		.watch = watch, .arg = serve,
	});
	struct searchent *e;
	while ((e = getmnt_search_read(serve->search)))
		send_entry(serve, request, e);
	int error = errno;
	search_stop(serve->search);
	if (!serve->failed) {
		struct search_counts counts;
		getmnt_search_count(serve->search, &counts, sizeof(counts));
		if (serve->frame != SIZE_MAX)
			wire_finish(&serve->out, serve->frame);
		serve->frame = SIZE_MAX;
		wire_put_end(&serve->out, &counts, error);
		flush(serve);
	}
	getmnt_search_close(serve->search);
	serve->search = NULL;
	return serve->failed ? CX_ERROR : CX_OK;
}

/** Read more bytes of requests from standard input.
    @return 1; 0 at the end of the input; or -1 after a message. */
static int read_more(struct serve *serve)
{
	struct strbuf *kept = &serve->reader.kept;
	wire_forget(&serve->reader);
	if (!strbuf_room(kept, READ)) {
		refuse(serve, strerror(ENOMEM));
		return -1;
	}
	ssize_t n;
	while ((n = os_read(&serve->os, STDIN_FILENO, kept->data + kept->len, READ)) < 0
	       && errno == EAGAIN)
		os_poll(&serve->os, &(struct pollfd){.fd = STDIN_FILENO, .events = POLLIN}, 1, -1);
	if (n < 0) {
		message("serve", "standard input cannot be read: %s", strerror(errno));
		return -1;
	}
	kept->len += (size_t)n;
	kept->data[kept->len] = '\0';
	if (n == 0 && kept->len > 0) {
		refuse(serve, "the request is truncated");
		return -1;
	}
	return n > 0;
}

/** Answer requests until the input ends.  @return an exit status. */
static int serve_all(struct serve *serve)
{
	struct strbuf why = {0};
	int status = CX_OK;
	while (status == CX_OK) {
		struct wire_frame frame;
		struct talk_request request;
		int rc = wire_next(&serve->reader, &frame, &why);
		if (rc == 0) {
			rc = read_more(serve);
			if (rc == 0)
				break;
			status = rc < 0 ? CX_ERROR : CX_OK;
		} else if (rc < 0
		           || wire_get_request(frame.bytes, frame.len, &request, &why) != 0) {
			status = refuse(serve, strbuf_str(&why));
		} else {
			status = answer(serve, &request);
			wire_request_destroy(&request);
		}
	}
	strbuf_destroy(&why);
	return status;
}

int cmd_serve(int argc, char **argv)
{
	struct serve_args args = {0};
	/* Text of the client is UTF-8, whatever the locale of this host is. */
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		setlocale(LC_CTYPE, "");
	int status = options_read(&serve_table, argc, argv, &args);
	if (status)
		return status;
	if (args.help) {
		options_help(&serve_table, "Usage:\n getmnt serve --stdio\n\n"
		             "Search for a getmnt on another host: `getmnt search PATTERN "
		             "ssh://HOST/DIR`\nstarts this by ssh.  It only searches, and ends "
		             "with its standard input.\n", NULL, stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	if (optind < argc)
		return usage_error(argv[optind], "unexpected argument");
	if (!args.stdio)
		return usage_error("serve", "only by --stdio; getmnt search ssh://HOST/DIR runs "
		                   "it on HOST");
	if (isatty(STDIN_FILENO))
		return usage_error("serve", "standard input is a terminal; getmnt search "
		                   "ssh://HOST/DIR runs this on HOST");
	struct serve serve = {.frame = SIZE_MAX};
	os_nofile(&serve.os, SEARCH_FDS, true);
	wire_greet(&serve.out);
	flush(&serve);
	if (!serve.failed)
		status = serve_all(&serve);
	strbuf_destroy(&serve.reader.kept);
	strbuf_destroy(&serve.out);
	return serve.failed ? CX_ERROR : status;
}
