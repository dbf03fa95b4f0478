/* SPDX-License-Identifier: MIT */
/* The state of a run: its start, why it is incomplete, data of the machine. */
#include "cmd/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

void run_init(struct run *run, const struct input_opts *options)
{
	*run = (struct run){.opt = options, .procfd = AT_FDCWD, .rootfd = AT_FDCWD,
	                    .complete = true, .start = os_now()};
}

void run_start(struct run *run)
{
	os_mark(MARK_BEGIN);
	/* With a recorded table, do not access the live system, not even to probe features of
	   the kernel. */
	if (run->opt->tab_file)
		run->os = (struct os){.statx_works = true};
	else
		os_init(&run->os, secure_getenv("GETMNT_DISABLE"));
}

void run_incomplete(struct run *run, const char *reason)
{
	run->complete = false;
	for (size_t i = 0; i < run->nreasons; ++i) {
		if (strcmp(run->reasons[i], reason) == 0)
			return;
	}
	if (run->nreasons < sizeof(run->reasons) / sizeof(*run->reasons))
		run->reasons[run->nreasons++] = reason;
}

bool run_failed(const struct run *run)
{
	return run->nomem || run->os.nomem || run->paths.failed
	       || (run->d && run->d->mounts->failed) || (run->devs && devmap_failed(run->devs));
}

/** Read the first line of a small file of /proc; a missing file is no error.
    @return 0, or -1 (ENOMEM). */
static int read_line(struct run *run, const char *path, char **line)
{
	size_t len;
	if (os_read_kernel(&run->os, AT_FDCWD, path, 4096, line, &len) != 0)
		return errno == ENOMEM ? -1 : 0;
	(*line)[strcspn(*line, "\n")] = '\0';
	return 0;
}

int machine_read(struct run *run, bool self)
{
	char link[64];
	if (!run->live)
		return 0;
	run->host = os_uname(&run->os, false);
	if ((!run->host && errno == ENOMEM)
	    || read_line(run, "/proc/sys/kernel/random/boot_id", &run->boot_id) != 0)
		return -1;
	bool task = run->procfd != AT_FDCWD;
	if (os_readlinkat(&run->os, run->procfd, task ? "ns/mnt" : "/proc/self/ns/mnt", link,
	                  sizeof(link)) > 0 && strncmp(link, "mnt:[", 5) == 0)
		run->mntns = strtoull(link + 5, NULL, 10);
	run->tid = run->opt->task;
	if (!task && self
	    && os_readlinkat(&run->os, AT_FDCWD, "/proc/self", link, sizeof(link)) > 0)
		run->tid = strtoull(link, NULL, 10);
	return 0;
}
