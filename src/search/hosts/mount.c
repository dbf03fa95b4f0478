/* SPDX-License-Identifier: MIT */
/* Find the server of a mount, check whether the mount can be delegated, and compare directories
   (pure). */
#include "search/hosts/delegate.h"

#include "base/escape.h"
#include "base/map64.h"
#include "base/words.h"
#include "mountopts/optlist.h"

#include <byteswap.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/** Append "ssh://[user@]host/".
    @login  [user@]host, n bytes; brackets around the host are dropped.
    @return NULL, or the reason why this is not possible, as a phrase. */
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

/** Append a path to a path, with one slash in between.
    @below  "", or begins with '/'. */
static void put_below(struct strbuf *path, const char *below)
{
	if (*below && path->len > 0 && path->data[path->len - 1] == '/')
		--path->len;
	strbuf_puts(path, below);
}

/** Find the colon that ends the server in "server:path".  A colon in brackets belongs to an
    address.
    @return NULL: not found. */
static const char *server_end(const char *source)
{
	const char *at = source;
	for (; *at && *at != ':'; ++at) {
		if (*at == '[' && !(at = strchr(at, ']')))
			return NULL;
	}
	return *at ? at : NULL;
}

/** Whether sshfs was mounted by this user or by root, according to the option user_id. */
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
	/* The attributes that sshfs shows as they are on the server.  Inode and link numbers are
	   made by sshfs. */
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

bool delegate_is_list(const char *exports, const char *path)
{
	static const char flag[] = ",v4root";
	struct strbuf name = {0};
	size_t nearest = 0;
	bool is_list = false;
	for (const char *line = exports, *end; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		strbuf_reset(&name);
		unescape_octal_add(&name, line, strcspn(line, "\t\n"));
		if (*line == '#' || name.len < nearest
		    || !word_below(path, strbuf_str(&name)))
			continue;
		/* A directory may be exported to a client, and be a list of exports for another
		   client. */
		is_list = (is_list && name.len == nearest)
		          || memmem(line, (size_t)(end - line), flag, sizeof(flag) - 1);
		nearest = name.len;
	}
	strbuf_destroy(&name);
	return is_list;
}

void delegate_see(struct delegate_proof *proof, const struct remote_entry *entry, bool nfs)
{
	const struct talk_entry *e = &entry->entry;
	struct k_statx st;
	if (proof->why.len > 0)
		return;
	if (e->err || !e->st) {
		const char *why = entry->why ? entry->why : strerror(e->err ? e->err : ENODATA);
		if (e->len == 0 && e->err == EBUSY)
			why = "something else is mounted on it";
		if (e->len == 0 && e->err == EXDEV)
			why = "NFS shows only the exports below it";
		strbuf_printf(&proof->why, "%s%s", e->len > 0 ? "of an object in it: " : "", why);
		return;
	}
	memcpy(&st, e->st, sizeof(st));
	if (e->len == 0)
		proof->st = st;
	proof->entries += e->len > 0;
	strbuf_reset(&proof->text);
	strbuf_add(&proof->text, e->path, e->len + 1);
	strbuf_printf(&proof->text, "%o %u:%u %ju %jd %u ", st.mode, st.uid, st.gid,
	              (uintmax_t)st.size, (intmax_t)st.mtime.sec, e->type);
	if (nfs)
		strbuf_printf(&proof->text, "%ju %jd.%u %u ", (uintmax_t)st.ino,
		              (intmax_t)st.ctime.sec, st.ctime.nsec, st.mtime.nsec);
	if (!proof->text.failed)
		proof->digest = map64_bytes(proof->digest, proof->text.data, proof->text.len);
}

const char *delegate_compare(const struct delegate_proof *here, const struct delegate_proof *there,
                             bool nfs)
{
	/* With sshfs an empty directory proves nothing.  NFS shows the inode and change time, which
	   identify the directory. */
	if (here->entries == 0 && !nfs)
		return "nothing in the directory proves that the server shows the same one";
	if (here->digest != there->digest || here->entries != there->entries)
		return "the server shows another directory, or this one is changing";
	return NULL;
}

/*
 * A Linux server sends as the ID of a file system: with NFS version 4, the 16 bytes of a UUID; with
 * version 3, the first half of these bytes XOR the second half, in the server's byte order.  This
 * UUID is the UUID on the disk, or f_fsid as hexadecimal text followed by zeros.  On ext4, f_fsid
 * is made from the UUID on the disk as for version 3.  Other IDs, such as by the export option
 * fsid=, prove nothing.
 */
const char *delegate_compare_fs(const char *volumes, const struct delegate_proof *here,
                                const struct delegate_proof *there)
{
	const uint64_t *ids = there->st.fs_ids;
	const uint64_t text = (uint64_t)bswap_32((uint32_t)(ids[0] >> 32)) << 32
	                      | bswap_32((uint32_t)ids[0]);
	char dev[32];
	snprintf(dev, sizeof(dev), "%u:%u", here->st.dev_major, here->st.dev_minor);
	for (const char *line = volumes; *line; line += *line != '\0') {
		char shown[sizeof(dev)];
		uint64_t major, minor;
		int n = sscanf(line, "v%*u %*s %*s %31s %" SCNx64 ":%" SCNx64, shown, &major,
		               &minor);
		line += strcspn(line, "\n");
		if (n != 3 || strcmp(shown, dev) != 0)
			continue;
		const uint64_t fsid[] = {bswap_64(major) ^ bswap_64(minor), major ^ minor};
		for (size_t i = 0; i < 2; ++i) {
			if (fsid[i] != 0
			    && (fsid[i] == ids[0] || fsid[i] == ids[1] || fsid[i] == text))
				return NULL;
		}
		return "the server has another ID for the file system, or an export has fsid=";
	}
	return "the ID of its file system is unknown: /proc/fs/nfsfs/volumes does not list it";
}

void delegate_proof_destroy(struct delegate_proof *proof)
{
	strbuf_destroy(&proof->text);
	strbuf_destroy(&proof->why);
}
