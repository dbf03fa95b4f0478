/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt audit` share.
 *
 *     audit.c             what is asked of the machine, the flow
 *     options.c     what the command is asked for (options.h)
 *     host.c        the rules of a host, with what they need read
 *     config.c      the configuration: found, read, shown (config.h)
 *     baseline.c    --baseline, --save: the file, what is done with it (baseline.h)
 *     way.c         how it is told: the form, to where, within which time
 *     out.c         findings as text, the table of rules
 *     json.c        ... as JSON, as a line of it, as a fact for Ansible
 *     nagios.c      ... as a monitoring plugin tells them
 *     prometheus.c  ... as metrics
 *
 * What makes a form is a pure function of struct audit_told_run, and appends to a
 * string; it fails by string->failed alone.
 */
#ifndef GM_CMD_AUDIT_H
#define GM_CMD_AUDIT_H

#include "audit/baseline.h"
#include "audit/config.h"
#include "cmd/cmd.h"
#include "cmd/rows.h"

/** Exit statuses of an audit. */
enum { AX_CLEAN = 0, AX_FINDINGS = 1, AX_FAILED = 2 };

/** Exit statuses of a monitoring plugin. */
enum { NX_OK = 0, NX_WARNING = 1, NX_CRITICAL = 2, NX_UNKNOWN = 3 };

/** A range of the monitoring plugins: "10", "5:10", "~:10", "@5:10". */
struct audit_range {
	const char *text;        /* as it was given */
	double from, to;
	bool inside;             /* "@": what is in it is told; else what is not */
};

/** Read a range.  @return whether it is one. */
bool audit_range_read(const char *text, struct audit_range *range);

/** Whether a number is one that a range tells of. */
bool audit_range_tells(const struct audit_range *range, double number);

/** Of a monitoring plugin. */
struct audit_limits {
	struct audit_range warning, critical;   /* how many findings of this severity */
	double seconds;          /* it has; 0: no limit */
	int verbose;             /* 0 to 3 */
};

/** What there is to be told. */
struct audit_told_run {
	struct run *run;
	const struct audit_report *report;
	const struct audit_config *config;  /* and what it has silenced */
	int64_t today;           /* as audit_config_apply() had it */
	const char *fstab;       /* its name, for people; NULL: there is none */
	const char *root;
	struct audit_set rules;        /* the rules that are on */
	struct audit_set not_checked;  /* of these, those that could not be checked everywhere */
	struct audit_set lacking;      /* of these, those for lack of a fact, not of an option */
	enum audit_severity least;  /* of the text: findings below are counted alone */
	bool terminal, colored;  /* the text is read at one; and with colours */
	const char *failed;      /* why it could not be audited, a message: escaped; NULL: it was */
	int status;              /* AX_CLEAN ... */
	bool whole;              /* rules that could not be judged are no success */
	int64_t began;           /* seconds since 1970 */
	double seconds;          /* it took */
	size_t mounts;           /* that were looked at */
	const struct audit_limits *limits;
	const char *baseline;    /* the file that it was compared with; NULL: none */
	const struct audit_baseline *old;   /* what it says */
	const struct audit_base_counts *since;   /* what differs from it */
};

/** Whether a finding is to be told. */
static inline bool audit_is_on(const struct audit_told_run *told, const struct audit_finding *finding)
{
	return audit_set_has(&told->rules, finding->code);
}

/** Whether all is known. */
static inline bool audit_is_complete(const struct audit_told_run *told)
{
	return !told->failed && told->run->complete;
}

/** How many findings of each severity are on, with those that are left out. */
void audit_count(const struct audit_told_run *told, size_t of[AUDIT_CRITICAL + 1]);

/** Cut what was appended to a text since a length to so many characters, "..." being the last of them. */
void audit_cut(struct strbuf *out, size_t from, size_t chars);

/** Append a name or text of a finding, escaped; of a mount of a user's AUDIT_TEXT_MAX characters of it. */
enum { AUDIT_TEXT_MAX = 300 };
void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text);

/** Append "left out: 0 critical, 470 warning, 0 info of mounts of users" and a newline, if any are. */
void audit_put_left_out(struct strbuf *out, const struct audit_report *report);

/* The forms. */

/** By mount point, and what they add up to; nothing of what failed. */
void audit_text(const struct audit_told_run *told, struct strbuf *out);

/** One JSON document: docs/audit.schema.json. */
void audit_json(const struct audit_told_run *told, struct strbuf *out);

/** The same in one line. */
void audit_jsonl(const struct audit_told_run *told, struct strbuf *out);

/** A line, with perfdata; behind it what `verbose` asks for. */
void audit_nagios(const struct audit_told_run *told, struct strbuf *out);

/** The exit status of that. */
int audit_nagios_status(const struct audit_told_run *told);

/** A line without perfdata, where there is nothing else to be told: UNKNOWN, why. */
void audit_nagios_unknown(const char *why, struct strbuf *out);

/** Text for Prometheus.  No more than this many series: */
enum { AUDIT_SERIES_MAX = 500 };
void audit_prometheus(const struct audit_told_run *told, struct strbuf *out);

/** Append the value of a label, in quotes: valid UTF-8 whatever the bytes are, at most 1000
    of them, the rest "...". */
void audit_label(struct strbuf *out, const char *value);

/** Append a line of the configuration, without what is a secret. */
void audit_put_row(struct strbuf *out, const struct audit_row *row);

/**
 * Go on to the next line of the configuration that has run out.
 *
 * @at           From where; at first 0.
 * @place [out]  FILE:LINE, as it is.
 * @return it, or NULL: there is none.
 */
const struct audit_row *audit_next_over(const struct audit_told_run *told, size_t *at, struct strbuf *place);

/** Print the table of rules. */
void audit_list_rules(FILE *out);

/* json.c */

/** Append `, "NAME": "VALUE"`, null for NULL. */
void audit_member(struct strbuf *out, const char *name, const char *value);

/** Append the codes of a set, quoted, with something between. */
void audit_put_codes(struct strbuf *out, const struct audit_set *set, const char *between, const char *quote);

/* way.c */

enum audit_form {
	AF_TEXT, AF_JSON, AF_JSONL, AF_NAGIOS, AF_PROMETHEUS, AF_FORMS,
};

/** How it is told. */
struct audit_way {
	const struct row_table *table;   /* of the command's options */
	int form;                /* enum audit_form */
	bool chosen;             /* it was asked for */
	bool plugin;             /* called as check_getmnt, or with --nagios: other options, and all
	                            that is told is on standard output */
	bool whole;              /* --require-complete */
	bool terminal;           /* standard output is one */
	const char *output;      /* a file instead of standard output; or NULL */
	double seconds;          /* the audit has; 0: no limit */
	struct audit_limits limits;
	const char *root;        /* for what is told where nothing was audited */
	bool live;
	bool failed;             /* nothing was audited */
	bool unsaved;            /* what was to be saved is not going to be */
	struct strbuf said;      /* messages, a line each */
	const char *save;        /* a file for what is in saved, once the document is delivered; or NULL */
	struct strbuf saved;
};

/** The rows of these options, for the table of the command. */
#define AUDIT_WAY_ROWS \
	{"format", 0, "text|json|jsonl|nagios|prometheus", "the output format"}, \
	{"json", 'J', NULL, "all findings as one JSON document"}, \
	{"jsonl", 0, NULL, "the same in one line, for collectors"}, \
	{"max-time", 0, "SEC", "give up after so many seconds"}, \
	{"nagios", 0, NULL, "as a monitoring plugin: check_getmnt --help"}, \
	{"output", 0, "FILE", "put it into a file, whole or not at all"}, \
	{"prometheus", 0, NULL, "metrics for node_exporter's textfile collector"}, \
	{"require-complete", 0, NULL, "what could not be judged makes the status 2"}

void audit_way_init(struct audit_way *way);
void audit_way_destroy(struct audit_way *way);

/** Whether these arguments are those of a monitoring plugin; then all that is told from here
    on is noted alone. */
bool audit_way_plugin(struct audit_way *way, const struct row_table *table, bool named, int argc, char **argv);

/**
 * Make the table of a plugin's options of the command's.
 *
 * @rows [out]  ROWS_MAX of them.
 */
struct row_table audit_plugin_table(const struct row_table *of, struct row_option *rows);

/** Print the help of a plugin. */
void audit_plugin_help(const struct row_table *table, FILE *out);

/**
 * Take an option, if it is one of these rows, or of a plugin's.
 *
 * @status [out]  0, or an exit status after a message.
 */
bool audit_way_take(struct audit_way *way, const char *name, const char *value, int *status);

/** Whether messages of what is not known stand beside the form, and not in it. */
bool audit_way_is_text(const struct audit_way *way);

/** Make the form that was asked for, and send what is to be logged.
    @return the exit status. */
int audit_way_tell(struct audit_way *way, const struct audit_told_run *told, struct strbuf *document);

/** See whether what is to be saved can be, before a form tells the status.
    @return 0, or -1 after a message. */
int audit_way_may_save(const struct audit_way *way);

/** The last message that was noted; or something. */
const char *audit_way_why(struct audit_way *way);

/**
 * Do an audit, and deliver what it tells.
 *
 * @run    Audits, tells by audit_way_tell(), and returns its exit status.
 * @return the exit status of the program.
 */
int audit_way_run(struct audit_way *way, int (*run)(void *arg, struct strbuf *document), void *arg);

/** Tell of options that could not be read, by the arguments that were.
    @return the exit status of the program. */
int audit_way_refuse(struct audit_way *way, int argc, char **argv);

#endif
