/* SPDX-License-Identifier: MIT */
/** The options of a listing of mounts, and its output formats. */
#ifndef GM_CMD_LISTING_H
#define GM_CMD_LISTING_H

#include "cmd/options.h"
#include "cmd/run.h"

/** Properties of an output format. */
enum form_flags {
	FF_SHAPE = 1 << 0,      /* a tree or a list, as the options and the selection require */
	FF_TREE = 1 << 1,       /* always a tree */
	FF_LINES = 1 << 2,      /* lines for mount(8): parents before children */
	FF_OBJECTS = 1 << 3,    /* JSON: each key once */
	FF_TEXT = 1 << 4,       /* characters of the locale */
	FF_POLL = 1 << 5,       /* also with --poll */
	FF_FSTAB = 1 << 6,      /* of FF_LINES: with the defaults of an fstab */
	FF_SETMNT = 1 << 7,     /* of FF_LINES: only source and mount point */
};

/** An output format: of --format, or with an option of its own. */
struct output_form {
	const char *name;
	unsigned flags;         /* enum form_flags */
	unsigned fields;        /* enum mount_fields that it needs in addition to the columns */
};

/** The formats, by enum form; the last has no name.  forms.c */
extern const struct output_form output_forms[];

/** Options of a listing.  Strings are borrowed. */
struct options {
	struct input_opts in;

	/* which mounts */
	bool all, first_only, invert, pseudo, real, shadowed, submounts, uniq, unmounted;
	int backward;             /* 1: --direction backward */
	uint64_t id, uniq_id;     /* 0: any */
	const char *mount_options, *types;
	const char *mountpoint, *target, *spec;
	char **operands;
	int noperands;

	/* how they are found, in addition to `in` */
	bool limit_given;
	int engine;
	bool strict;

	/* watching */
	bool poll;
	unsigned poll_kinds;      /* of enum change_kind */
	const char *timeout_text; /* of --timeout: seconds, with --poll milliseconds */
	const char *wait_text;    /* of -w */
	int wait;                 /* milliseconds to wait for another event; negative: no bound */

	/* how they are shown */
	int form;                 /* a row of output_forms */
	bool tree, list;          /* requested by name */
	int color;                /* enum color_when */
	bool ascii, bytes, canonicalize, evaluate, df, dfi;
	bool noheadings, notruncate, nofsroot, vfs_all, shell, quiet;
	int nest;                 /* 1: --stacks=nest */
	const char *output;       /* of -o */
	bool output_all;

	/* of the run */
	int stats;                /* enum stats_form */
	bool explain;
	bool help, version, list_columns;
};

/** The defaults of all options. */
#define OPTIONS_DEFAULT {.in = INPUT_DEFAULT, .wait = -1}

/** Read a command line of `getmnt discover`.  @argv  Permuted; operands stay the caller's.
    @return 0, or an exit status after a message. */
int discover_options_read(struct options *options, int argc, char **argv);

/** Check combinations of options, and set those that others imply.
    @return 0, or an exit status after a message. */
int discover_options_check(struct options *options);

/** Print --help. */
void discover_help(FILE *out);

struct columns;

/** A listing of mounts. */
struct listing {
	struct run run;
	const struct options *opt;
	const struct columns *cols;
	size_t watched;           /* number of mounts that --poll knows */
	uint32_t unsized;         /* number of untested mounts, whose sizes are not read */
	uint32_t hidden;          /* number of hidden mounts, whose sizes cannot be read */
};

/** Initialize a listing; the options and columns outlive it. */
void listing_init(struct listing *list, const struct options *options,
                  const struct columns *columns);

/** The fields of the table (enum mount_fields) that the columns, the output format, the
    selection and the naming need. */
unsigned listing_fields(const struct options *options, const struct columns *columns);

/** run_know(), and print the mounts that list->opt selects: `getmnt discover` without options,
    probes and --poll.  @return an exit status. */
int listing_show(struct listing *list);

/** getmnt --poll: print changes until the watch ends.  @return an exit status. */
int listing_poll(struct listing *list);

#endif
