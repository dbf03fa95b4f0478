/* SPDX-License-Identifier: MIT */
/*
 * Baselines: what is taken down; what came, went and changed, and the nearest that did
 * not; the file, whole, cut at each byte, and changed at each byte.
 */
#include "unit.h"

#include "audit/baseline.h"
#include "cmd/audit/baseline.h"
#include "fault.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAD "{\"getmnt_baseline\": 1, \"time\": 0, \"include\": [\"session\"], \"rules\": [\"MNT-DUP\", \"NEW-CODE\"]}\n"

/** A baseline of a head and these lines, whole. */
static void load(struct audit_baseline *b, const char *body)
{
	struct strbuf text, why;
	uint32_t line;
	strbuf_init(&text);
	strbuf_init(&why);
	strbuf_puts(&text, strncmp(body, "{\"getmnt", 8) == 0 ? "" : HEAD);
	strbuf_puts(&text, body);
	audit_base_end(&text, 0);
	audit_baseline_init(b);
	unit_note("%s", body);
	int rc = audit_base_parse(strbuf_str(&text), text.len, b, &line, &why);
	CU_ASSERT_EQUAL(rc, 0);
	if (rc != 0)
		printf("  %s: %u: %s\n", body, line, strbuf_str(&why));
	strbuf_destroy(&text);
	strbuf_destroy(&why);
}

static char told[16 * 1024];

/** What is told, a line each: "CODE severity target: wanted; is". */
static const char *compared(const char *old_lines, const char *now_lines, const char *fstab, long uptime)
{
	struct audit_baseline old, now;
	struct audit_report report;
	struct tablines *lines = tablines_parse(fstab, strlen(fstab));
	load(&old, old_lines);
	load(&now, now_lines);
	/* Superblocks: each of its own, unless a name says which. */
	for (size_t i = 0; i < now.count; ++i)
		now.entries[i].dev = strncmp(now.entries[i].target, "/same", 5) == 0 ? 1 : 2 + i;
	audit_report_init(&report);
	CU_ASSERT_EQUAL(audit_baseline_compare(&old, &now, lines, uptime, &report), 0);
	told[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT(f->severity <= audit_rules[f->code].severity && strstr(f->message, "1970-01-01 00:00 UTC"));
		size_t n = strlen(told);
		snprintf(told + n, sizeof(told) - n, "%s%s %s %s: %s; %s\n", strncmp(f->message, "it is", 5) == 0 ? "" : f->message[0] == '1' ? "1x " : "nx ",
		         audit_rules[f->code].code, audit_severity_name(f->severity), f->target, f->expected, f->actual);
	}
	if (report.unjudged)
		snprintf(told + strlen(told), sizeof(told) - strlen(told), "unjudged%s%s\n", report.unjudged & audit_bit(BASE_CHANGED) ? " changed" : "",
		         report.unjudged & audit_bit(BASE_WENT) ? " went" : "");
	audit_report_destroy(&report);
	audit_baseline_destroy(&old);
	audit_baseline_destroy(&now);
	tablines_free(lines);
	return told;
}

#define M(target, more) "{\"mount\": \"" target "\", " more "}\n"
#define EXT4 "\"fstype\": \"ext4\", \"root\": \"/\", \"owner\": \"fstab\", \"options\": \"rw\", \"super\": \"rw\""
#define TMPFS(more) "\"fstype\": \"tmpfs\", \"source\": \"tmpfs\", \"root\": \"/\", \"options\": \"rw\", \"super\": \"rw" more "\""

static void test_compare(void)
{
	static const struct {
		const char *old, *now, *wanted;
	} rows[] = {
		/* Nothing. */
		{"", "", ""},
		{M("/", EXT4), M("/", EXT4), ""},
		/* Came, went. */
		{"", M("/a", EXT4 ", \"uuid\": \"u\""), "BASE-CAME warning /a: not mounted; UUID=u (ext4)\n"},
		{M("/a", EXT4 ", \"source\": \"/dev/sda1\""), "", "BASE-WENT warning /a: /dev/sda1 (ext4); not mounted\n"},
		{M("/a", EXT4), M("/b", EXT4), "BASE-WENT warning /a: none (ext4); not mounted\nBASE-CAME warning /b: not mounted; none (ext4)\n"},
		/* Devices: renamed by the kernel; another. */
		{M("/", EXT4 ", \"uuid\": \"u\", \"source\": \"/dev/sda1\""), M("/", EXT4 ", \"uuid\": \"u\", \"source\": \"/dev/sdb1\""), ""},
		{M("/", EXT4 ", \"uuid\": \"u\", \"source\": \"/dev/sda1\""), M("/", EXT4 ", \"uuid\": \"v\", \"source\": \"/dev/sda1\""),
		 "BASE-CHANGED warning /: UUID=u (ext4); UUID=v (ext4)\n"},
		{M("/", EXT4 ", \"name\": \"/i\", \"source\": \"/dev/loop1\""), M("/", EXT4 ", \"name\": \"/i\", \"source\": \"/dev/loop7\""), ""},
		{M("/", EXT4 ", \"name\": \"/i\", \"source\": \"/dev/loop1\""), M("/", EXT4 ", \"name\": \"/j\", \"source\": \"/dev/loop1\""),
		 "BASE-CHANGED warning /: /i (ext4); /j (ext4)\n"},
		{M("/", EXT4 ", \"name\": \"/dev/mapper/v\", \"uuid\": \"u\""), M("/", EXT4 ", \"name\": \"/dev/mapper/snap\", \"uuid\": \"u\""),
		 "BASE-CHANGED warning /: /dev/mapper/v (ext4, UUID=u); /dev/mapper/snap (ext4, UUID=u)\n"},
		{M("/", EXT4 ", \"uuid\": \"u\", \"source\": \"/dev/sda1\""), M("/", EXT4 ", \"name\": \"/dev/mapper/mpatha\", \"uuid\": \"u\""), ""},
		{M("/", EXT4 ", \"source\": \"/dev/sda1\""), M("/", EXT4 ", \"source\": \"/dev/dm-3\""), "unjudged changed\n"},
		{M("/", EXT4 ", \"source\": \"/dev/sda1\""), M("/", EXT4 ", \"source\": \"/dev/sda1\""), ""},
		{M("/", EXT4 ", \"source\": \"/dev/mapper/a\""), M("/", EXT4 ", \"source\": \"/dev/mapper/b\""),
		 "BASE-CHANGED warning /: /dev/mapper/a (ext4); /dev/mapper/b (ext4)\n"},
		/* Type, directory, options, propagation. */
		{M("/t", TMPFS("")), M("/t", EXT4), "BASE-CHANGED warning /t: tmpfs (tmpfs); none (ext4)\n"},
		{M("/t", "\"fstype\": \"x\", \"root\": \"/a\", \"source\": \"s\""), M("/t", "\"fstype\": \"x\", \"root\": \"/b\", \"source\": \"s\""),
		 "BASE-CHANGED warning /t: s (x), /a of it; s (x), /b of it\n"},
		{M("/t", "\"options\": \"noexec,nosuid,rw\""), M("/t", "\"options\": \"nodev,nosuid,ro\""), "BASE-CHANGED warning /t: noexec,rw; nodev,ro\n"},
		{M("/t", "\"options\": \"nosuid,rw\""), M("/t", "\"options\": \"rw\""), "BASE-CHANGED warning /t: nosuid; without nosuid\n"},
		{M("/t", "\"options\": \"rw\""), M("/t", "\"options\": \"nosuid,rw\""), "BASE-CHANGED warning /t: without nosuid; nosuid\n"},
		{M("/t", "\"propagation\": \"shared\", \"super\": \"rw\""), M("/t", "\"propagation\": \"private\", \"super\": \"ro\""),
		 "BASE-CHANGED warning /t: rw; shared; ro; private\n"},
		{M("/t", "\"propagation\": \"shared\""), M("/t", "\"owner\": \"fstab\""), ""},
		/* Options of one file system, shown twice; of two. */
		{M("/same/a", "\"super\": \"rw\"") M("/same/b", "\"super\": \"rw\""), M("/same/a", "\"super\": \"ro\"") M("/same/b", "\"super\": \"ro\""),
		 "BASE-CHANGED warning /same/a: rw; ro\n"},
		{M("/a", "\"super\": \"rw\"") M("/b", "\"super\": \"rw\""), M("/a", "\"super\": \"ro\"") M("/b", "\"super\": \"ro\""),
		 "BASE-CHANGED warning /a: rw; ro\nBASE-CHANGED warning /b: rw; ro\n"},
		/* The size of a tmpfs: somebody's, nobody's. */
		{M("/t", TMPFS(",size=1k") ", \"owner\": \"fstab\""), M("/t", TMPFS(",size=2k") ", \"owner\": \"fstab\""), "BASE-CHANGED warning /t: size=1k; size=2k\n"},
		{M("/t", TMPFS(",nr_inodes=1,size=1k") ", \"owner\": \"api\""), M("/t", TMPFS(",nr_inodes=2,size=2k") ", \"owner\": \"api\""), ""},
		{M("/t", TMPFS(",size=1k") ", \"owner\": \"api\""), M("/t", TMPFS(",size=2k,uid=1") ", \"owner\": \"api\""), "BASE-CHANGED warning /t: without uid=1; uid=1\n"},
		/* Stacks. */
		{M("/s", TMPFS("")) M("/s", EXT4), M("/s", EXT4) M("/s", TMPFS("")), ""},
		{M("/s", EXT4) M("/s", EXT4), M("/s", EXT4) M("/s", EXT4) M("/s", EXT4), "1x BASE-CAME warning /s: not mounted; none (ext4)\n"},
		{M("/s", EXT4) M("/s", EXT4) M("/s", EXT4), M("/s", EXT4), "nx BASE-WENT warning /s: none (ext4); not mounted\n"},
		{M("/s", TMPFS("")) M("/s", EXT4), M("/s", EXT4) M("/s", "\"fstype\": \"xfs\", \"root\": \"/\", \"source\": \"x\", \"options\": \"rw\""),
		 "BASE-CHANGED warning /s: tmpfs (tmpfs); x (xfs)\n"},
		/* Automounts: idle, active; their own; nested ones. */
		{M("/h", "\"fstype\": \"autofs\", \"source\": \"systemd-1\""), M("/h", "\"fstype\": \"autofs\", \"source\": \"systemd-1\"") M("/h", EXT4), ""},
		{M("/h", "\"fstype\": \"autofs\"") M("/h/key", "\"fstype\": \"nfs\"") M("/h/x/y", "\"fstype\": \"autofs\""), M("/h", "\"fstype\": \"autofs\""), ""},
		{M("/h", "\"fstype\": \"autofs\", \"source\": \"a\""), "", "BASE-WENT warning /h: a (autofs); not mounted\n"},
		{M("/h", "\"fstype\": \"autofs\"") M("/hx", EXT4), M("/h", "\"fstype\": \"autofs\""), "BASE-WENT warning /hx: none (ext4); not mounted\n"},
		/* A server shows another of its file systems below one. */
		{M("/n", "\"fstype\": \"nfs4\", \"owner\": \"fstab\""), M("/n", "\"fstype\": \"nfs4\", \"owner\": \"fstab\"") M("/n/a/b", "\"fstype\": \"nfs4\""), ""},
		{M("/n", "\"fstype\": \"nfs4\""), M("/n", "\"fstype\": \"nfs4\"") M("/n/a", "\"fstype\": \"nfs4\", \"source\": \"s:/a\", \"owner\": \"fstab\""),
		 "BASE-CAME warning /n/a: not mounted; s:/a (nfs4)\n"},
		{M("/n", EXT4), M("/n", EXT4) M("/n/a", EXT4), "BASE-CAME warning /n/a: not mounted; none (ext4)\n"},
		/* What is somebody's affair: by its line then, or now; by its owner. */
		{M("/a", EXT4 ", \"noauto\": true"), "", "BASE-WENT info /a: none (ext4); not mounted\n"},
		{"", M("/a", EXT4 ", \"noauto\": true"), "BASE-CAME info /a: not mounted; none (ext4)\n"},
		{M("/noauto", EXT4), "", "BASE-WENT info /noauto: none (ext4); not mounted\n"},
		{"", M("/snap/x/1", "\"fstype\": \"squashfs\", \"owner\": \"snap\""), "BASE-CAME info /snap/x/1: not mounted; none (squashfs)\n"},
		{"", M("/x", "\"fstype\": \"squashfs\", \"owner\": \"unit\""), "BASE-CAME warning /x: not mounted; none (squashfs)\n"},
		/* Left out, unless both include it: the head has session. */
		{M("/c", "\"owner\": \"container:docker\""), M("/c", "\"owner\": \"container:docker\", \"options\": \"ro\"") M("/d", "\"owner\": \"credentials\""), ""},
		{M("/c", "\"owner\": \"container\""), "", ""},
		{M("/c", "\"owner\": \"containers\", \"fstype\": \"x\""), "", "BASE-WENT warning /c: none (x); not mounted\n"},
		{"", M("/run/user/1", "\"owner\": \"session\", \"fstype\": \"x\""), "BASE-CAME warning /run/user/1: not mounted; none (x)\n"},
		/* Swap spaces. */
		{"{\"swap\": \"/dev/sda2\", \"uuid\": \"u\"}\n", "{\"swap\": \"/dev/sdb2\", \"uuid\": \"u\"}\n", ""},
		{"{\"swap\": \"/dev/sda2\", \"uuid\": \"u\"}\n", "{\"swap\": \"/dev/sda2\", \"uuid\": \"v\"}\n",
		 "BASE-CAME warning /dev/sda2: not in use; UUID=v (swap)\nBASE-WENT warning /dev/sda2: UUID=u (swap); not in use\n"},
		{"{\"swap\": \"/dev/dm-1\", \"name\": \"/dev/mapper/s\", \"uuid\": \"u\"}\n", "{\"swap\": \"/dev/dm-2\", \"name\": \"/dev/mapper/s\", \"uuid\": \"v\"}\n", ""},
		{"{\"swap\": \"/swapfile\"}\n", "", "BASE-WENT warning /swapfile: /swapfile (swap); not in use\n"},
		{"{\"swap\": \"/x\"}\n", M("/x", EXT4), "BASE-CAME warning /x: not mounted; none (ext4)\nBASE-WENT warning /x: /x (swap); not in use\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		const char *got = compared(rows[i].old, rows[i].now, "x /noauto ext4 ro,noauto 0 0\n", -1);
		CU_ASSERT_STRING_EQUAL(got, rows[i].wanted);
		if (strcmp(got, rows[i].wanted) != 0)
			printf("  %s against\n  %sgives\n  %snot\n  %s", rows[i].old, rows[i].now, got, rows[i].wanted);
	}
	/* What may still come is not gone. */
	CU_ASSERT_STRING_EQUAL(compared(M("/a", EXT4), M("/b", EXT4), "", 299), "BASE-CAME warning /b: not mounted; none (ext4)\nunjudged went\n");
	CU_ASSERT_STRING_EQUAL(compared(M("/a", EXT4), "", "", 300), "BASE-WENT warning /a: none (ext4); not mounted\n");
}

/** Linear: as many on one place, and as many places. */
static void test_many(void)
{
	enum { N = 40000 };
	struct audit_baseline b[2];
	struct audit_report report;
	double start = unit_cpu();
	for (int side = 0; side < 2; ++side) {
		audit_baseline_init(&b[side]);
		for (size_t i = 0; i < N; ++i) {
			char target[32];
			struct audit_base_entry *e = audit_baseline_add(&b[side]);
			snprintf(target, sizeof(target), "/%zu", i % 2 ? i : 0);
			e->target = arena_strndup(&b[side].arena, target, strlen(target));
			e->options = side ? "ro" : "rw";
			e->dev = i;
		}
	}
	audit_report_init(&report);
	CU_ASSERT_EQUAL(audit_baseline_compare(&b[0], &b[1], NULL, -1, &report), 0);
	CU_ASSERT_EQUAL(report.count, N);
	CU_ASSERT(unit_cpu() - start < 20);
	audit_report_destroy(&report);
	audit_baseline_destroy(&b[0]);
	audit_baseline_destroy(&b[1]);
}

/* Taking down. */

static int take_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	static const struct devmap_tags tags[] = {
		{.name = "/dev/sda1", .uuid = "root"}, {.name = "/dev/mapper/v", .uuid = "lv"}, {.name = "/dev/loop3"},
		{.name = "/dev/sdc1", .uuid = "pool", .multi_device = true},
	};
	(void)arg;
	device->tags = mount->dev_minor < 4 ? &tags[mount->dev_minor] : NULL;
	device->loop.file = mount->dev_minor == 2 ? "/i m\xff" : NULL;
	return 0;
}

static int take_swap(void *arg, const char *name, struct fstab_device *device)
{
	static const struct devmap_tags tags = {.name = "/dev/sda2", .uuid = "swap"};
	(void)arg;
	(void)name;
	device->tags = &tags;
	return 0;
}

static void test_take(void)
{
	struct mount mounts[] = {
		{.dev_major = 8, .dev_minor = 0, .fstype = "ext4", .source = "/dev/sda1", .root = "/", .vfs_opts = "rw,relatime,nosuid,rw",
		 .fs_opts = "rw,stripe=4,seclabel,errors=x", .propagation = MP_SHARED},
		{.dev_major = 254, .dev_minor = 1, .fstype = "xfs", .source = "/dev/mapper/v", .root = "/d", .vfs_opts = "", .propagation = MP_SHARED | MP_SLAVE},
		{.dev_major = 7, .dev_minor = 2, .fstype = "squashfs", .source = "/dev/loop3", .root = "/"},
		{.dev_minor = 3, .fstype = "btrfs", .source = "/dev/sdc1", .root = "/@", .propagation = MP_UNBINDABLE},
		{.dev_minor = 9, .fstype = "nfs4", .source = "u:secret@srv:/x", .root = "/", .fs_opts = "rw,addr=10.0.0.1,clientaddr=1.2.3.4,password=no,vers=4.2"},
		{.dev_minor = 9, .fstype = "autofs", .source = "systemd-1", .root = "/", .fs_opts = "rw,fd=5,pgrp=1,pipe_ino=7,timeout=0"},
		{.dev_minor = 4, .fstype = "nsfs", .source = "nsfs", .root = "net:[4026532]"},
		{.fstype = "tmpfs", .source = "tmpfs", .root = "/"},
		{.fstype = "tmpfs", .source = "tmpfs", .root = "/"},
	};
	struct fstab_line lines[] = {
		{.mount = &mounts[0], .target = "/", .owner = "fstab"},
		{.mount = &mounts[1], .target = "/d", .owner = "unknown"},
		{.mount = &mounts[2], .target = "/i", .owner = "unknown"},
		{.mount = &mounts[3], .target = "/b\nb\\\xfe", .owner = "unknown"},
		{.mount = &mounts[4], .target = "/n", .owner = "unknown"},
		{.mount = &mounts[5], .target = "/auto", .owner = "automount"},
		{.mount = &mounts[6], .target = "/ns", .owner = "nsfs"},
		{.mount = &mounts[7], .target = "/run/user/1", .owner = "session"},
		{.mount = &mounts[8], .target = "/merged", .owner = "container:docker"},
		{.swap = "/dev/sda2", .owner = "fstab"},
		{.swap = "/dev/zram0", .owner = "unit"},
	};
	struct fstab_plan plan = {.lines = lines, .count = sizeof(lines) / sizeof(*lines)};
	static const char fstab[] = "x / ext4 noauto 0 0\n#\nx /d xfs defaults 0 0\n";
	const struct fstab_line *of[] = {&lines[0], NULL, &lines[1], NULL};
	struct fstab_match match = {.of = of};
	struct tablines *file = tablines_parse(fstab, strlen(fstab));
	struct fstab_world world = {.device = take_device, .swap = take_swap};
	struct audit_base_input in = {&plan, &world, &match, file, mask_options, mask_source};
	static const char want[] =
		"{\"getmnt_baseline\": 1, \"root\": \"/\", \"time\": 0, \"include\": [\"container\"], \"rules\": []}\n"
		"{\"mount\": \"/\", \"source\": \"/dev/sda1\", \"fstype\": \"ext4\", \"uuid\": \"root\", \"root\": \"/\", \"options\": \"nosuid,relatime,rw\", "
		"\"super\": \"errors=x,rw\", \"propagation\": \"shared\", \"owner\": \"fstab\", \"noauto\": true}\n"
		"{\"mount\": \"/auto\", \"source\": \"systemd-1\", \"fstype\": \"autofs\", \"root\": \"/\", \"super\": \"rw,timeout=0\", "
		"\"propagation\": \"private\", \"owner\": \"automount\"}\n"
		"{\"mount\": \"/b\\\\012b\\\\134\\\\376\", \"source\": \"/dev/sdc1\", \"fstype\": \"btrfs\", \"uuid\": \"pool\", \"root\": \"/@\", "
		"\"propagation\": \"unbindable\", \"owner\": \"unknown\"}\n"
		"{\"mount\": \"/d\", \"source\": \"/dev/mapper/v\", \"fstype\": \"xfs\", \"name\": \"/dev/mapper/v\", \"uuid\": \"lv\", \"root\": \"/d\", "
		"\"propagation\": \"shared,slave\", \"owner\": \"unknown\"}\n"
		"{\"mount\": \"/i\", \"source\": \"/dev/loop3\", \"fstype\": \"squashfs\", \"name\": \"/i m\\\\377\", \"root\": \"/\", "
		"\"propagation\": \"private\", \"owner\": \"unknown\"}\n"
		"{\"mount\": \"/merged\", \"source\": \"tmpfs\", \"fstype\": \"tmpfs\", \"root\": \"/\", \"propagation\": \"private\", \"owner\": \"container:docker\"}\n"
		"{\"mount\": \"/n\", \"source\": \"u:***@srv:/x\", \"fstype\": \"nfs4\", \"root\": \"/\", \"super\": \"password=***,rw,vers=4.2\", "
		"\"propagation\": \"private\", \"owner\": \"unknown\"}\n"
		"{\"mount\": \"/ns\", \"source\": \"nsfs\", \"fstype\": \"nsfs\", \"propagation\": \"private\", \"owner\": \"nsfs\"}\n"
		"{\"swap\": \"/dev/sda2\", \"uuid\": \"swap\", \"owner\": \"fstab\"}\n"
		"{\"swap\": \"/dev/zram0\", \"name\": \"/dev/zram0\", \"owner\": \"unit\"}\n";
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= allocations; n += n ? unit_step() : 1) {
		struct audit_baseline b;
		struct strbuf out, why;
		uint32_t line;
		struct fault fault = {.mode = FAULT_ONCE, .kind = FAULT_ALLOC, .n = n, .error = ENOMEM};
		fault_begin(n ? &fault : NULL, 1000);
		audit_baseline_init(&b);
		b.include = audit_owner_bit("container");
		strbuf_init(&out);
		int rc = audit_baseline_take(&in, &b), error = errno;
		if (rc == 0)
			audit_base_write(&b, &out);
		bool good = rc == 0 && !out.failed;
		CU_ASSERT(count.hits == 0 || rc == 0 || error == ENOMEM);
		if (good) {
			CU_ASSERT_NSTRING_EQUAL(strbuf_str(&out), want, strlen(want));
			if (strncmp(strbuf_str(&out), want, strlen(want)) != 0)
				printf("%s", strbuf_str(&out));
		}
		/* It reads as it was written. */
		struct audit_baseline again;
		audit_baseline_init(&again);
		strbuf_init(&why);
		if (n == 0)
			CU_ASSERT_EQUAL(audit_base_parse(strbuf_str(&out), out.len, &again, &line, &why), 0);
		if (n == 0)
			CU_ASSERT_STRING_EQUAL(again.entries[2].target, "/b\nb\\\xfe");
		audit_baseline_destroy(&again);
		audit_baseline_destroy(&b);
		strbuf_destroy(&out);
		strbuf_destroy(&why);
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT(n == 0 || count.hits == 0 || !good);
		CU_ASSERT_EQUAL(count.blocks, 0);
	}
	CU_ASSERT(allocations > 4);
	tablines_free(file);
}

/* The file. */

static const char body[] = M("/a\\\\040b", EXT4) "{\"finding\": \"MNT-DUP\", \"target\": \"/a\"}\n{\"swap\": \"/s\", \"later\": [1]}\n";

/** Read a text.  @return the line of what is wrong, 0: nothing; told has why. */
static uint32_t wrong(const char *text, size_t len)
{
	struct audit_baseline b;
	struct strbuf why;
	uint32_t line;
	strbuf_init(&why);
	audit_baseline_init(&b);
	/* Of this size: what is read beyond is seen by valgrind and ASan. */
	char *copy = malloc(len + 1);
	memcpy(copy, text, len);
	int rc = audit_base_parse(copy, len, &b, &line, &why);
	CU_ASSERT(rc == 0 || errno == EBADMSG);
	snprintf(told, sizeof(told), "%s", strbuf_str(&why));
	audit_baseline_destroy(&b);
	strbuf_destroy(&why);
	free(copy);
	return rc == 0 ? 0 : line;
}

static void test_damaged(void)
{
	struct strbuf text;
	strbuf_init(&text);
	strbuf_puts(&text, HEAD);
	strbuf_puts(&text, body);
	audit_base_end(&text, 0);
	CU_ASSERT_EQUAL(wrong(text.data, text.len), 0);
	/* Cut anywhere: told at the line that is cut, or the last that there is. */
	uint32_t line = 1;
	for (size_t n = 0; n < text.len; ++n) {
		unit_note("cut at %zu", n);
		line += n >= 2 && text.data[n - 2] == '\n';
		CU_ASSERT_EQUAL(wrong(text.data, n), line);
		CU_ASSERT(strstr(told, "cut") || strstr(told, n ? "head" : "the file is empty"));
	}
	/* Any byte another. */
	for (size_t n = 0; n < text.len; n += unit_step()) {
		for (unsigned bit = 0; bit < 8; ++bit) {
			unit_note("byte %zu, bit %u", n, bit);
			text.data[n] ^= (char)(1u << bit);
			CU_ASSERT(wrong(text.data, text.len) > 0 && *told);
			text.data[n] ^= (char)(1u << bit);
		}
	}
	/* More behind it; twice. */
	strbuf_putc(&text, '\n');
	CU_ASSERT(wrong(text.data, text.len) == 6 && strstr(told, "behind the end"));
	strbuf_destroy(&text);
}

static void test_lines(void)
{
	static const struct {
		const char *line, *why;
	} rows[] = {
		{"", "it is no JSON"}, {"{", "it is no JSON"}, {"[]", "it is no object"}, {"1", "it is no JSON"}, {"{}", "it is neither a mount"},
		{"{\"mount\": 1}", "\"mount\" is no string"}, {"{\"mount\": \"\"}", "no absolute path"}, {"{\"mount\": \"a\"}", "no absolute path"},
		{"{\"mount\": null}", "no string"}, {"{\"mount\": \"/\", \"root\": []}", "\"root\" is no string"}, {"{\"swap\": \"\"}", "\"swap\" is empty"},
		{"{\"mount\": \"/\\\\000\"}", "a NUL"}, {"{\"mount\": \"/\\u0000\"}", "it is no JSON"}, {"{\"mount\": \"/\xff\"}", "it is no JSON"},
		{"{\"mount\": \"/\", \"mount\": \"/b\"}", "it is no JSON: duplicate"}, {"{\"mount\": \"/\", \"noauto\": 1}", "neither true nor false"},
		{"{\"finding\": \"\"}", "\"finding\" is empty"}, {"{\"finding\": 3}", "no string"}, {"{\"mount\": \"/\"} {}", "it is no JSON"},
		{"{\"end\": 9}", "the end tells of 9 lines, and there are 2"}, {"{\"end\": 2}", "the sum is not"}, {"{\"end\": 2, \"sha256\": 2}", "the sum is not"},
		{"{\"end\": 2, \"sha256\": \"\"}", "the sum is not"}, {"{\"getmnt_baseline\": 1, \"time\": 1}", "neither a mount"},
	};
	static const struct {
		const char *head, *why;
	} heads[] = {
		{"{\"getmnt_baseline\": 2, \"time\": 0}", "it is of form 2, and this getmnt reads form 1"}, {"{\"getmnt_baseline\": 0}", "no baseline of getmnt"},
		{"{\"getmnt_baseline\": \"1\"}", "no baseline of getmnt"}, {"{\"getmnt_baseline\": 1}", "\"time\" is missing"},
		{"{\"getmnt_baseline\": 1, \"time\": -1}", "\"time\" is no number"}, {"{\"getmnt_baseline\": 1, \"time\": 1e5}", "\"time\" is no number"},
		{"{\"getmnt_baseline\": 1, \"time\": 253402300800}", "\"time\" is no number"}, {"{\"getmnt_baseline\": 1, \"time\": 99999999999999999999}", "it is no JSON"},
		{"{\"getmnt_baseline\": 1, \"time\": 1, \"host\": {}}", "\"host\" is no string"}, {"{\"getmnt_baseline\": 1, \"time\": 1, \"rules\": 1}", "\"rules\" is no list"},
		{"{\"getmnt_baseline\": 1, \"time\": 1, \"include\": [1]}", "no list of strings"}, {"{\"time\": 1, \"getmnt_baseline\": 1}", "no baseline of getmnt"},
		{"# /etc/fstab", "no baseline of getmnt"}, {"{\"getmnt_baseline\": 1, \"time\": 1, \"mntns\": -3}", "\"mntns\" is no number"},
	};
	char text[1024];
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		unit_note("%s", rows[i].line);
		size_t n = (size_t)snprintf(text, sizeof(text), HEAD M("/x", EXT4) "%s\n" M("/y", EXT4), rows[i].line);
		CU_ASSERT(wrong(text, n) == 3 && strstr(told, rows[i].why));
		if (!strstr(told, rows[i].why))
			printf("  %s: %s\n", rows[i].line, told);
	}
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i) {
		unit_note("%s", heads[i].head);
		size_t n = (size_t)snprintf(text, sizeof(text), "%s\n" M("/y", EXT4), heads[i].head);
		CU_ASSERT(wrong(text, n) == 1 && strstr(told, heads[i].why));
		if (!strstr(told, heads[i].why))
			printf("  %s: %s\n", heads[i].head, told);
	}
	/* What is deep, and what is long, ends as well. */
	struct strbuf deep;
	strbuf_init(&deep);
	strbuf_puts(&deep, HEAD "{\"mount\": ");
	for (int i = 0; i < 100000; ++i)
		strbuf_putc(&deep, '[');
	strbuf_putc(&deep, '\n');
	CU_ASSERT(wrong(deep.data, deep.len) == 2 && strstr(told, "it is no JSON"));
	strbuf_reset(&deep);
	strbuf_puts(&deep, HEAD "{\"mount\": \"");
	for (int i = 0; i < 1 << 20; ++i)
		strbuf_putc(&deep, '/');
	strbuf_puts(&deep, "\"}\n");
	CU_ASSERT(wrong(deep.data, deep.len) == 2 && strstr(told, "longer than 1048576"));
	strbuf_destroy(&deep);
}

/* Of whom it is. */

static void test_host(void)
{
	static const struct {
		const char *host, *machine, *host2, *machine2;
		enum audit_base_host wanted;
	} rows[] = {
		{NULL, NULL, NULL, NULL, AUDIT_BASE_SAME}, {"a", NULL, NULL, NULL, AUDIT_BASE_SAME}, {"a", NULL, "a", NULL, AUDIT_BASE_SAME},
		{"a", NULL, "b", NULL, AUDIT_BASE_OTHER}, {"a", "1", "a", "1", AUDIT_BASE_SAME}, {"a", "1", "b", "1", AUDIT_BASE_RENAMED},
		{"a", "1", "a", "2", AUDIT_BASE_OTHER}, {"a", "1", "b", "2", AUDIT_BASE_OTHER}, {"a", "1", "b", NULL, AUDIT_BASE_OTHER},
		{"a", "1", "a", NULL, AUDIT_BASE_SAME}, {NULL, "1", "b", "2", AUDIT_BASE_OTHER}, {NULL, "1", "b", "1", AUDIT_BASE_SAME},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct audit_baseline old = {.host = rows[i].host, .machine = rows[i].machine}, now = {.host = rows[i].host2, .machine = rows[i].machine2};
		CU_ASSERT_EQUAL(audit_baseline_host(&old, &now), rows[i].wanted);
	}
}

/* New findings. */

static void test_age(void)
{
	struct audit_baseline old;
	struct audit_report report;
	size_t fresh, gone;
	load(&old, "{\"finding\": \"MNT-DUP\", \"target\": \"/a\"}\n{\"finding\": \"MNT-DUP\", \"target\": \"/a\"}\n"
	           "{\"finding\": \"MNT-DUP\", \"target\": \"/gone\"}\n{\"finding\": \"MNT-LIMIT\"}\n{\"finding\": \"NEW-CODE\"}\n");
	static const struct {
		enum audit_code code;
		const char *target;
		enum audit_age age;
	} rows[] = {
		{MNT_DUP, "/a", AUDIT_KNOWN}, {MNT_DUP, "/a", AUDIT_KNOWN}, {MNT_DUP, "/a", AUDIT_NEW}, {MNT_DUP, "/b", AUDIT_NEW},
		{MNT_LIMIT, "", AUDIT_KNOWN}, {MNT_LIMIT, "/x", AUDIT_AGELESS}, {BASE_CAME, "/x", AUDIT_AGELESS}, {FSTAB_SYNTAX, "/a", AUDIT_AGELESS},
	};
	for (uint64_t n = 0; n < 5; ++n) {
		struct fault fault = {.mode = FAULT_ONCE, .kind = FAULT_ALLOC, .n = n, .error = ENOMEM};
		struct fault_count count;
		audit_report_init(&report);
		for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i)
			CU_ASSERT_EQUAL(audit_report_add(&report, &(struct audit_finding){.code = rows[i].code, .target = rows[i].target, .message = ""}), 0);
		fault_begin(n ? &fault : NULL, 1000);
		int rc = audit_baseline_age(&old, &report, ~audit_bit(FSTAB_SYNTAX), &fresh, &gone);
		fault_end(&count);
		CU_ASSERT(count.hits ? rc == -1 : rc == 0);
		CU_ASSERT_EQUAL(count.blocks, 0);
		for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(*rows); ++i)
			CU_ASSERT_EQUAL(report.findings[i].age, rows[i].age);
		CU_ASSERT(rc != 0 || (fresh == 2 && gone == 1));
		audit_report_destroy(&report);
	}
	audit_baseline_destroy(&old);
}

/** Memory that runs out anywhere. */
static void test_memory(void)
{
	struct audit_baseline old, now;
	load(&old, M("/a", EXT4) M("/b", EXT4) M("/h", "\"fstype\": \"autofs\"") "{\"swap\": \"/s\"}\n");
	load(&now, M("/a", TMPFS("")) M("/c", EXT4) M("/h", "\"fstype\": \"autofs\""));
	struct tablines *lines = tablines_parse("x /noauto ext4 noauto", 21);
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2, ENOMEM};
		struct fault_count count;
		struct audit_report report;
		fault_begin(n ? &fault : NULL, 1000);
		audit_report_init(&report);
		int rc = audit_baseline_compare(&old, &now, lines, -1, &report), error = errno;
		size_t got = report.count;
		audit_report_destroy(&report);
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT(count.hits == 0 ? rc == 0 && got == 4 : rc == -1 && error == ENOMEM);
	}
	CU_ASSERT(allocations > 10);
	tablines_free(lines);
	audit_baseline_destroy(&old);
	audit_baseline_destroy(&now);
}

static const struct unit_test tests[] = {
	{"compare", test_compare}, {"many", test_many}, {"take", test_take}, {"damaged", test_damaged}, {"lines", test_lines},
	{"host", test_host}, {"age", test_age}, {"memory", test_memory}, {NULL, NULL},
};

const struct unit_suite suite_baseline = {"baseline", tests};
