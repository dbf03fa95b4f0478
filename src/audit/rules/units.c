/* SPDX-License-Identifier: MIT */
#include "audit/rules/units.h"

#include "audit/audit_impl.h"
#include "audit/rules/drift.h"
#include "base/escape.h"
#include "base/map64.h"
#include "base/words.h"
#include "fstab/places.h"
#include "fstab/units.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

struct judging {
	const struct audit_units_input *in;
	struct audit_report *report;
	struct map64 lines;      /* hash of the mount points and swap spaces of the fstab */
	struct arena arena;      /* normal paths */
	struct strbuf name;
	bool failed;             /* ENOMEM */
};

/** A formatted string that stays; "" on ENOMEM. */
__attribute__((format(printf, 2, 3)))
static const char *format(struct judging *j, const char *form, ...)
{
	va_list args;
	va_start(args, form);
	const char *text = arena_vprintf(&j->report->arena, form, args);
	va_end(args);
	j->failed |= !text;
	return text ? text : "";
}

static void add(struct judging *j, const struct audit_finding *finding)
{
	j->failed |= audit_report_add(j->report, finding) != 0;
}

/** The name of a unit as an operand of a command. */
static const char *operand(struct judging *j, const struct host_unit *unit)
{
	strbuf_reset(&j->name);
	escape_operand(&j->name, unit->id);
	j->failed |= j->name.failed;
	return strbuf_str(&j->name);
}

/** What a unit mounts, or swaps onto; else its name. */
static const char *target_of(const struct host_unit *unit)
{
	return *unit->where ? unit->where : *unit->what ? unit->what : unit->id;
}

/* UNIT-FAILED */

static void judge_failed(struct judging *j, const struct host_unit *unit)
{
	bool unread = strcmp(unit->load_state, "bad-setting") == 0
		|| strcmp(unit->load_state, "error") == 0;
	if (!unread && strcmp(unit->active_state, "failed") != 0)
		return;
	bool gone = strcmp(unit->load_state, "not-found") == 0;
	struct strbuf plain;
	strbuf_init(&plain);
	escape_shell(&plain, unit->id);
	j->failed |= plain.failed;
	add(j, &(struct audit_finding){
		.code = UNIT_FAILED, .severity = gone ? AUDIT_INFO : AUDIT_WARNING,
			.target = target_of(unit), .owner = "unit",
		.message = format(j, unread ? "systemd cannot load %s" : gone
		                  ? "%s failed, and does not exist any more" : "%s failed",
		                  unit->id),
		.expected = unread ? "loaded" : "no failure",
		.actual = unread ? unit->load_state : *unit->result ? unit->result : "failed",
		.hint = gone ? format(j, "systemctl reset-failed %s", operand(j, unit))
		             : format(j, "systemctl status %s; journalctl -u %s", operand(j, unit),
		                      strbuf_str(&plain))});
	strbuf_destroy(&plain);
}

/* FSTAB-SYSTEMD-STALE */

static void judge_stale(struct judging *j)
{
	struct fstab_loaded loaded = fstab_count_loaded(j->in->units);
	if (loaded.count == 0 || !j->in->is_usual_fstab) {
		audit_not_checked(j->report, FSTAB_SYSTEMD_STALE);
		return;
	}
	if (loaded.stale > 0)
		add(j, &(struct audit_finding){
			.code = FSTAB_SYSTEMD_STALE, .severity = AUDIT_WARNING, .target = "",
				.owner = "fstab",
			.message = "the fstab was changed, but systemd still uses the old one",
			.expected = "loaded", .actual = format(j, "%zu unit%s of the old fstab",
			                                       loaded.stale,
			                                       loaded.stale == 1 ? "" : "s"),
			.hint = "systemctl daemon-reload"});
}

/* DRIFT-NOT-MOUNTED, SWAP-NOT-ACTIVE */

/** Note what the fstab has lines for: DRIFT-* compares these. */
static void take_lines(struct judging *j)
{
	const struct tablines *lines = j->in->lines;
	for (size_t i = 0; i < lines->count && !j->failed; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		const char *target = tabline_value(line, TABLINE_TARGET),
			*source = tabline_value(line, TABLINE_SOURCE);
		const char *path = target && *target == '/' ? target : source
			&& *source == '/' ? source : NULL;
		const char *normal = path ? fstab_normal(&j->arena, path) : NULL;
		j->failed = path && (!normal || map64_put(&j->lines, map64_text(normal),
		                                          0) == MAP64_NONE);
	}
}

/** Whether systemd or the kernel mounts there without a unit that somebody wrote. */
static bool is_api(const char *path)
{
	return word_in(path, strlen(path), "/ /run /run/lock /run/user") || fstab_is_kernels(path);
}

/** Whether a unit of the same path, other than this one, is active. */
static bool has_active_sibling(const struct host_units *units, const struct host_unit *unit)
{
	const struct host_unit *at = host_units_at(units, unit->where);
	while (at && (at == unit || strcmp(at->active_state, "active") != 0))
		at = at->next == MAP64_NONE ? NULL : &units->list[at->next];
	return at;
}

static void judge_wanted(struct judging *j, const struct host_unit *unit)
{
	const struct fstab_facts *facts = j->in->facts;
	bool swap = host_unit_is(unit, ".swap"), automount = host_unit_is(unit, ".automount");
	const char *path = swap ? unit->what : unit->where;
	bool required = fstab_is_boot_target(unit->required_by);
	bool unmet = strcmp(unit->condition_result, "no") == 0 && *unit->condition_time
		&& strcmp(unit->condition_time, "0") != 0;
	if (strcmp(unit->active_state, "inactive") != 0 || strcmp(unit->load_state, "loaded") != 0
	    || !*unit->fragment
	    || fstab_is_lines_unit(unit) || *path != '/' || unmet
	    || !(required || fstab_is_boot_target(unit->wanted_by))
	    || map64_get(&j->lines, map64_text(path)) != MAP64_NONE)
		return;
	/* A mount with an automount is mounted when it is used. */
	if (!swap && (is_api(path) || *unit->triggered_by
	              || (automount && has_active_sibling(j->in->units, unit))))
		return;
	bool no_device = *unit->what == '/' && facts->devices
		&& facts->devices(facts->arg, unit->what, NULL) == 0;
	const char *name = operand(j, unit);
	add(j, &(struct audit_finding){
		.code = swap ? SWAP_NOT_ACTIVE : DRIFT_NOT_MOUNTED, .severity = no_device
			&& !required ? AUDIT_INFO : AUDIT_WARNING,
		.target = path, .owner = strncmp(unit->fragment, "/run/systemd/generator.late/",
		                                 28) == 0 ? "gpt-auto" : "unit",
		.message = format(j, no_device ? "%s is not active: its device does not exist"
		                  : "%s is not active, but a boot target needs it",
		                  unit->id),
		.expected = swap ? "in use" : automount ? "an automount" : "mounted",
			.actual = swap ? "not in use" : "not mounted",
		.hint = format(j, "systemctl status %s; start the unit or disable it", name)});
}

int audit_units(const struct audit_units_input *in, struct audit_report *report)
{
	const struct host_units *units = in->units;
	struct judging j = {.in = in, .report = report};
	bool booting = in->uptime >= 0 && in->uptime < AUDIT_BOOTING;
	if (!units->known) {
		audit_not_checked(report, UNIT_FAILED);
		audit_not_checked(report, FSTAB_SYSTEMD_STALE);
		return 0;
	}
	map64_init(&j.lines);
	arena_init(&j.arena);
	strbuf_init(&j.name);
	take_lines(&j);
	judge_stale(&j);
	for (size_t i = 0; i < units->count && !j.failed; ++i) {
		judge_failed(&j, &units->list[i]);
		if (!booting)
			judge_wanted(&j, &units->list[i]);
	}
	if (!j.failed)
		audit_report_sort(report);
	map64_destroy(&j.lines);
	arena_destroy(&j.arena);
	strbuf_destroy(&j.name);
	if (j.failed)
		errno = ENOMEM;
	return j.failed ? -1 : 0;
}
