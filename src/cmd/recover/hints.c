/* SPDX-License-Identifier: MIT */
/*
 * Confirmation of the options of an mtab that the kernel does not know.
 *
 * A damaged line can have a wrong user=, or options of another line, without being
 * recognizable.  So something else must confirm them:
 *
 *     _netdev       the type, the device, utab, the fstab
 *     loop=DEV      the kernel, by its source
 *     user=NAME     utab; or the user is known here, and the mount was made for that
 *                   user's ID, or the fstab lets users mount it
 *     x-...         utab, the fstab
 *     helper=, uhelper=   utab
 */
#include "cmd/recover/recover.h"

#include "base/fstypes.h"
#include "cmd/view.h"
#include "fstab/fstab.h"
#include "os/file.h"
#include "path/replace.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX = 16 << 20 };

static int book_add(struct book *book, struct book_entry entry)
{
	if (book->count == book->room) {
		size_t room = book->room ? 2 * book->room : 32;
		struct book_entry *more = reallocarray(book->entries, room, sizeof(*more));
		if (!more)
			return -1;
		book->entries = more;
		book->room = room;
	}
	uint64_t key = map64_text(entry.name);
	entry.before = map64_remove(&book->by_name, key);
	book->entries[book->count] = entry;
	return map64_put(&book->by_name, key, (uint32_t)book->count++) == MAP64_NONE ? -1 : 0;
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

/** Whether a list has an option, spelled the same. */
static bool has_option(const char *list, const char *option)
{
	size_t len = strlen(option);
	while (list && *list) {
		size_t n = strcspn(list, ",");
		if (n == len && memcmp(list, option, n) == 0)
			return true;
		list += n + (list[n] == ',');
	}
	return false;
}

void witnesses_init(struct witnesses *w, struct run *run, struct os *os, const char *root, bool here)
{
	*w = (struct witnesses){.run = run, .os = os, .root = root, .here = here};
	map64_init(&w->utab.by_name);
	map64_init(&w->fstab.by_name);
	map64_init(&w->passwd.by_name);
	arena_init(&w->arena);
}

void witnesses_destroy(struct witnesses *w)
{
	book_destroy(&w->utab);
	book_destroy(&w->fstab);
	book_destroy(&w->passwd);
	tablines_free(w->fstab_lines);
	free(w->fstab_text);
	free(w->utab_text);
	free(w->passwd_text);
	arena_destroy(&w->arena);
}

/** Read a file below the root; one that is not there, is behind what can block, or behind
    a link of somebody else says nothing. */
static char *read_below(struct witnesses *w, const char *path, size_t *len)
{
	struct replace file;
	struct replace_error error;
	const struct replace_name name = {
		.path = path, .root = w->run->prefix ? w->run->prefix : w->root, .blocks = w->run->live ? put_blocks : NULL,
		.blocks_arg = w->run,
	};
	char *text = NULL;
	if (replace_open(w->os, &name, &file, &error) == 0) {
		text = file.text;
		*len = file.len;
		file.text = NULL;
	} else {
		w->failed |= error.error == ENOMEM;
	}
	replace_close(&file);
	return text;
}

static void read_utab(struct witnesses *w)
{
	size_t len;
	struct fstab_kept kept;
	if ((w->run->live && put_blocks(w->run, "/run/mount"))
	    || os_read_file(w->os, AT_FDCWD, "/run/mount/utab", TEXT_MAX, &w->utab_text, &len) != 0)
		return;
	for (char *at = w->utab_text; fstab_utab_next(&at, &kept);) {
		struct fstab_kept *copy = arena_alloc(&w->arena, sizeof(*copy));
		if (!copy || (*copy = kept, book_add(&w->utab, (struct book_entry){
				.name = kept.target, .options = kept.options, .more = copy}) != 0))
			w->failed = true;
	}
}

static void read_fstab(struct witnesses *w)
{
	size_t len;
	w->fstab_text = read_below(w, "/etc/fstab", &len);
	if (!w->fstab_text)
		return;
	w->fstab_lines = tablines_parse(w->fstab_text, len);
	w->failed |= !w->fstab_lines;
	for (size_t i = 0; w->fstab_lines && i < w->fstab_lines->count; ++i) {
		const struct tabline *line = &w->fstab_lines->lines[i];
		struct book_entry entry = {
			.name = tabline_value(line, TABLINE_TARGET), .options = tabline_value(line, TABLINE_OPTIONS),
			.fstype = tabline_value(line, TABLINE_FSTYPE), .source = tabline_value(line, TABLINE_SOURCE),
		};
		if (line->kind == TABLINE_ENTRY && entry.options && book_add(&w->fstab, entry) != 0)
			w->failed = true;
	}
}

/** The users, by name; of each its number. */
static void read_passwd(struct witnesses *w)
{
	size_t len;
	w->passwd_text = read_below(w, "/etc/passwd", &len);
	for (char *at = w->passwd_text, *line; at && (line = strsep(&at, "\n"));) {
		char *name = strsep(&line, ":");
		char *uid = line && strsep(&line, ":") && line ? strsep(&line, ":") : NULL;
		if (*name && uid && book_add(&w->passwd, (struct book_entry){.name = name, .options = uid}) != 0)
			w->failed = true;
	}
}

static void read_all(struct witnesses *w)
{
	w->asked = true;
	if (w->here)
		read_utab(w);
	if (!w->root)
		return;
	read_fstab(w);
	read_passwd(w);
}

/** Whether utab has an option of a mount. */
static bool utab_says(const struct witnesses *w, const struct rec_row *row, const char *option)
{
	for (const struct book_entry *e = NULL; (e = book_next(&w->utab, row->target, e)) != NULL;) {
		if (fstab_utab_fits(e->more, row->mount))
			return has_option(e->options, option);
	}
	return false;
}

/** Whether a line of the fstab, of a mount's type or source, has an option. */
static bool fstab_says(const struct witnesses *w, const struct rec_row *row, const char *option)
{
	const struct mount *m = row->mount;
	for (const struct book_entry *e = NULL; (e = book_next(&w->fstab, row->target, e)) != NULL;) {
		bool fits = (e->fstype && m->fstype && strcmp(e->fstype, m->fstype) == 0)
		            || (e->source && m->source && strcmp(e->source, m->source) == 0);
		if (fits && has_option(e->options, option))
			return true;
	}
	return false;
}

/** Whether a mount is one that a user who is known can have made. */
static bool is_of_user(const struct witnesses *w, const struct rec_row *row, const char *name)
{
	static const char *const lets[] = {"user", "users", "owner", "group"};
	char option[32];
	const struct book_entry *user = book_next(&w->passwd, name, NULL);
	if (!user)
		return false;
	snprintf(option, sizeof(option), "user_id=%s", user->options);
	if (has_option(row->mount->fs_opts, option))
		return true;
	snprintf(option, sizeof(option), "uid=%s", user->options);
	if (has_option(row->mount->fs_opts, option))
		return true;
	for (size_t i = 0; i < sizeof(lets) / sizeof(*lets); ++i) {
		if (fstab_says(w, row, lets[i]))
			return true;
	}
	return false;
}

bool witnesses_bear(void *arg, const struct rec_row *row, const char *option)
{
	struct witnesses *w = arg;
	const struct mount *m = row->mount;
	if (strncmp(option, "loop=", 5) == 0)
		return m->source && strcmp(m->source, option + 5) == 0;
	bool net = strcmp(option, "_netdev") == 0;
	if (net && fstype_flags(m->fstype) & FST_NET)
		return true;
	if (!w->asked)
		read_all(w);
	if (utab_says(w, row, option))
		return true;
	if (strncmp(option, "user=", 5) == 0)
		return is_of_user(w, row, option + 5);
	if (net && w->run->devs && devmap_remote(w->run->devs, m->dev_major, m->dev_minor))
		return true;
	return (net || strncmp(option, "x-", 2) == 0) && fstab_says(w, row, option);
}
