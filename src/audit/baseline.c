/* SPDX-License-Identifier: MIT */
/*
 * A baseline: its lists, and collecting what is mounted.  baseline_compare.c compares two.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void audit_baseline_init(struct audit_baseline *baseline)
{
	*baseline = (struct audit_baseline){.host = "", .root = "/"};
	arena_init(&baseline->arena);
}

void audit_baseline_destroy(struct audit_baseline *baseline)
{
	free(baseline->mounts.entries);
	free(baseline->findings.entries);
	arena_destroy(&baseline->arena);
	audit_baseline_init(baseline);
}

struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline,
                                            enum audit_base_kind kind)
{
	struct audit_base_list *list = kind == BASE_FINDING ? &baseline->findings
	                                                    : &baseline->mounts;
	if (list->count == list->room) {
		size_t room = list->room ? 2 * list->room : 64;
		struct audit_base_entry *more = reallocarray(list->entries, room, sizeof(*more));
		if (!more)
			return NULL;
		list->entries = more;
		list->room = room;
	}
	list->entries[list->count] = (struct audit_base_entry){
		.kind = kind, .target = "", .source = "", .uuid = "", .fstype = "", .root = "",
		.options = "", .owner = "",
	};
	return &list->entries[list->count++];
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
	return audit_owner_bit("session") | audit_owner_bit("credentials")
	       | audit_owner_bit("container");
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

/* Keys. */

int audit_base_order(const struct audit_base_entry *a, const struct audit_base_entry *b,
                     enum audit_base_key key)
{
	int order = (int)a->kind - (int)b->kind;
	order = order ? order : strcmp(a->target, b->target);
	if (order || key == KEY_PLACE)
		return order;
	order = strcmp(a->source, b->source);
	order = order ? order : strcmp(a->fstype, b->fstype);
	order = order ? order : strcmp(a->root, b->root);
	order = order ? order : strcmp(a->uuid, b->uuid);
	return order || key == KEY_SHOWN ? order : strcmp(a->options, b->options);
}

int audit_word_order(const void *a, const void *b)
{
	const struct audit_word *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;
	int order = memcmp(x->at, y->at, n);
	return order ? order : x->n < y->n ? -1 : x->n > y->n;
}

static int compare_entries(const void *a, const void *b)
{
	return audit_base_order(a, b, KEY_ALL);
}

void audit_baseline_sort(struct audit_baseline *b)
{
	if (b->mounts.count)
		qsort(b->mounts.entries, b->mounts.count, sizeof(*b->mounts.entries),
		      compare_entries);
	if (b->findings.count)
		qsort(b->findings.entries, b->findings.count, sizeof(*b->findings.entries),
		      compare_entries);
}

/* Collecting. */

struct taking {
	struct audit_baseline *to;
	const struct fstab_world *world;
	struct map64 types;      /* hash of a mount point -> the plan's line of a trigger or a
	                            network mount */
	struct map64 noauto;     /* hashes of the mount points of lines with noauto */
	const struct fstab_plan *plan;
	struct strbuf text, masked;
	bool failed;
};

static const char *keep(struct taking *t, const char *text)
{
	const char *kept = text ? arena_strndup(&t->to->arena, text, strlen(text)) : "";
	t->failed |= !kept;
	return kept ? kept : "";
}

/** Whether an option changes with every mount, or with the memory of the machine. */
static bool is_volatile(const struct audit_base_entry *entry, const char *option, size_t n)
{
	static const char names[] =
	    "addr clientaddr fd mon_addr mountaddr mountport pgrp pipe_ino rfdno seclabel stripe "
	    "wfdno";
	bool configured = strcmp(entry->owner, "fstab") == 0
	                  || strcmp(entry->owner, "unknown") == 0;
	bool memory = strcmp(entry->fstype, "tmpfs") == 0 || strcmp(entry->fstype, "devtmpfs") == 0;
	size_t name = opt_name(option, n);
	return word_in(option, name, names)
	       || (memory && !configured && word_in(option, name, "size nr_inodes nr_blocks"));
}

/** The options of a mount and its file system, without secrets and volatile ones: sorted, each
 * once. */
static const char *keep_options(struct taking *t, const struct audit_base_entry *entry,
                                const struct mount *m)
{
	size_t count = 0, n, commas = 1;
	strbuf_reset(&t->masked);
	strbuf_reset(&t->text);
	strbuf_printf(&t->masked, "%s%s%s,", m->propagation & MP_SHARED ? "shared," : "",
	              m->propagation & MP_SLAVE ? "slave," : "",
	              m->propagation & MP_UNBINDABLE ? "unbindable" : "");
	mask_options(m->vfs_opts ? m->vfs_opts : "", &t->masked);
	strbuf_putc(&t->masked, ',');
	mask_options(m->fs_opts ? m->fs_opts : "", &t->masked);
	for (const char *at = strbuf_str(&t->masked); *at; ++at)
		commas += *at == ',';
	struct audit_word *words = calloc(commas, sizeof(*words));
	t->failed |= !words;
	for (const char *at = strbuf_str(&t->masked); words && *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n > 0 && !is_volatile(entry, at, n))
			words[count++] = (struct audit_word){at, n};
	}
	if (count)
		qsort(words, count, sizeof(*words), audit_word_order);
	for (size_t i = 0; i < count; ++i) {
		if (i == 0 || audit_word_order(&words[i], &words[i - 1]) != 0)
			opt_add(&t->text, words[i].at, words[i].n);
	}
	free(words);
	return keep(t, strbuf_str(&t->text));
}

static const char *keep_source(struct taking *t, const char *source)
{
	strbuf_reset(&t->text);
	if (source)
		mask_source(source, &t->text);
	return keep(t, strbuf_str(&t->text));
}

/** Set what identifies the source of an entry over a boot.
    @shown  The source as the kernel shows it. */
static void identify(struct taking *t, const struct fstab_device *device, const char *shown,
                     struct audit_base_entry *entry)
{
	const struct devmap_tags *tags = device->tags;
	const char *name = tags && tags->name && !tags->multi_device ? tags->name : NULL;
	if (shown && strncmp(shown, "/dev/zram", 9) == 0) {
		entry->source = keep(t, shown);   /* formatted anew at each boot: its UUID
		                                     identifies nothing */
		return;
	}
	if (name && (strncmp(name, "/dev/", 5) != 0 || audit_is_unstable(name)))
		name = NULL;
	entry->uuid = keep(t, tags ? tags->uuid : NULL);
	if (device->loop.file || name) {
		entry->source = keep(t, device->loop.file ? device->loop.file : name);
	} else if (*entry->uuid) {
		strbuf_reset(&t->text);
		strbuf_printf(&t->text, "UUID=%s", entry->uuid);
		entry->source = keep(t, strbuf_str(&t->text));
	} else {
		entry->source = keep_source(t, shown);
	}
}

/** Whether a mount comes and goes by itself: at or below an automounter's trigger, or mounted by a
    server below another mount of it. */
static bool is_transient(const struct taking *t, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	bool trigger = fstype_flags(m->fstype) & FST_AUTOFS;
	bool net = fstype_flags(m->fstype) & FST_NET && !audit_is_owner(line->owner, "fstab");
	size_t n = strlen(line->target);
	for (bool self = true; n > 0; self = false) {
		uint32_t i = map64_get(&t->types, map64_bytes(MAP64_BYTES, line->target, n));
		const struct mount *above = i == MAP64_NONE || t->plan->lines[i].mount == m
		                                ? NULL
		                                : t->plan->lines[i].mount;
		bool is_trigger = above && fstype_flags(above->fstype) & FST_AUTOFS;
		if (above
		    && (is_trigger ? !(self && trigger)
		                   : !self && net && strcmp(above->fstype, m->fstype) == 0))
			return true;
		while (n > 0 && line->target[n - 1] != '/')
			--n;
		n -= n > 0;
	}
	return false;
}

/** Whether somebody or the kernel mounts and unmounts it at will. */
static bool is_light(const struct taking *t, const struct fstab_line *line)
{
	static const char *const owners[] = {"api", "nsfs", "snap", "udisks", "user"};
	bool light = line->target && map64_get(&t->noauto, map64_text(line->target)) != MAP64_NONE;
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); ++i)
		light |= audit_is_owner(line->owner, owners[i]);
	return light;
}

static void take_line(struct taking *t, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	struct fstab_device device = {0};
	uint64_t left_out = audit_baseline_left_out() & ~t->to->include;
	if (audit_owner_bit(line->owner) & left_out
	    || (m ? !line->target || is_transient(t, line) : !line->swap))
		return;
	struct audit_base_entry *entry = audit_baseline_add(t->to, m ? BASE_MOUNT : BASE_SWAP);
	t->failed |= !entry;
	if (!entry)
		return;
	entry->owner = keep(t, line->owner);
	entry->light = is_light(t, line);
	if (!m) {
		t->failed |= t->world->swap
		             && t->world->swap(t->world->arg, line->swap, &device) != 0;
		entry->fstype = "swap";
		identify(t, &device, line->swap, entry);
		entry->target = *entry->source ? entry->source : keep_source(t, line->swap);
		return;
	}
	bool on_device = m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL
	                 || (m->fstype && strcmp(m->fstype, "fuseblk") == 0);
	if (on_device && t->world->device)
		t->failed |= t->world->device(t->world->arg, m, &device) != 0;
	entry->target = keep(t, line->target);
	entry->fstype = keep(t, m->fstype);
	/* The root of nsfs is the number of an inode, which changes at each boot. */
	entry->root = m->fstype && strcmp(m->fstype, "nsfs") == 0 ? "" : keep(t, m->root);
	entry->options = keep_options(t, entry, m);
	identify(t, &device, m->source, entry);
}

int audit_baseline_take(const struct fstab_plan *plan, const struct fstab_world *world,
                        const struct tablines *lines, struct audit_baseline *baseline)
{
	struct taking t = {.to = baseline, .world = world, .plan = plan};
	strbuf_init(&t.text);
	strbuf_init(&t.masked);
	map64_init(&t.types);
	map64_init(&t.noauto);
	for (uint32_t i = 0; !t.failed && i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flags = line->mount && line->target ? fstype_flags(line->mount->fstype)
		                                             : 0;
		if (flags & FST_AUTOFS)
			map64_remove(&t.types, map64_text(line->target));
		if (flags & (FST_AUTOFS | FST_NET))
			t.failed = map64_put(&t.types, map64_text(line->target), i) == MAP64_NONE;
	}
	for (size_t i = 0; !t.failed && i < lines->count; ++i) {
		const char *target = tabline_value(&lines->lines[i], TABLINE_TARGET);
		const char *options = tabline_value(&lines->lines[i], TABLINE_OPTIONS);
		if (target && options && opt_noauto(options))
			t.failed = map64_put(&t.noauto, map64_text(target), 0) == MAP64_NONE;
	}
	for (size_t i = 0; !t.failed && i < plan->count; ++i)
		take_line(&t, &plan->lines[i]);
	audit_baseline_sort(baseline);
	t.failed |= t.text.failed || t.masked.failed;
	strbuf_destroy(&t.text);
	strbuf_destroy(&t.masked);
	map64_destroy(&t.types);
	map64_destroy(&t.noauto);
	if (t.failed)
		errno = ENOMEM;
	return t.failed ? -1 : 0;
}
