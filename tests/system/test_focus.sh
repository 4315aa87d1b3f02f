# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Congestion that lasts a third of the polling interval, at a daemon with the default ratio of interval_ms and
# fast_interval_ms: it is seen and controlled by fast polling cycles, and MADs a second stay within what the configuration
# says of them, at rest and in congestion.
. "$(dirname "$0")/lib.sh"

slow=$((3000 * PACE / 100)) fast=$((300 * PACE / 100))
# At SIM_SPEED 45 ms are .9 s: three writers for three tenths of an interval, and none for two. The victim always sends.
# Thirty-six more hosts do nothing.
idle() { seq 1 18 | sed "s/.*/    - [idle$1-&, leaf$1\/&]/"; }
names=$(for leaf in 3 4; do for i in $(seq 1 18); do printf ', idle%s-%s' "$leaf" "$i"; done; done)
{ idle 3; idle 4; printf '    - [leaf%s/20, leaf1/%s]\n' 3 5 4 6; } >"$TMP/links"
sed -e 's/^    kind: hot$/    kind: hot\n    start_ms: 1000\n    on_ms: 45\n    off_ms: 30/' \
	-e "s/source4\]}/source4$names]}\n    - {switch: [leaf3, leaf4], ports: 20}/" \
	-e "/^  links:/r $TMP/links" "$SCENARIO" >"$TMP/phases.yaml"
start_sim "$TMP/phases.yaml"
start_opensm --plugin
start_tuned 'mode: apply' "interval_ms: $slow" "fast_interval_ms: $fast" 'node_window: 1' 'node_gap_us: 2000'

began() { [ "$(sim stats -j | jq .engine_ns)" -gt 1000000000 ]; }
rate() { jq ".mads.$1 | . * 10 | round / 10" "$TMP/status.json"; }
# holds EXPRESSION: a comparison of numbers.
holds() { jq -en "$1" >/dev/null; }

wait_until 60 status '.fabric.pass >= 4' || fail "no polling cycles"
began && fail "the writers began before the daemon was at rest"
equal "at rest no port is read more often" "$(jq .focus.ports "$TMP/status.json")" 0
rest=$(rate per_second)
tune status >"$TMP/status.txt" || fail "status"
without "and status has no line for it" "$TMP/status.txt" '^Focus:'
ok "MADs a second at rest: $rest, at most $(rate busiest.per_second) to one node"

wait_until 60 status '.focus.ports > 0' || fail "no port is read more often"
wait_until 60 status '.mads.sets > 0 and .roots > 0' || fail "congestion of less than an interval is not controlled"
ok "congestion for three tenths of an interval is seen and controlled"
pass=$(jq .fabric.pass "$TMP/status.json")
wait_until 60 status ".fabric.pass > $pass + 24 and .focus.ports > 0" || fail "no fast polling cycles"
busy=$(rate per_second) busiest=$(rate busiest.per_second)
ok "MADs a second in congestion: $busy, at most $busiest to one node"
equal "the focus has 6 to 48 nodes" "$(jq '.focus.nodes <= 48 and .focus.nodes >= 6' "$TMP/status.json")" true
check "more than at rest" holds "$busy > $rest"
check "less than half of what reading all as often takes" holds "$busy < $rest * $slow / $fast / 2"
check "no node gets more than one in node_gap_us" holds "$busiest <= 500"
tune status >"$TMP/status.txt" || fail "status"
check "status says how often these ports are read" grep -q \
	"^Focus: .* ports of .* nodes are read every $(jq -n "$fast / 1000") s" "$TMP/status.txt"
