/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of `getmnt audit`.
 *
 *     audit.c       the flow
 *     options.c     the options of the audit and of the monitoring plugin
 *     host.c        reads the input of the rules about a host
 *     config.c      finding, reading and printing the configuration
 *     baseline.c    --baseline and --save
 *     way.c         the format, the output file, the time limit
 *     watch.c       --watch
 *     out.c         findings as text; the list of rules
 *     json.c        findings as JSON, as a line of JSON
 *     nagios.c      findings as output of a monitoring plugin
 *     prometheus.c  findings as metrics
 *
 * A format is a pure function of struct audit_reported that appends to a string; it fails only by
 * string->failed.
 */
#ifndef GM_CMD_AUDIT_H
#define GM_CMD_AUDIT_H

#include "audit/baseline.h"
#include "audit/config.h"
#include "audit/live.h"
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/machine.h"
#include "cmd/options.h"
#include "os/bounded.h"

/** Exit statuses of an audit. */
enum { AX_CLEAN = 0, AX_FINDINGS = 1, AX_FAILED = 2 };

/** Exit statuses of a monitoring plugin. */
enum { NX_OK = 0, NX_WARNING = 1, NX_CRITICAL = 2, NX_UNKNOWN = 3 };

/** A range of the monitoring plugins: "10", "5:10", "~:10", "@5:10". */
struct audit_range {
	const char *text;        /* as given by the user */
	double from, to;
	bool inside;             /* "@": alert for numbers inside the range, not outside */
};

/** Limits of a monitoring plugin. */
struct audit_limits {
	struct audit_range warning, critical;   /* for the number of findings of this severity */
	int verbose;             /* number of -v options */
};

/** The output format, destination and time limit of an audit: way.c. */
struct audit_way {
	int form;                /* enum audit_form */
	bool chosen;             /* the format was requested by an option */
	bool plugin;             /* check_getmnt or --nagios: other options; everything goes to
	                            standard output */
	bool whole;              /* --require-complete */
	bool terminal;           /* standard output is a terminal */
	const char *output;      /* a file instead of standard output; or NULL */
	double seconds;          /* the time limit; 0: none; -1: the default of the format */
	struct audit_limits limits;
	const char *root;        /* for the report of a failed audit */
	bool live;
	int color;               /* enum color_when */
	bool unsaved;            /* the baseline cannot be saved */
	struct strbuf said;      /* messages, one per line */
	const char *save;        /* the file for `saved`, written after the document; or NULL */
	struct strbuf saved;     /* a baseline: of --save, or for the next audit of --watch */
	char why[160];           /* why audit_way_collect() failed */

	double watch;            /* --watch: the longest time between audits; 0: audit once */
	int files;               /* the files to watch: os_files_open(); -1: none */
	struct strbuf known;     /* `saved` of the last audit; empty: none, or the audit failed */
	struct strbuf metrics;   /* for `output`, if `document` goes elsewhere */
};

enum audit_form { AF_TEXT, AF_JSON, AF_JSONL, AF_NAGIOS, AF_PROMETHEUS };

enum { AUDIT_OWNERS_MAX = 32 };

/** The options. */
struct audit_opts {
	bool help, list_rules, explain, show_config, version;
	bool only;                /* --only was given */
	audit_set rules, without; /* the enabled rules; the rules of --disable */
	int fail_on;              /* enum audit_severity; a higher number: never */
	int stats;                /* enum stats_form */
	int probe;                /* enum discover_probe */
	bool is_static;           /* check only the text of the fstab, without facts about a host */
	bool under, holders;      /* check data covered by mounts; processes that hold unmounted
	                             file systems */
	double timeout;           /* of a probe, in seconds */
	const char *baseline, *config, *fstab, *root, *tab_file, *swaps;
	char **paths;             /* report only mounts at or below these paths, which the audit
	                             resolves */
	size_t npaths;
	const char *include[AUDIT_OWNERS_MAX + 1];   /* of audit_owners[] */
	struct audit_way way;
};

/** The data that is printed. */
struct audit_reported {
	struct run *run;
	const struct audit_report *report;
	const struct audit_config *config;  /* with the ignored findings */
	int64_t today;           /* as in audit_config_apply() */
	const char *fstab;       /* name of the fstab; NULL: it does not exist */
	const char *root;
	audit_set rules;         /* enabled rules */
	audit_set not_checked;   /* enabled rules that were not checked for all lines or mounts */
	audit_set lacking;       /* the part of `not_checked` that lacked a fact, not an option */
	bool foreign;            /* the fstab does not belong to the host: text lists `lacking` */
	enum audit_severity least;  /* text lists findings of at least this severity */
	bool terminal, colored;  /* text goes to a terminal; in colors */
	const char *failed;      /* why the audit failed, escaped; NULL: it succeeded */
	int status;              /* AX_CLEAN ... */
	int64_t began;           /* seconds since 1970 */
	double seconds;          /* duration */
	size_t mounts;           /* number of mounts */
	const struct audit_way *way;
	const char *baseline;    /* the name of the baseline; NULL: none */
	const struct audit_baseline *old;   /* its content */
	const struct audit_base_counts *since;   /* differences from the baseline */
	const struct audit_baseline *last;  /* --watch: the findings of the last audit; those
	                                       without a pair were cleared; NULL: none */
};

/** Whether all mounts are known. */
static inline bool audit_is_complete(const struct audit_reported *reported)
{
	return !reported->failed && reported->run->complete;
}

/* options.c */

/** Parse the options, and check their combinations.
    @table  audit_table, or audit_plugin_table().
    @return 0, or an exit status after a message. */
int audit_options_read(const struct option_table *table, int argc, char **argv,
                       struct audit_opts *opts);

/** Print the help. */
void audit_options_help(const struct option_table *table, bool plugin);

/* host.c */

/** Read the input of audit_host(), and call it.
    @in  mtab, errors, cmdline and crypttab are set here.
    @return 0; -1 (ENOMEM); or -2 after a message. */
int audit_check_host(struct fstab_machine *machine, struct audit_live *in,
                     struct audit_report *report);

/* config.c: ROOT/etc/getmnt/audit.conf, then ROOT/etc/getmnt/audit.conf.d/NAME.conf in the order
    of names; or one named file.  No file system that can block is accessed.  Root does not read
    a file that other users may write. */

/** Read the configuration.
    @machine  After machine_know().
    @given  A file to read instead, or "none"; NULL: the usual files, or none for a recorded table.
    @config  Initialized with zeros.
    @return 0, or -1 after messages: a file cannot be read, or has an invalid line. */
int audit_config_read(struct fstab_machine *machine, const char *given,
                      struct audit_config *config);

/** Print the configuration, each line with its position, and the expired lines.
    @looked  The ROOT whose files were read; NULL: another file, or none.
    @return 0, or -1 (ENOMEM). */
int audit_config_show(const struct audit_config *config, const char *looked, int64_t today);

/** Read a file that an option names, unless the path has a symlink of another user, or access can
    block.  Root reads no file that other users may write.
    @option  The option, for messages.
    @text [out]  To be freed.
    @return 1; 0: it does not exist; -1 after a message. */
int audit_read_named(struct fstab_machine *machine, const char *name, const char *option,
                     size_t max, char **text, size_t *len);

/* baseline.c */

struct audit_base_run {
	const char *baseline, *save;   /* names of files, or NULL */
	bool compared;                 /* `old` was read, and belongs to this host and root */
	struct audit_baseline old, now;
	struct audit_base_counts counts;
};

/** @include  Names of owners, ending with NULL. */
void audit_base_init(struct audit_base_run *base, const char *baseline, const char *save,
                     const char *const *include);
void audit_base_destroy(struct audit_base_run *base);

/** Read the old baseline, and check that the new one may be written.
    @machine  After machine_know().
    @return 0, or -1 after a message. */
int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine);

/** Append the text of the file for --save.  @return 0, or -1 after a message: nothing is saved. */
int audit_base_text(struct audit_base_run *base, const struct audit_reported *reported,
                    struct strbuf *out);

/** Append the text of a baseline.  Pure. */
void audit_base_write(const struct audit_baseline *baseline, struct strbuf *out);

/** Parse the text of a baseline.
    @baseline  From audit_baseline_init().
    @line, why [out]  For EBADMSG: the invalid line, and why.
    @return 0, or -1.  Errors: EBADMSG; ENOMEM. */
int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line,
                     struct strbuf *why);

/* out.c */

/** Shorten the part of a text after a length to at most `chars` characters, ending in "..."; a
    short word or path component is kept whole. */
void audit_cut(struct strbuf *out, size_t from, size_t chars);

/** Append a text of a finding, escaped; for a user's mount at most AUDIT_TEXT_MAX characters. */
enum { AUDIT_TEXT_MAX = 300 };
void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text);

/** Append a line with the number of omitted findings, if any. */
void audit_put_left_out(struct strbuf *out, const struct audit_report *report);

/** Append a line with the rules that were not checked for all lines or mounts, if any. */
void audit_put_not_checked(struct strbuf *out, const struct audit_reported *reported);

/** The next expired line of the configuration, or NULL.  @at [in,out]  0 at first. */
const struct audit_row *audit_next_over(const struct audit_reported *reported, size_t *at);

/** Append the list of the enabled rules, or with --explain their text from the manual. */
void audit_list_rules(const struct audit_opts *opts, struct strbuf *out);

/** Print findings by mount point and a summary; nothing if the audit failed. */
void audit_text(const struct audit_reported *reported, struct strbuf *out);

/** Print a line for each finding that only one of `reported` and `last` has. */
void audit_text_changes(const struct audit_reported *reported, struct strbuf *out);

/** The next finding that only `last` has; findings of users' mounts are limited as by
    audit_report_bound().  NULL: no more.  @at [in,out]  {0} at first. */
struct audit_cleared {
	size_t at, users;
	enum audit_severity severity;   /* [out] */
};
const struct audit_base_entry *audit_next_cleared(const struct audit_reported *reported,
                                                  struct audit_cleared *at);

/* json.c */

/** One JSON document: docs/audit.schema.json. */
void audit_json(const struct audit_reported *reported, struct strbuf *out);

/** The document of audit_json() on one line. */
void audit_jsonl(const struct audit_reported *reported, struct strbuf *out);

/** audit_text_changes() as JSON lines. */
void audit_jsonl_changes(const struct audit_reported *reported, struct strbuf *out);

/** Write a member with the codes of a set. */
void audit_put_rules(struct json *json, const char *key, audit_set set);

/* nagios.c */

/** A line with perfdata, and more lines as `verbose` requires.  @out  Empty. */
void audit_nagios(const struct audit_reported *reported, struct strbuf *out);

/** The exit status for audit_nagios(). */
int audit_nagios_status(const struct audit_reported *reported);

/** Parse a range.  @return whether it is valid. */
bool audit_range_read(const char *text, struct audit_range *range);

/** Whether a number is outside a range; with "@", inside it. */
bool audit_range_alerts(const struct audit_range *range, double number);

/* prometheus.c */

/** Text for Prometheus, with a limited number of series. */
enum { AUDIT_SERIES_MAX = 500 };
void audit_prometheus(const struct audit_reported *reported, struct strbuf *out);

/** Append the value of a label in quotes, as valid UTF-8 of at most 1000 bytes. */
void audit_label(struct strbuf *out, const char *value);

/* way.c */

void audit_way_init(struct audit_way *way);
void audit_way_destroy(struct audit_way *way);

/** Whether the arguments are those of a monitoring plugin; if so, messages are only collected
    from now on.  @named  Called as check_getmnt. */
bool audit_way_plugin(struct audit_way *way, bool named, int argc, char **argv);

/** Make the document in the requested format.  @return the exit status. */
int audit_way_report(struct audit_way *way, const struct audit_reported *reported,
                     struct strbuf *document);

/** Check that the baseline can be saved, before the document reports the status.
    @return 0, or -1 after a message. */
int audit_way_may_save(const struct audit_way *way);

/** The last message, or a default reason. */
const char *audit_way_why(struct audit_way *way);

/** An audit, or other work of the same kind. */
struct audit_work {
	struct audit_opts *opts;
	/* Does it, appends to the document, as by audit_way_report(), and returns the status. */
	int (*run)(struct audit_opts *opts, struct strbuf *document);
};

/** Audit, within the time limit, and print or write the document.
    @return the exit status of the program. */
int audit_way_run(const struct audit_work *work);

/** Work in a child, for audit_way_collect(), and end. */
_Noreturn void audit_way_child(const struct audit_work *work);

/** Write `metrics` to `output`, in a child.  @return an exit status. */
int audit_way_put_metrics(struct audit_opts *opts, struct strbuf *document);

/** Get the result of a child: append the document, `saved` and `metrics`.
    @rc  The result of os_bounded_finish(), or -1.
    @return the exit status; -1: no result, for the reason in `why`. */
int audit_way_collect(struct audit_way *way, int rc, const struct os_bounded *done,
                      struct strbuf *document);

/** Report a failed audit.  @return the exit status. */
int audit_way_fail(struct audit_way *way, const char *why, struct strbuf *document);

/** Report invalid options in the requested format, if it is a format for programs.
    @return the exit status of the program. */
int audit_way_refuse(struct audit_way *way, int argc, char **argv);

/* watch.c */

/** When the next audit is due.  Times are seconds of os_now(). */
struct audit_pace {
	double interval;         /* the longest time between two audits */
	double began, ended;     /* time of the last audit */
	double rest;             /* the minimum time from its end to the next audit */
	double first, last;      /* when a change since then was first and last noticed; 0: none */
	bool requested;          /* requested by a signal */
};

/** An audit begins, which will see all changes so far. */
void audit_pace_began(struct audit_pace *pace, double now);

/** An audit has ended.  @cost  Seconds of processor time. */
void audit_pace_ended(struct audit_pace *pace, double now, double cost);

void audit_pace_changed(struct audit_pace *pace, double now);

double audit_pace_due(const struct audit_pace *pace);

/** Audit repeatedly until a signal ends the program; otherwise as audit_way_run(). */
int audit_watch_run(const struct audit_work *work);

/* Called in each audit of a watch, which is a child; without --watch these do nothing. */

/** Watch the files that the audit will read, or the parent directories of missing files. */
void audit_watch_files(const struct audit_opts *opts, struct fstab_machine *machine);

/** Compare the findings with the findings of the last audit.
    @last  From audit_base_init().  @return 0, or -1 (ENOMEM). */
int audit_watch_compare(const struct audit_way *way, struct audit_report *report,
                        struct audit_base_run *last);

#endif
