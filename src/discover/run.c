/* SPDX-License-Identifier: MIT */
/*
 * What all steps of a run use: names and states of nodes, its time, and mounts read again.
 */
#include "discover/discover_impl.h"

#include "base/words.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/stat.h>

const char *dsc_kernel_name(const struct dsc *dsc, uint32_t node)
{
	const struct mt_node *n = &dsc->tree->nodes[node];
	const char *point = n->mount->point, *prefix = dsc->opts->prefix;
	if (!point)
		return NULL;
	if (node == dsc->d->root)
		return "/";
	if (strcmp(prefix, "/") == 0 || n->states & 1u << MT_OUTSIDE
	    || !word_below(point, prefix))
		return point;
	point += strlen(prefix);
	return *point ? point : "/";
}

void dsc_name(struct dsc *dsc, uint32_t node, const char *name, enum mt_named named)
{
	assert(node < dsc->tree->count && (named != MT_NAMED_NONE || !name));
	dsc->tree->nodes[node].named = (uint8_t)named;
	dsc->d->targets[node] = name;
	mtree_settle(dsc->tree, node);
}

void dsc_settle(struct dsc *dsc, uint32_t node, enum mt_state state)
{
	const char *name = dsc_kernel_name(dsc, node);
	dsc_name(dsc, node, name, name ? MT_NAMED_KERNEL : MT_NAMED_NONE);
	mtree_state(dsc->tree, node, state);
}

unsigned dsc_id_mask(const struct dsc *dsc)
{
	if (dsc->by_dev)
		return 0;
	return dsc->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
}

uint32_t dsc_node_of(const struct dsc *dsc, const struct k_statx *st)
{
	uint64_t id = os_statx_mnt_id(st, dsc->unique);
	if (id != 0)
		return mtree_find(dsc->tree, id);
	/* With mask 0, the kernel returns the 32-bit ID. */
	id = os_statx_mnt_id(st, false);
	return id == 0 ? MT_NONE : map64_get(&dsc->by_old_id, id);
}

void dsc_looked(struct dsc *dsc, uint32_t node, const struct k_statx *st)
{
	if (st->mode != 0)
		dsc->d->kinds[node] = S_ISDIR(st->mode) ? DK_DIR : DK_FILE;
	/* The kernel reports "//deleted"; a positive link count disproves it if link counts are
	   reliable. */
	struct mt_node *n = &dsc->tree->nodes[node];
	if (st->mask & K_STATX_NLINK && st->nlink > 0
	    && fstype_flags(n->mount->fstype) & FST_NLINK)
		n->states &= (uint16_t)~(1u << MT_DELETED);
}

const char *dsc_keep_text(struct dsc *dsc, struct strbuf *text)
{
	const char *kept = NULL;
	if (!text->failed)
		kept = arena_strndup(&dsc->d->names, strbuf_str(text), text->len);
	strbuf_destroy(text);
	return kept;
}

bool dsc_out_of_time(struct dsc *dsc)
{
	if (dsc->opts->deadline <= 0 || os_now() < dsc->opts->deadline)
		return false;
	dsc->partly = "the time of the run was over";
	dsc->shifting = false;
	return true;
}

int dsc_read_table(struct dsc *dsc, const uint64_t *keys, size_t n,
                   const struct mount_table **again)
{
	struct discovery *d = dsc->d;
	struct mount_table *table = table_read_again(dsc->os, dsc->table, 0, keys, n,
	                                             dsc->opts->procfd, dsc->opts->procpath);
	*again = table;
	if (!table && errno == ENOMEM)
		return -1;
	dsc->unread = !table;
	if (!table) {
		dsc->partly = "the mount table could not be read again";
		return 0;
	}
	/* The discovery keeps the table, because it uses the names in it. */
	if (d->nagain == sizeof(d->again) / sizeof(*d->again)) {
		table_free(table);
		return fail(ENOMEM);
	}
	d->again[d->nagain++] = table;
	return 0;
}

int dsc_read_again(struct dsc *dsc, const uint32_t *nodes, size_t n, const struct mount ***now)
{
	const struct mount_table *again = NULL;
	struct map64 found = {0};
	uint64_t *keys = malloc((n + 1) * sizeof(*keys));
	const struct mount **list = calloc(n + 1, sizeof(*list));
	int rc = -1;
	*now = NULL;
	for (size_t i = 0; keys && i < n; ++i)
		keys[i] = dsc->tree->nodes[nodes[i]].mount->key;
	if (!keys || !list || dsc_read_table(dsc, keys, n, &again) != 0
	    || (again && map64_reserve(&found, again->count) != 0))
		goto out;
	rc = 0;
	for (size_t i = 0; again && i < again->count; ++i)
		map64_put(&found, again->mounts[i].key, (uint32_t)i);
	for (size_t i = 0; again && i < n; ++i) {
		const struct mt_node *node = &dsc->tree->nodes[nodes[i]];
		uint32_t row = map64_get(&found, node->mount->key);
		list[i] = node->made ? node->mount : row != MAP64_NONE ? &again->mounts[row] : NULL;
	}
	*now = again ? list : NULL;
	list = again ? NULL : list;
out:
	free(keys);
	free(list);
	map64_destroy(&found);
	return rc != 0 ? fail(ENOMEM) : 0;
}
