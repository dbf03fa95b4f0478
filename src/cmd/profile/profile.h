/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt profile` share: the study, and how one row of it is run.
 */
#ifndef GM_CMD_PROFILE_H
#define GM_CMD_PROFILE_H

#include "cmd/cmd.h"
#include "cmd/profile/layers.h"
#include "profile/profile.h"

/** What was asked for. */
struct profile_asked {
	const char *path;
	const char *repeats_text, *seed_text, *max_text, *total_text;
	bool live, cold, json, layers, help;
	unsigned repeats;          /* 0: as many as there is time for */
	uint64_t seed;
	double max_time, total_time;
};

/* run.c */

/** How a row is to be run. */
struct profile_how {
	const char *root;          /* as --root= has it; NULL: "/" */
	double limit;              /* seconds for a run, and for all of a turn */
	unsigned loops;            /* runs, at least 1 */
	bool silent;               /* messages have been printed */
	enum profile_look look;
	int procfd;                /* for that: of /proc, or -1 */
	/** Called some times a second while it runs; may be NULL. */
	void (*progress)(void *arg, const struct profile_counts *counts, const char *where);
	void *arg;
};

/** What running a row in a turn has given. */
struct profile_turn {
	enum profile_state state;
	bool died;                 /* it is stopped, since its process has died */
	struct profile_counts counts;    /* of the first run */
	struct profile_times times;      /* of a run, the mean over those that were made */
	bool varies;               /* not all runs made the same calls */
	bool complete;             /* every mount was found */
	bool in_memory;            /* the root's file system is one that nothing can drop */
	char reason[160];          /* why it is not complete; "" */
	char fstype[32];           /* of the root */
	struct profile_looked looked;    /* if it was looked at */
};

/**
 * Run a row in a process of its own: as often as wanted `getmnt discover --names=walk
 * --threads=1` with its algorithm and rules, all but the printing.  What it takes is taken
 * there by clock and getrusage(2), its kernel calls are those of --stats.  The process is
 * killed if it does not end within the time.  One that dies by itself (killed for want of
 * memory) is stopped as well, after a message.
 *
 * @os  Of the caller; counts what the measuring takes, nothing of what is measured.
 * @turn [out]
 * @return 0, or an exit status: the root is none, or the table cannot be read; a message was
 *         printed.
 */
int profile_run_row(struct os *os, const struct profile_row *row, const struct profile_how *how,
                    struct profile_turn *turn);

/** Have the kernel forget what it read.  @return 0, or an exit status after a message. */
int profile_drop_caches(struct os *os);

/* profile.c: the study, for the forms that show it. */

struct profile_study {
	const struct profile_asked *asked;
	struct run *machine;       /* host, boot_id ... */
	struct profile_row *rows;
	size_t nrows;
	unsigned turns;            /* that were begun, the first included */
	bool died;                 /* the process of a run */
	bool known;                /* a run has told what is below it: */
	uint64_t mounts;           /* of the table */
	double seconds;            /* that all took */
	bool in_memory, complete, varies;
	char fstype[32];           /* of the root */
	char reason[160];          /* the first reason why a run was not complete */
	struct profile_layers *layers;   /* NULL: not asked for */
};

/* out.c: tables. */

struct libscols_table;
struct libscols_line;

/** A table that is being filled. */
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

/** Milliseconds, with as many digits as tell something. */
void sheet_time(struct sheet *s, const char *before, double seconds);

/** Print it, and be done with it.  @return 0, or -1. */
int sheet_end(struct sheet *s);

/** Print a study as tables.  @return 0, or -1 (ENOMEM). */
int profile_text(const struct profile_study *study);

/** Print it as a document.  @return 0, or -1 (ENOMEM). */
int profile_json(const struct profile_study *study);

#endif
