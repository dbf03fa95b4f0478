/* SPDX-License-Identifier: MIT */
/**
 * Unit tests: CUnit's assertions, in suites that are forked.
 *
 * A file tests/unit/test_NAME.c exports `const struct unit_suite suite_NAME`
 * and is found by the Makefile; nothing else is to be registered.
 */
#ifndef GM_TESTS_UNIT_H
#define GM_TESTS_UNIT_H

#include <CUnit/CUnit.h>

/** One test; a table of them ends with {NULL, NULL}. */
struct unit_test {
	const char *name;
	void (*run)(void);
};

/** The tests of one file.  They share a process, and run in this order. */
struct unit_suite {
	const char *name;
	const struct unit_test *tests;
};

/** Count the running test as skipped, and say why.  Use UNIT_SKIP(). */
void unit_skip(const char *why);

/** A suite that takes longer hangs; generous, for valgrind. */
enum { SUITE_SECONDS = 600 };

/** Say what is at hand, to be told if the suite crashes now. */
__attribute__((format(printf, 1, 2)))
void unit_note(const char *format, ...);

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

/** Leave a test that cannot be made here. */
#define UNIT_SKIP(why) do { unit_skip(why); return; } while (0)

#endif
