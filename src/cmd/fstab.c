/* SPDX-License-Identifier: MIT */
/*
 * getmnt fstab: from what is mounted to an fstab; and the same as genfstab(8).
 *
 *     options --> run_know() --> fstab_plan() --> lines, and comments where there
 *                                   ^             can be none
 *              devices, swaps, fsck helpers, units, utab
 *
 * Exit status: 0 all has a line, 1 something has a comment instead, 2 it could not
 * be judged; called as genfstab also 1.
 */
#include "cmd/cmd.h"

#include "base/escape.h"
#include "base/fstypes.h"
#include "cmd/columns.h"
#include "cmd/input.h"
#include "cmd/options.h"
#include "cmd/output.h"
#include "cmd/rows.h"
#include "cmd/view.h"
#include "fstab/fstab.h"
#include "fstab/system.h"
#include "os/file.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <libmount.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FX_OK = 0, FX_COMMENTS = 1, FX_FAILED = 2 };

enum { TEXT_MAX = 4 << 20 };   /* of swaps and utab */

struct asked {
	bool genfstab;            /* as that: its layout, and 1 for errors */
	bool help, explain, nofail, all;
	int id;                   /* enum fstab_id */
	int options;              /* enum fstab_options */
	int stats;                /* enum stats_form */
	const char *tab_file, *swaps, *filter;
	const char *root;
};

/** What is known of the machine, for the plan. */
struct world {
	struct run run;
	struct fstab_system *system;
	char *swaps_text, *utab;
	struct fstab_swap *swaps;
	size_t nswaps;
	struct arena arena;
	struct kept {
		struct fstab_kept entry;
		uint32_t before;          /* the one before of this target, or MAP64_NONE */
	} *kept;
	size_t nkept;
	struct map64 kept_by;     /* hash of the target -> the last of these */
	struct map64 holders;     /* hash of "TAG=value" -> how many devices */
	bool counted, uncounted;
};

static const struct row_option fstab_rows[] = {
	{"explain", 0, NULL, "tell on standard error what is left out, and why"},
	{"genfstab", 0, NULL, "be genfstab(8), with its options and layout; stands first"},
	{"id", 0, "auto|uuid|label|partuuid|partlabel|path", "how devices are named"},
	{"nofail", 0, NULL, "nofail for mounts that a boot can do without"},
	{"options", 0, "minimal|live", "options: what is not usual, or all that there are"},
	{"stats", 0, "[json]", "tell what it cost, on standard error"},
	{"swaps", 0, "FILE", "a recorded /proc/swaps"},
	{"tab-file", 'F', "FILE", "a recorded mountinfo; nothing live is touched"},
	{"help", 'h', NULL, "this text"},
};

static const struct row_table fstab_table = {
	"fstab", fstab_rows, sizeof(fstab_rows) / sizeof(*fstab_rows),
};

static void fstab_help(FILE *out)
{
	fputs("Usage:\n getmnt fstab [options] [ROOT]\n getmnt fstab --genfstab [options of genfstab] ROOT\n\n"
	      "Print an fstab that mounts again what is mounted at and below ROOT (/).\n\nOptions:\n", out);
	rows_help(&fstab_table, out);
	fputs("\nExit status: 0 all has a line, 1 something has a comment instead, 2 it could not be\n"
	      "judged.\n\nDetails: getmnt-fstab(8).\n", out);
}

void fstab_option_words(FILE *out)
{
	rows_words(&fstab_table, out);
}

static int take_option(void *arg, const char *name, const char *value)
{
	static const char *const ids[] = {
		[FSTAB_AUTO] = "auto", [FSTAB_UUID] = "uuid", [FSTAB_LABEL] = "label",
		[FSTAB_PARTUUID] = "partuuid", [FSTAB_PARTLABEL] = "partlabel", [FSTAB_PATH] = "path", NULL,
	};
	static const char *const policies[] = {
		[FSTAB_MINIMAL] = "minimal", [FSTAB_LIVE] = "live", NULL,
	};
	static const char *const stats[] = {[STATS_NONE] = "", [STATS_TEXT] = "text", [STATS_JSON] = "json", NULL};
	struct asked *asked = arg;
	if (strcmp(name, "id") == 0)
		return rows_word("--id", value, ids, &asked->id);
	if (strcmp(name, "options") == 0 && strcmp(value, "keep") == 0) {
		message("--options=keep", "not in this version: options are those of the kernel; "
		        "--options=live gives all of them");
		return CX_ERROR;
	}
	if (strcmp(name, "options") == 0)
		return rows_word("--options", value, policies, &asked->options);
	if (strcmp(name, "stats") == 0)
		return rows_word("--stats", value ? value : "text", stats, &asked->stats);
	if (strcmp(name, "genfstab") == 0)
		return usage_error("--genfstab", "stands before the other options, which are those of genfstab then");
	if (strcmp(name, "tab-file") == 0)
		asked->tab_file = value;
	else if (strcmp(name, "swaps") == 0)
		asked->swaps = value;
	else if (strcmp(name, "explain") == 0)
		asked->explain = true;
	else if (strcmp(name, "nofail") == 0)
		asked->nofail = true;
	else
		asked->help = true;
	return 0;
}

/* The world. */

static int world_device(void *arg, const struct mount *mount, struct fstab_device *device)
{
	struct run *run = &((struct world *)arg)->run;
	const char *source = fstype_flags(mount->fstype) & FST_SUBVOL ? mount->source : NULL;
	uint32_t major, minor;
	if (!run->devs)
		return 0;
	device->tags = devmap_tags(run->devs, mount->dev_major, mount->dev_minor, source);
	if (!device->tags)
		return -1;
	if (devmap_behind(run->devs, mount->dev_major, mount->dev_minor, source, &major, &minor)) {
		device->remote = devmap_remote(run->devs, major, minor);
		devmap_loop(run->devs, major, minor, &device->loop);
	}
	return 0;
}

static int world_swap(void *arg, const char *name, struct fstab_device *device)
{
	struct run *run = &((struct world *)arg)->run;
	struct k_statx st;
	struct strbuf path;
	strbuf_init(&path);
	bool seen = run->devs && path_follow(run, name, &path) == PATH_SEEN
	            && path_look(run, strbuf_str(&path), K_STATX_TYPE, &st) == 0 && S_ISBLK(st.mode);
	bool failed = path.failed;
	strbuf_destroy(&path);
	if (!seen)
		return failed ? -1 : 0;
	device->tags = devmap_tags(run->devs, st.rdev_major, st.rdev_minor, NULL);
	device->remote = devmap_remote(run->devs, st.rdev_major, st.rdev_minor);
	return device->tags ? 0 : -1;
}

static uint64_t tag_hash(const char *tag, const char *value)
{
	return map64_bytes(map64_bytes(MAP64_BYTES, tag, strlen(tag) + 1), value, strlen(value));
}

static void count_tag(struct world *world, const char *tag, const char *value)
{
	if (!value || !*value)
		return;
	uint64_t key = tag_hash(tag, value);
	uint32_t before = map64_remove(&world->holders, key);
	if (map64_put(&world->holders, key, before == MAP64_NONE ? 1 : before + 1) == MAP64_NONE)
		world->run.nomem = true;
}

/** Count which identifiers there are, of all devices. */
static void count_tags(struct world *world)
{
	struct devmap_device *list = NULL;
	ssize_t n = devmap_list_all(world->run.devs, &list);
	world->counted = true;
	if (n < 0) {
		message(NULL, "devices cannot be listed: %s; whether identifiers are those of one device alone "
		        "is not known", strerror(errno));
		world->uncounted = true;
		return;
	}
	for (ssize_t i = 0; i < n; ++i) {
		const struct devmap_tags *tags = list[i].tags;
		/* The devices of one btrfs have one UUID. */
		bool again = tags->multi_device && tags->uuid
		             && map64_get(&world->holders, tag_hash("multi", tags->uuid)) != MAP64_NONE;
		if (tags->multi_device)
			count_tag(world, "multi", tags->uuid);
		if (!again) {
			count_tag(world, "UUID", tags->uuid);
			count_tag(world, "LABEL", tags->label);
		}
		count_tag(world, "PARTUUID", tags->partuuid);
		count_tag(world, "PARTLABEL", tags->partlabel);
	}
	free(list);
}

static unsigned world_holders(void *arg, const char *tag, const char *value)
{
	struct world *world = arg;
	if (!world->counted)
		count_tags(world);
	uint32_t n = world->uncounted ? 0 : map64_get(&world->holders, tag_hash(tag, value));
	return n == MAP64_NONE ? 0 : n;
}

static int world_fsck(void *arg, const char *fstype)
{
	struct world *world = arg;
	return world->system ? fstab_system_fsck(world->system, fstype) : -1;
}

static enum fstab_unit world_unit(void *arg, const char *target)
{
	struct world *world = arg;
	return world->system ? fstab_system_unit(world->system, target) : FSTAB_NO_UNIT;
}

static const char *world_kept(void *arg, const char *name, const struct mount *mount)
{
	const struct world *world = arg;
	uint32_t i = map64_get(&world->kept_by, map64_bytes(MAP64_BYTES, name, strlen(name)));
	for (; i != MAP64_NONE; i = world->kept[i].before) {
		const struct fstab_kept *entry = &world->kept[i].entry;
		if (strcmp(entry->target, name) == 0 && fstab_utab_fits(entry, mount))
			return entry->options;
	}
	return NULL;
}

static bool world_secret(const char *source, const char *options)
{
	if (options && has_secret(options))
		return true;
	struct strbuf masked;
	strbuf_init(&masked);
	if (source)
		mask_source(source, &masked);
	bool secret = source && strcmp(strbuf_str(&masked), source) != 0;
	strbuf_destroy(&masked);
	return secret;
}

/** Read what mount(8) keeps beside the kernel; it may not be there. */
static int read_utab(struct world *world)
{
	static const char path[] = "/run/mount/utab";
	size_t len, size = 0;
	if (path_blocks(&world->run, "/run/mount"))
		return 0;
	if (os_read_file(&world->run.os, AT_FDCWD, path, TEXT_MAX, &world->utab, &len) != 0)
		return errno == ENOMEM ? -1 : 0;
	char *at = world->utab;
	struct kept kept;
	while (fstab_utab_next(&at, &kept.entry)) {
		if (world->nkept == size) {
			size = size ? 2 * size : 16;
			struct kept *more = realloc(world->kept, size * sizeof(*more));
			if (!more)
				return -1;
			world->kept = more;
		}
		uint64_t key = map64_bytes(MAP64_BYTES, kept.entry.target, strlen(kept.entry.target));
		kept.before = map64_get(&world->kept_by, key);
		world->kept[world->nkept] = kept;
		map64_remove(&world->kept_by, key);
		if (map64_put(&world->kept_by, key, (uint32_t)world->nkept++) == MAP64_NONE)
			return -1;
	}
	return 0;
}

/** Read the swap spaces.  @return 0, or -1 after a message. */
static int read_swaps(struct world *world, const char *file)
{
	const char *path = file ? file : "/proc/swaps";
	size_t len;
	if (os_read_file(&world->run.os, AT_FDCWD, path, TEXT_MAX, &world->swaps_text, &len) != 0) {
		/* A kernel without swap has no such file. */
		if (!file && errno == ENOENT)
			return 0;
		message(path, "cannot be read: %s; give a copy of /proc/swaps with --swaps", strerror(errno));
		return -1;
	}
	ssize_t n = fstab_parse_swaps(world->swaps_text, &world->arena, &world->swaps);
	if (n < 0) {
		message(path, "%s", strerror(errno));
		return -1;
	}
	world->nswaps = (size_t)n;
	return 0;
}

/** ROOT as the table names it.  @return 0, or -1 after a message. */
static int find_root(struct world *world, const struct asked *asked, struct strbuf *root)
{
	struct run *run = &world->run;
	if (!run->live) {
		if (*asked->root != '/') {
			usage_error(asked->root, "of a recorded table ROOT is an absolute path");
			return -1;
		}
		path_normal(asked->root, root);
		return 0;
	}
	if (path_follow(run, asked->root, root) == PATH_MISSING) {
		message(asked->root, "%s; give a directory", path_error(errno));
		return -1;
	}
	if (path_blocks(run, strbuf_str(root))) {
		message(strbuf_str(root), "touching it can block: fsck helpers and units are not looked for");
		return 0;
	}
	world->system = fstab_system_new(&run->os, strbuf_str(root), path_blocks, run);
	if (!world->system) {
		message(asked->root, "%s; give a directory", strerror(errno));
		return -1;
	}
	return 0;
}

/** Whether a mount is at ROOT itself. */
static bool is_mounted(const struct run *run, const char *root)
{
	for (size_t i = 0; i < run_count(run); ++i) {
		const char *name = run_name(run, i);
		if (name && strcmp(name, root) == 0)
			return true;
	}
	return false;
}

/* Output. */

struct printer {
	struct strbuf out;
	struct strbuf field;
	bool terminal, genfstab;
};

/** Append a field, filled up with blanks, and what parts it from the next. */
static void put_field(struct printer *p, const char *text, bool first, int width)
{
	strbuf_reset(&p->field);
	if (first)
		escape_first_field(&p->field, text, ESCAPE_PATH, p->terminal);
	else if (p->terminal)
		escape_octal_terminal(&p->field, text, ESCAPE_PATH);
	else
		escape_octal(&p->field, text, ESCAPE_PATH);
	strbuf_printf(&p->out, p->genfstab ? "%-*s\t" : "%-*s ", width, strbuf_str(&p->field));
}

/** Append a text to a comment: it must not end it. */
static void put_text(struct printer *p, const char *text)
{
	escape_octal_terminal(&p->out, text, "\n");
}

static void put_line(struct printer *p, const struct fstab_line *line)
{
	if (line->warning) {
		strbuf_puts(&p->out, "# getmnt: ");
		put_text(p, line->mount ? line->target : line->source);
		strbuf_puts(&p->out, ": ");
		put_text(p, line->warning);
		strbuf_putc(&p->out, '\n');
	}
	if (line->note) {
		strbuf_puts(&p->out, "# ");
		put_text(p, line->note);
		strbuf_putc(&p->out, '\n');
	}
	int narrow = p->genfstab ? 10 : 7;
	put_field(p, line->source, true, p->genfstab ? 20 : 41);
	put_field(p, line->target, false, p->genfstab ? 10 : 15);
	put_field(p, line->fstype, false, narrow);
	put_field(p, line->options, false, p->genfstab ? 10 : 15);
	strbuf_printf(&p->out, "0 %d\n%s", line->passno, p->genfstab ? "\n" : "");
}

static void put_comment(struct printer *p, const struct fstab_line *line)
{
	const struct mount *m = line->mount;
	strbuf_puts(&p->out, "# getmnt: no line for ");
	put_text(p, m ? line->target ? line->target : "a mount without a name" : line->source);
	strbuf_puts(&p->out, " (");
	put_text(p, m && m->fstype ? m->fstype : m ? "?" : "swap");
	if (m && m->source) {
		strbuf_putc(&p->out, ' ');
		strbuf_reset(&p->field);
		mask_source(m->source, &p->field);
		put_text(p, strbuf_str(&p->field));
	}
	strbuf_puts(&p->out, "): ");
	put_text(p, line->why ? line->why : "?");
	strbuf_putc(&p->out, '\n');
}

/** Print the plan.  @return an exit status. */
static int print_plan(const struct run *run, const struct asked *asked, const struct fstab_plan *plan)
{
	struct printer p = {.genfstab = asked->genfstab};
	strbuf_init(&p.out);
	strbuf_init(&p.field);
	os_mark(MARK_END);
	p.terminal = isatty(STDOUT_FILENO);
	os_mark(MARK_BEGIN);
	if (!p.genfstab)
		strbuf_puts(&p.out, "# <source> <target> <type> <options> <freq> <pass>\n");
	for (size_t i = 0; i < plan->count; ++i) {
		if (plan->lines[i].fate == FSTAB_LINE)
			put_line(&p, &plan->lines[i]);
	}
	for (size_t i = 0; i < plan->count; ++i) {
		if (plan->lines[i].fate == FSTAB_COMMENT)
			put_comment(&p, &plan->lines[i]);
	}
	os_mark(MARK_END);
	int status = run->complete && plan->of[FSTAB_COMMENT] == 0 ? FX_OK : FX_COMMENTS;
	if (p.out.failed || p.field.failed) {
		message(NULL, "%s", strerror(ENOMEM));
		status = FX_FAILED;
	} else {
		fwrite(strbuf_str(&p.out), 1, p.out.len, stdout);
		if (finish_stdout(true) != 0)
			status = FX_FAILED;
	}
	strbuf_destroy(&p.out);
	strbuf_destroy(&p.field);
	return status;
}

static void explain(const struct fstab_plan *plan)
{
	for (size_t i = 0; i < plan->count; ++i) {
		const struct fstab_line *line = &plan->lines[i];
		if (line->fate == FSTAB_OWN)
			message(line->mount ? line->target : line->source, "left out: %s", line->why);
	}
}

/** The types that genfstab leaves out are libmount's, as of this machine. */
static bool is_pseudo(const char *fstype)
{
	return mnt_fstype_is_pseudofs(fstype) || fstype_flags(fstype) & FST_PSEUDO;
}

/** Make the plan, and print it.  @return an exit status. */
static int make_fstab(struct world *world, const struct asked *asked, const char *root)
{
	struct run *run = &world->run;
	if (world->system && !asked->genfstab && fstab_system_is(world->system, STDOUT_FILENO, "etc/fstab")) {
		message("standard output", "this is %s/etc/fstab itself: \"> FILE\" has emptied it, \">> FILE\" would add "
		        "to it what it has; write to another file, compare, and move that. (--write of a later "
		        "version keeps what is in it.)", strcmp(root, "/") == 0 ? "" : root);
		return FX_FAILED;
	}
	struct fstab_input in = {
		.d = run->d, .root = root, .swaps = world->swaps, .nswaps = world->nswaps,
		.id = (enum fstab_id)asked->id, .options = (enum fstab_options)asked->options,
		.nofail = asked->nofail, .filter = asked->filter, .all = asked->genfstab && asked->all,
		.world = {
			.arg = world, .device = world_device, .swap = world_swap, .holders = world_holders,
			.fsck = world_fsck, .unit = world_unit, .kept = world_kept, .secret = world_secret,
		},
	};
	if (asked->genfstab && !asked->all)
		in.pseudo = is_pseudo;
	struct fstab_plan plan;
	int status = FX_FAILED;
	if (fstab_plan(&in, &plan) != 0 || run_failed(run)
	    || (world->system && fstab_system_failed(world->system))) {
		message(root, "%s", strerror(ENOMEM));
	} else {
		if (asked->explain)
			explain(&plan);
		status = print_plan(run, asked, &plan);
		if (plan.of[FSTAB_COMMENT])
			message(root, "%zu of %zu mounts and swap spaces have a comment instead of a line",
			        plan.of[FSTAB_COMMENT], plan.of[FSTAB_COMMENT] + plan.of[FSTAB_LINE]);
	}
	fstab_plan_destroy(&plan);
	return status;
}

/** @return an exit status. */
static int run_fstab(const struct asked *asked)
{
	static char name[] = "getmnt";
	char *argv[] = {name, NULL};
	struct options o;
	struct columns columns = {0};
	options_parse(&o, 1, argv);
	o.tab_file = asked->tab_file;
	o.stats = asked->stats;
	o.names = asked->tab_file ? DN_KERNEL : DN_HINT;
	o.max_dirs = 20000;
	o.search_seconds = 2;
	struct world world = {.run = {.opt = &o, .cols = &columns, .procfd = AT_FDCWD, .rootfd = AT_FDCWD,
	                              .complete = true, .start = os_now()}};
	struct run *run = &world.run;
	struct strbuf root;
	strbuf_init(&root);
	arena_init(&world.arena);
	map64_init(&world.kept_by);
	map64_init(&world.holders);
	run->progress = progress_begin(run);
	os_mark(MARK_BEGIN);
	if (o.tab_file)
		run->os = (struct os){.statx_works = true};
	else
		os_init(&run->os, getenv("GETMNT_DISABLE"));

	int status = FX_FAILED;
	if (run_know(run, DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS) != 0
	    || find_root(&world, asked, &root) != 0
	    || ((run->live || asked->swaps) && read_swaps(&world, asked->swaps) != 0))
		goto out;
	if (run->live && read_utab(&world) != 0) {
		message(NULL, "%s", strerror(ENOMEM));
		goto out;
	}
	bool mounted = is_mounted(run, strbuf_str(&root));
	if (!mounted && asked->genfstab) {
		message(asked->root, "is not a mount point");
		goto out;
	}
	if (!mounted)
		message(asked->root, "nothing is mounted there: there is no line for /");
	status = make_fstab(&world, asked, strbuf_str(&root));
	for (size_t i = 0; i < run->nreasons; ++i)
		message(NULL, "not all is known: %s", run->reasons[i]);
	if (o.stats)
		stats_print(run);
out:
	fstab_system_free(world.system);
	free(world.swaps_text);
	free(world.swaps);
	free(world.utab);
	free(world.kept);
	arena_destroy(&world.arena);
	map64_destroy(&world.kept_by);
	map64_destroy(&world.holders);
	strbuf_destroy(&root);
	run_destroy(run);
	return status;
}

int cmd_fstab(int argc, char **argv)
{
	if (argc > 1 && strcmp(argv[1], "--genfstab") == 0)
		return cmd_genfstab(argc - 1, argv + 1);
	struct asked asked = {.id = FSTAB_AUTO, .options = FSTAB_MINIMAL, .root = "/"};
	if (rows_parse(&fstab_table, argc, argv, take_option, &asked) != 0)
		return FX_FAILED;
	if (asked.help) {
		fstab_help(stdout);
		return finish_stdout(false) == 0 ? FX_OK : FX_FAILED;
	}
	if (optind < argc)
		asked.root = argv[optind++];
	if (optind < argc || !*asked.root) {
		usage_error("fstab", optind < argc ? "one ROOT at a time" : "an empty ROOT; this system's is \"/\"");
		return FX_FAILED;
	}
	return run_fstab(&asked);
}

/* genfstab. */

static void genfstab_help(FILE *out)
{
	fputs("usage: genfstab [options] root\n\n"
	      "  Options:\n"
	      "    -f <filter>    Restrict output to mountpoints matching the prefix FILTER\n"
	      "    -L             Use labels for source identifiers (shortcut for -t LABEL)\n"
	      "    -p             Exclude pseudofs mounts (default behavior)\n"
	      "    -P             Include pseudofs mounts\n"
	      "    -t TAG         Use TAG for source identifiers (TAG should be one of: LABEL,\n"
	      "                     UUID, PARTLABEL, PARTUUID)\n"
	      "    -U             Use UUIDs for source identifiers (shortcut for -t UUID)\n\n"
	      "    -h             Print this help message\n\n"
	      "genfstab generates output suitable for addition to an fstab file based on the\n"
	      "devices mounted under the mountpoint specified by the given root.\n", out);
}

/** -t TAG.  @return 0, or -1 after a message. */
static int take_tag(struct asked *asked, const char *tag)
{
	static const char *const tags[] = {
		[FSTAB_UUID] = "UUID", [FSTAB_LABEL] = "LABEL", [FSTAB_PARTUUID] = "PARTUUID",
		[FSTAB_PARTLABEL] = "PARTLABEL",
	};
	for (int i = FSTAB_UUID; i <= FSTAB_PARTLABEL; ++i) {
		if (strcasecmp(tag, tags[i]) == 0) {
			asked->id = i;
			return 0;
		}
	}
	message("-t", "\"%s\": not one of LABEL, UUID, PARTLABEL, PARTUUID", tag);
	return -1;
}

int cmd_genfstab(int argc, char **argv)
{
	static const struct option longs[] = {{"help", no_argument, NULL, 'h'}, {0}};
	struct asked asked = {.id = FSTAB_PATH, .options = FSTAB_LIVE, .genfstab = true};
	int c;
	if (argc < 2) {
		genfstab_help(stdout);
		finish_stdout(false);
		return 1;
	}
	opterr = 0;
	optind = 0;
	while ((c = getopt_long(argc, argv, "+:f:hLpPt:U", longs, NULL)) != -1) {
		switch (c) {
		case 'f':
			asked.filter = optarg;
			break;
		case 'h':
			genfstab_help(stdout);
			return finish_stdout(false) == 0 ? 0 : 1;
		case 'L':
			asked.id = FSTAB_LABEL;
			break;
		case 'U':
			asked.id = FSTAB_UUID;
			break;
		case 'p':
		case 'P':
			asked.all = c == 'P';
			break;
		case 't':
			if (take_tag(&asked, optarg) != 0)
				return 1;
			break;
		default:
			message(argv[optind - 1], c == ':' ? "needs an argument" : "no such option of genfstab");
			return 1;
		}
	}
	if (optind == argc || !*argv[optind]) {
		message("genfstab", "no root directory specified");
		return 1;
	}
	asked.root = argv[optind];
	return run_fstab(&asked) == FX_OK ? 0 : 1;
}
