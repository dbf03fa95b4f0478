/* SPDX-License-Identifier: MIT */
/**
 * Which mounts the options select, with findmnt's meanings.
 */
#ifndef GM_CMD_FILTER_H
#define GM_CMD_FILTER_H

#include "cmd/source.h"
#include "cmd/view.h"

/** What a mount must be to match: all of it.  Made from the options. */
struct filter {
	struct run *run;
	const struct source_spec *source;   /* NULL: any */
	const char *target;                 /* mount point; NULL: any */
	uint32_t node;                      /* this one; MT_NONE: any */
	struct strbuf text;
};

/** Whether a node matches; --invert is taken into account. */
bool filter_match(struct filter *filter, uint32_t node);

/** Whether a record matches, its place and --invert apart. */
bool filter_match_mount(struct filter *filter, const struct mount *mount);

/** Whether a device that is not mounted matches. */
bool filter_match_device(struct run *run, const struct devmap_device *device);

/**
 * The name under which the table would have a path: as it is written if that
 * is a mount point, else where it leads.
 *
 * @out [out]  The name.
 * @return as path_follow().
 */
enum path_known filter_target(struct run *run, const char *path, struct strbuf *out);

/** Whether two operands are SOURCE and TARGET: the first is no mount point, or
    names a source as well. */
bool filter_is_pair(struct run *run, const char *first);

/** Whether an option asks for some mounts rather than all. */
bool filter_any(const struct options *options);

#endif
