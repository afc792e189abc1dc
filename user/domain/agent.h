/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The far side of a domain: serves the verbs on this kernel over two file descriptors.
 */
#ifndef DOMAIN_AGENT_H
#define DOMAIN_AGENT_H

/*
 * Serves until the host says bye, or is gone: the end of input, an error, a signal (undo_interrupted()), or silence of AGENT_SILENCE_MS
 * after it was greeted. Then everything that was asked for has been closed; the undo stack is the caller's. in and out may be the
 * same. 0, or -errno with error text when the host was lost in the middle.
 */
int agent_serve(int in, int out);

#define AGENT_SILENCE_MS 1600

#endif
