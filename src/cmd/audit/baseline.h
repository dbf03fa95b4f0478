/* SPDX-License-Identifier: MIT */
/**
 * --baseline and --save of `getmnt audit`.
 *
 *     audit_base_read() --> audit_base_judge() --> audit_base_findings() --> audit_base_text()
 *        the old file          BASE-*                 which are new            the new file
 *
 * The file is JSON lines: a head with the key getmnt_baseline, the version of the format; the
 * mounts, swap spaces and findings, sorted; and an end with the number of lines above it, so that a
 * truncated file is recognized.  Empty strings are left out; unknown keys are ignored.  In names a
 * backslash, control characters and invalid UTF-8 are \ooo.
 */
#ifndef GM_CMD_AUDIT_BASELINE_H
#define GM_CMD_AUDIT_BASELINE_H

#include "audit/baseline.h"
#include "cmd/audit/audit.h"
#include "cmd/machine.h"

struct audit_base_run {
	const char *baseline, *save;   /* names of files, or NULL */
	bool compared;                 /* old was read, and is of this host and root */
	struct audit_baseline old, now;
	struct audit_base_counts counts;
};

/** @include  Names of owners; NULL ends them. */
void audit_base_init(struct audit_base_run *base, const char *baseline, const char *save,
                     const char *const *include);
void audit_base_destroy(struct audit_base_run *base);

/** Read the old file, and check that the new one may be written.
    @machine  After machine_know().
    @return 0, or -1 after a message. */
int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine);

/** Collect what is mounted, and report what differs.  @return 0, or -1 (ENOMEM). */
int audit_base_judge(struct audit_base_run *base, const struct fstab_plan *plan,
                     const struct fstab_world *world, const struct tablines *lines, long uptime,
                     struct audit_report *report);

/** Collect the findings, and mark which are new.  @return 0, or -1 (ENOMEM). */
int audit_base_findings(struct audit_base_run *base, const struct audit_set *rules,
                        struct audit_report *report);

/** Append the file that --save writes.  @return 0, or -1 after a message: nothing is saved. */
int audit_base_text(struct audit_base_run *base, const struct audit_reported *reported,
                    struct strbuf *out);

/* The format; pure. */

void audit_base_write(const struct audit_baseline *baseline, struct strbuf *out);

/**
 * Read the text of a file.
 *
 * @baseline  From audit_baseline_init().
 * @line, why [out]  For EBADMSG: which line is wrong, and why.
 * @return 0, or -1.  Errors: EBADMSG; ENOMEM.
 */
int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line,
                     struct strbuf *why);

#endif
