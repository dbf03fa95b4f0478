/* SPDX-License-Identifier: MIT */
/**
 * A growable byte string.
 *
 * An append that fails for lack of memory sets `failed`, which stays set, and leaves the contents
 * unchanged.  All later appends fail, too: a failed buffer never has a text with a hole ("-rf"
 * instead of "./-rf").  Callers append without checks and test once at the end:
 *
 *     text that the program acts on (names that are opened, renamed or removed, arguments of
 *     commands, bytes that are written to files or sent):  strbuf_text(), strbuf_take()
 *     text for people and for comparing:                   strbuf_str(), then `failed`
 *
 * build-aux/acts checks that `data` and strbuf_str() are not given to functions that act.
 */
#ifndef GM_BASE_STRBUF_H
#define GM_BASE_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { COPY_BLOCK = 32 };

/** Copy bytes in blocks, which is faster for short text.
    @to, @from  Both have COPY_BLOCK more bytes, which are overwritten in `to`.  The bytes of `from`
    after the text may overlap `to`.
    @return where the copy ends. */
static inline char *copy_blocks(char *to, const char *from, size_t len)
{
	/* Not by memmove(), which the compiler would call. */
	char block[COPY_BLOCK];
	for (size_t i = 0; i < len; i += COPY_BLOCK) {
		memcpy(block, from + i, COPY_BLOCK);
		memcpy(to + i, block, COPY_BLOCK);
	}
	return to + len;
}

struct arena;

struct strbuf {
	char *data;    /* NUL-terminated after the first append; before that NULL */
	size_t len;    /* bytes without the NUL */
	size_t size;   /* of `data`; after a failure no more than len, so that no append has room */
	bool failed;   /* an append failed: ENOMEM */
	struct arena *arena;   /* owns the bytes and records that an append failed; NULL: the buffer
	                          owns its bytes */
};

/** Empty a buffer that has no memory, as {0} does. */
void strbuf_init(struct strbuf *buf);

/** Free the buffer's memory; not needed if an arena owns it. */
void strbuf_destroy(struct strbuf *buf);

/** Empty the buffer, keeping its memory and a failure, so that a test at the end still sees it. */
void strbuf_reset(struct strbuf *buf);

/** Record that a part of the text is missing, as if an append had failed. */
void strbuf_fail(struct strbuf *buf);

/** Empty the buffer, and allow appends after a failure that was reported. */
void strbuf_renew(struct strbuf *buf);

/** Append n bytes for the caller to fill, and the NUL.
    @return the bytes, valid until the next append; NULL if memory ran out. */
static inline char *strbuf_extend(struct strbuf *buf, size_t n);

/** The slow path of strbuf_extend(): there is no room yet. */
char *strbuf_extend_more(struct strbuf *buf, size_t n);

static inline char *strbuf_extend(struct strbuf *buf, size_t n)
{
	if (n >= buf->size - buf->len)
		return strbuf_extend_more(buf, n);
	char *at = buf->data + buf->len;
	buf->len += n;
	at[n] = '\0';
	return at;
}

/** Make room for n more bytes.  @return false if memory ran out. */
static inline bool strbuf_room(struct strbuf *buf, size_t n)
{
	if (n < buf->size - buf->len)
		return true;
	if (!strbuf_extend_more(buf, n))
		return false;
	buf->len -= n;
	buf->data[buf->len] = '\0';
	return true;
}

/** Append n bytes. */
static inline void strbuf_add(struct strbuf *buf, const char *bytes, size_t n)
{
	char *to = strbuf_extend(buf, n);
	if (to)
		memcpy(to, bytes, n);
}

/** Forget a failure, keeping the contents: only where all that was appended since the last whole
    record was removed, or one append made the record. */
static inline void strbuf_forget(struct strbuf *buf)
{
	buf->failed = false;
}

/** Append n bytes to records that stay good if there is no memory for these.
    @return false: they were not appended, which is not a failure of the buffer. */
static inline bool strbuf_try(struct strbuf *buf, const char *bytes, size_t n)
{
	if (buf->failed)
		return false;
	strbuf_add(buf, bytes, n);
	bool added = !buf->failed;
	strbuf_forget(buf);
	return added;
}

/** Append a string. */
static inline void strbuf_puts(struct strbuf *buf, const char *str)
{
	strbuf_add(buf, str, strlen(str));
}

/** Append one byte. */
static inline void strbuf_putc(struct strbuf *buf, char c)
{
	strbuf_add(buf, &c, 1);
}

/** Append a number in decimal digits. */
void strbuf_number(struct strbuf *buf, uint64_t value);

/** Append formatted text. */
__attribute__((format(printf, 2, 3)))
void strbuf_printf(struct strbuf *buf, const char *format, ...);

/** The same with a va_list, which is consumed. */
__attribute__((format(printf, 2, 0)))
void strbuf_vprintf(struct strbuf *buf, const char *format, va_list args);

/** The current string, owned by the buffer; "" for an empty buffer.  After a failure a part of it
    is missing. */
const char *strbuf_str(const struct strbuf *buf);

/** The current string, whole, to act on.
    @return the string, owned by the buffer; NULL if an append had failed.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
const char *strbuf_text(const struct strbuf *buf);

/** Remove the string from the buffer, which has no arena and becomes empty.
    @return the string, which the caller frees; NULL if an append had failed.  Errors: ENOMEM. */
__attribute__((warn_unused_result))
char *strbuf_take(struct strbuf *buf);

#endif
