/* SPDX-License-Identifier: MIT */
/*
 * Decide for each entry of a directory, in any thread, whether it is reported and entered.
 */
#include "search/search_impl.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ACCESS_FLAGS = SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK };

/** Initialize the node of an entry below `node`, except for the live states. */
static void child_init(const SEARCH *search, const struct node *node, const struct bfs_entry *entry,
                       struct node *child)
{
	child->mount = node->mount;
	child->self = node->self;
	child->avoid = avoid_step(search->mounts.avoid, (uint32_t)node->avoid, entry->name,
	                          entry->len);
	/* With openat2, the mount of the entry is determined when the directory is opened. */
	const struct search_mount *m = search->os.caps & OSC_OPENAT2
	        ? NULL : search_mount_at(&search->mounts, (uint32_t)child->avoid);
	if (m)
		child->mount = m->id;
}

/** Whether an entry must not be accessed because it is on a different mount than its directory, and
    nothing is known about the mounts below the directory. */
static bool is_beyond(const SEARCH *search, const struct node *node, struct bfs_scratch *scratch,
                      const struct bfs_entry *entry)
{
	if (node->avoid != AVOID_UNKNOWN)
		return false;
	struct os *os = scratch->os;
	const int flags = O_PATH | O_NOFOLLOW, dir = search_fd(search, scratch);
	int fd = os_openat2(os, dir, entry->name, flags, RESOLVE_NO_XDEV);
	bool beyond = fd < 0 && errno == EXDEV;
	if (fd < 0 && errno == ENOSYS) {
		fd = os_openat(os, dir, entry->name, flags);
		beyond = fd >= 0 && os_mount_id(os, fd) != os_mount_id(os, dir);
	}
	os_close(os, fd);
	return beyond;
}

/** Whether the node of an entry is the root of a mount that is not entered because of its type. */
static bool is_excluded(const SEARCH *search, const struct node *child)
{
	const struct search_mounts *mounts = &search->mounts;
	return mounts->exclude_types
	       && search_mount_excluded(mounts, search_mount_at(mounts, (uint32_t)child->avoid));
}

/** Match the name of an entry, unless `note` has the result.
    @child  [out] The live states are set.  NULL if the entry cannot be a directory.
    @return bits of enum pattern_verdict. */
static inline unsigned match_name(const SEARCH *search, const struct node *node,
                                  const struct bfs_entry *entry, struct name_note note,
                                  struct node *child)
{
	if (!note.tested)
		return pattern_step(search->want.pattern, node->live, entry->name, entry->len,
		                    child ? child->live : NULL);
	if (child)
		memcpy(child->live, search_node_at(search, note.child)->live,
		       search->want.words * sizeof(*child->live));
	return note.does;
}

/** Store the result of matching a name in the note.  @return the note for bfs. */
static uint64_t name_tested(struct name_note note, unsigned does)
{
	note.tested = true;
	note.does = does & (PATTERN_MATCH | PATTERN_BELOW);
	return name_note_put(note);
}

/** Number the node of an entry that may be a directory; the number is needed when the attributes of
    the entry are known.
    @note [out]  child: the number.
    @tag  Number of `node`, the node of the directory that contains the entry.
    @return false: memory ran out. */
static bool keep_child(SEARCH *search, struct name_note *note, uint32_t tag,
                       const struct node *node, struct node *child)
{
	uint64_t self = child->self;
	uint32_t number = tag;
	/* With FOLLOW a directory gets its own `self` when it is entered; before, the node has the
	   `self` of the parent directory. */
	child->self = node->self;
	if (!search_node_same(search, node, child))
		number = search_node_number(search, child);
	child->self = self;
	note->child = number;
	return number != UINT32_MAX;
}

/** Decide whether to enter a directory; set scratch->tag, or report an error.
    @from, child  Nodes of the parent directory, and of the directory.
    @number  Number of `child`, without its `self`; UINT32_MAX: not numbered yet.
    @st  Attributes of the directory; used only with FOLLOW.
    @return BFS_ENTER or BFS_SKIP. */
static enum bfs_verdict enter_dir(SEARCH *search, struct bfs_scratch *scratch,
                                  const struct bfs_at *at, const struct bfs_entry *entry,
                                  const struct node *from, struct node *child, uint32_t number,
                                  const struct k_statx *st)
{
	int error = 0, source = SEARCH_ERR_OPEN;
	if (is_excluded(search, child))
		return BFS_SKIP;
	if (search->depth && (unsigned)at->depth + 1 > search->depth) {
		error = EOVERFLOW;
		source = SEARCH_ERR_LIMIT;
	} else if (search_mounts(search) && !search->more.source
	           && search_dir_waits(scratch->os, scratch->fd, entry->name)) {
		error = EREMOTE;
	} else if (search->flags & SEARCH_FOLLOW) {
		error = search_descend(search, from, child, st);
		number = UINT32_MAX;
	}
	if (error == 0 && number != UINT32_MAX) {
		scratch->tag = number;
	} else if (error == 0 && !search_node_same(search, from, child)) {
		scratch->tag = search_node_number(search, child);
		error = scratch->tag == UINT32_MAX ? ENOMEM : 0;
	}
	if (error != 0 && error != EEXIST)
		search_put_error(scratch, entry, source, error);
	return error == 0 ? BFS_ENTER : BFS_SKIP;
}

/** Result of testing an entry by its name only. */
enum pass { PASS_NO, PASS_YES, PASS_ASK /* search_entry() must test it */ };

/** Test an entry that is not a directory by its name. */
static enum pass pass_one(SEARCH *search, const struct node *node, const struct bfs_entry *entry,
                          struct look *look, struct query_object *object,
                          struct name_note *note)
{
	struct judgment judged;
	note->memo = (struct query_memo){0};
	if (!search->want.everything
	    && !pattern_step(search->want.pattern, node->live, entry->name, entry->len, NULL))
		return PASS_NO;
	if (!search->want.judges)
		return search->want.query && !search->want.plain ? PASS_ASK : PASS_YES;
	look->name = object->name = entry->name;
	object->len = entry->len;
	look->link = object->type = entry->type;
	search_judge(search, look, object, &judged);
	if (judged.look || judged.error)
		return PASS_ASK;
	return !judged.object ? PASS_NO
	       : search->want.plain || !search->want.query ? PASS_YES : PASS_ASK;
}

size_t search_pass(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                   const struct bfs_entry *entries, size_t n)
{
	SEARCH *search = arg;
	const struct node *node = search_node_at(search, at->tag);
	/* If names in this directory may lead to mounts that must not be accessed, search_entry()
	   tests each entry. */
	if (avoid_below(search->mounts.avoid, node->avoid)
	    || search_stopped(search))
		return 0;
	const unsigned plain = ~(1u << DT_DIR | 1u << DT_UNKNOWN);
	const unsigned wanted = plain & (search->want.types ? search->want.types : UINT_MAX);
	struct look look = {
		.search = search, .os = scratch->os, .scratch = scratch, .at = at,
		.fd = scratch->fd, .mount = node->mount, .avoid = AVOID_NONE,
		.depth = (unsigned)at->depth + 1,
	};
	struct name_note note = {0};
	struct query_object object = {
		.depth = look.depth, .facts = &look.facts,
		.memo = search->want.again ? &note.memo : NULL,
	};
	if (search->want.judges)
		search_look_init(&look);
	for (size_t i = 0;; ++i) {
		size_t from = i;
		enum pass pass = PASS_YES;
		for (; i < n && wanted >> entries[i].type & 1; ++i) {
			pass = pass_one(search, node, &entries[i], &look, &object, &note);
			if (pass != PASS_YES)
				break;
		}
		if (from < i)
			search_put_plain(search, scratch, at, entries + from, i - from);
		if (pass == PASS_ASK)
			scratch->note = name_tested(note, PATTERN_MATCH);
		if (i == n || pass == PASS_ASK || !(plain >> entries[i].type & 1))
			return i;
	}
}

enum bfs_verdict search_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                              const struct bfs_entry *entry)
{
	SEARCH *search = arg;
	const struct node *node = search_node_at(search, at->tag);
	union new_node new;
	struct node *child = &new.node;
	bool follow = search->flags & SEARCH_FOLLOW;
	bool dir = entry->type == DT_DIR || entry->type == DT_UNKNOWN
	           || (follow && entry->type == DT_LNK);
	struct name_note note = name_note_get(scratch->note);
	if (search_stopped(search))
		return BFS_END_ALL;
	unsigned does = match_name(search, node, entry, note, dir ? child : NULL);
	if (does == 0)
		return BFS_SKIP;
	/* Do not test the type of a symlink that is followed: the type of its target is not yet
	   known. */
	bool object = does & PATTERN_MATCH
	              && ((follow && entry->type == DT_LNK)
	                  || selection_has_type(&search->want, entry->type));
	bool below = does & PATTERN_BELOW && dir;
	if (!object && !below)
		return BFS_SKIP;
	struct judgment judged = {.enter = true, .actions = 1};
	if (search->want.judges)
		child_init(search, node, entry, child);
	if (search->want.query && follow && dir) {
		judged.look = true;   /* the directory may be its own ancestor: get its identity */
	} else if (search->want.judges) {
		search_judge_entry(search, scratch, at, entry, entry->type, child, NULL, object,
		                   &note.memo, &judged);
		object = object && (judged.look || judged.object);
		below = below && (judged.look || judged.enter);
		if (!object && !below)
			return search_stopped(search) ? BFS_END_ALL : BFS_SKIP;
	}
	if (object)
		search_lines_begin(search, scratch, at);
	/* The most frequent case: an object that is not a directory and needs attributes, in a
	   directory without mounts of interest below. */
	if (!dir && (search->flags & SEARCH_METADATA || judged.look)
	    && !avoid_below(search->mounts.avoid, node->avoid)) {
		scratch->note = name_tested(note, does);
		return BFS_LOOK;
	}
	if (!search->want.judges)
		child_init(search, node, entry, child);
	/* unknown: statx is needed for unknown types, and to check directories with FOLLOW or
	   XDEV. */
	bool unknown = entry->type == DT_UNKNOWN
	               || ((follow || search->xdev_looks) && below && entry->type == DT_DIR);
	bool type = search->access || search->more.type || search->want.types || follow;
	bool look = (object && search->flags & SEARCH_METADATA) || (unknown && (below || type))
	            || judged.look;
	bool blocked = search_mounts_blocked(&search->mounts, (uint32_t)child->avoid);
	bool touch = look || search->access || (below && !(search->os.caps & OSC_OPENAT2));
	if (blocked || (touch && is_beyond(search, node, scratch, entry))) {
		/* The entry must not be accessed.  named: the object can be reported by its name
		   only.  below: with XDEV, the contents of a mount are not wanted, so that they
		   cause no error. */
		bool named = !judged.look
		             && (search->more.optional
		                 || !(search->flags & (SEARCH_METADATA | ACCESS_FLAGS)));
		below = below && !(search->flags & SEARCH_XDEV) && !is_excluded(search, child);
		if (object && named)
			search_put_object(search, scratch, entry, NULL, -1, judged.actions);
		bool deep = search->depth && (unsigned)at->depth + 1 > search->depth;
		unsigned wanted = (object && !named ? MOUNT_SELF : 0u)
		                  | (below && !deep ? MOUNT_BELOW : 0u);
		if (blocked && search->remotes.delegates && below && deep)
			search_put_error(scratch, entry, SEARCH_ERR_LIMIT, EOVERFLOW);
		if (blocked && search->remotes.delegates && wanted)
			search_put_mount(scratch, entry, (uint32_t)child->avoid, wanted);
		else if (blocked && search->remotes.delegates)
			return BFS_SKIP;
		else if (below || (object && !named))
			search_put_error(scratch, entry,
			                 below ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT,
			                 blocked ? EREMOTE : EXDEV);
		return BFS_SKIP;
	}
	if (follow && entry->type == DT_LNK) {
		note.does = does & (PATTERN_MATCH | PATTERN_BELOW);
		return search_follow_entry(search, scratch, at, entry, node, child, &note);
	}
	note.child = at->tag;
	if (look && below && !keep_child(search, &note, at->tag, node, child)) {
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ENOMEM);
		return BFS_SKIP;
	}
	if (look) {
		scratch->note = name_tested(note, below ? does : does & PATTERN_MATCH);
		return BFS_LOOK;
	}
	if (object)
		search_put_object(search, scratch, entry, NULL, -1, judged.actions);
	if (!below || entry->type != DT_DIR)
		return BFS_SKIP;
	return enter_dir(search, scratch, at, entry, node, child, UINT32_MAX, NULL);
}

enum bfs_verdict search_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                             const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	SEARCH *search = arg;
	const struct node *node = search_node_at(search, at->tag);
	union new_node new;
	struct node *child = &new.node;
	if (search_stopped(search))
		return BFS_END_ALL;
	/* Needed for entries left over from an earlier part of the directory, for which
	   search_entry() was not called in this part. */
	search_lines_begin(search, scratch, at);
	/* For an object that is not a directory, search_entry() returns BFS_LOOK only if the
	   pattern matches. */
	bool leaf = entry->type != DT_DIR && entry->type != DT_UNKNOWN
	            && !(search->flags & SEARCH_FOLLOW);
	if (leaf && error == 0 && st->mask & K_STATX_TYPE && IFTODT(st->mode) == entry->type
	    && !search->want.judges) {
		search_put_object(search, scratch, entry, st, -1, 1);
		return BFS_SKIP;
	}
	struct name_note note = name_note_get(entry->note);
	assert(note.tested);
	/* A directory is now in the place of the listed object: match its name again, to get the
	   live states. */
	if (error == 0 && S_ISDIR(st->mode) && entry->type != DT_DIR && entry->type != DT_UNKNOWN)
		note.tested = false;
	bool maybe_dir = !note.tested || entry->type == DT_DIR || entry->type == DT_UNKNOWN;
	unsigned does = match_name(search, node, entry, note, maybe_dir ? child : NULL);
	child_init(search, node, entry, child);
	if (error == 0 && !(st->mask & K_STATX_TYPE))
		error = EACCES;
	/* named: the name of the object can be reported without attributes, which were needed only
	   to enter a directory, or are optional. */
	bool dir = entry->type == DT_DIR;
	bool named = dir && !(search->flags & (SEARCH_METADATA | SEARCH_FOLLOW));
	named |= search->more.optional && error != ENOENT;
	if (error != 0) {
		if (named && does & PATTERN_MATCH && !search->want.judges)
			search_put_object(search, scratch, entry, NULL, -1, 1);
		if (search->want.query && does & PATTERN_MATCH && error != ENOENT)
			search_put_lost(search, scratch, at, entry, child, &note.memo);
		if (!named || search->want.judges || entry->type == DT_UNKNOWN
		    || (dir && does & PATTERN_BELOW))
			search_put_error(scratch, entry,
			                 named && dir ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT, error);
		return BFS_SKIP;
	}
	struct bfs_entry known = *entry;
	known.type = (uint8_t)IFTODT(st->mode);
	if (search->flags & SEARCH_FOLLOW && known.type == DT_LNK)
		return search_follow_entry(search, scratch, at, entry, node, child, &note);
	if (search->want.query && search_is_loop(search, node, st)) {
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ELOOP);
		return BFS_SKIP;
	}
	struct judgment judged = {.object = true, .enter = true, .actions = 1};
	if (search->want.judges)
		search_judge_entry(search, scratch, at, entry, known.type, child, st,
		                   does & PATTERN_MATCH, &note.memo, &judged);
	if (does & PATTERN_MATCH && judged.object)
		search_put_object(search, scratch, &known, st, -1, judged.actions);
	if (search_stopped(search))
		return BFS_END_ALL;
	if (!(does & PATTERN_BELOW) || known.type != DT_DIR || !judged.enter
	    || (search->xdev_looks && search_elsewhere(search, st)))
		return BFS_SKIP;
	return enter_dir(search, scratch, at, entry, node, child,
	                 note.tested ? note.child : UINT32_MAX, st);
}
