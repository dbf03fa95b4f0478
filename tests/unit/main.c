/* SPDX-License-Identifier: MIT */
/*
 * The unit test program: runs every suite, or those named as arguments, each
 * in a child process: a crash fails one suite.
 *
 * The counts are in memory shared with the child; tests after a crash count as failed.
 * -l lists the suites.
 */
#include "unit.h"

#include <CUnit/TestRun.h>
#include <dirent.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

/* Sorted by file and line. */
static struct unit_test *all;

void unit_add(struct unit_test *test)
{
	struct unit_test **at = &all;
	for (; *at; at = &(*at)->next) {
		int order = strcmp((*at)->file, test->file);
		if (order > 0 || (order == 0 && (*at)->line > test->line))
			break;
	}
	test->next = *at;
	*at = test;
}

/** The first test of the suite after this one.  @count [out]  How many tests the suite has. */
static const struct unit_test *next_suite(const struct unit_test *test, unsigned *count)
{
	const char *file = test->file;
	for (*count = 0; test && strcmp(test->file, file) == 0; test = test->next)
		++*count;
	return test;
}

/** The name of its suite. */
static const char *suite_name(const struct unit_test *test)
{
	static char name[64];
	const char *from = strstr(test->file, "/test_") + 6;
	snprintf(name, sizeof(name), "%.*s", (int)strcspn(from, "."), from);
	return name;
}

struct counts {
	unsigned passed, failed, skipped;
	char running[64];    /* the current test; "": none */
	char note[256];      /* of unit_note() */
};

static struct counts *shared;
static bool skipped_this;

void unit_skip(const char *why)
{
	skipped_this = true;
	printf("  skip %s: %s\n", shared->running, why);
}

void unit_note(const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(shared->note, sizeof(shared->note), format, args);
	va_end(args);
}

void unit_expect(const char *got, const char *expected)
{
	if (strcmp(got, expected) == 0)
		return;
	printf("  %s: got:\n%s\nexpected:\n%s\n", shared->note, got, expected);
	CU_FAIL("a text");
}

struct os unit_os(void)
{
	struct os os;
	os_init(&os, getenv("GETMNT_DISABLE"));
	return os;
}

int unit_count(const char *name)
{
	int n = 0;
	DIR *dir = opendir(name);
	if (!dir)
		return -1;
	while (readdir(dir))
		++n;
	closedir(dir);
	return n;
}

double unit_cpu(void)
{
	struct timespec ts;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

unsigned unit_step(void)
{
	const char *step = getenv("GETMNT_FAULT_STEP");
	unsigned long every = step ? strtoul(step, NULL, 10) : 1;
	return every > 1 && every <= 1000000 ? (unsigned)every : 1;
}

static void on_start(const CU_pTest test, const CU_pSuite suite)
{
	(void)suite;
	snprintf(shared->running, sizeof(shared->running), "%s", test->pName);
	shared->note[0] = '\0';
	skipped_this = false;
}

static void on_complete(const CU_pTest test, const CU_pSuite suite, const CU_pFailureRecord failure)
{
	for (CU_pFailureRecord f = failure; f; f = f->pNext)
		printf("  FAIL %s.%s: %s:%u: %s\n", suite->pName, test->pName,
		       f->strFileName, f->uiLineNumber, f->strCondition);
	if (failure)
		shared->failed++;
	else if (skipped_this)
		shared->skipped++;
	else
		shared->passed++;
	shared->running[0] = '\0';
}

/** Run a suite in this process, the child.  @return its exit status. */
static int run_suite(const struct unit_test *test, const char *name, unsigned count)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	CU_pSuite cu = CU_add_suite(name, NULL, NULL);
	for (; cu && count > 0; test = test->next, --count)
		if (!CU_add_test(cu, test->name, test->run)) {
			printf("  FAIL %s.%s: cannot be added: %s\n", name, test->name,
			       CU_get_error_msg());
			shared->failed++;
		}
	CU_set_test_start_handler(on_start);
	CU_set_test_complete_handler(on_complete);
	CU_run_all_tests();
	CU_cleanup_registry();
	return cu && CU_get_error() == CUE_SUCCESS ? 0 : 2;
}

/** Run a suite in a child and add its counts to sum. */
static void fork_suite(const struct unit_test *first, const char *name, unsigned total,
                       struct counts *sum)
{
	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		alarm(SUITE_SECONDS);
		exit(run_suite(first, name, total));
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = 2 << 8;

	if (status && shared->note[0])
		printf("  at hand: %s\n", shared->note);

	unsigned done = shared->passed + shared->failed + shared->skipped;
	if (WIFSIGNALED(status))
		printf("  FAIL %s.%s: killed by signal %d (%s)\n", name,
		       shared->running[0] ? shared->running : "(at its end)",
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		printf("  FAIL %s: the suite's process ended with status %d\n", name,
		       WEXITSTATUS(status));
	if (done < total)
		shared->failed += total - done;   /* the crashed test and those after it */
	else if (status)
		shared->failed++;                 /* a leak or an error at exit */

	printf("%-4s %-16s %u passed, %u failed, %u skipped of %u\n",
	       shared->failed ? "FAIL" : "ok", name,
	       shared->passed, shared->failed, shared->skipped, total);
	sum->passed += shared->passed;
	sum->failed += shared->failed;
	sum->skipped += shared->skipped;
}

/** Whether a suite was requested; without arguments all are. */
static bool chosen(const char *name, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	bool list = argc == 2 && strcmp(argv[1], "-l") == 0;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (shared == MAP_FAILED) {
		perror("unit: mmap");
		return 2;
	}
	struct counts sum = {0};
	unsigned run = 0, count;
	for (const struct unit_test *t = all, *next; t; t = next) {
		const char *name = suite_name(t);
		next = next_suite(t, &count);
		if (list) {
			puts(name);
		} else if (chosen(name, argc, argv)) {
			fork_suite(t, name, count, &sum);
			run++;
		}
	}
	if (list)
		return 0;
	if (run == 0) {
		fprintf(stderr, "unit: unknown suite; -l lists the suites\n");
		return 2;
	}
	munmap(shared, sizeof(*shared));
	printf("%u passed, %u failed, %u skipped\n", sum.passed, sum.failed, sum.skipped);
	return sum.failed ? 1 : 0;
}
