# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# 648 hosts, of which fifty begin to send one of them more than its link carries: what the plan brings is told, by
# packets, and neither that nor answers as long as these are take the daemon more memory than it may have.
. "$(dirname "$0")/lib.sh"
BOOT_SECONDS=90
TOOL_SECONDS=90
SIM_SPEED=0.001 # until all is there, so that the fifty begin after it
MOST_KB=65536

{
	tree 36 2 | sed '/^traffic:/d'
	cat <<-YAML
		traffic:
		  - {name: background, from: all, to: [$(seq -s ', ' -f 'h%g' 2 80 642)], rate: 30 Mb/s,
		     arrivals: exponential, queue_packets: 200}
		  - {name: hot, from: [$(seq -s ', ' -f 'h%g' 1 13 647)], to: h324, kind: hot, rate: 1000 Mb/s,
		     arrivals: exponential, queue_packets: 200, start_ms: 250}
	YAML
} >"$TMP/large.yaml"

# The most that it has had so far. A sanitizer's own memory is no part of what is promised.
memory()
{
	local kb
	kb=$(sed -n 's/^VmHWM:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(jq .pid "$TMP/status.json")/status")
	[ -z "$(plugin_preload)" ] || { ok "$1 ($kb kB with a sanitizer's)"; return; }
	[ "$kb" -gt 0 ] && [ "$kb" -lt "$MOST_KB" ] || fail "$1: $kb kB of $MOST_KB"
	ok "$1: $kb kB"
}

start_sim "$TMP/large.yaml"
start_opensm --plugin 'sweep_interval 0'
start_tuned 'pass_deadline_ms: 20000'
sim set speed=0.02 >/dev/null || fail "time goes no faster"
rest() { status '.fabric.pass > 3 and .roots == 0 and .now.waiting == 0'; }
wait_until 60 rest || fail "the daemon does not see a fabric at rest: $(jq -c '[.fabric.pass, .roots, .now]' "$TMP/status.json")"
memory "at rest"

told()
{
	tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" || return 1
	jq -c '.prediction | [.known, .why, .replay]' "$TMP/plan.json" >>"$TMP/prediction.log"
	jq -e '.writes > 100 and .prediction.known' "$TMP/plan.json"
}
wait_until 120 told || fail "no amounts are told"
ok "what $(jq .writes "$TMP/plan.json") writes bring: $(jq -c '.prediction | [.replay, .total, .victims, .cpu_ms]' "$TMP/plan.json")"
equal "of a plan without its data" "$(jq 'has("data")' "$TMP/plan.json")" false
# On a busy machine a pass may not come to all ports, and from such a one nothing is planned.
kept() { tune plan -o "$TMP/kept" >"$TMP/tune.log" 2>&1; }
wait_until 60 kept || fail "no plan with it: $(tail -n 5 "$TMP/tune.log")"
equal "of each write" "$(jq '.data | length' "$TMP/kept")" "$(jq .writes "$TMP/kept")"
memory "with a prediction"
check "all settings are shown" eval 'tune show -j >"$TMP/show.json"'
equal "of each node" "$(jq '.nodes | length' "$TMP/show.json")" 702
tune show >"$TMP/show.txt" 2>"$TMP/tune.log" || fail "show: $(cat "$TMP/tune.log")"
grep -q 'and [0-9]* more *$' "$TMP/show.txt" && grep -q -- '--full lists each node' "$TMP/show.txt" ||
	fail "for people they are no summary: $(head -n 20 "$TMP/show.txt")"
lines=$(wc -l <"$TMP/show.txt")
[ "$lines" -lt 100 ] || fail "for people these are $lines lines"
ok "for people, nodes with equal settings share one of $lines lines"
tune show --full >"$TMP/show.txt" 2>"$TMP/tune.log" || fail "show --full: $(cat "$TMP/tune.log")"
equal "with --full each adapter has its own" "$(grep -c '^h[0-9]* 0x' "$TMP/show.txt")" 648
status true || fail "status: $(cat "$TMP/tune.log")"
bytes=$(wc -c <"$TMP/status.json")
[ "$bytes" -lt 100000 ] || fail "a status of $bytes bytes"
ok "a status has $bytes bytes, in which no list has more than 64 nodes"
check "a bundle is written" tune bundle -o "$TMP/bundle.json"
equal "with each node" "$(jq '[(.nodes | length), (.settings | length)]' -c "$TMP/bundle.json")" "[702,702]"
memory "with long answers"
