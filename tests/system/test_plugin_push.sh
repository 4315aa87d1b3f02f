# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Plans through the plugin: which client may write and when, stock ibccquery as the witness of what was
# written, and an opensm that ends in the middle.
. "$(dirname "$0")/lib.sh"

client_at() { within 60 "$IBCC_BUILD/tests/system/plugin_client" "$@"; }
client() { client_at "$TMP/opensm.sock" "$@"; }
is() { client_at "$1" state | grep -q "^$2 .* nodes=[1-9]"; }
served() { wait_until 10 is "$TMP/opensm.sock" MASTER || fail "the plugin does not serve"; }
# refused TEXT REFUSAL-PATTERN ARGUMENTS...: the plan is refused as a whole, without one MAD.
refused()
{
	client push "${@:3}" >"$TMP/push.log"
	equal "$1: status" "$?" 3
	grep -q "^END .*$2.*(0 Set)" "$TMP/push.log" || fail "$1: $(tail -n 1 "$TMP/push.log")"
	equal "$1: no result for single changes" "$(wc -l <"$TMP/push.log")" 2
}
applied()
{
	client push "${@:2}" >"$TMP/push.log" || fail "$1: $(cat "$TMP/push.log")"
	grep -q "^verified $(sed -n 's/committed \([0-9]*\).*/\1/p' "$TMP/push.log")\$" \
		"$TMP/push.log" || fail "$1: $(cat "$TMP/push.log")"
	ok "$1"
}

start_sim "$SCENARIO"
start_opensm --plugin
served

# --- written and read back, by ours and by stock tools ------------------------------------------
client ports >"$TMP/ports"
ca=$(awk '$1 == "CA" { print $2; exit }' "$TMP/ports")
switch=$(awk '$1 == "SW" { print $2; exit }' "$TMP/ports")
query() { stock ibccquery "$@" 2>/dev/null; }
applied "a plan for all nodes is verified" timer=1234
query CACongestionSetting "$ca" >"$TMP/query"
equal "ibccquery sees the timer of all SLs" "$(grep -c 'CCTI_Timer:\.*1234$' "$TMP/query")" 16
query SwitchCongestionSetting "$switch" >"$TMP/query"
grep -q 'Marking_Rate:\.*234$' "$TMP/query" || fail "marking rate: $(cat "$TMP/query")"
ok "ibccquery sees the switch's marking rate"
query CongestionControlTable "$ca" 1 >"$TMP/query"
equal "ibccquery sees the table's end" \
	"$(grep CCT_Multiplier "$TMP/query" | tail -n 1 | sed 's/.*\.//')" $((127 + 1234 % 100))
grep -q 'plan applied: .* 0 failed' "$OSM_LOG" || fail "opensm's log does not tell of the plan"
ok "opensm's log tells of the plan"

# --- what is refused --------------------------------------------------------------------------
refused "another generation" "topology generation 1," generation=1
refused "LIDs of other nodes" "which has another one" lid_shift=1
client push extra=1 >"$TMP/push.log"
grep -q '^ERROR' "$TMP/push.log" || fail "an incomplete plan is not answered by ERROR"
ok "an incomplete plan is answered by ERROR"
stop "$OSM_PID"

start_opensm --plugin 'congestion_control TRUE'
served
refused "OpenSM's own manager is on" "congestion_control is TRUE" timer=4321
query CACongestionSetting "$ca" >"$TMP/query"
check "the timers are read" grep -q 'CCTI_Timer:\.*[0-9]' "$TMP/query"
without "nothing was written" "$TMP/query" 'CCTI_Timer:\.*4321$'
write_config
tune disable -y >"$TMP/disable.log" 2>&1
equal "nor by the command line" $? 1
grep -q "congestion_control is TRUE" "$TMP/disable.log" || fail "disable: $(cat "$TMP/disable.log")"
ok "which tells the same reason"
sed -i 's/^congestion_control TRUE/congestion_control FALSE/' "$TMP/osm/opensm.conf"
kill -HUP "$OSM_PID"
allowed() { client state | grep -q own_cc=0; }
wait_until 20 allowed || fail "congestion_control FALSE is not noticed"
applied "allowed once it is FALSE again" timer=2345
stop "$OSM_PID"

# --- two subnet managers ------------------------------------------------------------------------
host() { sed -n "s/^CA .* '\(.*\)'\$/\1/p" "$TMP/ports" | sed -n "$1p"; }
quick=('sweep_interval 1' 'sminfo_polling_timeout 500' 'polling_retry_number 2')
start_opensm --plugin --tag first --host "$(host 1)" "${quick[@]}" 'sm_priority 5'
served
first=$OSM_PID
PLUGIN_OPTIONS="ibcc.socket=$TMP/second.sock" \
	start_opensm --plugin --tag second --host "$(host 2)" --no-wait "${quick[@]}" 'sm_priority 3'
second=$OSM_PID
wait_until 20 is "$TMP/second.sock" STANDBY || fail "the second SM's plugin does not say STANDBY"
client_at "$TMP/second.sock" push >"$TMP/push.log"
grep -q '^END .*STANDBY.*(0 Set)' "$TMP/push.log" || fail "standby: $(cat "$TMP/push.log")"
ok "a standby refuses"
applied "the master of two accepts" timer=3456
client_at "$TMP/second.sock" watch 1000 >"$TMP/watch" 2>/dev/null &
watcher=$!
stop "$first" KILL
wait_until 30 is "$TMP/second.sock" MASTER || fail "the second SM does not take over"
wait_until 10 grep -q '^MASTER' "$TMP/watch" || fail "no STATE told of the new master"
kill "$watcher" 2>/dev/null
wait "$watcher" 2>/dev/null
ok "clients hear of the takeover"
settled() { client_at "$TMP/second.sock" push timer=4567 >"$TMP/push.log"; }
wait_until 20 settled || fail "the new master: $(cat "$TMP/push.log")"
ok "the new master accepts"
# Higher priority comes back: MASTER to STANDBY, which opensm does not report.
start_opensm --plugin --tag third --host "$(host 1)" --no-wait 'sm_priority 9'
wait_until 40 is "$TMP/second.sock" STANDBY || fail "the handover is not noticed"
client_at "$TMP/second.sock" push >"$TMP/push.log"
grep -q '^END .*STANDBY.*(0 Set)' "$TMP/push.log" || fail "handover: $(cat "$TMP/push.log")"
ok "a master that handed over refuses"
stop "$OSM_PID"
stop "$second"

# --- in the middle of a push --------------------------------------------------------------------
# Each MAD takes a while now, and opensm has none of its own to wait for.
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.timeout_ms=5000 ibcc.sets_per_minute=0" \
	start_opensm --plugin --tag slow 'sweep_interval 0'
served
begin_slow_push()
{
	sim set mad_delay_us=300000 || fail "ibcc-sim set"
	client push repeat=50 timer=5678 >"$TMP/slow.log" &
	pusher=$!
	wait_until 10 grep -q committed "$TMP/slow.log" || fail "the slow push does not begin"
	sleep 1
	alive "$pusher" || fail "the slow push was too fast: $(cat "$TMP/slow.log")"
}
begin_slow_push
check "others are served in the middle of a push" client ports
refused "a second plan in the middle of a push" "another plan is being applied"
kill -KILL "$pusher"
wait "$pusher" 2>/dev/null
check "a client killed in the middle of its push harms no other client" client ports
sim set mad_delay_us=0
free() { client push timer=6789 >"$TMP/push.log"; }
wait_until 30 free || fail "after the killed client: $(cat "$TMP/push.log")"
ok "the next plan is applied when the killed client's is through"

nodes=$(client state | sed 's/.* nodes=\([0-9]*\).*/\1/')
all_nodes() { client state | grep -q " nodes=$nodes "; }
begin_slow_push
sim console "Unlink \"$(host 4)\"[1]" >/dev/null
# Quicker, so that opensm sees the change soon, yet slow enough that the plan is not through by then.
sim set mad_delay_us=20000
kill -HUP "$OSM_PID"
wait "$pusher"
sim set mad_delay_us=0
grep -q '^END .*stopped on the way: the topology has changed' "$TMP/slow.log" ||
	fail "a plan goes on although the topology changed: $(cat "$TMP/slow.log")"
grep -q '^pending [1-9]' "$TMP/slow.log" || fail "nothing pending: $(cat "$TMP/slow.log")"
ok "a change of the topology stops a plan on its way"
sim console "ReLink \"$(host 4)\"[1]" >/dev/null
kill -HUP "$OSM_PID"
wait_until 20 all_nodes || fail "the node does not come back"
wait_until 20 free || fail "after the changed topology: $(cat "$TMP/push.log")"

begin_slow_push
kill -TERM "$OSM_PID"
wait_until 10 gone "$OSM_PID" || fail "opensm does not end in the middle of a push"
wait "$OSM_PID"
equal "opensm ends well in the middle of a push" "$? $(grep -c 'Exiting SM' "$OSM_LOG")" '0 1'
wait "$pusher"
[ ! -e "$TMP/opensm.sock" ] || fail "the socket file stays"
