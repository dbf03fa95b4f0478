/* SPDX-License-Identifier: MIT */
#include "cmd/snapshot.h"

#include "cmd/fstab_machine.h"
#include "cmd/view.h"
#include "os/file.h"
#include "os/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum { MARKER_MAX = 64 << 10, VALUE_MAX = 256 };

/* The marker. */

/** Take a value that is a number in a base.  @return whether it is one. */
static bool take_number(const char *value, int base, long *taken)
{
	char *end;
	errno = 0;
	*taken = strtol(value, &end, base);
	return end != value && (!*end || *end == '.') && *taken >= 0 && errno == 0;
}

/** Take what a key says, if it is known.  @return whether it can be that. */
static bool take_value(struct snapshot *snapshot, const char *key, const char *value)
{
	const struct {
		const char *key;
		const char **text;
	} texts[] = {{"host", &snapshot->host}, {"boot-id", &snapshot->boot_id}, {"kernel", &snapshot->kernel}};
	const struct {
		const char *key;
		long *number;
		int base, most;
	} numbers[] = {
		{"uptime", &snapshot->uptime, 10, INT_MAX}, {"time", &snapshot->time, 10, 0},
		{"fstab-mode", &snapshot->fstab_mode, 8, 07777}, {"fstab-uid", &snapshot->fstab_uid, 10, 0},
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i) {
		if (strcmp(key, texts[i].key) == 0)
			*texts[i].text = value;
	}
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); ++i) {
		if (strcmp(key, numbers[i].key) == 0)
			return take_number(value, numbers[i].base, numbers[i].number)
			       && (!numbers[i].most || *numbers[i].number <= numbers[i].most);
	}
	if (strcmp(key, "systemd") == 0)
		snapshot->systemd = strcmp(value, "none") != 0;
	return true;
}

/** Read what the marker says; keys that are not known are of later versions.
    @return 0, or -1 after a message. */
static int read_marker(struct snapshot *snapshot, size_t len)
{
	char object[VALUE_MAX + 64];
	char *line = snapshot->text, *next;
	snprintf(object, sizeof(object), "%.*s/" SNAPSHOT_MARKER, VALUE_MAX, snapshot->name);
	if (strlen(line) != len) {
		message(object, "it has a NUL byte: no snapshot is so");
		return -1;
	}
	for (unsigned number = 1; line; line = next, ++number) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		if (number == 1 && strcmp(line, SNAPSHOT_HEAD) != 0) {
			message(object, "line 1 is not \"" SNAPSHOT_HEAD "\": it is of another version, or no snapshot");
			return -1;
		}
		char *equals = number > 1 && *line != '#' ? strchr(line, '=') : NULL;
		if (!equals && number > 1 && *line && *line != '#') {
			message(object, "line %u is no key=value", number);
			return -1;
		}
		if (equals)
			*equals = '\0';
		if (equals && (strlen(equals + 1) >= VALUE_MAX || !take_value(snapshot, line, equals + 1))) {
			message(object, "line %u has a value that %s cannot have", number, line);
			return -1;
		}
	}
	return 0;
}

/** Open a directory, if that cannot block: by the table of this machine's mounts alone.
    @return a descriptor, or -1. */
static int open_dir(struct os *os, const char *name)
{
	struct fstab_machine machine;
	struct strbuf place;
	int fd = -1;
	strbuf_init(&place);
	machine_init(&machine, NULL, 0);
	machine.options.names = DN_KERNEL;
	struct run *run = &machine.run;
	run->table = table_read_kernel(&run->os, TABLE_AUTO, DISCOVER_FIELDS | MF_SOURCE);
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	run->live = true;
	run->devs = run->table ? discover_devmap(&run->os, run->table) : NULL;
	run->d = run->devs ? discover(&run->os, NULL, run->table, &opts) : NULL;
	if (run->d && path_follow(run, name, &place) == PATH_SEEN)
		fd = os_openat(os, AT_FDCWD, strbuf_str(&place), O_PATH | O_DIRECTORY | O_NOFOLLOW);
	strbuf_destroy(&place);
	machine_destroy(&machine);
	return fd;
}

int snapshot_open(const char *root, struct snapshot **found)
{
	struct os os = {.statx_works = true};
	size_t len, n = strlen(root);
	*found = NULL;
	if (strcmp(root, "/") == 0)
		return 0;
	int dir = open_dir(&os, root);
	if (dir < 0)
		return 0;
	struct snapshot *snapshot = calloc(1, sizeof(*snapshot));
	if (!snapshot)
		goto nomem;
	*snapshot = (struct snapshot){.dir = dir, .uptime = -1, .time = -1, .fstab_mode = -1, .fstab_uid = -1, .systemd = true};
	map64_init(&snapshot->places);
	dir = -1;
	if (os_read_regular(&os, snapshot->dir, SNAPSHOT_MARKER, MARKER_MAX, &snapshot->text, &len) != 0) {
		int error = errno;
		snapshot_close(snapshot);
		if (error == ENOENT)
			return 0;
		message(root, SNAPSHOT_MARKER " in it cannot be read: %s; is it a snapshot?",
		        error == ENOTSUP || error == ELOOP ? "it is no regular file" : strerror(error));
		return -1;
	}
	while (n > 1 && root[n - 1] == '/')
		--n;
	snapshot->name = strndup(root, n);
	if (!snapshot->name || asprintf(&snapshot->table_name, "%s" SNAPSHOT_TABLE, snapshot->name) < 0) {
		snapshot->table_name = NULL;
		goto nomem;
	}
	if (read_marker(snapshot, len) != 0) {
		snapshot_close(snapshot);
		return -1;
	}
	*found = snapshot;
	return 0;
nomem:
	os_close(&os, dir);
	snapshot_close(snapshot);
	message(NULL, "%s", strerror(ENOMEM));
	return -1;
}

void snapshot_close(struct snapshot *snapshot)
{
	struct os os = {0};
	if (!snapshot)
		return;
	os_close(&os, snapshot->dir);
	map64_destroy(&snapshot->places);
	free(snapshot->name);
	free(snapshot->table_name);
	free(snapshot->text);
	free(snapshot);
}

/* The host. */

/** Note a place, and what is above. */
static bool add_place(struct map64 *places, const char *path)
{
	uint64_t hash = MAP64_BYTES;
	bool kept = map64_put(places, map64_bytes(MAP64_BYTES, "/", 1), 0) != MAP64_NONE;
	for (size_t n = 0; kept && path[n];) {
		size_t more = 1 + strcspn(path + n + 1, "/");
		hash = map64_bytes(hash, path + n, more);
		n += more;
		kept = map64_put(places, hash, 0) != MAP64_NONE;
	}
	return kept;
}

bool snapshot_has_place(const struct snapshot *snapshot, const char *path)
{
	return map64_get(&snapshot->places, map64_bytes(MAP64_BYTES, path, strlen(path))) != MAP64_NONE;
}

int snapshot_devices(struct run *run)
{
	struct map64 *places = &run->snapshot->places;
	for (size_t i = 0; i < run_count(run); ++i) {
		const char *name = run_name(run, i);
		if (name && *name == '/' && !add_place(places, name)) {
			errno = ENOMEM;
			return -1;
		}
	}
	/* Without the list of devices, of none is it known that it is not there. */
	int dir = os_opendir(&run->os, AT_FDCWD, "/sys/class/block");
	if (dir < 0)
		return 0;
	os_close(&run->os, dir);
	run->devs = devmap_new_at(&run->os, "/sys", "/run", "/dev");
	return run->devs ? 0 : -1;
}

bool snapshot_mode(const struct snapshot *snapshot, struct k_statx *st)
{
	st->mode = (uint16_t)((unsigned)snapshot->fstab_mode & 07777);
	st->uid = (uint32_t)snapshot->fstab_uid;
	return snapshot->fstab_mode >= 0 && snapshot->fstab_uid >= 0;
}

int snapshot_machine(struct run *run)
{
	const struct snapshot *snapshot = run->snapshot;
	run->host = snapshot->host ? strdup(snapshot->host) : NULL;
	run->boot_id = snapshot->boot_id ? strdup(snapshot->boot_id) : NULL;
	if ((snapshot->host && !run->host) || (snapshot->boot_id && !run->boot_id)) {
		errno = ENOMEM;
		return -1;
	}
	return 0;
}
