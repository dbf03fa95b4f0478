/* SPDX-License-Identifier: MIT */
/*
 * The actions of getmnt find, as far as they are pure: formats, and the arguments of commands.
 * tests/system/find_actions.py compares them with GNU find.
 */
#include "fault.h"
#include "unit.h"

#include "cmd/found/exec.h"
#include "cmd/find/find.h"
#include "cmd/find/format.h"
#include "os/process.h"

#include <dirent.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

static void no_error(void *arg, int error, bool warning)
{
	(void)arg;
	CU_ASSERT_EQUAL(error, 0);
	CU_ASSERT_FALSE(warning);
}

static const char *fstype(void *arg)
{
	return arg;
}

static int target(void *arg, struct strbuf *text)
{
	(void)arg;
	strbuf_puts(text, "to\tx");
	return 0;
}

static char type[] = "ext4";
static const struct query_facts facts = {.arg = type, .fstype = fstype, .target = target};
static const struct k_statx st = {
	.mask = K_STATX_BASIC, .mode = S_IFLNK | 0644, .nlink = 3, .uid = 12, .gid = 34, .ino = 56,
	.size = 1000, .blocks = 9, .mtime = {.sec = 86399, .nsec = 5}, .atime = {.sec = -1},
	.ctime = {.sec = 67768036191676800}, .dev_minor = 7,
};

/** Compile a format, and fill it with an object.  @out [out]  Warnings and text; or why not. */
static void fill(struct strbuf *out, const char *text, bool quote)
{
	struct strbuf why = {0}, warnings = {0};
	struct owners users, groups;
	struct os os = {0};
	owners_init(&users, &os, "/proc/self/none");
	owners_init(&groups, &os, "/proc/self/none");
	const struct search_visit visit = {
		.object = {.name = "f\n", .len = 2, .type = DT_LNK, .depth = 4, .st = &st,
		           .facts = &facts},
		.path = "top//d/f\n", .root = "top/", .below = "d/f\n",
	};
	const struct format_env env = {
		.users = &users, .groups = &groups, .quote = quote, .failed = no_error,
	};
	strbuf_reset(out);
	struct format *format = format_compile(text, &warnings, &why);
	for (size_t i = 0; i < warnings.len; i += strlen(warnings.data + i) + 1)
		strbuf_printf(out, "warning: %s\n", warnings.data + i);
	strbuf_destroy(&warnings);
	if (format)
		format_put(format, &visit, &env, out);
	else
		strbuf_printf(out, "invalid: %s", strbuf_str(&why));
	format_free(format);
	owners_destroy(&users);
	owners_destroy(&groups);
	strbuf_destroy(&why);
}

UNIT_TEST(formats)
{
	static const struct {
		const char *format, *text;
		bool quote;
	} rows[] = {
		{"", ""}, {"a%%b", "a%b"}, {"\\a\\b\\f\\n\\r\\t\\v\\\\", "\a\b\f\n\r\t\v\\"},
		{"\\1011\\7x", "A1\ax"}, {"a\\cb%s", "a"},
		{"%p|%P|%H|%f|%h", "top//d/f\n|d/f\n|top/|f\n|top//d"},
		{"%p|%P|%f|%l|%H", "top//d/f?|d/f?|f?|to?x|top/", true},
		{"%p|%l", "top//d/f\n|to\tx"},
		{"%d %D %F %i %n %s %b %k", "4 7 ext4 56 3 1000 9 5"},
		{"%u %U %g %G %y", "12 12 34 34 l"}, {"%m %M", "644 lrw-r--r--"},
		/* All are printed as text but %d and %m. */
		{"<%7s><%-7s><%07s><%.2s><%7.2s>", "<   1000><1000   ><   1000><10><     10>"},
		{"<%5d><%-5d><%05d><%+d><% d><%.3d>", "<    4><4    ><00004><+4>< 4><004>"},
		{"<%#m><%06m><%6.4m><%-6m><%+m>", "<0644><000644><  0644><644   ><644>"},
		{"%S %.1S %06S", "4.608 5 04.608"},
		{"%t", "Thu Jan  1 23:59:59.0000000050 1970"},
		{"%T@ %A@", "86399.0000000050 -1.0000000000"},
		{"%TT %TS %T+", "23:59:59.0000000050 59.0000000050 1970-01-01+23:59:59.0000000050"},
		{"%TY %Tj %Tp %T%", "1970 001 PM %"}, {"<%3TH><%-4TM>", "< 23><59  >"},
		{"%AS", "59.0000000000"},
		/* A year that does not fit: seconds. */
		{"%CY %CT", "67768036191676800 67768036191676800.0000000000"},
		{"%c", "67768036191676800.0000000000"}, {"%B@", ""}, {"<%3BY>", "<   >"},
		{"%q", "warning: unknown directive \"%q\"; it is printed as it is\n%q"},
		{"%-5%", "warning: unknown directive \"%-5%\"; it is printed as it is\n%-5%"},
		{"\\q", "warning: unknown escape \"\\q\"; it is printed as it is\n\\q"},
		{"a\\", "warning: a backslash at the end is printed as it is\na\\"},
		{"%A", "warning: the directive \"%A\" must be followed by another character; it is "
		 "printed as it is\n%A"},
		{"%", "invalid: \"%\" at the end of the format; a percent sign is %%"},
		{"a%-5", "invalid: \"%-5\" at the end of the format; a percent sign is %%"},
		{"%5{x", "invalid: the directive \"%5{\" is reserved for future use"},
		{"%1000001d", "invalid: the width in \"%1000001d\" is too large; at most 1000000"},
		{"%.99999999999d", "invalid: the width in \"%.99999999999d\" is too large; at most "
		 "1000000"},
	};
	STRBUF(out);
	setenv("TZ", "UTC", 1);
	tzset();
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("format %s", rows[i].format);
		fill(&out, rows[i].format, rows[i].quote);
		unit_expect(strbuf_str(&out), rows[i].text);
	}
	fill(&out, "a\\0b", false);
	CU_ASSERT(out.len == 3 && memcmp(out.data, "a\0b", 3) == 0);
	fill(&out, "%1000000d", false);
	CU_ASSERT_EQUAL(out.len, 1000000);
}

UNIT_TEST(attributes)
{
	static const struct {
		const char *format;
		unsigned mask;
	} rows[] = {
		{"%p%f%h%H%P%d%y%Y%l%F%%", 0}, {"%s", K_STATX_SIZE}, {"%t", K_STATX_MTIME},
		{"%TY", K_STATX_MTIME}, {"%a%C@", K_STATX_ATIME | K_STATX_CTIME},
		{"%BY", K_STATX_BTIME}, {"%M", K_STATX_TYPE | K_STATX_MODE}, {"%u", K_STATX_UID},
		{"%S", K_STATX_SIZE | K_STATX_BLOCKS}, {"\\c%s", 0},
	};
	STRBUF(out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct format *format = format_compile(rows[i].format, &out, &out);
		CU_ASSERT_FATAL(format != NULL);
		CU_ASSERT_EQUAL(format->mask, rows[i].mask);
		format_free(format);
	}
	CU_ASSERT_EQUAL(out.len, 0);
}

UNIT_TEST(quoting)
{
	STRBUF(out);
	format_quote(&out, "a\tb\033[1m\377\303\251\303\n");
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "a?b?[1m?\303\251??");
	CU_ASSERT_STRING_EQUAL(format_base("/"), "/");
	CU_ASSERT_STRING_EQUAL(format_base("//"), "/");
	CU_ASSERT_STRING_EQUAL(format_base("a/b"), "b");
	CU_ASSERT_STRING_EQUAL(format_base("a/b//"), "b//");
	CU_ASSERT_STRING_EQUAL(format_base("."), ".");
	CU_ASSERT(format_base_len("b//") == 2 && format_base_len("//") == 1);
}

UNIT_TEST(replaced)
{
	static const char *const rows[][2] = {
		{"{}", "a b"}, {"x{}y{}", "xa bya b"}, {"{}{}", "a ba b"}, {"{ }", "{ }"}, {"", ""},
		{"{{}}", "{a b}"}, {"}{", "}{"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		STRBUF(out);
		exec_replace(&out, rows[i][0], "a b");
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i][1]);
	}
}

UNIT_TEST(unsafe)
{
	static const struct {
		const char *path, *unsafe;
	} rows[] = {
		{"/bin:/usr/bin", NULL}, {"/", NULL}, {"", ""}, {"/bin:", ""}, {":/bin", ""},
		{"/bin::/usr/bin", ""}, {".:/bin", "."}, {"/bin:foo/bar", "foo/bar"},
		{"/bin:~:x", "~"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		size_t len;
		const char *unsafe = exec_unsafe(rows[i].path, &len);
		CU_ASSERT_EQUAL(!unsafe, !rows[i].unsafe);
		if (unsafe && rows[i].unsafe)
			CU_ASSERT(len == strlen(rows[i].unsafe)
			          && memcmp(unsafe, rows[i].unsafe, len) == 0);
	}
}

UNIT_TEST(packing)
{
	struct pack pack = {.room = 3 * (2 + sizeof(char *))};
	const char *const words[] = {"w", "v"};
	CU_ASSERT_EQUAL(pack_cost(""), 1 + sizeof(char *));
	CU_ASSERT_EQUAL(pack_add(&pack, "a"), PACK_ADDED);
	CU_ASSERT_EQUAL(pack_add(&pack, "b"), PACK_ADDED);
	CU_ASSERT_EQUAL(pack_add(&pack, "cc"), PACK_FULL);
	CU_ASSERT_EQUAL(pack_add(&pack, "c"), PACK_ADDED);
	CU_ASSERT_EQUAL(pack_add(&pack, ""), PACK_FULL);
	char **command = pack_command(&pack, words, 2, 2, 1, 3);
	CU_ASSERT_FATAL(command != NULL);
	CU_ASSERT_STRING_EQUAL(command[0], "w");
	CU_ASSERT_STRING_EQUAL(command[1], "v");
	CU_ASSERT_STRING_EQUAL(command[2], "b");
	CU_ASSERT_STRING_EQUAL(command[3], "c");
	CU_ASSERT_PTR_NULL(command[4]);
	free(command);
	command = pack_command(&pack, words, 2, 1, 0, 1);
	CU_ASSERT_FATAL(command != NULL);
	CU_ASSERT_STRING_EQUAL(command[1], "a");
	CU_ASSERT_STRING_EQUAL(command[2], "v");
	CU_ASSERT_PTR_NULL(command[3]);
	free(command);
	/* The first one always fits: the kernel decides. */
	pack_reset(&pack);
	CU_ASSERT_EQUAL(pack_add(&pack, "longer than all of the room that is left for arguments"),
	                PACK_ADDED);
	CU_ASSERT_EQUAL(pack_add(&pack, "a"), PACK_FULL);
	CU_ASSERT_EQUAL(pack.n, 1);
	/* An argument that is not whole is refused. */
	CU_ASSERT_EQUAL(pack_add(&pack, NULL), PACK_NOMEM);
	CU_ASSERT_EQUAL(pack.n, 1);
	strbuf_destroy(&pack.text);
}

/** Make the arguments of a command.  @return 0, or -1 (ENOMEM): some were left out, and none is a
    part of one. */
static int pack_all(void *arg)
{
	static const char *const names[] = {"-rf", "a name that needs more than the first block of "
	                                    "memory, so that its parts are allocated apart"};
	struct pack pack = {.room = SIZE_MAX};
	struct strbuf text = {0};
	size_t added = 0;
	(void)arg;
	for (int i = 0; i < 20; ++i) {
		const char *name = names[i % 2];
		strbuf_renew(&text);
		exec_put_local(&text, name, strlen(name));
		added += pack_add(&pack, strbuf_text(&text)) == PACK_ADDED;
	}
	CU_ASSERT_EQUAL(pack.n, added);
	char **command = pack_command(&pack, NULL, 0, 0, 0, pack.n);
	for (size_t i = 0; command && i < added; ++i) {
		CU_ASSERT(strncmp(command[i], "./", 2) == 0
		          && (strcmp(command[i] + 2, names[0]) == 0
		              || strcmp(command[i] + 2, names[1]) == 0));
	}
	bool whole = command && added == 20;
	free(command);
	strbuf_destroy(&text);
	strbuf_destroy(&pack.text);
	if (!whole)
		errno = ENOMEM;
	return whole ? 0 : -1;
}

UNIT_TEST(packing_without_memory)
{
	fault_each_allocation(pack_all, NULL, 4);
}

/** Run a command.  @return what os_run() returns. */
static int run(struct os *os, const char *const *argv, struct os_command command, int *status)
{
	command.argv = (char *const *)(uintptr_t)argv;
	return os_run(os, &command, status);
}

UNIT_TEST(commands)
{
	static const char *const yes[] = {"true", NULL}, *const no[] = {"sh", "-c", "exit 7", NULL};
	static const char *const none[] = {"/proc/self/none/x", NULL};
	static const char *const where[] = {"sh", "-c", "test \"$(pwd -P)\" = /proc", NULL};
	static const char *const killed[] = {"sh", "-c", "kill -9 $$", NULL};
	static const char *const files[] = {"sh", "-c", "test $(ulimit -n) = 20", NULL};
	struct os os = {0};
	struct os_command plain = {.dirfd = -1};
	int status;
	sigemptyset(&plain.mask);
	CU_ASSERT_EQUAL(run(&os, yes, plain, &status), 0);
	CU_ASSERT_EQUAL(status, 0);
	CU_ASSERT_EQUAL(run(&os, no, plain, &status), 0);
	CU_ASSERT_EQUAL(WEXITSTATUS(status), 7);
	CU_ASSERT_EQUAL(run(&os, none, plain, &status), ENOENT);
	CU_ASSERT_EQUAL(run(&os, killed, plain, &status), 0);
	CU_ASSERT(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	struct os_command other = plain;
	other.dirfd = open("/proc", O_PATH | O_CLOEXEC);
	CU_ASSERT_EQUAL(run(&os, where, other, &status), 0);
	CU_ASSERT_EQUAL(status, 0);
	close(other.dirfd);
	other.dirfd = open("/dev/null", O_PATH | O_CLOEXEC);
	CU_ASSERT_EQUAL(run(&os, yes, other, &status), ENOTDIR);
	close(other.dirfd);
	other = plain;
	other.files = 20;
	CU_ASSERT_EQUAL(run(&os, files, other, &status), 0);
	/* valgrind keeps this limit to itself. */
	CU_ASSERT(status == 0 || unit_in_valgrind());
	CU_ASSERT(os.calls[OS_FORK] == 7 && os.calls[OS_WAIT] == 7);
	size_t room = os_arg_room(&os);
	setenv("GETMNT_TEST", "0123456", 1);
	room -= strlen("GETMNT_TEST=0123456") + 1 + sizeof(char *);
	CU_ASSERT_EQUAL(os_arg_room(&os), room);
	unsetenv("GETMNT_TEST");
}
