#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# What `hopcap` says and returns before any command does its work: help, version, typing errors. Needs no root.

. "$(dirname "$0")/../lib/harness.sh"

# expect NAME STATUS STDOUT_PATTERN STDERR_PATTERN ARGUMENT…: patterns are of the shell and match all of a stream.
expect() {
	local name=$1 wanted=$2 stdout_pattern=$3 stderr_pattern=$4 status
	shift 4
	"$HOPCAP" "$@" >"$TMP/stdout" 2>"$TMP/stderr" </dev/null
	status=$?
	# shellcheck disable=SC2053 # patterns are wanted
	if ((status == wanted)) && [[ $(<"$TMP/stdout") == $stdout_pattern && $(<"$TMP/stderr") == $stderr_pattern ]]; then
		ok "$name"
	else
		not_ok "$name" "status $status, stdout: $(<"$TMP/stdout"), stderr: $(<"$TMP/stderr")"
	fi
}

expect version 0 'hopcap [0-9]*.[0-9]*.[0-9]*' '' --version
expect help 0 '*Usage: hopcap COMMAND*run *accel *report *lab *cleanup *Exit status:*' '' --help
expect help_word 0 '*Usage: hopcap COMMAND*' '' help
expect nothing 2 '' '*Usage: hopcap COMMAND*'
expect unknown_command 2 '' "hopcap: unknown command 'frobnicate'; see hopcap --help" frobnicate
expect nearest_command 2 '' "hopcap: unknown command 'rum'; did you mean 'run'?" rum
expect option_before_command 2 '' "hopcap: unknown option '--json'; options follow the command. See hopcap --help." --json run
expect help_of_unknown_command 2 '' "hopcap: unknown command 'reprot'; did you mean 'report'?" help reprot

for command in run accel report lab cleanup facts path clock compare; do
	expect "help_of_$command" 0 "Usage: hopcap $command *Options:*--help*" '' help "$command"
	expect "${command}_help" 0 "Usage: hopcap $command *Options:*--help*" '' "$command" --help
	expect "${command}_unknown_option" 2 '' \
		"hopcap $command: unknown or ambiguous option '--frobnicate'*See hopcap $command --help." "$command" --frobnicate
done

expect report_of_missing_file 3 '' 'hopcap*: */nonexistent/run.json*' report /nonexistent/run.json

expect accel_of_nothing 2 '' 'hopcap accel: say what: start, status, stop or forward' accel
expect accel_nearest 2 '' "hopcap accel: there is no 'accel statsu'; did you mean 'status'?" accel statsu

# Loss goals and RFC 2544.
for bad in '--loss-ratio=1' '--loss-ratio=0.1,' '--loss-ratio=0.1,0.05' '--loss-ratio=x' '--loss-ratio=0;1' '--exceed-ratio=2' \
	'--width=0' '--width=0.1x' '--trial-seconds=0' '--rfc2544=THROUGH' '--rfc2544='; do
	expect "run_${bad//[^a-z0-9]/_}" 2 '' "hopcap run: ${bad%%=*}: *See hopcap run --help." run "$bad" --lab sea
done
expect run_goals_with_rfc2544 2 '' 'hopcap run: --rfc2544 has its own rules: *' run --rfc2544 --loss-ratio 0 --lab sea
expect run_trials_of_hours 2 '' 'hopcap run: --trial-seconds: *' run --trial-seconds 5000 --lab sea

"$HOPCAP" --help >/dev/full 2>"$TMP/stderr"
check_equal full_disk "3 hopcap: cannot write the output: No space left on device" "$? $(<"$TMP/stderr")"
