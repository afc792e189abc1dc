/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the bad path of test_ledger_path.c does to each frame: the rules, for the program that does it and for the model that knows
 * what must be counted.
 */
#ifndef BAD_PATH_H
#define BAD_PATH_H

#include "ledger_layout.h"

#define BAD_PATH_MOST 6 /* frames that may come of one */
#define BAD_PATH_LATE (LEDGER_WINDOW + LEDGER_WINDOW / 8)

/* One frame that goes on in place of frame `sequence`. */
struct bad_frame {
	ledger_u32 sequence;
	ledger_u32 is_damaged; /* in the IPv4 header */
};

/* Which frames come out of the path, in this order; returns how many. */
LEDGER_INLINE ledger_u32 bad_path(ledger_u32 sequence, struct bad_frame out[BAD_PATH_MOST])
{
	ledger_u32 count = 0;

	if (sequence % 1009 == 500) /* an old one once more, or at last */
		out[count++] = (struct bad_frame){ sequence - 300, 0 };
	if (sequence % 10007 == 77)
		out[count++] = (struct bad_frame){ sequence, 1 };
	if (sequence > BAD_PATH_LATE && sequence % 50021 == 7)
		out[count++] = (struct bad_frame){ sequence - BAD_PATH_LATE, 0 };
	if (sequence % 101 == 13) /* lost */
		return count;
	if (sequence % 89 == 30) /* two that change places */
		sequence += 3;
	else if (sequence % 89 == 33)
		sequence -= 3;
	out[count++] = (struct bad_frame){ sequence, 0 };
	if (sequence % 97 == 20) /* doubled */
		out[count++] = (struct bad_frame){ sequence, 0 };
	return count;
}

#endif
