/* SPDX-License-Identifier: MIT */
/**
 * Where paths lead, without touching file systems that can block.
 *
 * If the kernel resolved a path, a symlink could lead it to a dead server or an automounter.  So
 * paths are resolved component by component: the mount of each component is looked up in the table,
 * and the component is only read if neither that mount nor one on its path can block.  The rest of
 * the path after a component that can block is not resolved.
 */
#ifndef GM_MOUNTS_PATHS_H
#define GM_MOUNTS_PATHS_H

#include "base/intern.h"
#include "base/pathmap.h"
#include "base/strbuf.h"
#include "mounts/mounts.h"

/** How far a path was followed. */
enum path_followed {
	PATH_SEEN,        /* to its end: the path exists */
	PATH_UNTOUCHED,   /* to a component that could block, and was not accessed */
	PATH_MISSING,     /* to an error: errno says which */
};

/** Paths from one root, and the mounts that hold them.  The caller sets the first members. */
struct mounts_paths {
	struct mounts *mounts;
	int rootfd;            /* the root; AT_FDCWD: this process's root */
	bool sealed;           /* nothing may be accessed: the paths are those of another host, or
	                          of a root that was not opened */
	bool elsewhere;        /* the paths begin at another root than this process's */
	bool blind;            /* a component that may not be read is taken for no symlink */

	uint32_t reached;      /* by mounts_follow(): the mount that holds the last component that
	                          was looked up; MT_NONE: none */
	bool failed;           /* memory ran out: results are guesses */

	/* Private: */
	struct pathmap points; /* names of mounts -> their nodes */
	struct intern plain;   /* paths known not to be symlinks */
};

/** Free what the functions below have allocated. */
void mounts_paths_destroy(struct mounts_paths *paths);

/** Add the name of a mount that is visible there.
    @name    From this root; must remain valid.
    @return  0, or -1.  Errors: ENOMEM. */
int mounts_paths_add(struct mounts_paths *paths, const char *name, uint32_t node);

/** The mount that holds a path, by its text; MT_NONE: none. */
uint32_t mounts_holding(const struct mounts_paths *paths, const char *path);

/**
 * Resolve a path to the name that mount tables use.
 *
 * @path       A relative one starts in the working directory.
 * @out [out]  The absolute path, without links, "." and ".."; after a component that was not
 *             accessed, the rest as it was.
 * @return     how far the path was followed; PATH_MISSING sets errno: those of readlink(2);
 *             ESTALE: the working directory has no name, or another mount covers it; ENOMEM.
 */
enum path_followed mounts_follow(struct mounts_paths *paths, const char *path, struct strbuf *out);

/** Resolve a path as a process would whose root is a directory: neither symlinks nor ".." lead out.
    @root  "", or an absolute path without links.  @path  Absolute unless root is "".
    @out [out]  Begins with root.  @return as mounts_follow(). */
enum path_followed mounts_follow_below(struct mounts_paths *paths, const char *root,
                                       const char *path, struct strbuf *out);

/** statx(2) of a path that was seen, without following a symlink or contacting a server.
    @return 0, or -1.  Errors: those of statx(2). */
int mounts_look(struct mounts_paths *paths, const char *path, unsigned mask, struct k_statx *st);

/** Whether touching a file can block; true if unknown, as from another root.  Sets errno: ENOENT
    and the like if the path does not exist, else EAGAIN. */
bool mounts_path_block(struct mounts_paths *paths, const char *path);

/** Whether access to a path without symlinks, relative to this process's root, can block: for
    struct replace_name.  If the root itself can block, every path can; but "/" is accessed anyway,
    so that only the types of the mounts on the path count.  Reads nothing.
    @paths  A struct mounts_paths with mounts. */
bool mounts_name_block(void *paths, const char *path);

/** As mounts_path_block(); but as mounts_name_block() if the root itself can block. */
bool mounts_file_block(struct mounts_paths *paths, const char *path);

#endif
