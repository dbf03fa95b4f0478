/* SPDX-License-Identifier: MIT */
/**
 * Shared by the files of `getmnt audit`.
 *
 *     audit.c       the flow
 *     options.c     the options, also of the monitoring plugin
 *     host.c        the rules of a host, with what they need read
 *     config.c      finding, reading and printing the configuration
 *     baseline.c    --baseline and --save
 *     way.c         the format, the output file, the time limit
 *     watch.c       --watch
 *     out.c         findings as text; the list of rules
 *     json.c        as JSON, as a line of JSON
 *     nagios.c      as a monitoring plugin prints them
 *     prometheus.c  as metrics
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
	bool inside;             /* "@": numbers inside the range count; else those outside */
};

/** Limits of a monitoring plugin. */
struct audit_limits {
	struct audit_range warning, critical;   /* for the number of findings of this severity */
	int verbose;             /* the number of -v */
};

/** The output format, the destination and the time limit of an audit: way.c. */
struct audit_way {
	int form;                /* enum audit_form */
	bool chosen;             /* the format was given by an option */
	bool plugin;             /* check_getmnt or --nagios: other options, and everything is
	                            printed on standard output */
	bool whole;              /* --require-complete */
	bool terminal;           /* standard output is one */
	const char *output;      /* a file instead of standard output; or NULL */
	double seconds;          /* the time limit; 0: none; -1: that of the format */
	struct audit_limits limits;
	const char *root;        /* for the report of an audit that failed */
	bool live;
	int color;               /* enum color_when */
	bool unsaved;            /* the baseline will not be saved */
	struct strbuf said;      /* messages, one per line */
	const char *save;        /* the file for `saved`, written after the document; or NULL */
	struct strbuf saved;     /* a baseline: of --save, or for the next audit of --watch */
	char why[160];           /* why audit_way_take() failed */

	double watch;            /* --watch: the longest time between audits; 0: audit once */
	int files;               /* the files to watch: os_files_open(); -1: none */
	struct strbuf known;     /* `saved` of the last audit; empty: none, or it failed */
	struct strbuf metrics;   /* for `output`, if `document` is something else */
};

enum audit_form { AF_TEXT, AF_JSON, AF_JSONL, AF_NAGIOS, AF_PROMETHEUS };

enum { AUDIT_OWNERS_MAX = 32 };

/** The options. */
struct audit_opts {
	bool help, list_rules, explain, show_config, version;
	bool only;                /* --only was given */
	audit_set rules, without; /* the rules that are on; those of --disable */
	int fail_on;              /* enum audit_severity; above: never */
	int stats;                /* enum stats_form */
	int probe;                /* enum discover_probe */
	bool is_static;           /* only the text of the fstab, without facts about a host */
	bool under, holders;      /* check data covered by mounts; what holds unmounted ones */
	double timeout;           /* of a probe, in seconds */
	const char *baseline, *config, *fstab, *root, *tab_file, *swaps;
	char **paths;             /* report only mounts at or below these; resolved by the audit */
	size_t npaths;
	const char *include[AUDIT_OWNERS_MAX + 1];   /* of audit_owners[] */
	struct audit_way way;
};

/** The data that is printed. */
struct audit_reported {
	struct run *run;
	const struct audit_report *report;
	const struct audit_config *config;  /* with the findings that it ignores */
	int64_t today;           /* as in audit_config_apply() */
	const char *fstab;       /* its name; NULL: it does not exist */
	const char *root;
	audit_set rules;         /* the rules that are on */
	audit_set not_checked;   /* of these, those that could not be checked everywhere */
	audit_set lacking;       /* of these, those for lack of a fact, not of an option */
	bool foreign;            /* the fstab is not that of the host: text lists `lacking` */
	enum audit_severity least;  /* text lists findings from this severity on */
	bool terminal, colored;  /* text is printed on a terminal; in colors */
	const char *failed;      /* why the audit failed, escaped; NULL: it did not */
	int status;              /* AX_CLEAN ... */
	int64_t began;           /* seconds since 1970 */
	double seconds;          /* the duration */
	size_t mounts;           /* the number of mounts */
	const struct audit_way *way;
	const char *baseline;    /* the name of the baseline; NULL: none */
	const struct audit_baseline *old;   /* its content */
	const struct audit_base_counts *since;   /* the differences */
	const struct audit_baseline *last;  /* --watch: the findings of the last audit, of which
	                                       those without a pair are cleared; NULL: none */
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
    @in  Without what is read here: mtab, errors, cmdline, crypttab.
    @return 0; -1 (ENOMEM); or -2 after a message. */
int audit_judge_host(struct fstab_machine *machine, struct audit_live *in,
                     struct audit_report *report);

/* config.c: ROOT/etc/getmnt/audit.conf, then ROOT/etc/getmnt/audit.conf.d/NAME.conf in the order of
   names; or one named file.  Nothing that can block is touched.  Root does not read a file that
   others may write. */

/** Read the configuration.
    @machine  After machine_know().
    @given  A file instead of those, or "none"; NULL: those, and none for a recorded table.
    @config  Zeroed.
    @return 0, or -1 after messages: a file cannot be read, or has an invalid line. */
int audit_config_read(struct fstab_machine *machine, const char *given,
                      struct audit_config *config);

/** Print the configuration, each line with its place, and which have expired.
    @looked  The ROOT whose files were read; NULL: another file, or none.
    @return 0, or -1 (ENOMEM). */
int audit_config_show(const struct audit_config *config, const char *looked, int64_t today);

/** Read a file that an option names, but not through a symlink of another user, and not if it can
    block. Root reads no file that others may write.
    @option  The option, for messages.
    @text [out]  To be freed.
    @return 1; 0: it does not exist; -1 after a message. */
int audit_read_named(struct fstab_machine *machine, const char *name, const char *option,
                     size_t max, char **text, size_t *len);

/* baseline.c */

struct audit_base_run {
	const char *baseline, *save;   /* names of files, or NULL */
	bool compared;                 /* old was read, and is of this host and root */
	struct audit_baseline old, now;
	struct audit_base_counts counts;
};

/** @include  Names of owners; NULL ends them. */
void audit_base_init(struct audit_base_run *base, const char *baseline, const char *save,
                     const char *const *include);
void audit_base_destroy(struct audit_base_run *base);

/** Read the old file, and check that the new one may be written.
    @machine  After machine_know().
    @return 0, or -1 after a message. */
int audit_base_read(struct audit_base_run *base, struct fstab_machine *machine);

/** Append the file that --save writes.  @return 0, or -1 after a message: nothing is saved. */
int audit_base_text(struct audit_base_run *base, const struct audit_reported *reported,
                    struct strbuf *out);

/** The format; pure. */
void audit_base_write(const struct audit_baseline *baseline, struct strbuf *out);

/** Read the text of a file.
    @baseline  From audit_baseline_init().
    @line, why [out]  For EBADMSG: which line is wrong, and why.
    @return 0, or -1.  Errors: EBADMSG; ENOMEM. */
int audit_base_parse(const char *text, size_t len, struct audit_baseline *baseline, uint32_t *line,
                     struct strbuf *why);

/* out.c */

/** Shorten the part of a text after a length to at most `chars` characters, ending in "...";
    a short word or component of a path is not cut. */
void audit_cut(struct strbuf *out, size_t from, size_t chars);

/** Append a text of a finding, escaped; of a user's mount at most AUDIT_TEXT_MAX characters. */
enum { AUDIT_TEXT_MAX = 300 };
void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text);

/** Append a line with the number of findings that are left out, if any are. */
void audit_put_left_out(struct strbuf *out, const struct audit_report *report);

/** Append a line with the rules that were not checked everywhere, if there are any. */
void audit_put_not_checked(struct strbuf *out, const struct audit_reported *reported);

/** Append a line of the configuration, without secrets. */
void audit_put_row(struct strbuf *out, const struct audit_row *row);

/** The next expired line of the configuration, or NULL.  @at [in,out]  0 at first. */
const struct audit_row *audit_next_over(const struct audit_reported *reported, size_t *at);

/** Append the list of the enabled rules, or with --explain their text from the manual. */
void audit_list_rules(const struct audit_opts *opts, struct strbuf *out);

/** Findings by mount point, and a summary; nothing if the audit failed. */
void audit_text(const struct audit_reported *reported, struct strbuf *out);

/** A line for each finding that `last` lacks, or that only `last` has. */
void audit_text_changes(const struct audit_reported *reported, struct strbuf *out);

/** The next finding that only `last` has, those of users' mounts limited as in
    audit_report_bound(); NULL: no more.  @at [in,out]  {0} at first. */
struct audit_cleared {
	size_t at, users;
	enum audit_severity severity;   /* [out] */
};
const struct audit_base_entry *audit_next_cleared(const struct audit_reported *reported,
                                                  struct audit_cleared *at);

/* json.c */

/** One JSON document: docs/audit.schema.json. */
void audit_json(const struct audit_reported *reported, struct strbuf *out);

/** The same on one line. */
void audit_jsonl(const struct audit_reported *reported, struct strbuf *out);

/** audit_text_changes() as JSON lines. */
void audit_jsonl_changes(const struct audit_reported *reported, struct strbuf *out);

/** Put a member with the codes of a set. */
void audit_put_rules(struct json *json, const char *key, audit_set set);

/* nagios.c */

/** A line with perfdata, and the lines that `verbose` adds.  @out  Empty. */
void audit_nagios(const struct audit_reported *reported, struct strbuf *out);

/** Its exit status. */
int audit_nagios_status(const struct audit_reported *reported);

/** Parse a range.  @return whether it is valid. */
bool audit_range_read(const char *text, struct audit_range *range);

/** Whether a number is outside a range; with "@", inside it. */
bool audit_range_alerts(const struct audit_range *range, double number);

/* prometheus.c */

/** Text for Prometheus, with a limited number of series. */
enum { AUDIT_SERIES_MAX = 500 };
void audit_prometheus(const struct audit_reported *reported, struct strbuf *out);

/** Append the value of a label in quotes: valid UTF-8 whatever the bytes are, shortened to 1000. */
void audit_label(struct strbuf *out, const char *value);

/* way.c */

void audit_way_init(struct audit_way *way);
void audit_way_destroy(struct audit_way *way);

/** Whether these arguments are those of a monitoring plugin; from here on messages are only
    collected.  @named  It is called as check_getmnt. */
bool audit_way_plugin(struct audit_way *way, bool named, int argc, char **argv);

/** Make the document in the requested format.  @return the exit status. */
int audit_way_report(struct audit_way *way, const struct audit_reported *reported,
                     struct strbuf *document);

/** Check that the baseline can be saved, before the document says the status.
    @return 0, or -1 after a message. */
int audit_way_may_save(const struct audit_way *way);

/** The last message, or another reason. */
const char *audit_way_why(struct audit_way *way);

/** Audit, within the time limit, and print or write the document.
    @run  Does the audit, calls audit_way_report(), and returns its status.
    @return the exit status of the program. */
int audit_way_run(struct audit_opts *opts,
                  int (*run)(struct audit_opts *opts, struct strbuf *document));

/** An audit in a child: the argument of audit_way_child(). */
struct audit_child {
	struct audit_opts *opts;
	int (*run)(struct audit_opts *opts, struct strbuf *document);
};
int audit_way_child(void *arg);

/** Write `metrics` to `output`, as the work of a child.  @return an exit status. */
int audit_way_put_metrics(struct audit_opts *opts, struct strbuf *document);

/** Take the result of a child: append the document, `saved` and `metrics`.
    @rc  Of os_bounded().
    @return the exit status; -1: there is no result, and `why` says why. */
int audit_way_take(struct audit_way *way, int rc, const struct os_bounded *done,
                   struct strbuf *document);

/** Report an audit that failed.  @return the exit status. */
int audit_way_fail(struct audit_way *way, const char *why, struct strbuf *document);

/** Report invalid options in the requested format, if it is one for machines.
    @return the exit status of the program. */
int audit_way_refuse(struct audit_way *way, int argc, char **argv);

/* watch.c */

/** When the next audit is due.  Times are seconds of os_now(). */
struct audit_pace {
	double interval;         /* the longest time between two audits */
	double began, ended;     /* of the last audit */
	double rest;             /* the shortest time from its end to the next one */
	double first, last;      /* when a change since then was first and last seen; 0: none */
	bool requested;          /* by a signal */
};

/** An audit begins: what has changed so far is no longer due. */
void audit_pace_began(struct audit_pace *pace, double now);

/** It has ended.  @cost  Its seconds of processor time. */
void audit_pace_ended(struct audit_pace *pace, double now, double cost);

void audit_pace_changed(struct audit_pace *pace, double now);

double audit_pace_due(const struct audit_pace *pace);

/** Audit again and again until a signal ends it, as audit_way_run() audits once. */
int audit_watch_run(struct audit_opts *opts,
                    int (*run)(struct audit_opts *opts, struct strbuf *document));

/* In each audit of a watch, which is a child; without --watch they do nothing. */

/** Watch the files that the audit is about to read, or the directories of missing ones. */
void audit_watch_files(const struct audit_opts *opts, struct fstab_machine *machine);

/** Compare the findings with those of the last audit.
    @last  From audit_base_init().  @return 0, or -1 (ENOMEM). */
int audit_watch_compare(const struct audit_way *way, struct audit_report *report,
                        struct audit_base_run *last);

#endif
