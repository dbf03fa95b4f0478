/* SPDX-License-Identifier: MIT */
/**
 * The objects of an index, as exports and updates need them.
 */
#ifndef GM_INDEX_STORE_OBJECTS_H
#define GM_INDEX_STORE_OBJECTS_H

#include "base/strbuf.h"
#include "index/store/store.h"

/** What to look for, and what to do with it. */
struct objects_visit {
	/* Rows of a leaf that are of interest, by the values of a column.
	   @return whether a row may be; the range of a leaf's values: whether any row may be. */
	enum index_column column;
	bool (*may)(void *arg, uint64_t min, uint64_t max);
	/* @return 0, or -1: end. */
	int (*visit)(void *arg, index_dir dir, const char *name, size_t len,
	             const struct index_row *row);
	void *arg;
	bool dirs;                /* directories, too */
};

/** Visit objects of a cluster that are not directories, then those of its delta; also some for
    which may() is false.  @return 0, or -1.  Errors: EBADMSG, ENOMEM, those of visit(). */
int objects_visit(struct index *index, uint32_t cluster, const struct objects_visit *visit);

/** For objects_visit.may: visit all rows. */
bool objects_may_any(void *arg, uint64_t min, uint64_t max);

/** Count the objects that a search of the index finds, and the directories among them.
    @rows, dirs [out]  @return 0, or -1.  Errors: EBADMSG, ENOMEM. */
int objects_count(struct index *index, uint64_t *rows, uint64_t *dirs);

/** Whether a sorted list of inode numbers has one from min to max. */
bool objects_any_ino(const uint64_t *inos, size_t n, uint64_t min, uint64_t max);

/** A number for the attributes of an object, its name and directory not included.
    @atime  With the time of access. */
uint64_t objects_digest(const struct index_row *row, bool atime);

/** The objects of some directories of a cluster: names, and digests of attributes. */
struct known;

/** @slots  A set of slots, INDEX_SLOTS / 8 bytes.  @return NULL: EBADMSG, ENOMEM. */
struct known *known_load(struct index *index, uint32_t cluster, const unsigned char *slots);
void known_free(struct known *known);

/** Find an object, and mark it as seen.  @digest [out]  @return whether it exists. */
bool known_see(struct known *known, uint32_t slot, const char *name, size_t len, uint64_t *digest);

/** The next object of a directory that was not seen, which is marked.
    @return its name, or NULL. */
const char *known_unseen(struct known *known, uint32_t slot, size_t *len);

#endif
