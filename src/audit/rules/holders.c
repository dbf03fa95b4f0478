/* SPDX-License-Identifier: MIT */
#include "audit/rules/holders.h"

#include <errno.h>

/** Append the process: "process 12 (bash)". */
static void put_process(struct strbuf *text, const struct host_holder *h)
{
	strbuf_printf(text, "process %d (%s)", h->pid, h->comm);
}

static void put_rest(struct strbuf *text, const struct host_holder *h, const char *what)
{
	if (h->count > 1)
		strbuf_printf(text, ", and %zu more %s%s", h->count - 1, what,
		              h->count > 2 ? "s" : "");
}

int audit_holders(const struct host_holder *held, size_t n,
               bool (*secret)(const char *source, const char *options),
               struct audit_report *report)
{
	struct strbuf text;
	int rc = 0;
	strbuf_init(&text);
	for (size_t i = 0; i < n && rc == 0; ++i) {
		const struct host_holder *h = &held[i];
		const char *source = h->source && secret
			&& secret(h->source, NULL) ? "***" : h->source;
		struct audit_finding finding = {
			.code = MNT_HELD, .severity = AUDIT_WARNING,
				.target = h->target ? h->target : "",
					.owner = h->line ? "fstab" : NULL, .line = h->line,
			.expected = "not in use"};
		strbuf_reset(&text);
		switch (h->kind) {
		case HOST_HELD_ELSEWHERE:
			strbuf_printf(&text, "%s is busy: not mounted here, but in another mount "
			                     "namespace on %s of ", source, h->where);
			put_process(&text, h);
			put_rest(&text, h, "namespace");
			finding.actual = "mounted in another namespace";
			finding.hint = "unmount it there (nsenter -t PID -m umount ...), or end "
			               "the processes there";
			break;
		case HOST_HELD_ALIVE:
			strbuf_printf(&text, "%s is in use by the kernel, but not mounted in any "
			                     "visible namespace", source);
			finding.actual = "in use";
			finding.hint = "it was unmounted while in use (umount -l): fuser -vm "
			               "DEVICE lists the processes; end them";
			break;
		case HOST_HELD_DELETED:
			finding.severity = AUDIT_INFO;
			strbuf_puts(&text, "open files in a removed directory: ");
			put_process(&text, h);
			strbuf_printf(&text, " has %s", h->where);
			put_rest(&text, h, "file");
			finding.actual = "open files";
			finding.hint = "end the process, then unmount it";
			break;
		case HOST_HELD_DETACHED:
			finding.severity = AUDIT_INFO;
			put_process(&text, h);
			strbuf_printf(&text, " has %s open, in a file system that is no longer "
			                     "mounted", h->where);
			put_rest(&text, h, "file");
			finding.actual = "open files";
			finding.hint = "it was unmounted while in use (umount -l): it is busy "
			               "until the process ends";
			break;
		}
		finding.message = strbuf_str(&text);
		rc = text.failed ? -1 : audit_report_add(report, &finding);
	}
	strbuf_destroy(&text);
	if (rc == 0)
		audit_report_sort(report);
	else
		errno = ENOMEM;
	return rc;
}
