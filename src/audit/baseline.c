/* SPDX-License-Identifier: MIT */
/* Collecting what is mounted, for a baseline.  baseline_compare.c compares two. */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "base/fstypes.h"
#include "base/intern.h"
#include "base/secret.h"
#include "base/words.h"
#include "mountopts/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct taking {
	struct audit_baseline *to;
	const struct fstab_facts *facts;
	const struct fstab_plan *plan;
	const struct fstab_file *file;
	struct map64 types;      /* hash of a mount point -> the plan's line of a trigger or a
	                            network mount */
	struct strbuf text;
	bool failed;
};

static const char *keep(struct taking *t, const char *text)
{
	const char *kept = arena_strndup(&t->to->arena, text ? text : "", text ? strlen(text) : 0);
	t->failed |= !kept;
	return kept ? kept : "";
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

static int compare_words(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/** The options of a mount and its file system, without secrets and volatile ones, each once. */
static const char *keep_options(struct taking *t, const struct audit_base_entry *entry,
                                const struct mount *m)
{
	struct intern set = {0};
	struct opt *opts = NULL;
	uint32_t number, count = 0;
	strbuf_reset(&t->text);
	strbuf_printf(&t->text, "%s%s%s,", m->propagation & MP_SHARED ? "shared," : "",
	              m->propagation & MP_SLAVE ? "slave," : "",
	              m->propagation & MP_UNBINDABLE ? "unbindable" : "");
	mask_options(m->vfs_opts ? m->vfs_opts : "", &t->text);
	strbuf_putc(&t->text, ',');
	mask_options(m->fs_opts ? m->fs_opts : "", &t->text);
	t->failed |= opts_read(strbuf_str(&t->text), opt_next_shown, &t->to->arena, &opts, &count)
	             != 0;
	for (uint32_t i = 0; i < count; ++i) {
		if (opts[i].n > 0 && !is_volatile(entry, &opts[i]))
			t->failed |= intern_put(&set, opts[i].text, opts[i].n, &number) != 0;
	}
	strbuf_reset(&t->text);
	if (set.count)
		qsort(set.of, set.count, sizeof(*set.of), compare_words);
	for (size_t i = 0; i < set.count; ++i)
		opt_puts(&t->text, set.of[i]);
	intern_destroy(&set);
	return keep(t, strbuf_str(&t->text));
}

static const char *keep_source(struct taking *t, const char *source)
{
	strbuf_reset(&t->text);
	if (source)
		mask_source(source, &t->text);
	return keep(t, strbuf_str(&t->text));
}

/** Set the part of an entry that identifies its source across boots.
    @shown  The source as the kernel shows it. */
static void identify(struct taking *t, const struct fstab_device *device, const char *shown,
                     struct audit_base_entry *entry)
{
	const struct devmap_tags *tags = device->tags;
	const char *name = tags && tags->name && !tags->multi_device ? tags->name : NULL;
	if (name && (strncmp(name, "/dev/", 5) != 0 || audit_is_unstable(name)))
		name = NULL;
	if (shown && strncmp(shown, "/dev/zram", 9) == 0) {
		/* Formatted at each boot: the UUID changes. */
		entry->source = keep(t, shown);
		return;
	}
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

/** Whether a mount appears and disappears automatically: at or below an automount trigger, or a
    submount of a network mount. */
static bool is_transient(const struct taking *t, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	bool trigger = fstype_flags(m->fstype) & FST_AUTOFS;
	bool net = fstype_flags(m->fstype) & FST_NET && !audit_is_owner(line->owner, "fstab");
	size_t n = strlen(line->target);
	for (bool self = true; n > 0; self = false) {
		uint32_t i = map64_get(&t->types, map64_bytes(MAP64_BYTES, line->target, n));
		const struct mount *above = i == MAP64_NONE ? m : t->plan->lines[i].mount;
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

static void collect_line(struct taking *t, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	struct fstab_device device = {0};
	if (audit_baseline_owner(line->owner) & ~t->to->include
	    || (m ? !line->target || is_transient(t, line) : !line->swap))
		return;
	struct audit_base_entry *entry = audit_baseline_add(t->to, m ? BASE_MOUNT : BASE_SWAP);
	t->failed |= !entry;
	if (!entry)
		return;
	entry->owner = keep(t, line->owner);
	const char *owner = audit_owner_name(line->owner);
	/* Users or the kernel mount and unmount it at any time. */
	entry->light = (line->of && t->file->entries[line->of - 1].noauto)
	               || (owner && word_in(owner, strlen(owner), "api nsfs snap udisks user"));
	if (!m) {
		t->failed |= fstab_device_of(t->facts, NULL, line->swap, &device) != 0;
		entry->fstype = "swap";
		identify(t, &device, line->swap, entry);
		entry->target = *entry->source ? entry->source : keep_source(t, line->swap);
		return;
	}
	bool on_device = m->dev_major != 0 || fstype_flags(m->fstype) & FST_SUBVOL
	                 || (m->fstype && strcmp(m->fstype, "fuseblk") == 0);
	if (on_device)
		t->failed |= fstab_device_of(t->facts, m, NULL, &device) != 0;
	entry->target = keep(t, line->target);
	entry->fstype = keep(t, m->fstype);
	/* The root of an nsfs mount is an inode number, which changes at each boot. */
	entry->root = m->fstype && strcmp(m->fstype, "nsfs") == 0 ? "" : keep(t, m->root);
	entry->options = keep_options(t, entry, m);
	identify(t, &device, m->source, entry);
}

int audit_baseline_take(const struct fstab_plan *plan, const struct fstab_facts *facts,
                        const struct fstab_file *file, struct audit_baseline *baseline)
{
	struct taking t = {.to = baseline, .facts = facts, .plan = plan, .file = file};
	for (uint32_t i = 0; !t.failed && i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		unsigned flags = line->mount && line->target ? fstype_flags(line->mount->fstype)
		                                             : 0;
		if (flags & FST_AUTOFS)
			map64_remove(&t.types, map64_text(line->target));
		if (flags & (FST_AUTOFS | FST_NET))
			t.failed = map64_put(&t.types, map64_text(line->target), i) == MAP64_NONE;
	}
	for (size_t i = 0; !t.failed && i < plan->count; ++i)
		collect_line(&t, &plan->lines[i]);
	audit_baseline_sort(baseline);
	t.failed |= t.text.failed;
	strbuf_destroy(&t.text);
	map64_destroy(&t.types);
	if (t.failed)
		errno = ENOMEM;
	return t.failed ? -1 : 0;
}
