/* SPDX-License-Identifier: MIT */
#include "index/follow/look.h"

#include "base/array.h"
#include "os/inodes.h"
#include "os/process.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { ANSWERS = 512, TURNS = 64 /* names examined between two readings of events */ };

/* Find the changed inodes. */

/** The state that all threads share. */
struct finding {
	struct os_inodes range;   /* template for the range of each thread, without inode numbers
	                             and buffer */
	int fd;
	int64_t since;            /* minimum ctime of an inode, seconds since 1970 */
	uint64_t size;            /* number of inode numbers in a group */
	unsigned groups;
	struct finding_part {
		uint64_t *inos;
		size_t n, room;
		int error;
	} parts[OS_PARTS];
};

/** The memory of a thread for requesting inodes. */
struct request {
	struct os_inodes range;
	struct os_inode inodes[ANSWERS];
	_Alignas(8) char buf[OS_INODES_BUFFER];
};

/** Add the inodes of a range whose ctime is at least f->since.  @return 0, or -1. */
static int find_range(const struct finding *f, struct finding_part *part, struct os *os,
                      struct request *request)
{
	while (request->range.next <= request->range.last) {
		ssize_t n = os_inodes(os, f->fd, &request->range, request->inodes, ANSWERS);
		if (n < 0)
			return -1;
		for (ssize_t i = 0; i < n; ++i) {
			const struct os_inode *inode = &request->inodes[i];
			if (S_ISDIR(inode->mode) || inode->ctime.sec < f->since
			    || inode->ino > request->range.last)
				continue;
			if (!ARRAY_ROOM(part->inos, part->n, &part->room))
				return -1;
			part->inos[part->n++] = inode->ino;
		}
	}
	return 0;
}

static void find_part(struct os *os, void *arg, unsigned number, size_t from, size_t to)
{
	struct finding *f = arg;
	struct finding_part *part = &f->parts[number];
	struct request *request = malloc(sizeof(*request));
	if (request) {
		request->range = f->range;
		request->range.buf = request->buf;
		request->range.next = from ? from * f->size : 1;
		request->range.last = to < f->groups ? to * f->size - 1 : UINT64_MAX - 1;
	}
	if (!request || find_range(f, part, os, request) != 0)
		part->error = errno;
	free(request);
}

/** Join the lists of the threads.  @return 0, or -1. */
static int join_parts(struct look *look, struct finding *f)
{
	size_t room = 0;
	int error = 0;
	for (unsigned i = 0; i < OS_PARTS; ++i) {
		struct finding_part *part = &f->parts[i];
		error = error ? error : part->error;
		for (size_t k = 0; k < part->n && !error; ++k) {
			if (!ARRAY_ROOM(look->inos, look->n, &room))
				error = ENOMEM;
			else
				look->inos[look->n++] = part->inos[k];
		}
		free(part->inos);
	}
	return error ? fail(error) : 0;
}

int look_find(struct look *look, struct os *os, int rootfd, const struct index_info *info,
              int64_t now, int64_t age, unsigned threads)
{
	_Alignas(8) char buf[OS_INODES_BUFFER];
	struct finding f = {.fd = rootfd, .since = info->looked - INDEX_SETTLED};
	struct k_statx_time time;
	*look = (struct look){0};
	if (age < 0 || !os_inodes_type(info->type, &f.range.of))
		return 0;
	if (f.range.of == OS_INODES_XFS && now >= info->looked && now - info->looked < age)
		return 0;
	/* A change after this call has this generation or a higher one, so the next update finds
	   it. */
	look->generation = os_inodes_generation(os, rootfd, f.range.of);
	f.range.generation = info->generation;
	/* If the clock was set back, or the file system restored to an older state, find all
	   inodes. */
	if (now < info->looked || look->generation < info->generation) {
		f.since = INT64_MIN;
		f.range.generation = 0;
	}
	if (os_inodes_settle(os, rootfd, f.range.of, buf, &time) != 0)
		return 0;
	f.size = os_inodes_groups(os, rootfd, f.range.of, &f.groups);
	os_divide(os, f.groups, threads < f.groups ? threads : f.groups, find_part, &f);
	look->is_bulk = join_parts(look, &f) == 0;
	return look->is_bulk || errno != ENOMEM ? 0 : -1;
}

void look_destroy(struct look *look)
{
	free(look->inos);
	*look = (struct look){0};
}

/* Read the attributes of inodes by their names in the index. */

/** A name of an inode in the index. */
struct name {
	uint64_t ino, digest;
	uint32_t at, name, len;   /* directory in the tree; offset in names.names, and length */
	bool is_linked;           /* the inode has several names */
};

struct names {
	const struct look *look;
	const struct tree *tree;
	struct name *items;       /* names in the cluster that is being visited */
	size_t n, room;
	struct strbuf names;
	/* Digests of the present attributes of inodes with several names, in all clusters. */
	struct map64 by_ino;
	uint64_t *digests;
	size_t ndigests, digests_room;
};

static bool may_be_changed(void *arg, uint64_t min, uint64_t max)
{
	const struct names *names = arg;
	return objects_any_ino(names->look->inos, names->look->n, min, max);
}

static bool may_be_linked(void *arg, uint64_t min, uint64_t max)
{
	(void)arg, (void)min;
	return max > 1;
}

static int visit_name(void *arg, index_dir dir, const char *name, size_t len,
                      const struct index_row *row)
{
	struct names *names = arg;
	uint32_t at = tree_by_dir(names->tree, dir);
	uint64_t ino = row->col[IC_INO];
	bool is_linked = row->col[IC_NLINK] > 1;
	if (names->look->is_bulk ? !may_be_changed(arg, ino, ino) : !is_linked)
		return 0;
	/* If the directory was read, the row is new. */
	if (at == TREE_NONE || names->tree->dirs[at].state == TREE_READ
	    || names->tree->dirs[at].state == TREE_GONE)
		return 0;
	if (names->names.len > UINT32_MAX - INDEX_NAME_MAX - 1)
		return fail(ENOMEM);
	if (!ARRAY_ROOM(names->items, names->n, &names->room))
		return -1;
	names->items[names->n++] = (struct name){
		.ino = ino, .digest = objects_digest(row, false), .at = at,
		.name = (uint32_t)names->names.len, .len = (uint32_t)len, .is_linked = is_linked,
	};
	strbuf_add(&names->names, name, len);
	strbuf_putc(&names->names, '\0');
	return names->names.failed ? fail(ENOMEM) : 0;
}

/** Sort names by directory, so that each directory is opened once. */
static int compare_names(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x->name < y->name ? -1 : 1;
}

/** Whether the inode was examined by another name, and the index has its attributes or gets them
    from refresh_links(). */
static bool is_known(const struct names *names, const struct refresh *r, const struct name *name)
{
	if (map64_get(&r->by_ino, name->ino) != MAP64_NONE)
		return true;
	uint32_t i = map64_get(&names->by_ino, name->ino);
	assert(i == MAP64_NONE || i < names->ndigests);
	return i != MAP64_NONE && names->digests[i] == name->digest;
}

/** Store the digest of the attributes of an inode with several names.  @return 0, or -1
    (ENOMEM). */
static int remember(struct names *names, uint64_t ino, uint64_t digest)
{
	if (!ARRAY_ROOM(names->digests, names->ndigests, &names->digests_room)
	    || map64_set(&names->by_ino, ino, (uint32_t)names->ndigests) == MAP64_NONE)
		return -1;
	names->digests[names->ndigests++] = digest;
	return 0;
}

/** Examine a name, and store the difference.  @return 0, or -1. */
static int look_name(struct names *names, struct refresh *r, const struct name *name)
{
	struct k_statx st;
	struct index_row row = {{0}};
	const char *text = names->names.data + name->name;
	assert(text[name->len] == '\0' && r->tree->dirs[name->at].dir != INDEX_DIR_NONE);
	int fd = chain_open(&r->chain, name->at);
	if (fd < 0 || chain_look(&r->chain, fd, text, &st) != 0) {
		if (chain_is_fatal(errno))
			return -1;
		/* If a directory has changed meanwhile, the next update reads it.  If it was
		   covered or moved, its times are unchanged: make the next update read it. */
		return names->look->is_bulk && (fd < 0 || errno != ENOENT)
		               ? refresh_unlist(r, name->at) : 0;
	}
	if (st.ino != name->ino)
		return 0;
	++r->counts.looked;
	index_row_from(&row, &st);
	uint64_t digest = objects_digest(&row, false);
	bool is_linked = name->is_linked || st.nlink > 1;
	if (is_linked && remember(names, st.ino, digest) != 0)
		return -1;
	if (digest == name->digest)
		return 0;
	if (is_linked)
		return refresh_link(r, &st);
	++r->counts.changed;
	return index_put(r->index, r->tree->dirs[name->at].dir, text, name->len, &row);
}

int look_all(const struct look *look, struct refresh *r)
{
	struct names names = {.look = look, .tree = r->tree};
	const struct objects_visit visit = {
		look->is_bulk ? IC_INO : IC_NLINK, look->is_bulk ? may_be_changed : may_be_linked,
		visit_name, &names, false,
	};
	int rc = 0;
	if (look->is_bulk && look->n == 0)
		return 0;
	for (uint32_t cluster = 0; cluster < index_clusters(r->index) && rc == 0; ++cluster) {
		names.n = 0;
		strbuf_reset(&names.names);
		rc = objects_visit(r->index, cluster, &visit);
		if (names.n > 0)
			qsort(names.items, names.n, sizeof(*names.items), compare_names);
		for (size_t i = 0; i < names.n && rc == 0; ++i) {
			if (!is_known(&names, r, &names.items[i]))
				rc = look_name(&names, r, &names.items[i]);
			if (rc == 0 && r->events && i % TURNS == 0)
				rc = file_events_read(r->events, r->os);
		}
		if (rc == 0)
			rc = index_relieve(r->index);
	}
	map64_destroy(&names.by_ino);
	strbuf_destroy(&names.names);
	free(names.items);
	free(names.digests);
	return rc;
}
