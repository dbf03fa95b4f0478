/* SPDX-License-Identifier: MIT */
/**
 * The protocol of `getmnt serve`: requests and answers as bytes.  docs/PROTOCOL.md describes it.
 * Pure: what is read and written are buffers.
 *
 *     client                                  server
 *     greeting, REQUEST ------------------->
 *                       <-------------------  greeting, ENTRIES ..., END     or REFUSED
 *     REQUEST, ...      ------------------->
 *
 * Both sides are hostile to each other: every length is checked before it is used, and a reader
 * keeps at most one frame.
 */
#ifndef GM_REMOTE_WIRE_H
#define GM_REMOTE_WIRE_H

#include "remote/talk.h"

#include <stdint.h>

enum {
	WIRE_VERSION = 1,
	WIRE_GREETING = 16,            /* bytes of a greeting */
	WIRE_HEAD = 8,                 /* bytes before the contents of a frame */
	WIRE_BATCH = 64 * 1024,        /* a server ends a frame of entries that is longer */
	WIRE_REQUEST_MAX = 4 << 20,
	WIRE_ENTRIES_MAX = 3 << 20,    /* WIRE_BATCH, and an entry with two long paths */
	WIRE_TEXT_MAX = 4096,          /* of a refusal */
	WIRE_ROOTS_MAX = 65536,        /* roots, and exclusions */
};

/** Kinds of frames. */
enum wire_kind {
	WIRE_REQUEST = 1,    /* client: a search */
	WIRE_ENTRIES = 2,    /* server: objects and errors */
	WIRE_END = 3,        /* server: the answer is complete */
	WIRE_REFUSED = 4,    /* server: a text says why; the connection ends */
	WIRE_ALIVE = 5,      /* server: empty, nothing was found for some time */
};

/** A frame that was received. */
struct wire_frame {
	uint32_t kind;
	const char *bytes;   /* its contents, valid until more bytes are added */
	size_t len;
};

/** Received bytes that are not used yet.  Invariant: after wire_next() has returned 0, only one
    incomplete frame, or a part of the greeting, follows the bytes that were used. */
struct wire_reader {
	struct strbuf kept;
	size_t at;           /* bytes of it that were used */
	bool server;         /* they come from a server */
	bool greeted;
};

/** Get the next frame of the bytes in reader->kept.
    @why  [out] What is wrong: appended.
    @return 1: a frame; 0: more bytes are needed; -1: this is not the protocol, or another
    version. */
int wire_next(struct wire_reader *reader, struct wire_frame *frame, struct strbuf *why);

/** Remove the bytes that were used. */
void wire_forget(struct wire_reader *reader);

/** Append the greeting. */
void wire_greet(struct strbuf *out);

/** Begin a frame.  @return its place, for wire_finish(). */
size_t wire_begin(struct strbuf *out, enum wire_kind kind);

/** The contents of a frame are complete: set its length. */
void wire_finish(struct strbuf *out, size_t place);

/** Append the frame of a request.  @return NULL, or why it cannot be sent. */
const char *wire_put_request(struct strbuf *out, const struct talk_request *request);

/** Parse the contents of a request.
    @request  [out] Its strings are in `bytes`; wire_request_destroy() frees its arrays.
    @return 0, or -1: why is appended. */
int wire_get_request(const char *bytes, size_t len, struct talk_request *request,
                     struct strbuf *why);
void wire_request_destroy(struct talk_request *request);

/** Append an entry to the contents of a frame of entries. */
void wire_put_entry(struct strbuf *out, const struct talk_entry *entry);

/** Append the frame that ends an answer.
    @error  Why the search ended early, an errno; or 0. */
void wire_put_end(struct strbuf *out, const struct search_counts *counts, int error);

/** Append the frame of a refusal, which ends the connection. */
void wire_put_refused(struct strbuf *out, const char *text);

/** A client's side of the conversation.  @return NULL: memory ran out. */
struct talk *wire_talk_new(void);

#endif
