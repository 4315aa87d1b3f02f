# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The fabric's server stops answering and comes back: neither the daemon nor the command line hangs, both
# say what is wrong, and both recover by themselves.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
simulator=$(child_of "$SIM_PID" ibcc-sim)
simulator=${simulator:-$SIM_PID}

# Past `ibcc-sim exec`, which asks the simulator first.
direct() { timeout 40 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"; }
# Its own port, as there is no daemon at that socket.
nobody()
{
	sed 's/^control_socket: .*/&.none/; s/^state_file: .*/&.none/' "$TMP/cli.yaml" >"$TMP/alone.yaml"
	(export OSM_CACHE_DIR="$TMP" OSM_TMP_DIR="$TMP" && cd "$TMP" &&
		timeout 60 "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- \
			"$IBCC_BUILD/ibcc-tune" -z "$TMP/alone.yaml" "$@")
}
status() { direct status -j >"$TMP/status.json" && jq -e "$1" "$TMP/status.json"; }

# After so many requests without an answer, only a probe now and then.
silent()
{
	status true && before=$(jq .mads.sent "$TMP/status.json") && sleep 2 &&
		status ".mads.sent <= $before + 1"
}

start_tuned 'pass_deadline_ms: 1000'
wait_until 20 status '.state == "ok" and .fabric.ports_unreachable == 0' || fail "the daemon does not get going"
ok "the daemon is at work"

for round in 1 2; do
	kill -STOP "$simulator" || fail "SIGSTOP"
	wait_until 20 status '.state == "degraded" or .fabric.ports_fresh == 0' ||
		fail "a stopped server is not noticed: $(jq -c '[.state, .reason, .fabric.ports_fresh]' "$TMP/status.json")"
	ok "a server that stops is noticed ($round)"
	[ $round = 1 ] || wait_until 60 silent || fail "the daemon goes on sending"
	for command in status history plan; do
		rc=0
		direct "$command" >"$TMP/$command.log" 2>&1 || rc=$?
		[ "$rc" -lt 124 ] || fail "ibcc-tune $command hangs"
	done
	ok "ibcc-tune answers in time"
	direct status >"$TMP/status.log" 2>&1
	# And without a daemon, through the port itself.
	rc=0
	nobody --via direct plan >"$TMP/alone.log" 2>&1 || rc=$?
	{ [ "$rc" != 0 ] && [ "$rc" -lt 124 ]; } || fail "ibcc-tune without a daemon: $rc"
	[ -s "$TMP/alone.log" ] || fail "ibcc-tune without a daemon says nothing"
	ok "without a daemon it ends, too: $(head -n 1 "$TMP/alone.log")"
	grep -Eq 'State: +degraded: .|Not read: ' "$TMP/status.log" || fail "status does not say what is wrong"
	ok "status says what is wrong: $(grep -E 'State:|Not read:' "$TMP/status.log" | head -1)"
	kill -CONT "$simulator" || fail "SIGCONT"
	wait_until 90 status '.state == "ok" and .fabric.ports_stale + .fabric.ports_unreachable == 0' ||
		fail "no recovery: $(jq -c '[.state, .reason, .fabric]' "$TMP/status.json")"
	ok "and when it goes on, the daemon does"
done

# A part of it: ibcc-sim starts ibsim again, opensm brings the fabric up again, the daemon reads on.
old=$(child_of "$simulator" ibsim)
kill -KILL "$old" || fail "ibsim is not there"
another() { new=$(child_of "$simulator" ibsim) && [ -n "$new" ] && [ "$new" != "$old" ]; }
wait_until 10 another || fail "ibsim is not started again: $(cat "$TMP/sim.log")"
grep -q 'ibsim was ended by signal 9' "$TMP/sim.log" || fail "the simulator does not say so"
ok "ibsim is started again when it dies"
for command in status plan; do
	rc=0
	direct "$command" >"$TMP/$command.log" 2>&1 || rc=$?
	[ "$rc" -lt 124 ] || fail "ibcc-tune $command hangs"
done
ok "ibcc-tune answers in time"
wait_until 60 status '.state == "ok" and .fabric.ports_stale + .fabric.ports_unreachable == 0' ||
	fail "no recovery: $(jq -c '[.state, .reason, .fabric]' "$TMP/status.json")"
ok "and when opensm has brought the fabric up again, the daemon reads on"

# For good, and another one in its place.
kill -KILL "$simulator" || fail "SIGKILL"
wait_until 20 status '.state == "degraded" or .fabric.ports_fresh == 0' || fail "a dead server is not noticed"
ok "a server that dies is noticed"
rc=0
direct plan >"$TMP/plan.log" 2>&1 || rc=$?
[ "$rc" -lt 124 ] || fail "ibcc-tune plan hangs"
ok "ibcc-tune answers in time"
stop "$TUNED_PID"
ok "the daemon can be ended"
stop "$OSM_PID" KILL
start_sim "$SCENARIO"
start_opensm --plugin
start_tuned 'pass_deadline_ms: 1000'
wait_until 20 status '.state == "ok" and .fabric.ports_unreachable == 0' || fail "not after a restart"
ok "and is at work again with another simulator of that name"
