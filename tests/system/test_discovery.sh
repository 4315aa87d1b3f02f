# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A discovery of which a part got lost is told, and takes no better one's place.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm 'sweep_interval 0'
NODES=8

told() { jq -c '[.state, .reason, .fabric.nodes, .discovery_trouble]' "$TMP/status.json"; }
incomplete='discovery of the fabric is incomplete: (no answer from the|.* left [0-9]+ request)'

# lossy PERMILLE: MADs to all nodes but our own get lost.
lossy()
{
	local n
	for n in leaf1 leaf2 source2 source3 source4 destination0 destination1; do
		sim set "mad_loss_permille.$n=$1" || fail "set"
	done
}

# By the command line: all nodes, or the plan names what is missing.
write_config 'apply_via: direct' 'timeout_ms: 20' 'retries: 1'
sim set mad_loss_permille.leaf1=1000 || fail "set"
tune plan >"$TMP/plan.txt" 2>"$TMP/plan.log"
equal "a plan of our own adapter alone is none" $? 1
check "and names the switch that is silent" \
	grep -q '^No answer from: the switch behind "source1" port 1' "$TMP/plan.txt" "$TMP/plan.log"
lossy 900
named=no
for ((i = 0; i < 50; i++)); do
	rc=0
	tune -n -j >"$TMP/plan.json" 2>"$TMP/plan.log" || rc=$?
	# Where counters got lost, too, that is the reason to decide nothing.
	[ "$rc" = 0 ] || grep -q 'counters' "$TMP/plan.log" || fail "status $rc: $(cat "$TMP/plan.log")"
	if jq -se ".[0].fabric.nodes < $NODES" "$TMP/plan.json" >"$TMP/jq.log" 2>&1; then
		jq -se '.[0] | (.fabric.gaps | length > 0) and (.fabric.silent | length > 0)' "$TMP/plan.json" >"$TMP/jq.log" ||
			fail "a plan for some nodes does not name what is missing: $(cat "$TMP/plan.json")"
		named=yes
		break
	fi
done
[ "$named" = yes ] || fail "no discovery with gaps in $i plans"
ok "a plan is for all nodes, or names the others: $(jq -sc '.[0].fabric.silent' "$TMP/plan.json")"
lossy 800
for ((i = 0; i < 50; i++)); do
	tune show >"$TMP/show.txt" 2>"$TMP/show.log" || break
done
grep -qE "$incomplete" "$TMP/show.log" || fail "show does not say that something is missing: $(cat "$TMP/show.log")"
[ -s "$TMP/show.txt" ] || fail "show shows nothing"
ok "what was found is shown, with the reason why that is not all"
lossy 0

# By the daemon: what it knows stays.
start_tuned 'apply_via: direct' 'timeout_ms: 20' 'retries: 1'
wait_until 20 status ".state == \"ok\" and .fabric.nodes == $NODES and .discovery_trouble == null" ||
	fail "the daemon does not get going: $(told)"
lossy 800
trouble() { status ".fabric.nodes == $NODES and .state == \"degraded\" and (.discovery_trouble // \"\" | test(\"incomplete\"))"; }
wait_until 40 trouble || fail "an incomplete discovery is not told: $(told)"
ok "an incomplete discovery is told, and the fabric stays as it was"
lossy 0
wait_until 40 status ".state == \"ok\" and .fabric.nodes == $NODES and .discovery_trouble == null" ||
	fail "no recovery: $(told)"
ok "and the next complete one is told, too"
stop "$TUNED_PID"

# A node that never answers is a part of the fabric that one has to do without.
sim set mad_loss_permille.source2=1000 || fail "set"
# Long enough for our own port to answer on a busy machine: no other node has to be missed.
start_tuned 'apply_via: direct' 'timeout_ms: 80' 'retries: 2'
wait_until 40 status ".state == \"ok\" and .fabric.nodes == $NODES - 1 and (.discovery_trouble | test(\"the node behind .leaf1. port\"))" ||
	fail "a silent node: $(told)"
ok "a silent node is told, and the others are tuned"
equal "without another discovery" "$(jq .discoveries "$TMP/status.json")" 1
rc=0
tune disable -y >"$TMP/disable.log" 2>&1 || rc=$?
[ "$rc" = 1 ] || fail "disable: status $rc"
grep -qE "$incomplete.*so the nodes that it missed were not changed" "$TMP/disable.log" ||
	fail "disable does not say that it missed a node: $(cat "$TMP/disable.log")"
ok "what is to reach all nodes says that it did not"
