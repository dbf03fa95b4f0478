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

static int keep_attribute(const struct writer *w, int to, const char *attribute, char *value,
                          const char *name)
{
	struct os *os = w->file->os;
	ssize_t n = os_fgetxattr(os, w->file->fd, attribute, value, BYTES_MAX);
	if (n < 0 && errno == ENODATA)
		return 0;
	if (n >= 0) {
		/* A new file usually has a security label already. */
		char *has = value + BYTES_MAX;
		ssize_t m = os_fgetxattr(os, to, attribute, has, BYTES_MAX);
		if (m == n && memcmp(has, value, (size_t)n) == 0)
			return 0;
		if (os_fsetxattr(os, to, attribute, value, (size_t)n) == 0)
			return 0;
	}
	if (!must_keep(attribute))
		return 0;
	int error = errno;
	if (error == ENOSPC || error == EDQUOT || error == EROFS)
		return writer_fail(w, "setting an attribute of", name);
	return replace_fail(w->error, RP_KEEP, error, "attribute %s", attribute);
}

/** Copy the attributes of the old file to the new one: ACLs, security label, user attributes. */
static int keep_attributes(const struct writer *w, int to, const char *name)
{
	struct os *os = w->file->os;
	char *names = malloc(4 * BYTES_MAX), *has = names ? names + BYTES_MAX : NULL;
	ssize_t len = -1, nhas = -1;
	int rc = -1;
	if (!names || (len = list_attributes(os, w->file->fd, names)) < 0
	    || (nhas = list_attributes(os, to, has)) < 0) {
		replace_fail(w->error, RP_KEEP, errno, "attributes");
		goto out;
	}
	/* Remove an inherited ACL before setting the mode, which changes the ACL's mask. */
	for (const char *at = has; at < has + nhas; at += strlen(at) + 1) {
		if (strncmp(at, "system.posix_acl_", 17) == 0 && os_fremovexattr(os, to, at) != 0
		    && errno != ENODATA) {
			replace_fail(w->error, RP_KEEP, errno, "attribute %s", at);
			goto out;
		}
	}
	if (os_fchmod(os, to, w->file->st.st_mode & 07777) != 0) {
		replace_fail(w->error, RP_KEEP, errno, "mode %04o",
		             (unsigned)w->file->st.st_mode & 07777);
		goto out;
	}
	rc = 0;
	for (const char *at = names; at < names + len && rc == 0; at += strlen(at) + 1) {
		if (!is_of_bytes(at))
			rc = keep_attribute(w, to, at, has + BYTES_MAX, name);
	}
out:
	free(names);
	return rc;
}

int writer_keep(const struct writer *w, int to, const char *name)
{
	const struct replace *file = w->file;
	struct stat st;
	if (file->missing || file->at_link)
		return os_fchmod(file->os, to, 0644) == 0
		               ? 0
		               : writer_fail(w, "setting the mode of", name);
	if (os_fstatat(file->os, to, "", &st) != 0)
		return writer_fail(w, "getting the attributes of", name);
	if ((st.st_uid != file->st.st_uid || st.st_gid != file->st.st_gid)
	    && os_fchown(file->os, to, file->st.st_uid, file->st.st_gid) != 0)
		return replace_fail(w->error, RP_KEEP, errno, "owner %u:%u",
		                    (unsigned)file->st.st_uid, (unsigned)file->st.st_gid);
	if (keep_attributes(w, to, name) != 0)
		return -1;
	/* vfat and some FUSE file systems report success without changing anything. */
	if (os_fstatat(file->os, to, "", &st) != 0)
		return writer_fail(w, "getting the attributes of", name);
	if (st.st_uid != file->st.st_uid || st.st_gid != file->st.st_gid
	    || st.st_mode != file->st.st_mode)
		return replace_fail(w->error, RP_KEEP, 0, "owner %u:%u and mode %04o",
		                    (unsigned)file->st.st_uid, (unsigned)file->st.st_gid,
		                    (unsigned)file->st.st_mode & 07777);
	return 0;
}
