/* SPDX-License-Identifier: MIT */
/*
 * The configuration of an audit: each word, each line that is none, what is silenced, and
 * policies: for each rule what fires it, and the nearest that is healthy.
 */
#include "unit.h"

#include "audit/policy.h"
#include "fault.h"
#include "table/table_impl.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[64 * 1024];

static void add(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void add(const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
}

static void parse(struct audit_config *config, const char *lines)
{
	audit_config_init(config);
	CU_ASSERT_EQUAL_FATAL(audit_config_parse(config, "F", lines, strlen(lines)), 0);
}

/** The problems of a text, "LINE: WHY" each. */
static const char *problems(const char *lines, size_t len)
{
	struct audit_config config;
	audit_config_init(&config);
	CU_ASSERT_EQUAL_FATAL(audit_config_parse(&config, "F", lines, len), 0);
	text[0] = '\0';
	for (size_t i = 0; i < config.nproblems && i < AUDIT_PROBLEMS_MAX; ++i) {
		CU_ASSERT_STRING_EQUAL(config.problems[i].file, "F");
		add("%u: %s\n", config.problems[i].line, config.problems[i].why);
	}
	audit_config_destroy(&config);
	return text;
}

/* Lines. */

static void test_right(void)
{
	static const char *const right[] = {
		"", "\n\n", "# a comment\n", "  \t# another\n \t\n", "separate /var", "separate /var\r\n", "separate /var # why\n",
		"rule FSTAB-SYNTAX off", "rule DRIFT-* off\n", "rule * off target=/x\n", "rule DRIFT-*,MNT-DUP,SWAP-EXTRA on severity=info target=/a until=2030-01-01",
		"rule MNT-DUP severity=critical", "rule\tMNT-DUP\t\ton", "rule MNT-DUP until=2030-01-01 target=* severity=warning off",
		"rule SWAP-NOT-ACTIVE off target=UUID=abc", "ignore owner snap", "ignore owner *", "ignore owner s*", "ignore type tmpfs",
		"ignore type fuse.*", "ignore target /var/lib/kubelet/*", "ignore target /a\\040b until=2030-12-31", "ignore target /a\\ b",
		"ignore target /a#b", "ignore target /[a-c]?\\*", "ignore target /\\303\\274", "ignore target /\xc3\xbc", "ignore target /\xff",
		"ignore target /", "ignore target *", "ignore target *x", "ignore target [/]x", "require /tmp nosuid", "require /tmp nosuid,nodev,size=1g",
		"require / rw", "require //tmp///x/ exec,ro", "separate /", "propagation / shared", "propagation /x private",
		"propagation /x slave", "propagation /x unbindable", "separate /a\\042b\\134",
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); ++i) {
		unit_note("%s", right[i]);
		CU_ASSERT_STRING_EQUAL(problems(right[i], strlen(right[i])), "");
	}
}

static void test_wrong(void)
{
	static const struct {
		const char *line, *why;   /* a part of it */
	} wrong[] = {
		{"foo", "\"foo\": a line begins with rule, ignore, require, separate or propagation"},
		{"Rule MNT-DUP off", "\"Rule\""}, {"rules MNT-DUP off", "\"rules\""}, {"rul", "\"rul\""},
		{"rule", "Name codes"}, {"rule MNT", "\"MNT\": no such rule; getmnt audit --list-rules"}, {"rule mnt-dup off", "no such rule"},
		{"rule MNT-DUP,", "\"\": no such rule"}, {"rule MNT-DUP,X off", "\"X\": no such rule"}, {"rule X* off", "\"X*\": no such rule"},
		{"rule *-* off", "\"*-*\": no such rule"}, {"rule MNT-DUP, MNT-LIMIT off", "\"\": no such rule"},
		{"rule MNT-DUP", "says nothing"}, {"rule MNT-DUP target=/x", "says nothing"}, {"rule MNT-DUP until=2030-01-01", "says nothing"},
		{"rule MNT-DUP of", "\"of\": known are on, off, severity=, target=, until="}, {"rule MNT-DUP off /x", "\"/x\": known are"},
		{"rule MNT-DUP on off", "\"off\": that is said twice"}, {"rule MNT-DUP off off", "said twice"},
		{"rule MNT-DUP severity=bad", "severity=bad: known are info, warning, critical"}, {"rule MNT-DUP severity=", "known are info"},
		{"rule MNT-DUP severity=info severity=info", "said twice"}, {"rule MNT-DUP off target=/a target=/b", "said twice"},
		{"rule MNT-DUP off until=2030-01-01 until=2030-01-01", "said twice"}, {"rule MNT-DUP off target=", "has no pattern"},
		{"rule MNT-DUP off target=data", "they begin with /"}, {"rule MNT-DUP off target=/data/", "they end in no /"},
		{"rule MNT-DUP off target=/[a", "[ without its ]"}, {"rule MNT-DUP off target=/[b-a]", "ends before it begins"},
		{"rule MNT-DUP off target=/[[:foo:]]", "no such class"}, {"rule MNT-DUP off target=/a b", "\"b\": known are"},
		{"rule MNT-DUP off until=tomorrow", "until=tomorrow: no such day; write"}, {"rule MNT-DUP off until=2030-1-1", "no such day"},
		{"rule MNT-DUP off until=2023-02-29", "no such day"}, {"rule MNT-DUP off until=", "no such day"},
		{"rule MNT-DUP off until=20300101", "no such day"}, {"rule MNT-DUP off until=2030-01-01T00:00", "no such day"},
		{"ignore", "ignore owner, type or target"}, {"ignore target", "ignore owner, type or target"}, {"ignore mount /x", "\"mount\": known are owner, type, target"},
		{"ignore owner root", "\"root\": known are fstab, unit,"}, {"ignore owner Snap", "known are"}, {"ignore target srv", "they begin with /"},
		{"ignore target /x/", "they end in no /"}, {"ignore target /x /y", "\"/y\": behind the pattern"}, {"ignore type tmpfs until=never", "no such day"},
		{"ignore type tmpfs until=2030-01-01 x", "\"x\": behind the pattern"}, {"ignore type [", "[ without its ]"},
		{"require", "it lacks a word: require PATH"}, {"require /tmp", "it lacks a word"}, {"require /tmp nosuid nodev", "\"nodev\" is a word too many"},
		{"require /tmp nosuid,", "nothing stands between"}, {"require /tmp ,nosuid", "nothing stands between"}, {"require tmp nosuid", "no absolute path"},
		{"require /tmp defaults", "\"defaults\": the kernel shows it of no mount"}, {"require /tmp nofail", "shows it of no mount"},
		{"require /tmp nodev,nosiud", "\"nosiud\": there is no such option: is nosuid meant?"},
		{"require /tmp noexce", "is noexec meant?"},
		{"require /tmp x-systemd.automount", "for the fstab alone"}, {"require /tmp nosuid,nosuid", "\"nosuid\": it stands here twice"},
		{"require /tmp ro,rw", "\"rw\": it stands here twice, or contradicts"}, {"require /tmp exec,noexec", "contradicts"},
		{"require /tmp size=1g,size=2g", "contradicts"}, {"require UUID=x ro", "no absolute path"}, {"require /a\\000 ro", "no path has a NUL"},
		{"separate", "it lacks a word: separate PATH"}, {"separate var", "no absolute path"}, {"separate /a/../b", "no . or .."},
		{"separate /./b", "no . or .."}, {"separate /a b", "\"b\" is a word too many"}, {"separate /a\\04", "three octal digits"},
		{"separate /a\\400", "three octal digits"}, {"separate /a\\9", "three octal digits"}, {"separate /a\\", "ends in a backslash"},
		{"separate \"/a b\"", "no quotation marks"}, {"separate /a\"b", "no quotation marks"},
		{"propagation", "it lacks a word: propagation PATH"}, {"propagation /", "it lacks a word"}, {"propagation / rshared", "\"rshared\": known are shared"},
		{"propagation / shared x", "a word too many"}, {"separate /a\x01", "control character"}, {"separate /a\x1b[2J", "control character"},
		{"separate /a\r/b", "control character"}, {"separate /a\x7f", "control character"}, {"# \x01", "control character"},
		{"rule MNT-DUP off on severity=info target=/a until=2030-01-01 a b c d", "too many words"},
	};
	char lines[256];
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i) {
		/* The line before and behind are right, and stay so. */
		unit_note("%s", wrong[i].line);
		snprintf(lines, sizeof(lines), "separate /x\n\n%s\nseparate /y\n", wrong[i].line);
		const char *got = problems(lines, strlen(lines));
		CU_ASSERT(strncmp(got, "3: ", 3) == 0 && strstr(got, wrong[i].why));
		CU_ASSERT_PTR_EQUAL(strchr(got, '\n'), got + strlen(got) - 1);
		if (strncmp(got, "3: ", 3) != 0 || !strstr(got, wrong[i].why))
			printf("  %s: %s, not: %s\n", wrong[i].line, got, wrong[i].why);
	}
	CU_ASSERT_STRING_EQUAL(problems("separate /a\0b\n", 14), "1: there is a NUL in it: the file is damaged, or no text\n");
	CU_ASSERT_STRING_EQUAL(problems("#\n#\0", 4), "2: there is a NUL in it: the file is damaged, or no text\n");
	CU_ASSERT(strncmp(problems("\xef\xbb\xbfseparate /a\n", 15), "1: it begins with a byte order mark", 35) == 0);
	CU_ASSERT_STRING_EQUAL(problems("foo\n", 3), "1: \"foo\": a line begins with rule, ignore, require, separate or propagation; a comment with #\n");
}

/** A line as long as may be, and a byte more. */
static void test_long(void)
{
	char line[AUDIT_LINE_MAX + 2];
	memset(line, 'x', sizeof(line));
	memcpy(line, "separate /", 10);
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX), "");
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX + 1), "1: the line is longer than 4096 bytes: make more of it\n");
	memcpy(line, "# ", 2);
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX), "");
	memset(line, '*', sizeof(line));
	memcpy(line, "ignore target /", 15);
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX), "");
	memset(line + 15, '[', sizeof(line) - 15);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems(line, AUDIT_LINE_MAX), "[ without its ]"));
}

static void test_rows(void)
{
	struct audit_config config;
	parse(&config, "# c\n\n  rule DRIFT-*,MNT-DUP severity=info  target=/a\\052 until=2030-02-01  # why\n"
	      "ignore type x*\nrequire /a\\040b//c/ nosuid,size=1g\nrequire // ro\npropagation /p slave\n");
	CU_ASSERT_EQUAL(config.nproblems, 0);
	CU_ASSERT_EQUAL_FATAL(config.count, 5);
	const struct audit_row *row = config.rows;
	CU_ASSERT_EQUAL(row->verb, AUDIT_RULE);
	CU_ASSERT_STRING_EQUAL(row->file, "F");
	CU_ASSERT_EQUAL(row->line, 3);
	CU_ASSERT_STRING_EQUAL(row->text, "rule DRIFT-*,MNT-DUP severity=info  target=/a\\052 until=2030-02-01");
	CU_ASSERT_EQUAL(row->until, audit_day("2030-02-01", 10));
	CU_ASSERT_EQUAL(row->codes, audit_bit(DRIFT_NOT_MOUNTED) | audit_bit(DRIFT_NOT_IN_FSTAB) | audit_bit(DRIFT_SOURCE)
	                | audit_bit(DRIFT_TYPE) | audit_bit(DRIFT_OPTIONS) | audit_bit(DRIFT_READONLY) | audit_bit(MNT_DUP));
	CU_ASSERT_EQUAL(row->on, -1);
	CU_ASSERT_EQUAL(row->severity, AUDIT_INFO);
	CU_ASSERT_STRING_EQUAL(row->glob->exact, "/a*");
	CU_ASSERT_EQUAL(config.rows[1].verb, AUDIT_IGNORE_TYPE);
	CU_ASSERT_PTR_NULL(config.rows[1].glob->exact);
	CU_ASSERT_EQUAL(config.rows[1].until, AUDIT_FOREVER);
	CU_ASSERT_STRING_EQUAL(config.rows[2].path, "/a b/c");
	CU_ASSERT_STRING_EQUAL(config.rows[2].options, "nosuid,size=1g");
	CU_ASSERT_STRING_EQUAL(config.rows[3].path, "/");
	CU_ASSERT_EQUAL(config.rows[4].propagation, MP_SLAVE);
	audit_config_destroy(&config);
}

static void test_globs(void)
{
	static const struct {
		const char *glob, *takes, *not;
	} globs[] = {
		{"/a", "/a", "/a/b"}, {"/a*", "/a/b/c", "/b/a"}, {"/a/*", "/a/b", "/a"}, {"*", "/", NULL}, {"*/b", "/a/x/b", "/a/b/x"},
		{"/a?c", "/abc", "/ac"}, {"/a?c", "/a/c", "/a//c"}, {"/[ab]", "/b", "/c"}, {"/[!ab]", "/c", "/a"}, {"/[a-c]x", "/bx", "/dx"},
		{"/\\*", "/*", "/a"}, {"/\\052", "/*", "/a"}, {"/a\\040b", "/a b", "/ab"}, {"/a\\ b*", "/a bc", "/ab"}, {"/\\[a]", "/[a]", "/a"},
		{"/?", "/\xc3\xbc", "/\xc3\xbc\xc3\xbc"}, {"/\\303\\274*", "/\xc3\xbcx", "/ux"}, {"/*a*a*a", "/xaxaxa", "/xaxax"}, {"/.?", "/.x", "/xx"},
		{"/a\\nb", "/anb", "/a\nb"}, {"/[a/]b", "//b", "/b"}, {"/|", "/|", "/"},
	};
	char line[128];
	for (size_t i = 0; i < sizeof(globs) / sizeof(*globs); ++i) {
		struct audit_config config;
		unit_note("%s", globs[i].glob);
		snprintf(line, sizeof(line), "ignore target %s", globs[i].glob);
		parse(&config, line);
		CU_ASSERT_EQUAL(config.nproblems, 0);
		CU_ASSERT_EQUAL_FATAL(config.count, 1);
		CU_ASSERT(audit_glob_matches(config.rows[0].glob, globs[i].takes));
		CU_ASSERT(!globs[i].not || !audit_glob_matches(config.rows[0].glob, globs[i].not));
		audit_config_destroy(&config);
	}
}

static void test_days(void)
{
	static const struct {
		const char *date;
		int64_t day;
	} days[] = {
		{"1970-01-01", 0}, {"1970-12-31", 364}, {"1972-02-29", 789}, {"2000-02-29", 11016}, {"2000-03-01", 11017}, {"2026-11-22", 20779},
		{"9999-12-31", 2932896}, {"2100-02-28", 47540}, {"2100-03-01", 47541}, {"2100-02-29", -1}, {"1969-12-31", -1}, {"2026-00-01", -1},
		{"2026-13-01", -1}, {"2026-04-31", -1}, {"2026-04-00", -1}, {"2026-4-01", -1}, {"+026-04-01", -1}, {"2026/04/01", -1}, {"", -1},
	};
	for (size_t i = 0; i < sizeof(days) / sizeof(*days); ++i)
		CU_ASSERT_EQUAL(audit_day(days[i].date, strlen(days[i].date)), days[i].day);
	/* Each day of 400 years follows the one before, as the C library counts. */
	for (int64_t day = 0; day < 146097; day += 13) {
		char date[32];
		time_t seconds = (time_t)day * 86400;
		struct tm tm;
		strftime(date, sizeof(date), "%Y-%m-%d", gmtime_r(&seconds, &tm));
		CU_ASSERT_EQUAL(audit_day(date, strlen(date)), day);
	}
}

/* What is silenced. */

static const struct audit_finding findings[] = {
	{.code = DRIFT_OPTIONS, .severity = AUDIT_WARNING, .line = 2, .target = "/data", .message = "m", .owner = "fstab", .fstype = "ext4"},
	{.code = DRIFT_READONLY, .severity = AUDIT_CRITICAL, .line = 2, .target = "/data", .message = "m", .owner = "fstab", .fstype = "ext4"},
	{.code = DRIFT_NOT_IN_FSTAB, .severity = AUDIT_WARNING, .target = "/srv/a", .message = "m", .owner = "unknown", .fstype = "tmpfs"},
	{.code = MNT_SHADOWED, .severity = AUDIT_WARNING, .target = "/srv/b", .message = "m", .owner = "snap", .fstype = "squashfs"},
	{.code = MNT_LIMIT, .severity = AUDIT_CRITICAL, .target = "", .message = "m"},
	{.code = FSTAB_SYNTAX, .severity = AUDIT_CRITICAL, .line = 3, .target = "/srv/c", .message = "m"},
	{.code = POLICY_OPTION, .severity = AUDIT_WARNING, .file = "F", .line = 1, .target = "/srv/a", .message = "m", .fstype = "tmpfs"},
};

/** What is left of these, "CODE-INITIAL severity target" by its number, and what silenced the others. */
static const char *applied(const char *lines, const char *today, uint64_t rules)
{
	struct audit_config config;
	struct audit_report report;
	size_t of[AUDIT_CRITICAL + 1] = {0};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	if (rules)
		config.rules = rules;
	audit_report_init(&report);
	for (size_t i = 0; i < sizeof(findings) / sizeof(*findings); ++i)
		CU_ASSERT_EQUAL_FATAL(audit_report_add(&report, &findings[i]), 0);
	CU_ASSERT_EQUAL_FATAL(audit_config_apply(&report, &config, audit_day(today, 10)), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		++of[report.findings[i].severity];
		size_t k = 0;
		while (findings[k].code != report.findings[i].code)
			++k;
		add("%zu%.1s ", k, audit_severity_name(report.findings[i].severity));
	}
	CU_ASSERT_EQUAL(memcmp(of, report.of, sizeof(of)), 0);
	CU_ASSERT_EQUAL(config.nsilenced, report.silenced);
	for (size_t i = 0; i < config.nsilenced; ++i) {
		size_t k = 0;
		while (findings[k].code != config.silenced[i].finding.code)
			++k;
		add("%s%zu:%u", i ? " " : "- ", k, config.silenced[i].row->line);
	}
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	return text;
}

static void test_apply(void)
{
	static const struct {
		const char *lines, *today, *left;
	} rows[] = {
		{"", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule DRIFT-OPTIONS off", "2026-01-01", "1c 2w 3w 4c 5c 6w - 0:1"},
		{"rule DRIFT-* off", "2026-01-01", "3w 4c 5c 6w - 0:1 1:1 2:1"},
		{"rule DRIFT-* off\nrule DRIFT-READONLY on\n", "2026-01-01", "1c 3w 4c 5c 6w - 0:1 2:1"},
		{"rule DRIFT-READONLY on\nrule DRIFT-* off\n", "2026-01-01", "3w 4c 5c 6w - 0:2 1:2 2:2"},
		{"rule DRIFT-* off target=/data", "2026-01-01", "2w 3w 4c 5c 6w - 0:1 1:1"},
		{"rule * off target=/srv/[bc]", "2026-01-01", "0w 1c 2w 4c 6w - 3:1 5:1"},
		{"rule DRIFT-* off target=/dat", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule DRIFT-*,MNT-* off target=/srv/*", "2026-01-01", "0w 1c 4c 5c 6w - 2:1 3:1"},
		{"rule DRIFT-* off\nrule DRIFT-* on target=/d*", "2026-01-01", "0w 1c 3w 4c 5c 6w - 2:1"},
		{"rule DRIFT-* on target=/d*\nrule DRIFT-* off", "2026-01-01", "3w 4c 5c 6w - 0:2 1:2 2:2"},
		{"rule DRIFT-* off target=/data\nrule DRIFT-OPTIONS on target=/data", "2026-01-01", "0w 2w 3w 4c 5c 6w - 1:1"},
		{"rule DRIFT-* off target=/dat*\nrule DRIFT-OPTIONS on target=/data", "2026-01-01", "0w 2w 3w 4c 5c 6w - 1:1"},
		{"rule DRIFT-OPTIONS on target=/data\nrule DRIFT-* off target=/dat*", "2026-01-01", "2w 3w 4c 5c 6w - 0:2 1:2"},
		{"rule DRIFT-READONLY severity=info", "2026-01-01", "0w 1i 2w 3w 4c 5c 6w "},
		{"rule DRIFT-* severity=critical target=/data", "2026-01-01", "0c 1c 2w 3w 4c 5c 6w "},
		{"rule DRIFT-* severity=info\nrule DRIFT-READONLY severity=warning target=/data\nrule MNT-* off", "2026-01-01", "0i 1w 2i 5c 6w - 3:3 4:3"},
		{"rule DRIFT-* off severity=info\nrule DRIFT-OPTIONS on", "2026-01-01", "0i 3w 4c 5c 6w - 1:1 2:1"},
		{"rule MNT-LIMIT off target=*", "2026-01-01", "0w 1c 2w 3w 5c 6w - 4:1"},
		{"rule MNT-LIMIT off target=/*", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule POLICY-OPTION,FSTAB-SYNTAX off target=/srv/*", "2026-01-01", "0w 1c 2w 3w 4c - 5:1 6:1"},
		/* Mounts: neither what the fstab says, nor a policy. */
		{"ignore target /srv/*", "2026-01-01", "0w 1c 4c 5c 6w - 2:1 3:1"},
		{"ignore target /srv/a", "2026-01-01", "0w 1c 3w 4c 5c 6w - 2:1"},
		{"ignore target *", "2026-01-01", "4c 5c 6w - 0:1 1:1 2:1 3:1"},
		{"ignore type tmpfs", "2026-01-01", "0w 1c 3w 4c 5c 6w - 2:1"},
		{"ignore type tmp", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"ignore type *s", "2026-01-01", "0w 1c 4c 5c 6w - 2:1 3:1"},
		{"ignore owner snap", "2026-01-01", "0w 1c 2w 4c 5c 6w - 3:1"},
		{"ignore owner [su]n*", "2026-01-01", "0w 1c 4c 5c 6w - 2:1 3:1"},
		{"ignore owner zfs", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule MNT-SHADOWED on target=/srv/b\nignore owner snap\nrule MNT-SHADOWED on target=/srv/b", "2026-01-01", "0w 1c 2w 4c 5c 6w - 3:2"},
		/* The last day, and the first behind it. */
		{"rule DRIFT-OPTIONS off until=2026-02-28", "2026-02-28", "1c 2w 3w 4c 5c 6w - 0:1"},
		{"rule DRIFT-OPTIONS off until=2026-02-28", "2026-03-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule DRIFT-OPTIONS off until=2026-02-28", "2026-02-27", "1c 2w 3w 4c 5c 6w - 0:1"},
		{"ignore type ext4 until=2025-12-31", "2026-01-01", "0w 1c 2w 3w 4c 5c 6w "},
		{"ignore type ext4 until=2026-01-01", "2026-01-01", "2w 3w 4c 5c 6w - 0:1 1:1"},
		{"rule DRIFT-OPTIONS off\nrule DRIFT-OPTIONS on until=2026-01-31", "2026-01-31", "0w 1c 2w 3w 4c 5c 6w "},
		{"rule DRIFT-OPTIONS off\nrule DRIFT-OPTIONS on until=2026-01-31", "2026-02-01", "1c 2w 3w 4c 5c 6w - 0:1"},
		{"rule DRIFT-OPTIONS severity=info target=/data until=2025-01-31", "2026-02-01", "0w 1c 2w 3w 4c 5c 6w "},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		unit_note("%s", rows[i].lines);
		const char *got = applied(rows[i].lines, rows[i].today, 0);
		CU_ASSERT_STRING_EQUAL(got, rows[i].left);
		if (strcmp(got, rows[i].left) != 0)
			printf("  %s: %s, not %s\n", rows[i].lines, got, rows[i].left);
	}
	/* What is off by other means is none that was silenced. */
	CU_ASSERT_STRING_EQUAL(applied("rule DRIFT-* off severity=info", "2026-01-01", ~audit_bit(DRIFT_OPTIONS)), "0w 3w 4c 5c 6w - 1:1 2:1");
}

/** Which rules are off, whatever there is. */
static void test_off(void)
{
	static const struct {
		const char *lines;
		uint64_t off;
	} rows[] = {
		{"", 0}, {"rule MNT-DUP off", UINT64_C(1) << MNT_DUP}, {"rule MNT-DUP off target=*", 0}, {"rule MNT-DUP off\nrule MNT-DUP on", 0},
		{"rule MNT-DUP on\nrule MNT-DUP off", UINT64_C(1) << MNT_DUP}, {"rule MNT-DUP off\nrule MNT-* on target=/x*", 0},
		{"rule MNT-DUP,MNT-LIMIT off\nrule MNT-DUP on target=/x", UINT64_C(1) << MNT_LIMIT},
		{"rule MNT-DUP off until=1999-12-31", 0}, {"rule MNT-DUP off severity=info\nrule MNT-DUP severity=info", UINT64_C(1) << MNT_DUP},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct audit_config config;
		struct audit_report report;
		audit_report_init(&report);
		parse(&config, rows[i].lines);
		CU_ASSERT_EQUAL(audit_config_apply(&report, &config, audit_day("2000-01-01", 10)), 0);
		CU_ASSERT_EQUAL(config.off, rows[i].off);
		audit_report_destroy(&report);
		audit_config_destroy(&config);
	}
}

/** Files are one text, in the order in which they are read. */
static void test_files(void)
{
	struct audit_config config;
	struct audit_report report;
	audit_config_init(&config);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "one", "rule DRIFT-OPTIONS off\n", 23), 0);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "two", "\nfoo\nrule DRIFT-OPTIONS on\n", 27), 0);
	CU_ASSERT_EQUAL(config.nproblems, 1);
	CU_ASSERT_STRING_EQUAL(config.problems[0].file, "two");
	CU_ASSERT_EQUAL(config.problems[0].line, 2);
	audit_report_init(&report);
	CU_ASSERT_EQUAL(audit_report_add(&report, &findings[0]), 0);
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	CU_ASSERT_EQUAL(report.count, 1);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "three", "rule DRIFT-OPTIONS off", 22), 0);
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	CU_ASSERT_EQUAL(report.count, 0);
	CU_ASSERT_STRING_EQUAL(config.silenced[0].row->file, "three");
	audit_report_destroy(&report);
	audit_config_destroy(&config);
}

/* Policies. */

#define TABLE \
	"20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/mapper/root rw,data=ordered\n" \
	"21 20 8:2 / /var rw,noexec,relatime master:1 - xfs /dev/mapper/var rw\n" \
	"22 20 0:40 / /tmp rw,nosuid,nodev,noatime - tmpfs t rw,size=1024k\n" \
	"23 20 8:3 / /ro ro,relatime shared:3 master:1 - ext4 /dev/x rw\n" \
	"24 20 8:4 / /err rw,relatime unbindable - ext4 /dev/y ro\n" \
	"25 20 0:41 / /auto rw,relatime shared:5 - autofs systemd-1 rw,direct\n" \
	"26 20 0:42 / /twice rw,relatime - tmpfs lower rw\n" \
	"27 26 0:43 / /twice rw,nosuid,relatime shared:7 - tmpfs upper rw\n" \
	"28 20 0:44 / /hid/den rw,nosuid,relatime - tmpfs in rw\n" \
	"29 20 0:45 / /hid rw,relatime - tmpfs over rw\n" \
	"30 20 0:46 / /a\\040b rw,nosuid,relatime - tmpfs ab rw\n" \
	"31 20 0:47 / /cifs rw,relatime - cifs //h/s rw,username=u,password=hunter2\n" \
	"32 20 8:5 / /bad rw,relatime - ext4 /dev/z rw,emergency_ro\n" \
	"33 20 0:48 / /mnt rw,relatime - tmpfs root2 rw\n" \
	"34 33 0:49 / /mnt/tmp rw,nosuid,relatime shared:9 - tmpfs t2 rw\n"

static bool secret(const char *source, const char *options)
{
	(void)source;
	return options && strstr(options, "password=");
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	if (strcmp(path, "/gone") == 0)
		return FACT_MISSING;
	strbuf_puts(real, strcmp(path, "/link") == 0 ? "/var" : path);
	return FACT_DIR;
}

/** The findings of a policy: "LINE CODE TARGET: MESSAGE|EXPECTED|ACTUAL". */
static const char *judged(const char *lines, const char *root, uint64_t *unjudged, bool asks)
{
	struct mount_table *table = table_parse_mountinfo(TABLE, sizeof(TABLE) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_EQUAL(table->nproblems, 0);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct discovery *d = discover(&os, NULL, table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	struct audit_config config;
	struct audit_report report;
	struct fstab_facts facts = {.look = look};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	audit_report_init(&report);
	CU_ASSERT_EQUAL_FATAL(audit_policy(&(struct audit_policy_input){&config, d, root, asks ? &facts : NULL, secret}, &report), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT_STRING_EQUAL(f->file, "F");
		CU_ASSERT_PTR_NOT_NULL(f->hint);
		CU_ASSERT(f->severity == AUDIT_WARNING && !strstr(f->hint, "hunter2"));
		add("%u %s %s: %s|%s|%s\n", f->line, audit_rules[f->code].code, f->target, f->message, f->expected, f->actual ? f->actual : "");
	}
	if (unjudged)
		*unjudged = report.unjudged;
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	discovery_free(d);
	table_free(table);
	return text;
}

static void test_policy(void)
{
	static const struct {
		const char *lines, *found;   /* whole, or NULL: nothing */
	} rows[] = {
		{"require /tmp noexec", "1 POLICY-OPTION /tmp: it is mounted without noexec|noexec|rw,nosuid,nodev,noatime\n"},
		{"require /tmp nosuid", NULL}, {"require /tmp nosuid,nodev,rw,exec", NULL}, {"require //tmp/ nosuid", NULL},
		{"require /tmp nosuid,noexec,ro", "1 POLICY-OPTION /tmp: it is mounted without noexec,ro|noexec,ro|rw,nosuid,nodev,noatime\n"},
		{"require /var exec", "1 POLICY-OPTION /var: it is mounted without exec|exec|rw,noexec,relatime\n"},
		{"require /tmp atime", "1 POLICY-OPTION /tmp: it is mounted without atime|atime|rw,nosuid,nodev,noatime\n"},
		{"require / atime,suid,dev,async", NULL},
		{"require /tmp size=1024k", NULL},
		{"require /tmp size=1m", "1 POLICY-OPTION /tmp: it is mounted without size=1m|size=1m|rw,nosuid,nodev,noatime,size=1024k\n"},
		{"require /tmp size", "1 POLICY-OPTION /tmp: it is mounted without size|size|rw,nosuid,nodev,noatime\n"},
		{"require / data=ordered", NULL}, {"require /ro ro", NULL},
		{"require /ro rw", "1 POLICY-OPTION /ro: it is mounted without rw|rw|ro,relatime\n"},
		{"require /err rw", "1 POLICY-OPTION /err: it is mounted without rw|rw|rw,relatime\n"},
		{"require /bad rw", "1 POLICY-OPTION /bad: it is mounted without rw|rw|rw,relatime\n"},
		{"require / ro", "1 POLICY-OPTION /: it is mounted without ro|ro|rw,relatime\n"},
		{"require /a\\040b nosuid", NULL}, {"require /a\\040b nodev", "1 POLICY-OPTION /a b: it is mounted without nodev|nodev|rw,nosuid,relatime\n"},
		/* The uppermost of a stack; what is hidden is not there. */
		{"require /twice nosuid", NULL}, {"propagation /twice shared", NULL},
		{"require /hid/den nosuid", "1 POLICY-OPTION /hid/den: it is no mount point of its own|nosuid|a part of /hid (tmpfs)\n"},
		{"require /home nosuid", "1 POLICY-OPTION /home: it is no mount point of its own|nosuid|a part of / (ext4)\n"},
		{"require /var/lib/x nosuid,ro", "1 POLICY-OPTION /var/lib/x: it is no mount point of its own|nosuid,ro|a part of /var (xfs)\n"},
		{"require /tmpx nosuid", "1 POLICY-OPTION /tmpx: it is no mount point of its own|nosuid|a part of / (ext4)\n"},
		/* Lines add up, but for what the later contradict. */
		{"require /tmp nosuid\nrequire /tmp noexec\n", "2 POLICY-OPTION /tmp: it is mounted without noexec|noexec|rw,nosuid,nodev,noatime\n"},
		{"require /tmp noexec,nosuid\nrequire /tmp exec\n", NULL},
		{"require /tmp exec\nrequire /tmp noexec,nosuid\n", "2 POLICY-OPTION /tmp: it is mounted without noexec|noexec|rw,nosuid,nodev,noatime\n"},
		{"require /tmp noexec\nrequire /tmp noexec\n", "2 POLICY-OPTION /tmp: it is mounted without noexec|noexec|rw,nosuid,nodev,noatime\n"},
		{"require /cifs ro", "1 POLICY-OPTION /cifs: it is mounted without ro|ro|rw,relatime\n"},
		{"require /cifs password=x", "1 POLICY-OPTION /cifs: it is mounted without options that hold a secret|options that hold a secret|options that hold a secret\n"},
		{"require /no password=hunter2", "1 POLICY-OPTION /no: it is no mount point of its own|options that hold a secret|a part of / (ext4)\n"},
		{"separate /var", NULL}, {"separate /", NULL}, {"separate /auto", NULL}, {"separate /hid", NULL},
		{"separate /home", "1 POLICY-PARTITION /home: it is no mount point of its own|a mount point of its own|a part of / (ext4)\n"},
		{"separate /hid/den", "1 POLICY-PARTITION /hid/den: it is no mount point of its own|a mount point of its own|a part of /hid (tmpfs)\n"},
		{"separate /va\nseparate /va", "2 POLICY-PARTITION /va: it is no mount point of its own|a mount point of its own|a part of / (ext4)\n"},
		{"propagation / shared", NULL}, {"propagation /var slave", NULL}, {"propagation /tmp private", NULL}, {"propagation /err unbindable", NULL},
		{"propagation /err private", NULL}, {"propagation /ro shared", NULL}, {"propagation /ro slave", NULL},
		{"propagation / private", "1 MNT-PROPAGATION /: its propagation is shared|private|shared\n"},
		{"propagation / slave", "1 MNT-PROPAGATION /: its propagation is shared|slave|shared\n"},
		{"propagation /var shared", "1 MNT-PROPAGATION /var: its propagation is private,slave|shared|private,slave\n"},
		{"propagation /var private", "1 MNT-PROPAGATION /var: its propagation is private,slave|private|private,slave\n"},
		{"propagation /tmp unbindable", "1 MNT-PROPAGATION /tmp: its propagation is private|unbindable|private\n"},
		{"propagation /ro private", "1 MNT-PROPAGATION /ro: its propagation is shared,slave|private|shared,slave\n"},
		{"propagation /x shared", "1 MNT-PROPAGATION /x: it is no mount point of its own|shared|a part of / (ext4)\n"},
		{"propagation / private\npropagation / shared", NULL},
		{"rule POLICY-* on\nignore target /tmp\nseparate /var\n", NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		uint64_t unjudged;
		unit_note("%s", rows[i].lines);
		const char *want = rows[i].found ? rows[i].found : "", *got = judged(rows[i].lines, "/", &unjudged, false);
		CU_ASSERT_STRING_EQUAL(got, want);
		CU_ASSERT_EQUAL(unjudged, 0);
		if (strcmp(got, want) != 0)
			printf("  %s: %s, not %s\n", rows[i].lines, got, want);
	}
}

static void test_policy_places(void)
{
	uint64_t unjudged;
	/* Of a root that is elsewhere. */
	CU_ASSERT_STRING_EQUAL(judged("require /tmp nosuid\npropagation /tmp shared\nseparate /tmp\nseparate /\n", "/mnt", NULL, false), "");
	CU_ASSERT_STRING_EQUAL(judged("require / nosuid\nseparate /var\n", "/mnt", NULL, false),
	                       "1 POLICY-OPTION /: it is mounted without nosuid|nosuid|rw,relatime\n"
	                       "2 POLICY-PARTITION /var: it is no mount point of its own|a mount point of its own|a part of /mnt (tmpfs)\n");
	/* What waits for being entered is not known. */
	CU_ASSERT_STRING_EQUAL(judged("require /auto nosuid\npropagation /auto private\n", "/", &unjudged, false), "");
	CU_ASSERT_EQUAL(unjudged, audit_bit(POLICY_OPTION) | audit_bit(MNT_PROPAGATION));
	/* What is there instead. */
	CU_ASSERT_STRING_EQUAL(judged("separate /gone\nrequire /link ro\nseparate /dir\n", "/", NULL, true),
	                       "3 POLICY-PARTITION /dir: it is no mount point of its own|a mount point of its own|a part of / (ext4)\n"
	                       "1 POLICY-PARTITION /gone: it is no mount point of its own|a mount point of its own|there is nothing of that name\n"
	                       "2 POLICY-OPTION /link: it is no mount point of its own|ro|a link leads to /var\n");
}

/* Much of it. */

/** Read n lines of a form, with numbers for @, and apply them to so many findings.  @return the time. */
static double timed(const char *form, size_t n, size_t count)
{
	char *lines = malloc(n * 100), target[64];
	size_t len = 0;
	for (size_t i = 0; i < n; ++i) {
		for (const char *c = form; *c; ++c)
			len += *c == '@' ? (size_t)sprintf(lines + len, "%zu", i) : (size_t)(lines[len] = *c, 1);
	}
	struct audit_config config;
	struct audit_report report;
	audit_report_init(&report);
	for (size_t i = 0; i < count; ++i) {
		struct audit_finding f = findings[i % 4];
		snprintf(target, sizeof(target), "/many/%zu/%zu", i, i);
		f.target = target;
		CU_ASSERT_EQUAL_FATAL(audit_report_add(&report, &f), 0);
	}
	double begin = unit_cpu();
	audit_config_init(&config);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "F", lines, len), 0);
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	double took = unit_cpu() - begin;
	CU_ASSERT_EQUAL(report.count + report.silenced, count);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	free(lines);
	return took;
}

static void test_much(void)
{
	static const char *const forms[] = {
		"rule DRIFT-*,MNT-* off target=/many/@\n", "rule DRIFT-OPTIONS severity=info target=/same # @\n", "rule DRIFT-* off # @\n",
		"ignore target /many/@/@\n", "require /x size=@\n", "separate /x@\n", "# @\n", "foo @\n",
	};
	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); ++i) {
		unit_note("%s", forms[i]);
		/* Ten times the lines and findings: ten times the time, and some for what is shared. */
		double few = timed(forms[i], 10000, 1000), many = timed(forms[i], 100000, 10000);
		CU_ASSERT(many < 40 * few + 0.5);
		if (many >= 40 * few + 0.5)
			printf("  %s: %g s, %g s\n", forms[i], few, many);
	}
	/* Those with wildcards are so many, and no more. */
	char *lines = malloc((AUDIT_WILD_MAX + 1) * 20);
	for (size_t i = 0; i <= AUDIT_WILD_MAX; ++i)
		memcpy(lines + 20 * i, "ignore target /xyz*\n", 20);
	CU_ASSERT_STRING_EQUAL(problems(lines, AUDIT_WILD_MAX * 20), "");
	CU_ASSERT_STRING_EQUAL(problems(lines, (AUDIT_WILD_MAX + 1) * 20), "4097: more than 4096 lines have wildcards: let fewer say more\n");
	free(lines);
	/* A glob that would be tried in 2^n ways. */
	struct audit_config config;
	char glob[AUDIT_LINE_MAX + 1] = "ignore target /", name[4096];
	for (size_t i = 15; i + 2 < sizeof(glob); i += 2)
		memcpy(glob + i, "a*", 2);
	strcpy(glob + 4090, "b");
	memset(name, 'a', sizeof(name));
	memcpy(name, "/", 1);
	name[4095] = '\0';
	parse(&config, glob);
	CU_ASSERT_EQUAL_FATAL(config.count, 1);
	double begin = unit_cpu();
	for (int i = 0; i < 10; ++i)
		CU_ASSERT(!audit_glob_matches(config.rows[0].glob, name));
	CU_ASSERT(unit_cpu() - begin < 5);
	audit_config_destroy(&config);
}

/** Many rules of one target, and many findings there: of the rules those count that say something
    that later ones do not, whatever stands between. */
static void test_much_of_one(void)
{
	/* Under valgrind fewer: it is for each as long. */
	const size_t rules = unit_step() >= 100 ? 2000 : 20000, count = rules;
	struct audit_config config;
	struct audit_report report;
	char *lines = malloc((rules + 8) * 64);
	size_t len = (size_t)sprintf(lines, "rule DRIFT-OPTIONS severity=info target=/same\nrule DRIFT-OPTIONS off target=/same\n");
	for (size_t i = 0; i < rules; ++i)
		len += (size_t)sprintf(lines + len, "rule MNT-DUP severity=%s target=/same\n", i % 2 ? "info" : "critical");
	len += (size_t)sprintf(lines + len, "rule DRIFT-* on target=/same\nrule MNT-DUP off target=/other\n");
	audit_report_init(&report);
	audit_config_init(&config);
	for (size_t i = 0; i < count; ++i) {
		struct audit_finding f = {.code = i % 2 ? DRIFT_OPTIONS : MNT_DUP, .severity = AUDIT_WARNING, .line = 2, .target = "/same",
		                          .message = "m", .owner = "fstab", .fstype = "ext4"};
		CU_ASSERT_EQUAL_FATAL(audit_report_add(&report, &f), 0);
	}
	CU_ASSERT_EQUAL(audit_config_parse(&config, "F", lines, len), 0);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	config.rules = UINT64_MAX;
	double begin = unit_cpu();
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	CU_ASSERT(unit_cpu() - begin < 1);
	CU_ASSERT_EQUAL(report.count, count);
	CU_ASSERT_EQUAL(report.of[AUDIT_INFO], count);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	free(lines);
}

/** The CPU time of 500 policies of paths of so many components, of 4,000 bytes together. */
static double timed_paths(size_t components)
{
	enum { PATHS = 500, BYTES = 4000 };
	char *lines = malloc(PATHS * (BYTES + 100));
	size_t len = 0, each = BYTES / components - 1;
	for (int i = 0; i < PATHS; ++i) {
		len += (size_t)sprintf(lines + len, "separate /%d", i);
		for (size_t k = 0; k < components; ++k) {
			lines[len++] = '/';
			memset(lines + len, 'x', each);
			len += each;
		}
		lines[len++] = '\n';
	}
	lines[len] = '\0';
	double begin = unit_cpu();
	CU_ASSERT_EQUAL(strncmp(judged(lines, "/", NULL, false), "1 POLICY-PARTITION /0/x", 23), 0);
	double took = unit_cpu() - begin;
	free(lines);
	return took;
}

/** Deep paths cost no more than shallow ones of the same bytes, but for each component. */
static void test_deep(void)
{
	double shallow = timed_paths(20), deep = timed_paths(2000);
	CU_ASSERT(deep < 40 * shallow + 0.5);
	if (deep >= 40 * shallow + 0.5)
		printf("  %g s, %g s\n", shallow, deep);
}

/** Problems that are too many are counted. */
static void test_many_problems(void)
{
	struct audit_config config;
	char lines[1000];
	for (size_t i = 0; i < sizeof(lines); i += 2)
		memcpy(lines + i, "x\n", 2);
	audit_config_init(&config);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "F", lines, sizeof(lines)), 0);
	CU_ASSERT_EQUAL(config.nproblems, 500);
	CU_ASSERT_EQUAL(config.problems[AUDIT_PROBLEMS_MAX - 1].line, AUDIT_PROBLEMS_MAX);
	audit_config_destroy(&config);
}

/* Memory that runs out. */

static bool try_all(void)
{
	static const char lines[] = "rule DRIFT-* off target=/d*\nrule MNT-LIMIT off\nignore type tmp\\146s\nrequire /tmp noexec,exec=1,size=1\nfoo\n"
	                            "separate /home\npropagation / private\n";
	struct audit_config config;
	struct audit_report report;
	audit_config_init(&config);
	audit_report_init(&report);
	bool done = audit_config_parse(&config, "F", lines, sizeof(lines) - 1) == 0;
	for (size_t i = 0; done && i < 5; ++i)
		done = audit_report_add(&report, &findings[i]) == 0;
	done = done && audit_config_apply(&report, &config, 0) == 0;
	if (done)
		CU_ASSERT(config.nproblems == 1 && report.silenced == 4 && config.count == 6);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	return done;
}

static void test_memory(void)
{
	struct fault_count count;
	fault_begin(NULL, 1000);
	CU_ASSERT(try_all());
	fault_end(&count);
	CU_ASSERT_EQUAL(count.kernel, 0);
	uint64_t all = count.calls[FAULT_ALLOC];
	CU_ASSERT(all > 10);
	for (uint64_t n = 1; n <= all; ++n) {
		for (int mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
			unit_note("allocation %d of %d", (int)n, (int)all);
			fault_begin(&(struct fault){.mode = (enum fault_mode)mode, .kind = FAULT_ALLOC, .n = n, .error = ENOMEM}, 1000);
			errno = 0;
			CU_ASSERT(!try_all());
			CU_ASSERT_EQUAL(errno, ENOMEM);
			fault_end(&count);
			CU_ASSERT_EQUAL(count.blocks, 0);
		}
	}
}

static void test_policy_memory(void)
{
	struct mount_table *table = table_parse_mountinfo(TABLE, sizeof(TABLE) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct discovery *d = discover(&os, NULL, table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	struct audit_config config;
	struct fstab_facts facts = {.look = look};
	parse(&config, "require /tmp noexec,size=1,nosuid\nseparate /home\nseparate /link\nseparate /gone\npropagation / private\nrequire /cifs password=1\n");
	struct fault_count count = {.hits = 1};
	uint64_t n = 0;
	while (count.hits) {
		struct audit_report report;
		fault_begin(&(struct fault){.mode = FAULT_ON, .kind = FAULT_ALLOC, .n = ++n, .error = ENOMEM}, 1000);
		audit_report_init(&report);
		errno = 0;
		int rc = audit_policy(&(struct audit_policy_input){&config, d, "/", &facts, secret}, &report), error = errno;
		size_t found = report.count;
		audit_report_destroy(&report);
		fault_end(&count);
		CU_ASSERT_EQUAL(count.kernel, 0);
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT(count.hits ? rc == -1 && error == ENOMEM : rc == 0 && found == 6);
	}
	CU_ASSERT(n > 10);
	audit_config_destroy(&config);
	discovery_free(d);
	table_free(table);
}

static const struct unit_test tests[] = {
	{"right", test_right}, {"wrong", test_wrong}, {"long", test_long}, {"rows", test_rows}, {"globs", test_globs}, {"days", test_days},
	{"apply", test_apply}, {"off", test_off}, {"files", test_files}, {"policy", test_policy}, {"policy_places", test_policy_places}, {"much", test_much},
	{"much_of_one", test_much_of_one}, {"deep", test_deep},
	{"many_problems", test_many_problems}, {"memory", test_memory}, {"policy_memory", test_policy_memory}, {NULL, NULL},
};

const struct unit_suite suite_audit_config = {"audit_config", tests};
