// SPDX-License-Identifier: GPL-2.0-or-later
/* Scenarios as data: each row fits together. Lab records: written, read back, refused when damaged, listed, removed.
 * No root. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/error.h"
#include "lab/lab.h"
#include "lab/scenario.h"

/* --- scenarios ---------------------------------------------------------------------------------------------------- */

static int same_place(const struct scenario_place *left, const struct scenario_place *right)
{
	return !strcmp(left->interface, right->interface) && !strcmp(left->role, right->role);
}

/* How many wires end there. */
static int ends_at(const struct scenario_layout *layout, const struct scenario_place *place)
{
	int ends = 0;

	for (const struct scenario_wire *wire = layout->wires; wire->ends[0].interface; wire++)
		ends += same_place(&wire->ends[0], place) + same_place(&wire->ends[1], place);
	for (const struct scenario_tap *tap = layout->taps; tap->place.interface; tap++)
		ends += same_place(&tap->place, place);
	return ends;
}

/* Roles of points may be guests. */
static const struct scenario_guest *guest_of(const struct scenario_layout *layout, const char *name)
{
	for (const struct scenario_guest *guest = layout->guests; guest->name; guest++)
		if (!strcmp(guest->name, name))
			return guest;
	return NULL;
}

/* Each guest has a NIC on a tap of the layout, and each tap has its guest. */
static void check_guests(const struct scenario_layout *layout)
{
	int taps = 0, guests = 0;

	for (const struct scenario_tap *tap = layout->taps; tap->place.interface; tap++, taps++)
		assert_non_null(tap->place.role);
	for (const struct scenario_guest *guest = layout->guests; guest->name; guest++, guests++) {
		const char *name = NULL, *const * word;

		for (word = guest->devices; *word; word++)
			name = strstr(*word, ",ifname=") ? strstr(*word, ",ifname=") + 8 : name;
		assert_non_null(name);
		assert_true(word - guest->devices < SCENARIO_MAX_DEVICE_WORDS);
		assert_true(!guest->start ||
			    !strchr(guest->start, '"')); /* it is quoted on the kernel's command line */
		for (taps = 0; strncmp(layout->taps[taps].place.interface, name, strcspn(name, ",")); taps++)
			assert_non_null(layout->taps[taps + 1].place.interface);
		assert_string_equal(layout->taps[taps].place.role, guest->role);
		assert_int_equal(layout->taps[taps].several_queues, strstr(name, ",queues=") != NULL);
	}
	for (taps = 0; layout->taps[taps].place.interface; taps++)
		;
	assert_int_equal(taps, guests);
	assert_true(guests <= LAB_MAX_GUESTS);
}

static int has_role(const struct scenario_layout *layout, const char *role)
{
	for (int i = 0; layout->roles[i]; i++)
		if (!strcmp(layout->roles[i], role))
			return 1;
	return 0;
}

static void check_wires(const struct scenario_layout *layout)
{
	for (const struct scenario_wire *wire = layout->wires; wire->ends[0].interface; wire++) {
		for (int i = 0; i < 2; i++) {
			assert_true(has_role(layout, wire->ends[i].role));
			assert_true(strlen(wire->ends[i].interface) < 16);
			assert_int_equal(ends_at(layout, &wire->ends[i]), 1);
		}
	}
}

static void check_layout(const struct scenario_layout *layout)
{
	int count = 0;

	check_wires(layout);
	for (const struct scenario_bridge *bridge = layout->bridges; bridge->place.interface; bridge++) {
		assert_true(has_role(layout, bridge->place.role));
		for (int i = 0; bridge->ports[i]; i++)
			assert_int_equal(
				ends_at(layout, &(struct scenario_place){ bridge->ports[i], bridge->place.role }), 1);
	}
	for (const struct scenario_point *point = layout->points; point->place.interface; point++, count++) {
		assert_int_equal(ends_at(layout, &point->place), guest_of(layout, point->place.role) ? 0 : 1);
		assert_int_equal(point->direction, count % 2 ? RUN_DIRECTION_IN : RUN_DIRECTION_OUT);
	}
	assert_true(count >= 2 && count % 2 == 0);
	for (const struct scenario_place *place = layout->receivers; place->interface; place++)
		assert_int_equal(ends_at(layout, place), 1);
	check_guests(layout);
	if (layout->guests[0].name)
		assert_null(layout->threaded.interface);
	else
		assert_int_equal(ends_at(layout, &layout->threaded), 1);
}

static void test_scenarios_fit_together(void **state)
{
	int count = 0;

	(void)state;
	for (const struct scenario *scenario = scenarios; scenario->name; scenario++, count++) {
		assert_true(strlen(scenario->name) < sizeof(((struct lab *)NULL)->scenario));
		/* A name that could be an id would make `lab down NAME` ambiguous. */
		assert_true(strspn(scenario->name, "0123456789abcdef") < strlen(scenario->name));
		assert_non_null(strstr(SCENARIO_HELP, scenario->summary));
		assert_ptr_equal(lab_scenario_name(count), scenario->name);
		assert_ptr_equal(lab_scenario_summary(count), scenario->summary);
		assert_ptr_equal(scenario_find(scenario->name), scenario);
		check_layout(scenario->layout);
		if (scenario->dedicated)
			check_layout(scenario->dedicated);
	}
	assert_string_equal(scenario_find("kvm")->name, "virtio");
	assert_null(lab_scenario_name(count));
	assert_null(lab_scenario_name(-1));
	assert_null(scenario_find("none such"));
}

static void test_bad_requests(void **state)
{
	struct lab_options options = { .mtu_bytes = 1499 };
	struct lab lab;

	(void)state;
	assert_int_equal(lab_build("sea", &options, &lab), -EINVAL);
	options.mtu_bytes = 9001;
	assert_int_equal(lab_build("sea", &options, &lab), -EINVAL);
	options.mtu_bytes = 1500;
	assert_int_equal(lab_build("see", &options, &lab), -EINVAL);
	assert_non_null(strstr(error_text(), "'sea'"));
	snprintf(options.kernel, sizeof(options.kernel), "6.12");
	assert_int_equal(lab_build("sea", &options, &lab), -EINVAL);
	assert_non_null(strstr(error_text(), "no guest"));
	options.dedicated = 1;
	assert_int_equal(lab_build("virtio", &options, &lab), -EINVAL);
	assert_non_null(strstr(error_text(), "--dedicated"));
	options.dedicated = 0;
	options.mtu_bytes = 9000;
	assert_int_equal(lab_build("kvm", &options, &lab), -EINVAL);
	options.mtu_bytes = 1500;
	if (geteuid())
		return;
	/* What is missing is said, with the command that fetches it. */
	setenv("HOPCAP_GUEST_DIR", "/nonexistent", 1);
	assert_int_equal(lab_build("virtio", &options, &lab), -ENOENT);
	assert_non_null(strstr(error_text(), "tools/guest-packages --qemu"));
	snprintf(options.kernel, sizeof(options.kernel), "../etc");
	assert_int_equal(lab_build("virtio", &options, &lab), -EINVAL);
	unsetenv("HOPCAP_GUEST_DIR");
}

/* --- records ------------------------------------------------------------------------------------------------------ */

static char directory[] = "/tmp/hopcap-test-lab-XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) && !setenv("HOPCAP_STATE_DIR", directory, 1) ? 0 : -1;
}

static int remove_directory(void **state)
{
	char path[64];

	(void)state;
	snprintf(path, sizeof(path), "%s/labs", directory);
	return rmdir(path) || rmdir(directory) ? -1 : 0;
}

static void fill(struct lab *lab, const char *id)
{
	memset(lab, 0, sizeof(*lab));
	snprintf(lab->scenario, sizeof(lab->scenario), "sea");
	snprintf(lab->id, sizeof(lab->id), "%s", id);
	lab->options = (struct lab_options){ .mtu_bytes = 9000, .segmentation_off = 1 };
	lab->path_cpu = 3;
	lab->source_cpu = -1;
	snprintf(lab->options.kernel, sizeof(lab->options.kernel), "6.12");
	snprintf(lab->accelerator, sizeof(lab->accelerator), "tcg");
	lab->guest_count = 1;
	snprintf(lab->guests[0], sizeof(lab->guests[0]), "guest");
	lab->point_count = LAB_MAX_POINTS;
	for (int i = 0; i < LAB_MAX_POINTS; i++) {
		snprintf(lab->points[i].name, sizeof(lab->points[i].name), "ent%d@ns:lpar", i);
		snprintf(lab->points[i].interface, sizeof(lab->points[i].interface), "ent%d", i);
		snprintf(lab->points[i].netns, sizeof(lab->points[i].netns), "hopcap-%s-lpar", id);
		lab->points[i].direction = i % 2 ? RUN_DIRECTION_IN : RUN_DIRECTION_OUT;
	}
	memset(lab->points[0].name, 0, sizeof(lab->points[0].name));
	snprintf(lab->points[0].name, sizeof(lab->points[0].name), "ent0@guest");
	snprintf(lab->points[0].guest, sizeof(lab->points[0].guest), "guest");
}

static void test_record_round_trip(void **state)
{
	struct lab kept, loaded, *labs;

	(void)state;
	assert_int_equal(lab_list(&labs), 0);
	fill(&kept, "beef00");
	assert_int_equal(lab_keep(&kept), 0);
	fill(&kept, "00fa12");
	assert_int_equal(lab_keep(&kept), 0);
	assert_int_equal(lab_load("00fa12", &loaded), 0);
	assert_memory_equal(&loaded, &kept, sizeof(kept));
	assert_int_equal(lab_list(&labs), 2);
	assert_string_equal(labs[0].id, "00fa12");
	assert_string_equal(labs[1].id, "beef00");
	free(labs);
	assert_int_equal(lab_remove("beef00"), 0);
	assert_int_equal(lab_remove("beef00"), -EINVAL);
	assert_int_equal(lab_remove("00fa12"), 0);
	assert_int_equal(lab_list(&labs), 0);
}

static void test_bad_ids(void **state)
{
	static const char *const ids[] = { "", "abc", "ABCD", "abcdefa", "../x", "ab/d", "xyzw", "abc " };
	struct lab lab;

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		assert_int_equal(lab_load(ids[i], &lab), -EINVAL);
		assert_int_equal(lab_remove(ids[i]), -EINVAL);
	}
}

static void write_record(const char *text)
{
	char path[64];
	FILE *file;

	snprintf(path, sizeof(path), "%s/labs", directory);
	assert_true(!mkdir(path, 0755) || errno == EEXIST);
	snprintf(path, sizeof(path), "%s/labs/dead", directory);
	file = fopen(path, "w");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

#define GOOD_POINTS "point=out ent0 hopcap-dead-lpar ent0@ns:lpar\npoint=in nic0 hopcap-dead-ext nic0@ns:ext\n"

static void ignore(const char *what, const char *name, int result)
{
	(void)what;
	(void)name;
	assert_int_equal(result, 0);
}

static void test_damaged_records(void **state)
{
	static const char *const texts[] = {
		"",
		"garbage",
		"scenario=sea\nmtu_bytes=1500\n",
		"mtu_bytes=1500\n" GOOD_POINTS,
		"scenario=sea\n" GOOD_POINTS,
		"scenario=sea\nmtu_bytes=100\n" GOOD_POINTS,
		"scenario=sea\nmtu_bytes=1500x\n" GOOD_POINTS,
		"scenario=sea\nmtu_bytes=1500\npath_cpu=-2\n" GOOD_POINTS,
		"scenario=sea\nmtu_bytes=1500\n" GOOD_POINTS "point=up ent0 hopcap-dead-lpar ent0@ns:lpar\n",
		"scenario=sea\nmtu_bytes=1500\n" GOOD_POINTS "point=in ent0\n",
		"scenario=sea\nmtu_bytes=1500\n" GOOD_POINTS GOOD_POINTS GOOD_POINTS GOOD_POINTS GOOD_POINTS,
	};
	struct lab lab, *labs;
	char *huge;

	(void)state;
	write_record("scenario=sea\nmtu_bytes=1500\nnew_key=of a later version\n" GOOD_POINTS);
	assert_int_equal(lab_load("dead", &lab), 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		write_record(texts[i]);
		assert_int_equal(lab_load("dead", &lab), -EBADMSG);
		assert_int_equal(lab_list(&labs), -EBADMSG);
	}
	huge = malloc(100001);
	assert_non_null(huge);
	memset(huge, '\n', 100000);
	huge[100000] = '\0';
	write_record(huge);
	free(huge);
	assert_int_equal(lab_load("dead", &lab), -EBADMSG);
	/* Its namespaces do not exist, so that it is left over. */
	assert_int_equal(lab_remove_strays(1, ignore), 1);
	assert_int_equal(lab_load("dead", &lab), -EBADMSG);
	assert_int_equal(lab_remove_strays(0, ignore), 1);
	assert_int_equal(lab_load("dead", &lab), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_scenarios_fit_together), cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_record_round_trip),      cmocka_unit_test(test_bad_ids),
		cmocka_unit_test(test_damaged_records),
	};

	return cmocka_run_group_tests_name("lab", tests, make_directory, remove_directory);
}
