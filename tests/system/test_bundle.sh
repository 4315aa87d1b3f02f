# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# bundle: one file with the fabric in figures, by the daemon and without; an anonymous one has the same shape,
# and no GUID, LID or name of the fabric.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
write_config
tune bundle >"$TMP/out" 2>&1 && fail "a bundle to nowhere"
equal "where to is to be said" "$(cat "$TMP/out")" "ibcc-tune: bundle: -o FILE or -j is missing"
tune --anonymous plan >"$TMP/out" 2>&1 && fail "an anonymous plan"
equal "nothing else is anonymous" "$(head -n 1 "$TMP/out")" \
	"ibcc-tune: --anonymous: 'plan' tells true names, only bundle can do without"

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
	diff "$TMP/shape" "$TMP/shape2" >"$TMP/diff" || fail "another shape, $1"
	jq -r '[.nodes[] | .node_guid[2:], .node, (.ports[].port_guid | select(. != "0x0000000000000000") | .[2:])] | unique[]' \
		"$TMP/$1.json" >"$TMP/names"
	[ "$(wc -l <"$TMP/names")" -gt 15 ] || fail "hardly a name, $1"
	grep -nFf "$TMP/names" "$TMP/$1-anonymous.json" && fail "a true name, $1"
	# LIDs are numbers of nodes in the drawn order, whatever they are on the fabric.
	equal "LIDs, $1" "$(jq -c '[.nodes[].ports[].lid | select(. > 0)]' "$TMP/$1-anonymous.json")" '[1,2,3,4,5,6,7,8]'
	jq -e '.nodes as $n | [.settings[] | . as $s | $n[] | select(.node_guid == $s.node_guid and .node == $s.node) |
		.ports[] | select(.port == $s.port and .lid == $s.lid)] | length == 8' "$TMP/$1-anonymous.json" >"$TMP/jq.log" ||
		fail "settings of other nodes, $1"
	ok "an anonymous bundle is the same fabric without its names, $1"
}
tune bundle -o "$TMP/alone.json" >"$TMP/out" 2>"$TMP/tune.log" || fail "a bundle without the daemon"
equal "it says what it did" "$(cat "$TMP/out")" "$TMP/alone.json: 8 nodes, under their own names."
sed -n 's/.*"node_guid": "\(0x[0-9a-f]*\)".*/\1 "secret name"/p' "$TMP/alone.json" >"$TMP/map"
printf '0x%016x "secret name"\n' 0x0200000000000100 0x0200000000000200 >>"$TMP/map"
tune bundle --anonymous --node-name-map "$TMP/map" -o "$TMP/alone-anonymous.json" >"$TMP/out" 2>"$TMP/tune.log" || fail "an anonymous one"
grep -n "secret name" "$TMP/alone-anonymous.json" && fail "a name of the map"
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
