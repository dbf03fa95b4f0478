/* SPDX-License-Identifier: MIT */
/*
 * Those that were left behind: a directory that is root's alone, with an empty
 * file for each, whose name says who it is.
 *
 *     /run/getmnt/BOOT-ID_MOUNT-ID_MAJOR:MINOR_PID_STARTTIME
 *
 * A process is the one that is meant while its start time is the same
 * (proc(5), field 22 of /proc/PID/stat).  An ordinary user has one in
 * $XDG_RUNTIME_DIR.
 */
#include "os/prober_impl.h"
#include "os/process.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MEMORY_DIR "getmnt"

enum { LEFT_MAX = 4096 };   /* files looked at */

/** Write the name of the directory that ours is in.  @return whether there is one. */
static bool memory_base(char base[PROBER_DIR_MAX])
{
	const char *named = geteuid() == 0 ? "/run" : secure_getenv("XDG_RUNTIME_DIR");
	if (!named || *named != '/' || strlen(named) + sizeof("/" MEMORY_DIR) > PROBER_DIR_MAX)
		return false;
	strcpy(base, named);
	return true;
}

bool prober_memory_dir(char dir[PROBER_DIR_MAX])
{
	if (!memory_base(dir))
		return false;
	strcat(dir, "/" MEMORY_DIR);
	return true;
}

/** Whether a directory is a user's, and none of these bits is in its mode. */
static bool memory_is_own(struct os *os, int fd, uid_t uid, unsigned bits)
{
	struct k_statx st;
	return os_statx(os, fd, "", AT_EMPTY_PATH, K_STATX_BASIC, &st) == 0 && st.uid == uid && !(st.mode & bits);
}

/** Open what a variable names, which anybody may have set: through no link.
    @return a descriptor made with O_PATH, or -1. */
static int memory_open_base(struct os *os, char *base)
{
	char *save = NULL;
	int at = os_openat(os, AT_FDCWD, "/", O_PATH | O_DIRECTORY);
	for (char *step = strtok_r(base, "/", &save); step && at >= 0; step = strtok_r(NULL, "/", &save)) {
		int next = -1;
		if (strcmp(step, "..") == 0)
			errno = ELOOP;
		else
			next = os_openat(os, at, step, O_PATH | O_DIRECTORY | O_NOFOLLOW);
		os_close(os, at);
		at = next;
	}
	if (at >= 0 && !memory_is_own(os, at, geteuid(), 022)) {
		os_close(os, at);
		errno = EPERM;
		at = -1;
	}
	return at;
}

int prober_memory_open(struct os *os, bool make)
{
	char base[PROBER_DIR_MAX];
	uid_t uid = geteuid();
	if (!memory_base(base)) {
		errno = ENOENT;
		return -1;
	}
	int run = uid == 0 ? os_openat(os, AT_FDCWD, base, O_PATH | O_DIRECTORY | O_NOFOLLOW) : memory_open_base(os, base);
	if (run < 0)
		return -1;
	if (make)
		os_mkdirat(os, run, MEMORY_DIR, 0700);
	int fd = os_opendir(os, run, MEMORY_DIR);
	os_close(os, run);
	if (fd >= 0 && !memory_is_own(os, fd, uid, 077)) {
		os_close(os, fd);
		errno = EPERM;
		return -1;
	}
	return fd;
}

char prober_process(struct os *os, int32_t pid, uint64_t *start)
{
	*start = 0;
	char path[32], text[1024];
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	int fd = os_openat(os, AT_FDCWD, path, O_RDONLY);
	if (fd < 0)
		return '\0';
	ssize_t n = os_read(os, fd, text, sizeof(text) - 1);
	os_close(os, fd);
	text[n > 0 ? n : 0] = '\0';
	/* The second field is a name in parentheses, of any bytes. */
	char *at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return '\0';
	char state = at[2];
	for (int field = 2; at && field < 22; ++field)
		at = strchr(at + 1, ' ');
	*start = at ? strtoull(at + 1, NULL, 10) : 0;
	return state;
}

int prober_remember(struct os *os, const char *boot_id, const struct probe_request *request,
                    int32_t pid)
{
	char name[160];
	uint64_t start;
	int dir = prober_memory_open(os, true);
	if (dir < 0)
		return -1;
	prober_process(os, pid, &start);
	snprintf(name, sizeof(name), "%s_%" PRIu64 "_%u:%u_%d_%" PRIu64, boot_id, request->key,
	         request->dev_major, request->dev_minor, (int)pid, start);
	int fd = os_create(os, dir, name);
	os_close(os, fd);
	os_close(os, dir);
	return fd < 0 ? -1 : 0;
}

/** Read a file name.  @return whether the process it tells of is there, and
    still waits. */
static bool memory_read(struct os *os, const char *name, const char *boot_id, struct prober_left *left)
{
	size_t n = strlen(boot_id);
	uint64_t key, start, now;
	int end = -1;
	if (strncmp(name, boot_id, n) != 0)
		return false;
	if (sscanf(name + n, "_%" SCNu64 "_%u:%u_%d_%" SCNu64 "%n", &key, &left->dev_major,
	           &left->dev_minor, &left->pid, &start, &end) != 5 || name[n + (size_t)end] != '\0')
		return false;
	if (left->pid <= 0)
		return false;
	char state = prober_process(os, left->pid, &now);
	/* Without /proc it is there while any process has its number: better not
	   asked again than one more left each time. */
	if (state == '\0')
		return os_kill(os, left->pid, 0) == 0 || errno != ESRCH;
	return state == 'D' && (start == 0 || now == start);
}

size_t prober_recall(struct os *os, const char *boot_id, struct prober_left **left)
{
	_Alignas(struct k_dirent) char entries[8192];
	size_t count = 0;
	*left = NULL;
	int dir = prober_memory_open(os, false);
	if (dir < 0)
		return 0;
	ssize_t n;
	for (size_t seen = 0; seen < LEFT_MAX && (n = os_getdents(os, dir, entries, sizeof(entries))) > 0;) {
		const struct k_dirent *entry;
		for (size_t at = 0; (entry = os_dirent(entries, (size_t)n, &at, NULL)); ++seen) {
			struct prober_left one, *more;
			struct k_statx st;
			if (entry->name[0] == '.')
				continue;
			if (!memory_read(os, entry->name, boot_id, &one)) {
				os_unlinkat(os, dir, entry->name);
				continue;
			}
			bool dated = os_statx(os, dir, entry->name, AT_SYMLINK_NOFOLLOW, K_STATX_BASIC, &st) == 0;
			one.since = dated ? st.mtime.sec : 0;
			if ((more = realloc(*left, (count + 1) * sizeof(one))))
				*left = more, more[count++] = one;
		}
	}
	os_close(os, dir);
	return count;
}
