// SPDX-License-Identifier: GPL-2.0-or-later
/* Lines; see lines.h. Called by remote.c and agent.c. */
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/error.h"
#include "domain/lines.h"
#include "port/pacer.h"

int line_reader_open(struct line_reader *reader, size_t room)
{
	memset(reader, 0, sizeof(*reader));
	reader->room = room + 1;
	reader->buffer = malloc(reader->room);
	return reader->buffer ? 0 : error_set(ENOMEM, "out of memory for messages");
}

void line_reader_close(struct line_reader *reader)
{
	free(reader->buffer);
	memset(reader, 0, sizeof(*reader));
}

int line_reader_fill(struct line_reader *reader, int fd)
{
	ssize_t got;

	if (reader->start) {
		memmove(reader->buffer, reader->buffer + reader->start, reader->used - reader->start);
		reader->used -= reader->start;
		reader->start = 0;
	}
	if (reader->used == reader->room) { /* no newline in all of it */
		reader->skipping = 1;
		reader->used = 0;
	}
	do {
		got = read(fd, reader->buffer + reader->used, reader->room - reader->used);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	reader->used += (size_t)got;
	return (int)got;
}

int line_reader_next(struct line_reader *reader, char **line, size_t *length)
{
	char *text = reader->buffer + reader->start;
	char *end = memchr(text, '\n', reader->used - reader->start);

	if (!end) {
		if (reader->skipping)
			reader->start = reader->used = 0;
		return 0;
	}
	reader->start += (size_t)(end - text) + 1;
	if (reader->skipping) {
		reader->skipping = 0;
		return -EMSGSIZE;
	}
	*line = text;
	*length = (size_t)(end - text);
	return 1;
}

int line_write(int fd, const char *text, size_t length, int timeout_ms)
{
	uint64_t end_ns = pacer_now_ns() + (uint64_t)timeout_ms * 1000000;

	while (length) {
		struct pollfd room = { .fd = fd, .events = POLLOUT };
		ssize_t written = write(fd, text, length);
		int64_t left_ns = (int64_t)(end_ns - pacer_now_ns());

		if (written > 0) {
			text += written;
			length -= (size_t)written;
			continue;
		}
		if (written < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
		if (left_ns <= 0)
			return -ETIMEDOUT;
		poll(&room, 1, (int)(left_ns / 1000000) + 1);
	}
	return 0;
}
