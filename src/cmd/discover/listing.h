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
	FF_OBJECTS = 1 << 3,    /* JSON objects: each column only once, since keys must differ */
	FF_TEXT = 1 << 4,       /* uses characters of the locale */
	FF_POLL = 1 << 5,       /* allowed with --poll */
	FF_FSTAB = 1 << 6,      /* with FF_LINES: for unknown fields, the values of an fstab: none,
	                           auto, defaults */
	FF_SETMNT = 1 << 7,     /* with FF_LINES: print only source and mount point */
};

/** An output format, selected by --format or an option of its own. */
struct output_form {
	const char *name;
	unsigned flags;         /* enum form_flags */
	unsigned fields;        /* enum mount_fields that the format needs in addition to the
	                           columns */
};

/** The formats, indexed by enum form; the last has no name.  Defined in forms.c. */
extern const struct output_form output_forms[];

/** Options of a listing.  Strings are borrowed. */
/** Which mounts are selected. */
struct pick_options {
	bool all, first_only, invert, pseudo, real, shadowed, submounts, uniq, unmounted;
	int backward;             /* 1: --direction backward */
	uint64_t id, uniq_id;     /* 0: any */
	const char *mount_options, *types;
	const char *mountpoint, *target, *spec;
	char **operands;
	int noperands;
};

struct options {
	struct input_opts in;

	struct pick_options pick;

	/* finding mounts, in addition to `in` */
	bool limit_given;
	int engine;
	bool strict;

	/* watching */
	bool poll;
	unsigned poll_kinds;      /* set of enum change_kind */
	const char *timeout_text; /* argument of --timeout: seconds, with --poll milliseconds */
	const char *wait_text;    /* argument of -w */
	int wait;                 /* milliseconds to wait for the next event; negative: unlimited */

	/* showing mounts */
	int form;                 /* enum form: a row of output_forms */
	bool tree, list;          /* --tree, --list */
	int color;                /* enum color_when */
	bool ascii, bytes, canonicalize, evaluate, df, dfi;
	bool noheadings, notruncate, nofsroot, vfs_all, shell, quiet;
	int nest;                 /* 1: --stacks=nest */
	const char *output;       /* argument of -o */
	bool output_all;

	/* about the run */
	int stats;                /* enum stats_form */
	bool explain;
	bool help, version, list_columns;
};

/** The defaults of all options. */
#define OPTIONS_DEFAULT {.in = INPUT_DEFAULT, .wait = -1}

/** Read a command line of `getmnt discover`.  @argv  Permuted; operands are borrowed.
    @return 0, or an exit status after a message. */
int discover_options_read(struct options *options, int argc, char **argv);

/** Check combinations of options, and set the options that other options imply.
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
	size_t watched;           /* number of mounts known to --poll */
	uint32_t unsized;         /* number of mounts that were not tested, so their sizes are
	                             unknown */
	uint32_t hidden;          /* number of mounts that other mounts hide: their sizes
	                             cannot be read */
};

/** Initialize a listing; the options and columns outlive it. */
void listing_init(struct listing *list, const struct options *options,
                  const struct columns *columns);

/** Get the fields of the mount table (set of enum mount_fields) that the columns, the output
    format, the selection and the names of mounts need. */
unsigned listing_fields(const struct options *options, const struct columns *columns);

/** Call run_know(), and print the mounts that list->opt selects, as `getmnt discover` does if
    neither --probe nor --poll is given.  Used by getmnt profile.
    @return an exit status. */
int listing_show(struct listing *list);

/** For getmnt --poll: print the changes of mounts until the watch ends.  @return an exit status. */
int listing_poll(struct listing *list);

#endif
