/* SPDX-License-Identifier: MIT */
#include "index/follow/chain.h"

#include "base/array.h"
#include "os/file.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	OPEN_MAX_LINKS = 128,
	LOOK = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
	MASK = K_STATX_BASIC | K_STATX_BTIME | K_STATX_MNT_ID,
};

int chain_init(struct chain *chain, struct os *os, const struct tree *tree, int rootfd,
               const struct map64 *covered)
{
	*chain = (struct chain){.os = os, .tree = tree, .rootfd = rootfd, .covered = covered};
	if (os_statx(os, rootfd, "", LOOK | AT_EMPTY_PATH, MASK, &chain->root) != 0)
		return -1;
	chain->st = chain->root;
	return 0;
}

/** Assert the invariants that take no time. */
static void chain_check(const struct chain *chain)
{
	assert(chain->first <= chain->n && chain->n <= chain->room);
	assert(chain->n - chain->first <= OPEN_MAX_LINKS);
	assert(chain->n == chain->first || chain->links[chain->n - 1].fd >= 0);
	(void)chain;
}

/** Close all links except the first n. */
static void chain_cut(struct chain *chain, size_t n)
{
	chain_check(chain);
	while (chain->n > n) {
		if (--chain->n >= chain->first)
			os_close(chain->os, chain->links[chain->n].fd);
	}
	if (chain->first > chain->n)
		chain->first = chain->n;
}

void chain_close(struct chain *chain)
{
	chain_cut(chain, 0);
}

void chain_destroy(struct chain *chain)
{
	chain_close(chain);
	free(chain->links);
	chain->links = NULL;
}

bool chain_is_foreign(const struct chain *chain, const struct k_statx *st)
{
	return st->dev_major != chain->root.dev_major || st->dev_minor != chain->root.dev_minor;
}

int chain_look(struct chain *chain, int fd, const char *name, struct k_statx *st)
{
	if (*name && map64_get(chain->covered, map64_text(name)) != MAP64_NONE) {
		int entry = os_open_entry(chain->os, fd, name, O_PATH, ENTRY_HERE);
		int rc = entry < 0 ? -1 : chain_look(chain, entry, "", st);
		os_close(chain->os, entry);
		return rc;
	}
	int flags = LOOK | (*name ? 0 : AT_EMPTY_PATH);
	if (os_statx(chain->os, fd, name, flags, MASK, st) != 0)
		return -1;
	return os_statx_mnt_id(st, false) == os_statx_mnt_id(&chain->root, false) ? 0 : fail(EXDEV);
}

bool chain_is_dir(const struct chain *chain, uint32_t at, const struct k_statx *st)
{
	uint64_t ino = chain->tree->dirs[at].ino;
	errno = ESTALE;
	return S_ISDIR(st->mode) && (ino == 0 || st->ino == ino);
}

/** Open a directory whose parent is open.  @return 0, or -1. */
static int open_link(struct chain *chain, int parentfd, struct chain_link *link)
{
	int fd = os_open_entry(chain->os, parentfd, tree_name(chain->tree, link->at),
	                       O_PATH | O_DIRECTORY, ENTRY_HERE);
	if (fd < 0 || chain_look(chain, fd, "", &chain->st) != 0
	    || !chain_is_dir(chain, link->at, &chain->st)) {
		os_close(chain->os, fd);
		return -1;
	}
	link->fd = fd;
	return 0;
}

uint32_t chain_failed(const struct chain *chain)
{
	return chain->n < chain->room ? chain->links[chain->n].at : TREE_NONE;
}

int chain_open(struct chain *chain, uint32_t at)
{
	const struct tree_dir *dirs = chain->tree->dirs;
	size_t depth = 0, same = 0;
	for (uint32_t up = at; up != chain->tree->root; up = dirs[up].parent) {
		/* All directories are below the root, and no element is free. */
		assert(up < chain->tree->n && dirs[up].dir != INDEX_DIR_NONE);
		++depth;
	}
	if (depth == 0)
		return chain->rootfd;
	/* Keep the links of the ancestors of `at`, and close all others. */
	chain_cut(chain, depth);
	while (chain->room < depth) {
		if (!array_grow(&chain->links, &chain->room, sizeof(*chain->links)))
			return -1;
	}
	uint32_t up = at;
	for (size_t i = depth; i > chain->n; --i)
		up = dirs[up].parent;
	for (same = chain->n; same > 0 && chain->links[same - 1].at != up; --same)
		up = dirs[up].parent;
	chain_cut(chain, same);
	/* The last of these links is closed, so no open directory is left. */
	if (chain->first == same)
		same = chain->n = chain->first = 0;
	up = at;
	for (size_t i = depth; i-- > same; up = dirs[up].parent)
		chain->links[i].at = up;
	for (; chain->n < depth; ++chain->n) {
		int parentfd = chain->n ? chain->links[chain->n - 1].fd : chain->rootfd;
		if (open_link(chain, parentfd, &chain->links[chain->n]) != 0)
			return -1;
		if (chain->n - chain->first >= OPEN_MAX_LINKS)
			os_close(chain->os, chain->links[chain->first++].fd);
	}
	chain_check(chain);
	assert(chain->n == depth && chain->first < depth && chain->links[depth - 1].at == at);
	return chain->links[depth - 1].fd;
}
