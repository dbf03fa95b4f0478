/* SPDX-License-Identifier: MIT */
/*
 * A text against the one that was there before it.
 *
 * What is a risk is a matter of both: that a mount of a device is gone, or that a boot
 * needs what it could do without.  And what was a risk before is none that was added.
 */
#include "audit/audit_impl.h"

#include "fstab/places.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** A mount point, of both texts. */
struct place {
	const char *path;
	uint32_t next;                   /* of the same hash */
	const struct audit_mount *old;   /* the first line of a device that is mounted */
	const struct audit_mount *now;   /* the same of the new text */
	const struct audit_mount *line;  /* of the new: any, one that is mounted before others */
	const struct audit_mount *needed;
	bool had, could_do_without;      /* of the old: a line, and all of them optional */
};

struct comparison {
	struct place *places;
	size_t count;
	struct map64 by_path;
	struct audit_report *report;
	bool failed;                     /* ENOMEM */
};

/** The place of a line, made if it is new. */
static struct place *place_of(struct comparison *of, const char *path)
{
	uint64_t hash = map64_text(path);
	uint32_t first = map64_get(&of->by_path, hash);
	for (uint32_t i = first; i != MAP64_NONE; i = of->places[i].next) {
		if (strcmp(of->places[i].path, path) == 0)
			return &of->places[i];
	}
	struct place *place = &of->places[of->count];
	*place = (struct place){.path = path, .next = map64_remove(&of->by_path, hash), .could_do_without = true};
	of->failed |= map64_put(&of->by_path, hash, (uint32_t)of->count++) == MAP64_NONE;
	return place;
}

static void add(struct comparison *of, const struct place *place, const struct audit_mount *line,
                const struct audit_finding *finding)
{
	struct audit_finding added = *finding;
	if (line && audit_set_has(&line->ignored, finding->code)) {
		++of->report->suppressed;
		return;
	}
	added.boot = true;
	added.line = line ? line->line : 0;
	added.target = arena_strndup(&of->report->arena, place->path, strlen(place->path));
	of->failed |= !added.target || audit_add(of->report, &added) != 0;
}

int audit_compare(const struct audit_report *old, struct audit_report *report, audit_lost_fn *lost, void *arg)
{
	struct comparison of = {.places = calloc(old->nmounts + report->nmounts + 1, sizeof(*of.places)), .report = report};
	map64_init(&of.by_path);
	of.failed = !of.places;
	for (size_t i = 0; i < old->nmounts && !of.failed; ++i) {
		const struct audit_mount *m = &old->mounts[i];
		struct place *place = place_of(&of, m->path);
		place->had = true;
		place->could_do_without &= m->optional;
		if (m->boots && m->device && !place->old)
			place->old = m;
	}
	for (size_t i = 0; i < report->nmounts && !of.failed; ++i) {
		const struct audit_mount *m = &report->mounts[i];
		struct place *place = place_of(&of, m->path);
		if (!place->line || (m->boots && !place->line->boots))
			place->line = m;
		if (m->boots && m->device && !place->now)
			place->now = m;
		if (m->needed && m->device && !place->needed)
			place->needed = m;
	}
	for (size_t i = 0; i < of.count && !of.failed; ++i) {
		const struct place *place = &of.places[i];
		if (place->old && !place->now && (fstab_is_system(place->path) || (lost && lost(arg, place->path))))
			add(&of, place, place->line, &(struct audit_finding){
				.code = FSTAB_LOST, .severity = AUDIT_CRITICAL,
				.message = !place->line ? "a device, server or directory was mounted there, and no line is of it now"
				           : !place->line->boots ? "it was mounted at a boot, and its line says noauto now"
				           : "a device, server or directory was mounted there, and this type stands on nothing",
				.hint = "leave the line as it was"});
		if (place->had && place->could_do_without && place->needed && place->path[1])
			add(&of, place, place->needed, &(struct audit_finding){
				.code = FSTAB_NOFAIL, .severity = AUDIT_WARNING,
				.message = "a boot could do without it, by nofail, noauto or an automount, and now cannot",
				.hint = "give it nofail, as before"});
	}
	if (!of.failed)
		audit_report_sort(report);
	free(of.places);
	map64_destroy(&of.by_path);
	if (of.failed)
		errno = ENOMEM;
	return of.failed ? -1 : 0;
}

static uint64_t risk_hash(const struct audit_finding *finding)
{
	return map64_bytes(map64_bytes(MAP64_BYTES, (const char *)&finding->code, sizeof(finding->code)), finding->target,
	                   strlen(finding->target));
}

ssize_t audit_new_risks(const struct audit_report *old, const struct audit_report *report,
                        const struct audit_finding ***risks)
{
	struct map64 known;
	map64_init(&known);
	const struct audit_finding **list = calloc(report->count + 1, sizeof(*list));
	size_t n = 0;
	bool failed = !list;
	for (size_t i = 0; i < old->count && !failed; ++i) {
		if (old->findings[i].boot)
			failed = map64_put(&known, risk_hash(&old->findings[i]), 0) == MAP64_NONE;
	}
	for (size_t i = 0; i < report->count && !failed; ++i) {
		const struct audit_finding *finding = &report->findings[i];
		if (finding->boot && map64_get(&known, risk_hash(finding)) == MAP64_NONE)
			list[n++] = finding;
	}
	map64_destroy(&known);
	if (failed) {
		free(list);
		errno = ENOMEM;
		return -1;
	}
	*risks = list;
	return (ssize_t)n;
}
