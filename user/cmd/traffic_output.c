// SPDX-License-Identifier: GPL-2.0-or-later
/* Live view and results as text; see traffic_output.h. JSON is traffic_json.c. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "cmd/terminal.h"
#include "cmd/traffic_json.h"
#include "cmd/traffic_output.h"
#include "report/cpu_cost_text.h"

#define PAGE_WIDTH 100

struct text {
	char data[32];
};

static struct text pps_text(double pps)
{
	struct text text;

	units_print_pps(text.data, sizeof(text.data), pps);
	return text;
}

static struct text ns_text(double ns)
{
	struct text text;

	units_print_ns(text.data, sizeof(text.data), ns);
	return text;
}

static struct text count_text(uint64_t count)
{
	struct text text;

	units_print_count(text.data, sizeof(text.data), count);
	return text;
}

static struct text gbps_text(double gbps)
{
	struct text text;

	units_print_gbps(text.data, sizeof(text.data), gbps);
	return text;
}

struct traffic_span traffic_span(const struct traffic_state *state, int stream, uint64_t sent)
{
	const struct ledger_counts *counts = &state->reading->streams[stream];
	struct traffic_span span = { .start_known = state->from_start || state->reading->begun_streams >> stream & 1 };

	if (!span.start_known && counts->next)
		span.from = counts->lowest;
	if (counts->next && !counts->lowest)
		span.start_known = 1;
	span.to = sent ? sent : counts->announced;
	span.end_known = span.to > 0;
	if (!span.end_known)
		span.to = counts->next;
	return span;
}

uint64_t traffic_lost(const struct traffic_state *state)
{
	uint64_t lost = 0;

	for (int i = 0; i < state->streams; i++) {
		struct traffic_span span = traffic_span(state, i, 0);

		lost += ledger_lost_from(&state->reading->streams[i], span.from, span.to);
	}
	return lost;
}

int traffic_beyond(const struct sink_reading *reading, uint64_t *frames, int *streams_needed)
{
	int count = 0;

	*frames = 0;
	*streams_needed = 0;
	for (int i = 0; i < LEDGER_MAX_STREAMS; i++) {
		if (!reading->beyond_frames[i])
			continue;
		*frames += reading->beyond_frames[i];
		*streams_needed = i + 1;
		count++;
	}
	return count;
}

int traffic_unread(const struct traffic_form *form)
{
	return form->json_lines && terminal_reader_gone(stdout);
}

/* Quantile of what came into a histogram between two readings. */
static double quantile_between(const struct histogram *now, const struct histogram *before, double fraction)
{
	struct histogram between = *now;

	if (before)
		histogram_subtract(&between, before);
	return histogram_count(&between) ? histogram_quantile(&between, fraction) : NAN;
}

void traffic_interval(const struct traffic_form *form, const struct traffic_state *now,
		      const struct traffic_state *before)
{
	double seconds = now->elapsed_s - before->elapsed_s;
	const struct histogram *earlier = before->reading ? &before->reading->latency_ns : NULL;

	if (form->json_lines)
		traffic_json_interval(now, before);
	if (!form->live || seconds <= 0)
		return;
	printf("\r\033[K%6.1f s", now->elapsed_s);
	if (now->sends) {
		double pps = (double)(now->sent_frames - before->sent_frames) / seconds;

		printf("  sent %s, %s", pps_text(pps).data, gbps_text(pps * now->frame_bytes * 8e-9).data);
	}
	if (now->sinks) {
		const struct sink_reading *reading = now->reading, *last = before->reading;
		double pps = (double)(reading->frames - (last ? last->frames : 0)) / seconds;

		printf("  received %s  lost %s  p50 %s  p99 %s", pps_text(pps).data, count_text(traffic_lost(now)).data,
		       ns_text(quantile_between(&reading->latency_ns, earlier, 0.5)).data,
		       ns_text(quantile_between(&reading->latency_ns, earlier, 0.99)).data);
	}
	fflush(stdout);
}

void traffic_clear(const struct traffic_form *form)
{
	if (form->live)
		fputs("\r\033[K", stdout);
}

static void line(const char *name, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void line(const char *name, const char *format, ...)
{
	va_list arguments;

	printf("  %-10s ", name);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static void quantiles(const char *name, const struct histogram *histogram, const char *more)
{
	if (!histogram_count(histogram))
		return;
	line(name, "min %s, p50 %s, p90 %s, p99 %s, p99.9 %s, max %s%s", ns_text(histogram_min(histogram)).data,
	     ns_text(histogram_quantile(histogram, 0.5)).data, ns_text(histogram_quantile(histogram, 0.9)).data,
	     ns_text(histogram_quantile(histogram, 0.99)).data, ns_text(histogram_quantile(histogram, 0.999)).data,
	     ns_text(histogram_max(histogram)).data, more);
}

static void print_sent(const struct traffic_result *result)
{
	const struct port_sent *sent = result->sent;
	double pps = result->achieved_pps;
	char ramp[64] = "";

	line("sent", "%s frames in %.3f s: %s, %s (layer 2 without FCS)", count_text(sent->frames).data, result->sending_s,
	     pps_text(pps).data, gbps_text(pps * result->state.frame_bytes * 8e-9).data);
	if (sent->refused)
		line("refused", "%s of them: the device had no room; they count as sent and lost", count_text(sent->refused).data);
	if (result->asked_pps <= 0)
		return;
	if (result->ramp_to_pps > 0)
		snprintf(ramp, sizeof(ramp), " on average of the ramp to %.6g", result->ramp_to_pps);
	line("rate", "asked for %.6g pps%s, achieved %.6g (%+.4f %%), first to last departure", result->asked_pps, ramp, pps,
	     100 * (pps / result->asked_pps - 1));
	quantiles("lateness", &sent->lateness_ns, "");
	if (sent->frames)
		line("", "mean %s; kept from running %s times, %s in all, made up for at 8/7 of the rate: %s behind on average",
		     ns_text((double)sent->late_sum_ns / (double)sent->frames).data, count_text(sent->slips).data,
		     ns_text((double)sent->slipped_ns).data, ns_text((double)sent->behind_sum_ns / (double)sent->frames).data);
	if (result->source_limited)
		line("limit", "the source is the limit: it could not keep the rate");
}

/* How far the loss of a stream can be trusted, in words. */
static void print_span(const struct traffic_span *span, int seen)
{
	if (span->start_known && span->end_known)
		line("", "exact, from the first frame to the last");
	if (!span->start_known && !seen)
		line("", "none was seen: whether this sink was there from the beginning is not known");
	else if (!span->start_known)
		line("", "joined at sequence %s: frames before it, sent or lost, are not counted", count_text(span->from).data);
	if (!span->end_known)
		line("", "up to the highest sequence seen: the source has not said how many there were");
}

static void print_stream(const struct traffic_result *result, int stream)
{
	const struct ledger_counts *counts = &result->state.reading->streams[stream];
	struct traffic_span span = traffic_span(&result->state, stream, result->stream_sent[stream]);
	uint64_t lost = ledger_lost_from(counts, span.from, span.to), of = span.to > span.from ? span.to - span.from : 0;
	char name[16] = "lost";

	if (!counts->frames && !of)
		return;
	if (result->state.streams > 1)
		snprintf(name, sizeof(name), "stream %d", stream);
	line(name, "%s%s of %s (%.4g %%)", result->state.streams > 1 ? "lost " : "", count_text(lost).data, count_text(of).data,
	     of ? 100.0 * (double)lost / (double)of : 0.0);
	print_span(&span, counts->next > 0);
	line("", "duplicates %s, reordered %s, late %s, corrupted %s", count_text(counts->duplicates).data,
	     count_text(counts->reordered).data, count_text(counts->late).data, count_text(counts->corrupted).data);
	for (int b = LEDGER_EXTENTS - 1; b >= 0; b--) {
		if (!counts->extent[b])
			continue;
		line("", "reordered by up to %llu places", (unsigned long long)(2ull << b) - 1);
		break;
	}
}

static void print_spread(const char *name, const uint64_t *frames, int count, uint64_t total)
{
	int used = 0;

	for (int i = 0; i < count; i++)
		used += frames[i] > 0;
	if (!used || !total)
		return;
	printf("  %-10s ", name);
	for (int i = 0; i < count; i++)
		if (frames[i])
			printf("%d: %.1f %%  ", i, 100.0 * (double)frames[i] / (double)total);
	putchar('\n');
}

static void print_beyond(const struct traffic_result *result)
{
	uint64_t frames;
	int needed, count = traffic_beyond(result->state.reading, &frames, &needed);

	if (!count)
		return;
	if (needed > result->state.streams)
		line("streams", "%d more of this run (%s frames) have no ledger: --streams %d gives them one", count,
		     count_text(frames).data, needed);
	else
		line("streams", "%d more of this run (%s frames) have no ledger: at most %d have one", count, count_text(frames).data,
		     LEDGER_MAX_STREAMS);
}

static void print_received(const struct traffic_result *result)
{
	const struct sink_reading *reading = result->state.reading;
	char jitter[64] = "", stamped[64] = "";
	uint64_t beyond;
	int needed;

	traffic_beyond(reading, &beyond, &needed);
	line("received", "%s frames, %s bytes; others' frames %s", count_text(reading->frames).data,
	     count_text(reading->bytes).data, count_text(reading->other_frames - beyond).data);
	for (int i = 0; i < result->state.streams; i++)
		print_stream(result, i);
	print_beyond(result);
	if (reading->stamped)
		snprintf(jitter, sizeof(jitter), "; jitter %s", ns_text(reading->jitter_ns).data);
	quantiles("latency", &reading->latency_ns, jitter);
	if (reading->stamped)
		snprintf(stamped, sizeof(stamped), "; of stamped frames, 1 in %.0f", (double)reading->frames / (double)reading->stamped);
	quantiles("gaps", &reading->gap_ns, stamped);
	if (reading->dropped || reading->ring_full || reading->fill_empty)
		line("socket", "dropped %s, ring full %s, fill ring empty %s: the sink was too slow",
		     count_text(reading->dropped).data, count_text(reading->ring_full).data,
		     count_text(reading->fill_empty).data);
	if (reading->unbound)
		line("unbound", "%s test frames came on queues that no thread of this sink serves; --queues serves all, or steer flows to its queues",
		     count_text(reading->unbound).data);
	print_spread("queues", reading->queue_frames, SINK_MAX_QUEUES, reading->frames);
	print_spread("CPUs", reading->cpu_frames, RUN_MAX_CPUS, reading->frames);
}

void traffic_result(const struct traffic_form *form, const struct traffic_result *result)
{
	if (form->json_lines) {
		traffic_json_result(result);
		return;
	}
	traffic_clear(form);
	if (result->source)
		printf("from %s: %s\n", result->source, result->source_got);
	if (result->sink)
		printf("at %s: %s\n", result->sink, result->sink_got);
	if (result->mix)
		line("frames", "%s; run tag %u", result->mix, result->run_tag);
	if (result->state.sends)
		print_sent(result);
	if (result->state.sinks)
		print_received(result);
	if (result->cost) {
		const struct report_style style = terminal_style(stdout);
		const struct page page = { .stream = stdout, .width = style.width > 0 ? style.width : PAGE_WIDTH, .colour = style.colour };

		cpu_cost_text(&page, result->cost);
	}
}
