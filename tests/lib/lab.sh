# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# For lab scripts, after harness.sh: labs and runs on them.

RUNS=${RUNS:-5} # how often a planted cause must be named rightly, of as many

# lab_up OPTION…: a lab that the script's end takes down. Sets LAB_ID and LAB_POINTS (array).
lab_up() {
	local text
	text=$("$HOPCAP" lab up sea "$@") || return 1
	LAB_ID=$(sed -n 's/.*\bid \([0-9a-f]*\).*/\1/p' <<<"$text" | head -n 1)
	[[ -n $LAB_ID ]] || LAB_ID=$(grep -o 'hopcap-[0-9a-f]*-' <<<"$text" | head -n 1 | cut -d- -f2)
	read -ra LAB_POINTS <<<"$(tail -n 1 <<<"$text")"
	defer "$HOPCAP" lab down "$LAB_ID"
}

# in_ns NAME COMMAND…: in the lab's namespace lpar, phyp, vios or ext.
in_ns() {
	local name=hopcap-$LAB_ID-$1
	shift
	ip netns exec "$name" "$@"
}

# losses_add_up FILE: for every trial, sent = sum of the known losses + received, and received is what the sink counted.
losses_add_up() {
	jq -e '[.trials[] | select(.sent != ([.lost[] | select(. != null)] | add // 0) + ([.points[] | select(. != null)] | last))]
	       | length == 0' "$1"
}

# verdict_is FILE KIND HOP_NAME CAUSE: HOP_NAME is a pattern for the name of the hop, or - when there is none.
verdict_is() {
	local kind hop cause
	kind=$(jq -r .verdict.kind "$1")
	cause=$(jq -r .verdict.cause "$1")
	hop=$(jq -r '.verdict.hop as $h | [.path.hops[] | select(.index == $h) | .name] | first // "-"' "$1")
	# shellcheck disable=SC2053 # a pattern on purpose
	[[ $kind == "$2" && $hop == $3 && $cause == "$4" ]] ||
		{ printf 'verdict: %s at %s, cause %s: %s\n' "$kind" "$hop" "$cause" "$(jq -r .verdict.sentence "$1")"; return 1; }
}

# planted NAME KIND HOP_NAME CAUSE RUN_OPTION…: RUNS quick runs on the lab, each must find it and keep its books.
planted() {
	local name=$1 kind=$2 hop=$3 cause=$4 i file
	shift 4
	for ((i = 1; i <= RUNS; i++)); do
		file=$TMP/run$i.json
		if ! "$HOPCAP" run --quick --json "$file" "$@" "${LAB_POINTS[@]}" >"$TMP/text" 2>"$TMP/error"; then
			not_ok "$name $i of $RUNS" "$(cat "$TMP/error")"
			continue
		fi
		check "$name, run $i of $RUNS" verdict_is "$file" "$kind" "$hop" "$cause"
		check "$name, run $i of $RUNS: losses add up" losses_add_up "$file"
	done
}
