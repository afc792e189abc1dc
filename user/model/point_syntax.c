// SPDX-License-Identifier: GPL-2.0-or-later
/* Parses points; syntax in point_syntax.h. Called by measure/path.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "model/point_syntax.h"

#define SYNTAX "a point is INTERFACE[@ns:NAMESPACE|@DOMAIN[:ns=NAMESPACE]][:in|:out][:tc|:xdp|:generic]"

static const struct {
	const char *word, *mode;
	enum run_direction direction;
} suffixes[] = {
	{ "in", NULL, RUN_DIRECTION_IN },	    { "out", NULL, RUN_DIRECTION_OUT },
	{ "tc", "tcx", RUN_DIRECTION_IN },	    { "xdp", "native", RUN_DIRECTION_IN },
	{ "generic", "generic", RUN_DIRECTION_IN },
};

static int apply_suffix(const char *word, struct point_text *point)
{
	for (unsigned int i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		if (strcmp(word, suffixes[i].word))
			continue;
		if (!suffixes[i].mode) {
			if (point->direction_given)
				return -EINVAL;
			point->direction_given = 1;
			point->direction = suffixes[i].direction;
			return 0;
		}
		if (point->hook_given)
			return -EINVAL;
		point->hook_given = 1;
		strcpy(point->mode, suffixes[i].mode);
		return 0;
	}
	return -ENOENT;
}

/* Takes known suffixes off the end; a colon that belongs to "@ns:" or to an interface name stays. */
static int take_suffixes(char *text, struct point_text *point)
{
	char *colon;

	while ((colon = strrchr(text, ':'))) {
		int code;

		if (colon - text >= 3 && !strncmp(colon - 3, "@ns", 3))
			return 0; /* a namespace may be called as a suffix is */
		code = apply_suffix(colon + 1, point);
		if (code == -ENOENT)
			return 0;
		if (code)
			return code;
		*colon = 0;
	}
	return 0;
}

static int copy_name(char *to, size_t size, const char *from)
{
	size_t length = strlen(from);

	if (!length || length >= size || strpbrk(from, "/ \t\n@"))
		return -EINVAL;
	memcpy(to, from, length + 1);
	return 0;
}

/* What follows the '@'. */
static int parse_where(const char *text, char *where, struct point_text *point)
{
	char *netns = strstr(where, ":ns=");

	if (!strcmp(where, "local"))
		return 0;
	if (!strncmp(where, "ns:", 3)) {
		netns = where + 3;
	} else {
		if (netns) {
			*netns = 0;
			netns += 4;
		}
		if (copy_name(point->domain, sizeof(point->domain), where) || strchr(where, ':'))
			return error_set(EINVAL, "point '%s': unknown domain '%s'; " SYNTAX, text, where);
		if (!strcmp(point->domain, "local"))
			point->domain[0] = 0;
	}
	if (netns && copy_name(point->netns, sizeof(point->netns), netns))
		return error_set(EINVAL, "point '%s': bad namespace name; " SYNTAX, text);
	return 0;
}

int point_parse_in_domains(const char *text, struct point_text *point)
{
	char copy[160], *where;
	int code;

	memset(point, 0, sizeof(*point));
	if (strlen(text) >= sizeof(copy))
		return error_set(EINVAL, "point '%.40s...' is too long; " SYNTAX, text);
	strcpy(copy, text);
	if (take_suffixes(copy, point))
		return error_set(EINVAL, "point '%s': direction or hook given twice; " SYNTAX, text);
	if (point->hook_given && strcmp(point->mode, "tcx") && point->direction_given &&
	    point->direction == RUN_DIRECTION_OUT)
		return error_set(EINVAL, "point '%s': XDP sees incoming frames only; use :tc for an outgoing point",
				 text);
	where = strchr(copy, '@');
	if (where)
		*where++ = 0;
	code = where ? parse_where(text, where, point) : 0;
	if (!code && copy_name(point->interface, sizeof(point->interface), copy))
		code = error_set(EINVAL, "point '%s': bad interface name; " SYNTAX, text);
	return code;
}

int point_parse(const char *text, struct point_text *point)
{
	int code = point_parse_in_domains(text, point);

	if (!code && point->domain[0])
		return error_set(EINVAL,
				 "point '%s': unknown domain '%s'; only @ns:NAMESPACE and @local are known here", text,
				 point->domain);
	return code;
}

int point_print(const struct point_text *point, char *name, size_t size)
{
	int length;

	if (point->domain[0])
		length = snprintf(name, size, "%s@%s%s%s", point->interface, point->domain,
				  point->netns[0] ? ":ns=" : "", point->netns);
	else
		length = snprintf(name, size, "%s%s%s", point->interface, point->netns[0] ? "@ns:" : "", point->netns);
	return length < (int)size ? 0 : error_set(EINVAL, "point '%s' is too long", name);
}

struct point_ip point_ip(const char *netns)
{
	struct point_ip command;
	int is_process = !strncmp(netns, "pid:", 4);

	snprintf(command.text, sizeof(command.text), "%s%.*s%s", is_process ? "nsenter -t " : netns[0] ? "ip -n " : "ip",
		 RUN_NAME_BYTES, is_process ? netns + 4 : netns, is_process ? " -n ip" : "");
	return command;
}
