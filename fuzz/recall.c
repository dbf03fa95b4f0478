/* SPDX-License-Identifier: MIT */
/*
 * Who was left behind by earlier runs: names of files, and /proc/PID/stat.
 *
 * The input: names in the directory up to a byte 0x1e, each on a line; then
 * for each process its number, a line feed, and what its stat file holds, up
 * to the next 0x1e.
 *
 * A name is kept if its process exists, or if /proc tells nothing of it while its
 * number is taken; else it is removed, and nothing else is.  A process that is
 * recorded is recalled.
 */
#include "lib/fuzz.h"
#include "lib/kernel.h"

#include "probe/prober_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FUZZ_RUNTIME "/run/user/1000"

static const struct prober_self self = {.boot_id = "01234567-89ab-cdef-0123-456789abcdef"};

enum { SINCE = 1763843517 };               /* when each was left */
enum { MAX_NAMES = 40, MAX_PROCESSES = 20 };

static char folder[PROBER_DIR_MAX];        /* the directory */
static char made[256];                     /* the last name that was made */
static size_t removed;
static struct fuzz_file files[MAX_NAMES + MAX_PROCESSES + 1];
static size_t nnames;

static int on_statx(const char *path, int flags, unsigned mask, struct k_statx *st)
{
	(void)flags, (void)mask;
	FUZZ_CHECK(strncmp(path, folder, strlen(folder)) == 0
	           || strncmp(folder, path, strlen(path)) == 0);
	st->uid = geteuid();
	st->mode = S_IFDIR | 0700;
	st->mtime.sec = SINCE;
	return 0;
}

static void on_unlink(const char *path)
{
	size_t n = strlen(folder);
	FUZZ_CHECK(strncmp(path, folder, n) == 0 && path[n] == '/' && path[n + 1] != '.');
	bool there = false;
	for (size_t i = 0; i < nnames; ++i)
		there |= strcmp(files[i].path, path) == 0;
	FUZZ_CHECK(there);
	++removed;
}

static void on_create(const char *path)
{
	const char *name = strrchr(path, '/') + 1;
	FUZZ_CHECK((size_t)(name - path) == strlen(folder) + 1 && strlen(name) < sizeof(made));
	strcpy(made, name);
}

/** Every other process is there, whatever /proc tells. */
static bool on_process(int pid)
{
	return pid % 2 == 0;
}

/** Whether a process is held to exist. */
static bool lives(struct os *os, int32_t pid, uint64_t *start)
{
	char state = prober_process(os, pid, start);
	return pid > 0
	       && (state == '\0' ? on_process(pid) : *start == 0 ? state == 'D' : state != 'Z'
	           && state != 'X');
}

/** Make a file, with a path that is to be freed. */
static void add_file(size_t *n, const char *path, const char *bytes, size_t len)
{
	files[(*n)++] = (struct fuzz_file){
		.path = strdup(path), .kind = FK_FILE, .bytes = bytes, .len = len,
	};
	FUZZ_CHECK(files[*n - 1].path);
}

/** The names, each once: a directory has no doubles. */
static void take_names(struct fuzz_input *in)
{
	size_t len;
	const char *all = fuzz_until(in, 0x1e, &len);
	struct fuzz_input names = fuzz_input((const uint8_t *)all, len);
	while (names.at < names.end && nnames < MAX_NAMES) {
		char path[512];
		const char *line = fuzz_until(&names, '\n', &len);
		char *name = fuzz_string(line, len < 255 ? len : 255);
		snprintf(path, sizeof(path), "%s/%s", folder, name);
		bool twice = !*name || strchr(name, '/');
		for (size_t i = 0; i < nnames; ++i)
			twice |= strcmp(files[i].path, path) == 0;
		if (!twice)
			add_file(&nnames, path, "", 0);
		free(name);
	}
}

static void take_processes(struct fuzz_input *in, size_t *n)
{
	while (in->at < in->end && *n < nnames + MAX_PROCESSES) {
		size_t len, digits;
		char path[64];
		const char *bytes = fuzz_until(in, 0x1e, &len);
		struct fuzz_input one = fuzz_input((const uint8_t *)bytes, len);
		const char *number = fuzz_until(&one, '\n', &digits);
		snprintf(path, sizeof(path), "/proc/%.*s/stat", (int)(digits < 20 ? digits : 20),
		         number);
		add_file(n, path, one.at, (size_t)(one.end - one.at));
	}
}

/** Record a process, and recall it. */
static void try_record(struct os *os, const struct fuzz_kernel *kernel, int32_t pid,
                       uint32_t number)
{
	struct probe_question question = {.key = number * 77, .dev_major = number,
	                                  .dev_minor = ~number, .owner = number / 2};
	uint64_t start;
	bool is_left = lives(os, pid, &start);
	made[0] = '\0';
	int dir = prober_memory_open(os, folder);
	prober_record(os, dir, &self, &question, pid, start, false);
	os_close(os, dir);
	FUZZ_CHECK(*made);

	char path[512];
	struct fuzz_file both[2] = {{.kind = FK_FILE, .bytes = ""}};
	snprintf(path, sizeof(path), "%s/%s", folder, made);
	both[0].path = path;
	char stat_path[64];
	snprintf(stat_path, sizeof(stat_path), "/proc/%d/stat", (int)pid);
	struct fuzz_kernel other = *kernel;
	other.files = both;
	other.nfiles = 1;
	for (size_t i = 0; i < kernel->nfiles && other.nfiles < 2; ++i) {
		if (strcmp(kernel->files[i].path, stat_path) == 0)
			both[other.nfiles++] = kernel->files[i];
	}
	size_t names = nnames;
	const char *first = files[0].path;
	files[0].path = path;
	nnames = 1;
	fuzz_kernel_set(&other);
	struct prober_left *left;
	removed = 0;
	dir = prober_memory_open(os, folder);
	ssize_t n = prober_recall(os, dir, &self, &left);
	FUZZ_CHECK(n == is_left && (size_t)n + removed == 1);
	if (n)
		FUZZ_CHECK(left->since == SINCE && left->pid == pid && left->dev_major == number
		           && left->dev_minor == ~number
		           && left->owner == number / 2);
	os_close(os, dir);
	free(left);
	files[0].path = first;
	nnames = names;
	fuzz_kernel_set(kernel);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = fuzz_input(data, size);
	setenv("XDG_RUNTIME_DIR", FUZZ_RUNTIME, 1);
	FUZZ_CHECK(prober_memory_dir(0, folder));
	nnames = 0;
	take_names(&in);
	size_t nfiles = nnames;
	take_processes(&in, &nfiles);

	struct fuzz_kernel kernel = {
		.files = files, .nfiles = nfiles, .statx = on_statx, .unlink = on_unlink,
		         .create = on_create,
		.process = on_process,
	};
	fuzz_kernel_set(&kernel);
	struct os os;
	fuzz_os(&os);
	struct prober_left *left;
	removed = 0;
	/* Without a name there is no directory. */
	int dir = prober_memory_open(&os, folder);
	FUZZ_CHECK(dir >= 0 || nnames == 0);
	ssize_t n = nnames ? prober_recall(&os, dir, &self, &left) : 0;
	os_close(&os, dir);
	size_t kept = 0;
	for (size_t i = 0; i < nnames; ++i)
		kept += files[i].path[strlen(folder) + 1] == '.';
	FUZZ_CHECK(n >= 0 && (size_t)n + removed + kept == nnames);
	for (ssize_t i = 0; i < n; ++i) {
		uint64_t start;
		FUZZ_CHECK(lives(&os, left[i].pid, &start));
	}
	if (nnames)
		free(left);
	for (size_t i = nnames; i < nfiles && nnames; ++i)
		try_record(&os, &kernel, atoi(files[i].path + 6), (uint32_t)size * 3 + (uint32_t)i);
	fuzz_kernel_set(NULL);
	for (size_t i = 0; i < nfiles; ++i)
		free((char *)(uintptr_t)files[i].path);
	return 0;
}
