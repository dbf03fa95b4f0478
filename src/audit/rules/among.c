/* SPDX-License-Identifier: MIT */
/*
 * Entries against each other: their order, and what is there twice.
 */
#include "audit/audit_impl.h"
#include "audit/rules/host_impl.h"

#include "base/fstypes.h"

#include <string.h>

/** The first entry at a path, of those that are mounted in the order of the file, but
    for one. */
static const struct audit_entry *steady_at(const struct audit *audit, const struct audit_entry *self,
                                           const char *path, size_t n, uint64_t hash)
{
	uint32_t i = map64_get(&audit->by_target, hash);
	if (i != MAP64_NONE && audit->entries[i].automount)
		i = audit->next_steady[i];
	for (; i != MAP64_NONE; i = audit->next_steady[i]) {
		const struct audit_entry *entry = &audit->entries[i];
		if (entry != self && strncmp(entry->path, path, n) == 0 && !entry->path[n])
			return entry;
	}
	return NULL;
}

/** The first entry that mounts what is on the way to a path: one behind a line, if none
    is before it. */
static const struct audit_entry *find_later(const struct audit *audit, const struct audit_entry *self,
                                            const char *path, bool itself)
{
	uint64_t hash = MAP64_BYTES;
	const struct audit_entry *found = NULL;
	for (size_t n = 0; path[n];) {
		size_t more = path[1] ? 1 + strcspn(path + n + 1, "/") : 1;
		hash = map64_bytes(hash, path + n, more);
		n += more;
		if (!path[n] && !itself)
			break;
		const struct audit_entry *entry = steady_at(audit, self, path, n, hash);
		if (entry && entry > self)
			found = entry;
	}
	return found;
}

/** What an entry needs, and which entry mounts that behind it. */
struct needs {
	struct audit *audit;
	const struct audit_entry *entry, *later;
	const char *what;
};

static bool each_need(void *arg, const char *path, const char *what)
{
	struct needs *needs = arg;
	needs->what = what;
	needs->later = find_later(needs->audit, needs->entry, path, true);
	/* "/" is mounted before the file is read. */
	if (needs->later && !needs->later->path[1])
		needs->later = NULL;
	return !needs->later;
}

void audit_order(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->noauto || entry->automount || !entry->path || !entry->path[1])
		return;
	const struct audit_entry *later = find_later(audit, entry, entry->path, false);
	if (later) {
		audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
			AUDIT_CRITICAL, true, audit_format(audit, "%s of line %u is mounted after it, and covers it", later->path,
			later->line->number), "mounts above come first", NULL,
			audit_format(audit, "move it behind line %u", later->line->number)});
	} else {
		/* "/" is mounted before the file is read: Raspberry Pi OS writes it last. */
		const struct audit_entry *root = audit_at(audit, NULL, "/", 1, map64_text("/"));
		if (root && root > entry)
			audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
				AUDIT_INFO, false, audit_format(audit, "it stands before / of line %u", root->line->number),
				"mounts above come first", NULL, "put / first"});
	}
	struct needs needs = {.audit = audit, .entry = entry};
	audit_each_need(audit, entry, each_need, &needs);
	if (needs.later)
		audit_tell(audit, entry, FSTAB_ORDER, &(struct audit_told){
			AUDIT_CRITICAL, true, audit_format(audit, "%s lies on %s, which line %u mounts after it", needs.what,
			needs.later->path, needs.later->line->number), "a source is mounted first", NULL,
			audit_format(audit, "move it behind line %u", needs.later->line->number)});
}

uint64_t audit_source_key(const struct audit_entry *entry)
{
	const uint32_t number[] = {entry->major, entry->minor};
	return entry->numbered ? map64_bytes(MAP64_BYTES, (const char *)number, sizeof(number)) : map64_text(entry->source);
}

static bool is_same_source(const struct audit_entry *a, const struct audit_entry *b)
{
	bool one = a->numbered && b->numbered && a->major == b->major && a->minor == b->minor;
	return one || strcmp(a->source, b->source) == 0;
}

void audit_number_source(const struct audit *audit, struct audit_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	struct fstab_device device = {0};
	if (facts && facts->devices && rules_names_device(entry->source) && facts->devices(facts->arg, entry->source, &device) == 1
	    && device.numbered) {
		entry->numbered = true;
		entry->major = device.major;
		entry->minor = device.minor;
	}
}

/** Whether two entries are of the same, so that one of them is too many. */
static bool is_same_part(struct audit *audit, const struct audit_entry *a, const struct audit_entry *b)
{
	if (!(a->flags & FST_SUBVOL))
		return true;
	const char *x = audit_option(audit, a, "subvol"), *y = audit_option(audit, b, "subvol");
	const char *v = audit_option(audit, a, "subvolid"), *w = audit_option(audit, b, "subvolid");
	return strcmp(x ? x : "", y ? y : "") == 0 && strcmp(v ? v : "", w ? w : "") == 0;
}

void audit_twice(struct audit *audit, const struct audit_entry *entry)
{
	if (entry->noauto)
		return;
	if (entry->path) {
		size_t n = strlen(entry->path);
		const struct audit_entry *first = audit_at(audit, NULL, entry->path, n, map64_text(entry->path));
		if (first && first < entry)
			audit_tell(audit, entry, FSTAB_DUP_TARGET, &(struct audit_told){
				AUDIT_WARNING, true, audit_format(audit, "line %u has this mount point too: mount(8) mounts one upon the "
				"other, systemd the first alone", first->line->number), "one line", NULL,
				"take one away, or give it noauto"});
	}
	/* One device, without parts, twice. */
	if (!*entry->source || entry->bind || strcmp(entry->source, "none") == 0
	    || !(entry->swap || entry->flags & FST_DEVICE))
		return;
	uint32_t i = map64_get(&audit->by_source, audit_source_key(entry));
	const struct audit_entry *first = i != MAP64_NONE ? &audit->entries[i] : NULL;
	if (!first || first >= entry || !is_same_source(first, entry) || first->swap != entry->swap
	    || !is_same_part(audit, first, entry)
	    || (first->path && entry->path && strcmp(first->path, entry->path) == 0))
		return;
	audit_tell(audit, entry, FSTAB_DUP_SOURCE, &(struct audit_told){
		entry->swap ? AUDIT_WARNING : AUDIT_INFO, false,
		audit_format(audit, "line %u is of the same %s", first->line->number, entry->swap ? "swap space" : "file system"),
		"one line", NULL, entry->swap ? "take one away" : "bind the one to the other, if that is meant"});
}
