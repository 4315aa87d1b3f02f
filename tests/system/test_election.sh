# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Several daemons that write by their own ports: one leads, by a ServiceRecord with subnet
# administration, the others watch and refuse.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO" --speed 0.02
start_opensm 'sweep_interval 0'
record() { stock "$IBCC_BUILD/tests/system/sa_record" "$@" 2>/dev/null; }

equal "no daemon leads" "$(record get)" none

# Two daemons, on two hosts.
start_tuned 'mode: apply' 'apply_via: direct'
first=$TUNED_PID
wait_until 20 status '.election.state == "leads"' || fail "no daemon leads: $(cat "$TMP/status.json")"
ok "one alone leads"
record get >"$TMP/record"
check "its record has a lease, and tells its host" grep -qE '^0x[0-9a-f]* 60 ibcc-tuned on ' "$TMP/record"

mkdir "$TMP/b"
sed "s|$TMP/|$TMP/b/|" "$TMP/tuned.yaml" >"$TMP/b/tuned.yaml"
background "$TMP/b.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" --host source2 -- \
	"$IBCC_BUILD/ibcc-tuned" -z "$TMP/b/tuned.yaml"
second=$!
b() { at source2 "$IBCC_BUILD/ibcc-tune" -z "$TMP/b/tuned.yaml" "$@"; }
b_status() { b status -j >"$TMP/b.json" 2>/dev/null && jq -e "$1" "$TMP/b.json"; }
wait_until 20 b_status '.election.state == "follows" and .roots == 1 and .state == "ok"' ||
	fail "the second does not follow: $(cat "$TMP/b.json")"
ok "the second follows, and looks on"
wait_until 20 status '.writes_pending == 0 and .mads.sets > 5' || fail "the first does not tune: $(cat "$TMP/status.json")"
equal "only the first writes" "$(b_status '.mads.sets == 0')" true
equal "by the fabric's own log, too" "$(sim sets -j | jq -c '[.rows[] | .host] | unique')" '["source1"]'
b apply -y >"$TMP/apply.log" 2>&1
equal "an apply is refused" $? 1
check "with the reason" grep -q 'another daemon leads: "ibcc-tuned on ' "$TMP/apply.log"
b status >"$TMP/b.txt"
check "the status names the leader" grep -q '^Leader: *another daemon leads: "ibcc-tuned on ' "$TMP/b.txt"
# Nor does a daemon that comes and goes.
mkdir "$TMP/c"
printf '%s\n' "control_socket: $TMP/c/control.sock" "state_file: $TMP/c/state.db" "interval_ms: $INTERVAL_MS" \
	'apply_via: direct' >"$TMP/c/cli.yaml"
at source3 "$IBCC_BUILD/ibcc-tune" -z "$TMP/c/cli.yaml" repair -y >"$TMP/c.log" 2>&1
equal "a repair without a daemon is refused, too" $? 1
check "for the same reason" grep -q 'another daemon leads' "$TMP/c.log"

# A leader that goes takes its record along.
stop "$first"
wait_until 20 b_status '.election.state == "leads"' || fail "no daemon takes over: $(cat "$TMP/b.json")"
ok "the second takes over"
stop "$second"
wait_until 5 eval '[ "$(record get)" = none ]' || fail "the record is left: $(record get)"
ok "and takes its record along"

# One that dies leaves it, until its lease ends. What others have changed meanwhile is looked at, and
# repaired once we lead.
lid=$(sim settings -j | jq '.rows[] | select(.node == "source1").lid')
stock ibccconfig CACongestionSetting "$lid" 0 0xffff 150 1 0 0 >"$TMP/foreign.log" 2>&1 || fail "$(cat "$TMP/foreign.log")"
check "another's record" record set 0x4711 8 'somebody else'
sets=$(set_mads)
start_tuned 'mode: apply' 'apply_via: direct' 'drift: repair'
wait_until 10 status '.election.state == "follows" and .drift.writes > 0' || fail "$(jq -c '[.election, .drift]' "$TMP/status.json")"
equal "is heeded" "$(jq -r .election.leader "$TMP/status.json")" 'somebody else'
equal "nothing is written meanwhile" "$(set_mads)" "$sets"
wait_until 40 status '.election.state == "leads"' || fail "not taken over: $(jq -c .election "$TMP/status.json")"
ok "until its lease has ended"
wait_until 6 status '.drift.writes == 0 and .state == "ok"' || fail "not repaired: $(jq -c '[.state, .reason, .drift]' "$TMP/status.json")"
ok "what another program has changed is repaired"
# Again, as a decision may write that node before the drift is found.
tries=0
told()
{
	[ $((tries++ % 25)) != 0 ] || stock ibccconfig CACongestionSetting "$lid" 0 0xffff 150 1 0 0 >"$TMP/foreign.log" 2>&1
	status '.drift.repaired // "" | test("settings of \"source1\" .* differ from those that ibcc-tune wrote; repaired (once|[0-9]+ times in [0-9]+ s), last ")'
}
wait_until 30 told || fail "a repair is not told: $(jq -c '[.state, .reason, .drift]' "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
check "a person reads what was repaired, and how often" grep -q '^Repaired: *settings of "source1" .*; repaired [o0-9]' "$TMP/text"
check "the log says it" grep -q 'drift: settings of "source1" .* differ from those that ibcc-tune wrote; repaired' "$TMP/tuned.log"

# Without subnet administration no daemon leads.
stop "$TUNED_PID" KILL
kill -STOP "$OSM_PID"
start_tuned 'mode: apply' 'apply_via: direct'
wait_until 20 status '.election.state == "silent" and .state == "degraded"' || fail "$(jq -c '[.election, .state, .reason]' "$TMP/status.json")"
check "a daemon without an SA says so" jq -e '.reason | test("does not answer.*nothing is written")' "$TMP/status.json"
kill -CONT "$OSM_PID"
wait_until 20 status '.election.state == "leads"' || fail "$(jq -c .election "$TMP/status.json")"
ok "and leads when it is back, since its own record is no other's"
