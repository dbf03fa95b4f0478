/* SPDX-License-Identifier: MIT */
/* In the owner's thread: describe the last object for the caller's query; report roots. */
#include "search/search_impl.h"

#include <dirent.h>
#include <sys/stat.h>

/** Find the last component of a path, as -name compares it.
    @len [out]  Length of the component. */
static const char *last_name(const char *path, size_t *len)
{
	size_t end = strlen(path);
	while (end > 1 && path[end - 1] == '/')
		--end;
	const char *slash = end > 1 ? memrchr(path, '/', end) : NULL;
	const char *name = slash ? slash + 1 : path;
	*len = end - (size_t)(name - path);
	return name;
}

void search_last(SEARCH *search, struct search_visit *visit)
{
	struct look *look = &search->last.look;
	bool root = search->last.len == 0;
	const struct strbuf *path = &search->last.path;
	*visit = (struct search_visit){
		.object = {
			.name = root ? search->root.base.data
			        : path->data + path->len - search->last.len,
			.len = root ? search->root.base.len : search->last.len,
			/* search_put_lost() tested the object with this type */
			.type = search->last.lost && search->flags & SEARCH_FOLLOW ? DT_UNKNOWN
			        : search->last.type,
			.st = search->last.has_st ? &search->last.st : NULL,
			.lost = search->last.lost,
			.facts = &look->facts,
		},
		.actions = search->last.actions, .path = path->data, .search = search,
		.dirfd = LOOK_UNOPENED,
	};
	search_visit_paths(search, visit, search->last.root_len);
	if (search->last.remote)
		visit->object.name = last_name(visit->path + visit->prefix, &visit->object.len);
	for (const char *p = visit->below; *p; p += *p == '/' ? 1 : strcspn(p, "/"))
		visit->object.depth += *p != '/';
	*look = (struct look){
		.search = search, .os = &search->os, .visit = visit, .fd = LOOK_UNOPENED,
		.name = visit->object.name, .avoid = AVOID_NONE, .depth = visit->object.depth,
		.link = root || search->flags & SEARCH_FOLLOW ? DT_UNKNOWN : search->last.type,
	};
	search_look_init(look);
}

bool search_root_visit(SEARCH *search, const struct node *node, const struct k_statx *st,
                       unsigned depth)
{
	const char *path = search->more.name ? search->more.name : search_root_given(search);
	size_t len;
	const char *base = last_name(path, &len);
	strbuf_reset(&search->root.base);
	strbuf_add(&search->root.base, base, len);
	if (search->root.base.failed) {
		search->failed = true;
		return false;
	}
	if (!search->more.roots
	    && !(pattern_step(search->want.pattern, node->live, search->root.base.data,
	                      search->root.base.len, NULL) & PATTERN_MATCH))
		return false;
	struct look *look = &search->last.look;
	struct query_memo memo = {0};
	struct search_visit visit = {
		.object = {
			.name = search->root.base.data, .len = search->root.base.len,
			.type = (uint8_t)IFTODT(st->mode), .st = st, .facts = &look->facts,
			.memo = &memo, .depth = depth,
		},
		.path = search->root.name, .search = search, .dirfd = LOOK_UNOPENED,
	};
	*look = (struct look){
		.search = search, .os = &search->os, .visit = &visit, .fd = LOOK_UNOPENED,
		.name = visit.object.name, .mount = search->root.mount, .avoid = AVOID_NONE,
		.link = DT_UNKNOWN, .depth = depth,
	};
	search_look_init(look);
	search_visit_paths(search, &visit, search->root.len);
	struct judgment judged = {.object = true, .enter = true, .actions = 1};
	if (search->want.judges)
		search_judge(search, look, &visit.object, &judged);
	judged.object &= selection_has_type(&search->want, visit.object.type);
	if (judged.object && search->more.visit) {
		visit.actions = judged.actions;
		search_visit_now(search, &visit, &judged);
	} else if (judged.object) {
		struct bfs_at at = {.dir = ".", .name = ""};
		struct bfs_entry entry = {.name = "", .ino = st->ino, .type = visit.object.type};
		struct bfs_output output = {0};
		struct bfs_scratch scratch = {.os = &search->os, .output = &output, .fd = -1};
		search_put_object(search, &scratch, &entry, st, search->root.fd, judged.actions);
		search->failed |= output.dir.failed;
		if (output.dir.len > 0)
			search_queue_part(search, &at, output.dir.data, output.dir.len);
		search_batch_done(search, &output);
		strbuf_destroy(&output.dir);
	}
	if (judged.error) {
		struct bfs_at at = {.dir = ".", .name = ""};
		search_queue_error(search, &at, SEARCH_ERR_ACCESS, judged.error);
	}
	search_dir_close(search);
	return judged.enter && visit.object.type == DT_DIR;
}
