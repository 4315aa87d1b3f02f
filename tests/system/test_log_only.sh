# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# EDR switches, which by their release notes support the congestion log only: plans and an apply say so, nothing is
# written there in any mode, and looking goes on.
. "$(dirname "$0")/lib.sh"

reason='supports only the congestion log, by its release notes'
{
	cat "$SCENARIO"
	printf '%s\n' 'devices:' '  hosts: connectx-3' '  switches: switch-ib2'
} >"$TMP/edr.yaml"
start_sim "$TMP/edr.yaml"
start_opensm
write_config 'apply_via: direct'

tune show -j >"$TMP/show.json" || fail "show"
equal "show: each switch has the reason, and no other node" "$(jq -r '[.nodes[] | select(.supported | not) | .type + ": " +
	.reason] | unique | join(", ")' "$TMP/show.json")" "switch: $reason"
tune probe -j >"$TMP/probe.json" || fail "probe"
equal "probe: what is documented of each type" "$(jq -c '[.types[] | [.name, .generation, .mechanism, .action]] | sort' \
	"$TMP/probe.json")" '[["ConnectX-3","FDR and older","Annex A10","tuned"],["Switch-IB 2","EDR","congestion log only","observed"]]'
equal "probe: and what its devices answer" "$(jq -c '.types[] | select(.generation == "EDR") | .attributes | has("CongestionLog")' \
	"$TMP/probe.json")" true
tune probe >"$TMP/probe.log" || fail "probe"
check "probe: as a table" grep -q 'congestion log only: observed' "$TMP/probe.log"

tune plan -j >"$TMP/plan.json" 2>/dev/null
equal "plan: it sees the root and changes nothing" "$(jq -c '[(.roots | length), .changes == []]' "$TMP/plan.json")" '[1,true]'
root=$(jq -r '.roots[0].node' "$TMP/plan.json")
tune apply -y >"$TMP/apply.log" 2>&1
check "an apply says why" grep -q "its switch $reason" "$TMP/apply.log"

start_tuned 'apply_via: direct' 'mode: apply'
looks()
{
	tune status -j >"$TMP/status.json" 2>/dev/null &&
		jq -e --arg r "$reason" '.decision | test("its switch " + $r)' "$TMP/status.json"
}
wait_until 40 looks || fail "status: $(jq -c '[.state, .reason, .decision]' "$TMP/status.json")"
ok "status: the root is seen, and why nothing is set"
logs() { sim stats -j | jq '[.rows[] | select(.class == "0x21" and .method == "0x01" and .attr == "0x0013") | .count] | add // 0'; }
before=$(logs)
read_again() { [ "$(logs)" -ge $((before + 4)) ]; }
wait_until 20 read_again || fail "logs: $before, then $(logs); $(sim stats)"
ok "their logs are read on"
equal "no Set of class 0x21 in any mode" "$(set_mads)" 0
tune disable -y >"$TMP/disable.log" 2>&1
equal "there is nothing at these switches to disable" $? 0
equal "and disable writes nothing" "$(set_mads)" 0

# Settings that another program made at such a switch, or an earlier version of ours, can be taken back all the same.
lid=$(sim settings -j | jq -r --arg n "$root" '.rows[] | select(.node == $n) | .lid' | head -n 1)
stock ibccconfig SwitchCongestionSetting "$lid" 0x1f 0x4 0x0 9 8 0 0:0 3 >/dev/null || fail "ibccconfig"
threshold() { sim settings -j | jq -c --arg n "$root" '.rows[] | select(.node == $n) | .switch.Threshold'; }
[ "$(threshold)" = 9 ] || fail "ibccconfig has set $(threshold)"
tune disable -y >"$TMP/disable.log" 2>&1
equal "disable succeeds where a switch has settings" $? 0
equal "and they are gone" "$(threshold)" 0

# Without the daemon, which would go on with the old key.
stop "$TUNED_PID"
# Its log is read with the key, so a key is for it, too.
echo 0xfeedfacecafe0001 >"$TMP/key" && chmod 600 "$TMP/key"
check "a CC_Key for all nodes" tune key -y "$TMP/key"
check "which the switches get, too" grep -q '8 of 8 nodes verified' "$TMP/check.log"

# A switch that can be tuned beside one that cannot.
stop "$OSM_PID"
stop "$SIM_PID"
echo "  nodes: {$root: switchx}" >>"$TMP/edr.yaml"
start_sim "$TMP/edr.yaml"
start_opensm
write_config 'apply_via: direct'
tune apply -y >"$TMP/apply.log" 2>&1
equal "an apply to a fabric with an EDR switch is refused" $? 1
check "with the reason" grep -q "$reason" "$TMP/apply.log"
equal "and writes nothing" "$(set_mads)" 0
tune apply -y --skip-unsupported >"$TMP/apply.log" 2>&1
equal "without that switch it is not" $? 0
[ "$(set_mads)" -gt 0 ] || fail "it writes nothing: $(cat "$TMP/apply.log")"
ok "it writes"
equal "but not to the EDR switch" "$(sim settings -j | jq -c --arg n "$root" '[.rows[] | select(.switch and .node != $n) |
	.switch.ports[]?] | length')" 0
