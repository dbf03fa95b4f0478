/* SPDX-License-Identifier: MIT */
/**
 * The study of the cost of algorithms: the runs, their order, and the medians and ratios of the
 * measurements.  Pure: no kernel call, no clock.
 *
 * A row is an algorithm with a set of rules, as `getmnt --algorithm= --prune=` selects them.  In
 * each turn every row is run once, in a new order; a short run is made many times in a turn, since
 * the clocks of processor time tick slowly.
 */
#ifndef GM_PROFILE_PROFILE_H
#define GM_PROFILE_PROFILE_H

#include "discover/discover.h"
#include "os/os.h"

enum {
	PROFILE_TURNS = 1000,      /* maximum number of turns */
	PROFILE_ALGORITHMS = 3,    /* the first rows; one for each rule follows */
	PROFILE_ROWS = PROFILE_ALGORITHMS + DISCOVER_RULES_MAX,
};

enum profile_state {
	PROFILE_NOT_RUN,     /* no time was left */
	PROFILE_STOPPED,     /* it took too long; its counts until then are known */
	PROFILE_DONE,
};

/** The counts of a run; equal in all runs unless the tree changes. */
struct profile_counts {
	uint64_t calls[OS_NCALLS];
	uint64_t dirs, entries;          /* read */
	uint64_t mounts, named, errors;  /* of the table; by the search; unreadable directories */
};

/** Seconds that a run took: the mean of the runs of a turn. */
struct profile_times {
	double user, system;       /* processor time */
	double real;
	double discovery;          /* of real, from the table to the names */
	unsigned loops;            /* runs in this turn */
	unsigned turn;             /* 0: the first, which warms the caches */
};

struct profile_row {
	const char *name;          /* of the algorithm, or of the rule that is off */
	enum discover_algorithm algorithm;
	int rule;                  /* index in discover_rules of the rule that is off; -1: none */
	enum profile_state state;
	struct profile_counts counts;    /* of the first measured run */
	bool varies;               /* a later run had different counts */
	bool died;                 /* the process of a run died: the first run's, if stopped */
	double limit;              /* seconds after which it was stopped */
	struct profile_times *times;     /* of each turn: a list in an arena, see ARENA_PUSH() */
	size_t ntimes;
	struct profile_times median;     /* by profile_settle() */
	double spread;             /* seconds between the quartiles of the real times */
};

/** Fill in the rows of a study: getmnt1, getmnt2, getmnt3, and getmnt3 without each of its rules.
    @rows [out]  PROFILE_ROWS of them.
    @return their number. */
size_t profile_rows(struct profile_row *rows);

/**
 * Compute the medians of a row.  The first turn counts only if there is no other.
 *
 * User and system time are the median of their sum, divided by their shares in all turns: the
 * kernel measures the sum exactly, but each part only by sampling at clock ticks.
 */
void profile_settle(struct profile_row *row);

/** The order of the rows in a turn: a permutation of 0 to n - 1, which depends on seed and turn
    only.  The first turn begins with the algorithms, the cheapest first, so that a short time is
    spent on the most important rows. */
void profile_order(uint64_t seed, unsigned turn, size_t *order, size_t n);

/** How many times `one` seconds fit into a time; between least and most. */
unsigned profile_fit(double one, double seconds, unsigned least, unsigned most);

/** The figures of a row: calls by kind (OPENAT includes openat2), their sum, and others. */
enum profile_figure {
	PF_STATX, PF_OPENAT, PF_GETDENTS, PF_CLOSE, PF_OTHER,
	PF_CALLS, PF_DIRS, PF_ENTRIES, PF_USER, PF_SYSTEM, PF_REAL,
	PF_NFIGURES
};

/** The names of the figures, in capitals. */
extern const char *const profile_figures[PF_NFIGURES];

/** A figure of a row; times are medians. */
double profile_figure(const struct profile_row *row, enum profile_figure figure);

/** A ratio of two rows; a stopped row makes it a bound. */
struct profile_ratio {
	enum { PR_NONE, PR_IS, PR_OVER, PR_UNDER } how;
	double value;
};

struct profile_ratio profile_ratio(const struct profile_row *above, const struct profile_row *below,
                                   enum profile_figure figure);

/** The rows that are compared by ratios. */
enum { PROFILE_PAIRS = 3 };
extern const unsigned char profile_pairs[PROFILE_PAIRS][2];

#endif
