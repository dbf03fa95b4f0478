/* SPDX-License-Identifier: MIT */
/**
 * Reading mount tables.
 *
 * This header is the interface to three back ends: listmount.c, mountinfo.c and tabfile.c (fstab
 * and mtab, by libmount).  Both kernel sources yield the same table, except for unique IDs.
 */
#ifndef GM_MOUNTS_TABLE_H
#define GM_MOUNTS_TABLE_H

#include "base/arena.h"
#include "base/mount.h"
#include "base/strbuf.h"
#include "os/os.h"

/** The maximum size of a table file, in bytes. */
#define TABLE_MAX_BYTES ((size_t)1 << 30)

enum table_source {
	TABLE_AUTO,       /* listmount if available and permitted, for its unique IDs; otherwise, or
	                     if mounts are stacked thousands deep, mountinfo */
	TABLE_LISTMOUNT,  /* listmount(2) and statmount(2) */
	TABLE_MOUNTINFO,  /* /proc/self/mountinfo, or the mountinfo of a task */
	TABLE_RECORDED,   /* a recorded mountinfo, not the live table */
	TABLE_FSTAB,      /* fstab(5); IDs are synthetic */
	TABLE_MTAB,       /* the format of fstab, listing live mounts */
};

/** A part of the source that could not be read. */
struct table_problem {
	uint32_t line;       /* from 1; 0: not about a line */
	const char *reason;  /* "mount ID: not a number" */
	const char *text;    /* the line, at most 200 bytes, with '?' for a NUL */
};

struct mount_table {
	enum table_source source;   /* never TABLE_AUTO */
	bool unique_ids;            /* keys are 64-bit unique IDs */
	unsigned fields;            /* the enum mount_fields that are filled */
	struct mount *mounts;
	size_t count;
	struct table_problem *problems;
	size_t nproblems;           /* at most TABLE_MAX_PROBLEMS */
	uint64_t more_problems;     /* number of further problems */
	unsigned vanished;          /* mounts unmounted between listmount and statmount */
	unsigned relisted;          /* how many times the table was read again */
	struct arena arena;         /* owns the strings */
	size_t mounts_room, problems_room;
};

/** The reason why a table with problems is incomplete. */
#define TABLE_UNREAD "lines of the table could not be read"

/** The most problems that are kept. */
#define TABLE_MAX_PROBLEMS 10000

/**
 * Read the mount table of this process from the kernel.
 *
 * @source
 *         TABLE_AUTO, TABLE_LISTMOUNT or TABLE_MOUNTINFO.
 * @fields
 *         The enum mount_fields to fill.  More may be filled; MF_IDS always is.
 * @return
 *         A table, or NULL.  Fields that statmount does not report (source and subtype before
 *         Linux 6.13, options before 6.11) come from mountinfo; without /proc they are NULL
 *         and not in table->fields.
 * Errors: ENOSYS (the kernel lacks that source), ENOENT or EACCES (no /proc), EPERM, ENOMEM.
 * Ownership: table_free().
 *
 * Apart from keys, the sources differ only in the option "mand" (no effect since Linux 5.15), which
 * statmount does not report.
 */
struct mount_table *table_read_kernel(struct os *os, enum table_source source, unsigned fields);

/**
 * Read mountinfo relative to a directory: "self/mountinfo" in /proc, or "mountinfo" in /proc/PID.
 *
 * A table that is table_torn() is read again, up to 3 times: kernels before 5.8 could lose lines
 * (9f6c61f96f2d97), and a long table is read in pieces, between which mounts may change.
 *
 * Errors: those of os_read_kernel().
 */
struct mount_table *table_read_mountinfo(struct os *os, int dirfd, const char *path);

/**
 * Read a recorded mountinfo, fstab or mtab.
 *
 * An fstab or mtab fills point, fstype and source, and puts all options, still escaped, into
 * fs_opts; source tags (UUID=...) are not resolved.  Keys are 1, 2, ...  The parent of an entry is
 * the last earlier entry (in an fstab, else a later one) whose mount point is the nearest ancestor;
 * in an mtab also one with the same mount point.  Entries without a parent, and swap, are their own
 * parent.
 *
 * @fixed   The path is fixed, not an argument of the user.
 * @return a table, whose problems are the lines that could not be parsed; NULL on error.
 * Errors: those of path_read_named() or os_read_file(); EILSEQ: an fstab or mtab with NUL bytes.
 */
struct mount_table *table_read_file(struct os *os, const char *path, bool fixed,
                                    enum table_source source);

/** Read a recorded mountinfo from a descriptor, which stays open.
    Errors: those of os_read_fd(); EISDIR; ENOTSUP: not a regular file, pipe or socket. */
struct mount_table *table_read_fd(struct os *os, int fd);

/** Parse the text of a mountinfo (proc_pid_mountinfo(5)).  A line that cannot be parsed becomes a
    problem.  Pure.  @return a table, or NULL (ENOMEM). */
struct mount_table *table_parse_mountinfo(const char *text, size_t len);

/** Read the mounts of a kernel table again.
    @more  Additional fields, if statmount reports them.
    @keys  The mounts to read; NULL for all current mounts.
    @path  As for table_read_mountinfo(); NULL for the table of this process.
    @return A table of the mounts that still exist, in any order, or NULL.  Errors: those of the
    first read; EINVAL: the table is not live. */
struct mount_table *table_read_again(struct os *os, const struct mount_table *table, unsigned more,
                                     const uint64_t *keys, size_t n, int procfd, const char *path);

/** Whether two tables with MF_DEV and MF_POINT have the same mounts at the same mount points, in
    the same order. */
bool table_alike(const struct mount_table *a, const struct mount_table *b);

/** Whether the table has certainly not changed since it was read.  Reads the table again.
    @watch  The same mountinfo, opened before the table was read: poll(2) reports any change since
    then (proc_pid_mounts(5)).  -1: only a table with unique IDs can be proven unchanged. */
bool table_stands_still(struct os *os, const struct mount_table *table, int watch, int procfd,
                        const char *path);

/** Free a table; NULL is allowed. */
void table_free(struct mount_table *table);

/** The name of a source: "listmount", "mountinfo", "recorded", "fstab", "mtab". */
const char *table_source_name(enum table_source source);

/** Whether a table is inconsistent because mounts changed while it was read: a key is duplicated (a
    reused 32-bit ID), or a parent is missing.  One missing parent is normal: the parent of the
    process's root, or, if the root is a plain directory, the mount that contains it.
    @return 1, 0, or -1 (ENOMEM). */
int table_torn(const struct mount_table *table);

/** For readers: add a zeroed record.
    @return the record, valid until the next call; NULL (ENOMEM). */
struct mount *table_add(struct mount_table *table);

/** For readers: create an empty table.  @return the table, or NULL (ENOMEM). */
struct mount_table *table_new(enum table_source source);

/** For readers: add a problem; reason must be static.  @return 0, or -1 (ENOMEM). */
int table_problem(struct mount_table *table, uint32_t line, const char *reason,
                  const char *text, size_t len);

/** Whether a type is a pseudo file system, by our table or libmount's.  @fstype  NULL is
    allowed. */
bool fstype_is_pseudo(const char *fstype);

#endif
