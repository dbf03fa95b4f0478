/* SPDX-License-Identifier: MIT */
/* Search roots on other hosts: make the requests, and convert the received entries. */
#include "search/search_impl.h"

#include "remote/remote.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

bool search_remote_root(const SEARCH *search, size_t i)
{
	return search->remotes.hosts && remote_is(search->roots.names[i]);
}

int search_remote_init(SEARCH *search, const char *pattern, const struct search_options *options)
{
	const struct search_transport *transport = options->transport;
	bool any = false;
	for (size_t i = 0; i < search->roots.n; ++i)
		any = any || remote_is(search->roots.names[i]);
	if (!transport || !transport->connect)
		return 0;
	struct strbuf *text = &search->remotes.text;
	search->remotes.delegates = transport->delegate && transport->here;
	if (!any && !search->remotes.delegates)
		return 0;
	search->remotes.hosts = any ? remote_new(&search->os, transport) : NULL;
	if (any && !search->remotes.hosts)
		return -1;
	for (size_t i = 0; any && i < search->roots.n; ++i) {
		const char *name = search->roots.names[i];
		if (remote_is(name) && remote_add(search->remotes.hosts, name, i))
			return -1;
	}
	/* The strings for the request, which is made at the first turn, after search_more(). */
	strbuf_add(text, pattern, strlen(pattern) + 1);
	strbuf_puts(text, options->exclude ? options->exclude : "");
	strbuf_add(text, "", 1);
	if (search->want.query)
		query_print_tests(search->want.query, text);
	strbuf_add(text, "", 1);
	search->remotes.transport = *transport;
	search->remotes.login = text->len;
	strbuf_puts(text, search->remotes.delegates ? transport->delegate : "");
	if (text->failed)
		return fail(ENOMEM);
	search->remotes.options = *options;
	search->remotes.options.why = NULL;   /* valid only during getmnt_search_open() */
	return 0;
}

void search_remote_request(SEARCH *search, struct talk_request *request)
{
	const struct search_options *options = &search->remotes.options;
	const struct search_more *more = &search->more;
	const struct selection *want = &search->want;
	const char *pattern = search->remotes.text.data;
	search->remotes.exclude = strchr(pattern, '\0') + 1;
	*request = (struct talk_request){
		.pattern = pattern, .exclude = &search->remotes.exclude,
		.nexclude = *search->remotes.exclude != '\0',
		.query = strchr(search->remotes.exclude, '\0') + 1,
		.flags = search->flags & ~SEARCH_INCLUDEROOT,
		.types = want->types, .type = more->type, .mask = want->act_mask,
		.links = more->links || want->act_target, .optional = more->optional,
		.self = more->roots, .follow_roots = more->follow_roots, .files = more->files,
		.xattrs = more->xattrs, .exclude_types = more->exclude_types,
		.blocking = options->blocking, .ahead = options->ahead, .engine = options->engine,
		.threads = options->threads, .depth = options->depth, .mindepth = want->mindepth,
		.levels = want->maxdepth < UINT_MAX ? want->maxdepth + 1 : 0,
	};
	if (request->flags & SEARCH_METADATA)
		request->mask |= more->mask;
	size_t n = 0;
	const struct query_action *actions = want->query ? query_actions(want->query, &n) : NULL;
	request->actions = (unsigned)n;
	for (size_t i = 0; i < n && i < TALK_ACTIONS; ++i)
		request->attributes |= actions[i].attributes ? UINT32_C(1) << i : 0;
}

bool search_remote_turn(SEARCH *search, int ms)
{
	int rc = 0;
	if (search->remotes.hosts) {
		struct talk_request request;
		search_remote_request(search, &request);
		rc = remote_turn(search->remotes.hosts, &request,
		                 search->remotes.delegated ? ms / 2 : ms, &search->counts);
	}
	bool more = search_delegated_turn(search, rc > 0 ? ms / 2 : ms);
	search->failed |= rc < 0;
	return rc > 0 || more;
}

struct searchent *search_remote_next(SEARCH *search)
{
	struct remote_entry got;
	struct strbuf *path = &search->last.path;
	search->last.why = NULL;
	search->last.remote = NULL;
	const struct search_delegated_place *place = NULL;
	if (!(search->remotes.hosts && remote_next(search->remotes.hosts, &got))
	    && !(place = search_delegated_next(search, &got)))
		return NULL;
	const struct talk_entry *e = &got.entry;
	const size_t root = strlen(got.root);
	search->last.path_rooted = e->err || search->flags & SEARCH_INCLUDEROOT;
	search->last.root_len = !search->last.path_rooted ? 0 : place ? place->name_root
	                        : root - (root > 0 && got.root[root - 1] == '/');
	search->last.remote = got.root;
	search->last.root = got.index;
	strbuf_reset(path);
	/* As for a root on this host: the root keeps its trailing slash ("a/"), but paths below do
	   not repeat it ("a/b"). */
	if (search->last.path_rooted)
		strbuf_add(path, got.root, root - (*e->path && got.root[root - 1] == '/'));
	else if (place)
		strbuf_puts(path, got.root + place->name_root);
	strbuf_add(path, e->path, e->len);
	if (path->len == 0)
		strbuf_putc(path, '/');
	strbuf_reset(&search->last.target);
	if (e->target)
		strbuf_add(&search->last.target, e->target, e->target_len);
	if (e->xattrs) {
		strbuf_add(&search->last.target, "", 1);
		strbuf_add(&search->last.target, e->xattrs, e->xattrs_len);
	}
	search->last.has_st = e->st;
	search->last.lost = !e->st && !e->err && search->want.query
	                    && (search->flags & SEARCH_METADATA || search->want.act_mask);
	if (e->st)
		memcpy(&search->last.st, e->st, sizeof(search->last.st));
	if (place) {
		search->last.st.dev_major = place->dev_major;
		search->last.st.dev_minor = place->dev_minor;
		search->last.st.mnt_id = search->last.st.mask & K_STATX_MNT_ID ? place->mount : 0;
	}
	if (e->st && !search->more.statx)
		os_stat_from(&search->last.stat, &search->last.st);
	search->last.type = e->type;
	search->last.actions = e->actions;
	search->last.why = got.why;
	search->last.entry = (struct searchent){
		.path = path->data, .err = e->err, .errsource = e->errsource,
		.info = e->st && !search->more.statx ? &search->last.stat : NULL,
	};
	if (e->err)
		++search->counts.errors;
	else if (++search->counts.found && search->flags & SEARCH_STOPATFIRST)
		search->ended = true;
	return path->failed || search->last.target.failed ? NULL : &search->last.entry;
}

bool search_asks(const SEARCH *search)
{
	return search->remotes.hosts && remote_asks(search->remotes.hosts);
}

const char *getmnt_search_why(const SEARCH *search)
{
	return search ? search->last.why : NULL;
}
