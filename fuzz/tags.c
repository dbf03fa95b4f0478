/* SPDX-License-Identifier: MIT */
/*
 * Identifiers as text: a file of the udev database, and libblkid's cache.
 *
 * The input: a letter, then for "u" a file of the udev database, for "b" a
 * blkid.tab; for any other, values, one on a line.
 *
 * What was read, or is given as a value, can be written in both forms, and
 * reads the same.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "devmap/devmap_impl.h"

#include <blkid/blkid.h>
#include <stdlib.h>
#include <string.h>

enum { VALUES = 5 };

/** A map over a blkid.tab of some text; nothing else is there. */
static struct devmap *map_with(struct os *os, struct fuzz_kernel *kernel, struct fuzz_file *file,
                               const char *text, size_t len)
{
	*file = (struct fuzz_file){
		.path = "/run/blkid/blkid.tab", .kind = FK_FILE, .bytes = text, .len = len,
	};
	*kernel = (struct fuzz_kernel){.files = file, .nfiles = 1};
	fuzz_kernel_set(kernel);
	fuzz_os(os);
	static const struct devmap_roots roots = {"/sys", "/run", "/dev", NULL};
	struct devmap *map = devmap_new(os, &roots);
	FUZZ_CHECK(map);
	return map;
}

static void check_value(const char *value)
{
	FUZZ_CHECK(!value || (*value && strlen(value) <= DEVMAP_TAG_MAX));
}

static void check_tags(const struct devmap_tags *tags)
{
	check_value(tags->type);
	check_value(tags->uuid);
	check_value(tags->label);
	check_value(tags->partuuid);
	check_value(tags->partlabel);
}

/** Append a line of the udev database, as blkid writes it. */
static void write_udev(struct strbuf *out, const char *key, const char *value)
{
	char encoded[4 * DEVMAP_TAG_MAX + 8];
	if (!value)
		return;
	FUZZ_CHECK(blkid_encode_string(value, encoded, sizeof(encoded)) == 0);
	strbuf_printf(out, "E:%s=%s\n", key, encoded);
}

/** Append an attribute of a blkid.tab. */
static void write_blkid(struct strbuf *out, const char *name, const char *value, bool hex)
{
	if (!value)
		return;
	strbuf_printf(out, " %s=\"", name);
	for (; *value; ++value) {
		bool special = *value == '"' || *value == '\\';
		if (*value == '\n' || (hex && special))
			strbuf_printf(out, "\\x%02x", (unsigned char)*value);
		else
			strbuf_printf(out, "%s%c", special ? "\\" : "", *value);
	}
	strbuf_putc(out, '"');
}

static void check_same(const struct devmap_tags *got, const struct devmap_tags *want)
{
	FUZZ_SAME(got->uuid, want->uuid);
	FUZZ_SAME(got->label, want->label);
	FUZZ_SAME(got->partuuid, want->partuuid);
	FUZZ_SAME(got->partlabel, want->partlabel);
}

/** Write tags in both forms, and read them. */
static void write_and_read(const struct devmap_tags *tags)
{
	struct strbuf udev, blkid;
	strbuf_init(&udev);
	strbuf_init(&blkid);
	write_udev(&udev, "ID_FS_UUID_ENC", tags->uuid);
	write_udev(&udev, "ID_FS_LABEL_ENC", tags->label);
	write_udev(&udev, "ID_PART_ENTRY_UUID", tags->partuuid);
	write_udev(&udev, "ID_PART_ENTRY_NAME", tags->partlabel);
	for (int hex = 0; hex < 2; ++hex) {
		strbuf_reset(&blkid);
		strbuf_puts(&blkid, "<device DEVNO=\"0x0801\" TIME=\"1.5\"");
		write_blkid(&blkid, "UUID", tags->uuid, hex);
		write_blkid(&blkid, "LABEL", tags->label, hex);
		write_blkid(&blkid, "PARTUUID", tags->partuuid, hex);
		write_blkid(&blkid, "PARTLABEL", tags->partlabel, hex);
		strbuf_puts(&blkid, " TYPE=\"ext4\">/dev/sda1</device>\n");

		struct os os;
		struct fuzz_kernel kernel;
		struct fuzz_file file;
		struct devmap *map = map_with(&os, &kernel, &file, strbuf_str(&blkid), blkid.len);
		struct devmap_tags again = {0};
		struct devmap_udev rest = {0};
		devmap_parse_udev(map, strbuf_str(&udev), udev.len, &again, &rest);
		check_same(&again, tags);
		FUZZ_CHECK(!rest.ambivalent && !rest.unsafe);
		again = (struct devmap_tags){0};
		const struct devmap_dev dev = {.major = 8, .minor = 1};
		FUZZ_CHECK(devmap_cached(map, &dev, &again));
		FUZZ_SAME(again.type, "ext4");
		FUZZ_SAME(again.usage, "filesystem");
		check_same(&again, tags);
		devmap_free(map);
		fuzz_kernel_set(NULL);
	}
	strbuf_destroy(&udev);
	strbuf_destroy(&blkid);
}

static void try_udev(const char *text, size_t len)
{
	struct os os;
	struct fuzz_kernel kernel;
	struct fuzz_file file;
	struct devmap *map = map_with(&os, &kernel, &file, "", 0);
	uint64_t calls = os_calls_total(&os);
	struct devmap_tags tags = {0};
	struct devmap_udev udev = {0};
	devmap_parse_udev(map, text, len, &tags, &udev);
	FUZZ_CHECK(os_calls_total(&os) == calls);
	check_tags(&tags);
	fuzz_kernel_set(NULL);
	write_and_read(&tags);
	devmap_free(map);
}

static void try_blkid(const char *text, size_t len)
{
	static const uint32_t numbers[][2] = {{8, 1}, {8, 2}, {252, 0}, {0, 0}, {4095, 1048575}};
	struct os os;
	struct fuzz_kernel kernel;
	struct fuzz_file file;
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
		struct devmap *map = map_with(&os, &kernel, &file, text, len);
		const struct devmap_dev dev = {.major = numbers[i][0], .minor = numbers[i][1]};
		struct devmap_tags tags = {0}, again = {0};
		bool found = devmap_cached(map, &dev, &tags);
		FUZZ_CHECK(found == (tags.type != NULL));
		check_tags(&tags);
		/* The file is read once. */
		uint64_t calls = os_calls_total(&os);
		FUZZ_CHECK(devmap_cached(map, &dev, &again) == found);
		FUZZ_CHECK(os_calls_total(&os) == calls);
		check_same(&again, &tags);
		fuzz_kernel_set(NULL);
		if (found)
			write_and_read(&tags);
		devmap_free(map);
	}
}

static void try_values(struct fuzz_input *in)
{
	char *values[VALUES];
	for (size_t i = 0; i < VALUES; ++i) {
		size_t n;
		const char *line = fuzz_until(in, '\n', &n);
		values[i] = fuzz_string(line, n < DEVMAP_TAG_MAX ? n : DEVMAP_TAG_MAX);
	}
	struct devmap_tags tags = {
		.uuid = *values[0] ? values[0] : NULL, .label = *values[1] ? values[1] : NULL,
		.partuuid = *values[2] ? values[2] : NULL,
		            .partlabel = *values[3] ? values[3] : NULL,
	};
	write_and_read(&tags);
	/* The word behind a type, whatever it is. */
	const char *usage = devmap_usage(values[4]);
	FUZZ_CHECK(!usage || *usage);
	for (size_t i = 0; i < VALUES; ++i)
		free(values[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t letter = fuzz_byte(&in);
	if (letter == 'u')
		try_udev(in.at, (size_t)(in.end - in.at));
	else if (letter == 'b')
		try_blkid(in.at, (size_t)(in.end - in.at));
	else
		try_values(&in);
	return 0;
}
