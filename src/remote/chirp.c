/* SPDX-License-Identifier: MIT */
/*
 * The conversation with a Chirp server: authentication, then jobs, which are requests of one line.
 *
 *     authentication: one method after the other  -->  jobs: up to CHIRP_WINDOW without an answer
 *
 *     jobs:  answered | sent | unsent      search a root for a part of the pattern,
 *                       ^      ^           or list a directory, whose answer adds jobs
 *                     first  unsent
 */
#include "remote/chirp_impl.h"

#include "path/resolve.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/* Requests */

static size_t job_size(size_t len)
{
	return sizeof(struct chirp_job) + len + 1;
}

/** Append the request of a job.
    @path  Relative to the root. */
static void put_job(const struct chirp *chirp, const struct chirp_job *job, const char *path,
                    struct strbuf *out)
{
	const char *root = chirp->roots[job->root];
	if (job->kind == CHIRP_SEARCH)
		strbuf_printf(out, "search %s ", chirp->parts.list[job->part].wire);
	else
		strbuf_puts(out, job->kind == CHIRP_LIST ? "getlongdir "
		            : job->kind == CHIRP_ROOT && chirp->follow_roots ? "stat " : "lstat ");
	/* A path begins with a slash, so omit the root "/" before it. */
	if (root[1] || !*path)
		chirp_put_path(out, root);
	chirp_put_path(out, path);
	if (job->kind == CHIRP_SEARCH)
		strbuf_printf(out, " %u", chirp->wire_flags);
	strbuf_putc(out, '\n');
}

bool chirp_add_job(struct chirp *chirp, const struct chirp_job *job, const char *path)
{
	size_t len = strlen(path);
	struct strbuf line = {0};
	assert(job->root < chirp->nroots);
	assert(job->kind != CHIRP_SEARCH || job->part < chirp->parts.n);
	put_job(chirp, job, path, &line);
	bool fits = line.len <= CHIRP_LINE;
	struct chirp_job *added = line.failed ? NULL : malloc(job_size(len));
	strbuf_destroy(&line);
	if (!fits) {
		free(added);
		return false;
	}
	if (!added || chirp->held + job_size(len) > CHIRP_DIRS) {
		free(added);
		talk_fail(&chirp->talk, "it has too many directories for the memory");
		return true;
	}
	*added = *job;
	added->next = NULL;
	added->len = len;
	memcpy(added->path, path, len + 1);
	chirp->held += job_size(len);
	*chirp->end = added;
	chirp->end = &added->next;
	if (!chirp->unsent)
		chirp->unsent = added;
	return true;
}

static void free_job(struct chirp *chirp, struct chirp_job *job)
{
	assert(chirp->held >= job_size(job->len));
	chirp->held -= job_size(job->len);
	free(job);
}

/** Remove the first job, which is done. */
static void remove_job(struct chirp *chirp)
{
	struct chirp_job *job = chirp->jobs;
	chirp->jobs = job->next;
	if (!chirp->jobs)
		chirp->end = &chirp->jobs;
	free_job(chirp, job);
	assert(chirp->jobs || chirp->held == 0);
}

/** Send jobs until CHIRP_WINDOW jobs have no answer; without jobs, the search is complete. */
static void send_jobs(struct chirp *chirp)
{
	struct strbuf *out = &chirp->talk.out;
	while (chirp->unsent && chirp->waiting < CHIRP_WINDOW) {
		const struct chirp_job *job = chirp->unsent;
		put_job(chirp, job, job->path, out);
		++chirp->waiting;
		chirp->unsent = job->next;
	}
	assert(!chirp->unsent || chirp->waiting == CHIRP_WINDOW);
	if (out->failed)
		talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
	else if (!chirp->jobs)
		chirp->talk.state = TALK_DONE;
}

void chirp_add_roots(struct chirp *chirp, bool walk)
{
	for (size_t root = 0; root < chirp->nroots; ++root) {
		struct chirp_job job = {.root = root, .kind = CHIRP_ROOT};
		if (chirp->request.self)
			chirp_add_job(chirp, &job, "");
		if (chirp->request.self && chirp->request.levels == 1)
			continue;
		job.kind = walk ? CHIRP_LIST : CHIRP_SEARCH;
		for (; job.part < (walk ? 1 : chirp->parts.n); ++job.part)
			chirp_add_job(chirp, &job, "");
	}
}

/** Free the data of the last search. */
static void search_end(struct chirp *chirp)
{
	while (chirp->jobs)
		remove_job(chirp);
	while (chirp->nroots > 0) {
		free(chirp->roots[--chirp->nroots]);
		free(chirp->names[chirp->nroots]);
	}
	while (chirp->nexclude > 0)
		pattern_free(chirp->exclude[--chirp->nexclude]);
	free(chirp->roots);
	free(chirp->names);
	free(chirp->devs);
	free(chirp->closed);
	free(chirp->exclude);
	free(chirp->live);
	pattern_free(chirp->pattern);
	query_free(chirp->query);
	chirp_parts_destroy(&chirp->parts);
	intern_destroy(&chirp->errors);
	chirp_hold_reset(chirp);
	chirp->hold.passed = false;
	chirp->roots = chirp->names = NULL;
	chirp->closed = NULL;
	chirp->devs = chirp->live = NULL;
	chirp->exclude = NULL;
	chirp->pattern = NULL;
	chirp->query = NULL;
	chirp->parts = (struct chirp_parts){0};
}

/** Parse the query, which the client evaluates.
    @return false: it failed, since the query is invalid or needs facts that a Chirp server does not
    supply. */
static bool parse_query(struct chirp *chirp)
{
	struct query_env env;
	unsigned mask = 0;
	query_env_tests(&env, &mask);
	if (!*chirp->request.query)
		return true;
	chirp->query = query_parse_text(chirp->request.query, &env, NULL);
	const struct query_info *info = chirp->query ? query_info(chirp->query) : NULL;
	if (!info)
		talk_fail(&chirp->talk, "%s", errno == ENOMEM ? strerror(ENOMEM)
		          : "the tests are invalid");
	else if (info->levels & 1u << QUERY_ALL || info->mask & ~(unsigned)K_STATX_BASIC
	         || info->xtype || info->fstype || info->unique || info->has_prune
	         || info->mount || info->follow || info->depth)
		talk_fail(&chirp->talk, "a Chirp server cannot tell what these tests need: only "
		          "name, path, type, size, owner, mode, links and times are known");
	return chirp->talk.state == TALK_GOING;
}

/** Compile the patterns of a search.
    @most  Maximum bytes of a part of the pattern.
    @return 0, or -1. */
static int compile(struct chirp *chirp, size_t most)
{
	const struct talk_request *request = &chirp->request;
	unsigned flags = (unsigned)request->flags & PATTERN_FLAGS;
	chirp->pattern = pattern_compile(request->pattern, strlen(request->pattern), flags, NULL);
	chirp->exclude = calloc(request->nexclude + 1, sizeof(*chirp->exclude));
	if (!chirp->pattern || !chirp->exclude)
		return -1;
	size_t words = pattern_words(chirp->pattern);
	for (; chirp->nexclude < request->nexclude; ++chirp->nexclude) {
		const char *text = request->exclude[chirp->nexclude];
		struct pattern *exclude = pattern_compile(text, strlen(text), flags, NULL);
		if (!exclude)
			return -1;
		chirp->exclude[chirp->nexclude] = exclude;
		words = pattern_words(exclude) > words ? pattern_words(exclude) : words;
	}
	chirp->live = calloc(2 * words, sizeof(*chirp->live));
	chirp->words = words;
	if (!chirp->live)
		return -1;
	return chirp_parts_init(&chirp->parts, request->pattern, flags, most, request->levels);
}

/** Choose the flags of the server's search.  CHIRP_STOPATFIRST is possible only if the client drops
    no result. */
static void choose_flags(struct chirp *chirp)
{
	const struct talk_request *request = &chirp->request;
	unsigned flags = (unsigned)request->flags & CHIRP_ACCESS;
	if (talk_has_attributes(request) || request->types || request->type || chirp->query)
		flags |= CHIRP_METADATA;
	/* The server also stops at an object that fails the access test, or that the client would
	   drop. */
	if (request->flags & SEARCH_STOPATFIRST && flags == 0 && chirp->parts.exact
	    && chirp->parts.n == 1 && !(request->flags & SEARCH_PERIOD) && !request->nexclude
	    && !request->mindepth && !request->self)
		flags |= CHIRP_STOPATFIRST;
	chirp->wire_flags = flags;
}

static void chirp_ask(struct talk *talk, const struct talk_request *request)
{
	struct chirp *chirp = (struct chirp *)(void *)talk;
	size_t longest = 0;
	assert(talk->state == TALK_DONE && (chirp->ended || chirp->waiting == 0));
	search_end(chirp);
	chirp->request = *request;
	talk->state = TALK_GOING;
	talk->counts = (struct search_counts){0};
	bool walk = request->flags & SEARCH_XDEV || request->depth
	            || request->engine == SEARCH_ENGINE_SYNC;
	if (chirp->ended)
		talk_fail(talk, "the last answer was not read to its end");
	else if (request->flags & (SEARCH_BYNAME | SEARCH_BYINODE))
		talk_fail(talk, "a Chirp server does not sort (--sort)");
	else if (walk && request->flags & CHIRP_ONLY_SERVER)
		talk_fail(talk, "--access and --follow need the server's search, but --depth, "
		          "--xdev and --engine=sync need a list of each directory");
	chirp->roots = calloc(request->n + 1, sizeof(*chirp->roots));
	chirp->names = calloc(request->n + 1, sizeof(*chirp->names));
	chirp->devs = calloc(request->n + 1, sizeof(*chirp->devs));
	chirp->closed = calloc(request->n + 1, sizeof(*chirp->closed));
	chirp->follow_roots = request->follow_roots || request->flags & SEARCH_FOLLOW;
	while (chirp->nroots < request->n && chirp->roots && chirp->names
	       && talk->state == TALK_GOING) {
		struct strbuf root = {0}, name = {0};
		const char *given = request->roots[chirp->nroots];
		strbuf_puts(&name, request->prefix ? request->prefix : "");
		strbuf_puts(&name, given);
		path_normal(*given ? given : "/", &root);
		strbuf_reset(&chirp->path);
		chirp_put_path(&chirp->path, strbuf_str(&root));
		longest = chirp->path.len > longest ? chirp->path.len : longest;
		bool failed = root.failed || name.failed || chirp->path.failed;
		chirp->names[chirp->nroots] = strbuf_take(&name);
		chirp->roots[chirp->nroots++] = strbuf_take(&root);
		if (failed)
			talk_fail(talk, "%s", strerror(ENOMEM));
	}
	/* The bytes of "search PATTERN ROOT FLAGS\n" without PATTERN. */
	const size_t rest = longest + sizeof("search   127\n") - 1;
	if (rest + CHIRP_PATTERN > CHIRP_LINE)
		talk_fail(talk, "the path is too long for a line of Chirp");
	if (talk->state != TALK_GOING || !parse_query(chirp))
		return;
	if (!chirp->roots || !chirp->names || !chirp->devs || !chirp->closed
	    || compile(chirp, CHIRP_LINE - rest) != 0) {
		talk_fail(talk, "%s", errno == ENOMEM ? strerror(ENOMEM)
		          : "the pattern is invalid");
		return;
	}
	choose_flags(chirp);
	chirp_add_roots(chirp, walk);
	if (talk->state == TALK_GOING && chirp->step == STEP_ANSWER)
		send_jobs(chirp);
	else if (talk->state == TALK_GOING)
		chirp_try_method(chirp);
}

/* Receiving */

/** For SEARCH_XDEV: after the listing of a root, remove its jobs for directories on other devices.
    The device of the root is only known now; these jobs were not sent yet. */
static void drop_foreign(struct chirp *chirp, size_t root)
{
	size_t i = 0;
	chirp->unsent = NULL;
	chirp->end = &chirp->jobs;
	while (*chirp->end) {
		struct chirp_job *job = *chirp->end;
		if (job->root == root && job->depth == 1 && job->dev != chirp->devs[root]) {
			assert(i >= chirp->waiting);
			*chirp->end = job->next;
			free_job(chirp, job);
			continue;
		}
		if (i++ == chirp->waiting)
			chirp->unsent = job;
		chirp->end = &job->next;
	}
}

/** Process a received line. */
static void take_line(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink)
{
	if (chirp->step != STEP_ANSWER) {
		chirp_take_proof(chirp, line, n, sink);
		if (chirp->step == STEP_ANSWER)
			send_jobs(chirp);
		return;
	}
	if (!chirp_take_line(chirp, line, n, sink))
		return;
	chirp->answering = chirp->named = false;
	strbuf_reset(&chirp->record);
	const struct chirp_job *job = chirp->jobs;
	assert(job && job != chirp->unsent && chirp->waiting > 0);
	size_t root = job->root;
	bool listed = job->kind == CHIRP_LIST && job->depth == 0;
	--chirp->waiting;
	chirp->listed = job->kind == CHIRP_LIST;
	remove_job(chirp);
	if (listed && chirp->request.flags & SEARCH_XDEV)
		drop_foreign(chirp, root);
	if (!chirp->jobs)
		chirp_settle(chirp, sink);
	if (chirp->talk.state == TALK_GOING)
		send_jobs(chirp);
}

static void chirp_take(struct talk *talk, const char *bytes, size_t n, struct talk_sink *sink)
{
	struct chirp *chirp = (struct chirp *)(void *)talk;
	struct strbuf *in = &chirp->in;
	size_t at = 0;
	if (chirp->ended || talk->state != TALK_GOING)
		return;
	strbuf_add(in, bytes, n);
	while (talk->state == TALK_GOING && !in->failed) {
		const char *end = memchr(in->data + chirp->looked, '\n', in->len - chirp->looked);
		size_t len = (size_t)((end ? end : in->data + in->len) - (in->data + at));
		chirp->looked = at + len + (end != NULL);
		if (len > (chirp->step == STEP_ANSWER ? CHIRP_RECORD : CHIRP_NAME))
			talk_fail(talk, "it sent a line that is too long");
		else if (end && memchr(in->data + at, '\0', len))
			talk_fail(talk, "it sent a line with a NUL");
		else if (end)
			take_line(chirp, in->data + at, len, sink);
		if (!end)
			break;
		at = chirp->looked;
	}
	if (in->failed)
		talk_fail(talk, "%s", strerror(ENOMEM));
	if (talk->state == TALK_DONE && !chirp->ended && at < in->len)
		talk_fail(talk, "it sent more than its answer%s", chirp->listed
		          ? "; has a name that begins with a newline ended it?" : "");
	if (at == 0)
		return;
	assert(at <= chirp->looked && chirp->looked <= in->len);
	memmove(in->data, in->data + at, in->len - at + 1);
	in->len -= at;
	chirp->looked -= at;
}

static void chirp_end(struct talk *talk)
{
	const struct chirp *chirp = (const struct chirp *)(const void *)talk;
	if (talk->state == TALK_GOING)
		talk_fail(talk, chirp->step == STEP_ANSWER
		          ? "it closed the connection before the answer was complete"
		          : "it closed the connection; is this the port of a Chirp server?");
}

static void chirp_free(struct talk *talk)
{
	struct chirp *chirp = (struct chirp *)(void *)talk;
	search_end(chirp);
	strbuf_destroy(&chirp->login.tried);
	strbuf_destroy(&chirp->in);
	strbuf_destroy(&chirp->record);
	strbuf_destroy(&chirp->path);
	strbuf_destroy(&chirp->tested);
	strbuf_destroy(&chirp->hold.kept);
	talk_destroy(talk);
	free(chirp);
}

struct talk *chirp_talk_new(const struct chirp_auth *auth)
{
	static const struct talk_ops ops = {
		.ask = chirp_ask, .take = chirp_take, .end = chirp_end, .free = chirp_free,
	};
	struct chirp *chirp = calloc(1, sizeof(*chirp));
	if (!chirp)
		return NULL;
	talk_init(&chirp->talk, &ops);
	chirp->login.auth = *auth;
	if (auth->proofs == auth->room)
		chirp->login.auth.proofs = chirp->login.auth.room;
	chirp->end = &chirp->jobs;
	return &chirp->talk;
}
