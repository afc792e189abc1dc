#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# An agent whose clock really is another one: its offset and rate are set, and changed while it is watched. What hopcap says must hold the
# truth, always, and each step must be called one.
#   CLOCK_WINDOWS=N   windows that are compared (default 220)
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
# shellcheck source=tests/lib/domain.sh
. "$(dirname "$0")/../lib/domain.sh"
require_root
require_command jq ip unshare python3 "${CC:-cc}"

tag=clock$$
seed=${CLOCK_SEED:-$$}
"${CC:-cc}" -O2 -Wall -Wextra -shared -fPIC -o "$TMP/skewed.so" "$ROOT/tests/lib/skewed_clock.c" -ldl || { not_ok "skewed clock"; exit 1; }
skewed() {
	python3 "$ROOT/tests/lib/skewed_clock.py" "$@"
}

AGENT_ENVIRONMENT="LD_PRELOAD=$TMP/skewed.so SKEWED_CLOCK=$TMP/skew" domain_agent
watch=("$HOPCAP" clock --json --domain "mid=$TMP/agent -")

# --- it stays as it is ---

skewed set "$TMP/skew" -123456789 0
check "a constant offset is found" "${watch[@]}" --windows 3 --window 0.02
"${watch[@]}" --windows 3 --window 0.02 >"$TMP/still"
check "and is inside the bound" jq -es 'length == 3 and all(.[]; (.offset_ns + 123456789 | fabs) <= .bound_ns and .steps == 0 and
	(.linear_ns + 123456789 | fabs) <= .linear_bound_ns + 2 and .domain == "mid")' "$TMP/still"
skewed set "$TMP/skew" 5000000000 400
"${watch[@]}" --windows 12 --window 0.1 >"$TMP/still"
check "so is the drift" jq -es 'last | .linear_bound_ns != null and .linear_bound_ns <= .bound_ns and
	(.drift_ppm - 400 | fabs) < 100' "$TMP/still"
check "for people as well" grep -qE '^mid +5[0-9]{6}\.' <("$HOPCAP" clock --windows 1 --domain "mid=$TMP/agent -")

# --- it is changed ---

if skewed watch "$TMP/skew" "$TMP/agent.pid" "${CLOCK_WINDOWS:-220}" "$seed" "${watch[@]}" \
	--windows "${CLOCK_WINDOWS:-220}" --window 0.04 >"$TMP/watched" 2>&1; then
	ok "the truth is inside, and steps are steps: $(tail -n 1 "$TMP/watched")"
else
	not_ok "the truth is inside, and steps are steps (seed $seed)" "$(cat "$TMP/watched")"
fi

# --- what a run says ---

# The agent's lines tell a skewed clock, its probes' stamps are this kernel's: what a run makes of both only agrees without a skew.
domain_path "$tag" || exit 1
skewed set "$TMP/skew" 0 0
check "a run with that agent" "$HOPCAP" run --quick --rate 20000 --json "$TMP/run.json" --domain "mid=$TMP/agent ${tag}b" \
	"a0@ns:${tag}a" b0@mid b1@mid "c0@ns:${tag}c"
check "its clock is inside the bound that the run prints" jq -e '.domains[] | select(.name == "mid") |
	(.clock_offset_ns | fabs) <= .clock_bound_ns and .clock_steps == 0 and .frame_exchanges > 0' "$TMP/run.json"
# --- what is refused ---

"$HOPCAP" clock >"$TMP/out" 2>&1
check_equal "without a domain: status 2" 2 $?
"$HOPCAP" clock --window 0.01 --windows 1 --domain "box=$HOPCAP agent --stdio" >"$TMP/out" 2>&1
check_equal "an agent of this kernel: nothing to align" 0 $?
check "which is said" grep -q 'box is this kernel: one clock' "$TMP/out"
