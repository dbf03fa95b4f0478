/* SPDX-License-Identifier: MIT */
/* What the forms of getmnt audit are made of: labels, ranges, work with a time limit;
   --watch. */
#include "unit.h"

#include "base/escape.h"
#include "cmd/audit/audit.h"
#include "os/bounded.h"
#include "os/process.h"
#include "os/service.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>

UNIT_TEST(label)
{
	static const struct {
		const char *text, *expected;
	} rows[] = {
		{"", "\"\""}, {"/data", "\"/data\""}, {"a\"b\\c\nd", "\"a\\\"b\\\\c\\nd\""},
		{"\x1b[31m\t", "\"\\\\x1b[31m\\\\x09\""},
		{"\xff\xc3\xa9\xc3", "\"\\\\xff\xc3\xa9\\\\xc3\""}, {"{x=1}", "\"{x=1}\""},
	};
	STRBUF(out);
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

static int work(const char *what)
{
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
		const char *what = rows[i].what;
		double begin = os_now();
		unit_note("%s", what);
		int rc = os_bounded_start(&os, rows[i].seconds, &done);
		if (rc == 0)
			os_exit_process(work(what));
		CU_ASSERT_EQUAL_FATAL(rc, 1);
		CU_ASSERT_EQUAL_FATAL(os_bounded_finish(&os, &done), 0);
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

/** When an audit of --watch is due, if the last one began at 100, ended at 101 and took `cost`. */
UNIT_TEST(pace)
{
	static const struct {
		double cost, changes[3];
		bool requested;
		double due, error;
	} rows[] = {
		{0, {0}, false, 161},             /* the interval */
		{0, {110}, false, 111},           /* a second after the change */
		{0, {110, 110.5}, false, 111.5},
		{0, {110, 114, 114.9}, false, 115},   /* changes that go on */
		{0, {100.5}, false, 102},         /* not sooner after the last audit */
		{0.3, {101.5}, false, 108.5},
		{10, {101.5}, false, 351},
		{10, {0}, false, 351},
		{0, {0}, true, 102},
		{0.3, {0}, true, 108.5},
		{0, {0}, false, 110.2, 110},      /* an error */
		{0, {110}, false, 110.3, 110.1},
		{0, {0}, false, 102, 100.5},
		{0.3, {0}, false, 108.5, 101.5},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct audit_pace pace = {.interval = 60};
		audit_pace_changed(&pace, 99);
		audit_pace_began(&pace, 100);
		audit_pace_ended(&pace, 101, rows[i].cost);
		for (int k = 0; k < 3 && rows[i].changes[k] > 0; ++k)
			audit_pace_changed(&pace, rows[i].changes[k]);
		if (rows[i].error > 0)
			audit_pace_error(&pace, rows[i].error);
		pace.requested = rows[i].requested;
		unit_note("row %zu", i);
		CU_ASSERT_DOUBLE_EQUAL(audit_pace_due(&pace), rows[i].due, 1e-6);
	}
	/* After an error, audit a second time. */
	struct audit_pace pace = {.interval = 60};
	static const double begun[] = {110.2, 115, 180}, due[] = {115, 175.1, 240.1};
	audit_pace_error(&pace, 110);
	for (size_t i = 0; i < COUNT(begun); ++i) {
		audit_pace_began(&pace, begun[i]);
		audit_pace_ended(&pace, begun[i] + 0.1, 0);
		unit_note("after %g", begun[i]);
		CU_ASSERT_DOUBLE_EQUAL(audit_pace_due(&pace), due[i], 1e-6);
		CU_ASSERT_EQUAL(pace.after_error, i < 2);
	}
}

enum { FOUND_MAX = 6 };

/** Findings of an audit of --watch: compare them with the last state, and replace it.
    @what [out]  "+/a -/b": what is new and what is cleared. */
static void compare(struct audit_way *way, const struct audit_finding found[FOUND_MAX],
                    bool answers, struct strbuf *what)
{
	static const char *const nobody[] = {NULL};
	const struct audit_base_entry *entry;
	struct audit_report report = {0};
	struct audit_base_run last;
	audit_base_init(&last, NULL, NULL, nobody);
	for (size_t i = 0; i < FOUND_MAX && found[i].target; ++i)
		audit_report_add(&report, &found[i]);
	if (!answers)
		audit_not_checked(&report, UNIT_FAILED);
	CU_ASSERT_EQUAL(audit_watch_compare(way, &report, &last), 0);
	struct audit_reported reported = {.last = &last.old};
	strbuf_reset(what);
	for (struct audit_cleared at = {0}; (entry = audit_next_cleared(&reported, &at));)
		strbuf_printf(what, "-%d%s ", at.severity, entry->source);
	for (size_t i = 0; i < report.count; ++i) {
		if (report.findings[i].age == AUDIT_NEW)
			strbuf_printf(what, "+%d%s ", report.findings[i].severity,
			              report.findings[i].target);
	}
	strbuf_reset(&way->known);
	audit_base_write(&last.now, &way->known);
	CU_ASSERT_EQUAL(report.arena.failed || way->known.failed, false);
	audit_base_destroy(&last);
	audit_report_destroy(&report);
}

UNIT_TEST(watch)
{
#define FINDING(code_, severity_, target_, owner_) \
	{.code = code_, .severity = severity_, .target = target_, .owner = owner_, .message = ""}
	static const struct {
		bool silent;             /* systemd does not answer */
		struct audit_finding found[FOUND_MAX];
		const char *what;
	} rows[] = {
		{false, {FINDING(MNT_DUP, 1, "/a", NULL), FINDING(MNT_DUP, 1, "/b\xff", NULL)}, ""},
		{false, {FINDING(MNT_DUP, 1, "/a", NULL), FINDING(BASE_CAME, 0, "/c", NULL)},
		 "-1/b\xff +0/c "},
		{false, {FINDING(MNT_DUP, 1, "/a", NULL), FINDING(MNT_DUP, 1, "/a", NULL)},
		 "-0/c +1/a "},
		{false, {FINDING(MNT_DUP, 1, "/a", "user:1"), FINDING(MNT_LIMIT, 1, "", NULL)},
		 "-1/a +1 "},
		{false, {FINDING(MNT_LIMIT, 2, "", NULL), FINDING(UNIT_FAILED, 1, "/u", "unit"),
		         FINDING(DRIFT_NOT_MOUNTED, 1, "/v", "unit"),
		         FINDING(DRIFT_NOT_MOUNTED, 1, "/w", "fstab"),
		         FINDING(MNT_DUP, 1, "/x", "unit")},
		 "-1/a -1 +2 +1/u +1/v +1/w +1/x "},
		/* What systemd knows is kept while it does not answer. */
		{true, {FINDING(MNT_LIMIT, 2, "", NULL)}, "-1/w -1/x "},
		{true, {FINDING(MNT_LIMIT, 2, "", NULL)}, ""},
		{false, {FINDING(MNT_LIMIT, 2, "", NULL)}, "-1/v -1/u "},
	};
	struct audit_way way;
	struct strbuf what = {0};
	audit_way_init(&way);
	way.watch = 60;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		compare(&way, rows[i].found, !rows[i].silent, &what);
		unit_note("row %zu: %s", i, strbuf_str(&what));
		CU_ASSERT_STRING_EQUAL(strbuf_str(&what), rows[i].what);
	}
	audit_way_destroy(&way);
	strbuf_destroy(&what);
}

/** Messages to a service manager: addresses that are none, that do not exist, and one that is
    full. */
UNIT_TEST(notify)
{
	static const char name[] = "getmnt-unit-notify";
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	struct os os = {0};
	char address[200], text[16];
	memset(address, 'x', sizeof(address));
	address[0] = '/';
	address[sizeof(address) - 1] = '\0';
	const char *const wrong[] = {"", "/", "@", "vsock:2:1", "run/notify", address};
	for (size_t i = 0; i < COUNT(wrong); ++i) {
		errno = 0;
		CU_ASSERT(os_notify(&os, wrong[i], "READY=1") == -1 && errno == EINVAL);
	}
	CU_ASSERT(os_notify(&os, "/proc/self/none/notify", "READY=1") == -1 && errno == ENOENT);
	snprintf(address, sizeof(address), "@%s-%d", name, (int)getpid());
	CU_ASSERT(os_notify(&os, address, "READY=1") == -1 && errno == ECONNREFUSED);
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0), sent = 0;
	memcpy(at.sun_path + 1, address + 1, strlen(address) - 1);
	socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(address));
	CU_ASSERT_EQUAL_FATAL(bind(fd, (struct sockaddr *)&at, size), 0);
	while (sent < 100000 && os_notify(&os, address, "READY=1") == 0)
		++sent;
	CU_ASSERT(sent > 0 && errno == EAGAIN);
	CU_ASSERT(recv(fd, text, sizeof(text), 0) == 7 && memcmp(text, "READY=1", 7) == 0);
	CU_ASSERT_EQUAL(os_notify(&os, address, "STOPPING=1"), 0);
	close(fd);
}
