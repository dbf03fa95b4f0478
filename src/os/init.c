/* SPDX-License-Identifier: MIT */
/* Which features the running kernel has: os_init(). */

#include "base/words.h"
#include "os/clock.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/utsname.h>

/** The capabilities named in a GETMNT_DISABLE list. */
static unsigned os_parse_disable(const char *list)
{
	static const struct {
		const char *word;
		unsigned caps;
	} words[] = {
		{"listmount", OSC_LISTMOUNT | OSC_STATX_UNIQUE},
		/* No kernel has listmount without mount IDs in statx. */
		{"statx-mntid", OSC_STATX_MNT_ID | OSC_STATX_UNIQUE | OSC_LISTMOUNT},
		{"openat2", OSC_OPENAT2},
		{"fanotify", OSC_FANOTIFY},
		{"uring", OSC_URING},
		{"bulk", OSC_INODES},
		{"clock", OSC_CLOCK},
		{"last-pos", OSC_LAST_POS},
		{"listxattrat", OSC_LISTXATTRAT},
		{"queue", OSC_QUEUE},
	};
	unsigned disabled = 0;
	while (list && *list) {
		size_t n = strcspn(list, ",");
		for (size_t i = 0; i < sizeof(words) / sizeof(*words); ++i) {
			if (word_is(list, n, words[i].word))
				disabled |= words[i].caps;
		}
		list += n + (list[n] == ',');
	}
	return disabled;
}

/** Probe what statx returns about mounts. */
static void os_probe_statx(struct os *os)
{
	struct k_statx *st = &os->root;
	unsigned mask = K_STATX_TYPE | K_STATX_NLINK | K_STATX_MNT_ID | K_STATX_MNT_ID_UNIQUE;
	os->statx_works = true;
	/* Only ENOSYS and EPERM show that statx is unavailable; retry after other errors. */
	bool works = false, refused = false;
	for (int i = 0; i < 3 && !works && !refused; ++i) {
		works = os_statx(os, AT_FDCWD, "/", AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, mask, st)
		        == 0;
		refused = errno == ENOSYS || errno == EPERM;
	}
	os->statx_works = works;
	if (!os->statx_works || !(st->attributes_mask & K_STATX_ATTR_MOUNT_ROOT))
		return;
	/* Linux 6.8 and later return the unique ID if both are requested. */
	if (st->mask & K_STATX_MNT_ID_UNIQUE)
		os->caps |= OSC_STATX_UNIQUE | OSC_STATX_MNT_ID;
	else if (st->mask & K_STATX_MNT_ID)
		os->caps |= OSC_STATX_MNT_ID;
}

/** Probe whether listmount and statmount exist and are permitted. */
static void os_probe_listmount(struct os *os)
{
	uint64_t id;
	os->caps |= OSC_LISTMOUNT | OSC_REQ_VER1;
	ssize_t n = os_listmount(os, K_LSMT_ROOT, 0, &id, 1);
	if (n < 0 && (errno == EINVAL || errno == E2BIG)) {
		os->caps &= ~OSC_REQ_VER1;
		n = os_listmount(os, K_LSMT_ROOT, 0, &id, 1);
	}
	/* ENOENT: the call exists, but the root has no mount in this namespace. */
	if (n < 0 && errno != ENOENT) {
		os->caps &= ~(OSC_LISTMOUNT | OSC_REQ_VER1);
		return;
	}
	if (n <= 0)
		return;
	struct k_statmount st;
	memset(&st, 0, sizeof(st));
	/* If possible query the mount of "/", which also returns its 32-bit ID. */
	uint64_t root = os_statx_mnt_id(&os->root, true);
	uint64_t mask = K_STATMOUNT_SUPPORTED_MASK | K_STATMOUNT_MNT_BASIC;
	int rc = os_statmount(os, root ? root : id, mask, &st, sizeof(st));
	if (rc != 0 && root && root != id)
		rc = os_statmount(os, id, mask, &st, sizeof(st));
	if (rc != 0 && (errno == ENOSYS || errno == EPERM))
		os->caps &= ~(OSC_LISTMOUNT | OSC_REQ_VER1);
	if (rc != 0)
		return;
	if (st.mask & K_STATMOUNT_SUPPORTED_MASK)
		os->statmount_mask = st.supported_mask;
	if (st.mask & K_STATMOUNT_MNT_BASIC && st.mnt_id == root)
		os->root_old_id = st.mnt_id_old;
}

/** Whether this kernel is older than a release. */
static bool os_older_than(struct os *os, int major, int minor)
{
	struct utsname name;
	if (OS_CALL(os, OS_UNAME, uname, &name) != 0)
		return true;
	char *end;
	long has_major = strtol(name.release, &end, 10);
	long has_minor = *end == '.' ? strtol(end + 1, NULL, 10) : 0;
	return has_major < major || (has_major == major && has_minor < minor);
}

void os_init(struct os *os, const char *disable)
{
	*os = (struct os){.disabled = os_parse_disable(disable)};
	os_probe_statx(os);
	if (!(os->disabled & OSC_LISTMOUNT))
		os_probe_listmount(os);
	if (!(os->disabled & OSC_OPENAT2)) {
		/* The kernel checks the size first, and 0 is invalid: nothing is opened. */
		if (OS_SYSCALL(os, OS_OPENAT2, openat2, -1, NULL, NULL, 0) < 0
		    && errno == EINVAL)
			os->caps |= OSC_OPENAT2;
	}
	os->caps &= ~os->disabled;
	os->ids_by_proc = !(os->caps & OSC_STATX_MNT_ID);
	os->torn_reads = os->ids_by_proc && os_older_than(os, 5, 8);
}

void os_probe_events(struct os *os)
{
	int fd = os_watch_mounts(os);
	if (fd >= 0)
		os->caps |= OSC_FANOTIFY;
	os_close(os, fd);
}
