/* SPDX-License-Identifier: MIT */
/*
 * Allocations that fail: every scenario is run with each of its allocations
 * failing, alone, and with all behind it.
 */
#include "unit.h"

#include "fault_run.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>

static bool ready;

static void test_enter(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	ready = world_enter();
	if (!ready)
		UNIT_SKIP("no private mount namespace");
}

static void test_scenarios(void)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	unsigned long runs = 0;
	for (const struct scenario *s = scenarios; s->name; ++s) {
		struct trial trial;
		if (!trial_begin(&trial, s))
			continue;
		for (uint64_t n = 1; n <= trial.base.count.calls[FAULT_ALLOC]; ++n) {
			trial_run(&trial, &(struct fault){FAULT_ONCE, FAULT_ALLOC, n, ENOMEM});
			trial_run(&trial, &(struct fault){FAULT_ON, FAULT_ALLOC, n, ENOMEM});
		}
		runs += trial_end(&trial);
	}
	printf("  %lu runs, an allocation failing in each\n", runs);
}

static void test_leave(void)
{
	if (!ready)
		UNIT_SKIP("no private mount namespace");
	world_leave();
}

static const struct unit_test tests[] = {
	{"enter", test_enter},
	{"scenarios", test_scenarios},
	{"leave", test_leave},
	{NULL, NULL},
};

const struct unit_suite suite_fault_memory = {"fault_memory", tests};
