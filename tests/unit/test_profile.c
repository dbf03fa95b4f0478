/* SPDX-License-Identifier: MIT */
/*
 * profile/: medians, ratios, the order of turns, the rows.
 */
#include "unit.h"

#include "base/arena.h"
#include "base/array.h"
#include "profile/profile.h"

static bool near(double a, double b)
{
	return a - b < 1e-9 && b - a < 1e-9;
}

UNIT_TEST(median)
{
	double one[] = {3}, odd[] = {5, 1, 9}, even[] = {8, 2, 4, 100}, same[] = {7, 7, 7, 7, 7};
	CU_ASSERT_EQUAL(median(one, 0), 0);
	CU_ASSERT_EQUAL(median(one, 1), 3);
	CU_ASSERT_EQUAL(median(odd, 3), 5);
	CU_ASSERT_EQUAL(median(even, 4), 6);
	CU_ASSERT_EQUAL(median(same, 5), 7);
}

static struct arena arena;

static void add(struct profile_row *row, unsigned turn, double user, double system, double real)
{
	struct profile_times times = {.user = user, .system = system, .real = real,
	                              .discovery = real / 2, .turn = turn, .loops = 1};
	ARENA_PUSH(&arena, row->times, row->ntimes, times);
}

UNIT_TEST(medians_of_a_row)
{
	/* The first turn counts only as long as there are no others. */
	struct profile_row row = {.rule = -1};
	profile_settle(&row);
	CU_ASSERT_EQUAL(row.median.real, 0);
	add(&row, 0, 5, 5, 100);
	profile_settle(&row);
	CU_ASSERT_TRUE(near(row.median.real, 100) && near(row.median.user, 5)
	               && near(row.median.system, 5));
	/* User and system time are split by their shares in all turns. */
	add(&row, 1, 4, 0, 10);
	add(&row, 2, 0, 4, 30);
	add(&row, 3, 0, 4, 20);
	add(&row, 4, 0, 4, 40);
	profile_settle(&row);
	CU_ASSERT_TRUE(near(row.median.real, 25) && near(row.median.discovery, 12.5));
	CU_ASSERT_TRUE(near(row.median.user, 1) && near(row.median.system, 3));
	CU_ASSERT_EQUAL(row.ntimes, 5);
	arena_destroy(&arena);
}

UNIT_TEST(ratios)
{
	struct profile_row a = {.state = PROFILE_DONE}, b = {.state = PROFILE_DONE};
	a.counts.calls[OS_STATX] = 30;
	a.counts.calls[OS_OPENAT2] = 10;
	a.counts.calls[OS_OPENAT] = 5;
	b.counts.calls[OS_CLOSE] = 9;
	a.counts.dirs = 12;
	b.counts.dirs = 0;
	CU_ASSERT_EQUAL(profile_figure(&a, PF_CALLS), 45);
	CU_ASSERT_EQUAL(profile_figure(&a, PF_OPENAT), 15);
	CU_ASSERT_EQUAL(profile_figure(&a, PF_OTHER), 0);
	struct profile_ratio r = profile_ratio(&a, &b, PF_CALLS);
	CU_ASSERT_TRUE(r.how == PR_IS && near(r.value, 5));
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_DIRS).how, PR_NONE);   /* of nothing */
	a.state = PROFILE_STOPPED;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_OVER);
	CU_ASSERT_EQUAL(profile_ratio(&b, &a, PF_CALLS).how, PR_UNDER);
	b.state = PROFILE_STOPPED;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_NONE);
	b.state = PROFILE_NOT_RUN;
	CU_ASSERT_EQUAL(profile_ratio(&a, &b, PF_CALLS).how, PR_NONE);
	CU_ASSERT_EQUAL(profile_ratio(&b, &a, PF_CALLS).how, PR_NONE);
}

UNIT_TEST(order_of_turns)
{
	size_t order[13], again[13], firsts[13] = {0}, moved = 0;
	profile_order(1, 0, order, 13);
	CU_ASSERT_TRUE(order[0] == 2 && order[1] == 1 && order[2] == 0 && order[3] == 3
	               && order[12] == 12);
	profile_order(1, 0, order, 2);
	CU_ASSERT_TRUE(order[0] == 0 && order[1] == 1);
	for (unsigned turn = 1; turn <= 1300; ++turn) {
		unsigned seen = 0;
		profile_order(1988, turn, order, 13);
		profile_order(1988, turn, again, 13);
		CU_ASSERT_EQUAL(memcmp(order, again, sizeof(order)), 0);
		for (size_t i = 0; i < 13; ++i)
			seen |= 1u << order[i];
		CU_ASSERT_EQUAL(seen, (1u << 13) - 1);
		++firsts[order[0]];
		profile_order(1989, turn, again, 13);
		moved += memcmp(order, again, sizeof(order)) != 0;
	}
	/* Each is first about 100 times; 5 sigmas are 48. */
	for (size_t i = 0; i < 13; ++i)
		CU_ASSERT_TRUE(firsts[i] > 52 && firsts[i] < 148);
	CU_ASSERT_TRUE(moved > 1290);
}

UNIT_TEST(how_often)
{
	CU_ASSERT_EQUAL(profile_fit(0, 0.1, 1, 1000), 1000);
	CU_ASSERT_EQUAL(profile_fit(1e-9, 0.1, 1, 1000), 1000);
	CU_ASSERT_EQUAL(profile_fit(0.25, 1, 3, 7), 4);
	CU_ASSERT_EQUAL(profile_fit(100, 1, 3, 7), 3);
}
