/* SPDX-License-Identifier: MIT */
/*
 * Drop results below symlinks to directories.
 *
 * The search of a Chirp server follows every symlink to a directory, repeatedly if the symlink
 * leads to a directory above it; getmnt follows symlinks only with SEARCH_FOLLOW.  So an entry that
 * is not directly in the root is kept until the answer is complete.  Then a CHIRP_LSTAT for each
 * directory above an entry shows which directories are symlinks.
 */
#include "remote/chirp_impl.h"

#include "base/array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>

/** A kept entry, followed by its path and a NUL.  Members as in struct talk_entry; dir: as in
    chirp_pass(). */
struct kept {
	size_t len;
	size_t root;
	bool has_st, dir;
	unsigned char type;
	uint32_t actions;
	int err, errsource;
	struct k_statx st;
};

/** Get the number of a directory, or add the directory.
    @return UINT32_MAX: memory ran out. */
static uint32_t dir_number(struct chirp *chirp, size_t root, const char *path, size_t len)
{
	uint32_t number = UINT32_MAX;
	struct strbuf *key = &chirp->path;
	assert(path < key->data || path >= key->data + key->size);
	strbuf_reset(key);
	strbuf_number(key, root);
	strbuf_add(key, path, len);
	if (key->failed || intern_put(&chirp->hold.dirs, key->data, key->len, &number) != 0)
		return UINT32_MAX;
	return number;
}

/** Get the length of the next directory on a path.
    @len  The length of the directory before it; 0: the root.
    @itself  The whole path is a directory as well.
    @return 0: no more directories. */
static size_t next_dir(const char *path, size_t len, bool itself)
{
	size_t end = len + 1 + strcspn(path + len + 1, "/");
	return path[end] ? end : itself && path[len] ? end : 0;
}

static void pass_now(struct chirp *chirp, const struct talk_entry *entry, struct talk_sink *sink)
{
	sink->entry(sink, entry);
	if (entry->err)
		return;
	chirp->hold.passed = true;
	if (chirp->request.flags & SEARCH_STOPATFIRST) {
		chirp->talk.state = TALK_DONE;
		chirp->ended = chirp->waiting > 0;
	}
}

void chirp_pass(struct chirp *chirp, const struct chirp_job *job, const struct talk_entry *entry,
                bool dir, struct talk_sink *sink)
{
	size_t at = entry->len ? next_dir(entry->path, 0, dir) : 0;
	if (job->kind != CHIRP_SEARCH || chirp->request.flags & SEARCH_FOLLOW || at == 0) {
		pass_now(chirp, entry, sink);
		return;
	}
	struct kept kept = {
		.len = entry->len, .root = entry->root, .type = entry->type, .dir = dir,
		.actions = entry->actions, .err = entry->err, .errsource = entry->errsource,
		.has_st = entry->st,
	};
	if (entry->st)
		kept.st = *entry->st;
	strbuf_add(&chirp->hold.kept, (const char *)&kept, sizeof(kept));
	strbuf_add(&chirp->hold.kept, entry->path, entry->len + 1);
	bool known = !chirp->hold.kept.failed;
	for (; known && at > 0; at = at < entry->len ? next_dir(entry->path, at, dir) : 0)
		known = dir_number(chirp, entry->root, entry->path, at) != UINT32_MAX;
	if (!known)
		talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
	else if (chirp->hold.kept.len > CHIRP_KEPT)
		talk_fail(&chirp->talk, "the server returns too much, perhaps because it follows "
		          "symbolic links; --engine=sync follows none, --follow all");
}

/** Add jobs that find out which directories are symlinks. */
static void ask(struct chirp *chirp)
{
	chirp->hold.links = calloc(chirp->hold.dirs.count + 1, sizeof(*chirp->hold.links));
	if (!chirp->hold.links)
		talk_fail(&chirp->talk, "%s", strerror(ENOMEM));
	for (size_t i = 0; i < chirp->hold.dirs.count && chirp->talk.state == TALK_GOING; ++i) {
		char *path;
		struct chirp_job job = {.kind = CHIRP_LSTAT, .part = i};
		job.root = strtoul(chirp->hold.dirs.of[i], &path, 10);
		/* If the request is too long, no job is added, and the directory is not regarded as
		   a symlink. */
		chirp_add_job(chirp, &job, path);
	}
	chirp->hold.asked = true;
}

void chirp_take_lstat(struct chirp *chirp, const struct chirp_job *job, const char *line, size_t n)
{
	struct k_statx st;
	assert(chirp->hold.asked && job->part < chirp->hold.dirs.count);
	if (chirp_stat_read(line, n, &st) != CHIRP_WHOLE)
		talk_fail(&chirp->talk, "this is no answer of a Chirp server");
	else
		chirp->hold.links[job->part] = S_ISLNK(st.mode);
}

/** Whether a directory above an entry, or the entry itself with kept->dir, is a symlink. */
static bool is_linked(struct chirp *chirp, const struct kept *kept, const char *path)
{
	const size_t known = chirp->hold.dirs.count;
	assert(chirp->hold.asked && chirp->hold.links);
	for (size_t at = next_dir(path, 0, kept->dir); at > 0;
	     at = at < kept->len ? next_dir(path, at, kept->dir) : 0) {
		uint32_t number = dir_number(chirp, kept->root, path, at);
		/* chirp_pass() has added each directory before. */
		assert(number == UINT32_MAX || number < known);
		if (number < known && chirp->hold.links[number])
			return true;
	}
	return false;
}

void chirp_settle(struct chirp *chirp, struct talk_sink *sink)
{
	if (!chirp->hold.asked && chirp->hold.dirs.count > 0) {
		ask(chirp);
		return;
	}
	bool linked = false;
	for (size_t at = 0; at < chirp->hold.kept.len && chirp->talk.state == TALK_GOING;) {
		struct kept kept;
		memcpy(&kept, chirp->hold.kept.data + at, sizeof(kept));
		const char *path = chirp->hold.kept.data + at + sizeof(kept);
		at += sizeof(kept) + kept.len + 1;
		if (is_linked(chirp, &kept, path)) {
			linked = true;
			continue;
		}
		pass_now(chirp, &(struct talk_entry){
			.root = kept.root, .path = path, .len = kept.len, .type = kept.type,
			.actions = kept.actions, .err = kept.err, .errsource = kept.errsource,
			.st = kept.has_st ? &kept.st : NULL,
		}, sink);
	}
	chirp_hold_reset(chirp);
	if (chirp->talk.state == TALK_GOING && linked && !chirp->hold.passed
	    && chirp->wire_flags & CHIRP_STOPATFIRST) {
		/* The only result was below a symlink: repeat the search for all results. */
		chirp->wire_flags &= ~(unsigned)CHIRP_STOPATFIRST;
		chirp_add_roots(chirp, false);
	}
}

void chirp_hold_reset(struct chirp *chirp)
{
	strbuf_reset(&chirp->hold.kept);
	intern_destroy(&chirp->hold.dirs);
	free(chirp->hold.links);
	chirp->hold.links = NULL;
	chirp->hold.asked = false;
}
