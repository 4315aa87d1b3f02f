# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Stock ibsim behind the proxy: its control plane works as if the proxy were not there.
. "$(dirname "$0")/lib.sh"

two_switches 8 >"$TMP/net"

start_sim "$TMP/net"
at H1 opensm -o -g 0 -f "$TMP/once.log" >"$TMP/oneshot.log" 2>&1 || fail "opensm -o (status $?)"
grep -q 'Entering MASTER' "$TMP/oneshot.log" || fail "opensm -o is no master"
ok "opensm -o"

start_opensm --host H1 'sweep_interval 1' 'sminfo_polling_timeout 500' 'polling_retry_number 2'
first=$OSM_PID
ok "opensm as a daemon"
start_opensm --tag standby --host H3 --no-wait 'sweep_interval 1' 'sminfo_polling_timeout 500' \
	'polling_retry_number 2'
wait_until 10 grep -q 'Entering STANDBY' "$OSM_LOG" || fail "the second opensm is no standby"
ok "a second opensm stands by"
stop "$first" KILL
wait_until 20 grep -q 'Entering MASTER' "$OSM_LOG" || fail "the standby does not take over"
ok "the standby takes over when the first is killed"

stock ibnetdiscover >"$TMP/discover.log" 2>&1 || fail "ibnetdiscover"
equal "ibnetdiscover finds all nodes" "$(grep -cE '^(Switch|Ca)' "$TMP/discover.log")" 6
stock iblinkinfo >"$TMP/link.log" 2>&1 || fail "iblinkinfo"
equal "iblinkinfo finds the links" "$(grep -c 'Active/  LinkUp' "$TMP/link.log")" 10

# More clients than ibsim has slots, at once; each must get all its answers.
clients=()
for i in $(seq 20); do
	(at "H$((i % 4 + 1))" sh -c 'ibnetdiscover -l && sleep 1 && ibnetdiscover -l' >"$TMP/many.$i" 2>/dev/null) &
	clients+=($!)
done
for p in "${clients[@]}"; do wait "$p" || fail "one of 20 clients at once"; done
for i in $(seq 20); do
	[ "$(grep -cE '^(Switch|Ca)' "$TMP/many.$i")" = 12 ] || fail "client $i of 20 misses nodes"
done
ok "20 clients at once"

# Far more requests under way than the sockets hold: bare ibsim hangs at 335.
flood() { timeout 60 "$IBCC_BUILD/tests/system/flood_client" "$SIM" "$@"; }
equal "5000 requests at once are all answered" "$(flood 5000)" "5000 requests, 5000 answers"
background "$TMP/stall.log" "$IBCC_BUILD/tests/system/flood_client" "$SIM" 20000 stall
stalled=$!
wait_until 20 grep -q stalled "$TMP/stall.log" || fail "a client that does not read blocks itself"
check "a client that does not read keeps no other waiting" stock ibnetdiscover -l
overflow() { [ "$(sim stats -j | jq .overflow)" -gt 0 ]; }
wait_until 10 overflow || fail "what it does not fetch is kept for ever"
ok "what it does not fetch is dropped in the end"
stop "$stalled" KILL

# Killed clients leave no slot taken: more of them than there are slots, at different hosts.
client_total() { [ "$(sim stats -j | jq .clients_total)" = "$1" ]; }
before=$(sim stats -j | jq .clients_total)
for i in $(seq 30); do
	(cd "$TMP" && exec "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" --host "H$((i % 4 + 1))" -- \
		ibping -S >/dev/null 2>&1) &
	victim=$!
	wait_until 5 client_total $((before + i)) || fail "client $i does not attach"
	kill -KILL "$victim"
	wait "$victim" 2>/dev/null
done
clients_left() { [ "$(sim stats -j | jq .clients)" = 1 ]; } # the subnet manager
wait_until 5 clients_left || fail "killed clients are still there: $(sim stats -j | jq .clients)"
check "killed clients free their slots" stock ibnetdiscover

ibsim_pid=$(child_of "$SIM_PID" ibsim)
[ -n "$ibsim_pid" ] || fail "no ibsim below ibcc-sim"
kill -TERM "$SIM_PID"
wait_until 5 gone "$SIM_PID" && wait_until 5 gone "$ibsim_pid" || fail "processes left after SIGTERM"
ok "SIGTERM leaves no process"

start_sim "$TMP/net"
ibsim_pid=$(child_of "$SIM_PID" ibsim)
kill -KILL "$ibsim_pid" || fail "no ibsim below the second ibcc-sim"
another() { local pid; pid=$(child_of "$SIM_PID" ibsim); [ -n "$pid" ] && [ "$pid" != "$ibsim_pid" ]; }
wait_until 10 another || fail "ibsim is not started again"
ok "an ibsim that dies is started again"
grep -q 'ibsim was ended by signal 9' "$TMP/sim.log" || fail "and does not say why"
ok "and says so"
for _ in 1 2; do
	ibsim_pid=$(child_of "$SIM_PID" ibsim)
	kill -KILL "$ibsim_pid" || fail "no ibsim to be killed once more"
	wait_until 10 another || fail "ibsim is not started again before it has shown its fabric"
done
ok "nor is it the end if that one dies at once"
check "clients find the new one" stock smpquery nodeinfo -D 0
stop "$SIM_PID"

# Mistakes have a clear end.
refused() # TEXT WANTED STATUS COMMAND...
{
	local text=$1 wanted=$2 status=$3 rc=0
	shift 3
	timeout 10 "$IBCC_BUILD/ibcc-sim" "$@" >"$TMP/refused.log" 2>&1 || rc=$?
	[ "$rc" = "$status" ] || fail "$text: status $rc, want $status"
	grep -q "$wanted" "$TMP/refused.log" || fail "$text: $(cat "$TMP/refused.log")"
	ok "$text"
}
refused "exec without a simulator" "no simulator named nobody" 1 exec --name nobody -- true
refused "a question to an unknown simulator" "no simulator named nobody" 1 stats --name nobody
refused "a scenario that is not there" "/nowhere" 78 run --scenario /nowhere
refused "a netfile that is not there" "/nowhere: cannot be read" 78 run --netfile /nowhere
refused "nothing to run" "want one of" 1 run
refused "a speed that is none" "want a number" 1 run --netfile "$TMP/net" --speed fast
refused "half a permille, which would be none" "want a whole number" 1 run --netfile "$TMP/net" --mad-loss 0.5
refused "an unknown command" "unknown command 'walk'" 1 walk
start_sim "$TMP/net"
refused "a name that is taken" "a simulator of this name is running: choose another name with --name" 1 run --netfile "$TMP/net" --name "$SIM"
refused "an unknown key" "color: no such key" 1 set --name "$SIM" color=red
refused "a value that cannot be" "speed: cannot be set to fast; ibcc-sim" 1 set --name "$SIM" speed=fast
refused "an unknown node" "no such node" 1 set --name "$SIM" cc_support.nobody=off
refused "an unknown option" "unrecognized option" 1 stats --all
refused "the help of a command" "^Usage: ibcc-sim COMMAND" 0 set --help
background "$TMP/second.log" "$IBCC_BUILD/ibcc-sim" run --netfile "$TMP/net" --name "$SIM-2" --speed 0
second=$!
wait_until "$BOOT_SECONDS" grep -q '^ready ' "$TMP/second.log" || fail "a second simulator does not get ready"
refused "one of several" "simulators are running (..*): choose one with --name" 1 stats
stop "$second"
