# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Nodes that are silent from the start, in direct mode: the rest is decided on, the gap is named with the LIDs
# behind it, and only the gap is asked again.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm 'sweep_interval 0'
lid() { sim settings -j | jq --arg n "$1" '.rows[] | select(.node == $n).lid'; }
has_lids() { [ "$(lid destination1)" -gt 0 ] && [ "$(lid leaf2)" -gt 0 ]; }
wait_until 20 has_lids || fail "no LIDs"
SINK=$(lid destination1)
SOURCE=$(lid source2)

silent() { sim set "mad_loss_permille.$1=1000" || fail "set"; }
heard() { sim set "mad_loss_permille.$1=0" || fail "set"; }
plan() { tune -n -j >"$TMP/plan.json" 2>"$TMP/plan.log"; }
gap() { jq -c '.fabric.gaps[] | [.node, .port, .leads_to, .lids]' "$TMP/$1.json"; }
roots() { jq -c '[.roots[] | [.node, .port]]' "$TMP/plan.json"; }
planned() { plan && jq -e "$1" "$TMP/plan.json"; }
write_config 'apply_via: direct'

# The slow receiver is silent. Its port, and the tables, tell all that is needed.
silent destination1
check "stock tools do not reach it either" sh -c '! "$@"' - timeout 30 "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- \
	smpquery -t 200 -L nodeinfo "$SINK"
plan || fail "plan: $(cat "$TMP/plan.log")"
equal "the gap is named" "$(gap plan)" "[\"leaf2\",2,\"adapter\",[$SINK]]"
# OpenSM's table of the switch, by a stock tool.
stock smpquery -D nodeinfo 0,1 >"$TMP/nodeinfo.txt" 2>&1 || fail "smpquery"
stock ibroute "$(lid leaf2)" >"$TMP/ibroute.txt" 2>&1 || fail "ibroute"
equal "as ibroute has it" "$(awk -v l="$(printf '0x%04x' "$SINK")" '$1 == l {print $2 + 0}' "$TMP/ibroute.txt")" 2
wait_until 30 planned '.roots | length == 1' || fail "no root: $(cat "$TMP/plan.json")"
equal "its port is the root" "$(roots)" '[["leaf2",2]]'
tune -n >"$TMP/plan.txt" 2>&1 || fail "plan"
tr -s ' \n' ' ' <"$TMP/plan.txt" >"$TMP/plan.line"
grep -qF "No answer from: the node behind \"leaf2\" port 2 (LID $SINK)" "$TMP/plan.line" || fail "$(cat "$TMP/plan.txt")"
ok "plan says so in words"

# The daemon decides, and asks that node alone, ever more seldom.
smps() { sim stats -j | jq '[.rows[] | select(.class == "0x81" or .class == "0x01") | .count] | add // 0'; }
start_tuned 'apply_via: direct'
wait_until 30 status '.fabric.pass >= 5' || fail "no passes: $(cat "$TMP/status.json")"
check "the daemon decides within five passes" jq -e '.roots > 0 and .writes_pending > 0' "$TMP/status.json"
equal "status names the gap" "$(gap status)" "[\"leaf2\",2,\"adapter\",[$SINK]]"
wait_until 60 status '.state == "ok"' || fail "not ok: $(cat "$TMP/status.json")"
equal "after one discovery" "$(jq .discoveries "$TMP/status.json")" 1
before=$(smps)
passes=$(jq .fabric.pass "$TMP/status.json")
wait_until 60 status ".fabric.pass >= $passes + 50" || fail "no passes"
n=$(($(smps) - before))
[ "$n" -le 16 ] || fail "$n SMPs in 50 passes"
ok "$n SMPs in 50 passes at rest"
heard destination1
wait_until 60 status '.fabric.nodes == 8 and .fabric.gaps == [] and .discovery_trouble == null' ||
	fail "the node is back, and the daemon does not see it: $(cat "$TMP/status.json")"
ok "when it is back, it is found"
stop "$TUNED_PID"

# A silent source that sends: the contributors cannot be known.
silent source2
wait_until 30 planned '(.roots | length == 1) and (.roots[0].explanation | test("nodes that do not answer"))' ||
	fail "a silent source is not told: $(cat "$TMP/plan.json")"
equal "a silent source that sends" "$(gap plan)" "[\"leaf1\",2,\"adapter\",[$SOURCE]]"
equal "is a reason to recommend nothing" "$(jq .writes "$TMP/plan.json")" 0
jq -e '.situation.code == "unknown_nodes" and .situation.ports == 1' "$TMP/plan.json" >/dev/null ||
	fail "situation: $(jq -c .situation "$TMP/plan.json")"
ok "and the decision says why"
heard source2

# A silent switch takes away what is behind it, and the first one is tuned as far as it is known.
silent leaf2
plan || fail "plan: $(cat "$TMP/plan.log")"
equal "a silent switch, and all LIDs behind it" "$(gap plan)" \
	"[\"leaf1\",8,\"switch\",$(printf '%s\n' "$(lid destination0)" "$SINK" "$(lid leaf2)" | sort -n | jq -sc .)]"
wait_until 30 planned '(.roots | length == 1) and (.roots[0].explanation | test("by a switch that does not answer"))' ||
	fail "a hidden root is not told: $(cat "$TMP/plan.json")"
equal "no change is recommended for what it hides" "$(jq .writes "$TMP/plan.json")" 0
