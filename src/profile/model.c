/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

enum profile_kind profile_kind(enum os_call call)
{
	switch (call) {
	case OS_STATX:
		return PK_STATX;
	case OS_OPENAT:
	case OS_OPENAT2:
		return PK_OPENAT;
	case OS_GETDENTS:
		return PK_GETDENTS;
	case OS_CLOSE:
		return PK_CLOSE;
	default:
		return PK_OTHER;
	}
}

const char *profile_kind_name(enum profile_kind kind)
{
	static const char *const names[] = {
		[PK_STATX] = "statx", [PK_OPENAT] = "openat", [PK_GETDENTS] = "getdents",
		[PK_CLOSE] = "close", [PK_OTHER] = "other",
	};
	return kind < PK_NKINDS ? names[kind] : "?";
}

const char *profile_state_name(enum profile_state state)
{
	return state == PROFILE_DONE ? "done" : state == PROFILE_STOPPED ? "stopped" : "not run";
}

const char *profile_algorithm(enum discover_algorithm algorithm)
{
	return algorithm == DA_GETMNT1   ? "getmnt1"
	       : algorithm == DA_GETMNT2 ? "getmnt2"
	                                 : "getmnt3";
}

size_t profile_rows(struct profile_row *rows)
{
	size_t n = 0;
	memset(rows, 0, PROFILE_ROWS * sizeof(*rows));
	rows[n++] = (struct profile_row){.algorithm = DA_GETMNT1, .rule = -1};
	rows[n++] = (struct profile_row){.algorithm = DA_GETMNT2, .rule = -1};
	rows[n++] = (struct profile_row){.algorithm = DA_GETMNT3, .rule = -1};
	for (int i = 0; i < DISCOVER_RULES_MAX && discover_rules[i].name; ++i) {
		if (discover_rules[i].algorithms & 1u << DA_GETMNT3)
			rows[n++] = (struct profile_row){.algorithm = DA_GETMNT3, .rule = i};
	}
	return n;
}

int profile_add(struct profile_row *row, const struct profile_times *times)
{
	if (!ARRAY_ROOM(row->times, row->ntimes, &row->room))
		return -1;
	row->times[row->ntimes++] = *times;
	return 0;
}

void profile_row_destroy(struct profile_row *row)
{
	free(row->times);
	row->times = NULL;
	row->ntimes = row->room = 0;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

double profile_median(double *values, size_t n)
{
	if (n == 0)
		return 0;
	qsort(values, n, sizeof(*values), compare);
	return n % 2 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

void profile_settle(struct profile_row *row)
{
	double real[PROFILE_TURNS + 1], discovery[PROFILE_TURNS + 1], both[PROFILE_TURNS + 1],
		user = 0, system = 0;
	size_t n = 0, from = row->ntimes > 1 && row->times[0].turn == 0 ? 1 : 0;
	for (size_t i = from; i < row->ntimes && n < PROFILE_TURNS + 1; ++i, ++n) {
		const struct profile_times *t = &row->times[i];
		real[n] = t->real;
		discovery[n] = t->discovery;
		both[n] = t->user + t->system;
		user += t->user;
		system += t->system;
	}
	double processor = profile_median(both, n),
	       share = user + system > 0 ? user / (user + system) : 0;
	row->median = (struct profile_times){
		.user = processor * share,
		.system = processor * (1 - share),
		.real = profile_median(real, n),   /* which sorts them */
		.discovery = profile_median(discovery, n),
	};
	row->spread = n > 1 ? real[n - 1 - n / 4] - real[n / 4] : 0;
}

uint64_t profile_calls(const struct profile_counts *counts, enum profile_kind kind)
{
	uint64_t sum = 0;
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		sum += profile_kind(call) == kind ? counts->calls[call] : 0;
	return sum;
}

uint64_t profile_total(const struct profile_counts *counts)
{
	uint64_t sum = 0;
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		sum += counts->calls[call];
	return sum;
}

/** SplitMix64, by Sebastiano Vigna. */
static uint64_t next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/** A number from 0 to n - 1, n above 0.  @state  Of the generator: any seed. */
static uint64_t random_below(uint64_t *state, uint64_t n)
{
	/* Each number as likely as another: those beyond the last whole n are not taken. */
	uint64_t end = UINT64_MAX - UINT64_MAX % n, value;
	do {
		value = next(state);
	} while (value >= end);
	return value % n;
}

void profile_order(uint64_t seed, unsigned turn, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; ++i)
		order[i] = turn == 0 && i < PROFILE_ALGORITHMS && n >= PROFILE_ALGORITHMS
		                   ? PROFILE_ALGORITHMS - 1 - i
		                   : i;
	uint64_t state = seed ^ (uint64_t)turn * UINT64_C(0xd1342543de82ef95);
	for (size_t i = n; turn && i > 1; --i) {
		size_t j = (size_t)random_below(&state, i), was = order[i - 1];
		order[i - 1] = order[j];
		order[j] = was;
	}
}

unsigned profile_loops(double one, double seconds)
{
	enum { MOST = 1000 };
	if (one <= 0 || seconds / one >= MOST)
		return MOST;
	return seconds / one < 1 ? 1 : (unsigned)(seconds / one);
}

unsigned profile_turns(double one, double seconds, unsigned least, unsigned most)
{
	double fit = one > 0 ? seconds / one : most;
	return fit <= least ? least : fit >= most ? most : (unsigned)fit;
}

const char *profile_figure_name(enum profile_figure figure)
{
	static const char *const names[] = {
		[PF_CALLS] = "calls", [PF_DIRS] = "dirs", [PF_ENTRIES] = "entries",
		[PF_REAL] = "real", [PF_USER] = "user", [PF_SYSTEM] = "system",
	};
	return figure < PF_NFIGURES ? names[figure] : "?";
}

double profile_figure(const struct profile_row *row, enum profile_figure figure)
{
	switch (figure) {
	case PF_CALLS:
		return (double)profile_total(&row->counts);
	case PF_DIRS:
		return (double)row->counts.dirs;
	case PF_ENTRIES:
		return (double)row->counts.entries;
	case PF_REAL:
		return row->median.real;
	case PF_USER:
		return row->median.user;
	case PF_SYSTEM:
		return row->median.system;
	case PF_NFIGURES:
		break;
	}
	return 0;
}

struct profile_ratio profile_ratio(const struct profile_row *above, const struct profile_row *below,
                                   enum profile_figure figure)
{
	struct profile_ratio none = {PR_NONE, 0}, ratio = {PR_IS, 0};
	double divisor = profile_figure(below, figure);
	if (above->state == PROFILE_NOT_RUN || below->state == PROFILE_NOT_RUN
	    || (above->state == PROFILE_STOPPED && below->state == PROFILE_STOPPED) || divisor <= 0)
		return none;
	ratio.value = profile_figure(above, figure) / divisor;
	if (above->state == PROFILE_STOPPED)
		ratio.how = PR_OVER;
	else if (below->state == PROFILE_STOPPED)
		ratio.how = PR_UNDER;
	return ratio;
}
