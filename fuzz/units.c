/* SPDX-License-Identifier: MIT */
/*
 * Any output of `systemctl show`.
 *
 * Each unit has an Id, and is found by it or by another of the same name; each string lies in
 * the text; the units at a path are of that path, and their chain ends.
 */
#include "lib/fuzz.h"

#include "fstab/target.h"

#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host_units units;
	char *text = fuzz_string((const char *)data, size);
	size_t len = strlen(text);
	FUZZ_CHECK(host_units_parse(text, &units) == 0);
	FUZZ_CHECK(units.known == (units.count > 0));
	for (size_t i = 0; i < units.count; ++i) {
		const struct host_unit *unit = &units.list[i];
		const char *path = host_unit_is(unit, ".swap") ? unit->what : unit->where;
		FUZZ_CHECK(*unit->id && unit->id > text && unit->id < text + len);
		FUZZ_CHECK(strcmp(host_units_find(&units, unit->id)->id, unit->id) == 0);
		size_t steps = 0;
		const struct host_unit *at = *path == '/' ? host_units_at(&units, path) : NULL;
		FUZZ_CHECK(at || *path != '/');
		for (; at; at = at->next == MAP64_NONE ? NULL : &units.list[at->next])
			FUZZ_CHECK(++steps <= units.count);
		FUZZ_CHECK(fstab_unit_of(&units, path) <= FSTAB_IDLE_UNIT);
		FUZZ_CHECK(!fstab_has_dropins(&units, path) || fstab_has_loaded(&units, path));
		fstab_is_boot_target(unit->wanted_by);
	}
	struct fstab_loaded loaded = fstab_count_loaded(&units);
	FUZZ_CHECK(loaded.stale <= loaded.count && loaded.count <= units.count);
	host_units_destroy(&units);
	return 0;
}
