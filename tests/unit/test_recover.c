/* SPDX-License-Identifier: MIT */
/*
 * An mtab checked and rebuilt, from recorded tables: pure.
 */
#include "unit.h"

#include "base/map64.h"
#include "cases.h"
#include "fault.h"
#include "recover/recover.h"
#include "mounts/table.h"

#include <inttypes.h>

/** A machine: what is mounted on it, and what is asked of the file. */
struct machine {
	struct mount_table *table;
	struct rec_row *rows;
	struct rec_input in;
	const char *const *known;   /* targets, and options that another source confirms */
};

static struct machine machine_new(const char *text, enum rec_format format)
{
	struct machine m = {.table = table_parse_mountinfo(text, strlen(text))};
	CU_ASSERT_PTR_NOT_NULL_FATAL(m.table);
	CU_ASSERT_EQUAL_FATAL(m.table->nproblems, 0);
	m.rows = calloc(m.table->count + 1, sizeof(*m.rows));
	CU_ASSERT_PTR_NOT_NULL_FATAL(m.rows);
	struct map64 keys = {0};
	for (size_t i = 0; i < m.table->count; ++i)
		map64_put(&keys, m.table->mounts[i].key, (uint32_t)i);
	for (size_t i = 0; i < m.table->count; ++i) {
		const struct mount *mount = &m.table->mounts[i];
		m.rows[i] =
		        (struct rec_row){mount, mount->point, map64_get(&keys, mount->parent_key)};
	}
	map64_destroy(&keys);
	m.in = (struct rec_input){.format = format, .rows = m.rows, .nrows = m.table->count,
	                          .first_time = 1000, .last_time = 2000};
	return m;
}

static void machine_free(struct machine *m)
{
	table_free(m->table);
	free(m->rows);
}

static struct tablines *cut(const struct machine *m, const char *text, size_t len)
{
	struct tablines *lines =
	        m->in.format == REC_MTAB ? tablines_parse(text, len) : tablines_cut(text, len);
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	return lines;
}

/** Check a text, and the invariants of the result. */
static struct rec_result check_text(struct machine *m, struct tablines *lines)
{
	struct rec_result j;
	m->in.lines = lines;
	CU_ASSERT_EQUAL_FATAL(rec_check(&m->in, &j), 0);
	size_t sum = 0, off = 0;
	CU_ASSERT_EQUAL(j.nlines, lines->count);
	for (size_t i = 0; i < j.count; ++i) {
		const struct rec_finding *f = &j.findings[i];
		off += (i < j.nlines) != (f->line == &lines->lines[i])
		       || (i >= j.nlines) != (f->verdict == REC_MISSING);
		off += f->row != REC_NONE && j.finding[f->row] != i;
		off += (f->row == REC_NONE)
		       != (f->verdict == REC_GONE || f->verdict == REC_UNREADABLE
		           || f->verdict == REC_IGNORED);
		off += (f->verdict == REC_WRONG) != (f->fields != 0);
		off += f->row == REC_NONE && !f->why;
	}
	for (size_t r = 0; r < m->in.nrows; ++r)
		off += j.finding[r] >= j.count || j.findings[j.finding[r]].row != r;
	for (unsigned v = 0; v < REC_NVERDICTS; ++v)
		sum += j.of[v];
	CU_ASSERT_EQUAL(off, 0);
	CU_ASSERT_EQUAL(sum, j.count);
	for (size_t i = 0; i < j.nhints && m->in.keep == REC_CHECKED; ++i) {
		struct rec_hint *hint = &j.hints[i];
		for (const char *const *known = m->known; known && *known; known += 2)
			hint->kept |= strcmp(known[0], m->rows[hint->row].target) == 0
			              && strcmp(known[1], hint->option) == 0;
	}
	return j;
}

/** The file made anew, from what is left of it. */
static char *rebuild(struct machine *m, const char *text, size_t len, enum rec_keep keep)
{
	struct strbuf out;
	strbuf_init(&out);
	struct tablines *lines = cut(m, text, len);
	m->in.keep = keep;
	struct rec_result j = check_text(m, lines);
	rec_build(&m->in, &j, &out);
	rec_result_destroy(&j);
	tablines_free(lines);
	char *made = strbuf_take(&out);
	return made ? made : calloc(1, 1);
}

static void expect_made(struct machine *m, const char *text, enum rec_keep keep,
                        const char *expected)
{
	char *made = rebuild(m, text, strlen(text), keep);
	CU_ASSERT_STRING_EQUAL(made, expected);
	free(made);
}

/** Check a text, and compare the findings with the expected lines. */
static void expect(struct machine *m, const char *text, size_t len, const char *expected)
{
	STRBUF(said);
	struct tablines *lines = cut(m, text, len);
	struct rec_result j = check_text(m, lines);
	for (size_t i = 0; i < j.count; ++i) {
		const struct rec_finding *f = &j.findings[i];
		strbuf_printf(&said, "%u %s", f->line ? f->line->number : 0,
		              rec_verdict_names[f->verdict]);
		if (f->row != REC_NONE)
			strbuf_printf(&said, " %s", m->rows[f->row].target);
		for (unsigned b = 0; b < REC_NFIELDS; ++b) {
			if (f->fields & 1u << b)
				strbuf_printf(&said, " %s", rec_field_names[b]);
		}
		if (f->row == REC_NONE)
			strbuf_printf(&said, ": %s", f->why);
		if (f->other)
			strbuf_printf(&said, " (%u)", f->other);
		strbuf_putc(&said, '\n');
	}
	unit_expect(strbuf_str(&said), expected);
	rec_result_destroy(&j);
	tablines_free(lines);
}

static const char small[] =
	"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
	"22 21 0:20 / /proc rw,nosuid - proc proc rw\n"
	"23 21 0:21 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw,size=1024k\n"
	"24 23 0:22 / /tmp/a\\040b rw - tmpfs t\\043x rw\n"
	"25 21 0:30 / /srv rw,relatime - nfs4 host:/x rw,vers=4.2,addr=10.0.0.1\n";

#define ROOT "/dev/sda1 / ext4 rw,relatime,errors=remount-ro 0 0\n"
#define PROC "proc /proc proc rw,nosuid 0 0\n"
#define TMP "tmpfs /tmp tmpfs rw,nosuid,nodev,size=1024k 0 0\n"
#define BLANK "t\\043x /tmp/a\\040b tmpfs rw 0 0\n"
#define SRV "host:/x /srv nfs4 rw,relatime,vers=4.2,addr=10.0.0.1 0 0\n"

UNIT_TEST(hints)
{
	struct machine m = machine_new(small, REC_MTAB);
	/* Hints; then options that the kernel would show. */
	static const char *const options[] = {
		"_netdev", "user=a.b-c", "x-systemd.automount", "x-a=b:c", "loop=/dev/loop7",
		"helper=udisks2", "uhelper=hal", NULL,
		"nofail", "user", "user=", "user=-x", "user=a b", "_netdevx", "x-", "X-a",
		"x-a\\054b\001", "comment=x", "loop=/dev/sda", "loop=/dev/loop", "loop", "helper=",
		"defaults", "x-\xff=1", "x-a=\xff",
	};
	bool hint = true;
	for (size_t i = 0; i < COUNT(options); ++i) {
		char line[128];
		hint &= options[i] != NULL;
		snprintf(line, sizeof(line), "proc /proc proc rw,nosuid,%s 0 0\n",
		         options[i] ? options[i] : "x");
		char *made = rebuild(&m, line, strlen(line), REC_ALL);
		CU_ASSERT_EQUAL(strstr(made, line) != NULL, hint);
		CU_ASSERT_EQUAL(strcmp(made, ROOT PROC TMP BLANK SRV) != 0, hint);
		free(made);
	}
	machine_free(&m);
}

/** Decode ^@, ^M and ^I.  @return the length. */
static size_t decode(char *text)
{
	char *to = text;
	for (const char *from = text; *from; ++to, ++from)
		*to = *from == '^' ? (char)(*++from - '@') : *from;
	*to = '\0';
	return (size_t)(to - text);
}

UNIT_TEST(cases)
{
	static const char *const known[] = {"/srv", "_netdev", "/srv", "user=bob",
	                                    "/tmp", "x-a=b",   NULL};
	static const char *const formats[] = {"mtab", "mnttab", "setmnt"};
	const char *table = NULL;
	for (struct unit_case c; unit_case("tests/fixtures/recover", &c);) {
		size_t len = decode(c.parts[0].text);
		enum rec_format format = REC_MTAB;
		for (size_t i = 1; i < c.count; ++i) {
			decode(c.parts[i].text);
			if (strcmp(c.parts[i].head, "table") == 0)
				table = c.parts[i].text;
			for (int f = 0; f < 3; ++f) {
				if (strncmp(c.parts[i].head, "format=", 7) == 0
				    && strcmp(c.parts[i].head + 7, formats[f]) == 0)
					format = (enum rec_format)f;
			}
		}
		unit_note("%s", c.name);
		struct machine m = machine_new(table, format);
		m.known = known;
		for (size_t i = 1; i < c.count; ++i) {
			const char *head = c.parts[i].head;
			if (strcmp(head, "expect") == 0)
				expect(&m, c.parts[0].text, len, c.parts[i].text);
			else if (strncmp(head, "made ", 5) == 0)
				expect_made(&m, c.parts[0].text,
				            head[5] == 'c'   ? REC_CHECKED
				            : head[5] == 'a' ? REC_ALL : REC_NO, c.parts[i].text);
		}
		machine_free(&m);
	}
}

/* Damage. */

static uint64_t seed;

static size_t any(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return n ? (size_t)(seed % n) : 0;
}

/** Turn a block of a buffer into another: the buffer has room for twice its bytes. */
static size_t damage(char *text, size_t n)
{
	static const char *const bits[] = {
		"\\", "\\0", "\\040", "\\134", "\\000", "\\777", "\\\\", "\n", "\r\n", " ", "\t",
		"#", "\\012", "\xff", ",", ",x-a=b", "0 0\n", "\"", "tmpfs /run tmpfs rw 0 0\n",
		"/dev/sdq9 /foreign ext4 rw,relatime 0 0\n",
	};
	size_t at = any(n), len = any(n - at < 400 ? n - at : 400), to;
	switch (any(9)) {
	case 0:                            /* flipped bits */
		for (size_t i = any(4) + 1; i-- && n;)
			text[any(n)] ^= (char)(1u << any(8));
		return n;
	case 1:                            /* cut */
		return at;
	case 2:                            /* a piece lost */
		memmove(text + at, text + at + len, n - at - len);
		return n - len;
	case 3:                            /* a piece twice */
		memmove(text + at + len, text + at, n - at);
		return n + len;
	case 4:                            /* two pieces swapped */
		to = any(n);
		for (size_t i = 0; i < len && at + i < n && to + i < n; ++i) {
			char swap = text[at + i];
			text[at + i] = text[to + i];
			text[to + i] = swap;
		}
		return n;
	case 5:                            /* NULs, as after a crash */
		memset(text + at, 0, len);
		return n;
	case 6:                            /* rubbish */
		for (size_t i = 0; i < len; ++i)
			text[at + i] = (char)any(256);
		return n;
	case 7: {                          /* an escape, a line end, a foreign line ... */
		const char *bit = bits[any(COUNT(bits))];
		memmove(text + at + strlen(bit), text + at, n - at);
		memcpy(text + at, bit, strlen(bit));
		return n + strlen(bit);
	}
	default:                           /* a block copied over another */
		to = any(n);
		len = to + len > n ? n - to : len;
		memmove(text + to, text + at, len);
		return n;
	}
}

static const char *const *borne;       /* of the machine below */

/** Whether a line that was made says of a mount only what is true. */
static bool line_true(const char *line, const char *end, const char *truth, const char *target)
{
	/* The kernel's part, less the " 0 0\n" at its end; then hints that are true. */
	const char *truth_end = strchr(truth, '\n');
	size_t n = (size_t)(truth_end - truth) - 4;
	if ((size_t)(end - line) < n + 4 || memcmp(line, truth, n) != 0
	    || memcmp(end - 4, " 0 0", 4) != 0)
		return false;
	const char *at = line + n;
	while (at < end - 4) {
		size_t len = *at == ',' ? strcspn(at + 1, ", ") : 0;
		bool known = false;
		for (const char *const *k = borne; *k; k += 2)
			known |= strcmp(k[0], target) == 0 && strlen(k[1]) == len
			         && memcmp(k[1], at + 1, len) == 0;
		if (!known)
			return false;
		at += len + 1;
	}
	return true;
}

/** How many lines of the truth stand in a text as they are: of each as often. */
static size_t lines_left(const struct tablines *lines, const char *const *truth, size_t ntruth)
{
	size_t left = 0;
	bool used[64] = {false};
	for (size_t i = 0; i < lines->count; ++i) {
		for (size_t k = 0; k < ntruth; ++k) {
			if (!used[k] && lines->lines[i].size == strlen(truth[k])
			    && memcmp(lines->lines[i].bytes, truth[k], lines->lines[i].size) == 0) {
				used[k] = true;
				++left;
				break;
			}
		}
	}
	return left;
}

UNIT_TEST(10_000_damaged_files)
{
	static const char text[] =
		"21 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw,errors=remount-ro\n"
		"22 21 0:20 / /proc rw,nosuid,nodev,noexec - proc proc rw\n"
		"23 21 0:21 / /tmp rw,nosuid,nodev - tmpfs tmpfs rw,size=1024k\n"
		"24 23 0:22 / /tmp/a\\040b rw - tmpfs t\\043x rw\n"
		"25 21 0:30 / /srv rw,relatime - nfs4 host:/x rw,vers=4.2,addr=10.0.0.1\n"
		"26 21 0:31 / /srv2 rw,relatime - nfs4 host:/x2 rw,vers=4.2,addr=10.0.0.1\n"
		"27 21 0:32 / /back\\134slash rw - tmpfs tmpfs rw\n"
		"28 21 0:33 / /new\\012line rw - tmpfs tmpfs rw\n"
		"29 21 0:34 / /caf\xc3\xa9\\011tab rw - tmpfs tmpfs rw\n"
		"30 21 0:35 / /stack rw - tmpfs tmpfs rw\n"
		"31 30 0:36 / /stack rw - tmpfs tmpfs rw\n"
		"32 31 0:37 / /stack ro - tmpfs tmpfs rw\n"
		"33 21 0:38 / /o rw - overlay overlay rw,lowerdir=/a\\134,b:/c\n"
		"34 21 8:17 / /mnt/usb rw,nosuid - vfat /dev/sdb1 rw,uid=1000\n";
	static const char *const known[] = {
		"/", "x-root", "/srv", "_netdev", "/srv", "user=bob", "/srv2", "user=alice",
		"/mnt/usb", "helper=udisks2", "/tmp", "x-systemd.automount", NULL,
	};
	struct machine m = machine_new(text, REC_MTAB);
	m.known = known;
	borne = known;
	char *truth = rebuild(&m, "", 0, REC_NO), *good, *made;
	const char *lines_of[64] = {truth};
	size_t ntruth = 0;
	struct strbuf buf;
	strbuf_init(&buf);
	/* The good file: with what mount(8) wrote beside. */
	for (const char *at = truth; *at; ++ntruth) {
		const char *end = strchr(at, '\n');
		lines_of[ntruth] = at;
		strbuf_add(&buf, at, (size_t)(end - at) - 4);
		for (const char *const *k = known; *k; k += 2) {
			if (strcmp(k[0], m.rows[ntruth].target) == 0)
				strbuf_printf(&buf, ",%s", k[1]);
		}
		strbuf_puts(&buf, " 0 0\n");
		at = end + 1;
	}
	good = strbuf_take(&buf);
	CU_ASSERT_PTR_NOT_NULL_FATAL(good);
	CU_ASSERT_EQUAL_FATAL(ntruth, m.in.nrows);
	made = rebuild(&m, good, strlen(good), REC_CHECKED);
	CU_ASSERT_STRING_EQUAL(made, good);
	free(made);
	char *good_lines[64];
	for (size_t i = 0, at = 0; i < ntruth; ++i) {
		size_t len = strcspn(good + at, "\n") + 1;
		good_lines[i] = strndup(good + at, len);
		at += len;
	}

	char *torn = malloc(64 * strlen(good));
	size_t bad = 0, untrue = 0, unlike = 0, lost = 0, whole = 0;
	seed = 88172645463325252u;
	for (unsigned round = 0; round < 10000; ++round) {
		size_t n = strlen(good);
		memcpy(torn, good, n);
		for (size_t i = any(4) + 1; i-- && n;)
			n = damage(torn, n);
		unit_note("round %u", round);

		struct tablines *lines = cut(&m, torn, n);
		m.in.keep = REC_CHECKED;
		struct rec_result j = check_text(&m, lines);
		size_t right = 0, bytes = 0;
		for (size_t i = 0; i < j.nlines; ++i) {
			right += j.findings[i].row != REC_NONE
			         && !(j.findings[i].fields & ~(unsigned)REC_ORDER);
			bytes += j.findings[i].line->size;
		}
		lost += bytes != n;
		bad += right < lines_left(lines, (const char *const *)good_lines, ntruth);
		whole += rec_is_right(&j);
		strbuf_init(&buf);
		rec_build(&m.in, &j, &buf);
		made = strbuf_take(&buf);
		CU_ASSERT_PTR_NOT_NULL_FATAL(made);
		const char *at = made;
		for (size_t r = 0; r < ntruth; ++r) {
			const char *end = strchrnul(at, '\n');
			untrue += !line_true(at, end, lines_of[r], m.rows[r].target);
			at = *end ? end + 1 : end;
		}
		untrue += *at != '\0';
		rec_result_destroy(&j);
		tablines_free(lines);

		/* The rebuilt file is right, and rebuilt again the same. */
		lines = cut(&m, made, strlen(made));
		j = check_text(&m, lines);
		bad += !rec_is_right(&j);
		for (size_t i = 0; i < j.nhints; ++i)
			bad += !j.hints[i].kept;
		rec_result_destroy(&j);
		tablines_free(lines);
		char *again = rebuild(&m, made, strlen(made), REC_CHECKED);
		unlike += strcmp(again, made) != 0;
		free(again);
		free(made);

		/* Without hints it is the truth, byte for byte. */
		made = rebuild(&m, torn, n, REC_NO);
		unlike += strcmp(made, truth) != 0;
		free(made);
	}
	CU_ASSERT_EQUAL(bad, 0);
	CU_ASSERT_EQUAL(lost, 0);
	CU_ASSERT_EQUAL(untrue, 0);
	CU_ASSERT_EQUAL(unlike, 0);
	/* Some damage is none: a bit that was flipped twice, lines in another order. */
	CU_ASSERT(whole < 1000);
	for (size_t i = 0; i < ntruth; ++i)
		free(good_lines[i]);
	free(torn);
	free(good);
	free(truth);
	machine_free(&m);
}

/** The time that a damaged file of n lines takes, in seconds. */
static double time_of(size_t n)
{
	STRBUF(table);
	STRBUF(file);
	strbuf_puts(&table, "1 1 8:1 / / rw - ext4 /dev/sda1 rw\n");
	for (size_t i = 2; i < n; ++i) {
		/* Half of them in one place; the lines backwards, every third another. */
		char place[32] = "/mnt";
		if (i % 2)
			snprintf(place, sizeof(place), "/m/%zu", i);
		strbuf_printf(&table, "%zu 1 0:%zu / %s rw,nosuid - tmpfs tmpfs rw,size=1k\n", i, i,
		              place);
		size_t k = n - i;
		snprintf(place, sizeof(place), k % 2 ? "/m/%zu" : "/mnt", k);
		if (i % 3)
			strbuf_printf(&file, "tmpfs %s tmpfs rw,nosuid,size=1k 0 0\n", place);
		else if (i % 2)
			strbuf_printf(&file, "tmpfs %s tmpfs rw,nosuid,size=2k,x-a=%zu 0\n", place,
			              i);
		else
			strbuf_printf(&file, "gar\\bage %s\n%zu /gone ext4 rw\n", place, i);
	}
	struct machine m = machine_new(strbuf_str(&table), REC_MTAB);
	double from = unit_cpu();
	char *made = rebuild(&m, strbuf_str(&file), file.len, REC_CHECKED);
	double to = unit_cpu();
	size_t lines = 0;
	for (const char *at = made; (at = strchr(at, '\n')); ++at)
		++lines;
	CU_ASSERT_EQUAL(lines, n - 1);
	free(made);
	machine_free(&m);
	return to - from;
}

UNIT_TEST(50_000_lines)
{
	double few = time_of(6250), many = time_of(50000);
	if (getenv("GETMNT_TIMES"))
		printf("\n6250: %.3f s, 50000: %.3f s\n", few, many);
	/* Eight times as much; a quadratic one takes 64 times as long. */
	CU_ASSERT(many < 24 * few + 0.5);
}

struct rebuilding {
	struct machine m;
	char *whole;           /* the result with memory */
};

static int rebuild_all(void *arg)
{
	const struct rebuilding *r = arg;
	struct rec_result j;
	STRBUF(made);
	int rc = rec_check(&r->m.in, &j), error = errno;
	if (rc == 0)
		rec_build(&r->m.in, &j, &made);
	if (rc == 0 && made.failed) {
		rc = -1;
		error = ENOMEM;
	}
	CU_ASSERT_TRUE(rc != 0 || strcmp(strbuf_str(&made), r->whole) == 0);
	rec_result_destroy(&j);
	errno = error;
	return rc;
}

UNIT_TEST(no_memory)
{
	static const char text[] =
	        ROOT "proc /proc proc rw,nosuid,x-a,user=b 0 0\n" TMP TMP "t\\043x /tmp/a\\040b\n"
	             "\\000 /srv x y\n"
	             "\ngarb\\age /mnt vfat rw,x-a 0 0";
	for (int format = REC_MTAB; format <= REC_SETMNT; ++format) {
		struct rebuilding r = {.m = machine_new(small, (enum rec_format)format)};
		struct tablines *lines = cut(&r.m, text, sizeof(text) - 1);
		r.whole = rebuild(&r.m, text, sizeof(text) - 1, REC_ALL);
		r.m.in.lines = lines;
		fault_each_allocation(rebuild_all, &r, 10);
		free(r.whole);
		tablines_free(lines);
		machine_free(&r.m);
	}
}
