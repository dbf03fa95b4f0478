/* SPDX-License-Identifier: MIT */
/*
 * Convert the records in the queue to entries of getmnt_search_read().
 */
#include "search/search_impl.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

void search_part_begin(SEARCH *search)
{
	struct part part;
	memcpy(&part, search->parts.text.data + search->parts.at, sizeof(part));
	search->parts.path = search->parts.text.data + search->parts.at + sizeof(part);
	search->parts.path_len = part.path;
	search->parts.at += sizeof(part) + part.path;
	search->parts.end = search->parts.at + part.records;
	search->last.path_base = SIZE_MAX;
	search->parts.has_id = false;
	search_dir_close(search);
}

/** Set search->last.path to the path of an entry in the current part: root, directory, name. */
static void make_path(SEARCH *search, bool with_root, const char *name, size_t len)
{
	struct strbuf *path = &search->last.path;
	/* If only the name differs from the previous entry, keep the directory's path. */
	if (search->last.path_base == SIZE_MAX || with_root != search->last.path_rooted) {
		strbuf_reset(path);
		if (with_root)
			strbuf_add(path, search->root.name, search->root.len);
		strbuf_add(path, strbuf_str(&search->root.via), search->root.via.len);
		if (search->parts.path_len > 1)
			strbuf_add(path, search->parts.path, search->parts.path_len);
		search->last.root_len = with_root ? search->root.len : 0;
		search->last.path_base = path->len;
		search->last.path_rooted = with_root;
	}
	path->len = search->last.path_base;
	if (len > 0) {
		strbuf_putc(path, '/');
		strbuf_add(path, name, len);
	} else if (with_root && search->root.via.len == 0 && search->parts.path_len <= 1) {
		/* As find does: a root keeps its trailing slash ("a/"), but paths below do not
		   repeat it ("a/b"). */
		strbuf_puts(path, search->root.name + path->len);
	}
	if (path->len == 0)
		strbuf_putc(path, '/');
}

/** Queue a symlink to a directory, for a search after the current root.
    @text  struct link, and the strings after it. */
static void keep_link(SEARCH *search, const char *text, size_t len)
{
	struct link link;
	memcpy(&link, text, sizeof(link));
	const char *name = text + sizeof(link), *target = name + strlen(name) + 1;
	size_t ntarget = (size_t)(text + len - target);
	size_t dir = search->parts.path_len > 1 ? search->parts.path_len : 0;
	size_t nvia = search->root.via.len + dir + strlen(name) + 2;
	const struct node *node = search_node_at(search, link.tag);
	const size_t live = search->want.words * sizeof(*node->live);
	uint32_t nabove = 0;
	pthread_mutex_lock(&search->shared.lock);
	const struct seen_dir *seen = search->shared.seen.dirs;
	for (uint64_t i = node->self; i != SEEN_NONE; i = seen[i].parent)
		++nabove;
	struct pending_link *pending =
		malloc(sizeof(*pending) + live + nabove * sizeof(*seen) + ntarget + 1 + nvia);
	if (pending) {
		struct seen_dir *above = (void *)(pending->live + search->want.words);
		*pending = (struct pending_link){
			.mount = link.mount, .depth = link.depth, .nabove = nabove, .above = above,
			.next = *search->links.end,
		};
		for (uint64_t i = node->self; i != SEEN_NONE; i = seen[i].parent)
			*above++ = seen[i];
		memcpy(pending->live, node->live, live);
		char *to = (char *)above;
		pending->target = to;
		to = mempcpy(to, target, ntarget);
		*to++ = '\0';
		pending->via = to;
		to = mempcpy(to, strbuf_str(&search->root.via), search->root.via.len);
		to = mempcpy(to, search->parts.path, dir);
		*to++ = '/';
		strcpy(to, name);
		*search->links.end = pending;
		search->links.end = &pending->next;
	}
	pthread_mutex_unlock(&search->shared.lock);
	search->failed |= !pending;
}

struct searchent *search_next_entry(SEARCH *search)
{
	struct record record;
	const char *at = search->parts.text.data + search->parts.at;
	memcpy(&record, at, sizeof(record));
	at += sizeof(record);
	if (record.source == LINK || record.source == DIR_ID) {
		if (record.source == LINK)
			keep_link(search, at, record.len);
		else
			memcpy(&search->parts.dir_id, at, sizeof(search->parts.dir_id));
		search->parts.has_id |= record.source == DIR_ID;
		search->parts.at = (size_t)(at + record.len - search->parts.text.data);
		return NULL;
	}
	/* Ignore ENOENT with SEARCH_VANISHED, except for a given root; for a given root ignore it
	   if the root was removed before the search. */
	bool below = record.len > 0 || search->parts.path_len > 1 || search->root.via.len > 0;
	if (record.source && record.error == ENOENT
	    && (below ? (search->flags & SEARCH_VANISHED) != 0 : search->root.gone)) {
		search->parts.at = (size_t)(at + record.len - search->parts.text.data);
		return NULL;
	}
	if (record.source == MOUNT) {
		const struct search_mount *m = search_mount_at(&search->mounts,
		                                               (uint32_t)record.ino);
		make_path(search, true, at, record.len);
		if (search_delegate(search, m, "", strbuf_str(&search->last.path), record.type)) {
			search->parts.at = (size_t)(at + record.len - search->parts.text.data);
			return NULL;
		}
		record.source = record.type & MOUNT_BELOW ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT;
		record.type = DT_UNKNOWN;
	}
	const bool acts = search->want.query && record.source == 0;
	if (acts && record.type == DT_DIR) {
		size_t size = sizeof(record) + (record.meta ? sizeof(search->last.st) : 0)
		              + sizeof(search->last.actions) + record.len + record.target;
		if (search_postpone(search, at - sizeof(record), size)) {
			search->parts.at += size;
			return NULL;
		}
	}
	/* In the record of an error, a nonzero type means that source.why has the reason. */
	search->last.why = record.source && record.type ? strbuf_str(&search->source.why) : NULL;
	record.type = record.source ? DT_UNKNOWN : record.type;
	search->last.has_st = record.meta;
	if (record.meta) {
		memcpy(&search->last.st, at, sizeof(search->last.st));
		at += sizeof(search->last.st);
		if (!search->more.statx)
			os_stat_from(&search->last.stat, &search->last.st);
	}
	if (acts)
		memcpy(&search->last.actions, at, sizeof(search->last.actions));
	at += acts ? sizeof(search->last.actions) : 0;
	search->last.len = record.len;
	search->last.lost = record.lost;
	make_path(search, record.source != 0 || search->flags & SEARCH_INCLUDEROOT, at, record.len);
	at += record.len;
	if (record.target || search->last.target.len) {
		strbuf_reset(&search->last.target);
		strbuf_add(&search->last.target, at, record.target);
	}
	search->parts.at = (size_t)(at + record.target - search->parts.text.data);
	search->last.type = record.type;
	search->last.entry = (struct searchent){
		.path = search->last.path.data,
		.info = record.meta && !search->more.statx ? &search->last.stat : NULL,
		.errsource = record.source,
		.err = record.error,
	};
	if (record.source)
		++search->counts.errors;
	else if (++search->counts.found && search->flags & SEARCH_STOPATFIRST)
		search->ended = true;
	return &search->last.entry;
}
