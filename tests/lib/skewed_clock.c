// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * For LD_PRELOAD: a process whose CLOCK_MONOTONIC is another one, of known offset and rate, changed while it runs.
 *
 * The file named by SKEWED_CLOCK holds a count and a list (tests/lib/skewed_clock.py writes it). From real time base_ns of an entry on, the
 * clock is real time + offset_ns + rate * (real time - base_ns). The last entry that has begun counts, so a change that is announced ahead
 * of its time happens at exactly that time.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define MOST_ENTRIES 4096

struct skew {
	uint64_t count;
	struct {
		int64_t base_ns, offset_ns;
		double rate;
	} entries[MOST_ENTRIES];
};

static const struct skew *skew;
static int (*real_gettime)(clockid_t clock, struct timespec *now);

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("SKEWED_CLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map = fd >= 0 ? mmap(NULL, sizeof(*skew), PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;

	real_gettime = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED || !real_gettime)
		abort(); /* a test with the right clock would prove nothing */
	skew = map;
}

int clock_gettime(clockid_t clock, struct timespec *now)
{
	int code = real_gettime(clock, now);
	uint64_t entry = __atomic_load_n(&skew->count, __ATOMIC_ACQUIRE);
	int64_t ns;

	if (code || clock != CLOCK_MONOTONIC || !entry)
		return code;
	ns = (int64_t)now->tv_sec * 1000000000 + now->tv_nsec;
	while (--entry && skew->entries[entry].base_ns > ns)
		;
	ns += skew->entries[entry].offset_ns + (int64_t)(skew->entries[entry].rate * (double)(ns - skew->entries[entry].base_ns));
	now->tv_sec = ns / 1000000000;
	now->tv_nsec = ns % 1000000000;
	return 0;
}
