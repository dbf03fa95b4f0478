/* SPDX-License-Identifier: MIT */
/* Devices and their tags in made trees of /sys, /run and /dev, and on real loop devices. */
#include "unit.h"

#include "cases.h"
#include "devmap/devmap_impl.h"
#include "fault.h"
#include "loop.h"
#include "os/os.h"

#include <linux/blkpg.h>
#include <linux/loop.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/sysmacros.h>

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

static void end(void)
{
	devmap_free(map);
	map = NULL;
	top_end();
}

static void begin(void)
{
	/* After a fatal assertion in the test before. */
	if (map)
		end();
	top_begin(NULL);
	static char path[4][128];
	static const char *const parts[] = {"sys", "run", "dev", "proc"};
	for (int i = 0; i < 4; ++i) {
		snprintf(path[i], sizeof(path[i]), "%s/%s", unit_top, parts[i]);
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
	for (char *c = path + strlen(unit_top) + 1; (c = strchr(c, '/')); ++c) {
		*c = '\0';
		mkdir(path, 0755);
		*c = '/';
	}
}

static void put_bytes(const char *path, const char *bytes, size_t n)
{
	char full[1024];
	snprintf(full, sizeof(full), "%s/%s", unit_top, path);
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
	snprintf(full, sizeof(full), "%s/%s", unit_top, path);
	parents(full);
	if (symlink(target, full) != 0)
		abort();
}

/** Whether a device can block.  @backing [out]  The file of a loop device, or NULL. */
static bool dev_backing(uint32_t maj, uint32_t min, const char **backing)
{
	struct devmap_dev *dev = maj != 0 ? devmap_get(map, maj, min) : NULL;
	if (dev)
		devmap_find_blocking(map, dev);
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
	snprintf(target, sizeof(target), "%s/sys/devices/%s", unit_top, lower_dir);
	put_link(path, target);
	snprintf(path, sizeof(path), "sys/devices/%s/holders/%s", lower_dir,
	         strrchr(upper_dir, '/') + 1);
	snprintf(target, sizeof(target), "%s/sys/devices/%s", unit_top, upper_dir);
	put_link(path, target);
}

/** Write an attribute of a device. */
static void put_attr(const char *dir, const char *attr, const char *value)
{
	char path[512];
	snprintf(path, sizeof(path), "sys/devices/%s/%s", dir, attr);
	put(path, "%s\n", value);
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

/** Assert that nothing is known of a device. */
static void expect_unknown(unsigned maj, unsigned min)
{
	struct devmap_loop loop;
	CU_ASSERT_FALSE(devmap_crypt(map, maj, min));
	CU_ASSERT_FALSE(devmap_protected(map, maj, min));
	CU_ASSERT_FALSE(devmap_remote(map, maj, min));
	CU_ASSERT_FALSE(devmap_loop(map, maj, min, &loop));
	CU_ASSERT_FALSE(dev_blocks(maj, min));
	CU_ASSERT_PTR_NULL(devmap_part(map, maj, min));
	SAME(devmap_name(map, maj, min), NULL);
	CU_ASSERT_EQUAL(devmap_tags(map, maj, min)->known, DEVMAP_NO_DEVICE);
	CU_ASSERT_PTR_NULL(devmap_part(map, maj, min));
	devmap_mount_avoid(map, &(struct mount){.dev_major = maj, .dev_minor = min});
}

UNIT_TEST(unknown)
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
		CU_ASSERT_EQUAL(rmdir(in_top("sys")), 0);
		if (i == 1) {
			devmap_free(map);
			map = devmap_new(&os, &(struct devmap_roots){0});
		}
		expect_unknown(252, 0);
		expect_unknown(8, 1);
		end();
	}
}

UNIT_TEST(udev_hostile)
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
	CU_ASSERT_EQUAL(mkfifo(in_top("dev/sda4"), 0600), 0);
	CU_ASSERT_EQUAL(devmap_tags(map, 8, 4)->known, DEVMAP_NO_NODE);
	put_dev(8, 5, SDA "/sda5");
	if (mknod(in_top("dev/sda5"), S_IFBLK | 0600, makedev(7, 250)) == 0)
		CU_ASSERT_EQUAL(devmap_tags(map, 8, 5)->known, DEVMAP_NO_NODE);
	end();
}

/* Cases of tests/fixtures/devmap. */

/** Make a tree. */
static void make(char *text)
{
	unsigned maj, min;
	static char dir[512], path[1024], file[4096];
	*dir = *path = '\0';
	for (char *line; (line = strsep(&text, "\n")) != NULL && *line;) {
		char *first = line + strcspn(line, " "), *rest = first + (*first != '\0');
		char *last = strrchr(line, ' ');
		if (*line == '|') {
			size_t n = strlen(file);
			snprintf(file + n, sizeof(file) - n, "%s\n", line + 1);
			put_bytes(path, file, strlen(file));
		} else if (*line == ' ') {
			rest = line + 1 + strcspn(line + 1, " ");
			*rest = '\0';
			put_attr(dir, line + 1, rest + 1);
		} else if (sscanf(line, "dev %u:%u %511s", &maj, &min, dir) == 3) {
			put_dev(maj, min, dir);
		} else if (strncmp(line, "file ", 5) == 0) {
			strcpy(path, rest);
			*file = '\0';
			put_bytes(path, file, 0);
		} else {
			*last = '\0';
			if (*line == 'o')
				put_slave(rest, last + 1);
			else
				put_link(rest, last + 1);
		}
	}
}

static bool judge(void *arg, const char *path, uint32_t major, uint32_t minor)
{
	(void)major, (void)minor;
	return strstr(path, arg);
}

/** Append a file, in brackets. */
/** Write what is known of a device. */
static const char *show_tags(const struct devmap_tags *tags)
{
	static const char *const known[] = {"known", "anonymous", "no-device", "denied", "unsafe",
	                                    "untagged", "failed", "no-node", "ambivalent"};
	static char text[1024];
	const char *const values[][2] = {
		{"name", tags->name}, {"type", tags->type}, {"uuid_sub", tags->uuid_sub},
		{"usage", tags->usage}, {"uuid", tags->uuid}, {"label", tags->label},
		{"partuuid", tags->partuuid}, {"partlabel", tags->partlabel},
	};
	int n = snprintf(text, sizeof(text), "%s", known[tags->known]);
	for (size_t i = 0; i < COUNT(values); ++i) {
		if (values[i][1])
			n += snprintf(text + n, sizeof(text) - (size_t)n, " | %s=%s", values[i][0],
			              values[i][1]);
	}
	snprintf(text + n, sizeof(text) - (size_t)n, "%s", tags->multi_device ? " | multi" : "");
	return text;
}

/** What is found of a device, in the words of the row. */
static const char *find(unsigned maj, unsigned min, const char *verb, const char *row)
{
	static char text[1024];
	char type[16], source[64], options[64], files[256] = "";
	const char *found = "";
	if (strcmp(verb, "name") == 0) {
		found = devmap_name(map, maj, min);
	} else if (strcmp(verb, "part") == 0) {
		found = devmap_part(map, maj, min);
	} else if (strcmp(verb, "tags") == 0) {
		found = show_tags(devmap_tags(map, maj, min));
	} else if (sscanf(row, "%15s %63s %63s", type, source, options) == 3
	           && strcmp(verb, "mount") == 0) {
		const struct mount m = {
			.dev_major = maj, .dev_minor = min, .fstype = type,
			.source = strcmp(source, "-") == 0 ? NULL : source,
			.fs_opts = strcmp(options, "-") == 0 ? NULL : options,
		};
		bool blocks = devmap_mount_blocks(map, &m);
		size_t n, len = 0;
		const struct devmap_file *file = devmap_mount_files(map, &m, &n);
		for (size_t i = 0; i < n && !blocks; ++i)
			len += (size_t)snprintf(files + len, sizeof(files) - len, "(%u:%u %s)",
			                        file[i].major, file[i].minor, file[i].path);
		snprintf(text, sizeof(text), "%s %s %s %s%s%s", type, source, options,
		         blocks ? "blocks" : "clear", *files ? " " : "", files);
		found = text;
	}
	return found ? found : "-";
}

static void check(char *line)
{
	unsigned maj, min, count;
	char verb[16];
	int n = 0;
	struct devmap_device *list = NULL;
	bool whole;
	if (sscanf(line, "opened %u", &count) == 1) {
		CU_ASSERT(os.calls[OS_OPENAT] == count || !(os.caps & OSC_OPENAT2));
		return;
	}
	if (sscanf(line, "%15s %u", verb, &count) == 2 && !strchr(verb, ':')) {
		CU_ASSERT_EQUAL(devmap_list(map, *verb == 'l', &list, &whole), count);
		for (unsigned i = 1; list && i < count; ++i)
			CU_ASSERT(list[i - 1].minor < list[i].minor);
		free(list);
		return;
	}
	CU_ASSERT_EQUAL_FATAL(sscanf(line, "%u:%u %15s %n", &maj, &min, verb, &n), 3);
	const char *row = line + n;
	if (strcmp(verb, "remote") == 0 || strcmp(verb, "local") == 0) {
		CU_ASSERT_EQUAL(devmap_remote(map, maj, min), *verb == 'r');
	} else if (strcmp(verb, "safe") == 0 || strcmp(verb, "unsafe") == 0
	           || strcmp(verb, "blocks") == 0) {
		const struct devmap_tags *tags = devmap_tags(map, maj, min);
		CU_ASSERT_EQUAL(tags->known, *verb == 's' ? DEVMAP_NO_NODE : DEVMAP_UNSAFE);
		SAME(tags->reason, *verb == 's' ? NULL : row);
		CU_ASSERT_EQUAL(dev_blocks(maj, min), *verb == 'b');
	} else {
		SAME(find(maj, min, verb, row), row);
	}
}

UNIT_TEST(cases)
{
	static char nfs[] = "/nfs/";
	for (struct unit_case c; unit_case("tests/fixtures/devmap", &c);) {
		char *rows = c.parts[1].text;
		begin();
		make(c.parts[0].text);
		devmap_set_blocking_test(map, judge, nfs);
		for (char *line; (line = strsep(&rows, "\n")) != NULL && *line;) {
			unit_note("%s: %s", c.name, line);
			check(line);
		}
		end();
	}
}

/** A status of device mapper: it reports a failed path, sysfs does not. */
UNIT_TEST(paths)
{
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
	for (size_t i = 0; i < COUNT(paths); ++i)
		CU_ASSERT_EQUAL(devmap_paths_failed(paths[i].status), paths[i].failed);
}

/** A chain of devices that is too long counts as blocking. */
UNIT_TEST(chain)
{
	begin();
	for (unsigned i = 0; i <= 40; ++i) {
		char upper[64], lower[64];
		snprintf(upper, sizeof(upper), VIRTUAL "dm-%u", 100 + i);
		snprintf(lower, sizeof(lower), VIRTUAL "dm-%u", 101 + i);
		put_dev(252, 100 + i, upper);
		if (i < 40)
			put_slave(upper, lower);
	}
	CU_ASSERT_FALSE(dev_blocks(252, 130));
	CU_ASSERT_TRUE(dev_blocks(252, 100));
	end();
}

/** What costs a call, and what does not. */
UNIT_TEST(calls)
{
	begin();
	put_dev(8, 1, SDA "/sda1");
	put("run/udev/data/b8:1", "E:ID_FS_TYPE=ext4\n");
	put_dev(252, 0, VIRTUAL "dm-0");
	put_attr(VIRTUAL "dm-0", "dm/name", "x");
	put_dev(252, 2, VIRTUAL "dm-2");
	put_bytes("sys/devices/" VIRTUAL "dm-2/dm/name", "a\0b\n", 4);
	CU_ASSERT_EQUAL(os_calls_total(&os), 0);
	for (int i = 0; i < 2; ++i) {
		SAME(devmap_name(map, 8, 1), "/dev/sda1");
		CU_ASSERT_EQUAL(os_calls_total(&os), 1);
	}
	/* One call opens the directory of sysfs; without openat2 each file costs one more. */
	SAME(devmap_name(map, 252, 0), "/dev/mapper/x");
	CU_ASSERT(os_calls_total(&os) == 6 || !(os.caps & OSC_OPENAT2));
	SAME(devmap_name(map, 252, 2), "/dev/dm-2");
	const struct devmap_tags *tags = devmap_tags(map, 8, 1);
	uint64_t calls = os_calls_total(&os);
	CU_ASSERT_PTR_EQUAL(devmap_tags(map, 8, 1), tags);
	SAME(devmap_name(map, 0, 33), NULL);
	CU_ASSERT_EQUAL(source_tags(33, "tmpfs")->known, DEVMAP_ANONYMOUS);
	CU_ASSERT_EQUAL(os_calls_total(&os), calls);
	CU_ASSERT_EQUAL(source_tags(33, "/dev/sda1")->known, DEVMAP_ANONYMOUS);
	end();
}

UNIT_TEST(loop)
{
	begin();
	const char *backing;
	struct devmap_loop loop = {0};
	put_dev(7, 0, VIRTUAL "loop0");
	put_attr(VIRTUAL "loop0", "loop/backing_file", "/srv/a b.img (deleted)");
	put_attr(VIRTUAL "loop0", "loop/offset", "1048576");
	put_attr(VIRTUAL "loop0", "loop/sizelimit", "4096");
	put_dev(259, 0, VIRTUAL "loop0/loop0p1");
	put_attr(VIRTUAL "loop0/loop0p1", "partition", "1");
	CU_ASSERT_FALSE(dev_backing(259, 0, &backing));
	SAME(backing, "/srv/a b.img (deleted)");
	CU_ASSERT_TRUE(devmap_loop(map, 259, 0, &loop));
	SAME(loop.file, "/srv/a b.img (deleted)");
	CU_ASSERT_TRUE(loop.partition);
	CU_ASSERT_TRUE(devmap_loop(map, 7, 0, &loop));
	CU_ASSERT_TRUE(!loop.partition && loop.offset == 1048576 && loop.limit == 4096);
	CU_ASSERT_FALSE(devmap_loop(map, 0, 1, &loop));
	put_dev(7, 4, VIRTUAL "loop4");
	put_bytes("sys/devices/" VIRTUAL "loop4/loop/backing_file", "/a\0b\n", 5);
	CU_ASSERT_TRUE(dev_blocks(7, 4));

	/* A new judge applies to devices that counted as local. */
	static char srv[] = "/srv";
	put_dev(252, 0, VIRTUAL "dm-0");
	put_slave(VIRTUAL "dm-0", VIRTUAL "loop0");
	CU_ASSERT_FALSE(mount_blocks(252, 0, NULL));
	devmap_set_blocking_test(map, judge, srv);
	CU_ASSERT_TRUE(mount_blocks(252, 0, NULL));
	CU_ASSERT_TRUE(dev_blocks(7, 0));
	end();
}

/** A deleted file has two names: if memory runs out between them, it has none. */
UNIT_TEST(loop_without_memory)
{
	FAULT_OR_SKIP();
	static const char file[] = "/srv/images/file (deleted)";
	bool failed = false, had = false;
	for (size_t room = 0; room < 2 * sizeof(file); ++room) {
		struct devmap_dev dev = {.major = 7};
		struct fault_count count;
		begin();
		arena_alloc(&map->arena, 1);
		while (map->arena.size - map->arena.used > room)
			arena_strndup(&map->arena, "", 0);
		fault_begin(&(struct fault){FAULT_ON, FAULT_ALLOC, 1, ENOMEM}, 100);
		bool taken = devmap_take_file(map, &dev, file, strlen(file));
		fault_end(&count);
		CU_ASSERT_TRUE(taken == (dev.way != NULL) && taken == (dev.backing != NULL));
		failed |= count.hits > 0 && map->arena.failed;
		had |= taken;
		end();
	}
	CU_ASSERT_TRUE(failed && had);
}

UNIT_TEST(no_sysfs)
{
	struct devmap_device *list = NULL;
	bool whole;
	begin();
	CU_ASSERT_EQUAL(devmap_list(map, false, &list, &whole), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	end();
}
/* Real devices. */

/** Make an empty file of this size, and attach it.  @return whether there was a loop device. */
static bool image(struct loop *loop, const char *name, unsigned mib)
{
	int fd = open(in_top(name), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, (off_t)mib << 20) != 0)
		abort();
	close(fd);
	return loop_open(loop, in_top(name));
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

UNIT_TEST(real_ext4)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	begin_real();
	struct loop loop = {.fd = -1};
	if (!image(&loop, "ext4.img", 16)
	    || !top_run("mkfs.ext4 -q -F -U 11111111-2222-3333-4444-555555555555"
	                " -L 'a\"b\\ $c' %s", loop.path)) {
		loop_close(&loop);
		end();
		UNIT_SKIP("no mkfs.ext4, or no loop device free");
	}
	const char *backing = NULL;
	SAME(devmap_name(map, 7, loop.minor), loop.path);
	CU_ASSERT_FALSE(dev_backing(7, loop.minor, &backing));
	SAME(backing, in_top("ext4.img"));
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

UNIT_TEST(real_partition)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	begin_real();
	char node[64];
	struct loop loop = {.fd = -1};
	struct stat st;
	bool made = image(&loop, "disk.img", 16) && write_table(loop.fd) && fsync(loop.fd) == 0
	            && add_partition(&loop, 3, 2048, BLKPG_ADD_PARTITION);
	snprintf(node, sizeof(node), "%sp3", loop.path);
	if (!made || stat(node, &st) != 0) {
		loop_close(&loop);
		end();
		UNIT_SKIP("no partitions on loop devices");
	}
	CU_ASSERT_TRUE(top_run("mkfs.ext4 -q -F -L inner %s", node));
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

/** A btrfs of two devices. */
UNIT_TEST(real_btrfs)
{
	if (!can_loop())
		UNIT_SKIP("needs root and loop devices");
	begin_real();
	char options[64], uuid[40];
	struct loop loops[2] = {{.fd = -1}, {.fd = -1}};
	struct stat st;
	/* A new UUID each time: the kernel remembers the devices of the last one. */
	snprintf(uuid, sizeof(uuid), "33333333-2222-3333-4444-%012lx", (long)getpid());
	mkdir(in_top("point"), 0755);
	bool made = true;
	for (int i = 0; i < 2 && made; ++i)
		made = image(&loops[i], i ? "1.img" : "0.img", 192);
	snprintf(options, sizeof(options), "device=%s", loops[1].path);
	if (!made
	    || !top_run("mkfs.btrfs -q -f -d raid1 -m raid1 -L pair -U %s %s %s >/dev/null", uuid,
	                loops[0].path, loops[1].path)
	    || mount(loops[0].path, in_top("point"), "btrfs", 0, options) != 0) {
		unit_skip("no loop device free, no mkfs.btrfs, or it cannot be mounted");
		goto out;
	}
	CU_ASSERT_EQUAL_FATAL(stat(in_top("point"), &st), 0);
	CU_ASSERT_EQUAL(major(st.st_dev), 0);
	/* By probing, and without nodes in /dev from sysfs alone. */
	for (int pass = 0; pass < 2; ++pass) {
		for (int i = 0; i < 2; ++i) {
			TAGS(source_tags(minor(st.st_dev), loops[i].path), .known = DEVMAP_KNOWN,
			     .name = loops[i].path, .type = "btrfs", .usage = "filesystem",
			     .uuid = uuid, .label = "pair", .multi_device = true);
		}
		CU_ASSERT_EQUAL(source_tags(minor(st.st_dev), "none")->known, DEVMAP_ANONYMOUS);
		CU_ASSERT_FALSE(mount_blocks(0, minor(st.st_dev), loops[0].path));
		devmap_free(map);
		map = devmap_new(&os, &(struct devmap_roots){"/sys", unit_top, unit_top, NULL});
	}
	umount2(in_top("point"), MNT_DETACH);
out:
	for (int i = 0; i < 2; ++i)
		loop_close(&loops[i]);
	end();
}
