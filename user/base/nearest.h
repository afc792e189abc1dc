/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * "Did you mean": the known name that is nearest to what was typed. Pure.
 */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

/* The name among names[0…count-1] with the fewest edits (insert, delete, replace, swap neighbours) to `typed`; NULL when none
 * is near: more than a third of the letters differ (but one edit is always near). */
const char *nearest_name(const char *typed, const char *const *names, int count);

#endif
