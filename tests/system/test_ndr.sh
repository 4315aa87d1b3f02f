# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A mixed fabric of HDR and NDR with NVIDIA's own congestion control, and an EDR switch with the congestion log only:
# stock tools work; show, show --odd and probe are right for each device type, and where keys are missing or rotated, a
# setting is refused or one node is odd; what is set takes effect; and readers send no Set, ever.
. "$(dirname "$0")/lib.sh"

start_sim "$top/perftest/scenarios/hdr-ndr.yaml"
start_opensm
stock ibnetdiscover >"$TMP/discovered"
equal "stock: ibnetdiscover shows all nodes" "$(grep -cE '^(Switch|Ca)' "$TMP/discovered")" 12
lid() { sed -n "s/^Switch.*# \"$1\" .* lid \([0-9]*\) .*/\1/p; s/.*\"$1\" lid \([0-9]*\) .*/\1/p" "$TMP/discovered" | head -n 1; }
device() { stock smpquery nodeinfo "$(lid "$1")" | sed -n 's/^DevId:\.*//p'; }
equal "stock: smpquery shows the device types" "$(device h1) $(device n1) $(device q1) $(device q2) $(device edr)" \
	'0x101b 0x1021 0xd2f0 0xd2f2 0xcf08'
stock perfquery -x "$(lid n1)" >"$TMP/tool.log" 2>&1 || fail "perfquery"
check "stock: perfquery reads counters" grep -q '^PortRcvData' "$TMP/tool.log"
stock ibccquery CongestionInfo "$(lid q2)" >"$TMP/tool.log" 2>&1 || fail "ibccquery"
check "stock: ibccquery reads class 0x21" grep -q '^CongestionInfo' "$TMP/tool.log"
stock ibccquery CongestionLog "$(lid edr)" >"$TMP/tool.log" 2>&1 || fail "ibccquery"
check "stock: ibccquery reads the log of the EDR switch" grep -qi 'LogType' "$TMP/tool.log"

write_config 'apply_via: direct'
by_hand() { stock "$IBCC_BUILD/tests/system/nvidia_sm" change "$@" >"$TMP/by_hand.log" 2>&1; }
odd() { jq -r '.odd[] | "\(.node)/\(.port) \(.field) \(.value) \(.usual) \(.with)/\(.alike)"' "$TMP/odd.json"; }
# Since `written`, all Sets of class 0x21 must have come from this test's own writers.
written=$(set_mads)
unwritten() { equal "$1: readers send no Set" "$(set_mads)" "$written"; }

# --- as it is -------------------------------------------------------------------------------------
tune show -j >"$TMP/show.json" || fail "show -j"
equal "show: the reason at each device type" "$(jq -r '[.nodes[] | "\(.device_id) \(.reason)"] | unique | .[]' "$TMP/show.json")" \
	"0x101b has NVIDIA's own congestion control on
0x1021 has NVIDIA's own congestion control on
0xcf08 supports only the congestion log, by its release notes
0xd2f0 has NVIDIA's own congestion control on
0xd2f2 has NVIDIA's own congestion control on"
equal "show: the parameters of adapters are those of the scenario" "$(jq -c '[.nodes[] | select(.type == "ca") | .nvidia |
	[.HCARPParameters.clamp_tgt_rate, .HCARPParameters.rpg_time_reset, .HCANPParameters.min_time_between_cnps]] | unique' \
	"$TMP/show.json")" '[[1,300,4]]'
equal "show: and so is each linked port of the switches" "$(jq -c '[.nodes[] | select(.nvidia_ports) | [.node, (.nvidia_ports |
	map(.port)), (.nvidia_ports | map([.PortProfileSettings.profile1_max, .PortProfileSettings.profile2_percent, .SLMapping.sl0])
	| unique)]]' "$TMP/show.json")" '[["q1",[1,2,3,4,7,8],[[400000,10,1]]],["q2",[1,2,3,4,8],[[400000,10,1]]]]'
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "odd: nothing" grep -q '^Nothing is odd: 12 ports of 5 device types' "$TMP/odd.log"
tune probe -j >"$TMP/probe.json" || fail "probe"
equal "probe: what is documented of each type, and what it answers" "$(jq -c '.types | sort_by(.device_id)[] | [.name, .count, .generation,
	.nvidia_cc.on, [.HCARPParameters // {} | .[]], [.PortProfileSettings // {} | .[]]]' "$TMP/probe.json")" \
	'["ConnectX-6",5,"HDR and later",5,[5],[]]
["ConnectX-7",4,"HDR and later",4,[4],[]]
["Switch-IB 2",1,"EDR",null,[],[]]
["Quantum",1,"HDR and later",1,[],[6]]
["Quantum-2",1,"HDR and later",1,[],[5]]'
unwritten "as it is"

# --- a setting that is refused, and one that is taken ----------------------------------------------
percent='mode=1 profile1_min=5 profile1_max=50 profile2_min=5 profile2_max=50'
# shellcheck disable=SC2086
by_hand "$(lid q2)" 0 0xff09 1 $percent
equal "refused: marks in percent at a Quantum-2" "$(cat "$TMP/by_hand.log")" "$(lid q2) 0xff09 1 0x001c"
# shellcheck disable=SC2086
by_hand "$(lid q1)" 0 0xff09 1 $percent
equal "refused: not at a Quantum" "$(cat "$TMP/by_hand.log")" "$(lid q1) 0xff09 1 0x0000"
written=$(set_mads)
equal "refused: both are in the log of Sets, by the one that has written" "$(sim sets -j | jq -r '[.rows[-2:][] | .host] | unique | .[]')" h1
tune show -j >"$TMP/show.json" || fail "show -j"
equal "refused: show has it at the Quantum alone" "$(jq -c '[.nodes[] | select(.nvidia_ports) | [.node, (.nvidia_ports[] |
	select(.PortProfileSettings.mode == 1) | .port)]]' "$TMP/show.json")" '[["q1",1],["q2"]]'
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
odd >"$TMP/odd.txt"
check "refused: odd names that port" grep -q '^q1/1 nvidia.PortProfileSettings.mode 1 0 3/4$' "$TMP/odd.txt"
unwritten "refused"

# --- one odd node, and bits that no header names ------------------------------------------------------
by_hand "$(lid q1)" 0 0xff09 1 mode=0 profile1_min=100000 profile1_max=400000 profile2_min=200000 profile2_max=800000
by_hand "$(lid n3)" 0 0xff21 0 rpg_ai_rate=400 byte63=0x5a
by_hand "$(lid n3)" 0 0xff21 0 rpg_hai_rate=800
written=$(set_mads)
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
equal "odd: one NDR adapter that raises its rate faster" "$(odd)" 'n3/1 nvidia.HCARPParameters.rpg_ai_rate 400 5 3/4
n3/1 nvidia.HCARPParameters.rpg_hai_rate 800 50 3/4'
by_hand "$(lid n3)" 0 0xff21 0 rpg_ai_rate=5 rpg_hai_rate=50
written=$(set_mads)
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "odd: taken back" grep -q '^Nothing is odd' "$TMP/odd.log"
unwritten "odd"

# --- what is set takes effect ---------------------------------------------------------------------
marks() { sim ports -j | jq --arg n "$1" '[.rows[] | select(.node == $n) | .mark_fecn] | add'; }
first=$(marks q1)
marked() { [ "$(marks q1)" -gt "$first" ]; }
wait_until 30 marked || fail "nothing is marked: $(sim ports)"
ok "effect: the Quantum marks"
equal "effect: and the EDR switch does not" "$(marks edr)" 0
start_tuned 'apply_via: direct'
told() { tune status -j >"$TMP/status.json" 2>/dev/null && jq -e "$1" "$TMP/status.json"; }
wait_until 20 told '.nvidia.marking == 2 and .nvidia.reacting == 9' || fail "$(tune status)"
ok "effect: the daemon counts switches that mark and adapters that react"
wait_until 60 told '[.nvidia.throttled[] | select(.cnp_handled > 0) | .node] | index("h1")' || fail "$(tune status)"
ok "effect: and names senders that slow down"
by_hand "$(lid h1)" 0 0xff20 0 en_react=0
by_hand "$(lid q1)" 0 0xff08 0 en=0
by_hand "$(lid q2)" 0 0xff08 0 en=0
written=$(set_mads)
wait_until 60 told '.nvidia.marking == 0 and .nvidia.reacting == 8 and .nvidia.off == 2' || fail "$(tune status)"
ok "effect: the daemon sees that it is off at both switches, and that one adapter reacts no longer"
first=$(marks q1)
sleep 1
equal "effect: nothing is marked any longer" "$(marks q1)" "$first"
by_hand "$(lid q1)" 0 0xff08 0 en=1
by_hand "$(lid q2)" 0 0xff08 0 en=1
written=$(set_mads)
wait_until 30 marked || fail "nothing is marked again: $(sim ports)"
ok "effect: when it is on again, packets are marked again"
wait_until 60 told '[.nvidia.throttled[] | select(.node == "h1" and .cnp_ignored > 0 and .cnp_handled == 0)] | length == 1' ||
	fail "$(jq -c .nvidia.throttled "$TMP/status.json")"
ok "effect: the adapter that does not react ignores its notifications"
unwritten "effect, with a daemon"
stop "$TUNED_PID"

# --- keys that are missing, rotated, and wrong at one node -------------------------------------------
for node in q1 q2 h1 h2 h3 h4 e1 n1 n2 n3 n4; do
	stock ibccconfig CongestionKeyInfo "$(lid "$node")" 0x5afe 1 0 0 >"$TMP/tool.log" 2>&1 || fail "ibccconfig"
done
written=$(set_mads)
write_config 'apply_via: direct'
tune show --odd >"$TMP/odd.log" || fail "show --odd"
without "keys: what was not read is not called usual" "$TMP/odd.log" '^Nothing is odd'
check "keys: and it is counted" grep -q '^11 ports do not answer for NVIDIA.s own congestion control, q1 first: .*key_dir' "$TMP/odd.log"
tune show >"$TMP/show.log" || fail "show"
check "keys: by show, too" grep -q '^11 ports do not answer for NVIDIA.s own congestion control, q1 first' "$TMP/show.log"
equal "keys: and by a record" "$(tune probe -j | jq '[.types[].nvidia_cc["does not answer"] // 0] | add')" 11
stock ibccquery -c 0x5afe CongestionKeyInfo "$(lid h1)" >"$TMP/tool.log" 2>&1 || fail "ibccquery"
check "keys: the node has counted requests without its key" grep -qE 'Violations:\.+[1-9]' "$TMP/tool.log"
echo 0x5afe >"$TMP/key" && chmod 600 "$TMP/key"
write_config 'apply_via: direct' "cc_key_file: $TMP/key"
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
equal "keys: with the key all nodes are read" "$(jq -c '[.nvidia_silent.ports, .nvidia_unread]' "$TMP/odd.json")" '[0,[]]'
equal "keys: and nothing is odd" "$(jq '.odd | length' "$TMP/odd.json")" 0
sim set cc_key.h2=0xfeedfacecafe0001 >/dev/null
tune show -j >"$TMP/show.json" || fail "show -j"
equal "keys: a node whose key was rotated is named" "$(jq -r '[.nodes[] | select(.nvidia.control == "does not answer") | .node] | .[]' \
	"$TMP/show.json")" h2
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "keys: and counted" grep -q '^1 port does not answer for NVIDIA.s own congestion control, h2 first' "$TMP/odd.log"
for node in q1 q2 h1 h3 h4 e1 n1 n2 n3 n4; do sim set "cc_key.$node=0xfeedfacecafe0001" >/dev/null; done
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "keys: when all were rotated, the old key reads nothing" grep -q '^11 ports do not answer' "$TMP/odd.log"
echo 0xfeedfacecafe0001 >"$TMP/key"
tune show -j >"$TMP/show.json" || fail "show -j"
equal "keys: with the new key all is read again" "$(jq '[.nodes[] | select(.nvidia.control == "on")] | length' "$TMP/show.json")" 11
unwritten "keys"
equal "the log of Sets names what this test has written" "$(sim sets -j | jq -r '[.rows[].name] | unique | join(" ")')" \
	'CongestionKeyInfo HCAGeneralSettings HCARPParameters PortProfileSettings SwitchGeneralSettings'
