/* SPDX-License-Identifier: MIT */
#include "fstab/entry.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/target.h"

#include <errno.h>
#include <stdlib.h>

/** Whether systemd assumes that a type needs the network.
    Source: fstype_is_network() of systemd 252. */
static bool is_network_type(const char *fstype)
{
	if (strncmp(fstype, "fuse.", 5) == 0)
		fstype += 5;
	static const char types[] =
	        "afs ceph cifs davfs gfs gfs2 glusterfs lustre ncp ncpfs nfs nfs4 "
	        "ocfs2 orangefs pvfs2 smb3 smbfs sshfs";
	return word_in(fstype, strlen(fstype), types);
}

/** Set the flag for the meaning of an option. */
static void add_meaning(struct fstab_entry *entry, enum opt_meaning meaning)
{
	entry->noauto |= meaning == FO_NOAUTO;
	entry->nofail |= meaning == FO_NOFAIL;
	entry->netdev |= meaning == FO_NETDEV;
	entry->bind |= meaning == FO_BIND && !entry->swap;
	entry->remount |= meaning == FO_REMOUNT;
	entry->mkdir |= meaning == FO_MKDIR;
	entry->automount |= meaning == FO_AUTOMOUNTED && !entry->swap;
}

/** Read the options. */
static int read_options(struct fstab_entry *entry, struct arena *arena)
{
	if (opts_read(entry->options, opt_next, arena, &entry->opts, &entry->nopts) != 0)
		return -1;
	for (uint32_t i = 0; i < entry->nopts; ++i)
		add_meaning(entry, entry->opts[i].meaning);
	return 0;
}

int fstab_entry_complete(struct fstab_entry *entry, struct arena *arena)
{
	struct fstab_entry e = {
		.source = entry->source, .target = entry->target, .fstype = entry->fstype,
		.options = entry->options, .passno = entry->passno, .line = entry->line,
		.number = entry->number,
		.type = fstype_line_flags(entry->fstype, entry->source),
		.swap = strcmp(entry->fstype, "swap") == 0,
		.kind = entry->kind, .real = entry->real, .real_source = entry->real_source,
		.skipped = entry->skipped, .numbered = entry->numbered, .major = entry->major,
		.minor = entry->minor, .added = entry->added, .absent = entry->absent,
	};
	if (!e.swap && *e.target == '/') {
		e.path = fstab_normal(arena, e.target);
		if (!e.path)
			return -1;
	}
	if (read_options(&e, arena) != 0)
		return -1;
	e.root = e.path && !e.path[1];
	e.network = e.netdev || is_network_type(e.fstype);
	e.optional = e.noauto || e.nofail;
	e.idle = e.absent || ((e.noauto || strcmp(e.fstype, "ignore") == 0) && !e.automount);
	/* A failed mount fails local-fs.target and the boot, but not remote-fs.target or
	   swap.target. */
	e.needed = !e.swap && !e.optional && !e.automount && !e.network;
	*entry = e;
	return 0;
}

/** A field of a line; "" if it is missing. */
static const char *field(const struct tabline *line, enum tabline_place place)
{
	const char *value = tabline_value(line, place);
	return value ? value : "";
}

int fstab_entry_read(struct fstab_entry *entry, const struct tabline *line, struct arena *arena)
{
	bool is_entry = line->kind == TABLINE_ENTRY;
	bool has_fields = is_entry || line->kind == TABLINE_DAMAGED;
	struct fstab_entry e = {
		.line = line, .number = line->number, .passno = line->passno, .options = "defaults",
		.source = has_fields ? field(line, TABLINE_SOURCE) : "",
		.target = has_fields ? field(line, TABLINE_TARGET) : "",
		.fstype = has_fields ? field(line, TABLINE_FSTYPE) : "",
	};
	/* mount(8) decodes the options before it separates them. */
	const char *raw = is_entry ? field(line, TABLINE_OPTIONS) : "";
	if (*raw) {
		size_t n = strlen(raw);
		char *options = arena_strndup(arena, raw, n);
		if (!options)
			return -1;
		options[unescape_octal(options, options, n)] = '\0';
		e.options = *options ? options : e.options;
	}
	if (is_entry && fstab_entry_complete(&e, arena) != 0)
		return -1;
	*entry = e;
	return 0;
}

const struct opt *fstab_entry_find(const struct fstab_entry *entry, const char *name)
{
	size_t n = strlen(name);
	for (uint32_t i = entry->nopts; i-- > 0;) {
		if (word_is(name, n, entry->opts[i].name))
			return &entry->opts[i];
	}
	return NULL;
}

const char *fstab_entry_value(const struct fstab_entry *entry, const char *name)
{
	const struct opt *option = fstab_entry_find(entry, name);
	return !option ? NULL : option->value ? option->value : "";
}

bool fstab_entry_has(const struct fstab_entry *entry, const char *option)
{
	for (uint32_t i = 0; i < entry->nopts; ++i) {
		if (word_is(entry->opts[i].text, entry->opts[i].n, option))
			return true;
	}
	return false;
}

struct fstab_file *fstab_parse(const char *text, size_t len)
{
	struct fstab_file *file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->lines = tablines_parse(text, len);
	file->count = file->lines ? file->lines->count : 0;
	file->entries = file->lines ? calloc(file->count + 1, sizeof(*file->entries)) : NULL;
	bool good = file->entries;
	for (size_t i = 0; i < file->count && good; ++i)
		good = fstab_entry_read(&file->entries[i], &file->lines->lines[i],
		                        &file->arena) == 0;
	if (good)
		return file;
	int error = errno;
	fstab_file_free(file);
	errno = error;
	return NULL;
}

void fstab_file_free(struct fstab_file *file)
{
	if (!file)
		return;
	tablines_free(file->lines);
	free(file->entries);
	arena_destroy(&file->arena);
	free(file);
}
