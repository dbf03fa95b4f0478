/* SPDX-License-Identifier: MIT */
/*
 * Compare the fstab with the live mounts.
 *
 *     file, plan --> fstab_match() --> differences --> audit_drift() --> findings
 *
 * Differences become findings.  Then lines without a mount are checked.  Mounts of systemd, of
 * automounters and of containers are not reported, nor are lines with noauto and automounts that
 * were not triggered.
 */
#include "audit/rules/drift_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <string.h>

/** Whether the device, file or directory of a line is known to be missing. */
static bool is_missing(const struct drift *drift, const struct fstab_entry *line)
{
	const char *source = line->source;
	if (*source == '/' && strncmp(source, "/dev/", 5) != 0)
		return source[1] != '/' && audit_look(drift->in->facts, source) == FACT_MISSING;
	return (*source == '/' || strchr(source, '='))
	       && audit_devices(drift->in->facts, source, NULL) == 0;
}

/** Whether a damaged line ends in the middle: fields are missing, or NUL bytes follow, as after a
    crash. */
static bool is_cut(const struct tabline *line)
{
	return line->kind == TABLINE_DAMAGED
	       && (line->nfields <= TABLINE_FSTYPE || memchr(line->bytes, '\0', line->n));
}

/** Fill drift->cause and drift->cut: find lines whose source was already reported as missing or
    misspelled, and damaged lines that end in the middle. */
static void note_causes(struct drift *drift)
{
	const struct fstab_file *file = drift->in->file;
	for (size_t i = 0; i < drift->report->count; ++i) {
		const struct audit_finding *finding = &drift->report->findings[i];
		enum audit_code code = finding->code;
		if (finding->file || finding->line == 0 || finding->line > file->count)
			continue;
		const char *source = file->entries[finding->line - 1].source;
		bool quoted = code == FSTAB_ESCAPE && (*source == '"' || *source == '\'');
		bool cut = code == FSTAB_SYNTAX && is_cut(&file->lines->lines[finding->line - 1]);
		if (cut && drift->ncut < DRIFT_CUT_MAX)
			drift->cut[drift->ncut++] = finding->line;
		if (quoted || cut || code == FSTAB_SRC_MISSING || code == FSTAB_BIND_SRC
		    || code == FSTAB_OVERLAY_DIR)
			drift->cause[finding->line - 1] = i + 1;
	}
}

/** Extend the finding about a missing source by the mount that exists instead, `live`.  The finding
    becomes at least a warning, unless the system is a container. */
static void extend_cause(struct drift *drift, struct audit_finding *cause, bool contained,
                         const struct fstab_line *live)
{
	struct audit_report *report = drift->report;
	cause->message = audit_format(report, "%s; mounted instead: %s", cause->message,
	                              drift_live_name(drift, live, NULL));
	if (cause->severity < AUDIT_WARNING && !contained) {
		--report->of[cause->severity];
		cause->severity = AUDIT_WARNING;
		++report->of[cause->severity];
	}
}

/** Whether a mount has the mount point of a damaged line: fixing the line may be the remedy. */
static bool is_of_damaged(const struct drift *drift, const struct fstab_line *live)
{
	return live->of && drift->in->file->entries[live->of - 1].line->kind == TABLINE_DAMAGED;
}

/* Who may have made a mount that is not in the fstab. */

/** Whether a mount cannot have a line because it is hidden or its directory was removed.  The MNT-*
    rules report such a mount. */
static bool is_lost(const struct drift *drift, const struct fstab_line *live)
{
	const struct mtree *tree = &drift->in->d->tree;
	uint32_t node = live->mount ? mtree_find(tree, live->mount->key) : MT_NONE;
	return live->fate != FSTAB_LINE && node != MT_NONE
	       && tree->nodes[node].states & (1u << MT_HIDDEN | 1u << MT_DELETED);
}

/** Whether the source and type of a line cannot be compared with the mount: a FUSE helper
    chooses both, ceph shows addresses instead of names, and the initrd chooses a layered or NFS
    root. */
static bool is_of_server(const struct fstab_entry *line, const struct fstab_line *live)
{
	const char *fstype = live->mount && live->mount->fstype ? live->mount->fstype : "";
	bool root = live->target && strcmp(live->target, "/") == 0;
	return fstab_match_served(line->fstype,
	                          line->options, live->mount)
	       || (root && (word_in(fstype, strlen(fstype), "overlay composefs")
	                    || fstype_flags(fstype) & FST_NET));
}

/** Whether udisks or a common systemd unit may have made a mount or swap space.  For use if
    systemd's units are unknown. */
static bool may_be_units(const struct drift *drift, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	const char *name = live->swap ? live->swap : live->target;
	if (name && fstab_answer(drift->in->facts, FSTAB_UNIT, name) >= 0)
		return false;
	if (live->swap)
		return strcmp(live->swap, "/var/swap") == 0;
	if (!m || !m->fstype || !live->target)
		return false;
	bool stick = strncmp(live->target, "/media/", 7) == 0 && strchr(live->target + 7, '/')
	             && shown_is_safe(m);
	return stick || (strcmp(m->fstype, "tmpfs") == 0 && strcmp(live->target, "/tmp") == 0);
}

/** Whether a directory is bound onto itself read-only, like the store of NixOS. */
static bool is_locked(const struct drift *drift, const struct fstab_line *live)
{
	const struct mount *m = live->mount;
	uint32_t node = m ? mtree_find(&drift->in->d->tree, m->key) : MT_NONE;
	return node != MT_NONE && shown_mount_readonly(m)
	       && fstab_upon_itself(drift->in->d, node);
}

/** For an fstab without entries: whether the fstab probably lost the line of a mount or swap space.
    True for a swap space or a whole file system on a disk, except /usr, which an initrd mounts;
    only if the root is also on a disk, and the system is not a container. */
static bool is_forgotten(struct drift *drift, const struct fstab_line *live)
{
	const char *source = live->swap ? live->swap : live->mount ? live->mount->source : NULL;
	bool part = live->mount && ((live->target && strcmp(live->target, "/usr") == 0)
	                            || (live->mount->root && strcmp(live->mount->root, "/") != 0));
	return source && audit_begins(source, "/dev/") && !part && drift->of_disk
	       && !audit_begins(source, "/dev/loop /dev/zram /dev/ram /dev/fuse /dev/sr /dev/scd")
	       && !audit_is_contained(drift->in->facts, source, &drift->container);
}

/** Whether a mount with neither a line nor a known owner should have a line.
    @can  fstab can express the mount. */
static bool wants_line(struct drift *drift, const struct fstab_line *live, bool can)
{
	if ((!drift->any && !is_forgotten(drift, live)) || may_be_units(drift, live))
		return false;
	/* Data on zram is lost at shutdown, so no line can mount it. */
	const char *source = live->mount ? live->mount->source : NULL;
	bool zram = source && strncmp(source, "/dev/zram", 9) == 0;
	return can ? !is_locked(drift, live) : live->unnamed && !zram;
}

/* Mounts without a line, and lines without a mount. */

/** Make the hint for a mount or swap space without a line: a command that shows the line to add. */
static const char *line_hint(const struct drift *drift, const struct fstab_line *live)
{
	struct strbuf add = {.arena = &drift->report->arena};
	strbuf_puts(&add, "--add=");
	escape_octal(&add, live->swap ? live->swap : live->target, ESCAPE_ADDED, true);
	return audit_command(drift->report, "add a line to the fstab", "getmnt", "fstab",
	                     drift->report->merge, strbuf_str(&add), "--diff", NULL);
}

const char *drift_restore_hint(const struct drift *drift)
{
	return audit_command(drift->report, "add the lines of the mounts: fstab --merge "
	                     "--add=persistent", "getmnt", "fstab", drift->report->merge,
	                     "--add=persistent", "--diff", NULL);
}

/** Whether a line that ends in the middle begins like the line of a mount or swap space; the last
    field of the line may be incomplete. */
static bool begins_line(const struct drift *drift, const struct fstab_entry *line,
                        const struct fstab_line *live)
{
	const char *names[] = {live->source, live->mount ? live->mount->source : live->swap};
	const char *source = line->source;
	bool part = line->line->nfields < 2;
	bool same = *source && !part && drift_same_device(drift, source, live);
	for (size_t i = 0; *source && i < 2; ++i)
		same |= names[i] && (part ? strncmp(names[i], source, strlen(source)) == 0
		                          : strcmp(names[i], source) == 0);
	return same && (part || !live->target
	                || strncmp(live->target, line->target, strlen(line->target)) == 0);
}

/** For each line that was probably the line of a mount before its end was lost: add the remedy to
    the finding about this line.  @return the remedy; NULL: there is no such line. */
static const char *restore(struct drift *drift, const struct fstab_line *live)
{
	const char *hint = NULL;
	for (size_t i = 0; i < drift->ncut; ++i) {
		uint32_t number = drift->cut[i];
		if (live->of != number
		    && !begins_line(drift, &drift->in->file->entries[number - 1], live))
			continue;
		hint = drift_restore_hint(drift);
		drift->report->findings[drift->cause[number - 1] - 1].hint = hint;
	}
	return hint;
}

/** Report a mount or swap space that has no line, although it can be expressed in fstab. */
static void check_without_line(struct drift *drift, const struct fstab_line *live)
{
	const char *hint = restore(drift, live);
	/* If the fstab has no entry at all, this is only an info: another program, such as a
	   container engine, makes the mounts. */
	if (strcmp(live->owner, "unknown") == 0 && !is_of_damaged(drift, live))
		drift_report(drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live,
			     wants_line(drift, live, true) ? AUDIT_WARNING : AUDIT_INFO,
			     "a line", drift_live_name(drift, live, NULL),
			     hint ? hint : line_hint(drift, live),
			     live->swap ? "it is in use, but not in fstab"
			                : "it is mounted, but not in fstab, and its owner is not "
			                  "known");
}

/** Whether systemd ignores lines of this mount point. */
static bool is_skipped(const struct drift *drift, const char *target)
{
	return fstab_is_skipped(target) && audit_has_systemd(drift->in->facts);
}

/** Report a mount or swap space without a line that cannot be expressed in fstab.
    @why  fstab_line.why; or NULL. */
static void check_inexpressible(struct drift *drift, const struct fstab_line *live, const char *why)
{
	const char *name = drift_live_name(drift, live, NULL);
	bool kernels = live->mount && live->target && !live->hidden
	               && fstab_hides_kernels(live->mount, live->target);
	if (audit_is_owner(live->owner, "user"))
		drift_report(drift, DRIFT_NOT_IN_FSTAB, NULL, live, AUDIT_INFO, NULL, name, NULL,
			     "an ordinary user mounted it, and it is not in fstab");
	else if (strcmp(live->owner, "unknown") != 0 || is_of_damaged(drift, live))
		return;
	else if (kernels)
		drift_report(drift, DRIFT_NOT_IN_FSTAB, NULL, live, AUDIT_WARNING,
			     "what the kernel shows", name,
			     is_skipped(drift, live->target)
			     ? "find out who mounted it and why; unmount it, or mount it "
			       "elsewhere: systemd skips lines of this mount point"
			     : "find out who mounted it and why; unmount it", "it hides what the "
			     "kernel shows there, and its owner is not known");
	else
		drift_report(drift, live->swap ? SWAP_EXTRA : DRIFT_NOT_IN_FSTAB, NULL, live,
			     wants_line(drift, live, false) ? AUDIT_WARNING : AUDIT_INFO,
			     NULL, name, NULL,
			     live->unnamed ? "it is not in fstab, its owner is not known, and it "
			                     "has no lasting name for a line: %s"
			                   : "it is not in fstab, and cannot be expressed there: "
			                     "%s", why ? why : "?");
}

/** Check a line whose mount shows a source and type that a server chose. */
static void check_served(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live)
{
	audit_not_checked(drift->report, DRIFT_TYPE);
	drift_check_unknown(drift, line, live);
}

/** Report a line if the mount on its mount point has a different source or type. */
static void check_source(struct drift *drift, const struct fstab_entry *line,
                         const struct fstab_line *live)
{
	const char *source = line->source, *fstype = line->fstype;
	size_t cause = drift->cause[line->number - 1];
	bool served = is_of_server(line, live);
	if (served)
		check_served(drift, line, live);
	bool same = live->mount && live->mount->source
	            && !shown_type(fstype, live->mount->fstype)
	            && (strcmp(source, live->mount->source) == 0
	                || drift_same_device(drift, source, live));
	if (served || is_lost(drift, live))
		drift->reported[line->number - 1] = true;
	else if (same)
		drift_report_source(drift, line, live, DRIFT_OF_OTHER_TYPE);
	else if (cause) {
		extend_cause(drift, &drift->report->findings[cause - 1],
		             audit_is_contained(drift->in->facts, source, &drift->container), live);
		drift->reported[line->number - 1] = true;
	} else {
		drift_report_source(drift, line, live,
		                    drift_may_be_default(drift, line, live)
		                    ? DRIFT_OF_DEFAULT_SUBVOLUME : DRIFT_OF_OTHER);
	}
}

/** Check whether a boot can remount a root that is an image with the options of its line. */
static void check_root(struct drift *drift, const struct fstab_entry *line)
{
	const struct fstab_line *live = drift_live_at(drift, "/");
	struct strbuf why = {.arena = &drift->report->arena};
	if (live && live->mount && fstab_root_fault(line, live->mount, &why))
		drift_report(drift, DRIFT_SOURCE, line, live, AUDIT_CRITICAL,
			     "no line, or the option ro alone", line->options,
			     "comment the line out, or write ro as its only option",
			     "remounting the root at boot (systemd-remount-fs) fails: %s",
			     strbuf_str(&why));
}

/** Report a difference that fstab_match() found. */
static void check_difference(struct drift *drift, const struct fstab_difference *difference)
{
	const struct fstab_line *live = difference->live;
	const struct fstab_entry *line = difference->line;
	if (line && line->root && drift->reported[line->number - 1])
		return;   /* check_root() has reported the line */
	switch (difference->kind) {
	case FSTAB_DIFFER_MISSING:
		check_without_line(drift, live);
		break;
	case FSTAB_DIFFER_NO_LINE:
		check_inexpressible(drift, live, difference->actual);
		break;
	case FSTAB_DIFFER_SOURCE:
		check_source(drift, line, live);
		break;
	case FSTAB_DIFFER_OPTIONS:
		drift_report_options(drift, line, live, difference->actual);
		/* Check in addition for a file system that is read-only because of an error. */
		if (live->mount && live->mount->vfs_opts
		    && !shown_mount_readonly(live->mount))
			drift_check_readonly(drift, line, live);
		break;
	case FSTAB_DIFFER_ELSEWHERE:
		drift_report(drift, DRIFT_NOT_MOUNTED, line, NULL, AUDIT_WARNING, "mounted",
			     "not mounted", "correct the mount point, or mount it there",
			     "it is not mounted, but its source is mounted on %s", live->target);
		break;
	case FSTAB_DIFFER_AGAIN:
		drift_report(drift, FSTAB_DUP_TARGET, line, live, AUDIT_WARNING, "one line",
			     difference->other ? audit_format(drift->report, "line %u as well",
			                                      difference->other->number)
			     : NULL, "remove the line", "the line mounts it once more: it is %s",
			     live->why);
		break;
	case FSTAB_DIFFER_CONFLICT:
	case FSTAB_DIFFER_REPEATED:
		/* FSTAB-DUP-TARGET reports these lines. */
		drift->reported[line->number - 1] = true;
		break;
	}
}

/** Check a line that made no mount, if its mount point has a mount, `live`. */
static void check_other(struct drift *drift, const struct fstab_entry *line,
                        const struct fstab_line *live)
{
	const char *fstype = line->fstype;
	/* idle: the mount is an automount trigger.  alike: the mount has the type of the line, and
	   may be the mount that the line describes, made by the system. */
	bool idle = live->mount && fstype_flags(live->mount->fstype) & FST_AUTOFS;
	bool alike = (live->mount && shown_type(fstype, live->mount->fstype))
	             || is_of_server(line, live);
	if (!idle && alike)
		drift_check_unknown(drift, line, live);
	const char *hint = is_skipped(drift, live->target)
		? "systemd mounts it by itself and skips this line; use another mount point" : NULL;
	/* Report only a mount made by the system; a mount of unknown owner over the mount of the
	   line has a finding of its own. */
	if (!idle && !alike && live->fate == FSTAB_OWN && !line->bind)
		drift_report(drift, DRIFT_TYPE, line, live, AUDIT_WARNING, fstype,
			     live->mount && live->mount->fstype ? live->mount->fstype : "?", hint,
			     "the system mounted another type than the line says");
}

/** Report a line that made no mount. */
static void check_line(struct drift *drift, const struct fstab_entry *line)
{
	const char *target = line->target;
	bool swap = line->swap, automount = line->automount;
	/* waits: the line is mounted only when a unit of x-systemd.wanted-by= or required-by=
	   starts.  This unit need not be running. */
	bool waits = line->noauto && line->unit_starts;
	if (line->idle || waits || (!swap && *target != '/')
	    || (drift->in->uptime >= 0 && drift->in->uptime < AUDIT_BOOTING))
		return;
	const struct fstab_line *live = swap ? NULL : drift_live_at(drift, target);
	if (live) {
		check_other(drift, line, live);
		return;
	}
	bool skipped = !swap && is_skipped(drift, target);
	bool missing = is_missing(drift, line),
	     can = skipped || (missing && (line->nofail || automount));
	bool maybe = true;
	const char *where = missing ? audit_opened_at_boot(drift->report, drift->in->facts,
	                                                   line->source, &maybe) : NULL;
	const char *hint = skipped ? "systemd skips lines of this mount point; remove the line"
		: where && *where && !maybe ? "open the mapping, and mount it"
		: missing ? "attach the device, or add noauto to the line"
		: swap ? audit_format(drift->report, "%s, or remove the line",
		                      audit_command(drift->report, "activate the swap space",
		                                    "swapon", "-a", NULL))
		: automount ? audit_format(drift->report, "%s, and start its automount unit",
		                           audit_command(drift->report, "reload systemd",
		                                         "systemctl", "daemon-reload", NULL))
		            : audit_format(drift->report, "%s, or give the line noauto",
		                           audit_command(drift->report, "mount it", "mount", "--",
		                                         target, NULL));
	drift_report(drift, swap ? SWAP_NOT_ACTIVE : DRIFT_NOT_MOUNTED, line, NULL,
		     can ? AUDIT_INFO : AUDIT_WARNING, swap ? "in use" : "mounted",
		     swap ? "not in use" : "not mounted", hint, "it is %s%s",
		     swap ? "not in use" : automount ? "neither mounted nor automounted"
		                                     : "not mounted",
		     !missing ? "" : swap ? ", and does not exist"
		                          : ", and its source does not exist");
}

/** Fill drift->lined and drift->by_target; set drift->any and drift->of_disk. */
static void index_all(struct drift *drift)
{
	const struct audit_live *in = drift->in;
	for (uint32_t i = 0; i < in->file->count; ++i) {
		const struct fstab_line *of = in->match->of[i];
		drift->any |= fstab_is_entry(&in->file->entries[i]);
		if (of && of->mount)
			map64_put(&drift->lined, of->mount->key, i);
	}
	/* In reverse order, so that the topmost mount of a mount point is found, which is first in
	   the plan. */
	for (uint32_t i = (uint32_t)in->plan->count; i-- > 0;) {
		const struct fstab_line *line = &in->plan->lines[i];
		if (!line->mount || !line->target)
			continue;
		if (!line->hidden)
			pathmap_add(&drift->by_target, line->target, i);
		if (line->mount->source && strcmp(line->target, "/") == 0)
			drift->of_disk = strncmp(line->mount->source, "/dev/", 5) == 0;
	}
}

int audit_drift(const struct audit_live *in, struct audit_report *report)
{
	struct arena *arena = &report->arena;
	struct drift drift = {
		.in = in, .report = report,
		.reported = arena_new(arena, in->file->count, sizeof(*drift.reported)),
		.cause = arena_new(arena, in->file->count, sizeof(*drift.cause)),
		.by_target.newest.arena = arena, .lined.arena = arena, .flipped.arena = arena,
		.named.arena = arena,
	};
	report->readonly = arena_new(arena, in->plan->count, sizeof(*report->readonly));
	if (!arena->failed) {
		note_causes(&drift);
		drift_note_named(&drift);
		index_all(&drift);
	}
	for (size_t i = 0; i < in->file->count && !arena->failed; ++i) {
		if (fstab_is_entry(&in->file->entries[i]) && in->file->entries[i].root)
			check_root(&drift, &in->file->entries[i]);
	}
	for (size_t i = 0; i < in->match->count && !arena->failed; ++i)
		check_difference(&drift, &in->match->differences[i]);
	for (size_t i = 0; i < in->file->count && !arena->failed; ++i) {
		const struct fstab_entry *line = &in->file->entries[i];
		if (!fstab_is_entry(line) || drift.reported[i])
			continue;
		const struct fstab_line *of = in->match->of[i];
		const char *source = line->source;
		if (of && of->mount && of->mount->source && is_of_server(line, of)
		    && strcmp(source, of->mount->source) != 0)
			check_served(&drift, line, of);
		else if (of)
			drift_check_how(&drift, line, of);
		else
			check_line(&drift, line);
	}
	drift_find_left_out(&drift);
	return audit_finish(report);
}
