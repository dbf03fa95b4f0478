/* SPDX-License-Identifier: MIT */
/*
 * Report faults of the order of entries: the findings of order_check().
 */
#include "audit/audit_impl.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "fstab/target.h"
#include "mountopts/edit.h"
#include "mountopts/optlist.h"

#include <string.h>

/** Follow the symlinks in the source of a bind or image.  The source may exist only after a line is
    mounted, so only the existing components are followed.  NULL: the source is unknown, or is not a
    path. */
static const char *real_source(struct audit *audit, const struct fstab_entry *entry)
{
	const struct fstab_facts *facts = audit->in->facts;
	const char *source = entry->source;
	struct strbuf real = {.arena = &audit->report->arena};
	if (!facts->look || *source != '/' || source[1] == '/'
	    || strncmp(source, "/dev/", 5) == 0 || !(entry->bind || entry->type & FST_DEVICE))
		return NULL;
	enum fact_kind kind = facts->look(facts->arg, source, &real);
	return kind != FACT_UNKNOWN && real.len ? strbuf_str(&real) : NULL;
}

void audit_order_make(struct audit *audit)
{
	audit->order_lines = arena_new(&audit->work, audit->count, sizeof(*audit->order_lines));
	for (size_t i = 0; i < audit->count && audit->order_lines; ++i) {
		audit->entries[i].real_source = real_source(audit, &audit->entries[i]);
		audit->order_lines[i] = &audit->entries[i];
	}
	order_make(audit->order_lines, (uint32_t)audit->count, &audit->work, &audit->order);
	audit->norder_findings = order_check(&audit->order, NULL, &audit->order_findings);
}

/** Get the findings of order_check() about an entry.  Call for the entries in the order of the
    file.
    @count [out]  The number of findings. */
static const struct order_finding *findings_of(struct audit *audit, const struct fstab_entry *entry,
                                               size_t *count)
{
	size_t line = (size_t)(entry - audit->entries), end;
	while (audit->order_at < audit->norder_findings
	       && audit->order_findings[audit->order_at].line < line)
		++audit->order_at;
	for (end = audit->order_at;
	     end < audit->norder_findings && audit->order_findings[end].line == line;)
		++end;
	*count = end - audit->order_at;
	return *count ? audit->order_findings + audit->order_at : NULL;
}

/** Find the first finding with a fault, preferably not of kind ORDER_PARENT; NULL: no finding. */
static const struct order_finding *find_fault(const struct order_finding *findings, size_t count,
                                              enum order_fault fault)
{
	const struct order_finding *found = NULL;
	for (size_t i = 0; i < count; ++i) {
		if (findings[i].fault == fault && (!found || found->kind == ORDER_PARENT))
			found = &findings[i];
	}
	return found;
}

/** Name, for a message, the part of a line that causes a need. */
static const char *what_needs(enum order_kind kind)
{
	static const char *const words[ORDER_KINDS] = {
		[ORDER_PARENT] = "the mount point",
		[ORDER_BIND] = "the bind source",
		[ORDER_SOURCE] = "the source",
		[ORDER_LAYER] = "a directory of the overlay",
		[ORDER_LINK] = "the real path of the source",
		[ORDER_BRANCH] = "a branch",
		[ORDER_SWAP] = "the swap file",
		[ORDER_REQUIRES] = "what x-systemd.requires names",
		[ORDER_AFTER] = "what x-systemd.after names",
	};
	return words[kind];
}

/** Report that mount -a mounts `entry` before `other`, which `entry` needs.  systemd mounts both in
    the right order if it makes a dependency from this need. */
static void report_late(struct audit *audit, const struct fstab_entry *entry,
                        const struct order_finding *late, const struct fstab_entry *other)
{
	const struct order *order = &audit->order;
	unsigned number = other->line->number, last = number;
	bool parent = late->kind == ORDER_PARENT;
	for (uint32_t at = order->begin[late->line]; at < order->begin[late->line + 1]; ++at) {
		const struct order_need *need = &order->needs[at];
		unsigned of = audit->entries[need->line].line->number;
		if (order_matters(order, late->line, need) && of > last)
			last = of;
	}
	/* followed: the mount point is a symlink, which systemd follows.  Fedora Silverblue has the
	   line of /home, a symlink to /var/home, before the line of /var. */
	bool link = entry->real && strcmp(entry->real, entry->path) != 0;
	bool followed = parent && link, systemd = audit_is_systemd(audit),
	     known = order_is_known(late->kind);
	/* An init mounts the API file systems before it runs mount -a, which skips existing mounts.
	   LFS has the line of /dev/pts before the line of /dev. */
	bool api = parent && entry->type & other->type & FST_PSEUDO
	           && fstab_is_skipped(entry->path) && fstab_is_skipped(other->path);
	const char *who = known ? "; this affects mount -a, not systemd, which orders by path"
	                        : "; this affects mount -a";
	audit_add_line(audit, entry, FSTAB_ORDER,
		       api ? AUDIT_INFO
		       : !followed ? AUDIT_CRITICAL | (known && systemd ? 0 : AUDIT_BOOT)
		       : systemd ? AUDIT_INFO : AUDIT_CRITICAL,
		       parent ? "parent directories are mounted first"
		              : "the source is mounted first",
		       NULL, audit_format(audit->report, "move it after line %u", last), "%s%s",
		       parent ? audit_format(audit->report, "line %u mounts %s after it, and "
		                             "covers it", number, other->path)
		              : audit_format(audit->report, "%s %s is on %s, which line %u mounts "
		                             "after it", what_needs(late->kind), late->path,
		                             other->path, number), who);
}

/** Whether systemd makes a dependency from a need of this kind for a line with _netdev.
    Source: mount_add_mount_dependencies() of systemd 252. */
static bool is_seen(const struct fstab_entry *entry, enum order_kind kind)
{
	return order_is_known(kind)
	       && (kind != ORDER_SOURCE || fstab_entry_value(entry, "loop"));
}

/** List the options, escaped for an fstab, that make systemd mount a line after all lines that it
    needs for the reason finding->kind.
    @options  The list begins with these options; or "". */
static const char *lacking_options(struct audit *audit, const struct fstab_entry *entry,
                                   const struct order_finding *finding, const char *options)
{
	const struct order *order = &audit->order;
	uint32_t line = finding->line;
	struct strbuf list = {.arena = &audit->report->arena}, option = list, text = list;
	strbuf_puts(&list, options);
	for (uint32_t at = order->begin[line]; at < order->begin[line + 1]; ++at) {
		const struct order_need *need = &order->needs[at];
		if (need->kind != finding->kind || !need->nearest
		    || is_seen(entry, need->kind)
		    || order->flags[need->line] & (ORDER_IS_IDLE | ORDER_IS_AUTOMOUNT))
			continue;
		strbuf_reset(&option);
		order_wait_option(&option, fstab_entry_target(order->lines[need->line]));
		if (!fstab_entry_has(entry, strbuf_str(&option)))
			opt_add_once(&list, strbuf_str(&option));
	}
	escape_octal(&text, strbuf_str(&list), " \t\n\\", false);
	return strbuf_str(&text);
}

/** Report that `entry`, which needs `other` and so the network, is mounted before systemd starts
    the network. */
static void report_network(struct audit *audit, const struct fstab_entry *entry,
                           const struct order_finding *finding, const struct fstab_entry *other)
{
	unsigned flags = audit->order.flags[finding->line];
	/* systemd starts an automount unit before local-fs.target, and makes the mounts above its
	   mount point even before the automount unit. */
	if (flags & ORDER_IS_AUTOMOUNT && finding->kind == ORDER_PARENT) {
		const struct opt *option = entry->opts;
		while (option->meaning != FO_AUTOMOUNTED)
			++option;
		audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_WARNING, "no automount", NULL,
			       audit_format(audit->report, "remove %.*s%s, or use a mount point "
			                    "outside of %s", (int)option->n, option->text,
			                    flags & ORDER_IS_NETWORK ? "" : " and add _netdev",
			                    other->path),
			       "its automount unit needs line %u, of %s, which needs the network; "
			       "systemd starts automount units before the network, and to break "
			       "the cycle skips a unit, such as local-fs.target",
			       other->line->number, other->path);
		return;
	}
	const char *options = lacking_options(audit, entry, finding, "_netdev");
	audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_WARNING, options, NULL,
		       audit_format(audit->report, "add %s", options),
		       order_is_known(finding->kind)
		       ? "%s needs line %u, of %s, which needs the network; systemd starts the "
		         "network after this line, and to break the cycle skips a "
		         "unit, such as local-fs.target"
		       : "%s needs line %u, of %s, which needs the network; systemd does not see "
		         "this, and mounts this line before it starts the network",
		       what_needs(finding->kind), other->line->number, other->path);
}

/** Report a finding of order_check(). */
static void report_fault(struct audit *audit, const struct fstab_entry *entry,
                         const struct order_finding *finding)
{
	const struct fstab_entry *other =
		finding->other != ORDER_NONE ? &audit->entries[finding->other] : NULL;
	const struct fstab_facts *facts = audit->in->facts;
	unsigned number = other ? other->line->number : 0;
	const char *option, *unit, *needs = what_needs(finding->kind), *path = finding->path;
	switch (finding->fault) {
	case ORDER_LATE:
		report_late(audit, entry, finding, other);
		break;
	case ORDER_CYCLE:
		audit_add_line(audit, entry, FSTAB_ORDER,
			       finding->kind <= ORDER_BRANCH ? AUDIT_CRITICAL | AUDIT_BOOT
			                                     : AUDIT_WARNING | AUDIT_BOOT,
			       "no cycle", NULL, "remove the dependency of one of them",
			       "this line and line %u, of %s, need each other: no order is right",
			       number, other->path ? other->path : other->source);
		break;
	case ORDER_DEADLOCK:
		if (audit_is_systemd(audit))
			report_network(audit, entry, finding, other);
		break;
	case ORDER_UNORDERED:
		option = lacking_options(audit, entry, finding, "");
		if (audit_is_systemd(audit))
			audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_INFO, option, NULL,
				       audit_format(audit->report, "add %s", option),
				       "%s %s is on %s, of line %u: systemd does not see this and "
				       "may mount both at once", needs, path, other->path, number);
		break;
	case ORDER_NOWHERE:
		unit = audit_unit_name(audit->report, path, ".mount");
		if (audit_is_systemd(audit) && fstab_answer(facts, FSTAB_LACKS_UNIT, unit) > 0)
			audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_WARNING | AUDIT_BOOT,
				       audit_format(audit->report, "a line of %s", path), NULL,
				       "add the line, or remove the option", "x-systemd.requires "
				       "names %s, which no line and no unit mounts", path);
		break;
	case ORDER_ROOT:
		/* Raspberry Pi OS writes the line of / last. */
		audit_add_line(audit, entry, FSTAB_ORDER, AUDIT_INFO,
			       "parent directories are mounted first", NULL,
			       "move the line of / to the top", "it is before line %u, of /",
			       number);
		break;
	case ORDER_NOAUTO:
	case ORDER_OPTIONAL:
		break;   /* see audit_needs_optional() */
	}
}

static bool is_late_source(const struct order_finding *finding)
{
	return finding->fault == ORDER_LATE && finding->kind != ORDER_PARENT;
}

/** Whether a finding about a branch need not be reported, because the branch is the whole source,
    and the same fault was found for the source.  False for ORDER_LATE. */
static bool is_source_too(const struct order_finding *findings, size_t count,
                          const struct order_finding *branch)
{
	bool checked = branch->kind == ORDER_BRANCH && branch->fault != ORDER_LATE;
	for (size_t i = 0; checked && i < count; ++i) {
		if (findings[i].kind == ORDER_SOURCE && findings[i].fault == branch->fault
		    && findings[i].other == branch->other)
			return true;
	}
	return false;
}

void audit_order(struct audit *audit, const struct fstab_entry *entry)
{
	size_t count;
	const struct order_finding *findings = findings_of(audit, entry, &count), *source = NULL;
	const struct order_finding *cycle = find_fault(findings, count, ORDER_CYCLE);
	/* source: of several sources that are mounted late, the one to report, preferably a need
	   that systemd ignores. */
	for (size_t i = 0; i < count; ++i) {
		if (is_late_source(&findings[i])
		    && (!source || order_is_known(source->kind) > order_is_known(findings[i].kind)))
			source = &findings[i];
	}
	for (size_t i = 0; i < count; ++i) {
		const struct order_finding *finding = &findings[i];
		/* Report one cycle and one late source.  In a cycle, do not report late lines,
		   since moving them does not help. */
		if (!(cycle && finding->fault == ORDER_LATE)
		    && !(finding->fault == ORDER_CYCLE && finding != cycle)
		    && !(is_late_source(finding) && finding != source)
		    && !is_source_too(findings, count, finding))
			report_fault(audit, entry, finding);
	}
}

bool audit_needs_optional(struct audit *audit, const struct fstab_entry *entry)
{
	size_t count;
	const struct order_finding *findings = findings_of(audit, entry, &count);
	const struct order_finding *idle = find_fault(findings, count, ORDER_NOAUTO);
	const struct order_finding *optional = find_fault(findings, count, ORDER_OPTIONAL);
	/* Ignore a needed noauto line if its mount point is a file, below which no path exists. */
	if (idle && audit->entries[idle->other].kind == FACT_FILE)
		idle = NULL;
	const struct order_finding *finding =
		!idle || (optional && idle->kind == ORDER_PARENT) ? optional : idle;
	if (!finding)
		return false;
	const struct fstab_entry *other = &audit->entries[finding->other];
	bool noauto = finding == idle;
	const char *how = noauto ? "not mounted at boot, but is not noauto"
	                         : "nofail, but is not nofail";
	audit_add_line(audit, entry, FSTAB_NOFAIL, AUDIT_WARNING | AUDIT_BOOT,
		       noauto ? "noauto" : "nofail", NULL,
		       noauto ? "add noauto: systemd mounts both lines at boot, mount -a only this "
		                "one" : "add nofail",
		       "it needs line %u, of %s, which is %s itself", other->line->number,
		       other->path, how);
	return true;
}
