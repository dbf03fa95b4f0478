/* SPDX-License-Identifier: MIT */
/* The tables of the command line, secrets, paths, filters and rows. */
#include "unit.h"

#include "base/secret.h"
#include "base/words.h"
#include "cases.h"
#include "cmd/column.h"
#include "cmd/discover/columns.h"
#include "cmd/discover/listing.h"
#include "cmd/json.h"
#include "cmd/discover/view.h"
#include "discover/discover_impl.h"
#include "path/resolve.h"

#include <ctype.h>

/** Parse a command line of words; '' is an empty word.  Messages go nowhere. */
static int parse(struct options *o, const char *line)
{
	static char text[400];
	static char *argv[34];
	char name[] = "getmnt", *next = text, *word;
	int argc = 1;
	argv[0] = name;
	snprintf(text, sizeof(text), "%s", line);
	while (*line && (word = strsep(&next, " ")))
		argv[argc++] = strcmp(word, "''") == 0 ? word + 2 : word;
	argv[argc] = NULL;
	fflush(stderr);
	int saved = dup(STDERR_FILENO), null = open("/dev/null", O_WRONLY);
	dup2(null, STDERR_FILENO);
	int status = discover_options_read(o, argc, argv);
	fflush(stderr);
	dup2(saved, STDERR_FILENO);
	close(saved);
	close(null);
	argv[0] = NULL;
	return status;
}

static void check_row(const struct command *command, const struct option_row *row)
{
	static const char *title;
	size_t n;
	if (!row->name && !row->letter) {
		title = row->help;
		return;
	}
	const struct option_table *table = command->options;
	for (const struct option_row *other = row + 1; other < table->rows + table->count;
	     ++other) {
		CU_ASSERT(!row->name || !other->name || strcmp(row->name, other->name) != 0);
		CU_ASSERT(!row->letter || row->letter != other->letter);
	}
	CU_ASSERT_EQUAL(row->how == OPT_CALL, row->parse != NULL);
	CU_ASSERT(row->how == OPT_FLAG || row->how == OPT_SET || row->how == OPT_CALL
	          || row->how == OPT_REFUSED || row->argument);
	CU_ASSERT(row->how != OPT_WORD || option_word_at(row, 0, &n));
	if (!row->hidden && strlen(row->help) > OPTION_HELP_MAX) {
		printf("  %s --%s (%s): %zu bytes of help\n", command->name, row->name, title,
		       strlen(row->help));
		CU_FAIL("the help of an option fits one line");
	}
}

UNIT_TEST(option_tables)
{
	for (const struct command *command = all_commands; command->name; ++command) {
		CU_ASSERT(command->options->count <= OPTION_ROWS_MAX);
		for (size_t i = 0; i < command->options->count; ++i)
			check_row(command, &command->options->rows[i]);
	}
}

UNIT_TEST(options_parse)
{
	struct options o;
	CU_ASSERT_EQUAL(parse(&o, "-J -l -o TARGET /mnt"), 0);
	CU_ASSERT(o.form == FORM_JSON && o.list && !o.tree);
	CU_ASSERT_STRING_EQUAL(o.output, "TARGET");
	CU_ASSERT_EQUAL(o.pick.noperands, 1);
	CU_ASSERT_STRING_EQUAL(o.pick.operands[0], "/mnt");
	CU_ASSERT_EQUAL(parse(&o, "-rno ID --names=walk --algorithm getmnt1"), 0);
	CU_ASSERT(o.form == FORM_RAW && o.noheadings && o.in.names == DN_WALK);
	CU_ASSERT_EQUAL(o.in.algorithm, DA_GETMNT1);
	CU_ASSERT_EQUAL(parse(&o, "-k"), 0);
	CU_ASSERT_EQUAL(o.in.source, TABLE_MOUNTINFO);
	CU_ASSERT_EQUAL(parse(&o, "-kl"), 0);
	CU_ASSERT(o.in.source == TABLE_MOUNTINFO && o.list);
	CU_ASSERT_EQUAL(parse(&o, "--kernel=listmount"), 0);
	CU_ASSERT_EQUAL(o.in.source, TABLE_LISTMOUNT);
	CU_ASSERT_EQUAL(parse(&o, "--search-limit 17,0.5"), 0);
	CU_ASSERT(o.in.max_dirs == 17 && o.in.search_seconds == 0.5);
	CU_ASSERT_EQUAL(parse(&o, "--prune=-leaf,+nlink"), 0);
	CU_ASSERT(o.in.prune_off == 1u << DR_LEAF && o.in.prune_on == 1u << DR_NLINK);
	CU_ASSERT_EQUAL(parse(&o, "--format=tree -J"), 0);
	CU_ASSERT(o.form == FORM_JSON && o.tree);
	CU_ASSERT_EQUAL(parse(&o, "-- fstab"), 0);
	CU_ASSERT_EQUAL(o.pick.noperands, 1);
}

UNIT_TEST(options_poll)
{
	enum { USUAL = CHANGE_MOUNT | CHANGE_UMOUNT | CHANGE_REMOUNT | CHANGE_MOVE };
	static const struct {
		const char *line;
		unsigned kinds;       /* 0: no --poll */
		int wait;
		double timeout;
		int noperands;
	} rows[] = {
		{"-l", 0, -1, 5, 0}, {"-p", USUAL, -1, 5, 0}, {"--poll", USUAL, -1, 5, 0},
		{"-pumount,move", CHANGE_UMOUNT | CHANGE_MOVE, -1, 5, 0},
		{"--poll=remount", CHANGE_REMOUNT, -1, 5, 0},
		{"--poll=+propagation", USUAL | CHANGE_PROPAGATION, -1, 5, 0},
		/* As in findmnt a word by itself is an operand. */
		{"-p mount", USUAL, -1, 5, 1},
		/* The same number is milliseconds with --poll, wherever that stands. */
		{"--probe --timeout=500", 0, -1, 500, 0}, {"--timeout=500 -p", USUAL, 500, 5, 0},
		{"-p -w 3600000", USUAL, 3600000, 5, 0}, {"-w0 -p", USUAL, 0, 5, 0},
		{"-p -w -7", USUAL, -1, 5, 0},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct options o;
		unit_note("%s", rows[i].line);
		CU_ASSERT_EQUAL(parse(&o, rows[i].line), 0);
		CU_ASSERT(o.poll == (rows[i].kinds != 0) && o.poll_kinds == rows[i].kinds);
		CU_ASSERT(o.wait == rows[i].wait && o.in.timeout == rows[i].timeout);
		CU_ASSERT_EQUAL(o.pick.noperands, rows[i].noperands);
	}
}

/** Options that the cases of usage errors do not have. */
UNIT_TEST(options_refused)
{
	static const char *const bad[] = {
		"-Z", "-J -r", "-P -l", "-r -l", "-s -m", "-k -s", "-N 1 -s", "--real --pseudo",
		"-C -c", "-C -e", "--format=list --tree", "--format=dot -J", "--depth=",
		"--max-time=0", "--max-time=inf", "--max-time=1e9",
		"--probe --timeout=nan", "--timeout=5",
		"--search-limit=1,", "--prune=", "--uniq-id=18446744073709551616", "-F a -F b",
		"-S a b", "-p -w -", "-p -w ''", "-pumount,x", "--probe --timeout=2000000", "-w 5",
		"-p -w 5 --timeout=5", "--verbose", "--hyperlink", "--engine=uring",
	};
	for (size_t i = 0; i < COUNT(bad); ++i) {
		struct options o;
		unit_note("%s", bad[i]);
		CU_ASSERT_EQUAL(parse(&o, bad[i]), CX_ERROR);
	}
}

UNIT_TEST(column_size)
{
	static const struct {
		uint64_t bytes;
		const char *nearest, *up;
	} rows[] = {
		{0, "0", "0"}, {1, "1B", "1B"}, {1023, "1023B", "1023B"}, {1024, "1K", "1K"},
		{1025, "1K", "1.1K"}, {1536, "1.5K", "1.5K"}, {1537, "1.5K", "1.6K"},
		{1587, "1.5K", "1.6K"}, {1588, "1.6K", "1.6K"}, {2047, "2K", "2K"},
		{33116, "32.3K", "32.4K"}, {5 << 20, "5M", "5M"}, {(5 << 20) + 1, "5M", "5.1M"},
		{(uint64_t)3 << 60, "3E", "3E"}, {((uint64_t)3 << 60) + 1, "3E", "3.1E"},
		{UINT64_MAX, "16E", "16E"},
	};
	struct strbuf text = {0};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		strbuf_reset(&text);
		column_size(&text, rows[i].bytes);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&text), rows[i].nearest);
		strbuf_reset(&text);
		column_size_up(&text, rows[i].bytes);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&text), rows[i].up);
	}
	strbuf_destroy(&text);
}

UNIT_TEST(column_percent)
{
	static const struct {
		uint64_t total, left, available;
		const char *text;
	} rows[] = {
		/* What df 9.1 prints; tests/system/sizes.py compares others. */
		{0, 0, 0, "-"}, {100, 100, 100, "0%"}, {100, 99, 99, "1%"}, {1000, 999, 999, "1%"},
		{1000, 500, 500, "50%"}, {1000, 499, 499, "51%"}, {1000, 1, 1, "100%"},
		{100, 20, 0, "100%"}, {100, 30, 10, "88%"}, {100, 0, 0, "100%"},
		{100, 50, 200, "20%"},
		/* Fewer than no blocks available; more left than there are; unknown numbers. */
		{100, 10, -(uint64_t)10, "113%"}, {100, 10, -(uint64_t)90, "-"},
		{100, 101, 101, "-"},
		{100, UINT64_MAX, 5, "-"}, {100, 10, UINT64_MAX, "-"},
		{UINT64_MAX - 1, 1, 1, "100%"},
		{UINT64_MAX - 1, UINT64_MAX / 2, UINT64_MAX / 2, "50%"},
	};
	struct strbuf text = {0};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		strbuf_reset(&text);
		column_percent(&text, rows[i].total, rows[i].left, rows[i].available);
		unit_note("row %zu", i);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&text), rows[i].text);
	}
	strbuf_destroy(&text);
}

UNIT_TEST(column_table)
{
	size_t count = 0;
	for (const struct column *column = column_after(&discover_columns, NULL); column;
	     column = column_after(&discover_columns, column)) {
		++count;
		CU_ASSERT_PTR_NOT_NULL(column->info.help);
		CU_ASSERT_PTR_NOT_NULL(column->cell);
		for (const char *c = column->info.name; *c; ++c)
			CU_ASSERT(isupper((unsigned char)*c) || strchr("-:%.", *c));
	}
	/* Each name is there once. */
	CU_ASSERT_EQUAL(count, discover_columns.count + mount_columns.count);
}

UNIT_TEST(columns_choose)
{
	struct columns columns;
	struct options o = {0};
	CU_ASSERT_EQUAL(columns_choose(&columns, &o), 0);
	CU_ASSERT_EQUAL(columns.count, 5);
	CU_ASSERT(!columns.state_requested);
	o.output = "+id";
	CU_ASSERT_EQUAL(columns_choose(&columns, &o), 0);
	CU_ASSERT_EQUAL(columns.count, 6);
	CU_ASSERT_STRING_EQUAL(columns.of[5]->name, "ID");
	o.output = "State,maj:MIN,state";
	CU_ASSERT_EQUAL(columns_choose(&columns, &o), 0);
	CU_ASSERT(columns.count == 3 && columns.state_requested);
	CU_ASSERT(columns_fields(&columns) & MF_DEV);
	o.form = FORM_JSON;
	CU_ASSERT_EQUAL(columns_choose(&columns, &o), 0);
	CU_ASSERT_EQUAL(columns.count, 2);
}

/** The fields that a command line asks for. */
static unsigned fields_of(const char *line)
{
	struct options o;
	struct columns columns;
	CU_ASSERT_EQUAL_FATAL(parse(&o, line), 0);
	CU_ASSERT_EQUAL_FATAL(columns_choose(&columns, &o), 0);
	return listing_fields(&o, &columns);
}

UNIT_TEST(fields)
{
	const unsigned base = MF_IDS | MF_POINT | MF_ROOT, opts = MF_VFS_OPTS | MF_FS_OPTS;
	const struct {
		const char *line;
		unsigned fields;
	} rows[] = {
		{"--names=kernel -o ID", base},
		{"--names=kernel -o ID,STATE,COVERED-BY,NODE", base},
		{"--names=kernel -o FSTYPE", base | MF_FSTYPE},
		{"--names=kernel -o UUID", base | MF_DEV | MF_SOURCE},
		{"--names=kernel -o ID -t ext4", base | MF_FSTYPE},
		{"--names=kernel -o ID -O ro", base | opts},
		{"--names=kernel -o ID --identity=dev", base | MF_DEV},
		{"--names=kernel -o ID -T /", base | MF_FSTYPE},
		{"--names=kernel -o ID --root=/", base | MF_FSTYPE},
		{"--names=kernel -o ID /", base | MF_FSTYPE | MF_SOURCE | MF_DEV},
		{"--names=kernel -o ID --format=jsonl", base},
		{"--names=kernel -o ID -J", base | MF_SOURCE | MF_FSTYPE},
		{"--names=kernel -o ID --format=mtab", base | opts | MF_SOURCE | MF_FSTYPE},
		{"--names=kernel -o ID --format=setmnt", base | MF_SOURCE},
		{"-o ID", DISCOVER_FIELDS}, {"--names=pure -o ID", DISCOVER_FIELDS},
		{"-o ID --format=fstab", DISCOVER_FIELDS | MF_SOURCE | opts},
		{"-J", DISCOVER_FIELDS | MF_SOURCE | opts},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].line);
		CU_ASSERT_EQUAL(fields_of(rows[i].line), rows[i].fields);
	}
	CU_ASSERT_FALSE(fields_of("-o ID -J") & MF_VFS_OPTS);
	CU_ASSERT_FALSE(fields_of("-o ID --format=jsonl") & MF_VFS_OPTS);
}

/** An abbreviated option is what getopt_long(3) takes it for. */
UNIT_TEST(option_find)
{
	static const struct option_row rows[] = {{"only", 0, "X", ""},
	                                         {"output", 0, "X", ""},
	                                         {"json", 'J', NULL, ""},
	                                         {"jsonl", 0, NULL, ""}};
	static const struct option_table table = {"some", rows, COUNT(rows)};
	static const struct {
		const char *arg, *name, *value;
	} args[] = {
		{"--only", "only", NULL}, {"--on=a=b", "only", "a=b"}, {"--output=", "output", ""},
		{"--o", NULL, NULL},      {"--o=x", NULL, NULL},       {"--json", "json", NULL},
		{"--jso", NULL, NULL},    {"--jsonl", "jsonl", NULL},  {"--jsonlx", NULL, NULL},
		{"--", NULL, NULL},       {"-J", NULL, NULL},          {"only", NULL, NULL},
		{"", NULL, NULL},
	};
	for (size_t i = 0; i < COUNT(args); ++i) {
		const char *value = NULL;
		size_t count;
		const struct option_row *row = option_find(&table, args[i].arg, &value, &count);
		CU_ASSERT_EQUAL(!row, !args[i].name);
		if (!row || !args[i].name)
			continue;
		CU_ASSERT_STRING_EQUAL(row->name, args[i].name);
		CU_ASSERT(args[i].value ? value && strcmp(value, args[i].value) == 0 : !value);
	}
}

/** One document in each layout; what is not valid UTF-8 has a pair. */
UNIT_TEST(json)
{
	static const char *const expected[] = {
	        [JSON_INLINE] = "{\"a\": [1, -2, 1.50, true, null], \"b\": \"x\\\\xff\", "
		                "\"b-b64\": \"eP8=\", \"c\": {}, \"d\": 7}", [JSON_LINES] =
	                "{\n   \"a\": [1, -2, 1.50, true, null],\n   \"b\": \"x\\\\xff\",\n   "
	                "\"b-b64\": \"eP8=\",\n   \"c\": {},\n   \"d\": 7\n}\n",
	        [JSON_TIGHT] = "{\"a\":[1, -2, 1.50, true, "
		               "null],\"b\":\"x\\\\xff\",\"b-b64\":\"eP8=\",\"c\":{},\"d\":7}",
	};
	for (enum json_layout layout = JSON_INLINE; layout <= JSON_TIGHT; ++layout) {
		struct strbuf out = {0};
		struct json json = {.out = &out};
		json_put_object(&json, NULL, layout);
		json_put_array(&json, "A", JSON_INLINE);
		json_put_number(&json, NULL, 1);
		json_put_integer(&json, NULL, -2);
		json_put_real(&json, NULL, 1.5, 2);
		json_put_bool(&json, NULL, true);
		json_put_string(&json, NULL, NULL);
		json_end(&json);
		json_put_text(&json, "b", "x\xff");
		json_put_object(&json, "c", JSON_LINES);
		json_end(&json);
		json_put_literal(&json, "d", "7");
		json_end(&json);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), expected[layout]);
		strbuf_destroy(&out);
	}
}

/** "options TEXT", "source TEXT" or "line TEXT", and what is printed of it. */
static void check_masked(const char *row, const char *masked)
{
	const char *secret = strchr(row, ' ') ? strchr(row, ' ') + 1 : "";
	STRBUF(out);
	bool any;
	if (*row == 'l') {
		any = mask_line(secret, strlen(secret), &out);
	} else {
		(*row == 'o' ? mask_options : mask_source)(secret, &out);
		any = *row == 'o' ? has_secret(secret) : source_has_secret(secret);
	}
	unit_expect(strbuf_str(&out), masked);
	CU_ASSERT_EQUAL(any, strstr(masked, "***") && (*row != 'l' || strcmp(secret, masked) != 0));
}

UNIT_TEST(secrets)
{
	CU_ASSERT(unit_each_row("tests/fixtures/secrets", check_masked) > 60);
}

UNIT_TEST(paths)
{
	static const char *const cases[][2] = {
		{"/", "/"},           {"//", "/"},       {"/a/", "/a"},   {"/a//b", "/a/b"},
		{"/a/./b/.", "/a/b"}, {"/a/../b", "/b"}, {"/../..", "/"}, {"/a/b/../../..", "/"},
		{"a/b/", "a/b"},      {"", "."},         {"./a", "a"},    {"/...", "/..."},
	};
	STRBUF(out);
	for (size_t i = 0; i < COUNT(cases); ++i) {
		path_normal(cases[i][0], &out);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), cases[i][1]);
	}
}

/* Rows and filters, on a table in memory. */

static const char commands_text[] =
	"1 0 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
	"2 1 0:20 / /proc rw,nosuid - proc proc rw\n"
	"3 1 0:21 / /mnt rw - tmpfs one rw\n"
	"4 3 0:22 / /mnt rw - tmpfs two rw\n"
	"5 4 0:23 / /mnt ro - xfs /dev/sdb rw\n"
	"6 5 0:24 /sub /mnt/in rw - tmpfs one rw\n"
	"7 1 8:1 /home /srv ro,relatime - ext4 /dev/sda1 rw\n";

struct fixture {
	struct options options;
	struct columns columns;
	struct listing list;
	struct picks picks;
	struct view view;
};

/** Pick and make rows under options; the IDs of the rows as "1 5(3 4) ...",
    a child's behind its parent's and '/'. */
static const char *rows_of(struct fixture *f, bool tree)
{
	static char text[400];
	STRBUF(out);
	text[0] = '\0';
	f->picks = (struct picks){0};
	CU_ASSERT_EQUAL_FATAL(filter_pick(&f->list, &f->picks), 0);
	CU_ASSERT_EQUAL_FATAL(view_build(&f->list, &f->picks, tree, false, &f->view), 0);
	for (size_t i = 0; i < f->view.count; ++i) {
		const struct row *row = &f->view.rows[i];
		strbuf_printf(&out, "%s", i ? " " : "");
		if (row->parent != MT_NONE)
			strbuf_printf(&out, "%u/", f->view.rows[row->parent].mount->id);
		strbuf_printf(&out, "%u", row->mount->id);
		for (uint32_t k = 0; k < row->nbeneath; ++k)
			strbuf_printf(&out, "%c%u%s", k ? ' ' : '(',
			              run_mount(&f->list.run,
			                        f->view.beneath[row->beneath + k])->id,
			              k + 1 == row->nbeneath ? ")" : "");
	}
	snprintf(text, sizeof(text), "%s", strbuf_str(&out));
	view_destroy(&f->view);
	picks_destroy(&f->picks);
	return text;
}

static void fixture_of(struct fixture *f, const char *text)
{
	*f = (struct fixture){0};
	f->options.in.names = DN_KERNEL;
	f->options.quiet = true;
	listing_init(&f->list, &f->options, &f->columns);
	f->list.run.os.statx_works = true;
	f->list.run.d = unit_discover(text);
	f->list.run.table = (struct mount_table *)(uintptr_t)f->list.run.d->table;
}

static void fixture_close(struct fixture *f)
{
	mounts_paths_destroy(&f->list.run.paths);
	unit_discovery_free(f->list.run.d);
}

/** The rows of each selection, by the options of a command line; in a tree after their parents. */
UNIT_TEST(rows)
{
	static const struct {
		const char *line;
		bool tree;
		const char *expected;
	} rows[] = {
		{"", false, "1 2 3 4 5 6 7"}, {"", true, "1 1/2 1/5(3 4) 5/6 1/7"},
		{"--stacks=nest", true, "1 1/2 1/3 3/4 4/5 5/6 1/7"},
		{"-t tmpfs,proc", true, "2 4(3) 4/6"}, {"-U", true, "1 1/2 1/5 5/6 1/7"},
		{"-t noext4,tmpfs", false, "2 5"}, {"-O ro", false, "5 7"},
		{"-O noro,relatime", false, "1"}, {"-S one", false, "3 6"},
		{"-S 8:1", false, "1 7"}, {"-i -S 8:1", false, "2 3 4 5 6"},
		{"--direction=backward -S 8:1", false, "7 1"}, {"-f -S 8:1", false, "1"},
		{"-M /mnt/", false, "5"}, {"-R -M /mnt/", true, "5 5/6"},
		{"-T /mnt/in/deep/file", false, "6"}, {"-T /etc/passwd", false, "1"},
		{"--shadowed", false, "3 4"}, {"--real", false, "1 5 7"},
		{"-D", false, "1 3 4 5 6 7"}, {"--id=4", false, "4"}, {"one", false, "3 6"},
		{"/mnt/in", false, "6"}, {"none", false, ""},
		/* SOURCE TARGET, unless the first is a mount point. */
		{"one /mnt/in", false, "6"}, {"/ /mnt/in", false, "1 6"},
	};
	struct fixture f;
	fixture_of(&f, commands_text);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].line);
		CU_ASSERT_EQUAL(parse(&f.options, rows[i].line), 0);
		f.options.in.names = DN_KERNEL;
		f.options.quiet = true;
		CU_ASSERT_STRING_EQUAL(rows_of(&f, rows[i].tree), rows[i].expected);
	}
	fixture_close(&f);
}

/** In a recorded table, or under another root, no path can be told. */
UNIT_TEST(path_judge)
{
	struct fixture f;
	STRBUF(out);
	fixture_of(&f, commands_text);
	CU_ASSERT_TRUE(mounts_path_block(run_paths(&f.list.run), "/srv/img"));
	fixture_close(&f);
	fixture_of(&f, commands_text);
	f.list.run.live = true;
	char elsewhere[] = "/srv";
	f.list.run.prefix = elsewhere;
	CU_ASSERT_TRUE(mounts_path_block(run_paths(&f.list.run), "/"));
	/* Nor is one followed in the wrong root. */
	CU_ASSERT_EQUAL(mounts_follow(run_paths(&f.list.run), "/proc/self/exe", &out),
	                PATH_UNTOUCHED);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), "/proc/self/exe");
	fixture_close(&f);
}

/** Append a random path of a few names. */
static void add_path(struct strbuf *out, unsigned *state)
{
	static const char *const names[] = {"a", "b", "ab", "c", "a", "x-y"};
	for (unsigned depth = *state % 5; depth > 0; --depth) {
		*state = *state * 1103515245 + 12345;
		strbuf_printf(out, "/%s", names[*state / 65536 % COUNT(names)]);
	}
	*state = *state * 1103515245 + 12345;
	*state ^= *state >> 16;
	if (!out->len || out->data[out->len - 1] == '\t')
		strbuf_putc(out, '/');
}

/** The mount that holds a path, by a look at each. */
static uint32_t holding(const struct run *run, const char *path)
{
	uint32_t best = MT_NONE;
	size_t longest = 0;
	for (uint32_t i = 0; i < run_count(run); ++i) {
		const char *name = run_name(run, i);
		bool hidden = run->d->tree.nodes[i].states & 1u << MT_HIDDEN;
		if (!hidden && name && strlen(name) >= longest && word_below(path, name)) {
			best = i;
			longest = strlen(name);
		}
	}
	return best;
}

/** A path is in the mount that a look at each finds: with a root, and without one. */
UNIT_TEST(path_holding)
{
	unsigned state = 1, found = 0;
	for (unsigned turn = 0; turn < 40; ++turn) {
		STRBUF(text);
		STRBUF(path);
		struct fixture f;
		if (turn % 4)
			strbuf_puts(&text, "1 0 8:1 / / rw - ext4 /dev/a rw\n");
		for (unsigned id = 2; id < 30; ++id) {
			strbuf_printf(&text, "%u %u 0:%u / ", id, turn % 4 ? 1 : id, id);
			strbuf_reset(&path);
			add_path(&path, &state);
			strbuf_printf(&text, "%s rw - tmpfs t rw\n", strbuf_str(&path));
		}
		fixture_of(&f, strbuf_str(&text));
		enum { PATHS = 200 };
		for (unsigned i = 0; i < PATHS; ++i) {
			strbuf_reset(&path);
			add_path(&path, &state);
			if (i % 10 == 0)
				strbuf_puts(&path, i % 20 ? "/" : "//a");
			uint32_t expected = holding(&f.list.run, strbuf_str(&path));
			uint32_t got = mounts_holding(run_paths(&f.list.run), strbuf_str(&path));
			found += expected != MT_NONE && expected != 0;
			CU_ASSERT_EQUAL(got, expected);
			if (got != expected)
				printf("  %s: %u, not %u\n%s", strbuf_str(&path), got, expected,
				       strbuf_str(&text));
		}
		CU_ASSERT_EQUAL(mounts_holding(run_paths(&f.list.run), "a"), MT_NONE);
		fixture_close(&f);
	}
	CU_ASSERT(found > 1000);
}

UNIT_TEST(deep_tree)
{
	enum { DEEP = 2000 };
	STRBUF(text);
	strbuf_puts(&text, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	for (int i = 2; i <= DEEP; ++i)
		strbuf_printf(&text, "%d %d 0:%d / /m%d rw - tmpfs t rw\n", i, i - 1, i, i);
	struct fixture f;
	fixture_of(&f, strbuf_str(&text));

	for (int json = 0; json < 2; ++json) {
		f.options.form = json ? FORM_JSON : FORM_DEFAULT;
		CU_ASSERT_EQUAL_FATAL(filter_pick(&f.list, &f.picks), 0);
		CU_ASSERT_EQUAL_FATAL(view_build(&f.list, &f.picks, true, false, &f.view), 0);
		CU_ASSERT_EQUAL(f.view.count, DEEP);
		unsigned depths[DEEP] = {0}, deepest = 0;
		for (uint32_t i = 1; i < f.view.count; ++i) {
			CU_ASSERT_FATAL(f.view.rows[i].parent < i);
			depths[i] = depths[f.view.rows[i].parent] + 1;
			deepest = depths[i] > deepest ? depths[i] : deepest;
		}
		CU_ASSERT_EQUAL(deepest, json ? VIEW_DEPTH_JSON : VIEW_DEPTH);
		view_destroy(&f.view);
		picks_destroy(&f.picks);
	}
	fixture_close(&f);
}

/** A table of 100,000: 67,999 in 200 directories, one of which a mount covers, and
    32,000 on one path. */
UNIT_TEST(hundred_thousand)
{
	enum { ALL = 100000, STACK = 32000, DIRS = 200, WIDE = ALL - STACK - 2 };
	STRBUF(text);
	strbuf_puts(&text, "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n");
	uint32_t id = 1;
	for (uint32_t i = 0; i < WIDE; ++i) {
		++id;
		strbuf_printf(&text,
		        "%u 1 0:%u / /srv/d%u/m%u rw,nosuid shared:%u - tmpfs t rw,size=%uk\n", id,
		        id, i % DIRS, i * 7919 % WIDE, i, i);
	}
	strbuf_printf(&text, "%u 1 0:9 / /srv/d7 rw - tmpfs cover rw\n", ++id);
	for (uint32_t i = 0; i < STACK; ++i) {
		++id;
		strbuf_printf(&text, "%u %u 0:9 / /stack rw - tmpfs on rw\n", id, i ? id - 1 : 1);
	}
	CU_ASSERT_EQUAL(id, ALL);

	struct fixture f;
	fixture_of(&f, strbuf_str(&text));
	CU_ASSERT_EQUAL(f.list.run.table->count, ALL);
	CU_ASSERT_EQUAL(f.list.run.table->nproblems, 0);
	/* Of the directory that is covered every mount, and of the stack all but one. */
	CU_ASSERT_EQUAL(f.list.run.d->stats.states[MT_HIDDEN],
	                WIDE / DIRS + (7 < WIDE % DIRS) + STACK - 1);
	CU_ASSERT_EQUAL(f.list.run.d->stats.named[MT_NAMED_KERNEL], ALL);

	CU_ASSERT_EQUAL_FATAL(filter_pick(&f.list, &f.picks), 0);
	CU_ASSERT_EQUAL_FATAL(view_build(&f.list, &f.picks, true, false, &f.view), 0);
	CU_ASSERT_EQUAL(f.view.count, ALL - STACK + 1);
	uint32_t beneath = 0;
	for (uint32_t i = 0; i < f.view.count; ++i)
		beneath += f.view.rows[i].nbeneath;
	CU_ASSERT_EQUAL(beneath, STACK - 1);
	view_destroy(&f.view);
	CU_ASSERT_EQUAL_FATAL(view_build(&f.list, &f.picks, false, false, &f.view), 0);
	CU_ASSERT_EQUAL(f.view.count, ALL);
	view_destroy(&f.view);
	picks_destroy(&f.picks);
	fixture_close(&f);
}
