/* SPDX-License-Identifier: MIT */
/* Events of fanotify, from data: which places are to be looked at. */
#include "unit.h"

#include "index/follow/events.h"

#include <sys/fanotify.h>

enum { SELF = 42, OTHER = 43 };
enum { FID = 1, DFID_NAME = 2, DFID = 3, OLD = 10, NEW = 12 };

/** Append information: a handle, and a name unless NULL. */
static void put_info(struct strbuf *to, int kind, const char *handle, const char *name)
{
	uint32_t bytes = (uint32_t)strlen(handle);
	int32_t type = 1, fsid[2] = {7, 7};
	size_t size = 20 + bytes + (name ? strlen(name) + 1 : 0), padded = (size + 3) / 4 * 4;
	uint16_t len = (uint16_t)padded;
	strbuf_putc(to, (char)kind);
	strbuf_putc(to, 0);
	strbuf_add(to, (const char *)&len, sizeof(len));
	strbuf_add(to, (const char *)fsid, sizeof(fsid));
	strbuf_add(to, (const char *)&bytes, sizeof(bytes));
	strbuf_add(to, (const char *)&type, sizeof(type));
	strbuf_add(to, handle, bytes);
	if (name)
		strbuf_add(to, name, strlen(name) + 1);
	for (; size < padded; ++size)
		strbuf_putc(to, 0);
}

/** Append an event whose information was made by put_info(). */
static void put_event(struct strbuf *to, int pid, uint64_t mask, const struct strbuf *info)
{
	struct fanotify_event_metadata head = {
		.event_len = (uint32_t)(sizeof(head) + info->len),
		.vers = FANOTIFY_METADATA_VERSION, .metadata_len = sizeof(head), .mask = mask,
		.fd = FAN_NOFD, .pid = pid,
	};
	strbuf_add(to, (const char *)&head, sizeof(head));
	strbuf_add(to, strbuf_str(info), info->len);
}

/** The event of a name. */
static void put_name(struct strbuf *to, int pid, const char *dir, const char *name)
{
	struct strbuf info = {0};
	put_info(&info, name ? DFID_NAME : DFID, dir, name);
	put_info(&info, FID, "target", NULL);
	put_event(to, pid, FAN_CREATE, &info);
	strbuf_destroy(&info);
}

/** All places as text: "handle:name,name handle:". */
static void expect_places(const struct file_events *e, const char *expected)
{
	struct strbuf text = {0};
	for (size_t i = 0; i < e->nhandles; ++i) {
		struct os_handle handle;
		file_events_handle(e, i, &handle);
		strbuf_printf(&text, "%s%.*s", i ? " " : "", (int)handle.bytes,
		              (const char *)handle.data);
		const char *between = ":";
		for (uint32_t p = e->handles[i].first; p != EVENTS_NONE; p = e->places[p].next) {
			strbuf_printf(&text, "%s%s", between, file_events_name(e, &e->places[p]));
			CU_ASSERT_EQUAL(e->places[p].len,
			                strlen(file_events_name(e, &e->places[p])));
			between = ",";
		}
	}
	unit_expect(strbuf_str(&text), expected);
	strbuf_destroy(&text);
}

static void expect_added(struct file_events *e, struct strbuf *events, const char *expected)
{
	CU_ASSERT_EQUAL(file_events_add(e, events->data, events->len), 0);
	expect_places(e, expected);
	strbuf_destroy(events);
}

UNIT_TEST(coalesced)
{
	struct file_events e = {.self = SELF, .most = 1 << 20};
	struct strbuf events = {0}, info = {0};
	/* Names of one directory are together, in the order of the first event of each. */
	put_name(&events, OTHER, "d1", "new");
	put_name(&events, OTHER, "d2", "in");
	put_name(&events, OTHER, "d1", "b");
	put_name(&events, OTHER, "d1", "new");
	put_name(&events, OTHER, "d2", "in");
	put_name(&events, OTHER, "d2", "b");
	expect_added(&e, &events, "d1:new,b d2:in,b");
	/* The same in a later read. */
	put_name(&events, OTHER, "d2", "in");
	put_name(&events, OTHER, "d2", NULL);
	put_name(&events, OTHER, "d2", ".");
	expect_added(&e, &events, "d1:new,b d2:in,b,.");
	CU_ASSERT_EQUAL(e.others, 9);
	CU_ASSERT_FALSE(e.lost);
	/* A rename has two names. */
	put_info(&info, FID, "target", NULL);
	put_info(&info, OLD, "d3", "from");
	put_info(&info, NEW, "d1", "to");
	put_event(&events, OTHER, FAN_MOVED_TO, &info);
	expect_added(&e, &events, "d1:new,b,to d2:in,b,. d3:from");
	strbuf_destroy(&info);
	/* An object that has no name here. */
	put_info(&info, FID, "object", NULL);
	put_event(&events, OTHER, FAN_ATTRIB, &info);
	expect_added(&e, &events, "d1:new,b,to d2:in,b,. d3:from object");
	strbuf_destroy(&info);
	file_events_clear(&e);
	expect_places(&e, "");
	CU_ASSERT_EQUAL(e.others, 0);
	/* Handles of another type are others; names that differ only in length, too. */
	put_name(&events, OTHER, "d1", "aa");
	put_name(&events, OTHER, "d1", "a");
	put_name(&events, OTHER, "d", "1a");
	expect_added(&e, &events, "d1:aa,a d:1a");
	file_events_destroy(&e);
}

UNIT_TEST(own_changes)
{
	struct file_events e = {.self = SELF, .most = 1 << 20};
	struct strbuf events = {0};
	/* They are kept, but are no reason to do anything. */
	put_name(&events, SELF, "index", "journal.1");
	expect_added(&e, &events, "index:journal.1");
	CU_ASSERT_EQUAL(e.others, 0);
	put_name(&events, OTHER, "d", "f");
	expect_added(&e, &events, "index:journal.1 d:f");
	CU_ASSERT_EQUAL(e.others, 1);
	file_events_destroy(&e);
}

UNIT_TEST(lost)
{
	struct file_events e = {.self = SELF, .most = 1 << 20};
	struct strbuf events = {0}, none = {0};
	char name[32];
	put_name(&events, OTHER, "d", "before");
	put_event(&events, OTHER, FAN_Q_OVERFLOW, &none);
	put_name(&events, OTHER, "d", "after");
	expect_added(&e, &events, "d:before");
	CU_ASSERT_TRUE(e.lost);
	file_events_clear(&e);
	CU_ASSERT_FALSE(e.lost);
	CU_ASSERT_EQUAL(e.most, 1 << 20);
	/* Our own limit: everything is forgotten, and no more is kept. */
	e.most = 1000;
	for (int i = 0; i < 1000; ++i) {
		snprintf(name, sizeof(name), "name%d", i);
		put_name(&events, OTHER, "d", name);
	}
	expect_added(&e, &events, "");
	CU_ASSERT_TRUE(e.lost);
	CU_ASSERT_EQUAL(e.others, 1000);
	file_events_destroy(&e);
}

UNIT_TEST(buffer)
{
	struct file_events e = {.self = SELF, .most = 1 << 20, .group = 5, .buf = malloc(1)};
	const char *buf = e.buf;
	file_events_clear(&e);
	CU_ASSERT_PTR_EQUAL(e.buf, buf);
	CU_ASSERT_EQUAL(e.group, 5);
	/* The leak checkers show whether the buffer is freed. */
	file_events_destroy(&e);
	CU_ASSERT_PTR_NULL(e.buf);
}

UNIT_TEST(invalid)
{
	struct strbuf events = {0}, info = {0};
	put_info(&info, OLD, "dir", "name");
	put_info(&info, NEW, "dir2", "other");
	put_event(&events, OTHER, FAN_CREATE, &info);
	put_name(&events, OTHER, "d", "name2");
	/* Cut anywhere: EPROTO, or the events before.  Each byte changed: no crash; a name always
	   ends. */
	for (size_t cut = 0; cut < events.len; ++cut) {
		struct file_events e = {.self = SELF, .most = 1 << 20};
		char *copy = malloc(cut + 1);
		memcpy(copy, events.data, cut);
		int rc = file_events_add(&e, copy, cut);
		bool whole = cut == 0 || cut == sizeof(struct fanotify_event_metadata) + info.len;
		CU_ASSERT_EQUAL(rc, whole ? 0 : -1);
		if (!whole)
			CU_ASSERT_EQUAL(errno, EPROTO);
		free(copy);
		file_events_destroy(&e);
	}
	for (size_t i = 0; i < events.len * 256; ++i) {
		struct file_events e = {.self = SELF, .most = 1 << 20};
		char *copy = malloc(events.len);
		memcpy(copy, events.data, events.len);
		copy[i / 256] = (char)i;
		if (file_events_add(&e, copy, events.len) != 0)
			CU_ASSERT_EQUAL(errno, EPROTO);
		for (size_t p = 0; p < e.nplaces; ++p)
			CU_ASSERT_EQUAL(strlen(file_events_name(&e, &e.places[p])),
			                e.places[p].len);
		free(copy);
		file_events_destroy(&e);
	}
	strbuf_destroy(&info);
	strbuf_destroy(&events);
}
