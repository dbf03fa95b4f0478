/* SPDX-License-Identifier: MIT */
/*
 * The units that systemd has made of /etc/fstab, read.
 *
 * The directory is root's, and is read as if it were not: no link is followed, nothing
 * but regular files is read, so much of each and of all.  Where one cannot be read, none
 * counts: a line that is missing would be taken for one that was put in since.
 */
#include "cmd/fstab/merge.h"

#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { UNIT_MAX = 64 << 10, UNITS_MAX = 32 << 20 /* bytes */ };

bool units_are_ours(struct os *os)
{
	struct k_statx its, own;
	if (os_statx(os, AT_FDCWD, "/proc/1/root", AT_NO_AUTOMOUNT, K_STATX_INO, &its) != 0)
		return errno == EACCES || errno == EPERM;
	return os_statx(os, AT_FDCWD, "/", AT_NO_AUTOMOUNT, K_STATX_INO, &own) == 0 && its.ino == own.ino
	       && its.dev_major == own.dev_major && its.dev_minor == own.dev_minor;
}

/** Open the directory, if nobody but root can write to it. */
static int open_units(struct run *run)
{
	struct os *os = &run->os;
	struct k_statx st;
	if (put_blocks(run, UNITS_DIR) || !units_are_ours(os))
		return -1;
	int dir = os_openat(os, AT_FDCWD, UNITS_DIR, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
	if (dir >= 0 && (os_statx(os, dir, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, K_STATX_BASIC, &st) != 0
	                 || st.uid != 0 || st.mode & 022)) {
		os_close(os, dir);
		return -1;
	}
	return dir;
}

/** Read one.  @left  Bytes that may be read yet.  @return 0, or -1. */
static int read_unit(struct os *os, int dir, const char *name, size_t *left, struct units *units)
{
	char *text;
	size_t len;
	if (os_read_regular(os, dir, name, *left < UNIT_MAX ? *left : UNIT_MAX, &text, &len) != 0)
		return errno == ELOOP || errno == ENOTSUP || errno == EISDIR ? 0 : -1;   /* a link is not the generator's */
	*left -= len;
	int rc = units_add(units, name, text, len, "/etc/fstab") < 0 ? -1 : 0;
	int error = errno;
	free(text);
	errno = error;
	return rc;
}

int units_read(struct run *run, struct units *units)
{
	struct os *os = &run->os;
	_Alignas(struct k_dirent) char buf[32 * 1024];
	size_t left = UNITS_MAX;
	ssize_t n = 0;
	int rc = 0, dir = open_units(run);
	while (dir >= 0 && rc == 0 && (n = os_getdents(os, dir, buf, sizeof(buf))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while (rc == 0 && (entry = os_dirent(buf, (size_t)n, &at, &len)) != NULL) {
			if (len > 0 && units_is_name(entry->name))
				rc = read_unit(os, dir, entry->name, &left, units);
		}
	}
	int error = errno;
	os_close(os, dir);
	if (rc == 0 && n >= 0)
		return 0;
	if (error == ENOMEM) {
		message(NULL, "%s", strerror(error));
		return PX_UNJUDGED;
	}
	message(UNITS_DIR, "cannot be read: %s; what was changed since systemd has loaded the fstab is not known",
	        strerror(error));
	units_destroy(units);
	units_init(units);
	return 0;
}
