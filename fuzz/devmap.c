/* SPDX-License-Identifier: MIT */
/*
 * What is read of devices: a made-up /sys, /run, /dev and /proc.
 *
 * The input is files, a byte 0x1e before each: a letter, the path up to the
 * end of the line, the bytes.  The letters: f file, l link, d entries of a
 * directory as getdents64 gives them, b block device ("M:N", a line feed, what
 * it holds), e an error; and s: the path is the source of a mount, j: the path
 * is a file that can block.  Every number of a path "M:N" is asked about.
 *
 * Nothing else is looked at, and no name that a file gives leads out of these
 * trees; no device that can block is opened; what is answered, is so again,
 * and costs nothing then.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "devmap/devmap_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 60, MAX_NUMBERS = 16 };

struct world {
	struct fuzz_file files[MAX_FILES];
	char *paths[MAX_FILES];
	char *sources[MAX_FILES], *blocking[MAX_FILES];
	size_t nfiles, nsources, nblocking;
	uint32_t numbers[MAX_NUMBERS][2];
	size_t nnumbers;
};

static struct world *world;
static bool opened_device;

/** The number that begins a text, if a ':' parts it from another. */
static const char *read_number(const char *text, uint32_t *number)
{
	char *end;
	if (*text < '0' || *text > '9')
		return NULL;
	unsigned long long n = strtoull(text, &end, 10);
	*number = (uint32_t)n;
	return n <= UINT32_MAX ? end : NULL;
}

/** Note the device numbers that a path holds. */
static void note_numbers(const char *path)
{
	for (const char *at = path; *at && world->nnumbers < MAX_NUMBERS; ++at) {
		uint32_t major, minor;
		if (at > path && at[-1] >= '0' && at[-1] <= '9')
			continue;
		const char *colon = read_number(at, &major);
		if (colon && *colon == ':' && read_number(colon + 1, &minor)) {
			world->numbers[world->nnumbers][0] = major;
			world->numbers[world->nnumbers++][1] = minor;
		}
	}
}

static void take_files(struct fuzz_input *in)
{
	static const char letters[] = "fldbe";
	size_t n;
	fuzz_until(in, 0x1e, &n);
	while (in->at < in->end && world->nfiles < MAX_FILES) {
		const char *bytes = fuzz_until(in, 0x1e, &n);
		struct fuzz_input file = fuzz_input((const uint8_t *)bytes, n);
		char letter = (char)fuzz_byte(&file);
		const char *kind = letter ? strchr(letters, letter) : NULL;
		size_t len;
		const char *name = fuzz_until(&file, '\n', &len);
		if (letter == 's' && world->nsources < MAX_FILES) {
			world->sources[world->nsources++] = fuzz_string(name, len);
		} else if (letter == 'j' && world->nblocking < MAX_FILES) {
			world->blocking[world->nblocking++] = fuzz_string(name, len);
		} else if (kind) {
			char *path = fuzz_alloc(len + 2);
			path[0] = '/';
			memcpy(path + 1, name, len);
			path[len + 1] = '\0';
			note_numbers(path);
			world->paths[world->nfiles] = path;
			world->files[world->nfiles++] = (struct fuzz_file){
				path, (enum fuzz_kind)(kind - letters), file.at,
				       (size_t)(file.end - file.at),
			};
		}
	}
}

static void free_world(void)
{
	for (size_t i = 0; i < MAX_FILES; ++i) {
		free(world->paths[i]);
		free(world->sources[i]);
		free(world->blocking[i]);
	}
	free(world);
}

/** Hold a path that is looked at against where it may lead. */
static void on_look(const char *path, int flags)
{
	bool dev = strcmp(path, "/dev") == 0 || strncmp(path, "/dev/", 5) == 0;
	FUZZ_CHECK(dev || strcmp(path, "/sys") == 0 || strncmp(path, "/sys/", 5) == 0
	           || strncmp(path, "/run/", 5) == 0 || strcmp(path, "/proc/fs/jbd2") == 0);
	if (dev && !(flags & (O_PATH | O_NOFOLLOW)))
		opened_device = true;
	/* From a partition to its disk, by ourselves; never by a name that was read. */
	uint32_t number;
	const char *up = strstr(path, "/..");
	if (!up || (up[3] && up[3] != '/'))
		return;
	const char *at = strncmp(path, "/sys/dev/block/", 15) == 0 ? read_number(path + 15, &number)
	                 : NULL;
	at = at && *at == ':' ? read_number(at + 1, &number) : NULL;
	FUZZ_CHECK(at == up);
	up = strstr(up + 3, "/..");
	FUZZ_CHECK(!up || (up[3] && up[3] != '/'));
}

static bool on_judge(void *arg, const char *path, uint32_t major, uint32_t minor)
{
	(void)major, (void)minor;
	(void)arg;
	for (size_t i = 0; i < world->nblocking; ++i) {
		if (strcmp(world->blocking[i], path) == 0)
			return true;
	}
	return false;
}

static void check_tags(const struct devmap_tags *tags)
{
	FUZZ_CHECK(tags && tags->known >= DEVMAP_KNOWN && tags->known <= DEVMAP_AMBIVALENT);
	FUZZ_CHECK((tags->known == DEVMAP_UNSAFE) == (tags->reason != NULL));
	FUZZ_CHECK(!tags->name || (strncmp(tags->name, "/dev/", 5) == 0
	                           && devmap_is_subpath(tags->name + 5)));
	FUZZ_CHECK(tags->known != DEVMAP_KNOWN || tags->type);
	const char *const texts[] = {
		tags->type, tags->usage, tags->uuid, tags->label, tags->partuuid, tags->partlabel,
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); ++i)
		FUZZ_CHECK(!texts[i] || (*texts[i] && strlen(texts[i]) < DEVMAP_ATTR_MAX));
}

static void check_same(const struct devmap_tags *a, const struct devmap_tags *b)
{
	FUZZ_CHECK(a->known == b->known && a->multi_device == b->multi_device);
	FUZZ_SAME(b->name, a->name);
	FUZZ_SAME(b->type, a->type);
	FUZZ_SAME(b->usage, a->usage);
	FUZZ_SAME(b->uuid, a->uuid);
	FUZZ_SAME(b->label, a->label);
	FUZZ_SAME(b->partuuid, a->partuuid);
	FUZZ_SAME(b->partlabel, a->partlabel);
	FUZZ_SAME(b->reason, a->reason);
}

static void ask_device(struct devmap *map, struct devmap *other, uint32_t major, uint32_t minor)
{
	opened_device = false;
	const struct devmap_tags *tags = devmap_tags(map, major, minor);
	check_tags(tags);
	const struct mount m = {.dev_major = major, .dev_minor = minor};
	bool blocks = devmap_mount_blocks(map, &m);
	FUZZ_CHECK(!(opened_device && blocks));
	FUZZ_SAME(devmap_name(map, major, minor), tags->name);

	uint64_t calls = os_calls_total(map->os);
	FUZZ_CHECK(devmap_tags(map, major, minor) == tags);
	FUZZ_CHECK(devmap_mount_blocks(map, &m) == blocks);
	FUZZ_CHECK(os_calls_total(map->os) == calls);

	/* In another order the answers are the same. */
	FUZZ_CHECK(devmap_mount_blocks(other, &m) == blocks);
	check_same(tags, devmap_tags(other, major, minor));
}

static void ask_source(struct devmap *map, const char *source)
{
	uint32_t major = UINT32_MAX, minor = UINT32_MAX;
	struct mount m = {.dev_minor = 33, .fstype = "btrfs", .source = source};
	bool is_dev = strncmp(source, "/dev/", 5) == 0;
	bool blocks = devmap_mount_blocks(map, &m);
	bool behind = devmap_mount_device(map, &m, &major, &minor);
	FUZZ_CHECK(is_dev || (!blocks && !behind));
	FUZZ_CHECK(behind || (major == UINT32_MAX && minor == UINT32_MAX && blocks == is_dev));
	FUZZ_CHECK(!behind || major != 0);
	const struct devmap_tags *tags = devmap_mount_tags(map, &m);
	check_tags(tags);
	if (!behind)
		FUZZ_CHECK(tags->known == DEVMAP_ANONYMOUS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	world = fuzz_alloc(sizeof(*world));
	memset(world, 0, sizeof(*world));
	take_files(&in);
	struct fuzz_kernel kernel = {
		.caps = OSC_OPENAT2, .files = world->files, .nfiles = world->nfiles,
		        .look = on_look,
	};
	fuzz_kernel_set(&kernel);
	struct os os;
	fuzz_os(&os);
	static const struct devmap_roots roots = {"/sys", "/run", "/dev", "/proc"};
	struct devmap *map = devmap_new(&os, &roots);
	struct devmap *other = devmap_new(&os, &roots);
	FUZZ_CHECK(map && other);
	devmap_set_blocking_test(map, on_judge, NULL);
	devmap_set_blocking_test(other, on_judge, NULL);

	for (size_t i = 0; i < world->nsources; ++i)
		ask_source(map, world->sources[i]);
	for (size_t i = 0; i < world->nnumbers; ++i)
		ask_device(map, other, world->numbers[i][0], world->numbers[i][1]);
	struct devmap_device *devices = NULL;
	bool whole;
	ssize_t n = devmap_list(other, false, &devices, &whole);
	FUZZ_CHECK(n >= 0 || errno);
	for (ssize_t i = 0; i < n; ++i) {
		check_tags(devices[i].tags);
		FUZZ_CHECK(devices[i].major != 0
		           && strcmp(devices[i].tags->usage, "filesystem") == 0);
	}
	free(devices);
	/* Judged anew by another, all goes as before. */
	devmap_set_blocking_test(map, NULL, NULL);
	for (size_t i = 0; i < world->nnumbers; ++i)
		devmap_mount_blocks(map, &(struct mount){.dev_major = world->numbers[i][0],
		                                         .dev_minor = world->numbers[i][1]});
	devmap_free(map);
	devmap_free(other);
	fuzz_kernel_set(NULL);
	free_world();
	return 0;
}
