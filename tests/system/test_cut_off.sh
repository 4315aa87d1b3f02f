# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# OpenSM is killed while a plan that a user applied is pushed: what had been written is known to be ours, and goes
# when nothing needs it, as if the apply had come to its end.
. "$(dirname "$0")/lib.sh"

# A node that no congestion of this scenario is about.
aside() { sim settings -j | jq -cS '[.rows[] | select(.node == "destination0") | del(.lid, .summary)]'; }
is_as_before() { [ "$(aside)" = "$before" ]; }
planned() { rm -f "$TMP/plan.json"; tune plan -o "$TMP/plan.json" >"$TMP/plan.log" 2>&1 && grep -q '^Plan: [1-9][0-9]* change' "$TMP/plan.log"; }

start_sim "$SCENARIO"
start_opensm --plugin
opensm=$(child_of "$OSM_PID" opensm)
opensm=${opensm:-$OSM_PID}
# The site's own setting, which no table makes felt, so that a plan may write less for none of its roots.
lid=$(sim settings -j | jq '.rows[] | select(.node == "destination0").lid')
check 'the site has a setting of its own' stock ibccconfig CACongestionSetting "$lid" 0 0xffff 65535 255 0 0
start_tuned 'mode: apply'
wait_until 60 grep -q 'changes\? verified' "$TMP/tuned.log" || fail "the daemon writes nothing"
check 'the daemon pauses' tune rollback -y
wait_until 30 planned || fail "there is no plan: $(tail -n 3 "$TMP/plan.log")"
# CACongestionSetting of source1, for destination0: its timers, and its increases of 1, in place of the site's.
jq '(.data, .changes) |= map(select(.node_guid == "0x0000000200000100" and .attribute == "CACongestionSetting") |
		.node_guid = "0x0000000200000500") |
	(.changes[] | select(.field == "CCTI_Timer") | .old) = "65535" |
	(.changes[] | select(.field == "CCTI_Increase") | .old) = "255" |
	.data[].old = (reduce range(16) as $i (.data[0].new; .[:8 + 16 * $i] + "ffffff" + .[14 + 16 * $i:])) |
	.control.roots = []' \
	"$TMP/plan.json" >"$TMP/other.json"
before=$(aside)

delay_mads 100000
n=$(set_mads)
tune apply "$TMP/other.json" -y >"$TMP/apply.log" 2>&1 &
apply=$!
while alive "$apply" && [ "$(set_mads)" -le "$n" ]; do :; done
kill -KILL "$opensm"
wait "$apply" && fail "the apply comes to its end"
grep -q 'the connection to the OpenSM plugin .* broke' "$TMP/apply.log" || fail "what the apply came to: $(tail -n 3 "$TMP/apply.log")"
wait "$OSM_PID" 2>/dev/null
sim set mad_delay_us=0
is_as_before && fail "nothing had been written"
ok "an apply is cut off with a part of it written"
start_opensm --plugin
wait_until 30 status '.fabric.source == "plugin" and .paused != null' || fail "no recovery: $(jq -c '[.state, .reason]' "$TMP/status.json")"
check 'the daemon goes on' tune apply -y
wait_until 90 is_as_before || fail "what the apply left stays: $(tune history 2>&1 | head -n 6)"
ok "what it left is taken off"
