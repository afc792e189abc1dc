/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What `hopcap accel status` prints for people, from the JSON that the holder of a fast path sends. */
#ifndef CMD_ACCEL_OUTPUT_H
#define CMD_ACCEL_OUTPUT_H

#include <jansson.h>

/* In the style of `ip -s link`: a paragraph a port. What the JSON lacks is left out. */
void accel_print(const json_t *status);
/* Ports that are not used fully, a line each: what `accel start` says. */
void accel_print_refusals(const json_t *status);

#endif
