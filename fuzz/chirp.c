/* SPDX-License-Identifier: MIT */
/*
 * The client of a Chirp server: any bytes are an answer or a reason why not, however they are cut
 * into reads; every entry is below its root, and matches; a server that matches with fnmatch(3)
 * finds all that our pattern does.
 *
 * The input: a byte of flags (1: directories are listed; 2: attributes are wanted; 4: XDEV;
 * 8: the bytes begin with the proof; 16: something is excluded; 32: paper's `?`; 64: maxdepth 3;
 * 128: braces, and case is ignored; 1 and 16: roots are reported), a byte for the size of the
 * reads, the pattern up to a byte 0x1e, a path up to a byte 0x1e, and the bytes received.
 */
#include "lib/fuzz.h"

#include "remote/chirp_impl.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum {
	WALK = 1, METADATA = 2, XDEV = 4, PROOF = 8, EXCLUDE = 16, PAPER = 32, DEPTH = 64,
	EXTENDED = 128,
	MAXDEPTH = 3,
};

struct log {
	struct talk_sink sink;
	struct strbuf text;
	const struct talk_request *request;
	const struct pattern *pattern;
	uint64_t *live;
	int proofs;
};

static bool matches(const struct pattern *pattern, uint64_t *live, const char *path)
{
	uint64_t *next = live + pattern_words(pattern), *last;
	unsigned verdict = pattern_root(pattern, live);
	while (*path) {
		size_t n = strcspn(++path, "/");
		verdict = pattern_step(pattern, live, path, n, next);
		last = live;
		live = next;
		next = last;
		path += n;
	}
	return verdict & PATTERN_MATCH;
}

static void log_entry(struct talk_sink *sink, const struct talk_entry *e)
{
	struct log *log = (struct log *)sink;
	FUZZ_CHECK(e->root < log->request->n);
	FUZZ_CHECK(strlen(e->path) == e->len && !talk_path_wrong(e->path, e->len));
	FUZZ_CHECK(!e->err == !e->errsource && e->errsource <= SEARCH_ERR_LIMIT && e->err < 4096);
	bool meta = log->request->flags & SEARCH_METADATA;
	FUZZ_CHECK(e->err ? !e->st : meta == (e->st != NULL));
	FUZZ_CHECK(e->err || (e->len > 0 ? matches(log->pattern, log->live, e->path)
	                      : log->request->self));
	FUZZ_CHECK(!log->request->nexclude || !strstr(e->path, "/skip/"));
	strbuf_printf(&log->text, "%zu %s %u %d", e->root, e->path, e->type, e->err);
	if (e->st)
		strbuf_add(&log->text, (const char *)e->st, sizeof(*e->st));
	strbuf_putc(&log->text, '\n');
}

static int log_proof(struct talk_sink *sink, const char *path)
{
	struct log *log = (struct log *)sink;
	log->proofs += path ? 1 : -1;
	FUZZ_CHECK(log->proofs == (path != NULL));
	if (path)
		FUZZ_CHECK(strncmp(path, "/tmp/challenge.", 15) == 0 && !strchr(path + 5, '/'));
	return 0;
}

/** Hold a conversation.  @log [out]  What came of it. */
static void converse(const struct talk_request *request, const struct pattern *pattern,
                     unsigned flags, const char *bytes, size_t n, size_t step, struct strbuf *log)
{
	static const char proof[] = "yes\nyes\nyes\naddress\n1.2.3.4\n";
	struct log sink = {
		.sink = {.entry = log_entry, .prove = log_proof}, .request = request,
		.pattern = pattern,
	};
	sink.live = fuzz_alloc(2 * pattern_words(pattern) * sizeof(uint64_t));
	struct chirp_auth auth;
	FUZZ_CHECK(!chirp_auth_read(&auth, flags & PROOF ? "unix,hostname,address" : "address"));
	struct talk *talk = chirp_talk_new(&auth);
	FUZZ_CHECK(talk);
	talk->ops->ask(talk, request);
	if (talk->state == TALK_GOING && !(flags & PROOF))
		talk->ops->take(talk, proof, sizeof(proof) - 1, &sink.sink);
	for (size_t at = 0; at < n && talk->state == TALK_GOING; at += step) {
		for (const char *line = strbuf_str(&talk->out), *end;
		     (end = strchr(line, '\n')); line = end + 1)
			FUZZ_CHECK(end - line < CHIRP_LINE);
		talk_sent(talk, talk->out.len);
		talk->ops->take(talk, bytes + at, step < n - at ? step : n - at, &sink.sink);
	}
	if (talk->state == TALK_GOING)
		talk->ops->end(talk);
	FUZZ_CHECK(talk->state == TALK_DONE || talk->why.len > 0);
	strbuf_printf(&sink.text, "%d", talk->met);
	talk->ops->free(talk);
	free(sink.live);
	*log = sink.text;
}

/** Whether a server finds a path: an alternative matches all of it, or what follows a slash. */
static bool server_finds(const char *wire, const char *path)
{
	char *copy = strdup(wire), *rest = copy, *alternative;
	bool found = false;
	FUZZ_CHECK(copy);
	while ((alternative = strsep(&rest, "|")) && !found) {
		found = fnmatch(alternative, path, FNM_PATHNAME) == 0;
		for (const char *at = path; (at = strchr(at, '/')) && !found; )
			found = fnmatch(alternative, ++at, FNM_PATHNAME) == 0;
	}
	free(copy);
	return found;
}

/** Every path that matches is found by one part of the search at least. */
static void check_parts(const struct talk_request *request, const struct pattern *pattern,
                        unsigned flags, size_t most, const char *path)
{
	struct chirp_parts parts;
	uint64_t *live = fuzz_alloc(2 * pattern_words(pattern) * sizeof(uint64_t));
	unsigned depth = 0;
	bool found = false;
	FUZZ_CHECK(chirp_parts_init(&parts, request->pattern, flags, most, request->levels) == 0);
	for (const char *at = path; *at; ++at)
		depth += *at == '/';
	for (size_t i = 0; i < parts.n; ++i) {
		const struct chirp_part *part = &parts.list[i];
		FUZZ_CHECK(strlen(part->wire) <= most && !strpbrk(part->wire, " \t\n\v\f\r"));
		bool finds = server_finds(part->wire, path);
		bool match = matches(part->pattern, live, path);
		bool deep = request->levels && depth >= request->levels;
		FUZZ_CHECK(!match || finds || deep);
		FUZZ_CHECK(!parts.exact || finds == match);
		found |= match;
	}
	FUZZ_CHECK(found == matches(pattern, live, path));
	free(live);
	chirp_parts_destroy(&parts);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const roots[] = {"/r", "/"}, *const exclude[] = {"skip"};
	struct fuzz_input in = fuzz_input(data, size);
	unsigned flags = fuzz_byte(&in);
	size_t step = fuzz_byte(&in) + 1u, n;
	const char *bytes = fuzz_until(&in, 0x1e, &n);
	char *text = fuzz_string(bytes, n);
	bytes = fuzz_until(&in, 0x1e, &n);
	char *path = fuzz_string(bytes, n);
	unsigned pattern_flags = (flags & PAPER ? PATTERN_PAPER_Q : 0)
	                         | (flags & EXTENDED ? PATTERN_EXTENDED | PATTERN_NOCASE : 0);
	struct pattern *pattern = pattern_compile(text, strlen(text), pattern_flags, NULL);
	const struct talk_request request = {
		.roots = roots, .n = 2, .pattern = text, .query = "", .exclude = exclude,
		.nexclude = flags & EXCLUDE ? 1 : 0, .levels = flags & DEPTH ? MAXDEPTH + 1 : 0,
		.flags = (flags & METADATA ? SEARCH_METADATA : 0) | (flags & XDEV ? SEARCH_XDEV : 0)
		         | (int)pattern_flags,
		.self = flags & WALK && flags & EXCLUDE,
		.engine = flags & WALK ? SEARCH_ENGINE_SYNC : SEARCH_ENGINE_AUTO,
	};
	if (pattern) {
		struct strbuf whole, cut;
		size_t left = (size_t)(in.end - in.at);
		if (*path == '/' && !talk_path_wrong(path, strlen(path)))
			check_parts(&request, pattern, pattern_flags, 32 + step, path);
		converse(&request, pattern, flags, in.at, left, left + 1, &whole);
		converse(&request, pattern, flags, in.at, left, step, &cut);
		FUZZ_CHECK(whole.len == cut.len && memcmp(whole.data, cut.data, cut.len) == 0);
		strbuf_destroy(&whole);
		strbuf_destroy(&cut);
	}
	pattern_free(pattern);
	free(text);
	free(path);
	return 0;
}
