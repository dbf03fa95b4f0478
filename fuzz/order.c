/* SPDX-License-Identifier: MIT */
/*
 * What is checked of an fstab before it is written.  The input: a byte of choices, an
 * old text, a byte 1, a new text, a byte 1; the rest is a mountinfo.
 *
 * Every damaged line is reported, or ignored; findings follow the order of lines, and are risks
 * only where the rule can be one; a text adds no risk to itself.  The graph of the lines has no
 * need outside of it, and --fix=order leaves no line before one that it needs.  Each mount of the
 * plan is judged once, and the plan's own lines reproduce all of them.  The kernel is not entered.
 */
#include "lib/fuzz.h"

#include "audit/live.h"
#include "audit/selfcheck.h"
#include "base/escape.h"
#include "base/words.h"
#include "fstab/target.h"
#include "fstab/edit/merge.h"
#include "fstab/match.h"
#include "fstab/order.h"
#include "fstab/reproduce.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct devmap_tags tags[] = {
	{.name = "/dev/x", .type = "ext4", .uuid = "u", .label = "#l \n", .partuuid = "p"},
	{.name = "/dev/y", .type = "xfs", .uuid = "v"},
};

/** Each device by a name of its own; a loop shows a file of its own. */
static struct made {
	struct made *next;
	uint64_t dev;
	struct devmap_tags tags;
	char name[48], file[48];
} *made;

static int device(void *arg, const struct mount *mount, const char *swap,
                  struct fstab_device *device)
{
	(void)swap;
	(void)arg;
	if (!mount)
		return 0;
	if (!mount->dev_major)
		return 0;
	struct made *one = made;
	while (one && one->dev != mount_dev(mount))
		one = one->next;
	if (!one) {
		one = fuzz_alloc(sizeof(*one));
		one->next = made;
		one->dev = mount_dev(mount);
		one->tags = (struct devmap_tags){.name = one->name};
		snprintf(one->name, sizeof(one->name), "/dev/%u:%u", mount->dev_major,
		         mount->dev_minor);
		snprintf(one->file, sizeof(one->file), "/mnt/%u:%u", mount->dev_major,
		         mount->dev_minor);
		made = one;
	}
	device->tags = &one->tags;
	if (mount->dev_major == 7)
		device->loop =
			(struct devmap_loop){one->file, mount->dev_minor, 0, mount->dev_minor == 5};
	return 0;
}

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	size_t n = strlen(source) % 4;
	if (device)
		*device = (struct fstab_device){.tags = &tags[n % 2], .remote = n == 3};
	return (int)n - 1;
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	(void)arg;
	size_t n = strlen(path);
	if (real && n % 5)
		strbuf_puts(real, n % 7 ? path : "/else/where");
	return (enum fact_kind)(n % (FACT_OTHER + 1));
}

static int answer(void *arg, enum fstab_question question, const char *name)
{
	(void)arg;
	return (int)((strlen(name) + question) % 3) - 1;
}

static void check_audit(const struct fstab_file *lines, const struct fstab_facts *facts)
{
	struct audit_report report;
	FUZZ_CHECK(audit_fstab(&(struct audit_input){lines, facts}, &report) == 0);
	size_t damaged = 0, told = 0, of[AUDIT_CRITICAL + 1] = {0};
	for (size_t i = 0; i < lines->count; ++i)
		damaged += lines->lines->lines[i].kind == TABLINE_DAMAGED;
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		FUZZ_CHECK(f->line >= 1 && f->line <= lines->count && f->code < AUDIT_CODES
		           && f->message && f->target);
		FUZZ_CHECK(i == 0 || report.findings[i - 1].line <= f->line);
		FUZZ_CHECK(f->severity <= audit_rules[f->code].severity
		           && (!f->boot || audit_rules[f->code].flags & AR_BOOT));
		told += lines->lines->lines[f->line - 1].kind == TABLINE_DAMAGED;
		++of[f->severity];
	}
	FUZZ_CHECK(told <= damaged && told + report.suppressed >= damaged);
	FUZZ_CHECK(memcmp(of, report.of, sizeof(of)) == 0);
	FUZZ_CHECK(audit_clear_old_risks(&report, &report) == 0);
	for (size_t i = 0; i < report.count; ++i)
		FUZZ_CHECK(!report.findings[i].boot);
	audit_report_destroy(&report);
}

/** What is mounted, against the file and by itself. */
static void check_drift(const struct fstab_file *lines, const struct fstab_input *live,
                        struct fstab_plan *plan)
{
	static const char *const include[] = {"container", "session", NULL};
	struct audit_report report;
	struct fstab_match match;
	FUZZ_CHECK(audit_fstab(&(struct audit_input){lines, &live->facts, live->d}, &report) == 0);
	FUZZ_CHECK(fstab_match(&(struct fstab_match_input){lines, plan, live->root, &live->facts},
	                       &match) == 0);
	FUZZ_CHECK(audit_own(plan, &match, lines, &live->facts) == 0);
	const struct audit_live in = {
		.d = live->d, .root = live->root, .facts = &live->facts,
		.file = lines, .plan = plan, .match = &match, .uptime = -1,
		.include = include + lines->count % 3, .mount_max = (long)lines->count,
	};
	FUZZ_CHECK(audit_drift(&in, &report) == 0);
	FUZZ_CHECK(audit_mounts(&in, &report) == 0);
	size_t of[AUDIT_CRITICAL + 1] = {0};
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		FUZZ_CHECK(f->code < AUDIT_CODES && f->severity <= audit_rules[f->code].severity
		           && *f->message && f->target);
		FUZZ_CHECK(f->line <= lines->count);
		/* Of a comment only that it asks for what there is not. */
		FUZZ_CHECK(f->line == 0 || lines->lines->lines[f->line - 1].kind >= TABLINE_ENTRY
		           || (lines->lines->lines[f->line - 1].kind == TABLINE_COMMENT
		               && f->code == FSTAB_SYNTAX
		               && f->severity == AUDIT_INFO));
		FUZZ_CHECK(f->line == 0 || !audit_line_ignores(&report, f->line, f->code));
		FUZZ_CHECK(i == 0 || report.findings[i - 1].line - 1 <= f->line - 1);
		++of[f->severity];
	}
	FUZZ_CHECK(memcmp(of, report.of, sizeof(of)) == 0);
	fstab_match_destroy(&match);
	audit_report_destroy(&report);
}

/** The lines of a text, for the graph.  @return how many. */
static uint32_t read_order(const struct fstab_file *lines, struct fstab_entry *out,
                           const struct fstab_entry **by, struct arena *arena)
{
	uint32_t n = 0;
	for (size_t i = 0; i < lines->count; ++i) {
		const struct tabline *line = &lines->lines->lines[i];
		if (line->kind != TABLINE_ENTRY)
			continue;
		fstab_entry_read(&out[n], line, arena);
		by[n] = &out[n];
		++n;
	}
	return n;
}

/** Check the graph of a text.  @return whether a line is before one that it needs, and there is
    no cycle. */
static bool check_order(const struct fstab_file *lines)
{
	struct fstab_entry *of = fuzz_alloc((lines->count + 1) * sizeof(*of));
	const struct fstab_entry **by = fuzz_alloc((lines->count + 1) * sizeof(*by));
	struct order_outcome *outcomes = fuzz_alloc((lines->count + 1) * sizeof(*outcomes));
	bool *seen = fuzz_alloc(lines->count + 1), late = false, cycle = false;
	memset(seen, 0, lines->count + 1);
	struct arena arena = {0};
	uint32_t n = read_order(lines, of, by, &arena);
	struct order order;
	struct order_finding *findings;
	order_make(by, n, &arena, &order);
	FUZZ_CHECK(arena_check(&arena) == 0);
	for (uint32_t i = 0; i < n; ++i) {
		FUZZ_CHECK(order.sequence[i] < n && !seen[order.sequence[i]]
		           && order.begin[i] <= order.begin[i + 1]);
		seen[order.sequence[i]] = true;
		for (uint32_t at = order.begin[i]; at < order.begin[i + 1]; ++at)
			FUZZ_CHECK(order.needs[at].line < n && order.needs[at].line != i
			           && order.needs[at].path);
	}
	size_t count = order_check(&order, NULL, &findings);
	for (size_t i = 0; i < count; ++i) {
		const struct order_finding *f = &findings[i];
		FUZZ_CHECK(f->line < n && f->kind < ORDER_KINDS
		           && (i == 0 || findings[i - 1].line <= f->line));
		FUZZ_CHECK(f->fault == ORDER_NOWHERE ? f->other == ORDER_NONE
		                                     : f->other < n && f->other != f->line);
		late |= f->fault == ORDER_LATE;
	}
	for (uint32_t i = 0; i < n; ++i)
		cycle |= (order.flags[i] & ORDER_IN_CYCLE) != 0;
	for (int systemd = 0; systemd < 2; ++systemd) {
		order_run(&order, systemd, NULL, outcomes);
		for (uint32_t i = 0; i < n; ++i)
			FUZZ_CHECK((outcomes[i].lack >= ORDER_LACKS_OTHER)
			           == (outcomes[i].other < n));
	}
	arena_destroy(&arena);
	free(of);
	free(by);
	free(outcomes);
	free(seen);
	return late && !cycle;
}

/** Sort a text by --fix=order: no line is before one that it needs then. */
static void check_sorted(const struct fstab_file *lines, const struct fstab_match_input *match)
{
	struct fstab_merge_input in = {.match = *match};
	struct fstab_merged merged;
	in.match.file = lines;
	in.fix = FSTAB_FIX_ORDER;
	FUZZ_CHECK(fstab_merge(&in, &merged) == 0);
	struct fstab_file *sorted = fstab_parse(merged.text, merged.len);
	FUZZ_CHECK(sorted);
	FUZZ_CHECK(!check_order(sorted));
	fstab_file_free(sorted);
	fstab_merged_destroy(&merged);
}

static void check_reproduction(const struct fstab_match_input *match,
                               const struct fstab_file *lines)
{
	const struct fstab_plan *plan = match->plan;
	struct reproduction got;
	FUZZ_CHECK(reproduce(&(struct reproduce_input){lines, match, NULL, NULL}, &got) == 0);
	size_t wanted = 0, same = 0, k = 0;
	for (size_t i = 0; i < plan->count; ++i)
		wanted += plan->lines[i].fate == FSTAB_LINE && plan->lines[i].mount;
	FUZZ_CHECK(got.mounts == wanted && got.same <= wanted && got.systemd <= wanted);
	for (size_t i = 0; i < plan->count; ++i) {
		if (plan->lines[i].fate != FSTAB_LINE)
			continue;
		FUZZ_CHECK(k < got.count && got.items[k].want == &plan->lines[i]);
		same += got.items[k].want->mount && got.items[k].verdict == REPRODUCE_SAME;
		++k;
	}
	FUZZ_CHECK(same == got.same);
	for (size_t i = 0; i < got.count; ++i)
		FUZZ_CHECK(got.items[i].target
		           && (got.items[i].verdict == REPRODUCE_SAME) == !got.items[i].why);
	reproduction_destroy(&got);
}

/** Whether a mount shows a subvolume that its root is in, or none. */
static bool has_subvolume(const struct mount *m)
{
	const char *subvol = m->fs_opts ? strstr(m->fs_opts, "subvol=") : NULL;
	if (!subvol)
		return true;
	subvol += strlen("subvol=");
	size_t n = strcspn(subvol, ",");
	return n && *subvol == '/'
	       && (n == 1
	           || (strncmp(m->root, subvol, n) == 0 && (!m->root[n] || m->root[n] == '/')));
}

/** Whether a table is one that a kernel could give: a tree, names that are normal and
    below those of their parents, a device that has one type and source. */
static bool is_sane(const struct discovery *d)
{
	unsigned roots = 0;
	if (d->table->nproblems)
		return false;
	for (uint32_t i = 0; i < d->tree.count; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		const char *names[] = {m->point, m->root};
		roots += d->tree.nodes[i].parent == MT_NONE;
		if (d->tree.nodes[i].odd & (MT_ODD_CYCLE | MT_ODD_DUPLICATE) || roots > 1)
			return false;
		uint32_t parent = d->tree.nodes[i].parent;
		if (parent != MT_NONE && m->point && d->tree.nodes[parent].mount->point
		    && !word_below(m->point, d->tree.nodes[parent].mount->point))
			return false;
		for (size_t k = 0; k < 2; ++k) {
			const char *name = names[k];
			if (!name || *name != '/' || strstr(name, "//") || strstr(name, "/.")
			    || (name[1] && name[strlen(name) - 1] == '/'))
				return false;
		}
		if (!has_subvolume(m))
			return false;
		/* What has no number of a device has no device. */
		if (!m->dev_major && m->source && strncmp(m->source, "/dev/", 5) == 0)
			return false;
		for (uint32_t k = 0; k < i; ++k) {
			const struct mount *other = d->tree.nodes[k].mount;
			if (mount_dev(m) == mount_dev(other)
			    && (!m->fstype || !other->fstype || strcmp(m->fstype, other->fstype)
			        || !m->source || !other->source
			        || strcmp(m->source, other->source)))
				return false;
		}
	}
	return true;
}

/** The lines of the plan reproduce its mounts, of a table that a kernel could give. */
static void check_own(const struct fstab_match_input *match, const struct discovery *d)
{
	const struct fstab_plan *plan = match->plan;
	struct strbuf text;
	strbuf_init(&text);
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->fate != FSTAB_LINE)
			continue;
		escape_first_field(&text, line->source, ESCAPE_PATH, false);
		const char *const fields[] = {line->target, line->fstype, line->options};
		for (size_t k = 0; k < 3; ++k) {
			strbuf_putc(&text, ' ');
			escape_octal(&text, fields[k], ESCAPE_PATH, false);
		}
		strbuf_puts(&text, " 0 0\n");
	}
	struct fstab_file *lines = fstab_parse(strbuf_str(&text), text.len);
	FUZZ_CHECK(lines);
	struct reproduction got;
	FUZZ_CHECK(reproduce(&(struct reproduce_input){lines, match, NULL, NULL}, &got) == 0);
	for (size_t i = 0; i < got.count && is_sane(d); ++i) {
		if (got.items[i].want && got.items[i].want->mount
		    && got.items[i].verdict != REPRODUCE_SAME)
			fuzz_same(got.items[i].why, "same", strbuf_str(&text), __FILE__, __LINE__);
	}
	reproduction_destroy(&got);
	fstab_file_free(lines);
	strbuf_destroy(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	size_t old_len, len, n;
	unsigned choices = fuzz_byte(&in);
	const char *old = fuzz_until(&in, 1, &old_len), *new = fuzz_until(&in, 1, &len);
	const char *at = fuzz_bytes(&in, size, &n);
	old = old_len ? old : "";
	new = len ? new : "";
	struct fstab_facts facts = {
		.device = device, .devices = choices & 1 ? devices : NULL,
		.look = choices & 2 ? look : NULL, .answer = choices & 4 ? answer : NULL,
	};
	struct fstab_swap swaps[] = {{.name = "/dev/s", .priority = 1},
	                             {.name = "/s w", .file = true, .priority = -1}};
	struct fstab_input live = {
		.d = fuzz_discover(at, n),
		.root = choices & 16 ? "/mnt" : "/",
		.id = FSTAB_PATH,
		.options = choices & 32 ? FSTAB_LIVE : FSTAB_MINIMAL,
		.swaps = swaps,
		.nswaps = choices & 64 ? 2 : 0,
		.facts = facts,
	};
	struct fstab_file *lines = fstab_parse(new, len);
	FUZZ_CHECK(lines);
	check_audit(lines, &facts);
	if (live.d->table->count) {
		struct fstab_plan plan;
		FUZZ_CHECK(fstab_plan(&live, &plan) == 0);
		check_drift(lines, &live, &plan);
		struct fstab_match_input match = {NULL, &plan, live.root, &live.facts};
		check_order(lines);
		check_sorted(lines, &match);
		check_reproduction(&match, lines);
		check_own(&match, live.d);
		struct selfcheck check;
		FUZZ_CHECK(selfcheck_make(&(struct selfcheck_input){old, old_len, new, len, live.d,
		                                                    &match}, &check) == 0);
		for (size_t i = 0; i < check.nnotes + check.nrisks; ++i) {
			const char *line =
				i < check.nnotes ? check.notes[i] : check.risks[i - check.nnotes];
			FUZZ_CHECK(*line && !strchr(line, '\n'));
		}
		selfcheck_destroy(&check);
		fstab_plan_destroy(&plan);
	}
	fstab_file_free(lines);
	fuzz_discovery_free(live.d);
	while (made) {
		struct made *next = made->next;
		free(made);
		made = next;
	}
	return 0;
}
