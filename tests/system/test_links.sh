# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Faults that congestion control does not cure: a cable at DDR among cables at EDR, symbol errors, a credit loop. The
# plan, the status, the live view, the report and the metrics name them, by the daemon's own port and by the plugin.
. "$(dirname "$0")/lib.sh"

cat >"$TMP/cable.yaml" <<'YAML'
name: cable
duration_ms: 100000
topology:
  rate: 4x EDR
  nodes:
    - {host: [a1, a2, a3, a4, b1, b2, b3, b4]}
    - {switch: [left, right], ports: 8}
  links:
    - [a1, left/1]
    - [a2, left/2]
    - [a3, left/3]
    - [a4, left/4]
    - [b1, right/1]
    - [b2, right/2]
    - [b3, right/3]
    - [b4, right/4]
    - {ends: [left/7, right/7], rate: 4x DDR}
    - [left/8, right/8]
traffic:
  - {name: all, from: [a1, a2, a3, a4], to: [b1, b2, b3, b4]}
YAML

slow='the link from left port 7 to right port 7 runs at 4xDDR (16000 Mb/s), but both ends support 4xEDR (100000 Mb/s).'
warned() { status "[.fabric.warnings[] | select(startswith(\"$1\"))] | length == ${2-1}"; }
errors() { status '.fabric.ports_with_errors > 0 and ([.fabric.warnings[] | select(startswith("errors at left port "))] | length > 0)'; }
exported() { grep -q '^ibcc_port_symbol_error_total{guid="0x[0-9a-f]*",port="[0-9]*"} [1-9]' "$TMP/ibcc.prom"; }
no_errors() { status '.fabric.ports_with_errors == 0'; }

# check_cable WAY: all that says so, of a daemon that runs.
check_cable()
{
	wait_until 40 warned "$slow" || fail "$1: no warning of the slow cable: $(jq -c .fabric "$TMP/status.json")"
	ok "$1: status warns of the slow cable"
	equal "$1: that is the only such link" "$(jq -c '[.fabric.links_slow, (.fabric.warnings | length)]' "$TMP/status.json")" '[1,1]'
	tune status >"$TMP/text" 2>&1
	grep -q '^Warning:   the link from left port 7 to right port 7 runs at 4xDDR (2000.0 MB/s)' "$TMP/text" || fail "status: $(cat "$TMP/text")"
	grep -q '^Links:     1 runs slower than both ends can, 0 ports count link errors' "$TMP/text" || fail "status: $(cat "$TMP/text")"
	ok "$1: so does its text, with a count"
	tune plan >"$TMP/text" 2>&1
	grep -q '^Warning: the link from left port 7 .* Check its cable before you throttle senders\.$' "$TMP/text" || fail "plan: $(cat "$TMP/text")"
	ok "$1: the plan says so"
	tune top --limit 1 -j >"$TMP/top.json" 2>&1
	check "$1: so does the live view" jq -e '.fabric.warnings | length == 1' "$TMP/top.json"
	tune report -j >"$TMP/report.json" 2>&1
	equal "$1: the report lists it" "$(jq -c '[.links.slow[] | [.node, .port, .peer.node, .peer.port, .speed, .link_mbps,
		.best_speed, .best_mbps, .on_tree]]' "$TMP/report.json")" '[["left",7,"right",7,"4xDDR",16000,"4xEDR",100000,true]]'
	tune report --html "$TMP/report.html" 2>"$TMP/report.log" || fail "$1: report --html"
	grep -q 'Warning: the link from left port 7 to right port 7 runs at 4xDDR' "$TMP/report.html" || fail "$1: the page does not say so"
	ok "$1: and its page does"
}

# check_errors WAY
check_errors()
{
	sim set pma_errors_permille.left=1 >/dev/null || fail "ibcc-sim set"
	wait_until 60 errors || fail "$1: no warning of symbol errors: $(jq -c .fabric "$TMP/status.json")"
	ok "$1: status warns of symbol errors"
	check "$1: with what they are about" jq -e '[.fabric.warnings[] | select(test("SymbolErrorCounter \\+[0-9]+ in [0-9.]+ s\\. Check its cable"))] | length > 0' \
		"$TMP/status.json"
	tune report -j >"$TMP/report.json" 2>&1
	check "$1: the report has the counters of each port" jq -e '.links.errors | length > 0 and all(.node == "left" and .counters.SymbolErrorCounter > 10)' \
		"$TMP/report.json"
	wait_until 30 exported || fail "$1: no metrics of symbol errors: $(grep symbol_error "$TMP/ibcc.prom")"
	ok "$1: the metrics have them"
	sim set pma_errors_permille.left=0 >/dev/null || fail "ibcc-sim set"
	wait_until 60 no_errors || fail "$1: the warning stays: $(jq -c .fabric "$TMP/status.json")"
	ok "$1: once it counts no more, the warning goes"
}

start_sim "$TMP/cable.yaml" --speed 0.01
start_opensm
equal "stock ibnetdiscover sees the slow cable" "$(stock ibnetdiscover 2>/dev/null | grep -c '4xDDR$')" 2
start_tuned 'apply_via: direct' "metrics_file: $TMP/ibcc.prom"
check_cable direct
check_errors direct
stop "$TUNED_PID"
stop "$OSM_PID"

start_opensm --plugin
start_tuned "metrics_file: $TMP/ibcc.prom"
check_cable plugin
check_errors plugin
stop "$TUNED_PID"
stop "$OSM_PID"
stop "$SIM_PID"

# On a ring of five switches, shortest routes wait for each other in a circle.
{
	printf 'name: ring\nduration_ms: 100\ntopology:\n  rate: 4x QDR\n  nodes:\n    - {host: [h1, h2, h3, h4, h5]}\n'
	printf '    - {switch: [s1, s2, s3, s4, s5], ports: 3}\n  links:\n'
	for i in 1 2 3 4 5; do printf '    - [h%d, s%d/1]\n    - [s%d/2, s%d/3]\n' $i $i $i $((i % 5 + 1)); done
	printf 'traffic: []\n'
} >"$TMP/ring.yaml"
start_sim "$TMP/ring.yaml"
start_opensm 'routing_engine minhop'
start_tuned 'apply_via: direct'
wait_until 40 warned 'the routes make a credit loop of 5 links (s' || fail "no warning of a credit loop: $(jq -c .fabric "$TMP/status.json")"
ok "minhop: status warns of a credit loop"
# A ring has no switch that updn takes for a root by itself.
tune report -j 2>"$TMP/report.log" | jq -r '.map.nodes[] | select(.node == "s1").node_guid' >"$TMP/roots"
stop "$TUNED_PID"
stop "$OSM_PID"
start_opensm 'routing_engine updn' "root_guid_file $TMP/roots"
start_tuned 'apply_via: direct'
wait_until 40 warned 'the routes make a credit loop' 0 || fail "the warning stays: $(jq -c .fabric.warnings "$TMP/status.json")"
ok "updn: it warns no more"
