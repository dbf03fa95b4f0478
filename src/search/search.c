/* SPDX-License-Identifier: MIT */
/*
 * The search: a pattern, carried down the directories.
 *
 *     roots, one after the other --> bfs --+--> entry(), meta(): records, put out
 *                                          |    by whichever thread reads
 *          readsearch() <-- queue <-- deliver(): the path of their directory
 *
 * Each directory has a node: how far the pattern has come there, which places
 * below must not be touched, and its mount.  Directories for which these are
 * the same share it, so that there are few: one, for a pattern like "*.c".
 * The node is the tag that bfs carries.  Workers read nodes without a lock:
 * they are never moved, and one is made before any directory has its number.
 *
 * Nothing is kept but what one turn of bfs brings: a directory of a million
 * entries comes in parts, unless it is to be put in order.
 *
 * Links are followed where they are met, by the thread that reads.  One that
 * leads to a directory is a record too: when the tree of the root was read,
 * what is behind each is searched as a further root, whose paths begin with
 * that of the link.  Then every directory has a node of its own, which knows
 * its number among those seen, and by that all that are above it.
 */
#include "search/search.h"

#include "base/strbuf.h"
#include "bfs.h"
#include "search/pattern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum {
	CHUNK = 1024,             /* nodes made at a time */
	CHUNKS = 32768,
	PART = 256 * 1024,        /* bytes of records that a directory is read in */
	META_BATCH = 256,
	MAX_FDS = 8192,
	ALL_FLAGS = SEARCH_STOPATFIRST | SEARCH_METADATA | SEARCH_INCLUDEROOT | SEARCH_PERIOD
	            | SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK | SEARCH_PAPER_Q | SEARCH_XDEV
	            | SEARCH_CACHED | SEARCH_FOLLOW | SEARCH_BYNAME | SEARCH_BYINODE,
	ACCESS_FLAGS = SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK,
	ORDER_FLAGS = SEARCH_BYNAME | SEARCH_BYINODE,
	LINK = 255,               /* source of a record: a struct link */
};

/** What is the same for all entries of a directory. */
struct node {
	uint32_t avoid;           /* AVOID_NONE, or a place in the tree */
	uint32_t mount;           /* index of its mount */
	uint64_t self;            /* with FOLLOW: its number among those seen */
	uint64_t state[];         /* of the pattern: search->words */
};

/** A node that is being made: room for any pattern. */
union new_node {
	struct node node;
	uint64_t words[2 + PATTERN_MAX / 2 / 64 + 1];
};

/** An object or error as it is put out; then the attributes, if they are
    there, and the name. */
struct record {
	uint64_t ino;             /* as its directory has it */
	uint32_t len;             /* of the name */
	int32_t error;
	uint8_t source;           /* SEARCH_ERR_OPEN ..., 0 */
	uint8_t type;             /* DT_* */
	bool meta;
	uint16_t target;          /* length of where a link leads, behind the name */
};

/** In the place of a name: a link to a directory; then its name, a NUL, and the
    path that it leads to. */
struct link {
	uint32_t tag;             /* a node: the state there, and who leads there */
	int32_t depth;
};

/** A link whose directory is to be searched. */
struct behind {
	struct behind *next;
	struct link link;
	const char *via;          /* its path below the root */
	char target[];
};

/** A part of a directory in the queue; then its path, and the records. */
struct part {
	uint32_t path;            /* length */
	uint32_t records;         /* bytes */
};

struct SEARCH {
	struct os os;
	struct pattern *pattern;
	size_t words;             /* of a state */
	struct search_mounts mounts;
	bool mounts_known;
	bool unique;              /* mount IDs are 64-bit ones */
	int flags;
	unsigned threads, depth;
	int access;               /* R_OK | ... */
	struct search_more more;

	char **roots;
	size_t nroots, root;      /* the one being searched, plus one */
	const char *root_name;
	uint64_t root_mount;      /* its mount ID */
	int rootfd;
	struct strbuf place;      /* its path from "/", through no link; "" if not known */
	struct strbuf via;        /* the link that was followed to it, below the root */
	struct behind *behind, **behind_end;
	struct bfs *bfs;          /* NULL between roots */
	struct bfs_policy policy;

	pthread_mutex_t lock;     /* of the next four, for adding */
	struct seen seen;
	uint32_t nnodes;
	struct map64 by_hash;     /* hash of a node -> the first of that hash */
	uint64_t *_Atomic chunks[CHUNKS];
	uint64_t *mount_ids;
	uint32_t nmounts;

	struct strbuf queue;
	size_t at;                /* the next part, or record */
	const char *part_path;    /* of the part being given out */
	size_t part_len, part_end;

	struct strbuf path;       /* of the entry given out */
	size_t path_base;         /* of it: the directory */
	struct searchent entry;
	struct stat info;
	struct k_statx st;
	bool has_st;
	unsigned char type;
	struct strbuf target;     /* of the last object */
	struct strbuf where;      /* a directory that was read */
	bool where_wanted;
	struct search_counts counts;
	atomic_bool cancelled;
	bool ended, failed;
};

/** The mounts that may be touched; NULL: all. */
static const struct search_mounts *search_mounts(const SEARCH *search)
{
	return search->mounts_known ? &search->mounts : NULL;
}

/** A mask for a mount ID, in the space of those that are known. */
static unsigned id_mask(const SEARCH *search)
{
	return search->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

/* Nodes. */

/** The words of a node. */
static size_t node_words(const SEARCH *search)
{
	return sizeof(struct node) / sizeof(uint64_t) + search->words;
}

static struct node *node_at(const SEARCH *search, uint32_t tag)
{
	uint64_t *chunk = atomic_load_explicit(&search->chunks[tag / CHUNK], memory_order_acquire);
	return (struct node *)(void *)(chunk + tag % CHUNK * node_words(search));
}

static bool node_same(const SEARCH *search, const struct node *a, const struct node *b)
{
	return memcmp(a, b, node_words(search) * sizeof(uint64_t)) == 0;
}

/** The number of a node, made if there is none like it.  @return it, or
    UINT32_MAX: no memory. */
static uint32_t node_number(SEARCH *search, const struct node *node)
{
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)node, node_words(search) * sizeof(uint64_t)) | 1;
	uint32_t number = UINT32_MAX;
	pthread_mutex_lock(&search->lock);
	/* Another hash is tried for one that is taken by something else. */
	for (;; hash += 2) {
		uint32_t old = map64_get(&search->by_hash, hash);
		if (old == MAP64_NONE) {
			break;
		} else if (node_same(search, node_at(search, old), node)) {
			number = old;
			goto out;
		}
	}
	uint32_t chunk = search->nnodes / CHUNK;
	if (chunk == CHUNKS)
		goto out;
	if (!atomic_load_explicit(&search->chunks[chunk], memory_order_relaxed)) {
		uint64_t *nodes = malloc(CHUNK * node_words(search) * sizeof(*nodes));
		if (!nodes)
			goto out;
		atomic_store_explicit(&search->chunks[chunk], nodes, memory_order_release);
	}
	if (map64_put(&search->by_hash, hash, search->nnodes) != search->nnodes)
		goto out;
	number = search->nnodes++;
	memcpy(node_at(search, number), node, node_words(search) * sizeof(uint64_t));
out:
	pthread_mutex_unlock(&search->lock);
	return number;
}

/* What workers do. */

/** Put out a record.  @target may be NULL. */
static void put(struct bfs_scratch *scratch, const struct record *record, const struct k_statx *st,
                const char *name, const char *target)
{
	strbuf_add(&scratch->out, (const char *)record, sizeof(*record));
	if (record->meta)
		strbuf_add(&scratch->out, (const char *)st, sizeof(*st));
	strbuf_add(&scratch->out, name, record->len);
	if (record->target)
		strbuf_add(&scratch->out, target, record->target);
}

static void put_error(struct bfs_scratch *scratch, const char *name, size_t len, int source, int error)
{
	put(scratch, &(struct record){
		.len = (uint32_t)len, .error = error, .source = (uint8_t)source,
	}, NULL, name, NULL);
}

/** Whether objects of a type are wanted; of one not known, not yet. */
static bool type_wanted(const SEARCH *search, uint8_t type)
{
	return !search->more.types || type == DT_UNKNOWN || search->more.types & 1u << type;
}

/** Put out an object, if it is of a type that is wanted, and may be used as was
    asked for.
    @fd, name  What access is asked of. */
static void put_object(const SEARCH *search, struct bfs_scratch *scratch,
                       const struct bulk_entry *entry, size_t len, const struct k_statx *st,
                       int fd, const char *name)
{
	if (!type_wanted(search, entry->type))
		return;
	if (search->access && entry->type != DT_LNK
	    && os_access(scratch->os, fd, name, search->access) != 0) {
		if (errno != EACCES && errno != EROFS && errno != EPERM && errno != ENOENT && errno != ETXTBSY)
			put_error(scratch, entry->name, len, SEARCH_ERR_ACCESS, errno);
		return;
	}
	char target[PATH_MAX];
	ssize_t n = search->more.links && entry->type == DT_LNK
	            ? os_readlinkat(scratch->os, scratch->fd, entry->name, target, sizeof(target)) : 0;
	put(scratch, &(struct record){
		.ino = entry->ino, .len = (uint32_t)len, .type = entry->type, .meta = st != NULL,
		.target = n > 0 ? (uint16_t)n : 0,
	}, st, entry->name, target);
}

/** The state of a node as one word: with more, a hash of them. */
static uint64_t node_state(const SEARCH *search, const struct node *node)
{
	return search->words == 1 ? node->state[0]
	       : map64_bytes(MAP64_BYTES, (const char *)node->state, search->words * sizeof(*node->state));
}

/**
 * With FOLLOW: see that a directory is entered once, and never for ever.
 *
 * @child [out]
 *         Gets its number.
 * @return 0, or an error number.
 * Errors: EEXIST: it was entered.  ELOOP: it is above itself.  EREMOTE: to
 *         open it would mount something.  ENOMEM.
 */
static int enter_once(SEARCH *search, const struct node *from, struct node *child,
                      const struct k_statx *st)
{
	if (st->attributes & K_STATX_ATTR_AUTOMOUNT)
		return EREMOTE;
	struct seen_dir dir = {
		.mount = os_statx_mnt_id(st, search->unique),
		.dev = makedev(st->dev_major, st->dev_minor),
		.ino = st->ino,
		.state = node_state(search, child),
		.parent = (uint32_t)from->self,
	};
	bool fresh = false;
	pthread_mutex_lock(&search->lock);
	bool above = seen_above(&search->seen, dir.parent, &dir);
	if (!above)
		child->self = seen_add(&search->seen, &dir, &fresh);
	pthread_mutex_unlock(&search->lock);
	if (above)
		return ELOOP;
	if (child->self == SEEN_NONE)
		return ENOMEM;
	return fresh ? 0 : EEXIST;
}

/** Have a directory entered.  @st  With FOLLOW.  @return the verdict. */
static enum bfs_verdict enter(SEARCH *search, struct bfs_scratch *scratch, const struct bfs_at *at,
                              const char *name, size_t len, const struct node *from,
                              struct node *child, const struct k_statx *st)
{
	if (search->depth && (unsigned)at->depth + 1 > search->depth) {
		put_error(scratch, name, len, SEARCH_ERR_LIMIT, EOVERFLOW);
		return BFS_SKIP;
	}
	if (search->flags & SEARCH_FOLLOW) {
		int error = enter_once(search, from, child, st);
		if (error != 0) {
			if (error != EEXIST)
				put_error(scratch, name, len, SEARCH_ERR_OPEN, error);
			return BFS_SKIP;
		}
	}
	if (!node_same(search, from, child)) {
		uint32_t number = node_number(search, child);
		if (number == UINT32_MAX) {
			put_error(scratch, name, len, SEARCH_ERR_OPEN, ENOMEM);
			return BFS_SKIP;
		}
		scratch->tag = number;
	}
	return BFS_ENTER;
}

/** The path from "/" of a directory being read; "" if it is not known. */
static void place_of(const SEARCH *search, const struct bfs_at *at, struct strbuf *place)
{
	strbuf_init(place);
	if (search->place.len == 0)
		return;
	struct bfs_at dir = *at;
	dir.name = "";
	strbuf_add(place, search->place.data, search->place.len);
	bfs_path(&dir, place);
	/* "/" and "/", or an end that is one. */
	while (place->len > 1 && place->data[place->len - 1] == '/')
		place->data[--place->len] = '\0';
}

/** Leave a directory behind a link to be searched. */
static void put_link(SEARCH *search, struct bfs_scratch *scratch, const char *name, size_t len,
                     int depth, const struct node *child, const struct strbuf *target)
{
	struct link link = {.tag = node_number(search, child), .depth = depth};
	if (link.tag == UINT32_MAX || target->len == 0) {
		put_error(scratch, name, len, SEARCH_ERR_OPEN, target->len == 0 ? ENOTSUP : ENOMEM);
		return;
	}
	struct record record = {
		.len = (uint32_t)(sizeof(link) + len + 1 + target->len), .source = LINK,
	};
	strbuf_add(&scratch->out, (const char *)&record, sizeof(record));
	strbuf_add(&scratch->out, (const char *)&link, sizeof(link));
	strbuf_add(&scratch->out, name, len + 1);
	strbuf_add(&scratch->out, target->data, target->len);
}

/**
 * Follow a link.
 *
 * @place   The path of the directory that it is in; used up.
 * @depth   Of what is behind it.
 * @from, child  The nodes of the directory, and of what is behind the link; NULL
 *          for what is looked up by its name, and need not be there.
 * @does    enum pattern_verdict.
 */
static void follow_link(SEARCH *search, struct bfs_scratch *scratch, struct strbuf *place, int depth,
                        const struct bulk_entry *entry, const struct node *from, struct node *child,
                        unsigned does)
{
	struct os *os = scratch->os;
	size_t len = strlen(entry->name);
	struct bulk_entry known = *entry;
	struct k_statx st = {0};
	unsigned mask = search->policy.statx_mask;
	int flags = AT_NO_AUTOMOUNT | search->policy.statx_flags;
	int fd = follow_path(os, search_mounts(search), scratch->fd, place, entry->name);
	int rc = fd < 0 ? -1 : os_statx(os, fd, "", flags | AT_EMPTY_PATH, mask, &st);
	int error = rc == 0 ? 0 : errno;
	bool dangling = error == ENOENT || error == ENOTDIR || error == ELOOP;
	/* What leads nowhere is a link; so is what leads to itself, which is told. */
	if (error == ELOOP)
		put_error(scratch, entry->name, len, SEARCH_ERR_OPEN, error);
	if (dangling && does & PATTERN_MATCH)
		error = os_statx(os, scratch->fd, entry->name, flags | AT_SYMLINK_NOFOLLOW, mask, &st) == 0 ? 0 : errno;
	else if (dangling)
		goto out;
	if (!from && (error == ENOENT || error == ENOTDIR))
		goto out;
	if (error != 0) {
		put_error(scratch, entry->name, len, error == EREMOTE ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT, error);
		goto out;
	}
	known.type = (uint8_t)IFTODT(st.mode);
	if (does & PATTERN_MATCH)
		put_object(search, scratch, &known, len, search->flags & SEARCH_METADATA ? &st : NULL, fd, "");
	if (!(does & PATTERN_BELOW) || known.type != DT_DIR || dangling)
		goto out;
	if (search->flags & SEARCH_XDEV && os_statx_mnt_id(&st, search->unique) != search->root_mount)
		goto out;
	if (search->depth && (unsigned)depth > search->depth) {
		put_error(scratch, entry->name, len, SEARCH_ERR_LIMIT, EOVERFLOW);
	} else {
		child->self = from->self;
		put_link(search, scratch, entry->name, len, depth, child, place);
	}
out:
	os_close(os, fd);
}

/** With FOLLOW: a link in a directory that is being read. */
static enum bfs_verdict follow_entry(SEARCH *search, struct bfs_scratch *scratch,
                                     const struct bfs_at *at, const struct bulk_entry *entry,
                                     const struct node *node, struct node *child, unsigned does)
{
	struct strbuf place;
	place_of(search, at, &place);
	if (place.failed)
		put_error(scratch, entry->name, strlen(entry->name), SEARCH_ERR_OPEN, ENOMEM);
	else
		follow_link(search, scratch, &place, at->depth + 1, entry, node, child, does);
	strbuf_destroy(&place);
	return BFS_SKIP;
}

static enum bfs_verdict search_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                     const struct bulk_entry *entry)
{
	SEARCH *search = arg;
	const struct node *node = node_at(search, at->tag);
	size_t len = strlen(entry->name);
	union new_node new;
	struct node *child = &new.node;
	bool follow = search->flags & SEARCH_FOLLOW;
	bool dir = entry->type == DT_DIR || entry->type == DT_UNKNOWN || (follow && entry->type == DT_LNK);
	if (atomic_load_explicit(&search->cancelled, memory_order_relaxed))
		return BFS_END_ALL;
	unsigned does = pattern_step(search->pattern, node->state, entry->name, len, dir ? child->state : NULL);
	if (does == 0)
		return BFS_SKIP;
	/* What a link that is followed leads to is not known yet. */
	bool object = does & PATTERN_MATCH
	              && (type_wanted(search, entry->type) || (follow && entry->type == DT_LNK));
	bool below = does & PATTERN_BELOW && dir;
	if (!object && !below)
		return BFS_SKIP;
	child->mount = node->mount;
	child->self = node->self;
	child->avoid = avoid_step(search->mounts.avoid, node->avoid, entry->name, len);
	if (avoid_here(search->mounts.avoid, child->avoid)) {
		/* Its name is known; nothing else can be asked. */
		if (object && !(search->flags & (SEARCH_METADATA | ACCESS_FLAGS)))
			put_object(search, scratch, entry, len, NULL, scratch->fd, entry->name);
		else if (object)
			put_error(scratch, entry->name, len, SEARCH_ERR_STAT, EREMOTE);
		if (below)
			put_error(scratch, entry->name, len, SEARCH_ERR_OPEN, EREMOTE);
		return BFS_SKIP;
	}
	if (follow && entry->type == DT_LNK)
		return follow_entry(search, scratch, at, entry, node, child, does);
	/* Of an entry that may have to be followed or seen, more must be known. */
	bool unknown = entry->type == DT_UNKNOWN || (follow && below && entry->type == DT_DIR);
	bool type = search->access || search->more.type || search->more.types || follow;
	if ((object && search->flags & SEARCH_METADATA) || (unknown && (below || type)))
		return BFS_LOOK;
	if (object)
		put_object(search, scratch, entry, len, NULL, scratch->fd, entry->name);
	return below && entry->type == DT_DIR ? enter(search, scratch, at, entry->name, len, node, child, NULL)
	                                      : BFS_SKIP;
}

static enum bfs_verdict search_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                    const struct bulk_entry *entry, const struct k_statx *st, int error)
{
	SEARCH *search = arg;
	const struct node *node = node_at(search, at->tag);
	size_t len = strlen(entry->name);
	union new_node new;
	struct node *child = &new.node;
	unsigned does = pattern_step(search->pattern, node->state, entry->name, len, child->state);
	child->mount = node->mount;
	child->self = node->self;
	child->avoid = avoid_step(search->mounts.avoid, node->avoid, entry->name, len);
	if (error == 0 && !(st->mask & K_STATX_TYPE))
		error = EACCES;
	if (error != 0) {
		put_error(scratch, entry->name, len, SEARCH_ERR_STAT, error);
		return BFS_SKIP;
	}
	struct bulk_entry known = *entry;
	known.type = (uint8_t)IFTODT(st->mode);
	if (search->flags & SEARCH_FOLLOW && known.type == DT_LNK)
		return follow_entry(search, scratch, at, entry, node, child, does);
	if (does & PATTERN_MATCH)
		put_object(search, scratch, &known, len, search->flags & SEARCH_METADATA ? st : NULL,
		           scratch->fd, entry->name);
	return does & PATTERN_BELOW && known.type == DT_DIR
	       ? enter(search, scratch, at, entry->name, len, node, child, st) : BFS_SKIP;
}

/* What the owner does. */

static uint64_t search_mnt_id(void *arg, uint32_t tag, bool *unique)
{
	SEARCH *search = arg;
	*unique = search->unique;
	return search->mount_ids[node_at(search, tag)->mount];
}

static bool search_wanted(void *arg, uint32_t tag)
{
	(void)tag;
	return !atomic_load_explicit(&((SEARCH *)arg)->cancelled, memory_order_relaxed);
}

static enum bfs_verdict search_judge(void *arg, const struct bfs_at *at, const struct k_statx *st,
                                     struct bfs_enter *enter_it)
{
	(void)arg, (void)at, (void)st, (void)enter_it;   /* no verdict asks for it */
	return BFS_SKIP;
}

/** Add a part to the queue. */
static void queue_part(SEARCH *search, const struct bfs_at *at, const char *out, size_t size)
{
	struct part part = {.records = (uint32_t)size};
	size_t head = search->queue.len;
	strbuf_add(&search->queue, (const char *)&part, sizeof(part));
	bfs_path(at, &search->queue);
	if (search->queue.failed)
		return;
	part.path = (uint32_t)(search->queue.len - head - sizeof(part));
	memcpy(search->queue.data + head, &part, sizeof(part));
	strbuf_add(&search->queue, out, size);
}

/** A record among those of its directory. */
struct place_in_order {
	const char *record;
	size_t size;
	const char *name;
	size_t len;
	uint64_t ino;
};

static int by_place(const struct place_in_order *a, const struct place_in_order *b)
{
	return a->record < b->record ? -1 : a->record > b->record;
}

static int by_name(const void *left, const void *right)
{
	const struct place_in_order *a = left, *b = right;
	int order = memcmp(a->name, b->name, a->len < b->len ? a->len : b->len);
	if (order == 0 && a->len != b->len)
		return a->len < b->len ? -1 : 1;
	return order ? order : by_place(a, b);
}

static int by_inode(const void *left, const void *right)
{
	const struct place_in_order *a = left, *b = right;
	return a->ino != b->ino ? (a->ino < b->ino ? -1 : 1) : by_place(a, b);
}

/** Put the records of a directory in order. */
static void queue_sorted(SEARCH *search, const struct bfs_at *at, const char *out, size_t size)
{
	struct place_in_order *places = malloc((size / sizeof(struct record) + 1) * sizeof(*places));
	struct strbuf sorted;
	size_t n = 0;
	strbuf_init(&sorted);
	for (size_t from = 0; places && from < size; ++n) {
		struct record record;
		memcpy(&record, out + from, sizeof(record));
		const char *name = out + from + sizeof(record) + (record.meta ? sizeof(struct k_statx) : 0);
		places[n] = (struct place_in_order){
			.record = out + from,
			.size = (size_t)(name + record.len + record.target - (out + from)),
			.name = record.source == LINK ? name + sizeof(struct link) : name,
			.len = record.source == LINK ? record.len - sizeof(struct link) : record.len,
			.ino = record.ino,
		};
		from += places[n].size;
	}
	if (n > 0)
		qsort(places, n, sizeof(*places), search->flags & SEARCH_BYNAME ? by_name : by_inode);
	for (size_t i = 0; i < n; ++i)
		strbuf_add(&sorted, places[i].record, places[i].size);
	search->failed |= !places || sorted.failed;
	if (!search->failed)
		queue_part(search, at, sorted.data, sorted.len);
	free(places);
	strbuf_destroy(&sorted);
}

static void search_deliver(void *arg, const struct bfs_at *at, const char *out, size_t size)
{
	SEARCH *search = arg;
	if (search->flags & ORDER_FLAGS)
		queue_sorted(search, at, out, size);
	else
		queue_part(search, at, out, size);
}

/** Queue an error of a directory: its path is that of the part. */
static void queue_error(SEARCH *search, const struct bfs_at *at, int source, int error)
{
	struct record record = {.error = error, .source = (uint8_t)source};
	queue_part(search, at, (const char *)&record, sizeof(record));
}

/** The index of a mount.  @return it, or UINT32_MAX: no memory. */
static uint32_t mount_number(SEARCH *search, uint64_t id)
{
	uint32_t i = 0;
	while (i < search->nmounts && search->mount_ids[i] != id)
		++i;
	if (i < search->nmounts)
		return i;
	uint64_t *bigger = realloc(search->mount_ids, (i + 1) * sizeof(*bigger));
	if (!bigger)
		return UINT32_MAX;
	search->mount_ids = bigger;
	search->mount_ids[search->nmounts++] = id;
	return i;
}

/** Another mount begins at a directory: enter it, if it is known not to block. */
static void cross(SEARCH *search, const struct bfs_at *at, struct bfs_enter *into)
{
	struct k_statx st;
	if (search->flags & SEARCH_XDEV)
		return;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (at->parentfd < 0 || os_statx(&search->os, at->parentfd, at->dir, flags, id_mask(search), &st) != 0) {
		queue_error(search, at, SEARCH_ERR_OPEN, errno);
		return;
	}
	uint64_t id = os_statx_mnt_id(&st, search->unique);
	/* Without mount IDs the places alone must do. */
	if (search->mounts_known && !search_mounts_know(&search->mounts, &search->os, id)) {
		queue_error(search, at, SEARCH_ERR_OPEN, EREMOTE);
		return;
	}
	union new_node new;
	memcpy(&new, node_at(search, at->tag), node_words(search) * sizeof(uint64_t));
	new.node.mount = mount_number(search, id);
	uint32_t tag = new.node.mount == UINT32_MAX ? UINT32_MAX : node_number(search, &new.node);
	if (tag == UINT32_MAX)
		search->failed = true;
	else
		*into = (struct bfs_enter){true, tag, BFS_NORMAL};
}

static enum bfs_verdict search_done(void *arg, const struct bfs_at *at, uint32_t entries, int error,
                                    struct bfs_enter *into)
{
	SEARCH *search = arg;
	search->counts.entries += entries;
	if (search->where_wanted) {
		search->where_wanted = false;
		strbuf_reset(&search->where);
		if (strcmp(search->root_name, "/") != 0)
			strbuf_puts(&search->where, search->root_name);
		strbuf_puts(&search->where, strbuf_str(&search->via));
		bfs_path(at, &search->where);
	}
	if (error == EXDEV)
		cross(search, at, into);
	else if (error != 0)
		queue_error(search, at, at->opened ? SEARCH_ERR_READ : SEARCH_ERR_OPEN, error);
	return atomic_load_explicit(&search->cancelled, memory_order_relaxed) ? BFS_END_ALL : BFS_SKIP;
}

/* Roots. */

/** An error of a root. */
static void root_error(SEARCH *search, int error)
{
	struct bfs_at at = {.dir = ".", .name = ""};
	queue_error(search, &at, SEARCH_ERR_OPEN, error);
}

/** Open a directory below the root, through no link.  @return a descriptor,
    which for "." is the root's own; or -1. */
static int literal_dir(SEARCH *search, const char *path)
{
	struct os *os = &search->os;
	if (strcmp(path, ".") == 0)
		return search->rootfd;
	if (os->caps & OSC_OPENAT2) {
		uint64_t resolve = K_RESOLVE_NO_SYMLINKS | (search->flags & SEARCH_XDEV ? K_RESOLVE_NO_XDEV : 0);
		return os_openat2(os, search->rootfd, path, O_PATH | O_NOFOLLOW, resolve);
	}
	char *steps = strdup(path), *save = NULL;
	int at = steps ? search->rootfd : -1;
	for (char *step = steps ? strtok_r(steps, "/", &save) : NULL; step && at >= 0;
	     step = strtok_r(NULL, "/", &save)) {
		int next = os_openat(os, at, step, O_PATH | O_NOFOLLOW);
		if (at != search->rootfd)
			os_close(os, at);
		at = next;
	}
	int error = errno;
	free(steps);
	errno = error;
	return at;
}

/** The same with FOLLOW.
    @dir, name  Of the path: what must be a directory, and what is looked up. */
static void root_literal_follow(SEARCH *search, struct bfs_scratch *scratch, const char *dir,
                                const char *name)
{
	struct os *os = &search->os;
	struct strbuf place;
	struct k_statx st;
	strbuf_init(&place);
	strbuf_puts(&place, strbuf_str(&search->place));
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	scratch->fd = follow_path(os, search_mounts(search), search->rootfd, &place, dir);
	if (scratch->fd < 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			put_error(scratch, name, strlen(name), SEARCH_ERR_OPEN, errno);
	} else if (!(search->flags & SEARCH_XDEV)
	           || (os_statx(os, scratch->fd, "", flags, id_mask(search), &st) == 0
	               && os_statx_mnt_id(&st, search->unique) == search->root_mount)) {
		follow_link(search, scratch, &place, 0, &(struct bulk_entry){.name = name}, NULL, NULL,
		            PATTERN_MATCH);
	}
	strbuf_destroy(&place);
}

/**
 * Answer a search for one path: the object is looked up, no directory read.
 *
 * @avoid   Of the root.
 */
static void root_literal(SEARCH *search, struct strbuf *path, uint32_t avoid)
{
	struct bfs_scratch scratch = {.os = &search->os};
	char *slash = strrchr(path->data, '/');
	const char *name = slash ? slash + 1 : path->data;
	struct bulk_entry entry = {.name = name};
	size_t len = strlen(name);
	struct bfs_at at = {.dir = slash ? path->data : ".", .name = ""};

	for (const char *step = path->data; *step && !avoid_here(search->mounts.avoid, avoid);) {
		size_t n = strcspn(step, "/");
		avoid = avoid_step(search->mounts.avoid, avoid, step, n);
		step += n + (step[n] == '/');
	}
	if (slash)
		*slash = '\0';
	bool blocks = avoid_here(search->mounts.avoid, avoid);
	scratch.fd = blocks || search->flags & SEARCH_FOLLOW ? -1 : literal_dir(search, at.dir);
	struct k_statx st;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | search->policy.statx_flags;
	if (search->flags & SEARCH_FOLLOW) {
		root_literal_follow(search, &scratch, at.dir, name);
	} else if (blocks) {
		put_error(&scratch, name, len, SEARCH_ERR_OPEN, EREMOTE);
	} else if (scratch.fd < 0 || os_statx(&search->os, scratch.fd, name, flags, search->policy.statx_mask, &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR && errno != ELOOP && errno != EXDEV)
			put_error(&scratch, name, len, scratch.fd < 0 ? SEARCH_ERR_OPEN : SEARCH_ERR_STAT, errno);
	} else {
		entry.type = (uint8_t)IFTODT(st.mode);
		put_object(search, &scratch, &entry, len, search->flags & SEARCH_METADATA ? &st : NULL,
		           scratch.fd, name);
	}
	if (scratch.out.len > 0)
		queue_part(search, &at, scratch.out.data, scratch.out.len);
	search->failed |= scratch.out.failed;
	if (scratch.fd != search->rootfd)
		os_close(&search->os, scratch.fd);
	strbuf_destroy(&scratch.out);
}

/** The root is done with. */
static void root_end(SEARCH *search)
{
	if (search->bfs)
		search->counts.dirs += bfs_stats(search->bfs)->dirs;
	bfs_free(search->bfs);
	search->bfs = NULL;
	os_close(&search->os, search->rootfd);
	search->rootfd = -1;
}

/** Have what was opened as rootfd searched.  @tag  UINT32_MAX: no memory. */
static void root_search(SEARCH *search, uint32_t tag, int depth)
{
	unsigned fds = os_nofile(&search->os, MAX_FDS) / 2;
	if (tag != UINT32_MAX)
		search->bfs = bfs_new(&search->os, &search->policy, search->rootfd, search->threads, fds);
	if (!search->bfs || bfs_start(search->bfs, ".", tag, BFS_NORMAL, depth) != 0) {
		root_end(search);
		search->failed = true;
	}
}

/** Find out the path of rootfd from "/".  @name  By which it was opened. */
static void root_place(SEARCH *search, const char *name)
{
	struct os *os = &search->os;
	char link[64], path[PATH_MAX];
	strbuf_reset(&search->place);
	snprintf(link, sizeof(link), "/proc/self/fd/%d", search->rootfd);
	if (os_readlinkat(os, AT_FDCWD, link, path, sizeof(path)) > 0) {
		if (*path == '/')
			strbuf_puts(&search->place, path);
		return;
	}
	/* Without /proc: name by name, as it was opened. */
	if (*name != '/' && (os_getcwd(os, path) != 0 || *path != '/'))
		return;
	if (*name != '/')
		strbuf_puts(&search->place, path);
	int fd = follow_path(os, NULL, AT_FDCWD, &search->place, name);
	if (fd < 0)
		strbuf_reset(&search->place);
	os_close(os, fd);
}

/** Make the node of a root, at search->place.
    @return its number, or UINT32_MAX: no memory. */
static uint32_t root_node(SEARCH *search, struct node *node, uint64_t mount)
{
	node->avoid = search->mounts.avoid && search->place.len > 0
	              ? avoid_find(search->mounts.avoid, search->place.data) : AVOID_NONE;
	node->mount = mount_number(search, mount);
	return node->mount == UINT32_MAX ? UINT32_MAX : node_number(search, node);
}

/** Begin behind the next link that was found. */
static void behind_begin(SEARCH *search)
{
	struct behind *behind = search->behind;
	struct k_statx st;
	union new_node new;
	search->behind = behind->next;
	if (!search->behind)
		search->behind_end = &search->behind;
	strbuf_reset(&search->via);
	strbuf_puts(&search->via, behind->via);
	strbuf_reset(&search->place);
	search->rootfd = follow_path(&search->os, search_mounts(search), AT_FDCWD, &search->place, behind->target);
	unsigned mask = K_STATX_TYPE | K_STATX_INO | id_mask(search);
	int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	int error = search->rootfd < 0
	            || os_statx(&search->os, search->rootfd, "", flags, mask, &st) != 0 ? errno : 0;
	memcpy(&new, node_at(search, behind->link.tag), node_words(search) * sizeof(uint64_t));
	struct node from = new.node;
	if (error == 0)
		error = enter_once(search, &from, &new.node, &st);
	if (error == 0)
		root_search(search, root_node(search, &new.node, os_statx_mnt_id(&st, search->unique)),
		            behind->link.depth);
	else if (error != EEXIST)
		root_error(search, error);
	if (error != 0)
		root_end(search);
	free(behind);
}

/** Begin at the next root.  @return whether there is one. */
static bool root_begin(SEARCH *search)
{
	if (search->behind) {
		behind_begin(search);
		return true;
	}
	if (search->root == search->nroots)
		return false;
	const char *name = search->roots[search->root++];
	name = *name ? name : ".";
	search->root_name = search->roots[search->root - 1];
	strbuf_reset(&search->via);
	seen_destroy(&search->seen);
	search->rootfd = os_openat(&search->os, AT_FDCWD, name, O_PATH | O_DIRECTORY);
	if (search->rootfd < 0) {
		root_error(search, errno);
		return true;
	}
	struct k_statx st;
	union new_node new = {.node = {.avoid = AVOID_NONE}};
	struct node *node = &new.node;
	if (!pattern_root(search->pattern, node->state)) {
		root_end(search);
		return true;
	}
	int flags = AT_EMPTY_PATH | AT_STATX_DONT_SYNC;
	unsigned mask = id_mask(search) | (search->flags & SEARCH_FOLLOW ? K_STATX_INO : 0);
	if (os_statx(&search->os, search->rootfd, "", flags, mask, &st) != 0)
		memset(&st, 0, sizeof(st));
	st.attributes = 0;   /* what is named is entered */
	search->root_mount = os_statx_mnt_id(&st, search->unique);
	if (search->mounts.avoid || search->flags & SEARCH_FOLLOW)
		root_place(search, name);
	struct strbuf literal;
	strbuf_init(&literal);
	uint32_t tag = UINT32_MAX;
	if (!(search->flags & SEARCH_FOLLOW)
	    || enter_once(search, &(struct node){.self = SEEN_NONE}, node, &st) == 0)
		tag = root_node(search, node, search->root_mount);
	if (tag != UINT32_MAX && pattern_literal(search->pattern, &literal) && !literal.failed) {
		root_literal(search, &literal, node->avoid);
		root_end(search);
	} else {
		root_search(search, tag, 0);
	}
	strbuf_destroy(&literal);
	return true;
}

/* The interface. */

SEARCH *search_new(const struct os *os, struct search_mounts *mounts, const char *const roots[],
                   size_t n, const char *pattern, const struct search_options *options)
{
	SEARCH *search = NULL;
	int flags = options->flags;
	if (flags & ~ALL_FLAGS || (flags & ORDER_FLAGS) == ORDER_FLAGS) {
		errno = EINVAL;
		goto fail;
	}
	search = calloc(1, sizeof(*search));
	if (!search)
		goto fail;
	os_fork(&search->os, os);
	search->rootfd = -1;
	search->flags = flags;
	search->threads = options->threads ? options->threads : os_cpus(&search->os);
	search->depth = options->depth;
	search->access = (flags & SEARCH_R_OK ? R_OK : 0) | (flags & SEARCH_W_OK ? W_OK : 0)
	                 | (flags & SEARCH_X_OK ? X_OK : 0);
	pthread_mutex_init(&search->lock, NULL);
	map64_init(&search->by_hash);
	seen_init(&search->seen);
	search->behind_end = &search->behind;
	search->policy = (struct bfs_policy){
		.order = BFS_DEPTH,
		.statx_mask = flags & SEARCH_METADATA ? K_STATX_BASIC | K_STATX_BTIME : K_STATX_TYPE,
		.statx_flags = flags & SEARCH_CACHED ? AT_STATX_DONT_SYNC : 0,
		.batch = META_BATCH,
		.pause = flags & ORDER_FLAGS ? 0 : PART,
		.entry = search_entry,
		.meta = search_meta,
		.mnt_id = search_mnt_id,
		.judge = search_judge,
		.wanted = search_wanted,
		.deliver = search_deliver,
		.done = search_done,
		.arg = search,
	};
	unsigned pattern_flags = (flags & SEARCH_PERIOD ? PATTERN_PERIOD : 0)
	                         | (flags & SEARCH_PAPER_Q ? PATTERN_PAPER_Q : 0);
	search->pattern = pattern_compile(pattern, strlen(pattern), pattern_flags, NULL);
	search->roots = calloc(n + 1, sizeof(*search->roots));
	if (!search->pattern || !search->roots)
		goto fail;
	search->words = pattern_words(search->pattern);
	for (; search->nroots < n; ++search->nroots) {
		search->roots[search->nroots] = strdup(roots[search->nroots]);
		if (!search->roots[search->nroots])
			goto fail;
	}
	search->unique = os->caps & OSC_STATX_UNIQUE;
	if (mounts) {
		search->mounts = *mounts;
		search->mounts_known = true;
		search->unique = mounts->unique;
	}
	if (flags & SEARCH_FOLLOW)
		search->policy.statx_mask |= K_STATX_TYPE | K_STATX_INO | id_mask(search);
	return search;
fail:
	{
		int error = errno;
		closesearch(search);
		if (mounts)
			search_mounts_destroy(mounts);
		errno = error;
	}
	return NULL;
}

void cancelsearch(SEARCH *search)
{
	atomic_store(&search->cancelled, true);
}

/** Let a worker's attributes be stat(2)'s. */
static void info_from(struct stat *info, const struct k_statx *st)
{
	*info = (struct stat){
		.st_dev = makedev(st->dev_major, st->dev_minor),
		.st_ino = st->ino,
		.st_mode = st->mode,
		.st_nlink = st->nlink,
		.st_uid = st->uid,
		.st_gid = st->gid,
		.st_rdev = makedev(st->rdev_major, st->rdev_minor),
		.st_size = (off_t)st->size,
		.st_blksize = (blksize_t)st->blksize,
		.st_blocks = (blkcnt_t)st->blocks,
		.st_atim = {st->atime.sec, st->atime.nsec},
		.st_mtim = {st->mtime.sec, st->mtime.nsec},
		.st_ctim = {st->ctime.sec, st->ctime.nsec},
	};
}

/** Begin with the part that stands at search->at. */
static void part_begin(SEARCH *search)
{
	struct part part;
	memcpy(&part, search->queue.data + search->at, sizeof(part));
	search->part_path = search->queue.data + search->at + sizeof(part);
	search->part_len = part.path;
	search->at += sizeof(part) + part.path;
	search->part_end = search->at + part.records;
	search->path_base = SIZE_MAX;
}

/** Make the path of an entry in the part: root, directory, name. */
static void make_path(SEARCH *search, bool with_root, const char *name, size_t len)
{
	struct strbuf *path = &search->path;
	/* Of most entries nothing but the name is another. */
	size_t base = search->path_base;
	if (base == SIZE_MAX || with_root != (bool)(search->flags & SEARCH_INCLUDEROOT)) {
		strbuf_reset(path);
		if (with_root && strcmp(search->root_name, "/") != 0)
			strbuf_puts(path, search->root_name);
		strbuf_add(path, strbuf_str(&search->via), search->via.len);
		if (search->part_len > 1)
			strbuf_add(path, search->part_path, search->part_len);
		base = path->len;
		if (with_root == (bool)(search->flags & SEARCH_INCLUDEROOT))
			search->path_base = base;
		else
			search->path_base = SIZE_MAX;
	}
	path->len = base;
	if (len > 0) {
		strbuf_putc(path, '/');
		strbuf_add(path, name, len);
	}
	if (path->len == 0)
		strbuf_putc(path, '/');
}

/** Keep a link whose directory is to be searched.  @text  struct link, and what
    stands behind it. */
static void keep_link(SEARCH *search, const char *text, size_t len)
{
	struct link link;
	memcpy(&link, text, sizeof(link));
	const char *name = text + sizeof(link), *target = name + strlen(name) + 1;
	size_t ntarget = (size_t)(text + len - target);
	size_t dir = search->part_len > 1 ? search->part_len : 0;
	struct behind *behind = malloc(sizeof(*behind) + ntarget + 1 + search->via.len + dir + strlen(name) + 2);
	if (!behind) {
		search->failed = true;
		return;
	}
	*behind = (struct behind){.link = link};
	char *to = mempcpy(behind->target, target, ntarget);
	*to++ = '\0';
	behind->via = to;
	to = mempcpy(to, strbuf_str(&search->via), search->via.len);
	to = mempcpy(to, search->part_path, dir);
	*to++ = '/';
	strcpy(to, name);
	*search->behind_end = behind;
	search->behind_end = &behind->next;
}

/** Give out the next record of the part.  @return NULL: that was none. */
static struct searchent *give(SEARCH *search)
{
	struct record record;
	const char *at = search->queue.data + search->at;
	memcpy(&record, at, sizeof(record));
	at += sizeof(record);
	if (record.source == LINK) {
		keep_link(search, at, record.len);
		search->at = (size_t)(at + record.len - search->queue.data);
		return NULL;
	}
	search->has_st = record.meta;
	if (record.meta) {
		memcpy(&search->st, at, sizeof(search->st));
		at += sizeof(search->st);
		info_from(&search->info, &search->st);
	}
	make_path(search, record.source != 0 || search->flags & SEARCH_INCLUDEROOT, at, record.len);
	at += record.len;
	strbuf_reset(&search->target);
	strbuf_add(&search->target, at, record.target);
	search->at = (size_t)(at + record.target - search->queue.data);
	search->type = record.type;
	search->entry = (struct searchent){
		.path = search->path.data,
		.info = record.meta ? &search->info : NULL,
		.errsource = record.source,
		.err = record.error,
	};
	if (record.source)
		++search->counts.errors;
	else if (++search->counts.found && search->flags & SEARCH_STOPATFIRST)
		search->ended = true;
	return &search->entry;
}

struct searchent *readsearch(SEARCH *search)
{
	for (;;) {
		if (atomic_load(&search->cancelled)) {
			errno = ECANCELED;
			return NULL;
		}
		if (search->failed || search->queue.failed || search->path.failed || search->target.failed) {
			errno = ENOMEM;
			return NULL;
		}
		if (search->ended) {
			errno = 0;
			return NULL;
		}
		if (search->at < search->part_end) {
			struct searchent *entry = give(search);
			if (entry)
				return entry;
			continue;
		}
		if (search->at < search->queue.len) {
			part_begin(search);
			continue;
		}
		strbuf_reset(&search->queue);
		search->at = search->part_end = 0;
		if (search->more.watch)
			search->more.watch(search->more.arg);
		if (search->bfs) {
			int rc = bfs_step(search->bfs);
			if (rc < 0)
				search->failed = true;
			if (rc != 2)
				root_end(search);
		} else if (!root_begin(search)) {
			search->ended = true;
		}
	}
}

const struct statx *statxsearch(const SEARCH *search)
{
	return search->has_st ? (const struct statx *)(const void *)&search->st : NULL;
}

void search_more(SEARCH *search, const struct search_more *more)
{
	search->more = *more;
	search->where_wanted = more->watch != NULL;
	if (search->flags & SEARCH_METADATA)
		search->policy.statx_mask |= more->mask;
}

unsigned char search_type(const SEARCH *search)
{
	return search->type;
}

const char *search_target(const SEARCH *search)
{
	return search->target.len ? search->target.data : NULL;
}

const char *search_where(SEARCH *search)
{
	search->where_wanted = true;
	return strbuf_str(&search->where);
}

void search_stop(SEARCH *search)
{
	root_end(search);
	search->ended = true;
}

const struct os *search_os(const SEARCH *search)
{
	return &search->os;
}

void countsearch(const SEARCH *search, struct search_counts *counts, size_t size)
{
	struct search_counts now = search->counts;
	if (search->bfs)
		now.dirs += bfs_stats(search->bfs)->dirs;
	now.calls = os_calls_total(&search->os);
	memset(counts, 0, size);
	memcpy(counts, &now, size < sizeof(now) ? size : sizeof(now));
}

int closesearch(SEARCH *search)
{
	if (!search)
		return 0;
	root_end(search);
	pattern_free(search->pattern);
	search_mounts_destroy(&search->mounts);
	for (size_t i = 0; i < search->nroots; ++i)
		free(search->roots[i]);
	free(search->roots);
	for (int i = 0; i < CHUNKS && search->chunks[i]; ++i)
		free(atomic_load(&search->chunks[i]));
	map64_destroy(&search->by_hash);
	seen_destroy(&search->seen);
	while (search->behind) {
		struct behind *behind = search->behind;
		search->behind = behind->next;
		free(behind);
	}
	strbuf_destroy(&search->place);
	strbuf_destroy(&search->via);
	free(search->mount_ids);
	strbuf_destroy(&search->queue);
	strbuf_destroy(&search->path);
	strbuf_destroy(&search->target);
	strbuf_destroy(&search->where);
	pthread_mutex_destroy(&search->lock);
	free(search);
	return 0;
}
