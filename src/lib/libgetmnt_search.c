/* SPDX-License-Identifier: MIT */
/*
 * The public search: include/getmnt/search.h, implemented with search/.
 */
#include "search/search.h"

#include "lib/libgetmnt_mounts.h"
#include "os/caller.h"
#include "search/query_host.h"

#include <stdlib.h>

enum {
	/* The first version ended here; new members are only added at the end. */
	OPTIONS_LEAST = offsetof(struct search_options, reserved)
	                + sizeof((struct search_options){0}.reserved),
	OPTIONS_MOST = 4096,
};
_Static_assert(OPTIONS_LEAST % _Alignof(struct search_options) == 0,
               "padding at the end could become a member");

/** Copy options, which may have the layout of another version.
    @return 0, or -1.  Errors: EINVAL; E2BIG: an unknown member is set. */
static int options_take(struct search_options *own, const struct search_options *options)
{
	const unsigned char *bytes = (const unsigned char *)options;
	bool more = options->size > OPTIONS_MOST;
	if (options->size < OPTIONS_LEAST)
		return fail(EINVAL);
	for (size_t i = 0; i < sizeof(options->reserved); ++i)
		more = more || options->reserved[i] != 0;
	for (size_t i = sizeof(*own); i < options->size && !more; ++i)
		more = bytes[i] != 0;
	if (more)
		return fail(E2BIG);
	memcpy(own, options, options->size < sizeof(*own) ? options->size : sizeof(*own));
	return 0;
}

/** Parse the query of the options.  @return it, or NULL.  Errors: those of searchv(). */
static struct query *parse_query(struct os *os, const struct search_options *options)
{
	struct query_env env = {0};
	struct query_error error = {0};
	query_env_host(&env, os);
	env.follow = env.follow_roots = options->flags & SEARCH_FOLLOW;
	env.quiet = true;
	struct query *query = query_parse_text(options->query, &env, &error);
	strbuf_destroy(&error.why);
	return query;
}

/** Implements searchv(), in a thread that cannot be canceled. */
static SEARCH *search_begin(const char *const roots[], size_t n, const char *pattern,
                            const struct search_options *options, struct query *query)
{
	struct search_options own = {0};
	struct os os;
	if (options && options_take(&own, options) != 0)
		goto fail;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	if (own.query && !query && !(query = parse_query(&os, &own)))
		return NULL;
	const struct query_info *info = query ? query_info(query) : NULL;
	struct search_mounts mounts = {
		.any = true, .unique = os.caps & OSC_STATX_UNIQUE, .read = libgetmnt_mounts_again,
	};
	/* Without openat2, a directory may turn out to be on another mount after it is opened. */
	bool bulk = own.engine == SEARCH_ENGINE_BULK && own.flags & SEARCH_METADATA
	            && !(os.disabled & OSC_INODES) && os.caps & OSC_OPENAT2;
	bool follow = own.flags & SEARCH_FOLLOW
	              || (info && (info->follow || info->xtype
	                           || info->levels & 1u << QUERY_ALL));
	bool places = info && (info->mount || info->fstype);
	bool delegate = own.transport && own.transport->delegate && own.transport->here;
	if ((!own.blocking || bulk || follow || places || delegate)
	    && libgetmnt_mounts(&os, &mounts, bulk, follow, places, delegate) != 0)
		goto fail;
	mounts.any = own.blocking;
	return search_new(&os, &mounts, roots, n, pattern, &own, query);
fail:
	query_free(query);
	return NULL;
}

SEARCH *search_open(const char *const roots[], size_t n, const char *pattern,
                    const struct search_options *options, struct query *query)
{
	bool given = pattern && (roots || n == 0);
	for (size_t i = 0; given && i < n; ++i)
		given = roots[i] != NULL;
	if (!given) {
		query_free(query);
		return fail_null(EINVAL);
	}
	int state = os_cancel_defer();
	SEARCH *search = search_begin(roots, n, pattern, options, query);
	os_cancel_restore(state);
	return search;
}

SEARCH *searchv(const char *const roots[], size_t n, const char *pattern,
                const struct search_options *options)
{
	return search_open(roots, n, pattern, options, NULL);
}

SEARCH *opensearch(const char *paths, const char *pattern, int flags)
{
	if (!paths)
		return fail_null(EINVAL);
	size_t len = strlen(paths), n = 0;
	const char **roots = malloc((len + 2) * sizeof(*roots));
	char *text = malloc(len + 1);
	SEARCH *search = NULL;
	if (!roots || !text)
		goto out;
	char *to = text;
	roots[n++] = to;
	for (const char *from = paths; *from; ++from) {
		if (*from == '\\' && (from[1] == ':' || from[1] == '\\')) {
			*to++ = *++from;
		} else if (*from == ':') {
			*to++ = '\0';
			roots[n++] = to;
		} else {
			*to++ = *from;
		}
	}
	*to = '\0';
	search = searchv(roots, n, pattern, &(struct search_options){
		.size = sizeof(struct search_options), .flags = flags,
	});
out:
	free(roots);
	free(text);
	return search;
}

/* search(): the entries of a search in a buffer of the caller. */

enum { ALIGN = 8, ATTRIBUTES = sizeof(struct k_statx) };

_Static_assert(sizeof(struct search_head) % ALIGN == 0, "entries begin at a multiple of 8");
_Static_assert(sizeof(struct search_item) % ALIGN == 0, "a struct statx is at a multiple of 8");
_Static_assert(ATTRIBUTES % ALIGN == 0, "the header says 256 bytes");

/** Build the item of an object or error, without its path and attributes. */
static struct search_item raw_item(const SEARCH *search, const struct searchent *e)
{
	struct search_item item = {
		.path_len = (uint32_t)strlen(e->path),
		.err = e->err,
		.errsource = (uint16_t)e->errsource,
		.type = e->err ? 0 : search_type(search),
	};
	uint32_t at = sizeof(item);
	if (e->info) {
		item.statx = at;
		at += ATTRIBUTES;
	}
	item.path = at;
	at += item.path_len + 1;
	item.size = (at + ALIGN - 1) / ALIGN * ALIGN;
	return item;
}

/** Write the rest of a search to a buffer.  @return, errors  As search(); nothing is read if the
    buffer is invalid. */
static ssize_t search_raw(SEARCH *search, void *buffer, size_t len)
{
	if (!buffer || (uintptr_t)buffer % ALIGN != 0)
		return fail(EFAULT);
	struct search_head head = {
		.magic = SEARCH_MAGIC, .version = SEARCH_VERSION, .size = sizeof(head),
		.used = sizeof(head),
	};
	if (len < sizeof(head))
		return fail(ERANGE);
	struct searchent *e;
	while ((e = readsearch(search))) {
		struct search_item item = raw_item(search, e);
		/* After an entry that does not fit, no further entry is written. */
		if (head.left > 0 || item.size > len - head.used) {
			++head.left;
			head.left_bytes += item.size;
			continue;
		}
		char *at = (char *)buffer + head.used;
		memset(at + item.size - ALIGN, 0, ALIGN);
		memcpy(at, &item, sizeof(item));
		if (item.statx)
			memcpy(at + item.statx, statxsearch(search), ATTRIBUTES);
		memcpy(at + item.path, e->path, item.path_len + 1);
		head.used += item.size;
		++head.entries;
	}
	if (errno != 0)
		return -1;
	memcpy(buffer, &head, sizeof(head));
	return (ssize_t)head.entries;
}

/** Cleanup handler of search() for a canceled thread: close the search. */
static void search_abandon(void *search)
{
	closesearch(search);
}

/* Weak, so that a program may define its own search() and use the rest of the library. */
__attribute__((weak))
ssize_t search(const char *paths, const char *pattern, int flags, void *buffer, size_t len)
{
	SEARCH *whole = opensearch(paths, pattern, flags);
	if (!whole)
		return -1;
	ssize_t n;
	int error;
	pthread_cleanup_push(search_abandon, whole);
	n = search_raw(whole, buffer, len);
	error = errno;
	pthread_cleanup_pop(1);
	errno = error;
	return n;
}
