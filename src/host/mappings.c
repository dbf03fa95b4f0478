/* SPDX-License-Identifier: MIT */
/*
 * The mappings that a system opens at boot.
 *
 * Source: crypttab(5), veritytab(5), integritytab(5); mkinitcpio(8), whose hook sd-encrypt copies
 * crypttab.initramfs into the initial RAM disk as its crypttab.
 */
#include "host/host.h"

#include "base/words.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>

enum { TEXT_MAX = 1 << 20 };

static const char blanks[] = " \t\r";

unsigned host_crypt_fields(const char *line, size_t n, struct host_field fields[HOST_CRYPT_FIELDS],
                           bool *more)
{
	const char *at = line, *end = line + n;
	*more = false;
	for (unsigned i = 0; i < HOST_CRYPT_FIELDS; ++i) {
		at += strspn(at, blanks);
		if (at >= end || (i == 0 && *at == '#'))
			return i;
		fields[i] = (struct host_field){at, strcspn(at, " \t\r\n")};
		at += fields[i].n;
	}
	at += strspn(at, blanks);
	*more = at < end && *at != '#';
	return HOST_CRYPT_FIELDS;
}

/** Read a table of ROOT.  @place [out]  Its resolved path. */
static enum host_read read_table(struct host *host, const char *name, char **text,
                                 struct strbuf *place)
{
	size_t len;
	enum path_followed known = host_follow(host, name, place);
	const char *path = strbuf_text(place);
	int error = path ? errno : ENOMEM;
	enum host_read read = HOST_READ;
	if (path && known == PATH_SEEN && !mounts_path_block(host->in.paths, path))
		error = os_read_regular(host->in.os, AT_FDCWD, path, TEXT_MAX, text, &len) == 0
		                ? 0 : errno;
	else if (path && known != PATH_MISSING)
		read = HOST_READ_BLIND;
	if (read == HOST_READ && error) {
		read = error == ENOENT || error == ENOTDIR ? HOST_READ_NONE
		       : error == EACCES || error == EPERM ? HOST_READ_DENIED : HOST_READ_FAILED;
	} else if (read == HOST_READ && strlen(*text) != len) {
		free(*text);
		*text = NULL;
		read = HOST_READ_NUL;
	}
	host->nomem |= place->failed;
	errno = error;
	return read;
}

enum host_read host_crypttab(struct host *host, char **text, struct strbuf *name)
{
	static const char crypttab[] = "/etc/crypttab";
	const char *root = host->in.root;
	struct strbuf place = {0};
	enum host_read read = read_table(host, crypttab, text, &place);
	int error = errno;
	if (read == HOST_READ)
		strbuf_puts(name, strbuf_str(&place));
	else
		strbuf_printf(name, "%s%s", strcmp(root, "/") == 0 ? "" : root, crypttab);
	strbuf_destroy(&place);
	errno = error;
	return read;
}

/** Whether a list of options has noauto. */
static bool has_noauto(const char *at, size_t n)
{
	for (size_t k; n > 0; at += k, n -= k) {
		k = strcspn(at, ", \t\r\n");
		k = k < n ? k : n;
		if (word_is(at, k, "noauto"))
			return true;
		k += k < n;
	}
	return false;
}

/** Add the mappings of a table. */
static void add_mappings(struct host *host, const char *name, const char *text)
{
	struct host_mappings *list = &host->mappings;
	struct host_field fields[HOST_CRYPT_FIELDS];
	unsigned number = 0;
	bool more;
	for (size_t n; *text && !list->arena.failed; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		++number;
		if (host_crypt_fields(text, n, fields, &more) < 2)
			continue;
		const struct host_field *device = &fields[1];
		const char *rest = device->at + device->n;
		bool quoted = memchr(device->at, '"', device->n);
		struct strbuf plain = {.arena = &list->arena};
		for (size_t i = 0; i < device->n; ++i) {
			if (!quoted || device->at[i] != '"')
				strbuf_putc(&plain, device->at[i]);
		}
		struct host_mapping mapping = {
			.name = arena_strndup(&list->arena, fields[0].at, fields[0].n),
			.device = strbuf_str(&plain),
			.where = arena_printf(&list->arena, "line %u of %s", number, name),
			.noauto = has_noauto(rest, (size_t)(text + n - rest)),
		};
		uint32_t at = (uint32_t)list->count;
		ARENA_PUSH(&list->arena, list->list, list->count, mapping);
		if (!list->arena.failed)
			map64_put(&list->by_name, map64_text(mapping.name), at);
	}
}

const struct host_mappings *host_mappings(struct host *host)
{
	static const char *const tables[] = {"/etc/crypttab", "/etc/crypttab.initramfs",
	                                     "/etc/veritytab", "/etc/integritytab"};
	struct host_mappings *list = &host->mappings;
	list->by_name.arena = &list->arena;
	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables) && !list->read; ++i) {
		char *text = NULL;
		struct strbuf place = {0};
		enum host_read read = read_table(host, tables[i], &text, &place);
		if (read == HOST_READ)
			add_mappings(host, tables[i], text);
		list->unknown |= read != HOST_READ && read != HOST_READ_NONE;
		strbuf_destroy(&place);
		free(text);
	}
	list->read = true;
	host->nomem |= list->arena.failed;
	return list;
}

/** Whether a mapping can be opened and is not open: its device exists now. */
static bool is_closed(struct host *host, const struct host_mapping *mapping)
{
	struct strbuf name = {0};
	strbuf_printf(&name, "/dev/mapper/%s", mapping->name);
	bool closed = !name.failed && host_devices(host, strbuf_str(&name), NULL) == 0;
	strbuf_destroy(&name);
	bool file = *mapping->device == '/' && strncmp(mapping->device, "/dev/", 5) != 0;
	return closed && (file ? host_look(host, mapping->device, NULL) > FACT_MISSING
	                       : host_devices(host, mapping->device, NULL) > 0);
}

/** Set `closed`, once for all sources that may be in a mapping. */
static void find_closed(struct host *host)
{
	struct host_mappings *all = &host->mappings;
	for (size_t i = 0; i < all->count && !all->searched && !all->closed; ++i) {
		const struct host_mapping *mapping = &all->list[i];
		if (!mapping->noauto && is_closed(host, mapping))
			all->closed = mapping->where;
	}
	all->searched = true;
}

const char *host_opens(void *arg, const char *name)
{
	struct host *host = arg;
	const struct host_mappings *all = host_mappings(host);
	uint32_t i = name ? map64_get(&all->by_name, map64_text(name)) : MAP64_NONE;
	if (!name)
		find_closed(host);
	const char *where = !name ? all->closed
	                    : i != MAP64_NONE && strcmp(all->list[i].name, name) == 0
	                    ? all->list[i].where : NULL;
	return where ? where : all->unknown ? "" : NULL;
}
