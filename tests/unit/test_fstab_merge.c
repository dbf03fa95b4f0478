/* SPDX-License-Identifier: MIT */
/*
 * An fstab that is there, merged with what is mounted: from recorded tables and a
 * made-up machine, pure.
 */
#include "unit.h"

#include "fault.h"
#include "fstab/edit/merge.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine. */

static const struct machine_device {
	uint32_t major, minor;
	struct devmap_tags tags;
	const char *source;
} machine[] = {
	{8, 1, {.name = "/dev/sda1", .type = "ext4", .uuid = "0a1b-root", .label = "root", .partuuid = "p-1"}},
	{8, 2, {.name = "/dev/sda2", .type = "vfat", .uuid = "AB-CD", .partuuid = "p-2", .partlabel = "EFI"}},
	{8, 3, {.name = "/dev/sda3", .type = "ext4", .uuid = "0a1b-home", .label = "my home", .partuuid = "p-3"}},
	{8, 5, {.name = "/dev/sda5", .type = "swap", .uuid = "0a1b-swap", .label = "swap"}},
	{8, 6, {.name = "/dev/sda6", .type = "swap", .uuid = "0a1b-more"}},
	{8, 16, {.name = "/dev/sdb", .type = "xfs", .uuid = "0a1b-other"}},
	{0, 40, {.name = "/dev/sdc", .type = "btrfs", .uuid = "0a1b-pool"}, .source = "/dev/sdc"},
};

static int find_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		if (machine[i].major == mount->dev_major && machine[i].minor == mount->dev_minor)
			device->tags = &machine[i].tags;
	}
	return 0;
}

static int find_swap(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < sizeof(machine) / sizeof(*machine); ++i) {
		if (strcmp(machine[i].tags.name, name) == 0)
			device->tags = &machine[i].tags;
	}
	return 0;
}

static unsigned holders(void *arg, const char *tag, const char *value)
{
	(void)arg, (void)tag, (void)value;
	return 1;
}

static int leads(void *arg, const char *path, const struct fstab_line *line)
{
	(void)arg;
	if (strcmp(path, "/dev/disk/by-id/wwn-home") == 0)
		return strcmp(line->target, "/home") == 0;
	return strncmp(path, "/dev/unknown", 12) == 0 ? -1 : 0;
}

static int follow(void *arg, const char *target, struct strbuf *path)
{
	(void)arg;
	bool link = strcmp(target, "/link/home") == 0;
	if (strncmp(target, "/unknown", 8) == 0)
		return -1;
	strbuf_puts(path, link ? "/home" : target);
	return 1;
}

#define TABLE \
	"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n" \
	"21 20 8:2 / /boot/efi rw,relatime - vfat /dev/sda2 rw,fmask=0077,dmask=0077\n" \
	"22 20 8:3 / /home rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n" \
	"23 20 0:40 /@data /srv/data rw,noatime - btrfs /dev/sdc rw,compress=zstd:3,subvolid=257,subvol=/@data\n" \
	"24 20 0:50 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=1048576k\n" \
	"25 20 8:3 /joe/www /srv/www rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n" \
	"26 20 0:51 / /mnt/nas rw,relatime - nfs4 nas:/export rw,vers=4.2\n" \
	"27 20 0:52 / /mnt/two\\040words rw,relatime - tmpfs t rw\n"

static const char good[] =
	"# /etc/fstab: static file system information.\n"
	"#\n"
	"# <file system>\t<mount point>\t<type>\t<options>\t<dump>\t<pass>\n"
	"UUID=0a1b-root\t/\text4\terrors=remount-ro\t0\t1\n"
	"UUID=AB-CD      /boot/efi   vfat  umask=0077      0 2\n"
	"\n"
	"# the data\n"
	"LABEL=\"my\\040home\"  /home  ext4  nodev,nosuid,x-own.note=1  0  2  # joe's\n"
	"/dev/sdc /srv/data btrfs subvol=@data,noatime,compress=zstd:3 0 0\n"
	"tmpfs /tmp tmpfs nosuid,nodev,size=1g,mode=1777 0 0\n"
	"  /home/joe/www /srv/www none bind 0 0\n"
	"nas:/export/ /mnt/nas nfs _netdev,vers=4.2 0 0\n"
	"t /mnt/two\\040words tmpfs rw 0 0\n"
	"/dev/sda5 none swap sw,pri=5 0 0\n"
	"\n"
	"UUID=not-here /backup ext4 noauto,user 0 0\n"
	"/dev/cdrom /media/cd udf,iso9660 noauto,user 0 0\n";

/* One merge. */

struct made {
	struct mount_table *table;
	struct discovery *d;
	struct fstab_plan plan;
	struct fstab_input in;
};

static const struct fstab_swap swaps[] = {{"/dev/sda5", false, false, 5}};

static void make_named(struct made *made, const char *table, const char *const *add, size_t nadd)
{
	*made = (struct made){.table = table_parse_mountinfo(table, strlen(table))};
	CU_ASSERT_PTR_NOT_NULL_FATAL(made->table);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	made->d = discover(&os, NULL, made->table, &opts);
	CU_ASSERT_PTR_NOT_NULL_FATAL(made->d);
	made->in = (struct fstab_input){
		.add = add, .nadd = nadd,
		.d = made->d, .root = "/", .swaps = swaps, .nswaps = 1, .options = FSTAB_MINIMAL,
		.world = {NULL, find_device, find_swap, holders},
	};
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&made->in, &made->plan), 0);
}

static void make(struct made *made, const char *table)
{
	make_named(made, table, NULL, 0);
}

static void unmake(struct made *made)
{
	fstab_plan_destroy(&made->plan);
	discovery_free(made->d);
	table_free(made->table);
}

/** Notes as text: "KIND LINE TARGET", '+' before what was mended, '^' what came back by
    that, '~' what was edited. */
static char notes[16 * 1024];
static const char *const kinds[FSTAB_NOTE_KINDS] = {
	"damaged", "odd", "missing", "no-line", "source", "name", "options", "refused", "pass", "repeated", "beside",
	"elsewhere", "order", "unknown",
};

static void tell(const struct fstab_merged *merged)
{
	notes[0] = '\0';
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		size_t n = strlen(notes);
		snprintf(notes + n, sizeof(notes) - n, "%s%s %u %s%s%s\n", note->back ? "^" : note->done ? "+" : note->edited ? "~" : "",
		         kinds[note->kind], note->line ? (unsigned)note->line->number : 0,
		         note->live ? note->live->target : "-", note->kind == FSTAB_NOTE_OPTIONS ? " " : "",
		         note->kind == FSTAB_NOTE_OPTIONS ? note->text : "");
	}
}

/** Check that a merge that changes nothing and fstab_match() have the same differences. */
static void check_match(const struct fstab_match_input *in)
{
	static const int kinds_of[FSTAB_NOTE_KINDS] = {
		[FSTAB_NOTE_MISSING] = 1 + FSTAB_DIFFER_MISSING, [FSTAB_NOTE_NO_LINE] = 1 + FSTAB_DIFFER_NO_LINE,
		[FSTAB_NOTE_SOURCE] = 1 + FSTAB_DIFFER_SOURCE, [FSTAB_NOTE_OPTIONS] = 1 + FSTAB_DIFFER_OPTIONS,
		[FSTAB_NOTE_REPEATED] = 1 + FSTAB_DIFFER_REPEATED, [FSTAB_NOTE_BESIDE] = 1 + FSTAB_DIFFER_BESIDE,
		[FSTAB_NOTE_ELSEWHERE] = 1 + FSTAB_DIFFER_ELSEWHERE,
	};
	struct fstab_match match;
	struct fstab_merged merged;
	CU_ASSERT_EQUAL_FATAL(fstab_match(in, &match), 0);
	CU_ASSERT_EQUAL_FATAL(fstab_merge(&(struct fstab_merge_input){.match = *in}, &merged), 0);
	size_t n = 0;
	for (size_t i = 0; i < merged.nnotes; ++i) {
		const struct fstab_note *note = &merged.notes[i];
		if (!kinds_of[note->kind])
			continue;
		const struct fstab_difference *d = n < match.count ? &match.differences[n] : NULL;
		++n;
		CU_ASSERT_TRUE(d && kinds_of[note->kind] == 1 + (int)d->kind && d->line == note->line && d->other == note->other
		               && d->live == note->live && (!note->text || strcmp(d->actual, note->text) == 0));
	}
	CU_ASSERT_EQUAL(n, match.count);
	fstab_match_destroy(&match);
	fstab_merged_destroy(&merged);
}

/** Merge a text.  @return the result, to be freed; notes is set. */
static char *merged(struct fstab_merge_input in, const char *table, const char *text, const char *base)
{
	struct made made;
	make_named(&made, table, in.add, in.nadd);
	struct tablines *file = tablines_parse(text, strlen(text)), *loaded = base ? tablines_parse(base, strlen(base)) : NULL;
	struct fstab_merged out;
	in.match.file = file;
	in.base = loaded;
	in.match.in = &made.in;
	in.match.plan = &made.plan;
	in.match.leads = leads;
	in.match.follow = follow;
	check_match(&in.match);
	CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
	tell(&out);
	char *result = out.text ? strdup(out.text) : NULL;
	fstab_merged_destroy(&out);
	tablines_free(file);
	tablines_free(loaded);
	unmake(&made);
	return result;
}

static void check_at(const char *file, int number, struct fstab_merge_input in, const char *table, const char *text,
                     const char *base, const char *expected, const char *told)
{
	char *got = merged(in, table, text, base);
	bool same = got && strcmp(got, expected) == 0, as_told = !told || strcmp(notes, told) == 0;
	if (!same)
		printf("%s:%d: got:\n%s", file, number, got ? got : "nothing\n");
	if (!as_told)
		printf("%s:%d: told:\n%s", file, number, notes);
	CU_ASSERT_TRUE(same);
	CU_ASSERT_TRUE(as_told);
	free(got);
}
#define CHECK(in, table, text, expected, told) check_at(__FILE__, __LINE__, in, table, text, NULL, expected, told)
#define BASED(in, table, base, text, expected, told) check_at(__FILE__, __LINE__, in, table, text, base, expected, told)
#define NONE ((struct fstab_merge_input){0})
#define FIX(what) ((struct fstab_merge_input){.fix = FSTAB_FIX_##what})
#define PERSISTENT ((struct fstab_merge_input){.persistent = true})
#define ALL (FSTAB_FIX_OPTIONS | FSTAB_FIX_PASS | FSTAB_FIX_ORDER | FSTAB_FIX_DAMAGED)

#define ROOT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define ROOT_LINE "UUID=0a1b-root / ext4 defaults 0 1\n"
#define SWAP_LINE "UUID=0a1b-swap none swap sw,pri=5 0 0\n"

static void test_nothing_to_do(void)
{
	CHECK(NONE, TABLE, good, good, "");
	CHECK(PERSISTENT, TABLE, good, good, "");
	CHECK((struct fstab_merge_input){.fix = ALL}, TABLE, good, good, "");
	/* Whatever stands there, without being asked for nothing is changed. */
	static const char odd[] = "\xef\xbb\xbf# x\r\n\r\n/dev/sda1 /\n\t\n  UUID=x /y\\04 z q 0 0 tail\r\n#";
	CHECK(NONE, ROOT, odd, odd, NULL);
	CHECK(NONE, ROOT, "", "", "missing 0 /\nmissing 0 none\n");
	/* Ends of lines. */
	char crlf[2 * sizeof(good)], *to = crlf;
	for (const char *at = good; *at; ++at) {
		if (*at == '\n')
			*to++ = '\r';
		*to++ = *at;
	}
	*to = '\0';
	CHECK(PERSISTENT, TABLE, crlf, crlf, "");
	crlf[strlen(crlf) - 2] = '\0';
	CHECK(PERSISTENT, TABLE, crlf, crlf, "");
}

static void test_sources(void)
{
	/* One device by each of its names is no difference, but where that is to be mended. */
	static const char *const same[] = {
		"LABEL=my\\040home", "LABEL=\"my\\040home\"", "LABEL='my\\040home'", "/dev/sda3", "PARTUUID=p-3",
		"/dev/disk/by-uuid/0a1b-home", "/dev/disk/by-label/my\\134x20home", "/dev/disk/by-id/wwn-home",
	};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); ++i) {
		char text[512], fixed[512];
		snprintf(text, sizeof(text), ROOT_LINE SWAP_LINE "%s   /home ext4\tnosuid,nodev 0 2 # x\n", same[i]);
		snprintf(fixed, sizeof(fixed), ROOT_LINE SWAP_LINE "UUID=0a1b-home   /home ext4\tnosuid,nodev 0 2 # x\n");
		const char *table = ROOT "22 20 8:3 / /home rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n";
		CHECK(PERSISTENT, table, text, text, "");
		CHECK(FIX(SOURCE), table, text, fixed, "+name 3 /home\n");
	}
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	/* What cannot be known is held to be right, and told where it was asked about. */
	static const char unknown[] = ROOT_LINE SWAP_LINE "/dev/unknown/x /home ext4 rw 0 2\n";
	CHECK(PERSISTENT, table, unknown, unknown, "");
	CHECK(FIX(SOURCE), table, unknown, unknown, "name 3 /home\n");
	/* Another. */
	static const char other[] = ROOT_LINE SWAP_LINE "UUID=0a1b-other\t/home/\tauto\trw,x-a\t0\t2\n#\n";
	CHECK(NONE, table, other, other, "source 3 /home\n");
	CHECK(FIX(SOURCE), table, other, ROOT_LINE SWAP_LINE "UUID=0a1b-home\t/home/\text4\trw,x-a\t0\t2\n#\n",
	      "+source 3 /home\n");
	CHECK(PERSISTENT, table, other, ROOT_LINE SWAP_LINE
	      "# getmnt: line 3: /home is mounted from UUID=0a1b-home, as ext4: UUID=0a1b-other\t/home/\tauto\trw,x-a\t0\t2\n"
	      "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    x-a             0 2\n#\n",
	      "+source 3 /home\n");
	/* Names of device mapper's, where nothing can be asked. */
	static const struct {
		const char *source;
		bool same;
	} rows[] = {{"/dev/vg-a/home", true}, {"/dev/vg/home", false}, {"/dev/sda9", false}, {"/dev/disk/by-id/x", true},
	            {"/dev/mapper/vg--a-home", true}, {"/dev/mapper/vg-a-home", false}, {"/dev/dm-3", true}, {"/img", false}};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char text[256];
		snprintf(text, sizeof(text), ROOT_LINE "%s /m ext4 rw 0 2\n", rows[i].source);
		struct made made;
		make(&made, ROOT "22 20 253:9 / /m rw,relatime - ext4 /dev/mapper/vg--a-home rw\n");
		struct tablines *file = tablines_parse(text, strlen(text));
		made.plan.lines[1].fate = FSTAB_LINE;
		made.plan.lines[1].source = "/dev/mapper/vg--a-home";
		made.plan.lines[1].fstype = "ext4";
		made.plan.lines[1].options = "defaults";
		struct fstab_merge_input in = {.match.file = file, .match.in = &made.in, .match.plan = &made.plan};
		struct fstab_merged out;
		CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
		tell(&out);
		CU_ASSERT_EQUAL(strstr(notes, "source 2 /m") == NULL, rows[i].same);
		fstab_merged_destroy(&out);
		tablines_free(file);
		unmake(&made);
	}
	/* By a link. */
	static const char linked[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /link/home ext4 rw 0 2\n";
	CHECK(PERSISTENT, table, linked, linked, "");
}

/** What is bound is named as anybody likes: by links on the way to it. */
static void test_bind_sources(void)
{
	static const char table[] = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n"
	                            "25 20 8:3 %s /m rw,relatime - ext4 /dev/sda3 rw\n26 20 8:1 /real/a /p rw,relatime - ext4 /dev/sda1 rw\n";
	static const struct {
		const char *source, *root;
		bool other;
	} rows[] = {
		{"/home", "/", false}, {"/link/home", "/", false}, {"/link/home/", "/", false}, {"/link/home", "/x", true},
		{"/elsewhere", "/x", true},                                  /* no link, or nothing is there */
		{"/unknown.d", "/x", false},                                 /* nobody knows */
		{"/unknown/real", "/x", false}, {"/unknown/mnt", "/x", true},  /* a mount stands there */
		{"/unknown/shown", "/x", true},                              /* another mount shows it */
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char text[256], mounts[1024];
		snprintf(text, sizeof(text), ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\n%s /m none bind 0 0\n", rows[i].source);
		int n = snprintf(mounts, sizeof(mounts), table, rows[i].root);
		snprintf(mounts + n, sizeof(mounts) - (size_t)n, "27 20 8:1 /unknown/shown /q rw - ext4 /dev/sda1 rw\n28 20 0:60 / /unknown/mnt rw - tmpfs t rw\n");
		free(merged(NONE, mounts, text, NULL));
		CU_ASSERT_EQUAL(strstr(notes, "source 4 /m") != NULL, rows[i].other);
		if ((strstr(notes, "source 4 /m") != NULL) != rows[i].other)
			printf("%s of %s: %s", rows[i].source, rows[i].root, notes);
	}
}

static void test_types(void)
{
	const char *table = ROOT "26 20 0:51 / /n rw,relatime - nfs4 nas:/e rw,vers=4.2\n"
	                    "27 20 0:52 / /o rw,relatime - overlay overlay rw,lowerdir=/a:/b,upperdir=/u,workdir=/w\n";
	static const char right[] = ROOT_LINE SWAP_LINE "nas:/e /n nfs vers=4.2 0 0\nnone /o overlay upperdir=/u,workdir=/w,lowerdir=/a:/b 0 0\n";
	CHECK(PERSISTENT, table, right, right, "");
	CHECK(FIX(SOURCE), table, ROOT_LINE SWAP_LINE "nas:/e /n ext4 vers=4.2 0 0\nnone /o overlay lowerdir=/a:/c,upperdir=/u,workdir=/w,x-a 0 0\n",
	      ROOT_LINE SWAP_LINE "nas:/e /n nfs4 vers=4.2 0 0\noverlay /o overlay lowerdir=/a:/b,upperdir=/u,workdir=/w,x-a 0 0\n",
	      "+source 3 /n\n+source 4 /o\n");
	/* Subvolumes. */
	const char *btrfs = ROOT "23 20 0:40 /@ /s rw,relatime - btrfs /dev/sdc rw,subvolid=256,subvol=/@\n";
	static const char *const same[] = {"subvol=@", "subvol=/@", "subvolid=256"};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); ++i) {
		char text[256];
		snprintf(text, sizeof(text), ROOT_LINE SWAP_LINE "/dev/sdc /s btrfs %s,x-k 0 0\n", same[i]);
		CHECK(((struct fstab_merge_input){.persistent = true, .keep = true}), btrfs, text, text, "");
	}
	CHECK(FIX(SOURCE), btrfs, ROOT_LINE SWAP_LINE "/dev/sdc /s btrfs rw,subvol=@home 0 0\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-pool /s btrfs subvol=/@,rw 0 0\n", "+source 3 /s\n");
	/* Cut before what it says of the part. */
	CHECK(FIX(SOURCE), btrfs, ROOT_LINE SWAP_LINE "/dev/sdc /s btrfs noati 0 0\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-pool /s btrfs subvol=/@,noati 0 0\n", "+source 3 /s\n");
	CHECK(FIX(SOURCE), table, ROOT_LINE SWAP_LINE "nas:/e /n nfs vers=4.2 0 0\nnone /o overlay lowerdir=/a:/b,upp\n",
	      ROOT_LINE SWAP_LINE "nas:/e /n nfs vers=4.2 0 0\noverlay /o overlay upperdir=/u,workdir=/w,lowerdir=/a:/b,upp\n",
	      "+source 4 /o\n");
	/* Layers one by one are the same layers, and none takes the place of another. */
	const char *layers = ROOT "27 20 0:52 / /o ro,relatime - overlay o ro,lowerdir+=/a,lowerdir+=/b\n";
	static const char one[] = ROOT_LINE SWAP_LINE "o /o overlay ro,lowerdir=/a:/b 0 0\n";
	static const char each[] = ROOT_LINE SWAP_LINE "o /o overlay ro,lowerdir+=/a,lowerdir+=/b 0 0\n";
	CHECK(FIX(OPTIONS), layers, each, each, "");
	CHECK(FIX(OPTIONS), layers, one, one, "");
}

static void test_lines_that_go(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	/* What the kernel does not know of them stays. */
	CHECK(PERSISTENT, table, ROOT_LINE SWAP_LINE
	      "/dev/sda9 /home ext4 nofail,ro,x-systemd.device-timeout=5,X-mount.mkdir,comment=x,x-systemd.requires=/a,x-systemd.requires=/b 0 2\n",
	      ROOT_LINE SWAP_LINE "# getmnt: line 3: /home is mounted from UUID=0a1b-home, as ext4: "
	      "/dev/sda9 /home ext4 nofail,ro,x-systemd.device-timeout=5,X-mount.mkdir,comment=x,x-systemd.requires=/a,x-systemd.requires=/b 0 2\n"
	      "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    "
	      "nofail,x-systemd.device-timeout=5,comment=x,x-systemd.requires=/a,x-systemd.requires=/b 0 2\n",
	      "+source 3 /home\n");
	/* Of two lines of one place systemd takes the first. */
	CHECK(PERSISTENT, table, ROOT_LINE SWAP_LINE "# other\n/dev/sda9 /home ext4 noauto 0 2\n",
	      ROOT_LINE SWAP_LINE "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    defaults        0 2\n"
	      "# other\n/dev/sda9 /home ext4 noauto 0 2\n", "+missing 0 /home\n");
	/* Without "bind" a bind of what has no device is another of its kind. */
	const char *binds = ROOT "27 20 0:52 / /o rw,relatime - overlay o rw,lowerdir=/a:/b,upperdir=/u,workdir=/w\n"
	                    "28 20 0:52 /d /c rw,relatime - overlay o rw,lowerdir=/a:/b,upperdir=/u,workdir=/w\n";
	CHECK(FIX(SOURCE), binds, ROOT_LINE SWAP_LINE "o /o overlay lowerdir=/a:/b,upperdir=/u,workdir=/w 0 0\n/o/d /c none b 0 0\n",
	      ROOT_LINE SWAP_LINE "o /o overlay lowerdir=/a:/b,upperdir=/u,workdir=/w 0 0\n/o/d /c none bind,b 0 0\n", "+source 4 /c\n");
}

static void test_binds(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n"
	                    "23 20 8:3 / /again rw,relatime - ext4 /dev/sda3 rw\n"
	                    "24 20 8:3 /joe /srv/joe rw,relatime - ext4 /dev/sda3 rw\n";
	/* The directory by any place where it is seen; a device that is mounted twice. */
	static const char text[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\nUUID=0a1b-home /again ext4 rw 0 2\n"
		"/again/joe/. /srv/joe ext4 rbind 0 0\n";
	CHECK(PERSISTENT, table, text, text, "");
	static const char other[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\n/home /again none bind 0 0\n"
		"/home/ann /srv/joe none bind,x-a 0 0\n";
	CHECK(FIX(SOURCE), table, other, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\n/home /again none bind 0 0\n"
	      "/home/joe /srv/joe none bind,x-a 0 0\n", "pass 4 /again\n+source 5 /srv/joe\n");
}

static void test_options(void)
{
	const char *table = ROOT "22 20 8:3 / /home ro,nosuid,noatime - ext4 /dev/sda3 ro,commit=30,data=journal\n"
	                    "24 20 0:50 / /t rw,relatime - tmpfs t rw,size=1048576k,uid=7,mode=700\n";
	static const struct {
		const char *home, *fixed, *told;
	} rows[] = {
		{"ro,nosuid,noatime,commit=30,data=journal", NULL, NULL},
		{"ro,user,suid,nosuid,dev,exec,noatime,commit=30,data=journal,x-a=\"b,c\",discard", NULL, NULL},
		{"defaults", "defaults,commit=30,data=journal,ro,nosuid,noatime", "ro,nosuid,noatime,commit=30,data=journal"},
		{"rw,noexec,x-a=\"b,c\",commit=5,nofail", "x-a=\"b,c\",commit=30,nofail,data=journal,ro,nosuid,noatime",
		 "ro,nosuid,exec,noatime,commit=30,data=journal"},
		{"user,commit=30,data=journal", "user,commit=30,data=journal,ro,dev,exec,noatime", "ro,dev,exec,noatime"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char text[512], fixed[512], told[512];
		static const char t[] = ROOT_LINE SWAP_LINE "t /t tmpfs size=1G,uid=joe,mode=0700 0 0\n";
		snprintf(text, sizeof(text), "%sUUID=0a1b-home /home ext4 %s 0 2\n", t, rows[i].home);
		snprintf(fixed, sizeof(fixed), "%sUUID=0a1b-home /home ext4 %s 0 2\n", t, rows[i].fixed ? rows[i].fixed : rows[i].home);
		snprintf(told, sizeof(told), rows[i].told ? "options 4 /home %s\n" : "%s", rows[i].told ? rows[i].told : "");
		CHECK(PERSISTENT, table, text, text, told);
		memmove(told + 1, told, strlen(told) + 1);
		told[0] = '+';
		CHECK(FIX(OPTIONS), table, text, fixed, rows[i].told ? told : "");
		CHECK((struct fstab_merge_input){.keep = true}, table, text, text, "");
	}
	/* Behind quotes that do not end nothing is put. */
	CHECK(FIX(OPTIONS), ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 ro,x-a=\"b,c 0 2\n", ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 ro,x-a=\"b,c 0 2\n", "");
	/* What the kernel shows in other words. */
	CHECK(PERSISTENT, ROOT "22 20 0:51 / /n rw,relatime - nfs4 nas:/e rw,vers=4.2\n23 20 8:2 / /e rw,relatime - vfat /dev/sda2 rw,fmask=0077,dmask=0077\n",
	      ROOT_LINE SWAP_LINE "nas:/e /n nfs nfsvers=4 0 0\nUUID=AB-CD /e vfat umask=0077 0 2\n",
	      ROOT_LINE SWAP_LINE "nas:/e /n nfs nfsvers=4 0 0\nUUID=AB-CD /e vfat umask=0077 0 2\n", "");
	CHECK(FIX(OPTIONS), ROOT "22 20 0:51 / /n rw,relatime - nfs4 nas:/e rw,vers=4.2\n",
	      ROOT_LINE SWAP_LINE "nas:/e /n nfs nfsvers=3,bg 0 0\n", ROOT_LINE SWAP_LINE "nas:/e /n nfs vers=4.2,bg 0 0\n",
	      "+options 3 /n vers=4.2\n");
	/* Another kernel shows it as it is asked for. */
	static const char old[] = ROOT_LINE SWAP_LINE "/dev/sdc /n btrfs recovery,space_cache=v1 0 0\n";
	CHECK(FIX(OPTIONS), ROOT "22 20 0:40 / /n rw,relatime - btrfs /dev/sdc rw,usebackuproot,space_cache=v1,compress=no,subvol=/\n",
	      old, old, "");
	CHECK(FIX(OPTIONS), ROOT "22 20 0:40 / /n rw,relatime - btrfs /dev/sdc rw,rescue=usebackuproot,space_cache,subvol=/\n", old, old, "");
	CHECK(FIX(OPTIONS), ROOT "22 20 0:40 / /n rw,relatime - btrfs /dev/sdc rw,usebackuproot,space_cache=v1,subvol=/\n",
	      ROOT_LINE SWAP_LINE "/dev/sdc /n btrfs nosuid 0 0\n", ROOT_LINE SWAP_LINE "/dev/sdc /n btrfs usebackuproot 0 0\n", NULL);
	/* A line without options, and a bind that has those of its source. */
	CHECK(FIX(OPTIONS), ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n23 20 8:1 /a /b rw,nosuid,relatime - ext4 /dev/sda1 rw\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home\t/home ext4 # x\n/a /b none bind 0 0\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home\t/home ext4 # x\n/a /b none bind,rw,nosuid,relatime 0 0\n", NULL);
	CHECK(FIX(OPTIONS), ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home\t/home ext4\t\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home\t/home ext4\tdefaults,noatime\t\n", NULL);
}

/** As if the kernel refused what begins so, of the third line. */
static bool refused(void *arg, uint32_t line, const char *option, size_t n)
{
	(void)arg;
	return line == 3 && n >= 3 && memcmp(option, "bad", 3) == 0;
}

static void test_refused(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw,commit=30\n";
	static const struct {
		const char *home, *fixed, *told;
	} rows[] = {
		{"noatime,commit=30", "noatime,commit=30", ""},
		{"bad,noatime,commit=30", "noatime,commit=30", "+refused 3 /home\n"},
		{"noatime,bad=\"a,b\",nofail,commit=30,bad", "noatime,nofail,commit=30", "+refused 3 /home\n"},
		{"bad", "commit=30,noatime", "+options 3 /home noatime,commit=30\n+refused 3 /home\n"},
		{"bad=5,commit=7", "commit=30,noatime", "+options 3 /home noatime,commit=30\n+refused 3 /home\n"},
	};
	struct fstab_merge_input fix = FIX(OPTIONS), keep = {.keep = true, .refused = refused}, all = PERSISTENT;
	fix.refused = all.refused = refused;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char text[512], fixed[512];
		snprintf(text, sizeof(text), ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 %s 0 2\n", rows[i].home);
		snprintf(fixed, sizeof(fixed), ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 %s 0 2\n", rows[i].fixed);
		CHECK(fix, table, text, fixed, rows[i].told);
		CHECK(keep, table, text, text, "");
	}
	/* All there is; told, but not asked for; changed since the base. */
	const char *bad = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 bad 0 2\n";
	const char *plain = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	CHECK(fix, plain, bad, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 defaults 0 2\n", "+refused 3 /home\n");
	CHECK(all, plain, bad, bad, "refused 3 /home\n");
	BASED(fix, plain, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 defaults 0 2\n", bad, bad, "~refused 3 /home\n");
}

static void test_pass(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n23 20 0:50 / /t rw,relatime - tmpfs t rw\n";
	CHECK(FIX(PASS), table, "UUID=0a1b-root / ext4\n" SWAP_LINE "UUID=0a1b-home  /home  ext4  rw\nt /t tmpfs rw 1 2 #\n",
	      "UUID=0a1b-root / ext4 defaults 0 1\n" SWAP_LINE "UUID=0a1b-home  /home  ext4  rw 0 2\nt /t tmpfs rw 1 0 #\n",
	      "+pass 1 /\n+pass 3 /home\n+pass 4 /t\n");
}

static void test_swap(void)
{
	static const char *const same[] = {"/dev/sda5", "UUID=0a1b-swap", "LABEL=swap", "/dev/disk/by-uuid/0a1b-swap"};
	for (size_t i = 0; i < sizeof(same) / sizeof(*same); ++i) {
		char text[256];
		snprintf(text, sizeof(text), ROOT_LINE "/swap.img none swap sw 0 0\n%s swap swap pri=1 0 0\n", same[i]);
		CHECK(PERSISTENT, ROOT, text, text, "");
	}
	CHECK(PERSISTENT, ROOT, ROOT_LINE "UUID=0a1b-more none swap sw 0 0\n", ROOT_LINE "UUID=0a1b-more none swap sw 0 0\n"
	      "# /dev/sda5 LABEL=swap\nUUID=0a1b-swap                            none            swap    defaults,pri=5  0 0\n",
	      "+missing 0 none\n");
	CHECK(PERSISTENT, ROOT, ROOT_LINE SWAP_LINE "LABEL=swap none swap sw 0 0\n",
	      ROOT_LINE SWAP_LINE "# getmnt: line 3: the same as line 2: LABEL=swap none swap sw 0 0\n", "+repeated 3 none\n");
}

static void test_add(void)
{
	const char *table = ROOT "22 20 8:3 / /a,b rw,relatime - ext4 /dev/sda3 rw\n"
	                    "23 20 0:50 / /t rw,relatime - tmpfs t rw\n";
	const char *names[] = {"/a,b/"};
	struct fstab_merge_input in = {.add = names, .nadd = 1};
	CHECK(in, table, ROOT_LINE SWAP_LINE,
	      ROOT_LINE SWAP_LINE "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /a,b            ext4    defaults        0 2\n",
	      "+missing 0 /a,b\nmissing 0 /t\n");
	names[0] = "/nowhere";
	CHECK(in, table, ROOT_LINE SWAP_LINE, ROOT_LINE SWAP_LINE, "unknown 0 -\nmissing 0 /a,b\nmissing 0 /t\n");
	names[0] = "/dev/sda5";
	CHECK(in, ROOT, ROOT_LINE, ROOT_LINE "# /dev/sda5 LABEL=swap\n"
	      "UUID=0a1b-swap                            none            swap    defaults,pri=5  0 0\n", "+missing 0 none\n");
	/* Without an end, and as the others are written. */
	CHECK(PERSISTENT, ROOT "23 20 0:50 / /t rw,relatime - tmpfs t rw\n", "UUID=0a1b-root\t/\text4\trw\t0\t1\r\n/dev/sda5\tnone\tswap\tsw",
	      "UUID=0a1b-root\t/\text4\trw\t0\t1\r\n/dev/sda5\tnone\tswap\tsw\nt\t/t\ttmpfs\tdefaults\t0\t0\n", NULL);
	CHECK(PERSISTENT, ROOT "23 20 0:50 / /t rw,relatime - tmpfs t rw\n",
	      "UUID=0a1b-root\t/\text4\trw\t0\t1\r\n/dev/sda5\tnone\tswap\tsw\t0\t0\r\n#\r\n# end\r",
	      "UUID=0a1b-root\t/\text4\trw\t0\t1\r\n/dev/sda5\tnone\tswap\tsw\t0\t0\r\n#\r\n# end\r\nt\t/t\ttmpfs\tdefaults\t0\t0\r\n", NULL);
}

static void test_twice(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	/* Alternatives that are not mounted, the same again, something else on it, what is beneath. */
	static const char text[] = ROOT_LINE SWAP_LINE "LABEL=x /home ext4 noauto 0 0\nUUID=0a1b-home /home ext4 rw 0 2\n"
		"/dev/sda3 /home ext4 rw,x-a 0 2\nLABEL=y /home ext4 rw 0 2\n";
	CHECK(NONE, table, text, text, "repeated 5 /home\nbeside 6 /home\n");
	CHECK(PERSISTENT, table, text, ROOT_LINE SWAP_LINE "LABEL=x /home ext4 noauto 0 0\nUUID=0a1b-home /home ext4 rw 0 2\n"
	      "# getmnt: line 5: the same as line 4: /dev/sda3 /home ext4 rw,x-a 0 2\n"
	      "# getmnt: line 6: line 4 mounts what is mounted here: LABEL=y /home ext4 rw 0 2\n",
	      "+repeated 5 /home\n+beside 6 /home\n");
	/* One that is not mounted at boot is the mount's line all the same. */
	static const char noauto[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 noauto,x-systemd.automount 0 2\n";
	CHECK(PERSISTENT, table, noauto, noauto, "");
	const char *stack = ROOT "21 20 0:50 / /home rw,relatime - tmpfs t rw\n22 21 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	static const char stacked[] = ROOT_LINE SWAP_LINE "t /home tmpfs rw 0 0\nUUID=0a1b-home /home ext4 rw 0 2\n";
	CHECK(PERSISTENT, stack, stacked, stacked, "");
	/* The same source twice on one place, the second broken. */
	CHECK(PERSISTENT, table, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\nUUID=0a1b-home /home ext3 rw 0 2\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\n"
	      "# getmnt: line 4: line 3 mounts this source here: UUID=0a1b-home /home ext3 rw 0 2\n", "+repeated 4 /home\n");
	/* Its source is mounted, and the line is not. */
	CHECK(NONE, table, ROOT_LINE SWAP_LINE "UUID=0a1b-home /hOme ext4 rw 0 2\n", ROOT_LINE SWAP_LINE "UUID=0a1b-home /hOme ext4 rw 0 2\n",
	      "missing 0 /home\nelsewhere 3 /home\n");
}

static void test_damaged(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,relatime - ext4 /dev/sda3 rw\n";
	static const char text[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw, noatime 0 2\nx\n";
	CHECK(NONE, table, text, text, "missing 0 /home\ndamaged 3 -\ndamaged 4 -\n");
	CHECK(FIX(DAMAGED), table, text, ROOT_LINE SWAP_LINE
	      "# getmnt: line 3: the fifth field (freq) is not a number; is there a blank in the options?: UUID=0a1b-home /home ext4 rw, noatime 0 2\n"
	      "# getmnt: line 4: only one field; at least three are required: x\n", "missing 0 /home\n+damaged 3 -\n+damaged 4 -\n");
	/* That of a mount which is added. */
	const char *names[] = {"/home"};
	CHECK(((struct fstab_merge_input){.add = names, .nadd = 1}), table, text, ROOT_LINE SWAP_LINE
	      "# getmnt: line 3: the fifth field (freq) is not a number; is there a blank in the options?: UUID=0a1b-home /home ext4 rw, noatime 0 2\n"
	      "x\n# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    defaults        0 2\n",
	      "+missing 0 /home\n+damaged 3 -\ndamaged 4 -\n");
	/* A NUL is written so that what is behind it is read. */
	static const char nul[] = ROOT_LINE SWAP_LINE "a\\040\0b";
	struct made made;
	make(&made, ROOT);
	struct tablines *file = tablines_parse(nul, sizeof(nul) - 1);
	struct fstab_merge_input in = {.match.file = file, .match.in = &made.in, .match.plan = &made.plan, .persistent = true};
	struct fstab_merged out;
	CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
	CU_ASSERT_STRING_EQUAL(out.text, ROOT_LINE SWAP_LINE
	                       "# getmnt: line 3: contains a NUL byte (NUL as \\000, \\ as \\134): a\\134040\\000b");
	fstab_merged_destroy(&out);
	tablines_free(file);
	unmake(&made);
}

static void test_order(void)
{
	const char *table = ROOT "21 20 8:3 / /a rw,relatime - ext4 /dev/sda3 rw\n"
	                    "22 21 0:50 / /a/b rw,relatime - tmpfs t rw\n23 20 8:3 /d /c rw,relatime - ext4 /dev/sda3 rw\n";
#define A "UUID=0a1b-home /a ext4 rw 0 2\n"
#define B "t /a/b tmpfs X-mount.mkdir 0 0\n"
#define C "/a/d /c none bind 0 0\n"
	/* Added: behind what they need, before what needs them, and above the comment of that. */
	static const char a_line[] = "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /a              ext4    defaults        0 2\n";
	char expected[1024];
	snprintf(expected, sizeof(expected), "#\n" ROOT_LINE "%s# b\n" B "\n" C SWAP_LINE, a_line);
	CHECK(PERSISTENT, table, "#\n" ROOT_LINE "# b\n" B "\n" C SWAP_LINE, expected, "+missing 0 /a\n");
	CHECK(PERSISTENT, table, ROOT_LINE A SWAP_LINE,
	      ROOT_LINE A SWAP_LINE "/a/d                                      /c              none    bind            0 0\n"
	      "t                                         /a/b            tmpfs   defaults        0 0\n", NULL);
	/* What stands too early is told, and one line moved: up, if others need it too; with its comment. */
	CHECK(NONE, table, B C ROOT_LINE "# a\n" A SWAP_LINE, B C ROOT_LINE "# a\n" A SWAP_LINE, NULL);
	CHECK(FIX(ORDER), table, "# head\n\n# b\n" B C SWAP_LINE "# root\n" ROOT_LINE "# a\n" A "#\n",
	      "# head\n\n# a\n" A "# b\n" B C SWAP_LINE "# root\n" ROOT_LINE "#\n", NULL);
	CHECK(FIX(ORDER), table, ROOT_LINE "\n# b\n" B "\n" A C "# end", ROOT_LINE "\n" A "# b\n" B "\n" C "# end", NULL);
	/* But not the root's: that is mounted before any line is read. */
	CHECK(FIX(ORDER), table, B A C ROOT_LINE, A B C ROOT_LINE, NULL);
	CHECK(NONE, table, A B C SWAP_LINE ROOT_LINE, A B C SWAP_LINE ROOT_LINE, "");
	/* Where lines need each other nothing is moved. */
	CHECK(FIX(ORDER), ROOT, "/y /x none bind 0 0\n/x /y none bind 0 0\n/z/a /b none bind 0 0\n/c /z none bind 0 0\n",
	      "/y /x none bind 0 0\n/x /y none bind 0 0\n/z/a /b none bind 0 0\n/c /z none bind 0 0\n", NULL);
	/* Nothing is moved that stands right. */
	CHECK(FIX(ORDER), table, ROOT_LINE SWAP_LINE A B C, ROOT_LINE SWAP_LINE A B C, "");
}

/* What systemd has loaded. */

static struct host_units loaded;

/** Make it of lines of these mount points; a swap space is one that does not begin with "/" but "=". */
static const struct host_units *load(const char *const *paths, size_t count)
{
	struct strbuf text;
	strbuf_init(&text);
	for (size_t i = 0; i < count; ++i)
		strbuf_printf(&text, "Id=%zu.%s\n%s=%s\nFragmentPath=/run/x\nSourcePath=/etc/fstab\n\n", i, *paths[i] == '=' ? "swap" : "mount",
		              *paths[i] == '=' ? "What" : "Where", paths[i] + (*paths[i] == '='));
	host_units_destroy(&loaded);
	CU_ASSERT_EQUAL(host_units_parse(strbuf_take(&text), &loaded), 0);
	return &loaded;
}
#define LOAD(...) load((const char *const[]){__VA_ARGS__}, sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))
#define LOADED(text, expected, told, ...) do { \
		struct fstab_merge_input in_ = {.fix = FSTAB_FIX_SOURCE | FSTAB_FIX_OPTIONS | FSTAB_FIX_PASS, .persistent = true, \
			.loaded = LOAD(__VA_ARGS__)}; \
		check_at(__FILE__, __LINE__, in_, home, text, NULL, expected, told); \
	} while (0)

/** The file was changed since systemd loaded it: any line that differs may have been. */
static void test_loaded(void)
{
	static const char *const home = ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n";
#define REST ROOT_LINE SWAP_LINE
#define HOME_LINE "# /dev/sda3 LABEL=my home\n" \
	"UUID=0a1b-home                            /home           ext4    noatime         0 2\n"
#define MENDED "UUID=0a1b-home /home ext4 noatime 0 2\n"
#define SWAP_UNIT "=/dev/sda5"
	/* A line that differs is left, whether it was loaded or put in since. */
	static const char source[] = REST "UUID=0a1b-other /home ext4 rw 0 2\n";
	LOADED(source, source, "~source 3 /home\n", "/", SWAP_UNIT, "/home");
	LOADED(source, source, "~source 3 /home\n", "/", SWAP_UNIT);
	static const char options[] = REST "UUID=0a1b-home /home ext4 rw,nodev 0 0\n";
	LOADED(options, options, "~options 3 /home dev,noatime\n~pass 3 /home\n", "/", SWAP_UNIT, "/home");
	/* What was taken out comes back with persistent, which is told, for a file cut between two lines looks so too. */
	LOADED(REST, REST HOME_LINE, "^missing 0 /home\n", "/", SWAP_UNIT, "/home");
	LOADED(REST, REST HOME_LINE, "+missing 0 /home\n", "/", SWAP_UNIT);
	LOADED(ROOT_LINE MENDED, ROOT_LINE MENDED "# /dev/sda5 LABEL=swap\n"
	       "UUID=0a1b-swap                            none            swap    defaults,pri=5  0 0\n", "^missing 0 none\n",
	       "/", SWAP_UNIT, "/home");
	const char *names[] = {"/home"};
	struct fstab_merge_input asked = {.fix = FSTAB_FIX_SOURCE | ALL, .loaded = LOAD("/", SWAP_UNIT, "/home")};
	CHECK(asked, home, ROOT_LINE, ROOT_LINE, "~missing 0 /home\n~missing 0 none\n");
	asked.loaded = LOAD("/");
	CHECK(asked, home, ROOT_LINE, ROOT_LINE, "missing 0 /home\nmissing 0 none\n");
	asked.loaded = LOAD("/", SWAP_UNIT, "/home");
	asked.add = names;
	asked.nadd = 1;
	CHECK(asked, home, ROOT_LINE SWAP_LINE, REST HOME_LINE, "+missing 0 /home\n");
	/* A line that mount(8) refuses, and systemd took. */
	char *got = merged((struct fstab_merge_input){.persistent = true, .loaded = &loaded}, home,
	                   REST "UUID=0a1b-home /home ext4 noatime 0 x\n", NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strstr(got, "\nUUID=0a1b-home "));
	free(got);
	host_units_destroy(&loaded);
}

static void test_base(void)
{
	const char *table = ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n";
	static const char base[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw 0 2\n";
	struct fstab_merge_input in = {.fix = FSTAB_FIX_SOURCE | FSTAB_FIX_OPTIONS | FSTAB_FIX_PASS, .persistent = true};
	/* What was changed since then is meant so; what was not is mended. */
	static const char source[] = ROOT_LINE SWAP_LINE "UUID=0a1b-other /home ext4 rw 0 2\n";
	BASED(in, table, base, source, source, "~source 3 /home\n");
	static const char options[] = ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 rw,nodev 0 1\n";
	BASED(in, table, base, options, options, "~options 3 /home dev,noatime\n~pass 3 /home\n");
	BASED(in, table, base, base, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 noatime 0 2\n", "+options 3 /home noatime\n");
	/* A subvolume is of what is mounted, and none of the other options. */
	const char *pool = ROOT "22 20 0:40 /@ /s rw,noatime - btrfs /dev/sdc rw,subvol=/@\n";
	static const char sub[] = ROOT_LINE SWAP_LINE "UUID=0a1b-pool /s btrfs subvol=@ 0 0\n";
	static const char subvol[] = ROOT_LINE SWAP_LINE "UUID=0a1b-pool /s btrfs subvol=@new 0 0\n";
	BASED(in, pool, sub, subvol, subvol, "~source 3 /s\n");
	BASED(FIX(OPTIONS), pool, subvol, sub, ROOT_LINE SWAP_LINE "UUID=0a1b-pool /s btrfs subvol=@,noatime 0 0\n", "+options 3 /s noatime\n");
	/* Empty once it is decoded: as if there were none. */
	BASED(in, table, ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4\n", ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 \\000x 0 2\n",
	      ROOT_LINE SWAP_LINE "UUID=0a1b-home /home ext4 defaults,noatime 0 2\n", NULL);
	BASED(in, table, base, ROOT_LINE SWAP_LINE, ROOT_LINE SWAP_LINE, "~missing 0 /home\n");
	/* It never was in: it is added.  A line that mounts another by hand was not taken out. */
	BASED(in, table, REST "UUID=0a1b-other /home xfs noauto 0 0\n", REST "UUID=0a1b-other /home xfs noauto 0 0\n",
	      REST "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    noatime         0 2\n"
	      "UUID=0a1b-other /home xfs noauto 0 0\n", NULL);
	BASED(PERSISTENT, ROOT, SWAP_LINE, SWAP_LINE,
	      SWAP_LINE "# /dev/sda1 LABEL=root\nUUID=0a1b-root                            /               ext4    defaults        0 1\n",
	      NULL);
}

/** Of a damaged file nothing was taken out, nor a line made to mount another thing. */
static void test_damaged_since(void)
{
	static const char *const home = ROOT "22 20 8:3 / /home rw,noatime - ext4 /dev/sda3 rw\n";
	static const char base[] = REST "UUID=0a1b-home /home ext4 rw 0 2\n";
	static const struct {
		const char *text, *by_file, *by_units;   /* NULL: the same */
		const char *told;                        /* by the text as the base */
	} rows[] = {
		/* Torn, where the place can be read and where it cannot. */
		{REST "UUID=0a1b-home /home", REST "# getmnt: line 3: only two fields; at least three are required: UUID=0a1b-home /home\n" HOME_LINE,
		 NULL, "+missing 0 /home\n+damaged 3 -\n"},
		{REST "UUID=0a1b-ho", REST "# getmnt: line 3: only one field; at least three are required: UUID=0a1b-ho\n" HOME_LINE,
		 NULL, "+missing 0 /home\n+damaged 3 -\n"},
		{REST "x\n", REST "# getmnt: line 3: only one field; at least three are required: x\n" HOME_LINE,
		 NULL, "+missing 0 /home\n+damaged 3 -\n"},
		/* What is left of the last line is one. */
		{REST "UUID=0a1b-home /home ext", REST "# getmnt: line 3: /home is mounted from UUID=0a1b-home, as ext4: UUID=0a1b-home /home ext\n"
		 HOME_LINE, NULL, "+source 3 /home\n"},
		{REST "UUID=0a1b-home /ho ext4", REST "UUID=0a1b-home /ho ext4\n" HOME_LINE, NULL, "+missing 0 /home\nelsewhere 3 /home\n"},
		/* Of others, which are whole, an edit is believed then, and not beside a damaged one. */
		{ROOT_LINE "UUID=0a1b-other /home xfs rw 0 2\n/dev/sda5 none swap sw", ROOT_LINE "UUID=0a1b-other /home xfs rw 0 2\n/dev/sda5 none swap sw",
		 NULL, "~source 2 /home\n"},
		{REST "UUID=0a1b-other /home xfs rw 0 2\nx\n", REST "# getmnt: line 3: /home is mounted from UUID=0a1b-home, as ext4: "
		 "UUID=0a1b-other /home xfs rw 0 2\n" HOME_LINE "# getmnt: line 4: only one field; at least three are required: x\n",
		 NULL, "+source 3 /home\n+damaged 4 -\n"},
		{REST "UUID=0a1b-other /home xfs rw 0 2\n", REST "UUID=0a1b-other /home xfs rw 0 2\n", NULL, "~source 3 /home\n"},
		/* A control character, though in a comment; no entry at all. */
		{"# \x02\n" REST, "# \x02\n" REST HOME_LINE, NULL, "+missing 0 /home\n"},
		{REST "#", REST "#\n" HOME_LINE, NULL, "+missing 0 /home\n"},
		{"#\n", NULL, NULL, "+missing 0 /\n+missing 0 /home\n+missing 0 none\n"},
		/* A whole one: by a base that somebody named it is left. */
		{REST "#\n", REST "#\n", REST "#\n" HOME_LINE, "~missing 0 /home\n"},
		{REST "UUID=0a1b-home /hOme ext4 rw 0 2\n", REST "UUID=0a1b-home /hOme ext4 rw 0 2\n",
		 REST "UUID=0a1b-home /hOme ext4 rw 0 2\n" HOME_LINE, "~missing 0 /home\nelsewhere 3 /home\n"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		const char *expected = rows[i].by_file, *by_units = rows[i].by_units ? rows[i].by_units : expected;
		struct fstab_merge_input in = PERSISTENT;
		unit_note("row %zu", i);
		char *got = merged(in, home, rows[i].text, base);
		if (strcmp(notes, rows[i].told) != 0)
			printf("row %zu: told:\n%s", i, notes);
		CU_ASSERT_STRING_EQUAL(notes, rows[i].told);
		if (expected)
			CU_ASSERT_STRING_EQUAL(got, expected);
		if (expected && strcmp(got, expected) != 0)
			printf("row %zu:\n%s", i, got);
		free(got);
		in.loaded = LOAD("/", SWAP_UNIT, "/home");
		got = merged(in, home, rows[i].text, NULL);
		if (by_units)
			CU_ASSERT_STRING_EQUAL(got, by_units);
		if (by_units && strcmp(got, by_units) != 0)
			printf("row %zu, of units:\n%s%s", i, got, notes);
		free(got);
		/* Asked for by name it is added, whatever the base has. */
		const char *names[] = {"/home"};
		in = (struct fstab_merge_input){.add = names, .nadd = 1};
		got = merged(in, home, rows[i].text, base);
		CU_ASSERT_PTR_NOT_NULL(strstr(got, HOME_LINE));
		free(got);
	}
	host_units_destroy(&loaded);
	/* What is added has of the base's line what the kernel does not know. */
#define TORN "# getmnt: line 3: only one field; at least three are required: x\n"
	BASED(PERSISTENT, home, REST "UUID=0a1b-home /home ext4 nodev,nofail,x-a 0 2\n", REST "x\n", REST TORN
	      "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    noatime,nofail,x-a 0 2\n",
	      "+missing 0 /home\n+damaged 3 -\n");
	BASED(PERSISTENT, home, REST "UUID=0a1b-home /home ext4 nodev,nofail,x-a 0 2\n", REST "UUID=0a1b-home /home ext", REST
	      "# getmnt: line 3: /home is mounted from UUID=0a1b-home, as ext4: UUID=0a1b-home /home ext\n"
	      "# /dev/sda3 LABEL=my home\nUUID=0a1b-home                            /home           ext4    noatime,nofail,x-a 0 2\n",
	      "+source 3 /home\n");
	/* What mount(8) refuses and the base has too is no damage since then. */
	BASED(PERSISTENT, home, "x\n\x01\n" REST MENDED, "x\n\x01\n" REST, "# getmnt: line 1: only one field; at least three are required: x\n"
	      "# getmnt: line 2: only one field; at least three are required: \x01\n" REST, "~missing 0 /home\n+damaged 1 -\n+damaged 2 -\n");
	/* Where not each is to have its line, one that mounts another thing is an edit in any file. */
	static const char other[] = REST "UUID=0a1b-other /home xfs rw 0 2\nx\n";
	BASED(FIX(SOURCE), home, base, other, other, "~source 3 /home\ndamaged 4 -\n");
	/* Without being asked to, nothing is. */
	static const char torn[] = REST "UUID=0a1b-home /home";
	BASED(NONE, home, base, torn, torn, "missing 0 /home\ndamaged 3 -\n");
	BASED(FIX(OPTIONS), home, base, REST "UUID=0a1b-home /home ext4 nod", REST "UUID=0a1b-home /home ext4 nod,noatime",
	      "+options 3 /home noatime\npass 3 /home\n");
}

static void test_keep_options(void)
{
	struct made made;
	make(&made, TABLE);
	struct tablines *file = tablines_parse(good, sizeof(good) - 1);
	struct fstab_merge_input in = {.match.file = file, .match.in = &made.in, .match.plan = &made.plan};
	CU_ASSERT_EQUAL(fstab_keep_options(&in.match, &made.plan), 0);
	size_t found = 0;
	for (size_t i = 0; i < made.plan.count; ++i) {
		const struct fstab_line *line = &made.plan.lines[i];
		if (strcmp(line->target, "/home") == 0 && strcmp(line->options, "nodev,nosuid,x-own.note=1") == 0)
			++found;
		if (strcmp(line->target, "none") == 0 && strcmp(line->options, "sw,pri=5") == 0)
			++found;
	}
	CU_ASSERT_EQUAL(found, 2);
	tablines_free(file);
	unmake(&made);
}

/* Corruption. */

static uint64_t state;

static uint32_t roll(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return below ? (uint32_t)(state >> 16) % below : 0;
}

/** Corrupt a text in one of the ways that files are.  @return its length, at most twice that. */
static size_t corrupt(char *text, size_t len)
{
	static const char *const escapes[] = {"\\04", "\\000", "\\", "\\040", "\\134", "\\x20", "#", "\"", " ", "\t", "\n", "\r", "\xef\xbb\xbf"};
	size_t at = roll((uint32_t)len), n = 1 + roll(200), to = roll((uint32_t)len);
	if (n > len - at)
		n = len - at;
	switch (roll(8)) {
	case 0:
	case 1:
		for (unsigned i = 1 + roll(12); i-- > 0;)
			text[roll((uint32_t)len)] ^= (char)(1 << roll(8));
		break;
	case 2:
		return at;
	case 3:   /* a block is gone */
		memmove(text + at, text + at + n, len - at - n);
		return len - n;
	case 4: { /* repeated elsewhere, perhaps a line */
		char block[256];
		if (roll(2)) {
			while (at > 0 && text[at - 1] != '\n')
				--at;
			const char *end = memchr(text + at, '\n', len - at);
			n = end ? (size_t)(end - text) + 1 - at : len - at;
			while (to > 0 && text[to - 1] != '\n')
				--to;
		}
		n = n > sizeof(block) ? sizeof(block) : n;
		memcpy(block, text + at, n);
		memmove(text + to + n, text + to, len - to);
		memcpy(text + to, block, n);
		return len + n;
	}
	case 5:   /* two are exchanged */
		for (size_t i = 0; i < n && at + i < len && to + i < len; ++i) {
			char c = text[at + i];
			text[at + i] = text[to + i];
			text[to + i] = c;
		}
		break;
	case 6: {
		const char *escape = escapes[roll(sizeof(escapes) / sizeof(*escapes))];
		n = strlen(escape);
		memmove(text + at + n, text + at, len - at);
		memcpy(text + at, escape, n);
		return len + n;
	}
	case 7:   /* not written */
		memset(text + at, 0, n);
		break;
	}
	return len;
}

static bool has(const char *options, const char *option)
{
	size_t n = strlen(option);
	for (const char *at = options; (at = strstr(at, option)) != NULL; at += n) {
		if ((at == options || at[-1] == ',') && (at[n] == ',' || !at[n]))
			return true;
	}
	return false;
}

/** Whether an entry mounts what a line of the plan does: naively, by the machine above. */
static bool makes(const struct tabline *entry, const struct fstab_line *line, bool *there)
{
	const char *target = tabline_value(entry, TABLINE_TARGET), *source = tabline_value(entry, TABLINE_SOURCE);
	const char *type = tabline_value(entry, TABLINE_FSTYPE), *options = tabline_value(entry, TABLINE_OPTIONS);
	char plain[512], *to = plain;
	options = options ? options : "";
	*there = false;
	if (strcmp(type, "swap") == 0 || !line->mount) {
		const struct devmap_tags *tags = &machine[3].tags;
		return strcmp(type, "swap") == 0 && !line->mount
		       && (strcmp(source, tags->name) == 0 || strcmp(source, "UUID=0a1b-swap") == 0 || strcmp(source, "LABEL=swap") == 0);
	}
	/* Without what is no component. */
	for (const char *at = target; *at && to < plain + sizeof(plain) - 1; ++at) {
		bool none = *at == '/' && (at[1] == '/' || (at[1] == '.' && (at[2] == '/' || !at[2])) || (!at[1] && to != plain));
		if (none && at[1] == '.')
			++at;
		if (!none)
			*to++ = *at;
	}
	*to = '\0';
	*there = strcmp(*plain ? plain : "/", line->target) == 0 && *target == '/';
	if (!*there)
		return false;
	bool bind = has(options, "bind") || has(options, "rbind"), any = strcmp(line->fstype, "tmpfs") == 0;
	if (strcmp(line->fstype, "none") == 0)
		return bind && strcmp(source, line->source) == 0;
	if (strcmp(line->fstype, "nfs4") == 0)
		return strncmp(type, "nfs", 3) == 0 && strncmp(source, "nas:/export", 11) == 0 && (!source[11] || strcmp(source + 11, "/") == 0);
	if (bind || strcmp(type, line->fstype) != 0)
		return false;
	const char *subvol = strstr(options, "subvol=");
	subvol = subvol ? subvol + 7 + strspn(subvol + 7, "/") : "@data";
	if (strcmp(type, "btrfs") == 0 && (strncmp(subvol, "@data", 5) != 0 || (subvol[5] && subvol[5] != ',')))
		return false;
	struct fstab_device device = {0};
	find_device(NULL, line->mount, &device);
	if (!device.tags)
		return any;
	char names[3][64];
	snprintf(names[0], sizeof(names[0]), "UUID=%s", device.tags->uuid);
	snprintf(names[1], sizeof(names[1]), "LABEL=%s", device.tags->label ? device.tags->label : "\n");
	snprintf(names[2], sizeof(names[2]), "LABEL=\"%s\"", device.tags->label ? device.tags->label : "\n");
	return strcmp(source, names[0]) == 0 || strcmp(source, names[1]) == 0 || strcmp(source, names[2]) == 0
	       || strcmp(source, device.tags->name) == 0;
}

/** Whether a comment keeps a line. */
static bool keeps(const struct tabline *comment, const struct tabline *line)
{
	static char plain[8192];
	char head[64];
	snprintf(head, sizeof(head), "# getmnt: line %u: ", (unsigned)line->number);
	size_t n = 0;
	bool nul = memchr(line->bytes, '\0', line->n);
	for (size_t i = 0; i < line->n && n + 4 < sizeof(plain); ++i) {
		const char *text = !nul ? NULL : line->bytes[i] == '\0' ? "\\000" : line->bytes[i] == '\\' ? "\\134" : NULL;
		if (text)
			memcpy(plain + n, text, 4);
		else
			plain[n] = line->bytes[i];
		n += text ? 4 : 1;
	}
	return comment->n > n + strlen(head) + 3 && memcmp(comment->bytes, head, strlen(head)) == 0
	       && memcmp(comment->bytes + comment->n - n, plain, n) == 0;
}

static bool told(const struct fstab_merged *merged, uint32_t number)
{
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		if (note->line && note->line->number == number && !note->done
		    && (note->kind == FSTAB_NOTE_BESIDE || note->kind == FSTAB_NOTE_SOURCE))
			return true;
	}
	return false;
}

/** Hold a result against what it was made of.  @return NULL, or what is wrong. */
static const char *wrong(const struct fstab_merge_input *in, const struct fstab_merged *merged)
{
	struct tablines *out = tablines_parse(merged->text, merged->len);
	const struct tablines *old = in->match.file;
	const char *bad = NULL;
	size_t at = 0;
	CU_ASSERT_PTR_NOT_NULL_FATAL(out);
	/* Each line is there, in order: as it was, or in a comment with a reason. */
	for (size_t i = 0; !bad && i < old->count; ++i) {
		const struct tabline *line = &old->lines[i];
		for (;; ++at) {
			if (at == out->count) {
				bad = "a line is gone";
				break;
			}
			const struct tabline *now = &out->lines[at];
			bool same = now->n == line->n && memcmp(now->bytes, line->bytes, line->n) == 0;
			/* The end of the last may be new. */
			if (same && (now->size == line->size ? memcmp(now->bytes, line->bytes, line->size) != 0 : i + 1 < old->count))
				bad = "an end of line is another";
			if (same || (line->kind >= TABLINE_ENTRY && keeps(now, line))) {
				++at;
				break;
			}
		}
	}
	for (size_t i = 0; !bad && i < out->count; ++i)
		bad = out->lines[i].kind == TABLINE_DAMAGED ? "a damaged line is left" : NULL;
	for (size_t p = 0; !bad && p < in->match.plan->count; ++p) {
		const struct fstab_line *line = &in->match.plan->lines[p];
		unsigned count = 0, spare = 0;
		for (size_t i = 0; line->fate == FSTAB_LINE && i < out->count; ++i) {
			bool there;
			if (out->lines[i].kind != TABLINE_ENTRY)
				continue;
			const char *options = tabline_value(&out->lines[i], TABLINE_OPTIONS);
			bool noauto = options && has(options, "noauto");
			/* One that somebody has chosen not to mount at boot is a line all the same. */
			if (makes(&out->lines[i], line, &there)) {
				++*(noauto ? &spare : &count);
			} else if (there && !noauto) {
				/* By its bytes, for numbers are of the file as it was. */
				bool is = false;
				for (size_t k = 0; k < old->count; ++k)
					is |= old->lines[k].n == out->lines[i].n && told(merged, old->lines[k].number)
					      && memcmp(old->lines[k].bytes, out->lines[i].bytes, out->lines[i].n) == 0;
				if (!is)
					bad = "a line that conflicts with a mount is not told";
			}
		}
		count += !count && spare;
		if (line->fate == FSTAB_LINE && count != 1 && !bad)
			bad = count ? "a mount has more than one line" : "a mount has no line";
	}
	tablines_free(out);
	return bad;
}

/** Whether a file is damaged so that it is to be seen: a line is, or it is the first part of the good one. */
static bool is_hurt(const struct tablines *file)
{
	bool hurt = !file->ended && file->len < sizeof(good) - 1 && memcmp(file->text, good, file->len) == 0, entry = false;
	for (size_t i = 0; i < file->count; ++i) {
		hurt |= file->lines[i].kind == TABLINE_DAMAGED;
		entry |= file->lines[i].kind == TABLINE_ENTRY;
	}
	return hurt || !entry;
}

static void test_corrupted(void)
{
	/* The good file, as systemd has loaded it. */
	LOAD("/", "/boot/efi", "/home", "/srv/data", "/tmp", "/srv/www", "/mnt/nas", "/mnt/two words", SWAP_UNIT, "/backup", "/media/cd");
	struct tablines *base = tablines_parse(good, sizeof(good) - 1);
	unsigned hurt = 0;
	/* Under valgrind, which sets that, a tenth. */
	const unsigned runs = unit_step() >= 100 ? 1000 : 10000;
	struct made made;
	make(&made, TABLE);
	unsigned failed = 0, changed = 0;
	state = 88172645463325252u;
	for (unsigned run = 0; run < runs && failed < 5; ++run) {
		char text[4 * sizeof(good)];
		memcpy(text, good, sizeof(good));
		size_t len = sizeof(good) - 1;
		for (unsigned times = 1 + roll(3); times-- > 0 && len > 0 && len < 2 * sizeof(good);)
			len = corrupt(text, len);
		unit_note("corruption %u", run);
		struct tablines *file = tablines_parse(text, len);
		CU_ASSERT_PTR_NOT_NULL_FATAL(file);
		struct fstab_merge_input in = {.match.file = file, .match.in = &made.in, .match.plan = &made.plan, .match.follow = follow};
		struct fstab_merged out, again;
		const char *bad = NULL;
		if (fstab_merge(&in, &out) != 0 || out.len != len || memcmp(out.text, text, len) != 0)
			bad = "changed, unasked";
		fstab_merged_destroy(&out);
		in.fix = run % 2 ? FSTAB_FIX_SOURCE | ALL : 0;
		if (!bad && fstab_merge(&in, &out) != 0)
			bad = strerror(errno);
		fstab_merged_destroy(&out);
		in.fix = 0;
		in.persistent = true;
		if (!bad && fstab_merge(&in, &out) != 0)
			bad = strerror(errno);
		if (!bad)
			bad = wrong(&in, &out);
		if (!bad) {
			changed += out.len != len;
			struct tablines *new = tablines_parse(out.text, out.len);
			in.match.file = new;
			if (fstab_merge(&in, &again) != 0 || again.len != out.len || memcmp(again.text, out.text, out.len) != 0)
				bad = "merged again, it is another";
			fstab_merged_destroy(&again);
			tablines_free(new);
		}
		/* Whatever there is for a base: of a file that is hurt nothing counts as taken out. */
		in.match.file = file;
		hurt += is_hurt(file);
		for (int turn = 0; turn < 2 && !bad && is_hurt(file); ++turn) {
			fstab_merged_destroy(&out);
			in.base = turn ? NULL : base;
			in.loaded = turn ? &loaded : NULL;
			if (fstab_merge(&in, &out) != 0)
				bad = strerror(errno);
			if (!bad)
				bad = wrong(&in, &out);
		}
		if (bad) {
			++failed;
			printf("corruption %u: %s:\n%.*s\nbecomes:\n%s\n", run, bad, (int)len, text, out.text ? out.text : "-");
		}
		fstab_merged_destroy(&out);
		tablines_free(file);
	}
	CU_ASSERT_EQUAL(failed, 0);
	/* It was not for nothing. */
	CU_ASSERT(changed > runs / 2);
	CU_ASSERT(hurt > runs / 3);
	tablines_free(base);
	host_units_destroy(&loaded);
	unmake(&made);
}

/** With any allocation failing there is a result or ENOMEM, and nothing is kept. */
static void test_no_memory(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	static const char text[] =
		"x\nLABEL=\"my\\040home\" /home ext4 rw,noexec # x\n/home/./a /b none bind 0 0\n" ROOT_LINE
		"UUID=0a1b-other /s btrfs subvol=@x 0 0\nnone /o overlay lowerdir=/home/a:/b,x-b 0 0\nUUID=0a1b-root /x ext4 rw 0 0\n"
		"/dev/sda3 /home ext4 rw 0 2\n/dev/y none swap sw 0 0\nt /t\\04 tmpfs rw 0 0\n";
	const char *table = ROOT "22 20 8:3 / /home rw,nosuid,relatime - ext4 /dev/sda3 rw\n"
		"23 20 8:3 /a /b rw,nosuid,relatime - ext4 /dev/sda3 rw\n24 20 0:40 /@ /s rw,relatime - btrfs /dev/sdc rw,subvol=/@\n"
		"25 20 0:60 / /o rw,relatime - overlay o rw,lowerdir=/home/a:/b\n26 20 0:61 / /t rw,relatime - tmpfs t rw\n"
		"27 26 8:1 /y /t rw,relatime - ext4 /dev/sda1 rw\n";
	static const char shown[] = "Id=home.mount\nWhere=/home\nSourcePath=/etc/fstab\n\nId=s.mount\nWhere=/s\nSourcePath=/etc/fstab\n";
	struct made made;
	make(&made, table);
	struct fault_count count = {0};
	uint64_t allocations = 0;
	size_t len = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2, ENOMEM};
		struct fstab_merged out = {0};
		fault_begin(n ? &fault : NULL, 1000);
		struct tablines *file = tablines_parse(text, sizeof(text) - 1);
		struct host_units units = {0};
		char *shown_text = file ? strdup(shown) : NULL;
		int rc = shown_text ? host_units_parse(shown_text, &units) : -1;
		struct fstab_merge_input in = {.match.file = file, .loaded = &units, .match.in = &made.in, .match.plan = &made.plan,
		                               .fix = FSTAB_FIX_SOURCE | ALL, .persistent = true, .match.leads = leads, .match.follow = follow};
		rc = rc == 0 ? fstab_merge(&in, &out) : -1;
		int error = errno;
		size_t got = out.len;
		bool whole = out.text != NULL;
		fstab_merged_destroy(&out);
		host_units_destroy(&units);
		tablines_free(file);
		fault_end(&count);
		len = n ? len : got;
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT_EQUAL(count.kernel, 0);
		bool good_end = rc == 0 ? whole && got == len : n > 0 && error == ENOMEM && !whole;
		if (!good_end)
			printf("  allocation %d %s: %d, %s, %zu bytes\n", (int)fault.n, n % 2 ? "once" : "on", rc, strerror(error), got);
		CU_ASSERT_TRUE_FATAL(good_end);
	}
	CU_ASSERT(len > sizeof(text));
	CU_ASSERT(allocations > 50);
	unmake(&made);
}

/** 10,000 lines and 10,000 mounts take twice what half of them do. */
static void test_many(void)
{
	double seconds[2];
	for (int turn = 0; turn < 2; ++turn) {
		unsigned n = turn ? 20000 : 10000;
		struct strbuf table, text;
		strbuf_init(&table);
		strbuf_init(&text);
		strbuf_puts(&table, ROOT);
		strbuf_puts(&text, "garbage\n" ROOT_LINE);
		for (unsigned i = 0; i < n; ++i) {
			strbuf_printf(&table, "%u 20 0:%u / /d/%u/x rw,relatime - tmpfs t rw\n", 100 + i, 100 + i, i);
			/* Right, another, missing, not mounted; each before what it needs. */
			if (i % 4 != 2)
				strbuf_printf(&text, "%s /d/%u/%s %s rw 0 0\n", "t", i, i % 4 == 3 ? "y" : "x", i % 4 == 1 ? "ext4" : "tmpfs");
		}
		struct made made;
		make(&made, strbuf_str(&table));
		double from = unit_cpu();
		struct tablines *file = tablines_parse(text.data, text.len);
		struct fstab_merge_input in = {.match.file = file, .base = file, .match.in = &made.in, .match.plan = &made.plan, .persistent = true,
		                               .fix = ALL};
		struct fstab_merged out;
		CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
		seconds[turn] = unit_cpu() - from;
		CU_ASSERT_EQUAL(out.mounts, n + 2);
		fstab_merged_destroy(&out);
		tablines_free(file);
		unmake(&made);
		strbuf_destroy(&table);
		strbuf_destroy(&text);
	}
	if (getenv("GETMNT_TIMES"))
		printf("merge of 10000 lines and mounts: %.3f s; of 20000: %.3f s\n", seconds[0], seconds[1]);
	CU_ASSERT(seconds[1] < 5 * seconds[0] + 0.1);
}

/** What a user mounted is neither added nor put into a line, unless it is named; a line that lets users
    mount stays. */
static void test_users(void)
{
#define FUSE(id, source) "30 20 0:60 / /home/joe/m rw,nosuid,nodev,relatime - fuse.sshfs " source " rw,user_id=" id ",group_id=0\n"
	static const char admin[] = ROOT_LINE SWAP_LINE "nas:/x /home/joe/m fuse.sshfs noauto,users 0 0\n";
	static const char boot[] = ROOT_LINE SWAP_LINE "nas:/x /home/joe/m fuse.sshfs nofail 0 0\n";
	static const char added[] = ROOT_LINE SWAP_LINE "evil:/y                                   /home/joe/m     fuse.sshfs nosuid,nodev,_netdev,nofail 0 0\n";
	static const char ours[] = ROOT_LINE SWAP_LINE "evil:/y                                   /home/joe/m     fuse.sshfs nosuid,nodev,_netdev 0 0\n";
	struct fstab_merge_input named = PERSISTENT, all = PERSISTENT;
	named.add = (const char *const []){"/home/joe/m"};
	named.nadd = 1;
	all.fix = ALL | FSTAB_FIX_SOURCE;
	CHECK(all, ROOT FUSE("1500", "evil:/y"), ROOT_LINE SWAP_LINE, ROOT_LINE SWAP_LINE, "no-line 0 /home/joe/m\n");
	CHECK(all, ROOT FUSE("0", "evil:/y"), ROOT_LINE SWAP_LINE, ours, NULL);
	CHECK(named, ROOT FUSE("1500", "evil:/y"), ROOT_LINE SWAP_LINE, added, NULL);
	/* Over a line's place: its words stay the admin's. */
	CHECK(all, ROOT FUSE("1500", "evil:/y"), boot, boot, "source 3 /home/joe/m\n");
	CHECK(all, ROOT FUSE("1500", "nas:/x"), admin, admin, NULL);
	CHECK(all, ROOT FUSE("1500", "evil:/y"), admin, admin, NULL);
}

static const struct unit_test tests[] = {
	{"no_memory", test_no_memory},
	{"nothing to do is nothing done", test_nothing_to_do},
	{"sources by any name", test_sources},
	{"what a bind is of", test_bind_sources},
	{"types, layers, subvolumes", test_types},
	{"lines that go", test_lines_that_go},
	{"binds by any place", test_binds},
	{"options", test_options},
	{"refused", test_refused},
	{"passes", test_pass},
	{"swap", test_swap},
	{"what is added", test_add},
	{"several on one place", test_twice},
	{"damaged lines", test_damaged},
	{"of users", test_users},
	{"order", test_order},
	{"a base", test_base},
	{"what systemd has loaded", test_loaded},
	{"damaged since the base", test_damaged_since},
	{"options of the file, in the plan", test_keep_options},
	{"10,000 corruptions", test_corrupted},
	{"many", test_many},
	{NULL, NULL},
};

const struct unit_suite suite_fstab_merge = {"fstab_merge", tests};
