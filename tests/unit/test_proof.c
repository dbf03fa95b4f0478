/* SPDX-License-Identifier: MIT */
/*
 * What an fstab would mount, from recorded tables and fstabs: pure.
 */
#include "unit.h"

#include "base/escape.h"
#include "fault.h"
#include "fstab/proof.h"
#include "table/table_impl.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine. */

static const struct machine_device {
	uint32_t major, minor;
	struct devmap_tags tags;
	struct devmap_loop loop;
} machine[] = {
	{8, 1, {.name = "/dev/sda1", .type = "ext4", .uuid = "u-root", .label = "root"}},
	{8, 2, {.name = "/dev/sda2", .type = "ext4", .uuid = "u-data", .label = "data", .partuuid = "p-2"}},
	{8, 3, {.name = "/dev/sda3", .type = "xfs", .uuid = "u-xfs", .label = "big disk"}},
	{8, 4, {.name = "/dev/sda4", .type = "ext4", .uuid = "u-twice", .partuuid = "p-4"}},
	{8, 5, {.name = "/dev/sda5", .type = "swap", .uuid = "u-swap"}},
	{8, 6, {.name = "/dev/sda6", .type = "ext4", .uuid = "u-spare"}},
	{7, 0, {.name = "/dev/loop0", .type = "ext4", .uuid = "u-img"}, {.file = "/data/a b.img"}},
	{7, 1, {.name = "/dev/loop1", .type = "ext4", .uuid = "u-off"}, {.file = "/data/a b.img", .offset = 4096}},
	{0, 40, {.name = "/dev/sdb1", .type = "btrfs", .uuid = "u-btrfs"}},
};

static int find_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		if (machine[i].major == mount->dev_major && machine[i].minor == mount->dev_minor)
			*device = (struct fstab_device){&machine[i].tags, machine[i].loop, false};
	}
	return 0;
}

static int find_swap(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		if (strcmp(machine[i].tags.name, name) == 0)
			*device = (struct fstab_device){&machine[i].tags, machine[i].loop, false};
	}
	return 0;
}

static unsigned holders(void *arg, const char *tag, const char *value)
{
	(void)arg, (void)tag;
	return strcmp(value, "u-twice") == 0 ? 2 : 1;
}

static bool is_secret(const char *source, const char *options)
{
	return (source && strstr(source, "hunter2")) || (options && strstr(options, "pass="));
}

/** What devices a source names: the machine's, and links to them. */
static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	if (strcmp(source, "/dev/disk/by-id/x") == 0)
		source = "/dev/sda2";
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		const struct devmap_tags *tags = &machine[i].tags;
		if (strcmp(tags->name, source) == 0 || (tags->uuid && strcmp(tags->uuid, value) == 0)
		    || (tags->label && strcmp(tags->label, value) == 0)) {
			if (device)
				*device = (struct fstab_device){tags, machine[i].loop, false};
			return 1;
		}
	}
	return 0;
}

/** What lies where: by its name. */
static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	const char *target = strcmp(path, "/link") == 0 ? "/srv/real" : path;
	if (real)
		strbuf_puts(real, target);
	return strstr(path, "gone") ? FACT_MISSING : strstr(path, "file") ? FACT_FILE
	       : strstr(path, "unknown") ? FACT_UNKNOWN : FACT_DIR;
}

static char text[64 * 1024];

__attribute__((format(printf, 1, 2)))
static void add_text(const char *format, ...)
{
	size_t n = strlen(text);
	va_list args;
	va_start(args, format);
	vsnprintf(text + n, sizeof(text) - n, format, args);
	va_end(args);
}

static struct proof_input facts_of(bool facts)
{
	struct proof_input in = {0};
	if (facts)
		in.facts = (struct fstab_facts){.devices = devices, .look = look};
	return in;
}

static const char *swaps_text = "";
static bool tables_alone;   /* no device was ever read */

/** What a plan is proven with: a file, or the plan's own lines. */
static const char *proven(struct proof_input in, const char *root, const char *table, const char *fstab)
{
	struct mount_table *mounts = table_parse_mountinfo(table, strlen(table));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mounts);
	CU_ASSERT_EQUAL(mounts->nproblems, 0);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct fstab_input live = {
		.d = discover(&os, NULL, mounts, &opts), .root = root, .options = FSTAB_MINIMAL,
		.world = {.device = find_device, .swap = find_swap, .holders = holders, .secret = is_secret},
	};
	if (tables_alone) {
		live.id = FSTAB_PATH;
		live.world = (struct fstab_world){.secret = is_secret};
	}
	CU_ASSERT_PTR_NOT_NULL_FATAL(live.d);
	struct arena arena;
	arena_init(&arena);
	struct fstab_swap *swaps = NULL;
	size_t damaged;
	live.nswaps = (size_t)fstab_parse_swaps(swaps_text, &arena, &swaps, &damaged);
	live.swaps = swaps;
	struct fstab_plan plan;
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&live, &plan), 0);
	char own[32 * 1024] = "";
	for (size_t i = 0; i < plan.count && !fstab; ++i) {
		const struct fstab_line *line = &plan.lines[i];
		const char *const fields[] = {line->source, line->target, line->fstype, line->options};
		struct strbuf out;
		strbuf_init(&out);
		for (size_t k = 0; k < 4 && line->fate == FSTAB_LINE; ++k) {
			escape_octal(&out, fields[k], ESCAPE_PATH);
			strbuf_puts(&out, k < 3 ? " " : " 0 0\n");
		}
		size_t n = strlen(own);
		snprintf(own + n, sizeof(own) - n, "%s", strbuf_str(&out));
		strbuf_destroy(&out);
	}
	fstab = fstab ? fstab : own;
	struct mount_table *entries = table_parse_tabfile(fstab, strlen(fstab), TABLE_FSTAB);
	CU_ASSERT_PTR_NOT_NULL_FATAL(entries);
	in.entries = entries;
	in.live = &live;
	in.plan = &plan;
	struct proof proof;
	text[0] = '\0';
	CU_ASSERT_EQUAL(proof_make(&in, &proof), 0);
	add_text("%zu of %zu", proof.same, proof.mounts);
	if (proof.swaps)
		add_text(", swaps %zu of %zu", proof.swaps_same, proof.swaps);
	if (proof.held)
		add_text(", %zu held", proof.held);
	if (proof.held_sources)
		add_text(", %zu sources held", proof.held_sources);
	if (proof.systemd != proof.same)
		add_text(", systemd %zu", proof.systemd);
	add_text("\n");
	for (size_t i = 0; i < proof.count; ++i) {
		const struct proof_item *item = &proof.items[i];
		CU_ASSERT_EQUAL(item->verdict == PROOF_SAME, item->why == NULL);
		if (item->verdict != PROOF_SAME)
			add_text("%u %s %s: %s\n", item->line, item->source ? item->source : item->target,
			         proof_verdict_name(item->verdict), item->why);
	}
	proof_destroy(&proof);
	table_free(entries);
	fstab_plan_destroy(&plan);
	discovery_free((struct discovery *)(uintptr_t)live.d);
	table_free(mounts);
	free(swaps);
	arena_destroy(&arena);
	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
	return text;
}

#define ROOT_MOUNT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define ROOT_LINE "UUID=u-root / ext4 defaults 0 1\n"

static void check_at(const char *file, int number, bool facts, const char *table, const char *fstab,
                     const char *expected)
{
	char mounts[16 * 1024], lines[16 * 1024];
	snprintf(mounts, sizeof(mounts), ROOT_MOUNT "%s", table);
	snprintf(lines, sizeof(lines), ROOT_LINE "%s", fstab ? fstab : "");
	const char *got = proven(facts_of(facts), "/", mounts, fstab ? lines : NULL);
	bool good = strcmp(got, expected) == 0;
	if (!good)
		printf("%s:%d: got:\n%s", file, number, got);
	CU_ASSERT_TRUE(good);
}
/* From the table alone; with a machine to ask. */
#define PURE(...) check_at(__FILE__, __LINE__, false, __VA_ARGS__)
#define ASKED(...) check_at(__FILE__, __LINE__, true, __VA_ARGS__)

#define UNSEEN ", as far as can be seen: nothing mounted shows that place now"
#define DATA "21 20 8:2 / /data rw,relatime - ext4 /dev/sda2 rw\n"

static void test_plan_proves_itself(void)
{
	PURE(DATA
	     "22 21 8:3 / /data/in\\040it rw,noatime - xfs /dev/sda3 rw,logbsize=64k\n"
	     "23 20 0:40 /@ /s rw,relatime - btrfs /dev/sdb1 rw,ssd,subvolid=256,subvol=/@\n"
	     "24 20 0:40 /@/dir /d ro,relatime - btrfs /dev/sdb1 rw,subvolid=256,subvol=/@\n"
	     "25 20 0:41 / /tmp rw,nosuid - tmpfs t rw,size=1024k\n"
	     "26 25 0:42 / /tmp/x rw,relatime - tmpfs u rw\n"
	     "27 20 8:2 /file /etc/file rw,relatime - ext4 /dev/sda2 rw\n"
	     "28 20 0:43 / /ov rw,relatime - overlay o rw,lowerdir=/data/l:/s,upperdir=/data/u,workdir=/data/w\n"
	     "29 20 7:0 / /img rw,relatime - ext4 /dev/loop0 rw\n"
	     "30 20 0:44 / /nfs rw,relatime - nfs4 srv:/a rw,vers=4.2,rsize=1048576,hard,addr=1.2.3.4\n"
	     "31 20 0:45 / /proc rw - proc proc rw\n"
	     "32 20 0:46 / /run rw - tmpfs tmpfs rw\n"
	     "33 32 0:47 / /run/mine rw,relatime - tmpfs mine rw\n",
	     NULL, "11 of 11\n");
}


static void test_missing_lines(void)
{
	PURE(DATA "22 20 0:41 / /tmp rw,relatime - tmpfs t rw\n",
	     "UUID=u-data /data ext4 noauto 0 2\n"
	     "UUID=u-spare /spare ext4 nofail 0 2\n",
	     "1 of 3, 1 held\n"
	     "2 /data noauto: its line says noauto\n"
	     "0 /tmp no line: no line mounts it\n"
	     "3 /spare extra: nothing is mounted there now\n");
}

static void test_automount(void)
{
	/* It is mounted when it is entered. */
	PURE(DATA, "UUID=u-data /data ext4 noauto,x-systemd.automount 0 2\n", "2 of 2\n");
}

static void test_order(void)
{
	/* "/data/in" is mounted first, and then covered. */
	const char *table = DATA "22 21 8:3 / /data/in rw,relatime - xfs /dev/sda3 rw\n";
	PURE(table, "UUID=u-data /data ext4 defaults\nUUID=u-xfs /data/in xfs defaults\n", "3 of 3\n");
	PURE(table, "UUID=u-xfs /data/in xfs defaults\nUUID=u-data /data ext4 defaults\n",
	     "2 of 3, systemd 3\n"
	     "2 /data/in failed: there is no directory /data/in in what is mounted on / then" UNSEEN "\n");
	/* The same where somebody could look: what is beneath /x is not seen. */
	ASKED("21 20 8:2 / /x rw,relatime - ext4 /dev/sda2 rw\n22 21 8:3 / /x/gone rw,relatime - xfs /dev/sda3 rw\n",
	      "UUID=u-xfs /x/gone xfs defaults\nUUID=u-data /x ext4 defaults\n",
	      "2 of 3, systemd 3\n"
	      "2 /x/gone failed: there is no directory /x/gone in what is mounted on / then" UNSEEN "\n");
	/* What is there is covered later. */
	ASKED("21 20 8:2 / /a rw,relatime - ext4 /dev/sda2 rw\n22 21 8:3 / /a/in rw,relatime - xfs /dev/sda3 rw\n"
	      "23 20 8:1 /a/in /b rw,relatime - ext4 /dev/sda1 rw\n",
	      "UUID=u-xfs /a/in xfs defaults\nUUID=u-data /a ext4 defaults\n",
	      "2 of 3, systemd 3\n"
	      "2 /a/in hidden: the mount on /a, of line 3, covers it\n");
}

static void test_targets(void)
{
	/* A directory that is not there; made by an option; below a tmpfs, which is empty. */
	ASKED(DATA "22 20 0:41 / /tmp rw,relatime - tmpfs t rw\n"
	      "23 22 0:42 / /tmp/a rw,relatime - tmpfs a rw\n"
	      "24 22 0:43 / /tmp/b/c rw,relatime - tmpfs b rw\n",
	      "UUID=u-data /data ext4 defaults\n"
	      "t /tmp tmpfs defaults\na /tmp/a tmpfs defaults\nb /tmp/b/c tmpfs X-mount.mkdir\n"
	      "x /gone tmpfs defaults\ny /gone2 tmpfs x-mount.mkdir\nz relative tmpfs defaults\n"
	      "v /some/file tmpfs defaults\n",
	      "4 of 5, systemd 5\n"
	      "4 /tmp/a failed: there is no directory /tmp/a in what is mounted on /tmp then, which is empty: X-mount.mkdir makes one\n"
	      "6 /gone failed: there is no directory /gone in what is mounted on / then\n"
	      "7 /gone2 extra: nothing is mounted there now\n"
	      "8 relative failed: its target is no absolute path\n"
	      "9 /some/file failed: its mount point /some/file is a file\n");
	/* A link leads to another place. */
	ASKED("21 20 8:2 / /srv/real rw,relatime - ext4 /dev/sda2 rw\n", "UUID=u-data /link ext4 defaults\n",
	      "2 of 2\n");
	PURE(DATA, "UUID=u-data //data/./x/../ ext4 defaults\n", "2 of 2\n");
}

static void test_sources(void)
{
	const char *table = DATA "22 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw\n"
	                    "23 20 8:4 / /t rw,relatime - ext4 /dev/sda4 rw\n";
	/* Whatever names the device; one that names another, none, or two. */
	ASKED(table, "PARTUUID=p-2 /data ext4\nLABEL=\"big\\040disk\" /x xfs\n/dev/sda4 /t ext4\n", "4 of 4\n");
	ASKED(table, "/dev/disk/by-id/x /data ext4\n/dev/sda3 /x auto\nUUID=u-twice /t ext4\n",
	      "3 of 4\n"
	      "4 /t source: it is /dev/sda4, and the line mounts one of the 2 devices of UUID=u-twice\n");
	ASKED(table, "UUID=u-xfs /data xfs\nUUID=none /x xfs\nUUID=u-spare /t ext4\n",
	      "1 of 4\n"
	      "2 /data source: it is /dev/sda2, and the line mounts /dev/sda3\n"
	      "3 /x failed: no device has UUID=none\n"
	      "4 /t source: it is /dev/sda4, and the line mounts /dev/sda6\n");
	/* A tmpfs is one, whatever its source names; but there must be such a thing. */
	ASKED("21 20 0:41 / /tmp rw,relatime - tmpfs t rw\n", "UUID=u-data /tmp tmpfs\n", "2 of 2\n");
	ASKED("21 20 0:41 / /tmp rw,relatime - tmpfs t rw\n", "UUID=none /tmp tmpfs\n",
	      "1 of 2\n2 /tmp failed: no device has UUID=none\n");
	/* Nobody to ask: what is not live is another. */
	PURE(table, "UUID=none /data ext4\nLABEL=big\\040disk /x xfs\n/dev/sda4 /t ext4\n",
	     "3 of 4\n"
	     "2 /data source: it is /dev/sda2, and the line mounts UUID=none\n");
	/* Types. */
	PURE(table, "UUID=u-data /data none\nUUID=u-xfs /x ext4\n/dev/sda4 /t fuse.x\n",
	     "1 of 4\n"
	     "2 /data failed: /dev/sda2 holds ext4, and cannot be mounted as none\n"
	     "3 /x failed: /dev/sda3 holds xfs, and cannot be mounted as ext4\n"
	     "4 /t type: it is of type ext4, and the line mounts fuse.x\n");
	PURE(table, "UUID=u-data /data ext3\nUUID=u-xfs /x xfs\ntmp /t tmpfs\n",
	     "2 of 4\n"
	     "2 /data type: it is of type ext4, and the line says ext3\n"
	     "4 /t type: it is of type ext4, and the line mounts tmpfs\n");
}

/** From a recorded table alone: nobody knows which device has a tag. */
static void test_unknown_tags(void)
{
	const char *table = DATA "22 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw\n"
	                    "23 20 0:40 /@ /s rw,relatime - btrfs /dev/sdb1 rw,subvolid=256,subvol=/@\n"
	                    "24 20 0:40 /@h /h rw,relatime - btrfs /dev/sdb1 rw,subvolid=257,subvol=/@h\n"
	                    "25 20 253:0 / /lv rw,relatime - ext4 /dev/mapper/vg-lv rw\n"
	                    "26 20 0:50 / /tmp rw,relatime - tmpfs t rw\n";
	tables_alone = true;
	swaps_text = "Filename Type Size Used Priority\n/dev/sda5 partition 1 0 -2\n";
	PURE(table,
	     "UUID=a /data ext4\nLABEL=\"b\\040c\" /x auto\nUUID=c /s btrfs subvol=@\nUUID=c /h btrfs subvol=@h\n"
	     "/dev/vg/lv /lv ext4\nt /tmp tmpfs\nUUID=d none swap sw\n",
	     "7 of 7, swaps 1 of 1, 6 sources held\n");
	/* Another type; another place before; another device by a name of its own; a tmpfs. */
	PURE(table,
	     "UUID=a /other ext4\nUUID=a /data ext4\nUUID=b /x ext4\nUUID=c /s btrfs subvol=@x\n/dev/sda3 /lv auto\nUUID=e /tmp auto\n",
	     "2 of 7, swaps 0 of 1, 1 held, 3 sources held\n"
	     "4 /x type: it is of type xfs, and the line mounts ext4\n"
	     "5 /s source: it shows /@ of /dev/sdb1, and the line shows /@x\n"
	     "0 /h no line: no line mounts it\n"
	     "6 /lv source: it is /dev/mapper/vg-lv, and the line mounts /dev/sda3\n"
	     "7 /tmp source: it is t, and nobody knows what UUID=e of the line is\n"
	     "0 /dev/sda5 no line: no line is of it\n"
	     "2 /other extra: nothing is mounted there now\n");
	swaps_text = "";
	tables_alone = false;
}

static void test_others(void)
{
	const char *table = "21 20 0:41 / /tmp rw,relatime - tmpfs tmpfs rw\n"
	                    "22 20 0:42 / /nfs rw,relatime - nfs4 srv:/a rw,vers=4.2,hard\n"
	                    "23 20 0:43 / /ssh rw,relatime - fuse.sshfs u@h: rw\n";
	/* Of a tmpfs the source is any word. */
	PURE(table, "none /tmp tmpfs\nsrv:/a/ /nfs nfs hard\nu@h: /ssh fuse.sshfs _netdev\n", "4 of 4\n");
	PURE(table, "none /tmp tmpfs\nsrv:/b /nfs nfs hard\nu@hunter2: /ssh fuse.sshfs _netdev\n",
	     "2 of 4\n"
	     "3 /nfs source: it is srv:/a, and the line mounts srv:/b\n"
	     "4 /ssh source: it is u@h:, and the line mounts a source with a secret\n");
}

static void test_binds(void)
{
	const char *table = DATA "22 20 8:2 /a /b rw,relatime - ext4 /dev/sda2 rw\n"
	                    "23 20 8:2 /file /c rw,relatime - ext4 /dev/sda2 rw\n";
	const char *data = "UUID=u-data /data ext4 defaults\n";
	char lines[1024];
	snprintf(lines, sizeof(lines), "%s/data/a /b none bind\n/data/file /c none bind\n", data);
	PURE(table, lines, "4 of 4\n");
	/* Before its source: what lies beneath is shown. */
	snprintf(lines, sizeof(lines), "/data/a /b none bind\n%s/data/file /c none bind\n", data);
	PURE(table, lines,
	     "3 of 4, systemd 4\n"
	     "2 /b failed: its source /data/a is not there then" UNSEEN "\n");
	/* Another directory; nothing; a directory onto a file. */
	snprintf(lines, sizeof(lines), "%s/data/other /b none bind\n/data/gone /c none bind\n", data);
	ASKED(table, lines,
	      "2 of 4\n"
	      "3 /b source: it shows /a of /dev/sda2, and the line shows /other\n"
	      "4 /c failed: its source /data/gone is not there then\n");
	snprintf(lines, sizeof(lines), "%s/data/some-file /b none bind\n/data/dir /file none bind\n", data);
	ASKED(DATA "22 20 8:2 /a /b rw,relatime - ext4 /dev/sda2 rw\n23 22 0:50 / /b/x rw,relatime - tmpfs t rw\n", lines,
	      "2 of 4\n"
	      "3 /b failed: its source /data/some-file is a file, and its mount point a directory\n"
	      "0 /b/x no line: no line mounts it\n"
	      "4 /file failed: its source /data/dir is a directory, and its mount point a file\n");
	/* Bound with all that is mounted below. */
	PURE(DATA "22 21 8:3 / /data/x rw,relatime - xfs /dev/sda3 rw\n"
	     "23 20 8:2 / /b rw,relatime - ext4 /dev/sda2 rw\n"
	     "24 23 8:3 / /b/x rw,relatime - xfs /dev/sda3 rw\n",
	     "UUID=u-data /data ext4\nUUID=u-xfs /data/x xfs\n/data /b none rbind\n", "5 of 5\n");
	PURE(DATA "22 21 8:3 / /data/x rw,relatime - xfs /dev/sda3 rw\n"
	     "23 20 8:2 / /b rw,relatime - ext4 /dev/sda2 rw\n"
	     "24 23 8:3 / /b/x rw,relatime - xfs /dev/sda3 rw\n",
	     "UUID=u-data /data ext4\nUUID=u-xfs /data/x xfs\n/data /b none bind\n",
	     "4 of 5\n0 /b/x no line: no line mounts it\n");
}

static void test_bind_flags(void)
{
	const char *table = "21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/sda2 rw\n"
	                    "22 20 8:2 /a /b ro,nosuid,relatime - ext4 /dev/sda2 rw\n";
	const char *data = "UUID=u-data /data ext4 nosuid\n/data/a /b none ";
	char lines[1024];
	snprintf(lines, sizeof(lines), "%sbind,ro,nosuid\n", data);
	PURE(table, lines, "3 of 3\n");
	snprintf(lines, sizeof(lines), "%sbind,ro\n", data);
	PURE(table, lines, "3 of 3\n");
	snprintf(lines, sizeof(lines), "%sbind\n", data);
	PURE(table, lines, "2 of 3\n3 /b options: it is ro, and the line makes it rw\n");
	/* What is not said goes or stays, by the version of mount(8). */
	PURE("21 20 8:2 / /data rw,nosuid,relatime - ext4 /dev/sda2 rw\n"
	     "22 20 8:2 /a /b ro,relatime - ext4 /dev/sda2 rw\n",
	     "UUID=u-data /data ext4 nosuid\n/data/a /b none bind,ro\n",
	     "2 of 3\n3 /b options: it is suid, and the line leaves that to the version of mount(8)\n");
}

static void test_options(void)
{
	const char *table = "21 20 8:2 / /data rw,nosuid,noatime - ext4 /dev/sda2 rw,errors=remount-ro\n"
	                    "22 20 0:41 / /tmp rw,relatime - tmpfs t rw,size=1048576k,mode=755\n"
	                    "23 20 0:40 /@ /s rw,relatime - btrfs /dev/sdb1 rw,compress=zstd:3,subvolid=256,subvol=/@\n";
	PURE(table,
	     "UUID=u-data /data ext4 noatime,nosuid,errors=remount-ro,x-y,user_xattr,_netdev,commit=30\n"
	     "t /tmp tmpfs mode=0755,size=1g,comment=a\nUUID=u-btrfs /s btrfs compress=zstd,subvol=@\n", "4 of 4\n");
	PURE(table,
	     "UUID=u-data /data ext4 noatime,errors=remount-ro\n"
	     "t /tmp tmpfs mode=0755,size=2g\nUUID=u-btrfs /s btrfs compress=lzo,subvolid=256\n",
	     "1 of 4\n"
	     "2 /data options: it is nosuid, and the line makes it suid\n"
	     "3 /tmp options: it has the option size=1048576k, and the line size=2g\n"
	     "4 /s options: it has the option compress=zstd:3, and the line compress=lzo\n");
	PURE(table,
	     "UUID=u-data /data ext4 user,noatime\nt /tmp tmpfs size=1g\nUUID=u-btrfs /s btrfs subvol=@/x\n",
	     "1 of 4\n"
	     "2 /data options: it is dev, and the line makes it nodev\n"
	     "3 /tmp options: it has the option mode=755, and the line has not\n"
	     "4 /s source: it shows /@ of /dev/sdb1, and the line shows /@/x\n");
}

/** Words of a line that live has not, of every file system; and what makes it another mount. */
static void test_words(void)
{
	PURE(DATA "22 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw,sync,lazytime\n"
	     "23 20 8:4 / /t rw,relatime - ext4 /dev/sda4 rw,dirsync\n",
	     "UUID=u-data /data ext4 sync,async\nUUID=u-xfs /x xfs lazytime,async,sync\n/dev/sda4 /t ext4 dirsync\n", "4 of 4\n");
	PURE(DATA "22 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw\n23 20 8:4 / /t rw,relatime - ext4 /dev/sda4 rw\n",
	     "UUID=u-data /data ext4 sync\nUUID=u-xfs /x xfs lazytime\n/dev/sda4 /t ext4 dirsync\n",
	     "1 of 4\n2 /data options: it is not sync, and the line makes it so\n"
	     "3 /x options: it is not lazytime, and the line makes it so\n"
	     "4 /t options: it is not dirsync, and the line makes it so\n");
	PURE(DATA, "UUID=u-data /data ext4 noexec\n", "1 of 2\n2 /data options: it is exec, and the line makes it noexec\n");
	PURE(DATA, "UUID=u-data /data ext4 nosymfollow\n",
	     "1 of 2\n2 /data options: it is symfollow, and the line makes it nosymfollow\n");
	/* A network's helper may do with it what it likes. */
	PURE("22 20 0:42 / /nfs rw,relatime - nfs4 srv:/a rw,vers=4.2\n", "srv:/a /nfs nfs sync\n", "2 of 2\n");
	PURE(DATA, "UUID=u-data /data ext4 X-mount.subdir=a\n",
	     "1 of 2\n2 /data source: it shows / of /dev/sda2, and the line shows /a\n");
	PURE("21 20 8:2 /a /data rw,relatime - ext4 /dev/sda2 rw\n22 20 8:2 / /all rw,relatime - ext4 /dev/sda2 rw\n",
	     "UUID=u-data /data ext4 X-mount.subdir=a\nUUID=u-data /all ext4\n", "3 of 3\n");
	PURE(DATA, "UUID=u-data /data ext4 X-mount.idmap=b:0:1:1\n",
	     "1 of 2\n2 /data options: it has no mapped IDs, and the line maps them\n");
	PURE(DATA, "UUID=u-data /data ext4 offset=4096\n",
	     "1 of 2\n2 /data source: it is /dev/sda2, and the line mounts a part of UUID=u-data\n");
	PURE(DATA, "/dev/sda2 /data ext4 sizelimit=1048576\n",
	     "1 of 2\n2 /data source: it is /dev/sda2, and the line mounts a part of /dev/sda2\n");
}

static void test_chosen(void)
{
	/* What the kernel chose by itself, and what is made of another option. */
	PURE("21 20 8:2 / /efi rw,relatime - vfat /dev/sda2 rw,fmask=0077,dmask=0077,codepage=437,iocharset=utf8\n"
	     "22 20 0:40 / /s rw,relatime - btrfs /dev/sdb1 rw,discard=async,subvol=/\n"
	     "23 20 0:43 / /ov rw,relatime - overlay o rw,lowerdir=/l,upperdir=/u,workdir=/w,index=off,xino=auto\n",
	     "UUID=u-data /efi vfat umask=077\nUUID=u-btrfs /s btrfs subvol=/\no /ov overlay lowerdir=/l,upperdir=/u,workdir=/w\n",
	     "4 of 4\n");
	PURE("21 20 8:2 / /efi rw,relatime - vfat /dev/sda2 rw,fmask=0077,dmask=0077\n",
	     "UUID=u-data /efi vfat defaults\n",
	     "1 of 2\n2 /efi options: it has the option fmask=0077, and the line has not\n");
	/* Of an option that is there twice the last counts. */
	PURE("21 20 8:2 / /data rw,relatime - ext4 /dev/sda2 rw,commit=6,commit=7\n", "UUID=u-data /data ext4 commit=6,commit=7\n", "2 of 2\n");
	PURE("21 20 8:2 / /data rw,relatime - ext4 /dev/sda2 rw,commit=6,commit=7\n", "UUID=u-data /data ext4 commit=7,commit=6\n",
	     "1 of 2\n2 /data options: it has the option commit=7, and the line commit=6\n");
	/* Of layers each counts, and their order. */
	static const char layers[] = "21 20 0:43 / /ov rw,relatime - overlay o ro,lowerdir+=/a,lowerdir+=/b\n";
	PURE(layers, "o /ov overlay ro,lowerdir+=/a,lowerdir+=/b\n", "2 of 2\n");
	PURE(layers, "o /ov overlay ro,lowerdir+=/b,lowerdir+=/a\n", "1 of 2\n2 /ov options: it has other options lowerdir+ than the line\n");
	PURE(layers, "o /ov overlay ro,lowerdir+=/a,lowerdir+=/b,lowerdir+=/c\n",
	     "1 of 2, 1 held\n2 /ov options: it has other options lowerdir+ than the line\n");
	PURE(layers, "o /ov overlay ro,lowerdir+=/b\n", "1 of 2\n2 /ov options: it has other options lowerdir+ than the line\n");
	/* Another kernel shows it as it is asked for. */
	static const char old[] = "21 20 0:40 / /s rw,relatime - btrfs /dev/sdb1 rw,usebackuproot,space_cache=v1,compress=no,subvol=/\n";
	PURE(old, "UUID=u-btrfs /s btrfs usebackuproot,space_cache=v1\n", "2 of 2\n");
	PURE(old, "UUID=u-btrfs /s btrfs recovery,space_cache\n", "2 of 2\n");
	PURE(old, "UUID=u-btrfs /s btrfs space_cache=v1\n", "1 of 2\n2 /s options: it has the option usebackuproot, and the line has not\n");
	PURE(old, "UUID=u-btrfs /s btrfs recovery,space_cache=v2\n",
	     "1 of 2\n2 /s options: it has the option space_cache=v1, and the line space_cache=v2\n");
}

static void test_superblock(void)
{
	/* One superblock cannot be for reading and for writing. */
	PURE(DATA "22 20 8:2 / /b ro,relatime - ext4 /dev/sda2 rw\n",
	     "UUID=u-data /data ext4 rw\nUUID=u-data /b ext4 ro\n",
	     "2 of 3\n3 /b failed: /dev/sda2 is mounted for writing by then, and cannot be read-only here\n");
}

static void test_images(void)
{
	const char *table = DATA "22 20 7:0 / /img rw,relatime - ext4 /dev/loop0 rw\n"
	                    "23 20 7:1 / /off rw,relatime - ext4 /dev/loop1 rw\n";
	const char *data = "UUID=u-data /data ext4 defaults\n";
	char lines[1024];
	snprintf(lines, sizeof(lines), "%s/data/a\\040b.img /img ext4 loop\n/data/a\\040b.img /off ext4 loop,offset=4096\n", data);
	PURE(table, lines, "4 of 4\n");
	snprintf(lines, sizeof(lines), "%s/data/a\\040b.img /off ext4 loop\n/data/gone.img /img ext4 loop\n", data);
	ASKED(table, lines,
	      "2 of 4\n"
	      "4 /img failed: there is no file /data/gone.img then\n"
	      "3 /off source: it is /dev/loop1, and the line mounts /dev/loop0\n");
}

static void test_overlay(void)
{
	const char *table = DATA "22 20 0:43 / /ov rw,relatime - overlay o rw,lowerdir=/data/l:/l2,upperdir=/data/u,workdir=/data/w\n";
	const char *data = "UUID=u-data /data ext4 defaults\n";
	char lines[1024];
	snprintf(lines, sizeof(lines), "%so /ov overlay lowerdir=/data/l:/l2,upperdir=/data/u,workdir=/data/w\n", data);
	ASKED(table, lines, "3 of 3\n");
	/* Before the mount that its layers lie on. */
	snprintf(lines, sizeof(lines), "o /ov overlay lowerdir=/data/l:/l2,upperdir=/data/u,workdir=/data/w\n%s", data);
	PURE(table, lines, "2 of 3\n2 /ov failed: its layer /data/l is not there then" UNSEEN "\n");
	PURE(table, "UUID=u-data /data ext4 ro\no /ov overlay lowerdir=/data/l:/l2,upperdir=/data/u,workdir=/data/w\n",
	     "1 of 3\n2 /data options: it is rw, and the line makes it ro\n"
	     "3 /ov failed: its upper layer lies on /data, which is read-only then\n");
	snprintf(lines, sizeof(lines), "%so /ov overlay lowerdir=/data/gone,upperdir=/data/u,workdir=/data/w\n", data);
	ASKED(table, lines, "2 of 3\n3 /ov failed: its layer /data/gone is not there then\n");
}

static void test_twice(void)
{
	/* The same again is passed over; another is put upon it. */
	PURE(DATA, "UUID=u-data /data ext4\nUUID=u-data /data ext4\n", "2 of 2\n");
	PURE(DATA, "UUID=u-spare /data ext4\nUUID=u-data /data ext4\n",
	     "2 of 2, systemd 1\n2 /data extra: another line mounts upon it\n");
	PURE(DATA, "UUID=u-data /data ext4\nUUID=u-spare /data ext4\n",
	     "1 of 2, systemd 2\n"
	     "3 /data source: it is /dev/sda2, and the line mounts UUID=u-spare\n"
	     "2 /data extra: another line mounts upon it\n");
}

static void test_root(void)
{
	const char *got = proven(facts_of(true), "/", ROOT_MOUNT DATA, "UUID=u-data /data ext4\n");
	CU_ASSERT_STRING_EQUAL(got, "1 of 2\n0 / no line: no line mounts it\n");
	got = proven(facts_of(true), "/", ROOT_MOUNT, "UUID=u-data / ext4\n");
	CU_ASSERT_STRING_EQUAL(got, "0 of 1\n1 / source: it is /dev/sda1, and the line mounts /dev/sda2\n");
	got = proven(facts_of(true), "/", ROOT_MOUNT, "UUID=nowhere / ext4\n");
	CU_ASSERT_STRING_EQUAL(got, "0 of 1\n1 / failed: no device has UUID=nowhere\n");
	got = proven(facts_of(true), "/", ROOT_MOUNT, "UUID=u-root / ext4 ro\n");
	CU_ASSERT_STRING_EQUAL(got, "0 of 1\n1 / options: it is rw, and the line makes it ro\n");
	/* Below another: its own root, or a directory of that. */
	const char *table = ROOT_MOUNT "21 20 8:2 / /mnt rw,relatime - ext4 /dev/sda2 rw\n"
	                    "22 21 8:3 / /mnt/x rw,relatime - xfs /dev/sda3 rw\n"
	                    "23 21 8:3 /d /mnt/y rw,relatime - xfs /dev/sda3 rw\n";
	got = proven(facts_of(false), "/mnt", table,
	             "UUID=u-data / ext4\nUUID=u-xfs /x xfs\n/x/d /y none bind\n");
	CU_ASSERT_STRING_EQUAL(got, "3 of 3\n");
	got = proven(facts_of(false), "/mnt", table, "UUID=u-data / ext4\nUUID=u-xfs /x xfs\n/mnt/x/d /y none bind\n");
	CU_ASSERT_STRING_EQUAL(got, "2 of 3, 1 held\n"
	                       "3 /y source: it is /dev/sda3, and the line mounts /dev/sda2\n");
	table = ROOT_MOUNT "21 20 8:3 / /mnt/x rw,relatime - xfs /dev/sda3 rw\n";
	got = proven(facts_of(false), "/mnt", table, "UUID=u-xfs /x xfs\n");
	CU_ASSERT_STRING_EQUAL(got, "1 of 1\n");
}

static void test_swaps(void)
{
	static const char swaps[] = "Filename Type Size Used Priority\n/dev/sda5 partition 1 0 -2\n/data/sw file 1 0 5\n";
	swaps_text = swaps;
	const char *got = proven(facts_of(true), "/", ROOT_MOUNT DATA,
		ROOT_LINE "UUID=u-data /data ext4\nUUID=u-swap none swap sw\n/data/sw none swap pri=5\n");
	CU_ASSERT_STRING_EQUAL(got, "2 of 2, swaps 2 of 2\n");
	got = proven(facts_of(true), "/", ROOT_MOUNT DATA,
		ROOT_LINE "UUID=u-data /data ext4\n/dev/sda5 swap swap noauto\n/data/sw none swap\n");
	CU_ASSERT_STRING_EQUAL(got, "2 of 2, swaps 0 of 2\n"
	                       "3 UUID=u-swap noauto: its line says noauto\n"
	                       "4 /data/sw options: it has the priority 5, and the line gives none\n");
	got = proven(facts_of(true), "/", ROOT_MOUNT DATA, ROOT_LINE "UUID=u-data /data ext4\n");
	CU_ASSERT_STRING_EQUAL(got, "2 of 2, swaps 0 of 2\n"
	                       "0 UUID=u-swap no line: no line is of it\n"
	                       "0 /data/sw no line: no line is of it\n");
	swaps_text = "";
}

/** What fuzzing has found: two mounts of one ID and name; a source that reads like a path. */
static void test_odd_tables(void)
{
	PURE("21 20 0:41 / /t rw,relatime - tmpfs t rw\n22 21 0:42 / /t/u rw,relatime - tmpfs u rw\n"
	     "21 20 0:41 / /t rw,relatime - tmpfs t rw\n22 21 0:42 / /t/u rw,relatime - tmpfs u rw\n",
	     NULL, "3 of 3\n");
	PURE("21 20 0:41 / /t rw,relatime - nobody //server/a\\040share rw\n", NULL, "2 of 2\n");
}

/** Nothing can be made where nothing can be written. */
static void test_read_only(void)
{
	PURE("21 20 0:41 / /tmp rw,relatime - tmpfs t rw\n22 21 0:42 / /tmp/a rw,relatime - tmpfs a rw\n",
	     "t /tmp tmpfs ro\na /tmp/a tmpfs X-mount.mkdir\n",
	     "1 of 3\n2 /tmp options: it is rw, and the line makes it ro\n"
	     "3 /tmp/a failed: no directory /tmp/a can be made, for /tmp is read-only then\n");
}

/** A chain of binds each of which shows the next, and thousands of mounts, end. */
static void test_many(void)
{
	enum { MANY = 10000 };
	struct strbuf table, fstab;
	strbuf_init(&table);
	strbuf_init(&fstab);
	strbuf_puts(&table, ROOT_MOUNT);
	strbuf_puts(&fstab, ROOT_LINE);
	for (unsigned i = 0; i < MANY; ++i) {
		strbuf_printf(&table, "%u 20 8:1 /d%u /m/%u rw,relatime - ext4 /dev/sda1 rw\n", 100 + i, i, i);
		strbuf_printf(&fstab, "/d%u /m/%u none bind\n", i, i);
	}
	CU_ASSERT_STRING_EQUAL(proven(facts_of(false), "/", strbuf_str(&table), strbuf_str(&fstab)), "10001 of 10001\n");
	strbuf_reset(&fstab);
	strbuf_puts(&fstab, ROOT_LINE);
	/* Each needs the next; all copy all. */
	for (unsigned i = 0; i < MANY; ++i)
		strbuf_printf(&fstab, "/m/%u /m/%u none %s\n", i + 1, i, i % 2 ? "rbind" : "bind");
	for (unsigned i = 0; i < 30; ++i)
		strbuf_puts(&fstab, "/ /m none rbind\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(proven(facts_of(false), "/", strbuf_str(&table), strbuf_str(&fstab)), " of 10001"));
	strbuf_destroy(&table);
	strbuf_destroy(&fstab);
}

/** What would take minutes if a line cost as much as there are lines before it. */
static void test_piled_up(void)
{
	enum { MANY = 50000 };
	struct strbuf fstab;
	strbuf_init(&fstab);
	/* All upon each other; of all lines one more, and another that none shows. */
	strbuf_puts(&fstab, ROOT_LINE);
	for (unsigned i = 0; i < MANY; ++i)
		strbuf_printf(&fstab, "/dev/d%u /data ext4 defaults\n", i);
	strbuf_puts(&fstab, "UUID=u-data /data ext4 defaults\n");
	CU_ASSERT_EQUAL(strncmp(proven(facts_of(false), "/", ROOT_MOUNT DATA, strbuf_str(&fstab)), "2 of 2, ", 8), 0);
	/* All of what is mounted, and of a place where nothing is. */
	const char *const sources[] = {"/", "/d"};
	for (unsigned k = 0; k < 2; ++k) {
		strbuf_reset(&fstab);
		strbuf_puts(&fstab, ROOT_LINE "UUID=u-data /data ext4 defaults\n");
		for (unsigned i = 0; i < MANY; ++i)
			strbuf_printf(&fstab, "%s /data/a%u none rbind,X-mount.mkdir\n", sources[k], i);
		proven(facts_of(true), "/", ROOT_MOUNT DATA, strbuf_str(&fstab));
		CU_ASSERT_EQUAL(strncmp(text, "2 of 2\n", 7), 0);
		strbuf_reset(&fstab);
		strbuf_puts(&fstab, ROOT_LINE);
		for (unsigned i = 0; i < MANY; ++i)
			strbuf_printf(&fstab, "%s /a%u none rbind\n", sources[k], i);
		strbuf_puts(&fstab, "UUID=u-data /data ext4 defaults\n");
		proven(facts_of(true), "/", ROOT_MOUNT DATA, strbuf_str(&fstab));
		CU_ASSERT_EQUAL(strncmp(text, "2 of 2\n", 7), 0);
	}
	strbuf_destroy(&fstab);
}

static const struct unit_test tests[] = {
	{"a plan proves itself", test_plan_proves_itself},
	{"missing lines", test_missing_lines},
	{"automount", test_automount},
	{"order", test_order},
	{"targets", test_targets},
	{"sources", test_sources},
	{"unknown tags", test_unknown_tags},
	{"others", test_others},
	{"binds", test_binds},
	{"flags of binds", test_bind_flags},
	{"options", test_options},
	{"words", test_words},
	{"chosen", test_chosen},
	{"superblock", test_superblock},
	{"images", test_images},
	{"overlay", test_overlay},
	{"twice", test_twice},
	{"root", test_root},
	{"swaps", test_swaps},
	{"odd tables", test_odd_tables},
	{"read-only", test_read_only},
	{"many", test_many},
	{"piled up", test_piled_up},
	{NULL, NULL},
};

const struct unit_suite suite_proof = {"proof", tests};
