/* SPDX-License-Identifier: MIT */
/*
 * The plan of an fstab, from recorded tables and a machine of this file.  The cases are in
 * tests/fixtures/fstab/plan.
 */
#include "unit.h"

#include "cases.h"
#include "fault.h"
#include "fstab/plan/plan_impl.h"
#include "fstab/target.h"

static const struct machine_device {
	uint32_t major, minor;
	struct devmap_tags tags;
	struct devmap_loop loop;
	bool remote;
} machine[] = {
	{8, 1, {.name = "/dev/sda1", .type = "ext4", .uuid = "u-root", .label = "root",
	 .partuuid = "p-1"}},
	{8, 2, {.name = "/dev/sda2", .type = "vfat", .uuid = "AB-CD", .partuuid = "p-2",
	 .partlabel = "EFI"}},
	{8, 3, {.name = "/dev/sda3", .type = "xfs", .uuid = "u-twice", .label = "data",
	 .partuuid = "p-3"}},
	{8, 4, {.name = "/dev/sda4", .type = "ext4", .uuid = "u-twice", .label = "twice",
	 .partuuid = "p-twice"}},
	{8, 5, {.name = "/dev/sda5", .type = "swap", .uuid = "u-swap", .partuuid = "p-5"}},
	{8, 16, {.name = "/dev/sdb", .known = DEVMAP_DENIED}},
	{8, 32, {.name = "/dev/sdc", .type = "ext4", .uuid = "u-iscsi"}, .remote = true},
	{8, 48, {.name = "/dev/sdd", .type = "ntfs", .uuid = "u-ntfs", .label = "Win dows"}},
	{253, 0, {.name = "/dev/mapper/vg-home", .type = "ext4", .uuid = "u-twice"}},
	{9, 127, {.name = "/dev/md127", .type = "ext4", .uuid = "u-md"}},
	{7, 0, {.name = "/dev/loop0", .type = "ext4", .uuid = "u-img"}, {.file = "/srv/a b.img"}},
	{7, 1, {.name = "/dev/loop1", .type = "ext4", .uuid = "u-off"},
	 {.file = "/srv/disk.img", .offset = 1048576, .limit = 4096}},
	{7, 2, {.name = "/dev/loop2", .type = "ext4", .uuid = "u-gone"},
	 {.file = "/srv/x.img (deleted)"}},
	{259, 0, {.name = "/dev/loop3p1", .type = "ext4", .uuid = "u-part"},
	 {.file = "/srv/d.img", .partition = true}},
	{7, 4, {.name = "/dev/loop4", .type = "ext4", .uuid = "u-mem"}, {.file = "/tmp/x.img"}},
	{7, 5, {.name = "/dev/loop5", .type = "ext4", .uuid = "u-inner"},
	 {.file = "/dev/loop1", .offset = 8192}},
	{7, 6, {.name = "/dev/loop6", .type = "ext4", .uuid = "u-whole"}, {.file = "/dev/sdf"}},
	{7, 8, {.name = "/dev/loop8", .type = "ext4", .uuid = "u-shm"}, {.file = "/dev/shm/x.img"}},
	{0, 40, {.name = "/dev/sde1", .type = "btrfs", .uuid = "u-btrfs", .label = "pool"}},
};

static unsigned lookups;   /* of devices */

static int find_swap(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < COUNT(machine); ++i) {
		if (strcmp(machine[i].tags.name, name) == 0)
			*device = (struct fstab_device){&machine[i].tags, machine[i].loop,
			                                machine[i].remote};
	}
	return 0;
}

static int find_device(void *arg, const struct mount *mount, const char *swap,
                       struct fstab_device *device)
{
	if (!mount)
		return find_swap(arg, swap, device);
	(void)arg;
	++lookups;
	for (size_t i = 0; i < COUNT(machine); ++i) {
		const struct machine_device *m = &machine[i];
		if (m->major == mount->dev_major && m->minor == mount->dev_minor)
			*device = (struct fstab_device){&m->tags, m->loop, m->remote};
	}
	return 0;
}

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg, (void)device;
	return strstr(source, "twice") ? 2 : 1;
}

static enum fstab_unit unit_of(const char *target)
{
	return strcmp(target, "/own/unit") == 0 ? FSTAB_OWN_UNIT
	       : strcmp(target, "/lazy") == 0   ? FSTAB_AUTOMOUNT
	                                        : FSTAB_NO_UNIT;
}

static int has_fsck(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	return question == FSTAB_UNIT ? (int)unit_of(name)
	       : question == FSTAB_HAS_HELPER
	         && word_in(name, strlen(name), "fsck.ext4 fsck.xfs fsck.btrfs");
}

static const struct host_utab *recorded_utab(void)
{
	static const char text[] =
		"TARGET=/stick OPTS=uhelper=udisks2\n"
		"TARGET=/notes OPTS=x-own.note=1,user=joe,_netdev,x-b\n"
		"TARGET=/quoted OPTS=x-foo=\"a,b\",x-bar=1,user=joe,x-c=d\\134,e,x-bar=1,"
		"x-open=\"f,x-g\n"
		"TARGET=/secret OPTS=x-v.password=hunter2\n";
	static struct host_utab utab;
	if (!utab.text)
		CU_ASSERT_EQUAL(host_parse_utab(strdup(text), &utab), 0);
	return &utab;
}

static int unknown_fsck(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	return question == FSTAB_UNIT ? (int)unit_of(name) : -1;
}

static int no_fsck(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	return question == FSTAB_UNIT ? (int)unit_of(name) : question == FSTAB_HAS_HELPER ? 0 : -1;
}

static struct fstab_input usual(void)
{
	return (struct fstab_input){
		.root = "/", .options = FSTAB_MINIMAL,
		.facts = {.utab = recorded_utab(), .device = find_device, .devices = devices,
		          .answer = has_fsck},
	};
}

/* Cases. */

static void print_line(struct strbuf *out, const struct fstab_line *line)
{
	if (line->fate == FSTAB_LINE)
		strbuf_printf(out, "%s|%s|%s|%s|%d\n", line->source, line->target, line->fstype,
		              line->options, line->passno);
	else
		strbuf_printf(out, "%c%s: %s\n", line->fate == FSTAB_COMMENT ? '#'
		              : line->fate == FSTAB_COPY ? '=' : '-',
		              line->mount ? line->target : line->source, line->why);
	if (line->warning)
		strbuf_printf(out, "!%s\n", line->warning);
}

/** Print the plan of a table, as the fixture has it. */
static void print_plan(struct fstab_input *in, const char *table, struct strbuf *out)
{
	struct fstab_plan plan;
	struct discovery *d = unit_discover(table);
	in->d = d;
	strbuf_reset(out);
	CU_ASSERT_EQUAL(fstab_plan(in, &plan), 0);
	for (size_t i = 0; i < plan.count; ++i)
		print_line(out, &plan.lines[i]);
	CU_ASSERT_EQUAL(plan.of[FSTAB_LINE] + plan.of[FSTAB_COMMENT] + plan.of[FSTAB_COPY]
	                + plan.of[FSTAB_OWN],
	                plan.count);
	fstab_plan_destroy(&plan);
	unit_discovery_free(d);
}

static enum fstab_id id_of(const char *name)
{
	static const char *const names[] = {
		"auto", "uuid", "label", "partuuid", "partlabel", "path",
	};
	unsigned id = FSTAB_AUTO;
	while (id < FSTAB_PATH && strcmp(name, names[id]) != 0)
		++id;
	CU_ASSERT_STRING_EQUAL(names[id], name);
	return id;
}

/** Read the settings of a run.  @add  Room for the names of add=. */
static void set(struct fstab_input *in, char *settings, const char *add[])
{
	char *value;
	for (const char *word; (word = unit_case_word(&settings, &value)) != NULL;) {
		if (strcmp(word, "root") == 0) {
			in->root = value;
		} else if (strcmp(word, "id") == 0) {
			in->id = id_of(value);
		} else if (strcmp(word, "filter") == 0) {
			in->filter = value;
		} else if (strcmp(word, "add") == 0) {
			add[in->nadd++] = value;
			in->add = add;
		} else if (strcmp(word, "fsck") == 0) {
			in->facts.answer = strcmp(value, "none") == 0 ? no_fsck : unknown_fsck;
		} else if (strcmp(word, "live") == 0) {
			in->options = FSTAB_LIVE;
		} else if (strcmp(word, "no-pseudo") == 0) {
			in->no_pseudo = true;
		} else if (strcmp(word, "no-devices") == 0) {
			in->facts.device = NULL;
		} else {
			in->nofail |= strcmp(word, "nofail") == 0;
			in->all |= strcmp(word, "all") == 0;
			CU_ASSERT(word_in(word, strlen(word), "plan nofail all"));
		}
	}
}

#define ROOT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"

static void check_case(struct unit_case *c)
{
	static const char first[] = "UUID=u-root|/|ext4|defaults|1\n";
	STRBUF(table);
	STRBUF(swaps);
	STRBUF(got);
	bool rooted = strncmp(c->parts[0].text, "20 1 ", 5) == 0;
	strbuf_puts(&table, rooted ? "" : ROOT);
	strbuf_puts(&swaps, "Filename Type Size Used Priority\n");
	for (const char *at = c->parts[0].text; *at; at += strcspn(at, "\n") + 1)
		strbuf_add(*at == '/' ? &swaps : &table, at, strcspn(at, "\n") + 1);
	for (size_t i = 1; i < c->count; ++i) {
		struct fstab_input in = usual();
		const char *add[4];
		char settings[256];
		struct host_swaps list;
		snprintf(settings, sizeof(settings), "%s", c->parts[i].head);
		set(&in, settings, add);
		CU_ASSERT_EQUAL(host_swaps_parse(strbuf_str(&swaps), &list), 0);
		in.nswaps = list.count;
		in.swaps = list.list;
		CU_ASSERT_EQUAL(list.damaged, 0);
		print_plan(&in, strbuf_str(&table), &got);
		const char *expected = c->parts[i].text, *plan = strbuf_str(&got);
		bool good = rooted || strncmp(plan, first, strlen(first)) == 0;
		good = good && strcmp(plan + (rooted ? 0 : strlen(first)), expected) == 0;
		if (!good)
			printf("%s, %s:\n%s", c->name, c->parts[i].head, plan);
		CU_ASSERT_TRUE(good);
		host_swaps_destroy(&list);
	}
}

UNIT_TEST(cases)
{
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/plan", &c); ++count) {
		unit_note("%s", c.name);
		check_case(&c);
	}
	CU_ASSERT(count > 60);
}

/* Texts. */

static int parse_swaps(void *text)
{
	struct host_swaps list;
	int rc = host_swaps_parse(text, &list), error = errno;
	CU_ASSERT(rc != 0 || (list.count == 2 && list.damaged == 4));
	host_swaps_destroy(&list);
	errno = error;
	return rc;
}

UNIT_TEST(swaps)
{
	static char swaps[] =
		"Filename\tType\tSize\tUsed\tPriority\n"
		"/dev/sda5                               partition\t1024\t0\t-2\n"
		"/srv/swap\\040file file 5 0 7\n"
		"short line\n";
	struct host_swaps list;
	CU_ASSERT_EQUAL(host_swaps_parse(swaps, &list), 0);
	CU_ASSERT_EQUAL_FATAL(list.count, 2);
	CU_ASSERT_EQUAL(list.damaged, 4);
	CU_ASSERT_STRING_EQUAL(list.list[1].name, "/srv/swap file");
	CU_ASSERT_EQUAL(list.list[0].priority, -2);
	host_swaps_destroy(&list);
	fault_each_allocation(parse_swaps, swaps, 5);
	static const struct {
		const char *text;
		size_t damaged;
	} texts[] = {
		{"", 1},
		{"Filename\tType\tSize\tUsed\tPriority\n", 0},
		{"Filename\tType\tSize\tUsed\tPriority\n/dev/a partition 1 0 -2\n\n", 0},
		{"garbage\n", 1},
		{"/dev/a partition 1 0 -2\n", 1},
		{"Filename\n/dev/a partition 1 0 -2\n/dev/sr0 /m udf,iso9660 user,noauto 0\n", 3},
		{"Filename\n/dev/a partition 1 x -2\n", 2},
		{"Filename\n/dev/a partition 1 0 -\n", 2},
	};
	for (size_t i = 0; i < COUNT(texts); ++i) {
		CU_ASSERT_EQUAL(host_swaps_parse(texts[i].text, &list), 0);
		CU_ASSERT_EQUAL(list.damaged, texts[i].damaged);
		host_swaps_destroy(&list);
	}
}

UNIT_TEST(utab)
{
	char utab[] = "ID=77 SRC=/dev/sdb1 TARGET=/m\\040b ROOT=/a\\040b OPTS=uhelper=udisks2\n"
	              "SRC=x TARGET=/no/options ROOT=/\n"
	              "garbage\n\n"
	              "OPTS=x-a,_netdev TARGET=/late\\134040";
	char *at = utab;
	struct fstab_kept kept;
	CU_ASSERT_TRUE(fstab_utab_next(&at, &kept));
	CU_ASSERT_STRING_EQUAL(kept.target, "/m b");
	CU_ASSERT_STRING_EQUAL(kept.options, "uhelper=udisks2");
	/* Whether the entry is of a mount. */
	static const struct {
		struct mount mount;
		bool fits;
	} rows[] = {
		{{.id = 77, .source = "/dev/sdb1", .root = "/a b"}, true},
		{{.id = 77, .source = "/dev/sdb1/", .root = "/a b"}, true},
		{{.id = 77, .source = "/dev/root", .root = "/a b"}, true},
		{{.id = 78, .source = "/dev/sdb1", .root = "/a b"}, false},
		{{.id = 77, .source = "/dev/sdb2", .root = "/a b"}, false},
		{{.id = 77, .source = "/dev/sdb1", .root = "/"}, false},
		{{.id = 77}, false},
	};
	for (size_t i = 0; i < COUNT(rows); ++i)
		CU_ASSERT_EQUAL(fstab_utab_fits(&kept, &rows[i].mount), rows[i].fits);
	CU_ASSERT_TRUE(fstab_utab_next(&at, &kept));
	CU_ASSERT_STRING_EQUAL(kept.target, "/late\\040");
	CU_ASSERT_STRING_EQUAL(kept.options, "x-a,_netdev");
	CU_ASSERT_TRUE(fstab_utab_fits(&kept, &rows[3].mount));
	CU_ASSERT_FALSE(fstab_utab_next(&at, &kept));
}

UNIT_TEST(unit_names)
{
	/* As systemd-escape(1) --path writes them. */
	static const char *const names[][2] = {
		{"/", "-"}, {"//", "-"}, {"/home", "home"}, {"/srv/a-b", "srv-a\\x2db"},
		{"/a b/c", "a\\x20b-c"}, {"//srv///x//", "srv-x"}, {"/a/.b", "a-.b"},
		{"/.snapshots", "\\x2esnapshots"}, {"/u_:1", "u_:1"}, {"/\303\244", "\\xc3\\xa4"},
	};
	STRBUF(name);
	for (size_t i = 0; i < COUNT(names); ++i) {
		strbuf_reset(&name);
		fstab_unit_name(&name, names[i][0]);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&name), names[i][1]);
	}
}

/** Which user a mount is of, by its data alone. */
UNIT_TEST(users)
{
	static const struct {
		const char *fstype, *options, *target, *kept, *user;
	} rows[] = {
		{"fuse", "rw,user_id=1500,group_id=100", "/x", NULL, "1500"},
		{"fuse", "rw,user_id=0,group_id=0", "/x", NULL, NULL},
		{"fuseblk.ntfs", "rw,user_id=1000", "/x", NULL, "1000"},
		{"fusectl", "rw,user_id=1000", "/x", NULL, NULL},
		{"ext4", "rw,user_id=1000", "/x", NULL, NULL},
		{"fuse", "rw,context=\"a,user_id=1000\"", "/x", NULL, NULL},
		{"fuse", NULL, "/x", NULL, "?"},
		{"vfat", "rw", "/x", "users,x-a,user=a b\nc", "a b\nc"},
		{"vfat", "rw", "/x", "user,x-a=\"user=joe\"", NULL},
		{"vfat", "rw", "/x", "user=root", NULL},
		{"vfat", "rw", "/x", "user=", NULL},
		{"tmpfs", "rw", "/run/user/1000", NULL, NULL},
		{"tmpfs", "rw", "/run/user/1000/a", NULL, "1000"},
		{"tmpfs", "rw", "/run/user/0/a", NULL, NULL},
		{"tmpfs", "rw", "/run/user/1000a/a", NULL, NULL},
		{"tmpfs", "rw", "/run/users/1000/a", NULL, NULL},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct mount mount = {.fstype = rows[i].fstype, .fs_opts = rows[i].options};
		STRBUF(user);
		bool is = fstab_user(&mount, rows[i].target, rows[i].kept, &user);
		bool right = is == (rows[i].user != NULL)
		             && strcmp(strbuf_str(&user), is ? rows[i].user : "") == 0;
		if (!right)
			printf("row %zu: \"%s\"\n", i, strbuf_str(&user));
		CU_ASSERT_TRUE(right);
	}
}

UNIT_TEST(same_device)
{
	static const struct devmap_tags
		none = {.known = DEVMAP_NO_DEVICE}, bare = {.known = DEVMAP_NO_DEVICE},
		ext4 = {.name = "/dev/sda3", .type = "ext4", .uuid = "e"},
		btrfs = {.name = "/dev/sdb", .type = "btrfs", .uuid = "b"},
		second = {.name = "/dev/sdc", .type = "btrfs", .uuid = "b", .multi_device = true},
		pool = {.name = "/dev/sdd", .type = "zfs_member", .label = "tank"};
#define AT(tagged, m) {.tags = (tagged), .numbered = true, .major = 8, .minor = (m)}
	static const struct {
		struct fstab_device a, b;
		int same;
	} rows[] = {
		{AT(&ext4, 3), AT(&none, 3), 1},
		{AT(&ext4, 3), AT(&none, 17), 0},
		{AT(NULL, 3), AT(NULL, 17), 0},
		{AT(&ext4, 3), {.tags = &none}, -1},
		{{.tags = &bare}, {.tags = &none}, -1},
		{{0}, {0}, -1},
		/* Several devices of one file system. */
		{AT(&btrfs, 16), AT(&second, 32), 1},
		{AT(&btrfs, 16), AT(&ext4, 3), 0},
		{AT(&btrfs, 16), AT(&none, 48), -1},
		{AT(&pool, 48), AT(&none, 64), -1},
	};
#undef AT
	for (size_t i = 0; i < COUNT(rows); ++i)
		CU_ASSERT_EQUAL(fstab_same_device(&rows[i].a, &rows[i].b), rows[i].same);
}

/** Each mount looks its device up once, and the time is linear: many mounts of one device, binds of
    one directory, a chain, a stack. */
UNIT_TEST(many)
{
	enum { MANY = 10000 };
	STRBUF(table);
	strbuf_puts(&table, "1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n");
	for (unsigned i = 0; i < MANY; ++i) {
		strbuf_printf(&table, "%u 1 8:1 /d /b%u rw,relatime - ext4 /dev/sda1 rw\n",
		              10 + i, i);
		strbuf_printf(&table, "%u %u 0:77 / /stack rw,relatime - tmpfs t rw\n",
		              MANY + 10 + i, i ? MANY + 9 + i : 1);
		strbuf_printf(&table, "%u 1 8:2 / /v%u rw,relatime - vfat /dev/sda2 rw\n",
		              2 * MANY + 10 + i, i);
	}
	struct discovery *d = unit_discover(strbuf_str(&table));
	struct fstab_input in = usual();
	struct fstab_plan plan;
	in.d = d;
	lookups = 0;
	double start = unit_cpu();
	CU_ASSERT_EQUAL(fstab_plan(&in, &plan), 0);
	CU_ASSERT_TRUE(unit_cpu() - start < 60);
	CU_ASSERT_EQUAL(plan.of[FSTAB_LINE], 1 + 2 * MANY + 1);
	CU_ASSERT_EQUAL(plan.of[FSTAB_COMMENT], MANY - 1);
	CU_ASSERT_EQUAL(lookups, 1 + MANY);
	fstab_plan_destroy(&plan);
	unit_discovery_free(d);
}

/** The search for the source of a bind goes along its path once. */
UNIT_TEST(long_path)
{
	enum { PARTS = 200000 };
	STRBUF(table);
	STRBUF(got);
	strbuf_puts(&table, ROOT "21 20 8:2 ");
	for (unsigned i = 0; i < PARTS; ++i)
		strbuf_puts(&table, "/a");
	strbuf_puts(&table, " /x rw,relatime - vfat /dev/sda2 rw\n");
	double start = unit_cpu();
	struct fstab_input in = usual();
	print_plan(&in, strbuf_str(&table), &got);
	CU_ASSERT_TRUE(unit_cpu() - start < 60);
	CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&got), "#/x: its source, /a/a/a"));
}

static int plan_all(void *arg)
{
	struct fstab_plan plan;
	int rc = fstab_plan(arg, &plan), error = errno;
	CU_ASSERT(rc != 0 || (plan.of[FSTAB_LINE] == 9 && plan.of[FSTAB_COMMENT] == 2));
	fstab_plan_destroy(&plan);
	errno = error;
	return rc;
}

UNIT_TEST(no_memory)
{
	FAULT_OR_SKIP();
	struct discovery *d = unit_discover(
		ROOT "21 20 8:3 / /x rw,relatime - xfs /dev/sda3 rw\n"
		"22 20 8:3 /a /b ro,relatime - xfs /dev/sda3 rw\n"
		"23 20 0:50 / /ov rw,relatime - overlay o rw,lowerdir=/x/a:/x/b,upperdir=/x/u,"
		"workdir=/x/w\n"
		"24 20 7:1 / /img rw,relatime - ext4 /dev/loop1 rw\n"
		"25 20 0:40 /@ /s rw,relatime - btrfs /dev/sde1 rw,subvol=/@\n"
		"26 20 0:60 / /t rw,relatime - tmpfs t rw,odd=a\\054b\n"
		"27 20 0:61 / /notes rw,relatime - tmpfs t rw\n"
		"28 27 0:62 / /notes rw,relatime - tmpfs t rw\n");
	struct fstab_swap swaps[] = {{.name = "/dev/sda5", .priority = 3},
	                             {.name = "/x/swap", .file = true}};
	struct fstab_input in = usual();
	in.d = d;
	in.nofail = true;
	in.add = (const char *const []){"/notes"};
	in.nadd = 1;
	in.swaps = swaps;
	in.nswaps = 2;
	fault_each_allocation(plan_all, &in, 10);
	unit_discovery_free(d);
}
