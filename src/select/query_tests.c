/* SPDX-License-Identifier: MIT */
/* The tests.  The level of the evaluation (walk->level) decides which facts a test may use. */
#include "select/query_impl.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <sys/stat.h>

static enum query_value value_of(bool yes)
{
	return yes ? QUERY_YES : QUERY_NO;
}

/** Convert the result of a function of query_facts: 1, 0, or -1 with errno, which is stored in the
    outcome. */
static enum query_value fact_value(struct query_walk *walk, int fact)
{
	if (fact < 0 && walk->outcome->error == 0)
		walk->outcome->error = errno;
	return value_of(fact > 0);
}

/** Whether functions of query_facts that call the kernel may be called now.  If whether the test is
    reached depends on the result of an action (reach is OPEN), query_run() calls them after the
    action. */
static bool may_call(const struct query_walk *walk)
{
	return walk->level == QUERY_ALL && walk->reach == QUERY_YES;
}

/** Get the attributes of the object; NULL: not known at this level. */
static const struct k_statx *attributes(const struct query_walk *walk)
{
	return walk->level >= QUERY_STATX ? walk->object->st : NULL;
}

/** Get the type of the object; DT_UNKNOWN: not known at this level. */
static uint8_t type_of(const struct query_walk *walk)
{
	const struct query_object *object = walk->object;
	const struct k_statx *st = attributes(walk);
	return object->type == DT_UNKNOWN && st ? IFTODT(st->mode) : object->type;
}

QUERY_TEST(query_test_true)
{
	(void)walk;
	(void)node;
	return QUERY_YES;
}

QUERY_TEST(query_test_false)
{
	(void)walk;
	(void)node;
	return QUERY_NO;
}

/* Names */

QUERY_TEST(query_test_name)
{
	const struct query_object *object = walk->object;
	return value_of(query_pattern_matches(node->pattern, object->name, object->len));
}

QUERY_TEST(query_test_hidden)
{
	(void)node;
	const char *name = walk->object->name;
	return value_of(name[0] == '.' && strcmp(name, ".") != 0 && strcmp(name, "..") != 0);
}

QUERY_TEST(query_test_path)
{
	const struct query_facts *facts = walk->object->facts;
	const char *path = facts->path(facts->arg);
	if (!path) {
		errno = ENOMEM;
		return fact_value(walk, -1);
	}
	return value_of(query_pattern_matches(node->pattern, path, strlen(path)));
}

QUERY_TEST(query_test_regex)
{
	const struct query_facts *facts = walk->object->facts;
	const char *path = facts->path(facts->arg);
	int matches = path ? query_regex_matches(node->regex, path, strlen(path)) : -1;
	if (matches < 0)
		errno = ENOMEM;
	return fact_value(walk, matches);
}

QUERY_TEST(query_test_fstype)
{
	const struct query_facts *facts = walk->object->facts;
	const char *fstype = facts->fstype(facts->arg);
	return value_of(strcmp(*fstype ? fstype : "unknown", node->text) == 0);
}

/* Types */

QUERY_TEST(query_test_type)
{
	uint8_t type = type_of(walk);
	return type == DT_UNKNOWN ? QUERY_OPEN : value_of(node->types & 1u << type);
}

QUERY_TEST(query_test_xtype)
{
	const struct query *query = walk->query;
	const struct query_facts *facts = walk->object->facts;
	bool follow = query->info.follow || query->follow
	              || (walk->object->depth == 0 && query->follow_roots);
	uint8_t type = type_of(walk);
	if (type == DT_UNKNOWN)
		return QUERY_OPEN;
	/* If the search follows symlinks, any object can be the target of one, so facts->xtype is
	   needed. */
	if (!follow && type != DT_LNK)
		return value_of(node->types & 1u << type);
	if (!may_call(walk))
		return QUERY_OPEN;
	if (facts->xtype(facts->arg, &type) != 0)
		return fact_value(walk, -1);
	return value_of(node->types & 1u << type);
}

/* Attributes */

static enum query_value compare(const struct query_node *node, uint64_t value)
{
	return value_of(node->number.sign == '+'   ? value > node->number.n
	                : node->number.sign == '-' ? value < node->number.n
	                                           : value == node->number.n);
}

QUERY_TEST(query_test_size)
{
	const struct k_statx *st = attributes(walk);
	if (!st)
		return QUERY_OPEN;
	uint64_t unit = node->number.unit;
	return compare(node, st->size / unit + (st->size % unit != 0));
}

QUERY_TEST(query_test_links)
{
	const struct k_statx *st = attributes(walk);
	return st ? compare(node, st->nlink) : QUERY_OPEN;
}

QUERY_TEST(query_test_inum)
{
	const struct k_statx *st = attributes(walk);
	return st ? compare(node, st->ino) : QUERY_OPEN;
}

QUERY_TEST(query_test_uid)
{
	const struct k_statx *st = attributes(walk);
	return st ? compare(node, st->uid) : QUERY_OPEN;
}

QUERY_TEST(query_test_gid)
{
	const struct k_statx *st = attributes(walk);
	return st ? compare(node, st->gid) : QUERY_OPEN;
}

QUERY_TEST(query_test_dev)
{
	const struct k_statx *st = attributes(walk);
	return !st ? QUERY_OPEN
	           : value_of(st->dev_major == node->dev.major && st->dev_minor == node->dev.minor);
}

QUERY_TEST(query_test_perm)
{
	const struct k_statx *st = attributes(walk);
	if (!st)
		return QUERY_OPEN;
	unsigned bits = node->perm.bits[S_ISDIR(st->mode)], mode = st->mode & 07777;
	return value_of(node->perm.sign == '-'   ? (mode & bits) == bits
	                : node->perm.sign == '/' ? bits == 0 || (mode & bits)
	                                         : mode == bits);
}

QUERY_TEST(query_test_newer)
{
	const struct k_statx *st = attributes(walk);
	if (!st)
		return QUERY_OPEN;
	char field = node->time.field;
	if (field == 'B' && !(st->mask & K_STATX_BTIME))
		return QUERY_NO;
	const struct k_statx_time *time = field == 'a' ? &st->atime : field == 'B' ? &st->btime
	                                  : field == 'c' ? &st->ctime : &st->mtime;
	return value_of(time->sec > node->time.sec
	                || (time->sec == node->time.sec && time->nsec > node->time.nsec));
}

QUERY_TEST(query_test_used)
{
	const struct k_statx *st = attributes(walk);
	if (!st)
		return QUERY_OPEN;
	int64_t sec = st->atime.sec - st->ctime.sec, nsec = (int64_t)st->atime.nsec
	                                                    - (int64_t)st->ctime.nsec;
	if (sec < 0 || (sec == 0 && nsec < 0))
		return QUERY_NO;
	double days = ((double)sec + (double)nsec / 1e9) / 86400;
	return value_of(node->used.sign == '+'   ? days > node->used.days
	                : node->used.sign == '-' ? days < node->used.days
	                : days >= node->used.days - 1 && days < node->used.days);
}

/* Tests that call the kernel */

QUERY_TEST(query_test_no_owner)
{
	const struct k_statx *st = attributes(walk);
	const struct query_facts *facts = walk->object->facts;
	if (!st || !may_call(walk))
		return QUERY_OPEN;
	bool group = node->row->param;
	int known = facts->owner(facts->arg, group, group ? st->gid : st->uid);
	return fact_value(walk, known < 0 ? -1 : !known);
}

QUERY_TEST(query_test_access)
{
	const struct query_facts *facts = walk->object->facts;
	return may_call(walk) ? fact_value(walk, facts->access(facts->arg, node->row->param))
	                      : QUERY_OPEN;
}

QUERY_TEST(query_test_lname)
{
	const struct query_facts *facts = walk->object->facts;
	uint8_t type = type_of(walk);
	if (type != DT_UNKNOWN && type != DT_LNK)
		return QUERY_NO;
	if (type == DT_UNKNOWN || !may_call(walk))
		return QUERY_OPEN;
	struct strbuf target = {0};
	int result = facts->target(facts->arg, &target);
	if (target.failed) {
		errno = ENOMEM;
		result = -1;
	}
	enum query_value value = fact_value(walk, result);
	if (result == 0)
		value = value_of(query_pattern_matches(node->pattern, strbuf_str(&target),
		                                       target.len));
	strbuf_destroy(&target);
	return value;
}

QUERY_TEST(query_test_empty)
{
	(void)node;
	const struct query_facts *facts = walk->object->facts;
	const struct k_statx *st = attributes(walk);
	uint8_t type = type_of(walk);
	if (type == DT_REG && st)
		return value_of(st->size == 0);
	if (type != DT_UNKNOWN && type != DT_REG && type != DT_DIR)
		return QUERY_NO;
	/* With -depth, actions on the contents of the directory may still empty it before its own
	   actions. */
	if (type != DT_DIR || !may_call(walk) || (walk->query->info.depth && !walk->act))
		return QUERY_OPEN;
	return fact_value(walk, facts->empty(facts->arg));
}
