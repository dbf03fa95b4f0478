/* SPDX-License-Identifier: MIT */
/*
 * Units of systemd: `systemctl show` parsed, which mounts units make, and the rules.
 */
#include "unit.h"

#include "audit/live.h"
#include "cases.h"
#include "fault.h"
#include "fstab/target.h"

/** Parse a text. */
static struct host_units parse(const char *text)
{
	struct host_units units;
	char *copy = strdup(text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(copy);
	CU_ASSERT_EQUAL_FATAL(host_units_parse(copy, &units), 0);
	return units;
}

UNIT_TEST(parse)
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
	CU_ASSERT_EQUAL_FATAL(units.count, COUNT(rows));
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
	for (size_t i = 0; i < COUNT(none); ++i) {
		units = parse(none[i]);
		CU_ASSERT_FALSE(units.known);
		CU_ASSERT_PTR_NULL(host_units_at(&units, "/"));
		host_units_destroy(&units);
	}
}

/** Which mounts units make: "PATH what loaded dropins" for each path of these lines. */
static void print_made(const struct host_units *units, char *rows, struct strbuf *out)
{
	static const char *const names[] = {
		[FSTAB_NO_UNIT] = "none", [FSTAB_OWN_UNIT] = "own", [FSTAB_IDLE_UNIT] = "idle",
		[FSTAB_GPT_UNIT] = "gpt", [FSTAB_AUTOMOUNT] = "automount",
	};
	for (char *row; (row = strsep(&rows, "\n")) != NULL && *row;) {
		const char *path = strsep(&row, " ");
		strbuf_printf(out, "%s %s%s%s\n", path, names[fstab_unit_of(units, path)],
		              fstab_has_loaded(units, path) ? " loaded" : "",
		              fstab_has_dropins(units, path) ? " dropins" : "");
	}
	struct fstab_loaded loaded = fstab_count_loaded(units);
	CU_ASSERT_EQUAL(loaded.count, 4);
	CU_ASSERT_EQUAL(loaded.stale, 1);
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
	struct audit_report report = {0};
	struct fstab_file *lines = fstab_parse(fstab, strlen(fstab));
	char *text = strdup(shown);
	int rc = lines && text ? 0 : -1;
	if (rc == 0)
		rc = host_units_parse(text, &units);
	else
		free(text);
	if (rc == 0)
		rc = audit_units(&(struct audit_live){
			.units = &units, .file = lines, .fstab_seen = usual, .facts = &facts,
			.uptime = uptime}, &report);
	int error = errno;
	for (size_t i = 0; i < report.count && rc == 0; ++i) {
		const struct audit_finding *f = &report.findings[i];
		strbuf_printf(out, "%s %s %s %s: %s (%s)\n", audit_rules[f->code].code,
		              audit_severity_name(f->severity), f->target,
		              f->owner, f->message, f->actual);
	}
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(report.not_checked, (enum audit_code)code))
			strbuf_printf(out, "?%s\n", audit_rules[code].code);
	}
	audit_report_destroy(&report);
	host_units_destroy(&units);
	fstab_file_free(lines);
	errno = error;
	return rc;
}

UNIT_TEST(cases)
{
	unsigned count = 0;
	for (struct unit_case c; unit_case("tests/fixtures/fstab/units", &c); ++count) {
		const char *fstab = strcmp(c.parts[1].head, "fstab") == 0 ? c.parts[1].text : "";
		const char *head = c.parts[c.count - 1].head, *expected = c.parts[c.count - 1].text;
		char *copy = strdup(expected);
		STRBUF(out);
		if (strcmp(head, "made") == 0) {
			struct host_units units = parse(c.parts[0].text);
			print_made(&units, copy, &out);
			host_units_destroy(&units);
		} else {
			CU_ASSERT_EQUAL(judge(c.parts[0].text, fstab, strstr(head, "usual"),
			                      strstr(head, "booting") ? 60 : -1, &out), 0);
		}
		if (strcmp(strbuf_str(&out), expected) != 0)
			printf("%s:\n%s", c.name, strbuf_str(&out));
		CU_ASSERT_STRING_EQUAL(strbuf_str(&out), expected);
		free(copy);
	}
	CU_ASSERT(count > 11);
	CU_ASSERT_TRUE(fstab_is_boot_target("x.service local-fs.target"));
	CU_ASSERT_FALSE(fstab_is_boot_target("local-fs.targets x.target local-fs rescue.target"));
	CU_ASSERT_FALSE(fstab_is_boot_target(""));
}

static int judge_shown(void *arg)
{
	STRBUF(out);
	int rc = judge(arg, "x /x ext4\n", true, -1, &out), error = errno;
	if (rc == 0 && out.failed) {
		rc = -1;
		error = ENOMEM;
	}
	const char *found = strbuf_str(&out);
	CU_ASSERT(rc != 0 || (strstr(found, "DRIFT") && strstr(found, "STALE")));
	errno = error;
	return rc;
}

UNIT_TEST(no_memory)
{
	char shown[] = "Id=a.mount\nActiveState=failed\nWhere=/a\n\nId=b.mount\n"
	               "Where=/b\nSourcePath=/etc/fstab\nNeedDaemonReload=yes\n\n"
	               "Id=c.mount\nWhere=/c\nLoadState=loaded\nActiveState=inactive\n"
	               "FragmentPath=/etc/c.mount\nWantedBy=multi-user.target\n";
	fault_each_allocation(judge_shown, shown, 10);
}
