/* SPDX-License-Identifier: MIT */
/*
 * orders FSTAB...   what src/fstab/order.h says of each fstab
 *
 * For tests/system/order.py.  Lines of words, "-" for none:
 *
 *     FILE mount LINE LACK OTHER      as mount -a mounts each line
 *     FILE FAULT LINE KIND OTHER      each finding
 */
#include "base/escape.h"
#include "fstab/places.h"
#include "fstab/order.h"
#include "table/tablines.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *read_all(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t n = file ? getdelim(&text, &size, '\0', file) : -1;
	if (!file || (n < 0 && !feof(file))) {
		perror(path);
		exit(1);
	}
	fclose(file);
	*len = n < 0 ? 0 : (size_t)n;
	return text;
}

static const char *value(const struct tabline *line, enum tabline_place place)
{
	const char *text = tabline_value(line, place);
	return text ? text : "";
}

static void print(const char *file, const char *word, unsigned line, const char *what,
                  unsigned other)
{
	printf("%s %s %u %s ", file, word, line, what);
	other ? printf("%u\n", other) : printf("-\n");
}

static void judge(const char *file, const struct tablines *lines)
{
	static const char *const lacks[] = {
		[ORDER_LACKS_NOTHING] = "nothing", [ORDER_LACKS_ITSELF] = "itself",
		[ORDER_LACKS_BOOT] = "boot",       [ORDER_LACKS_OTHER] = "other",
		[ORDER_LACKS_PLACE] = "place",
	};
	static const char *const faults[] = {
		[ORDER_LATE] = "late",         [ORDER_CYCLE] = "cycle",
		[ORDER_DEADLOCK] = "deadlock", [ORDER_UNORDERED] = "unordered",
		[ORDER_NOAUTO] = "noauto",     [ORDER_OPTIONAL] = "optional",
		[ORDER_NOWHERE] = "nowhere",   [ORDER_ROOT] = "root",
	};
	static const char *const kinds[ORDER_KINDS] = {
		[ORDER_PARENT] = "parent",     [ORDER_BIND] = "bind",     [ORDER_SOURCE] = "source",
		[ORDER_LAYER] = "layer",       [ORDER_BRANCH] = "branch", [ORDER_SWAP] = "swap",
		[ORDER_REQUIRES] = "requires", [ORDER_AFTER] = "after",
	};
	struct order_line *of = calloc(lines->count + 1, sizeof(*of));
	uint32_t *number = calloc(lines->count + 1, sizeof(*number)), n = 0;
	struct order_outcome *outcomes = calloc(lines->count + 1, sizeof(*outcomes));
	struct order_finding *findings = NULL;
	struct order order;
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		char *options = strdup(value(line, TABLINE_OPTIONS));
		options[unescape_octal(options, options, strlen(options))] = '\0';
		bool swap = strcmp(value(line, TABLINE_FSTYPE), "swap") == 0;
		number[n] = line->number;
		of[n++] = (struct order_line){
			.source = value(line, TABLINE_SOURCE),
			.fstype = value(line, TABLINE_FSTYPE),
			.options = options,
			.path = swap ? NULL : fstab_normal(&arena, value(line, TABLINE_TARGET))};
	}
	ssize_t count = order_make(of, n, &order) == 0 ? order_judge(&order, NULL, &findings) : -1;
	if (count < 0) {
		perror(file);
		exit(1);
	}
	order_run(&order, false, NULL, outcomes);
	for (uint32_t i = 0; i < n; ++i)
		print(file, "mount", number[i], lacks[outcomes[i].lack],
		      outcomes[i].other == ORDER_NONE ? 0 : number[outcomes[i].other]);
	for (ssize_t i = 0; i < count; ++i)
		print(file, faults[findings[i].fault], number[findings[i].line],
		      kinds[findings[i].kind],
		      findings[i].other == ORDER_NONE ? 0 : number[findings[i].other]);
	order_destroy(&order);
	free(findings);
	free(outcomes);
	for (uint32_t i = 0; i < n; ++i)
		free((char *)(uintptr_t)of[i].options);
	free(of);
	free(number);
	arena_destroy(&arena);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; ++i) {
		size_t len;
		char *text = read_all(argv[i], &len);
		struct tablines *lines = tablines_parse(text, len);
		if (!lines) {
			perror(argv[i]);
			return 1;
		}
		judge(argv[i], lines);
		tablines_free(lines);
		free(text);
	}
	return 0;
}
