// SPDX-License-Identifier: GPL-2.0-or-later
/* Recognises command lines; see evidence_command.h. A table of commands, one row each. */
#include "doctor/evidence_command.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *words; /* that the command line begins with */
	const char *needs; /* a word that must be among the others; NULL none */
	const char *
		option; /* the object stands behind this option (or a cluster of letters that ends so); NULL: it is the last word */
	const char *opens;
} commands[] = {
	{ "entstat", NULL, NULL, NULL },
	{ "seastat", NULL, "-d", NULL },
	{ "lsdev", "-attr", "-dev", "lsattr" },
	{ "lsattr", NULL, "l", "lsattr" },
	{ "esxcli network nic stats get", NULL, "-n", NULL },
	{ "esxcli network nic get", NULL, "-n", NULL },
	{ "esxcli network port stats get", NULL, "-p", NULL },
	{ "esxcli network", NULL, "-n", NULL },
	{ "vsish", "/net/", NULL, NULL },
	{ "net-stats", NULL, "-p", NULL },
	{ "ethtool", NULL, NULL, NULL },
};

/* Blanks between words may be several. The rest of the text behind `words`, NULL when it begins otherwise. */
static const char *behind_words(const char *text, const char *words)
{
	while (*words) {
		size_t length = strcspn(words, " ");

		if (strncmp(text, words, length) || (text[length] && text[length] != ' '))
			return NULL;
		text = evidence_skip_blanks(text + length);
		words += length;
		words += strspn(words, " ");
	}
	return text;
}

/* Where the command itself may begin: at the start, or behind what looks like a prompt, a path or sudo. */
static int may_begin(const char *line, const char *at)
{
	const char *before = at;

	if (at == line || at[-1] == '/')
		return 1;
	if (at[-1] != ' ' && !strchr("$#>]%", at[-1]))
		return 0;
	while (before > line && before[-1] == ' ')
		before--;
	if (before == line || strchr("$#>]%", before[-1]))
		return 1;
	return before - line >= 4 && !strncmp(before - 4, "sudo", 4);
}

static int is_option(const char *word, int length, const char *option)
{
	size_t size = strlen(option);

	if (word[0] != '-' || (size_t)length < size)
		return 0;
	return option[0] == '-' ? (size_t)length == size && !strncmp(word, option, size)
				: word[1] != '-' && word[length - 1] == option[0];
}

/* vsish: the path tells what it is. /net/pNics/vmnic4/… or /net/portsets/SWITCH/ports/PORT/… */
static void name_of_vsish(const char *rest, struct evidence_command *command)
{
	const char *nic = strstr(rest, "/net/pNics/"), *set = strstr(rest, "/net/portsets/");

	if (nic) {
		nic += strlen("/net/pNics/");
		evidence_copy_name(command->object, nic, (int)strcspn(nic, "/ "));
		command->opens = command->object[0] ? "vsish_nic" : NULL;
	} else if (set) {
		const char *ports;
		int length;

		set += strlen("/net/portsets/");
		length = (int)strcspn(set, "/ ");
		ports = set + length;
		ports += strncmp(ports, "/ports/", 7) ? 0 : 7;
		evidence_join_name(command->object, set, length, '/', ports, (int)strcspn(ports, "/ "));
		command->opens = "vsish_port";
	}
}

/* The object among the words up to a pipe or the like. */
static void name_object(const char *rest, const char *option, struct evidence_command *command)
{
	int take_next = 0;

	while (*rest && !strchr("|;>&", *rest)) {
		int length = evidence_word(rest);

		if (take_next || (!option && *rest != '-')) {
			evidence_copy_name(command->object, rest, length);
			if (take_next)
				return;
		}
		take_next = option && is_option(rest, length, option);
		rest = evidence_after_word(rest);
	}
}

static void take_host(const char *line, struct evidence_command *command)
{
	const char *at = strchr(line, '@');
	int length;

	if (!at)
		return;
	length = (int)strspn(at + 1, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
	if (length && (at[1 + length] == ':' || at[1 + length] == ' '))
		evidence_copy_name(command->host, at + 1, length);
}

/* "[root@esx-a:~] ls" and "root@host:~# ls" end an output, whatever the command. */
static int is_prompt(const char *line)
{
	const char *at = line + (*line == '['), *word = at;

	while (isalnum((unsigned char)*at) || *at == '_' || *at == '-')
		at++;
	if (at == word || *at != '@' || !isalnum((unsigned char)at[1]))
		return 0;
	at += strcspn(at, ": ");
	at += strcspn(at, "$#] ");
	return *line == '[' ? *at == ']' || *at == ' ' : *at == '$' || *at == '#';
}

int evidence_command_parse(const char *line, struct evidence_command *command)
{
	char head[EVIDENCE_NAME_BYTES * 4]; /* prompts and commands are short */

	memset(command, 0, sizeof(*command));
	snprintf(head, sizeof(head), "%s", line);
	for (unsigned int i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		char first[16];
		const char *at = head;

		snprintf(first, sizeof(first), "%.*s", (int)strcspn(commands[i].words, " "), commands[i].words);
		for (; (at = strstr(at, first)); at++) {
			const char *rest = behind_words(at, commands[i].words);

			if (!rest || !may_begin(head, at) || (commands[i].needs && !strstr(rest, commands[i].needs)))
				continue;
			command->opens = commands[i].opens;
			if (!strcmp(commands[i].words, "vsish"))
				name_of_vsish(rest, command);
			else
				name_object(rest, commands[i].option, command);
			if (at > head)
				take_host(head, command);
			return 1;
		}
	}
	if (!is_prompt(head))
		return 0;
	take_host(head, command);
	return 1;
}
