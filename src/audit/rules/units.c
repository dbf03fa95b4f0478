/* SPDX-License-Identifier: MIT */
#include "audit/audit_impl.h"

#include "base/pathmap.h"
#include "base/words.h"
#include "fstab/target.h"

#include <string.h>

/* UNIT-FAILED */

static void check_failed(struct audit_report *report, const struct host_unit *unit)
{
	struct audit_finding at = {.target = *unit->where ? unit->where : *unit->what ? unit->what
	                                     : unit->id, .owner = "unit"};
	const char *status = audit_format(report, "%s; %s",
	                                  audit_command(report, "see its status", "systemctl",
	                                                "status", "--", unit->id, NULL),
	                                  audit_command(report, "see its journal", "journalctl",
	                                                "-u", unit->id, NULL));
	if (word_in(unit->load_state, strlen(unit->load_state), "bad-setting error"))
		audit_add_at(report, &at, UNIT_FAILED, AUDIT_WARNING, "loaded", unit->load_state,
			     status, "systemd cannot load %s", unit->id);
	else if (strcmp(unit->load_state, "not-found") == 0)
		audit_add_at(report, &at, UNIT_FAILED, AUDIT_INFO, "no failure",
			     *unit->result ? unit->result : "failed",
			     audit_command(report, "reset its state", "systemctl", "reset-failed",
			                   "--", unit->id, NULL),
			     "%s failed, and does not exist any more", unit->id);
	else
		audit_add_at(report, &at, UNIT_FAILED, AUDIT_WARNING, "no failure",
			     *unit->result ? unit->result : "failed", status, "%s failed",
			     unit->id);
}

/* FSTAB-SYSTEMD-STALE */

static void check_stale(const struct audit_live *in, struct audit_report *report)
{
	struct fstab_loaded loaded = fstab_count_loaded(in->units);
	if (loaded.count == 0 || !in->fstab_seen)
		audit_not_checked(report, FSTAB_SYSTEMD_STALE);
	else if (loaded.stale > 0)
		audit_add_at(report, &(struct audit_finding){.target = "", .owner = "fstab"},
			     FSTAB_SYSTEMD_STALE, AUDIT_WARNING, "loaded",
			     audit_format(report, "%zu unit%s of the old fstab", loaded.stale,
			                  loaded.stale == 1 ? "" : "s"),
			     audit_command(report, "reload systemd", "systemctl",
			                   "daemon-reload", NULL),
			     "the fstab was changed, but systemd still uses the old one");
}

/* DRIFT-NOT-MOUNTED, SWAP-NOT-ACTIVE */

/** Record the mount points and swap spaces of the fstab lines: audit_drift() checks these lines. */
static void note_lines(const struct audit_live *in, struct audit_report *report,
                       struct pathmap *lines)
{
	for (size_t i = 0; i < in->file->count && !report->arena.failed; ++i) {
		const struct fstab_entry *line = &in->file->entries[i];
		if (!fstab_is_entry(line))
			continue;
		const char *path = *line->target == '/'   ? line->target
		                   : *line->source == '/' ? line->source : NULL;
		const char *normal = fstab_normal(&report->arena, path);
		if (normal)
			pathmap_add(lines, normal, 0);
	}
}

/** Whether a unit other than `unit` is active for the mount point of `unit`. */
static bool has_active_sibling(const struct host_units *units, const struct host_unit *unit)
{
	const struct host_unit *at = host_units_at(units, unit->where);
	while (at && (at == unit || strcmp(at->active_state, "active") != 0))
		at = at->next == MAP64_NONE ? NULL : &units->list[at->next];
	return at;
}

static void check_wanted(const struct audit_live *in, struct audit_report *report,
                         const struct pathmap *lines, const struct host_unit *unit)
{
	bool swap = host_unit_is(unit, ".swap"), automount = host_unit_is(unit, ".automount");
	const char *path = swap ? unit->what : unit->where;
	bool required = fstab_is_boot_target(unit->required_by);
	bool unmet = strcmp(unit->condition_result, "no") == 0 && *unit->condition_time
	             && strcmp(unit->condition_time, "0") != 0;
	if (strcmp(unit->active_state, "inactive") != 0 || strcmp(unit->load_state, "loaded") != 0
	    || !*unit->fragment || fstab_is_lines_unit(unit) || *path != '/' || unmet
	    || !(required || fstab_is_boot_target(unit->wanted_by))
	    || pathmap_get(lines, path) != PATHMAP_NONE)
		return;
	/* Do not report a mount that an automount unit makes on first access, an automount whose
	   mount is active, or API file systems, which systemd or the kernel mounts without such
	   unit files. */
	bool api = word_in(path, strlen(path), "/ /run /run/lock /run/user")
	           || fstab_is_kernels(path);
	if (!swap && (api || *unit->triggered_by
	              || (automount && has_active_sibling(in->units, unit))))
		return;
	bool no_device = *unit->what == '/' && audit_devices(in->facts, unit->what, NULL) == 0;
	bool gpt = audit_begins(unit->fragment, "/run/systemd/generator.late/");
	struct audit_finding at = {.target = path, .owner = gpt ? "gpt-auto" : "unit"};
	audit_add_at(report, &at, swap ? SWAP_NOT_ACTIVE : DRIFT_NOT_MOUNTED,
		     no_device && !required ? AUDIT_INFO : AUDIT_WARNING,
		     swap ? "in use" : automount ? "an automount" : "mounted",
		     swap ? "not in use" : "not mounted",
		     audit_format(report, "%s; start the unit or disable it",
		                  audit_command(report, "see its status", "systemctl", "status",
		                                "--", unit->id, NULL)),
		     no_device ? "%s is not active: its device does not exist"
		               : "%s is not active, but a boot target needs it", unit->id);
}

int audit_units(const struct audit_live *in, struct audit_report *report)
{
	const struct host_units *units = in->units;
	/* The mount points and swap spaces of the fstab, each mapped to 0. */
	struct pathmap lines = {.newest.arena = &report->arena};
	bool booting = in->uptime >= 0 && in->uptime < AUDIT_BOOTING;
	if (!units->known) {
		audit_not_checked(report, UNIT_FAILED);
		audit_not_checked(report, FSTAB_SYSTEMD_STALE);
		return 0;
	}
	note_lines(in, report, &lines);
	check_stale(in, report);
	for (size_t i = 0; i < units->count && !report->arena.failed; ++i) {
		const struct host_unit *unit = &units->list[i];
		if (strcmp(unit->active_state, "failed") == 0
		    || word_in(unit->load_state, strlen(unit->load_state), "bad-setting error"))
			check_failed(report, unit);
		if (!booting)
			check_wanted(in, report, &lines, unit);
	}
	return audit_finish(report);
}
