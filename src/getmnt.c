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
 *     words.h           pieces of a text as words and options
 *     map64.c           a hash map from 64-bit keys
 *     intern.c          strings, each kept once and numbered
 *     optionset.c       the options of a list, found by name
 *     escape.c          the escaping dialects of tables and of output
 *     fstypes.c         what is known of file system types: one table
 *     sha256.c          the digest of a text
 *     near.c            how near a word is to another that was meant
 *     secret.c          passwords in options, sources and lines, masked
 *     linediff.c        what differs between two texts, as diff -u has it
 *   os/                 the kernel facade: every crossing, counted
 *     kernel.h          the kernel's structures and numbers
 *     os.c              statx, openat, getdents64, listmount ...; what there is
 *     clock.c           calls timed by their kind, where that is asked for
 *     sampler.c         ... and where the thread is between them
 *     crossing.c        each way into the kernel a function, in a build for gprof
 *     entry.c           a name that is not necessarily what it should be, opened
 *     file.c            small files, read whole
 *     ring.c            statx(2) by io_uring(7)
 *     inodes.c          attributes of many inodes by one call: XFS, btrfs
 *     change.c          the calls that change files
 *     replace.c         a file resolved and read, to be replaced whole or not at all
 *       replace_write.c   ... and replaced
 *     process.c         processes, and the sockets between them
 *     bounded.c         work with an end: in a child, what it prints kept
 *     caller.c          the library's caller: a forked child, a thread that is cancelled
 *     stage.c           a mount namespace of our own, to build and measure in
 *     syslog.c          lines for the system's log, without waiting
 *     prober.c          what may never answer, touched with a deadline
 *       prober_supervisor.c  the process that keeps time
 *       prober_worker.c      the process that touches
 *       prober_memory.c      records of those that may be left, and their bounds
 *   bulk/               read a bunch of directories, whole
 *     bulk.h            the operation that every back end answers
 *     read.c            directories, by plain calls
 *     fetch.c           metadata: by plain calls, or many at once by a ring
 *     window.c          ... in the order of inode numbers
 *     pace.c            ... where calls are found to wait for a disk (pure)
 *     many.c            ... or by the file system's own interface
 *   table/              where a mount table comes from
 *     table.c           what all sources share (table_impl.h: among themselves)
 *     listmount.c       listmount(2) and statmount(2)
 *     mountinfo.c       /proc/PID/mountinfo, live or recorded
 *     tabfile.c         fstab and mtab
 *     tablines.c        ... as lines of which no byte is lost
 *     tablediff.c       what a table changes of the mounts known before
 *     monitor.c         watching: fanotify's events, mountinfo's poll
 *   devmap.c            device number <-> name, UUID, LABEL ...
 *     devmap_impl.h     what its files share
 *     devmap_sysfs.c    what a device is, and what it stands on
 *     devmap_loop.c     the files of loop devices, and whether their names are believed
 *     devmap_text.c     the udev database and blkid's cache, read as text
 *     devmap_probe.c    a device, probed by libblkid
 *     devmap_judge.c    which devices may be touched, which can block
 *   mounttree.c         the tree of mounts: LEAF and INTERNAL, naming, standing
 *   bfs.c               the search of a directory tree, without a policy
 *     bfs_impl.h        what its files share
 *     bfs_dirs.c        directories that were entered, and their descriptors
 *     bfs_frontier.c    the directories that wait to be read
 *     bfs_reader.c      reading batches of them, in threads
 *   discover.c          mount tree and search joined: every mount named, judged
 *     discover_impl.h   what its files share
 *     discover_path.c   paths judged without being touched
 *     discover_block.c  what can block, and what lies behind it
 *     discover_probe.c  what is touched by the prober
 *     discover_owner.c  whose mounts they are, for its bounds
 *     discover_hints.c  names of the table, each tested
 *     discover_walk.c   the search: the pruning rules, each whole
 *     discover_pass.c   the passes of a search, and their bounds
 *     discover_missing.c  what neither has found
 *   search/             the search primitive
 *     pattern.c         the pattern language, compiled and matched
 *     glob.c            one component of a pattern
 *     avoid.c           places that must not be touched
 *     follow.c          links followed without touching those; directories seen
 *     search.c          the search: a pattern, carried down the directories
 *       root.c  node.c  entry.c  queue.c   its roots, its state, workers, owner
 *     raw.c             a search packed into a buffer
 *   fstab/              from mounts to the lines of an fstab
 *     plan.c            each mount, when all that it needs is decided
 *     place.c           what each mount is, and what it needs
 *     own.c             what the system mounts by itself
 *     source.c          how a device is named
 *     options.c         which options stand in a line
 *     shown.c           what a kernel shows for those that it was given
 *     text.c            swaps, utab, names of units, read as text
 *     system.c          what ROOT has: fsck helpers, units
 *     wanted.c          ... units that a boot is to start, and what they want
 *     unitfile.c        a unit and its drop-ins, read as text
 *     merge.c           a file that is there, and what is mounted: line by line
 *       merge_decide.c  merge_base.c  merge_same.c  merge_units.c  merge_options.c
 *       merge_lacks.c  merge_refused.c  merge_order.c  merge_stale.c  merge_text.c
 *     units.c           what systemd's generator made of an fstab, read as text
 *     proof.c           what an fstab would mount, against what is mounted
 *       proof_sim.c  proof_tree.c  proof_options.c  the lines simulated; places; options
 *   audit/              what can be wrong, by rules with codes
 *     rules.c           the table of rules; an fstab judged by them
 *     compare.c         a text against the one before it: new risks
 *     options.c         options: known, near misses, contradictions
 *     meant.c           ... of types of which not all are held
 *     ignore.c          the comment that takes codes from a line
 *     values.c          options that take but numbers, or one of some words
 *     source.c          sources
 *     overlay.c         ... the layers of overlays
 *     place.c           mount points, types, helpers
 *     mask.c            what differs between machines of one role, taken out of a text
 *     owner.c           who has mounted what there is
 *     bound.c           what comes along with a bind, and what has not
 *     drift.c           lines against mounts
 *     units.c           what units want, against mounts
 *     baseline.c        what there is, taken down such that it is the same after a boot
 *       baseline_compare.c  ... against what there was
 *     mounts.c          what is wrong with mounts, whatever was wanted
 *     held.c            what holds a file system that is unmounted
 *     under.c           what lies in the directories that they are mounted on
 *     host.c            what a host has beside: mtab, errors of file systems
 *       boot.c  crypttab.c  unit.c  ... the command line; what is set up before; systemd
 *     report.c          findings, in their order
 *     selfcheck.c       what is checked of an fstab before it is written
 *     config.c          what is configured: its language
 *     config_apply.c    ... what it silences
 *     policy.c          what it requires of mounts
 *   profile/            what a run has cost (pure)
 *     layers.c          where its time went, in rows that add up
 *   recover/            a file of what is mounted, judged and made anew (pure)
 *     judge.c           which line is of which mount, and what is wrong with it
 *     build.c           the file, from the mounts
 *     options.c         options as sets, and which the kernel does not know
 *   profile/            what algorithms cost: the study (pure)
 *     model.c           runs, their medians and ratios, the order of turns
 *     topology.c        a topology, recorded as lines
 *     grow.c            ... its mounts, directories and files, one by one
 *   libgetmnt.c         the public library, include/getmnt/getmnt.h
 *   libgetmnt_search.c  the public search, include/getmnt/search.h
 *   cmd/                the commands; only these and this file print
 *     cmd.h             what the commands share
 *     commands.c        the commands: one table
 *     message.c         messages on standard error
 *     options.c         the options: one table, and its parser
 *     help.c            --help and the completion, from that table
 *     rows.c            the options of other commands: a table each
 *     putfile.c         --check, --diff and --write of the commands that change a file
 *     columns.c         the columns: one table
 *     cells.c           the cells of the columns
 *     path.c            paths, followed without touching what can block
 *     source.c          sources: devices and tags
 *     input.c           the table and root that a run works on
 *     filter.c          which mounts are selected
 *     view.c            from mounts to rows; stacks
 *     out_scols.c       tree, list, raw, pairs, JSON
 *     out_json.c        the document around the rows of JSON
 *     out_text.c        mtab, fstab, setmnt, dot, jsonl
 *     stats.c           --stats, --explain, --version
 *     poll.c            --poll: the flow
 *     progress.c        the line of progress on a terminal
 *     discover.c        getmnt discover: the flow
 *     fstab.c           getmnt fstab, and genfstab: the flow
 *     fstab_merge.c     ... --merge: the file, what is told, what is done
 *     fstab_units.c     ... the base: what systemd has loaded
 *     audit.c           getmnt audit, and check_getmnt: the flow
 *       audit_config.c  ... its configuration, found and read
 *       audit_baseline.c  ... --baseline, --save: the file
 *       audit_host.c    ... what the host has beside its fstab
 *       audit_held.c    ... who holds what is not mounted
 *       audit_under.c   ... what lies under mounts
 *       audit_units.c   ... what units want
 *       audit_way.c     ... the form, to where, within which time
 *       audit_out.c  audit_json.c  audit_nagios.c  audit_prometheus.c  audit_canonical.c
 *       audit_syslog.c  ... the forms
 *     recover.c         getmnt recover: the flow
 *     recover_mounts.c  ... the mounts as rows
 *     recover_link.c    ... links to the kernel's own table
 *     recover_out.c     ... what it says of a file, as text and JSON
 *     recover_hints.c   ... what bears out that of which the kernel knows nothing
 *     search.c          getmnt search: the flow
 *     search_out.c      its columns, one table, and its forms
 *     search_flow.c     what it prints: whole lines, in time; its progress
 *     profile.c         getmnt profile: the flow
 *     profile_run.c     ... one algorithm run and measured, in a process of its own
 *     profile_stage.c   ... a topology, built where nobody else sees it
 *     profile_out.c     ... the tables
 *     profile_layers.c  ... where the time of each algorithm goes: --layers
 *     profile_json.c    ... the document
 *     colors.c          colours of names, as LS_COLORS has them
 *     owners.c          names of users and groups
 *   getmnt.c            main: dispatch
 */
#include "base/map64.h"
#include "cmd/cmd.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <wchar.h>

/** A word that is known, of a command that is to come. */
static int not_here(const char *name)
{
	message(name, "this command is not in this version");
	return CX_ERROR;
}

/** See that descriptors 0 to 2 are open, so that no other file becomes one. */
static void open_standard(void)
{
	/* What is printed is lost, and whoever wants a document is told: with a
	   descriptor of O_PATH neither reading nor writing works.  Of "/", since a
	   bare place may have no /dev/null. */
	int fd;
	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

#ifdef __GLIBC__
/*
 * The program's own mbrtowc(3), which libsmartcols finds before the C library's:
 * in ELF the program's symbols come first.  libsmartcols converts each character
 * of a table twice to learn how wide it is, and the C library does that by its
 * general machinery, also of ASCII, which stands for itself in every locale: this
 * was 40 % of all instructions of a long list.
 */
size_t __mbrtowc(wchar_t *wide, const char *bytes, size_t n, mbstate_t *state);

__attribute__((visibility("default")))
size_t mbrtowc(wchar_t *restrict wide, const char *restrict bytes, size_t n,
               mbstate_t *restrict state)
{
	bool ascii = bytes && n > 0 && *bytes > 0 && *bytes < 0x7f && state && mbsinit(state);
	if (!ascii)
		return __mbrtowc(wide, bytes, n, state);
	if (wide)
		*wide = *bytes;
	return 1;
}
#endif

/** Let what is printed go out in large pieces, and no thread but this one print. */
static void prepare_stdout(void)
{
	static char buffer[64 * 1024];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
}

int main(int argc, char **argv)
{
	if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
		open_standard();
	signal(SIGPIPE, SIG_DFL);
	prepare_stdout();
	/* The kernel puts 16 random bytes there at exec(2). */
	if (getauxval(AT_RANDOM))
		map64_seed((const void *)getauxval(AT_RANDOM));

	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], "genfstab") == 0)
		return cmd_genfstab(argc, argv);
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], "check_getmnt") == 0)
		return cmd_check(argc, argv);
	const struct command *command = argc > 1 ? command_find(argv[1]) : NULL;
	if (!command)
		return cmd_discover(argc, argv);
	if (!command->run)
		return not_here(command->name);
	message_verb(command->name);
	return command->run(argc - 1, argv + 1);
}
