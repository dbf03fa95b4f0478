/* SPDX-License-Identifier: MIT */
/*
 * A name is gone over one component at a time: what is on the way is an entry as well, and
 * links are recorded as they are and followed by what they say.
 */
#include "cmd/snapshot_tree.h"

#include "base/strbuf.h"
#include "cmd/snapshot.h"
#include "os/change.h"
#include "os/file.h"
#include "os/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>

enum { LINKS_MAX = 40, TEXT_MAX = 8 << 20, ENTRIES_MAX = 200000 };

void snapshot_tree_init(struct snapshot_tree *tree)
{
	*tree = (struct snapshot_tree){.os = {.statx_works = true}};
	map64_init(&tree->noted);
	map64_init(&tree->by_path);
}

void snapshot_tree_destroy(struct snapshot_tree *tree)
{
	for (size_t i = 0; i < tree->nnotes; ++i)
		free(tree->notes[i].path);
	for (size_t i = 0; i < tree->count; ++i) {
		free(tree->entries[i].path);
		free(tree->entries[i].text);
	}
	free(tree->notes);
	free(tree->entries);
	map64_destroy(&tree->noted);
	map64_destroy(&tree->by_path);
}

/** Whether a name is of what a snapshot has: of /proc some files alone. */
static bool is_wanted(const char *path)
{
	static const char *const files[] = {
		SNAPSHOT_TABLE, "/proc/swaps", "/proc/cmdline", "/proc/filesystems", "/proc/sys/fs/mount-max",
	};
	if (strncmp(path, "/run/blkid/", 11) == 0 || strncmp(path, "/dev/fd", 7) == 0)
		return false;
	if (strncmp(path, "/proc/", 6) != 0)
		return true;
	for (size_t i = 0; i < sizeof(files) / sizeof(*files); ++i) {
		if (strcmp(path, files[i]) == 0)
			return true;
	}
	return false;
}

void snapshot_tree_note(void *arg, int dirfd, const char *path, int flags)
{
	struct snapshot_tree *tree = arg;
	char full[2 * PATH_MAX], self[64];
	int error = errno;
	if (*path == '/') {
		snprintf(full, sizeof(full), "%.*s", PATH_MAX, path);
	} else if (dirfd >= 0 && *path) {
		snprintf(self, sizeof(self), "/proc/self/fd/%d", dirfd);
		ssize_t n = os_readlinkat(&tree->os, AT_FDCWD, self, full, PATH_MAX);
		if (n <= 0 || *full != '/') {
			errno = error;
			return;
		}
		snprintf(full + n, sizeof(full) - (size_t)n, "%s%.*s", n == 1 ? "" : "/", PATH_MAX - 1, path);
	} else {
		errno = error;
		return;
	}
	flags &= O_PATH | O_NOFOLLOW | O_DIRECTORY;
	char head[2] = {(char)('0' + !!(flags & O_PATH) + 2 * !!(flags & O_NOFOLLOW)), flags & O_DIRECTORY ? 'd' : 'f'};
	uint64_t key = map64_bytes(map64_bytes(MAP64_BYTES, head, 2), full, strlen(full));
	if (is_wanted(full) && map64_get(&tree->noted, key) == MAP64_NONE) {
		if (tree->nnotes == tree->notes_room) {
			size_t room = tree->notes_room ? 2 * tree->notes_room : 256;
			struct snapshot_note *more = reallocarray(tree->notes, room, sizeof(*more));
			if (more) {
				tree->notes = more;
				tree->notes_room = room;
			}
		}
		char *copy = tree->nnotes < tree->notes_room ? strdup(full) : NULL;
		tree->failed |= !copy || map64_put(&tree->noted, key, 0) == MAP64_NONE;
		if (copy)
			tree->notes[tree->nnotes++] = (struct snapshot_note){copy, flags};
	}
	errno = error;
}

static struct snapshot_entry *find_entry(struct snapshot_tree *tree, const char *path)
{
	uint32_t i = map64_get(&tree->by_path, map64_text(path));
	return i != MAP64_NONE && strcmp(tree->entries[i].path, path) == 0 ? &tree->entries[i] : NULL;
}

void snapshot_tree_add(struct snapshot_tree *tree, enum snapshot_kind kind, const char *path, char *text)
{
	if (tree->count == tree->room && tree->count < ENTRIES_MAX) {
		size_t room = tree->room ? 2 * tree->room : 256;
		struct snapshot_entry *more = reallocarray(tree->entries, room, sizeof(*more));
		if (more) {
			tree->entries = more;
			tree->room = room;
		}
	}
	char *copy = tree->count < tree->room ? strdup(path) : NULL;
	if (!copy || map64_put(&tree->by_path, map64_text(path), (uint32_t)tree->count) == MAP64_NONE) {
		tree->failed = true;
		free(copy);
		free(text);
		return;
	}
	tree->entries[tree->count++] = (struct snapshot_entry){.path = copy, .kind = kind, .text = text};
}

struct snapshot_entry *snapshot_tree_find(struct snapshot_tree *tree, const char *path)
{
	char next[2 * PATH_MAX];
	struct snapshot_entry *entry = find_entry(tree, path);
	for (int i = 0; entry && entry->kind == SNAPSHOT_LINK && i < LINKS_MAX; ++i) {
		const char *slash = *entry->text == '/' ? NULL : strrchr(entry->path, '/');
		int head = slash ? (int)(slash - entry->path) + 1 : 0;
		snprintf(next, sizeof(next), "%.*s%s", head, entry->path, entry->text);
		entry = find_entry(tree, next);
	}
	return entry;
}

/** Look at what is at a path.  @return its entry; NULL: it is not recorded. */
static struct snapshot_entry *look(struct snapshot_tree *tree, const char *path)
{
	char buf[PATH_MAX];
	struct stat st;
	struct snapshot_entry *entry = find_entry(tree, path);
	if (entry)
		return entry;
	if (os_fstatat(&tree->os, AT_FDCWD, path, &st) != 0) {
		if (errno != ENOENT && errno != ENOTDIR)
			return NULL;
		snapshot_tree_add(tree, SNAPSHOT_MISSING, path, NULL);
	} else if (S_ISDIR(st.st_mode)) {
		snapshot_tree_add(tree, SNAPSHOT_DIR, path, NULL);
	} else if (S_ISREG(st.st_mode)) {
		snapshot_tree_add(tree, SNAPSHOT_FILE, path, NULL);
	} else if (S_ISLNK(st.st_mode)) {
		if (os_readlinkat(&tree->os, AT_FDCWD, path, buf, sizeof(buf)) < 0)
			return NULL;
		snapshot_tree_add(tree, SNAPSHOT_LINK, path, strdup(buf));
	} else if (S_ISBLK(st.st_mode)) {
		snprintf(buf, sizeof(buf), INSIDE_BLOCK "%u:%u", major(st.st_rdev), minor(st.st_rdev));
		snapshot_tree_add(tree, SNAPSHOT_SPECIAL, path, strdup(buf));
	} else {
		snapshot_tree_add(tree, SNAPSHOT_SPECIAL, path, strdup(INSIDE_OTHER));
	}
	entry = find_entry(tree, path);
	tree->failed |= !entry || ((entry->kind == SNAPSHOT_LINK || entry->kind == SNAPSHOT_SPECIAL) && !entry->text);
	return tree->failed ? NULL : entry;
}

/** Record a path, and all on the way.
    @return what is at its end, or NULL. */
static struct snapshot_entry *record_path(struct snapshot_tree *tree, const char *path, bool follow)
{
	char at[2 * PATH_MAX] = "", rest[2 * PATH_MAX], link[2 * PATH_MAX];
	unsigned links = 0;
	struct snapshot_entry *entry = NULL;
	snprintf(rest, sizeof(rest), "%s", path);
	for (;;) {
		size_t skip = strspn(rest, "/"), n = strcspn(rest + skip, "/"), len = strlen(at);
		if (n == 0)
			return entry;
		char *slash = strrchr(at, '/');
		bool up = n == 2 && memcmp(rest + skip, "..", 2) == 0, stays = n == 1 && rest[skip] == '.';
		if (len + n + 2 > PATH_MAX)
			return NULL;
		if (up && slash)
			*slash = '\0';
		if (!up && !stays)
			snprintf(at + len, sizeof(at) - len, "/%.*s", (int)n, rest + skip);
		memmove(rest, rest + skip + n, strlen(rest + skip + n) + 1);
		if (up || stays)
			continue;
		entry = look(tree, at);
		bool end = !rest[strspn(rest, "/")];
		if (!entry || (entry->kind != SNAPSHOT_DIR && entry->kind != SNAPSHOT_LINK))
			return end ? entry : NULL;
		if (entry->kind == SNAPSHOT_DIR || (end && !follow))
			continue;
		if (++links > LINKS_MAX || strlen(entry->text) + strlen(rest) + 2 > sizeof(link))
			return NULL;
		memcpy(link, rest, strlen(rest) + 1);
		size_t more = strlen(entry->text);
		memcpy(rest, entry->text, more);
		rest[more] = '/';
		memcpy(rest + more + 1, link, strlen(link) + 1);
		at[*entry->text == '/' ? 0 : len] = '\0';
	}
}

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), m = strlen(end);
	return n > m && strcmp(name + n - m, end) == 0;
}

/** Whether a directory of which an audit reads the entries has this one for it. */
static bool is_entry(const char *dir, const char *name)
{
	static const char *const ends[] = {".mount", ".automount", ".swap", ".wants", ".requires"};
	if (strstr(dir, "/systemd/")) {
		for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); ++i) {
			if (ends_with(name, ends[i]))
				return true;
		}
		return false;
	}
	return strncmp(dir, "/etc/", 5) != 0 || ends_with(name, ".conf");
}

/** Record the names of a directory. */
static void list(struct snapshot_tree *tree, const char *dir)
{
	union {
		struct k_dirent align;
		char bytes[32 * 1024];
	} buf;
	char path[2 * PATH_MAX];
	ssize_t n = 0;
	int fd = os_opendir(&tree->os, AT_FDCWD, dir);
	bool whole = fd >= 0;
	while (whole && (n = os_getdents(&tree->os, fd, buf.bytes, sizeof(buf.bytes))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while ((entry = os_dirent(buf.bytes, (size_t)n, &at, &len)) != NULL) {
			if (len == 0 || strcmp(entry->name, ".") == 0 || strcmp(entry->name, "..") == 0 || !is_entry(dir, entry->name))
				continue;
			snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX, dir, entry->name);
			look(tree, path);
		}
	}
	os_close(&tree->os, fd);
	struct snapshot_entry *own = find_entry(tree, dir);
	if (own)
		own->whole = whole && n == 0;
}

void snapshot_tree_record(struct snapshot_tree *tree)
{
	for (size_t i = 0; i < tree->nnotes && !tree->failed; ++i) {
		int flags = tree->notes[i].flags;
		struct snapshot_entry *entry = record_path(tree, tree->notes[i].path, !(flags & O_NOFOLLOW));
		if (!entry || flags & O_PATH)
			continue;
		size_t len;
		if (entry->kind == SNAPSHOT_DIR && !entry->whole) {
			char *path = strdup(entry->path);
			tree->failed |= !path;
			if (path)
				list(tree, path);
			free(path);
		} else if (entry->kind == SNAPSHOT_FILE && !entry->text && strncmp(entry->path, "/run/udev/", 10) != 0) {
			/* What is longer, or has a NUL, an audit does not read either. */
			if (os_read_regular(&tree->os, AT_FDCWD, entry->path, TEXT_MAX, &entry->text, &len) != 0)
				entry->text = NULL;
			entry->gone = !entry->text;
		}
	}
	static const char *const commented[] = {"/etc/fstab", "/etc/crypttab", "/etc/mtab"};
	for (size_t i = 0; i < sizeof(commented) / sizeof(*commented); ++i) {
		struct snapshot_entry *entry = snapshot_tree_find(tree, commented[i]);
		if (entry)
			entry->commented = true;
	}
	for (size_t i = 0; i < tree->count; ++i)
		tree->entries[i].commented |= strncmp(tree->entries[i].path, "/etc/getmnt/", 12) == 0;
}

/* Writing. */

/** Write one file that is new.  @return 0, or -1. */
static int write_file(struct os *os, int dir, const char *path, const char *text)
{
	size_t n = strlen(text);
	int fd = os_create_new(os, dir, path), rc = fd < 0 ? -1 : os_fchmod(os, fd, 0644);
	while (rc == 0 && n > 0) {
		ssize_t done = os_write(os, fd, text, n);
		if (done < 0)
			rc = -1;
		else {
			text += done;
			n -= (size_t)done;
		}
	}
	if (rc == 0)
		rc = os_fsync(os, fd);
	os_close(os, fd);
	return rc;
}

/** Write one entry; what is above it was written before.  @return 0, or -1. */
static int write_entry(struct snapshot_tree *tree, int dir, const struct snapshot_entry *entry)
{
	struct os *os = &tree->os;
	const char *path = entry->path + 1;
	char part[2 * PATH_MAX];
	switch (entry->kind) {
	case SNAPSHOT_DIR:
		snprintf(part, sizeof(part), "%.*s/" INSIDE_PART, PATH_MAX, path);
		if (os_mkdirat(os, dir, path, 0755) != 0 && errno != EEXIST)
			return -1;
		return entry->whole || write_file(os, dir, part, "") == 0 || errno == EEXIST ? 0 : -1;
	case SNAPSHOT_FILE:
		return write_file(os, dir, path, entry->text ? entry->text : "");
	case SNAPSHOT_LINK:
	case SNAPSHOT_SPECIAL:
		return os_symlink(os, entry->text, dir, path);
	case SNAPSHOT_MISSING:
		return os_symlink(os, INSIDE_MISSING, dir, path);
	}
	return 0;
}

/** Take away what was written. */
static void remove_all(struct snapshot_tree *tree, int dir, size_t count)
{
	char part[2 * PATH_MAX];
	for (size_t i = count; i > 0; --i) {
		const char *path = tree->entries[i - 1].path + 1;
		snprintf(part, sizeof(part), "%.*s/" INSIDE_PART, PATH_MAX, path);
		if (tree->entries[i - 1].kind != SNAPSHOT_DIR) {
			os_unlinkat(&tree->os, dir, path);
		} else {
			os_unlinkat(&tree->os, dir, part);
			os_rmdirat(&tree->os, dir, path);
		}
	}
	os_unlinkat(&tree->os, dir, SNAPSHOT_MARKER);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct snapshot_entry *)a)->path, ((const struct snapshot_entry *)b)->path);
}

/** Make the directories that an entry needs, which no entry is: of what was added.
    @return 0, or -1. */
static int write_tree(struct snapshot_tree *tree, int dir, const char *marker, size_t *written)
{
	int rc = write_file(&tree->os, dir, SNAPSHOT_MARKER, marker);
	for (*written = 0; rc == 0 && *written < tree->count; ++*written) {
		const struct snapshot_entry *entry = &tree->entries[*written];
		bool again = *written > 0 && strcmp(entry->path, tree->entries[*written - 1].path) == 0;
		if (!entry->gone && !again)
			rc = write_entry(tree, dir, entry);
	}
	return rc == 0 ? os_fsync(&tree->os, dir) : -1;
}

static const char *advice(int error, const char *other)
{
	return error == ENOSPC || error == EDQUOT ? "; make room, or name one elsewhere" : other;
}

int snapshot_tree_write(struct snapshot_tree *tree, const char *dir, const char *marker)
{
	struct os *os = &tree->os;
	char parent[PATH_MAX], name[NAME_MAX + 32];
	size_t n = strlen(dir), written = 0;
	while (n > 1 && dir[n - 1] == '/')
		--n;
	const char *slash = memrchr(dir, '/', n), *base = slash ? slash + 1 : dir;
	size_t len = (size_t)(dir + n - base);
	snprintf(parent, sizeof(parent), "%.*s", slash ? (int)(slash - dir) + 1 : 1, slash ? dir : ".");
	char *end = strndup(base, len);
	int up = end && len && len <= NAME_MAX ? os_openat(os, AT_FDCWD, parent, O_RDONLY | O_DIRECTORY) : -1, own = -1, rc = -1;
	snprintf(name, sizeof(name), ".%.200s.%llx", end ? end : "", (unsigned long long)os_time_ms());
	if (tree->count)
		qsort(tree->entries, tree->count, sizeof(*tree->entries), by_path);
	if (up < 0 || os_mkdirat(os, up, name, 0700) != 0) {
		message(dir, "cannot be made: %s%s", strerror(errno), advice(errno, "; name a directory that is not there, in one that is"));
		goto out;
	}
	own = os_openat(os, up, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	rc = own < 0 ? -1 : write_tree(tree, own, marker, &written);
	/* An empty directory gives way to another; nothing else does. */
	const char *why = "cannot be written", *next = "";
	if (rc == 0) {
		rc = os_rename(os, up, name, end, false);
		why = "is there, and no empty directory";
		next = "; name one that is not there";
	}
	if (rc == 0) {
		rc = os_fsync(os, up);
		why = "may not be on the disk yet";
	} else {
		int error = errno;
		if (own >= 0)
			remove_all(tree, own, written < tree->count ? written + 1 : tree->count);
		os_rmdirat(os, up, name);
		errno = error;
	}
	if (rc != 0)
		message(dir, "%s: %s%s", why, strerror(errno), advice(errno, next));
out:
	os_close(os, own);
	os_close(os, up);
	free(end);
	return rc;
}
