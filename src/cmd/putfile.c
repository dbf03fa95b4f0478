/* SPDX-License-Identifier: MIT */
#include "cmd/putfile.h"

#include "base/command.h"
#include "base/escape.h"
#include "cmd/linediff.h"
#include "base/secret.h"
#include "cmd/cmd.h"
#include "cmd/run.h"
#include "cmd/text.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

int put_check(const struct put_options *options)
{
	const char *alone = options->yes ? "--yes" : options->force ? "--force"
	                    : options->no_backup ? "--no-backup" : NULL;
	if (!alone || options->write)
		return 0;
	usage_error(alone, "requires --write");
	return PX_NOT_CHECKED;
}

/* Reading. */

/** For each reason why a file cannot be read or written: the message about reading, the message
    about writing, and the option that helps, which is not printed for put_report().  add_reason()
    expands the messages. */
static const struct {
	const char *reading, *writing, *option;
} reasons[] = {
	[RP_ERROR] = {"%s failed: %e", "%s: %e"},
	[RP_TYPE] = {.reading = "%s; give a file"},
	[RP_TOO_LARGE] = {.reading = "larger than 64 MiB: not a table of mounts"},
	[RP_KERNEL] = {.writing = "the kernel generates this file",
	               .option = "; --force-file replaces a symlink to it with a file"},
	[RP_CHANGED] = {"not read: another program keeps writing to it; try again when it has "
	                "finished",
	                "it was changed after it was read (%s); check it, and try again"},
	[RP_LOCKED] = {.writing = "another getmnt process is writing it (lock %s); try again "
	                          "later"},
	[RP_LINKS] = {.writing = "%s (hard links), and the others would keep the old lines; \"%p\" "
	                         "lists them", .option = "; --force replaces only this one"},
	[RP_IMMUTABLE] = {.writing = "%s is immutable (chattr +i); to write it anyway: %i"},
	[RP_APPEND] = {.writing = "%s is append-only (chattr +a); to write it anyway: %a"},
	[RP_READ_ONLY] = {.writing = "its file system is read-only; mount it read-write (mount -o "
	                             "remount,rw), and try again"},
	[RP_BOUND] = {.writing = "it is a mount point (a file is bound there), which cannot be "
	                         "replaced; write the bound file, or unmount it first"},
	[RP_SPACE] = {.writing = "%s: %e; make room, and try again"},
	[RP_DENIED] = {.writing = "%s: %e; check the permissions of its directory"},
	[RP_KEEP] = {.writing = "its %s cannot be kept: %e"},
	[RP_SIGNAL] = {.writing = "interrupted by a signal (%s)"},
	[RP_UNSURE] = {.writing = "written, but it may not survive a power failure: %s: %e"},
	[RP_LINK] = {"not read: %s, who can change its target at any time; name the target itself"},
	[RP_BLOCKS] = {"not read: accessing %s can block; to read it anyway, name the file by its "
	               "path there"},
	[RP_DANGLING] = {.writing = "the target of the symlink does not exist; name the target to "
	                            "create it",
	                 .option = ", or use --force-file to replace the symlink with a file"},
	[RP_MOUNT] = {"not read: a file system that can block is mounted on it; unmount it, and "
	              "try again",
	              "%s: another file system is mounted on it, which could block forever; "
	              "unmount it, and try again"},
	[RP_LOCK] = {.writing = "%s, so other users could hold the lock forever; if no getmnt is "
	                        "running, remove the lock file, and try again"},
	[RP_OVERTAKEN] = {.writing = "written, but another program wrote to it at the same moment; "
	                             "what it wrote could not be restored (%e) and is in %l; "
	                             "compare both"},
};

/** Append a message of `reasons`, with these words replaced:
     %s  the failed step
     %e  the error of the failed step
     %l  the name of the temporary file, which remains and has the new text
     %p  a command that lists the hard links of the file
     %i  a command that makes an immutable file writable
     %a  a command that makes an append-only file writable */
static void add_reason(struct strbuf *out, const char *text, const struct replace *file,
                       const char *path)
{
	static const char no_error[] = "the file system accepts it, but stores another value";
	const struct replace_error *error = &file->error;
	for (; *text; ++text) {
		char c = *text == '%' ? *++text : '\0';
		if (c == 's') {
			strbuf_puts(out, error->step);
		} else if (c == 'e') {
			assert(error->error != 0 || error->why == RP_KEEP);
			strbuf_puts(out, error->error == 0 ? no_error
			                 : error->error == ETIME ? path_error(ETIME)
			                                         : strerror(error->error));
		} else if (c == 'l') {
			strbuf_puts(out, file->left ? file->left
			                            : ".NAME.getmnt-new next to it");
		} else if (c == 'p') {
			command_words(out, "find", "DIR", "-samefile", path, NULL);
		} else if (c) {
			command_words(out, "chattr", c == 'i' ? "-i" : "-a", NULL);
			if (strcmp(error->step, "its directory") == 0)
				strbuf_puts(out, " on the directory of");
			command_operand(out, path);
		} else {
			strbuf_putc(out, *text);
		}
	}
}

void put_open_failed(const char *path, const struct replace *file)
{
	const char *text = reasons[file->error.why].reading;
	struct strbuf line = {0}, object = {0};
	add_reason(&line, file->error.error == ETIME ? "cannot be read: %e"
	                  : text ? text : reasons[RP_ERROR].reading, file, path);
	/* Name a symlink with its target, as ls -l does. */
	strbuf_puts(&object, path);
	if (file->link && file->path)
		strbuf_printf(&object, " -> %s", file->path);
	message(strbuf_str(&object), "%s", strbuf_str(&line));
	strbuf_destroy(&object);
	strbuf_destroy(&line);
}

/** Call replace_open(), and report a failure. */
static int open_file(struct os *os, const struct replace_name *name, struct replace *file)
{
	int rc = replace_open(os, name, file);
	if (rc != 0)
		put_open_failed(file->path && !file->link ? file->path : name->path, file);
	return rc;
}

int put_open(struct os *os, const struct put_options *options, const struct replace_name *request,
             struct put **out)
{
	struct put *put = calloc(1, sizeof(*put));
	if (!put)
		return message_error(request->path, ENOMEM, PX_NOT_CHECKED);
	put->options = options;
	put->rooted = request->root && strcmp(request->root, "/") != 0;
	struct replace_name name = *request;
	name.at_link = options->force_file;
	name.named &= !put->rooted;
	if (open_file(os, &name, &put->file) == 0) {
		*out = put;
		return 0;
	}
	put_close(put);
	return PX_NOT_CHECKED;
}

bool put_is_stdout(const struct put *put)
{
	struct k_statx out, file;
	const unsigned mask = K_STATX_INO | K_STATX_TYPE;
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
	return !put->file.missing
	       && os_statx(put->file.os, STDOUT_FILENO, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, mask,
	                   &out) == 0
	       && os_statx(put->file.os, AT_FDCWD, put->file.path, flags, mask, &file) == 0
	       && out.ino == file.ino && out.dev_major == file.dev_major
	       && out.dev_minor == file.dev_minor;
}

void put_close(struct put *put)
{
	if (!put)
		return;
	replace_close(&put->file);
	free(put);
}

/* Messages. */

/** Append the number of lines that differ. */
static void put_counts(struct strbuf *out, const struct put *put, struct linediff_count count)
{
	if (count.removed)
		strbuf_printf(out, "%zu line%s removed", count.removed,
		              count.removed == 1 ? "" : "s");
	if (count.added)
		strbuf_printf(out, "%s%zu line%s added", count.removed ? ", " : "", count.added,
		              count.added == 1 ? "" : "s");
	if (count.removed + count.added == 0)
		strbuf_puts(out, put->file.at_link ? "a symlink, to become a file with the same "
		                                     "lines"
		                 : put->file.missing ? "missing, to be created empty"
		                                     : "no line changes");
}

/** Report the file system of the file: "on ext4 of /dev/sda2, mounted on /". */
static void report_place(const struct put *put)
{
	const struct replace *file = &put->file;
	struct mount_table *table = table_read_kernel(put->file.os, TABLE_AUTO,
	                                              MF_FSTYPE | MF_SOURCE | MF_POINT);
	const struct mount *found = NULL;
	for (size_t i = 0; table && file->mnt_id && i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if ((file->mnt_unique ? m->uniq_id : m->id) == file->mnt_id)
			found = m;
	}
	struct strbuf source = {0};
	if (found && found->source)
		mask_source(found->source, &source);
	if (found)
		message(file->path, "on %s of %s, mounted on %s",
		        found->fstype ? found->fstype : "?",
		        found->source ? strbuf_str(&source) : "?",
		        found->point ? found->point : "?");
	else
		message(file->path, "its file system is unknown");
	strbuf_destroy(&source);
	table_free(table);
}

/** Report why a file was not written, and where the new text is.
    @report  Called for put_report(): do not suggest an option, since put_report() has none.
    @return PX_NOT_WRITTEN. */
static int report_failure(const struct replace *file, bool report)
{
	enum replace_why why = file->error.why;
	const char *text = reasons[why].writing, *option = reasons[why].option;
	struct strbuf line = {0};
	strbuf_puts(&line, why == RP_UNSURE || why == RP_OVERTAKEN ? "" : "not written: ");
	add_reason(&line, text ? text : reasons[RP_ERROR].writing, file, file->path);
	strbuf_puts(&line, option && !report ? option : "");
	message(file->path, "%s", strbuf_str(&line));
	if (file->left && !file->replaced)
		message(file->path, "not changed; the complete new file is %s", file->left);
	else if (!file->replaced && !report)
		message(file->path, "%s; --diff prints the changes",
		        file->missing ? "still missing" : "not changed");
	strbuf_destroy(&line);
	return PX_NOT_WRITTEN;
}

/** Report the changes, and how to undo them. */
static void report_done(const struct put *put)
{
	const struct replace *file = &put->file;
	struct strbuf text = {0};
	if (file->backup)
		strbuf_printf(&text, "; the old file is %s", file->backup);
	else
		strbuf_puts(&text, file->missing ? "; it did not exist before"
		                                 : "; no backup was kept");
	if (file->backup && file->pruned)
		strbuf_printf(&text, "; %u older backup%s removed", file->pruned,
		              file->pruned == 1 ? "" : "s");
	message(file->path, "written%s", strbuf_str(&text));
	strbuf_reset(&text);
	if (file->backup)
		command_words(&text, "mv", "--", file->backup, file->path, NULL);
	else
		command_words(&text, "rm", "--", file->path, NULL);
	if (text.failed)
		message(file->path, "%s", strerror(ENOMEM));
	else if (file->backup || file->missing)
		message(file->path, "to undo: %s", strbuf_str(&text));
	strbuf_destroy(&text);
}

/** If the file is /etc/fstab, report that systemd still uses the old version. */
static void report_reload(const struct put *put)
{
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;   /* do not contact a server */
	struct k_statx fstab, systemd;
	struct stat written;
	const struct replace *file = &put->file;
	if (put->rooted || os_statx(put->file.os, AT_FDCWD, "/run/systemd/system", flags, 0,
	                            &systemd) != 0
	    || os_fstatat(put->file.os, file->dirfd, file->name, &written) != 0)
		return;
	/* Compare device and inode numbers, since /etc/fstab may be a symlink to the written
	   file. */
	if (os_statx(put->file.os, AT_FDCWD, "/etc/fstab", flags, K_STATX_INO, &fstab) == 0
	    && makedev(fstab.dev_major, fstab.dev_minor) == written.st_dev
	    && fstab.ino == written.st_ino)
		message(file->path,
		        "systemd still uses the old version: run systemctl daemon-reload");
}

/* Writing. */

/** Ask for confirmation on the terminal.  @return 0: yes; else an exit status. */
static int ask(const struct put *put)
{
	if (put->options->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		message(put->file.path,
		        "not written: confirmation requires a terminal; use --yes to skip it");
		return PX_NOT_WRITTEN;
	}
	struct strbuf line = {0};
	text_say(stderr, "Write %s? [y/N] ", put->file.path);
	for (;;) {
		char c;
		ssize_t n = os_read(put->file.os, STDIN_FILENO, &c, 1);
		/* At the end of input, no newline was typed: print a newline. */
		if (n <= 0)
			text_say(stderr, "\n");
		if (n <= 0 || c == '\n')
			break;
		strbuf_putc(&line, c);
	}
	const char *answer = strbuf_text(&line);
	bool yes = answer && (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0);
	strbuf_destroy(&line);
	if (!yes)
		message(put->file.path, "nothing was written");
	return yes ? 0 : PX_DIFFERENT;
}

static int write_file(struct put *put, const char *new, size_t len,
                      const struct put_verdict *verdict)
{
	const struct put_options *o = put->options;
	int status;
	report_place(put);
	if (verdict && verdict->nrisks && !o->force) {
		message(put->file.path, "not written: new boot risks, see above; --force writes it "
		        "anyway");
		return PX_NOT_WRITTEN;
	}
	if (replace_may(&put->file, o->force) != 0)
		return report_failure(&put->file, false);
	if ((status = ask(put)) != 0)
		return status;
	if (replace_commit(&put->file, new, len, !o->no_backup, o->force) != 0) {
		report_failure(&put->file, false);
		if (put->file.replaced)
			report_done(put);
		return PX_NOT_WRITTEN;
	}
	report_done(put);
	report_reload(put);
	return PX_OK;
}

int put_finish(struct put *put, const char *new, size_t len, const struct put_verdict *verdict)
{
	const struct put_options *o = put->options;
	const struct replace *file = &put->file;
	/* With --force-file, a symlink differs from the file that replaces it, even if all lines
	   are equal. */
	bool same = !file->at_link && !file->missing && len == file->len
	            && memcmp(new, file->text, len) == 0;
	struct linediff_count count = {0};
	int status = same ? 0 : put_diff(put, new, len, &count);
	if (status)
		return status;
	struct strbuf line = {0};
	put_counts(&line, put, count);
	if (verdict && verdict->summary)
		strbuf_printf(&line, "; %s", verdict->summary);
	bool check = !o->diff && !o->write;
	if (check)
		text_say(stdout, "%s: %s\n", file->path, strbuf_str(&line));
	status = same ? PX_OK : PX_DIFFERENT;
	/* Do not write changes that cannot be printed. */
	bool shown = flush_stdout() == 0 && !line.failed;
	if (line.failed)
		message(file->path, "%s", strerror(ENOMEM));
	else if (!check)
		message(file->path, "%s", strbuf_str(&line));
	if (!shown)
		status = o->write && !same ? PX_NOT_WRITTEN : PX_NOT_CHECKED;
	if (status == PX_NOT_WRITTEN) {
		message(file->path, "not written: the changes could not be printed");
		message(file->path, "not changed; --diff prints the changes");
	}
	strbuf_destroy(&line);
	for (size_t i = 0; verdict && i < verdict->nrisks; ++i)
		message(file->path, "new boot risk: %s", verdict->risks[i]);
	if (o->write && status == PX_DIFFERENT)
		status = write_file(put, new, len, verdict);
	return status;
}

/** The mounts, to check whether a symlink leads to a mount that can block. */
struct output_mounts {
	struct os *os;
	struct mount_table *table;   /* NULL before the table is read */
};

static bool leads_to_blocking(void *arg, const char *path)
{
	struct output_mounts *mounts = arg;
	if (!mounts->table)
		mounts->table = table_read_kernel(mounts->os, TABLE_AUTO,
		                                  MF_POINT | MF_FSTYPE | MF_SOURCE);
	return !mounts->table || mounts_type_blocks(mounts->table, path);
}

int put_report(struct os *os, const char *path, const char *bytes, size_t len)
{
	enum { TRIES = 8 };
	struct output_mounts mounts = {.os = os};
	const struct replace_name request = {.path = path, .may_create = true, .named = true,
		.blocks = leads_to_blocking, .blocks_arg = &mounts};
	int status = PX_NOT_WRITTEN;
	bool again = true;
	for (int tries = 1; again; ++tries) {
		struct replace file;
		bool opened = open_file(os, &request, &file) == 0;
		bool failed = !opened || replace_may(&file, true) != 0
		              || (bytes && replace_commit(&file, bytes, len, false, true) != 0);
		/* RP_CHANGED: another process replaced the file after this function opened it.  The
		   text to be written is newer: try again. */
		again = opened && failed && file.error.why == RP_CHANGED && tries < TRIES;
		if (opened && !again)
			status = failed ? report_failure(&file, true) : PX_OK;
		replace_close(&file);
	}
	table_free(mounts.table);
	return status;
}
