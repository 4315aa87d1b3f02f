# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The plugin's dead man's switch: what a vanished daemon left is taken off, and what one that comes back in
# time, or lives, has written is not.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.revert_after_s=3" start_opensm --plugin
start_tuned 'mode: apply'
untuned=$(settings)
tuned() { [ "$(settings)" != "$untuned" ] && status '.writes_pending == 0'; }
wait_until 30 tuned || fail "nothing is tuned: $(jq -c '[.state, .reason]' "$TMP/status.json")"
ok "the fabric is tuned"

kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
start_tuned # observes only
sleep 5
[ "$(settings)" != "$untuned" ] || fail "the settings of a daemon that came back are taken off"
ok "a daemon that comes back in time finds its settings"

kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
as_before() { [ "$(settings)" = "$untuned" ]; }
wait_until 20 as_before || fail "what a vanished daemon left stays: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"
ok "what a vanished daemon left is taken off"
grep -q 'ERR IC10' "$OSM_LOG" || fail "OpenSM's log does not tell"
ok "$(grep -o 'ERR IC10.*' "$OSM_LOG" | head -n 1)"

# What was on trial goes the same way, and the books say so when there is a daemon again.
start_tuned
trial() { status '.trial.transaction > 0'; }
try() { tune apply -y --confirm-within 1h >"$TMP/apply.log" 2>&1 && trial; }
wait_until 30 try || fail "nothing can be tried: $(tail -n 3 "$TMP/apply.log")"
[ "$(settings)" != "$untuned" ] || fail "a trial writes nothing"
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
wait_until 20 as_before || fail "what was on trial stays: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"
start_tuned
over() { status '.trial == null'; }
wait_until 20 over || fail "the trial goes on: $(jq -c .trial "$TMP/status.json")"
as_before || fail "the daemon that came back has changed something"
ok "what was on trial is taken off without a daemon, and ended by the next"
