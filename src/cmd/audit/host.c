/* SPDX-License-Identifier: MIT */
#include "cmd/audit/audit.h"

#include "cmd/run.h"
#include "recover/recover.h"

#include <errno.h>
#include <stdlib.h>

/** Compare the text of an mtab with the mounts, and count the differences.  If a mount has no name,
    nothing is compared.  @return 0, or -1 (ENOMEM). */
static int check_mtab(const struct discovery *d, const char *text, size_t len,
                      struct audit_mtab *mtab)
{
	struct rec_input in = {.format = REC_MTAB, .keep = REC_ALL};
	struct rec_result result = {0};
	struct rec_row *rows = NULL;
	size_t nameless = 0;
	struct tablines *lines = tablines_parse(text, len);
	int rc = lines ? rec_rows(&d->tree, d->targets, &rows, &in.nrows, &nameless) : -1;
	in.lines = lines;
	in.rows = rows;
	if (rc == 0 && !nameless && (rc = rec_check(&in, &result)) == 0)
		*mtab = (struct audit_mtab){
			HOST_MTAB_FILE, result.of[REC_WRONG], result.of[REC_GONE],
		                            result.of[REC_MISSING],
		                            result.of[REC_UNREADABLE]};
	rec_result_destroy(&result);
	tablines_free(lines);
	free(rows);
	return rc;
}

/** Examine /etc/mtab, and compare it with the mounts if it is a regular file.
    @return 0, or -1 (ENOMEM). */
static int read_mtab(struct host *host, struct audit_mtab *mtab)
{
	char *text;
	size_t len;
	enum host_mtab_kind kind = host_mtab(host, &text, &len);
	if (kind != HOST_MTAB_FILE) {
		mtab->kind = kind;
		return 0;
	}
	int rc = check_mtab(host->in.d, text, len, mtab);
	free(text);
	return rc;
}

/** Read the crypttab of the host.
    @text, name [out]  Buffers for the text and the name of the file, to which `in` then points.
    @return 0, or -2 after a message. */
static int read_crypttab(struct fstab_machine *machine, struct audit_live *in, char **text,
                         struct strbuf *name)
{
	switch (host_crypttab(&machine->host, text, name)) {
	case HOST_READ:
		in->crypttab = *text;
		in->crypttab_name = strbuf_str(name);
		return 0;
	case HOST_READ_NONE:
		return 0;
	case HOST_READ_BLIND:
		if (machine->run.live)
			message(strbuf_str(name), "not read: accessing it can block; unmount the "
			                          "file system there");
		in->crypttab_unknown = true;
		return 0;
	case HOST_READ_DENIED:
		in->crypttab_unknown = true;
		return 0;
	case HOST_READ_NUL:
		message(strbuf_str(name), "has a NUL byte: find what damaged it");
		return -2;
	case HOST_READ_FAILED:
		message(strbuf_str(name), "cannot be read: %s", path_error(errno));
		return -2;
	}
	return -2;
}

/** Read the errors that the mounted file systems of a plan report.  @return 0, or -1 (ENOMEM). */
static int read_errors(struct host *host, const struct fstab_plan *plan,
                       struct host_errors_list *errors)
{
	const struct mount **mounts = calloc(plan->count + 1, sizeof(*mounts));
	for (size_t i = 0; mounts && i < plan->count; ++i)
		mounts[i] = plan->lines[i].target ? plan->lines[i].mount : NULL;
	int rc = mounts ? host_read_errors(host, mounts, plan->count, errors) : -1;
	free(mounts);
	return rc;
}

int audit_check_host(struct fstab_machine *machine, struct audit_live *in,
                     struct audit_report *report)
{
	struct host *host = &machine->host;
	struct host_errors_list errors = {0};
	struct strbuf name = {0};
	char *cmdline = host_cmdline(host), *crypttab = NULL;
	in->cmdline = cmdline;
	in->errors = &errors;
	in->crypttab_unknown = !host->in.live;
	int rc = read_mtab(host, &in->mtab);
	if (rc == 0)
		rc = read_errors(host, in->plan, &errors);
	if (rc == 0 && host->in.live)
		rc = read_crypttab(machine, in, &crypttab, &name);
	if (rc == 0)
		rc = name.failed ? -1 : audit_host(in, report);
	free(cmdline);
	free(crypttab);
	host_errors_destroy(&errors);
	strbuf_destroy(&name);
	return rc;
}
