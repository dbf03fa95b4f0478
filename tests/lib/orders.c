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
	struct fstab_entry *of = calloc(lines->count + 1, sizeof(*of));
	const struct fstab_entry **by = calloc(lines->count + 1, sizeof(*by));
	struct order_outcome *outcomes = calloc(lines->count + 1, sizeof(*outcomes));
	struct order_finding *findings = NULL;
	struct order order;
	struct arena arena;
	arena_init(&arena);
	for (size_t i = 0; i < lines->count; ++i) {
		by[i] = &of[i];
		if (fstab_entry_read(&of[i], &lines->lines[i], &arena) != 0) {
			perror(file);
			exit(1);
		}
	}
	bool made = order_make(by, (uint32_t)lines->count, &order) == 0;
	ssize_t count = made ? order_check(&order, NULL, &findings) : -1;
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
	free(by);
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
