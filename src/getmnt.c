/* SPDX-License-Identifier: MIT */
/*
 * getmnt: every mount point of a Linux machine, named and checked.
 *
 * The map of the program, lowest layer first.  A file includes only its own folder and
 * folders above it in this list; build-aux/layers checks that, and that this map names
 * every file once (a header goes with the .c file of its name, *_impl.h with its folder).
 *
 *   base/                strings, numbers, containers (pure)
 *     mount.h            struct mount: one mount, as every layer knows it
 *     fail.h             failing with an error number
 *     array.c            arrays that grow
 *     arena.c            many small allocations, freed together
 *     strbuf.c           a growing string
 *     words.c            pieces of a text; the edit distance of two words
 *     map64.c            hash map with 64-bit keys
 *     pathmap.c          numbers by path: of it, and of the directories above it
 *     intern.c           strings stored once, with a number each
 *     usage.c            sums of objects by directory and key
 *     escape.c           the escaping dialects of mount tables and output forms
 *     command.c          commands that messages suggest, built from words
 *     casefold.c         characters of UTF-8, and ignoring case
 *     fstypes.c          properties of file system types: one table
 *     mountinfo.c        lines of /proc/PID/mountinfo
 *     secret.c           passwords in options, sources and lines, masked
 *   os/                  the kernel facade: every system call, counted
 *     kernel.h           kernel structures and constants that old headers lack
 *     os.c               openat, getdents64, listmount ...
 *     statx.c            attributes of objects, also on old kernels; the mount of an open file
 *     init.c             which features this kernel has
 *     clock.c            counting and timing calls
 *     sampler.c          sampling where a thread spends its time
 *     crossing.c         each system call as a function of its own, for gprof builds
 *     file.c             opening names without blocking; reading files whole
 *     map.c              reading files in memory, of which pages may be lost
 *     ring.c             opening several names by one io_uring call
 *     inodes.c           attributes of many inodes by one call: XFS, btrfs
 *     change.c           calls that change files
 *     process.c          processes, sockets, connections; work divided among threads
 *     bounded.c          running work with a time limit in a child, and keeping its output
 *     service.c          signals, changes, errors as descriptors; handles; sd_notify
 *     caller.c           the library's caller: forked children, canceled threads
 *   path/                names that may not be what they should be
 *     resolve.c          resolving a path, component by component
 *     place.c            resolving the name of a file that root reads, replaces or creates
 *     named.c            reading a file that the user named, writing it as find does; directories
 *     replace.c          replacing a file: opening and reading it
 *     replace_keep.c     replacing a file: owner, mode and attributes
 *     replace_commit.c   replacing a file: the steps, as a table
 *   probe/               touching what may block, in a child with a deadline
 *     prober.c           the client
 *     supervisor.c       the process that keeps the deadline
 *     worker.c           the process that touches
 *     leftovers.c        records of probes that did not end, and their limits
 *   mountopts/           mount options (pure)
 *     optlist.c          the tokenizer of option strings; sets of options
 *     options.c          a list as an array: names, values, meanings
 *     vfsflags.c         ro, nosuid, noatime ...: one table
 *     fsopts.c           the table of file system options: looking up
 *     fsopts_local.c     its rows for disks and memory
 *     fsopts_remote.c    its rows for network file systems and FUSE
 *     fsopts_values.c    accepted values
 *     layers.c           the directories of an overlay
 *     shown.c            how the kernel shows the options of a line; the user of a FUSE mount
 *     compare.c          comparing the options of a line and its mount
 *     edit.c             lists of options built from other lists
 *     join.c             the options of a mount and of its file system as one list
 *     request.c          the options that a line needs to make a mount like one that exists
 *   mounttree.c          the tree of mounts: LEAF and INTERNAL, names, states (pure)
 *   devmap.c             device number <-> name, UUID, LABEL ...: records of devices
 *   devmap/
 *     tags.c             their identifiers, by the order of the sources; lists of devices
 *     sysfs.c            what a device is and how it is called, and which devices it stands on
 *     mount.c            the devices of a mount
 *     loop.c             the backing files of loop devices
 *     text.c             the udev database and blkid.tab
 *     probe.c            probing a device by libblkid
 *     blocking.c         which devices can block
 *   mounts/              the mounts of a run
 *     table.c            tables: what all sources share
 *     read.c             reading one from its source, and again
 *     mountinfo.c        all mounts by mountinfo
 *     listmount.c        all mounts by listmount(2)
 *     statmount.c        one mount by statmount(2)
 *     tabfile.c          fstab and mtab, by libmount
 *     tablines.c         fstab and mtab as lines, every byte kept
 *     tablediff.c        differences between two tables
 *     monitor.c          waiting for changes: fanotify, mountinfo's poll
 *     events.c           mount events of fanotify, not yet reported
 *     mounts.h           the mounts of a run: struct mounts
 *     blocking.c         which mounts can block
 *     paths.c            where paths lead, without touching what can block
 *     peers.c            which mounts receive a mount by propagation
 *   bfs.c                traversal of a directory tree by a policy
 *   bfs/
 *     dirs.c             directories that were opened, and their descriptors
 *     frontier.c         directories waiting to be read
 *     deliver.c          results of a batch, passed to the caller
 *     batch.c            batches of directories; the callbacks of a policy that fill them
 *     read.c             reading the directories of a batch
 *     pool.c             worker threads
 *     fetch.c            metadata of entries; detecting that its calls block on disk I/O
 *     window.c           entries in the order of inode numbers
 *     bulkstat.c         metadata by the bulk interfaces of btrfs and XFS
 *   discover/            mount tree + traversal: every mount named, with its state
 *     discover.c         the flow of a run
 *     run.c              what its steps share: names and states of nodes, records read again
 *     root.c             in which mount the root of a run lies
 *     probe.c            mounts touched by the prober
 *     owner.c            the records and limits of the prober; which user owns a mount
 *     hints.c            testing the names that the table gives
 *     walk.c             the search policy: all pruning rules
 *     pass.c             the passes of a search, and their limits
 *     missing.c          mounts that neither hints nor search found
 *   select/              what to find: patterns and expressions, compiled (pure)
 *     select.c           a selection: what a name decides about an object, and what attributes do
 *     pattern.c          pattern language: compile and match
 *     expand.c           a pattern cut into components, its braces expanded
 *     glob.c             one component of a pattern
 *     glob_parse.c       its text as tokens
 *     query.c            find's expression language as data: the tree, and what it needs
 *     query_table.c      its primaries: one row each
 *     query_parse.c      operators, and the errors of expressions
 *     query_args.c       arguments of tests: numbers, sizes, modes, types, owners, files
 *     query_time.c       tests of times
 *     query_date.c       dates
 *     query_actions.c    actions, -prune and options
 *     query_match.c      patterns and regular expressions
 *     query_bounds.c     the ranges that a query requires: for an index
 *     query_eval.c       evaluating with the facts known so far
 *     query_tests.c      the tests
 *     query_print.c      the canonical string
 *   remote/              searches on other hosts: the protocol, and what a client does
 *     talk.c             a conversation with a server of searches, without I/O
 *     wire.c             the protocol of getmnt serve: frames and requests
 *     wire_answer.c      answers, and the client's side
 *     remote.c           the hosts of a search, and their connections
 *     end.c              how a connection ends, and why
 *     root.c             names of roots on other hosts
 *     rsh.c              connections by ssh
 *     chirp.c            a conversation with a Chirp server
 *     chirp_proof.c      how it learns who this user is
 *     chirp_pattern.c    patterns and paths in its requests
 *     chirp_record.c     lines of its answers
 *     chirp_answer.c     its answers as entries
 *     chirp_hold.c       entries kept until it is known which directories are symlinks
 *     chirp_link.c       the connection, and the file that proves who this user is
 *   search/              the search primitive
 *     search.c           setting up and running a search
 *     avoid.c            which names lead to other mounts
 *     mounts.c           the mounts that a search can meet: which may be accessed
 *     follow.c           following symlinks safely; ancestors of directories
 *     root.c             the starting points
 *     literal.c          a pattern that is one path, looked up
 *     dir.c              directories: opening them, their paths
 *     node.c             pattern states carried down the tree; ancestors
 *     entry.c            one entry: matched, in a worker
 *     report.c           objects and errors: lines or records, made in a worker
 *     judge.c            the query, evaluated for an entry in a worker; facts about it
 *     links.c            one symlink, followed in a worker
 *     source.c           objects that come from an index instead of directories: where it begins
 *     source_object.c    one such object, and its directory
 *     queue.c            results, passed from workers to the caller
 *     record.c           from the queue to the entries of getmnt_search_read()
 *     object.c           the last object as the caller's query sees it; roots that are objects
 *     visit.c            objects of a query, for their actions; their directories
 *     query_host.c       users, groups and files of this host
 *   search/hosts/        objects that other hosts find
 *     hosts.c            entries of other hosts in a search
 *     delegate.c         mounts that their servers search
 *     mount.c            where a mount leads, and whether a server shows the same
 *     exported.c         on a server: whether NFS shows the same
 *   index/               the metadata index of a file system
 *   index/segment/       a cluster of objects as bytes
 *     row.c              an object as numbers in columns
 *     bytes.h            little-endian numbers
 *     segment.c          a cluster as bytes: opening it
 *     columns.c          reading columns, rows and slots
 *     names.c            reading names
 *     filter.c           Bloom filters
 *     check.c            verifying a cluster
 *     pack.c             numbers packed as bits
 *     write.c            writing a cluster
 *     order.c            the order of its rows: a K-D tree
 *     dict.c             its names and their filters
 *   index/store/         the files of an index, and their changes
 *     manifest.c         what an index consists of, as bytes
 *     journal.c          records of the journal as bytes
 *     delta.c            the changes of a cluster, in memory
 *     store.c            opening an index: maps of segments, recovery
 *     dirs.c             its directories: names, paths
 *     change.c           its changes, and their commit
 *     fold.c             clusters rewritten with their changes, segments merged
 *     check.c            verifying an index
 *     replace.c          its files: new ones, the manifest replaced, old ones removed
 *     place.c            where indexes are, and which file systems have one
 *     tree.c             all directories, in memory
 *     objects.c          what the index has of some directories
 *   index/build/         building an index
 *     spill.c            rows as bytes, while they wait for an index to be built
 *     pack.c             directories of a tree packed into clusters
 *     build.c            building: the table of directories, the spill file
 *     write.c            building: making clusters in several threads
 *     walk.c             the objects of a mount, for an index
 *   index/follow/        an index made to follow its file system
 *     chain.c            opening them, each relative to its parent
 *     gather.c           the entries of a directory and their attributes, read by any thread
 *     refresh.c          a directory or a name compared with the file system
 *     refresh_many.c     many directories read, gathered by threads
 *     refresh_rest.c     what that leaves to do: moved and missing directories, hard links
 *     look.c             inodes to look at though their directories have not changed
 *     update.c           directories whose times changed, read again
 *     watch.c            an index that follows its file system
 *     events.c           events of fanotify as places to look at
 *   index/scan/          finding and summing up what an index has
 *     scan.c             candidates for a query, cluster by cluster
 *     wish.c             what it looks for: keys of filters, ranges of columns
 *     dirs.c             its directories: which are entered, their paths
 *     report.c           disk usage, from columns
 *     export.c           all objects, cluster by cluster
 *   host/                data of a host besides its mount table (never prints)
 *     host.c             the door; mtab, command line
 *     devices.c          devices by number, path and identifier
 *     places.c           paths below ROOT; file system types of the kernel
 *     tables.c           swap spaces; what mount(8) keeps (utab)
 *     errors.c           errors that file systems report
 *     holders.c          processes and namespaces that hold an unmounted file system
 *     covered.c          data covered by a mount
 *     mappings.c         crypttab and tables like it: mappings that are opened at boot
 *     units.c            systemd's mount, automount and swap units, by systemctl show
 *     system.c           programs and units below ROOT: fsck helpers, units of the administrator
 *   fstab/               from mounts to the lines of an fstab
 *     entry.c            a line of an fstab, read once: fields, options, what follows from them
 *     fstab.h            planning an fstab
 *     target.c           mount points: their names, what a system has there, their units
 *     match.c            which line belongs to which mount, and how they differ
 *     order.c            what each line needs of the others
 *     order_line.c       one line: which paths it needs
 *     order_check.c      what a boot mounts; the order, as mount -a and as systemd see it
 *     simulate.c         what mount -a makes of lines, with propagation
 *     reproduce.c        which mounts the lines of an fstab mount again
 *   fstab/plan/          a line for each mount
 *     plan.c             the order of decisions
 *     classify.c         what each mount is: the system's, a bind, ...
 *     needs.c            what each mount needs; where the source of a bind is visible
 *     copies.c           mounts that propagation or a recursive bind makes from others
 *     own.c              mounts that the system makes by itself
 *     source.c           how a device is named
 *   fstab/match/         pairing lines with mounts, and their differences
 *     matcher.c          lines and mounts, by mount point
 *     same.c             whether a line mounts the same
 *     part.c             whether a line mounts the same part of a file system; its name
 *     server.c           whether a line and a mount have the same server
 *     options.c          whether a line has the options of its mount
 *     copies.c           copies, which the lines of other mounts make
 *   fstab/edit/          merging a plan into an existing file
 *     merge.c            the flow
 *     decide.c           one mount and the lines at its place
 *     order.c            the positions of lines
 *     text.c             the bytes of the result
 *   recover/             a damaged mtab, checked and rebuilt (pure)
 *     recover.h          checking and rebuilding an mtab
 *     check.c            which line belongs to which mount, and its faults
 *     build.c            the mounts as rows, and the new file
 *     options.c          options as sets
 *   audit/               findings with stable codes
 *     rules.c            the table of rules; entries by mount point
 *     text.c             auditing the text of an fstab; the comment that ignores codes
 *     live.h             the interface of the rules about the running system
 *     report.c           findings, sorted; owners by name
 *     unchecked.c        why rules were not checked
 *     compare.c          an fstab against its former text
 *     selfcheck.c        checks before an fstab is written
 *     owner.c            who has made each mount
 *     baseline.c         the state of a host, in a form that survives a boot
 *     baseline_compare.c two such states compared
 *     config.c           configuration: the language
 *     policy.c           configuration: what it requires of mounts
 *   audit/rules/         the rules, one file a family
 *     line.c             fields of a line
 *     options.c          options: unknown, misspelled, contradictory
 *     values.c           values that mount(8) and systemd read; options that need others
 *     order.c            lines that need others
 *     repeated.c         mount points and sources of several lines
 *     source.c           sources
 *     tag.c              tags that no device can have
 *     remote.c           sources of network and FUSE file systems
 *     overlay.c          overlays and their layers
 *     target.c           mount points, types, helpers
 *     drift.c            lines against mounts
 *     drift_line.c       one line against its mount
 *     drift_report.c     findings about a line and its mount
 *     rbind.c            copies of mounts that an rbind makes
 *     units.c            failed and inactive units of systemd; an fstab that it has not loaded
 *     mounts.c           mounts that are broken; what holds an unmounted file system
 *     covered.c          data covered by a mount
 *     host.c             mtab, file system errors
 *     boot.c             the kernel's command line
 *     crypttab.c         crypttab
 *   profile/             what the algorithms cost (pure)
 *     profile.h          measurements of a machine
 *     model.c            runs, medians, ratios
 *     layers.c           where the time of a run goes
 *   lib/                 libgetmnt: the public library
 *     libgetmnt.c        include/getmnt/getmnt.h
 *     libgetmnt_search.c include/getmnt/search.h
 *     libgetmnt_mounts.c the mounts for a search, here and in another namespace
 *   cmd/                 what the commands share; only cmd/ and this file print
 *     cmd.h              the interface that all commands share
 *     command.c          finding a command by its name
 *     commands.c         the table of commands, and the bash completion
 *     message.c          messages on standard error
 *     text.c             text for people: names in it are escaped
 *     options.c          the parser of options, and --help
 *     putfile.c          --check, --diff, --write
 *     linediff.c         unified diff of two texts
 *     putdiff.c          a file or its changes, shown with secrets masked
 *     column.c           what all tables of columns share
 *     path.c             following paths without touching what can block
 *     run.c              the state of a run: its start, why it is incomplete, the machine
 *     machine.c          a machine: its mounts, and what host/ reads of it
 *     input.c            the mount table and root of a run; its mounts, named and tested
 *     json.c             the writer of JSON
 *     stats.c            --stats, --explain, --version
 *     progress.c         the progress line
 *   cmd/found/           what find, search and index share
 *     object.c           the columns of an object: its attributes as text
 *     colors.c           colors from LS_COLORS
 *     owners.c           names of users and groups; types and permissions as letters
 *     exec.c             commands that find and search run
 *     flow.c             printing results while a search runs
 *     indexed.c          the index of each mount as the source of a search
 *     indexed_text.c     what all commands say of indexes
 *     searched.c         errors and counts of a search
 *     roots.c            where a search begins: words, or names in a file
 *   cmd/discover/        getmnt discover
 *     options.c          its options
 *     discover.c         the flow
 *     poll.c             --poll
 *     listing.h          a listing of mounts: options, formats
 *     forms.c            the output formats of a listing
 *     columns.c          the columns of a listing of mounts: choosing them
 *     columns_mount.c    columns of a mount: rows and cells
 *     columns_device.c   columns of its device or file system: rows and cells
 *     source.c           devices and tags given as arguments
 *     filter.c           which mounts are selected
 *     view.c             from mounts to rows; stacks
 *     out_scols.c        tree, list, raw, pairs, JSON
 *     out_json.c         the document around the JSON rows
 *     out_text.c         mtab, fstab, setmnt, dot, JSON lines
 *     output.h           the interface of all output forms
 *   cmd/search/          getmnt search
 *     search.c           the flow
 *     options.c          options
 *     patterns.c         the patterns of a command line
 *     advice.c           suggestions for patterns written for another tool
 *     run.c              the run: results, messages, progress, statistics
 *     action.c           --exec, --exec-batch
 *     out.c              output forms
 *     sort.c             all results in the order of a column
 *     usage.c            disk usage of the objects found (pure)
 *     where.c            --size, --user ... --where: one query
 *   cmd/find/            getmnt find
 *     find.c             options, paths, the run
 *     actions.c          the actions: prepared before the search, then performed
 *     print.c            the files that actions write to
 *     format.c           formats of -printf, compiled
 *     format_put.c       formats, filled with the attributes of an object
 *     ls.c               -ls
 *     exec.c             -exec and its kin
 *   cmd/index/           getmnt index
 *     table.c            a small table, on a terminal or as JSON
 *     index.c            the table of its commands
 *     mounts.c           the mounts of a run: which get an index
 *     found.c            the indexes that exist
 *     build.c            build
 *     manage.c           check, drop
 *     status.c           status
 *     report.c           report
 *     export.c           export
 *     update.c           update
 *     watch.c            watch
 *     svg.c              a report as a picture (pure)
 *   cmd/serve/           getmnt serve
 *     serve.c            searches for a getmnt on another host
 *   cmd/fstab/           getmnt fstab and genfstab
 *     fstab.c            the flow
 *     merge.c            --merge
 *     notes.c            the messages of --merge about lines and mounts
 *   cmd/audit/           getmnt audit and check_getmnt
 *     audit.c            the flow
 *     options.c          its options
 *     config.c           reading the configuration
 *     baseline.c         --baseline, --save
 *     host.c             the rules of a host, with what they need read
 *     way.c              output form, file, time limit
 *     watch.c            --watch
 *     out.c              text
 *     json.c             JSON and JSON lines
 *     nagios.c           Nagios plugin
 *     prometheus.c       Prometheus metrics
 *   cmd/recover/         getmnt recover
 *     recover.c          the flow
 *     link.c             symlinks to the kernel's own table
 *     hints.c            evidence for entries that the kernel does not list
 *     out.c              the report
 *   cmd/profile/         getmnt profile
 *     profile.c          the flow
 *     run.c              one algorithm measured in a process of its own
 *     out.c              tables
 *     json.c             JSON
 *   getmnt.c             main: dispatch
 */
#include "base/map64.h"
#include "cmd/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>
#include <wchar.h>

/** Open descriptors 0 to 2 if they are closed, so that no other file gets these numbers. */
static void open_standard(void)
{
	/* Reading and writing fail on an O_PATH descriptor, so that output that cannot be printed
	   is reported.  "/" always exists, unlike /dev/null. */
	int fd;
	do {
		fd = open("/", O_PATH | O_CLOEXEC);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

#ifdef __GLIBC__
/*
 * Replaces mbrtowc(3) for libsmartcols: in ELF the program's symbols take precedence over the C
 * library's.  libsmartcols converts each character of a table twice to compute its width.  ASCII
 * is the same in every locale, but the C library converts it by its general code: 40 % of all
 * instructions of a long list.
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

/** Buffer stdout in large blocks, without locking: only this thread prints. */
static void prepare_stdout(void)
{
	static char buffer[64 * 1024];
	setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
	__fsetlocking(stdout, FSETLOCKING_BYCALLER);
}

/** Run a command with one option, of one letter.  @return an exit status. */
static int run_option(const struct command *command, char letter)
{
	char name[] = "getmnt", option[] = {'-', letter, '\0'}, *args[] = {name, option, NULL};
	return command->run(2, args);
}

/** getmnt help [COMMAND].  @return an exit status. */
static int run_help(int argc, char **argv)
{
	const char *word = argc > 2 ? argv[2] : "discover";
	bool itself = strcmp(word, "help") == 0 || strcmp(word, "version") == 0;
	const struct command *command = command_find(commands, itself ? "discover" : word);
	const struct command *near = command ? NULL : command_near(commands, argv[2]);
	if (argc > 3)
		return usage_error(argv[3], "unexpected argument");
	if (near)
		return usage_error(argv[2], "no such command; did you mean \"%s\"?", near->name);
	if (!command)
		return usage_error(argv[2], "no such command");
	return run_option(command, 'h');
}

/** Whether the arguments request the version: "version", or "-V" after a command. */
static bool wants_version(int argc, char **argv, const struct command *command)
{
	if (!command)
		return argc > 1 && strcmp(argv[1], "version") == 0;
	return argc == 3 && (strcmp(argv[2], "-V") == 0 || strcmp(argv[2], "--version") == 0);
}

/** Whether findmnt's --verify is among the arguments. */
static bool wants_verify(int argc, char **argv)
{
	bool found = false;
	for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; ++i)
		found |= strcmp(argv[i], "-x") == 0 || strcmp(argv[i], "--verify") == 0;
	return found;
}

/** getmnt --verify [-s] [--tab-file FILE], as findmnt has it: the audit of an fstab alone.
    @return an exit status. */
static int run_verify(int argc, char **argv)
{
	static const char file[] = "--tab-file";
	char only[] = "--only=FSTAB-*", fstab[] = "--fstab";
	char **args = malloc(2 * ((size_t)argc + 1) * sizeof(*args));
	int n = 0;
	if (!args)
		return usage_error("--verify", "%s", strerror(ENOMEM));
	args[n++] = argv[0];
	args[n++] = only;
	for (int i = 1; i < argc; ++i) {
		char *arg = argv[i];
		if (strcmp(arg, "-x") == 0 || strcmp(arg, "--verify") == 0
		    || strcmp(arg, "-s") == 0)
			continue;
		if (strncmp(arg, "--tab-file=", sizeof(file)) == 0) {
			args[n++] = fstab;
			arg += sizeof(file);
		} else if (strcmp(arg, "-F") == 0 || strcmp(arg, file) == 0) {
			arg = fstab;
		}
		args[n++] = arg;
	}
	args[n] = NULL;
	message_verb("audit");
	int status = command_find(commands, "audit")->run(n, args);
	free(args);
	return status;
}

/** Run the command that the arguments name.  @return an exit status. */
static int run(int argc, char **argv)
{
	const char *slash = argc > 0 ? strrchr(argv[0], '/') : NULL;
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], "genfstab") == 0)
		return cmd_genfstab(argc, argv);
	if (argc > 0 && strcmp(slash ? slash + 1 : argv[0], "check_getmnt") == 0)
		return cmd_check(argc, argv);
	commands = all_commands;
	if (argc == 2 && strcmp(argv[1], "--dump-completion") == 0) {
		completion_print(stdout);
		return finish_stdout() == 0 ? CX_OK : CX_ERROR;
	}
	const struct command *command = argc > 1 ? command_find(commands, argv[1]) : NULL;
	if (wants_version(argc, argv, command))
		return run_option(command_find(commands, "discover"), 'V');
	if (argc > 1 && strcmp(argv[1], "help") == 0)
		return run_help(argc, argv);
	if (!command)
		return wants_verify(argc, argv) ? run_verify(argc, argv) : cmd_discover(argc, argv);
	message_verb(command->name);
	return command->run(argc - 1, argv + 1);
}

int main(int argc, char **argv)
{
	if (fcntl(0, F_GETFD) < 0 || fcntl(1, F_GETFD) < 0 || fcntl(2, F_GETFD) < 0)
		open_standard();
	signal(SIGPIPE, SIG_DFL);
	prepare_stdout();
	/* 16 random bytes that the kernel provides at exec(2). */
	if (getauxval(AT_RANDOM))
		map64_seed((const void *)getauxval(AT_RANDOM));
	return output_status(run(argc, argv));
}
