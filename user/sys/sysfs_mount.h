/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * sysfs of the network namespace that this thread is in, as a mount without a path: what is mounted at /sys shows the
 * interfaces of the namespace that it was mounted from, which may be another one.
 */
#ifndef SYS_SYSFS_MOUNT_H
#define SYS_SYSFS_MOUNT_H

/* A directory descriptor for openat("class/net/…"), to be closed; or -errno without error text (EPERM: needs CAP_SYS_ADMIN). */
int sysfs_mount(void);

#endif
