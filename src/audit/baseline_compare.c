/* SPDX-License-Identifier: MIT */
/*
 * Make the lists of a baseline, and compare two baselines.
 *
 * Lists are sorted by the texts of the entries.  The entries of two lists are paired in three
 * rounds, in each of which both lists are merged: equal entries; then entries that differ only in
 * options; then entries with the same mount point.  Unpaired entries are new or missing.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "mountopts/edit.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

void audit_baseline_init(struct audit_baseline *baseline)
{
	*baseline = (struct audit_baseline){.host = "", .root = "/"};
}

void audit_baseline_destroy(struct audit_baseline *baseline)
{
	arena_destroy(&baseline->arena);
	audit_baseline_init(baseline);
}

struct audit_base_entry *audit_baseline_add(struct audit_baseline *baseline,
                                            enum audit_base_kind kind)
{
	struct audit_base_list *list = kind == BASE_FINDING ? &baseline->findings
	                                                    : &baseline->mounts;
	ARENA_PUSH(&baseline->arena, list->entries, list->count, (struct audit_base_entry){
		.kind = kind, .text = {"", "", "", "", "", "", ""}});
	return baseline->arena.failed ? NULL : &list->entries[list->count - 1];
}

/** The number of texts of two entries, in the order of audit_base_entry.text, that are compared:
    KEY_PLACE: only the mount point; KEY_SHOWN: all except options; KEY_ALL: also options. */
enum key { KEY_PLACE = 1, KEY_SHOWN = 5, KEY_ALL = 6 };

static int order_by(enum key key, const struct audit_base_entry *a,
                    const struct audit_base_entry *b)
{
	int order = (int)a->kind - (int)b->kind;
	for (int i = 0; i < (int)key && order == 0; ++i)
		order = strcmp(a->text[i], b->text[i]);
	return order;
}

static int compare_entries(const void *a, const void *b)
{
	return order_by(KEY_ALL, a, b);
}

void audit_baseline_sort(struct audit_baseline *b)
{
	struct audit_base_list *const lists[] = {&b->mounts, &b->findings};
	for (size_t i = 0; i < 2; ++i) {
		if (lists[i]->count)
			qsort(lists[i]->entries, lists[i]->count, sizeof(*lists[i]->entries),
			      compare_entries);
	}
}

void audit_baseline_when(const struct audit_baseline *baseline, struct strbuf *out)
{
	time_t seconds = (time_t)baseline->time;
	struct tm tm;
	char text[40];
	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &tm))
		*text = '\0';
	strbuf_puts(out, text);
}

/** Set `pair` of all entries of two sorted lists. */
static void pair(struct audit_base_list *old, struct audit_base_list *now)
{
	static const enum key keys[] = {KEY_ALL, KEY_SHOWN, KEY_PLACE};
	for (size_t i = 0; i < old->count; ++i)
		old->entries[i].pair = NULL;
	for (size_t k = 0; k < now->count; ++k)
		now->entries[k].pair = NULL;
	for (size_t round = 0; round < 3; ++round) {
		for (size_t i = 0, k = 0; i < old->count && k < now->count;) {
			struct audit_base_entry *was = &old->entries[i], *is = &now->entries[k];
			/* Of a finding, only code, target and, if detailed, severity are not
			   empty: all are compared in each round. */
			enum key key = was->kind == BASE_FINDING ? KEY_ALL : keys[round];
			int order = was->pair ? -1 : is->pair ? 1 : order_by(key, was, is);
			if (order == 0) {
				was->pair = is;
				is->pair = was;
			}
			i += order <= 0;
			k += order >= 0;
		}
	}
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

struct compare {
	struct audit_report *report;
	struct audit_base_counts *counts;
	struct strbuf when;
};

static void report_entry(struct compare *c, enum audit_code code,
                         const struct audit_base_entry *entry, const char *expected,
                         const char *actual, const char *message)
{
	struct audit_finding at = {.target = entry->target, .fstype = entry->fstype,
	                           .owner = *entry->owner ? entry->owner : NULL};
	audit_add_at(c->report, &at, code,
	             entry->light && code != BASE_CHANGED ? AUDIT_INFO : AUDIT_WARNING, expected,
	             actual, "if this is intended, save a new baseline with --save", "%s", message);
}

/** Format source, type and directory of an entry for a finding. */
static const char *shown(struct compare *c, const struct audit_base_entry *entry)
{
	bool uuid = *entry->uuid && strncmp(entry->source, "UUID=", 5) != 0;
	bool root = *entry->root && strcmp(entry->root, "/") != 0;
	return audit_format(c->report, "%s (%s%s%s)%s%s", *entry->source ? entry->source : "none",
	                    *entry->fstype ? entry->fstype : "?", uuid ? ", UUID=" : "",
	                    uuid ? entry->uuid : "", root ? ", its " : "", root ? entry->root : "");
}

/** List the options of `list` that are not in `other`. */
static const char *lacking(struct compare *c, const char *list, const char *other)
{
	struct strbuf out = {.arena = &c->report->arena};
	opt_lacking(list, other, &out);
	return strbuf_str(&out);
}

static void check_pair(struct compare *c, const struct audit_base_entry *old,
                       const struct audit_base_entry *now)
{
	int source = now->kind == BASE_SWAP ? 1 : same_source(old, now);
	bool same_type = strcmp(old->fstype, now->fstype) == 0;
	bool differs = source == 0 || !same_type || strcmp(old->root, now->root) != 0;
	const char *gone = lacking(c, old->options, now->options);
	const char *added = lacking(c, now->options, old->options);
	const char *texts[2];
	bool options = *gone || *added;
	if (source < 0)
		audit_not_checked(c->report, BASE_CHANGED);
	if (!differs && !options)
		return;
	for (int i = 0; i < 2; ++i) {
		const char *has = i ? added : gone, *lacks = i ? gone : added;
		texts[i] = audit_format(c->report, "%s%s%s%s",
		                        differs ? shown(c, i ? now : old) : "",
		                        differs && options ? "; " : "",
		                        options && !*has ? "without " : "", *has ? has : lacks);
	}
	++c->counts->changed;
	report_entry(c, BASE_CHANGED, now, texts[0], texts[1],
	             audit_format(c->report, "differs from the baseline of %s: %s%s%s",
	                          strbuf_str(&c->when), !differs ? "" : source == 0 ? "source"
	                          : !same_type ? "type" : "directory",
	                          differs && options ? ", " : "", options ? "options" : ""));
}

static void check_unpaired(struct compare *c, const struct audit_base_entry *entry, bool came)
{
	const char *state = entry->kind == BASE_SWAP ? "in use" : "mounted";
	const char *none = audit_format(c->report, "not %s", state), *is = shown(c, entry);
	++*(came ? &c->counts->came : &c->counts->went);
	report_entry(c, came ? BASE_CAME : BASE_WENT, entry, came ? none : is, came ? is : none,
	             audit_format(c->report, "%s, but %sin the baseline of %s", came ? state : none,
	                          came ? "not " : "", strbuf_str(&c->when)));
}

const char *const audit_base_owners[] = {"container", "credentials", "session", NULL};

unsigned audit_baseline_owner(const char *owner)
{
	for (unsigned i = 0; audit_base_owners[i]; ++i) {
		if (audit_is_owner(owner, audit_base_owners[i]))
			return 1u << i;
	}
	return 0;
}

int audit_baseline_compare(struct audit_baseline *old, struct audit_baseline *now, long uptime,
                           struct audit_report *report, struct audit_base_counts *counts)
{
	struct compare c = {.report = report, .counts = counts, .when.arena = &report->arena};
	unsigned left_out = ~(old->include & now->include);
	bool booting = uptime >= 0 && uptime < AUDIT_BOOTING;
	audit_baseline_when(old, &c.when);
	pair(&old->mounts, &now->mounts);
	for (size_t i = 0; !report->arena.failed && i < now->mounts.count; ++i) {
		const struct audit_base_entry *entry = &now->mounts.entries[i];
		if (audit_baseline_owner(entry->owner) & left_out)
			continue;
		if (entry->pair)
			check_pair(&c, entry->pair, entry);
		else
			check_unpaired(&c, entry, true);
	}
	for (size_t i = 0; !report->arena.failed && i < old->mounts.count; ++i) {
		const struct audit_base_entry *entry = &old->mounts.entries[i];
		if (entry->pair || audit_baseline_owner(entry->owner) & left_out)
			continue;
		if (booting)
			audit_not_checked(report, BASE_WENT);
		else
			check_unpaired(&c, entry, false);
	}
	return audit_finish(report);
}

int audit_baseline_findings(struct audit_baseline *old, struct audit_report *report,
                            audit_set rules, struct audit_baseline *now,
                            struct audit_base_counts *counts)
{
	for (size_t i = 0; i < report->count; ++i) {
		struct audit_finding *f = &report->findings[i];
		if (!audit_set_has(rules, f->code))
			continue;
		struct audit_base_entry *entry = audit_baseline_add(now, BASE_FINDING);
		if (!entry)
			return -1;
		entry->target = audit_rules[f->code].code;
		entry->source = f->target;
		entry->finding = f;
		if (now->detailed) {
			entry->uuid = audit_severity_name(f->severity);
			entry->owner = f->owner ? f->owner : "";
		}
	}
	audit_baseline_sort(now);
	if (!old)
		return 0;
	pair(&old->findings, &now->findings);
	for (size_t i = 0; i < now->findings.count; ++i) {
		struct audit_finding *f = now->findings.entries[i].finding;
		f->age = now->findings.entries[i].pair         ? AUDIT_KNOWN
		         : audit_set_has(old->rules, f->code) ? AUDIT_NEW
		                                               : AUDIT_AGELESS;
		counts->new_findings += f->age == AUDIT_NEW;
	}
	for (size_t i = 0; i < old->findings.count; ++i) {
		const char *name = old->findings.entries[i].target;
		int code = audit_code(name, strlen(name));
		counts->gone_findings += !old->findings.entries[i].pair && code >= 0
		                         && audit_set_has(rules, (enum audit_code)code);
	}
	return 0;
}
