#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# ibcc-tune policy --check compares numbers of a policy file with what simulated adapters and switches of NVIDIA's report. It
# sends no Set.
. "$(dirname "$0")/lib.sh"

two_switches 5 | sed -e 's/^Switch/vendid=0x2c9\ndevid=0xd2f2\n&/' -e 's/^Hca/vendid=0x2c9\ndevid=0x101b\n&/' >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm
write_config 'apply_via: direct'
mkdir "$TMP/etc"
file=$TMP/etc/policy.conf
printf '%s\n' 'rpg_ai_rate: 5' 'RPG_TIME_RESET 300' 'rpg_gd: eleven' 'profile1_percent=20' 'mode: 1' >"$file"
rows() { jq -c '.numbers[] | [.key, .line, .number, .ports, .ports_equal,
	(.other | if . then "\(.node)/\(.port): \(.number)" else null end)]' "$TMP/check.json"; }
compare() { rc=0; tune policy "$file" --check "$@" >"$TMP/check.json" 2>"$TMP/err" || rc=$?; }

for node in S1 S2 H1 H2 H3 H4; do sim set "nvidia_cc.$node=on" >/dev/null; done
compare -j --detailed-exitcode
equal "all ports have the file's numbers" "$(rows)" '["rpg_time_reset",2,300,4,4,null]
["rpg_ai_rate",1,5,4,4,null]
["profile1_percent",4,20,6,6,null]'
equal "which is no difference" "$rc" 0
equal "a key without a number is named" "$(jq -c .not_compared "$TMP/check.json")" '["rpg_gd"]'
equal "the control is on at all nodes" "$(jq -cS .control "$TMP/check.json")" '{"first_off":null,"off":0,"on":6}'

# Reading changes nothing, so a file is compared that another user owns, that is read-only, or that a link names.
mkdir "$TMP/other" && cp "$file" "$TMP/other/policy.conf" && ln -s "$TMP/other" "$TMP/link" || fail "a link"
chmod 444 "$TMP/other/policy.conf" && chmod 775 "$TMP/other"
[ "$(id -u)" != 0 ] || chown 65534 "$TMP/other" "$TMP/other/policy.conf"
check "a file that would not be changed" tune policy "$TMP/link/policy.conf" --check
cp "$TMP/check.log" "$TMP/table"
check "is compared" grep -Eq '^rpg_ai_rate +1 +5 +4 of 4' "$TMP/table"
check "and what equals is said" grep -q '^Equal: ' "$TMP/table"
check "and that the control is on" grep -q '^Control: *on at all nodes that were read (6)' "$TMP/table"
tune policy "$TMP/link/policy.conf" rpg_ai_rate=6 -y >"$TMP/out" 2>"$TMP/err"
equal "and a change of it is still refused" $? 1

sim set nvidia_cc.H3=off >/dev/null
compare -j
equal "the control is off at one node" "$(jq -cS .control "$TMP/check.json")" '{"first_off":"H3","off":1,"on":5}'
compare
check "and this is said" grep -q "^Control: *off at 1 of the nodes that were read (6), H3 first: .*no effect" "$TMP/check.json"
sim set nvidia_cc.H3=on >/dev/null

# As after a change of the file that OpenSM has not read.
check "a change of the file" tune policy -y "$file" profile1_percent=21
sim set nvidia_ai_rate.H4=40 >/dev/null
compare -j --detailed-exitcode
equal "an adapter and all switch ports differ" "$(rows)" '["rpg_time_reset",2,300,4,4,null]
["rpg_ai_rate",1,5,4,3,"H4/1: 40"]
["profile1_percent",4,21,6,0,"S1/1: 20"]'
equal "which is a difference" "$rc" 2
compare
equal "without that option the exit status is 0" "$rc" 0
check "a table for people" grep -Eq '^rpg_ai_rate +1 +5 +3 of 4 +40 at H4/1' "$TMP/check.json"
check "it says what a difference means" grep -q '^Differs: .*rpg_ai_rate, profile1_percent.*restart OpenSM' "$TMP/check.json"
check "with what was not compared" grep -q '^Not compared, .*: rpg_gd\.' "$TMP/check.json"

# Adapters that do not answer.
for node in H1 H2 H3 H4; do sim set "nvidia_parameters.$node=off" >/dev/null; done
printf '%s\n' 'rpg_ai_rate: 5' 'profile1_percent=20' >"$file"
compare -j --detailed-exitcode
equal "what no device reports is not compared" "$(rows)" '["rpg_ai_rate",1,5,0,0,null]
["profile1_percent",2,20,6,6,null]'
equal "and counts as a difference" "$rc" 2
compare
check "it says what no port has reported" grep -q '^Unread: *no port has reported rpg_ai_rate\..*key_dir' "$TMP/check.json"
without "and that is no difference" "$TMP/check.json" '^Differs'
equal "nothing is set" "$(set_mads)" 0

printf 'ca_algo_import_start\nca_algo_import_end\n' >"$file"
compare
equal "a file without such keys" "$rc" 1
check "is an error" grep -q 'has no key that is a field of NVIDIA.s MADs' "$TMP/err"
printf 'a_end\n' >"$file"
compare
equal "a file that cannot be read" "$rc" 1
check "as well" grep -q "^$file:1:1: this ends a block" "$TMP/err"
compare rpg_ai_rate=6
check "a change is refused" grep -q 'want the policy file alone' "$TMP/err"
