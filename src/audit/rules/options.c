/* SPDX-License-Identifier: MIT */
/*
 * The options of a line: whether they exist, have values that the kernel takes, and go together.
 *
 * An option that a type with complete rows in mountopts/fsopts.h does not have is an error; of
 * other types only what resembles an option is reported.  x-* and X-* are for any program.
 */
#include "audit/audit_impl.h"

#include "base/fstypes.h"
#include "base/near.h"
#include "base/words.h"
#include "fstab/places.h"
#include "mountopts/optlist.h"
#include "mountopts/fsopts.h"
#include "mountopts/vfsflags.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_BYTES = AUDIT_NAME_MAX, MISSES_MAX = AUDIT_MISSES_MAX };

void audit_nearest(const char *list, const char *word, size_t n, unsigned *best, const char **found,
                   size_t *nfound)
{
	for (const char *at = list; *at;) {
		size_t m = strcspn(at, " =");
		if (m >= 4 && m <= NAME_MAX_BYTES && (m > n ? m - n : n - m) < *best) {
			unsigned d = near_distance(word, n, at, m, false);
			if (d < *best) {
				*best = d;
				*found = at;
				*nfound = m;
			}
		}
		at += strcspn(at, " ");
		at += *at == ' ';
	}
}

/** Look for a similar option among those of a type, or among general ones if it is NULL. */
static void nearest_option(const char *fstype, const char *word, size_t n, unsigned *best,
                           const char **found, size_t *nfound)
{
	const char *names;
	for (size_t i = 0; (names = fsopt_names(fstype, i)) != NULL; ++i)
		audit_nearest(names, word, n, best, found, nfound);
}

/** The option that a word may be a misspelling of; or NULL.
    @complete  All options of the type are known.
    @none      The type is "none", as binds have it. */
static const char *near_miss(struct audit *audit, const char *fstype, const char *word, size_t n,
                             bool complete, bool none, size_t *nfound)
{
	/* General options that resemble no option of a type of which some are unknown. */
	static const char distinct_options[] =
	        "defaults noauto nofail _netdev noexec nosuid nodev relatime noatime nodiratime";
	const char *found = NULL;
	bool partial = !complete && fsopt_names(fstype, 0);
	/* Short words resemble many. */
	unsigned best = n < 7 ? 2 : 3;
	if (n < (complete || partial || none ? 4 : 5) || n > NAME_MAX_BYTES
	    || (!complete && word_is(word, n, "notail"))) /* of reiserfs */
		return NULL;
	if (audit->misses++ >= MISSES_MAX) {
		audit_not_checked(audit->report, FSTAB_OPT_TYPO);
		return NULL;
	}
	if (complete)
		nearest_option(NULL, word, n, &best, &found, nfound);
	else if (n > 4)
		audit_nearest(distinct_options, word, n, &best, &found, nfound);
	if (none)
		audit_nearest("bind rbind", word, n, &best, &found, nfound);
	else
		nearest_option(fstype, word, n, &best, &found, nfound);
	return found;
}

/** Make the key of a type and an option, or of its name. */
static void shown_key(struct strbuf *key, const char *fstype, const char *option, size_t n)
{
	strbuf_reset(key);
	strbuf_puts(key, fstype);
	strbuf_putc(key, '\n');
	strbuf_add(key, option, n);
}

/** Put the options that the live mounts show into the set. */
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
			audit->failed |=
			        intern_put(&audit->shown, strbuf_str(key), key->len, &number) != 0;
			if (opt_name(o, n) == n)
				continue;
			shown_key(key, m->fstype, o, n);
			audit->failed |=
			        intern_put(&audit->shown, strbuf_str(key), key->len, &number) != 0;
		}
	}
	audit->shown_read = true;
}

/** Whether a live mount of the type shows an option of len bytes, or its name.  Mounts are read
   when the first unknown option comes: most files have none. */
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

/** Why the kernel refuses a mount with an option, of types whose options are all known.  A bind
   passes none to the file system, and swapon(8) ignores unknown ones.  mount(2) ignores an option
   without a name, fsconfig(2) refuses it. */
static const char *refused_name(struct audit *audit, const struct audit_entry *entry, bool complete,
                                const char *option, size_t key)
{
	if (!complete || entry->bind || entry->swap)
		return NULL;
	return key ? audit_format(audit, "the line has option %.*s, which %s does not have",
	                          (int)key, option, entry->fstype)
	           : "the line has an option without a name, which mount(8) 2.39 or later refuses";
}

/** Judge the value of a known option. */
static void judge_value(struct audit *audit, const struct audit_entry *entry, const char *option,
                        size_t key, size_t n)
{
	const char *takes = entry->bind ? NULL : fsopt_check_value(entry->fstype, option, n);
	/* Only loop devices have these. */
	bool loop = word_in(option, key, "offset sizelimit");
	if (!takes || is_shown(audit, entry->fstype, option, n)
	    || (loop && !audit_option(audit, entry, "loop")))
		return;
	const char *value =
	        n > key + 1 ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1)
		            : NULL;
	audit_add_for(audit, entry, FSTAB_OPT_UNKNOWN,
	              &(struct audit_details){
	                      AUDIT_WARNING, true,
	                      audit_format(audit,
			                   "%.*s is not valid for %s (accepted: %s): the kernel "
			                   "refuses the mount",
			                   (int)n, option, entry->fstype, takes),
	                      takes, value, "use an accepted value, or remove the option",
	                      audit_format(audit, "the line has option %.*s, but %s accepts %s",
			                   (int)n, option, entry->fstype, takes),
	                      audit_format(audit, "%.*s", (int)n, option)});
}

/** Judge the time spans of systemd, which ignores invalid ones. */
static void judge_time(struct audit *audit, const struct audit_entry *entry, const char *option,
                       size_t key, size_t n)
{
	static const char times[] =
	        "x-systemd.device-timeout x-systemd.mount-timeout x-systemd.idle-timeout";
	if (!word_in(option, key, times)
	    || (n > key && audit_is_time(option + key + 1, n - key - 1)))
		return;
	const char *value =
	        n > key ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1) : NULL;
	audit_add_for(audit, entry, FSTAB_OPT_UNKNOWN,
	              &(struct audit_details){
	                      AUDIT_WARNING, false,
	                      audit_format(audit, "%.*s is not a time span: systemd ignores it",
			                   (int)n, option),
	                      "a time span, for example 90s or 1min 30s", value,
	                      "use a time span: systemd.time(7)"});
}

/** Judge an unknown option by its form.  @return whether it is reported. */
static bool judge_form(struct audit *audit, const struct audit_entry *entry, bool complete,
                       const char *option, size_t key, size_t n, const char *refused,
                       const char *whole)
{
	static const char *const almost[] = {"systemd.", "xsystemd.", "x.systemd.", "x_systemd."};
	for (size_t i = 0; i < sizeof(almost) / sizeof(*almost); ++i) {
		size_t k = strlen(almost[i]);
		if (key <= k || memcmp(option, almost[i], k) != 0)
			continue;
		const char *meant =
		        audit_format(audit, "x-systemd.%.*s", (int)(key - k), option + k);
		audit_add_for(
		        audit, entry, FSTAB_OPT_TYPO,
		        &(struct audit_details){
		                AUDIT_WARNING, true,
		                audit_format(audit, "unknown option \"%.*s\"", (int)key, option),
		                meant, audit_format(audit, "%.*s", (int)key, option),
		                audit_format(audit, "did you mean \"%s\"?", meant), refused,
		                whole});
		return true;
	}
	if (entry->swap && word_is(option, key, "prio")) {
		audit_add_for(audit, entry, FSTAB_OPT_TYPO,
		              &(struct audit_details){
		                      AUDIT_WARNING, false,
		                      "swapon(8) ignores the unknown option \"prio\"", "pri",
		                      "prio", "did you mean \"pri\"?", NULL, NULL});
		return true;
	}
	/* These are of types whose options are not all known. */
	if (complete || entry->bind || entry->swap || !entry->path)
		return false;
	bool number = key == n && strspn(option, "0123456789") == n, path = *option == '/';
	if (!number && !path)
		return false;
	audit_add_for(audit, entry, FSTAB_OPT_UNKNOWN,
	              &(struct audit_details){
	                      AUDIT_WARNING, true,
	                      number ? "a number is not an option: the options field may be missing"
			             : "a path is not an option: a comma may stand for a colon",
	                      NULL, audit_format(audit, "%.*s", (int)n, option),
	                      number ? "add defaults as the fourth field"
			             : "see the manual page of the type",
	                      refused, whole});
	return true;
}

/** Judge the values of x- options: names of units, a mode. */
static void judge_taken(struct audit *audit, const struct audit_entry *entry, const char *option,
                        size_t key, size_t n)
{
	static const char kinds[] =
	        "service socket device mount automount swap target path timer slice scope";
	const char *value =
	        n > key + 1 ? audit_format(audit, "%.*s", (int)(n - key - 1), option + key + 1)
		            : NULL;
	if (!value)
		return;
	const char *dot = strrchr(value, '.');
	if (word_in(option, key, "x-systemd.requires x-systemd.after x-systemd.before")
	    && *value != '/' && !(dot && word_in(dot + 1, strlen(dot + 1), kinds)))
		audit_add_for(audit, entry, FSTAB_OPT_UNKNOWN,
		              &(struct audit_details){
		                      AUDIT_WARNING, false,
		                      audit_format(audit,
				                   "the value of %.*s is neither a path nor a full "
				                   "unit name: systemd reads it as %s.mount",
				                   (int)key, option, value),
		                      "a path, or a unit such as network-online.target", value,
		                      "write the full name of the unit"});
	if (word_in(option, key, "X-mount.mkdir x-mount.mkdir X-mount.mode")
	    && isdigit((unsigned char)*value) && value[strspn(value, "01234567")])
		audit_add_for(
		        audit, entry, FSTAB_OPT_UNKNOWN,
		        &(struct audit_details){
		                AUDIT_WARNING, true,
		                audit_format(
		                        audit,
		                        "%.*s must be an octal number: mount(8) refuses the line",
		                        (int)key, option),
		                "an octal number, for example 0755", value, "use an octal number"});
}

/** Judge the name of an option by itself. */
static void judge_name(struct audit *audit, const struct audit_entry *entry, bool complete,
                       const char *option, size_t n)
{
	size_t key = opt_name(option, n), m;
	bool x = key >= 2 && (memcmp(option, "x-", 2) == 0 || memcmp(option, "X-", 2) == 0);
	if (fsopt_is_general(option, key) || fsopt_is_known(entry->fstype, option, key)
	    || word_in(option, key, fsopt_x_names)) {
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
			audit_nearest(fsopt_x_names, option, key, &best, &found, &m);
		if (found)
			audit_add_for(audit, entry, FSTAB_OPT_TYPO,
			              &(struct audit_details){
			                      AUDIT_WARNING, false,
			                      audit_format(audit, "unknown option \"%.*s\"",
					                   (int)key, option),
			                      audit_format(audit, "%.*s", (int)m, found),
			                      audit_format(audit, "%.*s", (int)key, option),
			                      audit_format(audit, "did you mean \"%.*s\"?", (int)m,
					                   found)});
		return;
	}
	if (is_shown(audit, entry->fstype, option, key))
		return;
	const char *refused = refused_name(audit, entry, complete, option, key);
	const char *whole = refused ? audit_format(audit, "%.*s", (int)n, option) : NULL;
	if (key == 0) {
		if (refused)
			audit_add_for(audit, entry, FSTAB_OPT_UNKNOWN,
			              &(struct audit_details){
			                      AUDIT_WARNING, true,
			                      "an option has no name: with mount(8) 2.39 or later "
					      "the kernel refuses the mount",
			                      NULL, audit_format(audit, "%.*s", (int)n, option),
			                      "remove it", refused, whole});
		return;
	}
	if (judge_form(audit, entry, complete, option, key, n, refused, whole))
		return;
	bool none = strcmp(entry->fstype, "none") == 0;
	const char *found = near_miss(audit, entry->fstype, option, key, complete, none, &m);
	if (found) {
		audit->typo = entry;
		audit_add_for(
		        audit, entry, FSTAB_OPT_TYPO,
		        &(struct audit_details){
		                complete || none ? AUDIT_CRITICAL : AUDIT_WARNING, complete || none,
		                audit_format(audit, "unknown option \"%.*s\"", (int)key, option),
		                audit_format(audit, "%.*s", (int)m, found),
		                audit_format(audit, "%.*s", (int)key, option),
		                audit_format(audit, "did you mean \"%.*s\"?", (int)m, found),
		                refused, whole});
	} else if (complete && !entry->bind) {
		audit_add_for(
		        audit, entry, FSTAB_OPT_UNKNOWN,
		        &(struct audit_details){
		                AUDIT_WARNING, true,
		                audit_format(
		                        audit,
		                        "%s has no option \"%.*s\": the kernel refuses the mount",
		                        entry->fstype, (int)key, option),
		                NULL, audit_format(audit, "%.*s", (int)key, option),
		                "remove it, or see the manual page of the type", refused, whole});
	}
}

/** Report two options that contradict each other.
    @wins  The one that counts; NULL: the last. */
static void judge_conflict(struct audit *audit, const struct audit_entry *entry, const char *option,
                           size_t n, const char *other, const char *wins)
{
	if (map64_get(&audit->keys, map64_text(other)) == MAP64_NONE)
		return;
	/* relatime is the default. */
	bool mere = wins && (word_is(option, n, "relatime") || strcmp(other, "relatime") == 0);
	audit_add_for(audit, entry, FSTAB_OPT_CONFLICT,
	              &(struct audit_details){
	                      mere ? AUDIT_INFO : AUDIT_WARNING, false,
	                      audit_format(audit, "%s and %.*s conflict: %s takes effect", other,
			                   (int)n, option, wins ? wins : "the last"),
	                      NULL, NULL, "remove one"});
}

/** Report contradictions of a VFS flag.  Of relatime, noatime and strictatime the kernel takes the
    strongest; atime and others only take one of them back. */
static void judge_flag(struct audit *audit, const struct audit_entry *entry,
                       const struct vfs_option *mine)
{
	for (const struct vfs_option *other = vfs_options; other->name; ++other) {
		if (other->flag != mine->flag || other->value == mine->value)
			continue;
		const char *stronger = vfs_name(
		        mine->flag, mine->value > other->value ? mine->value : other->value);
		bool ranked = mine->name == vfs_name(mine->flag, mine->value)
		              && other->name == vfs_name(other->flag, other->value);
		if (mine->flag != VFS_ATIME)
			judge_conflict(audit, entry, mine->name, strlen(mine->name), other->name,
			               NULL);
		else if (ranked)
			judge_conflict(audit, entry, mine->name, strlen(mine->name), other->name,
			               stronger);
	}
}

/** Judge options against those before them. */
static void judge_repeated(struct audit *audit, const struct audit_entry *entry, bool complete,
                           const char *option, size_t n)
{
	size_t key = opt_name(option, n);
	uint64_t hash = map64_bytes(MAP64_BYTES, option, key);
	uint32_t at = (uint32_t)(option - entry->options), before = map64_get(&audit->keys, hash);
	const char *first = before != MAP64_NONE ? entry->options + before : NULL;
	bool known = fsopt_is_general(option, key)
	             || (complete && fsopt_is_known(entry->fstype, option, key));
	if (first && known && !fsopt_has(option, key, OPT_REPEATS) && !opt_is_x(option, key)) {
		const char *rest = first;
		size_t m;
		opt_next(&rest, &m);
		bool same = m == n && memcmp(first, option, n) == 0;
		audit_add_for(audit, entry, FSTAB_OPT_CONFLICT,
		              &(struct audit_details){
		                      same ? AUDIT_INFO : AUDIT_WARNING, false,
		                      same ? audit_format(audit, "option %.*s is given twice",
				                          (int)key, option)
				           : audit_format(audit,
				                          "option %.*s is given twice with "
				                          "different values: the last takes effect",
				                          (int)key, option),
		                      NULL, NULL, "remove one"});
	}
	const struct vfs_option *flag = vfs_option(option, n);
	if (flag)
		judge_flag(audit, entry, flag);
	for (size_t i = 0; i < fsopt_nconflicts; ++i) {
		const struct fsopt_conflict *conflict = &fsopt_conflicts[i];
		for (int side = 0; side < 2; ++side) {
			if (word_is(option, n, conflict->sides[side]))
				judge_conflict(audit, entry, option, n, conflict->sides[!side],
				               conflict->wins);
		}
	}
	map64_remove(&audit->keys, hash);
	audit->failed |= map64_put(&audit->keys, hash, at) == MAP64_NONE;
}

/** Judge the values of swap options. */
static void judge_swap(struct audit *audit, const struct audit_entry *entry)
{
	const char *pri = audit_option(audit, entry, "pri"),
	           *discard = audit_option(audit, entry, "discard");
	if (pri) {
		char *end;
		long value = strtol(pri, &end, 10);
		if (!*pri || *end || value < -1 || value > 32767)
			audit_add_for(audit, entry, FSTAB_SWAP,
			              &(struct audit_details){
			                      AUDIT_WARNING, false, "the swap priority is invalid",
			                      "-1 to 32767", pri, "use a number in this range"});
	}
	if (discard && *discard && strcmp(discard, "once") != 0 && strcmp(discard, "pages") != 0)
		audit_add_for(audit, entry, FSTAB_SWAP,
		              &(struct audit_details){
		                      AUDIT_WARNING, false, "the value of discard is invalid",
		                      "once or pages", discard,
		                      "use discard, discard=once or discard=pages"});
}

/** Judge what boot waits for. */
static void judge_waiting(struct audit *audit, const struct audit_entry *entry)
{
	const char *timeout = audit_option(audit, entry, "x-systemd.device-timeout");
	char *end;
	if (timeout && *timeout && !entry->noauto && strtoul(timeout, &end, 10) == 0
	    && end != timeout && (!*end || strcmp(end, "s") == 0))
		audit_add_for(audit, entry, FSTAB_NOFAIL,
		              &(struct audit_details){AUDIT_INFO, false,
		                                      "x-systemd.device-timeout=0 means no "
		                                      "timeout: boot waits for the device forever",
		                                      "a time", timeout, "use 10s, or add nofail"});
	if (!entry->path || !entry->needed)
		return;
	if (!audit_needs_optional(audit, entry) && entry->flags & FST_DEVICE && !entry->bind
	    && !fstab_is_system(entry->path)) {
		audit_add_for(audit, entry, FSTAB_NOFAIL,
		              &(struct audit_details){
		                      AUDIT_INFO, false,
		                      "boot ends in emergency mode if it is missing", "nofail",
		                      NULL, "add nofail if the system can run without it"});
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
	const char *umask = audit_option(audit, entry, "umask"),
	           *fmask = audit_option(audit, entry, "fmask");
	const char *mask = fmask ? fmask : umask;
	if (!mask || (strtoul(mask, NULL, 8) & 044) != 044)
		audit_add_for(audit, entry, FSTAB_ESP_MASK,
		              &(struct audit_details){
		                      AUDIT_INFO, false,
		                      "all users can read it, with the secrets of boot loaders",
		                      "umask=0077", mask, "add umask=0077"});
}

/** Judge the versions of NFS that a line names: mount.nfs(8) accepts one. */
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
		if (first
		    && !(opt_name(o, n) == opt_name(first, m)
		         && memcmp(o, first, opt_name(o, n)) == 0)) {
			audit_add_for(audit, entry, FSTAB_OPT_CONFLICT,
			              &(struct audit_details){
			                      AUDIT_WARNING, true,
			                      audit_format(audit,
					                   "%.*s and %.*s: mount.nfs(8) refuses "
					                   "more than one version",
					                   (int)m, first, (int)n, o),
			                      "one version", NULL, "remove one"});
			return;
		}
		first = o;
		m = n;
	}
}

void audit_options(struct audit *audit, const struct audit_entry *entry)
{
	bool complete = fsopt_complete(entry->fstype);
	const char *at = entry->options;
	size_t n;
	bool repeats = strchr(entry->options, ',');
	for (const char *o; (o = opt_next(&at, &n)) != NULL;) {
		judge_name(audit, entry, complete, o, n);
		if (repeats)
			judge_repeated(audit, entry, complete, o, n);
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
