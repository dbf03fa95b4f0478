/* SPDX-License-Identifier: MIT */
/*
 * getmnt snapshot: what an audit reads, as files.
 *
 *     audit_listen() --> names that it asks for --> record() --> entries --> redact --> files
 *
 * An audit of this host is made, and each name noted that it looks at, opens or reads as a
 * link: these are recorded, and no others, so that an audit of the snapshot finds what
 * this one has found.  What it was not told is not recorded; what it has not asked for
 * is not known there: each directory of which not all is recorded says so.
 */
#include "cmd/snapshot.h"

#include "audit/redact.h"
#include "cmd/audit_host.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/rows.h"
#include "cmd/snapshot_tree.h"
#include "cmd/view.h"
#include "os/change.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

enum { SX_OK = 0, SX_FAILED = 2, TABLE_MAX = 256 << 20 };

struct asked {
	bool help, keep_names, keep_comments;
};

static const struct row_option snapshot_rows[] = {
	{"keep-comments", 0, NULL, "leave comments as they are"},
	{"keep-names", 0, NULL, "leave names as they are: hosts, users, labels, UUIDs; secrets are not"},
	{"help", 'h', NULL, "this text"},
};

static const struct row_table snapshot_table = {
	"snapshot", snapshot_rows, sizeof(snapshot_rows) / sizeof(*snapshot_rows),
};

void snapshot_option_words(FILE *out)
{
	rows_words(&snapshot_table, out);
}

static void snapshot_help(FILE *out)
{
	fputs("Usage:\n getmnt snapshot [options] DIR\n\n"
	      "Record in DIR, without secrets and names, all that an audit of this host reads, for\n"
	      "getmnt audit --root=DIR elsewhere.\n\nOptions:\n", out);
	rows_help(&snapshot_table, out);
	fputs("\nExit status: 0 recorded, 2 not.\n\nDetails: getmnt-snapshot(8).\n", out);
}

static int take_option(void *arg, const char *name, const char *value)
{
	struct asked *asked = arg;
	(void)value;
	if (strcmp(name, "keep-names") == 0)
		asked->keep_names = true;
	else if (strcmp(name, "keep-comments") == 0)
		asked->keep_comments = true;
	else
		asked->help = true;
	return 0;
}

/* Texts. */

/** Append a text without secrets; and without what its comments say.
    @comments  They stay. */
static void put_masked(const char *text, bool comments, struct strbuf *out)
{
	static const char own[] = "# getmnt:";
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		size_t blank = strspn(line, " \t");
		if (line[blank] == '#' && !comments && strncmp(line + blank, own, sizeof(own) - 1) != 0) {
			strbuf_add(out, line, blank + 1);
		} else {
			for (size_t i = 0; i < n;) {
				size_t skip = strspn(line + i, " \t"), m = strcspn(line + i + skip, " \t\n");
				char *word = strndup(line + i + skip, m);
				strbuf_add(out, line + i, skip);
				out->failed |= !word;
				if (word && m)
					mask_word(word, out);
				free(word);
				i += skip + m;
			}
		}
		line += n;
		if (*line)
			strbuf_putc(out, *line++);
	}
}

/** What of the command line says what is to be mounted. */
static void put_cmdline(const char *text, struct strbuf *out)
{
	static const char *const keys[] = {"root=", "rootfstype=", "rootflags=", "resume=", "resume_offset=", "rd.", "noresume"};
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, " \n");
		bool kept = (n == 2 && *at == 'r' && (at[1] == 'o' || at[1] == 'w'));
		for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i)
			kept |= strncmp(at, keys[i], strlen(keys[i])) == 0;
		if (kept) {
			char *word = strndup(at, n);
			strbuf_puts(out, out->len ? " " : "");
			if (word)
				mask_word(word, out);
			out->failed |= !word;
			free(word);
		}
		at += n;
		at += strspn(at, " \n");
	}
	strbuf_putc(out, '\n');
}

/** The lines of modules.alias that are of file systems. */
static void put_aliases(const char *text, struct strbuf *out)
{
	static const char head[] = "alias fs-";
	for (const char *line = text; *line;) {
		size_t n = strcspn(line, "\n");
		if (strncmp(line, head, sizeof(head) - 1) == 0) {
			strbuf_add(out, line, n);
			strbuf_putc(out, '\n');
		}
		line += n + (line[n] == '\n');
	}
}

static void put_tag(struct strbuf *out, const char *key, const char *value)
{
	if (!value)
		return;
	strbuf_printf(out, "E:%s=", key);
	/* As udev has it in *_ENC. */
	for (; *value; ++value) {
		unsigned char c = (unsigned char)*value;
		if (c <= ' ' || c == '\\' || c == '"' || c == '\'' || c == ',' || c == '/' || c == 127)
			strbuf_printf(out, "\\x%02x", c);
		else
			strbuf_putc(out, (char)c);
	}
	strbuf_putc(out, '\n');
}

/** What is known of a device, as the udev database would have it.  @return whether it is. */
static bool put_device(struct run *run, const char *path, struct strbuf *out)
{
	unsigned major, minor;
	if (sscanf(path, "/run/udev/data/b%u:%u", &major, &minor) != 2)
		return false;
	const struct devmap_tags *tags = run->devs ? devmap_told(run->devs, major, minor) : NULL;
	if (!tags || (tags->known != DEVMAP_KNOWN && tags->known != DEVMAP_UNTAGGED && tags->known != DEVMAP_AMBIVALENT))
		return false;
	if (tags->known == DEVMAP_AMBIVALENT)
		strbuf_puts(out, "E:ID_FS_AMBIVALENT=1\n");
	put_tag(out, "ID_FS_TYPE", tags->type);
	put_tag(out, "ID_FS_USAGE", tags->usage);
	put_tag(out, "ID_FS_UUID_ENC", tags->uuid);
	put_tag(out, "ID_FS_LABEL_ENC", tags->label);
	put_tag(out, "ID_PART_ENTRY_UUID", tags->partuuid);
	put_tag(out, "ID_PART_ENTRY_NAME", tags->partlabel);
	if (!out->len)
		strbuf_puts(out, "E:SUBSYSTEM=block\n");
	return true;
}

/* The flow. */

/** What is made of one text, before names are replaced. */
static void first_text(struct snapshot_tree *tree, const struct asked *asked, struct snapshot_entry *entry)
{
	struct strbuf out;
	strbuf_init(&out);
	const char *text = entry->text ? entry->text : "", *path = entry->path;
	bool unit = strstr(path, "/systemd/") != NULL, commented = entry->commented;
	if (strcmp(path, "/proc/cmdline") == 0)
		put_cmdline(text, &out);
	else if (strncmp(path, "/lib/modules/", 13) == 0 || strncmp(path, "/usr/lib/modules/", 17) == 0)
		put_aliases(text, &out);
	else if (strncmp(path, "/sys/", 5) == 0 || unit || !commented)
		put_masked(text, true, &out);
	else
		put_masked(text, asked->keep_comments, &out);
	tree->failed |= out.failed;
	free(entry->text);
	entry->text = strbuf_take(&out);
	if (!entry->text)
		entry->text = strdup("");
	tree->failed |= !entry->text;
}

/** Have a directory be there, though it is not here. */
static void add_dir(struct snapshot_tree *tree, const char *path)
{
	struct snapshot_entry *entry = snapshot_tree_find(tree, path);
	if (!entry)
		snapshot_tree_add(tree, SNAPSHOT_DIR, path, NULL);
	else
		entry->kind = SNAPSHOT_DIR;
}

/** Record the table, whose /proc/self is a link.  Without it there is no snapshot. */
static void add_table(struct snapshot_tree *tree)
{
	char *text;
	size_t len;
	if (os_read_file(&tree->os, AT_FDCWD, SNAPSHOT_TABLE, TABLE_MAX, &text, &len) != 0) {
		message(SNAPSHOT_TABLE, "cannot be read: %s", strerror(errno));
		tree->failed = true;
		return;
	}
	add_dir(tree, "/proc");
	add_dir(tree, "/proc/self");
	snapshot_tree_add(tree, SNAPSHOT_FILE, SNAPSHOT_TABLE, text);
}

/** Record devices by what is known of them, whoever has told it. */
static void add_devices(struct snapshot_tree *tree, struct run *run)
{
	static const char data[] = "/run/udev/data";
	for (size_t i = 0; i < tree->nnotes && !tree->failed; ++i) {
		const char *path = tree->notes[i].path;
		struct strbuf text;
		if (strncmp(path, data, sizeof(data) - 1) != 0 || path[sizeof(data) - 1] != '/')
			continue;
		struct snapshot_entry *entry = snapshot_tree_find(tree, path);
		if (entry && entry->text)
			continue;
		strbuf_init(&text);
		bool known = put_device(run, path, &text);
		tree->failed |= text.failed;
		if (known && !entry) {
			add_dir(tree, "/run");
			add_dir(tree, "/run/udev");
			add_dir(tree, data);
			snapshot_tree_add(tree, SNAPSHOT_FILE, path, strbuf_take(&text));
		} else if (known) {
			entry->kind = SNAPSHOT_FILE;
			entry->text = strbuf_take(&text);
		} else if (entry) {
			entry->gone = true;
		}
		strbuf_destroy(&text);
	}
}

/** Replace names in a string that is freed.  @return it, or NULL. */
static char *replaced(struct redact *redact, char *text)
{
	struct strbuf out;
	strbuf_init(&out);
	redact_text(redact, text, &out);
	free(text);
	char *made = strbuf_take(&out);
	return made ? made : strdup("");
}

/** Replace the names in all. */
static void replace_names(struct snapshot_tree *tree, struct redact *redact)
{
	for (size_t i = 0; i < tree->count; ++i) {
		const struct snapshot_entry *entry = &tree->entries[i];
		if (entry->text && strncmp(entry->path, "/sys/", 5) != 0)
			redact_learn(redact, entry->text);
		redact_learn(redact, entry->path);
	}
	for (size_t i = 0; i < tree->count; ++i) {
		struct snapshot_entry *entry = &tree->entries[i];
		size_t n = strlen(entry->path);
		bool label = strncmp(entry->path, "/sys/fs/btrfs/", 14) == 0 && n > 6 && strcmp(entry->path + n - 6, "/label") == 0;
		if (label && entry->text && *entry->text && *entry->text != '\n') {
			entry->text[strcspn(entry->text, "\n")] = '\0';
			char *made = NULL;
			if (asprintf(&made, "%s\n", redact_label(redact, entry->text)) < 0)
				made = NULL;
			free(entry->text);
			entry->text = made;
		} else if (entry->text) {
			entry->text = replaced(redact, entry->text);
		}
		entry->path = replaced(redact, entry->path);
		tree->failed |= !entry->path || (!entry->text && (entry->kind == SNAPSHOT_LINK || entry->kind == SNAPSHOT_SPECIAL));
	}
	tree->failed |= redact->failed;
}

/** Write the marker.  @return its text, or NULL. */
static char *marker(struct run *run, struct snapshot_tree *tree, bool units)
{
	struct strbuf out;
	struct stat st;
	strbuf_init(&out);
	strbuf_puts(&out, SNAPSHOT_HEAD "\n");
	char *kernel = os_release(&tree->os);
	if (run->host)
		strbuf_printf(&out, "host=%s\n", run->host);
	if (run->boot_id)
		strbuf_printf(&out, "boot-id=%s\n", run->boot_id);
	if (kernel)
		strbuf_printf(&out, "kernel=%s\n", kernel);
	long uptime = audit_read_number(&tree->os, "/proc/uptime");
	if (uptime >= 0)
		strbuf_printf(&out, "uptime=%ld\n", uptime);
	strbuf_printf(&out, "time=%lld\n", (long long)(os_time_ms() / 1000));
	const struct snapshot_entry *fstab = snapshot_tree_find(tree, "/etc/fstab");
	if (fstab && fstab->kind == SNAPSHOT_FILE && os_fstatat(&tree->os, AT_FDCWD, fstab->path, &st) == 0)
		strbuf_printf(&out, "fstab-mode=%04o\nfstab-uid=%u\n", (unsigned)st.st_mode & 07777, (unsigned)st.st_uid);
	strbuf_printf(&out, "systemd=%s\n", units ? "loaded" : "none");
	free(kernel);
	return strbuf_take(&out);
}

/** What is done while an audit is made, and when it was. */
struct recording {
	const struct asked *asked;
	struct snapshot_tree tree;
	struct redact redact;
	const char *dir;
	bool blocks;             /* touching it can block */
	char *marker;
};

/** Whether writing a directory could block: by where it, or what it is to be in, lies. */
static bool can_block(struct run *run, const char *dir)
{
	struct strbuf place;
	strbuf_init(&place);
	enum path_known known = path_follow(run, dir, &place);
	bool blocks = known == PATH_BLIND || (known == PATH_SEEN && path_blocks(run, strbuf_str(&place)));
	strbuf_destroy(&place);
	return blocks;
}

static void done(void *arg, struct fstab_machine *machine)
{
	struct recording *recording = arg;
	struct snapshot_tree *tree = &recording->tree;
	struct run *run = &machine->run;
	char *units = NULL;
	recording->blocks = can_block(run, recording->dir);
	if (recording->blocks)
		return;
	bool asked_units = audit_ask_systemd(run, &units) == 0 && units;
	snapshot_tree_record(tree);
	add_table(tree);
	if (units)
		snapshot_tree_add(tree, SNAPSHOT_FILE, SNAPSHOT_UNITS, units);
	tree->failed |= machine_read(run) != 0;
	recording->marker = marker(run, tree, asked_units);
	for (size_t i = 0; i < tree->count && !tree->failed; ++i) {
		if (tree->entries[i].kind == SNAPSHOT_FILE && tree->entries[i].text)
			first_text(tree, recording->asked, &tree->entries[i]);
	}
	add_devices(tree, run);
	if (recording->asked->keep_names || tree->failed)
		return;
	if (run->host) {
		redact_name(&recording->redact, REDACT_HOST, run->host, strlen(run->host));
		redact_name(&recording->redact, REDACT_HOST, run->host, strcspn(run->host, "."));
	}
	replace_names(tree, &recording->redact);
	if (recording->marker)
		recording->marker = replaced(&recording->redact, recording->marker);
}

int cmd_snapshot(int argc, char **argv)
{
	struct asked asked = {0};
	int status = rows_parse(&snapshot_table, argc, argv, take_option, &asked);
	if (status)
		return SX_FAILED;
	if (asked.help) {
		snapshot_help(stdout);
		return finish_stdout(false) == 0 ? SX_OK : SX_FAILED;
	}
	if (optind + 1 != argc || !*argv[optind]) {
		usage_error("snapshot", "name one directory, which is not there yet");
		return SX_FAILED;
	}
	const char *dir = argv[optind];
	struct recording recording = {.asked = &asked, .dir = dir};
	snapshot_tree_init(&recording.tree);
	redact_init(&recording.redact);
	status = SX_FAILED;
	if (audit_listen(snapshot_tree_note, &recording.tree, done, &recording) == 0) {
		if (recording.blocks)
			message(dir, "touching it can block; name a directory elsewhere");
		else if (recording.tree.failed || !recording.marker)
			message(dir, "%s", strerror(ENOMEM));
		else if (snapshot_tree_write(&recording.tree, dir, recording.marker) == 0)
			status = SX_OK;
	}
	free(recording.marker);
	redact_destroy(&recording.redact);
	snapshot_tree_destroy(&recording.tree);
	return status;
}
