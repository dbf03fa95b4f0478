/* SPDX-License-Identifier: MIT */
/*
 * Queries: find's expression language.  The input: a byte of flags (see below), a byte of facts,
 * a byte of the type and depth of an object, and an expression.
 *
 * A text is refused with a reason, or printed as a string that means the same: it is printed the
 * same, and says the same of an object.  What a level says of an object is still so when more is
 * known, and when the actions are performed.
 */
#include "lib/fuzz.h"

#include "select/query.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { FOLLOW = 1, NO_ACTIONS = 2, UNKNOWN_TYPE = 4, FAILS = 8 };

/** An object. */
struct thing {
	uint8_t flags, facts;
	struct strbuf done;
};

static int find_owner(void *arg, bool group, const char *name, uint32_t *id)
{
	(void)arg, (void)group;
	*id = (unsigned char)*name;
	errno = EIO;
	return *name % 3 - 1;
}

static int find_file(void *arg, const char *path, bool follow, struct k_statx *st)
{
	(void)arg;
	*st = (struct k_statx){.mask = *path == 'b' ? 0 : K_STATX_BTIME, .ino = follow};
	errno = ENOENT;
	return *path == 'm' ? -1 : 0;
}

static int check_action(void *arg, struct query_action *action, struct strbuf *why)
{
	(void)arg;
	strbuf_puts(why, "no");
	return action->nargs > 3 ? -1 : 0;
}

static const char *get_path(void *arg)
{
	(void)arg;
	return "./a.d/Name.c";
}

static const char *get_fstype(void *arg)
{
	return ((struct thing *)arg)->facts & 1 ? "ext4" : "";
}

static int get_target(void *arg, struct strbuf *text)
{
	strbuf_puts(text, "to");
	errno = EACCES;
	return ((struct thing *)arg)->facts & 2 ? -1 : 0;
}

static int get_access(void *arg, int mode)
{
	errno = EACCES;
	return ((struct thing *)arg)->facts & 4 ? -1 : mode == 4;
}

static int get_empty(void *arg)
{
	return ((struct thing *)arg)->facts & 8 ? 1 : 0;
}

static int get_xtype(void *arg, uint8_t *type)
{
	*type = DT_REG;
	errno = ELOOP;
	return ((struct thing *)arg)->facts & 16 ? -1 : 0;
}

static int get_owner(void *arg, bool group, uint32_t id)
{
	return ((struct thing *)arg)->facts & 32 ? group : id != 0;
}

static bool act(void *arg, const struct query_action *action, const struct query_object *object)
{
	struct thing *thing = arg;
	FUZZ_CHECK(object->st);
	strbuf_printf(&thing->done, "%u ", action->index);
	return !(thing->flags & FAILS);
}

/** What a query says of an object. */
static void evaluate(const struct query *query, struct thing *thing, uint8_t shape,
                     struct strbuf *out)
{
	static const uint8_t types[] = {DT_REG, DT_DIR, DT_LNK, DT_SOCK};
	struct query_facts facts = {
		.arg = thing, .path = get_path, .fstype = get_fstype, .target = get_target,
		.access = get_access, .empty = get_empty, .xtype = get_xtype, .owner = get_owner,
	};
	uint8_t type = types[shape & 3];
	struct k_statx st = {
		.mode = (uint16_t)(DTTOIF(type) | (shape & 0x80 ? 04755 : 0644)), .size = shape,
		.mtime = {.sec = shape % 8 * 1000}, .uid = shape >> 4, .nlink = 1,
	};
	struct query_object object = {
		.name = "Name.c", .len = 6, .depth = shape >> 2 & 3, .facts = &facts,
		.type = thing->flags & UNKNOWN_TYPE ? DT_UNKNOWN : type,
	};
	struct query_outcome at[QUERY_ALL + 1];
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		object.st = level == QUERY_NAMES ? NULL : &st;
		object.type = level == QUERY_NAMES ? object.type : type;
		query_test(query, &object, (enum query_level)level, &at[level]);
		strbuf_printf(out, "%d%d%llu ", at[level].acts, at[level].prune,
		              (unsigned long long)at[level].actions);
	}
	bool stop;
	int error;
	strbuf_reset(&thing->done);
	bool pruned = query_run(query, &object, act, thing, &stop, &error);
	strbuf_printf(out, "%d%d %s", pruned, stop, strbuf_str(&thing->done));
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		FUZZ_CHECK(at[level].acts == QUERY_OPEN
		           || (at[level].acts == QUERY_YES) == (thing->done.len > 0));
		FUZZ_CHECK(at[level].prune == QUERY_OPEN || type != DT_DIR
		           || (at[level].prune == QUERY_YES) == pruned);
	}
	/* -empty of a directory may change with -depth, and so may what an action returns. */
	FUZZ_CHECK(at[QUERY_ALL].acts != QUERY_OPEN || query_info(query)->depth);
	strbuf_destroy(&thing->done);
}

/** Whether regex(3) needs no time or memory out of proportion for a text. */
static bool is_cheap(const char *text)
{
	const char *regex = strstr(text, "regex");
	if (!regex)
		return true;
	if (strlen(regex) > 60 || strchr(regex, '{'))
		return false;
	for (; (regex = strchr(regex, '\\')); ++regex) {
		if (regex[1] >= '0' && regex[1] <= '9')
			return false;
	}
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	struct thing thing = {.flags = fuzz_byte(&in), .facts = fuzz_byte(&in)};
	uint8_t shape = fuzz_byte(&in);
	char *text = fuzz_string(in.at, (size_t)(in.end - in.at));
	struct query_env env = {
		.now = {.tv_sec = 1000000000}, .follow = thing.flags & FOLLOW,
		.owner_id = find_owner, .file = find_file,
		.action = thing.flags & NO_ACTIONS ? NULL : check_action,
	};
	struct query_error error = {0};
	struct query *query = is_cheap(text) ? query_parse_text(text, &env, &error) : NULL;
	if (query) {
		struct strbuf once = {0}, twice = {0}, says = {0}, again = {0};
		query_print(query, &once);
		struct query *other = query_parse_text(strbuf_str(&once), &env, &error);
		if (!other)
			FUZZ_SAME(strbuf_str(&error.why), strbuf_str(&once));
		query_print(other, &twice);
		FUZZ_SAME(strbuf_str(&twice), strbuf_str(&once));
		evaluate(query, &thing, shape, &says);
		evaluate(other, &thing, shape, &again);
		FUZZ_SAME(strbuf_str(&again), strbuf_str(&says));
		query_free(other);
		strbuf_destroy(&once);
		strbuf_destroy(&twice);
		strbuf_destroy(&says);
		strbuf_destroy(&again);
	} else if (is_cheap(text)) {
		FUZZ_CHECK(errno == EINVAL || errno == E2BIG);
		FUZZ_CHECK(error.why.len > 0 && error.at <= strlen(text) / 2);
	}
	query_free(query);
	strbuf_destroy(&error.why);
	free(text);

	struct timespec date;
	text = fuzz_string(in.at, (size_t)(in.end - in.at));
	if (query_date(text, &env.now, &date))
		FUZZ_CHECK(date.tv_nsec >= 0 && date.tv_nsec < 1000000000);
	if (query_duration(text, &date) == 0)
		FUZZ_CHECK(date.tv_sec >= 0 && date.tv_nsec >= 0 && date.tv_nsec < 1000000000);
	free(text);
	return 0;
}
