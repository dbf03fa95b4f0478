/* SPDX-License-Identifier: MIT */
/**
 * The options of `getmnt discover`: one table, which feeds the parser, --help,
 * the completion and the checks of the man page.
 */
#ifndef GM_CMD_OPTIONS_H
#define GM_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
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

enum stats_form { STATS_NONE, STATS_TEXT, STATS_JSON };

/** What the command line said.  Strings are those of argv. */
struct options {
	/* which table */
	int source;               /* enum table_source */
	const char *tab_file;
	const char *root;
	bool part;                /* ... which is not to be "/" */
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
	bool timeout_letter;      /* it was given as -w */
	int wait;                 /* milliseconds for one more event; negative: no bound */

	/* how they are shown */
	int form;                 /* enum form */
	bool tree, list;          /* asked for by name */
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

/** What becomes of an option. */
enum option_how {
	OH_FLAG,     /* a bool becomes true */
	OH_STRING,   /* the argument is kept */
	OH_WORD,     /* an int becomes the number of the word */
	OH_UINT,     /* an unsigned, up to max */
	OH_ID,       /* a uint64_t, not 0 */
	OH_SECONDS,  /* a double, above 0, up to max */
	OH_CALL,     /* a function takes it */
	OH_REFUSED,  /* findmnt's, or later's: help says what to use instead */
};

enum option_argument {
	ARG_NONE,
	ARG_NEEDED,
	ARG_MAY,       /* behind the name alone */
	ARG_ATTACHED,  /* behind the name or right behind the letter */
};

enum option_group {
	OG_TABLE,
	OG_WHICH,
	OG_HOW,
	OG_SHOWN,
	OG_POLL,
	OG_STUDY,
	OG_GENERAL,
	OG_HIDDEN,
};

struct option_row {
	const char *name;          /* without the dashes; NULL: a letter alone */
	char letter;               /* 0: none */
	unsigned char group;       /* enum option_group */
	unsigned char arg;         /* enum option_argument */
	unsigned char how;         /* enum option_how */
	const char *argument;      /* in --help: "FILE"; OH_WORD: "hint|walk" */
	const char *help;
	size_t offset;             /* in struct options */
	unsigned excludes;         /* a set; options that share a bit exclude each other */
	double max;
	int (*take)(struct options *options, const struct option_row *row, const char *arg);
};

/** The table: of each group, sorted by name; ended by a row without name and letter. */
extern const struct option_row option_rows[];

/**
 * Read a command line.
 *
 * @argv   Permuted; operands stay the caller's.
 * @return 0, or an exit status after a message.
 */
int options_parse(struct options *options, int argc, char **argv);

/** Read a whole number up to max.  @return whether it is one. */
bool option_number(const char *text, uint64_t max, uint64_t *number);

/** Read seconds, 0 to max.  @return whether they are. */
bool option_seconds(const char *text, double max, double *seconds);

/** Print --help. */
void options_help(FILE *out);

/** Print the bash completion. */
void options_completion(FILE *out);

#endif
