/* SPDX-License-Identifier: MIT */
/* -ls: a line as from ls -dils, with the column widths of GNU find; a longer cell widens its
   column. */
#include "cmd/find/find.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum column { INODE, BLOCKS, LINKS, OWNER, GROUP, SIZE, DATE, COLUMNS };
static const int least[COLUMNS] = {9, 6, 3, 8, 8, 8, 12};

/** Append a name with all unusual bytes escaped. */
static void put_escaped(struct strbuf *out, const char *name)
{
	static const char letters[] = "\a\b\f\n\r\t\v\\\" ", after[] = "abfnrtv\\\" ";
	for (; *name; ++name) {
		const char *known = strchr(letters, *name);
		if (known)
			strbuf_printf(out, "\\%c", after[known - letters]);
		else if (*name > ' ' && *name < 0x7f)
			strbuf_putc(out, *name);
		else
			strbuf_printf(out, "\\%03o", (unsigned char)*name);
	}
}

/** Append a cell and a blank.  @left  Align to the left. */
static void put_cell(struct find *find, enum column column, bool left, const char *cell)
{
	int *width = &find->widths[column], len = (int)strlen(cell);
	if (*width < least[column])
		*width = least[column];
	if (*width < len)
		*width = len;
	strbuf_printf(&find->text, "%*s ", left ? -*width : *width, cell);
}

static void put_number(struct find *find, enum column column, uint64_t number)
{
	char cell[24];
	snprintf(cell, sizeof(cell), "%" PRIu64, number);
	put_cell(find, column, false, cell);
}

static void put_owner(struct find *find, enum column column, struct owners *owners, uint32_t id)
{
	char number[16];
	const char *name = owners_name(owners, id);
	snprintf(number, sizeof(number), "%" PRIu32, id);
	put_cell(find, column, true, name ? name : number);
}

/** Append the time of the last change; with the year instead of the time of day if the change was
    not in the last six months. */
static void put_date(struct find *find, int64_t sec)
{
	enum { OLD = 180 * 24 * 60 * 60, LATER = 60 * 60 };
	char cell[64];
	time_t when = (time_t)sec;
	struct tm tm;
	bool recent = sec >= find->now.tv_sec - OLD && sec <= find->now.tv_sec + LATER;
	if (!localtime_r(&when, &tm)
	    || !strftime(cell, sizeof(cell), recent ? "%b %e %H:%M" : "%b %e  %Y", &tm))
		snprintf(cell, sizeof(cell), "%" PRId64, sec);
	put_cell(find, DATE, false, cell);
}

void find_list(struct find *find)
{
	static const struct k_statx unknown;
	const struct query_object *object = &find->visit->object;
	const struct k_statx *st = object->st ? object->st : &unknown;
	bool posix = secure_getenv("POSIXLY_CORRECT");
	struct strbuf *text = &find->text, target = {0};
	char cell[32];
	put_number(find, INODE, st->ino);
	put_number(find, BLOCKS, posix ? st->blocks : st->blocks / 2 + st->blocks % 2);
	permissions(st->mode, text);
	strbuf_putc(text, ' ');
	put_number(find, LINKS, st->nlink);
	put_owner(find, OWNER, &find->users, st->uid);
	put_owner(find, GROUP, &find->groups, st->gid);
	if (S_ISCHR(st->mode) || S_ISBLK(st->mode)) {
		snprintf(cell, sizeof(cell), "%3" PRIu32 ", %3" PRIu32, st->rdev_major,
		         st->rdev_minor);
		put_cell(find, SIZE, false, cell);
	} else {
		put_number(find, SIZE, st->size);
	}
	put_date(find, st->mtime.sec);
	put_escaped(text, find->visit->path);
	if (S_ISLNK(st->mode)) {
		if (object->facts->target(object->facts->arg, &target) == 0) {
			strbuf_puts(text, " -> ");
			put_escaped(text, strbuf_str(&target));
		} else {
			find_error(find, find->visit->path, errno);
		}
		text->failed |= target.failed;
		strbuf_destroy(&target);
	}
	strbuf_putc(text, '\n');
}
