/* SPDX-License-Identifier: MIT */
/*
 * getmnt index check, drop.
 */
#include "cmd/index/index.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

struct check_opts {
	const char *dir;
	bool quiet, help;
};

static const struct option_row check_rows[] = {
	OPTION_GROUP("Output"),
	{"quiet", 'q', NULL, "print only errors", OPT_IS_FLAG(struct check_opts, quiet)},
	OPTION_GROUP("General"),
	OPTION_INDEX_DIR(struct check_opts, dir),
	OPTION_HELP(struct check_opts, help),
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
			strbuf_printf(&why, "%s: correct\n", found->title);
		print_buffer(&why);
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

int cmd_index_check(int argc, char **argv)
{
	struct check_opts opts = {0};
	int status = options_read(&index_check_table, argc, argv, &opts);
	if (status)
		return status;
	if (opts.help) {
		options_help(&index_check_table,
		             "Usage:\n getmnt index check [options] [INDEX ...]\n"
		             "\nVerify every checksum and the structure of indexes: all, or those "
		             "of the\nmount points or with the names INDEX.\n", NULL, stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	struct index_run ir;
	struct index_found *found = NULL;
	size_t n = 0;
	status = index_run_begin(&ir, opts.dir, false);
	if (!status)
		status = index_run_indexes(&ir, argv + optind, (size_t)(argc - optind), INDEX_READ,
		                           &found, &n);
	if (!status && n == 0)
		status = index_report_none(&ir);
	for (size_t i = 0; i < n; ++i)
		status |= check_one(&ir, &found[i], opts.quiet);
	index_found_free(found, n);
	index_run_end(&ir);
	return finish_stdout() == 0 ? status : CX_ERROR;
}

struct drop_opts {
	const char *dir;
	bool all, help;
};

static const struct option_row drop_rows[] = {
	OPTION_GROUP("Which indexes"),
	{"all", 'a', NULL, "all indexes", OPT_IS_FLAG(struct drop_opts, all)},
	OPTION_GROUP("General"),
	OPTION_INDEX_DIR(struct drop_opts, dir),
	OPTION_HELP(struct drop_opts, help),
};

const struct option_table index_drop_table = {
	"index drop", drop_rows, sizeof(drop_rows) / sizeof(*drop_rows),
};

/** Remove an index, unless another process writes it.  @return an exit status. */
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

int cmd_index_drop(int argc, char **argv)
{
	struct drop_opts opts = {0};
	int status = options_read(&index_drop_table, argc, argv, &opts);
	if (status)
		return status;
	if (opts.help) {
		options_help(&index_drop_table,
		             "Usage:\n getmnt index drop [options] INDEX ...\n"
		             " getmnt index drop --all\n\n"
		             "Remove the indexes of the mount points, or with the names INDEX.\n",
		             NULL, stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	if (opts.all && optind < argc)
		return usage_error("--all", "cannot be combined with \"%s\"", argv[optind]);
	if (!opts.all && optind == argc)
		return usage_error("index drop", "no index given; --all removes all indexes");
	struct index_run ir;
	struct index_found *found = NULL;
	size_t n = 0;
	status = index_run_begin(&ir, opts.dir, false);
	if (!status)
		status = index_run_indexes(&ir, argv + optind, (size_t)(argc - optind), INDEX_READ,
		                           &found, &n);
	for (size_t i = 0; i < n; ++i)
		status |= drop_one(&ir, &found[i]);
	index_found_free(found, n);
	index_run_end(&ir);
	return finish_stdout() == 0 ? status : CX_ERROR;
}
