/* SPDX-License-Identifier: MIT */
/*
 * Check the options of a line: whether they exist, have accepted values, and can be combined.
 *
 * If mountopts/fsopts.h lists all options of a type, an option that is not in the list is an error.
 * For all other types, an unknown option is reported only if it resembles a known option, or if
 * only other types have the option and no helper takes it.  Options x-* and X-* may be for any
 * program.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/shown.h"
#include "mountopts/vfsflags.h"

#include <ctype.h>
#include <string.h>

void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found,
                   size_t *nfound)
{
	for (const char *at = list; *at;) {
		size_t m = strcspn(at, " =");
		if (m <= AUDIT_NAME_MAX && (m > n ? m - n : n - m) < *best) {
			unsigned d = near_distance(word, n, at, m, false);
			if (d < *best && (d == 0 || m >= 4)) {
				*best = d;
				*found = at;
				*nfound = m;
			}
		}
		at += strcspn(at, " ");
		at += *at == ' ';
	}
}

/** Find the option nearest to a word, as audit_nearest() does.
    @fstype  Search the options of this type; NULL: the general options. */
static void nearest_option(const char *fstype, const char *word, size_t n, unsigned *best,
                           const char **found, size_t *nfound)
{
	const char *names;
	for (size_t i = 0; (names = fsopt_names(fstype, i)) != NULL; ++i)
		audit_nearest(names, word, n, best, found, nfound);
}

/** Find the option that was probably intended by a misspelled word; or NULL.
    @complete  All options of the type are known.
    @none      The type is "none", as for binds.
    @nfound [out]  The number of bytes of the result. */
static const char *near_miss(struct audit *audit, const char *fstype, const char *word, size_t n,
                             bool complete, bool none, size_t *nfound)
{
	/* General options that do not resemble an option of any file system, even of types whose
	   options are not all known. */
	static const char distinct_options[] =
	        "defaults noauto nofail _netdev noexec nosuid nodev relatime noatime nodiratime";
	const char *found = NULL;
	bool partial = !complete && fsopt_names(fstype, 0);
	/* Short words resemble many options, so the limit of edits is lower; in the shortest, only
	   upper and lower case may differ. */
	unsigned best = n < (complete || partial || none ? 4 : 5) ? 1 : n < 7 ? 2 : 3;
	if (n < 2 || n > AUDIT_NAME_MAX
	    || (!complete && word_is(word, n, "notail"))) /* an option of reiserfs */
		return NULL;
	if (audit->misses++ >= AUDIT_MISSES_MAX) {
		audit_not_checked(audit->report, FSTAB_OPT_TYPO);
		return NULL;
	}
	if (complete)
		nearest_option(NULL, word, n, &best, &found, nfound);
	else if (n > 4)
		audit_nearest(distinct_options, word, n, &best, &found, nfound);
	if (none)
		audit_nearest("bind rbind", word, n, &best, &found, nfound);
	else
		nearest_option(fstype, word, n, &best, &found, nfound);
	return found;
}

/** Whether the kernel knows an option of len bytes, because a live mount of the type shows the
    option.
    @exact  true: the mount must show exactly this option; false: the name is enough. */
static bool is_shown(struct audit *audit, const char *fstype, const char *option, size_t len,
                     bool exact)
{
	const struct discovery *d = audit->in->live;
	if (d && audit->looks++ >= AUDIT_MISSES_MAX) {
		audit_not_checked(audit->report, FSTAB_OPT_UNKNOWN);
		return true;
	}
	for (uint32_t i = 0; d && i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		if (m->fstype && strcmp(m->fstype, fstype) == 0
		    && (exact ? shown_lists : shown_names)(m, option, len))
			return true;
	}
	return false;
}

/** Report a known option whose value the kernel refuses. */
static void check_value(struct audit *audit, const struct fstab_entry *entry,
                        const struct opt *o)
{
	const char *takes = entry->bind ? NULL : fsopt_check_value(entry->fstype, o->text, o->n);
	/* These options belong to loop devices: without "loop", do not report their values. */
	bool loop = word_in(o->text, o->nname, "offset sizelimit");
	if (!takes || is_shown(audit, entry->fstype, o->text, o->n, false)
	    || (loop && !fstab_entry_value(entry, "loop")))
		return;
	audit->option = audit_format(audit->report, "%.*s", (int)o->n, o->text);
	audit->refused = audit_format(audit->report, "the line has option %s, but %s accepts %s",
	                              audit->option, entry->fstype, takes);
	audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING | AUDIT_BOOT, takes,
		       o->value && *o->value ? o->value : NULL,
		       "use an accepted value, or remove the option",
		       "%s is not valid for %s (accepted: %s): the kernel refuses the mount",
		       audit->option, entry->fstype, takes);
	audit->option = audit->refused = NULL;
}

/** Check whether newer kernels, or all kernels but those of one vendor, refuse a known option. */
static void check_kernel(struct audit *audit, const struct fstab_entry *entry,
                         const struct opt *o)
{
	const struct fsopt *row = fsopt_of_line(entry->fstype, FSOPT_ENDED, o->text, o->n);
	const struct fsopt *vendor = fsopt_of_line(entry->fstype, FSOPT_VENDOR, o->text, o->n);
	/* A file system that accepts the option shows it, perhaps in another form. */
	const struct fsopt *as = row && row->where
	        ? fsopt_of_line(entry->fstype, FSOPT_SHOWN, o->text, o->n) : NULL;
	if (entry->bind || (!row && !vendor)
	    || (as ? is_shown(audit, entry->fstype, as->shown, strlen(as->shown), true)
	           : is_shown(audit, entry->fstype, o->text, o->n, false))
	    || (row && row->unless && fstab_entry_value(entry, row->unless)))
		return;
	const char *option = audit_format(audit->report, "%.*s", (int)o->n, o->text);
	if (vendor) {
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_INFO, NULL, option,
			       "remove it on any other system",
			       "%s is an option of %s's kernel: other kernels refuse the mount",
			       option, vendor->vendor);
		return;
	}
	bool older = fstab_answer(audit->in->facts, FSTAB_HAS_KERNEL, row->ended) == 0;
	const char *refuses = audit_format(audit->report, "Linux %s and later refuse%s",
	                                   row->ended, row->where ? row->where : "");
	if (!older) {
		audit->option = option;
		audit->refused = audit_format(audit->report, "the line has option %s, which %s",
		                              option, refuses);
	}
	audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN,
		       older ? AUDIT_INFO : AUDIT_WARNING | AUDIT_BOOT, row->instead, option,
		       row->instead ? audit_format(audit->report, "use %s", row->instead)
		                    : "remove it",
		       "%s is an option that %s", option, refuses);
	audit->option = audit->refused = NULL;
}

/** Report an unknown option that resembles the option `known` of n bytes. */
static void report_typo(struct audit *audit, const struct fstab_entry *entry, unsigned level,
                        const struct opt *o, const char *known, size_t n)
{
	const char *name = audit_format(audit->report, "%.*s", (int)n, known);
	audit_add_line(audit, entry, FSTAB_OPT_TYPO, level, name, o->name,
		       audit_format(audit->report, "did you mean \"%s\"?", name),
		       "unknown option \"%s\"", o->name);
}

/** Whether the first option of a text decides how the line is mounted, or whether boot needs the
    mount.  A quotation mark before the option is skipped. */
static bool is_decisive(const char *text)
{
	static const char options[] = "nofail noauto _netdev x-systemd.automount bind rbind";
	const char *word = text + audit_quote(text);
	return word_in(word, strcspn(word, ",\"'\xe2"), options);
}

/** Whether the kernel gets the options of a line, and refuses unknown ones. */
static bool is_strict(const struct fstab_entry *entry, bool complete)
{
	return !entry->bind && !entry->swap
	       && (complete || strcmp(entry->fstype, "auto") == 0 || strchr(entry->fstype, ','));
}

/** Report an option within quotation marks: they are part of its name. */
static void report_quoted(struct audit *audit, const struct fstab_entry *entry, bool complete,
                          const struct opt *o)
{
	bool refused = is_strict(entry, complete), lost = is_decisive(o->text);
	audit_add_line(audit, entry, FSTAB_ESCAPE,
		       (lost || refused ? AUDIT_CRITICAL : AUDIT_WARNING) | AUDIT_BOOT, NULL,
		       audit_format(audit->report, "%.*s", (int)o->n, o->text),
		       "remove the quotation marks",
		       "the quotation marks are read as part of an option: %s",
		       refused       ? "the kernel refuses the mount"
		       : entry->bind ? "it has no effect"
		                     : "it is unknown");
	audit->typo = entry;
}

/** Check the quotation marks around the value of an option.  @return whether they are reported. */
static bool check_quoted_value(struct audit *audit, const struct fstab_entry *entry, bool complete,
                               const struct opt *o)
{
	/* SELinux labels need quotation marks; passwords may have them. */
	static const char except[] =
		"context fscontext defcontext rootcontext comment pass password password2";
	size_t quote = o->value ? audit_quote(o->value) : 0;
	if (!quote || entry->bind || entry->swap || o->is_x
	    || word_in(o->name, o->nname, except))
		return false;
	/* Since 2.39, mount(8) removes these quotation marks, unless it runs a helper. */
	const char *value = o->value;
	size_t n = strlen(value);
	opt_unquote(&value, &n);
	bool removed = value != o->value && !(entry->type & FST_NET)
	               && !audit_begins(entry->fstype, "fuse ntfs-3g");
	audit_add_line(audit, entry, FSTAB_ESCAPE,
		       (!removed && is_strict(entry, complete) ? AUDIT_CRITICAL : AUDIT_WARNING)
		       | AUDIT_BOOT, NULL,
		       audit_format(audit->report, "%.*s", (int)o->n, o->text),
		       "remove the quotation marks",
		       "the quotation marks are read as part of the value of %s%s", o->name,
		       removed ? ", by mount(8) before 2.39" : "");
	return true;
}

/** Report options after a quotation mark that is not closed. */
static void check_open_quote(struct audit *audit, const struct fstab_entry *entry)
{
	const struct opt *last = entry->nopts ? &entry->opts[entry->nopts - 1] : NULL;
	const char *rest = last ? last->text + last->n : entry->options;
	rest += strspn(rest, ",");
	if (!*rest)
		return;
	audit->typo = entry;
	audit_add_line(audit, entry, FSTAB_ESCAPE,
		       (is_decisive(rest) ? AUDIT_CRITICAL : AUDIT_WARNING) | AUDIT_BOOT, NULL,
		       rest, "remove the quotation mark", "a quotation mark is not closed: "
		       "mount(8) ignores the options from there on");
}

/** Report an unknown option if its form shows the mistake: a misspelled prefix "x-systemd.", "prio"
    for a swap space, quotation marks, a number, or a path.
    @return whether the option was reported. */
static bool check_form(struct audit *audit, const struct fstab_entry *entry, bool complete,
                       const struct opt *o)
{
	static const char *const almost[] = {"systemd.", "xsystemd.", "x.systemd.", "x_systemd."};
	for (size_t i = 0; i < sizeof(almost) / sizeof(*almost); ++i) {
		size_t k = strlen(almost[i]);
		if (o->nname <= k || memcmp(o->text, almost[i], k) != 0)
			continue;
		const char *meant = audit_format(audit->report, "x-systemd.%.*s",
		                                 (int)(o->nname - k), o->text + k);
		report_typo(audit, entry, AUDIT_WARNING | AUDIT_BOOT, o, meant, strlen(meant));
		return true;
	}
	if (entry->swap && word_is(o->text, o->nname, "prio")) {
		audit_add_line(audit, entry, FSTAB_OPT_TYPO, AUDIT_WARNING, "pri", "prio",
			       "did you mean \"pri\"?",
			       "swapon(8) ignores the unknown option \"prio\"");
		return true;
	}
	if (audit_quote(o->text)) {
		report_quoted(audit, entry, complete, o);
		return true;
	}
	if (!complete && check_quoted_value(audit, entry, complete, o))
		return true;
	/* A number as the only option: the options field is probably missing.  A path in the
	   options of an overlay: a comma in lowerdir probably stands for a colon. */
	bool number = o->nname == o->n && strspn(o->text, "0123456789") == o->n
	              && (!complete || entry->nopts == 1);
	bool path = *o->text == '/' && (!complete || strcmp(entry->fstype, "overlay") == 0);
	if (entry->bind || entry->swap || !entry->path || !(number || path))
		return false;
	audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING | AUDIT_BOOT, NULL,
		       audit_format(audit->report, "%.*s", (int)o->n, o->text),
		       number ? "add defaults as the fourth field"
		              : "see the manual page of the type",
		       number ? "a number is not an option: the options field may be missing"
		              : "a path is not an option: a comma may stand for a colon");
	return true;
}

/** Report an unknown option, if it is certain or likely that the option is a mistake.
    @refused  The kernel refuses the mount because of the option.  Never for a bind, which passes no
              option to the file system, or for swapon(8), which ignores unknown options.
    @other    A type that has the option; or NULL. */
static void check_unknown(struct audit *audit, const struct fstab_entry *entry, bool complete,
                          bool refused, const struct opt *o, const char *other)
{
	bool none = strcmp(entry->fstype, "none") == 0;
	size_t m;
	if (o->nname == 0) {
		/* mount(2) ignores an option without a name, fsconfig(2) refuses it. */
		if (refused)
			audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING | AUDIT_BOOT,
				       NULL, audit->option, "remove it",
				       "an option has no name: with mount(8) 2.39 or later the "
				       "kernel refuses the mount");
		return;
	}
	if (!other && check_form(audit, entry, complete, o))
		return;
	const char *found = other ? NULL : near_miss(audit, entry->fstype, o->text, o->nname,
	                                             complete, none, &m);
	if (found) {
		audit->typo = entry;
		report_typo(audit, entry,
		            (complete || none) && !entry->swap ? AUDIT_CRITICAL | AUDIT_BOOT
		                                               : AUDIT_WARNING, o, found, m);
	} else if (entry->swap) {
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING, NULL,
			       o->name, "remove it",
			       "swapon(8) ignores the unknown option \"%s\"", o->name);
	} else if ((complete || other) && !entry->bind) {
		audit_add_line(audit, entry, FSTAB_OPT_UNKNOWN, AUDIT_WARNING | AUDIT_BOOT, NULL,
			       o->name,
			       !other ? "remove it, or see the manual page of the type"
			              : audit_format(audit->report,
			                             "remove it: it is an option of %s", other),
			       "%s has no option \"%s\": the kernel refuses the mount",
			       entry->fstype, o->name);
	}
}

/** A type that has an option which the type of the line lacks, if the kernel then refuses the
    mount; or NULL.  Not for an option of the type in upper case. */
static const char *other_type(struct audit *audit, const struct fstab_entry *entry,
                              const struct opt *o)
{
	size_t n;
	unsigned best = 1;
	const char *own = NULL;
	if (entry->bind || entry->swap || !fsopt_strict(entry->fstype)
	    || fstab_entry_value(entry, "sloppy"))
		return NULL;
	if (audit->misses++ >= AUDIT_MISSES_MAX) {
		audit_not_checked(audit->report, FSTAB_OPT_UNKNOWN);
		return NULL;
	}
	if (o->nname <= AUDIT_NAME_MAX)
		nearest_option(entry->fstype, o->text, o->nname, &best, &own, &n);
	const char *other = own ? NULL
	                        : fsopt_other_type(entry->fstype, o->text, o->nname, &n);
	return other ? audit_format(audit->report, "%.*s", (int)n, other) : NULL;
}

/** Check an option without regard to the other options of the line. */
static void check_option(struct audit *audit, const struct fstab_entry *entry, bool complete,
                         const struct opt *o)
{
	size_t m;
	if (o->is_x ? word_in(o->text, o->nname, fsopt_x_names)
	    : fsopt_is_general(o->text, o->nname)
	      || fsopt_of_line(entry->fstype, FSOPT_KNOWN, o->text, o->nname)) {
		if (!check_quoted_value(audit, entry, complete, o))
			check_value(audit, entry, o);
		check_kernel(audit, entry, o);
	} else if (o->is_x) {
		unsigned best = 3;
		const char *found = NULL;
		if (o->nname <= AUDIT_NAME_MAX && o->nname > 8
		    && audit->misses++ < AUDIT_MISSES_MAX)
			audit_nearest(fsopt_x_names, o->text, o->nname, &best, &found, &m);
		if (found)
			report_typo(audit, entry, AUDIT_WARNING, o, found, m);
	} else if (!is_shown(audit, entry->fstype, o->text, o->nname, false)) {
		const char *other = other_type(audit, entry, o);
		bool refused = (complete || other) && !entry->bind && !entry->swap;
		if (refused)
			audit->option = audit_format(audit->report, "%.*s", (int)o->n, o->text);
		if (refused && o->nname)
			audit->refused = audit_format(audit->report, "the line has option %s, "
			                              "which %s does not have", o->name,
			                              entry->fstype);
		else if (refused)
			audit->refused = "the line has an option without a name, which mount(8) "
			                 "2.39 or later refuses";
		check_unknown(audit, entry, complete, refused, o, other);
		audit->option = audit->refused = NULL;
	}
}

/** Report that two options contradict each other, if `other` is before `option` in the line.
    @wins  The option in effect; NULL: the last. */
static void check_conflict(struct audit *audit, const struct fstab_entry *entry, const char *option,
                           const char *other, const char *wins)
{
	if (map64_get(&audit->keys, map64_text(other)) == MAP64_NONE)
		return;
	/* If the kernel prefers an option (`wins`) to relatime, the default, the conflict is only
	   an info. */
	bool is_default = wins && (strcmp(option, "relatime") == 0
	                           || strcmp(other, "relatime") == 0);
	audit_add_line(audit, entry, FSTAB_OPT_CONFLICT, is_default ? AUDIT_INFO : AUDIT_WARNING,
		       NULL, NULL, "remove one", "%s and %s conflict: %s takes effect", other,
		       option, wins ? wins
		       : strstr(option, "auto") ? "for systemd the last, for mount -a noauto"
		                                : "the last");
}

/** Report options before `mine` that set the same VFS flag to a different value.  Of the options
    for access times, the kernel prefers strictatime to noatime, and noatime to relatime; an option
    such as atime only cancels an option, which is no contradiction. */
static void check_flag(struct audit *audit, const struct fstab_entry *entry,
                       const struct vfs_option *mine)
{
	for (const struct vfs_option *other = vfs_options; other->name; ++other) {
		if (other->flag != mine->flag || other->value == mine->value)
			continue;
		bool stronger = mine->value > other->value, atime = mine->flag == VFS_ATIME;
		bool ranked = mine->name == vfs_name(mine->flag, mine->value)
		              && other->name == vfs_name(other->flag, other->value);
		if (ranked || !atime)
			check_conflict(audit, entry, mine->name, other->name,
			               !atime ? NULL : stronger ? mine->name : other->name);
	}
}

static uint64_t key_of(const struct opt *option)
{
	return map64_bytes(MAP64_BYTES, option->text, option->nname);
}

/** Whether two options with one name have the same effect: subvol=/@ and subvol=@, 0755 and 755.
    Except for subvol=, values that do not begin with a digit are compared as text. */
static bool is_same_option(const char *fstype, const struct opt *a, const struct opt *b)
{
	if (a->n == b->n && memcmp(a->text, b->text, a->n) == 0)
		return true;
	bool known = word_is(a->name, a->nname, "subvol")
	            || (a->value && b->value && isdigit((unsigned char)*a->value)
	                && isdigit((unsigned char)*b->value) && !strchr(a->value, '%')
	                && !strchr(b->value, '%'));
	return known && shown_same(fstype, a->text, a->n, b->text, b->n)
	       && shown_same(fstype, b->text, b->n, a->text, a->n);
}

/** Report an option that repeats or contradicts a preceding option.
    @at  Index of the option in entry->opts. */
static void check_repeated(struct audit *audit, const struct fstab_entry *entry, bool complete,
                           uint32_t at)
{
	const struct opt *o = &entry->opts[at];
	uint64_t hash = key_of(o);
	uint32_t before = map64_get(&audit->keys, hash);
	const struct opt *first = before != MAP64_NONE ? &entry->opts[before] : NULL;
	if (first && !o->is_x && !fsopt_has(o->text, o->nname, OPT_REPEATS)
	    && (fsopt_is_general(o->text, o->nname)
	        || (complete
	            && fsopt_of_line(entry->fstype, FSOPT_KNOWN, o->text, o->nname)))) {
		bool same = is_same_option(entry->fstype, first, o);
		audit_add_line(audit, entry, FSTAB_OPT_CONFLICT, same ? AUDIT_INFO : AUDIT_WARNING,
			       NULL, NULL, "remove one",
			       same ? "option %s is given twice"
			            : "option %s is given twice with different values: the last "
			              "takes effect", o->name);
	}
	const struct vfs_option *flag = vfs_option(o->text, o->n);
	if (flag)
		check_flag(audit, entry, flag);
	for (size_t i = 0; fsopt_conflicts[i / 2][0]; ++i) {
		const char *const *sides = fsopt_conflicts[i / 2];
		if (word_is(o->text, o->n, sides[i % 2]))
			check_conflict(audit, entry, sides[i % 2], sides[!(i % 2)], NULL);
	}
	map64_remove(&audit->keys, hash);
	map64_put(&audit->keys, hash, at);
}

void audit_options(struct audit *audit, const struct fstab_entry *entry)
{
	bool complete = fsopt_complete(entry->fstype);
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		check_option(audit, entry, complete, &entry->opts[i]);
		if (entry->nopts > 1)
			check_repeated(audit, entry, complete, i);
	}
	check_open_quote(audit, entry);
	for (uint32_t i = 0; i < entry->nopts; ++i)
		map64_remove(&audit->keys, key_of(&entry->opts[i]));
}
