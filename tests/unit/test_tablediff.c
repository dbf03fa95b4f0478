/* SPDX-License-Identifier: MIT */
#include "unit.h"

#include "base/strbuf.h"
#include "os/os.h"
#include "mounts/tablediff.h"

/* Helpers. */

static struct mount_table *parse(const char *text)
{
	struct mount_table *table = table_parse_mountinfo(text, strlen(text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_EQUAL_FATAL(table->nproblems, 0);
	return table;
}

static void load(struct mount_set *set, const struct mount_table *table)
{
	*set = (struct mount_set){0};
	for (size_t i = 0; i < table->count; ++i)
		CU_ASSERT_PTR_NOT_NULL_FATAL(mount_set_put(set, &table->mounts[i]));
}

/** Append the changes: "+2 -3 >4 o5 p6" for mounted, unmounted, moved, remounted, propagation. */
static void spell(const struct changes *changes, struct strbuf *out)
{
	for (size_t i = 0; i < changes->count; ++i) {
		const struct change *c = &changes->list[i];
		const struct mount *m = c->after ? c->after : c->before;
		CU_ASSERT_EQUAL(c->before == NULL, c->kind == CHANGE_MOUNT);
		CU_ASSERT_EQUAL(c->after == NULL, c->kind == CHANGE_UMOUNT);
		char sign = c->kind == CHANGE_MOUNT ? '+' : c->kind == CHANGE_UMOUNT ? '-'
		            : c->kind == CHANGE_MOVE ? '>' : c->kind == CHANGE_REMOUNT ? 'o' : 'p';
		strbuf_printf(out, "%s%c%llu", out->len ? " " : "", sign,
		              (unsigned long long)m->key);
	}
}

/** Check the changes between two texts. */
static void differ(const char *before, const char *after, bool unique, unsigned kinds,
                   const char *want)
{
	struct mount_table *old = parse(before), *now = parse(after);
	struct mount_set set;
	struct changes changes = {0};
	STRBUF(got);
	load(&set, old);
	now->unique_ids = unique;
	CU_ASSERT_EQUAL_FATAL(tablediff(&set, now, kinds, &changes), 0);
	spell(&changes, &got);
	unit_note("%s -> %s", before, after);
	unit_expect(strbuf_str(&got), want);
	/* The set does not refer to the table. */
	table_free(old);
	CU_ASSERT_EQUAL(set.count, set.places.count);
	changes_destroy(&changes);
	mount_set_destroy(&set);
	table_free(now);
}

#define ROOT "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
#define A "2 1 0:30 / /a rw,relatime - tmpfs a rw,size=4k\n"
#define A_SUB "3 2 0:31 / /a/sub rw - tmpfs sub rw\n"

/* The differ. */

#define SHARED "2 1 0:30 / /a rw,relatime shared:5 - tmpfs a rw,size=4k\n"
#define A_AT_B "2 1 0:30 / /b rw,relatime - tmpfs a rw,size=4k\n"
#define A_RO "2 1 0:30 / /a ro,relatime - tmpfs a rw,size=4k\n"
#define A_RO_AT_B "2 1 0:30 / /b ro,relatime - tmpfs a rw,size=4k\n"
#define TOP "9 2 0:40 / /a rw - tmpfs top rw\n"

UNIT_TEST(changes_between_two_tables)
{
	static const struct {
		const char *changes, *before, *after;
		unsigned kinds;   /* 0: all */
		bool unique;
	} rows[] = {
		{"", "", ""},
		{"", ROOT A A_SUB, ROOT A A_SUB},
		{"", ROOT A A_SUB, A_SUB ROOT A, 0, true},
		/* Mounted and unmounted; the unmounted ones come first. */
		{"+1 +2", "", ROOT A},
		{"-1 -2", ROOT A, ""},
		{"+2 +3", ROOT, ROOT A A_SUB},
		{"-2 -3", ROOT A_SUB A, ROOT},
		{"-2 +9", ROOT A, ROOT "9 1 0:40 / /a rw - tmpfs new rw\n"},
		/* A mount on top, or a new parent, does not change the mount at the same place. */
		{"+9", ROOT A, ROOT A TOP},
		{"-9", ROOT A TOP, ROOT A},
		{"+9", ROOT A,
		 ROOT "9 1 0:40 / /a rw - tmpfs low rw\n"
		 "2 9 0:30 / /a rw,relatime - tmpfs a rw,size=4k\n"},
		/* Remounted: options of the mount, and of the file system of a bind mount. */
		{"o2", ROOT A, ROOT A_RO},
		{"o2", ROOT A, ROOT "2 1 0:30 / /a rw,relatime - tmpfs a rw,size=8k\n"},
		{"o2 o4", A "4 1 0:30 / /b rw - tmpfs a rw,size=4k\n",
		 "2 1 0:30 / /a rw,relatime - tmpfs a ro,size=4k\n"
		 "4 1 0:30 / /b rw - tmpfs a ro,size=4k\n"},
		{"", ROOT A, ROOT A_RO, CHANGE_ALL & ~CHANGE_REMOUNT},
		/* Moved; moved and remounted. */
		{">2 >3", ROOT A A_SUB, ROOT A_AT_B "3 2 0:31 / /b/sub rw - tmpfs sub rw\n"},
		{">2 o2", ROOT A, ROOT A_RO_AT_B},
		{"o2", ROOT A, ROOT A_RO_AT_B, CHANGE_REMOUNT},
		/* Propagation: the type, not the number of the group. */
		{"p2", ROOT A, ROOT SHARED},
		{"p2", ROOT SHARED, ROOT A},
		{"", ROOT SHARED, ROOT A, CHANGE_ALL & ~CHANGE_PROPAGATION},
		{"", ROOT SHARED, ROOT "2 1 0:30 / /a rw,relatime shared:6 - tmpfs a rw,size=4k\n"},
		{"p2", ROOT SHARED,
		 ROOT "2 1 0:30 / /a rw,relatime shared:5 master:6 - tmpfs a rw,size=4k\n"},
		/* The kernel reuses the 32-bit IDs of mountinfo, but not unique IDs. */
		{"-2 +2", ROOT A, ROOT "2 1 0:32 / /a rw,relatime - tmpfs a rw,size=4k\n"},
		{"-2 +2", ROOT A, ROOT "2 1 0:30 / /a rw,relatime - ramfs a rw,size=4k\n"},
		{"-2 +2", ROOT A, ROOT "2 1 0:30 / /a rw,relatime - tmpfs b rw,size=4k\n"},
		{"-2 +2", ROOT A, ROOT "2 1 0:30 /x /b rw,relatime - tmpfs a rw,size=4k\n"},
		{"", ROOT A, ROOT "2 1 0:32 / /a rw,relatime - tmpfs b rw,size=4k\n", 0, true},
		/* A root that was renamed or removed is the same mount. */
		{"", ROOT A, ROOT "2 1 0:30 /x /a rw,relatime - tmpfs a rw,size=4k\n"},
		{">2", "2 1 0:30 /x /a rw - tmpfs a rw\n",
		 "2 1 0:30 /x//deleted /b rw - tmpfs a rw\n"},
		/* A key that is twice in the table counts once. */
		{"+2", ROOT, ROOT A A},
		{">2", ROOT A, ROOT A_AT_B A},
	};
	for (size_t i = 0; i < COUNT(rows); ++i)
		differ(rows[i].before, rows[i].after, rows[i].unique,
		       rows[i].kinds ? rows[i].kinds : CHANGE_ALL, rows[i].changes);
}

/** An unknown field of a mount is no change, except its name. */
UNIT_TEST(fields_that_are_unknown)
{
	struct mount ghost = {.key = 7, .uniq_id = 7};
	struct mount_table *now = parse(ROOT "7 1 0:9 / /g ro - tmpfs g ro\n");
	now->unique_ids = true;
	struct mount_set set = {0};
	struct changes changes = {0};
	CU_ASSERT_PTR_NOT_NULL_FATAL(mount_set_put(&set, &ghost));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mount_set_put(&set, &now->mounts[0]));
	CU_ASSERT_EQUAL(tablediff(&set, now, CHANGE_ALL, &changes), 0);
	CU_ASSERT_EQUAL_FATAL(changes.count, 1);
	CU_ASSERT_EQUAL(changes.list[0].kind, CHANGE_MOVE);
	CU_ASSERT_PTR_NULL(changes.list[0].before->point);
	changes_destroy(&changes);
	mount_set_destroy(&set);
	table_free(now);
}

/* The set. */

UNIT_TEST(set)
{
	struct mount_table *table = parse(ROOT A A_SUB);
	struct mount_set set;
	load(&set, table);
	CU_ASSERT_EQUAL(set.count, 3);
	CU_ASSERT_PTR_NULL(mount_set_find(&set, 4));
	for (size_t i = 0; i < table->count; ++i) {
		const struct kept_mount *kept = mount_set_find(&set, table->mounts[i].key);
		CU_ASSERT_PTR_NOT_NULL_FATAL(kept);
		CU_ASSERT(mount_same(&kept->mount, &table->mounts[i]));
		CU_ASSERT_PTR_NOT_EQUAL(kept->mount.point, table->mounts[i].point);
	}

	/* A replaced or removed mount stays readable until mount_set_forget(). */
	struct kept_mount *before = mount_set_find(&set, 2);
	before->early = true;
	struct mount moved = table->mounts[1];
	moved.point = "/elsewhere";
	struct kept_mount *after = mount_set_put(&set, &moved);
	CU_ASSERT_PTR_EQUAL(mount_set_find(&set, 2), after);
	CU_ASSERT(after->early);
	CU_ASSERT_STRING_EQUAL(before->mount.point, "/a");
	CU_ASSERT_STRING_EQUAL(after->mount.point, "/elsewhere");
	CU_ASSERT_FALSE(mount_same(&before->mount, &after->mount));
	mount_set_remove(&set, 2);
	mount_set_remove(&set, 2);
	CU_ASSERT_STRING_EQUAL(after->mount.point, "/elsewhere");
	CU_ASSERT_PTR_NULL(mount_set_find(&set, 2));
	CU_ASSERT_EQUAL(set.count, 2);
	mount_set_forget(&set);
	CU_ASSERT_PTR_NULL(set.old);
	CU_ASSERT_STRING_EQUAL(mount_set_find(&set, 1)->mount.point, "/");
	CU_ASSERT_STRING_EQUAL(mount_set_find(&set, 3)->mount.point, "/a/sub");
	mount_set_destroy(&set);
	mount_set_destroy(&set);
	table_free(table);
}
