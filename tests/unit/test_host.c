/* SPDX-License-Identifier: MIT */
/*
 * The rules of a host.  Cases of command lines and crypttabs are in tests/fixtures/fstab/host.
 */
#include "unit.h"

#include "audit/live.h"
#include "cases.h"
#include "fault.h"

/* A machine whose devices and files exist according to their names. */

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
	for (size_t i = 0; i < COUNT(tags); ++i) {
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

static int root_device(void *arg, const struct mount *mount, const char *swap,
                       struct fstab_device *device)
{
	(void)swap;
	(void)arg;
	if (!mount)
		return 0;
	if (mount->dev_major == 8)
		*device = (struct fstab_device){.tags = &tags[mount->dev_minor],
		                                .numbered = true,
		                                .major = 8,
		                                .minor = mount->dev_minor};
	return 0;
}

static const struct fstab_facts facts = {.devices = devices, .look = look,
                                         .device = root_device};

static char text[16 * 1024];

/** The host is another system than the running one. */
static bool elsewhere;

/** The findings, a line each: "CODE severity target file:line: message (actual)", and "?CODE" for
    each rule that is not checked. */
static const char *judged(struct audit_live *host, const char *fstab, struct fstab_plan *plan)
{
	static const struct fstab_plan none;
	struct audit_report report;
	struct fstab_file *lines = fstab_parse(fstab, strlen(fstab));
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	host->file = lines;
	host->plan = plan ? plan : &none;
	const struct audit_input in = {.file = lines, .elsewhere = elsewhere};
	CU_ASSERT_EQUAL_FATAL(audit_fstab(&in, &report), 0);
	audit_set before = report.not_checked;
	size_t own = report.count;
	CU_ASSERT_EQUAL_FATAL(audit_host(host, &report), 0);
	size_t n = 0, found = 0;
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT(f->severity <= audit_rules[f->code].severity);
		CU_ASSERT(!f->boot || audit_rules[f->code].flags & AR_BOOT);
		if (f->code < MTAB_REGULAR)
			continue;
		++found;
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
	CU_ASSERT_EQUAL(found, report.count - own);
	for (int code = MTAB_REGULAR; code < AUDIT_CODES; ++code) {
		if (audit_set_has(report.not_checked, (enum audit_code)code)
		    && !audit_set_has(before, (enum audit_code)code))
			n += (size_t)snprintf(text + n, sizeof(text) - n, "?%s\n",
			                      audit_rules[code].code);
	}
	audit_report_destroy(&report);
	fstab_file_free(lines);
	return text;
}

static void says(const char *name, const char *got, const char *expected)
{
	unit_note("%s", name);
	unit_expect(got, expected);
}

/** A host of which all is known, and nothing is wrong. */
static struct audit_live healthy(void)
{
	static const struct host_errors_list none;
	return (struct audit_live){
		.errors = &none, .facts = &facts, .mtab = {.kind = HOST_MTAB_KERNEL},
			.fstab_seen = true, .fstab_mode = 0100644,
		.cmdline = "root=ZFS=tank",
	};
}

#define NOT_CHECKED "?BOOT-ROOT\n"   /* of a healthy() one */

UNIT_TEST(mtab)
{
	static const struct {
		struct audit_mtab mtab;
		const char *expected;
	} rows_[] = {
		{{.kind = HOST_MTAB_KERNEL}, NOT_CHECKED},
		{{.kind = HOST_MTAB_NONE}, NOT_CHECKED},
		{{.kind = HOST_MTAB_UNKNOWN}, "?MTAB-REGULAR\n?MTAB-STALE\n"
		                              "?MTAB-CORRUPT\n" NOT_CHECKED},
		{{.kind = HOST_MTAB_NOWHERE}, "MTAB-CORRUPT warning /etc/mtab: dangling symlink "
		                              "()\n" NOT_CHECKED},
		{{.kind = HOST_MTAB_FILE}, "MTAB-REGULAR info /etc/mtab: a regular file, which "
		                           "nothing updates since util-linux 2.39 (a regular "
		                           "file)\n" NOT_CHECKED},
		{{HOST_MTAB_FILE, 0, 0, 3, 4},
		 "MTAB-REGULAR info /etc/mtab: a regular file, which nothing updates since "
		 "util-linux 2.39 (a regular file)\n"
		 "MTAB-CORRUPT warning /etc/mtab: has invalid lines (4 unreadable)\n" NOT_CHECKED},
		{{HOST_MTAB_FILE, 1, 2, 3, 4},
		 "MTAB-REGULAR info /etc/mtab: a regular file, which nothing updates since "
		 "util-linux 2.39 (a regular file)\n"
		 "MTAB-STALE warning /etc/mtab: does not match what is mounted (1 wrong, 2 gone, 3 "
		 "missing)\n"
		 "MTAB-CORRUPT warning /etc/mtab: has invalid lines (4 unreadable)\n" NOT_CHECKED},
	};
	for (size_t i = 0; i < COUNT(rows_); ++i) {
		struct audit_live host = healthy();
		host.mtab = rows_[i].mtab;
		says("mtab", judged(&host, "", NULL), rows_[i].expected);
	}
}

UNIT_TEST(mode)
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
	     "root at the next boot (of user 1000, mode 0644)\n" NOT_CHECKED);
	host.fstab_seen = false;
	says("not seen", judged(&host, "", NULL), "?FSTAB-MODE\n" NOT_CHECKED);
}

UNIT_TEST(errors)
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
	     "fail (shut down)\n?FS-ERRORS\n" NOT_CHECKED);
}

/** Errors that the options of mounts show, and those that are reported already. */
UNIT_TEST(flips)
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
	struct fstab_line lines[COUNT(mounts)];
	struct fstab_plan plan = {.lines = lines, .count = COUNT(lines)};
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
	     "(rw,emergency_ro)\n" NOT_CHECKED);
	host.errors = &(struct host_errors_list){.list = &met, .count = 1};
	lines[0].of = lines[3].of = 1;   /* the line of /flip has its own rule; that of /pod is
	                                    ignored there */
	static const char ignoring[] = "# getmnt: ignore=FS-ERRORS\nx /pod ext4 noauto 0 0\n";
	says("reported", judged(&host, ignoring, &plan),
	     "FS-ERRORS critical /pod: the file system has an error and rejects writes "
	     "(rw,emergency_ro)\n"
	     "FS-ERRORS critical /down: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n" NOT_CHECKED);
	lines[0].of = 2;
	says("ignored", judged(&host, ignoring, &plan),
	     "FS-ERRORS critical /down: the file system shut down after an error: reads and writes "
	     "fail (shut down)\n" NOT_CHECKED);
}

#define LINE "UUID=root / ext4 defaults 0 1\n"

/** Judge a command line.  @minor  The minor number of the root's device. */
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

/** Judge a crypttab. */
static const char *judge_crypttab(const char *crypttab, const char *fstab)
{
	struct audit_live host = healthy();
	host.crypttab = crypttab;
	host.crypttab_name = "ct";
	return judged(&host, fstab, NULL);
}

UNIT_TEST(cases)
{
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/host", &c); ++count) {
		const char *head = c.parts[c.count - 1].head, *expected = c.parts[c.count - 1].text;
		const char *fstab = c.count == 3 ? c.parts[1].text : NULL;
		bool boot = strncmp(c.name, "boot: ", 6) == 0;
		bool each = strncmp(c.name, "each", 4) == 0;
		unsigned minor = 0;
		char *rows = c.parts[0].text;
		sscanf(head, "findings minor=%u", &minor);
		for (char *row; (row = boot || each ? strsep(&rows, "\n") : rows) && *row;) {
			if (boot)
				booted(row, fstab ? fstab : LINE, minor);
			else
				judge_crypttab(row, fstab ? fstab : "");
			/* The command line of the cases of a crypttab is not checked. */
			char *not_checked = boot ? NULL : strstr(text, NOT_CHECKED);
			if (not_checked)
				memmove(not_checked, not_checked + sizeof(NOT_CHECKED) - 1,
				        strlen(not_checked) - sizeof(NOT_CHECKED) + 2);
			says(c.name, text, expected);
			if (!boot && !each)
				break;
		}
	}
	CU_ASSERT(count > 40);
	says("CR LF", judge_crypttab("a\tUUID=luks\r\nc UUID=luks none luks \t\r\n", ""),
	     NOT_CHECKED);
}

static const char *opens(void *arg, const char *name)
{
	(void)arg;
	return name && strcmp(name, "outer") == 0 ? "line 1 of /etc/crypttab" : NULL;
}

static const char *opens_any(void *arg, const char *name)
{
	const char *where = opens(arg, name);
	return where || name ? where : "line 1 of /etc/crypttab";
}

static const char *opens_unknown(void *arg, const char *name)
{
	const char *where = opens(arg, name);
	return where ? where : "";
}

/** A mapping on a device that exists only once another mapping is open. */
UNIT_TEST(nested_mappings)
{
	static const char tab[] = "outer UUID=luks none luks\ninner /dev/mapper/outer none luks\n"
	                          "lv /dev/vg/gone none luks\n";
	static const char inner[] =
		"BOOT-CRYPTTAB info inner ct:2: its device does not exist now: line 1 of "
		"/etc/crypttab opens it at boot (/dev/mapper/outer)\n";
	struct fstab_facts own = facts;
	struct audit_live host = healthy();
	STRBUF(expected);
	host.facts = &own;
	host.crypttab = tab;
	host.crypttab_name = "ct";
	own.opens = opens;
	strbuf_printf(&expected, "%sBOOT-CRYPTTAB warning lv ct:3: its device does not exist, and "
	              "the boot waits for it (/dev/vg/gone)\n" NOT_CHECKED, inner);
	says("no other mapping", judged(&host, "", NULL), strbuf_str(&expected));
	own.opens = opens_any;
	says("of a running system", judged(&host, "", NULL), strbuf_str(&expected));
	elsewhere = true;
	strbuf_reset(&expected);
	strbuf_printf(&expected, "%sBOOT-CRYPTTAB info lv ct:3: its device does not exist now, but "
	              "may be in a mapping that is not open: line 1 of /etc/crypttab opens it at "
	              "boot (/dev/vg/gone)\n" NOT_CHECKED, inner);
	says("a mapping that is not open", judged(&host, "", NULL), strbuf_str(&expected));
	own.opens = opens_unknown;
	strbuf_reset(&expected);
	strbuf_printf(&expected, "%s?BOOT-ROOT\n?BOOT-CRYPTTAB\n", inner);
	says("unknown", judged(&host, "", NULL), strbuf_str(&expected));
	elsewhere = false;
}

/** A device that each boot overwrites, and that is mounted. */
UNIT_TEST(overwritten)
{
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
	     "(ext4)\n" NOT_CHECKED);
}

UNIT_TEST(many)
{
	enum { LINES = 20000 };
	STRBUF(out);
	for (unsigned i = 0; i < LINES; ++i)
		strbuf_printf(&out, "n%u UUID=luks none luks\n", i);
	says("many", judge_crypttab(strbuf_str(&out), ""), NOT_CHECKED);
}

static int judge_host(void *arg)
{
	static size_t found;
	struct audit_report report = {0};
	int rc = audit_host(arg, &report), error = errno;
	found = found ? found : report.count;
	CU_ASSERT(found > 8 && (rc != 0 || report.count == found));
	audit_report_destroy(&report);
	errno = error;
	return rc;
}

/** All findings at once, with each allocation failing. */
UNIT_TEST(no_memory)
{
	struct host_errors met = {0, 3, 0, "the last in f()", false};
	const struct host_errors_list errors_ = {.list = &met, .count = 1};
	static const char fstab[] = "UUID=copy / ext4\n/dev/mapper/a /a ext4\n/dev/mapper/made /m "
	                            "ext4\n";
	struct mount root = {.dev_major = 8, .fstype = "ext4"};
	struct fstab_line of_root = {.fate = FSTAB_LINE, .mount = &root, .target = "/"};
	struct fstab_plan plan = {.lines = &of_root, .count = 1};
	struct fstab_file *lines = fstab_parse(fstab, sizeof(fstab) - 1);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	struct audit_live live = {
		.file = lines, .plan = &plan, .facts = &facts,
		.mtab = {HOST_MTAB_FILE, 1, 1, 1, 1}, .fstab_seen = true, .fstab_mode = 0100666,
		.errors = &errors_, .cmdline = "root=UUID=root resume=/dev/gone",
		.crypttab = "a UUID=gone /gone\na\nt UUID=copy k swap\n#made /x\nu "
		            "UUID=luks - noatuo\n",
		.crypttab_name = "ct",
	};
	fault_each_allocation(judge_host, &live, 5);
	fstab_file_free(lines);
}

UNIT_TEST(owners)
{
	CU_ASSERT(audit_is_owner("container:docker", "container"));
	CU_ASSERT(audit_is_owner("session", "session"));
	CU_ASSERT(!audit_is_owner("sessions", "session"));
	CU_ASSERT(!audit_is_owner("session", "sessions"));
	CU_ASSERT(!audit_is_owner(NULL, "session"));
	for (size_t i = 1; audit_owners[i]; ++i)
		CU_ASSERT(strcmp(audit_owners[i - 1], audit_owners[i]) < 0);
}
