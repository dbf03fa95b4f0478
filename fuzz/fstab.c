/* SPDX-License-Identifier: MIT */
/*
 * From any table to an fstab.  The input: a byte of choices, ROOT on a line, lines
 * of /proc/swaps up to an empty one, utab up to an empty line; the rest is a
 * mountinfo.
 *
 * Every mount below ROOT and every swap space ends as one line, comment or what is
 * left out; lines have all fields, no target twice, and stand behind that of the
 * mount that they stand on; as written they are one line each and read the same.
 * The kernel is not entered.
 */
#include "lib/fuzz.h"

#include "base/escape.h"
#include "base/words.h"
#include "fstab/fstab.h"

#include <stdlib.h>
#include <string.h>

static struct devmap_tags tags = {.name = "/dev/x", .type = "ext4", .uuid = "u", .label = "#l \n",
                                  .partuuid = "p"};

static int device(void *arg, const struct mount *mount, const char *swap,
                  struct fstab_device *device)
{
	(void)swap;
	(void)arg;
	if (!mount)
		return 0;
	if (mount->dev_major % 3)
		device->tags = &tags;
	device->remote = mount->dev_minor % 2;
	if (mount->dev_major == 7)
		device->loop = (struct devmap_loop){mount->source, mount->dev_minor, 0,
		                                    mount->dev_minor == 5};
	return 0;
}

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg, (void)device;
	return *source == 'U' ? 2 : 1;
}

static int answer(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	if (question == FSTAB_UNIT)
		return (int)(strlen(name) % 3);
	return strncmp(name, "fsck.e", 6) == 0;
}

/** A line as it is written: one line, that is no comment, and reads the same. */
static void check_field(const char *text, bool first)
{
	struct strbuf out;
	FUZZ_CHECK(text && *text);
	strbuf_init(&out);
	if (first)
		escape_first_field(&out, text, ESCAPE_PATH, false);
	else
		escape_octal(&out, text, ESCAPE_PATH, false);
	FUZZ_CHECK(!strpbrk(out.data, " \t\n") && !(first && *out.data == '#'));
	size_t n = unescape_octal(out.data, out.data, out.len);
	FUZZ_CHECK(n == strlen(text) && memcmp(out.data, text, n) == 0);
	strbuf_destroy(&out);
}

static void check_plan(const struct fstab_input *in, const struct fstab_plan *plan)
{
	size_t own = 0, swaps = 0;
	for (uint32_t i = 0; i < in->d->tree.count; ++i) {
		const struct mt_node *node = &in->d->tree.nodes[i];
		const char *name = in->d->targets[i];
		if (!node->made && !(node->states & 1u << MT_OUTSIDE)
		    && (name ? !!word_below(name, in->root) : strcmp(in->root, "/") == 0))
			++own;
	}
	bool *there = calloc(in->d->tree.count + 1, sizeof(*there));
	FUZZ_CHECK(there);
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		swaps += !line->mount;
		if (line->fate != FSTAB_LINE) {
			FUZZ_CHECK(line->why && (line->mount || line->source));
			continue;
		}
		check_field(line->source, true);
		check_field(line->target, false);
		check_field(line->fstype, false);
		check_field(line->options, false);
		FUZZ_CHECK(line->passno >= 0 && line->passno <= 2);
		if (!line->mount)
			continue;
		uint32_t node = (uint32_t)(line->mount - in->d->tree.nodes[0].mount);
		FUZZ_CHECK(line->mount == in->d->tree.nodes[node].mount && !there[node]);
		there[node] = true;
		for (size_t k = 0; k < i && plan->count < 200; ++k) {
			const struct fstab_line *before = &plan->lines[k];
			bool same = before->fate == FSTAB_LINE && before->mount
			            && strcmp(before->target, line->target) == 0;
			FUZZ_CHECK(!same);
		}
		/* What it stands on, if that has a line at all, came before. */
		uint32_t parent = in->d->tree.nodes[node].parent;
		for (size_t k = i + 1; parent != MT_NONE && k < plan->count
		     && plan->count < 200; ++k)
			FUZZ_CHECK(plan->lines[k].fate != FSTAB_LINE
			           || plan->lines[k].mount != in->d->tree.nodes[parent].mount);
	}
	free(there);
	FUZZ_CHECK(swaps == in->nswaps && plan->count == own + swaps);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	size_t n;
	unsigned choices = fuzz_byte(&in);
	const char *at = fuzz_until(&in, '\n', &n);
	char *root = n && *at == '/' ? fuzz_string(at, n) : fuzz_string("/", 1);
	/* As path_normal() makes it. */
	for (char *c = root; *c; ++c) {
		if ((c[0] == '/' && (c[1] == '/' || c[1] == '.'))
		    || (c != root && c[0] == '/' && !c[1]))
			c[c == root] = '\0';
	}
	struct strbuf parts[2];
	for (int i = 0; i < 2; ++i) {
		strbuf_init(&parts[i]);
		strbuf_puts(&parts[i], i ? "" : "Filename\n");
		while ((at = fuzz_until(&in, '\n', &n)) && n) {
			strbuf_add(&parts[i], at, strnlen(at, n));
			strbuf_putc(&parts[i], '\n');
		}
		strbuf_add(&parts[i], "", 0);
	}
	struct host_swaps swaps;
	FUZZ_CHECK(host_swaps_parse(strbuf_str(&parts[0]), &swaps) == 0);
	struct host_utab utab;
	FUZZ_CHECK(host_parse_utab(fuzz_string(parts[1].data, parts[1].len), &utab) == 0);
	for (size_t i = 0; i < utab.count; ++i)
		FUZZ_CHECK(utab.entries[i].target && utab.entries[i].options);
	at = fuzz_bytes(&in, size, &n);
	struct fstab_input input = {
		.d = fuzz_discover(at, n), .root = root, .swaps = swaps.list,
		     .nswaps = swaps.count,
		.id = choices % (FSTAB_PATH + 1),
		      .options = choices & 8 ? FSTAB_LIVE : FSTAB_MINIMAL,
		.nofail = choices & 16, .all = choices & 32,
		          .no_pseudo = choices & 64,
		.filter = choices & 128 ? "/a" : NULL,
		.facts = {.utab = &utab, .device = device, .devices = devices, .answer = answer},
	};
	if (input.d->table->count) {
		struct fstab_plan plan;
		FUZZ_CHECK(fstab_plan(&input, &plan) == 0);
		check_plan(&input, &plan);
		fstab_plan_destroy(&plan);
	}
	fuzz_discovery_free(input.d);
	host_utab_destroy(&utab);
	host_swaps_destroy(&swaps);
	strbuf_destroy(&parts[0]);
	strbuf_destroy(&parts[1]);
	free(root);
	return 0;
}
