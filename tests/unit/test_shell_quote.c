// SPDX-License-Identifier: GPL-2.0-or-later
/* Names in commands that people paste: a shell must give back the very name, as one word, whatever it is. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "model/shell_quote.h"

static struct facts_netns made_netns[2];
static struct facts_link made_links[3];
static struct facts made = { .netns = made_netns, .links = made_links, .netns_count = 2, .link_count = 3 };

static void name_all(const char *netns, const char *first, const char *second, const char *third)
{
	snprintf(made_netns[1].name, sizeof(made_netns[1].name), "%s", netns);
	snprintf(made_links[0].name, sizeof(made_links[0].name), "%s", first);
	snprintf(made_links[1].name, sizeof(made_links[1].name), "%s", second);
	snprintf(made_links[2].name, sizeof(made_links[2].name), "%s", third);
}

static void expect(const char *text, const char *wanted)
{
	char *once = shell_quote_names(&made, text), *twice = shell_quote_names(&made, once);

	assert_string_equal(once, wanted);
	assert_string_equal(twice, wanted); /* a plan quotes what the doctor has quoted */
	free(once);
	free(twice);
}

static void test_plain_names_stay(void **state)
{
	(void)state;
	name_all("vios", "eth0.5", "br-lan", "p@q");
	expect("ip netns exec vios ip link set dev eth0.5 mtu 9000 && echo 'br-lan'",
	       "ip netns exec vios ip link set dev eth0.5 mtu 9000 && echo 'br-lan'");
}

static void test_names_that_are_commands(void **state)
{
	(void)state;
	name_all("a;id;", "x;id;#", "$(reboot)", "it's");
	expect("ip netns exec a;id; ip link set dev x;id;# mtu 1500",
	       "ip netns exec 'a;id;' ip link set dev 'x;id;#' mtu 1500");
	expect("ip link set dev $(reboot) up && ip link set dev it's up",
	       "ip link set dev '$(reboot)' up && ip link set dev 'it'\\''s' up");
}

static void test_longest_name_wins(void **state)
{
	(void)state;
	name_all("a;", "a;b", "a;b|c", "e");
	expect("tc qdisc del dev a;b|c root", "tc qdisc del dev 'a;b|c' root");
	expect("tc -n a; qdisc del dev a;b root", "tc -n 'a;' qdisc del dev 'a;b' root");
}

/* Asks a real shell. Names are random bytes that a shell may mind; each command prints its words, one a line. */
static void test_a_shell_gets_the_name_back(void **state)
{
	static const char bytes[] = "ab;|&$`'\"\\(){}<>*?[]!#~ \t-=";
	unsigned int seed = 1;

	(void)state;
	for (int round = 0; round < 300; round++) {
		char name[16], command[128], got[128] = "", wanted[128];
		int length = 1 + rand_r(&seed) % 15;
		char *quoted;
		FILE *shell;

		for (int i = 0; i < length; i++)
			name[i] = bytes[rand_r(&seed) % (sizeof(bytes) - 1)];
		name[length] = 0;
		name_all("n", name, "e0", "e1");
		snprintf(command, sizeof(command), "printf %%s_ dev %s", name);
		quoted = shell_quote_names(&made, command);
		/* A name of one letter or so may fit the command itself; then it is the wrong command, and harmless. */
		if (strstr("printf %s_ dev ", name)) {
			free(quoted);
			continue;
		}
		shell = popen(quoted, "r");
		assert_non_null(shell);
		got[fread(got, 1, sizeof(got) - 1, shell)] = 0;
		assert_int_equal(pclose(shell), 0);
		snprintf(wanted, sizeof(wanted), "dev_%s_", name);
		assert_string_equal(got, wanted);
		free(quoted);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain_names_stay),
		cmocka_unit_test(test_names_that_are_commands),
		cmocka_unit_test(test_longest_name_wins),
		cmocka_unit_test(test_a_shell_gets_the_name_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
