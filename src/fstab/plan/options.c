/* SPDX-License-Identifier: MIT */
/* The options of a line, by mountopts/request.h. */
#include "fstab/plan/plan_impl.h"

#include "mountopts/request.h"

enum state options_choose(struct maker *mk, const struct mount *mount, const struct mount *bound,
                          const char *first, const struct strbuf *more, struct fstab_line *line)
{
	struct strbuf out = {0}, why = {0}, warning = {0};
	const struct opt_request request = {
		.mount = mount, .bound = bound, .root = mk->in->root, .first = first,
		.minimal = mk->in->options == FSTAB_MINIMAL, .more = more->len ? more->data : NULL,
	};
	int rc = opt_request(&request, &out, &why, &warning);
	if (rc == 0)
		line->options = plan_format(mk, "%s", out.len ? strbuf_str(&out) : "defaults");
	else if (rc > 0)
		line->why = plan_format(mk, "%s", strbuf_str(&why));
	if (warning.len)
		line->warning = plan_format(mk, "%s%s%s", line->warning ? line->warning : "",
		                            line->warning ? "; " : "", strbuf_str(&warning));
	mk->failed |= rc < 0 || out.failed;
	strbuf_destroy(&out);
	strbuf_destroy(&why);
	strbuf_destroy(&warning);
	return rc == 0 && !mk->failed ? LINE : REFUSED;
}
