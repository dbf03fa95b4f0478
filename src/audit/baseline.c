/* SPDX-License-Identifier: MIT */
/*
 * What there is, taken down: one entry for each mount and swap space that is somebody's
 * here, such that it is the same after a boot.  baseline_compare.c holds two of these
 * against each other.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/fstypes.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void audit_baseline_init(struct audit_baseline *baseline)
{
	*baseline = (struct audit_baseline){.version = "", .table = "", .root = "/"};
	arena_init(&baseline->arena);
}

void audit_baseline_destroy(struct audit_baseline *baseline)
{
	free(baseline->entries);
	free(baseline->findings);
	baseline->entries = NULL;
	baseline->findings = NULL;
	baseline->count = baseline->room = baseline->nfindings = baseline->findings_room = 0;
	arena_destroy(&baseline->arena);
}

struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline)
{
	if (baseline->count == baseline->room) {
		size_t room = baseline->room ? 2 * baseline->room : 64;
		struct audit_base_entry *more = reallocarray(baseline->entries, room, sizeof(*more));
		if (!more)
			return NULL;
		baseline->entries = more;
		baseline->room = room;
	}
	struct audit_base_entry *entry = &baseline->entries[baseline->count++];
	*entry = (struct audit_base_entry){
		.target = "", .source = "", .name = "", .uuid = "", .fstype = "", .root = "", .options = "", .super = "",
		.propagation = "", .owner = "",
	};
	return entry;
}

int audit_baseline_add_finding(struct audit_baseline *baseline, const char *code, const char *target)
{
	if (baseline->nfindings == baseline->findings_room) {
		size_t room = baseline->findings_room ? 2 * baseline->findings_room : 64;
		struct audit_base_finding *more = reallocarray(baseline->findings, room, sizeof(*more));
		if (!more)
			return -1;
		baseline->findings = more;
		baseline->findings_room = room;
	}
	baseline->findings[baseline->nfindings++] = (struct audit_base_finding){code, target};
	return 0;
}

uint64_t audit_owner_bit(const char *owner)
{
	const char *name = audit_owner_name(owner);
	for (unsigned i = 0; name && audit_owners[i]; ++i) {
		if (audit_owners[i] == name)
			return UINT64_C(1) << i;
	}
	return 0;
}

uint64_t audit_baseline_left_out(void)
{
	return audit_owner_bit("session") | audit_owner_bit("credentials") | audit_owner_bit("container");
}

void audit_baseline_when(const struct audit_baseline *baseline, struct strbuf *out)
{
	time_t seconds = (time_t)baseline->time;
	struct tm tm;
	char text[40];
	if (gmtime_r(&seconds, &tm) && strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
		strbuf_puts(out, text);
	else
		strbuf_puts(out, "an unknown day");
}

enum audit_base_host audit_baseline_host(const struct audit_baseline *old, const struct audit_baseline *now)
{
	bool named = old->host && now->host, renamed = named && strcmp(old->host, now->host) != 0;
	if (old->machine && now->machine && strcmp(old->machine, now->machine) == 0)
		return renamed ? AUDIT_BASE_RENAMED : AUDIT_BASE_SAME;
	if (old->machine && now->machine)
		return AUDIT_BASE_OTHER;
	return renamed ? AUDIT_BASE_OTHER : AUDIT_BASE_SAME;
}

/* Taking down. */

struct taking {
	const struct audit_base_input *in;
	struct audit_baseline *to;
	struct strbuf text, masked;
	struct word {
		const char *at;
		size_t n;
	} *words;
	size_t room;
	bool failed;
};

static const char *keep(struct taking *t, const char *text)
{
	const char *kept = text ? arena_strndup(&t->to->arena, text, strlen(text)) : "";
	t->failed |= !kept;
	return kept ? kept : "";
}

/** Whether an option is another at each mount, or by what serves it. */
static bool is_volatile(const char *option, size_t n)
{
	static const char *const names[] = {
		"addr", "clientaddr", "fd", "mon_addr", "mountaddr", "mountport", "pgrp", "pipe_ino", "rfdno", "seclabel", "stripe",
		"wfdno",
	};
	const char *equals = memchr(option, '=', n);
	size_t len = equals ? (size_t)(equals - option) : n;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		if (strlen(names[i]) == len && memcmp(names[i], option, len) == 0)
			return true;
	}
	return false;
}

static int compare_words(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;
	int order = memcmp(x->at, y->at, n);
	return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

/** Options, sorted, each once, without volatile ones and secrets. */
static const char *keep_options(struct taking *t, const char *options)
{
	size_t count = 0, n;
	if (!options)
		return "";
	strbuf_reset(&t->masked);
	strbuf_reset(&t->text);
	t->in->mask_options(options, &t->masked);
	for (const char *at = strbuf_str(&t->masked); *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n == 0 || is_volatile(at, n))
			continue;
		if (count == t->room) {
			size_t room = t->room ? 2 * t->room : 64;
			struct word *more = reallocarray(t->words, room, sizeof(*more));
			t->failed |= !more;
			if (!more)
				return "";
			t->words = more;
			t->room = room;
		}
		t->words[count++] = (struct word){at, n};
	}
	if (count)
		qsort(t->words, count, sizeof(*t->words), compare_words);
	for (size_t i = 0; i < count; ++i) {
		if (i > 0 && compare_words(&t->words[i], &t->words[i - 1]) == 0)
			continue;
		if (t->text.len)
			strbuf_putc(&t->text, ',');
		strbuf_add(&t->text, t->words[i].at, t->words[i].n);
	}
	return keep(t, strbuf_str(&t->text));
}

static const char *keep_source(struct taking *t, const char *source)
{
	strbuf_reset(&t->text);
	if (source)
		t->in->mask_source(source, &t->text);
	return keep(t, strbuf_str(&t->text));
}

static const char *propagation_name(uint32_t propagation)
{
	if (propagation & MP_UNBINDABLE)
		return "unbindable";
	if (propagation & MP_SHARED)
		return propagation & MP_SLAVE ? "shared,slave" : "shared";
	return propagation & MP_SLAVE ? "slave" : "private";
}

/** What a device is known by over a boot. */
static void name_device(struct taking *t, const struct fstab_device *device, const char *shown, struct audit_base_entry *entry)
{
	const struct devmap_tags *tags = device->tags;
	const char *name = tags && tags->name && !tags->multi_device ? tags->name : NULL;
	/* What is on it, is made at each boot; there is often but one. */
	if (shown && strncmp(shown, "/dev/zram", 9) == 0) {
		entry->name = keep(t, shown);
		return;
	}
	if (name && (strncmp(name, "/dev/", 5) != 0 || audit_is_unstable(name)))
		name = NULL;
	entry->name = keep(t, device->loop.file ? device->loop.file : name);
	entry->uuid = keep(t, tags ? tags->uuid : NULL);
}

/** Whether a mount stands on a device. */
static bool on_device(const struct mount *m)
{
	return m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL || (m->fstype && strcmp(m->fstype, "fuseblk") == 0);
}

static void take_line(struct taking *t, const struct fstab_line *line, bool noauto)
{
	const struct fstab_world *world = t->in->world;
	const struct mount *m = line->mount;
	struct fstab_device device = {0};
	uint64_t owner = audit_owner_bit(line->owner);
	if ((owner & audit_baseline_left_out() && !(owner & t->to->include)) || (m ? !line->target : !line->swap))
		return;
	struct audit_base_entry *entry = audit_baseline_add(t->to);
	t->failed |= !entry;
	if (!entry)
		return;
	entry->swap = !m;
	entry->noauto = noauto;
	entry->owner = keep(t, line->owner);
	if (!m) {
		if (world->swap && world->swap(world->arg, line->swap, &device) != 0)
			t->failed = true;
		entry->target = entry->source = keep_source(t, line->swap);
		name_device(t, &device, line->swap, entry);
		return;
	}
	if (on_device(m) && world->device && world->device(world->arg, m, &device) != 0)
		t->failed = true;
	entry->target = keep(t, line->target);
	entry->source = keep_source(t, m->source);
	entry->fstype = keep(t, m->fstype);
	/* An inode of the kernel's own, another at each boot. */
	bool numbered = m->fstype && strcmp(m->fstype, "nsfs") == 0;
	entry->root = numbered ? "" : keep(t, m->root);
	entry->options = keep_options(t, m->vfs_opts);
	entry->super = keep_options(t, m->fs_opts);
	entry->propagation = propagation_name(m->propagation);
	entry->dev = mount_dev(m);
	name_device(t, &device, NULL, entry);
}

static bool is_noauto(const struct tabline *line)
{
	size_t n;
	return opt_find(tabline_value(line, TABLINE_OPTIONS), "noauto", 6, &n) != NULL;
}

/** In an order that is the same whenever the same is mounted. */
static int compare_entries(const void *a, const void *b)
{
	const struct audit_base_entry *x = a, *y = b;
	if (x->swap != y->swap)
		return x->swap - y->swap;
	int order = strcmp(x->target, y->target);
	order = order ? order : strcmp(x->fstype, y->fstype);
	order = order ? order : strcmp(x->source, y->source);
	order = order ? order : strcmp(x->root, y->root);
	order = order ? order : strcmp(x->options, y->options);
	return order ? order : strcmp(x->super, y->super);
}

int audit_baseline_take(const struct audit_base_input *in, struct audit_baseline *baseline)
{
	struct taking t = {.in = in, .to = baseline};
	bool *noauto = calloc(in->plan->count + 1, sizeof(*noauto));
	t.failed = !noauto;
	strbuf_init(&t.text);
	strbuf_init(&t.masked);
	for (size_t i = 0; !t.failed && i < in->lines->count; ++i) {
		const struct fstab_line *live = in->match->of[i];
		if (live)
			noauto[live - in->plan->lines] |= is_noauto(&in->lines->lines[i]);
	}
	for (size_t i = 0; !t.failed && i < in->plan->count; ++i)
		take_line(&t, &in->plan->lines[i], noauto[i]);
	if (!t.failed && baseline->count)
		qsort(baseline->entries, baseline->count, sizeof(*baseline->entries), compare_entries);
	t.failed |= t.text.failed || t.masked.failed;
	strbuf_destroy(&t.text);
	strbuf_destroy(&t.masked);
	free(t.words);
	free(noauto);
	if (t.failed)
		errno = ENOMEM;
	return t.failed ? -1 : 0;
}
