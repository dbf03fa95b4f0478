/* SPDX-License-Identifier: MIT */
/**
 * The machine that an fstab belongs to: its mounts, and the other data that host/host.h reads.
 *
 *     machine_init() --> run_know() --> machine_know() --> fstab_plan()
 */
#ifndef GM_CMD_MACHINE_H
#define GM_CMD_MACHINE_H

#include "audit/rules.h"
#include "cmd/run.h"
#include "fstab/fstab.h"
#include "host/host.h"

struct fstab_machine {
	struct host host;
	struct run run;
	struct input_opts input;  /* input of `run` */
	struct host_swaps swaps;
	struct host_utab utab;
	bool no_swaps;            /* /proc/swaps could block and was not read */
	struct strbuf root;       /* root directory of the system to examine, as a path in the mount
	                             table */
};

/** Initialize `machine`, and start counting for --stats.  Call run_know() next.
    @tab_file  A recorded mountinfo; NULL: the live mounts. */
void machine_init(struct fstab_machine *machine, const char *tab_file);

void machine_destroy(struct fstab_machine *machine);

/** Resolve ROOT, the root directory of the system to examine, and read the remaining data of the
    machine.
    @root  ROOT as given by the user.
    @swaps  A recorded /proc/swaps; NULL: read /proc/swaps if the mount table is live.
    @return 0, or -1 after a message. */
int machine_know(struct fstab_machine *machine, const char *root, const char *swaps);

/** Whether memory ran out, so that results may be missing.  Also reports once if devices could
    not be listed. */
bool machine_failed(struct fstab_machine *machine);

/** The functions with which plans and rules read the machine.  If the mount table is recorded, most
    of these members are NULL. */
struct fstab_facts machine_facts(struct fstab_machine *machine);

/** Get the facts about the machine that explain why rules were not checked.  The caller sets the
    members about the options of an audit, and `foreign`. */
struct audit_situation machine_situation(struct fstab_machine *machine);

/** Report a dangling path after host_follow(): a symlink without a target, or a component that
    is not a directory.  Preserves errno.  @return whether the path dangles. */
bool machine_dangles(struct host *host, const char *path);

#endif
