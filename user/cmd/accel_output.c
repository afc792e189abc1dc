// SPDX-License-Identifier: GPL-2.0-or-later
/* Status of a fast path as text; see accel_output.h. Called by cmd/accel.c. */
#include "cmd/accel_output.h"

#include <stdio.h>
#include <string.h>

#define PAGE_TEXT 160

/* Names come from the kernel, but any user may have chosen them. */
static const char *plain(const char *text, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s", text ? text : "?");
	for (char *at = buffer; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	return buffer;
}

static const char *text_of(const json_t *object, const char *key, char *buffer, size_t size)
{
	return plain(json_string_value(json_object_get(object, key)), buffer, size);
}

static long long count_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void print_refusal(const json_t *port, const char *key, const char *role)
{
	const json_t *refusal = json_object_get(port, key);
	char text[512];

	if (json_is_object(refusal))
		printf("    %s: left to the bridge: %s\n", role, text_of(refusal, "text", text, sizeof(text)));
}

/* Both roles refused for one reason: one line. */
static void print_refusals(const json_t *port)
{
	const char *source = json_string_value(json_object_get(json_object_get(port, "source_refused"), "id"));
	const char *target = json_string_value(json_object_get(json_object_get(port, "target_refused"), "id"));
	char text[512];

	if (source && target && !strcmp(source, target)) {
		print_refusal(port, "source_refused", "in, out");
	} else {
		print_refusal(port, "source_refused", "in ");
		print_refusal(port, "target_refused", "out");
	}
	if (json_object_get(port, "failure"))
		printf("    %s\n", text_of(port, "failure", text, sizeof(text)));
}

static void print_reasons(const json_t *port)
{
	const json_t *reasons = json_object_get(port, "reasons");
	void *at = json_object_iter((json_t *)reasons);
	int column = 0;

	for (; at; at = json_object_iter_next((json_t *)reasons, at)) {
		long long count = json_integer_value(json_object_iter_value(at));
		char name[64];

		if (!count)
			continue;
		if (!column)
			printf("      ");
		column += printf(" %s %lld", plain(json_object_iter_key(at), name, sizeof(name)), count);
		if (column > PAGE_TEXT / 2) {
			putchar('\n');
			column = 0;
		}
	}
	if (column)
		putchar('\n');
}

static void print_port(const json_t *port)
{
	char name[32];

	printf("  %lld: %s: mtu %lld %s%s\n", count_of(port, "ifindex"), text_of(port, "name", name, sizeof(name)),
	       count_of(port, "mtu"), json_is_null(json_object_get(port, "source_refused")) ? "in" : "-",
	       json_is_null(json_object_get(port, "target_refused")) ? ",out" : ",-");
	print_refusals(port);
	printf("    fast:  %-20s %-20s to the bridge:\n", "bytes", "frames");
	printf("           %-20lld %-20lld %lld\n", count_of(port, "bytes"), count_of(port, "frames"),
	       count_of(port, "to_bridge"));
	print_reasons(port);
}

static void print_head(const json_t *status)
{
	const json_t *table = json_object_get(status, "table"), *refusal = json_object_get(status, "bridge_refused");
	char bridge[32], netns[80], text[512];

	text_of(status, "netns", netns, sizeof(netns));
	printf("%s%s%s: fast path, process %lld, %.0f s\n", text_of(status, "bridge", bridge, sizeof(bridge)),
	       netns[0] ? "@ns:" : "", netns, count_of(status, "pid"),
	       json_real_value(json_object_get(status, "uptime_s")));
	if (json_is_object(refusal))
		printf("  all frames are left to the bridge: %s\n", text_of(refusal, "text", text, sizeof(text)));
	printf("  stations %lld, heard %lld, refreshed %lld, read anew %lld%s\n", count_of(table, "stations"),
	       count_of(table, "notifications"), count_of(table, "refreshes"), count_of(table, "resyncs"),
	       json_is_true(json_object_get(status, "ordered")) ? "" : "; without the tracepoint napi_poll");
	if (count_of(table, "no_room"))
		printf("  stations that found no room: %lld\n", count_of(table, "no_room"));
}

void accel_print(const json_t *status)
{
	const json_t *ports = json_object_get(status, "ports");

	print_head(status);
	for (size_t i = 0; i < json_array_size(ports); i++)
		print_port(json_array_get(ports, i));
}

void accel_print_refusals(const json_t *status)
{
	const json_t *ports = json_object_get(status, "ports"), *refusal = json_object_get(status, "bridge_refused");
	char text[512];

	if (json_is_object(refusal)) {
		printf("  all frames are left to the bridge: %s\n", text_of(refusal, "text", text, sizeof(text)));
		return;
	}
	for (size_t i = 0; i < json_array_size(ports); i++) {
		const json_t *port = json_array_get(ports, i);

		if (json_is_null(json_object_get(port, "source_refused")) &&
		    json_is_null(json_object_get(port, "target_refused")))
			continue;
		printf("  %s\n", text_of(port, "name", text, sizeof(text)));
		print_refusals(port);
	}
}
