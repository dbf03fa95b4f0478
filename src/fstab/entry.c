/* SPDX-License-Identifier: MIT */
#include "fstab/entry.h"

#include "base/escape.h"
#include "base/fail.h"
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
	entry->unit_starts |= meaning == FO_UNIT_STARTS && !entry->swap;
}

void fstab_entry_complete(struct fstab_entry *entry, struct arena *arena)
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
	e.path = e.swap ? NULL : fstab_normal(arena, e.target);
	e.nopts = opts_read(e.options, opt_next, arena, &e.opts);
	for (uint32_t i = 0; i < e.nopts; ++i)
		add_meaning(&e, e.opts[i].meaning);
	e.root = e.path && !e.path[1];
	e.network = e.netdev || is_network_type(e.fstype);
	e.optional = e.noauto || e.nofail;
	e.idle = e.absent || ((e.noauto || strcmp(e.fstype, "ignore") == 0)
	                      && !(e.automount || e.unit_starts));
	/* The boot fails if a mount of local-fs.target fails, but not if one of remote-fs.target
	   or swap.target fails. */
	e.needed = !e.swap && !e.optional && !e.automount && !e.unit_starts && !e.network;
	*entry = e;
}

/** A field of a line; "" if it is missing. */
static const char *field(const struct tabline *line, enum tabline_place place)
{
	const char *value = tabline_value(line, place);
	return value ? value : "";
}

void fstab_entry_read(struct fstab_entry *entry, const struct tabline *line, struct arena *arena)
{
	bool is_entry = line->kind == TABLINE_ENTRY;
	bool has_fields = is_entry || line->kind == TABLINE_DAMAGED;
	struct fstab_entry e = {
		.line = line, .number = line->number, .passno = line->passno, .options = "defaults",
		.source = has_fields ? field(line, TABLINE_SOURCE) : "",
		.target = has_fields ? field(line, TABLINE_TARGET) : "",
		.fstype = has_fields ? field(line, TABLINE_FSTYPE) : "",
	};
	/* mount(8) decodes octal escapes before it splits the options at commas. */
	const char *raw = is_entry ? field(line, TABLINE_OPTIONS) : "";
	if (*raw) {
		struct strbuf options = {.arena = arena};
		unescape_octal_add(&options, raw, strlen(raw));
		e.options = *strbuf_str(&options) ? strbuf_str(&options) : e.options;
	}
	if (is_entry)
		fstab_entry_complete(&e, arena);
	*entry = e;
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
	file->entries = arena_new(&file->arena, file->count, sizeof(*file->entries));
	for (size_t i = 0; i < file->count && !file->arena.failed; ++i)
		fstab_entry_read(&file->entries[i], &file->lines->lines[i], &file->arena);
	if (file->lines && arena_check(&file->arena) == 0)
		return file;
	int error = errno;
	fstab_file_free(file);
	return fail_null(error);
}

void fstab_file_free(struct fstab_file *file)
{
	if (!file)
		return;
	tablines_free(file->lines);
	arena_destroy(&file->arena);
	free(file);
}
