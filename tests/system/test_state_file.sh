# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The daemon is killed, and its state file goes, and comes back damaged: what is on the fabric because of
# us is known, can be taken off, and nothing new is begun that could not be written down.
. "$(dirname "$0")/lib.sh"

say() { jq -c '[.state, .reason, .decision, .writes_pending, .unknown_origin]' "$TMP/status.json"; }

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned 'mode: apply' 'tuner: {quiet_passes: 5}'
untuned=$(settings)
tuned() { [ "$(settings)" != "$untuned" ] && status '.writes_pending == 0'; }
wait_until 30 tuned || fail "nothing is tuned: $(say)"
ok "the fabric is tuned"

# No program writes any more; the daemon is killed before it can see that, and started again.
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
sim set traffic=off || fail "ibcc-sim set"
start_tuned 'mode: apply' 'tuner: {quiet_passes: 5}'
as_before() { [ "$(settings)" = "$untuned" ]; }
wait_until 30 as_before || fail "settings of the killed daemon stay: $(say)"
ok "what a killed daemon left is taken off by the next one"

# The file goes, and none can be made in its place: at once, as the daemon begins another one if the file is missing.
sim set traffic=on || fail "ibcc-sim set"
wait_until 30 tuned || fail "nothing is tuned again: $(say)"
ln "$TMP/state.db" "$TMP/away.db" && ln -s nowhere/state.db "$TMP/block" && mv -T "$TMP/block" "$TMP/state.db" || fail "mv"
troubled() { status '.state == "degraded" and (.state_trouble | test("state.db"))'; }
wait_until 30 troubled || fail "a file that is gone is not noticed: $(say)"
ok "status: $(jq -r .reason "$TMP/status.json")"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"
grep -q 'NOT RECORDED: ' "$TMP/rollback.log" || fail "rollback says nothing: $(cat "$TMP/rollback.log")"
[ "$(settings)" = "$untuned" ] || fail "rollback from memory: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"
ok "rollback works from memory, and says that it is not recorded"
planned() { tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/plan.json"; }
wait_until 30 planned || fail "nothing to apply: $(say)"
tune apply -y >"$TMP/apply.log" 2>&1 && fail "apply without a state file"
grep -q 'state.db' "$TMP/apply.log" || fail "apply without a state file says $(cat "$TMP/apply.log")"
[ "$(settings)" = "$untuned" ] || fail "something was begun without a book"
ok "nothing is begun without a book: $(tail -n 1 "$TMP/apply.log")"

# It comes back, and has what happened meanwhile.
mv -T "$TMP/away.db" "$TMP/state.db" || fail "mv back"
wait_until 30 status '.state == "ok" and .state_trouble == null' || fail "no recovery: $(say)"
tune history -j >"$TMP/history.json" || fail "history"
jq -e '.transactions[0] | .action == "rollback" and .via == "memory"' "$TMP/history.json" >"$TMP/jq.log" ||
	fail "the rollback was not written down: $(jq -c '.transactions[0]' "$TMP/history.json")"
status '.paused | test("rollback")' || fail "the pause is forgotten: $(say)"
ok "a file that is back has what could not be written down"
marking() { sim settings -j | jq -r 'first(.rows[] | select(.switch and (.switch.Threshold > 0 or any(.switch.ports[]; .Threshold > 0)))).node'; }
made() { tune apply -y >"$TMP/apply.log" 2>&1 && tuned && [ "$(marking)" ]; }
wait_until 30 made || fail "nothing is tuned again: $(say), $(cat "$TMP/apply.log")"
off() { sim settings -j | jq -e 'all(.rows[]; if .ca then .ca.CCTI_Limit == 0 else .switch.Threshold == 0 and all(.switch.ports[]; .Threshold == 0) end)'; }

# A row of a switch is another one: its Victim_Mask has 138 ports, of a switch with fewer. It is named and left as it
# is, and the others are restored all the same.
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
marker=$(marking)
masked=$(sim settings -j | jq -c --arg n "$marker" '.rows[] | select(.node == $n).switch')
rows=$("$IBCC_BUILD/tests/system/damage_state" "$TMP/state.db" \
	"UPDATE change SET old = CAST(substr(old, 1, 9) || x'ffffffffffffffffffffffffffffffffff03' || substr(old, 28) AS BLOB)
	WHERE attr_id = 20 AND node = '$marker'") || fail "damage_state"
[ "$rows" -gt 0 ] || fail "no row of \"$marker\": $(sim settings -j)"
start_tuned
wait_until 30 status '.state == "degraded" and (.state_trouble | test("1 setting is damaged.*SwitchCongestionSetting.*disable"))' ||
	fail "damaged rows are not told: $(say)"
ok "status: $(jq -r .state_trouble "$TMP/status.json")"
rc=0
tune rollback -y >"$TMP/rollback.log" 2>&1 || rc=$?
[ $rc = 1 ] || fail "rollback exits $rc: $(cat "$TMP/rollback.log")"
grep -q '1 setting could not be restored.*SwitchCongestionSetting of transaction .*checksum.*ibcc-tune disable' "$TMP/rollback.log" ||
	fail "$(cat "$TMP/rollback.log")"
others() { jq -c --arg n "$marker" '[.[] | select(.node != $n)]'; }
equal "the others are restored" "$(settings | others)" "$(echo "$untuned" | others)"
sim settings -j | jq -e --arg n "$marker" --argjson was "$masked" '.rows[] | select(.node == $n).switch | (.Threshold == $was.Threshold) and (.Victim_Mask == $was.Victim_Mask)' >"$TMP/jq.log" ||
	fail "the damaged row was written: $(sim settings -j | jq -c --arg n "$marker" '.rows[] | select(.node == $n)')"
ok "nothing of the damaged row is written: $(tail -n 1 "$TMP/rollback.log")"
tune disable -y >"$TMP/disable.log" 2>&1 || fail "disable: $(cat "$TMP/disable.log")"
off >"$TMP/off.log" || fail "not off: $(settings)"
wait_until 30 status '.state_trouble == null' || fail "damage is told after all is off: $(say)"
check "and a rollback has nothing more to say" tune rollback -y

kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
start_tuned 'mode: apply' 'tuner: {quiet_passes: 5}'
wait_until 30 made || fail "nothing is tuned again: $(say), $(cat "$TMP/apply.log")"

# A damaged one, at the start: disable is the way back; moved aside, another one is begun.
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
seq 1 1000 >"$TMP/state.db"
start_tuned 'mode: apply' 'tuner: {quiet_passes: 5}'
wait_until 30 status '.state == "degraded" and (.reason | test("move the file aside"))' || fail "$(say)"
ok "status: $(jq -r .reason "$TMP/status.json")"
wait_until 30 status '.unknown_origin.endports > 0' || fail "no settings of unknown origin: $(say)"
ok "status: $(jq -r .unknown_origin.text "$TMP/status.json")"
tune rollback -y >"$TMP/rollback.log" 2>&1 && fail "rollback of the unknown"
grep -q disable "$TMP/rollback.log" || fail "$(cat "$TMP/rollback.log")"
tune disable -y >"$TMP/disable.log" 2>&1 || fail "disable: $(cat "$TMP/disable.log")"
off >"$TMP/off.log" || fail "not off: $(settings)"
ok "disable works by what is read"
mv "$TMP/state.db" "$TMP/bad.db"
wait_until 30 status '.state == "ok" and .state_trouble == null' || fail "no other file is begun: $(say)"
wait_until 30 made || fail "nothing is tuned with another file: $(say), $(cat "$TMP/apply.log")"
ok "with the damaged file moved aside another one is begun"
