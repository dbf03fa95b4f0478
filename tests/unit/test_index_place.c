/* SPDX-License-Identifier: MIT */
/* Which mounts of a recorded table get an index, and the names of indexes. */
#include "unit.h"

#include "cases.h"
#include "discover/discover.h"
#include "index/store/place.h"

/** Choose for the mounts of a discovery, and append a line for each. */
static void choose(const struct discovery *d, struct strbuf *out)
{
	struct place places[64] = {0};
	const size_t n = d->tree.count;
	CU_ASSERT_FATAL(n <= COUNT(places));
	for (size_t i = 0; i < n; ++i) {
		const struct mt_node *node = &d->tree.nodes[i];
		places[i].mount = node->mount;
		places[i].hidden = node->states & (1u << MT_HIDDEN | 1u << MT_OUTSIDE);
	}
	index_choose(places, n);
	for (size_t i = 0; i < n; ++i) {
		const struct place *place = &places[i];
		const char *why = index_why(place->why);
		strbuf_printf(out, "%s: %s", place->mount->point, why ? why : "index");
		if (place->why == PLACE_SAME || place->why == PLACE_LAYERS) {
			CU_ASSERT_EQUAL(places[place->of].why, PLACE_INDEX);
			strbuf_printf(out, " (%s)", places[place->of].mount->point);
		}
		strbuf_putc(out, '\n');
	}
}

UNIT_TEST(choose)
{
	struct unit_case c;
	size_t n = 0;
	while (unit_case("tests/fixtures/index-places", &c)) {
		STRBUF(got);
		CU_ASSERT_EQUAL_FATAL(c.count, 2);
		unit_note("%s", c.name);
		struct discovery *d = unit_discover(c.parts[0].text);
		choose(d, &got);
		unit_expect(strbuf_str(&got), c.parts[1].text);
		unit_discovery_free(d);
		++n;
	}
	CU_ASSERT_EQUAL(n, 11);
}

/** What the table does not say decides as well, but not about the root directory. */
UNIT_TEST(facts)
{
	struct mount root = {.key = 1, .dev_major = 8, .root = "/", .point = "/", .fstype = "ext4"};
	struct mount data = root;
	data.dev_minor = 1;
	data.point = "/data";
	struct place places[2] = {{.mount = &root}, {.mount = &data}};
	struct {
		bool *fact;
		enum place_why why, of_root;
	} const rows[] = {
		{&places[1].hidden, PLACE_HIDDEN, PLACE_INDEX},
		{&places[1].blocks, PLACE_BLOCKS, PLACE_INDEX},
		{&places[1].removable, PLACE_REMOVABLE, PLACE_INDEX},
		{&places[1].snapshot, PLACE_SNAPSHOT, PLACE_INDEX},
		{&places[1].file, PLACE_FILE, PLACE_INDEX},
	};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		*rows[i].fact = true;
		index_choose(places, 2);
		CU_ASSERT_EQUAL(places[1].why, rows[i].why);
		*rows[i].fact = false;
	}
	places[0].removable = places[0].blocks = places[0].snapshot = true;
	index_choose(places, 2);
	CU_ASSERT_EQUAL(places[0].why, PLACE_INDEX);
	CU_ASSERT_EQUAL(places[1].why, PLACE_INDEX);
}

/** Two file systems with one UUID, whichever comes first and however often they are mounted. */
UNIT_TEST(twins)
{
	const struct {
		unsigned minor;
		const char *uuid;
		enum place_why why;
		size_t of;
	} rows[] = {
		{1, "a", PLACE_TWIN, 3}, {1, "a", PLACE_TWIN, 3}, {2, "b", PLACE_INDEX, 2},
		{3, "a", PLACE_TWIN, 0}, {1, "a", PLACE_TWIN, 3}, {2, "b", PLACE_SAME, 2},
		{4, "", PLACE_NAMELESS, 6}, {5, NULL, PLACE_INDEX, 7}, {6, NULL, PLACE_INDEX, 8},
		{7, "a", PLACE_TWIN, 0},
	};
	struct mount mounts[COUNT(rows)];
	struct place places[COUNT(rows)] = {0};
	for (size_t i = 0; i < COUNT(rows); ++i) {
		mounts[i] = (struct mount){.key = 1, .dev_major = 8, .root = "/", .fstype = "ext4",
		                           .dev_minor = rows[i].minor,
		                           .point = i == 5 ? "/aa" : "/a"};
		places[i].mount = &mounts[i];
		places[i].uuid = rows[i].uuid;
	}
	index_choose(places, COUNT(rows));
	CU_ASSERT_EQUAL(index_choose_named(places, COUNT(rows)), 0);
	for (size_t i = 0; i < COUNT(rows); ++i) {
		unit_note("%zu", i);
		CU_ASSERT_EQUAL(places[i].why, rows[i].why);
		CU_ASSERT_EQUAL(places[i].of, rows[i].of);
	}
}

UNIT_TEST(names)
{
	struct os os = unit_os();
	struct mount m = {.dev_major = 0, .dev_minor = 25};
	char uuid[INDEX_UUID];
	index_place_uuid(&os, -1, &m, NULL, uuid);
	unit_expect(uuid, "");
	index_place_uuid(&os, -1, &m, "", uuid);
	unit_expect(uuid, "");
	index_place_uuid(&os, -1, &m, "AB12-../x", uuid);
	unit_expect(uuid, "AB12-___x");
	STRBUF(name);
	index_place_name("AB12", "/", &name);
	unit_expect(strbuf_str(&name), "AB12");
	/* The names are in a directory: they must not change. */
	strbuf_reset(&name);
	index_place_name("AB12", "/@home", &name);
	unit_expect(strbuf_str(&name), "AB12.a2118e4083d53491");
}

/** The directory is made with its parents, for its owner alone. */
UNIT_TEST(open)
{
	struct os os = unit_os();
	char top[] = "/tmp/getmnt-place-XXXXXX", given[64];
	STRBUF(path);
	struct stat st;
	CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(top));
	snprintf(given, sizeof(given), "%s/a/b", top);
	CU_ASSERT_EQUAL(index_place_open(&os, given, false, &path), -1);
	CU_ASSERT_EQUAL(errno, ENOENT);
	strbuf_reset(&path);
	int fd = index_place_open(&os, given, true, &path);
	CU_ASSERT_FATAL(fd >= 0);
	unit_expect(strbuf_str(&path), given);
	CU_ASSERT_EQUAL(fstat(fd, &st), 0);
	CU_ASSERT_EQUAL(st.st_mode & 07777, 0700);
	close(fd);
	CU_ASSERT_EQUAL(rmdir(given), 0);
	setenv("XDG_CACHE_HOME", given, 1);
	if (geteuid() != 0) {
		strbuf_reset(&path);
		fd = index_place_open(&os, NULL, true, &path);
		CU_ASSERT(fd >= 0);
		close(fd);
		CU_ASSERT_PTR_NOT_NULL(strstr(strbuf_str(&path), "/a/b/getmnt/index"));
	}
	char *remove = NULL;
	CU_ASSERT(asprintf(&remove, "rm -r %s", top) > 0 && system(remove) == 0);
	free(remove);
}
