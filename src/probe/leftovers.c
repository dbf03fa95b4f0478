/* SPDX-License-Identifier: MIT */
/*
 * The records of workers that may be abandoned: a directory that only root can use, with one empty
 * file for each worker; the file name is the record.
 *
 *     /run/getmnt/BOOT-ID_MOUNT-ID_MAJOR:MINOR_PID_STARTTIME_OWNER_PIDNS
 *
 * A process matches a record if it has the same start time (field 22 of /proc/PID/stat).  The
 * directory of an ordinary user is in $XDG_RUNTIME_DIR.  If this variable is not set (cron, su), or
 * does not name a directory of this user, the directory is in /run/user/UID if that exists, which
 * takes a session of the user, and else in /tmp: its mode lets nobody else use it, and the sticky
 * bit of /tmp lets nobody else replace it.
 *
 * A container may share the directory with its host, but has its own process IDs.  The host sees
 * all processes, and finds a worker of a container by its start time.  A container cannot see the
 * processes of others: it keeps their records, and counts them.
 */
#include "probe/prober_impl.h"

#include "base/array.h"

#include "os/change.h"
#include "os/file.h"
#include "os/process.h"
#include "path/resolve.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MEMORY_DIR "getmnt"

#define INIT_PID_NS 0xEFFFFFFCu   /* inode of the initial namespace (linux/proc_ns.h), which
                                     contains all processes */

enum {
	FILES_MAX = 4096,   /* the most files to read: more than a prober ever creates */
	NAME_SIZE = 192,
};

int prober_room(const struct prober_use *uses, size_t n, uint32_t owner)
{
	/* Of this user, of all users but root, of all; index 0 includes open questions, 1 does
	   not. */
	size_t own[2] = {0}, users[2] = {0}, all[2] = {0};
	for (size_t i = 0; i < n; ++i) {
		for (int closed = 0; closed <= !uses[i].open; ++closed) {
			++all[closed];
			users[closed] += uses[i].owner != 0;
			own[closed] += uses[i].owner == owner;
		}
	}
	for (int closed = 1; closed >= 0; --closed) {
		if (all[closed] >= PROBER_LEFT_MAX
		    || (owner != 0
		        && (users[closed] >= PROBER_LEFT_USERS || own[closed] >= PROBER_LEFT_USER)))
			return closed ? EDQUOT : EBUSY;
	}
	return 0;
}

void prober_self_init(struct os *os, struct prober_self *self)
{
	char *text;
	size_t len;
	struct k_statx st;
	*self = (struct prober_self){.boot_id = PROBE_BOOT_ID_UNKNOWN};
	if (os_read_kernel(os, AT_FDCWD, "/proc/sys/kernel/random/boot_id", 128, &text, &len)
	    == 0) {
		len = strcspn(text, "\n");
		if (len > 0 && len < sizeof(self->boot_id) && !memchr(text, '/', len)) {
			memcpy(self->boot_id, text, len);
			self->boot_id[len] = '\0';
		}
		free(text);
	}
	if (os_statx(os, AT_FDCWD, "/proc/self/ns/pid", 0, K_STATX_BASIC, &st) == 0)
		self->pid_ns = st.ino;
}

bool prober_memory_dir(unsigned number, char dir[PROBER_DIR_MAX])
{
	const uid_t uid = geteuid();
	if (uid == 0) {
		strcpy(dir, "/run/" MEMORY_DIR);
		return number == 0;
	}
	const char *named = secure_getenv("XDG_RUNTIME_DIR");
	if (!named || *named != '/' || strlen(named) + sizeof("/" MEMORY_DIR) > PROBER_DIR_MAX)
		++number;
	if (number == 0)
		snprintf(dir, PROBER_DIR_MAX, "%s/" MEMORY_DIR, named);
	else if (number == 1)
		snprintf(dir, PROBER_DIR_MAX, "/run/user/%u/" MEMORY_DIR, uid);
	else
		snprintf(dir, PROBER_DIR_MAX, "/tmp/" MEMORY_DIR "-%u", uid);
	return number <= 2;
}

/** Whether a directory belongs to a user and no given mode bit is set. */
static bool memory_is_own(struct os *os, int fd, uid_t uid, unsigned bits)
{
	struct k_statx st;
	return os_statx(os, fd, "", AT_EMPTY_PATH, K_STATX_BASIC, &st) == 0 && st.uid == uid
	       && !(st.mode & bits);
}

static int memory_open_step(void *arg, int at, const char *name)
{
	errno = ELOOP;
	return strcmp(name, "..") == 0 ? -1
	               : os_openat(arg, at, name, O_PATH | O_DIRECTORY | O_NOFOLLOW);
}

/** Open the parent of a user's directory, which the environment may have named: follow no symlink.
    @shared  All users have directories in it.
    @return an O_PATH descriptor, or -1.  Errors: ENOENT: it belongs to another user, or is in a
    directory that this user cannot search. */
static int memory_open_base(struct os *os, char *base, bool shared)
{
	struct k_statx st;
	const uid_t uid = geteuid();
	int at = path_open_below(os, AT_FDCWD, base, memory_open_step, os);
	if (at < 0)
		return fail(errno == EACCES ? ENOENT : errno);
	bool seen = os_statx(os, at, "", AT_EMPTY_PATH, K_STATX_BASIC, &st) == 0;
	bool sticky = shared && st.uid == 0 && st.mode & S_ISVTX;
	if (seen && (sticky || (st.uid == uid && !(st.mode & 022))))
		return at;
	os_close(os, at);
	return fail(seen && !shared && st.uid != uid ? ENOENT : ENOTUNIQ);
}

int prober_memory_open(struct os *os, const char *dir)
{
	char base[PROBER_DIR_MAX];
	const uid_t uid = geteuid();
	const char *name = strrchr(dir, '/') + 1;
	snprintf(base, sizeof(base), "%.*s", (int)(name - 1 - dir), dir);
	int run = uid == 0 ? os_openat(os, AT_FDCWD, base, O_PATH | O_DIRECTORY | O_NOFOLLOW)
	                   : memory_open_base(os, base, strcmp(name, MEMORY_DIR) != 0);
	if (run < 0)
		return -1;
	int error = os_mkdirat(os, run, name, 0700) != 0 && errno != EEXIST ? errno : 0;
	int fd = os_opendir(os, run, name);
	if (fd < 0 && errno == ENOENT && error)
		errno = error;
	else if (fd < 0 && errno == EACCES)
		errno = ENOTUNIQ;
	os_close(os, run);
	if (fd >= 0 && !memory_is_own(os, fd, uid, 077)) {
		os_close(os, fd);
		return fail(ENOTUNIQ);
	}
	return fd;
}

/** Read the stat file of a process.  @named [out]  Whether its name is that of a prober. */
static char memory_stat(struct os *os, const char *path, uint64_t *start, bool *named)
{
	char text[1024];
	*start = 0;
	*named = false;
	int fd = os_openat(os, AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_NOCTTY);
	ssize_t n = fd >= 0 && S_ISREG(os_file_type(os, fd, NULL, NULL))
	                    ? os_read(os, fd, text, sizeof(text) - 1) : 0;
	os_close(os, fd);
	text[n > 0 ? n : 0] = '\0';
	/* The second field is a name in parentheses, which may contain any bytes. */
	char *at = strrchr(text, ')');
	if (!at || at[1] != ' ')
		return '\0';
	char state = at[2];
	static const char name[] = "(" PROBER_PROCESS ")";
	*named = strncmp(text + strcspn(text, "("), name, sizeof(name) - 1) == 0;
	for (int field = 2; at && field < 22; ++field)
		at = strchr(at + 1, ' ');
	*start = at ? strtoull(at + 1, NULL, 10) : 0;
	return state;
}

char prober_process(struct os *os, int32_t pid, uint64_t *start)
{
	char path[32];
	bool named;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return memory_stat(os, path, start, &named);
}

int prober_record(struct os *os, int dir, const struct prober_self *self,
                  const struct probe_question *question, int32_t pid, uint64_t start, bool remove)
{
	char name[NAME_SIZE];
	snprintf(name, NAME_SIZE, "%s_%" PRIu64 "_%u:%u_%d_%" PRIu64 "_%u_%" PRIu64, self->boot_id,
	         question->key, question->dev_major, question->dev_minor, (int)pid, start,
	         question->owner, self->pid_ns);
	if (remove)
		return os_unlinkat(os, dir, name);
	int fd = os_create_new(os, dir, name);
	os_close(os, fd);
	return fd < 0 && errno != EEXIST ? -1 : 0;
}

/** Whether a process matches a record. */
static bool memory_lives(char state, uint64_t start, uint64_t now)
{
	return start == 0 ? state == 'D' : start == now && state != 'Z' && state != 'X';
}

/** The start times of all processes named like a prober. */
struct memory_starts {
	bool read;
	bool failed;               /* the list may be incomplete */
	size_t n;
	uint64_t at[2 * PROBER_LEFT_MAX];
};

static void memory_starts_read(struct os *os, struct memory_starts *starts)
{
	_Alignas(struct k_dirent) char entries[8192];
	struct os_dir dir;
	int proc = os_openat(os, AT_FDCWD, "/proc", O_RDONLY | O_DIRECTORY);
	starts->read = true;
	os_dir_begin(&dir, os, proc, entries, sizeof(entries));
	for (const char *name; (name = os_dir_next(&dir)) != NULL;) {
		char path[300];
		uint64_t start;
		bool named;
		if (*name < '1' || *name > '9')
			continue;
		snprintf(path, sizeof(path), "/proc/%.255s/stat", name);
		char state = memory_stat(os, path, &start, &named);
		if (!named || !memory_lives(state, start, start))
			continue;
		if (starts->n < sizeof(starts->at) / sizeof(*starts->at))
			starts->at[starts->n++] = start;
		else
			starts->failed = true;
	}
	os_close(os, proc);
	starts->failed |= dir.error != 0;
}

/** Whether a prober with a start time exists; true if that cannot be determined. */
static bool memory_exists(struct os *os, struct memory_starts *starts, uint64_t start)
{
	if (!starts->read)
		memory_starts_read(os, starts);
	for (size_t i = 0; i < starts->n; ++i) {
		if (starts->at[i] == start)
			return true;
	}
	return starts->failed;
}

/** Parse a file name.  @return whether its process still exists. */
static bool memory_read(struct os *os, const char *name, const struct prober_self *self,
                        struct memory_starts *starts, struct prober_left *left)
{
	static const char unknown[] = PROBE_BOOT_ID_UNKNOWN "_";
	uint64_t key, start, now, pid_ns = self->pid_ns;
	int old = -1, end = -1;
	size_t n = strcspn(name, "_");
	*left = (struct prober_left){0};
	/* Recorded in an earlier boot. */
	if ((strlen(self->boot_id) != n || memcmp(name, self->boot_id, n) != 0)
	    && strcmp(self->boot_id, PROBE_BOOT_ID_UNKNOWN) != 0
	    && strncmp(name, unknown, sizeof(unknown) - 1) != 0)
		return false;
	/* Records of older versions lack the last two fields. */
	int fields = sscanf(name + n, "_%" SCNu64 "_%u:%u_%d_%" SCNu64 "%n_%u_%" SCNu64 "%n", &key,
	                    &left->dev_major, &left->dev_minor, &left->pid, &start, &old,
	                    &left->owner, &pid_ns, &end);
	if (!(fields == 7 && name[n + (size_t)end] == '\0')
	    && !(fields == 5 && name[n + (size_t)old] == '\0'))
		return false;
	if (left->pid <= 0)
		return false;
	if (pid_ns != self->pid_ns && pid_ns != 0 && self->pid_ns != 0)
		return self->pid_ns != INIT_PID_NS || memory_exists(os, starts, start);
	char state = prober_process(os, left->pid, &now);
	/* Without /proc, assume that any process with this ID matches: it is better not to access
	   the mount than to leave one more process in every run. */
	if (state == '\0')
		return os_kill(os, left->pid, 0) == 0 || errno != ESRCH;
	return memory_lives(state, start, now);
}

ssize_t prober_recall(struct os *os, int dir, const struct prober_self *self,
                      struct prober_left **left)
{
	_Alignas(struct k_dirent) char entries[8192];
	struct memory_starts starts = {0};
	size_t count = 0, room = 0, seen = 0;
	struct os_dir names;
	*left = NULL;
	os_dir_begin(&names, os, dir, entries, sizeof(entries));
	for (const char *name; (name = os_dir_next(&names)) != NULL; ++seen) {
		struct prober_left one;
		struct k_statx st;
		if (*name == '.')
			continue;
		if (seen >= FILES_MAX) {
			errno = EFBIG;
			goto failed;
		}
		if (!memory_read(os, name, self, &starts, &one)) {
			os_unlinkat(os, dir, name);
			continue;
		}
		bool dated = os_statx(os, dir, name, AT_SYMLINK_NOFOLLOW, K_STATX_BASIC, &st) == 0;
		one.since = dated ? st.mtime.sec : 0;
		if (!ARRAY_ROOM(*left, count, &room))
			goto failed;
		(*left)[count++] = one;
	}
	errno = names.error;
	if (errno == 0)
		return (ssize_t)count;
failed:
	free(*left);
	*left = NULL;
	return -1;
}
