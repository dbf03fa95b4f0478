/* SPDX-License-Identifier: MIT */
/*
 * Which line mounts what, and what differs, by fstab_match() and by the audit, from recorded
 * tables.  That the merge finds the same differences, test_fstab_merge.c checks for its cases.
 */
#include "unit.h"

#include "cases.h"
#include "audit/live.h"
#include "fstab/edit/merge.h"

#define ROOT_UUID "4007d15c-0000-4000-8000-000000000000"
#define DATA_UUID "da7ad15c-0000-4000-8000-000000000000"
#define SRV_UUID "5a7ad15c-0000-4000-8000-000000000000"

static const struct devmap_tags devices[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = ROOT_UUID},
	{.name = "/dev/sda2", .type = "ext4", .uuid = DATA_UUID},
};

static int find_device(void *arg, const struct mount *mount, const char *swap,
                       struct fstab_device *device)
{
	(void)swap;
	(void)arg;
	if (!mount)
		return 0;
	if (mount->dev_major == 8 && mount->dev_minor <= 2)
		device->tags = &devices[mount->dev_minor - 1];
	return 0;
}

/** /link leads to /srv; there are no other links, and nothing of a container. */
static enum fact_kind look(void *arg, const char *target, struct strbuf *path)
{
	(void)arg;
	if (path)
		strbuf_puts(path, strcmp(target, "/link") == 0 ? "/srv" : target);
	return strstr(target, "env") || strncmp(target, "/run/", 5) == 0 ? FACT_MISSING : FACT_DIR;
}

#define ROOT_LINE "UUID=" ROOT_UUID " / ext4 defaults 0 1\n"
#define ROOT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define DATA "21 20 8:2 / /data rw,relatime - ext4 /dev/sda2 rw\n"
#define LINES ROOT_LINE "UUID=" DATA_UUID " /data ext4 defaults 0 2\n"
#define NOATIME "21 20 8:2 / /data rw,noatime - ext4 /dev/sda2 rw\n"
#define LINES_NOATIME ROOT_LINE "UUID=" DATA_UUID " /data ext4 noatime 0 2\n"
#define READONLY "21 20 8:2 / /data ro,noexec,noatime - ext4 /dev/sda2 rw\n"
#define LINES_READONLY ROOT_LINE "UUID=" DATA_UUID " /data ext4 ro,noexec,noatime 0 2\n"

/* The plan has no line for /srv, whose device has no tag, but the file may have one. */
#define SRV "21 20 8:9 / /srv rw,relatime - ext4 /dev/sdx rw\n"
#define IN "22 21 8:2 / /srv/in rw,relatime - ext4 /dev/sda2 rw\n"
#define BOUND "22 20 8:9 /b /b rw,relatime - ext4 /dev/sdx rw\n"
#define OVER "22 20 0:40 / /o rw,relatime - overlay o rw,lowerdir=/srv/l:/m\n"
#define LINE_OF_SRV ROOT_LINE "UUID=" SRV_UUID " /srv ext4 "
#define IMAGE(mode, source, options) \
	"20 1 0:38 / / " mode ",relatime - overlay " source " " mode "," options "\n"
#define MISSING "DRIFT-NOT-IN-FSTAB warning 0\n"

static const struct {
	const char *table, *lines;
	const char *differences;   /* by fstab_match() */
	const char *findings;      /* by audit_drift() */
} rows[] = {
	{ROOT DATA, LINES, "", ""},
	{ROOT, LINES, "", "DRIFT-NOT-MOUNTED warning 2\n"},
	{ROOT DATA, ROOT_LINE, "missing 0 /data\n",
	 "DRIFT-NOT-IN-FSTAB warning 0\n"},
	{ROOT DATA, ROOT_LINE "LABEL=other /data ext4 defaults 0 2\n",
	 "source 2 /data\n", "DRIFT-SOURCE critical 2\n"},
	{ROOT DATA, ROOT_LINE "UUID=" DATA_UUID " /data xfs defaults 0 2\n",
	 "source 2 /data\n", "DRIFT-SOURCE critical 2\n"},
	{ROOT DATA, ROOT_LINE "UUID=" DATA_UUID " /data ext4 noexec 0 2\n",
	 "options 2 /data exec\n", "DRIFT-OPTIONS warning 2\n"},
	{ROOT "21 20 8:2 / /data ro,relatime - ext4 /dev/sda2 rw\n", LINES, "options 2 /data ro\n",
	 "DRIFT-READONLY critical 2\n"},
	{ROOT DATA, LINES "UUID=" DATA_UUID " /elsewhere ext4 defaults 0 2\n",
	 "elsewhere 3 /data\n", "DRIFT-NOT-MOUNTED warning 3\n"},
	/* A read-only bind is what its line asks for, of a whole mount as of a directory, also
	   bound again. */
	{ROOT DATA "22 20 8:2 / /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data /ro none bind,ro 0 0\n", "", ""},
	/* Of a read-only file system a bind is read-only, also with rw. */
	{ROOT "21 20 8:2 / /data ro,relatime - ext4 /dev/sda2 ro\n22 20 8:2 /a /ro ro,relatime - "
	      "ext4 /dev/sda2 ro\n",
	 ROOT_LINE "UUID=" DATA_UUID " /data ext4 ro 0 2\n/data/a /ro none bind,rw 0 "
	 "0\n", "", ""},
	/* A later line may remount it. */
	{ROOT DATA "22 20 8:2 / /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data /ro none bind 0 0\n/data /ro none remount,bind,ro 0 0\n", "", ""},
	{ROOT DATA "22 20 8:2 / /ro rw,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data /ro none bind 0 0\n/data /ro none remount,bind,ro 0 0\n",
	 "options 3 /ro rw\n", "DRIFT-OPTIONS warning 3\n"},
	{ROOT DATA "22 20 8:2 /a /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind,ro 0 0\n", "", ""},
	{ROOT DATA "22 20 8:2 /a /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro auto ro,rbind 0 0\n", "", ""},
	{ROOT DATA "22 20 8:2 /a /ro ro,relatime - ext4 /dev/sda2 rw\n23 20 8:2 /a /again "
	           "ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind,ro 0 0\n/ro /again none bind 0 0\n", "", ""},
	{ROOT "21 20 8:1 /srv/a /srv/a ro,relatime - ext4 /dev/sda1 rw\n",
	 ROOT_LINE "/srv/a /srv/a none bind,ro 0 0\n", "", ""},
	/* The file system below is read-only since an error: that is of the file system's own line.
	 */
	{ROOT "21 20 8:2 / /data rw,relatime - ext4 /dev/sda2 ro\n22 20 8:2 /a /ro ro,relatime - "
	      "ext4 /dev/sda2 ro\n",
	 LINES "/data/a /ro none bind,ro 0 0\n", "", "DRIFT-READONLY critical 2\n"},
	/* It is not what its line asks for. */
	{ROOT DATA "22 20 8:2 /a /ro rw,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind,ro 0 0\n", "options 3 /ro rw\n", "DRIFT-OPTIONS warning 3\n"},
	{ROOT DATA "22 20 8:2 /a /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind 0 0\n", "options 3 /ro ro\n", "DRIFT-READONLY critical 3\n"},
	{ROOT DATA "22 20 8:2 /a /ro ro,noexec,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind,ro 0 0\n", "options 3 /ro noexec\n",
	 "DRIFT-OPTIONS warning 3\n"},
	/* A flag that the line does not name is the source's, or the default. */
	{ROOT NOATIME "22 20 8:2 /a /b ro,noatime - ext4 /dev/sda2 rw\n",
	 LINES_NOATIME "/data/a /b none bind,ro 0 0\n", "", ""},
	{ROOT NOATIME "22 20 8:2 /a /b ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES_NOATIME "/data/a /b none bind,ro 0 0\n", "", ""},
	{ROOT NOATIME "22 20 8:2 /a /b rw,noatime - ext4 /dev/sda2 rw\n",
	 LINES_NOATIME "/data/a /b none bind,relatime 0 0\n", "options 3 /b noatime\n",
	 "DRIFT-OPTIONS warning 3\n"},
	{ROOT READONLY "22 20 8:2 /a /b ro,nosuid,noexec,noatime - ext4 /dev/sda2 rw\n",
	 LINES_READONLY "/data/a /b none bind,nosuid 0 0\n", "", ""},
	{ROOT READONLY "22 20 8:2 /a /b rw,nosuid,noatime - ext4 /dev/sda2 rw\n",
	 LINES_READONLY "/data/a /b none bind,nosuid 0 0\n", "", ""},
	{ROOT NOATIME "22 20 8:2 /a /b rw,nosuid,nodev,noatime - ext4 /dev/sda2 rw\n",
	 LINES_NOATIME "/data/a /b none bind,nosuid 0 0\n", "options 3 /b nodev\n",
	 "DRIFT-OPTIONS warning 3\n"},
	{ROOT READONLY "22 20 8:2 /a /b ro,nosuid,noexec - ext4 /dev/sda2 rw\n",
	 LINES_READONLY "/data/a /b none bind,rw,nosuid 0 0\n", "options 3 /b ro,strictatime\n",
	 "DRIFT-READONLY critical 3\n"},
	{ROOT DATA "22 20 8:2 /b /ro ro,relatime - ext4 /dev/sda2 rw\n",
	 LINES "/data/a /ro none bind,ro 0 0\n", "source 3 /ro\n", "DRIFT-SOURCE critical 3\n"},
	/* A boot remounts the root with the options of its line. */
	{IMAGE("ro", "composefs", "lowerdir=/a:/b"), "UUID=root / ext4 defaults 0 1\n",
	 "source 1 /\n", "DRIFT-SOURCE critical 1\n"},
	{IMAGE("ro", "composefs", "lowerdir=/a:/b"), "UUID=root / ext4 ro,subvol=x 0 1\n",
	 "source 1 /\n", "DRIFT-SOURCE critical 1\n"},
	{IMAGE("ro", "composefs", "lowerdir=/a:/b"), "UUID=root / ext4 ro,noatime,x-a=b 0 1\n",
	 "source 1 /\n", ""},
	{IMAGE("rw", "composefs:12ab", "lowerdir=/a,upperdir=/u,workdir=/w"),
	 "UUID=root / ext4 rw,errors=remount-ro 0 1\n", "source 1 /\n",
	 "DRIFT-SOURCE critical 1\n"},
	{IMAGE("rw", "overlay", "lowerdir=/run/x::/sysroot/ostree/repo,upperdir=/u,workdir=/w"),
	 "UUID=root / btrfs subvol=x 0 1\n", "source 1 /\n", "DRIFT-SOURCE critical 1\n"},
	{IMAGE("rw", "composefs", "lowerdir=/a,upperdir=/u,workdir=/w"),
	 "UUID=root / ext4 defaults,noatime 0 1\n", "source 1 /\n", ""},
	{IMAGE("rw", "overlay", "lowerdir=/a,upperdir=/u,workdir=/w"),
	 "UUID=root / ext4 errors=remount-ro 0 1\n", "source 1 /\n", ""},
	{IMAGE("ro", "overlay", "lowerdir=/a:/b"), "overlay / overlay rw 0 0\n", "source 1 /\n",
	 "DRIFT-SOURCE critical 1\n"},
	{IMAGE("ro", "composefs", "lowerdir=/a:/b"), "#UUID=root / ext4 defaults 0 1\n",
	 "no-line 0 /\n", ""},
	{ROOT SRV IN, LINE_OF_SRV "defaults 0 2\n", "missing 0 /srv/in\n", MISSING},
	{ROOT SRV BOUND, LINE_OF_SRV "defaults 0 2\n", "missing 0 /b\n", MISSING},
	{ROOT SRV OVER, LINE_OF_SRV "defaults 0 2\n", "missing 0 /o\n", MISSING},
	{ROOT SRV IN, LINE_OF_SRV "noauto,x-systemd.automount 0 2\n", "missing 0 /srv/in\n",
	 MISSING},
	{ROOT SRV IN, ROOT_LINE "UUID=" SRV_UUID " /link ext4 defaults 0 2\n",
	 "missing 0 /srv/in\n", MISSING},
	/* The line makes another mount than the one that shows the source. */
	{ROOT "21 20 8:9 /x /srv rw - ext4 /dev/sdx rw\n22 20 8:9 /x/b /b rw - ext4 /dev/sdx rw\n",
	 LINE_OF_SRV "defaults 0 2\n", "source 2 /srv\nno-line 0 /b\n",
	 "DRIFT-SOURCE critical 2\nDRIFT-NOT-IN-FSTAB info 0\n"},
	{ROOT SRV IN, LINE_OF_SRV "noauto 0 2\n", "no-line 0 /srv/in\n",
	 "DRIFT-NOT-IN-FSTAB info 0\n"},
	{ROOT SRV IN, ROOT_LINE "UUID=" SRV_UUID " /srv2 ext4 noauto 0 2\n",
	 "no-line 0 /srv\nno-line 0 /srv/in\n", MISSING "DRIFT-NOT-IN-FSTAB info 0\n"},
};

static char text[1024];

static void put_match(const struct fstab_match *match)
{
	static const char *const kinds[] = {
		[FSTAB_DIFFER_MISSING] = "missing", [FSTAB_DIFFER_NO_LINE] = "no-line",
		[FSTAB_DIFFER_SOURCE] = "source", [FSTAB_DIFFER_OPTIONS] = "options",
		[FSTAB_DIFFER_REPEATED] = "repeated", [FSTAB_DIFFER_CONFLICT] = "conflict",
		[FSTAB_DIFFER_ELSEWHERE] = "elsewhere", [FSTAB_DIFFER_AGAIN] = "again",
	};
	size_t n = 0;
	text[0] = '\0';
	for (size_t i = 0; i < match->count; ++i) {
		const struct fstab_difference *d = &match->differences[i];
		bool options = d->kind == FSTAB_DIFFER_OPTIONS;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s %u %s%s%s\n", kinds[d->kind],
		                      d->line ? (unsigned)d->line->number : 0, d->live->target,
		                      options ? " " : "", options ? d->actual : "");
	}
}

static void put_drift(const struct fstab_file *lines, const struct fstab_match *match,
                      const struct fstab_input *in, struct fstab_plan *plan)
{
	struct audit_report report;
	CU_ASSERT_EQUAL_FATAL(audit_fstab(&(struct audit_input){.file = lines}, &report), 0);
	CU_ASSERT_EQUAL(audit_own(plan, match, lines, &in->facts), 0);
	struct audit_live live = {.d = in->d, .root = in->root, .facts = &in->facts, .file = lines,
	                          .match = match, .plan = plan, .uptime = -1};
	CU_ASSERT_EQUAL(audit_drift(&live, &report), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *finding = &report.findings[i];
		size_t n = strlen(text);
		if (strncmp(audit_rules[finding->code].code, "DRIFT-", 6) == 0)
			snprintf(text + n, sizeof(text) - n, "%s %s %u\n",
			         audit_rules[finding->code].code,
			         audit_severity_name(finding->severity), (unsigned)finding->line);
	}
	audit_report_destroy(&report);
}

static void check(size_t row, const char *what, const char *expected)
{
	if (strcmp(text, expected) != 0)
		printf("row %zu, %s:\n%s", row, what, text);
	CU_ASSERT_STRING_EQUAL(text, expected);
}

UNIT_TEST(rows)
{
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct fstab_file *lines = fstab_parse(rows[i].lines, strlen(rows[i].lines));
		struct discovery *d = unit_discover(rows[i].table);
		struct fstab_input in = {
		        .d = d,
		        .root = "/",
		        .options = FSTAB_MINIMAL,
		        .file = lines,
		        .facts = {.device = find_device, .look = look},
		};
		struct fstab_plan plan;
		CU_ASSERT_EQUAL_FATAL(fstab_plan(&in, &plan), 0);
		struct fstab_match_input matching = {
		        .file = lines, .plan = &plan, .root = "/", .facts = &in.facts};
		struct fstab_match match;
		CU_ASSERT_EQUAL_FATAL(fstab_match(&matching, &match), 0);
		put_match(&match);
		check(i, "match", rows[i].differences);
		put_drift(lines, &match, &in, &plan);
		check(i, "audit", rows[i].findings);
		fstab_match_destroy(&match);
		fstab_plan_destroy(&plan);
		fstab_file_free(lines);
		unit_discovery_free(d);
	}
}
