# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# bundle: one file with the fabric in figures, by the daemon and without; an anonymous one has the same shape,
# and no GUID, LID or name of the fabric. And read where there is no fabric: the plan is the live one.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
write_config
tune bundle >"$TMP/out" 2>&1 && fail "a bundle to nowhere"
equal "where to is to be said" "$(cat "$TMP/out")" "ibcc-tune: bundle: -o FILE or -j is missing"
tune --anonymous plan >"$TMP/out" 2>&1 && fail "an anonymous plan"
equal "nothing else is anonymous" "$(head -n 1 "$TMP/out")" \
	"ibcc-tune: --anonymous: 'plan' does not take this option, only bundle does"

# What does not depend on names: types, ports with their links' rates, the way of each LID of a port.
shape='def hex: . as $h | {"0":0,"1":1,"2":2,"3":3,"4":4,"5":5,"6":6,"7":7,"8":8,"9":9,"a":10,"b":11,"c":12,"d":13,"e":14,"f":15} | .[$h];
	.nodes as $n | [$n[] | . as $s | {type, ports: [.ports[] | {port, state, link_mbps, linked: (.peer != null)}],
	ways: [$n[] | .type as $to | .ports[] | select(.lid > 0) | .lid as $l |
		if $s.lft then [$to, ($s.lft[2 * $l:2 * $l + 1] | hex) * 16 + ($s.lft[2 * $l + 1:2 * $l + 2] | hex)] else null end] | sort}] |
	sort'
# check_bundles NAME: the anonymous one of two against the true one.
check_bundles()
{
	jq -e '.format == "ibcc-tune bundle 1" and .anonymous == false and (.nodes | length) == 8 and (.settings | length) == 8 and
		([.nodes[] | select(.lft)] | length) == 2 and ([.nodes[].ports[] | select(.counters.interval_ns > 0)] | length) == 14 and
		([.nodes[].node] | index("leaf2")) != null' "$TMP/$1.json" >"$TMP/jq.log" || fail "what is in it, $1"
	jq -e '.anonymous == true and (.settings | length) == 8' "$TMP/$1-anonymous.json" >"$TMP/jq.log" || fail "what is in the anonymous one, $1"
	jq -S "$shape" "$TMP/$1.json" >"$TMP/shape" && jq -S "$shape" "$TMP/$1-anonymous.json" >"$TMP/shape2" || fail "no shape, $1"
	same "the same shape, $1" "$TMP/shape" "$TMP/shape2"
	jq -r '[.nodes[] | .node_guid[2:], .node, (.ports[].port_guid | select(. != "0x0000000000000000") | .[2:])] | unique[]' \
		"$TMP/$1.json" >"$TMP/names"
	[ "$(wc -l <"$TMP/names")" -gt 15 ] || fail "hardly a name, $1"
	without "no true name, $1" "$TMP/$1-anonymous.json" -nFf "$TMP/names"
	# LIDs are numbers of nodes in the drawn order, whatever they are on the fabric.
	equal "LIDs, $1" "$(jq -c '[.nodes[].ports[].lid | select(. > 0)]' "$TMP/$1-anonymous.json")" '[1,2,3,4,5,6,7,8]'
	jq -e '.nodes as $n | [.settings[] | . as $s | $n[] | select(.node_guid == $s.node_guid and .node == $s.node) |
		.ports[] | select(.port == $s.port and .lid == $s.lid)] | length == 8' "$TMP/$1-anonymous.json" >"$TMP/jq.log" ||
		fail "settings of other nodes, $1"
	ok "an anonymous bundle is the same fabric without its names, $1"
}
tune bundle -o "$TMP/alone.json" >"$TMP/out" 2>"$TMP/tune.log" || fail "a bundle without the daemon"
equal "it says what it did" "$(cat "$TMP/out")" "Wrote $TMP/alone.json: 8 nodes, with their own names."
sed -n 's/.*"node_guid": "\(0x[0-9a-f]*\)".*/\1 "secret name"/p' "$TMP/alone.json" >"$TMP/map"
printf '0x%016x "secret name"\n' 0x0200000000000100 0x0200000000000200 >>"$TMP/map"
tune bundle --anonymous --node-name-map "$TMP/map" -o "$TMP/alone-anonymous.json" >"$TMP/out" 2>"$TMP/tune.log" || fail "an anonymous one"
check "the map of names is one" grep -q '^0x[0-9a-f]* "secret name"' "$TMP/map"
without "no name of the map" "$TMP/alone-anonymous.json" -n "secret name"
check_bundles alone

start_tuned
bundled() { tune bundle -o "$TMP/daemon.json" >"$TMP/out" 2>&1; }
wait_until 40 bundled || fail "no bundle of the daemon"
sets=$(set_mads)
tune bundle --anonymous -o "$TMP/daemon-anonymous.json" >"$TMP/out" || fail "an anonymous one of the daemon"
check_bundles daemon
tune bundle -o "$TMP/none/bundle.json" 2>"$TMP/out" && fail "a bundle in no folder"
grep -q "none/bundle.json: No such file" "$TMP/out" || fail "no reason"
[ -z "$(find "$TMP" -name '*.json.*')" ] || fail "something is left"
equal "nothing is written" "$(set_mads)" "$sets"
stop "$TUNED_PID"

# --- read without a fabric ------------------------------------------------------------------------
start_tuned 'interval_ms: 3000'
# All but times; the daemon may have gone on between two answers.
figures='del(.age_ms, .made, .prediction.cpu_ms, .prediction.baseline_age_s)'
at_once()
{
	tune --dry-run -j >"$TMP/live.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/live.json" >/dev/null &&
		tune what-if --set ccti_timer=40 -j >"$TMP/live-what-if.json" 2>"$TMP/tune.log" &&
		tune bundle -o "$TMP/fabric.json" >"$TMP/out" 2>&1 &&
		tune bundle --anonymous -o "$TMP/anonymous.json" >"$TMP/out" 2>&1 &&
		[ "$(jq .fabric.pass "$TMP/live.json") $(jq .pass "$TMP/fabric.json")" = \
			"$(jq .pass "$TMP/fabric.json") $(jq .pass "$TMP/anonymous.json")" ]
}
wait_until 60 at_once || fail "no plan and bundles of one pass"
stop "$TUNED_PID"
offline() { "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"; }
offline --dry-run -j --load-cache "$TMP/fabric.json" --counters "$TMP/fabric.json" >"$TMP/offline.json" 2>"$TMP/tune.log" ||
	fail "no plan of a bundle"
equal "the plan of a bundle is the live one, and its prediction" "$(jq -cS "$figures" "$TMP/offline.json")" \
	"$(jq -cS "$figures" "$TMP/live.json")"
offline what-if --set ccti_timer=40 -j --load-cache "$TMP/fabric.json" >"$TMP/offline.json" 2>"$TMP/tune.log" ||
	fail "no what-if of a bundle"
equal "and so is what other settings would bring" "$(jq -cS "$figures" "$TMP/offline.json")" \
	"$(jq -cS "$figures" "$TMP/live-what-if.json")"
check "a plan under made-up names" offline plan --load-cache "$TMP/anonymous.json" -j
offline plan --load-cache "$TMP/anonymous.json" >"$TMP/text" 2>"$TMP/tune.log" || fail "no words of it"
without "no true name in its words" "$TMP/text" -E 'leaf[12]|source[1-4]|destination[01]'
equal "as many writes" "$(offline plan --load-cache "$TMP/anonymous.json" -j | jq .writes)" "$(jq .writes "$TMP/live.json")"
offline apply --load-cache "$TMP/fabric.json" >"$TMP/out" 2>&1
equal "nothing else reads one" "$? $(head -n 1 "$TMP/out")" \
	"1 ibcc-tune: --load-cache: 'apply' does not take this option, only plan and what-if do"
offline plan -o "$TMP/of_bundle.json" --load-cache "$TMP/fabric.json" >"$TMP/out" 2>&1
equal "its plan is not kept in a file" "$? $(head -n 1 "$TMP/out")" \
	"1 ibcc-tune: --output: a plan that is made from a bundle cannot be applied, so it is not kept in a file"
offline plan --load-cache "$TMP/fabric.json" --counters "$TMP/anonymous.json" >"$TMP/out" 2>&1
equal "other nodes' counters are refused" "$? $(cat "$TMP/out")" \
	"1 ibcc-tune: $TMP/anonymous.json: the counters are of another fabric than the cache: take both from one fabric"
