/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * QEMU processes that labs start, known by what stands behind -name: "hopcap-<id>-<guest>". A process number may be somebody else's by the
 * time it is used; such a name is not.
 */
#ifndef SYS_GUEST_PROCESS_H
#define SYS_GUEST_PROCESS_H

#define GUEST_PROCESS_PREFIX "hopcap-"

/* Number of running QEMU processes whose -name starts with prefix; -errno with error text. */
int guest_process_count(const char *prefix);
/* Ends them: SIGTERM, after some seconds SIGKILL, and waits until they are gone. prefix starts with "hopcap-" and ends with a guest's whole
 * name or with "-", else EINVAL. 0, also when there is none. */
int guest_process_end(const char *prefix);
/* Removes the files of guests in a directory ".../guests/ID", and it. 0, also when it is not there; EINVAL for another directory. */
int guest_files_remove(const char *directory);

#endif
