/* SPDX-License-Identifier: MIT */
/*
 * Any units as what systemd has loaded.  The input: two bytes of choices; texts of units,
 * each up to a NUL, as many as the second says; the rest is the fstab.
 *
 * A merge with them ends as one without, in a file of which no line is lost.  And with
 * the units that are made of the very fstab, nothing in it is held to be changed.  The
 * kernel is not entered.
 */
#include "lib/fuzz.h"

#include "fstab/edit/merge.h"

#include <stdlib.h>
#include <string.h>

static const char table_text[] =
	"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n"
	"22 20 8:3 / /home rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n"
	"24 20 0:50 / /tmp rw,relatime - tmpfs tmpfs rw,size=1048576k\n"
	"25 20 8:3 /joe /srv/joe rw,relatime - ext4 /dev/sda3 rw\n"
	"26 20 0:51 / /nas rw,relatime - nfs4 nas:/export rw,vers=4.2\n";

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "r", .label = "root"},
	{.name = "/dev/sda3", .type = "ext4", .uuid = "h", .label = "my home"},
};

static int device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	(void)arg;
	device->tags = mount->dev_minor == 1 ? &tags[0] : mount->dev_minor == 3 ? &tags[1] : NULL;
	return 0;
}

static int fsck(void *arg, const char *fstype)
{
	(void)arg;
	return strcmp(fstype, "ext4") == 0;
}

static void check_units(const struct units *units)
{
	for (size_t i = 0; i < units->count; ++i) {
		const struct units_line *line = &units->lines[i];
		FUZZ_CHECK(line->source && line->target && line->fstype && line->options);
		FUZZ_CHECK(line->swap ? strcmp(line->target, "none") == 0 && units->swaps : *line->target == '/');
		FUZZ_CHECK(!line->check || units->checks);
	}
}

/** Append "KEY=VALUE" of an entry, as the generator does: a specifier is escaped. */
static void put(struct strbuf *out, const char *key, const char *value, size_t n)
{
	strbuf_puts(out, key);
	for (size_t i = 0; i < n; ++i)
		strbuf_puts(out, value[i] == '%' ? "%%" : (char[]){value[i], '\0'});
	strbuf_putc(out, '\n');
}

/** Make the unit of an entry, without tags and escapes, unless its place has one. */
static void generate(struct units *units, const struct tabline *line)
{
	const char *target = tabline_value(line, TABLINE_TARGET), *fstype = tabline_value(line, TABLINE_FSTYPE);
	const struct tabline_field *options = &line->fields[TABLINE_OPTIONS];
	const char *source = tabline_value(line, TABLINE_SOURCE);
	bool swap = strcmp(fstype, "swap") == 0;
	struct strbuf text;
	if (!swap && *target != '/')
		return;
	for (size_t i = 0; i < units->count && !swap; ++i) {
		if (strcmp(units->lines[i].target, target) == 0)
			return;
	}
	strbuf_init(&text);
	strbuf_puts(&text, "[Unit]\nSourcePath=/etc/fstab\n");
	if (line->passno > 0 && strncmp(source, "/dev/", 5) == 0 && strcmp(fstype, "ext4") == 0 && strcmp(target, "/") != 0)
		strbuf_puts(&text, "Requires=systemd-fsck@x.service\n");
	strbuf_puts(&text, swap ? "[Swap]\n" : "[Mount]\n");
	put(&text, "What=", source, strlen(source));
	put(&text, "Where=", target, strlen(target));
	put(&text, "Type=", fstype, strlen(fstype));
	if (options->raw)
		put(&text, "Options=", options->raw, options->n);
	FUZZ_CHECK(units_add(units, swap ? "x.swap" : "x.mount", text.data, text.len, "/etc/fstab") >= 0);
	strbuf_destroy(&text);
}

/** Whether each place of a file is written in one way, and without escapes. */
static bool is_plain(const struct tablines *file)
{
	for (size_t i = 0; i < file->count; ++i) {
		const struct tabline *line = &file->lines[i];
		if (line->kind < TABLINE_ENTRY)
			continue;
		if (line->kind == TABLINE_DAMAGED || line->why || memchr(line->bytes, '\\', line->n) || memmem(line->bytes, line->n, "//", 2)
		    || memmem(line->bytes, line->n, "/.", 2)
		    || memmem(line->bytes, line->n, "/ ", 2) || memmem(line->bytes, line->n, "/\t", 2))
			return false;
	}
	return true;
}

/** What is told of a file beside what was loaded.  @return how much. */
static ssize_t check_stale(const struct fstab_merge_input *merge)
{
	struct fstab_stale *list;
	ssize_t n = fstab_stale(merge, &list);
	FUZZ_CHECK(n >= 0 && (size_t)n <= merge->file->count + merge->loaded->count);
	for (ssize_t i = 0; i < n; ++i) {
		FUZZ_CHECK(list[i].kind <= FSTAB_STALE_GONE && list[i].target);
		FUZZ_CHECK((list[i].line == NULL) == (list[i].kind == FSTAB_STALE_GONE));
		FUZZ_CHECK(!list[i].line || list[i].line->kind == TABLINE_ENTRY);
	}
	free(list);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	unsigned choices = fuzz_byte(&in), count = fuzz_byte(&in) % 16;
	struct units units, own;
	size_t n;
	units_init(&units);
	units_init(&own);
	for (unsigned i = 0; i < count; ++i) {
		const char *text = fuzz_until(&in, '\0', &n);
		int rc = units_add(&units, i % 4 == 3 ? "x.swap" : "x.mount", text, n, "/etc/fstab");
		FUZZ_CHECK(rc == 0 || rc == 1);
	}
	check_units(&units);
	const char *text = fuzz_bytes(&in, size, &n);
	struct mount_table *table = table_parse_mountinfo(table_text, sizeof(table_text) - 1);
	struct os os = {.statx_works = true};
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct fstab_swap swap = {"/dev/sda5", false, false, 5};
	struct fstab_input input = {.d = discover(&os, NULL, table, &opts), .root = "/", .swaps = &swap, .nswaps = 1,
	                            .id = FSTAB_PATH, .world = {.device = device, .fsck = fsck}};
	struct fstab_plan plan;
	FUZZ_CHECK(input.d && fstab_plan(&input, &plan) == 0);
	struct tablines *file = tablines_parse(text, n);
	FUZZ_CHECK(file);
	struct fstab_merge_input merge = {.file = file, .loaded = &units, .in = &input, .plan = &plan};
	struct fstab_merged out;

	FUZZ_CHECK(fstab_merge(&merge, &out) == 0);
	FUZZ_CHECK(out.len == n && memcmp(out.text, text, n) == 0);
	fstab_merged_destroy(&out);
	if (units.count)
		check_stale(&merge);
	merge.fix = choices & 31;
	merge.persistent = choices & 32;
	FUZZ_CHECK(fstab_merge(&merge, &out) == 0);
	FUZZ_CHECK(out.reproduced <= out.mounts);
	size_t edited = 0;
	for (size_t i = 0; i < out.nnotes; ++i) {
		edited += out.notes[i].edited;
		FUZZ_CHECK(!(out.notes[i].edited && out.notes[i].done));
	}
	FUZZ_CHECK(out.edited == edited);
	bool hurt = false;
	for (size_t i = 0; i < file->count; ++i)
		hurt |= file->lines[i].kind == TABLINE_DAMAGED;
	FUZZ_CHECK(!merge.persistent || !hurt || out.reproduced == out.mounts);
	fstab_merged_destroy(&out);

	for (size_t i = 0; is_plain(file) && i < file->count; ++i) {
		if (file->lines[i].kind == TABLINE_ENTRY)
			generate(&own, &file->lines[i]);
	}
	merge.loaded = own.count ? &own : NULL;
	FUZZ_CHECK(fstab_merge(&merge, &out) == 0);
	FUZZ_CHECK(out.edited == 0);
	fstab_merged_destroy(&out);
	FUZZ_CHECK(!merge.loaded || check_stale(&merge) == 0);
	units_destroy(&units);
	units_destroy(&own);
	tablines_free(file);
	fstab_plan_destroy(&plan);
	discovery_free((struct discovery *)(uintptr_t)input.d);
	table_free(table);
	return 0;
}
