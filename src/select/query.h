/* SPDX-License-Identifier: MIT */
/**
 * Queries: find's expression language as data (pure).
 *
 * A query is a tree of tests, operators and actions, and a set of options for the traversal.  A
 * query is parsed from an argument vector or from one string, printed as a canonical string, and
 * evaluated for one object at a time with the facts that are known about the object so far:
 *
 *     query_test(QUERY_NAMES)  --OPEN-->  query_test(QUERY_STATX)  --OPEN-->  query_test(QUERY_ALL)
 *     name, type, path         | NO           + attributes         | NO       + access, target ...
 *                              '--> skip                           '--> skip
 *
 * So attributes are fetched only for objects whose name and type leave the answer open, and the
 * order of the tests in the expression does not matter for the cost.  These evaluations run in the
 * threads that read directories; they perform no action, but find out which actions the object
 * reaches.  query_run() evaluates the expression with its actions, in order, in one thread.
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

enum query_value { QUERY_NO, QUERY_YES, QUERY_OPEN /* undecided: more facts are needed */ };

/** The facts that are known about an object.  Each level includes the facts of the levels before
    it. */
enum query_level {
	QUERY_NAMES,    /* name, type if readdir() returned it, path, depth, file system type */
	QUERY_STATX,    /* attributes */
	QUERY_ALL,      /* all facts: the functions of query_facts may call the kernel */
};

/** Functions that look up facts about an object when they are needed.  `arg` is passed to each. */
struct query_facts {
	void *arg;
	/* path and fstype need no kernel call; they are called at any level. */
	const char *(*path)(void *arg);         /* the path as -print prints it; NULL: memory ran
	                                           out */
	const char *(*fstype)(void *arg);       /* type of the object's file system; "" if
	                                           unknown */
	/* The following functions are called only at QUERY_ALL.  They return -1 with errno if they
	   fail. */
	int (*target)(void *arg, struct strbuf *text);  /* append the target of a symlink to text;
	                                                   return 0 */
	int (*access)(void *arg, int mode);     /* whether access(2) allows the mode R_OK, W_OK or
	                                           X_OK: 1 or 0 */
	int (*empty)(void *arg);                /* whether a directory is empty: 1 or 0 */
	int (*xtype)(void *arg, uint8_t *type); /* the type (DT_*) that -xtype compares: of a
	                                           symlink's target if the search does not follow
	                                           symlinks, of the symlink itself if it does;
	                                           return 0.
	                                           Errors: ELOOP: a loop of symlinks */
	int (*owner)(void *arg, bool group, uint32_t id);   /* whether the user or group ID has a
	                                                       name: 1 or 0 */
};

/** Results of the first tests of an object's name or path, one bit for each test.  The memo is kept
    from one evaluation of an object to the next, so that no test is repeated when the attributes
    become known.  Zero: no result is known. */
struct query_memo {
	uint16_t known;
	uint16_t yes;
};

/** An object that a query is evaluated for. */
struct query_object {
	const char *name;                /* last component of the path, which -name compares */
	size_t len;
	uint8_t type;                    /* DT_*; DT_UNKNOWN: not known yet, such as the type of a
	                                    symlink that the search follows */
	unsigned depth;                  /* 0: a root of the search */
	const struct k_statx *st;        /* attributes; set from QUERY_STATX on */
	bool lost;                       /* the attributes, and the type if unknown, cannot be read:
	                                    tests that need them are false at QUERY_ALL */
	const struct query_facts *facts;
	struct query_memo *memo;         /* [in,out] results of earlier evaluations; NULL: keep no
	                                    results */
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
	const char *word;                /* the word of the expression: "-exec" */
	const char *const *args;         /* arguments, without the final ";" or "{}" "+" */
	size_t nargs;
	bool plus;                       /* ends in "{} +": one command for many files */
	unsigned index;                  /* number of the action in the expression, from 0 */
	/* Needs of the action, set by query_env.action: */
	unsigned mask;                   /* attributes: K_STATX_* */
	bool xtype;                      /* calls facts->xtype */
	bool target;                     /* calls facts->target */
	bool attributes;                 /* any attribute: for an object with query_object.lost, the
	                                    action is false and is not performed */
	bool type;                       /* the file type: for an object with query_object.lost and
	                                    unknown type, the action is false and is not
	                                    performed */
};

/** Why an expression was rejected. */
struct query_error {
	size_t at;                       /* index of the word in its part (struct query_part) */
	size_t part;                     /* index of the part; 0 if the expression has only one */
	struct strbuf why;               /* a sentence for the user that names the word, the problem
	                                    and the remedy; free with strbuf_destroy() */
};

/** Callbacks and settings for the parser.  `arg` is passed to each function. */
struct query_env {
	void *arg;
	struct timespec now;             /* time at which the search began */
	bool follow, follow_roots;       /* follow: -L was given; follow_roots: -H or -L.  Decides
	                                    whether a symlink FILE of -newer and -samefile is
	                                    followed */
	/* Look up a user or group.  @return 1: found; 0: no such name; -1 with errno. */
	int (*owner_id)(void *arg, bool group, const char *name, uint32_t *id);
	/* Get the attributes of a file.  @return 0, or -1 with errno. */
	int (*file)(void *arg, const char *path, bool follow, struct k_statx *st);
	/* Check the arguments of an action, and set its needs (mask, xtype, target, attributes,
	   type).  NULL: actions are refused.
	   @return 0, or -1 after appending a sentence to why. */
	int (*action)(void *arg, struct query_action *action, struct strbuf *why);
	/* Report a warning to the user; NULL: drop warnings. */
	void (*warn)(void *arg, const char *text);
	bool quiet;                      /* no warnings, unless the expression has -warn */
	bool which;                      /* the caller must know which of several -print an object
	                                    reaches */
};

/**
 * Parse an expression.
 *
 * @words
 *         n words: the arguments of find after its paths; copied. n = 0: all objects.
 * @env
 *         Not used after the call.
 * @error [out]
 *         Initialized by the caller to zero; may be NULL.
 * @return a query, or NULL.
 * Errors: EINVAL: see error.  E2BIG: too many nested parentheses.  ENOMEM.
 * Ownership: query_free().
 */
struct query *query_parse(const char *const words[], size_t n, const struct query_env *env,
                          struct query_error *error);

/** A part of an expression. words, n: as for query_parse(). */
struct query_part {
	const char *const *words;
	size_t n;
	const char *option;              /* the option of getmnt that was translated to this part,
	                                    for messages; NULL: none */
};

/** Parse an expression of n > 0 parts that are combined with AND.  Each part is an expression of
    its own: parentheses cannot span parts.  Otherwise as query_parse().
    @error [out]  `part` is set. */
struct query *query_parse_parts(const struct query_part parts[], size_t n,
                                const struct query_env *env, struct query_error *error);

/**
 * Split a text into words at white space.  Quotes and backslashes protect white space as in sh(1);
 * variables and patterns are not expanded.
 *
 * @n [out]
 *         The number of words.
 * @error [out]
 *         As for query_parse().
 * @return the array of words, which one free() releases together with their texts; or NULL.
 * Errors: EINVAL: a quote is not closed, or the text ends in a backslash; see error.  ENOMEM.
 */
const char **query_split(const char *text, size_t *n, struct query_error *error);

/** Parse an expression from one string, split by query_split(). */
struct query *query_parse_text(const char *text, const struct query_env *env,
                               struct query_error *error);

/** Get the i-th primary of the language, without its dash.
    @refused [out]  The primary is not supported: the parser knows it only to print a better
    message.
    @return NULL: i is too large. */
const char *query_word(size_t i, bool *refused);

/** Free a query; NULL is allowed. */
void query_free(struct query *query);

/** Append the canonical string, which query_parse_text() parses to an equal tree.  IDs replace
    names of users and groups, times replace -newer files and ages, and device and inode number
    replace the file of -samefile. */
void query_print(const struct query *query, struct strbuf *out);

/** Whether a word, given without its '-', is a primary of the language. */
bool query_knows(const char *word);

/** As query_print(), but for a server that finds the objects and performs no actions; never empty.
    Each action except -quit is printed as -print, which is always true; if the action is false for
    objects with query_object.lost, a test that is false for them precedes -print. */
void query_print_tests(const struct query *query, struct strbuf *out);

/** Fill `env` for parsing the string of query_print_tests(): names of users, groups and files, and
    actions other than -print and -quit, are refused.
    @mask  K_STATX_* that each action is assumed to need; must outlive env. */
void query_env_tests(struct query_env *env, unsigned *mask);

/** Properties of a query. */
struct query_info {
	unsigned mask;              /* K_STATX_* that tests need; 0: no test needs attributes.
	                               Contains the type only if a test needs the mode */
	unsigned levels;            /* 1 << enum query_level for each level that a test needs */
	unsigned mindepth, maxdepth;   /* UINT_MAX: no limit */
	bool depth;                 /* -depth, -d, -delete: contents before their directory */
	bool xdev;                  /* -xdev: do not enter other mounts */
	bool mount;                 /* -mount: neither enter nor report the roots of other mounts */
	bool follow;                /* -follow: as -L */
	bool ignore_race;           /* set and cleared by -ignore_readdir_race and
	                               -noignore_readdir_race; the last of these words is
	                               effective */
	bool unique;                /* -unique: report each object only once, also if it has several
	                               paths */
	bool xtype;                 /* facts->xtype may be called, which follows symlinks */
	bool fstype;                /* facts->fstype may be called */
	bool samefile;              /* -samefile occurs: its device and inode number are valid only
	                               on this host */
	bool all;                   /* every object is printed: the query has no test */
	bool only_prints;           /* all actions are -print, or all are -print0; they need no
	                               attributes, and no object reaches two of them.  With
	                               query_env.which there is only one action */
	char end;                   /* with only_prints: the byte after each path, '\n' or '\0' */
	bool waits;                 /* perform the actions for a directory before entering it:
	                               -prune may depend on the result of an action, or a command
	                               may change the directory */
	bool has_prune;             /* -prune or -exclude occurs */
	bool has_actions;           /* the expression has an action other than -quit; if not, -print
	                               was added */
	const char *files0_from;    /* argument of -files0-from, which is refused if
	                               query_env.action is NULL; NULL: no such option */
};
const struct query_info *query_info(const struct query *query);

/** Get the actions in the order of the expression, including an added -print.
    @n [out]  The number of actions. */
const struct query_action *query_actions(const struct query *query, size_t *n);

/** The result of query_test(). */
struct query_outcome {
	enum query_value acts;      /* whether any action is reached */
	enum query_value prune;     /* whether the directory must not be entered: because of -prune
	                               (without -depth), -exclude, or maxdepth */
	uint64_t actions;           /* if acts is YES: the actions that the object reaches, 1 <<
	                               index. 0: unknown, since this depends on the result of an
	                               action or on unknown facts, or the query has more than 64
	                               actions */
	bool statx;                 /* a test is OPEN whose value the attributes may decide */
	int error;                  /* errno of a fact that could not be looked up; 0 */
};

/**
 * Evaluate a query without performing actions.
 *
 * At QUERY_ALL, acts is OPEN only because of -empty for a directory with -depth: actions on the
 * contents may still empty the directory.
 *
 * @level
 *         The facts about the object that are known.
 * @outcome [out]
 *         acts and prune are final unless they are OPEN.  An excluded object has acts NO and prune
 *         YES.  mindepth and maxdepth are taken into account: an object outside these limits
 *         reaches no action, and at maxdepth prune is YES.
 */
void query_test(const struct query *query, const struct query_object *object,
                enum query_level level, struct query_outcome *outcome);

/** A function that performs an action.
    @return whether the action succeeded; ignored for actions that are always true, such as
    -print. */
typedef bool query_act(void *arg, const struct query_action *action,
                       const struct query_object *object);

/**
 * Evaluate a query and perform its actions, in order.
 *
 * @object
 *         All its facts are known or can be looked up, as at QUERY_ALL.
 * @stop [out]
 *         May be NULL; -quit was reached: the rest of the expression was not evaluated.
 * @error [out]
 *         May be NULL; errno of a fact that could not be looked up, or 0.
 * @return whether -prune was reached.
 */
bool query_run(const struct query *query, const struct query_object *object, query_act *act,
               void *arg, bool *stop, int *error);

/** Parse a duration: "2d", "1h 30min", "1.5 weeks".  A month has 30.44 days, a year 365.25.
    @return 0, or -1: the text is not a duration. */
int query_duration(const char *text, struct timespec *duration);

/** Parse a date, as -newerXt does.
    @return false: the text is not a date. */
bool query_date(const char *text, const struct timespec *now, struct timespec *date);

/** The accepted forms of dates, for messages. */
extern const char query_date_forms[];

#endif
