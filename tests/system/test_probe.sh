#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The inventory of a mixed fabric: right for every device type, and a record that tells no node from
# another.
. "$(dirname "$0")/lib.sh"

cat >"$TMP/fabric.yaml" <<'YAML'
name: mixed
title: Two switches, five kinds of adapters
duration_ms: 100
topology:
  rate: 4x QDR
  mtu_bytes: 2048
  nodes:
    - {host: [plain, cx6a, cx6b, cx3, qib, sharp]}
    - {switch: [spine, leaf], ports: 8}
  links:
    - [cx6a, spine/1]
    - [cx6b, spine/2]
    - [cx3, leaf/1]
    - [qib, leaf/2]
    - [plain, leaf/3]
    - [sharp, spine/3]
    - [spine/8, leaf/8]
traffic: []
devices:
  nodes:
    cx6a: {profile: connectx-6, nvidia_cc: on}
    cx6b: connectx-6
    cx3: {profile: connectx-3, a10: no}
    qib: qib
    sharp: {profile: sharp-an, a10: no}
    plain: {cc_key: 0x77}
    spine: {profile: quantum2, adaptive_sls: 2}
    leaf: switch-ib2
YAML
start_sim "$TMP/fabric.yaml"
start_opensm
write_config 'apply_via: direct'
tune probe -j --save "$TMP/record.json" >"$TMP/probe.json" 2>"$TMP/probe.log" || fail "probe"
is() # TEXT DEVICE FILTER
{
	jq -e ".types[] | select(.device_id == \"$2\") | $3" "$TMP/probe.json" >/dev/null ||
		fail "$1: $(jq -c ".types[] | select(.device_id == \"$2\")" "$TMP/probe.json")"
	ok "$1"
}

equal "seven types" "$(jq '.types | length' "$TMP/probe.json")" 7
is "adapters are counted by type" 0x101b '.count == 2 and .name == "ConnectX-6" and .type == "channel adapter"'
is "an adapter where NVIDIA's control is on" 0x101b '.nvidia_cc == {on: 1, off: 1} and
	.annex_a10 == {"yes, not used": 1, yes: 1}'
is "parameters of that control, once for both" 0x101b '(.HCARPParameters | to_entries | length == 1 and .[0].value == 2 and
	(.[0].key | test("^clamp_tgt_rate 0, .*rpg_ai_rate 5, .*initial_alpha_value 1023$"))) and
	(.HCANPParameters | length == 1) and (has("SLMapping") | not)'
is "and of the ports of a switch" 0xd2f2 '(.PortProfileSettings | to_entries | length == 1 and .[0].value == 4 and
	(.[0].key | contains("profile1_percent 20,"))) and (.SLMapping | map(.) == [4])'
is "none of a switch without it" 0xcf08 'has("PortProfileSettings") | not'
is "what its kernel answers is known for what it is" 0x101b '.counters["PortXmitWait, not claimed"] == 2 and
	(.counters | has("FECN") | not) and .tick == {"not known": 2}'
is "one without the annex" 0x1003 '.annex_a10 == {no: 1} and (has("table_entries") | not)'
is "its tick" 0x1003 '.tick == {"3, PortSamplesControl": 1}'
is "QLogic's rules" 0x7322 '.annex_a10 == {yes: 1} and (.attributes | has("CongestionLog") | not)'
is "a switch that routes adaptively" 0xd2f2 '.adaptive_routing == {on: 1} and .type == "switch" and
	.nvidia_cc == {off: 1}'
is "one that could" 0xcf08 '.adaptive_routing == {off: 1} and .tick == {"31, PortSamplesControl": 1}'
is "an unknown device" 0x0000 '.name == "" and .attributes.CongestionLog == 1 and
	.table_entries == {"128": 1}'
is "a key that is not ours" 0x0000 '.cc_key == {another: 1}'
is "and none" 0xcf08 '.cc_key == {none: 1}'
is "blocks of SwitchPortCongestionSetting, as far as so few ports tell" 0xcf08 '.port_block == {"32 or 48": 1} and
	.attributes.SwitchPortCongestionSetting == 1'
is "an aggregation node" 0xcf09 '.type == "aggregation node" and .count == 1 and .annex_a10 == {no: 1}'
is "speeds" 0xcf08 '.link_mbps == {"32000": 4}'
is "firmware" 0x101b '.firmware == {"20.31.1014": 2}'
is "of each type" 0x1003 '.firmware == {"2.42.5000": 1}'
is "and of switches" 0xcf08 '.firmware == {"15.2008.2036": 1}'
is "none of a device without the class" 0x7322 'has("firmware") | not'
lid_of() { stock ibnetdiscover | sed -n "s/.*\"$1\".* lid \([0-9]*\) .*/\1/p" | head -n 1; }
told() { stock vendstat -N "$(lid_of "$1")" | sed -n 's/^fw_version: *//p'; }
equal "as vendstat reads it" "$(told cx3) $(told cx6a) $(told leaf)" "02.42.5000 20.31.1014 15.2008.2036"
equal "what is on is told" "$(jq -r .nvidia "$TMP/probe.json" | grep -c 'is on at some nodes')" 1
equal "and routes" "$(jq -r .routing "$TMP/probe.json" | grep -c '1 switch .* for SL 1:')" 1

same "the record is the answer" "$TMP/probe.json" "$TMP/record.json"
stock ibnetdiscover >"$TMP/discovered"
check "names are on the fabric" grep -q cx6a "$TMP/discovered"
for word in cx6a cx6b cx3 qib plain sharp spine leaf; do
	without "the record does not name $word" "$TMP/record.json" "$word"
done
sed -n 's/.*guid=0x\([0-9a-f]*\).*/\1/p' "$TMP/discovered" | sort -u >"$TMP/guids"
check "GUIDs are known" test -s "$TMP/guids"
without "the record has no GUID" "$TMP/record.json" -if "$TMP/guids"
without "the record has no address" "$TMP/record.json" -i 'lid\|guid\|0x[0-9a-f]\{8,\}'
tune probe --save "$TMP/record.json" >/dev/null 2>"$TMP/probe.log"
equal "a file that is there stays" $? 1
tune probe >"$TMP/table" || fail "probe"
check "the table has all types" test "$(grep -c '^[A-Z0].*/0x' "$TMP/table")" = 7
equal "nothing was written" "$(set_mads)" 0
start_tuned 'apply_via: direct'
wait_until 10 eval 'tune probe -j | jq -e ".types | length == 7"' || fail "the daemon's probe"
ok "the daemon answers, too"

# A SHARP aggregation node is no host: it is named, and what it lacks stops no plan.
stop "$TUNED_PID"
stop "$OSM_PID"
stop "$SIM_PID"
two_switches 5 | sed 's/^Hca 1 "H4"/vendid=0x2c9\ndevid=0xcf09\n&/' >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm
write_config 'apply_via: direct'
for node in H3 H4; do sim set "cc_support.$node=off" >/dev/null; done
tune probe -j >"$TMP/probe.json" || fail "probe"
is "the aggregation node is named" 0xcf09 '.type == "aggregation node" and .count == 1'
tune plan -j >"$TMP/plan.json" 2>/dev/null
equal "only the host is without" "$(jq -c '[.unreachable[].node]' "$TMP/plan.json")" '["H3"]'
sim set cc_support.H3=on >/dev/null
check "an apply is not refused for it" tune apply -y

# A tree of 648 hosts of all kinds: every node is asked, and each type is what it is.
stop "$OSM_PID"
stop "$SIM_PID"
BOOT_SECONDS=90
TOOL_SECONDS=60
{
	tree 36 2
	cat <<-YAML
	devices:
	  hosts: connectx-6
	  switches: switch-ib2
	  nodes:
	    h0: qib
	    h1: {profile: connectx-3, a10: no}
	    h325: {profile: connectx-3, a10: no}
	    h647: {nvidia_cc: none}
	YAML
	for s in 0 1 2 3 4 5; do echo "    s1-$s: {profile: quantum2, adaptive_sls: 1}"; done
} >"$TMP/tree.yaml"
start_sim "$TMP/tree.yaml"
start_opensm
tune probe -j >"$TMP/probe.json" 2>"$TMP/probe.log" || fail "probe of a tree"
is "645 adapters that the kernel answers for" 0x101b '.count == 645 and .counters["PortXmitWait, not claimed"] == 645'
is "two without the annex" 0x1003 '.count == 2 and .annex_a10 == {no: 2}'
is "one of QLogic's" 0x7322 '.count == 1'
is "48 switches of one kind" 0xcf08 '.count == 48 and .port_block == {"32": 48} and .tick == {"31, PortSamplesControl": 48}'
is "six of another, which route adaptively" 0xd2f2 '.count == 6 and .adaptive_routing == {on: 6}'
equal "no other device" "$(jq -c '[.types[].count] | add' "$TMP/probe.json")" 702
