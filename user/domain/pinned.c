// SPDX-License-Identifier: GPL-2.0-or-later
/* Probes that stay; see pinned.h. Called by local.c and cmd/cleanup.c. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/magic.h>

#include "base/error.h"
#include "base/undo.h"
#include "domain/pinned.h"

#define BPFFS "/sys/fs/bpf"
#define OURS BPFFS "/hopcap"
#define PROBES OURS "/probes"

static const char *const files[] = { HOP_PIN_LINK, HOP_PIN_COUNTERS, HOP_PIN_HISTOGRAMS };

#define FILE_COUNT ((int)(sizeof(files) / sizeof(files[0])))

/* --- names --- */

/* bpffs takes no dots in names, and a comma separates. */
static size_t encode(char *to, size_t size, const char *text)
{
	size_t used = 0;

	for (; *text && used + 4 < size; text++)
		used += (size_t)snprintf(to + used, size - used,
					 isalnum((unsigned char)*text) || *text == '-' ? "%c" : "%%%02X",
					 (unsigned char)*text);
	to[used] = 0;
	return used;
}

static int decode(char *to, size_t size, const char *text, size_t length)
{
	size_t used = 0;

	for (size_t i = 0; i < length; i++) {
		unsigned int value = (unsigned char)text[i];

		if (text[i] == '%' && (i + 2 >= length || sscanf(text + i + 1, "%2X", &value) != 1))
			return -EINVAL;
		i += text[i] == '%' ? 2 : 0;
		if (used + 1 >= size)
			return -EINVAL;
		to[used++] = (char)value;
	}
	to[used] = 0;
	return 0;
}

static void make_name(const struct verb_load *load, char *name, size_t size)
{
	size_t used = encode(name, size, load->place.netns);

	used += (size_t)snprintf(name + used, size - used, ",");
	used += encode(name + used, size - used, load->place.interface);
	snprintf(name + used, size - used, ",%s,%s", load->direction == RUN_DIRECTION_IN ? "in" : "out", load->mode);
}

static int read_name(const char *name, struct domain_pinned *pinned)
{
	struct {
		char *text;
		size_t size;
	} parts[] = { { pinned->netns, sizeof(pinned->netns) },
		      { pinned->interface, sizeof(pinned->interface) },
		      { pinned->direction, sizeof(pinned->direction) },
		      { pinned->mode, sizeof(pinned->mode) } };

	for (int i = 0; i < 4; i++) {
		size_t length = strcspn(name, ",");

		if (decode(parts[i].text, parts[i].size, name, length) || (i < 3) != (name[length] == ','))
			return -EINVAL;
		name += length + 1;
	}
	return 0;
}

/* --- loading --- */

static int check_bpffs(void)
{
	struct statfs info;

	if (statfs(BPFFS, &info) || (unsigned int)info.f_type != BPF_FS_MAGIC)
		return error_set(ENOTSUP, "no bpffs is mounted at " BPFFS
					  ", so nothing can stay loaded: mount -t bpf bpf " BPFFS);
	return 0;
}

static int make_directory(const char *path)
{
	return mkdir(path, 0700) && errno != EEXIST ? error_set(errno, "cannot make %s: %s", path, strerror(errno)) : 0;
}

static int attach_and_pin(const struct verb_load *load, const char *directory)
{
	struct run_point point = { .direction = (enum run_direction)load->direction };
	struct hop_probe *probe = NULL;
	int code;

	memcpy(point.name, load->place.name, sizeof(point.name));
	memcpy(point.interface, load->place.interface, sizeof(point.interface));
	memcpy(point.netns, load->place.netns, sizeof(point.netns));
	memcpy(point.mode, load->mode, sizeof(point.mode));
	code = hop_probe_open(&point, &probe);
	if (!code)
		code = hop_probe_attach(probe, NULL);
	if (!code)
		code = hop_probe_pin(probe, directory);
	hop_probe_close(probe);
	return code;
}

int pinned_load(const struct verb_load *load)
{
	char name[512], directory[PATH_MAX], text[RUN_TEXT_BYTES];
	int mark = undo_mark(), code = check_bpffs();

	if (strcmp(load->mode, "tcx") && strcmp(load->mode, "native") && strcmp(load->mode, "generic"))
		return error_set(EINVAL, "%s: unknown hook '%s'", load->place.name, load->mode);
	if (!code)
		code = make_directory(OURS);
	if (!code)
		code = make_directory(PROBES);
	if (code)
		return code;
	make_name(load, name, sizeof(name));
	snprintf(directory, sizeof(directory), PROBES "/%s", name);
	if (!access(directory, F_OK))
		return error_set(EEXIST, "%s: a probe is loaded there already; `hopcap unload` removes it",
				 load->place.name);
	code = undo_push("file-remove", directory, NULL);
	if (!code)
		code = make_directory(directory);
	if (!code)
		code = attach_and_pin(load, directory);
	if (!code) {
		undo_forget_to(mark);
		return 0;
	}
	snprintf(text, sizeof(text), "%s", error_text());
	undo_run_to(mark);
	return error_set(-code, "%s", text);
}

/* --- reading --- */

static int get(const char *directory, const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/%s", directory, name);
	return bpf_obj_get(path);
}

static int is_attached(const char *directory)
{
	struct bpf_link_info info = { 0 };
	__u32 length = sizeof(info);
	int fd = get(directory, HOP_PIN_LINK), result = 0;

	if (fd < 0)
		return 0;
	/* xdp.ifindex and tcx.ifindex are the same bytes; 0 once the interface is gone. */
	result = !bpf_obj_get_info_by_fd(fd, &info, &length) && info.xdp.ifindex != 0;
	close(fd);
	return result;
}

/* Reads the one element of a per-CPU map; values is an array with an element for each CPU. */
static int read_map(const char *directory, const char *name, void *values)
{
	int fd = get(directory, name), code;
	__u32 zero = 0;

	if (fd < 0)
		return error_set(errno, "cannot open %s/%s: %s", directory, name, strerror(errno));
	code = bpf_map_lookup_elem(fd, &zero, values)
		       ? error_set(errno, "cannot read %s/%s: %s", directory, name, strerror(errno))
		       : 0;
	close(fd);
	return code;
}

static void sum_counters(const struct hop_counters *counters, int cpus, struct domain_pinned *pinned)
{
	for (int cpu = 0; cpu < cpus; cpu++) {
		pinned->test_frames += counters[cpu].test_frames;
		pinned->test_bytes += counters[cpu].test_bytes;
		pinned->other_frames += counters[cpu].other_frames;
		pinned->other_bytes += counters[cpu].other_bytes;
		pinned->other_segments += counters[cpu].other_segments;
		pinned->stamped += counters[cpu].stamped;
		pinned->stamp_errors += counters[cpu].stamp_errors;
	}
}

static void sum_histograms(const struct hop_histograms *histograms, int cpus, struct domain_pinned *pinned)
{
	struct histogram hop = { { 0 } }, path = { { 0 } };

	for (int cpu = 0; cpu < cpus; cpu++)
		for (int i = 0; i < (int)HOPCAP_HISTOGRAM_BUCKETS; i++) {
			hop.buckets[i] += histograms[cpu].hop_ns[i];
			path.buckets[i] += histograms[cpu].path_ns[i];
		}
	pinned->p50_ns = histogram_quantile(&hop, 0.5);
	pinned->p99_ns = histogram_quantile(&hop, 0.99);
	pinned->max_ns = histogram_max(&hop);
	pinned->path_p50_ns = histogram_quantile(&path, 0.5);
	pinned->path_p99_ns = histogram_quantile(&path, 0.99);
}

static int read_pinned(const char *directory, struct domain_pinned *pinned)
{
	int cpus = libbpf_num_possible_cpus(), code = -ENOMEM;
	struct hop_counters *counters = calloc((size_t)cpus, sizeof(*counters));
	struct hop_histograms *histograms = calloc((size_t)cpus, sizeof(*histograms));
	struct timespec now;
	struct stat made;

	if (counters && histograms)
		code = read_map(directory, HOP_PIN_COUNTERS, counters);
	if (!code)
		code = read_map(directory, HOP_PIN_HISTOGRAMS, histograms);
	if (!code) {
		sum_counters(counters, cpus, pinned);
		sum_histograms(histograms, cpus, pinned);
		pinned->attached = is_attached(directory);
		clock_gettime(CLOCK_REALTIME, &now);
		if (!stat(directory, &made) && now.tv_sec >= made.st_mtim.tv_sec)
			pinned->age_ns =
				(now.tv_sec - made.st_mtim.tv_sec) * 1000000000ll + now.tv_nsec - made.st_mtim.tv_nsec;
	}
	free(counters);
	free(histograms);
	return code;
}

static int is_probe(const struct dirent *entry)
{
	struct domain_pinned pinned;

	return !read_name(entry->d_name, &pinned);
}

/* Names of the probes, sorted; 0 when nothing was ever loaded. */
static int list_names(struct dirent ***names)
{
	int count = scandir(PROBES, names, is_probe, alphasort);

	if (count >= 0)
		return count;
	*names = NULL;
	return errno == ENOENT ? 0 : error_set(errno, "cannot read " PROBES ": %s", strerror(errno));
}

static void free_names(struct dirent **names, int count)
{
	for (int i = 0; i < count; i++)
		free(names[i]);
	free(names);
}

int pinned_stat(struct verb_stat_reply *reply)
{
	struct dirent **names;
	int count = list_names(&names), code = 0;

	reply->count = 0;
	for (int i = 0; !code && i < count && reply->count < DOMAIN_MAX_PINNED; i++) {
		struct domain_pinned *pinned = &reply->list[reply->count++];
		char directory[PATH_MAX];

		memset(pinned, 0, sizeof(*pinned));
		read_name(names[i]->d_name, pinned);
		snprintf(directory, sizeof(directory), PROBES "/%s", names[i]->d_name);
		code = read_pinned(directory, pinned);
	}
	if (count >= 0)
		free_names(names, count);
	return count < 0 ? count : code;
}

/* --- unloading --- */

static int remove_probe(const char *name)
{
	char path[PATH_MAX];

	for (int i = 0; i < FILE_COUNT; i++) {
		snprintf(path, sizeof(path), PROBES "/%s/%s", name, files[i]);
		if (unlink(path) && errno != ENOENT)
			return error_set(errno, "cannot remove %s: %s", path, strerror(errno));
	}
	snprintf(path, sizeof(path), PROBES "/%s", name);
	return rmdir(path) && errno != ENOENT ? error_set(errno, "cannot remove %s: %s", path, strerror(errno)) : 0;
}

static int is_gone(const char *name)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), PROBES "/%s", name);
	return !is_attached(path);
}

static int unload(const char *interface, const char *netns, int only_gone)
{
	struct dirent **names;
	int count = list_names(&names), removed = 0, code = 0;

	for (int i = 0; !code && i < count; i++) {
		struct domain_pinned pinned;

		read_name(names[i]->d_name, &pinned);
		if (interface[0] && (strcmp(pinned.interface, interface) || strcmp(pinned.netns, netns)))
			continue;
		if (only_gone && !is_gone(names[i]->d_name))
			continue;
		code = remove_probe(names[i]->d_name);
		removed += !code;
	}
	if (count < 0)
		return count;
	free_names(names, count);
	rmdir(PROBES); /* when it is empty */
	rmdir(OURS);
	return code ? code : removed;
}

int pinned_unload(const char *interface, const char *netns)
{
	return unload(interface, netns, 0);
}

int pinned_unload_gone(void)
{
	return unload("", "", 1);
}
