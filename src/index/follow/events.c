/* SPDX-License-Identifier: MIT */
#include "index/follow/events.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/fanotify.h>

/* Types of information records in an event; the last two are of FAN_RENAME (Linux 5.17). */
enum { INFO_FID = 1, INFO_DFID_NAME = 2, INFO_DFID = 3, INFO_OLD_NAME = 10, INFO_NEW_NAME = 12 };

enum { READS = 256 };   /* maximum reads in a call of file_events_read() */

/** The beginning of struct fanotify_event_info_fid, including the header of its struct
    file_handle. */
struct info_head {
	uint8_t kind, pad;
	uint16_t len;
	int32_t fsid[2];
	uint32_t bytes;
	int32_t type;
};
_Static_assert(sizeof(struct info_head) == 20, "fanotify_event_info_fid");

static bool is_full(const struct file_events *e)
{
	return e->bytes.len + e->nhandles * sizeof(*e->handles) + e->nplaces * sizeof(*e->places)
	               > e->most
	       || e->bytes.len > UINT32_MAX / 2;
}

/** Find or add a handle.  @return its index in `handles`, or EVENTS_NONE (ENOMEM). */
static uint32_t add_handle(struct file_events *e, const struct info_head *head, const char *data)
{
	uint64_t hash = map64_bytes(MAP64_BYTES ^ (uint32_t)head->type, data, head->bytes);
	uint32_t first = map64_get(&e->by_handle, hash);
	for (uint32_t i = first; i != EVENTS_NONE; i = e->handles[i].chain) {
		const struct events_handle *old = &e->handles[i];
		assert(i < e->nhandles && (old->chain == EVENTS_NONE || old->chain < i));
		if (old->len == head->bytes && old->type == head->type
		    && memcmp(e->bytes.data + old->bytes, data, head->bytes) == 0)
			return i;
	}
	if (!ARRAY_ROOM(e->handles, e->nhandles, &e->handles_room)
	    || map64_set(&e->by_handle, hash, (uint32_t)e->nhandles) == MAP64_NONE)
		return EVENTS_NONE;
	e->handles[e->nhandles] = (struct events_handle){
		.first = EVENTS_NONE, .last = EVENTS_NONE, .chain = first,
		.bytes = (uint32_t)e->bytes.len, .len = head->bytes, .type = head->type,
	};
	strbuf_add(&e->bytes, data, head->bytes);
	return e->bytes.failed ? EVENTS_NONE : (uint32_t)e->nhandles++;
}

/** Find or add a name of a directory.  @return 0, or -1 (ENOMEM). */
static int add_place(struct file_events *e, uint32_t dir, const char *name, size_t len)
{
	uint64_t hash = map64_bytes(map64_bytes(MAP64_BYTES, (const char *)&dir, sizeof(dir)), name,
	                            len);
	uint32_t first = map64_get(&e->by_place, hash);
	assert(dir < e->nhandles);
	for (uint32_t i = first; i != EVENTS_NONE; i = e->places[i].chain) {
		assert(i < e->nplaces);
		if (e->places[i].dir == dir && e->places[i].len == len
		    && memcmp(e->bytes.data + e->places[i].name, name, len) == 0)
			return 0;
	}
	uint32_t at = (uint32_t)e->nplaces;
	if (!ARRAY_ROOM(e->places, e->nplaces, &e->places_room)
	    || map64_set(&e->by_place, hash, at) == MAP64_NONE)
		return -1;
	e->places[at] = (struct events_place){
		.dir = dir, .next = EVENTS_NONE, .chain = first, .name = (uint32_t)e->bytes.len,
		.len = (uint32_t)len,
	};
	strbuf_add(&e->bytes, name, len);
	strbuf_putc(&e->bytes, '\0');
	if (e->bytes.failed)
		return fail(ENOMEM);
	struct events_handle *handle = &e->handles[dir];
	assert((handle->first == EVENTS_NONE) == (handle->last == EVENTS_NONE));
	if (handle->last == EVENTS_NONE)
		handle->first = at;
	else
		e->places[handle->last].next = at;
	handle->last = at;
	++e->nplaces;
	return 0;
}

/** Add an information record of an event.
    @named  Whether the event has a record with a directory.
    @return 0, or -1. */
static int add_info(struct file_events *e, const char *info, size_t size, bool named)
{
	struct info_head head;
	memcpy(&head, info, sizeof(head));
	if (head.kind == INFO_FID && named)
		return 0;
	if (head.bytes > OS_HANDLE_MAX || head.bytes > size - sizeof(head))
		return fail(EPROTO);
	const char *data = info + sizeof(head), *name = data + head.bytes;
	uint32_t dir = add_handle(e, &head, data);
	if (dir == EVENTS_NONE)
		return -1;
	if (head.kind == INFO_FID)
		return 0;
	size_t left = size - sizeof(head) - head.bytes, len = strnlen(name, left);
	if (head.kind == INFO_DFID || left == 0 || len == 0)
		return add_place(e, dir, ".", 1);
	return len == left ? fail(EPROTO) : add_place(e, dir, name, len);
}

/** Whether information records of a type have the handle of a directory. */
static bool has_dir(uint8_t kind)
{
	return kind == INFO_DFID_NAME || kind == INFO_DFID || kind == INFO_OLD_NAME
	       || kind == INFO_NEW_NAME;
}

/** Add an event with all its records.  @return 0, or -1. */
static int add_event(struct file_events *e, const char *at, size_t len)
{
	bool named = false;
	/* The first pass finds out whether a record has a directory; the second adds the
	   records. */
	for (int pass = 0; pass < 2; ++pass) {
		struct info_head head;
		for (size_t i = 0; len - i >= sizeof(head); i += head.len) {
			memcpy(&head, at + i, sizeof(head));
			if (head.len < 4 || head.len > len - i)
				return fail(EPROTO);
			bool is_dir = has_dir(head.kind);
			if (pass == 0)
				named |= is_dir;
			else if ((is_dir || head.kind == INFO_FID)
			         && (head.len < sizeof(head)
			             ? fail(EPROTO) : add_info(e, at + i, head.len, named)) != 0)
				return -1;
		}
	}
	return 0;
}

int file_events_add(struct file_events *e, const void *buf, size_t len)
{
	const char *at = buf;
	struct os_event event;
	int rc;
	while ((rc = os_event_next(&at, &len, &event)) > 0) {
		e->others += event.pid != e->self;
		if (event.mask & FAN_Q_OVERFLOW || e->lost) {
			e->lost = true;
			continue;
		}
		if (add_event(e, event.info, event.size) != 0)
			return -1;
		if (is_full(e)) {
			uint64_t others = e->others;
			file_events_clear(e);
			e->others = others;
			e->lost = true;
		}
	}
	return rc;
}

int file_events_read(struct file_events *e, struct os *os)
{
	ssize_t n = 0;
	for (int i = 0; i < READS && (n = os_read(os, e->group, e->buf, EVENTS_READ)) > 0; ++i) {
		if (file_events_add(e, e->buf, (size_t)n) != 0)
			return -1;
		if (e->first <= 0 && (e->others > 0 || e->lost))
			e->first = os_now();
	}
	return n < 0 && errno != EAGAIN ? -1 : 0;
}

void file_events_clear(struct file_events *e)
{
	free(e->handles);
	free(e->places);
	strbuf_destroy(&e->bytes);
	map64_destroy(&e->by_handle);
	map64_destroy(&e->by_place);
	*e = (struct file_events){
		.self = e->self, .most = e->most, .group = e->group, .buf = e->buf,
	};
}

void file_events_destroy(struct file_events *e)
{
	file_events_clear(e);
	free(e->buf);
	*e = (struct file_events){.self = e->self};
}

void file_events_handle(const struct file_events *e, size_t i, struct os_handle *handle)
{
	const struct events_handle *from = &e->handles[i];
	handle->bytes = from->len;
	handle->type = from->type;
	memcpy(handle->data, e->bytes.data + from->bytes, from->len);
}
