/* SPDX-License-Identifier: MIT */
/*
 * The mount table by listmount(2) and statmount(2).
 *
 * listmount returns the IDs in pages, ascending (parents need not come first).  statmount returns
 * one mount at a time; its cost depends on the mask (IDs alone take a quarter of the time of all
 * fields), so that the mask is the smallest that the requested fields need.
 *
 * Linux 6.18 returns root, point, type, subtype and source as raw bytes, and the options as in the
 * last field of mountinfo after "rw,", with escapes.  A bit is absent in the mask of the answer if
 * the field is empty (no subtype, no options, an empty source) or unknown to the kernel.  Kernels
 * since 6.15 report the bits that they know; with older ones, a bit that no mount of the table has
 * is taken as unknown.  Unknown fields come from mountinfo, joined by the 32-bit ID.
 */
#include "table/table_impl.h"

#include "base/map64.h"
#include "base/strbuf.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
	LIST_PAGE = 2048,
	STAT_ROOM = 4096,              /* first size of the statmount buffer */
	STAT_ROOM_MAX = 64 << 20,
	RELISTS = 3,
	THREADS_FROM = 256,            /* number of mounts from which threads pay off */
	THREADS_MAX = 4,
	DEPTH_MAX = 256,               /* average depth; of a usual table it is below 10 */
};

struct reader {
	struct os *os;
	struct mount_table *table;
	unsigned fields;               /* requested enum mount_fields */
	uint64_t mask;                 /* requested STATMOUNT_* */
	uint64_t seen;                 /* bits that any mount had */
	struct k_statmount *buf;
	size_t room;
	uint64_t *missed;              /* IDs that were listed, but statmount failed */
	size_t nmissed;
	struct strbuf text;
	uint64_t attr;                 /* the attributes that vfs_opts was made from */
	const char *vfs_opts;
	bool allowed;                  /* statmount is permitted; EPERM is about one mount */
	unsigned pages;                /* number of listmount calls */
	unsigned threads;              /* number of processors; 0: not known yet */
	uint32_t *depth;               /* of each mount of the table; or NULL */
	uint64_t steps;                /* sum of the depths */
};

/* Strings. */

/** The string at an offset, or NULL if the answer does not have that bit. */
static const char *reader_str(const struct reader *r, uint64_t bit, uint32_t offset)
{
	size_t room = r->room - sizeof(*r->buf);
	if (!(r->buf->mask & bit) || offset >= room
	    || !memchr(r->buf->str + offset, '\0', room - offset))
		return NULL;
	return r->buf->str + offset;
}

/**
 * Copy a string into the table, or share that of the preceding record if they are equal.
 *
 * @return 0, or -1 (ENOMEM).
 */
static int reader_keep(struct reader *r, const char *str, const char *before, const char **kept)
{
	if (!str) {
		*kept = NULL;
		return 0;
	}
	if (before && strcmp(str, before) == 0) {
		*kept = before;
		return 0;
	}
	*kept = arena_strndup(&r->table->arena, str, strlen(str));
	return *kept ? 0 : -1;
}

/** Copy the content of the text buffer into the table. */
static int reader_keep_text(struct reader *r, const char *before, const char **kept)
{
	if (r->text.failed) {
		errno = ENOMEM;
		return -1;
	}
	return reader_keep(r, strbuf_str(&r->text), before, kept);
}

/** A flag and its name in mountinfo. */
struct flag_word {
	uint64_t mask, value;
	const char *word;
};

static void put_flags(struct strbuf *out, uint64_t flags, const struct flag_word *words, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		if ((flags & words[i].mask) == words[i].value)
			strbuf_puts(out, words[i].word);
	}
}

/** Set the options of the mount, in the order of show_mnt_opts(), fs/proc_namespace.c. */
static int read_vfs_opts(struct reader *r, struct mount *m)
{
	static const struct flag_word words[] = {
		{MOUNT_ATTR_RDONLY, MOUNT_ATTR_RDONLY, "ro"},
		{MOUNT_ATTR_RDONLY, 0, "rw"},
		{MOUNT_ATTR_NOSUID, MOUNT_ATTR_NOSUID, ",nosuid"},
		{MOUNT_ATTR_NODEV, MOUNT_ATTR_NODEV, ",nodev"},
		{MOUNT_ATTR_NOEXEC, MOUNT_ATTR_NOEXEC, ",noexec"},
		{MOUNT_ATTR__ATIME, MOUNT_ATTR_NOATIME, ",noatime"},
		{MOUNT_ATTR_NODIRATIME, MOUNT_ATTR_NODIRATIME, ",nodiratime"},
		{MOUNT_ATTR__ATIME, MOUNT_ATTR_RELATIME, ",relatime"},
		{MOUNT_ATTR_NOSYMFOLLOW, MOUNT_ATTR_NOSYMFOLLOW, ",nosymfollow"},
		{MOUNT_ATTR_IDMAP, MOUNT_ATTR_IDMAP, ",idmapped"},
	};
	if (!r->vfs_opts || r->attr != r->buf->mnt_attr) {
		strbuf_reset(&r->text);
		put_flags(&r->text, r->buf->mnt_attr, words, sizeof(words) / sizeof(*words));
		if (reader_keep_text(r, NULL, &r->vfs_opts) != 0)
			return -1;
		r->attr = r->buf->mnt_attr;
	}
	m->vfs_opts = r->vfs_opts;
	return 0;
}

/** Set the options of the file system, in the order of show_sb_opts(). */
static int read_fs_opts(struct reader *r, struct mount *m, const struct mount *before)
{
	static const struct flag_word words[] = {
		{MS_RDONLY, MS_RDONLY, "ro"},
		{MS_RDONLY, 0, "rw"},
		{MS_SYNCHRONOUS, MS_SYNCHRONOUS, ",sync"},
		{MS_DIRSYNC, MS_DIRSYNC, ",dirsync"},
		{MS_MANDLOCK, MS_MANDLOCK, ",mand"},
		{MS_LAZYTIME, MS_LAZYTIME, ",lazytime"},
	};
	const char *opts = reader_str(r, K_STATMOUNT_MNT_OPTS, r->buf->mnt_opts);
	strbuf_reset(&r->text);
	put_flags(&r->text, r->buf->sb_flags, words, sizeof(words) / sizeof(*words));
	if (opts && *opts) {
		strbuf_putc(&r->text, ',');
		strbuf_puts(&r->text, opts);
	}
	return reader_keep_text(r, before ? before->fs_opts : NULL, &m->fs_opts);
}

/** Set the type, with its subtype. */
static int read_fstype(struct reader *r, struct mount *m, const struct mount *before)
{
	const char *type = reader_str(r, K_STATMOUNT_FS_TYPE, r->buf->fs_type);
	const char *subtype = reader_str(r, K_STATMOUNT_FS_SUBTYPE, r->buf->fs_subtype);
	if (type && subtype && *subtype) {
		strbuf_reset(&r->text);
		strbuf_puts(&r->text, type);
		strbuf_putc(&r->text, '.');
		strbuf_puts(&r->text, subtype);
		return reader_keep_text(r, before ? before->fstype : NULL, &m->fstype);
	}
	return reader_keep(r, type, before ? before->fstype : NULL, &m->fstype);
}

/** Set the propagation, and the text of mountinfo's optional fields. */
static int read_propagation(struct reader *r, struct mount *m)
{
	const struct k_statmount *sm = r->buf;
	strbuf_reset(&r->text);
	if (sm->mnt_propagation & MS_SHARED) {
		m->propagation |= MP_SHARED;
		m->peer_group = sm->mnt_peer_group;
		strbuf_printf(&r->text, " shared:%llu", (unsigned long long)m->peer_group);
	}
	if (sm->mnt_propagation & MS_SLAVE) {
		m->propagation |= MP_SLAVE;
		m->master = sm->mnt_master;
		strbuf_printf(&r->text, " master:%llu", (unsigned long long)m->master);
		/* The nearest peer group below this root; mountinfo shows it if it differs. */
		if (sm->mask & K_STATMOUNT_PROPAGATE_FROM && sm->propagate_from != 0
		    && sm->propagate_from != m->master) {
			m->propagate_from = sm->propagate_from;
			strbuf_printf(&r->text, " propagate_from:%llu",
			              (unsigned long long)m->propagate_from);
		}
	}
	if (sm->mnt_propagation & MS_UNBINDABLE) {
		m->propagation |= MP_UNBINDABLE;
		strbuf_puts(&r->text, " unbindable");
	}
	if (r->text.len == 0 && !r->text.failed)
		return 0;
	if (reader_keep_text(r, NULL, &m->opt_fields) != 0)
		return -1;
	++m->opt_fields;   /* the first blank */
	return 0;
}

/* One mount. */

/** The smallest mask for the requested fields, of the bits that this kernel has. */
static uint64_t reader_mask(const struct os *os, unsigned fields)
{
	uint64_t mask = K_STATMOUNT_MNT_BASIC;
	if (fields & MF_DEV)
		mask |= K_STATMOUNT_SB_BASIC;
	if (fields & MF_ROOT)
		mask |= K_STATMOUNT_MNT_ROOT;
	if (fields & MF_POINT)
		mask |= K_STATMOUNT_MNT_POINT;
	if (fields & MF_FSTYPE)
		mask |= K_STATMOUNT_FS_TYPE | K_STATMOUNT_FS_SUBTYPE;
	if (fields & MF_SOURCE)
		mask |= K_STATMOUNT_SB_SOURCE;
	if (fields & MF_FS_OPTS)
		mask |= K_STATMOUNT_SB_BASIC | K_STATMOUNT_MNT_OPTS;
	if (fields & MF_PROPAGATION)
		mask |= K_STATMOUNT_PROPAGATE_FROM;
	/* Kernels that know the source know the subtype. */
	if (fields & MF_FSTYPE && os->statmount_mask == 0)
		mask |= K_STATMOUNT_SB_SOURCE;
	return os->statmount_mask ? mask & os->statmount_mask : mask;
}

/** Read a mount, enlarging the buffer as needed.  @return 0, or -1. */
static int reader_ask(struct reader *r, uint64_t id)
{
	while (os_statmount(r->os, id, r->mask, r->buf, r->room) != 0) {
		if (errno != EOVERFLOW || r->room >= STAT_ROOM_MAX)
			return -1;
		struct k_statmount *bigger = realloc(r->buf, r->room * 2);
		if (!bigger)
			return -1;
		r->buf = bigger;
		r->room *= 2;
	}
	return 0;
}

/** Fill a record from the answer; before is the preceding record, or NULL. */
static int reader_fill(struct reader *r, struct mount *m, const struct mount *before)
{
	const struct k_statmount *sm = r->buf;
	r->seen |= sm->mask;
	m->key = m->uniq_id = sm->mnt_id;
	m->parent_key = sm->mnt_parent_id;
	m->id = sm->mnt_id_old;
	m->parent_id = sm->mnt_parent_id_old;
	if (sm->mask & K_STATMOUNT_SB_BASIC) {
		m->dev_major = sm->sb_dev_major;
		m->dev_minor = sm->sb_dev_minor;
	}
	if (reader_keep(r, reader_str(r, K_STATMOUNT_MNT_ROOT, sm->mnt_root),
	                before ? before->root : NULL, &m->root) != 0
	    || reader_keep(r, reader_str(r, K_STATMOUNT_MNT_POINT, sm->mnt_point), NULL,
	                   &m->point) != 0
	    || reader_keep(r, reader_str(r, K_STATMOUNT_SB_SOURCE, sm->sb_source),
	                   before ? before->source : NULL, &m->source) != 0)
		return -1;
	if (m->source && !*m->source)
		m->source = NULL;
	if (r->fields & MF_FSTYPE && read_fstype(r, m, before) != 0)
		return -1;
	if (r->fields & MF_VFS_OPTS && read_vfs_opts(r, m) != 0)
		return -1;
	if (r->fields & MF_FS_OPTS && read_fs_opts(r, m, before) != 0)
		return -1;
	return r->fields & MF_PROPAGATION ? read_propagation(r, m) : 0;
}

/** Remember an ID for which statmount failed.  @return 0, or -1. */
static int reader_miss(struct reader *r, uint64_t id)
{
	uint64_t *bigger = reallocarray(r->missed, r->nmissed + 1, sizeof(*bigger));
	if (!bigger)
		return -1;
	r->missed = bigger;
	r->missed[r->nmissed++] = id;
	return 0;
}

/** Add a mount to the table unless it was unmounted.  @return 0, or -1. */
static int reader_add(struct reader *r, uint64_t id)
{
	struct mount_table *table = r->table;
	if (reader_ask(r, id) != 0) {
		/* EPERM: moved out of this root; for the first mount: not permitted at all. */
		if (errno != ENOENT && (errno != EPERM || !r->allowed))
			return -1;
		++table->vanished;
		return reader_miss(r, id);
	}
	r->allowed = true;
	struct mount *m = table_add(table);
	if (!m)
		return -1;
	return reader_fill(r, m, table->count > 1 ? m - 1 : NULL);
}

/* All mounts. */

/** Ascending, like listmount. */
static int compare_ids(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

int table_list_ids(struct os *os, uint64_t top, uint64_t **ids, size_t *n)
{
	uint64_t *list = NULL;
	size_t count = 0, room = 0;
	for (;;) {
		if (room - count < LIST_PAGE) {
			room = room * 2 + LIST_PAGE;
			uint64_t *bigger = reallocarray(list, room, sizeof(*list));
			if (!bigger)
				goto fail;
			list = bigger;
		}
		uint64_t last = count ? list[count - 1] : 0;
		ssize_t got = os_listmount(os, top, last, list + count, LIST_PAGE);
		if (got < 0)
			goto fail;
		count += (size_t)got;
		if (got < LIST_PAGE)
			break;
	}
	*ids = list;
	*n = count;
	return 0;

fail:
	free(list);
	return -1;
}

/**
 * Check that the missed mounts were unmounted.  One that is still listed is refused by a security
 * policy, so that the table would be incomplete.
 *
 * @return 0, or -1.
 * Errors: EPERM.
 */
static int reader_check_missed(struct reader *r)
{
	uint64_t *ids = NULL;
	size_t n = 0;
	if (r->nmissed == 0)
		return 0;
	if (table_list_ids(r->os, K_LSMT_ROOT, &ids, &n) != 0)
		return -1;
	bool listed = false;
	for (size_t i = 0; i < r->nmissed && !listed; ++i)
		listed = bsearch(&r->missed[i], ids, n, sizeof(*ids), compare_ids) != NULL;
	free(ids);
	errno = EPERM;
	return listed ? -1 : 0;
}

/**
 * List again, and merge: drop what is no longer listed, add new mounts, and read mounts without a
 * parent in the table again, since they may have moved.
 */
static int reader_relist(struct reader *r)
{
	struct mount_table *table = r->table;
	struct mount *old = table->mounts;
	size_t nold = table->count;
	uint64_t *ids = NULL;
	size_t n = 0, kept = 0;
	int rc = -1;
	struct map64 known;

	map64_init(&known);
	if (map64_reserve(&known, nold) != 0 || table_list_ids(r->os, K_LSMT_ROOT, &ids, &n) != 0)
		goto out;
	for (size_t i = 0; i < nold; ++i)
		map64_put(&known, old[i].key, (uint32_t)i);

	table->mounts = NULL;
	table->count = table->mounts_room = 0;
	++table->relisted;
	rc = 0;
	for (size_t i = 0; rc == 0 && i < n; ++i) {
		uint32_t at = map64_get(&known, ids[i]);
		kept += at != MAP64_NONE;
		if (at == MAP64_NONE || map64_get(&known, old[at].parent_key) == MAP64_NONE) {
			rc = reader_add(r, ids[i]);
			continue;
		}
		struct mount *m = table_add(table);
		if (m)
			*m = old[at];
		else
			rc = -1;
	}
	table->vanished += (unsigned)(nold - kept);
	free(old);
out:
	free(ids);
	map64_destroy(&known);
	return rc;
}

/**
 * Drop mounts whose 32-bit ID was reused while the table was read: of two with the same ID, the
 * older one, which has the smaller key.
 *
 * @return 0, or -1 (ENOMEM).
 */
static int reader_drop_reused(struct reader *r)
{
	struct mount_table *table = r->table;
	struct map64 latest;
	map64_init(&latest);
	if (map64_reserve(&latest, table->count) != 0)
		return -1;
	for (size_t i = table->count; i-- > 0;)
		map64_put(&latest, table->mounts[i].id, (uint32_t)i);
	size_t kept = 0;
	for (size_t i = 0; i < table->count; ++i) {
		if (map64_get(&latest, table->mounts[i].id) == i)
			table->mounts[kept++] = table->mounts[i];
	}
	table->vanished += (unsigned)(table->count - kept);
	table->count = kept;
	map64_destroy(&latest);
	return 0;
}

/* Fields that statmount does not have. */

/** Whether the kernel knows a bit, as far as is known. */
static bool reader_knows(const struct reader *r, uint64_t bit)
{
	return (r->os->statmount_mask ? r->os->statmount_mask : r->seen) & bit;
}

/** The requested fields that must come from mountinfo. */
static unsigned reader_lacks(const struct reader *r)
{
	unsigned lacks = 0;
	if (r->table->count == 0)
		return 0;
	if (r->fields & MF_SOURCE && !reader_knows(r, K_STATMOUNT_SB_SOURCE))
		lacks |= MF_SOURCE;
	if (r->fields & MF_FS_OPTS && !reader_knows(r, K_STATMOUNT_MNT_OPTS))
		lacks |= MF_FS_OPTS;
	uint64_t subtype = K_STATMOUNT_FS_SUBTYPE;
	if (r->os->statmount_mask == 0)
		subtype |= K_STATMOUNT_SB_SOURCE;
	if (r->fields & MF_FSTYPE && !reader_knows(r, subtype)) {
		/* Only FUSE has subtypes. */
		for (size_t i = 0; i < r->table->count && !(lacks & MF_FSTYPE); ++i) {
			const char *type = r->table->mounts[i].fstype;
			if (type && strncmp(type, "fuse", 4) == 0)
				lacks |= MF_FSTYPE;
		}
	}
	return lacks;
}

/** Copy fields from another record of the same mount; without one, clear them. */
static int reader_take(struct reader *r, struct mount *m, const struct mount *other,
                       unsigned fields)
{
	if (fields & MF_SOURCE
	    && reader_keep(r, other ? other->source : NULL, NULL, &m->source) != 0)
		return -1;
	if (fields & MF_FS_OPTS
	    && reader_keep(r, other ? other->fs_opts : NULL, NULL, &m->fs_opts) != 0)
		return -1;
	if (fields & MF_FSTYPE && other && reader_keep(r, other->fstype, NULL, &m->fstype) != 0)
		return -1;
	return 0;
}

/** Fill the fields that statmount does not have from mountinfo.  @return 0, or -1 (ENOMEM). */
static int reader_complete(struct reader *r)
{
	struct mount_table *table = r->table;
	unsigned lacks = reader_lacks(r);
	table->fields = r->fields | MF_IDS;
	if (lacks == 0)
		return 0;

	struct map64 ids;
	map64_init(&ids);
	int rc = -1;
	struct mount_table *info = table_read_mountinfo(r->os, AT_FDCWD, TABLE_SELF_MOUNTINFO);
	if (!info && errno == ENOMEM)
		goto out;
	if (!info)   /* types stay, without subtypes */
		table->fields &= ~(lacks & ~(unsigned)MF_FSTYPE);
	if (map64_reserve(&ids, info ? info->count : 0) != 0)
		goto out;
	for (size_t i = 0; info && i < info->count; ++i)
		map64_put(&ids, info->mounts[i].id, (uint32_t)i);

	rc = 0;
	for (size_t i = 0; rc == 0 && i < table->count; ++i) {
		uint32_t at = map64_get(&ids, table->mounts[i].id);
		const struct mount *other = at == MAP64_NONE ? NULL : &info->mounts[at];
		rc = reader_take(r, &table->mounts[i], other, lacks);
	}
out:
	map64_destroy(&ids);
	table_free(info);
	return rc;
}

/* Reading a table. */

static int reader_init(struct reader *r, struct os *os, unsigned fields)
{
	*r = (struct reader){
		.os = os,
		.fields = fields & MF_ALL,
		.mask = reader_mask(os, fields),
		.room = STAT_ROOM,
	};
	strbuf_init(&r->text);
	r->table = table_new(TABLE_LISTMOUNT);
	r->buf = calloc(1, r->room);
	if (!r->table || !r->buf)
		return -1;
	r->table->unique_ids = true;
	return 0;
}

/** @return the table, or NULL if it failed. */
static struct mount_table *reader_finish(struct reader *r, bool failed)
{
	int error = errno;
	if (failed) {
		table_free(r->table);
		r->table = NULL;
	}
	free(r->buf);
	free(r->missed);
	free(r->depth);
	strbuf_destroy(&r->text);
	errno = error;
	return r->table;
}

/** Add many mounts.  @return 0, or -1. */
static int reader_add_all(struct reader *r, const uint64_t *ids, size_t n)
{
	if (table_reserve(r->table, r->table->count + n) != 0)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		if (reader_add(r, ids[i]) != 0)
			return -1;
	}
	return 0;
}

/** A part of the IDs, and the thread that reads their mounts. */
struct share {
	struct reader r;
	struct os os;
	const uint64_t *ids;
	size_t n;
	pthread_t thread;
	bool started;
	int error;      /* errno of a failure; 0 */
};

static void *share_main(void *arg)
{
	struct share *share = arg;
	/* The first mount of the table, read by the main thread, shows whether it is permitted. */
	share->r.allowed = true;
	if (reader_add_all(&share->r, share->ids, share->n) != 0)
		share->error = errno;
	return NULL;
}

/** Append the mounts of a share to the table.  @return 0, or -1. */
static int share_join(struct reader *r, struct share *share)
{
	struct mount_table *table = r->table, *more = share->r.table;
	if (share->error || table_reserve(table, table->count + more->count) != 0) {
		errno = share->error ? share->error : ENOMEM;
		return -1;
	}
	if (more->count > 0)
		memcpy(table->mounts + table->count, more->mounts,
		       more->count * sizeof(*more->mounts));
	table->count += more->count;
	table->vanished += more->vanished;
	r->seen |= share->r.seen;
	for (size_t i = 0; i < share->r.nmissed; ++i) {
		if (reader_miss(r, share->r.missed[i]) != 0)
			return -1;
	}
	arena_merge(&table->arena, &more->arena);
	return 0;
}

/**
 * Add many mounts, by several threads if that pays off: statmount runs in the kernel without a
 * lock that others wait for.  The calls are the same with any number of threads.
 */
static int reader_add_shared(struct reader *r, const uint64_t *ids, size_t n)
{
	if (n >= THREADS_FROM && r->threads == 0)
		r->threads = os_cpus(r->os);
	unsigned threads = r->threads < THREADS_MAX ? r->threads : THREADS_MAX;
	if (n < THREADS_FROM)
		threads = 1;
	size_t each = n / threads;
	struct share shares[THREADS_MAX];
	for (unsigned i = 1; i < threads; ++i) {
		struct share *share = &shares[i];
		*share = (struct share){
			.ids = ids + i * each,
			.n = i == threads - 1 ? n - i * each : each,
		};
		os_clone_state(&share->os, r->os);
		if (reader_init(&share->r, &share->os, r->fields) != 0)
			share->error = errno;
		else
			share->started = os_thread(&share->thread, share_main, share) == 0;
	}

	int rc = reader_add_all(r, ids, threads > 1 ? each : n);
	int error = errno;
	for (unsigned i = 1; i < threads; ++i) {
		struct share *share = &shares[i];
		if (share->started)
			pthread_join(share->thread, NULL);
		else if (!share->error)
			share_main(share);   /* the thread could not be created */
		if (rc == 0 && share_join(r, share) != 0) {
			rc = -1;
			error = errno;
		}
		os_join(r->os, &share->os);
		reader_finish(&share->r, true);
	}
	errno = error;
	return rc;
}

/** The index of a key in a table that is sorted by keys, or SIZE_MAX. */
static size_t table_index(const struct mount_table *table, uint64_t key)
{
	size_t low = 0, high = table->count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (table->mounts[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < table->count && table->mounts[low].key == key ? low : SIZE_MAX;
}

/** Add the depths of the mounts from an index on to steps.  @return 0, or -1 (ENOMEM). */
static int reader_count_steps(struct reader *r, size_t from)
{
	const struct mount_table *table = r->table;
	uint32_t *depth = reallocarray(r->depth, table->count + 1, sizeof(*depth));
	if (!depth)
		return -1;
	r->depth = depth;
	for (size_t i = from; i < table->count; ++i) {
		size_t parent = table_index(table, table->mounts[i].parent_key);
		depth[i] = parent < i ? depth[parent] + 1 : 0;
		r->steps += depth[i];
	}
	return 0;
}

/** Read all mounts, page by page.  See table_read_listmount(). */
static int reader_read(struct reader *r, bool any_depth)
{
	uint64_t page[LIST_PAGE], last = 0;
	for (;;) {
		ssize_t got = os_listmount(r->os, K_LSMT_ROOT, last, page, LIST_PAGE);
		size_t from = r->table->count;
		++r->pages;
		if (got < 0 || reader_add_shared(r, page, (size_t)got) != 0)
			return -1;
		if (got < LIST_PAGE)
			return 0;
		last = page[got - 1];
		if (any_depth)
			continue;
		if (reader_count_steps(r, from) != 0)
			return -1;
		if (r->steps > (uint64_t)DEPTH_MAX * r->table->count) {
			errno = E2BIG;
			return -1;
		}
	}
}

struct mount_table *table_read_listmount(struct os *os, unsigned fields, bool any_depth)
{
	struct reader r;
	bool failed = true;

	if (reader_init(&r, os, fields) != 0 || reader_read(&r, any_depth) != 0)
		goto out;
	for (;;) {
		/* The IDs of a single listmount call existed at the same time. */
		if ((r.pages > 1 || r.table->relisted > 0) && reader_drop_reused(&r) != 0)
			goto out;
		int torn = r.table->relisted < RELISTS ? table_torn(r.table) : 0;
		if (torn == 0)
			break;
		if (torn < 0 || reader_relist(&r) != 0)
			goto out;
	}
	failed = reader_check_missed(&r) != 0 || reader_complete(&r) != 0;
out:
	return reader_finish(&r, failed);
}

struct mount_table *table_ask_listmount(struct os *os, unsigned fields, const uint64_t *keys,
                                        size_t n)
{
	struct reader r;
	bool failed = true;
	if (reader_init(&r, os, fields) != 0)
		goto out;
	r.allowed = true;   /* the table was read before */
	if (reader_add_all(&r, keys, n) != 0)
		goto out;
	failed = reader_check_missed(&r) != 0 || reader_complete(&r) != 0;
out:
	return reader_finish(&r, failed);
}
