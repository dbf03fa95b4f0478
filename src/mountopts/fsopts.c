/* SPDX-License-Identifier: MIT */
#include "mountopts/fsopts_impl.h"

#include "base/words.h"
#include "mountopts/optlist.h"

#include <strings.h>

/** Options of every type. */
static const struct fsopt_family general = {"*", .rows = (const struct fsopt[]){
	{"rw ro suid nosuid dev nodev exec noexec sync async dirsync atime noatime diratime "
	 "nodiratime relatime norelatime strictatime nostrictatime lazytime nolazytime symfollow "
	 "nosymfollow"},
	{"relatime", .flags = OPT_DEFAULT},
	{"mand nomand iversion noiversion silent loud", .flags = OPT_UNCOMPARED},
	{"defaults auto noauto user nouser users nousers owner noowner group nogroup nofail "
	 "_netdev encryption uhelper helper move remount private shared slave unbindable rprivate "
	 "rshared rslave runbindable", .flags = OPT_USERSPACE},
	{"comment", .flags = OPT_USERSPACE | OPT_REPEATS},
	{"loop bind rbind", .flags = OPT_USERSPACE | OPT_IDENTITY},
	{"offset sizelimit", OPT_BYTES, .flags = OPT_USERSPACE | OPT_IDENTITY},
	{"subvol subvolid lowerdir upperdir workdir", .flags = OPT_NOT_GIVEN | OPT_IDENTITY},
	{"lowerdir+ datadir+", .flags = OPT_NOT_GIVEN | OPT_IDENTITY | OPT_REPEATS},
	{"device modules rescue", .flags = OPT_NOT_GIVEN | OPT_REPEATS},
	{"context", .flags = OPT_REPEATS, .visible = ""},
	{"fscontext defcontext rootcontext", .visible = ""},
	{"seclabel", .flags = OPT_FOUND_OUT},
	{"smackfsdef smackfsfloor smackfshat smackfsroot smackfstransmute verity.hashdevice "
	 "verity.roothash verity.hashoffset verity.fecdevice verity.fecoffset verity.fecroots "
	 "verity.roothashfile verity.roothashsig verity.oncorruption"},
	/* These types refuse a value for these options; other types ignore it. */
	{"suid nosuid dev nodev exec noexec atime noatime diratime nodiratime relatime norelatime "
	 "strictatime nostrictatime nosymfollow iversion noiversion silent loud auto noauto users "
	 "nousers owner noowner group nogroup nouser nofail _netdev", OPT_FLAG,
	 .types = "ext2 ext3 ext4 xfs btrfs tmpfs vfat msdos"},
	{NULL}}};

/** The only options of a FUSE file system with an unknown helper that are not the helper's. */
static const struct fsopt_family any_fuse = {"fuse.*", .rows = (const struct fsopt[]){
	{"allow_other allow_root default_permissions"}, {NULL}}};

const char fsopt_x_names[] =
	"x-systemd.requires x-systemd.before x-systemd.after x-systemd.wanted-by "
	"x-systemd.required-by x-systemd.wants x-systemd.requires-mounts-for "
	"x-systemd.wants-mounts-for x-systemd.device-bound x-systemd.automount "
	"x-systemd.idle-timeout x-systemd.device-timeout x-systemd.mount-timeout x-systemd.makefs "
	"x-systemd.growfs x-systemd.pcrfs x-systemd.rw-only x-systemd.validatefs "
	"x-systemd.graceful-option x-initrd.mount x-initrd.attach X-mount.mkdir x-mount.mkdir "
	"X-mount.subdir X-mount.auto-fstypes X-mount.owner X-mount.group X-mount.mode "
	"X-mount.idmap X-mount.noloop X-mount.nocanonicalize";

const char *const fsopt_conflicts[][2] = {
	{"mand", "nomand"}, {"iversion", "noiversion"}, {"auto", "noauto"}, {"user", "nouser"},
	{"users", "nousers"}, {"owner", "noowner"}, {"group", "nogroup"}, {"hard", "soft"},
	{"hard", "softerr"}, {"soft", "softerr"}, {"bg", "fg"}, {"ac", "noac"}, {"cto", "nocto"},
	{"lock", "nolock"}, {"intr", "nointr"}, {"tcp", "udp"}, {"serverino", "noserverino"},
	{"perm", "noperm"}, {"inode32", "inode64"}, {"grpid", "nogrpid"}, {"posixacl", "noacl"},
	{NULL},
};

bool fsopt_type_in(const char *fstype, const char *types)
{
	return *types == '*' || (fstype && word_in(fstype, strcspn(fstype, "."), types));
}

/** The family of a type of n bytes; or NULL. */
static const struct fsopt_family *family_of(const char *fstype, size_t n)
{
	const struct fsopt_family *const tables[] = {fsopt_local, fsopt_remote};
	for (size_t i = 0; n > 0 && i < sizeof(tables) / sizeof(*tables); ++i) {
		for (const struct fsopt_family *family = tables[i]; family->types; ++family) {
			if (word_in(fstype, n, family->types))
				return family;
		}
	}
	return NULL;
}

/** The families that have options of a type of n bytes.  @return how many. */
static size_t families_of(const char *fstype, size_t n, const struct fsopt_family *families[])
{
	/* Most options are looked up for the type of the one before. */
	static _Thread_local struct {
		char fstype[16];
		size_t n, count;
		const struct fsopt_family *families[2];
	} last;
	if (n == 0 || n != last.n || memcmp(fstype, last.fstype, n) != 0) {
		last.n = n <= sizeof(last.fstype) ? n : 0;
		memcpy(last.fstype, fstype, last.n);
		last.count = 0;
		last.families[0] = family_of(fstype, n);
		if (last.families[0])
			++last.count;
		else if (n > 5 && strncmp(fstype, "fuse.", 5) == 0)
			last.families[last.count++] = &any_fuse;
		if (last.count && last.families[0]->fuse)
			last.families[last.count++] = family_of("fuse", 4);
	}
	memcpy(families, last.families, sizeof(last.families));
	return last.count;
}

/** Whether an option of n bytes has one of these names.
    @bare  A plain name is that option without a value.
    @any_case  Ignore case. */
static bool is_named(const char *names, const char *option, size_t n, bool bare, bool any_case)
{
	size_t key = opt_name(option, n);
	for (const char *end; *names; names = end + (*end == ' ')) {
		end = strchrnul(names, ' ');
		size_t len = (size_t)(end - names);
		if (len > n || (*names != *option && !any_case)
		    || (any_case ? strncasecmp : strncmp)(names, option, len) != 0)
			continue;
		if (len == n || (len == key && !bare) || (len == key + 1 && names[key] == '='))
			return true;
	}
	return false;
}

bool fsopt_is_named(const char *names, const char *option, size_t n)
{
	return is_named(names, option, n, false, false);
}

static bool has_fact(const struct fsopt *row, enum fsopt_fact fact, unsigned flags)
{
	return fact == FSOPT_SHOWN     ? row->shown != NULL
	       : fact == FSOPT_GIVEN   ? row->given != NULL
	       : fact == FSOPT_VISIBLE ? row->visible != NULL
	       : fact == FSOPT_VALUED  ? row->value != OPT_ANY_VALUE
	       : fact == FSOPT_NEEDING ? row->needs != NULL
	       : fact == FSOPT_ENDED   ? row->ended != NULL
	       : fact == FSOPT_VENDOR  ? row->vendor != NULL
	       : fact == FSOPT_FLAGGED ? (row->flags & flags) != 0
	                               : !(row->flags & OPT_NOT_GIVEN);
}

/** The first row of a family with a fact about an option of a type of ntype bytes; or NULL. */
static const struct fsopt *find_in(const struct fsopt_family *family, const char *fstype,
                                   size_t ntype, enum fsopt_fact fact, unsigned flags,
                                   const char *option, size_t n)
{
	for (const struct fsopt *row = family->rows; row->names; ++row) {
		if (has_fact(row, fact, flags)
		    && (!row->types || fact == FSOPT_KNOWN || word_in(fstype, ntype, row->types))
		    && is_named(row->names, option, n, fact == FSOPT_SHOWN,
		                row->flags & OPT_ANY_CASE))
			return row;
	}
	return NULL;
}

/** The first row with a fact about an option of a type of ntype bytes. */
static const struct fsopt *find(const char *fstype, size_t ntype, enum fsopt_fact fact,
                                unsigned flags, const char *option, size_t n)
{
	const struct fsopt_family *families[3];
	size_t count = families_of(fstype, ntype, families);
	const struct fsopt *row = NULL;
	if (fact != FSOPT_KNOWN)
		families[count++] = &general;
	for (size_t i = 0; i < count && n && !row; ++i)
		row = find_in(families[i], fstype, ntype, fact, flags, option, n);
	return row;
}

const struct fsopt *fsopt_flagged(const char *fstype, const char *option, size_t n, unsigned flags)
{
	return find(fstype ? fstype : "", fstype ? strcspn(fstype, ".") : 0, FSOPT_FLAGGED, flags,
	            option, n);
}

const struct fsopt *fsopt_of_mount(const char *fstype, enum fsopt_fact fact, const char *option,
                                   size_t n)
{
	return find(fstype ? fstype : "", fstype ? strcspn(fstype, ".") : 0, fact, 0, option, n);
}

const struct fsopt *fsopt_of_line(const char *fstype, enum fsopt_fact fact, const char *option,
                                  size_t n)
{
	return find(fstype, strlen(fstype), fact, 0, option, n);
}

bool fsopt_complete(const char *fstype)
{
	const struct fsopt_family *family = family_of(fstype, strlen(fstype));
	return family && family->complete;
}

bool fsopt_strict(const char *fstype)
{
	const struct fsopt_family *family = family_of(fstype, strlen(fstype));
	return family && (family->complete || family->strict);
}

const char *fsopt_other_type(const char *fstype, const char *option, size_t n, size_t *len)
{
	const struct fsopt_family *const tables[] = {fsopt_local, fsopt_remote};
	const struct fsopt_family *own = family_of(fstype, strlen(fstype));
	for (size_t i = 0; n > 0 && i < sizeof(tables) / sizeof(*tables); ++i) {
		for (const struct fsopt_family *family = tables[i]; family->types; ++family) {
			const struct fsopt *row = family == own ? NULL
			        : find_in(family, "", 0, FSOPT_KNOWN, 0, option, n);
			if (row) {
				const char *types = row->types ? row->types : family->types;
				*len = strcspn(types, " ");
				return types;
			}
		}
	}
	return NULL;
}

const char *fsopt_key_file(const char *fstype, size_t *len)
{
	const struct fsopt_family *family = family_of(fstype, strcspn(fstype, ","));
	for (const struct fsopt *row = family ? family->rows : NULL; row && row->names; ++row) {
		if (row->flags & OPT_KEY_FILE) {
			*len = strcspn(row->names, " =");
			return row->names;
		}
	}
	return NULL;
}

bool fsopt_is_general(const char *name, size_t n)
{
	return n && find_in(&general, "", 0, FSOPT_KNOWN, 0, name, n);
}

bool fsopt_is_any(const char *option, size_t n)
{
	size_t len;
	return fsopt_is_general(option, n) || fsopt_other_type("", option, n, &len);
}

const char *fsopt_names(const char *fstype, size_t i)
{
	const struct fsopt_family *families[2] = {&general};
	size_t count = fstype ? families_of(fstype, strlen(fstype), families) : 1;
	for (size_t f = 0; f < count; ++f) {
		for (const struct fsopt *row = families[f]->rows; row->names; ++row) {
			bool few = row->flags & OPT_NOT_GIVEN || row->ended || row->vendor;
			if (!few && i-- == 0)
				return row->names;
		}
	}
	return NULL;
}
