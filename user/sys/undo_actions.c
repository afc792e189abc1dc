// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the records on the undo stack do; the kinds stand in undo_actions.h.
 *
 * A handler may run in another process than the one that made the change, after any part of the machine was changed
 * by others, and on a record whose change was never made. So each takes "not there" for success and checks its
 * arguments.
 */
#include "sys/undo_actions.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "base/units.h"
#include "sys/guest_process.h"
#include "sys/link_features.h"
#include "sys/link_settings.h"
#include "sys/netns.h"
#include "sys/rtnl.h"

#define PIN_DIRECTORY "/sys/fs/bpf/hopcap/"

static int check_count(const char *kind, int count, int wanted)
{
	if (count != wanted)
		return error_set(EBADMSG, "undo record '%s' has %d arguments, not %d: it was damaged", kind, count,
				 wanted);
	return 0;
}

static int set_gro(const char *name, long value)
{
	return link_set_gro(name, value != 0);
}

static int set_threaded_napi(const char *name, long value)
{
	return link_set_threaded_napi(name, value != 0);
}

static int set_mtu(const char *name, long value)
{
	return rtnl_link_set_mtu(name, (unsigned int)value);
}

static int delete_link(const char *name, long value)
{
	(void)value;
	return rtnl_link_delete(name);
}

static int delete_clsact(const char *name, long value)
{
	(void)value;
	return rtnl_clsact_delete(name);
}

/* Calls change(name, value) in a namespace; a namespace or an interface that is gone is success. */
static int change_in(const char *netns, const char *name, long value, int (*change)(const char *name, long value))
{
	struct netns_token token;
	int result;

	if (!strcmp(netns, "-"))
		netns = "";
	if (*netns && !netns_exists(netns))
		return 0;
	result = netns_enter(netns, &token);
	/* ENOENT: it went away just now. EINVAL: only its file was made, so nothing can be in it. */
	if (result == -ENOENT || (result == -EINVAL && netns_exists(netns)))
		return 0;
	if (result < 0)
		return result;
	result = change(name, value);
	netns_leave(&token);
	return result == -ENODEV ? 0 : result;
}

/* The setters: NETNS NAME VALUE. */
static int set_back(const char *kind, int count, char **arguments, long max,
		    int (*change)(const char *name, long value))
{
	int result = check_count(kind, count, 3);
	long value;

	if (!result)
		result = units_parse_integer(arguments[2], 0, max, &value);
	return result < 0 ? result : change_in(arguments[0], arguments[1], value, change);
}

static int undo_netns_delete(int count, char **arguments)
{
	int result = check_count("netns-delete", count, 1);

	return result < 0 ? result : netns_delete(arguments[0]);
}

static int undo_link_delete(int count, char **arguments)
{
	int result = check_count("link-delete", count, 2);

	return result < 0 ? result : change_in(arguments[0], arguments[1], 0, delete_link);
}

static int undo_clsact_delete(int count, char **arguments)
{
	int result = check_count("clsact-delete", count, 2);

	return result < 0 ? result : change_in(arguments[0], arguments[1], 0, delete_clsact);
}

static int undo_threaded_napi(int count, char **arguments)
{
	return set_back("threaded-napi", count, arguments, 1, set_threaded_napi);
}

static int undo_gro(int count, char **arguments)
{
	return set_back("gro", count, arguments, 1, set_gro);
}

static int undo_mtu(int count, char **arguments)
{
	return set_back("mtu", count, arguments, INT_MAX, set_mtu);
}

static int remove_file(const char *path)
{
	if (path[0] != '/')
		return error_set(EBADMSG, "'%s' in an undo record is no absolute path; it is left alone", path);
	if (unlink(path) == 0 || errno == ENOENT || errno == ENOTDIR)
		return 0;
	if (errno == EISDIR || errno == EPERM) {
		int unlink_errno = errno;

		if (rmdir(path) == 0 || errno == ENOENT)
			return 0;
		if (errno == ENOTDIR)
			errno = unlink_errno;
	}
	return error_set(errno, "cannot remove %s: %s", path, strerror(errno));
}

static int undo_unlink(int count, char **arguments)
{
	int result = check_count("unlink", count, 1);

	return result < 0 ? result : remove_file(arguments[0]);
}

static int undo_file_remove(int count, char **arguments)
{
	int result = check_count("file-remove", count, 1);

	if (result < 0)
		return result;
	if (strncmp(arguments[0], PIN_DIRECTORY, strlen(PIN_DIRECTORY)) || strstr(arguments[0], "/../"))
		return error_set(EBADMSG, "'%s' in an undo record is not under " PIN_DIRECTORY "; it is left alone",
				 arguments[0]);
	return remove_file(arguments[0]);
}

static int undo_guests(int count, char **arguments)
{
	int result = check_count("guests-end", count, 2);

	if (!result)
		result = guest_process_end(arguments[0]);
	return result < 0 ? result : guest_files_remove(arguments[1]);
}

/* NETNS NAME FEATURE VALUE: the value comes behind the feature's name. */
static const char *feature_name;

static int set_feature(const char *name, long value)
{
	return link_feature_set(name, feature_name, value != 0);
}

static int undo_feature(int count, char **arguments)
{
	int result = check_count("feature", count, 4);
	long value;

	if (!result)
		result = units_parse_integer(arguments[3], 0, 1, &value);
	if (result < 0)
		return result;
	feature_name = arguments[2];
	return change_in(arguments[0], arguments[1], value, set_feature);
}

const struct undo_handler undo_action_handlers[] = {
	{ "netns-delete", undo_netns_delete },
	{ "link-delete", undo_link_delete },
	{ "clsact-delete", undo_clsact_delete },
	{ "threaded-napi", undo_threaded_napi },
	{ "gro", undo_gro },
	{ "mtu", undo_mtu },
	{ "feature", undo_feature },
	{ "guests-end", undo_guests },
	{ "unlink", undo_unlink },
	{ "file-remove", undo_file_remove },
	{ NULL, NULL },
};
