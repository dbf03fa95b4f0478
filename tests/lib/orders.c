/* SPDX-License-Identifier: MIT */
/*
 * orders FSTAB...   what src/fstab/order.h says of each fstab, whose lines are all entries
 *
 * For tests/system/order.py, a row each:
 *
 *     FILE mount LINE yes|no       whether mount -a mounts the line as it says
 *     FILE FAULT LINE OTHER        a finding about two lines; 0: none
 */
#include "fstab/order.h"
#include "mounts/tablines.h"

#include <stdio.h>
#include <stdlib.h>

static void judge(const char *file, const struct tablines *lines)
{
	static const char *const faults[] = {
		[ORDER_LATE] = "late", [ORDER_CYCLE] = "cycle", [ORDER_DEADLOCK] = "deadlock",
		[ORDER_UNORDERED] = "unordered", [ORDER_NOAUTO] = "noauto",
		[ORDER_OPTIONAL] = "optional", [ORDER_NOWHERE] = "nowhere", [ORDER_ROOT] = "root",
	};
	struct arena arena = {0};
	struct fstab_entry *of = arena_new(&arena, lines->count, sizeof(*of));
	const struct fstab_entry **by = arena_new(&arena, lines->count, sizeof(*by));
	struct order_outcome *outcomes = arena_new(&arena, lines->count, sizeof(*outcomes));
	struct order_finding *findings;
	struct order order;
	for (size_t i = 0; i < lines->count && !arena.failed; ++i) {
		by[i] = &of[i];
		fstab_entry_read(&of[i], &lines->lines[i], &arena);
	}
	order_make(by, (uint32_t)lines->count, &arena, &order);
	size_t count = order_check(&order, NULL, &findings);
	if (arena_check(&arena) != 0) {
		perror(file);
		exit(1);
	}
	order_run(&order, false, NULL, outcomes);
	for (uint32_t i = 0; i < lines->count; ++i)
		printf("%s mount %u %s\n", file, i + 1,
		       outcomes[i].lack == ORDER_LACKS_NOTHING ? "yes" : "no");
	for (size_t i = 0; i < count; ++i)
		printf("%s %s %u %u\n", file, faults[findings[i].fault], findings[i].line + 1,
		       findings[i].other + 1);
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
