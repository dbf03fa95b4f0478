/* SPDX-License-Identifier: MIT */
/* Compare the server of a line and a mount: NFS, Lustre, FUSE, the helper of Amazon EFS. */
#include "fstab/match/matcher.h"

#include "base/fstypes.h"
#include "base/words.h"
#include "mountopts/fsopts.h"
#include "mountopts/optlist.h"
#include "mountopts/shown.h"

#include <string.h>

static bool is_nfs(const struct mount *mount)
{
	return fsopt_type_in(mount->fstype, "nfs nfs4");
}

/** Whether a list of types contains a type that the kernel does not know: the helper of such a type
    can make mounts of any type. */
static bool is_of_helper(const char *types)
{
	char type[32];
	for (size_t n; types && *types; types += n + (types[n] == ',')) {
		n = strcspn(types, ",");
		if (n >= sizeof(type))
			return true;
		memcpy(type, types, n);
		type[n] = '\0';
		if (!(fstype_flags(type) & FST_KNOWN))
			return true;
	}
	return false;
}

bool fstab_match_served(const char *types, const char *options, const struct mount *mount)
{
	const char *fstype = mount && mount->fstype ? mount->fstype : "";
	/* A FUSE mount of a device has the number of the device (dev_major is not 0) and shows the
	   device as its source: no server chose the source. */
	bool served = (is_fuse(fstype) && mount->dev_major == 0)
	              || strcmp(fstype, "ceph") == 0;
	return served && !opt_is_bind(options)
	       && (shown_type(types, fstype) || is_of_helper(types));
}

bool match_by_helper(const struct candidate *entry, const struct mount *mount)
{
	return mount && is_nfs(mount) && strcmp(entry->is.fstype, "efs") == 0
	       && entry->is.type & FST_NET;
}

int match_same_helped(const char *source, const char *live)
{
	size_t n = strcspn(source, ":"), k = live ? strcspn(live, ":") : 0;
	if (!live || !live[k])
		return -1;
	const char *path = source[n] && source[n + 1] ? source + n + 1 : "/";
	bool named = strncmp(live, "fs-", 3) == 0;
	bool own = k >= n && strncmp(live, source, n) == 0 && (k == n || live[n] == '.');
	return (!named || own) && word_same_path(path, live + k + 1) ? -1 : 0;
}

/** Whether n bytes are an address: IPv4, or IPv6 with or without brackets. */
static bool is_address(const char *text, size_t n)
{
	size_t numbers = strspn(text, "0123456789."),
	    digits = strspn(text, "0123456789abcdefABCDEF:.[]%");
	return (numbers >= n && memchr(text, '.', n)) || (digits >= n && memchr(text, ':', n));
}

/** Whether two NFS servers are the same: 1, 0; -1: unknown without DNS.
    @a, n   The server in the line.
    @b, k   The server in the source of the mount. */
static int same_host(const char *a, size_t n, const char *b, size_t k, const struct mount *mount)
{
	if (n == k && memcmp(a, b, n) == 0)
		return 1;
	if (is_address(a, n)) {
		size_t m;
		const char *shown = mount->fs_opts ? opt_value(mount->fs_opts, "addr", &m) : NULL;
		return shown ? m == n && memcmp(shown, a, n) == 0
		       : is_address(b, k) ? 0 : -1;
	}
	/* The result is unknown for a name and an address, and for the same name with and without
	   its domain. */
	size_t label = strcspn(a, ".:"), other = strcspn(b, ".:");
	bool shorter = label == n || other == k;
	return is_address(b, k) || (shorter && label == other && memcmp(a, b, label) == 0) ? -1 : 0;
}

/** Whether two lists of NIDs (ADDRESS@NETWORK) of a Lustre server are the same: 1, 0; -1: unknown
    without DNS, since the kernel shows addresses where the line has names.  The networks "tcp" and
    "tcp0" are the same.
    @a, n   The list in the line.
    @b, k   The list in the source of the mount. */
static int same_nids(const char *a, size_t n, const char *b, size_t k)
{
	for (size_t i = 0, j = 0; i < n || j < k; ++i, ++j) {
		size_t x = strcspn(a + i, ":,@"), y = strcspn(b + j, ":,@");
		if (!is_address(a + i, x))
			return -1;
		if (x != y || memcmp(a + i, b + j, x) != 0)
			return 0;
		i += x;
		j += y;
		x = a[i] == '@' ? strcspn(a + i, ":,") : 0;
		y = b[j] == '@' ? strcspn(b + j, ":,") : 0;
		size_t net = x - (x > 1 && a[i + x - 1] == '0'),
		    other = y - (y > 1 && b[j + y - 1] == '0');
		if (net != other || strncmp(a + i, b + j, net) != 0)
			return 0;
		i += x;
		j += y;
	}
	return 1;
}

int match_same_server(const char *source, const struct mount *mount)
{
	const char *live = mount->source;
	if (word_same_path(source, live))
		return 1;
	bool nfs = is_nfs(mount), lustre = fsopt_type_in(mount->fstype, "lustre");
	const char *path = strstr(source, ":/"), *own = strstr(live, ":/");
	if ((!nfs && !lustre) || !path || !own || !word_same_path(path, own))
		return 0;
	return nfs ? same_host(source, (size_t)(path - source), live, (size_t)(own - live), mount)
	           : same_nids(source, (size_t)(path - source), live, (size_t)(own - live));
}
