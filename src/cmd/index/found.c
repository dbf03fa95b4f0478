/* SPDX-License-Identifier: MIT */
#include "cmd/index/index.h"

#include "base/array.h"
#include "base/fail.h"
#include "base/words.h"
#include "cmd/found/indexed.h"
#include "os/change.h"
#include "os/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** Set found->place and found->twin: find the mounts whose root is the root of an index.
    @return 0, or -1 (ENOMEM). */
static int find_place(struct index_run *ir, struct index_found *found)
{
	struct strbuf name = {0};
	for (size_t i = 0; i < ir->nplaces; ++i) {
		const struct place *place = &ir->places[i];
		strbuf_reset(&name);
		if (place->uuid && *place->uuid && place->mount->root)
			index_place_name(place->uuid, place->mount->root, &name);
		if (!name.len || strcmp(name.data, found->name) != 0)
			continue;
		if (place->why == PLACE_TWIN)
			found->twin = i;
		else if (*index_run_uuid(ir, i)
		         && (found->place == SIZE_MAX || place->why == PLACE_INDEX))
			found->place = i;
	}
	bool failed = name.failed;
	strbuf_destroy(&name);
	return failed ? fail(ENOMEM) : 0;
}

/** Open the index in the directory `name`, and add the index to ir->found, even if it cannot be
    opened.  @return 0, or -1 (ENOMEM). */
static int add_index(struct index_run *ir, enum index_mode mode, const char *name)
{
	if (!ARRAY_ROOM(ir->found, ir->nfound, &ir->found_room))
		return -1;
	struct index_found *found = &ir->found[ir->nfound];
	*found = (struct index_found){.name = strdup(name), .place = SIZE_MAX,
	                              .twin = SIZE_MAX};
	if (!found->name)
		return -1;
	int fd = os_open_entry(&ir->run.os, ir->dirfd, name, O_RDONLY | O_DIRECTORY, ENTRY_LOCAL);
	found->index = fd < 0 ? NULL : index_open(&ir->run.os, fd, mode);
	found->error = found->index ? 0 : errno;
	os_close(&ir->run.os, fd);
	bool nomem = find_place(ir, found) != 0 || found->error == ENOMEM;
	const char *title = found->place == SIZE_MAX ? NULL : run_name(&ir->run, found->place);
	found->title = strdup(title ? title : name);
	/* Commands use even an incomplete list, so add only complete entries. */
	if (found->title && !nomem) {
		++ir->nfound;
		return 0;
	}
	index_close(found->index);
	free(found->name);
	free(found->title);
	return fail(ENOMEM);
}

/** Whether the directory of all indexes has a directory `name`, which can be an index. */
static bool has_entry(struct index_run *ir, const char *name)
{
	const int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;
	struct k_statx st;
	return ir->dirfd >= 0 && *name && *name != '.' && !strchr(name, '/')
	       && os_statx(&ir->run.os, ir->dirfd, name, flags, K_STATX_TYPE, &st) == 0
	       && S_ISDIR(st.mode);
}

/** Add the index that an operand names, by its directory or by a mount point.
    @return 0, or an exit status after a message. */
static int add_operand(struct index_run *ir, enum index_mode mode, const char *operand)
{
	struct strbuf name = {0};
	bool found = has_entry(ir, operand);
	size_t i = found ? SIZE_MAX : index_run_find(ir, operand);
	if (!found && i == SIZE_MAX)
		return CX_ERROR;
	if (found)
		strbuf_puts(&name, operand);
	else if (*index_run_uuid(ir, i))
		index_place_name(index_run_uuid(ir, i), ir->places[i].mount->root, &name);
	bool again = false;
	for (size_t k = 0; k < ir->nfound; ++k)
		again |= strcmp(ir->found[k].name, strbuf_str(&name)) == 0;
	int status = CX_ERROR;
	if (again)
		status = 0;
	else if (!has_entry(ir, strbuf_str(&name)))
		index_report_missing(ir, operand, i);
	else if (add_index(ir, mode, name.data) != 0)
		message("index", "%s", strerror(ENOMEM));
	else
		status = 0;
	strbuf_destroy(&name);
	return status;
}

/** Add all indexes.  @return 0, or an exit status after a message. */
static int add_all(struct index_run *ir, enum index_mode mode)
{
	alignas(struct k_dirent) char buf[4096];
	struct os_dir dir;
	int fd = os_openat(&ir->run.os, ir->dirfd, ".", O_RDONLY | O_DIRECTORY), error = errno;
	if (fd >= 0) {
		os_dir_begin(&dir, &ir->run.os, fd, buf, sizeof(buf));
		error = 0;
		for (const char *name; !error && (name = os_dir_next(&dir));) {
			if (has_entry(ir, name) && add_index(ir, mode, name) != 0)
				error = ENOMEM;
		}
		error = error ? error : dir.error;
	}
	os_close(&ir->run.os, fd);
	if (error)
		message(strbuf_str(&ir->dir), "%s", strerror(error));
	return error ? CX_ERROR : 0;
}

static int by_title(const void *left, const void *right)
{
	const struct index_found *a = left, *b = right;
	return strcmp(a->title, b->title);
}

int index_run_indexes(struct index_run *ir, char **operands, size_t n, enum index_mode mode,
                      bool required)
{
	int status = n == 0 && ir->dirfd >= 0 ? add_all(ir, mode) : 0;
	for (size_t i = 0; i < n; ++i) {
		int one = add_operand(ir, mode, operands[i]);
		status = one ? one : status;
	}
	if (n == 0 && status == 0 && ir->nfound > 0)
		qsort(ir->found, ir->nfound, sizeof(*ir->found), by_title);
	if (required && status == 0 && ir->nfound == 0) {
		struct strbuf text = {0};
		indexed_command("build", ir->given, NULL, NULL, &text);
		message(strbuf_str(&ir->dir), "has no indexes; %s creates them",
		        strbuf_str(&text));
		strbuf_destroy(&text);
		status = CX_ERROR;
	}
	return status;
}

struct index_found *index_found_for(struct index_run *ir, size_t place)
{
	struct index_found *found = ir->found;
	const struct mount *m = ir->places[place].mount;
	struct index_found *best = NULL;
	size_t longest = 0;
	for (size_t i = 0; i < ir->nfound && m->root; ++i) {
		const struct index_info *info = found[i].index ? index_info(found[i].index) : NULL;
		if (!info && found[i].place == SIZE_MAX)
			continue;
		const char *uuid = info ? info->uuid : index_run_uuid(ir, found[i].place);
		const char *root = info ? info->root : ir->places[found[i].place].mount->root;
		if (strcmp(uuid, index_run_uuid(ir, place)) != 0 || !word_below(m->root, root)
		    || strlen(root) <= longest)
			continue;
		longest = strlen(root);
		best = &found[i];
	}
	return best;
}

bool index_found_within(const struct index_run *ir, size_t i)
{
	const struct index_found *found = ir->found;
	const struct index_info *info = found[i].index ? index_info(found[i].index) : NULL;
	for (size_t k = 0; k < ir->nfound && info; ++k) {
		const struct index_info *other = found[k].index ? index_info(found[k].index) : NULL;
		const char *below = other && strcmp(other->uuid, info->uuid) == 0
		                    ? word_below(info->root, other->root) : NULL;
		struct index_row row;
		index_dir dir;
		/* Of a subvolume, the index of a directory above the subvolume has only the name
		   (IF_UNREAD), not the contents: then the contents are not in both indexes. */
		if (below && k != i && *below && index_lookup(found[k].index, below, &dir) == 0
		    && index_dir_row(found[k].index, dir, INDEX_ALL, &row) == 0
		    && !(row.col[IC_FLAGS] & IF_UNREAD))
			return true;
	}
	return false;
}

void index_report_missing(struct index_run *ir, const char *path, size_t place)
{
	const char *name = place < ir->nplaces ? run_name(&ir->run, place) : NULL;
	enum place_why why = name ? index_run_never(&ir->places[place]) : PLACE_INDEX;
	struct strbuf text = {0};
	if (!name) {
		message(path, "not on a mount that can be reached");
	} else if (why != PLACE_INDEX) {
		index_run_why(ir, place, why, &text);
		message(path, "has no index: %s", strbuf_str(&text));
	} else {
		indexed_command("build", ir->given, NULL, name, &text);
		message(path, "has no index; %s creates it", strbuf_str(&text));
	}
	strbuf_destroy(&text);
}

void index_report_root(const char *title, int error)
{
	message(title, "cannot be read: %s; if it has an index, that remains as it is",
	        strerror(error));
}

void index_report(const struct index_run *ir, const char *title, int error)
{
	struct strbuf text = {0};
	indexed_error(title, strbuf_str(&ir->dir), ir->given, error, &text);
	message(title, "%s", strbuf_str(&text));
	strbuf_destroy(&text);
}
