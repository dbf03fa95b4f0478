/* SPDX-License-Identifier: MIT */
/*
 * Backups of a file that is replaced: NAME.getmnt-TIME next to it.
 */
#include "path/replace_impl.h"

#include "base/array.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { BACKUP_TRIES = 100 };

/** Name a backup after the time, in milliseconds, so that names are in the order of time. */
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

/** Whether a name is one that name_backup() gives. */
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

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** List the backups.  @return their number, or -1. */
static ssize_t backup_list(const struct writer *w, char ***list)
{
	_Alignas(struct k_dirent) char buf[16 * 1024];
	char **names = NULL;
	size_t count = 0, room = 0;
	ssize_t n;
	while ((n = os_getdents(w->file->os, w->dir, buf, sizeof(buf))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while ((entry = os_dirent(buf, (size_t)n, &at, &len))) {
			if (len == 0 || !is_backup_name(w->file->name, entry->name))
				continue;
			if (!ARRAY_ROOM(names, count, &room)
			    || !(names[count] = strdup(entry->name)))
				goto fail;
			++count;
		}
		if (at < (size_t)n)
			goto fail;
	}
	if (n == 0) {
		*list = names;
		return (ssize_t)count;
	}
fail:
	while (count > 0)
		free(names[--count]);
	free(names);
	return -1;
}

void backup_prune(const struct writer *w)
{
	struct replace *file = w->file;
	char **names;
	ssize_t count = backup_list(w, &names);
	if (count <= 0)
		return;
	qsort(names, (size_t)count, sizeof(*names), compare_names);
	for (ssize_t i = 0; i < count; ++i) {
		struct stat st;
		/* If the clock was set back, the new one may be the oldest.  What others made, or
		   linked to, is theirs. */
		if (i < count - REPLACE_BACKUPS && strcmp(names[i], w->backup_name) != 0
		    && writer_look(w, names[i], &st) == 0
		    && (S_ISREG(st.st_mode) || S_ISLNK(st.st_mode)) && st.st_nlink == 1
		    && (st.st_uid == w->euid || st.st_uid == file->st.st_uid)
		    && os_unlinkat(file->os, file->dirfd, names[i]) == 0)
			++file->pruned;
		free(names[i]);
	}
	free(names);
}
