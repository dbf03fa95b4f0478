/* SPDX-License-Identifier: MIT */
/*
 * Units by their names, and what those that are pulled in want.
 *
 * Of two units of one name the one in the directory that comes first counts; of two drop-ins
 * of one name likewise, and all that count are read in the order of their names, above the
 * unit: systemd.unit(5).  Files are root's, and are read as if they were not: so much of each,
 * regular ones alone, and links no further than to what may be touched.
 */
#include "fstab/wanted.h"

#include "base/words.h"
#include "fstab/common.h"
#include "fstab/system_impl.h"
#include "mounttree.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAMES_MAX = 1 << 16, DROPINS_MAX = 256, LINKS_MAX = 4 };

static bool ends(const char *name, size_t n, const char *tail)
{
	size_t k = strlen(tail);
	return n > k && memcmp(name + n - k, tail, k) == 0;
}

/* Names. */

static struct unit_name *find_name(const struct fstab_system *sys, const char *name, size_t n)
{
	uint32_t i = map64_get(&sys->by_name, map64_bytes(MAP64_BYTES, name, n));
	for (; i != MAP64_NONE; i = sys->names[i].next) {
		if (word_is(name, n, sys->names[i].name))
			return &sys->names[i];
	}
	return NULL;
}

/** Find it, or make it.  @return it, or NULL: ENOMEM, or there are too many. */
static struct unit_name *take_name(struct fstab_system *sys, const char *name, size_t n)
{
	struct unit_name *found = find_name(sys, name, n);
	if (found)
		return found;
	if (sys->nnames == NAMES_MAX) {
		sys->unlisted = true;
		return NULL;
	}
	if (sys->nnames == sys->names_room) {
		size_t room = sys->names_room ? 2 * sys->names_room : 64;
		struct unit_name *more = reallocarray(sys->names, room, sizeof(*more));
		sys->failed |= !more;
		if (!more)
			return NULL;
		sys->names = more;
		sys->names_room = room;
	}
	uint32_t i = (uint32_t)sys->nnames;
	found = &sys->names[i];
	*found = (struct unit_name){.name = arena_strndup(&sys->arena, name, n), .next = MAP64_NONE};
	uint32_t first = found->name ? map64_put(&sys->by_name, map64_bytes(MAP64_BYTES, name, n), i) : MAP64_NONE;
	sys->failed |= first == MAP64_NONE;
	if (first == MAP64_NONE)
		return NULL;
	if (first != i) {
		found->next = sys->names[first].next;
		sys->names[first].next = i;
	}
	++sys->nnames;
	return found;
}

void system_note(struct fstab_system *sys, enum units_dir dir, const char *name, size_t n, bool masked)
{
	static const char *const tails[] = {".mount", ".automount", ".swap", ".mount.d", ".automount.d", ".swap.d"};
	bool is = word_is(name, n, "mount.d") || word_is(name, n, "swap.d") || word_is(name, n, "automount.d");
	for (size_t i = 0; i < sizeof(tails) / sizeof(*tails) && !is; ++i)
		is = ends(name, n, tails[i]);
	struct unit_name *unit = is ? take_name(sys, name, n) : NULL;
	if (!unit)
		return;
	unit->there |= 1u << dir;
	sys->dropins |= n > 2 && memcmp(name + n - 2, ".d", 2) == 0;
	unit->masked |= masked ? 1u << dir : 0;
}

unsigned system_pull(const char *name, size_t n)
{
	static const char boot[] =
		"local-fs remote-fs swap sysinit basic multi-user graphical default local-fs-pre remote-fs-pre network "
		"network-online paths sockets timers time-sync getty cryptsetup snapd.mounts snapd.mounts-pre";
	static const char never[] =
		"rescue emergency shutdown umount reboot poweroff halt kexec soft-reboot exit final sleep suspend hibernate "
		"hybrid-sleep suspend-then-hibernate system-update system-update-pre factory-reset";
	bool requires = ends(name, n, ".requires");
	size_t tail = requires ? sizeof(".target.requires") - 1 : sizeof(".target.wants") - 1;
	if (!ends(name, n, requires ? ".target.requires" : ".target.wants"))
		return 0;
	n -= tail;
	if (word_in(name, n, never) || (n >= 6 && memcmp(name, "initrd", 6) == 0))
		return 0;
	return !word_in(name, n, boot) ? PULL_OTHER : requires ? PULL_BOOT | PULL_REQUIRED : PULL_BOOT;
}

void system_note_pull(struct fstab_system *sys, const char *name, size_t n, unsigned pull)
{
	struct unit_name *unit = pull ? take_name(sys, name, n) : NULL;
	if (unit)
		unit->pulled |= pull;
}

/* Files. */

/** Put a path together that a link leads to, from ROOT, without "." and "..".
    @return whether there was room. */
static bool follow(char path[PATH_MAX], const char *to, size_t n)
{
	char whole[2 * PATH_MAX];
	const char *slash = strrchr(path, '/');
	int k = snprintf(whole, sizeof(whole), "/%.*s/%.*s", *to == '/' || !slash ? 0 : (int)(slash - path), path, (int)n, to);
	struct arena arena;
	arena_init(&arena);
	const char *normal = k > 0 && (size_t)k < sizeof(whole) ? fstab_normal(&arena, whole) : NULL;
	bool fits = normal && strlen(normal) <= PATH_MAX && strlen(normal) > 1;
	if (fits)
		memcpy(path, normal + 1, strlen(normal));
	arena_destroy(&arena);
	return fits;
}

/** Read a unit or drop-in by its path below ROOT.  @return 0, or -1: it cannot be read. */
static int read_file(struct fstab_system *sys, const char *name, char **text, size_t *len)
{
	char path[PATH_MAX], to[PATH_MAX];
	if (strlen(name) >= sizeof(path))
		return -1;
	strcpy(path, name);
	for (unsigned i = 0; i < LINKS_MAX && system_may_touch(sys, path); ++i) {
		/* The directory may be a link itself, as on NixOS; what is read is none. */
		char *slash = strrchr(path, '/');
		if (!slash)
			return -1;
		*slash = '\0';
		int dir = system_open(sys, path, O_PATH | O_DIRECTORY);
		*slash = '/';
		int rc = dir < 0 ? -1 : os_read_regular(sys->os, dir, slash + 1, UNIT_MAX, text, len);
		int error = errno;
		ssize_t n = rc != 0 && dir >= 0 && error == ELOOP ? os_readlinkat(sys->os, dir, slash + 1, to, sizeof(to)) : -1;
		os_close(sys->os, dir);
		errno = error;
		if (rc == 0 || n <= 0)
			return rc;
		if (n >= (ssize_t)sizeof(to) || !follow(path, to, (size_t)n))
			return -1;
	}
	return -1;
}

/** A drop-in that was found. */
struct dropin {
	char *name;              /* of the file */
	const char *path;        /* below ROOT */
	bool masked;
};

struct dropins {
	struct dropin list[DROPINS_MAX];
	size_t count;
	bool open;               /* not all could be listed */
};

/** Take those of a directory that no other of the name came before. */
static void list_dropins(struct fstab_system *sys, struct arena *arena, enum units_dir of, const char *name, struct dropins *dropins)
{
	_Alignas(struct k_dirent) char buf[32 * 1024];
	char path[PATH_MAX];
	ssize_t n = 0;
	snprintf(path, sizeof(path), "%s/%s", units_dirs[of], name);
	int dir = system_may_touch(sys, path) ? system_open(sys, path, O_RDONLY | O_DIRECTORY) : -1;
	dropins->open |= dir < 0 && errno != ENOTDIR;
	while (dir >= 0 && (n = os_getdents(sys->os, dir, buf, sizeof(buf))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while ((entry = os_dirent(buf, (size_t)n, &at, &len)) != NULL) {
			bool had = !ends(entry->name, len, ".conf") || *entry->name == '.';
			for (size_t i = 0; i < dropins->count && !had; ++i)
				had = strcmp(dropins->list[i].name, entry->name) == 0;
			if (had)
				continue;
			if (dropins->count == DROPINS_MAX) {
				dropins->open = true;
				break;
			}
			char *file = arena_alloc(arena, strlen(path) + len + 2);
			sys->failed |= !file;
			if (!file)
				break;
			sprintf(file, "%s/%s", path, entry->name);
			dropins->list[dropins->count++] = (struct dropin){file + strlen(path) + 1, file, system_is_masked(sys, dir, entry)};
		}
	}
	dropins->open |= n < 0;
	os_close(sys->os, dir);
}

static int compare_dropins(const void *a, const void *b)
{
	return strcmp(((const struct dropin *)a)->name, ((const struct dropin *)b)->name);
}

/** Find the drop-ins of a unit: a-b.mount.d, a-.mount.d, mount.d. */
static void find_dropins(struct fstab_system *sys, struct arena *arena, const char *name, struct dropins *dropins)
{
	char dir[NAME_MAX + 8];
	const char *dot = strrchr(name, '.');
	dropins->count = 0;
	dropins->open = false;
	for (size_t n = (size_t)(dot - name);;) {
		int k = n ? snprintf(dir, sizeof(dir), "%.*s%s.d", (int)n, name, dot) : snprintf(dir, sizeof(dir), "%s.d", dot + 1);
		const struct unit_name *of = k > 0 && (size_t)k < sizeof(dir) ? find_name(sys, dir, (size_t)k) : NULL;
		unsigned there = of ? of->there : 0;
		for (unsigned i = 0; i < UNITS_DIRS; ++i) {
			if (there & 1u << i)
				list_dropins(sys, arena, i, dir, dropins);
		}
		if (n == 0)
			break;
		/* The next shorter one that ends with a dash. */
		for (--n; n > 0 && name[n - 1] != '-'; --n)
			;
	}
	if (dropins->count)
		qsort(dropins->list, dropins->count, sizeof(*dropins->list), compare_dropins);
}

/** What is read of a unit. */
enum found { FOUND, FOUND_NONE /* it wants nothing of its own */, FOUND_OPEN /* it cannot be told */ };

/** Read a unit and its drop-ins.  @first [out]  Its file, from ROOT. */
static enum found read_unit(struct fstab_system *sys, const struct unit_name *name, struct wanted *wanted,
                            struct unitfile *unit, const char **first)
{
	unsigned dir = 0;
	char *text;
	size_t len;
	while (dir < UNITS_DIRS && !(name->there & 1u << dir))
		++dir;
	if (dir == UNITS_DIRS || name->masked & 1u << dir)
		return FOUND_NONE;
	char *path = arena_alloc(&wanted->arena, strlen(units_dirs[dir]) + strlen(name->name) + 3);
	struct dropins *dropins = malloc(sizeof(*dropins));
	enum found found = FOUND;
	*unit = (struct unitfile){0};
	if (!path || !dropins) {
		sys->failed = true;
		free(dropins);
		return FOUND_OPEN;
	}
	sprintf(path, "/%s/%s", units_dirs[dir], name->name);
	*first = path;
	if (read_file(sys, path + 1, &text, &len) != 0) {
		/* A link that leads nowhere is no unit. */
		found = errno == ENOENT ? FOUND_NONE : FOUND_OPEN;
	} else {
		/* What the fstab's generator made is the fstab's; an empty one is masked. */
		if (len == 0 || (dir == UNITS_GENERATOR && strstr(text, "systemd-fstab-generator")))
			found = FOUND_NONE;
		else
			sys->failed |= unitfile_read(unit, &wanted->arena, path, text, len) != 0;
		free(text);
	}
	if (found == FOUND)
		find_dropins(sys, &wanted->arena, name->name, dropins);
	for (size_t i = 0; found == FOUND && i < dropins->count; ++i) {
		const struct dropin *dropin = &dropins->list[i];
		char *file = arena_alloc(&wanted->arena, strlen(dropin->path) + 2);
		sys->failed |= !file;
		if (dropin->masked || !file)
			continue;
		sprintf(file, "/%s", dropin->path);
		if (read_file(sys, dropin->path, &text, &len) != 0) {
			found = FOUND_OPEN;
		} else {
			sys->failed |= unitfile_read(unit, &wanted->arena, file, text, len) != 0;
			free(text);
		}
	}
	if (found == FOUND && (dropins->open || unit->odd))
		found = FOUND_OPEN;
	free(dropins);
	return found;
}

/* Units. */

/** What pulls in a unit that a generator has made. */
static unsigned generated_pull(struct fstab_system *sys, const struct unit_name *name)
{
	static const char *const targets[] = {"local-fs", "remote-fs", "swap"};
	static const char *const kinds[] = {"requires", "wants"};
	unsigned dir = name->there & 1u << UNITS_GENERATOR ? UNITS_GENERATOR : UNITS_LATE, pull = 0;
	if (!system_may_touch(sys, units_dirs[dir]))
		return 0;
	for (size_t i = 0; i < 6; ++i) {
		char path[PATH_MAX], link[PATH_MAX];
		snprintf(path, sizeof(path), "%s/%s.target.%s/%s", units_dirs[dir], targets[i / 2], kinds[i % 2], name->name);
		if (os_readlinkat(sys->os, sys->root, path, link, sizeof(link)) > 0)
			pull |= i % 2 ? PULL_BOOT : PULL_BOOT | PULL_REQUIRED;
	}
	return pull;
}

/** Whether systemd or the kernel mounts there of itself. */
static bool is_api(const char *target)
{
	static const char *const below[] = {"/proc", "/sys", "/dev"};
	static const char exactly[] = "/ /run /run/lock /run/user";
	bool api = word_in(target, strlen(target), exactly);
	for (size_t i = 0; i < sizeof(below) / sizeof(*below) && !api; ++i)
		api = mtree_path_within(target, below[i]);
	return api;
}

/** What a unit has of a setting; NULL: nothing. */
static const char *value_of(struct wanted_unit *unit, const struct unitfile *file, enum unitfile_key key)
{
	const struct unitfile_value *value = &file->values[key];
	if (value->text)
		unit->said[key] = (struct wanted_place){value->file, value->line};
	return value->text;
}

/** Add a unit.
    @file  Of an automount that of its mount, as all but its name. */
static void add(struct fstab_system *sys, struct wanted *wanted, const struct unit_name *name, unsigned pull, const char *path,
                const struct unitfile *file, const char *first)
{
	size_t n = strlen(name->name);
	struct wanted_unit unit = {
		.name = arena_strndup(&wanted->arena, name->name, n), .swap = ends(name->name, n, ".swap"),
		.automount = ends(name->name, n, ".automount"), .required = pull & PULL_REQUIRED,
		.may_not = file->conditional || file->asserted || !(pull & PULL_BOOT) || pull & PULL_TAKEN,
		.usual = !(name->there & (1u << UNITS_ETC | 1u << UNITS_RUN | 1u << UNITS_GENERATOR | 1u << UNITS_LATE)),
		.owner = !(name->there & ~(1u << UNITS_LATE)) ? "gpt-auto" : "unit",
	};
	for (size_t i = 0; i < UNITFILE_KEYS; ++i)
		unit.said[i] = (struct wanted_place){first, 0};
	const char *named = arena_strndup(&wanted->arena, path, strlen(path));
	const char *what = value_of(&unit, file, UNITFILE_WHAT), *where = value_of(&unit, file, UNITFILE_WHERE);
	const char *type = value_of(&unit, file, UNITFILE_TYPE), *options = value_of(&unit, file, UNITFILE_OPTIONS);
	const char *priority = value_of(&unit, file, UNITFILE_PRIORITY);
	bool bind = options && (fstab_has_option(options, "bind") || fstab_has_option(options, "rbind")), odd = false;
	for (size_t i = 0; i < UNITFILE_KEYS; ++i)
		odd |= file->values[i].odd;
	unit.source = what ? what : unit.swap ? named : NULL;
	/* As systemd has it: without a slash too many. */
	const char *target = fstab_normal(&wanted->arena, where ? where : named);
	unit.target = unit.swap ? "none" : target;
	unit.fstype = unit.swap ? "swap" : type ? type : bind ? "none" : "auto";
	unit.options = options ? options : "";
	if (unit.swap && priority) {
		size_t size = strlen(priority) + strlen(unit.options) + 6;
		char *both = arena_alloc(&wanted->arena, size);
		if (both)
			snprintf(both, size, "pri=%s%s%s", priority, *unit.options ? "," : "", unit.options);
		sys->failed |= !both;
		unit.options = both;
	}
	sys->failed |= !unit.name || !named;
	/* Without What= it is none that systemd takes. */
	if (odd || !unit.source || !unit.target || *unit.source == '#' || (!unit.swap && *unit.target != '/')) {
		wanted->mounts_open |= !unit.swap;
		wanted->swaps_open |= unit.swap;
		return;
	}
	if (!unit.swap && is_api(unit.target))
		return;
	if (wanted->count == wanted->room) {
		size_t room = wanted->room ? 2 * wanted->room : 16;
		struct wanted_unit *more = reallocarray(wanted->units, room, sizeof(*more));
		sys->failed |= !more;
		if (!more)
			return;
		wanted->units = more;
		wanted->room = room;
	}
	wanted->units[wanted->count++] = unit;
}

/** Look at a unit, if it is wanted. */
static void look(struct fstab_system *sys, const struct unit_name *name, bool (*skip)(void *arg, const char *target), void *arg,
                 struct wanted *wanted)
{
	const unsigned generated = 1u << UNITS_GENERATOR | 1u << UNITS_LATE;
	const size_t n = strlen(name->name);
	char path[NAME_MAX + 8], mount[NAME_MAX + 16];
	bool automount = false;
	const char *first = NULL;
	struct unitfile file, own;
	if (n > NAME_MAX || !name->there || !(name->pulled || name->there & generated)
	    || !system_unit_path(name->name, n, path, &automount) || (skip && skip(arg, path)))
		return;
	unsigned pull = name->pulled | (name->there & generated ? generated_pull(sys, name) : 0);
	bool swap = ends(name->name, n, ".swap");
	if (!swap && is_api(path))
		return;
	/* One that is mounted when it is entered, too, may be unmounted in between. */
	snprintf(mount, sizeof(mount), "%.*s.automount", (int)(strrchr(name->name, '.') - name->name), name->name);
	const struct unit_name *trigger = ends(name->name, n, ".mount") ? find_name(sys, mount, strlen(mount)) : NULL;
	if (trigger && trigger->pulled & PULL_BOOT && !trigger->masked)
		return;
	if (!(pull & (PULL_BOOT | PULL_OTHER)))
		return;
	enum found found = read_unit(sys, name, wanted, &file, &first);
	/* What is mounted when it is entered says the unit of that. */
	if (found == FOUND && automount) {
		snprintf(mount, sizeof(mount), "%.*s.mount", (int)(strrchr(name->name, '.') - name->name), name->name);
		const struct unit_name *of = find_name(sys, mount, strlen(mount));
		const char *unused;
		own = file;
		found = of ? read_unit(sys, of, wanted, &file, &unused) : FOUND_NONE;
		file.values[UNITFILE_WHERE] = own.values[UNITFILE_WHERE];
		file.conditional |= own.conditional;
		file.asserted |= own.asserted;
	}
	if (found == FOUND)
		add(sys, wanted, name, pull, path, &file, first);
	wanted->mounts_open |= found == FOUND_OPEN && !swap;
	wanted->swaps_open |= found == FOUND_OPEN && swap;
}

/** Whether systemd is there to start any. */
static bool has_systemd(struct fstab_system *sys)
{
	static const char *const places[] = {"run/systemd/system", "usr/lib/systemd/systemd", "lib/systemd/systemd",
	                                      "run/current-system/systemd/lib/systemd/systemd"};
	struct k_statx st;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !sys->systemd; ++i) {
		bool there = system_may_touch(sys, places[i])
		             && os_statx(sys->os, sys->root, places[i], AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0, &st) == 0;
		sys->systemd = there ? 1 : 0;
	}
	if (!sys->systemd)
		sys->systemd = -1;
	return sys->systemd > 0;
}

int fstab_system_wanted(struct fstab_system *sys, bool (*skip)(void *arg, const char *target), void *arg, struct wanted *wanted)
{
	*wanted = (struct wanted){0};
	arena_init(&wanted->arena);
	if (has_systemd(sys)) {
		system_list(sys);
		wanted->mounts_open = wanted->swaps_open = sys->unlisted;
		for (size_t i = 0; i < sys->nnames && !sys->failed; ++i)
			look(sys, &sys->names[i], skip, arg, wanted);
	}
	if (sys->failed)
		errno = ENOMEM;
	return sys->failed ? -1 : 0;
}

bool fstab_system_dropins(struct fstab_system *sys, const char *target, struct arena *arena, struct unitfile *unit)
{
	struct unitfile whole = *unit;
	struct strbuf name;
	system_list(sys);
	if (!sys->dropins || !has_systemd(sys))
		return false;
	const char *normal = fstab_normal(arena, target);
	struct dropins *dropins = normal ? malloc(sizeof(*dropins)) : NULL;
	strbuf_init(&name);
	if (dropins)
		fstab_unit_name(&name, normal);
	strbuf_puts(&name, ".mount");
	sys->failed |= !dropins || name.failed;
	if (!sys->failed)
		find_dropins(sys, arena, strbuf_str(&name), dropins);
	bool known = !sys->failed && !dropins->open;
	for (size_t i = 0; known && i < dropins->count; ++i) {
		char *text;
		size_t len;
		if (dropins->list[i].masked)
			continue;
		known = read_file(sys, dropins->list[i].path, &text, &len) == 0;
		if (!known)
			break;
		sys->failed |= unitfile_read(&whole, arena, dropins->list[i].path, text, len) != 0;
		free(text);
	}
	bool said = false;
	for (int key = 0; key < UNITFILE_KEYS; ++key) {
		known = known && !whole.values[key].odd;
		said |= whole.values[key].text != unit->values[key].text;
	}
	said = said && known && !whole.odd && !sys->failed;
	if (said)
		*unit = whole;
	strbuf_destroy(&name);
	free(dropins);
	return said;
}

bool fstab_system_lacks(struct fstab_system *sys, const char *name)
{
	system_list(sys);
	const struct unit_name *unit = find_name(sys, name, strlen(name));
	/* Below another root a link may lead elsewhere than it was listed by. */
	return strcmp(sys->root_name, "/") == 0 && !sys->unlisted && !sys->failed && !(unit && unit->there & (1u << UNITS_ETC | 1u << UNITS_RUN));
}

void wanted_destroy(struct wanted *wanted)
{
	free(wanted->units);
	arena_destroy(&wanted->arena);
	*wanted = (struct wanted){0};
}
