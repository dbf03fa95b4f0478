/* SPDX-License-Identifier: MIT */
/* Collect the mounts and swap spaces of a baseline.  baseline_compare.c compares two baselines. */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/options.h"

#include <stdlib.h>
#include <string.h>

struct collector {
	struct audit_baseline *to;
	const struct fstab_facts *facts;
	const struct fstab_plan *plan;
	const struct fstab_file *file;
	struct map64 types;      /* hash of the mount point of an automount trigger or network
	                            mount -> index of its line in the plan */
	struct arena *arena;     /* memory of the baseline */
};

static const char *keep(struct collector *c, const char *text)
{
	return text ? arena_text(c->arena, text) : "";
}

/** Whether an option changes with every mount, or with the memory of the machine. */
static bool is_volatile(const struct audit_base_entry *entry, const struct opt *option)
{
	static const char names[] =
	    "addr clientaddr fd mon_addr mountaddr mountport pgrp pipe_ino rfdno seclabel stripe "
	    "wfdno";
	bool configured = strcmp(entry->owner, "fstab") == 0
	                  || strcmp(entry->owner, "unknown") == 0;
	bool memory = strcmp(entry->fstype, "tmpfs") == 0 || strcmp(entry->fstype, "devtmpfs") == 0;
	return word_in(option->text, option->nname, names)
	       || (memory && !configured
	           && word_in(option->text, option->nname, "size nr_inodes nr_blocks"));
}

static int compare_options(const void *a, const void *b)
{
	const struct opt *x = a, *y = b;
	int order = memcmp(x->text, y->text, x->n < y->n ? x->n : y->n);
	return order ? order : (x->n > y->n) - (x->n < y->n);
}

/** List the options of a mount and its file system, sorted and each once, without secrets and
    without volatile options. */
static const char *keep_options(struct collector *c, const struct audit_base_entry *entry,
                                const struct mount *m)
{
	struct strbuf all = {.arena = c->arena}, list = all;
	struct opt *opts;
	uint32_t count = 0;
	strbuf_printf(&all, "%s%s%s,", m->propagation & MP_SHARED ? "shared," : "",
	              m->propagation & MP_SLAVE ? "slave," : "",
	              m->propagation & MP_UNBINDABLE ? "unbindable" : "");
	mask_options(m->vfs_opts ? m->vfs_opts : "", &all);
	strbuf_putc(&all, ',');
	mask_options(m->fs_opts ? m->fs_opts : "", &all);
	uint32_t n = opts_read(strbuf_str(&all), opt_next_shown, c->arena, &opts);
	for (uint32_t i = 0; i < n; ++i) {
		if (opts[i].n > 0 && !is_volatile(entry, &opts[i]))
			opts[count++] = opts[i];
	}
	if (count)
		qsort(opts, count, sizeof(*opts), compare_options);
	for (uint32_t i = 0; i < count; ++i) {
		if (i == 0 || compare_options(&opts[i - 1], &opts[i]) != 0)
			opt_add(&list, opts[i].text, opts[i].n);
	}
	return strbuf_str(&list);
}

static const char *keep_source(struct collector *c, const char *source)
{
	struct strbuf masked = {.arena = c->arena};
	if (source)
		mask_source(source, &masked);
	return strbuf_str(&masked);
}

/** Set source and UUID of an entry, by which the entry is recognized after a boot.
    @shown  The source as the kernel shows it. */
static void identify(struct collector *c, const struct fstab_device *device, const char *shown,
                     struct audit_base_entry *entry)
{
	const struct devmap_tags *tags = device->tags;
	const char *name = tags && tags->name && !tags->multi_device ? tags->name : NULL;
	if (name && (strncmp(name, "/dev/", 5) != 0 || audit_is_unstable(name)))
		name = NULL;
	if (shown && strncmp(shown, "/dev/zram", 9) == 0) {
		/* zram is formatted at each boot, so its UUID changes. */
		entry->source = keep(c, shown);
		return;
	}
	entry->uuid = keep(c, tags ? tags->uuid : NULL);
	if (device->loop.file || name) {
		entry->source = keep(c, device->loop.file ? device->loop.file : name);
	} else if (*entry->uuid) {
		entry->source = arena_printf(c->arena, "UUID=%s", entry->uuid);
	} else {
		entry->source = keep_source(c, shown);
	}
}

/** Whether a mount appears and disappears automatically: at or below an automount trigger, or a
    submount of a network mount. */
static bool is_transient(const struct collector *c, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	bool trigger = fstype_flags(m->fstype) & FST_AUTOFS;
	bool net = fstype_flags(m->fstype) & FST_NET && !audit_is_owner(line->owner, "fstab");
	size_t n = strlen(line->target);
	for (bool self = true; n > 0; self = false) {
		uint32_t i = map64_get(&c->types, map64_bytes(MAP64_BYTES, line->target, n));
		const struct mount *above = i == MAP64_NONE ? m : c->plan->lines[i].mount;
		bool is_trigger = fstype_flags(above->fstype) & FST_AUTOFS;
		if (above != m && is_trigger && !(self && trigger))
			return true;
		if (above != m && !is_trigger && !self && net
		    && strcmp(above->fstype, m->fstype) == 0)
			return true;
		while (n > 0 && line->target[n - 1] != '/')
			--n;
		n -= n > 0;
	}
	return false;
}

static void collect_line(struct collector *c, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	struct fstab_device device = {0};
	if (audit_baseline_owner(line->owner) & ~c->to->include
	    || (m ? !line->target || is_transient(c, line) : !line->swap))
		return;
	struct audit_base_entry *entry = audit_baseline_add(c->to, m ? BASE_MOUNT : BASE_SWAP);
	if (!entry)
		return;
	entry->owner = keep(c, line->owner);
	const char *owner = audit_owner_name(line->owner);
	/* Users or the kernel may mount and unmount a mount with a noauto line, or with one of
	   these owners, at any time. */
	entry->light = (line->of && c->file->entries[line->of - 1].noauto)
	               || (owner && word_in(owner, strlen(owner), "api nsfs snap udisks user"));
	if (!m) {
		fstab_device_of(c->facts, NULL, line->swap, c->arena, &device);
		entry->fstype = "swap";
		identify(c, &device, line->swap, entry);
		entry->target = *entry->source ? entry->source : keep_source(c, line->swap);
		return;
	}
	bool on_device = m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL
	                 || (m->fstype && strcmp(m->fstype, "fuseblk") == 0);
	if (on_device)
		fstab_device_of(c->facts, m, NULL, c->arena, &device);
	entry->target = keep(c, line->target);
	entry->fstype = keep(c, m->fstype);
	/* The root of an nsfs mount is an inode number, which changes at each boot. */
	entry->root = m->fstype && strcmp(m->fstype, "nsfs") == 0 ? "" : keep(c, m->root);
	entry->options = keep_options(c, entry, m);
	identify(c, &device, m->source, entry);
}

int audit_baseline_collect(const struct fstab_plan *plan, const struct fstab_facts *facts,
                           const struct fstab_file *file, struct audit_baseline *baseline)
{
	struct arena *arena = &baseline->arena;
	struct collector c = {.to = baseline, .facts = facts, .plan = plan, .file = file,
	                      .arena = arena, .types.arena = arena};
	for (uint32_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flags = line->mount && line->target ? fstype_flags(line->mount->fstype)
		                                             : 0;
		if (flags & FST_AUTOFS)
			map64_remove(&c.types, map64_text(line->target));
		if (flags & (FST_AUTOFS | FST_NET))
			map64_put(&c.types, map64_text(line->target), i);
	}
	for (size_t i = 0; i < plan->count && !arena->failed; ++i)
		collect_line(&c, &plan->lines[i]);
	audit_baseline_sort(baseline);
	return arena_check(arena);
}
