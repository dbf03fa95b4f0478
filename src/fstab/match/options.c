/* SPDX-License-Identifier: MIT */
/*
 * Comparing the options of a line with those of its mount.
 *
 * The kernel always shows the VFS flags of a mount (ro, nosuid, noatime ...): a flag that the line
 * does not name has its default.  Of the options of the file system it shows some, in its own way
 * (mountopts/shown.h): an option that the mount shows and the line lacks, or has with another
 * value, is a difference; an option that the line alone has is none, and stays, like those for
 * mount(8) and systemd.
 */
#include "fstab/match/matcher.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"
#include "mountopts/optset.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <stdlib.h>
#include <string.h>

/** Options that are never compared: for mount(8) and systemd, or naming what is mounted. */
enum { UNCOMPARED = OPT_USERSPACE | OPT_UNCOMPARED | OPT_IDENTITY };

/** Whether the name of an option is one of these. */
#define IS_OF(option, n, names) WORD_OF(option, opt_name(option, n), names)

/** Make a set of the options of a list.
    @whole  By the whole option, not by its name. */
static void index_list(struct opt_set *set, const char *list, bool whole)
{
	opt_set_init(set, whole);
	opt_set_add_list(set, list, opt_next);
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

/** The options of a mount. */
struct live {
	struct opt_set sets[2];   /* as the plan has them; as the kernel shows them */
};

static void live_init(struct live *live, const char *planned, const char *shown)
{
	index_list(&live->sets[0], planned, false);
	index_list(&live->sets[1], shown, false);
}

/** Free them.  @return whether memory ran out. */
static bool live_destroy(struct live *live)
{
	bool failed = live->sets[0].failed || live->sets[1].failed;
	opt_set_destroy(&live->sets[0]);
	opt_set_destroy(&live->sets[1]);
	return failed;
}

/** The option of a mount with the name of this option: as the plan has it, else as the kernel
    shows it.  NULL: none, or several. */
static const char *find_live(const struct live *live, const char *option, size_t n, size_t *k)
{
	for (int i = 0; i < 2; ++i) {
		struct named found = find_name(&live->sets[i], option, n);
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

/** The option of a mount that contradicts an option of its line, of *k bytes; or NULL.
    @use  Scratch. */
static const char *find_opposite(const char *fstype, const struct live *live, const char *option,
                                 size_t n, size_t *k,
                                 struct strbuf *use)
{
	/* The server may refuse these. */
	static const char *const agreed[] =
	    {"unix", "nounix", "serverino", "noserverino", "posix", "posixpaths"};
	if (memchr(option, '=', n) || vfs_option(option, n) || fsopt_has(option, n, UNCOMPARED)
	    || (fstype_flags(fstype) & FST_NET && IS_OF(option, n, agreed)))
		return NULL;
	strbuf_reset(use);
	strbuf_puts(use, "no");
	strbuf_add(use, option, n);
	const char *found = NULL;
	for (int i = 0; i < 2 && !found; ++i) {
		const struct opt_set *set = &live->sets[i];
		if (opt_set_find(set, option, n))
			continue;
		find_word(set, strbuf_str(use), use->len, &found, k);
		if (n > 2 && memcmp(option, "no", 2) == 0)
			find_word(set, option + 2, n - 2, &found, k);
		for (size_t r = 0; r < fsopt_nconflicts; ++r) {
			const char *const *sides = fsopt_conflicts[r].sides;
			for (int side = 0; side < 2; ++side) {
				if (word_is(option, n, sides[side]))
					find_word(set, sides[!side], strlen(sides[!side]), &found,
					          k);
			}
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

/** All options of a line as the kernel shows them, made when first needed. */
struct all_shown {
	const char *from;        /* the options; NULL: it is made */
	struct strbuf text;
	struct opt_set set;
};

static void make_all(struct all_shown *all, const char *fstype)
{
	size_t n;
	const char *from = all->from;
	for (const char *o; from && (o = opt_next(&from, &n)) != NULL;)
		shown_as(fstype, o, n, &all->text);
	if (all->from)
		opt_set_add_list(&all->set, strbuf_str(&all->text), opt_next);
	all->from = NULL;
}

/** Whether an option of a line, as shown, has another value than the mount's.
    @behind  Where the options after this one begin in the text of all: if they repeat this one,
             they count. */
static bool is_other(const char *fstype, const char *shown, struct all_shown *all, size_t behind,
                     const struct live *live)
{
	size_t n, k;
	for (const char *o; (o = opt_next(&shown, &n)) != NULL;) {
		const char *found = find_live(live, o, n, &k);
		if (!found || shown_same(fstype, o, n, found, k))
			continue;
		make_all(all, fstype);
		const char *last = find_name(&all->set, o, n).last;
		if (!last || last < strbuf_str(&all->text) + behind)
			return true;
	}
	return false;
}

/** A list of options in the making; the options must outlive it. */
struct taken {
	struct strbuf *list;
	struct opt_set set;   /* those of the list */
};

static void take(struct taken *taken, const char *option, size_t n)
{
	opt_add(taken->list, option, n);
	opt_set_add(&taken->set, option, n);
}

/** Append the options of a line that stay, with the values of the mount.  Options that are
    repeated, or not for the kernel, stay as they are.
    @flags   The flags of the mount if they differ from the line's; else NULL.
    @differ  Gets what differs. */
static void take_over(const char *fstype, const char *from, const struct live *live,
                      const struct vfs_flags *flags,
                      struct taken *taken, struct strbuf *differ)
{
	size_t n, k, m, behind = 0;
	struct strbuf shown, use;
	struct opt_set whole;
	struct all_shown all = {.from = from};
	strbuf_init(&shown);
	strbuf_init(&use);
	strbuf_init(&all.text);
	opt_set_init(&all.set, false);
	index_list(&whole, from, false);
	for (const char *o; (o = opt_next(&from, &n)) != NULL;) {
		strbuf_reset(&shown);
		shown_as(fstype, o, n, &shown);
		behind += (behind > 0 && shown.len > 0) + shown.len;
		if (flags && vfs_option(o, n))
			continue;
		bool own = opt_is_x(o, n) || fsopt_has(o, n, UNCOMPARED)
		    || find_name(&whole, o, n).times > 1;
		const char *opposite = own ? NULL : find_opposite(fstype, live, o, n, &k, &use);
		if (opposite) {
			if (!opt_set_find(&taken->set, opposite, k))
				take(taken, opposite, k);
			opt_add(differ, opposite, k);
			continue;
		}
		/* An option that implies a flag is removed with it. */
		if (!own && flags && has_other_flag(strbuf_str(&shown), flags))
			continue;
		if (own || !is_other(fstype, strbuf_str(&shown), &all, behind, live)) {
			take(taken, o, n);
			continue;
		}
		for (const char *at = strbuf_str(&shown),
		     *part; (part = opt_next(&at, &k)) != NULL;) {
			const char *found = find_live(live, part, k, &m);
			if (found) {
				take(taken, found, m);
				opt_add(differ, found, m);
			}
		}
	}
	taken->list->failed |= shown.failed || use.failed || whole.failed || taken->set.failed
	    || all.text.failed || all.set.failed;
	strbuf_destroy(&shown);
	strbuf_destroy(&use);
	strbuf_destroy(&all.text);
	opt_set_destroy(&all.set);
	opt_set_destroy(&whole);
}

/** Append what the mount has and the line lacks.
    @have  As the kernel shows it. */
static void add_missing(const char *fstype, const char *have, const char *live, struct taken *taken,
                        struct strbuf *differ)
{
	size_t n;
	struct strbuf use;
	struct opt_set had;
	strbuf_init(&use);
	index_list(&had, have, false);
	for (const char *o; (o = opt_next(&live, &n)) != NULL;) {
		if (vfs_option(o, n) || fsopt_has(o, n, UNCOMPARED) || opt_is_x(o, n)
		    || find_name(&had, o, n).first
		        || fsopt_flagged(fstype, o, n,
		                         OPT_FOUND_OUT | OPT_DEFAULT | OPT_UNREQUESTED)
		                             || find_name(&taken->set, o, n).first
		    || shown_has(fstype, &had, o, n, &use))
			continue;
		take(taken, o, n);
		opt_add(differ, o, n);
	}
	taken->list->failed |= use.failed || had.failed || taken->set.failed;
	strbuf_destroy(&use);
	opt_set_destroy(&had);
}

/** Append the flags of the plan: a bind that names one must name all. */
static void add_words(const char *live, struct strbuf *list)
{
	size_t n;
	for (const char *o; (o = opt_next(&live, &n)) != NULL;) {
		if (vfs_option(o, n))
			opt_add(list, o, n);
	}
}

/** Append the flags that a list lacks. */
static void add_flags(const struct vfs_flags *want, const struct vfs_flags *base,
                      struct strbuf *list)
{
	struct vfs_flags have;
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
	for (size_t i = 0; i < m->nmounts
	     && !opt_has(actual->fs_opts ? actual->fs_opts : "", "ro"); ++i) {
		const struct entry *entry = m->mounts[i].line->mount == actual
		    ? match_first_on(m, &m->mounts[i]) : NULL;
		for (; entry; entry = match_next_on(m, entry)) {
			if (opt_has(entry->words.options, "ro"))
				return true;
		}
	}
	return false;
}

const char *match_options(struct matcher *m, const struct entry *entry, const char *from,
                          const struct planned *mount,
                          const char **differ)
{
	const char *live = mount->line->options;
	const struct mount *actual = mount->line->mount;
	const char *fstype = actual && actual->fstype ? actual->fstype : "";
	/* The plan has no options of a actual that cannot be expressed. */
	if (!live)
		live = actual && actual->vfs_opts ? actual->vfs_opts : "";

	struct vfs_flags base, have, want;
	struct strbuf changed, shown;
	/* Nothing can be appended after quotation marks that are not closed. */
	if (opt_is_open(from))
		return NULL;
	strbuf_init(&changed);
	strbuf_init(&shown);
	shown_list(fstype, from, &shown);
	strbuf_reset(&m->more);
	vfs_flags_of_line(live, NULL, &want);
	if (actual && actual->vfs_opts && !mount->line->options)
		vfs_flags_shown(actual, &want);
	vfs_flags_of_line(shown_flags(fstype), NULL, &base);
	for (const struct vfs_option *row = vfs_options; row->name; ++row) {
		if (shown_any_flag(fstype, row->name))
			base.value[row->flag] = want.value[row->flag];
	}
	vfs_flags_of_line(strbuf_str(&shown), &base, &have);
	bool bind = opt_is_bind(from);
	/* Read-only by nature, or after an error, does not count. */
	if (actual && !bind && (shown_readonly(actual) || shown_failed(fstype, actual->fs_opts)))
		have.value[VFS_RO] = want.value[VFS_RO];
	/* A bind that names no flag has those of its source. */
	bool as_source = bind && !have.any, flags;
	if (bind && !want.any && have.any && actual && actual->vfs_opts)
		vfs_flags_of_line(actual->vfs_opts, NULL, &want);
	struct fstab_bound bound;
	if (as_source && actual && actual->vfs_opts && match_bound(m, entry, mount, &bound)
	    && bound.in->vfs_opts) {
		/* The source that the line names, which may not be the plan's. */
		vfs_flags_of_mount(bound.in, &have);
		vfs_flags_of_mount(actual, &want);
		have.value[VFS_RO] = have.value[VFS_RO]
		    && (want.value[VFS_RO] || is_readonly_by_line(m, bound.in));
		flags = vfs_flags_differ(&have, &want, &changed);
		live = actual->vfs_opts;
	} else {
		flags = as_source ? want.any : vfs_flags_differ(&have, &want, &changed);
		if (as_source && flags)
			vfs_flags_differ(&(struct vfs_flags){0}, &want, &changed);
		if (as_source && flags && !changed.len)
			strbuf_puts(&changed, "rw");
	}
	/* Options of the file system are not the business of a bind. */
	struct live lives;
	struct taken taken = {.list = &m->more};
	live_init(&lives, live, bind || !actual ? NULL : actual->fs_opts);
	opt_set_init(&taken.set, false);
	/* All subvolumes have the options of the first line that mounts the file system. */
	uint32_t first = actual && !bind ? map64_get(&m->first_of, mount_dev(actual)) : MAP64_NONE;
	if (first != MAP64_NONE)
		shown_list(fstype, m->entries[first].words.options, &shown);
	take_over(fstype, from, &lives, flags ? &want : NULL, &taken, &changed);
	if (!bind && !match_by_helper(entry, actual))
		add_missing(fstype, strbuf_str(&shown), live, &taken, &changed);
	m->failed |= live_destroy(&lives);
	opt_set_destroy(&taken.set);
	if (flags && bind)
		add_words(live, &m->more);
	else if (flags)
		add_flags(&want, &base, &m->more);
	const char *options = NULL;
	if (changed.len) {
		options = match_format(m, "%s", m->more.len ? strbuf_str(&m->more) : "defaults");
		*differ = match_format(m, "%s", strbuf_str(&changed));
	}
	m->failed |= changed.failed || shown.failed;
	strbuf_destroy(&changed);
	strbuf_destroy(&shown);
	return options;
}

void fstab_match_named(const struct fstab_line *live, const char *options, struct strbuf *differ)
{
	const struct mount *mount = live->mount;
	if (!mount || !mount->vfs_opts || opt_is_open(options))
		return;
	const char *fstype = mount->fstype ? mount->fstype : "";
	bool bind = opt_is_bind(options);
	struct live lives;
	struct vfs_flags have, want;
	struct strbuf rest;
	struct taken taken = {.list = &rest};
	size_t n;
	unsigned char atime = 0;
	strbuf_init(&rest);
	live_init(&lives, mount->vfs_opts, bind ? NULL : mount->fs_opts);
	opt_set_init(&taken.set, false);
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
	take_over(fstype, options, &lives, NULL, &taken, differ);
	differ->failed |= live_destroy(&lives) || rest.failed;
	opt_set_destroy(&taken.set);
	strbuf_destroy(&rest);
}

