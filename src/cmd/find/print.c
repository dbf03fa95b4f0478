/* SPDX-License-Identifier: MIT */
/*
 * The files that actions write to.  Standard output goes through struct flow, which the reading
 * threads also use; other files are written in blocks.
 */
#include "cmd/find/find.h"

#include "cmd/cmd.h"
#include "os/change.h"
#include "path/named.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

enum { FILE_BLOCK = 64 * 1024 };

void find_error(struct find *find, const char *object, int error)
{
	find->errors = true;
	if (find->flow)
		flow_hold(find->flow);
	message(object, "%s", strerror(error));
	if (find->flow)
		flow_release(find->flow);
}

/** Add a file to the list, unless the list has a file with this inode.
    @fd  Owned by the list, even on failure.
    @return the file in the list, or NULL with errno. */
static struct find_file *add_file(struct find *find, const char *name, int fd)
{
	struct k_statx st;
	if (fd < 0)
		return NULL;
	if (os_statx(&find->os, fd, "", AT_EMPTY_PATH, K_STATX_INO, &st) != 0)
		st = (struct k_statx){0};
	uint64_t dev = (uint64_t)st.dev_major << 32 | st.dev_minor;
	for (struct find_file *file = find->out.next; file; file = file->next) {
		if (st.ino && file->ino == st.ino && file->dev == dev
		    && (fd > STDERR_FILENO) == (file->fd > STDERR_FILENO)) {
			if (fd > STDERR_FILENO)
				os_close(&find->os, fd);
			return file;
		}
	}
	struct find_file *file = malloc(sizeof(*file));
	if (!file) {
		if (fd > STDERR_FILENO)
			os_close(&find->os, fd);
		return NULL;
	}
	*file = (struct find_file){
		.next = find->out.next, .name = name, .fd = fd, .dev = dev, .ino = st.ino,
		.terminal = isatty(fd),
	};
	find->out.next = file;
	return file;
}

struct find_file *find_file_open(struct find *find, const char *name, struct strbuf *why)
{
	if (strcmp(name, "/dev/stdout") == 0)
		return &find->out;
	if (strcmp(name, "/dev/stderr") == 0)
		return add_file(find, name, STDERR_FILENO);
	return add_file(find, name, path_create_named(&find->os, name, why));
}

static void write_file(struct find *find, struct find_file *file)
{
	/* file->text is complete: find_put() adds each text completely, or not at all. */
	struct iovec piece = {(void *)(uintptr_t)strbuf_text(&file->text), file->text.len};
	struct iovec *pieces = &piece;
	size_t n = 1;
	if (file->text.len == 0)
		return;
	if (!file->failed && os_write_all(&find->os, file->fd, &pieces, &n) != 0) {
		file->failed = true;
		find_error(find, file->name, errno);
	}
	strbuf_reset(&file->text);
}

void find_put(struct find *find, struct find_file *file)
{
	if (find->text.failed) {
		find_error(find, find->visit->path, ENOMEM);
		strbuf_renew(&find->text);
	}
	if (find->text.len == 0)
		return;
	if (file->fd < 0) {
		flow_add(find->flow, &find->text);
		return;
	}
	if (!strbuf_try(&file->text, find->text.data, find->text.len)) {
		/* Write the buffer, which is then empty, and try again. */
		write_file(find, file);
		if (!strbuf_try(&file->text, find->text.data, find->text.len))
			find_error(find, file->name, ENOMEM);
	}
	strbuf_reset(&find->text);
	if (file->text.len >= FILE_BLOCK || file->fd <= STDERR_FILENO)
		write_file(find, file);
}

void find_flush(struct find *find)
{
	flow_flush(find->flow);
	for (struct find_file *file = find->out.next; file; file = file->next)
		write_file(find, file);
}

void find_files_finish(struct find *find)
{
	for (struct find_file *file = find->out.next, *next; file; file = next) {
		next = file->next;
		write_file(find, file);
		if (file->fd > STDERR_FILENO && os_close_written(&find->os, file->fd) != 0
		    && !file->failed)
			find_error(find, file->name, errno);
		strbuf_destroy(&file->text);
		free(file);
	}
	find->out.next = NULL;
}
