/* SPDX-License-Identifier: MIT */
/*
 * Replays inputs without libFuzzer: NAME FILE|FOLDER...
 *
 * They are tried in one child process after the other, each going on behind
 * the input at which the one before it died, so that one bad input fails
 * itself alone.  The last line counts.
 */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* An input that takes longer hangs; generous, for valgrind. */
enum { INPUT_SECONDS = 120 };

/** The files to be tried. */
struct files {
	char **paths;
	size_t count;
};

static void add_file(struct files *files, const char *path)
{
	files->paths = realloc(files->paths, (files->count + 1) * sizeof(*files->paths));
	FUZZ_CHECK(files->paths);
	files->paths[files->count++] = strdup(path);
}

/** Add a file, or all files of a folder.  @return success. */
static bool add_path(struct files *files, const char *path)
{
	struct stat st;
	if (stat(path, &st) != 0) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	if (!S_ISDIR(st.st_mode)) {
		add_file(files, path);
		return true;
	}
	struct dirent **entries;
	int n = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < n; ++i) {
		char *full = NULL;
		if (entries[i]->d_name[0] != '.'
		    && asprintf(&full, "%s/%s", path, entries[i]->d_name) > 0)
			add_file(files, full);
		free(full);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n >= 0;
}

static void try_file(const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat st;
	FUZZ_CHECK(file && fstat(fileno(file), &st) == 0);
	/* Of its very size, so that a sanitizer sees what is read behind it. */
	uint8_t *data = fuzz_alloc((size_t)st.st_size);
	FUZZ_CHECK(fread(data, 1, (size_t)st.st_size, file) == (size_t)st.st_size);
	fclose(file);
	alarm(INPUT_SECONDS);
	LLVMFuzzerTestOneInput(data, (size_t)st.st_size);
	alarm(0);
	free(data);
}

int main(int argc, char **argv)
{
	struct files files = {NULL, 0};
	bool there = argc > 1;
	for (int i = 1; i < argc; ++i)
		there &= add_path(&files, argv[i]);
	if (!there) {
		fprintf(stderr, "usage: %s FILE|FOLDER...\n", argv[0]);
		return 2;
	}
	/* The index of the input that is being tried, seen from both processes. */
	size_t *at = mmap(NULL, sizeof(*at), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
	                  0);
	FUZZ_CHECK(at != MAP_FAILED);
	size_t failed = 0;
	for (*at = 0; *at < files.count;) {
		fflush(stdout);
		pid_t pid = fork();
		FUZZ_CHECK(pid >= 0);
		if (pid == 0) {
			LLVMFuzzerInitialize(&argc, &argv);
			for (; *at < files.count; ++*at)
				try_file(files.paths[*at]);
			exit(0);
		}
		int status;
		FUZZ_CHECK(waitpid(pid, &status, 0) == pid);
		if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
			continue;
		if (*at < files.count)
			printf("FAIL %s\n", files.paths[(*at)++]);
		else
			printf("FAIL %s: at the end, status %#x\n", argv[0], status);
		++failed;
	}
	printf("%zu passed, %zu failed, 0 skipped\n",
	       files.count - (failed < files.count ? failed : files.count), failed);
	for (size_t i = 0; i < files.count; ++i)
		free(files.paths[i]);
	free(files.paths);
	munmap(at, sizeof(*at));
	return failed ? 1 : 0;
}
