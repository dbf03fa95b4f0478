/* SPDX-License-Identifier: MIT */
/*
 * Merging an fstab with what is mounted, from recorded tables and a machine of this file.  The
 * cases are in tests/fixtures/fstab/merge.  Corrupted files are tested by fuzz/merge.c, and with
 * mount -a by tests/system/fstab_merge.py.
 */
#include "unit.h"

#include "base/words.h"
#include "cases.h"
#include "fault.h"
#include "fstab/edit/merge.h"

/* The machine. */

static const struct machine_device {
	uint32_t major, minor;
	struct devmap_tags tags;
} machine[] = {
	{8, 1, {.name = "/dev/sda1", .type = "ext4", .uuid = "0a1b-root", .label = "root",
	        .partuuid = "p-1"}},
	{8, 2, {.name = "/dev/sda2", .type = "vfat", .uuid = "AB-CD", .partuuid = "p-2",
	        .partlabel = "EFI"}},
	{8, 3, {.name = "/dev/sda3", .type = "ext4", .uuid = "0a1b-home", .label = "my home",
	        .partuuid = "p-3"}},
	{8, 5, {.name = "/dev/sda5", .type = "swap", .uuid = "0a1b-swap", .label = "swap"}},
	{8, 6, {.name = "/dev/sda6", .type = "swap", .uuid = "0a1b-more"}},
	{8, 16, {.name = "/dev/sdb", .type = "xfs", .uuid = "0a1b-other"}},
	{0, 40, {.name = "/dev/sdc", .type = "btrfs", .uuid = "0a1b-pool"}},
};

static int find_swap(void *arg, const char *name, struct fstab_device *device)
{
	(void)arg;
	for (size_t i = 0; i < COUNT(machine); ++i) {
		if (strcmp(machine[i].tags.name, name) == 0)
			device->tags = &machine[i].tags;
	}
	return 0;
}

static int find_device(void *arg, const struct mount *mount, const char *swap,
                       struct fstab_device *device)
{
	if (!mount)
		return find_swap(arg, swap, device);
	(void)arg;
	for (size_t i = 0; i < COUNT(machine); ++i) {
		if (machine[i].major == mount->dev_major && machine[i].minor == mount->dev_minor)
			device->tags = &machine[i].tags;
	}
	return 0;
}

static int leads(void *arg, const char *path, const struct fstab_line *line)
{
	(void)arg;
	if (strcmp(path, "/dev/disk/by-id/wwn-home") == 0)
		return strcmp(line->target, "/home") == 0;
	return strncmp(path, "/dev/unknown", 12) == 0 ? -1 : 0;
}

static enum fact_kind look(void *arg, const char *target, struct strbuf *path)
{
	(void)arg;
	bool link = strcmp(target, "/link/home") == 0;
	if (strncmp(target, "/unknown", 8) == 0)
		return FACT_UNKNOWN;
	if (path)
		strbuf_puts(path, link ? "/home" : target);
	return FACT_DIR;
}

#define TABLE                                                                                      \
	"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n"                         \
	"21 20 8:2 / /boot/efi rw,relatime - vfat /dev/sda2 rw,fmask=0077,dmask=0077\n"            \
	"22 20 8:3 / /home rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n"                         \
	"23 20 0:40 /@data /srv/data rw,noatime - btrfs /dev/sdc "                                 \
	"rw,compress=zstd:3,subvolid=257,subvol=/@data\n"                                          \
	"24 20 0:50 / /tmp rw,nosuid,nodev,relatime - tmpfs tmpfs rw,size=1048576k\n"              \
	"25 20 8:3 /joe/www /srv/www rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n"               \
	"26 20 0:51 / /mnt/nas rw,relatime - nfs4 nas:/export rw,vers=4.2\n"                       \
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
	struct discovery *d;
	struct fstab_plan plan;
	struct fstab_input in;
};

static const struct fstab_swap swaps[] = {{"/dev/sda5", false, false, 5}};

/** Names of the next plan. */
static const char *added[4];
static size_t nadded;

/** Whether the kernel refuses options that begin with "bad", of the third line. */
static bool refused;

static void make(struct made *made, const char *table)
{
	*made = (struct made){.d = unit_discover(table)};
	made->in = (struct fstab_input){
		.add = added, .nadd = nadded,
		.d = made->d, .root = "/", .swaps = swaps, .nswaps = 1, .options = FSTAB_MINIMAL,
		.facts = {.device = find_device, .leads = leads, .look = look},
	};
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&made->in, &made->plan), 0);
}

static void unmake(struct made *made)
{
	fstab_plan_destroy(&made->plan);
	unit_discovery_free(made->d);
}

/** Notes as text: "KIND LINE TARGET", '+' before what was mended, '^' what came back by
    that, '~' what was edited. */
static char notes[16 * 1024];
static const char *const kinds[FSTAB_NOTE_KINDS] = {
	"damaged", "odd",  "missing",  "no-line", "source",    "name",  "options",
	"refused", "pass", "repeated", "conflict",  "elsewhere", "order", "again",
	"unknown",
};

static void print_notes(const struct fstab_merged *merged)
{
	notes[0] = '\0';
	for (size_t i = 0; i < merged->nnotes; ++i) {
		const struct fstab_note *note = &merged->notes[i];
		size_t n = strlen(notes);
		snprintf(notes + n, sizeof(notes) - n, "%s%s %u %s%s%s\n",
		         note->back     ? "^"
		         : note->done   ? "+"
		         : note->edited ? "~"
		                        : "",
		         kinds[note->kind], note->line ? (unsigned)note->line->number : 0,
		         note->live ? note->live->target : "-",
		         note->kind == FSTAB_NOTE_OPTIONS ? " " : "",
		         note->kind == FSTAB_NOTE_OPTIONS ? note->text : "");
	}
}

/** Check that a merge that changes nothing and fstab_match() have the same differences. */
static void check_match(const struct fstab_match_input *in)
{
	/* The kinds of notes that are differences, in the order of enum fstab_difference_kind. */
	static const enum fstab_note_kind differ[] = {
		FSTAB_NOTE_MISSING, FSTAB_NOTE_NO_LINE, FSTAB_NOTE_SOURCE, FSTAB_NOTE_OPTIONS,
		FSTAB_NOTE_REPEATED, FSTAB_NOTE_CONFLICT, FSTAB_NOTE_ELSEWHERE,
		FSTAB_NOTE_AGAIN,
	};
	struct fstab_match match;
	struct fstab_merged merged;
	struct fstab_merge_input merge = {.match = *in};
	CU_ASSERT_EQUAL_FATAL(fstab_match(in, &match), 0);
	CU_ASSERT_EQUAL_FATAL(fstab_merge(&merge, &merged), 0);
	size_t n = 0;
	for (size_t i = 0; i < merged.nnotes; ++i) {
		const struct fstab_note *note = &merged.notes[i];
		const struct fstab_difference *d = n < match.count ? &match.differences[n] : NULL;
		bool is = false;
		for (size_t k = 0; k < COUNT(differ); ++k)
			is |= note->kind == differ[k];
		n += is;
		CU_ASSERT_TRUE(!is || (d && note->kind == differ[d->kind] && d->line == note->line
		                       && d->other == note->other && d->live == note->live
		                       && (!note->text || strcmp(d->actual, note->text) == 0)));
	}
	CU_ASSERT_EQUAL(n, match.count);
	fstab_match_destroy(&match);
	fstab_merged_destroy(&merged);
}

#define ROOT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
#define ROOT_LINE "UUID=0a1b-root / ext4 defaults 0 1\n"
#define SWAP_LINE "UUID=0a1b-swap none swap sw,pri=5 0 0\n"
#define ALL (FSTAB_FIX_OPTIONS | FSTAB_FIX_PASS | FSTAB_FIX_ORDER | FSTAB_FIX_DAMAGED)

/** Merge n bytes.  @return the result, to be freed; notes is set. */
static char *merged(struct fstab_merge_input in, const char *table, const char *text, size_t n,
                    const char *base)
{
	struct made made;
	make(&made, table);
	struct fstab_file *file = fstab_parse(text, n);
	CU_ASSERT_FATAL(!refused || file->count > 2);
	for (uint32_t i = 0; refused && i < file->entries[2].nopts; ++i) {
		struct opt *option = &file->entries[2].opts[i];
		option->refused = strncmp(option->text, "bad", 3) == 0;
	}
	struct fstab_file *base_lines = base ? fstab_parse(base, strlen(base)) : NULL;
	struct fstab_merged out;
	in.match = (struct fstab_match_input){
		.file = file, .plan = &made.plan, .root = "/", .facts = &made.in.facts,
	};
	in.add = added;
	in.nadd = nadded;
	in.base = base_lines;
	CU_ASSERT_EQUAL(fstab_prefer(&made.plan, file, added, nadded), 0);
	check_match(&in.match);
	CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
	print_notes(&out);
	char *result = out.text ? strdup(out.text) : NULL;
	fstab_merged_destroy(&out);
	fstab_file_free(file);
	fstab_file_free(base_lines);
	unmake(&made);
	return result;
}

/* Cases. */

/** Decode a text of the fixture: "..." and <xx>. */
static char *decode(const char *text)
{
	struct strbuf out;
	unsigned byte;
	strbuf_init(&out);
	strbuf_add(&out, "", 0);
	for (const char *at = text; *at;) {
		if ((at == text || at[-1] == '\n') && strncmp(at, "...\n", 4) == 0) {
			strbuf_puts(&out, ROOT_LINE SWAP_LINE);
			at += 4;
		} else if (*at == '<' && sscanf(at, "<%2x>", &byte) == 1) {
			strbuf_putc(&out, (char)byte);
			at += 4;
		} else {
			strbuf_putc(&out, *at++);
		}
	}
	return strbuf_take(&out);
}

/** What is to be fixed, by words separated by commas; each sets the bit of its place. */
static unsigned fixes(const char *words)
{
	static const char *const names[] = {"source", "options", "pass", "order", "damaged"};
	unsigned fix = strcmp(words, "all") == 0 ? FSTAB_FIX_SOURCE | ALL : 0;
	for (unsigned i = 0; i < COUNT(names); ++i)
		fix |= strstr(words, names[i]) ? 1u << i : 0;
	CU_ASSERT(fix != 0);
	return fix;
}

/** Add a unit of a line: of a mount point, or of a swap space in /dev. */
static void add_unit(struct strbuf *units, const char *path)
{
	bool swap = strncmp(path, "/dev/", 5) == 0;
	strbuf_printf(units, "Id=%zu.%s\n%s=%s\nFragmentPath=/run/x\nSourcePath=/etc/fstab\n\n",
	              units->len, swap ? "swap" : "mount", swap ? "What" : "Where", path);
}

/** Read the settings of a merge.
    @units  Gets the units of loaded=. */
static void set(struct fstab_merge_input *in, char *settings, struct strbuf *units)
{
	char *value;
	for (const char *word; (word = unit_case_word(&settings, &value)) != NULL;) {
		if (strcmp(word, "add") == 0) {
			added[nadded++] = value;
		} else if (strcmp(word, "loaded") == 0) {
			add_unit(units, value);
		} else if (strcmp(word, "fix") == 0) {
			in->fix = fixes(value);
		} else if (strcmp(word, "refused") == 0) {
			refused = true;
		} else {
			in->persistent |= strcmp(word, "persistent") == 0;
			in->keep |= strcmp(word, "keep") == 0;
			CU_ASSERT(word_in(word, strlen(word), "merge persistent keep"));
		}
	}
}

static void check_merge(const struct unit_case *c, size_t part, const char *table, const char *file,
                        const char *base)
{
	struct fstab_merge_input in = {0};
	struct host_units loaded = {0};
	STRBUF(units);
	char settings[256];
	bool noted = part + 1 < c->count && strcmp(c->parts[part + 1].head, "notes") == 0;
	const char *expected_notes = noted ? c->parts[part + 1].text : "";
	snprintf(settings, sizeof(settings), "%s", c->parts[part].head);
	set(&in, settings, &units);
	if (units.len) {
		CU_ASSERT_EQUAL_FATAL(host_units_parse(strbuf_take(&units), &loaded), 0);
		in.loaded = &loaded;
		base = NULL;
	}
	char *expected = decode(*c->parts[part].text ? c->parts[part].text : file);
	char *got = merged(in, table, file, strlen(file), base);
	bool same = got && strcmp(got, expected) == 0 && strcmp(notes, expected_notes) == 0;
	if (!same)
		printf("%s, %s:\n%s-- notes\n%s", c->name, c->parts[part].head, got ? got : "",
		       notes);
	CU_ASSERT_TRUE(same);
	nadded = 0;
	refused = false;
	free(got);
	free(expected);
	host_units_destroy(&loaded);
}

static void check_case(const struct unit_case *c)
{
	char table[4096];
	snprintf(table, sizeof(table), ROOT "%s", c->parts[0].text);
	CU_ASSERT_FATAL(c->count > 2 && strcmp(c->parts[1].head, "file") == 0);
	bool based = strcmp(c->parts[2].head, "base") == 0;
	char *file = decode(c->parts[1].text), *base = based ? decode(c->parts[2].text) : NULL;
	for (size_t i = 2; i < c->count; ++i) {
		if (strncmp(c->parts[i].head, "merge", 5) == 0)
			check_merge(c, i, table, file, base);
	}
	free(file);
	free(base);
}

UNIT_TEST(cases)
{
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/merge", &c); ++count) {
		unit_note("%s", c.name);
		check_case(&c);
	}
	CU_ASSERT(count > 100);
}

UNIT_TEST(nothing_to_do)
{
	char crlf[2 * sizeof(good)], *to = crlf;
	for (const char *at = good; *at; ++at) {
		if (*at == '\n')
			*to++ = '\r';
		*to++ = *at;
	}
	*to = '\0';
	char cut[sizeof(crlf)];
	snprintf(cut, sizeof(cut), "%.*s", (int)strlen(crlf) - 2, crlf);
	const struct {
		bool persistent;
		unsigned fix;
		const char *text;
	} rows[] = {
	        {false, 0, good}, {true, 0, good}, {false, ALL, good},
	        {true, 0, crlf},  {true, 0, cut},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct fstab_merge_input in = {.persistent = rows[i].persistent,
		                               .fix = rows[i].fix};
		const char *text = rows[i].text;
		char *got = merged(in, TABLE, text, strlen(text), NULL);
		CU_ASSERT_STRING_EQUAL(got, rows[i].text);
		CU_ASSERT_STRING_EQUAL(notes, "");
		free(got);
	}
}

/** Names of device mapper, if the host cannot tell. */
UNIT_TEST(names_of_device_mapper)
{
	static const struct {
		const char *source;
		bool same;
	} rows[] = {
		{"/dev/vg-a/home", true}, {"/dev/vg/home", false}, {"/dev/sda9", false},
		{"/dev/disk/by-id/x", true}, {"/dev/mapper/vg--a-home", true},
		{"/dev/mapper/vg-a-home", false}, {"/dev/dm-3", true}, {"/img", false},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		char text[256];
		snprintf(text, sizeof(text), ROOT_LINE "%s /m ext4 rw 0 2\n", rows[i].source);
		struct made made;
		make(&made, ROOT "22 20 253:9 / /m rw,relatime - ext4 /dev/mapper/vg--a-home rw\n");
		struct fstab_file *file = fstab_parse(text, strlen(text));
		made.plan.lines[1].fate = FSTAB_LINE;
		made.plan.lines[1].source = "/dev/mapper/vg--a-home";
		made.plan.lines[1].fstype = "ext4";
		made.plan.lines[1].options = "defaults";
		made.in.facts.leads = NULL;   /* only the names are known */
		struct fstab_merge_input in = {
		        .match = {file, &made.plan, "/", &made.in.facts}};
		struct fstab_merged out;
		CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
		print_notes(&out);
		CU_ASSERT_EQUAL(strstr(notes, "source 2 /m") == NULL, rows[i].same);
		fstab_merged_destroy(&out);
		fstab_file_free(file);
		unmake(&made);
	}
}

/** A NUL is written so that the rest of the line can be read. */
UNIT_TEST(a_nul)
{
	static const char nul[] = ROOT_LINE SWAP_LINE "a\\040\0b";
	struct fstab_merge_input in = {.persistent = true};
	char *got = merged(in, ROOT, nul, sizeof(nul) - 1, NULL);
	CU_ASSERT_STRING_EQUAL(got, ROOT_LINE SWAP_LINE "# getmnt: line 3: contains a NUL byte "
	                       "(NUL as \\000, \\ as \\134): a\\134040\\000b");
	free(got);
}

UNIT_TEST(options_of_the_file_in_the_plan)
{
	struct made made;
	make(&made, TABLE);
	struct fstab_file *file = fstab_parse(good, sizeof(good) - 1);
	struct fstab_merge_input in = {
	        .match = {file, &made.plan, "/", &made.in.facts}};
	CU_ASSERT_EQUAL(fstab_keep_options(&in.match, &made.plan), 0);
	size_t found = 0;
	for (size_t i = 0; i < made.plan.count; ++i) {
		const struct fstab_line *line = &made.plan.lines[i];
		if (strcmp(line->target, "/home") == 0
		    && strcmp(line->options, "nodev,nosuid,x-own.note=1") == 0)
			++found;
		if (strcmp(line->target, "none") == 0 && strcmp(line->options, "sw,pri=5") == 0)
			++found;
	}
	CU_ASSERT_EQUAL(found, 2);
	fstab_file_free(file);
	unmake(&made);
}

static int merge_damaged_file(void *arg)
{
	static const char text[] =
		"x\nLABEL=\"my\\040home\" /home ext4 rw,noexec # x\n/home/./a /b none bind 0 0\n"
		ROOT_LINE "UUID=0a1b-other /s btrfs subvol=@x 0 0\nnone /o overlay "
		"lowerdir=/home/a:/b,x-b 0 0\nUUID=0a1b-root /x ext4 rw 0 0\n"
		"/dev/sda3 /home ext4 rw 0 2\n/dev/y none swap sw 0 0\nt /t\\04 tmpfs rw 0 0\n";
	static const char shown[] = "Id=home.mount\nWhere=/home\nSourcePath=/etc/fstab\n\n"
		"Id=s.mount\nWhere=/s\nSourcePath=/etc/fstab\n";
	struct made *made = arg;
	struct fstab_merged out = {0};
	struct host_units units = {0};
	struct fstab_file *file = fstab_parse(text, sizeof(text) - 1);
	char *shown_text = file ? strdup(shown) : NULL;
	int rc = shown_text ? host_units_parse(shown_text, &units) : -1;
	rc = rc != 0 ? rc : fstab_merge(&(struct fstab_merge_input){
		.match = {file, &made->plan, "/", &made->in.facts},
		.loaded = &units, .fix = FSTAB_FIX_SOURCE | ALL, .persistent = true}, &out);
	int error = errno;
	CU_ASSERT(rc == 0 ? out.len > sizeof(text) : !out.text);
	fstab_merged_destroy(&out);
	host_units_destroy(&units);
	fstab_file_free(file);
	errno = error;
	return rc;
}

/** The file has the line of a copy, which so becomes the origin. */
static int prefer_copy(void *arg)
{
	static const char text[] = "x /B/m tmpfs\n";
	const struct made *made = arg;
	struct fstab_plan plan = {0};
	struct fstab_file *file = fstab_parse(text, sizeof(text) - 1);
	int rc = file ? fstab_plan(&made->in, &plan) : -1;
	rc = rc != 0 ? rc : fstab_prefer(&plan, file, NULL, 0);
	int error = errno;
	for (size_t i = 0; rc == 0 && i < plan.count; ++i) {
		if (plan.lines[i].fate != FSTAB_COPY)
			continue;
		CU_ASSERT_STRING_EQUAL(plan.lines[i].target, "/A/m");
		CU_ASSERT_STRING_EQUAL(plan.lines[i].why,
		                       "a copy of the mount on /B/m, made by propagation");
	}
	CU_ASSERT(rc != 0 || plan.of[FSTAB_COPY] == 1);
	fstab_plan_destroy(&plan);
	fstab_file_free(file);
	errno = error;
	return rc;
}

UNIT_TEST(no_memory)
{
	struct made made;
	make(&made, ROOT "22 20 8:3 / /home rw,nosuid,relatime - ext4 /dev/sda3 rw\n"
	     "23 20 8:3 /a /b rw,nosuid,relatime - ext4 /dev/sda3 rw\n"
	     "24 20 0:40 /@ /s rw,relatime - btrfs /dev/sdc rw,subvol=/@\n"
	     "25 20 0:60 / /o rw,relatime - overlay o rw,lowerdir=/home/a:/b\n"
	     "26 20 0:61 / /t rw,relatime - tmpfs t rw\n"
	     "27 26 8:1 /y /t rw,relatime - ext4 /dev/sda1 rw\n");
	fault_each_allocation(merge_damaged_file, &made, 50);
	unmake(&made);
	make(&made, "20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	     "21 20 8:1 /A /B rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
	     "22 20 0:40 / /A/m rw,relatime shared:2 - tmpfs x rw\n"
	     "23 21 0:40 / /B/m rw,relatime shared:2 - tmpfs x rw\n");
	fault_each_allocation(prefer_copy, &made, 20);
	unmake(&made);
}

/** 10,000 lines and 10,000 mounts take twice what half of them do. */
UNIT_TEST(many)
{
	double seconds[2];
	for (int turn = 0; turn < 2; ++turn) {
		unsigned n = turn ? 20000 : 10000;
		STRBUF(table);
		STRBUF(text);
		strbuf_puts(&table, ROOT);
		strbuf_puts(&text, "garbage\n" ROOT_LINE);
		for (unsigned i = 0; i < n; ++i) {
			strbuf_printf(&table, "%u 20 0:%u / /d/%u/x rw,relatime - tmpfs t rw\n",
			              100 + i, 100 + i, i);
			/* Right, another, missing, not mounted; each before what it needs. */
			if (i % 4 != 2)
				strbuf_printf(&text, "%s /d/%u/%s %s rw 0 0\n", "t", i,
				              i % 4 == 3 ? "y" : "x",
				              i % 4 == 1 ? "ext4" : "tmpfs");
		}
		struct made made;
		make(&made, strbuf_str(&table));
		double from = unit_cpu();
		struct fstab_file *file = fstab_parse(text.data, text.len);
		struct fstab_merge_input in = {.match = {file, &made.plan, "/", &made.in.facts},
		                               .base = file,
		                               .persistent = true,
		                               .fix = ALL};
		struct fstab_merged out;
		CU_ASSERT_EQUAL(fstab_merge(&in, &out), 0);
		seconds[turn] = unit_cpu() - from;
		CU_ASSERT_EQUAL(out.mounts, n + 2);
		fstab_merged_destroy(&out);
		fstab_file_free(file);
		unmake(&made);
	}
	if (getenv("GETMNT_TIMES"))
		printf("merge of 10000 lines and mounts: %.3f s; of 20000: %.3f s\n", seconds[0],
		       seconds[1]);
	CU_ASSERT(seconds[1] < 5 * seconds[0] + 0.1);
}
