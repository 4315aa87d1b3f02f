# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Nodes whose settings are known answer class 0x21 with errors: all of them, for a while. Status is degraded and says so
# until they answer again.
. "$(dirname "$0")/lib.sh"

say() { jq -c '[.state, .reason, .decision]' "$TMP/status.json"; }
all() { for n in $(sim settings -j | jq -r ".rows[].node"); do set -- "$@" "cc_status.$n=$STATUS"; done; sim set "$@"; }

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned 'mode: apply'
tuned() { status '.state == "ok" and .writes_pending == 0' && sim settings -j | jq -e 'any(.rows[]; .ca and .ca.CCTI_Limit > 0)'; }
wait_until 40 tuned || fail "nothing is tuned: $(say)"
equal "a fabric that answers" "$(jq -c .reason "$TMP/status.json")" null
for status in 0x000c 0x0001; do
	STATUS=$status all >"$TMP/set.log" 2>&1 || fail "ibcc-sim set: $(cat "$TMP/set.log")"
	wait_until 40 status '.state == "degraded" and (.reason | test("nodes? answers? congestion control requests with errors now"))' ||
		fail "status $status: not told: $(say)"
	ok "status $status: $(jq -r .reason "$TMP/status.json")"
	STATUS=0 all >"$TMP/set.log" 2>&1 || fail "ibcc-sim set"
	wait_until 40 status '.state == "ok"' || fail "status $status: still told: $(say)"
	ok "and no longer when they answer"
done

# In mode observe nobody tries again what failed by hand, so the state does not wait for that.
stop "$TUNED_PID"
start_tuned
tune disable -y >"$TMP/disable.log" 2>&1 || fail "disable: $(cat "$TMP/disable.log")"
planned() { status '.state == "ok" and .writes_pending > 0'; }
wait_until 40 planned || fail "nothing to apply: $(say)"
sim set cc_set_status.leaf2=0x000c || fail "ibcc-sim set"
tune apply --no-wait -y >"$TMP/apply.log" 2>&1 && fail "an apply that leaf2 refuses: $(cat "$TMP/apply.log")"
ok "an apply that a switch refuses fails"
sim set cc_set_status.leaf2=0 || fail "ibcc-sim set"
wait_until 40 planned || fail "it stays degraded: $(say)"
ok "and is over with the next polling cycle"
