/* SPDX-License-Identifier: MIT */
/* Build the tree of a query, and find out the properties of the query. */
#include "select/query_impl.h"

#include "base/array.h"
#include "base/fail.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>

void query_free(struct query *query)
{
	if (!query)
		return;
	for (struct query_regex *regex = query->regexes; regex; regex = regex->next) {
		if (regex->compiled)
			regfree(&regex->buffer);
	}
	free(query->actions);
	arena_destroy(&query->arena);
	free(query);
}

const struct query_info *query_info(const struct query *query)
{
	return &query->info;
}

/* Errors and rows of the parser */

void *query_refuse(struct query_parser *p, const char *format, ...)
{
	if (p->error && p->error->why.len == 0) {
		va_list args;
		va_start(args, format);
		p->error->at = p->primary;
		p->error->part = p->part;
		strbuf_vprintf(&p->error->why, format, args);
		va_end(args);
	}
	return fail_null(EINVAL);
}

void query_warn(struct query_parser *p, const char *format, ...)
{
	void (*note)(void *arg, const char *text) = p->env->warn;
	if (p->quiet || !note)
		return;
	struct strbuf text = {0};
	va_list args;
	va_start(args, format);
	strbuf_vprintf(&text, format, args);
	va_end(args);
	note(p->env->arg, strbuf_str(&text));
	strbuf_destroy(&text);
}

const struct query_row *query_row_known(const struct query_parser *p, const char *word)
{
	const struct query_row *row = p->rows;
	/* The table has a row for this word, so the loop ends. */
	assert(query_knows(word));
	while (strcmp(row->word, word) != 0)
		++row;
	return row;
}

/* Building the tree */

static struct query_node *new_node(struct query_parser *p, enum query_op op)
{
	struct query_node *node = arena_alloc(&p->query->arena, sizeof(*node));
	if (node)
		*node = (struct query_node){.op = (uint8_t)op};
	return node;
}

struct query_node *query_node(struct query_parser *p, const struct query_row *row)
{
	struct query_node *node = new_node(p, OP_TEST);
	if (!node)
		return NULL;
	struct query_info *info = &p->query->info;
	node->row = row;
	node->cost = (uint8_t)row->cost;
	info->mask |= row->mask;
	if (row->cost > COST_NONE)
		info->levels |= 1u << (row->cost < COST_STATX   ? QUERY_NAMES
		                       : row->cost < COST_OWNER ? QUERY_STATX : QUERY_ALL);
	if (row->cost >= COST_STATX && row->mask)
		info->levels |= 1u << QUERY_STATX;
	info->xtype |= row->test == query_test_xtype;
	info->fstype |= row->test == query_test_fstype;
	bool named = row->test == query_test_name || row->test == query_test_path
	             || row->test == query_test_regex;
	if (named && p->query->nmemo < QUERY_MEMO)
		node->memo = ++p->query->nmemo;
	return node;
}

struct query_node *query_list(struct query_parser *p, enum query_op op)
{
	return new_node(p, op);
}

void query_add(struct query_node *list, struct query_node *operand)
{
	assert(list->op >= OP_AND && !operand->next && operand != list);
	if (operand->op == OP_TEST
	    && ((list->op == OP_AND && operand->row->test == query_test_true)
	        || (list->op == OP_OR && operand->row->test == query_test_false))) {
		/* The row is for query_list_end(), if the list gets no operand. */
		if (!list->first)
			list->row = operand->row;
		return;
	}
	list->cost = operand->cost > list->cost ? operand->cost : list->cost;
	list->acts |= operand->acts;
	struct query_node *first = operand, *last = operand;
	if (operand->op == list->op) {
		first = operand->first;
		last = operand->last;
	}
	*(list->first ? &list->last->next : &list->first) = first;
	list->last = last;
}

/** Sort the operands from `at` up to the next one with an action by cost; operands of equal cost
    keep their order.
    @at  The address of the pointer to the first operand.
    @return the address of the pointer after the last sorted operand. */
static struct query_node **sort_run(struct query_node **at)
{
	struct query_node *heads[COST_COUNT] = {0}, **ends[COST_COUNT], *node = *at;
	for (int cost = 0; cost < COST_COUNT; ++cost)
		ends[cost] = &heads[cost];
	for (; node && !node->acts; node = node->next) {
		*ends[node->cost] = node;
		ends[node->cost] = &node->next;
	}
	for (int cost = 0; cost < COST_COUNT; ++cost) {
		if (heads[cost]) {
			*at = heads[cost];
			at = ends[cost];
		}
	}
	*at = node;
	return at;
}

struct query_node *query_list_end(struct query_node *list)
{
	if (!list->first) {
		/* All operands were -true (of AND) or -false (of OR). */
		*list = (struct query_node){.op = OP_TEST, .row = list->row};
		return list;
	}
	list->row = NULL;
	if (list->first == list->last)
		return list->first;
	if (list->op == OP_COMMA)
		return list;
	for (struct query_node **at = &list->first; *at;) {
		if ((*at)->acts)
			at = &(*at)->next;
		else
			at = sort_run(at);
	}
	for (list->last = list->first; list->last->next;)
		list->last = list->last->next;
	return list;
}

struct query_node *query_not(struct query_parser *p, struct query_node *operand)
{
	if (operand && operand->op == OP_NOT)
		return operand->first;
	struct query_node *node = operand ? new_node(p, OP_NOT) : NULL;
	if (node) {
		node->first = node->last = operand;
		node->cost = operand->cost;
		node->acts = operand->acts;
	}
	return node;
}

struct query_node *query_exclude(struct query_parser *p, struct query_node *operand)
{
	struct query *query = p->query;
	if (!query->exclude)
		query->exclude = query_list(p, OP_OR);
	if (!query->exclude)
		return NULL;
	query_add(query->exclude, operand);
	query->info.has_prune = true;
	return query_node(p, query_row_known(p, "true"));
}

/* Actions */

const struct query_action *query_actions(const struct query *query, size_t *n)
{
	*n = query->nactions;
	return query->actions;
}

struct query_node *query_action_node(struct query_parser *p, const struct query_row *row,
                                     const char *const *args, size_t n, bool plus)
{
	struct query *query = p->query;
	struct query_node *node = new_node(p, OP_ACTION);
	if (!node || !ARRAY_ROOM(query->actions, query->nactions, &query->actions_room))
		return NULL;
	const char **copy = arena_alloc(&query->arena, (n + 1) * sizeof(*copy));
	if (!copy)
		return NULL;
	for (size_t i = 0; i < n; ++i) {
		copy[i] = arena_strndup(&query->arena, args[i], strlen(args[i]));
		if (!copy[i])
			return NULL;
	}
	copy[n] = NULL;
	/* The word of a row has no '-'; add one. */
	char *word = arena_alloc(&query->arena, strlen(row->word) + 2);
	if (!word)
		return NULL;
	*word = '-';
	memcpy(word + 1, row->word, strlen(row->word) + 1);

	node->acts = true;
	node->row = row;
	node->action = (unsigned)query->nactions;
	query->actions[query->nactions++] = (struct query_action){
		.kind = (enum query_action_kind)row->param, .word = word,
		.args = copy, .nargs = n, .plus = plus, .index = node->action,
	};
	return node;
}

int query_check_action(struct query_parser *p, const struct query_node *node)
{
	struct query_action *action = &p->query->actions[node->action];
	if (!p->env->action) {
		query_refuse(p, "%s is an action; only tests can be used here", action->word);
		return -1;
	}
	struct strbuf why = {0};
	int result = p->env->action(p->env->arg, action, &why);
	if (result != 0)
		query_refuse(p, "%s", strbuf_str(&why));
	strbuf_destroy(&why);
	p->query->info.xtype |= action->xtype;
	return result;
}

/* Properties */

bool query_can_fail(const struct query_action *action)
{
	return action->kind == QA_DELETE
	       || (action->kind >= QA_EXEC && action->kind <= QA_OKDIR && !action->plus);
}

/** Whether a node never has this value for a directory. */
static bool excludes_dirs(const struct query_node *node, bool value)
{
	if (node->op == OP_NOT)
		return excludes_dirs(node->first, !value);
	if (node->op != OP_TEST || node->row->test != query_test_type)
		return false;
	return !(node->types & 1u << DT_DIR) == value;
}

/** Conditions under which a node is evaluated. */
struct waits {
	bool result;          /* the evaluation of the node may depend on the result of an action */
	bool no_dir;          /* the node is not evaluated for directories */
};

/** Find out whether the value of a node can depend on the result of an action.
    @found [out]  Set to true if a directory must not be entered before its actions were performed:
    see query_info.waits. */
static bool find_waits(const struct query *query, const struct query_node *node,
                       struct waits waits, bool *found)
{
	bool value = false;
	switch (node->op) {
	case OP_TEST:
		return false;
	case OP_ACTION:
		/* An action that can fail is a command, which may change the directory, such as its
		   permissions, so the command must run before the directory is entered. */
		value = query_can_fail(&query->actions[node->action]);
		*found |= value && !waits.no_dir;
		return value;
	case OP_PRUNE:
		*found |= waits.result && !waits.no_dir;
		return false;
	case OP_COMMA:
		for (node = node->first; node; node = node->next)
			value = find_waits(query, node, waits, found);
		return value;
	default:
		for (const struct query_node *at = node->first; at; at = at->next) {
			value |= find_waits(query, at, waits, found);
			waits.result |= value;
			waits.no_dir |= excludes_dirs(at, node->op == OP_AND);
		}
		return value;
	}
}

/** Maximum number of actions that an object can reach if the node is false ([0]) or true ([1]); -1:
    the node never has this value. */
struct most {
	long of[2];
};

static long most_sum(long a, long b)
{
	return a < 0 || b < 0 ? -1 : a + b;
}

static long most_of(long a, long b)
{
	return a > b ? a : b;
}

/** Find the maximum numbers of reached actions for a node.  Use it only if no action of the query
    can be false. */
static struct most find_most(const struct query_node *node)
{
	switch (node->op) {
	case OP_TEST:
		return (struct most){{0, 0}};
	case OP_PRUNE:
		return (struct most){{-1, 0}};
	case OP_ACTION:
		return (struct most){{-1, 1}};
	case OP_NOT: {
		struct most inner = find_most(node->first);
		return (struct most){{inner.of[1], inner.of[0]}};
	}
	default: {
		int goes_on = node->op == OP_AND;
		struct most all = find_most(node->first);
		for (const struct query_node *at = node->first->next; at; at = at->next) {
			struct most next = find_most(at);
			if (node->op == OP_COMMA) {
				long before = most_of(all.of[0], all.of[1]);
				for (int i = 0; i < 2; ++i)
					all.of[i] = most_sum(before, next.of[i]);
				continue;
			}
			long before = all.of[goes_on];
			all.of[goes_on] = most_sum(before, next.of[goes_on]);
			all.of[!goes_on] = most_of(all.of[!goes_on],
			                           most_sum(before, next.of[!goes_on]));
		}
		return all;
	}
	}
}

/** Assert the invariants of a tree that query_impl.h states, and that the cost of a node is the
    highest of its operands and the operands are in the order of cost.
    @parent  NULL: the root, or the operand of a list that adds -print. */
static void node_check(const struct query *query, const struct query_node *node,
                       const struct query_node *parent)
{
#ifndef NDEBUG
	const struct query_node *at = node->first;
	assert(!parent || (parent->cost >= node->cost && parent->acts >= node->acts
	                   && (parent->op != node->op || node->op < OP_NOT)));
	switch (node->op) {
	case OP_TEST:
		assert(node->row && node->row->test && !node->acts && node->memo <= query->nmemo);
		return;
	case OP_ACTION:
		assert(node->acts && node->action < query->nactions
		       && query->actions[node->action].index == node->action);
		return;
	case OP_PRUNE:
		assert(node->acts);
		return;
	case OP_NOT:
		assert(at && at == node->last && !at->next);
		break;
	default:
		assert(at && at->next && !node->last->next);
		break;
	}
	for (; at; at = at->next) {
		assert(at->next || at == node->last);
		assert(node->op == OP_COMMA || !at->next || at->acts || at->next->acts
		       || at->cost <= at->next->cost);
		node_check(query, at, node);
	}
#else
	(void)query, (void)node, (void)parent;
#endif
}

/** Find out the properties in query->info that depend on the complete tree.
    @which  As in struct query_env. */
static void find_info(struct query *query, bool which)
{
	struct query_info *info = &query->info;
	const struct query_node *root = query->root;
	/* With -depth a directory is entered before its actions in any case. */
	if (!info->depth)
		find_waits(query, root, (struct waits){0}, &info->waits);
	info->has_actions = !query->implicit;

	enum query_action_kind kind = query->actions[0].kind;
	info->only_prints = (kind == QA_PRINT || kind == QA_PRINT0)
	                    && (query->nactions == 1 || !which);
	for (size_t i = 0; i < query->nactions; ++i)
		info->only_prints &= query->actions[i].kind == kind && !query->actions[i].mask;
	if (info->only_prints) {
		struct most most = find_most(root);
		info->only_prints = most_of(most.of[0], most.of[1]) <= 1;
		info->end = kind == QA_PRINT ? '\n' : '\0';
	}
	if (query->implicit && root->first->op == OP_TEST
	    && root->first->row->test == query_test_true)
		root = root->last;
	info->all = info->only_prints && root->op == OP_ACTION && !query->exclude;
}

int query_finish(struct query_parser *p, struct query_node *root)
{
	struct query *query = p->query;
	if (query->exclude)
		query->exclude = query_list_end(query->exclude);
	node_check(query, root, NULL);
	if (query->exclude)
		node_check(query, query->exclude, NULL);
	assert(!root->next && query->nmemo <= QUERY_MEMO);
	query->root = root;
	if (!p->prints) {
		struct query_node *list = new_node(p, OP_AND);
		struct query_node *print = query_action_node(p, query_row_known(p, "print"), NULL,
		                                             0, false);
		if (!list || !print)
			return -1;
		query->implicit = true;
		list->first = root;
		list->last = root->next = print;
		list->acts = true;
		query->root = list;
		if (p->env->action && query_check_action(p, print) != 0)
			return -1;
	}
	find_info(query, p->env->which);
	return 0;
}
