/* SPDX-License-Identifier: MIT */
/**
 * Visit the objects of an index, for exports and updates.
 */
#ifndef GM_INDEX_STORE_OBJECTS_H
#define GM_INDEX_STORE_OBJECTS_H

#include "base/strbuf.h"
#include "index/store/store.h"

/** Which objects to visit, and the function to call for each. */
struct objects_visit {
	/* Tests the values of this column.  @return whether an object with a value from min to max
	   is to be visited.  Called with the range of each leaf, and with each value (min ==
	   max). */
	enum index_column column;
	bool (*may)(void *arg, uint64_t min, uint64_t max);
	/* @return 0, or -1: stop. */
	int (*visit)(void *arg, index_dir dir, const char *name, size_t len,
	             const struct index_row *row);
	void *arg;
	bool dirs;                /* visit directories, too */
};

/** Visit the objects of a cluster that are not directories: first those of the segment for which
    may() is true, then all in the delta.
    @return 0, or -1.  Errors: EBADMSG, ENOMEM, those of visit(). */
int objects_visit(struct index *index, uint32_t cluster, const struct objects_visit *visit);

/** A function for objects_visit.may: visit all objects. */
bool objects_may_any(void *arg, uint64_t min, uint64_t max);

/** Count the objects in an index, and the directories among them.
    @rows, dirs [out]  @return 0, or -1.  Errors: EBADMSG, ENOMEM. */
int objects_count(struct index *index, uint64_t *rows, uint64_t *dirs);

/** Whether any number of a sorted list of n inode numbers is from min to max. */
bool objects_any_ino(const uint64_t *inos, size_t n, uint64_t min, uint64_t max);

/** Make a hash of the attributes of an object, without its name and directory.
    @atime  Include the access time. */
uint64_t objects_digest(const struct index_row *row, bool atime);

/** The objects of some directories of a cluster: names, and digests of attributes, to be compared
    with the objects that an update finds. */
struct known;

/** Load the objects of some directories of a cluster.
    @slots  The set of slots of the directories, as INDEX_SLOTS / 8 bytes.
    @return NULL: EBADMSG, ENOMEM. */
struct known *known_load(struct index *index, uint32_t cluster, const unsigned char *slots);
void known_free(struct known *known);

/** Find an object by directory and name, and mark it as seen.
    @digest [out]  Of its attributes.
    @return whether the object exists. */
bool known_see(struct known *known, uint32_t slot, const char *name, size_t len, uint64_t *digest);

/** Get the next object of a directory that was not seen, each object once.
    @return the name of the object; NULL: no more objects. */
const char *known_unseen(struct known *known, uint32_t slot, size_t *len);

#endif
