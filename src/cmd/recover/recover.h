/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of `getmnt recover`.
 */
#ifndef GM_CMD_RECOVER_H
#define GM_CMD_RECOVER_H

#include "cmd/run.h"
#include "cmd/putfile.h"
#include "fstab/entry.h"
#include "host/host.h"
#include "recover/recover.h"

/* The target of a link: link.c */

/** Whether FILE is the kernel's mount table, or leads to it by symlinks.  Only symlinks are read,
    and directories that are symlinks are not followed.
    @file  Name, root, and how the file may be accessed.
    @first [out]  PATH_MAX bytes: the target, if FILE is a symlink; else "".
    @return 1: the table in the format of an mtab; -1: another file of /proc; 0: neither. */
int recover_link(struct os *os, const struct replace_name *file, char first[]);

struct recover_opts {
	struct put_options put;
	bool help, json, print, all, file_given;
	int format;               /* enum rec_format */
	bool format_named;        /* only the name of FILE suggests the format */
	int keep;                 /* enum rec_keep */
	int names;                /* enum discover_names; -1: not given */
	int stats;                /* enum stats_form */
	const char *tab_file, *root, *file;
};

/** The files that can confirm the hints of an mtab (options that the kernel does not know); read
    when the first hint is found. */
struct hints {
	bool is_read, failed;
	char *passwd, *fstab_text;
	struct fstab_file *fstab;
	struct host_utab utab;
};

/** The state of a run of getmnt recover. */
struct recovery {
	const struct recover_opts *opts;
	struct run run;
	struct os files;          /* counts the calls that read FILE if the table is recorded */
	struct os *os;            /* &run.os or &files */
	struct strbuf name;       /* name of the file for messages, with the root before it */
	struct rec_row *rows;
	size_t nameless;          /* number of mounts without a name */
	struct put *put;
	struct tablines *lines;
	struct hints hints;
	struct rec_input in;
	struct rec_result result;
	struct strbuf made;       /* the rebuilt text of FILE */
	const char *link;         /* target of FILE, if FILE is a symlink; or NULL */
	bool right;               /* FILE is correct */
};

/* Confirmation of hints: hints.c */

/** Keep the hints of r->result that a source other than FILE confirms.  Sets hints.failed on
    ENOMEM. */
void hints_confirm(struct recovery *recovery);

/* The report: out.c */

/** Print a line for each finding.  @return 0, or -1 (ENOMEM). */
__attribute__((warn_unused_result))
int recover_text(const struct recovery *r);

/** Print a JSON document; without findings if FILE is a file of /proc or a symlink to such a file.
    @return 0, or -1 (ENOMEM). */
__attribute__((warn_unused_result))
int recover_json(const struct recovery *r);

#endif
