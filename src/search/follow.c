/* SPDX-License-Identifier: MIT */
/*
 * Following links by hand.
 *
 * Each name is opened with O_PATH and O_NOFOLLOW, by itself: the last name of
 * a look-up triggers no automount.  Where the kernel has openat2(2) it refuses
 * to enter another mount (RESOLVE_NO_XDEV) before it has asked that mount
 * anything; then the place, and after it the mount's ID, tell whether it may
 * be entered.
 */
#include "search/follow.h"

#include "base/fstypes.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>

enum {
	MAX_LINKS = 40,           /* as the kernel has it */
	MAX_TEXT = 16 * PATH_MAX, /* of what is still to be followed */
};

void search_mounts_destroy(struct search_mounts *mounts)
{
	avoid_free(mounts->avoid);
	map64_destroy(&mounts->known);
	*mounts = (struct search_mounts){0};
}

int search_mounts_refuse(const struct search_mounts *mounts, const struct os *os, uint64_t id)
{
	if (!(os->caps & OSC_STATX_MNT_ID))
		return 0;
	uint32_t known = map64_get(&mounts->known, id);
	return known == MAP64_NONE ? EXDEV : known == MOUNT_BLOCKS ? EREMOTE : 0;
}

bool search_mounts_last_pos(const struct search_mounts *mounts, const struct os *os, uint64_t id)
{
	return os->caps & OSC_STATX_MNT_ID && map64_get(&mounts->known, id) == MOUNT_ENDS_LAST_POS;
}

bool search_dir_waits(struct os *os, int dirfd, const char *name)
{
	struct statfs st;
	return fstype_dir_waits("proc", name) && os_fstatfs(os, dirfd, &st) == 0 && st.f_type == PROC_SUPER_MAGIC;
}

/** A path that is being followed. */
struct follow {
	struct os *os;
	const struct search_mounts *mounts;
	struct strbuf *place;
	bool placed;              /* place is known */
	int start, at;            /* the caller's; where we are */
	char *text;               /* to be followed, from text + next on */
	size_t next;
	unsigned links;
};

/** Be somewhere else. */
static void go(struct follow *follow, int fd)
{
	if (follow->at != follow->start)
		os_close(follow->os, follow->at);
	follow->at = fd;
}

/** Whether the place where we are may be touched. */
static bool may_touch(const struct follow *follow)
{
	uint32_t cover = follow->placed ? avoid_cover(follow->mounts->avoid, strbuf_str(follow->place)) : AVOID_NONE;
	return follow->placed && (cover == AVOID_NONE || cover == follow->mounts->entered);
}

/** Why another mount, on a name of the directory where we are, may not be entered; 0: it may. */
static int refuse_cross(struct follow *follow, const char *name)
{
	const struct search_mounts *mounts = follow->mounts;
	struct k_statx st;
	if (!may_touch(follow))
		return EREMOTE;
	unsigned mask = mounts->unique ? K_STATX_MNT_ID_UNIQUE : K_STATX_MNT_ID;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	if (os_statx(follow->os, follow->at, name, flags, mask, &st) != 0)
		return EREMOTE;
	uint64_t id = os_statx_mnt_id(&st, mounts->unique);
	return id && id == mounts->entered_id ? 0 : search_mounts_refuse(mounts, follow->os, id);
}

/** Open a name of the directory where we are; place is already its own. */
static int open_name(struct follow *follow, const char *name)
{
	struct os *os = follow->os;
	int flags = O_PATH | O_NOFOLLOW;
	if (follow->mounts) {
		if (search_dir_waits(os, follow->at, name)) {
			errno = EREMOTE;
			return -1;
		}
		int fd = os_openat2(os, follow->at, name, flags, K_RESOLVE_NO_XDEV);
		if (fd >= 0 || (errno != EXDEV && errno != ENOSYS))
			return fd;
		int error = errno == EXDEV ? refuse_cross(follow, name) : may_touch(follow) ? 0 : EREMOTE;
		if (error != 0) {
			errno = error;
			return -1;
		}
	}
	return os_openat(os, follow->at, name, flags);
}

/** Go to "/". */
static int go_top(struct follow *follow)
{
	const struct search_mounts *mounts = follow->mounts;
	int fd = os_openat(follow->os, AT_FDCWD, "/", O_PATH);
	if (fd < 0)
		return -1;
	go(follow, fd);
	follow->placed = true;
	strbuf_reset(follow->place);
	strbuf_putc(follow->place, '/');
	if (follow->place->failed) {
		errno = ENOMEM;
		return -1;
	}
	if (mounts && !may_touch(follow)) {
		errno = EREMOTE;
		return -1;
	}
	return 0;
}

/** Cut the last name off place, or add one. */
static void place_step(struct follow *follow, const char *name)
{
	struct strbuf *place = follow->place;
	if (!follow->placed || strcmp(name, ".") == 0)
		return;
	if (strcmp(name, "..") != 0) {
		if (place->len > 1)
			strbuf_putc(place, '/');
		strbuf_puts(place, name);
		return;
	}
	while (place->len > 1 && place->data[--place->len] != '/')
		;
	place->data[place->len] = '\0';
}

/** Let what a link says stand before what is left of the text. */
static int follow_splice(struct follow *follow, const char *link)
{
	const char *rest = follow->text + follow->next;
	size_t n = strlen(link), left = strlen(rest);
	if (++follow->links > MAX_LINKS || n == 0) {
		errno = n == 0 ? ENOENT : ELOOP;
		return -1;
	}
	if (n + left >= MAX_TEXT) {
		errno = ENAMETOOLONG;
		return -1;
	}
	char *text = malloc(n + left + 1);
	if (!text)
		return -1;
	memcpy(text, link, n);
	memcpy(text + n, rest, left + 1);
	free(follow->text);
	follow->text = text;
	follow->next = 0;
	return *text == '/' ? go_top(follow) : 0;
}

/** Take one name of the text: go there, or splice what it says.
    @return 1 when more may follow, 0 at the end, -1 on error. */
static int step(struct follow *follow)
{
	char name[NAME_MAX + 1], link[PATH_MAX];
	follow->next += strspn(follow->text + follow->next, "/");
	const char *from = follow->text + follow->next;
	size_t n = strcspn(from, "/"), placed = follow->place->len;
	if (n == 0)
		return 0;
	if (n > NAME_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	memcpy(name, from, n);
	name[n] = '\0';
	follow->next += n;
	place_step(follow, name);
	int fd = strcmp(name, ".") == 0 ? os_openat(follow->os, follow->at, ".", O_PATH) : open_name(follow, name);
	if (fd < 0)
		return -1;
	if (os_readlinkat(follow->os, fd, "", link, sizeof(link)) >= 0) {
		os_close(follow->os, fd);
		if (follow->placed)
			follow->place->data[follow->place->len = placed] = '\0';
		return follow_splice(follow, link) == 0 ? 1 : -1;
	}
	int error = errno;
	go(follow, fd);
	/* So it is said that it is no link. */
	if (error != ENOENT && error != EINVAL) {
		errno = error;
		return -1;
	}
	/* With a slash behind it, it is a directory; the next name asks the same. */
	if (from[n] == '/' && os_file_type(follow->os, fd, NULL, NULL) != S_IFDIR) {
		errno = ENOTDIR;
		return -1;
	}
	return 1;
}

int follow_path(struct os *os, const struct search_mounts *mounts, int dirfd,
                struct strbuf *place, const char *target)
{
	struct follow follow = {
		.os = os,
		.mounts = mounts,
		.place = place,
		.placed = place->len > 0,
		.start = dirfd,
		.at = dirfd,
		.text = strdup(target),
	};
	int rc = follow.text ? 1 : -1;
	if (rc == 1 && *target == '/' && go_top(&follow) != 0)
		rc = -1;
	while (rc == 1)
		rc = step(&follow);
	int error = errno;
	if (rc == 0 && place->failed) {
		rc = -1;
		error = ENOMEM;
	} else if (rc == 0 && follow.at == dirfd) {
		follow.at = os_openat(os, dirfd, ".", O_PATH);
		error = errno;
	}
	if (rc != 0)
		go(&follow, follow.start);
	free(follow.text);
	errno = error;
	return rc == 0 ? follow.at : -1;
}

/* Directories that were seen. */

void seen_init(struct seen *seen)
{
	*seen = (struct seen){0};
	map64_init(&seen->by_hash);
}

void seen_destroy(struct seen *seen)
{
	free(seen->dirs);
	map64_destroy(&seen->by_hash);
	seen_init(seen);
}

static bool seen_same(const struct seen_dir *a, const struct seen_dir *b)
{
	return a->mount == b->mount && a->dev == b->dev && a->ino == b->ino;
}

bool seen_above(const struct seen *seen, uint32_t number, const struct seen_dir *dir)
{
	for (; number != SEEN_NONE; number = seen->dirs[number].parent) {
		if (seen_same(&seen->dirs[number], dir))
			return true;
	}
	return false;
}

uint32_t seen_add(struct seen *seen, const struct seen_dir *dir, bool *fresh)
{
	const uint64_t what[] = {dir->mount, dir->dev, dir->ino, dir->state};
	uint64_t hash = map64_bytes(MAP64_BYTES, (const char *)what, sizeof(what)) | 1;
	*fresh = false;
	/* Another hash is tried for one that is taken by something else. */
	for (;; hash += 2) {
		uint32_t old = map64_get(&seen->by_hash, hash);
		if (old == MAP64_NONE)
			break;
		if (seen_same(&seen->dirs[old], dir) && seen->dirs[old].state == dir->state)
			return old;
	}
	if (seen->n == seen->size) {
		uint32_t size = seen->size ? seen->size * 2 : 256;
		struct seen_dir *bigger = realloc(seen->dirs, size * sizeof(*bigger));
		if (!bigger)
			return SEEN_NONE;
		seen->dirs = bigger;
		seen->size = size;
	}
	if (map64_put(&seen->by_hash, hash, seen->n) != seen->n)
		return SEEN_NONE;
	seen->dirs[seen->n] = *dir;
	*fresh = true;
	return seen->n++;
}
