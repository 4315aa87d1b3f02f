# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Counters that tell nothing are not taken for an idle fabric, and silence about something else is not taken for
# counters that tell nothing.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm 'sweep_interval 0'
has_lids() { sim settings -j | jq -e 'all(.rows[]; .lid > 0)'; }
wait_until 20 has_lids || fail "no LIDs"

# A CC_Key at each node, protected, that the daemon does not have: the class is silent, TimeStamp with it.
for lid in $(sim settings -j | jq '.rows[].lid'); do
	stock ibccconfig CongestionKeyInfo "$lid" 0xc0de 1 0 0 >"$TMP/cc.log" 2>&1 || fail "ibccconfig: $(cat "$TMP/cc.log")"
done
write_config 'apply_via: direct' 'timeout_ms: 50' 'retries: 1' 'node_window: 1' # as is the default
rc=0
tune -n -j >"$TMP/plan.json" 2>"$TMP/plan.log" || rc=$?
equal "all ports are read where TimeStamp is not answered" \
	"$(jq -c '[.fabric.ports_fresh, .fabric.ports_stale + .fabric.ports_unreachable]' "$TMP/plan.json")" '[14,0]'
equal "which is a plan" "$rc $(jq -c .fabric.blind "$TMP/plan.json")" '0 null'

# No counter is read in time: no plan, and no word of a fabric without congestion.
write_config 'apply_via: direct' 'pass_deadline_ms: 10' 'timeout_ms: 1000'
sim set mad_delay_us=50000 || fail "set"
rc=0
tune -n >"$TMP/plan.txt" 2>"$TMP/plan.log" || rc=$?
equal "a plan from no counters is none" "$rc" 1
if grep -q 'No congestion' "$TMP/plan.txt" "$TMP/plan.log"; then fail "$(cat "$TMP/plan.txt")"; fi
tr -s ' \n' ' ' <"$TMP/plan.log" >"$TMP/plan.line"
grep -q 'counters of 14 of 14 ports are not usable (they were not read): nothing is decided' "$TMP/plan.line" ||
	fail "the reason: $(cat "$TMP/plan.log")"
ok "and says why"
stop "$SIM_PID"

# PortXmitWait of 32 bits could go round in 1.4 s at these switches. Where nothing waits it stands still, which tells
# as much in a longer interval.
{
	tree 4 2 | sed 's/4x QDR/4x HDR/'
	printf 'devices:\n  hosts: connectx-6\n  switches: quantum2\n'
} >"$TMP/quantum.yaml"
SIM=$SIM-quantum
start_sim "$TMP/quantum.yaml" --speed 1
start_opensm --tag quantum 'sweep_interval 0'
wait_until 20 has_lids || fail "no LIDs"
start_tuned 'apply_via: direct' 'interval_ms: 2000'
# The unit of what it counts is known after some passes.
wait_until 60 status '.fabric.pass >= 8' || fail "no passes: $(cat "$TMP/status.json")"
equal "an idle fabric is one without congestion at any interval" \
	"$(jq -c '[.state, .reason, .fabric.blind, .fabric.ports_saturated, .decision]' "$TMP/status.json")" \
	'["ok",null,null,0,"no congestion"]'
