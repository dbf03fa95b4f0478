/* SPDX-License-Identifier: MIT */
/*
 * What is checked of an fstab before it is written: texts in, words out.  Pure.
 */
#include "unit.h"

#include "audit/selfcheck.h"
#include "fault.h"
#include "fstab/match.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "root"},
	{.name = "/dev/sda2", .type = "xfs", .uuid = "data"},
	{.name = "/dev/sda5", .type = "swap", .uuid = "swap"},
};

static int device_of(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	if (mount->dev_major == 8 && mount->dev_minor >= 1 && mount->dev_minor <= 2)
		device->tags = &tags[mount->dev_minor - 1];
	return 0;
}

static int swap_of(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg, (void)name;
	device->tags = &tags[2];
	return 0;
}

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strcmp(tags[i].name, source) == 0 || strcmp(tags[i].uuid, value) == 0) {
			if (device)
				device->tags = &tags[i];
			return 1;
		}
	}
	return 0;
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	if (real)
		strbuf_puts(real, path);
	return strstr(path, "gone") ? FACT_MISSING : FACT_DIR;
}

static const char table[] = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
                            "21 20 8:2 / /data rw,relatime - xfs /dev/sda2 rw\n"
                            "22 20 8:2 /a\\012b /bound ro,relatime - xfs /dev/sda2 rw\n"
                            "23 20 0:40 / /tmp rw,relatime - tmpfs t rw,size=1024k\n"
                            "24 20 0:41 / /proc rw - proc proc rw\n"
                            "26 24 0:43 / /proc/t rw - tmpfs t rw,newopt=1,newer\n"
                            "25 20 0:42 / /ov rw,relatime - overlay o "
			    "rw,lowerdir=/data/l:/l,upperdir=/data/u,workdir=/data/w\n";

#define GOOD                                                                                       \
	"UUID=root / ext4 defaults 0 1\nUUID=data /data xfs defaults 0 2\n/data/a\\012b /bound "   \
	"none bind,ro 0 0\n"                                                                       \
	"t /tmp tmpfs size=1m 0 0\no /ov overlay "                                                 \
	"lowerdir=/data/l:/l,upperdir=/data/u,workdir=/data/w\n"                                   \
	"UUID=swap none swap sw 0 0\n"

/** A machine: to be let go by leave(). */
struct machine {
	struct mount_table *mounts;
	struct os os;
	struct discovery *d;
	struct fstab_swap swap;
	struct fstab_input live;
	struct fstab_plan plan;
	struct fstab_match_input match;
};

/** Whether a source names the device of a mount or swap space: by its tags. */
static int leads(void *arg, const char *source, const struct fstab_line *line)
{
	struct fstab_device named = {0}, own = {0};
	(void)arg;
	if (devices(NULL, source, &named) == 0)
		return 0;
	line->mount ? device_of(NULL, line->mount, &own) : swap_of(NULL, line->swap, &own);
	return own.tags ? own.tags == named.tags : -1;
}

static void enter(struct machine *machine)
{
	*machine = (struct machine){
		.mounts = table_parse_mountinfo(table, strlen(table)), .os = {.statx_works = true},
		.swap = {.name = "/dev/sda5", .priority = -2},
	};
	CU_ASSERT_PTR_NOT_NULL_FATAL(machine->mounts);
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	machine->d = discover(&machine->os, NULL, machine->mounts, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(machine->d);
	machine->live = (struct fstab_input){.d = machine->d,
	                                     .root = "/",
	                                     .swaps = &machine->swap,
	                                     .nswaps = 1,
	                                     .world = {.device = device_of, .swap = swap_of}};
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&machine->live, &machine->plan), 0);
	machine->match = (struct fstab_match_input){
	        .in = &machine->live, .plan = &machine->plan, .leads = leads};
}

static void leave(struct machine *machine)
{
	fstab_plan_destroy(&machine->plan);
	discovery_free(machine->d);
	table_free(machine->mounts);
}

static struct selfcheck_input input_of(const struct machine *machine, const char *old,
                                       const char *new)
{
	return (struct selfcheck_input){.old = old,
	                                .old_len = strlen(old),
	                                .new = new,
	                                .len = strlen(new),
	                                .live = &machine->live,
	                                .match = &machine->match,
	                                .facts = {.devices = devices, .look = look}};
}

static char text[16 * 1024];

/** All that is told. */
static const char *told(const char *old, const char *new, size_t len, bool facts)
{
	struct machine machine;
	enter(&machine);
	struct selfcheck_input in = input_of(&machine, old, new);
	in.len = len ? len : strlen(new);
	if (!facts)
		in.facts = (struct fstab_facts){0};
	struct selfcheck check;
	CU_ASSERT_EQUAL_FATAL(selfcheck_make(&in, &check), 0);
	size_t n = (size_t)snprintf(text, sizeof(text), "%s%s\n",
	                            check.same ? "" : "not the same: ", check.summary);
	for (size_t i = 0; i < check.nnotes; ++i) {
		CU_ASSERT_PTR_NULL(strchr(check.notes[i], '\n'));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", check.notes[i]);
	}
	if (check.not_checked)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", check.not_checked);
	for (size_t i = 0; i < check.nrisks; ++i)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "!%s\n", check.risks[i]);
	selfcheck_destroy(&check);
	leave(&machine);
	return text;
}

static void same_at(int number, const char *got, const char *expected)
{
	bool good = strcmp(got, expected) == 0;
	if (!good)
		printf("%s:%d: got:\n%s", __FILE__, number, got);
	CU_ASSERT_TRUE(good);
}
#define SAME(...) same_at(__LINE__, __VA_ARGS__)

#define NOT_JUDGED "not checked on every line: FSTAB-TYPE-UNSUPPORTED, FSTAB-HELPER-MISSING\n"

static void test_same(void)
{
	SAME(told("", GOOD, 0, true), "reproduces 5 of 5 mounts, 1 of 1 swap spaces\n" NOT_JUDGED);
	SAME(told("", GOOD, 0, false), "reproduces 5 of 5 mounts, 1 of 1 swap spaces\n"
	                               "not checked on every line: FSTAB-SRC-MISSING, "
	                               "FSTAB-SRC-AMBIGUOUS, FSTAB-BIND-SRC, FSTAB-OVERLAY-DIR, "
	                               "FSTAB-TGT-MISSING, FSTAB-TGT-SYMLINK, FSTAB-TYPE-MISMATCH, "
	                               "FSTAB-TYPE-UNSUPPORTED, FSTAB-HELPER-MISSING\n");
}

static void test_others(void)
{
	SAME(told("",
	          "/data/a\\012b /bound none bind,ro 0 0\nUUID=root / ext4\nUUID=gone /data xfs "
	          "nofail\n"
	          "t /tmp tmpfs size=1m\nx /other tmpfs\nUUID=there /y ext4\n",
	          0, true),
	     "not the same: reproduces 2 of 5 mounts, 0 of 1 swap spaces\n"
	     "does not reproduce /data (line 3): no device has it (UUID=gone)\n"
	     "does not reproduce /bound (line 1): it needs line 3, of /data, which is not mounted "
	     "by then\n"
	     "does not reproduce /ov: no line mounts it\n"
	     "does not reproduce UUID=swap: no line has it\n"
	     "line 5 also mounts /other: nothing is mounted there now\n"
	     "line 6, of /y, cannot be mounted: no device has it (UUID=there)\n"
	     "not checked on every line: FSTAB-TYPE-UNSUPPORTED\n"
	     "!FSTAB-ORDER /bound (line 1): the bind source /data/a\\012b is on /data, which line "
	     "3 mounts after it\n"
	     "!FSTAB-NOFAIL /bound (line 1): it needs line 3, of /data, which is nofail, but is "
	     "not nofail itself\n"
	     "!FSTAB-SRC-MISSING /y (line 6): no device has it\n");
}

static void test_old_risks(void)
{
	/* What the old text had is no new one; without NULs or lines too. */
	SAME(told("UUID=there /y ext4\n", GOOD "UUID=there /y ext4\n", 0, true),
		"reproduces 5 of 5 mounts, 1 of 1 swap spaces\n"
		"line 7, of /y, cannot be mounted: no device has it (UUID=there)\n" NOT_JUDGED);
	static const char nul[] = GOOD "x\0y /y ext4\n\0\0\0";
	SAME(told("", nul, sizeof(nul) - 1, true),
		"reproduces 5 of 5 mounts, 1 of 1 swap spaces\n" NOT_JUDGED
		"!FSTAB-SYNTAX /y (line 7): contains a NUL byte\n"
		"!FSTAB-SYNTAX  (line 8): contains a NUL byte\n");
	SAME(told(GOOD, "", 0, true),
		"not the same: reproduces 0 of 5 mounts, 0 of 1 swap spaces\n"
		"does not reproduce /: no line mounts it\n"
		"does not reproduce /data: no line mounts it\n"
		"does not reproduce /bound: no line mounts it\n"
		"does not reproduce /tmp: no line mounts it\n"
		"does not reproduce /ov: no line mounts it\n"
		"does not reproduce UUID=swap: no line has it\n"
		"!FSTAB-LOST /: the new fstab has no line for this mount\n"
		"!FSTAB-LOST /bound: the new fstab has no line for this mount\n"
		"!FSTAB-LOST /data: the new fstab has no line for this mount\n");
}

/** What the running kernel shows of the type, it knows. */
static void test_shown(void)
{
	SAME(told("", GOOD "t /data/t tmpfs newopt=2,olde\nx /data/x xfs newopt\n", 0, true),
	     "reproduces 5 of 5 mounts, 1 of 1 swap spaces\n"
	     "line 7, of /data/t, cannot be mounted: the line has option olde, which tmpfs does "
	     "not have: FSTAB-OPT-UNKNOWN\n"
	     "line 8, of /data/x, cannot be mounted: the line has option newopt, which xfs does "
	     "not have: FSTAB-OPT-UNKNOWN\n" NOT_JUDGED
	     "!FSTAB-OPT-UNKNOWN /data/t (line 7): tmpfs has no option \"olde\": the kernel "
	     "refuses the mount\n"
	     "!FSTAB-OPT-UNKNOWN /data/x (line 8): xfs has no option \"newopt\": the kernel "
	     "refuses the mount\n"
	     "!FSTAB-SRC-MISSING /data/x (line 8): the source is neither a path nor a tag\n");
}

/** What the kernel is known to refuse, is not mounted; nor is what is on it. */
static void test_refused(void)
{
	static const char bad[] = "UUID=root / ext4 errors=foo 0 1\nUUID=data /data xfs defaulus 0 "
	                          "2\n/data/a\\012b /bound none bind,ro 0 0\n"
	                          "t /tmp tmpfs size=1m,nofa 0 0\no /ov overlay "
				  "lowerdir=/data/l:/l,upperdir=/data/u,workdir=/data/w\n"
	                          "UUID=swap none swap sw 0 0\n";
	SAME(told(bad, bad, 0, true), "not the same: reproduces 0 of 5 mounts, 1 of 1 swap spaces\n"
	                              "does not reproduce / (line 1): the line has option "
	                              "errors=foo, but ext4 accepts continue, remount-ro, panic: "
	                              "FSTAB-OPT-UNKNOWN\n"
	                              "does not reproduce /data (line 2): the line has option "
	                              "defaulus, which xfs does not have: FSTAB-OPT-TYPO\n"
	                              "does not reproduce /bound (line 3): it needs line 2, of "
	                              "/data, which is not mounted by then\n"
	                              "does not reproduce /tmp (line 4): the line has option nofa, "
	                              "which tmpfs does not have: FSTAB-OPT-UNKNOWN\n"
	                              "does not reproduce /ov (line 5): it needs line 2, of /data, "
	                              "which is not mounted by then\n" NOT_JUDGED);
	/* Beside a line that mounts it. */
	SAME(told("t /tmp tmpfs uid=5y\n", GOOD "t /tmp tmpfs size=1m,uid=5y\n", 0, true),
	     "reproduces 5 of 5 mounts, 1 of 1 swap spaces\n" NOT_JUDGED
	     "!FSTAB-DUP-TARGET /tmp (line 7): line 4 has the same mount point: mount(8) mounts "
	     "both, one over the other; "
	     "systemd only the first\n");
	/* The owner vouches for it; another mount of the type has it. */
	static const char *const taken[] = {
	        "# getmnt: ignore=FSTAB-OPT-UNKNOWN\nt /tmp tmpfs size=1m,nofa\n",
	        "t /tmp tmpfs size=1m,newopt=2,newer\n"};
	for (size_t i = 0; i < 2; ++i)
		SAME(told("", taken[i], 0, true),
			"not the same: reproduces 1 of 5 mounts, 0 of 1 swap spaces\n"
			"does not reproduce /: no line mounts it\n"
			"does not reproduce /data: no line mounts it\n"
			"does not reproduce /bound: no line mounts it\n"
			"does not reproduce /ov: no line mounts it\n"
			"does not reproduce UUID=swap: no line has it\n"
			"not checked on every line: FSTAB-TYPE-UNSUPPORTED\n");
}

/** What a rescue system does to the root's line; and to others, right or wrong before. */
static void test_lost(void)
{
	SAME(told(GOOD, "rootfs / tmpfs\nUUID=data /data xfs\n/data/a\\012b /bound none bind,ro\n",
	          0, true),
	     "not the same: reproduces 2 of 5 mounts, 0 of 1 swap spaces\n"
	     "does not reproduce / (line 1): the line mounts something else\n"
	     "does not reproduce /tmp: no line mounts it\n"
	     "does not reproduce /ov: no line mounts it\n"
	     "does not reproduce UUID=swap: no line has it\n"
	     "not checked on every line: FSTAB-TYPE-UNSUPPORTED\n"
	     "!FSTAB-LOST / (line 1): the new line mounts no device, server or directory\n");
	/* /data was another before: that it goes is no loss. */
	SAME(told("UUID=root / ext4\nUUID=root /data ext4\n/data/a\\012b /bound none bind,ro\n",
	          GOOD, 0, true),
	     "reproduces 5 of 5 mounts, 1 of 1 swap spaces\n" NOT_JUDGED);
	SAME(told("UUID=root / ext4\nUUID=root /data ext4\n", "UUID=root / ext4\n", 0, true),
		"not the same: reproduces 1 of 5 mounts, 0 of 1 swap spaces\n"
		"does not reproduce /data: no line mounts it\n"
		"does not reproduce /bound: no line mounts it\n"
		"does not reproduce /tmp: no line mounts it\n"
		"does not reproduce /ov: no line mounts it\n"
		"does not reproduce UUID=swap: no line has it\n"
		"not checked on every line: FSTAB-TYPE-UNSUPPORTED\n");
}

static void test_no_memory(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	struct machine machine;
	enter(&machine);
	static const char bad[] = GOOD "t /t tmpfs newopt\nUUID=gone /x ext4 defautls,ro,rw\n/data "
	                               "/y none rbind\n/f.img /z ext4 loop\n"
	                               "x /data/\\0 tmpfs X-mount.mkdir\nLABEL=\"q\" /q auto\n";
	struct selfcheck_input in =
	        input_of(&machine, "UUID=x /x ext4\nUUID=data /lost xfs\n", bad);
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2,
		                      ENOMEM};
		struct selfcheck check;
		fault_begin(n ? &fault : NULL, 1000);
		int rc = selfcheck_make(&in, &check), error = errno;
		selfcheck_destroy(&check);
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT(n ? (count.hits == 0) == (rc == 0) : rc == 0);
		CU_ASSERT(rc == 0 || error == ENOMEM);
	}
	CU_ASSERT(allocations > 20);
	leave(&machine);
}

static const struct unit_test tests[] = {
	{"same", test_same},
	{"others", test_others},
	{"old risks", test_old_risks},
	{"lost", test_lost},
	{"shown", test_shown},
	{"refused", test_refused},
	{"no_memory", test_no_memory},
	{NULL, NULL},
};

const struct unit_suite suite_selfcheck = {"selfcheck", tests};
