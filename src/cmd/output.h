/* SPDX-License-Identifier: MIT */
/**
 * The forms of output, and the reports on how a run went.
 */
#ifndef GM_CMD_OUTPUT_H
#define GM_CMD_OUTPUT_H

#include "cmd/columns.h"
#include "cmd/view.h"

#include <stdio.h>

/** The columns of a list that is printed piece by piece. */
struct out_widths {
	bool begun;            /* the header has been printed */
	uint16_t of[128];      /* as in struct columns */
};

enum { OUT_WIDTH_MAX = 40 };

/**
 * Print as a tree, a list, raw, pairs or JSON, by libsmartcols.
 *
 * @widths  Of a list that goes on: what is printed now stands below what was
 *          printed before.  NULL: it is the whole.
 * @return 0, or -1.  Errors: ENOMEM.
 */
int out_scols(struct run *run, const struct view *view, struct out_widths *widths);

struct libscols_table;

/** Print a table as JSON, with what is to be said beside its rows.
    @return 0, or -1.  Errors: ENOMEM. */
int out_document(struct libscols_table *table, struct run *run);

/** Print a table.  libsmartcols reports success when it leaves text out for want of memory.
    @return 0, or -1.  Errors: ENOMEM. */
int print_table(struct libscols_table *table);

/** Print as mtab, fstab, setmnt, dot or jsonl.  @return 0, or -1. */
int out_text(struct run *run, const struct view *view);

/** Read what tells this machine and namespace: host, boot_id, mntns; what
    cannot be read stays unknown.  @return 0, or -1 (ENOMEM). */
int machine_read(struct run *run);

/** Write the members that every JSON document of a run has: schema, version, host ...
    incomplete_reasons. */
void json_head(const struct run *run, struct json *json);

/** Print the number of kernel calls of each kind on stderr, or write the members "calls"
    and "total_calls". */
void stats_calls_text(const struct os *os);
void stats_calls_json(const struct os *os, struct json *json);

/** Print --stats on stderr. */
void stats_print(struct run *run);

/** Print --explain. */
void explain_print(const struct run *run, FILE *out);

/** Write the member "rules". */
void explain_json(const struct run *run, struct json *json);

typedef void progress_fn(const struct discover_progress *progress, void *arg);

/** Get ready to show progress on stderr, if that is a terminal; else to end by
    SIGPIPE when nobody reads any more.
    @return the function for struct discover_opts, or NULL. */
progress_fn *progress_begin(struct run *run);

/** Get ready to show a line of progress.  @return whether it may be shown: both
    stdout and stderr are a terminal; then signals clear it. */
bool progress_open(void);

/** How many columns a terminal has; 80 where that is not known. */
int terminal_width(int fd);

/** Show a line, as wide as the terminal: a head, and a path. */
void progress_line(const char *head, const char *where);

/** Where none may be shown: end as by the first byte that would be written, if
    nobody reads any more.  Of a client that went away nothing must be left that
    searches on. */
void progress_reader(struct os *os);

/** Clear the line of progress, if there is one. */
void progress_end(void);

/** Print --version. */
void version_print(const struct os *os);

#endif
