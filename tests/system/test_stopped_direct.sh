# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A daemon that discovers the fabric by itself, when the fabric's server stops for longer than the
# daemon looks for changes, and goes on: answers come to questions that were given up long ago.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm
simulator=$(child_of "$SIM_PID" ibcc-sim)
simulator=${simulator:-$SIM_PID}

# Past `ibcc-sim exec`, which asks the simulator first.
direct() { timeout 40 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"; }
status() { direct status -j >"$TMP/status.json" && jq -e "$1" "$TMP/status.json"; }

start_tuned 'apply_via: direct' 'pass_deadline_ms: 1000'
wait_until 20 status '.state == "ok" and .fabric.ports_unreachable == 0' || fail "the daemon does not get going"
ok "the daemon is at work"
kill -STOP "$simulator" || fail "SIGSTOP"
sleep 25
kill -CONT "$simulator" || fail "SIGCONT"
wait_until 90 status '.state == "ok" and .fabric.ports_stale + .fabric.ports_unreachable == 0' ||
	fail "no recovery: $(jq -c '[.state, .reason, .fabric]' "$TMP/status.json")"
alive "$TUNED_PID" || fail "the daemon is dead"
ok "the daemon is still there"
