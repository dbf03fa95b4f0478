/* SPDX-License-Identifier: MIT */
/*
 * Reading batches: the callbacks between the bulk read and a search's policy,
 * and the threads that run them.
 *
 * A worker owns its struct os, its bulk reader and the batch that it reads;
 * it never touches the frontier, and of a directory it uses the descriptor,
 * the name and the chain of parents, none of which changes while a read of it
 * is under way.
 */
#include "bfs/reader.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/** Make room for one more element.  @return the array, or NULL. */
static void *grow(void *array, size_t n, size_t *size, size_t element)
{
	if (n < *size)
		return array;
	size_t bigger = *size ? *size * 2 : 64;
	void *copy = realloc(array, bigger * element);
	if (copy)
		*size = bigger;
	return copy;
}

size_t bfs_batch_name(struct bfs_batch *batch, const char *name, size_t len)
{
	size_t at = batch->names.len;
	strbuf_add(&batch->names, name, len + 1);
	batch->failed |= batch->names.failed;
	return at;
}

void bfs_batch_cross(struct bfs_batch *batch, struct bfs_read *read, size_t name,
                     const struct bfs_enter *enter)
{
	struct bfs_found_cross *crosses =
		grow(batch->crosses, batch->ncrosses, &batch->crosses_size, sizeof(*crosses));
	if (!crosses) {
		batch->failed = true;
		return;
	}
	batch->crosses = crosses;
	if (read->ncrosses++ == 0)
		read->crosses = (uint32_t)batch->ncrosses;
	crosses[batch->ncrosses++] = (struct bfs_found_cross){
		.name = name,
		.tag = enter->tag,
		.queue = enter->queue,
	};
}

/** Keep an entry for the owner to judge. */
static void batch_judge(struct bfs_batch *batch, struct bfs_read *read,
                        const struct bulk_entry *entry, const struct k_statx *st)
{
	struct bfs_found_entry *judges =
		grow(batch->judges, batch->njudges, &batch->judges_size, sizeof(*judges));
	if (!judges) {
		batch->failed = true;
		return;
	}
	batch->judges = judges;
	if (read->njudges++ == 0)
		read->judges = (uint32_t)batch->njudges;
	judges[batch->njudges++] = (struct bfs_found_entry){
		.name = bfs_batch_name(batch, entry->name, entry->len),
		.st = *st,
	};
}

/** A search's verdict in the bulk read's terms. */
static enum bulk_verdict reader_verdict(struct bfs_read *read, enum bfs_verdict verdict)
{
	switch (verdict) {
	case BFS_LOOK:
	case BFS_JUDGE:
		return BULK_WANT;
	case BFS_ENTER:
		return BULK_ENTER;
	case BFS_END_DIR:
		read->verdict = verdict;
		return BULK_END_DIR;
	case BFS_END_ALL:
		read->verdict = verdict;
		return BULK_END_ALL;
	case BFS_SKIP:
		break;
	}
	return BULK_SKIP;
}

/** Make the batch's scratch, and the reader's at, ready for a callback.
    @name  Of the entry that it is about; "": more than one. */
static struct bfs_scratch *reader_begin(struct bfs_reader *reader, struct bfs_read *read,
                                        const struct bulk_dir *dir, const char *name)
{
	struct bfs_scratch *scratch = &reader->batch->scratch;
	if (reader->read != read) {
		reader->read = read;
		reader->at = read->at;
		read->out = scratch->out.len;
		read->text = scratch->whole.text.len;
		scratch->os = reader->os;
		scratch->fd = dir->fd;
		scratch->note = 0;
	}
	reader->at.name = name;
	scratch->tag = reader->at.tag;
	return scratch;
}

/** Note what a callback put out. */
static void reader_end(struct bfs_reader *reader, struct bfs_read *read)
{
	const struct bfs_scratch *scratch = &reader->batch->scratch;
	read->nout = scratch->out.len - read->out;
	read->ntext = scratch->whole.text.len - read->text;
	reader->batch->failed |= scratch->out.failed | scratch->whole.text.failed;
}

static size_t reader_pass(void *arg, struct bulk_dir *dir, const struct bulk_entry *entries, size_t n)
{
	struct bfs_reader *reader = arg;
	struct bfs_read *read = dir->tag;
	struct bfs_scratch *scratch = reader_begin(reader, read, dir, "");
	size_t passed = reader->policy->pass(reader->policy->arg, scratch, &reader->at, entries, n);
	reader_end(reader, read);
	return passed;
}

static enum bulk_verdict reader_entry(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct bfs_reader *reader = arg;
	struct bfs_read *read = dir->tag;
	struct bfs_scratch *scratch = reader_begin(reader, read, dir, entry->name);
	reader->mtime = INT64_MIN;
	enum bfs_verdict verdict = reader->policy->entry(reader->policy->arg, scratch, &reader->at, entry);
	reader_end(reader, read);
	return reader_verdict(read, verdict);
}

static enum bulk_verdict reader_meta(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry,
                                     const struct k_statx *st, int error)
{
	struct bfs_reader *reader = arg;
	struct bfs_read *read = dir->tag;
	struct bfs_scratch *scratch = reader_begin(reader, read, dir, entry->name);
	enum bfs_verdict verdict = reader->policy->meta(reader->policy->arg, scratch, &reader->at, entry, st, error);
	reader_end(reader, read);
	if (verdict == BFS_JUDGE) {
		read->found = true;
		if (!reader->judge) {
			batch_judge(reader->batch, read, entry, st);
			return BULK_SKIP;
		}
		verdict = reader->judge(reader->judge_arg, reader->batch, read, entry->name, st);
	}
	reader->mtime = st->mask & K_STATX_MTIME ? st->mtime.sec * 1000000000 + st->mtime.nsec : INT64_MIN;
	return reader_verdict(read, verdict);
}

static enum bulk_verdict reader_enter(void *arg, struct bulk_dir *dir, const struct bulk_entry *entry)
{
	struct bfs_reader *reader = arg;
	struct bfs_batch *batch = reader->batch;
	struct bfs_read *read = dir->tag;
	struct bfs_found_kid *kids = grow(batch->kids, batch->nkids, &batch->kids_size, sizeof(*kids));
	if (!kids) {
		batch->failed = true;
		return BULK_SKIP;
	}
	batch->kids = kids;
	if (read->nkids++ == 0)
		read->kids = (uint32_t)batch->nkids;
	uint32_t tag = batch->scratch.tag;
	read->mixed |= tag != reader->at.tag;
	kids[batch->nkids++] = (struct bfs_found_kid){bfs_batch_name(batch, entry->name, entry->len), reader->mtime, tag};
	return BULK_SKIP;
}

/** Whether as much was put out as is kept of one directory at a time. */
static bool reader_pause(void *arg, struct bulk_dir *dir)
{
	struct bfs_reader *reader = arg;
	const struct bfs_read *read = dir->tag;
	return reader->policy->pause && read->nout + read->ntext >= reader->policy->pause;
}

/** Whether something is still to be done in a directory. */
static bool reader_keep(void *arg, const struct bulk_dir *dir)
{
	const struct bfs_read *read = dir->tag;
	(void)arg;
	return dir->resume || dir->paused || dir->portions || read->nkids || read->njudges || read->ncrosses;
}

void bfs_reader_read(struct bfs_reader *reader, struct bfs_batch *batch)
{
	struct bulk_policy policy = {
		.statx_mask = reader->policy->statx_mask,
		.statx_flags = reader->policy->statx_flags,
		.batch = reader->policy->batch ? reader->policy->batch : 1,
		.pause = reader_pause,
		.keep = reader_keep,
		.pass = reader->policy->pass ? reader_pass : NULL,
		.entry = reader_entry,
		.meta = reader_meta,
		.enter = reader_enter,
	};
	struct bulk_dir dirs[BFS_BATCH];
	bool fs = reader->policy->how.engine == BULK_FS && reader->policy->fs;
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_read *read = &batch->reads[i];
		const struct bfs_bunch *bunch = read->item.bunch;
		dirs[i] = (struct bulk_dir){
			.parentfd = read->parentfd,
			.name = bunch->resume ? "." : read->at.dir,
			/* Whatever was mounted there since it was looked at. */
			.same_mount = true,
			.resume = bunch->resume,
			.last_pos = read->last_pos,
			.fs = fs ? reader->policy->fs(reader->policy->arg, read->at.tag) : NULL,
			.fd = bunch->resume ? read->parentfd : -1,
			.rest = read->rest,
			.tag = read,
		};
	}
	reader->batch = batch;
	reader->read = NULL;
	bulk_read(reader->bulk, &policy, dirs, batch->n, reader);
	for (unsigned i = 0; i < batch->n; ++i) {
		struct bfs_read *read = &batch->reads[i];
		read->fd = dirs[i].fd;
		read->opened = dirs[i].opened;
		read->error = dirs[i].error;
		read->entries = dirs[i].entries;
		read->paused = dirs[i].paused;
		read->rest = dirs[i].rest;
		read->portions = dirs[i].portions;
	}
}

void bfs_batch_reset(struct bfs_batch *batch)
{
	batch->n = 0;
	batch->by = 0;
	batch->nkids = batch->njudges = batch->ncrosses = 0;
	batch->failed = false;
	strbuf_reset(&batch->names);
	strbuf_reset(&batch->scratch.out);
	strbuf_reset(&batch->scratch.whole.text);
	batch->scratch.whole.n = 0;
	strbuf_reset(&batch->scratch.about.text);
	batch->scratch.about.len = 0;
	batch->scratch.about.of = NULL;
	memset(batch->scratch.hits, 0, sizeof(batch->scratch.hits));
}

void bfs_batch_free(struct bfs_batch *batch)
{
	if (!batch)
		return;
	strbuf_destroy(&batch->names);
	strbuf_destroy(&batch->scratch.out);
	strbuf_destroy(&batch->scratch.whole.text);
	strbuf_destroy(&batch->scratch.about.text);
	free(batch->kids);
	free(batch->judges);
	free(batch->crosses);
	free(batch);
}

/* Worker threads. */

struct bfs_worker {
	struct bfs_pool *pool;
	pthread_t thread;
	struct os os;
	struct bfs_reader reader;
	int closing[BFS_CLOSING];
	unsigned nclosing;
};

struct bfs_pool {
	pthread_mutex_t lock;
	pthread_cond_t work, done;
	struct bfs_batch *todo, *todo_tail, *finished;
	bool quit;
	unsigned n, closing;
	struct bfs_worker workers[];
};

static void *worker_main(void *arg)
{
	struct bfs_worker *worker = arg;
	struct bfs_pool *pool = worker->pool;
	pthread_mutex_lock(&pool->lock);
	for (;;) {
		while (!pool->todo && !pool->quit)
			pthread_cond_wait(&pool->work, &pool->lock);
		struct bfs_batch *batch = pool->todo;
		if (!batch)
			break;
		pool->todo = batch->next;
		int closing[BFS_CLOSING];
		unsigned n = worker->nclosing;
		memcpy(closing, worker->closing, n * sizeof(*closing));
		worker->nclosing = 0;
		pthread_mutex_unlock(&pool->lock);

		for (unsigned i = 0; i < n; ++i)
			os_close(&worker->os, closing[i]);
		batch->by = (unsigned)(worker - pool->workers) + 1;
		bfs_reader_read(&worker->reader, batch);

		pthread_mutex_lock(&pool->lock);
		batch->next = pool->finished;
		pool->finished = batch;
		pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct bfs_pool *bfs_pool_new(const struct os *os, const struct bfs_policy *policy, unsigned n,
                              unsigned closing)
{
	struct bfs_pool *pool = calloc(1, sizeof(*pool) + n * sizeof(*pool->workers));
	if (!pool)
		return NULL;
	pool->closing = closing;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);

	int error = ENOMEM;
	for (; pool->n < n; ++pool->n) {
		struct bfs_worker *worker = &pool->workers[pool->n];
		worker->pool = pool;
		os_clone_state(&worker->os, os);
		worker->reader = (struct bfs_reader){
			.os = &worker->os,
			.policy = policy,
			.bulk = bulk_new(&worker->os, &policy->how),
		};
		if (!worker->reader.bulk)
			break;
		error = os_thread(&worker->thread, worker_main, worker);
		if (error != 0) {
			bulk_free(worker->reader.bulk);
			break;
		}
	}
	if (pool->n == 0) {
		struct os none;
		os_clone_state(&none, os);
		bfs_pool_free(pool, &none);
		errno = error;
		return NULL;
	}
	return pool;
}

void bfs_pool_put(struct bfs_pool *pool, struct bfs_batch *batch)
{
	batch->next = NULL;
	pthread_mutex_lock(&pool->lock);
	if (pool->todo)
		pool->todo_tail->next = batch;
	else
		pool->todo = batch;
	pool->todo_tail = batch;
	pthread_cond_signal(&pool->work);
	pthread_mutex_unlock(&pool->lock);
}

void bfs_pool_close(struct bfs_pool *pool, struct os *os, unsigned by, int fd)
{
	struct bfs_worker *worker = &pool->workers[by - 1];
	pthread_mutex_lock(&pool->lock);
	bool room = worker->nclosing < pool->closing;
	if (room)
		worker->closing[worker->nclosing++] = fd;
	pthread_mutex_unlock(&pool->lock);
	if (!room)
		os_close(os, fd);
}

struct bfs_batch *bfs_pool_get(struct bfs_pool *pool, bool wait)
{
	pthread_mutex_lock(&pool->lock);
	while (!pool->finished && wait)
		pthread_cond_wait(&pool->done, &pool->lock);
	struct bfs_batch *batch = pool->finished;
	if (batch)
		pool->finished = batch->next;
	pthread_mutex_unlock(&pool->lock);
	return batch;
}

void bfs_pool_free(struct bfs_pool *pool, struct os *os)
{
	if (!pool)
		return;
	pthread_mutex_lock(&pool->lock);
	pool->quit = true;
	pthread_cond_broadcast(&pool->work);
	pthread_mutex_unlock(&pool->lock);
	for (unsigned i = 0; i < pool->n; ++i) {
		pthread_join(pool->workers[i].thread, NULL);
		while (pool->workers[i].nclosing > 0)
			os_close(os, pool->workers[i].closing[--pool->workers[i].nclosing]);
		bulk_free(pool->workers[i].reader.bulk);
		os_join(os, &pool->workers[i].os);
	}
	pthread_cond_destroy(&pool->done);
	pthread_cond_destroy(&pool->work);
	pthread_mutex_destroy(&pool->lock);
	free(pool);
}

void bfs_pool_lose(struct bfs_pool *pool, struct os *os)
{
	for (unsigned i = 0; pool && i < pool->n; ++i) {
		struct bfs_worker *worker = &pool->workers[i];
		while (worker->nclosing > 0)
			os_close(os, worker->closing[--worker->nclosing]);
	}
	free(pool);
}
