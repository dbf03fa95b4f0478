/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt profile` share: the study, and how a row of it is run.
 */
#ifndef GM_CMD_PROFILE_H
#define GM_CMD_PROFILE_H

#include "cmd/cmd.h"
#include "cmd/profile/layers.h"
#include "profile/profile.h"

/** The options. */
struct profile_opts {
	const char *path;
	const char *repeats_text, *seed_text;
	bool live, cold, json, layers, help;
	unsigned repeats;          /* 0: as time permits */
	uint64_t seed;
	double max_time, total_time;
};

/* run.c */

/** How to run a row. */
struct profile_how {
	const char *root;          /* as --root= has it; NULL: "/" */
	double limit;              /* seconds for a run, and for a turn */
	unsigned loops;            /* the number of runs, at least 1 */
	bool silent;               /* print no messages */
	enum profile_look look;
	int procfd;                /* /proc, or -1 */
	/** Called several times a second while it runs; may be NULL. */
	void (*progress)(void *arg, const struct profile_counts *counts, const char *where);
	void *arg;
};

/** The result of a turn of a row. */
struct profile_turn {
	enum profile_state state;
	bool died;                 /* it is stopped because its process died */
	struct profile_counts counts;    /* of the first run */
	struct profile_times times;      /* the mean over the runs */
	bool varies;               /* the runs made different calls */
	bool complete;             /* every mount was found */
	bool in_memory;            /* the root's file system has no caches to drop */
	char reason[160];          /* why it is not complete, or "" */
	char fstype[32];           /* of the root */
	struct profile_looked looked;    /* if it was observed */
};

/**
 * Run a row in a separate process: `getmnt discover --names=walk --threads=1` with its algorithm
 * and rules, without printing, as often as requested.  Times are taken there by a clock and
 * getrusage(2); the system calls are those of --stats.  The process is killed at the time limit.
 * If it dies by itself (out of memory), the row is stopped as well, after a message.
 *
 * @os  The caller's; counts the calls of measuring, not the measured ones.
 * @turn [out]
 * @return 0, or an exit status after a message: the root is not a directory, or the table cannot
 *         be read.
 */
int profile_run_row(struct os *os, const struct profile_row *row, const struct profile_how *how,
                    struct profile_turn *turn);

/** Drop the caches of the kernel.  @return 0, or an exit status after a message. */
int profile_drop_caches(struct os *os);

/* profile.c: the study, for the output formats. */

struct profile_study {
	const struct profile_opts *opts;
	struct run *machine;       /* host, boot_id ... */
	struct profile_row *rows;
	size_t nrows;
	unsigned turns;            /* turns begun, with the first */
	bool died;                 /* the process of a run died */
	bool known;                /* a run reported what follows: */
	uint64_t mounts;           /* of the table */
	double seconds;            /* of the whole study */
	bool in_memory, complete, varies;
	char fstype[32];           /* of the root */
	char reason[160];          /* the first reason why a run was not complete */
	struct profile_layers *layers;   /* NULL: not requested */
};

/* out.c: tables. */

struct libscols_table;
struct libscols_line;

/** A table being filled. */
struct sheet {
	struct libscols_table *table;
	struct libscols_line *line;
	size_t column;
	bool failed;
};

void sheet_begin(struct sheet *s);

void sheet_column(struct sheet *s, const char *name, bool number);

void sheet_row(struct sheet *s);

__attribute__((format(printf, 2, 3)))
void sheet_cell(struct sheet *s, const char *format, ...);

/** Milliseconds, with the significant digits. */
void sheet_time(struct sheet *s, const char *before, double seconds);

/** Print and free it.  @return 0, or -1. */
int sheet_end(struct sheet *s);

/** Print a study as tables.  @return 0, or -1 (ENOMEM). */
int profile_text(const struct profile_study *study);

/** Print it as a document.  @return 0, or -1 (ENOMEM). */
int profile_json(const struct profile_study *study);

#endif
