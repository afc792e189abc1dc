// SPDX-License-Identifier: GPL-2.0-or-later
/* Probing for the doctor; see doctor_probe.h. */
#include "cmd/doctor_probe.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/run_path.h"
#include "measure/sizes.h"
#include "model/point_syntax.h"

#define POINT_BYTES 112

struct probe_points {
	int count;
	char texts[RUN_MAX_POINTS][POINT_BYTES];
	char *pointers[RUN_MAX_POINTS];
};

/* By tc at each point but the source, where the user did not choose: attaching XDP may reset the link of a NIC. */
static int add_point(struct probe_points *points, const char *text, int direction, int is_source)
{
	char *copy = points->texts[points->count];
	struct point_text point;
	int code = point_parse(text, &point), length;

	if (code)
		return code;
	length = snprintf(copy, POINT_BYTES, "%s%s%s", text,
			  !point.direction_given && direction >= 0 && !is_source ? direction ? ":out" : ":in" : "",
			  is_source || point.hook_given ? "" : ":tc");
	if (length >= POINT_BYTES)
		return error_set(EINVAL, "point '%.60s...' is too long", text);
	points->pointers[points->count++] = copy;
	return 0;
}

/* The points of a path that can be probed, evenly thinned where they are more than a run takes; their numbers into sizes->points. */
static int choose_points(const struct facts_path *path, struct probe_points *points, struct path_sizes *sizes)
{
	int usable[FACTS_PATH_MAX_POINTS], count = 0, kept, code = 0;

	for (int i = 0; i + 1 < path->point_count; i++)
		if (path->hops[i].kind == FACTS_HOP_CUT)
			return error_set(EHOSTUNREACH, "the path is cut at hop %d: %s", i + 1, path->hops[i].note);
	for (int i = 0; i < path->point_count; i++)
		if (facts_path_is_usable(&path->points[i]))
			usable[count++] = i;
	if (count < 2 || usable[0] != 0 || usable[count - 1] != path->point_count - 1)
		return error_set(
			EHOSTUNREACH,
			"frames can be sent and counted only where source and sink are interfaces of this kernel, "
			"and not inside a tunnel");
	kept = count < RUN_MAX_POINTS ? count : RUN_MAX_POINTS;
	for (int i = 0; i < kept && !code; i++) {
		int index = usable[i * (count - 1) / (kept - 1)];

		sizes->points[i] = index;
		code = add_point(points, path->points[index].text, path->points[index].is_out, i == 0);
	}
	return code;
}

static int take_points(char **texts, int count, struct probe_points *points, struct path_sizes *sizes)
{
	int code = 0;

	if (count > RUN_MAX_POINTS)
		return error_set(EINVAL, "--probe takes at most %d points", RUN_MAX_POINTS);
	for (int i = 0; i < count && !code; i++) {
		sizes->points[i] = i;
		code = add_point(points, texts[i], -1, i == 0);
	}
	return code;
}

/* What the path is like is the user's to mend, and no reason to withhold the other findings. */
static int excuse(int code, struct path_sizes *sizes)
{
	if (!code || code == -EINTR || code == -ENOMEM)
		return code;
	sizes->step_count = 0;
	snprintf(sizes->why_not, sizeof(sizes->why_not), "%s", error_text());
	return 0;
}

static int send_sizes(const struct facts *facts, struct facts_path *path, const struct probe_points *points,
		      int force_uplink, struct path_sizes *sizes)
{
	static struct path resolved; /* both are large */
	struct domains domains = { 0 };
	struct run *run = run_new();
	int is_mistaken, code = run ? domains_open(&domains) : error_set(ENOMEM, "out of memory");

	if (!code)
		code = path_from_texts(run, &resolved, &domains, points->pointers, points->count, force_uplink);
	is_mistaken = !path->point_count && (code == -EINVAL || code == -ENODEV);
	if (!code && !path->point_count)
		run_path_describe(run, &resolved, facts, path);
	if (!code)
		code = measure_sizes(&resolved, run, sizes);
	if (!is_mistaken)
		code = excuse(code, sizes);
	domains_close(&domains);
	run_free(run);
	return code;
}

int doctor_probe(const struct facts *facts, struct facts_path *path, char **texts, int count, int force_uplink,
		 struct path_sizes *sizes)
{
	static struct probe_points points;
	int code, undone;

	memset(sizes, 0, sizeof(*sizes));
	code = undo_catch_signals();
	if (code)
		return code;
	points.count = 0;
	code = path->point_count ? excuse(choose_points(path, &points, sizes), sizes)
				 : take_points(texts, count, &points, sizes);
	if (!code && !sizes->why_not[0])
		code = send_sizes(facts, path, &points, force_uplink, sizes);
	undone = undo_run_all();
	return code ? code : undone;
}
