/* SPDX-License-Identifier: MIT */
/* Check the live mounts against the "require" statements of the configuration. */
#include "audit/config.h"

#include "audit/audit_impl.h"
#include "base/fstypes.h"
#include "base/secret.h"
#include "base/words.h"
#include "fstab/target.h"
#include "mountopts/edit.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <string.h>

static const char *name_of(const struct discovery *d, uint32_t node)
{
	return d->targets[node] ? d->targets[node] : d->tree.nodes[node].mount->point;
}

/** Find the visible mount at a path.
    @above [out]  The visible mount that contains the path; MT_NONE: unknown.
    @return the node; MT_NONE: the path is not a mount point. */
static uint32_t find(const struct discovery *d, const char *path, uint32_t *above)
{
	uint32_t found = MT_NONE;
	size_t longest = 0;
	*above = MT_NONE;
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mt_node *node = &d->tree.nodes[i];
		if (node->gone || node->made || node->states & (1u << MT_OUTSIDE | 1u << MT_HIDDEN))
			continue;
		const char *name = name_of(d, i);
		if (strcmp(name, path) == 0) {
			found = i;
		} else if (strlen(name) >= longest && word_below(path, name)) {
			*above = i;
			longest = strlen(name);
		}
	}
	return found;
}

/** Set the members of a finding that name the object of a statement.  @m  The mount; or NULL. */
static struct audit_finding at_row(const struct audit_row *row, const struct mount *m)
{
	return (struct audit_finding){.file = row->file, .line = row->line, .target = row->path,
	                              .fstype = m ? m->fstype : NULL};
}

/** Report that the path of a statement is not a mount point.
    @above  The mount that contains the path; MT_NONE: unknown. */
static void report_no_mount(const struct audit_policy_input *in, struct audit_report *report,
                            const struct audit_row *row, uint32_t above)
{
	const struct fstab_facts *facts = in->facts;
	const char *actual = NULL, *hint =
		"mount a file system there, or remove the line of the configuration";
	struct audit_finding at = at_row(row, NULL);
	struct strbuf real = {.arena = &report->arena};
	enum fact_kind kind = facts->look ? facts->look(facts->arg, row->path, &real)
	                                  : FACT_UNKNOWN;
	if (kind == FACT_MISSING) {
		actual = "does not exist";
	} else if (kind > FACT_MISSING && real.len && strcmp(strbuf_str(&real), row->path) != 0) {
		actual = audit_format(report, "a symlink to %s", strbuf_str(&real));
		hint = audit_format(report, "or require %s instead", strbuf_str(&real));
	} else if (above != MT_NONE) {
		const char *type = in->d->tree.nodes[above].mount->fstype;
		/* If the mount point is above in->root, the mount has no name from this root. */
		const char *name = fstab_from_root(in->root, name_of(in->d, above));
		actual = audit_format(report, "a part of %s (%s)", name ? name : "/",
		                      type ? type : "?");
	}
	audit_add_at(report, &at, POLICY_PARTITION, AUDIT_WARNING, "a mount point", actual, hint,
	             "not a mount point, as the configuration requires");
}

/** Whether a mount has a required option of n bytes. */
static bool has(const struct mount *m, const char *option, size_t n)
{
	const struct vfs_option *flag = vfs_option(option, n);
	struct vfs_flags flags;
	/* A file system that rejects writes after an error does not count as rw. */
	if (word_is(option, n, "rw") && shown_fault(m) != SHOWN_NO_FAULT)
		return false;
	if (flag) {
		vfs_flags_shown(m, &flags);
		flags.value[VFS_RO] |= shown_super_readonly(m);
		return vfs_option_holds(flag, &flags);
	}
	return shown_lists(m, option, n);
}

/** Get the text of options for a finding, without secrets.  @return NULL: no options. */
static const char *shown(const struct strbuf *options)
{
	return has_secret(strbuf_str(options)) ? "options that hold a secret"
	       : options->len ? strbuf_str(options) : NULL;
}

static void check_options(struct audit_report *report, const struct audit_row *row,
                          const struct mount *m)
{
	struct audit_finding at = at_row(row, m);
	struct strbuf missing = {.arena = &report->arena}, mounted = missing;
	const char *hint = "correct the line of the fstab or the unit; keep the secret in a file "
	                   "of its own";
	strbuf_puts(&mounted, m->vfs_opts);
	for (uint32_t i = 0; i < row->nopts; ++i) {
		const struct opt *o = &row->opts[i];
		if (word_is(o->text, o->n, "mountpoint")
		    || vfs_propagation(o->text, o->n, NULL) >= 0 || has(m, o->text, o->n))
			continue;
		opt_add(&missing, o->text, o->n);
		/* Show the actual value, such as size=1g. */
		if (o->value)
			opt_add_named(&mounted, m->fs_opts, o->name);
	}
	const char *expected = shown(&missing), *actual = shown(&mounted);
	if (expected && expected == strbuf_str(&missing)) {
		const char *option = audit_format(report, "remount,%s", expected);
		hint = audit_format(report, "%s, and correct the line of the fstab or the unit",
		                    audit_command(report, "remount it", "mount", "-o", option,
		                                  "--", row->path, NULL));
	}
	if (expected)
		audit_add_at(report, &at, POLICY_OPTION, AUDIT_WARNING, expected, actual, hint,
		             "mounted without %s", expected);
}

static void check_propagation(struct audit_report *report, const struct audit_row *row,
                              const struct mount *m)
{
	struct audit_finding at = at_row(row, m);
	const char *actual = audit_format(report, "%s%s%s",
	                                  m->propagation & MP_SHARED ? "shared" : "private",
	                                  m->propagation & MP_SLAVE ? ",slave" : "",
	                                  m->propagation & MP_UNBINDABLE ? ",unbindable" : "");
	for (uint32_t i = 0; i < row->nopts; ++i) {
		const char *o = row->opts[i].name;
		int required = vfs_propagation(row->opts[i].text, row->opts[i].n, NULL);
		/* Unbindable mounts are private as well. */
		bool right = required == MP_PRIVATE ? !(m->propagation & (MP_SHARED | MP_SLAVE))
		                                    : m->propagation & (unsigned)required;
		if (required < 0 || right)
			continue;
		const char *make = audit_format(report, "--make-%s", o);
		const char *hint =
			audit_format(report, "%s; mounts below keep theirs",
			             audit_command(report, "change the propagation", "mount", make,
			                           "--", row->path, NULL));
		audit_add_at(report, &at, MNT_PROPAGATION, AUDIT_WARNING, o, actual, hint,
		             "its propagation is %s", actual);
	}
}

int audit_policy(const struct audit_policy_input *in, struct audit_report *report)
{
	const char *root = strcmp(in->root, "/") == 0 ? "" : in->root;
	for (size_t i = 0; i < in->config->count && !report->arena.failed; ++i) {
		const struct audit_row *row = &in->config->rows[i];
		if (row->verb != AUDIT_REQUIRE)
			continue;
		const char *path = *root && strcmp(row->path, "/") == 0 ? "" : row->path;
		path = audit_format(report, "%s%s", root, path);
		uint32_t above, node = find(in->d, path, &above);
		if (node == MT_NONE) {
			report_no_mount(in, report, row, above);
			continue;
		}
		const struct mount *m = in->d->tree.nodes[node].mount;
		bool trigger = fstype_flags(m->fstype) & FST_AUTOFS;
		if (m->vfs_opts && m->fs_opts && !trigger)
			check_options(report, row, m);
		else
			audit_not_checked(report, POLICY_OPTION);
		if (in->d->table->fields & MF_PROPAGATION && !trigger)
			check_propagation(report, row, m);
		else
			audit_not_checked(report, MNT_PROPAGATION);
	}
	return audit_finish(report);
}
