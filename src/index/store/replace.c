/* SPDX-License-Identifier: MIT */
/*
 * Replace the files of an index.
 *
 *     write      segment.N, journal.N: new files, whose numbers were never used
 *     sync       these files, the new manifest, and the directory
 *     rename     manifest.new to manifest, and sync the directory
 *     remove     the numbered files that the new manifest does not name
 *
 * If the writer crashes before the last step, the next writer removes these files.  index_drop()
 * removes all files of an index, with the lock of a writer.
 */
#include "index/store/store_impl.h"

#include "base/array.h"
#include "os/change.h"
#include "os/file.h"

#include <fcntl.h>
#include <stdlib.h>

enum { LOCK_TRIES = 8 };     /* attempts, since index_drop() can remove the lock file after it was
                                opened */

int store_lock(struct os *os, int dirfd)
{
	const char *name = "lock";
	struct stat locked, now;
	for (int i = 0; i < LOCK_TRIES; ++i) {
		int fd = os_open_entry(os, dirfd, name, O_RDWR | O_NONBLOCK, ENTRY_HERE);
		if (fd < 0 && errno == ENOENT)
			fd = os_create_new(os, dirfd, name);
		if (fd < 0 && errno == EEXIST)
			continue;
		if (fd < 0)
			return -1;
		if (os_flock(os, fd) != 0) {
			os_close(os, fd);
			return -1;
		}
		/* If index_drop() has removed the file since it was opened, this lock protects
		   nothing. */
		if (os_fstatat(os, fd, "", &locked) == 0
		    && os_look_entry(os, dirfd, name, ENTRY_HERE, &now) == 0
		    && locked.st_ino == now.st_ino)
			return fd;
		os_close(os, fd);
	}
	return fail(EWOULDBLOCK);
}

/** Get the number in the name of a numbered file: "segment.7" has the kind "segment", the number 7.
    @return whether the name is of a file of this kind. */
static bool number_of(const char *name, const char *kind, uint64_t *number)
{
	size_t n = strlen(kind);
	if (strncmp(name, kind, n) != 0 || name[n] != '.')
		return false;
	char *end;
	errno = 0;
	*number = strtoull(name + n + 1, &end, 10);
	return errno == 0 && *number < UINT64_MAX
	       && strcmp(store_name(kind, *number).text, name) == 0;
}

/** Whether a manifest names a journal or segment file. */
static bool is_named(const struct manifest *m, bool journal, uint64_t number)
{
	bool named = journal && m->journal == number;
	for (size_t i = 0; !journal && i < m->nfiles; ++i)
		named |= m->files[i].number == number;
	return named;
}

int store_clean(struct os *os, int dirfd, const struct manifest *m, uint64_t *next)
{
	_Alignas(struct k_dirent) char buf[8192];
	struct os_dir dir;
	const char *name;
	int fd = os_openat(os, dirfd, ".", O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return -1;
	os_dir_begin(&dir, os, fd, buf, sizeof(buf));
	while ((name = os_dir_next(&dir))) {
		uint64_t number = 0;
		bool journal = number_of(name, "journal", &number);
		if (!journal && !number_of(name, "segment", &number))
			continue;
		if (next && number >= *next)
			*next = number + 1;
		if (m && !is_named(m, journal, number))
			os_unlinkat(os, dirfd, name);
	}
	os_close(os, fd);
	return dir.error ? fail(dir.error) : 0;
}

int store_create(struct os *os, int dirfd, const char *kind, uint64_t number,
                 struct store_file *file)
{
	*file = (struct store_file){.number = number, .name = store_name(kind, number)};
	file->fd = os_create_new(os, dirfd, file->name.text);
	return file->fd < 0 ? -1 : 0;
}

int store_write(struct os *os, struct store_file *file, const void *bytes, size_t size)
{
	if (os_pwrite_all(os, file->fd, bytes, size, file->size) != 0)
		return -1;
	file->size += size;
	return 0;
}

int store_put(struct os *os, struct store_file *file, const struct strbuf *bytes)
{
	const char *text = strbuf_text(bytes);
	return text ? store_write(os, file, text, bytes->len) : -1;
}

void store_drop(struct os *os, int dirfd, struct store_file *file)
{
	if (file->fd < 0)
		return;
	int error = errno;
	os_close(os, file->fd);
	os_unlinkat(os, dirfd, file->name.text);
	file->fd = -1;
	errno = error;
}

int store_replace(struct os *os, int dirfd, const struct manifest *m, bool *replaced)
{
	const char *name = "manifest.new";
	struct strbuf bytes = {0};
	int fd = -1, rc = -1;
	*replaced = false;
	manifest_check(m);
	if (manifest_encode(m, &bytes) != 0)
		goto end;
	if (os_unlinkat(os, dirfd, name) != 0 && errno != ENOENT)
		goto end;
	fd = os_create_new(os, dirfd, name);
	if (fd < 0)
		goto end;
	const char *text = strbuf_text(&bytes);
	if (!text || os_pwrite_all(os, fd, text, bytes.len, 0) != 0 || os_fsync(os, fd) != 0
	    || os_fsync(os, dirfd) != 0 || os_rename(os, dirfd, name, "manifest", 0) != 0) {
		int error = errno;
		os_unlinkat(os, dirfd, name);
		errno = error;
		goto end;
	}
	*replaced = true;
	rc = os_fsync(os, dirfd);
end:
	os_close(os, fd);
	strbuf_destroy(&bytes);
	return rc;
}

/* The functions for the builder. */

struct index_writer {
	struct os *os;
	int dirfd, lock;
	struct store_file segment;
	struct manifest m;
};

/** Get the next file number from the old manifest.  Numbers are never reused, so that an old
    manifest cannot name a new file.  A damaged manifest is ignored.
    @return 0, or -1. */
static int next_number(struct index_writer *w)
{
	struct manifest old = {0};
	char *text;
	size_t len;
	if (os_read_regular(w->os, w->dirfd, "manifest", MANIFEST_MAX, &text, &len) != 0)
		return errno == ENOENT ? 0 : -1;
	int rc = manifest_decode(text, len, &old);
	if (rc == 0)
		w->m.next = old.next;
	else if (errno != ENOMEM)
		rc = 0;
	manifest_destroy(&old);
	free(text);
	return rc;
}

struct index_writer *index_writer_new(struct os *os, int dirfd)
{
	struct index_writer *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	*w = (struct index_writer){.os = os, .segment.fd = -1};
	w->dirfd = os_openat(os, dirfd, ".", O_RDONLY | O_DIRECTORY);
	w->lock = w->dirfd < 0 ? -1 : store_lock(os, dirfd);
	if (w->lock < 0 || next_number(w) != 0 || store_clean(os, dirfd, NULL, &w->m.next) != 0
	    || store_create(os, w->dirfd, "segment", w->m.next++, &w->segment) != 0) {
		index_writer_free(w);
		return NULL;
	}
	return w;
}

int index_writer_add(struct index_writer *w, const struct strbuf *bytes,
                     const struct segment_summary *summary)
{
	struct index_cluster *c = manifest_add(&w->m);
	if (!c)
		return -1;
	/* The segment file gets its place in the manifest at the end. */
	assert(w->m.nfiles == 0 && w->segment.fd >= 0 && w->segment.size % 8 == 0);
	c->file = 0;
	c->offset = w->segment.size;
	if (store_describe(c, (uint32_t)w->m.nclusters - 1, bytes->data, bytes->len, summary) != 0
	    || store_put(w->os, &w->segment, bytes) != 0) {
		free(c->parents);
		--w->m.nclusters;
		return -1;
	}
	if (c->lsn > w->m.lsn)
		w->m.lsn = c->lsn;
	return 0;
}

int index_writer_finish(struct index_writer *w, const struct index_info *info, index_dir root)
{
	struct manifest *m = &w->m;
	struct store_file journal = {.fd = -1};
	struct strbuf bytes = {0};
	bool replaced = false;
	int rc = -1;
	assert(w->lock >= 0 && m->nfiles == 0 && !m->info.root);
	assert(root == INDEX_DIR_NONE || index_dir_cluster(root) < m->nclusters);
	m->info = *info;
	m->info.root = strdup(info->root ? info->root : "/");
	m->root = root;
	if (!m->info.root)
		goto end;
	if (w->segment.size > 0) {
		if (!ARRAY_ROOM(m->files, m->nfiles, &m->files_room))
			goto end;
		m->files[m->nfiles++] = (struct index_file){
			.number = w->segment.number, .size = w->segment.size,
		};
		if (os_fsync(w->os, w->segment.fd) != 0)
			goto end;
	}
	m->journal = m->next++;
	if (journal_begin(&bytes, m->journal, m->lsn) != 0
	    || store_create(w->os, w->dirfd, "journal", m->journal, &journal) != 0
	    || store_put(w->os, &journal, &bytes) != 0
	    || os_fsync(w->os, journal.fd) != 0)
		goto end;
	rc = store_replace(w->os, w->dirfd, m, &replaced);
	if (replaced) {
		os_close(w->os, journal.fd);
		journal.fd = -1;
		if (w->segment.size > 0) {
			os_close(w->os, w->segment.fd);
			w->segment.fd = -1;
		}
	}
	/* If the directory could not be synced, a crash may restore the old manifest: keep its
	   files. */
	if (rc == 0)
		store_clean(w->os, w->dirfd, m, NULL);
end:
	store_drop(w->os, w->dirfd, &journal);
	strbuf_destroy(&bytes);
	return rc;
}

void index_writer_free(struct index_writer *w)
{
	if (!w)
		return;
	int error = errno;
	store_drop(w->os, w->dirfd, &w->segment);
	manifest_destroy(&w->m);
	os_close(w->os, w->lock);
	os_close(w->os, w->dirfd);
	free(w);
	errno = error;
}

/* Remove an index. */

/** Remove the files of a locked index.  The lock file is removed last: a process that creates a new
    lock file finds no file of the old index.
    @return 0, or -1. */
static int drop_files(struct os *os, int dirfd)
{
	static const char *const names[] = {"manifest", "manifest.new", "lock"};
	const struct manifest none = {.journal = UINT64_MAX};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); ++i) {
		if (os_unlinkat(os, dirfd, names[i]) != 0 && errno != ENOENT)
			return -1;
		if (i == 0 && store_clean(os, dirfd, &none, NULL) != 0)
			return -1;
	}
	return 0;
}

int index_drop(struct os *os, int dirfd, const char *name, bool unfinished)
{
	struct stat st;
	int fd = os_open_entry(os, dirfd, name, O_RDONLY | O_DIRECTORY, ENTRY_LOCAL), rc = -1;
	if (fd < 0)
		return -1;
	/* After drop_files(), another writer can create a new lock file before it sees that there
	   is no index.  Then the directory is not empty and cannot be removed: try again. */
	for (int i = 0; i < LOCK_TRIES; ++i) {
		int lock = store_lock(os, fd);
		/* Another writer is beginning a new index. */
		if (lock < 0 && errno == EWOULDBLOCK && i > 0)
			rc = 0;
		if (lock < 0)
			break;
		bool whole = os_look_entry(os, fd, "manifest", ENTRY_HERE, &st) == 0;
		if (whole && (unfinished || i > 0)) {
			os_close(os, lock);
			rc = 0;
			break;
		}
		rc = drop_files(os, fd);
		os_close(os, lock);
		if (rc != 0)
			break;
		rc = os_remove(os, dirfd, name, true);
		if (rc == 0 || (errno != ENOTEMPTY && errno != EEXIST))
			break;
	}
	os_close(os, fd);
	return rc;
}
