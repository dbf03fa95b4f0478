/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of `getmnt audit`.
 *
 *     audit.c       one audit, from its input to its report
 *     options.c     the options of the audit and of the monitoring plugin
 *     host.c        the input of the rules about a host
 *     config.c      finding, reading and printing the configuration
 *     baseline.c    --baseline and --save
 *     way.c         the format, the output file, the time limit
 *     watch.c       --watch
 *     out.c         findings as text; the list of rules
 *     json.c        findings as JSON, as a line of JSON
 *     nagios.c      findings as output of a monitoring plugin
 *     prometheus.c  findings as metrics
 *
 * ROOT is the directory given by --root, by default "/": the root of the audited system.
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

/** Settings of a monitoring plugin. */
struct audit_limits {
	struct audit_range warning, critical;   /* acceptable numbers of warnings and of critical
	                                           findings */
	int verbose;             /* number of -v options */
};

/** The output format, destination and time limit of an audit: way.c. */
struct audit_way {
	int form;                /* enum audit_form */
	bool chosen;             /* the format was requested by an option */
	bool plugin;             /* check_getmnt or --nagios: messages are not printed on standard
	                            error */
	bool whole;              /* --require-complete */
	bool terminal;           /* standard output is a terminal */
	const char *output;      /* a file instead of standard output; or NULL */
	double seconds;          /* the time limit; 0: none; -1: the default of the format */
	struct audit_limits limits;
	const char *root;        /* the argument --root of the audit, for the report of a failed
	                            audit */
	bool live;               /* the live mounts are audited */
	int color;               /* enum color_when */
	bool unsaved;            /* the baseline cannot be saved */
	struct strbuf said;      /* messages of the program, one per line */
	const char *save;        /* the file for `saved`, written after the document; or NULL */
	struct strbuf saved;     /* text of the baseline that --save writes; with --watch, text of
	                            the findings, for comparison in the next audit */
	char why[160];           /* why audit_way_collect() failed */

	double watch;            /* --watch: maximum seconds between audits; 0: audit once */
	int files, errors;       /* descriptors that watch files and file systems, from
	                            os_files_open() and os_errors_open(); -1: none */
	struct strbuf known;     /* `saved` of the last audit; empty: none, or the audit failed */
	struct strbuf metrics;   /* --watch --prometheus: text for `output`; the document, for
	                            standard output, is text for people */
};

enum audit_form { AF_TEXT, AF_JSON, AF_JSONL, AF_NAGIOS, AF_PROMETHEUS };

enum { AUDIT_OWNERS_MAX = 32 };

/** The options of getmnt audit and of check_getmnt. */
struct audit_opts {
	bool help, list_rules, explain, show_config, version;
	bool only;                /* --only was given */
	audit_set rules, without; /* the enabled rules; the rules of --disable */
	int fail_on;              /* enum audit_severity from which on findings make the exit status
	                             AX_FINDINGS; a higher number: no finding does */
	int stats;                /* enum stats_form */
	int probe;                /* enum discover_probe */
	bool is_static;           /* check only the text of the fstab, without facts about a host */
	bool under, holders;      /* --under: check for data covered by mounts; --holders: check for
	                             processes that hold unmounted file systems */
	double timeout;           /* time limit of a probe, in seconds */
	const char *baseline, *config, *fstab, *root, *tab_file, *swaps;
	char **paths;             /* report only mounts at or below these paths, which the audit
	                             resolves */
	size_t npaths;
	const char *include[AUDIT_OWNERS_MAX + 1];   /* arguments of --include: elements of
	                                                audit_owners[]; then NULL */
	struct audit_way way;
};

/** The result of an audit, from which each output format is made. */
struct audit_reported {
	struct run *run;
	const struct audit_report *report;
	const struct audit_config *config;  /* with the findings that the configuration ignores */
	int64_t today;           /* in days since 1970 */
	const char *fstab;       /* name of the fstab file; NULL: the file does not exist */
	const char *root;
	audit_set rules;         /* enabled rules */
	audit_set not_checked;   /* enabled rules that were not checked for all lines or mounts */
	audit_set lacking;       /* rules of `not_checked` that lacked a fact; the other rules need
	                            an option such as --probe */
	struct audit_situation situation;   /* why rules were not checked; if .foreign is set,
	                                       audit_text() lists `lacking` */
	enum audit_severity least;  /* audit_text() lists findings of at least this severity */
	bool terminal, colored;  /* the text goes to a terminal; the text has colors */
	const char *failed;      /* why the audit failed, escaped; NULL: it succeeded */
	int status;              /* exit status: AX_* */
	int64_t began;           /* seconds since 1970 */
	double seconds;          /* duration of the audit */
	size_t mounts;           /* number of mounts */
	const struct audit_way *way;
	const char *baseline;    /* the name of the baseline; NULL: none */
	const struct audit_baseline *old;   /* the content of the baseline */
	const struct audit_base_counts *since;   /* differences from the baseline */
	const struct audit_baseline *last;  /* --watch: the findings of the last audit; an entry
	                                       without a pair no longer occurs; NULL: no last
	                                       audit */
};

/** Whether the audit succeeded and all mounts are known. */
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

/** Print the help.  @plugin  Print the help of check_getmnt instead of that of getmnt audit. */
void audit_options_help(const struct option_table *table, bool plugin);

/* host.c */

/** Read the input of the rules about a host, and check these rules by audit_host().
    @in  Complete except for mtab, errors, cmdline and crypttab, which this function sets.
    @return 0; -1 (ENOMEM); or -2 after a message. */
int audit_check_host(struct fstab_machine *machine, struct audit_live *in,
                     struct audit_report *report);

/* config.c reads ROOT/etc/getmnt/audit.conf, then ROOT/etc/getmnt/audit.conf.d/NAME.conf in the
   order of names; or only the file of --config.  No file system that can block is accessed.  The
   superuser does not read a file that other users may write. */

/** Read the configuration.
    @machine  Initialized by machine_know().
    @given  The argument of --config: a file, or "none"; NULL: read the default files, or no file if
            the mount table is recorded.
    @config  Initialized with zeros.
    @return 0, or -1 after messages: a file cannot be read, or has an invalid line. */
int audit_config_read(struct fstab_machine *machine, const char *given,
                      struct audit_config *config);

/** Print the configuration, each line with its position, and the expired lines.
    @looked  The path of ROOT, if the default files below ROOT were read; else NULL.
    @return 0, or -1 (ENOMEM). */
int audit_config_show(const struct audit_config *config, const char *looked, int64_t today);

/** Read a file that an option names, unless the path has a symlink of another user, or access can
    block.  The superuser reads no file that other users may write.
    @option  The option, for messages.
    @max  Maximum size of the file in bytes.
    @text [out]  To be freed.
    @return 1: the file was read; 0: the file does not exist; -1 after a message. */
int audit_read_named(struct fstab_machine *machine, const char *name, const char *option,
                     size_t max, char **text, size_t *len);

/* baseline.c */

/** The baselines of an audit: the old baseline, and the present state for the new baseline. */
struct audit_base_run {
	const char *baseline, *save;   /* names of files, or NULL */
	bool compared;                 /* `old` was read, and is of this host and this ROOT */
	struct audit_baseline old, now;
	struct audit_base_counts counts;
};

/** Initialize without reading a file.  @include  Names of owners, ending with NULL. */
void audit_base_init(struct audit_base_run *base, const char *baseline, const char *save,
                     const char *const *include);
void audit_base_destroy(struct audit_base_run *base);

/** Read the file of --baseline, and check that the file of --save may be replaced.
    @machine  Initialized by machine_know().
    @return 0, or -1 after a message. */
int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine);

/** Append the text of the baseline for --save.
    @return 0, or -1 after a message: nothing may be saved. */
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

/** Shorten the text from offset `from` on to at most `chars` characters, ending in "...".  If only
    a few characters of the last word or path component would remain, the whole word is removed. */
void audit_cut(struct strbuf *out, size_t from, size_t chars);

/** Append a text of a finding, escaped; if a user owns the mount, at most AUDIT_TEXT_MAX
    characters. */
enum { AUDIT_TEXT_MAX = 300 };
void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text);

/** Append a line with the number of findings that audit_report_bound() left out, if any. */
void audit_put_left_out(struct strbuf *out, const struct audit_report *report);

/** Append a line with the rules that were not checked for all lines or mounts, if any. */
void audit_put_not_checked(struct strbuf *out, const struct audit_reported *reported);

/** Get the next expired line of the configuration; NULL: no more.
    @at [in,out]  The position in the configuration; 0 for the first call. */
const struct audit_row *audit_next_over(const struct audit_reported *reported, size_t *at);

/** Append the list of the enabled rules, or with --explain their text from the manual. */
void audit_list_rules(const struct audit_opts *opts, struct strbuf *out);

/** Append the findings, sorted by mount point, and a summary; nothing if the audit failed. */
void audit_text(const struct audit_reported *reported, struct strbuf *out);

/** Append a line for each new finding, and for each finding of the last audit that no longer
    occurs. */
void audit_text_changes(const struct audit_reported *reported, struct strbuf *out);

/** The position of audit_next_cleared() in the findings; {0} for the first call. */
struct audit_cleared {
	size_t at, users;
	enum audit_severity severity;   /* [out] of the returned finding */
};

/** Get the next finding of the last audit that no longer occurs; NULL: no more.  At most
    AUDIT_USERS_MAX findings for users' mounts are returned, as in audit_report_bound(). */
const struct audit_base_entry *audit_next_cleared(const struct audit_reported *reported,
                                                  struct audit_cleared *at);

/* json.c */

/** Append one JSON document, as described by docs/audit.schema.json. */
void audit_json(const struct audit_reported *reported, struct strbuf *out);

/** Append the document of audit_json() as one line. */
void audit_jsonl(const struct audit_reported *reported, struct strbuf *out);

/** Append the changes that audit_text_changes() prints, as a JSON object on a line for each. */
void audit_jsonl_changes(const struct audit_reported *reported, struct strbuf *out);

/** Write a member of a JSON object: an array of the codes of a set of rules. */
void audit_put_rules(struct json *json, const char *key, audit_set set);

/* nagios.c */

/** Append the status line of a monitoring plugin with its perfdata, and the lines that -v requests.
    @out  Must be empty. */
void audit_nagios(const struct audit_reported *reported, struct strbuf *out);

/** Get the exit status of the plugin: NX_*. */
int audit_nagios_status(const struct audit_reported *reported);

/** Parse a range of the monitoring plugins.  @return whether the text is valid. */
bool audit_range_read(const char *text, struct audit_range *range);

/** Whether a number is outside a range; with "@", inside it. */
bool audit_range_alerts(const struct audit_range *range, double number);

/* prometheus.c */

/** Maximum number of series for Prometheus. */
enum { AUDIT_SERIES_MAX = 500 };

/** Append metrics for Prometheus.  Findings without a series of their own are only counted. */
void audit_prometheus(const struct audit_reported *reported, struct strbuf *out);

/** Append the value of a label in quotes, as valid UTF-8 of at most 1000 bytes. */
void audit_label(struct strbuf *out, const char *value);

/* way.c */

void audit_way_init(struct audit_way *way);
void audit_way_destroy(struct audit_way *way);

/** Whether the arguments request a monitoring plugin.  Starts to collect messages, which a plugin
    does not print on standard error.  @named  Called as check_getmnt. */
bool audit_way_plugin(struct audit_way *way, bool named, int argc, char **argv);

/** Append the report of an audit to `document`, in the requested format.
    @return the exit status. */
int audit_way_report(struct audit_way *way, const struct audit_reported *reported,
                     struct strbuf *document);

/** Check that the file of --save can be written, before the document reports the status.
    @return 0, or -1 after a message. */
int audit_way_may_save(const struct audit_way *way);

/** Get the last message, which says why the audit failed.  If there is no message: "memory ran
    out". */
const char *audit_way_why(struct audit_way *way);

/** Work that a child with a time limit can do, such as an audit. */
struct audit_work {
	struct audit_opts *opts;
	/* Do the work, and append to the document.  @return an exit status. */
	int (*run)(struct audit_opts *opts, struct strbuf *document);
};

/** Do the work within the time limit, and print the document or write it to the file of --output.
    @return the exit status of the program. */
int audit_way_run(const struct audit_work *work);

/** In a child: do the work, print its result as audit_way_collect() reads it, and exit. */
_Noreturn void audit_way_child(const struct audit_work *work);

/** The function for struct audit_work that writes way->metrics to the file of --output.
    @document  Unused.  @return an exit status. */
int audit_way_put_metrics(struct audit_opts *opts, struct strbuf *document);

/** Get the result of audit_way_child(): append the document, way->saved and way->metrics.
    @rc  The result of os_bounded_finish(), or -1.
    @return the exit status; -1: no result, for the reason in way->why. */
int audit_way_collect(struct audit_way *way, int rc, const struct os_bounded *done,
                      struct strbuf *document);

/** Append the document of a failed audit.  @why  The reason.  @return the exit status. */
int audit_way_fail(struct audit_way *way, const char *why, struct strbuf *document);

/** Report invalid options in the requested format, if this format is for programs.
    @return the exit status of the program. */
int audit_way_refuse(struct audit_way *way, int argc, char **argv);

/* watch.c */

/** When the next audit is due.  Times are seconds of os_now(). */
struct audit_pace {
	double interval;         /* maximum time between two audits */
	double began, ended;     /* when the last audit began and ended */
	double rest;             /* minimum time from the end of the last audit to the next audit */
	double first, last;      /* when the first and the last change since `began` were noticed;
	                            0: no change */
	double error;            /* when an error of a file system since `began` was noticed; 0: no
	                            error */
	double again;            /* when to audit a second time after an error; 0: no need */
	bool after_error;        /* an error was a reason for the last audit */
	bool requested;          /* SIGHUP requested an audit */
};

/** Record that an audit begins, which will see all changes so far. */
void audit_pace_began(struct audit_pace *pace, double now);

/** Record that an audit has ended.  @cost  Seconds of processor time that the audit used. */
void audit_pace_ended(struct audit_pace *pace, double now, double cost);

/** Record that a change was noticed. */
void audit_pace_changed(struct audit_pace *pace, double now);

/** Record that a file system has reported an error. */
void audit_pace_error(struct audit_pace *pace, double now);

/** Get the time at which the next audit is due. */
double audit_pace_due(const struct audit_pace *pace);

/** Audit repeatedly until a signal ends the program; otherwise as audit_way_run(). */
int audit_watch_run(const struct audit_work *work);

/* With --watch, the child of each audit calls the next two functions; without --watch, the
   functions do nothing. */

/** Watch the files that the audit will read, or the parent directories of missing files, and the
    file systems that can report errors. */
void audit_watch_all(const struct audit_opts *opts, struct fstab_machine *machine);

/** Compare the findings with the findings of the last audit.
    @last  From audit_base_init().  @return 0, or -1 (ENOMEM). */
int audit_watch_compare(const struct audit_way *way, struct audit_report *report,
                        struct audit_base_run *last);

#endif
