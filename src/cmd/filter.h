/* SPDX-License-Identifier: MIT */
/**
 * Which mounts the options select, with findmnt's meanings.
 */
#ifndef GM_CMD_FILTER_H
#define GM_CMD_FILTER_H

#include "cmd/source.h"
#include "cmd/view.h"

/** The conditions that a mount must satisfy to match. */
struct filter {
	struct run *run;
	const struct source_spec *source;   /* NULL: any */
	const char *target;                 /* mount point; NULL: any */
	uint32_t node;                      /* this one; MT_NONE: any */
	struct strbuf text;
};

/** Whether a record matches, apart from its mount point and --invert. */
bool filter_match_mount(struct filter *filter, const struct mount *mount);

/** Whether a device that is not mounted matches. */
bool filter_match_device(struct run *run, const struct devmap_device *device);

/**
 * The name that the table would have for a path: the path as written if it is a mount point,
 * else what it resolves to.
 *
 * @out [out]  The name.
 * @return as path_follow().
 */
enum host_followed filter_target(struct run *run, const char *path, struct strbuf *out);

/** Whether two operands are SOURCE and TARGET: the first is no mount point, or
    names a source as well. */
bool filter_is_pair(struct run *run, const char *first);

/** Whether an option selects some mounts. */
bool filter_any(const struct options *options);

#endif
