/* SPDX-License-Identifier: MIT */
/**
 * Names that were asked for, recorded as a tree, and the tree written.
 */
#ifndef GM_CMD_SNAPSHOT_TREE_H
#define GM_CMD_SNAPSHOT_TREE_H

#include "base/map64.h"
#include "os/os.h"

enum snapshot_kind { SNAPSHOT_DIR, SNAPSHOT_FILE, SNAPSHOT_LINK, SNAPSHOT_SPECIAL, SNAPSHOT_MISSING };

struct snapshot_entry {
	char *path;              /* from "/", without links */
	enum snapshot_kind kind;
	char *text;              /* of a file that is read; what a link says; NULL */
	bool whole;              /* a directory that was listed */
	bool commented;          /* a file of which '#' begins comments, and no unit */
	bool gone;               /* is not to be written */
};

struct snapshot_tree {
	struct os os;            /* by which all is recorded */
	struct snapshot_note {
		char *path;
		int flags;
	} *notes;
	size_t nnotes, notes_room;
	struct map64 noted;
	struct snapshot_entry *entries;
	size_t count, room;
	struct map64 by_path;
	bool failed;             /* ENOMEM */
};

void snapshot_tree_init(struct snapshot_tree *tree);
void snapshot_tree_destroy(struct snapshot_tree *tree);

/** Note a name: os.seen, whose argument is the tree.  Nothing is touched by it yet. */
void snapshot_tree_note(void *arg, int dirfd, const char *path, int flags);

/** Record what was noted, as it is now. */
void snapshot_tree_record(struct snapshot_tree *tree);

/** Add an entry.  @text  Is taken. */
void snapshot_tree_add(struct snapshot_tree *tree, enum snapshot_kind kind, const char *path, char *text);

/** The entry that a path leads to, over links at its end; or NULL. */
struct snapshot_entry *snapshot_tree_find(struct snapshot_tree *tree, const char *path);

/**
 * Write all below a directory that is not there, or empty.
 *
 * @marker  The text of SNAPSHOT_MARKER.
 * @return 0, or -1 after a message; then it is as it was.
 */
int snapshot_tree_write(struct snapshot_tree *tree, const char *dir, const char *marker);

#endif
