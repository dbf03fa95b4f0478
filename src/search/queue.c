/* SPDX-License-Identifier: MIT */
/*
 * In the owner's thread: put records from the reading threads into the queue, sorted if requested;
 * enter or refuse mounts below the searched mount.
 */
#include "search/search_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>

uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique)
{
	SEARCH *search = arg;
	*unique = search->mounts.unique;
	return search->os.caps & OSC_STATX_MNT_ID ? search_node_at(search, tag)->mount : 0;
}

/** Find the mount of a node; NULL: unknown. */
static const struct search_mount *mount_of(const SEARCH *search, uint32_t tag)
{
	return search_mount_find(&search->mounts, search_node_at(search, tag)->mount);
}

bool search_last_pos(void *arg, uint32_t tag)
{
	const SEARCH *search = arg;
	const struct search_mount *m = mount_of(search, tag);
	return !search->mounts.any && search->os.caps & OSC_STATX_MNT_ID
	       && m && m->flags & MOUNT_LAST_POS;
}

struct bfs_fs *search_fs(void *arg, uint32_t tag)
{
	const SEARCH *search = arg;
	const struct search_mount *m = mount_of(search, tag);
	const unsigned bulk_types = 1u << DT_REG | 1u << DT_LNK;
	if (search->want.types && !(search->want.types & bulk_types))
		return NULL;
	return m && m->fs ? search->mounts.fs[m->fs - 1] : NULL;
}

bool search_wanted(void *arg, uint32_t tag)
{
	(void)tag;
	return !search_stopped(arg);
}

void search_queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size)
{
	struct part part = {.records = (uint32_t)size};
	size_t head = search->parts.text.len;
	if (size > UINT32_MAX) {
		search->failed = true;
		return;
	}
	strbuf_add(&search->parts.text, (const char *)&part, sizeof(part));
	bfs_path(at, &search->parts.text);
	if (search->parts.text.failed)
		return;
	part.path = (uint32_t)(search->parts.text.len - head - sizeof(part));
	memcpy(search->parts.text.data + head, &part, sizeof(part));
	strbuf_add(&search->parts.text, out, size);
}

/** A record to sort, and its sort keys. */
struct sort_key {
	const char *record;
	size_t size;
	const char *name;
	size_t len;
	uint64_t ino;
};

static int by_place(const struct sort_key *a, const struct sort_key *b)
{
	return a->record < b->record ? -1 : a->record > b->record;
}

static int by_name(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	int order = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);
	if (order == 0 && a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return order ? order : by_place(a, b);
}

static int by_inode(const void *left, const void *right)
{
	const struct sort_key *a = left, *b = right;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : by_place(a, b);
}

/** Sort the records of a directory by name or inode, and queue them. */
static void queue_sorted(SEARCH *search, const struct bfs_at *at, const char *out, size_t size)
{
	struct sort_key *places = malloc((size / sizeof(struct record) + 1) * sizeof(*places));
	struct strbuf sorted = {0};
	size_t n = 0;
	for (size_t from = 0; places && from < size; ++n) {
		struct record record;
		memcpy(&record, out + from, sizeof(record));
		bool acts = search->want.query && record.source == 0;
		const char *name = out + from + sizeof(record)
		                   + (record.meta ? sizeof(struct k_statx) : 0)
		                   + (acts ? sizeof(uint64_t) : 0);
		places[n] = (struct sort_key){
			.record = out + from,
			.size = (size_t)(name + record.len + record.target - (out + from)),
			.name = record.source == LINK ? name + sizeof(struct link) : name,
			.len = record.source == LINK ? record.len - sizeof(struct link)
			       : record.len,
			.ino = record.ino,
		};
		from += places[n].size;
	}
	if (n > 0)
		qsort(places, n, sizeof(*places),
		      search->flags & SEARCH_BYNAME ? by_name : by_inode);
	for (size_t i = 0; i < n; ++i)
		strbuf_add(&sorted, places[i].record, places[i].size);
	search->failed |= !places || sorted.failed;
	if (!search->failed)
		search_queue_part(search, at, sorted.data, sorted.len);
	free(places);
	strbuf_destroy(&sorted);
}

void search_batch_done(void *arg, struct bfs_output *output)
{
	SEARCH *search = arg;
	if (output->batch_done.n == 0)
		return;
	search->counts.found += output->batch_done.n;
	search->more.lines(search->more.arg, &output->batch_done.text, output->batch_done.n);
}

void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size)
{
	SEARCH *search = arg;
	if (search->flags & ORDER_FLAGS)
		queue_sorted(search, at, out, size);
	else
		search_queue_part(search, at, out, size);
}

void search_queue_error(SEARCH *search, const struct bfs_at *at, int source, int error)
{
	struct record record = {.error = error, .source = (uint8_t)source};
	search_queue_part(search, at, (const char *)&record, sizeof(record));
}

int search_read_mounts(SEARCH *search, uint64_t id, struct search_mounts *now)
{
	struct os os;
	os_clone_state(&os, &search->os);
	int rc = search->mounts.read(&os, id, now);
	os_join(&search->looked, &os);
	if (rc == 0)
		now->exclude_types = search->mounts.exclude_types;
	return rc;
}

/**
 * Check whether a mount that search->mounts does not contain may be entered.
 *
 * The mount may be newer than the search: the mounts are read again.  With N mounts, they are read
 * at most once per N + 1 directories, so that this costs no more than reading the directories.
 *
 * @return 0: the mount may be entered; or an error number.
 */
static int refuse_later(SEARCH *search, uint64_t id)
{
	uint64_t dirs = search->counts.dirs + (search->bfs ? bfs_stats(search->bfs)->dirs : 0);
	struct search_mounts *later = &search->reread.later;
	int error = later->avoid ? search_mounts_refuse(later, &search->os, id) : EXDEV;
	if (error == EXDEV && search->mounts.read && dirs >= search->reread.look_at) {
		search_mounts_destroy(later);
		if (search_read_mounts(search, 0, later) != 0)
			return ENOMEM;
		search->reread.look_at = dirs + later->n + 1;
		error = EXDEV;
		if (later->unique == search->mounts.unique)
			error = search_mounts_refuse(later, &search->os, id);
	}
	return error;
}

/** Let a mount that may be entered be searched by its server.
    @at, id  Mount point and ID of the mount.
    @return whether the server searches the mount. */
static bool delegate_mount(SEARCH *search, const struct bfs_at *at, uint64_t id)
{
	struct strbuf name = {0};
	strbuf_add(&name, search->root.name, search->root.len);
	strbuf_puts(&name, strbuf_str(&search->root.via));
	bfs_path(at, &name);
	search->failed |= name.failed;
	bool asked = !name.failed
	             && search_delegate(search, search_mount_find(&search->mounts, id), "",
	                                strbuf_str(&name), MOUNT_BELOW);
	strbuf_destroy(&name);
	return asked;
}

void search_enter_mount(SEARCH *search, const struct bfs_at *at, uint64_t id,
                        struct bfs_enter *into)
{
	union new_node new;
	memcpy(&new, search_node_at(search, at->tag), search_node_words(search) * sizeof(uint64_t));
	const struct search_mount *m =
		id ? NULL : search_mount_at(&search->mounts, (uint32_t)new.node.avoid);
	/* Without mount IDs, find the mount by its mount point. */
	id = m ? m->id : id;
	int error = search_mounts_refuse(&search->mounts, &search->os, id);
	if (error == EXDEV)
		error = refuse_later(search, id);
	m = search_mount_find(&search->mounts, id);
	if (!m && search->reread.later.avoid)
		m = search_mount_find(&search->reread.later, id);
	if (search_mount_excluded(&search->mounts, m))
		return;
	if (error != 0) {
		search_queue_error(search, at, SEARCH_ERR_OPEN, error);
		return;
	}
	if (search->remotes.delegates && delegate_mount(search, at, id))
		return;
	new.node.mount = id;
	new.node.avoid = search_mounts_root(&search->mounts, id);
	uint32_t tag = search_node_number(search, &new.node);
	if (tag == UINT32_MAX)
		search->failed = true;
	else
		*into = (struct bfs_enter){true, tag, BFS_NORMAL};
}

/** Trigger the automount of a directory, if the search may block.  Only an automount by the file
    system of the directory is triggered, as of NFS where an export contains several file systems;
    an autofs is not triggered.
    @st  Attributes of the directory; [out] of the root of the new mount.
    @return false: the search may not block. */
static bool mount_now(SEARCH *search, const struct bfs_at *at, int flags, struct k_statx *st)
{
	struct k_statx in;
	struct statfs fs;
	struct os *os = &search->os;
	if (search->mounts.any
	    && os_statx(os, at->parentfd, "", flags | AT_EMPTY_PATH, 0, &in) == 0
	    && in.dev_major == st->dev_major && in.dev_minor == st->dev_minor
	    && os_fstatfs(os, at->parentfd, &fs) == 0 && fs.f_type != AUTOFS_SUPER_MAGIC) {
		int fd = os_openat(os, at->parentfd, at->dir, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		if (fd >= 0)
			os_statx(os, at->parentfd, at->dir, flags, search_id_mask(search), st);
		os_close(os, fd);
	}
	return search->mounts.any;
}

/** Enter the mount on a directory, if the mount is known not to block. */
static void enter_mount(SEARCH *search, const struct bfs_at *at, struct bfs_enter *into)
{
	struct k_statx st;
	if (search->flags & SEARCH_XDEV)
		return;
	/* If nothing is known about the mounts in this tree, even a statx of the mount's root can
	   block. */
	if (search_node_at(search, at->tag)->avoid == AVOID_UNKNOWN
	    && !search_mount_find(&search->mounts, search->root.mount)) {
		search_queue_error(search, at, SEARCH_ERR_OPEN, EXDEV);
		return;
	}
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (at->parentfd < 0
	    || os_statx(&search->os, at->parentfd, at->dir, flags, search_id_mask(search),
	                &st) != 0)
		search_queue_error(search, at, SEARCH_ERR_OPEN, errno);
	else if (st.attributes & K_STATX_ATTR_AUTOMOUNT && !mount_now(search, at, flags, &st))
		search_queue_error(search, at, SEARCH_ERR_OPEN, EREMOTE);
	else
		search_enter_mount(search, at, os_statx_mnt_id(&st, search->mounts.unique), into);
}

enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                             struct bfs_enter *into)
{
	SEARCH *search = arg;
	search->counts.entries += entries;
	if (search->where.wanted) {
		search->where.wanted = false;
		strbuf_reset(&search->where.text);
		strbuf_add(&search->where.text, search->root.name, search->root.len);
		strbuf_puts(&search->where.text, strbuf_str(&search->root.via));
		bfs_path(at, &search->where.text);
	}
	bool root = at->parentfd == search->root.fd && strcmp(at->dir, ".") == 0;
	if (error == EACCES && !at->opened && root) {
		int fd = search_root_open(search);
		*into = (struct bfs_enter){fd >= 0, at->tag, BFS_NORMAL, fd >= 0, fd};
		error = fd >= 0 ? 0 : error;
	}
	if (error == EXDEV)
		enter_mount(search, at, into);
	else if (error != 0)
		search_queue_error(search, at, at->opened ? SEARCH_ERR_READ : SEARCH_ERR_OPEN,
		                   error);
	return search_stopped(search) ? BFS_END_ALL : BFS_SKIP;
}
