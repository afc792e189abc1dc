/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reflecting in user space: one AF_XDP receiver and thread a queue. The part of reflector.c that has threads. */
#ifndef TRAFFIC_REFLECTOR_XSK_H
#define TRAFFIC_REFLECTOR_XSK_H

#include "traffic/reflector.h"

struct reflector_threads;

/* Runs in the namespace of the interface. 0 or -errno with error text. */
int reflector_threads_open(const struct reflector_config *config, struct reflector_threads **threads);
/* 0, or the first -errno of a thread with its error text. */
int reflector_threads_read(struct reflector_threads *threads, struct reflector_counts *counts);
const char *reflector_threads_describe(const struct reflector_threads *threads);
void reflector_threads_close(struct reflector_threads *threads);

#endif
