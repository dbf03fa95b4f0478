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

/** Whether a device that is not mounted matches. */
bool filter_match_device(struct run *run, const struct devmap_device *device);

/** Whether an option asks for some mounts rather than all. */
bool filter_any(const struct options *options);

#endif
