# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The site's names of nodes: journal, metrics, reasons and tables have those of the daemon's node name map. A name that
# two nodes have is followed by the GUID. Names are UTF-8, and nothing in them controls a terminal.
. "$(dirname "$0")/lib.sh"

guid_of() { jq -r --arg n "$1" '.nodes[] | select(.node == $n).node_guid' "$TMP/show.json" | head -n 1; }

start_sim "$SCENARIO"
start_opensm --plugin
write_config
tune show -j >"$TMP/show.json" 2>"$TMP/tune.log" || fail "show: $(cat "$TMP/tune.log")"
{
	echo "$(guid_of destination1) \"lager würzburg\""
	echo "$(guid_of source1) \"client\""
	echo "$(guid_of source2) \"client\""
	printf '%s "source\033[2J3"\n' "$(guid_of source3)"
} >"$TMP/map"
start_tuned "node_name_map: $TMP/map" "metrics_file: $TMP/metrics.prom"
verdict() { status '.verdict | test("lager würzburg \\(leaf2 port 2\\).*client 0x[0-9a-f]{16}.*client 0x[0-9a-f]{16}")'; }
wait_until 30 verdict || fail "the verdict: $(jq .verdict "$TMP/status.json")"
ok "the verdict has the site's names, and the GUID where two nodes have one"
planned() { tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/plan.json"; }
wait_until 20 planned || fail "nothing is planned"
check "so have the reasons" jq -e 'any(.changes[].reason; test("congestion starts at lager würzburg"))' "$TMP/plan.json"
equal "the changes" "$(jq -r '[.changes[].node | select(startswith("client"))] | unique | length' "$TMP/plan.json")" 2
check "the log" grep -q 'congestion: lager würzburg (leaf2 port 2)' "$TMP/tuned.log"
check "and the metrics" grep -q '="lager würzburg"' "$TMP/metrics.prom"
without "no name controls a terminal" "$TMP/tuned.log" -P '\033'
tune plan >"$TMP/text" 2>"$TMP/tune.log" || fail "plan"
check "tables have UTF-8 as it is" grep -q 'lager würzburg' "$TMP/text"
without "and no GUID twice" "$TMP/text" -E '(0x[0-9a-f]{16}) \1'
equal "a name of two nodes finds both" "$(tune show -j client | jq '.nodes | length')" 2
equal "with its GUID one" "$(tune show -j "client $(guid_of source1)" | jq '.nodes | length')" 1

terminal() { TERM=dumb LC_ALL=$1 timeout 60 script -qec "stty cols 200; $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml --no-pager plan" /dev/null </dev/null; }
terminal C.UTF-8 >"$TMP/text" || fail "plan on a terminal"
grep '^Verdict' "$TMP/text" | grep -q 'lager würzburg' || fail "the verdict on a terminal: $(head -n 2 "$TMP/text")"
without "a terminal of UTF-8 gets the characters" "$TMP/text" 'lager w[?\\]'
terminal C >"$TMP/text" || fail "plan on another terminal"
grep '^Verdict' "$TMP/text" | grep -q 'lager w?rzburg' || fail "the verdict on another terminal: $(head -n 2 "$TMP/text")"
without "another one gets ASCII" "$TMP/text" -P '[\x80-\xff]'

# The daemon reads the map again at a reload.
sed -i 's/lager würzburg/depot/' "$TMP/map"
kill -HUP "$TUNED_PID"
wait_until 30 status '.verdict | test("depot")' || fail "the map is not read again: $(jq .verdict "$TMP/status.json")"
ok "a reload reads the map again"
stop "$TUNED_PID"

# Without a daemon the command line goes by the same key, or by its option.
equal "without a daemon" "$(tune show -j depot | jq '.nodes | length')" 1
echo "$(guid_of destination1) \"silo\"" >"$TMP/other"
equal "or by another map" "$(tune --node-name-map "$TMP/other" show -j silo | jq '.nodes | length')" 1

start_tuned "node_name_map: $TMP/nowhere"
wait_until 20 grep -q 'node_name_map: .*/nowhere cannot be read: No such file' "$TMP/tuned.log" || fail "no word of a map that is not there"
ok "a map that cannot be read is reported"
wait_until 20 status '.verdict | test("destination1")' || fail "names without a map: $(jq .verdict "$TMP/status.json")"
ok "and nodes keep the names that they report"
