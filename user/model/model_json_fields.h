/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What stands where in run.json: one row for each name, read by the writer and the reader alike.
 *
 * Owns: names, kinds, ranges and array sizes. Leaves to others: writing (model_json_write.c), reading
 * (model_json_read.c). A new member of struct run = one row in model_json_fields.c.
 */
#ifndef MODEL_MODEL_JSON_FIELDS_H
#define MODEL_MODEL_JSON_FIELDS_H

#include <stddef.h>
#include <stdint.h>

#include "model/run.h"

#define RUN_JSON_SCHEMA "hopcap.run/1"
#define RUN_JSON_MAX_TRIALS 16384

enum field_kind {
	FIELD_NUMBER,	/* double; null: not known (not finite) */
	FIELD_COUNT,	/* int64_t; null: not known (-1) */
	FIELD_UNSIGNED, /* uint64_t, at most INT64_MAX */
	FIELD_INT,	/* int */
	FIELD_UINT,	/* unsigned int */
	FIELD_BOOL,	/* int, 0 or 1 */
	FIELD_ENUM,	/* an enum, by name */
	FIELD_TEXT,	/* char[size] */
	FIELD_POSITION, /* not stored: place of the element in its array, plus min */
	FIELD_CONSTANT, /* not stored: always the text in `constant` */
	FIELD_OBJECT,	/* members in `fields` */
	FIELD_ARRAY,	/* elements are objects with `fields`, or the scalar `fields[0]` when that has no name */
};

enum field_flags {
	FIELD_OPTIONAL = 1,   /* may be absent: then not known. Never set for the names that stay */
	FIELD_NULLABLE = 2,   /* INT: `unknown` is written as null. OBJECT: null when the int at present_offset is 0 */
	FIELD_SIGNED = 4,     /* NUMBER: may be negative */
	FIELD_RATIO = 8,      /* NUMBER: at most 1 */
	FIELD_IN_PATH = 16,   /* INT: at most the last point's number (which is the last hop's, too) */
	FIELD_IN_TRIALS = 32, /* INT: number of a trial */
	FIELD_ALL_HOPS = 64,  /* ARRAY: empty, or one element for each hop */
};

enum field_length {
	LENGTH_MEMBER, /* of an array: the int at count_offset, up to capacity */
	LENGTH_POINTS, /* as many as points */
	LENGTH_HOPS,   /* as many as hops */
};

struct field_names {
	const char *(*name)(int value);
	int count;
};

struct field {
	const char *name; /* NULL ends the rows */
	enum field_kind kind;
	unsigned int flags;
	size_t offset; /* of the member in the struct that the rows describe */
	size_t size;   /* TEXT: bytes with the terminating 0; ARRAY: bytes of an element */
	int64_t min, max;
	int unknown;
	const struct field_names *names;
	const char *constant;
	const struct field *fields;
	size_t present_offset;
	enum field_length length;
	size_t count_offset;
	int capacity;
	/* ARRAY whose member is a pointer: makes one more element. */
	void *(*grow)(struct run *run);
};

/* Rows of struct run: all of run.json. */
extern const struct field run_json_fields[];

/* A place in a document, for messages: linked from the inside out, lives on the stack. */
struct json_place {
	const struct json_place *parent;
	const char *name; /* NULL: element `index` */
	int index;
};

/* "trials[3].points[2]". Returns buffer. */
const char *json_place_print(const struct json_place *place, char *buffer, size_t size);

/* Elements of an array in the struct at `base`, and its upper limit. */
int field_array_count(const struct run *run, const struct field *field, const void *base);
/* Address of its element 0. */
void *field_array_elements(const struct field *field, const void *base);
/* NULL, or what is wrong with a value, e.g. "is negative". */
const char *field_check_integer(const struct run *run, const struct field *field, int64_t value);
const char *field_check_number(const struct field *field, double value);

#endif
