/* SPDX-License-Identifier: MIT */
/**
 * A file that a command checks and corrects: put_open() reads it, the command creates the new
 * text, and put_finish() compares, confirms and replaces the file, unless it has changed since
 * it was read; see path/replace.h.
 */
#ifndef GM_CMD_PUTFILE_H
#define GM_CMD_PUTFILE_H

#include "cmd/linediff.h"
#include "base/strbuf.h"
#include "cmd/options.h"
#include "os/os.h"
#include "path/replace.h"

/** Exit statuses of recover and of fstab --merge. */
enum put_exit {
	PX_OK = 0,           /* correct, or fixed */
	PX_DIFFERENT = 1,    /* differences were found, and nothing was written */
	PX_NOT_CHECKED = 2,     /* usage error, or the file could not be read or checked */
	PX_NOT_WRITTEN = 16,   /* the file could not be written, or writing was refused */
};

/** What to do with the new text.  Default: check. */
struct put_options {
	bool check, diff, write;   /* at most one of these */
	bool yes;                  /* write without confirmation */
	bool force;                /* write despite new boot risks, or despite other hard links to
	                              the file */
	bool force_file;           /* replace a symlink itself by a file, instead of its target */
	bool no_backup;
	int color;                 /* for the diff: enum color_when */
};

/** The option rows of struct put_options, for the option table of a command.  @put  The field of
    the command's options. */
#define PUT_ROWS(type, put) \
	OPTION_GROUP("Writing the file"), \
	OPTION_COLOR(type, put.color), \
	{"check", 0, NULL, "only set the exit status: 0 no changes needed", \
	 OPT_IS_FLAG(type, put.check), .excludes = PUT_EXCLUDES}, \
	{"diff", 0, NULL, "print the changes as diff -u does", \
	 OPT_IS_FLAG(type, put.diff), .excludes = PUT_EXCLUDES}, \
	{"force", 0, NULL, "write despite new boot risks or other hard links", \
	 OPT_IS_FLAG(type, put.force)}, \
	{"force-file", 0, NULL, "replace a symlink with a file", \
	 OPT_IS_FLAG(type, put.force_file)}, \
	{"no-backup", 0, NULL, "keep no copy of the old file", OPT_IS_FLAG(type, put.no_backup)}, \
	{"write", 0, NULL, "write the file after confirmation", \
	 OPT_IS_FLAG(type, put.write), .excludes = PUT_EXCLUDES}, \
	{"yes", 0, NULL, "write without confirmation", OPT_IS_FLAG(type, put.yes)}
#define PUT_EXCLUDES (1u << 31)   /* bit of option_row.excludes reserved for these rows */

/** Check that the given options can be combined.  @return 0, or PX_NOT_CHECKED after a message. */
int put_check(const struct put_options *options);

/** A file that is checked and corrected. */
struct put {
	const struct put_options *options;
	struct replace file;     /* the file as it was read */
	bool rooted;             /* the file is below a root other than "/" */
};

/** Print why replace_open() did not open a file.  @path  The name as given. */
void put_open_failed(const char *path, const struct replace *file);

/** Resolve the name of a file and read the whole file, at most 64 MiB.
    @os  Makes and counts all kernel calls; must outlive *put.
    @options  Must outlive *put.
    @name  The name.  name->at_link is set from the options; name->named is ignored if name->root is
           a directory other than "/".
    @put [out]
    @return 0, or PX_NOT_CHECKED after a message.  Ownership: *put is freed by put_close(). */
int put_open(struct os *os, const struct put_options *options, const struct replace_name *name,
             struct put **put);

/** Whether standard output is the file to be replaced; the shell may then have truncated the
    file. */
bool put_is_stdout(const struct put *put);

/** The result of checking the new text. */
struct put_verdict {
	const char *summary;             /* such as "reproduces 14 of 14 mounts"; or NULL */
	const char *const *risks;        /* new boot risks, a line each: --write requires --force */
	size_t nrisks;
};

/**
 * Check, print or write the new text, as the options request.
 *
 *  check  One line on standard output: path, number of changed lines, summary.
 *  diff   The unified diff on standard output, byte for byte; on a terminal escaped and with
 *         secrets masked.  Summary and risks on standard error.
 *  write  The diff on standard output, with secrets masked; on standard error the path and its
 *         file system, the question, the name of the backup, how to undo, and a hint to run
 *         systemctl daemon-reload if systemd has read this file.
 *
 * An unchanged text is not written.  Standard output is flushed; the caller closes it.
 *
 * @new, len  The whole text; any byte may be in it.
 * @verdict   NULL: the new text was not checked.
 * @return    enum put_exit.
 */
__attribute__((warn_unused_result))
int put_finish(struct put *put, const char *new, size_t len, const struct put_verdict *verdict);

/** Write an output file that every run replaces, completely or not at all, without confirmation,
    backup or message.  Symlinks of other users, or to a mount that can block, are refused.  Other
    hard links keep the old content.
    @bytes  NULL: only check whether the file can be written.
    @return 0, or PX_NOT_WRITTEN after a message. */
__attribute__((warn_unused_result))
int put_report(struct os *os, const char *path, const char *bytes, size_t len);

/** Compare the file with the new text, and print the diff if the options request it.
    @count [out]  The number of lines that differ.
    @return 0, or an exit status after a message. */
__attribute__((warn_unused_result))
int put_diff(const struct put *put, const char *new, size_t len, struct linediff_count *count);

/** Print a whole file; on a terminal with secrets masked and harmful bytes as \ooo.
    @return whether it was printed; false after a message (ENOMEM). */
__attribute__((warn_unused_result))
bool put_show(const char *text, size_t len);

/** Close and free a file; NULL is allowed. */
void put_close(struct put *put);

#endif
