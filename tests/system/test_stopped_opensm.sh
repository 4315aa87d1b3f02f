# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# OpenSM stops, with its sockets open: the daemon says so within three intervals, waits for no answer
# for long, and goes on by itself when OpenSM does.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
opensm=$(child_of "$OSM_PID" opensm)
opensm=${opensm:-$OSM_PID}

told() { jq -c '[.state, .reason, .plugin_trouble]' "$TMP/status.json"; }
stalled() { status '.state == "stalled" and (.reason | test("OpenSM has stopped: its plugin at .* does not answer"))'; }

start_tuned 'mode: apply'
wait_until 20 status '.state == "ok" and .fabric.source == "plugin"' || fail "the daemon does not get going: $(told)"
wait_until 30 grep -q 'changes\? verified' "$TMP/tuned.log" || fail "the daemon writes nothing"
ok "the daemon is at work"
kill -STOP "$opensm" || fail "SIGSTOP"
wait_until 10 stalled || fail "an OpenSM that has stopped is not told: $(told)"
ok "an OpenSM that has stopped is told"
rc=0
tune rollback -y >"$TMP/rollback.log" 2>&1 || rc=$?
[ "$rc" = 1 ] || fail "ibcc-tune rollback: status $rc"
grep -q 'OpenSM has stopped' "$TMP/rollback.log" || fail "ibcc-tune rollback does not say why it cannot"
ok "a rollback says why it cannot be"
kill -CONT "$opensm" || fail "SIGCONT"
wait_until 10 status '.state == "ok" and .fabric.source == "plugin"' || fail "no recovery: $(told)"
ok "and when it goes on, the daemon does"

# A daemon that starts meanwhile finds a socket that accepts and does not greet.
kill -STOP "$opensm" || fail "SIGSTOP"
stop "$TUNED_PID"
start_tuned 'mode: apply'
wait_until 20 stalled || fail "not told after a start: $(told)"
ok "told after a start, too"
kill -CONT "$opensm" || fail "SIGCONT"
wait_until 10 status '.state == "ok" and .fabric.source == "plugin"' || fail "no recovery: $(told)"
ok "and it recovers from that"
