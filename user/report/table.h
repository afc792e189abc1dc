/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * An aligned table: columns in groups, widths by content.
 *
 * A column of which no cell is known is left out. A table that is wider than the page goes on below: groups are never
 * parted, and the key columns are printed again in front.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include "model/run.h"
#include "report/page.h"

#define TABLE_MAX_ROWS 16
#define TABLE_MAX_COLUMNS 28
#define TABLE_CELL_BYTES 144

enum table_align { TABLE_LEFT, TABLE_RIGHT };

struct table_column {
	char title[32];
	enum table_align align;
	int group;
	int width; /* 0: left out */
};

struct table {
	int row_count, column_count, group_count;
	const char *groups[TABLE_MAX_COLUMNS]; /* titles; group 0 holds the key columns */
	struct table_column columns[TABLE_MAX_COLUMNS];
	char cells[TABLE_MAX_ROWS][TABLE_MAX_COLUMNS][TABLE_CELL_BYTES];
	enum page_ink inks[TABLE_MAX_ROWS];
};

_Static_assert(TABLE_MAX_ROWS > RUN_MAX_HOPS && TABLE_MAX_ROWS > RUN_MAX_SIZES, "rows of the tables of a run");

/* Starts a table whose first columns are the keys. */
void table_start(struct table *table, int row_count);
/* The next columns belong together under this title (may be ""). The text must outlive the table. */
void table_group(struct table *table, const char *title);
int table_column(struct table *table, const char *title, enum table_align align);
/* Fills a cell; cells that are not filled are not known. */
void table_set(struct table *table, int row, int column, const char *format, ...) __attribute__((format(printf, 4, 5)));
void table_print(const struct page *page, struct table *table);

/* Columns of numbers, one per row, all in one unit; what is not finite is not known. */
void table_numbers(struct table *table, const char *title, const double *values, int decimals);
/* Frames per second, as title "Mpps", "kpps" or "pps": in the unit that suits the largest, of unit_of[] when it is
 * given. */
void table_rates(struct table *table, const double *pps, const double *unit_of);
/* Layer 2, as title "Gbit/s" or "Mbit/s". */
void table_gbps(struct table *table, const double *gbps);
/* Microseconds from nanoseconds, "12.30 +-0.45" where bounds_ns[row] (may be NULL) is above 0; what lies below its bound is not resolved, and
 * only the most that it can be is printed: "<0.71". */
void table_us(struct table *table, const char *title, const double *ns, const double *bounds_ns);
/* Bars relative to the largest. */
void table_bars(struct table *table, const double *values, int length);

#endif
