/* SPDX-License-Identifier: MIT */
/**
 * Where a mount table comes from.
 *
 * listmount.c, mountinfo.c and tabfile.c (fstab and mtab, by libmount) are
 * siblings behind this header.  Whichever kernel source is used, the table is
 * the same, unique IDs apart.
 */
#ifndef GM_TABLE_TABLE_H
#define GM_TABLE_TABLE_H

#include "base/arena.h"
#include "base/mount.h"
#include "base/strbuf.h"
#include "os/os.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** The most bytes of a table that are taken: no real one comes near. */
#define TABLE_MAX_BYTES ((size_t)1 << 30)

enum table_source {
	TABLE_AUTO,       /* listmount where it is there and permitted, for its
	                     unique IDs; else mountinfo, and where thousands of
	                     mounts lie on each other */
	TABLE_LISTMOUNT,  /* the kernel's listmount(2) and statmount(2) */
	TABLE_MOUNTINFO,  /* /proc/self/mountinfo, or that of a task */
	TABLE_RECORDED,   /* a mountinfo read earlier: nothing live */
	TABLE_FSTAB,      /* fstab(5): no IDs but made ones */
	TABLE_MTAB,       /* the same format, of what is mounted */
};

/** Something in the source that could not be used.  Never dropped silently. */
struct table_problem {
	uint32_t line;       /* from 1; 0 if it is of no line */
	const char *reason;  /* "mount ID: not a number" */
	const char *text;    /* the line, cut at 200 bytes, as it was (a NUL as '?') */
};

struct mount_table {
	enum table_source source;   /* never TABLE_AUTO */
	bool unique_ids;            /* keys are 64-bit unique IDs */
	unsigned fields;            /* enum mount_fields that were filled */
	struct mount *mounts;
	size_t count;
	struct table_problem *problems;
	size_t nproblems;           /* at most TABLE_MAX_PROBLEMS */
	uint64_t more_problems;     /* beyond these: counted, not kept */
	unsigned vanished;          /* went away between list and stat */
	unsigned relisted;          /* times that it was read again */
	struct arena arena;         /* owns the strings */
	size_t mounts_room, problems_room;
};

/** The reason why a table that has problems is incomplete. */
#define TABLE_UNREAD "lines of the table could not be read"

/** The most problems that are kept, so that a file of garbage costs little. */
#define TABLE_MAX_PROBLEMS 10000

/**
 * Read the mount table of this process from the kernel.
 *
 * @source
 *         TABLE_AUTO, TABLE_LISTMOUNT or TABLE_MOUNTINFO.
 * @fields
 *         enum mount_fields wanted.  MF_IDS is always given; more than was
 *         asked for may come.
 * @return
 *         A table, or NULL.  What the kernel's statmount lacks (the source and
 *         the subtype before 6.13, the options before 6.11) is filled from
 *         mountinfo; without /proc it stays NULL and is not in table->fields.
 * Errors: ENOSYS (that source is missing here), ENOENT or EACCES (no /proc),
 *         EPERM, ENOMEM.
 * Ownership: table_free().
 *
 * Between the two sources, the keys apart, one difference is known: "mand" in
 * fs_opts, which statmount does not tell (and which has no effect since 5.15).
 */
struct mount_table *table_read_kernel(struct os *os, enum table_source source, unsigned fields);

/**
 * Read mountinfo relative to a directory: "self/mountinfo" in /proc, or
 * "mountinfo" in /proc/PID.
 *
 * A table that is table_torn() is read again, up to 3 times: kernels before 5.8
 * could lose lines (9f6c61f96f2d97), and on any kernel a long table is read in
 * pieces, between which mounts can come, go and move.
 *
 * @return a table, or NULL.
 * Errors: those of os_read_kernel().
 */
struct mount_table *table_read_mountinfo(struct os *os, int dirfd, const char *path);

/**
 * Read a recorded mountinfo, or with TABLE_FSTAB or TABLE_MTAB a file in
 * their format.
 *
 * An fstab or mtab gives point, fstype, source, and the whole options as
 * fs_opts, escaped as they were written; source tags (UUID=...) stay text.
 * Keys are 1, 2, ... and parents are made from the paths: the last earlier
 * entry (in an fstab, failing that, a later one) whose point is the nearest
 * ancestor; in an mtab also one with the same point.  What has no such entry
 * (swap too) is its own parent.
 *
 * @return a table; its problems tell what could not be parsed.  NULL on error.
 * Errors: those of path_read_named(); EILSEQ: an fstab or mtab with NUL bytes.
 */
struct mount_table *table_read_file(struct os *os, const char *path, enum table_source source);

/** The same of a fixed path.  Errors: those of os_read_file(). */
struct mount_table *table_read_fixed(struct os *os, const char *path, enum table_source source);

/**
 * Read a recorded mountinfo from a descriptor, which stays open, to its end.
 *
 * @return as table_read_file().
 * Errors: those of os_read_fd(); EISDIR; ENOTSUP for what is neither a
 *         regular file nor a pipe or socket.
 */
struct mount_table *table_read_fd(struct os *os, int fd);

/**
 * Parse the text of a mountinfo (proc_pid_mountinfo(5)).  Pure.
 *
 * A line that cannot be parsed becomes a problem with its number and reason.
 *
 * @return a table, or NULL.
 * Errors: ENOMEM.
 */
struct mount_table *table_parse_mountinfo(const char *text, size_t len);

/**
 * Ask the kernel again for some mounts, in one go.
 *
 * @table
 *         A table that table_read_kernel() or table_read_mountinfo() gave.
 * @keys, n
 *         The mounts to ask for; NULL for all that there are now.
 * @procfd, path
 *         Where a mountinfo table was read from; as given then.  A NULL path
 *         is the table of this process.
 * @return
 *         A table with those of the mounts that are still there, in any
 *         order, or NULL.
 * Errors: as for the first reading; EINVAL for a table that is not live.
 */
struct mount_table *table_ask_again(struct os *os, const struct mount_table *table,
                                    const uint64_t *keys, size_t n, int procfd, const char *path);

/** Whether two tables, with MF_DEV and MF_POINT, have the same mounts in the same
    places, in the same order. */
bool table_alike(const struct mount_table *a, const struct mount_table *b);

/**
 * Whether a table of the kernel is table_alike() still.
 *
 * @table
 *         As of table_ask_again().
 * @watch
 *         A descriptor of the same mountinfo, opened before the table was read:
 *         it tells of any change since then (proc_pid_mounts(5)).  -1: none;
 *         then only a table with unique IDs can be known to be the same.
 * @return
 *         Whether it is known to be: it is read again, and the watch is silent.
 */
bool table_stands_still(struct os *os, const struct mount_table *table, int watch, int procfd,
                        const char *path);

/**
 * Ask the kernel for some mounts of a table once more, for further fields.
 *
 * @fields
 *         What is wanted beside the fields that the table has.
 * @return
 *         A table with those of the mounts that are still there, of both, or
 *         NULL.
 * Errors: as for table_ask_again(); EINVAL for a table that has all there is.
 */
struct mount_table *table_ask_more(struct os *os, const struct mount_table *table, unsigned fields,
                                   const uint64_t *keys, size_t n);

/** Free a table; NULL is fine. */
void table_free(struct mount_table *table);

/** A source's name: "listmount", "mountinfo", "recorded", "fstab", "mtab". */
const char *table_source_name(enum table_source source);

/**
 * Whether a table was read while mounts came and went: a key is there twice
 * (a 32-bit ID is used again), or parents are missing that must have been there.
 *
 * One missing parent is normal: that of the mount of the process's root; or,
 * for a process whose root is a plain directory, the mount that holds it.
 * The reachable ancestors of a reachable mount are reachable, so that any
 * further one was lost, or moved while the table was read.  A parent of 0 is
 * none.
 *
 * @return 1, 0, or -1.
 * Errors: ENOMEM.
 */
int table_torn(const struct mount_table *table);

/** Add a record, zeroed.  For readers.  @return it, until the next is added;
    or NULL (ENOMEM). */
struct mount *table_add(struct mount_table *table);

/** Make an empty table.  For readers.  @return it, or NULL (ENOMEM). */
struct mount_table *table_new(enum table_source source);

/** Note a problem; reason must be static.  For readers.  @return 0, or -1 (ENOMEM). */
int table_problem(struct mount_table *table, uint32_t line, const char *reason,
                  const char *text, size_t len);

/**
 * The options as findmnt's OPTIONS shows them: "rw" or "ro" first (ro if the
 * mount or its file system is), then those of the mount, then those of the
 * file system, each once.  Those of a line of an fstab or mtab stand as they
 * were written.
 *
 * @out     Appended to; escapes in fs_opts are decoded.
 */
void table_options(const struct mount *mount, struct strbuf *out);

#endif
