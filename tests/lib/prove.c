/* SPDX-License-Identifier: MIT */
/*
 * prove MOUNTINFO DEVICES FSTAB...   what src/fstab/proof.c says of each fstab
 *
 * For tests/system/proof.py.  DEVICES has a line for each device: its number, name,
 * type, UUID and label ("-" for none), and the file of a loop.  What lies where is
 * looked at live.  For each fstab a line "FILE same mounts swaps systemd", and for
 * each item "verdict line target why", fields between tabs, targets escaped.
 */
#include "base/escape.h"
#include "fstab/proof.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct device {
	unsigned major, minor;
	struct devmap_tags tags;
	char name[PATH_MAX], type[64], uuid[128], label[128], file[PATH_MAX];
};

static struct device devices[64];
static size_t ndevices;

static void fill(const struct device *from, struct fstab_device *to)
{
	to->tags = &from->tags;
	to->loop.file = *from->file ? from->file : NULL;
}

static int find_device(void *arg, const struct mount *mount, struct fstab_device *to)
{
	(void)arg;
	for (size_t i = 0; i < ndevices; ++i) {
		if ((devices[i].major == mount->dev_major && devices[i].minor == mount->dev_minor)
		    || (mount->dev_major == 0 && mount->source && strcmp(devices[i].name, mount->source) == 0))
			fill(&devices[i], to);
	}
	return 0;
}

static int name_device(void *arg, const char *source, struct fstab_device *to)
{
	(void)arg;
	for (size_t i = 0; i < ndevices; ++i) {
		const struct devmap_tags *tags = &devices[i].tags;
		bool is = strcmp(source, tags->name) == 0
		          || (tags->uuid && strncmp(source, "UUID=", 5) == 0 && strcmp(source + 5, tags->uuid) == 0)
		          || (tags->label && strncmp(source, "LABEL=", 6) == 0 && strcmp(source + 6, tags->label) == 0);
		if (!is)
			continue;
		if (to)
			fill(&devices[i], to);
		return 1;
	}
	return 0;
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	char there[PATH_MAX];
	struct stat st;
	if (!realpath(path, there))
		return FACT_MISSING;
	if (real)
		strbuf_puts(real, there);
	if (stat(there, &st) != 0)
		return FACT_UNKNOWN;
	return S_ISDIR(st.st_mode) ? FACT_DIR : S_ISREG(st.st_mode) ? FACT_FILE : S_ISBLK(st.st_mode) ? FACT_BLOCK : FACT_OTHER;
}

static char *read_all(const char *path, size_t *len)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t size = 0;
	ssize_t n = file ? getdelim(&text, &size, EOF, file) : -1;
	if (!file || (n < 0 && !feof(file))) {
		perror(path);
		exit(1);
	}
	fclose(file);
	*len = n < 0 ? 0 : (size_t)n;
	return text;
}

static void read_devices(const char *path)
{
	FILE *file = fopen(path, "r");
	char *line = NULL;
	size_t size = 0;
	while (file && getline(&line, &size, file) > 0 && ndevices < sizeof(devices) / sizeof(*devices)) {
		struct device *d = &devices[ndevices];
		if (sscanf(line, "%u:%u %4095s %63s %127s %127s %4095[^\n]", &d->major, &d->minor, d->name, d->type, d->uuid,
		           d->label, d->file) < 6)
			continue;
		d->tags = (struct devmap_tags){.name = d->name, .type = d->type, .uuid = strcmp(d->uuid, "-") ? d->uuid : NULL,
		                               .label = strcmp(d->label, "-") ? d->label : NULL};
		++ndevices;
	}
	free(line);
	if (file)
		fclose(file);
}

int main(int argc, char **argv)
{
	struct os os = {.statx_works = true};
	size_t len;
	if (argc < 4)
		return 1;
	char *text = read_all(argv[1], &len);
	struct mount_table *mounts = table_parse_mountinfo(text, len);
	read_devices(argv[2]);
	struct discover_opts opts;
	discover_defaults(&opts);
	opts.names = DN_KERNEL;
	struct fstab_input live = {
		.d = mounts ? discover(&os, NULL, mounts, &opts) : NULL, .root = "/", .options = FSTAB_MINIMAL,
		.world = {.device = find_device},
	};
	struct fstab_plan plan;
	if (!live.d || fstab_plan(&live, &plan) != 0)
		return 1;
	for (int i = 3; i < argc; ++i) {
		struct mount_table *entries = table_read_file(&os, argv[i], TABLE_FSTAB);
		struct proof proof;
		if (!entries || proof_make(&(struct proof_input){entries, &live, &plan, {NULL, name_device, look, NULL, NULL}}, &proof) != 0) {
			perror(argv[i]);
			return 1;
		}
		printf("%s\t%zu\t%zu\t%zu\t%zu\n", argv[i], proof.same, proof.mounts, proof.held, proof.systemd);
		for (size_t k = 0; k < proof.count; ++k) {
			const struct proof_item *item = &proof.items[k];
			struct strbuf out;
			strbuf_init(&out);
			escape_octal(&out, item->target, ESCAPE_PATH);
			strbuf_puts(&out, "\t");
			escape_octal(&out, item->why ? item->why : "", "\t\n");
			printf("%s\t%u\t%s\n", item->want ? proof_verdict_name(item->verdict) : "besides", item->line, strbuf_str(&out));
			strbuf_destroy(&out);
		}
		proof_destroy(&proof);
		table_free(entries);
	}
	fstab_plan_destroy(&plan);
	discovery_free((struct discovery *)(uintptr_t)live.d);
	table_free(mounts);
	free(text);
	return 0;
}
