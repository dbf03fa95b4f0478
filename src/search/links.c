/* SPDX-License-Identifier: MIT */
/*
 * Follow symlinks, in any thread: report the target in place of the symlink, and queue a target
 * that is a directory.
 */
#include "search/search_impl.h"

#include <dirent.h>
#include <fcntl.h>

/** Append a record of a symlink whose target is a directory, which will be searched later. */
static void put_link(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_entry *entry,
                     int depth, const struct node *child, const struct follow_place *place)
{
	struct link link = {
		.mount = place->mount, .tag = search_node_number(search, child), .depth = depth,
	};
	const struct strbuf *target = &place->path;
	if (link.tag == UINT32_MAX) {
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ENOMEM);
		return;
	}
	struct strbuf *out = &scratch->output->dir;
	struct record record = {
		.len = (uint32_t)(sizeof(link) + entry->len + 1 + target->len), .source = LINK,
	};
	strbuf_add(out, (const char *)&record, sizeof(record));
	strbuf_add(out, (const char *)&link, sizeof(link));
	strbuf_add(out, entry->name, entry->len + 1);
	strbuf_add(out, strbuf_str(target), target->len);
}

void search_follow_link(SEARCH *search, struct bfs_scratch *scratch, struct follow_place *place,
                        int depth, const struct bfs_at *at, const struct bfs_entry *entry,
                        const struct node *from, struct node *child, struct name_note *note)
{
	const unsigned does = note->does;
	struct os *os = scratch->os;
	struct bfs_entry known = *entry;
	struct k_statx st = {0};
	unsigned mask = search->policy.statx_mask;
	int flags = AT_NO_AUTOMOUNT | search->policy.statx_flags;
	int fd = follow_path(os, &search->mounts, scratch->fd, place, entry->name);
	int rc = fd < 0 ? -1 : os_statx(os, fd, "", flags | AT_EMPTY_PATH, mask, &st);
	int error = rc == 0 ? 0 : errno;
	bool dangling = error == ENOENT || error == ENOTDIR || error == ELOOP;
	/* A dangling symlink is reported as an object, the symlink itself.  ELOOP is also reported
	   as an error: SEARCH_ERR_OPEN for a loop, SEARCH_ERR_STAT if a mount with nosymfollow may
	   be the reason.  With a query, as with find, a loop is only an error. */
	if (error == ELOOP)
		search_put_error(scratch, entry, search->mounts.nosymfollow
		                 ? SEARCH_ERR_STAT : SEARCH_ERR_OPEN, error);
	if (rc == 0 && search->want.query && from && search_is_loop(search, from, &st)) {
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ELOOP);
		goto out;
	}
	if (dangling && (!(does & PATTERN_MATCH) || (error == ELOOP && search->want.query)))
		goto out;
	if (dangling) {
		flags |= AT_SYMLINK_NOFOLLOW;
		error = os_statx(os, scratch->fd, entry->name, flags, mask, &st) == 0 ? 0 : errno;
	}
	if (!from && (error == ENOENT || error == ENOTDIR))
		goto out;
	if (error != 0) {
		bool refused = error == EREMOTE || error == EXDEV;
		if (search->more.optional && does & PATTERN_MATCH && !refused && error != ENOENT
		    && !search->want.judges)
			search_put_object(search, scratch, entry, NULL, -1, 1);
		if (search->want.query && does & PATTERN_MATCH && !refused && error != ELOOP)
			search_put_lost(search, scratch, at, entry, child, &note->memo);
		search_put_error(scratch, entry, refused ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT,
		                 error);
		goto out;
	}
	known.type = (uint8_t)IFTODT(st.mode);
	struct judgment judged = {.object = true, .enter = true, .actions = 1};
	if (search->want.judges)
		search_judge_entry(search, scratch, at, entry, known.type, child, &st,
		                   does & PATTERN_MATCH, &note->memo, &judged);
	if (does & PATTERN_MATCH && judged.object)
		search_put_object(search, scratch, &known, &st, fd < 0 ? -1 : fd, judged.actions);
	if (!(does & PATTERN_BELOW) || known.type != DT_DIR || dangling || !judged.enter
	    || (search->flags & SEARCH_XDEV && search_elsewhere(search, &st))
	    || search_mount_excluded(&search->mounts,
	                             search_mount_find(&search->mounts, place->mount)))
		goto out;
	if (search->depth && (unsigned)depth > search->depth) {
		search_put_error(scratch, entry, SEARCH_ERR_LIMIT, EOVERFLOW);
	} else {
		child->self = from->self;
		put_link(search, scratch, entry, depth, child, place);
	}
out:
	os_close(os, fd);
}

enum bfs_verdict search_follow_entry(SEARCH *search, struct bfs_scratch *scratch,
                                     const struct bfs_at *at, const struct bfs_entry *entry,
                                     const struct node *node, struct node *child,
                                     struct name_note *note)
{
	struct follow_place place;
	search_place_of(search, at, &place);
	if (place.path.failed)
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ENOMEM);
	else
		search_follow_link(search, scratch, &place, at->depth + 1, at, entry, node, child,
		                   note);
	strbuf_destroy(&place.path);
	return BFS_SKIP;
}
