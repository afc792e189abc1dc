/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lines of the protocol between `hopcap run` and `hopcap agent`. Pure: text in, structs out, and back.
 *
 * A line is one JSON object and a newline:
 *     request   {"id": 7, "verb": "probe-open", …what verbs.c says of the verb…}
 *     reply     {"id": 7, …} or {"id": 7, "error": 19, "text": "eth0@guest: no such interface"}    error: an errno
 * Every member that the rows name must be there, of the right kind and in its range, and no other. Nothing in a line is trusted: its length,
 * depth, number of values and every count are bounded before anything is allocated for them.
 */
#ifndef DOMAIN_MESSAGE_H
#define DOMAIN_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include "domain/verbs.h"

#define MESSAGE_MAX_BYTES (256 * 1024) /* of a line, without the newline */
#define MESSAGE_MAX_DEPTH 4
#define MESSAGE_MAX_VALUES 16384

/* Lines to send, malloc'ed, with newline; NULL with error text: out of memory, or EMSGSIZE. */
char *message_print_request(uint32_t id, enum verb verb, const void *request, size_t *length);
char *message_print_reply(uint32_t id, enum verb verb, const void *reply, size_t *length);
char *message_print_failure(uint32_t id, int code, const char *text, size_t *length); /* code > 0 */

struct message;

/* A line that came. NULL with error text: no JSON object, over a bound, no id. */
struct message *message_read(const char *line, size_t length);
void message_free(struct message *message);
uint32_t message_id(const struct message *message);
/* Of a request; -1 with error text: no verb, or an unknown one. */
int message_verb(const struct message *message);
/* 0, or -EBADMSG with error text that names the member. */
int message_take_request(const struct message *message, enum verb verb, void *request);
/* 0; what the other side failed with, with its text; or -EBADMSG with error text. */
int message_take_reply(const struct message *message, enum verb verb, void *reply);

#endif
