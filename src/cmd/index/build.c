/* SPDX-License-Identifier: MIT */
/*
 * getmnt index build: make or replace the indexes of mounts.
 */
#include "cmd/index/index.h"

#include "cmd/progress.h"
#include "cmd/run.h"
#include "cmd/text.h"
#include "index/build/walk.h"
#include "os/change.h"
#include "os/file.h"
#include "os/inodes.h"
#include "search/search.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct build_opts {
	struct index_opts common;
	int engine;
	unsigned threads;
};

static const struct option_row build_rows[] = {
	OPTION_GROUP("Output"),
	OPTION_INDEX_QUIET,
	OPTION_GROUP("Building"),
	{"engine", 0, "auto|sync|bulk", "how attributes are read",
	 OPT_IS_WORD(struct build_opts, engine)},
	{"threads", 0, "N", "threads (0: one for each processor)",
	 OPT_IS_NUMBER(struct build_opts, threads, 1024)},
	OPTIONS_INDEX_GENERAL,
};

const struct option_table index_build_table = {
	"index build", build_rows, sizeof(build_rows) / sizeof(*build_rows),
};

enum { ERRORS_SHOWN = 10 };

/** The build of one index. */
struct one {
	struct index_run *ir;
	const struct build_opts *opts;
	const struct place *place;
	const char *target;          /* mount point */
	double next;                 /* time of the next progress update, as of os_now() */
	bool shown;                  /* progress is shown, on a terminal */
	uint64_t errors;
};

static void show_progress(void *arg, uint64_t dirs, uint64_t objects, const char *where)
{
	struct one *one = arg;
	char head[120];
	double now = one->shown ? os_now() : 0;
	if (!one->shown || now < one->next)
		return;
	one->next = now + 0.1;
	snprintf(head, sizeof(head), "%" PRIu64 " directories, %" PRIu64 " other objects: ", dirs,
	         objects);
	progress_line(head, where);
}

static void report_error(void *arg, const char *path, int source, int error)
{
	struct one *one = arg;
	if (++one->errors > ERRORS_SHOWN)
		return;
	if (one->shown)
		progress_end();
	message(path, "%s: %s", source == SEARCH_ERR_STAT ? "its attributes are not indexed"
	        : "not indexed", strerror(error));
}

/** Print the result of a build. */
static void print_built(const struct one *one, const struct index_info *info,
                        const struct walk_counts *counts, double seconds)
{
	struct text text = {0};
	uint64_t objects = counts->objects + counts->dirs + 1;
	text_put(&text, "%s: ", one->target);
	text_count(&text, objects, "object");
	text_put(&text, " (");
	text_count(&text, counts->dirs + 1, "directory");
	text_put(&text, "), index of ");
	text_size(&text, info->bytes);
	text_put(&text, " (%.1f bytes for each object)", (double)info->bytes / (double)objects);
	if (counts->apart > 0)
		text_put(&text, ", %" PRIu64 " mount point%s or subvolume%s not entered",
		         counts->apart, counts->apart == 1 ? "" : "s",
		         counts->apart == 1 ? "" : "s");
	text_put(&text, ", %.1f s\n", seconds);
	text_print(&text, stdout);
}

/** Walk the file system and write its index.
    @dirfd   The directory of the index.
    @rootfd  The root directory of the mount.
    @uuid    The ID of the file system, from index_run_uuid().
    @return 0, or an errno. */
static int walk_and_write(struct one *one, int dirfd, int rootfd, const char *uuid,
                          struct walk_counts *counts)
{
	struct os *os = &one->ir->run.os;
	const struct mount *m = one->place->mount;
	int error = 0;
	unsigned threads = one->opts->threads ? one->opts->threads : os_cpus(os);
	struct index_build *build = index_build_new(os, dirfd);
	if (!build)
		return errno;
	/* On file system types without a bulk interface, SEARCH_ENGINE_BULK would read attributes
	   one by one, and unlike SEARCH_ENGINE_AUTO not in inode order. */
	enum os_inodes_of of;
	bool bulk = os_inodes_type(m->fstype, &of);
	const struct walk_options how = {
		.path = one->target, .rootfd = rootfd,
		.engine = one->opts->engine >= 0 ? one->opts->engine
		          : bulk ? SEARCH_ENGINE_BULK : SEARCH_ENGINE_AUTO,
		.threads = one->opts->threads, .begin = os_time().tv_sec,
		.watch = show_progress, .report = report_error, .arg = one,
	};
	struct index_info info = {
		.root = strdup(m->root), .fresh = how.begin, .looked = how.begin,
		.generation = bulk ? os_inodes_generation(os, rootfd, of) : 0,
	};
	snprintf(info.uuid, sizeof(info.uuid), "%s", uuid);
	snprintf(info.type, sizeof(info.type), "%s", m->fstype ? m->fstype : "");
	int rc = info.root ? index_walk(build, os, &how, counts) : -1;
	info.incomplete = counts->errors > 0;
	if (rc != 0 || index_build_finish(build, &info, threads) != 0)
		error = errno;
	index_build_free(build);
	free(info.root);
	return error;
}

/** Build an index.  @return an exit status, after a message if the status is not 0. */
static int build_one(struct one *one)
{
	struct index_run *ir = one->ir;
	struct os *os = &ir->run.os;
	struct strbuf name = {0};
	struct walk_counts counts = {0};
	struct index *index = NULL;
	const char *uuid = index_run_uuid(ir, (size_t)(one->place - ir->places));
	int error = 0, rootfd = -1, dirfd = -1;
	bool new = false;
	double start = os_now();
	if (*uuid)
		index_place_name(uuid, one->place->mount->root, &name);
	const char *entry = strbuf_text(&name);
	rootfd = index_run_open(ir, one->place);
	error = rootfd < 0 ? errno : !entry ? ENOMEM : !*uuid ? ESTALE : 0;
	if (error) {
		message(one->target, "cannot be opened: %s", strerror(error));
		os_close(os, rootfd);
		strbuf_destroy(&name);
		return CX_ERROR;
	}
	new = os_mkdirat(os, ir->dirfd, entry, 0700) == 0;
	dirfd = os_open_entry(os, ir->dirfd, entry, O_RDONLY | O_DIRECTORY, ENTRY_LOCAL);
	error = dirfd < 0 ? errno : walk_and_write(one, dirfd, rootfd, uuid, &counts);
	if (one->shown)
		progress_end();
	if (error && new)
		index_drop(os, ir->dirfd, entry, true);
	if (!error && !(index = index_open(os, dirfd, INDEX_READ)))
		error = errno;
	if (error && counts.root_error)
		index_report_root(one->target, counts.root_error);
	else if (error)
		index_report(ir, one->target, error);
	else if (!one->opts->common.quiet)
		print_built(one, index_info(index), &counts, os_now() - start);
	if (one->errors > ERRORS_SHOWN)
		message(one->target, "%" PRIu64 " more objects could not be read",
		        one->errors - ERRORS_SHOWN);
	index_close(index);
	os_close(os, dirfd);
	os_close(os, rootfd);
	strbuf_destroy(&name);
	return error ? CX_ERROR : one->errors ? CX_INCOMPLETE : CX_OK;
}

/** Print the mounts that are not indexed, with the reason; omit pseudo file systems and file
    systems in memory. */
static void print_left_out(const struct index_run *ir)
{
	struct text text = {0};
	struct strbuf why = {0};
	for (size_t i = 0; i < ir->nplaces; ++i) {
		const struct place *place = &ir->places[i];
		const char *target = run_name(&ir->run, i);
		bool kept = place->why != PLACE_PSEUDO && place->why != PLACE_MEMORY;
		if (!target || !kept || place->why == PLACE_INDEX)
			continue;
		strbuf_reset(&why);
		index_run_why(ir, i, place->why, &why);
		text_put(&text, "%s: left out: %s\n", target, strbuf_str(&why));
	}
	text_lack(&text, why.failed);
	strbuf_destroy(&why);
	text_print(&text, stdout);
}

/** Whether the i-th mount, named by an operand, can be indexed; print a message if not. */
static bool is_possible(const struct index_run *ir, size_t i)
{
	enum place_why why = index_run_never(&ir->places[i]);
	struct strbuf text = {0};
	if (why == PLACE_INDEX)
		return true;
	index_run_why(ir, i, why, &text);
	message(run_name(&ir->run, i), "cannot be indexed: %s", strbuf_str(&text));
	strbuf_destroy(&text);
	return false;
}

static int build_all(struct index_run *ir, const void *build_opts, char **operands, size_t n)
{
	const struct build_opts *opts = build_opts;
	int begun = index_run_begin(ir, &opts->common);
	if (begun)
		return begun;
	int status = CX_OK;
	bool shown = !opts->common.quiet && progress_open();
	unsigned fds = os_nofile(&ir->run.os, SEARCH_FDS, true);
	if (opts->threads != 1)
		os_grow_fds(&ir->run.os, STDERR_FILENO, fds / 2);
	for (size_t i = 0; i < (n ? n : ir->nplaces); ++i) {
		size_t at = n ? index_run_find(ir, operands[i]) : i;
		bool wanted = n ? at != SIZE_MAX && is_possible(ir, at)
		              : ir->places[i].why == PLACE_INDEX;
		int one = n && !wanted ? CX_ERROR : CX_OK;
		if (wanted && index_run_create(ir) != 0)
			return CX_ERROR;
		if (wanted)
			one = build_one(&(struct one){
				.ir = ir, .opts = opts, .place = &ir->places[at],
				.target = run_name(&ir->run, at), .shown = shown,
			});
		one = flush_stdout() == 0 ? one : CX_ERROR;
		status = one == CX_ERROR || status == CX_OK ? one : status;
	}
	if (n == 0 && !opts->common.quiet)
		print_left_out(ir);
	return status;
}

int cmd_index_build(int argc, char **argv)
{
	static const struct index_verb verb = {
		&index_build_table,
		"Usage:\n getmnt index build [options] [MOUNT ...]\n"
		"\nIndex the file system of each mount point MOUNT; by default all local ones "
		"that\nkeep data, each once.  An existing index is replaced when the new one is "
		"ready.\n",
		"Exit status: 0 complete, 1 error, 64 some objects could not be read.\n", build_all,
	};
	return index_verb(&verb, argc, argv, &(struct build_opts){.engine = -1});
}
