/* SPDX-License-Identifier: MIT */
/*
 * What is checked of an fstab before it is written.  The cases are in
 * tests/fixtures/audit/selfcheck: the old text, the new one, what is reported.
 */
#include "unit.h"

#include "audit/selfcheck.h"
#include "cases.h"
#include "fault.h"
#include "fstab/match.h"

#define DATA_UUID "da7a0000-0000-4000-8000-000000000000"   /* as in the fixture */

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "root"},
	{.name = "/dev/sda2", .type = "xfs", .uuid = DATA_UUID},
	{.name = "/dev/sda5", .type = "swap", .uuid = "swap"},
};

static int swap_of(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg, (void)name;
	device->tags = &tags[2];
	return 0;
}

static int device_of(void *arg, const struct mount *mount, const char *swap,
                     struct fstab_device *device)
{
	if (!mount)
		return swap_of(arg, swap, device);
	(void)arg;
	if (mount->dev_major == 8 && mount->dev_minor >= 1 && mount->dev_minor <= 2)
		device->tags = &tags[mount->dev_minor - 1];
	return 0;
}

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	for (size_t i = 0; i < COUNT(tags); ++i) {
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

/** A machine: to be let go by leave(). */
struct machine {
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
	device_of(NULL, line->mount, line->swap, &own);
	return own.tags ? own.tags == named.tags : -1;
}

static void enter(struct machine *machine, const char *mounts)
{
	*machine = (struct machine){
		.swap = {.name = "/dev/sda5", .priority = -2}, .d = unit_discover(mounts),
	};
	machine->live = (struct fstab_input){
		.d = machine->d, .root = "/", .swaps = &machine->swap, .nswaps = 1,
		.facts = {.device = device_of, .leads = leads}};
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&machine->live, &machine->plan), 0);
	machine->match = (struct fstab_match_input){
	        .plan = &machine->plan, .root = "/", .facts = &machine->live.facts};
}

static void leave(struct machine *machine)
{
	fstab_plan_destroy(&machine->plan);
	unit_discovery_free(machine->d);
}

static struct selfcheck_input input_of(const struct machine *machine, const char *old,
                                       const char *new)
{
	return (struct selfcheck_input){
		.old = old, .old_len = strlen(old), .new = new, .len = strlen(new),
		.d = machine->d, .match = &machine->match};
}

static char text[16 * 1024];

/** All that is reported. */
static const char *reported(const char *old, const char *new, size_t len, bool facts)
{
	struct machine machine;
	enter(&machine, table);
	struct selfcheck_input in = input_of(&machine, old, new);
	in.len = len;
	machine.live.facts.devices = facts ? devices : NULL;
	machine.live.facts.look = facts ? look : NULL;
	struct selfcheck check;
	CU_ASSERT_EQUAL_FATAL(selfcheck_make(&in, &check), 0);
	size_t n = (size_t)snprintf(text, sizeof(text), "%s%s\n",
	                            check.same ? "" : "not the same: ", check.summary);
	for (size_t i = 0; i < check.nnotes; ++i) {
		CU_ASSERT_PTR_NULL(strchr(check.notes[i], '\n'));
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", check.notes[i]);
	}
	const struct audit_situation situation = {.recorded = !facts};
	struct strbuf unchecked = {0};
	audit_name_not_checked(&unchecked, check.not_checked, &situation);
	if (check.not_checked)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", strbuf_str(&unchecked));
	strbuf_destroy(&unchecked);
	for (size_t i = 0; i < check.nrisks; ++i)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "!%s\n", check.risks[i]);
	selfcheck_destroy(&check);
	leave(&machine);
	return text;
}

UNIT_TEST(cases)
{
	struct unit_case c;
	while (unit_case("tests/fixtures/audit/selfcheck", &c)) {
		unit_note("%s", c.name);
		CU_ASSERT_EQUAL_FATAL(c.count, 3);
		const char *new = c.parts[1].text, *got = reported(
			c.parts[0].text, new, strlen(new), !strstr(c.name, "without facts"));
		CU_ASSERT_STRING_EQUAL(got, c.parts[2].text);
		if (strcmp(got, c.parts[2].text) != 0)
			printf("  %s: got:\n%s", c.name, got);
	}
}

UNIT_TEST(nul_bytes)
{
	static const char nul[] = "UUID=root / ext4\nx\0y /y ext4\n\0\0\0";
	CU_ASSERT_PTR_NOT_NULL(strstr(reported("", nul, sizeof(nul) - 1, true),
		"!FSTAB-SYNTAX /y (line 2): contains a NUL byte\n"
		"!FSTAB-SYNTAX  (line 3): contains a NUL byte\n"));
}

/** Only make a check.  @return 0, or -1. */
static int check_only(const struct machine *machine, const char *old, const char *new)
{
	struct selfcheck_input in = input_of(machine, old, new);
	struct selfcheck check;
	int rc = selfcheck_make(&in, &check), error = errno;
	selfcheck_destroy(&check);
	errno = error;
	return rc;
}

static int check_bad(void *arg)
{
	static const char bad[] =
		"UUID=root / ext4 defaults 0 1\nUUID=" DATA_UUID " /data xfs defaults 0 2\n"
		"/data/a\\012b /bound none bind,ro 0 0\no /ov overlay "
		"lowerdir=/data/l:/l,upperdir=/data/u,workdir=/data/w\n"
		"t /t tmpfs newopt\nLABEL=gone /x ext4 defautls,ro,rw\n/data /y none rbind\n"
		"/f.img /z ext4 loop\nx /data/\\0 tmpfs X-mount.mkdir\nLABEL=\"q\" /q auto\n";
	return check_only(arg, "UUID=x /x ext4\nUUID=" DATA_UUID " /lost xfs\n", bad);
}

/* Copies. */

#define S_ROOT "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define S_B "21 20 8:1 /A /B rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
#define S_M "22 20 0:40 / /A/m rw,relatime shared:2 - tmpfs x rw\n"
#define S_COPY "23 21 0:40 / /B/m rw,relatime shared:2 - tmpfs x rw\n"
#define S_BOUND S_ROOT S_B S_M S_COPY
#define L_ROOT "/dev/sda1 / ext4 defaults 0 1\n"
#define L_B "/A /B none bind 0 0\n"
#define L_M "x /A/m tmpfs defaults 0 0\n"

static const struct copies_row {
	const char *mounts, *lines, *reported;
} copies_rows[] = {
	{S_BOUND, L_ROOT L_B L_M, "reproduces 4 of 4 mounts\n"},
	{S_BOUND, L_ROOT "/A /B none rbind 0 0\n" L_M, "reproduces 4 of 4 mounts\n"},
	/* A line for each mounts all of them once more. */
	{S_BOUND, L_ROOT L_B L_M "/A/m /B/m none bind 0 0\n",
	 "reproduces 4 of 4 mounts\nline 4 also mounts /B/m: once more: it is a copy of another "
	 "mount there already\n"},
	{S_BOUND, L_ROOT L_B L_M "x /B/m tmpfs defaults 0 0\n",
	 "reproduces 4 of 4 mounts\nline 4 also mounts /B/m: once more: it is a copy of another "
	 "mount there already\n"},
	/* A mount made before the bind is not passed on, but comes along with an rbind. */
	{S_BOUND, L_ROOT L_M L_B,
	 "reproduces 3 of 4 mounts\ndoes not reproduce /B/m: it is a copy of the mount on /A/m, "
	 "which line 2 mounts before line 3: use rbind in line 3, or move line 2 to after it\n"},
	{S_BOUND, L_ROOT L_M "/A /B none rbind 0 0\n", "reproduces 4 of 4 mounts\n"},
	{S_ROOT S_M "23 20 8:1 /A /B rw,relatime shared:1 - ext4 /dev/sda1 rw\n", L_ROOT L_M L_B,
	 "reproduces 3 of 3 mounts\n"},
	{S_ROOT S_M "23 20 8:1 /A /B rw,relatime shared:1 - ext4 /dev/sda1 rw\n", L_ROOT L_B L_M,
	 "reproduces 3 of 3 mounts\nline 3 also mounts /B/m: a copy of its mount, made by "
	 "propagation or a recursive bind, which does not exist now\n"},
	/* A private bind. */
	{S_BOUND, L_ROOT "/A /B none bind,private 0 0\n" L_M,
	 "reproduces 2 of 4 mounts\ndoes not reproduce /B (line 2): it is mounted with other "
	 "options: shared\ndoes not reproduce /B/m: it is a copy of the mount on /A/m, which is "
	 "not passed on to it\n"},
	{S_ROOT "21 20 8:1 /A /B rw,relatime - ext4 /dev/sda1 rw\n" S_M,
	 L_ROOT "/A /B none bind,private 0 0\n" L_M, "reproduces 3 of 3 mounts\n"},
	{S_ROOT "21 20 8:1 /A /B rw,relatime - ext4 /dev/sda1 rw\n" S_M, L_ROOT L_B L_M,
	 "reproduces 2 of 3 mounts\ndoes not reproduce /B (line 2): it is mounted with other "
	 "options: private\nline 3 also mounts /B/m: a copy of its mount, made by propagation or "
	 "a recursive bind, which does not exist now\n"},
	{S_ROOT "21 20 8:1 /A /B rw,relatime - ext4 /dev/sda1 rw\n" S_M S_COPY,
	 L_ROOT "/A /B none bind,private 0 0\n" L_M "/A/m /B/m none bind 0 0\n",
	 "reproduces 4 of 4 mounts\n"},
	/* A slave receives, and does not pass on. */
	{S_ROOT "21 20 8:1 /A /B rw,relatime master:1 - ext4 /dev/sda1 rw\n" S_M
	 "23 21 0:40 / /B/m rw,relatime master:2 - tmpfs x rw\n"
	 "24 21 0:41 / /B/n rw,relatime - tmpfs y rw\n",
	 L_ROOT "/A /B none bind,slave 0 0\n" L_M "y /B/n tmpfs defaults 0 0\n",
	 "reproduces 5 of 5 mounts\n"},
	{S_ROOT "21 20 8:1 /A /B rw,relatime master:1 - ext4 /dev/sda1 rw\n" S_M
	 "23 21 0:40 / /B/m rw,relatime master:2 - tmpfs x rw\n",
	 L_ROOT L_B L_M "x /B/m tmpfs defaults 0 0\n",
	 "reproduces 3 of 4 mounts\ndoes not reproduce /B (line 2): it is mounted with other "
	 "options: slave\nline 4 also mounts /B/m: once more: it is a copy of another mount there "
	 "already\n"},
	/* The origin has no line. */
	{S_BOUND, L_ROOT L_B, "reproduces 2 of 4 mounts\ndoes not reproduce /A/m: no line mounts "
	 "it\ndoes not reproduce /B/m: it is a copy of the mount on /A/m, which no line mounts\n"},
	/* A recursive bind of private mounts. */
	{"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n22 20 0:40 / /A/m rw,relatime - tmpfs x "
	 "rw\n23 20 8:1 /A /B rw,relatime - ext4 /dev/sda1 rw\n24 23 0:40 / /B/m rw,relatime - "
	 "tmpfs x rw\n", L_ROOT L_M "/A /B none rbind 0 0\n", "reproduces 4 of 4 mounts\n"},
	/* Binds in each other. */
	{S_ROOT "21 20 8:1 /A /A/s rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	 "22 20 8:1 /A /A/t rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	 "23 21 8:1 /A /A/s/t rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
	 L_ROOT "/A /A/s none bind 0 0\n/A /A/t none bind 0 0\n", "reproduces 4 of 4 mounts\n"},
	{S_ROOT "21 20 8:1 /A /A/s rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	 "22 20 8:1 /A /A/t rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	 "23 21 8:1 /A /A/s/t rw,relatime shared:1 - ext4 /dev/sda1 rw\n",
	 L_ROOT "/A /A/s none bind 0 0\n/A /A/t none bind 0 0\n/A /A/s/t none bind 0 0\n",
	 "reproduces 4 of 4 mounts\nline 4 also mounts /A/s/t: once more: it is a copy of another "
	 "mount there already\n"},
};

static int check_copies(void *arg)
{
	return check_only(arg, "", copies_rows[2].lines);
}

UNIT_TEST(copies)
{
	for (size_t i = 0; i < COUNT(copies_rows); ++i) {
		const struct copies_row *row = &copies_rows[i];
		struct machine machine;
		enter(&machine, row->mounts);
		machine.live.nswaps = 0;
		fstab_plan_destroy(&machine.plan);
		CU_ASSERT_EQUAL_FATAL(fstab_plan(&machine.live, &machine.plan), 0);
		struct selfcheck_input in = input_of(&machine, "", row->lines);
		struct selfcheck check;
		CU_ASSERT_EQUAL_FATAL(selfcheck_make(&in, &check), 0);
		size_t n = (size_t)snprintf(text, sizeof(text), "%s\n", check.summary);
		for (size_t k = 0; k < check.nnotes; ++k)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s\n", check.notes[k]);
		if (strcmp(text, row->reported) != 0)
			printf("row %zu:\n%s", i, text);
		CU_ASSERT_STRING_EQUAL(text, row->reported);
		selfcheck_destroy(&check);
		leave(&machine);
	}
	struct machine machine;
	enter(&machine, S_BOUND);
	fault_each_allocation(check_copies, &machine, 20);
	leave(&machine);
}

UNIT_TEST(no_memory)
{
	struct machine machine;
	enter(&machine, table);
	fault_each_allocation(check_bad, &machine, 20);
	leave(&machine);
}
