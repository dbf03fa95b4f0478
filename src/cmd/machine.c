/* SPDX-License-Identifier: MIT */
#include "cmd/machine.h"

#include "cmd/progress.h"
#include "cmd/run.h"
#include "fstab/target.h"
#include "path/resolve.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

/* Functions for struct fstab_facts. */

/** Get the kind of the systemd unit of a mount point, as enum fstab_unit; -1: unknown. */
static int unit_of(struct host *host, const char *target)
{
	if (!host_units(host)->known)
		return -1;
	const char *swap = host->in.system ? host_system_swap_file(host->in.system) : NULL;
	return swap && strcmp(target, swap) == 0 ? FSTAB_OWN_UNIT
	       : fstab_unit_of(host_units(host), target);
}

static int fact_answer(void *arg, enum fstab_question question, const char *name)
{
	struct host_system *system = ((const struct host *)arg)->in.system;
	switch (question) {
	case FSTAB_HAS_HELPER:
		return system ? host_system_helper(system, name) : -1;
	case FSTAB_HAS_TYPE:
		return host_fstype(arg, name);
	case FSTAB_HAS_KERNEL:
		return host_kernel_since(arg, name);
	case FSTAB_IS_OPEN:
		return host_open_to_all(arg, name);
	case FSTAB_IS_PROTECTED:
		return host_is_protected(arg, name);
	case FSTAB_UNIT:
		return unit_of(arg, name);
	case FSTAB_LACKS_UNIT:
		return system ? host_system_lacks_unit(system, name) : -1;
	}
	return -1;
}

/** Whether two paths below ROOT lead to the same file.  @return 1: yes; 0: no; -1: unknown. */
static int same_place(struct host *host, const char *a, const char *b)
{
	struct strbuf one = {0}, other = {0};
	int same = -1;
	if (host_follow(host, a, &one) == PATH_SEEN
	    && host_follow(host, b, &other) == PATH_SEEN)
		same = strcmp(strbuf_str(&one), strbuf_str(&other)) == 0;
	strbuf_destroy(&one);
	strbuf_destroy(&other);
	return same;
}

enum { LOOP_MAJOR = 7 };

/** Whether a name is /dev/NAME, but not of a device-mapper device, which also has a name in
    /dev/mapper: if two such names differ, the devices differ. */
static bool is_plain_name(const char *name)
{
	return name && strncmp(name, "/dev/", 5) == 0 && !strchr(name + 5, '/')
	       && strncmp(name + 5, "dm-", 3) != 0;
}

/** Whether a tag, such as UUID=, belongs to the device of a planned line.
    @return 1: yes; 0: no; -1: unknown. */
static int tag_leads(struct host *host, const char *tag, const struct fstab_line *line)
{
	struct fstab_device named = {0}, own = {0};
	if (host_devices(host, tag, &named) != 1
	    || host_device(host, line->swap ? NULL : line->mount, line->swap, &own) != 0)
		return -1;
	int same = fstab_same_device(&named, &own);
	const char *name = named.tags ? named.tags->name : NULL;
	/* If the device number of the swap space is unknown, compare the names of the devices. */
	if (same < 0 && line->swap && !own.numbered && is_plain_name(line->swap)
	    && is_plain_name(name))
		same = strcmp(line->swap, name) == 0;
	/* A path of a multipath device and a member of a RAID can show the tag of the whole device.
	   So if one of the devices is such a part, devices that differ prove nothing. */
	bool part = same == 0 && (devmap_part(host->in.devs, named.major, named.minor)
	                          || (own.numbered
	                              && devmap_part(host->in.devs, own.major, own.minor)));
	return part ? -1 : same;
}

static int fact_leads(void *arg, const char *path, const struct fstab_line *line)
{
	struct host *host = arg;
	const struct host_input *in = &host->in;
	uint32_t major, minor, own_major = 0, own_minor = 0;
	bool known = false;
	if (!in->live || !in->devs)
		return -1;
	if (*path != '/')
		return tag_leads(host, path, line);
	if (line->swap) {
		known = host_device_number(host, line->swap, &own_major, &own_minor);
		if (!known)
			return line->source && *line->source == '/'
			       ? same_place(host, path, line->source) : -1;
	} else if (line->mount) {
		known = devmap_mount_device(in->devs, line->mount, &own_major, &own_minor);
		/* If the source is the image file of a loop device, compare the files to which the
		   paths lead. */
		if (line->source && *line->source == '/' && strncmp(line->source, "/dev/", 5) != 0
		    && strncmp(path, "/dev/", 5) != 0)
			return same_place(host, path, line->source);
	}
	if (!known)
		return -1;
	/* If a loop device has its image in memory, line->source does not name the image: get the
	   path of the image from the loop device. */
	struct devmap_loop loop;
	if (own_major == LOOP_MAJOR && strncmp(path, "/dev/", 5) != 0) {
		bool known_file = devmap_loop(in->devs, own_major, own_minor, &loop);
		return !known_file ? -1 : loop.partition ? 0 : same_place(host, path, loop.file);
	}
	if (!host_device_number(host, path, &major, &minor))
		return errno == ENOENT || strncmp(path, "/dev/", 5) != 0 ? 0 : -1;
	return major == own_major && minor == own_minor;
}

struct fstab_facts machine_facts(struct fstab_machine *machine)
{
	struct host *host = &machine->host;
	struct fstab_facts facts = {
		.utab = &machine->utab, .arg = host, .device = host_device, .leads = fact_leads,
	};
	if (host->in.live) {
		facts.devices = host_devices;
		facts.look = host_look;
		facts.answer = fact_answer;
		facts.opens = host_opens;
	}
	return facts;
}

struct audit_situation machine_situation(struct fstab_machine *machine)
{
	struct host *host = &machine->host;
	bool live = host->in.live;
	return (struct audit_situation){
		.recorded = !live, .rooted = strcmp(strbuf_str(&machine->root), "/") != 0,
		.udev = live && host_look(host, "/run/udev/data", NULL) == FACT_DIR,
		.systemd = live && host_look(host, "/run/systemd/system", NULL) == FACT_DIR,
	};
}

/* The machine. */

/** Read the swap spaces.  @return 0, or -1 after a message. */
static int read_swaps(struct fstab_machine *machine, const char *file)
{
	const char *path = file ? file : "/proc/swaps";
	char why[160];
	switch (host_read_swaps(&machine->run.os, file, &machine->swaps)) {
	case HOST_SWAPS_GOOD:
		return 0;
	case HOST_SWAPS_BLIND:
		message(path, "not read: %s; swap is not checked (--swaps=FILE reads a copy)",
		        path_error(errno));
		machine->no_swaps = true;
		return 0;
	case HOST_SWAPS_TOO_MANY:
		snprintf(why, sizeof(why), "lists %zu swap spaces, but a kernel has at most %d",
		         machine->swaps.count, HOST_SWAPS_MAX);
		break;
	case HOST_SWAPS_DAMAGED:
		snprintf(why, sizeof(why), "line %zu is not valid in a list of swap spaces",
		         machine->swaps.damaged);
		break;
	case HOST_SWAPS_UNREADABLE:
		snprintf(why, sizeof(why), "cannot be read: %s", path_error(errno));
	}
	message(path, "%s; give a copy of /proc/swaps with --swaps", why);
	return -1;
}

/** Convert the given ROOT to the path that the mount table uses for this directory.  Prepare to
    read the files below ROOT, unless accessing ROOT can block.
    @return 0, or -1 after a message. */
static int find_root(struct fstab_machine *machine, const char *given)
{
	struct run *run = &machine->run;
	struct strbuf *root = &machine->root;
	if (!run->live) {
		if (*given != '/') {
			usage_error(given, "with a recorded table ROOT must be an absolute path");
			return -1;
		}
		path_normal(given, root);
		return 0;
	}
	if (mounts_follow(run_paths(run), given, root) == PATH_MISSING) {
		message(given, "cannot be used as root: %s", path_error(errno));
		return -1;
	}
	if (mounts_path_block(run_paths(run), strbuf_str(root))) {
		message(strbuf_str(root), "accessing it can block: fsck helpers and units are not "
		                          "checked");
		return 0;
	}
	machine->host.in.system = host_system_new(&run->os, strbuf_str(root), run_paths(run));
	if (!machine->host.in.system) {
		message(given, "cannot be used as root: %s%s", strerror(errno), errno != ENOTDIR
		        ? "" : "; name a directory (getmnt fstab --merge=FILE updates a file)");
		return -1;
	}
	return 0;
}

int machine_know(struct fstab_machine *machine, const char *root, const char *swaps)
{
	struct run *run = &machine->run;
	if (find_root(machine, root) != 0
	    || ((run->live || swaps) && read_swaps(machine, swaps) != 0))
		return -1;
	host_open(&machine->host, &(struct host_input){
		.os = &run->os, .devs = run->devs, .d = run->d, .table = run->table,
		.live = run->live,
		.own = run->live && run->procfd == AT_FDCWD && run->rootfd == AT_FDCWD,
		.root = strbuf_str(&machine->root), .system = machine->host.in.system,
		.paths = run_paths(run),
	});
	if (machine->root.failed
	    || host_read_utab(&machine->host, &machine->utab) != 0)
		return message_error(NULL, ENOMEM, -1);
	return 0;
}

bool machine_failed(struct fstab_machine *machine)
{
	if (machine->host.devices_error) {
		errno = machine->host.devices_error;
		message_no_devices(NULL, ", so duplicate UUIDs and labels are not found");
		machine->host.devices_error = 0;
	}
	return run_failed(&machine->run) || machine->host.nomem;
}

bool machine_dangles(struct host *host, const char *path)
{
	const char *root = host->in.root;
	struct strbuf part = {0}, name = {0};
	int error = errno;
	enum host_dangling what = host_dangles(host, path, &part);
	strbuf_printf(&name, "%s%s", strcmp(root, "/") == 0 ? "" : root, strbuf_str(&part));
	if (what != HOST_NOT_DANGLING)
		message(strbuf_str(&name), "%s", what == HOST_DANGLING_LINK
		        ? "dangling symlink: remove it, or create its target"
		        : "not a directory: remove it, or replace it by a directory");
	strbuf_destroy(&part);
	strbuf_destroy(&name);
	errno = error;
	return what != HOST_NOT_DANGLING;
}

void machine_init(struct fstab_machine *machine, const char *tab_file)
{
	struct input_opts *input = &machine->input;
	*machine = (struct fstab_machine){.input = INPUT_LIMITED};
	input->tab_file = tab_file;
	input->names = tab_file ? DN_KERNEL : DN_HINT;
	run_init(&machine->run, input);
	machine->run.progress = progress_begin();
	run_start(&machine->run);
}

void machine_destroy(struct fstab_machine *machine)
{
	host_close(&machine->host);
	host_swaps_destroy(&machine->swaps);
	host_utab_destroy(&machine->utab);
	strbuf_destroy(&machine->root);
	run_destroy(&machine->run);
}
