/* SPDX-License-Identifier: MIT */
/**
 * Unit tests: CUnit's assertions, in suites that are forked.  A suite is a file
 * tests/unit/test_NAME.c with UNIT_TEST()s; nothing is registered elsewhere.
 */
#ifndef GM_TESTS_UNIT_H
#define GM_TESTS_UNIT_H

/* What nearly every test needs. */
#include "base/strbuf.h"
#include "os/os.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/** A test.  The tests of a file test_SUITE.c share a process, and run in the order of the file. */
struct unit_test {
	const char *name, *file;
	int line;
	void (*run)(void);
	struct unit_test *next;
};

/** Add a test.  Use UNIT_TEST(). */
void unit_add(struct unit_test *test);

/** Head of a test: UNIT_TEST(name) { ... }. */
#define UNIT_TEST(test) \
	static void test_##test(void); \
	__attribute__((constructor)) static void add_##test(void) \
	{ \
		static struct unit_test row = {#test, __FILE__, __LINE__, test_##test, NULL}; \
		unit_add(&row); \
	} \
	static void test_##test(void)

/** Count the running test as skipped, and say why.  Use UNIT_SKIP(). */
void unit_skip(const char *why);

/** A suite that takes longer hangs; generous, for valgrind. */
enum { SUITE_SECONDS = 600 };

/** Say what is at hand, to be told if the suite crashes now. */
__attribute__((format(printf, 1, 2)))
void unit_note(const char *format, ...);

/** Assert that two texts are equal; else print both, and what is at hand. */
void unit_expect(const char *got, const char *expected);

/** Count what a directory of /proc/self lists, "." and ".." too.  @return -1: it cannot be read. */
int unit_count(const char *dir);

/**
 * Of runs that are many, only every so many-th is to be made: GETMNT_FAULT_STEP, which is
 * 1 for make distcheck, and 100 under valgrind.
 */
unsigned unit_step(void);

/** The CPU time of this process, in seconds: a machine that is busy with something else does
    not add to it.  For bounds far above what is usual, which growth alone can pass. */
double unit_cpu(void);

/** A string buffer that is freed at the end of its block. */
#define STRBUF(name) __attribute__((cleanup(strbuf_destroy))) struct strbuf name = {0}

/** The kernel, without what GETMNT_DISABLE disables. */
struct os unit_os(void);

/** Whether valgrind runs the tests. */
static inline bool unit_in_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");
	return preload && strstr(preload, "/vgpreload_");
}

/** Leave a test that cannot be made here. */
#define UNIT_SKIP(why) do { unit_skip(why); return; } while (0)

#endif
