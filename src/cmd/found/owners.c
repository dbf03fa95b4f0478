/* SPDX-License-Identifier: MIT */
#include "cmd/found/owners.h"

#include "base/words.h"
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILE_MAX = 64 * 1024 * 1024 };

void owners_init(struct owners *owners, struct os *os, const char *path)
{
	*owners = (struct owners){.path = path, .os = os};
}

void owners_destroy(struct owners *owners)
{
	free(owners->text);
	map64_destroy(&owners->names);
}

/** Store a line, "name:password:number:...". */
static void store_line(struct owners *owners, char *line)
{
	char *colon = strchr(line, ':');
	char *number = colon ? strchr(colon + 1, ':') : NULL;
	if (!number || colon == line)
		return;
	uint64_t id;
	const char *end = word_number(number + 1, &id);
	if (!end || *end != ':' || id > UINT32_MAX)
		return;
	*colon = '\0';
	map64_put(&owners->names, id, (uint32_t)(line - owners->text));
}

const char *owners_name(struct owners *owners, uint32_t id)
{
	size_t len;
	if (!owners->read) {
		owners->read = true;
		if (os_read_file(owners->os, AT_FDCWD, owners->path, FILE_MAX, &owners->text,
		                 &len) != 0)
			owners->text = NULL;
		char *next;
		for (char *line = owners->text; line && *line; line = next) {
			next = strchr(line, '\n');
			if (next)
				*next++ = '\0';
			store_line(owners, line);
		}
	}
	uint32_t at = map64_get(&owners->names, id);
	return at == MAP64_NONE ? NULL : owners->text + at;
}

char type_letter(unsigned type)
{
	static const char letters[] = {
		[DT_BLK] = 'b', [DT_CHR] = 'c', [DT_DIR] = 'd', [DT_FIFO] = 'p', [DT_LNK] = 'l',
		[DT_REG] = 'f', [DT_SOCK] = 's',
	};
	return type < sizeof(letters) ? letters[type] : '\0';
}

void permissions(unsigned mode, struct strbuf *text)
{
	char perms[] = "?rwxrwxrwx", letter = type_letter(mode >> 12);
	if (letter)
		perms[0] = letter == 'f' ? '-' : letter;
	for (int i = 0; i < 9; ++i) {
		if (!(mode & 0400u >> i))
			perms[1 + i] = '-';
	}
	if (mode & S_ISUID)
		perms[3] = mode & S_IXUSR ? 's' : 'S';
	if (mode & S_ISGID)
		perms[6] = mode & S_IXGRP ? 's' : 'S';
	if (mode & S_ISVTX)
		perms[9] = mode & S_IXOTH ? 't' : 'T';
	strbuf_puts(text, perms);
}
