/* SPDX-License-Identifier: MIT */
/*
 * Test an object of a source.  The directory that contains it is opened only if needed.
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

enum { LINES = 8192 };       /* bytes of lines that are collected before they are delivered */

/* The current directory */

void source_flush(SEARCH *search)
{
	struct source_run *run = search->source.run;
	struct strbuf *out = &run->output.dir;
	search->failed |= out->failed || run->output.batch_done.text.failed;
	search_batch_done(search, &run->output);
	strbuf_reset(&run->output.batch_done.text);
	run->output.batch_done.n = 0;
	run->output.run_start = 0;
	if (out->len > 0 && search->flags & ORDER_FLAGS) {
		const char *path = strbuf_str(&run->path);
		const char *copy = arena_strndup(&run->paths, path, strlen(path));
		if (copy && ARRAY_ROOM(run->groups, run->ngroups, &run->groups_room))
			run->groups[run->ngroups++] = (struct group){copy, run->kept.len, out->len};
		else
			search->failed = true;
		strbuf_add(&run->kept, out->data, out->len);
		search->failed |= run->kept.failed;
	} else if (out->len > 0) {
		search_queue_part(search, &run->at, out->data, out->len);
	}
	strbuf_reset(out);
}

void source_leave(SEARCH *search)
{
	struct source_run *run = search->source.run;
	/* Lines of several directories are delivered together. */
	if (run->output.dir.len > 0 || run->output.batch_done.text.len >= LINES)
		source_flush(search);
	run->output.run_start = 0;
	if (run->scratch.fd >= 0 && run->scratch.fd != run->fd)
		os_close(&search->os, run->scratch.fd);
	run->scratch.fd = LOOK_UNOPENED;
	run->dir_error = 0;
	run->dir = SOURCE_NONE;
}

void source_go_to(SEARCH *search, const struct source_object *object)
{
	struct source_run *run = search->source.run;
	const struct start *start = &run->starts[0];
	if (run->dir == object->dir)
		return;
	source_leave(search);
	run->dir = object->dir;
	strbuf_reset(&run->path);
	strbuf_puts(&run->path, start->path);
	strbuf_add(&run->path, object->path, object->path_len);
	search->failed |= run->path.failed;
	const char *path = strbuf_str(&run->path);
	run->at = (struct bfs_at){
		.dir = *path ? path + 1 : ".", .name = "", .tag = object->mark,
		.depth = start->depth + (int)object->depth, .parentfd = -1,
	};
	/* Build the path of the directory again: query_path has the path of the previous
	   directory. */
	run->output.query_path.of = run;
}

/* Objects */

int source_look_at(SEARCH *search, const char *name, struct k_statx *st)
{
	int fd = search_fd(search, &search->source.run->scratch);
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | search->policy.statx_flags;
	unsigned mask = search->policy.statx_mask | K_STATX_TYPE | search_id_mask(search);
	if (fd >= 0 && os_statx(&search->os, fd, name, flags, mask, st) == 0)
		return 0;
	*st = (struct k_statx){0};
	/* The directory is gone, or its path leads to another mount or through a symlink now: the
	   object no longer exists. */
	return fd < 0 && (errno == ENOTDIR || errno == ELOOP || errno == EXDEV) ? ENOENT : errno;
}

/** Get the attributes of the current object, from the source if they are known there.
    @return 0, or an error number. */
static int get_attributes(SEARCH *search, const struct source_object *object, struct k_statx *st)
{
	struct source_run *run = search->source.run;
	const struct search_source *source = search->more.source;
	if (run->at_mount) {
		*st = run->st;
		return run->error;
	}
	unsigned mask = search->policy.statx_mask
	                | (search->flags & SEARCH_BYINODE ? K_STATX_INO : 0);
	if (!source->attributes(source->arg, object, mask, st))
		return source_look_at(search, object->name, st);
	st->dev_major = run->base.dev_major;
	st->dev_minor = run->base.dev_minor;
	st->mnt_id = run->base.mnt_id;
	st->blksize = run->base.blksize;
	st->mask |= run->base.mask & (K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE);
	return 0;
}

/** Whether the query finds an object, by its name and its attributes in the source.
    @note [in,out]  Results of tests of the name. */
static bool is_found(SEARCH *search, const struct node *node, const struct source_object *object,
                     struct name_note *note)
{
	struct source_run *run = search->source.run;
	struct k_statx st;
	if (!note->tested)
		note->does = pattern_step(search->want.pattern, node->live, object->name,
		                          object->len, NULL) & PATTERN_MATCH;
	note->tested = true;
	if (!selection_has_type(&search->want, object->type) || !note->does)
		return false;
	if (!search->want.query || get_attributes(search, object, &st) != 0)
		return true;
	struct look look = {
		.search = search, .os = &search->os, .scratch = &run->scratch, .at = &run->at,
		.fd = LOOK_UNOPENED, .name = object->name, .link = object->type,
		.mount = node->mount, .avoid = (uint32_t)node->avoid,
		.depth = (unsigned)run->at.depth + 1,
	};
	struct query_outcome outcome;
	search_look_init(&look);
	query_test(search->want.query, &(struct query_object){
		.name = object->name, .len = object->len, .type = object->type,
		.depth = look.depth, .st = &st, .facts = &look.facts, .memo = &note->memo,
	}, QUERY_STATX, &outcome);
	return outcome.acts != QUERY_NO;
}

enum bfs_verdict source_judge(SEARCH *search, const struct source_object *object)
{
	struct source_run *run = search->source.run;
	struct bfs_entry entry = {.name = object->name, .len = object->len, .type = object->type};
	const struct node *node = search_node_at(search, run->at.tag);
	struct name_note note = {.memo = object->memo}, shown;
	struct k_statx st;
	bool known = false;
	++search->counts.entries;
	run->scratch.tag = run->at.tag;
	if (object->named) {
		note.does = pattern_last_step(search->want.pattern, node->live) & PATTERN_MATCH;
		note.tested = true;
	}
	shown = note;
	if (run->again && !run->at_mount && is_found(search, node, object, &shown)) {
		int error = source_look_at(search, object->name, &st);
		if (error == ENOENT || error == ESTALE)
			return BFS_SKIP;
		known = error == 0;
		entry.type = known ? (uint8_t)IFTODT(st.mode) : entry.type;
	}
	/* For the order: the inode number in the source; for a mount point, of the mount's root. */
	if (search->flags & SEARCH_BYINODE) {
		if (known || get_attributes(search, object, &st) == 0)
			entry.ino = st.ino;
	}
	/* For a directory, pass only the memo: search_entry() must match the name to get the live
	   states. */
	if (entry.type == object->type && entry.type != DT_DIR && entry.type != DT_UNKNOWN)
		note = shown;
	else
		note = (struct name_note){.memo = shown.memo};
	run->scratch.note = name_note_put(note);
	enum bfs_verdict verdict = search_entry(search, &run->scratch, &run->at, &entry);
	entry.note = run->scratch.note;
	if (verdict != BFS_LOOK)
		return verdict;
	int error = known ? 0 : get_attributes(search, object, &st);
	if (error == ENOENT)
		return BFS_SKIP;
	return search_meta(search, &run->scratch, &run->at, &entry, &st, error);
}

bool source_take(SEARCH *search, const struct source_object *object)
{
	struct source_run *run = search->source.run;
	uint32_t avoid = (uint32_t)search_node_at(search, object->mark)->avoid;
	bool mounts = avoid_below(search->mounts.avoid, avoid);
	if (mounts) {
		avoid = avoid_step(search->mounts.avoid, avoid, object->name, object->len);
		if (search_mount_at(&search->mounts, avoid))
			return false;
	}
	source_go_to(search, object);
	if (run->puts && object->within == QUERY_YES && !mounts) {
		const struct bfs_entry entry = {
			.name = object->name, .len = object->len, .type = object->type,
		};
		++search->counts.entries;
		run->scratch.tag = run->at.tag;
		search_lines_begin(search, &run->scratch, &run->at);
		search_put_object(search, &run->scratch, &entry, NULL, -1, 1);
		return true;
	}
	bool decides = object->within == QUERY_NO ? run->decides_no : run->decides_yes;
	run->known = decides ? object->within : QUERY_OPEN;
	bool enter = source_judge(search, object) == BFS_ENTER;
	run->known = QUERY_OPEN;
	return enter;
}

/* With SEARCH_BYNAME or SEARCH_BYINODE */

static int by_path(const void *left, const void *right)
{
	const struct group *a = left, *b = right;
	int order = strcmp(a->path, b->path);
	return order ? order : a->at < b->at ? -1 : a->at > b->at;
}

void source_deliver_groups(SEARCH *search)
{
	struct source_run *run = search->source.run;
	struct strbuf records = {0};
	if (run->ngroups > 0)
		qsort(run->groups, run->ngroups, sizeof(*run->groups), by_path);
	for (size_t i = 0; i < run->ngroups; ++i) {
		const struct group *group = &run->groups[i];
		strbuf_add(&records, run->kept.data + group->at, group->size);
		if (i + 1 < run->ngroups && strcmp(group->path, group[1].path) == 0)
			continue;
		struct bfs_at at = {.dir = *group->path ? group->path + 1 : ".", .name = ""};
		search->failed |= records.failed;
		search_deliver(search, &at, strbuf_str(&records), records.len);
		strbuf_reset(&records);
	}
	strbuf_destroy(&records);
	run->ngroups = 0;
}
