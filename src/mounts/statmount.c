/* SPDX-License-Identifier: MIT */
/*
 * Reading one mount by statmount(2).
 *
 * The cost of a call depends on the mask (IDs alone take a quarter of the time of all fields), so
 * the mask has only the bits that the requested fields need.
 *
 * Linux 6.18 returns root, point, type, subtype and source as raw bytes, and the options as in the
 * last field of mountinfo after "rw,", with escapes.  A bit is missing from the mask of the answer
 * if the field is empty (no subtype, no options, an empty source) or unknown to the
 * kernel.  Kernels since 6.15 report which bits they support; with older ones, a bit that is
 * missing for all mounts of the table counts as unsupported.  Unsupported fields come from
 * mountinfo, joined by the 32-bit ID.
 */
#include "mounts/table_impl.h"

#include "base/array.h"

#include <fcntl.h>
#include <linux/mount.h>
#include <stdlib.h>

enum {
	STAT_ROOM = 4096,              /* initial size of the statmount buffer */
	STAT_ROOM_MAX = 64 << 20,
};

/* Strings. */

/** The string at an offset, or NULL if the answer lacks that bit. */
static const char *reader_str(const struct reader *r, uint64_t bit, uint32_t offset)
{
	size_t room = r->room - sizeof(*r->buf);
	if (!(r->buf->mask & bit) || offset >= room
	    || !memchr(r->buf->str + offset, '\0', room - offset))
		return NULL;
	return r->buf->str + offset;
}

/** Copy a string into the table, or share the preceding record's string if equal.
    @return the string; NULL for NULL, or on failure with r->failed set. */
static const char *reader_keep(struct reader *r, const char *str, const char *before)
{
	if (!str || (before && strcmp(str, before) == 0))
		return str ? before : NULL;
	const char *kept = arena_strndup(&r->table->arena, str, strlen(str));
	r->failed |= !kept;
	return kept;
}

/** Copy the text buffer into the table. */
static const char *reader_keep_text(struct reader *r, const char *before)
{
	r->failed |= r->text.failed;
	return r->text.failed ? NULL : reader_keep(r, strbuf_str(&r->text), before);
}

/** A flag and its name in mountinfo. */
struct flag_word {
	uint64_t mask, value;
	const char *word;
};

static void put_flags(struct strbuf *out, uint64_t flags, const struct flag_word *words)
{
	strbuf_reset(out);
	for (; words->word; ++words) {
		if ((flags & words->mask) == words->value)
			strbuf_puts(out, words->word);
	}
}

/** The options of the mount, in the order of show_mnt_opts(), fs/proc_namespace.c. */
static const char *read_vfs_opts(struct reader *r)
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
		{0, 0, NULL},
	};
	if (!r->vfs_opts || r->attr != r->buf->mnt_attr) {
		put_flags(&r->text, r->buf->mnt_attr, words);
		r->vfs_opts = reader_keep_text(r, NULL);
		r->attr = r->buf->mnt_attr;
	}
	return r->vfs_opts;
}

/** The options of the file system, in the order of show_sb_opts(). */
static const char *read_fs_opts(struct reader *r, const char *before)
{
	static const struct flag_word words[] = {
		{MS_RDONLY, MS_RDONLY, "ro"},
		{MS_RDONLY, 0, "rw"},
		{MS_SYNCHRONOUS, MS_SYNCHRONOUS, ",sync"},
		{MS_DIRSYNC, MS_DIRSYNC, ",dirsync"},
		{MS_MANDLOCK, MS_MANDLOCK, ",mand"},
		{MS_LAZYTIME, MS_LAZYTIME, ",lazytime"},
		{0, 0, NULL},
	};
	const char *opts = reader_str(r, K_STATMOUNT_MNT_OPTS, r->buf->mnt_opts);
	put_flags(&r->text, r->buf->sb_flags, words);
	if (opts && *opts) {
		strbuf_putc(&r->text, ',');
		strbuf_puts(&r->text, opts);
	}
	return reader_keep_text(r, before);
}

/** The type with its subtype ("fuse.sshfs"). */
static const char *read_fstype(struct reader *r, const char *before)
{
	const char *type = reader_str(r, K_STATMOUNT_FS_TYPE, r->buf->fs_type);
	const char *subtype = reader_str(r, K_STATMOUNT_FS_SUBTYPE, r->buf->fs_subtype);
	if (!type || !subtype || !*subtype)
		return reader_keep(r, type, before);
	strbuf_reset(&r->text);
	strbuf_printf(&r->text, "%s.%s", type, subtype);
	return reader_keep_text(r, before);
}

/** Set the propagation, and the text of mountinfo's optional fields. */
static void read_propagation(struct reader *r, struct mount *m)
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
		/* The nearest peer group below this root; mountinfo shows it if it is not the
		   master. */
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
	const char *fields = reader_keep_text(r, NULL);
	m->opt_fields = fields && *fields ? fields + 1 : NULL;   /* skip the leading blank */
}

/* One mount. */

/** The smallest mask for the requested fields, limited to bits that this kernel supports. */
static uint64_t reader_mask(const struct os *os, unsigned fields)
{
	static const struct {
		unsigned fields;
		uint64_t mask;
	} rows[] = {
		{MF_DEV, K_STATMOUNT_SB_BASIC},
		{MF_ROOT, K_STATMOUNT_MNT_ROOT},
		{MF_POINT, K_STATMOUNT_MNT_POINT},
		{MF_FSTYPE, K_STATMOUNT_FS_TYPE | K_STATMOUNT_FS_SUBTYPE},
		{MF_SOURCE, K_STATMOUNT_SB_SOURCE},
		{MF_FS_OPTS, K_STATMOUNT_SB_BASIC | K_STATMOUNT_MNT_OPTS},
		{MF_PROPAGATION, K_STATMOUNT_PROPAGATE_FROM},
	};
	uint64_t mask = K_STATMOUNT_MNT_BASIC;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		mask |= fields & rows[i].fields ? rows[i].mask : 0;
	/* Kernels that report the source also report the subtype. */
	if (fields & MF_FSTYPE && os->statmount_mask == 0)
		mask |= K_STATMOUNT_SB_SOURCE;
	return os->statmount_mask ? mask & os->statmount_mask : mask;
}

int reader_init(struct reader *r, struct os *os, unsigned fields)
{
	*r = (struct reader){
		.os = os,
		.fields = fields & MF_ALL,
		.mask = reader_mask(os, fields),
		.room = STAT_ROOM,
	};
	r->table = table_new(TABLE_LISTMOUNT);
	r->buf = calloc(1, r->room);
	if (!r->table || !r->buf)
		return -1;
	r->table->unique_ids = true;
	return 0;
}

struct mount_table *reader_finish(struct reader *r, bool failed)
{
	if (failed) {
		table_free(r->table);
		r->table = NULL;
	}
	free(r->buf);
	free(r->missed);
	strbuf_destroy(&r->text);
	return r->table;
}

/** Call statmount(2), enlarging the buffer as needed.  @return 0, or -1. */
static int reader_stat(struct reader *r, uint64_t id)
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

/** Fill a record from the answer.  @before  The preceding record, or an empty one. */
static void reader_fill(struct reader *r, struct mount *m, const struct mount *before)
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
	const char *source = reader_str(r, K_STATMOUNT_SB_SOURCE, sm->sb_source);
	m->root = reader_keep(r, reader_str(r, K_STATMOUNT_MNT_ROOT, sm->mnt_root), before->root);
	m->point = reader_keep(r, reader_str(r, K_STATMOUNT_MNT_POINT, sm->mnt_point), NULL);
	m->source = reader_keep(r, source && *source ? source : NULL, before->source);
	if (r->fields & MF_FSTYPE)
		m->fstype = read_fstype(r, before->fstype);
	if (r->fields & MF_VFS_OPTS)
		m->vfs_opts = read_vfs_opts(r);
	if (r->fields & MF_FS_OPTS)
		m->fs_opts = read_fs_opts(r, before->fs_opts);
	if (r->fields & MF_PROPAGATION)
		read_propagation(r, m);
}

int reader_miss(struct reader *r, uint64_t id)
{
	if (!ARRAY_ROOM(r->missed, r->nmissed, &r->missed_room))
		return -1;
	r->missed[r->nmissed++] = id;
	return 0;
}

int reader_add(struct reader *r, uint64_t id)
{
	static const struct mount none;
	struct mount_table *table = r->table;
	if (reader_stat(r, id) != 0) {
		/* EPERM: the mount was moved out of this root; for the first mount: statmount is
		   not permitted. */
		if (errno != ENOENT && (errno != EPERM || !r->allowed))
			return -1;
		++table->vanished;
		return reader_miss(r, id);
	}
	r->allowed = true;
	struct mount *m = table_add(table);
	if (!m)
		return -1;
	reader_fill(r, m, table->count > 1 ? m - 1 : &none);
	return r->failed ? fail(ENOMEM) : 0;
}

/* Fields that statmount does not report. */

/** Whether the kernel supports a bit, as far as is known. */
static bool reader_knows(const struct reader *r, uint64_t bit)
{
	return (r->os->statmount_mask ? r->os->statmount_mask : r->seen) & bit;
}

/** The requested fields that must be read from mountinfo. */
static unsigned reader_lacks(const struct reader *r)
{
	uint64_t subtype = K_STATMOUNT_FS_SUBTYPE;
	unsigned lacks = 0;
	if (r->os->statmount_mask == 0)
		subtype |= K_STATMOUNT_SB_SOURCE;
	if (!reader_knows(r, K_STATMOUNT_SB_SOURCE))
		lacks |= MF_SOURCE;
	if (!reader_knows(r, K_STATMOUNT_MNT_OPTS))
		lacks |= MF_FS_OPTS;
	/* Only FUSE types have subtypes. */
	for (size_t i = 0; i < r->table->count && !reader_knows(r, subtype); ++i) {
		const char *type = r->table->mounts[i].fstype;
		if (type && strncmp(type, "fuse", 4) == 0)
			lacks |= MF_FSTYPE;
	}
	return r->table->count ? lacks & r->fields : 0;
}

int reader_complete(struct reader *r)
{
	static const struct mount none;
	struct mount_table *table = r->table;
	unsigned lacks = reader_lacks(r);
	table->fields = r->fields | MF_IDS;
	if (lacks == 0)
		return 0;

	struct map64 ids = {0};
	struct mount_table *info = table_read_mountinfo(r->os, AT_FDCWD, TABLE_SELF_MOUNTINFO);
	if (!info)   /* keep types without subtypes */
		table->fields &= ~(lacks & ~(unsigned)MF_FSTYPE);
	bool failed = (!info && errno == ENOMEM) || map64_reserve(&ids, info ? info->count : 0);
	for (size_t i = 0; !failed && info && i < info->count; ++i)
		map64_put(&ids, info->mounts[i].id, (uint32_t)i);
	for (size_t i = 0; !failed && i < table->count; ++i) {
		struct mount *m = &table->mounts[i];
		uint32_t row = map64_get(&ids, m->id);
		const struct mount *other = row == MAP64_NONE ? &none : &info->mounts[row];
		if (lacks & MF_SOURCE)
			m->source = reader_keep(r, other->source, NULL);
		if (lacks & MF_FS_OPTS)
			m->fs_opts = reader_keep(r, other->fs_opts, NULL);
		if (lacks & MF_FSTYPE && row != MAP64_NONE)
			m->fstype = reader_keep(r, other->fstype, NULL);
	}
	map64_destroy(&ids);
	table_free(info);
	if (failed || r->failed)
		errno = ENOMEM;
	return failed || r->failed ? -1 : 0;
}
