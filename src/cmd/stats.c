/* SPDX-License-Identifier: MIT */
#include "cmd/stats.h"

#include "cmd/text.h"

#include <inttypes.h>
#include <libsmartcols/libsmartcols.h>
#include <libmount.h>
#include <blkid/blkid.h>

void json_head(const struct run *run, struct json *json)
{
	json_put_number(json, "schema", 1);
	json_put_string(json, "version", GETMNT_VERSION);
	json_put_string(json, "host", run->host);
	json_put_string(json, "boot_id", run->boot_id);
	json_put_id(json, "mntns", run->mntns);
	json_put_string(json, "table", run->table ? table_source_name(run->table->source) : NULL);
	json_put_bool(json, "complete", run->complete);
	json_put_array(json, "incomplete_reasons", JSON_INLINE);
	for (size_t i = 0; i < run->nreasons; ++i)
		json_put_string(json, NULL, run->reasons[i]);
	json_end(json);
}

static const struct discover_stats no_stats;

static const char *stats_table(const struct run *run)
{
	return run->table ? table_source_name(run->table->source) : run->table_name;
}

void stats_calls_text(const struct os *os, struct text *out)
{
	text_put(out, "kernel calls: %" PRIu64 "\n", os_calls_total(os));
	for (enum os_call call = 0; call < OS_NCALLS; ++call) {
		if (os->calls[call])
			text_put(out, "  %-18s %" PRIu64 "\n", os_call_name(call),
			        os->calls[call]);
	}
}

void stats_calls_json(const struct os *os, struct json *json)
{
	json_put_object(json, "calls", JSON_TIGHT);
	for (enum os_call call = 0; call < OS_NCALLS; ++call)
		json_put_number(json, os_call_name(call), os->calls[call]);
	json_end(json);
	json_put_number(json, "total_calls", os_calls_total(os));
}

static void stats_text(struct run *run, const struct discover_stats *stats, size_t mounts,
                       double seconds, struct text *out)
{
	const struct {
		const char *text;
		uint64_t count;
	} counts[] = {
		{"directories read: ", stats->dirs}, {", entries ", stats->entries},
		{", unreadable ", stats->errors}, {" (denied ", stats->denied_dirs},
		{"), vanished ", stats->vanished},
		{"\nmost waiting directories ", stats->peak_frontier},
		{", open descriptors ", stats->peak_fds}, {"; threads: ", stats->threads},
		{"\nmounts: ", mounts},
	};
	stats_calls_text(&run->os, out);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i)
		text_put(out, "%s%" PRIu64, counts[i].text, counts[i].count);
	text_put(out, " from %s", stats_table(run));
	for (enum mt_named named = MT_NAMED_NONE; named <= MT_NAMED_VERIFIED; ++named) {
		if (stats->named[named])
			text_put(out, ", %s %" PRIu64, mtree_named_name(named),
			        stats->named[named]);
	}
	text_put(out, "\nstates:");
	for (enum mt_state state = 0; state < MT_NSTATES; ++state) {
		if (stats->states[state])
			text_put(out, " %s %" PRIu64, mtree_state_name(state),
			        stats->states[state]);
	}
	if (stats->probes || stats->probes_spared)
		text_put(out, "\nprobes: %" PRIu64 ", skipped (known to hang) %" PRIu64
		        ", processes still running %" PRIu64, stats->probes, stats->probes_spared,
		        stats->probes_left);
	text_put(out, "\nunmounted meanwhile: %" PRIu64 ", renamed: %" PRIu64
	        "\ntime: %.6f s (discovery: %.6f s)\n", stats->gone, stats->renamed, seconds,
	        stats->seconds);
}

static void stats_json(struct run *run, const struct discover_stats *stats, size_t mounts,
                       double seconds, struct json *json)
{
	const struct {
		const char *key;
		uint64_t count;
	} counts[] = {
		{"mounts", mounts}, {"gone", stats->gone}, {"renamed", stats->renamed},
		{"errors", stats->errors}, {"vanished", stats->vanished},
		{"denied_dirs", stats->denied_dirs}, {"probes", stats->probes},
		{"probes_spared", stats->probes_spared}, {"probes_left", stats->probes_left},
		{"peak_frontier", stats->peak_frontier}, {"peak_fds", stats->peak_fds},
		{"threads", stats->threads},
	};
	json_put_object(json, NULL, JSON_TIGHT);
	stats_calls_json(&run->os, json);
	json_put_number(json, "dirs", stats->dirs);
	json_put_number(json, "entries", stats->entries);
	json_put_object(json, "named", JSON_TIGHT);
	for (enum mt_named named = MT_NAMED_NONE; named <= MT_NAMED_VERIFIED; ++named)
		json_put_number(json, mtree_named_name(named), stats->named[named]);
	json_end(json);
	json_put_object(json, "states", JSON_TIGHT);
	for (enum mt_state state = 0; state < MT_NSTATES; ++state)
		json_put_number(json, mtree_state_name(state), stats->states[state]);
	json_end(json);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); ++i)
		json_put_number(json, counts[i].key, counts[i].count);
	json_put_object(json, "rules", JSON_TIGHT);
	for (int i = 0; discover_rules[i].name; ++i)
		json_put_number(json, discover_rules[i].name, stats->rule_hits[i]);
	json_end(json);
	json_put_string(json, "table", stats_table(run));
	json_put_bool(json, "complete", run->complete);
	json_put_real(json, "discovery_seconds", stats->seconds, 6);
	json_put_real(json, "seconds", seconds, 6);
	json_end(json);
}

void stats_print(struct run *run, int form, size_t watched)
{
	const struct discover_stats *stats = run->d ? &run->d->stats : &no_stats;
	const size_t mounts = run->table ? run->table->count : watched;
	double seconds = os_now() - run->start;
	if (form == STATS_JSON) {
		struct strbuf out = {0};
		struct json json = {.out = &out};
		stats_json(run, stats, mounts, seconds, &json);
		json_print_stderr(&json);
	} else {
		struct text text = {0};
		stats_text(run, stats, mounts, seconds, &text);
		text_print(&text, stderr);
	}
}

void explain_text(const struct run *run, struct text *out)
{
	text_put(out, "%-12s %-3s %12s  %s\n", "RULE", "ON", "APPLIED", "WHAT");
	for (int i = 0; discover_rules[i].name; ++i) {
		const struct discover_rule_row *rule = &discover_rules[i];
		bool on = run->d && run->d->rules & 1u << i;
		text_put(out, "%-12s %-3s %12" PRIu64 "  %s\n", rule->name, on ? "yes" : "no",
		        run->d ? run->d->stats.rule_hits[i] : 0, rule->what);
	}
}

void explain_json(const struct run *run, struct json *json)
{
	json_put_array(json, "rules", JSON_LINES);
	for (int i = 0; discover_rules[i].name; ++i) {
		const struct discover_rule_row *rule = &discover_rules[i];
		json_put_object(json, NULL, JSON_INLINE);
		json_put_string(json, "rule", rule->name);
		json_put_bool(json, "on", run->d && run->d->rules & 1u << i);
		json_put_number(json, "applied", run->d ? run->d->stats.rule_hits[i] : 0);
		json_put_string(json, "what", rule->what);
		json_end(json);
	}
	json_end(json);
}

void version_print(const struct os *os)
{
	static const struct {
		unsigned cap;
		const char *name;
	} caps[] = {
		{OSC_LISTMOUNT, "listmount"},
		{OSC_STATX_MNT_ID, "statx mount IDs"},
		{OSC_STATX_UNIQUE, "statx 64-bit mount IDs"},
		{OSC_OPENAT2, "openat2"},
		{OSC_FANOTIFY, "mount events"},
	};
	const char *mount_version = "?", *blkid_version = "?", *scols_version = "?", *date;
	mnt_get_library_version(&mount_version);
	blkid_get_library_version(&blkid_version, &date);
	scols_get_library_version(&scols_version);
	struct text text = {0};
	text_put(&text, "%s\nlibmount %s, libblkid %s, libsmartcols %s\nkernel:",
	         "getmnt " GETMNT_VERSION, mount_version, blkid_version, scols_version);
	for (size_t i = 0; i < sizeof(caps) / sizeof(*caps); ++i)
		text_put(&text, "%s %s%s%s", i ? "," : "", os->caps & caps[i].cap ? "" : "no ",
		         caps[i].name, os->disabled & caps[i].cap
		         ? " (switched off by GETMNT_DISABLE)" : "");
	text_put(&text, "\n");
	text_print(&text, stdout);
}
