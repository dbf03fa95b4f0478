/* SPDX-License-Identifier: MIT */
/*
 * The options of a line against those of a live mount.
 *
 * Flags of the mount itself are computed, and must be the same.  Options of a file
 * system are those that the plan would write: each must be asked for by the line, and
 * none may be there with another value.  Words that the kernel shows of every file system
 * (sync) are compared on both sides.  What a line has beyond that is let be: the kernel
 * does not show all that it was asked for.
 */
#include "fstab/proof_impl.h"

#include "base/fstypes.h"
#include "mountopts/optset.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"

#include <stdlib.h>
#include <string.h>

static const struct flag_word {
	const char *word;
	unsigned set, clear;
} flag_words[] = {
	{"rw", 0, PFF_RO}, {"ro", PFF_RO, 0},
	{"suid", 0, PFF_NOSUID}, {"nosuid", PFF_NOSUID, 0},
	{"dev", 0, PFF_NODEV}, {"nodev", PFF_NODEV, 0},
	{"exec", 0, PFF_NOEXEC}, {"noexec", PFF_NOEXEC, 0},
	{"diratime", 0, PFF_NODIRATIME}, {"nodiratime", PFF_NODIRATIME, 0},
	{"symfollow", 0, PFF_NOSYMFOLLOW}, {"nosymfollow", PFF_NOSYMFOLLOW, 0},
	{"noatime", PFF_NOATIME, PFF_STRICTATIME}, {"atime", 0, PFF_NOATIME},
	{"relatime", 0, PFF_ATIME}, {"norelatime", 0, 0},
	{"strictatime", PFF_STRICTATIME, PFF_NOATIME}, {"nostrictatime", 0, PFF_STRICTATIME},
	/* Anybody may mount it: as mount(8) makes these of it. */
	{"user", PFF_NOSUID | PFF_NODEV | PFF_NOEXEC, 0}, {"users", PFF_NOSUID | PFF_NODEV | PFF_NOEXEC, 0},
	{"owner", PFF_NOSUID | PFF_NODEV, 0}, {"group", PFF_NOSUID | PFF_NODEV, 0},
};

/** Options that are for mount(8), systemd and others, and not for the file system. */
static const char *const others[] = {
	"defaults", "auto", "noauto", "nouser", "nousers", "noowner", "nogroup", "nofail", "_netdev", "loop",
	"bind", "rbind", "move", "remount", "silent", "loud", "async", "nolazytime", "nomand", "noiversion",
};

static const struct flag_word *find_flag(const char *option, size_t n)
{
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(*flag_words); ++i) {
		if (word_is(option, n, flag_words[i].word))
			return &flag_words[i];
	}
	return NULL;
}

/** Whether an option is for the file system. */
static bool is_fs_option(const char *option, size_t n)
{
	static const char *const heads[] = {"x-", "X-", "comment=", "offset=", "sizelimit=", "loop=", "uhelper=",
	                                    "helper=", "user=", "verity.", "encryption="};
	if (find_flag(option, n) || WORD_OF(option, n, others))
		return false;
	for (size_t i = 0; i < sizeof(heads) / sizeof(*heads); ++i) {
		if (n >= strlen(heads[i]) && memcmp(option, heads[i], strlen(heads[i])) == 0)
			return false;
	}
	return true;
}

const char *pf_option(struct pf *pf, const char *options, const char *name)
{
	size_t n = strlen(name), m;
	const char *found = opt_find(options, name, n, &m);
	if (!found || m <= n)
		return found ? "" : NULL;
	found += n + 1;
	m -= n + 1;
	if (m >= 2 && found[0] == '"' && found[m - 1] == '"')
		return fstab_format(&pf->draft, "%.*s", (int)(m - 2), found + 1);
	return fstab_format(&pf->draft, "%.*s", (int)m, found);
}

unsigned pf_flags(const char *options, unsigned *given)
{
	unsigned flags = 0, told = 0;
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		const struct flag_word *word = find_flag(o, n);
		if (!word)
			continue;
		flags = (flags & ~word->clear) | word->set;
		told |= word->set | word->clear;
	}
	if (given)
		*given = told;
	return flags;
}

unsigned pf_live_flags(const struct mount *mount)
{
	const char *opts = mount->vfs_opts;
	unsigned flags = pf_flags(opts ? opts : "", NULL) & ~(unsigned)PFF_STRICTATIME;
	/* The kernel has no word for it. */
	if (opts && !opt_shown_has(opts, "relatime") && !opt_shown_has(opts, "noatime"))
		flags |= PFF_STRICTATIME;
	return flags;
}

/** Option and value as they may be shown. */
static const char *show_option(struct pf *pf, const char *option, size_t n)
{
	const struct fstab_world *world = &pf->in->live->world;
	const char *text = fstab_format(&pf->draft, "%.*s", (int)n, option);
	if (text && world->secret && world->secret(NULL, text))
		text = fstab_format(&pf->draft, "%.*s=***", (int)strcspn(text, "="), text);
	return text ? text : "";
}

/** What was agreed on with a server, or chosen by the kernel: another mount finds it
    again. */
static bool is_agreed(const struct mount *mount, const char *option, size_t n)
{
	return fsopt_flagged(mount->fstype, option, n, OPT_FOUND_OUT | OPT_DEFAULT | OPT_UNREQUESTED)
	       || (fstype_flags(mount->fstype) & FST_NET && memchr(option, '=', n));
}

/** What the kernel shows of any file system, and the word that takes it back. */
static const char *const super_words[][2] = {
	{"sync", "async"}, {"dirsync", ""}, {"lazytime", "nolazytime"},
};

/** Whether options ask for a word: the last of both counts. */
static bool asks_for(const char *options, const char *const words[2])
{
	bool asked = false;
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		asked = word_is(o, n, words[0]) || (asked && !word_is(o, n, words[1]));
	return asked;
}

/** Compare what the line asks for, and live has not.  A helper may take it as it likes. */
static const char *compare_super(struct pf *pf, const struct mount *live, const char *options)
{
	if (!live->fs_opts || fstype_flags(live->fstype) & FST_NET || (live->fstype && strncmp(live->fstype, "fuse", 4) == 0))
		return NULL;
	for (size_t i = 0; i < sizeof(super_words) / sizeof(*super_words); ++i) {
		if (asks_for(options, super_words[i]) && !opt_shown_has(live->fs_opts, super_words[i][0]))
			return fstab_format(&pf->draft, "it is not %s, and the line makes it so", super_words[i][0]);
	}
	return NULL;
}

/** Whether all options of a name count, in their order: "lowerdir+=/a,lowerdir+=/b". */
static bool adds_up(const char *option, size_t key)
{
	return word_in(option, key, "lowerdir+ datadir+");
}

/** The next option of a name. */
static const char *next_named(const char **list, const char *name, size_t key, size_t *n)
{
	const char *option;
	do
		option = opt_next(list, n);
	while (option && (opt_name(option, *n) != key || memcmp(option, name, key) != 0));
	return option;
}

/** Whether two lists have the same options of a name, in the same order. */
static bool same_order(const char *a, const char *b, const char *name, size_t key)
{
	for (;;) {
		size_t n, m;
		const char *x = next_named(&a, name, key, &n), *y = next_named(&b, name, key, &m);
		if (!x || !y)
			return !x && !y;
		if (n != m || memcmp(x, y, n) != 0)
			return false;
	}
}

/** The options of a file system, by name: of the last of a name, which counts. */
struct lists {
	struct opt_set want, asked, live;
};

/** Compare the options of the file system with those that are asked for, as they are shown.
    @use  For use in passing. */
static const char *compare_shown(struct pf *pf, const struct fstab_line *want, const char *options,
                                 const struct lists *lists, struct strbuf *use)
{
	const struct mount *mount = want->mount;
	const char *list = want->options;
	size_t n;
	for (const char *o; (o = opt_next(&list, &n)) != NULL;) {
		size_t key = opt_name(o, n);
		if (!is_fs_option(o, n) || opt_set_find(&lists->want, o, key)->last != o)
			continue;
		if (adds_up(o, key)) {
			if (!same_order(want->options, options, o, key))
				return fstab_format(&pf->draft, "it has other options %.*s than the line", (int)key, o);
			continue;
		}
		const struct opt_entry *mine = opt_set_find(&lists->asked, o, key);
		if (!mine && word_is(o, key, "subvol"))
			mine = opt_set_find(&lists->asked, "subvolid", 8);   /* the root says what it is */
		else if (mine && !shown_same(mount->fstype, mine->last, mine->nlast, o, n))
			return fstab_format(&pf->draft, "it has the option %s, and the line %s", show_option(pf, o, n),
			                    show_option(pf, mine->last, mine->nlast));
		if (!mine && !is_agreed(mount, o, n) && !shown_has(mount->fstype, &lists->asked, o, n, use))
			return fstab_format(&pf->draft, "it has the option %s, and the line has not", show_option(pf, o, n));
	}
	/* What the line asks for, and live is there with another value. */
	list = options;
	for (const char *o; mount->fs_opts && (o = opt_next(&list, &n)) != NULL;) {
		size_t key = opt_name(o, n);
		if (key == n || !is_fs_option(o, n) || word_is(o, key, "subvolid") || opt_set_find(&lists->asked, o, key)->last != o)
			continue;
		const struct opt_entry *mine = opt_set_find(&lists->live, o, key);
		if (mine && mine->nlast > key && !memchr(mine->last, '\\', mine->nlast)
		    && !shown_same(mount->fstype, o, n, mine->last, mine->nlast)
		    && strcmp(mount->fstype ? mount->fstype : "", "overlay") != 0)
			return fstab_format(&pf->draft, "it has the option %s, and the line %s",
			                    show_option(pf, mine->last, mine->nlast), show_option(pf, o, n));
	}
	return NULL;
}

/** Compare the options of the file system.
    @fs  That of which subvolumes share them: those of the first line count, too. */
static const char *compare_fs(struct pf *pf, const struct fstab_line *want, const struct pf_fs *fs, const char *options)
{
	struct strbuf shown, use;
	strbuf_init(&shown);
	strbuf_init(&use);
	if (fstype_flags(want->mount->fstype) & FST_SUBVOL && fs->line != PF_NONE)
		shown_list(want->mount->fstype, pf->lines[fs->line].options, &shown);
	shown_list(want->mount->fstype, options, &shown);
	struct lists lists;
	opt_set_init(&lists.want, false);
	opt_set_init(&lists.asked, false);
	opt_set_init(&lists.live, false);
	opt_set_add_list(&lists.want, want->options, opt_next);
	opt_set_add_list(&lists.asked, strbuf_str(&shown), opt_next);
	opt_set_add_list(&lists.live, want->mount->fs_opts, opt_next);
	bool failed = lists.want.failed || lists.asked.failed || lists.live.failed || shown.failed;
	const char *why = failed ? NULL : compare_shown(pf, want, strbuf_str(&shown), &lists, &use);
	pf->draft.failed |= failed || use.failed;
	opt_set_destroy(&lists.want);
	opt_set_destroy(&lists.asked);
	opt_set_destroy(&lists.live);
	strbuf_destroy(&shown);
	strbuf_destroy(&use);
	return why;
}

/** The word of a flag, or of its opposite. */
static const char *flag_name(unsigned flags, unsigned bit)
{
	if (bit & PFF_ATIME)
		return flags & PFF_NOATIME ? "noatime" : flags & PFF_STRICTATIME ? "strictatime" : "relatime";
	for (size_t i = 0; i < sizeof(flag_words) / sizeof(*flag_words); ++i) {
		if ((flags & bit ? flag_words[i].set : flag_words[i].clear) == bit)
			return flag_words[i].word;
	}
	return "?";
}

const char *pf_compare_options(struct pf *pf, const struct fstab_line *want, const struct pf_mount *got,
                               const char *options)
{
	const struct mount *m = want->mount;
	bool bound = strcmp(want->fstype, "none") == 0;
	if (m->vfs_opts) {
		unsigned wanted = pf_live_flags(m), care = PFF_ALL;
		if (!bound)
			wanted = (wanted & ~(unsigned)PFF_RO) | (pf_flags(want->options, NULL) & PFF_RO);
		if (shown_readonly(m) || shown_failed(m->fstype, m->fs_opts))
			care &= ~(unsigned)PFF_RO;
		/* Its helper adds what the line does not speak of. */
		unsigned given, helper = bound ? 0 : pf_flags(shown_flags(m->fstype), NULL);
		pf_flags(options, &given);
		care &= ~(helper & wanted & ~given);
		unsigned differ = (wanted ^ got->flags) & care;
		for (unsigned bit = 1; bit <= PFF_NOATIME && differ; bit <<= 1) {
			unsigned mask = bit == PFF_NOATIME ? PFF_ATIME : bit;
			if (!(differ & mask))
				continue;
			if (got->unknown & mask)
				return fstab_format(&pf->draft, "it is %s, and the line leaves that to the version of mount(8)",
				                    flag_name(wanted, mask));
			return fstab_format(&pf->draft, "it is %s, and the line makes it %s", flag_name(wanted, mask),
			                    flag_name(got->flags, mask));
		}
	}
	if (pf_option(pf, options, "X-mount.idmap") && !(m->vfs_opts && opt_shown_has(m->vfs_opts, "idmapped")))
		return "it has no mapped IDs, and the line maps them";
	/* Through a bind nothing of the file system can be set. */
	bool binds = pf_option(pf, options, "bind") || pf_option(pf, options, "rbind");
	const char *why = bound || binds ? NULL : compare_fs(pf, want, &pf->fs[got->fs], options);
	return why || bound || binds ? why : compare_super(pf, m, options);
}

const char *pf_compare_swap(struct pf *pf, const struct fstab_line *want, const char *options)
{
	const char *mine = pf_option(pf, want->options, "pri"), *other = pf_option(pf, options, "pri");
	if (strcmp(mine ? mine : "", other ? other : "") == 0)
		return NULL;
	return fstab_format(&pf->draft, "it has the priority %s, and the line gives %s", mine ? mine : "that the kernel chose",
	                    other ? other : "none");
}
