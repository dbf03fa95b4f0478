/* SPDX-License-Identifier: MIT */
#include "host/units.h"

#include "base/words.h"
#include "os/bounded.h"

#include <assert.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { SYSTEMCTL_SECONDS = 5 };

/** The properties: their names, and the fields for their values. */
static const struct {
	const char *name;
	size_t at;
} properties[] = {
	{"Id", offsetof(struct host_unit, id)},
	{"LoadState", offsetof(struct host_unit, load_state)},
	{"ActiveState", offsetof(struct host_unit, active_state)},
	{"Result", offsetof(struct host_unit, result)},
	{"Where", offsetof(struct host_unit, where)},
	{"What", offsetof(struct host_unit, what)},
	{"FragmentPath", offsetof(struct host_unit, fragment)},
	{"SourcePath", offsetof(struct host_unit, source_path)},
	{"DropInPaths", offsetof(struct host_unit, dropins)},
	{"WantedBy", offsetof(struct host_unit, wanted_by)},
	{"RequiredBy", offsetof(struct host_unit, required_by)},
	{"TriggeredBy", offsetof(struct host_unit, triggered_by)},
	{"Following", offsetof(struct host_unit, following)},
	{"NeedDaemonReload", offsetof(struct host_unit, need_reload)},
	{"ConditionResult", offsetof(struct host_unit, condition_result)},
	{"ConditionTimestampMonotonic", offsetof(struct host_unit, condition_time)},
};
enum { PROPERTIES = sizeof(properties) / sizeof(*properties) };

static const char **value_of(struct host_unit *unit, size_t property)
{
	return (const char **)(void *)((char *)unit + properties[property].at);
}

/** A unit with all values empty. */
static struct host_unit no_unit(void)
{
	struct host_unit unit = {.next = MAP64_NONE};
	for (size_t i = 0; i < PROPERTIES; ++i)
		*value_of(&unit, i) = "";
	return unit;
}

/** Parse a line, which is modified. */
static void parse_line(struct host_unit *unit, char *line)
{
	char *equals = strchr(line, '=');
	if (!equals)
		return;
	*equals = '\0';
	for (size_t i = 0; i < PROPERTIES; ++i) {
		if (strcmp(line, properties[i].name) == 0)
			*value_of(unit, i) = equals + 1;
	}
}

bool host_unit_is(const struct host_unit *unit, const char *suffix)
{
	return word_ends(unit->id, suffix);
}

/** The mount point of a mount unit, or the swap space of a swap unit; "" if unknown. */
static const char *path_of(const struct host_unit *unit)
{
	const char *path = host_unit_is(unit, ".swap") ? unit->what : unit->where;
	return *path == '/' ? path : "";
}

/** Index the units by path. */
static void index_units(struct host_units *units)
{
	for (uint32_t i = 0; i < units->count; ++i) {
		struct host_unit *unit = &units->list[i];
		const char *path = path_of(unit);
		map64_put(&units->by_id, map64_text(unit->id), i);
		uint32_t first = *path ? map64_put(&units->by_path, map64_text(path), i) : i;
		assert(first <= i && unit->next == MAP64_NONE);
		if (first != i) {
			unit->next = units->list[first].next;
			units->list[first].next = i;
		}
	}
}

int host_units_parse(char *text, struct host_units *units)
{
	struct host_unit unit = no_unit();
	struct arena *arena = &units->arena;
	*units = (struct host_units){.text = text, .by_path.arena = arena, .by_id.arena = arena};
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		parse_line(&unit, line);
		if (*line && next)
			continue;
		if (*unit.id)
			ARENA_PUSH(arena, units->list, units->count, unit);
		unit = no_unit();
	}
	index_units(units);
	/* At least "-.mount" always exists. */
	units->known = !arena->failed && units->count > 0;
	return arena_check(arena);
}

void host_units_destroy(struct host_units *units)
{
	free(units->text);
	arena_destroy(&units->arena);
	*units = (struct host_units){0};
}

const struct host_unit *host_units_at(const struct host_units *units, const char *path)
{
	uint32_t i = units->known ? map64_get(&units->by_path, map64_text(path)) : MAP64_NONE;
	const struct host_unit *unit = i == MAP64_NONE ? NULL : &units->list[i];
	return unit && strcmp(path_of(unit), path) == 0 ? unit : NULL;
}

const struct host_unit *host_units_find(const struct host_units *units, const char *id)
{
	uint32_t i = units->known ? map64_get(&units->by_id, map64_text(id)) : MAP64_NONE;
	return i == MAP64_NONE || strcmp(units->list[i].id, id) != 0 ? NULL : &units->list[i];
}

bool host_is_managers_root(struct os *os)
{
	struct k_statx its, own;
	if (os_statx(os, AT_FDCWD, "/proc/1/root", AT_NO_AUTOMOUNT, K_STATX_INO, &its) != 0)
		return errno == EACCES || errno == EPERM;
	return os_statx(os, AT_FDCWD, "/", AT_NO_AUTOMOUNT, K_STATX_INO, &own) == 0
	       && its.ino == own.ino
	       && its.dev_major == own.dev_major && its.dev_minor == own.dev_minor;
}

/** The path of systemctl; NULL: systemd is not running here. */
static const char *find_systemctl(struct os *os, struct mounts_paths *paths)
{
	static const char *const places[] = {"/usr/bin/systemctl", "/bin/systemctl",
	                                     "/run/current-system/sw/bin/systemctl"};
	struct k_statx st;
	/* The test of sd_booted(3). */
	if (mounts_path_block(paths, "/run/systemd") || !host_is_managers_root(os)
	    || os_statx(os, AT_FDCWD, "/run/systemd/system", AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT,
	                K_STATX_TYPE, &st) != 0
	    || !S_ISDIR(st.mode))
		return NULL;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i) {
		if (!mounts_path_block(paths, places[i])
		    && os_statx(os, AT_FDCWD, places[i], AT_NO_AUTOMOUNT, K_STATX_TYPE, &st) == 0)
			return places[i];
	}
	return NULL;
}

int host_units_read(struct os *os, struct mounts_paths *paths, struct host_units *units)
{
	static char show[] = "show", all[] = "--all", pager[] = "--no-pager", end[] = "--",
		locale[] = "LC_ALL=C",
	            mounts[] = "*.mount", automounts[] = "*.automount", swaps[] = "*.swap";
	const char *systemctl = find_systemctl(os, paths);
	struct os_bounded done = {0};
	struct strbuf names = {0};
	*units = (struct host_units){0};
	if (!systemctl)
		return 0;
	for (size_t i = 0; i < PROPERTIES; ++i)
		strbuf_printf(&names, "%s%s", i ? "," : "--property=", properties[i].name);
	const char *property = strbuf_text(&names);
	char *argv[] = {(char *)(uintptr_t)systemctl, show, all, pager,
	                (char *)(uintptr_t)property, end, mounts, automounts, swaps, NULL};
	char *const envp[] = {locale, NULL};
	int rc = !property ? -1 : os_bounded_program(os, SYSTEMCTL_SECONDS, argv, envp, &done);
	int error = errno;
	strbuf_destroy(&names);
	if (rc != 0 && error == ENOMEM)
		goto out;
	if (rc == 0 && !done.late && !done.signal && done.status == 0) {
		char *text = strdup(strbuf_str(&done.out));
		rc = text ? host_units_parse(text, units) : -1;
		error = ENOMEM;
	} else {
		rc = 0;
	}
out:
	os_bounded_destroy(&done);
	errno = error;
	return rc;
}
