#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A fabric of NVIDIA's devices where their own congestion control is on: nothing of the annex is
# written there in any mode, it is told why, and looking goes on.
. "$(dirname "$0")/lib.sh"

two_switches 5 | sed -e 's/^Switch/vendid=0x2c9\ndevid=0xd2f2\n&/' \
	-e 's/^Hca/vendid=0x2c9\ndevid=0x101b\n&/' >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm
stock smpquery nodeinfo 1 | grep -q 'DevId:.*0x101b' || fail "ibsim does not take device IDs"
for node in S1 S2 H1 H2 H3 H4; do sim set "nvidia_cc.$node=on" >/dev/null; done

write_config 'apply_via: direct'
tune plan >"$TMP/plan.log" 2>&1
equal "a plan is refused" $? 1
check "with the reason" grep -q 'NVIDIA congestion control is on: 2 switches mark, 4 adapters react' \
	"$TMP/plan.log"
check "and which algorithm runs" grep -q 'algorithm slot 0 (algorithm 1, version 2.3) at 4 of them' "$TMP/plan.log"
equal "of those that tell, by device type" \
	"$(tune probe -j | jq -c '[.types[] | .nvidia_algorithm // empty]')" \
	'[{"algorithm slot 0 (algorithm 1, version 2.3)":4}]'
check "and no changes" grep -q '^Plan: 0 changes,' "$TMP/plan.log"
tune apply -y >"$TMP/apply.log" 2>&1
equal "so is an apply" $? 1
check "for the same reason" grep -q 'nothing of IBA Annex A10 is written beside it' "$TMP/apply.log"
tune repair -y >/dev/null 2>&1
equal "so is a repair" $? 1
tune disable -y >"$TMP/disable.log" 2>&1
check "what cannot be cleared is named" grep -q "has NVIDIA's own congestion control on" \
	"$TMP/disable.log"
echo 0x7 >"$TMP/key" && chmod 600 "$TMP/key"
tune key -y "$TMP/key" >"$TMP/key.log" 2>&1
equal "and no node gets a key" $? 1
tune show -j >"$TMP/show.json"
equal "all nodes say why" \
	"$(jq '[.nodes[] | select(.reason == "has NVIDIA'\''s own congestion control on")] | length' "$TMP/show.json")" 6

equal "without a daemon there are no notifications" "$(jq '[.nodes[] | select(.nvidia_notifications)] | length' "$TMP/show.json")" 0

start_tuned 'apply_via: direct' 'mode: apply'
wait_until 10 sh -c "grep -q 'NVIDIA congestion control is on' '$TMP/tuned.log'" ||
	fail "the daemon does not tell"
ok "the daemon tells it"
wait_until 10 eval 'tune status | grep -q "^State: *degraded: NVIDIA congestion"' ||
	fail "$(tune status)"
ok "its status is degraded in mode apply"
tune status >"$TMP/status.log"
check "and counts" grep -q '^NVIDIA: .*2 switches mark, 4 adapters react' "$TMP/status.log"
tune status --detailed-exitcode >/dev/null
equal "--detailed-exitcode tells" $? 2
tune apply -y >/dev/null 2>"$TMP/apply.log"
equal "the daemon refuses an apply" $? 1
check "with the reason" grep -q 'NVIDIA congestion control is on' "$TMP/apply.log"
equal "no Set of class 0x21 in any mode" "$(set_mads)" 0

# What refuses every plan is known before the first decision, for which two polling cycles are needed.
stop "$TUNED_PID"
start_tuned 'apply_via: direct' 'mode: apply' 'interval_ms: 600000'
wait_until 20 eval 'tune status | grep -q "^State: *degraded: NVIDIA congestion"' || fail "$(tune status)"
ok "its status is degraded from the first polling cycle on"

# Only at one node, where it has no effect: that node is left alone.
for node in S1 S2 H2 H3 H4; do sim set "nvidia_cc.$node=off" >/dev/null; done
stop "$TUNED_PID"
write_config 'apply_via: direct'
lid_of() { stock ibnetdiscover | sed -n "s/.*\"$1\" lid \([0-9]*\) .*/\1/p" | head -n 1; }
for node in H1 H2; do
	stock ibccconfig CACongestionSetting "$(lid_of $node)" 0 0xffff 150 4 0 0 >"$TMP/cc.log" 2>&1 ||
		fail "ibccconfig: $(cat "$TMP/cc.log")"
done
before=$(set_mads)
tune disable -y >/dev/null 2>"$TMP/disable.log"
check "one node alone is named" grep -q '1 node could not be cleared, and keeps its settings: "H1" has NVIDIA' "$TMP/disable.log"
sim sets -j | jq --argjson n "$before" '[.rows[$n:][] | .lid] | unique' >"$TMP/lids"
equal "it gets no Set, its neighbour does" "$(jq -c . "$TMP/lids")" "[$(lid_of H2)]"

# --- with traffic, through the plugin -------------------------------------------------------------
stop "$OSM_PID"
stop "$SIM_PID"
{
	cat "$SCENARIO"
	printf '%s\n' 'devices:' '  hosts: {profile: connectx-3, nvidia_cc: on}' \
		'  switches: {profile: quantum2, nvidia_cc: on}'
} >"$TMP/fabric.yaml"
start_sim "$TMP/fabric.yaml"
start_opensm --plugin
write_config
tune plan -j >"$TMP/plan.json" 2>"$TMP/plan.log"
equal "a plan through the plugin is refused, too" $? 1
# One pass alone may miss a blocked sender.
named()
{
	tune plan -j >"$TMP/plan.json" 2>"$TMP/plan.log"
	jq -e '.roots[0] | .node == "leaf2" and .port == 2 and
		([(.contributors + .candidates + .victims)[].node] | sort == ["source1", "source2", "source3", "source4"])' \
		"$TMP/plan.json"
}
wait_until 20 named || fail "$(jq -c .roots "$TMP/plan.json")"
ok "the root is named, and its sources"
equal "no changes" "$(jq '.changes | length' "$TMP/plan.json")" 0
check "the operator learns what to do" \
	jq -e '.nvidia.advice | test("leaf2 port 2 marks.*congestion_control_policy_file.*ibcc-tune advise.*leave the fabric to ibcc-tune")' "$TMP/plan.json"
tune apply -y >"$TMP/apply.log" 2>&1
equal "an apply is refused" $? 1
start_tuned 'mode: apply'
wait_until 10 eval '[ "$(tune status -j | jq .roots)" -gt 0 ]' || fail "$(tune status)"
ok "the daemon sees the root"
equal "and sends no Set" "$(set_mads)" 0
# A switch is made to mark: which senders slow down is shown by what adapters are notified of.
stock ibccconfig SwitchCongestionSetting "$(lid_of leaf2)" 0x1f 0xffff 0x0 15 0 0 0:0 0 >"$TMP/cc.log" 2>&1 ||
	fail "ibccconfig: $(cat "$TMP/cc.log")"
slowed() { tune status >"$TMP/status.log"; grep -q 'slowed by notifications lately: .*source1 port 1 ([1-9]' "$TMP/status.log"; }
wait_until 30 slowed || fail "$(cat "$TMP/status.log")"
ok "the slowed senders are shown"
equal "by name, and none that only receives" "$(tune status -j |
	jq -r '[.nvidia.throttled[] | select(.cnp_handled > 0) | .node[:6]] | unique | join(" ")')" source
noted() { tune show -j >"$TMP/show.json" && jq -e '[.nodes[] | select(.nvidia_notifications.cnp_handled > 0)] | length > 0' "$TMP/show.json"; }
wait_until 30 noted || fail "$(jq -c '[.nodes[].nvidia_notifications]' "$TMP/show.json")"
ok "show has the notifications"
equal "for each GB that the adapter sent in the interval" "$(jq '[.nodes[].nvidia_notifications | select(.) |
	select((.handled_per_gb // 0) * .xmit_bytes / 1e9 - .cnp_handled | fabs > 0.01)] | length' "$TMP/show.json")" 0
equal "and received" "$(jq '[.nodes[].nvidia_notifications | select(.) |
	select((.sent_per_gb // 0) * .rcv_bytes / 1e9 - .cnp_sent | fabs > 0.01)] | length' "$TMP/show.json")" 0
check "the receiver sends what the senders handle" jq -e '[.nodes[].nvidia_notifications | select(.)] |
	(map(.cnp_sent) | add) > 0 and (map(.cnp_ignored) | add) == 0' "$TMP/show.json"
equal "switches have none" "$(jq '[.nodes[] | select(.type == "switch" and .nvidia_notifications)] | length' "$TMP/show.json")" 0
tune show >"$TMP/show.log"
check "also as a table" grep -q 'HANDLED/GB' "$TMP/show.log"
check "with the senders" grep -qE '^source[0-9].* [1-9][0-9]*\.[0-9] +[0-9.-]+ +[0-9.-]+$' "$TMP/show.log"
# What a plugin's client asks for regardless is left out by the plugin.
stop "$TUNED_PID"
for node in leaf1 leaf2 source1 source2 source3 source4 destination0 destination1; do
	sim set "nvidia_cc.$node=off" >/dev/null
done
start_tuned 'mode: apply'
wait_until 20 eval '[ "$(set_mads)" -gt 0 ]' || fail "$(tune status)"
ok "where it is off, the daemon tunes"
