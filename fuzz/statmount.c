/* SPDX-License-Identifier: MIT */
/*
 * The answers of listmount and statmount, as they come and as they never
 * should: masks, offsets, string areas, errors, any number of mounts, and a
 * mountinfo beside them for what this kernel's statmount lacks.
 *
 * A record says what the answer said, or what mountinfo said of the same
 * mount, or nothing; one mount that cannot be asked about is no error.
 *
 * The input, in binary, as fuzz/seed writes it:
 *
 *     flags (enum), fields wanted (2 bytes), bits known (2)
 *     mounts (1; of 0xff, 2 more), patterns (1), and of each pattern: see take_pattern()
 *     the text of mountinfo
 *
 * The n-th mount is answered for by the n-th pattern, and so on round.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "mounts/table_impl.h"

#include <errno.h>
#include <linux/mount.h>
#include <stdlib.h>
#include <string.h>

enum {
	F_TELLS = 1 << 0,       /* the kernel tells what it knows (6.15) */
	F_INFO = 1 << 1,        /* there is a mountinfo */
	F_THREADS = 1 << 2,
	F_LIES = 1 << 3,        /* an answer may have another ID than was asked for */
	F_MORE_BITS = 1 << 4,   /* an answer may have bits that were not asked for */
	F_SHORT_READS = 1 << 5,
	F_LATE = 1 << 6,        /* errors only of the mounts behind the first 128 */
	F_NO_LIST = 1 << 7,     /* listing fails, the first time or later */

	MAX_MOUNTS = 5000,      /* more than two pages of listmount */
	MAX_PATTERNS = 24,
	FIRST_ID = 1000,
	PAGE = 2048,            /* IDs of one listmount */
	AREA_MAX = 6000,        /* more than the buffer that is begun with */
};

/** What is answered. */
struct pattern {
	int error;               /* 0, or the errno */
	uint32_t needs;          /* bytes of buffer beyond the strings */
	const char *area;        /* the strings */
	size_t area_len;
	int lie;                 /* added to the ID */
	unsigned reuses;         /* 32-bit ID of the mount this many before; 0: its own */
	int parent;              /* of the mount this many before; 0: of itself */
	struct k_statmount answer;
};

static struct pattern patterns[MAX_PATTERNS];
static unsigned npatterns, nmounts, flags, lists, listings;

static const struct pattern *pattern_of(uint64_t id)
{
	if (id < FIRST_ID || id >= FIRST_ID + nmounts)
		return NULL;
	return &patterns[(id - FIRST_ID) % npatterns];
}

/** The error for a mount, or 0. */
static int error_of(uint64_t id)
{
	return flags & F_LATE && id < FIRST_ID + 128 ? 0 : pattern_of(id)->error;
}

/** The 32-bit ID of a mount.  What one call lists has no two that are the same. */
static uint32_t old_id_of(uint64_t id)
{
	unsigned back = nmounts < PAGE ? 0 : pattern_of(id)->reuses;
	return (uint32_t)(id - FIRST_ID + 20 - (back <= id - FIRST_ID ? back : 0));
}

/** Whether a mount has gone and a later one has its 32-bit ID. */
static bool is_replaced(uint64_t id)
{
	for (uint64_t later = id + 1; later <= id + 15 && later < FIRST_ID + nmounts; ++later) {
		if (!error_of(later) && old_id_of(later) == old_id_of(id))
			return true;
	}
	return false;
}

static ssize_t list(uint64_t last, uint64_t *ids, size_t n)
{
	if (flags & F_NO_LIST && lists++ == nmounts % 3) {
		errno = EPERM;
		return -1;
	}
	if (last < FIRST_ID)
		++listings;
	size_t got = 0;
	for (uint64_t id = last < FIRST_ID ? FIRST_ID : last + 1; got < n
	     && id < FIRST_ID + nmounts; ++id) {
		/* What is gone was listed once. */
		if (listings == 1 || error_of(id) != ENOENT)
			ids[got++] = id;
	}
	return (ssize_t)got;
}

/** The answer for a mount, with its IDs. */
static struct k_statmount answer_of(uint64_t id, uint64_t mask)
{
	const struct pattern *p = pattern_of(id);
	struct k_statmount sm = p->answer;
	if (!(flags & F_MORE_BITS))
		sm.mask &= mask;
	sm.mask |= K_STATMOUNT_MNT_BASIC;
	sm.mnt_id = id + (flags & F_LIES ? (uint64_t)p->lie : 0);
	sm.mnt_parent_id = id - (uint64_t)p->parent;
	sm.mnt_id_old = old_id_of(id);
	sm.mnt_parent_id_old = sm.mnt_id_old - (uint32_t)p->parent;
	return sm;
}

static int stat_mount(uint64_t id, uint64_t mask, struct k_statmount *buf, size_t size)
{
	const struct pattern *p = pattern_of(id);
	FUZZ_CHECK(size >= sizeof(*buf));
	if (!p || error_of(id)) {
		errno = p ? error_of(id) : ENOENT;
		return -1;
	}
	size_t room = size - sizeof(*buf);
	if (room < p->area_len + p->needs) {
		errno = EOVERFLOW;
		return -1;
	}
	*buf = answer_of(id, mask);
	if (p->area_len)
		memcpy(buf->str, p->area, p->area_len);
	/* No NUL behind it: what begins in the area must end in it. */
	memset(buf->str + p->area_len, 'z', room - p->area_len);
	return 0;
}

static void take_pattern(struct fuzz_input *in, struct pattern *p)
{
	static const int errors[] = {ENOENT, EPERM, EINVAL, EIO};
	uint8_t kind = fuzz_byte(in);
	*p = (struct pattern){0};
	if (kind >= 0xf0)
		p->error = errors[kind % 4];
	p->needs = kind == 0x7f ? UINT32_MAX / 2 : kind & 0x40 ? (uint32_t)(kind & 0x3f) << 10 : 0;
	p->reuses = kind >= 0x30 && kind < 0x40 ? kind & 0xf : 0;
	p->lie = (int8_t)fuzz_byte(in);
	p->parent = (int8_t)fuzz_byte(in);
	struct k_statmount *sm = &p->answer;
	sm->mask = fuzz_number(in, 2);
	sm->sb_dev_major = fuzz_byte(in);
	sm->sb_dev_minor = fuzz_byte(in);
	sm->sb_flags = (uint32_t)fuzz_number(in, 4);
	sm->mnt_attr = fuzz_number(in, 3);
	sm->mnt_propagation = fuzz_number(in, 3);
	sm->mnt_peer_group = fuzz_byte(in);
	sm->mnt_master = fuzz_byte(in);
	sm->propagate_from = fuzz_byte(in);
	uint32_t *const offsets[] = {
		&sm->mnt_root, &sm->mnt_point, &sm->fs_type, &sm->fs_subtype, &sm->sb_source,
		       &sm->mnt_opts,
	};
	for (size_t i = 0; i < sizeof(offsets) / sizeof(*offsets); ++i) {
		uint32_t offset = (uint32_t)fuzz_number(in, 2);
		*offsets[i] = offset == 0xffff ? UINT32_MAX : offset;
	}
	size_t want = fuzz_number(in, 2);
	p->area = fuzz_bytes(in, want < AREA_MAX ? want : AREA_MAX, &p->area_len);
}

/** The string of an answer, by a reading of our own. */
static const char *string_of(const struct pattern *p, uint64_t mask, uint64_t bit, uint32_t offset)
{
	if (!(mask & bit) || offset >= p->area_len || !memchr(p->area + offset, '\0',
	                                                      p->area_len - offset))
		return NULL;
	return p->area + offset;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/** A record of mountinfo, or NULL. */
static const struct mount *info_of(const struct mount_table *info, uint32_t id)
{
	for (size_t i = 0; info && i < info->count; ++i) {
		if (info->mounts[i].id == id)
			return &info->mounts[i];
	}
	return NULL;
}

static void check_record(const struct mount *m, const struct mount_table *table,
                         const struct mount_table *info)
{
	/* Of a hostile kernel's ID nothing but the record's own sense is held. */
	FUZZ_CHECK(m->key == m->uniq_id && m->line == 0);
	const struct pattern *p = pattern_of(m->key);
	if (flags & F_LIES || !p)
		return;
	FUZZ_CHECK(!error_of(m->key));
	struct k_statmount sm = answer_of(m->key, UINT64_MAX);
	FUZZ_CHECK(m->id == sm.mnt_id_old && m->parent_key == sm.mnt_parent_id);
	FUZZ_CHECK(!m->root
	           || is_same(m->root, string_of(p, sm.mask, K_STATMOUNT_MNT_ROOT, sm.mnt_root)));
	FUZZ_CHECK(!m->point
	           || is_same(m->point, string_of(p, sm.mask, K_STATMOUNT_MNT_POINT,
	                                          sm.mnt_point)));
	FUZZ_CHECK(!m->source || *m->source);

	const struct mount *other = info_of(info, m->id);
	FUZZ_CHECK(!m->source
	           || is_same(m->source, string_of(p, sm.mask, K_STATMOUNT_SB_SOURCE, sm.sb_source))
	           || (other && is_same(m->source, other->source)));
	const char *type = string_of(p, sm.mask, K_STATMOUNT_FS_TYPE, sm.fs_type);
	const char *sub = string_of(p, sm.mask, K_STATMOUNT_FS_SUBTYPE, sm.fs_subtype);
	if (m->fstype && !(other && is_same(m->fstype, other->fstype))) {
		FUZZ_CHECK(type && strncmp(m->fstype, type, strlen(type)) == 0);
		const char *rest = m->fstype + strlen(type);
		FUZZ_CHECK(!*rest || (sub && *rest == '.' && strcmp(rest + 1, sub) == 0));
	}
	if (table->fields & MF_VFS_OPTS)
		FUZZ_CHECK(strncmp(m->vfs_opts, sm.mnt_attr & MOUNT_ATTR_RDONLY ? "ro" : "rw",
		                   2) == 0);
	if (m->fs_opts && !(other && is_same(m->fs_opts, other->fs_opts))) {
		const char *opts = string_of(p, sm.mask, K_STATMOUNT_MNT_OPTS, sm.mnt_opts);
		size_t n = strlen(m->fs_opts), len = opts ? strlen(opts) : 0;
		FUZZ_CHECK(strncmp(m->fs_opts, "ro", 2) == 0 || strncmp(m->fs_opts, "rw", 2) == 0);
		if (sm.mask & K_STATMOUNT_SB_BASIC && strlen(m->fs_opts) > len && len
		    && strcmp(m->fs_opts + n - len, opts) == 0)
			FUZZ_CHECK(m->fs_opts[n - len - 1] == ',');
	}
	FUZZ_CHECK(!!(m->propagation & MP_SHARED) == (table->fields & MF_PROPAGATION
	                                              && sm.mnt_propagation & MS_SHARED));
	FUZZ_CHECK(!m->opt_fields || (*m->opt_fields && *m->opt_fields != ' '));
}

/** Whether the mounts of a table are those that can be asked about. */
static void check_all_there(const struct mount_table *table)
{
	size_t i = 0;
	for (uint64_t id = FIRST_ID; id < FIRST_ID + nmounts; ++id) {
		if (error_of(id)) {
			FUZZ_CHECK(error_of(id) == ENOENT);
			continue;
		}
		if (is_replaced(id))
			continue;
		FUZZ_CHECK(i < table->count && table->mounts[i].key == id);
		++i;
	}
	FUZZ_CHECK(i == table->count);
}

/** Whether nothing worse is answered than that a mount is gone. */
static bool is_answered(void)
{
	if (flags & F_NO_LIST)
		return false;
	for (unsigned i = 0; i < npatterns && i < nmounts; ++i) {
		int error = patterns[i].error;
		if ((error != 0 && error != ENOENT) || patterns[i].needs > AREA_MAX << 10)
			return false;
	}
	return true;
}

static void check_again(struct os *os, const struct mount_table *table)
{
	uint64_t keys[3] = {FIRST_ID + nmounts};
	size_t n = 1;
	for (size_t i = 0; i < table->count && n < 3; i += table->count / 2 + 1)
		keys[n++] = table->mounts[i].key;
	struct mount_table *again = table_read_again(os, table, 0, keys, n, -1, NULL);
	struct mount_table *more = table_read_again(os, table, MF_ALL, keys, n, -1, NULL);
	FUZZ_CHECK(again || errno);
	FUZZ_CHECK(more || errno);
	for (size_t i = 0; again && i < again->count && !(flags & F_LIES); ++i) {
		const struct mount *m = &again->mounts[i];
		FUZZ_CHECK(m->key == keys[1] || m->key == keys[2]);
		for (size_t k = 0; k < table->count; ++k) {
			if (table->mounts[k].key != m->key)
				continue;
			FUZZ_SAME(m->root, table->mounts[k].root);
			FUZZ_SAME(m->point, table->mounts[k].point);
			FUZZ_SAME(m->opt_fields, table->mounts[k].opt_fields);
			FUZZ_SAME(m->vfs_opts, table->mounts[k].vfs_opts);
		}
	}
	table_free(again);
	table_free(more);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	flags = fuzz_byte(&in);
	unsigned fields = (unsigned)fuzz_number(&in, 2);
	uint64_t known = fuzz_number(&in, 2);
	nmounts = fuzz_byte(&in);
	if (nmounts == 0xff)
		nmounts = (unsigned)fuzz_number(&in, 2) % (MAX_MOUNTS + 1);
	npatterns = fuzz_byte(&in) % MAX_PATTERNS + 1;
	for (unsigned i = 0; i < npatterns; ++i)
		take_pattern(&in, &patterns[i]);

	size_t len;
	const char *text = fuzz_bytes(&in, size, &len);
	struct fuzz_file info_file = {
		.path = TABLE_SELF_MOUNTINFO, .kind = FK_FILE, .bytes = text, .len = len,
	};
	struct fuzz_kernel kernel = {
		.caps = OSC_LISTMOUNT,
		        .statmount_mask = flags & F_TELLS ? known | K_STATMOUNT_MNT_BASIC : 0,
		.cpus = flags & F_THREADS ? 2 + known % 8 : 1, .files = &info_file,
		        .nfiles = flags & F_INFO ? 1 : 0,
		.read_max = flags & F_SHORT_READS ? 7 : 0, .listmount = list,
		            .statmount = stat_mount,
	};
	lists = listings = 0;
	fuzz_kernel_set(&kernel);
	struct os os;
	fuzz_os(&os);

	errno = 0;
	struct mount_table *table = table_read_kernel(&os, TABLE_LISTMOUNT, fields);
	FUZZ_CHECK(table || errno);
	FUZZ_CHECK(table || !is_answered());
	if (table) {
		FUZZ_CHECK(table->source == TABLE_LISTMOUNT && table->unique_ids
		           && table->fields & MF_IDS);
		FUZZ_CHECK(!(table->fields & ~(fields | MF_IDS)) && table->relisted <= 3);
		FUZZ_CHECK(table->count <= nmounts);
		struct mount_table *info = flags & F_INFO ? table_parse_mountinfo(text, len) : NULL;
		for (size_t i = 0; i < table->count; ++i)
			check_record(&table->mounts[i], table, info);
		if (!(flags & F_LIES))
			check_all_there(table);
		check_again(&os, table);
		table_free(info);
	}
	table_free(table);
	if (nmounts > 20)
		goto out;
	/* And so that the kernel's other source stands in. */
	table = table_read_kernel(&os, TABLE_AUTO, fields);
	FUZZ_CHECK(table || errno);
	table_free(table);
out:
	fuzz_kernel_set(NULL);
	return 0;
}
