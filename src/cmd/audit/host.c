/* SPDX-License-Identifier: MIT */
/*
 * What audit_host() judges, read: small files of the system, and of the kernel's.
 *
 * What file systems say of themselves stands in sysfs: nothing is asked of them.
 */
#include "cmd/audit/host.h"

#include "cmd/recover/recover.h"
#include "fstab/common.h"
#include "os/file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NUMBER_MAX = 256, TEXT_MAX = 1 << 20, MTAB_MAX = 64 << 20 };

/** Of the initial PID namespace, by which the kernel has named it since 3.8. */
static const char first_pids[] = "pid:[4026531836]";

/* Files. */

/** Read a small file that the kernel makes up.  @return it, to be freed; or NULL. */
static char *read_kernel(struct os *os, const char *path)
{
	char *text;
	size_t len;
	return os_read_file(os, AT_FDCWD, path, TEXT_MAX, &text, &len) == 0 ? text : NULL;
}

long audit_read_number(struct os *os, const char *path)
{
	char *text, *end;
	size_t len;
	if (os_read_file(os, AT_FDCWD, path, NUMBER_MAX, &text, &len) != 0)
		return -1;
	long number = strtol(text, &end, 10);
	if (end == text || number < 0)
		number = -1;
	free(text);
	return number;
}

/** Whether this process is of the host itself: in no container, and in no other root. */
static bool is_host(struct run *run)
{
	char name[sizeof(first_pids) + 1];
	return run->live && os_readlinkat(&run->os, AT_FDCWD, "/proc/self/ns/pid", name, sizeof(name)) == sizeof(first_pids) - 1
	       && strcmp(name, first_pids) == 0 && host_is_managers_root(&run->os);
}

/* The mtab. */

static void pass_over(void *arg, size_t i)
{
	(void)i;
	*(bool *)arg = true;
}

static int judge_mtab(struct run *run, const char *text, size_t len, struct audit_mtab *mtab)
{
	struct rec_input in = {.format = REC_MTAB, .keep = REC_ALL};
	struct rec_judgement judgement = {0};
	struct rec_row *rows = NULL;
	bool nameless = false;
	struct tablines *lines = tablines_parse(text, len);
	int rc = lines && recover_mounts(run, &rows, &in.nrows, pass_over, &nameless) == 0 ? 0 : -1;
	in.lines = lines;
	in.rows = rows;
	if (rc == 0 && !nameless && (rc = rec_judge(&in, &judgement)) == 0)
		*mtab = (struct audit_mtab){AUDIT_MTAB_FILE, judgement.of[REC_WRONG], judgement.of[REC_GONE],
		                            judgement.of[REC_MISSING], judgement.of[REC_UNREADABLE]};
	rec_judgement_destroy(&judgement);
	tablines_free(lines);
	free(rows);
	return rc;
}

/** See what /etc/mtab is.  @return 0, or -1 (ENOMEM). */
static int read_mtab(struct fstab_machine *machine, struct audit_mtab *mtab)
{
	struct run *run = &machine->run;
	struct put_request request = {.path = "/etc/mtab", .blocks = put_blocks, .blocks_arg = run};
	struct strbuf place;
	char link[PATH_MAX], *text;
	size_t len;
	int rc = 0;
	if (recover_link(&run->os, &request, link) > 0) {
		mtab->kind = AUDIT_MTAB_KERNEL;
		return 0;
	}
	strbuf_init(&place);
	enum path_known known = facts_follow(&machine->facts, "/etc/mtab", &place);
	if (known == PATH_MISSING && errno == ENOENT) {
		mtab->kind = *link ? AUDIT_MTAB_NOWHERE : AUDIT_MTAB_NONE;
	} else if (known == PATH_SEEN && !path_blocks(run, strbuf_str(&place)) && strncmp(strbuf_str(&place), "/proc/", 6) != 0
	           && os_read_regular(&run->os, AT_FDCWD, strbuf_str(&place), MTAB_MAX, &text, &len) == 0) {
		rc = judge_mtab(run, text, len, mtab);
		free(text);
	}
	strbuf_destroy(&place);
	return rc;
}

/* Errors. */

static struct audit_errors *add_errors(struct audit_gathered *g, const struct fstab_line *line)
{
	struct audit_errors *more = reallocarray(g->errors, g->host.nerrors + 1, sizeof(*more));
	if (!more) {
		g->failed = true;
		return NULL;
	}
	g->errors = more;
	more += g->host.nerrors++;
	*more = (struct audit_errors){.target = line->target, .owner = line->owner, .fstype = line->mount->fstype, .line = line->of};
	return more;
}

static const char *keep(struct audit_gathered *g, const struct strbuf *text)
{
	const char *kept = text->failed ? NULL : arena_strndup(&g->arena, strbuf_str(text), text->len);
	g->failed |= !kept;
	return kept;
}

/** A superblock of ext4: /sys/fs/ext4/NAME, by the name of its device. */
static void ask_ext4(struct audit_gathered *g, struct os *os, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	char path[PATH_MAX], device[PATH_MAX];
	snprintf(path, sizeof(path), "/sys/dev/block/%u:%u", m->dev_major, m->dev_minor);
	const char *slash = os_readlinkat(os, AT_FDCWD, path, device, sizeof(device)) > 0 ? strrchr(device, '/') : NULL;
	if (!slash || snprintf(path, sizeof(path), "/sys/fs/ext4%s/errors_count", slash) >= (int)sizeof(path)) {
		g->host.errors_unknown = true;
		return;
	}
	long count = audit_read_number(os, path);
	/* Since Linux 4.19 told there; before, what is not told is not known. */
	g->host.errors_unknown |= count < 0;
	struct audit_errors *errors = count > 0 ? add_errors(g, line) : NULL;
	if (!errors)
		return;
	errors->count = (unsigned long long)count;
	snprintf(path, sizeof(path), "/sys/fs/ext4%s/last_error_func", slash);
	char *function = read_kernel(os, path);
	if (function && *function > ' ') {
		function[strcspn(function, "\n")] = '\0';
		strbuf_reset(&g->text);
		strbuf_printf(&g->text, "the last in %s()", function);
		errors->detail = keep(g, &g->text);
	}
	free(function);
}

/** The numbers of a text "name number", added up; names of those above 0 go to the text. */
static unsigned long long add_stats(const char *text, struct strbuf *names)
{
	unsigned long long sum = 0;
	for (const char *at = text; at && *at;) {
		size_t n = strcspn(at, " ");
		char *end = NULL;
		unsigned long long number = at[n] ? strtoull(at + n, &end, 10) : 0;
		if (number) {
			strbuf_printf(names, "%s%.*s %llu", names->len ? ", " : "", (int)n, at, number);
			sum += number;
		}
		at = strchr(at, '\n');
		at = at ? at + 1 : NULL;
	}
	return sum;
}

/** A file system of btrfs: /sys/fs/btrfs/UUID/devinfo/N. */
static void ask_btrfs(struct audit_gathered *g, struct fstab_machine *machine, const struct fstab_line *line)
{
	struct os *os = &machine->run.os;
	struct fstab_world world = machine_world(machine);
	struct fstab_device device = {0};
	_Alignas(struct k_dirent) char buf[32 * 1024];
	char path[PATH_MAX];
	if (world.device(world.arg, line->mount, &device) != 0) {
		g->failed = true;
		return;
	}
	const char *uuid = device.tags ? device.tags->uuid : NULL;
	int dir = -1;
	if (uuid && !strchr(uuid, '/')) {
		snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devinfo", uuid);
		dir = os_opendir(os, AT_FDCWD, path);
	}
	if (dir < 0) {
		g->host.errors_unknown = true;
		return;
	}
	unsigned long long sum = 0;
	unsigned missing = 0;
	ssize_t n;
	strbuf_reset(&g->text);
	while ((n = os_getdents(os, dir, buf, sizeof(buf))) > 0) {
		const struct k_dirent *entry;
		size_t at = 0, len;
		while ((entry = os_dirent(buf, (size_t)n, &at, &len)) != NULL) {
			if (len == 0 || *entry->name == '.' || len > NAME_MAX)
				continue;
			snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devinfo/%s/missing", uuid, entry->name);
			missing += audit_read_number(os, path) > 0;
			snprintf(path, sizeof(path), "/sys/fs/btrfs/%s/devinfo/%s/error_stats", uuid, entry->name);
			char *stats = read_kernel(os, path);
			g->host.errors_unknown |= !stats;   /* since Linux 5.14 */
			sum += add_stats(stats, &g->text);
			free(stats);
		}
	}
	os_close(os, dir);
	struct audit_errors *errors = sum || missing ? add_errors(g, line) : NULL;
	if (errors) {
		errors->count = sum;
		errors->missing = missing;
		errors->detail = g->text.len ? keep(g, &g->text) : NULL;
	}
}

/**
 * Whether a file system is seen to have shut down, without a question to it: ext4 says so among
 * its options (since Linux 6.16); of XFS statx(2) tells nothing but EIO then, though what it
 * tells otherwise is in memory.
 */
static bool is_shut_down(struct audit_gathered *g, const struct discovery *d, const struct mount *m)
{
	bool xfs = strcmp(m->fstype, "xfs") == 0;
	uint32_t node = xfs ? mtree_find(&d->tree, m->key) : MT_NONE;
	if (!xfs)
		return m->fs_opts && opt_shown_has(m->fs_opts, "shutdown");
	unsigned states = node == MT_NONE ? 1u << MT_UNTESTED : d->tree.nodes[node].states;
	g->host.errors_unknown |= (states & (1u << MT_UNTESTED | 1u << MT_UNSEARCHED | 1u << MT_DENIED)) != 0;
	return states & 1u << MT_STALE && !(states & 1u << MT_HIDDEN);
}

/** A file system that has shut down: of what it says of itself no more is asked. */
static void add_shutdown(struct audit_gathered *g, const struct fstab_line *line)
{
	struct audit_errors *errors = add_errors(g, line);
	if (errors)
		errors->shutdown = true;
}

/** Ask each superblock once. */
static void read_errors(struct audit_gathered *g, struct fstab_machine *machine, const struct fstab_plan *plan)
{
	struct map64 seen;
	if (path_blocks(&machine->run, "/sys/fs")) {
		g->host.errors_unknown = true;
		return;
	}
	map64_init(&seen);
	for (size_t i = 0; i < plan->count && !g->failed; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		const char *fstype = line->mount && line->target ? line->mount->fstype : NULL;
		bool btrfs = fstype && strcmp(fstype, "btrfs") == 0, xfs = fstype && strcmp(fstype, "xfs") == 0;
		if (!fstype || !(btrfs || xfs || (strncmp(fstype, "ext", 3) == 0 && strchr("234", fstype[3]) && fstype[3] && !fstype[4])))
			continue;
		bool down = is_shut_down(g, machine->run.d, line->mount);
		/* Of XFS another mount of it may be the one that is seen. */
		if (xfs && !down)
			continue;
		uint64_t dev = mount_dev(line->mount);
		uint32_t first = map64_put(&seen, dev, (uint32_t)i);
		g->failed |= first == MAP64_NONE;
		if (first != i)
			continue;
		if (down)
			add_shutdown(g, line);
		else if (btrfs)
			ask_btrfs(g, machine, line);
		else
			ask_ext4(g, &machine->run.os, line);
	}
	map64_destroy(&seen);
}

/* All. */

/** Read the crypttab of ROOT.  @return 0, or -1 after a message. */
static int read_crypttab(struct audit_gathered *g, struct fstab_machine *machine)
{
	struct run *run = &machine->run;
	size_t len;
	int rc = 0;
	strbuf_reset(&g->text);
	enum path_known known = facts_follow(&machine->facts, "/etc/crypttab", &g->text);
	struct strbuf shown;
	strbuf_init(&shown);
	if (known != PATH_SEEN) {
		const char *root = strbuf_str(&machine->root);
		strbuf_printf(&shown, "%s/etc/crypttab", strcmp(root, "/") == 0 ? "" : root);
	} else {
		strbuf_puts(&shown, strbuf_str(&g->text));
	}
	const char *path = strbuf_str(&g->text), *name = strbuf_str(&shown);
	if (known == PATH_BLIND || (known == PATH_SEEN && path_blocks(run, path))) {
		if (run->judged)
			message(name, "not read: touching it can block; unmount what is mounted there");
		g->host.crypttab_unknown = true;
	} else if (known == PATH_MISSING || os_read_regular(&run->os, AT_FDCWD, path, TEXT_MAX, &g->crypttab, &len) != 0) {
		/* An ordinary user may not read it. */
		g->host.crypttab_unknown = errno == EACCES || errno == EPERM;
		if (errno != ENOENT && errno != ENOTDIR && !g->host.crypttab_unknown) {
			message(name, "cannot be read: %s", path_error(errno));
			rc = -1;
		}
	} else if (strlen(g->crypttab) != len) {
		message(name, "cannot be judged: it has a NUL byte; see what has damaged it");
		rc = -1;
	} else {
		g->host.crypttab = g->crypttab;
		g->host.crypttab_name = keep(g, &shown);
	}
	strbuf_destroy(&shown);
	return rc;
}

void audit_gathered_init(struct audit_gathered *g)
{
	*g = (struct audit_gathered){0};
	arena_init(&g->arena);
	strbuf_init(&g->text);
}

void audit_gathered_destroy(struct audit_gathered *g)
{
	free(g->cmdline);
	free(g->crypttab);
	free(g->errors);
	arena_destroy(&g->arena);
	strbuf_destroy(&g->text);
}

int audit_gather(struct audit_gathered *g, struct fstab_machine *machine, const struct fstab_plan *plan)
{
	struct run *run = &machine->run;
	if (!run->live) {
		g->host.errors_unknown = g->host.crypttab_unknown = true;
		return 0;
	}
	bool here = strcmp(strbuf_str(&machine->root), "/") == 0;
	if (here && is_host(run))
		g->cmdline = read_kernel(&run->os, "/proc/cmdline");
	g->host.cmdline = g->cmdline;
	if (here && read_mtab(machine, &g->host.mtab) != 0)
		g->failed = true;
	read_errors(g, machine, plan);
	g->host.errors = g->errors;
	int rc = read_crypttab(g, machine);
	if (g->failed || g->text.failed) {
		message(NULL, "%s", strerror(ENOMEM));
		return -1;
	}
	return rc;
}
