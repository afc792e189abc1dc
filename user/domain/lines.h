/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Lines over a file descriptor: a reader with a bounded buffer, a writer with a time limit.
 */
#ifndef DOMAIN_LINES_H
#define DOMAIN_LINES_H

#include <stddef.h>

struct line_reader {
	char *buffer;
	size_t room, start, used; /* text is in buffer[start…used-1] */
	int skipping;		  /* within a line that is too long */
};

/* Lines of up to `room` bytes. 0 or -ENOMEM with error text. */
int line_reader_open(struct line_reader *reader, size_t room);
void line_reader_close(struct line_reader *reader);
/* Reads once, without waiting if fd does not block. The number of bytes, 0 at the end, or -errno (-EAGAIN: nothing there). */
int line_reader_fill(struct line_reader *reader, int fd);
/* 1 and the next whole line, without its newline, valid until the next fill; 0 when there is none; -EMSGSIZE for each line that was too
 * long and has been skipped. */
int line_reader_next(struct line_reader *reader, char **line, size_t *length);

/* Writes all of it to an fd that does not block. 0, -ETIMEDOUT when not all of it was taken in time, or -errno. No error text. */
int line_write(int fd, const char *text, size_t length, int timeout_ms);

#endif
