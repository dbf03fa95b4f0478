/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include "base/array.h"
#include "base/words.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { TYPES_MAX = 8 << 20 /* bytes of modules.alias */ };

static int look(struct host *host, const char *path, unsigned mask, struct k_statx *st)
{
	return mounts_look(host->in.paths, path, mask, st);
}

/** The prefix of a path below ROOT: "" or ROOT. */
static const char *root_prefix(const struct host *host)
{
	return strcmp(host->in.root, "/") == 0 ? "" : host->in.root;
}

enum path_followed host_follow(struct host *host, const char *path, struct strbuf *out)
{
	bool below = host->in.live && strncmp(path, "/dev/", 5) != 0;
	return mounts_follow_below(host->in.paths, below ? root_prefix(host) : "", path, out);
}

enum host_dangling host_dangles(struct host *host, const char *path, struct strbuf *part)
{
	struct strbuf place = {0}, above = {0};
	struct k_statx st;
	enum host_dangling what = HOST_NOT_DANGLING;
	enum path_followed known = PATH_SEEN;
	strbuf_puts(&above, root_prefix(host));
	for (size_t n = 0, end; known == PATH_SEEN && !what && path[n] == '/'; n = end) {
		end = n + 1 + strcspn(path + n + 1, "/");
		strbuf_reset(part);
		strbuf_add(part, path, end);
		known = PATH_UNTOUCHED;
		if (!part->failed)
			known = host_follow(host, strbuf_str(part), &place);
		/* The symlink itself: its parent was already followed. */
		strbuf_add(&above, path + n, end - n);
		if (known == PATH_MISSING && look(host, strbuf_str(&above), K_STATX_TYPE, &st) == 0)
			what = HOST_DANGLING_LINK;
		else if (known == PATH_SEEN && path[end]
		         && look(host, strbuf_str(&place), K_STATX_TYPE, &st) == 0
		         && !S_ISDIR(st.mode))
			what = HOST_NOT_A_DIRECTORY;
		strbuf_reset(&above);
		strbuf_puts(&above, strbuf_str(&place));
	}
	strbuf_destroy(&place);
	strbuf_destroy(&above);
	return what;
}

/** Look at a path.  @real [out]  The path without symlinks, for host_look(); NULL: unknown. */
static enum fact_kind look_once(struct host *host, const char *path, const char **real)
{
	struct k_statx st;
	struct strbuf place = {0};
	enum fact_kind kind = FACT_UNKNOWN;
	enum path_followed known = host_follow(host, path, &place);
	const char *found = strbuf_str(&place);
	const char *root = strncmp(path, "/dev/", 5) == 0 ? "" : root_prefix(host);
	/* NULL: a symlink leads out of ROOT, which leads elsewhere in a system with ROOT as "/". */
	const char *inside = word_below(found, root);
	if (known == PATH_MISSING && inside)
		kind = errno == ENOENT || errno == ENOTDIR ? FACT_MISSING : FACT_UNKNOWN;
	else if (known == PATH_SEEN && inside && look(host, found, K_STATX_TYPE, &st) == 0)
		kind = S_ISDIR(st.mode)   ? FACT_DIR : S_ISREG(st.mode) ? FACT_FILE
		       : S_ISBLK(st.mode) ? FACT_BLOCK : FACT_OTHER;
	/* systemctl mask creates symlinks to /dev/null, which may be missing in a system that is
	   not running. */
	if (known == PATH_MISSING && inside && strcmp(inside, "/dev/null") == 0)
		kind = FACT_OTHER;
	if (kind != FACT_UNKNOWN) {
		inside = *inside ? inside : "/";
		*real = arena_strndup(&host->looked.arena, inside, strlen(inside));
		host->nomem |= place.failed || !*real;
	}
	strbuf_destroy(&place);
	return kind;
}

enum fact_kind host_look(void *arg, const char *path, struct strbuf *real)
{
	struct host *host = arg;
	size_t known = host->looked.count;
	uint32_t at;
	if (!ARRAY_ROOM(host->looks, known, &host->looks_room)
	    || intern_put(&host->looked, path, strlen(path), &at) != 0) {
		host->nomem = true;
		return FACT_UNKNOWN;
	}
	assert(at <= known);
	struct host_looked *it = &host->looks[at];
	if (at == known) {
		*it = (struct host_looked){0};
		it->kind = look_once(host, path, &it->real);
	}
	if (real && it->real)
		strbuf_puts(real, it->real);
	return it->kind;
}

int host_open_to_all(void *arg, const char *path)
{
	struct host *host = arg;
	struct k_statx st;
	struct strbuf place = {0};
	size_t root = strlen(root_prefix(host));
	int open = host_follow(host, path, &place) == PATH_SEEN && !place.failed ? 1 : -1;
	/* Check each ancestor, from the end up to ROOT. */
	while (open > 0 && place.len > root) {
		if (look(host, strbuf_str(&place), K_STATX_TYPE | K_STATX_MODE, &st) != 0)
			open = -1;
		else
			open = (st.mode & (S_ISDIR(st.mode) ? S_IXOTH : S_IROTH)) != 0;
		while (place.data[--place.len] != '/')
			;
		place.data[place.len] = '\0';
	}
	host->nomem |= place.failed;
	strbuf_destroy(&place);
	return open;
}

/** Whether a text contains a type after another text: in /proc/filesystems after a tab, in
    modules.alias after "alias fs-". */
static bool has_type(const char *text, const char *before, const char *type)
{
	size_t n = strlen(type), head = strlen(before);
	for (const char *at = text; (at = strstr(at, before)) != NULL; at += head) {
		if (strncmp(at + head, type, n) == 0
		    && (at[head + n] == '\n' || at[head + n] == ' '))
			return true;
	}
	return false;
}

int host_fstype(void *arg, const char *fstype)
{
	struct host *host = arg;
	struct os *os = host->in.os;
	size_t len;
	/* A system with another root runs another kernel. */
	if (strcmp(host->in.root, "/") != 0 || strpbrk(fstype, " \n"))
		return -1;
	if (!host->types_read) {
		host->types_read = true;
		char *release = os_uname(os, true);
		struct strbuf path = {0};
		os_read_file(os, AT_FDCWD, "/proc/filesystems", TYPES_MAX, &host->filesystems,
		             &len);
		if (release)
			strbuf_printf(&path, "/lib/modules/%s/modules.alias", release);
		const char *modules = strbuf_text(&path);
		host->nomem |= !modules;
		if (modules && *modules && !mounts_path_block(host->in.paths, modules))
			os_read_file(os, AT_FDCWD, modules, TYPES_MAX, &host->modules, &len);
		strbuf_destroy(&path);
		free(release);
	}
	if ((host->filesystems && has_type(host->filesystems, "\t", fstype))
	    || (host->modules && has_type(host->modules, "alias fs-", fstype)))
		return 1;
	return host->filesystems && host->modules ? 0 : -1;
}

/** The first two numbers of a version as one; 0: not a version. */
static uint64_t version_number(const char *text)
{
	uint64_t major = 0, minor = 0;
	const char *at = word_number(text, &major);
	if (!at || *at != '.' || !word_number(at + 1, &minor) || major > UINT16_MAX)
		return 0;
	return major << 32 | (minor & UINT32_MAX);
}

int host_kernel_since(void *arg, const char *version)
{
	struct host *host = arg;
	/* A system with another root runs another kernel. */
	char *release = strcmp(host->in.root, "/") == 0 ? os_uname(host->in.os, true) : NULL;
	uint64_t running = release ? version_number(release) : 0;
	free(release);
	return running == 0 ? -1 : running >= version_number(version);
}
