// SPDX-License-Identifier: GPL-2.0-or-later
/* Any bytes as a line of the protocol, to the agent and to the host: what is understood says the same when it is said again. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "domain/message.h"
#include "targets.h"

/* Both read from one line and from the same line, printed again. */
union twice {
	union verb_request request[2];
	union verb_reply reply[2];
};

static struct message *read_again(char *line, const size_t *printed)
{
	const size_t length = *printed; /* through a pointer: which argument is evaluated first is not said */
	struct message *message;

	FUZZ_PROMISE(line && length && length <= MESSAGE_MAX_BYTES + 1 && line[length - 1] == '\n');
	FUZZ_PROMISE(memchr(line, '\n', length) == line + length - 1);
	message = message_read(line, length - 1);
	FUZZ_PROMISE(message);
	free(line);
	return message;
}

static void as_request(const struct message *message, union twice *twice)
{
	int verb = message_verb(message), code;
	struct message *again;
	size_t length;

	FUZZ_PROMISE(verb >= -1 && verb < VERB_COUNT);
	if (verb < 0)
		return;
	memset(twice, 0, sizeof(*twice));
	code = message_take_request(message, (enum verb)verb, &twice->request[0]);
	FUZZ_PROMISE(!code || (code == -EBADMSG && error_text()[0]));
	if (code)
		return;
	again = read_again(message_print_request(message_id(message), (enum verb)verb, &twice->request[0], &length),
			   &length);
	FUZZ_PROMISE(message_id(again) == message_id(message) && message_verb(again) == verb);
	FUZZ_PROMISE(!message_take_request(again, (enum verb)verb, &twice->request[1]));
	FUZZ_PROMISE(!memcmp(&twice->request[0], &twice->request[1], sizeof(twice->request[0])));
	message_free(again);
}

static void as_reply(const struct message *message, enum verb verb, union twice *twice)
{
	struct message *again;
	size_t length;
	int code;

	memset(twice, 0, sizeof(*twice));
	code = message_take_reply(message, verb, &twice->reply[0]);
	FUZZ_PROMISE(code <= 0 && code >= -4095 && (!code || error_text()[0]));
	if (code)
		return;
	again = read_again(message_print_reply(message_id(message), verb, &twice->reply[0], &length), &length);
	FUZZ_PROMISE(!message_take_reply(again, verb, &twice->reply[1]));
	FUZZ_PROMISE(!memcmp(&twice->reply[0], &twice->reply[1], sizeof(twice->reply[0])));
	message_free(again);
}

int fuzz_message(const uint8_t *data, size_t size)
{
	static union twice twice;
	struct message *message = message_read((const char *)data, size);

	if (!message) {
		FUZZ_PROMISE(error_text()[0]);
		return 0;
	}
	as_request(message, &twice);
	for (int verb = 0; verb < VERB_COUNT; verb++)
		as_reply(message, (enum verb)verb, &twice);
	message_free(message);
	return 0;
}
