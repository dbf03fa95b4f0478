/* SPDX-License-Identifier: MIT */
/* Tables of the running kernel: listmount and mountinfo have the same mounts and fields, in this
   mount namespace and in one with unusual mounts. */
#include "unit.h"

#include "loop.h"
#include "mounts/table.h"

#include <signal.h>
#include <sys/mount.h>
#include <sys/wait.h>

static struct os *live_os(void)
{
	static struct os os;
	os = unit_os();
	return &os;
}

/** Whether two strings are the same, or both NULL. */
static bool same(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

/** @return the number of fields that differ between two tables; prints which. */
static int compare(const struct mount_table *a, const struct mount_table *b, unsigned fields)
{
	if (a->count != b->count) {
		printf("  %zu mounts and %zu\n", a->count, b->count);
		return 1;
	}
	int wrong = 0;
	for (size_t i = 0; i < a->count; ++i) {
		const struct mount *m = &a->mounts[i], *n = NULL;
		for (size_t j = 0; j < b->count && !n; ++j) {
			if (b->mounts[(i + j) % b->count].id == m->id)
				n = &b->mounts[(i + j) % b->count];
		}
		if (!n) {
			printf("  %u is not in both\n", m->id);
			++wrong;
			continue;
		}
		const struct {
			const char *name;
			unsigned field;
			bool same;
		} rows[] = {
			{"parent", MF_IDS, m->parent_id == n->parent_id},
			{"dev", MF_DEV, mount_dev(m) == mount_dev(n)},
			{"root", MF_ROOT, same(m->root, n->root)},
			{"point", MF_POINT, same(m->point, n->point)},
			{"fstype", MF_FSTYPE, same(m->fstype, n->fstype)},
			{"source", MF_SOURCE, same(m->source, n->source)},
			{"vfs_opts", MF_VFS_OPTS, same(m->vfs_opts, n->vfs_opts)},
			{"fs_opts", MF_FS_OPTS, same(m->fs_opts, n->fs_opts)},
			{"opt_fields", MF_PROPAGATION, same(m->opt_fields, n->opt_fields)},
			{"propagation", MF_PROPAGATION,
			 m->propagation == n->propagation && m->peer_group == n->peer_group
			     && m->master == n->master && m->propagate_from == n->propagate_from},
		};
		for (size_t k = 0; k < COUNT(rows); ++k) {
			if (rows[k].same || !(rows[k].field & fields))
				continue;
			printf("  %u %s: %s differs\n", m->id, m->point ? m->point : "",
			       rows[k].name);
			++wrong;
		}
	}
	return wrong;
}

/** Compare listmount with mountinfo; a table that changes is read again. */
static int compare_live(struct os *os, unsigned fields)
{
	int wrong = 1;
	for (int try = 0; try < 5 && wrong; ++try) {
		struct mount_table *a = table_read_kernel(os, TABLE_LISTMOUNT, fields);
		struct mount_table *b = table_read_kernel(os, TABLE_MOUNTINFO, fields);
		wrong = a && b && a->count > 0 && (a->fields & fields) == fields && a->unique_ids
		        && !a->relisted ? compare(a, b, fields) : 1;
		table_free(a);
		table_free(b);
	}
	return wrong;
}

UNIT_TEST(live)
{
	struct os *os = live_os();
	if (!(os->caps & OSC_LISTMOUNT))
		UNIT_SKIP("no listmount here");
	CU_ASSERT_EQUAL(compare_live(os, MF_ALL), 0);
	for (unsigned field = MF_IDS; field < MF_ALL; field <<= 1)
		CU_ASSERT_EQUAL(compare_live(os, field), 0);
}

/** Exact counts: one call a mount, and a page of IDs. */
UNIT_TEST(live_counts)
{
	struct os *os = live_os();
	if (!(os->caps & OSC_LISTMOUNT))
		UNIT_SKIP("no listmount here");
	memset(os->calls, 0, sizeof(os->calls));
	struct mount_table *t = table_read_kernel(os, TABLE_AUTO, MF_IDS | MF_POINT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->source, TABLE_LISTMOUNT);
	CU_ASSERT_EQUAL(os->calls[OS_LISTMOUNT], t->count / 2048 + 1);
	CU_ASSERT_EQUAL(os->calls[OS_STATMOUNT], t->count + t->vanished);
	CU_ASSERT_EQUAL(os_calls_total(os), t->count + t->vanished + t->count / 2048 + 1);
	CU_ASSERT_TRUE(t->mounts[0].key > UINT32_MAX / 2);
	CU_ASSERT_EQUAL(t->fields, MF_IDS | MF_POINT);
	table_free(t);
}

UNIT_TEST(live_fallbacks)
{
	struct os *os = live_os(), bare;
	os_init(&bare, "listmount,openat2");
	CU_ASSERT_PTR_NULL(table_read_kernel(&bare, TABLE_LISTMOUNT, MF_ALL));
	CU_ASSERT_EQUAL(errno, ENOSYS);
	struct mount_table *t = table_read_kernel(&bare, TABLE_AUTO, MF_ALL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->source, TABLE_MOUNTINFO);
	CU_ASSERT_FALSE(t->unique_ids);
	table_free(t);

	if (!(os->caps & OSC_LISTMOUNT))
		UNIT_SKIP("no listmount here");
	/* Like Linux 6.8: no source, subtype or options. */
	os->statmount_mask = 0x3f;
	CU_ASSERT_EQUAL(compare_live(os, MF_ALL), 0);
	/* A kernel that does not report its mask. */
	os->statmount_mask = 0;
	CU_ASSERT_EQUAL(compare_live(os, MF_ALL), 0);
	memset(os->calls, 0, sizeof(os->calls));
	t = table_read_kernel(os, TABLE_LISTMOUNT, MF_ALL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(os->calls[OS_OPENAT], 0);
	table_free(t);
}

/** Read the first and the last mount of a table again, and an unknown ID. */
static void ask_again(struct os *os, enum table_source source)
{
	struct mount_table *t = table_read_kernel(os, source, MF_POINT);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_TRUE_FATAL(t->count > 0);
	const struct mount *last = &t->mounts[t->count - 1];
	uint64_t keys[] = {last->key, source == TABLE_LISTMOUNT ? UINT64_MAX / 2 : UINT32_MAX,
	                   t->mounts[0].key};
	struct mount_table *again = table_read_again(os, t, 0, keys, 3, AT_FDCWD, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(again);
	CU_ASSERT_EQUAL_FATAL(again->count, 2);
	for (size_t i = 0; i < 2; ++i) {
		const struct mount *m = &again->mounts[i];
		CU_ASSERT_TRUE(m->key == keys[0] || m->key == keys[2]);
		CU_ASSERT_TRUE(same(m->point,
		                    m->key == keys[0] ? last->point : t->mounts[0].point));
	}
	table_free(again);
	again = table_read_again(os, t, 0, keys, 0, AT_FDCWD, "/proc/self/mountinfo");
	CU_ASSERT_PTR_NOT_NULL_FATAL(again);
	CU_ASSERT_EQUAL(again->count, 0);
	table_free(again);
	table_free(t);
}

UNIT_TEST(ask_again)
{
	struct os *os = live_os();
	ask_again(os, TABLE_MOUNTINFO);
	if (os->caps & OSC_LISTMOUNT)
		ask_again(os, TABLE_LISTMOUNT);

	static const char recorded[] = "1 0 0:1 / / rw - tmpfs t rw\n";
	struct mount_table *t = table_parse_mountinfo(recorded, sizeof(recorded) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	uint64_t key = 1;
	CU_ASSERT_PTR_NULL(table_read_again(os, t, 0, &key, 1, AT_FDCWD, NULL));
	CU_ASSERT_EQUAL(errno, EINVAL);
	table_free(t);
}

/* In a mount namespace of our own. */

enum { NS_SKIP = 77 };

/** Run a function in a child.  @return its result; NS_SKIP: not permitted. */
static int in_namespace(int (*run)(void))
{
	fflush(stdout);
	pid_t pid = fork();
	if (pid == 0) {
		if (!private_mounts() || mount("none", "/mnt", "tmpfs", 0, NULL) != 0
		    || chdir("/mnt") != 0)
			_exit(NS_SKIP);
		int wrong = run();
		fflush(stdout);
		_exit(wrong > 70 ? 70 : wrong);
	}
	int status = 0;
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

/** Mount on a new directory.  @return whether it failed. */
static int put(const char *source, const char *name, const char *type, unsigned long flags,
               const char *data)
{
	mkdir(name, 0755);
	if (mount(source, name, type, flags, data) == 0)
		return 0;
	printf("  mount %s: %s\n", name, strerror(errno));
	return 1;
}

static int propagate(const char *name, unsigned long flags)
{
	return mount(NULL, name, NULL, flags, NULL) != 0;
}

static int odd_mounts(void)
{
	static const char *const names[] = {
		"a b", "c#d", "t\tab", "n\nl", "back\\slash", "lit\\040x", "inv\xff", "com,ma",
		"tr ",
		"\"q\"", "\r",
	};
	int wrong = 0;
	char source[64];
	for (size_t i = 0; i < COUNT(names); ++i) {
		snprintf(source, sizeof(source), "src %s", names[i]);
		wrong += put(source, names[i], "tmpfs", 0, NULL);
	}
	mkdir("a b/r o", 0755);
	wrong += put("a b/r o", "bind", NULL, MS_BIND, NULL);
	mkdir("del", 0755);
	mkdir("del/d", 0755);
	wrong += put("del/d", "deleted", NULL, MS_BIND, NULL);
	wrong += rmdir("del/d") != 0;
	wrong += put("", "empty", "tmpfs", 0, NULL);
	wrong += put("t", "flags", "tmpfs",
	             MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_NOATIME | MS_NODIRATIME | MS_SYNCHRONOUS
	                 | MS_DIRSYNC | MS_LAZYTIME, "size=1m");
	wrong += put("t", "strict", "tmpfs", MS_STRICTATIME | MS_NOSYMFOLLOW, NULL);
	wrong += put("t", "ro", "tmpfs", MS_RDONLY, NULL);
	wrong += put("t", "ro_mount", "tmpfs", 0, NULL);
	wrong += mount(NULL, "ro_mount", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL) != 0;
	wrong += put("h", "shared", "tmpfs", 0, NULL) + propagate("shared", MS_SHARED);
	wrong += put("shared", "both", NULL, MS_BIND, NULL) + propagate("both", MS_SLAVE)
	         + propagate("both", MS_SHARED);
	wrong += put("both", "slave", NULL, MS_BIND, NULL) + propagate("slave", MS_SLAVE);
	wrong += put("k", "unbindable", "tmpfs", 0, NULL) + propagate("unbindable", MS_UNBINDABLE);
	wrong += put("stack1", "stack", "tmpfs", 0, NULL) + put("stack2", "stack", "tmpfs", 0,
	                                                        NULL);
	mkdir("lo wer", 0755);
	mkdir("upper", 0755);
	mkdir("work", 0755);
	if (mount("over lay", "/mnt/spare", "tmpfs", 0, NULL) == 0) {
		mkdir("work/u", 0755);
		mkdir("work/w", 0755);
		mkdir("work/merged", 0755);
		/* May fail without overlay in the kernel. */
		mount("over lay", "work/merged", "overlay", 0,
		      "lowerdir=/mnt/lo wer,upperdir=/mnt/spare/u,workdir=/mnt/spare/w");
	}
	/* FUSE with a subtype; nobody answers. */
	int fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (fd >= 0) {
		char data[128];
		snprintf(data, sizeof(data),
		         "fd=%d,rootmode=40000,user_id=0,group_id=0,subtype=ss hfs,allow_other",
		         fd);
		mkdir("fuse", 0755);
		mount("user@host:/a b", "fuse", "fuse", 0, data);
	}
	return wrong;
}

/** A slave of a peer group outside of the root: propagate_from in mountinfo. */
static int propagate_from(void)
{
	int wrong = put("g", "top", "tmpfs", 0, NULL) + propagate("top", MS_SHARED);
	wrong += put("jail", "jail", "tmpfs", 0, NULL);
	wrong += put("top", "jail/first", NULL, MS_BIND, NULL) + put("top", "middle", NULL, MS_BIND,
	                                                             NULL);
	wrong += propagate("middle", MS_SLAVE) + propagate("middle", MS_SHARED);
	wrong += put("middle", "jail/second", NULL, MS_BIND, NULL) + propagate("jail/second",
	        MS_SLAVE);
	mkdir("jail/proc", 0755);
	wrong += mount("proc", "jail/proc", "proc", 0, NULL) != 0;
	wrong += chroot("jail") != 0 || chdir("/") != 0;
	return wrong;
}

static int run_odd(void)
{
	struct os *os = live_os();
	int wrong = odd_mounts();
	wrong += compare_live(os, MF_ALL);
	os->statmount_mask = 0x3f;
	wrong += compare_live(os, MF_ALL);
	return wrong;
}

static int run_propagate_from(void)
{
	int wrong = propagate_from();
	struct os *os = live_os();
	wrong += compare_live(os, MF_ALL);
	struct mount_table *t = table_read_kernel(os, TABLE_LISTMOUNT, MF_ALL);
	bool found = false;
	for (size_t i = 0; t && i < t->count; ++i)
		found |= t->mounts[i].propagate_from != 0;
	table_free(t);
	return wrong + !found;
}

/** More than a page of IDs, and options longer than the buffer. */
static int run_many(void)
{
	int wrong = 0;
	char name[32];
	for (int i = 0; i < 2100; ++i) {
		snprintf(name, sizeof(name), "m%d", i);
		wrong += put(name, name, "tmpfs", 0, NULL);
	}
	struct os *os = live_os();
	memset(os->calls, 0, sizeof(os->calls));
	struct mount_table *t = table_read_kernel(os, TABLE_LISTMOUNT, MF_IDS);
	wrong += !t || t->count < 2100 || os->calls[OS_LISTMOUNT] != 2
	         || os->calls[OS_STATMOUNT] != t->count;
	table_free(t);
	wrong += compare_live(os, MF_ALL);

	/* A mount point and a source that need a larger buffer. */
	char part[260], *source = malloc(4000);
	memset(part, 'x', 250);
	part[250] = '\0';
	for (int i = 0; i < 14; ++i) {
		mkdir(part, 0755);
		wrong += chdir(part) != 0;
	}
	memset(source, 's', 3999);
	source[3999] = '\0';
	wrong += put(source, "deep", "tmpfs", 0, NULL);
	mkdir("deep/r", 0755);
	wrong += put("deep/r", "bind", NULL, MS_BIND, NULL);
	free(source);
	return wrong + compare_live(os, MF_ALL);
}

/** table_stands_still() is true until mounts change.  @watch  With a watch. */
static int still(enum table_source source, bool watch)
{
	struct os *os = live_os();
	int wrong = 0;
	for (int what = 0; what < 4; ++what) {
		mkdir("p", 0755);
		mkdir("q", 0755);
		mount("t", "p", "tmpfs", 0, NULL);
		int fd = watch ? open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC) : -1;
		struct mount_table *t = table_read_kernel(os, source, MF_DEV | MF_POINT);
		if (!t)
			return 100;
		if (what == 1)
			mount("t", "q", "tmpfs", 0, NULL);
		if (what == 2)
			mount("p", "q", NULL, MS_MOVE, NULL);
		/* The same again, but 64-bit IDs and a watch show the change. */
		if (what == 3)
			wrong += umount("p") != 0 || mount("t", "p", "tmpfs", 0, NULL) != 0;
		bool known = watch || source == TABLE_LISTMOUNT;
		wrong += table_stands_still(os, t, fd, AT_FDCWD, "/proc/self/mountinfo") != (known
		        && what == 0);
		table_free(t);
		close(fd);
		umount2("p", MNT_DETACH);
		umount2("q", MNT_DETACH);
	}
	return wrong;
}

static int run_still(void)
{
	return still(TABLE_LISTMOUNT, true) + still(TABLE_LISTMOUNT, false) + still(TABLE_MOUNTINFO,
	        true)
	       + still(TABLE_MOUNTINFO, false);
}

static void namespaced(int (*run)(void))
{
	struct os *os = live_os();
	if (!(os->caps & OSC_LISTMOUNT))
		UNIT_SKIP("no listmount here");
	int rc = in_namespace(run);
	if (rc == NS_SKIP)
		UNIT_SKIP("no mount namespace may be made");
	CU_ASSERT_EQUAL(rc, 0);
}

UNIT_TEST(odd)
{
	namespaced(run_odd);
}

UNIT_TEST(propagate_from)
{
	namespaced(run_propagate_from);
}

UNIT_TEST(many)
{
	namespaced(run_many);
}

UNIT_TEST(stands_still)
{
	namespaced(run_still);
}

UNIT_TEST(torn_reads)
{
	/* Before Linux 5.8 two consecutive reads must be equal. */
	struct os os = unit_os();
	os.torn_reads = true;
	uint64_t before = os.calls[OS_OPENAT];
	struct mount_table *table = table_read_mountinfo(&os, AT_FDCWD, "/proc/self/mountinfo");
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	CU_ASSERT_TRUE(table->relisted >= 1);
	CU_ASSERT_EQUAL(os.calls[OS_OPENAT] - before, table->relisted + 1);
	table_free(table);
}
