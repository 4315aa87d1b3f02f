#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A switch that routes packets of one SL adaptively: the contributors on that SL are not proved. There it is
# looked on and told; a root on another SL is tuned as ever.
. "$(dirname "$0")/lib.sh"

cat >"$TMP/fabric.yaml" <<'EOF'
name: two-sls
duration_ms: 100
topology:
  rate: 4x QDR
  nodes:
    - {host: [source1, source2, source3, source4, source5, source6]}
    - {host: [sink1, sink2]}
    - {switch: [leaf1, leaf2], ports: 8}
  links:
    - [source1, leaf1/1]
    - [source2, leaf1/2]
    - [source3, leaf1/3]
    - [source4, leaf1/4]
    - [source5, leaf1/5]
    - [source6, leaf1/6]
    - [leaf1/8, leaf2/8]
    - [sink1, leaf2/2]
    - [sink2, leaf2/3]
devices:
  nodes:
    leaf2: {profile: quantum2, adaptive_sls: 4}
traffic:
  - {from: [source1, source2, source3], to: sink1}
  - {from: [source4, source5, source6], to: sink2, sl: 2}
events:
  - {sink: sink1, rate: 1800 MB/s}
  - {sink: sink2, rate: 1800 MB/s}
EOF
start_sim "$TMP/fabric.yaml"
start_opensm --plugin
lid_of() { stock ibnetdiscover | sed -n "s/.*\"$1\".* lid \([0-9]*\) .*/\1/p" | head -n 1; }
leaf2=$(lid_of leaf2)
words() { stock perfquery --xmtsl "$leaf2" "$1" | sed -n "s/^XmtDataSL$2:\.*//p"; }
wait_until 20 eval '[ "$(words 3 2)" -gt 0 ] && [ "$(words 2 0)" -gt 0 ]' ||
	fail "perfquery --xmtsl: $(stock perfquery --xmtsl "$leaf2" 3)"
ok "perfquery --xmtsl sees the traffic by SL"
equal "and none of other SLs" "$(words 3 0) $(words 2 2)" "0 0"

write_config
# One that looks for a few intervals may miss a blocked sender.
planned()
{
	tune plan -j >"$TMP/plan.json" 2>"$TMP/plan.log"
	jq -e '(.routing | test("observed only: leaf2 port 3 .SL 2.")) and (.changes | length > 0) and .error == null' \
		"$TMP/plan.json"
}
wait_until 60 planned || fail "$(jq -c '{routing, error, summary}' "$TMP/plan.json")"
ok "a dry run plans for the other root"
equal "and for no other port" "$(jq -c '[.changes[] | select(.field == "Threshold") | .port] | unique' "$TMP/plan.json")" "[2]"
equal "nor for this SL" "$(jq '[.changes[] | select(.sl == 2)] | length' "$TMP/plan.json")" 0

start_tuned 'mode: apply'
wait_until 60 eval '[ "$(set_mads)" -gt 0 ]' || fail "$(tune status)"
ok "the root of the other SL is tuned"
seen() { tune status | grep -q '^Routing: .*for SL 2: .*observed only: leaf2 port 3 (SL 2)'; }
wait_until 60 seen || fail "$(tune status)"
ok "the one of this SL is told"
# A record is for others to see.
tune probe --save "$TMP/record.json" >/dev/null || fail "probe"
check "a record of devices tells of such routing" jq -e '.routing | test("1 switch .* for SL 2:")' "$TMP/record.json"
without "and has no names" "$TMP/record.json" -E 'leaf|sink|source'
check "in the log, too" grep -q 'observed only: leaf2 port 3 (SL 2)' "$TMP/tuned.log"
marking() { tune show -j | jq -c '[.nodes[] | select(.node == "leaf2") | .SwitchPortCongestionSetting[].port]'; }
reacting()
{
	stock ibccquery CACongestionSetting "$(lid_of "$1")" >"$TMP/ca.log" || fail "$(cat "$TMP/ca.log")"
	grep -c '^CCTI_Increase:\.*[1-9]' "$TMP/ca.log"
}
wait_until 60 eval '[ "$(marking)" = "[2]" ]' || fail "$(tune show -j)"
ok "its port does not mark, the other one does"
equal "adapters react on all SLs but this" "$(reacting source1)" 15
equal "which is the one left out" "$(grep '^CCTI_Increase:' "$TMP/ca.log" | sed -n '3s/.*\.//p')" 0
wait_until 20 eval 'tune status | grep -q "^State: *ok"' || fail "$(tune status)"
ok "the daemon is well"

# Both SLs: nothing is left to be tuned.
stop "$TUNED_PID"
write_config
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "$(cat "$TMP/rollback.log")"
sim set adaptive_sls.leaf2=5 >/dev/null
before=$(set_mads)
refused() { ! tune apply -y >"$TMP/apply.log" 2>&1 && grep -q 'observed only: .*nothing is written unless trust_lft' "$TMP/apply.log"; }
wait_until 60 refused || fail "$(cat "$TMP/apply.log")"
ok "an apply is refused, and told why"
check "with the SL of each" grep -q 'leaf2 port [23] (SL [02])' "$TMP/apply.log"
equal "nothing was written" "$(set_mads)" "$before"
