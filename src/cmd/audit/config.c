/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "base/array.h"
#include "base/escape.h"
#include "base/secret.h"
#include "cmd/putfile.h"
#include "cmd/run.h"
#include "cmd/text.h"
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

enum { CONFIG_MAX = 1 << 20 /* bytes of a file */, FILES_MAX = 1000 };

struct reading {
	struct fstab_machine *machine;
	struct audit_config *config;
	struct os *os;
	bool trusting;           /* not the superuser: also read files that other users may write */
	struct strbuf shown;     /* the name of the current file or directory, for messages */
	char **names;            /* names of files in CONFIG_DIR */
	size_t nnames, names_room;
};

/** Whether only root can write a file or directory with the status `st`; print a message if not.
    @option  The option with which another file can be named. */
static bool is_trusted(const char *name, const struct stat *st, const char *option)
{
	if (st->st_uid != 0)
		message(name, "owned by uid %u, who could hide findings from root; chown it to "
		        "root, or name another file with %s", (unsigned)st->st_uid, option);
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		message(name, "writable by others than root (mode %04o), who could hide findings; "
		        "chmod go-w", (unsigned)st->st_mode & 07777);
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
		.blocks = run->live ? mounts_name_block : NULL, .blocks_arg = run_paths(run),
	};
	struct replace file;
	int rc = -1;
	if (replace_open(&run->os, &named, &file) != 0) {
		if (file.error.why == RP_ERROR && file.error.error == ENOENT)
			rc = 0;
		else if (file.error.why == RP_BLOCKS)
			message(name, "not read: accessing %s can block; name another file with %s",
			        file.error.step, option);
		else
			put_open_failed(name, &file);
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

enum { NOT_FOUND = -2 };

/** Open a file or directory below ROOT; its name is stored in r->shown.
    @return a descriptor; NOT_FOUND; or -1 after a message. */
static int open_below(struct reading *r, const char *path, bool dir)
{
	struct run *run = &r->machine->run;
	struct host *host = &r->machine->host;
	const char *root = strbuf_str(&r->machine->root);
	struct strbuf place = {0};
	struct stat st;
	int fd = -1;
	strbuf_reset(&r->shown);
	strbuf_printf(&r->shown, "%s%s", strcmp(root, "/") == 0 ? "" : root, path);
	enum path_followed known = host_follow(host, path, &place);
	const char *at = strbuf_text(&place), *name = strbuf_text(&r->shown);
	if (!at || !name) {
		message(NULL, "%s", strerror(ENOMEM));
	} else if (known == PATH_UNTOUCHED
	           || (known == PATH_SEEN && mounts_path_block(run_paths(run), at))) {
		message(name,
		        "accessing it can block; name a copy with --config, or use --config=none");
	} else if (known == PATH_MISSING && (errno == ENOENT || errno == ENOTDIR)) {
		fd = machine_dangles(host, path) ? -1 : NOT_FOUND;
	} else if (known == PATH_MISSING
	           || (fd = dir ? os_opendir(r->os, AT_FDCWD, at)
	                        : os_open_regular(r->os, AT_FDCWD, at, O_NOFOLLOW)) < 0
	           || os_fstatat(r->os, fd, "", &st) != 0) {
		message(name, "cannot be read: %s; --config=none ignores it", path_error(errno));
		os_close(r->os, fd);
		fd = -1;
	} else if (!r->trusting && !is_trusted(name, &st, "--config")) {
		os_close(r->os, fd);
		fd = -1;
	}
	strbuf_destroy(&place);
	return fd;
}

/** Parse the text of a configuration file, and free the text.  @return 0, or -1 after a message. */
static int parse_text(struct reading *r, const char *name, char *text, size_t len)
{
	int rc = audit_config_parse(r->config, name, text, len);
	if (rc != 0)
		message(name, "%s", strerror(errno));
	free(text);
	return rc;
}

/** Read a configuration file below ROOT, if the file exists.  @return 0, or -1 after a message. */
static int read_file(struct reading *r, const char *path)
{
	char *text;
	size_t len;
	int fd = open_below(r, path, false);
	if (fd < 0)
		return fd == NOT_FOUND ? 0 : -1;
	int rc = os_read_fd(r->os, fd, CONFIG_MAX, &text, &len);
	const char *name = strbuf_str(&r->shown);
	if (rc != 0 && errno == EFBIG)
		message(name, TOO_LARGE, CONFIG_MAX);
	else if (rc != 0)
		message(name, "cannot be read: %s; --config=none ignores it", path_error(errno));
	os_close(r->os, fd);
	return rc == 0 ? parse_text(r, name, text, len) : -1;
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** List the configuration files in CONFIG_DIR by name, if the directory exists.
    @return 0, or -1 after a message. */
static int list_dir(struct reading *r)
{
	_Alignas(struct k_dirent) char buf[32 * 1024];
	struct os_dir dir;
	int fd = open_below(r, CONFIG_DIR, true);
	if (fd < 0)
		return fd == NOT_FOUND ? 0 : -1;
	os_dir_begin(&dir, r->os, fd, buf, sizeof(buf));
	for (const char *name; (name = os_dir_next(&dir)) != NULL && r->nnames <= FILES_MAX;) {
		size_t len = strlen(name);
		if (len <= 5 || *name == '.' || strcmp(name + len - 5, ".conf") != 0)
			continue;
		if (!ARRAY_ROOM(r->names, r->nnames, &r->names_room)
		    || !(r->names[r->nnames] = strdup(name))) {
			dir.error = ENOMEM;
			break;
		}
		++r->nnames;
	}
	os_close(r->os, fd);
	bool good = dir.error == 0 && r->nnames <= FILES_MAX;
	if (dir.error)
		message(strbuf_str(&r->shown), "cannot be read: %s; --config=none ignores it",
		        strerror(dir.error));
	else if (!good)
		message(strbuf_str(&r->shown), "more than %d files; merge some", FILES_MAX);
	else if (r->nnames)
		qsort(r->names, r->nnames, sizeof(*r->names), compare_names);
	return good ? 0 : -1;
}

/** Read the configuration files at their default paths.  @return 0, or -1 after a message. */
static int read_default(struct reading *r)
{
	struct strbuf path = {0};
	int rc = read_file(r, CONFIG_FILE) == 0 && list_dir(r) == 0 ? 0 : -1;
	for (size_t i = 0; i < r->nnames && rc == 0; ++i) {
		strbuf_reset(&path);
		strbuf_printf(&path, "%s/%s", CONFIG_DIR, r->names[i]);
		rc = read_file(r, strbuf_str(&path));
	}
	for (size_t i = 0; i < r->nnames; ++i)
		free(r->names[i]);
	free(r->names);
	strbuf_destroy(&r->shown);
	strbuf_destroy(&path);
	return rc;
}

/** Read the configuration file that --config names.  @return 0, or -1 after a message. */
static int read_given(struct reading *r, const char *name)
{
	char *text;
	size_t len;
	int rc = audit_read_named(r->machine, name, "--config", CONFIG_MAX, &text, &len);
	if (rc == 0)
		message(name, "cannot be read: %s; name a file, or --config=none",
		        strerror(ENOENT));
	return rc > 0 ? parse_text(r, name, text, len) : -1;
}

/** Report the invalid lines of the configuration.  @return 0: no line is invalid; or -1. */
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
	struct os *os = &machine->run.os;
	struct reading r = {.machine = machine, .config = config, .os = os};
	if (given ? strcmp(given, "none") == 0 : !machine->run.live)
		return 0;
	r.trusting = os_geteuid(os) != 0;
	int rc = given ? read_given(&r, given) : read_default(&r);
	return report_problems(config) == 0 ? rc : -1;
}

int audit_config_show(const struct audit_config *config, const char *looked, int64_t today)
{
	struct text text = {0};
	for (size_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		struct strbuf masked = {0};
		mask_options(row->text, &masked);
		text_put(&text, "%s: %s%s\n", row->place, strbuf_str(&masked),
		         audit_row_over(row, today) ? "   # expired" : "");
		text_lack(&text, masked.failed);
		strbuf_destroy(&masked);
	}
	if (config->count == 0) {
		const char *head = looked && strcmp(looked, "/") != 0 ? looked : "";
		text_put(&text, "# nothing is configured");
		if (looked)
			text_put(&text, " in %s" CONFIG_FILE " and %s" CONFIG_DIR "/*.conf", head,
			         head);
		text_put(&text, "\n");
	}
	text_print(&text, stdout);
	return 0;
}
