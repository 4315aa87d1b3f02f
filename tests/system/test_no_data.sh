# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Counters that tell nothing are not taken for an idle fabric, and silence about something else is not taken for
# counters that tell nothing.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm 'sweep_interval 0'
has_lids() { sim settings -j | jq -e 'all(.rows[]; .lid > 0)'; }
wait_until 20 has_lids || fail "no LIDs"

# A CC_Key at each node, protected, that nobody has told us: the class is silent, TimeStamp with it.
for lid in $(sim settings -j | jq '.rows[].lid'); do
	stock ibccconfig CongestionKeyInfo "$lid" 0xc0de 1 0 0 >"$TMP/cc.log" 2>&1 || fail "ibccconfig: $(cat "$TMP/cc.log")"
done
write_config 'apply_via: direct' 'clock: auto' 'timeout_ms: 50' 'retries: 1'
plan() { tune -n -j >"$TMP/plan.json" 2>"$TMP/plan.log"; }
planned() { plan; jq -e "$1" "$TMP/plan.json"; }
plan
equal "all ports are read where TimeStamp is not answered" \
	"$(jq -c '[.fabric.ports_fresh, .fabric.ports_stale + .fabric.ports_unreachable]' "$TMP/plan.json")" '[14,0]'
wait_until 30 planned '.roots | length > 0' || fail "no root: $(cat "$TMP/plan.json")"
ok "congestion is seen"

# Too few counters: no plan, and no word of a fabric without congestion.
sim set mad_loss_permille.leaf2=0 traffic=off || fail "set"
for n in source1 source2 source3 source4 leaf1 leaf2 destination0 destination1; do
	sim set "pma_qp.$n=77" || fail "set"
done
rc=0
tune -n >"$TMP/plan.txt" 2>"$TMP/plan.log" || rc=$?
equal "a plan from no counters is none" "$rc" 1
if grep -q 'No congestion' "$TMP/plan.txt"; then fail "$(cat "$TMP/plan.txt")"; fi
cat "$TMP/plan.txt" "$TMP/plan.log"
