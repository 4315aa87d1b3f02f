# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by test_chaos.sh: what a fabric and its programs may suffer. Each attack NAME has NAME_on,
# which draws what it does and may set
#   WHAT   words for it
#   TOLD   what the status must come to say while it lasts, for jq; empty: it may go unnoticed
#   BLIND  set if nobody can be asked meanwhile
#   SWEEP  set if OpenSM has to look again when it is over
# and NAME_off. PART says what of the system it takes away, since nothing can be taken away twice.
# shellcheck shell=bash disable=SC2034

declare -A PART=(
	[loss]=loss [silence]=node [refusal]=node [refused_sets]=node [reboot]=node [foreign]=node
	[speed]=clock [frozen]=clock [liar]=liar [jump]=jump [wall_clock]=wall_clock [counters]=counters
	[stopped_daemon]=daemon [killed_daemon]=daemon [second_daemon]=daemon [bad_reload]=daemon
	[stopped_opensm]=opensm [killed_opensm]=opensm [sweeps]=opensm
	[stopped_fabric]=fabric [killed_ibsim]=fabric [flap]=fabric
	[full_disk]=disk [damaged_book]=daemon [garbage]=sockets [operator]=daemon
)
ATTACKS=(loss silence refusal refused_sets reboot foreign speed frozen liar jump wall_clock counters stopped_daemon
	killed_daemon second_daemon bad_reload stopped_opensm killed_opensm sweeps stopped_fabric killed_ibsim flap
	full_disk damaged_book garbage operator)

# below N, pick WORD...: into REPLY; not in a subshell, whose draws would be lost.
below() { REPLY=$((RANDOM % $1)); }
pick() { below $#; shift "$REPLY"; REPLY=$1; }
NODES=(source1 source2 source3 source4 destination0 destination1 leaf1 leaf2)

knob() { sim set "$@" >"$TMP/knob.log" 2>&1 || fail "ibcc-sim set $*: $(cat "$TMP/knob.log")"; }
send() { kill -"$1" "$2" || fail "kill -$1 $2"; }

# --- datagrams ------------------------------------------------------------------------------------
loss_on() { below 500; WHAT="loss of $((50 + REPLY)) permille"; knob mad_loss_permille=$((50 + REPLY)); }
loss_off() { knob mad_loss_permille=0; }

silence_on()
{
	pick "${NODES[@]}"; SILENT=$REPLY
	pick 0 150 400
	WHAT="silence of $SILENT, $REPLY ms"
	TOLD="(.fabric.nodes < 8) or ([.fabric.unread[]?.node] | index(\"$SILENT\") != null) or .state != \"ok\""
	knob "mad_loss_permille.$SILENT=1000" "mad_timeout_ms=$REPLY"
}
silence_off() { knob "mad_loss_permille.$SILENT=0" mad_timeout_ms=0; }

STATUSES=(0x0001 0x0002 0x0004 0x0008 0x000c 0x001c 0x0100 0x7fff)
refusal_on()
{
	pick "${NODES[@]}"; REFUSER=$REPLY
	pick "${STATUSES[@]}"
	WHAT="$REFUSER answers class 0x21 with status $REPLY"
	knob "cc_status.$REFUSER=$REPLY"
}
refusal_off() { knob "cc_status.$REFUSER=0"; }

# With something to write, so that it is felt.
refused_sets_on()
{
	pick source1 source2 source3 leaf2; REFUSER=$REPLY
	pick "${STATUSES[@]}"
	WHAT="$REFUSER starts anew and answers Sets with status $REPLY"
	forgets "$REFUSER"
	knob "reboot.$REFUSER=now" "cc_set_status.$REFUSER=$REPLY"
}
refused_sets_off() { knob "cc_set_status.$REFUSER=0"; }

# forgets NODE: what its book does not have, since it was there before the book, comes back to nobody.
forgets()
{
	[ -z "$REBUILT" ] || UNTUNED=$(jq -cS --arg n "$1" 'map(if .node == $n and .switch then .switch.Victim_Mask = [] else . end)' <<<"$UNTUNED")
}
reboot_on() { pick "${NODES[@]}"; WHAT="$REPLY starts anew"; forgets "$REPLY"; knob "reboot.$REPLY=now"; }
reboot_off() { :; }

# Somebody else writes: more throttle, or none.
FOREIGN=0
foreign_on()
{
	local lid
	pick source1 source2 source3; WHAT=$REPLY
	lid=$(sim settings -j | jq --arg n "$WHAT" '.rows[] | select(.node == $n).lid')
	pick 0 1 40
	WHAT="somebody else sets CCTI_Increase of $WHAT to $REPLY"
	[ "$lid" != 0 ] && stock ibccconfig CACongestionSetting "$lid" 0 0xffff 150 "$REPLY" 0 0 >"$TMP/foreign.log" 2>&1
	FOREIGN=$((FOREIGN + 1))
	# Where nothing is ours, it is the site's own from now on.
	[ -z "$NOTHING_OURS" ] || UNTUNED=$(settings)
}
foreign_off() { :; }

# --- time -----------------------------------------------------------------------------------------
speed_on() { pick 0.01 0.02 0.1 0.2; WHAT="time at $REPLY instead of $SPEED"; knob "speed=$REPLY"; }
speed_off() { knob "speed=$SPEED"; }
frozen_on() { WHAT="time stands still"; TOLD='.state != "ok"'; knob speed=0; }
frozen_off() { knob "speed=$SPEED"; }
liar_on()
{
	pick "${NODES[@]}"; LIAR=$REPLY
	pick 0 500 2000 10000
	WHAT="TimeStamp of $LIAR at $REPLY permille"
	TOLD="(.fabric.clock_trouble // .reason // \"\") | test(\"$LIAR\")"
	knob "cc_clock_permille.$LIAR=$REPLY"
}
liar_off() { knob "cc_clock_permille.$LIAR=1000"; }
# It needs no word: what a jump spoils is not counted. Once more when it ends.
jump_on()
{
	pick "${NODES[@]}"; JUMPS=.$REPLY
	below 2; [ "$REPLY" = 0 ] || JUMPS=''
	pick 20000 -20000 3600000 -3600000 100000000
	JUMP_MS=$REPLY
	WHAT="TimeStamp${JUMPS:- of all nodes} jumps by $JUMP_MS ms"
	knob "cc_clock_jump_ms$JUMPS=$JUMP_MS"
}
jump_off() { knob "cc_clock_jump_ms$JUMPS=$JUMP_MS"; }
# Somebody sets the clock of the daemon's host, and puts it right.
wall_clock_on()
{
	pick 3600 -3600 86400000 -86400000 -1700000000
	WHAT="the host's clock is set by $REPLY s"
	echo "$REPLY" >"$IBCC_WALL_CLOCK"
}
wall_clock_off() { echo 0 >"$IBCC_WALL_CLOCK"; }

counters_on()
{
	pick "${NODES[@]}"; MISCOUNTS=$REPLY
	pick sent wait marks; COUNTER=$REPLY
	pick 1 300 1900
	WHAT="$MISCOUNTS tells $REPLY permille of what it counts ($COUNTER)"
	knob "pma_${COUNTER}_permille.$MISCOUNTS=$REPLY"
}
counters_off() { knob "pma_${COUNTER}_permille.$MISCOUNTS=0"; }

# --- the daemon -----------------------------------------------------------------------------------
stopped_daemon_on() { WHAT="the daemon stops"; BLIND=yes; send STOP "$TUNED_PID"; }
stopped_daemon_off() { send CONT "$TUNED_PID"; }
end_daemon() { kill -KILL "$TUNED_PID"; wait "$TUNED_PID" 2>/dev/null; }
killed_daemon_on() { WHAT="kill -9 of the daemon"; BLIND=yes; end_daemon; }
killed_daemon_off() { start_tuned "${CONFIG[@]}"; WRITERS+=" $TUNED_PID"; }

# It must not start, and not disturb.
second_daemon_on()
{
	local rc=0
	WHAT="a second daemon"
	at '' timeout 20 "$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned.yaml" >"$TMP/second.log" 2>&1 || rc=$?
	[ "$rc" = 1 ] || fail "a second daemon ends with status $rc: $(cat "$TMP/second.log")"
}
second_daemon_off() { :; }

bad_reload_on()
{
	WHAT="a reload of a bad configuration"
	TOLD='.last_reload_ok == false'
	echo 'mode: aply' >>"$TMP/tuned.yaml"
	send HUP "$TUNED_PID"
}
bad_reload_off() { cp "$TMP/cli.yaml" "$TMP/tuned.yaml"; send HUP "$TUNED_PID"; }

# --- OpenSM ---------------------------------------------------------------------------------------
# It takes SIGCONT for SIGHUP, but sees it only when its main thread wakes, up to ten seconds later: who
# were silent then would be lost.
stopped_opensm_on()
{
	WHAT="OpenSM stops"
	SWEEP=yes
	[ "$VIA" = direct ] || TOLD='.state != "ok"'
	send STOP "$OSM_PID"
}
stopped_opensm_off() { send CONT "$OSM_PID"; }
killed_opensm_on()
{
	WHAT="kill -9 of OpenSM"
	SWEEP=yes # another one does not know whom silence kept from it
	[ "$VIA" = direct ] || TOLD='.sm == null and .plugin_trouble != null'
	kill -KILL "$OSM_PID"
	wait "$OSM_PID" 2>/dev/null
}
killed_opensm_off() { start_sm; }
# One that loses datagrams leaves ports down until the next.
sweeps_on() { WHAT="heavy sweeps"; SWEEP=yes; for _ in 1 2 3; do send HUP "$OSM_PID"; sleep 0.1; done; }
sweeps_off() { :; }

# --- the fabric -----------------------------------------------------------------------------------
stopped_fabric_on()
{
	WHAT="the fabric stops"
	FROZEN=yes
	TOLD='.state != "ok" or .fabric.ports_fresh == 0'
	send STOP "$SIMULATOR"
}
stopped_fabric_off() { FROZEN=; send CONT "$SIMULATOR"; }
killed_ibsim_on()
{
	WHAT="kill -9 of ibsim"
	SWEEP=yes
	send KILL "$(child_of "$SIMULATOR" ibsim)"
}
killed_ibsim_off() { :; }
flap_on()
{
	pick 'source1"[1]' 'source4"[1]' 'destination0"[1]' 'destination1"[1]' 'leaf1"[8]'
	CABLE=$REPLY
	WHAT="no cable at \"$CABLE"
	SWEEP=yes
	sim console "Unlink \"$CABLE" >/dev/null
}
flap_off() { sim console "ReLink \"$CABLE" >/dev/null; }

# --- books, sockets, people -----------------------------------------------------------------------
# A small disk where that can be had, else files that may not grow.
full_disk_on()
{
	WHAT="the disk is full"
	if mountpoint -q "$TMP/disk"; then
		cat /dev/zero >"$TMP/disk/much" 2>/dev/null
	else
		prlimit --pid "$TUNED_PID" --fsize=1000:
	fi
	# Something to write down.
	knob reboot.source2=now
}
full_disk_off() { rm -f "$TMP/disk/much"; prlimit --pid "$TUNED_PID" --fsize=unlimited: 2>/dev/null; }

# The book is lost with what was before us in it: the way back is disable, and what is then there is
# what there is to come back to.
damaged_book_on()
{
	WHAT="kill -9 of the daemon, and a damaged state file"
	TOLD='.state == "degraded" and (.state_trouble // "" | test("move it aside"))'
	end_daemon
	rm -f "$TMP"/disk/state.db-*
	seq 1 2000 >"$TMP/disk/state.db"
	start_tuned "${CONFIG[@]}"
	WRITERS+=" $TUNED_PID"
}
damaged_book_off() { REBUILD=yes; }

garbage_on()
{
	local what
	WHAT="garbage at the sockets"
	below 32768
	background "$TMP/garbage.log" "$IBCC_BUILD/tests/system/garbage_client" "$TMP/control.sock" "$REPLY"
	BAD_CLIENTS=$!
	for what in garbage half version flood crowd; do
		background "$TMP/garbage.log" timeout 10 "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" "$what"
		BAD_CLIENTS+=" $!"
	done
}
garbage_off() { local p; for p in $BAD_CLIENTS; do stop "$p" KILL; done; }

# Who asks for a rollback in the midst of it may hear that it cannot be, or is not complete.
NOTHING_OURS=
operator_on()
{
	local rc=0
	pick rollback disable apply repair
	# What was there when a new book was begun is tuned, and in no book once that is rolled back: of it
	# nobody brings back what a node loses.
	[ "$REPLY" != rollback ] || [ -z "$REBUILT" ] || REPLY=disable
	WHAT="somebody asks for $REPLY"
	local command=$REPLY
	timeout 150 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$command" -y >"$TMP/operator.log" 2>&1 || rc=$?
	[ "$rc" -lt 124 ] || fail "ibcc-tune $command hangs"
	[ "$command $rc" != 'rollback 0' ] || NOTHING_OURS=yes
}
operator_off() { NOTHING_OURS=; }
