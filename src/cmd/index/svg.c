/* SPDX-License-Identifier: MIT */
/*
 * The treemap is squarified (Bruls, Huizing and van Wijk, 2000).  The parts of a rectangle are laid
 * in rows along the shorter side of the rectangle, the largest part first.  Parts are added to a
 * row while this improves the worst aspect ratio in the row.  The files of the directory itself are
 * one more part, which stays empty.
 */
#include "cmd/index/svg.h"

#include "base/array.h"
#include "base/escape.h"
#include "cmd/column.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	WIDTH = 1200, MAP_HEIGHT = 720, TOP = 24,
	HEAD = 16,                /* height of the title above the parts of a rectangle */
	LETTER = 7,               /* approximate width of a letter */
	BAR_ROW = 24, BAR_LEFT = 110, BAR_WIDTH = 800,
	COLORS = 8,
	NO_NODE = -1,
};

struct box {
	double x, y, w, h;
};

/** A directory.  In map.nodes, the directories below this directory follow it. */
struct node {
	const struct usage_row *row;
	size_t len;               /* length of the path without a trailing slash */
	size_t end;               /* index after the last node below this directory */
	unsigned depth;
	int color;
	struct box box;
};

/** A part of a rectangle. */
struct part {
	uint64_t size;
	int node;                 /* NO_NODE: the files of the directory itself */
};

struct map {
	struct strbuf *out;
	struct node *nodes;
	size_t n;
	struct part *parts;       /* scratch for one node, sorted */
	struct strbuf text;
};

static void put_xml(struct strbuf *out, const char *text)
{
	static const char special[] = "&<>\"";
	static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
	for (; *text; ++text) {
		const char *is = strchr(special, *text);
		if (is)
			strbuf_puts(out, names[is - special]);
		else
			strbuf_putc(out, *text);
	}
}

static void put_rect(struct strbuf *out, const struct box *box, const char *class)
{
	strbuf_printf(out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" "
	              "height=\"%.1f\">", class, box->x, box->y, box->w, box->h);
}

/** Append a size and a number of objects: "1.5G, 12 objects". */
static void put_sum(struct strbuf *out, const struct usage_sum *sum)
{
	column_size(out, sum->size);
	strbuf_puts(out, ", ");
	strbuf_number(out, sum->count);
	strbuf_puts(out, sum->count == 1 ? " object" : " objects");
}

/** Write a name at (x, y), truncated to a width in pixels. */
static void put_label(struct map *map, const char *name, double x, double y, double width)
{
	long room = (long)(width / LETTER);
	if (room < 3)
		return;
	strbuf_reset(&map->text);
	escape_terminal(&map->text, name);
	const char *text = strbuf_str(&map->text), *end = text, *cut = text;
	long letters = 0;
	for (; *end; end += utf8_len(end)) {
		cut = ++letters < room ? end + utf8_len(end) : cut;
	}
	strbuf_printf(map->out, "<text x=\"%.1f\" y=\"%.1f\">", x, y);
	if (letters > room) {
		map->text.data[cut - text] = '\0';
		put_xml(map->out, text);
		strbuf_puts(map->out, "\xe2\x80\xa6");
	} else {
		put_xml(map->out, text);
	}
	strbuf_puts(map->out, "</text>\n");
}

/** Get the worst aspect ratio in a row of parts.
    @least, most, sum  The smallest, the largest, and all areas of the parts.
    @side  Length of the side along which the row is laid. */
static double worst(double least, double most, double sum, double side)
{
	double a = side * side * most / (sum * sum), b = sum * sum / (side * side * least);
	return a > b ? a : b;
}

/** Lay n parts, largest first, into a rectangle. */
static void squarify(struct map *map, const struct part *parts, size_t n, struct box box)
{
	double total = 0;
	for (size_t i = 0; i < n; ++i)
		total += (double)parts[i].size;
	const double scale = total > 0 ? box.w * box.h / total : 0;
	for (size_t i = 0, end; i < n; i = end) {
		const double side = box.w < box.h ? box.w : box.h;
		const double most = (double)parts[i].size * scale;
		double sum = most;
		/* If the parts or the rectangle have no area, the remaining parts become rectangles
		   of size 0. */
		end = most > 0 && side > 0 ? i + 1 : n;
		for (double best = worst(most, most, sum, side); end < n; ++end) {
			double area = (double)parts[end].size * scale, next;
			if (area <= 0 || (next = worst(area, most, sum + area, side)) > best)
				break;
			best = next;
			sum += area;
		}
		const bool upright = box.w >= box.h;   /* the row is vertical */
		const double thick = side > 0 ? sum / side : 0;
		double along = 0;
		for (size_t k = i; k < end; ++k) {
			double len = thick > 0 ? (double)parts[k].size * scale / thick : 0;
			if (parts[k].node != NO_NODE)
				map->nodes[parts[k].node].box = upright
					? (struct box){box.x, box.y + along, thick, len}
					: (struct box){box.x + along, box.y, len, thick};
			along += len;
		}
		if (upright) {
			box.x += thick;
			box.w = greater(box.w - thick, 0);
		} else {
			box.y += thick;
			box.h = greater(box.h - thick, 0);
		}
	}
}

static int by_size(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	if (a->size != b->size)
		return a->size < b->size ? 1 : -1;
	return a->node < b->node ? -1 : a->node > b->node;
}

/** Lay out directories in a rectangle: of the nodes `from` to `end` - 1, those whose parent is not
    among these nodes.
    @above  The parent of the directories; NULL: none. */
static void lay_parts(struct map *map, const struct node *above, size_t from, size_t end,
                      struct box box)
{
	uint64_t rest = above ? above->row->sum.size : 0;
	size_t n = 0;
	for (size_t i = from; i < end; i = map->nodes[i].end) {
		uint64_t size = map->nodes[i].row->sum.size;
		map->parts[n++] = (struct part){size, (int)i};
		rest -= size < rest ? size : rest;
	}
	if (rest > 0)
		map->parts[n++] = (struct part){rest, NO_NODE};
	qsort(map->parts, n, sizeof(*map->parts), by_size);
	squarify(map, map->parts, n, box);
	for (size_t i = 0; i < n; ++i) {
		if (map->parts[i].node != NO_NODE)
			map->nodes[map->parts[i].node].color
				= above && above->depth > 0 ? above->color : (int)(i % COLORS);
	}
}

/** Draw the rectangle of a directory, and lay out its subdirectories inside the rectangle. */
static void draw_node(struct map *map, size_t i)
{
	struct node *node = &map->nodes[i];
	const struct box *box = &node->box;
	const char *slash = strrchr(node->row->path, '/');
	const char *name = node->depth == 0 || !slash ? node->row->path : slash + 1;
	char class[16];
	snprintf(class, sizeof(class), "c%d", node->depth == 0 ? COLORS : node->color);
	put_rect(map->out, box, class);
	strbuf_puts(map->out, "<title>");
	strbuf_reset(&map->text);
	escape_terminal(&map->text, node->row->path);
	put_xml(map->out, strbuf_str(&map->text));
	strbuf_putc(map->out, '\n');
	put_sum(map->out, &node->row->sum);
	strbuf_puts(map->out, "</title></rect>\n");
	const double edge = box->w > 12 && box->h > 12 ? 2 : 0;
	const double head = box->h > 3 * HEAD ? HEAD : edge;
	/* Write the name only where no part will cover it. */
	if (box->h >= HEAD && (head == HEAD || node->end == i + 1))
		put_label(map, name, box->x + 3, box->y + HEAD - 4, box->w - 6);
	lay_parts(map, node, i + 1, node->end, (struct box){
		box->x + edge, box->y + head, box->w - 2 * edge, box->h - head - edge,
	});
}

/** Whether the directory of a row is below the directory of a node. */
static bool is_below(const struct usage_row *row, const struct node *above)
{
	const char *path = above->row->path;
	return row->root == above->row->root && strncmp(row->path, path, above->len) == 0
	       && row->path[above->len] == '/' && strcmp(row->path, path) != 0;
}

/** Make nodes from the rows, from the last row to the first: in the rows, directories follow the
    directories that they contain.
    @above  Scratch for the indexes of the directories above a node. */
static void make_nodes(struct map *map, const struct usage_row *dirs, size_t *above)
{
	size_t depth = 0;
	for (size_t i = 0; i < map->n; ++i) {
		struct node *node = &map->nodes[i];
		node->row = &dirs[map->n - 1 - i];
		node->len = strlen(node->row->path);
		node->len -= node->len > 0 && node->row->path[node->len - 1] == '/';
		while (depth > 0 && !is_below(node->row, &map->nodes[above[depth - 1]]))
			map->nodes[above[--depth]].end = i;
		node->depth = (unsigned)depth;
		above[depth++] = i;
	}
	while (depth > 0)
		map->nodes[above[--depth]].end = map->n;
}

static void put_bars(struct map *map, const struct svg_bar *bars, size_t n)
{
	uint64_t most = 1;
	for (size_t i = 0; i < n; ++i)
		most = bars[i].sum.size > most ? bars[i].sum.size : most;
	for (size_t i = 0; i < n; ++i) {
		const struct usage_sum *sum = &bars[i].sum;
		const double y = TOP + MAP_HEIGHT + TOP + (double)i * BAR_ROW;
		const struct box box = {
			BAR_LEFT, y, (double)sum->size / (double)most * BAR_WIDTH, BAR_ROW - 6,
		};
		put_label(map, bars[i].label, 3, y + HEAD - 3, BAR_LEFT);
		put_rect(map->out, &box, "bar");
		strbuf_puts(map->out, "</rect>\n");
		strbuf_printf(map->out, "<text x=\"%.1f\" y=\"%.1f\">", box.x + box.w + 6,
		              y + HEAD - 3);
		put_sum(map->out, sum);
		strbuf_puts(map->out, "</text>\n");
	}
}

int svg_report(struct strbuf *out, const struct usage_row *dirs, size_t ndirs,
               const struct svg_bar *bars, size_t nbars)
{
	/* Even color-blind people can distinguish these colors (Okabe and Ito); the last color is
	   for roots. */
	static const char *const colors[COLORS + 1] = {
		"#56b4e9", "#e69f00", "#009e73", "#f0e442", "#0072b2", "#d55e00", "#cc79a7",
		"#999999", "#eeeeee",
	};
	struct map map = {
		.out = out, .n = ndirs, .nodes = calloc(ndirs + 1, sizeof(*map.nodes)),
		.parts = calloc(ndirs + 1, sizeof(*map.parts)),
	};
	size_t *above = calloc(ndirs + 1, sizeof(*above));
	int rc = -1;
	const int height = TOP + MAP_HEIGHT + TOP + (int)nbars * BAR_ROW;
	if (!map.nodes || !map.parts || !above)
		goto out;
	strbuf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
	              "width=\"%d\" height=\"%d\">\n<style>\n"
	              "text { font: 12px sans-serif; pointer-events: none }\n"
	              "rect { stroke: #fff; fill-opacity: .6 }\n.bar { fill: #0072b2 }\n", WIDTH,
	              height, WIDTH, height);
	for (int i = 0; i <= COLORS; ++i)
		strbuf_printf(out, ".c%d { fill: %s }\n", i, colors[i]);
	strbuf_puts(out, "</style>\n<text x=\"3\" y=\"16\">Disk space by directory; below: by time "
	            "since the last change</text>\n");
	make_nodes(&map, dirs, above);
	lay_parts(&map, NULL, 0, ndirs, (struct box){0, TOP, WIDTH, MAP_HEIGHT});
	for (size_t i = 0; i < ndirs; ++i)
		draw_node(&map, i);
	put_bars(&map, bars, nbars);
	strbuf_puts(out, "</svg>\n");
	rc = out->failed || map.text.failed ? -1 : 0;
out:
	free(map.nodes);
	free(map.parts);
	free(above);
	strbuf_destroy(&map.text);
	errno = ENOMEM;
	return rc;
}
