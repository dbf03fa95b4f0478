/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include "base/map64.h"
#include "base/words.h"
#include "os/file.h"
#include "path/resolve.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { CONFIG_MAX = 64 << 10, ENTRIES = 32 * 1024 };

/** Directories of helpers.  The last one is that of NixOS. */
static const char *const helper_dirs[] = {
	"usr/sbin", "usr/bin", "sbin", "bin", "usr/local/sbin", "run/current-system/sw/bin",
};
enum { HELPER_DIRS = sizeof(helper_dirs) / sizeof(*helper_dirs) };

enum known { ABSENT, EXISTS, UNKNOWN };

struct host_system {
	struct os *os;
	int root;                         /* O_PATH */
	const char *root_name;
	struct mounts_paths *paths;
	const char *dirs[HELPER_DIRS];    /* the helper_dirs that may be accessed */
	size_t ndirs;
	struct map64 helpers;             /* hash of the name -> enum known */
	bool listed, complete;            /* names were read; names are complete */
	struct map64 names;               /* of the administrator's units */
	bool swap_read;
	char swap_file[PATH_MAX];
};

/** Whether a path below ROOT may be accessed; errno is that of mounts_path_block(). */
static bool may_touch(struct host_system *sys, const char *path)
{
	char name[PATH_MAX];
	int n = snprintf(name, sizeof(name), "%s/%s",
	                 strcmp(sys->root_name, "/") == 0 ? "" : sys->root_name, path);
	return n > 0 && (size_t)n < sizeof(name) && !mounts_path_block(sys->paths, name);
}

/** Open a path below ROOT that may be accessed.  A symlink to an absolute path is followed only if
    ROOT is the root of this process: may_touch() followed it from there. */
static int open_below(struct host_system *sys, const char *path, int flags)
{
	bool own = strcmp(sys->root_name, "/") == 0;
	int fd = os_openat2(sys->os, sys->root, path, flags,
	                    RESOLVE_NO_MAGICLINKS | (own ? RESOLVE_IN_ROOT : RESOLVE_BENEATH));
	return fd < 0 && errno == ENOSYS ? os_openat(sys->os, sys->root, path, flags) : fd;
}

struct host_system *host_system_new(struct os *os, const char *root, struct mounts_paths *paths)
{
	struct host_system *sys = calloc(1, sizeof(*sys));
	if (!sys)
		return NULL;
	*sys = (struct host_system){.os = os, .root_name = root, .paths = paths};
	sys->root = os_openat(os, AT_FDCWD, root, O_PATH | O_DIRECTORY);
	if (sys->root < 0) {
		host_system_free(sys);
		return NULL;
	}
	for (size_t i = 0; i < HELPER_DIRS; ++i) {
		if (may_touch(sys, helper_dirs[i]))
			sys->dirs[sys->ndirs++] = helper_dirs[i];
	}
	return sys;
}

void host_system_free(struct host_system *sys)
{
	if (!sys)
		return;
	os_close(sys->os, sys->root);
	map64_destroy(&sys->names);
	map64_destroy(&sys->helpers);
	free(sys);
}

int host_system_helper(struct host_system *sys, const char *name)
{
	if (!*name || strchr(name, '/'))
		return -1;
	uint32_t known = map64_get(&sys->helpers, map64_text(name));
	if (known != MAP64_NONE)
		return known == UNKNOWN ? -1 : (int)known;
	/* Do not follow a symlink with this name: it could lead anywhere. */
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct k_statx st;
	known = sys->ndirs == 0 ? UNKNOWN : ABSENT;
	for (size_t i = 0; known != EXISTS && i < sys->ndirs; ++i) {
		int dir = open_below(sys, sys->dirs[i], O_PATH | O_DIRECTORY);
		if (dir >= 0 && os_statx(sys->os, dir, name, flags, 0, &st) == 0)
			known = EXISTS;
		else if (errno == EACCES)
			known = UNKNOWN;
		os_close(sys->os, dir);
	}
	map64_put(&sys->helpers, map64_text(name), known);
	return known == UNKNOWN ? -1 : (int)known;
}

/** Add the names in a directory, and close it.  @return whether all names were read. */
static bool list_names(struct host_system *sys, int fd)
{
	_Alignas(struct k_dirent) char buf[ENTRIES];
	struct os_dir dir;
	bool complete = true;
	os_dir_begin(&dir, sys->os, fd, buf, sizeof(buf));
	for (const char *name; (name = os_dir_next(&dir)) != NULL;)
		complete &= map64_put(&sys->names, map64_text(name), 0) != MAP64_NONE;
	os_close(sys->os, fd);
	return complete && dir.error == 0;
}

bool host_system_lacks_unit(struct host_system *sys, const char *name)
{
	static const char *const dirs[] = {"etc/systemd/system", "run/systemd/system"};
	/* Below another root a symlink may lead to another place than the one checked here. */
	if (strcmp(sys->root_name, "/") != 0)
		return false;
	if (!sys->listed) {
		sys->listed = sys->complete = true;
		for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); ++i) {
			int dir = may_touch(sys, dirs[i])
				? open_below(sys, dirs[i], O_RDONLY | O_DIRECTORY) : -1;
			sys->complete &= dir >= 0 ? list_names(sys, dir)
			                          : errno == ENOENT || errno == ENOTDIR;
		}
	}
	return sys->complete && map64_get(&sys->names, map64_text(name)) == MAP64_NONE;
}

const char *host_system_swap_file(struct host_system *sys)
{
	static const char config[] = "etc/dphys-swapfile", key[] = "CONF_SWAPFILE=";
	char *text;
	size_t len;
	if (!sys->swap_read) {
		sys->swap_read = true;
		if (!may_touch(sys, config) || os_read_regular(sys->os, sys->root, config,
		                                               CONFIG_MAX, &text, &len) != 0)
			return NULL;
		strcpy(sys->swap_file, "/var/swap");
		for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
			const char *value = at + sizeof(key) - 1;
			if (strncmp(at, key, sizeof(key) - 1) == 0)
				snprintf(sys->swap_file, sizeof(sys->swap_file), "%.*s",
				         (int)strcspn(value, " \t\r\n"), value);
		}
		free(text);
	}
	return *sys->swap_file ? sys->swap_file : NULL;
}

bool host_system_is(struct host_system *sys, int fd, const char *path)
{
	struct k_statx one, other;
	const int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	const char *root = strcmp(sys->root_name, "/") == 0 ? "" : sys->root_name;
	struct strbuf place = {0};
	int file = -1;
	if (mounts_follow_below(sys->paths, root, path, &place) == PATH_SEEN) {
		const char *name = word_below(strbuf_str(&place), root);
		file = path_open_plain(sys->os, sys->root, name + strspn(name, "/"), O_PATH, 0);
	}
	strbuf_destroy(&place);
	bool same = file >= 0 && os_statx(sys->os, fd, "", flags, K_STATX_INO, &one) == 0
	            && os_statx(sys->os, file, "", flags, K_STATX_INO, &other) == 0
	            && one.ino == other.ino
	            && one.dev_major == other.dev_major && one.dev_minor == other.dev_minor;
	os_close(sys->os, file);
	return same;
}
