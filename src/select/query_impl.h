/* SPDX-License-Identifier: MIT */
/**
 * The data that the files query*.c share: the tree, the table of primaries, the parser.
 *
 * The tree.  AND, OR and "," are nodes with a list of operands, so that a chain of 100,000 terms
 * costs no recursion; an operand is never of the same kind as its parent, except below the AND that
 * adds -print.  AND has no operand -true, OR no operand -false.  A list has at least two operands,
 * and an operand has one parent.  The parser replaces many primaries by other tests, so that few
 * kinds of tests remain:
 *
 *   -mtime 3, -newer FILE, -newermt DATE   -newer tests: whether a time is later than an instant
 *   -samefile FILE                         -dev and -inum
 *   -user NAME, -group NAME                -uid, -gid
 *   options                                -true, and a field of struct query_info
 *   -nohidden                              -exclude -hidden
 *
 * Operands of AND and OR without an action or -prune between them are in the order of cost.
 */
#ifndef GM_SELECT_QUERY_IMPL_H
#define GM_SELECT_QUERY_IMPL_H

#include "select/query.h"

#include "base/arena.h"

#include <regex.h>

enum query_op {
	OP_TEST,                 /* evaluated by row->test */
	OP_ACTION, OP_PRUNE,
	OP_NOT,                  /* one operand */
	OP_AND, OP_OR, OP_COMMA, /* a list of operands */
};

/** Costs of tests, lowest first: AND and OR evaluate cheap operands first.  Tests from COST_STATX
    on need attributes, tests from COST_OWNER on call functions of query_facts. */
enum query_cost {
	COST_NONE, COST_NAME, COST_PATH, COST_REGEX, COST_STATX, COST_OWNER, COST_CALL, COST_DIR,
	COST_COUNT,
};

/** A compiled pattern of fnmatch(3): query_match.c. */
struct query_pattern;

struct query_regex {
	struct re_pattern_buffer buffer;
	struct query_regex *next;
	const struct query_syntax *syntax;
	bool compiled;
};

enum { QUERY_MEMO = 16 };            /* number of bits of each member of struct query_memo */
_Static_assert(sizeof(((struct query_memo *)NULL)->known) * 8 == QUERY_MEMO, "a bit for each test");

struct query_node {
	uint8_t op;                      /* enum query_op */
	uint8_t cost;                    /* enum query_cost: of the test, or the highest of the
	                                    operands */
	uint8_t memo;                    /* number of the test's bit in struct query_memo, from 1;
	                                    0: no bit */
	bool acts;                       /* the node is, or contains, an action or -prune */
	const struct query_row *row;     /* row of OP_TEST, OP_ACTION and OP_PRUNE */
	struct query_node *next;         /* the next operand of its parent */
	const char *text;                /* the argument, if query_print() prints it unchanged */
	union {
		struct {
			struct query_node *first, *last;
		};
		struct {
			uint64_t n;
			char sign;       /* '+' more than n, '-' less than n, 0 equal to n */
			char letter;     /* the unit of -size */
			uint32_t unit;
		} number;
		struct {
			int64_t sec;
			uint32_t nsec;
			char field;      /* 'a', 'B', 'c' or 'm' */
			bool negated;    /* the node is below OP_NOT, for a test of age (-older).
			                    For an object with query_object.lost, -newer is then
			                    true, so that -older is false */
		} time;
		struct {
			double days;
			char sign;
		} used;
		struct {
			uint16_t bits[2];/* permission bits of the mode; [1]: for directories, which
			                    can differ, as with "X" */
			char sign;       /* '-' all of the bits, '/' any of them, 0 exactly these */
		} perm;
		const struct query_pattern *pattern;
		struct query_regex *regex;
		unsigned types;          /* 1 << DT_* */
		unsigned action;         /* index in query->actions */
		struct {
			uint32_t major, minor;
		} dev;
	};
};

struct query {
	struct arena arena;
	struct query_info info;
	struct query_node *root;
	struct query_node *exclude;      /* the operands of all -exclude, combined with OR; NULL: no
	                                    -exclude */
	bool implicit;                   /* -print was added */
	bool follow, follow_roots;       /* copied from struct query_env */
	struct query_action *actions;
	size_t nactions, actions_room;
	uint8_t nmemo;                   /* number of tests that have a bit in struct query_memo */
	struct query_regex *regexes;
};

/** The state of an evaluation. */
struct query_walk {
	const struct query *query;
	const struct query_object *object;
	enum query_level level;
	enum query_value reach;          /* whether the current node is evaluated.  OPEN: it depends
	                                    on a value that is unknown */
	bool maybe_quit;                 /* -quit may have been reached */
	bool quit;                       /* -quit was reached: evaluate no further node */
	bool unsure;                     /* whether some action is reached is unknown */
	struct query_outcome *outcome;
	query_act *act;                  /* performs actions; NULL: find out only which actions are
	                                    reached */
	void *arg;
};

struct query_parser;

enum query_kind {
	ROW_TEST, ROW_ACTION,
	ROW_OPTION,                      /* applies to the whole search */
	ROW_POSITIONAL,                  /* applies to the primaries after it, or is a special
	                                    operator (-exclude) */
	ROW_REFUSED,
};

/** A primary. */
struct query_row {
	const char *word;                /* without its '-' */
	enum query_kind kind;
	uint8_t args;                    /* number of arguments; 0 for -exec and -ok, which end with
	                                    ";" or "+" */
	/* Make the node of the primary from its arguments.  NULL: p->error was set, or memory ran
	   out. */
	struct query_node *(*parse)(struct query_parser *p, const struct query_row *row,
	                            const char *const *args);
	enum query_value (*test)(struct query_walk *walk, const struct query_node *node);
	void (*print)(const struct query_node *node, struct strbuf *out);   /* appends the
	                                                                       arguments */
	enum query_cost cost;
	unsigned mask;                   /* attributes that the test needs: K_STATX_* */
	int param;                       /* parameter of parse, test and print */
	const char *instead;             /* ROW_REFUSED: rest of the message: why the primary is
	                                    refused, and the remedy */
};

struct query_parser {
	struct query *query;
	const struct query_env *env;
	const struct query_row *rows;    /* query_rows() */
	struct query_error *error;
	const char *const *words;
	size_t n, at;                    /* words of the part; at: index of the next word */
	size_t primary;                  /* index of the word of the primary that is being parsed */
	size_t part;                     /* index of the part that is being parsed */
	const char *option;              /* option of struct query_part */
	unsigned depth;                  /* number of open parentheses and -exclude */
	bool excluding;                  /* inside -exclude */
	bool daystart;
	bool quiet;                      /* print no warnings */
	bool explicit_depth;             /* -depth was written */
	bool prints;                     /* an action was written that replaces -print */
	bool prompts;                    /* -ok or -okdir was written */
	const char *test;                /* word of the first test or action */
	const char *prune, *delete;      /* the word of the last -prune, -delete; NULL: not in this
	                                    part */
	struct timespec day;             /* GNU find's start of the day: now - 24 h, or with
	                                    -daystart the last midnight */
	const struct query_syntax *syntax;
};

/* query_table.c */

/** Find a primary by its word, without the first '-'.  @return NULL: unknown. */
const struct query_row *query_row(const char *word);

/** The table of primaries. */
const struct query_row *query_rows(void);

/** Find the primary most similar to an unknown one, both without '-'.
    @return NULL: no primary is similar. */
const char *query_row_near(const char *word);

/* query.c */

/** Set p->error for the primary that is being parsed, unless it is set.
    @return NULL. */
__attribute__((format(printf, 2, 3)))
void *query_refuse(struct query_parser *p, const char *format, ...);

/** Report a warning, unless p->quiet. */
__attribute__((format(printf, 2, 3)))
void query_warn(struct query_parser *p, const char *format, ...);

/** Find the row of a primary that exists in the table, such as "uid", which replaces -user. */
const struct query_row *query_row_known(const struct query_parser *p, const char *word);

/** Check the action of a node by query_env.action.
    @return 0, or -1. */
int query_check_action(struct query_parser *p, const struct query_node *node);

/* The following functions return NULL for a node if memory ran out. */

/** Make a test node for a row.  Adds the attributes and the level that the test needs to
    query->info. */
struct query_node *query_node(struct query_parser *p, const struct query_row *row);

/** Make an empty list.  Add operands with query_add(), then call query_list_end(), which returns
    the node to use. */
struct query_node *query_list(struct query_parser *p, enum query_op op);
void query_add(struct query_node *list, struct query_node *operand);
struct query_node *query_list_end(struct query_node *list);

/** Negate a node, or remove its OP_NOT. */
struct query_node *query_not(struct query_parser *p, struct query_node *operand);

/** Make the node of an action, with copies of n arguments.
    @plus  The action ends with "{} +". */
struct query_node *query_action_node(struct query_parser *p, const struct query_row *row,
                                     const char *const *args, size_t n, bool plus);

/** Whether the result of an action can be false. */
bool query_can_fail(const struct query_action *action);

/** Exclude the objects for which `operand` is true.
    @return a node -true, which takes the place of -exclude. */
struct query_node *query_exclude(struct query_parser *p, struct query_node *operand);

/** Complete a query: set its tree, add -print if necessary, and set the info. */
int query_finish(struct query_parser *p, struct query_node *root);

/* Parsers of arguments, for row->parse: query_args.c, query_actions.c, query_time.c. */
#define QUERY_PARSE(name) \
	struct query_node *name(struct query_parser *p, const struct query_row *row, \
	                        const char *const *args)
QUERY_PARSE(query_parse_plain);      /* no arguments */
QUERY_PARSE(query_parse_string);     /* a text that the test compares with */
QUERY_PARSE(query_parse_number);
QUERY_PARSE(query_parse_size);
QUERY_PARSE(query_parse_perm);
QUERY_PARSE(query_parse_types);
QUERY_PARSE(query_parse_pattern);
QUERY_PARSE(query_parse_regex);
QUERY_PARSE(query_parse_regextype);
QUERY_PARSE(query_parse_owner);      /* -user, -group */
QUERY_PARSE(query_parse_samefile);
QUERY_PARSE(query_parse_dev);
QUERY_PARSE(query_parse_days);       /* -mtime; row->param: 'a', 'c' or 'm' */
QUERY_PARSE(query_parse_minutes);
QUERY_PARSE(query_parse_used);
QUERY_PARSE(query_parse_newer);      /* -newerXY; -newer, -anewer, -cnewer: row->param is the X */
QUERY_PARSE(query_parse_action);
/** Process -daystart: measure ages from the end of the current day. */
void query_daystart(struct query_parser *p);
QUERY_PARSE(query_parse_exec);
QUERY_PARSE(query_parse_prune);
QUERY_PARSE(query_parse_option);     /* row->param: enum query_option */
QUERY_PARSE(query_parse_depth_limit);/* row->param: whether it is -mindepth */
QUERY_PARSE(query_parse_nohidden);
QUERY_PARSE(query_parse_exclude);
QUERY_PARSE(query_parse_files0);

enum query_option {
	OPT_DEPTH, OPT_D, OPT_XDEV, OPT_MOUNT, OPT_FOLLOW, OPT_RACE, OPT_NO_RACE, OPT_NOLEAF,
	OPT_UNIQUE, OPT_WARN, OPT_NOWARN,
};

/** Get the attributes of a file that is the argument of a test. */
int query_file(struct query_parser *p, const char *path, struct k_statx *st);

/** The letters of -type, ended by 0. */
struct query_letter {
	char letter;
	uint8_t type;                    /* DT_* */
};
extern const struct query_letter query_letters[];

/** Functions for row->print, which append arguments. */
void query_print_none(const struct query_node *node, struct strbuf *out);
void query_print_text(const struct query_node *node, struct strbuf *out);
void query_print_number(const struct query_node *node, struct strbuf *out);
void query_print_time(const struct query_node *node, struct strbuf *out);
void query_print_perm(const struct query_node *node, struct strbuf *out);
void query_print_types(const struct query_node *node, struct strbuf *out);
void query_print_dev(const struct query_node *node, struct strbuf *out);
void query_print_used(const struct query_node *node, struct strbuf *out);

/* Tests, for row->test: query_tests.c. */
#define QUERY_TEST(name) \
	enum query_value name(struct query_walk *walk, const struct query_node *node)
QUERY_TEST(query_test_true);
QUERY_TEST(query_test_false);
QUERY_TEST(query_test_name);
QUERY_TEST(query_test_hidden);
QUERY_TEST(query_test_path);
QUERY_TEST(query_test_regex);
QUERY_TEST(query_test_fstype);
QUERY_TEST(query_test_type);
QUERY_TEST(query_test_size);
QUERY_TEST(query_test_links);
QUERY_TEST(query_test_inum);
QUERY_TEST(query_test_uid);
QUERY_TEST(query_test_gid);
QUERY_TEST(query_test_dev);
QUERY_TEST(query_test_perm);
QUERY_TEST(query_test_newer);
QUERY_TEST(query_test_used);
QUERY_TEST(query_test_no_owner);     /* row->param: whether it is -nogroup */
QUERY_TEST(query_test_access);       /* row->param: R_OK, W_OK or X_OK */
QUERY_TEST(query_test_xtype);
QUERY_TEST(query_test_lname);
QUERY_TEST(query_test_empty);

/* query_match.c: patterns and regular expressions */

/** Compile a pattern into memory of the arena.  @return NULL: memory ran out. */
const struct query_pattern *query_pattern_new(struct arena *arena, const char *text,
                                              bool any_case);

/** Whether a pattern matches a text of len bytes, which is followed by a NUL. */
bool query_pattern_matches(const struct query_pattern *pattern, const char *text, size_t len);

/** Find a syntax of regular expressions by its name.
    @name  NULL: the default syntax.
    @return NULL: unknown name. */
const struct query_syntax *query_syntax(const char *name);

/** Get the name of a syntax, and the name of the i-th syntax; NULL: i is too large. */
const char *query_syntax_name(const struct query_syntax *syntax);
const char *query_syntax_nth(size_t i);

/** Compile a regular expression; regex->syntax is set.
    @return NULL, or a static text that describes the error. */
const char *query_regex_compile(struct query_regex *regex, const char *text, bool any_case);

/** Whether a regular expression matches a whole text: 1 or 0; -1: memory ran out. */
int query_regex_matches(const struct query_regex *regex, const char *text, size_t len);

#endif
