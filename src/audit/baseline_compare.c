/* SPDX-License-Identifier: MIT */
/*
 * The lists of a baseline, and comparing two baselines.
 *
 * Lists are sorted by their keys.  Entries are paired in three rounds, each one merge of the
 * two lists: entries that are equal, then entries of one mount point with the same source, then the
 * rest of a mount point.  What remains has come or gone.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "base/array.h"
#include "mountopts/optlist.h"
#include "mountopts/optset.h"

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
	if (!ARRAY_ROOM(list->entries, list->count, &list->room))
		return NULL;
	list->entries[list->count] = (struct audit_base_entry){
		.kind = kind, .target = "", .source = "", .uuid = "", .fstype = "", .root = "",
		.options = "", .owner = "",
	};
	return &list->entries[list->count++];
}

/** How much of two entries is compared. */
enum key { KEY_PLACE, KEY_SHOWN, KEY_ALL };

static int order_by(enum key key, const struct audit_base_entry *a,
                    const struct audit_base_entry *b)
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
			enum key by = was->kind == BASE_FINDING ? KEY_ALL : (enum key)key;
			int order = pairs->old[i]   ? -1
			            : pairs->now[k] ? 1
			                            : order_by(by, was, is);
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
	strbuf_reset(&c->message);
	strbuf_reset(&c->expected);
	strbuf_reset(&c->actual);
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

/** Put the options of a list that the other list lacks. */
static void put_lacking(struct compare *c, const char *list, const char *other, struct strbuf *out)
{
	struct opt_set set;
	size_t n;
	opt_set_init(&set, true);
	opt_set_add_list(&set, other, opt_next_shown);
	strbuf_reset(out);
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (!opt_set_find(&set, o, n))
			opt_add(out, o, n);
	}
	c->failed |= set.failed;
	opt_set_destroy(&set);
}

static void put_part(struct strbuf *out, const char *text, const char *lacks)
{
	strbuf_puts(out, out->len ? "; " : "");
	strbuf_printf(out, *text ? "%s" : "without %s", *text ? text : lacks);
}

static void judge_pair(struct compare *c, const struct audit_base_entry *old,
                       const struct audit_base_entry *now)
{
	int source = now->kind == BASE_SWAP ? 1 : same_source(old, now);
	bool same_type = strcmp(old->fstype, now->fstype) == 0;
	bool differs = source == 0 || !same_type || strcmp(old->root, now->root) != 0;
	put_lacking(c, old->options, now->options, &c->one);
	put_lacking(c, now->options, old->options, &c->other);
	if (source < 0)
		audit_not_checked(c->report, BASE_CHANGED);
	if (!differs && !c->one.len && !c->other.len)
		return;
	strbuf_printf(&c->message, "differs from the baseline of %s: ", strbuf_str(&c->when));
	if (differs) {
		strbuf_puts(&c->message, source == 0  ? "source"
		                         : !same_type ? "type"
		                                      : "directory");
		put_shown(&c->expected, old);
		put_shown(&c->actual, now);
	}
	if (c->one.len || c->other.len) {
		const char *one = strbuf_str(&c->one), *other = strbuf_str(&c->other);
		strbuf_printf(&c->message, "%soptions", differs ? ", " : "");
		put_part(&c->expected, one, other);
		put_part(&c->actual, other, one);
	}
	++c->counts->changed;
	report_entry(c, BASE_CHANGED, now);
}

static void judge_unpaired(struct compare *c, const struct audit_base_entry *entry, bool came,
                           bool booting)
{
	const char *state = entry->kind == BASE_SWAP ? "in use" : "mounted";
	if (!came && booting) {
		audit_not_checked(c->report, BASE_WENT);
		return;
	}
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
	uint64_t included = old->include & now->include;
	struct pairs pairs;
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_init(texts[i]);
	audit_baseline_when(old, &c.when);
	c.failed = !pairs_make(&pairs, &old->mounts, &now->mounts);
	for (size_t i = 0; !c.failed && i < now->mounts.count; ++i) {
		const struct audit_base_entry *entry = &now->mounts.entries[i];
		if (audit_baseline_owner(entry->owner) & ~included)
			continue;
		if (pairs.now[i])
			judge_pair(&c, pairs.now[i], entry);
		else
			judge_unpaired(&c, entry, true, false);
	}
	for (size_t i = 0; !c.failed && i < old->mounts.count; ++i) {
		const struct audit_base_entry *entry = &old->mounts.entries[i];
		if (!pairs.old[i] && !(audit_baseline_owner(entry->owner) & ~included))
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
