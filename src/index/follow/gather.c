/* SPDX-License-Identifier: MIT */
#include "index/follow/gather.h"

#include "os/change.h"
#include "os/process.h"

#include <assert.h>
#include <dirent.h>
#include <stdlib.h>

enum {
	DENTS = 64 * 1024,
	MANY = 1024,              /* minimum entries to use several threads */
};

/** An entry in gather.entries.  A struct looked follows if is_looked; then the name. */
struct head {
	uint64_t ino;
	uint8_t type, len;
	bool is_looked;
};

struct looked {
	int error;
	struct k_statx st;
};

/** Whether the tree has a directory with the name and inode number of an entry. */
static bool is_known(const struct tree *tree, uint32_t at, const struct k_dirent *entry, size_t len)
{
	uint32_t child = entry->type == DT_DIR ? tree_child(tree, at, entry->name, len)
	                                       : TREE_NONE;
	return child != TREE_NONE && tree->dirs[child].ino == entry->ino;
}

/** Add an entry.  Its attributes are set later, by look_part(). */
static void add_entry(struct gather *g, const struct tree *tree, const struct k_dirent *entry,
                      size_t len)
{
	assert(len > 0 && len <= INDEX_NAME_MAX);
	const struct head head = {
		.ino = entry->ino, .type = entry->type, .len = (uint8_t)len,
		.is_looked = g->all || !is_known(tree, g->at, entry, len),
	};
	strbuf_add(&g->entries, (const char *)&head, sizeof(head));
	if (head.is_looked)
		strbuf_extend(&g->entries, sizeof(struct looked));
	strbuf_add(&g->entries, entry->name, len + 1);
	++g->n;
}

/** Read entries of the directory.
    @ends [out]  Whether there are no more entries.
    @return 0, or -1 (ENOMEM). */
static int read_entries(struct gather *g, struct chain *chain, bool *ends)
{
	static const char dots[] = "..";
	char *buf = malloc(DENTS);
	ssize_t n = 1;
	if (!buf)
		return -1;
	while (!g->partial && !g->entries.failed && g->entries.len < GATHER_MOST
	       && (n = os_getdents(chain->os, g->fd, buf, DENTS)) > 0) {
		const struct k_dirent *entry;
		size_t i = 0, len;
		while ((entry = os_dirent(buf, (size_t)n, &i, &len))) {
			if (len == 0 || len > INDEX_NAME_MAX)
				g->has_odd = true;
			else if (len > 2 || memcmp(entry->name, dots, len) != 0)
				add_entry(g, chain->tree, entry, len);
		}
		g->partial = i < (size_t)n;
		g->partial_error = g->partial ? EIO : 0;
	}
	if (n < 0)
		g->partial_error = errno;
	bool lacks_memory = g->entries.failed || (n < 0 && errno == ENOMEM);
	*ends = n <= 0 || g->partial;
	g->partial |= n < 0;
	free(buf);
	return lacks_memory ? fail(ENOMEM) : 0;
}

/** The argument of look_part(). */
struct looking {
	struct gather *g;
	const struct chain *chain;
};

/** Read the attributes of the entries from number `from` up to but excluding number `to`. */
static void look_part(struct os *os, void *arg, unsigned part, size_t from, size_t to)
{
	const struct looking *looking = arg;
	struct chain chain = *looking->chain;
	char *at = looking->g->entries.data;
	struct head head;
	(void)part;
	chain.os = os;
	for (size_t i = 0; i < to; ++i) {
		memcpy(&head, at, sizeof(head));
		char *bytes = at + sizeof(head);
		char *name = bytes + (head.is_looked ? sizeof(struct looked) : 0);
		if (head.is_looked && i >= from) {
			struct looked looked = {0};
			if (chain_look(&chain, looking->g->fd, name, &looked.st) != 0)
				looked.error = errno;
			memcpy(bytes, &looked, sizeof(looked));
		}
		at = name + head.len + 1;
	}
}

int gather_more(struct gather *g, struct chain *chain, unsigned threads)
{
	struct looking looking = {g, chain};
	bool ends = true;
	assert(g->fd >= 0 && g->error == 0);
	strbuf_reset(&g->entries);
	g->n = 0;
	int rc = read_entries(g, chain, &ends);
	if (rc == 0)
		os_divide(chain->os, g->n, g->n < MANY ? 1 : threads, look_part, &looking);
	if (rc != 0 || ends) {
		os_close(chain->os, g->fd);
		g->fd = -1;
	}
	return rc;
}

int gather_begin(struct gather *g, struct chain *chain, uint32_t at, bool all)
{
	*g = (struct gather){.at = at, .all = all, .fd = -1, .listed = os_time().tv_sec};
	int fd = chain_open(chain, at);
	if (fd < 0 || chain_look(chain, fd, "", &g->st) != 0) {
		g->error = errno;
		g->failed = fd < 0 ? chain_failed(chain) : at;
		return chain_is_fatal(g->error) ? -1 : 0;
	}
	g->fd = os_opendir(chain->os, fd, ".");
	if (g->fd >= 0)
		return gather_more(g, chain, 1);
	g->partial = true;
	g->partial_error = errno;
	return chain_is_fatal(errno) ? -1 : 0;
}

bool gather_next(const struct gather *g, size_t *at, struct gather_entry *entry)
{
	struct head head;
	struct looked looked = {0};
	if (*at >= g->entries.len) {
		assert(*at == g->entries.len);
		return false;
	}
	const char *bytes = g->entries.data + *at;
	memcpy(&head, bytes, sizeof(head));
	bytes += sizeof(head);
	if (head.is_looked) {
		memcpy(&looked, bytes, sizeof(looked));
		bytes += sizeof(looked);
	}
	*entry = (struct gather_entry){
		.name = bytes, .len = head.len, .ino = head.ino, .type = head.type,
		.is_looked = head.is_looked, .error = looked.error, .st = looked.st,
	};
	*at = (size_t)(bytes - g->entries.data) + head.len + 1;
	return true;
}

void gather_end(struct gather *g, struct os *os)
{
	os_close(os, g->fd);
	strbuf_destroy(&g->entries);
}

void gather_free(struct gather *g, struct os *os)
{
	if (!g)
		return;
	int error = errno;
	gather_end(g, os);
	free(g);
	errno = error;
}
