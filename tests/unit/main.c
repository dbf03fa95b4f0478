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
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* suites.inc is made by the Makefile: SUITE(name) for each test_NAME.c. */
#define SUITE(name) extern const struct unit_suite suite_##name;
#include "suites.inc"
#undef SUITE

static const struct unit_suite *const suites[] = {
#define SUITE(name) &suite_##name,
#include "suites.inc"
#undef SUITE
	NULL,
};

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
static int run_suite(const struct unit_suite *suite)
{
	if (CU_initialize_registry() != CUE_SUCCESS)
		return 2;
	CU_pSuite cu = CU_add_suite(suite->name, NULL, NULL);
	for (const struct unit_test *t = suite->tests; cu && t->name; t++)
		if (!CU_add_test(cu, t->name, t->run)) {
			printf("  FAIL %s.%s: cannot be added: %s\n", suite->name, t->name,
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
static void fork_suite(const struct unit_suite *suite, struct counts *sum)
{
	unsigned total = 0;
	while (suite->tests[total].name)
		total++;

	memset(shared, 0, sizeof(*shared));
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		setvbuf(stdout, NULL, _IOLBF, 0);
		alarm(SUITE_SECONDS);
		exit(run_suite(suite));
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) < 0)
		status = 2 << 8;

	if (status && shared->note[0])
		printf("  at hand: %s\n", shared->note);

	unsigned done = shared->passed + shared->failed + shared->skipped;
	if (WIFSIGNALED(status))
		printf("  FAIL %s.%s: killed by signal %d (%s)\n", suite->name,
		       shared->running[0] ? shared->running : "(at its end)",
		       WTERMSIG(status), strsignal(WTERMSIG(status)));
	else if (WEXITSTATUS(status))
		printf("  FAIL %s: the suite's process ended with status %d\n", suite->name,
		       WEXITSTATUS(status));
	if (done < total)
		shared->failed += total - done;   /* the crashed test and those after it */
	else if (status)
		shared->failed++;                 /* a leak or an error at exit */

	printf("%-4s %-16s %u passed, %u failed, %u skipped of %u\n",
	       shared->failed ? "FAIL" : "ok", suite->name,
	       shared->passed, shared->failed, shared->skipped, total);
	sum->passed += shared->passed;
	sum->failed += shared->failed;
	sum->skipped += shared->skipped;
}

/** Whether a suite was requested; without arguments all are. */
static bool chosen(const struct unit_suite *suite, int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		if (strcmp(argv[i], suite->name) == 0)
			return true;
	return argc < 2;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "-l") == 0) {
		for (const struct unit_suite *const *s = suites; *s; s++)
			puts((*s)->name);
		return 0;
	}
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	              0);
	if (shared == MAP_FAILED) {
		perror("unit: mmap");
		return 2;
	}
	struct counts sum = {0};
	unsigned run = 0;
	for (const struct unit_suite *const *s = suites; *s; s++)
		if (chosen(*s, argc, argv)) {
			fork_suite(*s, &sum);
			run++;
		}
	if (run == 0) {
		fprintf(stderr, "unit: unknown suite; -l lists the suites\n");
		return 2;
	}
	munmap(shared, sizeof(*shared));
	printf("%u passed, %u failed, %u skipped\n", sum.passed, sum.failed, sum.skipped);
	return sum.failed ? 1 : 0;
}
