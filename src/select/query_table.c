/* SPDX-License-Identifier: MIT */
/*
 * The primaries of find's language: one row each.
 *
 * Source: POSIX.1-2024 find; find(1) of GNU findutils 4.9; bfs(1) for -exclude, -hidden, -nohidden
 * and -unique.  -dev is not in other programs.
 */
#include "select/query_impl.h"

#include "base/words.h"

#include <unistd.h>

/* Parameters: word, number of arguments; parse, test, print; cost, mask, param. */
#define TEST(w, n, p, t, pr, c, m, x) \
	{.word = w, .kind = ROW_TEST, .args = n, .parse = query_parse_##p, \
	 .test = query_test_##t, .print = query_print_##pr, .cost = c, .mask = m, .param = x}
/* A primary that its parser replaces by tests of other rows. */
#define ALIAS(w, n, p, x) \
	{.word = w, .kind = ROW_TEST, .args = n, .parse = query_parse_##p, .param = x}
#define ACTION(w, n, p, x) \
	{.word = w, .kind = ROW_ACTION, .args = n, .parse = query_parse_##p, .param = x}
#define OPTION(w, x) {.word = w, .kind = ROW_OPTION, .parse = query_parse_option, .param = x}
#define POSITIONAL(w, x) \
	{.word = w, .kind = ROW_POSITIONAL, .parse = query_parse_option, .param = x}
#define REFUSED(w, why) {.word = w, .kind = ROW_REFUSED, .instead = why}

#define HELP "must be the only argument"
#define FIRST "must come before the paths"

static const struct query_row rows[] = {
	/* Names */
	TEST("name", 1, pattern, name, text, COST_NAME, 0, 0),
	TEST("iname", 1, pattern, name, text, COST_NAME, 0, 'i'),
	TEST("path", 1, pattern, path, text, COST_PATH, 0, 0),
	TEST("wholename", 1, pattern, path, text, COST_PATH, 0, 0),
	TEST("ipath", 1, pattern, path, text, COST_PATH, 0, 'i'),
	TEST("iwholename", 1, pattern, path, text, COST_PATH, 0, 'i'),
	TEST("regex", 1, regex, regex, text, COST_REGEX, 0, 0),
	TEST("iregex", 1, regex, regex, text, COST_REGEX, 0, 'i'),
	TEST("lname", 1, pattern, lname, text, COST_CALL, 0, 0),
	TEST("ilname", 1, pattern, lname, text, COST_CALL, 0, 'i'),
	TEST("hidden", 0, plain, hidden, none, COST_NAME, 0, 0),

	/* Types */
	TEST("type", 1, types, type, types, COST_NAME, 0, 0),
	TEST("xtype", 1, types, xtype, types, COST_CALL, 0, 0),
	TEST("fstype", 1, string, fstype, text, COST_PATH, 0, 0),
	TEST("true", 0, plain, true, none, COST_NONE, 0, 0),
	TEST("false", 0, plain, false, none, COST_NONE, 0, 0),

	/* Attributes */
	TEST("size", 1, size, size, number, COST_STATX, K_STATX_SIZE, 0),
	TEST("links", 1, number, links, number, COST_STATX, K_STATX_NLINK, 0),
	TEST("inum", 1, number, inum, number, COST_STATX, K_STATX_INO, 0),
	TEST("dev", 1, dev, dev, dev, COST_STATX, K_STATX_INO, 0),
	TEST("perm", 1, perm, perm, perm, COST_STATX, K_STATX_MODE | K_STATX_TYPE, 0),
	TEST("uid", 1, number, uid, number, COST_STATX, K_STATX_UID, 0),
	TEST("gid", 1, number, gid, number, COST_STATX, K_STATX_GID, 0),
	TEST("used", 1, used, used, used, COST_STATX, K_STATX_ATIME | K_STATX_CTIME, 0),
	TEST("newer", 1, newer, newer, time, COST_STATX, 0, 'm'),
	ALIAS("older", 1, newer, 'm'),
	ALIAS("anewer", 1, newer, 'a'),
	ALIAS("cnewer", 1, newer, 'c'),
	ALIAS("atime", 1, days, 'a'),
	ALIAS("ctime", 1, days, 'c'),
	ALIAS("mtime", 1, days, 'm'),
	ALIAS("amin", 1, minutes, 'a'),
	ALIAS("cmin", 1, minutes, 'c'),
	ALIAS("mmin", 1, minutes, 'm'),
	ALIAS("user", 1, owner, 0),
	ALIAS("group", 1, owner, 1),
	ALIAS("samefile", 1, samefile, 0),

	/* Tests that call the kernel */
	TEST("nouser", 0, plain, no_owner, none, COST_OWNER, K_STATX_UID, 0),
	TEST("nogroup", 0, plain, no_owner, none, COST_OWNER, K_STATX_GID, 1),
	TEST("readable", 0, plain, access, none, COST_CALL, 0, R_OK),
	TEST("writable", 0, plain, access, none, COST_CALL, 0, W_OK),
	TEST("executable", 0, plain, access, none, COST_CALL, 0, X_OK),
	TEST("empty", 0, plain, empty, none, COST_DIR, K_STATX_SIZE, 0),
	REFUSED("context", "is not supported: getmnt is built without SELinux; use find(1)"),

	/* Actions */
	ACTION("print", 0, action, QA_PRINT),
	ACTION("print0", 0, action, QA_PRINT0),
	ACTION("printf", 1, action, QA_PRINTF),
	ACTION("ls", 0, action, QA_LS),
	ACTION("fprint", 1, action, QA_FPRINT),
	ACTION("fprint0", 1, action, QA_FPRINT0),
	ACTION("fprintf", 2, action, QA_FPRINTF),
	ACTION("fls", 1, action, QA_FLS),
	ACTION("exec", 0, exec, QA_EXEC),
	ACTION("execdir", 0, exec, QA_EXECDIR),
	ACTION("ok", 0, exec, QA_OK),
	ACTION("okdir", 0, exec, QA_OKDIR),
	ACTION("delete", 0, action, QA_DELETE),
	ACTION("quit", 0, action, QA_QUIT),
	ACTION("prune", 0, prune, 0),

	/* Options */
	{.word = "maxdepth", .kind = ROW_OPTION, .args = 1, .parse = query_parse_depth_limit},
	{.word = "mindepth", .kind = ROW_OPTION, .args = 1, .parse = query_parse_depth_limit,
	 .param = true},
	OPTION("depth", OPT_DEPTH),
	OPTION("d", OPT_D),
	OPTION("xdev", OPT_XDEV),
	OPTION("mount", OPT_MOUNT),
	OPTION("ignore_readdir_race", OPT_RACE),
	OPTION("noignore_readdir_race", OPT_NO_RACE),
	OPTION("noleaf", OPT_NOLEAF),
	OPTION("unique", OPT_UNIQUE),
	{.word = "files0-from", .kind = ROW_OPTION, .args = 1, .parse = query_parse_files0},
	{.word = "nohidden", .kind = ROW_POSITIONAL, .parse = query_parse_nohidden},
	{.word = "exclude", .kind = ROW_POSITIONAL, .parse = query_parse_exclude},
	POSITIONAL("follow", OPT_FOLLOW),
	/* peek() in query_parse.c processes -daystart. */
	{.word = "daystart", .kind = ROW_POSITIONAL},
	POSITIONAL("warn", OPT_WARN),
	POSITIONAL("nowarn", OPT_NOWARN),
	{.word = "regextype", .kind = ROW_POSITIONAL, .args = 1, .parse = query_parse_regextype},
	REFUSED("H", FIRST),
	REFUSED("L", FIRST),
	REFUSED("P", FIRST),
	REFUSED("D", FIRST),
	REFUSED("help", HELP),
	REFUSED("-help", HELP),
	REFUSED("version", HELP),
	REFUSED("-version", HELP),
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

const char *query_word(size_t i, bool *refused)
{
	if (i >= ROWS)
		return NULL;
	*refused = rows[i].kind == ROW_REFUSED;
	return rows[i].word;
}

const struct query_row *query_row(const char *word)
{
	for (size_t i = 0; i < ROWS; ++i) {
		if (strcmp(rows[i].word, word) == 0)
			return &rows[i];
	}
	/* -newerXY, -olderXY: query_parse_newer() checks the letters. */
	for (int i = 0; i < 2 && strlen(word) == 7; ++i) {
		const char *stem = i ? "older" : "newer";
		if (strncmp(word, stem, 5) == 0)
			return query_row(stem);
	}
	return NULL;
}

const char *query_row_near(const char *word)
{
	struct near near = {.word = word, .n = strlen(word)};
	for (size_t i = 0; i < ROWS; ++i) {
		if (rows[i].kind != ROW_REFUSED)
			near_try(&near, rows[i].word, rows[i].word);
	}
	return near.best;
}

bool query_knows(const char *word)
{
	return query_row(word) != NULL;
}

const struct query_row *query_rows(void)
{
	return rows;
}
