#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What the daemon sends, keeps and prints for a host does not grow with the fabric: on fat trees of 432 and 2000 hosts, in
# MADs and bytes, as times differ from run to run. The status, which clients read every second, hardly grows at all.
. "$(dirname "$0")/lib.sh"

# Arguments that cannot be: the message says what is wrong with them, and what can be.
refused()
{
	local _rc=0
	"$IBCC_BUILD/ibcc-lab" "${@:2}" >"$TMP/refused" 2>&1 || _rc=$?
	[ "$_rc" = 1 ] || fail "${*:2}: exit status $_rc, $(cat "$TMP/refused")"
	grep -qE -- "$1" "$TMP/refused" || fail "${*:2}: $(cat "$TMP/refused")"
}
for tree in 4x1 5x2 2x2 50x2 4x0 36x4 0x2 36,2 36x2x3 999999999999x2 4294967298x2 -4x2 ''; do
	refused "^ibcc-lab: sizes: got \"$tree\", want PORTSxLEVELS such as 36x2: .*from 4 to 48.* 1 to 3 levels.* 6 hosts" \
		sizes -- "$tree"
done
refused 'got 9 trees, want at most 8' sizes 6x1 6x1 6x1 6x1 6x1 6x1 6x1 6x1 6x1
refused 'got "5,2", want PORTS,LEVELS.* even number of ports, from 4 to 254, and from 1 to 4 levels' osm-model --tree 5,2
refused 'no load "no-load"; there are eight-servers and all-jobs' jobs no-load
ok "wrong arguments are explained"

"$IBCC_BUILD/ibcc-lab" sizes -j --repeat 1 12x3 20x3 >"$TMP/sizes.json" || fail "sizes"
equal "hosts" "$(jq -c '[.sizes[].hosts]' "$TMP/sizes.json")" "[432,2000]"
check "there is congestion on both, and a plan" jq -e 'all(.sizes[]; .roots > 0 and .changes > 0)' "$TMP/sizes.json"

# Of each figure its growth by that of the hosts; for a transaction of the history, of its changes. A plan is left out: it lists
# for each root all adapters that wait for it.
jq -r '.sizes as [$a, $b] | $a.steps | del(.plan) | to_entries[] | .key as $k |
	(if $k == "history" then $b.changes / $a.changes else $b.hosts / $a.hosts end) as $by |
	("mads", "bytes") as $of | select(.value[$of] > 0) |
	"\($k) \($of) \($b.steps[$k][$of] / .value[$of] / $by * 100 | round)"' "$TMP/sizes.json" >"$TMP/growth"
[ "$(wc -l <"$TMP/growth")" = 9 ] || fail "figures: $(cat "$TMP/growth")"
while read -r step of percent; do
	[ "$percent" -le 110 ] || fail "$step, $of: $percent % of linear growth"
done <"$TMP/growth"
ok "nothing that is sent or printed grows faster than the fabric"
# A build with sanitizers counts no memory.
check "nor does memory" jq -e '.sizes as [$a, $b] |
	$a.daemon_mib < 1 or $b.daemon_mib / $a.daemon_mib <= 1.1 * $b.hosts / $a.hosts' "$TMP/sizes.json"
check "the status has a limit" jq -e 'all(.sizes[]; .steps.status.bytes < 20000)' "$TMP/sizes.json"
