/* SPDX-License-Identifier: MIT */
/* What a line of an fstab says: src/fstab/entry.h. */
#include "unit.h"

#include "fault.h"
#include "fstab/entry.h"

/** Read one line. */
static struct fstab_entry entry_of(const char *line, struct arena *arena, struct tablines **lines)
{
	struct fstab_entry entry;
	*lines = tablines_parse(line, strlen(line));
	CU_ASSERT_PTR_NOT_NULL_FATAL(*lines);
	CU_ASSERT_EQUAL_FATAL((*lines)->count, 1);
	fstab_entry_read(&entry, &(*lines)->lines[0], arena);
	return entry;
}

/** The properties of a line, by name. */
static void properties(const char *line, const char *expected)
{
	struct tablines *lines;
	struct arena arena = {0};
	struct fstab_entry e = entry_of(line, &arena, &lines);
	STRBUF(text);
	const struct {
		bool set;
		const char *name;
	} rows[] = {
		{e.swap, "swap"}, {e.root, "root"}, {e.bind, "bind"}, {e.remount, "remount"},
		{e.noauto, "noauto"}, {e.nofail, "nofail"}, {e.automount, "automount"},
		{e.unit_starts, "unit"}, {e.netdev, "netdev"}, {e.network, "network"},
		{e.mkdir, "mkdir"}, {e.idle, "idle"},
		{e.optional, "optional"}, {e.needed, "needed"},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		if (rows[i].set)
			strbuf_printf(&text, "%s%s", text.len ? " " : "", rows[i].name);
	}
	unit_expect(strbuf_str(&text), expected);
	tablines_free(lines);
	arena_destroy(&arena);
}

UNIT_TEST(what_follows_from_a_line)
{
	properties("/dev/x / ext4", "root needed");
	properties("/dev/x /d ext4 defaults,nofail", "nofail optional");
	/* mount -a skips the line, even if "auto" follows. */
	properties("/dev/x /d ext4 noauto,auto", "noauto idle optional");
	/* systemd mounts it on access, whichever of the two names the option has. */
	properties("/dev/x /d ext4 noauto,x-systemd.automount", "noauto automount optional");
	properties("/dev/x /d ext4 noauto,comment=systemd.automount", "noauto automount optional");
	properties("/dev/x /d ext4 x-systemd.automount", "automount");
	properties("/dev/x /d ext4 comment=systemd.automount", "automount");
	properties("/dev/x /d ext4 comment=cloudconfig", "needed");
	/* With a unit that the line names, even if it is noauto, and not with local-fs.target. */
	properties("/dev/x /d ext4 noauto,x-systemd.wanted-by=a.service", "noauto unit optional");
	properties("/dev/x /d ext4 x-systemd.required-by=a.service", "unit");
	properties("/dev/x /d ext4 noauto,x-systemd.after=a.service", "noauto idle optional");
	properties("/dev/x none swap noauto,x-systemd.wanted-by=a.service",
	           "swap noauto idle optional");
	properties("/dev/x /d ext4 _netdev,X-mount.mkdir=0700", "netdev network mkdir");
	properties("s:/x /d nfs defaults", "network");
	properties("s:/x /d fuse.sshfs defaults", "network");
	properties("/a /b none rbind,remount", "bind remount needed");
	properties("/a /b ignore defaults", "idle needed");
	/* A swap space is neither bound nor mounted on access. */
	properties("/dev/x none swap bind,x-systemd.automount,noauto", "swap noauto idle optional");
	/* Within quotation marks a comma separates nothing; after an open one nothing is read. */
	properties("/dev/x /d ext4 context=\"a,nofail\"", "needed");
	properties("/dev/x /d ext4 defaults,\"nofail", "needed");
	properties("/dev/x", "");
	properties("# /dev/x /d ext4", "");
}

UNIT_TEST(options_of_a_line)
{
	struct tablines *lines;
	struct arena arena = {0};
	static const char line[] =
		"/dev/x /a\\040b/../c/ ext4 ,uid=1,,ro,x-a=\"b,c\",uid=,uid=\\0542";
	struct fstab_entry e = entry_of(line, &arena, &lines);
	unit_expect(e.path, "/c");
	unit_expect(e.options, ",uid=1,,ro,x-a=\"b,c\",uid=,uid=,2");
	/* The comma was escaped: mount(8) decodes the field first, and then separates. */
	CU_ASSERT_EQUAL_FATAL(e.nopts, 6);
	for (uint32_t i = 0; i < e.nopts; ++i) {
		const struct opt *o = &e.opts[i];
		CU_ASSERT(o->text >= e.options && o->text + o->n <= e.options + strlen(e.options));
		CU_ASSERT_EQUAL(strlen(o->name), o->nname);
		CU_ASSERT_EQUAL(memcmp(o->name, o->text, o->nname), 0);
		CU_ASSERT_EQUAL(o->value != NULL, o->nname < o->n);
	}
	unit_expect(fstab_entry_value(&e, "uid"), "");
	unit_expect(fstab_entry_value(&e, "ro"), "");
	unit_expect(fstab_entry_value(&e, "x-a"), "\"b,c\"");
	CU_ASSERT_PTR_NULL(fstab_entry_value(&e, "ui"));
	CU_ASSERT_PTR_EQUAL(fstab_entry_find(&e, "uid"), &e.opts[4]);
	CU_ASSERT(e.opts[2].is_x && !e.opts[1].is_x);
	CU_ASSERT(fstab_entry_has(&e, "uid=1") && !fstab_entry_has(&e, "uid"));
	tablines_free(lines);
	arena_destroy(&arena);
	/* A field that is missing, or empty after decoding. */
	e = entry_of("/dev/x /d ext4", &arena, &lines);
	unit_expect(e.options, "defaults");
	tablines_free(lines);
	e = entry_of("/dev/x /d ext4 \\000x 0 2", &arena, &lines);
	unit_expect(e.options, "defaults");
	CU_ASSERT_EQUAL(e.passno, 2);
	tablines_free(lines);
	arena_destroy(&arena);
}

static int read_one(void *arg)
{
	struct arena arena = {0};
	struct fstab_entry entry;
	fstab_entry_read(&entry, arg, &arena);
	int rc = arena_check(&arena);
	arena_destroy(&arena);
	return rc;
}

UNIT_TEST(no_memory)
{
	static const char text[] = "/dev/x /a/../b ext4 noauto,x-systemd.requires=/c\n";
	struct tablines *lines = tablines_parse(text, strlen(text));
	CU_ASSERT_PTR_NOT_NULL_FATAL(lines);
	fault_each_allocation(read_one, &lines->lines[0], 0);
	tablines_free(lines);
}
