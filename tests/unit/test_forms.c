/* SPDX-License-Identifier: MIT */
/* What the forms of getmnt audit are made of: labels, ranges, work with a time limit. */
#include "unit.h"

#include "base/escape.h"
#include "cmd/audit/audit.h"
#include "os/bounded.h"

#include <signal.h>

UNIT_TEST(label)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{"", "\"\""}, {"/data", "\"/data\""}, {"a\"b\\c\nd", "\"a\\\"b\\\\c\\nd\""},
		{"\x1b[31m\t", "\"\\\\x1b[31m\\\\x09\""},
		{"\xff\xc3\xa9\xc3", "\"\\\\xff\xc3\xa9\\\\xc3\""}, {"{x=1}", "\"{x=1}\""},
	};
	struct strbuf out;
	strbuf_init(&out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		strbuf_reset(&out);
		audit_label(&out, rows[i].text);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].expected);
	}
	/* What is long is cut where a character ends. */
	char *text = calloc(1, 4097);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (size_t i = 0; i < 4096; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	strbuf_reset(&out);
	audit_label(&out, text);
	CU_ASSERT(out.len < 1100);
	CU_ASSERT(utf8_valid(strbuf_str(&out)));
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&out), "...\""));
	free(text);
	strbuf_destroy(&out);
}

UNIT_TEST(ranges)
{
	static const struct {
		const char *text;
		const char *alerts;   /* for 0, 1, 5, 10, 11: 1 if it alerts; NULL: no range */
	} rows[] = {
		{"0", "01111"}, {"10", "00001"}, {"1:", "10000"}, {"10:", "11100"},
		{"~:0", "01111"}, {"~:5", "00011"}, {"5:10", "11001"}, {"@5:10", "00110"},
		{"@0", "10000"}, {"@~:1", "11000"}, {"~:", "00000"}, {"0.5", "01111"},
		{"-5:1", "00111"}, {":5", "00011"}, {":", NULL}, {"", NULL}, {"@", NULL},
		{"x", NULL}, {"10:5", NULL}, {"1:2:3", NULL}, {"~", NULL}, {"1e3", NULL},
		{"nan", NULL}, {"inf", NULL}, {"0x10", NULL}, {" 1", NULL}, {"1 ", NULL},
		{"-", NULL}, {".", NULL}, {"1|x", NULL}, {"99999999999999999999999999", NULL},
		{"1:~", NULL},
	};
	static const double numbers[] = {0, 1, 5, 10, 11};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct audit_range range;
		unit_note("%s", rows[i].text);
		bool is = audit_range_read(rows[i].text, &range);
		CU_ASSERT_EQUAL(is, rows[i].alerts != NULL);
		for (size_t k = 0; is && rows[i].alerts && k < COUNT(numbers); ++k)
			CU_ASSERT_EQUAL(audit_range_alerts(&range, numbers[k]),
			                rows[i].alerts[k] == '1');
	}
}

/* Work with an end. */

static int work(void *arg)
{
	const char *what = arg;
	if (strcmp(what, "sleep") == 0)
		pause();
	if (strcmp(what, "deaf") == 0) {
		/* It ends its output, and not itself. */
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		pause();
	}
	if (strcmp(what, "crash") == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
	}
	for (int i = 0; strcmp(what, "much") == 0 && i < 300000; ++i)
		printf("line %d\n", i);
	printf("out");
	fprintf(stderr, "err");
	fflush(stdout);
	return 7;
}

UNIT_TEST(bounded)
{
	static const struct {
		const char *what;
		double seconds;
		bool late;
		int signal, status;
	} rows[] = {
		{"print", 60, false, 0, 7},       {"much", 60, false, 0, 7},
		{"sleep", 0.05, true, 0, 0},      {"deaf", 0.05, true, 0, 0},
		{"crash", 60, false, SIGTERM, 0},
	};
	struct os os = {0};
	fflush(stdout);
	int before = unit_count("/proc/self/fd");
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct os_bounded done;
		char what[16];
		snprintf(what, sizeof(what), "%s", rows[i].what);
		double begin = os_now();
		unit_note("%s", what);
		CU_ASSERT_EQUAL_FATAL(os_bounded(&os, rows[i].seconds, work, what, &done), 0);
		CU_ASSERT_EQUAL(done.late, rows[i].late);
		CU_ASSERT_EQUAL(done.signal, rows[i].signal);
		CU_ASSERT_EQUAL(done.status, rows[i].status);
		CU_ASSERT(os_now() - begin < 30);
		if (rows[i].status) {
			size_t n = done.out.len;
			CU_ASSERT(n >= 3 && strcmp(strbuf_str(&done.out) + n - 3, "out") == 0);
			CU_ASSERT_STRING_EQUAL(strbuf_str(&done.err), "err");
		}
		if (strcmp(what, "much") == 0)
			CU_ASSERT(done.out.len > 3000000);
		os_bounded_destroy(&done);
	}
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), before);
}
