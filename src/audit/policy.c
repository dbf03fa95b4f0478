/* SPDX-License-Identifier: MIT */
/*
 * A policy is rows of a configuration, a path each: looked up among the mounts by their
 * names, once.  What is required of a path is of the mount on it: of the one that is seen
 * there, uppermost of a stack.
 */
#include "audit/policy.h"

#include "audit/audit_impl.h"
#include "base/escape.h"
#include "base/fstypes.h"
#include "mountopts/optlist.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct policy {
	const struct audit_policy_input *in;
	struct audit_report *report;
	struct map64 seen;       /* hash of a mount point -> the node that is seen there */
	struct map64 last;       /* hash of a verb, path and option -> the last row that says it */
	struct strbuf path, message, expected, actual, hint;
	bool failed;
};

static uint64_t hash_of(const char *text)
{
	return map64_bytes(MAP64_BYTES, text, strlen(text));
}

/** What a row is about: of options n > 0 bytes of the key. */
static uint64_t hash_row(const struct audit_row *row, const char *key, size_t n)
{
	const char head = (char)row->verb;
	uint64_t hash = map64_bytes(map64_bytes(MAP64_BYTES, &head, 1), row->path, strlen(row->path) + 1);
	return map64_bytes(hash, key, n);
}

static const char *name_of(const struct policy *policy, uint32_t node)
{
	const struct discovery *d = policy->in->d;
	return d->targets[node] ? d->targets[node] : d->tree.nodes[node].mount->point;
}

/** Note which mounts are seen, and which row is the last of its kind. */
static bool prepare(struct policy *policy)
{
	const struct mtree *tree = &policy->in->d->tree;
	const struct audit_config *config = policy->in->config;
	for (uint32_t i = 0; i < tree->count; ++i) {
		const struct mt_node *n = &tree->nodes[i];
		const char *name = n->gone || n->made || n->states & (1u << MT_OUTSIDE | 1u << MT_HIDDEN) ? NULL : name_of(policy, i);
		if (!name)
			continue;
		map64_remove(&policy->seen, hash_of(name));
		if (map64_put(&policy->seen, hash_of(name), i) == MAP64_NONE)
			return false;
	}
	for (uint32_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		const char *list = row->verb == AUDIT_REQUIRE ? row->options : NULL, *key = "", *o = NULL;
		size_t n, len = 0;
		bool shown;
		if (row->verb < AUDIT_REQUIRE)
			continue;
		do {
			o = audit_next_option(&list, &n);
			key = o ? audit_option_key(o, n, &len, &shown) : "";
			uint64_t hash = hash_row(row, key, len);
			map64_remove(&policy->last, hash);
			if (map64_put(&policy->last, hash, i) == MAP64_NONE)
				return false;
		} while (list);
	}
	return true;
}

/** Whether no later row says otherwise of this, or the same again. */
static bool is_last(const struct policy *policy, uint32_t i, const char *key, size_t n)
{
	const struct audit_row *rows = policy->in->config->rows;
	uint32_t last = map64_get(&policy->last, hash_row(&rows[i], key, n));
	return last == i || last == MAP64_NONE || strcmp(rows[last].path, rows[i].path) != 0;
}

/** The mount that is seen at a path, n bytes of policy->path, of this hash; MT_NONE: none. */
static uint32_t find(const struct policy *policy, size_t n, uint64_t hash)
{
	const char *path = strbuf_str(&policy->path);
	uint32_t node = map64_get(&policy->seen, hash);
	const char *name = node == MAP64_NONE ? NULL : name_of(policy, node);
	return name && strlen(name) == n && memcmp(name, path, n) == 0 ? node : MT_NONE;
}

/** The mount that a path which is no mount point lies on. */
static uint32_t find_above(const struct policy *policy)
{
	const char *path = strbuf_str(&policy->path);
	uint64_t hash = MAP64_BYTES;
	uint32_t node = find(policy, 1, hash_of("/"));
	for (size_t n = 0; n < policy->path.len; ++n) {
		uint32_t found = path[n] == '/' && n > 0 ? find(policy, n, hash) : MT_NONE;
		node = found == MT_NONE ? node : found;
		hash = map64_bytes(hash, path + n, 1);
	}
	return node;
}

static void tell(struct policy *policy, enum audit_code code, const struct audit_row *row, const struct mount *mount)
{
	struct audit_finding finding = {
		.code = code, .severity = AUDIT_WARNING, .file = row->file, .line = row->line, .target = row->path,
		.message = strbuf_str(&policy->message), .expected = strbuf_str(&policy->expected),
		.actual = policy->actual.len ? strbuf_str(&policy->actual) : NULL, .hint = strbuf_str(&policy->hint),
		.fstype = mount ? mount->fstype : NULL,
	};
	policy->failed |= policy->message.failed || policy->expected.failed || policy->actual.failed || policy->hint.failed
	                  || audit_report_add(policy->report, &finding) != 0;
}

/** Tell of a path that is no mount point. */
static void tell_no_mount(struct policy *policy, enum audit_code code, const struct audit_row *row)
{
	const struct fstab_facts *facts = policy->in->facts;
	uint32_t above = find_above(policy);
	enum fact_kind kind = FACT_UNKNOWN;
	struct strbuf real;
	strbuf_init(&real);
	if (facts && facts->look)
		kind = facts->look(facts->arg, row->path, &real);
	if (kind == FACT_MISSING) {
		strbuf_puts(&policy->actual, "there is nothing of that name");
	} else if (real.len && strcmp(strbuf_str(&real), row->path) != 0) {
		strbuf_printf(&policy->actual, "a link leads to %s", strbuf_str(&real));
	} else if (above != MT_NONE) {
		const struct mount *m = policy->in->d->tree.nodes[above].mount;
		strbuf_printf(&policy->actual, "a part of %s (%s)", name_of(policy, above), m->fstype ? m->fstype : "?");
	}
	policy->failed |= real.failed;
	strbuf_puts(&policy->message, "it is no mount point of its own");
	if (kind > FACT_MISSING && real.len && strcmp(strbuf_str(&real), row->path) != 0)
		strbuf_printf(&policy->hint, "let the line say %s, if that is what is meant", strbuf_str(&real));
	else
		strbuf_puts(&policy->hint, "mount a file system of its own there, or take the line out of the configuration");
	strbuf_destroy(&real);
	tell(policy, code, row, NULL);
}

/** Whether a mount is as an option of n bytes says. */
static bool has(const struct mount *m, const char *option, size_t n)
{
	char text[AUDIT_LINE_MAX + 1];
	size_t len;
	bool shown;
	const char *key = audit_option_key(option, n, &len, &shown);
	if (n > AUDIT_LINE_MAX)
		return false;
	/* What takes no writes any more, after an error, is not rw. */
	if (n == 2 && memcmp(option, "rw", n) == 0 && (opt_shown_has(m->fs_opts, "emergency_ro") || opt_shown_has(m->fs_opts, "shutdown")))
		return false;
	memcpy(text, shown ? option : key, shown ? n : len);
	text[shown ? n : len] = '\0';
	return (opt_shown_has(m->vfs_opts, text) || opt_shown_has(m->fs_opts, text)) == shown;
}

/** Add an option of n bytes to a list. */
static void list_add(struct strbuf *list, const char *option, size_t n)
{
	if (list->len)
		strbuf_putc(list, ',');
	strbuf_add(list, option, n);
}

/** What a mount has of the same name as a required option, as "size=1g". */
static void add_same(struct policy *policy, const struct mount *m, const char *option, size_t n)
{
	size_t len, k, klen;
	bool shown;
	const char *key = audit_option_key(option, n, &len, &shown), *list = m->fs_opts;
	for (const char *o; len < n && memchr(option, '=', n) && (o = audit_next_option(&list, &k)) != NULL;) {
		const char *is = audit_option_key(o, k, &klen, &shown);
		if (klen == len && memcmp(is, key, len) == 0)
			list_add(&policy->actual, o, k);
	}
}

/** Let no secret stand in options.  @return whether one did. */
static bool hide(const struct policy *policy, struct strbuf *options)
{
	if (!policy->in->secret || !policy->in->secret(NULL, strbuf_str(options)))
		return false;
	strbuf_reset(options);
	strbuf_puts(options, "options that hold a secret");
	return true;
}

static void judge_options(struct policy *policy, uint32_t i, uint32_t node)
{
	const struct audit_row *row = &policy->in->config->rows[i];
	const struct mount *m = node == MT_NONE ? NULL : policy->in->d->tree.nodes[node].mount;
	const char *list = row->options, *o;
	size_t n, len;
	bool shown;
	if (m && (!m->vfs_opts || !m->fs_opts || fstype_flags(m->fstype) & FST_AUTOFS)) {
		policy->report->unjudged |= audit_bit(POLICY_OPTION);
		return;
	}
	if (m)
		strbuf_puts(&policy->actual, m->vfs_opts);
	while ((o = audit_next_option(&list, &n)) != NULL) {
		const char *key = audit_option_key(o, n, &len, &shown);
		if (!is_last(policy, i, key, len) || (m && has(m, o, n)))
			continue;
		list_add(&policy->expected, o, n);
		if (m)
			add_same(policy, m, o, n);
	}
	if (!policy->expected.len)
		return;
	bool secret = hide(policy, &policy->expected);
	if (!m) {
		tell_no_mount(policy, POLICY_OPTION, row);
		return;
	}
	hide(policy, &policy->actual);
	strbuf_printf(&policy->message, "it is mounted without %s", strbuf_str(&policy->expected));
	if (secret) {
		strbuf_puts(&policy->hint, "see to its line of the fstab, or its unit; a secret is to stand in neither, nor here");
	} else {
		strbuf_puts(&policy->hint, "mount -o remount,");
		escape_shell(&policy->hint, strbuf_str(&policy->expected));
		strbuf_putc(&policy->hint, ' ');
		escape_operand(&policy->hint, row->path);
		strbuf_puts(&policy->hint, ", and let its line of the fstab, or its unit, say so");
	}
	tell(policy, POLICY_OPTION, row, m);
}

/** The propagation of a mount, as findmnt(8) has it. */
static void put_propagation(struct strbuf *out, unsigned is)
{
	strbuf_puts(out, is & MP_SHARED ? "shared" : "private");
	if (is & MP_SLAVE)
		strbuf_puts(out, ",slave");
	if (is & MP_UNBINDABLE)
		strbuf_puts(out, ",unbindable");
}

static void judge_propagation(struct policy *policy, uint32_t i, uint32_t node)
{
	static const char *const names[] = {
		[MP_PRIVATE] = "private", [MP_SHARED] = "shared", [MP_SLAVE] = "slave", [MP_UNBINDABLE] = "unbindable",
	};
	const struct audit_row *row = &policy->in->config->rows[i];
	if (!is_last(policy, i, "", 0))
		return;
	strbuf_puts(&policy->expected, names[row->propagation]);
	if (node == MT_NONE) {
		tell_no_mount(policy, MNT_PROPAGATION, row);
		return;
	}
	const struct mount *m = policy->in->d->tree.nodes[node].mount;
	if (!(policy->in->d->table->fields & MF_PROPAGATION) || fstype_flags(m->fstype) & FST_AUTOFS) {
		policy->report->unjudged |= audit_bit(MNT_PROPAGATION);
		return;
	}
	/* Private is what neither gives nor takes; unbindable is that, too. */
	bool right = row->propagation == MP_PRIVATE ? !(m->propagation & (MP_SHARED | MP_SLAVE)) : m->propagation & row->propagation;
	if (right)
		return;
	put_propagation(&policy->actual, m->propagation);
	strbuf_printf(&policy->message, "its propagation is %s", strbuf_str(&policy->actual));
	strbuf_printf(&policy->hint, "mount --make-%s ", names[row->propagation]);
	escape_operand(&policy->hint, row->path);
	strbuf_puts(&policy->hint, "; what is bound or mounted below keeps its own");
	tell(policy, MNT_PROPAGATION, row, m);
}

static void judge_row(struct policy *policy, uint32_t i)
{
	const struct audit_row *row = &policy->in->config->rows[i];
	const char *root = policy->in->root;
	bool whole = strcmp(root, "/") == 0;
	struct strbuf *const texts[] = {&policy->path, &policy->message, &policy->expected, &policy->actual, &policy->hint};
	for (size_t k = 0; k < sizeof(texts) / sizeof(*texts); ++k)
		strbuf_reset(texts[k]);
	strbuf_printf(&policy->path, "%s%s", whole ? "" : root, whole || strcmp(row->path, "/") != 0 ? row->path : "");
	policy->failed |= policy->path.failed;
	uint32_t node = find(policy, policy->path.len, hash_of(strbuf_str(&policy->path)));
	switch (row->verb) {
	case AUDIT_REQUIRE:
		judge_options(policy, i, node);
		break;
	case AUDIT_SEPARATE:
		if (node == MT_NONE && is_last(policy, i, "", 0)) {
			strbuf_puts(&policy->expected, "a mount point of its own");
			tell_no_mount(policy, POLICY_PARTITION, row);
		}
		break;
	case AUDIT_PROPAGATION:
		judge_propagation(policy, i, node);
		break;
	case AUDIT_RULE:
	case AUDIT_IGNORE_OWNER:
	case AUDIT_IGNORE_TYPE:
	case AUDIT_IGNORE_TARGET:
		break;
	}
}

int audit_policy(const struct audit_policy_input *in, struct audit_report *report)
{
	struct policy policy = {.in = in, .report = report};
	struct strbuf *const texts[] = {&policy.path, &policy.message, &policy.expected, &policy.actual, &policy.hint};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_init(texts[i]);
	map64_init(&policy.seen);
	map64_init(&policy.last);
	bool any = false;
	for (uint32_t i = 0; i < in->config->count; ++i)
		any |= in->config->rows[i].verb >= AUDIT_REQUIRE;
	policy.failed = any && !prepare(&policy);
	for (uint32_t i = 0; any && i < in->config->count && !policy.failed; ++i) {
		if (in->config->rows[i].verb >= AUDIT_REQUIRE)
			judge_row(&policy, i);
	}
	if (any && !policy.failed)
		audit_report_sort(report);
	map64_destroy(&policy.seen);
	map64_destroy(&policy.last);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		strbuf_destroy(texts[i]);
	if (policy.failed)
		errno = ENOMEM;
	return policy.failed ? -1 : 0;
}
