/* SPDX-License-Identifier: MIT */
/*
 * Options of a line that the kernel refuses.  The mount exists, so it was made without them.
 */
#include "fstab/edit/merge_impl.h"

#include "base/words.h"

const char *merge_refused(struct merger *m, const struct entry *entry, const char *options,
                          const char **kept)
{
	const struct fstab_merge_input *in = m->in;
	if (!in->refused || !entry->line)
		return NULL;
	struct strbuf refused;
	strbuf_init(&refused);
	strbuf_reset(&m->match.more);
	size_t n;
	for (const char *o; (o = opt_next(&options, &n)) != NULL;)
		opt_add(in->refused(in->match.arg, entry->line->number, o, n) ? &refused
		        : &m->match.more, o, n);
	const char *text = NULL;
	if (refused.len) {
		text = match_format(&m->match, "%s", strbuf_str(&refused));
		*kept = match_format(&m->match, "%s",
		                     m->match.more.len ? strbuf_str(&m->match.more) : "defaults");
	}
	m->match.failed |= refused.failed;
	strbuf_destroy(&refused);
	return text;
}
