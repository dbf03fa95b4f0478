/* SPDX-License-Identifier: MIT */
/*
 * Answers of `getmnt serve`, and the client's side of the conversation.
 *
 * An entry is a struct wire_item in little-endian order: a struct search_item of
 * getmnt/search_paper.h with further numbers.  Its attributes, path, symlink target and extended
 * attributes follow it, as in search_paper.h.
 */
#include "remote/wire.h"

#include "getmnt/search_paper.h"

#include <assert.h>
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

enum { ALIGN = 8, ATTRIBUTES = sizeof(struct k_statx), ERRNO_MAX = 4095 };

struct wire_item {
	struct search_item item;
	uint32_t root;
	uint32_t target;       /* offset of a symlink's target from the start of the item; 0: no
	                          target */
	uint32_t target_len;   /* bytes of the target without its NUL */
	uint32_t xattrs;       /* offset of the names of extended attributes, each with a NUL; 0:
	                          not known */
	uint32_t xattrs_len;
	uint32_t actions;
};
_Static_assert(sizeof(struct wire_item) == 48, "as docs/PROTOCOL.md says");

/** The contents of WIRE_END. */
struct wire_end {
	int32_t error;
	uint32_t zero;
	uint64_t counts[7];    /* the members of struct search_counts */
};
_Static_assert(sizeof(struct wire_end) == 64, "as docs/PROTOCOL.md says");
_Static_assert(sizeof(struct search_counts) == sizeof(((struct wire_end *)NULL)->counts),
               "struct search_counts has seven members");

/** Convert the numbers of an item between the byte order of this machine and little-endian. */
static void item_order(struct wire_item *item)
{
	struct search_item *i = &item->item;
	i->size = htole32(i->size);
	i->path = htole32(i->path);
	i->path_len = htole32(i->path_len);
	i->statx = htole32(i->statx);
	i->err = (int32_t)htole32((uint32_t)i->err);
	i->errsource = htole16(i->errsource);
	item->root = htole32(item->root);
	item->target = htole32(item->target);
	item->target_len = htole32(item->target_len);
	item->xattrs = htole32(item->xattrs);
	item->xattrs_len = htole32(item->xattrs_len);
	item->actions = htole32(item->actions);
}

static void end_order(struct wire_end *end)
{
	end->error = (int32_t)htole32((uint32_t)end->error);
	end->zero = htole32(end->zero);
	for (size_t i = 0; i < sizeof(end->counts) / sizeof(*end->counts); ++i)
		end->counts[i] = htole64(end->counts[i]);
}

/* The number of bytes of each member of struct k_statx, one digit each. */
static const char widths[] = "448" "44422" "8888" "844844844844" "4444" "844" "888888888888";

/** Assert that the widths add up to struct k_statx: on a little-endian machine no other code uses
    them. */
static void widths_check(void)
{
	size_t sum = 0;
	for (const char *w = widths; *w; ++w)
		sum += (size_t)(*w - '0');
	assert(sum == sizeof(struct k_statx));
	(void)sum;
}

/** Convert a struct k_statx between the byte order of this machine and little-endian. */
static void statx_order(char *bytes)
{
	for (const char *w = widths; BYTE_ORDER == BIG_ENDIAN && *w; bytes += *w++ - '0') {
		int n = *w - '0';
		for (int i = 0; i < n / 2; ++i) {
			char byte = bytes[i];
			bytes[i] = bytes[n - 1 - i];
			bytes[n - 1 - i] = byte;
		}
	}
}

void wire_put_entry(struct strbuf *out, const struct talk_entry *entry)
{
	struct wire_item item = {
		.item = {
			.path_len = (uint32_t)entry->len, .err = entry->err,
			.errsource = (uint16_t)entry->errsource, .type = entry->type,
		},
		.root = (uint32_t)entry->root, .actions = entry->actions,
	};
	size_t at = sizeof(item);
	if (entry->st) {
		item.item.statx = (uint32_t)at;
		at += ATTRIBUTES;
	}
	item.item.path = (uint32_t)at;
	at += entry->len + 1;
	if (entry->target) {
		item.target = (uint32_t)at;
		item.target_len = (uint32_t)entry->target_len;
		at += entry->target_len + 1;
	}
	if (entry->xattrs) {
		item.xattrs = (uint32_t)at;
		item.xattrs_len = (uint32_t)entry->xattrs_len;
		at += entry->xattrs_len + 1;
	}
	size_t size = (at + ALIGN - 1) / ALIGN * ALIGN;
	assert(size <= UINT32_MAX && (entry->err == 0 || !entry->st));
	item.item.size = (uint32_t)size;
	item_order(&item);
	char *to = strbuf_extend(out, size);
	if (!to)
		return;
	memset(to + size - ALIGN, 0, ALIGN);
	to = mempcpy(to, &item, sizeof(item));
	if (entry->st) {
		memcpy(to, entry->st, ATTRIBUTES);
		statx_order(to);
		to += ATTRIBUTES;
	}
	to = mempcpy(to, entry->path, entry->len);
	*to++ = '\0';
	if (entry->target) {
		to = mempcpy(to, entry->target, entry->target_len);
		*to++ = '\0';
	}
	if (entry->xattrs) {
		to = mempcpy(to, entry->xattrs, entry->xattrs_len);
		*to = '\0';
	}
}

void wire_put_end(struct strbuf *out, const struct search_counts *counts, int error)
{
	struct wire_end end = {.error = error};
	size_t place = wire_begin(out, WIRE_END);
	memcpy(end.counts, counts, sizeof(end.counts));
	end_order(&end);
	strbuf_add(out, (const char *)&end, sizeof(end));
	wire_finish(out, place);
}

/** A conversation, on the client's side. */
struct wire_talk {
	struct talk talk;
	struct wire_reader reader;
	size_t roots;          /* number of roots of the request */
	unsigned actions;      /* number of actions of the request's query */
	bool meta, optional;   /* meta: the request needs attributes; optional:
	                          talk_request.optional */
	uint32_t attributes;   /* talk_request.attributes */
};

/** Whether a string of an item, with its NUL, lies within the `size` bytes of the item. */
static bool string_in(const char *bytes, size_t size, uint32_t at, uint32_t len)
{
	return at >= sizeof(struct wire_item) && at < size && len < size - at
	       && bytes[at + len] == '\0';
}

/** Check an item of the server.
    @return NULL, or the error, as a phrase. */
static const char *item_wrong(const struct wire_talk *wire, const struct wire_item *item,
                              const char *bytes)
{
	static const unsigned types = 1u << DT_UNKNOWN | 1u << DT_FIFO | 1u << DT_CHR | 1u << DT_DIR
	                              | 1u << DT_BLK | 1u << DT_REG | 1u << DT_LNK | 1u << DT_SOCK;
	const struct search_item *i = &item->item;
	if (i->zero != 0)
		return "an entry has unknown members";
	if (item->root >= wire->roots)
		return "an entry below a directory that was not requested";
	if (!string_in(bytes, i->size, i->path, i->path_len)
	    || (item->target && !string_in(bytes, i->size, item->target, item->target_len))
	    || (item->xattrs && !string_in(bytes, i->size, item->xattrs, item->xattrs_len))
	    || (i->statx && (i->statx < sizeof(*item) || i->statx > i->size
	                     || i->size - i->statx < ATTRIBUTES)))
		return "an entry has a part that lies outside of it";
	if (item->target && memchr(bytes + item->target, '\0', item->target_len))
		return "the target of a symbolic link has a NUL";
	if (item->xattrs && item->xattrs_len > 0
	    && bytes[item->xattrs + item->xattrs_len - 1] != '\0')
		return "the name of an extended attribute has no end";
	if (i->type > 31 || !(types >> i->type & 1))
		return "an entry of an unknown type";
	if ((i->err == 0 && wire->actions > 0) != (item->actions != 0)
	    || (wire->actions < TALK_ACTIONS && item->actions >> wire->actions))
		return "an entry has the wrong actions";
	if (i->err == 0 && i->errsource == 0)
		/* Without attributes an object may be a result if the request allows it
		   (`optional`), or if all actions of the query that it reaches need no
		   attributes. */
		return wire->meta && !wire->optional && !i->statx
		       && (!wire->actions || item->actions & wire->attributes)
		       ? "an object without its attributes" : NULL;
	const unsigned sources = 1u << SEARCH_ERR_OPEN | 1u << SEARCH_ERR_READ
	                         | 1u << SEARCH_ERR_STAT | 1u << SEARCH_ERR_ACCESS
	                         | 1u << SEARCH_ERR_LIMIT;
	return i->err > 0 && i->err <= ERRNO_MAX && i->errsource <= SEARCH_ERR_LIMIT
	       && sources >> i->errsource & 1 && !i->statx && !item->target && !item->xattrs
	       ? NULL : "an error that does not exist";
}

/** Pass the entries of a frame to the sink. */
static void take_entries(struct wire_talk *wire, const char *bytes, size_t len,
                         struct talk_sink *sink)
{
	for (size_t at = 0; at < len;) {
		struct wire_item item;
		struct k_statx st;
		if (len - at < sizeof(item)) {
			talk_fail(&wire->talk, "an entry is truncated");
			return;
		}
		memcpy(&item, bytes + at, sizeof(item));
		item_order(&item);
		const struct search_item *i = &item.item;
		const char *wrong = "an entry is longer than its frame";
		if (i->size >= sizeof(item) && i->size % ALIGN == 0 && i->size <= len - at)
			wrong = item_wrong(wire, &item, bytes + at);
		if (wrong) {
			talk_fail(&wire->talk, "%s", wrong);
			return;
		}
		const char *path = bytes + at + i->path;
		wrong = talk_path_wrong(path, i->path_len);
		if (wrong) {
			talk_fail(&wire->talk, "a path that cannot be below the directory: %s",
			          wrong);
			return;
		}
		const bool has_st = i->statx && wire->meta;
		if (has_st) {
			memcpy(&st, bytes + at + i->statx, ATTRIBUTES);
			statx_order((char *)&st);
		}
		sink->entry(sink, &(struct talk_entry){
			.root = item.root, .path = path, .len = i->path_len,
			.target = item.target ? bytes + at + item.target : NULL,
			.target_len = item.target_len,
			.xattrs = item.xattrs ? bytes + at + item.xattrs : NULL,
			.xattrs_len = item.xattrs_len, .st = has_st ? &st : NULL,
			.type = i->type, .actions = item.actions, .err = i->err,
			.errsource = i->errsource,
		});
		at += i->size;
	}
}

/** Process the frame that ends an answer. */
static void take_end(struct wire_talk *wire, const char *bytes, size_t len)
{
	struct wire_end end;
	if (len != sizeof(end)) {
		talk_fail(&wire->talk, "the end of the answer has %zu bytes", len);
		return;
	}
	memcpy(&end, bytes, sizeof(end));
	end_order(&end);
	memcpy(&wire->talk.counts, end.counts, sizeof(end.counts));
	if (end.error != 0)
		talk_fail(&wire->talk, "the search ended early there: %s", strerror(end.error));
	else
		wire->talk.state = TALK_DONE;
}

/** Process a frame in the state TALK_GOING. */
static void take_frame(struct wire_talk *wire, const struct wire_frame *frame,
                       struct talk_sink *sink)
{
	switch ((enum wire_kind)frame->kind) {
	case WIRE_ENTRIES:
		take_entries(wire, frame->bytes, frame->len, sink);
		break;
	case WIRE_END:
		take_end(wire, frame->bytes, frame->len);
		break;
	case WIRE_REFUSED:
		talk_fail(&wire->talk, "refused there: %.*s", (int)frame->len, frame->bytes);
		break;
	case WIRE_ALIVE:
	case WIRE_REQUEST:
		break;
	}
}

static void wire_ask(struct talk *talk, const struct talk_request *request)
{
	struct wire_talk *wire = (struct wire_talk *)talk;
	assert(talk->state == TALK_DONE && wire->reader.at == 0);
	if (!talk->met && talk->out.len == 0)
		wire_greet(&talk->out);
	talk->state = TALK_GOING;
	wire->roots = request->n;
	wire->actions = request->actions;
	wire->meta = talk_has_attributes(request);
	wire->optional = request->optional;
	wire->attributes = request->attributes;
	const char *wrong = wire_put_request(&talk->out, request);
	if (wrong || talk->out.failed)
		talk_fail(talk, "%s", wrong ? wrong : strerror(ENOMEM));
}

static void wire_take(struct talk *talk, const char *bytes, size_t n, struct talk_sink *sink)
{
	struct wire_talk *wire = (struct wire_talk *)talk;
	struct wire_reader *reader = &wire->reader;
	struct wire_frame frame;
	struct strbuf why = {0};
	int rc = 0;
	strbuf_add(&reader->kept, bytes, n);
	if (reader->kept.failed)
		talk_fail(talk, "%s", strerror(ENOMEM));
	while (talk->state == TALK_GOING && (rc = wire_next(reader, &frame, &why)) > 0)
		take_frame(wire, &frame, sink);
	talk->met |= reader->greeted;
	if (rc < 0)
		talk_fail(talk, "%s", strbuf_str(&why));
	else if (talk->state == TALK_DONE && reader->at < reader->kept.len)
		talk_fail(talk, "more was sent after the end of the answer");
	wire_forget(reader);
	strbuf_destroy(&why);
}

static void wire_ended(struct talk *talk)
{
	if (talk->state != TALK_DONE)
		talk_fail(talk, "the connection ended %s", talk->met
		          ? "before the answer was complete" : "before getmnt answered there");
}

static void wire_free(struct talk *talk)
{
	struct wire_talk *wire = (struct wire_talk *)talk;
	if (!wire)
		return;
	strbuf_destroy(&wire->reader.kept);
	talk_destroy(talk);
	free(wire);
}

struct talk *wire_talk_new(void)
{
	static const struct talk_ops ops = {wire_ask, wire_take, wire_ended, wire_free};
	struct wire_talk *wire = calloc(1, sizeof(*wire));
	if (!wire)
		return NULL;
	talk_init(&wire->talk, &ops);
	widths_check();
	wire->reader.server = true;
	return &wire->talk;
}
