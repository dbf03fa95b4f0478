/* SPDX-License-Identifier: MIT */
/*
 * A batch of directories, and the callbacks of the policy that fill it.
 */
#include "bfs/bfs_impl.h"

#include "base/array.h"

#include <errno.h>
#include <fcntl.h>
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
	batch->nkids = batch->njudges = 0;
	batch->failed = false;
	strbuf_reset(&batch->names);
	strbuf_reset(&output->dir);
	strbuf_reset(&output->batch_done.text);
	output->batch_done.n = 0;
	strbuf_reset(&output->path_prefix.text);
	output->path_prefix.len = 0;
	output->path_prefix.of = output->query_path.of = NULL;
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
	strbuf_destroy(&batch->output.query_path.text);
	free(batch->kids);
	free(batch->judges);
	free(batch);
}

/** Store the name of an entry.  @return its offset in the names of the batch. */
static size_t batch_name(struct bfs_batch *batch, const struct bfs_entry *entry)
{
	size_t at = batch->names.len;
	strbuf_add(&batch->names, entry->name, entry->len + 1);
	batch->failed |= batch->names.failed;
	return at;
}

/** Store an entry for the owner to judge.  @return the entry, or NULL if memory ran out. */
static struct bfs_found_entry *batch_judge(struct bfs_batch *batch, struct bfs_read *read,
                                           const struct bfs_entry *entry,
                                           const struct k_statx *st)
{
	read->found = true;
	if (!ARRAY_ROOM(batch->judges, batch->njudges, &batch->judges_size)) {
		batch->failed = true;
		return NULL;
	}
	if (read->njudges++ == 0)
		read->judges = (uint32_t)batch->njudges;
	struct bfs_found_entry *found = &batch->judges[batch->njudges++];
	*found = (struct bfs_found_entry){.name = batch_name(batch, entry), .st = *st};
	return found;
}

/** Store a directory that is to be entered. */
static void batch_enter(struct bfs_reader *reader, struct bfs_read *read,
                        const struct bfs_entry *entry, int64_t mtime)
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
		.name = batch_name(batch, entry), .mtime = mtime, .tag = tag,
	};
}

/* Callbacks. */

/** Prepare scratch and reader->at for a callback.  @name  The entry's name; "": several entries. */
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

/** Record the output of a callback. */
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
	const struct bfs_policy *policy = reader->policy;
	struct bfs_scratch *scratch = callback_begin(reader, read, "");
	scratch->note = 0;
	size_t passed = policy->pass(policy->arg, scratch, &reader->at, entries, n);
	callback_end(reader, read);
	read->entries += (uint32_t)passed;
	return passed;
}

enum bfs_verdict reader_entry(struct bfs_reader *reader, struct bfs_read *read,
                              const struct bfs_entry *entry)
{
	const struct bfs_policy *policy = reader->policy;
	struct bfs_scratch *scratch = callback_begin(reader, read, entry->name);
	enum bfs_verdict verdict = policy->entry(policy->arg, scratch, &reader->at, entry);
	callback_end(reader, read);
	if (verdict != BFS_ENTER)
		return verdict;
	batch_enter(reader, read, entry, INT64_MIN);
	return BFS_SKIP;
}

int reader_stat(const struct bfs_reader *reader, const struct bfs_read *read,
               const struct bfs_entry *entry, struct k_statx *st)
{
	const struct bfs_policy *policy = reader->policy;
	int flags = AT_NO_AUTOMOUNT | AT_SYMLINK_NOFOLLOW | policy->statx_flags;
	int rc = os_statx(reader->os, read->fd, entry->name, flags, policy->statx_mask, st);
	return rc == 0 ? 0 : errno;
}

enum bfs_verdict reader_meta(struct bfs_reader *reader, struct bfs_read *read,
                             const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	const struct bfs_policy *policy = reader->policy;
	struct bfs_scratch *scratch = callback_begin(reader, read, entry->name);
	enum bfs_verdict verdict =
		policy->meta(policy->arg, scratch, &reader->at, entry, st, error);
	callback_end(reader, read);
	if (verdict == BFS_JUDGE) {
		struct bfs_found_entry *found = batch_judge(reader->batch, read, entry, st);
		if (!reader->owner || !found)
			return BFS_SKIP;
		found->judged = true;
		verdict = policy->judge(policy->arg, &reader->at, st, &found->enter);
	}
	if (verdict != BFS_ENTER)
		return verdict;
	bool timed = st->mask & K_STATX_MTIME;
	batch_enter(reader, read, entry,
	            timed ? st->mtime.sec * 1000000000 + st->mtime.nsec : INT64_MIN);
	return BFS_SKIP;
}

bool reader_pause(const struct bfs_reader *reader, const struct bfs_read *read)
{
	size_t pause = reader->policy->pause;
	return pause && read->nout + read->ntext >= pause;
}
