/* SPDX-License-Identifier: MIT */
/**
 * --baseline and --save of `getmnt audit`: the file, and what is done with it.
 *
 *     audit_base_read() --> audit_base_judge() --> audit_base_age() --> audit_base_text()
 *        the file              BASE-*                which are new         the next file
 *
 * The file is lines of JSON, each an object: a head with the key getmnt_baseline, which is
 * the version of the form; one for each mount, swap space and finding; and an end with the
 * number of lines above it and their SHA-256, so that what was cut or changed is seen.  What
 * is none is left out of an object; keys that are not known are passed over.  In names a
 * backslash, and what would harm a terminal or is no UTF-8, is \ooo.
 */
#ifndef GM_CMD_AUDIT_BASELINE_H
#define GM_CMD_AUDIT_BASELINE_H

#include "audit/baseline.h"
#include "cmd/audit/audit.h"
#include "cmd/machine.h"

/** What --baseline and --save work on. */
struct audit_base_run {
	const char *baseline, *save;   /* names of files, or NULL */
	uint64_t include;              /* set of owners that were asked for */
	bool compared;                 /* old was read, and is of here */
	struct audit_baseline old, now;
	size_t fresh, gone;            /* findings, against old */
};

void audit_base_init(struct audit_base_run *base);
void audit_base_destroy(struct audit_base_run *base);

/**
 * Read the baseline, and see that it is of this host and root; see that the file to be saved
 * is a baseline, empty, or not there.
 *
 * @machine  After machine_know().
 * @return 0, or -1 after a message: FILE:LINE and why, where the file is damaged.
 */
int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine);

/**
 * Take down what there is, and tell what is otherwise; nothing without --baseline and --save.
 *
 * @in      Its functions for secrets are set here.
 * @uptime  As in audit_baseline_compare().
 * @return 0, or -1.  Errors: ENOMEM.
 */
int audit_base_judge(struct audit_base_run *base, struct audit_base_input *in, long uptime, struct audit_report *report);

/** Mark findings that are new.  @rules: those that are on.  @return 0, or -1 (ENOMEM). */
int audit_base_age(struct audit_base_run *base, uint64_t rules, struct audit_report *report);

/**
 * Append the file that --save is to write.
 *
 * @return 0, or -1 after a message: not all is known, and nothing is to be saved.
 */
int audit_base_text(struct audit_base_run *base, const struct audit_told_run *told, struct strbuf *out);

/* The form; pure. */

/** Append a baseline as a file has it. */
void audit_base_write(const struct audit_baseline *baseline, struct strbuf *out);

/** Append the last line of it: the number of the lines from begin on, and their sum. */
void audit_base_end(struct strbuf *out, size_t begin);

/**
 * Read the text of a file.
 *
 * @baseline  From audit_baseline_init().
 * @line, why [out]  Of EBADMSG: what is wrong, and where.
 * @return 0, or -1.  Errors: EBADMSG; ENOMEM.
 */
int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line, struct strbuf *why);

#endif
