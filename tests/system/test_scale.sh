# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A fabric of 648 hosts and 54 switches: all ports are read, each node gets settings of its own, and
# nothing is sent for nothing.
. "$(dirname "$0")/lib.sh"
BOOT_SECONDS=90
TOOL_SECONDS=60

tree 36 2 >"$TMP/tree.yaml"
start_sim "$TMP/tree.yaml"
start_opensm
bench() { stock "$IBCC_BUILD/ibcc-bench" "$@"; }
all_fresh() { bench poll --alone --repeat 1 -j >"$TMP/poll.json" && jq -e '.ports == 2592 and .fresh == 2592' "$TMP/poll.json"; }
# The simulator reads the last LIDs a moment after they are set.
wait_until 60 all_fresh || fail "not all ports are read: $(cat "$TMP/poll.json")"
ok "all 2592 ports are read"
equal "with two MADs each, one more at hosts, and a few for the clock" \
	"$(jq '.mads >= 5832 and .mads < 5832 + 32' "$TMP/poll.json")" true

# 648 settings with two blocks of tables, 54 settings with one block of 37 or two of 32 ports.
before=$(set_mads)
bench push -j >"$TMP/push.json" 2>"$TMP/push.log" || fail "push: $(cat "$TMP/push.json" "$TMP/push.log")"
step() { jq -c ".steps[] | select(.step == \"$1\") | [.writes, .verified, .set_mads, .mads]" "$TMP/push.json"; }
writes=$(jq '.steps[0].writes' "$TMP/push.json")
[ "$writes" -ge $((648 * 3 + 54 * 2)) ] && [ "$writes" -le $((648 * 3 + 54 * 3)) ] || fail "writes: $writes"
equal "each node gets its own, verified" "$(step 'to each its own')" "[$writes,$writes,$writes,$((2 * writes))]"
equal "the same again: nothing is sent" "$(step 'the same again')" "[0,0,0,0]"
equal "one value: one node's Set and Get" "$(step 'one value of one node')" "[1,1,1,2]"
equal "and back" "$(step back)" "[$writes,$writes,$writes,$((2 * writes))]"
equal "to what was there" "$(step 'back again')" "[0,0,0,0]"
equal "the fabric has seen no other Set" "$(($(set_mads) - before))" "$((2 * writes + 1))"
