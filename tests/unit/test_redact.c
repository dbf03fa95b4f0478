/* SPDX-License-Identifier: MIT */
/*
 * audit/redact: what tells whose a host is goes, the same everywhere by the same, and
 * what a table is made of stays.
 */
#include "unit.h"

#include "audit/redact.h"

#include <stdio.h>
#include <string.h>

/** One text, after names were learnt of it. */
static void says(struct redact *r, const char *text, const char *expected)
{
	struct strbuf out;
	strbuf_init(&out);
	unit_note("%s", text);
	redact_learn(r, text);
	redact_text(r, text, &out);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), expected);
	if (strcmp(strbuf_str(&out), expected) != 0)
		fprintf(stderr, "  %s\n  is %s\n", text, strbuf_str(&out));
	strbuf_destroy(&out);
}

static void test_rows(void)
{
	static const char *const rows[][2] = {
		/* What stays. */
		{"UUID= /srv/data ext4 defaults,nofail 0 2", NULL},
		{"22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro", NULL},
		{"tmpfs /tmp tmpfs size=2g,mode=1777,uid=1000 0 0", NULL},
		{"/dev/mapper/vg-root / xfs defaults 0 0", NULL},
		{"data:/export /home/data nfs4 rw 0 0", NULL},
		{"127.0.0.1:/x /x nfs addr=127.0.0.1 0 0", NULL},
		{"password=***", NULL},
		/* The same value, wherever it stands and however it is written. */
		{"UUID=c0ffee00-1234-4abc-8def-0123456789ab / ext4", "UUID=a0000000-0000-0000-0000-000000000001 / ext4"},
		{"/dev/disk/by-uuid/c0ffee00-1234-4abc-8def-0123456789ab", "/dev/disk/by-uuid/a0000000-0000-0000-0000-000000000001"},
		{"UUID=" "C0FFEE00-1234-4ABC-8DEF-0123456789AB", "UUID=A0000000-0000-0000-0000-000000000001"},
		{"dev-disk-by\\x2duuid-c0ffee00\\x2d1234\\x2d4abc\\x2d8def\\x2d0123456789ab.device",
		 "dev-disk-by\\x2duuid-a0000000\\x2d0000\\x2d0000\\x2d0000\\x2d000000000001.device"},
		{"x-c0ffee00-1234-4abc-8def-0123456789ab-y", "x-a0000000-0000-0000-0000-000000000001-y"},
		{"UUID=\"ABCD-1234\" /boot/efi", "UUID=\"A000-0002\" /boot/efi"},
		{"E:ID_FS_UUID_ENC=ABCD-1234\n", "E:ID_FS_UUID_ENC=A000-0002\n"},
		{"LABEL=my\\040disk /a ext4", "LABEL=label1 /a ext4"},
		{"E:ID_FS_LABEL_ENC=my\\x20disk\nx", "E:ID_FS_LABEL_ENC=label1\nx"},
		{"LABEL=\"my /a\nLABEL=x\" y", "LABEL=\"label2 /a\nLABEL=label3\" y"},
		{"PARTLABEL='my disk' /a", "PARTLABEL='label1' /a"},
		{"/dev/disk/by-id/ata-SAMSUNG_S1234-part2", "/dev/disk/by-id/aaa-aaaaaaa_aaaaa-part2"},
		/* Names. */
		{"//nas.example.com/share /s cifs username=bob,domain=CORP 0 0", "//server1/share /s cifs username=user1,domain=user2 0 0"},
		{"//s/a /s cifs user=bob%***,rw", "//s/a /s cifs user=user1%***,rw"},
		{"username=bob:***", "username=user1:***"},
		{"bob@box:/dir /home/carol fuse.sshfs", "user1@server2:/dir /home/user3 fuse.sshfs"},
		{"Where=/home/carol home-carol.mount carolina carol_x", "Where=/home/user3 home-user3.mount carolina carol_x"},
		{"mon1,mon2:6789:/ /c ceph name=x", "server3,server4:6789:/ /c ceph name=x"},
		{"What=10.1.2.3:/export addr=10.1.2.3,clientaddr=10.1.2.4", "What=192.0.2.1:/export addr=192.0.2.1,clientaddr=192.0.2.2"},
		{"[fd00:1234::7]:/export /s nfs addr=fd00:1234::7", "[2001:db8::3]:/export /s nfs addr=2001:db8::3"},
		{"web1 and web1.example.com, web10, WEB", "host1 and host2, web10, WEB"},
		{"/var/lib/x/0123456789abcdef0123456789abcdef/m", "/var/lib/x/a0000000000000000000000000000004/m"},
	};
	struct redact r;
	redact_init(&r);
	redact_name(&r, REDACT_HOST, "web1", 4);
	redact_name(&r, REDACT_HOST, "web1.example.com", 16);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		/* The one of a disk has a number of its own. */
		if (strstr(rows[i][0], "by-id/")) {
			struct strbuf out;
			strbuf_init(&out);
			redact_text(&r, rows[i][0], &out);
			CU_ASSERT_PTR_NULL(strstr(strbuf_str(&out), "S1234"));
			CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&out), "-part2"));
			strbuf_destroy(&out);
			continue;
		}
		says(&r, rows[i][0], rows[i][1] ? rows[i][1] : rows[i][0]);
	}
	CU_ASSERT_FALSE(r.failed);
	redact_destroy(&r);
}

/** Two values never become one; and any bytes are taken. */
static void test_many(void)
{
	struct redact r;
	struct strbuf text, out, before;
	strbuf_init(&text);
	strbuf_init(&out);
	strbuf_init(&before);
	redact_init(&r);
	for (unsigned i = 0; i < 300; ++i) {
		strbuf_reset(&text);
		strbuf_reset(&out);
		strbuf_printf(&text, "UUID=%08x-0000-4000-8000-%012x 10.0.%u.%u:/x", i * 2654435761u, i, i / 200, i % 200 + 1);
		redact_text(&r, strbuf_str(&text), &out);
		CU_ASSERT_STRING_NOT_EQUAL(strbuf_str(&out), strbuf_str(&before));
		strbuf_reset(&before);
		strbuf_puts(&before, strbuf_str(&out));
	}
	CU_ASSERT_EQUAL(r.count, 600);
	for (unsigned c = 1; c < 256; ++c) {
		const char odd[] = {(char)c, 'L', 'A', 'B', 'E', 'L', '=', (char)c, '\\', 'x', (char)c, '0', '\0'};
		strbuf_reset(&out);
		redact_learn(&r, odd);
		redact_text(&r, odd, &out);
	}
	for (size_t n = 0; n < 700; n += 50) {
		strbuf_reset(&text);
		strbuf_reset(&out);
		strbuf_puts(&text, "LABEL=");
		for (size_t i = 0; i < n; ++i)
			strbuf_putc(&text, 'a');
		redact_text(&r, strbuf_str(&text), &out);
		CU_ASSERT_TRUE(n == 0 || out.len < 20);
	}
	CU_ASSERT_FALSE(r.failed);
	redact_destroy(&r);
	strbuf_destroy(&text);
	strbuf_destroy(&out);
	strbuf_destroy(&before);
}

/** What is learnt of a text goes in one before it; what is no name stays. */
static void test_order(void)
{
	struct redact r;
	redact_init(&r);
	says(&r, "/srv/gmbob 22 data/root x username=gmbob user=22 domain=root user=data",
	     "/srv/user1 22 data/root x username=user1 user=user2 domain=root user=data");
	redact_destroy(&r);
}

static const struct unit_test tests[] = {
	{"what goes, and what stays", test_rows},
	{"many, and any", test_many},
	{"a name before it is known", test_order},
	{NULL, NULL},
};

const struct unit_suite suite_redact = {"redact", tests};
