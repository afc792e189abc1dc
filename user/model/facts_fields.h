/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What facts consist of: one row for each member of each struct of model/facts.h.
 *
 * Owns: names, kinds, ranges and the value that means "unknown". Read by creation and freeing (facts.c), and by the writer and the
 * reader of JSON (facts_json_*.c). A new member of a struct = one row in facts_fields.c.
 */
#ifndef MODEL_FACTS_FIELDS_H
#define MODEL_FACTS_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "model/facts.h"

#define FACTS_MAX_LINKS 65536
#define FACTS_MAX_FILE_BYTES 65536

enum facts_field_kind {
	FACTS_FIELD_CONSTANT, /* not stored: always FACTS_SCHEMA */
	FACTS_FIELD_INT,      /* int */
	FACTS_FIELD_INT64,
	FACTS_FIELD_UINT64,
	FACTS_FIELD_UINT32,
	FACTS_FIELD_UINT16,
	FACTS_FIELD_FLAG,    /* int: 0 or 1, `unknown` otherwise; true and false in JSON */
	FACTS_FIELD_NETNS,   /* int: index into facts.netns */
	FACTS_FIELD_TEXT,    /* char[size] */
	FACTS_FIELD_STRING,  /* char *, malloc'ed, of less than `size` bytes */
	FACTS_FIELD_ADDRESS, /* uint8_t[6]; "52:54:00:12:34:56" in JSON */
	FACTS_FIELD_OBJECT,  /* a struct inside, its members in `fields` */
	FACTS_FIELD_ARRAY, /* pointer to elements of `size` bytes; when fields[0].name is "" they are no objects but plain values */
};

enum facts_field_flags {
	FACTS_FIELD_HEX = 1,	    /* written as "0x1002" */
	FACTS_FIELD_REQUIRED = 2,   /* the reader refuses a record without it */
	FACTS_FIELD_ALWAYS = 8,	    /* written also when it is 0 */
	FACTS_FIELD_SAME_NETNS = 4, /* NETNS of a link's lower device: missing means the link's own, null not known */
};

struct facts_field {
	const char *name; /* NULL ends the rows */
	enum facts_field_kind kind;
	unsigned int flags;
	size_t offset; /* of the member in its struct */
	size_t size;
	int64_t min, max; /* of INT, INT64 and NETNS */
	int64_t unknown;  /* what a new record has; without ALWAYS it is not written then */
	const struct facts_field *fields;
	size_t count_offset; /* ARRAY: of the int that counts its elements */
	int max_count;
};

/* Rows of struct facts, and through them of all others. */
extern const struct facts_field facts_fields[];
/* Rows of the elements of arrays, for facts_add_…(). */
extern const struct facts_field facts_netns_fields[], facts_link_fields[], facts_fdb_fields[], facts_address_fields[],
	facts_route_fields[], facts_neighbour_fields[], facts_process_fields[], facts_file_fields[],
	facts_claim_fields[], facts_gap_fields[], facts_feature_fields[], facts_counter_fields[], facts_qdisc_fields[],
	facts_filter_fields[], facts_vf_fields[], facts_irq_fields[], facts_tun_fields[], facts_thread_fields[],
	facts_argument_fields[];

/* Makes every member of a record unknown, all strings "". 0 or -ENOMEM; facts_record_free() is to be called in both cases. */
int facts_record_init(const struct facts_field *fields, void *record);
/* Frees what hangs on a record, not the record. */
void facts_record_free(const struct facts_field *fields, void *record);
/* One more element for the array whose pointer is at *member: initialised, or NULL. The array has room for a power of two, so
 * elements must never be taken off otherwise than by freeing all. */
void *facts_array_add(void *member, int *count, size_t size, const struct facts_field *fields);
/* The value of an INT … NETNS member; UINT64 beyond INT64_MAX as INT64_MAX. */
int64_t facts_field_value(const struct facts_field *field, const void *record);

#endif
