# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The stock tools on the simulated fabric: every attribute that they know of classes PerfMgt and
# Congestion Control, read and set, with the simulator's own books as the witness.
. "$(dirname "$0")/lib.sh"

# field NAME: value of a "Name:....value" line on stdin, the first one.
field() { sed -n "s/^$1:\.*//p" | head -n 1; }
# port NODE PORT FIELD, setting NODE JQ-PATH: what the simulator has.
port() { sim ports -j | jq -r --arg n "$1" --argjson p "$2" \
	".rows[] | select(.node == \$n and .port == \$p) | .$3"; }
setting() { sim settings -j | jq -cS --arg n "$1" ".rows[] | select(.node == \$n) | $2"; }
lid() { setting "$1" .lid; }
# at_least TEXT GOT LEAST
at_least() { [ "$2" -ge "$3" ] || fail "$1: got '$2', want at least '$3'"; ok "$1"; }

start_sim "$SCENARIO" --speed 0.02
start_opensm
leaf1=$(lid leaf1) leaf2=$(lid leaf2) ca=$(lid source1) sink=$(lid destination1)

# Tables that bare ibsim would overwrite with class 0x21.
tables()
{
	local l
	for l in "$ca" "$sink" "$leaf1" "$leaf2"; do
		stock smpquery pkeys "$l" 1
		stock smpquery sl2vl "$l" 1
	done
}
tables >"$TMP/tables.before" || fail "smpquery"

# PerfMgt. The traffic goes on while the tools read, so they must be between two looks at the books.
before=$(port leaf1 8 xmit_bytes)
words=$(stock perfquery -x "$leaf1" 8 | field PortXmitData)
after=$(port leaf1 8 xmit_bytes)
[ $((words * 4)) -ge "$before" ] && [ $((words * 4)) -le $((after + 4)) ] ||
	fail "perfquery -x: $words words, books say $before to $after bytes"
ok "perfquery -x"
before=$(port leaf1 8 xmit_wait_ns)
at_least "traffic makes the inter-switch link wait" "$before" 1000
ticks=$(stock perfquery "$leaf1" 8 | field PortXmitWait)
after=$(port leaf1 8 xmit_wait_ns)
# The default Tick, 255, is 256 bytes of 4X QDR: 64 ns.
[ $((ticks * 64)) -ge $((before - 64)) ] && [ $((ticks * 64)) -le $((after + 64)) ] ||
	fail "PortXmitWait: $ticks ticks, books say $before to $after ns"
ok "perfquery: PortXmitWait"
equal "perfquery -c: OptionMask" "$(stock perfquery -c "$leaf1" 8 | field OptionMask)" \
	0x007f000000000000
for option in rcvcc slrcvfecn slrcvbecn xmitcc vlxmittimecc xmtsl swportvlcong vlxmitcounters; do
	check "perfquery --$option" stock perfquery --$option "$leaf1" 8
done
equal "perfquery --swportvlcong: nothing is discarded" \
	"$(stock perfquery --swportvlcong "$leaf1" 8 | grep -cE '^SWPortVLCongestion[0-9]+:\.*0$')" 16
check "perfquery -a" stock perfquery -a "$leaf1"
stock perfquery "$ca" 2 >"$TMP/badport.log" 2>&1 && fail "a port that is not there was answered"
check "perfquery fails for a port that is not there" grep -q 'perfquery: iberror: failed' "$TMP/badport.log"
check "perfquery -R" stock perfquery -R "$leaf1" 8
at_least "a reset counter begins anew" "$ticks" \
	"$(($(stock perfquery "$leaf1" 8 | field PortXmitWait) + 1))"
check "ibqueryerrors" stock ibqueryerrors --counters
equal "ibqueryerrors reads all nodes" "$(stock ibqueryerrors --counters 2>/dev/null |
	sed -n 's/^## Summary: \([0-9]*\) nodes checked.*/\1/p')" 8

# Congestion Control: what can be read.
equal "CongestionInfo of a CA" "$(stock ibccquery CongestionInfo "$ca" | field ControlTableCap)" 2
equal "CongestionInfo of a switch" \
	"$(stock ibccquery CongestionInfo "$leaf1" | field ControlTableCap)" 0
equal "ClassPortInfo" "$(stock ibccquery ClassPortInfo "$ca" | field ClassVersion)" 2
equal "CongestionLog of a CA" "$(stock ibccquery CongestionLog "$ca" | field LogType)" 2
equal "CongestionLog of a switch" "$(stock ibccquery CongestionLog "$leaf1" | field LogType)" 1
t0=$(stock ibccquery Timestamp "$ca" | field Timestamp)
now=$(($(sim stats -j | jq .engine_ns) / 1024))
t1=$(stock ibccquery Timestamp "$leaf1" | field Timestamp)
[ "$t0" -le "$now" ] && [ "$now" -le "$t1" ] ||
	fail "Timestamp is not engine time: $t0 $now $t1 of 1.024 us"
ok "Timestamp is engine time"
stock ibccquery SwitchCongestionSetting "$ca" >"$TMP/badattr.log" 2>&1 &&
	fail "a CA answers SwitchCongestionSetting"
ok "a CA has no SwitchCongestionSetting"

# And set.
check "ibccconfig SwitchCongestionSetting" stock ibccconfig SwitchCongestionSetting "$leaf2" \
	0x1f 0x1fe 0x0 0x9 8 3 1:77 5
equal "its effect" "$(setting leaf2 '.switch | [.Victim_Mask, .Credit_Mask, .Threshold, .Packet_Size,
	.CS_Threshold, .CS_ReturnDelay, .Marking_Rate]')" "[[1,2,3,4,5,6,7,8],[],9,8,3,$((16384 + 77)),5]"
equal "Control_Map selects what is set" "$(stock ibccconfig SwitchCongestionSetting "$leaf2" \
	0x10 0x0 0x0 0 0 0 0:0 7 && setting leaf2 '.switch | [.Threshold, .Marking_Rate]')" '[9,7]'
equal "ibccquery SwitchCongestionSetting" "$(stock ibccquery SwitchCongestionSetting "$leaf2" |
	sed -n 's/^[A-Z][A-Za-z_]*:\.*0*\(.*\)$/\1/p' | tr '\n' ' ')" 'x0000001f 1fe  x09 8 x03 x404d 7 '

check "ibccconfig SwitchPortCongestionSetting" stock ibccconfig SwitchPortCongestionSetting \
	"$leaf2" 2 1 0 15 4 3
equal "its effect" "$(setting leaf2 .switch.ports)" \
	'[{"Cong_Parm_Marking_Rate":3,"Control_Type":false,"Packet_Size":4,"Threshold":15,"port":2}]'
equal "ibccquery SwitchPortCongestionSetting of a port" \
	"$(stock ibccquery SwitchPortCongestionSetting "$leaf2" 2 | field Cong_Parm_Marking_Rate)" 3
equal "ibccquery SwitchPortCongestionSetting of all ports" \
	"$(stock ibccquery SwitchPortCongestionSetting "$leaf2" | grep -c '^Valid:')" 9

check "ibccconfig CACongestionSetting" stock ibccconfig CACongestionSetting "$ca" 1 0x5 150 2 3 1
equal "its effect" "$(setting source1 '[.ca.Port_Control] + [.ca.sl[0, 1, 2] | [.CCTI_Timer,
	.CCTI_Increase, .Trigger_Threshold, .CCTI_Min]]')" '[1,[150,2,3,1],[0,0,0,0],[150,2,3,1]]'
equal "ibccquery CACongestionSetting" "$(stock ibccquery CACongestionSetting "$ca" |
	grep -c '^CCTI_Timer:\.*150$')" 2

block() { local i; for ((i = $1; i <= $2; i++)); do echo "$((i % 4)):$i"; done; }
# shellcheck disable=SC2046
check "ibccconfig CongestionControlTable, first block" stock ibccconfig CongestionControlTable \
	"$ca" 63 0 $(block 0 63)
# shellcheck disable=SC2046
check "ibccconfig CongestionControlTable, second block" stock ibccconfig CongestionControlTable \
	"$ca" 127 1 $(block 64 127)
equal "their effect" "$(setting source1 '[.ca.CCTI_Limit, .ca.cct[0, 1, 65, 127]]')" \
	"[127,0,$((16384 + 1)),$((16384 + 65)),$((3 * 16384 + 127))]"
equal "ibccquery CongestionControlTable" "$(stock ibccquery CongestionControlTable "$ca" |
	sed -n 's/^CCT_Multiplier:\.*//p' | tr '\n' ' ')" "$(seq -s ' ' 0 127) "

check "ibccconfig CongestionKeyInfo" stock ibccconfig CongestionKeyInfo "$ca" 0x1234 1 0 0
stock ibccquery CongestionInfo "$ca" >"$TMP/nokey.log" 2>&1 && fail "a protected node answers anyone"
check "a protected node wants its CC_Key" grep -q 'ibccquery: iberror: failed' "$TMP/nokey.log"
# ibccquery tries more than once.
at_least "violations are counted" "$(stock ibccquery -c 0x1234 CongestionKeyInfo "$ca" |
	field CC_KeyViolations)" 1
check "the right key lets in" stock ibccconfig -c 0x1234 CongestionKeyInfo "$ca" 0 0 0 0

sim set cc_support.source2=off || fail "cc_support"
stock ibccquery CongestionInfo "$(lid source2)" >"$TMP/nocc.log" 2>&1 &&
	fail "a node without congestion control answers"
ok "a node without congestion control refuses"
sim set cc_support.source2=on || fail "cc_support"
check "and no longer" stock ibccquery CongestionInfo "$(lid source2)"

tables >"$TMP/tables.after" || fail "smpquery"
same "P_Key and SL2VL tables are as before" "$TMP/tables.before" "$TMP/tables.after"

# Bare ibsim is overwritten by OpenSM's own manager of class 0x21; here it works.
stop "$OSM_PID"
start_opensm --tag cc 'congestion_control TRUE' 'cc_sw_cong_setting_threshold 0x07' \
	'cc_sw_cong_setting_control_map 0x1f'
threshold_is() { [ "$(setting leaf1 .switch.Threshold)" = "$1" ]; }
wait_until 10 threshold_is 7 || fail "OpenSM's congestion control manager sets nothing"
ok "OpenSM's congestion control manager works"
tables >"$TMP/tables.osm" || fail "smpquery"
same "P_Key and SL2VL tables are still as before" "$TMP/tables.before" "$TMP/tables.osm"
