// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Owns: the decision on colour and width, and whether anybody reads. Called by: main.c, the commands that print.
 */
#include "cmd/terminal.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

struct report_style terminal_style(FILE *stream)
{
	struct report_style style = { 0 };
	const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");
	struct winsize size;

	if (!isatty(fileno(stream)))
		return style;
	style.colour = !(no_colour && no_colour[0]) && terminal && strcmp(terminal, "dumb") != 0;
	if (ioctl(fileno(stream), TIOCGWINSZ, &size) == 0)
		style.width = size.ws_col;
	return style;
}

int terminal_reader_gone(FILE *stream)
{
	struct pollfd output = { .fd = fileno(stream) };

	return poll(&output, 1, 0) > 0 && output.revents & POLLERR;
}
