/* SPDX-License-Identifier: MIT */
/*
 * The options of a line: whether there are such, and whether they go together.
 *
 * Of some types all options are held, so that one which is not among them is none; of
 * the others only what is nearly an option of theirs, of mount(8) or of systemd is told.  What
 * begins with x- or X- is for others, whoever they are.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/near.h"
#include "base/words.h"
#include "fstab/common.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = AUDIT_NAME_MAX, MISSES_MAX = AUDIT_MISSES_MAX };

/** Options of the kernel's VFS, of mount(8), swapon(8) and LSMs. */
static const char common_options[] =
	"rw ro suid nosuid dev nodev exec noexec sync async dirsync atime noatime diratime nodiratime relatime "
	"norelatime strictatime nostrictatime lazytime nolazytime mand nomand iversion noiversion symfollow "
	"nosymfollow silent loud defaults auto noauto user nouser users nousers owner noowner group nogroup nofail "
	"_netdev loop offset sizelimit encryption uhelper helper bind rbind move remount private shared slave "
	"unbindable rprivate rshared rslave runbindable context fscontext defcontext rootcontext seclabel comment "
	"smackfsdef smackfsfloor smackfshat smackfsroot smackfstransmute verity.hashdevice verity.roothash "
	"verity.hashoffset verity.fecdevice verity.fecoffset verity.fecroots verity.roothashfile verity.roothashsig "
	"verity.oncorruption";

static const char systemd_options[] =
	"x-systemd.requires x-systemd.before x-systemd.after x-systemd.wanted-by x-systemd.required-by "
	"x-systemd.wants x-systemd.requires-mounts-for x-systemd.wants-mounts-for x-systemd.device-bound "
	"x-systemd.automount x-systemd.idle-timeout x-systemd.device-timeout x-systemd.mount-timeout "
	"x-systemd.makefs x-systemd.growfs x-systemd.pcrfs x-systemd.rw-only x-systemd.validatefs "
	"x-systemd.graceful-option x-initrd.mount x-initrd.attach X-mount.mkdir x-mount.mkdir X-mount.subdir "
	"X-mount.auto-fstypes X-mount.owner X-mount.group X-mount.mode X-mount.idmap X-mount.noloop "
	"X-mount.nocanonicalize";

/** Types whose options are held, all of them. */
static const struct type_options {
	const char *types;
	const char *options;
} held[] = {
	{"ext2 ext3 ext4",
	 "acl noacl user_xattr nouser_xattr errors data data_err commit barrier nobarrier journal journal_async_commit "
	 "journal_checksum nojournal_checksum journal_dev journal_path journal_ioprio delalloc nodelalloc discard "
	 "nodiscard dioread_lock dioread_nolock nodioread_nolock auto_da_alloc noauto_da_alloc stripe "
	 "inode_readahead_blks init_itable noinit_itable max_batch_time min_batch_time block_validity "
	 "noblock_validity bsddf minixdf debug grpid nogrpid bsdgroups sysvgroups resgid resuid sb quota noquota "
	 "usrquota grpquota prjquota usrjquota grpjquota offusrjquota offgrpjquota jqfmt dax nombcache no_mbcache "
	 "prefetch_block_bitmaps no_prefetch_block_bitmaps mb_optimize_scan i_version test_dummy_encryption "
	 "inlinecrypt max_dir_size_kb norecovery noload abort oldalloc orlov nobh bh nouid32 check nocheck "
	 "reservation noreservation xip mblk_io_submit nomblk_io_submit debug_want_extra_isize warn_on_error "
	 "nowarn_on_error fc_debug_force fc_debug_max_replay removed"},
	{"xfs",
	 "allocsize attr2 noattr2 dax discard nodiscard grpid bsdgroups nogrpid sysvgroups filestreams ikeep noikeep "
	 "inode32 inode64 largeio nolargeio logbufs logbsize logdev rtdev noalign norecovery nouuid noquota uquota "
	 "usrquota uqnoenforce quota gquota grpquota gqnoenforce pquota prjquota pqnoenforce qnoenforce sunit swidth "
	 "swalloc wsync lifetime nolifetime max_atomic_write max_open_zones errortag mtpt"},
	{"btrfs",
	 "acl noacl autodefrag noautodefrag barrier nobarrier check_int check_int_data check_int_print_mask clear_cache "
	 "noclear_cache commit compress compress-force datacow nodatacow datasum nodatasum degraded device discard "
	 "nodiscard enospc_debug noenospc_debug fatal_errors flushoncommit noflushoncommit fragment inode_cache "
	 "noinode_cache max_inline metadata_ratio norecovery nologreplay rescan_uuid_tree rescue skip_balance "
	 "space_cache nospace_cache ssd ssd_spread nossd nossd_spread subvol subvolid subvolrootid thread_pool treelog "
	 "notreelog usebackuproot user_subvol_rm_allowed recovery ref_verify ref_tracker alloc_start ignorebadroots "
	 "ignoredatacsums"},
	{"tmpfs",
	 "size nr_blocks nr_inodes mode gid uid huge mpol inode32 inode64 noswap quota usrquota grpquota "
	 "usrquota_block_hardlimit usrquota_inode_hardlimit grpquota_block_hardlimit grpquota_inode_hardlimit casefold "
	 "strict_encoding"},
	{"vfat msdos",
	 "allow_utime blocksize codepage check debug discard dmask fmask umask uid gid iocharset utf8 uni_xlate "
	 "nonumtail numtail quiet rodir sys_immutable flush usefree time_offset tz errors nfs shortname showexec "
	 "dos1xfloppy dotsOK posix fat conv dots nodots cvf_format cvf_options nocase"},
	{"swap", "sw swap pri discard"},
};

/** Pairs of which the last counts, or the one that is named: the kernel goes by flags, not by their order. */
static const struct opposite {
	const char *sides[2], *counts;
} opposites[] = {
	{{"rw", "ro"}, NULL}, {{"suid", "nosuid"}, NULL}, {{"dev", "nodev"}, NULL}, {{"exec", "noexec"}, NULL},
	{{"sync", "async"}, NULL}, {{"atime", "noatime"}, NULL}, {{"diratime", "nodiratime"}, NULL},
	{{"relatime", "norelatime"}, NULL}, {{"relatime", "noatime"}, "noatime"}, {{"strictatime", "nostrictatime"}, NULL},
	{{"strictatime", "noatime"}, "strictatime"}, {{"strictatime", "relatime"}, "strictatime"},
	{{"lazytime", "nolazytime"}, NULL}, {{"mand", "nomand"}, NULL}, {{"iversion", "noiversion"}, NULL},
	{{"symfollow", "nosymfollow"}, NULL}, {{"auto", "noauto"}, NULL}, {{"user", "nouser"}, NULL},
	{{"users", "nousers"}, NULL}, {{"owner", "noowner"}, NULL}, {{"group", "nogroup"}, NULL}, {{"hard", "soft"}, NULL},
	{{"hard", "softerr"}, NULL}, {{"soft", "softerr"}, NULL}, {{"bg", "fg"}, NULL}, {{"ac", "noac"}, NULL},
	{{"cto", "nocto"}, NULL}, {{"lock", "nolock"}, NULL}, {{"intr", "nointr"}, NULL}, {{"tcp", "udp"}, NULL},
	{{"serverino", "noserverino"}, NULL}, {{"perm", "noperm"}, NULL},
};

/** The options of a type; NULL: they are not held. */
static const char *options_of(const char *fstype)
{
	for (size_t i = 0; i < sizeof(held) / sizeof(*held); ++i) {
		if (*fstype && word_in(fstype, strlen(fstype), held[i].types))
			return held[i].options;
	}
	return NULL;
}

void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found, size_t *nfound)
{
	for (const char *at = list; *at;) {
		size_t m = strcspn(at, " ");
		if (m >= 4 && m <= NAME_MAX_BYTES && (m > n ? m - n : n - m) < *best) {
			unsigned d = near_distance(word, n, at, m, false);
			if (d < *best) {
				*best = d;
				*found = at;
				*nfound = m;
			}
		}
		at += m + (at[m] == ' ');
	}
}

/** Of the common ones those that are near to no option of a type that is not held here. */
static const char distinct_options[] = "defaults noauto nofail _netdev noexec nosuid nodev relatime noatime nodiratime";

/** What a word was perhaps meant to be; NULL.
    @list  The options of the type; NULL: they are not held.
    @some  Some of them then: audit_meant(); or NULL.
    @none  It is the type none, of which a bind is made. */
static const char *near_miss(struct audit *audit, const char *word, size_t n, const char *list, const char *some, bool none,
                             size_t *nfound)
{
	const char *found = NULL;
	/* Short words are near to many. */
	unsigned best = n < 7 ? 2 : 3;
	if (n < (list || some || none ? 4 : 5) || n > NAME_MAX_BYTES || (!list && word_is(word, n, "notail")))   /* of reiserfs */
		return NULL;
	if (audit->misses++ >= MISSES_MAX) {
		audit_unjudged(audit, FSTAB_OPT_TYPO);
		return NULL;
	}
	if (n > 4 || list)
		audit_nearest(list ? common_options : distinct_options, word, n, &best, &found, nfound);
	if (list || none)
		audit_nearest(list ? list : "bind rbind", word, n, &best, &found, nfound);
	if (!list && some)
		audit_nearest(some, word, n, &best, &found, nfound);
	return found;
}

/** Make the key of a type and an option, or its name. */
static void shown_key(struct strbuf *key, const char *fstype, const char *option, size_t n)
{
	strbuf_reset(key);
	strbuf_puts(key, fstype);
	strbuf_putc(key, '\n');
	strbuf_add(key, option, n);
}

/** Put what the live mounts show of options into the set. */
static void read_shown(struct audit *audit, struct strbuf *key)
{
	const struct discovery *d = audit->in->live;
	size_t n;
	uint32_t number;
	for (uint32_t i = 0; d && i < d->tree.count && !audit->failed; ++i) {
		const struct mount *m = d->tree.nodes[i].mount;
		const char *list = m->fs_opts;
		for (const char *o; m->fstype && list && (o = opt_next(&list, &n)) != NULL;) {
			shown_key(key, m->fstype, o, opt_name(o, n));
			audit->failed |= intern_put(&audit->shown, strbuf_str(key), key->len, &number) != 0;
			if (opt_name(o, n) == n)
				continue;
			shown_key(key, m->fstype, o, n);
			audit->failed |= intern_put(&audit->shown, strbuf_str(key), key->len, &number) != 0;
		}
	}
	audit->shown_read = true;
}

/** Whether a live mount of the type shows the option: by its name, or as it stands, as
    that many bytes go.  They are read when that is first
    asked: most files have no unknown option. */
static bool is_shown(struct audit *audit, const char *fstype, const char *option, size_t len)
{
	struct strbuf key;
	strbuf_init(&key);
	if (!audit->shown_read)
		read_shown(audit, &key);
	shown_key(&key, fstype, option, len);
	bool found = intern_find(&audit->shown, strbuf_str(&key), key.len) != INTERN_NONE;
	audit->failed |= key.failed;
	strbuf_destroy(&key);
	return found;
}

/** Why the kernel refuses a mount with an option: known of types that hold theirs.  A bind
    hands none to the file system, and swapon(8) passes over what it does not know.  What has
    no name mount(2) passes over, and fsconfig(2) refuses. */
static const char *refused_name(struct audit *audit, const struct audit_entry *entry, const char *list,
                                const char *option, size_t key)
{
	if (!list || entry->bind || entry->swap)
		return NULL;
	return key ? audit_format(audit, "the line has the option %.*s, which %s does not have", (int)key, option, entry->fstype)
	           : "the line has an option without a name, which mount(8) from 2.39 on has refused";
}

/** Judge the value of an option that there is. */
static void judge_value(struct audit *audit, const struct audit_entry *entry, const char *option, size_t key,
                        size_t n)
{
	const char *takes = entry->bind ? NULL : audit_value(entry->fstype, option, key, n);
	/* Of a loop device alone. */
	bool loop = word_in(option, key, "offset sizelimit");
	if (!takes || is_shown(audit, entry->fstype, option, n) || (loop && !audit_option(audit, entry, "loop")))
		return;
	const char *value = n > key + 1 ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1) : NULL;
	audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
		AUDIT_WARNING, true, audit_format(audit, "as %.*s %s takes %s, and %s%s: the kernel would refuse the mount", (int)key,
		option, entry->fstype, takes, value ? "not " : "there is none", value ? value : ""), takes, value,
		"write another value, or take it away",
		audit_format(audit, "the line has the option %.*s, where %s takes %s", (int)n, option, entry->fstype, takes),
		audit_format(audit, "%.*s", (int)n, option)});
}

/** Judge the times of systemd, which passes over what is none. */
static void judge_time(struct audit *audit, const struct audit_entry *entry, const char *option, size_t key, size_t n)
{
	static const char times[] = "x-systemd.device-timeout x-systemd.mount-timeout x-systemd.idle-timeout";
	if (!word_in(option, key, times) || (n > key && audit_is_time(option + key + 1, n - key - 1)))
		return;
	const char *value = n > key ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1) : NULL;
	audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
		AUDIT_WARNING, false, audit_format(audit, "as %.*s systemd takes a time, and %s%s: it passes over it", (int)key, option,
		value ? "not " : "there is none", value ? value : ""), "a time, as 90s or 1min 30s", value,
		"write a time: systemd.time(7)"});
}

/** Judge what is no option of any type, by its form.  @return whether it was told. */
static bool judge_form(struct audit *audit, const struct audit_entry *entry, const char *list, const char *option, size_t key,
                       size_t n, const char *refused, const char *whole)
{
	static const char *const almost[] = {"systemd.", "xsystemd.", "x.systemd.", "x_systemd."};
	for (size_t i = 0; i < sizeof(almost) / sizeof(*almost); ++i) {
		size_t k = strlen(almost[i]);
		if (key <= k || memcmp(option, almost[i], k) != 0)
			continue;
		const char *meant = audit_format(audit, "x-systemd.%.*s", (int)(key - k), option + k);
		audit_tell(audit, entry, FSTAB_OPT_TYPO, &(struct audit_told){
			AUDIT_WARNING, true, audit_format(audit, "there is no option %.*s", (int)key, option), meant,
			audit_format(audit, "%.*s", (int)key, option), audit_format(audit, "is %s meant?", meant), refused, whole});
		return true;
	}
	if (entry->swap && word_is(option, key, "prio")) {
		audit_tell(audit, entry, FSTAB_OPT_TYPO, &(struct audit_told){
			AUDIT_WARNING, false, "swapon(8) has no option prio, and passes over it", "pri", "prio", "is pri meant?", NULL, NULL});
		return true;
	}
	/* Of a type whose options are not held. */
	if (list || entry->bind || entry->swap || !entry->path)
		return false;
	bool number = key == n && strspn(option, "0123456789") == n, path = *option == '/';
	if (!number && !path)
		return false;
	audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
		AUDIT_WARNING, true, number ? "a number is no option of any type: is the field of the options left out?"
		: "a path is no option of any type: is a comma meant to be a colon?", NULL, audit_format(audit, "%.*s", (int)n, option),
		number ? "write defaults as the fourth field" : "see the manual of the type", refused, whole});
	return true;
}

/** Judge what x- options take: the names of units, a mode. */
static void judge_taken(struct audit *audit, const struct audit_entry *entry, const char *option, size_t key, size_t n)
{
	static const char kinds[] = "service socket device mount automount swap target path timer slice scope";
	const char *value = n > key + 1 ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1) : NULL;
	if (!value)
		return;
	const char *dot = strrchr(value, '.');
	if (word_in(option, key, "x-systemd.requires x-systemd.after x-systemd.before") && *value != '/'
	    && !(dot && word_in(dot + 1, strlen(dot + 1), kinds)))
		audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
			AUDIT_WARNING, false, audit_format(audit, "what %.*s names is neither a path nor a unit with its kind: systemd takes it for %s.mount",
			(int)key, option, value), "a path, or a unit as network-online.target", value, "write the whole name of the unit"});
	if (word_in(option, key, "X-mount.mkdir x-mount.mkdir X-mount.mode") && isdigit((unsigned char)*value) && value[strspn(value, "01234567")])
		audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
			AUDIT_WARNING, true, audit_format(audit, "as %.*s mount(8) takes an octal number, and refuses the mount otherwise", (int)key, option),
			"an octal number, as 0755", value, "write an octal number"});
}

/** Judge the name of an option by itself. */
static void judge_name(struct audit *audit, const struct audit_entry *entry, const char *list, const char *option,
                       size_t n)
{
	size_t key = opt_name(option, n), m;
	const char *some = list ? NULL : audit_meant(entry->fstype);
	bool x = key >= 2 && (memcmp(option, "x-", 2) == 0 || memcmp(option, "X-", 2) == 0);
	if (word_in(option, key, common_options) || (list && word_in(option, key, list)) || (some && word_in(option, key, some))
	    || word_in(option, key, systemd_options)) {
		judge_value(audit, entry, option, key, n);
		if (x) {
			judge_time(audit, entry, option, key, n);
			judge_taken(audit, entry, option, key, n);
		}
		return;
	}
	if (x) {
		unsigned best = 3;
		const char *found = NULL;
		if (key <= NAME_MAX_BYTES && key > 8 && audit->misses++ < MISSES_MAX)
			audit_nearest(systemd_options, option, key, &best, &found, &m);
		if (found)
			audit_tell(audit, entry, FSTAB_OPT_TYPO, &(struct audit_told){
				AUDIT_WARNING, false, audit_format(audit, "nobody knows the option %.*s", (int)key, option),
				audit_format(audit, "%.*s", (int)m, found), audit_format(audit, "%.*s", (int)key, option),
				audit_format(audit, "is %.*s meant?", (int)m, found)});
		return;
	}
	if (is_shown(audit, entry->fstype, option, key))
		return;
	const char *refused = refused_name(audit, entry, list, option, key);
	const char *whole = refused ? audit_format(audit, "%.*s", (int)n, option) : NULL;
	if (key == 0) {
		if (refused)
			audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
				AUDIT_WARNING, true, "an option has no name: from mount(8) 2.39 on the kernel refuses the mount", NULL,
				audit_format(audit, "%.*s", (int)n, option), "take it away", refused, whole});
		return;
	}
	if (judge_form(audit, entry, list, option, key, n, refused, whole))
		return;
	bool none = strcmp(entry->fstype, "none") == 0;
	const char *found = near_miss(audit, option, key, list, some, none, &m);
	if (found) {
		audit->typo = entry;
		audit_tell(audit, entry, FSTAB_OPT_TYPO, &(struct audit_told){
			list || none ? AUDIT_CRITICAL : AUDIT_WARNING, list || none, audit_format(audit, "there is no option %.*s", (int)key, option),
			audit_format(audit, "%.*s", (int)m, found), audit_format(audit, "%.*s", (int)key, option),
			audit_format(audit, "is %.*s meant?", (int)m, found), refused, whole});
	} else if (list && !entry->bind) {
		audit_tell(audit, entry, FSTAB_OPT_UNKNOWN, &(struct audit_told){
			AUDIT_WARNING, true, audit_format(audit, "%s has no option %.*s, as far as is known: the kernel would refuse "
			"the mount", entry->fstype, (int)key, option), NULL, audit_format(audit, "%.*s", (int)key, option),
			"take it away, or see the manual of the type", refused, whole});
	}
}

/** Whether an option may be given more than once. */
static bool may_repeat(const char *option, size_t key)
{
	static const char words[] = "device lowerdir+ datadir+ comment modules rescue context";
	return word_in(option, key, words) || (key > 2 && (memcmp(option, "x-", 2) == 0 || memcmp(option, "X-", 2) == 0));
}

/** Judge options against those before them. */
static void judge_repeated(struct audit *audit, const struct audit_entry *entry, const char *list, const char *option,
                           size_t n)
{
	size_t key = opt_name(option, n);
	uint64_t hash = map64_bytes(MAP64_BYTES, option, key);
	uint32_t at = (uint32_t)(option - entry->options), before = map64_get(&audit->keys, hash);
	const char *first = before != MAP64_NONE ? entry->options + before : NULL;
	bool known = word_in(option, key, common_options) || (list && word_in(option, key, list));
	if (first && known && !may_repeat(option, key)) {
		const char *rest = first;
		size_t m;
		opt_next(&rest, &m);
		bool same = m == n && memcmp(first, option, n) == 0;
		audit_tell(audit, entry, FSTAB_OPT_CONFLICT, &(struct audit_told){
			same ? AUDIT_INFO : AUDIT_WARNING, false,
			same ? audit_format(audit, "the option %.*s stands twice", (int)key, option)
			     : audit_format(audit, "the option %.*s stands twice with other values, of which the last counts",
			                    (int)key, option), NULL, NULL, "take one away"});
	}
	for (size_t i = 0; i < sizeof(opposites) / sizeof(*opposites); ++i) {
		for (int side = 0; side < 2; ++side) {
			const char *mine = opposites[i].sides[side], *other = opposites[i].sides[!side], *counts = opposites[i].counts;
			if (!word_is(option, n, mine)
			    || map64_get(&audit->keys, map64_text(other)) == MAP64_NONE)
				continue;
			/* relatime is what there is without any. */
			bool mere = counts && (strcmp(mine, "relatime") == 0 || strcmp(other, "relatime") == 0);
			audit_tell(audit, entry, FSTAB_OPT_CONFLICT, &(struct audit_told){
				mere ? AUDIT_INFO : AUDIT_WARNING, false, audit_format(audit, "%s and %s contradict each other, and %s counts", other, mine,
				counts ? counts : "the last"), NULL, NULL, "take one away"});
		}
	}
	map64_remove(&audit->keys, hash);
	audit->failed |= map64_put(&audit->keys, hash, at) == MAP64_NONE;
}

/** Judge the values of swap options (b8). */
static void judge_swap(struct audit *audit, const struct audit_entry *entry)
{
	const char *pri = audit_option(audit, entry, "pri"), *discard = audit_option(audit, entry, "discard");
	if (pri) {
		char *end;
		long value = strtol(pri, &end, 10);
		if (!*pri || *end || value < -1 || value > 32767)
			audit_tell(audit, entry, FSTAB_SWAP, &(struct audit_told){
				AUDIT_WARNING, false, "swapon(8) does not take this priority", "-1 to 32767", pri, "write another"});
	}
	if (discard && *discard && strcmp(discard, "once") != 0 && strcmp(discard, "pages") != 0)
		audit_tell(audit, entry, FSTAB_SWAP, &(struct audit_told){
			AUDIT_WARNING, false, "swapon(8) does not take this value of discard", "once or pages", discard,
			"write discard, discard=once or discard=pages"});
}

/** What an entry needs, and which entry that may be missing mounts it. */
struct needs {
	const struct audit *audit;
	const struct audit_entry *entry, *missing;
};

static bool each_need(void *arg, const char *path, const char *what)
{
	struct needs *needs = arg;
	const struct audit_entry *above = audit_above(needs->audit, needs->entry, path);
	(void)what;
	needs->missing = above && above->nofail ? above : audit_asleep(needs->audit, path, above, true);
	/* On a file it mounts nothing. */
	const struct fstab_facts *facts = needs->audit->in->facts;
	if (needs->missing && needs->missing->noauto && facts->look && facts->look(facts->arg, needs->missing->path, NULL) == FACT_FILE)
		needs->missing = NULL;
	return !needs->missing;
}

/** Judge what a boot waits for. */
static void judge_waiting(struct audit *audit, const struct audit_entry *entry)
{
	const char *timeout = audit_option(audit, entry, "x-systemd.device-timeout");
	char *end;
	if (timeout && *timeout && !entry->noauto && strtoul(timeout, &end, 10) == 0 && end != timeout
	    && (!*end || strcmp(end, "s") == 0))
		audit_tell(audit, entry, FSTAB_NOFAIL, &(struct audit_told){
			AUDIT_INFO, false, "0 as x-systemd.device-timeout is no timeout: a boot waits for the device for ever",
			"a time", timeout, "write 10s, or nofail"});
	if (!entry->path || !entry->needed)
		return;
	/* What needs a mount that may be missing, may be missing. */
	struct needs needs = {.audit = audit, .entry = entry};
	audit_each_need(audit, entry, each_need, &needs);
	const struct audit_entry *above = audit_above(audit, entry, entry->path);
	if (!above || !above->nofail)
		above = audit_asleep(audit, entry->path, above, false);
	if (needs.missing)
		above = needs.missing;
	if (above && above != entry) {
		audit_tell(audit, entry, FSTAB_NOFAIL, &(struct audit_told){
			AUDIT_WARNING, true,
			audit_format(audit, above->noauto ? "it needs %s of line %u, which is not mounted at a boot, and is itself not noauto"
			             : "it needs %s of line %u, which a boot can do without, and is itself not nofail", above->path, above->line->number),
			above->noauto ? "noauto" : "nofail", NULL,
			above->noauto ? "give it noauto too: systemd mounts both, mount -a what is there without" : "give it nofail too"});
	} else if (entry->flags & FST_DEVICE && !entry->bind && !fstab_is_system(entry->path)) {
		audit_tell(audit, entry, FSTAB_NOFAIL, &(struct audit_told){
			AUDIT_INFO, false, "a boot ends in emergency mode without it", "nofail", NULL,
			"give it nofail, if the system can do without it"});
	}
}

static void judge_esp(struct audit *audit, const struct audit_entry *entry)
{
	static const char *const places[] = {"/boot/efi", "/efi", "/boot"};
	bool esp = false;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i)
		esp |= entry->path && strcmp(entry->path, places[i]) == 0;
	if (!esp || strcmp(entry->fstype, "vfat") != 0)
		return;
	const char *umask = audit_option(audit, entry, "umask"), *fmask = audit_option(audit, entry, "fmask");
	const char *mask = fmask ? fmask : umask;
	if (!mask || (strtoul(mask, NULL, 8) & 044) != 044)
		audit_tell(audit, entry, FSTAB_ESP_MASK, &(struct audit_told){
			AUDIT_INFO, false, "all can read it, and what a boot loader keeps there", "umask=0077", mask,
			"give it umask=0077"});
}

/** Judge the versions of NFS that a line names: mount.nfs(8) takes one. */
static void judge_versions(struct audit *audit, const struct audit_entry *entry)
{
	static const char names[] = "vers nfsvers v2 v3 v4 v4.0 v4.1 v4.2";
	const char *at = entry->options, *first = NULL;
	size_t n, m = 0;
	if (!word_in(entry->fstype, strlen(entry->fstype), "nfs nfs4"))
		return;
	for (const char *o; (o = opt_next(&at, &n)) != NULL;) {
		if (!word_in(o, opt_name(o, n), names))
			continue;
		if (first && !(opt_name(o, n) == opt_name(first, m) && memcmp(o, first, opt_name(o, n)) == 0)) {
			audit_tell(audit, entry, FSTAB_OPT_CONFLICT, &(struct audit_told){
				AUDIT_WARNING, true, audit_format(audit, "%.*s and %.*s: mount.nfs(8) refuses more than one version", (int)m, first, (int)n, o),
				"one version", NULL, "take one away"});
			return;
		}
		first = o;
		m = n;
	}
}

void audit_options(struct audit *audit, const struct audit_entry *entry)
{
	const char *list = options_of(entry->fstype), *at = entry->options;
	size_t n;
	bool repeats = strchr(entry->options, ',');
	for (const char *o; (o = opt_next(&at, &n)) != NULL;) {
		judge_name(audit, entry, list, o, n);
		if (repeats)
			judge_repeated(audit, entry, list, o, n);
	}
	if (repeats) {
		map64_destroy(&audit->keys);
		map64_init(&audit->keys);
	}
	audit_pairs(audit, entry);
	judge_versions(audit, entry);
	if (entry->swap)
		judge_swap(audit, entry);
	judge_waiting(audit, entry);
	judge_esp(audit, entry);
}
