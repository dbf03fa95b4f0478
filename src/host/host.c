/* SPDX-License-Identifier: MIT */
#include "host/host.h"

#include "base/words.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { NUMBER_MAX = 256, TEXT_MAX = 1 << 20, MTAB_MAX = 64 << 20 };

void host_open(struct host *host, const struct host_input *in)
{
	*host = (struct host){.in = *in};
}

void host_close(struct host *host)
{
	host_system_free(host->in.system);
	map64_destroy(&host->tags);
	intern_destroy(&host->looked);
	free(host->looks);
	free(host->devices);
	free(host->counts);
	free(host->filesystems);
	free(host->modules);
	host_units_destroy(&host->units);
	arena_destroy(&host->mappings.arena);
}

const struct host_units *host_units(struct host *host)
{
	if (!host->units_read && host->in.live && strcmp(host->in.root, "/") == 0)
		host->nomem |= host_units_read(host->in.os, host->in.paths, &host->units) != 0;
	host->units_read = true;
	return &host->units;
}

bool host_has_first_pids(struct os *os)
{
	/* The name of the initial PID namespace since Linux 3.8. */
	static const char first[] = "pid:[4026531836]";
	char name[sizeof(first) + 1];
	return os_readlinkat(os, AT_FDCWD, "/proc/self/ns/pid", name,
	                     sizeof(name)) == sizeof(first) - 1 && strcmp(name, first) == 0;
}

bool host_kernel_name(struct os *os, uint32_t major, uint32_t minor, char name[NAME_MAX + 1])
{
	char path[64], link[PATH_MAX];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", major, minor);
	const char *slash = os_readlinkat(os, AT_FDCWD, path, link, sizeof(link)) > 0
		? strrchr(link, '/') : NULL;
	return slash && snprintf(name, NAME_MAX + 1, "%s", slash + 1) <= NAME_MAX;
}

char *host_read_kernel(struct os *os, const char *path)
{
	char *text;
	size_t len;
	return os_read_file(os, AT_FDCWD, path, TEXT_MAX, &text, &len) == 0 ? text : NULL;
}

long host_read_number(struct os *os, const char *path)
{
	char *text, *end;
	size_t len;
	if (os_read_file(os, AT_FDCWD, path, NUMBER_MAX, &text, &len) != 0)
		return -1;
	long number = strtol(text, &end, 10);
	if (end == text || number < 0)
		number = -1;
	free(text);
	return number;
}

char *host_cmdline(struct host *host)
{
	struct os *os = host->in.os;
	/* In a container, or below another root, the command line belongs to another system. */
	bool is_own = host->in.live && strcmp(host->in.root, "/") == 0
	              && host_has_first_pids(os) && host_is_managers_root(os);
	return is_own ? host_read_kernel(os, "/proc/cmdline") : NULL;
}

enum host_mtab_kind host_mtab(struct host *host, char **text, size_t *len)
{
	static const char mtab[] = "/etc/mtab";
	struct os *os = host->in.os;
	enum host_mtab_kind kind = HOST_MTAB_UNKNOWN;
	struct strbuf place = {0};
	char link[PATH_MAX];
	if (!host->in.live || strcmp(host->in.root, "/") != 0)
		return HOST_MTAB_UNKNOWN;
	ssize_t n = mounts_path_block(host->in.paths, "/etc") ? -1
		: os_readlinkat(os, AT_FDCWD, mtab, link, sizeof(link));
	/* The usual links; whether /proc is mounted does not matter. */
	if (n > 0 && (word_ends(link, "proc/self/mounts") || word_ends(link, "proc/mounts")))
		return HOST_MTAB_KERNEL;
	enum path_followed known = host_follow(host, mtab, &place);
	const char *path = strbuf_text(&place);
	bool is_proc = path && strncmp(path, "/proc/", 6) == 0;
	if (!path)
		host->nomem = true;
	else if (known == PATH_MISSING && errno == ENOENT)
		kind = n > 0 ? HOST_MTAB_NOWHERE : HOST_MTAB_NONE;
	else if (known == PATH_SEEN && is_proc && word_ends(path, "/mounts"))
		kind = HOST_MTAB_KERNEL;
	else if (known == PATH_SEEN && !is_proc && !mounts_path_block(host->in.paths, path)
	         && os_read_regular(os, AT_FDCWD, path, MTAB_MAX, text, len) == 0)
		kind = HOST_MTAB_FILE;
	strbuf_destroy(&place);
	return kind;
}
