/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other ways that a path could be built on this machine. Pure data; filled by doctor/plan.c, shown by report/plan_text.c. */
#ifndef MODEL_PLAN_H
#define MODEL_PLAN_H

struct plan_lines {
	int count;
	char **lines; /* malloc'ed */
};

struct plan_alternative {
	const char *id, *title, *effect; /* "jumbo", what it is, what it should change; not owned */
	struct plan_lines commands;	 /* in order; what cannot be a command begins with "# " */
	struct plan_lines missing;	 /* what it needs and this machine lacks; none: it can be done now */
};

struct plan {
	int count;
	struct plan_alternative *alternatives; /* those that can be done first */
};

/* Copies a formatted line. 0 or -ENOMEM. */
int plan_add_line(struct plan_lines *lines, const char *format, ...) __attribute__((format(printf, 2, 3)));
struct plan_alternative *plan_add(struct plan *plan); /* NULL: out of memory */
void plan_free(struct plan *plan);

/* {"schema": "hopcap.plan/1", "alternatives": […]}: a new reference or NULL. */
struct json_t;
struct json_t *plan_to_json(const struct plan *plan);

#endif
