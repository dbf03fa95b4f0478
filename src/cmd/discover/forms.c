/* SPDX-License-Identifier: MIT */
#include "cmd/discover/listing.h"

enum {
	LINE_FIELDS = MF_POINT | MF_SOURCE | MF_FSTYPE | MF_VFS_OPTS | MF_FS_OPTS,
	DOT_FIELDS = MF_POINT | MF_SOURCE | MF_ROOT | MF_DEV | MF_FSTYPE,
	STACKED_FIELDS = MF_SOURCE | MF_FSTYPE,   /* for the JSON member "stacked" */
};

const struct output_form output_forms[] = {
	[FORM_DEFAULT] = {"tree", FF_SHAPE | FF_TEXT | FF_POLL},
	[FORM_LIST] = {"list"},
	[FORM_RAW] = {"raw", FF_TEXT | FF_POLL},
	[FORM_PAIRS] = {"pairs", FF_TEXT | FF_POLL},
	[FORM_JSON] = {"json", FF_SHAPE | FF_OBJECTS, STACKED_FIELDS},
	[FORM_MTAB] = {"mtab", FF_LINES, LINE_FIELDS},
	[FORM_FSTAB] = {"fstab", FF_LINES | FF_FSTAB, LINE_FIELDS},
	[FORM_SETMNT] = {"setmnt", FF_LINES | FF_SETMNT, MF_POINT | MF_SOURCE},
	[FORM_DOT] = {"dot", FF_TREE, DOT_FIELDS},
	[FORM_JSONL] = {"jsonl", FF_OBJECTS | FF_POLL},
	{NULL},
};
