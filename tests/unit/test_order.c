/* SPDX-License-Identifier: MIT */
/*
 * What the lines of an fstab need of each other: a table of texts and findings; and that the audit
 * and the merge give the same answer, which is that of the graph.
 */
#include "unit.h"

#include "cases.h"
#include "audit/rules.h"
#include "base/escape.h"
#include "fault.h"
#include "fstab/places.h"
#include "fstab/edit/merge.h"
#include "fstab/order.h"
#include "table/table.h"

/** A text taken apart. */
struct parsed {
	struct tablines *lines;
	struct order_line *of;
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

static const char *decoded(struct arena *arena, const char *options)
{
	char *copy = arena_strndup(arena, options, strlen(options));
	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	copy[unescape_octal(copy, copy, strlen(copy))] = '\0';
	return copy;
}

static void parse(struct parsed *p, const char *text)
{
	*p = (struct parsed){.lines = tablines_parse(text, strlen(text))};
	CU_ASSERT_PTR_NOT_NULL_FATAL(p->lines);
	arena_init(&p->arena);
	p->of = calloc(p->lines->count + 1, sizeof(*p->of));
	p->number = calloc(p->lines->count + 1, sizeof(*p->number));
	for (size_t i = 0; i < p->lines->count; ++i) {
		const struct tabline *line = &p->lines->lines[i];
		const char *target = tabline_value(line, TABLINE_TARGET),
			   *options = tabline_value(line, TABLINE_OPTIONS);
		if (line->kind != TABLINE_ENTRY)
			continue;
		struct strbuf real;
		strbuf_init(&real);
		follow(NULL, target, &real);
		bool swap = strcmp(tabline_value(line, TABLINE_FSTYPE), "swap") == 0;
		p->number[p->n] = line->number;
		p->of[p->n++] = (struct order_line){
			.source = tabline_value(line, TABLINE_SOURCE),
			.fstype = tabline_value(line, TABLINE_FSTYPE),
			.options = decoded(&p->arena, options ? options : ""),
			.path = swap ? NULL : fstab_normal(&p->arena, strbuf_str(&real))};
		strbuf_destroy(&real);
	}
	CU_ASSERT_EQUAL_FATAL(order_make(p->of, p->n, &p->order), 0);
}

static void end(struct parsed *p)
{
	order_destroy(&p->order);
	arena_destroy(&p->arena);
	tablines_free(p->lines);
	free(p->of);
	free(p->number);
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
	struct order_finding *findings = NULL;
	parse(&p, fstab);
	ssize_t count = order_judge(&p.order, NULL, &findings);
	CU_ASSERT_FATAL(count >= 0);
	size_t n = 0;
	text[0] = '\0';
	for (ssize_t i = 0; i < count; ++i) {
		const struct order_finding *f = &findings[i];
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s %u %s %u", n ? ", " : "",
		                      faults[f->fault], p.number[f->line], kinds[f->kind],
		                      f->other == ORDER_NONE ? 0 : p.number[f->other]);
	}
	free(findings);
	end(&p);
	return text;
}

#define AB "t /a tmpfs\nt /a/b tmpfs\n"
#define BA "t /a/b tmpfs\nt /a tmpfs\n"
#define NFS "s:/x /nfs nfs defaults\n"

/** Texts, and what is wrong with them. */
static const struct {
	const char *name, *fstab, *findings;
} rows[] = {
	{"parents first", AB, ""},
	{"a parent after it", BA, "late 1 parent 2"},
	{"names are compared by component", "t /ab/c tmpfs\nt /a tmpfs\n", ""},
	{"the lowest of two", "t /a/b/c tmpfs\nt /a tmpfs\nt /a/b tmpfs\n", "late 1 parent 3"},
	{"a path with more slashes", "t /a//b/ tmpfs\nt /./a/ tmpfs\n", "late 1 parent 2"},
	{"by a symlink", "t /link tmpfs\nt /srv tmpfs\n", "late 1 parent 2"},
	{"a symlink above", "t /link/x tmpfs\nt /srv/real tmpfs\n", "late 1 parent 2"},
	{"noauto is not mounted", "t /a/b tmpfs\nt /a tmpfs noauto\n", "noauto 1 parent 2"},
	{"noauto needs nothing", "t /a/b tmpfs noauto\nt /a tmpfs\n", ""},
	{"noauto counts, whatever follows", "t /a/b tmpfs noauto,auto\nt /a tmpfs\n", ""},
	{"an automount comes when it is needed",
         "t /a/b tmpfs\nt /a tmpfs noauto,x-systemd.automount\n", ""},
	{"an automount finds what it needs", "t /a/b tmpfs x-systemd.automount\nt /a tmpfs\n", ""},
	{"the second line of a place covers", "t /a tmpfs\nt /a/b tmpfs\nt /a tmpfs\n",
         "late 2 parent 3"},
	{"the first line of a place is bound", "t /a tmpfs\n/a/x /b none bind\nt /a tmpfs\n", ""},
	{"a bind", "/a/x /b none bind\nt /a tmpfs\n", "late 1 bind 2"},
	{"a bind of a mount point", "/a /b none rbind\nt /a tmpfs\n", "late 1 bind 2"},
	{"a remount mounts nothing",
         "t /a tmpfs\nt /a/b tmpfs\nt /a tmpfs remount,ro\n/a/x /c none bind\n", ""},
	{"a bind onto itself", "/a /a none bind\nt /a tmpfs\n", ""},
	{"a bind without bind", "/a/x /b none defaults\nt /a tmpfs\n", ""},
	{"a move", "/a/x /b none move\nt /a tmpfs\n", ""},
	{"bind and parent", "/a/x /c/b none bind\nt /a tmpfs\nt /c tmpfs\n",
         "late 1 parent 3, late 1 bind 2"},
	{"an image", "/a/i /b ext4 loop\nt /a tmpfs\n", "late 1 source 2"},
	{"an image of an unknown type", "/a/i /b auto defaults\nt /a tmpfs\n", "late 1 source 2"},
	{"a device is no path of a line", "/dev/sda1 /b ext4\nt /dev tmpfs\n", ""},
	{"a name that looks like a path", "/a/x /b tmpfs\nt /a tmpfs\n", ""},
	{"a share", "//a/x /b cifs\nt /a tmpfs\n", ""},
	{"layers", "o /o overlay lowerdir=/l\\\\:x:/a/l,upperdir=/u,workdir=/w\nt /a tmpfs\n",
         "late 1 layer 2, unordered 1 layer 2"},
	{"layers that systemd knows of",
         "t /a tmpfs\no /o overlay lowerdir=/a/l:/b,x-systemd.requires-mounts-for=/a/l\n", ""},
	{"words that systemd reads",
         "t /a\\040b tmpfs\nt /c tmpfs\no /o overlay lowerdir=/a\\040b/l:/c,"
         "x-systemd.requires-mounts-for=/c\\040'/a\\040b'\n", ""},
	{"a backslash keeps a blank", "t /a\\040b tmpfs\no /o overlay lowerdir=/a\\040b/l:/c,"
         "x-systemd.requires-mounts-for=/a\\134\\040b\n", ""},
	{"a blank separates words", "t /a\\040b tmpfs\no /o overlay lowerdir=/a\\040b/l:/c,"
         "x-systemd.requires-mounts-for=/a\\040b\n", "unordered 2 layer 1"},
	{"a quotation mark stays open", "t /a'b tmpfs\no /o overlay lowerdir=/a'b/l:/c,"
         "x-systemd.requires-mounts-for=/a'b\n", "unordered 2 layer 1"},
	{"a path that is not normal", "t /a tmpfs\no /o overlay lowerdir=/a/l:/c,"
         "x-systemd.requires-mounts-for=/b/../a\n", "unordered 2 layer 1"},
	{"requires by path and by unit", "t /a\\040b tmpfs\nt /c\\040d tmpfs\no /o overlay "
         "lowerdir=/a\\040b/l:/c\\040d/l,x-systemd.requires=/a\\040b,"
         "x-systemd.requires=c\\134x20d.mount\n", ""},
	{"layers below the mount point", "t /a tmpfs\no /a/o overlay lowerdir=/a/l:/a/m\n", ""},
	{"layers of a network mount, which comes later",
         "t /a tmpfs\no /o overlay lowerdir=/a/l:/b,_netdev\n", ""},
	/* Of the whole source as a path systemd sees /a. */
	{"mergerfs", "/a/1:/b=RW:/c /m fuse.mergerfs\nt /a tmpfs\nt /c tmpfs\n",
         "late 1 source 2, late 1 branch 2, unordered 1 branch 3"},
	{"mergerfs of version 3", "/b:/a /m fuse3.mergerfs\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"mergerfs, branches as an option", "x /m mergerfs ro,branches=/b:/a\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"unionfs-fuse, branches as an option",
         "x /m fuse.unionfs-fuse dirs=/b=RW:/a=RO,cow\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"unionfs-fuse by itself", "/b=RW:/a=RO /m unionfs-fuse cow\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"unionfs of the kernel", "none /m unionfs dirs=/b=rw:/a=ro\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"fuse-overlayfs",
         "x /m fuse.fuse-overlayfs lowerdir=/l,upperdir=/a/u,workdir=/a/w\nt /a tmpfs\n",
         "late 1 layer 2, unordered 1 layer 2"},
	{"fuse-overlayfs in the source", "fuse-overlayfs#x /m fuse lowerdir=/l:/a/l\nt /a tmpfs\n",
         "late 1 layer 2, unordered 1 layer 2"},
	{"mergerfs by a pattern",
         "/d/* /m fuse.mergerfs allow_other\nt /d/1 tmpfs\nt /d/1/x tmpfs\nt /e tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"mergerfs in the source", "mergerfs#/a:/b /m fuse\nt /b tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"mhddfs", "mhddfs#/a,/b /m fuse\nt /b tmpfs\n", "late 1 branch 2, unordered 1 branch 2"},
	{"aufs", "none /m aufs br=/a/x=rw:/b=ro\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"aufs, by another spelling", "none /m aufs br:/b:/a=ro\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"FUSE over a directory, unseen", "bindfs#/a/x /m fuse\nt /a tmpfs\n",
         "late 1 branch 2, unordered 1 branch 2"},
	{"FUSE over a directory", "/a/x /m fuse.bindfs\nt /a tmpfs\n", "late 1 source 2"},
	{"sshfs", "h:/a /m fuse.sshfs\nt /a tmpfs\n", ""},
	{"swap is later than mount -a", "/a/swap none swap\nt /a tmpfs\n", ""},
	{"swap on what is not mounted", "/a/swap none swap\nt /a tmpfs noauto\n",
         "noauto 1 swap 2"},
	{"a cycle", "/b/x /a none bind\n/a/x /b none bind\n",
         "late 1 bind 2, cycle 1 bind 2, cycle 2 bind 1"},
	{"a cycle of systemd's alone",
         "t /a tmpfs x-systemd.after=b.mount\nt /b tmpfs x-systemd.after=/a\n",
         "cycle 1 after 2, cycle 2 after 1"},
	{"before is after, turned round",
         "t /a tmpfs x-systemd.before=/b\nt /b tmpfs x-systemd.before=a.mount\n",
         "cycle 1 after 2, cycle 2 after 1"},
	{"a cycle with a parent", "t /a tmpfs x-systemd.requires=/a/b\nt /a/b tmpfs\n",
         "cycle 1 requires 2, cycle 2 parent 1"},
	{"requires what no line mounts", "t /a tmpfs x-systemd.requires=/q\n",
         "nowhere 1 requires 0"},
	{"requires a device or service",
         "t /a tmpfs x-systemd.requires=/dev/x,x-systemd.requires=y.service\n", ""},
	{"requires noauto", "t /a tmpfs x-systemd.requires=/q\nt /q tmpfs noauto\n",
         "noauto 1 requires 2"},
	{"a bind of the network", NFS "/nfs/x /b none bind\n", "deadlock 2 bind 1"},
	{"a disk below the network", NFS "t /nfs/x tmpfs\n", "deadlock 2 parent 1"},
	{"a swap file on the network", NFS "/nfs/x none swap\n", "deadlock 2 swap 1"},
	{"of the network as well", NFS "/nfs/x /b none bind,_netdev\n", ""},
	{"nofail is not waited for", NFS "/nfs/x /b none bind,nofail\n", ""},
	{"by way of nofail", NFS "/nfs/x /b none bind,nofail\n/b/y /c none bind\n",
         "deadlock 3 bind 2, optional 3 bind 2"},
	{"by way of a wrong line: once", NFS "/nfs/x /b none bind\n/b/y /c none bind\n",
         "deadlock 2 bind 1"},
	{"an automount unit below the network", NFS "t /nfs/x tmpfs x-systemd.automount\n",
         "deadlock 2 parent 1"},
	{"a mount that waits binds the network", NFS "/nfs/x /b none bind,x-systemd.automount\n",
         ""},
	{"layers on the network",
         NFS "o /o overlay lowerdir=/nfs/l,upperdir=/nfs/u,workdir=/nfs/w\n",
         "deadlock 2 layer 1"},
	{"layers on the network: ordered, but too early",
         NFS "o /o overlay lowerdir=/nfs/l:/l,x-systemd.requires-mounts-for=/nfs\n",
         "deadlock 2 layer 1, deadlock 2 requires 1"},
	{"layers on the network: late enough, but unordered",
         NFS "o /o overlay lowerdir=/nfs/l:/l,_netdev\n", "unordered 2 layer 1"},
	{"layers on the network: both",
         NFS "o /o overlay lowerdir=/nfs/l:/l,_netdev,x-systemd.requires-mounts-for=/nfs\n",
         ""},
	{"layers on the network: nofail",
         NFS "o /o overlay lowerdir=/nfs/l:/l,nofail,x-systemd.requires-mounts-for=/nfs\n", ""},
	{"layers on a disk of the network", "d /d ext4 _netdev\no /o overlay lowerdir=/d/l:/l\n",
         "deadlock 2 layer 1"},
	{"layers of an automount of the network",
         "s:/x /n nfs noauto,x-systemd.automount\no /o overlay lowerdir=/n/l:/l\n",
         "deadlock 2 layer 1"},
	{"layers of an automount of the network: _netdev",
         "s:/x /n nfs noauto,x-systemd.automount\no /o overlay lowerdir=/n/l:/l,_netdev\n", ""},
	{"a bind of an automount of the network",
         "s:/x /n nfs noauto,x-systemd.automount\n/n/x /b none bind\n", "deadlock 2 bind 1"},
	{"branches on the network",
         "//s/a /d/a cifs\n//s/b /d/b cifs\n/d/a:/d/b /m fuse.mergerfs\n",
         "deadlock 3 branch 1"},
	{"branches on the network, by a pattern",
         "//s/a /d/a cifs\n//s/b /d/b cifs\n/d/* /m fuse.mergerfs\n", "deadlock 3 branch 1"},
	{"branches on the network, of another union",
         "//s/a /d/a cifs\nunionfs-fuse#/d/a=RW:/l=RO /m fuse\n", "deadlock 2 branch 1"},
	{"a boot can do without what it needs", "t /a tmpfs nofail\nt /a/b tmpfs\n",
         "optional 2 parent 1"},
	{"the nearest counts", "t /a tmpfs nofail\nt /a/b tmpfs nofail\nt /a/b/c tmpfs\n",
         "optional 3 parent 2"},
	{"the root last", "t /a tmpfs\nx / ext4\n", "root 1 parent 2"},
	{"a bind of the root", "/ /a none bind\nx / ext4\n", "root 1 parent 2"},
	{"ignored types", "t /a/b tmpfs\nt /a ignore\n", "noauto 1 parent 2"},
};

UNIT_TEST(findings)
{
	for (size_t i = 0; i < COUNT(rows); ++i) {
		bool good = strcmp(judged(rows[i].fstab), rows[i].findings) == 0;
		if (!good)
			printf("%s: %s\n", rows[i].name, text);
		CU_ASSERT_TRUE(good);
	}
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

static uint64_t late_by_audit(const struct tablines *lines)
{
	uint64_t found = 0;
	const struct fstab_facts facts = {.look = look};
	struct audit_report report;
	CU_ASSERT_EQUAL_FATAL(
		audit_fstab(&(struct audit_input){.lines = lines, .facts = &facts}, &report), 0);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		bool late = strstr(f->message, "after it") || strstr(f->message, "need each other");
		found |= f->code == FSTAB_ORDER && late ? bit(f->line) : 0;
	}
	audit_report_destroy(&report);
	return found;
}

/** @fix  Sort them. */
static uint64_t late_by_merge(const struct tablines *lines, bool fix, char **sorted)
{
	static const char table[] = "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n";
	uint64_t found = 0;
	struct discovery *d = unit_discover(table);
	struct fstab_input live = {.d = d, .root = "/", .facts.follow = follow};
	struct fstab_plan plan;
	struct fstab_merged merged;
	CU_ASSERT_EQUAL_FATAL(fstab_plan(&live, &plan), 0);
	struct fstab_merge_input in = {
		.match = {.file = lines, .in = &live, .plan = &plan},
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

/** All three say the same of each text; and of one that was sorted, nothing. */
UNIT_TEST(audit_and_merge_give_the_same_answer)
{
	size_t late = 0;
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct tablines *lines = tablines_parse(rows[i].fstab, strlen(rows[i].fstab));
		char *sorted;
		uint64_t graph = late_by_graph(rows[i].fstab);
		bool cycle = strstr(rows[i].findings, "cycle");
		late += graph != 0;
		if (!cycle && late_by_audit(lines) != graph)
			CU_FAIL(rows[i].name);
		if (late_by_merge(lines, false, NULL) != graph)
			CU_FAIL(rows[i].name);
		late_by_merge(lines, true, &sorted);
		CU_ASSERT(cycle || late_by_graph(sorted) == 0);
		free(sorted);
		tablines_free(lines);
	}
	CU_ASSERT(late >= 15);
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
		if (strcmp(got, runs[i].mounted) != 0)
			printf("%zu: %s\n", i, got);
		CU_ASSERT_STRING_EQUAL(got, runs[i].mounted);
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
			struct strbuf fstab;
			strbuf_init(&fstab);
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
			struct order_finding *findings = NULL;
			struct order_outcome *outcomes = calloc(2 * lines, sizeof(*outcomes));
			double began = unit_cpu();
			parse(&p, strbuf_str(&fstab));
			CU_ASSERT(order_judge(&p.order, NULL, &findings) >= 0);
			order_run(&p.order, true, NULL, outcomes);
			took[part] = unit_cpu() - began;
			free(findings);
			free(outcomes);
			end(&p);
			strbuf_destroy(&fstab);
		}
		CU_ASSERT(took[1] < 40 * took[0] + 0.5);
	}
}

static int make_and_judge(void *arg)
{
	const struct parsed *p = arg;
	struct order order;
	struct order_finding *findings = NULL;
	int rc = order_make(p->of, p->n, &order);
	rc = rc == 0 && order_judge(&order, NULL, &findings) < 0 ? -1 : rc;
	order_destroy(&order);
	free(rc == 0 ? findings : NULL);
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
