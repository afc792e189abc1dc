/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `hopcap doctor --probe`: sends frames of many sizes along the path that is judged. Joins measure/sizes.h and the doctor, which do not see
 * each other. Called by cmd/doctor.c.
 */
#ifndef CMD_DOCTOR_PROBE_H
#define CMD_DOCTOR_PROBE_H

#include "model/facts_path.h"
#include "model/path_sizes.h"

/*
 * path: as discovery found it (point_count > 0), or empty: then it is made of the points in `texts`, source first,
 * and stays empty when these cannot be a path now. Fills *sizes; that nothing
 * could be sent (the interface of the default route, a link that is down, a cut path) stands there, too, and is no failure. 0, or -errno with
 * error text: EINVAL and ENODEV for what the user wrote wrongly, EINTR when interrupted. Everything that was attached is taken off. Needs root,
 * which the caller looks after.
 */
int doctor_probe(const struct facts *facts, struct facts_path *path, char **texts, int count, int force_uplink,
		 struct path_sizes *sizes);

#endif
