/* SPDX-License-Identifier: MIT */
/*
 * The configuration of an audit: valid and invalid lines, what is ignored, and what is required.
 * The cases are in tests/fixtures/audit/: config_lines, config_apply, config_require.
 */
#include "unit.h"

#include "audit/config.h"
#include "cases.h"
#include "fault.h"
#include "mounts/table_impl.h"

#include <stdarg.h>

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
	*config = (struct audit_config){0};
	CU_ASSERT_EQUAL_FATAL(audit_config_parse(config, "F", lines, strlen(lines)), 0);
}

/** The problems of a text, "LINE: WHY" each. */
static const char *problems(const char *lines, size_t len)
{
	struct audit_config config = {0};
	CU_ASSERT_EQUAL_FATAL(audit_config_parse(&config, "F", lines, len), 0);
	text[0] = '\0';
	for (size_t i = 0; i < config.nproblems && i < AUDIT_PROBLEMS_MAX; ++i)
		add("%s: %s\n", config.problems[i].place + 2, config.problems[i].why);
	audit_config_destroy(&config);
	return text;
}

/** Check that a line has this problem, "": none, and that the lines around it stay valid. */
static void check_line(const char *line, const char *why)
{
	char lines[256];
	unit_note("%s", line);
	snprintf(lines, sizeof(lines), "require /x ro\n\n%s\nrequire /y ro\n", line);
	const char *got = problems(lines, strlen(lines));
	bool right = *why ? strncmp(got, "3: ", 3) == 0 && strstr(got, why)
	                    && strchr(got, '\n')[1] == '\0' : !*got;
	CU_ASSERT(right);
	if (!right)
		printf("  %s: %s, not: %s\n", line, got, why);
}

/** The name of a case is a line, its text the problem. */
UNIT_TEST(lines)
{
	static const char *const others[][2] = {
		{"ignore DRIFT-*\r", ""},
		{"ignore * target=/\xff", ""},
		{"require /a\x01 ro", "control character at byte 11"},
		{"require /a\x7f ro", "control character"},
		{"# \x1b", "control character"},
	};
	struct unit_case c;
	while (unit_case("tests/fixtures/audit/config_lines", &c)) {
		c.parts[0].text[strcspn(c.parts[0].text, "\n")] = '\0';
		check_line(c.name, c.parts[0].text);
	}
	for (size_t i = 0; i < COUNT(others); ++i)
		check_line(others[i][0], others[i][1]);
	CU_ASSERT_STRING_EQUAL(problems("require /a\0b\n", 13),
		"1: control character at byte 11; remove it, or write it in a path as \\000\n");
	CU_ASSERT_STRING_EQUAL(problems("\xef\xbb\xbfrequire /a ro\n", 17),
		"1: the file begins with a byte order mark; save it without one\n");
}

/** A line of the greatest length and one byte more; more statements than there may be; many
 * problems. */
UNIT_TEST(limits)
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
	struct audit_config config = {0};
	CU_ASSERT_EQUAL(audit_config_parse(&config, "F", lines, 1000), 0);
	CU_ASSERT_EQUAL(config.nproblems, 500);
	CU_ASSERT_STRING_EQUAL(config.problems[AUDIT_PROBLEMS_MAX - 1].place, "F:100");
	audit_config_destroy(&config);
	free(lines);
}

UNIT_TEST(rows)
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

UNIT_TEST(globs)
{
	static const struct {
		const char *glob, *matches, *not;
	} rows[] = {
		{"/a", "/a", "/a/b"}, {"/a*", "/a/b/c", "/b/a"}, {"/a/*", "/a/b", "/a"},
		{"*", "/", NULL}, {"*/b", "/a/x/b", "/a/b/x"}, {"/a?c", "/a/c", "/a//c"},
		{"/[ab]", "/b", "/c"}, {"/[!ab]", "/c", "/a"}, {"/[a-c]x", "/bx", "/dx"},
		{"/[*]", "/*", "/a"}, {"/a\\040b", "/a b", "/ab"},
		{"/?", "/\xc3\xbc", "/\xc3\xbc\xc3\xbc"}, {"/\\303\\274*", "/\xc3\xbcx", "/ux"},
		{"/*a*a*a", "/xaxaxa", "/xaxax"}, {"/a\\134b", "/a\\b", "/ab"},
		{"/[a/]b", "//b", "/b"}, {"/|", "/|", "/"},
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

UNIT_TEST(days)
{
	static const struct {
		const char *date;
		int64_t day;
	} days[] = {
		{"1970-01-01", 0}, {"1970-12-31", 364}, {"1972-02-29", 789}, {"2000-02-29", 11016},
		{"2000-03-01", 11017}, {"9999-12-31", 2932896}, {"2100-02-29", -1},
		{"1969-12-31", -1}, {"2026-00-01", -1}, {"2026-13-01", -1}, {"2026-04-31", -1},
		{"2026-04-00", -1}, {"2026-4-01", -1}, {"+026-04-01", -1}, {"2026/04/01", -1},
		{"2026-04-1 ", -1}, {"", -1},
	};
	for (size_t i = 0; i < COUNT(days); ++i)
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

#define FINDING(code_, severity_, target_, owner_, type) \
	{.code = code_, .severity = severity_, .target = target_, .owner = owner_, \
	 .fstype = type, .message = "m"}

static const struct audit_finding findings[] = {
	FINDING(DRIFT_OPTIONS, AUDIT_WARNING, "/data", "fstab", "ext4"),
	FINDING(DRIFT_READONLY, AUDIT_CRITICAL, "/data", "fstab", "ext4"),
	FINDING(DRIFT_NOT_IN_FSTAB, AUDIT_WARNING, "/srv/a", "unknown", "tmpfs"),
	FINDING(MNT_SHADOWED, AUDIT_WARNING, "/srv/b", "snap", "squashfs"),
	FINDING(MNT_LIMIT, AUDIT_CRITICAL, "", NULL, NULL),
};

/** What remains of these, by number and initial of the severity; "-" and what ignored the others,
   number:line; "off" and how many rules are ignored everywhere. */
static const char *applied(const char *lines, const char *today)
{
	struct audit_config config;
	struct audit_report report = {0};
	size_t of[AUDIT_CRITICAL + 1] = {0};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	for (size_t i = 0; i < COUNT(findings); ++i)
		audit_report_add(&report, &findings[i]);
	CU_ASSERT_EQUAL_FATAL(audit_config_apply(&report, &config, audit_day(today, 10)), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		size_t k = 0;
		while (findings[k].code != f->code)
			++k;
		++of[f->severity];
		add("%s%zu%.1s", i ? " " : "", k, audit_severity_name(f->severity));
	}
	CU_ASSERT_EQUAL(memcmp(of, report.of, sizeof(of)), 0);
	CU_ASSERT_EQUAL(config.nsilenced, report.silenced);
	for (size_t i = 0; i < config.nsilenced; ++i) {
		size_t k = 0;
		while (findings[k].code != config.silenced[i].finding.code)
			++k;
		add("%s%zu:%u", i ? " " : " - ", k, config.silenced[i].row->line);
	}
	if (audit_set_count(config.off))
		add(" off %u", audit_set_count(config.off));
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	return text;
}

/** The name of a case says what remains on 2026-02-28. */
UNIT_TEST(apply)
{
	struct unit_case c;
	while (unit_case("tests/fixtures/audit/config_apply", &c)) {
		unit_note("%s", c.parts[0].text);
		CU_ASSERT_STRING_EQUAL(applied(c.parts[0].text, "2026-02-28"), c.name);
	}
}

/** As many statements as there may be, and many findings. */
UNIT_TEST(many)
{
	enum { FINDINGS = 10000 };
	struct audit_config config;
	struct audit_report report = {0};
	STRBUF(lines);
	char target[64];
	for (size_t i = 0; i < AUDIT_ROWS_MAX; ++i)
		strbuf_printf(&lines, "ignore DRIFT-*,MNT-* target=/many/%zu/*\n", i);
	parse(&config, strbuf_str(&lines));
	for (size_t i = 0; i < FINDINGS; ++i) {
		struct audit_finding f = findings[i % 4];
		snprintf(target, sizeof(target), "/many/%zu/%zu", i, i);
		f.target = target;
		audit_report_add(&report, &f);
	}
	double begin = unit_cpu();
	CU_ASSERT_EQUAL(audit_config_apply(&report, &config, 0), 0);
	CU_ASSERT(unit_cpu() - begin < 20);
	CU_ASSERT(report.silenced == AUDIT_ROWS_MAX && report.count == FINDINGS - AUDIT_ROWS_MAX);
	audit_report_destroy(&report);
	audit_config_destroy(&config);
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

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	if (strcmp(path, "/gone") == 0)
		return FACT_MISSING;
	strbuf_puts(real, strcmp(path, "/link") == 0 ? "/var" : path);
	return FACT_DIR;
}

/** The findings of requirements: "LINE CODE TARGET: MESSAGE|EXPECTED|ACTUAL"; "?CODE" is not
 * checked. */
static const char *judged(const char *lines, const char *root, bool facts_known)
{
	struct discovery *d = unit_discover(TABLE);
	struct audit_config config;
	struct audit_report report = {0};
	struct fstab_facts facts = {.look = facts_known ? look : NULL};
	parse(&config, lines);
	CU_ASSERT_EQUAL(config.nproblems, 0);
	CU_ASSERT_EQUAL_FATAL(
	        audit_policy(&(struct audit_policy_input){&config, d, root, &facts}, &report), 0);
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
	unit_discovery_free(d);
	return text;
}

/** The name of a case is a line, its text what is found. */
UNIT_TEST(policy)
{
	struct unit_case c;
	while (unit_case("tests/fixtures/audit/config_require", &c)) {
		unit_note("%s", c.name);
		unit_expect(judged(c.name, "/", false), c.parts[0].text);
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

static int try_all(void *d)
{
	static const char lines[] = "ignore DRIFT-* target=/d*\nignore MNT-LIMIT\nseverity info * "
	                            "type=tmp\\146s\nrequire /tmp noexec,size=1\nfoo\n"
	                            "require /home mountpoint\nrequire / private\nrequire /link "
				    "ro\nrequire /cifs password=1\n";
	struct audit_config config = {0};
	struct audit_report report = {0};
	struct fstab_facts facts = {.look = look};
	struct audit_policy_input in = {&config, d, "/", &facts};
	int rc = audit_config_parse(&config, "F", lines, sizeof(lines) - 1);
	for (size_t i = 0; rc == 0 && i < COUNT(findings); ++i)
		audit_report_add(&report, &findings[i]);
	if (rc == 0)
		rc = audit_policy(&in, &report);
	if (rc == 0)
		rc = audit_config_apply(&report, &config, 0);
	if (rc == 0)
		CU_ASSERT(config.nproblems == 1 && report.silenced == 3 && config.count == 8
		          && report.count == 7);
	int error = errno;
	audit_report_destroy(&report);
	audit_config_destroy(&config);
	errno = error;
	return rc;
}

UNIT_TEST(memory)
{
	struct discovery *d = unit_discover(TABLE);
	fault_each_allocation(try_all, d, 10);
	unit_discovery_free(d);
}
