# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A torus of 5 x 5 switches under opensm's torus-2QoS, which parts its rings by SL to VL tables. Flows have the same shares
# on ibcc-sim as in ibcc-bench with routes: datelines. With small buffers and all hosts sending to all, no circle closes. One
# does, and is named, under the engine dor, which has the same paths and one lane.
. "$(dirname "$0")/lib.sh"
bench=$IBCC_BUILD/ibcc-bench

# scenario ROUTES MODEL TRAFFIC
scenario()
{
	cat <<-YAML
		name: torus
		duration_ms: 20
		measure_from_ms: 10
		topology: {torus: {sizes: [5, 5]}, rate: 4x SDR, routes: $1}
		model: {$2}
		traffic:
		$3
	YAML
}
engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
run_on() { wait_until 60 later $(($(engine_ns) + $1 * 1000000)) || fail "the engine stands still"; }
received() { sim flows -j | jq -c '[.rows[].received_bytes]'; }
tables() { stock smpquery sl2vl "$1" "$2" | grep '^ports'; }

# torus_2qos TAG: the first switch has the GUID 0x10000001a, behind 25 hosts; a ring's dateline ends at its first switch.
torus_2qos()
{
	cat >"$TMP/torus.conf" <<-CONF
		torus 5 5 1
		xp_link 0x10000001a 0x10000001b
		yp_link 0x10000001a 0x10000001f
	CONF
	start_opensm --tag "$1" 'routing_engine torus-2QoS' "torus_config $TMP/torus.conf" 'qos TRUE'
}

# From (x, y), which is host x + 5 y: each sender but h1 and h16 goes over the dateline of one ring or two.
scenario datelines 'vls: 2' "$(
	for pair in h0:h3 h4:h3 h1:h3 h4:h15 h3:h10 h24:h0 h19:h0 h16:h0; do echo "  - {from: ${pair%:*}, to: ${pair#*:}}"; done
)" >"$TMP/shares.yaml"
"$bench" scenario "$TMP/shares.yaml" -j >"$TMP/shares.json" || fail "ibcc-bench"
start_sim "$TMP/shares.yaml"
torus_2qos shares
run_on 10
before=$(received)
run_on 20
after=$(received)
# Of all that came, each flow's share.
jq -c --argjson a "$before" --argjson b "$after" '
	def shares: add as $all | map(. / $all);
	[([range(8)] | map($b[.] - $a[.]) | shares), ([.flows[].mbps] | shares)]
	| transpose | map((.[0] - .[1]) | fabs) | max' "$TMP/shares.json" >"$TMP/off"
check "ibcc-bench and ibcc-sim have the same shares" jq -e '. < 0.01' "$TMP/off"
# SLs 0 to 3 on the way from hosts, and along x and then y: what routes: datelines has, too.
tables 30 3 | sed -n '2,4s/: | \([0-9]\)| \([0-9]\)| \([0-9]\)| \([0-9]\)|.*/ \1\2\3\4/p' >"$TMP/x"
printf 'ports: in %2d, out  3 0101\n' 1 2 3 >"$TMP/x.want"
same "opensm's lanes along x are by bit 0 of the SL" "$TMP/x.want" "$TMP/x"
tables 30 5 | sed -n '2,6s/: | \([0-9]\)| \([0-9]\)| \([0-9]\)| \([0-9]\)|.*/ \1\2\3\4/p' >"$TMP/y"
printf 'ports: in %2d, out  5 0011\n' 1 2 3 4 5 >"$TMP/y.want"
same "and along y by bit 1" "$TMP/y.want" "$TMP/y"
stop "$OSM_PID"
stop "$SIM_PID"

# While opensm writes tables one by one, a circle may close, and it would stay.
scenario datelines 'vls: 2, buffer_bytes: 4224' '  - {from: all, to: all}' >"$TMP/all.yaml"
"$bench" scenario "$TMP/all.yaml" -j >"$TMP/all.json" || fail "ibcc-bench has a deadlock"
start_sim "$TMP/all.yaml"
sim set traffic=off || fail "traffic=off"
torus_2qos all
sim set traffic=on || fail "traffic=on"
run_on 20
without "with torus-2QoS there is no deadlock" "$TMP/sim.log" deadlock
stop "$OSM_PID"
stop "$SIM_PID"

scenario up-down 'buffer_bytes: 4224' '  - {from: all, to: all}' >"$TMP/one.yaml"
start_sim "$TMP/one.yaml"
sim set traffic=off || fail "traffic=off"
start_opensm --tag one 'routing_engine dor'
sim set traffic=on || fail "traffic=on"
wait_until 60 grep -q deadlock "$TMP/sim.log" || fail "no deadlock with dor"
grep -oE 's[0-4]-[0-4] port [2-5]' "$TMP/sim.log" >"$TMP/circle"
check "with dor the circle is named" grep -qE 'deadlock at [0-9.]+ ms: (s[0-4]-[0-4] port [2-5] waits for ){3,}' "$TMP/sim.log"
equal "it ends where it begins" "$(tail -n 1 "$TMP/circle")" "$(head -n 1 "$TMP/circle")"
