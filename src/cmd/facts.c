/* SPDX-License-Identifier: MIT */
#include "cmd/facts.h"

#include "cmd/cmd.h"
#include "cmd/input.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TYPES_MAX = 8 << 20 /* bytes of modules.alias */, LINKS_MAX = 40 };

void facts_init(struct facts *facts, struct run *run, const char *root, struct host_system *system)
{
	*facts = (struct facts){.run = run, .root = root, .system = system};
	map64_init(&facts->tags);
}

void facts_destroy(struct facts *facts)
{
	map64_destroy(&facts->tags);
	free(facts->devices);
	free(facts->counts);
	free(facts->filesystems);
	free(facts->modules);
	host_units_destroy(&facts->units);
}

const struct host_units *facts_units(struct facts *facts)
{
	struct run *run = facts->run;
	if (!facts->units_read && run->live && strcmp(facts->root, "/") == 0)
		run->nomem |= host_units_read(&run->os, path_blocks, run, &facts->units) != 0;
	facts->units_read = true;
	return &facts->units;
}

/* Devices. */

static uint64_t tag_hash(const char *tag, const char *value)
{
	return map64_bytes(map64_bytes(MAP64_BYTES, tag, strlen(tag) + 1), value, strlen(value));
}

static void count_tag(struct facts *facts, uint32_t device, const char *tag, const char *value)
{
	if (!value || !*value)
		return;
	uint32_t at = map64_put(&facts->tags, tag_hash(tag, value), (uint32_t)facts->ncounts);
	if (at != MAP64_NONE && at != facts->ncounts) {
		++facts->counts[at].count;
		return;
	}
	if (at != MAP64_NONE && facts->ncounts == facts->counts_size) {
		size_t size = facts->counts_size ? 2 * facts->counts_size : 64;
		struct facts_tag *more = realloc(facts->counts, size * sizeof(*more));
		if (more) {
			facts->counts = more;
			facts->counts_size = size;
		}
	}
	if (at == MAP64_NONE || facts->ncounts == facts->counts_size) {
		facts->run->nomem = true;
		facts->unlisted = true;
		return;
	}
	facts->counts[facts->ncounts++] = (struct facts_tag){.count = 1, .device = device};
}

enum { TAG_UUID, TAG_LABEL, TAG_PARTUUID, TAG_PARTLABEL, TAGS };
static const char *const tag_names[TAGS] = {"UUID", "LABEL", "PARTUUID", "PARTLABEL"};

/** What a device has of a tag; NULL. */
static const char *tag_value(const struct devmap_tags *tags, int tag)
{
	/* What is not known to be there may be the remains of something. */
	bool known = tags->known == DEVMAP_KNOWN;
	switch (tag) {
	case TAG_UUID:
		return known ? tags->uuid : NULL;
	case TAG_LABEL:
		return known ? tags->label : NULL;
	case TAG_PARTUUID:
		return tags->partuuid;
	default:
		return tags->partlabel;
	}
}

/** Count which identifiers there are, of all devices. */
static void count_tags(struct facts *facts)
{
	facts->listed = true;
	ssize_t n = facts->run->devs ? devmap_list_all(facts->run->devs, &facts->devices, &facts->whole) : -1;
	if (n < 0) {
		if (facts->run->devs)
			message_no_devices(NULL, ", so duplicate UUIDs and labels are not found");
		facts->unlisted = true;
		return;
	}
	facts->ndevices = (size_t)n;
	for (size_t i = 0; i < facts->ndevices; ++i) {
		for (int tag = 0; tag < TAGS; ++tag)
			count_tag(facts, (uint32_t)i, tag_names[tag], tag_value(facts->devices[i].tags, tag));
	}
}

/** Whether two devices that show one UUID are of one file system: not if one is a copy of the other. */
static bool are_one(const struct devmap_tags *a, const struct devmap_tags *b)
{
	if (!a->type || !b->type || strcmp(a->type, b->type) != 0 || !a->uuid || !b->uuid || strcmp(a->uuid, b->uuid) != 0)
		return false;
	if (a->multi_device && b->multi_device)
		return true;
	if (a->uuid_sub && b->uuid_sub)
		return (strcmp(a->type, "btrfs") == 0 || strcmp(a->type, "bcachefs") == 0) && strcmp(a->uuid_sub, b->uuid_sub) != 0;
	return strcmp(a->type, "bcachefs") == 0;
}

/** Of several devices with a tag, take out those that are parts of others, and count those of one
    file system once.  If all are parts, it is the tag of what they are parts of. */
static void sort_out(struct facts *facts, int tag, const char *value, struct facts_tag *found)
{
	uint32_t *alone = malloc(found->count * sizeof(*alone));
	unsigned n = 0, count = 0;
	if (!alone) {
		facts->run->nomem = true;
		return;
	}
	for (uint32_t i = found->device; i < facts->ndevices && n < found->count; ++i) {
		const struct devmap_device *device = &facts->devices[i];
		const char *has = tag_value(device->tags, tag);
		if (!has || strcmp(has, value) != 0 || devmap_part(facts->run->devs, device->major, device->minor))
			continue;
		bool again = n > 0 && tag <= TAG_LABEL;
		bool other = false, copy = false;
		for (unsigned k = 0; k < n && again; ++k) {
			const struct devmap_tags *before = facts->devices[alone[k]].tags;
			bool same = are_one(before, device->tags);
			other |= same;
			copy |= !same && before->uuid && device->tags->uuid && strcmp(before->uuid, device->tags->uuid) == 0;
		}
		count += !other || copy;
		alone[n++] = i;
	}
	if (n > 0)
		found->device = alone[0];
	found->count = count > 0 ? count : 1;
	found->sorted = true;
	free(alone);
}

/** The devices of a tag, or NULL. */
static const struct facts_tag *find_tag(struct facts *facts, const char *tag, const char *value)
{
	if (!facts->listed)
		count_tags(facts);
	uint32_t at = facts->unlisted ? MAP64_NONE : map64_get(&facts->tags, tag_hash(tag, value));
	if (at == MAP64_NONE)
		return NULL;
	struct facts_tag *found = &facts->counts[at];
	for (int i = 0; i < TAGS && found->count > 1 && !found->sorted; ++i) {
		if (strcmp(tag, tag_names[i]) == 0)
			sort_out(facts, i, value, found);
	}
	return found;
}

unsigned facts_holders(struct facts *facts, const char *tag, const char *value)
{
	const struct facts_tag *found = find_tag(facts, tag, value);
	return found ? found->count : 0;
}

/** A path that is followed within ROOT. */
struct walk {
	struct run *run;
	struct strbuf *out;       /* where it has led, without links */
	size_t root;              /* so much of that is ROOT */
	char *rest;
	unsigned links;
};

/** Go on with what a link says.  @return 0, or -1. */
static int walk_link(struct walk *walk, const char *target)
{
	char *rest = NULL;
	if (++walk->links > LINKS_MAX) {
		errno = ELOOP;
		return -1;
	}
	if (asprintf(&rest, "%s/%s", target, walk->rest) < 0) {
		walk->run->nomem = true;
		return -1;
	}
	free(walk->rest);
	walk->rest = rest;
	if (*target == '/') {
		walk->out->len = walk->root;
		walk->out->data[walk->root] = '\0';
	}
	return 0;
}

/** Whether a mount point, whose directory may be touched, is one of what can block. */
static bool point_blocks(struct run *run, const char *path)
{
	uint32_t node = path_mount(run, path);
	const char *name = node == MT_NONE ? NULL : run_name(run, node);
	return name && strcmp(name, path) == 0 && path_blocks(run, path);
}

/** Go one name on. */
static enum path_known walk_step(struct walk *walk, const char *name)
{
	struct strbuf *out = walk->out;
	char target[PATH_MAX];
	struct k_statx st;
	size_t before = out->len;
	if (strcmp(name, "..") == 0) {
		const char *slash = before > walk->root ? memrchr(out->data, '/', before) : NULL;
		if (slash) {
			out->len = (size_t)(slash - out->data);
			out->data[out->len] = '\0';
		}
		return PATH_SEEN;
	}
	strbuf_printf(out, "/%s", name);
	if (out->failed || point_blocks(walk->run, strbuf_str(out)))
		return PATH_BLIND;
	if (path_look(walk->run, strbuf_str(out), K_STATX_TYPE, &st) != 0)
		return PATH_MISSING;
	if (!S_ISLNK(st.mode))
		return PATH_SEEN;
	ssize_t n = os_readlinkat(&walk->run->os, AT_FDCWD, strbuf_str(out), target, sizeof(target));
	out->len = before;
	out->data[before] = '\0';
	return n >= 0 && walk_link(walk, target) == 0 ? PATH_SEEN : PATH_MISSING;
}

/** Follow a path as it is followed when ROOT is "/". */
static enum path_known follow_below(struct facts *facts, const char *path, struct strbuf *out)
{
	struct walk walk = {.run = facts->run, .out = out, .root = strlen(facts->root), .rest = strdup(path)};
	enum path_known known = walk.rest && !path_blocks(facts->run, facts->root) ? PATH_SEEN : PATH_BLIND;
	strbuf_reset(out);
	strbuf_puts(out, facts->root);
	while (known == PATH_SEEN && *walk.rest) {
		char name[NAME_MAX + 1];
		char *at = walk.rest + strspn(walk.rest, "/");
		size_t n = strcspn(at, "/");
		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			known = PATH_MISSING;
			break;
		}
		memcpy(name, at, n);
		name[n] = '\0';
		memmove(walk.rest, at + n, strlen(at + n) + 1);
		if (n > 0 && strcmp(name, ".") != 0)
			known = walk_step(&walk, name);
	}
	facts->run->nomem |= !walk.rest || out->failed;
	int error = errno;
	free(walk.rest);
	errno = error;
	return known;
}

enum path_known facts_follow(struct facts *facts, const char *path, struct strbuf *out)
{
	bool below = strcmp(facts->root, "/") != 0 && strncmp(path, "/dev/", 5) != 0;
	return below && facts->run->live ? follow_below(facts, path, out) : path_follow(facts->run, path, out);
}

const char *facts_astray(struct facts *facts, const char *path, struct strbuf *part)
{
	static const char nowhere[] = "it leads nowhere: take it away, or put in place what it leads to";
	static const char file[] = "it is no directory: take it away, or make it one";
	struct strbuf place, above;
	struct k_statx st;
	const char *why = NULL;
	bool on = true;
	strbuf_init(&place);
	strbuf_init(&above);
	if (strcmp(facts->root, "/") != 0)
		strbuf_puts(&above, facts->root);
	for (size_t n = 0, end; on && path[n] == '/'; n = end) {
		end = n + 1 + strcspn(path + n + 1, "/");
		strbuf_reset(part);
		strbuf_add(part, path, end);
		enum path_known known = part->failed ? PATH_BLIND : facts_follow(facts, strbuf_str(part), &place);
		on = known == PATH_SEEN;
		if (known == PATH_MISSING) {
			/* The link itself, in the place that was found of what is above it. */
			strbuf_add(&above, path + n, end - n);
			why = path_look(facts->run, strbuf_str(&above), K_STATX_TYPE, &st) == 0 ? nowhere : NULL;
		} else if (on && path[end] && path_look(facts->run, strbuf_str(&place), K_STATX_TYPE, &st) == 0 && !S_ISDIR(st.mode)) {
			why = file;
			on = false;
		}
		strbuf_reset(&above);
		strbuf_puts(&above, strbuf_str(&place));
	}
	strbuf_destroy(&place);
	strbuf_destroy(&above);
	return why;
}

bool facts_device(struct facts *facts, const char *path, uint32_t *major, uint32_t *minor)
{
	struct k_statx st;
	struct strbuf place;
	strbuf_init(&place);
	enum path_known known = facts_follow(facts, path, &place);
	int error = known == PATH_MISSING ? errno : 0;
	bool is = known == PATH_SEEN && path_look(facts->run, strbuf_str(&place), K_STATX_TYPE, &st) == 0
	          && S_ISBLK(st.mode);
	if (is) {
		*major = st.rdev_major;
		*minor = st.rdev_minor;
	}
	strbuf_destroy(&place);
	errno = error;
	return is;
}

/** Fill in what is known of a device. */
static void fill_device(struct facts *facts, uint32_t major, uint32_t minor, struct fstab_device *device)
{
	struct devmap *devs = facts->run->devs;
	device->tags = devmap_tags(devs, major, minor, NULL);
	device->numbered = true;
	device->major = major;
	device->minor = minor;
	device->remote = devmap_remote(devs, major, minor) || (device->tags && device->tags->remote);
	device->crypt = devmap_crypt(devs, major, minor);
	devmap_loop(devs, major, minor, &device->loop);
}

int facts_devices(void *arg, const char *source, struct fstab_device *device)
{
	struct facts *facts = arg;
	if (*source == '/') {
		uint32_t major, minor;
		if (!facts_device(facts, source, &major, &minor))
			return errno == ENOENT || errno == ENOTDIR ? 0 : -1;
		if (device)
			fill_device(facts, major, minor, device);
		return 1;
	}
	const char *equals = strchr(source, '=');
	char tag[16];
	if (!equals || (size_t)(equals - source) >= sizeof(tag))
		return -1;
	memcpy(tag, source, (size_t)(equals - source));
	tag[equals - source] = '\0';
	const struct facts_tag *found = find_tag(facts, tag, equals + 1);
	bool is_known = false;
	for (int i = 0; i < TAGS; ++i)
		is_known |= strcmp(tag, tag_names[i]) == 0;
	if (!found)
		return is_known && facts->whole && !facts->unlisted ? 0 : -1;
	if (device)
		fill_device(facts, facts->devices[found->device].major, facts->devices[found->device].minor, device);
	return (int)found->count;
}

/* Places. */

static enum fact_kind facts_look(void *arg, const char *path, struct strbuf *real)
{
	struct facts *facts = arg;
	struct k_statx st;
	struct strbuf place;
	strbuf_init(&place);
	enum fact_kind kind = FACT_UNKNOWN;
	enum path_known known = facts_follow(facts, path, &place);
	size_t n = strcmp(facts->root, "/") == 0 || strncmp(path, "/dev/", 5) == 0 ? 0 : strlen(facts->root);
	const char *found = strbuf_str(&place);
	/* A link may lead out of ROOT from here: it would not from there. */
	bool inside = strncmp(found, facts->root, n) == 0 && (n == 0 || !found[n] || found[n] == '/');
	if (known == PATH_MISSING)
		kind = (errno == ENOENT || errno == ENOTDIR) && inside ? FACT_MISSING : FACT_UNKNOWN;
	else if (known == PATH_SEEN && inside && path_look(facts->run, found, K_STATX_TYPE, &st) == 0)
		kind = S_ISDIR(st.mode) ? FACT_DIR : S_ISREG(st.mode) ? FACT_FILE : S_ISBLK(st.mode) ? FACT_BLOCK : FACT_OTHER;
	/* Of a system that does not run, or was recorded without it: systemctl mask links to it. */
	if (kind <= FACT_MISSING && known == PATH_MISSING && inside && strcmp(found + n, "/dev/null") == 0)
		kind = FACT_OTHER;
	if (real && kind > FACT_MISSING)
		strbuf_puts(real, found[n] ? found + n : "/");
	facts->run->nomem |= place.failed;
	strbuf_destroy(&place);
	return kind;
}

static int facts_open_to_all(void *arg, const char *path)
{
	struct facts *facts = arg;
	struct k_statx st;
	struct strbuf place;
	strbuf_init(&place);
	int open = facts_follow(facts, path, &place) == PATH_SEEN && !place.failed ? 1 : -1;
	/* From its end, since each is cut off for the next; ROOT is another system's "/". */
	for (size_t root = strcmp(facts->root, "/") == 0 ? 0 : strlen(facts->root); open > 0 && place.len > root;) {
		if (path_look(facts->run, strbuf_str(&place), K_STATX_TYPE | K_STATX_MODE, &st) != 0)
			open = -1;
		else
			open = (st.mode & (S_ISDIR(st.mode) ? S_IXOTH : S_IROTH)) != 0;
		while (place.data[--place.len] != '/')
			;
		place.data[place.len] = '\0';
	}
	facts->run->nomem |= place.failed;
	strbuf_destroy(&place);
	return open;
}

static int facts_helper(void *arg, const char *name)
{
	const struct facts *facts = arg;
	return facts->system ? host_system_helper(facts->system, name) : -1;
}

static bool facts_lacks_unit(void *arg, const char *name)
{
	const struct facts *facts = arg;
	return facts->system && host_system_lacks_unit(facts->system, name);
}

/** Whether a text has a line of which a word is this one, as /proc/filesystems, or
    "alias fs-WORD ..." of modules.alias. */
static bool has_type(const char *text, const char *before, const char *type)
{
	size_t n = strlen(type), head = strlen(before);
	for (const char *at = text; (at = strstr(at, before)) != NULL; at += head) {
		if (strncmp(at + head, type, n) == 0 && (at[head + n] == '\n' || at[head + n] == ' '))
			return true;
	}
	return false;
}

static int facts_fstype(void *arg, const char *fstype)
{
	struct facts *facts = arg;
	struct run *run = facts->run;
	size_t len;
	/* The kernel of another root is another one. */
	if (strcmp(facts->root, "/") != 0 || strpbrk(fstype, " \n"))
		return -1;
	if (!facts->types_read) {
		facts->types_read = true;
		struct strbuf path;
		strbuf_init(&path);
		char *release = os_release(&run->os);
		if (os_read_file(&run->os, AT_FDCWD, "/proc/filesystems", TYPES_MAX, &facts->filesystems, &len) != 0)
			facts->filesystems = NULL;
		if (release)
			strbuf_printf(&path, "/lib/modules/%s/modules.alias", release);
		if (path.len == 0 || path_blocks(run, strbuf_str(&path))
		    || os_read_file(&run->os, AT_FDCWD, strbuf_str(&path), TYPES_MAX, &facts->modules, &len) != 0)
			facts->modules = NULL;
		strbuf_destroy(&path);
		free(release);
	}
	if (facts->filesystems && has_type(facts->filesystems, "\t", fstype))
		return 1;
	if (facts->modules && has_type(facts->modules, "alias fs-", fstype))
		return 1;
	return facts->filesystems && facts->modules ? 0 : -1;
}

struct fstab_facts facts_functions(struct facts *facts)
{
	if (!facts->run->live)
		return (struct fstab_facts){0};
	return (struct fstab_facts){
		.arg = facts, .devices = facts_devices, .look = facts_look, .open_to_all = facts_open_to_all, .helper = facts_helper,
		.fstype = facts_fstype, .lacks_unit = facts_lacks_unit,
	};
}
