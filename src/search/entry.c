/* SPDX-License-Identifier: MIT */
/*
 * Matching, reporting and entering entries, in any thread.
 *
 * An object is reported as a line, if the caller accepts lines and the line is short, otherwise as
 * a record.  Lines start with the escaped path of the directory.
 */
#include "search/search_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

enum {
	ACCESS_FLAGS = SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK,
	LINES_PATH = 512,         /* maximum length of a directory path for lines, which repeat it;
	                             records do not */
	XATTRS_SIZE = UINT16_MAX - PATH_MAX,   /* of their names; more are not known */
	LINES_SIZE = 32 * 1024,   /* bytes of lines per directory; the rest becomes records if a
	                             record is shorter than a line */
};

/* Values of run_start: the offset plus one of the directory's lines in the text of the batch; or
   one of these. */
static const uint64_t NO_RUN = 0, NO_LINES = UINT64_MAX;

/** Whether objects of the directory are reported as lines. */
static bool lines_go_on(const struct bfs_scratch *scratch)
{
	return scratch->output->run_start != NO_RUN && scratch->output->run_start != NO_LINES;
}

/** Append a record to the output.  @actions  With a query, of an object; else NULL.
    @target  May be NULL. */
static void put_record(struct bfs_scratch *scratch, const struct record *record,
                       const struct k_statx *st, const uint64_t *actions, const char *name,
                       const char *target)
{
	size_t meta = record->meta ? sizeof(*st) : 0, acts = actions ? sizeof(*actions) : 0;
	size_t size = sizeof(*record) + meta + acts + record->len + record->target;
	char *to = strbuf_extend(&scratch->output->dir, size);
	if (!to)
		return;
	to = mempcpy(to, record, sizeof(*record));
	if (meta)
		to = mempcpy(to, st, meta);
	if (acts)
		to = mempcpy(to, actions, acts);
	to = mempcpy(to, name, record->len);
	if (record->target)
		memcpy(to, target, record->target);
}

void search_put_error(struct bfs_scratch *scratch, const struct bfs_entry *entry, int source,
                      int error)
{
	put_record(scratch, &(struct record){
		.len = (uint32_t)entry->len, .error = error, .source = (uint8_t)source,
	}, NULL, NULL, entry->name, NULL);
}

/** Append the names of extended attributes to the last record, which begins at `at`.
    @fd  The object; -1: use its name in scratch->fd. */
static void add_xattrs(struct bfs_scratch *scratch, const struct bfs_entry *entry, int fd,
                       size_t at)
{
	struct strbuf *out = &scratch->output->dir;
	struct record record;
	const char *name = fd < 0 ? entry->name : "";
	fd = fd < 0 ? scratch->fd : fd;
	if (fd < 0 || !strbuf_room(out, XATTRS_SIZE + 1))
		return;
	char *to = out->data + out->len;
	ssize_t n = os_list_xattrs(scratch->os, fd, name, to + 1, XATTRS_SIZE - 1);
	if (n < 0 && errno == EOPNOTSUPP)
		n = 0;
	*to = '\0';
	if (n < 0)
		return;
	out->len += (size_t)n + 1;
	out->data[out->len] = '\0';
	memcpy(&record, out->data + at, sizeof(record));
	record.target = (uint16_t)(record.target + n + 1);
	memcpy(out->data + at, &record, sizeof(record));
}

void search_put_record(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd,
                       uint64_t actions)
{
	char target[PATH_MAX];
	ssize_t n = search->more.links && entry->type == DT_LNK && scratch->fd >= 0
	            ? os_readlinkat(scratch->os, scratch->fd, entry->name, target, sizeof(target))
	            : 0;
	/* Once for each directory: it has no lines. */
	if (search->identify && scratch->output->run_start == NO_RUN && scratch->fd >= 0) {
		search_put_dir_id(search, scratch);
		scratch->output->run_start = NO_LINES;
	}
	const size_t at = scratch->output->dir.len;
	put_record(scratch, &(struct record){
		.ino = entry->ino, .len = (uint32_t)entry->len, .type = entry->type,
		.meta = st != NULL,
		.target = n > 0 ? (uint16_t)n : 0,
	}, st, search->query ? &actions : NULL, entry->name, target);
	if (search->more.xattrs && at < scratch->output->dir.len)
		add_xattrs(scratch, entry, fd, at);
}

/** Escape a path for lines. */
static void escape_whole(const SEARCH *search, struct strbuf *path)
{
	struct strbuf escaped = {0};
	search->more.escape(&escaped, strbuf_str(path));
	strbuf_reset(path);
	strbuf_add(path, strbuf_str(&escaped), escaped.len);
	path->failed |= escaped.failed;
	strbuf_destroy(&escaped);
}

/** Start the lines of a directory: build the prefix. */
static void lines_begin(const SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at)
{
	struct strbuf *path = &scratch->output->path_prefix.text;
	/* Often the parent is the same as for the previous directory. */
	if (scratch->output->path_prefix.of != at->parent) {
		struct bfs_at parent = {.parent = at->parent, .dir = "", .name = ""};
		strbuf_reset(path);
		strbuf_add(path, search->root_name, search->root_len);
		strbuf_puts(path, strbuf_str(&search->via));
		bfs_path(&parent, path);
		if (!path->failed && path->data[path->len - 1] != '/')
			strbuf_putc(path, '/');
		if (search->more.escape)
			escape_whole(search, path);
		scratch->output->path_prefix.of = at->parent;
		scratch->output->path_prefix.len = path->len;
	}
	if (!path->failed)
		path->len = scratch->output->path_prefix.len;
	if (strcmp(at->dir, ".") != 0) {
		if (search->more.escape)
			search->more.escape(path, at->dir);
		else
			strbuf_puts(path, at->dir);
		strbuf_putc(path, '/');
	}
	bool lines = strbuf_room(path, BFS_SLACK) && !path->failed && path->len <= LINES_PATH;
	scratch->output->run_start = lines ? scratch->output->batch_done.text.len + 1 : NO_LINES;
}

/** Start the lines of a directory, unless that was done, or it has no lines. */
static void lines_may_begin(const SEARCH *search, struct bfs_scratch *scratch,
                            const struct bfs_at *at)
{
	if (search->more.lines && !search->more.count && scratch->output->run_start == NO_RUN)
		lines_begin(search, scratch, at);
}

/** Copy in blocks, which is faster for short text; both buffers have room for one more block. */
static char *copy_blocks(char *to, const char *from, size_t len)
{
	for (size_t i = 0; i < len; i += BFS_SLACK)
		memcpy(to + i, from + i, BFS_SLACK);
	return to + len;
}

/** Append objects as lines to the output.  @slack  BFS_SLACK bytes after each name are readable.
    @return the number of lines: all, unless LINES_SIZE is reached. */
static size_t put_lines(const SEARCH *search, struct bfs_scratch *scratch,
                        const struct bfs_entry *entries, size_t n, bool slack)
{
	const char *dir = scratch->output->path_prefix.text.data, end = search->more.end;
	const size_t dir_len = scratch->output->path_prefix.text.len;
	struct strbuf *text = &scratch->output->batch_done.text;
	size_t begin = text->len - (scratch->output->run_start - 1), size = begin, put = 0;
	for (; put < n && size < LINES_SIZE; ++put)
		size += dir_len + entries[put].len + 1;
	if (!strbuf_room(text, size - begin + BFS_SLACK))
		return n;
	char *to = strbuf_extend(text, size - begin);
	for (size_t i = 0; i < put; ++i) {
		to = copy_blocks(to, dir, dir_len);
		to = slack ? copy_blocks(to, entries[i].name, entries[i].len)
		           : mempcpy(to, entries[i].name, entries[i].len);
		*to++ = end;
	}
	*to = '\0';   /* the last block may have overwritten it */
	scratch->output->batch_done.n += put;
	if (size >= LINES_SIZE)
		scratch->output->run_start = NO_LINES;
	return put;
}

/** Append an object to the output as a line that the caller's line() makes. */
static void put_line(const SEARCH *search, struct bfs_scratch *scratch,
                     const struct bfs_entry *entry, const struct k_statx *st)
{
	struct strbuf *text = &scratch->output->batch_done.text;
	size_t from = text->len, record = sizeof(struct record) + entry->len
	              + (st ? sizeof(*st) : 0);
	search->more.line(search->more.arg, &(struct search_object){
		.dir = scratch->output->path_prefix.text.data,
		.dir_len = scratch->output->path_prefix.text.len,
		.name = entry->name, .type = entry->type,
		.st = (const struct statx *)(const void *)st,
	}, text);
	++scratch->output->batch_done.n;
	if (text->len - (scratch->output->run_start - 1) >= LINES_SIZE && text->len - from > record)
		scratch->output->run_start = NO_LINES;
}

/** Whether objects of a type are requested; true for an unknown type. */
static bool type_wanted(const SEARCH *search, uint8_t type)
{
	return !search->more.types || type == DT_UNKNOWN || search->more.types & 1u << type;
}

void search_put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bfs_entry *entry, const struct k_statx *st, int fd,
                       uint64_t actions)
{
	struct k_statx with_id;
	st = search->flags & SEARCH_METADATA || search->query ? st : NULL;
	/* statx(2) returns only one ID, here the one that tells mounts apart. */
	if (st && search->more.mask & K_STATX_MNT_ID && st->mask & K_STATX_MNT_ID_UNIQUE) {
		const struct search_mount *m = search_mount_find(&search->mounts, st->mnt_id);
		with_id = *st;
		with_id.mask &= ~(uint32_t)K_STATX_MNT_ID_UNIQUE;
		with_id.mask |= m && m->old_id ? K_STATX_MNT_ID : 0;
		with_id.mnt_id = m ? m->old_id : 0;
		st = &with_id;
	}
	if (!type_wanted(search, entry->type))
		return;
	if (search->access && entry->type != DT_LNK
	    && os_access(scratch->os, fd < 0 ? scratch->fd : fd, fd < 0 ? entry->name : "",
	                 search->access) != 0) {
		/* These errors mean that access is denied; other errors are reported. */
		if (errno != EACCES && errno != EROFS && errno != EPERM && errno != ETXTBSY)
			search_put_error(scratch, entry, SEARCH_ERR_ACCESS, errno);
		return;
	}
	if (search->more.count) {
		++scratch->output->batch_done.n;
		return;
	}
	/* An object that several actions print becomes a record. */
	bool one = !search->query || (actions & (actions - 1)) == 0;
	if (lines_go_on(scratch) && one && (!search->query || actions)) {
		if (search->more.line)
			put_line(search, scratch, entry, st);
		else
			put_lines(search, scratch, entry, 1, false);
		return;
	}
	search_put_record(search, scratch, entry, st, fd, actions);
}

/** Initialize the node of an entry, except for its live states. */
static void child_init(const SEARCH *search, const struct node *node, const struct bfs_entry *entry,
                       struct node *child)
{
	child->mount = node->mount;
	child->self = node->self;
	child->avoid = avoid_step(search->mounts.avoid, (uint32_t)node->avoid, entry->name,
	                          entry->len);
	/* With openat2 it becomes known when the directory is opened. */
	const struct search_mount *m = search->os.caps & OSC_OPENAT2
	        ? NULL : search_mount_at(&search->mounts, (uint32_t)child->avoid);
	if (m)
		child->mount = m->id;
}

/** Whether more than the name of an entry must not be accessed, because it is on another mount of
    which nothing is known. */
static bool is_beyond(const struct node *node, struct bfs_scratch *scratch,
                      const struct bfs_entry *entry)
{
	if (node->avoid != AVOID_UNKNOWN)
		return false;
	struct os *os = scratch->os;
	const int flags = O_PATH | O_NOFOLLOW;
	int fd = os_openat2(os, scratch->fd, entry->name, flags, RESOLVE_NO_XDEV);
	bool beyond = fd < 0 && errno == EXDEV;
	if (fd < 0 && errno == ENOSYS) {
		fd = os_openat(os, scratch->fd, entry->name, flags);
		beyond = fd >= 0 && os_mount_id(os, fd) != os_mount_id(os, scratch->fd);
	}
	os_close(os, fd);
	return beyond;
}

/** Whether an entry is a mount point that is not entered because of its type, as far as its place
    says. */
static bool is_excluded(const SEARCH *search, const struct node *child)
{
	const struct search_mounts *mounts = &search->mounts;
	return mounts->exclude_types
	       && search_mount_excluded(mounts, search_mount_at(mounts, (uint32_t)child->avoid));
}

/** Enter a directory, if possible.  @st  Only with FOLLOW.  @return the verdict. */
static enum bfs_verdict enter_dir(SEARCH *search, struct bfs_scratch *scratch,
                                  const struct bfs_at *at, const struct bfs_entry *entry,
                                  const struct node *from, struct node *child,
                                  const struct k_statx *st)
{
	int error = 0, source = SEARCH_ERR_OPEN;
	if (is_excluded(search, child))
		return BFS_SKIP;
	if (search->depth && (unsigned)at->depth + 1 > search->depth) {
		error = EOVERFLOW;
		source = SEARCH_ERR_LIMIT;
	} else if (search_mounts(search)
	           && search_dir_waits(scratch->os, scratch->fd, entry->name)) {
		error = EREMOTE;
	} else if (search->flags & SEARCH_FOLLOW) {
		error = search_descend(search, from, child, st);
	}
	if (error == 0 && !search_node_same(search, from, child)) {
		scratch->tag = search_node_number(search, child);
		error = scratch->tag == UINT32_MAX ? ENOMEM : 0;
	}
	if (error != 0 && error != EEXIST)
		search_put_error(scratch, entry, source, error);
	return error == 0 ? BFS_ENTER : BFS_SKIP;
}

/** Report objects whose attributes are not needed. */
static void put_plain(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                      const struct bfs_entry *entries, size_t n)
{
	size_t i = 0;
	if (search->more.count && !search->access) {
		scratch->output->batch_done.n += n;
		return;
	}
	lines_may_begin(search, scratch, at);
	while (i < n && lines_go_on(scratch) && !search->access && !search->more.line)
		i += put_lines(search, scratch, entries + i, n - i, true);
	for (; i < n; ++i)
		search_put_object(search, scratch, &entries[i], NULL, -1, 1);
}

/** What search_pass() does with an entry. */
enum pass { PASS_NO, PASS_YES, PASS_ASK /* more than its name must be known */ };

/** Match an entry that is not a directory by its name. */
static enum pass pass_one(SEARCH *search, const struct node *node, const struct bfs_entry *entry,
                          struct look *look, struct query_object *object)
{
	struct judgment judged;
	if (!search->everything
	    && !pattern_step(search->pattern, node->live, entry->name, entry->len, NULL))
		return PASS_NO;
	if (!search->judges)
		return search->query && !search->plain ? PASS_ASK : PASS_YES;
	look->name = object->name = entry->name;
	object->len = entry->len;
	look->link = object->type = entry->type;
	search_judge(search, look, object, &judged);
	if (judged.look || judged.error)
		return PASS_ASK;
	return !judged.object ? PASS_NO : search->plain || !search->query ? PASS_YES : PASS_ASK;
}

size_t search_pass(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                   const struct bfs_entry *entries, size_t n)
{
	SEARCH *search = arg;
	const struct node *node = search_node_at(search, at->tag);
	/* Some entries here must not be accessed: check each entry. */
	if (avoid_below(search->mounts.avoid, node->avoid)
	    || search_stopped(search))
		return 0;
	const unsigned plain = ~(1u << DT_DIR | 1u << DT_UNKNOWN);
	const unsigned wanted = plain & (search->more.types ? search->more.types : UINT_MAX);
	struct look look = {
		.search = search, .os = scratch->os, .scratch = scratch, .at = at,
		.fd = scratch->fd, .mount = node->mount, .avoid = AVOID_NONE,
		.depth = (unsigned)at->depth + 1,
	};
	struct query_object object = {.depth = look.depth, .facts = &look.facts};
	if (search->judges)
		search_look_init(&look);
	for (size_t i = 0;; ++i) {
		size_t from = i;
		enum pass pass = PASS_YES;
		for (; i < n && wanted >> entries[i].type & 1; ++i) {
			pass = pass_one(search, node, &entries[i], &look, &object);
			if (pass != PASS_YES)
				break;
		}
		if (from < i)
			put_plain(search, scratch, at, entries + from, i - from);
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
	if (search_stopped(search))
		return BFS_END_ALL;
	unsigned does = search->everything && !dir ? (unsigned)PATTERN_MATCH
	                : pattern_step(search->pattern, node->live, entry->name, entry->len,
	                               dir ? child->live : NULL);
	if (does == 0)
		return BFS_SKIP;
	/* The type of a symlink's target is not yet known. */
	bool object = does & PATTERN_MATCH
	              && (type_wanted(search, entry->type) || (follow && entry->type == DT_LNK));
	bool below = does & PATTERN_BELOW && dir;
	if (!object && !below)
		return BFS_SKIP;
	struct judgment judged = {.enter = true, .actions = 1};
	if (search->judges)
		child_init(search, node, entry, child);
	if (search->query && follow && dir) {
		judged.look = true;   /* it may be above itself */
	} else if (search->judges) {
		search_judge_entry(search, scratch, at, entry, entry->type, child, NULL, object,
		                   &judged);
		object = object && (judged.look || judged.object);
		below = below && (judged.look || judged.enter);
		if (!object && !below)
			return search_stopped(search) ? BFS_END_ALL : BFS_SKIP;
	}
	if (object)
		lines_may_begin(search, scratch, at);
	/* The most frequent case. */
	if (!dir && (search->flags & SEARCH_METADATA || judged.look)
	    && !avoid_below(search->mounts.avoid, node->avoid))
		return BFS_LOOK;
	if (!search->judges)
		child_init(search, node, entry, child);
	/* statx is needed for unknown types, and for directories with FOLLOW or XDEV checks. */
	bool unknown = entry->type == DT_UNKNOWN
	               || ((follow || search->xdev_looks) && below && entry->type == DT_DIR);
	bool type = search->access || search->more.type || search->more.types || follow;
	bool look = (object && search->flags & SEARCH_METADATA) || (unknown && (below || type))
	            || judged.look;
	bool blocked = search_mounts_blocked(&search->mounts, (uint32_t)child->avoid);
	bool touch = look || search->access || (below && !(search->os.caps & OSC_OPENAT2));
	if (blocked || (touch && is_beyond(node, scratch, entry))) {
		/* Only its name is known.  With XDEV it would not be entered in any case. */
		bool named = !judged.look
		             && (search->more.optional
		                 || !(search->flags & (SEARCH_METADATA | ACCESS_FLAGS)));
		below = below && !(search->flags & SEARCH_XDEV) && !is_excluded(search, child);
		if (object && named)
			search_put_object(search, scratch, entry, NULL, -1, judged.actions);
		bool deep = search->depth && (unsigned)at->depth + 1 > search->depth;
		if (blocked && below && search->delegates && deep)
			search_put_error(scratch, entry, SEARCH_ERR_LIMIT, EOVERFLOW);
		else if (blocked && below && search->delegates)
			put_record(scratch, &(struct record){
				.ino = child->avoid, .len = (uint32_t)entry->len, .error = EREMOTE,
				.source = MOUNT, .type = object && !named,
			}, NULL, NULL, entry->name, NULL);
		else if (below || (object && !named))
			search_put_error(scratch, entry,
			                 below ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT,
			                 blocked ? EREMOTE : EXDEV);
		return BFS_SKIP;
	}
	if (follow && entry->type == DT_LNK)
		return search_follow_entry(search, scratch, at, entry, node, child, does);
	if (look)
		return BFS_LOOK;
	if (object)
		search_put_object(search, scratch, entry, NULL, -1, judged.actions);
	if (!below || entry->type != DT_DIR)
		return BFS_SKIP;
	return enter_dir(search, scratch, at, entry, node, child, NULL);
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
	/* Entries left over from a paused directory did not pass search_entry() in this part. */
	lines_may_begin(search, scratch, at);
	/* Objects that cannot be entered get here only if they match. */
	bool leaf = entry->type != DT_DIR && entry->type != DT_UNKNOWN
	            && !(search->flags & SEARCH_FOLLOW);
	if (leaf && error == 0 && st->mask & K_STATX_TYPE && IFTODT(st->mode) == entry->type
	    && !search->judges) {
		search_put_object(search, scratch, entry, st, -1, 1);
		return BFS_SKIP;
	}
	unsigned does = pattern_step(search->pattern, node->live, entry->name, entry->len,
	                             child->live);
	child_init(search, node, entry, child);
	if (error == 0 && !(st->mask & K_STATX_TYPE))
		error = EACCES;
	/* The attributes were needed only for entering or coloring, so the name can be reported. */
	bool dir = entry->type == DT_DIR;
	bool named = dir && !(search->flags & (SEARCH_METADATA | SEARCH_FOLLOW));
	named |= search->more.optional && error != ENOENT;
	if (error != 0) {
		if (named && does & PATTERN_MATCH && !search->judges)
			search_put_object(search, scratch, entry, NULL, -1, 1);
		if (search->query && does & PATTERN_MATCH && error != ENOENT)
			search_put_lost(search, scratch, at, entry, child);
		if (!named || search->judges || entry->type == DT_UNKNOWN
		    || (dir && does & PATTERN_BELOW))
			search_put_error(scratch, entry,
			                 named && dir ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT, error);
		return BFS_SKIP;
	}
	struct bfs_entry known = *entry;
	known.type = (uint8_t)IFTODT(st->mode);
	if (search->flags & SEARCH_FOLLOW && known.type == DT_LNK)
		return search_follow_entry(search, scratch, at, entry, node, child, does);
	if (search->query && search_is_loop(search, node, st)) {
		search_put_error(scratch, entry, SEARCH_ERR_OPEN, ELOOP);
		return BFS_SKIP;
	}
	struct judgment judged = {.object = true, .enter = true, .actions = 1};
	if (search->judges)
		search_judge_entry(search, scratch, at, entry, known.type, child, st,
		                   does & PATTERN_MATCH, &judged);
	if (does & PATTERN_MATCH && judged.object)
		search_put_object(search, scratch, &known, st, -1, judged.actions);
	if (search_stopped(search))
		return BFS_END_ALL;
	if (!(does & PATTERN_BELOW) || known.type != DT_DIR || !judged.enter
	    || (search->xdev_looks && search_elsewhere(search, st)))
		return BFS_SKIP;
	return enter_dir(search, scratch, at, entry, node, child, st);
}
