/* SPDX-License-Identifier: MIT */
/**
 * What there is beside the mounts, as far as the text of an fstab asks for it.
 *
 * Models ask the machine through these functions alone.  One that is NULL, or that
 * answers "not known", leaves open what depends on it: it is told as not judged, and
 * is never taken for right.
 */
#ifndef GM_FSTAB_FACTS_H
#define GM_FSTAB_FACTS_H

#include "base/strbuf.h"
#include "fstab/fstab.h"

struct fstab_facts {
	void *arg;

	/**
	 * The devices that a source names.
	 *
	 * @source  A path, or TAG=value without quotes.
	 * @device [out]  The first of them: its tags stay the callee's; NULL to count only.
	 * @return how many there are; -1: not known, ENOMEM too.
	 */
	int (*devices)(void *arg, const char *source, struct fstab_device *device);

	/**
	 * What there is now at an absolute path from ROOT, links being followed within
	 * ROOT; nothing that can block is touched.
	 *
	 * @real [out]  Gets the path without links, from ROOT, unless unknown or missing;
	 *              may be NULL.
	 */
	enum fact_kind (*look)(void *arg, const char *path, struct strbuf *real);

	/** Whether ROOT has a helper, "mount.nfs" or "fsck.ext4": 1, 0; -1: not known. */
	int (*helper)(void *arg, const char *name);

	/** Whether the kernel of ROOT can mount a type, with a module that it would load:
	    1, 0; -1: not known. */
	int (*fstype)(void *arg, const char *fstype);

	/** Whether what is at a path, found as by look, can be read by others than its owner
	    and group: 1, 0; -1: not known. */
	int (*open_to_all)(void *arg, const char *path);

	/** Whether the admin has no unit of a name, for certain: fstab_system_lacks(). */
	bool (*lacks_unit)(void *arg, const char *name);
};

#endif
