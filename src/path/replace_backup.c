/* SPDX-License-Identifier: MIT */
/*
 * Backups of a replaced file: NAME.getmnt-TIME in the same directory.
 */
#include "path/replace_impl.h"

#include "os/file.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { BACKUP_TRIES = 100 };

/** Name a backup after the time in milliseconds, so that names sort by time. */
static bool name_backup(struct writer *w)
{
	int64_t now = os_time_ms();
	time_t seconds = (time_t)(now / 1000);
	struct tm tm;
	char stamp[32];
	if (!gmtime_r(&seconds, &tm) || strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%S", &tm) == 0)
		return false;
	return (size_t)snprintf(w->backup_name, sizeof(w->backup_name), "%s.getmnt-%s%03dZ",
	                        w->file->name, stamp, (int)(now % 1000))
	       <= NAME_MAX;
}

int backup_make(struct writer *w)
{
	struct replace *file = w->file;
	if (!file->at_link) {
		const struct timespec times[] = {file->st.st_atim, file->st.st_mtim};
		int fd = writer_make(w, w->old_name, file->text, file->len, times, &w->made_old);
		if (fd < 0)
			return -1;
		os_close(file->os, fd);
	}
	for (int i = 0; i < BACKUP_TRIES; ++i) {
		if (!name_backup(w))
			return replace_fail(w->error, RP_ERROR, ENAMETOOLONG, "naming a backup");
		int rc = file->at_link
		                 ? os_symlink(file->os, file->link, file->dirfd, w->backup_name)
		                 : writer_rename(w, w->old_name, w->backup_name);
		if (rc == 0) {
			w->made_old = false;
			w->made_backup = true;
			return 0;
		}
		if (errno != EEXIST)
			return writer_fail(w, "making", w->backup_name);
		os_poll(file->os, NULL, 0, 1);
	}
	return replace_fail(w->error, RP_ERROR, EEXIST, "making %s", w->backup_name);
}

/** Whether a name has the form that name_backup() creates. */
static bool is_backup_name(const char *of, const char *name)
{
	static const char form[] = "00000000T000000000Z";
	size_t n = strlen(of);
	struct tm tm;
	if (strncmp(name, of, n) != 0 || strncmp(name + n, ".getmnt-", 8) != 0)
		return false;
	const char *stamp = name + n + 8;
	for (size_t i = 0; i < sizeof(form); ++i) {
		if (form[i] == '0' ? stamp[i] < '0' || stamp[i] > '9' : stamp[i] != form[i])
			return false;
	}
	return strptime(stamp, "%Y%m%dT%H%M%S", &tm) == stamp + 15;
}

/** Remove a backup, but neither the new one, nor a file that is not our own or has other links. */
static void remove_backup(const struct writer *w, const char *name)
{
	struct replace *file = w->file;
	struct stat st;
	if (strcmp(name, w->backup_name) != 0 && writer_look(w, name, &st) == 0
	    && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && st.st_nlink == 1
	    && (st.st_uid == w->euid || st.st_uid == file->st.st_uid)
	    && os_unlinkat(file->os, file->dirfd, name) == 0)
		++file->pruned;
}

void backup_prune(const struct writer *w)
{
	_Alignas(struct k_dirent) char buf[16 * 1024];
	char last[REPLACE_BACKUPS][NAME_SIZE];   /* the last names so far, sorted */
	struct os_dir dir;
	size_t n = 0;
	os_dir_begin(&dir, w->file->os, w->dir, buf, sizeof(buf));
	for (const char *name; (name = os_dir_next(&dir)) != NULL;) {
		if (!is_backup_name(w->file->name, name))
			continue;
		size_t at = n;
		while (at > 0 && strcmp(last[at - 1], name) > 0)
			--at;
		if (n == REPLACE_BACKUPS) {
			remove_backup(w, at == 0 ? name : last[0]);
			if (at-- == 0)
				continue;
			memmove(last[0], last[1], (--n) * sizeof(*last));
		}
		memmove(last[at + 1], last[at], (n++ - at) * sizeof(*last));
		strcpy(last[at], name);
	}
}
