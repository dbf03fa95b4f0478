/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "base/array.h"
#include "base/escape.h"
#include "cmd/putfile.h"
#include "cmd/view.h"
#include "os/entry.h"
#include "os/file.h"
#include "path/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define CONFIG_FILE "/etc/getmnt/audit.conf"
#define CONFIG_DIR CONFIG_FILE ".d"
#define TOO_LARGE "larger than %d bytes; split it, or name another file"

enum { CONFIG_MAX = 1 << 20 /* bytes of a file */, FILES_MAX = 1000, DIR_BYTES = 32 * 1024 };

struct reading {
	struct fstab_machine *machine;
	struct audit_config *config;
	struct os *os;
	bool trusting;           /* not root: files that others may write are read */
	char **names;            /* of files in CONFIG_DIR */
	size_t nnames, names_room;
};

/** Whether only root can write an open file or directory.  If not, reports it.
    @option  The option that names another file. */
static bool is_trusted(const char *name, const struct stat *st, const char *option)
{
	if (st->st_uid != 0)
		message(
		    name,
		    "owned by uid %u, who could hide findings from root; chown it to root, or "
		    "name another file with %s",
		    (unsigned)st->st_uid, option);
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		message(
		    name,
		    "writable by others than root (mode %04o), who could hide findings; chmod go-w",
		    (unsigned)st->st_mode & 07777);
	else
		return true;
	return false;
}

int audit_read_named(struct fstab_machine *machine, const char *name, const char *option,
                     size_t max, char **text, size_t *len)
{
	struct run *run = &machine->run;
	struct replace_name named = {
		.path = name, .may_create = true, .may_pipe = true,
		.blocks = run->live ? put_blocks : NULL, .blocks_arg = run,
	};
	struct replace file;
	int rc = -1;
	if (replace_open(&run->os, &named, &file) != 0) {
		if (file.error.why == RP_ERROR && file.error.error == ENOENT)
			rc = 0;
		else if (file.error.why == RP_BLOCKS)
			message(name, "touching it can block; name another file with %s", option);
		else
			put_open_failed(name, &file.error);
	} else if (file.missing) {
		rc = 0;
	} else if (file.len > max) {
		message(name, TOO_LARGE, (int)max);
	} else if (os_geteuid(&run->os) != 0 || is_trusted(name, &file.st, option)) {
		*text = file.text;
		*len = file.len;
		file.text = NULL;
		rc = 1;
	}
	replace_close(&file);
	return rc;
}

/** Open a resolved path, and check who may write it.  @return a descriptor, or -1 after a message.
 */
static int open_trusted(struct reading *r, const char *name, const char *place, bool dir)
{
	struct os *os = r->os;
	struct stat st;
	int fd = dir ? os_opendir(os, AT_FDCWD, place)
	             : os_open_regular(os, AT_FDCWD, place, O_NOFOLLOW);
	if (fd < 0 || os_fstatat(os, fd, "", &st) != 0) {
		message(name, "cannot be read: %s; --config=none ignores it", path_error(errno));
		os_close(os, fd);
		return -1;
	}
	if (r->trusting || is_trusted(name, &st, "--config"))
		return fd;
	os_close(os, fd);
	return -1;
}

/** Parse the text of a file.  @return 0, or -1 after a message. */
static int take_text(struct reading *r, const char *name, const char *text, size_t len)
{
	int rc = audit_config_parse(r->config, name, text, len);
	if (rc != 0)
		message(name, "%s", strerror(errno));
	return rc;
}

/** Read a file by its resolved path.  @return 0, or -1 after a message. */
static int read_file(struct reading *r, const char *name, const char *place)
{
	struct os *os = r->os;
	char *text;
	size_t len;
	int fd = open_trusted(r, name, place, false);
	if (fd < 0)
		return -1;
	int rc = os_read_fd(os, fd, CONFIG_MAX, &text, &len);
	if (rc != 0 && errno == EFBIG)
		message(name, TOO_LARGE, CONFIG_MAX);
	else if (rc != 0)
		message(name, "cannot be read: %s; --config=none ignores it", path_error(errno));
	os_close(os, fd);
	if (rc != 0)
		return -1;
	rc = take_text(r, name, text, len);
	free(text);
	return rc;
}

/** The name of a path below ROOT, for messages. */
static void show_name(struct reading *r, const char *path, struct strbuf *shown)
{
	const char *root = strbuf_str(&r->machine->root);
	strbuf_reset(shown);
	strbuf_printf(shown, "%s%s", strcmp(root, "/") == 0 ? "" : root, path);
}

/** Where a path from ROOT leads.
    @shown [out]  Its name, for messages.
    @return 1; 0: it does not exist; -1 after a message. */
static int find(struct reading *r, const char *path, struct strbuf *shown, struct strbuf *place)
{
	struct run *run = &r->machine->run;
	show_name(r, path, shown);
	enum host_followed known = host_follow(&r->machine->host, path, place);
	int error = errno;
	if (shown->failed || place->failed)
		message(NULL, "%s", strerror(ENOMEM));
	else if (known == HOST_BLIND || (known == HOST_SEEN && path_blocks(run, strbuf_str(place))))
		message(strbuf_str(shown),
		        "touching it can block; name a copy with --config, or use --config=none");
	else if (known == HOST_SEEN)
		return 1;
	else if (error == ENOENT || error == ENOTDIR)
		return machine_dangles(&r->machine->host, path) ? -1 : 0;
	else
		message(strbuf_str(shown), "cannot be read: %s; --config=none ignores it",
		        path_error(error));
	return -1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** List the files of a directory.  @return 0, or -1 after a message. */
static int list_dir(struct reading *r, const char *name, int fd)
{
	struct os *os = r->os;
	const struct k_dirent *entry;
	ssize_t n;
	void *buf = malloc(DIR_BYTES);
	bool failed = !buf;
	while (!failed && (n = os_getdents(os, fd, buf, DIR_BYTES)) != 0) {
		size_t at = 0, len;
		failed = n < 0;
		while (!failed && (entry = os_dirent(buf, (size_t)n, &at, &len)) != NULL) {
			if (len <= 5 || *entry->name == '.'
			    || strcmp(entry->name + len - 5, ".conf") != 0)
				continue;
			if (r->nnames == FILES_MAX) {
				message(name, "more than %d files; merge some", FILES_MAX);
				free(buf);
				return -1;
			}
			failed = !ARRAY_ROOM(r->names, r->nnames, &r->names_room)
			         || !(r->names[r->nnames] = strdup(entry->name));
			r->nnames += !failed;
		}
		failed |= !failed && at < (size_t)n;
	}
	if (failed)
		message(name, "cannot be read: %s; --config=none ignores it", strerror(errno));
	else if (r->nnames)
		qsort(r->names, r->nnames, sizeof(*r->names), compare_names);
	free(buf);
	return failed ? -1 : 0;
}

/** Read the files at their usual places.  @return 0, or -1 after a message. */
static int read_default(struct reading *r)
{
	struct strbuf shown, place, path;
	strbuf_init(&shown);
	strbuf_init(&place);
	strbuf_init(&path);
	int rc = find(r, CONFIG_FILE, &shown, &place);
	if (rc > 0)
		rc = read_file(r, strbuf_str(&shown), strbuf_str(&place));
	if (rc == 0)
		rc = find(r, CONFIG_DIR, &shown, &place);
	if (rc > 0) {
		int fd = open_trusted(r, strbuf_str(&shown), strbuf_str(&place), true);
		rc = fd < 0 ? -1 : list_dir(r, strbuf_str(&shown), fd);
		os_close(r->os, fd);
	}
	for (size_t i = 0; i < r->nnames && rc == 0; ++i) {
		strbuf_reset(&path);
		strbuf_printf(&path, "%s/%s", CONFIG_DIR, r->names[i]);
		rc = find(r, strbuf_str(&path), &shown, &place);
		/* 0: it was removed while the directory was read. */
		if (rc > 0)
			rc = read_file(r, strbuf_str(&shown), strbuf_str(&place));
	}
	strbuf_destroy(&shown);
	strbuf_destroy(&place);
	strbuf_destroy(&path);
	return rc;
}

/** Read a named file.  @return 0, or -1 after a message. */
static int read_given(struct reading *r, const char *name)
{
	char *text = NULL;
	size_t len;
	int rc = audit_read_named(r->machine, name, "--config", CONFIG_MAX, &text, &len);
	if (rc == 0)
		message(name, "cannot be read: %s; name a file, or --config=none",
		        strerror(ENOENT));
	rc = rc > 0 ? take_text(r, name, text, len) : -1;
	free(text);
	return rc;
}

/** Report invalid lines.  @return 0, or -1: there are some. */
static int report_problems(const struct audit_config *config)
{
	size_t kept = config->nproblems < AUDIT_PROBLEMS_MAX ? config->nproblems
	                                                     : AUDIT_PROBLEMS_MAX;
	for (size_t i = 0; i < kept; ++i)
		message(config->problems[i].place, "%s", config->problems[i].why);
	if (kept < config->nproblems)
		message(NULL, "%zu more invalid lines in the configuration",
		        config->nproblems - kept);
	return config->nproblems ? -1 : 0;
}

int audit_config_read(struct fstab_machine *machine, const char *given, struct audit_config *config)
{
	struct reading r = {.machine = machine, .config = config, .os = &machine->run.os};
	if (given ? strcmp(given, "none") == 0 : !machine->run.live)
		return 0;
	r.trusting = os_geteuid(&machine->run.os) != 0;
	int rc = given ? read_given(&r, given) : read_default(&r);
	for (size_t i = 0; i < r.nnames; ++i)
		free(r.names[i]);
	free(r.names);
	return report_problems(config) == 0 ? rc : -1;
}

int audit_config_show(const struct audit_config *config, const char *looked, int64_t today)
{
	struct strbuf out;
	strbuf_init(&out);
	for (size_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		escape_terminal(&out, row->place);
		strbuf_puts(&out, ": ");
		audit_put_row(&out, row);
		strbuf_puts(&out, audit_row_over(row, today) ? "   # expired\n" : "\n");
	}
	if (config->count == 0) {
		const char *head = looked && strcmp(looked, "/") != 0 ? looked : "";
		strbuf_puts(&out, "# nothing is configured");
		if (looked) {
			strbuf_puts(&out, " in ");
			escape_terminal(&out, head);
			strbuf_puts(&out, CONFIG_FILE " and ");
			escape_terminal(&out, head);
			strbuf_puts(&out, CONFIG_DIR "/*.conf");
		}
		strbuf_putc(&out, '\n');
	}
	bool failed = out.failed;
	if (!failed)
		fwrite(strbuf_str(&out), 1, out.len, stdout);
	strbuf_destroy(&out);
	return failed ? -1 : 0;
}
