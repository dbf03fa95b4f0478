/* SPDX-License-Identifier: MIT */
/**
 * The study of what algorithms cost: which runs are made, in which order, and what is
 * made of what they took.  Pure: no kernel call, no clock.
 *
 * A row is an algorithm with its rules, as `getmnt --algorithm= --prune=` has it.  In a
 * turn each row is run once, in an order of its own; a run that takes little is made many
 * times in a turn, since clocks of a processor tick slowly.
 */
#ifndef GM_PROFILE_PROFILE_H
#define GM_PROFILE_PROFILE_H

#include "discover/discover.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** Kinds of call, as the tables have them; openat(2) is openat2(2) as well. */
enum profile_kind { PK_STATX, PK_OPENAT, PK_GETDENTS, PK_CLOSE, PK_OTHER, PK_NKINDS };

/** Of which kind a call is. */
enum profile_kind profile_kind(enum os_call call);

/** The name of a kind: "statx". */
const char *profile_kind_name(enum profile_kind kind);

/** What became of a row. */
enum profile_state {
	PROFILE_NOT_RUN,     /* there was no time left */
	PROFILE_STOPPED,     /* it took too long: what it has done until then is known */
	PROFILE_DONE,
};

/** The name of a state: "not run", "stopped", "done". */
const char *profile_state_name(enum profile_state state);

/** What a run has done: the same each time, as long as the tree is. */
struct profile_counts {
	uint64_t calls[OS_NCALLS];
	uint64_t dirs, entries;          /* read */
	uint64_t mounts, named, errors;  /* of the table; by search or test; unreadable */
};

/** What a run has taken, in seconds; the mean over those of a turn. */
struct profile_times {
	double user, system;       /* of a processor */
	double real;               /* by the clock */
	double discovery;          /* of real, from the table to the names */
	unsigned loops;            /* runs in this turn */
	unsigned turn;             /* 0: the first, which warms up */
};

/** The most turns. */
enum { PROFILE_TURNS = 1000 };

/** A row of the study. */
struct profile_row {
	enum discover_algorithm algorithm;
	int rule;                  /* switched off: of discover_rules[]; -1: none */
	enum profile_state state;
	struct profile_counts counts;    /* of the first run that was measured */
	bool varies;               /* another had other counts */
	bool died;                 /* the process of a run died: the first run's, if stopped */
	double limit;              /* seconds after which it was stopped */
	struct profile_times *times;     /* of those measured; the row's own */
	size_t ntimes, room;
	struct profile_times median;     /* by profile_settle() */
	double spread;             /* seconds between the quartiles of the real times */
};

/** The algorithms, which are the first rows; the most rows: each rule beside. */
enum { PROFILE_ALGORITHMS = 3, PROFILE_ROWS = PROFILE_ALGORITHMS + DISCOVER_RULES_MAX };

/** The name of an algorithm: "getmnt1". */
const char *profile_algorithm(enum discover_algorithm algorithm);

/**
 * Fill in the rows of a study: getmnt1, getmnt2, getmnt3, and getmnt3 without each of
 * the rules that it has on.
 *
 * @rows [out]  PROFILE_ROWS of them.
 * @return their number.
 */
size_t profile_rows(struct profile_row *rows);

/** Add what was measured to a row.  @return 0, or -1 (ENOMEM). */
int profile_add(struct profile_row *row, const struct profile_times *times);

/**
 * Make the medians of a row.  The first turn counts only if there is no other.
 *
 * User and system time are the median of both together, divided as they were over all
 * turns: the kernel knows exactly how long a process ran, but tells these two apart by
 * what it was doing when the clock ticked.
 */
void profile_settle(struct profile_row *row);

/** Free what a row has. */
void profile_row_destroy(struct profile_row *row);

/** The sum of calls, and of those of a kind. */
uint64_t profile_total(const struct profile_counts *counts);
uint64_t profile_calls(const struct profile_counts *counts, enum profile_kind kind);

/** The median, which is the mean of the two in the middle; 0 of none.  Sorts. */
double profile_median(double *values, size_t n);

/**
 * The order of a turn: a shuffle of 0 to n - 1, the same for the same seed and turn.
 * The first turn has the algorithms before the rules, and what takes least first, so that a time
 * that does not suffice is spent on what tells most.
 */
void profile_order(uint64_t seed, unsigned turn, size_t *order, size_t n);

/** How many times a row is to be run in a turn so that it takes about a time.
    @one  What a run takes, in seconds. */
unsigned profile_loops(double one, double seconds);

/** How many turns fit into a time: from least to most. */
unsigned profile_turns(double one, double seconds, unsigned least, unsigned most);

/** A ratio, as far as it is known. */
struct profile_ratio {
	enum { PR_NONE, PR_IS, PR_OVER, PR_UNDER } how;
	double value;
};

/** How much of it there is. */
enum profile_figure { PF_CALLS, PF_DIRS, PF_ENTRIES, PF_REAL, PF_USER, PF_SYSTEM, PF_NFIGURES };

/** The name of a figure: "calls". */
const char *profile_figure_name(enum profile_figure figure);

/** A figure of a row. */
double profile_figure(const struct profile_row *row, enum profile_figure figure);

/** The ratio of two rows: over where the first was stopped, under where the second was. */
struct profile_ratio profile_ratio(const struct profile_row *above, const struct profile_row *below,
                                   enum profile_figure figure);

#endif
