/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which side of a forwarder of two interfaces a station is. Pure memory, shared by all workers without a lock.
 *
 * Theory. With two interfaces a frame goes across unless its receiver is known to be where it came from; so what is forgotten costs a frame
 * that was not needed there, never one that is lost. Hence one place for an address, chosen by hash: the last one that sent has it. An entry
 * is one 64-bit word (address, side, second), read and written whole, so no reader sees half of it.
 */
#ifndef ACCEL_FORWARD_TABLE_H
#define ACCEL_FORWARD_TABLE_H

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

#define FORWARD_TABLE_PLACES 8192u /* a power of two */
#define FORWARD_TABLE_AGE_S 300u

struct forward_table {
	_Atomic uint64_t places[FORWARD_TABLE_PLACES]; /* 0: none; address << 16 | second << 1 | side */
};

static inline uint64_t forward_table_address(const unsigned char address[6])
{
	uint32_t head;
	uint16_t tail;

	memcpy(&head, address, sizeof(head));
	memcpy(&tail, address + sizeof(head), sizeof(tail));
	return (uint64_t)head << 16 | tail;
}

static inline _Atomic uint64_t *forward_table_place(struct forward_table *table, uint64_t address)
{
	return &table->places[address * 0x9e3779b97f4a7c15ull >> 51 & (FORWARD_TABLE_PLACES - 1)];
}

/* A frame from `address` came in on `side` (0, 1). second: of any clock, modulo 32768. */
static inline void forward_table_learn(struct forward_table *table, uint64_t address, int side, unsigned int second)
{
	_Atomic uint64_t *place = forward_table_place(table, address);
	uint64_t entry = address << 16 | (second & 0x7fff) << 1 | (uint64_t)side;

	if (atomic_load_explicit(place, memory_order_relaxed) != entry)
		atomic_store_explicit(place, entry, memory_order_relaxed);
}

/* Its side, or -1: not known, or not heard of for FORWARD_TABLE_AGE_S. */
static inline int forward_table_side(struct forward_table *table, uint64_t address, unsigned int second)
{
	uint64_t entry = atomic_load_explicit(forward_table_place(table, address), memory_order_relaxed);

	if (entry >> 16 != address || !entry || ((second - (entry >> 1)) & 0x7fff) > FORWARD_TABLE_AGE_S)
		return -1;
	return (int)(entry & 1);
}

#endif
