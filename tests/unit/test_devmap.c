/* SPDX-License-Identifier: MIT */
/* Devices and their tags in made trees of /sys, /run and /dev, and on real loop devices. */
#include "unit.h"

#include "devmap/devmap_impl.h"
#include "loop.h"
#include "os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <linux/blkpg.h>
#include <linux/loop.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

static char root[64];
static struct os os;
static struct devmap_roots roots;
static struct devmap *map;

#define SAME(got, want) same((got), (want), #got, __LINE__)

/** Assert that two strings are equal, or both NULL. */
static void same(const char *got, const char *want, const char *what, int line)
{
	bool equal = got && want ? strcmp(got, want) == 0 : got == want;
	if (!equal)
		fprintf(stderr, "test_devmap.c:%d: %s is %s, not %s\n", line, what,
		        got ? got : "NULL", want ? want : "NULL");
	CU_ASSERT(equal);
}

/* Made-up trees. */

static int unlink_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	return remove(path);
}

static void end(void)
{
	devmap_free(map);
	map = NULL;
	nftw(root, unlink_one, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static void begin(void)
{
	/* After a fatal assertion in the test before. */
	if (map)
		end();
	strcpy(root, "/tmp/getmnt-devmap-XXXXXX");
	if (!mkdtemp(root))
		abort();
	static char path[4][128];
	static const char *const parts[] = {"sys", "run", "dev", "proc"};
	for (int i = 0; i < 4; ++i) {
		snprintf(path[i], sizeof(path[i]), "%s/%s", root, parts[i]);
		mkdir(path[i], 0755);
	}
	os_init(&os, getenv("GETMNT_DISABLE"));
	memset(os.calls, 0, sizeof(os.calls));
	roots = (struct devmap_roots){path[0], path[1], path[2], path[3]};
	map = devmap_new(&os, &roots);
	if (!map)
		abort();
}

/** Make the directories that a path needs. */
static void parents(char *path)
{
	for (char *c = path + strlen(root) + 1; (c = strchr(c, '/')); ++c) {
		*c = '\0';
		mkdir(path, 0755);
		*c = '/';
	}
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
	char full[1024];
	snprintf(full, sizeof(full), "%s/%s", root, path);
	parents(full);
	FILE *file = fopen(full, "w");
	if (!file || fwrite(bytes, 1, n, file) != n || fclose(file) != 0)
		abort();
}

__attribute__((format(printf, 2, 3)))
static void put(const char *path, const char *format, ...)
{
	char text[4096];
	va_list args;
	va_start(args, format);
	int n = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	put_bytes(path, text, (size_t)n);
}

static void put_link(const char *path, const char *target)
{
	char full[1024];
	snprintf(full, sizeof(full), "%s/%s", root, path);
	parents(full);
	if (symlink(target, full) != 0)
		abort();
}

/** Whether a device can block.  @backing [out]  The file of a loop device, or NULL. */
static bool dev_backing(uint32_t maj, uint32_t min, const char **backing)
{
	struct devmap_dev *dev = maj != 0 ? devmap_get(map, maj, min) : NULL;
	if (dev)
		devmap_judge(map, dev);
	*backing = dev ? dev->backing : NULL;
	return dev && dev->blocks;
}

static bool dev_blocks(uint32_t maj, uint32_t min)
{
	const char *backing;
	return dev_backing(maj, min, &backing);
}

/** Whether a mount of a device can block; major 0: a btrfs of a source. */
static bool mount_blocks(uint32_t maj, uint32_t min, const char *source)
{
	struct mount m = {
		.dev_major = maj, .dev_minor = min, .fstype = source ? "btrfs" : "vfat",
		.source = source,
	};
	return devmap_mount_blocks(map, &m);
}

/** A mount of btrfs with a source. */
#define MOUNT(text) ((struct mount){.fstype = "btrfs", .source = (text)})

/** The tags of a mount of an unknown type. */
static const struct devmap_tags *source_tags(uint32_t min, const char *source)
{
	return devmap_mount_tags(map, &(struct mount){.dev_minor = min, .source = source});
}

/** A device in sysfs: its directory below devices, and the two links to it. */
static void put_dev(unsigned maj, unsigned min, const char *dir)
{
	char path[256], target[256];
	const char *name = strrchr(dir, '/') + 1;
	snprintf(path, sizeof(path), "sys/devices/%s/dev", dir);
	put(path, "%u:%u\n", maj, min);
	snprintf(path, sizeof(path), "sys/devices/%s/size", dir);
	put(path, "2048\n");
	snprintf(target, sizeof(target), "../../devices/%s", dir);
	snprintf(path, sizeof(path), "sys/dev/block/%u:%u", maj, min);
	put_link(path, target);
	snprintf(path, sizeof(path), "sys/class/block/%s", name);
	put_link(path, target);
}

/** One device stands on another. */
static void put_slave(const char *upper_dir, const char *lower_dir)
{
	char path[512], target[300];
	snprintf(path, sizeof(path), "sys/devices/%s/slaves/%s", upper_dir,
	         strrchr(lower_dir, '/') + 1);
	snprintf(target, sizeof(target), "%s/sys/devices/%s", root, lower_dir);
	put_link(path, target);
	snprintf(path, sizeof(path), "sys/devices/%s/holders/%s", lower_dir,
	         strrchr(upper_dir, '/') + 1);
	snprintf(target, sizeof(target), "%s/sys/devices/%s", root, upper_dir);
	put_link(path, target);
}

/** Write an attribute of a device. */
static void put_attr(const char *dir, const char *attr, const char *value)
{
	char path[512];
	snprintf(path, sizeof(path), "sys/devices/%s/%s", dir, attr);
	put(path, "%s\n", value);
}

/** A device with what udev knows of it. */
static void put_udev(unsigned maj, unsigned min, const char *dir, const char *text)
{
	char path[64];
	put_dev(maj, min, dir);
	snprintf(path, sizeof(path), "run/udev/data/b%u:%u", maj, min);
	put(path, "%s", text);
}

/** Assert what is known of a device; "reason" and "uuid_sub" are not compared. */
static void same_tags(const struct devmap_tags *got, struct devmap_tags want, int line)
{
	CU_ASSERT_EQUAL(got->known, want.known);
	CU_ASSERT_EQUAL(got->multi_device, want.multi_device);
	same(got->name, want.name, "name", line);
	same(got->type, want.type, "type", line);
	same(got->usage, want.usage, "usage", line);
	same(got->uuid, want.uuid, "uuid", line);
	same(got->label, want.label, "label", line);
	same(got->partuuid, want.partuuid, "partuuid", line);
	same(got->partlabel, want.partlabel, "partlabel", line);
}

#define TAGS(got, ...) same_tags((got), (struct devmap_tags){__VA_ARGS__}, __LINE__)

#define VIRTUAL "virtual/block/"
#define SDA "pci0000:00/0000:00:1f.2/ata1/host0/target0:0:0/0:0:0:0/block/sda"
#define SDB "pci0000:00/0000:00:1f.2/ata2/host1/target1:0:0/1:0:0:0/block/sdb"

static void test_names(void)
{
	begin();
	put_dev(8, 1, SDA "/sda1");
	put_dev(252, 0, VIRTUAL "dm-0");
	put("sys/devices/" VIRTUAL "dm-0/dm/name", "vg-home\\x20two\n");
	put_dev(252, 1, VIRTUAL "dm-1");
	put("sys/devices/" VIRTUAL "dm-1/dm/name", "../../etc\n");
	put_dev(252, 2, VIRTUAL "dm-2");
	put_bytes("sys/devices/" VIRTUAL "dm-2/dm/name", "a\0b\n", 4);
	put_dev(104, 0, "pci0/block/cciss!c0d0");
	put_dev(104, 1, "pci0/block/..!..!etc");
	put_dev(104, 2, "pci0/block/!etc");
	put_link("sys/dev/block/9:9", "..");

	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
	SAME(devmap_name(map, 8, 1), "/dev/sda1");
	CU_ASSERT_EQUAL(os_calls_total(&os), 1);
	SAME(devmap_name(map, 8, 1), "/dev/sda1");
	CU_ASSERT_EQUAL(os_calls_total(&os), 1);
	SAME(devmap_name(map, 252, 0), "/dev/mapper/vg-home\\x20two");
	/* One call opens the directory of sysfs; without openat2 each file costs one more. */
	CU_ASSERT(os_calls_total(&os) == 6 || !(os.caps & OSC_OPENAT2));
	static const struct {
		unsigned maj, min;
		const char *name;
	} rows[] = {
		{252, 1, "/dev/dm-1"}, {252, 2, "/dev/dm-2"}, {104, 0, "/dev/cciss/c0d0"},
		{104, 1, NULL},
		{104, 2, NULL}, {9, 9, NULL}, {8, 77, NULL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
		SAME(devmap_name(map, rows[i].maj, rows[i].min), rows[i].name);
	uint64_t calls = os_calls_total(&os);
	SAME(devmap_name(map, 0, 33), NULL);
	CU_ASSERT_EQUAL(os_calls_total(&os), calls);
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 77)->known, DEVMAP_NO_DEVICE);
	CU_ASSERT_EQUAL(source_tags(33, "tmpfs")->known, DEVMAP_ANONYMOUS);
	CU_ASSERT_EQUAL(source_tags(33, "/dev/sda1")->known, DEVMAP_ANONYMOUS);
	end();
}

/** Assert that nothing is known of a device. */
static void expect_unknown(unsigned maj, unsigned min)
{
	const char *backing = "?";
	struct devmap_loop loop;
	CU_ASSERT_FALSE(devmap_crypt(map, maj, min));
	CU_ASSERT_FALSE(devmap_protected(map, maj, min));
	CU_ASSERT_FALSE(devmap_remote(map, maj, min));
	CU_ASSERT_FALSE(devmap_loop(map, maj, min, &loop));
	CU_ASSERT_FALSE(dev_backing(maj, min, &backing));
	SAME(backing, NULL);
	CU_ASSERT_PTR_NULL(devmap_part(map, maj, min));
	SAME(devmap_name(map, maj, min), NULL);
	const struct devmap_tags *tags = devmap_tags(map, maj, min);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_NO_DEVICE);
	SAME(tags->type, NULL);
	CU_ASSERT_PTR_NULL(devmap_part(map, maj, min));
	CU_ASSERT_FALSE(devmap_crypt(map, maj, min));
	devmap_mount_avoid(map, &(struct mount){.dev_major = maj, .dev_minor = min});
}

static void test_unknown(void)
{
	begin();
	put_dev(252, 0, "virtual/block/dm-0");
	put("sys/devices/virtual/block/dm-0/dm/uuid", "CRYPT-LUKS2-x\n");
	CU_ASSERT_TRUE(devmap_crypt(map, 252, 0));
	expect_unknown(250, 77);
	/* Links of sysfs whose targets have no name. */
	put_link("sys/dev/block/250:78", "..");
	put_link("sys/dev/block/250:79", "../../devices/");
	expect_unknown(250, 78);
	expect_unknown(250, 79);
	end();

	/* Without /sys, and without all three directories. */
	for (int i = 0; i < 2; ++i) {
		begin();
		char path[128];
		snprintf(path, sizeof(path), "%s/sys", root);
		CU_ASSERT_EQUAL(rmdir(path), 0);
		if (i == 1) {
			devmap_free(map);
			map = devmap_new(&os, &(struct devmap_roots){0});
		}
		expect_unknown(252, 0);
		expect_unknown(8, 1);
		end();
	}
}

static void test_udev(void)
{
	begin();
	put_dev(8, 1, SDA "/sda1");
	put("sys/devices/" SDA "/sda1/partition", "1\n");
	put("run/udev/data/b8:1",
	    "S:disk/by-uuid/x\nI:123\nE:ID_FS_LABEL=two_words\n"
	    "E:ID_FS_LABEL_ENC=two\\x20\\xc3\\xa4\\x5c\nE:ID_FS_UUID=plain\n"
	    "E:ID_FS_UUID_ENC=AB-CD\nE:ID_FS_TYPE=vfat\nE:ID_FS_USAGE=filesystem\n"
	    "E:ID_PART_ENTRY_UUID=deadbeef-01\nE:ID_PART_ENTRY_NAME=EFI\\x20System\n"
	    "E:=\nE:ID_FS_TYPE\nE:ID_FS_TYPE=later\nG:systemd");
	const struct devmap_tags *tags = devmap_tags(map, 8, 1);
	TAGS(tags, .known = DEVMAP_KNOWN, .name = "/dev/sda1", .type = "vfat",
	     .usage = "filesystem", .uuid = "AB-CD", .label = "two \xc3\xa4\\",
	     .partuuid = "deadbeef-01", .partlabel = "EFI System");
	uint64_t calls = os_calls_total(&os);
	CU_ASSERT_PTR_EQUAL(devmap_tags(map, 8, 1), tags);
	CU_ASSERT_EQUAL(os_calls_total(&os), calls);

	/* Without the encoded forms; two signatures; a path of a multipath. */
	put_udev(8, 2, SDA "/sda2", "E:ID_FS_TYPE=mpath_member\nE:ID_FS_UUID=u\\x20\n");
	tags = devmap_tags(map, 8, 2);
	SAME(tags->uuid, "u\\x20");
	SAME(tags->usage, "raid");
	put_udev(8, 3, SDA "/sda3", "E:ID_FS_AMBIVALENT=other:a other:b\n");
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 3)->known, DEVMAP_AMBIVALENT);
	put_udev(8, 4, SDA "/sda4", "E:DM_MULTIPATH_DEVICE_PATH=1\n");
	tags = devmap_tags(map, 8, 4);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_UNSAFE);
	SAME(tags->reason, "path of a multipath");
	end();
}

static void test_udev_hostile(void)
{
	begin();
	put_dev(8, 1, SDA "/sda1");
	static char big[3 << 20];
	memset(big, 'A', sizeof(big));
	/* A long line is skipped; a value with a NUL is dropped. */
	size_t n = (size_t)snprintf(big, sizeof(big), "E:ID_FS_TYPE=ext4\nE:ID_FS_LABEL_ENC=");
	big[n] = 'A';
	n = 200000;
	n += (size_t)snprintf(big + n, sizeof(big) - n,
	                      "\nE:ID_FS_UUID_ENC=a\\x00b\nE:ID_PART_ENTRY_UUID=");
	memcpy(big + n, "x\0y\nE:ID_PART_ENTRY_NAME=\\xZZ\\x4\n", 34);
	put_bytes("run/udev/data/b8:1", big, n + 34);
	const struct devmap_tags *tags = devmap_tags(map, 8, 1);
	TAGS(tags, .known = tags->known, .name = "/dev/sda1", .type = "ext4",
	     .usage = tags->usage, .partlabel = "\\xZZ\\x4");

	put_dev(8, 2, SDA "/sda2");
	put_bytes("run/udev/data/b8:2", big, sizeof(big));
	tags = devmap_tags(map, 8, 2);
	SAME(tags->type, NULL);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_NO_NODE);

	/* A plain file, a FIFO or another device in its place is not opened. */
	put_dev(8, 3, SDA "/sda3");
	put("dev/sda3", "not a device");
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 3)->known, DEVMAP_NO_NODE);
	put_dev(8, 4, SDA "/sda4");
	char path[128];
	snprintf(path, sizeof(path), "%s/dev/sda4", root);
	CU_ASSERT_EQUAL(mkfifo(path, 0600), 0);
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 4)->known, DEVMAP_NO_NODE);
	put_dev(8, 5, SDA "/sda5");
	snprintf(path, sizeof(path), "%s/dev/sda5", root);
	if (mknod(path, S_IFBLK | 0600, makedev(7, 250)) == 0)
		CU_ASSERT_EQUAL(devmap_tags(map, 8, 5)->known, DEVMAP_NO_NODE);
	end();
}

static void test_cache(void)
{
	begin();
	for (unsigned i = 1; i <= 5; ++i) {
		char dir[128];
		snprintf(dir, sizeof(dir), SDA "/sda%u", i);
		put_dev(8, i, dir);
	}
	put("run/blkid/blkid.tab",
	    "<device DEVNO=\"0x0801\" TIME=\"10.5\" UUID=\"old\" TYPE=\"xfs\">/dev/x</device>\n"
	    "<device DEVNO=\"0x0801\" TIME=\"20.1\" LABEL=\"a\\\"b\\\\ >\\x20$c\" UUID=\"new\" "
	    "PARTLABEL=\"p\" TYPE=\"ext4\">/dev/sda1</device>\n<device DEVNO=\"0x0802\" TIME=\"1\" "
	    "UUID=\"lvm\" TYPE=\"LVM2_member\">/dev/sda2</device>\n<device DEVNO=\"0x0805\" "
	    "UUID=\"\\\\x41\\x5cx42\\x43\" TYPE=\"ext4\">/dev/sda5</device>\n<device "
	    "DEVNO=\"0x0803\" TIME=\"1\" UUID=\"cut\n<device DEVNO=\"zz\" TYPE=\"x\">\n<device "
	    "\n<other DEVNO=\"0x0803\" TYPE=\"x\">\n");
	const struct devmap_tags *tags = devmap_tags(map, 8, 1);
	TAGS(tags, .known = DEVMAP_KNOWN, .name = "/dev/sda1", .type = "ext4",
	     .usage = "filesystem", .uuid = "new", .label = "a\"b\\ > $c", .partlabel = "p");
	tags = devmap_tags(map, 8, 2);
	SAME(tags->usage, "raid");
	tags = devmap_tags(map, 8, 3);
	SAME(tags->type, NULL);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_NO_NODE);
	/* Escapes are decoded once. */
	SAME(devmap_tags(map, 8, 5)->uuid, "\\x41\\x42C");
	/* udev has priority. */
	put("run/udev/data/b8:4", "E:ID_FS_TYPE=btrfs\n");
	SAME(devmap_tags(map, 8, 4)->type, "btrfs");
	end();
}

/** Assert that a device is not probed for a reason, and whether it blocks; without a reason, that
    it would be probed (the trees have no nodes). */
static void unsafe(unsigned maj, unsigned min, const char *reason, bool blocks)
{
	const struct devmap_tags *tags = devmap_tags(map, maj, min);
	CU_ASSERT_EQUAL(tags->known, reason ? DEVMAP_UNSAFE : DEVMAP_NO_NODE);
	SAME(tags->reason, reason);
	CU_ASSERT_EQUAL(dev_blocks(maj, min), blocks);
}

/** A device of a tree and what is expected of it. */
struct dev_row {
	unsigned maj, min;
	const char *dir, *attr, *value;   /* an attribute; NULL: none */
	const char *below;                /* the device that it is on; NULL: none */
	const char *reason;               /* not to probe it; NULL: none */
	bool blocks;
};

/** Make all devices of a table, then check each. */
static void check_devs(const struct dev_row *rows, size_t n)
{
	for (size_t i = 0; i < n; ++i) {
		put_dev(rows[i].maj, rows[i].min, rows[i].dir);
		if (rows[i].attr)
			put_attr(rows[i].dir, rows[i].attr, rows[i].value);
	}
	for (size_t i = 0; i < n; ++i) {
		if (rows[i].below)
			put_slave(rows[i].dir, rows[i].below);
	}
	for (size_t i = 0; i < n; ++i)
		unsafe(rows[i].maj, rows[i].min, rows[i].reason, rows[i].blocks);
}

#define LVM "LVM-0123456789012345678901234567890123456789012345678901234567890123"

static void test_members(void)
{
	static const struct dev_row rows[] = {
		{8, 0, SDA, "device/state", "running", NULL, NULL, false},
		{8, 16, "pci0/block/sdb", NULL, NULL, NULL, "path of a multipath", false},
		{8, 17, "pci0/block/sdb/sdb1", "partition", "1", NULL, "path of a multipath",
		 false},
		{252, 0, VIRTUAL "dm-0", "dm/uuid", "mpath-3600", "pci0/block/sdb", NULL, false},
		{8, 32, "pci0/block/sdc", NULL, NULL, NULL, "member of md", false},
		{9, 127, VIRTUAL "md127", "md/array_state", "clean", "pci0/block/sdc", NULL, false},
		{8, 48, "pci0/block/sdd", NULL, NULL, NULL, "member of LVM", false},
		{252, 1, VIRTUAL "dm-1", "dm/uuid", LVM, "pci0/block/sdd", NULL, false},
		{252, 2, VIRTUAL "dm-2", "dm/uuid", LVM "-tmeta", NULL, "internal to LVM", false},
		{8, 64, "pci0/block/sde", "bcache/state", "clean", NULL, "member of bcache", false},
		{251, 0, VIRTUAL "bcache0", "bcache/state", "clean", NULL, NULL, false},
		{8, 80, "usb1/block/sdf", "removable", "1", NULL, "removable media", false},
		{8, 81, "usb1/block/sdf/sdf1", "partition", "1", NULL, "removable media", false},
		{252, 3, VIRTUAL "dm-3", NULL, NULL, "usb1/block/sdf/sdf1", "removable media",
		 false},
		{1, 0, "pci0/block/none", "size", "0", NULL, "size 0", false},
	};
	begin();
	check_devs(rows, sizeof(rows) / sizeof(*rows));
	end();
}

static void test_blocks(void)
{
	static const struct dev_row rows[] = {
		{43, 0, VIRTUAL "nbd0", NULL, NULL, NULL, "remote", true},
		{251, 0, "rbd/0/block/rbd0", NULL, NULL, NULL, "remote", true},
		{147, 0, VIRTUAL "drbd0", NULL, NULL, NULL, "remote", true},
		{8, 0, "platform/host3/session1/target3:0:0/3:0:0:0/block/sda", NULL, NULL, NULL,
		 "remote", true},
		{8, 208, "platform/session/session12x/block/sdn", NULL, NULL, NULL, NULL, false},
		{259, 0, "pci0/nvme/nvme0/nvme0n1", "device/transport", "pcie", NULL, NULL, false},
		{259, 1, "virtual/nvme-fabrics/ctl/nvme1/nvme1n1", "device/transport", "tcp", NULL,
		 "remote", true},
		{259, 2, "virtual/nvme-subsystem/nvme-subsys2/nvme2n1", "device/nvme2/transport",
		 "rdma", NULL, "remote", true},
		{259, 3, "virtual/nvme-subsystem/nvme-subsys3/nvme3n1", "device/nvme3/state",
		 "connecting", NULL, "no live controller", true},
		{8, 16, "pci0/block/sdb", "device/state", "offline", NULL, "offline", true},
		{8, 17, "pci0/block/sdb/sdb1", "partition", "1", NULL, "offline", true},
		{252, 0, VIRTUAL "dm-0", "dm/suspended", "1", NULL, "suspended", true},
		{252, 1, VIRTUAL "dm-1", "dm/suspended", "0", VIRTUAL "dm-0", "suspended", true},
		{8, 32, "pci0/block/sdc", NULL, NULL, NULL, "member of md", false},
		{9, 0, VIRTUAL "md0", "md/array_state", "active", VIRTUAL "nbd0", "remote", true},
		{9, 1, VIRTUAL "md1", "md/array_state", "suspended", NULL, "array not active",
		 true},
		/* A multipath blocks when its last path does. */
		{8, 48, "pci0/block/sdd", NULL, NULL, NULL, "path of a multipath", false},
		{252, 2, VIRTUAL "dm-2", "dm/uuid", "mpath-a", "pci0/block/sdd", NULL, false},
		{252, 3, VIRTUAL "dm-3", "dm/uuid", "mpath-b", "pci0/block/sdb", "no working path",
		 true},
		{252, 4, VIRTUAL "dm-4", "dm/uuid", "mpath-c", VIRTUAL "nbd0", "remote", true},
	};
	begin();
	put_attr("virtual/nvme-subsystem/nvme-subsys3/nvme3n1", "device/nvme3/transport", "pcie");
	put_attr("pci0/nvme/nvme0/nvme0n1", "device/state", "live");
	put_slave(VIRTUAL "md0", "pci0/block/sdc");
	put_slave(VIRTUAL "dm-2", "pci0/block/sdb");
	put_slave(VIRTUAL "dm-4", "pci0/block/sdd");
	check_devs(rows, sizeof(rows) / sizeof(*rows));

	/* Device mapper reports a failed path, sysfs does not. */
	static const struct {
		const char *status;
		bool failed;
	} paths[] = {
		{"2 0 0 0 1 1 E 0 2 1 8:16 F 3 1 8:32 F 2 1 ", true},
		{"2 0 0 0 1 1 A 0 2 1 8:16 F 3 1 8:32 A 2 1 ", false},
		{"2 0 0 0 2 1 E 0 1 1 8:16 F 3 1 A 0 1 1 8:32 F 2 1 ", true},
		{"2 0 0 0 2 2 E 0 1 1 8:16 F 3 1 A 0 1 1 259:1048575 A 0 1 ", false},
		{"2 0 0 0 1 1 E 0 1 0 8:16 F 1", true},
		{"2 0 0 0 0 1 ", false},     /* sysfs reports that there is no path */
		{"", false}, {"8:16", false}, {"F", false}, {"8: F", false}, {":1 F", false},
		{"8:1x F", false},
	};
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); ++i)
		CU_ASSERT_EQUAL(devmap_paths_failed(paths[i].status), paths[i].failed);

	/* A cycle ends; a chain that is too long counts as blocking. */
	put_dev(252, 10, VIRTUAL "dm-10");
	put_dev(252, 11, VIRTUAL "dm-11");
	put_slave(VIRTUAL "dm-10", VIRTUAL "dm-11");
	put_slave(VIRTUAL "dm-11", VIRTUAL "dm-10");
	CU_ASSERT_FALSE(dev_blocks(252, 10));
	for (unsigned i = 0; i < 40; ++i) {
		char upper[64], lower[64];
		snprintf(upper, sizeof(upper), VIRTUAL "dm-%u", 100 + i);
		snprintf(lower, sizeof(lower), VIRTUAL "dm-%u", 101 + i);
		put_dev(252, 100 + i, upper);
		put_slave(upper, lower);
	}
	put_dev(252, 140, VIRTUAL "dm-140");
	CU_ASSERT_FALSE(dev_blocks(252, 130));
	CU_ASSERT_TRUE(dev_blocks(252, 100));
	/* The device below is gone. */
	put_dev(252, 20, VIRTUAL "dm-20");
	put_link("sys/devices/" VIRTUAL "dm-20/slaves/gone", "../../gone");
	unsafe(252, 20, "on an unknown device", true);
	CU_ASSERT_FALSE(dev_blocks(0, 5));
	CU_ASSERT_FALSE(dev_blocks(8, 250));
	end();
}

static bool judge(void *arg, const char *path, uint32_t major, uint32_t minor)
{
	(void)major, (void)minor;
	return strstr(path, arg);
}

static void test_remote(void)
{
	begin();
	put_dev(43, 0, VIRTUAL "nbd0");
	put_dev(252, 0, VIRTUAL "dm-0");
	put_slave(VIRTUAL "dm-0", VIRTUAL "nbd0");
	put_dev(8, 0, "pci0/block/sda");
	put_dev(252, 1, VIRTUAL "dm-1");
	put("sys/devices/" VIRTUAL "dm-1/dm/suspended", "1\n");
	put_slave(VIRTUAL "dm-1", "pci0/block/sda");
	put_dev(230, 0, VIRTUAL "zd0");
	CU_ASSERT_TRUE(devmap_remote(map, 43, 0));
	CU_ASSERT_TRUE(devmap_remote(map, 252, 0));
	CU_ASSERT_FALSE(devmap_remote(map, 8, 0));
	CU_ASSERT_FALSE(devmap_remote(map, 252, 1));   /* it blocks, but is local */
	CU_ASSERT_FALSE(devmap_remote(map, 230, 0));
	CU_ASSERT_TRUE(dev_blocks(230, 0));
	CU_ASSERT_FALSE(devmap_remote(map, 0, 5));
	end();
}

static void test_loop(void)
{
	begin();
	static char name[] = "/nfs/";
	devmap_set_judge(map, judge, name);
	const char *backing;
	put_dev(7, 0, VIRTUAL "loop0");
	put("sys/devices/" VIRTUAL "loop0/loop/backing_file", "/srv/a b.img (deleted)\n");
	CU_ASSERT_FALSE(dev_backing(7, 0, &backing));
	SAME(backing, "/srv/a b.img (deleted)");
	unsafe(7, 0, NULL, false);
	put_dev(259, 0, VIRTUAL "loop0/loop0p1");
	put("sys/devices/" VIRTUAL "loop0/loop0p1/partition", "1\n");
	CU_ASSERT_FALSE(dev_backing(259, 0, &backing));
	SAME(backing, "/srv/a b.img (deleted)");
	struct devmap_loop loop = {0};
	put("sys/devices/" VIRTUAL "loop0/loop/offset", "1048576\n");
	put("sys/devices/" VIRTUAL "loop0/loop/sizelimit", "4096\n");
	CU_ASSERT_TRUE(devmap_loop(map, 259, 0, &loop));
	SAME(loop.file, "/srv/a b.img (deleted)");
	CU_ASSERT_TRUE(loop.partition);
	CU_ASSERT_TRUE(devmap_loop(map, 7, 0, &loop));
	CU_ASSERT_FALSE(loop.partition);
	CU_ASSERT_EQUAL(loop.offset, 1048576);
	CU_ASSERT_EQUAL(loop.limit, 4096);
	put_dev(7, 1, VIRTUAL "loop1");
	unsafe(7, 1, "no backing file", false);
	CU_ASSERT_FALSE(devmap_loop(map, 7, 1, &loop));
	CU_ASSERT_FALSE(devmap_loop(map, 0, 1, &loop));
	CU_ASSERT_FALSE(dev_backing(7, 1, &backing));
	SAME(backing, NULL);
	put_bytes("sys/devices/" VIRTUAL "loop4/loop/backing_file", "/a\0b\n", 5);
	static const struct dev_row rows[] = {
		{43, 0, VIRTUAL "nbd0", NULL, NULL, NULL, "remote", true},
		{7, 2, VIRTUAL "loop2", "loop/backing_file", "/dev/nbd0", NULL, "remote", true},
		{7, 3, VIRTUAL "loop3", "loop/backing_file", "/nfs/x.img", NULL,
		 "on a file that can block", true},
		{7, 4, VIRTUAL "loop4", NULL, NULL, NULL, "on an unknown file", true},
	};
	check_devs(rows, sizeof(rows) / sizeof(*rows));
	put_dev(7, 5, VIRTUAL "loop5");
	put("sys/devices/" VIRTUAL "loop5/loop/backing_file", "/dev/../nfs\n");
	CU_ASSERT_FALSE(dev_backing(7, 5, &backing));
	SAME(backing, "/dev/../nfs");

	/* A new judge applies to devices that counted as local. */
	put_dev(7, 6, VIRTUAL "loop6");
	put("sys/devices/" VIRTUAL "loop6/loop/backing_file", "/cifs/x.img\n");
	put_dev(252, 0, VIRTUAL "dm-0");
	put_slave(VIRTUAL "dm-0", VIRTUAL "loop6");
	CU_ASSERT_FALSE(mount_blocks(252, 0, NULL));
	CU_ASSERT_FALSE(dev_backing(7, 6, &backing));
	static char other[] = "/cifs/";
	devmap_set_judge(map, judge, other);
	CU_ASSERT_TRUE(mount_blocks(252, 0, NULL));
	unsafe(7, 6, "on a file that can block", true);
	end();
}

/** Append a file, in brackets. */
static void note_file(void *arg, const struct devmap_file *file)
{
	char *names = arg;
	size_t n = strlen(names);
	snprintf(names + n, 256 - n, "(%u:%u %s)", file->major, file->minor, file->path);
}

/* The files below a device: through dm, a device of a loop, zram, and a device of a btrfs. */
static void test_files(void)
{
	begin();
	static const char *const files[] = {"/srv/a.img", "/gone/b.img (deleted)",
	                                    "/c.img (deleted)", "/dev/dm-0", "/d.img"};
	for (unsigned i = 0; i < 5; ++i) {
		char dir[64], path[128];
		snprintf(dir, sizeof(dir), VIRTUAL "loop%u", i);
		put_dev(7, i, dir);
		snprintf(path, sizeof(path), "sys/devices/%s/loop/backing_file", dir);
		put(path, "%s\n", files[i]);
	}
	put_dev(252, 0, VIRTUAL "dm-0");
	put_slave(VIRTUAL "dm-0", VIRTUAL "loop0");
	put_dev(252, 1, VIRTUAL "dm-1");
	put_slave(VIRTUAL "dm-1", VIRTUAL "loop3");
	put_slave(VIRTUAL "dm-1", VIRTUAL "loop1");
	put_dev(251, 0, VIRTUAL "zram0");
	put("sys/devices/" VIRTUAL "zram0/backing_dev", "/dev/loop2\n");
	put_link("sys/fs/btrfs/" "01234567-89ab-cdef-0123-456789abcde0" "/devices/zram0",
	         "../../../../devices/" VIRTUAL "zram0");
	put_link("sys/fs/btrfs/" "01234567-89ab-cdef-0123-456789abcde0" "/devices/loop4",
	         "../../../../devices/" VIRTUAL "loop4");
	char names[256] = "";
	CU_ASSERT_FALSE(mount_blocks(252, 1, NULL));
	devmap_mount_files(map, &(struct mount){.dev_major = 252, .dev_minor = 1}, note_file,
	                   names);
	bool both = strstr(names, "(7:3 /dev/dm-0)(7:0 /srv/a.img)")
	            && strstr(names, "(7:1 /gone)");
	CU_ASSERT_TRUE(both);
	*names = '\0';
	CU_ASSERT_FALSE(mount_blocks(0, 40, "/dev/loop4"));
	devmap_mount_files(map, &(struct mount){.fstype = "btrfs", .source = "/dev/loop4"},
	                   note_file, names);
	SAME(names, "(7:4 /d.img)(7:2 /)");

	put_dev(251, 1, VIRTUAL "zram1");
	put("sys/devices/" VIRTUAL "zram1/backing_dev", "none\n");
	CU_ASSERT_FALSE(dev_blocks(251, 1));
	put_dev(251, 2, VIRTUAL "zram2");
	put("sys/devices/" VIRTUAL "zram2/backing_dev", "/dev/nbd7\n");
	unsafe(251, 2, "on an unknown device", true);
	put_dev(43, 7, VIRTUAL "nbd7");
	put_dev(251, 3, VIRTUAL "zram3");
	put("sys/devices/" VIRTUAL "zram3/backing_dev", "/dev/nbd7\n");
	unsafe(251, 3, "remote", true);
	end();
}

static void test_btrfs(void)
{
	begin();
	uint32_t maj = 1, min = 1;
#define UUID "01234567-89ab-cdef-0123-456789abcdef"
	put_dev(8, 1, SDA "/sda1");
	put_dev(8, 2, SDA "/sda2");
	put("sys/fs/btrfs/features/x", "1\n");
	put("sys/fs/btrfs/" UUID "/label", "pool\n");
	put_link("sys/fs/btrfs/" UUID "/devices/sda1", "../../../../devices/" SDA "/sda1");
	put_link("sys/fs/btrfs/" UUID "/devices/sda2", "../../../../devices/" SDA "/sda2");
	const struct devmap_tags *tags = source_tags(40, "/dev/sda1");
	TAGS(tags, .known = DEVMAP_KNOWN, .name = "/dev/sda1", .type = "btrfs",
	     .usage = tags->usage, .uuid = UUID, .label = "pool",
	              .multi_device = true);
	CU_ASSERT_PTR_EQUAL(devmap_tags(map, 8, 1), tags);
	CU_ASSERT_TRUE(devmap_mount_device(map, &MOUNT("/dev/sda2"), &maj, &min));
	CU_ASSERT_TRUE(maj == 8 && min == 2);
	CU_ASSERT_FALSE(mount_blocks(0, 40, "/dev/sda1"));

	/* With one remote device the file system is remote. */
#define UUID2 "11234567-89ab-cdef-0123-456789abcdef"
	put_dev(8, 3, SDA "/sda3");
	put_dev(43, 0, VIRTUAL "nbd0");
	put("sys/fs/btrfs/" UUID2 "/temp_fsid", "1\n");
	put_link("sys/fs/btrfs/" UUID2 "/devices/sda3", "../../../../devices/" SDA "/sda3");
	put_link("sys/fs/btrfs/" UUID2 "/devices/nbd0", "../../../../devices/" VIRTUAL "nbd0");
	CU_ASSERT_TRUE(mount_blocks(0, 41, "/dev/sda3"));
	CU_ASSERT_FALSE(dev_blocks(8, 3));
	/* The kernel made up its UUID. */
	CU_ASSERT_EQUAL(source_tags(41, "/dev/sda3")->known, DEVMAP_ANONYMOUS);
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 3)->known, DEVMAP_NO_NODE);

	/* The name of a dm device that has no node. */
	put_dev(252, 7, VIRTUAL "dm-7");
	put("sys/devices/" VIRTUAL "dm-7/dm/name", "luks-root\n");
	CU_ASSERT_TRUE(devmap_mount_device(map, &MOUNT("/dev/mapper/luks-root"), &maj, &min));
	CU_ASSERT_EQUAL(min, 7);

	static const char *const bad[] = {
		"/dev/../etc/passwd", "/dev/", "/dev//sda1", "/dev/./sda1", "/dev/fd/0",
		"/dev/stdin", "/dev/nothing",
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); ++i) {
		CU_ASSERT_FALSE(devmap_mount_device(map, &MOUNT(bad[i]), &maj, &min));
		CU_ASSERT_TRUE(mount_blocks(0, 43, bad[i]));
	}
	CU_ASSERT_FALSE(devmap_mount_device(map, &MOUNT(NULL), &maj, &min));
	CU_ASSERT_FALSE(mount_blocks(0, 43, "tmpfs"));
	end();
}

/** Logs and real-time data on other devices: XFS by its options, ext4 by /proc/fs/jbd2. */
static void test_journals(void)
{
	static const struct {
		const char *options, *type;
		unsigned minor;
		bool blocks;
		const char *files;
	} rows[] = {
		{"rw,attr2,noquota", "xfs", 0, false, ""},
		{NULL, "xfs", 0, true, ""},
		{"rw,logdev=/dev/sda2,noquota", "xfs", 0, false, ""},
		{"rw,logdev=/dev/loop1", "xfs", 0, false, "(7:1 /srv/log)"},
		{"rw,rtdev=/dev/loop1", "xfs", 0, false, "(7:1 /srv/log)"},
		{"rw,logdev=/dev/mapper/a\\040b", "xfs", 0, true, ""},   /* on nbd0 */
		{"rw,logdev=/dev/sda2,rtdev=/dev/nbd0", "xfs", 0, true, ""},
		{"rw,logdev=/dev/gone", "xfs", 0, true, ""},
		{"rw,logdev=sda2", "xfs", 0, true, ""},
		{"rw", "ext4", 1, false, ""},                   /* internal */
		{"rw", "ext3", 2, true, ""},                    /* one of three */
		{"rw", "ext4", 3, false, ""},                   /* no journal */
		{"rw", "vfat", 2, false, ""},
	};
	char names[256];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		begin();
		put_dev(8, 0, SDA);
		put_dev(8, 1, SDA "/sda1");
		put_dev(8, 2, SDA "/sda2");
		put_dev(8, 3, SDA "/sda3");
		put_dev(43, 0, VIRTUAL "nbd0");
		put_dev(7, 1, VIRTUAL "loop1");
		put_attr(VIRTUAL "loop1", "loop/backing_file", "/srv/log");
		put_dev(252, 0, VIRTUAL "dm-0");
		put_attr(VIRTUAL "dm-0", "dm/name", "a b");
		put_slave(VIRTUAL "dm-0", VIRTUAL "nbd0");
		put("sys/fs/ext4/sda3/journal_task", "<none>\n");
		put("sys/fs/ext4/sda2/journal_task", "77\n");
		put_bytes("proc/fs/jbd2/sda1-8/info", "", 0);
		put_bytes("proc/fs/jbd2/dm-0/info", "", 0);
		put_bytes("proc/fs/jbd2/dm-0-8/info", "", 0);
		put_bytes("proc/fs/jbd2/loop1/info", "", 0);
		struct mount m = {
			.dev_major = 8, .dev_minor = rows[i].minor, .fstype = rows[i].type,
			.source = "/dev/nbd0", .fs_opts = rows[i].options,
		};
		bool blocks = devmap_mount_blocks(map, &m);
		if (blocks != rows[i].blocks)
			fprintf(stderr, "%s %s\n", rows[i].type, rows[i].options);
		CU_ASSERT_EQUAL(blocks, rows[i].blocks);
		*names = '\0';
		if (!blocks)
			devmap_mount_files(map, &m, note_file, names);
		SAME(names, blocks ? "" : rows[i].files);
		end();
	}

	/* One external journal on a local device; one on a device that sysfs does not have. */
	static const char *const journals[] = {"loop1", "sda!gone", "sda-8"};
	for (unsigned i = 0; i < 3; ++i) {
		begin();
		put_dev(8, 1, SDA "/sda1");
		put_dev(7, 1, VIRTUAL "loop1");
		char path[64];
		snprintf(path, sizeof(path), "proc/fs/jbd2/%s/info", journals[i]);
		put_bytes(path, "", 0);
		struct mount m = {.dev_major = 8, .dev_minor = 1, .fstype = "ext4"};
		CU_ASSERT_EQUAL(devmap_mount_blocks(map, &m), i == 1);
		CU_ASSERT_EQUAL(devmap_mount_blocks(map, &m), i == 1);
		end();
	}
}

static void test_list(void)
{
	begin();
	struct devmap_device *list = NULL;
	bool whole = false;
	CU_ASSERT_EQUAL(devmap_list(map, false, &list, &whole), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	put_udev(8, 2, SDA "/sda2", "E:ID_FS_TYPE=xfs\nE:ID_FS_USAGE=filesystem\n");
	put_udev(8, 1, SDA "/sda1", "E:ID_FS_TYPE=ext4\n");
	put_udev(8, 3, SDA "/sda3", "E:ID_FS_TYPE=swap\nE:ID_FS_USAGE=other\n");
	put_udev(8, 4, SDA "/sda4", "E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_USAGE=raid\n");
	put_udev(1, 0, VIRTUAL "ram0", "E:ID_FS_TYPE=ext4\n");
	put_dev(7, 0, VIRTUAL "loop0");
	put_dev(8, 5, SDA "/sda5");
	put("sys/devices/" SDA "/sda5/size", "0\n");
	put("run/udev/data/b8:5", "E:ID_FS_TYPE=ext4\n");
	put("sys/class/block/odd/dev", "12:34:56\n");
	put("sys/class/block/odd/size", "1\n");
	put("sys/module/zfs/version", "2\n");
	put_dev(8, 6, SDA "/sda6");
	CU_ASSERT_EQUAL_FATAL(devmap_list(map, false, &list, &whole), 2);
	CU_ASSERT_EQUAL(list[0].minor, 1);
	SAME(list[0].tags->name, "/dev/sda1");
	SAME(list[1].tags->type, "xfs");
	free(list);
	CU_ASSERT_EQUAL_FATAL(devmap_list(map, true, &list, &whole), 4);
	SAME(list[2].tags->type, "swap");
	SAME(list[3].tags->usage, "raid");
	free(list);
	/* The directory of sysfs and one file of udev for each of the four; no device. */
	CU_ASSERT(os.calls[OS_OPENAT] == 5 || !(os.caps & OSC_OPENAT2));
	/* With zfs loaded, a device is probed only on request. */
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 6)->known, DEVMAP_NO_NODE);
	end();
}

/** Devices that show the identifiers of another device, or none. */
static void test_part(void)
{
	begin();
	struct devmap_device *list = NULL;
	bool whole = false;
	static const struct {
		unsigned minor;
		const char *udev, *part;
	} parts[] = {
		{1, "E:ID_FS_TYPE=none\nE:DM_MULTIPATH_DEVICE_PATH=1\nE:DM_SUSPENDED=1\n"
		 "E:ID_PART_ENTRY_UUID=u\n", "path of a multipath"},
		{2, "E:ID_FS_TYPE=linux_raid_member\nE:ID_FS_USAGE=raid\n",
		 "member of another device"},
		{3, "E:ID_FS_TYPE=zfs_member\nE:ID_FS_USAGE=filesystem\n",
		 "member of another device"},
		{4, "E:ID_FS_TYPE=ext4\nE:ID_FS_UUID_SUB=a\\x20b\nE:ID_FS_UUID_SUB_ENC=a\\x20b\n",
		 NULL},
		{5, "E:ID_FS_TYPE=xfs\n", "path of a multipath"},   /* by sysfs */
		{6, "E:ID_FS_TYPE=xfs\n", "member of md"},
		{7, "E:ID_FS_TYPE=crypto_LUKS\nE:ID_FS_USAGE=crypto\n", NULL},
		{8, "E:ID_FS_TYPE=_member\n", NULL},
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); ++i) {
		char place[128];
		snprintf(place, sizeof(place), SDA "/sda%u", parts[i].minor);
		put_udev(8, parts[i].minor, place, parts[i].udev);
	}
	put("sys/devices/" SDA "/sda5/holders/dm-3/dm/uuid", "mpath-3600\n");
	put("sys/devices/" SDA "/sda6/holders/md0/dev", "9:0\n");
	put("sys/devices/" SDA "/sda7/holders/dm-4/dm/uuid", "CRYPT-LUKS2-x\n");
	/* A partition of a member, and one that holds nothing. */
	put_dev(8, 16, SDB);
	put("run/udev/data/b8:16", "E:ID_FS_TYPE=isw_raid_member\nE:ID_FS_USAGE=raid\n");
	put_dev(8, 17, SDB "/sdb1");
	put("sys/devices/" SDB "/sdb1/partition", "1\n");
	put("run/udev/data/b8:17", "E:DM_NOSCAN=1\nE:ID_PART_ENTRY_NAME=name\n");
	CU_ASSERT_PTR_NULL(devmap_part(map, 8, 2));
	CU_ASSERT_EQUAL_FATAL(devmap_list(map, true, &list, &whole), 10);
	SAME(list[9].tags->partlabel, "name");
	SAME(list[3].tags->uuid_sub, "a b");
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); ++i)
		SAME(devmap_part(map, 8, parts[i].minor), parts[i].part);
	SAME(devmap_part(map, 8, 17), "member of another device");
	free(list);
	end();
}

/* Real devices. */

/** Make a file of so many MiB below root. */
static void image(char *path, size_t size, const char *name, unsigned mib)
{
	snprintf(path, size, "%s/%s", root, name);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)mib << 20) != 0)
		abort();
	close(fd);
}

__attribute__((format(printf, 1, 2)))
static bool run(const char *format, ...)
{
	char command[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	return system(command) == 0;
}

/** A new map of this machine, without its caches. */
static void forget(void)
{
	devmap_free(map);
	map = devmap_new(&os, &(struct devmap_roots){"/sys", roots.run, "/dev", "/proc"});
	if (!map)
		abort();
}

static void begin_real(void)
{
	begin();
	forget();
}

static bool can_loop(void)
{
	return geteuid() == 0 && access("/dev/loop-control", W_OK) == 0;
}

static void test_real_ext4(void)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	begin_real();
	char path[128];
	struct loop loop = {.fd = -1};
	image(path, sizeof(path), "ext4.img", 16);
	bool made = run("mkfs.ext4 -q -F -U 11111111-2222-3333-4444-555555555555 -L 'a\"b\\ $c' %s",
	                path)
	            && loop_open(&loop, path);
	if (!made) {
		end();
		UNIT_SKIP("no mkfs.ext4, or no loop device free");
	}
	const char *backing = NULL;
	SAME(devmap_name(map, 7, loop.minor), loop.path);
	CU_ASSERT_FALSE(dev_backing(7, loop.minor, &backing));
	SAME(backing, path);
	const struct devmap_tags *tags = devmap_tags(map, 7, loop.minor);
	TAGS(tags, .known = DEVMAP_KNOWN, .name = loop.path, .type = "ext4",
	     .usage = "filesystem", .uuid = "11111111-2222-3333-4444-555555555555",
	     .label = "a\"b\\ $c");

	struct devmap_device *list = NULL;
	bool whole;
	ssize_t n = devmap_list(map, false, &list, &whole);
	bool listed = false;
	for (ssize_t i = 0; i < n; ++i)
		listed |= list[i].tags == tags;
	CU_ASSERT_TRUE(listed);
	free(list);

	/* With the signature of a squashfs as well. */
	forget();
	char squashfs[96] = "hsqs";
	squashfs[28] = 4;
	CU_ASSERT_EQUAL(pwrite(loop.fd, squashfs, sizeof(squashfs), 0), (ssize_t)sizeof(squashfs));
	fsync(loop.fd);
	tags = devmap_tags(map, 7, loop.minor);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_AMBIVALENT);
	SAME(tags->type, NULL);

	/* An empty device. */
	forget();
	static char zero[1 << 20];
	CU_ASSERT_EQUAL(pwrite(loop.fd, zero, sizeof(zero), 0), (ssize_t)sizeof(zero));
	fsync(loop.fd);
	tags = devmap_tags(map, 7, loop.minor);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_UNTAGGED);
	SAME(tags->type, NULL);
	loop_close(&loop);
	end();
}

/** Write a DOS partition table of one partition, number 3, from sector 2048 for 16384. */
static bool write_table(int fd)
{
	static const unsigned char entry[] = {
		0, 0, 0, 0, 0x83, 0, 0, 0, 0, 8, 0, 0, 0, 0x40, 0, 0,
	};
	unsigned char sector[512] = {[440] = 0xef, 0xbe, 0xad, 0xde, [510] = 0x55, 0xaa};
	memcpy(sector + 446 + 2 * sizeof(entry), entry, sizeof(entry));
	return pwrite(fd, sector, sizeof(sector), 0) == (ssize_t)sizeof(sector);
}

/** Add or delete a partition of a loop device, whatever partition tables the kernel knows. */
static bool add_partition(const struct loop *loop, int number, long long start, int op)
{
	struct blkpg_partition part = {.start = start * 512, .length = 16384 * 512, .pno = number};
	struct blkpg_ioctl_arg arg = {.op = op, .datalen = sizeof(part), .data = &part};
	return ioctl(loop->fd, BLKPG, &arg) == 0 || (op == BLKPG_ADD_PARTITION && errno == EBUSY);
}

static void test_real_partition(void)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	begin_real();
	char path[128], node[64];
	struct loop loop = {.fd = -1};
	struct stat st;
	image(path, sizeof(path), "disk.img", 16);
	bool made = loop_open(&loop, path) && write_table(loop.fd) && fsync(loop.fd) == 0
	            && add_partition(&loop, 3, 2048, BLKPG_ADD_PARTITION);
	snprintf(node, sizeof(node), "%sp3", loop.path);
	if (!made || stat(node, &st) != 0) {
		loop_close(&loop);
		end();
		UNIT_SKIP("no partitions on loop devices");
	}
	CU_ASSERT_TRUE(run("mkfs.ext4 -q -F -L inner %s", node));
	const struct devmap_tags *tags = devmap_tags(map, major(st.st_rdev), minor(st.st_rdev));
	TAGS(tags, .known = DEVMAP_KNOWN, .name = node, .type = "ext4", .label = "inner",
	     .usage = tags->usage, .uuid = tags->uuid,
	     .partuuid = "deadbeef-03");
	/* The disk holds a table and no file system. */
	tags = devmap_tags(map, 7, loop.minor);
	CU_ASSERT_EQUAL(tags->known, DEVMAP_UNTAGGED);
	SAME(tags->partuuid, NULL);
	add_partition(&loop, 3, 2048, BLKPG_DEL_PARTITION);

	/* A partition of the kernel that the table does not have. */
	forget();
	CU_ASSERT_TRUE(add_partition(&loop, 3, 4096, BLKPG_ADD_PARTITION));
	if (stat(node, &st) == 0) {
		tags = devmap_tags(map, major(st.st_rdev), minor(st.st_rdev));
		SAME(tags->partuuid, NULL);
	}
	add_partition(&loop, 3, 4096, BLKPG_DEL_PARTITION);
	loop_close(&loop);
	end();
}

static void test_real_btrfs(void)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	if (unshare(CLONE_NEWNS) != 0 || mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) != 0)
		UNIT_SKIP("no mount namespace");
	begin_real();
	char path[3][128], point[128], other[128], options[64];
	struct loop loops[3] = {{.fd = -1}, {.fd = -1}, {.fd = -1}};
	bool one = false, two = false;
	/* New UUIDs each time: the kernel remembers the devices of the last ones. */
	char uuid[2][40];
	snprintf(uuid[0], sizeof(uuid[0]), "22222222-2222-3333-4444-%012lx", (long)getpid());
	snprintf(uuid[1], sizeof(uuid[1]), "33333333-2222-3333-4444-%012lx", (long)getpid());
	snprintf(point, sizeof(point), "%s/one", root);
	snprintf(other, sizeof(other), "%s/two", root);
	mkdir(point, 0755);
	mkdir(other, 0755);
	for (int i = 0; i < 3; ++i) {
		char name[16];
		snprintf(name, sizeof(name), "%d.img", i);
		image(path[i], sizeof(path[i]), name, 192);
		if (!loop_open(&loops[i], path[i])) {
			unit_skip("no loop device free");
			goto out;
		}
	}
	if (!run("mkfs.btrfs -q -f -L single -U %s %s >/dev/null",
	         uuid[0], loops[0].path)
	    || !run("mkfs.btrfs -q -f -d raid1 -m raid1 -L pair"
	            " -U %s %s %s >/dev/null",
	            uuid[1], loops[1].path, loops[2].path)) {
		unit_skip("no mkfs.btrfs");
		goto out;
	}
	snprintf(options, sizeof(options), "device=%s", loops[2].path);
	one = mount(loops[0].path, point, "btrfs", 0, NULL) == 0;
	two = mount(loops[1].path, other, "btrfs", 0, options) == 0;
	if (!one || !two) {
		unit_skip("btrfs cannot be mounted");
		goto out;
	}

	struct stat st;
	CU_ASSERT_EQUAL_FATAL(stat(point, &st), 0);
	CU_ASSERT_EQUAL(major(st.st_dev), 0);
	const struct devmap_tags *tags = source_tags(minor(st.st_dev), loops[0].path);
	TAGS(tags, .known = tags->known, .name = loops[0].path, .type = "btrfs",
	     .usage = tags->usage, .uuid = uuid[0], .label = "single");
	CU_ASSERT_EQUAL(source_tags(minor(st.st_dev), "none")->known, DEVMAP_ANONYMOUS);

	CU_ASSERT_EQUAL_FATAL(stat(other, &st), 0);
	for (int i = 1; i < 3; ++i) {
		tags = source_tags(minor(st.st_dev), loops[i].path);
		SAME(tags->name, loops[i].path);
		SAME(tags->uuid, uuid[1]);
		CU_ASSERT_TRUE(tags->multi_device);
	}
	CU_ASSERT_FALSE(mount_blocks(0, minor(st.st_dev), loops[1].path));

	/* Without nodes in /dev, from sysfs alone. */
	devmap_free(map);
	map = devmap_new(&os, &(struct devmap_roots){"/sys", root, root, NULL});
	CU_ASSERT_PTR_NOT_NULL_FATAL(map);
	tags = source_tags(minor(st.st_dev), loops[1].path);
	SAME(tags->uuid, uuid[1]);
	SAME(tags->label, "pair");
	CU_ASSERT_TRUE(tags->multi_device);
out:
	if (one)
		umount2(point, MNT_DETACH);
	if (two)
		umount2(other, MNT_DETACH);
	for (int i = 0; i < 3; ++i)
		loop_close(&loops[i]);
	end();
}

static const struct unit_test tests[] = {
	{"names", test_names},
	{"unknown", test_unknown},
	{"udev", test_udev},
	{"udev-hostile", test_udev_hostile},
	{"cache", test_cache},
	{"members", test_members},
	{"blocks", test_blocks},
	{"remote", test_remote},
	{"loop", test_loop},
	{"files", test_files},
	{"btrfs", test_btrfs},
	{"journals", test_journals},
	{"list", test_list},
	{"part", test_part},
	{"real-ext4", test_real_ext4},
	{"real-partition", test_real_partition},
	{"real-btrfs", test_real_btrfs},
	{NULL, NULL},
};

const struct unit_suite suite_devmap = {"devmap", tests};
