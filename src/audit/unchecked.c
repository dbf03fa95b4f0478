/* SPDX-License-Identifier: MIT */
/*
 * Why rules were not checked, in one wording for all outputs: "2 rules not checked here: A (needs
 * --probe); B (no systemd on this host)".
 */
#include "audit/rules.h"

#include <string.h>

/** What a rule needs besides the text of the fstab and the table of mounts. */
enum need {
	NEED_FACTS,       /* facts about the host other than the following */
	NEED_DEVICES, NEED_PATHS, NEED_INSTALLED, NEED_SYSTEMD, NEED_OWN_FSTAB, NEED_MTAB,
	NEED_KERNEL_LINE, NEED_CRYPTTAB,
	/* The following do not need the host. */
	NEED_NO_HOST,
	NEED_NAMES = NEED_NO_HOST, NEED_FEW, NEED_TABLE, NEED_BASELINE, NEED_RUNNING,
};

static const unsigned char needs[AUDIT_CODES] = {
	[FSTAB_SRC_MISSING] = NEED_DEVICES, [FSTAB_SRC_AMBIGUOUS] = NEED_DEVICES,
	[FSTAB_TYPE_MISMATCH] = NEED_DEVICES,
	[FSTAB_BIND_SRC] = NEED_PATHS, [FSTAB_OVERLAY_DIR] = NEED_PATHS,
	[FSTAB_TGT_MISSING] = NEED_PATHS, [FSTAB_TGT_SYMLINK] = NEED_PATHS,
	[FSTAB_TYPE_UNSUPPORTED] = NEED_INSTALLED, [FSTAB_HELPER_MISSING] = NEED_INSTALLED,
	[FSTAB_SYSTEMD_STALE] = NEED_SYSTEMD, [UNIT_FAILED] = NEED_SYSTEMD,
	[FSTAB_MODE] = NEED_OWN_FSTAB,
	[MTAB_REGULAR] = NEED_MTAB, [MTAB_STALE] = NEED_MTAB, [MTAB_CORRUPT] = NEED_MTAB,
	[BOOT_ROOT] = NEED_KERNEL_LINE, [BOOT_CRYPTTAB] = NEED_CRYPTTAB,
	[DRIFT_SOURCE] = NEED_NAMES, [DRIFT_TYPE] = NEED_NAMES, [DRIFT_OPTIONS] = NEED_NAMES,
	[FSTAB_OPT_TYPO] = NEED_FEW, [FSTAB_OPT_UNKNOWN] = NEED_FEW,
	[FSTAB_OPT_CONFLICT] = NEED_FEW,
	[POLICY_OPTION] = NEED_TABLE, [MNT_PROPAGATION] = NEED_TABLE,
	[BASE_CHANGED] = NEED_BASELINE, [BASE_WENT] = NEED_RUNNING,
};

/** Why a rule that only an option enables was not checked. */
static const char *why_option(unsigned flags, const struct audit_situation *at)
{
	if (flags & AR_PROBE)
		return at->probe ? "some mounts cannot be probed" : "needs --probe";
	if (flags & AR_UNDER)
		return at->under ? "some directories under mounts cannot be seen" : "needs --under";
	return at->holders ? "some processes cannot be seen" : "needs --holders";
}

const char *audit_why_not_checked(enum audit_code code, const struct audit_situation *at)
{
	const unsigned flags = audit_rules[code].flags;
	const enum need need = needs[code];
	if (at->recorded && need < NEED_NO_HOST)
		return "needs the host, not a recorded table";
	if (flags & (AR_PROBE | AR_UNDER | AR_HOLDERS))
		return why_option(flags, at);
	if (flags & AR_SWAPS)
		return "reading /proc/swaps can block";
	switch (need) {
	case NEED_DEVICES:
		return at->udev ? "some devices cannot be read" : "no udev on this host";
	case NEED_PATHS:
		return "some paths cannot be accessed, or accessing them can block";
	case NEED_INSTALLED:
		return "what is installed is not known";
	case NEED_SYSTEMD:
		if (code == FSTAB_SYSTEMD_STALE && at->foreign)
			return "only for the fstab of this host";
		return at->rooted ? "only for the running system"
		       : at->systemd ? "systemd does not answer" : "no systemd on this host";
	case NEED_OWN_FSTAB:
		return at->foreign ? "only for the fstab of this host"
		       : "there is no fstab, or its owner is not known";
	case NEED_MTAB:
		return at->rooted ? "only for the running system"
		       : "/etc/mtab cannot be read, or reading it can block";
	case NEED_KERNEL_LINE:
		return at->rooted ? "only for the running system"
		       : "the kernel command line names no device that is known";
	case NEED_CRYPTTAB:
		return "some devices or files of /etc/crypttab cannot be read";
	case NEED_NAMES:
		return "a server or helper chooses what the mount shows";
	case NEED_FEW:
		return "too many lines or options to check all";
	case NEED_TABLE:
		return "the table of mounts does not have it";
	case NEED_BASELINE:
		return "the baseline does not have it";
	case NEED_RUNNING:
		return "the host has just booted";
	case NEED_FACTS:
		break;
	}
	return "the kernel does not show it";
}

void audit_name_not_checked(struct strbuf *out, audit_set set, const struct audit_situation *at)
{
	unsigned n = audit_set_count(set);
	if (n)
		strbuf_printf(out, "%u rule%s not checked here", n, n == 1 ? "" : "s");
	for (const char *between = ": "; set; between = "; ") {
		const char *why = NULL;
		for (int code = 0; code < AUDIT_CODES; ++code) {
			if (!audit_set_has(set, (enum audit_code)code))
				continue;
			const char *own = audit_why_not_checked((enum audit_code)code, at);
			if (why && strcmp(own, why) != 0)
				continue;
			strbuf_printf(out, "%s%s", why ? ", " : between, audit_rules[code].code);
			why = own;
			set &= ~audit_set_only((enum audit_code)code);
		}
		strbuf_printf(out, " (%s)", why);
	}
}
