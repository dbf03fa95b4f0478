/* SPDX-License-Identifier: MIT */
/* The configuration of an audit: valid and invalid lines, what is ignored, and what is required. */
#include "unit.h"

#include "audit/config.h"
#include "fault.h"
#include "table/table_impl.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static char text[64 * 1024];

__attribute__((format(printf, 1, 2)))
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
	for (size_t i = 0; i < config.nproblems && i < AUDIT_PROBLEMS_MAX; ++i)
		add("%s: %s\n", config.problems[i].place + 2, config.problems[i].why);
	audit_config_destroy(&config);
	return text;
}

static void test_lines(void)
{
	static const struct {
		const char *line, *why;   /* NULL: valid */
	} rows[] = {
	        {"# a comment", NULL},
	        {"  \t# another", NULL},
	        {"ignore FSTAB-SYNTAX # why", NULL},
	        {"ignore DRIFT-*\r", NULL},
	        {"ignore\tMNT-DUP\t\ttarget=/a", NULL},
	        {"ignore DRIFT-*,MNT-DUP,SWAP-EXTRA target=/a type=x owner=snap until=2030-01-01",
		 NULL},
	        {"severity critical MNT-DUP", NULL},
	        {"severity info * target=/a#b type=fuse.*", NULL},
	        {"ignore * owner=s*", NULL},
	        {"ignore SWAP-NOT-ACTIVE target=UUID=abc", NULL},
	        {"ignore * target=/a\\040b", NULL},
	        {"ignore * target=/[a-c]?", NULL},
	        {"ignore * target=/\\303\\274", NULL},
	        {"ignore * target=/\xff", NULL},
	        {"ignore * target=/a\"b", NULL},
	        {"require /tmp nosuid,nodev,size=1g", NULL},
	        {"require / shared", NULL},
	        {"require /var mountpoint", NULL},
	        {"require /a\\040b/ ro", NULL},
	        {"foo", "unknown statement \"foo\""},
	        {"Ignore MNT-DUP", "unknown statement"},
	        {"rule MNT-DUP off", "unknown statement \"rule\""},
	        {"ignore", "words are missing"},
	        {"ignore MNT-FOO", "unknown rule \"MNT-FOO\""},
	        {"ignore MNT-DUP,", "unknown rule \"\""},
	        {"ignore MNT-DUP off", "unknown word \"off\""},
	        {"ignore MNT-DUP target", "unknown word \"target\""},
	        {"ignore MNT-DUP targt=/a", "unknown word \"targt=/a\""},
	        {"ignore MNT-DUP target=", "empty pattern"},
	        {"ignore MNT-DUP target=/a target=/b", "target= is given twice"},
	        {"ignore * until=2030-01-01 until=2030-01-02", "until= is given twice"},
	        {"ignore MNT-DUP until=2026-02-30", "invalid date \"2026-02-30\""},
	        {"ignore MNT-DUP until=", "invalid date"},
	        {"ignore MNT-DUP target=/[a", "invalid pattern \"/[a\""},
	        {"ignore MNT-DUP target=/a\\000", "NUL byte"},
	        {"ignore MNT-DUP owner=docker", "matches no owner"},
	        {"severity", "words are missing"},
	        {"severity info", "words are missing"},
	        {"severity high MNT-DUP",
		 "unknown severity \"high\"; must be one of: info, warning, critical"},
	        {"severity info MNT-FOO", "unknown rule"},
	        {"require /tmp", "takes two words"},
	        {"require /tmp nosuid nodev", "takes two words"},
	        {"require tmp nosuid", "not an absolute path"},
	        {"require /a/../b ro", ". or .."},
	        {"require /tmp nosuid,", "empty option"},
	        {"require /tmp nofail", "\"nofail\" cannot be required"},
	        {"require /tmp x-systemd.automount", "cannot be required"},
	        {"require /tmp noexce", "did you mean \"noexec\"?"},
	        {"require /tmp mountpont", "did you mean \"mountpoint\"?"},
	        {"require /a\x01 ro", "control character at byte 11"},
	        {"require /a\x7f ro", "control character"},
	        {"# \x1b", "control character"},
	        {"ignore * target=/a type=b owner=snap until=2030-01-01 x y z", "too many words"},
	};
	char lines[256];
	for (size_t i = 0; i < COUNT(rows); ++i) {
		/* The lines before and after it stay valid. */
		unit_note("%s", rows[i].line);
		snprintf(lines, sizeof(lines), "require /x ro\n\n%s\nrequire /y ro\n",
		         rows[i].line);
		const char *got = problems(lines, strlen(lines));
		bool right = rows[i].why ? strncmp(got, "3: ", 3) == 0 && strstr(got, rows[i].why)
		                                   && strchr(got, '\n')[1] == '\0'
		                         : !*got;
		CU_ASSERT(right);
		if (!right)
			printf("  %s: %s, not: %s\n", rows[i].line, got,
			       rows[i].why ? rows[i].why : "valid");
	}
	CU_ASSERT(strncmp(problems("require /a\0b\n", 13), "1: control character at byte 11", 31)
	          == 0);
	CU_ASSERT(strncmp(problems("\xef\xbb\xbfrequire /a ro\n", 17),
	                  "1: the file begins with a byte order mark", 41)
	          == 0);
}

/** A line of the greatest length and one byte more; more statements than there may be; many
 * problems. */
static void test_limits(void)
{
	char line[AUDIT_LINE_MAX + 2];
	memset(line, 'x', sizeof(line));
	memcpy(line, "ignore * target=/", 17);
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX), "");
	CU_ASSERT_STRING_EQUAL(problems(line, AUDIT_LINE_MAX + 1),
	                       "1: the line is longer than 4096 bytes; write several\n");
	memset(line + 17, '[', sizeof(line) - 17);
	CU_ASSERT_PTR_NOT_NULL(strstr(problems(line, AUDIT_LINE_MAX), "no ] closes this ["));
	char *lines = malloc((AUDIT_ROWS_MAX + 1) * 14);
	for (size_t i = 0; i <= AUDIT_ROWS_MAX; ++i)
		memcpy(lines + 14 * i, "require /x ro\n", 14);
	CU_ASSERT_STRING_EQUAL(problems(lines, AUDIT_ROWS_MAX * 14), "");
	CU_ASSERT_STRING_EQUAL(problems(lines, (AUDIT_ROWS_MAX + 1) * 14),
	                       "4097: more than 4096 statements; use patterns\n");
	for (size_t i = 0; i < 500; ++i)
		memcpy(lines + 2 * i, "x\n", 2);
	struct audit_config config;
	audit_config_init(&config);
	CU_ASSERT_EQUAL(audit_config_parse(&config, "F", lines, 1000), 0);
	CU_ASSERT_EQUAL(config.nproblems, 500);
	CU_ASSERT_STRING_EQUAL(config.problems[AUDIT_PROBLEMS_MAX - 1].place, "F:100");
	audit_config_destroy(&config);
	free(lines);
}

static void test_rows(void)
{
	struct audit_config config;
	parse(&config,
	      "# c\n\n  severity info DRIFT-SOURCE,MNT-DUP  target=/a\\134 until=2030-02-01  # "
	      "why\n"
	      "ignore MNT-DUP type=x*\nrequire /a\\040b//c/ nosuid,size=1g\nrequire // ro\n");
	CU_ASSERT_EQUAL(config.nproblems, 0);
	CU_ASSERT_EQUAL_FATAL(config.count, 4);
	const struct audit_row *row = config.rows;
	CU_ASSERT(row->verb == AUDIT_SEVERITY && row->severity == AUDIT_INFO && row->line == 3);
	CU_ASSERT_STRING_EQUAL(row->file, "F");
	CU_ASSERT_STRING_EQUAL(
	        row->text, "severity info DRIFT-SOURCE,MNT-DUP  target=/a\\134 until=2030-02-01");
	CU_ASSERT_EQUAL(row->until, audit_day("2030-02-01", 10));
	CU_ASSERT(audit_set_count(row->codes) == 2 && audit_set_has(row->codes, DRIFT_SOURCE)
	          && audit_set_has(row->codes, MNT_DUP));
	CU_ASSERT_STRING_EQUAL(row->target->exact, "/a\\");
	CU_ASSERT(config.rows[1].verb == AUDIT_IGNORE && !config.rows[1].target
	          && !config.rows[1].type->exact);
	CU_ASSERT_EQUAL(config.rows[1].until, AUDIT_FOREVER);
	CU_ASSERT_STRING_EQUAL(config.rows[2].path, "/a b/c");
	CU_ASSERT_STRING_EQUAL(config.rows[2].options, "nosuid,size=1g");
	CU_ASSERT_STRING_EQUAL(config.rows[3].path, "/");
	audit_config_destroy(&config);
}

static void test_globs(void)
{
	static const struct {
		const char *glob, *matches, *not;
	} rows[] = {
	        {"/a", "/a", "/a/b"},
	        {"/a*", "/a/b/c", "/b/a"},
	        {"/a/*", "/a/b", "/a"},
	        {"*", "/", NULL},
	        {"*/b", "/a/x/b", "/a/b/x"},
	        {"/a?c", "/a/c", "/a//c"},
	        {"/[ab]", "/b", "/c"},
	        {"/[!ab]", "/c", "/a"},
	        {"/[a-c]x", "/bx", "/dx"},
	        {"/[*]", "/*", "/a"},
	        {"/a\\040b", "/a b", "/ab"},
	        {"/?", "/\xc3\xbc", "/\xc3\xbc\xc3\xbc"},
	        {"/\\303\\274*", "/\xc3\xbcx", "/ux"},
	        {"/*a*a*a", "/xaxaxa", "/xaxax"},
	        {"/a\\134b", "/a\\b", "/ab"},
	        {"/[a/]b", "//b", "/b"},
	        {"/|", "/|", "/"},
	};
	char line[AUDIT_LINE_MAX + 1], name[4096];
	struct audit_config config;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].glob);
		snprintf(line, sizeof(line), "ignore * target=%s", rows[i].glob);
		parse(&config, line);
		CU_ASSERT_EQUAL_FATAL(config.count, 1);
		CU_ASSERT(audit_glob_matches(config.rows[0].target, rows[i].matches));
		CU_ASSERT(!rows[i].not || !audit_glob_matches(config.rows[0].target, rows[i].not));
		audit_config_destroy(&config);
	}
	/* A pattern that backtracking would try in 2^n ways. */
	strcpy(line, "ignore * target=/");
	for (size_t i = 17; i + 2 < sizeof(line); i += 2)
		memcpy(line + i, "a*", 2);
	strcpy(line + 4090, "b");
	memset(name, 'a', sizeof(name));
	name[0] = '/';
	name[4095] = '\0';
	parse(&config, line);
	CU_ASSERT_EQUAL_FATAL(config.count, 1);
	double begin = unit_cpu();
	for (int i = 0; i < 10; ++i)
		CU_ASSERT(!audit_glob_matches(config.rows[0].target, name));
	CU_ASSERT(unit_cpu() - begin < 5);
	audit_config_destroy(&config);
}

static void test_days(void)
{
	static const struct {
		const char *date;
		int64_t day;
	} days[] = {
	        {"1970-01-01", 0},
	        {"1970-12-31", 364},
	        {"1972-02-29", 789},
	        {"2000-02-29", 11016},
	        {"2000-03-01", 11017},
	        {"2026-11-22", 20779},
	        {"9999-12-31", 2932896},
	        {"2100-02-28", 47540},
	        {"2100-03-01", 47541},
	        {"2100-02-29", -1},
	        {"1969-12-31", -1},
	        {"2026-00-01", -1},
	        {"2026-13-01", -1},
	        {"2026-04-31", -1},
	        {"2026-04-00", -1},
	        {"2026-4-01", -1},
	        {"+026-04-01", -1},
	        {"2026/04/01", -1},
	        {"", -1},
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

/* Ignoring. */

static const struct audit_finding findings[] = {
	{.code = DRIFT_OPTIONS,
	 .severity = AUDIT_WARNING,
	 .line = 2,
	 .target = "/data",
	 .message = "m",
	 .owner = "fstab",
	 .fstype = "ext4"},
	{.code = DRIFT_READONLY,
	 .severity = AUDIT_CRITICAL,
	 .line = 2,
	 .target = "/data",
	 .message = "m",
	 .owner = "fstab",
	 .fstype = "ext4"},
	{.code = DRIFT_NOT_IN_FSTAB,
	 .severity = AUDIT_WARNING,
	 .target = "/srv/a",
	 .message = "m",
	 .owner = "unknown",
	 .fstype = "tmpfs"},
	{.code = MNT_SHADOWED,
	 .severity = AUDIT_WARNING,
	 .target = "/srv/b",
	 .message = "m",
	 .owner = "snap",
	 .fstype = "squashfs"},
	{.code = MNT_LIMIT, .severity = AUDIT_CRITICAL, .target = "", .message = "m"},
};

/** What remains of these, by number and initial of the severity; "-" and what ignored the others,
   number:line; "off" and how many rules are ignored everywhere. */
static const char *applied(const char *lines, const char *today)
{
	struct audit_config config;
	struct audit_report report;
	size_t of[AUDIT_CRITICAL + 1] = {0};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	audit_report_init(&report);
	for (size_t i = 0; i < COUNT(findings); ++i)
		CU_ASSERT_EQUAL_FATAL(audit_report_add(&report, &findings[i]), 0);
	CU_ASSERT_EQUAL_FATAL(audit_config_apply(&report, &config, audit_day(today, 10)), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		size_t k = 0;
		while (findings[k].code != f->code)
			++k;
		++of[f->severity];
		add("%zu%.1s ", k, audit_severity_name(f->severity));
	}
	CU_ASSERT_EQUAL(memcmp(of, report.of, sizeof(of)), 0);
	CU_ASSERT_EQUAL(config.nsilenced, report.silenced);
	for (size_t i = 0; i < config.nsilenced; ++i) {
		size_t k = 0;
		while (findings[k].code != config.silenced[i].finding.code)
			++k;
		add("%s%zu:%u", i ? " " : "- ", k, config.silenced[i].row->line);
	}
	if (audit_set_count(config.off))
		add(" off %u", audit_set_count(config.off));
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	return text;
}

static void test_apply(void)
{
	static const struct {
		const char *lines, *left;
	} rows[] = {
	        {"", "0w 1c 2w 3w 4c "},
	        {"ignore DRIFT-OPTIONS", "1c 2w 3w 4c - 0:1 off 1"},
	        {"ignore DRIFT-*", "3w 4c - 0:1 1:1 2:1 off 6"},
	        {"ignore DRIFT-* target=/data", "2w 3w 4c - 0:1 1:1"},
	        {"ignore DRIFT-* target=/dat", "0w 1c 2w 3w 4c "},
	        {"ignore DRIFT-*,MNT-* target=/srv/*", "0w 1c 4c - 2:1 3:1"},
	        {"ignore MNT-LIMIT target=*", "0w 1c 2w 3w - 4:1"},
	        {"ignore MNT-LIMIT target=/*", "0w 1c 2w 3w 4c "},
	        {"ignore * type=tmpfs", "0w 1c 3w 4c - 2:1"},
	        {"ignore * type=*s", "0w 1c 4c - 2:1 3:1"},
	        {"ignore * type=tmp", "0w 1c 2w 3w 4c "},
	        {"ignore * owner=snap", "0w 1c 2w 4c - 3:1"},
	        {"ignore * owner=[su]n*", "0w 1c 4c - 2:1 3:1"},
	        {"ignore * owner=*", "4c - 0:1 1:1 2:1 3:1"},
	        {"ignore DRIFT-* target=/srv/* type=tmpfs owner=unknown", "0w 1c 3w 4c - 2:1"},
	        {"ignore DRIFT-* target=/srv/* type=tmpfs owner=fstab", "0w 1c 2w 3w 4c "},
	        {"severity info DRIFT-READONLY", "0w 1i 2w 3w 4c "},
	        {"severity critical DRIFT-* target=/data", "0c 1c 2w 3w 4c "},
	        {"severity info DRIFT-*\nseverity warning DRIFT-READONLY target=/data\nignore "
		 "MNT-SHADOWED",
		 "0i 1w 2i 4c - 3:3 off 1"},
	        {"severity info DRIFT-*\nignore DRIFT-OPTIONS target=/data\nignore DRIFT-*",
		 "3w 4c - 0:2 1:3 2:3 off 6"},
	        /* The last day, and the day after it. */
	        {"ignore DRIFT-OPTIONS until=2026-02-28", "1c 2w 3w 4c - 0:1 off 1"},
	        {"ignore DRIFT-OPTIONS until=2026-02-27", "0w 1c 2w 3w 4c "},
	        {"severity info * until=2026-02-27", "0w 1c 2w 3w 4c "},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].lines);
		CU_ASSERT_STRING_EQUAL(applied(rows[i].lines, "2026-02-28"), rows[i].left);
	}
}

/** As many statements as there may be, and many findings. */
static void test_many(void)
{
	enum { FINDINGS = 10000 };
	struct audit_config config;
	struct audit_report report;
	struct strbuf lines;
	char target[64];
	strbuf_init(&lines);
	for (size_t i = 0; i < AUDIT_ROWS_MAX; ++i)
		strbuf_printf(&lines, "ignore DRIFT-*,MNT-* target=/many/%zu/*\n", i);
	parse(&config, strbuf_str(&lines));
	audit_report_init(&report);
	for (size_t i = 0; i < FINDINGS; ++i) {
		struct audit_finding f = findings[i % 4];
		snprintf(target, sizeof(target), "/many/%zu/%zu", i, i);
		f.target = target;
		CU_ASSERT_EQUAL_FATAL(audit_report_add(&report, &f), 0);
	}
	double begin = unit_cpu();
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	CU_ASSERT(unit_cpu() - begin < 20);
	CU_ASSERT(report.silenced == AUDIT_ROWS_MAX && report.count == FINDINGS - AUDIT_ROWS_MAX);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	strbuf_destroy(&lines);
}

/* Requirements. */

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

static struct discovery *discover_table(struct mount_table **table)
{
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	*table = table_parse_mountinfo(TABLE, sizeof(TABLE) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(*table);
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct discovery *d = discover(&os, NULL, *table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	return d;
}

/** The findings of requirements: "LINE CODE TARGET: MESSAGE|EXPECTED|ACTUAL"; "?CODE" is not
 * checked. */
static const char *judged(const char *lines, const char *root, bool facts_known)
{
	struct mount_table *table;
	struct discovery *d = discover_table(&table);
	struct audit_config config;
	struct audit_report report;
	struct fstab_facts facts = {.look = look};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	audit_report_init(&report);
	CU_ASSERT_EQUAL_FATAL(
	        audit_policy(&(struct audit_policy_input){&config, d, root,
		                                          facts_known ? &facts : NULL, secret},
		             &report),
	        0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT_STRING_EQUAL(f->file, "F");
		CU_ASSERT(f->hint && f->severity == AUDIT_WARNING && !strstr(f->hint, "hunter2"));
		add("%u %s %s: %s|%s|%s\n", f->line, audit_rules[f->code].code, f->target,
		    f->message, f->expected, f->actual ? f->actual : "");
	}
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(report.not_checked, (enum audit_code)code))
			add("?%s\n", audit_rules[code].code);
	}
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	discovery_free(d);
	table_free(table);
	return text;
}

static void test_policy(void)
{
	static const struct {
		const char *lines, *found;   /* NULL: nothing */
	} rows[] = {
	        {"require /tmp noexec",
		 "1 POLICY-OPTION /tmp: mounted without noexec|noexec|rw,nosuid,nodev,noatime\n"},
	        {"require /tmp nosuid", NULL},
	        {"require //tmp/ nosuid,nodev,rw,exec", NULL},
	        {"require / atime,suid,dev,async", NULL},
	        {"require /var exec",
		 "1 POLICY-OPTION /var: mounted without exec|exec|rw,noexec,relatime\n"},
	        {"require /tmp size=1024k", NULL},
	        {"require /tmp size=1m", "1 POLICY-OPTION /tmp: mounted without "
		                         "size=1m|size=1m|rw,nosuid,nodev,noatime,size=1024k\n"},
	        {"require /ro ro", NULL},
	        {"require /ro rw", "1 POLICY-OPTION /ro: mounted without rw|rw|ro,relatime\n"},
	        {"require /err rw", "1 POLICY-OPTION /err: mounted without rw|rw|rw,relatime\n"},
	        {"require /bad rw", "1 POLICY-OPTION /bad: mounted without rw|rw|rw,relatime\n"},
	        {"require /a\\040b nodev",
		 "1 POLICY-OPTION /a b: mounted without nodev|nodev|rw,nosuid,relatime\n"},
	        {"require /cifs password=x",
		 "1 POLICY-OPTION /cifs: mounted without options that hold a secret|options that "
		 "hold a secret|options that hold a secret\n"},
	        /* Mount points: the uppermost of a stack; a hidden one does not count. */
	        {"require /twice nosuid,shared", NULL},
	        {"require /auto mountpoint", "?POLICY-OPTION\n?MNT-PROPAGATION\n"},
	        {"require /hid/den nosuid",
		 "1 POLICY-PARTITION /hid/den: not a mount point, as the configuration requires|a "
		 "mount point|a part of /hid (tmpfs)\n"},
	        {"require /home mountpoint",
		 "1 POLICY-PARTITION /home: not a mount point, as the configuration requires|a "
		 "mount point|a part of / (ext4)\n"},
	        /* Propagation. */
	        {"require / shared", NULL},
	        {"require /var slave", NULL},
	        {"require /tmp private", NULL},
	        {"require /err private,unbindable", NULL},
	        {"require /ro shared,slave", NULL},
	        {"require / private",
		 "1 MNT-PROPAGATION /: its propagation is shared|private|shared\n"},
	        {"require /ro private",
		 "1 MNT-PROPAGATION /ro: its propagation is shared,slave|private|shared,slave\n"},
	        {"require /tmp shared,ro",
		 "1 POLICY-OPTION /tmp: mounted without ro|ro|rw,nosuid,nodev,noatime\n"
		 "1 MNT-PROPAGATION /tmp: its propagation is private|shared|private\n"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].lines);
		const char *got = judged(rows[i].lines, "/", false),
		           *expected = rows[i].found ? rows[i].found : "";
		CU_ASSERT_STRING_EQUAL(got, expected);
		if (strcmp(got, expected) != 0)
			printf("  %s:\n%snot\n%s", rows[i].lines, got, expected);
	}
	/* Below another root; what the file system says about the path. */
	CU_ASSERT_STRING_EQUAL(judged("require /tmp nosuid,shared\nrequire / rw", "/mnt", false),
	                       "");
	CU_ASSERT_STRING_EQUAL(judged("require /gone mountpoint\nrequire /link ro\n", "/", true),
	                       "1 POLICY-PARTITION /gone: not a mount point, as the configuration "
	                       "requires|a mount point|does not exist\n"
	                       "2 POLICY-PARTITION /link: not a mount point, as the configuration "
	                       "requires|a mount point|a symlink to /var\n");
}

/* Memory. */

static bool try_all(struct discovery *d)
{
	static const char lines[] = "ignore DRIFT-* target=/d*\nignore MNT-LIMIT\nseverity info * "
	                            "type=tmp\\146s\nrequire /tmp noexec,size=1\nfoo\n"
	                            "require /home mountpoint\nrequire / private\nrequire /link "
				    "ro\nrequire /cifs password=1\n";
	struct audit_config config;
	struct audit_report report;
	struct fstab_facts facts = {.look = look};
	audit_config_init(&config);
	audit_report_init(&report);
	bool done = audit_config_parse(&config, "F", lines, sizeof(lines) - 1) == 0;
	for (size_t i = 0; done && i < COUNT(findings); ++i)
		done = audit_report_add(&report, &findings[i]) == 0;
	done = done
	       && audit_policy(&(struct audit_policy_input){&config, d, "/", &facts, secret},
	                       &report)
	                  == 0
	       && audit_config_apply(&report, &config, 0) == 0;
	if (done)
		CU_ASSERT(config.nproblems == 1 && report.silenced == 3 && config.count == 8
		          && report.count == 7);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	return done;
}

static void test_memory(void)
{
	struct mount_table *table;
	struct discovery *d = discover_table(&table);
	struct fault_count count;
	fault_begin(NULL, 1000);
	CU_ASSERT(try_all(d));
	fault_end(&count);
	CU_ASSERT_EQUAL(count.kernel, 0);
	uint64_t all = count.calls[FAULT_ALLOC];
	CU_ASSERT(all > 10);
	for (uint64_t n = 1; n <= all; ++n) {
		for (int mode = FAULT_ONCE; mode <= FAULT_ON; ++mode) {
			unit_note("allocation %d of %d", (int)n, (int)all);
			fault_begin(&(struct fault){.mode = (enum fault_mode)mode,
			                            .kind = FAULT_ALLOC,
			                            .n = n,
			                            .error = ENOMEM},
			            1000);
			errno = 0;
			CU_ASSERT(!try_all(d));
			CU_ASSERT_EQUAL(errno, ENOMEM);
			fault_end(&count);
			CU_ASSERT_EQUAL(count.blocks, 0);
		}
	}
	discovery_free(d);
	table_free(table);
}

static const struct unit_test tests[] = {
	{"lines", test_lines}, {"limits", test_limits}, {"rows", test_rows},
	{"globs", test_globs}, {"days", test_days},     {"apply", test_apply},
	{"many", test_many},   {"policy", test_policy}, {"memory", test_memory},
	{NULL, NULL},
};

const struct unit_suite suite_audit_config = {"audit_config", tests};
