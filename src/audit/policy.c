/* SPDX-License-Identifier: MIT */
#include "audit/policy.h"

#include "audit/audit_impl.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/optlist.h"
#include "mountopts/vfsflags.h"

#include <errno.h>
#include <string.h>

struct policy {
	const struct audit_policy_input *in;
	struct audit_report *report;
	struct strbuf path, message, expected, actual, hint;
	bool failed;
};

static const char *name_of(const struct policy *policy, uint32_t node)
{
	const struct discovery *d = policy->in->d;
	return d->targets[node] ? d->targets[node] : d->tree.nodes[node].mount->point;
}

/** Whether a mount point lies above a path; "/" lies above all others. */
static bool is_above(const char *name, const char *path)
{
	size_t n = strlen(name);
	return n == 1 || (strncmp(name, path, n) == 0 && path[n] == '/');
}

/** Look for the visible mount at policy->path.
    @above [out]  The visible mount that the path lies on, if it is not a mount point; MT_NONE:
   unknown.
    @return the node; MT_NONE: the path is not a mount point. */
static uint32_t find(const struct policy *policy, uint32_t *above)
{
	const struct mtree *tree = &policy->in->d->tree;
	const char *path = strbuf_str(&policy->path);
	uint32_t found = MT_NONE;
	size_t longest = 0;
	*above = MT_NONE;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *n = &tree->nodes[i];
		if (n->gone || n->made || n->states & (1u << MT_OUTSIDE | 1u << MT_HIDDEN))
			continue;
		const char *name = name_of(policy, i);
		if (strcmp(name, path) == 0) {
			found = i;
		} else if (strlen(name) >= longest && is_above(name, path)) {
			*above = i;
			longest = strlen(name);
		}
	}
	return found;
}

static void add(struct policy *policy, enum audit_code code, const struct audit_row *row,
                 const struct mount *mount)
{
	struct audit_finding finding = {
		.code = code, .severity = AUDIT_WARNING, .file = row->file, .line = row->line,
		.target = row->path,
		.message = strbuf_str(&policy->message), .expected = strbuf_str(&policy->expected),
		.actual = policy->actual.len ? strbuf_str(&policy->actual) : NULL,
		.hint = strbuf_str(&policy->hint),
		.fstype = mount ? mount->fstype : NULL,
	};
	policy->failed |= policy->message.failed || policy->expected.failed || policy->actual.failed
	                  || policy->hint.failed || audit_report_add(policy->report, &finding) != 0;
}

/** Report a path that is not a mount point. */
static void add_no_mount(struct policy *policy, const struct audit_row *row, uint32_t above)
{
	const struct fstab_facts *facts = policy->in->facts;
	enum fact_kind kind = FACT_UNKNOWN;
	struct strbuf real;
	strbuf_init(&real);
	if (facts && facts->look)
		kind = facts->look(facts->arg, row->path, &real);
	bool link = kind > FACT_MISSING && real.len && strcmp(strbuf_str(&real), row->path) != 0;
	if (kind == FACT_MISSING) {
		strbuf_puts(&policy->actual, "does not exist");
	} else if (link) {
		strbuf_printf(&policy->actual, "a symlink to %s", strbuf_str(&real));
	} else if (above != MT_NONE) {
		const struct mount *m = policy->in->d->tree.nodes[above].mount;
		strbuf_printf(&policy->actual, "a part of %s (%s)", name_of(policy, above),
		              m->fstype ? m->fstype : "?");
	}
	policy->failed |= real.failed;
	strbuf_puts(&policy->message, "not a mount point, as the configuration requires");
	strbuf_puts(&policy->expected, "a mount point");
	if (link)
		strbuf_printf(&policy->hint, "or require %s instead",
		              strbuf_str(&real));
	else
		strbuf_puts(&policy->hint,
		            "mount a file system there, or remove the line of the configuration");
	strbuf_destroy(&real);
	add(policy, POLICY_PARTITION, row, NULL);
}

/** The propagation that a required option names, an enum mount_propagation; -1: none. */
static int propagation_of(const char *option, size_t n)
{
	static const struct {
		const char *name;
		int is;
	} kinds[] = {{"shared", MP_SHARED},
	             {"private", MP_PRIVATE},
	             {"slave", MP_SLAVE},
	             {"unbindable", MP_UNBINDABLE}};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); ++i) {
		if (word_is(option, n, kinds[i].name))
			return kinds[i].is;
	}
	return -1;
}

/** Whether a mount has a required option of n bytes. */
static bool has(const struct mount *m, const char *option, size_t n)
{
	const struct vfs_option *flag = vfs_option(option, n);
	const char *lists[] = {m->vfs_opts, m->fs_opts};
	struct vfs_flags flags;
	/* A file system that takes no writes after an error is not rw. */
	if (word_is(option, n, "rw")
	    && (opt_shown_has(m->fs_opts, "emergency_ro") || opt_shown_has(m->fs_opts, "shutdown")))
		return false;
	if (flag) {
		vfs_flags_shown(m, &flags);
		flags.value[VFS_RO] |= opt_shown_has(m->fs_opts, "ro");
		return word_is(option, n, "atime") ? flags.value[VFS_ATIME] != VFS_NOATIME
		                                   : flags.value[flag->flag] == flag->value;
	}
	for (size_t i = 0, len; i < 2; ++i) {
		for (const char *o; (o = opt_next_shown(&lists[i], &len)) != NULL;) {
			if (len == n && memcmp(o, option, n) == 0)
				return true;
		}
	}
	return false;
}

/** Add the option of the file system with the name of a required one: "size=1g". */
static void add_same(struct policy *policy, const struct mount *m, const char *option, size_t n)
{
	size_t len = opt_name(option, n), k;
	const char *list = m->fs_opts;
	for (const char *o; len < n && (o = opt_next_shown(&list, &k)) != NULL;) {
		if (opt_name(o, k) == len && memcmp(o, option, len) == 0)
			opt_add(&policy->actual, o, k);
	}
}

/** Replace options that hold a secret.  @return whether they do. */
static bool hide(const struct policy *policy, struct strbuf *options)
{
	if (!policy->in->secret || !policy->in->secret(NULL, strbuf_str(options)))
		return false;
	strbuf_reset(options);
	strbuf_puts(options, "options that hold a secret");
	return true;
}

static void judge_options(struct policy *policy, const struct audit_row *row, const struct mount *m)
{
	const char *list = row->options;
	size_t n;
	strbuf_puts(&policy->actual, m->vfs_opts);
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		if (word_is(o, n, "mountpoint") || propagation_of(o, n) >= 0
		    || has(m, o, n))
			continue;
		opt_add(&policy->expected, o, n);
		add_same(policy, m, o, n);
	}
	if (!policy->expected.len)
		return;
	bool secret = hide(policy, &policy->expected);
	hide(policy, &policy->actual);
	strbuf_printf(&policy->message, "mounted without %s", strbuf_str(&policy->expected));
	if (secret) {
		strbuf_puts(
		    &policy->hint,
		    "correct the line of the fstab or the unit; keep the secret in a file of its "
		    "own");
	} else {
		strbuf_puts(&policy->hint, "mount -o remount,");
		escape_shell(&policy->hint, strbuf_str(&policy->expected));
		strbuf_putc(&policy->hint, ' ');
		escape_operand(&policy->hint, row->path);
		strbuf_puts(&policy->hint, ", and correct the line of the fstab or the unit");
	}
	add(policy, POLICY_OPTION, row, m);
}

static void put_propagation(struct strbuf *out, unsigned is)
{
	strbuf_puts(out, is & MP_SHARED ? "shared" : "private");
	if (is & MP_SLAVE)
		strbuf_puts(out, ",slave");
	if (is & MP_UNBINDABLE)
		strbuf_puts(out, ",unbindable");
}

static void judge_propagation(struct policy *policy, const struct audit_row *row,
                              const struct mount *m)
{
	const char *list = row->options;
	size_t n;
	for (const char *o; (o = opt_next_shown(&list, &n)) != NULL;) {
		int required = propagation_of(o, n);
		/* Unbindable mounts are private, too. */
		bool right = required == MP_PRIVATE ? !(m->propagation & (MP_SHARED | MP_SLAVE))
		                                    : m->propagation & (unsigned)required;
		if (required < 0 || right)
			continue;
		strbuf_reset(&policy->actual);
		strbuf_reset(&policy->expected);
		strbuf_reset(&policy->message);
		strbuf_reset(&policy->hint);
		strbuf_add(&policy->expected, o, n);
		put_propagation(&policy->actual, m->propagation);
		strbuf_printf(&policy->message, "its propagation is %s",
		              strbuf_str(&policy->actual));
		strbuf_printf(&policy->hint, "mount --make-%s ", strbuf_str(&policy->expected));
		escape_operand(&policy->hint, row->path);
		strbuf_puts(&policy->hint, "; mounts below keep theirs");
		add(policy, MNT_PROPAGATION, row, m);
	}
}

static void judge_row(struct policy *policy, const struct audit_row *row)
{
	const char *root = policy->in->root;
	bool whole = strcmp(root, "/") == 0;
	struct strbuf *const texts[] = {&policy->path, &policy->message, &policy->expected,
	                                &policy->actual, &policy->hint};
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); ++k)
		strbuf_reset(texts[k]);
	strbuf_printf(&policy->path, "%s%s", whole ? "" : root,
	              whole || strcmp(row->path, "/") != 0 ? row->path : "");
	policy->failed |= policy->path.failed;
	uint32_t above, node = find(policy, &above);
	if (node == MT_NONE) {
		add_no_mount(policy, row, above);
		return;
	}
	const struct mount *m = policy->in->d->tree.nodes[node].mount;
	bool trigger = fstype_flags(m->fstype) & FST_AUTOFS;
	if (m->vfs_opts && m->fs_opts && !trigger)
		judge_options(policy, row, m);
	else
		audit_not_checked(policy->report, POLICY_OPTION);
	if (policy->in->d->table->fields & MF_PROPAGATION && !trigger)
		judge_propagation(policy, row, m);
	else
		audit_not_checked(policy->report, MNT_PROPAGATION);
}

int audit_policy(const struct audit_policy_input *in, struct audit_report *report)
{
	struct policy policy = {.in = in, .report = report};
	struct strbuf *const texts[] = {&policy.path, &policy.message, &policy.expected,
	                                &policy.actual, &policy.hint};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_init(texts[i]);
	for (size_t i = 0; i < in->config->count && !policy.failed; ++i) {
		if (in->config->rows[i].verb == AUDIT_REQUIRE)
			judge_row(&policy, &in->config->rows[i]);
	}
	if (!policy.failed)
		audit_report_sort(report);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_destroy(texts[i]);
	if (policy.failed)
		errno = ENOMEM;
	return policy.failed ? -1 : 0;
}
