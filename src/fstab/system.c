/* SPDX-License-Identifier: MIT */
/*
 * What the system in ROOT has.
 *
 * Of units those mount something at a boot that something pulls in (a link in *.wants or
 * *.requires), or that systemd's generators other than the one for the fstab have made.  A
 * unit that lies there may be unused, or be named by another; that is not read.
 */
#include "fstab/system_impl.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool system_may_touch(struct fstab_system *sys, const char *path)
{
	char name[PATH_MAX];
	int n = snprintf(name, sizeof(name), "%s/%s", strcmp(sys->root_name, "/") == 0 ? "" : sys->root_name, path);
	return n > 0 && (size_t)n < sizeof(name) && !(sys->blocks && sys->blocks(sys->arg, name));
}

int system_open(struct fstab_system *sys, const char *path, int flags)
{
	bool own = strcmp(sys->root_name, "/") == 0;
	int fd = os_openat2(sys->os, sys->root, path, flags,
	                    K_RESOLVE_NO_MAGICLINKS | (own ? K_RESOLVE_IN_ROOT : K_RESOLVE_BENEATH));
	return fd < 0 && errno == ENOSYS ? os_openat(sys->os, sys->root, path, flags) : fd;
}

struct fstab_system *fstab_system_new(struct os *os, const char *root,
                                      bool (*blocks)(void *arg, const char *path), void *arg)
{
	static const char *const dirs[] = {
		"usr/sbin", "usr/bin", "sbin", "bin", "usr/local/sbin", "run/current-system/sw/bin",
	};
	struct fstab_system *sys = calloc(1, sizeof(*sys));
	if (!sys)
		return NULL;
	*sys = (struct fstab_system){.os = os, .root_name = root, .blocks = blocks, .arg = arg};
	arena_init(&sys->arena);
	map64_init(&sys->units);
	map64_init(&sys->by_name);
	sys->root = os_openat(os, AT_FDCWD, root, O_PATH | O_DIRECTORY);
	if (sys->root < 0) {
		fstab_system_free(sys);
		return NULL;
	}
	size_t n = 0;
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); ++i) {
		if (system_may_touch(sys, dirs[i]))
			sys->dirs[n++] = dirs[i];
	}
	return sys;
}

void fstab_system_free(struct fstab_system *sys)
{
	if (!sys)
		return;
	int error = errno;
	os_close(sys->os, sys->root);
	arena_destroy(&sys->arena);
	map64_destroy(&sys->units);
	map64_destroy(&sys->by_name);
	free(sys->known);
	free(sys->names);
	free(sys);
	errno = error;
}

bool fstab_system_failed(const struct fstab_system *sys)
{
	return sys->failed;
}

int fstab_system_helper(struct fstab_system *sys, const char *name)
{
	size_t n = strlen(name);
	if (n == 0 || n >= HELPER_NAME_MAX || strchr(name, '/'))
		return -1;
	for (size_t i = 0; i < sys->nhelpers; ++i) {
		if (strcmp(sys->helpers[i].name, name) == 0)
			return sys->helpers[i].there;
	}
	/* Where a link of this name leads is not looked at: it could be anywhere. */
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct k_statx st;
	/* A system that has none of these directories keeps its helpers elsewhere: NixOS. */
	bool there = false, unseen = !sys->dirs[0];
	for (size_t i = 0; !there && sys->dirs[i]; ++i) {
		int dir = system_open(sys, sys->dirs[i], O_PATH | O_DIRECTORY);
		there = dir >= 0 && os_statx(sys->os, dir, name, flags, 0, &st) == 0;
		unseen |= !there && errno == EACCES;
		os_close(sys->os, dir);
	}
	if (sys->nhelpers < HELPERS_MAX) {
		struct helper *helper = &sys->helpers[sys->nhelpers++];
		memcpy(helper->name, name, n + 1);
		helper->there = there ? 1 : unseen ? -1 : 0;
	}
	return there ? 1 : unseen ? -1 : 0;
}

bool fstab_system_is(struct fstab_system *sys, int fd, const char *path)
{
	struct k_statx one, other;
	const int flags = AT_EMPTY_PATH | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	int file = system_may_touch(sys, path) ? system_open(sys, path, O_PATH) : -1;
	/* A link to an absolute path leads elsewhere in ROOT: not to another mount, which
	   may block. */
	if (file < 0)
		file = os_openat2(sys->os, sys->root, path, O_PATH, K_RESOLVE_NO_MAGICLINKS | K_RESOLVE_IN_ROOT | K_RESOLVE_NO_XDEV);
	bool same = file >= 0 && os_statx(sys->os, fd, "", flags, K_STATX_INO, &one) == 0
	            && os_statx(sys->os, file, "", flags, K_STATX_INO, &other) == 0 && one.ino == other.ino
	            && one.dev_major == other.dev_major && one.dev_minor == other.dev_minor;
	os_close(sys->os, file);
	return same;
}

/* Units. */

static struct unit *find_unit(const struct fstab_system *sys, const char *path)
{
	uint32_t i = map64_get(&sys->units, map64_text(path));
	for (; i != MAP64_NONE; i = sys->known[i].next) {
		if (strcmp(sys->known[i].path, path) == 0)
			return &sys->known[i];
	}
	return NULL;
}

/** Remember a unit.  What comes later is told by who knows better, but that what is
    masked by an admin mounts nothing, whoever pulls it in. */
static void add_unit(struct fstab_system *sys, const char *path, enum fstab_unit what, bool masked)
{
	struct unit *unit = find_unit(sys, path);
	if (unit && what == FSTAB_IDLE_UNIT)
		return;
	if (unit) {
		unit->masked |= masked;
		/* The line's automount stands beside the line's mount. */
		if (unit->what != FSTAB_AUTOMOUNT)
			unit->what = what;
		if (unit->masked)
			unit->what = FSTAB_NO_UNIT;
		return;
	}
	if (sys->nunits == sys->size) {
		size_t bigger = sys->size ? 2 * sys->size : 64;
		struct unit *known = realloc(sys->known, bigger * sizeof(*known));
		if (!known) {
			sys->failed = true;
			return;
		}
		sys->known = known;
		sys->size = bigger;
	}
	uint32_t i = (uint32_t)sys->nunits;
	struct unit *to = &sys->known[i];
	*to = (struct unit){.path = arena_strndup(&sys->arena, path, strlen(path)), .what = what, .masked = masked, .next = MAP64_NONE};
	uint32_t first = to->path ? map64_put(&sys->units, map64_text(path), i)
	                          : MAP64_NONE;
	if (first == MAP64_NONE) {
		sys->failed = true;
		return;
	}
	if (first != i) {
		to->next = sys->known[first].next;
		sys->known[first].next = i;
	}
	++sys->nunits;
}

/** Open a directory in another, if it is one: no link, nothing mounted. */
static int open_dir(struct fstab_system *sys, int dir, const char *name)
{
	int fd = os_openat2(sys->os, dir, name, O_RDONLY | O_DIRECTORY,
	                    K_RESOLVE_NO_XDEV | K_RESOLVE_NO_SYMLINKS);
	return fd < 0 && errno == ENOSYS ? os_opendir(sys->os, dir, name) : fd;
}

bool system_is_masked(struct fstab_system *sys, int dir, const struct k_dirent *entry)
{
	static const char null[] = "/dev/null";
	char to[sizeof(null) + 1];
	return (entry->type == DT_LNK || entry->type == DT_UNKNOWN)
	       && os_readlinkat(sys->os, dir, entry->name, to, sizeof(to)) == sizeof(null) - 1
	       && memcmp(to, null, sizeof(null) - 1) == 0;
}

/** Whether the unit of a generator is of this one, as each writes at its head: 1, 0; -1: it cannot be read. */
static int is_by(struct fstab_system *sys, int dir, const char *name, const char *generator)
{
	char *text;
	size_t len;
	if (os_read_regular(sys->os, dir, name, UNIT_MAX, &text, &len) != 0)
		return -1;
	int is = strstr(text, generator) != NULL;
	free(text);
	return is;
}

/** Whether it is of the one that goes by the types of partitions: systemd-gpt-auto-generator(8). */
static bool is_of_partition(struct fstab_system *sys, int dir, const char *name)
{
	return is_by(sys, dir, name, "systemd-gpt-auto-generator") == 1;
}

/** Whose the units of a directory are. */
enum whose {
	WHOSE_FILES,     /* files, and links in *.wants that pull them in */
	WHOSE_PULLED,    /* of such a directory of links */
	WHOSE_LATE,      /* of generators that come after the one of the fstab */
	WHOSE_FSTAB,     /* of that */
};

bool system_unit_path(const char *name, size_t len, char *path, bool *automount)
{
	char mount[512];
	bool swap = len > 5 && len + 2 < sizeof(mount) && strcmp(name + len - 5, ".swap") == 0;
	if (swap)
		snprintf(mount, sizeof(mount), "%.*s.mount", (int)(len - 5), name);
	return fstab_unit_path(swap ? mount : name, path, automount);
}

/** Take a unit that mounts something, or swaps onto it: also by what its name is a link to. */
static void take_unit(struct fstab_system *sys, const char *path, enum fstab_unit what)
{
	char to[PATH_MAX];
	add_unit(sys, path, what, false);
	ssize_t n = strncmp(path, "/dev/disk/", 10) == 0 && system_may_touch(sys, "dev")
	            ? os_readlinkat(sys->os, sys->root, path + 1, to, sizeof(to)) : 0;
	const char *last = n > 0 ? memrchr(to, '/', (size_t)n) : NULL;
	char device[NAME_MAX + 8];
	if (last && snprintf(device, sizeof(device), "/dev%.*s", (int)(to + n - last), last) < (int)sizeof(device))
		add_unit(sys, device, what, false);
}

/** Take the units that a directory has, which is closed.
    @pull  What it pulls in, of WHOSE_PULLED. */
static void list_units(struct fstab_system *sys, int dir, enum units_dir of, enum whose whose, unsigned pull)
{
	_Alignas(struct k_dirent) char buf[32 * 1024];
	ssize_t n = 0;
	while (dir >= 0 && (n = os_getdents(sys->os, dir, buf, sizeof(buf))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while ((entry = os_dirent(buf, (size_t)n, &at, &len)) != NULL) {
			char path[512];
			bool automount;
			bool wants = len > 6 && strcmp(entry->name + len - 6, ".wants") == 0;
			bool requires = len > 9 && strcmp(entry->name + len - 9, ".requires") == 0;
			if (wants || requires) {
				if (whose == WHOSE_FILES)
					list_units(sys, open_dir(sys, dir, entry->name), of, WHOSE_PULLED, system_pull(entry->name, len));
			} else if (len < sizeof(path) - 1 && system_unit_path(entry->name, len, path, &automount)) {
				bool masked = whose != WHOSE_FSTAB && whose != WHOSE_LATE && system_is_masked(sys, dir, entry);
				struct unit *unit;
				if (whose == WHOSE_PULLED)
					system_note_pull(sys, entry->name, len, masked ? PULL_TAKEN : pull);
				else
					system_note(sys, of, entry->name, len, masked);
				if (whose == WHOSE_FSTAB) {
					add_unit(sys, path, automount ? FSTAB_AUTOMOUNT : FSTAB_NO_UNIT, false);
					if (!automount && (unit = find_unit(sys, path)) != NULL)
						unit->file = arena_strndup(&sys->arena, entry->name, len);
				} else if (whose != WHOSE_FILES)
					take_unit(sys, path, whose == WHOSE_LATE && is_of_partition(sys, dir, entry->name)
					          ? FSTAB_GPT_UNIT : FSTAB_OWN_UNIT);
				else if (!automount && masked)
					add_unit(sys, path, FSTAB_NO_UNIT, true);
				else if (!automount)
					add_unit(sys, path, FSTAB_IDLE_UNIT, false);
			} else if (whose != WHOSE_PULLED) {
				system_note(sys, of, entry->name, len, false);
			}
		}
	}
	sys->unlisted |= n < 0;
	os_close(sys->os, dir);
}

/** The same of one of them. */
static void list_dir(struct fstab_system *sys, enum units_dir of, enum whose whose)
{
	int dir = system_may_touch(sys, units_dirs[of]) ? system_open(sys, units_dirs[of], O_RDONLY | O_DIRECTORY) : -1;
	bool known = dir >= 0 || errno == ENOENT || errno == ENOTDIR;
	/* Where there are both, one is a link to the other. */
	sys->unlisted |= !known && (of != UNITS_LIB || !sys->usr_listed);
	sys->usr_listed |= of == UNITS_USR && dir >= 0;
	list_units(sys, dir, of, whose, 0);
}

/** Take the swap file that dphys-swapfile(8) makes, and swaps onto. */
static void take_dphys(struct fstab_system *sys)
{
	static const char key[] = "CONF_SWAPFILE=";
	char *text, name[PATH_MAX] = "/var/swap";
	size_t len;
	if (!system_may_touch(sys, "etc/dphys-swapfile") || os_read_regular(sys->os, sys->root, "etc/dphys-swapfile", UNIT_MAX, &text, &len) != 0)
		return;
	for (const char *at = text; *at; at += strcspn(at, "\n"), at += *at == '\n') {
		if (strncmp(at, key, sizeof(key) - 1) == 0)
			snprintf(name, sizeof(name), "%.*s", (int)strcspn(at + sizeof(key) - 1, " \t\r\n"), at + sizeof(key) - 1);
	}
	free(text);
	add_unit(sys, name, FSTAB_OWN_UNIT, false);
}

const char *const units_dirs[UNITS_DIRS] = {
	[UNITS_ETC] = "etc/systemd/system", [UNITS_RUN] = "run/systemd/system", [UNITS_GENERATOR] = "run/systemd/generator",
	[UNITS_LOCAL] = "usr/local/lib/systemd/system", [UNITS_USR] = "usr/lib/systemd/system", [UNITS_LIB] = "lib/systemd/system",
	[UNITS_LATE] = "run/systemd/generator.late",
};

void system_list(struct fstab_system *sys)
{
	/* What the fstab's generator made comes last: it says whose it is. */
	static const enum units_dir files[] = {UNITS_USR, UNITS_LIB, UNITS_LOCAL, UNITS_ETC, UNITS_RUN};
	if (sys->listed)
		return;
	sys->listed = true;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); ++i)
		list_dir(sys, files[i], WHOSE_FILES);
	take_dphys(sys);
	list_dir(sys, UNITS_LATE, WHOSE_LATE);
	list_dir(sys, UNITS_GENERATOR, WHOSE_FSTAB);
}

enum fstab_unit fstab_system_unit(struct fstab_system *sys, const char *target)
{
	system_list(sys);
	struct unit *unit = find_unit(sys, target);
	/* Other generators write there as well: coreos-boot-mount-generator, zram-generator. */
	if (unit && unit->file && unit->what == FSTAB_NO_UNIT && !unit->masked) {
		char path[sizeof("run/systemd/generator/") + NAME_MAX];
		snprintf(path, sizeof(path), "run/systemd/generator/%s", unit->file);
		if (is_by(sys, sys->root, path, "systemd-fstab-generator") == 0 && is_by(sys, sys->root, path, "SourcePath=/etc/fstab") == 0)
			unit->what = FSTAB_OWN_UNIT;
		unit->file = NULL;
	}
	return unit ? unit->what : FSTAB_NO_UNIT;
}
