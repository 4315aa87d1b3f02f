# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Two subnet managers with plugins and a daemon beside each, as on two management hosts. The master is
# killed between pushes and in the middle of one, and comes back. Only one of them ever writes at a
# time: the fabric's log of Sets says which process wrote when.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
quick=('sweep_interval 1' 'sminfo_polling_timeout 300' 'polling_retry_number 2')
host=(source1 source2)
priority=(5 3)
osm=('' '')
tuned=('' '')

# start_side N: opensm and daemon of one management host.
start_sm()
{
	PLUGIN_OPTIONS="ibcc.socket=$TMP/plugin$1.sock" start_opensm --plugin --tag "side$1" \
		--host "${host[$1]}" --no-wait "${quick[@]}" "sm_priority ${priority[$1]}"
	osm[$1]=$OSM_PID
}
start_daemon()
{
	printf '%s\n' "plugin_socket: $TMP/plugin$1.sock" "control_socket: $TMP/control$1.sock" \
		"state_file: $TMP/state$1.db" "log: {target: stderr, level: debug}" "interval_ms: $INTERVAL_MS" "timeout_ms: $TIMEOUT_MS" 'node_gap_us: 0' \
		'mode: apply' 'drift: repair' >"$TMP/tuned$1.yaml"
	background "$TMP/tuned$1.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" --host "${host[$1]}" -- \
		"$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned$1.yaml"
	tuned[$1]=$!
}
# side N ARGS...: the command line beside one of them.
side() { at "${host[$1]}" "$IBCC_BUILD/ibcc-tune" -z "$TMP/tuned$1.yaml" "${@:2}"; }
status() { side "$1" status -j >"$TMP/status$1.json" 2>"$TMP/tune.log" && jq -e "$2" "$TMP/status$1.json"; }
sm_is() { status "$1" ".sm.state == \"$2\""; }
pushes() { side "$1" history -j 2>"$TMP/tune.log" | jq "[.transactions[] | select(.outcome == \"done\" and .changes > 0 and .action != \"rollback\")] | length"; }
pushed() { [ "$(pushes "$1")" -gt "${2:-0}" ]; }
# What the fabric has is what the daemon beside N reads, and what was written last.
verified() { status "$1" '.drift.writes == 0 and .state == "ok"'; }

# Clients that sent Sets, one after the other. Two that write at the same time would take turns.
writers()
{
	sim sets -j >"$TMP/sets.json"
	jq -r '[.rows[].client] | reduce .[] as $c ([]; if .[-1] == $c then . else . + [$c] end) | join(" ")' "$TMP/sets.json"
}
# single N: after N masterships there were at most so many writers, each in one piece.
single()
{
	local n
	n=$(writers | wc -w)
	[ "$n" -gt 0 ] && [ "$n" -le "$1" ]
}

start_sm 0
start_daemon 0
wait_until 30 sm_is 0 MASTER || fail "the first SM is not master"
start_sm 1
start_daemon 1
wait_until 30 sm_is 1 STANDBY || fail "the second SM is not standby"
wait_until 30 pushed 0 || fail "the master's daemon does not push"
ok "the daemon beside the master pushes"
side 1 disable -y >"$TMP/disable.log" 2>&1 && fail "the standby's daemon writes"
grep -q STANDBY "$TMP/disable.log" || fail "the standby's refusal: $(cat "$TMP/disable.log")"
ok "the daemon beside the standby is told no"
equal "the one beside the standby has written nothing" "$(pushes 1)" 0
check "one writer" single 1

# --- killed between pushes ------------------------------------------------------------------------
kill -KILL "${osm[0]}"
wait "${osm[0]}" 2>/dev/null
wait_until 40 sm_is 1 MASTER || fail "the second SM does not take over"
ok "the second SM takes over"
wait_until 30 verified 1 || fail "the settings are not verified: $(cat "$TMP/status1.json")"
ok "the daemon beside it has read all settings again and works"
# The first daemon has no plugin any more and must not write.
status 0 '.sm == null' >/dev/null || fail "the daemon of the dead SM still sees it"
before=$(sim sets -j | jq '.rows | length')
side 1 apply -y >"$TMP/apply.log" 2>&1 || side 1 disable -y >"$TMP/apply.log" 2>&1 || fail "no push by the new master"
grep -q 'changes\? verified\|Nothing to change' "$TMP/apply.log" || fail "new master: $(cat "$TMP/apply.log")"
side 1 disable -y >"$TMP/disable.log" 2>&1 || fail "disable by the new master: $(cat "$TMP/disable.log")"
[ "$(sim sets -j | jq '.rows | length')" -gt "$before" ] || fail "the new master has written nothing"
ok "the new master's plugin writes"
check "one writer after the other" single 2
side 1 rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"

# --- comes back with the higher priority: handed over, which opensm does not report ------------------
start_sm 0
wait_until 60 sm_is 0 MASTER || fail "the first SM does not become master again"
wait_until 30 sm_is 1 STANDBY || fail "the second SM does not hand over"
ok "handed over to the first again"
side 1 disable -y >"$TMP/disable.log" 2>&1 && fail "the standby's daemon writes"
grep -q STANDBY "$TMP/disable.log" || fail "the standby's refusal: $(cat "$TMP/disable.log")"
ok "the standby's daemon is told no"
check "one writer after the handover" single 3

# --- killed in the middle of a push ---------------------------------------------------------------
# An SM that is master again has not told all ports yet.
first_applies() { side 0 apply -y >"$TMP/apply.log" 2>&1; }
wait_until 20 first_applies || fail "apply by the first: $(tail -n 3 "$TMP/apply.log")"
delay_mads 100000
sets=$(set_mads)
timeout 30 "$IBCC_BUILD/ibcc-tune" -z "$TMP/tuned0.yaml" disable -y >"$TMP/push.log" 2>&1 &
pusher=$!
while alive "$pusher" && [ "$(set_mads)" = "$sets" ]; do :; done
kill -KILL "${osm[0]}"
wait "${osm[0]}" 2>/dev/null
wait "$pusher" 2>/dev/null
sim set mad_delay_us=0
wait_until 40 sm_is 1 MASTER || fail "the second SM does not take over in a push"
wait_until 30 verified 1 || fail "the settings are not verified: $(cat "$TMP/status1.json")"
side 1 show -j >"$TMP/show.json" 2>"$TMP/tune.log" || fail "show"
equal "show is what the fabric has" \
	"$(jq -cS '[.nodes[] | select(.type == "ca") | [.node, .CACongestionSetting.sls[0].CCTI_Increase]] | sort' "$TMP/show.json")" \
	"$(sim settings -j | jq -cS '[.rows[] | select(.ca) | [.node, .ca.sl[0].CCTI_Increase]] | sort')"
# And in words, to a user of the one without SM.
side 0 rollback -y >"$TMP/disable.log" 2>&1 && fail "the daemon of a dead SM writes: $(cat "$TMP/disable.log")"
grep -q 'no OpenSM plugin listens' "$TMP/disable.log" || fail "without SM: $(cat "$TMP/disable.log")"
ok "the daemon without an SM says so"
side 1 disable -y >"$TMP/disable.log" 2>&1 || fail "disable by the second: $(cat "$TMP/disable.log")"
equal "nothing is left of the push that was cut off" \
	"$(sim settings -j | jq '[.rows[] | (.switch.Threshold // 0) + ([.switch.ports[]?] | length) + ([.ca.sl[]?.CCTI_Increase] | add // 0)] | add')" 0
check "one writer, all the time: clients $(writers)" single 4

# --- a second daemon at the same plugin -----------------------------------------------------------
stop "${tuned[0]}"
sed "s|plugin0.sock|plugin1.sock|; s|mode: apply|mode: observe|" -i "$TMP/tuned0.yaml"
start_daemon_again() { background "$TMP/tuned0.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" --host "$1" -- "$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned0.yaml"; tuned[0]=$!; }
start_daemon_again "${host[0]}"
wait_until 20 status 0 '.state == "degraded" and (.reason | test("no local port has GUID"))' ||
	fail "a daemon that is not at the plugin's port: $(cat "$TMP/status0.json")"
ok "a daemon at another port than the plugin's subnet manager reads and writes nothing"
stop "${tuned[0]}"
start_daemon_again "${host[1]}"
wait_until 20 status 0 '.sm.state == "MASTER"' || fail "the second daemon does not connect"
applied() { side 1 apply -y >"$TMP/apply.log" 2>&1 && grep -q ' changes\? verified' "$TMP/apply.log"; }
wait_until 30 applied || fail "the first daemon writes nothing: $(tail -n 3 "$TMP/apply.log")"
side 0 disable -y >"$TMP/disable.log" 2>&1 && fail "two daemons write through one plugin"
grep -q 'another daemon writes through this plugin' "$TMP/disable.log" || fail "second daemon: $(cat "$TMP/disable.log")"
ok "a second daemon at the same plugin is told no"
stop "${tuned[1]}"
side 0 disable -y >"$TMP/disable.log" 2>&1 || fail "after the first has gone: $(cat "$TMP/disable.log")"
ok "and may write when the first has gone"
