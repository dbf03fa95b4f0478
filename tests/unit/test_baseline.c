/* SPDX-License-Identifier: MIT */
/*
 * Baselines: what is collected; what came, went and changed, by the cases of
 * tests/fixtures/audit/baseline; the file, whole and damaged.
 */
#include "unit.h"

#include "audit/baseline.h"
#include "cases.h"
#include "cmd/audit/audit.h"
#include "fault.h"

#define HEAD                                                                                       \
	"{\"getmnt_baseline\": 1, \"time\": 0, \"host\": \"\", \"root\": \"\", "         \
	"\"include\": [\"session\"], \"rules\": [\"MNT-DUP\"]}\n"
#define M(target, more) "{\"mount\": \"" target "\", " more "}\n"
#define EXT4 "\"fstype\": \"ext4\", \"root\": \"/\", \"owner\": \"fstab\", \"options\": \"rw\""
#define TMPFS "\"fstype\": \"tmpfs\", \"source\": \"tmpfs\", \"root\": \"/\", \"options\": \"rw\""
static void append(struct strbuf *text, const char *body)
{
	size_t lines = 1;
	for (const char *at = body; *at; ++at)
		lines += *at == '\n';
	strbuf_puts(text, HEAD);
	strbuf_puts(text, body);
	strbuf_printf(text, "{\"end\": %zu}\n", lines);
}

/** A baseline with these lines. */
static void load(struct audit_baseline *b, const char *body)
{
	STRBUF(text);
	STRBUF(why);
	uint32_t line;
	append(&text, body);
	audit_baseline_init(b);
	unit_note("%s", body);
	CU_ASSERT_EQUAL(audit_base_parse(strbuf_str(&text), text.len, b, &line, &why), 0);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&why), "");
}

static char found[16 * 1024];

/** The findings, one per line, and "came/changed/went". */
static const char *compared(const char *old_lines, const char *now_lines, long uptime)
{
	struct audit_baseline old, now;
	struct audit_report report = {0};
	struct audit_base_counts counts = {0};
	load(&old, old_lines);
	load(&now, now_lines);
	CU_ASSERT_EQUAL(audit_baseline_compare(&old, &now, uptime, &report, &counts), 0);
	found[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		size_t n = strlen(found);
		CU_ASSERT_PTR_NOT_NULL(strstr(f->message, "1970-01-01 00:00 UTC"));
		snprintf(found + n, sizeof(found) - n, "%s %s %s: %s; %s\n",
		         audit_rules[f->code].code, audit_severity_name(f->severity), f->target,
		         f->expected, f->actual);
	}
	CU_ASSERT_EQUAL(counts.came + counts.went + counts.changed, report.count);
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(report.not_checked, (enum audit_code)code))
			snprintf(found + strlen(found), sizeof(found) - strlen(found), "?%s\n",
			         audit_rules[code].code);
	}
	audit_report_destroy(&report);
	audit_baseline_destroy(&old);
	audit_baseline_destroy(&now);
	return found;
}

UNIT_TEST(compare)
{
	struct unit_case c;
	while (unit_case("tests/fixtures/audit/baseline", &c)) {
		CU_ASSERT_EQUAL_FATAL(c.count, 3);
		/* Soon after a boot a mount may still come. */
		const char *uptime = strstr(c.name, "uptime ");
		const char *got = compared(c.parts[0].text, c.parts[1].text,
		                           uptime ? atol(uptime + 7) : -1);
		unit_note("%s", c.name);
		unit_expect(got, c.parts[2].text);
	}
}

/** Linear in the mounts of one place, and in places. */
UNIT_TEST(many)
{
	enum { N = 40000 };
	struct audit_baseline b[2];
	struct audit_report report = {0};
	struct audit_base_counts counts = {0};
	double start = unit_cpu();
	for (int side = 0; side < 2; ++side) {
		audit_baseline_init(&b[side]);
		for (size_t i = 0; i < N; ++i) {
			char target[32];
			struct audit_base_entry *e = audit_baseline_add(&b[side], BASE_MOUNT);
			snprintf(target, sizeof(target), "/%zu", i % 2 ? i : 0);
			e->target = arena_strndup(&b[side].arena, target, strlen(target));
			e->source = "s";
			e->options = side ? "ro" : "rw";
		}
		audit_baseline_sort(&b[side]);
	}
	CU_ASSERT_EQUAL(audit_baseline_compare(&b[0], &b[1], -1, &report, &counts), 0);
	CU_ASSERT(report.count == N && counts.changed == N);
	CU_ASSERT(unit_cpu() - start < 20);
	audit_report_destroy(&report);
	audit_baseline_destroy(&b[0]);
	audit_baseline_destroy(&b[1]);
}

static int take_swap(void *arg, const char *name, struct fstab_device *device)
{
	static const struct devmap_tags tags = {.name = "/dev/sda2", .uuid = "swap"};
	(void)arg;
	(void)name;
	device->tags = &tags;
	return 0;
}

static int take_device(void *arg, const struct mount *mount, const char *swap,
                       struct fstab_device *device)
{
	if (!mount)
		return take_swap(arg, swap, device);
	static const struct devmap_tags tags[] = {
	        {.name = "/dev/sda1", .uuid = "root"},
	        {.name = "/dev/mapper/v", .uuid = "lv"},
	        {.name = "/dev/loop3"},
	        {.name = "/dev/sdc1", .uuid = "pool", .multi_device = true},
	};
	(void)arg;
	device->tags = mount->dev_minor < 4 ? &tags[mount->dev_minor] : NULL;
	device->loop.file = mount->dev_minor == 2 ? "/i m\xff" : NULL;
	return 0;
}

struct taken {
	const struct fstab_plan *plan;
	const struct fstab_file *file;
	const struct fstab_facts *facts;
	char *expected;
};

/** Collect, write, and read what was written. */
static int take_all(void *arg)
{
	static const char *const include[] = {"container", NULL};
	const struct taken *in = arg;
	struct audit_base_run base;
	STRBUF(out);
	STRBUF(why);
	uint32_t line;
	audit_base_init(&base, NULL, NULL, include);
	int rc = audit_baseline_collect(in->plan, in->facts, in->file, &base.now);
	if (rc == 0)
		audit_base_write(&base.now, &out);
	if (out.failed) {
		errno = ENOMEM;
		rc = -1;
	}
	if (rc == 0) {
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), in->expected);
		rc = audit_base_parse(strbuf_str(&out), out.len, &base.old, &line, &why);
	}
	if (rc == 0)
		CU_ASSERT_STRING_EQUAL(base.old.mounts.entries[2].target, "/b\nb\\\xfe");
	int error = errno;
	audit_base_destroy(&base);
	errno = error;
	return rc;
}

UNIT_TEST(take)
{
#define MOUNT(type, from, ...) {.fstype = type, .source = from, .root = "/", __VA_ARGS__}
	struct mount mounts[] = {
		MOUNT("ext4", "/dev/sda1", .dev_major = 8, .vfs_opts = "rw,relatime,nosuid,rw",
		      .fs_opts = "rw,stripe=4,seclabel,errors=x", .propagation = MP_SHARED),
		{.fstype = "xfs", .source = "/dev/mapper/v", .root = "/d", .dev_major = 254,
		 .dev_minor = 1, .propagation = MP_SHARED | MP_SLAVE},
		MOUNT("squashfs", "/dev/loop3", .dev_major = 7, .dev_minor = 2),
		{.fstype = "btrfs", .source = "/dev/sdc1", .root = "/@", .dev_minor = 3,
		 .propagation = MP_UNBINDABLE},
		MOUNT("nfs4", "u:secret@srv:/x", .dev_minor = 9,
		      .fs_opts = "rw,addr=10.0.0.1,password=no"),
		MOUNT("nfs4", "srv:/x/y", .dev_minor = 9),
		MOUNT("autofs", "systemd-1", .dev_minor = 9,
		      .fs_opts = "rw,fd=5,pgrp=1,pipe_ino=7"),
		MOUNT("ext4", "/dev/x", .dev_minor = 9),
		{.fstype = "nsfs", .source = "nsfs", .root = "net:[4026532]", .dev_minor = 4},
		MOUNT("tmpfs", "tmpfs", .fs_opts = "rw,size=5k,uid=1"),
		MOUNT("tmpfs", "tmpfs", .dev_minor = 0),
	};
	struct fstab_line lines[] = {
		{.mount = &mounts[0], .target = "/", .owner = "fstab", .of = 1},
		{.mount = &mounts[1], .target = "/d", .owner = "unknown"},
		{.mount = &mounts[2], .target = "/i", .owner = "unknown"},
		{.mount = &mounts[3], .target = "/b\nb\\\xfe", .owner = "unknown"},
		{.mount = &mounts[4], .target = "/n", .owner = "unknown"},
		{.mount = &mounts[5], .target = "/n/y", .owner = "unknown"},
		{.mount = &mounts[6], .target = "/auto", .owner = "automount"},
		{.mount = &mounts[7], .target = "/auto", .owner = "unknown"},
		{.mount = &mounts[8], .target = "/ns", .owner = "nsfs"},
		{.mount = &mounts[9], .target = "/run", .owner = "api"},
		{.mount = &mounts[10], .target = "/merged", .owner = "container:docker"},
		{.swap = "/dev/sda2", .owner = "fstab"},
		{.swap = "/dev/zram0", .owner = "unit"},
	};
	struct fstab_plan plan = {.lines = lines, .count = COUNT(lines)};
	static const char fstab[] = "x / ext4 noauto,auto 0 0\n#\nx /d xfs defaults 0 0\n";
	struct fstab_file *file = fstab_parse(fstab, strlen(fstab));
	struct fstab_facts facts = {.device = take_device};
	struct taken in = {&plan, file, &facts,
	                   unit_cases_read("tests/fixtures/audit/taken")};
	fault_each_allocation(take_all, &in, 4);
	free(in.expected);
	fstab_file_free(file);
}

/** Read a text.  @return the line that is wrong, 0: none; found has why. */
static uint32_t wrong(const char *text, size_t len)
{
	struct audit_baseline b;
	STRBUF(why);
	uint32_t line;
	audit_baseline_init(&b);
	/* Of this size, so that valgrind and ASan see a read beyond it. */
	char *copy = malloc(len + 1);
	memcpy(copy, text, len);
	int rc = audit_base_parse(copy, len, &b, &line, &why);
	CU_ASSERT(rc == 0 || errno == EBADMSG);
	snprintf(found, sizeof(found), "%s", strbuf_str(&why));
	audit_baseline_destroy(&b);
	free(copy);
	return rc == 0 ? 0 : line;
}

UNIT_TEST(damaged)
{
	STRBUF(text);
	append(&text, M("/a\\\\040b", EXT4) "{\"finding\": \"MNT-DUP\", \"target\": "
	                                    "\"/a\"}\n{\"swap\": \"/s\", \"light\": true}\n");
	CU_ASSERT_EQUAL(wrong(text.data, text.len), 0);
	/* Truncated anywhere: reported at the truncated line, or the last one. */
	uint32_t line = 1;
	for (size_t n = 0; n < text.len; ++n) {
		unit_note("truncated at %zu", n);
		line += n >= 2 && text.data[n - 2] == '\n';
		CU_ASSERT_EQUAL(wrong(text.data, n), line);
		CU_ASSERT(strstr(found, "truncated")
		          || strstr(found, n ? "not a baseline" : "the file is empty"));
	}
	/* Any byte changed: read, or reported. */
	for (size_t n = 0; n < text.len; n += unit_step()) {
		for (unsigned bit = 0; bit < 8; ++bit) {
			unit_note("byte %zu, bit %u", n, bit);
			text.data[n] ^= (char)(1u << bit);
			CU_ASSERT((wrong(text.data, text.len) > 0) == (*found != '\0'));
			text.data[n] ^= (char)(1u << bit);
		}
	}
	strbuf_putc(&text, '\n');
	CU_ASSERT(wrong(text.data, text.len) == 6 && strstr(found, "after the end"));
}

#define HEAD_OF(more) \
	"{\"getmnt_baseline\": 1, \"time\": 1, \"host\": \"\", \"root\": \"/\", " more "}"

UNIT_TEST(lines)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
	        {"", "invalid JSON"},
	        {"{", "invalid JSON"},
	        {"[]", "neither a mount"},
	        {"{}", "neither a mount"},
	        {"{\"mount\": 1}", "\"mount\" is not a string"},
	        {"{\"mount\": \"a\"}", "not an absolute path"},
	        {"{\"swap\": \"\"}", "\"swap\" is empty"},
	        {"{\"mount\": \"/\", \"root\": []}", "\"root\" is not a string"},
	        {"{\"mount\": \"/\\\\000\"}", "a NUL byte"},
	        {"{\"mount\": \"/\\u0000\"}", "invalid JSON"},
	        {"{\"mount\": \"/\xff\"}", "invalid JSON"},
	        {"{\"mount\": \"/\", \"mount\": \"/b\"}", "duplicate"},
	        {"{\"finding\": \"\"}", "\"finding\" is empty"},
	        {"{\"mount\": \"/\"} {}", "invalid JSON"},
	        {"{\"mount\": \"/\", \"light\": false}", "\"light\" is not true"},
	        {"{\"mount\": \"/\", \"later\": 1}", "unknown key \"later\""},
	        {"{\"mount\": \"/\", \"swap\": \"/s\"}", "unknown key \"swap\""},
	        {"{\"finding\": \"NEW-CODE\"}", "unknown rule \"NEW-CODE\""},
	        {"{\"finding\": \"MNT-DUP\", \"light\": true}", "unknown key \"light\""},
	        {"{\"end\": 2, \"more\": 1}", "unknown key \"more\""},
	        {"{\"end\": 9}", "there are 2 lines above, of 9"},
	};
	static const struct {
		const char *head, *why;
	} heads[] = {
	        {"{\"getmnt_baseline\": 2, \"time\": 0}", "that this version of getmnt reads"},
	        {"{\"getmnt_baseline\": 1}", "\"time\" is not a number"},
	        {"{\"getmnt_baseline\": 1, \"time\": -1}", "\"time\" is not a number"},
	        {"{\"getmnt_baseline\": 1, \"time\": 253402300800}", "\"time\" is not a number"},
	        {"{\"getmnt_baseline\": 1, \"time\": 1, \"host\": {}}", "\"host\" is not a string"},
	        {"{\"getmnt_baseline\": 1, \"time\": 1}", "\"host\" is missing"},
	        {HEAD_OF("\"more\": 1, \"include\": [], \"rules\": []"), "unknown key \"more\""},
	        {HEAD_OF("\"include\": [], \"rules\": [\"NEW\"]"), "unknown rule \"NEW\""},
	        {HEAD_OF("\"include\": [], \"rules\": [1]"), "unknown rule \"\""},
	        {HEAD_OF("\"include\": []"), "\"rules\" is not a list"},
	        {HEAD_OF("\"include\": [\"x\"], \"rules\": []"), "unknown owner \"x\""},
	        {HEAD_OF("\"rules\": []"), "\"include\" is not a list"},
	        {"# /etc/fstab", "not a baseline of getmnt"},
	};
	char text[1024];
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].line);
		size_t n = (size_t)snprintf(text, sizeof(text),
		                            HEAD M("/x", EXT4) "%s\n" M("/y", EXT4), rows[i].line);
		CU_ASSERT(wrong(text, n) == 3 && strstr(found, rows[i].why));
	}
	for (size_t i = 0; i < COUNT(heads); ++i) {
		unit_note("%s", heads[i].head);
		size_t n =
		        (size_t)snprintf(text, sizeof(text), "%s\n" M("/y", EXT4), heads[i].head);
		CU_ASSERT(wrong(text, n) == 1 && strstr(found, heads[i].why));
	}
	/* Deep nesting, and a long line. */
	STRBUF(deep);
	strbuf_puts(&deep, HEAD "{\"mount\": ");
	for (int i = 0; i < 100000; ++i)
		strbuf_putc(&deep, '[');
	strbuf_putc(&deep, '\n');
	CU_ASSERT(wrong(deep.data, deep.len) == 2 && strstr(found, "invalid JSON"));
	for (int i = 0; i < 1 << 20; ++i)
		strbuf_putc(&deep, '/');
	deep.data[deep.len - (1 << 20) - 1] = '/';
	strbuf_putc(&deep, '\n');
	CU_ASSERT(wrong(deep.data, deep.len) == 2 && strstr(found, "longer than 1048576"));
}

UNIT_TEST(findings)
{
	struct audit_baseline old;
	static const struct {
		enum audit_code code;
		const char *target;
		enum audit_age age;
	} rows[] = {
	        {MNT_DUP, "/a", AUDIT_KNOWN},     {MNT_DUP, "/a", AUDIT_KNOWN},
	        {MNT_DUP, "/a", AUDIT_NEW},       {MNT_DUP, "/b", AUDIT_NEW},
	        {MNT_LIMIT, "", AUDIT_KNOWN},     {MNT_LIMIT, "/x", AUDIT_AGELESS},
	        {BASE_CAME, "/x", AUDIT_AGELESS}, {FSTAB_SYNTAX, "/a", AUDIT_AGELESS},
	};
	audit_set rules = audit_set_of(0) & ~audit_set_only(FSTAB_SYNTAX);
	load(&old, "{\"finding\": \"MNT-DUP\", \"target\": \"/a\"}\n{\"finding\": \"MNT-DUP\", "
	           "\"target\": \"/a\"}\n"
	           "{\"finding\": \"MNT-DUP\", \"target\": \"/gone\"}\n{\"finding\": "
	           "\"MNT-LIMIT\"}\n{\"finding\": \"FSTAB-SYNTAX\"}\n");
	struct audit_report report = {0};
	struct audit_baseline now;
	struct audit_base_counts counts = {0};
	audit_baseline_init(&now);
	for (size_t i = 0; i < COUNT(rows); ++i)
		audit_report_add(&report, &(struct audit_finding){
			.code = rows[i].code, .target = rows[i].target, .message = ""});
	CU_ASSERT_EQUAL(audit_baseline_findings(&old, &report, rules, &now, &counts), 0);
	for (size_t i = 0; i < COUNT(rows); ++i)
		CU_ASSERT_EQUAL(report.findings[i].age, rows[i].age);
	CU_ASSERT(counts.new_findings == 2 && counts.gone_findings == 1);
	audit_baseline_destroy(&now);
	audit_report_destroy(&report);
	audit_baseline_destroy(&old);
}

static int compare_all(void *arg)
{
	struct audit_baseline *b = arg;
	struct audit_report report = {0};
	struct audit_base_counts counts = {0};
	int rc = audit_baseline_compare(&b[0], &b[1], -1, &report, &counts), error = errno;
	CU_ASSERT(rc != 0 || report.count == 4);
	audit_report_destroy(&report);
	errno = error;
	return rc;
}

UNIT_TEST(memory)
{
	struct audit_baseline b[2];
	load(&b[0], M("/a", EXT4) M("/b", EXT4) "{\"swap\": \"/s\"}\n");
	load(&b[1], M("/a", TMPFS) M("/c", EXT4));
	fault_each_allocation(compare_all, b, 5);
	audit_baseline_destroy(&b[0]);
	audit_baseline_destroy(&b[1]);
}
