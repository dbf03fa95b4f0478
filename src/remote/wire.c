/* SPDX-License-Identifier: MIT */
/* Frames of the protocol of `getmnt serve`, and requests. */
#include "remote/wire.h"

#include "select/pattern.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>

/* A terminal or a connection in text mode would change the end of line, and the greeting would be
   refused. */
static const char magic[8] = {'G', 'E', 'T', 'M', 'N', 'T', '\r', '\n'};

/** Indexes of the numbers at the start of a request, of 32 bits each. */
enum {
	N_FLAGS, N_TYPES, N_MASK, N_WANTS, N_ENGINE, N_THREADS, N_DEPTH, N_MINDEPTH, N_LEVELS,
	N_ROOTS, N_EXCLUDE, N_NAME_ROOT, N_COUNT,
};

/** Bits of the number N_WANTS: true members of struct talk_request. */
enum {
	WANT_TYPE = 1, WANT_LINKS = 2, WANT_OPTIONAL = 4, WANT_BLOCKING = 8, WANT_AHEAD = 16,
	WANT_SELF = 32, WANT_FILES = 64, WANT_FOLLOW_ROOTS = 128, WANT_XATTRS = 256,
	WANT_EXPORTED = 512, WANT_ALL = 1023,
};

/** Minimum bytes of a string in a request: its length and its NUL. */
enum { STRING_LEAST = sizeof(uint32_t) + 1 };

static void put_number(struct strbuf *out, uint32_t value)
{
	value = htole32(value);
	strbuf_add(out, (const char *)&value, sizeof(value));
}

static uint32_t get_number(const char *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return le32toh(value);
}

void wire_greet(struct strbuf *out)
{
	strbuf_add(out, magic, sizeof(magic));
	put_number(out, WIRE_VERSION);
	put_number(out, 0);
}

size_t wire_begin(struct strbuf *out, enum wire_kind kind)
{
	size_t place = out->len;
	put_number(out, 0);
	put_number(out, kind);
	return place;
}

void wire_finish(struct strbuf *out, size_t place)
{
	if (out->failed)
		return;
	assert(place + WIRE_HEAD <= out->len && out->len - place - WIRE_HEAD <= UINT32_MAX);
	uint32_t len = htole32((uint32_t)(out->len - place - WIRE_HEAD));
	memcpy(out->data + place, &len, sizeof(len));
}

void wire_put_refused(struct strbuf *out, const char *text)
{
	size_t place = wire_begin(out, WIRE_REFUSED);
	strbuf_add(out, text, strnlen(text, WIRE_TEXT_MAX));
	wire_finish(out, place);
}

/** Append the first line of received bytes, quoted, for a message. */
static void quote(struct strbuf *why, const char *bytes, size_t n)
{
	enum { SHOWN = 60 };
	size_t len = 0;
	while (len < n && len < SHOWN && bytes[len] != '\n' && bytes[len] != '\r' && bytes[len])
		++len;
	strbuf_puts(why, "\"");
	strbuf_add(why, bytes, len);
	strbuf_puts(why, len == SHOWN ? "...\"" : "\"");
}

/** Check the greeting.
    @return 1: complete; 0: further bytes are needed; -1: wrong, after appending the error to
    why. */
static int check_greeting(const struct wire_reader *reader, struct strbuf *why)
{
	const char *bytes = reader->kept.data;
	size_t n = reader->kept.len, same = n < sizeof(magic) ? n : sizeof(magic);
	if (n > 0 && memcmp(bytes, magic, same) != 0) {
		strbuf_printf(why, "%s ", reader->server ? "its answer is not that of getmnt serve:"
		              : "this is not a request of getmnt:");
		quote(why, bytes, n);
		if (reader->server)
			strbuf_puts(why, "; does a startup file of the shell there print it?");
		return -1;
	}
	if (n < WIRE_GREETING)
		return 0;
	uint32_t version = get_number(bytes + sizeof(magic));
	if (version != WIRE_VERSION) {
		strbuf_printf(why, "%s speaks version %u of the protocol, %s version %d: update "
		              "the older getmnt", reader->server ? "its getmnt" : "the client",
		              (unsigned)version, reader->server ? "this one" : "the server",
		              WIRE_VERSION);
		return -1;
	}
	return 1;
}

/** Get the maximum bytes of a frame of a kind; 0: the peer never sends such a frame. */
static uint32_t longest(const struct wire_reader *reader, uint32_t kind)
{
	static const uint32_t most[] = {
		[WIRE_ENTRIES] = WIRE_ENTRIES_MAX, [WIRE_END] = 4096,
		[WIRE_REFUSED] = WIRE_TEXT_MAX, [WIRE_ALIVE] = 1,
	};
	if (!reader->server)
		return kind == WIRE_REQUEST ? WIRE_REQUEST_MAX : 0;
	return kind < sizeof(most) / sizeof(*most) ? most[kind] : 0;
}

int wire_next(struct wire_reader *reader, struct wire_frame *frame, struct strbuf *why)
{
	if (!reader->greeted) {
		int rc = check_greeting(reader, why);
		if (rc <= 0)
			return rc;
		reader->greeted = true;
		reader->at = WIRE_GREETING;
	}
	assert(reader->at <= reader->kept.len);
	const char *bytes = reader->kept.data + reader->at;
	size_t n = reader->kept.len - reader->at;
	if (n < WIRE_HEAD)
		return 0;
	uint32_t len = get_number(bytes);
	frame->kind = get_number(bytes + 4);
	uint32_t most = longest(reader, frame->kind);
	if (most == 0) {
		strbuf_printf(why, "a frame of an unknown kind, %u", (unsigned)frame->kind);
		return -1;
	}
	if (len > most) {
		strbuf_printf(why, "a frame of kind %u with %u bytes, more than %u",
		              (unsigned)frame->kind, (unsigned)len, (unsigned)most);
		return -1;
	}
	if (n - WIRE_HEAD < len)
		return 0;
	frame->bytes = bytes + WIRE_HEAD;
	frame->len = len;
	reader->at += WIRE_HEAD + len;
	return 1;
}

void wire_forget(struct wire_reader *reader)
{
	struct strbuf *kept = &reader->kept;
	if (reader->at == 0)
		return;
	assert(reader->at <= kept->len);
	kept->len -= reader->at;
	memmove(kept->data, kept->data + reader->at, kept->len + 1);
	reader->at = 0;
}

static void put_string(struct strbuf *out, const char *text)
{
	size_t len = strlen(text);
	put_number(out, (uint32_t)len);
	strbuf_add(out, text, len + 1);
}

const char *wire_put_request(struct strbuf *out, const struct talk_request *request)
{
	const char *types = request->exclude_types ? request->exclude_types : "";
	const char *name = request->name ? request->name : "";
	const char *prefix = request->prefix ? request->prefix : "";
	size_t size = N_COUNT * sizeof(uint32_t) + 5 * STRING_LEAST + strlen(request->pattern)
	              + strlen(request->query) + strlen(types) + strlen(prefix) + strlen(name);
	bool fits = request->n <= WIRE_ROOTS_MAX && request->nexclude <= WIRE_ROOTS_MAX;
	for (size_t i = 0; fits && i < request->n; ++i)
		size += STRING_LEAST + strlen(request->roots[i]);
	for (size_t i = 0; fits && i < request->nexclude; ++i)
		size += STRING_LEAST + strlen(request->exclude[i]);
	if (!fits || size > WIRE_REQUEST_MAX)
		return "the request is longer than 4 MiB";
	const uint32_t numbers[N_COUNT] = {
		[N_FLAGS] = (uint32_t)request->flags, [N_TYPES] = request->types,
		[N_MASK] = request->mask,
		[N_WANTS] = (request->type ? WANT_TYPE : 0u) | (request->links ? WANT_LINKS : 0u)
		            | (request->optional ? WANT_OPTIONAL : 0u)
		            | (request->blocking ? WANT_BLOCKING : 0u)
		            | (request->ahead ? WANT_AHEAD : 0u)
		            | (request->self ? WANT_SELF : 0u)
		            | (request->files ? WANT_FILES : 0u)
		            | (request->follow_roots ? WANT_FOLLOW_ROOTS : 0u)
		            | (request->xattrs ? WANT_XATTRS : 0u)
		            | (request->exported ? WANT_EXPORTED : 0u),
		[N_ENGINE] = (uint32_t)request->engine, [N_THREADS] = request->threads,
		[N_DEPTH] = request->depth, [N_MINDEPTH] = request->mindepth,
		[N_LEVELS] = request->levels,
		[N_ROOTS] = (uint32_t)request->n, [N_EXCLUDE] = (uint32_t)request->nexclude,
		[N_NAME_ROOT] = (uint32_t)request->name_root,
	};
	size_t place = wire_begin(out, WIRE_REQUEST);
	for (int i = 0; i < N_COUNT; ++i)
		put_number(out, numbers[i]);
	put_string(out, request->pattern);
	put_string(out, request->query);
	put_string(out, types);
	put_string(out, prefix);
	put_string(out, name);
	for (size_t i = 0; i < request->n; ++i)
		put_string(out, request->roots[i]);
	for (size_t i = 0; i < request->nexclude; ++i)
		put_string(out, request->exclude[i]);
	assert(out->failed || out->len - place == WIRE_HEAD + size);
	wire_finish(out, place);
	return NULL;
}

/** Get a string of at most `most` bytes from a request.
    @at [in,out]  The offset of the string; the offset after it.
    @return NULL: the string is not valid. */
static const char *get_string(const char *bytes, size_t len, size_t *at, size_t most)
{
	if (len - *at < STRING_LEAST)
		return NULL;
	size_t n = get_number(bytes + *at), room = len - *at - STRING_LEAST;
	const char *text = bytes + *at + sizeof(uint32_t);
	if (n > most || n > room || text[n] != '\0' || memchr(text, '\0', n))
		return NULL;
	*at += STRING_LEAST + n;
	return text;
}

/** Get n strings from a request.
    @return NULL: a string is not valid, or memory ran out. */
static const char **get_strings(const char *bytes, size_t len, size_t *at, size_t n)
{
	if (n > WIRE_ROOTS_MAX || n > (len - *at) / STRING_LEAST)
		return NULL;
	const char **texts = malloc((n + 1) * sizeof(*texts));
	for (size_t i = 0; texts && i < n; ++i) {
		texts[i] = get_string(bytes, len, at, len);
		if (!texts[i]) {
			free(texts);
			return NULL;
		}
	}
	return texts;
}

/** Check talk_request.name, which is set if the request is for a part of a larger search.
    @return NULL, or the error, as a phrase. */
static const char *check_name(const struct talk_request *request)
{
	size_t len = strlen(request->name), root = request->name_root;
	if (root > len || talk_path_wrong(request->name + root, len - root))
		return "the place of its directory in a larger search";
	if (len > 0 && request->flags & SEARCH_FOLLOW)
		return "a part of a larger search does not follow symbolic links";
	return len > 0 && request->n != 1 ? "a part of a larger search has one directory" : NULL;
}

int wire_get_request(const char *bytes, size_t len, struct talk_request *request,
                     struct strbuf *why)
{
	uint32_t numbers[N_COUNT];
	size_t at = sizeof(numbers);
	*request = (struct talk_request){0};
	if (len < sizeof(numbers)) {
		strbuf_puts(why, "the request is truncated");
		return -1;
	}
	for (int i = 0; i < N_COUNT; ++i)
		numbers[i] = get_number(bytes + (size_t)i * sizeof(uint32_t));
	const uint32_t wants = numbers[N_WANTS];
	if (wants & ~(uint32_t)WANT_ALL) {
		strbuf_puts(why, "the request wants something that this version does not know: "
		            "update the older getmnt");
		return -1;
	}
	*request = (struct talk_request){
		.n = numbers[N_ROOTS], .nexclude = numbers[N_EXCLUDE],
		.flags = (int)numbers[N_FLAGS], .types = numbers[N_TYPES],
		.mask = numbers[N_MASK], .type = wants & WANT_TYPE,
		.links = wants & WANT_LINKS, .optional = wants & WANT_OPTIONAL,
		.blocking = wants & WANT_BLOCKING, .ahead = wants & WANT_AHEAD,
		.self = wants & WANT_SELF, .files = wants & WANT_FILES,
		.follow_roots = wants & WANT_FOLLOW_ROOTS, .xattrs = wants & WANT_XATTRS,
		.exported = wants & WANT_EXPORTED,
		.engine = (int)numbers[N_ENGINE], .threads = numbers[N_THREADS],
		.depth = numbers[N_DEPTH], .mindepth = numbers[N_MINDEPTH],
		.levels = numbers[N_LEVELS], .name_root = numbers[N_NAME_ROOT],
	};
	request->pattern = get_string(bytes, len, &at, PATTERN_MAX);
	request->query = request->pattern ? get_string(bytes, len, &at, len) : NULL;
	request->exclude_types = request->query ? get_string(bytes, len, &at, len) : NULL;
	request->prefix = request->exclude_types ? get_string(bytes, len, &at, TALK_PATH_MAX)
	                  : NULL;
	request->name = request->prefix ? get_string(bytes, len, &at, TALK_PATH_MAX) : NULL;
	request->roots = request->name ? get_strings(bytes, len, &at, request->n) : NULL;
	request->exclude = request->roots ? get_strings(bytes, len, &at, request->nexclude) : NULL;
	const char *wrong = "its strings do not fill it";
	if (request->exclude && at == len) {
		wrong = check_name(request);
		request->name = *request->name ? request->name : NULL;
	}
	if (!wrong)
		return 0;
	wire_request_destroy(request);
	strbuf_printf(why, "the request is not valid: %s", wrong);
	return -1;
}

void wire_request_destroy(struct talk_request *request)
{
	free((void *)(uintptr_t)request->roots);
	free((void *)(uintptr_t)request->exclude);
	request->roots = request->exclude = NULL;
}
