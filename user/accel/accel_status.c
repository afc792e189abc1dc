// SPDX-License-Identifier: GPL-2.0-or-later
/* What the fast path does, as JSON; see accel.h. Called by accel_daemon.c and whoever measures a bypass. */
#include "accel/accel_state.h"

#include <time.h>
#include <unistd.h>

#include "accel/reasons.h"

static void set_count(json_t *object, const char *name, uint64_t count)
{
	json_object_set_new(object, name, json_integer((json_int_t)count));
}

static void set_text(json_t *object, const char *name, const char *text)
{
	json_object_set_new(object, name, json_string(text));
}

/* null where nothing speaks against. */
static void set_refusal(json_t *object, const char *role, enum accel_refusal refusal)
{
	json_object_set_new(object, role,
			    refusal == ACCEL_FINE ? json_null()
						  : json_pack("{s:s, s:s}", "id", accel_policy_name(refusal), "text",
							      accel_policy_text(refusal)));
}

static json_t *port_object(const struct accel *accel, const struct accel_port *port)
{
	json_t *object = json_object(), *stack = json_object();
	struct fast_path_counts counts = { 0 };
	uint64_t passed = 0;

	if (port->slot >= 0)
		fast_path_read(&accel->path, port->slot, &counts);
	set_text(object, "name", port->name);
	set_count(object, "ifindex", (uint64_t)port->ifindex);
	set_refusal(object, "source_refused", port->verdict.source);
	set_refusal(object, "target_refused", port->verdict.target);
	if (port->why[0])
		set_text(object, "failure", port->why);
	set_count(object, "mtu", port->facts.mtu_bytes);
	set_count(object, "frames", counts.frames);
	set_count(object, "bytes", counts.bytes);
	for (int i = 0; i < BRIDGE_REASONS; i++) {
		set_count(stack, bridge_reason_name((enum bridge_reason)i), counts.stack[i]);
		passed += counts.stack[i];
	}
	set_count(object, "to_bridge", passed);
	json_object_set_new(object, "reasons", stack);
	return object;
}

static json_t *table_object(struct accel *accel)
{
	const struct fdb_follow *follow = &accel->follow;
	json_t *object = json_object();

	set_count(object, "stations", fdb_follow_count(&accel->follow));
	set_count(object, "notifications", follow->notifications);
	set_count(object, "refreshes", follow->refreshes);
	set_count(object, "reverts", follow->reverts);
	set_count(object, "resyncs", follow->resyncs);
	set_count(object, "no_room", follow->table_full);
	json_object_set_new(object, "refresh_s", json_real(follow->refresh_s));
	return object;
}

uint64_t accel_frames(struct accel *accel)
{
	struct fast_path_counts counts;
	uint64_t frames = 0;

	pthread_mutex_lock(&accel->lock);
	for (int i = 0; i < accel->ports.count; i++) {
		if (accel->ports.list[i].slot < 0)
			continue;
		fast_path_read(&accel->path, accel->ports.list[i].slot, &counts);
		frames += counts.frames;
	}
	pthread_mutex_unlock(&accel->lock);
	return frames;
}

json_t *accel_status(struct accel *accel)
{
	json_t *object = json_object(), *ports = json_array();
	struct timespec now;

	if (!object || !ports) {
		json_decref(object);
		json_decref(ports);
		return NULL;
	}
	pthread_mutex_lock(&accel->lock);
	clock_gettime(CLOCK_MONOTONIC, &now);
	set_text(object, "schema", "hopcap.accel/1");
	set_text(object, "bridge", accel->bridge);
	set_text(object, "netns", accel->netns);
	set_count(object, "pid", (uint64_t)getpid());
	json_object_set_new(object, "uptime_s",
			    json_real((double)now.tv_sec + (double)now.tv_nsec / 1e9 - accel->begin_s));
	set_refusal(object, "bridge_refused", accel->ports.bridge_refusal);
	json_object_set_new(object, "ordered", json_boolean(fast_path_has_polls(&accel->path)));
	json_object_set_new(object, "table", table_object(accel));
	for (int i = 0; i < accel->ports.count; i++)
		json_array_append_new(ports, port_object(accel, &accel->ports.list[i]));
	json_object_set_new(object, "ports", ports);
	pthread_mutex_unlock(&accel->lock);
	return object;
}
