/* SPDX-License-Identifier: MIT */
/*
 * Convert the answers of a Chirp server, lines of text, to entries.
 *
 * A newline in a name is not escaped, so a record ends only where the next record begins or the
 * answer ends.  A name can therefore look like further entries; the protocol has no means to
 * distinguish them.
 */
#include "remote/chirp_impl.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>

/** Match a path with a pattern.
    @path  With a final NUL.
    @any  Stop at the first directory on the path that matches, too.
    @return the verdict of the last component, or of that directory. */
static unsigned match(struct chirp *chirp, const struct pattern *pattern, const char *path,
                      bool any)
{
	uint64_t *live = chirp->live, *next = live + chirp->words, *last;
	assert(pattern_words(pattern) <= chirp->words);
	unsigned verdict = pattern_root(pattern, live);
	while (*path) {
		if (!(verdict & PATTERN_BELOW) || (any && verdict & PATTERN_MATCH))
			break;
		++path;
		size_t n = strcspn(path, "/");
		verdict = pattern_step(pattern, live, path, n, next);
		last = live;
		live = next;
		next = last;
		path += n;
	}
	return *path && !any ? 0 : verdict;
}

/** Whether a path, or a directory above it, matches a pattern to exclude. */
static bool is_excluded(struct chirp *chirp, const char *path)
{
	for (size_t i = 0; i < chirp->nexclude; ++i) {
		if (match(chirp, chirp->exclude[i], path, true) & PATTERN_MATCH)
			return true;
	}
	return false;
}

/** Whether a path is a result of a part of the pattern, but not of an earlier part, whose search
    returns it already. */
static bool is_of_part(struct chirp *chirp, size_t part, const char *path)
{
	for (size_t i = 0; i < part; ++i) {
		if (match(chirp, chirp->parts.list[i].pattern, path, false) & PATTERN_MATCH)
			return false;
	}
	return match(chirp, chirp->parts.list[part].pattern, path, false) & PATTERN_MATCH;
}

static unsigned depth_of(const char *path)
{
	unsigned depth = 0;
	for (; *path; ++path)
		depth += *path == '/';
	return depth;
}

/** The object that a query is evaluated for, and a buffer for its path. */
struct tested {
	const char *name, *path;       /* name: of the root, as printed; path: relative to the
	                                  root */
	struct strbuf *text;
};

static const char *path_of(void *arg)
{
	const struct tested *tested = arg;
	strbuf_reset(tested->text);
	size_t n = strlen(tested->name);
	strbuf_add(tested->text, tested->name,
	           n - (*tested->path && n > 0 && tested->name[n - 1] == '/'));
	strbuf_puts(tested->text, tested->path);
	return tested->text->failed ? NULL : strbuf_str(tested->text);
}

static const char *no_fstype(void *arg)
{
	(void)arg;
	return "";
}

/** Get the actions of the query that an object reaches. */
static uint32_t reached(struct chirp *chirp, size_t root, const char *path, unsigned depth,
                        const struct k_statx *st)
{
	struct tested tested = {chirp->names[root], path, &chirp->tested};
	const struct query_facts facts = {.arg = &tested, .path = path_of, .fstype = no_fstype};
	const char *slash = strrchr(*path ? path : chirp->roots[root], '/');
	const char *name = slash[1] ? slash + 1 : slash;
	const struct query_object object = {
		.name = name, .len = strlen(name), .type = (uint8_t)IFTODT(st->mode),
		.depth = depth, .st = st, .facts = &facts,
	};
	struct query_outcome outcome;
	query_test(chirp->query, &object, QUERY_STATX, &outcome);
	if (chirp->tested.failed)
		talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
	return (uint32_t)outcome.actions;
}

/** Whether to ignore the answer of a job because its root is not a directory.  The server may
    follow a root that is a symlink. */
static bool is_closed(const struct chirp *chirp, const struct chirp_job *job)
{
	return job->kind != CHIRP_ROOT && chirp->closed[job->root];
}

/** Pass on an object that matches the pattern, unless depth, type, attributes or query exclude it.
    @path  With a final NUL.
    @st  NULL: unknown. */
static void pass_object(struct chirp *chirp, const struct chirp_job *job, const char *path,
                        size_t len, const struct k_statx *st, struct talk_sink *sink)
{
	const struct talk_request *request = &chirp->request;
	unsigned depth = depth_of(path), type = st ? IFTODT(st->mode) : DT_UNKNOWN;
	bool meta = talk_has_attributes(request);
	uint32_t actions = 0;
	if (is_closed(chirp, job) || depth < request->mindepth
	    || (request->levels && depth >= request->levels)
	    || (request->types && !(request->types & 1u << type))
	    || (meta && !st && !request->optional)
	    || (chirp->query
	        && !(st && (actions = reached(chirp, job->root, path, depth, st)))))
		return;
	chirp_pass(chirp, job, &(struct talk_entry){
		.root = job->root, .path = path, .len = len, .type = (unsigned char)type,
		.st = meta ? st : NULL, .actions = actions,
	}, false, sink);
}

/** Pass on an error, unless it was passed on before.
    @path  With a final NUL. */
static void pass_error(struct chirp *chirp, const struct chirp_job *job, const char *path,
                       size_t len, int err, int source, struct talk_sink *sink)
{
	if (is_closed(chirp, job))
		return;
	if (chirp->parts.n > 1 || chirp->request.flags & SEARCH_STOPATFIRST) {
		struct strbuf key = {0};
		uint32_t known = (uint32_t)chirp->errors.count, number = known;
		strbuf_printf(&key, "%zu %d %s", job->root, source, path);
		if (intern_put(&chirp->errors, strbuf_str(&key), key.len, &number) != 0)
			key.failed = true;
		strbuf_destroy(&key);
		if (key.failed)
			talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
		if (number != known)
			return;
	}
	chirp_pass(chirp, job, &(struct talk_entry){
		.root = job->root, .path = path, .len = len, .err = err, .errsource = source,
		.type = DT_UNKNOWN,
	}, source != SEARCH_ERR_STAT, sink);
}

/** Search the root of a job by listing directories, since the server cannot search it. */
static void walk_root(struct chirp *chirp, const struct chirp_job *job)
{
	struct chirp_job root = {.root = job->root, .kind = CHIRP_LIST};
	if (chirp->request.flags & CHIRP_ONLY_SERVER)
		talk_fail(&chirp->talk, "this server only lists directories; --access and --follow "
		          "need its search");
	else if (job->part == 0)
		chirp_add_job(chirp, &root, "");
}

/** Process an error record: a directory or an object that the server could not read. */
static void take_error(struct chirp *chirp, const struct chirp_job *job,
                       struct chirp_record *record, struct talk_sink *sink)
{
	/* The path in the record begins with the root, or with "//" if the root is "/". */
	const char *root = chirp->roots[job->root], *path = record->path;
	size_t n = root[1] ? strlen(root) : 0;
	if (record->len > 1 && path[0] == '/' && path[1] == '/') {
		++path;
		--record->len;
	}
	if (record->len == 1 && n == 0)
		n = 1;
	if (record->len < n || memcmp(path, root, n) != 0
	    || (record->len > n && n > 1 && path[n] != '/')) {
		talk_fail(&chirp->talk, "it reports an error of a directory that was not searched");
		return;
	}
	path += n;
	size_t len = record->len - n;
	const char *wrong = talk_path_wrong(path, len);
	if (wrong) {
		talk_fail(&chirp->talk, "it sent a path that cannot be: %s", wrong);
		return;
	}
	if (len == 0 && record->err == EPERM && !(chirp->request.flags & CHIRP_ONLY_SERVER)) {
		walk_root(chirp, job);
		return;
	}
	unsigned verdict = match(chirp, chirp->pattern, path, false);
	unsigned depth = depth_of(path), levels = chirp->request.levels;
	/* Ignore errors of directories in which nothing can match: the server opens these as
	   well. */
	bool wanted = record->source == SEARCH_ERR_STAT
	              ? verdict & PATTERN_MATCH && (!levels || depth < levels)
	              : verdict & PATTERN_BELOW && (!levels || depth + 1 < levels);
	if (wanted && !is_excluded(chirp, path))
		pass_error(chirp, job, path, len, record->err, record->source, sink);
}

/** Process the record in chirp->record. */
static void take_record(struct chirp *chirp, const struct chirp_job *job,
                        struct chirp_record *record, struct talk_sink *sink)
{
	const size_t from = (size_t)(record->path - chirp->record.data);
	assert(from + record->len < chirp->record.len);
	chirp->record.data[from + record->len] = '\0';
	if (record->err) {
		take_error(chirp, job, record, sink);
		return;
	}
	const char *wrong = talk_path_wrong(record->path, record->len);
	if (wrong) {
		talk_fail(&chirp->talk, "it sent a path that cannot be: %s", wrong);
		return;
	}
	if (is_of_part(chirp, job->part, record->path) && !is_excluded(chirp, record->path))
		pass_object(chirp, job, record->path, record->len,
		            record->has_st ? &record->st : NULL, sink);
}

/** Process a line of the answer to "search".
    @return whether the answer is complete. */
static bool take_found(struct chirp *chirp, const struct chirp_job *job, const char *line,
                       size_t n, struct talk_sink *sink)
{
	struct strbuf *text = &chirp->record;
	if (text->len > 0) {
		struct chirp_record record;
		enum chirp_reading reading = chirp_record_read(text->data, text->len, &record);
		bool ends = reading != CHIRP_PART && (n == 0 || chirp_starts(line, n));
		if (ends && reading == CHIRP_WRONG)
			talk_fail(&chirp->talk, "it sent a number that is too large");
		else if (ends)
			take_record(chirp, job, &record, sink);
		if (ends)
			strbuf_reset(text);
		else
			strbuf_putc(text, '\n');
		if (chirp->talk.state != TALK_GOING)
			return false;
	}
	if (text->len == 0 && n == 0)
		return true;
	if (text->len == 0 && !chirp_starts(line, n)) {
		talk_fail(&chirp->talk, "it sent a line that is no entry");
		return false;
	}
	strbuf_add(text, line, n);
	if (text->len > CHIRP_RECORD)
		talk_fail(&chirp->talk, "it sent a path that cannot be: it is too long");
	return false;
}

/** Process an entry of a listed directory.  Its name is in chirp->record, its attributes are in
    st. */
static void take_listed(struct chirp *chirp, const struct chirp_job *job,
                        const struct k_statx *st, struct talk_sink *sink)
{
	const struct talk_request *request = &chirp->request;
	const char *name = strbuf_str(&chirp->record);
	size_t n = chirp->record.len;
	uint64_t dev = (uint64_t)st->dev_major << 32 | st->dev_minor;
	if (strcmp(name, ".") == 0 && job->depth == 0)
		chirp->devs[job->root] = dev;
	if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
		return;
	++chirp->talk.counts.entries;
	struct strbuf *path = &chirp->path;
	strbuf_reset(path);
	strbuf_add(path, job->path, job->len);
	strbuf_putc(path, '/');
	strbuf_add(path, name, n);
	const char *wrong = path->failed ? strerror(ENOMEM)
	                    : talk_path_wrong(path->data, path->len);
	if (wrong || memchr(name, '/', n)) {
		talk_fail(&chirp->talk, "it sent a name that cannot be: %s",
		          wrong ? wrong : "it has a slash");
		return;
	}
	if (is_closed(chirp, job) || is_excluded(chirp, path->data))
		return;
	unsigned verdict = match(chirp, chirp->pattern, path->data, false);
	unsigned depth = job->depth + 1;
	bool foreign = request->flags & SEARCH_XDEV && job->depth > 0
	               && dev != chirp->devs[job->root];
	if (verdict & PATTERN_MATCH)
		pass_object(chirp, job, path->data, path->len, st, sink);
	if (!S_ISDIR(st->mode) || !(verdict & PATTERN_BELOW) || foreign
	    || (request->levels && depth + 1 >= request->levels)
	    || chirp->talk.state != TALK_GOING)
		return;
	if (request->depth && depth > request->depth) {
		pass_error(chirp, job, path->data, path->len, EOVERFLOW, SEARCH_ERR_LIMIT, sink);
		return;
	}
	struct chirp_job child = {
		.root = job->root, .kind = CHIRP_LIST, .depth = depth, .dev = dev,
	};
	if (!chirp_add_job(chirp, &child, path->data))
		pass_error(chirp, job, path->data, path->len, ENAMETOOLONG, SEARCH_ERR_OPEN, sink);
}

/** Process a line of the answer to "getlongdir": a name, or the attributes of the name before it.
    @return whether the answer is complete. */
static bool take_listing(struct chirp *chirp, const struct chirp_job *job, const char *line,
                         size_t n, struct talk_sink *sink)
{
	struct strbuf *name = &chirp->record;
	struct k_statx st;
	if (!chirp->named) {
		if (n == 0)
			return true;
		strbuf_reset(name);
		strbuf_add(name, line, n);
		chirp->named = true;
	} else {
		enum chirp_reading reading = chirp_stat_read(line, n, &st);
		if (reading == CHIRP_WRONG)
			talk_fail(&chirp->talk, "it sent a number that is too large");
		else if (reading == CHIRP_WHOLE)
			take_listed(chirp, job, &st, sink);
		chirp->named = reading == CHIRP_PART;
		if (reading == CHIRP_PART) {
			strbuf_putc(name, '\n');
			strbuf_add(name, line, n);
		}
	}
	if (name->len > CHIRP_NAME)
		talk_fail(&chirp->talk, "it sent a name that cannot be: it is too long");
	return false;
}

/** Process the status of an answer, its first line.
    @return whether the answer is complete. */
static bool take_status(struct chirp *chirp, const struct chirp_job *job, int status,
                        struct talk_sink *sink)
{
	if (status == 0) {
		chirp->answering = true;
		chirp->talk.counts.dirs += job->kind == CHIRP_LIST;
		return false;
	}
	int error = chirp_errno(status);
	if (status > 0)
		talk_fail(&chirp->talk, "this is no answer of a Chirp server");
	else if (is_closed(chirp, job))
		return true;
	else if (job->kind == CHIRP_SEARCH
	         && (status == -1 || error == EINVAL || error == EOPNOTSUPP))
		walk_root(chirp, job);
	else if (job->kind != CHIRP_LSTAT)
		pass_error(chirp, job, job->path, job->len, error, SEARCH_ERR_OPEN, sink);
	chirp->closed[job->root] |= job->kind == CHIRP_ROOT;
	return true;
}

/** Process the attributes of a root. */
static void take_root(struct chirp *chirp, const struct chirp_job *job, const char *line, size_t n,
                      struct talk_sink *sink)
{
	struct k_statx st;
	if (chirp_stat_read(line, n, &st) != CHIRP_WHOLE) {
		talk_fail(&chirp->talk, "this is no answer of a Chirp server");
		return;
	}
	pass_object(chirp, job, "", 0, &st, sink);
	chirp->closed[job->root] = !S_ISDIR(st.mode);
}

bool chirp_take_line(struct chirp *chirp, const char *line, size_t n, struct talk_sink *sink)
{
	const struct chirp_job *job = chirp->jobs;
	bool complete = true;
	assert(job && chirp->waiting > 0 && job->root < chirp->nroots);
	if (!chirp->answering)
		complete = take_status(chirp, job, chirp_status_read(line, n), sink);
	else if (job->kind == CHIRP_SEARCH)
		complete = take_found(chirp, job, line, n, sink);
	else if (job->kind == CHIRP_LIST)
		complete = take_listing(chirp, job, line, n, sink);
	else if (job->kind == CHIRP_ROOT)
		take_root(chirp, job, line, n, sink);
	else
		chirp_take_lstat(chirp, job, line, n);
	if (chirp->record.failed)
		talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
	return complete && chirp->talk.state == TALK_GOING;
}
