/* SPDX-License-Identifier: MIT */
/**
 * What the commands share: exit statuses, messages, and the state of a run.
 *
 * Only this folder and getmnt.c print.
 */
#ifndef GM_CMD_CMD_H
#define GM_CMD_CMD_H

#include "base/map64.h"
#include "base/secret.h"
#include "base/strbuf.h"
#include "cmd/options.h"
#include "devmap.h"
#include "discover/discover.h"
#include "os/os.h"
#include "table/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** Exit statuses of a query; design.md section 5. */
enum cmd_exit {
	CX_OK = 0,            /* all accounted for */
	CX_ERROR = 1,         /* usage or system error */
	CX_NOTHING = 32,      /* exists but is no mount, or nothing matched */
	CX_INCOMPLETE = 64,   /* something lost, unsearched or incomplete */
};

/** A command of the program: one row of the table in commands.c. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct option_table *options;
	void (*columns)(FILE *out);          /* prints the columns of -o for the completion; or NULL */
	const char *what;                    /* for --help */
};
extern const struct command commands[];      /* ended by a NULL name */

/** The row of a command, or NULL. */
const struct command *command_find(const char *name);

/** Print the bash completion. */
void completion_print(FILE *out);

/* The commands: each returns an exit status. */
int cmd_audit(int argc, char **argv);
int cmd_discover(int argc, char **argv);
int cmd_fstab(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_search(int argc, char **argv);

/** `getmnt audit` as a monitoring plugin: check_getmnt. */
int cmd_check(int argc, char **argv);

/** `getmnt fstab` with the options and layout of genfstab(8). */
int cmd_genfstab(int argc, char **argv);

extern const struct option_table audit_table, discover_options, fstab_table, profile_table,
	recover_table, search_table;

void discover_column_words(FILE *out);
void search_column_words(FILE *out);

/** Between these, for os_mark(), stand the kernel calls that --stats counts;
    the first is before os_init(). */
#define MARK_BEGIN "getmnt:begin"
#define MARK_END "getmnt:end"

struct options;
struct columns;

enum { RUN_PLAIN = 6 };

/** What a run has found out so far; every part of the command reads it. */
struct run {
	struct os os;
	const struct options *opt;
	const struct columns *cols;
	struct devmap *devs;           /* NULL where nothing live is touched */
	struct devmap_device *devices; /* all with a file system, once listed */
	ssize_t ndevices;
	struct mount_table *table;
	struct prober *prober;         /* NULL without --probe */
	struct discovery *d;           /* NULL for an fstab or an mtab */
	struct map64 *places;          /* of d, by path_index(); or NULL */
	char *plain[RUN_PLAIN];        /* with places: directories that were lately gone down to without
	                                  a link, NULL for none */
	unsigned next_plain;
	const char *table_name;        /* "listmount", or the file that was read */
	size_t watched;                /* the mounts that --poll knows */
	int procfd, rootfd;            /* of --task; else AT_FDCWD */
	char *prefix;                  /* of --root; else NULL */
	bool live;                     /* the table is the kernel's, and of now */
	bool judged;                   /* discovery tested all that cannot block */
	bool nomem;                    /* memory ran out where that could not be told */
	bool complete;
	const char *reasons[8];        /* why it is not */
	size_t nreasons;
	double start;                  /* os_now() when it began */
	void (*progress)(const struct discover_progress *progress, void *arg);
	/* Of the machine, read when a form shows them. */
	char *host, *boot_id;
	uint64_t mntns;                /* 0: not known */
	uint64_t tid;                  /* whose table it is; 0: not known */
};

/** The number of nodes that a run knows: of the tree, or rows of the file. */
static inline size_t run_count(const struct run *run)
{
	return run->d ? run->d->tree.count : run->table->count;
}

/** The record of a node. */
static inline const struct mount *run_mount(const struct run *run, size_t i)
{
	return run->d ? run->d->tree.nodes[i].mount : &run->table->mounts[i];
}

/** The name of a node, or NULL. */
static inline const char *run_target(const struct run *run, size_t i)
{
	return run->d ? run->d->targets[i] : run->table->mounts[i].point;
}

/** The name by which the run's root sees a node; NULL if it does not. */
static inline const char *run_name(const struct run *run, size_t i)
{
	if (run->d && run->d->tree.nodes[i].states & 1u << MT_OUTSIDE)
		return NULL;
	return run_target(run, i);
}

/**
 * Read the table that run->opt names, and have all in it named and judged.
 *
 * @fields  Of the table: enum mount_fields.
 * @return 0, or an exit status after a message.
 */
int run_know(struct run *run, unsigned fields);

/**
 * The same, and the mounts that run->opt selects listed in its form: all that `getmnt
 * discover` does between its options and its end, but for probes and --poll.
 *
 * @return an exit status.
 */
int run_listed(struct run *run);

/** Free what a run found out. */
void run_destroy(struct run *run);

/* poll.c */

/** See that the options go with --poll, and set what it implies.
    @return 0, or an exit status. */
int poll_check(struct options *options);

/** getmnt --poll: watch, and print changes until it ends.  @return an exit status. */
int poll_run(struct run *run);

/** Note why a run is incomplete; a reason is kept once. */
void run_incomplete(struct run *run, const char *reason);

/** Whether memory ran out somewhere, so that what is known may lack something. */
bool run_failed(const struct run *run);

/* message.c */

/**
 * Print "getmnt: OBJECT: TEXT" on stderr, terminal-safe.
 *
 * @object
 *         What it is about; NULL for the run as such.
 */
__attribute__((format(printf, 2, 3)))
void message(const char *object, const char *format, ...);

/** Print that block devices cannot be listed (errno says why), and how to mount /sys.
    @effect  What follows from it, as ", so ..."; or "". */
void message_no_devices(const char *object, const char *effect);

/** From now on the help of a command is where help is.  @name  Stays. */
void message_verb(const char *name);

/** The same, and where help is.  @return CX_ERROR. */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *object, const char *format, ...);

/**
 * Have all messages from here on noted as well: a line each, without the "getmnt: ".
 *
 * @to     NULL: no longer.
 * @alone  Nothing is printed: who reads but one line of standard output gets them there.
 */
void message_note(struct strbuf *to, bool alone);

/**
 * Close stdout and see that all of it was written.  Nothing may be printed on
 * it afterwards.
 *
 * @whole
 *         Whether it is a document, which counts as cut also when stdout was
 *         closed from the beginning.
 * @return 0, or -1 after a message (none for a broken pipe).
 */
int finish_stdout(bool whole);

/** Flush stdout in the middle of what is no document.  @return as finish_stdout(). */
int flush_stdout(void);

/** Something was printed past stdio, and could not be: finish_stdout() is to say so.
    @error  An errno. */
void fail_stdout(int error);

#endif
