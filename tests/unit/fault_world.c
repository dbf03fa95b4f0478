/* SPDX-License-Identifier: MIT */
#include "fault_run.h"

#include "loop.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* The tree of mounts. */

/** A recorded table with every kind of damage. */
static const char recorded[] =
	"22 1 0:21 / / rw,relatime shared:1 - tmpfs root rw,size=1m\n"
	"23 22 0:22 / /a\\040b rw - tmpfs t rw\n"
	"24 23 0:23 / /a\\040b/c rw,nosuid master:1 - fuse.sshfs user:pass@host:/ rw,password=x\n"
	"25 22 0:24 / /s rw - tmpfs t rw\n"
	"26 25 0:25 / /s rw - tmpfs t rw\n"
	"27 99 0:26 / /nowhere rw - tmpfs t rw\n"      /* a parent that is missing */
	"28 29 0:27 / /x rw - tmpfs t rw\n"            /* a cycle */
	"29 28 0:28 / /x/y rw - tmpfs t rw\n"
	"22 22 0:29 / /double rw - tmpfs t rw\n"
	"not a mount\n"
	"30 22 0:30 /gone//deleted /del rw - tmpfs t rw\n";

/** Lines of an fstab or mtab. */
static const char tab[] =
	"# a comment\n"
	"UUID=0a3407de-014b-458b-b5c1-848e92a327a3 / ext4 defaults,noatime 0 1\n"
	"/dev/sda2 none swap sw 0 0\n"
	"host:/srv /srv/a\\040b nfs ro,password=x\n"
	"not a line\n"
	"tmpfs /srv/a\\040b/c tmpfs size=1m 0\n"
	"tmpfs /tmp tmpfs size=1m 0 0\n";

static int old_namespace = -1, automount = -1, keeper = -1;
static pthread_t server;
static pthread_mutex_t kept_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t kept[256];
static size_t nkept;

static void make_dirs(const char *path)
{
	char buf[256];
	snprintf(buf, sizeof(buf), "%s", path);
	for (char *p = buf + 1; *p; ++p) {
		if (*p == '/') {
			*p = '\0';
			mkdir(buf, 0755);
			*p = '/';
		}
	}
	mkdir(buf, 0755);
}

static bool put(const char *source, const char *path, const char *type, unsigned long flags,
                const char *data)
{
	make_dirs(path);
	if (mount(source, path, type, flags, data) == 0)
		return true;
	printf("  mount %s: %s\n", path, strerror(errno));
	return false;
}

static void make_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "we");
	CU_ASSERT_PTR_NOT_NULL_FATAL(file);
	fputs(text, file);
	CU_ASSERT_EQUAL(fclose(file), 0);
}

/** Mount an ext4 image, if a loop device is free. */
static void put_loop(void)
{
	char node[64];
	struct loop loop;
	/* The prober reads a block from the node. */
	if (system("mkfs.ext4 -q -F /mnt/image 1M >/dev/null 2>&1") != 0
	    || !loop_open(&loop, "/mnt/image"))
		return;
	snprintf(node, sizeof(node), "/mnt/%s", loop.path);
	make_dirs("/mnt/dev");
	mknod(node, S_IFBLK | 0600, makedev(7, loop.minor));
	put(loop.path, "/mnt/w/loop", "ext4", 0, NULL);
	loop_close(&loop);
}

/** A FUSE server that reads requests without answering, so that the caller cannot be killed;
    world_release() answers. */
static void *keep_requests(void *arg)
{
	static _Alignas(8) char request[1 << 16];
	(void)arg;
	fault_exempt();
	while (read(keeper, request, sizeof(request)) >= (ssize_t)sizeof(struct fuse_in_header)) {
		struct fuse_in_header head;
		memcpy(&head, request, sizeof(head));
		if (head.opcode == FUSE_INTERRUPT || head.opcode == FUSE_FORGET
		    || head.opcode == FUSE_BATCH_FORGET)
			continue;
		pthread_mutex_lock(&kept_lock);
		if (nkept < sizeof(kept) / sizeof(*kept))
			kept[nkept++] = head.unique;
		pthread_mutex_unlock(&kept_lock);
	}
	return NULL;
}

void world_release(void)
{
	pthread_mutex_lock(&kept_lock);
	while (nkept > 0) {
		struct fuse_out_header reply = {.len = sizeof(reply), .error = -EIO,
		                                .unique = kept[--nkept]};
		if (write(keeper, &reply, sizeof(reply)) < 0 && errno != ENOENT)
			printf("  a FUSE request cannot be answered: %s\n", strerror(errno));
	}
	pthread_mutex_unlock(&kept_lock);
}

/** Mounts that block: a FUSE that never answers, and an idle automount. */
static void put_blocking(int fuse)
{
	char data[128];
	int ends[2];
	make_dirs("/w/auto");
	make_dirs("/w/fuse");
	if (fuse_mount(fuse, "/w/fuse"))
		put("/w/fuse", "/w/bound", NULL, MS_BIND, NULL);
	/* Another process group: ours would not trigger it. */
	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) == 0) {
		snprintf(data, sizeof(data), "fd=%d,pgrp=1,minproto=5,maxproto=5,direct", ends[1]);
		mount("getmnt-test", "/w/auto", "autofs", 0, data);
		close(ends[1]);
		automount = ends[0];
	}
}

/** Mount everything else below the new root. */
static bool put_all(void)
{
	bool ok = put("t", "/w/a/b", "tmpfs", 0, NULL) && put("t", "/w/a/b/c/d", "tmpfs", 0, NULL)
	          && put("t", "/w/h/i", "tmpfs", 0, NULL) && put("t", "/w/h", "tmpfs", 0, NULL)
	          && put("t", "/w/s", "tmpfs", 0, NULL) && put("t", "/w/s", "tmpfs", 0, NULL)
	          && put("user:pass@host", "/w/deep/1/2/3/m", "tmpfs", MS_NOSUID, "size=1m");
	make_file("/w/hosts", "");
	make_file("/w/file", "");
	ok = ok && mount("/w/hosts", "/w/file", NULL, MS_BIND, NULL) == 0;
	make_dirs("/w/gone");
	ok = ok && put("/w/gone", "/w/del/d", NULL, MS_BIND, NULL) && rmdir("/w/gone") == 0;
	make_dirs("/w/low");
	make_dirs("/w/low2");
	make_dirs("/w/over");
	/* May fail without overlay in the kernel. */
	mount("o", "/w/over", "overlay", 0, "lowerdir=/w/low:/w/low2");
	return ok;
}

bool world_enter(void)
{
	/* To see orphans of a run. */
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	old_namespace = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (!private_mounts() || mount("root", "/mnt", "tmpfs", 0, NULL) != 0)
		return false;
	int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	keeper = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	put_loop();
	if (!put("proc", "/mnt/proc", "proc", 0, NULL)
	    || !put("sysfs", "/mnt/sys", "sysfs", 0, NULL) || chdir("/mnt") != 0
	    || syscall(SYS_pivot_root, ".", ".") != 0 || umount2(".", MNT_DETACH) != 0
	    || chdir("/") != 0)
		return false;
	put_blocking(fuse);
	make_dirs("/run");
	make_file("/table", recorded);
	make_file("/tab", tab);
	return put_all();
}

void world_leave(void)
{
	/* The server thread ends with its connection. */
	if (umount2("/w/kept", MNT_FORCE) == 0 || errno == EBUSY)
		pthread_join(server, NULL);
	/* A sanitizer's thread shares the root directory with this one. */
	CU_ASSERT_EQUAL(unshare(CLONE_FS), 0);
	CU_ASSERT_EQUAL(setns(old_namespace, CLONE_NEWNS), 0);
	close(old_namespace);
}

bool world_triggered(void)
{
	char packet[512];
	return automount >= 0 && read(automount, packet, sizeof(packet)) > 0;
}

bool world_hang(void)
{
	/* A process that is left is moved to a cgroup. */
	mount("cgroup2", "/sys/fs/cgroup", "cgroup2", 0, NULL);
	make_dirs("/w/kept");
	return fuse_mount(keeper, "/w/kept")
	       && pthread_create(&server, NULL, keep_requests, NULL) == 0;
}

bool world_grow(void)
{
	char path[64];
	bool ok = true;
	for (int i = 0; ok && i < 300; ++i) {
		snprintf(path, sizeof(path), "/m/%d", i);
		ok = put("t", path, "tmpfs", 0, NULL);
		snprintf(path, sizeof(path), "/t/w%d/a", i);
		make_dirs(path);
	}
	return ok && put("t", "/t/w7/a/m", "tmpfs", 0, NULL) && put("t", "/t/w250/a/m", "tmpfs", 0,
	                                                            NULL);
}

/* Scenarios. */

/* The columns that are compared. */
#define DOCUMENT "-J", "-l", "-o", "ID,TARGET,NAMED,STATES,COVERED-BY,FSTYPE,SOURCE,OPTIONS"
#define ARGS(...) (const char *const[]){__VA_ARGS__, NULL}

#define FEW .flags = SC_FEW
#define FORM .flags = SC_ANY_FORM | SC_FEW
#define POLL .flags = SC_ANY_FORM | SC_FEW | SC_SILENT

const struct scenario scenarios[] = {
	{"hint", ARGS(DOCUMENT)},
	{"hint mountinfo", ARGS(DOCUMENT, "--kernel=mountinfo")},
	{"hint old", ARGS(DOCUMENT), .disable = "listmount,openat2", FEW},
	{"hint bare", ARGS(DOCUMENT), .disable = "listmount,openat2,statx-mntid"},
	{"hint root", ARGS(DOCUMENT, "--root=/w"), FEW},
	{"walk", ARGS(DOCUMENT, "--names=walk")},
	{"walk mountinfo", ARGS(DOCUMENT, "--names=walk", "--threads=1", "--kernel=mountinfo")},
	{"walk openat", ARGS(DOCUMENT, "--names=walk", "--threads=1"), .disable = "openat2"},
	{"walk getmnt1", ARGS(DOCUMENT, "--names=walk", "--threads=1", "--algorithm=getmnt1",
	                      "--root=/w"), FEW},
	{"walk getmnt2", ARGS(DOCUMENT, "--names=walk", "--threads=1", "--algorithm=getmnt2"), FEW},
	{"walk boundaries", ARGS(DOCUMENT, "--boundaries", "--threads=1", "--root=/w"), FEW},
	{"walk dev", ARGS(DOCUMENT, "--names=walk", "--threads=1", "--identity=dev"), FEW},
	{"walk bare", ARGS(DOCUMENT, "--names=walk", "--threads=1"),
	 .disable = "listmount,openat2,statx-mntid", FEW},
	{"pure", ARGS(DOCUMENT, "--names=pure", "--threads=1")},
	{"pure mountinfo", ARGS(DOCUMENT, "--names=pure", "--threads=1", "--kernel=mountinfo"),
	 FEW},
	{"kernel", ARGS(DOCUMENT, "--names=kernel")},
	{"task", ARGS(DOCUMENT, "--task=self")},
	{"probe", ARGS(DOCUMENT, "--probe=local")},
	{"probe root", ARGS(DOCUMENT, "--probe=local", "--root=/w")},
	{"recorded", ARGS(DOCUMENT, "-F", "-"), .input = recorded},
	{"recorded slow", ARGS(DOCUMENT, "-F", "-"), .input = recorded, .flags = SC_SLOW},
	{"recorded file", ARGS(DOCUMENT, "-F", "/table")},

	{"poll", ARGS("--poll", "--timeout=1"), POLL},
	{"poll old", ARGS("--poll=+propagation", "--timeout=1"), .disable = "fanotify,listmount",
	 POLL},
	{"poll task", ARGS("--poll", "--timeout=1", "--task=self"), POLL},
	{"tree", ARGS("--ascii"), FORM},
	{"tree nested", ARGS("-J", "--stacks=nest", "--explain"), FORM},
	{"all columns", ARGS("-r", "--output-all", "--vfs-all", "-t",
	                     "tmpfs,proc,overlay,autofs,fuse"), FORM},
	{"pairs", ARGS("-P", "-o", "TARGET,SOURCES,UUID,LABEL,PARTUUID,SIZE"), FORM},
	{"df", ARGS("-D", "-a", "-t", "tmpfs,proc,overlay"), FORM},
	{"canonical", ARGS("-l", "--canonicalize", "--evaluate"), FORM},
	{"target", ARGS("-T", "/w/a/b/c", "-o", "TARGET,ID"), FORM},
	{"relative", ARGS("-T", "./w/a/b"), FORM},
	{"mountpoint", ARGS("-M", "/w/s", "-O", "rw", "-t", "tmpfs"), FORM},
	{"operands", ARGS("/w/file", "/w/deep/1/2/3/m", "-R"), FORM},
	{"uniq", ARGS("-l", "--uniq", "--submounts", "-S", "t"), FORM},
	{"mtab", ARGS("--format=mtab"), FORM},
	{"fstab", ARGS("--format=fstab"), FORM},
	{"dot", ARGS("--format=dot"), FORM},
	{"jsonl", ARGS("--format=jsonl", "--stats=json"), FORM},
	{"recorded tree", ARGS("-F", "-"), .input = recorded, FORM},
	{"of fstab", ARGS("--fstab", "-F", "/tab", "-o", "+FS-OPTIONS,VFS-OPTIONS,FREQ"), FORM},
	{"of mtab", ARGS("--mtab", "-F", "/tab", "-J"), FORM},
	{NULL},
};

const struct scenario scenarios_hung[] = {
	{"hung", ARGS(DOCUMENT, "--probe=all", "--timeout=0.3"), .flags = SC_HASTE},
	{NULL},
};

const struct scenario scenarios_threads[] = {
	{"table", ARGS(DOCUMENT, "--names=kernel")},
	{"table pure", ARGS(DOCUMENT, "--names=pure", "--threads=4", "--root=/t")},
	{"walk", ARGS(DOCUMENT, "--names=walk", "--threads=4", "--root=/t")},
	{"walk getmnt1", ARGS(DOCUMENT, "--names=walk", "--threads=4", "--algorithm=getmnt1",
	                      "--root=/t"), FEW},
	{NULL},
};
