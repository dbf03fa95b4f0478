/* SPDX-License-Identifier: MIT */
/*
 * The configuration of an audit.  The input: a byte for the day, a text, a byte 1; the rest is
 * mount points, a line each.
 *
 * Each line that is neither blank nor a comment is one row or one problem, and a row by itself
 * is the same row again.  What is ignored, and the severity of the others, is what a naive
 * reading of the rows gives; a pattern matches what fnmatch(3) does; findings of requirements
 * name their rows.
 */
#include "lib/fuzz.h"

#include "audit/config.h"
#include "base/secret.h"
#include "mounts/table.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

static const char *const owners[] = {"fstab", "snap", "unknown", NULL};
static const char *const types[] = {"ext4", "tmpfs", NULL, "fuse.sshfs", "xfs"};

static const char table_text[] =
	"20 1 8:1 / / rw,relatime shared:1 - ext4 /dev/root rw,data=ordered\n"
	"21 20 8:2 / /var rw,noexec,relatime master:1 - xfs /dev/var rw\n"
	"22 20 0:40 / /tmp rw,nosuid,nodev,noatime - tmpfs t rw,size=1024k\n"
	"23 20 0:41 / /auto rw,relatime shared:5 - autofs systemd-1 rw,direct\n"
	"24 20 0:42 / /a rw,relatime - tmpfs lower rw\n"
	"25 24 0:43 / /a ro,nosuid unbindable - tmpfs upper rw\n"
	"26 20 0:44 / /a\\040b ro - tmpfs in rw\n";

/** How many lines say something: what is neither blank nor a comment, or no text. */
static size_t statements(const char *text, size_t len)
{
	size_t count = 0, number = 0;
	for (const char *at = text, *end = text + len; at < end; ++at) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		size_t n = (size_t)(stop - at), blanks = 0;
		n -= n && at[n - 1] == '\r';
		bool text_alone = n <= AUDIT_LINE_MAX
		                  && !(number++ == 0 && n >= 3
		                       && memcmp(at, "\xef\xbb\xbf", 3) == 0);
		for (size_t i = 0; i < n; ++i)
			text_alone &= (unsigned char)at[i] >= 0x20 ? at[i] != 0x7f : at[i] == '\t';
		while (blanks < n && (at[blanks] == ' ' || at[blanks] == '\t'))
			++blanks;
		count += !text_alone || (blanks < n && at[blanks] != '#');
		at = stop;
	}
	return count;
}

static bool same_glob(const struct audit_glob *a, const struct audit_glob *b)
{
	return !a == !b && (!a || !a->exact == !b->exact)
	       && (!a || !a->exact || strcmp(a->exact, b->exact) == 0);
}

/** A row by itself is the same. */
static void check_row(const struct audit_row *row)
{
	struct audit_config alone = {0};
	FUZZ_CHECK(audit_config_parse(&alone, "G", row->text, strlen(row->text)) == 0);
	FUZZ_CHECK(alone.count == 1 && alone.nproblems == 0);
	const struct audit_row *again = alone.rows;
	FUZZ_CHECK(again->line == 1 && again->verb == row->verb
	           && again->codes == row->codes
	           && again->severity == row->severity && again->until == row->until);
	FUZZ_SAME(again->text, row->text);
	FUZZ_SAME(again->path, row->path);
	FUZZ_SAME(again->options, row->options);
	FUZZ_CHECK(same_glob(again->target, row->target) && same_glob(again->type, row->type)
	           && same_glob(again->owner, row->owner));
	FUZZ_CHECK(!row->path || (*row->path == '/' && !strstr(row->path, "//")
	                          && (!row->path[1] || row->path[strlen(row->path) - 1] != '/')));
	audit_config_destroy(&alone);
}

/** A glob without brackets and escapes, as the C library has it. */
static void check_glob(const struct audit_row *row, const char *name)
{
	const char *text = row->target ? strstr(row->text, " target=") : NULL;
	char glob[64];
	size_t stars = 0;
	if (!text)
		return;
	text += 8;
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyz/.?*");
	if (n == 0 || n >= sizeof(glob) || (text[n] && text[n] != ' '))
		return;
	for (size_t i = 0; i < n; ++i)
		stars += text[i] == '*';
	for (const char *c = name; *c; ++c)
		stars += (unsigned char)*c >= 0x80 ? 100 : 0;
	if (stars > 5)
		return;
	memcpy(glob, text, n);
	glob[n] = '\0';
	FUZZ_CHECK(audit_glob_matches(row->target, name) == (fnmatch(glob, name, 0) == 0));
}

static bool is_about(const struct audit_glob *glob, const char *name)
{
	return !glob || (name && audit_glob_matches(glob, name));
}

/** What the rows say about a finding, one after the other.  @return whether one ignores it. */
static bool naive(const struct audit_config *config, int64_t today, struct audit_finding *f)
{
	bool ignored = false;
	for (size_t i = 0; i < config->count; ++i) {
		const struct audit_row *row = &config->rows[i];
		check_glob(row, f->target);
		if (row->verb == AUDIT_REQUIRE || audit_row_over(row, today)
		    || !audit_set_has(row->codes, f->code) || !is_about(row->target, f->target)
		    || !is_about(row->type, f->fstype) || !is_about(row->owner, f->owner))
			continue;
		ignored |= row->verb == AUDIT_IGNORE;
		f->severity = row->verb == AUDIT_SEVERITY ? row->severity : f->severity;
	}
	return ignored;
}

static void check_apply(struct audit_config *config, int64_t today, const char *names, size_t len)
{
	struct audit_report report = {0};
	struct audit_finding wanted[64];
	size_t n = 0, silenced = 0, of[AUDIT_CRITICAL + 1] = {0}, left = 0, gone = 0;
	for (const char *at = names, *end = names + len; at < end && n < 64; ++n) {
		const char *stop = memchr(at, '\n', (size_t)(end - at));
		stop = stop ? stop : end;
		char *target = fuzz_string(at, (size_t)(stop - at));
		struct audit_finding f = {
			.code = (enum audit_code)((len + 7 * n) % AUDIT_CODES),
			        .severity = (enum audit_severity)(n % 3), .target = target,
			                    .message = "m",
			.owner = owners[n % 4], .fstype = types[n % 5],
		};
		audit_report_add(&report, &f);
		wanted[n] = report.findings[n];
		free(target);
		at = stop + (stop < end);
	}
	bool is_silenced[64];
	for (size_t i = 0; i < n; ++i) {
		is_silenced[i] = naive(config, today, &wanted[i]);
		silenced += is_silenced[i];
	}
	FUZZ_CHECK(audit_config_apply(&report, config, today) == 0);
	FUZZ_CHECK(report.silenced == silenced && config->nsilenced == silenced
	           && report.count == n - silenced);
	for (size_t i = 0; i < n; ++i) {
		const struct audit_finding *f = is_silenced[i] ? &config->silenced[gone].finding
		                                : &report.findings[left];
		FUZZ_CHECK(f->target == wanted[i].target && f->severity == wanted[i].severity
		           && f->code == wanted[i].code);
		FUZZ_CHECK(!is_silenced[i] || (config->silenced[gone].row->verb == AUDIT_IGNORE
		                               && !audit_row_over(config->silenced[gone].row,
		                                                  today)));
		is_silenced[i] ? ++gone : ++left;
	}
	for (size_t i = 0; i < report.count; ++i)
		++of[report.findings[i].severity];
	FUZZ_CHECK(memcmp(of, report.of, sizeof(of)) == 0);
	audit_report_destroy(&report);
}

/** What there is: by the length of its name. */
static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	size_t n = strlen(path);
	(void)arg;
	if (n % 3 == 0)
		return FACT_MISSING;
	strbuf_puts(real, n % 3 == 1 ? "/else/where" : path);
	return FACT_DIR;
}

/** Whether options show no secret.  NULL: none. */
static bool is_masked(const char *options)
{
	struct strbuf masked = {0};
	mask_options(options ? options : "", &masked);
	bool same = strcmp(strbuf_str(&masked), options ? options : "") == 0;
	strbuf_destroy(&masked);
	return same;
}

static void check_policy(const struct audit_config *config, bool asks, const char *root)
{
	static struct discovery *d;
	if (!d)
		d = fuzz_discover(table_text, sizeof(table_text) - 1);
	const struct fstab_facts facts = {.look = asks ? look : NULL};
	struct audit_report report = {0};
	const struct audit_policy_input in = {config, d, root, &facts};
	FUZZ_CHECK(audit_policy(&in, &report) == 0);
	size_t next = 0;
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		const struct audit_row *row = NULL;
		for (next = 0; next < config->count && !row; ++next) {
			if (config->rows[next].line == f->line)
				row = &config->rows[next];
		}
		FUZZ_CHECK(row && f->file && f->expected && *f->expected && f->hint);
		FUZZ_CHECK(is_masked(f->expected) && is_masked(f->actual));
		FUZZ_SAME(f->target, row->path);
		FUZZ_CHECK(f->code == POLICY_OPTION || f->code == POLICY_PARTITION
		           || f->code == MNT_PROPAGATION);
	}
	audit_report_destroy(&report);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	size_t len, n;
	int64_t today = 20000 + 10 * (int64_t)fuzz_byte(&in);
	const char *text = fuzz_until(&in, 1, &len);
	const char *names = fuzz_bytes(&in, size, &n);
	struct audit_config config = {0};
	FUZZ_CHECK(audit_config_parse(&config, "F", len ? text : "", len) == 0);
	FUZZ_CHECK(config.count + config.nproblems == statements(text, len));
	uint32_t line = 0;
	for (size_t i = 0; i < config.nproblems && i < AUDIT_PROBLEMS_MAX; ++i) {
		uint32_t number = (uint32_t)strtoul(config.problems[i].place + 2, NULL, 10);
		FUZZ_CHECK(number > line && *config.problems[i].why);
		line = number;
	}
	line = 0;
	for (size_t i = 0; i < config.count; ++i) {
		FUZZ_CHECK(config.rows[i].line > line);
		line = config.rows[i].line;
		check_row(&config.rows[i]);
	}
	check_apply(&config, today, names, n);
	check_policy(&config, false, "/");
	check_policy(&config, true, "/");
	check_policy(&config, today % 20 == 0, "/a");
	audit_config_destroy(&config);
	return 0;
}
