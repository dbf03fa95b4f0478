/* SPDX-License-Identifier: MIT */
/*
 * Random expressions, compared with an evaluation in the order in which they are written: the
 * order of the tests, the levels and the canonical string change nothing.
 */
#include "query_world.h"
#include "unit.h"

/* Primaries for the object of run_one(), and their values. */
static const struct leaf {
	const char *text;
	int value;           /* FAILS: that of actions that can fail */
	const char *does;    /* what it adds to the actions */
} leaves[] = {
	{"-name name", 1, NULL}, {"-name 'n*'", 1, NULL}, {"-name x", 0, NULL},
	{"-iname NA*", 1, NULL}, {"-path '*/name'", 1, NULL}, {"-regex x", 0, NULL},
	{"-type d", 1, NULL}, {"-type f,l", 0, NULL}, {"-hidden", 0, NULL},
	{"-size 2", 1, NULL}, {"-size +2", 0, NULL}, {"-links 3", 1, NULL}, {"-perm 1", 0, NULL},
	{"-mtime -3", 0, NULL}, {"-newermt @99", 1, NULL}, {"-user me", 1, NULL},
	{"-samefile f", 1, NULL}, {"-used +1", 0, NULL}, {"-fstype ext4", 1, NULL},
	{"-readable", 1, NULL}, {"-executable", 0, NULL}, {"-nouser", 0, NULL},
	{"-empty", 1, NULL}, {"-xtype d", 1, NULL}, {"-lname x", 0, NULL},
	{"-true", 1, NULL}, {"-false", 0, NULL}, {"-maxdepth 9", 1, NULL},
	{"-daystart -true", 1, NULL},
	{"-print", 1, " -print"}, {"-print0", 1, " -print0"}, {"-exec a {} +", 1, " -exec"},
	{"-exec a ';'", -1, " -exec"}, {"-ok a {} ';'", -1, " -ok"},
	{"-prune", 1, NULL}, {"-prune", 1, NULL}, {"-quit", 1, " -quit"},
};
enum { FAILS = -1 };

/* The object. */
#define FACTS "type=d is=d path=./name size=1000 nlink=3 mode=755 mtime=100 uid=1000 atime=5 " \
	"ctime=9 access=6 empty=1 xtype=d"

enum op { LEAF, NOT, AND, OR, COMMA };

/** A random expression. */
struct expression {
	enum op op;
	const struct leaf *leaf;
	bool parentheses, a;     /* not needed, but written; "-a" is written */
	struct expression *left, *right;
};

struct run {
	uint64_t seed;
	struct expression pool[200];
	size_t used;
	bool fails, pruned, quit, prints;
	struct strbuf done;
};

static unsigned random_below(struct run *run, unsigned n)
{
	run->seed = run->seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(run->seed >> 33) % n;
}

static struct expression *make(struct run *run, int depth)
{
	struct expression *node = &run->pool[run->used++];
	unsigned kind = random_below(run, 10);
	*node = (struct expression){
		.parentheses = random_below(run, 8) == 0, .a = random_below(run, 2),
	};
	if (depth == 0 || kind < 2 || run->used + 2 > COUNT(run->pool)) {
		node->leaf = &leaves[random_below(run, COUNT(leaves))];
		run->prints |= node->leaf->does && strcmp(node->leaf->does, " -quit") != 0;
		return node;
	}
	node->op = kind < 6 ? AND : kind < 8 ? OR : kind < 9 ? NOT : COMMA;
	node->left = make(run, depth - 1);
	if (node->op != NOT)
		node->right = make(run, depth - 1);
	return node;
}

static void write_expression(const struct expression *node, enum op parent, bool right,
                             struct strbuf *text)
{
	/* Operators of the same kind may need them on the right: they group to the left. */
	bool open = node->parentheses
	            || (node->op > NOT && (node->op > parent || (right && node->op == parent)));
	strbuf_puts(text, open ? " (" : "");
	if (node->op == LEAF) {
		strbuf_printf(text, " %s", node->leaf->text);
	} else if (node->op == NOT) {
		strbuf_puts(text, " !");
		write_expression(node->left, NOT, false, text);
	} else {
		write_expression(node->left, node->op, false, text);
		strbuf_puts(text, node->op == OR ? " -o" : node->op == COMMA ? " ,"
		                  : node->a ? " -a" : "");
		write_expression(node->right, node->op, true, text);
	}
	strbuf_puts(text, open ? " )" : "");
}

static bool evaluate(struct run *run, const struct expression *node)
{
	if (run->quit)
		return false;
	bool value;
	switch (node->op) {
	case LEAF:
		if (node->leaf->does)
			strbuf_puts(&run->done, node->leaf->does);
		run->pruned |= strcmp(node->leaf->text, "-prune") == 0;
		run->quit |= strcmp(node->leaf->text, "-quit") == 0;
		return node->leaf->value == FAILS ? !run->fails : node->leaf->value;
	case NOT:
		return !evaluate(run, node->left);
	case AND:
		return evaluate(run, node->left) && evaluate(run, node->right);
	case OR:
		return evaluate(run, node->left) || evaluate(run, node->right);
	default:
		evaluate(run, node->left);
		value = evaluate(run, node->right);
		return value;
	}
}

/** Whether the query has an action that can fail. */
static bool has_failing(const struct query *query)
{
	size_t n;
	const struct query_action *actions = query_actions(query, &n);
	bool failing = false;
	for (size_t i = 0; i < n; ++i)
		failing |= actions[i].kind >= QA_EXEC && !actions[i].plus
		           && actions[i].kind != QA_QUIT;
	return failing;
}

/** Compare a query with the evaluation. */
static void check(const struct query *query, const struct run *run)
{
	char words[200];
	snprintf(words, sizeof(words), FACTS "%s%s", run->seed % 2 ? "" : " type=?",
	         run->fails ? " fails" : "");
	struct query_thing thing;
	query_thing_init(&thing, words);
	STRBUF(got);
	query_thing_describe(query, &thing, &got);
	STRBUF(expected);
	strbuf_puts(&expected, strbuf_str(&run->done));
	strbuf_puts(&expected, run->pruned ? " pruned" : "");
	strbuf_puts(&expected, run->quit ? " stop" : "");
	/* Without the levels, "yyy nnn". */
	unit_expect(strbuf_str(&got) + 7, strbuf_str(&expected));

	/* The actions that are reached, if that is known. */
	struct query_outcome outcome;
	thing.object.type = 4;
	query_test(query, &thing.object, QUERY_ALL, &outcome);
	CU_ASSERT_EQUAL(outcome.error, 0);
	CU_ASSERT_EQUAL(outcome.acts, run->done.len > 0 ? QUERY_YES : QUERY_NO);
	size_t n;
	const struct query_action *actions = query_actions(query, &n);
	STRBUF(reached);
	for (size_t i = 0; i < n; ++i) {
		if (outcome.actions >> i & 1)
			strbuf_printf(&reached, " %s", actions[i].word);
	}
	if (outcome.actions != 0)
		unit_expect(strbuf_str(&reached), strbuf_str(&run->done));
	/* Only actions that can fail make it unknown. */
	CU_ASSERT_TRUE(has_failing(query) || (outcome.actions != 0) == (run->done.len > 0));
	strbuf_destroy(&thing.done);
}

/** What a server is sent finds the object if an action is reached, and prunes as the query does. */
static void check_tests(const struct query *query, const struct run *run)
{
	STRBUF(text);
	if (has_failing(query))
		return;
	query_print_tests(query, &text);
	struct query *sent = query_parse_text(strbuf_str(&text), &query_world, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(sent);
	char words[] = FACTS;
	struct query_thing thing;
	query_thing_init(&thing, words);
	struct query_outcome outcome;
	query_test(sent, &thing.object, QUERY_ALL, &outcome);
	CU_ASSERT_EQUAL(outcome.acts, run->done.len > 0 ? QUERY_YES : QUERY_NO);
	CU_ASSERT_EQUAL(outcome.prune, run->pruned ? QUERY_YES : QUERY_NO);
	query_free(sent);
}

static void run_one(struct run *run)
{
	run->used = 0;
	run->pruned = run->quit = run->prints = false;
	strbuf_reset(&run->done);
	run->fails = random_below(run, 2);
	const struct expression *expression = make(run, 1 + (int)random_below(run, 5));
	STRBUF(text);
	write_expression(expression, COMMA, false, &text);
	if (evaluate(run, expression) && !run->prints && !run->quit)
		strbuf_puts(&run->done, " -print");

	unit_note("%s", strbuf_str(&text));
	struct query *query = query_parse_text(strbuf_str(&text), &query_world, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(query);
	check(query, run);
	check_tests(query, run);
	STRBUF(printed);
	query_print(query, &printed);
	struct query *again = query_parse_text(strbuf_str(&printed), &query_world, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(again);
	check(again, run);
	STRBUF(twice);
	query_print(again, &twice);
	unit_expect(strbuf_str(&twice), strbuf_str(&printed));
	const struct query_info *one = query_info(query), *two = query_info(again);
	CU_ASSERT_TRUE(one->mask == two->mask && one->levels == two->levels
	               && one->maxdepth == two->maxdepth && one->all == two->all
	               && one->only_prints == two->only_prints && one->end == two->end
	               && one->waits == two->waits
	               && one->has_actions == two->has_actions);
	query_free(again);
	query_free(query);
}

UNIT_TEST(as_written)
{
	static struct run run;
	for (unsigned i = 0; i < 50000; i += unit_step()) {
		run.seed = i * 7919 + 1;
		run_one(&run);
		if (CU_get_number_of_failures() > 5)
			break;
	}
	strbuf_destroy(&run.done);
}
