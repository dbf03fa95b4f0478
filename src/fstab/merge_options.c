/* SPDX-License-Identifier: MIT */
/*
 * Options of a line that is there, against those of the mount.
 *
 * What a mount has of its own (ro, nosuid, noatime ...) the kernel always shows, so
 * that both sides are known: what a line does not say is the default.  Of what is the
 * file system's it shows some, not all, and as it likes (shown.h): so what it shows and the
 * line has not, or with another value, is a difference; and what the line alone has is
 * none: it stays, as does what is for mount(8) and systemd.
 */
#include "fstab/merge_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/shown.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/** What a mount has of its own: one of each group. */
enum group { G_RO, G_SUID, G_DEV, G_EXEC, G_ATIME, G_DIRATIME, G_LINKS, G_SYNC, G_DIRSYNC, G_LAZY, GROUPS };

/** Each group's options; what stands first is the default, its number what it is. */
static const struct {
	const char *option;
	enum group group;
	unsigned char value;
} flag_rows[] = {
	{"rw", G_RO, 0}, {"ro", G_RO, 1},
	{"suid", G_SUID, 0}, {"nosuid", G_SUID, 1},
	{"dev", G_DEV, 0}, {"nodev", G_DEV, 1},
	{"exec", G_EXEC, 0}, {"noexec", G_EXEC, 1},
	{"relatime", G_ATIME, 0}, {"noatime", G_ATIME, 1}, {"strictatime", G_ATIME, 2},
	{"atime", G_ATIME, 0}, {"norelatime", G_ATIME, 2}, {"nostrictatime", G_ATIME, 0},
	{"diratime", G_DIRATIME, 0}, {"nodiratime", G_DIRATIME, 1},
	{"symfollow", G_LINKS, 0}, {"nosymfollow", G_LINKS, 1},
	{"async", G_SYNC, 0}, {"sync", G_SYNC, 1},
	{"nodirsync", G_DIRSYNC, 0}, {"dirsync", G_DIRSYNC, 1},
	{"nolazytime", G_LAZY, 0}, {"lazytime", G_LAZY, 1},
};

struct flags {
	unsigned char value[GROUPS];
	bool any;                /* one was given */
};

/** For mount(8), systemd and others: no difference. */
static const char *const others[] = {
	"defaults", "auto", "noauto", "user", "users", "nouser", "owner", "group", "nofail", "_netdev",
	"bind", "rbind", "loop", "offset", "sizelimit", "subvol", "subvolid", "lowerdir", "lowerdir+", "datadir+",
	"upperdir", "workdir", "comment", "uhelper", "helper", "mand", "nomand", "iversion", "noiversion", "silent", "loud",
	"remount", "private", "rprivate", "shared", "rshared", "slave", "rslave", "unbindable", "runbindable",
};

/** What says what is mounted. */
static const char *const parts[] = {
	"bind", "rbind", "loop", "offset", "sizelimit", "subvol", "subvolid", "lowerdir", "lowerdir+", "datadir+",
	"upperdir", "workdir",
};

const char *merge_next(const char **list, size_t *n)
{
	*list += strspn(*list, ",");
	if (!**list)
		return NULL;
	const char *option = *list;
	bool quoted = false, escaped = false;
	*list += strcspn(option, ",\"\\");
	for (; **list && (quoted || escaped || **list != ','); ++*list) {
		quoted ^= **list == '"' && !escaped;
		escaped = **list == '\\' && !escaped;
	}
	*n = (size_t)(*list - option);
	return option;
}

/** Whether two options have one name: that of NFS's version is two words. */
static bool same_name(const char *a, size_t n, const char *b, size_t k)
{
	size_t x = option_name(a, n), y = option_name(b, k);
	if (x != y && word_is(a, x, "nfsvers"))
		a += 3, x -= 3;
	return x == y && memcmp(a, b, x) == 0;
}

/** Whether the name of an option is one of these. */
#define IS_OF(option, n, names) WORD_OF(option, option_name(option, n), names)

/** Whether a list has these bytes as an option. */
static bool has_bytes(const char *options, const char *option, size_t n)
{
	size_t k;
	for (const char *o; (o = merge_next(&options, &k)) != NULL;) {
		if (k == n && memcmp(o, option, n) == 0)
			return true;
	}
	return false;
}

bool merge_has(const char *options, const char *option)
{
	return has_bytes(options, option, strlen(option));
}

const char *merge_value(const char *options, const char *name, size_t *n)
{
	const char *found = NULL;
	size_t k, len = strlen(name);
	if (!options)
		return NULL;
	for (const char *o; (o = merge_next(&options, &k)) != NULL;) {
		if (k <= len || memcmp(o, name, len) != 0 || o[len] != '=')
			continue;
		found = o + len + 1;
		*n = k - len - 1;
		if (*n >= 2 && *found == '"' && found[*n - 1] == '"') {
			++found;
			*n -= 2;
		}
	}
	return found;
}

bool merge_noauto(const char *options)
{
	bool noauto = false;
	size_t n;
	for (const char *o; (o = merge_next(&options, &n)) != NULL;) {
		noauto |= word_is(o, n, "noauto");
		noauto &= !word_is(o, n, "auto");
	}
	return noauto;
}

/** The row of an option that is a mount's own; -1: it is none. */
static int flag_row(const char *option, size_t n)
{
	for (size_t i = 0; i < sizeof(flag_rows) / sizeof(*flag_rows); ++i) {
		if (word_is(option, n, flag_rows[i].option))
			return (int)i;
	}
	return -1;
}

/** Take a flag.  The kernel goes by which of relatime, noatime and strictatime are there, not by their
    order: each counts above those before it.
    @atime  The uppermost so far; 0 at first. */
static void set_flag(struct flags *flags, int row, unsigned char *atime)
{
	static const char *const ranks[] = {"relatime", "noatime", "strictatime"};
	unsigned char value = flag_rows[row].value;
	if (flag_rows[row].group == G_ATIME) {
		bool ranked = strcmp(flag_rows[row].option, ranks[value]) == 0;
		if (ranked && value < *atime)
			return;
		*atime = ranked ? value : 0;
	}
	flags->value[flag_rows[row].group] = value;
}

/** What a mount has of its own by a list of options.
    @base  What it has by none; what it is stays. */
static void take_flags(const char *options, const struct flags *base, struct flags *flags)
{
	*flags = *base;
	flags->any = false;
	size_t n;
	unsigned char atime = 0;
	for (const char *o; (o = merge_next(&options, &n)) != NULL;) {
		int row = flag_row(o, n);
		if (row >= 0) {
			set_flag(flags, row, &atime);
			flags->any = true;
		} else if (word_is(o, n, "user") || word_is(o, n, "users")) {
			flags->value[G_SUID] = flags->value[G_DEV] = flags->value[G_EXEC] = 1;
			flags->any = true;
		} else if (word_is(o, n, "owner") || word_is(o, n, "group")) {
			flags->value[G_SUID] = flags->value[G_DEV] = 1;
			flags->any = true;
		}
	}
}

/** Whether quotes in a list do not end, so that nothing can be put behind it. */
static bool is_open(const char *list)
{
	size_t n;
	bool quoted = false;
	for (const char *o; (o = merge_next(&list, &n)) != NULL;) {
		bool escaped = false;
		for (size_t i = 0; i < n; ++i) {
			quoted ^= o[i] == '"' && !escaped;
			escaped = o[i] == '\\' && !escaped;
		}
		/* A backslash at the end would be that of the comma behind it. */
		quoted |= escaped;
	}
	return quoted;
}

/** How often a list has options of a name. */
static unsigned times(const char *list, const char *option, size_t n)
{
	unsigned count = 0;
	size_t k;
	for (const char *o; (o = merge_next(&list, &k)) != NULL;)
		count += same_name(option, n, o, k);
	return count;
}

/** The option of a list that has the name of this one, of *k bytes; or NULL. */
static const char *find_name(const char *list, const char *option, size_t n, size_t *k)
{
	for (const char *o; (o = merge_next(&list, k)) != NULL;) {
		if (same_name(option, n, o, *k))
			return o;
	}
	return NULL;
}

/** The option of a mount that has the name of this one: as the plan has it, else as the
    kernel shows it.  What is there more than once is left as it is. */
static const char *find_live(const char *const live[2], const char *option, size_t n, size_t *k)
{
	for (int i = 0; i < 2; ++i) {
		const char *found = live[i] ? find_name(live[i], option, n, k) : NULL;
		if (found)
			return times(live[i], option, n) == 1 && (i == 0 || !memchr(found, '\\', *k)) ? found : NULL;
	}
	return NULL;
}

/** Whether an option without a value is what undoes another. */
static bool is_opposite(const char *a, size_t n, const char *b, size_t k)
{
	static const char *const rows[][2] = {
		{"hard", "soft"}, {"hard", "softerr"}, {"soft", "softerr"}, {"inode32", "inode64"}, {"grpid", "nogrpid"},
		{"posixacl", "noacl"},
	};
	if (n == k + 2 && memcmp(a, "no", 2) == 0)
		return memcmp(a + 2, b, k) == 0;
	if (k == n + 2 && memcmp(b, "no", 2) == 0)
		return memcmp(b + 2, a, n) == 0;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		for (int j = 0; j < 2; ++j) {
			if (word_is(a, n, rows[i][j]) && word_is(b, k, rows[i][!j]))
				return true;
		}
	}
	return false;
}

/** The option of a mount that an option of its line would undo, of *k bytes; or NULL. */
static const char *find_opposite(const char *fstype, const char *const live[2], const char *option, size_t n, size_t *k)
{
	/* As far as the server goes along. */
	static const char *const agreed[] = {"unix", "nounix", "serverino", "noserverino", "posix", "posixpaths"};
	if (memchr(option, '=', n) || flag_row(option, n) >= 0 || IS_OF(option, n, others)
	    || (fstype_flags(fstype) & FST_NET && IS_OF(option, n, agreed)))
		return NULL;
	for (int i = 0; i < 2; ++i) {
		size_t m;
		if (!live[i] || find_name(live[i], option, n, &m))
			continue;
		const char *list = live[i];
		for (const char *o; (o = merge_next(&list, k)) != NULL;) {
			if (is_opposite(option, n, o, *k))
				return o;
		}
	}
	return NULL;
}

/** Whether a list has a flag that the mount has not so. */
static bool has_other_flag(const char *shown, const struct flags *want)
{
	size_t n;
	for (const char *o; (o = merge_next(&shown, &n)) != NULL;) {
		int row = flag_row(o, n);
		if (row >= 0 && want->value[flag_rows[row].group] != flag_rows[row].value)
			return true;
	}
	return false;
}

/** Whether what is shown for an option of a line has another value than the mount's.
    @behind  The options behind it: what these say again counts.
    @rest    For use in passing. */
static bool is_other(const char *fstype, const char *shown, const char *behind, const char *const live[2],
                     struct strbuf *rest)
{
	size_t n, k, m;
	for (const char *o; (o = merge_next(&shown, &n)) != NULL;) {
		const char *found = find_live(live, o, n, &k);
		if (!found)
			continue;
		if (shown_same(fstype, o, n, found, k))
			continue;
		strbuf_reset(rest);
		shown_list(fstype, behind, rest);
		if (!find_name(strbuf_str(rest), o, n, &m))
			return true;
	}
	return false;
}

/** Append the options of a line that stay, with the values of the mount; what is there
    more than once, or is for others than the kernel, is left as it is.
    @flags   Those of the mount, if they are others than the line's; else NULL.
    @differ  Gets what is otherwise. */
static void take_over(const char *fstype, const char *from, const char *const live[2], const struct flags *flags,
                      struct strbuf *list, struct strbuf *differ)
{
	const char *whole = from;
	size_t n, k, m;
	struct strbuf shown, rest;
	strbuf_init(&shown);
	strbuf_init(&rest);
	for (const char *o; (o = merge_next(&from, &n)) != NULL;) {
		if (flags && flag_row(o, n) >= 0)
			continue;
		bool own = (n > 2 && strncasecmp(o, "x-", 2) == 0) || IS_OF(o, n, others) || times(whole, o, n) > 1;
		strbuf_reset(&shown);
		shown_as(fstype, o, n, &shown);
		const char *opposite = own ? NULL : find_opposite(fstype, live, o, n, &k);
		if (opposite) {
			if (!find_name(strbuf_str(list), opposite, k, &m))
				option_add(list, opposite, k);
			option_add(differ, opposite, k);
			continue;
		}
		/* What means a flag besides goes, if the flag does. */
		if (!own && flags && has_other_flag(strbuf_str(&shown), flags))
			continue;
		if (own || !is_other(fstype, strbuf_str(&shown), from, live, &rest)) {
			option_add(list, o, n);
			continue;
		}
		for (const char *at = strbuf_str(&shown), *part; (part = merge_next(&at, &k)) != NULL;) {
			const char *found = find_live(live, part, k, &m);
			if (found) {
				option_add(list, found, m);
				option_add(differ, found, m);
			}
		}
	}
	list->failed |= shown.failed || rest.failed;
	strbuf_destroy(&shown);
	strbuf_destroy(&rest);
}

/** Append what the mount has, and the line has not.
    @have  As the kernel shows it. */
static void add_missing(const char *fstype, const char *have, const char *live, struct strbuf *list,
                        struct strbuf *differ)
{
	size_t n, k;
	struct strbuf use;
	strbuf_init(&use);
	for (const char *o; (o = merge_next(&live, &n)) != NULL;) {
		if (flag_row(o, n) >= 0 || IS_OF(o, n, others) || (n > 2 && strncasecmp(o, "x-", 2) == 0)
		    || find_name(have, o, n, &k) || shown_unasked(fstype, o, n) || find_name(strbuf_str(list), o, n, &k)
		    || shown_has(fstype, have, o, n, &use))
			continue;
		option_add(list, o, n);
		option_add(differ, o, n);
	}
	list->failed |= use.failed;
	strbuf_destroy(&use);
}

/** Append the words of flags that the plan has: of a bind that names one, all must be named. */
static void add_words(const char *live, struct strbuf *list)
{
	size_t n;
	for (const char *o; (o = merge_next(&live, &n)) != NULL;) {
		if (flag_row(o, n) >= 0)
			option_add(list, o, n);
	}
}

/** Append the words of the flags that a list does not give. */
static void add_flags(const struct flags *want, const struct flags *base, struct strbuf *list)
{
	struct flags have;
	take_flags(strbuf_str(list), base, &have);
	for (size_t i = 0; i < sizeof(flag_rows) / sizeof(*flag_rows); ++i) {
		enum group g = flag_rows[i].group;
		if (flag_rows[i].value != want->value[g] || want->value[g] == have.value[g])
			continue;
		option_puts(list, flag_rows[i].option);
		have.value[g] = want->value[g];
	}
}

/** Append the names of what two have otherwise, as the second has it. */
static bool tell_flags(const struct flags *a, const struct flags *b, struct strbuf *differ)
{
	bool other = false;
	for (int g = 0; g < GROUPS; ++g) {
		if (a->value[g] == b->value[g])
			continue;
		other = true;
		for (size_t i = 0; i < sizeof(flag_rows) / sizeof(*flag_rows); ++i) {
			if (flag_rows[i].group == (enum group)g && flag_rows[i].value == b->value[g]) {
				option_puts(differ, flag_rows[i].option);
				break;
			}
		}
	}
	return other;
}

/** What a mount has of its own, and none of its file system. */
static void vfs_of_mount(const struct mount *mount, struct flags *flags)
{
	static const struct flags none;
	take_flags(mount->vfs_opts, &none, flags);
	/* Of the times of access the one that is not shown. */
	if (!merge_has(mount->vfs_opts, "relatime") && !merge_has(mount->vfs_opts, "noatime"))
		flags->value[G_ATIME] = 2;
}

/** The same with what is shown of the file system. */
static void shown_of_mount(const struct mount *mount, struct flags *flags)
{
	static const enum group supers[] = {G_SYNC, G_DIRSYNC, G_LAZY};
	static const struct flags none;
	struct flags super;
	vfs_of_mount(mount, flags);
	take_flags(mount->fs_opts ? mount->fs_opts : "", &none, &super);
	for (size_t i = 0; i < sizeof(supers) / sizeof(*supers); ++i)
		flags->value[supers[i]] |= super.value[supers[i]];
}

/** Whether a mount that is read-only is so by its line, and not since. */
static bool is_meant_readonly(struct merger *m, const struct mount *mount)
{
	for (size_t i = 0; i < m->nnew && !merge_has(mount->fs_opts ? mount->fs_opts : "", "ro"); ++i) {
		const struct old *old = m->new[i].line->mount == mount ? merge_first_on(m, &m->new[i]) : NULL;
		for (; old; old = merge_next_on(m, old)) {
			if (merge_has(old->words.options, "ro"))
				return true;
		}
	}
	return false;
}

const char *merge_options(struct merger *m, const struct old *old, const struct new *new, const char **differ)
{
	const char *from = old->act == CHANGED ? old->changed.options : old->words.options, *live = new->line->options;
	const struct mount *mount = new->line->mount;
	const char *fstype = mount && mount->fstype ? mount->fstype : "";
	/* What can have no line has no options of one. */
	if (!live)
		live = mount && mount->vfs_opts ? mount->vfs_opts : "";
	static const struct flags none;
	struct flags base, have, want;
	struct strbuf told, shown;
	/* What mount(8) makes of it, nobody meant; it is not made worse. */
	if (is_open(from))
		return NULL;
	strbuf_init(&told);
	strbuf_init(&shown);
	shown_list(fstype, from, &shown);
	strbuf_reset(&m->more);
	take_flags(live, &none, &want);
	if (mount && mount->vfs_opts && !new->line->options)
		shown_of_mount(mount, &want);
	take_flags(shown_flags(fstype), &none, &base);
	for (size_t i = 0; i < sizeof(flag_rows) / sizeof(*flag_rows); ++i) {
		if (shown_any_flag(fstype, flag_rows[i].option))
			base.value[flag_rows[i].group] = want.value[flag_rows[i].group];
	}
	take_flags(strbuf_str(&shown), &base, &have);
	bool bind = merge_has(from, "bind") || merge_has(from, "rbind");
	/* By nature, or after an error: nobody asked for it. */
	if (mount && !bind && (shown_readonly(mount) || shown_failed(fstype, mount->fs_opts)))
		have.value[G_RO] = want.value[G_RO];
	/* A bind that names none has those of its source; the plan's, if they are these. */
	bool as_source = bind && !have.any, flags;
	if (bind && !want.any && have.any && mount && mount->vfs_opts)
		take_flags(mount->vfs_opts, &none, &want);
	struct fstab_bound bound;
	if (as_source && mount && mount->vfs_opts && merge_bound(m, old, new, &bound) && bound.in->vfs_opts) {
		/* That which the line names: the plan may have found another, or need none. */
		vfs_of_mount(bound.in, &have);
		vfs_of_mount(mount, &want);
		have.value[G_RO] = have.value[G_RO] && (want.value[G_RO] || is_meant_readonly(m, bound.in));
		flags = tell_flags(&have, &want, &told);
		live = mount->vfs_opts;
	} else {
		flags = as_source ? want.any : tell_flags(&have, &want, &told);
		if (as_source && flags)
			tell_flags(&none, &want, &told);
		if (as_source && flags && !told.len)
			strbuf_puts(&told, "rw");
	}
	/* Of a bind the file system's are another line's affair. */
	const char *const lives[] = {live, bind || !mount ? NULL : mount->fs_opts};
	/* What the first line of the file system has asked for, all its subvolumes have. */
	uint32_t first = mount && !bind ? map64_get(&m->first_of, mount_dev(mount)) : MAP64_NONE;
	if (first != MAP64_NONE)
		shown_list(fstype, m->old[first].words.options, &shown);
	take_over(fstype, from, lives, flags ? &want : NULL, &m->more, &told);
	if (!bind && !merge_by_helper(old, mount))
		add_missing(fstype, strbuf_str(&shown), live, &m->more, &told);
	if (flags && bind)
		add_words(live, &m->more);
	else if (flags)
		add_flags(&want, &base, &m->more);
	const char *options = NULL;
	if (told.len) {
		options = merge_format(m, "%s", m->more.len ? strbuf_str(&m->more) : "defaults");
		*differ = merge_format(m, "%s", strbuf_str(&told));
	}
	m->failed |= told.failed || shown.failed;
	strbuf_destroy(&told);
	strbuf_destroy(&shown);
	return options;
}

void fstab_asked(const struct fstab_line *live, const char *options, struct strbuf *differ)
{
	const struct mount *mount = live->mount;
	if (!mount || !mount->vfs_opts || is_open(options))
		return;
	const char *fstype = mount->fstype ? mount->fstype : "";
	bool bind = merge_has(options, "bind") || merge_has(options, "rbind");
	const char *const lives[] = {mount->vfs_opts, bind ? NULL : mount->fs_opts};
	struct flags have, want;
	struct strbuf rest;
	size_t n;
	unsigned char atime = 0;
	strbuf_init(&rest);
	shown_of_mount(mount, &have);
	want = have;
	for (const char *at = options, *o; (o = merge_next(&at, &n)) != NULL;) {
		int row = flag_row(o, n);
		if (row >= 0)
			set_flag(&want, row, &atime);
	}
	if (have.value[G_RO])
		want.value[G_RO] = 1;
	tell_flags(&want, &have, differ);
	take_over(fstype, options, lives, NULL, &rest, differ);
	differ->failed |= rest.failed;
	strbuf_destroy(&rest);
}

const char *merge_inherit(struct merger *m, const char *options, const char *from)
{
	static const char *const kept[] = {"nofail", "_netdev", "user", "users", "owner", "group", "comment"};
	size_t n;
	if (is_open(from) || is_open(options))
		return options;
	strbuf_reset(&m->more);
	if (strcmp(options, "defaults") != 0)
		strbuf_puts(&m->more, options);
	for (const char *o; (o = merge_next(&from, &n)) != NULL;) {
		bool outside = n > 2 && strncasecmp(o, "x-", 2) == 0 && strncasecmp(o, "x-mount.", 8) != 0;
		if ((outside || IS_OF(o, n, kept)) && times(options, o, n) == 0)
			option_add(&m->more, o, n);
	}
	return merge_format(m, "%s", m->more.len ? strbuf_str(&m->more) : options);
}

/** Go on to the next option that says what is mounted, or that does not. */
static const char *next_of(const char **list, bool identity, size_t *n)
{
	const char *option;
	do
		option = merge_next(list, n);
	while (option && (IS_OF(option, *n, parts) != identity || word_is(option, *n, "defaults")));
	return option;
}

bool merge_alike(const char *a, const char *b, bool identity)
{
	for (;;) {
		size_t n, k;
		const char *x = next_of(&a, identity, &n), *y = next_of(&b, identity, &k);
		if (!x || !y)
			return !x && !y;
		if (n != k || memcmp(x, y, n) != 0)
			return false;
	}
}

const char *merge_identity(struct merger *m, const char *options, const char *live)
{
	size_t n;
	strbuf_reset(&m->more);
	/* What is there keeps its place. */
	for (const char *at = live, *o; (o = merge_next(&at, &n)) != NULL;) {
		if (IS_OF(o, n, parts) && !has_bytes(options, o, n))
			option_add(&m->more, o, n);
	}
	bool other = m->more.len > 0;
	for (const char *o; (o = merge_next(&options, &n)) != NULL;) {
		bool kept = !IS_OF(o, n, parts) || has_bytes(live, o, n);
		if (kept && !(other && word_is(o, n, "defaults")))
			option_add(&m->more, o, n);
	}
	return merge_format(m, "%s", m->more.len ? strbuf_str(&m->more) : "defaults");
}
