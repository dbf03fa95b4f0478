/* SPDX-License-Identifier: MIT */
#include "fstab/entry.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"

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

static enum fstab_meaning meaning_of(const struct fstab_option *option)
{
	static const struct {
		const char *name;
		enum fstab_meaning meaning;
	} rows[] = {
		{"noauto", FO_NOAUTO},
		{"nofail", FO_NOFAIL},
		{"_netdev", FO_NETDEV},
		{"bind", FO_BIND},
		{"rbind", FO_BIND},
		{"remount", FO_REMOUNT},
		{"X-mount.mkdir", FO_MKDIR},
		{"x-mount.mkdir", FO_MKDIR},
		{"x-systemd.automount", FO_AUTOMOUNTED},
		{"x-systemd.requires", FO_REQUIRES},
		{"x-systemd.after", FO_AFTER},
		{"x-systemd.before", FO_BEFORE},
		{"x-systemd.requires-mounts-for", FO_MOUNTS_FOR},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (word_is(option->name, option->nname, rows[i].name))
			return rows[i].meaning;
	}
	/* The name of this option before systemd 220. */
	bool automount = strcmp(option->name, "comment") == 0 && option->value
	                 && strcmp(option->value, "systemd.automount") == 0;
	return automount ? FO_AUTOMOUNTED : FO_PLAIN;
}

/** Set the flag of a meaning. */
static void add_meaning(struct fstab_entry *entry, enum fstab_meaning meaning)
{
	entry->noauto |= meaning == FO_NOAUTO;
	entry->nofail |= meaning == FO_NOFAIL;
	entry->netdev |= meaning == FO_NETDEV;
	entry->bind |= meaning == FO_BIND && !entry->swap;
	entry->remount |= meaning == FO_REMOUNT;
	entry->mkdir |= meaning == FO_MKDIR;
	entry->automount |= meaning == FO_AUTOMOUNTED && !entry->swap;
}

/** Cut the options.  Names and values are in a copy, in which a NUL ends each. */
static int cut_options(struct fstab_entry *entry, struct arena *arena)
{
	size_t count = 0, n;
	for (const char *at = entry->options; opt_next(&at, &n);)
		++count;
	char *copy = arena_strndup(arena, entry->options, strlen(entry->options));
	struct fstab_option *options = arena_alloc(arena, (count + 1) * sizeof(*options));
	if (!copy || !options)
		return -1;
	entry->opts = options;
	entry->nopts = 0;
	const char *list = entry->options;
	for (const char *text; (text = opt_next(&list, &n)) != NULL;) {
		size_t nname = opt_name(text, n);
		char *name = copy + (text - entry->options);
		name[nname] = name[n] = '\0';
		struct fstab_option *option = &options[entry->nopts++];
		*option = (struct fstab_option){
			.text = text, .n = (uint32_t)n, .nname = (uint32_t)nname, .name = name,
			.value = nname < n ? name + nname + 1 : NULL, .is_x = opt_is_x(text, n),
		};
		option->meaning = meaning_of(option);
		add_meaning(entry, option->meaning);
	}
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
	if (cut_options(&e, arena) != 0)
		return -1;
	e.root = e.path && !e.path[1];
	e.network = e.netdev || is_network_type(e.fstype);
	e.optional = e.noauto || e.nofail;
	e.idle = e.absent || ((e.noauto || strcmp(e.fstype, "ignore") == 0) && !e.automount);
	/* A boot fails with local-fs.target, but not with remote-fs.target or swap.target. */
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

const struct fstab_option *fstab_entry_find(const struct fstab_entry *entry, const char *name)
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
	const struct fstab_option *option = fstab_entry_find(entry, name);
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
