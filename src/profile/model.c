/* SPDX-License-Identifier: MIT */
#include "profile/profile.h"

#include "base/array.h"

const char *const profile_figures[PF_NFIGURES] = {
	[PF_STATX] = "STATX", [PF_OPENAT] = "OPENAT", [PF_GETDENTS] = "GETDENTS",
	[PF_CLOSE] = "CLOSE", [PF_OTHER] = "OTHER",   [PF_CALLS] = "CALLS",
	[PF_DIRS] = "DIRS",   [PF_ENTRIES] = "ENTRIES", [PF_USER] = "USER",
	[PF_SYSTEM] = "SYSTEM", [PF_REAL] = "REAL",
};

const unsigned char profile_pairs[PROFILE_PAIRS][2] = {{0, 1}, {1, 2}, {0, 2}};

size_t profile_rows(struct profile_row *rows)
{
	size_t n = PROFILE_ALGORITHMS;
	memset(rows, 0, PROFILE_ROWS * sizeof(*rows));
	rows[0] = (struct profile_row){"getmnt1", DA_GETMNT1, .rule = -1};
	rows[1] = (struct profile_row){"getmnt2", DA_GETMNT2, .rule = -1};
	rows[2] = (struct profile_row){"getmnt3", DA_GETMNT3, .rule = -1};
	for (int i = 0; i < DISCOVER_RULES_MAX && discover_rules[i].name; ++i) {
		const struct discover_rule_row *rule = &discover_rules[i];
		if (rule->algorithms & 1u << DA_GETMNT3)
			rows[n++] = (struct profile_row){rule->name, DA_GETMNT3, .rule = i};
	}
	return n;
}

void profile_settle(struct profile_row *row)
{
	double real[PROFILE_TURNS + 1], discovery[PROFILE_TURNS + 1], both[PROFILE_TURNS + 1];
	double user = 0, system = 0;
	size_t n = 0, from = row->ntimes > 1 && row->times[0].turn == 0 ? 1 : 0;
	for (size_t i = from; i < row->ntimes && n < PROFILE_TURNS + 1; ++i, ++n) {
		const struct profile_times *t = &row->times[i];
		real[n] = t->real;
		discovery[n] = t->discovery;
		both[n] = t->user + t->system;
		user += t->user;
		system += t->system;
	}
	double processor = median(both, n);
	double share = user + system > 0 ? user / (user + system) : 0;
	row->median = (struct profile_times){
		.user = processor * share,
		.system = processor * (1 - share),
		.real = median(real, n),   /* which sorts them */
		.discovery = median(discovery, n),
	};
	row->spread = n > 1 ? real[n - 1 - n / 4] - real[n / 4] : 0;
}

/** SplitMix64, by Sebastiano Vigna. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

void profile_order(uint64_t seed, unsigned turn, size_t *order, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		bool first = turn == 0 && i < PROFILE_ALGORITHMS && n >= PROFILE_ALGORITHMS;
		order[i] = first ? PROFILE_ALGORITHMS - 1 - i : i;
	}
	uint64_t state = seed ^ (uint64_t)turn * UINT64_C(0xd1342543de82ef95);
	for (size_t i = n; turn && i > 1; --i) {
		size_t j = random_next(&state) % i, was = order[i - 1];
		order[i - 1] = order[j];
		order[j] = was;
	}
}

unsigned profile_fit(double one, double seconds, unsigned least, unsigned most)
{
	double fit = one > 0 ? seconds / one : most;
	return fit <= least ? least : fit >= most ? most : (unsigned)fit;
}

/** The figure that counts a call. */
static enum profile_figure kind_of(enum os_call call)
{
	return call == OS_STATX                          ? PF_STATX
	       : call == OS_OPENAT || call == OS_OPENAT2 ? PF_OPENAT
	       : call == OS_GETDENTS                     ? PF_GETDENTS
	       : call == OS_CLOSE                        ? PF_CLOSE : PF_OTHER;
}

double profile_figure(const struct profile_row *row, enum profile_figure figure)
{
	const double others[] = {
		[PF_DIRS] = (double)row->counts.dirs, [PF_ENTRIES] = (double)row->counts.entries,
		[PF_USER] = row->median.user, [PF_SYSTEM] = row->median.system,
		[PF_REAL] = row->median.real,
	};
	uint64_t sum = 0;
	if (figure >= PF_DIRS)
		return others[figure];
	for (enum os_call call = 0; call < OS_NCALLS; ++call) {
		if (figure == PF_CALLS || figure == kind_of(call))
			sum += row->counts.calls[call];
	}
	return (double)sum;
}

struct profile_ratio profile_ratio(const struct profile_row *above, const struct profile_row *below,
                                   enum profile_figure figure)
{
	struct profile_ratio ratio = {PR_NONE, 0};
	double divisor = profile_figure(below, figure);
	if (above->state == PROFILE_NOT_RUN || below->state == PROFILE_NOT_RUN
	    || (above->state == PROFILE_STOPPED && below->state == PROFILE_STOPPED) || divisor <= 0)
		return ratio;
	ratio.value = profile_figure(above, figure) / divisor;
	ratio.how = above->state == PROFILE_STOPPED   ? PR_OVER
	            : below->state == PROFILE_STOPPED ? PR_UNDER : PR_IS;
	return ratio;
}
