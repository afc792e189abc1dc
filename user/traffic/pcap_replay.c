// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads captures; see pcap_replay.h. Called by cmd/send.c. libpcap says what is wrong inside of a file, this file says
 * where.
 *
 * A capture is read twice: once to count frames and bytes and to find what is wrong with it, once into memory of the
 * right size. A file that changes in between is noticed.
 */
#include <errno.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error.h"
#include "base/units.h"
#include "traffic/pcap_replay.h"

#define ETHERNET_BYTES 14
#define NS_PER_S 1000000000ll

/* One pass over a file. */
struct reading {
	const char *file;
	enum replay_use use;
	pcap_t *pcap;
	unsigned long long frame; /* number of the one that was read last, from 1 */
	long long offset;	  /* in the file, where it begins; -1: unknown */
};

static int open_file(struct reading *reading)
{
	char why[PCAP_ERRBUF_SIZE] = "";
	struct stat status;

	if (stat(reading->file, &status))
		return error_set(errno, "%s: %s", reading->file, strerror(errno));
	if (!S_ISREG(status.st_mode)) /* it is read twice */
		return error_set(EINVAL, "%s: not a regular file", reading->file);
	if (!status.st_size)
		return error_set(EINVAL, "%s: the file is empty", reading->file);
	reading->pcap = pcap_open_offline_with_tstamp_precision(reading->file, PCAP_TSTAMP_PRECISION_NANO, why);
	if (!reading->pcap)
		return error_set(EINVAL, "%s: cannot be read as pcap or pcapng: %s", reading->file, why);
	if (pcap_datalink(reading->pcap) == DLT_EN10MB)
		return 0;
	return error_set(EINVAL, "%s: its frames are of type %s; only Ethernet can be sent", reading->file,
			 pcap_datalink_val_to_name(pcap_datalink(reading->pcap)) ?: "unknown");
}

static int bad_frame(const struct reading *reading, const char *why)
{
	if (reading->offset < 0)
		return error_set(EINVAL, "%s: frame %llu: %s", reading->file, reading->frame, why);
	return error_set(EINVAL, "%s: frame %llu, at byte %lld: %s", reading->file, reading->frame, reading->offset,
			 why);
}

static int check_frame(const struct reading *reading, const struct pcap_pkthdr *header)
{
	char why[200];

	if (header->len > HOPCAP_MAX_FRAME_BYTES)
		snprintf(why, sizeof(why),
			 "%u bytes, and at most %d can be sent; frames like this come from captures "
			 "with segmentation or receive "
			 "offload on",
			 header->len, HOPCAP_MAX_FRAME_BYTES);
	else if (header->caplen > header->len)
		snprintf(why, sizeof(why), "%u bytes were captured of a frame of %u: the file is damaged",
			 header->caplen, header->len);
	else if (header->len < ETHERNET_BYTES)
		snprintf(why, sizeof(why), "%u bytes are less than an Ethernet header", header->len);
	else if (reading->use == REPLAY_FRAMES && header->caplen < header->len)
		snprintf(why, sizeof(why),
			 "only %u of its %u bytes were captured; capture again with a snapshot length of 0, or send "
			 "the sizes alone",
			 header->caplen, header->len);
	else
		return 0;
	return bad_frame(reading, why);
}

/* The next frame: 1; 0 at the end of the file; -errno with error text. */
static int next_frame(struct reading *reading, struct pcap_pkthdr **header, const unsigned char **data)
{
	FILE *stream = pcap_file(reading->pcap);
	int result;

	reading->frame++;
	reading->offset = stream ? ftello(stream) : -1;
	result = pcap_next_ex(reading->pcap, header, data);
	if (result == PCAP_ERROR_BREAK)
		return 0;
	if (result != 1)
		return bad_frame(reading, pcap_geterr(reading->pcap));
	result = check_frame(reading, *header);
	return result ? result : 1;
}

static int count_frames(const char *file, enum replay_use use, unsigned int *frames, size_t *bytes)
{
	struct reading reading = { .file = file, .use = use };
	const unsigned char *data;
	struct pcap_pkthdr *header;
	unsigned long long total = 0, count = 0;
	int result = open_file(&reading);

	while (!result && (result = next_frame(&reading, &header, &data)) == 1) {
		result = 0;
		total += header->caplen;
		count++;
		if (count > PORT_MAX_REPLAY)
			result = error_set(E2BIG, "%s: more than %u frames; cut it, for example with editcap -c %u",
					   file, PORT_MAX_REPLAY, PORT_MAX_REPLAY);
		else if (total > REPLAY_MAX_BYTES)
			result = error_set(E2BIG, "%s: more than %u MB of frames (at frame %llu); cut it", file,
					   REPLAY_MAX_BYTES >> 20, count);
	}
	if (reading.pcap)
		pcap_close(reading.pcap);
	*frames = (unsigned int)count;
	*bytes = total;
	if (!result && !count)
		return error_set(EINVAL, "%s: there is no frame in it", file);
	return result;
}

/* One frame of every size that occurs, made when it is first met. */
struct made_sizes {
	struct frame_spec spec;
	unsigned char *at[HOPCAP_MAX_FRAME_BYTES + 1]; /* NULL: not met */
	unsigned char *next;
};

static struct port_template of_size(struct made_sizes *made, unsigned int bytes, unsigned int header_offset)
{
	if (!made->at[bytes]) {
		made->spec.frame_bytes = bytes;
		made->at[bytes] = made->next;
		made->next += bytes;
		frame_build(&made->spec, made->at[bytes]);
	}
	return (struct port_template){ .frame = made->at[bytes],
				       .frame_bytes = bytes,
				       .header_offset = header_offset,
				       .udp_offset = header_offset - 8 };
}

/* Time of a frame since the first one, not before that of the one in front. */
static void keep_time(struct pcap_replay *replay, unsigned int i, const struct pcap_pkthdr *header, long long *first_ns)
{
	/* With nanosecond precision tv_usec holds nanoseconds. */
	long long now_ns = (long long)header->ts.tv_sec * NS_PER_S + header->ts.tv_usec;
	uint64_t before_ns = i ? replay->departures_ns[i - 1] : 0;

	if (!i)
		*first_ns = now_ns;
	if (now_ns - *first_ns < (long long)before_ns) {
		replay->backwards++;
		replay->departures_ns[i] = before_ns;
		return;
	}
	replay->departures_ns[i] = (uint64_t)(now_ns - *first_ns);
}

static int fill(const char *file, enum replay_use use, struct pcap_replay *replay, size_t capacity,
		struct made_sizes *made)
{
	struct reading reading = { .file = file, .use = use };
	unsigned int min_bytes = use == REPLAY_SIZES ? frame_min_bytes(&made->spec) : 0;
	long long first_ns = 0;
	size_t used = 0;
	int result = open_file(&reading);

	for (unsigned int i = 0; !result && i < replay->count; i++) {
		const unsigned char *data;
		struct pcap_pkthdr *header;

		result = next_frame(&reading, &header, &data) == 1 ? 0 : -EINVAL;
		if (!result && use == REPLAY_FRAMES && used + header->caplen > capacity)
			result = -EINVAL;
		if (result) {
			result = error_set(EINVAL, "%s: the file changed while it was read", file);
			break;
		}
		keep_time(replay, i, header, &first_ns);
		if (use == REPLAY_SIZES) {
			unsigned int bytes = header->len < min_bytes ? min_bytes : header->len;

			replay->raised += bytes > header->len;
			replay->templates[i] = of_size(made, bytes, min_bytes - HOPCAP_TEST_HEADER_BYTES);
		} else {
			memcpy(replay->bytes + used, data, header->caplen);
			replay->templates[i] = (struct port_template){ .frame = replay->bytes + used,
								       .frame_bytes = header->caplen,
								       .header_offset = PORT_NO_HEADER };
			used += header->caplen;
		}
		replay->mean_bytes += replay->templates[i].frame_bytes;
	}
	if (reading.pcap)
		pcap_close(reading.pcap);
	return result;
}

/* The next pass begins a mean distance after the last frame of this one. */
static void finish(struct pcap_replay *replay)
{
	uint64_t last_ns = replay->departures_ns[replay->count - 1];

	replay->mean_bytes /= replay->count;
	replay->pass_ns = replay->count > 1 ? last_ns + last_ns / (replay->count - 1) : 0;
}

int pcap_replay_read(const char *file, enum replay_use use, const struct frame_spec *spec, struct pcap_replay *replay)
{
	/* All sizes there are, each once. */
	size_t sizes_bytes = (size_t)HOPCAP_MAX_FRAME_BYTES * (HOPCAP_MAX_FRAME_BYTES + 1) / 2, capacity;
	struct made_sizes *made = NULL;
	int code;

	memset(replay, 0, sizeof(*replay));
	code = count_frames(file, use, &replay->count, &capacity);
	if (code)
		return code;
	if (use == REPLAY_SIZES) {
		struct frame_spec smallest = *spec;

		smallest.frame_bytes = frame_min_bytes(spec);
		code = frame_check(&smallest);
		if (code)
			return code;
		/* No more than the sizes that can occur, nor than one for each frame. */
		capacity = (size_t)replay->count * HOPCAP_MAX_FRAME_BYTES;
		if (capacity > sizes_bytes)
			capacity = sizes_bytes;
	}
	replay->bytes = malloc(capacity);
	replay->templates = calloc(replay->count, sizeof(*replay->templates));
	replay->departures_ns = calloc(replay->count, sizeof(*replay->departures_ns));
	made = calloc(1, sizeof(*made));
	if (replay->bytes && replay->templates && replay->departures_ns && made) {
		if (use == REPLAY_SIZES)
			made->spec = *spec;
		made->next = replay->bytes;
		code = fill(file, use, replay, capacity, made);
	} else {
		code = error_set(ENOMEM, "%s: out of memory for %u frames", file, replay->count);
	}
	free(made);
	if (!code)
		finish(replay);
	return code;
}

void pcap_replay_free(struct pcap_replay *replay)
{
	free(replay->templates);
	free(replay->departures_ns);
	free(replay->bytes);
	memset(replay, 0, sizeof(*replay));
}

const char *pcap_replay_describe(const struct pcap_replay *replay, char *buffer, size_t size)
{
	double seconds = (double)replay->departures_ns[replay->count - 1] / 1e9;
	char rate[32], text[160] = "";

	if (replay->pass_ns)
		snprintf(text, sizeof(text), " over %.6g s (%s)", seconds,
			 units_print_pps(rate, sizeof(rate), (replay->count - 1) / seconds));
	else
		snprintf(text, sizeof(text), ", all at one time: only a rate can pace them");
	snprintf(buffer, size, "%u frames, mean %.1f bytes (%.1f with FCS)%s", replay->count, replay->mean_bytes,
		 replay->mean_bytes + 4, text);
	if (replay->raised) {
		snprintf(text, sizeof(text), "; %u were smaller than a test frame and are made longer", replay->raised);
		strncat(buffer, text, size - strlen(buffer) - 1);
	}
	if (replay->backwards) {
		snprintf(text, sizeof(text), "; %u stepped back in time and leave with the one in front",
			 replay->backwards);
		strncat(buffer, text, size - strlen(buffer) - 1);
	}
	return buffer;
}
