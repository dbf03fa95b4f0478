/* SPDX-License-Identifier: MIT */
/*
 * Search a root whose objects come from a source (source.h).
 *
 * search_entry() and search_meta() test each object, as if its directory were read, unless
 * source_object.within decides.  The mark of a directory in the source is the number of its node.
 * The source returns directories before their contents, as -depth and visit() require.
 *
 * A directory is opened only if the attributes of an object in it must be read.  It is opened by
 * its path below the start, on the same mount and without following symlinks.  If an object of the
 * source is a mount point according to the table of mounts, the object is skipped, and the root of
 * the mount is examined instead (take_mounts()).
 */
#include "search/source_impl.h"

#include "base/array.h"
#include "base/fail.h"
#include "path/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { STEP = 1024 };        /* maximum number of objects that are tested in a step */

/** Queue an error of the current start.
    @error  An error number.
    @why  The reason as a phrase; NULL: the error number is the reason. */
static void start_error(SEARCH *search, int error, const char *why)
{
	const char *path = search->source.run->starts[0].path;
	struct bfs_at at = {.dir = *path ? path + 1 : ".", .name = ""};
	struct record record = {.error = error, .source = SEARCH_ERR_OPEN, .type = why != NULL};
	strbuf_reset(&search->source.why);
	strbuf_puts(&search->source.why, why ? why : "");
	search_queue_part(search, &at, (const char *)&record, sizeof(record));
}

/** Queue an error of the current start after a function of the source failed. */
static void source_error(SEARCH *search)
{
	int error = errno;
	const struct search_source *source = search->more.source;
	start_error(search, error ? error : EIO, source->why(source->arg));
}

/* Objects */

/** Whether all directories below a directory are entered, and have the node of the directory.
    @tag  Number of the node. */
static bool is_open(const SEARCH *search, uint32_t tag)
{
	const struct node *node = search_node_at(search, tag);
	return search->source.run->opens
	       && !avoid_below(search->mounts.avoid, (uint32_t)node->avoid);
}

/** See source_start.enter: report a directory if it is a result, and decide whether it is
    entered. */
static int enter(void *arg, const struct source_object *dir, uint32_t *mark)
{
	SEARCH *search = arg;
	const struct source_run *run = search->source.run;
	bool entered = source_take(search, dir);
	*mark = run->scratch.tag;
	if (!search_stopped(search) && !search->failed)
		return !entered ? 0 : is_open(search, *mark) ? 2 : 1;
	return fail(ECANCELED);
}

/* Mounts below a start */

/** Add a mount to run->starts.
    @path, name  Together the path of the mount's root, see struct start. */
static bool add_start(struct source_run *run, const struct start *start, const char *path,
                      const char *name)
{
	struct strbuf whole = {0};
	if (!ARRAY_ROOM(run->starts, run->nstarts, &run->starts_room))
		return false;
	strbuf_puts(&whole, path);
	strbuf_puts(&whole, name);
	run->starts[run->nstarts] = *start;
	run->starts[run->nstarts].path = strbuf_take(&whole);
	return run->starts[run->nstarts++].path != NULL;
}

/** Report the root of a mount below the current start, if it is a result; add the mount to
    run->starts if it is to be searched.
    @object  Name and directory of the mount's root in the source.
    @avoid  Node of the mount's root in the table of mounts.
    @below  Path of the mount's root below the start. */
static void take_mount(SEARCH *search, const struct source_object *object, uint32_t avoid,
                       const char *below)
{
	struct source_run *run = search->source.run;
	struct bfs_enter into = {0};
	source_go_to(search, object);
	/* A mount that can block is not accessed. */
	run->error = search_mounts_blocked(&search->mounts, avoid) ? EREMOTE
	             : source_look_at(search, object->name, &run->st);
	struct source_object root = *object;
	root.type = run->error ? DT_DIR : (uint8_t)IFTODT(run->st.mode);
	run->at_mount = true;
	enum bfs_verdict verdict = run->error == ENOENT ? BFS_SKIP : source_judge(search, &root);
	run->at_mount = false;
	if (verdict != BFS_ENTER || search->flags & SEARCH_XDEV)
		return;
	const struct start *start = &run->starts[0];
	struct strbuf path = {0};
	strbuf_puts(&path, start->path);
	strbuf_puts(&path, below);
	struct bfs_at at = {
		.dir = strbuf_str(&path) + 1, .name = "", .tag = run->scratch.tag, .parentfd = -1,
	};
	uint64_t id = os_statx_mnt_id(&run->st, search->mounts.unique);
	if (!path.failed)
		search_enter_mount(search, &at, id, &into);
	search->failed |= path.failed;
	strbuf_destroy(&path);
	if (into.enter && !add_start(run, &(struct start){
		.mount = search_node_at(search, into.tag)->mount, .tag = into.tag,
		.depth = run->at.depth + 1,
	}, start->path, below))
		search->failed = true;
}

/** Call take_mount() for all mounts on directories of the current start's mount.
    @return 0, or -1: the source failed. */
static int take_mounts(SEARCH *search)
{
	struct source_run *run = search->source.run;
	const struct search_source *source = search->more.source;
	const uint32_t avoid = (uint32_t)search_node_at(search, run->starts[0].tag)->avoid;
	for (uint32_t i = 0; i < search->mounts.n && !search_stopped(search); ++i) {
		const char *below = search_mount_below(&search->mounts, avoid,
		                                       strbuf_str(&run->place), i);
		if (!below)
			continue;
		struct source_object object = {.self = SOURCE_NONE};
		object.name = strrchr(below, '/') + 1;
		object.len = strlen(object.name);
		int rc = source->find(source->arg, below, (size_t)(object.name - 1 - below),
		                      &object);
		if (rc < 0)
			return -1;
		if (rc > 0)
			take_mount(search, &object, search->mounts.list[i].root, below);
	}
	return 0;
}

/* A root */

/** Open the current start, and get its attributes.  @return 0, or an error number. */
static int open_start(SEARCH *search)
{
	struct source_run *run = search->source.run;
	const struct start *start = &run->starts[0];
	const int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	strbuf_reset(&run->place);
	strbuf_puts(&run->place, strbuf_str(&search->root.place.path));
	if (run->place.len > 0) {
		/* The start's path begins with a slash: drop the slash of "/". */
		if (*start->path && run->place.data[run->place.len - 1] == '/')
			run->place.data[--run->place.len] = '\0';
		strbuf_puts(&run->place, start->path);
	}
	search->failed |= run->place.failed;
	run->fd = search->root.fd;
	if (*start->path)
		run->fd = path_open_plain(&search->os, search->root.fd, start->path + 1,
		                          O_PATH | O_DIRECTORY, 0);
	if (run->fd < 0 || os_statx(&search->os, run->fd, "", flags,
	                            K_STATX_INO | search_id_mask(search), &run->base) != 0)
		return errno;
	uint64_t id = os_statx_mnt_id(&run->base, search->mounts.unique);
	return *start->path && id && id != start->mount ? ESTALE : 0;
}

/** Set the members of struct source_run that say which objects need no test. */
static void set_decisions(SEARCH *search, const struct query_bounds *bounds)
{
	struct source_run *run = search->source.run;
	const struct search_more *more = &search->more;
	const struct query_info *info = search->want.info;
	run->decides_no = info && !info->has_prune && !info->unique && !info->mount;
	run->decides_yes = run->decides_no && bounds->exact && info->only_prints;
	run->opens = run->decides_no && search->want.everything && search->want.mindepth == 0
	             && search->want.maxdepth == UINT_MAX && search->depth == 0
	             && !more->visit && !search->access && !search->mounts.exclude_types;
	run->puts = run->opens && run->decides_yes
	            && !(search->flags & (SEARCH_METADATA | SEARCH_BYINODE));
}

/** Open the current start, and begin its search in the source.
    @return whether there are objects to read. */
static bool begin(SEARCH *search)
{
	struct source_run *run = search->source.run;
	const struct search_source *source = search->more.source;
	const struct start *current = &run->starts[0];
	struct query_bounds bounds;
	struct strbuf name = {0};
	int error = open_start(search);
	if (error || search->failed) {
		start_error(search, error, NULL);
		return false;
	}
	query_bounds(search->want.query, &bounds);
	strbuf_add(&name, search->root.name, *current->path ? search->root.len
	                                              : strlen(search->root.name));
	strbuf_puts(&name, current->path);
	set_decisions(search, &bounds);
	struct source_start start = {
		.mount = current->mount, .unique = search->mounts.unique, .fd = run->fd,
		.path = strbuf_str(&run->place), .name = strbuf_str(&name),
		.is_root = !*current->path, .bounds = &bounds, .pattern = search->want.pattern,
		.enter = enter, .arg = search, .mark = current->tag,
		.all = is_open(search, current->tag),
	};
	errno = 0;
	int rc = source->begin(source->arg, &start);
	if (rc < 0)
		source_error(search);
	/* The source may describe an object as it was: with `again`, each result is examined, so
	   that no action is performed on a changed object. */
	run->again = start.again || search->want.alters || search->more.alters;
	if (run->again)
		run->decides_no = run->decides_yes = run->puts = false;
	run->begun = rc > 0;
	strbuf_destroy(&name);
	return rc > 0;
}

/** End the search of the current start, and remove it from run->starts. */
static void end(SEARCH *search)
{
	struct source_run *run = search->source.run;
	const struct search_source *source = search->more.source;
	source_leave(search);
	source_flush(search);
	if (run->begun)
		source->end(source->arg);
	run->begun = false;
	if (run->fd != search->root.fd)
		os_close(&search->os, run->fd);
	run->fd = -1;
	if (run->nstarts > 0) {
		free(run->starts[0].path);
		run->starts[0] = run->starts[--run->nstarts];
	}
}

bool search_source_step(SEARCH *search)
{
	struct source_run *run = search->source.run;
	const struct search_source *source = search->more.source;
	if (run->nstarts == 0) {
		source_deliver_groups(search);
		return false;
	}
	if (!run->begun && !begin(search)) {
		end(search);
		return true;
	}
	int i = 0;
	for (; i < STEP && !search_stopped(search) && !search->failed; ++i) {
		errno = 0;
		const struct source_object *object = source->next(source->arg);
		if (!object)
			break;
		source_take(search, object);
	}
	if (i == STEP) {
		source_flush(search);
		return true;
	}
	if (!search_stopped(search) && !search->failed
	    && (errno != 0 || take_mounts(search) != 0) && !search_stopped(search)
	    && !search->failed)
		source_error(search);
	end(search);
	return !search_stopped(search);
}

bool search_source_begin(SEARCH *search, uint32_t tag, int depth)
{
	struct source_run *run = calloc(1, sizeof(*run));
	search->source.run = run;
	if (!run)
		return false;
	run->fd = -1;
	run->dir = SOURCE_NONE;
	run->known = QUERY_OPEN;
	/* bfs_at.parent is always NULL here.  With a different value in `of`, the path prefix is
	   built once. */
	run->output.path_prefix.of = run;
	run->scratch = (struct bfs_scratch){
		.os = &search->os, .output = &run->output, .fd = LOOK_UNOPENED,
	};
	return add_start(run, &(struct start){
		.mount = search->root.mount, .tag = tag, .depth = depth,
	}, "", "");
}

void search_source_end(SEARCH *search)
{
	struct source_run *run = search->source.run;
	if (!run)
		return;
	end(search);
	while (run->nstarts > 0)
		free(run->starts[--run->nstarts].path);
	free(run->starts);
	free(run->groups);
	strbuf_destroy(&run->place);
	strbuf_destroy(&run->path);
	strbuf_destroy(&run->kept);
	strbuf_destroy(&run->output.dir);
	strbuf_destroy(&run->output.batch_done.text);
	strbuf_destroy(&run->output.path_prefix.text);
	strbuf_destroy(&run->output.query_path.text);
	arena_destroy(&run->paths);
	free(run);
	search->source.run = NULL;
}
