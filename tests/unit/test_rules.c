/* SPDX-License-Identifier: MIT */
/*
 * The rules of an fstab: for each a text that fires it, and the nearest that is healthy.
 *
 * b1 to b24 are defects of findmnt --verify, as the rows are named that show that they
 * are none of ours.
 */
#include "unit.h"

#include "audit/rules.h"
#include "fault.h"

#include <CUnit/CUnit.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The machine: what it has is told by the names. */

static const struct devmap_tags tags[] = {
	{.name = "/dev/sda1", .type = "ext4", .uuid = "11111111-2222-3333-4444-555555555555"},
	{.name = "/dev/sda2", .type = "vfat", .uuid = "AB12-CD34"},
	{.name = "/dev/sda3", .type = "swap", .uuid = "swap"},
	{.name = "/dev/mapper/vg-x", .type = "xfs", .uuid = "xfs"},
	{.name = "/dev/sda4", .type = "crypto_LUKS", .uuid = "luks"},
	{.name = "/dev/sda5", .type = "mpath_member", .uuid = "path"},
	{.name = "/dev/sda6", .uuid = "blank", .known = DEVMAP_UNTAGGED},
	{.name = "/dev/zram0", .uuid = "zram", .known = DEVMAP_UNTAGGED},
};

static unsigned asked;

static int devices(void *arg, const char *source, struct fstab_device *device)
{
	(void)arg;
	++asked;
	const char *value = strchr(source, '=') ? strchr(source, '=') + 1 : source;
	if (strstr(source, "twice"))
		return 2;
	if (strstr(source, "denied"))
		return -1;
	for (size_t i = 0; i < sizeof(tags) / sizeof(*tags); ++i) {
		if (strcmp(tags[i].name, source) == 0 || strcmp(tags[i].uuid, value) == 0) {
			if (device)
				device->tags = &tags[i];
			return 1;
		}
	}
	if (strstr(source, "iscsi") && device)
		device->remote = true;
	return strstr(source, "none") || value != source ? strstr(source, "there") != NULL : 1;
}

static enum fact_kind look(void *arg, const char *path, struct strbuf *real)
{
	bool systemd = arg && strcmp(path, arg) == 0;
	if (strstr(path, "gone") || strcmp(path, "/run/WSL") == 0
	    || (strstr(path, "systemd") && !systemd))
		return FACT_MISSING;
	if (strstr(path, "hung"))
		return FACT_UNKNOWN;
	if (real)
		strbuf_puts(real, strcmp(path, "/var/run") == 0 ? "/run" : path);
	return strstr(path, "file") ? FACT_FILE : strstr(path, "char") ? FACT_OTHER : FACT_DIR;
}

static int helper(void *arg, const char *name)
{
	(void)arg;
	static const char *const missing[] = {"mount.cifs", "mount.tmpsf", "mount.foofs",
	                                      "mount.hfsplus", "fsck.f2fs"};
	for (size_t i = 0; i < sizeof(missing) / sizeof(*missing); ++i) {
		if (strcmp(name, missing[i]) == 0)
			return 0;
	}
	return 1;
}

static int fstype(void *arg, const char *name)
{
	(void)arg;
	return strcmp(name, "tmpsf") != 0 && strcmp(name, "hfsplus") != 0
	       && strcmp(name, "foofs") != 0;
}

static bool secret(const char *source, const char *options)
{
	return (source && strstr(source, "hunter2"))
	       || (options && (strstr(options, "password=") || strstr(options, "credentials=")));
}

static const struct fstab_facts facts = {NULL, devices, look, helper, fstype};

static char text[64 * 1024];

/** The findings of a text, a line each: "2 FSTAB-ORDER critical! /a: message". */
static const char *judged(const char *fstab, const struct fstab_facts *known,
                          struct audit_report *keep)
{
	struct tablines *lines = tablines_parse(fstab, strlen(fstab));
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	struct audit_report report;
	CU_ASSERT_EQUAL_FATAL(audit_fstab(&(struct audit_input){lines, known, secret}, &report), 0);
	text[0] = '\0';
	for (size_t i = 0; i < report.count; ++i) {
		const struct audit_finding *f = &report.findings[i];
		CU_ASSERT(f->severity <= audit_rules[f->code].severity);
		CU_ASSERT(!f->boot || audit_rules[f->code].flags & AR_BOOT);
		CU_ASSERT_PTR_NULL(strstr(f->message, "hunter2"));
		CU_ASSERT_PTR_NULL(f->actual ? strstr(f->actual, "hunter2") : NULL);
		size_t n = strlen(text);
		snprintf(text + n, sizeof(text) - n, "%u %s %s%s %s: %s\n", f->line,
		         audit_rules[f->code].code, audit_severity_name(f->severity),
		         f->boot ? "!" : "", f->target, f->message);
	}
	if (keep)
		*keep = report;
	else
		audit_report_destroy(&report);
	tablines_free(lines);
	return text;
}

#define ROOT "UUID=11111111-2222-3333-4444-555555555555 / ext4 defaults 0 1\n"
#define X "/dev/mapper/vg-x"

static const struct rule_row {
	const char *name;
	enum audit_code code;
	const char *fires, *expected; /* a beginning of the finding's line, or NULL: it is enough
	                                 that it fires */
	const char *healthy;            /* no such finding */
} rows[] = {
	{"b10: blanks between options", FSTAB_SYNTAX, X " /x xfs defaults, noatime 0 2\n",
	 "2 FSTAB-SYNTAX critical! /x", X " /x xfs defaults,noatime 0 2\n"},
	{"two fields", FSTAB_SYNTAX, X "\n", NULL, X " /x xfs\n"},
	{"no blank", FSTAB_SYNTAX, X "\xc2\xa0/x xfs noatime 0 2\n",
	 "2 FSTAB-SYNTAX critical! /x: it contains a U+00A0, which looks like a blank but does not "
	 "separate fields",
	 X " /a\xc2\xa0"
	   "b xfs subvol=\xc2\xa0\n"},
	{"no blanks", FSTAB_SYNTAX, X "\xc2\xa0/x\xe2\x80\x83xfs\n",
	 "2 FSTAB-SYNTAX critical! /x: it contains a U+00A0, which looks like a blank but does not "
	 "separate fields",
	 X " /\xe2\x80\x84 xfs\n#"},
	{"no blank between options", FSTAB_SYNTAX, X " /x xfs nofail,\xc2\xa0noatime\n",
	 "2 FSTAB-SYNTAX critical /x: it contains a U+00A0, which looks like a blank but does not "
	 "separate fields",
	 X " /x xfs nofail,noatime\n"},
	{"no mount point", FSTAB_SYNTAX, X " none xfs\n", "2 FSTAB-SYNTAX critical! none",
	 "/dev/sda3 none swap sw\n"},
	{"CR LF", FSTAB_SYNTAX, X " /x xfs defaults 0 2\r\n/tmp /b none bind 0 0\r\n",
	 "2 FSTAB-SYNTAX warning /x", X " /x xfs defaults 0 2\n"},
	{"CR of the last field", FSTAB_SYNTAX, X " /x xfs noatime\r\n",
	 "2 FSTAB-SYNTAX critical! /x", X " /x xfs noatime\n"},
	{"control characters", FSTAB_SYNTAX, X " /x\x01 xfs\n", "2 FSTAB-SYNTAX warning /x",
	 X "\t/x\t xfs\n"},
	{"relative", FSTAB_SYNTAX, X " x xfs\n", NULL, X " /./x/ xfs\n"},
	{"b9: no octal", FSTAB_ESCAPE, X " /a\\04b xfs\n", "2 FSTAB-ESCAPE critical! /a",
	 X " /a\\040b xfs\n"},
	{"b9: \\400", FSTAB_SYNTAX, X " /a\\400b xfs\n", NULL, X " /a\\134b xfs\n"},
	{"b9: quotes", FSTAB_ESCAPE, "\"/tmp\" /b none bind\n", "2 FSTAB-ESCAPE critical!",
	 "UUID=\"xfs\" /b xfs\n"},
	{"b1: the root behind", FSTAB_ORDER, NULL, NULL, NULL},
	{"order", FSTAB_ORDER, X " /home/joe xfs\nUUID=there /home ext4\n",
	 "2 FSTAB-ORDER critical! /home/joe", "UUID=there /home ext4\n" X " /home/joe xfs\n"},
	{"order: noauto", FSTAB_ORDER, X " /a/b xfs\nUUID=there /a ext4\n", NULL,
	 X " /a/b xfs\nUUID=there /a ext4 noauto\n"},
	{"order of a bind", FSTAB_ORDER, "/srv/x /b none bind\n" X " /srv xfs\n",
	 "2 FSTAB-ORDER critical! /b", X " /srv xfs\n/srv/x /b none bind\n"},
	{"order of an overlay", FSTAB_ORDER,
	 "o /o overlay lowerdir=/l,upperdir=/d/u,workdir=/d/w,nofail\n" X " /d xfs nofail\n",
	 "2 FSTAB-ORDER critical /o: a directory of the overlay /d/u is on /d, which line 3 mounts "
	 "after it",
	 X " /d xfs nofail\no /o overlay lowerdir=/l:/o,upperdir=/d/u,workdir=/d/w,nofail\n"},
	{"order of an image", FSTAB_ORDER, "/d/file /o ext4 loop\n" X " /d xfs\n",
	 "2 FSTAB-ORDER critical! /o: the source /d/file is on /d",
	 X " /d xfs\n/d/file /o ext4 loop\n/dev/mapper/a /p ext4\nt /dev tmpfs\n"},
	{"order: no prefix", FSTAB_ORDER, X " /a/b xfs\nUUID=there /a ext4\n", NULL,
	 X " /ab xfs\nUUID=there /a ext4\n"},
	{"b11: twice", FSTAB_DUP_TARGET, X " /x xfs\nUUID=there /x/ ext4\n",
	 "3 FSTAB-DUP-TARGET warning! /x/: line 2", X " /x xfs\nUUID=there /x ext4 noauto\n"},
	{"b11: excused", FSTAB_DUP_TARGET, X " /x xfs\nUUID=there /x ext4\n", NULL,
	 X " /x xfs\n# getmnt: ignore=FSTAB-NOFAIL,FSTAB-DUP-TARGET\n# on purpose\nUUID=there /x "
	   "ext4\n"},
	{"b11: excused by nothing", FSTAB_DUP_TARGET,
	 X " /x xfs\n# getmnt: ignore=FSTAB-DUP-TARGET\n\nUUID=there /x ext4\n", NULL,
	 X " /x xfs\n#getmnt: ignore=FSTAB-DUP-TARGET \nUUID=there /x ext4\n"},
	{"b8: swaps are not of one target", FSTAB_DUP_TARGET, X " /x xfs\n" X " /x xfs\n", NULL,
	 "/dev/sda3 none swap sw\n/swapfile none swap sw\n"},
	{"b8: one swap twice", FSTAB_DUP_SOURCE, "UUID=swap none swap\nUUID=swap none swap\n",
	 "3 FSTAB-DUP-SOURCE warning UUID=swap", "UUID=swap none swap\nUUID=there none swap\n"},
	{"a device twice", FSTAB_DUP_SOURCE, X " /a xfs\n" X " /b xfs\n",
	 "3 FSTAB-DUP-SOURCE info /b",
	 "UUID=there /a btrfs subvol=a\nUUID=there /b btrfs subvol=b\n"},
	{"b4: unknown", FSTAB_OPT_UNKNOWN, X " /x xfs bogusopt\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x", X " /x xfs x-bogus,X-y,comment=z\n"},
	{"b4: of a type that is not held", FSTAB_OPT_UNKNOWN, "t /x tmpfs bogus=1\n", NULL,
	 "s:/a /x nfs bogusopt=1\nu@h: /y fuse.sshfs bogus\n"},
	{"b4: unknown, and not needed", FSTAB_OPT_UNKNOWN, X " /x xfs bogusopt,nofail\n",
	 "2 FSTAB-OPT-UNKNOWN warning /x", X " /x xfs nofail,uquota,inode64,x-systemd.automount\n"},
	{"torn", FSTAB_OPT_UNKNOWN, X " /x xfs def\n", "2 FSTAB-OPT-UNKNOWN warning! /x",
	 X " /x xfs defaults\n"},
	{"without a name", FSTAB_OPT_UNKNOWN, X " /x xfs =5\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: an option has no name",
	 "s:/a /x nfs =5\n/a /b none bind,=5\n"},
	{"no number", FSTAB_OPT_UNKNOWN, X " /x ext4 commit=abc\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: commit=abc is not valid for ext4 (accepted: a number): "
	 "the kernel refuses the mount",
	 X " /x ext4 commit=0x10,stripe=08,barrier,barrier=1,init_itable\n"},
	{"no value", FSTAB_OPT_UNKNOWN, X " /x ext4 noauto,errors\n",
	 "2 FSTAB-OPT-UNKNOWN warning /x: errors is not valid for ext4 (accepted: continue, "
	 "remount-ro, panic): the kernel refuses the mount",
	 X " /x ext4 errors=remount-ro,errors=panic\n"},
	{"not the value", FSTAB_OPT_UNKNOWN, "t /x tmpfs size=5gb\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: size=5gb is not valid for tmpfs (accepted: a number, "
	 "with k, m, g for a size, or %): the kernel refuses the mount",
	 "t /x tmpfs size=5G,nr_inodes=10k,mode=1777,uid=ann\nt /y tmpfs size=50%\n"},
	{"b4: noaouto", FSTAB_OPT_TYPO, "s:/a /x nfs defaults,noaouto\n",
	 "2 FSTAB-OPT-TYPO warning /x",
	 "s:/a /x nfs defaults,noauto,actimeo=3\n//s/a /y cifs actimeo=3,fsuid=1\nm /z 9p "
	 "version=9p2000.L\nm:/ /c ceph wsync,share,noasyncreaddir\n"
	 "g /g gpfs mtime\nr /r reiserfs notail\nb /s3 fuse.s3fs use_rrs\n"},
	{"b4: defautls", FSTAB_OPT_TYPO, X " /x xfs defautls\n", "2 FSTAB-OPT-TYPO critical! /x",
	 X " /x xfs defaults\n"},
	{"b4: noexc", FSTAB_OPT_TYPO, X " /x xfs noexc\n", NULL, X " /x xfs noexec\n"},
	{"in capitals", FSTAB_OPT_TYPO, X " /x xfs NOFAIL\n",
	 "2 FSTAB-OPT-TYPO critical! /x: unknown option \"NOFAIL\"", X " /x xfs nofail\n"},
	{"a type's own", FSTAB_OPT_TYPO, "t /x tmpfs nr_inode=9\n", NULL,
	 "t /x tmpfs nr_inodes=9\n"},
	{"b17: of systemd", FSTAB_OPT_TYPO, X " /x xfs x-systemd.automont\n",
	 "2 FSTAB-OPT-TYPO warning /x",
	 X " /x xfs "
	   "x-systemd.automount,x-systemd.idle-timeout=1min,x-gvfs-show,x-systemd.nobody-knows\n"},
	{"b17: no time", FSTAB_OPT_UNKNOWN, X " /x xfs x-systemd.device-timeout=abc\n",
	 "2 FSTAB-OPT-UNKNOWN warning /x: x-systemd.device-timeout=abc is not a time span: systemd "
	 "ignores it",
	 X " /x xfs "
	   "x-systemd.device-timeout=10,x-systemd.idle-timeout=1min30s,x-systemd.mount-timeout="
	   "infinity\n"
	   "/a /y none bind,x-systemd.device-timeout=1.5h\\0402M,x-systemd.idle-timeout=0\n"},
	{"b17: no unit", FSTAB_OPT_UNKNOWN,
	 "/a /y none bind,x-systemd.automount,x-systemd.idle-timeout=1mn\n",
	 "2 FSTAB-OPT-UNKNOWN warning /y", "/a /y none bind,x-systemd.idle-timeout=2us\n"},
	{"b17: no time at all", FSTAB_OPT_UNKNOWN, X " /x xfs x-systemd.mount-timeout\n",
	 "2 FSTAB-OPT-UNKNOWN warning /x: x-systemd.mount-timeout is not a time span: systemd "
	 "ignores it",
	 X " /x xfs x-systemd.mount-timeout=1w\n"},
	{"b17: two points", FSTAB_OPT_UNKNOWN, X " /x xfs x-systemd.mount-timeout=1.2.3\n", NULL,
	 X " /x xfs x-systemd.mount-timeout=.5\n"},
	{"other types' options", FSTAB_OPT_TYPO, "//s/a /x cifs noauot\n", NULL,
	 "//s/a /x cifs nodfs,noperm,nounix,nobrl,sfu,vers=3.0,nosetuids\ns:/a /y nfs "
	 "nolock,noac,nocto,hard,intr,soft,bg\n"},
	{"hrad of nfs", FSTAB_OPT_TYPO, "s:/a /x nfs hrad\n",
	 "2 FSTAB-OPT-TYPO warning /x: unknown option \"hrad\"",
	 "s:/a /x nfs4 hard,lock,bgx,nosuch=1,sloppy\n"},
	{"rszie of nfs", FSTAB_OPT_TYPO, "s:/a /x nfs rszie=8192\n", NULL,
	 "s:/a /x nfs rsize=8192,wsize=8192,acdirmin=3,acregmin=3\n"},
	{"usrname of cifs", FSTAB_OPT_TYPO, "//s/a /x cifs usrname=u\n", NULL,
	 "//s/a /x cifs username=u,uid=1,cruid=1,forceuid,dir_mode=0755,serverino\n"},
	{"of sshfs", FSTAB_OPT_TYPO, "u@h: /x fuse.sshfs allow_others\n", NULL,
	 "u@h: /x fuse.sshfs allow_other,IdentityFile=/k,reconnect,Ciphers=x,Cipher=x\na /y "
	 "fuse.any allow_any,cachedir=/c\n"},
	{"of any FUSE", FSTAB_OPT_TYPO, "a /y fuse.any alow_other\n", NULL,
	 "a /y fuse.any allow_other,users_other\n"},
	{"of proc", FSTAB_OPT_TYPO, "p /x proc hidepd=2\n", NULL,
	 "p /x proc hidepid=2,gid=4,subset=pid\n"},
	{"of overlay", FSTAB_OPT_TYPO, "o /x overlay lowerdir=/a:/b,redirectdir=on\n", NULL,
	 "o /x overlay lowerdir=/a:/b,redirect_dir=on,metacopy=off\n"},
	{"a version of nfs", FSTAB_OPT_UNKNOWN, "s:/a /x nfs vers=5\n",
	 "2 FSTAB-OPT-UNKNOWN warning /x: vers=5 is not valid for nfs (accepted: 2, 3, 4, 4.0, "
	 "4.1, 4.2): the kernel refuses the mount",
	 "s:/a /x nfs vers=4.2,sec=krb5:sys,proto=tcp6,timeo=600\n"},
	{"sec of nfs", FSTAB_OPT_UNKNOWN, "s:/a /x nfs sec=krb5:krb6\n", NULL,
	 "s:/a /x nfs sec=krb5p\n"},
	{"hidepid", FSTAB_OPT_UNKNOWN, "p /x proc hidepid=3\n", NULL,
	 "p /x proc hidepid=4\np /y proc hidepid=invisible\n"},
	{"a version of cifs", FSTAB_OPT_UNKNOWN, "//s/a /x cifs vers=4.0\n", NULL,
	 "//s/a /x cifs vers=3.0,cache=loose,sec=ntlmssp\n"},
	{"a mode of cifs", FSTAB_OPT_UNKNOWN, "//s/a /x cifs file_mode=0999\n", NULL,
	 "//s/a /x cifs file_mode=0640,dir_mode=750,uid=ann\n"},
	{"hard and soft", FSTAB_OPT_CONFLICT, "s:/a /x nfs hard,soft\n",
	 "2 FSTAB-OPT-CONFLICT warning /x: hard and soft conflict: the last takes effect",
	 "s:/a /x nfs hard,intr,bg\n"},
	{"a minus", FSTAB_OPT_UNKNOWN, X " /x ext4 commit=-1\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: commit=-1 is not valid for ext4 (accepted: a number): "
	 "the kernel refuses the mount",
	 X " /x ext4 commit=+5,stripe=0\nt /t tmpfs uid=ann,gid=0\n"},
	{"a user below 0", FSTAB_OPT_UNKNOWN, "t /t tmpfs uid=-1\n", NULL,
	 "t /t tmpfs uid=1,mode=0700\n"},
	{"a mode below 0", FSTAB_OPT_UNKNOWN, "t /t tmpfs mode=-1\n", NULL,
	 "t /t tmpfs mode=1777\n"},
	{"no policy", FSTAB_OPT_UNKNOWN, "t /t tmpfs mpol=foo\n", NULL,
	 "t /t tmpfs mpol=prefer=static:0\nt /u tmpfs mpol=bind:0-1\n"},
	{"logbufs", FSTAB_OPT_UNKNOWN, X " /x xfs logbufs=9\n", NULL,
	 X " /x xfs logbufs=8,logbsize=32768\nUUID=xfs /y xfs logbsize=256k,allocsize=1g\n"},
	{"logbsize", FSTAB_OPT_UNKNOWN, X " /x xfs logbsize=33k\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: logbsize=33k is not valid for xfs (accepted: a power of "
	 "two from 16k to 256k): the kernel refuses the mount",
	 X " /x xfs logbsize=0,allocsize=4096\n"},
	{"allocsize", FSTAB_OPT_UNKNOWN, X " /x xfs allocsize=3k\n", NULL,
	 X " /x xfs allocsize=64K\n"},
	{"a device of a journal", FSTAB_OPT_UNKNOWN, X " /x ext4 journal_dev=abc\n", NULL,
	 X " /x ext4 journal_dev=0x801,inode_readahead_blks=32\n"},
	{"no power", FSTAB_OPT_UNKNOWN, X " /x ext4 inode_readahead_blks=33\n", NULL,
	 X " /x ext4 inode_readahead_blks=0,journal_ioprio=7\n"},
	{"rescue", FSTAB_OPT_UNKNOWN, "UUID=there /x btrfs rescue=foo,ro\n", NULL,
	 "UUID=there /x btrfs rescue=nologreplay:ibadroots,ro,thread_pool=4\n"},
	{"no threads", FSTAB_OPT_UNKNOWN, "UUID=there /x btrfs thread_pool=0\n", NULL,
	 "UUID=there /x btrfs thread_pool=10\n"},
	{"an offset", FSTAB_OPT_UNKNOWN, "/srv/file /x ext4 loop,offset=abc\n", NULL,
	 "/srv/file /x ext4 loop,offset=1MiB,sizelimit=0x400\nu /y fuse.x offset=abc\n"},
	{"a flag with a value", FSTAB_OPT_UNKNOWN, X " /x xfs nosuid=1\n",
	 "2 FSTAB-OPT-UNKNOWN warning! /x: nosuid=1 is not valid for xfs (accepted: no value): the "
	 "kernel refuses the mount",
	 X " /x xfs sync=1,ro=1,lazytime=1\n/a /y none bind,nosuid=1\nUUID=swap none swap "
	   "nofail=1\n"},
	{"a flag of a type with a value", FSTAB_OPT_UNKNOWN, X " /x ext4 discard=1\n", NULL,
	 "UUID=there /x btrfs discard=async,nosuid,ssd\n"},
	{"nofail with a value", FSTAB_OPT_UNKNOWN, X " /x ext4 nofail=1\n", NULL,
	 X " /x ext4 nofail,barrier=1\n"},
	{"without its format", FSTAB_OPT_CONFLICT, X " /x ext4 usrjquota=aquota.user\n",
	 "2 FSTAB-OPT-CONFLICT warning! /x: usrjquota requires jqfmt: the kernel refuses the mount",
	 X " /x ext4 usrjquota=aquota.user,jqfmt=vfsv0\nUUID=there /y ext4 usrjquota=\n"},
	{"sunit alone", FSTAB_OPT_CONFLICT, X " /x xfs sunit=8\n", NULL,
	 X " /x xfs sunit=8,swidth=16\nUUID=xfs /y xfs sunit=0\n"},
	{"without ro", FSTAB_OPT_CONFLICT, X " /x xfs norecovery,nofail\n",
	 "2 FSTAB-OPT-CONFLICT warning /x: norecovery requires ro: the kernel refuses the mount",
	 X " /x xfs norecovery,ro\nUUID=there /y btrfs ro,rescue=all\nUUID=there /z btrfs "
	   "rescue=usebackuproot\n"},
	{"rw behind ro", FSTAB_OPT_CONFLICT, "UUID=there /x btrfs ro,rescue=nologreplay,rw\n",
	 "2 FSTAB-OPT-CONFLICT warning! /x: rescue requires ro: the kernel refuses the mount",
	 X " /x ext4 norecovery\n"},
	{"a bind that is none", FSTAB_OPT_TYPO, "/srv/a /x none ro,bnid\n",
	 "2 FSTAB-OPT-TYPO critical! /x: unknown option \"bnid\"", "/srv/a /x none ro,bind\n"},
	{"an rbind that is none", FSTAB_OPT_TYPO, "/srv/a /x none rbimd\n", NULL,
	 "s:/a /x nfs bnid\n"},
	{"b5: ro,rw", FSTAB_OPT_CONFLICT, X " /x xfs ro,rw\n",
	 "2 FSTAB-OPT-CONFLICT warning /x: ro and rw", X " /x xfs rw,noexec,user,exec\n#"},
	{"b5: two sizes", FSTAB_OPT_CONFLICT, "t /x tmpfs size=1G,size=2G\n",
	 "2 FSTAB-OPT-CONFLICT warning /x", "t /x tmpfs size=1G,mode=755\n"},
	{"b5: the same twice", FSTAB_OPT_CONFLICT, "t /x tmpfs noexec,noexec\n",
	 "2 FSTAB-OPT-CONFLICT info /x",
	 "UUID=there /x btrfs "
	 "device=/dev/a,device=/dev/b,x-systemd.requires=a,x-systemd.requires=b\n"},
	{"b6: pass of nfs", FSTAB_PASSNO, "s:/a /x nfs defaults 0 2\n", "2 FSTAB-PASSNO warning /x",
	 "s:/a /x nfs defaults 0 0\n"},
	{"b6: pass of a bind", FSTAB_PASSNO, "/a /x none bind 0 1\n", NULL,
	 "/a /x none bind 0 0\n"},
	{"b6: dump 7", FSTAB_PASSNO, X " /x xfs defaults 7 0\n", NULL, X " /x xfs defaults 1 0\n"},
	{"b6: pass 9", FSTAB_PASSNO, X " /x xfs defaults 0 9\n", NULL, X " /x xfs defaults 0 2\n"},
	{"checked with the root", FSTAB_PASSNO,
	 "UUID=there / ext4 defaults 0 1\n" X " /home ext4 defaults 0 1\n",
	 "3 FSTAB-PASSNO info /home",
	 "UUID=there / ext4 defaults 0 1\nUUID=AB12-CD34 /boot/efi vfat defaults 0 1\n"},
	{"b6: what the installer writes", FSTAB_PASSNO, "t /tmp tmpfs defaults 0 1\n", NULL,
	 "UUID=AB12-CD34 /boot/efi vfat umask=0077 0 1\nUUID=there /home ext4 defaults 0 "
	 "2\nUUID=there /y btrfs defaults 0 0\n"
	 "UUID=swap none swap sw 0 0\n/dev/sr0 /media/cdrom0 udf,iso9660 user,noauto 0 0\n"},
	{"b6: pass -1", FSTAB_PASSNO, X " /x xfs defaults 0 -1\n",
	 "2 FSTAB-PASSNO warning /x: the sixth field", X " /x xfs defaults 0\n"},
	{"b6: dump -1", FSTAB_PASSNO, X " /x xfs defaults -1 0\n",
	 "2 FSTAB-PASSNO warning /x: the fifth field", X " /x xfs defaults\n"},
	{"b8: discard=o", FSTAB_SWAP, "UUID=swap none swap discard=o\n",
	 "2 FSTAB-SWAP warning UUID=swap", "UUID=swap none swap discard=once\n"},
	{"b8: pri", FSTAB_SWAP, "UUID=swap none swap pri=99999999\n", NULL,
	 "UUID=swap none swap pri=32767,discard\n"},
	{"b8: pri of no number", FSTAB_SWAP, "UUID=swap none swap pri=1x\n", NULL,
	 "UUID=swap none swap pri=-1\n"},
	{"b8: a target", FSTAB_SWAP, "UUID=swap /swap swap sw\n", NULL, "UUID=swap swap swap sw\n"},
	{"no device", FSTAB_SRC_MISSING, "UUID=gone /x ext4\n", "2 FSTAB-SRC-MISSING critical! /x",
	 "UUID=there /x ext4\n"},
	{"b2: nofail", FSTAB_SRC_MISSING, "UUID=gone /x ext4 nofail\n",
	 "2 FSTAB-SRC-MISSING info /x", "UUID=there /x ext4 nofail\n"},
	{"auto does not undo noauto", FSTAB_SRC_MISSING, "UUID=gone /x ext4 noauto,auto\n",
	 "2 FSTAB-SRC-MISSING info /x", "UUID=there /x ext4\n"},
	{"b24: bare UUID", FSTAB_SRC_MISSING, "11111111-2222-3333-4444-555555555555 /x ext4\n",
	 "2 FSTAB-SRC-MISSING critical! /x: the path does not exist, and looks like a UUID",
	 "UUID=11111111-2222-3333-4444-555555555555 /x ext4\n"},
	{"b24: lower case", FSTAB_SRC_MISSING, "UUID=ab12-cd34 /x vfat\n", NULL,
	 "UUID=AB12-CD34 /x vfat\n"},
	{"unknown tag", FSTAB_SRC_MISSING, "GUID=there /x ext4\n", NULL, "LABEL=there /x ext4\n"},
	{"b14: no device at all", FSTAB_SRC_MISSING, "none /x ext4\n", NULL,
	 "o /x overlay lowerdir=/a\nhost:vol /y glusterfs\ntag /z virtiofs\ns3 /w fuse.s3fs\nm:/ "
	 "/c ceph\nt /t tmpfs\n"},
	{"an image", FSTAB_SRC_MISSING, "/srv/gone.img /x ext4 loop\n", NULL,
	 "/srv/file.img /x ext4\n" X " /m xfs\n/m/gone.img /y ext4 loop\n"},
	{"no credentials", FSTAB_SRC_MISSING, "//s/a /x cifs credentials=/etc/gone\n",
	 "2 FSTAB-SRC-MISSING warning /x: the file of credentials does not exist",
	 "//s/a /x cifs credentials=/etc/file\n//s/a /y cifs credentials=relative-gone\n"},
	{"no key", FSTAB_SRC_MISSING, "u@h: /x fuse.sshfs IdentityFile=/k/gone\n", NULL,
	 X " /k xfs\nu@h: /x fuse.sshfs IdentityFile=/k/gone\nm:/ /c ceph secretfile=/etc/file\n"},
	{"no server", FSTAB_SRC_MISSING, "server /x nfs noauto\n",
	 "2 FSTAB-SRC-MISSING warning /x: the source of nfs must be SERVER:/PATH",
	 "s:/a /x nfs\n[fe80::1]:/a /y nfs4\n/dev/nfs / nfs\nu@h: /z fuse.sshfs\n"},
	{"a directory for a server", FSTAB_SRC_MISSING, "/srv/y /x nfs4\n",
	 "2 FSTAB-SRC-MISSING critical /x", "s:a /x nfs\n"},
	{"no share", FSTAB_SRC_MISSING, "//server /x cifs\n",
	 "2 FSTAB-SRC-MISSING critical /x: the source of cifs must be //SERVER/SHARE",
	 "//s/a /x cifs\n\\134\\134s\\134a /y cifs\n//s /z cifs unc=//s/a\n"},
	{"of NFS for CIFS", FSTAB_SRC_MISSING, "server:/e /x cifs nofail\n", NULL,
	 "//s/a/b /x smb3\n"},
	{"of CIFS for NFS", FSTAB_SRC_MISSING, "//server/e /x nfs\n", NULL,
	 "nfs://server/e /x nfs\n"},
	{"b16: two devices", FSTAB_SRC_AMBIGUOUS, "UUID=twice /x ext4\n",
	 "2 FSTAB-SRC-AMBIGUOUS critical! /x", "UUID=there /x ext4\n"},
	{"one of two, by a link", FSTAB_SRC_AMBIGUOUS, "/dev/disk/by-uuid/twice /x ext4\n",
	 "2 FSTAB-SRC-AMBIGUOUS critical! /x",
	 "/dev/disk/by-uuid/there /x ext4\n/dev/disk/by-id/twi /y ext4 noauto\n"},
	{"a link with an escape", FSTAB_SRC_AMBIGUOUS,
	 "/dev/disk/by-label/twic\\134x65 /x ext4 noauto\n", "2 FSTAB-SRC-AMBIGUOUS warning /x",
	 "/dev/disk/by-label/\\134x7 /x ext4\n"},
	{"v15: a directory", FSTAB_SRC_MISSING, "/srv/denied /x ext4\n",
	 "2 FSTAB-SRC-MISSING critical! /x: /srv/denied is a directory, not a device",
	 "/srv/denied /x none bind\n/srv/denied /z fuse.mergerfs\n/srv/denied /y virtiofs\n" X
	 " /m xfs\n/m/denied /n ext4 noauto\n"},
	{"v15: of a swap space", FSTAB_SRC_MISSING, "/denied none swap sw\n",
	 "2 FSTAB-SRC-MISSING critical /denied: /denied is a directory",
	 "/srv/file none swap sw\n"},
	{"v15: of an image", FSTAB_SRC_MISSING, "/srv /x ext4 loop,nofail\n",
	 "2 FSTAB-SRC-MISSING warning /x: /srv is a directory", "/srv/file /x ext4 loop\n"},
	{"v16: no block device", FSTAB_SRC_MISSING, "/dev/denied-char /x ext4\n",
	 "2 FSTAB-SRC-MISSING critical! /x: /dev/denied-char is not a block device",
	 "/dev/denied-hung /x ext4\n"},
	{"v18: none without a bind", FSTAB_TYPE_UNSUPPORTED, "/srv /x none defaults\n",
	 "2 FSTAB-TYPE-UNSUPPORTED critical! /x: the type none is for bind mounts, and bind is "
	 "missing",
	 "/srv /x none bind\nnone /y none remount,ro\n/z /z none move\nnone /w none rshared\n/srv "
	 "/v none bnid\n#"},
	{"v20: a blank device", FSTAB_TYPE_MISMATCH, "UUID=blank /x auto\n",
	 "2 FSTAB-TYPE-MISMATCH critical! /x: the device holds nothing known",
	 "UUID=blank /x auto noauto,user\nUUID=blank /y ext4 x-systemd.makefs\nUUID=blank /z "
	 "lustre\nUUID=zram none swap\n"},
	{"v20: of a swap space", FSTAB_TYPE_MISMATCH, "UUID=blank none swap sw,nofail\n",
	 "2 FSTAB-TYPE-MISMATCH warning UUID=blank", "UUID=swap none swap\n"},
	{"LUKS in place of what is in it", FSTAB_TYPE_MISMATCH, "UUID=luks /x auto\n",
	 "2 FSTAB-TYPE-MISMATCH critical! /x: the device holds crypto_LUKS", "UUID=path /x ext4\n"},
	{"b17: names of the kernel", FSTAB_SRC_UNSTABLE, "/dev/sda1 /x ext4\n",
	 "2 FSTAB-SRC-UNSTABLE warning! /x",
	 "/dev/sdb1 /x ext4 noauto\n/dev/md0 /a ext4\n/dev/mapper/a /b ext4\n/dev/disk/by-id/sda1 "
	 "/c ext4\n/dev/vg/sda1 /d ext4\n/dev/sr0 /e iso9660\n"},
	{"b17: nvme", FSTAB_SRC_UNSTABLE, "/dev/nvme0n1p2 /x ext4\n", NULL, "/dev/md/0 /x ext4\n"},
	{"b3: bind", FSTAB_BIND_SRC, "/no/gone /x none bind\n", "2 FSTAB-BIND-SRC critical! /x",
	 "/tmp /x none bind\n/etc/file /y none bind\n"},
	{"b3: below another line", FSTAB_BIND_SRC, "tag /x none rbind\n", NULL,
	 X " /m xfs\n/m/gone /x none bind\n"},
	{"b7: lowerdir", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a:/gone\n",
	 "2 FSTAB-OVERLAY-DIR critical! /x", "o /x overlay lowerdir=/a\\:gone:/b\n#"},
	{"b7: workdir", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a,upperdir=/b\n", NULL,
	 "o /x overlay lowerdir=/a,upperdir=/b,workdir=/c\n"},
	{"one for both", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a,upperdir=/b,workdir=/b/\n",
	 "2 FSTAB-OVERLAY-DIR critical! /x: workdir and upperdir overlap: the kernel refuses the "
	 "mount",
	 "o /x overlay lowerdir=/a,upperdir=/b/u,workdir=/b/uw\n"},
	{"one in the other", FSTAB_OVERLAY_DIR,
	 "o /x overlay lowerdir=/a,upperdir=/b,workdir=/b/w\n", NULL,
	 "o /x overlay lowerdir=/a:/b\n"},
	{"one layer", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a\n",
	 "2 FSTAB-OVERLAY-DIR critical! /x: only one lowerdir and no upperdir",
	 "o /x overlay lowerdir=/a::/b\no /y overlay lowerdir+=/a,lowerdir+=/b\n"},
	{"a layer twice", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a:/b:/a/\n",
	 "2 FSTAB-OVERLAY-DIR critical! /x: the layer /a is also another layer",
	 "o /x overlay lowerdir=/a:/ab:/b\n"},
	{"a layer in another", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=/a/b:/a\n", NULL,
	 X " /a/b xfs\no /x overlay lowerdir=/a/b:/a\n"},
	{"a layer in the upper", FSTAB_OVERLAY_DIR,
	 "o /x overlay lowerdir=/u/l,upperdir=/u,workdir=/w\n", NULL,
	 "o /x overlay lowerdir=/,upperdir=/u,workdir=/w\n"},
	{"the upper as a layer", FSTAB_OVERLAY_DIR,
	 "o /x overlay lowerdir=/u,upperdir=/u,workdir=/w\n",
	 "2 FSTAB-OVERLAY-DIR critical! /x: the layer /u is also its upperdir",
	 "o /x overlay lowerdir=/l,upperdir=/u,workdir=/w\n"},
	{"of two mounts", FSTAB_OVERLAY_DIR,
	 X " /d xfs\no /x overlay lowerdir=/l,upperdir=/d/u,workdir=/w\n",
	 "3 FSTAB-OVERLAY-DIR critical! /x: upperdir and workdir are on two mounts",
	 X " /d xfs\no /x overlay lowerdir=/l,upperdir=/d/u,workdir=/d/w\n"},
	{"relative", FSTAB_OVERLAY_DIR, "o /x overlay lowerdir=a:b\n",
	 "2 FSTAB-OVERLAY-DIR warning /x: the layer a is not an absolute path",
	 "o /x overlay lowerdir=/a:/b\n"},
	{"one upper for two", FSTAB_OVERLAY_DIR,
	 "o /x overlay lowerdir=/l,upperdir=/u,workdir=/w\no /y overlay "
	 "lowerdir=/k,upperdir=/u,workdir=/v\n",
	 "3 FSTAB-OVERLAY-DIR warning /y: line 2 also writes to /u",
	 "o /x overlay lowerdir=/l,upperdir=/u,workdir=/w\no /y overlay "
	 "lowerdir=/l,upperdir=/v,workdir=/y\no /z overlay "
	 "noauto,lowerdir=/l,upperdir=/u,workdir=/w\n"},
	{"no directory", FSTAB_TGT_MISSING, X " /gone xfs\n", "2 FSTAB-TGT-MISSING warning /gone",
	 X " /gone xfs X-mount.mkdir\nUUID=there /m ext4\nt /m/gone tmpfs\n"},
	{"a file", FSTAB_TGT_MISSING, X " /file xfs\n", NULL, "/etc/file /file none bind\n"},
	{"a directory upon a file", FSTAB_TGT_MISSING, "/etc /file none bind\n",
	 "2 FSTAB-TGT-MISSING warning /file: the bind source is a directory, and the mount point "
	 "is a file",
	 X " /m xfs\n/m/x /file none bind\n/etc/gone /file none bind\n"},
	{"a file upon a directory", FSTAB_TGT_MISSING, "/etc/file /x none bind\n",
	 "2 FSTAB-TGT-MISSING warning /x: the bind source is a file, and the mount point is a "
	 "directory",
	 "/etc /x none bind\n/dev/char /file none bind\n"},
	{"a link to another's", FSTAB_DUP_TARGET, "t /run tmpfs\nu /var/run tmpfs\n",
	 "3 FSTAB-DUP-TARGET warning! /var/run: it resolves to /run, the mount point of line 2: "
	 "one is mounted over the other",
	 "t /run tmpfs\nu /var/run tmpfs noauto\n"},
	{"a link", FSTAB_TGT_SYMLINK, "t /var/run tmpfs\n", "2 FSTAB-TGT-SYMLINK info /var/run",
	 "t /run tmpfs\n"},
	{"another type", FSTAB_TYPE_MISMATCH, X " /x ext4\n", "2 FSTAB-TYPE-MISMATCH critical! /x",
	 X " /x auto\n/dev/sda1 /y ext2\nUUID=AB12-CD34 /z msdos\n"},
	{"a field less", FSTAB_TYPE_MISMATCH, X " /x ext4 rw 0 0\n", NULL, X " xfs rw 0 0\n"},
	{"no type", FSTAB_TYPE_UNSUPPORTED, "t /x tmpsf\n", "2 FSTAB-TYPE-UNSUPPORTED critical",
	 "t /x tmpfs\n"},
	{"no type of a list", FSTAB_TYPE_UNSUPPORTED, X " /x tmpsf,foofs noauto\n",
	 "2 FSTAB-TYPE-UNSUPPORTED warning /x",
	 X " /x foofs,xfs\n/dev/sr0 /d hfsplus noauto,user\n/dev/sr1 /e foofs,auto noauto\n"},
	{"no type of a disk", FSTAB_TYPE_UNSUPPORTED, X " /x hfsplus\n",
	 "2 FSTAB-TYPE-UNSUPPORTED critical! /x", X " /x hfsplus,hfs noauto\n"},
	{"b15: mount helper", FSTAB_HELPER_MISSING, "//s/a /x cifs\n",
	 "2 FSTAB-HELPER-MISSING warning /x", "s:/a /x nfs\n"},
	{"b15: fsck helper", FSTAB_HELPER_MISSING, "UUID=there /x f2fs defaults 0 2\n", NULL,
	 "UUID=there /x f2fs defaults 0 0\n"},
	{"nofail", FSTAB_NOFAIL, X " /srv/x xfs\n", "2 FSTAB-NOFAIL info /srv/x", X " /home xfs\n"},
	{"b17: on what may be missing", FSTAB_NOFAIL,
	 X " /srv xfs nofail\n/srv/a /home none bind\n", "3 FSTAB-NOFAIL warning! /home",
	 X " /srv xfs nofail\n/srv/a /home none bind,nofail\n"},
	{"an overlay on what may be missing", FSTAB_NOFAIL,
	 X " /d xfs nofail\no /o overlay lowerdir=/l,upperdir=/d/u,workdir=/d/w\n",
	 "3 FSTAB-NOFAIL warning! /o: it needs line 2, of /d",
	 X " /d xfs nofail\no /o overlay lowerdir=/l,upperdir=/d/u,workdir=/d/w,nofail\n"},
	{"an image on what may be missing", FSTAB_NOFAIL,
	 X " /d xfs nofail\n/d/file /home ext4 loop\n",
	 "3 FSTAB-NOFAIL warning! /home: it needs line 2, of /d",
	 X " /d xfs nofail\n/d/file /home ext4 loop,nofail\n"},
	{"a bind of what is not mounted", FSTAB_NOFAIL,
	 X " /srv xfs noauto\n/srv/a /home none bind\n",
	 "3 FSTAB-NOFAIL warning! /home: it needs line 2, of /srv, which is not",
	 X " /srv xfs noauto,x-systemd.automount\n/srv/a /home none bind\n"},
	{"below what is not mounted", FSTAB_NOFAIL, X " /srv xfs noauto\nt /srv/a tmpfs\n",
	 "3 FSTAB-NOFAIL warning! /srv/a: it needs line 2, of /srv, which is not",
	 X " /srv xfs noauto\nt /srv/a tmpfs noauto\nt /srv2 tmpfs\nUUID=AB12-CD34 /var vfat "
	   "noauto\nt /var tmpfs\nt /var/x tmpfs\n"},
	{"b17: no timeout", FSTAB_NOFAIL, X " /home xfs x-systemd.device-timeout=0\n",
	 "2 FSTAB-NOFAIL info /home", X " /home xfs x-systemd.device-timeout=10s\n"},
	{"b17: over a network", FSTAB_NETDEV,
	 "/dev/disk/by-path/ip-1.2.3.4:3260-iscsi-x-lun-1 /x ext4\n", "2 FSTAB-NETDEV warning! /x",
	 "/dev/disk/by-path/ip-1.2.3.4:3260-iscsi-x-lun-1 /x ext4 _netdev\ns:/a /y nfs\n//s/a /z "
	 "cifs\n"},
	{"ESP", FSTAB_ESP_MASK, "UUID=AB12-CD34 /boot/efi vfat fmask=0022,dmask=0022\n", NULL,
	 "UUID=AB12-CD34 /boot/efi vfat umask=0077\n"},
	{"secret", FSTAB_SECRET, "//s/a /x cifs password=hunter2\n", "2 FSTAB-SECRET warning /x",
	 "//s/a /x cifs credentials=/root/c\n"},
	{"a file that is none", FSTAB_SECRET, "//s/a /x cifs credentials=hunter2\n", NULL,
	 "//s/a /x cifs credentials=/root/c,passwordfile=/root/p\n"},
	{"secret of a source", FSTAB_SECRET, "http://joe:hunter2@h /x davfs\n", NULL,
	 "http://h /x davfs\n"},
};

/** Whether a finding of a code is there; the beginning of its line, if that is said. */
static bool has(const char *findings, enum audit_code code, const char *line)
{
	char word[64];
	snprintf(word, sizeof(word), " %s ", audit_rules[code].code);
	return line ? (strncmp(findings, line, strlen(line)) == 0 || strstr(findings, line))
	            : strstr(findings, word) != NULL;
}

static void test_rows(void)
{
	bool fired[AUDIT_CODES] = {false};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); ++i) {
		const struct rule_row *row = &rows[i];
		if (!row->fires)
			continue;
		char whole[4096];
		snprintf(whole, sizeof(whole), ROOT "%s", row->fires);
		bool good = has(judged(whole, &facts, NULL), row->code, row->expected);
		if (!good)
			printf("%s: does not fire:\n%s", row->name, text);
		CU_ASSERT_TRUE(good);
		fired[row->code] = true;
		/* A '#' at the end: other findings are right here. */
		size_t n = strlen(row->healthy);
		bool others = row->healthy[n - 1] == '#';
		snprintf(whole, sizeof(whole), ROOT "%.*s", (int)(n - others), row->healthy);
		good = !has(judged(whole, &facts, NULL), row->code, NULL) || others;
		if (!good)
			printf("%s: cries wolf:\n%s", row->name, text);
		CU_ASSERT_TRUE(good);
	}
	for (int code = 0; code < AUDIT_CODES; ++code) {
		/* Of two texts: compared(); of what is mounted: test_drift.c. */
		CU_ASSERT_TRUE(fired[code] || code >= FSTAB_LOST);
		CU_ASSERT_PTR_NOT_NULL(audit_rules[code].what);
		CU_ASSERT_EQUAL(audit_code(audit_rules[code].code, strlen(audit_rules[code].code)),
		                code);
	}
	CU_ASSERT_EQUAL(audit_code("FSTAB", 5), -1);
}

static void test_b1_root(void)
{
	CU_ASSERT_STRING_EQUAL(judged(X " /home xfs\n" ROOT, &facts, NULL),
	                       "1 FSTAB-ORDER info /home: it is before line 2, of /\n");
}

/** systemd makes directories that are missing, wherever it shows that it is the one. */
static void test_systemd(void)
{
	static char places[][32] = {"/run/systemd/system", "/run/systemd/generator",
	                            "/usr/lib/systemd/systemd", "/lib/systemd/systemd"};
	struct fstab_facts own = facts;
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); ++i) {
		own.arg = places[i];
		CU_ASSERT_TRUE(has(judged(ROOT X " /gone xfs\n", &own, NULL), FSTAB_TGT_MISSING,
		                   "2 FSTAB-TGT-MISSING info /gone"));
	}
	CU_ASSERT_TRUE(has(judged(ROOT X " /gone xfs\n", &facts, NULL), FSTAB_TGT_MISSING,
	                   "2 FSTAB-TGT-MISSING warning /gone"));
}

/** What cloud-init writes of a disk, and the same by somebody. */
static void test_cloud(void)
{
	static const char line[] = ROOT "/dev/vdb /mnt auto nofail,comment=%s 0 2\n";
	char whole[256];
	snprintf(whole, sizeof(whole), line, "cloudconfig");
	CU_ASSERT_TRUE(has(judged(whole, &facts, NULL), FSTAB_SRC_UNSTABLE,
	                   "2 FSTAB-SRC-UNSTABLE info /mnt"));
	snprintf(whole, sizeof(whole), line, "mine");
	CU_ASSERT_TRUE(has(judged(whole, &facts, NULL), FSTAB_SRC_UNSTABLE,
	                   "2 FSTAB-SRC-UNSTABLE warning /mnt"));
}

/** What installers write, and what works: nothing is told but what to think about. */
static void test_healthy(void)
{
	CU_ASSERT_STRING_EQUAL(
	        judged("# /etc/fstab: static file system information.\n#\n"
		       "# <file system> <mount point>   <type>  <options>       <dump>  <pass>\n"
		       "# / was on /dev/sda1 during installation\n"
		       "UUID=11111111-2222-3333-4444-555555555555 /               ext4    "
		       "errors=remount-ro 0       1\n"
		       "UUID=AB12-CD34  /boot/efi       vfat    umask=0077      0       1\n"
		       "/dev/mapper/vg-x /home           xfs     defaults        0       2\n"
		       "UUID=swap none            swap    sw              0       0\n"
		       "/dev/sr0        /media/cdrom0   udf,iso9660 user,noauto     0       0\n"
		       "tmpfs /tmp tmpfs rw,nosuid,nodev,size=50%,mode=1777 0 0\n"
		       "proc /proc proc nosuid,nodev,noexec,hidepid=2 0 0\n"
		       "srv:/export/x /var/x nfs4 "
		       "rw,hard,vers=4.2,rsize=1048576,_netdev,x-systemd.automount 0 0\n"
		       "/home/a /var/b none bind,ro 0 0\n"
		       "/swapfile none swap defaults,pri=5 0 0\n",
		       &facts, NULL),
	        "");
}

/** The codes of a set, each followed by a blank. */
static const char *codes_of(const struct audit_set *set)
{
	static char codes[2048];
	size_t n = 0;
	codes[0] = '\0';
	for (int code = 0; code < AUDIT_CODES; ++code) {
		if (audit_set_has(set, (enum audit_code)code))
			n += (size_t)snprintf(codes + n, sizeof(codes) - n, "%s ",
			                      audit_rules[code].code);
	}
	return codes;
}

/** Without facts, the rules that need them are listed as not checked. */
static void test_not_checked(void)
{
	struct audit_report report;
	CU_ASSERT_STRING_EQUAL(judged(ROOT
	                              "/a /b none bind\no /o overlay lowerdir=/l:/m\ns:/a /n nfs\n",
	                              NULL, &report),
	                       "");
	CU_ASSERT_STRING_EQUAL(
	        codes_of(&report.not_checked),
	        "FSTAB-SRC-MISSING FSTAB-SRC-AMBIGUOUS FSTAB-BIND-SRC FSTAB-OVERLAY-DIR "
	        "FSTAB-TGT-MISSING FSTAB-TGT-SYMLINK FSTAB-TYPE-MISMATCH FSTAB-TYPE-UNSUPPORTED "
		"FSTAB-HELPER-MISSING ");
	audit_report_destroy(&report);
	/* b19: what cannot be looked at. */
	CU_ASSERT_STRING_EQUAL(judged(ROOT "/hung/a /hung/b none bind\n", &facts, &report), "");
	CU_ASSERT_STRING_EQUAL(codes_of(&report.not_checked),
	                       "FSTAB-BIND-SRC FSTAB-TGT-MISSING FSTAB-TGT-SYMLINK ");
	audit_report_destroy(&report);
	CU_ASSERT_STRING_EQUAL(judged(ROOT, &facts, &report), "");
	CU_ASSERT_EQUAL(audit_set_count(&report.not_checked), 0);
	audit_report_destroy(&report);
	/* b12: without anybody who resolves tags, none is missing.  b22: of no line nothing is
	 * told. */
	CU_ASSERT_STRING_EQUAL(judged(ROOT "LABEL=gone /x ext4 nofail\n", NULL, &report), "");
	CU_ASSERT(audit_set_has(&report.not_checked, FSTAB_SRC_MISSING));
	audit_report_destroy(&report);
	CU_ASSERT_STRING_EQUAL(judged("", NULL, &report), "");
	CU_ASSERT_EQUAL(audit_set_count(&report.not_checked), 0);
	audit_report_destroy(&report);
}

static void test_new_risks(void)
{
	struct audit_report old, report;
	judged(ROOT "/dev/sda1 /x ext4\nUUID=gone /y ext4 nofail\n", &facts, &old);
	/* Moved, it is the same risk; with another code, or without nofail, a new one. */
	judged("\n\n" ROOT "UUID=gone /y ext4\n/dev/sda9 /x ext4\nUUID=twice /x/z ext4\n# getmnt: "
	                   "ignore=FSTAB-SRC-MISSING\n"
	       "UUID=gone /w ext4\n",
	       &facts, &report);
	const struct audit_finding **risks;
	ssize_t n = audit_new_risks(&old, &report, &risks);
	CU_ASSERT_EQUAL_FATAL(n, 2);
	CU_ASSERT(risks[0]->code == FSTAB_SRC_MISSING && strcmp(risks[0]->target, "/y") == 0);
	CU_ASSERT(risks[1]->code == FSTAB_SRC_AMBIGUOUS && risks[1]->line == 6);
	CU_ASSERT_EQUAL(report.suppressed, 1);
	free(risks);
	CU_ASSERT_EQUAL_FATAL(audit_new_risks(&report, &report, &risks), 0);
	free(risks);
	audit_report_destroy(&old);
	audit_report_destroy(&report);
}

static bool is_lost(void *arg, const char *path)
{
	(void)arg;
	return strcmp(path, "/data/lost") == 0;
}

/** What only the two texts together tell. */
static void compared_at(int number, const char *before, const char *after, const char *expected)
{
	struct audit_report old, report;
	const struct audit_finding **risks;
	judged(before, &facts, &old);
	judged(after, &facts, &report);
	CU_ASSERT_EQUAL_FATAL(audit_compare(&old, &report, is_lost, NULL), 0);
	ssize_t n = audit_new_risks(&old, &report, &risks);
	CU_ASSERT_FATAL(n >= 0);
	text[0] = '\0';
	for (ssize_t i = 0; i < n; ++i) {
		size_t len = strlen(text);
		snprintf(text + len, sizeof(text) - len, "%u %s %s\n", risks[i]->line,
		         audit_rules[risks[i]->code].code, risks[i]->target);
	}
	bool good = strcmp(text, expected) == 0;
	if (!good)
		printf("%d: got:\n%s", number, text);
	CU_ASSERT_TRUE(good);
	free(risks);
	audit_report_destroy(&old);
	audit_report_destroy(&report);
}
#define COMPARED(...) compared_at(__LINE__, __VA_ARGS__)

static void test_lost(void)
{
	/* The root, and places of the system: by a comment, another type, noauto. */
	COMPARED(ROOT, "# " ROOT "rootfs / tmpfs rw\n", "2 FSTAB-LOST /\n");
	COMPARED(ROOT, "# " ROOT "o / overlay lowerdir=/a,upperdir=/b,workdir=/c\n",
	         "2 FSTAB-LOST /\n");
	COMPARED(ROOT, "", "0 FSTAB-LOST /\n");
	COMPARED(ROOT X " /home xfs\n", ROOT X " /home xfs noauto\n", "2 FSTAB-LOST /home\n");
	COMPARED(ROOT "s:/a /home nfs\n/home/a /var/a none bind\n", ROOT,
	         "0 FSTAB-LOST /home\n0 FSTAB-LOST /var/a\n");
	/* Another device is none that is lost; nor what stood on nothing, or was not mounted. */
	COMPARED(ROOT, "/dev/mapper/vg-x / xfs\n", "");
	COMPARED("rootfs / tmpfs\nt /tmp tmpfs\n" X " /home xfs noauto\n", "", "");
	COMPARED(X " /home xfs noauto,x-systemd.automount\n",
	         X " /home xfs noauto,x-systemd.automount\n", "");
	COMPARED(X " /home xfs noauto,x-systemd.automount\n", "t /home tmpfs\n",
	         "1 FSTAB-LOST /home\n");
	COMPARED(ROOT X " /home xfs\n", ROOT "t /home tmpfs\n" X " /home/ xfs\n",
	         "3 FSTAB-DUP-TARGET /home/\n");
	/* Of others whoever knows what was right is asked; an ignored one is not told. */
	COMPARED(X " /data/lost xfs\n" X " /data/b xfs\n", "t /data/lost tmpfs\n",
	         "1 FSTAB-LOST /data/lost\n");
	COMPARED(ROOT, "# getmnt: ignore=FSTAB-LOST\nt / tmpfs\n", "");
}

static void test_needed(void)
{
	COMPARED(ROOT "UUID=there /data ext4 nofail 0 2\n", ROOT X " /data xfs defaults 0 2\n",
	         "2 FSTAB-NOFAIL /data\n");
	COMPARED(ROOT "UUID=there /data ext4 noauto 0 2\n", ROOT X " /data xfs defaults 0 2\n",
	         "2 FSTAB-NOFAIL /data\n");
	COMPARED(ROOT "UUID=there /data ext4 noauto 0 2\n", ROOT X " /data xfs nofail 0 2\n", "");
	/* No line before; one that was needed; what cannot be missing. */
	COMPARED(ROOT, ROOT X " /data xfs defaults 0 2\n", "");
	COMPARED(ROOT "UUID=there /data ext4 noauto\n" X " /data xfs\n",
	         ROOT X " /data xfs defaults 0 2\n", "");
	COMPARED(ROOT "t /data tmpfs noauto\n", ROOT "t /data tmpfs\n", "");
	COMPARED("UUID=there / ext4 noauto\n", ROOT, "");
}

/** A comment takes any code from its line, whatever its place in the set. */
static void test_ignored(void)
{
	for (int code = 0; code < AUDIT_CODES; ++code) {
		char fstab[256];
		struct audit_report report;
		snprintf(fstab, sizeof(fstab), ROOT "# getmnt: ignore=%s\n" X " /x xfs\n",
		         audit_rules[code].code);
		judged(fstab, &facts, &report);
		CU_ASSERT_EQUAL_FATAL(report.nlines, 3);
		CU_ASSERT(!audit_line_ignores(&report, 1, (enum audit_code)code)
		          && audit_line_ignores(&report, 3, (enum audit_code)code));
		CU_ASSERT_EQUAL(audit_set_count(&report.ignored[2]), 1);
		CU_ASSERT_EQUAL_FATAL(report.nmounts, 2);
		size_t count = report.count, suppressed = report.suppressed;
		struct audit_finding finding = {.code = (enum audit_code)code,
		                                .line = 3,
		                                .target = "/x",
		                                .message = "it is so"};
		CU_ASSERT_EQUAL(audit_report_add(&report, &finding), 0);
		CU_ASSERT_EQUAL(report.count, count);
		CU_ASSERT_EQUAL(report.suppressed, suppressed + 1);
		audit_report_destroy(&report);
	}
}

/** What is no code takes nothing away, and is told at its line. */
static void test_ignored_words(void)
{
	static const struct {
		const char *comment, *told, *set;
	} comments[] = {
	        {"# getmnt: ignore=DRIFT-OPTIONS, FSTAB-NOFAIL  since it is so", "",
		 "FSTAB-NOFAIL DRIFT-OPTIONS "},
	        {"# getmnt: ignore=MNT-D*\r", "", "MNT-DELETED MNT-DUP "},
	        {"#getmnt:ignore = FSTAB-PASSNO", "", "FSTAB-PASSNO "},
	        {"# getmnt: ignore=DRIFT-OPTION,FSTAB-PASSNO",
		 "2 FSTAB-SYNTAX info : unknown rule DRIFT-OPTION: it is not ignored "
		 "(DRIFT-OPTIONS)\n",
		 "FSTAB-PASSNO "},
	        {"# getmnt: ignore=drift-options",
		 "2 FSTAB-SYNTAX info : unknown rule drift-options: it is not ignored "
		 "(DRIFT-OPTIONS)\n",
		 ""},
	        {"# getmnt: ignore=SOMETHING,ELSE",
		 "2 FSTAB-SYNTAX info : unknown rule SOMETHING: it is not ignored (a code)\n", ""},
	        {"# getmnt: ignore=NO-*",
		 "2 FSTAB-SYNTAX info : unknown rule NO-*: it is not ignored (a code)\n", ""},
	        {"# getmnt: ignore=",
		 "2 FSTAB-SYNTAX info : a code is missing: nothing is ignored (a code)\n", ""},
	        {"# getmnt: ignore=FSTAB-PASSNO,",
		 "2 FSTAB-SYNTAX info : a code is missing: nothing is ignored (a code)\n",
		 "FSTAB-PASSNO "},
	        {"# getmnt: ignore FSTAB-PASSNO",
		 "2 FSTAB-SYNTAX info : this comment ignores nothing (ignore=CODE,CODE)\n", ""},
	        {"# getmnt: see to this", "", ""},
	        {"# getmntignore=X", "", ""},
	        {"# getmnt:", "", ""},
	};
	for (size_t i = 0; i < sizeof(comments) / sizeof(*comments); ++i) {
		char fstab[512], told[512] = "";
		struct audit_report report;
		snprintf(fstab, sizeof(fstab), ROOT "%s\n" X " /x xfs\n", comments[i].comment);
		judged(fstab, &facts, &report);
		for (size_t k = 0; k < report.count; ++k) {
			const struct audit_finding *f = &report.findings[k];
			if (f->line == 2)
				snprintf(told, sizeof(told), "%u %s %s %s: %s (%s)\n", f->line,
				         audit_rules[f->code].code,
				         audit_severity_name(f->severity), f->target, f->message,
				         f->expected);
		}
		CU_ASSERT_STRING_EQUAL(told, comments[i].told);
		CU_ASSERT_STRING_EQUAL(codes_of(&report.ignored[2]), comments[i].set);
		audit_report_destroy(&report);
	}
}

/** So many, or a tenth under valgrind, which sets that. */
static unsigned many_lines(unsigned many)
{
	return unit_step() >= 100 ? many / 10 : many;
}

/** b20: 10,000 lines, all above each other, all options unknown, one source. */
static void test_b20_many(void)
{
	const unsigned many = many_lines(10000);
	struct strbuf fstab;
	strbuf_init(&fstab);
	for (unsigned i = 0; i < many; ++i)
		strbuf_printf(&fstab, "UUID=there /d%u/x tmpfs defaulst%u,bogus%u,size=1,size=2\n",
		              i, i, i);
	for (unsigned i = 0; i < many; ++i)
		strbuf_printf(&fstab, "t /d%u tmpfs ro,rw 0 0\n", i);
	for (unsigned i = 0; i < many; ++i)
		strbuf_puts(&fstab, "t /same tmpfs noauto 0 0\n");
	struct audit_report report;
	asked = 0;
	judged(strbuf_str(&fstab), &facts, &report);
	unsigned of[AUDIT_CODES] = {0};
	for (size_t i = 0; i < report.count; ++i)
		++of[report.findings[i].code];
	CU_ASSERT_EQUAL(of[FSTAB_ORDER], many);
	CU_ASSERT_EQUAL(of[FSTAB_OPT_CONFLICT], 2 * many);
	CU_ASSERT_EQUAL(of[FSTAB_OPT_UNKNOWN] + of[FSTAB_OPT_TYPO], 2 * many);
	CU_ASSERT(asked <= 2 * many);
	audit_report_destroy(&report);
	strbuf_destroy(&fstab);
}

/** What would take minutes if a line cost as much as there are lines of its place. */
static void test_piled_up(void)
{
	static const char *const options[] = {"noauto", "x-systemd.automount"};
	const unsigned many = many_lines(50000);
	struct strbuf fstab;
	strbuf_init(&fstab);
	for (unsigned k = 0; k < 2; ++k) {
		strbuf_reset(&fstab);
		for (unsigned i = 0; i < many; ++i)
			strbuf_printf(&fstab, "t /x tmpfs %s\n", options[k]);
		for (unsigned i = 0; i < many; ++i)
			strbuf_puts(&fstab, "t /x tmpfs\nt /x/y tmpfs\n");
		struct audit_report report;
		judged(strbuf_str(&fstab), &facts, &report);
		unsigned of[AUDIT_CODES] = {0};
		for (size_t i = 0; i < report.count; ++i)
			++of[report.findings[i].code];
		/* Each but the first of a place that is not noauto. */
		CU_ASSERT_EQUAL(of[FSTAB_DUP_TARGET], 2 * (many - 1) + (k ? many : 0));
		/* The last line of /x covers all /x/y but the one after it. */
		CU_ASSERT_EQUAL(of[FSTAB_ORDER], many - 1);
		audit_report_destroy(&report);
	}
	strbuf_destroy(&fstab);
}

static void test_hostile(void)
{
	/* Options without end, NULs, a line of nothing but backslashes. */
	struct strbuf fstab;
	strbuf_init(&fstab);
	strbuf_puts(&fstab, ROOT "t /x tmpfs ");
	for (unsigned i = 0; i < 100000; ++i)
		strbuf_puts(&fstab, "a,");
	strbuf_puts(&fstab, "\n");
	CU_ASSERT_STRING_EQUAL(judged(strbuf_str(&fstab), &facts, NULL),
	                       "2 FSTAB-SYNTAX critical! /x: its options are longer than the "
	                       "kernel accepts; they are not checked\n");
	strbuf_destroy(&fstab);
}

/** Lines that the kernel is known to refuse; of others nothing is known. */
static void test_refused(void)
{
	static const struct {
		const char *type, *options, *refused;
	} lines[] = {
	        {"ext4", "nofa", "the line has option nofa, which ext4 does not have"},
	        {"ext4", "defaulus", "the line has option defaulus, which ext4 does not have"},
	        {"ext4", "rw,noatimf", "the line has option noatimf, which ext4 does not have"},
	        {"ext4", "noatime#x", "the line has option noatime#x, which ext4 does not have"},
	        {"ext4", "size=1g", "the line has option size, which ext4 does not have"},
	        {"ext3", "umask=077", "the line has option umask, which ext3 does not have"},
	        {"ext4", "=5",
		 "the line has an option without a name, which mount(8) 2.39 or later refuses"},
	        {"ext4", "commit=abc", "the line has option commit=abc, but ext4 accepts a number"},
	        {"ext4", "commit=5s", "the line has option commit=5s, but ext4 accepts a number"},
	        {"ext4", "commit=4294967296",
		 "the line has option commit=4294967296, but ext4 accepts a number"},
	        {"ext4", "commit", "the line has option commit, but ext4 accepts a number"},
	        {"ext2", "errors=foo",
		 "the line has option errors=foo, but ext2 accepts continue, remount-ro, panic"},
	        {"ext4", "errors=remount",
		 "the line has option errors=remount, but ext4 accepts continue, remount-ro, "
		 "panic"},
	        {"ext4", "data=order",
		 "the line has option data=order, but ext4 accepts journal, ordered, writeback"},
	        {"xfs", "logbsize=32kb",
		 "the line has option logbsize=32kb, but xfs accepts a power of two from 16k to "
		 "256k"},
	        {"xfs", "dax=on",
		 "the line has option dax=on, but xfs accepts always, inode, never"},
	        {"btrfs", "compress=gzip",
		 "the line has option compress=gzip, but btrfs accepts zlib, lzo, zstd, no"},
	        {"btrfs", "subvolid=@",
		 "the line has option subvolid=@, but btrfs accepts a number"},
	        {"btrfs", "discard=on",
		 "the line has option discard=on, but btrfs accepts sync, async"},
	        {"tmpfs", "mode=rwx",
		 "the line has option mode=rwx, but tmpfs accepts an octal number"},
	        {"tmpfs", "mode=0788",
		 "the line has option mode=0788, but tmpfs accepts an octal number"},
	        {"tmpfs", "size=half",
		 "the line has option size=half, but tmpfs accepts a number, with k, m, g for a "
		 "size, or %"},
	        {"tmpfs", "nr_inodes=50%",
		 "the line has option nr_inodes=50%, but tmpfs accepts a number, with k, m, g for "
		 "a size"},
	        {"tmpfs", "uid=10x",
		 "the line has option uid=10x, but tmpfs accepts a number or a name"},
	        {"tmpfs", "huge=yes",
		 "the line has option huge=yes, but tmpfs accepts never, always, within_size, "
		 "advise"},
	        {"vfat", "umask=089",
		 "the line has option umask=089, but vfat accepts an octal number"},
	        {"vfat", "shortname=long",
		 "the line has option shortname=long, but vfat accepts lower, win95, winnt, mixed"},
	        /* As they may be. */
	        {"ext4",
		 "errors=panic,data=journal,data_err=abort,jqfmt=vfsv1,usrjquota=,commit=30,dax,"
		 "dax=inode,barrier=0",
		 NULL},
	        {"xfs", "allocsize=64k,logbufs=8,logbsize=256k,sunit=08,swidth=016,dax", NULL},
	        {"btrfs",
		 "compress,compress-force=zstd:3,compress=none,subvolid=256,discard,space_cache=v2,"
		 "max_inline=x",
		 NULL},
	        {"tmpfs",
		 "size=1m,size=50%,size=0x10k,size=,nr_blocks=1G,mode=0755,gid=12,uid=ann,huge="
		 "within_size",
		 NULL},
	        {"vfat",
		 "umask=0077,dmask=22,uid=1000,codepage=437,iocharset=x,shortname=mixed,errors="
		 "remount-ro",
		 NULL},
	        {"ext4", "x-bogus,comment=a,nofail,X-mount.mkdir=0755,x-systemd.automont", NULL},
	        {"ext4", "commit=\"5\"", NULL},
	        /* Of which nobody knows, or which pass it over. */
	        {"nfs", "defautls,bogus,commit=abc", NULL},
	        {"fuse.sshfs", "defautls", NULL},
	        {"ramfs", "mode=rwx", NULL},
	        {"auto", "defautls,errors=foo", NULL},
	        {"swap", "bogus,defautls", NULL},
	        {"ext4", "bind,bogus,defautls,errors=foo,=5", NULL},
	};
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); ++i) {
		char line[512];
		snprintf(line, sizeof(line), "/dev/mapper/vg-x /x %s %s\n", lines[i].type,
		         lines[i].options);
		struct audit_report report;
		judged(line, NULL, &report);
		const char *refused = NULL;
		for (size_t k = 0; k < report.count; ++k)
			refused = report.findings[k].refused ? report.findings[k].refused : refused;
		bool good = refused ? lines[i].refused && strcmp(refused, lines[i].refused) == 0
		                    : !lines[i].refused;
		if (!good)
			printf("%s got: %s\n", line, refused ? refused : "nothing");
		CU_ASSERT_TRUE(good);
		audit_report_destroy(&report);
	}
}

/** Add so many findings of an owner. */
static void add_findings(struct audit_report *report, const char *owner, enum audit_code code,
                         enum audit_severity severity, size_t count, const char *message)
{
	for (size_t i = 0; i < count; ++i) {
		char target[16];
		snprintf(target, sizeof(target), "/t%03zu", i);
		CU_ASSERT_EQUAL_FATAL(
		        audit_report_add(report, &(struct audit_finding){.code = code,
			                                                 .severity = severity,
			                                                 .target = target,
			                                                 .owner = owner,
			                                                 .message = message}),
		        0);
	}
}

/** How many findings of one severity and owner are left. */
static size_t count_findings(const struct audit_report *report, const char *owner,
                             enum audit_severity severity)
{
	size_t n = 0;
	for (size_t i = 0; i < report->count; ++i) {
		const struct audit_finding *f = &report->findings[i];
		n += f->severity == severity
		     && (owner ? f->owner && strcmp(f->owner, owner) == 0 : !f->owner);
	}
	return n;
}

/** Those of users' mounts are at most warnings, and so many of them, and so many bytes; nothing
 * else is left out. */
static void test_users(void)
{
	struct audit_report report;
	audit_report_init(&report);
	add_findings(&report, "user:1500", DRIFT_NOT_IN_FSTAB, AUDIT_INFO, 300, "x");
	add_findings(&report, "session", MNT_SHADOWED, AUDIT_WARNING, 5, "x");
	add_findings(&report, "user:joe", MNT_TIMEOUT, AUDIT_CRITICAL, 30, "x");
	add_findings(&report, "user:joe", MNT_DUP, AUDIT_WARNING, 200, "x");
	add_findings(&report, "unknown", MNT_TIMEOUT, AUDIT_CRITICAL, 300, "x");
	add_findings(&report, "users", MNT_DELETED, AUDIT_WARNING, 100, "x");
	add_findings(&report, NULL, MNT_LIMIT, AUDIT_WARNING, 60, "x");
	CU_ASSERT_EQUAL(report.of[AUDIT_CRITICAL], 300);
	audit_report_sort(&report);
	struct audit_set rules = audit_set_of(0), dup = {0};
	audit_set_add(&dup, MNT_DUP);
	audit_set_remove_all(&rules, &dup);
	audit_report_bound(&report, &rules);
	CU_ASSERT_EQUAL(count_findings(&report, "unknown", AUDIT_CRITICAL), 300);
	CU_ASSERT_EQUAL(count_findings(&report, "users", AUDIT_WARNING), 100);
	CU_ASSERT_EQUAL(count_findings(&report, NULL, AUDIT_WARNING), 60);
	CU_ASSERT_EQUAL(count_findings(&report, "session", AUDIT_WARNING), 5);
	/* A rule that is off has no part in it. */
	CU_ASSERT_EQUAL(count_findings(&report, "user:joe", AUDIT_WARNING), 230);
	CU_ASSERT_EQUAL(count_findings(&report, "user:1500", AUDIT_INFO), AUDIT_USERS_MAX - 35);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_CRITICAL], 0);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_WARNING], 0);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_INFO], 300 - (AUDIT_USERS_MAX - 35));
	audit_report_destroy(&report);
	/* Long ones. */
	static char words[30000];
	memset(words, 'x', sizeof(words) - 1);
	audit_report_init(&report);
	add_findings(&report, "udisks", MNT_DELETED, AUDIT_WARNING, 4, words);
	add_findings(&report, "user:1", DRIFT_NOT_IN_FSTAB, AUDIT_INFO, 1, "short");
	audit_report_bound(&report, &rules);
	CU_ASSERT_EQUAL(count_findings(&report, "udisks", AUDIT_WARNING),
	                AUDIT_USERS_BYTES / sizeof(words));
	CU_ASSERT_EQUAL(count_findings(&report, "user:1", AUDIT_INFO), 1);
	CU_ASSERT_EQUAL(report.left_out[AUDIT_WARNING], 4 - AUDIT_USERS_BYTES / sizeof(words));
	audit_report_destroy(&report);
}

static const struct unit_test tests[] = {
	{"of users", test_users},
	{"refused", test_refused},
	{"each rule", test_rows},
	{"b1_root", test_b1_root},
	{"systemd", test_systemd},
	{"cloud", test_cloud},
	{"healthy", test_healthy},
	{"not_checked", test_not_checked},
	{"new risks", test_new_risks},
	{"lost", test_lost},
	{"needed", test_needed},
	{"ignored", test_ignored},
	{"ignored_words", test_ignored_words},
	{"b20_many", test_b20_many},
	{"piled up", test_piled_up},
	{"hostile", test_hostile},
	{NULL, NULL},
};

const struct unit_suite suite_rules = {"rules", tests};
