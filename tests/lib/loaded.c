/* SPDX-License-Identifier: MIT */
/*
 * loaded FSTAB DIR...   what src/fstab/units.c reads of the units in each directory
 *
 * For tests/system/units.py.  FSTAB is their SourcePath=.  For each directory a line
 * with its name, and for each line that was loaded "source target type options check
 * odd", fields between tabs, all but letters escaped.
 */
#include "base/escape.h"
#include "fstab/units.h"
#include "os/file.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

static int read_dir(const char *path, const char *fstab, struct units *units)
{
	struct os os = {.statx_works = true};
	DIR *dir = opendir(path);
	int rc = dir ? 0 : -1;
	for (struct dirent *entry; rc == 0 && (entry = readdir(dir)) != NULL;) {
		char *text;
		size_t len;
		if (!units_is_name(entry->d_name))
			continue;
		rc = os_read_file(&os, dirfd(dir), entry->d_name, 1 << 20, &text, &len);
		if (rc == 0) {
			rc = units_add(units, entry->d_name, text, len, fstab) < 0 ? -1 : 0;
			free(text);
		}
	}
	if (dir)
		closedir(dir);
	return rc;
}

int main(int argc, char **argv)
{
	for (int i = 2; i < argc; ++i) {
		struct units units;
		struct strbuf out;
		units_init(&units);
		strbuf_init(&out);
		if (read_dir(argv[i], argv[1], &units) != 0) {
			perror(argv[i]);
			return 1;
		}
		for (size_t k = 0; k < units.count; ++k) {
			const struct units_line *line = &units.lines[k];
			const char *const fields[] = {line->source, line->target, line->fstype, line->options};
			for (size_t j = 0; j < 4; ++j) {
				escape_octal(&out, fields[j], ESCAPE_PATH);
				strbuf_putc(&out, '\t');
			}
			strbuf_printf(&out, "%d\t%d\n", line->check, line->odd);
		}
		printf("%s\n%s", argv[i], strbuf_str(&out));
		strbuf_destroy(&out);
		units_destroy(&units);
	}
	return 0;
}
