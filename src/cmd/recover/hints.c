/* SPDX-License-Identifier: MIT */
/*
 * Confirmation of hints: options of an mtab that the kernel does not know.
 *
 * A damaged line can have a wrong user=, or options of another line, without being
 * recognizable.  So a hint is kept only if something else confirms it:
 *
 *     _netdev             the type, the device, utab, the fstab
 *     loop=DEV            the kernel, by the source
 *     user=NAME           utab; or NAME is in the passwd file, and the mount has that user's ID or
 *                         the fstab lets users mount it
 *     x-...               utab, the fstab
 *     helper=, uhelper=   utab
 */
#include "cmd/recover/recover.h"

#include "base/array.h"
#include "base/fstypes.h"
#include "cmd/view.h"
#include "mountopts/optlist.h"
#include "path/replace.h"

#include <stdlib.h>
#include <string.h>

static void book_add(struct hints *hints, struct book *book, struct book_entry entry)
{
	uint64_t key = map64_text(entry.name);
	if (!ARRAY_ROOM(book->entries, book->count, &book->room)) {
		hints->failed = true;
		return;
	}
	entry.before = map64_remove(&book->by_name, key);
	book->entries[book->count] = entry;
	hints->failed |= map64_put(&book->by_name, key, (uint32_t)book->count++) == MAP64_NONE;
}

/** The last entry of a name, or the one before another; NULL at the end. */
static const struct book_entry *book_next(const struct book *book, const char *name,
                                          const struct book_entry *entry)
{
	uint32_t i = entry ? entry->before : map64_get(&book->by_name, map64_text(name));
	while (i != MAP64_NONE && strcmp(book->entries[i].name, name) != 0)
		i = book->entries[i].before;
	return i == MAP64_NONE ? NULL : &book->entries[i];
}

static void book_destroy(struct book *book)
{
	free(book->entries);
	map64_destroy(&book->by_name);
}

void hints_init(struct hints *hints, struct run *run, struct os *os, const char *root,
                bool has_utab)
{
	*hints = (struct hints){.run = run, .os = os, .root = root, .has_utab = has_utab};
	map64_init(&hints->utab.by_target);
	map64_init(&hints->fstab.by_name);
	map64_init(&hints->passwd.by_name);
}

void hints_destroy(struct hints *hints)
{
	host_utab_destroy(&hints->utab);
	book_destroy(&hints->fstab);
	book_destroy(&hints->passwd);
	tablines_free(hints->fstab_lines);
	free(hints->fstab_text);
	free(hints->passwd_text);
}

/** Read a file below the root.
    @return its text; NULL if it does not exist, or accessing it can block or is unsafe. */
static char *read_below(struct hints *hints, const char *path, size_t *len)
{
	const struct run *run = hints->run;
	struct replace file;
	struct replace_error error;
	const struct replace_name name = {
		.path = path, .root = run->prefix ? run->prefix : hints->root,
		.blocks = run->live ? put_blocks : NULL, .blocks_arg = hints->run,
	};
	char *text = NULL;
	if (replace_open(hints->os, &name, &file, &error) == 0) {
		text = file.text;
		*len = file.len;
		file.text = NULL;
	} else {
		hints->failed |= error.error == ENOMEM;
	}
	replace_close(&file);
	return text;
}

static void read_fstab(struct hints *hints)
{
	size_t len;
	hints->fstab_text = read_below(hints, "/etc/fstab", &len);
	if (!hints->fstab_text)
		return;
	hints->fstab_lines = tablines_parse(hints->fstab_text, len);
	hints->failed |= !hints->fstab_lines;
	for (size_t i = 0; hints->fstab_lines && i < hints->fstab_lines->count; ++i) {
		const struct tabline *line = &hints->fstab_lines->lines[i];
		const char *options = tabline_value(line, TABLINE_OPTIONS);
		if (line->kind != TABLINE_ENTRY || !options)
			continue;
		book_add(hints, &hints->fstab, (struct book_entry){
			.name = tabline_value(line, TABLINE_TARGET), .value = options,
			.fstype = tabline_value(line, TABLINE_FSTYPE),
			.source = tabline_value(line, TABLINE_SOURCE),
		});
	}
}

/** Read the users and their IDs. */
static void read_passwd(struct hints *hints)
{
	size_t len;
	hints->passwd_text = read_below(hints, "/etc/passwd", &len);
	for (char *at = hints->passwd_text, *line; at && (line = strsep(&at, "\n"));) {
		char *name = strsep(&line, ":");
		char *uid = line && strsep(&line, ":") && line ? strsep(&line, ":") : NULL;
		if (*name && uid)
			book_add(hints, &hints->passwd,
			         (struct book_entry){.name = name, .value = uid});
	}
}

static void read_all(struct hints *hints)
{
	struct host host = {.in = {.os = hints->os, .live = true,
	                           .paths = {.arg = hints->run, .blocks = put_blocks}}};
	hints->is_read = true;
	if (hints->has_utab)
		hints->failed |= host_read_utab(&host, &hints->utab) != 0;
	if (!hints->root)
		return;
	read_fstab(hints);
	read_passwd(hints);
}

/** Whether a line of the fstab, of a mount's type or source, has an option. */
static bool fstab_has(const struct hints *hints, const struct rec_row *row, const char *option)
{
	const struct mount *m = row->mount;
	for (const struct book_entry *e = NULL;
	     (e = book_next(&hints->fstab, row->target, e)) != NULL;) {
		bool fits = (e->fstype && m->fstype && strcmp(e->fstype, m->fstype) == 0)
		            || (e->source && m->source && strcmp(e->source, m->source) == 0);
		if (fits && opt_has(e->value, option))
			return true;
	}
	return false;
}

/** Whether a known user can have made a mount. */
static bool is_of_user(const struct hints *hints, const struct rec_row *row, const char *name)
{
	static const char *const permits[] = {"user", "users", "owner", "group"};
	char option[32];
	const struct book_entry *user = book_next(&hints->passwd, name, NULL);
	if (!user)
		return false;
	for (int i = 0; i < 2; ++i) {
		snprintf(option, sizeof(option), "%s=%s", i ? "uid" : "user_id", user->value);
		if (opt_shown_has(row->mount->fs_opts, option))
			return true;
	}
	for (size_t i = 0; i < sizeof(permits) / sizeof(*permits); ++i) {
		if (fstab_has(hints, row, permits[i]))
			return true;
	}
	return false;
}

bool hint_confirmed(void *arg, const struct rec_row *row, const char *option)
{
	struct hints *hints = arg;
	const struct mount *m = row->mount;
	if (strncmp(option, "loop=", 5) == 0)
		return m->source && strcmp(m->source, option + 5) == 0;
	bool net = strcmp(option, "_netdev") == 0;
	if (net && fstype_flags(m->fstype) & FST_NET)
		return true;
	if (!hints->is_read)
		read_all(hints);
	if (opt_has(host_utab_options(&hints->utab, row->target, m), option))
		return true;
	if (strncmp(option, "user=", 5) == 0)
		return is_of_user(hints, row, option + 5);
	if (net && hints->run->devs && devmap_remote(hints->run->devs, m->dev_major, m->dev_minor))
		return true;
	return (net || strncmp(option, "x-", 2) == 0) && fstab_has(hints, row, option);
}
