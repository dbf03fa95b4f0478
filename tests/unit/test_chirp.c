/* SPDX-License-Identifier: MIT */
/*
 * The client of a Chirp server, on recorded bytes.
 *
 * What the real server answers is in tests/system/chirp.py.
 */
#include "unit.h"

#include "remote/chirp_impl.h"

#include <dirent.h>

/** A conversation, and what came of it, a line for each entry. */
struct chat {
	struct talk_sink sink;
	struct talk *talk;
	struct strbuf got;
	const char *proof;         /* the file that may be created; NULL: refused */
	int proofs;                /* files that exist now */
};

static void take_entry(struct talk_sink *sink, const struct talk_entry *entry)
{
	struct chat *chat = (struct chat *)(void *)sink;
	CU_ASSERT_EQUAL(strlen(entry->path), entry->len);
	CU_ASSERT_PTR_NULL(talk_path_wrong(entry->path, entry->len));
	strbuf_printf(&chat->got, "%zu", entry->root);
	if (entry->err)
		strbuf_printf(&chat->got, " !%d:%d", entry->errsource, entry->err);
	if (entry->type != DT_UNKNOWN)
		strbuf_printf(&chat->got, " %d", entry->type);
	if (entry->st)
		strbuf_printf(&chat->got, " ino %lu size %lu", entry->st->ino, entry->st->size);
	if (entry->actions > 1)
		strbuf_printf(&chat->got, " actions %x", entry->actions);
	strbuf_printf(&chat->got, " %s\n", entry->path);
}

static int prove(struct talk_sink *sink, const char *path)
{
	struct chat *chat = (struct chat *)(void *)sink;
	if (!path) {
		--chat->proofs;
		return 0;
	}
	if (!chat->proof || strcmp(path, chat->proof) != 0)
		return EACCES;
	++chat->proofs;
	return 0;
}

/** Start a conversation, as on another host. */
static struct chat chat_new(const char *methods)
{
	struct chirp_auth auth;
	struct chat chat = {.sink = {.entry = take_entry, .prove = prove}};
	chirp_auth_init(&auth, false);
	if (methods)
		CU_ASSERT_PTR_NULL(chirp_auth_read(&auth, methods));
	chat.talk = chirp_talk_new(&auth);
	CU_ASSERT_PTR_NOT_NULL_FATAL(chat.talk);
	CU_ASSERT_EQUAL(chat.talk->state, TALK_DONE);
	return chat;
}

static void chat_end(struct chat *chat)
{
	chat->talk->ops->free(chat->talk);
	strbuf_destroy(&chat->got);
}

/** What is sent now. */
static void sends(struct chat *chat, const char *text)
{
	unit_expect(strbuf_str(&chat->talk->out), text);
	talk_sent(chat->talk, chat->talk->out.len);
}

/** The server sends something, in pieces. */
static void server(struct chat *chat, const char *text)
{
	size_t step = strlen(text) > 1000 ? 1000 : 3;
	for (size_t left = strlen(text), n; left > 0; left -= n, text += n) {
		n = left < step ? left : step;
		chat->talk->ops->take(chat->talk, text, n, &chat->sink);
	}
}

/** Expect entries, and a state: NULL: DONE; "": GOING; else why it failed. */
static void expect(struct chat *chat, const char *entries, const char *why)
{
	unit_expect(strbuf_str(&chat->got), entries);
	strbuf_reset(&chat->got);
	enum talk_state state = !why ? TALK_DONE : *why ? TALK_FAILED : TALK_GOING;
	CU_ASSERT_EQUAL(chat->talk->state, state);
	if (state == TALK_FAILED && !strstr(strbuf_str(&chat->talk->why), why)) {
		printf("  %s\n", strbuf_str(&chat->talk->why));
		CU_FAIL("another reason");
	}
}

static const struct talk_request plain = {.n = 1, .query = "", .pattern = "bar"};

/** Ask by the method hostname, which succeeds. */
static struct chat ask(struct talk_request *request, const char *root)
{
	struct chat chat = chat_new(NULL);
	static const char *roots[1];
	roots[0] = root;
	if (!request->roots)
		request->roots = roots;
	chat.talk->ops->ask(chat.talk, request);
	if (chat.talk->state == TALK_GOING) {
		sends(&chat, "hostname\n");
		server(&chat, "yes\nyes\nyes\nhostname\nlocalhost\n");
	}
	return chat;
}

/* The proof */

UNIT_TEST(methods)
{
	static const struct {
		const char *text, *proofs;
		size_t n;
		enum chirp_method methods[3];
	} rows[] = {
		{"unix", "/tmp", 1, {CHIRP_UNIX}},
		{"unix:/srv/x//", "/srv/x", 1, {CHIRP_UNIX}},
		{"unix:/", "/", 1, {CHIRP_UNIX}},
		{"address,unix:/a:b,hostname", "/a:b", 3,
		 {CHIRP_ADDRESS, CHIRP_UNIX, CHIRP_HOSTNAME}},
		{"", NULL, 0, {0}}, {"kerberos", NULL, 0, {0}}, {"unix,", NULL, 0, {0}},
		{"unix,unix", NULL, 0, {0}}, {"unix:", NULL, 0, {0}}, {"unix:tmp", NULL, 0, {0}},
		{"address:/tmp", NULL, 0, {0}}, {"uni", NULL, 0, {0}}, {"hostname ", NULL, 0, {0}},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct chirp_auth auth;
		const char *wrong = chirp_auth_read(&auth, rows[i].text);
		unit_note("%s", rows[i].text);
		CU_ASSERT_EQUAL(!wrong, rows[i].n > 0);
		if (wrong || !rows[i].n)
			continue;
		CU_ASSERT_STRING_EQUAL(auth.proofs, rows[i].proofs);
		CU_ASSERT_EQUAL_FATAL(auth.n, rows[i].n);
		for (size_t m = 0; m < auth.n; ++m)
			CU_ASSERT_EQUAL(auth.methods[m], rows[i].methods[m]);
	}
	struct chirp_auth auth;
	chirp_auth_init(&auth, true);
	CU_ASSERT_TRUE(auth.n == 3 && auth.methods[0] == CHIRP_UNIX);
	chirp_auth_init(&auth, false);
	CU_ASSERT_TRUE(auth.n == 2 && auth.methods[0] == CHIRP_HOSTNAME);
}

/* The session of the reference, byte by byte. */
UNIT_TEST(recorded)
{
	const char *const roots[] = {"/a", "/missing"};
	struct talk_request request = plain;
	request.roots = roots;
	request.n = 2;
	request.flags = SEARCH_METADATA | SEARCH_FOLLOW;
	struct chat chat = chat_new("unix");
	chat.proof = "/tmp/challenge.29295.1789153262";
	chat.talk->ops->ask(chat.talk, &request);
	sends(&chat, "unix\n");
	server(&chat, "yes\n/tmp/challenge.29295.1789153262\n");
	CU_ASSERT_EQUAL(chat.proofs, 1);
	sends(&chat, "yes\n");
	server(&chat, "yes\n");
	CU_ASSERT_EQUAL(chat.proofs, 0);
	server(&chat, "yes\nunix\nroot\n");
	CU_ASSERT_TRUE(chat.talk->met);
	sends(&chat, "search bar /a 2\nsearch bar /missing 2\n");
	server(&chat, "0\n0:/b/bar:65024 10053299 33188 1 65534 65534 0 6 4096 8 1795224943 "
	       "1795224943 1795224943:\n");
	expect(&chat, "", "");
	server(&chat, "\n");
	expect(&chat, "0 8 ino 10053299 size 6 /b/bar\n", "");
	server(&chat, "0\n2:1:/missing:\n\n");
	expect(&chat, "1 !1:2 \n", NULL);
	/* Another search on the same connection. */
	request.n = 1;
	request.flags = SEARCH_FOLLOW;
	chat.talk->ops->ask(chat.talk, &request);
	sends(&chat, "search bar /a 0\n");
	server(&chat, "0\n0:/b/bar::\n\n");
	expect(&chat, "0 /b/bar\n", NULL);
	chat.talk->ops->end(chat.talk);
	expect(&chat, "", NULL);
	chat_end(&chat);
}

/* The next method is tried; no file is created that the server has no business with. */
UNIT_TEST(refused)
{
	static const char *const bad[] = {
		"/etc/challenge.1", "/tmp/challenge", "/tmp/challenge.", "/tmp/x/challenge.1",
		"/tmp/../etc/challenge.1", "/tmp/challenge.1/../../etc/x", "challenge.1", "",
		"/tmp//challenge.1", "/tmp/challenge.1/", "/tmp/challenge. 1", "/tmp/challenge.\1",
		"/tmpchallenge.1", "/tmp/Challenge.1", "/tmp/x",
	};
	for (size_t i = 0; i < COUNT(bad); ++i) {
		struct talk_request request = plain;
		const char *const root = "/";
		request.roots = &root;
		struct chat chat = chat_new("unix,address");
		chat.proof = bad[i];
		chat.talk->ops->ask(chat.talk, &request);
		sends(&chat, "unix\n");
		server(&chat, "yes\n");
		server(&chat, bad[i]);
		server(&chat, "\n");
		CU_ASSERT_EQUAL(chat.proofs, 0);
		/* The real server sends nothing after this "no". */
		sends(&chat, "no\naddress\n");
		server(&chat, "yes\nno\n");
		expect(&chat, "", "accepts none of the methods");
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&chat.talk->why), "unix: it requires to"));
		chat_end(&chat);
	}
	struct talk_request request = plain;
	const char *const root = "/";
	request.roots = &root;
	/* The file cannot be created; the server does not accept it. */
	for (int i = 0; i < 2; ++i) {
		struct chat chat = chat_new("unix,hostname");
		chat.proof = i ? "/tmp/challenge.7" : NULL;
		chat.talk->ops->ask(chat.talk, &request);
		sends(&chat, "unix\n");
		server(&chat, "yes\n/tmp/challenge.7\n");
		if (i) {
			sends(&chat, "yes\n");
			server(&chat, "no\n");
			CU_ASSERT_EQUAL(chat.proofs, 0);
			sends(&chat, "hostname\n");
		} else {
			sends(&chat, "no\nhostname\n");
		}
		server(&chat, "no\n");
		expect(&chat, "", i ? "unix: the server does not accept it"
		                    : "\"/tmp/challenge.7\" cannot be created: Permission denied");
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&chat.talk->why),
		                              "hostname: the server does not offer it"));
		chat_end(&chat);
	}
	struct chat chat = chat_new(NULL);
	chat.talk->ops->ask(chat.talk, &request);
	server(&chat, "SSH-2.0-OpenSSH_9.2\r\n");
	expect(&chat, "", "no Chirp server");
	CU_ASSERT_FALSE(chat.talk->met);
	chat_end(&chat);
	chat = chat_new(NULL);
	chat.talk->ops->ask(chat.talk, &request);
	chat.talk->ops->end(chat.talk);
	expect(&chat, "", "is this the port");
	chat_end(&chat);
}

/* Requests */

UNIT_TEST(patterns)
{
	static const struct {
		const char *text, *wire;
		unsigned levels;   /* 1 and a maximum depth; 0 */
		bool exact;
		unsigned flags;
	} rows[] = {
		{"bar", "bar", 0, true}, {"/a/*/b*", "/a/*/b*", 0, true}, {"**", "*", 0, true},
		{"a|/b|", "a|/b", 0, true}, {"*/a", "*/a", 0, false}, {"b*/a", "b*/a", 0, true},
		{"a?b", "a*b", 0, false}, {"??", "*", 0, false}, {"a b\tc", "a?b?c", 0, false},
		{"a\\|b", "a?b", 0, false}, {"a\\/b", "a/b", 0, true}, {"\\/b", "/b", 0, true},
		{"\\*\\a\\?\\[]", "\\*a\\?\\[\\]", 0, true}, {"\\\\", "\\\\", 0, true},
		{"*.[ch]", "*.[ch]", 0, true}, {"[a-c0]x", "[abc0]x", 0, true},
		{"x[!a]", "*", 0, false}, {"x[[:alpha:]]/y", "*/y", 0, false},
		{"[a_]", "*", 0, false}, {"[A-z]", "*", 0, false}, {"[]a]", "*", 0, false},
		{"[a\\]]", "*", 0, false}, {"[a-]", "*", 0, false},
		{"\303\251t\303\251", "\303\251t\303\251", 0, false},
		{"\351t\351*", "*t*", 0, false},
		{"a/**/b/c", "a/*/b/c", 0, true}, {"a{b,c}", "a{b,c}", 0, true},
		{"/a/**/b/c", "b/c", 0, false, PATTERN_EXTENDED},
		{"/a/**", "*", 0, false, PATTERN_EXTENDED},
		{"**/a", "/a|/*/a", 3, false, PATTERN_EXTENDED},
		{"*.{c,h}", "*.c|*.h", 0, true, PATTERN_EXTENDED},
		{"{a,b/{c,d}}x|y", "ax|b/cx|b/dx|y", 0, true, PATTERN_EXTENDED},
		{"{a,}{,b}", "a|ab|b", 0, true, PATTERN_EXTENDED},
		{"{a}{b{c,d}", "{a}{bc|{a}{bd", 0, true, PATTERN_EXTENDED},
		{"a\\{b,c\\}{d\\,e,f}", "a{b,c}d,e|a{b,c}f", 0, true, PATTERN_EXTENDED},
		{"[a]{b,c}", "*", 0, false, PATTERN_EXTENDED},
		{"[{]", "*", 0, false, PATTERN_EXTENDED},
		{"[ab]c", "[ab]c", 0, true, PATTERN_EXTENDED},
		{"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "*", 0, false, PATTERN_EXTENDED},
		{"a1.*", "[aA]1.*", 0, true, PATTERN_NOCASE},
		{"Bk", "[bB]*", 0, false, PATTERN_NOCASE},
		{"[a]x", "*", 0, false, PATTERN_NOCASE},
		{"\303\251x", "*[xX]", 0, false, PATTERN_NOCASE},
		{"a//b", "a//b", 0, true}, {"x%y", "x%y", 0, true},
		{"a", "/a|/*/a|/*/*/a", 4, false}, {"b/a", "/b/a|/*/b/a", 4, false},
		{"b/a", "b/a", 2, false}, {"a", "a", 1000, false}, {"/*", "/*", 6, false},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct chirp_parts parts;
		unit_note("%s", rows[i].text);
		CU_ASSERT_EQUAL_FATAL(chirp_parts_init(&parts, rows[i].text, rows[i].flags, 900,
		                                       rows[i].levels), 0);
		CU_ASSERT_EQUAL_FATAL(parts.n, 1);
		unit_expect(parts.list[0].wire, rows[i].wire);
		CU_ASSERT_EQUAL(parts.exact, rows[i].exact);
		chirp_parts_destroy(&parts);
	}
}

UNIT_TEST(sent)
{
	static const struct {
		const char *root, *line;
		const char *pattern;
		int flags;
	} rows[] = {
		{"", "search bar / 0\n", NULL, 0},
		{"/a//b/./c/../d/", "search bar /a/b/d 0\n", NULL, 0},
		{"/sp ace%|\303\251\n", "search bar /sp%20ace%25%7C%C3%A9%0A 0\n", NULL, 0},
		{"/", "search bar / 1\n", NULL, SEARCH_STOPATFIRST},
		{"/", "search a* / 0\n", "a?", SEARCH_STOPATFIRST},
		{"/", "search bar / 16\n", NULL, SEARCH_STOPATFIRST | SEARCH_R_OK},
		{"/", "search bar / 112\n", NULL, SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK},
		{"/", "search bar / 2\n", NULL, SEARCH_METADATA | SEARCH_CACHED | SEARCH_FOLLOW},
		{"/", "getlongdir /\n", NULL, SEARCH_XDEV},
		{"/a b", "getlongdir /a%20b\n", NULL, SEARCH_XDEV},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = plain;
		request.flags = rows[i].flags;
		request.pattern = rows[i].pattern ? rows[i].pattern : "bar";
		struct chat chat = ask(&request, rows[i].root);
		unit_note("row %zu", i);
		sends(&chat, rows[i].line);
		chat_end(&chat);
	}
	static const struct {
		const char *why;
		struct talk_request request;
	} no[] = {
		{"cannot tell what", {.query = "-readable"}},
		{"cannot tell what", {.query = "-newerBt @5"}},
		{"cannot tell what", {.query = "-mount"}},
		{"invalid", {.query = "-size"}}, {"invalid", {.query = "-delete"}},
		{"does not sort", {.query = "", .flags = SEARCH_BYNAME}},
		{"need the server's search", {.query = "", .flags = SEARCH_R_OK, .depth = 1}},
		{"need the server's search", {.query = "", .flags = SEARCH_FOLLOW | SEARCH_XDEV}},
	};
	for (size_t i = 0; i < COUNT(no); ++i) {
		struct talk_request request = no[i].request;
		request.n = 1;
		request.pattern = "bar";
		struct chat chat = ask(&request, "/");
		expect(&chat, "", no[i].why);
		chat_end(&chat);
	}
}

/* A pattern that is too long for a line is searched for in parts, whose results are those of one
   search. */
UNIT_TEST(parts)
{
	STRBUF(pattern);
	for (int i = 0; i < 200; ++i)
		strbuf_printf(&pattern, "%sname%03d*", i ? "|" : "", i);
	struct talk_request request = plain;
	request.pattern = strbuf_str(&pattern);
	request.flags = SEARCH_FOLLOW;
	struct chat chat = ask(&request, "/srv");
	STRBUF(sent);
	strbuf_puts(&sent, strbuf_str(&chat.talk->out));
	size_t lines = 0;
	for (const char *at = sent.data, *end; (end = strchr(at, '\n')); at = end + 1, ++lines)
		CU_ASSERT_TRUE(end - at < CHIRP_LINE);
	CU_ASSERT_EQUAL(lines, 2);
	CU_ASSERT_PTR_NOT_NULL(strstr(sent.data, "|name199* /srv 0\n"));
	server(&chat, "0\n13:1:/srv/d:\n0:/name000::\n0:/name150::\n\n");
	server(&chat, "0\n13:1:/srv/d:\n13:1:/srv/e:\n0:/name000::\n0:/name150::\n\n");
	expect(&chat, "0 !1:13 /d\n0 /name000\n0 !1:13 /e\n0 /name150\n", NULL);
	chat_end(&chat);

	/* One alternative that is too long: what matches more, tested here. */
	STRBUF(name);
	for (int i = 0; i < 600; ++i)
		strbuf_puts(&name, "a?");
	request.pattern = strbuf_str(&name);
	chat = ask(&request, "/");
	sends(&chat, "search * / 0\n");
	server(&chat, "0\n0:/aab::\n\n");
	expect(&chat, "", NULL);
	chat_end(&chat);

	STRBUF(root);
	for (int i = 0; i < 320; ++i)
		strbuf_puts(&root, "/\303\251");
	request = plain;
	chat = ask(&request, strbuf_str(&root));
	expect(&chat, "", "too long for a line");
	chat_end(&chat);
}

/* Answers */

#define ATTRIBUTES(ino, mode, size) \
	"65024 " #ino " " #mode " 1 0 0 0 " #size " 4096 8 1795224943 1795224943 1795224943"
#define FILE_42 ATTRIBUTES(42, 33188, 6)
#define DIR_7 ATTRIBUTES(7, 16877, 4096)
#define LINK_9 ATTRIBUTES(9, 41471, 1)

UNIT_TEST(records)
{
	static const struct {
		const char *answer, *entries, *why;
	} rows[] = {
		{"0\n\n", "", NULL},
		{"0\n0:/a/b::\n0:/c:" FILE_42 ":\n\n", "0 /a/b\n0 8 /c\n", NULL},
		/* Colons and newlines in names. */
		{"0\n0:/co:lon::\n0:/:::\n0:/a:1 2 3::\n\n", "0 /co:lon\n0 /:\n0 /a:1 2 3\n", NULL},
		{"0\n0:/new\nline::\n0:/x::\n\n", "0 /new\nline\n0 /x\n", NULL},
		{"0\n0:/\n\n\n::\n\n", "0 /\n\n\n\n", NULL},
		{"0\n0:/a::\nb::\n0:/c::\n\n", "0 /a::\nb\n0 /c\n", NULL},
		{"0\n0:/a:\n12:3 o'clock::\n\n", "0 /a:\n12:3 o'clock\n", NULL},
		{"0\n0:/a\n0:/b:" FILE_42 ":\n\n", "0 8 /a\n0:/b\n", NULL},
		{"0\n13:1:/r/x:\ny:\n0:/z::\n\n", "0 !1:13 /x:\ny\n0 /z\n", NULL},
		/* Errors: of the root, below it; with two slashes below "/". */
		{"0\n2:1:/r:\n\n", "0 !1:2 \n", NULL},
		{"0\n5:2:/r/a/b:\n0:/c::\n\n", "0 !2:5 /a/b\n0 /c\n", NULL},
		{"0\n13:1:/etc:\n\n", "", "not searched"},
		{"0\n13:1:/rx:\n\n", "", "not searched"},
		{"0\n13:1:/r/..:\n\n", "", "component \"..\""},
		{"0\n13:1://r/a:\n\n", "0 !1:13 /a\n", NULL},
		/* Hostile. */
		{"0\n0:/../etc/passwd::\n\n", "", "component \"..\""},
		{"0\n0:/a//b::\n\n", "", "empty component"},
		{"0\n0:/a/::\n\n", "", "empty component"},
		{"0\n0:a::\n\n", "", "no entry"},
		{"0\n0:::\n\n", "", "no entry"},
		{"0\nnonsense\n\n", "", "no entry"},
		{"0\n5000:1:/r/a:\n\n", "", "too large"},
		{"0\n99999:1:/r/a:\n\n", "", "no entry"},
		{"0\n13:5:/r/a:\n\n", "", "no entry"},
		{"0\n0:1:/r/a:\n\n", "", "no entry"},
		{"0\n0:/a:1 99999999999999999999 3 4 5 6 7 8 9 10 11 12 13:\n\n", "", "too large"},
		{"0\n0:/a:1 2 65536 4 5 6 7 8 9 10 11 12 13:\n\n", "", "too large"},
		{"0\n0:/a:1 2 3 4294967296 5 6 7 8 9 10 11 12 13:\n\n", "", "too large"},
		{"0\n0:/a:1 2 3 -4 5 6 7 8 9 10 11 12 13:\n\n", "", "too large"},
		{"0\n0:/a:1 2 3 4 5 6 7 8 9 10 11 12 9223372036854775808:\n\n", "", "too large"},
		{"0\n0:/a:-1 18446744073709551615 3 4 5 6 7 8 9 10 -11 12 13:\n\n", "0 /a\n", NULL},
		{"0\n0:/a::\n\nmore", "0 /a\n", "more than its answer"},
		{"0\n0:/a::\n", "", ""},
		{"7\n", "", "no answer"}, {"hello\n", "", "no answer"}, {"\n", "", "no answer"},
		{"-\n", "", "no answer"}, {"-99999\n", "", "no answer"}, {"-0\n\n", "", NULL},
		{"-3\n", "0 !1:2 \n", NULL}, {"-2\n", "0 !1:13 \n", NULL},
		{"-5000\n", "0 !1:5 \n", NULL},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = plain;
		request.pattern = "*";
		request.type = true;
		request.flags = SEARCH_FOLLOW;
		struct chat chat = ask(&request, "/r");
		unit_note("row %zu: %s", i, rows[i].answer);
		sends(&chat, "search * /r 2\n");
		server(&chat, rows[i].answer);
		expect(&chat, rows[i].entries, rows[i].why);
		chat_end(&chat);
	}
	/* A name that begins with a newline ends the answer too early. */
	struct talk_request request = plain;
	request.engine = SEARCH_ENGINE_SYNC;
	struct chat chat = ask(&request, "/");
	static const char early[] = "0\n\nbar\n" FILE_42 "\n\n";
	chat.talk->ops->take(chat.talk, early, sizeof(early) - 1, &chat.sink);
	expect(&chat, "", "more than its answer");
	chat_end(&chat);
	request = plain;
	request.pattern = "*";
	request.flags = SEARCH_FOLLOW;
	chat = ask(&request, "/");
	server(&chat, "0\n13:1://deny:\n13:1:/d2:\n13:1:/:\n\n");
	expect(&chat, "0 !1:13 /deny\n0 !1:13 /d2\n0 !1:13 \n", NULL);
	chat_end(&chat);
	chat = ask(&request, "/");
	chat.talk->ops->take(chat.talk, "0\n0:/a\0b::\n", 11, &chat.sink);
	expect(&chat, "", "a NUL");
	chat_end(&chat);
	chat = ask(&request, "/");
	server(&chat, "0\n0:/a::\n");
	chat.talk->ops->end(chat.talk);
	expect(&chat, "", "before the answer was complete");
	chat_end(&chat);
}

/* Lines and records that never end. */
UNIT_TEST(endless)
{
	static const char *const pieces[] = {"0:/a", "/", "\n", "x\n", ":\n"};
	char *big = malloc(1 << 16);
	CU_ASSERT_PTR_NOT_NULL_FATAL(big);
	for (int mode = 0; mode < 2; ++mode) {
		for (size_t i = 0; i < COUNT(pieces); ++i) {
			struct talk_request request = plain;
			request.flags = mode ? SEARCH_XDEV : 0;
			struct chat chat = ask(&request, "/");
			size_t n = strlen(pieces[i]), len = 0, total = 0;
			for (; len + n < 1 << 16; len += n)
				memcpy(big + len, pieces[i], n);
			server(&chat, mode ? "0\nname\n" : "0\n0:/a");
			for (; chat.talk->state == TALK_GOING && total < TALK_KEPT; total += len)
				chat.talk->ops->take(chat.talk, big, len, &chat.sink);
			unit_note("%s", pieces[i]);
			expect(&chat, "", "too long");
			chat_end(&chat);
		}
	}
	struct talk_request request = plain;
	const char *const root = "/";
	request.roots = &root;
	struct chat chat = chat_new("unix");
	chat.talk->ops->ask(chat.talk, &request);
	server(&chat, "yes\n");
	memset(big, 'a', 1 << 16);
	chat.talk->ops->take(chat.talk, big, 1 << 16, &chat.sink);
	expect(&chat, "", "too long");
	chat_end(&chat);
	free(big);
}

/* What the server returns and does not match, or is not wanted. */
UNIT_TEST(filtered)
{
	const char *const exclude[] = {"skip", "/only/here"};
	static const char answer[] =
		"0\n0:/a1:" FILE_42 ":\n0:/d/a2:" DIR_7 ":\n0:/d/e/a3:" LINK_9 ":\n0:/a4::\n"
		"0:/xa5:" FILE_42 ":\n0:/skip/a6:" FILE_42 ":\n0:/only/here/a7:" FILE_42 ":\n"
		"0:/d/only/here/a8:" FILE_42 ":\n4:4:/r/a4:\n13:1:/r/d/q:\n13:1:/r/skip:\n"
		"13:1:/r/d/e/f:\n0:/a/b:" FILE_42 ":\n\n";
	static const struct {
		struct talk_request request;
		const char *entries;
	} rows[] = {
		{{.flags = SEARCH_METADATA},
		 "0 8 ino 42 size 6 /a1\n0 4 ino 7 size 4096 /d/a2\n0 10 ino 9 size 1 /d/e/a3\n"
		 "0 8 ino 42 size 6 /d/only/here/a8\n0 !4:4 /a4\n0 !1:13 /d/q\n0 !1:13 /d/e/f\n"},
		{{.flags = SEARCH_METADATA, .optional = true, .levels = 2},
		 "0 8 ino 42 size 6 /a1\n0 /a4\n0 !4:4 /a4\n"},
		{{.types = 1 << DT_DIR, .mindepth = 2, .levels = 4},
		 "0 4 /d/a2\n0 !4:4 /a4\n0 !1:13 /d/q\n"},
		{{.query = "-type d -size -9 -o -path /r/a1"},
		 "0 8 /a1\n0 4 /d/a2\n0 !4:4 /a4\n0 !1:13 /d/q\n0 !1:13 /d/e/f\n"},
		{{.type = true, .levels = 3},
		 "0 8 /a1\n0 4 /d/a2\n0 /a4\n0 !4:4 /a4\n"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = rows[i].request;
		request.n = 1;
		request.query = rows[i].request.query ? rows[i].request.query : "";
		request.pattern = "a?";
		request.exclude = exclude;
		request.nexclude = 2;
		request.flags |= SEARCH_FOLLOW;
		struct chat chat = ask(&request, "/r");
		unit_note("row %zu", i);
		server(&chat, answer);
		expect(&chat, rows[i].entries, NULL);
		chat_end(&chat);
	}
	/* An error where nothing can match is no error. */
	struct talk_request request = plain;
	request.pattern = "/*/x";
	request.flags = SEARCH_FOLLOW;
	struct chat chat = ask(&request, "/");
	server(&chat, "0\n13:1://a/b:\n13:1://a:\n\n");
	expect(&chat, "0 !1:13 /a\n", NULL);
	chat_end(&chat);
	/* The first result ends the conversation; what follows is not looked at. */
	request.pattern = "a?";
	request.flags = SEARCH_STOPATFIRST;
	chat = ask(&request, "/");
	server(&chat, "0\n0:/xa::\n0:/a1::\n0:/a2::\nnonsense\n");
	expect(&chat, "0 /a1\n", NULL);
	chat.talk->ops->ask(chat.talk, &request);
	expect(&chat, "", "not read to its end");
	chat_end(&chat);
}

/* Without FOLLOW what is below symlinks is dropped: one more round trip for all directories. */
UNIT_TEST(links)
{
	static const char answer[] =
		"0\n0:/bar:" FILE_42 ":\n0:/a/b/bar:" FILE_42 ":\n0:/l/bar:" FILE_42 ":\n"
		"13:1:/r/l:\n13:1:/r/d:\n13:1:/r/a/b/l2:\n0:/a/b/l2/c/bar:" FILE_42 ":\n\n";
	static const char asked[] =
		"lstat /r/a\nlstat /r/a/b\nlstat /r/l\nlstat /r/d\nlstat /r/a/b/l2\n"
		"lstat /r/a/b/l2/c\n";
	static const char links[] =
		"0\n" DIR_7 "\n0\n" DIR_7 "\n0\n" LINK_9 "\n-3\n0\n" LINK_9 "\n0\n" DIR_7 "\n";
	struct talk_request request = plain;
	request.flags = SEARCH_METADATA;
	struct chat chat = ask(&request, "/r");
	sends(&chat, "search bar /r 2\n");
	server(&chat, answer);
	expect(&chat, "0 8 ino 42 size 6 /bar\n", "");
	sends(&chat, asked);
	server(&chat, links);
	expect(&chat, "0 8 ino 42 size 6 /a/b/bar\n0 !1:13 /d\n", NULL);
	/* The connection can be used again. */
	request.flags = 0;
	request.pattern = "x";
	chat.talk->ops->ask(chat.talk, &request);
	sends(&chat, "search x /r 0\n");
	server(&chat, "0\n\n");
	expect(&chat, "", NULL);
	chat_end(&chat);

	/* The first result may be below a symlink. */
	request.pattern = "bar";
	request.flags = SEARCH_STOPATFIRST;
	chat = ask(&request, "/");
	sends(&chat, "search bar / 1\n");
	server(&chat, "0\n13:1://d:\n0:/l/bar::\n\n");
	sends(&chat, "lstat /d\nlstat /l\n");
	server(&chat, "0\n" DIR_7 "\n0\n" LINK_9 "\n");
	expect(&chat, "0 !1:13 /d\n", "");
	sends(&chat, "search bar / 0\n");
	server(&chat, "0\n13:1://d:\n0:/l/bar::\n0:/a/bar::\n\n");
	sends(&chat, "lstat /l\nlstat /a\n");
	server(&chat, "0\n" LINK_9 "\n0\n" DIR_7 "\n");
	expect(&chat, "0 /a/bar\n", NULL);
	chat_end(&chat);

	/* What a loop of symlinks returns does not fill the memory. */
	request.flags = 0;
	chat = ask(&request, "/");
	server(&chat, "0\n");
	STRBUF(many);
	for (int i = 0; i < 1000; ++i)
		strbuf_puts(&many, "0:/a/loop/a/loop/a/loop/a/loop/a/loop/bar::\n");
	for (size_t n = 0; chat.talk->state == TALK_GOING && n < 10000; ++n)
		chat.talk->ops->take(chat.talk, many.data, many.len, &chat.sink);
	expect(&chat, "", "--engine=sync");
	chat_end(&chat);
}

/* Listings */

UNIT_TEST(walk)
{
	struct talk_request request = plain;
	request.pattern = "a*";
	request.flags = SEARCH_METADATA;
	static const char *const refusals[] = {"-8\n", "-1\n", "-23\n", "0\n1:1:/r:\n\n"};
	for (size_t i = 0; i < COUNT(refusals); ++i) {
		struct chat chat = ask(&request, "/r");
		unit_note("%s", refusals[i]);
		sends(&chat, "search a* /r 2\n");
		server(&chat, refusals[i]);
		sends(&chat, "getlongdir /r\n");
		server(&chat, "0\n.\n" DIR_7 "\nd 1\n" DIR_7 "\na\nb\n" FILE_42 "\nalink\n" LINK_9
		       "\n..\n" DIR_7 "\na:d\n" DIR_7 "\nx\n" FILE_42 "\n");
		sends(&chat, "");
		server(&chat, "\n");
		sends(&chat, "getlongdir /r/d%201\ngetlongdir /r/a:d\n");
		server(&chat, "-2\n");
		server(&chat, "0\na9\n" FILE_42 "\n\n");
		expect(&chat, "0 8 ino 42 size 6 /a\nb\n0 10 ino 9 size 1 /alink\n"
		       "0 4 ino 7 size 4096 /a:d\n0 !1:13 /d 1\n0 8 ino 42 size 6 /a:d/a9\n", NULL);
		CU_ASSERT_EQUAL(chat.talk->counts.dirs, 2);
		CU_ASSERT_EQUAL(chat.talk->counts.entries, 6);
		chat_end(&chat);
	}
	/* Only directories below which something can match. */
	request.pattern = "/d/*";
	request.engine = SEARCH_ENGINE_SYNC;
	struct chat chat = ask(&request, "/");
	sends(&chat, "getlongdir /\n");
	server(&chat, "0\nd\n" DIR_7 "\ne\n" DIR_7 "\n\n");
	sends(&chat, "getlongdir /d\n");
	server(&chat, "0\nf\n" DIR_7 "\n\n");
	expect(&chat, "0 4 ino 7 size 4096 /d/f\n", NULL);
	chat_end(&chat);
	/* Limits. */
	request.pattern = "*";
	request.depth = 1;
	chat = ask(&request, "/");
	server(&chat, "0\nd\n" DIR_7 "\n\n");
	sends(&chat, "getlongdir /\ngetlongdir /d\n");
	server(&chat, "0\nf\n" DIR_7 "\n\n");
	expect(&chat, "0 4 ino 7 size 4096 /d\n0 4 ino 7 size 4096 /d/f\n0 !6:75 /d/f\n", NULL);
	chat_end(&chat);
	request.depth = 0;
	request.levels = 2;
	chat = ask(&request, "/");
	server(&chat, "0\nd\n" DIR_7 "\n\n");
	expect(&chat, "0 4 ino 7 size 4096 /d\n", NULL);
	chat_end(&chat);
	/* Only what the server can do. */
	request = plain;
	request.flags = SEARCH_R_OK;
	chat = ask(&request, "/");
	server(&chat, "-8\n");
	expect(&chat, "", "--access and --follow");
	chat_end(&chat);
}

UNIT_TEST(xdev)
{
	struct talk_request request = plain;
	request.pattern = "*";
	request.flags = SEARCH_XDEV;
	const char *const roots[] = {"/r", "/s"};
	request.roots = roots;
	request.n = 2;
	struct chat chat = ask(&request, NULL);
	sends(&chat, "getlongdir /r\ngetlongdir /s\n");
	/* The device of the root is known only after those of its directories. */
	server(&chat, "0\nmount\n1 2 16877 4 5 6 7 8 9 10 11 12 13\nd\n" DIR_7 "\n.\n" DIR_7
	       "\n\n");
	sends(&chat, "getlongdir /r/d\n");
	server(&chat, "0\n.\n1 2 16877 4 5 6 7 8 9 10 11 12 13\n\n");
	server(&chat, "0\nother\n1 2 16877 4 5 6 7 8 9 10 11 12 13\n\n");
	sends(&chat, "");
	expect(&chat, "0 4 /mount\n0 4 /d\n0 4 /d/other\n", NULL);
	chat_end(&chat);
}

/* Many directories: a bounded number of requests at once. */
UNIT_TEST(window)
{
	struct talk_request request = plain;
	request.pattern = "x";
	request.engine = SEARCH_ENGINE_SYNC;
	struct chat chat = ask(&request, "/");
	talk_sent(chat.talk, chat.talk->out.len);
	server(&chat, "0\n");
	for (int i = 0; i < 1000; ++i) {
		STRBUF(entry);
		strbuf_printf(&entry, "d%d\n" DIR_7 "\n", i);
		server(&chat, strbuf_str(&entry));
	}
	server(&chat, "\n");
	int sent = 0, answered = 0;
	while (chat.talk->state == TALK_GOING) {
		for (const char *at = strbuf_str(&chat.talk->out); (at = strchr(at, '\n')); ++at)
			++sent;
		CU_ASSERT_TRUE_FATAL(sent > answered && sent - answered <= CHIRP_WINDOW);
		talk_sent(chat.talk, chat.talk->out.len);
		server(&chat, "0\n\n");
		++answered;
	}
	CU_ASSERT_EQUAL(answered, 1000);
	expect(&chat, "", NULL);
	chat_end(&chat);
}

UNIT_TEST(hostile_listings)
{
	static const struct {
		const char *answer, *why;
	} rows[] = {
		{"0\n../x\n" FILE_42 "\n", "it has a component \"..\""},
		{"0\na/b\n" FILE_42 "\n", "it has a slash"},
		{"0\n/\n" FILE_42 "\n", "empty component"},
		{"0\na\n1 2 65536 4 5 6 7 8 9 10 11 12 13\n", "too large"},
		{"0\na\n\n" DIR_7 "\n\n", NULL},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = plain;
		request.pattern = "/bar";
		request.engine = SEARCH_ENGINE_SYNC;
		struct chat chat = ask(&request, "/");
		unit_note("row %zu", i);
		server(&chat, rows[i].answer);
		expect(&chat, "", rows[i].why);
		chat_end(&chat);
	}
	/* A directory whose path is too long for a line. */
	struct talk_request request = plain;
	request.engine = SEARCH_ENGINE_SYNC;
	struct chat chat = ask(&request, "/");
	STRBUF(answer);
	strbuf_puts(&answer, "0\n");
	for (int i = 0; i < 300; ++i)
		strbuf_puts(&answer, "\303\251");
	strbuf_puts(&answer, "\n" DIR_7 "\n\n");
	server(&chat, strbuf_str(&answer));
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&chat.got), "!1:36"));
	CU_ASSERT_EQUAL(chat.talk->state, TALK_DONE);
	chat_end(&chat);
}

/** What a server answers about the root of a search that reports roots as well. */
UNIT_TEST(roots_themselves)
{
	static const char found[] = "0\n0:/a/b1:" FILE_42 ":\n0:/c1:" DIR_7 ":\n\n";
	static const char listed[] = "0\n.\n" DIR_7 "\nc1\n" FILE_42 "\n\n";
	static const struct {
		struct talk_request request;
		const char *root, *sends, *answer, *entries, *then;
	} rows[] = {
		{{.flags = SEARCH_FOLLOW}, "/r", "stat /r\nsearch * /r 2\n", "0\n" DIR_7 "\n",
		 "0 4 ino 7 size 4096 \n0 8 ino 42 size 6 /a/b1\n0 4 ino 7 size 4096 /c1\n", found},
		{{.mindepth = 1}, "/", "lstat /\nsearch * / 2\n", "0\n" DIR_7 "\n",
		 "0 4 ino 7 size 4096 /c1\n", "0\n0:/c1:" DIR_7 ":\n\n"},
		{{.levels = 1, .follow_roots = true}, "/r", "stat /r\n", "0\n" LINK_9 "\n",
		 "0 10 ino 9 size 1 \n", ""},
		{{.levels = 1}, "/r", "lstat /r\n", "-3\n", "0 !1:2 \n", ""},
		/* Not a directory, a symlink, none: what the search says of it does not count. */
		{{.levels = 0}, "/r", "lstat /r\nsearch * /r 2\n", "0\n" FILE_42 "\n",
		 "0 8 ino 42 size 6 \n", "-20\n"},
		{{.levels = 0}, "/r", "lstat /r\nsearch * /r 2\n", "0\n" LINK_9 "\n",
		 "0 10 ino 9 size 1 \n", "0\n0:/c1:" DIR_7 ":\n13:1:/r/d:\n\n"},
		{{.levels = 0}, "/r", "lstat /r\nsearch * /r 2\n", "-3\n", "0 !1:2 \n", "-3\n"},
		{{.engine = SEARCH_ENGINE_SYNC}, "/r", "lstat /r\ngetlongdir /r\n",
		 "0\n" LINK_9 "\n", "0 10 ino 9 size 1 \n", listed},
		{{.engine = SEARCH_ENGINE_SYNC}, "/r", "lstat /r\ngetlongdir /r\n",
		 "0\n" DIR_7 "\n", "0 4 ino 7 size 4096 \n0 8 ino 42 size 6 /c1\n", listed},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct talk_request request = rows[i].request;
		request.n = 1;
		request.self = true;
		request.query = "";
		request.pattern = "*";
		request.flags |= SEARCH_METADATA;
		unit_note("row %zu", i);
		struct chat chat = ask(&request, rows[i].root);
		sends(&chat, rows[i].sends);
		server(&chat, rows[i].answer);
		server(&chat, rows[i].then);
		expect(&chat, rows[i].entries, NULL);
		chat_end(&chat);
	}
}

/* Several actions: each object names those that it reaches, by paths as they are printed. */
UNIT_TEST(actions)
{
	struct talk_request request = {
		.n = 1, .pattern = "*", .flags = SEARCH_FOLLOW, .self = true, .levels = 3,
		.prefix = "chirp://h", .mask = K_STATX_SIZE, .actions = 4,
		.query = "-path chirp://h/r -print -o -type f -print , -size +1c -print "
		         ", -name '?2' -quit",
	};
	struct chat chat = ask(&request, "/r");
	sends(&chat, "stat /r\nsearch /*|/*/* /r 2\n");
	server(&chat, "0\n" DIR_7 "\n0\n0:/a1:" FILE_42 ":\n0:/l2:" LINK_9 ":\n"
	       "0:/l3:" LINK_9 ":\n\n");
	expect(&chat, "0 4 ino 7 size 4096 actions 5 \n0 8 ino 42 size 6 actions 6 /a1\n"
	       "0 10 ino 9 size 1 actions 8 /l2\n", NULL);
	chat_end(&chat);
}
