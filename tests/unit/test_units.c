/* SPDX-License-Identifier: MIT */
/*
 * Units of systemd: `systemctl show` parsed, which mounts units make, and the rules.
 */
#include "unit.h"

#include "audit/live.h"
#include "fault.h"
#include "fstab/units.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** Parse a text. */
static struct host_units parse(const char *text)
{
	struct host_units units;
	char *copy = strdup(text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	CU_ASSERT_EQUAL_FATAL(host_units_parse(copy, &units), 0);
	return units;
}

static void test_parse(void)
{
	struct host_units units = parse(
		"Where=/srv/x=y\nWhat=/dev/sdb1\nResult=exit-code\nId=srv-x.mount\n"
		"ActiveState=failed\nOther=1\n\n\n"
		"Id=dev-sdc1.swap\nWhat=/dev/sdc1\nWhere=/no\n\nnonsense\nId=old.automount\n"
		"Where=\n\n"
		"ActiveState=failed\n\nId=line.mount\nWhere=[unprintable]\n\nId=srv-x.automount\n"
		"Where=/srv/x=y\n\nId=last.mou");
	static const struct {
		const char *id, *where, *state;
	} rows[] = {
		{"srv-x.mount", "/srv/x=y", "failed"}, {"dev-sdc1.swap", "/no", ""},
		{"old.automount", "", ""},
		{"line.mount", "[unprintable]", ""}, {"srv-x.automount", "/srv/x=y", ""},
		{"last.mou", "", ""},
	};
	CU_ASSERT_TRUE(units.known);
	CU_ASSERT_EQUAL_FATAL(units.count, sizeof(rows) / sizeof(*rows));
	for (size_t i = 0; i < units.count; ++i) {
		CU_ASSERT_STRING_EQUAL(units.list[i].id, rows[i].id);
		CU_ASSERT_STRING_EQUAL(units.list[i].where, rows[i].where);
		CU_ASSERT_STRING_EQUAL(units.list[i].active_state, rows[i].state);
		CU_ASSERT_PTR_EQUAL(host_units_find(&units, rows[i].id), &units.list[i]);
	}
	CU_ASSERT_PTR_EQUAL(host_units_at(&units, "/srv/x=y"), &units.list[0]);
	CU_ASSERT_EQUAL(units.list[0].next, 4);
	CU_ASSERT_PTR_EQUAL(host_units_at(&units, "/dev/sdc1"), &units.list[1]);
	CU_ASSERT_PTR_NULL(host_units_at(&units, "/no"));
	CU_ASSERT_PTR_NULL(host_units_at(&units, "[unprintable]"));
	CU_ASSERT_PTR_NULL(host_units_find(&units, "none.mount"));
	host_units_destroy(&units);
	static const char *const none[] = {"", "\n\n\n", "=", "Id=\n", "Where=/\n", "Id"};
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); ++i) {
		units = parse(none[i]);
		CU_ASSERT_FALSE(units.known);
		CU_ASSERT_PTR_NULL(host_units_at(&units, "/"));
		host_units_destroy(&units);
	}
}

/** Which mounts units make. */
static void test_made(void)
{
#define UNIT(id, path, file, more) "Id=" id "\n" path "\nLoadState=loaded\nActiveState=active\n" \
	"FragmentPath=" file "\n" more "\n\n"
	struct host_units units = parse(
		UNIT("a.mount", "Where=/a", "/etc/systemd/system/a.mount",
		     "WantedBy=multi-user.target")
		UNIT("b.mount", "Where=/b", "/etc/systemd/system/b.mount", "RequiredBy=b.service")
		UNIT("idle.mount", "Where=/idle", "/usr/lib/systemd/system/idle.mount", "WantedBy=")
		UNIT("gen.mount", "Where=/gen", "/run/systemd/generator/gen.mount",
		     "SourcePath=/etc/zfs")
		UNIT("gpt.mount", "Where=/gpt", "/run/systemd/generator.late/gpt.mount", "")
		UNIT("line.mount", "Where=/line", "/run/systemd/generator/line.mount",
		     "SourcePath=/etc/fstab\nDropInPaths=/etc/x.conf\nWantedBy=local-fs.target")
		UNIT("auto.mount", "Where=/auto", "/run/systemd/generator/auto.mount",
		     "SourcePath=/etc/fstab\nNeedDaemonReload=yes\nTriggeredBy=auto.automount")
		UNIT("auto.automount", "Where=/auto", "/run/systemd/generator/auto.automount",
		     "SourcePath=/etc/fstab\nNeedDaemonReload=no")
		UNIT("own.mount", "Where=/own", "/etc/systemd/system/own.mount",
		     "TriggeredBy=own.automount")
		UNIT("own.automount", "Where=/own", "/etc/systemd/system/own.automount",
		     "WantedBy=multi-user.target")
		UNIT("off.mount", "Where=/off", "/etc/systemd/system/off.mount",
		     "WantedBy=x.target\nLoadState=masked")
		UNIT("plain.mount", "Where=/plain", "", "")
		UNIT("dev-sda3.swap", "What=/dev/sda3", "", "Following=x.swap")
		UNIT("x.swap", "What=/dev/disk/by-uuid/1", "/run/systemd/generator/x.swap",
		     "SourcePath=/etc/fstab")
		UNIT("dev-sdb3.swap", "What=/dev/sdb3", "", "Following=y.swap")
		UNIT("y.swap", "What=/dev/disk/by-uuid/2", "/etc/systemd/system/y.swap",
		     "WantedBy=swap.target")
		UNIT("dev-sdc3.swap", "What=/dev/sdc3", "", "Following=nowhere.swap"));
	static const struct {
		const char *path;
		enum fstab_unit made;
		bool loaded, dropins;
	} rows[] = {
		{"/a", FSTAB_OWN_UNIT, false, false}, {"/b", FSTAB_OWN_UNIT, false, false},
		{"/idle", FSTAB_IDLE_UNIT, false, false},
		{"/gen", FSTAB_OWN_UNIT, false, false}, {"/gpt", FSTAB_GPT_UNIT, false, false},
		{"/line", FSTAB_NO_UNIT, true, true},
		{"/auto", FSTAB_AUTOMOUNT, true, false}, {"/own", FSTAB_OWN_UNIT, false, false},
		{"/off", FSTAB_NO_UNIT, false, false},
		{"/plain", FSTAB_NO_UNIT, false, false}, {"/none", FSTAB_NO_UNIT, false, false},
		{"/dev/sda3", FSTAB_NO_UNIT, true, false},
		{"/dev/sdb3", FSTAB_OWN_UNIT, false, false},
		{"/dev/sdc3", FSTAB_NO_UNIT, false, false},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		unit_note("%s", rows[i].path);
		CU_ASSERT_EQUAL(fstab_unit_of(&units, rows[i].path), rows[i].made);
		CU_ASSERT_EQUAL(fstab_has_loaded(&units, rows[i].path), rows[i].loaded);
		CU_ASSERT_EQUAL(fstab_has_dropins(&units, rows[i].path), rows[i].dropins);
	}
	struct fstab_loaded loaded = fstab_count_loaded(&units);
	CU_ASSERT_EQUAL(loaded.count, 4);
	CU_ASSERT_EQUAL(loaded.stale, 1);
	host_units_destroy(&units);
	CU_ASSERT_TRUE(fstab_is_boot_target("x.service local-fs.target"));
	CU_ASSERT_FALSE(fstab_is_boot_target("local-fs.targets x.target local-fs rescue.target"));
	CU_ASSERT_FALSE(fstab_is_boot_target(""));
}

/* The rules. */

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	(void)device;
	return strstr(source, "gone") ? 0 : 1;
}

static const struct fstab_facts facts = {.devices = devices};

/** The findings: "CODE severity target owner: message (is)", a line each, and what cannot be
    judged. */
static int judge(const char *shown, const char *fstab, bool usual, long uptime, struct strbuf *out)
{
	struct host_units units = {0};
	struct audit_report report;
	struct tablines *lines = tablines_parse(fstab, strlen(fstab));
	char *text = strdup(shown);
	int rc = lines && text ? 0 : -1;
	audit_report_init(&report);
	if (rc == 0)
		rc = host_units_parse(text, &units);
	else
		free(text);
	if (rc == 0)
		rc = audit_units(&(struct audit_live){
			.units = &units, .lines = lines, .fstab_seen = usual, .facts = &facts,
			.uptime = uptime}, &report);
	int error = errno;
	for (size_t i = 0; i < report.count && rc == 0; ++i) {
		const struct audit_finding *f = &report.findings[i];
		strbuf_printf(out, "%s %s %s %s: %s (%s)\n", audit_rules[f->code].code,
		              audit_severity_name(f->severity), f->target,
		              f->owner, f->message, f->actual);
	}
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(&report.not_checked, (enum audit_code)code))
			strbuf_printf(out, "?%s\n", audit_rules[code].code);
	}
	audit_report_destroy(&report);
	host_units_destroy(&units);
	tablines_free(lines);
	errno = error;
	return rc;
}

static void says_at(int line, const char *shown, const char *fstab, bool usual, long uptime,
                    const char *expected)
{
	struct strbuf out;
	strbuf_init(&out);
	CU_ASSERT_EQUAL(judge(shown, fstab, usual, uptime, &out), 0);
	if (strcmp(strbuf_str(&out), expected) != 0)
		printf("  %d: \"%s\", not \"%s\"\n", line, strbuf_str(&out), expected);
	CU_ASSERT_STRING_EQUAL(strbuf_str(&out), expected);
	strbuf_destroy(&out);
}
#define SAYS(shown, expected) says_at(__LINE__, shown, "", false, -1, expected)
#define STALE "?FSTAB-SYSTEMD-STALE\n"

static void test_failed(void)
{
	SAYS("Id=-.mount\nLoadState=loaded\nActiveState=active\nWhere=/\n\n"
	     "Id=srv.mount\nLoadState=loaded\nActiveState=failed\nResult=exit-code\nWhere=/srv\n\n"
	     "Id=dev-sdc1.swap\nLoadState=loaded\nActiveState=failed\nWhat=/dev/sdc1\n"
	     "Result=timeout\n\n"
	     "Id=old.automount\nLoadState=not-found\nActiveState=failed\n\nId=later.mount\n"
	     "ActiveState=activating\n\n"
	     "Id=odd.mount\nLoadState=bad-setting\nActiveState=inactive\nWhere=/odd\n\n"
	     "Id=off.mount\nLoadState=masked\nActiveState=inactive\n\nId=none.mount\n"
	     "LoadState=not-found\nActiveState=inactive\n",
	     "UNIT-FAILED warning /dev/sdc1 unit: dev-sdc1.swap failed (timeout)\n"
	     "UNIT-FAILED warning /odd unit: systemd cannot load odd.mount (bad-setting)\n"
	     "UNIT-FAILED warning /srv unit: srv.mount failed (exit-code)\n"
	     "UNIT-FAILED info old.automount unit: old.automount failed, and does not exist any "
	     "more (failed)\n" STALE);
	SAYS("", "?FSTAB-SYSTEMD-STALE\n?UNIT-FAILED\n");
}

#define IDLE(id, path, more) "Id=" id "\n" path "\nLoadState=loaded\nActiveState=inactive\n" \
	"FragmentPath=/etc/systemd/system/" id "\n" more "\n\n"
#define WANTED "WantedBy=multi-user.target"

static void test_wanted(void)
{
	SAYS(IDLE("a.mount", "Where=/a\nWhat=/dev/a", WANTED) IDLE("b.automount", "Where=/b",
	                                                           WANTED)
	     IDLE("b.mount", "Where=/b\nWhat=/dev/b", "TriggeredBy=b.automount\n" WANTED)
	     IDLE("c.swap", "What=/swap.file", "RequiredBy=swap.target")
	     IDLE("d.mount", "Where=/d\nWhat=/dev/gone",
	          "RequiredBy=local-fs.target") IDLE("e.mount", "Where=/e\nWhat=/dev/gone", WANTED)
	     IDLE("f.mount", "Where=/f",
	          WANTED "\nConditionResult=no\nConditionTimestampMonotonic=0"),
	     "DRIFT-NOT-MOUNTED warning /a unit: a.mount is not active, but a boot target needs it "
	     "(not mounted)\n"
	     "DRIFT-NOT-MOUNTED warning /b unit: b.automount is not active, but a boot target "
	     "needs it (not mounted)\n"
	     "DRIFT-NOT-MOUNTED warning /d unit: d.mount is not active: its device does not exist "
	     "(not mounted)\n"
	     "DRIFT-NOT-MOUNTED info /e unit: e.mount is not active: its device does not exist "
	     "(not mounted)\n"
	     "DRIFT-NOT-MOUNTED warning /f unit: f.mount is not active, but a boot target needs it "
	     "(not mounted)\n"
	     "SWAP-NOT-ACTIVE warning /swap.file unit: c.swap is not active, but a boot target "
	     "needs it (not in use)\n" STALE);
	/* Nothing that a boot must start: not wanted, masked, of an unmet condition, an API file
	    system, or
	   active in another way. */
	SAYS(IDLE("a.mount", "Where=/a", "WantedBy=rescue.target x.service")
	             IDLE("b.mount", "Where=/b", "LoadState=masked\n" WANTED) IDLE(
	                     "c.mount", "Where=/c",
	                     WANTED "\nConditionResult=no\nConditionTimestampMonotonic=77")
	                     IDLE("d.mount", "Where=/dev/hugepages",
	                          WANTED) IDLE("e.mount", "Where=[unprintable]",
	                                       WANTED) IDLE("f.automount", "Where=/f", WANTED)
	                             IDLE("f.mount", "Where=/f", "ActiveState=active\n" WANTED)
	                                     IDLE("g.mount", "Where=/g", "FragmentPath=\n" WANTED)
	                                             IDLE("h.mount", "Where=/h",
	                                                  "SourcePath=/etc/fstab\n" WANTED),
	     STALE);
	static const char one[] = IDLE("a.mount", "Where=/a b", WANTED) IDLE("s.swap", "What=/swap",
	                                                                     WANTED);
	says_at(__LINE__, one, "x /a\\040b// ext4\n/./swap none swap\n", false, -1, STALE);
	says_at(__LINE__, one, "", false, 60, STALE);
	/* Made by a generator. */
	SAYS("Id=g.mount\nWhere=/g\nLoadState=loaded\nActiveState=inactive\n"
	     "FragmentPath=/run/systemd/generator.late/g.mount\n" WANTED "\n",
	     "DRIFT-NOT-MOUNTED warning /g gpt-auto: g.mount is not active, but a boot target "
	     "needs it (not mounted)\n" STALE);
}

static void test_stale(void)
{
	static const char fresh[] = "Id=a.mount\nWhere=/a\nSourcePath=/etc/fstab\n"
	                            "NeedDaemonReload=no\n\n";
	static const char old[] = "Id=b.mount\nWhere=/b\nSourcePath=/etc/fstab\n"
	                          "NeedDaemonReload=yes\n";
	static const char other[] = "Id=b.mount\nWhere=/b\nSourcePath=/etc/other\n"
	                            "NeedDaemonReload=yes\n";
	char both[sizeof(fresh) + sizeof(old)];
	says_at(__LINE__, fresh, "", true, -1, "");
	says_at(__LINE__, other, "", true, -1, STALE);
	snprintf(both, sizeof(both), "%s%s", fresh, old);
	says_at(__LINE__, both, "", true, -1,
	        "FSTAB-SYSTEMD-STALE warning  fstab: the fstab was changed, but systemd still uses "
	        "the old one (1 unit of the old fstab)\n");
	/* Another file than the one that systemd reads. */
	says_at(__LINE__, both, "", false, -1, STALE);
}

/** With any allocation failing there is a result or ENOMEM, and nothing is kept. */
static void test_no_memory(void)
{
#ifdef _FORTIFY_SOURCE
	UNIT_SKIP("a fortified program makes calls that are not wrapped");
#endif
	static const char shown[] = "Id=a.mount\nActiveState=failed\nWhere=/a\n\nId=b.mount\n"
	                            "Where=/b\nSourcePath=/etc/fstab\nNeedDaemonReload=yes\n\n"
		IDLE("c.mount", "Where=/c", WANTED);
	struct fault_count count = {0};
	uint64_t allocations = 0;
	for (uint64_t n = 0; n <= 2 * allocations; n += n ? unit_step() | 1 : 1) {
		struct fault fault = {n % 2 ? FAULT_ONCE : FAULT_ON, FAULT_ALLOC, (n + 1) / 2,
		                      ENOMEM};
		struct strbuf out;
		strbuf_init(&out);
		fault_begin(n ? &fault : NULL, 1000);
		int rc = judge(shown, "x /x ext4\n", true, -1, &out);
		int error = errno;
		bool whole = !out.failed && strstr(strbuf_str(&out), "DRIFT")
			&& strstr(strbuf_str(&out), "STALE");
		bool failed = out.failed;
		strbuf_destroy(&out);
		fault_end(&count);
		allocations = n ? allocations : count.calls[FAULT_ALLOC];
		CU_ASSERT_EQUAL(count.blocks, 0);
		CU_ASSERT(rc == 0 ? whole || failed : n > 0 && error == ENOMEM);
	}
	CU_ASSERT(allocations > 10);
}

static const struct unit_test tests[] = {
	{"parse", test_parse},
	{"made", test_made},
	{"failed", test_failed},
	{"wanted", test_wanted},
	{"stale", test_stale},
	{"no memory", test_no_memory},
	{NULL, NULL},
};

const struct unit_suite suite_units = {"units", tests};
