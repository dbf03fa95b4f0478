/* SPDX-License-Identifier: MIT */
#include "cmd/machine.h"

#include "base/fstypes.h"
#include "cmd/input.h"
#include "cmd/output.h"
#include "cmd/view.h"
#include "fstab/units.h"
#include "os/file.h"
#include "path/named.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TEXT_MAX = 4 << 20 };   /* of swaps and utab */

static int machine_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	struct run *run = &((struct fstab_machine *)arg)->run;
	const char *source = fstype_flags(mount->fstype) & FST_SUBVOL ? mount->source : NULL;
	uint32_t major, minor;
	if (!run->devs)
		return 0;
	device->tags = devmap_tags(run->devs, mount->dev_major, mount->dev_minor, source);
	if (!device->tags)
		return -1;
	if (devmap_behind(run->devs, mount->dev_major, mount->dev_minor, source, &major, &minor)) {
		device->numbered = true;
		device->major = major;
		device->minor = minor;
		device->remote = devmap_remote(run->devs, major, minor);
		devmap_loop(run->devs, major, minor, &device->loop);
	}
	return 0;
}

static bool machine_protected(void *arg, const struct mount *mount)
{
	struct run *run = &((struct fstab_machine *)arg)->run;
	const char *source = fstype_flags(mount->fstype) & FST_SUBVOL ? mount->source : NULL;
	uint32_t major, minor;
	return run->devs && devmap_behind(run->devs, mount->dev_major, mount->dev_minor, source, &major, &minor)
	       && devmap_protected(run->devs, major, minor);
}

static int machine_swap(void *arg, const char *name, struct fstab_device *device)
{
	struct run *run = &((struct fstab_machine *)arg)->run;
	struct k_statx st;
	struct strbuf path;
	strbuf_init(&path);
	bool seen = run->devs && path_follow(run, name, &path) == PATH_SEEN
	            && path_look(run, strbuf_str(&path), K_STATX_TYPE, &st) == 0 && S_ISBLK(st.mode);
	bool failed = path.failed;
	strbuf_destroy(&path);
	if (!seen)
		return failed ? -1 : 0;
	device->tags = devmap_tags(run->devs, st.rdev_major, st.rdev_minor, NULL);
	device->remote = devmap_remote(run->devs, st.rdev_major, st.rdev_minor);
	device->numbered = true;
	device->major = st.rdev_major;
	device->minor = st.rdev_minor;
	return device->tags ? 0 : -1;
}

static unsigned machine_holders(void *arg, const char *tag, const char *value)
{
	return facts_holders(&((struct fstab_machine *)arg)->facts, tag, value);
}

static int machine_fsck(void *arg, const char *fstype)
{
	struct fstab_machine *machine = arg;
	char name[64];
	int n = snprintf(name, sizeof(name), "fsck.%s", fstype);
	return machine->system && *fstype && n > 0 && (size_t)n < sizeof(name) ? host_system_helper(machine->system, name) : -1;
}

static enum fstab_unit machine_unit(void *arg, const char *target)
{
	struct fstab_machine *machine = arg;
	const char *swap = machine->system ? host_system_swap_file(machine->system) : NULL;
	return swap && strcmp(target, swap) == 0 ? FSTAB_OWN_UNIT : fstab_unit_of(facts_units(&machine->facts), target);
}

static const char *machine_kept(void *arg, const char *name, const struct mount *mount)
{
	const struct fstab_machine *machine = arg;
	uint32_t i = map64_get(&machine->kept_by, map64_text(name));
	for (; i != MAP64_NONE; i = machine->kept[i].before) {
		const struct fstab_kept *entry = &machine->kept[i].entry;
		if (strcmp(entry->target, name) == 0 && fstab_utab_fits(entry, mount))
			return entry->options;
	}
	return NULL;
}

static bool machine_secret(const char *source, const char *options)
{
	return (options && has_secret(options)) || (source && source_has_secret(source));
}

/** Read what mount(8) keeps beside the kernel; it may not be there. */
static int read_utab(struct fstab_machine *machine)
{
	static const char path[] = "/run/mount/utab";
	size_t len, size = 0;
	if (path_blocks(&machine->run, "/run/mount"))
		return 0;
	if (os_read_file(&machine->run.os, AT_FDCWD, path, TEXT_MAX, &machine->utab, &len) != 0)
		return errno == ENOMEM ? -1 : 0;
	char *at = machine->utab;
	struct kept kept;
	while (fstab_utab_next(&at, &kept.entry)) {
		if (machine->nkept == size) {
			size = size ? 2 * size : 16;
			struct kept *more = realloc(machine->kept, size * sizeof(*more));
			if (!more)
				return -1;
			machine->kept = more;
		}
		uint64_t key = map64_text(kept.entry.target);
		kept.before = map64_get(&machine->kept_by, key);
		machine->kept[machine->nkept] = kept;
		map64_remove(&machine->kept_by, key);
		if (map64_put(&machine->kept_by, key, (uint32_t)machine->nkept++) == MAP64_NONE)
			return -1;
	}
	return 0;
}

/** Read the swap spaces.  @return 0, or -1 after a message. */
static int read_swaps(struct fstab_machine *machine, const char *file)
{
	const char *path = file ? file : "/proc/swaps";
	size_t len;
	struct os *os = &machine->run.os;
	if ((file ? path_read_named(os, path, NULL, TEXT_MAX, &machine->swaps_text, &len)
	          : os_read_file(os, AT_FDCWD, path, TEXT_MAX, &machine->swaps_text, &len)) != 0) {
		/* A kernel without swap has no such file. */
		if (!file && errno == ENOENT)
			return 0;
		/* In a container it may be a file of lxcfs. */
		if (!file && errno == EREMOTE) {
			message(path, "not read: %s; swap is not checked (--swaps=FILE reads a copy)", path_error(errno));
			machine->no_swaps = true;
			return 0;
		}
		message(path, "cannot be read: %s; give a copy of /proc/swaps with --swaps", path_error(errno));
		return -1;
	}
	size_t damaged;
	ssize_t n = fstab_parse_swaps(machine->swaps_text, &machine->arena, &machine->swaps, &damaged);
	if (n < 0) {
		message(path, "%s", strerror(errno));
		return -1;
	}
	/* Each is compared with each line: a longer list is refused. */
	if (n > FSTAB_SWAPS_MAX) {
		message(path, "it lists %zd swap spaces, and a kernel has at most %d; give a copy of /proc/swaps with --swaps", n,
		        FSTAB_SWAPS_MAX);
		return -1;
	}
	/* A NUL ends what was read. */
	if (!damaged && strlen(machine->swaps_text) < len)
		damaged = (size_t)n + 2;
	/* A kernel without swap may have an empty one. */
	if (damaged && (file || len)) {
		message(path, "line %zu is not of a list of swap spaces; give a copy of /proc/swaps%s", damaged,
		        file ? "" : " with --swaps");
		return -1;
	}
	machine->nswaps = (size_t)n;
	return 0;
}

/** ROOT as the table names it.  @return 0, or -1 after a message. */
static int find_root(struct fstab_machine *machine, const char *given)
{
	struct run *run = &machine->run;
	struct strbuf *root = &machine->root;
	if (!run->live) {
		if (*given != '/') {
			usage_error(given, "of a recorded table ROOT is an absolute path");
			return -1;
		}
		path_normal(given, root);
		return 0;
	}
	if (path_follow(run, given, root) == PATH_MISSING) {
		message(given, "%s; give a directory", path_error(errno));
		return -1;
	}
	if (path_blocks(run, strbuf_str(root))) {
		message(strbuf_str(root), "touching it can block: fsck helpers and units are not looked for");
		return 0;
	}
	machine->system = host_system_new(&run->os, strbuf_str(root), path_blocks, run);
	if (!machine->system) {
		message(given, "%s; give a directory", strerror(errno));
		return -1;
	}
	return 0;
}

int machine_know(struct fstab_machine *machine, const char *root, const char *swaps)
{
	struct run *run = &machine->run;
	if (find_root(machine, root) != 0 || ((run->live || swaps) && read_swaps(machine, swaps) != 0))
		return -1;
	if (machine->root.failed || path_index(run) != 0 || (run->live && read_utab(machine) != 0)) {
		message(NULL, "%s", strerror(ENOMEM));
		return -1;
	}
	machine->facts.root = strbuf_str(&machine->root);
	machine->facts.system = machine->system;
	return 0;
}

struct fstab_world machine_world(struct fstab_machine *machine)
{
	return (struct fstab_world){
		.arg = machine, .device = machine_device, .swap = machine_swap, .holders = machine_holders,
		.fsck = machine_fsck, .unit = facts_units(&machine->facts)->known ? machine_unit : NULL, .kept = machine_kept,
		.secret = machine_secret, .protected = machine_protected,
	};
}

void machine_init(struct fstab_machine *machine, const char *tab_file, int stats)
{
	static char name[] = "getmnt";
	char *argv[] = {name, NULL};
	struct options *o = &machine->options;
	struct run *run = &machine->run;
	*machine = (struct fstab_machine){.run = {
		.opt = o, .cols = &machine->columns, .procfd = AT_FDCWD, .rootfd = AT_FDCWD, .complete = true, .start = os_now()}};
	strbuf_init(&machine->root);
	arena_init(&machine->arena);
	map64_init(&machine->kept_by);
	facts_init(&machine->facts, run, "/", NULL);
	options_parse(o, 1, argv);
	o->tab_file = tab_file;
	o->stats = stats;
	o->names = tab_file ? DN_KERNEL : DN_HINT;
	o->max_dirs = 20000;
	o->search_seconds = 2;
	run->progress = progress_begin(run);
	os_mark(MARK_BEGIN);
	if (tab_file)
		run->os = (struct os){.statx_works = true};
	else
		os_init(&run->os, secure_getenv("GETMNT_DISABLE"));
}

void machine_destroy(struct fstab_machine *machine)
{
	host_system_free(machine->system);
	free(machine->swaps_text);
	free(machine->swaps);
	free(machine->utab);
	free(machine->kept);
	arena_destroy(&machine->arena);
	map64_destroy(&machine->kept_by);
	facts_destroy(&machine->facts);
	strbuf_destroy(&machine->root);
	run_destroy(&machine->run);
}
