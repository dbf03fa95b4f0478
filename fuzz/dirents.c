/* SPDX-License-Identifier: MIT */
/*
 * Directory entries as getdents64 gives them, through the traversal's reader.
 *
 * The input: a byte for the size of batches, one for the verdicts, then the
 * bytes that the kernel gives.  Every whole entry is delivered once and in
 * order, up to the first that is none.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "bfs/bfs_impl.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

/** What was delivered, and what has to be. */
struct reading {
	uint8_t mix;
	const char *bytes;
	size_t n, at;            /* bytes; the next entry that is to come */
	size_t chunk_end;
	size_t delivered, wanted, looked;
	enum bfs_verdict last;
};

/** The verdict on a name: any, with few ends. */
static enum bfs_verdict verdict_of(const struct reading *r, const char *name, bool looked)
{
	unsigned hash = r->mix;
	for (; *name; ++name)
		hash = hash * 31 + (unsigned char)*name;
	unsigned kind = (looked ? hash / 7 : hash) % 16;
	if (r->mix % 4 == 0 && kind < 2)
		return kind == 0 ? BFS_END_DIR : BFS_END_ALL;
	return kind < 6 ? BFS_SKIP : kind < 10 || looked ? BFS_ENTER : BFS_LOOK;
}

/** The next entry that has to be delivered, by a reading of our own.
    @return its place, or NULL: none. */
static const char *next_expected(struct reading *r)
{
	for (;;) {
		if (r->at == r->chunk_end) {
			size_t left = r->n - r->at;
			if (left == 0)
				return NULL;
			r->chunk_end = r->at + (left < BFS_BUFFER ? left : BFS_BUFFER);
		}
		const char *entry = r->bytes + r->at;
		size_t left = r->chunk_end - r->at;
		size_t reclen =
		        left > 18 ? (unsigned char)entry[16] | (size_t)(unsigned char)entry[17] << 8
		        : 0;
		if (reclen < 20 || reclen > left || reclen % 8 != 0
		    || !memchr(entry + 19, '\0', reclen - 19))
			return NULL;
		r->at += reclen;
		const char *name = entry + 19;
		if (*name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0
		    && !strchr(name, '/'))
			return entry;
	}
}

static enum bfs_verdict on_entry(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                 const struct bfs_entry *entry)
{
	struct reading *r = arg;
	const char *expected = next_expected(r);
	FUZZ_CHECK(expected && scratch->fd >= 0 && at->name == entry->name
	           && r->last < BFS_END_DIR);
	FUZZ_SAME(entry->name, expected + 19);
	/* A type that there is not, as FUSE passes it on, is one that is not known. */
	uint8_t type = (uint8_t)expected[18];
	FUZZ_CHECK(memcmp(&entry->ino, expected, 8) == 0
	           && entry->type == (type <= DT_WHT ? type : DT_UNKNOWN));
	FUZZ_CHECK(entry->len == strlen(entry->name));
	++r->delivered;
	r->last = verdict_of(r, entry->name, false);
	r->wanted += r->last == BFS_LOOK;
	return r->last;
}

static enum bfs_verdict on_meta(void *arg, struct bfs_scratch *scratch, const struct bfs_at *at,
                                const struct bfs_entry *entry, const struct k_statx *st, int error)
{
	struct reading *r = arg;
	FUZZ_CHECK(scratch->fd >= 0 && *at->name && r->last < BFS_END_DIR);
	FUZZ_CHECK(verdict_of(r, entry->name, false) == BFS_LOOK);
	FUZZ_CHECK(error ? st->mask == 0 : st->mask == K_STATX_TYPE);
	++r->looked;
	r->last = verdict_of(r, entry->name, true);
	return r->last;
}

static int on_statx(const char *path, int flags, unsigned mask, struct k_statx *st)
{
	FUZZ_CHECK(strncmp(path, "/cwd/d/", 7) == 0);
	FUZZ_CHECK(flags & AT_NO_AUTOMOUNT && flags & AT_SYMLINK_NOFOLLOW);
	if (path[7] % 8 == 0) {
		errno = path[7] & 8 && mask ? EACCES : ENOENT;
		return -1;
	}
	st->mask = K_STATX_TYPE;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	uint8_t batch = fuzz_byte(&in), mix = fuzz_byte(&in);
	size_t n;
	const char *bytes = fuzz_bytes(&in, size, &n);
	struct fuzz_file files[] = {
		{.path = "/cwd/d", .kind = FK_DIRENTS, .bytes = bytes, .len = n},
		{.path = "/cwd/file", .kind = FK_FILE, .bytes = "", .len = 0},
		{.path = "/cwd/bad", .kind = FK_ERROR, .bytes = "\x05\x01", .len = 2},
	};
	struct fuzz_kernel kernel = {
		.files = files, .nfiles = sizeof(files) / sizeof(*files), .statx = on_statx,
		.caps = mix & 1 ? OSC_OPENAT2 : 0, .stranger = mix & 8,
	};
	fuzz_kernel_set(&kernel);
	struct os os;
	fuzz_os(&os);
	struct reading r = {.mix = mix, .bytes = bytes, .n = n};
	struct bfs_policy policy = {
		.statx_mask = K_STATX_TYPE, .batch = 1 + batch % 80,
		.entry = on_entry, .meta = on_meta, .arg = &r,
	};
	struct bfs_reader *reader = bfs_reader_new(&os, &policy, true);
	struct bfs_batch *read = bfs_batch_new();
	FUZZ_CHECK(reader && read);
	static const char *const names[] = {"file", "d", "none", "bad"};
	struct bfs_read *dirs = read->reads;
	for (; read->n < 4; ++read->n)
		dirs[read->n] = (struct bfs_read){.parentfd = AT_FDCWD, .name = names[read->n],
		                                  .fd = -1};
	bfs_reader_read(reader, read);

	FUZZ_CHECK(!dirs[0].opened && dirs[0].error == ENOTDIR && dirs[1].opened
	           && !dirs[2].opened);
	FUZZ_CHECK(dirs[1].entries == r.delivered && r.looked <= r.wanted);
	FUZZ_CHECK(dirs[1].verdict == (r.last >= BFS_END_DIR ? r.last : BFS_SKIP));
	FUZZ_CHECK((dirs[1].fd >= 0) == (dirs[1].nkids > 0));
	if (r.last < BFS_END_DIR) {
		/* To the end: nothing more was to come, and all was looked at. */
		FUZZ_CHECK(!next_expected(&r) && r.looked == r.wanted);
		FUZZ_CHECK(dirs[1].error == (r.at < r.n ? EIO : 0));
		FUZZ_CHECK(dirs[2].error == ENOENT);
	}
	if (r.last != BFS_END_ALL)
		FUZZ_CHECK(dirs[3].opened && dirs[3].error == EIO && dirs[3].entries == 0);
	os_close(&os, dirs[1].fd);
	bfs_batch_free(read);
	bfs_reader_free(reader);
	fuzz_kernel_set(NULL);
	return 0;
}
