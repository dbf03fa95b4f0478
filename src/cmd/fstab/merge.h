/* SPDX-License-Identifier: MIT */
/**
 * getmnt fstab --merge: the fstab that is there, put right.
 */
#ifndef GM_CMD_FSTAB_MERGE_H
#define GM_CMD_FSTAB_MERGE_H

#include "cmd/cmd.h"
#include "cmd/machine.h"
#include "cmd/putfile.h"

/** The options of --merge, and of --options=keep. */
struct merge_opts {
	bool merge, persistent, keep;
	const char *file;              /* NULL: ROOT/etc/fstab */
	const char *base;              /* NULL: what systemd has loaded; "none" */
	unsigned fix;                  /* enum fstab_fix */
	char **add;                    /* decoded */
	size_t nadd;
	struct put_options put;
};

/** The rows of these options, without PUT_ROWS, in the order of the alphabet. */
#define MERGE_ROW_ADD {"add", 0, "MOUNT,...", "lines for these mounts; persistent: for all"}
#define MERGE_ROW_BASE {"base", 0, "FILE|none", "the fstab loaded by systemd; later edits are kept"}
#define MERGE_ROW_FIX {"fix", 0, "WHAT,...", "change lines: source, options, pass, order, damaged"}
#define MERGE_ROW_MERGE {"merge", 0, "[FILE]", "merge into ROOT/etc/fstab or FILE"}

/** Take one of these options.  @return 0, or an exit status after a message. */
int merge_option(struct merge_opts *opts, const char *name, const char *value);

/** Check combinations of options.  @return 0, or an exit status after a message. */
int merge_check_options(const struct merge_opts *opts, bool recorded);

void merge_opts_destroy(struct merge_opts *opts);

/** Merge a plan into the file, and check, print or write the result.
    @return an exit status: enum put_exit. */
int merge_run(struct fstab_machine *machine, const struct merge_opts *opts,
              const struct fstab_input *in,
              const struct fstab_plan *plan, bool explain);

/** --options=keep without a file to merge into: give the plan the options of ROOT/etc/fstab.
    @return 0, or an exit status after a message. */
int merge_keep(struct fstab_machine *machine, const struct merge_opts *opts,
               const struct fstab_input *in,
               struct fstab_plan *plan);

#endif
