# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A switch whose counters lie is named by the log and by status, and what was set because of it goes;
# before, and once it tells the truth again, every node is believed.
. "$(dirname "$0")/lib.sh"

tuned() { status '.fabric.pass > 30 and .roots == 1 and .writes_pending == 0'; }
doubted() { status '.fabric.doubted | length > 0 and all(.node == "leaf2")'; }
taken_off() { sim settings -j | jq -e '[.rows[] | select(.switch).switch.Threshold] | add == 0'; }
believed() { status '.fabric.doubted == []'; }

start_sim "$SCENARIO" --speed 0.02
start_opensm --plugin
start_tuned 'mode: apply'
wait_until 40 tuned || fail "the loop does not settle: $(cat "$TMP/status.json")"
equal "honest: no counter is distrusted" "$(jq -c '[.state, .fabric.doubted]' "$TMP/status.json")" '["ok",[]]'

sim set pma_sent_permille.leaf2=30 pma_wait_permille.leaf2=1900 || fail "ibcc-sim set"
wait_until 40 doubted || fail "the switch is not found out: $(cat "$TMP/status.json")"
ok "a switch that tells three hundredths of its rate is found out"
equal "degraded" "$(jq -r .state "$TMP/status.json")" degraded
wait_until 20 taken_off || fail "what was set stays: $(sim settings -j)"
ok "what was set because of it is taken off"
tune status >"$TMP/text" 2>&1
grep -q '^Conflict: *leaf2 .*several of its neighbours' "$TMP/text" || fail "status: $(cat "$TMP/text")"
ok "status names it"
grep -q 'inconsistent counters: .*leaf2 port 2 (several of its neighbours' "$TMP/tuned.log" || fail "the log does not name it"
ok "the log names it"

sim set pma_sent_permille.leaf2=0 pma_wait_permille.leaf2=0 || fail "ibcc-sim set"
wait_until 40 believed || fail "it is not believed again: $(cat "$TMP/status.json")"
ok "it is believed again"
grep -q 'counters of all ports are consistent again' "$TMP/tuned.log" || fail "the log does not say so"
ok "the log says so"
wait_until 40 tuned || fail "the loop does not go on: $(cat "$TMP/status.json")"
ok "and the loop goes on"
