// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Copying the static program to where an agent is to run, through the very command that reaches that machine; see transport_push() in
 * transport.h. Called by cmd/domains.c.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "domain/lines.h"
#include "domain/transport.h"

#define AGENT_WORDS "hopcap agent --stdio"
#define PUSH_MS 60000
#define MOST_BYTES (64 << 20)

/* A program that names no interpreter needs no libraries. */
static int is_static(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), result = 0;
	Elf64_Phdr segment;
	Elf64_Ehdr head;

	if (fd < 0)
		return 0;
	if (read(fd, &head, sizeof(head)) == sizeof(head) && !memcmp(head.e_ident, ELFMAG, SELFMAG)) {
		result = head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(segment);
		for (int i = 0; result && i < head.e_phnum; i++)
			if (pread(fd, &segment, sizeof(segment), (off_t)(head.e_phoff + i * sizeof(segment))) !=
				    sizeof(segment) ||
			    segment.p_type == PT_INTERP)
				result = 0;
	}
	close(fd);
	return result;
}

static int find_static(char path[PATH_MAX])
{
	static const char *const beside[] = { "", ".static" };
	char own[PATH_MAX - 16];
	ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);

	own[length > 0 ? length : 0] = 0;
	for (int i = 0; length > 0 && i < 2; i++) {
		snprintf(path, PATH_MAX, "%s%s", own, beside[i]);
		if (is_static(path))
			return 0;
	}
	return error_set(ENOENT, "--push: neither %s nor %s.static is a static program; `make static` builds one", own,
			 own);
}

/* The command up to the program's name: "ssh root@vm " of "ssh root@vm /usr/bin/hopcap agent --stdio". */
static int split(const char *text, char *prefix, size_t size)
{
	size_t length = strlen(text);

	while (length && text[length - 1] == ' ')
		length--;
	if (length < sizeof(AGENT_WORDS) ||
	    memcmp(text + length - (sizeof(AGENT_WORDS) - 1), AGENT_WORDS, sizeof(AGENT_WORDS) - 1))
		return error_set(EINVAL,
				 "--push: '%s' does not end in '" AGENT_WORDS
				 "', so there is no telling where the copy goes",
				 text);
	length -= sizeof(AGENT_WORDS) - 1;
	while (length && text[length - 1] != ' ')
		length--;
	if (!length || length >= size)
		return error_set(EINVAL, "--push: '%s' names no command that reaches another machine", text);
	memcpy(prefix, text, length);
	prefix[length] = 0;
	return 0;
}

/* The answer of the far shell: the name of the copy. */
static int read_name(int fd, char *name, size_t size)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	size_t used = 0;

	while (used < size - 1 && poll(&wait, 1, PUSH_MS) > 0) {
		ssize_t got = read(fd, name + used, size - 1 - used);

		if (got <= 0)
			break;
		used += (size_t)got;
	}
	name[used] = 0;
	name[strcspn(name, "\r\n")] = 0;
	return name[0] == '/' && !strpbrk(name, " '\"\\$`;&|<>()") ? 0 : -EIO;
}

static int send_file(int fd, const char *path)
{
	int file = open(path, O_RDONLY | O_CLOEXEC), code = 0;
	char buffer[65536];
	ssize_t got;

	if (file < 0)
		return -errno;
	while (!code && (got = read(file, buffer, sizeof(buffer))) != 0)
		code = got < 0 ? -errno : line_write(fd, buffer, (size_t)got, PUSH_MS);
	close(file);
	return code;
}

int transport_push(const char *text, char *command, size_t size)
{
	char prefix[2048], path[PATH_MAX], copy[2560], name[256], complaint[256] = "";
	struct transport transport;
	struct stat info;
	ssize_t length;
	int code = split(text, prefix, sizeof(prefix));

	if (!code)
		code = find_static(path);
	if (code)
		return code;
	if (stat(path, &info) || info.st_size > MOST_BYTES)
		return error_set(EIO, "--push: cannot use %s", path);
	/* `head -c`: over a command whose end of input does not arrive, the copy still ends. */
	snprintf(
		copy, sizeof(copy),
		"%s'umask 077; d=$(mktemp -d /tmp/hopcap-XXXXXX) && head -c %lld >$d/hopcap && chmod 700 $d/hopcap && echo $d/hopcap'",
		prefix, (long long)info.st_size);
	code = transport_open(copy, &transport);
	if (code)
		return code;
	code = send_file(transport.out, path);
	if (!code)
		code = read_name(transport.in, name, sizeof(name));
	length = read(transport.complaints, complaint, sizeof(complaint) - 1);
	complaint[length > 0 ? length : 0] = 0;
	complaint[strcspn(complaint, "\r\n")] = 0;
	transport_close(&transport);
	if (code)
		return error_set(EIO, "--push: '%s' did not take the program%s%s", prefix, complaint[0] ? ": " : "",
				 complaint);
	if (snprintf(command, size, "%s%s agent --stdio --remove-self", prefix, name) >= (int)size)
		return error_set(EINVAL, "--push: the command is too long");
	return 0;
}
