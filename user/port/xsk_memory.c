// SPDX-License-Identifier: GPL-2.0-or-later
/* Memory for AF_XDP; see xsk_memory.h. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "port/xsk_memory.h"
#include "port/xsk_queue.h"

#define HUGE_BYTES (2u << 20)
#ifndef MAP_HUGE_2MB
#define MAP_HUGE_2MB (21 << 26)
#endif

int xsk_memory_map(struct xsk_memory *memory, size_t bytes)
{
	const int protection = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS;

	memory->bytes = bytes;
	memory->mapped_bytes = (bytes + HUGE_BYTES - 1) / HUGE_BYTES * HUGE_BYTES;
	memory->area = mmap(NULL, memory->mapped_bytes, protection, flags | MAP_HUGETLB | MAP_HUGE_2MB, -1, 0);
	memory->huge_pages = memory->area != MAP_FAILED;
	if (memory->huge_pages)
		return 0;
	memory->area = mmap(NULL, memory->mapped_bytes, protection, flags, -1, 0);
	if (memory->area == MAP_FAILED) {
		memory->area = NULL;
		return -ENOMEM;
	}
	/* Where nobody set huge pages aside the kernel may still find some. */
	madvise(memory->area, memory->mapped_bytes, MADV_HUGEPAGE);
	return 0;
}

int xsk_memory_register(struct xsk_memory *memory, unsigned int chunk_bytes, unsigned int entries,
			struct xsk_ring_prod *fill, struct xsk_ring_cons *completion)
{
	const struct xsk_umem_config config = { .fill_size = 2 * entries,
						.comp_size = 2 * entries,
						.frame_size = chunk_bytes };

	memory->first_fill = fill;
	memory->first_completion = completion;
	memory->has_rings = 1;
	return xsk_umem__create(&memory->umem, memory->area, memory->bytes, fill, completion, &config);
}

/* libxdp leaves these two mappings to the first socket, and there was none: they would keep the memory registered. */
static void unmap_first_rings(const struct xsk_memory *memory)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);

	if (getsockopt(xsk_umem__fd(memory->umem), SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) ||
	    length != sizeof(offsets))
		return;
	munmap((char *)memory->first_fill->ring - offsets.fr.desc,
	       offsets.fr.desc + memory->first_fill->size * sizeof(__u64));
	munmap((char *)memory->first_completion->ring - offsets.cr.desc,
	       offsets.cr.desc + memory->first_completion->size * sizeof(__u64));
}

void xsk_memory_unregister(struct xsk_memory *memory)
{
	if (!memory->umem)
		return;
	if (memory->has_rings)
		unmap_first_rings(memory);
	xsk_umem__delete(memory->umem);
	memory->umem = NULL;
}

void xsk_memory_unmap(struct xsk_memory *memory)
{
	if (memory->area)
		munmap(memory->area, memory->mapped_bytes);
	memory->area = NULL;
}
