/* SPDX-License-Identifier: MIT */
/* The protocol of getmnt serve: what is sent is received, and what is not valid is refused. */
#include "unit.h"

#include "remote/wire.h"

#include <dirent.h>

/** A sink that writes what it gets as text. */
struct log {
	struct talk_sink sink;
	struct strbuf text;
};

static void log_entry(struct talk_sink *sink, const struct talk_entry *e)
{
	struct strbuf *text = &((struct log *)sink)->text;
	CU_ASSERT_EQUAL(e->path[e->len], '\0');
	strbuf_printf(text, "%zu %s %zu t%u e%d/%d", e->root, e->path, e->len, e->type, e->err,
	              e->errsource);
	if (e->actions)
		strbuf_printf(text, " actions %x", e->actions);
	if (e->target)
		strbuf_printf(text, " -> %s %zu", e->target, e->target_len);
	for (const char *name = e->xattrs; name && *name; name += strlen(name) + 1)
		strbuf_printf(text, " %s", name);
	if (e->st)
		strbuf_printf(text, " size %ju spare %jx", (uintmax_t)e->st->size,
		              (uintmax_t)e->st->fs_ids[1]);
	strbuf_putc(text, '\n');
}

static const char *const roots[] = {"/a", "/b c"};
static const struct talk_request plain = {
	.roots = roots, .n = 2, .pattern = "*", .query = "",
};

/** Give an answer to a conversation, `step` bytes at a time.  @return what came of it. */
static char *answer(const struct talk_request *request, const char *bytes, size_t n, size_t step)
{
	struct log log = {{.entry = log_entry}, {0}};
	struct talk *talk = wire_talk_new();
	CU_ASSERT_PTR_NOT_NULL_FATAL(talk);
	talk->ops->ask(talk, request);
	CU_ASSERT_EQUAL(talk->state, TALK_GOING);
	for (size_t at = 0; at < n && talk->state == TALK_GOING; at += step)
		talk->ops->take(talk, bytes + at, step < n - at ? step : n - at, &log.sink);
	if (talk->state == TALK_GOING)
		talk->ops->end(talk);
	if (talk->state == TALK_FAILED)
		strbuf_printf(&log.text, "FAILED %s%s\n", talk->met ? "" : "early ",
		              strbuf_str(&talk->why));
	else
		strbuf_printf(&log.text, "DONE %ju/%ju\n", (uintmax_t)talk->counts.dirs,
		              (uintmax_t)talk->counts.threads);
	talk->ops->free(talk);
	return strbuf_take(&log.text);
}

/** Expect what comes of an answer, however it is cut. */
static void expect(const struct talk_request *request, const struct strbuf *bytes,
                   const char *expected)
{
	static const size_t steps[] = {SIZE_MAX / 2, 1, 7, 64};
	for (size_t i = 0; i < COUNT(steps); ++i) {
		char *got = answer(request, bytes->data, bytes->len, steps[i]);
		unit_note("step %zu of %zu bytes", steps[i], bytes->len);
		unit_expect(got, expected);
		free(got);
	}
}

static const struct search_counts counts = {.dirs = 1, .threads = 7};

UNIT_TEST(entries)
{
	struct strbuf out = {0};
	struct k_statx st = {.size = UINT64_MAX - 1, .fs_ids[1] = 0xabcdef};
	struct talk_request request = plain;
	request.flags = SEARCH_METADATA;
	wire_greet(&out);
	size_t place = wire_begin(&out, WIRE_ENTRIES);
	wire_put_entry(&out, &(struct talk_entry){
		.root = 1, .path = "/x\n/y", .len = 5, .type = DT_LNK, .st = &st,
		.target = "../z", .target_len = 4, .xattrs = "user.a\0b\0", .xattrs_len = 9,
	});
	wire_put_entry(&out, &(struct talk_entry){
		.path = "", .err = ENOENT, .errsource = SEARCH_ERR_OPEN,
	});
	wire_finish(&out, place);
	wire_finish(&out, wire_begin(&out, WIRE_ALIVE));
	wire_finish(&out, wire_begin(&out, WIRE_ENTRIES));
	place = wire_begin(&out, WIRE_ENTRIES);
	wire_put_entry(&out, &(struct talk_entry){
		.path = "/1234567", .len = 8, .type = DT_REG, .st = &st,
	});
	wire_finish(&out, place);
	wire_put_end(&out, &counts, 0);
	expect(&request, &out,
	       "1 /x\n/y 5 t10 e0/0 -> ../z 4 user.a b size 18446744073709551614 spare abcdef\n"
	       "0  0 t0 e2/1\n"
	       "0 /1234567 8 t8 e0/0 size 18446744073709551614 spare abcdef\n"
	       "DONE 1/7\n");
	/* Each truncation is noticed. */
	for (size_t n = 0; n < out.len; ++n) {
		char *got = answer(&request, out.data, n, n + 1);
		CU_ASSERT_PTR_NOT_NULL_FATAL(got);
		CU_ASSERT_PTR_NOT_NULL(strstr(got, n < WIRE_GREETING
			? "FAILED early the connection ended before getmnt answered there\n"
			: "FAILED the connection ended before the answer was complete\n"));
		free(got);
	}
	/* Attributes that were not requested do not come. */
	request.flags = 0;
	char *got = answer(&request, out.data, out.len, out.len);
	CU_ASSERT_PTR_NULL(strstr(got, "size"));
	free(got);
	strbuf_putc(&out, 'x');
	got = answer(&request, out.data, out.len, out.len);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "FAILED more was sent after the end"));
	free(got);
	strbuf_destroy(&out);
}

/* The first item of an answer: a frame and an entry "/x" with attributes, by the offsets of
   docs/PROTOCOL.md.  Each row changes it. */
UNIT_TEST(lies)
{
	enum { FRAME = WIRE_GREETING, ITEM = FRAME + WIRE_HEAD, PATH = ITEM + 48 + 256 };
	static const struct {
		size_t at, n;      /* bytes to change, and how many */
		const char *bytes, *why;
		bool early;
	} rows[] = {
		{8, 1, "\2", "its getmnt speaks version 2 of the protocol, this one version 1: "
		             "update the older getmnt", true},
		{FRAME + 4, 1, "\1", "a frame of an unknown kind, 1"},
		{FRAME + 4, 1, "\6", "a frame of an unknown kind, 6"},
		{FRAME + 4, 4, "\xff\xff\xff\xff", "a frame of an unknown kind, 4294967295"},
		{FRAME, 4, "\xff\xff\xff\xff",
		 "a frame of kind 2 with 4294967295 bytes, more than 3145728"},
		{FRAME + 4, 1, "\3", "the end of the answer has 312 bytes"},
		{ITEM, 4, "\0\0\0\0", "an entry is longer than its frame"},
		{ITEM, 2, "\x20\0", "an entry is longer than its frame"},
		{ITEM, 4, "\xf8\xff\xff\xff", "an entry is longer than its frame"},
		{ITEM, 1, "\x2c", "an entry is longer than its frame"},
		{ITEM + 4, 4, "\xff\xff\xff\xff", "an entry has a part that lies outside of it"},
		{ITEM + 4, 2, "\x38\1", "an entry has a part that lies outside of it"},
		{ITEM + 4, 2, "\0\0", "an entry has a part that lies outside of it"},
		{ITEM + 8, 4, "\xff\xff\xff\xff", "an entry has a part that lies outside of it"},
		{ITEM + 8, 1, "\1", "an entry has a part that lies outside of it"},
		{ITEM + 8, 1, "\3",
		 "a path that cannot be below the directory: it has a NUL"},
		{ITEM + 12, 4, "\xff\xff\xff\xff", "an entry has a part that lies outside of it"},
		{ITEM + 12, 2, "\x40\0", "an entry has a part that lies outside of it"},
		{ITEM + 12, 2, "\x08\0", "an entry has a part that lies outside of it"},
		{ITEM + 12, 2, "\0\0", "an object without its attributes"},
		{ITEM + 16, 1, "\2", "an error that does not exist"},
		{ITEM + 16, 4, "\xff\xff\xff\xff", "an error that does not exist"},
		{ITEM + 20, 1, "\7", "an error that does not exist"},
		{ITEM + 22, 1, "\3", "an entry of an unknown type"},
		{ITEM + 22, 1, "\xff", "an entry of an unknown type"},
		{ITEM + 23, 1, "\1", "an entry has unknown members"},
		{ITEM + 24, 1, "\2", "an entry below a directory that was not requested"},
		{ITEM + 24, 4, "\xff\xff\xff\xff",
		 "an entry below a directory that was not requested"},
		{ITEM + 28, 1, "\1", "an entry has a part that lies outside of it"},
		{ITEM + 28, 2, "\x38\1", "an entry has a part that lies outside of it"},
		{ITEM + 36, 1, "\1", "an entry has a part that lies outside of it"},
		{ITEM + 36, 2, "\x38\1", "an entry has a part that lies outside of it"},
		{ITEM + 36, 8, "\x30\1\0\0\2\0\0\0",
		 "the name of an extended attribute has no end"},
		{ITEM + 44, 1, "\1", "an entry has the wrong actions"},
		{PATH, 1, "x", "a path that cannot be below the directory: it does not begin with "
		               "\"/\""},
		{PATH + 1, 1, "/", "a path that cannot be below the directory: it has an empty "
		                   "component"},
		{PATH + 1, 1, ".", "a path that cannot be below the directory: it has a component "
		                   "\".\""},
	};
	struct strbuf out = {0};
	struct k_statx st = {0};
	struct talk_request request = plain;
	request.flags = SEARCH_METADATA;
	wire_greet(&out);
	size_t place = wire_begin(&out, WIRE_ENTRIES);
	wire_put_entry(&out, &(struct talk_entry){.path = "/x", .len = 2, .st = &st});
	wire_finish(&out, place);
	CU_ASSERT_EQUAL_FATAL(out.len, PATH + 8);
	CU_ASSERT_STRING_EQUAL(out.data + PATH, "/x");
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct strbuf lie = {0}, expected = {0};
		strbuf_add(&lie, out.data, out.len);
		memcpy(lie.data + rows[i].at, rows[i].bytes, rows[i].n);
		strbuf_printf(&expected, "FAILED %s%s\n", rows[i].early ? "early " : "",
		              rows[i].why);
		unit_note("row %zu", i);
		expect(&request, &lie, strbuf_str(&expected));
		strbuf_destroy(&lie);
		strbuf_destroy(&expected);
	}
	strbuf_destroy(&out);
}

/* With a query each object names actions of it; an error names none. */
UNIT_TEST(actions)
{
	static const struct {
		unsigned of;       /* actions of the query */
		uint32_t actions;
		bool valid;
		int err;
	} rows[] = {
		{1, 1, true, 0}, {1, 0, false, 0}, {1, 2, false, 0}, {3, 5, true, 0},
		{3, 8, false, 0}, {31, 1u << 31, false, 0}, {32, 1u << 31, true, 0},
		{3, 0, true, ENOENT}, {3, 1, false, ENOENT}, {0, 0, true, 0}, {0, 1, false, 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct strbuf out = {0}, expected = {0};
		struct talk_request request = plain;
		request.query = "-print";
		request.actions = rows[i].of;
		request.mask = K_STATX_SIZE;
		wire_greet(&out);
		size_t place = wire_begin(&out, WIRE_ENTRIES);
		wire_put_entry(&out, &(struct talk_entry){
			.path = "", .actions = rows[i].actions, .err = rows[i].err,
			.errsource = rows[i].err ? SEARCH_ERR_OPEN : 0,
			.st = rows[i].err ? NULL : &(struct k_statx){.size = 3},
		});
		wire_finish(&out, place);
		wire_put_end(&out, &counts, 0);
		if (!rows[i].valid)
			strbuf_puts(&expected, "FAILED an entry has the wrong actions\n");
		else if (rows[i].err)
			strbuf_puts(&expected, "0  0 t0 e2/1\nDONE 1/7\n");
		else if (rows[i].actions)
			strbuf_printf(&expected, "0  0 t0 e0/0 actions %x size 3 spare 0\n"
			              "DONE 1/7\n", rows[i].actions);
		else
			strbuf_puts(&expected, "0  0 t0 e0/0 size 3 spare 0\nDONE 1/7\n");
		unit_note("row %zu", i);
		expect(&request, &out, strbuf_str(&expected));
		strbuf_destroy(&out);
		strbuf_destroy(&expected);
	}
}

UNIT_TEST(texts)
{
	static const struct {
		const char *answer, *expected;
	} rows[] = {
		{"Welcome to this host!\nGETMNT\r\n",
		 "FAILED early its answer is not that of getmnt serve: \"W"},
		{"GETMNT\n\0", "FAILED early its answer is not that of getmnt serve: \"GETMNT\"; "
		              "does a startup file of the shell there print it?\n"},
		{"G\n", "FAILED early its answer is not that of getmnt serve: \"G\""},
		{"GETMNT", "FAILED early the connection ended before getmnt answered there\n"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char *got = answer(&plain, rows[i].answer, strlen(rows[i].answer), 1000);
		CU_ASSERT_PTR_NOT_NULL_FATAL(got);
		CU_ASSERT_EQUAL(strncmp(got, rows[i].expected, strlen(rows[i].expected)), 0);
		free(got);
	}
	struct strbuf out = {0};
	wire_greet(&out);
	wire_put_refused(&out, "because");
	expect(&plain, &out, "FAILED refused there: because\n");
	strbuf_reset(&out);
	wire_greet(&out);
	wire_put_end(&out, &counts, ENOMEM);
	expect(&plain, &out, "FAILED the search ended early there: Cannot allocate memory\n");
	strbuf_destroy(&out);
}

UNIT_TEST(requests)
{
	static const char *const exclude[] = {"*.o", ""};
	const struct talk_request all = {
		.roots = roots, .n = 2, .pattern = "a|b*\n", .query = "-size +1M",
		.prefix = "ssh://h",
		.exclude = exclude, .nexclude = 2, .flags = SEARCH_METADATA | SEARCH_XDEV,
		.types = 1u << DT_SOCK, .mask = K_STATX_MNT_ID, .type = true, .links = true,
		.optional = true, .blocking = true, .ahead = true, .self = true, .engine = 2,
		.files = true, .follow_roots = true, .xattrs = true, .exported = true,
		.exclude_types = "nfs",
		.threads = 3,
		.depth = 4, .mindepth = 5, .levels = 6,
	};
	struct wire_reader reader = {.server = false};
	struct wire_frame frame;
	struct talk_request got;
	struct strbuf why = {0}, again = {0};
	wire_greet(&reader.kept);
	CU_ASSERT_PTR_NULL(wire_put_request(&reader.kept, &all));
	CU_ASSERT_PTR_NULL(wire_put_request(&reader.kept, &plain));
	CU_ASSERT_EQUAL_FATAL(wire_next(&reader, &frame, &why), 1);
	CU_ASSERT_EQUAL_FATAL(wire_get_request(frame.bytes, frame.len, &got, &why), 0);
	CU_ASSERT_PTR_NULL(wire_put_request(&again, &got));
	CU_ASSERT_EQUAL(again.len, frame.len + WIRE_HEAD);
	CU_ASSERT_EQUAL(memcmp(again.data + WIRE_HEAD, frame.bytes, frame.len), 0);
	CU_ASSERT_STRING_EQUAL(got.pattern, all.pattern);
	CU_ASSERT_STRING_EQUAL(got.query, all.query);
	CU_ASSERT_STRING_EQUAL(got.roots[1], "/b c");
	CU_ASSERT_STRING_EQUAL(got.exclude[0], "*.o");
	CU_ASSERT_TRUE(got.type && got.links && got.optional && got.blocking && got.ahead
	               && got.self && got.files && got.follow_roots && got.xattrs
	               && got.exported);
	CU_ASSERT_STRING_EQUAL(got.exclude_types, "nfs");
	CU_ASSERT_STRING_EQUAL(got.prefix, "ssh://h");
	CU_ASSERT_TRUE(got.flags == all.flags && got.types == all.types && got.mask == all.mask
	               && got.engine == 2 && got.threads == 3 && got.depth == 4
	               && got.mindepth == 5 && got.levels == 6);
	CU_ASSERT_PTR_NULL(got.name);
	wire_request_destroy(&got);
	/* No truncation, and no number of strings but theirs, is a request; each is refused by a
	   reason. */
	char *copy = malloc(frame.len);
	memcpy(copy, frame.bytes, frame.len);
	for (size_t n = 0; n < frame.len; ++n) {
		char *part = malloc(n + 1);
		memcpy(part, copy, n);
		strbuf_reset(&why);
		CU_ASSERT_EQUAL(wire_get_request(part, n, &got, &why), -1);
		CU_ASSERT_TRUE(why.len > 0);
		free(part);
	}
	for (size_t at = 36; at < 48; ++at) {
		char was = copy[at];
		copy[at] = (char)(was ^ 0x41);
		CU_ASSERT_EQUAL(wire_get_request(copy, frame.len, &got, &why), -1);
		copy[at] = was;
	}
	copy[14] = 1;   /* an unknown wish */
	strbuf_reset(&why);
	CU_ASSERT_EQUAL(wire_get_request(copy, frame.len, &got, &why), -1);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&why), "does not know"));
	free(copy);
	/* The next one follows, and survives that the first is forgotten. */
	wire_forget(&reader);
	CU_ASSERT_EQUAL(wire_next(&reader, &frame, &why), 1);
	CU_ASSERT_EQUAL(wire_get_request(frame.bytes, frame.len, &got, &why), 0);
	CU_ASSERT_STRING_EQUAL(got.pattern, "*");
	wire_request_destroy(&got);
	CU_ASSERT_EQUAL(wire_next(&reader, &frame, &why), 0);
	strbuf_destroy(&reader.kept);
	strbuf_destroy(&again);
	strbuf_destroy(&why);
}

/* The place of the directory in a larger search. */
UNIT_TEST(names)
{
	static const struct {
		const char *name;
		size_t root, n;
		const char *why;   /* NULL: valid */
	} rows[] = {
		{"/mnt/a", 4, 1, NULL}, {"/mnt", 4, 1, NULL}, {"/mnt", 0, 1, NULL},
		{"./x/y/z", 1, 1, NULL}, {"//a", 1, 1, NULL},
		{"/mnt", 4, 2, "a part of a larger search has one directory"},
		{"/mnt", 5, 1, "the place"}, {"/mnt/", 4, 1, "the place"},
		{"//a", 0, 1, "the place"}, {"/mnt/a", 3, 1, "the place"},
		{"/a/../b", 2, 1, "the place"}, {"", 1, 1, "the place"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = plain, got;
		struct strbuf out = {0}, why = {0};
		request.n = rows[i].n;
		request.name = rows[i].name;
		request.name_root = rows[i].root;
		unit_note("%s %zu", rows[i].name, rows[i].root);
		CU_ASSERT_PTR_NULL(wire_put_request(&out, &request));
		int rc = wire_get_request(out.data + WIRE_HEAD, out.len - WIRE_HEAD, &got, &why);
		CU_ASSERT_EQUAL(rc, rows[i].why ? -1 : 0);
		if (rc == 0) {
			CU_ASSERT_STRING_EQUAL(got.name, rows[i].name);
			CU_ASSERT_EQUAL(got.name_root, rows[i].root);
			wire_request_destroy(&got);
		} else {
			CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&why), rows[i].why));
		}
		strbuf_destroy(&out);
		strbuf_destroy(&why);
	}
}

UNIT_TEST(limits)
{
	struct wire_reader reader = {.server = false};
	struct wire_frame frame;
	struct strbuf why = {0}, out = {0};
	wire_greet(&reader.kept);
	strbuf_add(&reader.kept, "\1\0\100\0\1\0\0\0", WIRE_HEAD);   /* 4 MiB and a byte */
	CU_ASSERT_EQUAL(wire_next(&reader, &frame, &why), -1);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&why),
	                       "a frame of kind 1 with 4194305 bytes, more than 4194304");
	strbuf_destroy(&reader.kept);
	strbuf_reset(&why);
	strbuf_puts(&reader.kept, "GET / HTTP/1.1\r\n");
	reader = (struct wire_reader){.kept = reader.kept};
	CU_ASSERT_EQUAL(wire_next(&reader, &frame, &why), -1);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&why),
	                       "this is not a request of getmnt: \"GET / HTTP/1.1\"");
	strbuf_destroy(&reader.kept);
	char *big = malloc(WIRE_REQUEST_MAX + 1);
	memset(big, 'a', WIRE_REQUEST_MAX);
	big[WIRE_REQUEST_MAX] = '\0';
	struct talk_request request = plain;
	request.pattern = big;
	CU_ASSERT_PTR_NOT_NULL(wire_put_request(&out, &request));
	CU_ASSERT_EQUAL(out.len, 0);
	free(big);
	strbuf_destroy(&out);
	strbuf_destroy(&why);
}
