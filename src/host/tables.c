/* SPDX-License-Identifier: MIT */
/* Swap spaces, and the records of mount(8). */
#include "host/host.h"

#include "base/arena.h"
#include "base/escape.h"
#include "base/words.h"
#include "path/named.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT_MAX = 4 << 20 };

/* Swap spaces. */

int host_swaps_parse(const char *text, struct host_swaps *swaps)
{
	static const char deleted[] = "\\040(deleted)", heading[] = "Filename";
	size_t number = 1;
	*swaps = (struct host_swaps){0};
	swaps->damaged = strncmp(text, heading, sizeof(heading) - 1) == 0 ? 0 : 1;
	for (const char *line = strchr(text, '\n'); line && *++line; line = strchr(line, '\n')) {
		char type[12];
		int from = 0, to = 0, priority, end = 0;
		char *copy = arena_strndup(&swaps->arena, line, strcspn(line, "\n"));
		if (!copy)
			break;
		++number;
		/* The fields are: name, type, size, used, priority. */
		if (sscanf(copy, " %n%*s%n %11s %*[0-9] %*[0-9] %d%n", &from, &to, type, &priority,
		           &end) != 2
		    || (copy[end] && !strchr(" \t", copy[end]))
		    || (strcmp(type, "partition") != 0 && strcmp(type, "file") != 0)) {
			if (!swaps->damaged && copy[strspn(copy, " \t")])
				swaps->damaged = number;
			continue;
		}
		char *name = copy + from;
		size_t n = (size_t)(to - from), tail = sizeof(deleted) - 1;
		struct fstab_swap swap = {
			.name = name, .file = *type == 'f', .priority = priority,
			.deleted = n > tail && memcmp(name + n - tail, deleted, tail) == 0,
		};
		name[unescape_octal(name, name, swap.deleted ? n - tail : n)] = '\0';
		swap.deleted |= *name != '/';   /* also if the name is "(unreachable)/x" */
		ARENA_PUSH(&swaps->arena, swaps->list, swaps->count, swap);
	}
	return arena_check(&swaps->arena);
}

enum host_swaps_problem host_read_swaps(struct os *os, const char *file, struct host_swaps *swaps)
{
	static const char kernels[] = "/proc/swaps";
	char *text;
	size_t len;
	*swaps = (struct host_swaps){0};
	if ((file ? path_read_named(os, file, NULL, TEXT_MAX, &text, &len)
	          : os_read_file(os, AT_FDCWD, kernels, TEXT_MAX, &text, &len)) != 0) {
		/* Missing in a kernel without swap; in a container it may be a file of lxcfs. */
		if (!file && errno == ENOENT)
			return HOST_SWAPS_GOOD;
		return !file && errno == EREMOTE ? HOST_SWAPS_BLIND : HOST_SWAPS_UNREADABLE;
	}
	host_swaps_parse(text, swaps);
	/* A NUL ends the text. */
	if (!swaps->damaged && strlen(text) < len)
		swaps->damaged = swaps->count + 2;
	free(text);
	if (arena_check(&swaps->arena) != 0)
		return HOST_SWAPS_UNREADABLE;
	/* Limit the work, since each swap space is compared with each line. */
	if (swaps->count > HOST_SWAPS_MAX)
		return HOST_SWAPS_TOO_MANY;
	/* The file may be empty in a kernel without swap. */
	return swaps->damaged && (file || len) ? HOST_SWAPS_DAMAGED : HOST_SWAPS_GOOD;
}

void host_swaps_destroy(struct host_swaps *swaps)
{
	arena_destroy(&swaps->arena);
}

/* The records of mount(8). */

bool fstab_utab_next(char **text, struct fstab_kept *kept)
{
	while (**text) {
		char *line = *text, *end = line + strcspn(line, "\n");
		*text = end + (*end == '\n');
		*end = '\0';
		*kept = (struct fstab_kept){0};
		for (char *at = line; *at;) {
			at += strspn(at, " ");
			char *word = at;
			at += strcspn(at, " ");
			if (*at)
				*at++ = '\0';
			char *value = strchr(word, '=');
			if (!value)
				continue;
			*value++ = '\0';
			value[unescape_octal(value, value, strlen(value))] = '\0';
			if (strcmp(word, "TARGET") == 0)
				kept->target = value;
			else if (strcmp(word, "OPTS") == 0)
				kept->options = value;
			else if (strcmp(word, "SRC") == 0)
				kept->source = value;
			else if (strcmp(word, "ROOT") == 0)
				kept->root = value;
			else if (strcmp(word, "ID") == 0)
				kept->id = strtoul(value, NULL, 10);
		}
		if (kept->target && kept->options)
			return true;
	}
	return false;
}

bool fstab_utab_fits(const struct fstab_kept *kept, const struct mount *mount)
{
	const char *source = mount->source ? mount->source : "";
	if (kept->id && kept->id != mount->id)
		return false;
	if (kept->root && strcmp(kept->root, mount_root(mount)) != 0)
		return false;
	/* The kernel's own name for the root device differs from the name that mount(8) uses. */
	return !kept->source || strcmp(source, "/dev/root") == 0
	       || word_same_path(kept->source, source);
}

int host_parse_utab(char *text, struct host_utab *utab)
{
	struct fstab_kept entry;
	*utab = (struct host_utab){.text = text, .by_target.newest.arena = &utab->arena};
	for (char *at = text; fstab_utab_next(&at, &entry);) {
		pathmap_add(&utab->by_target, entry.target, (uint32_t)utab->count);
		ARENA_PUSH(&utab->arena, utab->entries, utab->count, entry);
	}
	return arena_check(&utab->arena);
}

int host_read_utab(struct host *host, struct host_utab *utab)
{
	char *text;
	size_t len;
	*utab = (struct host_utab){0};
	if (!host->in.live || mounts_file_block(host->in.paths, "/run/mount"))
		return 0;
	if (os_read_file(host->in.os, AT_FDCWD, "/run/mount/utab", TEXT_MAX, &text, &len) != 0)
		return errno == ENOMEM ? -1 : 0;
	return host_parse_utab(text, utab);
}

void host_utab_destroy(struct host_utab *utab)
{
	free(utab->text);
	arena_destroy(&utab->arena);
}

const char *host_utab_options(const struct host_utab *utab, const char *name,
                              const struct mount *mount)
{
	for (struct pathmap_at at = pathmap_of(name); pathmap_next(&utab->by_target, &at);) {
		const struct fstab_kept *kept = &utab->entries[at.value];
		if (fstab_utab_fits(kept, mount))
			return kept->options;
	}
	return NULL;
}
