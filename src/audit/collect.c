/* SPDX-License-Identifier: MIT */
#include "audit/collect.h"

#include <stdlib.h>
#include <string.h>

const char *collect_state_name(enum collect_state state)
{
	static const char *const names[COLLECT_STATES] = {
		[COLLECT_CLEAN] = "clean", [COLLECT_INCOMPLETE] = "incomplete", [COLLECT_FINDINGS] = "findings", [COLLECT_FAILED] = "failed",
		[COLLECT_STALE] = "stale", [COLLECT_UNREAD] = "unread", [COLLECT_MISSING] = "missing",
	};
	return names[state];
}

const char *collect_trouble_name(enum collect_trouble trouble)
{
	static const char *const names[COLLECT_TROUBLES] = {
		[COLLECT_DUPLICATE] = "duplicate", [COLLECT_CUT] = "cut", [COLLECT_DAMAGED] = "damaged", [COLLECT_OLDER] = "older",
		[COLLECT_NEWER] = "newer",
	};
	return names[trouble];
}

void collect_init(struct collection *c)
{
	*c = (struct collection){0};
	intern_init(&c->names);
	intern_init(&c->codes);
	intern_init(&c->texts);
	arena_init(&c->arena);
	arena_init(&c->judged);
}

void collect_destroy(struct collection *c)
{
	for (int i = 0; i < COLLECT_TROUBLES; ++i)
		free(c->told[i]);
	free(c->hosts);
	free(c->files);
	intern_destroy(&c->names);
	intern_destroy(&c->codes);
	intern_destroy(&c->texts);
	arena_destroy(&c->arena);
	arena_destroy(&c->judged);
}

int collect_file(struct collection *c, const char *name)
{
	const char **more = realloc(c->files, (c->nfiles + 1) * sizeof(*more));
	if (!more)
		return -1;
	c->files = more;
	if (!(c->files[c->nfiles] = arena_strndup(&c->arena, name, strlen(name))))
		return -1;
	return (int)c->nfiles++;
}

int collect_note(struct collection *c, enum collect_trouble trouble, struct collect_place place, const char *why)
{
	size_t n = c->ntold[trouble];
	uint32_t text = 0;
	++c->troubles[trouble];
	if (n == COLLECT_PLACES_MAX)
		return 0;
	if ((n & (n - 1)) == 0) {
		struct collect_told *more = realloc(c->told[trouble], (n ? 2 * n : 1) * sizeof(*more));
		if (!more)
			return -1;
		c->told[trouble] = more;
	}
	if (why && intern_put(&c->texts, why, strlen(why), &text) != 0)
		return -1;
	c->told[trouble][c->ntold[trouble]++] = (struct collect_told){place, why ? c->texts.of[text] : NULL};
	return 0;
}

/** The host of a name, which is made if there is none.  @return it, or NULL: ENOMEM. */
static struct collect_host *host_of(struct collection *c, const char *name)
{
	uint32_t at;
	size_t before = c->names.count;
	if (c->room == before) {
		size_t room = c->room ? 2 * c->room : 64;
		struct collect_host *more = realloc(c->hosts, room * sizeof(*more));
		if (!more)
			return NULL;
		c->hosts = more;
		c->room = room;
	}
	if (intern_put(&c->names, name, strlen(name), &at) != 0)
		return NULL;
	if (at == before)
		c->hosts[at] = (struct collect_host){.why = INTERN_NONE};
	return &c->hosts[at];
}

int collect_expect(struct collection *c, const char *name)
{
	struct collect_host *host = host_of(c, name);
	if (!host)
		return -1;
	host->expected = c->expects = true;
	return 0;
}

static int compare_found(const void *x, const void *y)
{
	const struct collect_found *a = x, *b = y;
	if (a->code != b->code)
		return a->code < b->code ? -1 : 1;
	return (int)a->severity - (int)b->severity;
}

/** Copy what was found, each code and severity once.  @return 0, or -1: ENOMEM. */
static int take_findings(struct collection *c, const struct collect_line *line, struct collect_host *host)
{
	size_t n = line->nfindings + line->nunjudged, left = 0;
	uint32_t code;
	if (n == 0)
		return 0;
	struct collect_found *found = malloc(n * sizeof(*found));
	if (!found)
		return -1;
	for (size_t i = 0; i < n; ++i) {
		const struct collect_finding *f = i < line->nfindings ? &line->findings[i] : NULL;
		const char *name = f ? f->code : line->unjudged[i - line->nfindings];
		if (intern_put(&c->codes, name, strlen(name), &code) != 0) {
			free(found);
			return -1;
		}
		found[i] = (struct collect_found){code, f ? f->severity : COLLECT_UNJUDGED, 1};
	}
	qsort(found, n, sizeof(*found), compare_found);
	for (size_t i = 0; i < n; ++i) {
		if (left > 0 && compare_found(&found[i], &found[left - 1]) == 0)
			++found[left - 1].count;
		else
			found[left++] = found[i];
	}
	struct collect_found *kept = arena_alloc(&c->arena, left * sizeof(*kept));
	if (kept) {
		memcpy(kept, found, left * sizeof(*kept));
		host->found = kept;
		host->nfound = (uint32_t)left;
	}
	free(found);
	return kept ? 0 : -1;
}

int collect_add(struct collection *c, const struct collect_line *line, struct collect_place place)
{
	struct collect_host *host = host_of(c, line->host);
	if (!host)
		return -1;
	bool again = host->place.line != 0;
	++c->lines;
	if (again) {
		bool newer = line->time >= host->time;
		if (collect_note(c, COLLECT_DUPLICATE, newer ? host->place : place, NULL) != 0)
			return -1;
		if (!newer)
			return 0;
	}
	const char *why = line->failed ? line->failed : line->complete ? NULL : line->reason;
	struct collect_host taken = {
		.place = place, .why = INTERN_NONE, .time = line->time, .expected = host->expected, .complete = line->complete,
		.failed = line->failed, .unread = line->schema != COLLECT_SCHEMA, .doubtful = line->exit_status == 2,
	};
	if (take_findings(c, line, &taken) != 0 || (why && intern_put(&c->texts, why, strlen(why), &taken.why) != 0))
		return -1;
	*host = taken;
	return 0;
}

/* The judgement. */

/** Whether a code counts. */
static bool is_on(const char *name, const struct collect_rules *rules)
{
	int code = audit_code(name, strlen(name));
	return code < 0 ? rules->others : rules->rules & audit_bit((enum audit_code)code);
}

static enum collect_state state_of(const struct collect_host *host, const struct collect_rules *rules, const bool *on, bool *ahead)
{
	if (host->place.line == 0)
		return COLLECT_MISSING;
	if (host->unread)
		return COLLECT_UNREAD;
	*ahead = rules->max_age >= 0 && host->time > rules->now + COLLECT_AHEAD;
	if (*ahead || (rules->max_age >= 0 && host->time < rules->now - rules->max_age))
		return COLLECT_STALE;
	if (host->failed)
		return COLLECT_FAILED;
	for (uint32_t i = 0; i < host->nfound; ++i) {
		const struct collect_found *found = &host->found[i];
		if (found->severity != COLLECT_UNJUDGED && found->severity >= rules->fail_on && on[found->code])
			return COLLECT_FINDINGS;
	}
	return host->complete && !host->doubtful ? COLLECT_CLEAN : COLLECT_INCOMPLETE;
}

/** Begin groups by a key below n, of so many hosts each.  @return them, or NULL: ENOMEM. */
static struct collect_group *groups_new(struct collection *c, const size_t *sizes, size_t n)
{
	struct collect_group *groups = arena_alloc(&c->judged, (n + 1) * sizeof(*groups));
	for (size_t i = 0; groups && i < n; ++i) {
		groups[i] = (struct collect_group){0};
		if (sizes[i] > 0 && !(groups[i].hosts = arena_alloc(&c->judged, sizes[i] * sizeof(*groups[i].hosts))))
			return NULL;
	}
	return groups;
}

/** By severity, gravest first, what was not judged last; hosts, most first; text. */
static int compare_codes(const void *x, const void *y)
{
	const struct collect_group *a = x, *b = y;
	if (a->kind != b->kind)
		return a->kind == COLLECT_UNJUDGED ? 1 : b->kind == COLLECT_UNJUDGED ? -1 : b->kind - a->kind;
	if (a->count != b->count)
		return a->count > b->count ? -1 : 1;
	return strcmp(a->text, b->text);
}

/** By state, then as those. */
static int compare_reasons(const void *x, const void *y)
{
	const struct collect_group *a = x, *b = y;
	return a->kind != b->kind ? a->kind - b->kind : compare_codes(x, y);
}

/** Leave out empty groups.  @return how many are left. */
static size_t compact(struct collect_group *groups, size_t n)
{
	size_t left = 0;
	for (size_t i = 0; i < n; ++i) {
		if (groups[i].count > 0)
			groups[left++] = groups[i];
	}
	return left;
}

/** Whether what was found on a host is told: of a stale one it may be no more. */
static bool is_told(const struct collect_host *host)
{
	return host->state == COLLECT_CLEAN || host->state == COLLECT_INCOMPLETE || host->state == COLLECT_FINDINGS;
}

/** Group hosts by code and severity.  @return 0, or -1: ENOMEM. */
static int group_codes(struct collection *c)
{
	enum { KINDS = COLLECT_UNJUDGED + 1 };
	size_t n = c->codes.count * KINDS;
	size_t *sizes = calloc(n + 1, sizeof(*sizes));
	struct collect_group *groups = NULL;
	for (int pass = 0; sizes && pass < 2; ++pass) {
		if (pass == 1 && !(groups = groups_new(c, sizes, n)))
			break;
		for (size_t i = 0; i < c->names.count; ++i) {
			const struct collect_host *host = &c->hosts[i];
			for (uint32_t k = 0; k < host->nfound && is_told(host); ++k) {
				const struct collect_found *found = &host->found[k];
				size_t key = found->code * KINDS + found->severity;
				if (!c->on[found->code])
					continue;
				++sizes[key];
				if (!groups)
					continue;
				groups[key].text = c->codes.of[found->code];
				groups[key].kind = found->severity;
				groups[key].findings += found->count;
				groups[key].hosts[groups[key].count++] = c->names.of[i];
			}
		}
	}
	free(sizes);
	if (!groups)
		return -1;
	c->codes_found = groups;
	c->ncodes_found = compact(groups, n);
	qsort(groups, c->ncodes_found, sizeof(*groups), compare_codes);
	return 0;
}

/** Group hosts that are not clean by state and reason.  @return 0, or -1: ENOMEM. */
static int group_reasons(struct collection *c)
{
	/* Why is told of two states; of the others there is one group each. */
	size_t n = 2 * (c->texts.count + 1) + COLLECT_STATES;
	size_t *sizes = calloc(n, sizeof(*sizes));
	struct collect_group *groups = NULL;
	for (int pass = 0; sizes && pass < 2; ++pass) {
		if (pass == 1 && !(groups = groups_new(c, sizes, n)))
			break;
		for (size_t i = 0; i < c->names.count; ++i) {
			const struct collect_host *host = &c->hosts[i];
			size_t key = host->state;
			const char *text = "";
			if (host->state == COLLECT_CLEAN)
				continue;
			if (host->state == COLLECT_FAILED || host->state == COLLECT_INCOMPLETE) {
				bool says = host->why != INTERN_NONE;
				key = COLLECT_STATES + 2 * (says ? host->why + 1u : 0u) + (host->state == COLLECT_FAILED);
				text = says ? c->texts.of[host->why] : "";
			}
			++sizes[key];
			if (groups) {
				groups[key].text = text;
				groups[key].kind = host->state;
				groups[key].hosts[groups[key].count++] = c->names.of[i];
			}
		}
	}
	free(sizes);
	if (!groups)
		return -1;
	c->reasons = groups;
	c->nreasons = compact(groups, n);
	qsort(groups, c->nreasons, sizeof(*groups), compare_reasons);
	return 0;
}

static int compare_places(const void *x, const void *y)
{
	const struct collect_place *a = &((const struct collect_told *)x)->place, *b = &((const struct collect_told *)y)->place;
	if (a->file != b->file)
		return a->file < b->file ? -1 : 1;
	return (a->line > b->line) - (a->line < b->line);
}

int collect_judge(struct collection *c, const struct collect_rules *rules)
{
	arena_destroy(&c->judged);
	memset(c->of, 0, sizeof(c->of));
	c->unexpected = c->ahead = 0;
	c->on = arena_alloc(&c->judged, c->codes.count + 1);
	if (!c->on)
		return -1;
	for (size_t i = 0; i < c->codes.count; ++i)
		c->on[i] = is_on(c->codes.of[i], rules);
	for (size_t i = 0; i < c->names.count; ++i) {
		struct collect_host *host = &c->hosts[i];
		bool ahead = false;
		host->state = (unsigned char)state_of(host, rules, c->on, &ahead);
		++c->of[host->state];
		c->ahead += ahead;
		c->unexpected += c->expects && !host->expected;
	}
	for (int i = 0; i < COLLECT_TROUBLES; ++i) {
		if (c->ntold[i] > 0)
			qsort(c->told[i], c->ntold[i], sizeof(*c->told[i]), compare_places);
	}
	return group_codes(c) == 0 ? group_reasons(c) : -1;
}
