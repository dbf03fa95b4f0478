/* SPDX-License-Identifier: MIT */
/*
 * orders FSTAB...   what src/fstab/order.h says of each fstab, whose lines are all entries
 *
 * For tests/system/order.py, a row each:
 *
 *     FILE mount LINE yes|no       whether mount -a mounts the line as it says
 *     FILE FAULT LINE OTHER        a finding about two lines; 0: none
 */
#include "base/escape.h"
#include "fstab/order.h"
#include "fstab/places.h"
#include "table/tablines.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void judge(const char *file, const struct tablines *lines)
{
	static const char *const faults[] = {
		[ORDER_LATE] = "late", [ORDER_CYCLE] = "cycle", [ORDER_DEADLOCK] = "deadlock",
		[ORDER_UNORDERED] = "unordered", [ORDER_NOAUTO] = "noauto",
		[ORDER_OPTIONAL] = "optional", [ORDER_NOWHERE] = "nowhere", [ORDER_ROOT] = "root",
	};
	struct order_line *of = calloc(lines->count + 1, sizeof(*of));
	struct order_outcome *outcomes = calloc(lines->count + 1, sizeof(*outcomes));
	struct order_finding *findings = NULL;
	struct order order;
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines[i];
		const char *fstype = tabline_value(line, TABLINE_FSTYPE);
		const char *raw = tabline_value(line, TABLINE_OPTIONS);
		char *options = arena_strndup(&arena, raw, strlen(raw));
		options[unescape_octal(options, options, strlen(options))] = '\0';
		of[i] = (struct order_line){
			.source = tabline_value(line, TABLINE_SOURCE), .fstype = fstype,
			.options = options,
			.path = strcmp(fstype, "swap") == 0 ? NULL
			        : fstab_normal(&arena, tabline_value(line, TABLINE_TARGET))};
	}
	bool made = order_make(of, (uint32_t)lines->count, &order) == 0;
	ssize_t count = made ? order_judge(&order, NULL, &findings) : -1;
	if (count < 0) {
		perror(file);
		exit(1);
	}
	order_run(&order, false, NULL, outcomes);
	for (uint32_t i = 0; i < lines->count; ++i)
		printf("%s mount %u %s\n", file, i + 1,
		       outcomes[i].lack == ORDER_LACKS_NOTHING ? "yes" : "no");
	for (ssize_t i = 0; i < count; ++i)
		printf("%s %s %u %u\n", file, faults[findings[i].fault], findings[i].line + 1,
		       findings[i].other + 1);
	order_destroy(&order);
	free(findings);
	free(outcomes);
	free(of);
	arena_destroy(&arena);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; ++i) {
		FILE *file = fopen(argv[i], "r");
		char *text = NULL;
		size_t size = 0;
		ssize_t len = file ? getdelim(&text, &size, '\0', file) : -1;
		struct tablines *lines = len >= 0 ? tablines_parse(text, (size_t)len) : NULL;
		if (!lines) {
			perror(argv[i]);
			return 1;
		}
		judge(argv[i], lines);
		tablines_free(lines);
		free(text);
		fclose(file);
	}
	return 0;
}
