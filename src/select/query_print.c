/* SPDX-License-Identifier: MIT */
/* Print the canonical string of a query. */
#include "select/query_impl.h"

#include "base/escape.h"
#include "base/fail.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>

struct printer {
	const struct query *query;
	struct strbuf *out;
	const struct query_syntax *syntax;   /* the syntax of regular expressions that the last
	                                        printed -regextype selects */
	bool tests;                          /* for query_print_tests(): print -print instead of
	                                        each action */
};

static void print_node(struct printer *printer, const struct query_node *node);

static void add_word(struct strbuf *out, const char *word)
{
	strbuf_putc(out, ' ');
	strbuf_puts(out, word);
}

static void add_quoted(struct strbuf *out, const char *word)
{
	strbuf_putc(out, ' ');
	escape_quoted(out, word);
}

/* Arguments */

void query_print_none(const struct query_node *node, struct strbuf *out)
{
	(void)node;
	(void)out;
}

void query_print_text(const struct query_node *node, struct strbuf *out)
{
	add_quoted(out, node->text);
}

void query_print_number(const struct query_node *node, struct strbuf *out)
{
	strbuf_putc(out, ' ');
	if (node->number.sign)
		strbuf_putc(out, node->number.sign);
	strbuf_printf(out, "%" PRIu64, node->number.n);
	if (node->number.letter)
		strbuf_putc(out, node->number.letter);
}

void query_print_time(const struct query_node *node, struct strbuf *out)
{
	int64_t sec = node->time.sec;
	uint32_t nsec = node->time.nsec;
	const char *minus = "";
	uint64_t whole = (uint64_t)sec;
	if (sec < 0) {
		/* -1.25 s is stored as sec -2 and nsec 0.75e9. */
		minus = "-";
		whole = -(uint64_t)sec - (nsec > 0);
		nsec = nsec > 0 ? 1000000000 - nsec : 0;
	}
	strbuf_printf(out, "%ct @%s%" PRIu64, node->time.field, minus, whole);
	if (nsec > 0)
		strbuf_printf(out, ".%09" PRIu32, nsec);
}

void query_print_used(const struct query_node *node, struct strbuf *out)
{
	strbuf_putc(out, ' ');
	if (node->used.sign)
		strbuf_putc(out, node->used.sign);
	strbuf_puts(out, node->text);
}

void query_print_perm(const struct query_node *node, struct strbuf *out)
{
	const uint16_t *bits = node->perm.bits;
	if (bits[0] != bits[1]) {
		/* The bits differ for directories (such as "X"), which an octal number cannot
		   express. */
		add_quoted(out, node->text);
		return;
	}
	strbuf_putc(out, ' ');
	if (node->perm.sign)
		strbuf_putc(out, node->perm.sign);
	strbuf_printf(out, "%04o", bits[0]);
}

void query_print_types(const struct query_node *node, struct strbuf *out)
{
	const char *between = " ";
	for (const struct query_letter *type = query_letters; type->letter; ++type) {
		if (node->types & 1u << type->type) {
			strbuf_puts(out, between);
			strbuf_putc(out, type->letter);
			between = ",";
		}
	}
}

void query_print_dev(const struct query_node *node, struct strbuf *out)
{
	strbuf_printf(out, " %" PRIu32 ":%" PRIu32, node->dev.major, node->dev.minor);
}

/* The tree */

static void print_action(struct printer *printer, const struct query_node *node)
{
	const struct query_action *action = &printer->query->actions[node->action];
	struct strbuf *out = printer->out;
	if (printer->tests && action->kind != QA_QUIT) {
		/* These tests are false only for objects with query_object.lost. */
		strbuf_puts(out, action->attributes ? " ( -perm -000 -print )"
		                 : action->type ? " ( -type b,c,d,p,f,l,s -print )" : " -print");
		return;
	}
	add_word(out, action->word);
	for (size_t i = 0; i < action->nargs; ++i)
		add_quoted(out, action->args[i]);
	if (action->kind >= QA_EXEC && action->kind <= QA_OKDIR)
		add_quoted(out, action->plus ? "{}" : ";");
	if (action->plus)
		add_word(out, "+");
}

/** Whether a node is the -newer test below the OP_NOT of -older.  For objects with
    query_object.lost, "! -newer" is true and -older is false, so they are printed differently. */
static bool is_older(const struct query_node *node)
{
	return node->op == OP_TEST && node->row->test == query_test_newer && node->time.negated;
}

static void print_older(const struct query_node *node, struct strbuf *out)
{
	add_word(out, "-older");
	query_print_time(node, out);
}

static void print_primary(struct printer *printer, const struct query_node *node)
{
	struct strbuf *out = printer->out;
	bool other = node->row->test == query_test_regex
	             && node->regex->syntax != printer->syntax;
	if (other) {
		printer->syntax = node->regex->syntax;
		strbuf_printf(out, " '(' -regextype %s", query_syntax_name(printer->syntax));
	}
	strbuf_puts(out, " -");
	strbuf_puts(out, node->row->word);
	if (node->op == OP_TEST)
		node->row->print(node, out);
	if (other)
		strbuf_puts(out, " ')'");
}

/** Print an operand of an operator, in parentheses if necessary. */
static void print_operand(struct printer *printer, const struct query_node *node,
                          enum query_op parent)
{
	bool loose = node->op > OP_NOT && node->op > parent;
	if (loose)
		strbuf_puts(printer->out, " '('");
	print_node(printer, node);
	if (loose)
		strbuf_puts(printer->out, " ')'");
}

static void print_node(struct printer *printer, const struct query_node *node)
{
	switch (node->op) {
	case OP_TEST:
		if (is_older(node)) {
			add_quoted(printer->out, "!");
			print_older(node, printer->out);
			return;
		}
		/* fallthrough */
	case OP_PRUNE:
		print_primary(printer, node);
		return;
	case OP_ACTION:
		print_action(printer, node);
		return;
	case OP_NOT:
		if (is_older(node->first)) {
			print_older(node->first, printer->out);
			return;
		}
		add_quoted(printer->out, "!");
		print_operand(printer, node->first, OP_NOT);
		return;
	default:
		for (const struct query_node *at = node->first; at; at = at->next) {
			if (at != node->first && node->op != OP_AND)
				add_word(printer->out, node->op == OP_OR ? "-o" : ",");
			print_operand(printer, at, (enum query_op)node->op);
		}
	}
}

static void print_options(struct strbuf *out, const struct query_info *info)
{
	const struct {
		bool set;
		const char *word;
	} options[] = {
		{info->follow, "-follow"}, {info->depth, "-depth"},
		/* -mount implies -xdev. */
		{info->xdev && !info->mount, "-xdev"}, {info->mount, "-mount"},
		{info->ignore_race, "-ignore_readdir_race"}, {info->unique, "-unique"},
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(*options); ++i) {
		if (options[i].set)
			add_word(out, options[i].word);
	}
	if (info->mindepth > 0)
		strbuf_printf(out, " -mindepth %u", info->mindepth);
	if (info->maxdepth < UINT_MAX)
		strbuf_printf(out, " -maxdepth %u", info->maxdepth);
}

static void print_query(const struct query *query, bool tests, struct strbuf *out)
{
	struct strbuf text = {0};
	struct printer printer = {
		.query = query, .out = &text, .syntax = query_syntax(NULL), .tests = tests,
	};
	const struct query_node *exclude = query->exclude, *root = query->root;
	print_options(&text, &query->info);
	if (exclude && exclude->op == OP_OR) {
		for (const struct query_node *at = exclude->first; at; at = at->next) {
			add_word(&text, "-exclude");
			print_operand(&printer, at, OP_NOT);
		}
	} else if (exclude) {
		add_word(&text, "-exclude");
		print_operand(&printer, exclude, OP_NOT);
	}
	if (query->implicit)
		root = root->first;
	/* An empty string selects all objects, so -true need not be printed. */
	if (tests || !query->implicit || root->op != OP_TEST
	    || root->row->test != query_test_true)
		print_node(&printer, root);
	strbuf_puts(out, text.len > 0 ? text.data + 1 : "");
	out->failed |= text.failed;
	strbuf_destroy(&text);
}

void query_print(const struct query *query, struct strbuf *out)
{
	print_query(query, false, out);
}

void query_print_tests(const struct query *query, struct strbuf *out)
{
	print_query(query, true, out);
}

static int no_owner(void *arg, bool group, const char *name, uint32_t *id)
{
	(void)arg, (void)group, (void)name, (void)id;
	return 0;
}

static int no_file(void *arg, const char *path, bool follow, struct k_statx *st)
{
	(void)arg, (void)path, (void)follow, (void)st;
	return fail(EPERM);
}

static int take_reached(void *arg, struct query_action *action, struct strbuf *why)
{
	action->mask = *(const unsigned *)arg;
	if (action->kind == QA_PRINT || action->kind == QA_QUIT)
		return 0;
	strbuf_printf(why, "%s is an action; a server performs none", action->word);
	return -1;
}

void query_env_tests(struct query_env *env, unsigned *mask)
{
	*env = (struct query_env){
		.arg = mask, .owner_id = no_owner, .file = no_file, .action = take_reached,
		.quiet = true, .which = true,
	};
}
