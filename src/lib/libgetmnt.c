/* SPDX-License-Identifier: MIT */
/*
 * The public library: include/getmnt/getmnt.h, implemented with mounts/ and discover/.
 *
 * A run reads a table, calls discover(), and builds the public records.  Public enum values never
 * change; internal values may.
 */
#include "getmnt/getmnt.h"

#include "base/pathmap.h"
#include "discover/discover.h"
#include "os/caller.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
	NOPTIONS = GETMNT_OPT_PROBE_MS + 1,
	NSTATS = GETMNT_STAT_LEFT + 1,
	NREASONS = 3,
};

/** Default and range of each option. */
static const struct option_range {
	int64_t first, min, max;
} option_ranges[NOPTIONS] = {
	[GETMNT_OPT_NAMES] = {GETMNT_NAMES_HINT, GETMNT_NAMES_HINT, GETMNT_NAMES_KERNEL},
	[GETMNT_OPT_ALGORITHM] = {GETMNT_ALGORITHM_3, GETMNT_ALGORITHM_1, GETMNT_ALGORITHM_3},
	[GETMNT_OPT_KERNEL] = {GETMNT_KERNEL_AUTO, GETMNT_KERNEL_AUTO, GETMNT_KERNEL_MOUNTINFO},
	[GETMNT_OPT_ROOT_FD] = {-1, -1, INT_MAX},
	[GETMNT_OPT_TABLE_FD] = {-1, -1, INT_MAX},
	[GETMNT_OPT_SEARCH_DIRS] = {-1, -1, INT64_MAX},
	[GETMNT_OPT_SEARCH_MS] = {-1, -1, INT64_MAX},
	[GETMNT_OPT_MAX_MS] = {0, 0, INT64_MAX},
	[GETMNT_OPT_DEPTH] = {0, 0, INT_MAX},
	[GETMNT_OPT_THREADS] = {0, 0, 256},
	[GETMNT_OPT_PROBE] = {GETMNT_PROBE_NONE, GETMNT_PROBE_NONE, GETMNT_PROBE_ALL},
	[GETMNT_OPT_PROBE_MS] = {5000, 1, INT_MAX},
};

/* These internal values equal the public ones, so that a cast converts them. */
#define SAME(within, outside) ((int)(within) == (int)(outside))
_Static_assert(SAME(DN_HINT, GETMNT_NAMES_HINT) && SAME(DN_WALK, GETMNT_NAMES_WALK)
               && SAME(DN_PURE, GETMNT_NAMES_PURE) && SAME(DN_KERNEL, GETMNT_NAMES_KERNEL)
               && SAME(DP_NONE, GETMNT_PROBE_NONE) && SAME(DP_LOCAL, GETMNT_PROBE_LOCAL)
               && SAME(DP_ALL, GETMNT_PROBE_ALL) && SAME(TABLE_AUTO, GETMNT_KERNEL_AUTO)
               && SAME(TABLE_LISTMOUNT, GETMNT_KERNEL_LISTMOUNT)
               && SAME(TABLE_MOUNTINFO, GETMNT_KERNEL_MOUNTINFO)
               && SAME(TABLE_RECORDED, GETMNT_KERNEL_RECORDED)
               && SAME(MT_NAMED_NONE, GETMNT_NAMED_NONE)
               && SAME(MT_NAMED_KERNEL, GETMNT_NAMED_KERNEL)
               && SAME(MT_NAMED_INFERRED, GETMNT_NAMED_INFERRED)
               && SAME(MT_NAMED_WALKED, GETMNT_NAMED_WALKED)
               && SAME(MT_NAMED_VERIFIED, GETMNT_NAMED_VERIFIED)
               && SAME(DK_UNKNOWN, GETMNT_KIND_UNKNOWN) && SAME(DK_DIR, GETMNT_KIND_DIR)
               && SAME(DK_FILE, GETMNT_KIND_FILE)
               && SAME(MP_SHARED, GETMNT_PROPAGATION_SHARED)
               && SAME(MP_SLAVE, GETMNT_PROPAGATION_SLAVE)
               && SAME(MP_UNBINDABLE, GETMNT_PROPAGATION_UNBINDABLE), "public values");

/* The other values. */
static const enum discover_algorithm algorithms[] = {
	[GETMNT_ALGORITHM_1] = DA_GETMNT1,
	[GETMNT_ALGORITHM_2] = DA_GETMNT2,
	[GETMNT_ALGORITHM_3] = DA_GETMNT3,
};
static const uint32_t public_states[MT_NSTATES] = {
	[MT_OK] = GETMNT_STATE_OK,
	[MT_UNTESTED] = GETMNT_STATE_UNTESTED,
	[MT_DELETED] = GETMNT_STATE_DELETED,
	[MT_DENIED] = GETMNT_STATE_DENIED,
	[MT_STALE] = GETMNT_STATE_STALE,
	[MT_HUNG] = GETMNT_STATE_HUNG,
	[MT_HIDDEN] = GETMNT_STATE_HIDDEN,
	[MT_UNSEARCHED] = GETMNT_STATE_UNSEARCHED,
	[MT_LOST] = GETMNT_STATE_LOST,
	[MT_OUTSIDE] = GETMNT_STATE_OUTSIDE,
};
/** The result of a run. */
struct found {
	struct mount_table *table;      /* owns strings, as d does */
	struct discovery *d;
	struct getmnt_mount *mounts;
	size_t count;
	struct map64 by_id;             /* 64-bit or 32-bit ID -> index */
	struct pathmap by_target;       /* target -> index of the visible mount */
	const char *reasons[NREASONS];
	size_t nreasons;
	uint64_t stats[NSTATS];
};

struct getmnt {
	int64_t options[NOPTIONS];
	struct found last;
	bool ran;
};

static void found_destroy(struct found *found)
{
	discovery_free(found->d);
	table_free(found->table);
	free(found->mounts);
	map64_destroy(&found->by_id);
	pathmap_destroy(&found->by_target);
}

const char *getmnt_version(void)
{
	return GETMNT_VERSION;
}

struct getmnt *getmnt_new(void)
{
	struct getmnt *gm = calloc(1, sizeof(*gm));
	for (int i = 0; gm && i < NOPTIONS; ++i)
		gm->options[i] = option_ranges[i].first;
	return gm;
}

void getmnt_free(struct getmnt *gm)
{
	if (!gm)
		return;
	int state = os_cancel_defer();
	struct os os = {0};
	os_close(&os, (int)gm->options[GETMNT_OPT_ROOT_FD]);
	os_close(&os, (int)gm->options[GETMNT_OPT_TABLE_FD]);
	found_destroy(&gm->last);
	free(gm);
	os_cancel_restore(state);
}

int getmnt_set(struct getmnt *gm, int option, int64_t value)
{
	bool valid = gm && option >= GETMNT_OPT_NAMES && option < NOPTIONS;
	const struct option_range *range = &option_ranges[valid ? option : 0];
	if (!valid || value < range->min || value > range->max)
		return fail(EINVAL);
	bool fd = option == GETMNT_OPT_ROOT_FD || option == GETMNT_OPT_TABLE_FD;
	int state = os_cancel_defer();
	struct os os = {0};
	/* The library keeps a duplicate of the descriptor. */
	int64_t own = fd && value >= 0 ? os_dupfd(&os, (int)value, 3) : value;
	bool done = own >= 0 || own == value;
	if (done && fd)
		os_close(&os, (int)gm->options[option]);
	if (done)
		gm->options[option] = own;
	os_cancel_restore(state);
	return done ? 0 : -1;
}

/** Whether the mount of a directory is in the table, or contains the root of this process. */
static bool root_is_ours(struct os *os, const struct mount_table *table, const struct k_statx *st,
                         unsigned mask)
{
	uint64_t id = os_statx_mnt_id(st, table->unique_ids);
	/* Before Linux 5.8 the ID is unknown. */
	bool ours = id == 0;
	for (size_t i = 0; i < table->count && !ours; ++i)
		ours = table->mounts[i].key == id;
	struct k_statx own;
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (!ours && os_statx(os, AT_FDCWD, "/", flags, mask, &own) == 0)
		ours = os_statx_mnt_id(&own, table->unique_ids) == id;
	return ours;
}

/** Find the path of the directory of GETMNT_OPT_ROOT_FD.
    @name [out]  PATH_MAX bytes.
    @return 0, or -1.  Errors: those of getmnt_run(). */
static int root_name(struct os *os, int fd, const struct mount_table *table, char *name)
{
	struct k_statx st;
	unsigned mask = table->unique_ids ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	const int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (os_statx(os, fd, "", flags, mask, &st) != 0)
		return -1;
	if (!S_ISDIR(st.mode) || (st.mask & K_STATX_NLINK && st.nlink == 0))
		return fail(ENOTDIR);
	char link[64];
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	if (os_readlinkat(os, AT_FDCWD, link, name, PATH_MAX) < 0)
		return -1;
	/* The kernel returns "(unreachable)/..." if it is not below the root of the process. */
	if (*name != '/' || !root_is_ours(os, table, &st, mask))
		return fail(EXDEV);
	return 0;
}

/** Convert the options to those of discover(). */
static void discover_options(const struct getmnt *gm, const char *prefix, double start,
                             struct discover_opts *opts)
{
	const int64_t *o = gm->options;
	discover_defaults(opts);
	opts->guest = true;
	opts->names = (enum discover_names)o[GETMNT_OPT_NAMES];
	opts->algorithm = algorithms[o[GETMNT_OPT_ALGORITHM]];
	bool limited = opts->names == DN_HINT;
	int64_t dirs = o[GETMNT_OPT_SEARCH_DIRS], ms = o[GETMNT_OPT_SEARCH_MS];
	if (dirs >= 0 || !limited)
		opts->max_dirs = dirs > 0 ? (uint64_t)dirs : 0;
	if (ms >= 0 || !limited)
		opts->max_seconds = ms > 0 ? (double)ms / 1000 : 0;
	if (o[GETMNT_OPT_MAX_MS] > 0)
		opts->deadline = start + (double)o[GETMNT_OPT_MAX_MS] / 1000;
	opts->depth = (unsigned)o[GETMNT_OPT_DEPTH];
	opts->threads = (unsigned)o[GETMNT_OPT_THREADS];
	if (prefix) {
		opts->rootfd = (int)o[GETMNT_OPT_ROOT_FD];
		opts->prefix = prefix;
	}
}

/** Run on a recorded table.  @return 0, or -1. */
static int found_record(struct found *found, const struct getmnt *gm, struct os *os)
{
	struct discover_opts opts;
	if (gm->options[GETMNT_OPT_ROOT_FD] >= 0)
		return fail(EINVAL);
	*os = (struct os){.statx_works = true};
	found->table = table_read_fd(os, (int)gm->options[GETMNT_OPT_TABLE_FD]);
	if (!found->table)
		return -1;
	if (found->table->count == 0 && found->table->nproblems > 0)
		return fail(EBADMSG);
	discover_options(gm, NULL, os_now(), &opts);
	found->d = discover(os, NULL, found->table, &opts);
	return found->d ? 0 : -1;
}

/** Run on the table of the kernel.  @return 0, or -1. */
static int found_live(struct found *found, const struct getmnt *gm, struct os *os)
{
	int rootfd = (int)gm->options[GETMNT_OPT_ROOT_FD];
	double start = os_now();
	struct discover_opts opts;
	struct prober *prober = NULL;
	struct devmap *devs = NULL;
	char prefix[PATH_MAX];

	os_init(os, secure_getenv("GETMNT_DISABLE"));
	enum discover_probe probe = (enum discover_probe)gm->options[GETMNT_OPT_PROBE];
	if (probe != DP_NONE) {
		prober = prober_new(os, (double)gm->options[GETMNT_OPT_PROBE_MS] / 1000);
		if (!prober)
			return -1;
	}
	enum table_source source = (enum table_source)gm->options[GETMNT_OPT_KERNEL];
	found->table = table_read_kernel(os, source, MF_ALL);
	if (found->table && (rootfd < 0 || root_name(os, rootfd, found->table, prefix) == 0))
		devs = mounts_devmap(os, found->table);
	if (devs) {
		discover_options(gm, rootfd >= 0 ? prefix : NULL, start, &opts);
		opts.probe = probe;
		opts.prober = prober;
		found->d = discover(os, devs, found->table, &opts);
	}
	if (found->d)
		mounts_close(found->d->mounts);
	devmap_free(devs);
	prober_free(prober);
	return found->d ? 0 : -1;
}

/** Fill the public record of a node. */
static void mount_fill(struct getmnt_mount *m, const struct discovery *d, uint32_t index)
{
	const struct mt_node *node = &d->tree.nodes[index];
	const struct mount *in = node->mount;
	uint32_t by = node->covered_by;
	*m = (struct getmnt_mount){
		.id = in->key,
		.parent_id = in->parent_key,
		.covered_by = by == MT_NONE ? 0 : d->tree.nodes[by].mount->key,
		.id32 = in->id,
		.parent_id32 = in->parent_id,
		.dev_major = in->dev_major,
		.dev_minor = in->dev_minor,
		.state = public_states[mtree_shown_state(node)],
		.named = node->named,
		.propagation = in->propagation & (MP_SHARED | MP_SLAVE | MP_UNBINDABLE),
		.kind = d->kinds[index],
		.target = d->targets[index],
		.source = in->source,
		.fstype = in->fstype,
		.fsroot = in->root,
		.vfs_options = in->vfs_opts,
		.fs_options = in->fs_opts,
		.peer_group = in->peer_group,
		.master = in->master,
		.error = d->probed ? d->probed[index].error : 0,
	};
	for (int state = 0; state < MT_NSTATES; ++state) {
		if (node->states & 1u << state)
			m->states |= public_states[state];
	}
}

/** Whether a mount is visible at its target. */
static bool mount_is_seen(const struct getmnt_mount *m)
{
	return m->target && !(m->states & (GETMNT_STATE_HIDDEN | GETMNT_STATE_OUTSIDE
	                                   | GETMNT_STATE_LOST | GETMNT_STATE_UNSEARCHED));
}

/** Build the public records and their indexes.  @return 0, or -1 (ENOMEM). */
static int found_fill(struct found *found)
{
	const struct mtree *tree = &found->d->tree;
	found->mounts = calloc((size_t)tree->count + 1, sizeof(*found->mounts));
	if (!found->mounts || map64_reserve(&found->by_id, (size_t)tree->count * 2) != 0)
		return -1;
	for (uint32_t i = 0; i < tree->count; ++i) {
		if (tree->nodes[i].made || tree->nodes[i].gone)
			continue;
		uint32_t at = (uint32_t)found->count++;
		struct getmnt_mount *m = &found->mounts[at];
		mount_fill(m, found->d, i);
		map64_put(&found->by_id, m->id, at);
		if (mount_is_seen(m) && pathmap_get(&found->by_target, m->target) == PATHMAP_NONE
		    && pathmap_add(&found->by_target, m->target, at) != 0)
			return -1;
	}
	/* A unique ID is larger than any 32-bit ID, except perhaps in a recorded table. */
	for (size_t i = 0; i < found->count; ++i)
		map64_put(&found->by_id, found->mounts[i].id32, (uint32_t)i);
	return 0;
}

/** Set the reasons and statistics of a run. */
static void found_judge(struct found *found, const struct os *os)
{
	const struct discovery *d = found->d;
	const struct mount_table *table = found->table;
	bool contradicted = false;
	for (uint32_t i = 0; i < d->tree.count && d->tree.odd && !contradicted; ++i)
		contradicted = mtree_contradicted(&d->tree.nodes[i]);
	if (table->nproblems > 0)
		found->reasons[found->nreasons++] = TABLE_UNREAD;
	if (!d->complete)
		found->reasons[found->nreasons++] = d->incomplete;
	if (contradicted)
		found->reasons[found->nreasons++] = DISCOVER_NO_TREE;

	found->stats[GETMNT_STAT_KERNEL] = table->source;
	found->stats[GETMNT_STAT_CALLS] = os_calls_total(os);
	found->stats[GETMNT_STAT_DIRS] = d->stats.dirs;
	found->stats[GETMNT_STAT_ENTRIES] = d->stats.entries;
	found->stats[GETMNT_STAT_GONE] = d->stats.gone;
	found->stats[GETMNT_STAT_UNREAD] = table->nproblems + table->more_problems;
	found->stats[GETMNT_STAT_PROBES] = d->stats.probes;
	found->stats[GETMNT_STAT_LEFT] = d->stats.probes_left;
}

/** getmnt_run() with cancellation deferred. */
static int run(struct getmnt *gm)
{
	struct os os = {0};
	struct found found = {0};
	int rc = gm->options[GETMNT_OPT_TABLE_FD] >= 0 ? found_record(&found, gm, &os)
	                                               : found_live(&found, gm, &os);
	if (rc != 0 || found_fill(&found) != 0) {
		found_destroy(&found);
		return -1;
	}
	found_judge(&found, &os);
	found_destroy(&gm->last);
	gm->last = found;
	gm->ran = true;
	return 0;
}

int getmnt_run(struct getmnt *gm)
{
	if (!gm)
		return fail(EINVAL);
	/* Before it ends, a canceled thread must wait for the threads and processes of its run. */
	int state = os_cancel_defer(), rc = run(gm);
	os_cancel_restore(state);
	return rc;
}

size_t getmnt_count(const struct getmnt *gm)
{
	return gm ? gm->last.count : 0;
}

const struct getmnt_mount *getmnt_get(const struct getmnt *gm, size_t i)
{
	return i < getmnt_count(gm) ? &gm->last.mounts[i] : NULL;
}

const struct getmnt_mount *getmnt_by_id(const struct getmnt *gm, uint64_t id)
{
	uint32_t i = gm ? map64_get(&gm->last.by_id, id) : MAP64_NONE;
	return i == MAP64_NONE ? NULL : &gm->last.mounts[i];
}

const struct getmnt_mount *getmnt_by_target(const struct getmnt *gm, const char *target)
{
	if (!gm || !target)
		return NULL;
	uint32_t i = pathmap_get(&gm->last.by_target, target);
	return i == PATHMAP_NONE ? NULL : &gm->last.mounts[i];
}

int getmnt_complete(const struct getmnt *gm)
{
	return gm && gm->ran && gm->last.nreasons == 0;
}

const char *getmnt_reason(const struct getmnt *gm, size_t i)
{
	return gm && i < gm->last.nreasons ? gm->last.reasons[i] : NULL;
}

uint64_t getmnt_stat(const struct getmnt *gm, int stat)
{
	return gm && stat > 0 && stat < NSTATS ? gm->last.stats[stat] : 0;
}

const char *getmnt_state_name(uint32_t state)
{
	for (int i = 0; i < MT_NSTATES; ++i) {
		if (public_states[i] == state)
			return mtree_state_name((enum mt_state)i);
	}
	return "unknown";
}

const char *getmnt_named_name(uint32_t named)
{
	return named <= GETMNT_NAMED_VERIFIED ? mtree_named_name((enum mt_named)named) : "unknown";
}
