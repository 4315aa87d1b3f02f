# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Nothing is written to a wrong node: of two fabrics, with wrong, lost and rotated keys, and at LIDs that
# have moved. The fabric's log of Sets is the witness.
. "$(dirname "$0")/lib.sh"

# on NAME COMMAND...: on another simulated fabric than the one that was started last.
on() { local SIM=$1; "${@:2}"; }
sets() { sim sets -j | jq "[.rows[] | select(${1:-true})] | length"; }
lid_of() { sim settings -j | jq --arg n "$1" '.rows[] | select(.node == $n).lid'; }
told() { jq -c '[.state, .reason, .roots, .writes_pending, .mads.sets, .fabric.pass]' "$TMP/status.json"; }
passes() { status ".fabric.pass >= $1"; }
more_passes() { passes 0 && wait_until 30 passes $(($(jq .fabric.pass "$TMP/status.json") + $1)) || fail "no passes: $(told)"; }

# --- two fabrics ----------------------------------------------------------------------------------
two_switches 5 >"$TMP/quiet.net"
quiet=$SIM-quiet busy=$SIM-busy
SIM=$quiet start_sim "$TMP/quiet.net"
SIM=$quiet start_opensm --plugin --tag quiet 'sweep_interval 0'
quiet_osm=$OSM_PID quiet_sim=$SIM_PID
SIM=$busy
start_sim "$SCENARIO"
PLUGIN_OPTIONS="ibcc.socket=$TMP/busy.sock" start_opensm --plugin
foreign='OpenSM of the plugin is.*perhaps on another fabric: .*plugin_socket'
# By the port that the plugin names, and by one that the configuration does.
for port in '' 'port: 1'; do
	SIM=$quiet start_tuned 'mode: apply' "plugin_socket: $TMP/busy.sock" ${port:+"$port"}
	SIM=$quiet wait_until 20 status ".state == \"degraded\" and (.reason // \"\" | test(\"$foreign\"))" ||
		fail "a plugin of another fabric: $(told)"
	ok "the plugin of another fabric is told${port:+, where the port was given, too}"
	SIM=$quiet tune apply -y >"$TMP/apply.log" 2>&1
	equal "an apply is refused" $? 1
	stop "$TUNED_PID"
done
equal "nothing is written here" "$(on "$quiet" sets)" 0
equal "nor there" "$(sets)" 0

# A fabric whose ports have the same GUIDs, but another subnet manager's LIDs.
SIM=$busy-twin start_sim "$TMP/quiet.net"
mkdir "$TMP/twin"
guid=$(SIM=$busy-twin stock ibstat -p | head -n 1)
printf '%s 0x%x 0x%x\n' "$guid" 77 77 >"$TMP/twin/guid2lid"
SIM=$busy-twin PLUGIN_OPTIONS="ibcc.socket=$TMP/twin.sock" start_opensm --plugin --tag twin 'sweep_interval 0'
twin_osm=$OSM_PID
SIM=$quiet start_tuned 'mode: apply' "plugin_socket: $TMP/twin.sock"
SIM=$quiet wait_until 20 status '.state == "degraded" and (.reason // "" | test("OpenSM has LID 77: it is of another fabric .see plugin_socket"))' ||
	fail "a plugin of a twin: $(told)"
ok "so is that of a fabric with the same GUIDs, by its LIDs"
stop "$TUNED_PID"
stop "$twin_osm"
# And with the same LIDs, by the subnet's prefix.
rm "$TMP/twin/guid2lid"
SIM=$busy-twin PLUGIN_OPTIONS="ibcc.socket=$TMP/twin.sock" \
	start_opensm --plugin --tag twin 'sweep_interval 0' 'subnet_prefix 0xfe80000000000077' 'reassign_lids TRUE'
twin_osm=$OSM_PID
SIM=$quiet start_tuned 'mode: apply' "plugin_socket: $TMP/twin.sock"
SIM=$quiet wait_until 20 status '.state == "degraded" and (.reason | test("subnet prefix is 0xfe80000000000000, but the plugin.s OpenSM has 0xfe80000000000077"))' ||
	fail "a plugin of a twin with the same LIDs: $(told)"
ok "or by the prefix of its subnet"
stop "$TUNED_PID"
equal "nothing is written there" "$(on "$busy-twin" sets)" 0
stop "$twin_osm"
stop "$SIM_PID"

# --- a LID that moves between reading and writing -------------------------------------------------
stop "$quiet_osm"
SIM=$quiet start_opensm --tag quiet 'sweep_interval 0'
quiet_osm=$OSM_PID
SIM=$quiet start_tuned 'apply_via: direct' 'mode: observe'
# move: H3 and H4 change LIDs while the daemon sleeps; nothing tells it, but for a look each 30 s whether
# the subnet manager still knows it.
move()
{
	local guid from lid
	SIM=$quiet wait_until 20 status '.state == "ok" and .traps.subscribed' || fail "$(told)"
	first=$(on "$quiet" lid_of H3) second=$(on "$quiet" lid_of H4)
	on "$quiet" stock ibccconfig CACongestionSetting "$first" 0 0xffff 150 4 0 0 >"$TMP/cc.log" 2>&1 || fail ibccconfig
	SIM=$quiet more_passes 2
	kill -STOP "$TUNED_PID"
	stop "$quiet_osm"
	while read -r guid from _; do
		case $((from)) in "$first") lid=$second ;; "$second") lid=$first ;; *) lid=$((from)) ;; esac
		[ -z "$guid" ] || printf '%s 0x%x 0x%x\n' "$guid" "$lid" "$lid"
	done <"$TMP/quiet/guid2lid" >"$TMP/guid2lid"
	cp "$TMP/guid2lid" "$TMP/quiet/guid2lid"
	on "$quiet" stock ibportstate -D 0,1,5,1 1 lid "$second" >"$TMP/moved.log" 2>&1 &&
		on "$quiet" stock ibportstate -D 0,1,5,2 1 lid "$first" >"$TMP/moved.log" 2>&1 || fail "ibportstate"
	SIM=$quiet start_opensm --tag quiet 'sweep_interval 0'
	quiet_osm=$OSM_PID
	wait_until 10 eval '[ "$(on "$quiet" lid_of H3)" = "$second" ]' || fail "the LIDs have not moved"
	before=$(on "$quiet" sets)
	kill -CONT "$TUNED_PID"
	SIM=$quiet tune disable -y >"$TMP/disable.log" 2>&1
}
for try in 1 2 3 4; do
	move || break
	equal "the move was noticed first: it goes to where its node is" \
		"$(SIM=$quiet sim sets -j | jq -c --argjson n "$before" '[.rows[$n:][].lid] | unique')" "[$second]"
	[ "$try" -lt 4 ] || fail "the move was noticed each time"
done
check "what was read at a LID is not written to the node that has it now" \
	grep -q 'its LID belongs to another node now, so the fabric is discovered again' "$TMP/disable.log"
equal "no Set was sent" "$(on "$quiet" sets)" "$before"
again() { SIM=$quiet tune disable -y >"$TMP/disable.log" 2>&1; }
wait_until 20 again || fail "the LID is not found again: $(cat "$TMP/disable.log")"
equal "then it goes to where its node is" "$(SIM=$quiet sim sets -j | jq -c --argjson n "$before" '[.rows[$n:][].lid] | unique')" "[$second]"
stop "$TUNED_PID"
stop "$quiet_osm"
stop "$quiet_sim"

# --- keys, with traffic ---------------------------------------------------------------------------
mkdir "$TMP/keys"
key() { printf '0x%x' $((0xc0de00 + $1)); }
# write_keys [LID KEY]: each node's own, but for that one; put in place as OpenSM does.
write_keys()
{
	while read -r guid lid _; do
		[ -n "$guid" ] || continue
		k=$(key "$lid")
		[ $((lid)) = "${1:-}" ] && k=$2
		printf '%s %s\n\n' "$guid" "$k"
	done <"$TMP/osm/guid2lid" >"$TMP/keys/guid2cckey.tmp"
	mv "$TMP/keys/guid2cckey.tmp" "$TMP/keys/guid2cckey"
}
n=0
while read -r guid lid _; do
	[ -n "$guid" ] || continue
	stock ibccconfig CongestionKeyInfo $((lid)) "$(key "$lid")" 1 0 0 >"$TMP/cc.log" 2>&1 || fail ibccconfig
	n=$((n + 1))
done <"$TMP/osm/guid2lid"
equal "all nodes have keys" $n 8
hot=$(lid_of source1)
key_sets=$(sets)

write_keys "$hot" 0xbad
keyed=('mode: apply' "plugin_socket: $TMP/busy.sock" "key_dir: $TMP/keys")
start_tuned "${keyed[@]}"
wait_until 30 status '.state == "degraded" and .roots == 1 and (.reason | test("\"source1\".*key_dir"))' || fail "a wrong key: $(told)"
more_passes 20
ok "a node's wrong key is told: $(jq -r .reason "$TMP/status.json")"
equal "and no node is written to" "$(sets)" "$key_sets"

write_keys
settled() { status '.state == "ok" and .roots == 1 and .writes_pending == 0 and .mads.sets > 5'; }
wait_until 60 settled || fail "with the right keys: $(told)"
equal "with the right ones all Sets are taken" "$(sets '.answer != "yes"')" 0

# The node has its new key before the file does.
stock ibccconfig -c "$(key "$hot")" CongestionKeyInfo "$hot" 0x5afe 1 0 0 >"$TMP/cc.log" 2>&1 || fail ibccconfig
sim set sink_rate.destination1=7000 >/dev/null || fail "ibcc-sim set"
wait_until 40 status '.state == "degraded" and (.reason | test("\"?source1\"?|0x"))' || fail "a rotated key: $(told)"
ok "a key that is rotated under way is told: $(jq -r .reason "$TMP/status.json")"
more_passes 10
write_keys "$hot" 0x5afe
wait_until 60 settled || fail "with the rotated key: $(told)"
ok "and with the file that has it all is well"
equal "none but that node has missed a Set" "$(sets ".answer != \"yes\" and .lid != $hot")" 0
[ "$(sets ".answer != \"yes\"")" -le 8 ] || fail "that node was asked again and again"

rm "$TMP/keys/guid2cckey"
wait_until 20 status '.state == "degraded" and (.reason | test("guid2cckey: No such file.*continues with the keys that it read before"))' ||
	fail "a lost file: $(told)"
ok "a lost file is told"
missed=$(sets '.answer != "yes"') before=$(sets)
sim set sink_rate.destination1=15000 >/dev/null || fail "ibcc-sim set"
wait_until 60 eval "[ \$(sets) -gt $before ]" || fail "no Sets with the keys read before: $(told)"
equal "the keys read before are the nodes'" "$(sets '.answer != "yes"')" "$missed"
stop "$TUNED_PID"
before=$(sets)
start_tuned "${keyed[@]}"
wait_until 20 status '.state == "degraded" and (.reason | test("key_dir: .*guid2cckey: No such file"))' || fail "no file: $(told)"
tune apply -y >"$TMP/apply.log" 2>&1
equal "without the file nothing is asked for or written" "$? $(sets)" "1 $before"
