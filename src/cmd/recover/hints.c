/* SPDX-License-Identifier: MIT */
/*
 * Hints are options of an mtab that the kernel does not know.
 *
 * A damaged line can have a wrong user=, or options of another line, without showing the damage.
 * So a hint is kept only if a source other than the mtab confirms it:
 *
 *     _netdev             the type, the device, utab, the fstab
 *     loop=DEV            the kernel, by the source
 *     user=NAME           utab; or NAME is in the passwd file, and the mount has that user's ID or
 *                         the fstab lets users mount it
 *     x-...               utab, the fstab
 *     helper=, uhelper=   utab
 */
#include "cmd/recover/recover.h"

#include "base/fstypes.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"
#include "path/replace.h"

#include <stdlib.h>
#include <string.h>

/** Read a file below a root directory.
    @return the text; NULL: the file does not exist, or replace_open() refuses to open it, for
    example because accessing it can block. */
static char *read_below(struct recovery *r, const char *root, const char *path, size_t *len)
{
	struct replace file;
	const struct replace_name name = {
		.path = path, .root = r->run.prefix ? r->run.prefix : root,
		.blocks = r->run.live ? mounts_name_block : NULL, .blocks_arg = run_paths(&r->run),
	};
	char *text = NULL;
	if (replace_open(r->os, &name, &file) == 0) {
		text = file.text;
		*len = file.len;
		file.text = NULL;
	} else {
		r->hints.failed |= file.error.error == ENOMEM;
	}
	replace_close(&file);
	return text;
}

static void read_all(struct recovery *r)
{
	struct hints *hints = &r->hints;
	/* utab has options of the mounts of the running system only: read it only for these
	   mounts. */
	struct host host = {.in = {
		.os = r->os, .live = r->run.live && !r->opts->root, .paths = run_paths(&r->run),
	}};
	/* With a recorded table, an fstab is read only below the root of --root. */
	const char *root = r->opts->root ? r->opts->root : r->opts->tab_file ? NULL : "/";
	size_t len;
	hints->is_read = true;
	hints->failed |= host_read_utab(&host, &hints->utab) != 0;
	if (!root)
		return;
	hints->fstab_text = read_below(r, root, "/etc/fstab", &len);
	if (hints->fstab_text) {
		hints->fstab = fstab_parse(hints->fstab_text, len);
		hints->failed |= !hints->fstab;
	}
	hints->passwd = read_below(r, root, "/etc/passwd", &len);
}

/** Whether two texts are equal and not NULL. */
static bool same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/** Whether the fstab line of a mount (same target, and same type or source) has an option. */
static bool fstab_has(const struct hints *hints, const struct rec_row *row, const char *option)
{
	for (size_t i = 0; hints->fstab && i < hints->fstab->count; ++i) {
		const struct fstab_entry *entry = &hints->fstab->entries[i];
		if (fstab_is_entry(entry) && same(entry->target, row->target)
		    && (same(entry->fstype, row->mount->fstype)
		        || same(entry->source, row->mount->source))
		    && fstab_entry_has(entry, option))
			return true;
	}
	return false;
}

/** Find the ID of a user in the passwd file: NAME:PASSWORD:UID:...
    @return the ID, with *n bytes; or NULL. */
static const char *user_id(const struct hints *hints, const char *name, size_t *n)
{
	size_t len = strlen(name);
	const char *found = NULL;
	for (const char *line = hints->passwd; line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (strncmp(line, name, len) != 0 || line[len] != ':')
			continue;
		const char *id = line + len + 1 + strcspn(line + len + 1, ":\n");
		if (*id == ':') {
			found = id + 1;
			*n = strcspn(found, ":\n");
		}
	}
	return found;
}

/** Whether a user may have made a mount: the passwd file has the user, and the mount shows the
    user's ID or the fstab lets users mount it. */
static bool is_of_user(const struct hints *hints, const struct rec_row *row, const char *name)
{
	static const char *const permits[] = {"user", "users", "owner", "group"};
	char option[32];
	size_t n;
	const char *id = user_id(hints, name, &n);
	if (!id)
		return false;
	for (int i = 0; i < 2; ++i) {
		snprintf(option, sizeof(option), "%s=%.*s", i ? "uid" : "user_id", (int)n, id);
		if (shown_lists(row->mount, option, strlen(option)))
			return true;
	}
	for (size_t i = 0; i < sizeof(permits) / sizeof(*permits); ++i) {
		if (fstab_has(hints, row, permits[i]))
			return true;
	}
	return false;
}

/** Whether a source other than the mtab confirms that a mount has an option. */
static bool is_confirmed(struct recovery *r, const struct rec_row *row, const char *option)
{
	struct hints *hints = &r->hints;
	const struct mount *m = row->mount;
	if (strncmp(option, "loop=", 5) == 0)
		return m->source && strcmp(m->source, option + 5) == 0;
	bool net = strcmp(option, "_netdev") == 0;
	if (net && fstype_flags(m->fstype) & FST_NET)
		return true;
	if (!hints->is_read)
		read_all(r);
	if (opt_has(host_utab_options(&hints->utab, row->target, m), option))
		return true;
	if (strncmp(option, "user=", 5) == 0)
		return is_of_user(hints, row, option + 5);
	if (net && r->run.devs && devmap_remote(r->run.devs, m->dev_major, m->dev_minor))
		return true;
	return (net || strncmp(option, "x-", 2) == 0) && fstab_has(hints, row, option);
}

void hints_confirm(struct recovery *r)
{
	for (size_t i = 0; i < r->result.nhints; ++i) {
		struct rec_hint *hint = &r->result.hints[i];
		hint->kept = is_confirmed(r, &r->rows[hint->row], hint->option);
	}
}
