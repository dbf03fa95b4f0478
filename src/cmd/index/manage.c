/* SPDX-License-Identifier: MIT */
/*
 * getmnt index check: verify indexes.  getmnt index drop: remove indexes.
 */
#include "cmd/index/index.h"

#include <errno.h>
#include <string.h>

static const struct option_row check_rows[] = {
	OPTION_GROUP("Output"), OPTION_INDEX_QUIET, OPTIONS_INDEX_GENERAL,
};

const struct option_table index_check_table = {
	"index check", check_rows, sizeof(check_rows) / sizeof(*check_rows),
};

/** Check an index, and print the result.  @return an exit status. */
static int check_one(const struct index_run *ir, const struct index_found *found, bool quiet)
{
	struct strbuf why = {0};
	int status = CX_ERROR;
	if (!found->index) {
		index_report(ir, found->title, found->error);
	} else if (index_check(found->index, &why) == 0) {
		status = CX_OK;
		if (!quiet)
			text_say(stdout, "%s: correct\n", found->title);
	} else if (errno != EBADMSG) {
		index_report(ir, found->title, errno);
	} else {
		for (char *line = why.data, *end; line && *line; line = end) {
			end = strchrnul(line, '\n');
			if (*end)
				*end++ = '\0';
			message(found->title, "%s", line);
		}
		index_report(ir, found->title, EBADMSG);
	}
	strbuf_destroy(&why);
	return status;
}

static int check_all(struct index_run *ir, const void *opts, char **operands, size_t n)
{
	const struct index_opts *o = opts;
	int status = index_run_begin(ir, o);
	if (!status)
		status = index_run_indexes(ir, operands, n, INDEX_READ, true);
	for (size_t i = 0; i < ir->nfound; ++i)
		status |= check_one(ir, &ir->found[i], o->quiet);
	return status;
}

int cmd_index_check(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_check_table,
		"Usage:\n getmnt index check [options] [INDEX ...]\n"
		"\nVerify every checksum and the structure of indexes: all, or those of the\n"
		"mount points or with the names INDEX.\n", NULL, check_all,
	};
	return index_verb(&verb, argc, argv, &(struct index_opts){0});
}

struct drop_opts {
	struct index_opts common;
	bool all;
};

static const struct option_row drop_rows[] = {
	OPTION_GROUP("Which indexes"),
	{"all", 'a', NULL, "all indexes", OPT_IS_FLAG(struct drop_opts, all)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_drop_table = {
	"index drop", drop_rows, sizeof(drop_rows) / sizeof(*drop_rows),
};

/** Remove an index, unless another process is writing it.  @return an exit status. */
static int drop_one(struct index_run *ir, struct index_found *found)
{
	int error = index_drop(&ir->run.os, ir->dirfd, found->name, false) == 0 ? 0 : errno;
	if (error == ENOTEMPTY || error == EEXIST)
		message(found->title, "its index was removed, but not the directory %s/%s, which "
		        "contains other files", strbuf_str(&ir->dir), found->name);
	else if (error)
		index_report(ir, found->title, error);
	return error ? CX_ERROR : CX_OK;
}

static int drop_all(struct index_run *ir, const void *opts, char **operands, size_t n)
{
	const struct drop_opts *o = opts;
	if (o->all && n > 0)
		return usage_error("--all", "cannot be combined with \"%s\"", operands[0]);
	if (!o->all && n == 0)
		return usage_error("index drop", "no index given; --all removes all indexes");
	int status = index_run_begin(ir, &o->common);
	if (!status)
		status = index_run_indexes(ir, operands, n, INDEX_READ, false);
	for (size_t i = 0; i < ir->nfound; ++i)
		status |= drop_one(ir, &ir->found[i]);
	return status;
}

int cmd_index_drop(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_drop_table,
		"Usage:\n getmnt index drop [options] INDEX ...\n getmnt index drop --all\n\n"
		"Remove the indexes of the mount points, or with the names INDEX.\n", NULL,
		drop_all,
	};
	return index_verb(&verb, argc, argv, &(struct drop_opts){0});
}
