/* SPDX-License-Identifier: MIT */
/*
 * getmnt: every mount point of a Linux machine, named and proven.
 *
 * The map of the program, lowest layer first.  A file includes only what
 * stands in its own folder and above it here.
 *
 *   base/               strings and numbers; nothing of it touches the kernel
 *     mount.h           one mount, as every layer knows it
 *     arena.c           many small allocations, freed together
 *     strbuf.c          a growing string
 *     map64.c           a hash map from 64-bit keys
 *     escape.c          the escaping dialects of tables and of output
 *     fstypes.c         what is known of file system types: one table
 *   os/                 the kernel facade: every crossing, counted
 *     kernel.h          the kernel's structures and numbers
 *     os.c              statx, openat, getdents64, listmount ...; what there is
 *     file.c            small files, read whole
 *   bulk/               read a bunch of directories, whole
 *     bulk.h            the operation that every back end answers
 *     sync.c            by plain system calls
 *   table/              where a mount table comes from
 *     table.c           what all sources share (table_impl.h: among themselves)
 *     listmount.c       listmount(2) and statmount(2)
 *     mountinfo.c       /proc/PID/mountinfo, live or recorded
 *     tabfile.c         fstab and mtab
 *   devmap.c            device number <-> name, UUID, LABEL ...
 *     devmap_impl.h     what its files share
 *     devmap_sysfs.c    what a device is, and what it stands on
 *     devmap_text.c     the udev database and blkid's cache, read as text
 *     devmap_probe.c    a device, probed by libblkid
 *     devmap_judge.c    which devices may be touched, which can block
 *   mounttree.c         the tree of mounts: LEAF and INTERNAL, naming, standing
 *   bfs.c               the search of a directory tree, without a policy
 *     bfs_frontier.c    the directories that wait to be read
 *     bfs_reader.c      reading batches of them, in threads
 *   discover.c          mount tree and search joined: every mount named, judged
 *     discover_impl.h   what its files share
 *     discover_path.c   paths judged without being touched
 *     discover_block.c  what can block, and what lies behind it
 *     discover_hints.c  names of the table, each tested
 *     discover_walk.c   the search: the pruning rules, each whole
 *     discover_pass.c   the passes of a search, and their bounds
 *   cmd/                the commands; only these and this file print
 *     cmd.h             what the commands share
 *     commands.c        the commands: one table
 *     message.c         messages on standard error
 *     secrets.c         passwords in options and sources, masked
 *     options.c         the options: one table, and its parser
 *     help.c            --help and the completion, from that table
 *     columns.c         the columns: one table
 *     cells.c           the cells of the columns
 *     path.c            paths, followed without touching what can block
 *     source.c          sources: devices and tags
 *     input.c           the table and root that a run works on
 *     filter.c          which mounts are selected
 *     view.c            from mounts to rows; stacks
 *     out_scols.c       tree, list, raw, pairs, JSON
 *     out_text.c        mtab, fstab, setmnt, dot, jsonl
 *     stats.c           --stats, --explain, --version
 *     progress.c        the line of progress on a terminal
 *     discover.c        getmnt discover: the flow
 *   getmnt.c            main: dispatch
 */
#include "cmd/cmd.h"

#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/** A word that is known, of a command that is to come. */
static int not_here(const char *name)
{
	message(name, "this command is not in this version");
	return CX_ERROR;
}

/** See that descriptors 0 to 2 are open, so that no other file becomes one. */
static void open_standard(void)
{
	/* What is printed is lost, and whoever wants a document is told: a write
	   to a descriptor of O_PATH fails. */
	int fd;
	do {
		fd = open("/dev/null", fcntl(STDIN_FILENO, F_GETFD) < 0 ? O_RDONLY : O_PATH);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

int main(int argc, char **argv)
{
	if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
		open_standard();
	signal(SIGPIPE, SIG_DFL);
	/* Characters and their widths alone: numbers are written alike everywhere. */
	setlocale(LC_CTYPE, "");

	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	if (!command)
		return cmd_discover(argc, argv);
	if (!command->run)
		return not_here(command->name);
	return command->run(argc - 1, argv + 1);
}
