/* SPDX-License-Identifier: MIT */
/*
 * The rules of a host: for each what fires it, and the nearest that is healthy.
 */
#include "unit.h"

#include "audit/live.h"
#include "audit/owner.h"
#include "fault.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine: devices by the names that they have. */

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "root"},
	{.name = "/dev/sdb1", .type = "ext4", .uuid = "copy"},
	{.name = "/dev/sda3", .type = "swap", .uuid = "swap"},
	{.name = "/dev/sda4", .type = "crypto_LUKS", .uuid = "luks"},
	{.name = "/dev/sdc1", .type = "btrfs", .uuid = "pool", .multi_device = true},
	{.name = "/dev/sdd1", .type = "btrfs", .uuid = "pool", .multi_device = true},
	{.name = "/dev/sde1", .uuid = "blank", .known = DEVMAP_UNTAGGED},
	{.name = "/dev/mapper/made", .type = "swap", .uuid = "made"},
};

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	if (strstr(source, "twice"))
		return 2;
	if (strstr(source, "denied"))
		return -1;
	if (strstr(source, "open") || strstr(source, "pair")) {
		if (device)
			*device = (struct fstab_device){.numbered = true,
			                                .major = 8,
			                                .minor = 77,
			                                .crypt = strstr(source, "open")};
		return 1;
	}
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strcmp(tags[i].name, value) == 0 || strcmp(tags[i].uuid, value) == 0) {
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
	(void)real;
	return strstr(path, "gone") ? FACT_MISSING : strstr(path, "hung") ? FACT_UNKNOWN
	       : FACT_FILE;
}

static int root_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	if (mount->dev_major == 8)
		*device = (struct fstab_device){.tags = &tags[mount->dev_minor],
		                                .numbered = true,
		                                .major = 8,
		                                .minor = mount->dev_minor};
	return 0;
}

static const struct fstab_facts facts = {.devices = devices, .look = look};
static const struct fstab_world world = {.device = root_device};

static char text[16 * 1024];

/** What is told, a line each: "CODE severity target file:line: message (is)", and what
    cannot be judged. */
static const char *judged(struct audit_live *host, const char *fstab, struct fstab_plan *plan)
{
	static const struct fstab_plan none;
	struct audit_report report;
	struct tablines *lines = tablines_parse(fstab, strlen(fstab));
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	host->lines = lines;
	host->plan = plan ? plan : &none;
	host->world = &world;
	CU_ASSERT_EQUAL_FATAL(audit_fstab(&(struct audit_input){lines, NULL, NULL, NULL}, &report),
	                      0);
	struct audit_set before = report.not_checked;
	size_t own = report.count;
	CU_ASSERT_EQUAL_FATAL(audit_host(host, &report), 0);
	size_t n = 0, told = 0;
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT(f->severity <= audit_rules[f->code].severity);
		CU_ASSERT(!f->boot || audit_rules[f->code].flags & AR_BOOT);
		if (f->code < MTAB_REGULAR)
			continue;
		++told;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %s%s %s",
		                      audit_rules[f->code].code,
		                      audit_severity_name(f->severity), f->boot ? "!" : "",
		                      f->target);
		if (f->file)
			n += (size_t)snprintf(text + n, sizeof(text) - n, " %s:%u", f->file,
			                      f->line);
		n += (size_t)snprintf(text + n, sizeof(text) - n, ": %s (%s)\n", f->message,
		                      f->actual ? f->actual : "");
	}
	CU_ASSERT_EQUAL(told, report.count - own);
	for (int code = MTAB_REGULAR; code < AUDIT_CODES; ++code) {
		if (audit_set_has(&report.not_checked, (enum audit_code)code)
		    && !audit_set_has(&before, (enum audit_code)code))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "?%s\n",
			                      audit_rules[code].code);
	}
	audit_report_destroy(&report);
	tablines_free(lines);
	return text;
}

static void says(const char *name, const char *got, const char *expected)
{
	if (strcmp(got, expected) != 0)
		printf("  %s: \"%s\", not \"%s\"\n", name, got, expected);
	CU_ASSERT_STRING_EQUAL(got, expected);
}

/** Of a host of which all is known, and nothing wrong. */
static struct audit_live healthy(void)
{
	static const struct host_errors_list none;
	return (struct audit_live){
		.errors = &none, .facts = &facts, .mtab = {.kind = HOST_MTAB_KERNEL},
			.fstab_seen = true, .fstab_mode = 0100644,
		.cmdline = "root=ZFS=tank",
	};
}

#define UNJUDGED "?BOOT-ROOT\n"   /* of a healthy() one */

static void mtab(void)
{
	static const struct {
		struct audit_mtab mtab;
		const char *expected;
	} rows_[] = {
		{{.kind = HOST_MTAB_KERNEL}, UNJUDGED},
		{{.kind = HOST_MTAB_NONE}, UNJUDGED},
		{{.kind = HOST_MTAB_UNKNOWN}, "?MTAB-REGULAR\n?MTAB-STALE\n"
		                              "?MTAB-CORRUPT\n" UNJUDGED},
		{{.kind = HOST_MTAB_NOWHERE}, "MTAB-CORRUPT warning /etc/mtab: dangling symlink "
		                              "()\n" UNJUDGED},
		{{.kind = HOST_MTAB_FILE}, "MTAB-REGULAR info /etc/mtab: a regular file, which "
		                           "nothing updates since util-linux 2.39 (a regular "
		                           "file)\n" UNJUDGED},
		{{HOST_MTAB_FILE, 0, 0, 3, 4},
		 "MTAB-REGULAR info /etc/mtab: a regular file, which nothing updates since "
		 "util-linux 2.39 (a regular file)\n"
		 "MTAB-CORRUPT warning /etc/mtab: has invalid lines (4 unreadable)\n" UNJUDGED},
		{{HOST_MTAB_FILE, 1, 2, 3, 4},
		 "MTAB-REGULAR info /etc/mtab: a regular file, which nothing updates since "
		 "util-linux 2.39 (a regular file)\n"
		 "MTAB-STALE warning /etc/mtab: does not match what is mounted (1 wrong, 2 gone, 3 "
		 "missing)\n"
		 "MTAB-CORRUPT warning /etc/mtab: has invalid lines (4 unreadable)\n" UNJUDGED},
	};
	for (size_t i = 0; i < sizeof(rows_) / sizeof(*rows_); ++i) {
		struct audit_live host = healthy();
		host.mtab = rows_[i].mtab;
		says("mtab", judged(&host, "", NULL), rows_[i].expected);
	}
}

static void mode(void)
{
	struct audit_live host = healthy();
	for (unsigned m = 0; m <= 0777; ++m) {
		host.fstab_mode = 0100000 | m;
		CU_ASSERT_EQUAL(strstr(judged(&host, "", NULL), "FSTAB-MODE critical") != NULL,
		                (m & 022) != 0);
	}
	host.fstab_mode = 0100644;
	host.fstab_uid = 1000;
	says("of a user", judged(&host, "", NULL),
	     "FSTAB-MODE critical : users other than root can write to the fstab, and so become "
	     "root at the next boot (of user 1000, mode 0644)\n" UNJUDGED);
	host.fstab_seen = false;
	says("not seen", judged(&host, "", NULL), "?FSTAB-MODE\n" UNJUDGED);
}

static void errors(void)
{
	static const struct mount mounts[] = {{.fstype = "ext4"}, {.fstype = "btrfs"},
	                                      {.fstype = "btrfs"}, {.fstype = "xfs"}};
	static struct fstab_line lines[] = {
		{.mount = &mounts[0], .target = "/e", .owner = "fstab"},
			{.mount = &mounts[1], .target = "/b", .owner = "unknown"},
		{.mount = &mounts[2], .target = "/m", .owner = "unknown"},
			{.mount = &mounts[3], .target = "/x", .owner = "unknown"},
	};
	struct fstab_plan plan = {.lines = lines, .count = 4};
	struct host_errors some[] = {
		{0, 3, 0, "the last in ext4_lookup()", false}, {1, 2, 0, "write_errs 2", false},
		{2, 0, 1, NULL, false}, {3, 0, 0, NULL, true},
	};
	struct audit_live host = healthy();
	host.errors = &(struct host_errors_list){.list = some, .count = 4, .unknown = true};
	says("errors", judged(&host, "", &plan),
	     "FS-ERRORS warning /b: devices of the file system report errors (2: write_errs 2)\n"
	     "FS-ERRORS critical /e: the file system reports errors (3: the last in "
	     "ext4_lookup())\n"
	     "FS-ERRORS critical /m: devices of the file system are missing (1 missing)\n"
	     "FS-ERRORS critical /x: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n?FS-ERRORS\n" UNJUDGED);
}

/** What the table shows by itself, whoever has mounted it, and what is told already. */
static void flips(void)
{
	static const struct mount mounts[] = {
		{.dev_major = 8, .dev_minor = 1, .fstype = "ext4", .vfs_opts = "rw",
		 .fs_opts = "rw,emergency_ro"},
		{.dev_major = 8, .dev_minor = 1, .fstype = "ext4", .vfs_opts = "rw",
		 .fs_opts = "rw,emergency_ro"},
		{.dev_major = 8, .dev_minor = 2, .fstype = "ext4", .vfs_opts = "rw",
		 .fs_opts = "rw,shutdown"},
		{.dev_major = 8, .dev_minor = 3, .fstype = "vfat", .vfs_opts = "rw",
		 .fs_opts = "ro"},
		{.dev_major = 8, .dev_minor = 4, .fstype = "ext4", .vfs_opts = "ro",
		 .fs_opts = "ro"},
		{.dev_major = 8, .dev_minor = 4, .fstype = "ext4", .vfs_opts = "rw",
		 .fs_opts = "ro"},
		{.dev_major = 7, .dev_minor = 0, .fstype = "squashfs", .vfs_opts = "rw",
		 .fs_opts = "ro"},
		{.dev_major = 8, .dev_minor = 5, .fstype = "vfat", .vfs_opts = "rw",
		 .fs_opts = "ro"},
		{.dev_major = 0, .dev_minor = 9, .fstype = "fuse.x", .vfs_opts = "rw",
		 .fs_opts = "rw,shutdown"},
	};
	struct host_errors met = {.of = 2, .shutdown = true};
	static const char *const targets[] = {"/pod", "/pod2", "/down", "/flip", "/meant", "/bind",
	                                      "/snap", "/stick", "/fuse"};
	struct fstab_line lines[sizeof(mounts) / sizeof(*mounts)];
	struct fstab_plan plan = {.lines = lines, .count = sizeof(lines) / sizeof(*lines)};
	for (size_t i = 0; i < plan.count; ++i)
		lines[i] = (struct fstab_line){.mount = &mounts[i], .target = targets[i],
		                               .owner = i == 7 ? "udisks" : "container:kubelet"};
	struct audit_live host = healthy();
	says("flips", judged(&host, "", &plan),
	     "FS-ERRORS critical /down: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n"
	     "FS-ERRORS critical /flip: the file system is read-only although the mount is not: it "
	     "may have an error (ro)\n"
	     "FS-ERRORS critical /pod: the file system has an error and rejects writes "
	     "(rw,emergency_ro)\n" UNJUDGED);
	host.errors = &(struct host_errors_list){.list = &met, .count = 1};
	lines[0].of = lines[3].of = 1;   /* the line of /flip has its own rule; that of /pod is
	                                    ignored there */
	says("told", judged(&host, "# getmnt: ignore=FS-ERRORS\nx /pod ext4 noauto 0 0\n", &plan),
	     "FS-ERRORS critical /pod: the file system has an error and rejects writes "
	     "(rw,emergency_ro)\n"
	     "FS-ERRORS critical /down: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n" UNJUDGED);
	lines[0].of = 2;
	says("excused", judged(&host, "# getmnt: ignore=FS-ERRORS\nx /pod ext4 noauto 0 0\n",
	                       &plan),
	     "FS-ERRORS critical /down: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n" UNJUDGED);
}

#define LINE "UUID=root / ext4 defaults 0 1\n"

/** What is told of a command line, an fstab and the minor number of the root's device. */
static const char *booted(const char *cmdline, const char *fstab, unsigned minor)
{
	struct mount root = {.dev_major = minor < 10 ? 8 : 0, .dev_minor = minor, .fstype = "ext4"};
	struct fstab_line line = {.fate = FSTAB_LINE, .mount = &root, .target = "/",
	                          .owner = "fstab"};
	struct fstab_plan plan = {.lines = &line, .count = 1};
	struct audit_live host = healthy();
	host.cmdline = cmdline;
	return judged(&host, fstab, &plan);
}

static void boot_root(void)
{
	static const char *const right[] = {
		"root=UUID=root ro quiet", "root=/dev/sda1", "root=/dev/sdb1 root=/dev/sda1\n",
		"\"root=none\" root=\"UUID=root\"",
		"BOOT_IMAGE=/vmlinuz root=UUID=root -- root=UUID=gone", "x\troot=PARTUUID=root\t",
		"root=UUID=root resume=",
		"root=UUID=root resume=none", "root=UUID=root resume=UUID=swap",
		"root=UUID=root noresume=UUID=gone",
		"root=UUID=root noresume resume=UUID=gone",
		"root=UUID=root resume=UUID=gone\tnoresume",
		"root=UUID=root resume=UUID=root resume_offset=34816", "root=8:0", "root=0800 ro",
		"root=800",
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); ++i)
		says(right[i], booted(right[i], LINE, 0), "");
	static const char *const other[] = {
		"", "quiet", "root=", "root=nfs:10.0.0.1:/srv", "root=/dev/nfs",
		"root=ZFS=rpool/ROOT", "root=live:CDLABEL=x", "root=0801x", "root=8:1:", "root=8:",
		"root=123456789",
		"root=PARTUUID=root/PARTNROFF=1", "root=/dev/ram0", "root=UUID=denied",
		"root=tmpfs", "noroot=UUID=gone", "root=gpt-auto",
	};
	for (size_t i = 0; i < sizeof(other) / sizeof(*other); ++i)
		says(other[i], booted(other[i], LINE, 0), "?BOOT-ROOT\n");
	/* The root of a container stands on no device: what the host has is not judged. */
	says("overlay", booted("root=UUID=gone", LINE, 99), "?BOOT-ROOT\n");
	says("overlay", booted("root=UUID=gone", "x /x ext4\n", 99), "?BOOT-ROOT\n");
	says("another of the same", booted("root=UUID=pool", "/dev/sdd1 / btrfs\n", 4), "");

	says("gone", booted("root=UUID=gone", LINE, 0),
	     "BOOT-ROOT critical! /: the root on the kernel command line does not exist any more: "
	     "with it the next boot fails (root=UUID=gone)\n");
	says("a copy", booted("root=UUID=copy", "UUID=copy / ext4\n", 0),
	     "BOOT-ROOT warning /: the root is not the device on the kernel command line "
	     "(/dev/sda1)\n");
	for (int i = 0; i < 2; ++i)
		says("another number", booted(i ? "root=8:1" : "root=801", LINE, 0),
		     "BOOT-ROOT warning /: the root is not the device on the kernel command line "
		     "(/dev/sda1)\n");
	says("a swap space at /", booted("root=UUID=root", LINE "UUID=copy / swap\n", 0), "");
	says("another line", booted("root=/dev/sda1", "/dev/sdb1 / ext4\n", 0),
	     "BOOT-ROOT warning /: the kernel command line and the fstab name different roots "
	     "(/dev/sdb1 (/dev/sdb1))\n");
	says("no line", booted("root=UUID=root", "x /x ext4\n", 0),
	     "BOOT-ROOT info /: no line in the fstab: it keeps the options of the kernel, and is "
	     "not checked by fsck (none)\n");
	says("no lines at all", booted("root=UUID=root", "", 0), "");
	says("nothing to resume", booted("root=UUID=root resume=UUID=gone", LINE, 0),
	     "BOOT-ROOT warning UUID=gone: the resume device on the kernel command line does not "
	     "exist: each boot waits for it (no such device)\n");
	says("another word", booted("root=UUID=root xnoresume resume=UUID=gone -- noresume", LINE,
	                            0),
	     "BOOT-ROOT warning UUID=gone: the resume device on the kernel command line does not "
	     "exist: each boot waits for it (no such device)\n");
	says("no swap", booted("root=UUID=root resume=/dev/sdb1", LINE, 0),
	     "BOOT-ROOT warning /dev/sdb1: the resume device on the kernel command line is not a "
	     "swap space (ext4)\n");
}

/** What is told of a crypttab. */
static const char *crypt(const char *crypttab, const char *fstab)
{
	struct audit_live host = healthy();
	host.crypttab = crypttab;
	host.crypttab_name = "ct";
	return judged(&host, fstab, NULL);
}

static void crypttab(void)
{
	static const char *const right[] = {
	        "",
	        "\n",
	        "# a UUID=gone\n\n   # b\n",
	        "a UUID=luks none luks\n",
	        "a\tUUID=luks\r\n",
	        "  a /dev/sda4 /etc/key luks,discard",
	        "s UUID=swap /dev/urandom swap,cipher=aes\n",
	        "s UUID=blank /dev/urandom swap\n",
	        "t UUID=blank /dev/urandom tmp=ext4\n",
	        "o UUID=copy /dev/urandom swap,offset=2048\n",
	        "p UUID=blank none plain,_netdev,nosuch\n",
	        "h UUID=blank none luks,header=/h\n",
	        "x UUID=luks none "
		"luks,x-initrd.attach,x-systemd.device-timeout=1,hash=sha256,size=512,tries=1,tpm2-"
		"pcrs=7\n",
	        "l /dev/sda4 none luks\n",
	        "s UUID=root none plain,nofail\n",
	        "v UUID=root none tcrypt\n",
	        "f /srv/image\n",
	        "k UUID=luks /key:UUID=stick luks\n",
	        "k UUID=luks /gone luks,keyscript=/lib/decrypt\n",
	        "k UUID=luks - luks\n",
	        "q UUID=\"luks\" none luks\n",
	        "q UUID='luks'\n",
	        "c UUID=luks none luks # why\n",
	        "c UUID=luks none luks \t\r\n",
	};
	for (size_t i = 0; i < sizeof(right) / sizeof(*right); ++i)
		says(right[i], crypt(right[i], ""), UNJUDGED);
	says("gone", crypt("# x\na UUID=gone none luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:2: its device does not exist, and the boot waits for it "
	     "(UUID=gone)\n" UNJUDGED);
	says("and needed", crypt("a UUID=gone\n", "/dev/mapper/a /a ext4\n"),
	     "BOOT-CRYPTTAB critical! a ct:1: its device does not exist, and the boot waits for it "
	     "(UUID=gone)\n" UNJUDGED);
	says("needed by nobody", crypt("a UUID=gone\n",
	                               "/dev/mapper/a /a ext4 nofail\n/dev/mapper/ab /ab ext4\n"),
	     "BOOT-CRYPTTAB warning a ct:1: its device does not exist, and the boot waits for it "
	     "(UUID=gone)\n" UNJUDGED);
	says("may be missing", crypt("a UUID=gone none luks,nofail\nb UUID=gone none noauto", ""),
	     "BOOT-CRYPTTAB info a ct:1: its device does not exist (UUID=gone)\n"
	     "BOOT-CRYPTTAB info b ct:2: its device does not exist (UUID=gone)\n" UNJUDGED);
	says("an image", crypt("a /gone/image\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its device does not exist, and the boot waits for it "
	     "(/gone/image)\n" UNJUDGED);
	says("twice", crypt("a UUID=twice\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: more than one device has this identifier (2 with "
	     "UUID=twice)\n" UNJUDGED);
	says("no LUKS", crypt("a UUID=root\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its device has no LUKS header (ext4)\n" UNJUDGED);
	says("no key", crypt("a UUID=luks /etc/gone luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its key file does not exist: the boot asks for a "
	     "passphrase (/etc/gone)\n" UNJUDGED);
	says("one name", crypt("a UUID=luks\nb UUID=luks\na UUID=luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:3: two lines have this name (line 1 as well)\n" UNJUDGED);
	says("a blank", crypt("a UUID=luks none luks,discard, nofail\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: text after a blank in the options is ignored "
	     "(luks,discard,)\n" UNJUDGED);
	says("quoted, and gone", crypt("a UUID=\"gone\"\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its device does not exist, and the boot waits for it "
	     "(UUID=gone)\n" UNJUDGED);
	says("no device", crypt("a\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: the line has no device (a)\n" UNJUDGED);
	says("overwritten, and used", crypt("a UUID=copy /dev/urandom swap\n",
	                                    "UUID=copy /c ext4 noauto\n"),
	     "BOOT-CRYPTTAB critical a ct:1: its device is overwritten at each boot, but used for "
	     "something else (UUID=copy: ext4, of line 1 of the fstab)\n" UNJUDGED);
	struct mount live = {.dev_major = 8, .dev_minor = 1, .fstype = "ext4"};
	struct fstab_line of_live = {.fate = FSTAB_LINE, .mount = &live, .target = "/c"};
	struct fstab_plan plan = {.lines = &of_live, .count = 1};
	struct audit_live host = healthy();
	host.crypttab = "a /dev/sdb1 /dev/urandom tmp\nb UUID=root /dev/urandom swap\n";
	host.crypttab_name = "ct";
	says("overwritten, and mounted", judged(&host, "", &plan),
	     "BOOT-CRYPTTAB critical a ct:1: its device is overwritten at each boot, but used for "
	     "something else (/dev/sdb1: ext4, mounted on /c)\n"
	     "BOOT-CRYPTTAB warning b ct:2: its device is overwritten at each boot, but holds data "
	     "(ext4)\n" UNJUDGED);
	says("overwritten, whatever it is then", crypt("a /dev/sda3 /dev/urandom swap\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its device is overwritten at each boot, and its name "
	     "may change (/dev/sda3)\n" UNJUDGED);
	says("a blank device", crypt("a UUID=blank none luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: its device has no LUKS header (nothing that is "
	     "known)\n" UNJUDGED);
	says("misspelt", crypt("a UUID=blank /dev/urandom swpa\nb UUID=luks none luks,discrad\n",
	                       ""),
	     "BOOT-CRYPTTAB warning a ct:1: unknown option \"swpa\" (swpa)\n"
	     "BOOT-CRYPTTAB warning b ct:2: unknown option \"discrad\" (discrad)\n" UNJUDGED);
	says("another name", crypt("made2 UUID=luks none luks\n",
	                           "/dev/mapper/made none swap sw\n"),
	     "BOOT-CRYPTTAB warning made ct:1: line 1 of the fstab needs /dev/mapper/made, which "
	     "no line sets up at the next boot (made2)\n" UNJUDGED);
	says("in a comment", crypt("# all\n#made UUID=luks none luks\n",
	                           "/dev/mapper/made /m ext4\n"),
	     "BOOT-CRYPTTAB critical! made ct:2: line 1 of the fstab needs /dev/mapper/made, which "
	     "no line sets up at the next boot (a comment)\n" UNJUDGED);
	says("by nobody", crypt("other UUID=luks\n# made of what there is\n#made\n",
	                        "/dev/mapper/made /m ext4\n"), UNJUDGED);
	says("not at a boot", crypt("#made UUID=luks\n",
	                            "/dev/mapper/made /m ext4 noauto\n/dev/mapper/made / "
	                            "ext4\n/dev/mapper/gone /g ext4\n"), UNJUDGED);
	says("two of one device", crypt("a UUID=pair none luks\nb /dev/pair none luks,noauto\nc "
	                                "/dev/pair none plain,offset=8\nd /dev/pair none luks\n",
	                                ""),
	     "BOOT-CRYPTTAB warning d ct:4: another line has the same device: the second one fails "
	     "(/dev/pair of line 1)\n" UNJUDGED);
	says("one line twice", crypt("a UUID=pair none luks\na UUID=pair none luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:2: two lines have this name (line 1 as well)\n" UNJUDGED);
	says("options for the key", crypt("a UUID=luks luks,discard\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: options in place of the key file are ignored "
	     "(luks,discard)\n" UNJUDGED);
	says("a relative key", crypt("a UUID=luks root/key luks\n", ""),
	     "BOOT-CRYPTTAB warning a ct:1: the path of its key file is not absolute: it is "
	     "ignored, and the boot asks for a passphrase (root/key)\n" UNJUDGED);
	says("another device, and open",
	     crypt("open UUID=gone none luks,nofail\nopen2 UUID=gone none luks,noauto\n", ""),
	     "BOOT-CRYPTTAB warning open ct:1: its device does not exist, though the mapping is "
	     "open: the next boot cannot open it (UUID=gone)\n"
	     "BOOT-CRYPTTAB info open2 ct:2: its device does not exist (UUID=gone)\n" UNJUDGED);
	says("another name, open, and nofail",
	     crypt("opne UUID=luks none luks\n", "/dev/mapper/open /o ext4 nofail\n"),
	     "BOOT-CRYPTTAB warning open ct:1: line 1 of the fstab needs /dev/mapper/open, which "
	     "no line sets up at the next boot (opne)\n" UNJUDGED);
	says("not known", crypt("a UUID=denied\n", ""), UNJUDGED "?BOOT-CRYPTTAB\n");
	/* A comment of the fstab takes nothing from a line of another file. */
	says("another file's", crypt("\na UUID=gone\n",
	                             "# getmnt: ignore=BOOT-CRYPTTAB\nx /x ext4 noauto\n"),
	     "BOOT-CRYPTTAB warning a ct:2: its device does not exist, and the boot waits for it "
	     "(UUID=gone)\n" UNJUDGED);
}

static void many(void)
{
	enum { LINES = 20000 };
	struct strbuf out;
	strbuf_init(&out);
	for (unsigned i = 0; i < LINES; ++i)
		strbuf_printf(&out, "n%u UUID=luks none luks\n", i);
	says("many", crypt(strbuf_str(&out), ""), UNJUDGED);
	strbuf_destroy(&out);
}

/** All that can be told at once, with each allocation failing. */
static void no_memory(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	struct host_errors met = {0, 3, 0, "the last in f()", false};
	const struct host_errors_list errors_ = {.list = &met, .count = 1};
	static const char fstab[] = "UUID=copy / ext4\n/dev/mapper/a /a ext4\n/dev/mapper/made /m "
	                            "ext4\n";
	struct mount root = {.dev_major = 8, .fstype = "ext4"};
	struct fstab_line of_root = {.fate = FSTAB_LINE, .mount = &root, .target = "/"};
	struct fstab_plan plan = {.lines = &of_root, .count = 1};
	struct tablines *lines = tablines_parse(fstab, sizeof(fstab) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	struct fault_count count = {0};
	uint64_t allocations = 0;
	size_t found = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2,
		                      ENOMEM};
		struct audit_report report;
		fault_begin(n ? &fault : NULL, 1000);
		audit_report_init(&report);
		int rc = audit_host(&(struct audit_live){
			.lines = lines, .plan = &plan, .world = &world, .facts = &facts,
				.mtab = {HOST_MTAB_FILE, 1, 1, 1, 1},
			.fstab_seen = true, .fstab_mode = 0100666,
			.errors = &errors_, .cmdline = "root=UUID=root resume=/dev/gone",
				.crypttab = "a UUID=gone /gone\na\nt UUID=copy k swap\n#made /x\nu "
				            "UUID=luks - noatuo\n",
			.crypttab_name = "ct"}, &report);
		int error = errno;
		size_t got = report.count;
		audit_report_destroy(&report);
		fault_end(&count);
		found = n ? found : got;
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT(count.hits == 0 ? rc == 0 && got == found : rc == -1 && error == ENOMEM);
	}
	CU_ASSERT(found > 8);
	CU_ASSERT(allocations > 5);
	tablines_free(lines);
}

static void owners(void)
{
	CU_ASSERT(audit_is_owner("container:docker", "container"));
	CU_ASSERT(audit_is_owner("session", "session"));
	CU_ASSERT(!audit_is_owner("sessions", "session"));
	CU_ASSERT(!audit_is_owner("session", "sessions"));
	CU_ASSERT(!audit_is_owner(NULL, "session"));
	for (size_t i = 1; audit_owners[i]; ++i)
		CU_ASSERT(strcmp(audit_owners[i - 1], audit_owners[i]) < 0);
}

static const struct unit_test tests[] = {
	{"mtab", mtab},
	{"mode", mode},
	{"errors", errors},
	{"flips", flips},
	{"boot_root", boot_root},
	{"crypttab", crypttab},
	{"many", many},
	{"no_memory", no_memory},
	{"owners", owners},
	{NULL, NULL},
};

const struct unit_suite suite_host = {"host", tests};
