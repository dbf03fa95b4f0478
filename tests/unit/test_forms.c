/* SPDX-License-Identifier: MIT */
/* What the forms of getmnt audit are made of: masks, labels, ranges, work with an end. */
#include "unit.h"

#include "audit/mask.h"
#include "base/escape.h"
#include "cmd/audit/audit.h"
#include "os/bounded.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

struct masked {
	const char *text, *want;
};

static const struct masked paths[] = {
	/* What is of a role stays. */
	{"/", "/"},
	{"/data", "/data"},
	{"/data/1", "/data/1"},
	{"/srv/disk12", "/srv/disk12"},
	{"/srv/www.example.org", "/srv/www.example.org"},
	{"/var/lib/docker", "/var/lib/docker"},
	{"/cafe/beef/deadbeef", "/cafe/beef/deadbeef"},
	{"/mnt/facade", "/mnt/facade"},
	{"/users/1000", "/users/1000"},
	{"/srv/2024", "/srv/2024"},
	{"/opt/app-data2", "/opt/app-data2"},
	{"/opt/app-Home1", "/opt/app-Home1"},
	{"/opt/x-prod", "/opt/x-prod"},
	{"/mnt/sdcard", "/mnt/sdcard"},
	{"/mnt/model", "/mnt/model"},
	{"/mnt/loopback", "/mnt/loopback"},
	{"relative", "relative"},
	{"", ""},
	/* What is of one machine, or of one boot, does not. */
	{"/run/user/1000", "/run/user/*"},
	{"/run/user/1000/doc", "/run/user/*/doc"},
	{"/proc/1234/root", "/proc/*/root"},
	{"/proc/self/task/12/fd/3", "/proc/self/task/*/fd/*"},
	{"/snap/core20/1974", "/snap/core20/*"},
	{"/var/lib/snapd/snap/lxd/24061", "/var/lib/snapd/snap/lxd/*"},
	{"/media/u/2f6b1a3e-0f11-4c5d-9a63-7f0a4e6b1c2d", "/media/u/*"},
	{"/media/u/2F6B1A3E-0F11-4C5D-9A63-7F0A4E6B1C2D", "/media/u/*"},
	{"/run/netns/cni-2f6b1a3e-0f11-4c5d-9a63-7f0a4e6b1c2d", "/run/netns/cni-*"},
	{"/run/docker/netns/0123456789ab", "/run/docker/netns/*"},
	{"/var/lib/docker/overlay2/4f53cda18c2baa0c0354bb5f9a3ecbe5ed12ab4d8e11ba873c2f11161202b945/merged",
	 "/var/lib/docker/overlay2/*/merged"},
	{"/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/345/fs",
	 "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/*/fs"},
	{"/var/lib/kubelet/pods/2f6b1a3e-0f11-4c5d-9a63-7f0a4e6b1c2d/volumes/kubernetes.io~projected/kube-api-access-qwert",
	 "/var/lib/kubelet/pods/*/volumes/kubernetes.io~projected/kube-api-access-*"},
	{"/tmp/systemd-private-0123456789abcdef0123456789abcdef-ntp.service-Xa7Qb2/tmp", "/tmp/systemd-private-*-ntp.service-*/tmp"},
	{"/tmp/.mount_Applic3kd", "/tmp/.mount_*"},
	{"/tmp/tmp.Ab3dEfGh1J", "/tmp/tmp.*"},
	{"/tmp/tmp.abcdefghij/x", "/tmp/tmp.*/x"},
	{"/tmp/build-Ab3dEfGh1J", "/tmp/build-*"},
	{"/srv/db-PostgreSQL", "/srv/db-PostgreSQL"},
	{"/srv/tmp.longer-than", "/srv/tmp.longer-than"},
	{"/srv/tmp.Ab3dEfGh1JK", "/srv/tmp.Ab3dEfGh1JK"},
	{"/var/tmp/dir.aB3dE6", "/var/tmp/dir.*"},
	{"/pods/web-x2k5f", "/pods/web-*"},
	{"/.snapshots/17/snapshot", "/.snapshots/*/snapshot"},
	{"/mnt/loop3", "/mnt/*"},
	{"/mnt/sda1", "/mnt/*"},
	{"/x/123456", "/x/*"},
	{"/dev/mapper/web17--vg-swap_1", "/dev/mapper/*--vg-swap_1"},
	{"/dev/web17-vg/root", "/dev/*-vg/root"},
	{"/srv/web17", "/srv/*"},
	{"/srv/www.web17.example.org", "/srv/www.*"},
	{"/backup/WEB17.img", "/backup/*.img"},
	{"/srv/web170", "/srv/web170"},
	{"/srv/myweb17", "/srv/myweb17"},
	{"/dev/md/web17:root", "/dev/md/*:root"},
	{"/dev/md/127", "/dev/md/*"},
	{"/dev/mapper/mpathb", "/dev/mapper/*"},
	{"/dev/mapper/mpathaa-part2", "/dev/mapper/*"},
	{"/mnt/mpath", "/mnt/mpath"},
	{"/dev/pmem0p1", "/dev/*"},
	{"/efi/0123456789abcdef0123456789abcdef", "/efi/*"},
};

static const struct masked values[] = {
	{"mounted", "mounted"},
	{"not mounted", "not mounted"},
	{"rw,noatime,uid=1000,mode=0755", "rw,noatime,uid=1000,mode=0755"},
	{"2", "2"},
	{"a pass number of 0 to 9", "a pass number of 0 to 9"},
	{"LABEL=data", "LABEL=data"},
	{"/dev/mapper/vg0-root (ext4)", "/dev/mapper/vg0-root (ext4)"},
	{"nas:/export/home (nfs4)", "nas:/export/home (nfs4)"},
	{"UUID=2f6b1a3e-0f11-4c5d-9a63-7f0a4e6b1c2d", "UUID=*"},
	{"UUID=1A2B-3C4D (vfat)", "UUID=* (vfat)"},
	{"PARTUUID=deadbeef-01", "PARTUUID=*"},
	{"/dev/sda1 (ext4)", "/dev/* (ext4)"},
	{"/dev/nvme0n1p2", "/dev/*"},
	{"/dev/nvme0n1", "/dev/*"},
	{"/dev/mmcblk0p1", "/dev/*"},
	{"/dev/md127", "/dev/*"},
	{"/dev/dm-3", "/dev/*"},
	{"/dev/vdb", "/dev/*"},
	{"/dev/disk/by-uuid/1A2B-3C4D", "/dev/disk/by-uuid/*"},
	{"/dev/disk/by-id/ata-Foo_S3Z1NB0K-part1", "/dev/disk/by-id/*"},
	{"/dev/disk/by-path/pci-0000:00:1f.2-ata-1", "/dev/disk/by-path/*"},
	{"/dev/disk/by-label/data", "/dev/disk/by-label/data"},
	{"8:17", "*:*"},
	{"size=65536k,nr_inodes=400000,mode=1777", "size=*,nr_inodes=*,mode=1777"},
	{"size=50%", "size=*"},
	{"stripe=128", "stripe=*"},
	{"subvolid=256,subvol=/@", "subvolid=*,subvol=/@"},
	{"fewer than 100000", "fewer than *"},
	{"about 15.5GiB free", "about * free"},
	{"since 2026-11-22T10:11:12", "since *:*:*"},
	{"web17:/srv, web17", "*:/srv, *"},
	{"web17.example.org:/srv", "*:/srv"},
	{"web170", "web170"},
	{"/dev/mapper/web17--vg-root (ext4)", "/dev/mapper/*--vg-root (ext4)"},
	{"/dev/mapper/rhel_web17-root (xfs)", "/dev/mapper/rhel_*-root (xfs)"},
	{"LABEL=web17-root", "LABEL=*-root"},
	{"LABEL=WEB17 (vfat)", "LABEL=* (vfat)"},
	{"nas:/export/homes/web17.example.org (nfs4)", "nas:/export/homes/* (nfs4)"},
	{"nas-web17:/srv", "nas-web17:/srv"},
	{"web17.elsewhere.org:/srv", "web17.elsewhere.org:/srv"},
	{"//web17.elsewhere.org/share (cifs)", "//web17.elsewhere.org/share (cifs)"},
	{"//web17/share (cifs)", "//*/share (cifs)"},
	{"/dev/vda2, /dev/xvda1", "/dev/*, /dev/*"},
	{"size=10%,huge=never", "size=*,huge=never"},
	{"size=3906588k", "size=*"},
	{"line 17 as well", "line * as well"},
	{"pass 2", "pass 2"},
	{"/run/user/1000", "/run/user/*"},
	{"", ""},
};

static void expect_masked(const struct masked *row, bool path)
{
	struct strbuf out;
	strbuf_init(&out);
	if (path)
		mask_path(&out, row->text, "web17.example.org");
	else
		mask_value(&out, row->text, "web17.example.org");
	if (strcmp(strbuf_str(&out), row->want) != 0) {
		printf("  %s: %s, not %s\n", row->text, strbuf_str(&out), row->want);
		CU_FAIL("a mask");
	}
	strbuf_destroy(&out);
}

static void test_mask(void)
{
	for (size_t i = 0; i < COUNT(paths); ++i)
		expect_masked(&paths[i], true);
	for (size_t i = 0; i < COUNT(values); ++i)
		expect_masked(&values[i], false);
}

/** A host whose name is a word would take it out of every path. */
static void test_mask_host(void)
{
	static const struct {
		const char *host, *want;
	} rows[] = {
		{NULL, "data:/data db-1 data.example.org"}, {"data", "data:/data db-1 data.example.org"},
		{"data.example.org", "data:/data db-1 *"}, {"db-1", "data:/data * data.example.org"}, {"", "data:/data db-1 data.example.org"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct strbuf out;
		strbuf_init(&out);
		mask_value(&out, "data:/data db-1 data.example.org", rows[i].host);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].want);
		strbuf_destroy(&out);
	}
}

/** Where the disk was set up by an installer, the host is in it, be its name a plain word. */
static void test_mask_groups(void)
{
	static const struct {
		const char *host, *path, *want;
	} rows[] = {
		{"node-1", "/dev/mapper/node--1--vg-root", "/dev/mapper/*--vg-root"},
		{"node-1", "/dev/node-1-vg/root", "/dev/*-vg/root"},
		{"node-1", "/dev/mapper/node--1-root", "/dev/mapper/*-root"},
		{"node-1", "/dev/mapper/node--12--vg-root", "/dev/mapper/node--12--vg-root"},
		{"data", "/dev/mapper/data--vg-root", "/dev/mapper/*--vg-root"},
		{"data", "/dev/data-vg/data", "/dev/*-vg/data"},
		{"data", "/dev/mapper/rhel_data-root", "/dev/mapper/rhel_*-root"},
		{"data.example.org", "/dev/mapper/cl_data-root", "/dev/mapper/cl_*-root"},
		{"data", "/dev/mapper/vg_data-root", "/dev/mapper/vg_data-root"},
		{"data", "/dev/mapper/data-vgroot", "/dev/mapper/data-vgroot"},
		{"data", "/data", "/data"},
		{"17", "/srv/17/disk-17", "/srv/*/disk-17"},
		{"vg", "/dev/mapper/vg-vg", "/dev/mapper/*-vg"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct strbuf out;
		strbuf_init(&out);
		mask_path(&out, rows[i].path, rows[i].host);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].want);
		strbuf_reset(&out);
		mask_value(&out, rows[i].path, rows[i].host);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].want);
		strbuf_destroy(&out);
	}
}

/** What it is given, it ends; and a mask of a mask is itself. */
static void test_mask_random(void)
{
	static const char bytes[] = "/=:,-._aAfgx09 (\"%kp";
	struct strbuf one, two;
	unsigned seed = 1;
	strbuf_init(&one);
	strbuf_init(&two);
	for (int turn = 0; turn < 20000; ++turn) {
		char text[48];
		size_t n = (size_t)turn % (sizeof(text) - 1);
		for (size_t i = 0; i < n; ++i) {
			seed = seed * 1103515245 + 12345;
			text[i] = bytes[(seed >> 16) % (sizeof(bytes) - 1)];
		}
		text[n] = '\0';
		strbuf_reset(&one);
		strbuf_reset(&two);
		mask_value(&one, text, "x09");
		CU_ASSERT(one.len <= 2 * n + 2);
		mask_path(&two, text, "x09");
		CU_ASSERT(two.len <= n);
	}
	strbuf_destroy(&one);
	strbuf_destroy(&two);
}

static void test_label(void)
{
	static const struct masked rows[] = {
		{"", "\"\""},
		{"/data", "\"/data\""},
		{"a\"b\\c\nd", "\"a\\\"b\\\\c\\nd\""},
		{"\x1b[31m\t", "\"\\\\x1b[31m\\\\x09\""},
		{"\xff\xc3\xa9\xc3", "\"\\\\xff\xc3\xa9\\\\xc3\""},
		{"{x=1}", "\"{x=1}\""},
	};
	struct strbuf out;
	strbuf_init(&out);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		strbuf_reset(&out);
		audit_label(&out, rows[i].text);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), rows[i].want);
	}
	/* What is long is cut where a character ends. */
	char *text = calloc(1, 4097);
	CU_ASSERT_PTR_NOT_NULL_FATAL(text);
	for (size_t i = 0; i < 4096; i += 2)
		memcpy(text + i, "\xc3\xa9", 2);
	strbuf_reset(&out);
	audit_label(&out, text);
	CU_ASSERT(out.len < 1100);
	CU_ASSERT(utf8_valid(strbuf_str(&out)));
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&out), "...\""));
	free(text);
	strbuf_destroy(&out);
}

static void test_ranges(void)
{
	static const struct {
		const char *text;
		const char *tells;   /* of 0, 1, 5, 10, 11: 1 where it does; NULL: it is none */
	} rows[] = {
		{"0", "01111"}, {"10", "00001"}, {"1:", "10000"}, {"10:", "11100"}, {"~:0", "01111"}, {"~:5", "00011"},
		{"5:10", "11001"}, {"@5:10", "00110"}, {"@0", "10000"}, {"@~:1", "11000"}, {"~:", "00000"}, {"0.5", "01111"},
		{"-5:1", "00111"}, {":5", "00011"}, {":", NULL}, {"", NULL}, {"@", NULL}, {"x", NULL}, {"10:5", NULL}, {"1:2:3", NULL}, {"~", NULL},
		{"1e3", NULL}, {"nan", NULL}, {"inf", NULL}, {"0x10", NULL}, {" 1", NULL}, {"1 ", NULL}, {"-", NULL}, {".", NULL},
		{"1|x", NULL}, {"99999999999999999999999999", NULL}, {"1:~", NULL},
	};
	static const double numbers[] = {0, 1, 5, 10, 11};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct audit_range range;
		unit_note("%s", rows[i].text);
		bool is = audit_range_read(rows[i].text, &range);
		if (is != (rows[i].tells != NULL)) {
			printf("  %s: is%s taken\n", rows[i].text, is ? "" : " not");
			CU_FAIL("a range");
		}
		for (size_t k = 0; is && rows[i].tells && k < COUNT(numbers); ++k) {
			if (audit_range_tells(&range, numbers[k]) != (rows[i].tells[k] == '1')) {
				printf("  %s of %g\n", rows[i].text, numbers[k]);
				CU_FAIL("a range");
			}
		}
	}
}

/* Work with an end. */

static int work(void *arg)
{
	const char *what = arg;
	if (strcmp(what, "sleep") == 0)
		pause();
	if (strcmp(what, "deaf") == 0) {
		/* It ends its output, and not itself. */
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		pause();
	}
	if (strcmp(what, "crash") == 0) {
		signal(SIGTERM, SIG_DFL);
		raise(SIGTERM);
	}
	for (int i = 0; strcmp(what, "much") == 0 && i < 300000; ++i)
		printf("line %d\n", i);
	printf("out");
	fprintf(stderr, "err");
	fflush(stdout);
	return 7;
}

static void test_bounded(void)
{
	static const struct {
		const char *what;
		double seconds;
		bool late;
		int signal, status;
	} rows[] = {
		{"print", 60, false, 0, 7}, {"much", 60, false, 0, 7}, {"sleep", 0.05, true, 0, 0}, {"deaf", 0.05, true, 0, 0},
		{"crash", 60, false, SIGTERM, 0},
	};
	struct os os = {0};
	fflush(stdout);
	int before = unit_count("/proc/self/fd");
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct os_bounded done;
		char what[16];
		snprintf(what, sizeof(what), "%s", rows[i].what);
		double begin = os_now();
		unit_note("%s", what);
		CU_ASSERT_EQUAL_FATAL(os_bounded(&os, rows[i].seconds, work, what, &done), 0);
		CU_ASSERT_EQUAL(done.late, rows[i].late);
		CU_ASSERT_EQUAL(done.signal, rows[i].signal);
		CU_ASSERT_EQUAL(done.status, rows[i].status);
		CU_ASSERT(os_now() - begin < 30);
		if (rows[i].status) {
			size_t n = done.out.len;
			CU_ASSERT(n >= 3 && strcmp(strbuf_str(&done.out) + n - 3, "out") == 0);
			CU_ASSERT_STRING_EQUAL(strbuf_str(&done.err), "err");
		}
		if (strcmp(what, "much") == 0)
			CU_ASSERT(done.out.len > 3000000);
		os_bounded_destroy(&done);
	}
	CU_ASSERT_EQUAL(unit_count("/proc/self/fd"), before);
}

static const struct unit_test tests[] = {
	{"mask", test_mask},
	{"mask_host", test_mask_host},
	{"mask_groups", test_mask_groups},
	{"mask_random", test_mask_random},
	{"label", test_label},
	{"ranges", test_ranges},
	{"bounded", test_bounded},
	{NULL, NULL},
};

const struct unit_suite suite_forms = {"forms", tests};
