/* SPDX-License-Identifier: MIT */
/*
 * What units want: a plan is made in which mounts of wanted units are held to be an
 * admin's, as if a line of an fstab had made them, and all others are left out.
 */
#include "cmd/audit_units.h"

#include "audit/units.h"
#include "cmd/snapshot.h"
#include "fstab/fstab_impl.h"

#include <string.h>

/** Mounts as the plan of units sees them. */
struct sight {
	const struct fstab_machine *machine;
	struct map64 by_target;      /* hash of a mount point -> the unit that wants it */
	const struct wanted *wanted;
	struct map64 lines;          /* hash of the mount points of the fstab */
	struct arena arena;
};

/** Whose a mount is, or a swap space. */
static enum fstab_unit unit_of(void *arg, const char *target)
{
	const struct sight *sight = arg;
	uint32_t i = map64_get(&sight->by_target, map64_text(target));
	if (i != MAP64_NONE)
		return sight->wanted->units[i].automount ? FSTAB_AUTOMOUNT : FSTAB_NO_UNIT;
	for (size_t k = 0; k < sight->machine->nswaps; ++k) {
		if (strcmp(sight->machine->swaps[k].name, target) == 0)
			return FSTAB_NO_UNIT;
	}
	return FSTAB_OWN_UNIT;
}

/** Whether a line of the fstab says what is to be there: FSTAB-DUP-TARGET tells of both. */
static bool has_line(void *arg, const char *target)
{
	const struct sight *sight = arg;
	return map64_get(&sight->lines, map64_text(target)) != MAP64_NONE;
}

/** Take the places of the fstab.  @return whether there was memory. */
static bool take_lines(struct sight *sight, const struct tablines *lines)
{
	bool good = true;
	for (size_t i = 0; i < lines->count && good; ++i) {
		const struct tabline *line = &lines->lines[i];
		const char *target = line->kind == TABLINE_ENTRY ? tabline_value(line, TABLINE_TARGET) : NULL;
		const char *source = line->kind == TABLINE_ENTRY ? tabline_value(line, TABLINE_SOURCE) : NULL;
		const char *place = target && *target == '/' ? target : source && *source == '/' ? source : NULL;
		const char *normal = place ? fstab_normal(&sight->arena, place) : NULL;
		good = !place || (normal && map64_put(&sight->lines, map64_text(normal), 0) != MAP64_NONE);
	}
	return good;
}

int audit_judge_units(struct fstab_machine *machine, const struct fstab_input *in, const struct tablines *lines,
                      const struct fstab_facts *facts, long uptime, struct audit_report *report)
{
	struct run *run = &machine->run;
	struct sight sight = {.machine = machine};
	struct merge_machine merging = {.facts = &machine->facts, .run = run, .in = in};
	struct wanted wanted = {0};
	struct strbuf prefix;
	if (!machine->system)
		return 0;
	arena_init(&sight.arena);
	map64_init(&sight.by_target);
	map64_init(&sight.lines);
	strbuf_init(&prefix);
	strbuf_printf(&prefix, "%s%s", snapshot_prefix(run), strcmp(in->root, "/") == 0 ? "" : in->root);
	int rc = !prefix.failed && take_lines(&sight, lines) ? fstab_system_wanted(machine->system, has_line, &sight, &wanted) : -1;
	sight.wanted = &wanted;
	for (uint32_t i = 0; i < wanted.count && rc == 0; ++i)
		rc = map64_put(&sight.by_target, map64_text(wanted.units[i].target), i) == MAP64_NONE ? -1 : 0;
	machine->units_of = unit_of;
	machine->units_arg = &sight;
	if (rc == 0)
		rc = audit_units(&(struct audit_units_input){
			.wanted = &wanted, .prefix = strbuf_str(&prefix), .merge = merge_input(&merging, NULL, NULL), .facts = facts,
			.uptime = uptime}, report);
	machine->units_of = NULL;
	wanted_destroy(&wanted);
	strbuf_destroy(&prefix);
	map64_destroy(&sight.by_target);
	map64_destroy(&sight.lines);
	arena_destroy(&sight.arena);
	return rc;
}
