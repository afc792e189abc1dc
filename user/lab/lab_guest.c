// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Starting and ending the guests of labs; see lab_guest.h. Called by lab_build.c, lab_record.c and lab_stray.c.
 *
 * A guest is QEMU with a kernel and an initramfs that serves the agent at a virtio-serial port (tools/build-initramfs). All that it is
 * made of lies in one directory: HOPCAP_GUEST_DIR, or "guest" beside the program, where tools/guest-packages puts it.
 *
 * Whether KVM runs it is proven by booting: /dev/kvm may be there and not run a kernel (nested, or another kind of guest only). So each
 * accelerator of a table is given its time, the fast one first. Sockets and console stand in <state directory>/guests/ID.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/error.h"
#include "base/undo.h"
#include "lab/lab_guest.h"
#include "lab/lab_names.h"
#include "sys/guest_process.h"
#include "sys/netns.h"

#define READY "guest: ready"
#define POLL_NS 20000000
#define MOST_WORDS 64
#define CONSOLE_BYTES 65536

static const struct accelerator {
	const char *name, *option, *cpu, *device; /* device: must be there to try; NULL nothing */
	int patience_s;
} accelerators[] = {
	{ "kvm", "kvm", "host", "/dev/kvm", 20 },
	{ "tcg", "tcg,thread=multi", "max", NULL, 180 },
};

static const char *kernel_of(const struct lab_options *options)
{
	return options->kernel[0] ? options->kernel : LAB_DEFAULT_KERNEL;
}

/* Where QEMU and kernels are. Returns buffer. */
static const char *parts_directory(char buffer[PATH_MAX])
{
	const char *given = getenv("HOPCAP_GUEST_DIR");
	char program[PATH_MAX], *slash;
	ssize_t length;

	if (given && *given) {
		snprintf(buffer, PATH_MAX, "%s", given);
		return buffer;
	}
	length = readlink("/proc/self/exe", program, sizeof(program) - 1);
	program[length > 0 ? length : 0] = '\0';
	slash = strrchr(program, '/');
	if (slash)
		*slash = '\0';
	snprintf(buffer, PATH_MAX, "%.*s/guest", PATH_MAX - 8, program);
	return buffer;
}

/* "DIRECTORY/NAME" with up to two words; -ENAMETOOLONG with error text. */
static int part_path(char path[PATH_MAX], const char *format, const char *kernel)
{
	char directory[PATH_MAX], name[64];

	snprintf(name, sizeof(name), format, kernel);
	if (snprintf(path, PATH_MAX, "%s/%s", parts_directory(directory), name) >= PATH_MAX)
		return error_set(ENAMETOOLONG, "HOPCAP_GUEST_DIR is too long");
	return 0;
}

int lab_guest_check(const struct lab_options *options)
{
	static const struct {
		const char *name, *what, *command;
	} parts[] = {
		{ "qemu/start", "QEMU", "tools/guest-packages --qemu" },
		{ "kernel-%s/vmlinuz", "a kernel", "tools/guest-packages %s" },
		{ "initramfs-%s", "a guest's root", "make static && tools/build-initramfs %s" },
	};
	const char *kernel = kernel_of(options);
	char path[PATH_MAX], command[128];

	if (kernel[strspn(kernel, "0123456789.")])
		return error_set(EINVAL, "'%s' is no kernel: say its version, as in 6.12", kernel);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		int code = part_path(path, parts[i].name, kernel);

		if (code)
			return code;
		if (!access(path, R_OK))
			continue;
		snprintf(command, sizeof(command), parts[i].command, kernel);
		return error_set(
			ENOENT,
			"a guest needs %s, which is not at %s; run: %s (then %s is looked for again; HOPCAP_GUEST_DIR names "
			"another directory)",
			parts[i].what, path, command, i + 1 < sizeof(parts) / sizeof(parts[0]) ? "the rest" : "it");
	}
	return 0;
}

/* --- names -------------------------------------------------------------------------------------------------------- */

static const char *files_directory(const char *id, char buffer[PATH_MAX])
{
	const char *state = getenv("HOPCAP_STATE_DIR");

	snprintf(buffer, PATH_MAX, "%.*s/guests/%s", PATH_MAX - 32, state && *state ? state : "/run/hopcap", id);
	return buffer;
}

static int file_path(const struct lab *lab, const char *guest, const char *kind, char path[PATH_MAX])
{
	char directory[PATH_MAX];

	if (snprintf(path, PATH_MAX, "%s/%s.%s", files_directory(lab->id, directory), guest, kind) >= PATH_MAX)
		return error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long");
	return 0;
}

const char *lab_guest_domain(const struct lab *lab, int guest, char buffer[LAB_DOMAIN_BYTES])
{
	char directory[PATH_MAX];

	snprintf(buffer, LAB_DOMAIN_BYTES, "%s=unix:%.100s/%s.agent", lab->guests[guest],
		 files_directory(lab->id, directory), lab->guests[guest]);
	return buffer;
}

static int make_directories(const char *id, char directory[PATH_MAX])
{
	files_directory(id, directory);
	for (char *slash = strchr(directory + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdir(directory, 0755) < 0 && errno != EEXIST;
		*slash = '/';
		if (failed)
			return error_set(errno, "cannot make the directories of %s: %s", directory, strerror(errno));
	}
	if (mkdir(directory, 0700) < 0 && errno != EEXIST)
		return error_set(errno, "cannot make %s: %s", directory, strerror(errno));
	return 0;
}

/* --- starting ----------------------------------------------------------------------------------------------------- */

/* QEMU's words, and the texts that they point to. */
struct command {
	const char *words[MOST_WORDS];
	int count;
	char qemu[PATH_MAX], kernel[PATH_MAX], root[PATH_MAX], console[PATH_MAX + 8], log[PATH_MAX];
	char name[RUN_NAME_BYTES], append[512], agent[PATH_MAX + 64], shell[PATH_MAX + 64];
};

static void add_words(struct command *command, const char *const *words)
{
	while (*words && command->count < MOST_WORDS - 1)
		command->words[command->count++] = *words++;
}

static int name_parts(struct command *command, const struct lab *lab, const struct scenario_guest *guest)
{
	const char *kernel = kernel_of(&lab->options);
	char path[PATH_MAX];
	int code = part_path(command->qemu, "qemu/start", kernel);

	if (!code)
		code = part_path(command->kernel, "kernel-%s/vmlinuz", kernel);
	if (!code)
		code = part_path(command->root, "initramfs-%s", kernel);
	if (!code)
		code = file_path(lab, guest->name, "console", path);
	snprintf(command->console, sizeof(command->console), "file:%s", path);
	if (!code)
		code = file_path(lab, guest->name, "log", command->log);
	if (!code)
		code = file_path(lab, guest->name, "agent", path);
	snprintf(command->agent, sizeof(command->agent), "socket,id=agent,path=%s,server=on,wait=off", path);
	if (!code)
		code = file_path(lab, guest->name, "shell", path);
	snprintf(command->shell, sizeof(command->shell), "socket,id=shell,path=%s,server=on,wait=off", path);
	if (!code && strlen(path) >= 108) /* of a socket's address */
		code = error_set(ENAMETOOLONG, "HOPCAP_STATE_DIR is too long for sockets in it");
	lab_netns_name(lab->id, guest->name, command->name);
	snprintf(command->append, sizeof(command->append), "console=ttyS0 panic=-1 quiet%s%s%s",
		 guest->start ? " hopcap.start=\"" : "", guest->start ? guest->start : "", guest->start ? "\"" : "");
	return code;
}

static int make_command(struct command *command, const struct lab *lab, const struct scenario_guest *guest,
			const struct accelerator *accelerator)
{
	int code = name_parts(command, lab, guest);
	const char *const words[] = { command->qemu,
				      "-M",
				      "q35",
				      "-accel",
				      accelerator->option,
				      "-cpu",
				      accelerator->cpu,
				      "-smp",
				      "2",
				      "-m",
				      "512",
				      "-nodefaults",
				      "-display",
				      "none",
				      "-no-reboot",
				      "-name",
				      command->name,
				      "-kernel",
				      command->kernel,
				      "-initrd",
				      command->root,
				      "-append",
				      command->append,
				      "-serial",
				      command->console,
				      "-device",
				      "virtio-serial-pci,id=vs0",
				      NULL };
	const char *const ports[] = { "-chardev", command->agent,
				      "-device",  "virtserialport,chardev=agent,bus=vs0.0,name=org.hopcap.agent",
				      "-chardev", command->shell,
				      "-device",  "virtserialport,chardev=shell,bus=vs0.0,name=org.hopcap.shell",
				      NULL };

	command->count = 0;
	add_words(command, words);
	add_words(command, ports);
	add_words(command, guest->devices);
	command->words[command->count] = NULL;
	return code;
}

/* In the child, in the namespace of the guest's taps. A session of its own: the terminal's signals are for us. */
static void run_command(const struct command *command)
{
	int input = open("/dev/null", O_RDONLY), output = open(command->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	setsid();
	if (input >= 0 && output >= 0 && dup2(input, 0) >= 0 && dup2(output, 1) >= 0 && dup2(output, 2) >= 0)
		execv(command->words[0], (char *const *)command->words);
	_exit(127);
}

static pid_t start(const struct lab *lab, const struct scenario_guest *guest, const struct command *command)
{
	char netns[RUN_NAME_BYTES];
	struct netns_token token;
	pid_t pid;
	int code;

	code = netns_enter(lab_netns_name(lab->id, guest->role, netns), &token);
	if (code)
		return code;
	pid = fork();
	if (!pid)
		run_command(command);
	if (pid < 0)
		pid = error_set(errno, "cannot start a guest: %s", strerror(errno));
	netns_leave(&token);
	return pid;
}

/* Whether the console says that it is ready: init says so when the agent is served. */
static int is_ready(const char *console)
{
	static char text[CONSOLE_BYTES];
	int fd = open(console, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = '\0';
	return strstr(text, READY) != NULL;
}

/* Last line of a file, for messages. */
static const char *last_line(const char *path, char *buffer, size_t size)
{
	FILE *file = fopen(path, "re");
	char line[512];

	snprintf(buffer, size, "it says nothing");
	while (file && fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\r\n")] = '\0';
		if (line[0])
			snprintf(buffer, size, "%s", line);
	}
	if (file)
		fclose(file);
	return buffer;
}

static int wait_until_ready(const struct command *command, const struct accelerator *accelerator, pid_t pid)
{
	const struct timespec pause = { .tv_nsec = POLL_NS };
	const char *console = command->console + strlen("file:");
	char line[256];

	for (long waited_ns = 0; waited_ns < accelerator->patience_s * 1000000000L; waited_ns += POLL_NS) {
		if (is_ready(console))
			return 0;
		if (undo_interrupted())
			return error_set(EINTR, "interrupted");
		if (waitpid(pid, NULL, WNOHANG) == pid)
			return error_set(ECHILD, "guest %s: QEMU ended: %s", command->name,
					 last_line(command->log, line, sizeof(line)));
		nanosleep(&pause, NULL);
	}
	return error_set(ETIMEDOUT, "guest %s: not ready after %d s with %s; its console: %s", command->name,
			 accelerator->patience_s, accelerator->name, last_line(console, line, sizeof(line)));
}

/* The error text of what made it necessary stays. */
static void end_guest(const char *name, pid_t pid)
{
	char why[512];

	snprintf(why, sizeof(why), "%s", error_text());
	guest_process_end(name);
	waitpid(pid, NULL, 0);
	error_set(EIO, "%s", why);
}

static int try_accelerator(const struct lab *lab, const struct scenario_guest *guest,
			   const struct accelerator *accelerator)
{
	struct command *command = calloc(1, sizeof(*command));
	int code = command ? make_command(command, lab, guest, accelerator) : error_set(ENOMEM, "out of memory");
	pid_t pid = 0;

	if (!code) {
		unlink(command->console + strlen("file:"));
		pid = start(lab, guest, command);
		code = pid < 0 ? pid : wait_until_ready(command, accelerator, pid);
	}
	if (code && pid > 0)
		end_guest(command->name, pid);
	free(command);
	return code;
}

int lab_guest_start(struct lab *lab, const struct scenario_guest *guest)
{
	char prefix[RUN_NAME_BYTES], directory[PATH_MAX];
	int code =
		undo_push("guests-end", lab_netns_name(lab->id, "", prefix), files_directory(lab->id, directory), NULL);

	if (!code)
		code = make_directories(lab->id, directory);
	if (code)
		return code;
	for (size_t i = 0; i < sizeof(accelerators) / sizeof(accelerators[0]); i++) {
		/* What did not run one guest of a lab does not run the next. */
		if ((accelerators[i].device && access(accelerators[i].device, R_OK | W_OK)) ||
		    (lab->accelerator[0] && strcmp(lab->accelerator, accelerators[i].name)))
			continue;
		code = try_accelerator(lab, guest, &accelerators[i]);
		if (!code)
			snprintf(lab->accelerator, sizeof(lab->accelerator), "%s", accelerators[i].name);
		if (!code || code == -EINTR)
			break;
	}
	return code;
}

int lab_guest_end_all(const char *id)
{
	char prefix[RUN_NAME_BYTES], directory[PATH_MAX];
	int code;

	if (!lab_id_is_valid(id))
		return error_set(EINVAL, "'%s' is no id of a lab", id);
	code = guest_process_end(lab_netns_name(id, "", prefix));
	return code ? code : guest_files_remove(files_directory(id, directory));
}
