# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A plan for many nodes is begun with a few; settings that the hardware ignores are said to have no
# effect, and are taken back.
. "$(dirname "$0")/lib.sh"

# Nine hosts write to one that is slow, a tenth to another by the same link.
cat >"$TMP/many.yaml" <<-YAML
name: many
title: Nine writers to a slow host, one victim
duration_ms: 100
topology:
  rate: 4x QDR
  mtu_bytes: 2048
  nodes:
    - {host: [w1, w2, w3, w4, w5, w6, w7, w8, w9, v1, slow, fast]}
    - {switch: [leaf1, leaf2], ports: 12}
  links:
$(for i in 1 2 3 4 5 6 7 8 9; do echo "    - [w$i, leaf1/$i]"; done)
    - [v1, leaf1/10]
    - [leaf1/12, leaf2/12]
    - [slow, leaf2/1]
    - [fast, leaf2/2]
traffic:
  - {name: write, from: [w1, w2, w3, w4, w5, w6, w7, w8, w9], to: slow, kind: hot}
  - {name: victim, from: v1, to: fast, kind: victim}
events:
  - {sink: slow, at_ms: 0, rate: 8 Gb/s}
YAML
hosts_on() { sim settings -j | jq '[.rows[] | select(.node | startswith("w")) | select(.ca.sl[0].CCTI_Increase > 0)] | length'; }
all_on() { [ "$(tune status -j | jq '.writes_pending == 0 and .mads.sets > 20')" = true ]; }

start_sim "$TMP/many.yaml" --speed 0.02
start_opensm --plugin
start_tuned 'mode: apply'
wait_until 40 all_on || fail "not all nodes have settings: $(tune status)"
ok "the loop settles"
tune history -j | jq -c '[.transactions | reverse[] | {action, nodes, step, summary}]' >"$TMP/history.json"
check "the first transaction is the root's switch and three hosts" \
	jq -e '.[0].step == "first" and (.[0].summary | test("4 nodes first, [6-9] "))' "$TMP/history.json"
check "the next one is for the others" \
	jq -e '.[1].step == "the_rest"' "$TMP/history.json"

# A switch that takes settings, and tells them, and does nothing.
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"
sim set cc_ignores.leaf2=on >/dev/null
stop "$TUNED_PID"
rm -f "$TMP"/state.db*
start_tuned 'mode: apply' 'rollout: all'
ignored() { tune status | grep -q '^State: *degraded: no effect after 8 polling cycles: "leaf2" port 1'; }
wait_until 60 ignored || fail "$(tune status)"
tune history -j | jq -e '[.transactions[].step == "first"] | any | not' >/dev/null ||
	fail "rollout: all begins with a few: $(tune history)"
ok "rollout: all begins with all"
ok "the status says that there is no effect"
check "in the log, too" grep -q 'yet no FECN or BECN counter moves: the hardware ignores it' "$TMP/tuned.log"
off() { [ "$(sim settings -j | jq -c '[.rows[] | select((.ca.sl[0].CCTI_Increase // 0) > 0 or (.switch.Threshold // 0) > 0)] | length')" = 0 ]; }
wait_until 10 off || fail "$(sim settings -j | jq -c '.rows[]')"
ok "what was written is taken back"
n=$(set_mads)
passes=$(tune status -j | jq .fabric.pass)
later() { [ "$(tune status -j | jq .fabric.pass)" -gt $((passes + 20)) ]; }
wait_until 30 later || fail "no passes any more"
equal "and not tried again" "$(set_mads)" "$n"
tune status --detailed-exitcode >/dev/null
equal "--detailed-exitcode tells" $? 2
