/* SPDX-License-Identifier: MIT */
#include "audit/audit_impl.h"

int audit_holders(const struct audit_live *in, const struct host_holder *holders, size_t n,
                  struct audit_report *report)
{
	bool (*secret)(const char *, const char *) = in->world->secret;
	for (size_t i = 0; i < n; ++i) {
		const struct host_holder *h = &holders[i];
		bool elsewhere = h->kind == HOST_HELD_ELSEWHERE;
		const char *source = h->source && secret && secret(h->source, NULL) ? "***"
		                                                                    : h->source;
		const char *process = audit_format(report, "process %d (%s)", h->pid, h->comm);
		const char *rest = h->count < 2 ? "" : audit_format(
			report, ", and %zu more %s%s", h->count - 1,
			elsewhere ? "namespace" : "file", h->count > 2 ? "s" : "");
		struct audit_finding at = {.target = h->target ? h->target : "", .line = h->line,
		                           .owner = h->line ? "fstab" : NULL};
		switch (h->kind) {
		case HOST_HELD_ELSEWHERE:
			audit_add_at(report, &at, MNT_HELD, AUDIT_WARNING, "not in use",
				     "mounted in another namespace", "unmount it there (nsenter -t "
				     "PID -m umount ...), or end the processes there",
				     "%s is busy: not mounted here, but in another mount namespace "
				     "on %s of %s%s", source, h->where, process, rest);
			break;
		case HOST_HELD_ALIVE:
			audit_add_at(report, &at, MNT_HELD, AUDIT_WARNING, "not in use", "in use",
				     "it was unmounted while in use (umount -l): fuser -vm DEVICE "
				     "lists the processes; end them", "%s is in use by the kernel, "
				     "but not mounted in any visible namespace", source);
			break;
		case HOST_HELD_DELETED:
			audit_add_at(report, &at, MNT_HELD, AUDIT_INFO, "not in use", "open files",
				     "end the process, then unmount it",
				     "open files in a removed directory: %s has %s%s", process,
				     h->where, rest);
			break;
		case HOST_HELD_DETACHED:
			audit_add_at(report, &at, MNT_HELD, AUDIT_INFO, "not in use", "open files",
				     "it was unmounted while in use (umount -l): it is busy until "
				     "the process ends", "%s has %s open, in a file system that is "
				     "no longer mounted%s", process, h->where, rest);
			break;
		}
	}
	return audit_finish(report);
}
