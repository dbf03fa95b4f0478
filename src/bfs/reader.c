/* SPDX-License-Identifier: MIT */
/*
 * Batches, and the callbacks of a policy while one is read.
 *
 * A reader owns its struct os, its buffers and the batch that it reads; it never touches the
 * frontier, and of a directory it uses the descriptor, the name and the chain of parents,
 * none of which changes while a read of it is under way.
 */
#include "bfs/bfs_impl.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

struct bfs_batch *bfs_batch_new(void)
{
	struct bfs_batch *batch = calloc(1, sizeof(*batch));
	if (batch)
		bfs_batch_reset(batch);
	return batch;
}

void bfs_batch_reset(struct bfs_batch *batch)
{
	struct bfs_output *output = &batch->output;
	assert(batch->state == BATCH_SPARE);
	batch->state = BATCH_FILLED;
	batch->n = 0;
	batch->by = 0;
	batch->nkids = batch->njudges = batch->ncrosses = 0;
	batch->failed = false;
	strbuf_reset(&batch->names);
	strbuf_reset(&output->dir);
	strbuf_reset(&output->batch_done.text);
	output->batch_done.n = 0;
	strbuf_reset(&output->path_prefix.text);
	output->path_prefix.len = 0;
	output->path_prefix.of = NULL;
	memset(batch->scratch.hits, 0, sizeof(batch->scratch.hits));
	batch->scratch.output = output;
}

void bfs_batch_free(struct bfs_batch *batch)
{
	if (!batch)
		return;
	strbuf_destroy(&batch->names);
	strbuf_destroy(&batch->output.dir);
	strbuf_destroy(&batch->output.batch_done.text);
	strbuf_destroy(&batch->output.path_prefix.text);
	free(batch->kids);
	free(batch->judges);
	free(batch->crosses);
	free(batch);
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
	if (!ARRAY_ROOM(batch->crosses, batch->ncrosses, &batch->crosses_size)) {
		batch->failed = true;
		return;
	}
	if (read->ncrosses++ == 0)
		read->crosses = (uint32_t)batch->ncrosses;
	batch->crosses[batch->ncrosses++] = (struct bfs_found_cross){
		.name = name,
		.tag = enter->tag,
		.queue = enter->queue,
	};
}

/** Keep an entry for the owner to judge. */
static void batch_judge(struct bfs_batch *batch, struct bfs_read *read,
                        const struct bfs_entry *entry, const struct k_statx *st)
{
	if (!ARRAY_ROOM(batch->judges, batch->njudges, &batch->judges_size)) {
		batch->failed = true;
		return;
	}
	if (read->njudges++ == 0)
		read->judges = (uint32_t)batch->njudges;
	batch->judges[batch->njudges++] = (struct bfs_found_entry){
		.name = bfs_batch_name(batch, entry->name, entry->len),
		.st = *st,
	};
}

/** Keep the name of a directory that is entered. */
static void batch_enter(struct bfs_reader *reader, struct bfs_read *read,
                        const struct bfs_entry *entry)
{
	struct bfs_batch *batch = reader->batch;
	if (!ARRAY_ROOM(batch->kids, batch->nkids, &batch->kids_size)) {
		batch->failed = true;
		return;
	}
	if (read->nkids++ == 0)
		read->kids = (uint32_t)batch->nkids;
	uint32_t tag = batch->scratch.tag;
	read->mixed |= tag != reader->at.tag;
	batch->kids[batch->nkids++] = (struct bfs_found_kid){
		.name = bfs_batch_name(batch, entry->name, entry->len),
		.mtime = reader->mtime,
		.tag = tag,
	};
}

/** Prepare scratch and reader->at for a callback.  @name  Of its entry; "": of several. */
static struct bfs_scratch *callback_begin(struct bfs_reader *reader, struct bfs_read *read,
                                          const char *name)
{
	struct bfs_batch *batch = reader->batch;
	struct bfs_scratch *scratch = &batch->scratch;
	if (reader->read != read) {
		reader->read = read;
		reader->at = read->at;
		read->out = batch->output.dir.len;
		read->text = batch->output.batch_done.text.len;
		batch->output.run_start = 0;
		scratch->os = reader->os;
		scratch->fd = read->fd;
	}
	reader->at.name = name;
	scratch->tag = reader->at.tag;
	return scratch;
}

/** Note what a callback put out. */
static void callback_end(struct bfs_reader *reader, struct bfs_read *read)
{
	const struct bfs_output *output = &reader->batch->output;
	read->nout = output->dir.len - read->out;
	read->ntext = output->batch_done.text.len - read->text;
	reader->batch->failed |= output->dir.failed | output->batch_done.text.failed;
}

size_t reader_pass(struct bfs_reader *reader, struct bfs_read *read,
                   const struct bfs_entry *entries, size_t n)
{
	struct bfs_scratch *scratch = callback_begin(reader, read, "");
	size_t passed = reader->bulk->pass(reader->policy->arg, scratch, &reader->at, entries, n);
	callback_end(reader, read);
	return passed;
}

enum bfs_verdict reader_entry(struct bfs_reader *reader, struct bfs_read *read,
                              const struct bfs_entry *entry)
{
	const struct bfs_policy *policy = reader->policy;
	struct bfs_scratch *scratch = callback_begin(reader, read, entry->name);
	enum bfs_verdict verdict = policy->entry(policy->arg, scratch, &reader->at, entry);
	callback_end(reader, read);
	if (verdict == BFS_LOOK)
		return fetch_add(reader, read, entry);
	if (verdict != BFS_ENTER)
		return verdict;
	reader->mtime = INT64_MIN;
	batch_enter(reader, read, entry);
	return BFS_SKIP;
}

enum bfs_verdict reader_meta(struct bfs_reader *reader, struct bfs_read *read,
                             const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	const struct bfs_policy *policy = reader->policy;
	struct bfs_batch *batch = reader->batch;
	struct bfs_scratch *scratch = callback_begin(reader, read, entry->name);
	enum bfs_verdict verdict =
		policy->meta(policy->arg, scratch, &reader->at, entry, st, error);
	callback_end(reader, read);
	if (verdict == BFS_JUDGE) {
		read->found = true;
		if (!reader->judge) {
			batch_judge(batch, read, entry, st);
			return BFS_SKIP;
		}
		verdict = reader->judge(reader->judge_arg, batch, read, entry->name, st);
	}
	if (verdict != BFS_ENTER)
		return verdict;
	bool timed = st->mask & K_STATX_MTIME;
	reader->mtime = timed ? st->mtime.sec * 1000000000 + st->mtime.nsec : INT64_MIN;
	batch_enter(reader, read, entry);
	return BFS_SKIP;
}

bool reader_pause(const struct bfs_reader *reader, const struct bfs_read *read)
{
	size_t pause = reader->bulk->pause;
	return pause && read->nout + read->ntext >= pause;
}

struct bfs_reader *bfs_reader_new(struct os *os, const struct bfs_policy *policy,
                                  bfs_judge_fn *judge, void *judge_arg)
{
	static const struct bfs_bulk none = {0};
	struct bfs_reader *reader = malloc(sizeof(*reader));
	if (!reader)
		return NULL;
	/* Not the buffer: it need not be cleared. */
	memset(reader, 0, offsetof(struct bfs_reader, buf));
	reader->os = os;
	reader->policy = policy;
	reader->bulk = policy->bulk ? policy->bulk : &none;
	reader->judge = judge;
	reader->judge_arg = judge_arg;
	fetch_init(&reader->fetch);
	together_init(&reader->together, os, reader->bulk->together);
	return reader;
}

void bfs_reader_free(struct bfs_reader *reader)
{
	if (!reader)
		return;
	together_destroy(&reader->together);
	fetch_destroy(&reader->fetch);
	free(reader);
}
