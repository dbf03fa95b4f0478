/* SPDX-License-Identifier: MIT */
/* audit/collect and the lines it is made of: what is taken, what is not, and what a host is then. */
#include "unit.h"

#include "audit/collect.h"
#include "base/hostlist.h"
#include "cmd/audit_collect.h"
#include "os/lines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A line that is whole; what stands between @ is changed. */
#define WHOLE \
	"{\"findings\": [@findings@], \"counts\": {\"critical\": @critical@, \"warning\": @warning@, \"info\": 0}, \"not_judged\": [@unjudged@], " \
	"\"failed\": @failed@, \"exit_status\": @status@, \"time\": @time@, \"schema\": @schema@, \"host\": @host@, \"complete\": @complete@, " \
	"\"incomplete_reasons\": [@reasons@]@more@}"

static const char *const defaults[][2] = {
	{"findings", ""}, {"critical", "0"}, {"warning", "0"}, {"unjudged", ""}, {"failed", "null"}, {"status", "0"}, {"time", "1000"},
	{"schema", "1"}, {"host", "\"h\""}, {"complete", "true"}, {"reasons", ""}, {"more", ""},
};

/** Make a line.  @changes  "KEY=VALUE;KEY=VALUE".  @return it, until the next call. */
static const char *line_of(const char *changes)
{
	static char text[4096];
	size_t n = 0;
	for (const char *at = WHOLE; *at; ++at) {
		if (*at != '@') {
			text[n++] = *at;
			continue;
		}
		size_t m = strcspn(++at, "@");
		const char *value = NULL, *change = changes;
		size_t len = 0;
		for (; *change && !value; change += strcspn(change, ";"), change += *change == ';') {
			if (strncmp(change, at, m) == 0 && change[m] == '=') {
				value = change + m + 1;
				len = strcspn(value, ";");
			}
		}
		for (size_t i = 0; !value; ++i) {
			if (strlen(defaults[i][0]) == m && strncmp(defaults[i][0], at, m) == 0) {
				value = defaults[i][1];
				len = strlen(value);
			}
		}
		memcpy(text + n, value, len);
		n += len;
		at += m;
	}
	text[n] = '\0';
	return text;
}

static int take(struct collection *c, const char *changes, uint32_t number)
{
	const char *line = line_of(changes);
	return collect_take(c, line, strlen(line), (struct collect_place){0, number});
}

/** What a line by itself is. */
static int kind(const char *text, size_t n, const char **why)
{
	static struct collect_read read;
	collect_read_destroy(&read);
	int what = collect_read_line(text, n, &read);
	*why = read.why;
	return what;
}

static void test_lines(void)
{
	static const struct {
		const char *changes;
		int what;
		const char *why;
	} rows[] = {
		{"", COLLECT_TAKEN, ""},
		{"more=, \"new key\": [{}]", COLLECT_TAKEN, ""},
		{"findings={\"code\": \"A-B\", \"severity\": \"warning\"};warning=1", COLLECT_TAKEN, ""},
		{"failed=\"why\";complete=false;status=2;reasons=\"why\"", COLLECT_TAKEN, ""},
		{"schema=2", COLLECT_NEWER, "schema 2, where 1 is known; host h"},
		{"schema=0", COLLECT_OLDER, "schema 0, where 1 is known; host h"},
		{"schema=2;host=null;time=null;status=7", COLLECT_NEWER, "schema 2, where 1 is known"},
		{"schema=\"1\"", COLLECT_DAMAGED, "schema"},
		{"schema=1.0", COLLECT_DAMAGED, "schema"},
		{"schema=99999999999999999999", COLLECT_DAMAGED, "JSON"},
		{"host=null", COLLECT_DAMAGED, "names no host"},
		{"host=\"\"", COLLECT_DAMAGED, "no name"},
		{"host=7", COLLECT_DAMAGED, "no name"},
		{"host=\"a\\u0000b\"", COLLECT_DAMAGED, "JSON"},
		{"time=null", COLLECT_DAMAGED, "time"},
		{"time=-1", COLLECT_DAMAGED, "time"},
		{"complete=1", COLLECT_DAMAGED, "complete"},
		{"status=3", COLLECT_DAMAGED, "exit_status"},
		{"status=4294967296", COLLECT_DAMAGED, "exit_status"},
		{"status=1", COLLECT_DAMAGED, "no finding"},
		{"reasons=\"why\"", COLLECT_DAMAGED, "why not"},
		{"failed=false", COLLECT_DAMAGED, "failed"},
		{"critical=1", COLLECT_DAMAGED, "0 are critical"},
		{"critical=\"0\"", COLLECT_DAMAGED, "0 are critical"},
		{"findings={\"code\": \"A-B\", \"severity\": \"warning\"}", COLLECT_DAMAGED, "1 are warning"},
		{"findings={\"code\": \"A-B\", \"severity\": \"grave\"};warning=1", COLLECT_DAMAGED, "finding 1 has no severity"},
		{"findings={\"code\": \"a b\", \"severity\": \"warning\"};warning=1", COLLECT_DAMAGED, "finding 1 has no code"},
		{"findings=7;warning=1", COLLECT_DAMAGED, "finding 1"},
		{"unjudged=\"\\u001b[m\"", COLLECT_DAMAGED, "not_judged"},
		{"more=, \"host\": \"other\"", COLLECT_DAMAGED, "JSON"},
	};
	const char *why;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		const char *line = line_of(rows[i].changes);
		int what = kind(line, strlen(line), &why);
		CU_ASSERT_EQUAL(what, rows[i].what);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, rows[i].why));
		if (what != rows[i].what || !strstr(why, rows[i].why))
			printf("  %s: %d, %s\n", rows[i].changes, what, why);
	}
}

static void test_damage(void)
{
	const char *why;
	char text[4096];
	size_t n = strlen(line_of(""));
	memcpy(text, line_of(""), n + 1);
	/* Cut anywhere, it is no audit; with a blank or a return behind it is one. */
	CU_ASSERT_EQUAL(kind(text, 0, &why), COLLECT_BLANK);
	for (size_t cut = 1; cut < n; ++cut)
		CU_ASSERT_EQUAL(kind(text, cut, &why), COLLECT_CUT);
	CU_ASSERT_EQUAL(kind("\t \r", 3, &why), COLLECT_BLANK);
	strcpy(text + n, " \r");
	CU_ASSERT_EQUAL(kind(text, n + 2, &why), COLLECT_TAKEN);
	/* Without any one of its keys it is none. */
	for (const char *at = text; (at = strstr(at, "\": ")); ++at) {
		char other[4096];
		memcpy(other, text, n + 1);
		other[at - text - 1] = '_';
		CU_ASSERT_EQUAL(kind(other, n, &why), COLLECT_DAMAGED);
	}
	static const struct {
		const char *text;
		int what;
		const char *why;
	} rows[] = {
		{"ssh: connect to host node7 port 22: \"timed out", COLLECT_DAMAGED, "JSON"},
		{"node1: {\"schema\": 1}", COLLECT_DAMAGED, "JSON"},
		{"[]", COLLECT_DAMAGED, "no object"},
		{"{}", COLLECT_DAMAGED, "schema"},
		{"{}}", COLLECT_DAMAGED, "closed"},
		{"{\"a\": \"\xff\"}", COLLECT_DAMAGED, "JSON"},
		{"\xef\xbb\xbf{}", COLLECT_DAMAGED, "JSON"},
		{"[[[[[[[[[[[[[[[[[", COLLECT_DAMAGED, "within each other"},
		{"{\"a\": \"\\", COLLECT_CUT, "end"},
		{"{\"codes\": {}, \"schema\": 1, \"host\": \"h\", \"time\": 1, \"complete\": true, \"exit_status\": 0, \"failed\": null, \"incomplete_reasons\": []}",
		 COLLECT_DAMAGED, "--format=ansible"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		int what = kind(rows[i].text, strlen(rows[i].text), &why);
		CU_ASSERT_EQUAL(what, rows[i].what);
		CU_ASSERT_PTR_NOT_NULL(strstr(why, rows[i].why));
	}
	CU_ASSERT_EQUAL(kind("{\"a\": \"\0\"}", 10, &why), COLLECT_DAMAGED);
	memcpy(text, line_of("time=9\001"), n = strlen(line_of("time=9\001")));
	*(char *)memchr(text, '\1', n) = '\0';
	CU_ASSERT_EQUAL(kind(text, n, &why), COLLECT_DAMAGED);
	CU_ASSERT_STRING_EQUAL(why, "a NUL byte");
	/* What would cost too much. */
	size_t big = 3 << 20;
	char *many = malloc(big);
	many[0] = '[';
	for (size_t i = 1; i < big; ++i)
		many[i] = i % 2 ? '0' : ',';
	CU_ASSERT_EQUAL(kind(many, big, &why), COLLECT_DAMAGED);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "values"));
	memset(many, 'x', big);
	memcpy(many, "{\"a\": \"", 7);
	memcpy(many + big - 2, "\"}", 2);
	CU_ASSERT_EQUAL(kind(many, big, &why), COLLECT_DAMAGED);
	CU_ASSERT_PTR_NOT_NULL(strstr(why, "schema"));
	free(many);
}

static const struct collect_rules usual = {AUDIT_WARNING, ~UINT64_C(0), true, 100000, -1};

/** The states of all hosts, by name: "a clean, b failed". */
static const char *states(struct collection *c, const struct collect_rules *rules)
{
	static char text[1024];
	size_t n = 0;
	CU_ASSERT_EQUAL_FATAL(collect_judge(c, rules), 0);
	size_t sum = 0;
	for (int i = 0; i < COLLECT_STATES; ++i)
		sum += c->of[i];
	CU_ASSERT_EQUAL(sum, c->names.count);
	for (size_t i = 0; i < c->names.count; ++i)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %s", i ? ", " : "", c->names.of[i], collect_state_name(c->hosts[i].state));
	return text;
}

static void test_states(void)
{
	static const struct {
		const char *changes, *state;
	} rows[] = {
		{"", "h clean"},
		{"findings={\"code\": \"A-B\", \"severity\": \"warning\"};warning=1", "h findings"},
		{"findings={\"code\": \"A-B\", \"severity\": \"critical\"};critical=1;status=1", "h findings"},
		{"findings={\"code\": \"A-B\", \"severity\": \"critical\"};critical=1;complete=false", "h findings"},
		{"status=2", "h incomplete"},
		{"complete=false", "h incomplete"},
		{"failed=\"why\"", "h failed"},
		{"failed=\"why\";findings={\"code\": \"A-B\", \"severity\": \"critical\"};critical=1", "h failed"},
		{"unjudged=\"MNT-STALE\"", "h clean"},
		{"schema=7", "h unread"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct collection c;
		collect_init(&c);
		take(&c, rows[i].changes, 1);
		CU_ASSERT_STRING_EQUAL(states(&c, &usual), rows[i].state);
		collect_destroy(&c);
	}
}

static void test_rules(void)
{
	struct collection c;
	struct collect_rules rules = usual;
	collect_init(&c);
	take(&c, "host=\"i\";findings={\"code\": \"MNT-DUP\", \"severity\": \"warning\"};warning=1;time=100000", 1);
	take(&c, "host=\"n\";findings={\"code\": \"NEW-CODE\", \"severity\": \"critical\"};critical=1;time=99990", 2);
	take(&c, "host=\"f\";time=100300", 3);
	take(&c, "host=\"g\";time=100301", 4);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "i findings, n findings, f clean, g clean");
	rules.fail_on = AUDIT_CRITICAL;
	CU_ASSERT_STRING_EQUAL(states(&c, &rules), "i clean, n findings, f clean, g clean");
	rules.others = false;
	CU_ASSERT_STRING_EQUAL(states(&c, &rules), "i clean, n clean, f clean, g clean");
	CU_ASSERT_EQUAL(c.ncodes_found, 1);
	rules = usual;
	rules.rules &= ~audit_bit(MNT_DUP);
	CU_ASSERT_STRING_EQUAL(states(&c, &rules), "i clean, n findings, f clean, g clean");
	rules = usual;
	rules.max_age = 9;
	CU_ASSERT_STRING_EQUAL(states(&c, &rules), "i findings, n stale, f clean, g stale");
	CU_ASSERT_EQUAL(c.ahead, 1);
	/* What is told is of now. */
	CU_ASSERT_EQUAL(c.ncodes_found, 1);
	rules.max_age = 10;
	CU_ASSERT_STRING_EQUAL(states(&c, &rules), "i findings, n findings, f clean, g stale");
	collect_destroy(&c);
}

static void test_duplicates(void)
{
	struct collection c;
	collect_init(&c);
	collect_file(&c, "F");
	take(&c, "findings={\"code\": \"A-B\", \"severity\": \"warning\"};warning=1;time=5", 1);
	take(&c, "time=9", 2);
	take(&c, "time=7;failed=\"why\"", 3);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "h clean");
	CU_ASSERT_EQUAL(c.lines, 3);
	CU_ASSERT_EQUAL(c.troubles[COLLECT_DUPLICATE], 2);
	CU_ASSERT_EQUAL(c.told[COLLECT_DUPLICATE][0].place.line, 1);
	CU_ASSERT_EQUAL(c.told[COLLECT_DUPLICATE][1].place.line, 3);
	CU_ASSERT_EQUAL(c.hosts[0].place.line, 2);
	/* Of the same time the last. */
	take(&c, "time=9;complete=false;reasons=\"why\"", 4);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "h incomplete");
	CU_ASSERT_STRING_EQUAL(c.reasons[0].text, "why");
	/* A newer one that cannot be read is no reason to go by the older. */
	take(&c, "time=10;schema=2", 5);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "h unread");
	take(&c, "time=11", 6);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "h clean");
	take(&c, "time=null;schema=2", 7);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "h unread");
	CU_ASSERT_EQUAL(c.troubles[COLLECT_NEWER], 2);
	collect_destroy(&c);
}

static void test_expected(void)
{
	struct collection c;
	collect_init(&c);
	take(&c, "host=\"a\"", 1);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "a clean");
	CU_ASSERT_EQUAL(c.unexpected, 0);
	collect_expect(&c, "b");
	collect_expect(&c, "b");
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "a clean, b missing");
	CU_ASSERT_EQUAL(c.unexpected, 1);
	collect_expect(&c, "a");
	take(&c, "host=\"b\"", 2);
	CU_ASSERT_STRING_EQUAL(states(&c, &usual), "a clean, b clean");
	CU_ASSERT_EQUAL(c.unexpected, 0);
	CU_ASSERT_EQUAL(c.troubles[COLLECT_DUPLICATE], 0);
	collect_destroy(&c);
}

static void test_groups(void)
{
	struct collection c;
	char changes[256];
	collect_init(&c);
	for (uint32_t i = 1; i <= 9; ++i) {
		snprintf(changes, sizeof(changes), "host=\"n%u\";findings={\"code\": \"%s\", \"severity\": \"%s\"}, {\"code\": \"MNT-DUP\", "
		         "\"severity\": \"warning\"}, {\"code\": \"MNT-DUP\", \"severity\": \"warning\"};critical=%d;warning=%d", (unsigned)i,
		         i == 3 ? "FS-ERRORS" : "MNT-DUP", i == 3 ? "critical" : "warning", i == 3, i == 3 ? 2 : 3);
		take(&c, changes, i);
	}
	for (uint32_t i = 10; i <= 12; ++i) {
		snprintf(changes, sizeof(changes), "host=\"n%u\";failed=\"why %d\"", (unsigned)i, i == 12);
		take(&c, changes, i);
	}
	CU_ASSERT_EQUAL_FATAL(collect_judge(&c, &usual), 0);
	CU_ASSERT_EQUAL_FATAL(c.ncodes_found, 2);
	CU_ASSERT_STRING_EQUAL(c.codes_found[0].text, "FS-ERRORS");
	CU_ASSERT_EQUAL(c.codes_found[0].count, 1);
	CU_ASSERT_STRING_EQUAL(c.codes_found[0].hosts[0], "n3");
	CU_ASSERT_STRING_EQUAL(c.codes_found[1].text, "MNT-DUP");
	CU_ASSERT_EQUAL(c.codes_found[1].count, 9);
	CU_ASSERT_EQUAL(c.codes_found[1].findings, 26);
	CU_ASSERT_EQUAL_FATAL(c.nreasons, 3);
	CU_ASSERT_EQUAL(c.reasons[0].kind, COLLECT_FINDINGS);
	CU_ASSERT_STRING_EQUAL(c.reasons[1].text, "why 0");
	CU_ASSERT_EQUAL(c.reasons[1].count, 2);
	CU_ASSERT_STRING_EQUAL(c.reasons[2].hosts[0], "n12");
	collect_destroy(&c);
}

/** Places that nobody would read are counted alone. */
static void test_bounds(void)
{
	struct collection c;
	collect_init(&c);
	for (uint32_t i = 1; i <= COLLECT_PLACES_MAX + 5; ++i)
		CU_ASSERT_EQUAL_FATAL(collect_note(&c, COLLECT_CUT, (struct collect_place){0, i}, "end"), 0);
	CU_ASSERT_EQUAL(c.troubles[COLLECT_CUT], COLLECT_PLACES_MAX + 5);
	CU_ASSERT_EQUAL(c.ntold[COLLECT_CUT], COLLECT_PLACES_MAX);
	CU_ASSERT_EQUAL(c.texts.count, 1);
	collect_destroy(&c);
}

/** A screen is 40 lines of so many columns, whatever there is. */
static void test_screen(void)
{
	struct collection c;
	struct audit_way way = {.form = AF_TEXT};
	struct collect_asked asked = {.way = &way, .max_age = 50, .fail_on = AUDIT_INFO};
	struct strbuf out;
	struct collect_rules rules = usual;
	char changes[512];
	rules.max_age = 50;
	collect_init(&c);
	collect_file(&c, "F\033[31m");
	for (uint32_t i = 1; i <= 2000; ++i) {
		snprintf(changes, sizeof(changes), "host=\"h\\u001b%u\";time=%d;failed=%s%u%s;complete=%s;reasons=\"\\u009b%u\";findings={\"code\": \"C-%u\", "
		         "\"severity\": \"warning\"};warning=1;schema=%d", (unsigned)(i * 7 % 1500), i % 3 ? 100000 : 5, i % 5 ? "null" : "\"",
		         (unsigned)i % 5 ? 0 : (unsigned)i, i % 5 ? "" : "\"", i % 4 ? "true" : "false", (unsigned)i, (unsigned)i, i % 97 ? 1 : i % 2 ? 2 : 0);
		const char *line = line_of(changes);
		char *fixed = strdup(line), *null = strstr(fixed, "null0");
		if (null)
			memmove(null + 4, null + 5, strlen(null + 5) + 1);
		collect_take(&c, fixed, i % 13 ? strlen(fixed) : strlen(fixed) - 3, (struct collect_place){0, i});
		free(fixed);
	}
	for (unsigned i = 0; i < 300; ++i) {
		snprintf(changes, sizeof(changes), "x%u\n", i);
		collect_expect(&c, changes);
	}
	CU_ASSERT_EQUAL_FATAL(collect_judge(&c, &rules), 0);
	for (int i = 0; i < COLLECT_STATES; ++i)
		CU_ASSERT(c.of[i] > 0 || i == COLLECT_CLEAN || i == COLLECT_INCOMPLETE);
	for (unsigned width = 80; width <= 200; width += 60) {
		struct collect_result result = {.c = &c, .asked = &asked, .now = 100000, .width = width, .lines = 40};
		size_t lines = 0;
		strbuf_init(&out);
		audit_collect_text(&result, &out);
		for (const char *at = strbuf_str(&out); *at; at += strcspn(at, "\n") + 1) {
			++lines;
			CU_ASSERT(strcspn(at, "\n") <= width || lines <= 2);
		}
		CU_ASSERT_EQUAL(lines, 40);
		for (size_t i = 0; i < out.len; ++i)
			CU_ASSERT(out.data[i] == '\n' || (out.data[i] >= ' ' && out.data[i] < 0x7f));
		strbuf_destroy(&out);
	}
	/* All of it: each host is named, cut is nothing. */
	struct collect_result all = {.c = &c, .asked = &asked, .now = 100000};
	strbuf_init(&out);
	audit_collect_text(&all, &out);
	CU_ASSERT_PTR_NULL(strstr(strbuf_str(&out), "..."));
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&out), "x299\\x0a"));
	strbuf_destroy(&out);
	collect_destroy(&c);
}

/** Lines of a file, over the edges of what is read at once, and too long ones. */
static void test_files(void)
{
	char path[] = "/tmp/getmnt-lines.XXXXXX";
	int fd = mkstemp(path);
	struct os os = {.statx_works = true};
	struct os_lines lines;
	struct os_line line;
	CU_ASSERT_FATAL(fd >= 0);
	FILE *file = fdopen(fd, "w");
	for (size_t n = 0; n < 300; ++n)
		fprintf(file, "%0*zu\n", (int)(n * 37 + 1), n);
	fprintf(file, "%0*d\n\n%*s", 900000, 7, 5, "end");
	fclose(file);
	CU_ASSERT_EQUAL_FATAL(os_lines_open(&os, path, 800000, &lines), 0);
	for (size_t n = 0; n < 300; ++n) {
		CU_ASSERT_EQUAL_FATAL(os_lines_next(&lines, &line), 1);
		CU_ASSERT(line.n == n * 37 + 1 + (n * 37 + 1 < 2 && n > 9) && line.ended && !line.too_long);
		CU_ASSERT_EQUAL((size_t)atoi(line.text + (line.n > 5 ? line.n - 5 : 0)), n);
	}
	CU_ASSERT_EQUAL(os_lines_next(&lines, &line), 1);
	CU_ASSERT(line.too_long && line.n == 0);
	CU_ASSERT_EQUAL(os_lines_next(&lines, &line), 1);
	CU_ASSERT(!line.too_long && line.n == 0 && line.ended);
	CU_ASSERT_EQUAL(os_lines_next(&lines, &line), 1);
	CU_ASSERT(line.n == 5 && !line.ended && memcmp(line.text, "  end", 5) == 0);
	CU_ASSERT_EQUAL(os_lines_next(&lines, &line), 0);
	CU_ASSERT_EQUAL(os_lines_next(&lines, &line), 0);
	os_lines_close(&lines);
	unlink(path);
	CU_ASSERT_EQUAL(os_lines_open(&os, path, 10, &lines), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	CU_ASSERT_EQUAL(os_lines_open(&os, "/", 10, &lines), -1);
	CU_ASSERT_EQUAL(errno, EISDIR);
	CU_ASSERT_EQUAL(os_lines_open(&os, "/dev/null", 10, &lines), -1);
	CU_ASSERT_EQUAL(errno, ENOTSUP);
}

static void test_age(void)
{
	static const struct {
		const char *text;
		int64_t seconds;
	} rows[] = {{"0", 0}, {"90", 90}, {"90s", 90}, {"2m", 120}, {"26h", 93600}, {"2d", 172800}};
	static const char *const wrong[] = {"", "h", "-1", "1w", "1 h", " 1", "1hh", "99999999999999999999", "9223372036854775807d", "1.5h", "+1"};
	struct strbuf said;
	strbuf_init(&said);
	message_note(&said, true);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		int64_t seconds = -1;
		CU_ASSERT_EQUAL(audit_collect_age(rows[i].text, &seconds), 0);
		CU_ASSERT_EQUAL(seconds, rows[i].seconds);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); ++i) {
		int64_t seconds = -1;
		CU_ASSERT_NOT_EQUAL(audit_collect_age(wrong[i], &seconds), 0);
		CU_ASSERT_EQUAL(seconds, -1);
	}
	message_note(NULL, false);
	strbuf_destroy(&said);
}

static const struct unit_test tests[] = {
	{"lines", test_lines},
	{"damage", test_damage},
	{"states", test_states},
	{"rules", test_rules},
	{"duplicates", test_duplicates},
	{"expected", test_expected},
	{"groups", test_groups},
	{"bounds", test_bounds},
	{"screen", test_screen},
	{"files", test_files},
	{"age", test_age},
	{NULL, NULL},
};

const struct unit_suite suite_collect = {"collect", tests};
