/* SPDX-License-Identifier: MIT */
/* Parse actions, -prune and options. */
#include "select/query_impl.h"

#include <time.h>

/** Add an action with n arguments, and check it.
    @plus  The action ends with "{} +". */
static struct query_node *add_action(struct query_parser *p, const struct query_row *row,
                                     const char *const *args, size_t n, bool plus)
{
	struct query_node *node = query_action_node(p, row, args, n, plus);
	if (!node || query_check_action(p, node) != 0)
		return NULL;
	p->prints |= row->param != QA_QUIT;
	p->prompts |= row->param == QA_OK || row->param == QA_OKDIR;
	return node;
}

QUERY_PARSE(query_parse_action)
{
	if (row->param == QA_DELETE) {
		p->delete = p->words[p->primary];
		p->query->info.depth = true;
	}
	return add_action(p, row, args, row->args, false);
}

QUERY_PARSE(query_parse_exec)
{
	const char *word = p->words[p->primary];
	bool may_plus = row->param == QA_EXEC || row->param == QA_EXECDIR, plus = false;
	unsigned braces = 0;
	size_t n = 0, left = p->n - p->at;
	for (; n < left && strcmp(args[n], ";") != 0; ++n) {
		plus = may_plus && n > 0 && strcmp(args[n], "+") == 0
		       && strcmp(args[n - 1], "{}") == 0;
		if (plus)
			break;
		braces += strstr(args[n], "{}") != NULL;
	}
	if (n == left)
		return query_refuse(p, "%s needs \";\" at its end%s; in a shell, write \\; or ';'",
		                    word, may_plus ? " or \"{} +\"" : "");
	if (n == 0)
		return query_refuse(p, "%s needs a command before \";\"", word);
	if (plus && n == 1)
		return query_refuse(p, "%s needs a command before \"{} +\"", word);
	if (plus && braces > 1)
		return query_refuse(p, "%s has more than one \"{}\" before \"+\"; use one, or end "
		                    "the command with \";\"", word);
	p->at += n + 1;
	return add_action(p, row, args, plus ? n - 1 : n, plus);
}

QUERY_PARSE(query_parse_prune)
{
	(void)args;
	struct query_node *node = query_node(p, row);
	if (node) {
		node->op = OP_PRUNE;
		node->acts = true;
		p->prune = p->words[p->primary];
		p->query->info.has_prune = true;
	}
	return node;
}

void query_daystart(struct query_parser *p)
{
	if (p->daystart)
		return;
	p->daystart = true;
	time_t now = p->env->now.tv_sec;
	struct tm local;
	p->day = (struct timespec){.tv_sec = now - (now % 86400 + 86400) % 86400};
	if (localtime_r(&now, &local))
		p->day.tv_sec = now - local.tm_sec - 60 * (local.tm_min + 60 * local.tm_hour);
}

QUERY_PARSE(query_parse_option)
{
	(void)args;
	struct query_info *info = &p->query->info;
	switch ((enum query_option)row->param) {
	case OPT_D:
		query_warn(p, "-d is not in POSIX; write -depth");
		/* fallthrough */
	case OPT_DEPTH:
		info->depth = p->explicit_depth = true;
		break;
	case OPT_MOUNT:
		info->mount = true;
		/* fallthrough */
	case OPT_XDEV:
		info->xdev = true;
		break;
	case OPT_FOLLOW:
		info->follow = true;
		break;
	case OPT_RACE:
	case OPT_NO_RACE:
		info->ignore_race = row->param == OPT_RACE;
		break;
	case OPT_UNIQUE:
		info->unique = true;
		break;
	case OPT_WARN:
	case OPT_NOWARN:
		p->quiet = row->param == OPT_NOWARN;
		break;
	case OPT_NOLEAF:
		break;
	}
	return query_node(p, query_row_known(p, "true"));
}

QUERY_PARSE(query_parse_files0)
{
	(void)row;
	struct query *query = p->query;
	if (!p->env->action)
		return query_refuse(p, "-files0-from can be used only with getmnt find");
	query->info.files0_from = arena_strndup(&query->arena, args[0], strlen(args[0]));
	return query->info.files0_from ? query_node(p, query_row_known(p, "true")) : NULL;
}

QUERY_PARSE(query_parse_nohidden)
{
	(void)args;
	(void)row;
	struct query_node *hidden = query_node(p, query_row_known(p, "hidden"));
	return hidden ? query_exclude(p, hidden) : NULL;
}
