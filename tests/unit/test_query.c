/* SPDX-License-Identifier: MIT */
/* Queries: the rows of tests/fixtures/search/query, and properties of any expression. */
#include "cases.h"
#include "fault.h"
#include "unit.h"

#include "base/words.h"
#include "search/query.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <time.h>

#define ROWS "tests/fixtures/search/query"

/* The world: now is 2001-09-09 01:46:40 UTC and half a second. */
enum { NOW = 1000000000 };

static int find_owner(void *arg, const char *name, uint32_t *id)
{
	(void)arg;
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

static char warning[256];

static void warn(void *arg, const char *text)
{
	(void)arg;
	snprintf(warning, sizeof(warning), "%s", text);
}

static const struct query_env env = {
	.now = {.tv_sec = NOW, .tv_nsec = 500000000},
	.user = find_owner, .group = find_owner, .file = find_file, .action = check_action,
	.warn = warn,
};

/* An object and its facts, by words */

struct facts {
	struct query_object object;
	struct k_statx st;
	struct query_facts facts;
	const char *path, *target, *fstype;
	int access, empty, xtype, owned;   /* -1: fails with EACCES */
	bool fails;                  /* its actions that can fail do */
	unsigned calls;              /* of facts that call the kernel */
	struct strbuf done;          /* the actions performed */
};

static const char *fact_path(void *arg)
{
	return ((struct facts *)arg)->path;
}

static const char *fact_fstype(void *arg)
{
	return ((struct facts *)arg)->fstype;
}

static int fact(struct facts *facts, int value)
{
	++facts->calls;
	errno = EACCES;
	return value;
}

static int fact_target(void *arg, struct strbuf *text)
{
	struct facts *facts = arg;
	strbuf_puts(text, facts->target ? facts->target : "");
	return fact(facts, facts->target ? 0 : -1);
}

static int fact_access(void *arg, int mode)
{
	struct facts *facts = arg;
	return fact(facts, facts->access < 0 ? -1 : (facts->access & mode) == mode);
}

static int fact_empty(void *arg)
{
	return fact(arg, ((struct facts *)arg)->empty);
}

static int fact_xtype(void *arg, uint8_t *type)
{
	struct facts *facts = arg;
	*type = (uint8_t)facts->xtype;
	return fact(facts, facts->xtype < 0 ? -1 : 0);
}

static int fact_owner(void *arg, bool group, uint32_t id)
{
	(void)group;
	(void)id;
	return fact(arg, ((struct facts *)arg)->owned);
}

static bool perform(void *arg, const struct query_action *action,
                    const struct query_object *object)
{
	struct facts *facts = arg;
	CU_ASSERT_PTR_EQUAL(object, &facts->object);
	strbuf_printf(&facts->done, " %s", action->word);
	return !(facts->fails && action->kind >= QA_EXEC && action->kind <= QA_DELETE);
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

static void set_fact(struct facts *facts, const char *word, const char *value)
{
	struct k_statx *st = &facts->st;
	const char *fields[] = {"size", "nlink", "uid", "gid", "ino"};
	if (strcmp(word, "name") == 0)
		facts->object.name = value;
	else if (strcmp(word, "path") == 0)
		facts->path = value;
	else if (strcmp(word, "type") == 0)
		facts->object.type = (uint8_t)type_of(value);
	else if (strcmp(word, "is") == 0)
		st->mode = (uint16_t)((st->mode & 07777) | DTTOIF(type_of(value)));
	else if (strcmp(word, "depth") == 0)
		facts->object.depth = (unsigned)atoi(value);
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
	else if (strcmp(word, "target") == 0)
		facts->target = value;
	else if (strcmp(word, "fstype") == 0)
		facts->fstype = value;
	else if (strcmp(word, "access") == 0)
		facts->access = atoi(value);
	else if (strcmp(word, "empty") == 0)
		facts->empty = atoi(value);
	else if (strcmp(word, "xtype") == 0)
		facts->xtype = type_of(value);
	else if (strcmp(word, "owned") == 0)
		facts->owned = atoi(value);
	else if (strcmp(word, "fails") == 0)
		facts->fails = true;
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

static void facts_init(struct facts *facts, char *words)
{
	*facts = (struct facts){
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
		set_fact(facts, word, value);
	struct query_object *object = &facts->object;
	if (object->type != DT_UNKNOWN)
		facts->st.mode = (uint16_t)((facts->st.mode & 07777) | DTTOIF(object->type));
	object->len = strlen(object->name);
	object->st = &facts->st;
	facts->facts.arg = facts;
	object->facts = &facts->facts;
	facts->path = facts->path ? facts->path : object->name;
}

/* Rows */

/** Append what an expression says of an object: whether actions are reached at each level, whether
    it is pruned, the actions; and what is done. */
static void describe(const struct query *query, struct facts *facts, struct strbuf *out)
{
	static const char letters[] = "nyo";
	struct query_outcome at[QUERY_ALL + 1];
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		/* What is not known yet is not used. */
		struct query_object object = facts->object;
		if (level == QUERY_NAMES)
			object.st = NULL;
		else
			object.type = IFTODT(facts->st.mode);
		query_test(query, &object, (enum query_level)level, &at[level]);
		CU_ASSERT_TRUE(level == QUERY_ALL || facts->calls == 0);
	}
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level)
		strbuf_putc(out, letters[at[level].acts]);
	strbuf_putc(out, ' ');
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level)
		strbuf_putc(out, letters[at[level].prune]);

	facts->object.type = IFTODT(facts->st.mode);
	bool stop = false;
	int error = 0;
	bool pruned = query_run(query, &facts->object, perform, facts, &stop, &error);
	strbuf_puts(out, strbuf_str(&facts->done));
	if (pruned)
		strbuf_puts(out, " pruned");
	if (stop)
		strbuf_puts(out, " stop");
	if (error)
		strbuf_printf(out, " %s", strerrorname_np(error));
	/* What was final stays. */
	bool acts = facts->done.len > 0;
	for (int level = QUERY_NAMES; level <= QUERY_ALL; ++level) {
		CU_ASSERT_TRUE(at[level].acts == QUERY_OPEN
		               || (at[level].acts == QUERY_YES) == acts);
		CU_ASSERT_TRUE(at[level].prune == QUERY_OPEN
		               || (at[level].prune == QUERY_YES) == pruned
		               || facts->object.type != DT_DIR);
	}
}

static void check_row(const char *row, const char *outcome)
{
	char *text = strdup(row), *words = strstr(text, " // ");
	STRBUF(got);
	struct query_error error = {0};
	if (words) {
		*words = '\0';
		words += 4;
	}
	warning[0] = '\0';
	struct query_env world = env;
	world.follow = strncmp(text, "-L ", 3) == 0;
	struct query *query = query_parse_text(text + (world.follow ? 3 : 0), &world, &error);
	if (!query) {
		strbuf_printf(&got, "! %zu %s", error.at, strbuf_str(&error.why));
	} else if (words) {
		struct facts facts;
		facts_init(&facts, words);
		describe(query, &facts, &got);
		strbuf_destroy(&facts.done);
	} else {
		query_print(query, &got);
		if (*warning)
			strbuf_printf(&got, " ? %s", warning);
	}
	unit_expect(strbuf_str(&got), outcome);
	strbuf_destroy(&error.why);
	query_free(query);
	free(text);
}

UNIT_TEST(rows)
{
	setenv("TZ", "UTC", 1);
	tzset();
	CU_ASSERT_TRUE(unit_each_row(ROWS, check_row) > 0);
}

/* Limits */

/** Parse n copies of some words between others. */
static struct query *parse_many(size_t n, const char *first, const char *again, const char *last)
{
	STRBUF(text);
	strbuf_puts(&text, first);
	for (size_t i = 0; i < n; ++i)
		strbuf_puts(&text, again);
	strbuf_puts(&text, last);
	return query_parse_text(strbuf_str(&text), &env, NULL);
}

UNIT_TEST(long_chains)
{
	/* No recursion for each term, and each is evaluated. */
	static const struct {
		const char *first, *again, *last;
		enum query_value acts;
	} rows[] = {
		{"-name a", " -o -name b", " -o -name name", QUERY_YES},
		{"-name a", " -o -name b", "", QUERY_NO},
		{"-name n*", " -name n*", " -name *e", QUERY_YES},
		{"-name n*", " -a -name n*", " ! -name *e", QUERY_NO},
		{"-name a", " , -name b", " , -name name", QUERY_YES},
		{"-name n*", " -prune -name n*", "", QUERY_YES},
		{"", "! ", "-name name", QUERY_YES},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct query *query = parse_many(100000, rows[i].first, rows[i].again,
		                                 rows[i].last);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		char none[] = "";
		struct facts facts;
		facts_init(&facts, none);
		struct query_outcome outcome;
		query_test(query, &facts.object, QUERY_NAMES, &outcome);
		CU_ASSERT_EQUAL(outcome.acts, rows[i].acts);
		STRBUF(text);
		query_print(query, &text);
		struct query *again = query_parse_text(strbuf_str(&text), &env, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(again);
		STRBUF(printed);
		query_print(again, &printed);
		CU_ASSERT_STRING_EQUAL(strbuf_str(&printed), strbuf_str(&text));
		query_free(again);
		query_free(query);
	}
}

UNIT_TEST(deep_nesting)
{
	STRBUF(close);
	for (size_t i = 0; i < 1000; ++i)
		strbuf_puts(&close, " )");
	struct query *query = parse_many(1000, "", "! ( ", "-name name");
	CU_ASSERT_PTR_NULL(query);
	CU_ASSERT_EQUAL(errno, EINVAL);
	STRBUF(text);
	strbuf_puts(&text, "-name name");
	strbuf_puts(&text, strbuf_str(&close));
	query = parse_many(1000, "", "! ( -true , ", strbuf_str(&text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(query);
	query_free(query);
	strbuf_puts(&text, " )");
	const char *const again[] = {"! ( ", "( ", "-exclude ( ", "-exclude ! ( -true , "};
	for (size_t i = 0; i < COUNT(again); ++i) {
		CU_ASSERT_PTR_NULL(parse_many(i == 0 ? 1001 : 1000000, "", again[i],
		                              strbuf_str(&text)));
		CU_ASSERT_EQUAL(errno, i < 2 ? E2BIG : EINVAL);
	}
	query_free(NULL);
}

static int parse_all_kinds(void *arg)
{
	(void)arg;
	static const char text[] =
		"-maxdepth 3 -exclude ( -name a -o -hidden ) ( -name '*.c' -o -iname '*X' ) "
		"-path '*[a]*' -size +1 -mtime 3 -newer f -samefile f -perm -u+X -user me "
		"-fstype ext4 -type f,d , -prune -o -exec ls {} ; -printf %p -used 3 -lname x";
	struct query *query = query_parse_text(text, &env, NULL);
	if (!query)
		return -1;
	STRBUF(out);
	query_print(query, &out);
	query_free(query);
	errno = ENOMEM;
	return out.failed ? -1 : 0;
}

UNIT_TEST(without_memory)
{
	FAULT_OR_SKIP();
	fault_each_allocation(parse_all_kinds, NULL, 10);
}

UNIT_TEST(info)
{
	static const struct {
		const char *text;
		unsigned mask, levels;
		const char *flags;   /* a(ll), p(rints), w(aits), x(type), P(rune), A(ctions) */
	} rows[] = {
		{"", 0, 0, "ap"},
		{"-print", 0, 0, "apA"},
		{"-print0", 0, 0, "apA"},
		{"-print -print", 0, 0, "A"},
		{"-name a -print -o -name b -print", 0, 1, "pA"},
		{"-name a -print , -name b -print", 0, 1, "A"},
		{"! -print -o -print", 0, 0, "A"},
		{"-print -o -print0", 0, 0, "A"},
		{"-exclude -name x", 0, 1, "pP"},
		{"-quit", 0, 0, ""},
		{"-name a", 0, 1, "p"},
		{"-type f", 0, 1, "p"},
		{"-type f -size 1", K_STATX_SIZE, 3, "p"},
		{"-mtime 1 -anewer f", K_STATX_MTIME | K_STATX_ATIME, 2, "p"},
		{"-newerBt @1", K_STATX_BTIME, 2, "p"},
		{"-readable", 0, 4, "p"},
		{"-xtype f", 0, 4, "px"},
		{"-nouser", K_STATX_UID, 6, "p"},
		{"-empty", K_STATX_SIZE, 6, "p"},
		{"-samefile f", K_STATX_INO, 2, "p"},
		{"-name x -prune -o -print", 0, 1, "pPA"},
		{"-exec a ; -o -prune", 0, 0, "wPA"},
		{"-exec a {} + -o -prune", 0, 0, "PA"},
		{"-exec a ; , -prune", 0, 0, "PA"},
		{"( -name x , -delete ) -depth -prune", 0, 1, "wPA"},
		{"! ( -exec a ; ) -name y -prune", 0, 1, "wPA"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].text);
		struct query *query = query_parse_text(rows[i].text, &env, NULL);
		CU_ASSERT_PTR_NOT_NULL_FATAL(query);
		const struct query_info *info = query_info(query);
		CU_ASSERT_EQUAL(info->mask, rows[i].mask);
		CU_ASSERT_EQUAL(info->levels, rows[i].levels);
		STRBUF(flags);
		strbuf_printf(&flags, "%s%s%s%s%s%s", info->all ? "a" : "",
		              info->only_prints ? "p" : "", info->prune_waits ? "w" : "",
		              info->xtype ? "x" : "", info->has_prune ? "P" : "",
		              info->has_actions ? "A" : "");
		unit_expect(strbuf_str(&flags), rows[i].flags);
		query_free(query);
	}
}

UNIT_TEST(durations)
{
	static const struct {
		const char *text;
		double seconds;      /* -1: refused */
	} rows[] = {
		{"2d", 172800}, {"1h 30min", 5400}, {"1h30m", 5400}, {" 1.5 weeks ", 907200},
		{"90s", 90}, {"10 sec", 10}, {"1M", 2630016}, {"1y", 31557600}, {"250ms", 0.25},
		{"0s", 0}, {"", -1}, {"2", -1}, {"d", -1}, {"2x", -1}, {"-2d", -1}, {"2d ago", -1},
		{"2d 3", -1}, {"9999999999s", -1}, {"1..5h", -1}, {"2D", -1},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%s", rows[i].text);
		struct timespec duration = {0};
		int result = query_duration(rows[i].text, &duration);
		CU_ASSERT_EQUAL(result, rows[i].seconds < 0 ? -1 : 0);
		CU_ASSERT_TRUE(result != 0 || (double)duration.tv_sec + (double)duration.tv_nsec
		                              / 1e9 == rows[i].seconds);
	}
}
