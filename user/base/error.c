// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The text of the last failure of each thread. See error.h for who sets it and who prints it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"

#define ERROR_TEXT_BYTES 1024

static __thread char last_text[ERROR_TEXT_BYTES];

int error_set(int code, const char *format, ...)
{
	char text[ERROR_TEXT_BYTES]; /* the arguments may well contain error_text() */
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	/* Names that users and files give must not drive the terminal. */
	for (char *at = text; *at; at++)
		if ((unsigned char)*at < 0x20 || *at == 0x7f)
			*at = '?';
	memcpy(last_text, text, sizeof(text));
	return -code;
}

const char *error_text(void)
{
	return last_text;
}

int error_exit_status(int negative_errno)
{
	switch (-negative_errno) {
	case 0:
		return EXIT_STATUS_FINE;
	case EINVAL:
		return EXIT_STATUS_USAGE;
	case EFAULT:
	case ENOTRECOVERABLE:
		return EXIT_STATUS_INTERNAL;
	default:
		return EXIT_STATUS_ENVIRONMENT;
	}
}
