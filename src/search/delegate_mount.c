/* SPDX-License-Identifier: MIT */
/* Where a mount leads, what can be delegated, and whether two directories are the same (pure). */
#include "search/delegate.h"

#include "mountopts/optlist.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { PROOF_MAX = 256 * 1024 };

static bool is_sshfs(const char *fstype)
{
	return fstype && strcmp(fstype, "fuse.sshfs") == 0;
}

static bool is_nfs(const char *fstype)
{
	return fstype && (strcmp(fstype, "nfs") == 0 || strcmp(fstype, "nfs4") == 0);
}

bool delegate_type(const char *fstype)
{
	return is_sshfs(fstype) || is_nfs(fstype);
}

/** Append "ssh://[user@]host/".  @login  [user@]host of n bytes, whose brackets are dropped. */
static const char *put_root(const char *login, size_t n, struct strbuf *root)
{
	const char *at = memrchr(login, '@', n), *host = at ? at + 1 : login;
	const char *end = login + n;
	if (end - host >= 2 && *host == '[' && end[-1] == ']') {
		++host;
		--end;
	}
	if (host == end)
		return "its source names no server";
	bool address = memchr(host, ':', (size_t)(end - host));
	strbuf_puts(root, "ssh://");
	if (at)
		strbuf_add(root, login, (size_t)(at + 1 - login));
	strbuf_puts(root, address ? "[" : "");
	strbuf_add(root, host, (size_t)(end - host));
	strbuf_puts(root, address ? "]/" : "/");
	return memchr(login, '/', n) ? "its source names no server" : NULL;
}

/** Append a path to one without a final slash.  @below  "", or it begins with '/'. */
static void put_below(struct strbuf *path, const char *below)
{
	if (*below && path->len > 0 && path->data[path->len - 1] == '/')
		--path->len;
	strbuf_puts(path, below);
}

/** The end of the server in "server:path": the colon; one in brackets belongs to an address. */
static const char *server_end(const char *source)
{
	const char *at = source;
	for (; *at && *at != ':'; ++at) {
		if (*at == '[' && !(at = strchr(at, ']')))
			return NULL;
	}
	return *at ? at : NULL;
}

/** Whether sshfs was mounted by this user, or by root. */
static bool is_trusted(const char *opts, unsigned uid)
{
	struct strbuf value = {0};
	char *end = NULL;
	unsigned long owner = ULONG_MAX;
	if (opts && opt_shown_value(opts, "user_id", &value) && value.len > 0)
		owner = strtoul(value.data, &end, 10);
	bool trusted = end && !*end && (owner == uid || owner == 0);
	strbuf_destroy(&value);
	return trusted;
}

const char *delegate_place(const struct search_mount *m, const char *below, const char *login,
                           unsigned uid, struct strbuf *root, struct strbuf *path)
{
	const char *source = m->source ? m->source : "", *colon = server_end(source), *wrong;
	if (!delegate_type(m->type) || !m->dir || *m->dir != '/')
		return "its file system is neither sshfs nor NFS";
	if (!colon)
		return "its source names no server";
	if (is_nfs(m->type)) {
		if (!*login)
			return "a login on its server is needed: --delegate=[USER@]HOST";
		if (colon[1] != '/')
			return "its source names no directory";
		wrong = put_root(login, strlen(login), root);
	} else {
		if (!is_trusted(m->opts, uid))
			return "another user mounted it";
		wrong = put_root(source, (size_t)(colon - source), root);
	}
	strbuf_puts(path, colon[1] ? colon + 1 : ".");
	put_below(path, m->dir[1] ? m->dir : "");
	put_below(path, below);
	return wrong;
}

const char *delegate_unfit(int flags, const struct search_more *more,
                           const struct query_info *info)
{
	/* What sshfs shows as it is on the server.  It makes inode and link numbers of its own. */
	const unsigned same = K_STATX_TYPE | K_STATX_MODE | K_STATX_UID | K_STATX_GID
	                      | K_STATX_SIZE | K_STATX_MTIME;
	if (flags & SEARCH_FOLLOW)
		return "symbolic links are followed, and may lead out of it";
	if (flags & (SEARCH_R_OK | SEARCH_W_OK | SEARCH_X_OK))
		return "access is checked for this user, not for the one on the server";
	if (more->xattrs)
		return "extended attributes are those of the mount";
	if (more->visit || (info && (info->has_actions || info->depth || info->unique
	                             || info->xdev || info->mount || info->ignore_race)))
		return "the expression does more than select";
	if (info && (info->mask & ~same || info->fstype || info->xtype
	             || info->levels & 1u << QUERY_ALL))
		return "a test may have another result on the server";
	return NULL;
}

void delegate_see(struct delegate_proof *proof, const struct remote_entry *entry, bool nfs)
{
	const struct talk_entry *e = &entry->entry;
	struct k_statx st;
	if (proof->why.len > 0 || proof->text.len > PROOF_MAX)
		return;
	if (e->err || !e->st) {
		strbuf_printf(&proof->why, "%s%s", e->len > 0 ? "of an object in it: " : "",
		              entry->why ? entry->why : strerror(e->err ? e->err : ENODATA));
		return;
	}
	memcpy(&st, e->st, sizeof(st));
	if (e->len == 0)
		proof->st = st;
	proof->entries += e->len > 0;
	strbuf_add(&proof->text, e->path, e->len + 1);
	strbuf_printf(&proof->text, "%o %u:%u %ju %jd %u ", st.mode, st.uid, st.gid,
	              (uintmax_t)st.size, (intmax_t)st.mtime.sec, e->type);
	if (nfs)
		strbuf_printf(&proof->text, "%ju %jd.%u %u ", (uintmax_t)st.ino,
		              (intmax_t)st.ctime.sec, st.ctime.nsec, st.mtime.nsec);
	strbuf_add(&proof->text, "", 1);
}

const char *delegate_compare(const struct delegate_proof *here, const struct delegate_proof *there,
                             bool nfs)
{
	/* Inode number and time of change identify a directory, even if nothing is in it. */
	if (here->entries == 0 && !nfs)
		return "nothing in the directory proves that the server shows the same one";
	if (here->text.len != there->text.len
	    || memcmp(here->text.data, there->text.data, here->text.len) != 0)
		return "the server shows another directory, or this one is changing";
	return NULL;
}

void delegate_proof_destroy(struct delegate_proof *proof)
{
	strbuf_destroy(&proof->text);
	strbuf_destroy(&proof->why);
}
