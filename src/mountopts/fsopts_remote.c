/* SPDX-License-Identifier: MIT */
/*
 * Options of network file systems and of FUSE.
 *
 * A helper may accept more options than are listed: no type is complete.
 *
 * Sources: nfs(5), mount.cifs(8), mount.fuse3(8), sshfs(1), mount.ceph(8), mount.glusterfs(8),
 * ntfs-3g(8), show_options() of the kernel's file systems (5.4 to 6.18), and experiments:
 * tests/fixtures/options.
 */
#include "mountopts/fsopts_impl.h"

const struct fsopt_family fsopt_remote[] = {
{"nfs nfs4", .strict = true, .rows = (const struct fsopt[]){
	{"hard timeo=600 retrans=2 rsize=1048576 wsize=1048576 sec=sys proto=tcp local_lock=none "
	 "fatal_neterrors=none", .flags = OPT_DEFAULT},
	{"timeo rsize wsize", OPT_NUMBER, .flags = OPT_UNREQUESTED},
	{"retrans actimeo acregmin acregmax acdirmin acdirmax nconnect retry port", OPT_NUMBER},
	{"retrans=3 bsize acl noacl minorversion", .flags = OPT_UNREQUESTED},
	{"noac", .shown = "noac,sync,acregmin=0,acregmax=0,acdirmin=0,acdirmax=0"},
	{"actimeo=", .shown = "acregmin=%,acregmax=%,acdirmin=%,acdirmax=%"},
	{"sec", OPT_WORDS, .flags = OPT_UNREQUESTED,
	 .words = "none, null, sys, krb5, krb5i, krb5p, lkey, lkeyi, lkeyp, spkm3, spkm3i, spkm3p"},
	{"nosharecache", .visible = "", .unless = "sharecache"},
	{"noresvport", .visible = "", .unless = "resvport"},
	{"lookupcache", OPT_WORD, .words = "all, none, pos, positive"},
	{"lookupcache=all", .shown = ""},
	{"lookupcache=positive", .shown = "lookupcache=pos", .visible = "lookupcache"},
	{"lookupcache=none lookupcache=pos", .visible = "lookupcache"},
	{"proto", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "tcp, udp, rdma, tcp6, udp6, rdma6"},
	{"udp", .shown = "proto=udp"},
	{"tcp", .shown = "proto=tcp"},
	{"rdma", .shown = "proto=rdma"},
	{"port=0 mountport mountproto mounthost mountvers mountaddr namlen clientaddr addr",
	 .flags = OPT_FOUND_OUT},
	{"nolock", .shown = "nolock,local_lock=?"},
	{"nocto", .visible = "", .unless = "cto"},
	{"local_lock", OPT_WORD, .words = "all, flock, posix, none"},
	{"nfsvers", OPT_WORD, .words = "2, 3, 4, 4.0, 4.1, 4.2"},
	{"nfsvers=", .shown = "vers=%"},
	{"vers", OPT_WORD, .flags = OPT_UNREQUESTED, .words = "2, 3, 4, 4.0, 4.1, 4.2"},
	{"minorversion=", .shown = "vers=4.%"},
	{"xprtsec=tls xprtsec=mtls", .visible = "xprtsec"},
	{"v4.0", .shown = "vers=4.0"},
	{"v4.1", .shown = "vers=4.1"},
	{"v4.2", .shown = "vers=4.2"},
	{"v3", .shown = "vers=3"},
	{"v4", .shown = "vers=4"},
	{"soft softerr softreval nosoftreval intr nointr ac bg fg max_connect rdirplus nordirplus "
	 "sharecache resvport fsc nofsc sloppy nosloppy lock cto migration nomigration "
	 "trunkdiscovery notrunkdiscovery xprtsec write posix noposix nfsprog mountprog "
	 "cert_serial privkey_serial fatal_neterrors alignwrite noalignwrite xattr noxattr vers4 "
	 "addr6 lockd tcp6 udp6 rdma6 nfs4_ac noextend v2 sharetransport nosharetransport"},
	{NULL}}},
{"cifs smb3 smbfs", .strict = true, .rows = (const struct fsopt[]){
	{"username domain cruid forceuid forcegid noperm mapchars iocharset posix unix nounix "
	 "posixpaths acl bsize acregmax=1 acdirmax=1 echo_interval max_channels noserverino "
	 "multichannel symlink reparse nativesocket symlinkroot retrans", .flags = OPT_UNREQUESTED},
	{"user=", .shown = "username=%"},
	{"password addr", .flags = OPT_FOUND_OUT},
	{"workgroup=", .shown = "domain=%"},
	{"uid gid", OPT_ID, .flags = OPT_UNREQUESTED},
	{"uid=", .shown = "uid=%,forceuid"},
	{"gid=", .shown = "gid=%,forcegid"},
	{"noforceuid noforcegid mapposix soft bsize=1048576 rsize=4194304 wsize=4194304 actimeo=1 "
	 "closetimeo=1 echo_interval=60 serverino cache=strict retrans=1", .flags = OPT_DEFAULT},
	{"file_mode dir_mode", OPT_OCTAL, .flags = OPT_UNREQUESTED},
	{"port actimeo", OPT_NUMBER},
	{"sec", OPT_WORD, .flags = OPT_UNREQUESTED,
	 .words = "none, krb5, krb5i, krb5p, ntlm, ntlmi, ntlmv2, ntlmv2i, ntlmssp, ntlmsspi, "
	          "nontlm, lanman"},
	{"vers", OPT_WORD, .flags = OPT_UNREQUESTED,
	 .words = "default, 1.0, 2.0, 2.1, 3, 3.0, 3.0.2, 3.02, 3.1.1, 3.11"},
	{"seal mfsymlinks multiuser nobrl", .visible = "", .unless = "brl"},
	{"rsize wsize", OPT_NUMBER, .flags = OPT_UNREQUESTED},
	{"cache", OPT_WORD, .words = "none, strict, loose, ro, singleclient"},
	{"ver=", .shown = "vers=%"},
	{"dom=", .shown = "domain=%"},
	{"credentials cred", .flags = OPT_KEY_FILE},
	{"user password2 pass workgroup domainauto guest dynperm nodynperm "
	 "setuids nosetuids setuidfromacl perm nomapchars nomapposix prefixpath srcaddr servern "
	 "netbiosname sign signloosely compress nosharesock sharesock sparse nosparse noposix "
	 "linux nolinux noposixpaths noacl nocase ignorecase intr nointr nosoft hard nohard rdma "
	 "esize rasize acregmax acdirmax closetimeo handletimeout max_credits min_enc_offload "
	 "rwpidforward nomfsymlinks nomultiuser nomultichannel persistenthandles "
	 "nopersistenthandles resilienthandles noresilienthandles idsfromsid cifsacl nocifsacl "
	 "modefromsid nodelete backupuid backupgid snapshot dfs nodfs handlecache nohandlecache "
	 "fsc lock nolock forcemandatorylock forcemand mandatorylock brl nolease lease locallease "
	 "loose forcedirectio directio strictcache nostrictsync strictsync fsync user_xattr "
	 "nouser_xattr blocksend noblocksend tcpnodelay noautotune autotune upcall_target unicode "
	 "nounicode nonativesocket witness nowitness rootfs separator sockopt target path unc "
	 "override_unc retry local_lease ver sfu nosfu zerocopy ip dirmode fmask dmask modesid "
	 "max_cached_dirs"},
	{NULL}}},
{"9p", .rows = (const struct fsopt[]){
	{"trans msize uname aname access", .flags = OPT_UNREQUESTED},
	{"cache=none", .flags = OPT_UNREQUESTED, .shown = ""},
	{"rfdno wfdno", .flags = OPT_FOUND_OUT},
	{"sync dirsync", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{"version dfltuid dfltgid cache debug posixacl noposixacl noxattr noextend nodevmap "
	 "cachetag port timeout privport fscache loose mmap locktimeout afid source ignoreqv "
	 "directio readahead"},
	{NULL}}},
{"ceph", .strict = true, .rows = (const struct fsopt[]){
	{"name mon_addr fsid wsize acl noacl", .flags = OPT_UNREQUESTED},
	{"secret", .flags = OPT_FOUND_OUT},
	{"secretfile=", .shown = ""},
	{"fs=", .shown = "mds_namespace=%"},
	{"secretfile keyring", .flags = OPT_KEY_FILE},
	{"mds_namespace share noshare nocrc ms_mode osdtimeout osd_request_timeout "
	 "mount_timeout osd_idle_ttl osdkeepalive osdkeepalivetimeout cephx_require_signatures "
	 "nocephx_require_signatures cephx_sign_messages nocephx_sign_messages tcp_nodelay "
	 "notcp_nodelay read_from_replica abort_on_full rxbounce crush_location rsize rasize "
	 "caps_wanted_delay_min caps_wanted_delay_max caps_max readdir_max_entries "
	 "readdir_max_bytes write_congestion_kb snapdirname recover_session dirstat nodirstat "
	 "rbytes norbytes asyncreaddir noasyncreaddir dcache nodcache ino32 noino32 fsc nofsc "
	 "poolperm nopoolperm require_active_mgr norequire_active_mgr copyfrom nocopyfrom wsync "
	 "nowsync pagecache nopagecache sparseread nosparseread quotadf noquotadf "
	 "test_dummy_encryption conf mon_host fallback nofallback key ip crc"},
	{NULL}}},
{"lustre", .rows = (const struct fsopt[]){
	{"checksum nochecksum flock user_xattr nouser_xattr lruresize nolruresize lazystatfs "
	 "nolazystatfs user_fid2path nouser_fid2path verbose noverbose encrypt noencrypt "
	 "statfs_project", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{"gfs2", .rows = (const struct fsopt[]){
	{"hostdata lockproto locktable", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{"ocfs2", .rows = (const struct fsopt[]){
	{"heartbeat nointr data coherency atime_quantum cluster_stack errors user_xattr "
	 "nouser_xattr acl noacl", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{"vboxsf", .rows = (const struct fsopt[]){
	{"iocharset nls ttl tag", .flags = OPT_NOT_GIVEN | OPT_UNREQUESTED},
	{NULL}}},
{"virtiofs", .strict = true, .rows = (const struct fsopt[]){
	{"source dax rootmode user_id group_id default_permissions allow_other"},
	{NULL}}},
{"fuse", .rows = (const struct fsopt[]){
	{"allow_other default_permissions", .types = "fuse fuseblk", .flags = OPT_UNREQUESTED},
	{"allow_other", .types = "fuse", .visible = ""},
	{"blksize max_read rootmode user_id group_id", .types = "fuse fuseblk",
	 .flags = OPT_FOUND_OUT},
	{"fd", .types = "fuse fuseblk", .flags = OPT_FOUND_OUT | OPT_NOT_GIVEN},
	{"allow_root fsname subtype max_readahead max_write auto_unmount kernel_cache auto_cache "
	 "noauto_cache direct_io hard_remove use_ino readdir_ino umask entry_timeout "
	 "negative_timeout attr_timeout ac_attr_timeout noforget remember nopath intr intr_signal "
	 "modules nonempty large_read async_read sync_read atomic_o_trunc big_writes "
	 "no_remote_lock no_remote_flock no_remote_posix_lock splice_write no_splice_write "
	 "splice_move no_splice_move splice_read no_splice_read clone_fd max_idle_threads "
	 "max_threads"},
	{NULL}}},
{"fuse.sshfs sshfs", .fuse = true, .rows = (const struct fsopt[]){
	{"reconnect delay_connect sshfs_sync no_readahead sync_readdir sshfs_debug sshfs_verbose "
	 "cache cache_timeout cache_stat_timeout cache_dir_timeout cache_link_timeout "
	 "cache_max_size cache_clean_interval cache_min_clean_interval dcache_timeout "
	 "dcache_stat_timeout dcache_dir_timeout dcache_link_timeout dcache_max_size "
	 "dcache_clean_interval dcache_min_clean_interval dir_cache workaround idmap uidfile "
	 "gidfile nomap ssh_command ssh_protocol sftp_server directport vsock passive slave "
	 "disable_hardlink follow_symlinks no_check_root password_stdin transform_symlinks "
	 "max_conns"},
	/* Of ssh_config(5). */
	{"AddressFamily BatchMode BindAddress BindInterface CertificateFile "
	 "ChallengeResponseAuthentication CheckHostIP Cipher Ciphers Compression CompressionLevel "
	 "ConnectionAttempts ConnectTimeout ControlMaster ControlPath ControlPersist "
	 "FingerprintHash GlobalKnownHostsFile GSSAPIAuthentication GSSAPIDelegateCredentials "
	 "HostbasedAuthentication HostbasedKeyTypes HostKeyAlgorithms HostKeyAlias HostName "
	 "IdentitiesOnly IdentityFile IdentityAgent IPQoS KbdInteractiveAuthentication "
	 "KbdInteractiveDevices KexAlgorithms LocalCommand LogLevel MACs "
	 "NoHostAuthenticationForLocalhost NumberOfPasswordPrompts PasswordAuthentication "
	 "PermitLocalCommand PKCS11Provider Port PreferredAuthentications ProxyCommand ProxyJump "
	 "ProxyUseFdpass PubkeyAcceptedKeyTypes PubkeyAcceptedAlgorithms PubkeyAuthentication "
	 "RekeyLimit RevokedHostKeys RhostsRSAAuthentication RSAAuthentication ServerAliveCountMax "
	 "ServerAliveInterval SmartcardDevice StrictHostKeyChecking TCPKeepAlive UpdateHostKeys "
	 "UsePrivilegedPort UserKnownHostsFile User VerifyHostKeyDNS VisualHostKey ForwardAgent "
	 "ForwardX11 SendEnv SetEnv RequestTTY Tunnel Protocol",
	 .flags = OPT_ANY_CASE},
	{NULL}}},
{"glusterfs fuse.glusterfs", .fuse = true, .rows = (const struct fsopt[]){
	{"log-level log-file transport direct-io-mode volume-name backup-volfile-servers "
	 "backup-volfile-server backupvolfile-server volfile-server-port volfile-server-transport "
	 "volfile-id volfile-check volfile-max-fetch-attempts selinux worm read-only "
	 "fopen-keep-cache enable-ino32 mem-accounting aux-gfid-mount attribute-timeout "
	 "entry-timeout negative-timeout gid-timeout lru-limit invalidate-limit background-qlen "
	 "congestion-threshold oom-score-adj fetch-attempts root-squash no-root-squash capability "
	 "thin-client resolve-gids event-history reader-thread-count kernel-writeback-cache "
	 "attr-times-granularity use-readdirp process-name fuse-mountopts xlator-option dump-fuse "
	 "subdir-mount io-engine auto-invalidation halo-max-latency global-threading "
	 "flush-handle-interrupt fuse-flush-handle-interrupt brick-name client-pid"},
	{NULL}}},
{"ntfs ntfs-3g fuseblk", .fuse = true, .rows = (const struct fsopt[]){
	{"umask fmask dmask usermapping permissions inherit locale force recover norecover "
	 "ignore_case remove_hiberfile show_sys_files hide_hid_files hide_dot_files windows_names "
	 "streams_interface user_xattr efs_raw compression nocompression debug no_detach "
	 "no_def_opts delay_mtime posix_nlink special_files iocharset codepage utf8 errors "
	 "mft_zone_multiplier case_sensitive disable_sparse preallocate prealloc sparse nohidden "
	 "showmeta sys_immutable discard US"},
	{NULL}}},
{NULL, .rows = NULL},
};
