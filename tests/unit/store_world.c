/* SPDX-License-Identifier: MIT */
#include "store_world.h"

#include "tree.h"
#include "unit.h"

#include <sys/stat.h>

void world_begin(struct tree *tree)
{
	snprintf(tree->path, sizeof(tree->path), "/dev/shm/getmnt-XXXXXX");
	if (!mkdtemp(tree->path)) {
		tree_begin(tree);
		return;
	}
	tree->fd = open(tree->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	CU_ASSERT_FATAL(tree->fd >= 0);
}

uint32_t world_random(struct world *w, uint32_t n)
{
	w->random = w->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((w->random >> 33) % n);
}

/** Begin a directory.  @return its position. */
static uint32_t add_dir(struct world *w, uint32_t parent)
{
	uint32_t at = w->ndirs++;
	struct world_dir *d = &w->dirs[at];
	*d = (struct world_dir){.dir = INDEX_DIR_NONE, .parent = parent, .ino = ++w->ino,
	                        .live = true};
	if (at > 0) {
		snprintf(d->name, sizeof(d->name), "d%llx", (unsigned long long)d->ino);
		++w->dirs[parent].subdirs;
	}
	d->mtime = world_random(w, 1000000);
	d->listed = world_random(w, 1000000);
	return at;
}

static uint32_t add_file(struct world *w, uint32_t dir)
{
	static const char *const ends[] = {"", ".c", ".jpeg", ".tar.gz", "\xff\x01"};
	uint32_t at = w->nfiles++;
	struct world_file *f = &w->files[at];
	*f = (struct world_file){.dir = dir, .ino = ++w->ino, .live = true};
	f->size = world_random(w, 100) < 10 ? world_random(w, 1u << 30) : world_random(w, 9999);
	snprintf(f->name, sizeof(f->name), "f%llx%s", (unsigned long long)f->ino,
	         ends[world_random(w, COUNT(ends))]);
	return at;
}

struct world *world_new(uint64_t seed, uint32_t ndirs, uint32_t nfiles, uint32_t dirs_each)
{
	struct world *w = calloc(1, sizeof(*w));
	if (!w)
		abort();
	w->random = seed;
	for (uint32_t i = 0; i < ndirs; ++i) {
		uint32_t at = add_dir(w, i ? world_random(w, i) : 0);
		w->dirs[at].dir = i / dirs_each << INDEX_SLOT_BITS | i % dirs_each;
	}
	for (uint32_t i = 0; i < nfiles; ++i)
		add_file(w, world_random(w, ndirs));
	return w;
}

static struct index_row dir_row(const struct world_dir *d)
{
	struct index_row row = {{0}};
	row.col[IC_INO] = d->ino;
	row.col[IC_MODE] = S_IFDIR | 0755;
	row.col[IC_NLINK] = 2;
	row.col[IC_MSEC] = index_from_signed((int64_t)d->mtime);
	row.col[IC_CSEC] = index_from_signed(1000);
	return row;
}

static struct index_row file_row(const struct world_file *f)
{
	struct index_row row = {{0}};
	row.col[IC_INO] = f->ino;
	row.col[IC_MODE] = S_IFREG | 0644;
	row.col[IC_NLINK] = 1;
	row.col[IC_UID] = f->ino % 7;
	row.col[IC_SIZE] = f->size;
	row.col[IC_MSEC] = index_from_signed((int64_t)f->size);
	row.col[IC_CSEC] = index_from_signed(1000);
	return row;
}

/** Write a cluster. */
static int build_cluster(const struct world *w, struct index_writer *writer, uint32_t cluster)
{
	struct strbuf bytes = {0};
	struct segment_summary summary;
	size_t room = w->ndirs + w->nfiles;
	struct index_row *rows = calloc(room, sizeof(*rows));
	struct segment_name *names = calloc(room, sizeof(*names));
	struct segment_slot *slots = calloc(INDEX_SLOTS, sizeof(*slots));
	struct segment_contents c = {.rows = rows, .names = names, .slots = slots};
	for (uint32_t i = 0; i < w->ndirs; ++i) {
		const struct world_dir *d = &w->dirs[i];
		if (!d->live || index_dir_cluster(d->dir) != cluster)
			continue;
		uint32_t slot = index_dir_slot(d->dir);
		rows[c.nrows] = dir_row(d);
		rows[c.nrows].col[IC_DIR] = slot;
		rows[c.nrows].col[IC_NAME] = c.nrows;
		names[c.nrows++] = (struct segment_name){d->name, (uint32_t)strlen(d->name)};
		slots[slot] = (struct segment_slot){
			i ? w->dirs[d->parent].dir : INDEX_DIR_NONE, 0, d->listed};
		c.nslots = slot >= c.nslots ? slot + 1 : c.nslots;
	}
	for (uint32_t i = 0; i < w->nfiles; ++i) {
		const struct world_file *f = &w->files[i];
		if (!f->live || index_dir_cluster(w->dirs[f->dir].dir) != cluster)
			continue;
		rows[c.nrows] = file_row(f);
		rows[c.nrows].col[IC_DIR] = index_dir_slot(w->dirs[f->dir].dir);
		rows[c.nrows].col[IC_NAME] = c.nrows;
		names[c.nrows++] = (struct segment_name){f->name, (uint32_t)strlen(f->name)};
	}
	c.nnames = c.nrows;
	int rc = segment_write(&c, &bytes, &summary);
	if (rc == 0)
		rc = index_writer_add(writer, &bytes, &summary);
	strbuf_destroy(&bytes);
	free(rows);
	free(names);
	free(slots);
	return rc;
}

int world_build(const struct world *w, struct os *os, int dirfd)
{
	char root[] = "/";
	struct index_info info = {.uuid = "1234-5678", .type = "ext4", .root = root,
	                          .fresh = w->fresh, .looked = w->looked,
	                          .generation = w->generation};
	struct index_writer *writer = index_writer_new(os, dirfd);
	uint32_t clusters = 0;
	int rc = writer ? 0 : -1;
	for (uint32_t i = 0; i < w->ndirs; ++i)
		if (w->dirs[i].live && index_dir_cluster(w->dirs[i].dir) >= clusters)
			clusters = index_dir_cluster(w->dirs[i].dir) + 1;
	for (uint32_t i = 0; rc == 0 && i < clusters; ++i)
		rc = build_cluster(w, writer, i);
	if (rc == 0)
		rc = index_writer_finish(writer, &info, w->dirs[0].dir);
	index_writer_free(writer);
	return rc;
}

struct index *world_open(const struct world *w, struct os *os, struct tree *tree)
{
	world_begin(tree);
	CU_ASSERT_EQUAL_FATAL(world_build(w, os, tree->fd), 0);
	struct index *index = index_open(os, tree->fd, INDEX_WRITE);
	CU_ASSERT_PTR_NOT_NULL_FATAL(index);
	return index;
}

/* Changes. */

/** A random live directory. */
static uint32_t any_dir(struct world *w)
{
	uint32_t at = world_random(w, w->ndirs);
	while (!w->dirs[at].live)
		at = at + 1 < w->ndirs ? at + 1 : 0;
	return at;
}

static int put_file(struct world *w, struct index *index, uint32_t at)
{
	struct world_file *f = &w->files[at];
	struct index_row row = file_row(f);
	return index ? index_put(index, w->dirs[f->dir].dir, f->name, strlen(f->name), &row) : 0;
}

static int put_dir(struct world *w, struct index *index, uint32_t at)
{
	struct world_dir *d = &w->dirs[at];
	struct index_row row = dir_row(d);
	return !index ? 0
	       : index_put_dir(index, &d->dir, at ? w->dirs[d->parent].dir : INDEX_DIR_NONE,
	                       d->name, strlen(d->name), &row, d->listed);
}

/** Move a directory, but not below itself; give it another name. */
static int move_dir(struct world *w, struct index *index, uint32_t at)
{
	struct world_dir *d = &w->dirs[at];
	uint32_t to = any_dir(w), up = to;
	while (up != at && up != 0)
		up = w->dirs[up].parent;
	if (up != at) {
		--w->dirs[d->parent].subdirs;
		++w->dirs[to].subdirs;
		d->parent = to;
	}
	snprintf(d->name, sizeof(d->name), "m%llx", (unsigned long long)++w->ino);
	return put_dir(w, index, at);
}

static int remove_dir(struct world *w, struct index *index, uint32_t at)
{
	struct world_dir *d = &w->dirs[at];
	d->live = false;
	--w->dirs[d->parent].subdirs;
	for (uint32_t i = 0; i < w->nfiles; ++i)
		if (w->files[i].dir == at)
			w->files[i].live = false;
	return index ? index_remove_dir(index, d->dir) : 0;
}

int world_step(struct world *w, struct index *index)
{
	uint32_t what = world_random(w, 100), file = world_random(w, w->nfiles), dir = any_dir(w);
	struct world_file *f = &w->files[file];
	if (what < 30 && w->nfiles < WORLD_FILES)
		return put_file(w, index, add_file(w, dir));
	if (what < 50 && f->live) {
		f->size = world_random(w, 1u << 20);
		return put_file(w, index, file);
	}
	if (what < 65 && f->live) {
		f->live = false;
		return index ? index_remove(index, w->dirs[f->dir].dir, f->name,
		                            strlen(f->name)) : 0;
	}
	if (what < 80 && w->ndirs < WORLD_DIRS)
		return put_dir(w, index, add_dir(w, dir));
	if (what < 86 && dir > 0)
		return move_dir(w, index, dir);
	if (what < 92 && dir > 0 && w->dirs[dir].subdirs == 0)
		return remove_dir(w, index, dir);
	if (what < 94) {
		w->fresh += 1 + world_random(w, 9);
		if (index && index_set_fresh(index, w->fresh, false) != 0)
			return -1;
		if (what == 93)
			return 0;
		w->looked = w->fresh;
		w->generation += world_random(w, 1000);
		return index ? index_set_looked(index, w->looked, w->generation) : 0;
	}
	w->dirs[dir].mtime = world_random(w, 1000000);
	w->dirs[dir].listed = world_random(w, 1000000);
	return put_dir(w, index, dir);
}

int world_steps(struct world *w, struct index *index)
{
	for (uint32_t n = 1 + world_random(w, 30); n > 0; --n)
		if (world_step(w, index) != 0)
			return -1;
	return 0;
}

/* Dumps. */

static void put_line(struct strbuf *out, const char *path, const char *name, size_t len,
                     const struct index_row *row, int64_t listed)
{
	strbuf_puts(out, path);
	strbuf_putc(out, '/');
	strbuf_add(out, name, len);
	strbuf_printf(out, " %llu %llo %llu %lld %lld\n", (unsigned long long)row->col[IC_INO],
	              (unsigned long long)row->col[IC_MODE], (unsigned long long)row->col[IC_SIZE],
	              (long long)index_to_signed(row->col[IC_MSEC]), (long long)listed);
}

static int compare_lines(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/** Sort the lines of a text, none of which has a NUL. */
static void sort_lines(struct strbuf *text)
{
	size_t n = 0;
	struct strbuf sorted = {0};
	for (size_t i = 0; i < text->len; ++i)
		n += text->data[i] == '\n';
	char **lines = calloc(n + 1, sizeof(*lines)), *at = text->data;
	for (size_t i = 0; i < n; ++i) {
		lines[i] = at;
		at = strchr(at, '\n');
		*at++ = '\0';
	}
	qsort(lines, n, sizeof(*lines), compare_lines);
	for (size_t i = 0; i < n; ++i) {
		strbuf_puts(&sorted, lines[i]);
		strbuf_putc(&sorted, '\n');
	}
	free(lines);
	strbuf_destroy(text);
	*text = sorted;
}

static void world_path(const struct world *w, uint32_t at, struct strbuf *path)
{
	if (at == 0)
		return;
	world_path(w, w->dirs[at].parent, path);
	strbuf_putc(path, '/');
	strbuf_puts(path, w->dirs[at].name);
}

static void put_state(struct strbuf *out, int64_t fresh, int64_t looked, uint64_t generation)
{
	strbuf_printf(out, "fresh %lld, looked %lld, generation %llu\n", (long long)fresh,
	              (long long)looked, (unsigned long long)generation);
}

void world_dump(const struct world *w, struct strbuf *out)
{
	STRBUF(path);
	put_state(out, w->fresh, w->looked, w->generation);
	for (uint32_t i = 0; i < w->ndirs; ++i) {
		struct index_row row = dir_row(&w->dirs[i]);
		strbuf_reset(&path);
		world_path(w, i, &path);
		if (w->dirs[i].live)
			put_line(out, strbuf_str(&path), "", 0, &row, w->dirs[i].listed);
	}
	for (uint32_t i = 0; i < w->nfiles; ++i) {
		const struct world_file *f = &w->files[i];
		struct index_row row = file_row(f);
		strbuf_reset(&path);
		world_path(w, f->dir, &path);
		if (f->live)
			put_line(out, strbuf_str(&path), f->name, strlen(f->name), &row, -1);
	}
	sort_lines(out);
}

char *world_text(const struct world *w)
{
	struct strbuf text = {0};
	world_dump(w, &text);
	return text.data;
}

int world_resolve(struct world *w, struct index *index)
{
	STRBUF(path);
	for (uint32_t i = 0; i < w->ndirs; ++i) {
		strbuf_reset(&path);
		world_path(w, i, &path);
		if (w->dirs[i].live && index_lookup(index, strbuf_str(&path), &w->dirs[i].dir) != 0)
			return -1;
	}
	return 0;
}

/** Append the line of an object, or of a directory. */
static int dump_object(struct index *index, uint32_t cluster, const struct index_row *row,
                       const char *name, size_t len, struct strbuf *out)
{
	STRBUF(path);
	struct index_dir_info info;
	index_dir dir = cluster << INDEX_SLOT_BITS | (uint32_t)row->col[IC_DIR];
	bool is_dir = index_row_type(row) == DT_DIR;
	if (index_path(index, dir, index_root(index), &path) != 0
	    || index_dir_get(index, dir, &info) != 0)
		return -1;
	put_line(out, strbuf_str(&path), is_dir ? "" : name, is_dir ? 0 : len, row,
	         is_dir ? info.listed : -1);
	return 0;
}

int index_dump(struct index *index, struct strbuf *out)
{
	const struct index_info *info = index_info(index);
	put_state(out, info->fresh, info->looked, info->generation);
	for (uint32_t c = 0; c < index_clusters(index); ++c) {
		struct segment *segment;
		struct index_change change;
		size_t at = 0, len;
		if (index_segment(index, c, &segment) != 0)
			return -1;
		for (uint32_t i = 0; segment && i < segment_rows(segment); ++i) {
			struct index_row row;
			if (segment_row(segment, i, INDEX_ALL, &row) != 0)
				return -1;
			const char *name = segment_name(segment, (uint32_t)row.col[IC_NAME], &len);
			if (!name)
				return -1;
			if (!index_is_replaced(index, c, &row, name, len)
			    && dump_object(index, c, &row, name, len, out) != 0)
				return -1;
		}
		while (index_next_change(index, c, &at, &change))
			if (change.row
			    && dump_object(index, c, change.row, change.name, change.len, out) != 0)
				return -1;
	}
	sort_lines(out);
	return 0;
}

bool index_has(struct os *os, int dirfd, const char *dump, struct strbuf *why)
{
	STRBUF(actual);
	struct index *index = index_open(os, dirfd, INDEX_READ);
	bool good = false;
	if (!index || index_check(index, why) != 0 || index_dump(index, &actual) != 0)
		strbuf_printf(why, "%s: %s", index ? "reading" : "opening", strerror(errno));
	else if (strcmp(strbuf_str(&actual), dump) != 0)
		strbuf_puts(why, "another state");
	else
		good = true;
	index_close(index);
	return good;
}
