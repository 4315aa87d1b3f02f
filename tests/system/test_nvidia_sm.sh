# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A second writer beside ibcc-tune: what NVIDIA's OpenSM is taken to do, written by nvidia_sm.c. It writes its policy when it
# starts, to a node whose port was reset, and to all when it reads its policy again. The daemon and show say what has
# changed meanwhile, a change by hand lasts until the writer's next turn, and readers send no Set.
. "$(dirname "$0")/lib.sh"

start_sim "$top/perftest/scenarios/hdr-ndr.yaml"
start_opensm
stock ibnetdiscover >"$TMP/discovered"
lid() { sed -n "s/^Switch.*# \"$1\" .* lid \([0-9]*\) .*/\1/p; s/.*\"$1\" lid \([0-9]*\) .*/\1/p" "$TMP/discovered" | head -n 1; }

# policy AI_RATE MARKED: all values, at the four HDR adapters and at the Quantum's port to the other switch.
policy()
{
	local node
	for node in h1 h2 h3 h4; do
		printf '%s 0 0xff20 0 en_notify=1 en_react=1\n' "$(lid $node)"
		printf '%s 0 0xff21 0 clamp_tgt_rate=1 clamp_tgt_rate_after_time_inc=1 rpg_time_reset=300 rpg_byte_reset=32767 rpg_threshold=1 rpg_ai_rate=%s rpg_hai_rate=50 rpg_gd=11 rpg_min_dec_fac=50 rpg_min_rate=1 dce_tcp_g=1019 dce_tcp_rtt=1 rate_reduce_monitor_period=4 initial_alpha_value=1023\n' "$(lid $node)" "$1"
	done
	printf '%s 0 0xff08 0 en=1\n' "$(lid q1)"
	printf '%s 0 0xff09 8 vl_mask=0xffff profile1_min=100000 profile1_percent=%s profile1_max=400000\n' "$(lid q1)" "$2"
} >"$TMP/policy.new"
new_policy() { policy "$@"; mv "$TMP/policy.new" "$TMP/policy"; }
rests() { grep -c '^rest$' "$TMP/sm.log"; }
new_policy 5 20

start_tuned 'apply_via: direct'
values() { tune show -j >"$TMP/show.json" && jq -c '[[.nodes[] | select(.node | test("^h[1-4]$")) | .nvidia.HCARPParameters.rpg_ai_rate],
	[.nodes[] | select(.node == "q1") | .nvidia_ports[] | select(.port == 8) | .PortProfileSettings.profile1_percent]]' "$TMP/show.json"; }
changed() { jq -c '.nvidia_changed | if . then [.ports, .first] else . end' "$TMP/show.json"; }
equal "before: the values of the scenario" "$(values)" '[[5,5,5,5],[20]]'
equal "before: at the first look nothing has changed" "$(changed)" null
equal "before: nor at the next one" "$(values) $(changed)" '[[5,5,5,5],[20]] null'

# --- its start ------------------------------------------------------------------------------------
new_policy 40 25
background "$TMP/sm.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/tests/system/nvidia_sm" policy "$TMP/policy"
SM_PID=$!
wait_until 30 grep -q '^rest$' "$TMP/sm.log" || fail "the writer does not get ready"
equal "start: it has written everything" "$(grep -c ' 0x0000$' "$TMP/sm.log")" 10
equal "start: show has the policy's values" "$(values)" '[[40,40,40,40],[25]]'
equal "start: and says where they have changed" "$(changed)" '[5,"q1"]'
equal "start: once" "$(values) $(changed)" '[[40,40,40,40],[25]] null'
tune show --odd >"$TMP/odd.log" || fail "show --odd"
check "start: odd is only the HDR adapter that the policy leaves out" grep -q 'e1.*rpg_ai_rate *5 *40 *4 of 5' "$TMP/odd.log"

# --- by hand: the writer does not see it, until a port was reset -------------------------------------
stock "$IBCC_BUILD/tests/system/nvidia_sm" change "$(lid h2)" 0 0xff21 0 rpg_ai_rate=77 >"$TMP/by_hand.log" || fail "change"
tune show >"$TMP/show.log" || fail "show"
check "by hand: show says that it has changed" grep -q "Settings of NVIDIA's own congestion control have changed at 1 port, h2 first, since ibcc-tuned read them [0-9]* seconds\? ago" "$TMP/show.log"
equal "by hand: it holds" "$(values)" '[[40,77,40,40],[25]]'
before=$(rests)
sim console 'Unlink "q1"[2]' >/dev/null || fail "unlink"
sim set reboot.h2=now >/dev/null
told() { tune status -j >"$TMP/status.json" 2>/dev/null && jq -e "$1" "$TMP/status.json"; }
wait_until 60 told '.nvidia.reacting == 8' || fail "$(tune status)"
ok "reset: the daemon sees that one adapter reacts no longer"
sim console 'ReLink "q1"[2]' >/dev/null || fail "relink"
written_again() { [ "$(rests)" -gt "$before" ]; }
wait_until 60 written_again || fail "the writer writes nothing"
equal "reset: only that adapter was written again" "$(sed '$d' "$TMP/sm.log" | awk '/^rest$/ { n = 0 } !/^rest$/ { line[n++] = $1 " " $2 } END { for (i = 0; i < n; i++) print line[i] }' | sort -u | tr '\n' ' ')" \
	"$(lid h2) 0xff20 $(lid h2) 0xff21 "
wait_until 60 told '.nvidia.reacting == 9' || fail "$(tune status)"
ok "reset: and reacts again"
equal "reset: the change by hand is gone" "$(values)" '[[40,40,40,40],[25]]'

# --- it reads its policy again ---------------------------------------------------------------------
new_policy 60 30
before=$(rests)
kill -HUP "$(child_of "$SM_PID" nvidia_sm || true)" 2>/dev/null || kill -HUP "$SM_PID"
wait_until 30 written_again || fail "the writer does not read its policy again"
tune show >"$TMP/show.log" || fail "show"
check "reload: show says so" grep -q "Settings of NVIDIA's own congestion control have changed at 5 ports, q1 first" "$TMP/show.log"
equal "reload: it has the new values" "$(values)" '[[60,60,60,60],[30]]'
writers() { sim sets -j | jq -r '[.rows[].pid] | unique | length'; }
equal "all Sets came from the two writers" "$(writers)" 2
