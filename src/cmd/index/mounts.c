/* SPDX-License-Identifier: MIT */
#include "cmd/index/index.h"

#include "base/fstypes.h"
#include "cmd/found/indexed.h"
#include "cmd/run.h"
#include "os/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Whether a mount is on a removable device. */
static bool is_removable(struct index_run *ir, const struct mount *m)
{
	uint32_t major, minor;
	return ir->run.devs && devmap_mount_device(ir->run.devs, m, &major, &minor)
	       && devmap_removable(ir->run.devs, major, minor);
}

int index_run_open(struct index_run *ir, const struct place *place)
{
	const char *name = run_name(&ir->run, (size_t)(place - ir->places));
	return indexed_open(&ir->run.os, name ? name : "", place->mount, false);
}

enum place_why index_run_never(const struct place *place)
{
	const unsigned never = 1u << PLACE_PSEUDO | 1u << PLACE_NETWORK | 1u << PLACE_FUSE
	                       | 1u << PLACE_HIDDEN | 1u << PLACE_FILE | 1u << PLACE_NAMELESS
	                       | 1u << PLACE_TWIN;
	if (place->why == PLACE_INDEX || never >> place->why & 1)
		return place->why;
	return place->blocks ? PLACE_BLOCKS : PLACE_INDEX;
}

const char *index_run_uuid(struct index_run *ir, size_t i)
{
	const struct place *place = &ir->places[i];
	return place->uuid && index_run_never(place) == PLACE_INDEX ? place->uuid : "";
}

void index_run_why(const struct index_run *ir, size_t i, enum place_why why, struct strbuf *text)
{
	const struct place *place = &ir->places[i];
	const char *other = run_name(&ir->run, place->of);
	other = other ? other : ir->places[place->of].mount->point;
	strbuf_puts(text, index_why(why));
	if (why != PLACE_SAME && why != PLACE_TWIN)
		return;
	strbuf_puts(text, why == PLACE_TWIN ? " " : ", ");
	strbuf_puts(text, other ? other : "another mount");
	if (why == PLACE_TWIN)
		strbuf_puts(text, "; " INDEX_TWIN_REMEDY);
}

/** Set place->uuid, the ID of the file system of a mount.  If the mount must not be opened, the ID
    is the UUID of the device. */
static void name_place(struct index_run *ir, size_t i)
{
	struct place *place = &ir->places[i];
	enum place_why why = index_run_never(place);
	int fd = why == PLACE_INDEX ? index_run_open(ir, place) : -1;
	if (fd < 0 && !(fstype_flags(place->mount->fstype) & FST_DEVICE))
		return;
	indexed_uuid(&ir->run.os, ir->run.devs, fd, place->mount, ir->uuids[i]);
	if (fd >= 0 || *ir->uuids[i])
		place->uuid = ir->uuids[i];
	os_close(&ir->run.os, fd);
}

/** Fill in a struct place with the facts about the i-th mount. */
static void know_place(struct index_run *ir, uint32_t i, struct place *place)
{
	const struct discovery *d = ir->run.d;
	const struct mt_node *node = &d->tree.nodes[i];
	const unsigned gone = 1u << MT_HIDDEN | 1u << MT_OUTSIDE | 1u << MT_LOST | 1u << MT_DELETED;
	*place = (struct place){.mount = node->mount};
	place->hidden = node->states & gone || node->made || !run_name(&ir->run, i);
	place->blocks = mounts_block(d->mounts, i);
	place->file = d->kinds[i] == DK_FILE;
	if (place->hidden || place->blocks || fstype_flags(node->mount->fstype) & FST_PSEUDO)
		return;
	place->removable = is_removable(ir, node->mount);
	int fd = fstype_flags(node->mount->fstype) & FST_SUBVOL ? index_run_open(ir, place) : -1;
	place->snapshot = fd >= 0 && os_subvol_readonly(&ir->run.os, fd);
	os_close(&ir->run.os, fd);
}

int index_run_begin(struct index_run *ir, const struct index_opts *opts)
{
	*ir = (struct index_run){.input = INPUT_LIMITED, .dirfd = -1, .begun = true,
	                          .given = opts->dir};
	run_init(&ir->run, &ir->input);
	run_start(&ir->run);
	int status = run_know(&ir->run, DISCOVER_FIELDS | MF_SOURCE | MF_VFS_OPTS | MF_FS_OPTS);
	if (status)
		return status;
	ir->nplaces = run_count(&ir->run);
	ir->places = calloc(ir->nplaces + 1, sizeof(*ir->places));
	ir->uuids = calloc(ir->nplaces + 1, sizeof(*ir->uuids));
	if (!ir->places || !ir->uuids)
		return message_error("index", errno, CX_ERROR);
	for (uint32_t i = 0; i < ir->nplaces; ++i)
		know_place(ir, i, &ir->places[i]);
	index_choose(ir->places, ir->nplaces);
	for (uint32_t i = 0; i < ir->nplaces; ++i)
		name_place(ir, i);
	if (index_choose_named(ir->places, ir->nplaces) != 0)
		return message_error("index", errno, CX_ERROR);
	ir->dirfd = index_place_open(&ir->run.os, opts->dir, false, &ir->dir);
	if (ir->dirfd >= 0 || (errno == ENOENT && ir->dir.len))
		return 0;
	return indexed_dir_error(strbuf_str(&ir->dir));
}

int index_run_create(struct index_run *ir)
{
	if (ir->dirfd >= 0)
		return 0;
	strbuf_reset(&ir->dir);
	ir->dirfd = index_place_open(&ir->run.os, ir->given, true, &ir->dir);
	return ir->dirfd >= 0 ? 0 : indexed_dir_error(strbuf_str(&ir->dir));
}

static void run_end(struct index_run *ir)
{
	if (!ir->begun)
		return;
	for (size_t i = 0; i < ir->nfound; ++i) {
		index_close(ir->found[i].index);
		free(ir->found[i].name);
		free(ir->found[i].title);
	}
	free(ir->found);
	os_close(&ir->run.os, ir->dirfd);
	strbuf_destroy(&ir->dir);
	free(ir->places);
	free(ir->uuids);
	run_destroy(&ir->run);
}

int index_verb(const struct index_verb *verb, int argc, char **argv, void *opts)
{
	const struct index_opts *common = opts;
	struct index_run ir = {.dirfd = -1};
	int status = options_read(verb->options, argc, argv, opts);
	if (status)
		return status;
	if (common->help) {
		options_help(verb->options, verb->usage, verb->notes, stdout);
	} else {
		status = verb->run(&ir, opts, argv + optind, (size_t)(argc - optind));
		run_end(&ir);
	}
	return finish_stdout() == 0 ? status : CX_ERROR;
}

bool index_path_given(const char *path)
{
	if (!*path)
		message("\"\"", "%s; the current directory is \".\"", strerror(ENOENT));
	return *path;
}

size_t index_run_find(struct index_run *ir, const char *path)
{
	struct strbuf full = {0};
	size_t found = SIZE_MAX;
	if (!index_path_given(path))
		return found;
	enum path_followed followed = mounts_follow(run_paths(&ir->run), path, &full);
	uint32_t node = mounts_holding(run_paths(&ir->run), strbuf_str(&full));
	const char *name = node == MT_NONE ? NULL : run_name(&ir->run, node);
	if (full.failed)
		message(path, "%s", strerror(ENOMEM));
	else if (followed == PATH_MISSING)
		message(path, "%s", path_error(errno));
	else if (name && strcmp(name, strbuf_str(&full)) == 0)
		found = node;
	else if (name)
		message(path, "not a mount point; use %s, the mount point of its file system",
		        name);
	else
		message(path, "not on a mount that can be reached; getmnt discover lists the "
		        "mounts");
	strbuf_destroy(&full);
	return found;
}
