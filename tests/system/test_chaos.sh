# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Attacks in a drawn order, alone and together, on the daemon, OpenSM with the plugin and the fabric:
# whatever ends an attack, the loop is back to what it reaches without it within 20 intervals; while
# one lasts the status names what is wrong; nothing crashes or hangs, one program writes, and at the
# end of each round books and fabric agree and a rollback brings back the registers from before.
#
# IBCC_SEED: of all draws; printed, with each step. IBCC_CHAOS_SECONDS: rounds are begun for so long
# (`make check-chaos`, 600); without it a short round by the plugin and one by the daemon's own port.
# IBCC_ATTACKS: draw from these only. IBCC_STEPS: of a round. IBCC_VIA: "plugin direct". IBCC_FAST=yes: in all rounds two
# of three polling cycles are fast ones; without it, in every other pair of rounds.
. "$(dirname "$0")/lib.sh"

LONG=${IBCC_CHAOS_SECONDS:-}
. "$(dirname "$0")/chaos.sh"
SEED=${IBCC_SEED:-4711}
RANDOM=$SEED
# `make check-chaos SECONDS=1800` has that in the environment too, where bash would go on counting from it.
SECONDS=0
STEPS=${IBCC_STEPS:-${LONG:+10}}
STEPS=${STEPS:-4}
VIAS=${IBCC_VIA:-plugin direct}
[ -z "${IBCC_ATTACKS:-}" ] || read -ra ATTACKS <<<"$IBCC_ATTACKS"
echo "seed $SEED"

SPEED=0.05      # so that the engine keeps up on any machine
RATIO=1         # polling cycles from one over all ports to the next; 1: there are no fast ones
INTERVALS=20    # polling cycles over all ports, to be back in
# Of what the loop reaches, in permille. It repeats within 2, but rests wherever the hot port is busy for
# 970 (tuner.sink_busy_permille) and a victim waits for less than 100 of the time (victim_wait_permille).
# A step that is not finished costs the slow server 100, a table that is missing the victim 600.
HOT_PERMILLE=950
VICTIM_PERMILLE=900
STATE_FILE=$TMP/disk/state.db
export IBCC_WALL_CLOCK=$TMP/wall_clock
echo 0 >"$IBCC_WALL_CLOCK"
TUNED_PRELOAD=$IBCC_BUILD/tests/double/libclock-double.so
# Programs with a sanitizer have a clock_gettime() of the sanitizer's in front of the double's, which so cannot keep the
# machine's time for libumad2sim.
if [ -n "$(plugin_preload)" ]; then
	TUNED_PRELOAD=
	ok "the host's clock is set # SKIP a sanitizer hides libumad2sim's calls from the double"
fi
FROZEN=         # set while ibcc-sim itself is stopped
HTTP_PORT=$((30000 + $$ % 2700))
chmod 711 "$TMP"

direct() { within 30 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"; }
# Registers: which fields a Set was about is none.
settings() { sim settings -j | jq -cS '[.rows[] | del(.lid, .summary, .switch.Control_Map, .ca.Control_Map)]'; }
say() { jq -c '[.state, .reason, .paused, .writes_pending, .decision, .drift.text, .unknown_origin.text, .fabric.pass, .fabric.clock_trouble, .state_trouble, .plugin_trouble, .discovery_trouble, .election.state]' "$TMP/status.json"; }
dump()
{
	echo "--- the way back"
	cat "$TMP/way_back"
	echo "--- the daemon, what it said last, and now"
	grep -av '^<[67]>' "$TMP/tuned.log" | cut -c 1-300 | tail -n 40
	jq -c '[.fabric, .sm, .discovery_trouble]' "$TMP/status.json" | cut -c 1-2000
	echo "--- OpenSM"
	tail -n 40 "$OSM_LOG" | cut -c 1-200
	[ -n "$FROZEN" ] || settings >"$TMP/settings.json"
	jq . <<<"$UNTUNED" >"$TMP/untuned.json"
	jq . "$TMP/settings.json" | diff "$TMP/untuned.json" - | head -60
}
broken() { exec >&"$TEST_OUTPUT"; dump; fail "step $step, $DOES: $*"; }

# status FILTER: whether the daemon says so. It has to answer, at once, and whatever is wrong it has to
# give a reason.
status()
{
	local rc=0
	direct status -j >"$TMP/status.new" 2>"$TMP/tune.log" || rc=$?
	[ "$rc" -lt 124 ] || broken "ibcc-tune status hangs"
	[ "$rc" = 0 ] || return 1
	mv "$TMP/status.new" "$TMP/status.json"
	jq -e '.state == "ok" or .state == "starting" or (.reason // "") != ""' "$TMP/status.json" >"$TMP/jq.log" ||
		broken "no reason is given: $(say)"
	jq -e "$1" "$TMP/status.json" >"$TMP/jq.log"
}

# Passes of the daemon since begin_count. It may have begun anew.
begin_count() { PASSES=0; LAST=0; status . && LAST=$(jq '.fabric.pass // 0' "$TMP/status.json"); }
count()
{
	local now
	now=$(jq '.fabric.pass // 0' "$TMP/status.json")
	[ "$now" -ge "$LAST" ] && PASSES=$((PASSES + now - LAST)) || PASSES=$((PASSES + now))
	LAST=$now
}

# Payload that has arrived, and the engine's time: "NS HOT VICTIM".
received()
{
	sim flows -j | jq -r '[.engine_ns, ([.rows[] | select(.kind == "hot").received_bytes] | add),
		([.rows[] | select(.kind == "victim").received_bytes] | add)] | join(" ")'
}
# measure: over two passes or more, HOT and VICTIM in Mb/s; MEASURED_FROM is the pass at the begin.
measure()
{
	local ns0 hot0 victim0 ns1 hot1 victim1 until
	MEASURED_FROM=$PASSES
	until=$((PASSES + 2))
	read -r ns0 hot0 victim0 <<<"$(received)"
	more() { status . && count; [ "$PASSES" -ge "$until" ]; }
	wait_until 40 more || broken "no more passes: $(say)"
	read -r ns1 hot1 victim1 <<<"$(received)"
	[ "$ns1" -gt "$ns0" ] || broken "the engine stands still"
	HOT=$(((hot1 - hot0) * 8000 / (ns1 - ns0)))
	VICTIM=$(((victim1 - victim0) * 8000 / (ns1 - ns0)))
	echo "passes $MEASURED_FROM to $PASSES: hot $HOT, victim $VICTIM Mb/s, $(say)" >>"$TMP/way_back"
}
# A daemon that discovers by itself says what a discovery missed until the next one, which comes after
# four times as long as that took.
quiet='.state == "ok" and .discovery_trouble == null'
quiet_but='(.state == "ok" or .discovery_trouble != null) and .mode == "apply" and .paused == null and
	.writes_pending == 0 and .fabric.nodes == 8 and .fabric.unread == [] and .drift.writes == 0 and
	.state_trouble == null and .owed.endports == 0'
well() { jq -e "$quiet_but" "$TMP/status.json" >"$TMP/jq.log"; }
fast()
{
	[ $((HOT * 1000)) -ge $((HOT_PERMILLE * HOT_REF)) ] &&
		[ $((VICTIM * 1000)) -ge $((VICTIM_PERMILLE * VICTIM_REF)) ]
}
restored()
{
	local n=0 bad_at=0
	: >"$TMP/way_back"
	while [ "$n" -lt 2 ]; do
		measure
		if fast && well; then
			n=$((n + 1))
			continue
		fi
		n=0
		bad_at=$MEASURED_FROM
		[ "$MEASURED_FROM" -le $((INTERVALS * RATIO)) ] ||
			broken "not back after $MEASURED_FROM intervals: hot $HOT of $HOT_REF, victim $VICTIM of $VICTIM_REF Mb/s, $(say)"
	done
	BACK=$((bad_at ? bad_at + 2 : 0))
}

start_sm()
{
	start_opensm --plugin 'sweep_interval 0'
	OPENSMS+=" $OSM_PID"
}
# OpenSM sees the fabric as it is, and all of it works.
flowing() { [ "$(sim flows -j | jq '[.rows[].mbps | select(. > 500)] | length')" = 4 ]; }
look_again()
{
	send HUP "$OSM_PID"
	wait_until 30 flowing || { send HUP "$OSM_PID"; wait_until 30 flowing; } ||
		broken "the fabric does not come up"
}

# Every process that was not killed lives.
living()
{
	local p
	for p in "$SIM_PID" "$OSM_PID" "$TUNED_PID"; do
		alive "$p" || broken "process $p has died"
	done
}

# A new book, since the old one is damaged: disable, move it aside, apply.
rebuild()
{
	# A rollback brings back what was disabled; a switch's masks stay, and are none of the new book's.
	UNTUNED=$(settings)
	REBUILT=yes
	# It fails as long as a discovery has missed a node.
	disabled() { direct disable -y >"$TMP/disable.log" 2>&1; }
	wait_until 20 disabled || broken "disable without a book: $(cat "$TMP/disable.log")"
	mv "$TMP/disk/state.db" "$TMP/bad.db"
	wait_until 20 status '.state_trouble == null' || broken "no other book is begun: $(say)"
	wait_until 20 direct apply -y || broken "apply with a new book: $(say)"
	REBUILD=
}

# draw N: N attacks of which none is in another's way, into CHOSEN; fewer if there are not as many.
draw()
{
	local part taken=' ' tries=0
	CHOSEN=()
	while [ "${#CHOSEN[@]}" -lt "$1" ] && [ "$((tries++))" -lt 200 ]; do
		pick "${ATTACKS[@]}"
		for part in ${PART[$REPLY]}; do
			case $taken in *" $part "*) continue 2 ;; esac
		done
		taken+="${PART[$REPLY]} "
		CHOSEN+=("$REPLY")
	done
}

# A fabric that has stopped takes no orders: that comes last.
in_order() { for name in "${CHOSEN[@]}"; do [ "$name" = stopped_fabric ] || echo "$name"; done; case " ${CHOSEN[*]} " in *' stopped_fabric '*) echo stopped_fabric ;; esac; }

# told CONDITION: comes to be true while the attack lasts.
told() { status "$1"; }

step()
{
	local name last condition told_all="" sweep="" blind="" gone=""
	local -A tells=() about=()
	below 3
	draw $((${#ATTACKS[@]} > 3 ? 1 + REPLY : 1))
	below 30; last=$((10 + REPLY)) # tenths of a second
	# Sometimes longer than anything is waited for.
	below 5; [ "$REPLY" != 0 ] || [ -z "$LONG" ] || last=$((last + 80))
	mapfile -t CHOSEN <<<"$(in_order)"
	DOES="${CHOSEN[*]}"
	for name in "${CHOSEN[@]}"; do
		WHAT=$name TOLD='' ABOUT='' GONE='' SWEEP=''
		BLIND=$blind
		"${name}_on"
		blind=$BLIND
		[ -z "$SWEEP" ] || sweep=yes
		tells[$name]=$TOLD
		about[$name]=$ABOUT
		gone+=" $GONE "
		echo "# step $step: $WHAT"
	done
	for name in "${CHOSEN[@]}"; do
		case $gone in *" ${about[$name]:-none} "*) tells[$name]= ;; esac
	done
	for condition in "${tells[@]}"; do
		[ -z "$condition" ] || told_all="${told_all:+$told_all or }($condition)"
	done
	# Several hide each other, but not that something is wrong.
	[ "${#CHOSEN[@]}" = 1 ] || [ -z "$told_all" ] || told_all+=' or .state != "ok" or .last_reload_ok == false or .fabric.clock_trouble != null'
	[ -z "$told_all" ] || [ -n "$blind" ] || wait_until 20 told "$told_all" || broken "not told: $(say)"
	[ "${#CHOSEN[@]}" != 1 ] || [ "$(type -t "${CHOSEN[0]}_told")" != function ] || wait_until 20 "${CHOSEN[0]}_told" ||
		broken "the other program does not say it"
	for ((; last > 0; last -= 5)); do
		sleep 0.5
		[ -n "$blind" ] || status . || broken "no status: $(cat "$TMP/tune.log")"
		for name in "${CHOSEN[@]}"; do
			[ "$(type -t "${name}_during")" != function ] || "${name}_during"
		done
	done
	# The fabric first: without it nothing else can be set right. The process that was killed last: where answers
	# are lost OpenSM does not get up.
	for name in stopped_fabric "${CHOSEN[@]}"; do
		case " ${CHOSEN[*]} " in *" $name "*) ;; *) continue ;; esac
		[ "$name" = stopped_fabric ] && [ -z "$FROZEN" ] && continue
		case $name in killed_*) continue ;; esac
		"${name}_off"
	done
	for name in "${CHOSEN[@]}"; do
		case $name in killed_*) "${name}_off" ;; esac
	done
	[ -z "$sweep" ] || look_again
	living
	wait_until 30 status . || broken "the daemon does not answer: $(cat "$TMP/tune.log")"
	# A daemon that discovers by itself looks once a minute for what is new: for links, too, that were
	# not up when it looked last. What it does not see it does not disable either.
	[ -z "$sweep" ] || [ "$VIA" != direct ] || wait_until 70 status '.fabric.nodes == 8 and .fabric.links == 7 and .fabric.unread == []' ||
		broken "the daemon does not see the fabric: $(say)"
	for name in "${CHOSEN[@]}"; do
		[ "$(type -t "${name}_after")" != function ] || "${name}_after"
	done
	[ -z "${REBUILD-}" ] || rebuild
	# Asked for by a user, a pause stays until it is ended.
	! jq -e '.paused != null' "$TMP/status.json" >"$TMP/jq.log" || wait_until 30 direct apply -y ||
		broken "apply after a pause: $(say)"
	begin_count
	restored
	wait_until 30 status "$quiet" || broken "something is wrong still: $(say)"
	living
	ok "step $step, $DOES: back within $BACK intervals, hot $HOT, victim $VICTIM Mb/s"
}

# --- the end of a round ---------------------------------------------------------------------------
# Sets came from the right process, one at a time: "PID FIRST LAST" of each.
one_writer()
{
	local who=$WRITERS
	[ "$VIA" = direct ] || who=$OPENSMS
	sim sets -j | jq -r '.rows | group_by(.pid)[] | "\(.[0].pid) \(map(.us) | min) \(map(.us) | max)"' |
		sort -n -k 2 >"$TMP/writers"
	awk -v known="$who " -v foreign="$FOREIGN" '
		BEGIN { n = split(known, k); for (i = 1; i <= n; i++) ours[k[i]] = 1 }
		!($1 in ours) { if (++strange > foreign) { print "process " $1 " has written"; exit bad = 1 } next }
		$2 < last { print "process " $1 " has written beside another"; exit bad = 1 }
		{ last = $3; sets++ }
		END { if (!bad && !sets) { print "no Set is known"; bad = 1 } exit bad }' "$TMP/writers"
}
# What stock ibccquery reads of an adapter is what the daemon shows.
stock_agrees()
{
	local node lid mine theirs n=0
	direct show -j >"$TMP/show.json" || return 1
	while read -r node lid; do
		mine=$(jq --arg n "$node" -c '.nodes[] | select(.node == $n).CACongestionSetting.sls[0] |
			[.CCTI_Timer, .CCTI_Increase, .Trigger_Threshold, .CCTI_Min]' "$TMP/show.json")
		theirs=$(stock ibccquery CACongestionSetting "$lid" 2>/dev/null | tr -d ' ' |
			awk -F'[.:]+' '/CCTI_?Timer|CCTI_?Increase|Trigger_?Threshold|CCTI_?Min/ && n < 4 { v[n++] = $NF }
				END { if (n == 4) printf "[%d,%d,%d,%d]", v[0], v[1], v[2], v[3] }')
		[ -n "$theirs" ] && [ "$mine" = "$theirs" ] || { echo "$node: $mine, ibccquery reads $theirs"; return 1; }
		n=$((n + 1))
	done <<<"$(jq -r '.nodes[] | select(.type == "ca") | "\(.node) \(.lid)"' "$TMP/show.json")"
	[ "$n" = 6 ] || { echo "$n adapters are shown, not 6"; return 1; }
}
no_open_end()
{
	direct history -j --limit 1000 >"$TMP/history.json" &&
		jq -e '.transactions | length > 0 and all(.[]; .outcome != "open")' "$TMP/history.json" >"$TMP/jq.log"
}

round()
{
	VIA=$1
	step=start DOES=start
	FOREIGN=0 FOREIGN_PASS=0 WRITERS='' OPENSMS='' REBUILT=''
	CONFIG=('mode: apply' "apply_via: $VIA" 'drift: repair' 'pass_deadline_ms: 1000' 'timeout_ms: 100'
		"control_read_group: $(id -gn "$READER")" "metrics_listen: $HTTP_PORT"
		"interval_ms: $((INTERVAL_MS * RATIO))" "fast_interval_ms: $INTERVAL_MS")
	mkdir -p "$TMP/disk"
	mount -t tmpfs -o size=24m tmpfs "$TMP/disk" 2>/dev/null
	: >"$TMP/tuned.log"
	start_sim "$SCENARIO" --speed "$SPEED"
	SIMULATOR=$(child_of "$SIM_PID" ibcc-sim)
	SIMULATOR=${SIMULATOR:-$SIM_PID}
	start_sm
	wait_until 30 flowing || fail "no traffic"
	# The site's own settings.
	stock ibccconfig CACongestionSetting "$(sim settings -j | jq '.rows[] | select(.node == "source1").lid')" \
		0 0x8000 77 0 1 0 >/dev/null || fail "ibccconfig"
	FOREIGN=1
	UNTUNED=$(settings)
	[ "$(jq length <<<"$UNTUNED")" = 8 ] || fail "the settings of 8 nodes are not known: $UNTUNED"
	start_tuned "${CONFIG[@]}"
	WRITERS=" $TUNED_PID"
	# For three seconds it only looks whether another one leads.
	[ "$VIA" != direct ] || wait_until 30 status '.election.state == "leads"' || fail "it does not lead: $(say)"
	begin_count
	# What the loop reaches when nothing disturbs it, as often as it takes to be sure of that.
	HOT_REF=14900 VICTIM_REF=16500
	restored
	HOT_REF=$HOT VICTIM_REF=$VICTIM
	[ "$RATIO" = 1 ] || jq -e '.focus.ports > 0' "$TMP/status.json" >"$TMP/jq.log" || fail "no polling cycle is fast"
	ok "by the $VIA, $([ "$RATIO" = 1 ] || echo "with fast polling cycles: ")hot $HOT, victim $VICTIM Mb/s after $BACK intervals"
	for ((step = 1; step <= STEPS; step++)); do
		[ -z "$LONG" ] || [ "$SECONDS" -lt "$LONG" ] || break
		step
		STEPS_DONE=$((STEPS_DONE + 1))
	done
	step=end DOES='all is over'
	one_writer >"$TMP/one.log" || broken "$(cat "$TMP/one.log")"
	ok "one program has written"
	# The record of a daemon that was killed holds for its lease, a minute; the one after it follows until then.
	[ "$VIA" != direct ] || wait_until 40 status '.election.state == "leads"' || broken "it does not lead again: $(say)"
	# By itself the daemon repairs what another program has set when it reads all settings: at its start, and every 60
	# full polling cycles.
	has_read() { status . && jq -e --argjson p "$FOREIGN_PASS" ".fabric.pass | \$p == 0 or . < \$p or . > \$p + 61 * $RATIO" "$TMP/status.json"; }
	wait_until 60 has_read || broken "no more polling cycles: $(say)"
	direct repair -y -j >"$TMP/repair.json" 2>"$TMP/tune.log" || broken "repair: $(cat "$TMP/tune.log")"
	[ "$(jq '.writes' "$TMP/repair.json")" = 0 ] || broken "books and fabric differ: $(jq -c .changes "$TMP/repair.json")"
	no_open_end || broken "the history has an open end"
	ok "books and fabric agree"
	# The daemon may write between the two.
	agreed() { stock_agrees >"$TMP/stock.log"; }
	wait_until 5 agreed || broken "$(cat "$TMP/stock.log")"
	ok "and ibccquery reads the same"
	direct rollback -y >"$TMP/rollback.log" 2>&1 || broken "rollback: $(cat "$TMP/rollback.log")"
	[ "$(settings)" = "$UNTUNED" ] || broken "the rollback does not bring back what was there before"
	ok "a rollback brings back the registers from before"
	stop "$TUNED_PID"
	stop "$OSM_PID"
	stop "$SIM_PID"
	umount -l "$TMP/disk" 2>/dev/null
	rm -rf "$TMP/disk"
}

STEPS_DONE=0
trap 'rc=$?; umount -l "$TMP/disk" 2>/dev/null; [ -z "$FROZEN" ] || kill -CONT "$SIMULATOR"; kill -CONT "$OSM_PID" "$TUNED_PID" 2>/dev/null; (exit "$rc"); cleanup' EXIT
PAIRS=0
while :; do
	RATIO=1
	[ "${IBCC_FAST-}" != yes ] && [ $((PAIRS++ % 2)) = 0 ] || RATIO=3
	for via in $VIAS; do round "$via"; done
	[ -n "$LONG" ] && [ "$SECONDS" -lt "$LONG" ] || break
done
[ "$STEPS_DONE" -gt 0 ] || fail "no step was made"
echo "$STEPS_DONE steps in $SECONDS s"
