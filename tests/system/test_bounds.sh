# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The plugin has tighter bounds than the daemon: it tells them, and what is planned stays within them.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.max_delay=3 ibcc.max_timer=20" start_opensm --plugin
start_tuned 'mode: apply'
tuned() { status '.writes_pending == 0 and .state == "ok"' && [ "$(set_mads)" -gt 4 ]; }
wait_until 30 tuned || fail "nothing is tuned: $(jq -c '[.state, .reason, .writes_pending]' "$TMP/status.json")"
without "the plugin takes all that is planned" "$TMP/tuned.log" 'left out'
equal "status tells its bounds" "$(jq -c .sm.bounds "$TMP/status.json")" \
	'{"max_delay":3,"max_timer":20,"sets_per_minute":60}'
# An entry is a shift in its two upper bits and a multiplier in the others.
equal "tables end, and timers are, where they may be" "$(sim settings -j | jq -c '[.rows[] | select(.ca) |
	select(.ca.CCTI_Limit > 0) | [(.ca.cct | map((. % 16384) / pow(2; (. / 16384 | floor))) | max),
		(.ca.sl | map(.CCTI_Timer) | max)]] | unique')" '[[3,20]]'
# The log follows when the cycle that wrote the settings has ended.
explained() { grep -q 'but max_delay is 3.00' "$TMP/tuned.log"; }
wait_until 30 explained || :
check "and it is said why" explained

# The plugin also holds them for a client that knows none.
stop "$TUNED_PID"
push() { within 60 "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" push "$@" >"$TMP/push.log" 2>&1; }
adapter_sets() { sim sets -j | jq '[.rows[] | select(.name == "CACongestionSetting" or .name == "CongestionControlTable")] | length'; }
# left_out BOUND TIMER: a plan of tables that delay by more than 3 packet times, and of this timer.
left_out()
{
	local sets
	sets=$(adapter_sets)
	push timer="$2"
	equal "a plan beyond $1 is not carried out" $? 3
	check "which says so" grep -q "left out: .* longer than $1 " "$TMP/push.log"
	equal "and no adapter gets a Set" "$(adapter_sets)" "$sets"
}
left_out max_delay 20
left_out max_timer 21
stop "$OSM_PID"
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.max_timer=20" start_opensm --plugin
served() { "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" state | grep -q 'generation=[1-9]'; }
wait_until 20 served || fail "the plugin has no topology"
check "a plan within its bounds is carried out" push timer=20
