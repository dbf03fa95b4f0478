/* SPDX-License-Identifier: MIT */
/**
 * The protocol of `getmnt serve`: convert requests and answers to bytes and back. docs/PROTOCOL.md
 * describes it.  Pure: the functions read and write buffers.
 *
 *     client                                  server
 *     greeting, REQUEST ------------------->
 *                       <-------------------  greeting, ENTRIES ..., END     or REFUSED
 *     REQUEST, ...      ------------------->
 *
 * Either side may be hostile: every length is checked before it is used, and a reader keeps at most
 * one incomplete frame.
 */
#ifndef GM_REMOTE_WIRE_H
#define GM_REMOTE_WIRE_H

#include "remote/talk.h"

#include <stdint.h>

enum {
	WIRE_VERSION = 1,
	WIRE_GREETING = 16,            /* bytes of a greeting */
	WIRE_HEAD = 8,                 /* bytes of the length and kind before the contents of a
	                                  frame */
	WIRE_BATCH = 64 * 1024,        /* size in bytes at which a server ends a frame of entries */
	WIRE_REQUEST_MAX = 4 << 20,
	WIRE_ENTRIES_MAX = 3 << 20,    /* maximum bytes: WIRE_BATCH, and an entry with two long
	                                  paths */
	WIRE_TEXT_MAX = 4096,          /* maximum bytes of a refusal */
	WIRE_ROOTS_MAX = 65536,        /* maximum number of roots, and of patterns to exclude */
};

/** Kinds of frames. */
enum wire_kind {
	WIRE_REQUEST = 1,    /* from the client: a search */
	WIRE_ENTRIES = 2,    /* from the server: objects and errors */
	WIRE_END = 3,        /* from the server: the answer is complete */
	WIRE_REFUSED = 4,    /* from the server: the reason of a refusal, as text; the connection
	                        ends */
	WIRE_ALIVE = 5,      /* from the server, empty: the search goes on, but nothing was found
	                        for some time */
};

/** A frame that was received. */
struct wire_frame {
	uint32_t kind;
	const char *bytes;   /* contents; valid until bytes are added to the reader */
	size_t len;
};

/** Received bytes.  Invariant: after wire_next() has returned 0, only one incomplete frame, or a
    part of the greeting, follows the bytes that were used. */
struct wire_reader {
	struct strbuf kept;
	size_t at;           /* number of bytes at the start of `kept` that were used */
	bool server;         /* the bytes come from a server */
	bool greeted;
};

/** Get the next frame from the bytes in reader->kept.
    @why [out]  The error is appended.
    @return 1: a frame; 0: further bytes are needed; -1: the bytes are not this protocol, or are a
    different version of it. */
int wire_next(struct wire_reader *reader, struct wire_frame *frame, struct strbuf *why);

/** Remove the bytes of reader->kept that were used. */
void wire_forget(struct wire_reader *reader);

/** Append the greeting, with which each side begins. */
void wire_greet(struct strbuf *out);

/** Append the head of a frame.
    @return the offset of the frame, for wire_finish(). */
size_t wire_begin(struct strbuf *out, enum wire_kind kind);

/** Set the length of a frame whose contents are complete.
    @place  As returned by wire_begin(). */
void wire_finish(struct strbuf *out, size_t place);

/** Append a request as a frame.
    @return NULL, or the reason why it cannot be sent. */
const char *wire_put_request(struct strbuf *out, const struct talk_request *request);

/** Parse the contents of a request.
    @request [out]  The strings point into `bytes`; wire_request_destroy() frees the arrays.
    @return 0, or -1 after appending the error to why. */
int wire_get_request(const char *bytes, size_t len, struct talk_request *request,
                     struct strbuf *why);
void wire_request_destroy(struct talk_request *request);

/** Append an entry to a frame of kind WIRE_ENTRIES, which wire_begin() began. */
void wire_put_entry(struct strbuf *out, const struct talk_entry *entry);

/** Append the frame that ends an answer.
    @error  The errno with which the search ended early; 0: it is complete. */
void wire_put_end(struct strbuf *out, const struct search_counts *counts, int error);

/** Append the frame of a refusal, which ends the connection. */
void wire_put_refused(struct strbuf *out, const char *text);

/** Make a conversation, the client's side of the protocol.
    @return NULL: memory ran out. */
struct talk *wire_talk_new(void);

#endif
