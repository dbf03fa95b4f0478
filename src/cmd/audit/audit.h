/* SPDX-License-Identifier: MIT */
/**
 * What the files of `getmnt audit` share.
 *
 *     audit.c       the flow
 *     options.c     the options (options.h)
 *     host.c        the rules of a host, with what they need read
 *     config.c      finding, reading and printing the configuration (config.h)
 *     baseline.c    --baseline and --save (baseline.h)
 *     way.c         the format, the output file, the time limit
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
#include "cmd/cmd.h"
#include "cmd/json.h"
#include "cmd/options.h"

/** Exit statuses of an audit. */
enum { AX_CLEAN = 0, AX_FINDINGS = 1, AX_FAILED = 2 };

/** Exit statuses of a monitoring plugin. */
enum { NX_OK = 0, NX_WARNING = 1, NX_CRITICAL = 2, NX_UNKNOWN = 3 };

/** A range of the monitoring plugins: "10", "5:10", "~:10", "@5:10". */
struct audit_range {
	const char *text;        /* as it was given */
	double from, to;
	bool inside;             /* "@": numbers inside the range count; else those outside */
};

/** Parse a range.  @return whether it is valid. */
bool audit_range_read(const char *text, struct audit_range *range);

/** Whether a number is outside a range, or inside one with "@". */
bool audit_range_alerts(const struct audit_range *range, double number);

/** Limits of a monitoring plugin. */
struct audit_limits {
	struct audit_range warning, critical;   /* for the number of findings of this severity */
	double seconds;          /* 0: no limit */
	int verbose;             /* 0 to 3 */
};

/** What is printed. */
struct audit_reported {
	struct run *run;
	const struct audit_report *report;
	const struct audit_config *config;  /* with the findings that it ignores */
	int64_t today;           /* as in audit_config_apply() */
	const char *fstab;       /* its name; NULL: it does not exist */
	const char *root;
	struct audit_set rules;        /* the rules that are on */
	struct audit_set not_checked;  /* of these, those that could not be checked everywhere */
	struct audit_set lacking;      /* of these, those for lack of a fact, not of an option */
	enum audit_severity least;  /* text lists findings from this severity on */
	bool terminal, colored;  /* text is printed on a terminal; in colors */
	const char *failed;      /* why the audit failed, escaped; NULL: it did not */
	int status;              /* AX_CLEAN ... */
	bool whole;              /* --require-complete */
	int64_t began;           /* seconds since 1970 */
	double seconds;          /* the duration */
	size_t mounts;           /* the number of mounts */
	const struct audit_limits *limits;
	const char *baseline;    /* the name of the baseline; NULL: none */
	const struct audit_baseline *old;   /* its content */
	const struct audit_base_counts *since;   /* the differences */
};

/** Whether the rule of a finding is on. */
static inline bool audit_is_on(const struct audit_reported *reported,
                               const struct audit_finding *finding)
{
	return audit_set_has(&reported->rules, finding->code);
}

/** Whether all mounts are known. */
static inline bool audit_is_complete(const struct audit_reported *reported)
{
	return !reported->failed && reported->run->complete;
}

/** Count the findings of each severity, with those that are left out. */
void audit_count(const struct audit_reported *reported, size_t of[AUDIT_CRITICAL + 1]);

/** Shorten what follows a length in a text to at most `chars` characters, ending in "...". */
void audit_cut(struct strbuf *out, size_t from, size_t chars);

/** Append a text of a finding, escaped; of a user's mount at most AUDIT_TEXT_MAX characters. */
enum { AUDIT_TEXT_MAX = 300 };
void audit_put_text(struct strbuf *out, const struct audit_finding *finding, const char *text);

/** Append a line with the number of findings that are left out, if any are. */
void audit_put_left_out(struct strbuf *out, const struct audit_report *report);

/* The formats. */

/** Findings by mount point, and a summary; nothing if the audit failed. */
void audit_text(const struct audit_reported *reported, struct strbuf *out);

/** One JSON document: docs/audit.schema.json. */
void audit_json(const struct audit_reported *reported, struct strbuf *out);

/** The same on one line. */
void audit_jsonl(const struct audit_reported *reported, struct strbuf *out);

/** A line with perfdata, and the lines that `verbose` adds. */
void audit_nagios(const struct audit_reported *reported, struct strbuf *out);

/** Its exit status. */
int audit_nagios_status(const struct audit_reported *reported);

/** A line without perfdata: UNKNOWN, and why. */
void audit_nagios_unknown(const char *why, struct strbuf *out);

/** Text for Prometheus, with a limited number of series. */
enum { AUDIT_SERIES_MAX = 500 };
void audit_prometheus(const struct audit_reported *reported, struct strbuf *out);

/** Append the value of a label in quotes: valid UTF-8 whatever the bytes are, shortened to 1000. */
void audit_label(struct strbuf *out, const char *value);

/** Append a line of the configuration, without secrets. */
void audit_put_row(struct strbuf *out, const struct audit_row *row);

/**
 * Step through the expired lines of the configuration.
 *
 * @at [in,out]  The position; 0 at first.
 * @place [out]  FILE:LINE, not escaped.
 * @return the next, or NULL.
 */
const struct audit_row *audit_next_over(const struct audit_reported *reported, size_t *at,
                                        struct strbuf *place);

/** Print the list of rules. */
void audit_list_rules(FILE *out);

/* json.c */

/** Append the codes of a set, separated by commas. */
void audit_put_codes(struct strbuf *out, const struct audit_set *set);

/** Put a member with the codes of a set. */
void audit_put_rules(struct json *json, const char *key, const struct audit_set *set);

/* way.c */

enum audit_form {
	AF_TEXT, AF_JSON, AF_JSONL, AF_NAGIOS, AF_PROMETHEUS, AF_FORMS,
};

/** How it is reported. */
struct audit_way {
	const struct option_table *table;   /* of the command's options */
	int form;                /* enum audit_form */
	bool chosen;             /* it was given */
	bool plugin;             /* check_getmnt or --nagios: other options, and everything is
	                            printed on standard output */
	bool whole;              /* --require-complete */
	bool terminal;           /* standard output is one */
	const char *output;      /* a file instead of standard output; or NULL */
	double seconds;          /* the time limit; 0: none */
	struct audit_limits limits;
	const char *root;        /* for the report of an audit that failed */
	bool live;
	bool unsaved;            /* the baseline will not be saved */
	struct strbuf said;      /* messages, one per line */
	const char *save;        /* the file for `saved`, written after the document; or NULL */
	struct strbuf saved;
};

/** The rows of these options, for the table of the command. */
#define AUDIT_WAY_ROWS \
	OPTION_GROUP("Output"), \
	{"format", 0, "FORM", "text, json, jsonl, nagios or prometheus", \
	 "text|json|jsonl|nagios|prometheus"}, \
	{"json", 'J', NULL, "one JSON document"}, \
	{"jsonl", 0, NULL, "JSON on one line, for collectors"}, \
	{"max-time", 0, "SEC", "stop after this time"}, \
	{"nagios", 0, NULL, "as a monitoring plugin; see check_getmnt --help"}, \
	{"output", 0, "FILE", "write the output to FILE, completely or not at all"}, \
	{"prometheus", 0, NULL, "metrics for node_exporter's textfile collector"}, \
	{"require-complete", 0, NULL, "exit 2 if something could not be checked"}

void audit_way_init(struct audit_way *way);
void audit_way_destroy(struct audit_way *way);

/** Whether these arguments are those of a monitoring plugin; from
    here on messages are only collected. */
bool audit_way_plugin(struct audit_way *way, const struct option_table *table, bool named, int argc,
                      char **argv);

/**
 * Make the table of a plugin's options of the command's.
 *
 * @rows [out]  OPTION_ROWS_MAX of them.
 */
struct option_table audit_plugin_table(const struct option_table *of, struct option_row *rows);

/** Print the help of a plugin. */
void audit_plugin_help(const struct option_table *table, FILE *out);

/**
 * Take an option, if it is one of these rows, or of a plugin's.
 *
 * @status [out]  0, or an exit status after a message.
 */
bool audit_way_take(struct audit_way *way, const char *name, const char *value, int *status);

/** Whether the format is text, so that messages are printed apart from it. */
bool audit_way_is_text(const struct audit_way *way);

/** Make the document in the requested format.  @return the exit status. */
int audit_way_report(struct audit_way *way, const struct audit_reported *reported,
                     struct strbuf *document);

/** Check that the baseline can be saved, before the document says the status.
    @return 0, or -1 after a message. */
int audit_way_may_save(const struct audit_way *way);

/** The last message, or another reason. */
const char *audit_way_why(struct audit_way *way);

/**
 * Audit, within the time limit, and print or write the document.
 *
 * @run    Does the audit, calls audit_way_report(), and returns its status.
 * @return the exit status of the program.
 */
int audit_way_run(struct audit_way *way, int (*run)(void *arg, struct strbuf *document), void *arg);

/** Report invalid options in the requested format, if it is one for machines.
    @return the exit status of the program. */
int audit_way_refuse(struct audit_way *way, int argc, char **argv);

#endif
