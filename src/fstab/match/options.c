/* SPDX-License-Identifier: MIT */
/*
 * Comparing the options of a line with those of its mount.
 *
 * The kernel always shows the VFS flags of a mount (ro, nosuid, noatime ...): a flag that the line
 * does not name has its default.  Of the options of the file system it shows some, in its own way
 * (mountopts/shown.h): an option that the mount shows and the line lacks, or has with another
 * value, is a difference; an option that only the line has stays, like those for mount(8) and
 * systemd.
 */
#include "fstab/match/matcher.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <string.h>

/** Options that are never compared: for mount(8) and systemd, or naming what is mounted. */
enum { UNCOMPARED = OPT_USERSPACE | OPT_UNCOMPARED | OPT_IDENTITY };

/** Options of a line compared with those of a mount. */
struct comparison {
	const char *fstype;
	struct opt_set live[2];      /* of the mount: as the plan has them; as the kernel shows
	                                them */
	struct strbuf shown;         /* those of the line as the kernel shows them ... */
	struct opt_set given;        /* ... by name */
	struct strbuf *list;         /* the options that the line needs, which outlive it ... */
	struct opt_set taken;        /* ... by name */
	struct strbuf *differ;       /* those that differ, as the mount has them */
	struct strbuf use;           /* scratch */
};

/** Begin.  @options  Of the line. */
static void compare_init(struct comparison *c, const char *options, const char *planned,
                         const char *shown)
{
	opt_set_add_list(&c->live[0], planned, opt_next);
	opt_set_add_list(&c->live[1], shown, opt_next);
	shown_list(c->fstype, options, &c->shown);
	opt_set_add_list(&c->given, strbuf_str(&c->shown), opt_next);
}

/** End.  @return whether memory ran out. */
static bool compare_destroy(struct comparison *c)
{
	bool failed = c->live[0].failed || c->live[1].failed || c->given.failed || c->taken.failed
	              || c->shown.failed || c->use.failed;
	opt_set_destroy(&c->live[0]);
	opt_set_destroy(&c->live[1]);
	opt_set_destroy(&c->given);
	opt_set_destroy(&c->taken);
	strbuf_destroy(&c->shown);
	strbuf_destroy(&c->use);
	return failed;
}

/** The options of a list with one name. */
struct named {
	const char *first, *last;   /* NULL: none */
	size_t n;                   /* length of the first */
	unsigned times;
};

/** The options of a set with the name of this option: the version of NFS has two names. */
static struct named find_name(const struct opt_set *set, const char *option, size_t n)
{
	size_t key = opt_name(option, n);
	const struct opt_entry *entries[2] = {opt_set_find(set, option, key), NULL};
	struct named found = {0};
	if (word_is(option, key, "nfsvers"))
		entries[1] = opt_set_find(set, "vers", 4);
	for (int i = 0; i < 2; ++i) {
		const struct opt_entry *entry = entries[i];
		if (!entry)
			continue;
		if (!found.first || entry->first < found.first) {
			found.first = entry->first;
			found.n = entry->nfirst;
		}
		found.last = !found.last || entry->last > found.last ? entry->last : found.last;
		found.times += entry->times;
	}
	return found;
}

/** The option of a mount with the name of this option: as the plan has it, else as the kernel
    shows it.  NULL: none, or several. */
static const char *find_live(const struct comparison *c, const char *option, size_t n, size_t *k)
{
	for (int i = 0; i < 2; ++i) {
		struct named found = find_name(&c->live[i], option, n);
		*k = found.n;
		if (found.first)
			return found.times == 1 && (i == 0 || !memchr(found.first, '\\', *k))
			       ? found.first : NULL;
	}
	return NULL;
}

/** Set *found to an option of a set without a value if it comes first. */
static void find_word(const struct opt_set *set, const char *word, size_t n, const char **found,
                      size_t *k)
{
	const struct opt_entry *entry = opt_set_find(set, word, n);
	if (entry && entry->bare && (!*found || entry->bare < *found)) {
		*found = entry->bare;
		*k = n;
	}
}

/** The option of a mount that contradicts an option of its line, of *k bytes; or NULL. */
static const char *find_opposite(struct comparison *c, const char *option, size_t n, size_t *k)
{
	/* The server may refuse these. */
	static const char agreed[] = "unix nounix serverino noserverino posix posixpaths";
	if (memchr(option, '=', n) || vfs_option(option, n) || fsopt_has(option, n, UNCOMPARED)
	    || (fstype_flags(c->fstype) & FST_NET && word_in(option, n, agreed)))
		return NULL;
	strbuf_reset(&c->use);
	strbuf_puts(&c->use, "no");
	strbuf_add(&c->use, option, n);
	const char *found = NULL;
	for (int i = 0; i < 2 && !found; ++i) {
		const struct opt_set *set = &c->live[i];
		if (opt_set_find(set, option, n))
			continue;
		find_word(set, strbuf_str(&c->use), c->use.len, &found, k);
		if (n > 2 && memcmp(option, "no", 2) == 0)
			find_word(set, option + 2, n - 2, &found, k);
		for (size_t r = 0; fsopt_conflicts[r / 2][0]; ++r) {
			const char *const *sides = fsopt_conflicts[r / 2];
			const char *other = sides[!(r % 2)];
			if (word_is(option, n, sides[r % 2]))
				find_word(set, other, strlen(other), &found, k);
		}
	}
	return found;
}

/** Whether a list has a flag that differs from the mount's. */
static bool has_other_flag(const char *shown, const struct vfs_flags *want)
{
	size_t n;
	for (const char *o; (o = opt_next(&shown, &n)) != NULL;) {
		const struct vfs_option *flag = vfs_option(o, n);
		if (flag && want->value[flag->flag] != flag->value)
			return true;
	}
	return false;
}

/** Whether an option of a line, as shown, has another value than the mount's.
    @after  Where the options after this one begin in c->shown: if they repeat this one, they
            count. */
static bool is_other(const struct comparison *c, const char *shown, size_t after)
{
	size_t n, k;
	for (const char *o; (o = opt_next(&shown, &n)) != NULL;) {
		const char *found = find_live(c, o, n, &k);
		const char *last = find_name(&c->given, o, n).last;
		if (found && !shown_same(c->fstype, o, n, found, k)
		    && (!last || last < strbuf_str(&c->shown) + after))
			return true;
	}
	return false;
}

static void take(struct comparison *c, const char *option, size_t n)
{
	opt_add(c->list, option, n);
	opt_set_add(&c->taken, option, n);
}

/** Append the options of a line that stay, with the values of the mount.  Options that are
    repeated, or not for the kernel, stay as they are.
    @flags  The flags of the mount if they differ from the line's; else NULL. */
static void take_over(struct comparison *c, const char *from, const struct vfs_flags *flags)
{
	size_t n, k, m, after = 0;
	struct strbuf shown = {0};
	struct opt_set line = {0};
	opt_set_add_list(&line, from, opt_next);
	for (const char *o; (o = opt_next(&from, &n)) != NULL;) {
		strbuf_reset(&shown);
		shown_as(c->fstype, o, n, &shown);
		after += (after > 0 && shown.len > 0) + shown.len;
		if (flags && vfs_option(o, n))
			continue;
		bool own = opt_is_x(o, n) || fsopt_has(o, n, UNCOMPARED)
		           || find_name(&line, o, n).times > 1;
		const char *opposite = own ? NULL : find_opposite(c, o, n, &k);
		if (opposite) {
			if (!opt_set_find(&c->taken, opposite, k))
				take(c, opposite, k);
			opt_add(c->differ, opposite, k);
			continue;
		}
		/* An option that implies a flag is removed with it. */
		if (!own && flags && has_other_flag(strbuf_str(&shown), flags))
			continue;
		if (own || !is_other(c, strbuf_str(&shown), after)) {
			take(c, o, n);
			continue;
		}
		const char *at = strbuf_str(&shown);
		for (const char *part; (part = opt_next(&at, &k)) != NULL;) {
			const char *found = find_live(c, part, k, &m);
			if (found) {
				take(c, found, m);
				opt_add(c->differ, found, m);
			}
		}
	}
	c->use.failed |= shown.failed || line.failed;
	strbuf_destroy(&shown);
	opt_set_destroy(&line);
}

/** Append what the mount has and the line lacks. */
static void add_missing(struct comparison *c, const char *live)
{
	size_t n;
	for (const char *o; (o = opt_next(&live, &n)) != NULL;) {
		if (vfs_option(o, n) || fsopt_has(o, n, UNCOMPARED) || opt_is_x(o, n)
		    || find_name(&c->given, o, n).first
		    || fsopt_flagged(c->fstype, o, n, OPT_FOUND_OUT | OPT_DEFAULT | OPT_UNREQUESTED)
		    || find_name(&c->taken, o, n).first
		    || shown_has(c->fstype, &c->given, o, n, &c->use))
			continue;
		take(c, o, n);
		opt_add(c->differ, o, n);
	}
}

/** Append the flags that a list lacks.
    @bind  The options of a bind, which must name all flags if it names one; or NULL. */
static void add_flags(const char *bind, const struct vfs_flags *want, const struct vfs_flags *base,
                      struct strbuf *list)
{
	size_t n;
	struct vfs_flags have;
	for (const char *o; (o = opt_next(&bind, &n)) != NULL;) {
		if (vfs_option(o, n))
			opt_add(list, o, n);
	}
	if (bind)
		return;
	vfs_flags_of_line(strbuf_str(list), base, &have);
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		enum vfs_flag flag = row->flag;
		if (row->value != want->value[flag] || want->value[flag] == have.value[flag])
			continue;
		opt_puts(list, row->name);
		have.value[flag] = want->value[flag];
	}
}

/** Whether the line of a read-only mount has ro. */
static bool is_readonly_by_line(struct matcher *m, const struct mount *actual)
{
	for (size_t i = 0; i < m->nmounts && !opt_shown_has(actual->fs_opts, "ro"); ++i) {
		const struct candidate *entry = m->mounts[i].line->mount == actual
		                            ? match_first_on(m, &m->mounts[i]) : NULL;
		for (; entry; entry = match_next_on(m, entry)) {
			if (opt_has(entry->is.options, "ro"))
				return true;
		}
	}
	return false;
}

const char *match_options(struct matcher *m, const struct candidate *entry, const char *from,
                          const struct planned *mount, const char **differ)
{
	const char *live = mount->line->options;
	const struct mount *actual = mount->line->mount;
	bool bind = opt_is_bind(from), flags, known = actual && actual->vfs_opts;
	struct vfs_flags base, have, want;
	struct strbuf changed = {0};
	struct comparison c = {.fstype = actual && actual->fstype ? actual->fstype : "",
	                       .list = &m->more, .differ = &changed};
	/* Nothing can be appended after quotation marks that are not closed. */
	if (opt_is_open(from))
		return NULL;
	/* The plan has no options of a mount that cannot be expressed. */
	if (!live)
		live = known ? actual->vfs_opts : "";
	strbuf_reset(&m->more);
	struct fstab_bound bound;
	vfs_flags_of_line(live, NULL, &want);
	if (known && !mount->line->options)
		vfs_flags_shown(actual, &want);
	vfs_flags_of_line(shown_flags(c.fstype), NULL, &base);
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		if (shown_any_flag(c.fstype, row->name))
			base.value[row->flag] = want.value[row->flag];
	}
	strbuf_reset(&m->text);
	shown_list(c.fstype, from, &m->text);
	vfs_flags_of_line(strbuf_str(&m->text), &base, &have);
	if (bind && have.any && known) {
		/* A flag that the line does not name is the source's or the default: the versions
		   of mount(8) differ. */
		struct vfs_flags source, shown;
		bool found = match_bound(m, entry, mount, &bound) && bound.in->vfs_opts;
		vfs_flags_of_mount(actual, &shown);
		if (found)
			vfs_flags_of_mount(bound.in, &source);
		for (int flag = 0; flag < VFS_OF_MOUNT; ++flag) {
			if (!found || shown.value[flag] == source.value[flag])
				base.value[flag] = shown.value[flag];
		}
		strbuf_reset(&m->text);
		shown_list(c.fstype, from, &m->text);
		vfs_flags_of_line(strbuf_str(&m->text), &base, &have);
	}
	/* Read-only by nature, or after an error, does not count. */
	if (actual && !bind && (shown_readonly(actual) || shown_failed(c.fstype, actual->fs_opts)))
		have.value[VFS_RO] = want.value[VFS_RO];
	/* A bind that names no flag has those of its source. */
	bool as_source = bind && !have.any;
	if (bind && !want.any && have.any && known)
		vfs_flags_of_mount(actual, &want);
	/* Of a read-only file system it is read-only, even if its line says rw. */
	if (bind && !as_source && known && opt_shown_has(actual->fs_opts, "ro"))
		have.value[VFS_RO] = want.value[VFS_RO];
	if (as_source && known && match_bound(m, entry, mount, &bound) && bound.in->vfs_opts) {
		/* The source that the line names, which may not be the plan's. */
		vfs_flags_of_mount(bound.in, &have);
		vfs_flags_of_mount(actual, &want);
		/* A bind onto itself may be older than the remount of its source as read-only. */
		bool itself = mount->key && strcmp(bound.path, mount->key) == 0;
		have.value[VFS_RO] = have.value[VFS_RO]
		    && (want.value[VFS_RO] || (!itself && is_readonly_by_line(m, bound.in)));
		flags = vfs_flags_differ(&have, &want, &changed);
		live = actual->vfs_opts;
	} else if (as_source) {
		flags = want.any;
		if (flags)
			vfs_flags_differ(&(struct vfs_flags){0}, &want, &changed);
		if (flags && !changed.len)
			strbuf_puts(&changed, "rw");
	} else {
		flags = vfs_flags_differ(&have, &want, &changed);
	}
	/* A bind does not set options of the file system. */
	compare_init(&c, from, live, bind || !actual ? NULL : actual->fs_opts);
	take_over(&c, from, flags ? &want : NULL);
	/* All subvolumes have the options of the first line that mounts the file system. */
	uint32_t first = actual && !bind ? map64_get(&m->first_of, mount_dev(actual)) : MAP64_NONE;
	strbuf_reset(&m->text);
	if (first != MAP64_NONE)
		shown_list(c.fstype, m->entries[first].is.options, &m->text);
	opt_set_add_list(&c.given, strbuf_str(&m->text), opt_next);
	if (!bind && !match_by_helper(entry, actual))
		add_missing(&c, live);
	m->failed |= compare_destroy(&c);
	if (flags)
		add_flags(bind ? live : NULL, &want, &base, &m->more);
	const char *options = NULL;
	if (changed.len) {
		options = match_format(m, "%s", m->more.len ? strbuf_str(&m->more) : "defaults");
		*differ = match_format(m, "%s", strbuf_str(&changed));
	}
	m->failed |= changed.failed;
	strbuf_destroy(&changed);
	return options;
}

void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ)
{
	const struct mount *mount = live->mount;
	if (!mount || !mount->vfs_opts || opt_is_open(options))
		return;
	struct vfs_flags have, want;
	struct strbuf rest = {0};
	struct comparison c = {.fstype = mount->fstype ? mount->fstype : "", .list = &rest,
	                       .differ = differ};
	size_t n;
	unsigned char atime = 0;
	vfs_flags_shown(mount, &have);
	want = have;
	for (const char *at = options, *o; (o = opt_next(&at, &n)) != NULL;) {
		const struct vfs_option *flag = vfs_option(o, n);
		if (flag)
			vfs_flags_set(&want, flag, &atime);
	}
	if (have.value[VFS_RO])
		want.value[VFS_RO] = 1;
	vfs_flags_differ(&want, &have, differ);
	compare_init(&c, options, mount->vfs_opts, opt_is_bind(options) ? NULL : mount->fs_opts);
	take_over(&c, options, NULL);
	differ->failed |= compare_destroy(&c) || rest.failed;
	strbuf_destroy(&rest);
}
