/* SPDX-License-Identifier: MIT */
/**
 * What a listing of mounts is to contain and how it is to be shown.
 */
#ifndef GM_CMD_LISTING_H
#define GM_CMD_LISTING_H

#include "cmd/options.h"
#include "table/table.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** The forms of output. */
enum form {
	FORM_DEFAULT,   /* a tree, unless the selection makes it a list */
	FORM_RAW,
	FORM_PAIRS,
	FORM_JSON,
	FORM_MTAB,
	FORM_FSTAB,
	FORM_SETMNT,
	FORM_DOT,
	FORM_JSONL,
};

/** Options of a listing.  Strings are borrowed. */
struct options {
	/* which table */
	int source;               /* enum table_source */
	const char *tab_file;
	const char *root;
	bool part;                /* root must not be "/" */
	pid_t task;               /* 0: none */

	/* which mounts */
	bool all, first_only, invert, pseudo, real, shadowed, submounts, uniq, unmounted;
	int backward;             /* 1: --direction backward */
	uint64_t id, uniq_id;     /* 0: any */
	const char *mount_options, *types;
	const char *mountpoint, *target, *spec;
	char **operands;
	int noperands;

	/* how they are found */
	int names, algorithm, identity;      /* enum discover_* */
	bool names_given, limit_given;
	unsigned prune_on, prune_off;
	unsigned depth, threads;
	uint64_t max_dirs;
	double search_seconds;    /* of --search-limit; 0: no bound */
	double max_time;          /* of --max-time; 0: no bound */
	double timeout;           /* of a probe */
	bool lets_expire;         /* as struct discover_opts has it; of no option */
	int probe;                /* enum discover_probe */
	int engine;
	bool boundaries, strict;

	/* watching */
	bool poll;
	unsigned poll_kinds;      /* of enum change_kind */
	const char *timeout_text; /* of --timeout: seconds, with --poll milliseconds */
	const char *wait_text;    /* of -w */
	int wait;                 /* milliseconds to wait for another event; negative: no bound */

	/* how they are shown */
	int form;                 /* enum form */
	bool tree, list;          /* requested by name */
	bool ascii, bytes, canonicalize, nocanonicalize, evaluate, df, dfi;
	bool noheadings, notruncate, nofsroot, vfs_all, shell, quiet;
	int nest;                 /* 1: --stacks=nest */
	const char *output;       /* of -o */
	bool output_all;

	/* of the run */
	int stats;                /* enum stats_form */
	bool explain, debug;
	bool help, version, list_columns, dump_completion;
};

/** The defaults of all options. */
#define OPTIONS_DEFAULT {.source = TABLE_AUTO, .timeout = 5, .wait = -1}

/** Bounds of a search for mounts whose kernel names are wrong, in directories and seconds. */
enum { HINT_DIRS = 20000, HINT_SECONDS = 2 };

#endif
