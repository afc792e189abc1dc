// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap compare`: runs side by side, saved ones and such as are made for it.
 *
 * Owns: the command line, what an argument names, measuring it. Leaves to others: which numbers stand side by side (model/comparison.c),
 * the table (report/compare_text.c), measuring (measure/run.c).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "cmd/domain_options.h"
#include "cmd/lab_path.h"
#include "cmd/run_findings.h"
#include "cmd/terminal.h"
#include "lab/lab.h"
#include "measure/run.h"
#include "model/comparison.h"
#include "model/json_document.h"
#include "model/model_json.h"
#include "model/utf8.h"
#include "report/compare_text.h"
#include "wire_test_frame.h"

#define BETWEEN ".."

static struct {
	unsigned int size_bytes;
	int quick, force_uplink, json;
	const char *save;
} options;

static const struct option_row rows[] = {
	{ "size", 's', OPTION_BYTES, "BYTES",
	  "frame size of runs that are made, without FCS (default: the largest that arrives)", &options.size_bytes,
	  HOPCAP_MIN_FRAME_BYTES, HOPCAP_MAX_FRAME_BYTES },
	{ "quick", 'q', OPTION_FLAG, NULL, "runs that are made are shorter, with wider bounds", &options.quick, 0, 0 },
	{ "save", 0, OPTION_TEXT, "DIRECTORY",
	  "save each run that is made there, as 1.json, 2.json ... by its place in the table", &options.save, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ "json", 'j', OPTION_FLAG, NULL, "the table as JSON", &options.json, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL,
	  "generate even on the interface of the default route or this ssh session", &options.force_uplink, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

/* --- what an argument names --- */

static int is_lab(const char *text)
{
	return !strncmp(text, "lab:", 4);
}

static int is_path(const char *text)
{
	return !is_lab(text) && strchr(text, '/') == NULL && strstr(text, BETWEEN) != NULL && access(text, F_OK) != 0;
}

static int is_made(const char *text)
{
	return is_lab(text) || is_path(text);
}

/* Cuts "A..B..C" into its points; the text is changed. Their number. */
static int split_path(char *text, char *points[RUN_MAX_POINTS + 1])
{
	int count = 0;

	for (char *next; text && count <= RUN_MAX_POINTS; text = next) {
		next = strstr(text, BETWEEN);
		if (next) {
			*next = 0;
			next += strlen(BETWEEN);
		}
		points[count++] = text;
	}
	return count;
}

/* --- measuring --- */

static void show_progress(double fraction, const char *text)
{
	fprintf(stderr, "\r\033[K[%3.0f %%] %s", fraction * 100, text);
}

static int resolve(const char *text, struct run *run, struct path *path, struct domains *domains, int *source_cpu)
{
	char copy[4096], *points[RUN_MAX_POINTS + 1];

	if (is_lab(text)) {
		/* As `hopcap run --lab` builds it. */
		const struct lab_options lab_options = { .mtu_bytes = LAB_MIN_MTU_BYTES, .segmentation_off = 1 };
		struct lab lab;
		int code = lab_build(text + 4, &lab_options, &lab);

		*source_cpu = code ? -1 : lab.source_cpu;
		return code ? code : lab_path(run, path, domains, &lab);
	}
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return error_set(EINVAL, "'%.40s...': the path is too long", text);
	return path_from_texts(run, path, domains, points, split_path(copy, points), options.force_uplink);
}

static int measure(const char *text, struct run *run)
{
	struct measure_request request = { .size_bytes = options.size_bytes,
					   .quick = options.quick,
					   .source_cpu = -1,
					   .progress = isatty(STDERR_FILENO) ? show_progress : NULL };
	struct domains domains = { 0 };
	struct path path;
	int code;

	snprintf(run->version, sizeof(run->version), "%s", HOPCAP_VERSION);
	code = domain_options_open(&domains);
	if (!code)
		code = resolve(text, run, &path, &domains, &request.source_cpu);
	if (!code) {
		run_findings_add(run, &path);
		code = measure_run(&request, &path, run);
	}
	if (request.progress)
		fputs("\r\033[K", stderr);
	domains_close(&domains);
	if (code) {
		char why[RUN_TEXT_BYTES];

		snprintf(why, sizeof(why), "%s", error_text());
		undo_run_all(); /* main.c tries again, and says what could not be undone */
		return error_set(-code, "%.60s: %s", text, why);
	}
	return undo_run_all();
}

static int save(const struct run *run, int place)
{
	char path[4096];

	if (!options.save)
		return 0;
	if (snprintf(path, sizeof(path), "%s/%d.json", options.save, place) >= (int)sizeof(path))
		return error_set(ENAMETOOLONG, "--save: the name is too long");
	return run_json_save(run, path);
}

/* "runs/virtio.json": "virtio"; the rest as it is. */
static void row_name(const char *text, char *name, size_t size)
{
	const char *slash = strrchr(text, '/');
	size_t length;

	if (is_made(text) || !strcmp(text, "-")) {
		snprintf(name, size, "%s", is_made(text) ? text : "standard input");
		return;
	}
	snprintf(name, size, "%s", slash && slash[1] ? slash + 1 : text);
	length = strlen(name);
	if (length > 5 && !strcmp(name + length - 5, ".json"))
		name[length - 5] = 0;
}

static int add(struct comparison *comparison, const char *text)
{
	struct run *run = is_made(text) ? run_new() : run_json_load(text);
	char name[RUN_TEXT_BYTES];
	int code = run ? 0 : is_made(text) ? error_set(ENOMEM, "out of memory") : -errno;

	if (!code && is_made(text)) {
		if (isatty(STDERR_FILENO))
			fprintf(stderr, "hopcap compare: measuring %s\n", text);
		code = measure(text, run);
		if (!code)
			code = save(run, comparison->count + 1);
	}
	row_name(text, name, sizeof(name));
	if (!code)
		code = comparison_add(comparison, name, run);
	run_free(run);
	return code;
}

/* --- JSON --- */

static json_t *known(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

/* Names come from files and from the command line. */
static json_t *text_json(const char *text)
{
	char clean[RUN_TEXT_BYTES];

	snprintf(clean, sizeof(clean), "%s", text);
	utf8_make_valid(clean);
	return json_string(clean);
}

static json_t *differences_json(const struct comparison_row *row)
{
	json_t *list = json_array();

	for (int bit = 0; bit < COMPARISON_DIFFERENCES; bit++)
		if (row->differences & 1u << bit)
			json_array_append_new(list, json_string(comparison_difference_name(bit)));
	return list;
}

static json_t *row_json(const struct comparison_row *row)
{
	const struct {
		const char *name;
		json_t *value;
	} members[] = {
		{ "name", text_json(row->name) },
		{ "machine", text_json(row->machine) },
		{ "kernel", text_json(row->kernel) },
		{ "version", text_json(row->version) },
		{ "frame_bytes", json_integer(row->frame_bytes) },
		{ "port", json_string(run_port_name(row->port)) },
		{ "loss_goal", known(row->loss_goal) },
		{ "rate_limit_pps", row->rate_limit_pps > 0 ? known(row->rate_limit_pps) : json_null() },
		{ "passes_pps", known(row->passes_pps) },
		{ "capacity_pps", known(row->capacity_pps) },
		{ "gbps_1500", known(row->gbps_1500) },
		{ "idle_p50_ns", known(row->idle_ns) },
		{ "idle_bound_ns", known(row->idle_bound_ns) },
		{ "loaded_p99_ns", known(row->loaded_ns) },
		{ "loaded_bound_ns", known(row->loaded_bound_ns) },
		{ "cpu_s_per_million", known(row->cpu_s_per_million) },
		{ "verdict", json_string(run_verdict_kind_name(row->kind)) },
		{ "cap_hop", row->cap_hop ? json_integer(row->cap_hop) : json_null() },
		{ "cap_name", row->cap_hop ? text_json(row->cap_name) : json_null() },
		{ "cause", json_string(run_cause_name(row->cause)) },
		{ "ratio", known(row->ratio) },
		{ "differs", differences_json(row) },
	};
	json_t *object = json_object();

	/* A member that could not be made is refused, and the object with it. */
	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++)
		if (json_object_set_new(object, members[i].name, members[i].value)) {
			json_decref(object);
			object = NULL;
		}
	return object;
}

static int print_json(const struct comparison *comparison)
{
	json_t *list = json_array(), *document = json_pack("{s:s, s:o}", "schema", "hopcap.compare/1", "rows", list);
	int code = document ? 0 : -ENOMEM;

	for (int i = 0; !code && i < comparison->count; i++)
		if (json_array_append_new(list, row_json(&comparison->rows[i])))
			code = -ENOMEM;
	if (!code)
		code = json_document_print(document, stdout);
	json_decref(document);
	if (code)
		return error_set(ENOMEM, "out of memory");
	return fflush(stdout) || ferror(stdout) ? error_set(EIO, "cannot print the table") : 0;
}

/* --- the command --- */

static int check_arguments(int count, char **texts)
{
	int inputs = 0, made = 0;

	if (!count)
		return error_set(EINVAL, "give the runs to compare: FILE, lab:NAME or POINT..POINT");
	if (count > COMPARISON_MAX_ROWS)
		return error_set(EINVAL, "at most %d runs are compared", COMPARISON_MAX_ROWS);
	for (int i = 0; i < count; i++) {
		inputs += !strcmp(texts[i], "-");
		made += is_made(texts[i]);
	}
	if (inputs > 1)
		return error_set(EINVAL, "the standard input holds one run: give - once");
	if (!made && (options.save || options.quick || options.size_bytes))
		return error_set(EINVAL,
				 "--save, --quick and --size are for runs that are made: lab:NAME or POINT..POINT");
	if (made && geteuid())
		return error_set(EPERM,
				 "measuring needs root: loading BPF programs and sending raw frames take CAP_BPF, "
				 "CAP_NET_ADMIN and CAP_NET_RAW");
	return 0;
}

static int run_compare(int count, char **texts)
{
	struct comparison *comparison = calloc(1, sizeof(*comparison));
	int code = comparison ? check_arguments(count, texts) : error_set(ENOMEM, "out of memory");

	if (!code)
		code = undo_catch_signals();
	for (int i = 0; !code && i < count; i++)
		code = add(comparison, texts[i]);
	if (!code) {
		struct report_style style = terminal_style(stdout);

		comparison_finish(comparison);
		code = options.json ? print_json(comparison) : compare_text(comparison, stdout, &style);
		if (code && terminal_reader_gone(stdout))
			code = 0;
	}
	if (code)
		fprintf(stderr, "hopcap compare: %s\n", error_text());
	free(comparison);
	return code == -EINTR ? EXIT_STATUS_FINDINGS : code ? error_exit_status(code) : EXIT_STATUS_FINE;
}

const struct command command_compare = {
	.name = "compare",
	.arguments = "FILE | lab:NAME | POINT..POINT ...",
	.summary = "put runs side by side, saved ones and new ones",
	.details =
		"FILE was written by `hopcap run --json FILE`; - is the standard input. lab:NAME builds a lab, measures it and removes\n"
		"it. POINT..POINT[..POINT] measures the points of a path, source first, as `hopcap run` does. Rows that differ from the\n"
		"first one in machine, kernel, frame size or what was asked are marked, and what differs is listed.",
	.options = rows,
	.run = run_compare,
};
