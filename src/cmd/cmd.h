/* SPDX-License-Identifier: MIT */
/**
 * What the commands share: exit statuses, messages, and the state of a run.
 *
 * Only this folder and getmnt.c print.
 */
#ifndef GM_CMD_CMD_H
#define GM_CMD_CMD_H

#include "base/secret.h"
#include "base/strbuf.h"
#include "cmd/options.h"
#include "devmap.h"
#include "discover/discover.h"
#include "os/os.h"
#include "mounts/paths.h"
#include "mounts/table.h"

#include <stdio.h>

/** Exit statuses of a query. */
enum cmd_exit {
	CX_OK = 0,            /* complete */
	CX_ERROR = 1,         /* usage or system error */
	CX_NOTHING = 32,      /* nothing matched, or the path is not a mount point */
	CX_INCOMPLETE = 64,   /* mounts are lost or unsearched, or the table is incomplete */
};

/* command.c */

/** A command, or a subcommand. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct option_table *options;
	const struct column_table *columns;  /* of -o; or NULL */
	const char *what;                    /* for --help */
	const struct command *subcommands;   /* of which one is the first operand; or NULL */
};

/** The commands of the program, for help and messages: all_commands, which main() sets; none
    before.  Ends with a NULL name, as every table of commands. */
extern const struct command *commands;

/** The row of a command in a table, or NULL. */
const struct command *command_find(const struct command *table, const char *name);

/** The command of a table that a misspelled name may mean, or the name of another program; or
    NULL. */
const struct command *command_near(const struct command *table, const char *word);

/** Print the commands of a table for --help. */
void commands_help(const struct command *table, FILE *out);

/* commands.c */

/** The table of commands. */
extern const struct command all_commands[];

/** Print the bash completion: `getmnt --dump-completion`. */
void completion_print(FILE *out);

/* The commands: each returns an exit status.  cmd_check() is `getmnt audit` as a monitoring
   plugin, cmd_genfstab() `getmnt fstab` with the options and layout of genfstab(8). */
int cmd_audit(int argc, char **argv);
int cmd_discover(int argc, char **argv);
int cmd_find(int argc, char **argv);
int cmd_fstab(int argc, char **argv);
int cmd_index(int argc, char **argv);
int cmd_profile(int argc, char **argv);
int cmd_recover(int argc, char **argv);
int cmd_search(int argc, char **argv);
int cmd_serve(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_genfstab(int argc, char **argv);

extern const struct option_table audit_table, discover_options, find_table, fstab_table,
	index_table, profile_table, recover_table, search_table, serve_table;
/** Make the table of the options of check_getmnt.  @rows [out]  OPTION_ROWS_MAX of them. */
struct option_table audit_plugin_table(struct option_row *rows);
extern const struct column_table discover_columns, search_columns;
extern const struct command index_commands[];

/** Marks for os_mark() around the kernel calls that --stats counts; the first is set before
    os_init(). */
#define MARK_BEGIN "getmnt:begin"
#define MARK_END "getmnt:end"

struct options;
struct columns;

/** The state of a listing of mounts. */
struct run {
	struct os os;
	const struct options *opt;
	const struct columns *cols;
	struct devmap *devs;           /* NULL: no device is examined */
	struct devmap_device *devices; /* devices with a file system; NULL: not listed yet */
	ssize_t ndevices;
	struct mount_table *table;
	struct prober *prober;         /* NULL without --probe */
	struct discovery *d;           /* NULL for an fstab or mtab */
	struct mounts_paths paths;     /* run_paths() */
	bool pathed;                   /* paths is set */
	struct mounts *known;          /* found while --root was resolved; or NULL */
	const char *table_name;        /* "listmount", or the file that was read */
	size_t watched;                /* number of mounts that --poll knows */
	int procfd, rootfd;            /* of --task; else AT_FDCWD */
	bool untestable;               /* --task: its root cannot be opened */
	uint32_t unsized;              /* number of untested mounts, whose sizes are not read */
	uint32_t hidden;               /* number of hidden mounts, whose sizes cannot be read */
	char *prefix;                  /* of --root; else NULL */
	bool live;                     /* the table is the current one of the kernel */
	bool nomem;                    /* memory ran out in a function that cannot report it */
	bool complete;
	const char *reasons[8];        /* why it is not complete */
	size_t nreasons;
	double start;                  /* os_now() at the start */
	void (*progress)(const struct discover_progress *progress, void *arg);
	/* About the machine; read if the output shows them. */
	char *host, *boot_id;
	uint64_t mntns;                /* 0: unknown */
	uint64_t tid;                  /* process that the table belongs to; 0: unknown */
};

/** The number of mounts: nodes of the tree, or rows of the file. */
static inline size_t run_count(const struct run *run)
{
	return run->d ? run->d->tree.count : run->table->count;
}

/** The record of a node. */
static inline const struct mount *run_mount(const struct run *run, size_t i)
{
	return run->d ? run->d->tree.nodes[i].mount : &run->table->mounts[i];
}

/** The mount point of a node, or NULL. */
static inline const char *run_target(const struct run *run, size_t i)
{
	return run->d ? run->d->targets[i] : run->table->mounts[i].point;
}

/** The mount point of a node as seen from the root of the run; NULL: not visible. */
static inline const char *run_name(const struct run *run, size_t i)
{
	if (run->d && run->d->tree.nodes[i].states & 1u << MT_OUTSIDE)
		return NULL;
	return run_target(run, i);
}

/* run.c */

/** Initialize a run; the options and columns outlive it. */
void run_init(struct run *run, const struct options *options, const struct columns *columns);

/** Start to count kernel calls, and probe the kernel's features unless the table is recorded. */
void run_start(struct run *run);

/** Add a reason why a run is incomplete, unless it is known. */
void run_incomplete(struct run *run, const char *reason);

/** Whether memory ran out somewhere, so that results may be missing. */
bool run_failed(const struct run *run);

/** Read host name, boot ID and mount namespace; unreadable ones stay unknown.
    @self  Also the ID of this process, if the table is its own.  @return 0, or -1 (ENOMEM). */
int machine_read(struct run *run, bool self);

/* input.c */

/** Read the table that run->opt names, and find the name and state of every mount.
    @fields  enum mount_fields.  @return 0, or an exit status after a message. */
int run_know(struct run *run, unsigned fields);

/** Free a run. */
void run_destroy(struct run *run);

/* discover/ */

/** run_know(), and print the mounts that run->opt selects: `getmnt discover` without options,
    probes and --poll.  @return an exit status. */
int run_listed(struct run *run);

/** getmnt --poll: print changes until the watch ends.  @return an exit status. */
int poll_run(struct run *run);

/* message.c */

/** Print "getmnt: OBJECT: TEXT" on stderr, safe for a terminal.  @object  NULL: none. */
__attribute__((format(printf, 2, 3)))
void message(const char *object, const char *format, ...);

/** Report that block devices cannot be listed (errno says why), and how to mount /sys.
    @effect  The consequence, as ", so ..."; or "". */
void message_no_devices(const char *object, const char *effect);

/** Refer to the help of a command in usage errors from now on.  @name  Borrowed. */
void message_verb(const char *name);

/** message(), followed by a hint at --help.  @return CX_ERROR. */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *object, const char *format, ...);

/** Append all further messages to a buffer as well, one line each, without "getmnt: ".
    @to  NULL: stop.  @alone  Print nothing on standard error. */
void message_note(struct strbuf *to, bool alone);

/** Make output_status() an error: a part of the output was not printed. */
void lose_output(void);

/** Set the exit status of a run that lost output; without this call it is CX_ERROR. */
void set_lost_status(int status);

/** The exit status of the program.  @status  Of the command. */
int output_status(int status);

/** Print bytes on standard error and free them; text for people: text_print().  If standard error
    would block, wait; if memory has run out for a part of them, lose_output(). */
void print_stderr(struct strbuf *text);

/** Close stdout and check that everything was written; to a stdout that was closed from the
    beginning, only nothing can be.
    @return 0, or -1 after a message (none for a broken pipe). */
__attribute__((warn_unused_result))
int finish_stdout(void);

/** Flush stdout between lines.  @return as finish_stdout(). */
__attribute__((warn_unused_result))
int flush_stdout(void);

/** Print the bytes of a buffer and free it; text for people: text_print().
    @return 0, or -1 (ENOMEM) without output. */
__attribute__((warn_unused_result))
int print_buffer(struct strbuf *text);

/** Make finish_stdout() report an error of output that bypassed stdio.  @error  An errno. */
void fail_stdout(int error);

#endif
