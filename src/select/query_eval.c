/* SPDX-License-Identifier: MIT */
/*
 * Evaluate a query with the facts that are known so far.
 *
 * A test whose answer is not known yet is OPEN, and so is the result of an action that can fail.
 * Whether the operands to the right of an OPEN operand are evaluated is unknown: walk->reach is
 * then OPEN, and whether the actions in these operands are reached is unknown as well.
 */
#include "select/query_impl.h"

#include <assert.h>
#include <dirent.h>

static enum query_value eval(struct query_walk *walk, const struct query_node *node);

/** Get the `reach` of the nodes after a list.
    @reach  The `reach` of the list.
    @return OPEN if -quit may have been reached in the list. */
static enum query_value reach_after(const struct query_walk *walk, enum query_value reach)
{
	return walk->maybe_quit ? QUERY_OPEN : reach;
}

static enum query_value eval_action(struct query_walk *walk, const struct query_node *node)
{
	const struct query_action *action = &walk->query->actions[node->action];
	struct query_outcome *outcome = walk->outcome;
	/* The callers evaluate no node that is not reached, or after -quit. */
	assert(walk->reach != QUERY_NO && !walk->quit);
	const struct query_object *object = walk->object;
	if (object->lost && (action->attributes || (action->type && object->type == DT_UNKNOWN)))
		return walk->level == QUERY_ALL ? QUERY_NO : QUERY_OPEN;
	if (walk->act) {
		/* In query_run() no test is OPEN, so reach is YES.  If it is not, do not run the
		   action. */
		assert(walk->reach == QUERY_YES);
		if (walk->reach != QUERY_YES)
			return QUERY_NO;
		walk->quit = action->kind == QA_QUIT;
		bool succeeded = walk->act(walk->arg, action, walk->object);
		return succeeded || !query_can_fail(action) ? QUERY_YES : QUERY_NO;
	}
	if (walk->reach == QUERY_YES) {
		outcome->acts = QUERY_YES;
		outcome->actions |= action->index < 64 ? (uint64_t)1 << action->index : 0;
		walk->quit = action->kind == QA_QUIT;
	} else {
		outcome->acts = outcome->acts == QUERY_YES ? QUERY_YES : QUERY_OPEN;
		walk->unsure = true;
		walk->maybe_quit |= action->kind == QA_QUIT;
	}
	return query_can_fail(action) ? QUERY_OPEN : QUERY_YES;
}

/** Evaluate -prune.  Without -depth it is false for an object whose type cannot be read, as in GNU
    find. */
static enum query_value eval_prune(struct query_walk *walk)
{
	if (walk->query->info.depth)
		return QUERY_YES;
	if (walk->object->type == DT_UNKNOWN && walk->level < QUERY_ALL) {
		if (walk->outcome->prune == QUERY_NO)
			walk->outcome->prune = QUERY_OPEN;
		walk->outcome->statx = true;
		return QUERY_OPEN;
	}
	if (walk->object->type == DT_UNKNOWN && walk->object->lost)
		return QUERY_NO;
	if (walk->outcome->prune != QUERY_YES)
		walk->outcome->prune = walk->reach;
	return QUERY_YES;
}

/** Evaluate AND or OR.
    @decides  The value of an operand that ends the list: NO for AND, YES for OR. */
static enum query_value eval_list(struct query_walk *walk, const struct query_node *node,
                                  enum query_value decides)
{
	enum query_value reach = walk->reach;
	enum query_value value = decides == QUERY_NO ? QUERY_YES : QUERY_NO;
	for (const struct query_node *at = node->first; at && !walk->quit; at = at->next) {
		enum query_value next = eval(walk, at);
		if (next == decides) {
			value = decides;
			break;
		}
		if (next == QUERY_OPEN)
			value = walk->reach = QUERY_OPEN;
	}
	walk->reach = reach_after(walk, reach);
	return value;
}

/** Whether a test needs attributes, or a type, that cannot be read. */
static bool is_lost(const struct query_walk *walk, const struct query_row *row)
{
	const struct query_object *object = walk->object;
	return object->lost && walk->level == QUERY_ALL
	       && (row->cost == COST_STATX || row->mask
	           || (object->type == DT_UNKNOWN
	               && (row->test == query_test_type || row->test == query_test_xtype
	                   || row->test == query_test_lname)));
}

/** Whether the attributes may decide the value of a test that is OPEN. */
static bool needs_statx(const struct query_walk *walk, const struct query_row *row)
{
	const uint8_t type = walk->object->type;
	return type == DT_UNKNOWN || row->cost == COST_STATX
	       || (row->cost > COST_STATX && row->mask
	           && (row->test != query_test_empty || type == DT_REG));
}

/** Get the result of a test from the memo of the object, or evaluate the test and store its result
    there. */
static enum query_value eval_kept(struct query_walk *walk, const struct query_node *node)
{
	struct query_memo *memo = walk->object->memo;
	assert(node->memo <= walk->query->nmemo && (memo->yes & ~memo->known) == 0);
	const uint16_t bit = (uint16_t)(1u << (node->memo - 1));
	if (memo->known & bit)
		return memo->yes & bit ? QUERY_YES : QUERY_NO;
	enum query_value value = node->row->test(walk, node);
	/* After an error, such as ENOMEM, the result may be wrong: do not store it. */
	if (walk->outcome->error == 0) {
		memo->known |= bit;
		memo->yes |= value == QUERY_YES ? bit : 0;
	}
	return value;
}

static enum query_value eval(struct query_walk *walk, const struct query_node *node)
{
	enum query_value value = QUERY_YES;
	switch (node->op) {
	case OP_TEST:
		value = node->memo && walk->object->memo ? eval_kept(walk, node)
		        : node->row->test(walk, node);
		if (value == QUERY_OPEN && is_lost(walk, node->row))
			return node->row->test == query_test_newer && node->time.negated
			       ? QUERY_YES : QUERY_NO;
		walk->outcome->statx |= value == QUERY_OPEN && needs_statx(walk, node->row);
		return value;
	case OP_ACTION:
		return eval_action(walk, node);
	case OP_PRUNE:
		return eval_prune(walk);
	case OP_NOT:
		value = eval(walk, node->first);
		return value == QUERY_OPEN ? QUERY_OPEN
		       : value == QUERY_YES ? QUERY_NO : QUERY_YES;
	case OP_AND:
		return eval_list(walk, node, QUERY_NO);
	case OP_OR:
		return eval_list(walk, node, QUERY_YES);
	default:
		for (const struct query_node *at = node->first; at && !walk->quit; at = at->next)
			value = eval(walk, at);
		return value;
	}
}

/** Evaluate -exclude and the tree for an object, and apply mindepth and maxdepth. */
static void evaluate(struct query_walk *walk)
{
	const struct query *query = walk->query;
	const struct query_object *object = walk->object;
	const struct query_info *info = &query->info;
	struct query_outcome *outcome = walk->outcome;
	*outcome = (struct query_outcome){0};

	enum query_value excluded = QUERY_NO;
	if (query->exclude) {
		query_act *act = walk->act;
		walk->act = NULL;
		walk->reach = QUERY_YES;
		excluded = eval(walk, query->exclude);
		walk->act = act;
	}
	if (excluded == QUERY_YES) {
		outcome->prune = QUERY_YES;
		return;
	}
	walk->reach = excluded == QUERY_OPEN ? QUERY_OPEN : QUERY_YES;
	if (object->depth >= info->mindepth && object->depth <= info->maxdepth)
		eval(walk, query->root);
	if (excluded == QUERY_OPEN && outcome->prune == QUERY_NO)
		outcome->prune = QUERY_OPEN;
	if (object->type != DT_UNKNOWN && object->type != DT_DIR)
		outcome->prune = QUERY_NO;
	if (object->depth >= info->maxdepth)
		outcome->prune = QUERY_YES;
	if (walk->unsure || query->nactions > 64)
		outcome->actions = 0;
}

void query_test(const struct query *query, const struct query_object *object,
                enum query_level level, struct query_outcome *outcome)
{
	struct query_walk walk = {
		.query = query, .object = object, .level = level, .outcome = outcome,
	};
	evaluate(&walk);
}

bool query_run(const struct query *query, const struct query_object *object, query_act *act,
               void *arg, bool *stop, int *error)
{
	struct query_outcome outcome;
	struct query_walk walk = {
		.query = query, .object = object, .level = QUERY_ALL, .outcome = &outcome,
		.act = act, .arg = arg,
	};
	evaluate(&walk);
	if (stop)
		*stop = walk.quit;
	if (error)
		*error = outcome.error;
	return outcome.prune == QUERY_YES;
}
