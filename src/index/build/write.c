/* SPDX-License-Identifier: MIT */
/*
 * Make the clusters of a new index in several threads, and write them in the order of their
 * numbers.
 *
 * A thread makes the next cluster if its number is less than `written` + WINDOW.  The thread of the
 * caller writes the clusters; while the next cluster to write is not ready, it makes clusters, too.
 */
#include "index/build/build_impl.h"

#include "index/build/spill.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 8, THREADS_MOST = WINDOW };

/** The bytes of a cluster; ready: made, but not written. */
struct made {
	bool ready;
	struct strbuf bytes;
	struct segment_summary summary;
};

/** Invariants under the lock (finish_check()): written <= next <= written + WINDOW; only clusters
    from `written` up to `next` are being made or are ready.  So each has its own element of `made`,
    which belongs to the thread that makes it until it is ready, and then to the owner. */
struct finish {
	struct index_build *build;
	struct pack pack;
	pthread_mutex_t lock;
	pthread_cond_t change;   /* signalled when a member below changes */
	uint32_t next, written;  /* numbers of the next cluster to make, and to write */
	struct made made[WINDOW];    /* [cluster % WINDOW]: clusters from number `written` on */
	int error;               /* an errno that ends all threads; 0: no error */
};

/** The memory of a thread that makes clusters, reused for each cluster. */
struct maker {
	struct finish *finish;
	struct os *os;
	struct strbuf bytes;     /* blocks of the spill file, and names of directories */
	struct index_row *rows;
	struct segment_name *names;
	size_t nrows, room;      /* rows in use, allocated rows and names */
	struct segment_slot slots[INDEX_SLOTS];
};

/** Append a block of the spill file to maker->bytes.
    @block [out]  The header of the block.
    @return the rows of the block, or NULL. */
static const char *read_block(struct maker *maker, uint64_t offset, uint32_t size,
                              struct build_block *block)
{
	assert(size >= sizeof(*block));
	if (!strbuf_room(&maker->bytes, (size_t)size + SPILL_SLACK))
		return fail_null(ENOMEM);
	char *to = maker->bytes.data + maker->bytes.len;
	for (uint32_t at = 0; at < size;) {
		ssize_t n = os_pread(maker->os, maker->finish->build->spill, to + at, size - at,
		                     offset + at);
		if (n <= 0)
			return n < 0 ? NULL : fail_null(EIO);
		at += (uint32_t)n;
	}
	memcpy(block, to, sizeof(*block));
	if (block->sum != build_block_sum(to, size, offset))
		return fail_null(EIO);
	maker->bytes.len += size;
	return to + sizeof(*block);
}

/** Add the rows of directory i, and its own row.  In IC_NAME are offsets of names in maker->bytes.
    @return 0, or -1. */
static int add_dir(struct maker *maker, uint32_t i, uint32_t slot)
{
	const struct index_build *build = maker->finish->build;
	const struct build_dir *dir = &build->dirs[i];
	struct build_block block = {.prev = dir->last, .prev_size = dir->last_size};
	bool known = false;
	struct index_row self = {0};
	index_row_lost(&self, DT_DIR);
	while (block.prev_size > 0) {
		const char *at = read_block(maker, block.prev, block.prev_size, &block);
		if (!at)
			return -1;
		for (uint32_t k = 0; k < block.rows; ++k) {
			struct index_row row;
			size_t len;
			const char *name = spill_get(&at, &row, &len);
			if (len == 0) {
				/* A row without name is of the directory itself.  The first block
				   read is the newest, so the first such row is valid. */
				self = known ? self : row;
				known = true;
				continue;
			}
			row.col[IC_DIR] = slot;
			row.col[IC_NAME] = (uint64_t)(name - maker->bytes.data);
			assert(maker->nrows < maker->room);
			maker->names[maker->nrows].len = (uint32_t)len;
			maker->rows[maker->nrows++] = row;
		}
	}
	assert(maker->nrows < maker->room);
	self.col[IC_DIR] = slot;
	self.col[IC_FLAGS] |= dir->unread ? IF_UNREAD : 0;
	self.col[IC_NAME] = maker->bytes.len;
	strbuf_add(&maker->bytes, build->names.data + dir->name, dir->len);
	maker->names[maker->nrows].len = dir->len;
	maker->rows[maker->nrows++] = self;
	maker->slots[slot] = (struct segment_slot){
		.parent = i == 0 ? INDEX_DIR_NONE
		          : maker->finish->pack.places[build->tree[i].parent],
		.listed = dir->unread ? 0 : dir->listed,
	};
	return maker->bytes.failed ? fail(ENOMEM) : 0;
}

/** Free the memory for rows. */
static void release(struct maker *maker)
{
	strbuf_destroy(&maker->bytes);
	free(maker->rows);
	free(maker->names);
	maker->rows = NULL;
	maker->names = NULL;
	maker->room = 0;
}

/** Make room for the rows of n directories.  Memory for more than INDEX_SOFT_ROWS rows is freed
    before the next cluster.
    @return 0, or -1. */
static int reserve(struct maker *maker, const uint32_t *members, uint32_t n)
{
	size_t need = 0;
	for (uint32_t i = 0; i < n; ++i)
		need += (size_t)maker->finish->build->tree[members[i]].rows + 1;
	if (need > UINT32_MAX)
		return fail(EFBIG);
	if (need <= maker->room && maker->room <= INDEX_SOFT_ROWS)
		return 0;
	release(maker);
	assert(n <= INDEX_SLOTS && need >= n);
	maker->room = need > INDEX_SOFT_ROWS ? need : INDEX_SOFT_ROWS;
	maker->rows = calloc(maker->room, sizeof(*maker->rows));
	maker->names = calloc(maker->room, sizeof(*maker->names));
	return maker->rows && maker->names ? 0 : -1;
}

/** Make the bytes and the summary of a cluster, in `made`.  @return 0, or -1. */
static int make_cluster(struct maker *maker, uint32_t cluster, struct made *made)
{
	const struct pack *pack = &maker->finish->pack;
	const uint32_t *members = pack->members + pack->first[cluster];
	const uint32_t n = pack->first[cluster + 1] - pack->first[cluster];
	strbuf_reset(&maker->bytes);
	strbuf_reset(&made->bytes);
	maker->nrows = 0;
	if (reserve(maker, members, n) != 0)
		return -1;
	for (uint32_t slot = 0; slot < n; ++slot) {
		if (add_dir(maker, members[slot], slot) != 0)
			return -1;
	}
	for (size_t i = 0; i < maker->nrows; ++i) {
		maker->names[i].text = maker->bytes.data + maker->rows[i].col[IC_NAME];
		maker->rows[i].col[IC_NAME] = i;
	}
	return segment_write(&(struct segment_contents){
		.rows = maker->rows, .nrows = (uint32_t)maker->nrows,
		.names = maker->names, .nnames = (uint32_t)maker->nrows,
		.slots = maker->slots, .nslots = n,
	}, &made->bytes, &made->summary);
}

/** Assert the invariants; the lock is held. */
static void finish_check(const struct finish *finish)
{
#ifndef NDEBUG
	assert(finish->written <= finish->next && finish->next <= finish->pack.clusters
	       && finish->next - finish->written <= WINDOW);
	for (uint32_t i = finish->next; i < finish->written + WINDOW; ++i)
		assert(!finish->made[i % WINDOW].ready);
#else
	(void)finish;
#endif
}

/** Make the next cluster, if its number is in the window.  The caller holds the lock; it is
    released while the cluster is made.
    @return whether a cluster was made, or an error occurred. */
static bool make_next(struct maker *maker)
{
	struct finish *finish = maker->finish;
	const uint32_t cluster = finish->next;
	if (cluster == finish->pack.clusters || cluster - finish->written >= WINDOW)
		return false;
	++finish->next;
	struct made *made = &finish->made[cluster % WINDOW];
	finish_check(finish);
	pthread_mutex_unlock(&finish->lock);
	int error = make_cluster(maker, cluster, made) == 0 ? 0 : errno;
	pthread_mutex_lock(&finish->lock);
	assert(!made->ready && cluster >= finish->written);
	made->ready = true;
	finish->error = finish->error ? finish->error : error;
	pthread_cond_broadcast(&finish->change);
	return true;
}

static struct maker *maker_new(struct finish *finish, struct os *os)
{
	struct maker *maker = calloc(1, sizeof(*maker));
	if (maker) {
		maker->finish = finish;
		maker->os = os;
	}
	return maker;
}

static void maker_free(struct maker *maker)
{
	if (!maker)
		return;
	release(maker);
	free(maker);
}

/** A thread that makes clusters. */
struct worker {
	pthread_t thread;
	struct os os;
	struct maker *maker;
};

static void *work(void *arg)
{
	struct maker *maker = ((struct worker *)arg)->maker;
	struct finish *finish = maker->finish;
	pthread_mutex_lock(&finish->lock);
	while (!finish->error && finish->next < finish->pack.clusters) {
		if (!make_next(maker))
			pthread_cond_wait(&finish->change, &finish->lock);
	}
	pthread_mutex_unlock(&finish->lock);
	return NULL;
}

/** Write all clusters in order.  If the next cluster is not ready, this thread makes clusters, too.
    @return 0, or -1. */
static int write_clusters(struct finish *finish, struct maker *maker)
{
	struct index_writer *writer = finish->build->writer;
	pthread_mutex_lock(&finish->lock);
	while (!finish->error && finish->written < finish->pack.clusters) {
		struct made *made = &finish->made[finish->written % WINDOW];
		if (!made->ready) {
			if (!make_next(maker))
				pthread_cond_wait(&finish->change, &finish->lock);
			continue;
		}
		pthread_mutex_unlock(&finish->lock);
		int error = index_writer_add(writer, &made->bytes, &made->summary) == 0 ? 0 : errno;
		pthread_mutex_lock(&finish->lock);
		made->ready = false;
		finish->error = finish->error ? finish->error : error;
		++finish->written;
		finish_check(finish);
		pthread_cond_broadcast(&finish->change);
	}
	/* Wake the waiting threads, so that they end. */
	pthread_cond_broadcast(&finish->change);
	pthread_mutex_unlock(&finish->lock);
	return finish->error ? fail(finish->error) : 0;
}

/** Make and write all clusters with a number of threads.  @return 0, or -1. */
static int make_all(struct finish *finish, unsigned threads)
{
	struct os *os = finish->build->os;
	struct worker workers[THREADS_MOST];
	unsigned n = 0;
	struct maker *own = maker_new(finish, os);
	int rc = -1;
	for (; own && n + 1 < threads && n < THREADS_MOST; ++n) {
		os_clone_state(&workers[n].os, os);
		workers[n].maker = maker_new(finish, &workers[n].os);
		if (!workers[n].maker || os_thread(&workers[n].thread, work, &workers[n]) != 0) {
			maker_free(workers[n].maker);
			break;
		}
	}
	if (own)
		rc = write_clusters(finish, own);
	int error = errno;
	while (n > 0) {
		struct worker *worker = &workers[--n];
		pthread_join(worker->thread, NULL);
		os_join(os, &worker->os);
		maker_free(worker->maker);
	}
	maker_free(own);
	errno = error;
	return rc;
}

int index_build_finish(struct index_build *build, const struct index_info *info, unsigned threads)
{
	struct finish finish = {.build = build};
	if (build->n == 0)
		return fail(EINVAL);
	if (build_flush(build) != 0 || index_pack(build->tree, build->n, &finish.pack) != 0)
		return -1;
	pthread_mutex_init(&finish.lock, NULL);
	pthread_cond_init(&finish.change, NULL);
	int rc = make_all(&finish, threads);
	if (rc == 0)
		rc = index_writer_finish(build->writer, info, finish.pack.places[0]);
	int error = errno;
	for (unsigned i = 0; i < WINDOW; ++i)
		strbuf_destroy(&finish.made[i].bytes);
	pthread_cond_destroy(&finish.change);
	pthread_mutex_destroy(&finish.lock);
	pack_destroy(&finish.pack);
	errno = error;
	return rc;
}
