/* SPDX-License-Identifier: MIT */
/** getmnt fstab --merge: update an existing fstab. */
#ifndef GM_CMD_FSTAB_MERGE_H
#define GM_CMD_FSTAB_MERGE_H

#include "cmd/machine.h"
#include "cmd/putfile.h"
#include "fstab/edit/merge.h"

/** The options of --merge, and of --options=keep. */
struct merge_opts {
	bool merge, persistent, keep, explain;
	const char *file;              /* NULL: ROOT/etc/fstab */
	const char *base;              /* --base: name of a file with an earlier text of the fstab;
	                                  "none": no earlier text; NULL: the units that systemd
	                                  loaded */
	unsigned fix;                  /* enum fstab_fix */
	char **add;                    /* mount points and swap spaces of --add, with octal escapes
	                                  decoded */
	size_t nadd, add_room;
	struct put_options put;
};

/** Make a plan of the fstab lines for the mounts, and merge the plan into FILE; check, print or
    write the result, as the options request.
    @in [in,out]  All members except `file`, which this function sets while it runs.
    @plan [out]   Zeros at first; to be destroyed, also after an error.  Copies may be exchanged
                  with their origins.
    @return an exit status: enum put_exit. */
int merge_run(struct fstab_machine *machine, const struct merge_opts *opts,
              struct fstab_input *in, struct fstab_plan *plan);

/** Report the mounts for which a plan has no line because the system mounts them itself or the
    options exclude them.  If there are more than 100 such mounts for one reason, as a container
    engine can leave behind, report only the first and their number. */
void merge_explain(const struct fstab_plan *plan);

/** For --options=keep without --merge: give the lines of the plan the options that the lines of
    ROOT/etc/fstab have for the same mounts.
    @return 0, or an exit status after a message. */
int merge_keep(struct fstab_machine *machine, const struct merge_opts *opts,
               const struct fstab_input *in, struct fstab_plan *plan);

/** Report differences that a merge did not fix, and lines that the merge added again after their
    removal; with `explain`, also fixed lines.
    @return whether every mount of --add is mounted. */
bool merge_report(const char *file, const struct fstab_merged *merged, bool explain);

#endif
