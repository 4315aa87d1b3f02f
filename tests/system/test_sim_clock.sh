# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Rates are computed with the simulator's time: they are right when it is slow, fast, or changes its speed. A simulator
# that is paused is not taken for an idle fabric. Nodes are not asked for their time.
. "$(dirname "$0")/lib.sh"

told() { jq -c '[.state, .reason, .decision, .fabric.pass, .fabric.clock_trouble]' "$TMP/status.json"; }
passes() { status ".fabric.pass >= $1"; }
# rate NODE: what the daemon saw in its last pass on the way to an adapter, in Mb/s.
rate()
{
	tune report -j | jq --arg n "$1" '.map | (.nodes | map(.node) | index($n)) as $i | first(.links[] |
		if .a[0] == $i then .from_b elif .b[0] == $i then .from_a else empty end).mbps // 0'
}
# middle_rate NODE: the median over seven passes, of which the first began after this.
middle_rate()
{
	local pass
	status . >/dev/null
	pass=$(($(jq .fabric.pass "$TMP/status.json") + 1))
	for _ in 1 2 3 4 5 6 7; do
		pass=$((pass + 1))
		wait_until 30 passes $pass || fail "no more passes: $(told)"
		pass=$(jq .fabric.pass "$TMP/status.json")
		rate "$1"
	done | sort -n | sed -n 4p
}
# alone COMMAND...: a plan by the command line itself, as there is no daemon at that socket.
alone()
{
	sed 's/^control_socket: .*/&.none/; s/^state_file: .*/&.none/' "$TMP/cli.yaml" >"$TMP/alone.yaml"
	"$@" "$IBCC_BUILD/ibcc-tune" -z "$TMP/alone.yaml" plan -j
}
# near TEXT GOT WANT: within a twentieth.
near()
{
	[ $(($2 * 20)) -ge $(($3 * 19)) ] && [ $(($2 * 20)) -le $(($3 * 21)) ] || fail "$1: got $2, want $3"
	ok "$1: $2"
}

# A server that takes 1898 MB/s, always busy.
start_sim "$SCENARIO"
start_opensm
start_tuned 'apply_via: direct'
wait_until 20 status '.state == "ok" and .decision != null' || fail "the daemon does not get going: $(told)"
for speed in 0.05 0.01 0.1; do
	sim set "speed=$speed" >/dev/null || fail "set"
	near "the rate at a speed of $speed" "$(middle_rate destination1)" 15187
done
equal "no node is asked for its time" "$(sim stats -j | jq '[.rows[] | select(.class == "0x21" and .attr == "0x0018")] | length')" 0

# Paused, and on again.
sim set speed=0 >/dev/null || fail "set"
wait_until 20 status '.state == "degraded" and (.reason | test("^clock: the simulated fabric stands still")) and
	.reason == .fabric.clock_trouble' || fail "a fabric that stands still is not told: $(told)"
tune status >"$TMP/text" 2>&1
rc=0
tune plan >"$TMP/plan.txt" 2>&1 || rc=$?
equal "a client that asks for a plan does not wait for time to go on" "$rc" 1
check "a simulator that is paused is told" grep -q '^Clock: .*stands still' "$TMP/text"
rc=0
alone stock >"$TMP/plan.txt" 2>&1 || rc=$?
equal "a plan without the daemon is none" "$rc" 1
check "and says why" grep -q 'stands still' "$TMP/plan.txt"
without "nor is it a fabric without congestion" "$TMP/plan.txt" -q 'No congestion'
sim set speed=0.05 >/dev/null || fail "set"
wait_until 20 status '.state == "ok" and .fabric.clock_trouble == null' || fail "time does not go on: $(told)"
near "and when time goes on, the rate is as before" "$(middle_rate destination1)" 15187
stop "$TUNED_PID"

# A program that was started by hand finds the time by the simulator's name.
clock=/dev/shm/ibcc-sim.$SIM.clock
equal "ibcc-sim exec names the file" "$(stock sh -c 'echo "$IBCC_SIM_CLOCK"')" "$clock"
plan() { alone stock env "$@" >"$TMP/plan.json" 2>"$TMP/plan.log"; }
plan -u IBCC_SIM_CLOCK || fail "a plan: $(cat "$TMP/plan.log")"
equal "without that name it is found, too" "$(jq -r .fabric.clock "$TMP/plan.json")" fabric
for what in missing short; do
	case $what in missing) rm "$TMP/clock" 2>/dev/null ;; short) echo >"$TMP/clock" ;; esac
	! plan IBCC_SIM_CLOCK="$TMP/clock" || fail "a plan without the simulator's time ($what)"
	tr -s ' \n' ' ' <"$TMP/plan.log" >"$TMP/plan.line"
	check "a file that is $what is named" grep -q "time of the simulated fabric: $TMP/clock: " "$TMP/plan.line"
done
stop "$OSM_PID"
stop "$SIM_PID"
[ ! -e "$clock" ] || fail "$clock is left behind"
ok "the file goes with the simulator"

# Faster than the host's clock: one flow of 1000 Mb/s.
cat >"$TMP/fast.yaml" <<-YAML
	name: fast
	title: A slow flow
	duration_ms: 1000
	topology:
	  rate: 4x QDR
	  mtu_bytes: 2048
	  nodes:
	    - {host: [source, destination]}
	    - {switch: leaf, ports: 4}
	  links:
	    - [source, leaf/1]
	    - [destination, leaf/2]
	traffic:
	  - {name: slow, from: source, to: destination, rate: 1000 Mb/s}
YAML
SIM=$SIM-fast
start_sim "$TMP/fast.yaml" --speed 3
start_opensm --tag fast
start_tuned 'apply_via: direct'
flows() { [ "$(sim flows -j | jq '.rows[0].mbps')" -gt 50 ]; }
wait_until 20 flows || fail "no traffic"
wait_until 20 status '.state == "ok" and .decision != null' || fail "the daemon does not get going: $(told)"
near "the rate at a speed of 3" "$(middle_rate destination)" 1000
