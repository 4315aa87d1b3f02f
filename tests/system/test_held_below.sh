# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Another program changes a table that the daemon wrote, so that marks hold an adapter back to 0.02 % of its link, and the timer
# of another adapter. Status is degraded and names the bound, what was meant, and what to do; repair does it.
. "$(dirname "$0")/lib.sh"

say() { jq -c '[.state, .reason, .held_below, .drift.text]' "$TMP/status.json"; }
lid() { sim settings -j | jq ".rows[] | select(.node == \"$1\").lid"; }

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned 'mode: apply'
tuned() { status '.state == "ok" and .writes_pending == 0' && sim settings -j | jq -e '.rows[] | select(.node == "source1").ca.CCTI_Limit > 0'; }
wait_until 40 tuned || fail "nothing is tuned: $(say)"
equal "no adapter is throttled more than is meant" "$(jq -c .held_below "$TMP/status.json")" '{"endports":0,"text":null}'

check "another program changes a table" stock ibccconfig CongestionControlTable "$(lid source1)" 3 0 0:0 0:1 0:2 0:4999
check "and the timer of another adapter" stock ibccconfig CACongestionSetting "$(lid source2)" 0 0xffff 65535 1 0 0
told() { status '.state == "degraded" and .held_below.endports == 2 and
	(.held_below.text | test("throttle source1 port 1 to 0.8 of 4000 MB/s.*would send at least [0-9.]+:.*ibcc-tune repair"))'; }
wait_until 40 told || fail "status does not say it: $(say)"
ok "status: $(jq -r .held_below.text "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
grep -q '^Throttled: *marks can throttle source1 port 1 to 0.8 of 4000 MB/s' "$TMP/text" || fail "status: $(cat "$TMP/text")"
ok "a person reads it, too"
grep -q 'marks can throttle source1 port 1 to 0.8 of 4000 MB/s' "$TMP/tuned.log" || fail "the log does not say it"
ok "the log says it"

check "what it advises" tune repair -y
wait_until 40 status '.held_below.endports == 0' || fail "it is still told: $(say)"
ok "writes what was meant again"
