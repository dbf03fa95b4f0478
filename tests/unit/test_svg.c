/* SPDX-License-Identifier: MIT */
/* The picture of getmnt index report --svg: rectangles that fit, names that are harmless. */
#include "unit.h"

#include "cmd/index/svg.h"

struct box {
	double x, y, w, h;
};

/** The n-th rectangle of a class that begins with a letter.
    @title [out]  Where its title begins. */
static bool rect_at(const char *svg, char letter, size_t n, struct box *box, const char **title)
{
	char start[] = "<rect class=\"?";
	start[sizeof(start) - 2] = letter;
	for (const char *at = svg; (at = strstr(at, start)); ++at) {
		if (n-- > 0)
			continue;
		const char *x = strstr(at, " x=\"");
		CU_ASSERT_PTR_NOT_NULL_FATAL(x);
		CU_ASSERT_EQUAL_FATAL(sscanf(x, " x=\"%lf\" y=\"%lf\" width=\"%lf\" height=\"%lf\"",
		                             &box->x, &box->y, &box->w, &box->h), 4);
		*title = strstr(at, "<title>") + strlen("<title>");
		return true;
	}
	return false;
}

static bool within(const struct box *in, const struct box *out)
{
	const double e = 0.15;   /* numbers have one decimal */
	return in->x >= out->x - e && in->y >= out->y - e && in->x + in->w <= out->x + out->w + e
	       && in->y + in->h <= out->y + out->h + e;
}

static bool apart(const struct box *a, const struct box *b)
{
	const double e = 0.15;
	return a->x + a->w <= b->x + e || b->x + b->w <= a->x + e || a->y + a->h <= b->y + e
	       || b->y + b->h <= a->y + e;
}

#define DIR(text, bytes) {.path = text, .sum = {.size = bytes, .count = 1}}

UNIT_TEST(rectangles)
{
	/* As usage_rows() orders them. */
	const struct usage_row dirs[] = {
		DIR("/a/x", 300), DIR("/a/y/z", 100), DIR("/a/y", 200), DIR("/a", 600),
		DIR("/ab", 250), DIR("/b/none", 0), DIR("/b", 90), DIR("/", 1000),
	};
	const struct svg_bar bars[] = {
		{"1 day", {.size = 900, .count = 7}}, {"older", {.size = 100, .count = 1}},
	};
	STRBUF(svg);
	STRBUF(again);
	CU_ASSERT_EQUAL_FATAL(svg_report(&svg, dirs, COUNT(dirs), bars, COUNT(bars)), 0);
	CU_ASSERT_EQUAL_FATAL(svg_report(&again, dirs, COUNT(dirs), bars, COUNT(bars)), 0);
	CU_ASSERT_STRING_EQUAL(svg.data, again.data);
	struct box boxes[COUNT(dirs)], root;
	const char *title;
	CU_ASSERT_FALSE(rect_at(svg.data, 'c', COUNT(dirs), &root, &title));
	for (size_t i = 0; i < COUNT(dirs); ++i) {
		bool found = false;
		for (size_t k = 0; k < COUNT(dirs) && !found; ++k) {
			size_t n = strlen(dirs[i].path);
			CU_ASSERT_TRUE_FATAL(rect_at(svg.data, 'c', k, &boxes[i], &title));
			found = strncmp(title, dirs[i].path, n) == 0 && title[n] == '\n';
		}
		CU_ASSERT_TRUE(found);
	}
	root = boxes[COUNT(dirs) - 1];
	/* The areas of siblings are in proportion; the root is drawn whole. */
	const double a = boxes[3].w * boxes[3].h, ab = boxes[4].w * boxes[4].h;
	CU_ASSERT_DOUBLE_EQUAL(a / ab, 600.0 / 250, 0.05);
	CU_ASSERT_EQUAL(root.w, 1200);
	for (size_t i = 0; i < COUNT(dirs); ++i) {
		for (size_t k = 0; k < COUNT(dirs); ++k) {
			const char *in = dirs[i].path, *out = dirs[k].path;
			size_t n = strlen(out) - (out[1] == '\0');
			bool below = i != k && strncmp(in, out, n) == 0 && in[n] == '/';
			bool above = i != k && strncmp(out, in, strlen(in) - (in[1] == '\0')) == 0
			             && out[strlen(in) - (in[1] == '\0')] == '/';
			if (below)
				CU_ASSERT_TRUE(within(&boxes[i], &boxes[k]));
			if (i != k && !below && !above)
				CU_ASSERT_TRUE(apart(&boxes[i], &boxes[k]));
		}
	}
	struct box day, older;
	CU_ASSERT_TRUE_FATAL(rect_at(svg.data, 'b', 0, &day, &title));
	CU_ASSERT_TRUE_FATAL(rect_at(svg.data, 'b', 1, &older, &title));
	CU_ASSERT_DOUBLE_EQUAL(day.w, 9 * older.w, 0.5);
}

UNIT_TEST(names)
{
	const struct usage_row dirs[] = {
		DIR("r/<&\">", 10), DIR("r/\x1b[31m\xff\xe2\x80\xae", 10),
		DIR("r/much too long for the rectangle that it has \xc3\xa9\xc3\xa9", 1),
		DIR("r", 2000),
	};
	STRBUF(svg);
	CU_ASSERT_EQUAL_FATAL(svg_report(&svg, dirs, COUNT(dirs), NULL, 0), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(svg.data, "<title>r/&lt;&amp;&quot;&gt;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(svg.data, "<title>r/\\x1b[31m\\xff\\u202e\n"));
	CU_ASSERT_PTR_NULL(strchr(svg.data, 0x1b));
	CU_ASSERT_PTR_NULL(strchr(svg.data, '\xff'));
}

UNIT_TEST(nothing)
{
	STRBUF(svg);
	const struct usage_row dirs[] = {DIR("/", 0)};
	CU_ASSERT_EQUAL(svg_report(&svg, NULL, 0, NULL, 0), 0);
	CU_ASSERT_EQUAL(svg_report(&svg, dirs, 1, NULL, 0), 0);
	CU_ASSERT_PTR_NULL(strstr(svg.data, "nan"));
	CU_ASSERT_PTR_NULL(strstr(svg.data, "inf"));
}
