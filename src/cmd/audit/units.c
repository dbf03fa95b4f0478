/* SPDX-License-Identifier: MIT */
/*
 * What units want: a plan is made in which mounts of wanted units are held to be an
 * admin's, as if a line of an fstab had made them, and all others are left out.
 */
#include "cmd/audit/units.h"

#include "audit/rules/units.h"
#include "base/words.h"
#include "fstab/common.h"
#include "fstab/wanted.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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

/** The options of a unit with those of its line that are mount(8)'s and systemd's own.
    @return them, or NULL: ENOMEM. */
static const char *with_own(struct arena *arena, const char *options, const char *line)
{
	static const char own[] = "auto noauto nofail _netdev user nouser users nousers owner noowner group nogroup defaults";
	struct strbuf out;
	size_t n;
	strbuf_init(&out);
	strbuf_puts(&out, options);
	for (const char *o; (o = fstab_kept_next(&line, &n)) != NULL;) {
		if (word_in(o, n, own) || (n > 2 && strncasecmp(o, "x-", 2) == 0) || (n > 8 && memcmp(o, "comment=", 8) == 0)) {
			strbuf_puts(&out, ",");
			strbuf_add(&out, o, n);
		}
	}
	const char *whole = out.failed ? NULL : arena_strndup(arena, strbuf_str(&out), out.len);
	strbuf_destroy(&out);
	return whole;
}

/** Put what drop-ins say over a line.  @return 1, 0 (nothing), or -1: ENOMEM. */
static int add_dropins(struct fstab_machine *machine, struct tabline *line, struct arena *arena)
{
	struct unitfile unit = {0};
	const char *target = tabline_value(line, TABLINE_TARGET), *options = tabline_value(line, TABLINE_OPTIONS);
	if (line->kind != TABLINE_ENTRY || !target || *target != '/')
		return 0;
	unit.values[UNITFILE_WHAT].text = tabline_value(line, TABLINE_SOURCE);
	unit.values[UNITFILE_TYPE].text = tabline_value(line, TABLINE_FSTYPE);
	unit.values[UNITFILE_OPTIONS].text = options;
	if (!fstab_system_dropins(machine->system, target, arena, &unit))
		return 0;
	/* One that takes it back. */
	const char *what = unit.values[UNITFILE_WHAT].text, *type = unit.values[UNITFILE_TYPE].text;
	const char *said = unit.values[UNITFILE_OPTIONS].text;
	if (said != options) {
		/* In an fstab such a byte parts fields, or begins an escape. */
		if (said && said[strcspn(said, " \t\n\\")])
			return 0;
		const char *whole = with_own(arena, said ? said : "defaults", options ? options : "");
		if (!whole)
			return -1;
		line->fields[TABLINE_OPTIONS].value = whole;
	}
	line->fields[TABLINE_SOURCE].value = what ? what : tabline_value(line, TABLINE_SOURCE);
	line->fields[TABLINE_FSTYPE].value = type ? type : "auto";
	return 1;
}

int audit_lines_with(struct fstab_machine *machine, const struct tablines *lines, struct audit_lines *with)
{
	*with = (struct audit_lines){.lines = *lines};
	arena_init(&with->arena);
	for (size_t i = 0; machine->system && i < lines->count; ++i) {
		struct tabline line = lines->lines[i];
		int rc = add_dropins(machine, &line, &with->arena);
		if (rc == 0)
			continue;
		if (rc > 0 && !with->list) {
			with->list = reallocarray(NULL, lines->count, sizeof(*with->list));
			with->more = calloc(lines->count, sizeof(*with->more));
		}
		if (rc < 0 || !with->list || !with->more) {
			errno = ENOMEM;
			return -1;
		}
		if (with->lines.lines != with->list)
			memcpy(with->list, lines->lines, lines->count * sizeof(*with->list));
		with->lines.lines = with->list;
		with->list[i] = line;
		with->more[i] = true;
	}
	return 0;
}

void audit_lines_destroy(struct audit_lines *with)
{
	free(with->list);
	free(with->more);
	arena_destroy(&with->arena);
}

int audit_judge_units(struct fstab_machine *machine, const struct fstab_input *in, const struct tablines *lines,
                      const struct fstab_facts *facts, long uptime, struct audit_report *report)
{
	struct run *run = &machine->run;
	struct sight sight = {.machine = machine};
	struct merge_machine merging = {.facts = &machine->facts, .run = run, .in = in};
	struct wanted wanted = {0};
	if (!machine->system)
		return 0;
	arena_init(&sight.arena);
	map64_init(&sight.by_target);
	map64_init(&sight.lines);
	int rc = take_lines(&sight, lines) ? fstab_system_wanted(machine->system, has_line, &sight, &wanted) : -1;
	sight.wanted = &wanted;
	for (uint32_t i = 0; i < wanted.count && rc == 0; ++i)
		rc = map64_put(&sight.by_target, map64_text(wanted.units[i].target), i) == MAP64_NONE ? -1 : 0;
	machine->units_of = unit_of;
	machine->units_arg = &sight;
	if (rc == 0)
		rc = audit_units(&(struct audit_units_input){
			.wanted = &wanted, .prefix = strcmp(in->root, "/") == 0 ? "" : in->root, .merge = merge_input(&merging, NULL, NULL), .facts = facts,
			.uptime = uptime}, report);
	machine->units_of = NULL;
	wanted_destroy(&wanted);
	map64_destroy(&sight.by_target);
	map64_destroy(&sight.lines);
	arena_destroy(&sight.arena);
	return rc;
}
