// SPDX-License-Identifier: GPL-2.0-or-later
/* A path as found: names, directions, JSON; see facts_path.h. */
#include "model/facts_path.h"

#include <jansson.h>
#include <string.h>

#include "model/utf8.h"

const char *facts_hop_kind_name(enum facts_hop_kind kind)
{
	static const char *const names[] = {
		[FACTS_HOP_WIRE] = "wire",   [FACTS_HOP_BRIDGE] = "bridge", [FACTS_HOP_STACK] = "stack",
		[FACTS_HOP_GUEST] = "guest", [FACTS_HOP_OPAQUE] = "opaque", [FACTS_HOP_CUT] = "cut"
	};

	return (unsigned int)kind < sizeof(names) / sizeof(names[0]) ? names[kind] : "unknown";
}

int facts_path_is_usable(const struct facts_path_point *point)
{
	return point->ifindex > 0 && !point->is_inside_tunnel;
}

/* As measure/path.c derives it: the source out, the sink in, between them in turns from what was given last. */
void facts_path_add_directions(struct facts_path *path)
{
	int derived = 1, last = -1;

	for (int i = 0; i < path->point_count; i++)
		if (facts_path_is_usable(&path->points[i]))
			last = i;
	for (int i = 0; i <= last; i++) {
		struct facts_path_point *point = &path->points[i];

		if (!facts_path_is_usable(point))
			continue;
		if (i == last && last)
			derived = 0;
		if (derived != point->is_out)
			strncat(point->text, point->is_out ? ":out" : ":in",
				sizeof(point->text) - strlen(point->text) - 1);
		derived = !point->is_out;
	}
}

/* A name may hold bytes that are no UTF-8, which JSON cannot. */
static json_t *text_of(const char *text)
{
	char clean[512];
	size_t used = 0;

	while (*text && used + 5 < sizeof(clean)) {
		uint32_t character;
		int bytes = utf8_decode(text, &character);

		if (bytes > 0)
			memcpy(clean + used, text, (size_t)bytes);
		else
			clean[used] = '?';
		bytes = bytes > 0 ? bytes : 1;
		used += (size_t)bytes;
		text += bytes;
	}
	return json_stringn(clean, used);
}

static json_t *point_to_json(const struct facts_path_point *point)
{
	return json_pack("{s:o, s:i, s:i, s:s, s:b, s:b}", "text", text_of(point->text), "netns", point->netns,
			 "ifindex", point->ifindex, "direction", point->is_out ? "out" : "in", "inside_tunnel",
			 point->is_inside_tunnel, "usable", facts_path_is_usable(point));
}

static json_t *hop_to_json(const struct facts_path_hop *hop, int index)
{
	return json_pack("{s:i, s:s, s:o, s:o, s:i, s:i}", "index", index, "kind", facts_hop_kind_name(hop->kind),
			 "name", text_of(hop->name), "note", text_of(hop->note), "netns", hop->netns, "ifindex",
			 hop->ifindex);
}

struct json_t *facts_path_to_json(const struct facts_path *path)
{
	json_t *points = json_array(), *hops = json_array();

	for (int i = 0; i < path->point_count; i++)
		if (json_array_append_new(points, point_to_json(&path->points[i])) < 0)
			goto failed;
	for (int i = 0; i + 1 < path->point_count; i++)
		if (json_array_append_new(hops, hop_to_json(&path->hops[i], i + 1)) < 0)
			goto failed;
	return json_pack("{s:s, s:b, s:o, s:i, s:o, s:o}", "schema", "hopcap.path/1", "complete", path->is_complete,
			 "why_incomplete", text_of(path->why_incomplete), "ways", path->way_count, "points", points,
			 "hops", hops);
failed:
	json_decref(points);
	json_decref(hops);
	return NULL;
}
