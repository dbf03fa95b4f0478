/* SPDX-License-Identifier: MIT */
/*
 * Any fstab, merged with what is mounted.  The input: two bytes of choices, the text
 * of a base up to a NUL, if they ask for one; the rest is the file.
 *
 * Unasked, the result is the file.  Whatever is asked for: no line is lost, all that
 * was not to be changed is there, byte for byte; with a line for each mount, each has
 * one, with a base too if the file was damaged since; merged again, nothing changes.
 * The kernel is not entered.
 */
#include "lib/fuzz.h"

#include "fstab/edit/merge.h"

#include <stdlib.h>
#include <string.h>

static const char table_text[] =
	"20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro\n"
	"22 20 8:3 / /home rw,nosuid,nodev,relatime - ext4 /dev/sda3 rw\n"
	"23 20 0:40 /@data /srv/data rw,noatime - btrfs /dev/sdc "
	       "rw,compress=zstd:3,subvolid=257,subvol=/@data\n"
	"24 20 0:50 / /tmp rw,relatime - tmpfs tmpfs rw,size=1048576k\n"
	"25 20 8:3 /joe /srv/joe rw,relatime - ext4 /dev/sda3 rw\n"
	"26 20 0:51 / /nas rw,relatime - nfs4 nas:/export rw,vers=4.2\n"
	"27 24 8:1 /t /tmp rw,relatime - ext4 /dev/sda1 rw\n"
	"28 20 0:52 / /o\\040v rw,relatime - overlay over rw,lowerdir=/home/a:/b\n";

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "r", .label = "root"},
	{.name = "/dev/sda3", .type = "ext4", .uuid = "h", .label = "my home"},
	{.name = "/dev/sdc", .type = "btrfs", .uuid = "p"},
};

static int device(void *arg, const struct mount *mount, const char *swap,
                  struct fstab_device *device)
{
	(void)swap;
	(void)arg;
	if (!mount)
		return 0;
	device->tags = mount->dev_minor == 1 ? &tags[0] : mount->dev_minor == 3 ? &tags[1]
	               : mount->dev_minor == 40 ? &tags[2] : NULL;
	return 0;
}

static int leads(void *arg, const char *path, const struct fstab_line *line)
{
	(void)arg;
	return (int)((strlen(path) + (line->target ? strlen(line->target) : 0)) % 3) - 1;
}

static enum fact_kind look(void *arg, const char *target, struct strbuf *path)
{
	(void)arg;
	if (path)
		strbuf_puts(path, strlen(target) % 5 ? "/nowhere" : "/home");
	return (enum fact_kind)(strlen(target) % 3);
}

/** Whether a line is kept by a comment. */
static bool keeps(const struct tabline *comment, const struct tabline *line)
{
	struct strbuf plain;
	strbuf_init(&plain);
	bool nul = memchr(line->bytes, '\0', line->n);
	for (size_t i = 0; i < line->n; ++i) {
		if (nul && (line->bytes[i] == '\0' || line->bytes[i] == '\\'))
			strbuf_puts(&plain, line->bytes[i] ? "\\134" : "\\000");
		else
			strbuf_putc(&plain, line->bytes[i]);
	}
	bool kept = comment->n > plain.len + 10 && memcmp(comment->bytes, "# getmnt: ", 10) == 0
	            && memcmp(comment->bytes + comment->n - plain.len, strbuf_str(&plain),
	                      plain.len) == 0;
	strbuf_destroy(&plain);
	return kept;
}

/** Every line of the file is in the result, in its order: as it was, or kept by a comment. */
static void check_lines(const struct fstab_file *old, const struct fstab_file *new)
{
	size_t at = 0;
	for (size_t i = 0; i < old->count; ++i) {
		const struct tabline *line = &old->lines->lines[i];
		for (bool found = false; !found; ++at) {
			FUZZ_CHECK(at < new->count);
			const struct tabline *now = &new->lines->lines[at];
			found = now->n == line->n && memcmp(now->bytes, line->bytes, line->n) == 0;
			found |= line->kind >= TABLINE_ENTRY && keeps(now, line);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	unsigned choices = fuzz_byte(&in) | (unsigned)fuzz_byte(&in) << 8;
	size_t n, k = 0;
	const char *base = choices & 256 ? fuzz_until(&in, '\0', &k) : NULL;
	const char *text = fuzz_bytes(&in, size, &n);
	struct fstab_swap swap = {"/dev/sda5", false, false, 5};
	struct fstab_input input = {
		.d = fuzz_discover(table_text, sizeof(table_text) - 1), .root = "/",
		.swaps = &swap, .nswaps = 1,
		.id = FSTAB_PATH, .options = choices & 512 ? FSTAB_LIVE : FSTAB_MINIMAL,
		.facts = {.device = device, .leads = leads,
		          .look = choices & 1024 ? look : NULL},
	};
	struct fstab_plan plan;
	FUZZ_CHECK(fstab_plan(&input, &plan) == 0);
	struct fstab_file *file = fstab_parse(text, n);
	struct fstab_file *loaded = base ? fstab_parse(base, k) : NULL;
	FUZZ_CHECK(file);
	const char *names[] = {"/srv/data", "/nowhere"};
	struct fstab_merge_input merge = {
		.match = {file, &plan, "/", &input.facts}, .base = loaded,
	};
	struct fstab_merged out, again;

	FUZZ_CHECK(fstab_merge(&merge, &out) == 0);
	FUZZ_CHECK(out.len == n && memcmp(out.text, text, n) == 0);
	fstab_merged_destroy(&out);

	merge.fix = choices & 31;
	merge.persistent = choices & 32;
	merge.keep = choices & 64;
	merge.add = names;
	merge.nadd = choices & 128 ? 2 : 0;
	FUZZ_CHECK(fstab_merge(&merge, &out) == 0);
	FUZZ_CHECK(out.reproduced <= out.mounts && out.mounts > 0);
	bool hurt = false, known = false;
	for (size_t i = 0; i < file->count; ++i)
		hurt |= file->lines->lines[i].kind == TABLINE_DAMAGED;
	for (size_t i = 0; loaded && i < loaded->count; ++i)
		known |= loaded->lines->lines[i].kind == TABLINE_DAMAGED;
	FUZZ_CHECK(!merge.persistent || (loaded && (!hurt || known))
	           || out.reproduced == out.mounts);
	struct fstab_file *new = fstab_parse(out.text, out.len);
	FUZZ_CHECK(new);
	if (!(merge.fix & ~(unsigned)FSTAB_FIX_DAMAGED))
		check_lines(file, new);
	FUZZ_CHECK(new->count >= file->count);
	for (size_t i = 0; i < new->count; ++i)
		FUZZ_CHECK(!(merge.persistent || merge.fix & FSTAB_FIX_DAMAGED)
		           || new->lines->lines[i].kind != TABLINE_DAMAGED);
	merge.match.file = new;
	FUZZ_CHECK(fstab_merge(&merge, &again) == 0);
	FUZZ_CHECK(again.len == out.len && memcmp(again.text, out.text, out.len) == 0);
	fstab_merged_destroy(&again);
	fstab_merged_destroy(&out);
	fstab_file_free(new);
	fstab_file_free(file);
	fstab_file_free(loaded);
	fstab_plan_destroy(&plan);
	fuzz_discovery_free(input.d);
	return 0;
}
