// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A path and a tree of links as text; see path_text.h. Owns: the looks. Whatever the model says passes through page_plain(): names come
 * from saved facts of anybody.
 */
#include "report/path_text.h"

#include <stdio.h>
#include <string.h>

#include "report/page.h"

#define DEFAULT_WIDTH 100
#define MIN_WIDTH 40
#define MAX_WIDTH 400
#define NAME_WIDTH_MAX 40 /* a longer name pushes its row to the right */

static struct page start_page(FILE *stream, const struct report_style *style)
{
	struct page page = { .stream = stream, .width = DEFAULT_WIDTH };

	if (style && style->width > 0)
		page.width = style->width < MIN_WIDTH ? MIN_WIDTH : style->width > MAX_WIDTH ? MAX_WIDTH : style->width;
	page.colour = style && style->colour;
	return page;
}

static enum page_ink ink_of(const struct facts_path_hop *hop)
{
	return hop->kind == FACTS_HOP_CUT ? INK_ALARM : hop->kind == FACTS_HOP_OPAQUE ? INK_BOLD : INK_PLAIN;
}

static void print_point(const struct page *page, const struct facts_path_point *point)
{
	char text[128];

	page_plain(text, sizeof(text), point->text);
	fprintf(page->stream, "  %-3s  %s%s\n", point->ifindex ? point->is_out ? "out" : "in" : "", text,
		!point->ifindex		  ? ""
		: point->is_inside_tunnel ? "   (inside the tunnel: not for run)"
					  : "");
}

static void print_hop(const struct page *page, const struct facts_path_hop *hop, int index)
{
	const char *prefix = hop->kind == FACTS_HOP_CUT ? "CUT: " : hop->kind == FACTS_HOP_OPAQUE ? "opaque: " : "";
	char label[16];

	snprintf(label, sizeof(label), "    %3d", index);
	page_ink(page, ink_of(hop));
	page_paragraph(page, 9, label, "%s%s%s%s", prefix, hop->name[0] ? hop->name : facts_hop_kind_name(hop->kind),
		       hop->note[0] ? ": " : "", hop->note);
	page_ink(page, INK_PLAIN);
}

void report_path(const struct facts_path *path, FILE *stream, const struct report_style *style)
{
	struct page page = start_page(stream, style);

	for (int i = 0; i < path->point_count; i++) {
		print_point(&page, &path->points[i]);
		if (i + 1 < path->point_count)
			print_hop(&page, &path->hops[i], i + 1);
	}
	if (path->way_count > 1)
		page_paragraph(&page, 0, "", "%d ways are equally good; this is the first of them.", path->way_count);
	if (path->is_complete)
		return;
	page_ink(&page, INK_ALARM);
	page_paragraph(&page, 12, "incomplete", "%s", path->why_incomplete);
	page_ink(&page, INK_PLAIN);
}

static int name_width(const struct facts_tree *tree)
{
	int width = 0;

	for (int i = 0; i < tree->count; i++) {
		char name[128];
		int columns;

		page_plain(name, sizeof(name), tree->rows[i].name);
		columns = 2 * tree->rows[i].depth + page_columns(name);
		if (tree->rows[i].depth && columns > width)
			width = columns;
	}
	return width < NAME_WIDTH_MAX ? width : NAME_WIDTH_MAX;
}

static void print_row(const struct page *page, const struct facts_tree_row *row, int width)
{
	char name[128], kind[64], detail[512];
	int indent = 2 * row->depth;

	page_plain(name, sizeof(name), row->name);
	page_plain(kind, sizeof(kind), row->kind);
	page_plain(detail, sizeof(detail), row->detail);
	page_ink(page, row->is_trouble ? INK_ALARM : row->depth ? INK_PLAIN : INK_BOLD);
	if (row->depth)
		fprintf(page->stream, "%*s%s%*s  %-11s%s%s", indent, "", name,
			width > indent + page_columns(name) ? width - indent - page_columns(name) : 0, "", kind,
			detail[0] ? "  " : "", detail);
	else
		fprintf(page->stream, "%s%s%s", name, detail[0] ? "  " : "", detail);
	page_ink(page, INK_PLAIN);
	fputc('\n', page->stream);
}

void report_tree(const struct facts_tree *tree, FILE *stream, const struct report_style *style)
{
	struct page page = start_page(stream, style);
	int width = name_width(tree);

	for (int i = 0; i < tree->count; i++) {
		if (i && !tree->rows[i].depth)
			fputc('\n', stream);
		print_row(&page, &tree->rows[i], width);
	}
}
