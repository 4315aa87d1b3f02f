# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The daemon with stock opensm and our plugin: congestion comes, the victim recovers, and neither
# kill -9 nor a bad configuration nor a subnet manager that goes away breaks anything.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin

flow() { sim flows -j | jq "[.rows[] | select(.kind == \"$1\").mbps] | add"; }
# Not in a pipe: jq 1.6 takes no input at all for a yes.
asked() { tune "$1" -j >"$TMP/$1.json" 2>"$TMP/tune.log" && jq -e "$2" "$TMP/$1.json"; }
status() { asked status "$1"; }
history() { asked history "$1"; }
log_has() { grep -q -- "$1" "$TMP/tuned.log"; }
settings() { sim settings -j | jq -cS '[.rows[] | del(.lid)]'; }

running() { [ "$(flow hot)" -gt 10000 ]; }
wait_until 20 running || fail "no traffic"
untuned=$(settings)
victim_before=$(flow victim)
hot_before=$(flow hot)

# --- observe is the default: it sees and says, and writes nothing ---------------------------------
start_tuned
wait_until 20 status '.roots == 1 and .writes_pending > 0' || fail "the daemon sees no congestion"
ok "observe: congestion is seen"
check "observe: the decision and its reason are logged" \
	grep -q 'decision: congestion starts at destination1 (leaf2 port 2): it takes .*PortXmitWait' "$TMP/tuned.log"
check "observe: and where it would write" \
	grep -q 'recommends [0-9]* changes\? (ibcc-tune plan shows [a-z]*): .* and 1 more' "$TMP/tuned.log"
equal "observe: nothing is written" "$(set_mads)" 0
verdict='^Verdict:  *1 slow receiver: destination1 (leaf2 port 2) takes 47 % of its link; .*source1'
for command in status plan; do
	tune "$command" 2>"$TMP/tune.log" | head -n 1 >"$TMP/first"
	check "the first line of $command names the slow receiver" grep -q "$verdict" "$TMP/first"
done
check "so does the log, when it first sees congestion" \
	grep -q 'congestion: destination1 (leaf2 port 2): slow receiver, ' "$TMP/tuned.log"

check "it limits its own system calls" grep -q '^Seccomp:[[:space:]]*2$' "/proc/$TUNED_PID/status"

# --- reload ---------------------------------------------------------------------------------------
printf 'mode: aply\ninterval_ms: 0\nfoo: 1\n' >>"$TMP/tuned.yaml"
kill -HUP "$TUNED_PID"
wait_until 10 status '.last_reload_ok == false' || fail "a bad reload is not told"
for word in 'tuned.yaml:[0-9]*:[0-9]*: mode: ' 'interval_ms' 'foo'; do
	log_has "$word" || fail "no word about $word"
done
check "the journal has rates in MB/s, as plans have" grep -q 'decision: .* takes [0-9.]* of [0-9.]* MB/s' "$TMP/tuned.log"
without "no rate in another unit" "$TMP/tuned.log" 'Mb/s'
status '.mode == "observe" and .state == "ok"' >/dev/null || fail "the old configuration is not kept"
ok "a bad configuration is told, all of it, and the old one kept"
"$IBCC_BUILD/ibcc-tune" -z "$TMP/tuned.yaml" plan >"$TMP/status.log" 2>&1
equal "ibcc-tune does not guess what a bad configuration means" $? 78
urgent() { timeout 20 "$IBCC_BUILD/ibcc-tune" -z "$TMP/tuned.yaml" "$@"; }
check "status without a good configuration" urgent status
check "rollback without one" urgent rollback -y
grep -q 'the configuration cannot be used; rollback goes to the daemon that runs at ' "$TMP/check.log" ||
	fail "it does not say which daemon it asks: $(cat "$TMP/check.log")"
check "disable without one" urgent disable -y
urgent status -j 2>"$TMP/urgent.log" | jq -e '.mode == "observe"' >"$TMP/jq.log" || fail "status -j without one: $(cat "$TMP/urgent.log")"
ok "status -j without one"
"$IBCC_BUILD/ibcc-tune" -z "$TMP/tuned.yaml" --socket "$TMP/nobody.sock" disable -y >"$TMP/urgent.log" 2>&1
equal "without a daemon nothing is done" $? 78
check "and the way out is told" grep -q 'correct it, or leave it out' "$TMP/urgent.log"
write_config 'mode: apply'
kill -HUP "$TUNED_PID"
wait_until 10 status '.mode == "apply" and .last_reload_ok' || fail "a good reload is not taken"
ok "a good one is taken"

# --- apply: the victim recovers -------------------------------------------------------------------
recovered() { [ "$(flow victim)" -ge $((2 * victim_before)) ] && [ "$(flow hot)" -ge $((hot_before * 9 / 10)) ]; }
wait_until 40 recovered || fail "the victim does not recover: victim $(flow victim), hot $(flow hot) Mb/s"
ok "the victim has twice its rate and the hot port is busy: $victim_before -> $(flow victim) Mb/s"
history '.transactions | length > 0 and all(.[]; .action == "tune" and .outcome == "done" and .who == "ibcc-tuned")' \
	>/dev/null || fail "history"
ok "each change is in the history"
# The first step, for all suspects, takes a tenth off the hot port; the next gives it back.
settled() { recovered && [ "$(flow hot)" -ge $((hot_before * 98 / 100)) ]; }
wait_until 20 settled || fail "the hot port is not full: $(flow hot) of $hot_before Mb/s"
ok "and then all of its rate"

# --- kill -9 --------------------------------------------------------------------------------------
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
tuned=$(settings)
check "opensm lives" alive "$OSM_PID"
check "the subnet works" stock sminfo
check "the plugin serves others" tune show --via plugin
sleep 1
equal "settings stay" "$(settings)" "$tuned"
check "the victim keeps its rate" recovered
start_tuned 'mode: apply'
wait_until 20 status '.state == "ok" and .fabric.pass > 5' || fail "the daemon does not carry on"
check "carries on: the victim keeps its rate" recovered
history '[.transactions[] | select(.outcome == "done")] | length > 0' >/dev/null || fail "history is lost"
ok "carries on: the history is there"

# --- kill -9 in the middle of writing -------------------------------------------------------------
check "rollback" tune rollback -y
equal "all is as before the daemon" "$(settings)" "$untuned"
status '.mode == "apply" and (.paused | test("rollback by .*uid [0-9]+, pid"))' >/dev/null || fail "no pause after a rollback"
ok "it pauses then"
# With slow answers there is time to kill it between two writes.
# The daemon is busy then: past it, from the file.
past_the_daemon()
{
	sed "s|^control_socket:.*|control_socket: $TMP/nobody.sock|" "$TMP/tuned.yaml" >"$TMP/alone.yaml"
	within 10 "$IBCC_BUILD/ibcc-tune" -z "$TMP/alone.yaml" history -j >"$TMP/history.json" &&
		jq -e "$1" "$TMP/history.json"
}
cut_off()
{
	wait_until 20 status '.roots == 1' || fail "no congestion after the rollback"
	delay_mads 150000 >"$TMP/set.log" || fail "no slow MADs"
	tune apply -y >"$TMP/apply.log" 2>&1 &
	wait_until 30 past_the_daemon '.transactions[0].outcome == "open"' || fail "nothing is being written"
	kill -KILL "$TUNED_PID"
	wait "$TUNED_PID" 2>/dev/null
	sim set mad_delay_us=0 >"$TMP/set.log" || fail "no fast MADs"
	alive "$OSM_PID" || fail "opensm has gone"
	# Before a daemon goes on with it.
	past_the_daemon '.transactions[0].outcome == "interrupted" and .transactions[0].ended != null'
}
# On a busy machine the last write may have come before the kill: then once more.
for tries in 1 2 3 4 5 6; do
	cut_off >/dev/null && break
	jq -e '.transactions[0].outcome == "done"' "$TMP/history.json" >/dev/null || fail "the interrupted write is not told"
	[ "$tries" -lt 6 ] || fail "no write could be interrupted"
	start_tuned 'mode: apply'
	tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "no rollback: $(cat "$TMP/rollback.log")"
done
check "opensm lives" alive "$OSM_PID"
check "the subnet works" stock sminfo
ok "the interrupted write is told"
start_tuned 'mode: apply'
check "and can be taken back" tune rollback -y
equal "to the settings from before" "$(settings)" "$untuned"

# --- the subnet manager goes and comes ------------------------------------------------------------
check "apply ends the pause" tune apply -y
status '.paused == null' >/dev/null || fail "still paused"
stop "$OSM_PID"
wait_until 20 status '.sm == null' || fail "the lost plugin is not noticed"
ok "the lost plugin is noticed"
start_opensm --plugin
wait_until 30 status '.sm.state == "MASTER" and .state == "ok" and .fabric.source == "plugin"' ||
	fail "the new plugin is not found"
ok "and the new one is found"
wait_until 40 recovered || fail "the victim does not recover after that"
ok "and the loop goes on"

# --- the end --------------------------------------------------------------------------------------
# It may have been about to change their values.
nodes_on() { settings | jq -c '[.[] | select((.ca.CCTI_Limit // 0) > 0 or (.switch.ports // [] | length) > 0).node]'; }
tuned=$(nodes_on)
stop "$TUNED_PID"
log_has 'settings on the fabric stay' || fail "no word at the end"
equal "settings stay when it ends" "$(nodes_on)" "$tuned"
[ ! -e "$TMP/control.sock" ] || fail "the control socket is left behind"
ok "the control socket is gone"
