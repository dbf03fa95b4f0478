/* SPDX-License-Identifier: MIT */
/*
 * Collecting what is mounted, and comparing two such lists.
 *
 * Both lists are sorted by their keys.  Entries are paired in three rounds, each one merge of the
 * two lists: entries that are equal, then entries of one mount point with the same source, then the
 * rest of a mount point.  What remains has come or gone.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/common.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BOOTING = 300 };   /* seconds; drift.h has the same */

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

/** How much of two entries is compared. */
enum key { KEY_PLACE, KEY_SHOWN, KEY_ALL };

static int compare_key(const struct audit_base_entry *a, const struct audit_base_entry *b,
                       enum key key)
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

static int compare_entries(const void *a, const void *b)
{
	return compare_key(a, b, KEY_ALL);
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

struct word {
	const char *at;
	size_t n;
};

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

static int compare_words(const void *a, const void *b)
{
	const struct word *x = a, *y = b;
	size_t n = x->n < y->n ? x->n : y->n;
	int order = memcmp(x->at, y->at, n);
	return order ? order : x->n < y->n ? -1 : x->n > y->n;
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
	struct word *words = calloc(commas, sizeof(*words));
	t->failed |= !words;
	for (const char *at = strbuf_str(&t->masked); words && *at; at += n + (at[n] == ',')) {
		n = strcspn(at, ",");
		if (n > 0 && !is_volatile(entry, at, n))
			words[count++] = (struct word){at, n};
	}
	if (count)
		qsort(words, count, sizeof(*words), compare_words);
	for (size_t i = 0; i < count; ++i) {
		if (i == 0 || compare_words(&words[i], &words[i - 1]) != 0)
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

/* Comparing. */

struct compare {
	struct audit_report *report;
	struct audit_base_counts *counts;
	struct strbuf when, message, expected, actual, one, other;
	bool failed;
};

/** The other entry of each pair; NULL: none. */
struct pairs {
	const struct audit_base_entry **old, **now;
};

static bool pairs_make(struct pairs *pairs, const struct audit_base_list *old,
                       const struct audit_base_list *now)
{
	pairs->old = calloc(old->count + 1, sizeof(*pairs->old));
	pairs->now = calloc(now->count + 1, sizeof(*pairs->now));
	for (int key = KEY_ALL; pairs->old && pairs->now && key >= KEY_PLACE; --key) {
		for (size_t i = 0, k = 0; i < old->count && k < now->count;) {
			const struct audit_base_entry *was = &old->entries[i],
			                              *is = &now->entries[k];
			/* A finding is identified by its code and target. */
			enum key by = was->kind == BASE_FINDING && key == KEY_PLACE ? KEY_SHOWN
			                                                            : (enum key)key;
			int order = pairs->old[i]   ? -1
			            : pairs->now[k] ? 1
			                            : compare_key(was, is, by);
			if (order == 0) {
				pairs->old[i] = is;
				pairs->now[k] = was;
			}
			i += order <= 0;
			k += order >= 0;
		}
	}
	return pairs->old && pairs->now;
}

static void pairs_end(struct pairs *pairs)
{
	free(pairs->old);
	free(pairs->now);
}

/** Whether two entries have the same source: 1, 0; -1: unknown. */
static int same_source(const struct audit_base_entry *a, const struct audit_base_entry *b)
{
	bool uuids = *a->uuid && *b->uuid,
	     by_uuid = strncmp(a->source, "UUID=", 5) == 0 || strncmp(b->source, "UUID=", 5) == 0;
	if (uuids && strcmp(a->uuid, b->uuid) != 0)
		return 0;
	if (strcmp(a->source, b->source) == 0 || (uuids && by_uuid))
		return 1;
	return audit_is_unstable(a->source) || audit_is_unstable(b->source) ? -1 : 0;
}

static void report_entry(struct compare *c, enum audit_code code,
                         const struct audit_base_entry *entry)
{
	struct audit_finding finding = {
		.code = code,
		.severity = entry->light && code != BASE_CHANGED ? AUDIT_INFO : AUDIT_WARNING,
		.target = entry->target,
		.owner = *entry->owner ? entry->owner : NULL, .fstype = entry->fstype,
		.message = strbuf_str(&c->message),
		.expected = strbuf_str(&c->expected), .actual = strbuf_str(&c->actual),
		.hint = "if this is intended, save a new baseline with --save",
	};
	c->failed |= audit_report_add(c->report, &finding) != 0;
}

/** Append the source, type and directory of an entry. */
static void put_shown(struct strbuf *out, const struct audit_base_entry *entry)
{
	strbuf_puts(out, *entry->source ? entry->source : "none");
	strbuf_printf(out, " (%s", *entry->fstype ? entry->fstype : "?");
	if (*entry->uuid && strncmp(entry->source, "UUID=", 5) != 0)
		strbuf_printf(out, ", UUID=%s", entry->uuid);
	strbuf_putc(out, ')');
	if (*entry->root && strcmp(entry->root, "/") != 0)
		strbuf_printf(out, ", its %s", entry->root);
}

/** Put the options that only one of two sorted lists has into c->one and c->other.  @return whether
 * there are any. */
static bool differ(struct compare *c, const char *a, const char *b)
{
	strbuf_reset(&c->one);
	strbuf_reset(&c->other);
	while (*a || *b) {
		struct word x = {a, strcspn(a, ",")}, y = {b, strcspn(b, ",")};
		int order = !*b ? -1 : !*a ? 1 : compare_words(&x, &y);
		if (order < 0)
			opt_add(&c->one, x.at, x.n);
		if (order > 0)
			opt_add(&c->other, y.at, y.n);
		a += order <= 0 ? x.n + (x.at[x.n] == ',') : 0;
		b += order >= 0 ? y.n + (y.at[y.n] == ',') : 0;
	}
	return c->one.len || c->other.len;
}

static void put_part(struct strbuf *out, const char *text, const char *lacks)
{
	strbuf_puts(out, out->len ? "; " : "");
	strbuf_printf(out, *text ? "%s" : "without %s", *text ? text : lacks);
}

static void reset(struct compare *c)
{
	strbuf_reset(&c->message);
	strbuf_reset(&c->expected);
	strbuf_reset(&c->actual);
}

static void judge_pair(struct compare *c, const struct audit_base_entry *old,
                       const struct audit_base_entry *now)
{
	int source = now->kind == BASE_SWAP ? 1 : same_source(old, now);
	bool same_type = strcmp(old->fstype, now->fstype) == 0;
	reset(c);
	strbuf_printf(&c->message, "differs from the baseline of %s: ", strbuf_str(&c->when));
	if (source < 0)
		audit_not_checked(c->report, BASE_CHANGED);
	if (source == 0 || !same_type || strcmp(old->root, now->root) != 0) {
		strbuf_puts(&c->message, source == 0  ? "source"
		                         : !same_type ? "type"
		                                      : "directory");
		put_shown(&c->expected, old);
		put_shown(&c->actual, now);
	}
	if (differ(c, old->options, now->options)) {
		const char *one = strbuf_str(&c->one), *other = strbuf_str(&c->other);
		strbuf_printf(&c->message, "%soptions", c->expected.len ? ", " : "");
		put_part(&c->expected, one, other);
		put_part(&c->actual, other, one);
	}
	if (c->expected.len) {
		++c->counts->changed;
		report_entry(c, BASE_CHANGED, now);
	}
}

static void judge_unpaired(struct compare *c, const struct audit_base_entry *entry, bool came,
                           bool booting)
{
	const char *state = entry->kind == BASE_SWAP ? "in use" : "mounted";
	if (!came && booting) {
		audit_not_checked(c->report, BASE_WENT);
		return;
	}
	reset(c);
	strbuf_printf(&c->message,
	              came ? "%s, but not in the baseline of %s"
	                   : "not %s, but in the baseline of %s",
	              state, strbuf_str(&c->when));
	strbuf_printf(came ? &c->expected : &c->actual, "not %s", state);
	put_shown(came ? &c->actual : &c->expected, entry);
	++*(came ? &c->counts->came : &c->counts->went);
	report_entry(c, came ? BASE_CAME : BASE_WENT, entry);
}

int audit_baseline_compare(const struct audit_baseline *old, const struct audit_baseline *now,
                           long uptime, struct audit_report *report,
                           struct audit_base_counts *counts)
{
	struct compare c = {.report = report, .counts = counts};
	struct strbuf *const texts[] = {&c.when,   &c.message, &c.expected,
	                                &c.actual, &c.one,     &c.other};
	uint64_t out = audit_baseline_left_out() & ~(old->include & now->include);
	struct pairs pairs;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_init(texts[i]);
	audit_baseline_when(old, &c.when);
	c.failed = !pairs_make(&pairs, &old->mounts, &now->mounts);
	for (size_t i = 0; !c.failed && i < now->mounts.count; ++i) {
		const struct audit_base_entry *entry = &now->mounts.entries[i];
		if (audit_owner_bit(entry->owner) & out)
			continue;
		if (pairs.now[i])
			judge_pair(&c, pairs.now[i], entry);
		else
			judge_unpaired(&c, entry, true, false);
	}
	for (size_t i = 0; !c.failed && i < old->mounts.count; ++i) {
		const struct audit_base_entry *entry = &old->mounts.entries[i];
		if (!pairs.old[i] && !(audit_owner_bit(entry->owner) & out))
			judge_unpaired(&c, entry, false, uptime >= 0 && uptime < BOOTING);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		c.failed |= texts[i]->failed;
		strbuf_destroy(texts[i]);
	}
	pairs_end(&pairs);
	if (c.failed)
		errno = ENOMEM;
	else
		audit_report_sort(report);
	return c.failed ? -1 : 0;
}

int audit_baseline_findings(const struct audit_baseline *old, struct audit_report *report,
                            const struct audit_set *rules, struct audit_baseline *now,
                            struct audit_base_counts *counts)
{
	struct pairs pairs = {0};
	bool failed = false;
	for (size_t i = 0; !failed && i < report->count; ++i) {
		struct audit_finding *f = &report->findings[i];
		if (!audit_set_has(rules, f->code) || audit_rules[f->code].flags & AR_BASELINE)
			continue;
		struct audit_base_entry *entry = audit_baseline_add(now, BASE_FINDING);
		failed = !entry;
		if (entry) {
			entry->target = audit_rules[f->code].code;
			entry->source = f->target;
			entry->finding = f;
		}
	}
	audit_baseline_sort(now);
	failed = failed || (old && !pairs_make(&pairs, &old->findings, &now->findings));
	for (size_t i = 0; !failed && old && i < now->findings.count; ++i) {
		struct audit_finding *f = now->findings.entries[i].finding;
		f->age = pairs.now[i]                          ? AUDIT_KNOWN
		         : audit_set_has(&old->rules, f->code) ? AUDIT_NEW
		                                               : AUDIT_AGELESS;
		counts->new_findings += f->age == AUDIT_NEW;
	}
	for (size_t i = 0; !failed && old && i < old->findings.count; ++i) {
		const char *name = old->findings.entries[i].target;
		int code = audit_code(name, strlen(name));
		counts->gone_findings += !pairs.old[i] && code >= 0
		                         && audit_set_has(rules, (enum audit_code)code);
	}
	pairs_end(&pairs);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
