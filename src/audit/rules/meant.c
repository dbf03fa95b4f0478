/* SPDX-License-Identifier: MIT */
/*
 * Options of types of which not all are held: what is not among them may well be one, and is
 * told only if it is nearly one of them.
 *
 * Sources: nfs(5), mount.cifs(8), mount.fuse3(8), sshfs(1), mount.ceph(8), mount.glusterfs(8),
 * ntfs-3g(8), proc(5), and what the kernel's documentation of each type has.
 */
#include "audit/audit_impl.h"

#include "base/words.h"

#include <string.h>

#define FUSE \
	"allow_other allow_root default_permissions fsname subtype blksize max_read max_readahead max_write auto_unmount " \
	"kernel_cache auto_cache noauto_cache direct_io hard_remove use_ino readdir_ino umask entry_timeout negative_timeout " \
	"attr_timeout ac_attr_timeout noforget remember nopath intr intr_signal modules nonempty large_read async_read " \
	"sync_read atomic_o_trunc big_writes no_remote_lock no_remote_flock no_remote_posix_lock splice_write no_splice_write " \
	"splice_move no_splice_move splice_read no_splice_read clone_fd max_idle_threads max_threads rootmode user_id group_id "

static const struct {
	const char *types, *options;
} rows[] = {
	{"nfs nfs4",
	 "soft softerr softreval nosoftreval hard intr nointr timeo retrans rsize wsize bsize ac noac actimeo acregmin acregmax "
	 "acdirmin acdirmax bg fg nconnect max_connect rdirplus nordirplus retry sec sharecache nosharecache resvport noresvport "
	 "lookupcache fsc nofsc sloppy nosloppy proto udp tcp rdma port mountport mountproto mounthost mountvers mountaddr namlen lock "
	 "nolock cto nocto acl noacl local_lock nfsvers vers minorversion clientaddr migration nomigration trunkdiscovery "
	 "notrunkdiscovery xprtsec write addr posix noposix nfsprog mountprog cert_serial privkey_serial fatal_neterrors alignwrite "
	 "noalignwrite xattr noxattr v4.0 v4.1 v4.2 vers4 addr6 lockd tcp6 udp6 rdma6 nfs4_ac noextend"},
	{"cifs smb3 smbfs",
	 "username user password password2 pass credentials cred domain workgroup domainauto guest uid gid cruid forceuid noforceuid forcegid "
	 "noforcegid file_mode dir_mode dynperm nodynperm setuids nosetuids setuidfromacl perm noperm mapchars nomapchars "
	 "mapposix nomapposix iocharset prefixpath port srcaddr addr servern netbiosname sec vers seal sign signloosely compress "
	 "nosharesock sharesock sparse nosparse posix noposix unix nounix linux nolinux posixpaths noposixpaths acl noacl nocase ignorecase intr nointr "
	 "soft nosoft hard nohard rdma esize bsize rasize rsize wsize actimeo acregmax acdirmax closetimeo echo_interval handletimeout "
	 "max_credits max_channels min_enc_offload serverino noserverino rwpidforward mfsymlinks nomfsymlinks multiuser nomultiuser multichannel "
	 "nomultichannel persistenthandles nopersistenthandles resilienthandles noresilienthandles idsfromsid cifsacl nocifsacl modefromsid "
	 "nodelete backupuid backupgid snapshot dfs nodfs handlecache nohandlecache fsc lock nolock forcemandatorylock forcemand "
	 "mandatorylock brl nobrl nolease lease locallease cache loose forcedirectio directio strictcache nostrictsync strictsync fsync user_xattr nouser_xattr "
	 "blocksend noblocksend tcpnodelay noautotune autotune symlink reparse upcall_target unicode nounicode nativesocket nonativesocket "
	 "symlinkroot witness nowitness rootfs separator sockopt retrans target path unc override_unc retry local_lease ver sfu nosfu zerocopy"},
	{"overlay",
	 "lowerdir lowerdir+ datadir datadir+ upperdir workdir default_permissions redirect_dir index uuid nfs_export userxattr nouserxattr xino metacopy "
	 "verity volatile fsync override_creds nooverride_creds casefold"},
	{"fuse.sshfs sshfs",
	 FUSE
	 "reconnect delay_connect sshfs_sync no_readahead sync_readdir sshfs_debug sshfs_verbose cache cache_timeout cache_stat_timeout "
	 "cache_dir_timeout cache_link_timeout cache_max_size cache_clean_interval cache_min_clean_interval dcache_timeout "
	 "dcache_stat_timeout dcache_dir_timeout dcache_link_timeout dcache_max_size dcache_clean_interval dcache_min_clean_interval "
	 "dir_cache workaround idmap uidfile gidfile nomap ssh_command ssh_protocol sftp_server directport vsock passive slave "
	 "disable_hardlink follow_symlinks no_check_root password_stdin transform_symlinks max_conns compression "
	 "AddressFamily BatchMode BindAddress BindInterface CertificateFile ChallengeResponseAuthentication CheckHostIP Cipher Ciphers "
	 "Compression CompressionLevel ConnectionAttempts ConnectTimeout ControlMaster ControlPath ControlPersist FingerprintHash "
	 "GlobalKnownHostsFile GSSAPIAuthentication GSSAPIDelegateCredentials HostbasedAuthentication HostbasedKeyTypes "
	 "HostKeyAlgorithms HostKeyAlias HostName IdentitiesOnly IdentityFile IdentityAgent IPQoS KbdInteractiveAuthentication "
	 "KbdInteractiveDevices KexAlgorithms LocalCommand LogLevel MACs NoHostAuthenticationForLocalhost NumberOfPasswordPrompts "
	 "PasswordAuthentication PermitLocalCommand PKCS11Provider Port PreferredAuthentications ProxyCommand ProxyJump ProxyUseFdpass "
	 "PubkeyAcceptedKeyTypes PubkeyAcceptedAlgorithms PubkeyAuthentication RekeyLimit RevokedHostKeys RhostsRSAAuthentication "
	 "RSAAuthentication ServerAliveCountMax ServerAliveInterval SmartcardDevice StrictHostKeyChecking TCPKeepAlive "
	 "UpdateHostKeys UsePrivilegedPort UserKnownHostsFile User VerifyHostKeyDNS VisualHostKey ForwardAgent ForwardX11 SendEnv "
	 "SetEnv RequestTTY Tunnel Protocol PreferredAuthentications"},
	{"proc", "hidepid gid subset pidns"},
	{"squashfs", "errors threads"},
	{"erofs", "user_xattr nouser_xattr acl noacl cache_strategy dax device domain_id fsid directio fsoffset inode_share"},
	{"iso9660",
	 "norock rock nojoliet joliet check unhide showassoc overriderockperm block mode fmode dmode map session sbsector iocharset utf8 "
	 "noutf8 cruft hide conv nocompress"},
	{"udf",
	 "novrs nostrict unhide undelete noadinicb adinicb shortad longad umask iocharset utf8 session lastblock anchor volume "
	 "partition fileset rootdir mode dmode"},
	{"exfat",
	 "umask dmask fmask allow_utime iocharset errors discard keep_last_dots sys_tz time_offset utf8 noutf8 debug namecase codepage "
	 "zero_size_dir delayed_meta symlink nosymlink bootsize"},
	{"ntfs3",
	 "umask fmask dmask iocharset discard nodiscard force noforce sparse nosparse nohidden hidden hide_dot_files hidedotfiles windows_names "
	 "nowindows_names showmeta noshowmeta prealloc noprealloc nocase case no_acs_rules sys_immutable delalloc nodelalloc show_sys_files"},
	{"ntfs ntfs-3g fuseblk",
	 "umask fmask dmask usermapping permissions inherit locale force recover norecover ignore_case remove_hiberfile show_sys_files "
	 "hide_hid_files hide_dot_files windows_names streams_interface user_xattr efs_raw compression nocompression debug no_detach "
	 "no_def_opts delay_mtime posix_nlink special_files iocharset codepage utf8 errors mft_zone_multiplier case_sensitive "
	 "disable_sparse preallocate prealloc sparse nohidden showmeta sys_immutable discard " FUSE},
	{"f2fs",
	 "background_gc disable_roll_forward norecovery discard nodiscard no_heap heap user_xattr nouser_xattr acl noacl active_logs "
	 "disable_ext_identify inline_xattr noinline_xattr inline_xattr_size inline_data noinline_data inline_dentry noinline_dentry "
	 "flush_merge noflush_merge barrier nobarrier fastboot extent_cache noextent_cache data_flush mode io_bits fault_injection "
	 "fault_type quota noquota usrquota grpquota prjquota usrjquota grpjquota prjjquota offusrjquota offgrpjquota offprjjquota "
	 "jqfmt whint_mode alloc_mode fsync_mode test_dummy_encryption inlinecrypt checkpoint checkpoint_merge nocheckpoint_merge "
	 "compress_algorithm compress_log_size compress_extension nocompress_extension compress_chksum compress_mode compress_cache "
	 "atgc gc_merge nogc_merge discard_unit memory age_extent_cache errors reserve_root reserve_node resuid resgid lookup_mode "
	 "inline_dots noinline_dots"},
	{"9p",
	 "trans version msize dfltuid dfltgid uname aname cache access debug posixacl noposixacl noxattr noextend nodevmap cachetag port rfdno "
	 "wfdno timeout privport fscache loose mmap locktimeout afid source ignoreqv directio readahead"},
	{"ceph",
	 "name secret secretfile mds_namespace mon_addr share noshare nocrc fsid ms_mode osdtimeout osd_request_timeout "
	 "mount_timeout osd_idle_ttl osdkeepalive osdkeepalivetimeout cephx_require_signatures nocephx_require_signatures "
	 "cephx_sign_messages nocephx_sign_messages tcp_nodelay notcp_nodelay read_from_replica abort_on_full rxbounce crush_location "
	 "rsize wsize rasize caps_wanted_delay_min caps_wanted_delay_max caps_max readdir_max_entries readdir_max_bytes "
	 "write_congestion_kb snapdirname recover_session dirstat nodirstat rbytes norbytes asyncreaddir noasyncreaddir dcache nodcache "
	 "ino32 noino32 fsc nofsc poolperm nopoolperm require_active_mgr norequire_active_mgr copyfrom nocopyfrom acl noacl wsync nowsync "
	 "pagecache nopagecache sparseread nosparseread quotadf noquotadf test_dummy_encryption conf keyring mon_host fallback nofallback"},
	{"glusterfs fuse.glusterfs",
	 "log-level log-file transport direct-io-mode volume-name backup-volfile-servers backup-volfile-server backupvolfile-server "
	 "volfile-server-port volfile-server-transport volfile-id volfile-check volfile-max-fetch-attempts selinux worm read-only fopen-keep-cache "
	 "enable-ino32 mem-accounting aux-gfid-mount attribute-timeout entry-timeout negative-timeout gid-timeout lru-limit invalidate-limit "
	 "background-qlen congestion-threshold oom-score-adj fetch-attempts root-squash no-root-squash capability thin-client "
	 "resolve-gids event-history reader-thread-count kernel-writeback-cache attr-times-granularity use-readdirp process-name "
	 "fuse-mountopts xlator-option dump-fuse subdir-mount io-engine auto-invalidation halo-max-latency global-threading "
	 "flush-handle-interrupt fuse-flush-handle-interrupt brick-name client-pid " FUSE},
	{"virtiofs", "source rootmode user_id group_id default_permissions allow_other"},
	{"devpts", "newinstance mode ptmxmode"},
	{"hugetlbfs", "mode size nr_inodes pagesize min_size"},
	{"cgroup2", "nsdelegate favordynmods nofavordynmods memory_localevents memory_recursiveprot memory_hugetlb_accounting pids_localevents"},
	{"fuse", FUSE},
};

/** Of a file system in user space that is not known: these alone are not its own affair. */
static const char any_fuse[] = "allow_other allow_root default_permissions";

const char *audit_meant(const char *fstype)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		if (*fstype && word_in(fstype, strlen(fstype), rows[i].types))
			return rows[i].options;
	}
	return strncmp(fstype, "fuse.", 5) == 0 ? any_fuse : NULL;
}
