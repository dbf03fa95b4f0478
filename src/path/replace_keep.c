/* SPDX-License-Identifier: MIT */
/*
 * Owner, mode and extended attributes of a replaced file.
 */
#include "path/replace_impl.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { BYTES_MAX = 64 * 1024 };   /* maximum size of a value, and of the list of names */

/** Whether losing this attribute would change permissions or lose user data. */
static bool must_keep(const char *attribute)
{
	static const char *const kept[] = {
		"user.",           "security.",      "system.posix_acl_",
		"system.nfs4_acl", "system.richacl", "trusted.SGI_ACL_",
	};
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); ++i) {
		if (strncmp(attribute, kept[i], strlen(kept[i])) == 0)
			return true;
	}
	return false;
}

/** Whether the value of an attribute depends on the content of the file. */
static bool is_of_bytes(const char *attribute)
{
	return strcmp(attribute, "security.ima") == 0 || strcmp(attribute, "security.evm") == 0;
}

/** List the names of a file's attributes, each with a NUL; another process may add more meanwhile.
    @names  BYTES_MAX bytes.  @return their length, or -1. */
static ssize_t list_attributes(struct os *os, int fd, char *names)
{
	ssize_t n = os_flistxattr(os, fd, names, BYTES_MAX);
	return n < 0 && (errno == ENOTSUP || errno == ENOSYS) ? 0 : n;
}

static int keep_attribute(struct replace *file, int to, const char *attribute, char *value)
{
	ssize_t n = os_fgetxattr(file->os, file->fd, attribute, value, BYTES_MAX);
	if (n < 0 && errno == ENODATA)
		return 0;
	if (n >= 0) {
		/* A new file usually has a security label already. */
		char *has = value + BYTES_MAX;
		ssize_t m = os_fgetxattr(file->os, to, attribute, has, BYTES_MAX);
		if ((m == n && memcmp(has, value, (size_t)n) == 0)
		    || os_fsetxattr(file->os, to, attribute, value, (size_t)n) == 0)
			return 0;
	}
	if (!must_keep(attribute))
		return 0;
	file->doing = "setting an attribute of";
	return errno == ENOSPC || errno == EDQUOT || errno == EROFS
	               ? -1 : replace_fail(file, RP_KEEP, errno, "attribute %s", attribute);
}

/** Copy the attributes of the old file to the new one: ACLs, security label, user attributes.
    @names  Room for four times BYTES_MAX. */
static int keep_attributes(struct replace *file, int to, char *names)
{
	char *has = names + BYTES_MAX;
	ssize_t len = list_attributes(file->os, file->fd, names);
	ssize_t nhas = len < 0 ? -1 : list_attributes(file->os, to, has);
	if (nhas < 0)
		return replace_fail(file, RP_KEEP, errno, "attributes");
	/* Remove an inherited ACL before setting the mode, which changes the ACL's mask. */
	for (const char *at = has; at < has + nhas; at += strlen(at) + 1) {
		if (strncmp(at, "system.posix_acl_", 17) == 0
		    && os_fremovexattr(file->os, to, at) != 0 && errno != ENODATA)
			return replace_fail(file, RP_KEEP, errno, "attribute %s", at);
	}
	if (os_fchmod(file->os, to, file->st.st_mode & 07777) != 0)
		return replace_fail(file, RP_KEEP, errno, "mode %04o",
		                    (unsigned)file->st.st_mode & 07777);
	for (const char *at = names; at < names + len; at += strlen(at) + 1) {
		if (!is_of_bytes(at) && keep_attribute(file, to, at, has + BYTES_MAX) != 0)
			return -1;
	}
	return 0;
}

int replace_keep(struct replace *file, int to)
{
	const struct stat *was = &file->st;
	struct stat st;
	if (file->missing || file->at_link) {
		file->doing = "setting the mode of";
		return os_fchmod(file->os, to, 0644);
	}
	if (os_fstatat(file->os, to, "", &st) != 0)
		return -1;
	if ((st.st_uid != was->st_uid || st.st_gid != was->st_gid)
	    && os_fchown(file->os, to, was->st_uid, was->st_gid) != 0)
		return replace_fail(file, RP_KEEP, errno, "owner %u:%u", (unsigned)was->st_uid,
		                    (unsigned)was->st_gid);
	char *names = malloc(4 * BYTES_MAX);
	int rc = names ? keep_attributes(file, to, names)
	               : replace_fail(file, RP_KEEP, ENOMEM, "attributes");
	free(names);
	/* vfat and some FUSE file systems report success without changing anything. */
	if (rc != 0 || os_fstatat(file->os, to, "", &st) != 0)
		return -1;
	if (st.st_uid != was->st_uid || st.st_gid != was->st_gid || st.st_mode != was->st_mode)
		return replace_fail(file, RP_KEEP, 0, "owner %u:%u and mode %04o",
		                    (unsigned)was->st_uid, (unsigned)was->st_gid,
		                    (unsigned)was->st_mode & 07777);
	return 0;
}
