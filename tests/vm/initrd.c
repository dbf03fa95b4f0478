/* SPDX-License-Identifier: MIT */
/*
 * The first process of the virtual machine: loads the modules that the list
 * /modules names, which is all that the disk and its file system need, makes
 * the disk the root, and becomes the script on it.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static void die(const char *what)
{
	fprintf(stderr, "initrd: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void load(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || (syscall(SYS_finit_module, fd, "", 0) != 0 && errno != EEXIST))
		die(path);
	close(fd);
}

int main(void)
{
	char line[4096];
	FILE *modules = fopen("/modules", "re");
	if (!modules)
		die("/modules");
	while (fgets(line, sizeof(line), modules)) {
		line[strcspn(line, "\n")] = '\0';
		load(line);
	}
	fclose(modules);

	mkdir("/new", 0755);
	mkdir("/dev", 0755);
	/* The disk may not have been found yet: 10 s at most. */
	if (mount("dev", "/dev", "devtmpfs", 0, NULL) != 0 && errno != EBUSY)
		die("/dev");
	for (int tries = 0; mount("/dev/vda", "/new", "ext4", 0, NULL) != 0; ++tries) {
		if (tries == 100)
			die("/dev/vda");
		usleep(100 * 1000);
	}
	if (mount("/dev/vdb", "/new/getmnt", "ext4", MS_RDONLY, NULL) != 0)
		die("/dev/vdb");
	if (mount("/dev", "/new/dev", NULL, MS_MOVE, NULL) != 0 || chdir("/new") != 0
	    || mount(".", "/", NULL, MS_MOVE, NULL) != 0 || chroot(".") != 0 || chdir("/") != 0)
		die("the root");
	execl("/getmnt/tests/vm/init", "init", (char *)NULL);
	die("/getmnt/tests/vm/init");
}
