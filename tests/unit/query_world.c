/* SPDX-License-Identifier: MIT */
/* Objects for queries: see query_world.h. */
#include "query_world.h"

#include "cases.h"
#include "unit.h"

#include <dirent.h>

/* The world: now is 2001-09-09 01:46:40 UTC and half a second. */
enum { NOW = 1000000000 };

static int find_owner(void *arg, bool group, const char *name, uint32_t *id)
{
	(void)arg, (void)group;
	if (strcmp(name, "broken") == 0) {
		errno = EIO;
		return -1;
	}
	*id = 1000;
	return strcmp(name, "me") == 0;
}

static int find_file(void *arg, const char *path, bool follow, struct k_statx *st)
{
	(void)arg;
	if (strcmp(path, "missing") == 0) {
		errno = ENOENT;
		return -1;
	}
	*st = (struct k_statx){
		.mask = K_STATX_BASIC | (strcmp(path, "unborn") == 0 ? 0 : K_STATX_BTIME),
		.ino = follow ? 77 : 7, .dev_major = 8, .dev_minor = 1,
		.atime = {.sec = 100}, .btime = {.sec = 200}, .ctime = {.sec = 300},
		.mtime = {.sec = 400, .nsec = 5},
	};
	return 0;
}

static int check_action(void *arg, struct query_action *action, struct strbuf *why)
{
	(void)arg;
	if (action->kind == QA_PRINTF && strcmp(action->args[0], "%") == 0) {
		strbuf_puts(why, "the format ends in %");
		return -1;
	}
	return 0;
}

char query_warning[256];

static void warn(void *arg, const char *text)
{
	(void)arg;
	snprintf(query_warning, sizeof(query_warning), "%s", text);
}

const struct query_env query_world = {
	.now = {.tv_sec = NOW, .tv_nsec = 500000000},
	.owner_id = find_owner, .file = find_file, .action = check_action,
	.warn = warn,
};

/* An object and its facts, by words */

static const char *fact_path(void *arg)
{
	return ((struct query_thing *)arg)->path;
}

static const char *fact_fstype(void *arg)
{
	return ((struct query_thing *)arg)->fstype;
}

static int fact(struct query_thing *thing, int value)
{
	++thing->calls;
	errno = EACCES;
	return value;
}

static int fact_target(void *arg, struct strbuf *text)
{
	struct query_thing *thing = arg;
	strbuf_puts(text, thing->target ? thing->target : "");
	return fact(thing, thing->target ? 0 : -1);
}

static int fact_access(void *arg, int mode)
{
	struct query_thing *thing = arg;
	return fact(thing, thing->access < 0 ? -1 : (thing->access & mode) == mode);
}

static int fact_empty(void *arg)
{
	return fact(arg, ((struct query_thing *)arg)->empty);
}

static int fact_xtype(void *arg, uint8_t *type)
{
	struct query_thing *thing = arg;
	*type = (uint8_t)thing->xtype;
	return fact(thing, thing->xtype < 0 ? -1 : 0);
}

static int fact_owner(void *arg, bool group, uint32_t id)
{
	(void)group;
	(void)id;
	return fact(arg, ((struct query_thing *)arg)->owned);
}

bool query_thing_act(void *arg, const struct query_action *action,
                    const struct query_object *object)
{
	struct query_thing *thing = arg;
	CU_ASSERT_PTR_EQUAL(object, &thing->object);
	strbuf_printf(&thing->done, " %s", action->word);
	return !(thing->fails && action->kind >= QA_EXEC && action->kind <= QA_DELETE);
}

static int type_of(const char *letter)
{
	static const char letters[] = "fdlbcps?";
	static const uint8_t types[] = {
		DT_REG, DT_DIR, DT_LNK, DT_BLK, DT_CHR, DT_FIFO, DT_SOCK, DT_UNKNOWN,
	};
	return *letter == '!' ? -1 : types[strchr(letters, *letter) - letters];
}

static struct k_statx_time time_of(const char *text)
{
	char *end;
	struct k_statx_time time = {.sec = strtoll(text, &end, 10)};
	time.nsec = *end == '.' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
	return time;
}

static void set_fact(struct query_thing *thing, const char *word, const char *value)
{
	struct k_statx *st = &thing->st;
	const char *fields[] = {"size", "nlink", "uid", "gid", "ino"};
	if (strcmp(word, "name") == 0)
		thing->object.name = value;
	else if (strcmp(word, "path") == 0)
		thing->path = value;
	else if (strcmp(word, "type") == 0)
		thing->object.type = (uint8_t)type_of(value);
	else if (strcmp(word, "is") == 0)
		st->mode = (uint16_t)((st->mode & 07777) | DTTOIF(type_of(value)));
	else if (strcmp(word, "depth") == 0)
		thing->object.depth = (unsigned)atoi(value);
	else if (strcmp(word, "mode") == 0)
		st->mode = (uint16_t)((st->mode & S_IFMT) | strtoul(value, NULL, 8));
	else if (strcmp(word, "atime") == 0)
		st->atime = time_of(value);
	else if (strcmp(word, "btime") == 0)
		st->btime = time_of(value);
	else if (strcmp(word, "ctime") == 0)
		st->ctime = time_of(value);
	else if (strcmp(word, "mtime") == 0)
		st->mtime = time_of(value);
	else if (strcmp(word, "unborn") == 0)
		st->mask &= ~(unsigned)K_STATX_BTIME;
	else if (strcmp(word, "lost") == 0)
		thing->object.lost = true;
	else if (strcmp(word, "target") == 0)
		thing->target = value;
	else if (strcmp(word, "fstype") == 0)
		thing->fstype = value;
	else if (strcmp(word, "access") == 0)
		thing->access = atoi(value);
	else if (strcmp(word, "empty") == 0)
		thing->empty = atoi(value);
	else if (strcmp(word, "xtype") == 0)
		thing->xtype = type_of(value);
	else if (strcmp(word, "owned") == 0)
		thing->owned = atoi(value);
	else if (strcmp(word, "fails") == 0)
		thing->fails = true;
	else {
		size_t i = 0;
		while (i < COUNT(fields) && strcmp(word, fields[i]) != 0)
			++i;
		CU_ASSERT_TRUE_FATAL(i < COUNT(fields));
		uint64_t n = strtoull(value, NULL, 0);
		if (i == 0)
			st->size = n;
		else if (i == 4)
			st->ino = n;
		else
			*(i == 1 ? &st->nlink : i == 2 ? &st->uid : &st->gid) = (uint32_t)n;
	}
}

void query_thing_init(struct query_thing *thing, char *words)
{
	*thing = (struct query_thing){
		.object = {.name = "name", .type = DT_REG, .depth = 1},
		.st = {.mask = K_STATX_BASIC | K_STATX_BTIME, .nlink = 1, .mode = S_IFREG | 0644,
		       .ino = 7, .dev_major = 8, .dev_minor = 1},
		.facts = {.path = fact_path, .fstype = fact_fstype, .target = fact_target,
		          .access = fact_access, .empty = fact_empty, .xtype = fact_xtype,
		          .owner = fact_owner},
		.fstype = "ext4", .owned = 1, .access = 7,
	};
	char *value;
	for (char *word; (word = unit_case_word(&words, &value));)
		set_fact(thing, word, value);
	struct query_object *object = &thing->object;
	if (object->type != DT_UNKNOWN)
		thing->st.mode = (uint16_t)((thing->st.mode & 07777) | DTTOIF(object->type));
	object->len = strlen(object->name);
	object->st = object->lost ? NULL : &thing->st;
	thing->facts.arg = thing;
	object->facts = &thing->facts;
	thing->path = thing->path ? thing->path : object->name;
}

/* Evaluation */

void query_thing_describe(const struct query *query, struct query_thing *thing,
                          struct strbuf *out)
{
	strbuf_reset(&thing->done);
	thing->calls = 0;
	uint8_t type = thing->object.type;
	static const char letters[] = "nyo";
	struct query_outcome at[QUERY_ALL + 1];
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		/* What is not known yet is not used. */
		struct query_object object = thing->object;
		if (level == QUERY_NAMES)
			object.st = NULL;
		else if (!object.lost)
			object.type = IFTODT(thing->st.mode);
		query_test(query, &object, (enum query_level)level, &at[level]);
		CU_ASSERT_TRUE(level == QUERY_ALL || thing->calls == 0);
	}
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level)
		strbuf_putc(out, letters[at[level].acts]);
	strbuf_putc(out, ' ');
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level)
		strbuf_putc(out, letters[at[level].prune]);

	if (!thing->object.lost)
		thing->object.type = IFTODT(thing->st.mode);
	bool stop = false;
	int error = 0;
	bool pruned = query_run(query, &thing->object, query_thing_act, thing, &stop, &error);
	strbuf_puts(out, strbuf_str(&thing->done));
	if (pruned)
		strbuf_puts(out, " pruned");
	if (stop)
		strbuf_puts(out, " stop");
	if (error)
		strbuf_printf(out, " %s", strerrorname_np(error));
	/* What was final stays. */
	bool acts = thing->done.len > 0;
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		CU_ASSERT_TRUE(at[level].acts == QUERY_OPEN
		               || (at[level].acts == QUERY_YES) == acts);
		CU_ASSERT_TRUE(at[level].prune == QUERY_OPEN
		               || (at[level].prune == QUERY_YES) == pruned
		               || thing->object.type != DT_DIR);
	}
	thing->object.type = type;
}
