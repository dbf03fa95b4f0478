/* SPDX-License-Identifier: MIT */
/*
 * What there was against what there is.
 *
 * Entries find each other in rounds, each linear: first those that are alike in all, also in
 * the kernel's names, then in all that counts, then those of one place that show the same, then those of one place.  So each of a stack has
 * its own one, and what is left over on a place has come or gone.
 */
#include "audit/baseline.h"

#include "audit/audit_impl.h"
#include "audit/owner.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { BOOTING = 300 };   /* seconds; drift.h has the same */

/** How much two entries have in common. */
enum round { EXACT, ALL, SHOWN, PLACE, ROUNDS };

struct side {
	const struct audit_baseline *of;
	bool *out;               /* of each entry: left out */
	uint32_t *pair;          /* of each: the one of the other side, or MAP64_NONE */
	struct map64 by_target;  /* hash of a target -> an entry of it */
	struct map64 triggers;   /* the same of automounts' triggers */
};

struct compare {
	struct side old, now;
	struct map64 noauto;     /* hashes of targets of lines with noauto */
	struct map64 told;       /* superblocks whose options were told to have changed */
	struct audit_report *report;
	struct strbuf when, message, expected, actual, one, other;
	bool booting;
	bool failed;
};

static bool same(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}

/** Whether a source is a name of a disk that may be another's. */
static bool is_loose(const char *source)
{
	return audit_is_unstable(source);
}

/** What an entry shows, by the best that is known. */
static const char *identity(const struct audit_base_entry *e)
{
	return *e->name ? e->name : *e->uuid ? e->uuid : is_loose(e->source) ? "" : e->source;
}

/** What tells a swap space from another. */
static const char *place(const struct audit_base_entry *e)
{
	return !e->swap ? e->target : *identity(e) ? identity(e) : e->source;
}

/** Whether two show the same device or source: 1, 0; -1: that cannot be told. */
static int same_source(const struct audit_base_entry *a, const struct audit_base_entry *b)
{
	bool uuids = *a->uuid && *b->uuid, names = *a->name && *b->name;
	if ((uuids && !same(a->uuid, b->uuid)) || (names && !same(a->name, b->name)))
		return 0;
	if (uuids || names || same(a->source, b->source))
		return 1;
	bool devices = strncmp(a->source, "/dev/", 5) == 0 && strncmp(b->source, "/dev/", 5) == 0;
	return devices && (is_loose(a->source) || is_loose(b->source)) ? -1 : 0;
}

static bool alike(const struct audit_base_entry *a, const struct audit_base_entry *b, enum round round)
{
	if (a->swap != b->swap || !same(place(a), place(b)))
		return false;
	if (round == PLACE)
		return true;
	if (!same(a->fstype, b->fstype) || !same(a->root, b->root) || same_source(a, b) == 0)
		return false;
	if (round == EXACT && (!same(a->name, b->name) || !same(a->uuid, b->uuid) || !same(a->source, b->source)))
		return false;
	return round == SHOWN || (same(a->options, b->options) && same(a->super, b->super) && same(a->propagation, b->propagation));
}

static uint64_t mix(uint64_t hash, const char *text)
{
	return map64_bytes(hash, text, strlen(text) + 1);
}

static uint64_t hash_of(const struct audit_base_entry *e, enum round round)
{
	uint64_t hash = mix(mix(MAP64_BYTES, e->swap ? "s" : "m"), place(e));
	if (round <= SHOWN)
		hash = mix(mix(mix(hash, e->fstype), e->root), identity(e));
	if (round == EXACT)
		hash = mix(mix(hash, e->uuid), e->source);
	if (round <= ALL)
		hash = mix(mix(mix(hash, e->options), e->super), e->propagation);
	return hash;
}

/** Let those find each other that have so much in common.  Each of the same hash waits in a
    row. */
static bool pair_round(struct compare *c, enum round round, uint32_t *next, uint32_t *head, uint32_t *tail)
{
	const struct audit_baseline *old = c->old.of, *now = c->now.of;
	struct map64 rows;
	bool good = true;
	map64_init(&rows);
	for (uint32_t i = 0; good && i < old->count; ++i) {
		if (c->old.pair[i] != MAP64_NONE)
			continue;
		uint32_t row = map64_put(&rows, hash_of(&old->entries[i], round), i);
		good = row != MAP64_NONE;
		next[i] = MAP64_NONE;
		if (row == i)
			head[i] = i;
		else if (good && head[row] == MAP64_NONE)
			head[row] = i;
		else if (good)
			next[tail[row]] = i;
		if (good)
			tail[row] = i;
	}
	for (uint32_t i = 0; good && i < now->count; ++i) {
		uint32_t row = c->now.pair[i] == MAP64_NONE ? map64_get(&rows, hash_of(&now->entries[i], round)) : MAP64_NONE;
		uint32_t first = row == MAP64_NONE ? MAP64_NONE : head[row];
		if (first == MAP64_NONE || !alike(&old->entries[first], &now->entries[i], round))
			continue;
		head[row] = next[first];
		c->old.pair[first] = i;
		c->now.pair[i] = first;
	}
	map64_destroy(&rows);
	return good;
}

static bool pair_all(struct compare *c)
{
	size_t n = c->old.of->count + 1;
	uint32_t *next = calloc(3 * n, sizeof(*next));
	bool good = next != NULL;
	for (int round = EXACT; good && round < ROUNDS; ++round)
		good = pair_round(c, (enum round)round, next, next + n, next + 2 * n);
	free(next);
	return good;
}

static bool side_make(struct side *side, const struct audit_baseline *of, uint64_t out)
{
	side->of = of;
	side->out = calloc(of->count + 1, sizeof(*side->out));
	side->pair = calloc(of->count + 1, sizeof(*side->pair));
	bool good = side->out && side->pair;
	for (uint32_t i = 0; good && i < of->count; ++i) {
		const struct audit_base_entry *e = &of->entries[i];
		side->pair[i] = MAP64_NONE;
		side->out[i] = audit_owner_bit(e->owner) & out;
		if (e->swap)
			continue;
		good = map64_put(&side->by_target, map64_text(e->target), i) != MAP64_NONE
		       && (!(fstype_flags(e->fstype) & FST_AUTOFS) || map64_put(&side->triggers, map64_text(e->target), i) != MAP64_NONE);
	}
	return good;
}

static void side_end(struct side *side)
{
	free(side->out);
	free(side->pair);
	map64_destroy(&side->by_target);
	map64_destroy(&side->triggers);
}

/** Whether a mount comes and goes without anybody: on or below a trigger, or shown by a
    server below another of its mounts. */
static bool is_moved(const struct side *side, const struct audit_base_entry *e)
{
	bool trigger = fstype_flags(e->fstype) & FST_AUTOFS, net = fstype_flags(e->fstype) & FST_NET && !same(e->owner, "fstab");
	const char *target = e->target;
	size_t n = strlen(target);
	for (bool self = true; n > 0 && !e->swap; self = false) {
		uint64_t hash = map64_bytes(MAP64_BYTES, target, n);
		if (!(self && trigger) && map64_get(&side->triggers, hash) != MAP64_NONE)
			return true;
		uint32_t i = self || !net ? MAP64_NONE : map64_get(&side->by_target, hash);
		if (i != MAP64_NONE && same(side->of->entries[i].fstype, e->fstype))
			return true;
		while (n > 0 && target[n - 1] != '/')
			--n;
		n -= n > 0;
	}
	return false;
}

/** What comes and goes as somebody likes, or as the kernel does. */
static bool is_light(const struct compare *c, const struct audit_base_entry *e)
{
	static const char *const owners[] = {"api", "nsfs", "snap", "udisks", "user"};
	bool light = e->noauto || (!e->swap && map64_get(&c->noauto, map64_text(e->target)) != MAP64_NONE);
	for (size_t i = 0; i < sizeof(owners) / sizeof(*owners); ++i)
		light |= audit_is_owner(e->owner, owners[i]);
	return light;
}

static void tell(struct compare *c, struct audit_finding *finding, const struct audit_base_entry *e)
{
	finding->target = e->target;
	finding->owner = *e->owner ? e->owner : NULL;
	finding->fstype = e->swap ? "swap" : e->fstype;
	finding->message = strbuf_str(&c->message);
	if (c->expected.len)
		finding->expected = strbuf_str(&c->expected);
	if (c->actual.len)
		finding->actual = strbuf_str(&c->actual);
	finding->hint = "if it is meant so, save a new baseline: --save";
	c->failed |= audit_report_add(c->report, finding) != 0;
}

static void reset(struct compare *c)
{
	strbuf_reset(&c->message);
	strbuf_reset(&c->expected);
	strbuf_reset(&c->actual);
}

/** A source, type, and what of it is shown. */
static void put_shown(struct strbuf *out, const struct audit_base_entry *e)
{
	if (*e->name)
		strbuf_puts(out, e->name);
	else if (*e->uuid)
		strbuf_printf(out, "UUID=%s", e->uuid);
	else
		strbuf_puts(out, *e->source ? e->source : "none");
	strbuf_printf(out, " (%s", e->swap ? "swap" : *e->fstype ? e->fstype : "?");
	if (*e->name && *e->uuid && !e->swap)
		strbuf_printf(out, ", UUID=%s", e->uuid);
	strbuf_putc(out, ')');
	if (*e->root && !same(e->root, "/"))
		strbuf_printf(out, ", %s of it", e->root);
}

/* What changed. */

/** The next word of a list with commas; false: the end. */
static bool next_word(const char **list, const char **word, size_t *n)
{
	if (!**list)
		return false;
	*word = *list;
	*n = strcspn(*list, ",");
	*list += *n + ((*list)[*n] == ',');
	return true;
}

static void add_word(struct strbuf *out, const char *word, size_t n)
{
	if (out->len)
		strbuf_putc(out, ',');
	strbuf_add(out, word, n);
}

/** Whether an option of a tmpfs follows the memory that there is: it does where nobody is
    known to have said it. */
static bool is_sized(const struct audit_base_entry *e, const char *word, size_t n)
{
	size_t name = opt_name(word, n);
	bool said = same(e->owner, "fstab") || same(e->owner, "unknown");
	return !said && (same(e->fstype, "tmpfs") || same(e->fstype, "devtmpfs"))
	       && (word_is(word, name, "size") || word_is(word, name, "nr_inodes") || word_is(word, name, "nr_blocks"));
}

/** What only one of two sorted lists has, into one and other.  @return whether there is any. */
static bool differ(struct compare *c, const struct audit_base_entry *old, const struct audit_base_entry *now, const char *a, const char *b)
{
	const char *x = NULL, *y = NULL;
	size_t nx = 0, ny = 0;
	strbuf_reset(&c->one);
	strbuf_reset(&c->other);
	bool left = next_word(&a, &x, &nx), right = next_word(&b, &y, &ny);
	while (left || right) {
		size_t n = nx < ny ? nx : ny;
		int order = !right ? -1 : !left ? 1 : memcmp(x, y, n);
		order = order ? order : nx < ny ? -1 : nx > ny;
		if (order < 0 && !is_sized(old, x, nx) && !is_sized(now, x, nx))
			add_word(&c->one, x, nx);
		if (order > 0 && !is_sized(old, y, ny) && !is_sized(now, y, ny))
			add_word(&c->other, y, ny);
		if (order <= 0)
			left = next_word(&a, &x, &nx);
		if (order >= 0)
			right = next_word(&b, &y, &ny);
	}
	return c->one.len || c->other.len;
}

static void part(struct strbuf *out, const char *head, const char *text)
{
	strbuf_printf(out, "%s%s%s", out->len ? "; " : "", head, text);
}

/** Tell what differ() has found. */
static void tell_differ(struct compare *c, const char *head)
{
	const char *one = strbuf_str(&c->one), *other = strbuf_str(&c->other);
	part(&c->expected, *one ? head : "without ", *one ? one : other);
	part(&c->actual, *other ? head : "without ", *other ? other : one);
}

static void judge_pair(struct compare *c, const struct audit_base_entry *old, const struct audit_base_entry *now)
{
	int source = now->swap ? 1 : same_source(old, now);
	const char *between = "";
	reset(c);
	strbuf_printf(&c->message, "it is not as in the baseline of %s: ", strbuf_str(&c->when));
	if (source < 0)
		c->report->unjudged |= audit_bit(BASE_CHANGED);
	if (source == 0 || !same(old->fstype, now->fstype) || !same(old->root, now->root)) {
		const char *what = source == 0 ? "source" : !same(old->fstype, now->fstype) ? "type" : "directory or subvolume";
		strbuf_puts(&c->message, what);
		put_shown(&c->expected, old);
		put_shown(&c->actual, now);
		between = ", ";
	}
	if (differ(c, old, now, old->options, now->options)) {
		strbuf_printf(&c->message, "%soptions", between);
		tell_differ(c, "");
		between = ", ";
	}
	/* Those of a file system are shown by each of its mounts. */
	if (source != 0 && same(old->fstype, now->fstype)) {
		bool others = differ(c, old, now, old->super, now->super);
		uint32_t self = (uint32_t)(now - c->now.of->entries), first = others ? map64_put(&c->told, now->dev, self) : self;
		c->failed |= others && first == MAP64_NONE;
		if (others && (first == self || *between)) {
			strbuf_printf(&c->message, "%soptions of the file system", between);
			tell_differ(c, "");
			between = ", ";
		}
	}
	if (*old->propagation && *now->propagation && !same(old->propagation, now->propagation)) {
		strbuf_printf(&c->message, "%spropagation", between);
		part(&c->expected, "", old->propagation);
		part(&c->actual, "", now->propagation);
		between = ", ";
	}
	if (*between)
		tell(c, &(struct audit_finding){.code = BASE_CHANGED, .severity = AUDIT_WARNING}, now);
}

/* What came and went. */

/** Tell of what is left over on a side, each place once. */
static void judge_left(struct compare *c, const struct side *side, bool came)
{
	const struct audit_base_entry *entries = side->of->entries;
	size_t count = side->of->count;
	uint32_t *times = calloc(count + 1, sizeof(*times));
	struct map64 seen;
	map64_init(&seen);
	c->failed |= !times;
	for (uint32_t i = 0; !c->failed && i < count; ++i) {
		const struct audit_base_entry *e = &entries[i];
		if (side->pair[i] != MAP64_NONE || side->out[i] || is_moved(&c->old, e) || is_moved(&c->now, e))
			continue;
		uint32_t first = map64_put(&seen, hash_of(e, PLACE), i);
		c->failed |= first == MAP64_NONE;
		if (!c->failed)
			++times[alike(&entries[first], e, PLACE) ? first : i];
	}
	map64_destroy(&seen);
	for (uint32_t i = 0; !c->failed && i < count; ++i) {
		const struct audit_base_entry *e = &entries[i];
		if (!times[i])
			continue;
		if (!came && c->booting) {
			c->report->unjudged |= audit_bit(BASE_WENT);
			continue;
		}
		const char *what = e->swap ? "in use" : "mounted";
		bool many = times[i] > 1;
		reset(c);
		if (many || (!e->swap && map64_get(came ? &c->old.by_target : &c->now.by_target, map64_text(e->target)) != MAP64_NONE))
			strbuf_printf(&c->message, came ? "%u mount%s there %s not in the baseline of %s" : "%u mount%s there %s gone since the baseline of %s",
			              (unsigned)times[i], many ? "s" : "", many ? "are" : "is", strbuf_str(&c->when));
		else
			strbuf_printf(&c->message, came ? "it is %s, and is not in the baseline of %s" : "it is not %s any more, as it is in the baseline of %s",
			              what, strbuf_str(&c->when));
		strbuf_puts(came ? &c->expected : &c->actual, "not ");
		strbuf_puts(came ? &c->expected : &c->actual, what);
		put_shown(came ? &c->actual : &c->expected, e);
		tell(c, &(struct audit_finding){
			.code = came ? BASE_CAME : BASE_WENT, .severity = is_light(c, e) ? AUDIT_INFO : AUDIT_WARNING}, e);
	}
	free(times);
}

/** Note the places of lines with noauto. */
static bool note_noauto(struct compare *c, const struct tablines *lines)
{
	bool good = true;
	size_t n;
	for (size_t i = 0; good && lines && i < lines->count; ++i) {
		const char *target = tabline_value(&lines->lines[i], TABLINE_TARGET);
		const char *options = tabline_value(&lines->lines[i], TABLINE_OPTIONS);
		if (target && options && opt_find(options, "noauto", 6, &n))
			good = map64_put(&c->noauto, map64_text(target), 0) != MAP64_NONE;
	}
	return good;
}

int audit_baseline_compare(const struct audit_baseline *old, const struct audit_baseline *now,
                           const struct tablines *lines, long uptime, struct audit_report *report)
{
	struct compare c = {.report = report, .booting = uptime >= 0 && uptime < BOOTING};
	struct strbuf *const texts[] = {&c.when, &c.message, &c.expected, &c.actual, &c.one, &c.other};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_init(texts[i]);
	struct map64 *const maps[] = {&c.old.by_target, &c.old.triggers, &c.now.by_target, &c.now.triggers, &c.noauto, &c.told};
	for (size_t i = 0; i < sizeof(maps) / sizeof(*maps); ++i)
		map64_init(maps[i]);
	uint64_t out = audit_baseline_left_out() & ~(old->include & now->include);
	audit_baseline_when(old, &c.when);
	c.failed = !side_make(&c.old, old, out) || !side_make(&c.now, now, out) || !note_noauto(&c, lines) || !pair_all(&c);
	/* First those of which more is told than what their file system has. */
	for (size_t k = 0; !c.failed && k < 2 * now->count; ++k) {
		uint32_t i = (uint32_t)(k % now->count), pair = c.now.pair[i];
		if (pair == MAP64_NONE || c.now.out[i] || c.old.out[pair])
			continue;
		const struct audit_base_entry *was = &old->entries[pair], *is = &now->entries[i];
		if ((!same(was->options, is->options) || !same(was->propagation, is->propagation)) == (k < now->count))
			judge_pair(&c, was, is);
	}
	if (!c.failed) {
		judge_left(&c, &c.now, true);
		judge_left(&c, &c.old, false);
	}
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		c.failed |= texts[i]->failed;
		strbuf_destroy(texts[i]);
	}
	side_end(&c.old);
	side_end(&c.now);
	map64_destroy(&c.noauto);
	map64_destroy(&c.told);
	if (!c.failed)
		audit_report_sort(report);
	else
		errno = ENOMEM;
	return c.failed ? -1 : 0;
}

/* Which findings are new. */

static uint64_t finding_hash(const char *code, const char *target)
{
	return mix(mix(MAP64_BYTES, code), target);
}

static bool is_base(enum audit_code code)
{
	return code == BASE_CAME || code == BASE_WENT || code == BASE_CHANGED;
}

int audit_baseline_age(const struct audit_baseline *old, struct audit_report *report, uint64_t rules, size_t *fresh, size_t *gone)
{
	uint32_t *times = calloc(old->nfindings + 1, sizeof(*times));
	struct map64 known;
	bool failed = !times;
	map64_init(&known);
	*fresh = *gone = 0;
	for (uint32_t i = 0; !failed && i < old->nfindings; ++i) {
		const struct audit_base_finding *f = &old->findings[i];
		uint32_t first = map64_put(&known, finding_hash(f->code, f->target), i);
		failed = first == MAP64_NONE;
		if (!failed)
			++times[first];
	}
	for (size_t i = 0; !failed && i < report->count; ++i) {
		struct audit_finding *f = &report->findings[i];
		const char *code = audit_rules[f->code].code;
		f->age = AUDIT_AGELESS;
		if (is_base(f->code) || !(rules & audit_bit(f->code)))
			continue;
		uint32_t first = map64_get(&known, finding_hash(code, f->target));
		bool is_known = first != MAP64_NONE && times[first] && same(old->findings[first].code, code)
		                && same(old->findings[first].target, f->target);
		if (is_known)
			--times[first];
		f->age = is_known ? AUDIT_KNOWN : old->rules & audit_bit(f->code) ? AUDIT_NEW : AUDIT_AGELESS;
		*fresh += f->age == AUDIT_NEW;
	}
	for (size_t i = 0; !failed && i < old->nfindings; ++i) {
		int code = audit_code(old->findings[i].code, strlen(old->findings[i].code));
		if (code >= 0 && rules & audit_bit((enum audit_code)code))
			*gone += times[i];
	}
	map64_destroy(&known);
	free(times);
	if (failed)
		errno = ENOMEM;
	return failed ? -1 : 0;
}
