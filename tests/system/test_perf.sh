#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ibcc-perf from the command line, on the double of libibverbs that is preloaded: what it shows to stock
# programs, what runs print, and what is said when something is wrong.
. "$(dirname "$0")/lib.sh"

perf=$IBCC_BUILD/ibcc-perf
double=$IBCC_BUILD/tests/double/libibverbs-double.so
bench=$IBCC_BUILD/ibcc-bench

if command -v ibv_devinfo >/dev/null; then
	LD_PRELOAD=$double ibv_devinfo >"$TMP/devinfo.log" 2>&1 || fail "ibv_devinfo on the double"
	for text in 'hca_id:.*double0' 'state:.*PORT_ACTIVE' 'active_mtu:.*2048' 'port_lid:.*7$' 'link_layer:.*InfiniBand'; do
		grep -q -- "$text" "$TMP/devinfo.log" || fail "stock ibv_devinfo shows $text"
	done
	ok "stock ibv_devinfo shows the double"
fi

# text NAME FILE PATTERN
text() { grep -qE -- "$3" "$2" || { cat "$2"; fail "$1"; }; ok "$1"; }
# exits NAME WANT COMMAND...: its exit code; what it says is in $TMP/said.log.
exits()
{
	local name=$1 want=$2 rc=0
	shift 2
	timeout 60 "$@" >"$TMP/said.log" 2>&1 || rc=$?
	equal "$name" "$rc" "$want"
}

for plan in hotspot all-to-all allreduce checkpoint; do
	"$perf" plan $plan a b c d e >"$TMP/$plan.yaml" || fail "plan $plan"
	check "the engine runs the plan $plan" "$bench" scenario "$TMP/$plan.yaml" --set duration_ms=2 --set measure_from_ms=1
done
# What the plan is for: the engine says that the victim suffers.
predict=$(sed -n 's/^ibcc-bench scenario plan.yaml //p' "$top/man/ibcc-perf.1")
grep -qF "ibcc-bench scenario plan.yaml $predict " "$top/perftest/README.md" ||
	fail "perftest/README.md predicts otherwise than the man page"
# shellcheck disable=SC2086 # options, as the man page has them
"$bench" scenario "$TMP/hotspot.yaml" -j $predict >"$TMP/predicted.json" || fail "prediction"
check "and predicts that the victim of the hotspot gets no more than the hot flows" \
	jq -e '[.flows[] | {(.name): .mbps}] | add | .victim < 1.1 * ."hot-c"' "$TMP/predicted.json"
exits "a plan that there is not" 1 "$perf" plan hot a b

sed -e 's/window_messages: 16/window_messages: 0/' -e 's/kind: hot/kind: warm/' "$TMP/hotspot.yaml" >"$TMP/wrong.yaml"
exits "a plan with mistakes is a bad configuration" 78 "$perf" run "$TMP/wrong.yaml"
text "all of which are told, with their places" "$TMP/said.log" ':[0-9]+:[0-9]+: verbs.window_messages: got "0"'
text "likewise" "$TMP/said.log" ':[0-9]+:[0-9]+: traffic.kind: got "warm"'
exits "an address that is none" 1 "$perf" serve --listen 127.0.0.1:nosuchport
equal "is told with one reason" "$(grep -c 'nosuchport: [^:]*$' "$TMP/said.log")" 1
exits "no server at an address" 1 "$perf" run "$TMP/hotspot.yaml" --set 'hosts.a.address=127.0.0.1:1'
text "is named" "$TMP/said.log" 'cannot connect to 127.0.0.1:1 \(does ibcc-perf serve run there\?\): Connection refused'
exits "a server that other hosts reach needs a token" 1 "$perf" serve --listen 0.0.0.0:0
text "and is told so" "$TMP/said.log" 'give it a --token-file'
echo short >"$TMP/token"
chmod 600 "$TMP/token"
exits "not any token" 1 "$perf" serve --token-file "$TMP/token"
echo "long enough" >"$TMP/token"
chmod 644 "$TMP/token"
exits "nor one that others read" 1 "$perf" serve --token-file "$TMP/token"

background "$TMP/serve.log" env LD_PRELOAD="$double" "$perf" serve --listen 127.0.0.1:0
server=$!
wait_until 10 grep -q '^ready' "$TMP/serve.log" || fail "serve"
at=$(sed -n 's/^ready //p' "$TMP/serve.log")
cat >"$TMP/two.yaml" <<YAML
name: two
duration_ms: 200
verbs: {report_ms: 50}
hosts: [{name: a, address: "$at"}, {name: b, address: "$at"}]
traffic: [{name: f, from: a, to: b}]
YAML
# Doubles of several processes number queue pairs and keys alike, so that what a host posts comes to itself.
check "a run, as JSON, with a plot" "$perf" run "$TMP/two.yaml" -j --plot "$TMP/two.svg"
check "the JSON has what came of it" jq -e '.flows[0].mbps > 0 and (.hosts | length) == 2 and (.samples | length) > 1' "$TMP/check.log"
text "and the plot a curve" "$TMP/two.svg" '<path'
check "around a command" "$perf" run "$TMP/two.yaml" --around 'echo changed' --undo 'echo back' --repeats 2 --settle-ms 1
text "in words" "$TMP/check.log" '^background [-+0-9.]+ % \(\+-[0-9.]+\)'
"$perf" run "$TMP/two.yaml" --set duration_ms=600000 >"$TMP/said.log" 2>&1 &
run=$!
wait_until 10 grep -q ' s  ' "$TMP/said.log" || fail "a long run"
kill -TERM $run
wait $run
equal "SIGTERM ends a run early" $? 1
text "with what it has so far" "$TMP/said.log" '^interrupted: the figures cover'
no_session() { [ -z "$(child_of "$server" ibcc-perf)" ]; }
wait_until 10 no_session || fail "a session is left"
ok "no session is left"
# A host that says nothing, and a shell that has SIGINT ignored in its background.
kill -STOP "$server"
"$perf" run "$TMP/two.yaml" >"$TMP/said.log" 2>&1 &
run=$!
connected() { [ -n "$(find "/proc/$run/fd" -lname 'socket:*' 2>/dev/null)" ]; }
wait_until 10 connected || fail "no connection"
kill -INT $run
wait $run
status=$?
kill -CONT "$server"
equal "SIGINT ends one that is not connected yet" $status 130
for garbage in '' 'GET / HTTP/1.0' '{"do":"hello"}{"do":"open","job":[]}' '{"do":"start"}'; do
	timeout 10 bash -c "exec 3<>/dev/tcp/${at%:*}/${at##*:}; printf '%s\n' '$garbage' >&3; timeout 2 cat <&3" >/dev/null 2>&1
done
alive "$server" || fail "garbage ends the server"
ok "garbage ends nothing"
kill -TERM "$server"
wait_until 10 gone "$server" || fail "SIGTERM does not end the server"
ok "SIGTERM ends it"
