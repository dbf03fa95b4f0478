/* SPDX-License-Identifier: MIT */
/**
 * Queries: find's expression language as data (pure).
 *
 * A query is a tree of tests, operators and actions, and a set of options for the traversal.  It is
 * parsed from an argument vector or from one string, printed as a canonical string, and evaluated
 * for one object at a time with what is known of the object so far:
 *
 *     query_test(QUERY_NAMES)  --OPEN-->  query_test(QUERY_STATX)  --OPEN-->  query_test(QUERY_ALL)
 *     name, type, path         | NO           + attributes         | NO       + access, target ...
 *                              '--> skip                           '--> skip
 *
 * So attributes are fetched only for objects whose name and type leave the answer open, and the
 * order of the tests in the expression does not matter for the cost.  These evaluations run in the
 * threads that read directories; they perform no action, but find out which actions are reached.
 * query_run() evaluates the expression with its actions, in order, in one thread.
 *
 * A query never changes after parsing: threads may share it.
 */
#ifndef GM_SELECT_QUERY_H
#define GM_SELECT_QUERY_H

#include "base/strbuf.h"
#include "os/kernel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct query;

enum query_value { QUERY_NO, QUERY_YES, QUERY_OPEN /* more must be known */ };

/** What is known of an object; each level includes the former. */
enum query_level {
	QUERY_NAMES,    /* name, type if the directory lists it, path, depth, file system type */
	QUERY_STATX,    /* attributes */
	QUERY_ALL,      /* everything: query_facts may call the kernel */
};

/** Facts about an object that are looked up when they are needed.  All functions get arg. */
struct query_facts {
	void *arg;
	/* These two need no kernel call, and are used at any level. */
	const char *(*path)(void *arg);         /* as printed; NULL: memory ran out */
	const char *(*fstype)(void *arg);       /* "" if unknown */
	/* These are used from QUERY_ALL on.  They return -1 with errno if they fail. */
	int (*target)(void *arg, struct strbuf *text);  /* of a symlink: append it; 0 */
	int (*access)(void *arg, int mode);     /* R_OK | W_OK | X_OK: 1 or 0 */
	int (*empty)(void *arg);                /* whether a directory is empty: 1 or 0 */
	int (*xtype)(void *arg, uint8_t *type); /* DT_* of a symlink's target if links are not
	                                           followed, or of the link if they are; 0.
	                                           Errors: ELOOP: it leads to itself */
	int (*owner)(void *arg, bool group, uint32_t id);   /* whether the ID has a name: 1 or 0 */
};

/** The results of the first tests of an object's name or path: a bit for each.  So that none is
    tested again with its attributes, it is kept from one evaluation to the next.  Zero: none is
    known. */
struct query_memo {
	uint16_t known;
	uint16_t yes;
};

/** An object to evaluate a query for. */
struct query_object {
	const char *name;                /* its last component, as -name compares it */
	size_t len;
	uint8_t type;                    /* DT_*; DT_UNKNOWN: not known yet, as of a symlink that
	                                    is to be followed */
	unsigned depth;                  /* 0: a given root */
	const struct k_statx *st;        /* from QUERY_STATX on */
	bool lost;                       /* st and an unknown type cannot be read: at QUERY_ALL
	                                    tests of them are false */
	const struct query_facts *facts;
	struct query_memo *memo;         /* [in,out]; NULL: no results are kept */
};

/** Kinds of actions. */
enum query_action_kind {
	QA_PRINT, QA_PRINT0, QA_PRINTF, QA_LS,
	QA_FPRINT, QA_FPRINT0, QA_FPRINTF, QA_FLS,
	QA_EXEC, QA_EXECDIR, QA_OK, QA_OKDIR, QA_DELETE, QA_QUIT,
};

/** An action of the expression. */
struct query_action {
	enum query_action_kind kind;
	const char *word;                /* as written: "-exec" */
	const char *const *args;         /* without the final ";" or "{}" "+" */
	size_t nargs;
	bool plus;                       /* -exec ... {} + */
	unsigned index;                  /* its number, from 0, in the order of the expression */
	/* What it needs, set by query_env.action: */
	unsigned mask;                   /* K_STATX_* */
	bool xtype;                      /* facts->xtype */
	bool target;                     /* facts->target */
	bool attributes;                 /* an attribute: of an object whose attributes are lost
	                                    it is false, and not performed */
	bool type;                       /* the type: the same, unless the directory lists it */
};

/** Why an expression was rejected. */
struct query_error {
	size_t at;                       /* index of the word, in its part */
	size_t part;                     /* index of the part; 0 without parts */
	struct strbuf why;               /* a sentence for the user that names the word, the problem
	                                    and the remedy; free with strbuf_destroy() */
};

/** What the parser needs to know of the world; all functions get arg. */
struct query_env {
	void *arg;
	struct timespec now;             /* the start of the search */
	bool follow, follow_roots;       /* -L; -H or -L: how FILE of -newer and -samefile is
	                                    looked up */
	/* Look up a user or group.  @return 1: found; 0: no such name; -1 with errno. */
	int (*owner_id)(void *arg, bool group, const char *name, uint32_t *id);
	/* Get the attributes of a file.  @return 0, or -1 with errno. */
	int (*file)(void *arg, const char *path, bool follow, struct k_statx *st);
	/* Check an action: its arguments, and what it needs (action->mask, action->xtype).
	   NULL: actions are refused.
	   @return 0, or -1 after appending a sentence to why. */
	int (*action)(void *arg, struct query_action *action, struct strbuf *why);
	/* Note a warning for the user; or NULL. */
	void (*warn)(void *arg, const char *text);
	bool quiet;                      /* no warnings, unless -warn is written */
	bool which;                      /* it is of interest which of several -print an object
	                                    reaches */
};

/**
 * Parse an expression.
 *
 * @words
 *         n words: the arguments of find after its paths; copied.  None: every object.
 * @env
 *         Used only during the call.
 * @error [out]
 *         Initialized by the caller to zero; may be NULL.
 * @return a query, or NULL.
 * Errors: EINVAL: see error.  E2BIG: nested too deeply, or too long.  ENOMEM.
 * Ownership: query_free().
 */
struct query *query_parse(const char *const words[], size_t n, const struct query_env *env,
                          struct query_error *error);

/** A part of an expression: words, as of query_parse(). */
struct query_part {
	const char *const *words;
	size_t n;
	const char *option;              /* that a test was made of, for messages; or NULL */
};

/** Parse an expression of n > 0 parts, which must all be true; each is complete in itself.
    @error [out]  Also which part is wrong.  Otherwise as query_parse(). */
struct query *query_parse_parts(const struct query_part parts[], size_t n,
                                const struct query_env *env, struct query_error *error);

/**
 * Split a text into words.  They are separated by white space; quotes and backslashes protect it as
 * in sh(1); nothing is expanded.
 *
 * @n [out]
 *         Their number.
 * @error [out]
 *         As of query_parse().
 * @return the words and their texts, to be freed by free(); or NULL.
 * Errors: EINVAL: a quote is open, see error; ENOMEM.
 */
const char **query_split(const char *text, size_t *n, struct query_error *error);

/** Parse an expression from one string: query_split() and query_parse(). */
struct query *query_parse_text(const char *text, const struct query_env *env,
                               struct query_error *error);

/** The i-th primary of the language, without its dash; NULL: no more.  @refused [out]  It is only
    known for the message that refuses it. */
const char *query_word(size_t i, bool *refused);

/** Free a query; NULL is allowed. */
void query_free(struct query *query);

/** Append the canonical string: query_parse_text() makes the same tree of it.  Names of users and
    files and relative times have been replaced by what they stood for. */
void query_print(const struct query *query, struct strbuf *out);

/** Whether a word is a primary of the language, without its '-'. */
bool query_knows(const char *word);

/** As query_print(), but never empty, for a server that finds the objects and performs nothing:
    -print for each action, which must be always true, but -quit for itself; with a test before it
    if the action is false of lost objects. */
void query_print_tests(const struct query *query, struct strbuf *out);

/** Fill env for such a string: it names no user, group or file; actions other than -print and -quit
    are refused.
    @mask  Outlives env; K_STATX_* that each of them needs. */
void query_env_tests(struct query_env *env, unsigned *mask);

/** Properties of a query. */
struct query_info {
	unsigned mask;              /* K_STATX_* that tests need; 0: none needs attributes.  The
	                               type is not included, unless a test needs the mode */
	unsigned levels;            /* 1 << enum query_level: levels that a test needs */
	unsigned mindepth, maxdepth;   /* UINT_MAX: no limit */
	bool depth;                 /* -depth, -d, -delete: contents before their directory */
	bool xdev;                  /* -xdev: do not enter other mounts */
	bool mount;                 /* -mount: nor report their roots */
	bool follow;                /* -follow: as -L */
	bool ignore_race;           /* -ignore_readdir_race, as at the end of the expression */
	bool unique;                /* -unique: each object once */
	bool xtype;                 /* facts->xtype is needed: links are followed to look */
	bool fstype;                /* facts->fstype is needed */
	bool samefile;              /* -samefile: an object of this host is compared */
	bool all;                   /* every object is printed: no test */
	bool only_prints;           /* all actions are -print, or all are -print0, none needs
	                               attributes, and no object reaches two of them; with
	                               query_env.which there is only one */
	char end;                   /* of only_prints: '\n' or '\0' */
	bool waits;                 /* directories must not be entered before their actions are
	                               performed: -prune can depend on the result of one, or a
	                               command may change them */
	bool has_prune;             /* -prune or -exclude occurs */
	bool has_actions;           /* an action other than -quit is written; else -print was
	                               added */
	const char *files0_from;    /* the argument of -files0-from, which is accepted only if
	                               actions are; or NULL */
};
const struct query_info *query_info(const struct query *query);

/** The actions, in the order of the expression; QA_PRINT alone if none was written.
    @n [out]  Their number. */
const struct query_action *query_actions(const struct query *query, size_t *n);

/** The result of query_test(). */
struct query_outcome {
	enum query_value acts;      /* whether any action is reached */
	enum query_value prune;     /* whether the directory must not be entered: -prune (not with
	                               -depth), or excluded */
	uint64_t actions;           /* if acts is YES and the query has at most 64 actions: the
	                               reached ones, 1 << index; 0: this depends on the result of
	                               an action, or on facts that are not known */
	bool statx;                 /* an answer is OPEN that attributes could give */
	int error;                  /* errno of a fact that could not be looked up; 0 */
};

/**
 * Evaluate a query without performing actions.
 *
 * At QUERY_ALL acts is OPEN only for tests whose answer may change until the actions run: -empty
 * of directories with -depth.
 *
 * @level
 *         What is known of the object.
 * @outcome [out]
 *         acts and prune are final unless they are OPEN.  An excluded object has acts NO and prune
 *         YES.  mindepth and maxdepth are taken into account: of an object outside them no action
 *         is reached, and at maxdepth prune is YES.
 */
void query_test(const struct query *query, const struct query_object *object,
                enum query_level level, struct query_outcome *outcome);

/** Performs actions.  @return whether the action succeeded; ignored for those that are always
    true. */
typedef bool query_act(void *arg, const struct query_action *action,
                       const struct query_object *object);

/**
 * Evaluate a query and perform its actions, in order.
 *
 * @object
 *         Everything is known of it, as at QUERY_ALL.
 * @stop [out]
 *         May be NULL; -quit was reached: the rest of the expression was not evaluated.
 * @error [out]
 *         May be NULL; errno of a fact that could not be looked up, or 0.
 * @return whether -prune was reached.
 */
bool query_run(const struct query *query, const struct query_object *object, query_act *act,
               void *arg, bool *stop, int *error);

/** Parse a duration: "2d", "1h 30min", "1.5 weeks".  A month has 30.44 days, a year 365.25.
    @return 0, or -1: it is none. */
int query_duration(const char *text, struct timespec *duration);

/** Parse a date, as -newerXt does.  @return false: it is none. */
bool query_date(const char *text, const struct timespec *now, struct timespec *date);

/** The forms of dates, for messages. */
extern const char query_date_forms[];

#endif
