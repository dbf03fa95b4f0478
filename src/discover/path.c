/* SPDX-License-Identifier: MIT */
/*
 * Paths judged without being touched: in which mount of the table a path lies,
 * and whether something that blocks is passed on the way.
 *
 * A path of an overlay's layer or a loop's file stands as whoever mounted it
 * wrote it, links and all (docker's "l/XYZ"), so that the table alone cannot
 * say where it leads.  It is followed here, one component at a time: each is
 * first looked up in the table, and only where nothing on the way blocks is it
 * asked for a link.  What was found plain is remembered, so that a thousand
 * layers side by side cost a readlink or two each.
 */
#include "discover/discover_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LINKS = 40 };   /* the kernel's own bound: path_resolution(7) */

/** What a path is looked up by at first. */
static uint64_t paths_key(const char *path, size_t n)
{
	return map64_bytes(MAP64_BYTES, path, n);
}

/**
 * Find the mount at a path.  Whoever makes up names can make two of one hash:
 * such paths have keys that follow each other, and each is compared.
 *
 * @key [out]  Where it is, or is to be put.
 * @return its node; MT_NONE: there is none.
 */
static uint32_t paths_point(const struct dsc_paths *paths, uint64_t *key, const char *path, size_t n)
{
	uint32_t node;
	for (*key = paths_key(path, n); (node = map64_get(&paths->points, *key)) != MAP64_NONE; ++*key) {
		const char *point = paths->dsc->tree->nodes[node].mount->point;
		if (strncmp(point, path, n) == 0 && point[n] == '\0')
			return node;
	}
	return MT_NONE;
}

/** The same for paths that were found plain.  @return whether this one was. */
static bool paths_plain(const struct dsc_paths *paths, uint64_t *key, const char *path)
{
	uint32_t at;
	for (*key = paths_key(path, strlen(path)); (at = map64_get(&paths->plain, *key)) != MAP64_NONE; ++*key) {
		if (strcmp(paths->names.data + at, path) == 0)
			return true;
	}
	return false;
}

int dsc_paths_init(struct dsc_paths *paths, struct dsc *dsc)
{
	const struct mtree *tree = dsc->tree;
	struct mtree own = {0};
	*paths = (struct dsc_paths){.dsc = dsc};
	map64_init(&paths->points);
	map64_init(&paths->plain);
	strbuf_init(&paths->names);
	int rc = map64_reserve(&paths->points, tree->count);
	/* By IDs alone nobody has judged who is covered. */
	if (rc == 0 && dsc->opts->names == DN_PURE && strcmp(dsc->opts->prefix, "/") == 0) {
		uint32_t root = dsc->d->root;
		uint64_t key = root == MT_NONE ? 0 : tree->nodes[root].mount->key;
		tree = &own;
		rc = mtree_init(&own, dsc->table->mounts, dsc->table->count, key);
		rc = rc == 0 ? mtree_judge(&own, root, "/") : rc;
	}
	for (uint32_t i = 0; rc == 0 && i < tree->count; ++i) {
		const struct mt_node *node = &tree->nodes[i];
		uint64_t key;
		/* Only what is visible there: the top of a stack. */
		const char *point = node->mount->point;
		if (point && node->top == i && !node->place_hidden
		    && paths_point(paths, &key, point, strlen(point)) == MT_NONE)
			map64_put(&paths->points, key, i);
	}
	mtree_destroy(&own);
	return rc;
}

void dsc_paths_destroy(struct dsc_paths *paths)
{
	map64_destroy(&paths->points);
	map64_destroy(&paths->plain);
	strbuf_destroy(&paths->names);
}

/** The mount that a path lies in, as it is written; MT_NONE if none is known. */
static uint32_t paths_find(const struct dsc_paths *paths, const char *path)
{
	for (size_t n = strlen(path); n > 0;) {
		while (n > 1 && path[n - 1] == '/')
			--n;
		uint64_t key;
		uint32_t node = paths_point(paths, &key, path, n);
		if (node != MT_NONE)
			return node;
		if (n == 1)
			break;
		while (n > 1 && path[n - 1] != '/')
			--n;
	}
	return MT_NONE;
}

/** Put a link in place of the component it was found at.  @return 0, or -1. */
static int paths_take_link(struct strbuf *rest, size_t at, const char *link)
{
	struct strbuf next;
	strbuf_init(&next);
	strbuf_puts(&next, link);
	strbuf_putc(&next, '/');
	strbuf_add(&next, rest->data + at, rest->len - at);
	strbuf_destroy(rest);
	*rest = next;
	return next.failed ? -1 : 0;
}

/** Take a path for plain from now on; it is asked again where there is no room. */
static void paths_remember(struct dsc_paths *paths, uint64_t key, const char *path)
{
	size_t at = paths->names.len;
	strbuf_add(&paths->names, path, strlen(path) + 1);
	if (!paths->names.failed && at < MAP64_NONE)
		map64_put(&paths->plain, key, (uint32_t)at);
}

/** Whether a component is a link; read into link. */
static enum { PLAIN, LINK, UNKNOWN } paths_ask(struct dsc_paths *paths, const char *path, char *link)
{
	struct dsc *dsc = paths->dsc;
	uint64_t key;
	if (paths_plain(paths, &key, path))
		return PLAIN;
	if (strlen(path) >= PATH_MAX)
		return UNKNOWN;
	/* With --root the table is still the one of our own root. */
	bool own = dsc->rootfd == AT_FDCWD || strcmp(dsc->opts->prefix, "/") != 0;
	const char *name = own ? path : path + strspn(path, "/");
	ssize_t n = os_readlinkat(dsc->os, own ? AT_FDCWD : dsc->rootfd, name, link, PATH_MAX);
	if (n >= 0)
		return n < PATH_MAX - 1 ? LINK : UNKNOWN;
	/* Refused: whoever may not look may not touch it either. */
	if (errno != EINVAL && errno != EACCES)
		return UNKNOWN;
	paths_remember(paths, key, path);
	return PLAIN;
}

/** Add a component to a path that begins with "/". */
static void paths_step(struct strbuf *path, const char *name, size_t n)
{
	if (n == 0 || (n == 1 && *name == '.'))
		return;
	if (n == 2 && memcmp(name, "..", 2) == 0) {
		while (path->len > 1 && path->data[path->len - 1] != '/')
			--path->len;
		if (path->len > 1)
			--path->len;
		path->data[path->len] = '\0';
		return;
	}
	if (path->len > 1)
		strbuf_putc(path, '/');
	strbuf_add(path, name, n);
}

enum dsc_leads dsc_path_leads(struct dsc_paths *paths, const char *path, uint32_t *in)
{
	const struct dsc *dsc = paths->dsc;
	struct strbuf rest, done;
	strbuf_init(&rest);
	strbuf_init(&done);
	strbuf_puts(&rest, path);
	strbuf_putc(&done, '/');
	enum dsc_leads leads = LEADS_BLOCKED;
	unsigned links = 0;
	*in = MT_NONE;
	for (size_t at = 0; !rest.failed && !done.failed;) {
		if (at >= rest.len) {
			leads = LEADS_CLEAR;
			break;
		}
		size_t n = strcspn(rest.data + at, "/"), before = done.len;
		paths_step(&done, rest.data + at, n);
		at += n + (rest.data[at + n] == '/');
		if (done.len <= before)
			continue;
		*in = paths_find(paths, strbuf_str(&done));
		if (*in == MT_NONE || dsc->flags[*in] & (DF_BLOCKS | DF_BEHIND))
			break;
		if (dsc->flags[*in] & (DF_UNSURE | DF_UNSURE_BEHIND)) {
			leads = LEADS_UNSURE;
			break;
		}
		char link[PATH_MAX];
		int kind = paths_ask(paths, strbuf_str(&done), link);
		if (kind == PLAIN)
			continue;
		if (kind == UNKNOWN || ++links > MAX_LINKS || paths_take_link(&rest, at, link) != 0)
			break;
		at = 0;
		done.len = *link == '/' ? 1 : before;
		done.data[done.len] = '\0';
	}
	paths->failed |= rest.failed || done.failed;
	strbuf_destroy(&rest);
	strbuf_destroy(&done);
	return leads;
}
