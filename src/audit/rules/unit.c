/* SPDX-License-Identifier: MIT */
/*
 * The units that systemd has, as `systemctl show` prints them: lines of KEY=value, units
 * parted by an empty line.
 */
#include "audit/rules/host_impl.h"

#include "base/escape.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/** Take a line. */
static void take(struct audit_unit *unit, char *line)
{
	static const char *const keys[] = {"Id", "LoadState", "ActiveState", "Result", "Where", "What"};
	const char **const values[] = {&unit->id, &unit->load, &unit->active, &unit->result, &unit->where, &unit->what};
	char *equals = strchr(line, '=');
	if (!equals)
		return;
	*equals = '\0';
	for (size_t i = 0; i < sizeof(keys) / sizeof(*keys); ++i) {
		if (strcmp(line, keys[i]) == 0)
			*values[i] = equals + 1;
	}
}

ssize_t audit_units_parse(char *text, struct audit_unit **units)
{
	struct audit_unit *list = NULL, unit = {0};
	size_t count = 0, room = 0;
	for (char *line = text, *next; line; line = next) {
		next = strchr(line, '\n');
		if (next)
			*next++ = '\0';
		take(&unit, line);
		if (*line && next)
			continue;
		if (unit.id && count == room) {
			room = room ? 2 * room : 64;
			struct audit_unit *more = reallocarray(list, room, sizeof(*more));
			if (!more) {
				free(list);
				errno = ENOMEM;
				return -1;
			}
			list = more;
		}
		if (unit.id)
			list[count++] = unit;
		unit = (struct audit_unit){0};
	}
	*units = list;
	return (ssize_t)count;
}

void host_units(struct host *host)
{
	const struct audit_host *in = host->in;
	struct strbuf name, plain;
	strbuf_init(&name);
	strbuf_init(&plain);
	if (!in->units_known)
		host_unjudged(host, UNIT_FAILED);
	for (size_t i = 0; i < in->nunits; ++i) {
		const struct audit_unit *unit = &in->units[i];
		const char *target = unit->where && *unit->where ? unit->where : unit->what && *unit->what ? unit->what : unit->id;
		bool unread = unit->load && (strcmp(unit->load, "bad-setting") == 0 || strcmp(unit->load, "error") == 0);
		if (!unread && (!unit->active || strcmp(unit->active, "failed") != 0))
			continue;
		strbuf_reset(&name);
		strbuf_reset(&plain);
		escape_operand(&name, unit->id);
		escape_shell(&plain, unit->id);
		bool gone = unit->load && strcmp(unit->load, "not-found") == 0;
		host_tell(host, &(struct audit_finding){
			.code = UNIT_FAILED, .severity = gone ? AUDIT_INFO : AUDIT_WARNING, .target = target, .owner = "unit",
			.message = host_form(host, unread ? "systemd cannot make anything of %s" : gone ? "%s has failed, and is not there any more" : "%s has failed", unit->id),
			.expected = unread ? "loaded" : "no failure", .actual = unread ? unit->load : unit->result ? unit->result : "failed",
			.hint = gone ? host_form(host, "systemctl reset-failed %s", strbuf_str(&name))
			             : host_form(host, "systemctl status %s; journalctl -u %s", strbuf_str(&name), strbuf_str(&plain))});
	}
	host->failed |= name.failed || plain.failed;
	strbuf_destroy(&name);
	strbuf_destroy(&plain);
}
