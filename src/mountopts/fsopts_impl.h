/* SPDX-License-Identifier: MIT */
#ifndef GM_MOUNTOPTS_FSOPTS_IMPL_H
#define GM_MOUNTOPTS_FSOPTS_IMPL_H

#include "mountopts/fsopts.h"

/** Types that share rows. */
struct fsopt_family {
	const char *types;
	const struct fsopt *rows;   /* end with a row without names */
	bool complete;           /* the rows list every option of these types */
	bool strict;             /* the rows list every option of Linux, and no helper has options
	                            of its own; kernels of vendors may have further options */
	bool fuse;               /* the rows of "fuse" also apply: the helper uses libfuse */
};

/** Both end with a family without types. */
extern const struct fsopt_family fsopt_local[], fsopt_remote[];

#endif
