// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `hopcap run`: options in, a measured run out, as text and JSON.
 *
 * Owns: the command line, the progress line, building and removing a lab for --lab. Leaves to others: measuring
 * (measure/run.c), showing (report/).
 */
#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "cmd/command.h"
#include "cmd/domain_options.h"
#include "cmd/lab_path.h"
#include "cmd/run_bypass.h"
#include "cmd/run_findings.h"
#include "cmd/terminal.h"
#include "lab/lab.h"
#include "measure/run.h"
#include "model/model_json.h"
#include "wire_test_frame.h"

#define LEAST_RATE_PPS 100
#define LEAST_TRIAL_S 0.05
#define MOST_TRIAL_S 3600.0

static struct {
	const char *lab, *json, *port;
	long cpu;
	double rate_pps;
	unsigned int size_bytes, mtu_bytes;
	int dedicated, quick, force_uplink, bypass, set_offloads;
	enum run_bypass_way bypass_way;
	int loss_count;
	double loss_ratios[MLRSEARCH_MAX_GOALS];
	double exceed_ratio, width, trial_s, duration_sum_s;
	unsigned int rfc2544;
} options = { .cpu = -1, .exceed_ratio = -1 };

/* A ratio, or a number of per cent: "0.005" or "0.5%". */
static int parse_ratio(const char *text, const char **end, double *ratio)
{
	char *rest;

	*ratio = strtod(text, &rest);
	if (rest == text || !isfinite(*ratio))
		return error_set(EINVAL, "'%s' is not a number", text);
	if (*rest == '%') {
		*ratio /= 100;
		rest++;
	}
	if (!(*ratio >= 0 && *ratio < 1))
		return error_set(EINVAL, "'%.*s' is not a ratio from 0 to below 1", (int)(rest - text), text);
	*end = rest;
	return 0;
}

static int parse_one_ratio(const char *text, double *ratio)
{
	const char *end;
	int code = parse_ratio(text, &end, ratio);

	return code || !*end ? code : error_set(EINVAL, "'%s' is not a ratio", text);
}

static int parse_losses(const char *text)
{
	options.loss_count = 0;
	for (;;) {
		const char *end;
		double ratio;
		int code = parse_ratio(text, &end, &ratio);

		if (code)
			return code;
		if (options.loss_count == MLRSEARCH_MAX_GOALS)
			return error_set(EINVAL, "at most %d loss goals", MLRSEARCH_MAX_GOALS);
		if (options.loss_count && ratio <= options.loss_ratios[options.loss_count - 1])
			return error_set(EINVAL, "loss goals are given in rising order, each once");
		options.loss_ratios[options.loss_count++] = ratio;
		if (!*end)
			return 0;
		if (*end != ',')
			return error_set(EINVAL, "'%s': loss goals are separated by commas", text);
		text = end + 1;
	}
}

static int parse_exceed(const char *text)
{
	return parse_one_ratio(text, &options.exceed_ratio);
}

static int parse_width(const char *text)
{
	int code = parse_one_ratio(text, &options.width);

	return code || options.width > 0 ? code : error_set(EINVAL, "a width of 0 is never reached");
}

static int parse_rfc2544(const char *text)
{
	static const char *const names[] = { "THROUGHPUT", "LATENCY", "LOSS", "BACKTOBACK" };

	options.rfc2544 = text ? 0 : MEASURE_THROUGHPUT | MEASURE_LATENCY | MEASURE_LOSS | MEASURE_BACK_TO_BACK;
	for (size_t length; text && *text; text += length + (text[length] == ',')) {
		unsigned int i = 0;

		length = strcspn(text, ",");
		while (i < 4 && (strlen(names[i]) != length || strncasecmp(text, names[i], length)))
			i++;
		if (i == 4)
			return error_set(EINVAL, "'%.*s' is none of THROUGHPUT, LATENCY, LOSS and BACKTOBACK", (int)length, text);
		options.rfc2544 |= 1u << i; /* in the order of enum measure_rfc2544 */
	}
	return options.rfc2544 ? 0 : error_set(EINVAL, "names no benchmark");
}

static int parse_bypass(const char *text)
{
	options.bypass = 1;
	return run_bypass_parse(text, &options.bypass_way);
}

static const struct option_row rows[] = {
	{ "lab", 'l', OPTION_TEXT, "NAME", "build this lab, measure it, remove it (`hopcap lab --help` names them)",
	  &options.lab, 0, 0 },
	{ "mtu", 0, OPTION_BYTES, "BYTES", "MTU of the lab, 1500...9000 (default 1500)", &options.mtu_bytes, 1500,
	  9000 },
	{ "dedicated", 0, OPTION_FLAG, NULL, "lab without switch and SEA: one wire", &options.dedicated, 0, 0 },
	{ "rate", 'r', OPTION_PPS, "PPS",
	  "offer no more than this: 10000, 10k, 1.5M (default: as much as the source can)", &options.rate_pps, 0, 0 },
	{ "size", 's', OPTION_BYTES, "BYTES",
	  "frame size of cuts and verdict, without FCS (default: the largest that arrives)", &options.size_bytes,
	  HOPCAP_MIN_FRAME_BYTES, HOPCAP_MAX_FRAME_BYTES },
	{ "port", 'p', OPTION_TEXT, "PORT",
	  "how frames are sent: af_xdp_zc, live, af_xdp_copy or packet (default: the fastest that delivers)", &options.port, 0,
	  0 },
	{ "cpu", 0, OPTION_INTEGER, "N", "CPU of the source (default: one that does not serve the path)", &options.cpu,
	  0, 4095 },
	{ "quick", 'q', OPTION_FLAG, NULL, "fewer and shorter trials: less than half of the time, wider bounds",
	  &options.quick, 0, 0 },
	{ "loss-ratio", 0, OPTION_CALL, "LIST", "loss goals end to end, rising: 0,0.0001,0.005 or 0,0.5% (default: 0,0.005)",
	  parse_losses, 0, 0 },
	{ "exceed-ratio", 0, OPTION_CALL, "RATIO", "part of the trial time at a load that may lose more (default: 0.5)",
	  parse_exceed, 0, 0 },
	{ "width", 0, OPTION_CALL, "RATIO", "how close bounds are to come: 0.005 or 0.5% (default: 0.05, quick 0.12)", parse_width,
	  0, 0 },
	{ "trial-seconds", 0, OPTION_SECONDS, "S",
	  "length of full trials end to end (default: 0.4, quick 0.2; with --rfc2544: 60)", &options.trial_s, 0, 0 },
	{ "duration-sum", 0, OPTION_SECONDS, "S", "time of full trials that makes a bound (default: one trial)",
	  &options.duration_sum_s, 0, 0 },
	{ "rfc2544", 0, OPTION_CALL, "[=LIST]",
	  "the path as a whole by RFC 2544's own rules, instead of hop by hop: THROUGHPUT,LATENCY,LOSS,BACKTOBACK (default: all; "
	  "takes hours, unless --trial-seconds makes it shorter)",
	  parse_rfc2544, 0, 0 },
	{ "bypass", 0, OPTION_CALL, "[=WAY]",
	  "after the verdict measure what the path passes with the bridge that caps it replaced: by the fast path (default), or by "
	  "the user-space forwarder (forward)",
	  parse_bypass, 0, 0 },
	{ "set-offloads", 0, OPTION_FLAG, NULL,
	  "with --bypass: change offloads that stand in the way of it, as accel does, and undo that (a lab: always)",
	  &options.set_offloads, 0, 0 },
	DOMAIN_OPTION_ROWS,
	{ "json", 'j', OPTION_TEXT, "FILE", "write the whole run to FILE, too (`hopcap report FILE` prints it again)",
	  &options.json, 0, 0 },
	{ "force-uplink", 0, OPTION_FLAG, NULL,
	  "generate even on the interface of the default route or this ssh session", &options.force_uplink, 0, 0 },
	{ NULL, 0, OPTION_FLAG, NULL, NULL, NULL, 0, 0 },
};

static int fail(int code)
{
	fprintf(stderr, "hopcap run: %s\n", error_text());
	return code == -EINTR ? EXIT_STATUS_FINDINGS : error_exit_status(code);
}

static void show_progress(double fraction, const char *text)
{
	fprintf(stderr, "\r\033[K[%3.0f %%] %s", fraction * 100, text);
}

static void clear_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static int choose_port(struct measure_request *request)
{
	static const enum run_port known[] = { RUN_PORT_AF_XDP_ZC, RUN_PORT_LIVE, RUN_PORT_AF_XDP_COPY, RUN_PORT_PACKET };

	if (!options.port)
		return 0;
	for (unsigned int i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (strcmp(options.port, run_port_name(known[i])))
			continue;
		request->port_given = 1;
		request->port = known[i];
		return 0;
	}
	return error_set(EINVAL, "unknown port '%s'; af_xdp_zc, live, af_xdp_copy and packet are known", options.port);
}

/* A run of a minute that cannot be saved is a minute lost: find out first. */
static int check_writable(void)
{
	char path[4096];
	struct stat info;
	FILE *file;

	if (!options.json || !strcmp(options.json, "-"))
		return 0;
	if (!options.json[0])
		return error_set(EINVAL, "--json: the name of the file is empty");
	if (!stat(options.json, &info) && S_ISDIR(info.st_mode))
		return error_set(EISDIR, "--json: %s is a directory", options.json);
	if (snprintf(path, sizeof(path), "%s.tmp", options.json) >= (int)sizeof(path))
		return error_set(ENAMETOOLONG, "--json: the name is too long");
	file = fopen(path, "we");
	if (!file)
		return error_set(errno, "cannot write %s: %s", path, strerror(errno));
	fclose(file);
	unlink(path);
	return 0;
}

static void choose_goals(struct measure_request *request)
{
	static const double usual[] = { 0, 0.005 };
	int is_set = options.loss_count || options.exceed_ratio >= 0 || options.width > 0 || options.trial_s > 0 ||
		     options.duration_sum_s > 0;

	request->rfc2544 = options.rfc2544;
	request->rfc2544_trial_s = options.trial_s;
	if (!is_set || options.rfc2544)
		return;
	request->goal_count = options.loss_count ? options.loss_count : 2;
	for (int i = 0; i < request->goal_count; i++)
		request->goals[i] =
			(struct mlrsearch_goal){ .loss_ratio = options.loss_count ? options.loss_ratios[i] : usual[i],
						 .exceed_ratio = options.exceed_ratio >= 0 ? options.exceed_ratio : 0.5,
						 .width = options.width,
						 .final_trial_s = options.trial_s,
						 .duration_sum_s = options.duration_sum_s };
}

static int measure(struct run *run, struct domains *domains, char **points, int count, int *code)
{
	struct measure_request request = { .rate_pps = options.rate_pps,
					   .size_bytes = options.size_bytes,
					   .quick = options.quick,
					   .source_cpu = (int)options.cpu,
					   .look = run_findings_add,
					   .progress = isatty(STDERR_FILENO) ? show_progress : NULL };
	struct run_bypass_job bypass;
	struct path path;

	if (options.bypass)
		request.bypass = run_bypass_open(&bypass, options.bypass_way, options.lab || options.set_offloads, options.force_uplink);
	choose_goals(&request);
	*code = choose_port(&request);
	if (*code)
		return -1;
	if (options.lab) {
		struct lab_options lab_options = { .mtu_bytes = options.mtu_bytes ? options.mtu_bytes : 1500,
						   .dedicated = options.dedicated,
						   /* with it frames of AF_PACKET would skip the path's NAPI thread */
						   .segmentation_off = 1 };
		struct lab lab;

		*code = lab_build(options.lab, &lab_options, &lab);
		if (!*code)
			*code = lab_path(run, &path, domains, &lab);
		if (!*code && request.source_cpu < 0)
			request.source_cpu = lab.source_cpu;
	} else {
		*code = path_from_texts(run, &path, domains, points, count, options.force_uplink);
	}
	if (!*code)
		*code = measure_run(&request, &path, run);
	clear_progress();
	return *code;
}

/*
 * Two runs at once halve each other's rates. They are told from each other by an abstract socket, which leaves nothing behind;
 * the descriptor is kept until the process ends.
 */
static void note_other_run(struct run *run)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX, .sun_path = "\0hopcap-run" };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct run_finding *finding = &run->findings[run->finding_count];

	if (fd < 0 || !bind(fd, (struct sockaddr *)&address, offsetof(struct sockaddr_un, sun_path) + 11) || errno != EADDRINUSE)
		return;
	close(fd);
	if (run->finding_count == RUN_MAX_FINDINGS)
		return;
	run->finding_count++;
	snprintf(finding->id, sizeof(finding->id), "other-run");
	snprintf(finding->severity, sizeof(finding->severity), "warn");
	snprintf(finding->evidence, sizeof(finding->evidence), "another hopcap was measuring on this machine when this run began");
	snprintf(finding->rule, sizeof(finding->rule), "two runs share CPUs and queues, and both see less than there is");
	snprintf(finding->fix, sizeof(finding->fix), "run them one after the other");
	snprintf(finding->effect, sizeof(finding->effect), "rates of this run are too low by an unknown part");
}

static int save(const struct run *run)
{
	int code = options.json ? run_json_save(run, options.json) : 0;

	if (code && !strcmp(options.json, "-") && terminal_reader_gone(stdout))
		return EXIT_STATUS_FINE; /* `--json - | head -1`: the reader has had enough */
	return code ? fail(code) : EXIT_STATUS_FINE;
}

/* A kernel that was asked is gone: what was measured until then is kept, and says so. */
static void save_part(struct run *run)
{
	struct run_finding *finding = &run->findings[run->finding_count];
	char why[RUN_TEXT_BYTES];

	if (!options.json || !run->trial_count)
		return;
	snprintf(why, sizeof(why), "%s", error_text());
	if (run->finding_count < RUN_MAX_FINDINGS) {
		run->finding_count++;
		snprintf(finding->id, sizeof(finding->id), "domain-lost");
		snprintf(finding->severity, sizeof(finding->severity), "error");
		snprintf(finding->evidence, sizeof(finding->evidence), "%s", why);
		snprintf(finding->rule, sizeof(finding->rule), "the run ended there; what was measured until then stands here");
	}
	snprintf(run->verdict.sentence, sizeof(run->verdict.sentence), "The run was not finished, so no hop is named: %.400s", why);
	if (!save(run))
		fprintf(stderr, "hopcap run: what was measured until then is in %s\n", options.json);
}

static int check_arguments(int count)
{
	if (options.lab && count)
		return error_set(EINVAL, "give points or --lab, not both");
	if (!options.lab && !count)
		return error_set(EINVAL, "give the points of a path, source first, or --lab NAME");
	if (!options.lab && (options.mtu_bytes || options.dedicated))
		return error_set(EINVAL, "--mtu and --dedicated belong to --lab");
	if (options.rfc2544 && (options.loss_count || options.exceed_ratio >= 0 || options.width > 0 || options.duration_sum_s > 0))
		return error_set(EINVAL, "--rfc2544 has its own rules: --loss-ratio, --exceed-ratio, --width and --duration-sum belong "
					 "to the search without it");
	if (options.bypass && options.rfc2544)
		return error_set(EINVAL, "--bypass replaces the hop that caps, and --rfc2544 names none");
	if (options.set_offloads && !options.bypass)
		return error_set(EINVAL, "--set-offloads belongs to --bypass");
	if (options.trial_s > 0 && (options.trial_s < LEAST_TRIAL_S || options.trial_s > MOST_TRIAL_S))
		return error_set(EINVAL, "--trial-seconds: trials last %g s to %g s", LEAST_TRIAL_S, MOST_TRIAL_S);
	if (options.duration_sum_s > MOST_TRIAL_S * 100)
		return error_set(EINVAL, "--duration-sum: more than %g s is not waited for", MOST_TRIAL_S * 100);
	if (options.rate_pps > 0 && options.rate_pps < LEAST_RATE_PPS)
		return error_set(EINVAL, "--rate: trials last a tenth of a second, so rates below %d pps cannot be kept", LEAST_RATE_PPS);
	if (geteuid() != 0)
		return error_set(
			EPERM,
			"needs root: loading BPF programs and sending raw frames take CAP_BPF, CAP_NET_ADMIN and CAP_NET_RAW");
	return 0;
}

static int run_command(int count, char **points)
{
	struct domains domains = { 0 };
	struct run *run;
	int code = check_arguments(count), undone, status = EXIT_STATUS_FINE;

	if (!code)
		code = check_writable();
	if (!code)
		code = undo_catch_signals();
	if (code)
		return fail(code);
	run = run_new();
	if (!run)
		return fail(error_set(ENOMEM, "out of memory"));
	snprintf(run->version, sizeof(run->version), "%s", HOPCAP_VERSION);
	note_other_run(run);
	code = domain_options_open(&domains);
	if (!code)
		measure(run, &domains, points, count, &code);
	if (code)
		status = fail(code);
	if (code == -ENOTCONN)
		save_part(run);
	domains_close(&domains);
	undone = undo_run_all();
	if (undone) {
		fprintf(stderr, "hopcap run: not everything could be undone: %s; run `hopcap cleanup`\n", error_text());
		status = EXIT_STATUS_INTERNAL;
	}
	if (!code) {
		struct report_style style = terminal_style(stdout);

		/* With the JSON on the standard output, that is all that stands there. */
		if (!options.json || strcmp(options.json, "-") != 0)
			report_text(run, stdout, &style);
		if ((fflush(stdout) || ferror(stdout)) && !terminal_reader_gone(stdout)) {
			fprintf(stderr, "hopcap run: cannot write the report: %s\n", strerror(errno));
			status = EXIT_STATUS_ENVIRONMENT;
		}
		if (save(run))
			status = EXIT_STATUS_ENVIRONMENT;
	}
	run_free(run);
	return status;
}

const struct command command_run = {
	.name = "run",
	.arguments = "PATH... | --lab NAME",
	.summary = "measure a path hop by hop and name the hop that caps it",
	.details =
		"PATH is the points from source to sink: INTERFACE[@ns:NAMESPACE|@DOMAIN[:ns=NAMESPACE]], each optionally with :in or :out (direction),\n"
		":tc, :xdp or :generic (hook). Example: ent0@ns:lpar trunk0@ns:vios phys0@ns:vios nic0@ns:ext.\n"
		"Exit status: 0 a verdict was reached, 1 interrupted, 2 usage, 3 the environment lacks something, 4 internal.",
	.options = rows,
	.run = run_command,
};
