/* SPDX-License-Identifier: MIT */
/*
 * Rewriting options: copying those of a replaced line and those that select what is mounted
 * (subvol=), and removing those that the kernel refuses.
 */
#include "fstab/edit/merge_impl.h"

#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"

#include <string.h>

/** Make a set of the options of a list.
    @whole  Elements are whole options, not their names. */
static void index_list(struct opt_set *set, const char *list, bool whole)
{
	*set = (struct opt_set){.whole = whole};
	opt_set_add_list(set, list, opt_next);
}

/** Copy the list in m->match.more to the arena; if it is empty, copy `empty`. */
static const char *keep_list(struct merger *m, const char *empty)
{
	const struct strbuf *more = &m->match.more;
	return match_format(&m->match, "%s", more->len ? strbuf_str(more) : empty);
}

const char *merge_inherit(struct merger *m, const char *options, const char *from)
{
	static const char kept[] = "nofail _netdev user users owner group comment";
	size_t n;
	if (opt_is_open(from) || opt_is_open(options))
		return options;
	struct opt_set have;
	index_list(&have, options, false);
	strbuf_reset(&m->match.more);
	if (strcmp(options, "defaults") != 0)
		strbuf_puts(&m->match.more, options);
	for (const char *o; (o = opt_next(&from, &n)) != NULL;) {
		bool outside = opt_is_x(o, n) && strncasecmp(o, "x-mount.", 8) != 0;
		if ((outside || word_in(o, opt_name(o, n), kept))
		    && !opt_set_find(&have, o, opt_name(o, n)))
			opt_add(&m->match.more, o, n);
	}
	m->match.failed |= have.failed;
	opt_set_destroy(&have);
	return keep_list(m, options);
}

/** Step to the next option that selects what is mounted (subvol=), or to the next other one. */
static const char *next_of(const char **list, bool identity, size_t *n)
{
	const char *option;
	do
		option = opt_next(list, n);
	while (option && ((bool)fsopt_has(option, *n, OPT_IDENTITY) != identity
	                  || word_is(option, *n, "defaults")));
	return option;
}

bool merge_alike(const char *a, const char *b, bool identity)
{
	for (;;) {
		size_t n, k;
		const char *x = next_of(&a, identity, &n), *y = next_of(&b, identity, &k);
		if (!x || !y)
			return !x && !y && strcmp(a, b) == 0;
		if (n != k || memcmp(x, y, n) != 0)
			return false;
	}
}

const char *merge_identity(struct merger *m, const char *options, const char *live)
{
	size_t n;
	struct opt_set here, there;
	index_list(&here, options, true);
	index_list(&there, live, true);
	strbuf_reset(&m->match.more);
	/* Existing options keep their place. */
	for (const char *at = live, *o; (o = opt_next(&at, &n)) != NULL;) {
		if (fsopt_has(o, n, OPT_IDENTITY) && !opt_set_find(&here, o, n))
			opt_add(&m->match.more, o, n);
	}
	bool other = m->match.more.len > 0;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;) {
		bool kept = !fsopt_has(o, n, OPT_IDENTITY) || opt_set_find(&there, o, n);
		if (kept && !(other && word_is(o, n, "defaults")))
			opt_add(&m->match.more, o, n);
	}
	/* After an unclosed quotation mark mount(8) drops the rest; the merge keeps it. */
	if (*options)
		opt_puts(&m->match.more, options);
	m->match.failed |= here.failed || there.failed;
	opt_set_destroy(&here);
	opt_set_destroy(&there);
	return keep_list(m, "defaults");
}

/* The mount exists, so it was made without the options that the kernel refuses. */
const char *merge_refused(struct merger *m, const struct candidate *entry, const char *options,
                          const char **kept)
{
	const struct fstab_merge_input *in = m->in;
	if (!in->refused || !entry->is.number)
		return NULL;
	struct strbuf refused = {0};
	strbuf_reset(&m->match.more);
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		opt_add(in->refused(in->arg, entry->is.number, o, n) ? &refused
		        : &m->match.more, o, n);
	const char *text = NULL;
	if (refused.len) {
		text = match_format(&m->match, "%s", strbuf_str(&refused));
		*kept = keep_list(m, "defaults");
	}
	m->match.failed |= refused.failed;
	strbuf_destroy(&refused);
	return text;
}
