/* SPDX-License-Identifier: MIT */
/* base/hostlist: folded as ClusterShell does, and unfolded the same names again. */
#include "unit.h"

#include "base/hostlist.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 88172645463325252u;

static uint32_t chance(uint32_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % n;
}

/** Fold what stands between blanks.  @return the text, to be freed. */
static char *folded(const char *blanks)
{
	const char *names[64];
	char *copy = strdup(blanks);
	size_t n = 0;
	for (char *name = strtok(copy, " "); name; name = strtok(NULL, " "))
		names[n++] = name;
	struct hostlist list;
	struct strbuf out;
	strbuf_init(&out);
	CU_ASSERT_EQUAL_FATAL(hostlist_fold(names, n, &list), 0);
	hostlist_put(&list, &out);
	hostlist_destroy(&list);
	free(copy);
	return strbuf_take(&out);
}

static void test_forms(void)
{
	static const struct {
		const char *names, *list;
	} rows[] = {
		{"a", "a"},
		{"node1", "node1"},
		{"node2 node1 node3", "node[1-3]"},
		{"node1 node2 node4 node10 node11", "node[1-2,4,10-11]"},
		{"node9 node10 node11", "node[9-11]"},
		{"node99 node100", "node[99-100]"},
		/* Leading zeros. */
		{"node01 node02 node12 node15 node03", "node[01-03,12,15]"},
		{"node09 node10 node11 node12", "node[09-12]"},
		{"n1 n01 n001", "n[1,01,001]"},
		{"n8 n9 n10 n09", "n[8-9,09-10]"},
		{"n098 n099 n100", "n[098-100]"},
		{"n99 n100 n098", "n[99,098,100]"},
		{"n0 n1 n00", "n[0-1,00]"},
		{"n99 n0100", "n[99,0100]"},
		/* Twice. */
		{"a a node1 node1 node2", "a,node[1-2]"},
		/* Domains, and what is between. */
		{"node1.a.example node2.a.example node1.b.example", "node[1-2].a.example,node1.b.example"},
		{"n1.dc1 n2.dc1 n1.dc2 n2.dc2", "n[1-2].dc[1-2]"},
		{"login node3 web-1 node4 web-2", "login,node[3-4],web-[1-2]"},
		/* Dimensions. */
		{"r1n1 r1n2 r2n1 r2n2", "r[1-2]n[1-2]"},
		{"r1n1 r1n2 r2n1", "r1n[1-2],r2n1"},
		{"r1n1 r2n1 r3n1 r3n2", "r[1-2]n1,r3n[1-2]"},
		{"r01c1n1 r01c1n2 r02c1n1 r02c1n2 r03c2n7", "r[01-02]c1n[1-2],r03c2n7"},
		{"10.0.0.1 10.0.0.2 10.0.0.3 10.0.1.1", "10.0.0.[1-3],10.0.1.1"},
		{"ip-10-0-3-17 ip-10-0-3-18", "ip-10-0-3-[17-18]"},
		/* The ninth is none; too many digits are none. */
		{"1.1.1.1.1.1.1.1.1 1.1.1.1.1.1.1.1.2 1.1.1.1.1.1.1.2.1", "1.1.1.1.1.1.1.[1-2].1,1.1.1.1.1.1.1.1.2"},
		{"n1234567890123456789 n1234567890123456788", "n1234567890123456788,n1234567890123456789"},
		{"n999999999999999999 n999999999999999998", "n[999999999999999998-999999999999999999]"},
		{"1 2 3", "[1-3]"},
		/* What is no name of a host. */
		{"a[1-3]", "a\\x5b1-3\\x5d"},
		{"a,b", "a\\x2cb"},
		{"n1\033[31m n2\033[31m", "n1\\x1b\\x5b31m,n2\\x1b\\x5b31m"},
		{"n\xc3\xa4" "1 n\\x41", "n\\x5cx41,n\\xc3\\xa4" "1"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		char *list = folded(rows[i].names);
		CU_ASSERT_STRING_EQUAL(list, rows[i].list);
		if (strcmp(list, rows[i].list) != 0)
			printf("  %s: %s\n", rows[i].names, list);
		free(list);
	}
	struct hostlist list;
	CU_ASSERT_EQUAL(hostlist_fold(NULL, 0, &list), 0);
	CU_ASSERT_EQUAL(list.count, 0);
	hostlist_destroy(&list);
}

static void test_counts(void)
{
	static const char *const names[] = {"r1n1", "r1n2", "r2n1", "r2n2", "x", "x", "r3n1"};
	struct hostlist list;
	CU_ASSERT_EQUAL_FATAL(hostlist_fold(names, 7, &list), 0);
	CU_ASSERT_EQUAL_FATAL(list.count, 3);
	CU_ASSERT_EQUAL(list.hosts, 6);
	CU_ASSERT_EQUAL(list.terms[0].hosts, 4);
	CU_ASSERT_EQUAL(list.terms[1].hosts, 1);
	hostlist_destroy(&list);
}

/* Unfolding. */

struct names {
	char *of[2048];
	size_t count;
};

static int keep(void *arg, const char *name)
{
	struct names *names = arg;
	if (names->count == 2048)
		return 7;
	names->of[names->count++] = strdup(name);
	return 0;
}

static void drop(struct names *names)
{
	while (names->count > 0)
		free(names->of[--names->count]);
}

static void test_unfold(void)
{
	static const struct {
		const char *list, *names;
		int error;
	} rows[] = {
		{"a", "a", 0},
		{"a,b", "a b", 0},
		{"n[1-3]", "n1 n2 n3", 0},
		{"n[08-11,2]x", "n08x n09x n10x n11x n2x", 0},
		{"n[9-11]", "n9 n10 n11", 0},
		{"n[099-101]", "n099 n100 n101", 0},
		{"n[01-100]", NULL, E2BIG},
		{"r[1-2]n[3,5],x", "r1n3 r1n5 r2n3 r2n5 x", 0},
		{"a\\x2cb", "a,b", 0},
		{"n[", NULL, EINVAL}, {"n]", NULL, EINVAL}, {"n[]", NULL, EINVAL}, {"n[1", NULL, EINVAL}, {"n[1-]", NULL, EINVAL},
		{"n[3-1]", NULL, EINVAL}, {"n[1,]", NULL, EINVAL}, {"n[10-9]", NULL, EINVAL}, {"n[001-9]", NULL, EINVAL}, {"n[1-9/2]", NULL, EINVAL},
		{"n[a]", NULL, EINVAL}, {"n[-1]", NULL, EINVAL}, {"n[[1]]", NULL, EINVAL}, {"a b", NULL, EINVAL}, {"@all", NULL, EINVAL},
		{"a\\x00", NULL, EINVAL}, {"a\\x4", NULL, EINVAL}, {"a\033", NULL, EINVAL},
		{"n[1-1000000000]", NULL, E2BIG},
		{"n[1-9999999999999999999]", NULL, EINVAL},
		{"[1][1][1][1][1][1][1][1]", "11111111", 0},
		{"[1][1][1][1][1][1][1][1][1]", NULL, EINVAL},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		struct names names = {.count = 0};
		struct strbuf all;
		strbuf_init(&all);
		errno = 0;
		int rc = hostlist_unfold(rows[i].list, strlen(rows[i].list), 50, keep, &names);
		CU_ASSERT_EQUAL(rc, rows[i].names ? 0 : -1);
		if (rc != 0)
			CU_ASSERT_EQUAL(errno, rows[i].error);
		for (size_t k = 0; k < names.count; ++k)
			strbuf_printf(&all, "%s%s", k ? " " : "", names.of[k]);
		if (rows[i].names)
			CU_ASSERT_STRING_EQUAL(strbuf_str(&all), rows[i].names);
		strbuf_destroy(&all);
		drop(&names);
	}
	struct names full = {.count = 2048};
	CU_ASSERT_EQUAL(hostlist_unfold("a", 1, 9, keep, &full), 7);
}

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** A name that resembles others. */
static void random_name(struct strbuf *name, unsigned style)
{
	static const char *const parts[] = {"n", "node", "-", ".", "rack", ".example", "a", "_"};
	static const char odd[] = "a0[]1-,9\\x\1\033 /\xc3\xa4";
	strbuf_reset(name);
	if (style == 0) {
		for (uint32_t n = 1 + chance(5); n > 0; --n)
			strbuf_putc(name, odd[chance(sizeof(odd) - 1)]);
		return;
	}
	for (uint32_t n = 1 + chance(style); n > 0; --n) {
		strbuf_puts(name, parts[chance(8)]);
		strbuf_printf(name, "%0*u", (int)chance(4), (unsigned)chance(style == 1 ? 120 : 6));
	}
}

/** unfold(fold(x)) == x, each name once, and as many as are told. */
static void test_round(void)
{
	struct strbuf name, text;
	strbuf_init(&name);
	strbuf_init(&text);
	for (unsigned turn = 0; turn < 3000; turn += unit_step() > 10 ? 10 : 1) {
		struct names names = {.count = 0}, again = {.count = 0};
		struct hostlist list;
		unsigned style = turn % 12;
		for (uint32_t n = chance(turn % 50 == 0 ? 1500 : 60); n > 0; --n) {
			random_name(&name, style);
			keep(&names, strbuf_str(&name));
		}
		CU_ASSERT_EQUAL_FATAL(hostlist_fold((const char *const *)names.of, names.count, &list), 0);
		strbuf_reset(&text);
		hostlist_put(&list, &text);
		if (names.count > 0)
			CU_ASSERT_EQUAL(hostlist_unfold(strbuf_str(&text), text.len, 2048, keep, &again), 0);
		for (size_t i = 0; i < text.len; ++i)
			CU_ASSERT(text.data[i] > ' ' && text.data[i] < 0x7f);
		qsort(names.of, names.count, sizeof(*names.of), compare);
		qsort(again.of, again.count, sizeof(*again.of), compare);
		size_t k = 0, terms = 0;
		for (size_t i = 0; i < names.count; ++i) {
			if (i > 0 && strcmp(names.of[i], names.of[i - 1]) == 0)
				continue;
			bool same = k < again.count && strcmp(names.of[i], again.of[k]) == 0;
			CU_ASSERT(same);
			if (!same) {
				printf("  %s is not in %s\n", names.of[i], strbuf_str(&text));
				break;
			}
			++k;
		}
		CU_ASSERT_EQUAL(k, again.count);
		CU_ASSERT_EQUAL(k, list.hosts);
		for (size_t i = 0; i < list.count; ++i)
			terms += list.terms[i].hosts;
		CU_ASSERT_EQUAL(terms, list.hosts);
		hostlist_destroy(&list);
		drop(&names);
		drop(&again);
	}
	strbuf_destroy(&name);
	strbuf_destroy(&text);
}

/** 100,000 hosts in two dimensions are one term, soon. */
static void test_many(void)
{
	enum { RACKS = 1000, NODES = 100 };
	static char text[RACKS * NODES][16];
	static const char *names[RACKS * NODES];
	struct hostlist list;
	for (size_t i = 0; i < RACKS * NODES; ++i) {
		snprintf(text[i], sizeof(text[i]), "r%zun%03zu", (i * 7919 % (RACKS * NODES)) / NODES + 1, (i * 7919 % (RACKS * NODES)) % NODES);
		names[i] = text[i];
	}
	double begun = unit_cpu();
	CU_ASSERT_EQUAL_FATAL(hostlist_fold(names, RACKS * NODES, &list), 0);
	CU_ASSERT(unit_cpu() - begun < 20);
	CU_ASSERT_EQUAL_FATAL(list.count, 1);
	CU_ASSERT_STRING_EQUAL(list.terms[0].text, "r[1-1000]n[000-099]");
	CU_ASSERT_EQUAL(list.hosts, RACKS * NODES);
	hostlist_destroy(&list);
}

static const struct unit_test tests[] = {
	{"forms", test_forms},
	{"counts", test_counts},
	{"unfold", test_unfold},
	{"round trip", test_round},
	{"many", test_many},
	{NULL, NULL},
};

const struct unit_suite suite_hostlist = {"hostlist", tests};
