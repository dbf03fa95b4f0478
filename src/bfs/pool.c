/* SPDX-License-Identifier: MIT */
/*
 * Worker threads, each with its own reader: they take batches from a list, read them, and put them
 * on another list.
 */
#include "bfs/bfs_impl.h"

#include "base/fail.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct bfs_worker {
	struct bfs_pool *pool;
	pthread_t thread;
	struct os os;
	struct bfs_reader *reader;
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
		bfs_reader_read(worker->reader, batch);

		pthread_mutex_lock(&pool->lock);
		batch->next = pool->finished;
		pool->finished = batch;
		pthread_cond_signal(&pool->done);
	}
	pthread_mutex_unlock(&pool->lock);
	return NULL;
}

struct bfs_pool *bfs_pool_new(const struct os *os, const struct bfs_policy *policy, unsigned *n,
                              unsigned closing)
{
	struct bfs_pool *pool = calloc(1, sizeof(*pool) + *n * sizeof(*pool->workers));
	if (!pool)
		return NULL;
	pool->closing = closing;
	pthread_mutex_init(&pool->lock, NULL);
	pthread_cond_init(&pool->work, NULL);
	pthread_cond_init(&pool->done, NULL);

	int error = ENOMEM;
	for (; pool->n < *n; ++pool->n) {
		struct bfs_worker *worker = &pool->workers[pool->n];
		worker->pool = pool;
		os_clone_state(&worker->os, os);
		worker->reader = bfs_reader_new(&worker->os, policy, false);
		if (!worker->reader)
			break;
		error = os_thread(&worker->thread, worker_main, worker);
		if (error != 0) {
			bfs_reader_free(worker->reader);
			break;
		}
	}
	if (pool->n == 0) {
		struct os none;
		os_clone_state(&none, os);
		bfs_pool_free(pool, &none);
		return fail_null(error);
	}
	*n = pool->n;
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
	assert(by > 0 && by <= pool->n);
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
		struct bfs_worker *worker = &pool->workers[i];
		pthread_join(worker->thread, NULL);
		while (worker->nclosing > 0)
			os_close(os, worker->closing[--worker->nclosing]);
		bfs_reader_free(worker->reader);
		os_join(os, &worker->os);
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
