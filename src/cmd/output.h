/* SPDX-License-Identifier: MIT */
/**
 * The forms of output, and the reports on how a run went.
 */
#ifndef GM_CMD_OUTPUT_H
#define GM_CMD_OUTPUT_H

#include "cmd/columns.h"
#include "cmd/view.h"

#include <stdio.h>

/** Print as a tree, a list, raw, pairs or JSON, by libsmartcols.
    @return 0, or -1.  Errors: ENOMEM. */
int out_scols(struct run *run, const struct view *view);

/** Print as mtab, fstab, setmnt, dot or jsonl.  @return 0, or -1. */
int out_text(struct run *run, const struct view *view);

/** Read what tells this machine and namespace: host, boot_id, mntns. */
void machine_read(struct run *run);

/** Append `"schema": 1, ... "incomplete_reasons": []`: what heads every JSON
    document of a run, without braces. */
void json_head(struct run *run, struct strbuf *out);

/** Print --stats on stderr. */
void stats_print(struct run *run);

/** Print --explain. */
void explain_print(const struct run *run, FILE *out);

/** Append the rules as a JSON array. */
void explain_json(const struct run *run, struct strbuf *out);

typedef void progress_fn(const struct discover_progress *progress, void *arg);

/** Get ready to show progress on stderr, if that is a terminal.
    @return the function for struct discover_opts, or NULL. */
progress_fn *progress_begin(struct run *run);

/** Clear the line of progress, if there is one. */
void progress_end(void);

/** Print --version. */
void version_print(const struct os *os);

#endif
