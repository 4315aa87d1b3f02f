# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by test_chaos.sh: what a fabric and its programs may suffer. Each attack NAME has NAME_on,
# which draws what it does and may set
#   WHAT   words for it
#   TOLD   what the status must come to say while it lasts, for jq; empty: it may go unnoticed
#   ABOUT  the node that has to be heard for that, if it is one
#   GONE   nodes that cannot be read meanwhile
#   BLIND  set if no daemon can be asked meanwhile
#   SWEEP  set if OpenSM has to look again when it is over
# and NAME_off. There may be NAME_during, which is called again and again while it lasts, NAME_told, which succeeds
# once another program says what it must, and NAME_after, which waits for what takes time once all attacks have ended.
# PART says what of the system it takes away, since nothing can be taken away twice.
# shellcheck shell=bash disable=SC2034

declare -A PART=(
	[loss]=loss [silence]=node [refusal]=node [refused_sets]=node [reboot]=node [foreign]=node
	[speed]=clock [frozen]=clock [liar]=liar [jump]=jump [wall_clock]=wall_clock [counters]=counters
	[stopped_daemon]=daemon [killed_daemon]=daemon [second_daemon]=daemon [bad_reload]=daemon
	[stopped_opensm]=opensm [killed_opensm]=opensm [sweeps]=opensm
	[stopped_fabric]=fabric [killed_ibsim]=fabric [flap]=fabric
	[full_disk]=disk [damaged_book]=daemon [garbage]=sockets [operator]=daemon
	[readers]=sockets [slow_http]=http [stuck_writer]='daemon opensm fabric' [twin]='daemon opensm'
	[throttle]='node daemon' [away]='fabric daemon opensm node' [one_flow]='counters fabric daemon node'
)
ATTACKS=(loss silence refusal refused_sets reboot foreign speed frozen liar jump wall_clock counters stopped_daemon
	killed_daemon second_daemon bad_reload stopped_opensm killed_opensm sweeps stopped_fabric killed_ibsim flap
	full_disk damaged_book garbage operator)
# Each of these has a short test of its own, so the short form leaves them out. The readers ask as another user.
if [ -n "$LONG" ]; then
	ATTACKS+=(slow_http stuck_writer twin throttle away one_flow)
	[ "$(id -u)" != 0 ] || ATTACKS+=(readers)
fi

# below N, pick WORD...: into REPLY; not in a subshell, whose draws would be lost.
below() { REPLY=$((RANDOM % $1)); }
pick() { below $#; shift "$REPLY"; REPLY=$1; }
NODES=(source1 source2 source3 source4 destination0 destination1 leaf1 leaf2)

# goes_on PID LOG: an attacker that has ended by itself attacks nothing.
goes_on() { alive "$1" || broken "the attacker $1 has ended by itself: $(tail -n 3 "$TMP/$2")"; }

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

# forgets NODE: what its book does not have, since it was there before the book, does not come back.
forgets()
{
	[ -z "$REBUILT" ] || UNTUNED=$(jq -cS --arg n "$1" 'map(if .node == $n and .switch then .switch.Victim_Mask = [] else . end)' <<<"$UNTUNED")
}
reboot_on() { pick "${NODES[@]}"; WHAT="$REPLY starts anew"; forgets "$REPLY"; knob "reboot.$REPLY=now"; }
reboot_off() { :; }

# Another program writes: more throttle, or none.
FOREIGN=0
foreign_on()
{
	local lid
	pick source1 source2 source3; WHAT=$REPLY
	lid=$(sim settings -j | jq --arg n "$WHAT" '.rows[] | select(.node == $n).lid')
	pick 0 1 40
	WHAT="another program sets CCTI_Increase of $WHAT to $REPLY"
	[ "$lid" != 0 ] && stock ibccconfig CACongestionSetting "$lid" 0 0xffff 150 "$REPLY" 0 0 >"$TMP/foreign.log" 2>&1
	FOREIGN=$((FOREIGN + 1))
	FOREIGN_PASS=$(jq '.fabric.pass // 0' "$TMP/status.json")
	# Where nothing is ours, it is the site's own from now on.
	[ -z "$NOTHING_OURS" ] || UNTUNED=$(settings)
}
foreign_off() { :; }

# --- time -----------------------------------------------------------------------------------------
# The daemon does not ask nodes for their time, so a node whose time is wrong, and nothing else, does no harm.
no_harm()
{
	[ "${#CHOSEN[@]}" != 1 ] || status '(.state == "ok" or .discovery_trouble != null) and
		.fabric.clock_trouble == null and .fabric.doubted == [] and .fabric.unread == []' ||
		broken "the wrong time of a node does harm: $(say)"
}
speed_on() { pick 0.01 0.02 0.1 0.2; WHAT="time at $REPLY instead of $SPEED"; knob "speed=$REPLY"; }
speed_off() { knob "speed=$SPEED"; }
frozen_on() { WHAT="time stands still"; TOLD='.state != "ok"'; knob speed=0; }
frozen_off() { knob "speed=$SPEED"; }
liar_on()
{
	pick "${NODES[@]}"; LIAR=$REPLY
	pick 0 500 2000 10000
	WHAT="TimeStamp of $LIAR at $REPLY permille"
	knob "cc_clock_permille.$LIAR=$REPLY"
}
liar_off() { knob "cc_clock_permille.$LIAR=1000"; }
liar_during() { no_harm; }
# Once more when it ends.
jump_on()
{
	pick "${NODES[@]}"; JUMPS=.$REPLY
	below 2; [ "$REPLY" = 0 ] || JUMPS=''
	pick 20000 -20000 3600000 -3600000 100000000
	JUMP_MS=$REPLY
	WHAT="TimeStamp${JUMPS:- of all nodes} jumps by $JUMP_MS ms"
	knob "cc_clock_jump_ms$JUMPS=$JUMP_MS"
}
jump_during() { no_harm; }
jump_off() { knob "cc_clock_jump_ms$JUMPS=$JUMP_MS"; }
# A user sets the clock of the daemon's host, and puts it right.
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
# It takes SIGCONT for SIGHUP, but sees it only when its main thread wakes, up to ten seconds later: nodes
# that were silent then would be lost.
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
	SWEEP=yes # another one does not know the nodes that silence kept from it
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
	GONE=${CABLE%%\"*}
	# The daemon is at source1, on the other side of it.
	[ "$GONE" != leaf1 ] || GONE='leaf2 destination0 destination1'
	[ "$GONE" != source1 ] || GONE=${NODES[*]}
	WHAT="no cable at \"$CABLE"
	SWEEP=yes
	sim console "Unlink \"$CABLE" >/dev/null
}
# What stock libumad2sim cannot show: the kernel of a real host changes the files of its port when the cable is back (see
# port_file). So for a daemon by its own port that began without a cable, and says so, the test does. By the plugin the
# daemon knows which port it is, and opens it with a link or without.
flap_off()
{
	sim console "ReLink \"$CABLE" >/dev/null
	[ "$VIA" = direct ] && [ "$(cat "$(port_file state)" 2>/dev/null)" = '1: DOWN' ] || return 0
	wait_until 20 status '.reason // "" | startswith("no InfiniBand port of this host has a link")' ||
		broken "a daemon that began without a link does not say so: $(say)"
	kernel_sees_link
}

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
	TOLD='.state == "degraded" and (.state_trouble // "" | test("move the file aside"))'
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
garbage_off()
{
	local p
	goes_on "${BAD_CLIENTS%% *}" garbage.log # the others end by themselves
	for p in $BAD_CLIENTS; do stop "$p" KILL; done
}

# A rollback in the midst of it may answer that it cannot be, or is not complete.
NOTHING_OURS=
operator_on()
{
	local rc=0
	pick rollback disable apply repair
	# What was there when a new book was begun is tuned, and in no book once that is rolled back: of it
	# no program restores what a node loses.
	[ "$REPLY" != rollback ] || [ -z "$REBUILT" ] || REPLY=disable
	WHAT="a user asks for $REPLY"
	local command=$REPLY
	timeout 150 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$command" -y >"$TMP/operator.log" 2>&1 || rc=$?
	[ "$rc" -lt 124 ] || fail "ibcc-tune $command hangs"
	[ "$command $rc" != 'rollback 0' ] || NOTHING_OURS=yes
}
operator_off() { NOTHING_OURS=; }

# --- which client blocks which ------------------------------------------------------------------------------
# As a member of control_read_group, which may ask for what only reads.
READER=65534
readers_on()
{
	local gid how request
	WHAT="ten hostile readers"
	TOLD=".clients.control // \"\" | test(\"uid $READER\")"
	gid=$(id -g "$READER")
	BAD_READERS=
	while read -r how request; do
		for _ in 1 2; do
			background "$TMP/readers.log" "$IBCC_BUILD/tests/system/reader_client" "$TMP/control.sock" "$READER" "$gid" \
				"$how" "$request"
			BAD_READERS+=" $!"
		done
	done <<-'EOF'
	leave {"command": "show", "args": {}}
	wait {"command": "show", "args": {}}
	leave {"command": "what-if", "args": {"set": {"threshold": 14}}}
	wait {"command": "what-if", "args": {"set": {"threshold": 15}}}
	leave {"command": "probe", "args": {}}
	EOF
}
readers_off()
{
	local p
	for p in $BAD_READERS; do goes_on "$p" readers.log; stop "$p"; done
}

# More connections than there are places, a byte of a request twice a second in each. The daemon hangs up on some: without
# the trap the first byte after that would end the client, whose one attempt closes no more than the status must name.
slow_http_on()
{
	WHAT="slow clients at /metrics"
	TOLD='.clients.metrics // "" | test("127.0.0.1")'
	background "$TMP/http.log" bash -c '
		trap "" PIPE
		while :; do
			for i in {1..24}; do
				[ -n "${fd[i]-}" ] && printf X >&"${fd[i]}" && continue
				[ -z "${fd[i]-}" ] || exec {fd[i]}>&-
				fd[i]=; exec {fd[i]}<>"/dev/tcp/127.0.0.1/$1" && printf "GET /metrics HTTP/1.1\r\nX: " >&"${fd[i]}"
			done
			sleep 0.5
		done' - "$HTTP_PORT"
	SLOW_HTTP=$!
}
# A correct request is answered nevertheless.
slow_http_during()
{
	[ -z "$blind" ] || return 0
	within 10 bash -c 'exec 3<>"/dev/tcp/127.0.0.1/$1" && printf "GET /healthz HTTP/1.0\r\n\r\n" >&3 &&
		head -n 1 <&3' - "$HTTP_PORT" >"$TMP/page" 2>"$TMP/page.log"
	grep -qE '^HTTP/1.[01] (200|503) ' "$TMP/page" || broken "/healthz is not answered: $(cat "$TMP/page" "$TMP/page.log")"
}
slow_http_off()
{
	goes_on "$SLOW_HTTP" http.log
	stop "$SLOW_HTTP" KILL
}

# --- which program writes -----------------------------------------------------------------------------------
# While the daemon is away another program takes the writer's place, and keeps it: at the plugin by a long lease and
# with settings of source1, else by the record of a host that has died.
stuck_writer_on()
{
	local guid
	if [ "$VIA" = direct ]; then
		WHAT="a dead host's record says that it leads"
		TOLD='.election.state == "follows" and .election.leader == "a dead host"'
		stop "$TUNED_PID" # and its own record
		stock "$IBCC_BUILD/tests/system/sa_record" set 0x4711 8 'a dead host' >"$TMP/record.log" 2>&1 || TOLD=
	else
		WHAT="a writer that has stopped keeps its place at the plugin"
		end_daemon
		guid=$(sim settings -j | jq -r 'first(.rows[] | select(.node == "source1").node_guid)')
		: >"$TMP/stuck.log"
		background "$TMP/stuck.log" "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" push \
			hold=1 lease=600000 timer=200 "node=$guid"
		STUCK=$!
		wait_until 10 grep -q '^END' "$TMP/stuck.log"
		if grep -q '^END not refused' "$TMP/stuck.log"; then TOLD='.reason // "" | test("another daemon writes through this plugin")'; fi
	fi
	start_tuned "${CONFIG[@]}"
	WRITERS+=" $TUNED_PID"
}
stuck_writer_off() { [ "$VIA" = direct ] || stop "$STUCK" KILL; }
# Only a daemon that sees the fabric can find that the record is gone.
stuck_writer_after()
{
	[ "$VIA" = direct ] || return 0
	wait_until 40 status '.election.state == "leads"' || broken "a record holds longer than its lease: $(say)"
}

# Another daemon with a socket and a book of its own.
twin_on()
{
	WHAT="a daemon with another book"
	sed "s|$TMP/control.sock|$TMP/twin.sock|; s|$STATE_FILE|$TMP/twin.db|; /^metrics_listen:/d" "$TMP/cli.yaml" >"$TMP/twin.yaml"
	background "$TMP/twin.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" -z "$TMP/twin.yaml"
	TWIN=$!
}
twin_told()
{
	direct --socket "$TMP/twin.sock" status -j >"$TMP/twin.json" 2>"$TMP/twin-status.log" &&
		jq -e ".state == \"degraded\" and (.reason | test(\"process $TUNED_PID holds the lock\"))" "$TMP/twin.json"
}
twin_off() { stop "$TWIN"; rm -f "$TMP"/twin.db*; }

# --- what another program sets, and absent nodes ------------------------------------------------------
# A script of the site's sets a table and a CCTI_Min with which next to nothing is left, each second until it is ended.
throttle_on()
{
	local lid
	pick source1 source2 source3; THROTTLED=$REPLY
	WHAT="another program throttles $THROTTLED"
	lid=$(sim settings -j | jq --arg n "$THROTTLED" '.rows[] | select(.node == $n).lid')
	: >"$TMP/throttle.count"
	THROTTLER=
	[ "$lid" != 0 ] || return
	ABOUT=$THROTTLED
	TOLD="[.held_back.text, .held_below.text, .drift.text, .drift.repaired | . // \"\"] | join(\" \") | test(\"$THROTTLED\")"
	# shellcheck disable=SC2016
	background "$TMP/throttle.log" bash -c '
		for _ in {1..200}; do
			timeout 10 "$1" exec --name "$2" -- ibccconfig CongestionControlTable "$3" 3 0 0:0 0:1 0:2 0:4999
			timeout 10 "$1" exec --name "$2" -- ibccconfig CACongestionSetting "$3" 0 0xffff 150 1 0 3
			printf "x\nx\n" >>"$4"
			sleep 1
		done' - "$IBCC_BUILD/ibcc-sim" "$SIM" "$lid" "$TMP/throttle.count"
	THROTTLER=$!
}
throttle_off()
{
	[ -z "$THROTTLER" ] || stop "$THROTTLER"
	FOREIGN=$((FOREIGN + 2 + $(wc -l <"$TMP/throttle.count")))
}

# A node is unplugged when its settings are taken back, and plugged in later: until then it is owed.
away_on()
{
	local rc=0 command=rollback
	pick source2 source3 source4; AWAY=$REPLY # the daemon is at source1
	[ -z "$REBUILT" ] || command=disable
	WHAT="$AWAY is away while a user asks for $command"
	SWEEP=yes
	sim console "Unlink \"$AWAY\"[1]" >/dev/null
	wait_until 20 status '.fabric.channel_adapters == 5'
	timeout 150 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" $command -y >"$TMP/operator.log" 2>&1 || rc=$?
	[ "$rc" -lt 124 ] || fail "ibcc-tune $command hangs"
	GONE=$AWAY
	if grep -q 'not on the fabric' "$TMP/operator.log"; then
		TOLD=".owed.endports == 1 and (.owed.text | test(\"$AWAY\"))"
	fi
}
away_off() { sim console "ReLink \"$AWAY\"[1]" >/dev/null; }

# --- a log that lies ------------------------------------------------------------------------------
one_flow_on()
{
	local lids
	pick source1 source3 source4
	WHAT="leaf2's CongestionLog names one flow only, from $REPLY"
	lids=$(sim settings -j | jq -r --arg n "$REPLY" '[.rows[] | {(.node): .lid}] | add | "\(.[$n]) \(.destination1)"')
	TOLD='.fabric.doubted | any(.node == "leaf2" and (.reason | test("CongestionLog")))'
	[ -n "$lids" ] && knob "cc_log_slid.leaf2=${lids% *}" "cc_log_dlid.leaf2=${lids#* }"
}
one_flow_off() { knob cc_log_slid.leaf2=0 cc_log_dlid.leaf2=0; }
