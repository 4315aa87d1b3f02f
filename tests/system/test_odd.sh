# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Settings that differ from those of most nodes of a device type: none at first, then those that a stock tool gives to one
# adapter. Readers send no Set.
. "$(dirname "$0")/lib.sh"

two_switches 5 | sed -e 's/^Switch/vendid=0x2c9\ndevid=0xc738\n&/' -e 's/^Hca/vendid=0x2c9\ndevid=0x1003\n&/' >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm
write_config 'apply_via: direct'
sets() { sim stats -j | jq '[.rows[] | select(.class == "0x21" and .method == "0x02") | .count] | add // 0'; }
odd() { jq -r '.odd[] | "\(.node) \(.field)[\(.index)] \(.value) \(.usual) \(.with)/\(.alike)"' "$TMP/odd.json"; }

tune show --odd >"$TMP/odd.log" || fail "show --odd: $(cat "$TMP/odd.log")"
equal "nothing is odd" "$(cat "$TMP/odd.log")" \
	"Nothing is odd: 6 ports of 2 device types have the settings that are usual for the type."
lid=$(stock ibnetdiscover | sed -n 's/.*"H2" lid \([0-9]*\) .*/\1/p' | head -n 1)
stock ibccconfig CACongestionSetting "$lid" 0 0x0006 150 4 0 0 >"$TMP/cc.log" 2>&1 || fail "ibccconfig: $(cat "$TMP/cc.log")"
before=$(sets)
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
equal "an adapter with a timer of its own, at two SLs" "$(odd)" \
	"H2 CACongestionSetting.sls.CCTI_Timer[1-2] 150 0 3/4
H2 CACongestionSetting.sls.CCTI_Increase[1-2] 4 0 3/4"
tune show --odd >"$TMP/odd.log"
check "as a table" grep -q 'H2.*CCTI_Timer *1-2 *150 *0 *3 of 4' "$TMP/odd.log"
sim set cc_support.H3=off >/dev/null
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
equal "and one that has none" "$(odd | grep '^H3')" "H3 settings[] has no congestion control are read 3/4"
tune show --odd H3 >"$TMP/odd.log" 2>&1
equal "one node is not compared" $? 1
check "and that is said" grep -q 'show --odd compares all nodes: leave out "H3"' "$TMP/odd.log"
equal "readers send no Set" "$(sets)" "$before"

# Where NVIDIA's own control is on, its parameters are shown and compared.
stop "$OSM_PID"
stop "$SIM_PID"
two_switches 5 | sed -e 's/^Switch/vendid=0x2c9\ndevid=0xd2f2\n&/' -e 's/^Hca/vendid=0x2c9\ndevid=0x101b\n&/' >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm
for node in S1 S2 H1 H2 H3 H4; do sim set "nvidia_cc.$node=on" >/dev/null; done
tune show --odd >"$TMP/odd.log" || fail "show --odd: $(cat "$TMP/odd.log")"
equal "NVIDIA: nothing is odd" "$(cat "$TMP/odd.log")" \
	"Nothing is odd: 6 ports of 2 device types have the settings that are usual for the type."
sim set nvidia_ai_rate.H4=40 >/dev/null
tune show --odd -j >"$TMP/odd.json" || fail "show --odd -j"
equal "NVIDIA: an adapter that raises its rate faster" "$(odd)" "H4 nvidia.HCARPParameters.rpg_ai_rate[] 40 5 3/4"
tune show -j >"$TMP/show.json" || fail "show -j"
equal "NVIDIA: the parameters of adapters" "$(jq -c '[.nodes[] | select(.type == "ca") | .nvidia | [.control,
	.HCARPParameters.rpg_time_reset, .HCANPParameters.min_time_between_cnps]] | unique' "$TMP/show.json")" '[["on",300,4]]'
equal "NVIDIA: and of each linked port of the switches" "$(jq -c '[.nodes[] | select(.type == "switch") | .nvidia_ports[] |
	[.port, .peer, .PortProfileSettings.profile1_percent, .SLMapping.sl0]] | unique' "$TMP/show.json")" \
	'[[1,"ca",20,1],[2,"ca",20,1],[5,"switch",20,1]]'
tune show >"$TMP/show.log" || fail "show"
check "NVIDIA: as a table" grep -q 'HCARPParameters' "$TMP/show.log"
equal "NVIDIA: readers send no Set" "$(sets)" 0

# Of one node only its own parameters are read.
reads() { sim stats -j | jq '[.rows[] | select(.class == "0x21" and (.attr | test("ff(09|10|21|22)$"))) | .count] | add // 0'; }
before=$(reads)
tune show -j H4 >"$TMP/show.json" || fail "show H4"
equal "NVIDIA: one adapter has two attributes to read" "$(($(reads) - before))" 2
equal "NVIDIA: they are shown" "$(jq -c '[.nodes[].nvidia.HCARPParameters.rpg_ai_rate]' "$TMP/show.json")" '[40]'

# Adapters that do not answer an attribute: the others are shown, and what is missing is named.
sim set nvidia_parameters.H1=off >/dev/null
tune show -j >"$TMP/show.json" || fail "show -j"
equal "NVIDIA: one silent adapter hides nothing of its type" \
	"$(jq -c '[.nodes[] | select(.nvidia.HCARPParameters) | .node] | sort' "$TMP/show.json")" '["H2","H3","H4"]'
equal "NVIDIA: it is counted" "$(jq -c '.nvidia_unread[] | [.attribute, .device_id, .ports, .silent, .refused, .not_asked]' \
	"$TMP/show.json")" '["HCARPParameters","0x101b",4,1,0,0]
["HCANPParameters","0x101b",4,1,0,0]'
tune show >"$TMP/show.log" || fail "show"
check "NVIDIA: and named" grep -q '^HCARPParameters is not shown for 1 of 4 ports of channel adapters of type 0x0002c9/0x101b: 1 did not answer; repeat' "$TMP/show.log"
for node in H2 H3; do sim set "nvidia_parameters.$node=off" >/dev/null; done
tune show >"$TMP/show.log" || fail "show"
check "NVIDIA: after three the rest is not asked" grep -q 'for 4 of 4 ports of .*: 3 did not answer, 1 were not asked because the first' "$TMP/show.log"
tune probe -j >"$TMP/probe.json" || fail "probe"
equal "NVIDIA: a record says so, too" \
	"$(jq -c '.types[] | select(.device_id == "0x101b") | .HCARPParameters' "$TMP/probe.json")" '{"not asked":1,"silent":3}'
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "NVIDIA: silent adapters are not odd" grep -q '^HCARPParameters is not shown for 4 of 4 ports' "$TMP/odd.log"
without "NVIDIA: and no line of the table has them" "$TMP/odd.log" 'H[123] '
