/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A sink in user space: one AF_XDP receiver and thread a queue. The part of sink.c that has threads. */
#ifndef TRAFFIC_SINK_XSK_H
#define TRAFFIC_SINK_XSK_H

#include "traffic/sink.h"

struct sink_threads;

/* Runs in the namespace of the interface, as sink_threads_stop() and _close() do. 0 or -errno with error text. */
int sink_threads_open(const struct sink_config *config, struct sink_threads **threads);
/* 0, or the first -errno of a thread with its error text; the reading is what was counted until then. */
int sink_threads_read(struct sink_threads *threads, struct sink_reading *reading);
const char *sink_threads_describe(const struct sink_threads *threads);
/* Ends the threads; what was counted can still be read. */
void sink_threads_stop(struct sink_threads *threads);
void sink_threads_close(struct sink_threads *threads);

#endif
