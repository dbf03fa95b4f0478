/* SPDX-License-Identifier: MIT */
/*
 * Delegate a mount during a search, in the owner's thread.
 *
 *     a mount is reached --> a process of this host, with a deadline, lists the directory
 *                        --> the server lists it too; different lists: the mount is not delegated
 *                        --> the server searches; its entries are read like those of other hosts
 *
 * The server gets the complete pattern and query, and the path of its directory in the search of
 * this host, at which it begins to match (talk_request.name).
 */
#include "search/search_impl.h"

#include "os/change.h"
#include "os/file.h"
#include "search/hosts/delegate.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { TURN_MS = 100, HERE_SECONDS = 10, VOLUMES_MAX = 1 << 20 };

struct search_delegated {
	struct search_delegated *next;
	struct remote *remote;
	struct strbuf root, path;      /* root and path of the directory on the server, see
	                                  delegate_place() */
	struct strbuf name;            /* path of the directory on this host, as printed */
	size_t index;                  /* index of the given root */
	unsigned wanted;               /* enum mount_wanted */
	bool nfs;
	struct search_delegated_place place;
};

static void delegated_free(struct search_delegated *d, bool child)
{
	remote_free(d->remote, child);
	strbuf_destroy(&d->root);
	strbuf_destroy(&d->path);
	strbuf_destroy(&d->name);
	free(d);
}

void search_delegated_free(SEARCH *search, bool child)
{
	while (search->remotes.delegated) {
		struct search_delegated *d = search->remotes.delegated;
		search->remotes.delegated = d->next;
		delegated_free(d, child);
	}
}

/** Make the request for the server of a delegated mount. */
static struct talk_request request_of(SEARCH *search, const struct search_delegated *d)
{
	struct talk_request request;
	search_remote_request(search, &request);
	/* On this host the mount is one file system, even if the server mounts several file systems
	   in it: search all these file systems. */
	request.flags &= ~SEARCH_XDEV;
	request.exclude_types = NULL;
	request.exported = d->nfs;
	request.self = d->wanted & MOUNT_SELF;
	request.name = d->name.data;
	request.name_root = d->place.name_root;
	if (!(d->wanted & MOUNT_BELOW)) {
		request.levels = 1;
		for (const char *c = request.name + request.name_root; *c; ++c)
			request.levels += *c == '/';
	}
	return request;
}

/** Read a directory and the attributes of its entries through a server, and add them to a digest.
    @here  The server is a process of this host, which may block.
    @return whether the directory was read; false: proof->why has the reason. */
static bool see(SEARCH *search, struct remote *remote, bool here, bool nfs,
                struct delegate_proof *proof)
{
	const struct talk_request request = {
		.pattern = "/*", .query = "", .flags = SEARCH_METADATA | SEARCH_BYNAME,
		.mask = K_STATX_MNT_ID, .self = true, .exported = nfs, .levels = 2,
		.blocking = here || search->remotes.options.blocking,
	};
	struct search_counts counts = {0};
	struct remote_entry got;
	int rc;
	do {
		rc = remote_turn(remote, &request, TURN_MS, &counts);
		while (remote_next(remote, &got))
			delegate_see(proof, &got, nfs);
	} while (rc > 0 && !atomic_load(&search->cancelled));
	search->failed |= rc < 0 || proof->text.failed || proof->why.failed;
	if (proof->why.len == 0 && !(proof->st.mask & K_STATX_TYPE))
		strbuf_puts(&proof->why, "the answer is incomplete");
	return proof->why.len == 0;
}

static int connect_here(void *arg, const struct search_server *server, struct search_link *link)
{
	const struct search_transport *transport = arg;
	(void)server;
	return transport->here(transport->arg, link);
}

/** Read the directory of a mount on this host, in a process of its own, since reading may block.
    @below  As for search_delegate().
    @return whether the directory was read. */
static bool see_here(SEARCH *search, const struct search_mount *m, const char *below,
                     struct search_delegated *d, struct delegate_proof *proof)
{
	struct search_transport *transport = &search->remotes.transport, here = *transport;
	struct strbuf path = {0};
	here.connect = connect_here;
	here.arg = transport;
	if (here.timeout == 0 || here.timeout > HERE_SECONDS)
		here.timeout = HERE_SECONDS;
	strbuf_puts(&path, m->point);
	strbuf_puts(&path, below);
	struct remote *remote = path.failed ? NULL : remote_new(&search->os, &here);
	if (remote && remote_add(remote, "ssh://localhost/", 0) == 0) {
		remote_path(remote, path.data);
		see(search, remote, true, d->nfs, proof);
	} else {
		search->failed = true;
	}
	const struct k_statx *st = &proof->st;
	if (proof->why.len == 0 && (!(st->mask & K_STATX_MNT_ID) || st->mnt_id != m->old_id))
		strbuf_puts(&proof->why, "its path leads to another mount");
	d->place.dev_major = st->dev_major;
	d->place.dev_minor = st->dev_minor;
	d->place.mount = st->mnt_id;
	remote_free(remote, false);
	strbuf_destroy(&path);
	return proof->why.len == 0 && !search->failed;
}

/** Compare the file system IDs of directories on NFS.  @return as for delegate_compare_fs(). */
static const char *compare_fs(SEARCH *search, const struct delegate_proof *here,
                              const struct delegate_proof *there)
{
	char *volumes = NULL;
	size_t len;
	if (os_read_kernel(&search->os, AT_FDCWD, "/proc/fs/nfsfs/volumes", VOLUMES_MAX, &volumes,
	                   &len) != 0)
		search->failed |= errno == ENOMEM;
	const char *wrong = delegate_compare_fs(volumes ? volumes : "", here, there);
	free(volumes);
	return wrong;
}

/** Prove that the server shows the directory of a mount, and send the request for the search.
    @why [out]  The reason if the request is not sent; appended.
    @return whether the request was sent. */
static bool prove(SEARCH *search, const struct search_mount *m, const char *below,
                  struct search_delegated *d, struct strbuf *why)
{
	struct delegate_proof here = {0}, there = {0};
	const char *wrong = NULL;
	bool asked = false;
	if (!see_here(search, m, below, d, &here)) {
		strbuf_printf(why, "it cannot be looked at here: %s", strbuf_str(&here.why));
		goto out;
	}
	d->remote = remote_new(&search->os, &search->remotes.transport);
	if (!d->remote || remote_add(d->remote, strbuf_str(&d->root), d->index) != 0) {
		search->failed = true;
		goto out;
	}
	struct remote_entry got;
	if (remote_next(d->remote, &got)) {
		wrong = "its source names no server";
		goto out;
	}
	remote_path(d->remote, strbuf_str(&d->path));
	remote_keep(d->remote);
	if (!see(search, d->remote, false, d->nfs, &there)) {
		strbuf_printf(why, "its server: %s", strbuf_str(&there.why));
		goto out;
	}
	wrong = delegate_compare(&here, &there, d->nfs);
	if (!wrong && d->nfs)
		wrong = compare_fs(search, &here, &there);
	const struct talk_request request = request_of(search, d);
	asked = !wrong && !search->failed && remote_again(d->remote, &request);
	if (!wrong && !asked)
		wrong = "the connection ended";
out:
	strbuf_puts(why, wrong ? wrong : "");
	delegate_proof_destroy(&here);
	delegate_proof_destroy(&there);
	return asked;
}

bool search_delegate(SEARCH *search, const struct search_mount *m, const char *below,
                     const char *name, unsigned wanted)
{
	if (!search->remotes.delegates || !m || !m->source || atomic_load(&search->cancelled))
		return false;
	struct strbuf why = {0};
	const char *wrong = delegate_unfit(search->flags, &search->more, search->want.info);
	struct search_delegated *d = calloc(1, sizeof(*d));
	if (!d) {
		search->failed = true;
		return false;
	}
	d->place.name_root = search->root.len;
	d->index = search->roots.next - 1;
	d->wanted = wanted;
	d->nfs = strcmp(m->type, "fuse.sshfs") != 0;
	strbuf_puts(&d->name, name);
	if (!wrong && (!*name || !m->point))
		wrong = "it has no name in this search";
	if (!wrong) {
		strbuf_puts(&why, m->point);
		strbuf_puts(&why, below);
		if (search_mounts_below(&search->mounts, m->id, strbuf_str(&why)))
			wrong = "another mount is on it";
		strbuf_reset(&why);
	}
	if (!wrong)
		wrong = delegate_place(m, below, search->remotes.text.data + search->remotes.login,
		                       os_geteuid(&search->os), &d->root, &d->path);
	search->failed |= d->name.failed || d->root.failed || d->path.failed;
	bool asked = !wrong && !search->failed && prove(search, m, below, d, &why);
	if (asked) {
		d->next = search->remotes.delegated;
		search->remotes.delegated = d;
	} else {
		delegated_free(d, false);
		if (search->more.undelegated && !search->failed
		    && !atomic_load(&search->cancelled))
			search->more.undelegated(search->more.arg, name,
			                         wrong ? wrong : strbuf_str(&why));
	}
	strbuf_destroy(&why);
	return asked;
}

bool search_delegate_root(SEARCH *search)
{
	const struct search_mount *m = search_mount_find(&search->mounts, search->root.mount);
	const char *place = strbuf_str(&search->root.place.path);
	if (!m || !m->source || !m->point)
		return false;
	size_t point = strlen(m->point);
	point -= m->point[point - 1] == '/';
	if (!*place || strncmp(place, m->point, point) != 0
	    || (place[point] && place[point] != '/'))
		return false;
	struct strbuf name = {0};
	strbuf_add(&name, search->root.name, search->root.len);
	bool asked = search_delegate(search, m, strcmp(place + point, "/") ? place + point : "",
	                             strbuf_str(&name), MOUNT_BELOW);
	strbuf_destroy(&name);
	return asked;
}

bool search_delegated_turn(SEARCH *search, int ms)
{
	bool more = false;
	int n = 0;
	for (struct search_delegated *d = search->remotes.delegated; d; d = d->next)
		++n;
	for (struct search_delegated **at = &search->remotes.delegated; *at;) {
		struct search_delegated *d = *at;
		const struct talk_request request = request_of(search, d);
		int rc = remote_turn(d->remote, &request, ms / n, &search->counts);
		search->failed |= rc < 0;
		more |= rc > 0;
		if (rc > 0) {
			at = &d->next;
		} else {
			*at = d->next;
			delegated_free(d, false);
		}
	}
	return more;
}

const struct search_delegated_place *search_delegated_next(SEARCH *search,
                                                           struct remote_entry *got)
{
	struct search_delegated *d = search->remotes.delegated;
	while (d && !remote_next(d->remote, got))
		d = d->next;
	if (d)
		got->root = d->name.data;
	return d ? &d->place : NULL;
}
