/* SPDX-License-Identifier: MIT */
/* Other hosts in a search: what they are to search for, and their entries. */
#include "search/search_impl.h"

#include "remote/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool search_remote_root(const SEARCH *search, size_t i)
{
	return search->remote && remote_is(search->roots[i]);
}

int search_remote_init(SEARCH *search, const char *pattern, const struct search_options *options)
{
	const struct search_transport *transport = options->transport;
	bool any = false;
	for (size_t i = 0; i < search->nroots; ++i)
		any = any || remote_is(search->roots[i]);
	if (!transport || !transport->connect)
		return 0;
	struct strbuf *text = &search->remote_text;
	search->delegates = transport->delegate && transport->here;
	if (!any && !search->delegates)
		return 0;
	search->remote = any ? remote_new(&search->os, transport) : NULL;
	if (any && !search->remote)
		return -1;
	for (size_t i = 0; any && i < search->nroots; ++i) {
		if (remote_is(search->roots[i]) && remote_add(search->remote, search->roots[i], i))
			return -1;
	}
	/* The request is made of these at the first turn: search_more() comes in between. */
	strbuf_add(text, pattern, strlen(pattern) + 1);
	strbuf_puts(text, options->exclude ? options->exclude : "");
	strbuf_add(text, "", 1);
	if (search->query)
		query_print_tests(search->query, text);
	strbuf_add(text, "", 1);
	search->remote_transport = *transport;
	search->remote_login = text->len;
	strbuf_puts(text, search->delegates ? transport->delegate : "");
	if (text->failed)
		return fail(ENOMEM);
	search->remote_options = *options;
	return 0;
}

void search_remote_request(SEARCH *search, struct talk_request *request)
{
	const struct search_options *options = &search->remote_options;
	const struct search_more *more = &search->more;
	const char *pattern = search->remote_text.data;
	search->remote_exclude = strchr(pattern, '\0') + 1;
	*request = (struct talk_request){
		.pattern = pattern, .exclude = &search->remote_exclude,
		.nexclude = *search->remote_exclude != '\0',
		.query = strchr(search->remote_exclude, '\0') + 1,
		.flags = search->flags & ~SEARCH_INCLUDEROOT,
		.types = more->types, .type = more->type, .mask = search->act_mask,
		.links = more->links || search->act_target, .optional = more->optional,
		.self = more->roots, .follow_roots = more->follow_roots, .files = more->files,
		.xattrs = more->xattrs, .exclude_types = more->exclude_types,
		.blocking = options->blocking, .ahead = options->ahead, .engine = options->engine,
		.threads = options->threads, .depth = options->depth, .mindepth = more->mindepth,
		.levels = more->maxdepth < UINT_MAX ? more->maxdepth + 1 : 0,
	};
	if (request->flags & SEARCH_METADATA)
		request->mask |= more->mask;
	size_t n = 0;
	if (search->query)
		query_actions(search->query, &n);
	request->actions = (unsigned)n;
}

bool search_remote_turn(SEARCH *search, int ms)
{
	int rc = 0;
	if (search->remote) {
		struct talk_request request;
		search_remote_request(search, &request);
		rc = remote_turn(search->remote, &request, search->delegated ? ms / 2 : ms,
		                 &search->counts);
	}
	bool more = search_delegated_turn(search, rc > 0 ? ms / 2 : ms);
	search->failed |= rc < 0;
	return rc > 0 || more;
}

struct searchent *search_remote_next(SEARCH *search)
{
	struct remote_entry got;
	struct strbuf *path = &search->path;
	search->why = NULL;
	search->last_remote = NULL;
	const struct search_delegated_place *place = NULL;
	if (!(search->remote && remote_next(search->remote, &got))
	    && !(place = search_delegated_next(search, &got)))
		return NULL;
	const struct talk_entry *e = &got.entry;
	const size_t root = strlen(got.root);
	search->path_rooted = e->err || search->flags & SEARCH_INCLUDEROOT;
	search->last_remote = got.root;
	search->last_root = got.index;
	strbuf_reset(path);
	/* As for roots here: a/ for itself as given, and a/b. */
	if (search->path_rooted)
		strbuf_add(path, got.root, root - (*e->path && got.root[root - 1] == '/'));
	else if (place)
		strbuf_puts(path, got.root + place->name_root);
	strbuf_add(path, e->path, e->len);
	if (path->len == 0)
		strbuf_putc(path, '/');
	strbuf_reset(&search->target);
	if (e->target)
		strbuf_add(&search->target, e->target, e->target_len);
	if (e->xattrs) {
		strbuf_add(&search->target, "", 1);
		strbuf_add(&search->target, e->xattrs, e->xattrs_len);
	}
	search->has_st = e->st;
	search->lost = false;
	if (e->st)
		memcpy(&search->st, e->st, sizeof(search->st));
	if (place) {
		search->st.dev_major = place->dev_major;
		search->st.dev_minor = place->dev_minor;
		search->st.mnt_id = search->st.mask & K_STATX_MNT_ID ? place->mount : 0;
	}
	if (e->st && !search->more.statx)
		search_stat_from(&search->stat, &search->st);
	search->type = e->type;
	search->actions = e->actions;
	search->why = got.why;
	search->entry = (struct searchent){
		.path = path->data, .err = e->err, .errsource = e->errsource,
		.info = e->st && !search->more.statx ? &search->stat : NULL,
	};
	if (e->err)
		++search->counts.errors;
	else if (++search->counts.found && search->flags & SEARCH_STOPATFIRST)
		search->ended = true;
	return path->failed || search->target.failed ? NULL : &search->entry;
}

bool search_asks(const SEARCH *search)
{
	return search->remote && remote_asks(search->remote);
}

const char *whysearch(const SEARCH *search)
{
	return search ? search->why : NULL;
}
