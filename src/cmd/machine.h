/* SPDX-License-Identifier: MIT */
/**
 * The machine of an fstab: its mounts, and what is read besides them (host/host.h).
 *
 *     machine_init() --> run_know() --> machine_know() --> fstab_plan()
 */
#ifndef GM_CMD_MACHINE_H
#define GM_CMD_MACHINE_H

#include "cmd/columns.h"
#include "cmd/listing.h"
#include "fstab/match.h"
#include "fstab/fstab.h"
#include "host/host.h"

struct audit_report;

struct fstab_machine {
	struct host host;         /* first: the argument of struct fstab_world is either */
	struct run run;
	struct options options;   /* of the run: names are found as getmnt discover does, within
	                             bounds */
	struct columns columns;
	struct host_swaps swaps;
	struct host_utab utab;
	bool no_swaps;            /* /proc/swaps could block, and was not read */
	struct strbuf root;       /* ROOT, as the table names it */
};

/** Begin the run, and what --stats counts of it.  run_know() comes next.
    @tab_file  A recorded mountinfo; NULL: what is mounted.  @stats  enum stats_form. */
void machine_init(struct fstab_machine *machine, const char *tab_file, int stats);

void machine_destroy(struct fstab_machine *machine);

/** Find ROOT, and read what is besides the mounts.  @root  As it was given.
    @swaps  A recorded /proc/swaps, or NULL: the system's, if the table is live.
    @return 0, or -1 after a message. */
int machine_know(struct fstab_machine *machine, const char *root, const char *swaps);

/** Whether memory ran out, so that something may be missing; prints why devices could not be
    listed, once. */
bool machine_failed(struct fstab_machine *machine);

/** The functions by which a plan asks. */
struct fstab_world machine_world(struct fstab_machine *machine);

/** The functions by which rules ask; of a recorded table all are NULL. */
struct fstab_facts machine_facts(struct host *host);

/** Print why a path of host_follow() dangles, if it does: a link that leads nowhere, or
    something on the way that is not a directory.  Leaves errno.  @return whether it does. */
bool machine_dangles(struct host *host, const char *path);

/** A merge of a plan into the lines of a file. */
struct machine_merge {
	struct host *host;
	const struct fstab_input *in;    /* of the plan */
	const struct audit_report *report;   /* of the file: for the caller's refused(); or NULL */
};

/** Its input, by which nothing is changed yet.  @merge  Outlives it. */
struct fstab_match_input machine_match_input(struct machine_merge *merge,
                                             const struct fstab_plan *plan,
                                             const struct tablines *file);

#endif
