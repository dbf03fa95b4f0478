/* SPDX-License-Identifier: MIT */
/* Decide by name and attributes which objects of a search are reported. */
#include "select/select.h"

#include <limits.h>
#include <string.h>

/** Set the members of a selection that depend on the query. */
static void use_query(struct selection *sel)
{
	const struct query_info *info = sel->info;
	size_t n;
	const struct query_action *actions = query_actions(sel->query, &n);
	for (size_t i = 0; i < n; ++i) {
		enum query_action_kind kind = actions[i].kind;
		sel->act_mask |= actions[i].mask;
		sel->act_target |= actions[i].target;
		sel->identify |= kind == QA_EXECDIR || kind == QA_OKDIR || kind == QA_DELETE;
		sel->alters |= kind == QA_DELETE || (kind >= QA_EXEC && kind <= QA_OKDIR);
	}
	sel->plain = info->only_prints;
	sel->judges = !info->all || info->unique || info->mount;
	sel->again = !sel->plain || info->levels & ~(1u << QUERY_NAMES) || info->unique;
}

int selection_init(struct selection *sel, const char *pattern, const char *exclude, unsigned flags,
                   struct query *query)
{
	*sel = (struct selection){.query = query};
	if (query) {
		sel->info = query_info(query);
		use_query(sel);
	}
	selection_limit(sel, 0, 0, UINT_MAX);
	sel->pattern = pattern_compile_excluding(pattern, strlen(pattern), exclude,
	                                         exclude ? strlen(exclude) : 0, flags, NULL);
	if (!sel->pattern)
		return -1;
	sel->words = pattern_words(sel->pattern);
	sel->everything = pattern_everything(sel->pattern);
	return 0;
}

void selection_destroy(struct selection *sel)
{
	query_free(sel->query);
	pattern_free(sel->pattern);
	*sel = (struct selection){0};
}

void selection_limit(struct selection *sel, unsigned types, unsigned mindepth, unsigned maxdepth)
{
	const struct query_info *info = sel->info;
	sel->types = types;
	sel->mindepth = info && info->mindepth > mindepth ? info->mindepth : mindepth;
	sel->maxdepth = info && info->maxdepth < maxdepth ? info->maxdepth : maxdepth;
	sel->judges |= sel->mindepth > 0 || sel->maxdepth != UINT_MAX;
}

void select_object(const struct selection *sel, const struct query_object *object, bool only_below,
                   enum query_value known, struct judgment *judged)
{
	const struct query_info *info = sel->info;
	*judged = (struct judgment){
		.object = !only_below && object->depth >= sel->mindepth
		          && object->depth <= sel->maxdepth,
		.enter = object->depth < sel->maxdepth,
	};
	if (!sel->query)
		return;
	const bool dir = judged->enter
	                 && (object->type == DT_DIR || object->type == DT_UNKNOWN);
	if (!judged->object && !(dir && (info->has_prune || info->unique)))
		return;
	struct query_outcome outcome;
	enum query_level level = object->st ? QUERY_STATX : QUERY_NAMES;
	for (;; level = QUERY_ALL) {
		if (known == QUERY_OPEN)
			query_test(sel->query, object, level, &outcome);
		else
			outcome = (struct query_outcome){
				.acts = known, .actions = 1, .prune = QUERY_NO,
			};
		if (!judged->object)
			outcome.acts = QUERY_NO;
		/* actions is 0 if the reached actions are unknown. query_run() then evaluates the
		   whole expression, so all facts must be available. */
		bool open = outcome.acts == QUERY_OPEN || (dir && outcome.prune == QUERY_OPEN)
		            || (outcome.acts == QUERY_YES && outcome.actions == 0
		                && !info->only_prints);
		bool more = open && (outcome.statx || object->type == DT_UNKNOWN);
		more |= outcome.acts != QUERY_NO
		        && (sel->act_mask || (!outcome.actions && outcome.statx));
		more |= info->unique && (outcome.acts != QUERY_NO || dir);
		if (more && !object->st && !object->lost) {
			judged->look = true;
			return;
		}
		if (!open || level == QUERY_ALL)
			break;
	}
	judged->object = outcome.acts != QUERY_NO;
	judged->enter &= outcome.prune != QUERY_YES;
	judged->actions = outcome.acts == QUERY_YES ? outcome.actions : 0;
	judged->error = outcome.error;
}
