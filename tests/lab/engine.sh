#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
#
# send, sink and reflect on a veth pair: every port and kind of sink, exact books, rates, what users get wrong.
# shellcheck source=tests/lib/harness.sh
. "$(dirname "$0")/../lib/harness.sh"
require_root
require_command jq ip

a=hopcap-eng-$$-a b=hopcap-eng-$$-b
ip netns add "$a" && defer ip netns del "$a"
ip netns add "$b" && defer ip netns del "$b"
ip -n "$a" link add a0 numrxqueues 2 numtxqueues 2 mtu 3400 type veth peer name b0 netns "$b" numrxqueues 2 numtxqueues 2 mtu 3400
ip -n "$a" link add j0 mtu 9000 type veth peer name k0 netns "$b" mtu 9000
for end in "$a a0" "$a j0" "$b b0" "$b k0"; do
	read -r ns link <<<"$end"
	ip netns exec "$ns" sh -c 'echo 1 >/proc/sys/net/ipv6/conf/all/disable_ipv6' 2>/dev/null
	ip -n "$ns" link set "$link" up
done
source=a0@ns:$a target=b0@ns:$b
target_mac=$(ip -n "$b" -j link show b0 | jq -r '.[0].address')

# send_json NAME OPTION…: one send; its result in $TMP/NAME.json. Status 1 is a rate that a busy machine did not keep; the
# frames are counted all the same.
send_json() {
	local name=$1 status
	shift
	"$HOPCAP" send --json-lines "$@" >"$TMP/$name.lines" 2>"$TMP/$name.error"
	status=$?
	((status <= 1)) || { cat "$TMP/$name.error"; tail -n 1 "$TMP/$name.lines"; return 1; }
	tail -n 1 "$TMP/$name.lines" >"$TMP/$name.json"
	jq -e '.event == "result"' "$TMP/$name.json" >/dev/null
}

# books NAME [STREAMS]: sent = arrived + lost in every stream, nothing doubled, corrupted or late.
books() {
	jq -e '(.streams | length) > 0 and
	       ([.streams[] | .sent == .frames - .duplicates + .lost and .duplicates == 0 and .corrupted == 0 and .late == 0] | all) and
	       (([.streams[].sent] | add) == .sent) and (([.streams[].frames] | add) == .frames)' "$TMP/$1.json"
}

# A machine that takes a CPU away for some milliseconds lets a ring of 256 frames overflow: what is asked for is exact books
# (above), and that nearly all arrive.
for port in live af_xdp_copy packet; do
	check "$port: 20000 frames at 50 kpps" send_json "$port" --port "$port" --frames 20000 --rate 50000 "$source" "$target"
	check "$port: books" books "$port"
	check "$port: nearly all arrive" jq -e '.frames > 19000 and .sent == 20000' "$TMP/$port.json"
	check "$port: achieved rate and lateness are there" jq -e '.pps > 0 and .pps < 50500 and .lateness_ns.count == 20000' "$TMP/$port.json"
	check "$port: as fast as it goes" send_json "$port-full" --port "$port" --seconds 1 "$source" "$target"
	check "$port: as fast as it goes, books" books "$port-full"
done

for kind in xdp xdp-generic tc af_xdp_copy; do
	check "sink $kind" send_json "sink-$kind" --kind "$kind" --port packet --frames 20000 --rate 50000 "$source" "$target"
	check "sink $kind: books" books "sink-$kind"
	check "sink $kind: nearly all arrive, latency and gaps are there" \
		jq -e '.frames > 19000 and .latency_ns.count > 0 and .gap_ns.count > 0' "$TMP/sink-$kind.json"
done

check "IPv6, two tags, four flows, a mix" send_json mix --ipv6 --vlan 200,100 --flows 4 --size 128,512,1514 --rate 50000 --frames 9999 \
	"$source" "$target"
check "mix: books" books mix
check "mix: bytes are exact" jq -e '.sent_bytes == 3333 * (128 + 512 + 1514) and (.frames < 9999 or .bytes == .sent_bytes) and .frames > 9500' "$TMP/mix.json"
check "verify: payload as sent" send_json verify --verify --size 700 --rate 20000 --frames 5000 "$source" "$target"
check "verify: nothing corrupted" jq -e '.frames > 4750 and .streams[0].corrupted == 0' "$TMP/verify.json"
check "two workers, two streams" send_json workers --workers 2 --port live --frames 30001 --rate 60000 "$source" "$target"
check "two workers: books" books workers
check "two workers: each has its part" jq -e '[.streams[].sent] == [15001, 15000]' "$TMP/workers.json"
check "two workers of clones" send_json clones --workers 2 --port packet --frames 20000 --rate 40000 "$source" "$target"
check "two workers of clones: books" books clones
check "two workers of clones: each has its part, none doubled" jq -e '[.streams[] | .sent == 10000 and .frames > 9500 and .duplicates == 0] | all' "$TMP/clones.json"
for size in 60 500; do
	check "super-frames of $size-byte frames" send_json super --super 65000 --size "$size" --rate 50000 --frames 10000 "$source" "$target"
	check "super-frames of $size-byte frames: books" books super
done
# What stands in front of the driver's own cutting sees super-frames whole: no numbers of frames, and no loss, come from there.
for kind in tc xdp-generic; do
	for verify in "" --verify; do
		# shellcheck disable=SC2086 # no word is wanted when it is empty
		"$HOPCAP" send --json-lines --kind "$kind" --super 2000 --size 200 --frames 1000 $verify "$source" "$target" >"$TMP/uncut.lines" 2>"$TMP/uncut.error"
		check_equal "super-frames to a sink of kind $kind $verify: exit status" 3 $?
		check "super-frames to a sink of kind $kind $verify: said to be uncut" jq -es 'last | .sent == 1000 and (.error | test("uncut"))' "$TMP/uncut.lines"
	done
done
# Bursts and ramps that are not kept: more than any source can do.
for pace in "--burst 32" "--ramp 0.2"; do
	# shellcheck disable=SC2086 # words are wanted
	"$HOPCAP" send --json-lines --port packet --rate 1G --seconds 0.5 $pace "$source" "$target" >"$TMP/missed.lines" 2>"$TMP/missed.error"
	check_equal "${pace% *} of a rate out of reach: exit status" 1 $?
	check "${pace% *} of a rate out of reach: the source is said to be the limit" jq -es 'last | .source_limited and .pps < .asked_pps' "$TMP/missed.lines"
done
check "a ramp" send_json ramp --port packet --rate 20000 --ramp 0.5 --seconds 0.4 "$source" "$target"
check "a ramp: what was asked for is its mean" jq -e '.ramp_to_pps == 20000 and .asked_pps > 6000 and .asked_pps < 10000 and .pps < 1.1 * .asked_pps' "$TMP/ramp.json"
check "9014 bytes" send_json jumbo --size 9014 --rate 2000 --frames 4000 "j0@ns:$a" "k0@ns:$b"
check "9014 bytes: nearly all arrive, counted exactly" jq -e '.frames > 3800 and .bytes == .frames * 9014' "$TMP/jumbo.json"

# Two processes that know nothing of each other but the frames: the sink hears at the end how many there were.
rm -f "$TMP/sink.lines" "$TMP/sink.error"
"$HOPCAP" sink --json-lines "$target" >"$TMP/sink.lines" 2>"$TMP/sink.error" &
sink=$!
check "the sink is ready" wait_until 10 grep -q waiting "$TMP/sink.error"
check "send without a sink" send_json alone --to-mac "$target_mac" --frames 12345 --rate 50000 "$source"
check "the sink ends with the stream" wait_until 10 grep -q '"result"' "$TMP/sink.lines"
wait "$sink"
check_equal "the sink's exit status" 0 $?
tail -n 1 "$TMP/sink.lines" >"$TMP/two.json"
check "the sink knows how many there were" jq -e '.streams[0] | .sent == 12345 and .frames > 11700 and .frames + .lost == .sent' "$TMP/two.json"
check "and that it saw both ends" jq -e '.streams[0] | .start_known and .end_known and .lost_from == 0' "$TMP/two.json"
check "and was neither interrupted nor failed" jq -e '.interrupted == false and .error == null and .streams_beyond == 0' "$TMP/two.json"

# More streams than ledgers.
for kind in xdp tc af_xdp_copy; do
	rm -f "$TMP/beyond.lines" "$TMP/sink.error"
	"$HOPCAP" sink --json-lines --kind "$kind" --streams 1 "$target" >"$TMP/beyond.lines" 2>"$TMP/sink.error" &
	sink=$!
	wait_until 10 grep -q waiting "$TMP/sink.error"
	check "three streams to one ledger of $kind" send_json three --to-mac "$target_mac" --port packet --workers 3 --frames 6000 --rate 30000 "$source"
	wait "$sink"
	check "$kind: the others are counted apart" jq -es 'last | .streams_beyond == 2 and .beyond_frames > 3600 and .beyond_frames <= 4000 and .other_frames < 1000' "$TMP/beyond.lines"
done

# A sink that ends in the middle: what it saw until then adds up.
"$HOPCAP" send --json-lines --to-mac "$target_mac" --port af_xdp_copy --seconds 30 "$source" >"$TMP/long.lines" 2>&1 &
sender=$!
wait_until 10 grep -q interval "$TMP/long.lines"
for kind in xdp tc af_xdp_copy; do
	"$HOPCAP" sink --json-lines --kind "$kind" --seconds 0.5 "$target" 2>/dev/null | tail -n 1 >"$TMP/middle.json"
	check "sink $kind, ended in mid-stream: adds up" jq -e '.streams[0] | .frames > 0 and .next - .lost_from == .frames - .duplicates + .lost' "$TMP/middle.json"
	check "sink $kind, in mid-stream: says where it joined" jq -e '.streams[0] | (.start_known or .end_known | not) and .lost_from == .lowest and .lowest > 0' "$TMP/middle.json"
done
kill -INT "$sender"
wait "$sender"
check_equal "an interrupted sender's exit status" 1 $?
check "it says so" jq -es 'last | .interrupted and .error == null and .sent > 0' "$TMP/long.lines"

# A reader that has seen enough. first_line COMMAND…: the first line of its output, then its status.
first_line() {
	"$HOPCAP" "$@" 2>"$TMP/error" | head -n 1
	echo "status ${PIPESTATUS[0]}"
}
for command in "send --rate 1000 $source $target" "sink $target" "reflect $target"; do
	# shellcheck disable=SC2086 # words are wanted
	first_line $command --json-lines --seconds 60 >"$TMP/first"
	check_equal "${command%% *} | head -1: one line, status 0" "1 status 0" "$(grep -c interval "$TMP/first") $(tail -n 1 "$TMP/first")"
	check_equal "${command%% *} | head -1: quietly" 0 "$(grep -ciE "pipe|cannot write" "$TMP/error")"
done

for kind in xdp tc af_xdp_copy; do
	rm -f "$TMP/reflect.lines" "$TMP/reflect.error"
	"$HOPCAP" reflect --kind "$kind" --json-lines "$target" >"$TMP/reflect.lines" 2>"$TMP/reflect.error" &
	reflector=$!
	check "reflect $kind is ready" wait_until 10 test -s "$TMP/reflect.error"
	check "reflect $kind: there and back" send_json "back-$kind" --to-mac "$target_mac" --frames 5000 --rate 10000 "$source" "$source"
	check "reflect $kind: nearly all come back" jq -e '.frames > 4750 and .frames + .streams[0].lost == 5000 and .latency_ns.p50 > 0' "$TMP/back-$kind.json"
	kill -INT "$reflector"
	wait "$reflector"
	check_equal "reflect $kind: exit status" 0 $?
	check "reflect $kind: test frames alone are counted as such" \
		jq -es 'last | .reflected > 4750 and .reflected <= 5000 and .probes >= 32 and .interrupted and .error == null' "$TMP/reflect.lines"
done

# A capture of three frames (60, 200, 60 bytes at 0, 1 and 3 ms), made by hand.
record() { # MICROSECONDS BYTES
	printf '\0\0\0\0%b%b%b' "$(le32 "$1")" "$(le32 "$2")" "$(le32 "$2")"
	printf '\2\0\0\0\0\1\2\0\0\0\0\2\x88\xb5'
	head -c $(($2 - 14)) /dev/zero
}
le32() {
	printf '\\x%02x\\x%02x\\x%02x\\x%02x' $(($1 & 255)) $(($1 >> 8 & 255)) $(($1 >> 16 & 255)) $(($1 >> 24 & 255))
}
{
	printf '\xd4\xc3\xb2\xa1\2\0\4\0\0\0\0\0\0\0\0\0\0\0\4\0\1\0\0\0'
	record 0 60
	record 1000 200
	record 3000 60
} >"$TMP/three.pcap"
check "a capture's sizes and timing, ten times over" send_json pcap --pcap "$TMP/three.pcap" --frames 30 "$source" "$target"
check "capture: books, bytes" books pcap
check "capture: bytes are those of the file" jq -e '.frames == 30 and .bytes == 10 * 320' "$TMP/pcap.json"
check "a capture as it is" send_json raw --pcap "$TMP/three.pcap" --as-captured --rate 1000 --frames 30 "$source"
check "a capture as it is: counted" jq -e '.sent == 30 and .sent_bytes == 10 * 320' "$TMP/raw.json"
head -c 200 "$TMP/three.pcap" >"$TMP/cut.pcap"
head -c 24 "$TMP/three.pcap" >"$TMP/empty.pcap"
echo "no capture at all, only some text" >"$TMP/text.pcap"

# refused NAME STATUS PATTERN COMMAND…: ends with STATUS and one line on stderr that matches PATTERN.
refused() {
	local name=$1 status=$2 pattern=$3 got
	shift 3
	"$@" >"$TMP/out" 2>"$TMP/error"
	got=$?
	if ((got == status)) && (($(wc -l <"$TMP/error") <= 2)) && grep -qE -- "$pattern" "$TMP/error"; then
		ok "$name"
	else
		not_ok "$name" "status $got (wanted $status), wanted line: $pattern"$'\n'"$(head -c 2000 "$TMP/error")"
	fi
}

send=("$HOPCAP" send)
refused "no interface" 2 "give the interface" "${send[@]}"
refused "no destination" 2 "--to-mac" "${send[@]}" "$source"
refused "unknown interface" 3 "no such interface" "${send[@]}" "nosuch0@ns:$a" "$target"
refused "size too small" 2 "60" "${send[@]}" --size 20 "$source" "$target"
refused "size over the MTU" 2 "MTU" "${send[@]}" --size 9014 "$source" "$target"
refused "rate 0" 2 "rate" "${send[@]}" --rate 0 "$source" "$target"
refused "queue that does not exist" 2 "queue" "${send[@]}" --port af_xdp_copy --queue 9 "$source" "$target"
refused "zero-copy that veth has not" 3 "zero-copy" "${send[@]}" --port af_xdp_zc "$source" "$target"
refused "unknown port" 2 "unknown port" "${send[@]}" --port pigeon "$source" "$target"
refused "live frames to an end that drops them" 3 "GRO" "${send[@]}" --port live --kind tc "$source" "$target"
for file in cut empty text nosuch; do
	refused "$file capture" "$([[ $file == nosuch ]] && echo 3 || echo 2)" "$file.pcap" "${send[@]}" --pcap "$TMP/$file.pcap" "$source" "$target"
done
refused "burst without rate" 2 "--rate" "${send[@]}" --burst 8 "$source" "$target"
refused "stamp interval" 2 "power of two" "${send[@]}" --stamp 3 "$source" "$target"
refused "queue of a port that has none" 2 "--queue belongs" "${send[@]}" --port live --queue 1 "$source" "$target"
refused "busy polling of a port that has none" 2 "--busy-poll belongs" "${send[@]}" --port packet --busy-poll "$source" "$target"
refused "there and back without a reflector" 3 "hopcap reflect" "${send[@]}" --seconds 1 "$source" "$source"
refused "super-frame that holds no frame" 2 "do not hold" "${send[@]}" --super 1000 --size 1400 "$source" "$target"
refused "super-frame of several sizes" 2 "one size" "${send[@]}" --super 2000 --size 60,120 "$source" "$target"
for option in "--queue 0" "--queues 1" "--cpu 0" --busy-poll; do
	for command in sink reflect; do
		# shellcheck disable=SC2086 # words are wanted
		refused "$command: ${option%% *} with a kind that has none" 2 "${option%% *} belongs to" "$HOPCAP" "$command" --kind xdp $option "$target"
	done
done
refused "sink: no such queue" 2 "queue" "$HOPCAP" sink --kind af_xdp_copy --queue 9 "$target"
refused "sink: a tag that no source sends" 2 "65534" "$HOPCAP" sink --tag 65535 "$target"
refused "sink: unknown kind" 2 "kind" "$HOPCAP" sink --kind bucket "$target"

# The interface disappears while frames are sent: what was counted until then is shown, and why it ended.
for port in live af_xdp_copy packet; do
	ip -n "$a" link add gone0 type veth peer name gone1 netns "$b"
	ip -n "$a" link set gone0 up
	ip -n "$b" link set gone1 up
	rm -f "$TMP/gone.lines" "$TMP/gone.error"
	"$HOPCAP" send --json-lines --port "$port" --seconds 60 --rate 20000 "gone0@ns:$a" "gone1@ns:$b" >"$TMP/gone.lines" 2>"$TMP/gone.error" &
	sender=$!
	wait_until 10 grep -q interval "$TMP/gone.lines"
	ip -n "$a" link del gone0
	check "$port: ends when the interface goes away" wait_until 10 grep -q '"result"' "$TMP/gone.lines"
	wait "$sender"
	check_equal "$port: exit status" 3 $?
	check "$port: counts until then are kept" jq -es 'last | .sent > 1000 and .frames > 1000' "$TMP/gone.lines"
	# a source goes on into the dying device for some tenths of a second
	check "$port: what had arrived is not called lost" jq -es 'last | .frames >= .sent * 0.5' "$TMP/gone.lines"
	check "$port: says why" grep -qE "gone|no such|went away|vanished|away after" "$TMP/gone.error"
	check "$port: and in the result" jq -es 'last | .error | length > 0' "$TMP/gone.lines"
done

# … or is only set down.
ip -n "$a" link add down0 type veth peer name down1 netns "$b"
both_up() { # the kernel tells of a carrier up to a second late when it comes and goes
	ip -n "$a" link set down0 up && ip -n "$b" link set down1 up
	wait_until 10 sh -c "ip -n $a link show down0 | grep -q 'state UP' && ip -n $b link show down1 | grep -q 'state UP'"
}
for port in live af_xdp_copy packet; do
	both_up
	rm -f "$TMP/down.lines" "$TMP/down.error"
	"$HOPCAP" send --json-lines --port "$port" --seconds 60 --rate 20000 "down0@ns:$a" "down1@ns:$b" >"$TMP/down.lines" 2>"$TMP/down.error" &
	sender=$!
	wait_until 10 grep -q interval "$TMP/down.lines"
	ip -n "$a" link set down0 down
	check "$port: ends when the interface goes down" wait_until 10 grep -q '"result"' "$TMP/down.lines"
	wait "$sender"
	check_equal "$port, down: exit status" 3 $?
	check "$port, down: counts until then, and why" jq -es 'last | .sent > 1000 and .frames > 1000 and (.error | test("went down"))' "$TMP/down.lines"
done
for command in "sink --kind xdp" "sink --kind tc" "sink --kind af_xdp_copy" "reflect --kind xdp" "reflect --kind tc" "reflect --kind af_xdp_copy"; do
	both_up
	rm -f "$TMP/down.lines" "$TMP/down.error"
	# shellcheck disable=SC2086 # words are wanted
	"$HOPCAP" $command --json-lines --seconds 60 "down1@ns:$b" >"$TMP/down.lines" 2>"$TMP/down.error" &
	taker=$!
	wait_until 10 test -s "$TMP/down.error"
	ip -n "$b" link set down1 down
	check "$command: ends when the interface goes down" wait_until 10 grep -q '"result"' "$TMP/down.lines"
	wait "$taker"
	check_equal "$command, down: exit status" 3 $?
	check "$command, down: says so" jq -es 'last | .error | test("went down")' "$TMP/down.lines"
done

# Locked memory: a limit that AF_XDP cannot live with is named.
if command -v setpriv >/dev/null && command -v prlimit >/dev/null; then
	refused "memory limit" 3 "ulimit -l|locked" prlimit --memlock=65536:65536 setpriv --bounding-set -ipc_lock --inh-caps -ipc_lock \
		"$HOPCAP" send --port af_xdp_copy "$source" "$target"
fi
