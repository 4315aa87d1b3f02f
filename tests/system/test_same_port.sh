# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Two daemons at the same port of one host, with other state files and sockets: one of them writes, and both are told.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO" --speed 0.02
start_opensm 'sweep_interval 0'
start_tuned 'mode: apply' 'apply_via: direct'
first=$TUNED_PID
wait_until 20 status '.election.state == "leads"' || fail "no daemon leads: $(cat "$TMP/status.json")"

# second FOLDER: a daemon with its files there, in the same mode.
second()
{
	mkdir -p "$1"
	sed "s|$TMP/control.sock|$1/other.sock|; s|$TMP/state.db|$1/other.db|" "$TMP/tuned.yaml" >"$1/other.yaml"
	other=$1/other.yaml
	background "$1/other.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" -z "$other"
	SECOND_PID=$!
}
b() { stock "$IBCC_BUILD/ibcc-tune" -z "$other" "$@"; }
b_status() { b status -j >"$TMP/b.json" 2>/dev/null && jq -e "$1" "$TMP/b.json"; }

# --- a lock that both see -------------------------------------------------------------------------
second "$TMP"
told() { b_status ".state == \"degraded\" and (.reason | test(\"works at the same port: .*process $first holds the lock .*stop one of them\"))"; }
wait_until 20 told || fail "the second is not told: $(jq -c '[.state, .reason]' "$TMP/b.json")"
ok "the second learns which daemon works at the port"
b apply -y >"$TMP/apply.log" 2>&1
equal "its apply is refused" $? 1
check "with the reason" grep -q "works at the same port.*process $first holds the lock" "$TMP/apply.log"
b --socket "$TMP/nobody.sock" --via direct disable -y >"$TMP/alone.log" 2>&1
equal "so is a command line without a daemon" $? 1
check "the first leads all the while" status '.election.state == "leads" and .state == "ok"'
stop "$SECOND_PID"

# --- as from two containers: no lock that both see ------------------------------------------------
if [ -w /run/ibcc-tune ]; then
	echo "skipped: this host has /run/ibcc-tune, whose lock all see"
else
	second "$TMP/b"
	wait_until 20 b_status '.election.state == "follows" and (.election.text | test("the port of this daemon, too"))' ||
		fail "the second does not follow: $(jq -c .election "$TMP/b.json")"
	ok "without a common lock, the second follows"
	sleep 10 # two looks of the leader
	check "and the first leads" status '.election.state == "leads"'
	check "while the second still follows" b_status '.election.state == "follows" and .mads.sets == 0'
	stop "$SECOND_PID"
fi

# --- after a crash no daemon waits for a lease -------------------------------------------------------
stop "$first" KILL
start_tuned 'mode: apply' 'apply_via: direct'
wait_until 10 status '.election.state == "leads"' || fail "the next run does not lead: $(jq -c .election "$TMP/status.json")"
ok "a run after a crash leads at once"

# Its number is in the state file, and has to be in one that it begins while it runs.
mkdir "$TMP/aside" && mv "$TMP"/state.db* "$TMP/aside"
begun() { [ -s "$TMP/state.db" ] && status '.state_trouble == null'; }
wait_until 20 begun || fail "no other state file is begun: $(jq -c .state_trouble "$TMP/status.json")"
stop "$TUNED_PID" KILL
start_tuned 'mode: apply' 'apply_via: direct'
wait_until 10 status '.election.state == "leads"' || fail "it waits for its own lease: $(jq -c .election "$TMP/status.json")"
ok "so does one after a crash with a state file that was begun meanwhile"
