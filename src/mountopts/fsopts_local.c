/* SPDX-License-Identifier: MIT */
/*
 * Options of file systems on disks and in memory.
 *
 * Sources: the parsers and show_options() of the kernel's file systems (5.4 to 6.18), their
 * documentation, proc(5), and experiments: tests/fixtures/options.
 */
#include "mountopts/fsopts_impl.h"

const struct fsopt_family fsopt_local[] = {
{"ext2 ext3 ext4", .complete = true, .rows = (const struct fsopt[]){
	{"acl noacl user_xattr nouser_xattr bsddf minixdf debug grpid nogrpid nouid32", OPT_FLAG},
	{"errors", OPT_WORD, .words = "continue, remount-ro, panic"},
	{"data", OPT_WORD, .types = "ext3 ext4", .words = "journal, ordered, writeback"},
	{"data=journal", .shown = "data=journal,nodelalloc,nodioread_nolock"},
	{"data=ordered delalloc stripe block_validity", .flags = OPT_UNREQUESTED},
	{"data=journal", .types = "ext3 ext4", .visible = "data nodelalloc nodioread_nolock"},
	{"data_err", OPT_WORD, .types = "ext3 ext4", .words = "abort, ignore"},
	{"data_err=ignore barrier barrier=1", .shown = ""},
	{"commit", OPT_NUMBER, .types = "ext3 ext4", .visible = "", .unless = "commit=0 commit=5",
	 .digits = OPT_NUMBER},
	{"barrier", OPT_NUMBER, .types = "ext3 ext4", .bare = true},
	{"barrier=0", .shown = "nobarrier"},
	{"nobarrier journal_async_commit journal_checksum nojournal_checksum delalloc nodelalloc "
	 "discard nodiscard dioread_lock dioread_nolock noauto_da_alloc noinit_itable "
	 "block_validity noblock_validity quota noquota usrquota grpquota prjquota i_version "
	 "norecovery noload", OPT_FLAG, .types = "ext3 ext4"},
	{"journal_async_commit", .shown = "journal_async_commit,journal_checksum"},
	{"journal_dev stripe max_batch_time min_batch_time", OPT_NUMBER, .types = "ext4"},
	{"journal_ioprio", OPT_WORD, .types = "ext4", .words = "0, 1, 2, 3, 4, 5, 6, 7"},
	{"discard", .types = "ext4", .visible = "", .unless = "nodiscard"},
	{"dioread_lock", .shown = "nodioread_nolock"},
	{"auto_da_alloc init_itable", OPT_NUMBER, .types = "ext4", .bare = true},
	{"auto_da_alloc=0", .shown = "noauto_da_alloc"},
	{"auto_da_alloc=1", .shown = "auto_da_alloc"},
	{"noauto_da_alloc nouid32", .types = "ext4", .visible = "",
	 .unless = "auto_da_alloc max_dir_size_kb=0"},
	{"inode_readahead_blks", OPT_POWER, .types = "ext4"},
	{"init_itable", .shown = "init_itable=10"},
	{"bsdgroups", OPT_FLAG, .shown = "grpid"},
	{"sysvgroups", OPT_FLAG, .shown = "nogrpid"},
	{"resgid resuid sb", OPT_NUMBER},
	{"resgid resuid", .types = "ext4", .visible = "", .unless = "resuid=0 resgid=0",
	 .digits = OPT_NUMBER},
	{"quota usrquota", .shown = "quota,usrquota", .visible = "usrquota usrjquota",
	 .unless = "noquota"},
	{"grpquota", .shown = "quota,grpquota", .visible = "grpquota grpjquota",
	 .unless = "noquota"},
	{"prjquota", .shown = "quota,prjquota"},
	{"prjquota", .types = "ext4", .visible = "", .unless = "noquota"},
	{"usrjquota=", .shown = "usrjquota=%,usrquota"},
	{"usrjquota grpjquota", .types = "ext3 ext4", .needs = "jqfmt"},
	{"grpjquota=", .shown = "grpjquota=%,grpquota"},
	{"jqfmt", OPT_WORD, .types = "ext3 ext4", .words = "vfsold, vfsv0, vfsv1"},
	{"dax", OPT_WORD, .types = "ext4", .bare = true, .words = "always, inode, never"},
	{"dax", .shown = "dax=always"},
	{"no_mbcache", .shown = "nombcache"},
	{"max_dir_size_kb", OPT_NUMBER, .types = "ext4", .visible = "",
	 .unless = "auto_da_alloc max_dir_size_kb=0"},
	{"noload", .shown = "norecovery"},
	{"emergency_ro shutdown", .flags = OPT_FOUND_OUT | OPT_NOT_GIVEN},
	{"noacl nouser_xattr", .types = "ext3 ext4", .ended = "6.1"},
	{"synoacl relatime_period", .flags = OPT_UNREQUESTED, .vendor = "Synology"},
	{"nopriv", .flags = OPT_UNREQUESTED, .vendor = "QNAP"},
	{"journal journal_path nodioread_nolock nombcache "
	 "prefetch_block_bitmaps no_prefetch_block_bitmaps mb_optimize_scan test_dummy_encryption "
	 "inlinecrypt abort oldalloc orlov nobh bh check nocheck reservation noreservation "
	 "mblk_io_submit nomblk_io_submit debug_want_extra_isize warn_on_error nowarn_on_error "
	 "fc_debug_force fc_debug_max_replay"},
	{NULL}}},
{"xfs", .complete = true, .rows = (const struct fsopt[]){
	{"allocsize", OPT_ALLOC_SIZE, .visible = "", .unless = "nolargeio"},
	{"attr2 inode64 noquota", OPT_FLAG, .flags = OPT_DEFAULT},
	{"noattr2 nodiscard grpid nogrpid ikeep noikeep inode32 nolargeio noalign nouuid",
	 OPT_FLAG},
	/* A device without DAX is mounted with dax=never. */
	{"dax", OPT_WORD, .bare = true, .words = "always, inode, never", .shown = "dax=?"},
	{"dax=always", .shown = "dax=?"},
	{"discard", OPT_FLAG, .visible = "", .unless = "nodiscard"},
	{"bsdgroups", OPT_FLAG, .shown = "grpid"},
	{"sysvgroups", OPT_FLAG, .shown = "nogrpid"},
	{"filestreams largeio swalloc wsync", OPT_FLAG, .visible = "", .unless = "nolargeio"},
	{"logbufs", OPT_BUFFERS},
	{"logbufs=8 logbsize=32k", .flags = OPT_DEFAULT},
	{"logbufs=0 logbsize=0", .shown = ""},
	{"sync", .shown = "sync,wsync"},
	{"logbsize", OPT_LOG_SIZE, .flags = OPT_UNREQUESTED},
	{"logdev rtdev", .visible = ""},
	{"norecovery", OPT_FLAG, .needs = "ro"},
	{"uquota quota", OPT_FLAG, .shown = "usrquota", .visible = "usrquota uqnoenforce",
	 .unless = "noquota"},
	{"usrquota uqnoenforce", OPT_FLAG, .visible = "usrquota uqnoenforce", .unless = "noquota"},
	{"gquota", OPT_FLAG, .shown = "grpquota", .visible = "grpquota gqnoenforce",
	 .unless = "noquota"},
	{"grpquota gqnoenforce", OPT_FLAG, .visible = "grpquota gqnoenforce", .unless = "noquota"},
	{"pquota", OPT_FLAG, .shown = "prjquota", .visible = "prjquota pqnoenforce",
	 .unless = "noquota"},
	{"prjquota pqnoenforce", OPT_FLAG, .visible = "prjquota pqnoenforce", .unless = "noquota"},
	{"qnoenforce", OPT_FLAG, .shown = "uqnoenforce", .visible = "usrquota uqnoenforce",
	 .unless = "noquota"},
	{"sunit", OPT_NUMBER, .flags = OPT_DEFAULT, .needs = "swidth"},
	{"swidth", OPT_NUMBER, .flags = OPT_DEFAULT, .needs = "sunit"},
	{"lifetime nolifetime max_atomic_write max_open_zones errortag mtpt"},
	{NULL}}},
{"btrfs", .complete = true, .rows = (const struct fsopt[]){
	{"acl noautodefrag barrier clear_cache datacow datasum degraded nodiscard noflushoncommit "
	 "rescan_uuid_tree nossd nossd_spread treelog", OPT_FLAG},
	{"noacl", OPT_FLAG, .visible = "", .unless = "acl"},
	{"autodefrag", OPT_FLAG, .visible = "", .unless = "noautodefrag"},
	{"nobarrier", OPT_FLAG, .visible = "", .unless = "barrier"},
	{"commit", OPT_NUMBER, .visible = "", .unless = "commit=0 commit=30", .digits = OPT_NUMBER},
	{"compress", OPT_HEAD, .bare = true, .words = "zlib, lzo, zstd, no",
	 .shown = "compress=zlib:3", .visible = "compress compress-force",
	 .unless = "compress=no compress=none compress-force=no compress-force=none nodatacow "
	           "nodatasum"},
	{"compress=zlib", .shown = "compress=zlib:3"},
	{"compress=zstd", .shown = "compress=zstd:3"},
	{"compress=no", .shown = ""},
	{"compress-force", OPT_HEAD, .bare = true, .words = "zlib, lzo, zstd, no",
	 .shown = "compress-force=zlib:3", .visible = "compress compress-force",
	 .unless = "compress=no compress=none compress-force=no compress-force=none nodatacow "
	           "nodatasum"},
	{"compress-force=zlib", .shown = "compress-force=zlib:3"},
	{"compress-force=zstd", .shown = "compress-force=zstd:3"},
	{"nodatacow", OPT_FLAG, .shown = "nodatacow,nodatasum", .visible = "",
	 .unless = "datacow datasum compress compress-force"},
	{"nodatasum", OPT_FLAG, .visible = "", .unless = "datacow datasum compress compress-force"},
	{"discard", OPT_WORD, .bare = true, .words = "sync, async", .visible = "",
	 .unless = "nodiscard"},
	{"discard=sync", .shown = "discard"},
	{"discard=async subvol", .flags = OPT_UNREQUESTED},
	{"fatal_errors", OPT_WORD, .words = "bug, panic"},
	{"flushoncommit", OPT_FLAG, .visible = "", .unless = "noflushoncommit"},
	{"metadata_ratio", OPT_NUMBER},
	{"norecovery", OPT_FLAG, .shown = "rescue=nologreplay", .needs = "ro"},
	{"nologreplay", .shown = "rescue=nologreplay", .needs = "ro"},
	{"rescue", OPT_WORDS,
	 .words = "usebackuproot, nologreplay, ignorebadroots, ibadroots, ignoredatacsums, "
	          "idatacsums, ignoremetacsums, imetacsums, ignoresuperflags, isuperflags, all",
	 .needs = "ro"},
	{"rescue=all", .shown = "rescue=?"},
	{"rescue=ibadroots", .shown = "rescue=ignorebadroots"},
	{"rescue=idatacsums", .shown = "rescue=ignoredatacsums"},
	{"rescue=imetacsums", .shown = "rescue=ignoremetacsums"},
	{"rescue=isuperflags", .shown = "rescue=ignoresuperflags"},
	{"skip_balance user_subvol_rm_allowed", OPT_FLAG, .visible = ""},
	{"space_cache", OPT_WORD, .flags = OPT_DEFAULT | OPT_UNREQUESTED, .bare = true,
	 .words = "v1, v2"},
	{"space_cache=v1", .shown = "space_cache"},
	{"space_cache=v2", .flags = OPT_DEFAULT},
	{"nospace_cache", OPT_FLAG, .flags = OPT_UNREQUESTED},
	{"ssd", OPT_FLAG, .flags = OPT_DEFAULT},
	{"ssd_spread", OPT_FLAG, .shown = "ssd_spread,ssd"},
	{"subvolid", OPT_WIDE, .flags = OPT_FOUND_OUT},
	{"thread_pool", OPT_COUNT},
	{"notreelog", OPT_FLAG, .visible = "", .unless = "treelog"},
	{"usebackuproot", OPT_FLAG, .shown = "rescue=usebackuproot"},
	{"recovery", .shown = "rescue=usebackuproot", .ended = "6.8",
	 .instead = "rescue=usebackuproot"},
	{"nologreplay", .ended = "6.16", .instead = "rescue=nologreplay"},
	{"inode_cache noinode_cache", .ended = "6.8"},
	{"check_int check_int_data check_int_print_mask", .ended = "6.7"},
	{"alloc_start subvolrootid", .ended = "5.9"},
	{"space_cache=v1", .ended = "4.5", .instead = "space_cache=v2", .unless = "clear_cache",
	 .where = " on a file system with a free space tree, as mkfs.btrfs makes since 5.15"},
	{"synoacl relatime_period auto_reclaim_space syno_allocator block_group_cache_tree "
	 "clear_syno_allocator clear_block_group_cache_tree no_block_group_hint no_quota_tree "
	 "drop_log_tree skip_cleaner synoumounthang", .flags = OPT_UNREQUESTED,
	 .vendor = "Synology"},
	{"free_space_tree", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{"device enospc_debug noenospc_debug fragment max_inline ref_verify "
	 "ref_tracker"},
	{NULL}}},
{"f2fs", .complete = true, .rows = (const struct fsopt[]){
	{"background_gc", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "on, off, sync"},
	{"background_gc=on active_logs=6 inline_xattr inline_data inline_dentry flush_merge "
	 "barrier extent_cache mode=adaptive alloc_mode=default fsync_mode=posix checkpoint_merge "
	 "nogc_merge discard_unit=block memory=normal errors=continue "
	 "no_heap", .flags = OPT_DEFAULT},   /* no_heap: before Linux 6.9 */
	{"discard nodiscard nouser_xattr noacl active_logs noinline_xattr noinline_data "
	 "noinline_dentry noflush_merge noextent_cache mode alloc_mode fsync_mode "
	 "nocheckpoint_merge compress_algorithm=lz4 compress_log_size=2 compress_mode=fs gc_merge "
	 "discard_unit memory age_extent_cache errors lookup_mode heap", .flags = OPT_UNREQUESTED},
	{"user_xattr acl atgc", .flags = OPT_FOUND_OUT},
	{"compress_algorithm", .visible = ""},
	{"compress_algorithm=zstd", .shown = "compress_algorithm=zstd:1"},   /* since 5.12 */
	{"lazytime", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{"disable_roll_forward norecovery disable_ext_identify inline_xattr_size "
	 "nobarrier fastboot data_flush io_bits fault_injection fault_type quota noquota usrquota "
	 "grpquota prjquota usrjquota grpjquota prjjquota "
	 "jqfmt whint_mode test_dummy_encryption inlinecrypt checkpoint compress_log_size "
	 "compress_extension nocompress_extension compress_chksum compress_mode compress_cache "
	 "reserve_root reserve_node resuid resgid inline_dots noinline_dots nat_bits"},
	{NULL}}},
{"vfat msdos", .complete = true, .rows = (const struct fsopt[]){
	{"allow_utime", OPT_OCTAL, .flags = OPT_UNREQUESTED},
	{"codepage", OPT_NUMBER, .flags = OPT_UNREQUESTED},
	{"codepage=437 dmask=0022 fmask=0022 iocharset=ascii errors=remount-ro shortname=mixed",
	 .flags = OPT_DEFAULT},
	{"discard quiet sys_immutable flush showexec", OPT_FLAG, .visible = "",
	 .unless = "noquiet"},
	{"dmask fmask umask", OPT_OCTAL},
	{"umask=", .shown = "fmask=%,dmask=%"},
	{"uid", OPT_ID, .visible = "", .unless = "uid=0", .digits = OPT_NUMBER},
	{"gid", OPT_ID, .visible = "", .unless = "gid=0", .digits = OPT_NUMBER},
	{"iocharset utf8 shortname", .flags = OPT_UNREQUESTED},
	{"utf8=1 utf8=yes utf8=true", .shown = "utf8"},
	{"uni_xlate=1", .shown = "uni_xlate"},
	{"rodir", OPT_FLAG},
	{"tz=UTC", .visible = "", .unless = "noquiet"},
	{"errors", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "continue, panic, remount-ro"},
	{"shortname", OPT_WORD, .types = "vfat", .words = "lower, win95, winnt, mixed"},
	{"blocksize check debug uni_xlate nonumtail numtail usefree time_offset tz nfs dos1xfloppy "
	 "dotsOK posix fat conv dots nodots cvf_format cvf_options nocase"},
	{NULL}}},
{"exfat", .complete = true, .fuse = true, .rows = (const struct fsopt[]){
	{"umask dmask fmask", OPT_OCTAL},
	{"umask=", .shown = "fmask=%,dmask=%"},
	{"dmask=0022 fmask=0022", .flags = OPT_DEFAULT},
	{"allow_utime iocharset errors", .flags = OPT_UNREQUESTED},
	{"uid", OPT_ID, .visible = "", .unless = "uid=0", .digits = OPT_NUMBER},
	{"gid", OPT_ID, .visible = "", .unless = "gid=0", .digits = OPT_NUMBER},
	{"uid=0 gid=0", .flags = OPT_UNREQUESTED},
	{"discard nodiscard keep_last_dots sys_tz time_offset utf8 noutf8 debug namecase codepage "
	 "zero_size_dir nozero_size_dir delayed_meta symlink nosymlink bootsize"},
	{NULL}}},
{"ntfs3", .complete = true, .rows = (const struct fsopt[]){
	{"umask fmask dmask", OPT_OCTAL},
	{"umask=", .shown = "fmask=%,dmask=%"},
	{"fmask=0022 dmask=0022 iocharset prealloc", .flags = OPT_UNREQUESTED},
	{"uid gid", OPT_ID},
	{"uid=0 gid=0", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{"nls acl noacl", .flags = OPT_UNREQUESTED},
	{"discard nodiscard force noforce sparse nosparse nohidden hidden hide_dot_files "
	 "hidedotfiles windows_names nowindows_names showmeta noshowmeta noprealloc nocase case "
	 "no_acs_rules noacsrules acsrules sys_immutable nosys_immutable nohide_dot_files "
	 "delalloc nodelalloc show_sys_files"},
	{NULL}}},
{"hfs hfsplus", .rows = (const struct fsopt[]){
	{"umask uid gid nls codepage iocharset part session creator type",
	 .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{"iso9660", .complete = true, .rows = (const struct fsopt[]){
	{"norock nojoliet check map session sbsector iocharset utf8", .flags = OPT_UNREQUESTED},
	{"check=s map=n", .flags = OPT_DEFAULT},
	{"block=", .shown = "block=%,blocksize=%"},
	{"mode=", .shown = "mode=%,fmode=%"},
	{"blocksize", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{"blocksize=2048", .flags = OPT_DEFAULT | OPT_NOT_GIVEN},
	/* Octal without a leading 0 would be read as decimal. */
	{"fmode", .flags = OPT_NOT_GIVEN, .given = "mode=0"},
	{"dmode", .given = "dmode=0"},
	{"blocksize", .flags = OPT_NOT_GIVEN, .given = "block="},
	{"rock joliet unhide showassoc overriderockperm block mode noutf8 cruft hide conv "
	 "nocompress uid gid"},
	{NULL}}},
{"udf", .complete = true, .rows = (const struct fsopt[]){
	{"iocharset utf8 session lastblock anchor", .flags = OPT_UNREQUESTED},
	{"bs uid gid", .flags = OPT_UNREQUESTED},
	{"novrs nostrict unhide undelete noadinicb adinicb shortad longad umask volume partition "
	 "fileset rootdir mode dmode"},
	{NULL}}},
{"squashfs", .rows = (const struct fsopt[]){
	{"errors", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "continue, panic"},
	{"errors=continue threads=single", .flags = OPT_DEFAULT},
	{"threads", .flags = OPT_UNREQUESTED},
	{NULL}}},
{"erofs", .rows = (const struct fsopt[]){
	{"user_xattr acl cache_strategy dax=never", .flags = OPT_UNREQUESTED},
	{"nouser_xattr noacl dax device domain_id fsid directio fsoffset inode_share"},
	{NULL}}},
{"tmpfs", .complete = true, .rows = (const struct fsopt[]){
	{"size", OPT_PART, .visible = "size", .digits = OPT_SIZE},
	{"nr_blocks", OPT_SIZE, .visible = "size", .digits = OPT_SIZE},
	{"nr_blocks=", .shown = "size=?"},
	{"nr_inodes", OPT_SIZE, .visible = "", .digits = OPT_SIZE},
	{"mode", OPT_OCTAL, .visible = "", .unless = "mode=1777 mode=01777", .digits = OPT_NUMBER},
	{"gid", OPT_ID, .visible = "", .unless = "gid=0", .digits = OPT_NUMBER},
	{"uid", OPT_ID, .visible = "", .unless = "uid=0", .digits = OPT_NUMBER},
	{"huge", OPT_WORD, .words = "never, always, within_size, advise", .visible = "",
	 .unless = "huge=never huge=0"},
	{"mpol", OPT_HEAD, .words = "default, prefer, bind, interleave, local, weighted"},
	{"inode32", OPT_FLAG, .flags = OPT_UNREQUESTED},
	{"inode64", OPT_FLAG, .flags = OPT_DEFAULT},
	{"noswap", OPT_FLAG, .visible = ""},
	{"quota usrquota grpquota usrquota_block_hardlimit usrquota_inode_hardlimit "
	 "grpquota_block_hardlimit grpquota_inode_hardlimit casefold strict_encoding"},
	{NULL}}},
{"proc", .complete = true, .rows = (const struct fsopt[]){
	{"hidepid", OPT_WORD, .words = "0, 1, 2, 4, off, noaccess, invisible, ptraceable",
	 .visible = "", .unless = "hidepid=0 hidepid=off"},
	{"hidepid=0 hidepid=off", .shown = ""},
	{"hidepid=1", .shown = "hidepid=noaccess"},
	{"hidepid=2", .shown = "hidepid=invisible"},
	{"hidepid=4", .shown = "hidepid=ptraceable"},
	{"gid=0", .flags = OPT_UNREQUESTED},
	{"gid", .visible = "", .unless = "gid=0", .digits = OPT_NUMBER},
	{"subset", OPT_WORDS, .words = "pid"},
	{"subset=pid", .visible = ""},
	{"pidns"},
	{NULL}}},
{"devpts", .complete = true, .rows = (const struct fsopt[]){
	{"mode=600 ptmxmode=000", .flags = OPT_UNREQUESTED},
	{"uid gid", .visible = "", .digits = OPT_NUMBER},
	{"newinstance mode ptmxmode max"},
	{NULL}}},
{"hugetlbfs", .complete = true, .rows = (const struct fsopt[]){
	{"pagesize", .flags = OPT_UNREQUESTED},
	{"uid", .visible = "", .unless = "uid=0", .digits = OPT_NUMBER},
	{"gid", .visible = "", .unless = "gid=0", .digits = OPT_NUMBER},
	{"mode size nr_inodes min_size"},
	{NULL}}},
{"cgroup2", .rows = (const struct fsopt[]){
	{"nsdelegate favordynmods nofavordynmods memory_localevents memory_recursiveprot "
	 "memory_hugetlb_accounting pids_localevents"},
	{NULL}}},
{"overlay", .complete = true, .rows = (const struct fsopt[]){
	{"redirect_dir", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "on, off, follow, nofollow"},
	{"index nfs_export metacopy", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "on, off"},
	{"uuid=auto xino=auto", .shown = ""},
	{"uuid nouserxattr", .flags = OPT_UNREQUESTED},
	{"xino", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "on, off, auto"},
	{"volatile", .shown = "volatile,fsync=volatile", .visible = "volatile fsync",
	 .unless = "fsync"},
	{"fsync=volatile", .shown = "volatile,fsync=volatile"},
	{"lowerdir lowerdir+ datadir datadir+ upperdir workdir default_permissions userxattr "
	 "verity fsync override_creds nooverride_creds casefold"},
	{NULL}}},
{"swap", .complete = true, .rows = (const struct fsopt[]){
	{"sw swap pri discard"},
	{NULL}}},
{"zfs", .rows = (const struct fsopt[]){
	{"rw xattr noxattr posixacl noacl casesensitive", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{NULL, .rows = NULL},
};
