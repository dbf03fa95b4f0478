/* SPDX-License-Identifier: MIT */
#include "cmd/putfile.h"

#include "base/escape.h"
#include "base/linediff.h"
#include "cmd/cmd.h"
#include "cmd/view.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

struct put {
	const struct put_options *options;
	struct os *os;
	struct replace file;
	bool report;             /* it is a report: put_report() */
	bool rooted;             /* it is not a file of this system */
};

bool put_take(struct put_options *options, const char *name, int *status)
{
	const struct {
		const char *name;
		bool *flag;
	} flags[] = {
		{"check", &options->check}, {"diff", &options->diff}, {"write", &options->write},
		{"yes", &options->yes}, {"force", &options->force},
		 {"force-file", &options->force_file},
		{"no-backup", &options->no_backup},
	};
	*status = 0;
	for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); ++i) {
		if (strcmp(name, flags[i].name) != 0)
			continue;
		*flags[i].flag = true;
		if (options->check + options->diff + options->write > 1) {
			usage_error("--check, --diff, --write", "one of them at a time");
			*status = PX_UNJUDGED;
		}
		return true;
	}
	return false;
}

int put_check(const struct put_options *options)
{
	const char *alone = options->write ? NULL : options->yes ? "--yes" : options->force
	                    ? "--force"
	                    : options->no_backup ? "--no-backup" : NULL;
	if (!alone)
		return 0;
	usage_error(alone, "requires --write");
	return PX_UNJUDGED;
}

/* Reading. */

bool put_blocks(void *arg, const char *path)
{
	const struct run *run = arg;
	const char *prefix = run->prefix && strcmp(run->prefix, "/") != 0 ? run->prefix : "";
	size_t n = strlen(prefix);
	bool below = strncmp(path, prefix, n) == 0 && (path[n] == '/' || !path[n]);
	/* Beside a root that can block, all would: "/" is touched anyway. */
	bool judged = run->d && run->judged && run->procfd == AT_FDCWD && below
	              && run->d->root != MT_NONE
	              && !node_blocks(run, run->d->root);
	uint32_t node = judged ? path_mount(run, path[n] ? path + n : "/") : MT_NONE;
	return node != MT_NONE ? node_blocks(run, node) : discover_path_blocks(run->table, path);
}

void put_open_failed(const char *path, const struct replace_error *error)
{
	switch (error->why) {
	case RP_TYPE:
		message(path, "%s; give a file", error->step);
		break;
	case RP_TOO_LARGE:
		message(path, "larger than %d MiB: not a table of mounts", REPLACE_MAX >> 20);
		break;
	case RP_CHANGED:
		message(path, "changes all the time while it is read; try again when nobody writes "
		        "to it");
		break;
	case RP_LINK:
		message(path,
		        "not read: %s, who could make it lead anywhere; name the file that it "
		        "leads to",
		        error->step);
		break;
	case RP_BLOCKS:
		message(path, "not read: touching %s can block; to read it anyway, name the file "
		        "there", error->step);
		break;
	case RP_MOUNT:
		message(path, "not read: a file system that can block is mounted on it; unmount "
		        "it, and try again");
		break;
	default:
		if (error->error == ETIME)
			message(path, "cannot be read: %s", path_error(ETIME));
		else
			message(path, "cannot be read: %s: %s", error->step,
			        strerror(error->error));
	}
}

int put_open(struct os *os, const struct put_options *options, const struct put_request *request,
             struct put **out)
{
	struct replace_error error;
	struct put *put = calloc(1, sizeof(*put));
	if (!put) {
		message(request->path, "%s", strerror(ENOMEM));
		return PX_UNJUDGED;
	}
	put->os = os;
	put->options = options;
	put->rooted = request->root && strcmp(request->root, "/") != 0;
	struct replace_name name = {
		.path = request->path, .root = request->root, .may_create = request->may_create,
		.at_link = options->force_file, .blocks = request->blocks,
		.blocks_arg = request->blocks_arg,
		.named = request->named && !put->rooted,
	};
	if (replace_open(os, &name, &put->file, &error) == 0) {
		*out = put;
		return 0;
	}
	put_open_failed(put->file.path ? put->file.path : request->path, &error);
	put_close(put);
	return PX_UNJUDGED;
}

const struct replace *put_file(const struct put *put)
{
	return &put->file;
}

bool put_is_stdout(const struct put *put)
{
	struct k_statx out, file;
	const unsigned mask = K_STATX_INO | K_STATX_TYPE;
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT;
	return !put->file.missing
	       && os_statx(put->os, STDOUT_FILENO, "", AT_EMPTY_PATH | AT_NO_AUTOMOUNT, mask,
	                   &out) == 0
	       && os_statx(put->os, AT_FDCWD, put->file.path, flags, mask, &file) == 0
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

/* The diff. */

struct shown {
	struct strbuf out, field, plain;
	bool terminal, mask;
	bool octal;              /* harmful bytes are \ooo, as in an fstab; else \xhh */
	bool masked;             /* something was */
};

static void shown_init(struct shown *s)
{
	strbuf_init(&s->out);
	strbuf_init(&s->field);
	strbuf_init(&s->plain);
}

/** Print the text, if requested and complete, and free it.  @return whether it is complete. */
static bool shown_end(struct shown *s, bool prints)
{
	bool whole = !s->out.failed && !s->field.failed && !s->plain.failed;
	if (whole && prints)
		fwrite(strbuf_str(&s->out), 1, s->out.len, stdout);
	strbuf_destroy(&s->out);
	strbuf_destroy(&s->field);
	strbuf_destroy(&s->plain);
	return whole;
}

/** Whether what follows the options is freq and pass alone: what else it is may belong
    to a value with blanks in it. */
static bool is_numbers(const char *rest, size_t n)
{
	static const char blank[] = " \t", number[] = "0123456789";
	size_t at = 0, fields = 0;
	while (at < n) {
		size_t from = at;
		while (at < n && memchr(blank, rest[at], 2))
			++at;
		if (at == n)
			break;
		if (at == from || !memchr(number, rest[at], 10) || ++fields > 2)
			return false;
		++at;
	}
	return true;
}

/** Whether a field begins a secret that may go on behind it: in quotes, or "password= ...". */
static bool is_open_secret(struct strbuf *field)
{
	const char *text = strbuf_str(field) + strspn(strbuf_str(field), "\"'");
	bool quoted = strpbrk(strbuf_str(field), "\"'");
	if (has_secret(text))
		return quoted;
	if (!field->len || field->data[field->len - 1] != '=')
		return false;
	strbuf_putc(field, 'x');
	text = strbuf_str(field) + strspn(strbuf_str(field), "\"'");
	bool secret = has_secret(text);
	field->data[--field->len] = '\0';
	return secret;
}

/** Append a field of a line: without a secret, and such that a terminal takes no harm.
    @numbers  Whether nothing but freq and pass stands behind it.
    @return   Whether nothing behind it is to be shown. */
static bool show_field(struct shown *s, const char *bytes, size_t n, bool numbers)
{
	bool hide = false;
	strbuf_reset(&s->field);
	strbuf_reset(&s->plain);
	strbuf_add(&s->field, bytes, n);
	const char *text = strbuf_str(&s->field);
	if (s->mask && (is_open_secret(&s->field) || (has_secret(text) && !numbers))) {
		/* What stands before the first '=' of it is known to be none. */
		strbuf_add(&s->plain, text, strcspn(text, "=") + 1);
		strbuf_puts(&s->plain, "***");
		hide = true;
	} else if (s->mask && has_secret(text)) {
		mask_options(text, &s->plain);
	} else if (s->mask) {
		/* What is a secret once it is decoded is shown in no part. */
		char *decoded = strbuf_extend(&s->plain, n);
		size_t len = decoded ? unescape_octal(decoded, text, n) : 0;
		if (decoded)
			decoded[len] = '\0';
		bool secret = decoded && len < n && has_secret(decoded + strspn(decoded, "\"'"));
		hide = secret && !numbers;
		strbuf_reset(&s->plain);
		size_t quotes = strspn(text, "\"'");
		strbuf_add(&s->plain, text, secret ? 0 : quotes);
		if (secret)
			strbuf_puts(&s->plain, "***");
		else
			mask_source(text + quotes, &s->plain);
	} else {
		strbuf_puts(&s->plain, text);
	}
	s->masked |= strcmp(strbuf_str(&s->plain), text) != 0;
	if (s->terminal && s->octal)
		escape_octal_terminal(&s->out, strbuf_str(&s->plain), "");
	else if (s->terminal)
		escape_terminal(&s->out, strbuf_str(&s->plain));
	else
		strbuf_puts(&s->out, strbuf_str(&s->plain));
	return hide;
}

/** Append a line, without its end. */
static void show_bytes(struct shown *s, const char *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		size_t end = at;
		while (end < n && bytes[end] != ' ' && bytes[end] != '\t' && bytes[end] != '\0')
			++end;
		if (end > at && show_field(s, bytes + at, end - at,
		                           is_numbers(bytes + end, n - end)))
			break;
		if (end < n && bytes[end] == '\0' && s->terminal)
			strbuf_puts(&s->out, s->octal ? "\\000" : "\\x00");
		else if (end < n)
			strbuf_putc(&s->out, bytes[end]);
		at = end + 1;
	}
}

static void show_line(void *arg, char mark, const char *bytes, size_t n, bool ended)
{
	struct shown *s = arg;
	strbuf_putc(&s->out, mark);
	show_bytes(s, bytes, n);
	strbuf_puts(&s->out, ended ? "\n" : "\n\\ No newline at end of file\n");
}

static void show_hunk(void *arg, size_t old_line, size_t old_n, size_t new_line, size_t new_n)
{
	linediff_put_hunk(&((struct shown *)arg)->out, old_line, old_n, new_line, new_n);
}

/** Append a name as diff -u and patch have it: quoted where it must be. */
static void put_name(struct strbuf *out, const char *name)
{
	bool plain = true;
	for (const char *at = name; *at; ++at)
		plain &= *at >= ' ' && *at != 0x7f && *at != '"' && *at != '\\';
	if (plain) {
		strbuf_puts(out, name);
		return;
	}
	strbuf_putc(out, '"');
	for (const char *at = name; *at; ++at) {
		unsigned char c = (unsigned char)*at;
		if (c >= ' ' && c < 0x7f && c != '"' && c != '\\')
			strbuf_putc(out, *at);
		else
			strbuf_printf(out, "\\%03o", c);
	}
	strbuf_putc(out, '"');
}

/**
 * Compare, and show the diff where it is asked for.
 *
 * @count [out]  What differs, in lines.
 * @return 0, or an exit status after a message.
 */
static int show_diff(const struct put *put, const char *new, size_t len,
                     struct linediff_count *count)
{
	const struct put_options *o = put->options;
	struct shown s = {.terminal = isatty(STDOUT_FILENO)};
	struct linediff_to to = {.arg = &s};
	shown_init(&s);
	s.mask = s.terminal || !o->diff;
	if (o->diff || o->write) {
		to.line = s.terminal || s.mask ? show_line : NULL;
		to.hunk = show_hunk;
		strbuf_puts(&s.out, "--- ");
		put_name(&s.out, put->file.missing ? "/dev/null" : put->file.path);
		strbuf_puts(&s.out, "\n+++ ");
		put_name(&s.out, put->file.path);
		strbuf_putc(&s.out, '\n');
		if (!to.line) {
			to = (struct linediff_to){.arg = &s.out, .hunk = linediff_put_hunk,
			                          .line = linediff_put_line};
		}
	}
	int rc = linediff(put->file.text, put->file.len, new, len, &to, count);
	int error = rc != 0 ? errno : ENOMEM;
	if (shown_end(&s, rc == 0 && count->removed + count->added > 0) && rc == 0)
		return 0;
	message(put->file.path, "cannot be compared: %s", strerror(error));
	return PX_UNJUDGED;
}

bool put_show(const char *text, size_t len)
{
	if (!isatty(STDOUT_FILENO)) {
		fwrite(text, 1, len, stdout);
		return true;
	}
	struct shown s = {.terminal = true, .mask = true, .octal = true};
	shown_init(&s);
	for (size_t at = 0; at < len;) {
		const char *newline = memchr(text + at, '\n', len - at);
		size_t n = newline ? (size_t)(newline - text) - at : len - at;
		show_bytes(&s, text + at, n);
		strbuf_puts(&s.out, newline ? "\n" : "");
		at += n + (newline != NULL);
	}
	bool shown = shown_end(&s, true);
	if (!shown)
		message(NULL, "%s", strerror(ENOMEM));
	else if (s.masked)
		message(NULL, "secrets are shown as ***; output that is not a terminal has them");
	return shown;
}

/* Messages. */

/** Append what differs, in words. */
static void put_counts(struct strbuf *out, const struct put *put,
                       const struct linediff_count *count)
{
	if (count->removed + count->added == 0)
		strbuf_puts(out, put->file.at_link ? "a symlink, to become a file with the same "
		                                     "lines"
		                 : put->file.missing ? "missing, to be created empty"
		                                     : "no line differs");
	if (count->removed)
		strbuf_printf(out, "%zu line%s removed", count->removed,
		              count->removed == 1 ? "" : "s");
	if (count->added)
		strbuf_printf(out, "%s%zu line%s added", count->removed ? ", " : "", count->added,
		              count->added == 1 ? "" : "s");
}

void put_quoted(struct strbuf *out, const char *word)
{
	struct strbuf shown;
	strbuf_init(&shown);
	escape_terminal(&shown, word);
	bool plain = strcmp(strbuf_str(&shown), word) == 0 && !strpbrk(word, "\\'");
	strbuf_destroy(&shown);
	if (plain) {
		escape_shell(out, word);
		return;
	}
	strbuf_puts(out, "$'");
	for (; *word; ++word) {
		if (isalnum((unsigned char)*word) || strchr("_-+=:,./@% ", *word))
			strbuf_putc(out, *word);
		else
			strbuf_printf(out, "\\%03o", (unsigned char)*word);
	}
	strbuf_putc(out, '\'');
}

/** Say on which file system it is: "ext4 of /dev/sda2, mounted on /". */
static void report_place(const struct put *put)
{
	const struct replace *file = &put->file;
	struct mount_table *table = table_read_kernel(put->os, TABLE_AUTO,
	                                              MF_FSTYPE | MF_SOURCE | MF_POINT);
	const struct mount *found = NULL;
	for (size_t i = 0; table && file->mnt_id && i < table->count; ++i) {
		const struct mount *m = &table->mounts[i];
		if ((file->mnt_unique ? m->uniq_id : m->id) == file->mnt_id)
			found = m;
	}
	struct strbuf source;
	strbuf_init(&source);
	if (found && found->source)
		mask_source(found->source, &source);
	if (found)
		message(file->path, "on %s of %s, mounted on %s",
		        found->fstype ? found->fstype : "?",
		        found->source ? strbuf_str(&source) : "?",
		        found->point ? found->point : "?");
	else
		message(file->path, "which file system it is on is not known");
	strbuf_destroy(&source);
	table_free(table);
}

static void report_risks(const struct put *put, const struct put_verdict *verdict)
{
	for (size_t i = 0; verdict && i < verdict->nrisks; ++i)
		message(put->file.path, "new boot risk: %s", verdict->risks[i]);
}

/** Say why it was not written, and where what is. */
static int report_failure(const struct put *put, const struct replace_error *error)
{
	const struct replace *file = &put->file;
	const char *path = file->path, *why = strerror(error->error);
	bool dir = strcmp(error->step, "its directory") == 0;
	struct strbuf quoted;
	strbuf_init(&quoted);
	put_quoted(&quoted, path);
	switch (error->why) {
	case RP_KERNEL:
		message(path, "not written: the kernel generates this file%s",
		        put->report ? "" : "; --force-file replaces a symlink to it with a file");
		break;
	case RP_DANGLING:
		message(path,
		        "not written: the target of a symlink, which does not exist; name it to "
		        "create it%s",
		        put->report ? ""
		                    : ", or use --force-file to replace the symlink with a file");
		break;
	case RP_CHANGED:
		message(path, "not written: it was changed after it was read (%s); look at it, and "
		        "try again",
		        error->step);
		break;
	case RP_LOCKED:
		message(path, "not written: another getmnt has been writing it for %d seconds "
		        "(%s); try again", REPLACE_WAIT,
		        error->step);
		break;
	case RP_LOCK:
		message(path, "not written: %s, so that others could hold the lock forever; if no "
		        "getmnt is running, remove it, and try again", error->step);
		break;
	case RP_MOUNT:
		message(path, "not written: %s: another file system is mounted on it, which could "
		        "block forever; unmount it, and try again", error->step);
		break;
	case RP_LINKS:
		message(path, "not written: %s (hard links), and the others would keep the old "
		        "lines; \"find DIR -samefile %s\" lists them; --force replaces "
		        "only this one", error->step,
		        strbuf_str(&quoted));
		break;
	case RP_IMMUTABLE:
	case RP_APPEND:
		message(path, "not written: %s is %s (chattr +%c); to write it anyway: chattr -%c "
		        "%s%s", error->step, error->why == RP_IMMUTABLE ? "immutable"
		        : "append-only",
		        error->why == RP_IMMUTABLE ? 'i' : 'a',
		        error->why == RP_IMMUTABLE ? 'i' : 'a',
		        dir ? "on the directory of " : "", strbuf_str(&quoted));
		break;
	case RP_READ_ONLY:
		message(path, "not written: its file system is read-only; mount it read-write "
		        "(mount -o remount,rw), and try again");
		break;
	case RP_BOUND:
		message(path,
		        "not written: it is a mount point (a file is bound there), which cannot "
		        "be replaced; write the bound file, or unmount it first");
		break;
	case RP_SPACE:
		message(path, "not written: %s: %s; make room, and try again", error->step, why);
		break;
	case RP_DENIED:
		message(path, "not written: %s: %s; check the permissions of its directory",
		        error->step, why);
		break;
	case RP_KEEP:
		message(path, "not written: its %s cannot be kept: %s", error->step,
		        error->error ? why
		                     : "the file system accepts it, but stores another value");
		break;
	case RP_SIGNAL:
		message(path, "not written: interrupted by a signal (%s)", error->step);
		break;
	case RP_OVERTAKEN:
		message(path,
		        "written, but another program wrote to it at the same moment; what it "
		        "wrote could not be restored (%s) and is in %s; compare both",
		        why, file->left ? file->left : ".NAME.getmnt-new next to it");
		break;
	case RP_UNSURE:
		message(path, "written, but it may not survive a power failure: %s: %s",
		        error->step, why);
		break;
	default:
		message(path, "not written: %s%s%s", error->step, error->error ? ": " : "",
		        error->error ? why : "");
	}
	if (file->left && !file->replaced)
		message(path, "not changed; the complete new file is %s", file->left);
	else if (!file->replaced && !put->report)
		message(path, "%s; --diff prints the changes",
		        file->missing ? "still missing" : "not changed");
	strbuf_destroy(&quoted);
	return PX_UNWRITTEN;
}

/** Report what was done, and how to undo it. */
static void report_done(const struct put *put)
{
	const struct replace *file = &put->file;
	struct strbuf undo;
	strbuf_init(&undo);
	if (file->backup) {
		strbuf_puts(&undo, "mv -- ");
		put_quoted(&undo, file->backup);
		strbuf_putc(&undo, ' ');
	} else {
		strbuf_puts(&undo, "rm -- ");
	}
	put_quoted(&undo, file->path);
	if (file->backup && file->pruned)
		message(file->path, "written; the old file is %s; %u older backup%s removed",
		        file->backup, file->pruned,
		        file->pruned == 1 ? "" : "s");
	else if (file->backup)
		message(file->path, "written; the old file is %s", file->backup);
	else
		message(file->path, "written%s", file->missing ? "; it did not exist before"
		        : "; no backup was kept");
	if (undo.failed)
		message(file->path, "%s", strerror(ENOMEM));
	else if (file->backup || file->missing)
		message(file->path, "to undo: %s", strbuf_str(&undo));
	strbuf_destroy(&undo);
}

/** Report that systemd still uses the old version, if it does. */
static void report_reload(const struct put *put)
{
	const int flags = AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;   /* asks no server */
	struct k_statx fstab, systemd;
	struct stat written;
	const struct replace *file = &put->file;
	if (put->rooted || os_statx(put->os, AT_FDCWD, "/run/systemd/system", flags, 0,
	                            &systemd) != 0
	    || os_fstatat(put->os, file->dirfd, file->name, &written) != 0)
		return;
	/* /etc/fstab may be a link to what was written. */
	if (os_statx(put->os, AT_FDCWD, "/etc/fstab", flags, K_STATX_INO, &fstab) == 0
	    && makedev(fstab.dev_major, fstab.dev_minor) == written.st_dev
	    && fstab.ino == written.st_ino)
		message(file->path,
		        "systemd still uses the old version: run systemctl daemon-reload");
}

/* Writing. */

/** Ask on the terminal.  @return 0 for a yes, or an exit status. */
static int ask(const struct put *put)
{
	if (put->options->yes)
		return 0;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO)) {
		message(put->file.path,
		        "not written: no terminal to ask on; --yes writes without asking");
		return PX_UNWRITTEN;
	}
	struct strbuf line;
	strbuf_init(&line);
	escape_terminal(&line, put->file.path);
	fprintf(stderr, "Write %s? [y/N] ", strbuf_str(&line));
	fflush(stderr);
	strbuf_reset(&line);
	for (;;) {
		char c;
		ssize_t n = os_read(put->os, STDIN_FILENO, &c, 1);
		if (n <= 0)
			fputc('\n', stderr);   /* no key ended the line */
		if (n <= 0 || c == '\n')
			break;
		strbuf_putc(&line, c);
	}
	const char *answer = strbuf_str(&line);
	bool yes = strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0;
	strbuf_destroy(&line);
	if (!yes)
		message(put->file.path, "nothing was written");
	return yes ? 0 : PX_DIFFERENT;
}

static int write_file(struct put *put, const char *new, size_t len,
                      const struct put_verdict *verdict)
{
	const struct put_options *o = put->options;
	struct replace_error error;
	int status;
	report_place(put);
	if (verdict && verdict->nrisks && !o->force) {
		message(put->file.path, "not written: new boot risks, see above; --force writes it "
		        "anyway");
		return PX_UNWRITTEN;
	}
	if (replace_may(&put->file, o->force, &error) != 0 && error.why != RP_BOUND)
		return report_failure(put, &error);
	if ((status = ask(put)) != 0)
		return status;
	if (replace_commit(&put->file, new, len, !o->no_backup, o->force, &error) != 0) {
		report_failure(put, &error);
		if (put->file.replaced)
			report_done(put);
		return PX_UNWRITTEN;
	}
	report_done(put);
	report_reload(put);
	return PX_OK;
}

int put_finish(struct put *put, const char *new, size_t len, const struct put_verdict *verdict)
{
	const struct put_options *o = put->options;
	const struct replace *file = &put->file;
	const char *summary = verdict && verdict->summary ? verdict->summary : NULL;
	/* --force-file: that it is a link is what is wrong. */
	bool same = !file->at_link && !file->missing && len == file->len
	            && memcmp(new, file->text, len) == 0;
	struct linediff_count count = {0};
	int status = same ? 0 : show_diff(put, new, len, &count);
	if (status)
		return status;
	struct strbuf line;
	strbuf_init(&line);
	put_counts(&line, put, &count);
	if (summary)
		strbuf_printf(&line, "; %s", summary);
	bool check = !o->diff && !o->write;
	if (check) {
		struct strbuf safe;
		strbuf_init(&safe);
		bool terminal = isatty(STDOUT_FILENO);
		if (terminal)
			escape_terminal(&safe, file->path);
		else
			strbuf_puts(&safe, file->path);
		strbuf_puts(&safe, ": ");
		if (terminal)
			escape_terminal(&safe, strbuf_str(&line));
		else
			strbuf_puts(&safe, strbuf_str(&line));
		line.failed |= safe.failed;
		printf("%s\n", strbuf_str(&safe));
		strbuf_destroy(&safe);
	}
	status = same ? PX_OK : PX_DIFFERENT;
	/* What cannot be shown is not written. */
	bool shown = flush_stdout() == 0 && !line.failed;
	if (line.failed)
		message(file->path, "%s", strerror(ENOMEM));
	else if (!check)
		message(file->path, "%s", strbuf_str(&line));
	if (!shown && o->write && !same) {
		message(file->path, "not written: the changes could not be printed");
		message(file->path, "not changed; --diff prints the changes");
	}
	if (!shown)
		status = o->write && !same ? PX_UNWRITTEN : PX_UNJUDGED;
	strbuf_destroy(&line);
	report_risks(put, verdict);
	if (o->write && status == PX_DIFFERENT)
		status = write_file(put, new, len, verdict);
	return status;
}

int put_report(struct os *os, const struct put_request *request, const char *bytes, size_t len)
{
	static const struct put_options options = {0};
	enum { TRIES = 8 };
	int status = PX_UNWRITTEN;
	bool again = true;
	for (int tries = 1; again; ++tries) {
		struct replace_error error;
		struct put *put;
		if (put_open(os, &options, request, &put) != 0)
			return PX_UNWRITTEN;
		put->report = true;
		bool failed = replace_may(&put->file, true, &error) != 0 && error.why != RP_BOUND;
		failed = failed || (bytes && replace_commit(&put->file, bytes, len, false, true,
		                                            &error) != 0);
		/* Another run has put its report there: ours is the newer one. */
		again = failed && error.why == RP_CHANGED && tries < TRIES;
		if (!again)
			status = failed ? report_failure(put, &error) : PX_OK;
		put_close(put);
	}
	return status;
}
