/* SPDX-License-Identifier: MIT */
/**
 * Shared by the commands: exit statuses, the table of commands, messages.
 *
 * Only this folder and getmnt.c print.
 */
#ifndef GM_CMD_CMD_H
#define GM_CMD_CMD_H

#include "base/strbuf.h"
#include "cmd/options.h"

#include <stdio.h>

/** Exit statuses of the commands that do not define their own, as audit, fstab and recover do. */
enum cmd_exit {
	CX_OK = 0,            /* complete */
	CX_ERROR = 1,         /* usage or system error */
	CX_NOTHING = 32,      /* nothing matched, or the path is not a mount point */
	CX_INCOMPLETE = 64,   /* mounts are missing or were not searched, or the mount table is
	                         incomplete */
};

/* command.c */

/** A command, or a subcommand. */
struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const struct option_table *options;
	const struct column_table *columns;  /* the columns that -o accepts; or NULL */
	const char *what;                    /* description for --help */
	const struct command *subcommands;   /* the first operand names a subcommand; or NULL */
};

/** The commands of the program, for help and messages: main() sets this pointer to all_commands.
    Each table of commands ends with a NULL name. */
extern const struct command *commands;

/** Find the row of a command in a table.  @return NULL if the table does not have the command. */
const struct command *command_find(const struct command *table, const char *name);

/** Find the command of a table that a user probably means by a misspelled name or by the name of
    another program, such as "lint"; or NULL. */
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
/** Make the table of the options of check_getmnt.  @rows [out]  Room for OPTION_ROWS_MAX rows. */
struct option_table audit_plugin_table(struct option_row *rows);
extern const struct column_table discover_columns, search_columns;
extern const struct command index_commands[];

/** Marks for os_mark(): --stats counts the kernel calls between them.  MARK_BEGIN is set before
    os_init(). */
#define MARK_BEGIN "getmnt:begin"
#define MARK_END "getmnt:end"

/* message.c */

/** Print "getmnt: OBJECT: TEXT" on stderr, safe for a terminal.  @object  NULL: none. */
__attribute__((format(printf, 2, 3)))
void message(const char *object, const char *format, ...);

/** Report an error with the text of its errno value.  @status  The exit status to return.
    @return status. */
int message_error(const char *object, int error, int status);

/** Report that block devices cannot be listed (errno says why), and how to mount /sys.
    @effect  The consequence, as ", so ..."; or "". */
void message_no_devices(const char *object, const char *effect);

/** Set the command whose --help later usage errors suggest.  @name  Borrowed. */
void message_verb(const char *name);

/** Print a message as message() does, then a hint at --help.  @return CX_ERROR. */
__attribute__((format(printf, 2, 3)))
int usage_error(const char *object, const char *format, ...);

/** Also append all later messages to a buffer, one line each, without "getmnt: ".
    @to  The buffer; NULL: stop appending.  @alone  Print nothing on standard error. */
void message_note(struct strbuf *to, bool alone);

/** Record that a part of the output was not printed, so that output_status() returns an error. */
void lose_output(void);

/** Set the exit status of the program if a part of the output was not printed.  Default:
    CX_ERROR. */
void set_lost_status(int status);

/** Get the exit status of the program.
    @status  The status of the command; returned unless lose_output() was called. */
int output_status(int status);

/** Print bytes on standard error and free them; for text that people read, use text_print().
    Waits if standard error would block; calls lose_output() if memory ran out for a part of the
    text. */
void print_stderr(struct strbuf *text);

/** Close stdout and check that everything was written.  If stdout was closed from the start, any
    output is an error.
    @return 0, or -1 after a message (none for a broken pipe, or if it was printed before). */
__attribute__((warn_unused_result))
int finish_stdout(void);

/** Flush stdout between lines.  @return as finish_stdout(). */
__attribute__((warn_unused_result))
int flush_stdout(void);

/** Print the bytes of a buffer and free it; for text that people read, use text_print().
    @return 0, or -1 (ENOMEM) without output. */
__attribute__((warn_unused_result))
int print_buffer(struct strbuf *text);

/** Make finish_stdout() report an error of output that bypassed stdio.  @error  An errno value. */
void fail_stdout(int error);

#endif
