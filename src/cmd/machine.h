/* SPDX-License-Identifier: MIT */
/**
 * The machine that an fstab is of: its mounts, as they are known, and what the plan of
 * one asks of it: devices, swap spaces, helpers, units, what mount(8) keeps.
 *
 *     machine_init() --> run_know() --> machine_know() --> fstab_plan()
 */
#ifndef GM_CMD_FSTAB_MACHINE_H
#define GM_CMD_FSTAB_MACHINE_H

#include "cmd/columns.h"
#include "cmd/facts.h"
#include "cmd/options.h"
#include "fstab/fstab.h"
#include "host/system.h"

struct fstab_machine {
	struct run run;
	struct options options;   /* of the run: names are found as getmnt discover does, within bounds */
	struct columns columns;
	struct host_system *system;
	char *swaps_text, *utab;
	struct fstab_swap *swaps;
	size_t nswaps;
	bool no_swaps;            /* /proc/swaps can block, and was not read */
	struct arena arena;
	struct kept {
		struct fstab_kept entry;
		uint32_t before;          /* the one before of this target, or MAP64_NONE */
	} *kept;
	size_t nkept;
	struct map64 kept_by;     /* hash of the target -> the last of these */
	struct facts facts;
	struct strbuf root;       /* ROOT, as the table names it */
};

/**
 * Begin the run, and what --stats counts of it.  run_know() comes next.
 *
 * @tab_file  A recorded mountinfo; NULL: what is mounted.
 * @stats     enum stats_form.
 */
void machine_init(struct fstab_machine *machine, const char *tab_file, int stats);

void machine_destroy(struct fstab_machine *machine);

/**
 * Find ROOT, and read what is beside the mounts.
 *
 * @root   As it was given.
 * @swaps  A recorded /proc/swaps, or NULL: of a live table the system's.
 * @return 0, or -1 after a message.
 */
int machine_know(struct fstab_machine *machine, const char *root, const char *swaps);

/** What a plan asks by. */
struct fstab_world machine_world(struct fstab_machine *machine);

#endif
