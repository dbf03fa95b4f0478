/* SPDX-License-Identifier: MIT */
/**
 * What an fstab names, as this machine has it: devices by their identifiers and
 * paths, what is at a place of ROOT, helpers, types.  Nothing that can block is
 * touched.
 */
#ifndef GM_CMD_FSTAB_FACTS_H
#define GM_CMD_FSTAB_FACTS_H

#include "base/map64.h"
#include "cmd/view.h"
#include "fstab/facts.h"
#include "host/system.h"
#include "host/units.h"

struct facts {
	struct run *run;
	const char *root;
	struct host_system *system;    /* NULL: not known */
	struct host_units units;       /* facts_units() */
	bool units_read;
	bool listed, unlisted, whole;  /* devices are; cannot be; all of them are known */
	struct devmap_device *devices;
	size_t ndevices;
	struct map64 tags;             /* hash of "TAG=value" -> index of counts */
	struct facts_tag {
		unsigned count;
		uint32_t device;           /* the first */
		bool sorted;               /* members and paths of others are out of it */
	} *counts;
	size_t ncounts, counts_size;
	char *filesystems, *modules;   /* /proc/filesystems; modules.alias of the kernel that runs */
	bool types_read;
};

/** All that is given stays the caller's, and outlives it. */
void facts_init(struct facts *facts, struct run *run, const char *root, struct host_system *system);
void facts_destroy(struct facts *facts);

/** The units that systemd has loaded, read once; not known of another root, and of a recorded table. */
const struct host_units *facts_units(struct facts *facts);

/** The devices that a source names: struct fstab_facts.  @facts  A struct facts. */
int facts_devices(void *facts, const char *source, struct fstab_device *device);

/** The functions by which models ask; of a recorded table all are NULL. */
struct fstab_facts facts_functions(struct facts *facts);

/** How many devices have a tag of this value; 0: none, or not known. */
unsigned facts_holders(struct facts *facts, const char *tag, const char *value);

/** Follow a path from ROOT; /dev is this system's.  @return whether it was seen to its
    end; PATH_MISSING has errno set. */
enum path_known facts_follow(struct facts *facts, const char *path, struct strbuf *out);

/**
 * What is wrong with a path that facts_follow() does not find, but for not being there: a
 * link to nothing, or what is no directory on its way.
 *
 * @path        Absolute.
 * @part [out]  Its beginning, up to that.
 * @return why, for people; NULL: it is not there.
 */
const char *facts_astray(struct facts *facts, const char *path, struct strbuf *part);

/** The device that a path from ROOT leads to.  @return whether it is one; ENOENT where
    there is nothing. */
bool facts_device(struct facts *facts, const char *path, uint32_t *major, uint32_t *minor);

#endif
