# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# OpenSM's own congestion control on a fabric that was just brought up: it sends its Sets as soon as it
# has set LIDs, routes and port states, and a node answers them, as hardware does.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm 'congestion_control TRUE' 'cc_max_outstanding_mads 64' 'cc_sw_cong_setting_threshold 9' \
	'cc_sw_cong_setting_control_map 0x1f' 'cc_ca_cong_setting_control_map 0xffff'
nodes=$(sim ports -j | jq '[.rows[].node] | unique | length')
sets() { sim sets -j | jq "[.rows[]$1] | length"; }
all() { [ "$(sim sets -j | jq '[.rows[] | .lid] | unique | length')" = "$nodes" ]; }
wait_until 20 all || fail "not all $nodes nodes got a Set: $(sets '')"
equal "no Set gets lost" "$(sets ' | select(.answer != "yes")')" 0
without "OpenSM heard of no failure" "$OSM_LOG" 'ERR C106'
equal "each switch has the threshold" \
	"$(sim settings -j | jq -c '[.rows[].switch | values | .Threshold] | unique')" '[9]'
