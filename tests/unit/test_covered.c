/* SPDX-License-Identifier: MIT */
/*
 * Data covered by mounts, and holders of unmounted file systems, from recorded tables.
 */
#include "unit.h"

#include "audit/live.h"
#include "cases.h"
#include "discover/discover.h"
#include "fault.h"

static const char TABLE[] =
	"1 0 8:1 / / rw - ext4 /dev/sda1 rw\n"
	"2 1 8:2 / /data rw - ext4 /dev/sdb1 rw\n"                       /* reported */
	"3 2 8:3 / /data/deep/place rw - xfs /dev/sdc1 rw\n"             /* reported, in /data */
	"4 1 8:1 /self /self ro - ext4 /dev/sda1 rw\n"                   /* upon itself */
	"5 2 8:2 /in /data/in rw - ext4 /dev/sdb1 rw\n"                  /* the same, deeper */
	"6 1 8:1 /other /bound rw - ext4 /dev/sda1 rw\n"                 /* for information */
	"7 1 0:50 / /usr ro - overlay sysext "
	"ro,lowerdir=/run/ext\\134:x:/usr,xino=off\n"    /* its own layer */
	"8 1 0:51 / /up rw - overlay up "
	"rw,lowerdir=/low,upperdir=/up,workdir=/w\n"          /* the same */
	"9 1 0:52 / /over rw - overlay o "
	"rw,lowerdir=/over2:/overs,upperdir=/u,workdir=/w\n" /* for information */
	"10 1 0:53 / /tmp rw - tmpfs tmpfs rw\n"                         /* for information */
	"11 1 0:54 / /n rw - nfs4 h:/x rw\n"                             /* reported: a server's */
	"12 11 8:4 / /n/below rw - ext4 /dev/sdd1 "
	"rw\n"                  /* on a server's: the look fails */
	"13 1 0:55 / /b rw - btrfs /dev/sde1 rw,subvol=/b\n"             /* reported */
	"14 1 0:56 / /proc rw - proc proc rw\n"                            /* the system's */
	"15 14 8:5 / /proc/x rw - ext4 /dev/sdf1 "
	"rw\n"                   /* in what the kernel makes up */
	"16 1 8:6 / /stack rw - ext4 /dev/sdg1 rw\n"
	"17 16 8:7 / /stack rw - ext4 /dev/sdh1 rw\n"                    /* reported once */
	"18 1 0:57 / /a rw - autofs systemd-1 rw,fd=1,direct\n"
	"19 18 8:8 / /a rw - ext4 /dev/sdi1 rw\n"                        /* reported, in / */
	"20 1 8:9 /x//deleted /gone rw - ext4 /dev/sdj1 rw\n"
	"21 1 8:10 / /container rw - ext4 /dev/sdk1 rw\n"                /* another's */
	"22 1 8:1 /self2 /self2/x rw - ext4 /dev/sda1 rw\n";             /* no longer upon itself */

static const char *const nobody[] = {NULL}, *const docker[] = {"container", NULL};

static char text[16 * 1024];

/** List the covered directories; all have data. */
static ssize_t list_all(const struct discovery *d, struct fstab_plan *plan,
                        const char *const *include, struct audit_covered **list)
{
	ssize_t n = audit_covered_list(&(struct audit_live){.d = d, .plan = plan,
	                                                    .include = include}, list);
	for (ssize_t i = 0; i < n; ++i)
		(*list)[i].covered.state = (*list)[i].line->target[1] == 'n'
			&& (*list)[i].line->target[2] ? HOST_COVERED_UNKNOWN : HOST_COVERED_DATA;
	return n;
}

/** "TARGET PARENT PLACE SEVERITY" of each, and "?" if one is not checked. */
static const char *listed(const struct discovery *d, struct fstab_plan *plan,
                          const char *const *include)
{
	struct audit_covered *list;
	struct audit_report report = {0};
	size_t len = 0;
	ssize_t n = list_all(d, plan, include, &list);
	CU_ASSERT_FATAL(n >= 0);
	CU_ASSERT_EQUAL(audit_covered(list, (size_t)n, &report), 0);
	text[0] = '\0';
	for (ssize_t i = 0; i < n; ++i) {
		const char *severity = "none";
		for (size_t k = 0; k < report.count; ++k) {
			if (strcmp(report.findings[k].target, list[i].line->target) == 0)
				severity = audit_severity_name(report.findings[k].severity);
		}
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s %s %s %s\n",
		                        list[i].line->target,
		                        d->tree.nodes[list[i].covered.parent].mount->point,
		                        list[i].covered.place ? list[i].covered.place : "?",
		                        severity);
	}
	len += (size_t)snprintf(text + len, sizeof(text) - len, "%s",
	                        audit_set_has(report.not_checked, MNT_UNDER_NOT_EMPTY) ? "?" : "");
	audit_report_destroy(&report);
	audit_covered_free(list, (size_t)n);
	return text;
}

static void says(const char *name, const char *got, const char *expected)
{
	if (strcmp(got, expected) != 0)
		printf("  %s: \"%s\", not \"%s\"\n", name, got, expected);
	CU_ASSERT_STRING_EQUAL(got, expected);
}

/** A discovery of TABLE, and a plan with a line for each mount. */
struct world {
	struct discovery *d;
	struct fstab_line lines[32];
	struct fstab_plan plan;
};

static void world_init(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->d = unit_discover(TABLE);
	for (size_t i = 0; i < w->d->table->count; ++i) {
		const struct mount *m = &w->d->table->mounts[i];
		bool other = strcmp(m->point, "/container") == 0,
			api = strcmp(m->point, "/proc") == 0;
		w->lines[i] = (struct fstab_line){.mount = m, .target = m->point,
		                                  .owner = other ? "container:docker" : api ? "api"
		                                  	: "fstab",
		                                  .fate = other || api ? FSTAB_OWN : FSTAB_LINE};
	}
	w->plan = (struct fstab_plan){.lines = w->lines, .count = w->d->table->count};
}

static void world_destroy(struct world *w)
{
	unit_discovery_free(w->d);
}

#define LISTED_IN_ROOT_1 "/a / a warning\n/b / b warning\n/bound / bound info\n"
#define LISTED_IN_ROOT_2 \
	"/data / data warning\n/n / n warning\n/over / over info\n/self2/x / self2/x info\n"       \
	"/stack / stack warning\n/tmp / tmp info\n"
#define LISTED_ELSEWHERE "/data/deep/place /data deep/place warning\n/n/below /n below none\n?"

UNIT_TEST(list)
{
	struct world w;
	world_init(&w);
	says("nobody else's", listed(w.d, &w.plan, nobody),
	     LISTED_IN_ROOT_1 LISTED_IN_ROOT_2 LISTED_ELSEWHERE);
	says("containers', too", listed(w.d, &w.plan, docker),
	     LISTED_IN_ROOT_1 "/container / container warning\n" LISTED_IN_ROOT_2 LISTED_ELSEWHERE);
	world_destroy(&w);
}

UNIT_TEST(words)
{
	static const struct mount ext4 = {.fstype = "ext4", .root = "/"};
	static const struct fstab_line line = {.mount = &ext4, .target = "/m", .owner = "fstab"};
	struct {
		struct host_covered covered;
		const char *message;
	} rows[] = {
		{{.count = 1, .names = {(char[]){"a"}}},
		 "it hides 1 entry of the directory below: a"},
		{{.count = 2, .names = {(char[]){"a"}, (char[]){"b"}}},
		 "it hides 2 entries of the directory below: a, b"},
		{{.count = 4, .names = {(char[]){"a"}, (char[]){"b"}, (char[]){"c"}}},
		 "it hides 4 entries of the directory below: a, b, c ..."},
		{{.count = 700, .more = true, .names = {(char[]){"a"}}},
		 "it hides at least 700 entries of the directory below: a ..."},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		struct audit_report report = {0};
		struct audit_covered under = {.line = &line, .covered = rows[i].covered};
		under.covered.state = HOST_COVERED_DATA;
		CU_ASSERT_EQUAL(audit_covered(&under, 1, &report), 0);
		CU_ASSERT_EQUAL_FATAL(report.count, 1);
		says("under", report.findings[0].message, rows[i].message);
		says("is", report.findings[0].actual, "not empty");
		audit_report_destroy(&report);
	}
}

UNIT_TEST(held)
{
	static const struct host_holder all[] = {
		{.kind = HOST_HELD_ELSEWHERE, .target = "/e", .source = "/dev/sdb1", .line = 3,
		 .count = 3, .pid = 7, .comm = "x", .where = "/y"},
		{.kind = HOST_HELD_ELSEWHERE, .target = "/f", .source = "//u:hunter2@h/x",
		 .line = 4, .count = 1, .pid = 7, .comm = "x", .where = "/y"},
		{.kind = HOST_HELD_ALIVE, .target = "/g", .source = "/dev/sdc1", .line = 5},
		{.kind = HOST_HELD_DELETED, .target = "/h", .count = 2, .pid = 8, .comm = "z",
		 .where = "/h/a"},
		{.kind = HOST_HELD_DETACHED, .count = 1, .pid = 9, .comm = "w", .where = "/a"},
	};
	static const char *const expected[] = {
		"warning /e 3: /dev/sdb1 is busy: not mounted here, but in another mount namespace "
		"on /y of process 7 (x), and 2 more namespaces",
		"warning /f 4: *** is busy: not mounted here, but in another mount namespace on /y "
		"of process 7 (x)",
		"warning /g 5: /dev/sdc1 is in use by the kernel, but not mounted in any visible "
		"namespace",
		"info  0: process 9 (w) has /a open, in a file system that is no longer mounted",
		"info /h 0: open files in a removed directory: process 8 (z) has /h/a, and 1 more "
		"file",
	};
	struct audit_report report = {0};
	CU_ASSERT_EQUAL(audit_holders(all, 5, &report), 0);
	CU_ASSERT_EQUAL_FATAL(report.count, 5);
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		snprintf(text, sizeof(text), "%s %s %u: %s", audit_severity_name(f->severity),
		         f->target, f->line, f->message);
		says("held", text, expected[i]);
		CU_ASSERT(f->hint && f->expected && f->actual);
	}
	audit_report_destroy(&report);
}

static int judge_all(void *arg)
{
	struct world *w = arg;
	struct audit_covered *list = NULL;
	struct audit_report report = {0};
	ssize_t n = list_all(w->d, &w->plan, nobody, &list);
	int rc = n < 0 ? -1 : audit_covered(list, (size_t)n, &report), error = errno;
	if (n >= 0)
		audit_covered_free(list, (size_t)n);
	audit_report_destroy(&report);
	errno = error;
	return rc;
}

UNIT_TEST(memory)
{
	struct world w;
	world_init(&w);
	fault_each_allocation(judge_all, &w, 4);
	world_destroy(&w);
}
