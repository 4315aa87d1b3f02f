# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A fabric of 648 hosts and 54 switches: all ports are read, each node gets settings of its own, and
# nothing is sent for nothing.
. "$(dirname "$0")/lib.sh"
BOOT_SECONDS=90
TOOL_SECONDS=60

tree 36 2 >"$TMP/tree.yaml"
start_sim "$TMP/tree.yaml" --speed 1
start_opensm 'sweep_interval 0' # its own SMPs are not to be counted
lab() { stock "$IBCC_BUILD/ibcc-lab" "$@"; }
all_fresh() { lab poll --alone --repeat 1 -j >"$TMP/poll.json" && jq -e '.ports == 2592 and .fresh == 2592 and .mads <= 5832' "$TMP/poll.json"; }
# The simulator reads the last LIDs a moment after they are set; and a busy machine may lose a few MADs, which are then
# sent again.
wait_until 60 all_fresh || fail "not all ports are read: $(cat "$TMP/poll.json")"
ok "all 2592 ports are read"
equal "with two MADs each, one more at hosts" "$(jq '.mads' "$TMP/poll.json")" 5832

# 648 settings with two blocks of tables, 54 settings with one block of 37 or two of 32 ports.
before=$(set_mads)
lab push -j >"$TMP/push.json" 2>"$TMP/push.log" || fail "push: $(cat "$TMP/push.json" "$TMP/push.log")"
step() { jq -c ".steps[] | select(.step == \"$1\") | [.writes, .verified, .set_mads, .mads]" "$TMP/push.json"; }
writes=$(jq '.steps[0].writes' "$TMP/push.json")
[ "$writes" -ge $((648 * 3 + 54 * 2)) ] && [ "$writes" -le $((648 * 3 + 54 * 3)) ] || fail "writes: $writes"
equal "each node gets its own, verified" "$(step 'to each its own')" "[$writes,$writes,$writes,$((2 * writes))]"
equal "the same again: nothing is sent" "$(step 'the same again')" "[0,0,0,0]"
equal "one value: one node's Set and Get" "$(step 'one value of one node')" "[1,1,1,2]"
equal "and back" "$(step back)" "[$writes,$writes,$writes,$((2 * writes))]"
equal "to what was there" "$(step 'back again')" "[0,0,0,0]"
equal "the fabric has seen no other Set" "$(($(set_mads) - before))" "$((2 * writes + 1))"

# The fabric is found with fewer SMPs than that, once; and when nothing moves switches have one request
# or two, as hosts have.
lab poll --alone --repeat 1 -j >"$TMP/poll.json" || fail "poll"
jq -c '[.discovery, .limited, .rest]' "$TMP/poll.json"
# All 1296 links read QDR, so one end of each is asked whether it is FDR10.
equal "SMPs of a discovery: 1297 nodes behind ports, 702 names, 54 switches, 2646 ports, 594 blocks of tables, rates" \
	"$(jq .discovery.smps "$TMP/poll.json")" $((1297 + 702 + 54 + 2646 + 594 + 1296))
equal "MADs of a pass at rest: two for each switch, three for each host" \
	"$(jq .rest.mads "$TMP/poll.json")" $((54 * 2 + 648 * 3))
equal "SMPs of a pass" "$(jq .rest.smps "$TMP/poll.json")" 0

smps() { sim stats -j | jq '[.rows[] | select(.class == "0x81" or .class == "0x01") | .count] | add // 0'; }
passes() { tune status -j >"$TMP/status.json" && jq -e ".fabric.pass >= $1" "$TMP/status.json"; }
before=$(smps)
start_tuned 'apply_via: direct' 'node_window: 1' 'node_gap_us: 2000' 'pass_deadline_ms: 20000' 'interval_ms: 1000'
wait_until 60 passes 3 || fail "the daemon does not poll: $(jq -c '[.state, .reason]' "$TMP/status.json")"
n=$(($(smps) - before))
[ "$n" -lt 7000 ] || fail "a daemon in direct mode sent $n SMPs"
ok "a daemon in direct mode sends $n SMPs"
wait_until 60 passes $(($(jq .fabric.pass "$TMP/status.json") + 3)) || fail "the daemon does not poll"
equal "and none later" "$(($(smps) - before))" "$n"
equal "as it says itself" "$(jq .mads.smps "$TMP/status.json")" "$n"
jq -e '.mads.busiest.per_second > 0 and .mads.per_second > .mads.busiest.per_second and .mads.window == 32' \
	"$TMP/status.json" >/dev/null || fail "load: $(jq -c .mads "$TMP/status.json")"
ok "and how much it asks of the fabric: $(jq -c '.mads | [.per_second, .busiest]' "$TMP/status.json")"
