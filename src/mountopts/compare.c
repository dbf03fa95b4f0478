/* SPDX-License-Identifier: MIT */
#include "mountopts/compare.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <string.h>

/** Options that are never compared: for mount(8) and systemd, or part of the source. */
enum { UNCOMPARED = OPT_USERSPACE | OPT_UNCOMPARED | OPT_IDENTITY };

struct comparison {
	const char *fstype;
	struct opt_set live[2];      /* opt_compared.mount and opt_compared.shown */
	struct strbuf shown;         /* the options of the line as the kernel shows them ... */
	struct opt_set given;        /* ... by name, and the options of opt_compared.first */
	struct strbuf *list;         /* of opt_compare() ... */
	struct opt_set taken;        /* ... the options added to it, by name */
	struct strbuf *differ;       /* of opt_compare() */
	struct strbuf use;           /* scratch */
};

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

/** The option of a mount with the name of this option: from the first list of live[] that has the
    name.  NULL: no such option, or several.
    @k [out]  Its length. */
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
		if (flag && !vfs_option_holds(flag, want))
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

static void add_to_list(struct comparison *c, const char *option, size_t n)
{
	opt_add(c->list, option, n);
	opt_set_add(&c->taken, option, n);
}

/** Append the options of a line, with the values of the mount.  Options that are repeated, or not
    for the kernel, are not changed.
    @flags  As in struct opt_compared. */
static void add_with_live_values(struct comparison *c, const char *from,
                                 const struct vfs_flags *flags)
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
				add_to_list(c, opposite, k);
			opt_add(c->differ, opposite, k);
			continue;
		}
		/* An option that implies a flag is removed with it. */
		if (!own && flags && has_other_flag(strbuf_str(&shown), flags))
			continue;
		if (own || !is_other(c, strbuf_str(&shown), after)) {
			add_to_list(c, o, n);
			continue;
		}
		const char *at = strbuf_str(&shown);
		for (const char *part; (part = opt_next(&at, &k)) != NULL;) {
			const char *found = find_live(c, part, k, &m);
			if (found) {
				add_to_list(c, found, m);
				opt_add(c->differ, found, m);
			}
		}
	}
	c->use.failed |= shown.failed || line.failed;
	strbuf_destroy(&shown);
	opt_set_destroy(&line);
}

/** Append the options that the mount has and the line lacks. */
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
		add_to_list(c, o, n);
		opt_add(c->differ, o, n);
	}
}

void opt_compare(const struct opt_compared *in, struct strbuf *list, struct strbuf *differ)
{
	struct comparison c = {.fstype = in->fstype ? in->fstype : "", .list = list,
	                       .differ = differ};
	struct strbuf first = {0};
	opt_set_add_list(&c.live[0], in->mount, opt_next);
	opt_set_add_list(&c.live[1], in->shown, opt_next);
	shown_list(c.fstype, in->line, &c.shown);
	opt_set_add_list(&c.given, strbuf_str(&c.shown), opt_next);
	add_with_live_values(&c, in->line, in->flags);
	if (in->first) {
		shown_list(c.fstype, in->first, &first);
		opt_set_add_list(&c.given, strbuf_str(&first), opt_next);
	}
	if (in->lacks)
		add_missing(&c, in->mount);
	if (c.live[0].failed || c.live[1].failed || c.given.failed || c.taken.failed
	    || c.shown.failed || c.use.failed || first.failed || list->failed)
		strbuf_fail(differ);
	opt_set_destroy(&c.live[0]);
	opt_set_destroy(&c.live[1]);
	opt_set_destroy(&c.given);
	opt_set_destroy(&c.taken);
	strbuf_destroy(&c.shown);
	strbuf_destroy(&c.use);
	strbuf_destroy(&first);
}

void opt_overruled(const char *fstype, const char *first, const struct opt *opts, size_t n,
                   struct strbuf *lost)
{
	struct strbuf of_first = {0}, own = {0};
	struct opt_set set = {0};
	shown_list(fstype, first, &of_first);
	opt_set_add_list(&set, strbuf_str(&of_first), opt_next);
	for (size_t i = 0; i < n; ++i) {
		const struct opt *o = &opts[i];
		const struct fsopt *row = fsopt_of_line(fstype, FSOPT_VISIBLE, o->text, o->n);
		if (!row || fsopt_flagged(fstype, o->text, o->n, OPT_UNREQUESTED | OPT_DEFAULT))
			continue;
		const struct opt_entry *other = opt_set_find(&set, o->text, o->nname);
		strbuf_reset(&own);
		shown_as(fstype, o->text, o->n, &own);
		size_t m = strcspn(strbuf_str(&own), ",");   /* nodatacow,nodatasum */
		bool same = other && other->nlast == m && memcmp(other->last, own.data, m) == 0;
		bool is_default = !m || (row->unless
		                         && fsopt_is_named(row->unless, o->text, o->n));
		if (is_default ? other && !same : !same)
			opt_add(lost, o->text, o->n);
	}
	if (of_first.failed || own.failed || set.failed)
		strbuf_fail(lost);
	opt_set_destroy(&set);
	strbuf_destroy(&of_first);
	strbuf_destroy(&own);
}
