/* SPDX-License-Identifier: MIT */
/*
 * Discovery on a made-up machine: lib/world.h.
 *
 * The input: naming, algorithm, rules switched on and off (2 bytes each), a
 * byte of flags, then the world.
 *
 * Nothing that can block is touched.  Every mount is accounted for, none said
 * to be lost that is there, or while the table changes; in every naming mode,
 * by every algorithm and whatever rules are off, what can be seen is named by
 * its own mount point and what is covered is hidden.
 */
#include "lib/fuzz.h"
#include "lib/world.h"

#include "discover/discover.h"
#include "mounts/table.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum {
	F_BY_DEV = 1 << 0,
	F_BOUNDARIES = 1 << 1,
	F_SHIFTS = 1 << 2,       /* a mount comes and goes, from listing to listing */
};

/** The world's kernel, and the mount that it has at every other listing. */
static struct fuzz_kernel still;
static unsigned listings;
static uint64_t root_key;
enum { SHIFTING = 0x90000000u };

static ssize_t shifting_list(uint64_t last, uint64_t *ids, size_t n)
{
	listings += last == 0;
	ssize_t got = still.listmount(last, ids, n);
	if (got >= 0 && (size_t)got < n && last != SHIFTING && listings % 2)
		ids[got++] = SHIFTING;
	return got;
}

static int shifting_stat(uint64_t id, uint64_t mask, struct k_statmount *buf, size_t size)
{
	if (id != SHIFTING)
		return still.statmount(id, mask, buf, size);
	if (listings % 2 == 0) {
		errno = ENOENT;
		return -1;
	}
	if (still.statmount(root_key, mask, buf, size) != 0)
		return -1;
	buf->mnt_id = SHIFTING;
	buf->mnt_id_old = 5000;
	return 0;
}

/** The table, in the order of the IDs, with those that went away since. */
static struct mount_table *take_table(const struct world *world)
{
	struct mount records[WORLD_MOUNTS];
	world_records(world, records);
	struct mount_table *table = table_new(TABLE_LISTMOUNT);
	FUZZ_CHECK(table);
	table->unique_ids = true;
	table->fields = MF_ALL;
	uint64_t last = 0;
	for (unsigned k = 0; k < world->n; ++k) {
		unsigned next = world->n;
		for (unsigned i = 0; i < world->n; ++i) {
			if (records[i].key > last
			    && (next == world->n || records[i].key < records[next].key))
				next = i;
		}
		struct mount *m = table_add(table);
		FUZZ_CHECK(m);
		*m = records[next];
		last = m->key;
	}
	return table;
}

static unsigned of_key(const struct world *world, uint64_t key)
{
	unsigned i = 0;
	while (world->mounts[i].key != key)
		++i;
	FUZZ_CHECK(i < world->n);
	return i;
}

/** What a world holds that makes an answer less than certain. */
static bool is_certain(const struct world *world)
{
	for (unsigned i = 0; i < world->n; ++i) {
		if (world->mounts[i].gone || world->mounts[i].denied)
			return false;
	}
	return true;
}

/** A mount that is there. */
static void check_node(const struct world *world, const struct discovery *d, uint32_t node,
                       enum discover_names names)
{
	const struct mt_node *n = &d->tree.nodes[node];
	unsigned i = of_key(world, n->mount->key);
	const struct world_mount *m = &world->mounts[i];
	const char *target = d->targets[node];
	enum mt_state state = mtree_shown_state(n);
	struct world_at at = world_follow(m->point, false);
	bool visible = world_is_visible(world, i);

	/* A name is its own, whoever gave it. */
	FUZZ_CHECK(!target || strcmp(target, m->point) == 0);
	FUZZ_CHECK((target != NULL) == (n->named != MT_NAMED_NONE));
	FUZZ_CHECK(target || names == DN_PURE);
	if (names == DN_KERNEL)
		return;
	if (visible)
		FUZZ_CHECK(state != MT_LOST && state != MT_STALE && state != MT_HUNG);
	/* What holds an overlay to block is stricter than the world is; and "/" is
	   where we stand. */
	bool perhaps = (world->layered || (i == 0 && m->blocks)) && state == MT_UNTESTED;
	if (at.behind || (visible && m->blocks && i != 0)) {
		FUZZ_CHECK(state == MT_UNTESTED || names == DN_PURE
		           || ((!visible || !is_certain(world)) && state == MT_HIDDEN));
		FUZZ_CHECK(state != MT_OK);
	} else if (visible && !perhaps) {
		FUZZ_CHECK(is_certain(world) ? state == MT_OK : state != MT_LOST);
		if (state == MT_OK) {
			FUZZ_CHECK(names == DN_HINT ? n->named == MT_NAMED_VERIFIED
			           : n->named >= MT_NAMED_WALKED);
			FUZZ_CHECK(d->kinds[node] == (m->is_file ? DK_FILE : DK_DIR));
		}
	} else if (!visible && at.error != EACCES && names != DN_PURE && is_certain(world)) {
		FUZZ_CHECK(state == MT_HIDDEN);
		FUZZ_CHECK(n->covered_by != MT_NONE);
	}
}

static void check_counts(const struct discovery *d)
{
	uint64_t named = 0, states = 0;
	for (int i = 0; i <= MT_NAMED_VERIFIED; ++i)
		named += d->stats.named[i];
	for (int i = 0; i < MT_NSTATES; ++i)
		states += d->stats.states[i];
	FUZZ_CHECK(named + d->stats.gone == d->tree.count && named == states);
	FUZZ_CHECK(d->complete == (d->stats.states[MT_LOST] + d->stats.states[MT_UNSEARCHED] == 0));
	FUZZ_CHECK(d->complete == (d->incomplete == NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = (enum discover_names)(fuzz_byte(&in) % 4);
	opts.algorithm = (enum discover_algorithm)(fuzz_byte(&in) % 3);
	opts.prune_on = (unsigned)fuzz_number(&in, 2);
	opts.prune_off = (unsigned)fuzz_number(&in, 2);
	uint8_t flags = fuzz_byte(&in);
	opts.identity = flags & F_BY_DEV ? DI_DEV : DI_MNTID;
	opts.boundaries = flags & F_BOUNDARIES && opts.names != DN_KERNEL;
	opts.threads = 1;
	opts.max_dirs = 0;
	opts.max_seconds = 0;

	struct world world;
	world_begin(&world, &in);
	if (flags & F_SHIFTS) {
		still = world.kernel;
		listings = 0;
		root_key = world.mounts[0].key;
		world.kernel.listmount = shifting_list;
		world.kernel.statmount = shifting_stat;
	}
	struct os os;
	fuzz_os(&os);
	struct mount_table *table = take_table(&world);
	struct discovery *d = discover(&os, NULL, table, &opts);
	FUZZ_CHECK(d && d->tree.count == world.n);
	FUZZ_CHECK(opts.names != DN_KERNEL || os_calls_total(&os) == 0);
	check_counts(d);
	FUZZ_CHECK(!(flags & F_SHIFTS) || d->stats.states[MT_LOST] == 0);
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		if (!d->tree.nodes[i].gone
		    && !world.mounts[of_key(&world, d->tree.nodes[i].mount->key)].gone)
			check_node(&world, d, i, opts.names);
	}
	if (is_certain(&world) && opts.names == DN_HINT && !opts.boundaries)
		FUZZ_CHECK(d->stats.dirs == 0);
	if (is_certain(&world) && opts.names != DN_PURE)
		FUZZ_CHECK(d->complete);
	discovery_free(d);
	table_free(table);
	world_end(&world);
	return 0;
}
