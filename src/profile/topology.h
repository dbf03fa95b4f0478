/* SPDX-License-Identifier: MIT */
/**
 * A topology: mounts, directories and files, recorded as lines, of which the same tree
 * is made each time.  Pure.
 *
 *     # comment
 *     seed NUMBER
 *     mount PATH
 *     dirs PATH COUNT DEPTH FANOUT [FILES]
 *     files PATH COUNT
 *
 * PATH is absolute, without "." and ".."; \040 and the like stand for bytes, as in
 * mountinfo.  Directories on the way are made.  `dirs` makes COUNT directories below PATH, at most
 * DEPTH levels deep and FANOUT in one, each with FILES files; where they are, the seed
 * decides.  A text of which the first line begins with a digit is a mountinfo: each of its mount points
 * becomes a mount, in which some directories are made.
 *
 * The text may be anybody's: numbers have bounds, and so has the sum of all that is made, with
 * the directories on the way: those that the line before has made are not counted again, others
 * may be, though they are there.
 */
#ifndef GM_PROFILE_TOPOLOGY_H
#define GM_PROFILE_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

enum {
	TOPOLOGY_MOUNTS = 10000,     /* the most of them */
	TOPOLOGY_INODES = 300000,    /* directories and files, together, those on the way as well */
	TOPOLOGY_DEPTH = 64,
	TOPOLOGY_LINES = 100000,
	TOPOLOGY_BYTES = 16 << 20,   /* of the text */
};

enum topology_verb { TOPOLOGY_MOUNT, TOPOLOGY_DIRS, TOPOLOGY_FILES };

/** A line. */
struct topology_line {
	enum topology_verb verb;
	uint32_t number;             /* its line in the text */
	char *path;
	uint32_t count, depth, fanout, files;
};

/** A topology, or what is wrong with its text. */
struct topology {
	struct topology_line *lines;
	size_t count;
	uint64_t seed;
	uint64_t mounts, dirs, files;    /* that lines ask for; of the last two, once built, what there is */
	uint64_t way;                /* directories on the way to these, at most */
	uint32_t bad_line;           /* 0: all is right */
	char why[160];               /* what is wrong with it */
};

/** The topology that `getmnt profile` has by itself, as text: like Smith's Figure 4. */
extern const char topology_default[];

/**
 * Read a text.
 *
 * @return a topology, to be looked at for bad_line; or NULL.
 * Errors: ENOMEM.
 * Ownership: topology_free().
 */
struct topology *topology_parse(const char *text, size_t len);

/** Free a topology; NULL is fine. */
void topology_free(struct topology *topology);

/**
 * What of a path is on the way anew: past the names with which the path of the line before
 * it begins as well.
 *
 * @before  Of that line; "" if there is none.
 * @return a part of path, "" or slashes if all is there.
 */
const char *topology_anew(const char *before, const char *path);

/** What is to be made: told one by one, a directory before what is in it. */
struct topology_maker {
	/** @return 0 to go on, or what topology_grow() returns. */
	int (*mount)(void *arg, const char *path, const struct topology_line *line);
	int (*dir)(void *arg, const char *path, const struct topology_line *line);
	int (*file)(void *arg, const char *path, const struct topology_line *line);
	void *arg;
};

/**
 * Tell of all that a topology makes: mounts, files, dirs and way of it, no more.  A directory
 * may be told more than once.
 *
 * @return 0; what the maker returned; or -1 (ENOMEM).
 */
int topology_grow(const struct topology *topology, const struct topology_maker *maker);

#endif
