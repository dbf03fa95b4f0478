/* SPDX-License-Identifier: MIT */
#include "fstab/units.h"

#include "base/words.h"

#include <ctype.h>
#include <string.h>

bool fstab_is_lines_unit(const struct host_unit *unit)
{
	return strcmp(unit->source_path, "/etc/fstab") == 0;
}

/** Whether a file is in a directory. */
static bool is_in(const char *file, const char *dir)
{
	return strncmp(file, dir, strlen(dir)) == 0;
}

/** What a unit with a file makes. */
static enum fstab_unit kind_of(const struct host_unit *unit)
{
	static const char late[] = "/run/systemd/generator.late/",
		generators[] = "/run/systemd/generator";
	if (strcmp(unit->load_state, "masked") == 0)
		return FSTAB_NO_UNIT;
	if (fstab_is_lines_unit(unit))
		return host_unit_is(unit, ".automount") ? FSTAB_AUTOMOUNT : FSTAB_NO_UNIT;
	/* systemd-gpt-auto-generator(8) alone makes mounts there. */
	if (is_in(unit->fragment, late))
		return FSTAB_GPT_UNIT;
	bool pulled = *unit->wanted_by || *unit->required_by || *unit->triggered_by;
	return pulled || is_in(unit->fragment, generators) ? FSTAB_OWN_UNIT : FSTAB_IDLE_UNIT;
}

/** The unit that counts, of those of one path: each name of a swap space has one of its own. */
static const struct host_unit *followed(const struct host_units *units,
                                        const struct host_unit *unit)
{
	const struct host_unit *other = *unit->following
		&& !*unit->fragment ? host_units_find(units, unit->following) : NULL;
	return other ? other : unit;
}

/** The next unit of the same path, or NULL. */
static const struct host_unit *next_of(const struct host_units *units, const struct host_unit *unit)
{
	return unit->next == MAP64_NONE ? NULL : &units->list[unit->next];
}

enum fstab_unit fstab_unit_of(const struct host_units *units, const char *path)
{
	enum fstab_unit found = FSTAB_NO_UNIT;
	for (const struct host_unit *at = host_units_at(units, path); at; at = next_of(units, at)) {
		const struct host_unit *unit = followed(units, at);
		enum fstab_unit kind = *unit->fragment ? kind_of(unit) : FSTAB_NO_UNIT;
		/* An automount says more than its mount. */
		if (kind != FSTAB_NO_UNIT && (found == FSTAB_NO_UNIT
		                              || host_unit_is(unit, ".automount")))
			found = kind;
	}
	return found;
}

/** The unit that was made of a line for a path, or NULL. */
static const struct host_unit *lines_unit(const struct host_units *units, const char *path)
{
	for (const struct host_unit *at = host_units_at(units, path); at; at = next_of(units, at)) {
		const struct host_unit *unit = followed(units, at);
		if (fstab_is_lines_unit(unit) && !host_unit_is(unit, ".automount"))
			return unit;
	}
	return NULL;
}

bool fstab_has_loaded(const struct host_units *units, const char *path)
{
	return lines_unit(units, path);
}

bool fstab_has_dropins(const struct host_units *units, const char *path)
{
	const struct host_unit *unit = lines_unit(units, path);
	return unit && *unit->dropins;
}

struct fstab_loaded fstab_count_loaded(const struct host_units *units)
{
	struct fstab_loaded loaded = {0};
	for (size_t i = 0; i < units->count; ++i) {
		const struct host_unit *unit = &units->list[i];
		if (!fstab_is_lines_unit(unit))
			continue;
		++loaded.count;
		loaded.stale += strcmp(unit->need_reload, "yes") == 0;
	}
	return loaded;
}

bool fstab_is_boot_target(const char *names)
{
	static const char boot[] =
		"local-fs remote-fs swap sysinit basic multi-user graphical default local-fs-pre "
		"remote-fs-pre network "
		"network-online paths sockets timers time-sync getty cryptsetup snapd.mounts "
		"snapd.mounts-pre";
	static const char suffix[] = ".target";
	for (const char *at = names; *(at += strspn(at, " "));) {
		size_t n = strcspn(at, " "), tail = sizeof(suffix) - 1;
		if (n > tail && memcmp(at + n - tail, suffix, tail) == 0
		    && word_in(at, n - tail, boot))
			return true;
		at += n;
	}
	return false;
}

void fstab_unit_name(struct strbuf *out, const char *path)
{
	const char *from = path + strspn(path, "/");
	if (!*from)
		strbuf_putc(out, '-');
	for (const char *at = from; *at; ++at) {
		if (isalnum((unsigned char)*at) || strchr(":_", *at) || (*at == '.' && at > from))
			strbuf_putc(out, *at);
		else if (*at != '/')
			strbuf_printf(out, "\\x%02x", (unsigned char)*at);
		else if (at[1] && at[1] != '/')
			strbuf_putc(out, '-');
	}
}
