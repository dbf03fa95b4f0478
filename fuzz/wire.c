/* SPDX-License-Identifier: MIT */
/*
 * The protocol of getmnt serve, both sides: any bytes are an answer or a reason why not, however
 * they are cut into reads; every path is below its root; a request that is read can be written
 * again, and is the same.
 *
 * The input: a byte of flags (1: requests, for a server; 2: the request wanted attributes;
 * 4: but also takes objects without; 8: no greeting is put before the bytes; 16: it had a query of
 * three actions), a byte for the size
 * of the reads, and the bytes received.
 */
#include "lib/fuzz.h"

#include "remote/wire.h"

#include <stdlib.h>
#include <string.h>

enum { REQUESTS = 1, METADATA = 2, OPTIONAL = 4, BARE = 8, ACTIONS = 16 };

struct log {
	struct talk_sink sink;
	struct strbuf text;
	bool meta, optional, actions;
};

static const char *const roots[] = {"/a", "/b"};

static void log_entry(struct talk_sink *sink, const struct talk_entry *e)
{
	struct log *log = (struct log *)sink;
	FUZZ_CHECK(e->root < 2);
	FUZZ_CHECK(strlen(e->path) == e->len && !talk_path_wrong(e->path, e->len));
	FUZZ_CHECK(e->target ? strlen(e->target) == e->target_len : true);
	FUZZ_CHECK(e->err == 0 ? e->errsource == 0
	           : e->errsource >= SEARCH_ERR_OPEN && e->errsource <= SEARCH_ERR_LIMIT);
	FUZZ_CHECK(!e->st || (log->meta && e->err == 0));
	FUZZ_CHECK((e->actions != 0) == (log->actions && e->err == 0) && e->actions < 8);
	FUZZ_CHECK(e->st || e->err || !log->meta || log->optional);
	strbuf_printf(&log->text, "%zu %s %u %d %s", e->root, e->path, e->type, e->err,
	              e->target ? e->target : "");
	FUZZ_CHECK(!e->xattrs || e->xattrs[e->xattrs_len] == '\0');
	FUZZ_CHECK(!e->xattrs || e->xattrs_len == 0 || e->xattrs[e->xattrs_len - 1] == '\0');
	if (e->xattrs)
		strbuf_add(&log->text, e->xattrs, e->xattrs_len + 1);
	if (e->st)
		strbuf_add(&log->text, (const char *)e->st, sizeof(*e->st));
	strbuf_putc(&log->text, '\n');
}

/** Give an answer to a client.  @log [out]  What came of it. */
static void converse(const char *bytes, size_t n, size_t step, unsigned flags, struct strbuf *log)
{
	struct log sink = {
		.sink = {.entry = log_entry}, .meta = flags & METADATA,
		.optional = flags & OPTIONAL, .actions = flags & ACTIONS,
	};
	struct talk *talk = wire_talk_new();
	FUZZ_CHECK(talk);
	talk->ops->ask(talk, &(struct talk_request){
		.roots = roots, .n = 2, .pattern = "*", .query = "", .optional = sink.optional,
		.flags = sink.meta ? SEARCH_METADATA : 0, .actions = sink.actions ? 3 : 0,
	});
	for (size_t at = 0; at < n && talk->state == TALK_GOING; at += step)
		talk->ops->take(talk, bytes + at, step < n - at ? step : n - at, &sink.sink);
	if (talk->state == TALK_GOING)
		talk->ops->end(talk);
	FUZZ_CHECK(talk->state == TALK_DONE || talk->why.len > 0);
	/* A text that is quoted is as long as what had come by then, and so is what had come
	   after the end. */
	strbuf_printf(&sink.text, "%d %d", talk->state == TALK_GOING, talk->met);
	talk->ops->free(talk);
	*log = sink.text;
}

/** Give requests to a server. */
static void serve(const char *bytes, size_t n, size_t step)
{
	struct wire_reader reader = {.server = false};
	struct strbuf why = {0};
	for (size_t at = 0; at < n && why.len == 0; at += step) {
		struct wire_frame frame;
		struct talk_request request;
		int rc;
		strbuf_add(&reader.kept, bytes + at, step < n - at ? step : n - at);
		while ((rc = wire_next(&reader, &frame, &why)) > 0) {
			struct strbuf again = {0};
			FUZZ_CHECK(frame.kind == WIRE_REQUEST);
			/* Exactly the bytes of the frame are read. */
			char *own = fuzz_alloc(frame.len);
			memcpy(own, frame.bytes, frame.len);
			if (wire_get_request(own, frame.len, &request, &why) == 0) {
				FUZZ_CHECK(!wire_put_request(&again, &request));
				FUZZ_CHECK(again.len == WIRE_HEAD + frame.len);
				FUZZ_CHECK(memcmp(again.data + WIRE_HEAD, own, frame.len) == 0);
				wire_request_destroy(&request);
			} else {
				FUZZ_CHECK(why.len > 0);
			}
			free(own);
			strbuf_destroy(&again);
		}
		FUZZ_CHECK((rc < 0) <= (why.len > 0));
		wire_forget(&reader);
		FUZZ_CHECK(reader.kept.len < WIRE_REQUEST_MAX + WIRE_HEAD + WIRE_GREETING + step);
	}
	strbuf_destroy(&reader.kept);
	strbuf_destroy(&why);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	unsigned flags = fuzz_byte(&in);
	size_t step = fuzz_byte(&in) + 1u;
	struct strbuf bytes = {0}, whole, cut;
	if (!(flags & BARE))
		wire_greet(&bytes);
	strbuf_add(&bytes, in.at, (size_t)(in.end - in.at));
	if (flags & REQUESTS) {
		serve(strbuf_str(&bytes), bytes.len, step);
	} else {
		converse(strbuf_str(&bytes), bytes.len, bytes.len + 1, flags, &whole);
		converse(strbuf_str(&bytes), bytes.len, step, flags, &cut);
		FUZZ_CHECK(whole.len == cut.len && memcmp(whole.data, cut.data, cut.len) == 0);
		strbuf_destroy(&whole);
		strbuf_destroy(&cut);
	}
	strbuf_destroy(&bytes);
	return 0;
}
