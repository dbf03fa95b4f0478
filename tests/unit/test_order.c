/* SPDX-License-Identifier: MIT */
/*
 * What the lines of an fstab need of each other: the texts and findings of
 * tests/fixtures/fstab/order; and that the audit and the merge give the same answer, which is
 * that of the graph.
 */
#include "unit.h"

#include "cases.h"
#include "audit/rules.h"
#include "base/escape.h"
#include "fault.h"
#include "fstab/target.h"
#include "fstab/edit/merge.h"
#include "fstab/order.h"
#include "mounts/table.h"

/** A text taken apart. */
struct parsed {
	struct fstab_file *lines;
	struct fstab_entry *of;
	const struct fstab_entry **by;
	uint32_t *number, n;
	struct arena arena;
	struct order order;
};

/** /link leads to /srv/real. */
static int follow(void *arg, const char *target, struct strbuf *path)
{
	(void)arg;
	bool link = strncmp(target, "/link", 5) == 0 && (!target[5] || target[5] == '/');
	strbuf_printf(path, "%s%s", link ? "/srv/real" : "", link ? target + 5 : target);
	return 1;
}

static void parse(struct parsed *p, const char *text)
{
	*p = (struct parsed){.lines = fstab_parse(text, strlen(text))};
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->lines);
	p->of = arena_new(&p->arena, p->lines->count, sizeof(*p->of));
	p->by = arena_new(&p->arena, p->lines->count, sizeof(*p->by));
	p->number = arena_new(&p->arena, p->lines->count, sizeof(*p->number));
	for (size_t i = 0; i < p->lines->count; ++i) {
		const struct tabline *line = &p->lines->lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		struct fstab_entry *entry = &p->of[p->n];
		fstab_entry_read(entry, line, &p->arena);
		STRBUF(real);
		follow(NULL, entry->target, &real);
		entry->real = entry->path ? fstab_normal(&p->arena, strbuf_str(&real)) : NULL;
		p->number[p->n] = line->number;
		p->by[p->n++] = entry;
	}
	order_make(p->by, p->n, &p->arena, &p->order);
	CU_ASSERT_EQUAL_FATAL(arena_check(&p->arena), 0);
}

static void end(struct parsed *p)
{
	arena_destroy(&p->arena);
	fstab_file_free(p->lines);
}

static const char *const faults[] = {
	[ORDER_LATE] = "late",           [ORDER_CYCLE] = "cycle",   [ORDER_DEADLOCK] = "deadlock",
	[ORDER_UNORDERED] = "unordered", [ORDER_NOAUTO] = "noauto", [ORDER_OPTIONAL] = "optional",
	[ORDER_NOWHERE] = "nowhere",     [ORDER_ROOT] = "root",
};
static const char *const kinds[ORDER_KINDS] = {
	[ORDER_PARENT] = "parent",     [ORDER_BIND] = "bind",     [ORDER_SOURCE] = "source",
	[ORDER_LAYER] = "layer",       [ORDER_BRANCH] = "branch", [ORDER_SWAP] = "swap",
	[ORDER_REQUIRES] = "requires", [ORDER_AFTER] = "after",   [ORDER_LINK] = "link",
};

static char text[8192];

/** The findings of a text: "late 1 parent 2, ...". */
static const char *judged(const char *fstab)
{
	struct parsed p;
	struct order_finding *findings;
	parse(&p, fstab);
	size_t count = order_check(&p.order, NULL, &findings);
	size_t n = 0;
	text[0] = '\0';
	for (size_t i = 0; i < count; ++i) {
		const struct order_finding *f = &findings[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %u %s %u", n ? ", " : "",
		                      faults[f->fault], p.number[f->line], kinds[f->kind],
		                      f->other == ORDER_NONE ? 0 : p.number[f->other]);
	}
	end(&p);
	return text;
}

#define AB "t /a tmpfs\nt /a/b tmpfs\n"
#define BA "t /a/b tmpfs\nt /a tmpfs\n"

static void check_findings(const char *row, const char *findings)
{
	unit_expect(judged(unit_lines(strstr(row, ": ") + 2)), findings);
}

UNIT_TEST(findings)
{
	CU_ASSERT(unit_each_row("tests/fixtures/fstab/order", check_findings) > 80);
}

/* The audit and the merge. */

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	if (real)
		follow(arg, path, real);
	return FACT_DIR;
}

/** A set of line numbers, below 64. */
static uint64_t bit(uint32_t number)
{
	CU_ASSERT_FATAL(number < 64);
	return UINT64_C(1) << number;
}

/** The lines that mount -a mounts too early, by the graph. */
static uint64_t late_by_graph(const char *fstab)
{
	uint64_t lines = 0;
	for (const char *at = judged(fstab); (at = strstr(at, "late ")) != NULL; ++at)
		lines |= bit((uint32_t)strtoul(at + 5, NULL, 10));
	return lines;
}

static uint64_t late_by_audit(const struct fstab_file *lines)
{
	uint64_t found = 0;
	const struct fstab_facts facts = {.look = look};
	struct audit_report report;
	CU_ASSERT_EQUAL_FATAL(
		audit_fstab(&(struct audit_input){.file = lines, .facts = &facts}, &report), 0);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		bool late = strstr(f->message, "after it") || strstr(f->message, "need each other");
		found |= f->code == FSTAB_ORDER && late ? bit(f->line) : 0;
	}
	audit_report_destroy(&report);
	return found;
}

/** @fix  Sort them. */
static uint64_t late_by_merge(const struct fstab_file *lines, bool fix, char **sorted)
{
	static const char table[] = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n";
	uint64_t found = 0;
	struct discovery *d = unit_discover(table);
	struct fstab_input live = {.d = d, .root = "/", .facts.look = look};
	struct fstab_plan plan;
	struct fstab_merged merged;
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&live, &plan), 0);
	struct fstab_merge_input in = {
		.match = {lines, &plan, "/", &live.facts},
		.fix = fix ? FSTAB_FIX_ORDER : 0,
	};
	CU_ASSERT_EQUAL_FATAL(fstab_merge(&in, &merged), 0);
	for (size_t i = 0; i < merged.nnotes; ++i)
		found |= merged.notes[i].kind == FSTAB_NOTE_ORDER
		                 ? bit(merged.notes[i].line->number)
		                 : 0;
	if (sorted)
		*sorted = strndup(merged.text, merged.len);
	fstab_merged_destroy(&merged);
	fstab_plan_destroy(&plan);
	unit_discovery_free(d);
	return found;
}

static size_t late_rows;

static void check_same_answer(const char *row, const char *findings)
{
	const char *fstab = unit_lines(strstr(row, ": ") + 2);
	struct fstab_file *lines = fstab_parse(fstab, strlen(fstab));
	char *sorted;
	uint64_t graph = late_by_graph(fstab);
	bool cycle = strstr(findings, "cycle");
	late_rows += graph != 0;
	CU_ASSERT(cycle || late_by_audit(lines) == graph);
	CU_ASSERT(late_by_merge(lines, false, NULL) == graph);
	late_by_merge(lines, true, &sorted);
	CU_ASSERT(cycle || late_by_graph(sorted) == 0);
	free(sorted);
	fstab_file_free(lines);
}

/** All three say the same of each text; and of one that was sorted, nothing. */
UNIT_TEST(audit_and_merge_give_the_same_answer)
{
	unit_each_row("tests/fixtures/fstab/order", check_same_answer);
	CU_ASSERT(late_rows >= 15);
}

/* What is mounted. */

UNIT_TEST(what_is_mounted)
{
	static const struct {
		const char *fstab;
		bool systemd;
		const char *mounted;   /* of each line: y, or what it lacks */
	} runs[] = {
		{AB, false, "yy"},
		{BA, false, "oy"},
		{BA, true, "yy"},
		{"t /a tmpfs noauto\nt /a/b tmpfs\n", false, "bo"},
		{"t /a tmpfs noauto\nt /a/b tmpfs\n", true, "by"},
		{"t /a tmpfs\nt /a tmpfs\n", false, "py"},
		{"t /a tmpfs\nt /a tmpfs\n", true, "yp"},
		/* systemd reads the first line of a mount point, even if it is noauto. */
		{"t /a tmpfs noauto\nt /a tmpfs\n", false, "by"},
		{"t /a tmpfs noauto\nt /a tmpfs\nt /a/b tmpfs\n", true, "bpy"},
		{"t /a tmpfs\nt /a tmpfs noauto\n", true, "yb"},
		{"t /a tmpfs\nt /a tmpfs noauto,x-systemd.automount\n", false, "yp"},
		{"t /a tmpfs noauto,x-systemd.automount\nt /a tmpfs\n", true, "yp"},
		{"/b/x /a none bind\n/a/x /b none bind\n/b/z /c none bind\n", false, "ooo"},
		{"/b/x /a none bind\n/a/x /b none bind\n/b/z /c none bind\n", true, "ooo"},
		{"/a/x /b none bind\nt /a tmpfs\nt /b/c tmpfs\n", false, "oyo"},
	};
	for (size_t i = 0; i < COUNT(runs); ++i) {
		struct parsed p;
		struct order_outcome outcomes[8];
		char got[8] = "";
		parse(&p, runs[i].fstab);
		order_run(&p.order, runs[i].systemd, NULL, outcomes);
		for (uint32_t k = 0; k < p.n; ++k)
			got[k] = "yibop"[outcomes[k].lack];
		unit_note("%s", runs[i].fstab);
		unit_expect(got, runs[i].mounted);
		end(&p);
	}
}

/* Much. */

/** 100,000 lines of the worst forms, each in little more time than 10,000. */
UNIT_TEST(many)
{
	/* '@' is a number, '%' another. */
	static const char *const forms[] = {
		"/m@/x /m% none bind\n",                  /* a chain */
		"t /same tmpfs\nt /same/@ tmpfs\n",       /* one place */
		"o /o@ overlay lowerdir=/same/a:/same/b:/same/c,upperdir=/m%,workdir=/w\n",
		"/m*/x:/same/* /u@ fuse.mergerfs\nt /m% tmpfs\n",
		"t /a@ tmpfs x-systemd.before=/a%,x-systemd.requires=/none\n",
	};
	unsigned many = unit_step() >= 100 ? 10000 : 100000;
	for (size_t k = 0; k < COUNT(forms); ++k) {
		double took[2];
		for (unsigned part = 0; part < 2; ++part) {
			STRBUF(fstab);
			unsigned lines = part ? many : many / 10;
			for (unsigned i = 0; i < lines; ++i) {
				for (const char *at = forms[k]; *at; ++at) {
					if (*at == '@' || *at == '%')
						strbuf_printf(&fstab, "%u",
						              *at == '@' ? i : (i * 7 + 1) % lines);
					else
						strbuf_putc(&fstab, *at);
				}
			}
			struct parsed p;
			struct order_finding *findings;
			struct order_outcome *outcomes = calloc(2 * lines, sizeof(*outcomes));
			double began = unit_cpu();
			parse(&p, strbuf_str(&fstab));
			order_check(&p.order, NULL, &findings);
			order_run(&p.order, true, NULL, outcomes);
			took[part] = unit_cpu() - began;
			free(outcomes);
			end(&p);
		}
		CU_ASSERT(took[1] < 40 * took[0] + 0.5);
	}
}

static int make_and_judge(void *arg)
{
	const struct parsed *p = arg;
	struct arena arena = {0};
	struct order order;
	struct order_finding *findings;
	order_make(p->by, p->n, &arena, &order);
	order_check(&order, NULL, &findings);
	int rc = arena_check(&arena);
	arena_destroy(&arena);
	return rc;
}

UNIT_TEST(no_memory)
{
	struct parsed p;
	parse(&p, "o /o overlay lowerdir=/a/l:/b\n"
	      "t /a tmpfs x-systemd.before=/o,x-systemd.requires=/q\n"
	      "mergerfs#/a:/d* /m fuse\nt /d1 tmpfs\n/b/x /a none bind\n");
	fault_each_allocation(make_and_judge, &p, 10);
	end(&p);
}
