/* SPDX-License-Identifier: MIT */
/*
 * The lines of an fstab, from recorded tables and a made-up machine: pure.
 *
 * g1 to g21 are defects of genfstab(8), as the cases are named that show that
 * they are none of ours.
 */
#include "unit.h"

#include "fault.h"
#include "fstab/plan/plan_impl.h"

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
	bool remote;
	const char *source;          /* of an anonymous number: known by that */
} machine[] = {
	{8, 1, {.name = "/dev/sda1", .type = "ext4", .uuid = "u-root", .label = "root", .partuuid = "p-1"}},
	{8, 2, {.name = "/dev/sda2", .type = "vfat", .uuid = "AB-CD", .partuuid = "p-2", .partlabel = "EFI"}},
	{8, 3, {.name = "/dev/sda3", .type = "xfs", .uuid = "u-twice", .label = "data", .partuuid = "p-3"}},
	{8, 4, {.name = "/dev/sda4", .type = "ext4", .uuid = "u-twice", .label = "twice", .partuuid = "p-twice"}},
	{8, 5, {.name = "/dev/sda5", .type = "swap", .uuid = "u-swap", .partuuid = "p-5"}},
	{8, 16, {.name = "/dev/sdb", .known = DEVMAP_DENIED}},
	{8, 32, {.name = "/dev/sdc", .type = "ext4", .uuid = "u-iscsi"}, .remote = true},
	{8, 48, {.name = "/dev/sdd", .type = "ntfs", .uuid = "u-ntfs", .label = "Win dows"}},
	{253, 0, {.name = "/dev/mapper/vg-home", .type = "ext4", .uuid = "u-twice"}},
	{9, 127, {.name = "/dev/md127", .type = "ext4", .uuid = "u-md"}},
	{7, 0, {.name = "/dev/loop0", .type = "ext4", .uuid = "u-img"}, {.file = "/srv/a b.img"}},
	{7, 1, {.name = "/dev/loop1", .type = "ext4", .uuid = "u-off"},
	 {.file = "/srv/disk.img", .offset = 1048576, .limit = 4096}},
	{7, 2, {.name = "/dev/loop2", .type = "ext4", .uuid = "u-gone"}, {.file = "/srv/x.img (deleted)"}},
	{259, 0, {.name = "/dev/loop3p1", .type = "ext4", .uuid = "u-part"}, {.file = "/srv/d.img", .partition = true}},
	{7, 4, {.name = "/dev/loop4", .type = "ext4", .uuid = "u-mem"}, {.file = "/tmp/x.img"}},
	{7, 5, {.name = "/dev/loop5", .type = "ext4", .uuid = "u-inner"}, {.file = "/dev/loop1", .offset = 8192}},
	{7, 6, {.name = "/dev/loop6", .type = "ext4", .uuid = "u-whole"}, {.file = "/dev/sdf"}},
	{7, 8, {.name = "/dev/loop8", .type = "ext4", .uuid = "u-shm"}, {.file = "/dev/shm/x.img"}},
	{0, 40, {.name = "/dev/sde1", .type = "btrfs", .uuid = "u-btrfs", .label = "pool"}, .source = "/dev/sde1"},
};

static unsigned asked;   /* how often for a device */

static int find_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	++asked;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		const struct machine_device *m = &machine[i];
		if (m->major == mount->dev_major && m->minor == mount->dev_minor)
			*device = (struct fstab_device){&m->tags, m->loop, m->remote};
	}
	return 0;
}

static int find_swap(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		if (strcmp(machine[i].tags.name, name) == 0)
			*device = (struct fstab_device){&machine[i].tags, machine[i].loop, machine[i].remote};
	}
	return 0;
}

static unsigned holders(void *arg, const char *tag, const char *value)
{
	(void)arg, (void)tag;
	return strstr(value, "twice") ? 2 : 1;
}

static int has_fsck(void *arg, const char *fstype)
{
	(void)arg;
	return strcmp(fstype, "ext4") == 0 || strcmp(fstype, "xfs") == 0 || strcmp(fstype, "btrfs") == 0;
}

static enum fstab_unit unit_of(void *arg, const char *target)
{
	(void)arg;
	return strcmp(target, "/own/unit") == 0 ? FSTAB_OWN_UNIT
	       : strcmp(target, "/lazy") == 0   ? FSTAB_AUTOMOUNT
	                                        : FSTAB_NO_UNIT;
}

static const char *kept_of(void *arg, const char *name, const struct mount *mount)
{
	(void)arg, (void)mount;
	return strcmp(name, "/stick") == 0  ? "uhelper=udisks2"
	       : strcmp(name, "/notes") == 0 ? "x-own.note=1,user=joe,_netdev,x-b"
	       : strcmp(name, "/quoted") == 0 ? "x-foo=\"a,b\",x-bar=1,user=joe,x-c=d\\,e,x-bar=1,x-open=\"f,x-g"
	       : strcmp(name, "/secret") == 0 ? "x-v.password=hunter2" : NULL;
}

static bool has_secret_word(const char *source, const char *options)
{
	return (source && strstr(source, "word@")) || (options && strstr(options, "password="));
}

#define WORLD {NULL, find_device, find_swap, holders, has_fsck, unit_of, kept_of, has_secret_word}

/** An input with usual choices, to be changed before made(). */
static struct fstab_input usual(void)
{
	return (struct fstab_input){.root = "/", .options = FSTAB_MINIMAL, .world = WORLD};
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

/** What becomes of a table: a line each, as "source target type options pass"; "#target:
    why" for comments, "-target: why" for what is left out. */
static const char *made(struct fstab_input in, const char *table)
{
	struct mount_table *mounts = table_parse_mountinfo(table, strlen(table));
	CU_ASSERT_PTR_NOT_NULL_FATAL(mounts);
	CU_ASSERT_EQUAL(mounts->nproblems, 0);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct discovery *d = discover(&os, NULL, mounts, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	in.d = d;
	struct fstab_plan plan;
	text[0] = '\0';
	asked = 0;
	CU_ASSERT_EQUAL(fstab_plan(&in, &plan), 0);
	for (size_t i = 0; i < plan.count; ++i) {
		const struct fstab_line *line = &plan.lines[i];
		if (line->fate == FSTAB_LINE)
			add_text("%s|%s|%s|%s|%d\n", line->source, line->target, line->fstype, line->options,
			         line->passno);
		else
			add_text("%c%s: %s\n", line->fate == FSTAB_COMMENT ? '#' : '-',
			         line->mount ? line->target : line->source, line->why);
		if (line->warning)
			add_text("!%s\n", line->warning);
	}
	CU_ASSERT_EQUAL(plan.of[FSTAB_LINE] + plan.of[FSTAB_COMMENT] + plan.of[FSTAB_OWN], plan.count);
	fstab_plan_destroy(&plan);
	discovery_free(d);
	table_free(mounts);
	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
	return text;
}

/** Assert on what becomes of a table below the root, whose line is not repeated. */
static void check_at(const char *file, int number, struct fstab_input in, const char *table, const char *expected)
{
	static const char first[] = "UUID=u-root|/|ext4|defaults|1\n";
	char whole[32 * 1024];
	snprintf(whole, sizeof(whole), "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n%s", table);
	const char *got = made(in, whole);
	bool good = strncmp(got, first, strlen(first)) == 0 && strcmp(got + strlen(first), expected) == 0;
	if (!good)
		printf("%s:%d: got:\n%s", file, number, got);
	CU_ASSERT_TRUE(good);
}
#define CHECK(...) check_at(__FILE__, __LINE__, __VA_ARGS__)
#define USUAL(...) CHECK(usual(), __VA_ARGS__)

/* Names. */

static void test_g1_g2_names(void)
{
	/* Decoded once, whatever stands at the end. */
	USUAL("21 20 0:30 / /my\\040dir rw,relatime - tmpfs tmp\\040fs rw\n"
	      "22 20 0:31 / /back\\134slash rw,relatime - tmpfs t rw\n"
	      "23 20 0:32 / /ab\\134040 rw,relatime - tmpfs t rw\n"
	      "24 20 0:33 / /ab\\040 rw,relatime - tmpfs \\043hash rw\n",
	      "tmp fs|/my dir|tmpfs|defaults|0\n"
	      "t|/back\\slash|tmpfs|defaults|0\n"
	      "t|/ab\\040|tmpfs|defaults|0\n"
	      "#hash|/ab |tmpfs|defaults|0\n");
}

static void test_g3_stacked(void)
{
	USUAL("21 20 0:30 / /mnt rw,relatime - tmpfs one rw\n"
	      "22 21 0:31 / /mnt rw,relatime - tmpfs two rw\n"
	      "23 22 0:32 / /mnt/in rw,relatime - tmpfs in rw\n"
	      "24 20 0:33 / /a/b rw,relatime - tmpfs below rw\n"
	      "25 20 0:34 / /a rw,relatime - tmpfs above rw\n",
	      "above|/a|tmpfs|defaults|0\n"
	      "two|/mnt|tmpfs|defaults|0\n"
	      "in|/mnt/in|tmpfs|X-mount.mkdir|0\n"
	      "#/mnt: hidden: /mnt is mounted over it\n"
	      "#/a/b: hidden: /a is mounted over it\n");
}

/* Binds. */

static void test_g4_outside(void)
{
	struct fstab_input in = usual();
	in.root = "/mnt";
	const char *table = "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n"
	                    "21 20 8:1 / /mnt rw,relatime - ext4 /dev/sda1 rw\n"
	                    "22 21 8:3 /host/ext /mnt/out rw,relatime - ext4 /dev/sda3 rw\n"
	                    "23 21 8:1 /srv/in /mnt/in rw,relatime - ext4 /dev/sda1 rw\n"
	                    "24 20 0:30 / /elsewhere rw,relatime - tmpfs t rw\n"
	                    "25 20 0:31 / /mnt2 rw,relatime - tmpfs t rw\n";
	CU_ASSERT_STRING_EQUAL(made(in, table),
		"UUID=u-root|/|ext4|defaults|1\n"
		"/srv/in|/in|none|bind|0\n"
		"#/out: its source, /host/ext of /dev/sda3, is visible nowhere below ROOT\n");
}

static void test_g5_deleted(void)
{
	USUAL("21 20 8:1 /gone//deleted /nest rw,relatime - ext4 /dev/sda1 rw\n",
	      "#/nest: the directory that it shows was removed\n");
}

static void test_g6_bind_options(void)
{
	/* Not those of the file system; all of the mount's, where it has others. */
	const char *table = "21 20 8:1 /a /b ro,noexec,relatime - ext4 /dev/sda1 rw,resuid=65534,resgid=65534\n"
	                    "22 20 8:1 /a /c rw,relatime - ext4 /dev/sda1 rw,resuid=65534\n"
	                    "23 20 8:1 /a /d rw,noatime - ext4 /dev/sda1 rw\n";
	USUAL(table,
	      "/a|/b|none|bind,ro,noexec,relatime|0\n"
	      "/a|/c|none|bind|0\n"
	      "/a|/d|none|bind,rw,noatime|0\n");
	/* What it has not, its source having it, is said as well. */
	USUAL("21 20 8:3 / /x rw,nosuid,nodev,relatime - ext4 /dev/sda9 rw\n"
	      "22 20 8:3 /a /y rw,nodev,relatime - ext4 /dev/sda9 rw\n",
	      "PARTUUID=p-3|/x|ext4|nosuid,nodev|2\n!UUID=u-twice is shared by 2 devices: its partition is named instead\n"
	      "/x/a|/y|none|bind,rw,suid,nodev,relatime|0\n");
}

static void test_g7_files(void)
{
	struct fstab_input in = usual();
	USUAL("21 20 8:1 /srv/passwd /etc/passwd rw,relatime - ext4 /dev/sda1 rw\n",
	      "/srv/passwd|/etc/passwd|none|bind|0\n");
	/* What a container engine puts into each of its own. */
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 0:50 / / rw,relatime - tmpfs root rw\n"
		"21 20 8:4 /var/lib/x/hosts /etc/hosts rw,relatime - ext4 /dev/sda4 rw\n"
		"22 20 8:4 /var/lib/x/file /etc/file rw,relatime - ext4 /dev/sda4 rw\n"),
		"root|/|tmpfs|defaults|0\n"
		"#/etc/file: its source, /var/lib/x/file of /dev/sda4, is visible nowhere else\n"
		"-/etc/hosts: of a container\n");
}

static bool no_disk(const char *fstype)
{
	return strcmp(fstype, "tmpfs") == 0 || strcmp(fstype, "overlay") == 0;
}

static void test_g8_root(void)
{
	struct fstab_input in = usual();
	in.pseudo = no_disk;
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 0:50 / / rw,relatime - tmpfs root rw,size=1g\n"
		"21 20 0:51 / /x rw,relatime - tmpfs t rw\n"
		"22 21 8:2 / /x/efi rw,relatime - vfat /dev/sda2 rw\n"),
		"root|/|tmpfs|size=1g|0\n"
		"UUID=AB-CD|/x/efi|vfat|X-mount.mkdir|0\n"
		"-/x: a pseudo file system: -P\n");
}

static void test_g9_roots(void)
{
	/* A part of what is beyond a network has a name of its own. */
	USUAL("21 20 0:30 /sub /cifs rw,relatime - cifs //srv/share/sub rw,sec=krb5,username=joe\n"
	      "22 20 0:31 / /nfs rw,relatime - nfs4 srv:/a rw\n"
	      "23 20 0:31 / /nfs2 rw,relatime - nfs4 srv:/a/b rw\n"
	      "24 20 0:32 / /9p rw,relatime - 9p tag rw,trans=virtio\n"
	      "25 20 0:32 /d /9pd rw,relatime - 9p tag rw,trans=virtio\n"
	      "26 20 8:3 / /bc rw,relatime - bcachefs /dev/sda3 rw\n"
	      "27 20 8:3 /sub /bcsub rw,relatime - bcachefs /dev/sda3 rw\n",
	      "//srv/share/sub|/cifs|cifs|sec=krb5,username=joe|0\n"
	      "srv:/a|/nfs|nfs4|defaults|0\n"
	      "srv:/a/b|/nfs2|nfs4|defaults|0\n"
	      "tag|/9p|9p|trans=virtio|0\n"
	      "/9p/d|/9pd|none|bind|0\n"
	      "PARTUUID=p-3|/bc|bcachefs|defaults|0\n!UUID=u-twice is shared by 2 devices: its partition is named instead\n"
	      "/bc/sub|/bcsub|none|bind|0\n");
}

static void test_g10_subvolumes(void)
{
	const char *table =
		"21 20 0:40 /@ /s rw,relatime - btrfs /dev/sde1 rw,ssd,space_cache=v2,subvolid=256,subvol=/@\n"
		"22 20 0:40 /@/dir /d rw,relatime - btrfs /dev/sde1 rw,subvolid=256,subvol=/@\n"
		"23 20 0:40 /@ho\\040me /h ro,relatime - btrfs /dev/sde1 rw,compress=zstd:3,subvol=/@ho\\040me\n"
		"24 20 0:40 / /top rw,relatime - btrfs /dev/sde1 rw,subvolid=5,subvol=/\n"
		"25 20 0:40 /@/n /n rw,relatime - btrfs /dev/sde1 rw,subvolid=300,subvol=/@/n\n"
		"26 20 0:40 /@x\\054y /c rw,relatime - btrfs /dev/sde1 rw,subvolid=301,subvol=/@x\\054y\n";
	USUAL(table,
	      "UUID=u-btrfs|/s|btrfs|subvol=/@|0\n"
	      "/s/dir|/d|none|bind|0\n"
	      "UUID=u-btrfs|/h|btrfs|ro,compress=zstd:3,subvol=/@ho me|0\n"
	      "UUID=u-btrfs|/top|btrfs|subvol=/|0\n"
	      "UUID=u-btrfs|/n|btrfs|subvol=/@/n|0\n"
	      "#/c: the option subvol has a comma in its value\n");
}

static void test_bind_source(void)
{
	/* Covered on the way; in memory; seen in another bind alone; onto itself; in a circle. */
	USUAL("21 20 0:30 / /srv rw,relatime - tmpfs t rw\n"
	      "22 20 8:1 /srv/a /b rw,relatime - ext4 /dev/sda1 rw\n",
	      "t|/srv|tmpfs|defaults|0\n"
	      "#/b: its source /srv/a is covered by the mount on /srv\n");
	USUAL("21 20 0:30 / /srv rw,relatime - tmpfs t rw\n"
	      "22 20 0:30 /a /b rw,relatime - tmpfs t rw\n"
	      "23 20 0:30 / /c rw,relatime - tmpfs t rw\n",
	      "t|/srv|tmpfs|defaults|0\n"
	      "/srv|/c|none|bind|0\n"
	      "#/b: its source /srv/a is in memory and does not survive a reboot\n");
	USUAL("21 20 8:1 /store /store ro,relatime - ext4 /dev/sda1 rw\n",
	      "/store|/store|none|bind,ro,relatime|0\n");
	USUAL("21 20 0:70 / /x rw,relatime - overlay o rw,lowerdir=/l\n"
	      "22 20 0:70 /a /y rw,relatime - overlay o rw,lowerdir=/l\n"
	      "23 20 0:71 /p/q /z rw,relatime - xyz o rw\n"
	      "24 20 0:71 /p /w rw,relatime - xyz o rw\n",
	      "o|/x|overlay|lowerdir=/l|0\n"
	      "/x/a|/y|none|bind|0\n"
	      "#/z: its source, /p/q of o, is visible nowhere else\n"
	      "#/w: its source, /p of o, is visible nowhere else\n");
	USUAL("21 20 8:2 /a /x rw,relatime - vfat /dev/sda2 rw\n"
	      "22 21 8:2 / /x/y rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 8:2 /b /w rw,relatime - vfat /dev/sda2 rw\n",
	      "#/x: its source is visible only in mounts that have no line\n"
	      "#/w: its source is visible only in mounts that have no line\n"
	      "#/x/y: it is mounted on /x, which has no line\n");
	/* What is always there, as /dev, can be bound. */
	USUAL("21 20 0:5 / /dev rw,nosuid,relatime - devtmpfs udev rw\n"
	      "22 20 0:5 / /srv/c/dev rw,nosuid,relatime - devtmpfs udev rw\n"
	      "23 20 0:6 / /srv/c/proc rw,relatime - proc proc rw\n",
	      "/dev|/srv/c/dev|none|bind|0\n"
	      "proc|/srv/c/proc|proc|defaults|0\n"
	      "-/dev: an API file system\n");
}

/** One to write to and one to read: the second is a bind, whichever comes first. */
static void test_twice(void)
{
	USUAL("21 20 8:2 / /ro ro,relatime - vfat /dev/sda2 rw\n"
	      "22 20 8:2 / /rw rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 8:2 / /again rw,noatime - vfat /dev/sda2 rw\n",
	      "UUID=AB-CD|/rw|vfat|defaults|0\n"
	      "UUID=AB-CD|/again|vfat|noatime|0\n"
	      "/rw|/ro|none|bind,ro,relatime|0\n");
}

/* Options. */

static void test_g11_run_time(void)
{
	const char *table =
		"21 20 0:30 / /nas rw,relatime - nfs4 srv:/x rw,vers=4.2,rsize=1048576,wsize=1048576,namlen=255,"
		"hard,proto=tcp,timeo=600,retrans=2,sec=sys,clientaddr=192.0.2.7,local_lock=none,addr=192.0.2.1\n"
		"22 20 0:31 / /old rw,relatime - nfs srv:/y rw,vers=3,soft,mountaddr=192.0.2.1,mountvers=3,"
		"mountport=33,mountproto=udp,addr=192.0.2.1\n"
		"23 20 0:32 / /ssh rw,nosuid,relatime - fuse.sshfs joe@h: rw,user_id=0,group_id=0,allow_other\n"
		"24 20 8:2 / /boot/efi rw,relatime - vfat /dev/sda2 rw,fmask=0022,dmask=0022,codepage=437,"
		"iocharset=ascii,shortname=mixed,errors=remount-ro\n"
		"25 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw,seclabel,attr2,inode64,logbufs=8,logbsize=32k,noquota\n";
	USUAL(table,
	      "srv:/x|/nas|nfs4|vers=4.2|0\n"
	      "srv:/y|/old|nfs|vers=3,soft|0\n"
	      "joe@h:|/ssh|fuse.sshfs|nosuid,allow_other,_netdev|0\n"
	      "UUID=AB-CD|/boot/efi|vfat|defaults|0\n"
	      "PARTUUID=p-3|/x|xfs|defaults|0\n!UUID=u-twice is shared by 2 devices: its partition is named instead\n");
	struct fstab_input in = usual();
	in.options = FSTAB_LIVE;
	const char *got = strchr(made(in, table + 0), '\n');
	CU_ASSERT_PTR_NOT_NULL_FATAL(got);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "|nfs4|rw,relatime,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp,"
	                              "timeo=600,retrans=2,sec=sys,local_lock=none|0\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "|vfat|rw,relatime,fmask=0022,dmask=0022,codepage=437,"));
	CU_ASSERT_PTR_NULL(strstr(text, "addr="));
	CU_ASSERT_PTR_NULL(strstr(text, "seclabel"));
	CU_ASSERT_PTR_NULL(strstr(text, "user_id"));
}

static void test_options(void)
{
	/* Access times of old; a ',' in quotes, and one that cannot be; both lists. */
	USUAL("21 20 0:30 / /a rw - tmpfs t rw,size=12k,nr_inodes=5,mode=700,inode64\n"
	      "22 20 0:31 / /b rw,relatime - tmpfs t rw,context=\"s:c1,c2\",huge=always\n"
	      "23 20 0:32 / /c rw,relatime - tmpfs t rw,odd=a\\054b\n"
	      "24 20 0:33 / /d rw,nosuid,sync,noatime - tmpfs t rw,sync,x=a\\040b\n"
	      "25 20 8:2 / /e rw,relatime - vfat /dev/sda2 ro\n"
	      "26 20 0:34 / /f rw,relatime,idmapped - tmpfs t rw\n"
	      "27 20 8:2 / /g rw,relatime - a,b /dev/sda2 rw\n"
	      "28 20 0:35 / /h rw,relatime - tmpfs t rw,nosuid,mode=700\n"
	      "29 20 0:36 / /i rw,relatime - tmpfs t rw,user,mode=700\n",
	      "t|/a|tmpfs|strictatime,size=12k,nr_inodes=5,mode=700|0\n"
	      "t|/b|tmpfs|context=\"s:c1,c2\",huge=always|0\n"
	      "t|/d|tmpfs|nosuid,sync,noatime,x=a b|0\n"
	      "UUID=AB-CD|/e|vfat|defaults|0\n"
	      "!the file system is read-only, the mount is not: it may have had an error\n"
	      "t|/h|tmpfs|mode=700|0\n"
	      "#/c: the option odd has a comma in its value\n"
	      "#/f: only the kernel knows its ID mapping\n"
	      "#/g: its type has a comma, which mount(8) takes for a list of types\n"
	      "#/i: the option user is one that mount(8) keeps for itself\n");
	USUAL("21 20 7:9 / /iso rw,relatime - iso9660 /dev/sr0 ro,nojoliet,check=s\n",
	      "#/iso: it has no UUID: devices are not read; --id=path would name it /dev/sr0\n");
}

static void test_g12_others(void)
{
	/* What mount(8) kept; what it did not keep, and nobody can know. */
	struct fstab_input named = usual();
	named.add = (const char *const []){"/notes"};
	named.nadd = 1;
	CHECK(named, "21 20 0:30 / /notes rw,relatime - tmpfs t rw\n"
	      "22 20 0:31 / /win rw,relatime - cifs //s/x rw,vers=3.1.1,sec=ntlmssp,username=joe\n"
	      "23 20 0:32 / /guest rw,relatime - cifs //s/g rw,sec=none,username=x,addr=192.0.2.1\n"
	      "24 20 0:33 / /word rw,relatime - cifs //s/w rw,password=x\n"
	      "25 20 0:34 / /url rw,relatime - fuse.x joe:word@h: rw\n",
	      "t|/notes|tmpfs|nofail,x-own.note=1,_netdev,x-b|0\n"
	      "//s/g|/guest|cifs|sec=none,username=x|0\n"
	      "#/win: only the kernel knows its password; write a line with credentials=FILE\n"
	      "#/word: it was mounted with a secret, which does not belong in an fstab\n"
	      "#/url: it was mounted with a secret, which does not belong in an fstab\n");
	struct fstab_input in = usual();
	in.nofail = true;
	CHECK(in, "21 20 0:30 / /srv rw,relatime - tmpfs t rw\n22 20 0:31 / /var/x rw,relatime - tmpfs t rw\n"
	      "23 20 8:1 /q /data rw,relatime - ext4 /dev/sda1 rw\n"
	      "24 20 8:32 / /net rw,relatime - ext4 /dev/sdc rw\n",
	      "t|/srv|tmpfs|nofail|0\n"
	      "t|/var/x|tmpfs|defaults|0\n"
	      "/q|/data|none|bind,nofail|0\n"
	      "UUID=u-iscsi|/net|ext4|_netdev,nofail|2\n");
}

/* Swap. */

static void test_g13_g21_swap(void)
{
	static const char swaps[] =
		"Filename\tType\tSize\tUsed\tPriority\n"
		"/dev/sda5                               partition\t1024\t0\t-2\n"
		"/dev/zram0 partition 5 0 100\n"
		"/srv/swap\\040file file 5 0 7\n"
		"/tmp/swap file 5 0 -3\n"
		"/gone\\040(deleted) file 5 0 -4\n"
		"/dev/mapper/vg-home partition 5 0 32767\n"
		"short line\n";
	struct arena arena;
	struct fstab_swap *list = NULL;
	arena_init(&arena);
	struct fstab_input in = usual();
	size_t damaged;
	ssize_t n = fstab_parse_swaps(swaps, &arena, &list, &damaged);
	CU_ASSERT_EQUAL_FATAL(n, 6);
	CU_ASSERT_EQUAL(damaged, 8);
	in.swaps = list;
	in.nswaps = (size_t)n;
	CHECK(in, "21 20 0:30 / /tmp rw,relatime - tmpfs t rw\n",
	      "t|/tmp|tmpfs|defaults|0\n"
	      "UUID=u-swap|none|swap|defaults|0\n"
	      "-/dev/zram0: zram is set up at boot, with a new UUID each time\n"
	      "/srv/swap file|none|swap|defaults,pri=7|0\n"
	      "#/tmp/swap: its file /tmp/swap is in memory and does not survive a reboot\n"
	      "#/gone: its file was removed, or cannot be reached\n"
	      "/dev/mapper/vg-home|none|swap|defaults,pri=32767|0\n");
	/* Files belong to a ROOT, devices to all. */
	in.root = "/srv";
	const char *got = made(in, "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n"
	                       "21 20 8:1 / /srv rw,relatime - ext4 /dev/sda1 rw\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n/swap file|none|swap|defaults,pri=7|0\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "\n-/tmp/swap: its file lies outside ROOT\n"));
	in.filter = "/dev/mapper/";
	got = made(in, "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n");
	CU_ASSERT_STRING_EQUAL(strchr(got, '/') - 0, strstr(got, "/dev/sda5"));
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "/dev/mapper/vg-home|none"));
	free(list);
	arena_destroy(&arena);
	arena_init(&arena);
	CU_ASSERT_EQUAL(fstab_parse_swaps("", &arena, &list, &damaged), 0);
	CU_ASSERT_EQUAL(damaged, 1);
	free(list);
	static const struct {
		const char *text;
		size_t damaged;
	} texts[] = {
		{"Filename\tType\tSize\tUsed\tPriority\n", 0},
		{"Filename\tType\tSize\tUsed\tPriority\n/dev/a partition 1 0 -2\n\n", 0},
		{"garbage\n", 1},
		{"/dev/a partition 1 0 -2\n", 1},
		{"Filename\n/dev/a partition 1 0 -2\n/dev/sr0 /media udf,iso9660 user,noauto 0\n", 3},
		{"Filename\n/dev/a partition 1 x -2\n", 2},
		{"Filename\n/dev/a partition 1 0 -\n", 2},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		CU_ASSERT(fstab_parse_swaps(texts[i].text, &arena, &list, &damaged) >= 0);
		CU_ASSERT_EQUAL(damaged, texts[i].damaged);
		free(list);
	}
	arena_destroy(&arena);
}

/* What the system mounts by itself. */

/** What an admin has put below an engine's directory is not the engine's. */
static void test_review_own(void)
{
	USUAL("21 20 8:2 / /var/lib/rancher/k3s/storage rw,relatime - vfat /dev/sda2 rw\n"
	      "22 20 0:40 / /var/lib/docker/volumes/pg rw,relatime - nfs4 srv:/pg rw,vers=4.2\n"
	      "23 20 0:41 / /var/lib/docker/volumes/v/_data rw,relatime - nfs4 srv:/v rw,vers=4.2\n"
	      "24 20 8:5 / /var/lib/kubelet/pods/1/volumes/x rw,relatime - vfat /dev/sda5 rw\n"
	      "25 20 0:42 / /var/lib/containers/c1/merged rw,relatime - overlay overlay rw,lowerdir=/a\n",
	      "UUID=AB-CD|/var/lib/rancher/k3s/storage|vfat|defaults|0\n"
	      "srv:/pg|/var/lib/docker/volumes/pg|nfs4|vers=4.2|0\n"
	      "-/var/lib/docker/volumes/v/_data: of a container\n"
	      "-/var/lib/kubelet/pods/1/volumes/x: of a container\n"
	      "-/var/lib/containers/c1/merged: of a container\n");
}

static void test_g14_own(void)
{
	USUAL("21 20 0:30 / /proc rw,relatime - proc proc rw\n"
	      "22 20 0:31 / /run rw,relatime - tmpfs tmpfs rw\n"
	      "23 22 0:32 / /run/user/1000 rw,relatime - tmpfs tmpfs rw\n"
	      "24 20 0:33 / /tank rw,relatime - zfs tank rw\n"
	      "25 20 0:34 / /auto rw,relatime - autofs auto.x rw\n"
	      "26 25 0:35 / /auto/key rw,relatime - nfs4 srv:/k rw\n"
	      "27 26 0:36 / /auto/key/sub rw,relatime - nfs4 srv:/other rw\n"
	      "28 20 8:4 / /snap/core/1 ro,relatime - squashfs /dev/loop9 ro\n"
	      "29 20 0:37 / /var/lib/docker/overlay2/x/merged rw,relatime - overlay overlay rw\n"
	      "30 20 8:2 / /var/lib/docker rw,relatime - vfat /dev/sda2 rw\n"
	      "31 20 0:38 / /own/unit rw,relatime - tmpfs t rw\n"
	      "32 20 8:5 / /stick rw,relatime - vfat /dev/sda5 rw\n"
	      "33 20 0:39 / /tmp rw,relatime - tmpfs t rw\n"
	      "34 22 8:4 / /run/media/joe/x rw,relatime - vfat /dev/sda4 rw\n"
	      "35 20 8:1 /var/lib/kubelet /var/lib/kubelet rw,relatime - ext4 /dev/sda1 rw\n"
	      "36 20 8:1 /var/lib/lxd/disks /var/lib/lxd/disks rw,relatime - ext4 /dev/sda1 rw\n"
	      "37 20 8:1 /srv/x /var/lib/incus rw,relatime - ext4 /dev/sda1 rw\n"
	      "38 20 8:1 /srv/y /srv/y rw,relatime - ext4 /dev/sda1 rw\n",
	      "UUID=AB-CD|/var/lib/docker|vfat|defaults|0\n"
	      "t|/tmp|tmpfs|defaults|0\n"
	      "/srv/x|/var/lib/incus|none|bind|0\n"
	      "/srv/y|/srv/y|none|bind|0\n"
	      "-/proc: an API file system\n"
	      "-/run: made at boot\n"
	      "-/tank: zfs mounts its data sets by itself\n"
	      "-/auto: an automounter's trigger\n"
	      "-/snap/core/1: of snapd\n"
	      "-/var/lib/docker/overlay2/x/merged: of a container\n"
	      "-/own/unit: mounted by its own unit\n"
	      "-/stick: of udisks\n"
	      "-/var/lib/kubelet: of a container\n"
	      "-/var/lib/lxd/disks: of a container\n"
	      "-/run/user/1000: of a session\n"
	      "-/run/media/joe/x: of udisks\n"
	      "-/auto/key: mounted by an automounter\n"
	      "-/auto/key/sub: it is mounted on /auto/key, which the system mounts by itself, if at all\n");
}

/** Over what the kernel shows nobody's disk is the system's; what containers have there is. */
static void test_kernels_own(void)
{
	USUAL("21 20 0:30 / /proc rw,relatime - proc proc rw\n"
	      "22 20 0:31 / /dev rw,relatime - devtmpfs udev rw\n"
	      "23 20 0:33 / /sys rw,relatime - sysfs sysfs rw\n"
	      "24 21 8:2 /tmp/x /proc/1234 rw,relatime - vfat /dev/sda2 rw\n"
	      "25 21 0:34 / /proc/77 rw,relatime - tmpfs t rw\n"
	      "26 21 0:35 / /proc/stat rw,relatime - fuse.other o rw,user_id=0,group_id=0\n"
	      "27 22 8:5 / /dev/shm rw,relatime - vfat /dev/sda5 rw\n"
	      "28 23 0:36 / /sys/kernel/x rw,relatime - overlay overlay rw,lowerdir=/a\n"
	      "29 21 0:37 /proc/cpuinfo /proc/cpuinfo rw,relatime - fuse.lxcfs lxcfs rw,user_id=0,group_id=0\n"
	      "30 21 0:38 /sys/net /proc/sys rw,relatime - fuse sysboxfs rw,user_id=0,group_id=0\n"
	      "31 21 0:31 /null /proc/kcore rw - devtmpfs udev rw\n"
	      "32 21 0:39 / /proc/acpi ro,relatime - tmpfs tmpfs ro\n"
	      "33 22 8:4 /pods/1/log /dev/termination-log rw,relatime - ext4 /dev/sda4 rw\n"
	      "34 23 0:40 / /sys/fs/x rw,relatime - functionfs f rw\n",
	      "#/proc/1234: it hides what the kernel shows there\n"
	      "#/proc/77: it hides what the kernel shows there\n"
	      "#/proc/stat: it hides what the kernel shows there\n"
	      "#/dev/shm: it hides what the kernel shows there\n"
	      "#/sys/kernel/x: it hides what the kernel shows there\n"
	      "-/proc: an API file system\n"
	      "-/dev: an API file system\n"
	      "-/sys: an API file system\n"
	      "-/proc/cpuinfo: of a service\n"
	      "-/proc/sys: an API file system\n"
	      "-/proc/kcore: an API file system\n"
	      "-/proc/acpi: an API file system\n"
	      "-/dev/termination-log: an API file system\n"
	      "-/sys/fs/x: an API file system\n");
}

/** What programs mount at places of their own, and the nearest that are not theirs. */
static void test_places_own(void)
{
	USUAL("21 20 0:30 / /var/lib/ceph/osd/ceph-0 rw,relatime - tmpfs tmpfs rw\n"
	      "22 20 8:2 / /var/lib/ceph/osd/ceph-1 rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 0:31 / /var/lib/k0s/kubelet/pods/b/volumes/x rw,relatime - tmpfs tmpfs rw\n"
	      "24 20 8:9 / /home/joe rw,nosuid,nodev,relatime - ext4 /dev/mapper/home-joe rw\n"
	      "25 20 8:5 / /home/ann rw,nosuid,nodev,relatime - vfat /dev/sda5 rw\n"
	      "26 20 0:32 / /home/u/.local/share/docker/overlay2/x/merged rw,relatime - overlay overlay rw,lowerdir=/a\n"
	      "27 20 8:9 / /run/timeshift/12/backup rw,relatime - ext4 /dev/sda9 rw\n"
	      "28 20 8:9 / /var/lib/os-prober/mount ro - ext4 /dev/sda9 ro\n"
	      "29 20 0:33 / /mnt/c rw,noatime - 9p drvfs rw,dirsync,aname=drvfs;path=C:\\134;uid=0,trans=fd\n"
	      "30 20 0:34 / /mnt/d rw,noatime - tmpfs d rw\n"
	      "31 20 0:35 / /mnt/wslg rw,relatime - tmpfs none rw\n"
	      "32 20 0:36 / /media/psf/Home rw - prl_fs Home rw\n"
	      "33 20 0:37 / /media/psf/x rw - tmpfs x rw\n",
	      "UUID=AB-CD|/var/lib/ceph/osd/ceph-1|vfat|defaults|0\n"
	      "UUID=u-swap|/home/ann|vfat|nosuid,nodev|0\n"
	      "d|/mnt/d|tmpfs|noatime|0\n"
	      "x|/media/psf/x|tmpfs|strictatime|0\n"
	      "-/var/lib/ceph/osd/ceph-0: of Ceph\n"
	      "-/var/lib/k0s/kubelet/pods/b/volumes/x: of a container\n"
	      "-/home/joe: of systemd-homed\n"
	      "-/home/u/.local/share/docker/overlay2/x/merged: of a container\n"
	      "-/run/timeshift/12/backup: of Timeshift\n"
	      "-/var/lib/os-prober/mount: of os-prober\n"
	      "-/mnt/c: of WSL\n"
	      "-/mnt/wslg: of WSL\n"
	      "-/media/psf/Home: of Parallels\n");
}

/** What hosts of public documentation have: ostree's parts, and the nearest that are none. */
static void test_hosts(void)
{
	USUAL("21 20 8:4 / /sysroot ro,relatime - ext4 /dev/sda4 rw\n"
	      "22 20 8:4 /ostree/deploy/os/deploy/7c1e.0/etc /etc rw,relatime - ext4 /dev/sda4 rw\n"
	      "23 20 8:4 /ostree/deploy/os/var /var rw,relatime - ext4 /dev/sda4 rw\n"
	      "24 21 8:4 /ostree/deploy/os/var /sysroot/ostree/deploy/os/var rw,relatime - ext4 /dev/sda4 rw\n"
	      "25 20 8:4 /ostree/deploy/os/deploy/7c1e.0/etc /srv/etc rw,relatime - ext4 /dev/sda4 rw\n"
	      "26 20 0:40 / /mnt/pve/nas rw,relatime - nfs4 srv:/pve rw\n"
	      "27 20 0:41 / /mnt/pve rw,relatime - nfs4 srv:/other rw\n",
	      "/sysroot/ostree/deploy/os/deploy/7c1e.0/etc|/srv/etc|none|bind,rw,relatime|0\n"
	      "srv:/other|/mnt/pve|nfs4|defaults|0\n"
	      "-/sysroot: of ostree\n"
	      "-/etc: of ostree\n"
	      "-/var: of ostree\n"
	      "-/mnt/pve/nas: a storage of Proxmox VE\n"
	      "-/sysroot/ostree/deploy/os/var: of ostree\n");
}

static void test_automount(void)
{
	/* An automount of the fstab is made one again; NFS's own mounts are its own. */
	USUAL("21 20 0:34 / /lazy rw,relatime - autofs systemd-1 rw\n"
	      "22 21 8:2 / /lazy rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 0:35 / /nfs rw,relatime - nfs4 srv:/ rw\n"
	      "24 23 0:36 / /nfs/a/b rw,relatime - nfs4 srv:/a/b rw\n"
	      "25 23 0:37 / /nfs/c rw,relatime - nfs4 srv:/else rw\n",
	      "srv:/|/nfs|nfs4|defaults|0\n"
	      "UUID=AB-CD|/lazy|vfat|x-systemd.automount|0\n"
	      "srv:/else|/nfs/c|nfs4|defaults|0\n"
	      "-/lazy: an automounter's trigger\n"
	      "-/nfs/a/b: NFS mounts it on access\n");
}

/* Devices. */

static void test_g17_identifiers(void)
{
	static const struct {
		enum fstab_id id;
		const char *root, *dup, *mapped, *denied;
	} rows[] = {
		{FSTAB_AUTO, "UUID=u-root|", "\nPARTUUID=p-3|/dup|", "\n/dev/mapper/vg-home|/home|",
		 "\n#/denied: it has no UUID: not permitted to open the device; --id=path would name it /dev/sdb\n"},
		{FSTAB_UUID, "UUID=u-root|", "\n#/dup: UUID=u-twice is shared by 2 devices; ",
		 "\n#/home: UUID=u-twice is shared by 2 devices; ", "\n#/denied: it has no UUID: not permitted"},
		{FSTAB_LABEL, "LABEL=root|", "\nLABEL=data|/dup|", "\n#/home: it has no LABEL; --id=path",
		 "\n#/denied: it has no LABEL: not permitted"},
		{FSTAB_PARTUUID, "PARTUUID=p-1|", "\nPARTUUID=p-3|/dup|", "\n#/home: it has no PARTUUID; ",
		 "\n#/denied: it has no PARTUUID: "},
		{FSTAB_PARTLABEL, "#/: it has no PARTLABEL; ", "\n#/dup: it has no PARTLABEL; ",
		 "\n#/home: it has no PARTLABEL; ", "\n#/denied: it has no PARTLABEL: "},
		{FSTAB_PATH, "/dev/sda1|", "\n/dev/sda3|/dup|", "\n/dev/mapper/vg-home|/home|", "\n/dev/sdb|/denied|"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct fstab_input in = usual();
		in.id = rows[i].id;
		char got[4096];
		snprintf(got, sizeof(got), "\n%s", made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
			"21 20 8:3 / /dup rw,relatime - xfs /dev/sda3 rw\n"
			"22 20 253:0 / /home rw,relatime - ext4 /dev/dm-0 rw\n"
			"23 20 8:16 / /denied rw,relatime - ext4 /dev/sdb rw\n"));
		CU_ASSERT_PTR_NOT_NULL(strstr(got, rows[i].root));
		CU_ASSERT_PTR_NOT_NULL(strstr(got, rows[i].dup));
		CU_ASSERT_PTR_NOT_NULL(strstr(got, rows[i].mapped));
		CU_ASSERT_PTR_NOT_NULL(strstr(got, rows[i].denied));
	}
	/* Both twice: no line. */
	USUAL("21 20 8:4 / /x rw,relatime - ext4 /dev/sda4 rw\n22 20 9:127 / /md rw,relatime - ext4 /dev/md127 rw\n",
	      "UUID=u-md|/md|ext4|defaults|2\n"
	      "#/x: UUID=u-twice is shared by 2 devices; --id=path would name it /dev/sda4\n");
	/* FUSE on a device is what is on that. */
	USUAL("21 20 8:48 / /win rw,relatime - fuseblk /dev/sdd rw,user_id=0,group_id=0,blksize=4096\n",
	      "UUID=u-ntfs|/win|ntfs|defaults|0\n");
}

static void test_images(void)
{
	const char *table = "21 20 7:0 / /a rw,relatime - ext4 /dev/loop0 rw\n"
	                    "22 20 7:1 / /b ro,relatime - ext4 /dev/loop1 rw\n"
	                    "23 20 7:2 / /c rw,relatime - ext4 /dev/loop2 rw\n"
	                    "24 20 259:0 / /d rw,relatime - ext4 /dev/loop3p1 rw\n"
	                    "25 20 7:4 / /e rw,relatime - ext4 /dev/loop4 rw\n"
	                    "26 20 0:30 / /tmp rw,relatime - tmpfs t rw\n";
	USUAL(table,
	      "/srv/a b.img|/a|ext4|loop|0\n"
	      "/srv/disk.img|/b|ext4|ro,loop,offset=1048576,sizelimit=4096|0\n"
	      "UUID=u-part|/d|ext4|nofail|2\n"
	      "!it is a partition of the image /srv/d.img, which must be attached first: losetup -P\n"
	      "t|/tmp|tmpfs|defaults|0\n"
	      "#/c: its image was removed\n"
	      "#/e: its image /tmp/x.img is in memory and does not survive a reboot\n");
	/* Outside of ROOT it is a disk. */
	struct fstab_input in = usual();
	in.root = "/mnt";
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
		"21 20 7:0 / /mnt rw,relatime - ext4 /dev/loop0 rw\n"
		"22 21 259:0 / /mnt/d rw,relatime - ext4 /dev/loop3p1 rw\n"),
		"UUID=u-img|/|ext4|defaults|1\nUUID=u-part|/d|ext4|defaults|2\n");
}

/* The helpers of ROOT tell, not a list of ours (g19). */
static int no_fsck(void *arg, const char *fstype)
{
	(void)arg, (void)fstype;
	return 0;
}

static void test_g19_passes(void)
{
	const char *table = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	                    "21 20 8:2 / /v rw,relatime - vfat /dev/sda2 rw\n"
	                    "22 20 8:32 / /e rw,relatime - ext4 /dev/sdc rw\n"
	                    "23 20 9:127 / /x rw,relatime - xfs /dev/md127 rw\n"
	                    "24 20 0:40 / /b rw,relatime - btrfs /dev/sde1 rw,subvol=/\n";
	struct fstab_input in = usual();
	CU_ASSERT_STRING_EQUAL(made(in, table),
		"UUID=u-root|/|ext4|defaults|1\nUUID=AB-CD|/v|vfat|defaults|0\n"
		"UUID=u-iscsi|/e|ext4|_netdev|2\nUUID=u-md|/x|xfs|defaults|0\nUUID=u-btrfs|/b|btrfs|subvol=/|0\n");
	in.world.fsck = no_fsck;
	CU_ASSERT_PTR_NOT_NULL(strstr(made(in, table), "UUID=u-root|/|ext4|defaults|0\n"));
	in.world.fsck = NULL;   /* not known: what there is of most */
	CU_ASSERT_PTR_NOT_NULL(strstr(made(in, table), "UUID=AB-CD|/v|vfat|defaults|2\n"));
}

static void test_g20_order(void)
{
	/* What is needed comes first, whatever the order of the table. */
	USUAL("21 25 8:2 / /a/b rw,relatime - vfat /dev/sda2 rw\n"
	      "22 20 8:32 /dir /z rw,relatime - ext4 /dev/sdc rw\n"
	      "23 20 0:50 / /ov rw,relatime - overlay over rw,lowerdir=/x/l1:/l2\\134:y,upperdir=/x/u,workdir=/x/w\n"
	      "24 20 8:32 / /x rw,relatime - ext4 /dev/sdc rw\n"
	      "25 20 0:30 / /a rw,relatime - tmpfs t rw\n",
	      "UUID=u-iscsi|/x|ext4|_netdev|2\n"
	      "t|/a|tmpfs|defaults|0\n"
	      "UUID=AB-CD|/a/b|vfat|X-mount.mkdir|0\n"
	      "/x/dir|/z|none|bind|0\n"
	      "over|/ov|overlay|lowerdir=/x/l1:/l2\\:y,upperdir=/x/u,workdir=/x/w,"
	      "x-systemd.requires-mounts-for=/x|0\n");
	/* What stands on one that has no line has none. */
	USUAL("21 20 8:1 /gone//deleted /a rw,relatime - ext4 /dev/sda1 rw\n"
	      "22 21 0:30 / /a/b rw,relatime - tmpfs t rw\n"
	      "23 22 0:31 / /a/b/c rw,relatime - tmpfs t rw\n",
	      "#/a: the directory that it shows was removed\n"
	      "#/a/b: it is mounted on /a, which has no line\n"
	      "#/a/b/c: it is mounted on /a/b, which has no line\n");
	USUAL("21 20 0:50 / /r rw,relatime - overlay o rw,lowerdir=l1:l2\n"
	      "22 20 0:51 / /s rw,relatime - overlay o rw,lowerdir=/t/x\n"
	      "23 20 0:52 / /t rw,relatime - tmpfs t rw\n",
	      "t|/t|tmpfs|defaults|0\n"
	      "#/r: its layers have no absolute names\n"
	      "#/s: its layer /t/x is in memory and does not survive a reboot\n");
	/* Of what it is mounted on; as the root, of what is beneath everything. */
	USUAL("21 20 8:2 / /q rw,relatime - vfat /dev/sda2 rw\n"
	      "22 21 0:50 / /q/etc rw,relatime - overlay o rw,lowerdir=/q/etc,upperdir=/q/u,workdir=/q/w\n",
	      "UUID=AB-CD|/q|vfat|defaults|0\n"
	      "o|/q/etc|overlay|lowerdir=/q/etc,upperdir=/q/u,workdir=/q/w,x-systemd.requires-mounts-for=/q|0\n");
	struct fstab_input in = usual();
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 0:50 / / rw,relatime - overlay overlay rw,lowerdir=/l1:/l2\n"),
	                       "#/: its layer /l1 is covered by itself\n");
	in.root = "/mnt";
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n"
		"21 20 8:1 / /mnt rw,relatime - ext4 /dev/sda1 rw\n"
		"22 21 0:50 / /mnt/o rw,relatime - overlay o rw,lowerdir=/mnt/a:/mnt,upperdir=/mnt/u,workdir=/mnt/w\n"
		"23 21 0:51 / /mnt/p rw,relatime - overlay o rw,lowerdir=/mnt2/a\n"),
		"UUID=u-root|/|ext4|defaults|1\n"
		"o|/o|overlay|lowerdir=/a:/,upperdir=/u,workdir=/w|0\n"
		"#/p: its layer /mnt2/a lies outside ROOT\n");
}

static void test_filter(void)
{
	struct fstab_input in = usual();
	in.filter = "/ho";
	const char *got = made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	                       "21 20 8:2 / /home rw,relatime - vfat /dev/sda2 rw\n");
	CU_ASSERT_STRING_EQUAL(got, "UUID=AB-CD|/home|vfat|defaults|0\n-/: excluded by -f\n");
	in.filter = NULL;
	in.all = true;
	got = made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 0:30 / /proc rw,relatime - proc proc rw\n"
	           "22 20 0:31 / /auto rw,relatime - autofs x rw\n");
	CU_ASSERT_STRING_EQUAL(got, "UUID=u-root|/|ext4|defaults|1\nproc|/proc|proc|defaults|0\n"
	                       "-/auto: an automounter's trigger\n");
}

/* Texts. */

static void test_utab(void)
{
	char utab[] = "ID=1 SRC=/dev/sdb1 TARGET=/media/a\\040b ROOT=/ OPTS=uhelper=udisks2\n"
	              "SRC=x TARGET=/no/options ROOT=/\n"
	              "garbage\n\n"
	              "OPTS=x-a,_netdev TARGET=/late\\134040";
	char *at = utab;
	struct fstab_kept kept;
	CU_ASSERT_TRUE(fstab_utab_next(&at, &kept));
	CU_ASSERT_STRING_EQUAL(kept.target, "/media/a b");
	CU_ASSERT_STRING_EQUAL(kept.options, "uhelper=udisks2");
	CU_ASSERT_TRUE(fstab_utab_next(&at, &kept));
	CU_ASSERT_STRING_EQUAL(kept.target, "/late\\040");
	CU_ASSERT_STRING_EQUAL(kept.options, "x-a,_netdev");
	CU_ASSERT_FALSE(fstab_utab_next(&at, &kept));
}

static void test_unit_names(void)
{
	/* As systemd-escape(1) --path writes them. */
	static const char *const names[][2] = {
		{"/", "-"}, {"//", "-"}, {"/home", "home"}, {"/srv/a-b", "srv-a\\x2db"}, {"/a b/c", "a\\x20b-c"},
		{"//srv///x//", "srv-x"}, {"/.snapshots", "\\x2esnapshots"}, {"/a/.b", "a-.b"}, {"/u_:1", "u_:1"}, {"/\303\244", "\\xc3\\xa4"},
	};
	struct strbuf name;
	strbuf_init(&name);
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		strbuf_reset(&name);
		fstab_unit_name(&name, names[i][0]);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&name), names[i][1]);
	}
	strbuf_destroy(&name);
}

/** g18: each mount asks for its device once, and the time is linear: many mounts of one
    device, binds of one directory, a chain, a stack. */
static void test_g18_many(void)
{
	enum { MANY = 10000 };
	char *table = malloc(MANY * 3 * 400);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	size_t n = (size_t)sprintf(table, "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n");
	for (unsigned i = 0; i < MANY; ++i) {
		n += (size_t)sprintf(table + n, "%u 1 8:1 /d /b%u rw,relatime - ext4 /dev/sda1 rw\n", 10 + i, i);
		n += (size_t)sprintf(table + n, "%u %u 0:77 / /stack rw,relatime - tmpfs t rw\n", MANY + 10 + i,
		                     i ? MANY + 9 + i : 1);
		n += (size_t)sprintf(table + n, "%u 1 8:2 / /v%u rw,relatime - vfat /dev/sda2 rw\n", 2 * MANY + 10 + i, i);
	}
	struct mount_table *mounts = table_parse_mountinfo(table, n);
	CU_ASSERT_PTR_NOT_NULL_FATAL(mounts);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct fstab_input in = usual();
	struct discovery *d = discover(&os, NULL, mounts, &opts);
	in.d = d;
	struct fstab_plan plan;
	asked = 0;
	double start = unit_cpu();
	CU_ASSERT_EQUAL(fstab_plan(&in, &plan), 0);
	CU_ASSERT_TRUE(unit_cpu() - start < 60);
	CU_ASSERT_EQUAL(plan.of[FSTAB_LINE], 1 + 2 * MANY + 1);
	CU_ASSERT_EQUAL(plan.of[FSTAB_COMMENT], MANY - 1);
	CU_ASSERT_EQUAL(asked, 1 + MANY);
	fstab_plan_destroy(&plan);
	discovery_free(d);
	table_free(mounts);
	free(table);
}

/** A line mounts a file system read-only with its mount: nothing can be written then. */
static void test_review_places_ro_view(void)
{
	USUAL("21 20 8:2 / /zz ro,relatime - vfat /dev/sda2 rw\n"
	      "22 20 8:2 /d /b2 rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 8:2 /d /b3 ro,relatime - vfat /dev/sda2 rw\n",
	      "UUID=AB-CD|/zz|vfat|ro|0\n"
	      "/zz/d|/b3|none|bind|0\n"
	      "#/b2: it is writable, but the line of /zz makes its file system read-only\n");
	/* So it is with the only subvolume; another that can be written to makes it good. */
	USUAL("21 20 0:40 /@ /s ro,relatime - btrfs /dev/sde1 rw,subvol=/@\n"
	      "22 20 0:40 /@/d /d rw,relatime - btrfs /dev/sde1 rw,subvol=/@\n",
	      "UUID=u-btrfs|/s|btrfs|ro,subvol=/@|0\n"
	      "#/d: it is writable, but the line of /s makes its file system read-only\n");
	USUAL("21 20 0:40 /@ /s ro,relatime - btrfs /dev/sde1 rw,subvol=/@\n"
	      "22 20 0:40 /@/d /d rw,relatime - btrfs /dev/sde1 rw,subvol=/@\n"
	      "23 20 0:40 /@h /h rw,relatime - btrfs /dev/sde1 rw,subvol=/@h\n",
	      "UUID=u-btrfs|/s|btrfs|ro,subvol=/@|0\n"
	      "/s/d|/d|none|bind,rw,relatime|0\n"
	      "UUID=u-btrfs|/h|btrfs|subvol=/@h|0\n");
	/* What cannot be written to anyway. */
	USUAL("21 20 8:2 / /zz ro,relatime - vfat /dev/sda2 ro\n"
	      "22 20 8:2 /d /b2 rw,relatime - vfat /dev/sda2 ro\n",
	      "UUID=AB-CD|/zz|vfat|ro|0\n"
	      "/zz/d|/b2|none|bind,rw,relatime|0\n");
}

/** A directory of what comes over a network: its name may end the source, too. */
static void test_review_places_network_bind(void)
{
	USUAL("21 20 0:50 / /mnt rw,relatime - nfs4 srv:/home rw\n"
	      "22 20 0:50 /home /jail rw,relatime - nfs4 srv:/home rw\n"
	      "23 20 0:51 / /ssh rw,relatime - fuse.sshfs joe@h:/d rw\n"
	      "24 20 0:51 /d /sshd rw,relatime - fuse.sshfs joe@h:/d rw\n"
	      "25 20 0:52 /a /alone rw,relatime - ceph mon:/a rw\n",
	      "srv:/home|/mnt|nfs4|defaults|0\n"
	      "/mnt/home|/jail|none|bind|0\n"
	      "joe@h:/d|/ssh|fuse.sshfs|_netdev|0\n"
	      "/ssh/d|/sshd|none|bind|0\n"
	      "#/alone: its source, /a of mon:/a, is visible nowhere else\n");
	/* Of SMB it can be what was asked for, if no mount of the share's top has that source. */
	USUAL("21 20 0:50 / /mnt rw,relatime - cifs //srv/share/sub rw,sec=none\n"
	      "22 20 0:50 /sub /jail rw,relatime - cifs //srv/share/sub rw,sec=none\n"
	      "23 20 0:51 /sub /own rw,relatime - cifs //srv/share/sub rw,sec=none\n"
	      "24 20 0:52 /sub /lost rw,relatime - cifs //srv/sub rw,sec=none\n"
	      "25 20 0:53 / /a rw,relatime - smb3 //srv/x/sub rw,sec=none\n"
	      "26 20 0:53 /sub /b rw,relatime - smb3 //srv/x/sub rw,sec=none\n"
	      "27 25 0:30 / /a rw,relatime - tmpfs t rw\n",
	      "//srv/share/sub|/mnt|cifs|sec=none|0\n"
	      "/mnt/sub|/jail|none|bind|0\n"
	      "//srv/share/sub|/own|cifs|sec=none|0\n"
	      "t|/a|tmpfs|defaults|0\n"
	      "#/lost: its source, /sub of //srv/sub, is visible nowhere else\n"
	      "#/a: hidden: /a is mounted over it\n"
	      "#/b: its source, /sub of //srv/x/sub, is visible nowhere else\n");
}

/** A tmpfs is empty at boot: directories to mount on are made, files cannot be. */
static void test_review_places_in_memory(void)
{
	const char *table = "21 20 0:30 / /t rw,relatime - tmpfs t rw\n"
	                    "22 21 0:31 / /t/x rw,relatime - tmpfs x rw\n"
	                    "23 22 8:1 /a /t/x/y rw,relatime - ext4 /dev/sda1 rw\n"
	                    "24 23 8:2 / /t/x/y/z rw,relatime - vfat /dev/sda2 rw\n"
	                    "25 20 0:30 / /u rw,relatime - tmpfs t rw\n"
	                    "26 25 0:32 / /u/v rw,relatime - ramfs v rw\n"
	                    "27 21 8:1 /a/file /t/file rw,relatime - ext4 /dev/sda1 rw\n";
	USUAL(table,
	      "t|/t|tmpfs|defaults|0\n"
	      "/t|/u|none|bind|0\n"
	      "x|/t/x|tmpfs|X-mount.mkdir|0\n"
	      "v|/u/v|ramfs|X-mount.mkdir|0\n"
	      "/a|/t/x/y|none|bind,X-mount.mkdir|0\n"
	      "UUID=AB-CD|/t/x/y/z|vfat|defaults|0\n"
	      "#/t/file: its mount point is in memory and does not survive a reboot; whether it is a directory is not known\n");
	/* The root's own contents are somebody else's care. */
	CU_ASSERT_STRING_EQUAL(made(usual(), "20 1 0:30 / / rw,relatime - tmpfs r rw\n"
		"21 20 0:31 / /x rw,relatime - tmpfs x rw\n"),
		"r|/|tmpfs|defaults|0\nx|/x|tmpfs|defaults|0\n");
}

/** A name below a hidden mount may be of a file in that one. */
static void test_review_places_hidden_image(void)
{
	USUAL("21 20 8:2 / /srv rw,relatime - vfat /dev/sda2 rw\n"
	      "22 20 7:0 / /n rw,relatime - ext4 /dev/loop0 rw\n"
	      "23 20 0:50 / /o rw,relatime - overlay o rw,lowerdir=/srv/l\n"
	      "24 21 8:32 / /srv rw,relatime - ext4 /dev/sdc rw\n",
	      "UUID=u-iscsi|/srv|ext4|_netdev|2\n"
	      "#/srv: hidden: /srv is mounted over it\n"
	      "#/n: its image /srv/a b.img may be that of a mount on /srv which is hidden now\n"
	      "#/o: its layer /srv/l may be that of a mount on /srv which is hidden now\n");
	/* The trigger of an automount holds nothing; nor does a place beside the name. */
	USUAL("21 20 0:34 / /lazy rw,relatime - autofs systemd-1 rw\n"
	      "22 21 8:2 / /lazy rw,relatime - vfat /dev/sda2 rw\n"
	      "23 20 0:50 / /o rw,relatime - overlay o rw,lowerdir=/lazy/l\n"
	      "24 20 0:30 / /lazy2 rw,relatime - tmpfs t rw\n"
	      "25 24 0:31 / /lazy2 rw,relatime - tmpfs t rw\n",
	      "UUID=AB-CD|/lazy|vfat|x-systemd.automount|0\n"
	      "t|/lazy2|tmpfs|defaults|0\n"
	      "o|/o|overlay|lowerdir=/lazy/l,x-systemd.requires-mounts-for=/lazy|0\n"
	      "#/lazy2: hidden: /lazy2 is mounted over it\n"
	      "-/lazy: an automounter's trigger\n");
}

/** Names of devices that another has at the next boot are in no line. */
static void test_review_places_device_names(void)
{
	const char *table = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	                    "21 20 7:5 / /a rw,relatime - ext4 /dev/loop5 rw\n"
	                    "22 20 7:6 / /b rw,relatime - ext4 /dev/loop6 rw\n"
	                    "23 20 7:8 / /c rw,relatime - ext4 /dev/loop8 rw\n"
	                    "24 20 0:5 / /dev rw,nosuid - devtmpfs udev rw\n"
	                    "25 24 0:30 / /dev/shm rw,relatime - tmpfs t rw\n";
	struct fstab_input in = usual();
	CU_ASSERT_STRING_EQUAL(made(in, table),
		"UUID=u-root|/|ext4|defaults|1\n"
		"UUID=u-whole|/b|ext4|defaults|2\n"
		"#/a: it is of a loop device on /dev/loop1, which has no name that lasts\n"
		"#/c: its image /dev/shm/x.img is in memory and does not survive a reboot\n"
		"-/dev: an API file system\n"
		"-/dev/shm: an API file system\n");
	in.id = FSTAB_PATH;
	const char *got = made(in, table);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "#/b: it is of a loop device on /dev/sdf, which has no name that lasts\n"));
	/* A disk on a disk, from outside. */
	in.id = FSTAB_AUTO;
	in.root = "/mnt";
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
		"21 20 8:2 / /mnt rw,relatime - vfat /dev/sda2 rw\n"
		"22 21 7:5 / /mnt/a rw,relatime - ext4 /dev/loop5 rw\n"),
		"UUID=AB-CD|/|vfat|defaults|0\n"
		"#/a: it is of a loop device on /dev/loop1, which has no name that lasts\n");
	/* By path, with nothing known but the table: of mounts and swap spaces. */
	in = usual();
	in.id = FSTAB_PATH;
	in.world.device = NULL;
	in.world.swap = NULL;
	struct fstab_swap swap = {.name = "/dev/dm-1", .priority = -2};
	in.swaps = &swap;
	in.nswaps = 1;
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 259:9 / / rw,relatime - ext4 /dev/root rw\n"
		"21 20 253:3 / /d rw,relatime - ext4 /dev/dm-3 rw\n"
		"22 20 253:4 / /m rw,relatime - ext4 /dev/mapper/vg-m rw\n"),
		"/dev/mapper/vg-m|/m|ext4|defaults|2\n"
		"#/dev/dm-1: /dev/dm-* are numbered anew at every boot\n"
		"#/: /dev/root is the kernel's name of its first root, not a device\n"
		"#/d: /dev/dm-* are numbered anew at every boot\n");
	in.id = FSTAB_UUID;
	in.nswaps = 0;
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 259:9 / / rw,relatime - ext4 /dev/root rw\n"),
		"#/: it has no UUID: devices are not read\n");
}

/** The source of a bind is looked for once along its path, however long that is. */
static void test_review_places_long_path(void)
{
	enum { PARTS = 200000 };
	char *table = malloc(2 * PARTS + 1000);
	CU_ASSERT_PTR_NOT_NULL_FATAL(table);
	size_t n = (size_t)sprintf(table, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n21 20 8:2 ");
	for (unsigned i = 0; i < PARTS; ++i)
		n += (size_t)sprintf(table + n, "/a");
	sprintf(table + n, " /x rw,relatime - vfat /dev/sda2 rw\n");
	double start = unit_cpu();
	const char *got = made(usual(), table);
	CU_ASSERT_TRUE(unit_cpu() - start < 60);
	CU_ASSERT_PTR_NOT_NULL(strstr(got, "#/x: its source, /a/a/a"));
	free(table);
}

/** Every allocation fails once, alone and with all behind it: there is an error, or the
    same plan, and nothing is left. */
static void test_no_memory(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	const char *table =
		"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
		"21 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw\n"
		"22 20 8:3 /a /b ro,relatime - xfs /dev/sda3 rw\n"
		"23 20 0:50 / /ov rw,relatime - overlay o rw,lowerdir=/x/a:/x/b,upperdir=/x/u,workdir=/x/w\n"
		"24 20 7:1 / /img rw,relatime - ext4 /dev/loop1 rw\n"
		"25 20 0:40 /@ /s rw,relatime - btrfs /dev/sde1 rw,subvol=/@\n"
		"26 20 0:60 / /t rw,relatime - tmpfs t rw,odd=a\\054b\n"
		"27 20 0:61 / /notes rw,relatime - tmpfs t rw\n"
		"28 27 0:62 / /notes rw,relatime - tmpfs t rw\n";
	struct fstab_swap swaps[] = {{.name = "/dev/sda5", .priority = 3}, {.name = "/x/swap", .file = true}};
	struct mount_table *mounts = table_parse_mountinfo(table, strlen(table));
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct fstab_input in = usual();
	CU_ASSERT_PTR_NOT_NULL_FATAL(mounts);
	struct discovery *d = discover(&os, NULL, mounts, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(d);
	in.d = d;
	in.nofail = true;
	in.add = (const char *const []){"/notes"};
	in.nadd = 1;
	in.swaps = swaps;
	in.nswaps = 2;
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2, ENOMEM};
		struct fstab_plan plan;
		fault_begin(n ? &fault : NULL, 1000);
		int rc = fstab_plan(&in, &plan), error = errno;
		size_t lines = plan.of[FSTAB_LINE], comments = plan.of[FSTAB_COMMENT];
		fstab_plan_destroy(&plan);
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT_EQUAL(count.kernel, 0);
		bool good = rc == 0 ? lines == 9 && comments == 2 : n > 0 && error == ENOMEM;
		if (!good)
			printf("  allocation %d %s: %d, %s, %zu lines, %zu comments\n", (int)fault.n,
			       n % 2 ? "once" : "on", rc, strerror(error), lines, comments);
		CU_ASSERT_TRUE(good);
		CU_ASSERT_TRUE(n == 0 || count.hits > 0);
	}
	CU_ASSERT_TRUE(allocations > 10);
	discovery_free(d);
	table_free(mounts);
}

/* What a review found in options, sources and texts. */

static void test_review_options_quotes(void)
{
	/* mount(8) drops an option whose quotes do not end, and joins what a backslash ends. */
	USUAL("21 20 0:40 /q\"r /q rw,relatime - btrfs /dev/sde1 rw,subvolid=256,subvol=/q\"r\n"
	      "22 20 0:50 / /o rw,relatime - overlay o rw,lowerdir=/a\"b:/low\n"
	      "23 20 0:51 / /p rw,relatime - overlay o rw,lowerdir=/l,upperdir=/u\\134,workdir=/w\n"
	      "24 20 0:30 / /r rw,relatime - tmpfs t rw,odd=a\\042b\n"
	      "25 20 0:31 / /s rw,relatime - tmpfs t rw,odd=\"a,b\"\n"
	      "26 20 0:32 / /t rw,relatime - tmpfs t rw,context=\"s:c1,c2\",rootcontext=\"r:c1,c2\",size=4k\n"
	      "27 20 0:33 / /u rw,relatime - tmpfs t rw,context=\"s:c1,size=4k\n"
	      "28 20 0:34 / /v rw,relatime - tmpfs t rw,odd=a\\134b,bare\"\n",
	      "t|/t|tmpfs|context=\"s:c1,c2\",rootcontext=\"r:c1,c2\",size=4k|0\n"
	      "#/q: the option subvol has a quotation mark in its value\n"
	      "#/o: the option lowerdir has a quotation mark in its value\n"
	      "#/p: the option upperdir ends with a backslash\n"
	      "#/r: the option odd has a quotation mark in its value\n"
	      "#/s: the option odd has a quotation mark in its value\n"
	      "#/u: the option context has a quotation mark in its value\n"
	      "#/v: the option bare\" has a quotation mark in its value\n");
	/* Two of them in two options are no pair: ROOT was kept in the second. */
	struct fstab_input in = usual();
	in.root = "/mnt";
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n"
		"21 20 8:1 / /mnt rw,relatime - ext4 /dev/sda1 rw\n"
		"22 21 0:50 / /mnt/o rw,relatime - overlay o rw,lowerdir=/mnt/a\"b,upperdir=/mnt/u\"v,workdir=/mnt/w\n"),
		"UUID=u-root|/|ext4|defaults|1\n"
		"#/o: the option lowerdir has a quotation mark in its value\n");
}

/** Options that are shown because they were given. */
static void test_review_options_given(void)
{
	USUAL("21 20 8:32 / /e rw,relatime - ext4 /dev/sdc rw,errors=continue,data=ordered,stripe=16,acl\n"
	      "22 20 0:30 / /n rw,relatime - nfs4 srv:/x rw,vers=4.2,rsize=8192,wsize=1048576\n"
	      "23 20 0:31 / /c rw,relatime - cifs //s/g rw,sec=none,rsize=65536,wsize=4194304,bsize=1048576\n"
	      "24 20 9:127 / /i ro,relatime - iso9660 /dev/md127 ro,nojoliet,check=s,map=n,blocksize=2048\n"
	      "25 20 8:48 / /x rw,relatime - xfs /dev/sdd rw,attr2,inode64,sunit=8,swidth=16,noquota\n",
	      "UUID=u-iscsi|/e|ext4|errors=continue,data=ordered,stripe=16,acl,_netdev|2\n"
	      "srv:/x|/n|nfs4|vers=4.2,rsize=8192|0\n"
	      "//s/g|/c|cifs|sec=none,rsize=65536|0\n"
	      "UUID=u-md|/i|iso9660|ro,nojoliet|0\n"
	      "UUID=u-ntfs|/x|xfs|defaults|0\n");
}

/** Options that the kernel shows by another name than it takes, or whose default is the
    opposite; the protocol of a connection that was there. */
static void test_options_of_kernel(void)
{
	const char *table =
		"21 20 8:32 / /i ro,relatime - iso9660 /dev/sdc ro,norock,check=r,map=o,blocksize=1024,uid=7,fmode=440,dmode=550\n"
		"22 20 8:48 / /f rw,relatime - f2fs /dev/sdd rw,background_gc=on,nouser_xattr,noacl,active_logs=4\n"
		"23 20 9:127 / /g rw,relatime - f2fs /dev/md127 rw,user_xattr,acl\n"
		"24 20 0:30 / /n6 rw,relatime - nfs4 [2001:db8::1]:/x rw,vers=4.2,hard,proto=tcp,addr=192.0.2.1\n"
		"25 20 0:31 / /n4 rw,relatime - nfs4 192.0.2.1:/y rw,vers=4.2,hard,proto=tcp6,addr=2001:db8::1\n"
		"26 20 0:32 / /n rw,relatime - nfs4 srv:/z rw,vers=4.2,proto=tcp6\n";
	USUAL(table,
	      "UUID=u-iscsi|/i|iso9660|ro,norock,check=r,map=o,block=1024,uid=7,mode=0440,dmode=0550,_netdev|0\n"
	      "UUID=u-ntfs|/f|f2fs|nouser_xattr,noacl,active_logs=4|0\n"
	      "UUID=u-md|/g|f2fs|defaults|0\n"
	      "[2001:db8::1]:/x|/n6|nfs4|vers=4.2|0\n"
	      "192.0.2.1:/y|/n4|nfs4|vers=4.2|0\n"
	      "srv:/z|/n|nfs4|vers=4.2,proto=tcp6|0\n");
	struct fstab_input in = usual();
	in.options = FSTAB_LIVE;
	made(in, table);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, "|nfs4|rw,relatime,vers=4.2,hard|0\n192.0.2.1:/y|/n4|nfs4|rw,relatime,vers=4.2,hard|0\n"));
}

/** Sources that mount(8) takes for a device's tag. */
static void test_review_options_tags(void)
{
	USUAL("21 20 0:30 / /a rw,relatime - tmpfs UUID=abc rw\n"
	      "22 20 0:31 / /b rw,relatime - overlay LABEL=data rw,lowerdir=/l\n"
	      "23 20 0:32 / /c rw,relatime - hugetlbfs /dev/huge rw\n"
	      "24 20 0:33 / /d rw,relatime - 9p PARTLABEL=x rw,trans=virtio\n"
	      "25 20 0:34 / /e rw,relatime - nfs UUID=x:/y rw\n"
	      "26 20 0:35 / /f rw,relatime - ceph joe@id.fs=/x rw\n"
	      "27 20 0:36 / /g rw,relatime - tmpfs  rw\n",
	      "tmpfs|/a|tmpfs|defaults|0\n"
	      "overlay|/b|overlay|lowerdir=/l|0\n"
	      "hugetlbfs|/c|hugetlbfs|defaults|0\n"
	      "joe@id.fs=/x|/f|ceph|defaults|0\n"
	      "none|/g|tmpfs|defaults|0\n"
	      "#/d: its source PARTLABEL=x would be taken for a device\n"
	      "#/e: its source UUID=x:/y would be taken for a device\n");
}

/** Types that no line can express, and paths of another root. */
static void test_review_options_types(void)
{
	USUAL("21 20 0:30 / /a rw,relatime - fuse.glusterfs srv:/vol rw,user_id=0\n"
	      "22 20 0:31 / /b rw,relatime - fuse.encfs encfs rw\n"
	      "23 20 0:32 / /c rw,relatime - fuse.mergerfs 1/disk:2/disk rw\n"
	      "24 20 0:33 / /d rw,relatime - fuse.hang x rw\n"
	      "25 20 0:34 / /e rw,relatime - fuse.sshfs joe@h:/x rw\n"
	      "26 20 0:35 / /f rw,relatime - fuse.sshfs renamed rw\n"
	      "27 20 0:36 / /g rw,relatime - ecryptfs /home/.enc rw,ecryptfs_sig=1\n"
	      "28 20 0:37 / /h rw,relatime - aufs none rw,si=1\n"
	      "29 20 0:38 / /i rw,relatime - beegfs beegfs_nodev rw,cfgFile=/etc/b.conf\n"
	      "30 20 0:33 /sub /j rw,relatime - fuse.hang x rw\n"
	      "31 20 0:39 / /k rw,relatime - newfs /srv/what rw\n",
	      "joe@h:/x|/e|fuse.sshfs|_netdev|0\n"
	      "beegfs_nodev|/i|beegfs|cfgFile=/etc/b.conf,_netdev|0\n"
	      "/srv/what|/k|newfs|defaults|0\n"
	      "#/a: only its server knows what fuse.glusterfs is mounted from\n"
	      "#/b: only its server knows what fuse.encfs is mounted from\n"
	      "#/c: only its server knows what fuse.mergerfs is mounted from\n"
	      "#/d: only its server knows what fuse.hang is mounted from\n"
	      "#/f: only its server knows what fuse.sshfs is mounted from\n"
	      "#/g: only the kernel knows its key\n"
	      "#/h: only the kernel knows its branches\n"
	      "#/j: its source, /sub of x, is visible nowhere else\n");
	struct fstab_input in = usual();
	in.root = "/mnt";
	CU_ASSERT_STRING_EQUAL(made(in, "20 1 8:3 / / rw,relatime - ext4 /dev/sda3 rw\n"
		"21 20 8:1 / /mnt rw,relatime - ext4 /dev/sda1 rw\n"
		"22 21 0:30 / /mnt/k rw,relatime - newfs /mnt/srv rw\n"
		"23 21 0:31 / /mnt/l rw,relatime - newfs //srv/share rw\n"),
		"UUID=u-root|/|ext4|defaults|1\n"
		"//srv/share|/l|newfs|defaults|0\n"
		"#/k: whether its source /mnt/srv lies in ROOT is not known\n");
}

#define HIS(who) "user " who " mounted it, and a line would have root mount at each boot what that user chose; " \
                 "--merge --add=PATH writes it\n"

/** What an ordinary user mounted, however it is named, gets a line only if it is named; root's does. */
static void test_users(void)
{
	static const char table[] =
		"21 20 0:30 / /home/joe/a rw,nosuid,nodev,relatime - fuse.sshfs h:/x rw,user_id=1500,group_id=1500\n"
		"22 20 0:31 / /home/joe/b rw,nosuid,nodev,relatime - fuse.sshfs -oProxyCommand=touch:/y rw,user_id=1500,group_id=1500,allow_other\n"
		"23 20 0:32 / /home/joe/c rw,relatime - fuseblk /dev/sdd rw,user_id=1500,group_id=0,blksize=4096\n"
		"24 20 0:33 / /win rw,relatime - fuseblk /dev/sdd rw,user_id=0,group_id=0,blksize=4096\n"
		"25 20 0:34 / /srv/own rw,nosuid,nodev,relatime - fuse.sshfs h:/z rw,user_id=0,group_id=0\n"
		"26 20 0:35 / /srv/dash rw,nosuid,nodev,relatime - fuse.sshfs -oProxyCommand=touch:/y rw,user_id=0,group_id=0\n"
		"27 20 0:30 /d /bound rw,relatime - fuse.sshfs h:/x rw,user_id=1500,group_id=1500\n"
		"28 20 0:36 / /memory rw,relatime - tmpfs -dash rw\n"
		"29 20 0:37 / /root/notes rw,relatime - tmpfs t rw\n"
		"30 20 0:38 / /notes rw,relatime - tmpfs t rw\n"
		"31 20 0:39 / /joe rw,relatime - tmpfs t rw\n"
		"32 20 0:40 / /home/joe/disk rw,nosuid,nodev,relatime - fuse.ext4 /dev/sda1 rw,user_id=1500,group_id=1500\n"
		"33 20 0:41 / /home/joe/lxcfs rw,nosuid,nodev,relatime - fuse.lxcfs lxcfs rw,user_id=1500,group_id=1500\n"
		"34 20 0:42 / /home/joe/.local/share/containers/storage/x rw,nosuid,nodev,relatime - fuse.sshfs h:/x rw,user_id=1500,group_id=1500\n"
		"35 20 0:43 / /run/user/1500/x rw,relatime - tmpfs t rw\n";
	USUAL(table,
	      "h:/z|/srv/own|fuse.sshfs|nosuid,nodev,_netdev|0\n"
	      "tmpfs|/memory|tmpfs|defaults|0\n"
	      "t|/root/notes|tmpfs|defaults|0\n"
	      "t|/joe|tmpfs|defaults|0\n"
	      "#/home/joe/a: " HIS("1500")
	      "#/home/joe/b: its source -oProxyCommand=touch:/y would be taken for options by mount(8)\n"
	      "#/home/joe/c: it has no UUID: devices are not read; --id=path would name it /dev/sdd\n"
	      "#/win: it has no UUID: devices are not read; --id=path would name it /dev/sdd\n"
	      "#/srv/dash: its source -oProxyCommand=touch:/y would be taken for options by mount(8)\n"
	      "#/bound: its source, /d of h:/x, is visible nowhere else\n"
	      "#/notes: " HIS("joe")
	      "#/home/joe/disk: only its server knows what fuse.ext4 is mounted from\n"
	      "#/home/joe/lxcfs: only its server knows what fuse.lxcfs is mounted from\n"
	      "#/home/joe/.local/share/containers/storage/x: " HIS("1500")
	      "-/run/user/1500/x: of a session\n");
	struct fstab_input in = usual();
	in.add = (const char *const []){"/home//joe/a/", "/home/joe/b", "/bound"};
	in.nadd = 3;
	made(in, "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
	     "21 20 0:30 / /home/joe/a rw,nosuid,nodev,relatime - fuse.sshfs h:/x rw,user_id=1500,group_id=1500\n"
	     "22 20 0:31 / /home/joe/b rw,nosuid,nodev,relatime - fuse.sshfs -oProxyCommand=touch:/y rw,user_id=1500,group_id=1500\n"
	     "27 20 0:30 /d /bound rw,relatime - fuse.sshfs h:/x rw,user_id=1500,group_id=1500\n");
	CU_ASSERT_STRING_EQUAL(text, "UUID=u-root|/|ext4|defaults|1\n"
		"h:/x|/home/joe/a|fuse.sshfs|nosuid,nodev,_netdev,nofail|0\n"
		"/home/joe/a/d|/bound|none|bind,rw,suid,dev,relatime,nofail|0\n"
		"#/home/joe/b: its source -oProxyCommand=touch:/y would be taken for options by mount(8)\n");
	/* Whose a mount is, by its data alone. */
	static const struct {
		const char *fstype, *options, *target, *kept, *user;
	} rows[] = {
		{"fuse", "rw,user_id=1500,group_id=100", "/x", NULL, "1500"},
		{"fuse", "rw,user_id=0,group_id=0", "/x", NULL, NULL},
		{"fuseblk.ntfs", "rw,user_id=1000", "/x", NULL, "1000"},
		{"fusectl", "rw,user_id=1000", "/x", NULL, NULL},
		{"ext4", "rw,user_id=1000", "/x", NULL, NULL},
		{"fuse", "rw,context=\"a,user_id=1000\"", "/x", NULL, NULL},
		{"fuse", NULL, "/x", NULL, "?"},
		{"vfat", "rw", "/x", "users,x-a,user=a b\nc", "a b\nc"},
		{"vfat", "rw", "/x", "user,x-a=\"user=joe\"", NULL},
		{"vfat", "rw", "/x", "user=root", NULL},
		{"vfat", "rw", "/x", "user=", NULL},
		{"tmpfs", "rw", "/run/user/1000", NULL, NULL},
		{"tmpfs", "rw", "/run/user/1000/a", NULL, "1000"},
		{"tmpfs", "rw", "/run/user/0/a", NULL, NULL},
		{"tmpfs", "rw", "/run/user/1000a/a", NULL, NULL},
		{"tmpfs", "rw", "/run/users/1000/a", NULL, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct mount mount = {.fstype = rows[i].fstype, .fs_opts = rows[i].options};
		struct strbuf user;
		strbuf_init(&user);
		bool is = fstab_user(&mount, rows[i].target, rows[i].kept, &user);
		bool right = is == (rows[i].user != NULL) && strcmp(strbuf_str(&user), is ? rows[i].user : "") == 0;
		if (!right)
			printf("row %zu: \"%s\"\n", i, strbuf_str(&user));
		CU_ASSERT_TRUE(right);
		strbuf_destroy(&user);
	}
}

/** What mount(8) kept: quotes, secrets, and entries of another mount. */
static void test_review_options_utab(void)
{
	struct fstab_input named = usual();
	named.add = (const char *const []){"/quoted"};
	named.nadd = 1;
	CHECK(named, "21 20 0:30 / /quoted rw,relatime - tmpfs t rw\n"
	      "22 20 0:31 / /secret rw,relatime - tmpfs t rw\n"
	      "23 22 8:1 /a /secret/bind rw,relatime - ext4 /dev/sda1 rw\n",
	      "t|/quoted|tmpfs|nofail,x-foo=\"a,b\",x-bar=1,x-c=d\\,e|0\n"
	      "#/secret: one of its options holds a secret, which does not belong in an fstab\n"
	      "#/secret/bind: its mount point is in memory and does not survive a reboot; whether it is a directory is not known\n");
	char utab[] = "ID=77 SRC=/dev/sdb1 TARGET=/m ROOT=/a\\040b OPTS=x-a\nTARGET=/n OPTS=x-b\n";
	char *at = utab;
	struct fstab_kept kept;
	CU_ASSERT_TRUE_FATAL(fstab_utab_next(&at, &kept));
	static const struct {
		struct mount mount;
		bool fits;
	} rows[] = {
		{{.id = 77, .source = "/dev/sdb1", .root = "/a b"}, true},
		{{.id = 77, .source = "/dev/sdb1/", .root = "/a b"}, true},
		{{.id = 77, .source = "/dev/root", .root = "/a b"}, true},
		{{.id = 78, .source = "/dev/sdb1", .root = "/a b"}, false},
		{{.id = 77, .source = "/dev/sdb2", .root = "/a b"}, false},
		{{.id = 77, .source = "/dev/sdb1", .root = "/"}, false},
		{{.id = 77}, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		CU_ASSERT_EQUAL(fstab_utab_fits(&kept, &rows[i].mount), rows[i].fits);
	CU_ASSERT_TRUE(fstab_utab_next(&at, &kept));
	CU_ASSERT_TRUE(fstab_utab_fits(&kept, &rows[3].mount));
}

/** An overlay of lower layers alone is read-only without an error. */
static void test_review_options_lower(void)
{
	USUAL("21 20 0:50 / /a rw,relatime - overlay o ro,lowerdir=/l1:/l2\n"
	      "22 20 0:51 / /b rw,relatime - overlay o ro,lowerdir=/l1,upperdir=/u,workdir=/w\n",
	      "o|/a|overlay|ro,lowerdir=/l1:/l2|0\n"
	      "o|/b|overlay|lowerdir=/l1,upperdir=/u,workdir=/w|0\n"
	      "!the file system is read-only, the mount is not: it may have had an error\n");
}

/** A btrfs without subvol=, as old kernels show it: never the default one unasked. */
static void test_same_device(void)
{
	static const struct devmap_tags none = {.known = DEVMAP_NO_DEVICE},
		ext4 = {.name = "/dev/sda3", .type = "ext4", .uuid = "e"}, btrfs = {.name = "/dev/sdb", .type = "btrfs", .uuid = "b"},
		second = {.name = "/dev/sdc", .type = "btrfs", .uuid = "b", .multi_device = true},
		pool = {.name = "/dev/sdd", .type = "zfs_member", .label = "tank"}, bare = {.known = DEVMAP_NO_DEVICE};
#define AT(tagged, m) &(struct fstab_device){.tags = (tagged), .numbered = true, .major = 8, .minor = (m)}
	CU_ASSERT_EQUAL(fstab_same_device(AT(&ext4, 3), AT(&none, 3)), 1);
	CU_ASSERT_EQUAL(fstab_same_device(AT(&ext4, 3), AT(&none, 17)), 0);
	CU_ASSERT_EQUAL(fstab_same_device(AT(NULL, 3), AT(NULL, 17)), 0);
	CU_ASSERT_EQUAL(fstab_same_device(AT(&ext4, 3), &(struct fstab_device){.tags = &none}), -1);
	CU_ASSERT_EQUAL(fstab_same_device(&(struct fstab_device){.tags = &bare}, &(struct fstab_device){.tags = &none}), -1);
	CU_ASSERT_EQUAL(fstab_same_device(&(struct fstab_device){0}, &(struct fstab_device){0}), -1);
	/* Several devices of one file system. */
	CU_ASSERT_EQUAL(fstab_same_device(AT(&btrfs, 16), AT(&second, 32)), 1);
	CU_ASSERT_EQUAL(fstab_same_device(AT(&btrfs, 16), AT(&ext4, 3)), 0);
	CU_ASSERT_EQUAL(fstab_same_device(AT(&btrfs, 16), AT(&none, 48)), -1);
	CU_ASSERT_EQUAL(fstab_same_device(AT(&pool, 48), AT(&none, 64)), -1);
#undef AT
}

static void test_review_options_subvolume(void)
{
	USUAL("21 20 0:40 /@ /a rw,relatime - btrfs /dev/sde1 rw,subvolid=256\n"
	      "22 20 0:40 / /b rw,relatime - btrfs /dev/sde1 rw,subvolid=5\n"
	      "23 20 0:40 / /c rw,relatime - btrfs /dev/sde1 rw,ssd\n"
	      "24 20 0:40 /x\\054y /d rw,relatime - btrfs /dev/sde1 rw\n"
	      "25 20 0:40 /x,y /e rw,relatime - btrfs /dev/sde1 rw\n"
	      "26 20 0:40 /x\"y /f rw,relatime - btrfs /dev/sde1 rw\n",
	      "UUID=u-btrfs|/a|btrfs|subvol=/@|0\n"
	      "!the kernel does not show its subvolume: /@ is assumed\n"
	      "UUID=u-btrfs|/b|btrfs|subvolid=5|0\n"
	      "#/c: which of its subvolumes is mounted is not known\n"
	      "#/d: the option subvol has a comma in its value\n"
	      "#/e: the option subvol has a comma in its value\n"
	      "#/f: the option subvol has a quotation mark in its value\n");
}

static const struct unit_test tests[] = {
	{"no_memory", test_no_memory},
	{"g1_g2_names", test_g1_g2_names},
	{"g3_stacked", test_g3_stacked},
	{"g4_outside", test_g4_outside},
	{"g5_deleted", test_g5_deleted},
	{"g6_bind_options", test_g6_bind_options},
	{"g7_files", test_g7_files},
	{"g8_root", test_g8_root},
	{"g9_roots", test_g9_roots},
	{"g10_subvolumes", test_g10_subvolumes},
	{"bind_source", test_bind_source},
	{"twice", test_twice},
	{"g11_run_time", test_g11_run_time},
	{"options", test_options},
	{"g12_others", test_g12_others},
	{"g13_g21_swap", test_g13_g21_swap},
	{"g14_own", test_g14_own},
	{"what is below a directory of containers", test_review_own},
	{"over what the kernel shows", test_kernels_own},
	{"places of programs", test_places_own},
	{"hosts", test_hosts},
	{"automount", test_automount},
	{"g17_identifiers", test_g17_identifiers},
	{"images", test_images},
	{"g18_many", test_g18_many},
	{"g19_passes", test_g19_passes},
	{"g20_order", test_g20_order},
	{"filter", test_filter},
	{"review_places_ro_view", test_review_places_ro_view},
	{"review_places_network_bind", test_review_places_network_bind},
	{"review_places_in_memory", test_review_places_in_memory},
	{"review_places_hidden_image", test_review_places_hidden_image},
	{"review_places_device_names", test_review_places_device_names},
	{"review_places_long_path", test_review_places_long_path},
	{"utab", test_utab},
	{"unit_names", test_unit_names},
	{"review_options_quotes", test_review_options_quotes},
	{"options_of_kernel", test_options_of_kernel},
	{"review_options_given", test_review_options_given},
	{"review_options_tags", test_review_options_tags},
	{"review_options_types", test_review_options_types},
	{"review_options_utab", test_review_options_utab},
	{"users", test_users},
	{"review_options_lower", test_review_options_lower},
	{"same_device", test_same_device},
	{"review_options_subvolume", test_review_options_subvolume},
	{NULL, NULL},
};

const struct unit_suite suite_fstab = {"fstab", tests};
