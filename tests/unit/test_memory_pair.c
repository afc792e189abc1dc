// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The in-memory pair: every frame that is to arrive does, with the fates that were chosen and no others, counted here
 * frame by frame. Run it under valgrind, too: nothing in it needs a kernel.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"
#include "port/memory.h"

#define MANY 1000000u
#define FRAME_BYTES 60
#define HEADER_OFFSET 42

/* What arrived: how often each sequence did, and how far behind the highest. */
struct tally {
	unsigned char *seen;
	uint64_t sequences, frames, bytes, strangers, behind;
	uint64_t highest; /* + 1 */
	int reflect;
};

struct reading {
	struct receiver *receiver;
	struct tally tally;
	atomic_int stop;
	pthread_t thread;
};

static uint32_t get_be32(const unsigned char *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void take(void *context, const struct receive_frame *frames, unsigned char *send_back, unsigned int count)
{
	struct tally *tally = context;

	for (unsigned int i = 0; i < count; i++) {
		uint32_t sequence = get_be32(frames[i].data + HEADER_OFFSET + HOPCAP_OFFSET_SEQUENCE);

		tally->frames++;
		tally->bytes += frames[i].bytes;
		if (sequence >= tally->sequences || frames[i].data_bytes != frames[i].bytes) {
			tally->strangers++;
			continue;
		}
		if (tally->seen[sequence] < 255)
			tally->seen[sequence]++;
		if (sequence + 1 < tally->highest)
			tally->behind++;
		else
			tally->highest = sequence + 1;
		send_back[i] = (unsigned char)tally->reflect;
	}
}

static void *read_thread(void *argument)
{
	struct reading *reading = argument;

	assert_int_equal(receiver_memory.receive(reading->receiver, &reading->stop, take, &reading->tally), 0);
	return NULL;
}

static void reading_start(struct reading *reading, const char *name, int queue, uint64_t sequences, int reflect)
{
	const struct port_config config = { .interface = name, .queue = queue };

	memset(reading, 0, sizeof(*reading));
	reading->tally.sequences = sequences;
	reading->tally.seen = calloc(sequences, 1);
	reading->tally.reflect = reflect;
	assert_non_null(reading->tally.seen);
	assert_int_equal(receiver_memory.open(&config, &reading->receiver), 0);
	assert_int_equal(pthread_create(&reading->thread, NULL, read_thread, reading), 0);
}

/* What was sent before is read before it ends. */
static void reading_stop(struct reading *reading)
{
	atomic_store(&reading->stop, 1);
	pthread_join(reading->thread, NULL);
}

static void reading_end(struct reading *reading)
{
	receiver_memory.close(reading->receiver);
	free(reading->tally.seen);
}

static unsigned char template_bytes[FRAME_BYTES];
static const struct port_template template = {
	.frame = template_bytes, .frame_bytes = FRAME_BYTES, .header_offset = HEADER_OFFSET, .udp_offset = 34
};

static void send_frames(struct port *port, uint64_t frames, struct port_sent *sent)
{
	atomic_int stop = 0;
	const struct port_stream stream = {
		.templates = &template, .template_count = 1, .flows = 1, .frames = frames, .stop = &stop
	};

	assert_int_equal(port_memory.send(port, &stream, sent), 0);
	assert_int_equal(sent->frames, frames);
	assert_int_equal(sent->bytes, frames * FRAME_BYTES);
}

static void open_port(const char *name, struct port **port)
{
	const struct port_config config = { .interface = name };

	assert_int_equal(port_memory.open(&config, port), 0);
}

static void test_all_arrive(void **state)
{
	const struct memory_config config = { .name = "plain" };
	struct memory_pair *pair;
	struct reading reading;
	struct port_sent sent;
	struct port *port;

	(void)state;
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	open_port("plain", &port);
	reading_start(&reading, "plain", 0, MANY, 0);
	send_frames(port, MANY, &sent);
	reading_stop(&reading);
	assert_int_equal(sent.refused, 0);
	assert_int_equal(reading.tally.frames, MANY);
	assert_int_equal(reading.tally.bytes, (uint64_t)MANY * FRAME_BYTES);
	assert_int_equal(reading.tally.strangers, 0);
	assert_int_equal(reading.tally.behind, 0);
	for (uint32_t i = 0; i < MANY; i++)
		if (reading.tally.seen[i] != 1)
			fail_msg("frame %u arrived %u times", i, reading.tally.seen[i]);
	reading_end(&reading);
	port_memory.close(port);
	memory_pair_close(pair);
}

/* Known frames are lost, doubled and swapped; by numbers without a common factor, so that fates meet in every order. */
static enum memory_fate fate_of(void *context, uint64_t number)
{
	(void)context;
	if (number % 101 == 0)
		return MEMORY_LOSE;
	if (number % 103 == 1)
		return MEMORY_DOUBLE;
	return number % 107 == 2 ? MEMORY_SWAP : MEMORY_PASS;
}

/* The same, worked out over the whole stream: how often each frame arrives, and how many arrive behind a later one. */
static uint64_t expect_fates(uint64_t frames, unsigned char *times)
{
	uint64_t behind = 0, held = UINT64_MAX;

	for (uint64_t i = 0; i < frames; i++) {
		enum memory_fate fate = fate_of(NULL, i);

		times[i] = fate == MEMORY_LOSE ? 0 : fate == MEMORY_DOUBLE ? 2 : 1;
		if (fate == MEMORY_SWAP && held == UINT64_MAX) {
			held = i;
		} else if (fate != MEMORY_LOSE && held != UINT64_MAX) {
			behind++;
			held = UINT64_MAX;
		}
	}
	return behind;
}

static void test_fates(void **state)
{
	const struct memory_config config = { .name = "fates", .slots = 64, .fate = fate_of };
	unsigned char *times = malloc(MANY);
	uint64_t behind, arriving = 0;
	struct memory_pair *pair;
	struct reading reading;
	struct port_sent sent;
	struct port *port;

	(void)state;
	behind = expect_fates(MANY, times);
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	open_port("fates", &port);
	reading_start(&reading, "fates", 0, MANY, 0);
	send_frames(port, MANY, &sent);
	reading_stop(&reading);
	for (uint32_t i = 0; i < MANY; i++) {
		arriving += times[i];
		if (reading.tally.seen[i] != times[i])
			fail_msg("frame %u arrived %u times instead of %u", i, reading.tally.seen[i], times[i]);
	}
	assert_int_equal(reading.tally.frames, arriving);
	assert_int_equal(reading.tally.strangers, 0);
	assert_int_equal(reading.tally.behind, behind);
	assert_true(behind > 9000);
	reading_end(&reading);
	port_memory.close(port);
	memory_pair_close(pair);
	free(times);
}

/* A frame that is swapped at the very end still arrives. */
static enum memory_fate swap_all(void *context, uint64_t number)
{
	(void)context;
	(void)number;
	return MEMORY_SWAP;
}

static void test_swap_at_the_end(void **state)
{
	const struct memory_config config = { .name = "end", .fate = swap_all };
	struct memory_pair *pair;
	struct reading reading;
	struct port_sent sent;
	struct port *port;

	(void)state;
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	open_port("end", &port);
	reading_start(&reading, "end", 0, 5, 0);
	send_frames(port, 5, &sent);
	reading_stop(&reading);
	assert_int_equal(reading.tally.frames, 5);
	assert_int_equal(reading.tally.behind, 2); /* 1 0 3 2 4 */
	reading_end(&reading);
	port_memory.close(port);
	memory_pair_close(pair);
}

/* A ring that loses frames says so: sent = refused + arrived. */
static void test_lossy(void **state)
{
	const struct memory_config config = { .name = "lossy", .slots = 16, .lossy = 1 };
	const struct port_config where = { .interface = "lossy" };
	struct receive_statistics statistics;
	struct memory_pair *pair;
	struct reading reading;
	struct port_sent sent;
	struct port *port;

	(void)state;
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	assert_int_equal(port_memory.open(&where, &port), 0);
	send_frames(port, 100, &sent); /* nobody reads yet */
	assert_int_equal(sent.refused, 84);
	reading_start(&reading, "lossy", 0, 100, 0);
	reading_stop(&reading);
	assert_int_equal(reading.tally.frames, 16);
	receiver_memory.statistics(reading.receiver, &statistics);
	assert_int_equal(statistics.ring_full, 84);
	reading_end(&reading);
	port_memory.close(port);
	memory_pair_close(pair);
}

static void test_way_back(void **state)
{
	const struct memory_config config = { .name = "mirror" };
	struct receive_statistics statistics;
	struct reading mirror, home;
	struct memory_pair *pair;
	struct port_sent sent;
	struct port *port;

	(void)state;
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	open_port("mirror", &port);
	reading_start(&mirror, "mirror", 0, 10000, 1);
	reading_start(&home, "mirror", 1, 10000, 0);
	send_frames(port, 10000, &sent);
	reading_stop(&mirror);
	reading_stop(&home);
	receiver_memory.statistics(mirror.receiver, &statistics);
	assert_int_equal(mirror.tally.frames, 10000);
	assert_int_equal(statistics.returned + statistics.return_refused, 10000);
	assert_int_equal(home.tally.frames, statistics.returned);
	assert_true(statistics.returned > 0);
	reading_end(&mirror);
	reading_end(&home);
	port_memory.close(port);
	memory_pair_close(pair);
}

/* A stream without a reader is stopped while it waits for room: the frame that waits was not sent. */
static void test_stop_while_waiting(void **state)
{
	const struct memory_config config = { .name = "full", .slots = 16, .fate = NULL };
	struct port_sent sent;
	atomic_int stop = 1;
	const struct port_stream stream = {
		.templates = &template, .template_count = 1, .flows = 1, .frames = 100, .stop = &stop
	};
	struct memory_pair *pair;
	struct port *port;

	(void)state;
	assert_int_equal(memory_pair_open(&config, &pair), 0);
	open_port("full", &port);
	send_frames(port, 16, &sent);
	assert_int_equal(port_memory.send(port, &stream, &sent), 0);
	assert_int_equal(sent.frames, 0);
	port_memory.close(port);
	memory_pair_close(pair);
}

static void test_bad_input(void **state)
{
	const struct memory_config nameless = { .name = "" }, long_name = { .name = "sixteen-bytes-xx" };
	const struct memory_config odd = { .name = "odd", .slots = 3 },
				   good = { .name = "good", .max_frame_bytes = 59 };
	const struct port_config nowhere = { .interface = "nowhere" }, third = { .interface = "good", .queue = 2 };
	const struct port_config right = { .interface = "good" };
	atomic_int stop = 0;
	const struct port_stream stream = {
		.templates = &template, .template_count = 1, .flows = 1, .frames = 1, .stop = &stop
	};
	struct memory_pair *pair, *other;
	struct receiver *receiver, *second;
	struct port *port, *rival;
	struct port_sent sent;

	(void)state;
	assert_int_equal(memory_pair_open(&nameless, &pair), -EINVAL);
	assert_int_equal(memory_pair_open(&long_name, &pair), -EINVAL);
	assert_int_equal(memory_pair_open(&odd, &pair), -EINVAL);
	assert_int_equal(memory_pair_open(&good, &pair), 0);
	assert_int_equal(memory_pair_open(&good, &other), -EEXIST);
	assert_int_equal(port_memory.open(&nowhere, &port), -ENODEV);
	assert_int_equal(port_memory.open(&third, &port), -EINVAL);
	assert_int_equal(port_memory.open(&right, &port), 0);
	assert_int_equal(port_memory.open(&right, &rival), -EBUSY);
	assert_int_equal(receiver_memory.open(&right, &receiver), 0);
	assert_int_equal(receiver_memory.open(&right, &second), -EBUSY);
	assert_int_equal(port_memory.send(port, &stream, &sent), -EMSGSIZE);
	assert_non_null(strstr(error_text(), "60 bytes"));
	assert_int_equal(sent.frames, 0);
	receiver_memory.close(receiver);
	port_memory.close(port);
	assert_int_equal(port_memory.open(&right, &port), 0); /* free again */
	port_memory.close(port);
	memory_pair_close(pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_arrive),	cmocka_unit_test(test_fates),
		cmocka_unit_test(test_swap_at_the_end), cmocka_unit_test(test_lossy),
		cmocka_unit_test(test_way_back),	cmocka_unit_test(test_stop_while_waiting),
		cmocka_unit_test(test_bad_input),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
