// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owns: column widths, alignment, the split of wide tables. Leaves to others: contents (report/text*.c).
 */
#include "report/table.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

#define GAP 2	    /* between columns */
#define GROUP_GAP 3 /* between groups */

void table_start(struct table *table, int row_count)
{
	memset(table, 0, sizeof(*table));
	table->row_count = row_count < TABLE_MAX_ROWS ? row_count : TABLE_MAX_ROWS;
	table->groups[0] = "";
	table->group_count = 1;
}

void table_group(struct table *table, const char *title)
{
	if (table->group_count < TABLE_MAX_COLUMNS)
		table->groups[table->group_count++] = title;
}

int table_column(struct table *table, const char *title, enum table_align align)
{
	int number = table->column_count < TABLE_MAX_COLUMNS ? table->column_count++ : TABLE_MAX_COLUMNS - 1;
	struct table_column *column = &table->columns[number];

	page_plain(column->title, sizeof(column->title), title);
	column->align = align;
	column->group = table->group_count - 1;
	return number;
}

void table_set(struct table *table, int row, int column, const char *format, ...)
{
	char raw[TABLE_CELL_BYTES];
	va_list arguments;

	if (row >= table->row_count)
		return;
	va_start(arguments, format);
	vsnprintf(raw, sizeof(raw), format, arguments);
	va_end(arguments);
	page_plain(table->cells[row][column], TABLE_CELL_BYTES, raw);
}

static int is_known(const char *cell)
{
	return cell[0] && strcmp(cell, "-") != 0;
}

static void measure_column(struct table *table, int number)
{
	struct table_column *column = &table->columns[number];
	int known = column->group == 0;

	for (int row = 0; row < table->row_count; row++) {
		int columns = page_columns(table->cells[row][number]);

		known |= is_known(table->cells[row][number]);
		column->width = columns > column->width ? columns : column->width;
	}
	if (!known)
		column->width = 0;
	else if (page_columns(column->title) > column->width)
		column->width = page_columns(column->title);
}

/* Columns that a group takes; 0 when all of it is left out. */
static int group_width(const struct table *table, int group)
{
	int width = 0;

	for (int i = 0; i < table->column_count; i++) {
		if (table->columns[i].group == group && table->columns[i].width > 0)
			width += (width ? GAP : 0) + table->columns[i].width;
	}
	return width;
}

static void measure_groups(struct table *table)
{
	for (int i = 0; i < table->column_count; i++)
		measure_column(table, i);
	for (int group = 1; group < table->group_count; group++) {
		int width = group_width(table, group), missing = page_columns(table->groups[group]) - width;

		for (int i = 0; width > 0 && missing > 0 && i < table->column_count; i++) {
			if (table->columns[i].group != group || table->columns[i].width == 0)
				continue;
			table->columns[i].width += missing;
			break;
		}
	}
}

static void append_repeated(char *line, size_t size, char mark, int count)
{
	size_t used = strlen(line);

	while (count-- > 0 && used + 1 < size)
		line[used++] = mark;
	line[used] = '\0';
}

static void append_cell(char *line, size_t size, const char *text, int width, enum table_align align)
{
	int padding = width - page_columns(text);

	if (align == TABLE_RIGHT)
		append_repeated(line, size, ' ', padding);
	strncat(line, text, size - strlen(line) - 1);
	if (align == TABLE_LEFT)
		append_repeated(line, size, ' ', padding);
}

/* "---- title ----" over the columns of a group. */
static void append_group_title(char *line, size_t size, const char *title, int width)
{
	int room = width - page_columns(title) - 2, left = room / 2;

	if (!title[0] || room < 2) {
		append_cell(line, size, title, width, TABLE_RIGHT);
		return;
	}
	append_repeated(line, size, '-', left);
	append_repeated(line, size, ' ', 1);
	append_cell(line, size, title, page_columns(title), TABLE_LEFT);
	append_repeated(line, size, ' ', 1);
	append_repeated(line, size, '-', room - left);
}

static void print_line(const struct page *page, char *line, enum page_ink ink)
{
	size_t length = strlen(line);

	while (length > 0 && line[length - 1] == ' ')
		line[--length] = '\0';
	if (ink != INK_PLAIN)
		page_ink(page, ink);
	fputs(line, page->stream);
	if (ink != INK_PLAIN)
		page_ink(page, INK_PLAIN);
	fputc('\n', page->stream);
}

/* Row -2: group titles, -1: column titles, 0…: cells. Groups 0 and first…last. */
static void print_row(const struct page *page, const struct table *table, int row, int first, int last)
{
	char line[TABLE_MAX_COLUMNS * TABLE_CELL_BYTES] = "";
	int group = -1;

	for (int i = 0; i < table->column_count; i++) {
		const struct table_column *column = &table->columns[i];
		const char *text = row < 0 ? column->title : table->cells[row][i];

		if (column->width == 0 || (column->group != 0 && (column->group < first || column->group > last)))
			continue;
		if (column->group != group && row == -2) {
			append_repeated(line, sizeof(line), ' ', group < 0 ? 0 : GROUP_GAP);
			append_group_title(line, sizeof(line), table->groups[column->group],
					   group_width(table, column->group));
		} else if (row != -2) {
			append_repeated(line, sizeof(line), ' ',
					group < 0		 ? 0
					: column->group != group ? GROUP_GAP
								 : GAP);
			if (row >= 0 && !text[0] && column->group != 0)
				text = "-";
			append_cell(line, sizeof(line), text, column->width, column->align);
		}
		group = column->group;
	}
	print_line(page, line, row < 0 ? INK_DIM : table->inks[row]);
}

static void print_band(const struct page *page, const struct table *table, int first, int last)
{
	int titles = 0;

	for (int group = first; group <= last; group++)
		titles |= table->groups[group][0] && group_width(table, group) > 0;
	if (titles)
		print_row(page, table, -2, first, last);
	for (int row = -1; row < table->row_count; row++)
		print_row(page, table, row, first, last);
}

void table_print(const struct page *page, struct table *table)
{
	int key_width, first = 1;

	measure_groups(table);
	key_width = group_width(table, 0);
	while (first < table->group_count) {
		int used = key_width, last = first - 1;

		while (last + 1 < table->group_count) {
			int width = group_width(table, last + 1);

			if (width > 0 && last >= first && used + GROUP_GAP + width > page->width)
				break;
			used += width > 0 ? GROUP_GAP + width : 0;
			last++;
		}
		if (first > 1)
			fputc('\n', page->stream);
		if (used > key_width || first == 1)
			print_band(page, table, first, last);
		first = last + 1;
	}
}

static double largest(const struct table *table, const double *values)
{
	double most = 0;

	for (int row = 0; row < table->row_count; row++) {
		if (isfinite(values[row]) && fabs(values[row]) > most)
			most = fabs(values[row]);
	}
	return most;
}

/* What rounds to nothing has no sign. */
static void set_number(struct table *table, int row, int column, double value, int decimals)
{
	if (isfinite(value))
		table_set(table, row, column, "%.*f", decimals, fabs(value) < 0.5 * pow(10, -decimals) ? 0.0 : value);
}

static void scaled_column(struct table *table, const char *title, const double *values, double unit, int decimals)
{
	int column = table_column(table, title, TABLE_RIGHT);

	for (int row = 0; row < table->row_count; row++)
		set_number(table, row, column, values[row] / unit, decimals);
}

void table_numbers(struct table *table, const char *title, const double *values, int decimals)
{
	scaled_column(table, title, values, 1, decimals);
}

void table_rates(struct table *table, const double *pps, const double *unit_of)
{
	double most = largest(table, unit_of ? unit_of : pps);

	if (most >= 1e6)
		scaled_column(table, "Mpps", pps, 1e6, 3);
	else if (most >= 1e3)
		scaled_column(table, "kpps", pps, 1e3, most >= 1e5 ? 1 : 2);
	else
		scaled_column(table, "pps", pps, 1, 1);
}

void table_gbps(struct table *table, const double *gbps)
{
	double most = largest(table, gbps);

	if (most >= 1)
		scaled_column(table, "Gbit/s", gbps, 1, most >= 100 ? 1 : 2);
	else
		scaled_column(table, "Mbit/s", gbps, 1e-3, 1);
}

void table_us(struct table *table, const char *title, const double *ns, const double *bounds_ns)
{
	int column = table_column(table, title, TABLE_RIGHT);
	int decimals = largest(table, ns) < 1e5 ? 2 : 1;

	for (int row = 0; row < table->row_count; row++) {
		double bound_ns = bounds_ns && isfinite(ns[row]) && bounds_ns[row] > 0 ? bounds_ns[row] : 0;

		if (bound_ns > fabs(ns[row])) /* what it is said to be, and what that can be too low by */
			table_set(table, row, column, "<%.*f", decimals, (fmax(ns[row], 0) + bound_ns) / 1e3);
		else if (bound_ns > 0)
			table_set(table, row, column, "%.*f +-%.*f", decimals, ns[row] / 1e3, decimals, bound_ns / 1e3);
		else
			set_number(table, row, column, ns[row] / 1e3, decimals);
	}
}

void table_bars(struct table *table, const double *values, int length)
{
	int column = table_column(table, "", TABLE_LEFT);
	double most = largest(table, values);
	char bar[TABLE_CELL_BYTES];

	memset(bar, '#', sizeof(bar));
	for (int row = 0; row < table->row_count; row++) {
		int marks;

		if (!isfinite(values[row]) || values[row] <= 0)
			continue;
		marks = (int)lround(values[row] / most * length);
		table_set(table, row, column, "%.*s", marks > 0 ? marks : 1, bar);
	}
}
