/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt recover` share.
 */
#ifndef GM_CMD_RECOVER_H
#define GM_CMD_RECOVER_H

#include "cmd/cmd.h"
#include "cmd/putfile.h"
#include "host/host.h"
#include "recover/recover.h"

/* Where a link leads: link.c */

/**
 * Whether a name is, or links say that it is, one of the kernel's table.
 *
 * Only links are read, and none by a directory that is itself a link.
 *
 * @file    Its name, its root, and how it may be touched.
 * @first [out]  PATH_MAX bytes: what the first link says; "" if the name is none.
 * @return 1 the table in the format of an mtab, -1 another file of /proc, 0 neither.
 */
int recover_link(struct os *os, const struct replace_name *file, char first[]);

/* Confirmation of hints: hints.c */

/** What confirms hints; read when the first hint is met. */
struct hints {
	struct run *run;
	struct os *os;                /* reads the files */
	const char *root;             /* of the fstab and passwd; NULL: none is read */
	bool has_utab;                /* this system's utab belongs to the table */
	bool is_read, failed;
	char *passwd, *fstab_text;
	struct tablines *fstab;
	struct host_utab utab;
};

void hints_init(struct hints *hints, struct run *run, struct os *os, const char *root,
                bool has_utab);
void hints_destroy(struct hints *hints);

/** Whether something confirms that a mount has an option: for struct rec_input.  Sets failed when
    memory runs out. */
bool hint_confirmed(void *hints, const struct rec_row *row, const char *option);

/* The report: out.c */

struct recover_report {
	struct run *run;
	const char *name;             /* of the file, for people */
	const char *link;             /* where it leads, if it is a link; or NULL */
	enum rec_format format;
	bool all;                     /* tell of lines that are right as well */
	const struct rec_input *in;   /* NULL: a link that is right, or not */
	const struct rec_judgement *judgement;
	bool right;
};

/** Print a line for each finding.  @return 0, or -1 (ENOMEM). */
int recover_text(const struct recover_report *report);

/** Print a document with all of them.  @return 0, or -1 (ENOMEM). */
int recover_json(const struct recover_report *report);

#endif
