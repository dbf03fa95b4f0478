/* SPDX-License-Identifier: MIT */
/*
 * The public search: include/getmnt/search.h, implemented with search/.
 */
#include "search/search.h"

#include "lib/libgetmnt_mounts.h"
#include "os/caller.h"
#include "search/query_host.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/** Tell the caller why a search cannot be opened, if that is wanted.  @why  A sentence. */
static void say_why(const struct search_options *options, const char *why)
{
	if (options->why && options->why_size > 0)
		snprintf(options->why, options->why_size, "%s", why);
}

/** Parse the query of the options.  @return it, or NULL.  Errors: those of getmnt_search_open(). */
static struct query *parse_query(struct os *os, const struct search_options *options)
{
	struct query_env env = {0};
	struct query_error error = {0};
	query_env_host(&env, os);
	env.follow = env.follow_roots = options->flags & SEARCH_FOLLOW;
	env.quiet = true;
	struct query *query = query_parse_text(options->query, &env, &error);
	int saved = errno;
	if (!query)
		say_why(options, strbuf_str(&error.why));
	strbuf_destroy(&error.why);
	errno = saved;
	return query;
}

/** Implements search_open(), in a thread that cannot be canceled. */
static SEARCH *search_begin(const char *const roots[], size_t n, const char *pattern,
                            const struct search_options *options, struct query *query)
{
	struct os os;
	os_init(&os, secure_getenv("GETMNT_DISABLE"));
	if (options->query && !query && !(query = parse_query(&os, options)))
		return NULL;
	const struct query_info *info = query ? query_info(query) : NULL;
	struct search_mounts mounts = {
		.any = true, .unique = os.caps & OSC_STATX_UNIQUE, .read = libgetmnt_mounts_again,
	};
	/* Without openat2, a directory may turn out to be on another mount after it is opened. */
	bool bulk = options->engine == SEARCH_ENGINE_BULK && options->flags & SEARCH_METADATA
	            && !(os.disabled & OSC_INODES) && os.caps & OSC_OPENAT2;
	bool follow = options->flags & SEARCH_FOLLOW
	              || (info && (info->follow || info->xtype
	                           || info->levels & 1u << QUERY_ALL));
	bool places = info && (info->mount || info->fstype);
	const struct search_transport *transport = options->transport;
	bool delegate = transport && transport->delegate && transport->here;
	if ((!options->blocking || bulk || follow || places || delegate)
	    && libgetmnt_mounts(&os, &mounts, bulk, follow, places, delegate) != 0) {
		query_free(query);
		return NULL;
	}
	mounts.any = options->blocking;
	return search_new(&os, &mounts, roots, n, pattern, options, query);
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

/** Say why a pattern is invalid, if it is.  @what  Which pattern.  @return whether it is. */
static bool explain_pattern(const struct search_options *options, const char *what,
                            const char *pattern)
{
	struct pattern_error error = {0};
	struct strbuf text = {0};
	struct pattern *compiled = pattern_compile(pattern, strlen(pattern),
	                                           (unsigned)options->flags & PATTERN_FLAGS,
	                                           &error);
	pattern_free(compiled);
	if (compiled || !error.why)
		return false;
	strbuf_printf(&text, "the %s \"%s\", byte %zu: %s", what, pattern, error.at, error.why);
	say_why(options, strbuf_str(&text));
	strbuf_destroy(&text);
	return true;
}

/** Say why a search cannot be opened (EINVAL, E2BIG), unless parse_query() has.
    @known  The options are those of a version that is known. */
static void explain(const struct search_options *options, bool known, const char *pattern)
{
	const int orders = SEARCH_BYNAME | SEARCH_BYINODE;
	if (!known)
		say_why(options, "the size of the options is wrong, or they have a member that "
		        "this version of libgetmnt does not know");
	else if (!pattern)
		say_why(options, "there is no pattern");
	else if ((options->flags & orders) == orders)
		say_why(options, "results can be sorted by name or by inode number, not by both");
	else if (!explain_pattern(options, "pattern", pattern)
	         && !(options->exclude
	              && explain_pattern(options, "excluded pattern", options->exclude)))
		say_why(options, "a flag, the engine or a root is not valid, or the pattern and "
		        "what is excluded have too many parts together");
}

SEARCH *getmnt_search_open(const char *const roots[], size_t n, const char *pattern,
                           const struct search_options *options)
{
	struct search_options own = {0};
	const size_t with_why = offsetof(struct search_options, why_size) + sizeof(own.why_size);
	SEARCH *search = NULL;
	bool known = !options || options_take(&own, options) == 0;
	int error = errno;
	if (!known && options->size >= with_why && options->size <= OPTIONS_MOST)
		own = (struct search_options){
			.why = options->why, .why_size = options->why_size,
		};
	say_why(&own, "");
	if (known) {
		search = search_open(roots, n, pattern, &own, NULL);
		error = errno;
	}
	if (!search && (error == EINVAL || error == E2BIG) && own.why && own.why_size > 0
	    && !*own.why)
		explain(&own, known, pattern);
	errno = error;
	return search;
}
