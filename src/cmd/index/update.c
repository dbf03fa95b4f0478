/* SPDX-License-Identifier: MIT */
/*
 * getmnt index update: update indexes.
 */
#include "index/follow/update.h"

#include "cmd/index/index.h"
#include "cmd/found/indexed.h"
#include "mounts/table.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum update_engine { UPDATE_AUTO, UPDATE_SYNC, UPDATE_BULK };

/* Default of the minimum time in seconds between two searches for the changed inodes of an XFS file
   system, since each search makes the kernel return all inodes. */
enum { LOOK_AGE = 12 * 3600 };

struct update_opts {
	struct index_opts common;
	const char *max_age;         /* argument of --max-age; or NULL */
	int engine;                  /* enum update_engine */
};

/** Get the argument `age` of look_find().  @max_age  Argument of --max-age in seconds; -1: none. */
static int64_t look_age(enum update_engine engine, int64_t max_age)
{
	switch (engine) {
	case UPDATE_SYNC: return -1;
	case UPDATE_BULK: return 0;
	default: return max_age >= 0 ? max_age : LOOK_AGE;
	}
}

static const struct option_row update_rows[] = {
	OPTION_GROUP("Output"),
	OPTION_INDEX_QUIET,
	OPTION_GROUP("Updating"),
	{"engine", 0, "auto|sync|bulk", "how files modified in place are found",
	 OPT_IS_WORD(struct update_opts, engine)},
	{"max-age", 0, "TIME", "also read directories last read longer ago",
	 OPT_IS_TEXT(struct update_opts, max_age)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_update_table = {
	"index update", update_rows, sizeof(update_rows) / sizeof(*update_rows),
};

int live_covered(struct os *os, struct map64 *covered)
{
	struct mount_table *table = table_read_kernel(os, TABLE_AUTO, MF_POINT);
	struct map64 names = {0};
	int rc = table ? 0 : -1;
	for (size_t i = 0; rc == 0 && i < table->count; ++i) {
		const char *point = table->mounts[i].point;
		const char *slash = point ? strrchr(point, '/') : NULL;
		if (slash && slash[1] && map64_put(&names, map64_text(slash + 1), 1) == MAP64_NONE)
			rc = -1;
	}
	table_free(table);
	if (rc != 0) {
		map64_destroy(&names);
		return -1;
	}
	map64_destroy(covered);
	*covered = names;
	return 0;
}

/** Append "N WORDs VERB", unless N is 0. */
static void put_count(struct text *text, uint64_t n, const char *word, const char *verb)
{
	if (n == 0)
		return;
	text_put(text, ", ");
	text_count(text, n, word);
	text_put(text, " %s", verb);
}

void live_print(const char *title, const struct refresh_counts *counts, double seconds)
{
	struct text text = {0};
	text_put(&text, "%s: ", title);
	text_count(&text, counts->dirs, "directory");
	text_put(&text, " compared");
	put_count(&text, counts->read, "directory", "read");
	put_count(&text, counts->dirs_added, "directory", "added");
	put_count(&text, counts->dirs_moved, "directory", "moved");
	put_count(&text, counts->dirs_removed, "directory", "removed");
	put_count(&text, counts->added, "other object", "added");
	put_count(&text, counts->changed, "other object", "changed");
	put_count(&text, counts->removed, "other object", "removed");
	put_count(&text, counts->looked, "object", "examined");
	text_put(&text, ", %.1f s\n", seconds);
	text_print(&text, stdout);
}

bool live_usable(const struct index_run *ir, const struct index_found *found, bool named,
                 int *status)
{
	if (found->index && found->place != SIZE_MAX)
		return true;
	if (!found->index)
		index_report(ir, found->title, found->error);
	else
		message(found->title, "%s", found->twin == SIZE_MAX
		        ? "its file system is not mounted"
		        : "two mounted file systems have this UUID; " INDEX_TWIN_REMEDY);
	if (named || !found->index)
		*status = CX_ERROR;
	return false;
}

/** Update an index.  @return an exit status. */
static int update_one(struct index_run *ir, const struct index_found *found,
                      const struct update_opts *opts, int64_t max_age,
                      const struct map64 *covered)
{
	struct os *os = &ir->run.os;
	struct refresh_counts counts = {0};
	double start = os_now();
	const struct index_update_opts how = {
		.rootfd = index_run_open(ir, &ir->places[found->place]), .covered = covered,
		.max_age = max_age,
		.look_age = look_age((enum update_engine)opts->engine, max_age),
	};
	int rc = how.rootfd < 0 ? -1 : index_update(os, found->index, NULL, &how, &counts);
	if (rc != 0 && counts.root_error)
		index_report_root(found->title, counts.root_error);
	else if (rc != 0 && (how.rootfd < 0 || errno == ESTALE))
		message(found->title, "cannot be opened: %s", strerror(errno));
	else if (rc != 0)
		index_report(ir, found->title, errno);
	else if (!opts->common.quiet)
		live_print(found->title, &counts, os_now() - start);
	os_close(os, how.rootfd);
	if (rc == 0 && counts.unread > 0)
		message(found->title, "%" PRIu64 " %s could not be read", counts.unread,
		        counts.unread == 1 ? "directory" : "directories");
	return rc != 0 ? CX_ERROR : counts.unread ? CX_INCOMPLETE : CX_OK;
}

static int update_all(struct index_run *ir, const void *update_opts, char **operands, size_t n)
{
	const struct update_opts *opts = update_opts;
	struct map64 covered = {0};
	int64_t max_age = -1;
	int status = opts->max_age ? indexed_seconds("--max-age", opts->max_age, &max_age) : 0;
	if (status)
		return status;
	status = index_run_begin(ir, &opts->common);
	if (!status)
		status = index_run_indexes(ir, operands, n, INDEX_WRITE, true);
	if (ir->nfound > 0 && live_covered(&ir->run.os, &covered) != 0) {
		message("index", "the mount table cannot be read: %s", strerror(errno));
		return CX_ERROR;
	}
	for (size_t i = 0; i < ir->nfound; ++i) {
		if (!live_usable(ir, &ir->found[i], n > 0, &status))
			continue;
		int one = update_one(ir, &ir->found[i], opts, max_age, &covered);
		one = flush_stdout() == 0 ? one : CX_ERROR;
		status = one == CX_ERROR || status == CX_OK ? one : status;
	}
	map64_destroy(&covered);
	return status;
}

int cmd_index_update(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_update_table,
		"Usage:\n getmnt index update [options] [MOUNT ...]\n\n"
		"Bring the index of each mount point MOUNT up to date, by default all indexes:\n"
		"read the directories whose times have changed.\n",
		"Exit status: 0 complete, 1 error, 64 some directories could not be read.\n",
		update_all,
	};
	return index_verb(&verb, argc, argv, &(struct update_opts){.engine = UPDATE_AUTO});
}
