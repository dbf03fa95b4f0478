/* SPDX-License-Identifier: MIT */
/*
 * The rules of an fstab.  Most cases are in tests/fixtures/fstab/rules.
 */
#include "unit.h"

#include "audit/rules.h"
#include "base/words.h"
#include "cases.h"

/* A machine whose devices and files exist according to their names. */

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "11111111-2222-3333-4444-555555555555"},
	{.name = "/dev/sda2", .type = "vfat", .uuid = "AB12-CD34"},
	{.name = "/dev/sda3", .type = "swap", .uuid = "swap"},
	{.name = "/dev/mapper/vg-x", .type = "xfs", .uuid = "xfs"},
	{.name = "/dev/sda4", .type = "crypto_LUKS", .uuid = "luks"},
	{.name = "/dev/sda5", .type = "mpath_member", .uuid = "path"},
	{.name = "/dev/sda6", .uuid = "blank", .known = DEVMAP_UNTAGGED},
	{.name = "/dev/zram0", .uuid = "zram", .known = DEVMAP_UNTAGGED},
};

static unsigned lookups;

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	++lookups;
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	if (strstr(source, "twice"))
		return 2;
	if (strstr(source, "denied"))
		return -1;
	for (size_t i = 0; i < COUNT(tags); ++i) {
		if (strcmp(tags[i].name, source) == 0 || strcmp(tags[i].uuid, value) == 0) {
			if (device)
				device->tags = &tags[i];
			return 1;
		}
	}
	if (strstr(source, "iscsi") && device)
		device->remote = true;
	return strstr(source, "none") || value != source ? strstr(source, "there") != NULL : 1;
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	bool systemd = arg && strcmp(path, arg) == 0;
	if (strstr(path, "gone") || strcmp(path, "/run/WSL") == 0
	    || (strstr(path, "systemd") && !systemd))
		return FACT_MISSING;
	if (strstr(path, "hung"))
		return FACT_UNKNOWN;
	if (real && strncmp(path, "/pkg/", 5) == 0)   /* /pkg leads to p/pkg */
		strbuf_puts(real, "/p");
	if (real)
		strbuf_puts(real, strcmp(path, "/var/run") == 0 ? "/run" : path);
	return strstr(path, "file") ? FACT_FILE : strstr(path, "char") ? FACT_OTHER : FACT_DIR;
}

static int has_helper(const char *name)
{
	static const char *const missing[] = {"mount.cifs", "mount.tmpsf", "mount.foofs",
	                                      "mount.hfsplus", "fsck.f2fs"};
	for (size_t i = 0; i < COUNT(missing); ++i) {
		if (strcmp(name, missing[i]) == 0)
			return 0;
	}
	return 1;
}

static int answer(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	return question == FSTAB_HAS_HELPER ? has_helper(name)
	       : question == FSTAB_HAS_TYPE ? !word_in(name, strlen(name), "tmpsf hfsplus foofs")
	                                    : -1;
}

static const struct fstab_facts facts = {
	.devices = devices, .look = look, .answer = answer,
};

static char text[64 * 1024];

/** Print findings, a line each: "2 FSTAB-ORDER critical! /a: message". */
static void put_findings(const struct audit_report *report)
{
	text[0] = '\0';
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		CU_ASSERT(f->severity <= audit_rules[f->code].severity);
		CU_ASSERT(!f->boot || audit_rules[f->code].flags & AR_BOOT);
		CU_ASSERT_PTR_NULL(strstr(f->message, "hunter2"));
		CU_ASSERT_PTR_NULL(f->actual ? strstr(f->actual, "hunter2") : NULL);
		size_t n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "%u %s %s%s %s: %s\n", f->line,
		         audit_rules[f->code].code, audit_severity_name(f->severity),
		         f->boot ? "!" : "", f->target, f->message);
	}
}

/** The findings of a text, a line each: "2 FSTAB-ORDER critical! /a: message". */
static const char *judged(const char *fstab, const struct fstab_facts *known,
                          struct audit_report *keep)
{
	struct fstab_file *lines = fstab_parse(fstab, strlen(fstab));
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	struct audit_report report;
	CU_ASSERT_EQUAL_FATAL(audit_fstab(&(struct audit_input){lines, known}, &report), 0);
	put_findings(&report);
	if (keep)
		*keep = report;
	else
		audit_report_destroy(&report);
	fstab_file_free(lines);
	return text;
}

#define ROOT "UUID=11111111-2222-3333-4444-555555555555 / ext4 defaults 0 1\n"
#define X "/dev/mapper/vg-x"

/** Texts that a file of fixtures would not keep. */
static const struct {
	const char *name, *fires, *expected, *healthy;
} bytes[] = {
	{"a no-break space", X "\xc2\xa0/x xfs noatime 0 2\n",
	 "2 FSTAB-SYNTAX critical! /x: it contains a U+00A0",
	 X " /x xfs x-gvfs-name=a\xc2\xa0" "b,comment=\xc2\xa0\n"},
	{"a no-break space in a mount point", X " /a\xc2\xa0" "b xfs\n",
	 "2 FSTAB-SYNTAX warning! /a\xc2\xa0" "b: the mount point contains a U+00A0, which looks",
	 "t /\xd9\x85\xdb\x8c\xe2\x80\x8c\xd8\xae tmpfs\n"
	 "t /\xe5\x86\x99\xe3\x80\x80\xe5\x86\x99 tmpfs\nt /caf\xe9 tmpfs\n"},
	{"a zero-width space in a mount point", X " /x\xe2\x80\x8b xfs nofail\n",
	 "2 FSTAB-SYNTAX warning /x\xe2\x80\x8b: the mount point contains a U+200B, which is inv",
	 X " /x xfs nofail\n"},
	{"a soft hyphen in a mount point", X " /x\\302\\255/y xfs\n",
	 "2 FSTAB-SYNTAX warning! /x\xc2\xad/y: the mount point contains a U+00AD, which is inv",
	 X " /x-/y xfs\n"},
	{"a byte order mark before a mount point", X " \xef\xbb\xbf/x xfs\n",
	 "2 FSTAB-SYNTAX critical! \xef\xbb\xbf/x: it contains a U+FEFF, which is invisible",
	 X " /x xfs\n"},
	{"a byte order mark before a source", "\xef\xbb\xbfUUID=there /x ext4\n",
	 "2 FSTAB-SYNTAX warning! /x: the source contains a U+FEFF", "UUID=there /x ext4\n"},
	{"a mark of direction in a bind source", "/a\xe2\x80\x8e /x none bind\n",
	 "2 FSTAB-SYNTAX warning! /x: the source contains a U+200E", "/a /x none bind\n"},
	{"a word joiner in a value", X " /x xfs logdev=/dev/\xe2\x81\xa0" "a\n",
	 "2 FSTAB-SYNTAX warning! /x: the value of logdev contains a U+2060",
	 X " /x xfs logdev=/dev/a\n"},
	{"a zero-width space in an option", X " /x xfs noatime\xe2\x80\x8b,nofail\n",
	 "2 FSTAB-SYNTAX critical /x: it contains a U+200B, which is invisible",
	 X " /x xfs nofail\n"},
	{"another blank", X "\xc2\xa0/x\xe2\x80\x83xfs\n",
	 "2 FSTAB-SYNTAX critical! /x: it contains a U+00A0", "#\n"},
	{"a no-break space between options", X " /x xfs nofail,\xc2\xa0noatime\n",
	 "2 FSTAB-SYNTAX critical /x: it contains a U+00A0", X " /x xfs nofail,noatime\n"},
	{"CR LF", X " /x xfs defaults 0 2\r\n/tmp /b none bind 0 0\r\n",
	 "2 FSTAB-SYNTAX warning /x", X " /x xfs defaults 0 2\n"},
	{"CR of the last field", X " /x xfs noatime\r\n", "2 FSTAB-SYNTAX critical! /x",
	 X " /x xfs noatime\n"},
	{"control characters", X " /x\x01 xfs\n", "2 FSTAB-SYNTAX warning /x", X "\t/x\t xfs\n"},
};

/** Whether there is a finding of a code, or one whose line begins with this. */
static bool has(const char *findings, enum audit_code code, const char *line)
{
	char word[64];
	snprintf(word, sizeof(word), " %s ", audit_rules[code].code);
	return strstr(findings, line ? line : word);
}

/** Check that one text has a finding, and another has not. */
static void check_row(const char *name, enum audit_code code, const char *fires,
                      const char *expected, const char *healthy)
{
	char whole[4096];
	snprintf(whole, sizeof(whole), ROOT "%s", fires);
	bool good = has(judged(whole, &facts, NULL), code, expected);
	if (!good)
		printf("%s: not found:\n%s", name, text);
	CU_ASSERT_TRUE(good);
	snprintf(whole, sizeof(whole), ROOT "%s", healthy);
	good = !has(judged(whole, &facts, NULL), code, NULL);
	if (!good)
		printf("%s: found in the healthy text:\n%s", name, text);
	CU_ASSERT_TRUE(good);
}

UNIT_TEST(each_rule)
{
	bool fired[AUDIT_CODES] = {false};
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/rules", &c); ++count) {
		const char *expected = NULL, *healthy = "";
		int code = audit_code(c.name, strcspn(c.name, ":"));
		CU_ASSERT_FATAL(code >= 0);
		for (size_t i = 1; i < c.count; ++i) {
			if (strcmp(c.parts[i].head, "healthy") == 0)
				healthy = c.parts[i].text;
			else
				expected = c.parts[i].head + strlen("expected ");
		}
		fired[code] = true;
		check_row(c.name, (enum audit_code)code, c.parts[0].text, expected, healthy);
	}
	CU_ASSERT(count > 150);
	for (size_t i = 0; i < COUNT(bytes); ++i)
		check_row(bytes[i].name, FSTAB_SYNTAX, bytes[i].fires, bytes[i].expected,
		          bytes[i].healthy);
	for (int code = 0; code < AUDIT_CODES; ++code) {
		/* Later rules compare two texts, or are about what is mounted. */
		CU_ASSERT_TRUE(fired[code] || code >= FSTAB_LOST);
		CU_ASSERT_PTR_NOT_NULL(audit_rules[code].what);
		CU_ASSERT_EQUAL(audit_code(audit_rules[code].code, strlen(audit_rules[code].code)),
		                code);
	}
	CU_ASSERT_EQUAL(audit_code("FSTAB", 5), -1);
}

/** A row "TAG TYPE -> SEVERITY MESSAGE | HINT", or "-> healthy", without facts. */
static void check_tag(const char *row, const char *outcome)
{
	char line[512], got[512] = "healthy";
	struct audit_report report;
	const char *type = strrchr(row, ' ') + 1;
	snprintf(line, sizeof(line), "%.*s %s %s\n", (int)(type - 1 - row), row,
	         strcmp(type, "swap") == 0 ? "none" : "/x", type);
	judged(line, NULL, &report);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		if (f->code == FSTAB_SRC_MISSING)
			snprintf(got, sizeof(got), "%s %s | %s", audit_severity_name(f->severity),
			         f->message, f->hint);
	}
	unit_expect(got, outcome);
	audit_report_destroy(&report);
}

UNIT_TEST(tags_without_facts)
{
	CU_ASSERT(unit_each_row("tests/fixtures/fstab/tags", check_tag) > 60);
}

UNIT_TEST(root)
{
	CU_ASSERT_STRING_EQUAL(judged(X " /home xfs\n" ROOT, &facts, NULL),
	                       "1 FSTAB-ORDER info /home: it is before line 2, of /\n");
}

/** systemd creates missing directories; it is recognized by any of its own. */
UNIT_TEST(systemd)
{
	static char places[][32] = {"/run/systemd/system", "/run/systemd/generator",
	                            "/usr/lib/systemd/systemd", "/lib/systemd/systemd"};
	struct fstab_facts own = facts;
	for (size_t i = 0; i < COUNT(places); ++i) {
		own.arg = places[i];
		CU_ASSERT_TRUE(has(judged(ROOT X " /gone xfs\n", &own, NULL), FSTAB_TGT_MISSING,
		                   "2 FSTAB-TGT-MISSING info /gone"));
	}
	CU_ASSERT_TRUE(has(judged(ROOT X " /gone xfs\n", &facts, NULL), FSTAB_TGT_MISSING,
	                   "2 FSTAB-TGT-MISSING warning /gone"));
}

/** Lines of mount points that systemd mounts by itself. */
UNIT_TEST(what_systemd_skips)
{
	static const struct {
		const char *line;
		bool skipped, nofail;   /* it is reported; so is that it lacks nofail */
	} rows[] = {
		{X " /dev/shm xfs\n", true, false},
		{"tmpfs /dev/shm tmpfs size=1g\n", false, false},
		{X " /dev/shm/x xfs\n", false, true}, {X " /tmp xfs\n", false, false},
		{X " /run xfs noauto\n", false, false}, {"/srv /run/lock none bind\n", true, false},
		{X " /sys/fs/cgroup/x xfs\n", true, false}, {X " /run/./host/ xfs\n", true, false},
	};
	static char place[] = "/run/systemd/system";
	char whole[256];
	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(*rows); ++i) {
		bool systemd = i % 2;
		struct fstab_facts own = facts;
		own.arg = systemd ? place : NULL;
		snprintf(whole, sizeof(whole), ROOT "%s", rows[i / 2].line);
		judged(whole, &own, NULL);
		CU_ASSERT_EQUAL(strstr(text, "itself and skips this line") != NULL,
		                systemd && rows[i / 2].skipped);
		CU_ASSERT(!systemd || (strstr(text, "FSTAB-NOFAIL") != NULL) == rows[i / 2].nofail);
	}
}

/** Where a mapping is opened at boot; `arg` of the facts is the name of a mapping. */
static const char *closed, *maybe_closed;

static const char *opens(void *arg, const char *name)
{
	(void)arg;
	return !name ? maybe_closed
	       : closed && strcmp(name, closed) == 0 ? "line 2 of /etc/crypttab"
	       : maybe_closed && !*maybe_closed ? "" : NULL;
}

/** Devices that do not exist now, but that the boot opens. */
UNIT_TEST(mappings_that_are_not_open)
{
#define SRC "2 FSTAB-SRC-MISSING "
#define AT_BOOT "line 2 of /etc/crypttab opens it at boot"
	static const struct {
		const char *source, *maybe;    /* maybe: of any mapping */
		const char *elsewhere, *here;  /* of another system, and of the running one */
	} rows[] = {
		{"/dev/mapper/none", NULL,
		 SRC "info /x: the device does not exist now: it is a mapping, and " AT_BOOT,
		 SRC "info /x: the device does not exist now: it is a mapping, and " AT_BOOT},
		{"/dev/disk/by-id/dm-name-none", NULL, SRC "info /x: the d", SRC "info /x: the d"},
		{"/dev/mapper/none2", NULL, SRC "critical! /x: the device does not exist\n",
		 SRC "critical! /x: the device does not exist\n"},
		{"LABEL=gone", NULL, SRC "critical! /x: no device has this identifier\n",
		 SRC "critical! /x: no device has this identifier\n"},
		/* It may be in another mapping; those of a running system are open. */
		{"LABEL=gone", "line 2 of /etc/crypttab", SRC "info /x: no device has this "
		 "identifier now, but it may be in a mapping that is not open: " AT_BOOT,
		 SRC "critical! /x: no device has this identifier\n"},
		{"/dev/vg/none", "line 2 of /etc/crypttab", SRC "info /x: the device does not "
		 "exist now, but", SRC "critical! /x: the device does not exist\n"},
		{"/dev/mapper/vg-none", "line 2 of /etc/crypttab", SRC "info /x: the device does",
		 SRC "critical! /x: the device does not exist\n"},
		/* The table cannot be read. */
		{"/dev/mapper/none2", "", NULL, NULL},
		{"LABEL=gone", "", NULL, SRC "critical! /x: no device has this identifier\n"},
		/* It is there. */
		{X, "line 2 of /etc/crypttab", NULL, NULL},
	};
	struct fstab_facts own = facts;
	own.opens = opens;
	closed = "none";
	for (size_t i = 0; i < 2 * COUNT(rows); ++i) {
		char whole[256];
		const char *expected = i % 2 ? rows[i / 2].elsewhere : rows[i / 2].here;
		struct audit_report report;
		maybe_closed = rows[i / 2].maybe;
		snprintf(whole, sizeof(whole), ROOT "%s /x ext4\n", rows[i / 2].source);
		struct fstab_file *lines = fstab_parse(whole, strlen(whole));
		const struct audit_input in = {.file = lines, .facts = &own, .elsewhere = i % 2};
		CU_ASSERT_FATAL(lines && audit_fstab(&in, &report) == 0);
		put_findings(&report);
		unit_note("%s", whole);
		bool good = expected ? has(text, FSTAB_SRC_MISSING, expected)
		                     : !has(text, FSTAB_SRC_MISSING, NULL);
		if (!good)
			printf("%s%s, expected %s\n", whole, text, expected ? expected : "nothing");
		CU_ASSERT_TRUE(good);
		CU_ASSERT_EQUAL(audit_set_has(report.not_checked, FSTAB_SRC_MISSING),
		                !expected && strcmp(rows[i / 2].source, X) != 0);
		audit_report_destroy(&report);
		fstab_file_free(lines);
	}
}

/** Lines with one mount point, of which mount -a mounts at most one: systemd reads the first. */
UNIT_TEST(one_mount_point_with_noauto)
{
#define DUP(level) "3 FSTAB-DUP-TARGET " level
#define FIRST "systemd reads only the first"
#define SAME " /x: line 2 has the same mount point: " FIRST
#define NEVER ", which is noauto, and mounts nothing there by itself"
#define AUTO "noauto,x-systemd.automount\n"
	static const struct {
		const char *lines;
		const char *expected;   /* with systemd; NULL: nothing is found */
	} rows[] = {
		{X " /x xfs noauto\nUUID=there /x ext4 nofail\n",
		 DUP("warning") SAME NEVER "; mount -a mounts only this line\n"},
		{X " /x xfs noauto\nUUID=there /x ext4\n", DUP("warning!") SAME NEVER "; mount"},
		{X " /x xfs noauto\nUUID=there /x ext4 noauto,comment=systemd.automount\n",
		 DUP("warning") SAME NEVER "\n"},
		{X " /x xfs " AUTO "UUID=there /x ext4 " AUTO, DUP("warning") SAME "\n"},
		{X " /x xfs " AUTO "UUID=there /x ext4 nofail\n",
		 DUP("warning") SAME "; mount -a mounts only this line\n"},
		{X " /x xfs nofail\nUUID=there /x ext4 " AUTO, DUP("warning") SAME "\n"},
		{X " /x xfs nofail\nUUID=there /x ext4 noauto\n",
		 DUP("info") SAME ", and reports an error for this line\n"},
		{X " /x xfs noauto\nUUID=there /x ext4 noauto\n", DUP("info") SAME},
		{X " /pkg/a xfs noauto\nUUID=there /p/pkg/a ext4 nofail\n",
		 DUP("warning") " /p/pkg/a: line 2, of /pkg/a, resolves to this mount point: " FIRST
		 NEVER},
		{X " /p/pkg/a xfs noauto\nUUID=there /pkg/a ext4 nofail\n",
		 DUP("warning") " /pkg/a: it resolves to /p/pkg/a, the mount point of line 2: "
		 FIRST NEVER},
		{X " /x xfs noauto\nUUID=there /y ext4 nofail\n", NULL},
		{X " /dev/shm xfs noauto\nUUID=there /dev/shm ext4 noauto\n", NULL},
		{X " none swap noauto\nUUID=there none swap noauto\n", NULL},
		{X " /x xfs noauto\n/x /x none bind,ro\n", NULL},
	};
	static char place[] = "/run/systemd/system";
	struct fstab_facts own = facts;
	char whole[256];
	own.arg = place;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		snprintf(whole, sizeof(whole), ROOT "%s", rows[i].lines);
		judged(whole, &own, NULL);
		bool good = rows[i].expected ? has(text, FSTAB_DUP_TARGET, rows[i].expected)
		                             : !has(text, FSTAB_DUP_TARGET, NULL);
		if (!good)
			printf("%s%s", whole, text);
		CU_ASSERT_TRUE(good);
		/* mount -a mounts one line, or none. */
		CU_ASSERT_FALSE(has(judged(whole, &facts, NULL), FSTAB_DUP_TARGET, NULL));
	}
	/* Of three lines. */
	judged(ROOT X " /x xfs noauto\nUUID=there /x ext4 nofail\nt /x tmpfs\n", &own, NULL);
	CU_ASSERT_TRUE(has(text, FSTAB_DUP_TARGET, "4 FSTAB-DUP-TARGET warning! /x: line 3 has the "
	                   "same mount point: mount(8) mounts both, one over the other; systemd "
	                   "neither, since it reads only line 2, which is noauto\n"));
	judged(ROOT X " /x xfs " AUTO "UUID=there /x ext4\nt /x tmpfs\n", &own, NULL);
	CU_ASSERT_TRUE(has(text, FSTAB_DUP_TARGET, "one over the other; systemd only line 2\n"));
}

/** A line before the one that it needs: an error for mount -a, but for systemd only where it does
    not know of the need. */
UNIT_TEST(whom_a_late_line_affects)
{
	static const struct {
		const char *line, *who, *level[2];   /* level: without systemd, with it */
	} rows[] = {
		{"/p/x /x none bind\n", "mount -a, not systemd", {"critical!", "critical"}},
		{"/p/x /x xfs loop\n", "mount -a, not systemd", {"critical!", "critical"}},
		{X " /p/x xfs\n", "mount -a, not systemd", {"critical!", "critical"}},
		{"o /x overlay lowerdir=/p/x:/l\n", "mount -a\n", {"critical!", "critical!"}},
		{"/pkg/fonts /x none bind\n", "/p/pkg/fonts is on /p", {"critical!", "critical!"}},
		{"/pkg/file /x xfs loop\n", "/p/pkg/file is on /p", {"critical!", "critical!"}},
	};
	static char place[] = "/run/systemd/system";
	char whole[256];
	for (size_t i = 0; i < 2 * COUNT(rows); ++i) {
		struct fstab_facts own = facts;
		own.arg = i % 2 ? place : NULL;
		snprintf(whole, sizeof(whole), ROOT "%sUUID=there /p ext4\n", rows[i / 2].line);
		judged(whole, &own, NULL);
		snprintf(whole, sizeof(whole), "2 FSTAB-ORDER %s /", rows[i / 2].level[i % 2]);
		bool good = strstr(text, whole) && strstr(text, rows[i / 2].who);
		if (!good)
			printf("%s%s", whole, text);
		CU_ASSERT_TRUE(good);
	}
}

/** A row "LINE; LINE ... -> FINDING | HINT" of what systemd mounts before the network, and needs
    it; and the same lines with the hint. */
static void check_network(const char *row, const char *outcome)
{
	static char place[] = "/run/systemd/system";
	struct fstab_facts own = facts;
	char whole[1024], needs[128];
	const char *hint = strstr(outcome, " | ") + 3;
	struct audit_report report;
	own.arg = place;
	snprintf(whole, sizeof(whole), ROOT "%s", unit_lines(row));
	judged(whole, &own, &report);
	snprintf(needs, sizeof(needs), "%.*s", (int)(hint - 3 - outcome), outcome);
	CU_ASSERT_PTR_NOT_NULL(strstr(text, needs));
	for (size_t k = 0; k < report.count; ++k)
		CU_ASSERT(report.findings[k].code != FSTAB_ORDER
		          || strcmp(report.findings[k].expected, hint) == 0);
	audit_report_destroy(&report);
	snprintf(strrchr(whole, '\n'), 512, ",%s\n", hint);
	CU_ASSERT_FALSE(has(judged(whole, &own, NULL), FSTAB_ORDER, NULL));
}

UNIT_TEST(what_needs_the_network_before_systemd_starts_it)
{
	CU_ASSERT(unit_each_row("tests/fixtures/fstab/network", check_network) > 10);
}

/** The kernel reads 4,095 bytes of options; those of mount(8) are not among them. */
UNIT_TEST(page)
{
	static const struct {
		const char *before, *after, *expected;
		int layer;       /* bytes between both */
	} rows[] = {
		{"lowerdir=/a:/", ",upperdir=/u,workdir=/w",
		 "in upperdir: without upperdir and workdir it mounts", 4072},
		{"upperdir=/u,workdir=/w,lowerdir=/a:/", "", "in lowerdir: layers are", 4072},
		{"lowerdir=/", ":/b,nofail,noatime,x-systemd.after=/a", NULL, 4082},
		{"lowerdir=/", ":/b,nofail,noatime,x-systemd.after=/a", "in lowerdir", 4083},
	};
	char whole[4400];
	for (size_t i = 0; i < COUNT(rows); ++i) {
		snprintf(whole, sizeof(whole), ROOT "o /x overlay %s%0*d%s\n", rows[i].before,
		         rows[i].layer, 0, rows[i].after);
		const char *found = strstr(judged(whole, &facts, NULL), "the kernel cuts");
		CU_ASSERT_EQUAL(found != NULL, rows[i].expected != NULL);
		CU_ASSERT(!rows[i].expected || strstr(text, rows[i].expected));
	}
}

/** The line that cloud-init writes for a disk, and the same line of an administrator. */
UNIT_TEST(cloud)
{
	static const char line[] = ROOT "/dev/vdb /mnt auto nofail,comment=%s 0 2\n";
	char whole[256];
	snprintf(whole, sizeof(whole), line, "cloudconfig");
	CU_ASSERT_TRUE(has(judged(whole, &facts, NULL), FSTAB_SRC_UNSTABLE,
	                   "2 FSTAB-SRC-UNSTABLE info /mnt"));
	snprintf(whole, sizeof(whole), line, "mine");
	CU_ASSERT_TRUE(has(judged(whole, &facts, NULL), FSTAB_SRC_UNSTABLE,
	                   "2 FSTAB-SRC-UNSTABLE warning /mnt"));
}

/** No findings for what installers write, and what works. */
UNIT_TEST(healthy)
{
	CU_ASSERT_STRING_EQUAL(
	        judged("# /etc/fstab: static file system information.\n#\n"
		       "# <file system> <mount point>   <type>  <options>       <dump>  <pass>\n"
		       "# / was on /dev/sda1 during installation\n"
		       "UUID=11111111-2222-3333-4444-555555555555 /               ext4    "
		       "errors=remount-ro 0       1\n"
		       "UUID=AB12-CD34  /boot/efi       vfat    umask=0077      0       1\n"
		       "/dev/mapper/vg-x /home           xfs     defaults        0       2\n"
		       "UUID=swap none            swap    sw              0       0\n"
		       "/dev/sr0        /media/cdrom0   udf,iso9660 user,noauto     0       0\n"
		       "tmpfs /tmp tmpfs rw,nosuid,nodev,size=50%,mode=1777 0 0\n"
		       "proc /proc proc nosuid,nodev,noexec,hidepid=2 0 0\n"
		       "srv:/export/x /var/x nfs4 "
		       "rw,hard,vers=4.2,rsize=1048576,_netdev,x-systemd.automount 0 0\n"
		       "/home/a /var/b none bind,ro 0 0\n"
		       "/swapfile none swap defaults,pri=5 0 0\n",
		       &facts, NULL),
	        "");
}

/** Replace all occurrences of a word. */
static void replace(struct strbuf *out, const char *at, const char *from, const char *to)
{
	strbuf_reset(out);
	for (const char *found; (found = strstr(at, from)) != NULL; at = found + strlen(from)) {
		strbuf_add(out, at, (size_t)(found - at));
		strbuf_puts(out, to);
	}
	strbuf_puts(out, at);
}

/** Copy an fstab, with an option more in each line that has options. */
static void with_option(struct strbuf *out, const char *at, const char *option)
{
	static const char blanks[] = " \t";
	strbuf_reset(out);
	for (size_t n; *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		size_t end = strspn(at, blanks);
		bool whole = at[end] != '#';
		for (int field = 0; field < 4; ++field) {
			end += strspn(at + end, blanks);
			whole &= end < n;
			end += strcspn(at + end, " \t\n");
		}
		end = whole ? end : n;
		strbuf_add(out, at, end);
		strbuf_printf(out, "%s%s%.*s\n", whole ? "," : "", whole ? option : "",
		              (int)(n - end), at + end);
	}
}

/** All texts of the findings of an fstab on a host with systemd. */
static void full_findings(struct strbuf *out, const char *fstab)
{
	static char place[] = "/run/systemd/system";
	struct fstab_facts own = facts;
	struct audit_report report;
	own.arg = place;
	judged(fstab, &own, &report);
	strbuf_reset(out);
	strbuf_puts(out, text);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		/* What a misspelled x-systemd.automount resembles has one name. */
		if (f->code != FSTAB_OPT_TYPO)
			strbuf_printf(out, "%s, %s, %s\n", f->expected ? f->expected : "",
			              f->actual ? f->actual : "", f->hint ? f->hint : "");
	}
	audit_report_destroy(&report);
}

/** systemd reads both as an automount (comment= is the name before systemd 220): all rules must
    find the same, and name the option as it is written. */
static void check_spellings(const char *fstab)
{
	static const char now[] = "x-systemd.automount", former[] = "comment=systemd.automount";
	STRBUF(one);
	STRBUF(other);
	STRBUF(expected);
	STRBUF(got);
	with_option(&one, fstab, now);
	replace(&other, strstr(fstab, now) ? fstab : strbuf_str(&one), now, former);
	full_findings(&got, strstr(fstab, now) ? fstab : strbuf_str(&one));
	replace(&expected, strbuf_str(&got), now, former);
	full_findings(&got, strbuf_str(&other));
	unit_expect(strbuf_str(&got), strbuf_str(&expected));
}

static void check_row_spellings(const char *row, const char *outcome)
{
	(void)outcome;
	check_spellings(unit_lines(row));
}

UNIT_TEST(both_spellings_of_an_automount)
{
	for (struct unit_case c; unit_case("tests/fixtures/fstab/rules", &c);) {
		for (size_t i = 0; i < c.count; ++i) {
			unit_note("%s", c.name);
			if (*c.parts[i].text)
				check_spellings(c.parts[i].text);
		}
	}
	unit_each_row("tests/fixtures/fstab/network", check_row_spellings);
	check_spellings("s:/x /nfs nfs defaults\n" X " /nfs/x xfs x-systemd.automount\n");
	/* Unstable names, also of the line that cloud-init writes. */
	check_spellings("/dev/sdb1 /x xfs noauto 0 0\n/dev/vdb /y auto comment=cloudconfig 0 0\n");
}

/** The codes of a set, each followed by a blank. */
static const char *codes_of(audit_set set)
{
	static char codes[2048];
	size_t n = 0;
	codes[0] = '\0';
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(set, (enum audit_code)code))
			n += (size_t)snprintf(codes + n, sizeof(codes) - n, "%s ",
			                      audit_rules[code].code);
	}
	return codes;
}

/** Without facts, the rules that need them are listed as not checked. */
UNIT_TEST(not_checked)
{
	struct audit_report report;
	CU_ASSERT_STRING_EQUAL(judged(ROOT
	                              "/a /b none bind\no /o overlay lowerdir=/l:/m\ns:/a /n nfs\n",
	                              NULL, &report),
	                       "");
	CU_ASSERT_STRING_EQUAL(
	        codes_of(report.not_checked),
	        "FSTAB-SRC-MISSING FSTAB-SRC-AMBIGUOUS FSTAB-BIND-SRC FSTAB-OVERLAY-DIR "
	        "FSTAB-TGT-MISSING FSTAB-TGT-SYMLINK FSTAB-TYPE-MISMATCH FSTAB-TYPE-UNSUPPORTED "
		"FSTAB-HELPER-MISSING ");
	audit_report_destroy(&report);
	/* A path that cannot be touched. */
	CU_ASSERT_STRING_EQUAL(judged(ROOT "/hung/a /hung/b none bind\n", &facts, &report), "");
	CU_ASSERT_STRING_EQUAL(codes_of(report.not_checked),
	                       "FSTAB-BIND-SRC FSTAB-TGT-MISSING FSTAB-TGT-SYMLINK ");
	audit_report_destroy(&report);
	CU_ASSERT_STRING_EQUAL(judged(ROOT, &facts, &report), "");
	CU_ASSERT_EQUAL(audit_set_count(report.not_checked), 0);
	audit_report_destroy(&report);
	/* If tags cannot be resolved, none is missing. */
	CU_ASSERT_STRING_EQUAL(judged(ROOT "LABEL=gone /x ext4 nofail\n", NULL, &report), "");
	CU_ASSERT(audit_set_has(report.not_checked, FSTAB_SRC_MISSING));
	audit_report_destroy(&report);
	CU_ASSERT_STRING_EQUAL(judged("", NULL, &report), "");
	CU_ASSERT_EQUAL(audit_set_count(report.not_checked), 0);
	audit_report_destroy(&report);
}

/** Rules with the same reason are one group; the reason depends on the rule and the host. */
UNIT_TEST(why_not_checked)
{
	static const enum audit_code some[] = {
		FSTAB_SRC_MISSING, FSTAB_SRC_AMBIGUOUS, FSTAB_OPT_TYPO, FSTAB_HELPER_MISSING,
		DRIFT_TYPE, MNT_STALE, MNT_TIMEOUT, MNT_UNDER_NOT_EMPTY, MNT_HELD, SWAP_EXTRA,
		FSTAB_MODE, FSTAB_SYSTEMD_STALE, UNIT_FAILED, FS_ERRORS, BASE_WENT,
		MTAB_REGULAR, BOOT_ROOT,
	};
	static const struct {
		struct audit_situation at;
		const char *groups;
	} rows[] = {
		{{.probe = true, .foreign = true},
		 "FSTAB-OPT-TYPO (too many lines or options to check all); "
		 "FSTAB-SRC-MISSING, FSTAB-SRC-AMBIGUOUS (no udev on this host); "
		 "FSTAB-HELPER-MISSING (what is installed is not known); "
		 "DRIFT-TYPE (a server or helper chooses what the mount shows); "
		 "SWAP-EXTRA (reading /proc/swaps can block); "
		 "MNT-STALE, MNT-TIMEOUT (some mounts cannot be probed); "
		 "BASE-WENT (the host has just booted); "
		 "MNT-UNDER-NOT-EMPTY (needs --under); MNT-HELD (needs --holders); "
		 "MTAB-REGULAR (/etc/mtab cannot be read, or reading it can block); "
		 "FSTAB-MODE, FSTAB-SYSTEMD-STALE (only for the fstab of this host); "
		 "UNIT-FAILED (no systemd on this host); "
		 "FS-ERRORS (the kernel does not show it); "
		 "BOOT-ROOT (the kernel command line names no device that is known)"},
		{{.rooted = true, .udev = true},
		 "FSTAB-OPT-TYPO (too many lines or options to check all); "
		 "FSTAB-SRC-MISSING, FSTAB-SRC-AMBIGUOUS (some devices cannot be read); "
		 "FSTAB-HELPER-MISSING (what is installed is not known); "
		 "DRIFT-TYPE (a server or helper chooses what the mount shows); "
		 "SWAP-EXTRA (reading /proc/swaps can block); "
		 "MNT-STALE, MNT-TIMEOUT (needs --probe); "
		 "BASE-WENT (the host has just booted); "
		 "MNT-UNDER-NOT-EMPTY (needs --under); MNT-HELD (needs --holders); "
		 "MTAB-REGULAR, FSTAB-SYSTEMD-STALE, UNIT-FAILED, BOOT-ROOT (only for the "
		 "running system); "
		 "FSTAB-MODE (there is no fstab, or its owner is not known); "
		 "FS-ERRORS (the kernel does not show it)"},
		{{.recorded = true},
		 "FSTAB-OPT-TYPO (too many lines or options to check all); "
		 "FSTAB-SRC-MISSING, FSTAB-SRC-AMBIGUOUS, FSTAB-HELPER-MISSING, SWAP-EXTRA, "
		 "MNT-STALE, MNT-TIMEOUT, MNT-UNDER-NOT-EMPTY, MNT-HELD, MTAB-REGULAR, FSTAB-MODE, "
		 "FSTAB-SYSTEMD-STALE, UNIT-FAILED, FS-ERRORS, BOOT-ROOT (needs the host, not a "
		 "recorded table); "
		 "DRIFT-TYPE (a server or helper chooses what the mount shows); "
		 "BASE-WENT (the host has just booted)"},
	};
	audit_set set = 0;
	for (size_t i = 0; i < COUNT(some); ++i)
		set |= audit_set_only(some[i]);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		static const char head[] = "17 rules not checked here: ";
		struct strbuf line = {0};
		audit_name_not_checked(&line, set, &rows[i].at);
		CU_ASSERT_EQUAL_FATAL(strncmp(strbuf_str(&line), head, strlen(head)), 0);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&line) + strlen(head), rows[i].groups);
		strbuf_destroy(&line);
	}
	struct strbuf one = {0};
	const struct audit_situation whole = {.udev = true, .systemd = true};
	audit_name_not_checked(&one, 0, &whole);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&one), "");
	audit_name_not_checked(&one, audit_set_only(UNIT_FAILED), &whole);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&one), "1 rule not checked here: UNIT-FAILED (systemd "
	                       "does not answer)");
	strbuf_reset(&one);
	const struct audit_situation rooted = {.rooted = true};
	const audit_set some_paths = audit_set_only(MTAB_STALE) | audit_set_only(FSTAB_BIND_SRC);
	audit_name_not_checked(&one, some_paths, &rooted);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&one), "2 rules not checked here: FSTAB-BIND-SRC (some "
	                       "paths cannot be accessed, or accessing them can block); MTAB-STALE "
	                       "(only for the running system)");
	strbuf_destroy(&one);
}

UNIT_TEST(new_risks)
{
	struct audit_report old, report;
	judged(ROOT "/dev/sda1 /x ext4\nLABEL=gone /y ext4 nofail\n", &facts, &old);
	/* The same risk on another line is not new; another code, or a lost nofail, is. */
	judged("\n\n" ROOT "LABEL=gone /y ext4\n/dev/sda9 /x ext4\nUUID=twice /x/z ext4\n# getmnt: "
	                   "ignore=FSTAB-SRC-MISSING\n"
	       "LABEL=gone /w ext4\n",
	       &facts, &report);
	CU_ASSERT_EQUAL_FATAL(audit_clear_old_risks(&old, &report), 0);
	unsigned count = 0;
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		count += f->boot;
		CU_ASSERT(!f->boot || (f->code == FSTAB_SRC_MISSING && strcmp(f->target, "/y") == 0)
		          || (f->code == FSTAB_SRC_AMBIGUOUS && f->line == 6));
	}
	CU_ASSERT_EQUAL(count, 2);
	CU_ASSERT_EQUAL(report.suppressed, 1);
	audit_report_destroy(&old);
	audit_report_destroy(&report);
}

static int is_lost(void *arg, const char *path)
{
	(void)arg;
	return strcmp(path, "/data/lost") == 0;
}

/** The new risks of two texts, also those that follow from both. */
UNIT_TEST(compared)
{
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/compared", &c); ++count) {
		struct audit_report old, report;
		STRBUF(got);
		judged(c.parts[0].text, &facts, &old);
		judged(c.parts[1].text, &facts, &report);
		struct fstab_file *was = fstab_parse(c.parts[0].text, strlen(c.parts[0].text)),
		                  *now = fstab_parse(c.parts[1].text, strlen(c.parts[1].text));
		CU_ASSERT_FATAL(was && now);
		CU_ASSERT_EQUAL_FATAL(audit_compare(was, now, &report, is_lost, NULL), 0);
		fstab_file_free(was);
		fstab_file_free(now);
		CU_ASSERT_EQUAL_FATAL(audit_clear_old_risks(&old, &report), 0);
		for (size_t i = 0; i < report.count; ++i) {
			const struct audit_finding *f = &report.findings[i];
			if (f->boot)
				strbuf_printf(&got, "%u %s %s\n", f->line,
				              audit_rules[f->code].code, f->target);
		}
		unit_note("%s", c.name);
		unit_expect(strbuf_str(&got), c.parts[2].text);
		audit_report_destroy(&old);
		audit_report_destroy(&report);
	}
	CU_ASSERT(count > 15);
}

/** A comment ignores any code for its line. */
UNIT_TEST(ignored)
{
	for (int code = 0; code < AUDIT_CODES; ++code) {
		char fstab[256];
		struct audit_report report;
		snprintf(fstab, sizeof(fstab), ROOT "# getmnt: ignore=%s\n" X " /x xfs\n",
		         audit_rules[code].code);
		judged(fstab, &facts, &report);
		CU_ASSERT_EQUAL_FATAL(report.nlines, 3);
		CU_ASSERT(!audit_line_ignores(&report, 1, (enum audit_code)code)
		          && audit_line_ignores(&report, 3, (enum audit_code)code));
		CU_ASSERT_EQUAL(audit_set_count(report.ignored[2]), 1);
		size_t count = report.count, suppressed = report.suppressed;
		struct audit_finding finding = {.code = (enum audit_code)code,
		                                .line = 3,
		                                .target = "/x",
		                                .message = "it is so"};
		audit_report_add(&report, &finding);
		CU_ASSERT_EQUAL(report.count, count);
		CU_ASSERT_EQUAL(report.suppressed, suppressed + 1);
		audit_report_destroy(&report);
	}
}

/** A row " COMMENT -> CODES | REPORT": an invalid code ignores nothing, and is reported. */
static void check_comment(const char *row, const char *outcome)
{
	char fstab[512], got[1024];
	struct audit_report report;
	snprintf(fstab, sizeof(fstab), ROOT "%s\n" X " /x xfs\n", row + 1);
	judged(fstab, &facts, &report);
	int n = snprintf(got, sizeof(got), "%s|", codes_of(report.ignored[2]));
	for (size_t k = 0; k < report.count; ++k) {
		const struct audit_finding *f = &report.findings[k];
		if (f->line == 2) {
			CU_ASSERT(f->code == FSTAB_SYNTAX && f->severity == AUDIT_INFO);
			n += snprintf(got + n, sizeof(got) - (size_t)n, " %s (%s)", f->message,
			              f->expected);
		}
	}
	unit_expect(got, outcome);
	audit_report_destroy(&report);
}

UNIT_TEST(ignored_words)
{
	CU_ASSERT(unit_each_row("tests/fixtures/fstab/ignored", check_comment) > 10);
	check_comment(" # getmnt: ignore=MNT-D*\r", "MNT-DELETED MNT-DUP |");
}

/** A number of lines, or a tenth of it under valgrind. */
static unsigned many_lines(unsigned many)
{
	return unit_step() >= 100 ? many / 10 : many;
}

/** Many lines, all above each other, all options unknown, one source. */
UNIT_TEST(many)
{
	const unsigned many = many_lines(10000);
	STRBUF(fstab);
	for (unsigned i = 0; i < many; ++i)
		strbuf_printf(&fstab, "UUID=there /d%u/x tmpfs defaulst%u,bogus%u,size=1,size=2\n",
		              i, i, i);
	for (unsigned i = 0; i < many; ++i)
		strbuf_printf(&fstab, "t /d%u tmpfs ro,rw 0 0\n", i);
	for (unsigned i = 0; i < many; ++i)
		strbuf_puts(&fstab, "t /same tmpfs noauto 0 0\n");
	struct audit_report report;
	lookups = 0;
	judged(strbuf_str(&fstab), &facts, &report);
	unsigned of[AUDIT_CODES] = {0};
	for (size_t i = 0; i < report.count; ++i)
		++of[report.findings[i].code];
	CU_ASSERT_EQUAL(of[FSTAB_ORDER], many);
	CU_ASSERT_EQUAL(of[FSTAB_OPT_CONFLICT], 2 * many);
	CU_ASSERT_EQUAL(of[FSTAB_OPT_UNKNOWN] + of[FSTAB_OPT_TYPO], 2 * many);
	CU_ASSERT(lookups <= 2 * many);
	audit_report_destroy(&report);
}

/** Many lines of one mount point. */
UNIT_TEST(piled_up)
{
	static const char *const options[] = {"noauto", "x-systemd.automount"};
	const unsigned many = many_lines(50000);
	STRBUF(fstab);
	for (unsigned k = 0; k < 2; ++k) {
		strbuf_reset(&fstab);
		for (unsigned i = 0; i < many; ++i)
			strbuf_printf(&fstab, "t /x tmpfs %s\n", options[k]);
		for (unsigned i = 0; i < many; ++i)
			strbuf_puts(&fstab, "t /x tmpfs\nt /x/y tmpfs\n");
		struct audit_report report;
		judged(strbuf_str(&fstab), &facts, &report);
		unsigned of[AUDIT_CODES] = {0};
		for (size_t i = 0; i < report.count; ++i)
			++of[report.findings[i].code];
		/* Each but the first of a place that is not noauto. */
		CU_ASSERT_EQUAL(of[FSTAB_DUP_TARGET], 2 * (many - 1) + (k ? many : 0));
		/* The last line of /x covers all /x/y but the one after it. */
		CU_ASSERT_EQUAL(of[FSTAB_ORDER], many - 1);
		audit_report_destroy(&report);
	}
}

UNIT_TEST(hostile)
{
	/* Options longer than a page. */
	STRBUF(fstab);
	strbuf_puts(&fstab, ROOT "t /x tmpfs ");
	for (unsigned i = 0; i < 100000; ++i)
		strbuf_puts(&fstab, "a,");
	strbuf_puts(&fstab, "\n");
	CU_ASSERT_STRING_EQUAL(judged(strbuf_str(&fstab), &facts, NULL),
	                       "2 FSTAB-SYNTAX critical! /x: its options are longer than the "
	                       "kernel accepts; they are not checked\n");
}

/** Lines that the kernel refuses. */
UNIT_TEST(refused)
{
	struct unit_case c;
	CU_ASSERT_FATAL(unit_case("tests/fixtures/fstab/refused", &c));
	for (char *row; (row = strsep(&c.parts[0].text, "\n")) != NULL && *row;) {
		char line[512], *type = strsep(&row, " "), *options = strsep(&row, " ");
		struct audit_report report;
		const char *refused = "";
		snprintf(line, sizeof(line), X " /x %s %s\n", type, options);
		judged(line, NULL, &report);
		for (size_t k = 0; k < report.count; ++k)
			refused = report.findings[k].refused ? report.findings[k].refused : refused;
		unit_note("%s", line);
		unit_expect(refused, row ? row : "");
		audit_report_destroy(&report);
	}
	CU_ASSERT_FALSE(unit_case("tests/fixtures/fstab/refused", &c));
}

/** A host with Linux 6.6. */
static int answer_of_6_6(void *arg, enum fstab_question question, const char *name)
{
	return question == FSTAB_HAS_KERNEL ? strcmp(name, "5.9") == 0
	                                    : answer(arg, question, name);
}

/** An option that the kernel of this host still accepts is no risk yet. */
UNIT_TEST(ended)
{
	static const struct {
		const char *options;
		bool older;
	} rows[] = {
		{"recovery", true}, {"check_int_data", true}, {"nologreplay", true},
		{"subvolrootid=5", false}, {"alloc_start=1m", false},
	};
	struct fstab_facts own = facts;
	own.answer = answer_of_6_6;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char line[128];
		struct audit_report report;
		snprintf(line, sizeof(line), ROOT X " /x btrfs ro,%s\n", rows[i].options);
		judged(line, &own, &report);
		const char *form = rows[i].older ? "2 FSTAB-OPT-UNKNOWN info /x: "
		                                 : "2 FSTAB-OPT-UNKNOWN warning! /x: ";
		CU_ASSERT_PTR_NOT_NULL(strstr(text, form));
		for (size_t k = 0; k < report.count; ++k) {
			if (report.findings[k].code == FSTAB_OPT_UNKNOWN)
				CU_ASSERT_EQUAL(!report.findings[k].refused, rows[i].older);
		}
		audit_report_destroy(&report);
	}
}

/** Add a number of findings of an owner. */
static void add_findings(struct audit_report *report, const char *owner, enum audit_code code,
                         enum audit_severity severity, size_t count, const char *message)
{
	for (size_t i = 0; i < count; ++i) {
		char target[24];
		snprintf(target, sizeof(target), "/t%03zu", i);
		audit_report_add(report, &(struct audit_finding){
			.code = code, .severity = severity, .target = target, .owner = owner,
			.message = message});
	}
}

/** The number of findings of a severity and an owner. */
static size_t count_findings(const struct audit_report *report, const char *owner,
                             enum audit_severity severity)
{
	size_t n = 0;
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		n += f->severity == severity
		     && (owner ? f->owner && strcmp(f->owner, owner) == 0 : !f->owner);
	}
	return n;
}

/** Findings of users' mounts are at most warnings; their number and bytes are limited. */
UNIT_TEST(of_users)
{
	struct audit_report report = {0};
	add_findings(&report, "user:1500", DRIFT_NOT_IN_FSTAB, AUDIT_INFO, 300, "x");
	add_findings(&report, "session", MNT_SHADOWED, AUDIT_WARNING, 5, "x");
	add_findings(&report, "user:joe", MNT_TIMEOUT, AUDIT_CRITICAL, 30, "x");
	add_findings(&report, "user:joe", MNT_DUP, AUDIT_WARNING, 200, "x");
	add_findings(&report, "unknown", MNT_TIMEOUT, AUDIT_CRITICAL, 300, "x");
	add_findings(&report, "users", MNT_DELETED, AUDIT_WARNING, 100, "x");
	add_findings(&report, NULL, MNT_LIMIT, AUDIT_WARNING, 60, "x");
	CU_ASSERT_EQUAL(report.of[AUDIT_CRITICAL], 300);
	audit_report_sort(&report);
	/* A rule that is off has no part in it. */
	audit_report_keep(&report, ~audit_set_only(MNT_DUP), NULL, 0);
	audit_report_bound(&report);
	CU_ASSERT_EQUAL(count_findings(&report, "unknown", AUDIT_CRITICAL), 300);
	CU_ASSERT_EQUAL(count_findings(&report, "users", AUDIT_WARNING), 100);
	CU_ASSERT_EQUAL(count_findings(&report, NULL, AUDIT_WARNING), 60);
	CU_ASSERT_EQUAL(count_findings(&report, "session", AUDIT_WARNING), 5);
	/* Findings of rules that are off are not counted. */
	CU_ASSERT_EQUAL(count_findings(&report, "user:joe", AUDIT_WARNING), 30);
	CU_ASSERT_EQUAL(count_findings(&report, "user:1500", AUDIT_INFO), AUDIT_USERS_MAX - 35);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_CRITICAL], 0);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_WARNING], 0);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_INFO], 300 - (AUDIT_USERS_MAX - 35));
	audit_report_destroy(&report);
	/* Long findings. */
	static char words[30000];
	memset(words, 'x', sizeof(words) - 1);
	add_findings(&report, "udisks", MNT_DELETED, AUDIT_WARNING, 4, words);
	add_findings(&report, "user:1", DRIFT_NOT_IN_FSTAB, AUDIT_INFO, 1, "short");
	audit_report_bound(&report);
	CU_ASSERT_EQUAL(count_findings(&report, "udisks", AUDIT_WARNING),
	                AUDIT_USERS_BYTES / sizeof(words));
	CU_ASSERT_EQUAL(count_findings(&report, "user:1", AUDIT_INFO), 1);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_WARNING], 4 - AUDIT_USERS_BYTES / sizeof(words));
	audit_report_destroy(&report);
}
