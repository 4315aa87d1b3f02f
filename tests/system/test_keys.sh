#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A CC_Key for each node, protected, from a file that OpenSM would keep: missing, damaged, replaced, and
# wrong for one node.
. "$(dirname "$0")/lib.sh"

two_switches 5 >"$TMP/fabric.net"
start_sim "$TMP/fabric.net"
start_opensm --plugin
stock ibnetdiscover >"$TMP/discovered"
# NAME LID PORT_GUID of all nodes
{
	sed -n 's/^switchguid=0x\([0-9a-f]*\).*/\1/p' "$TMP/discovered" >"$TMP/sw_guid"
	sed -n 's/^Switch.*# "\(S[0-9]\)".* lid \([0-9]*\) .*/\1 \2/p' "$TMP/discovered" | paste -d' ' - "$TMP/sw_guid"
	awk '/^Ca/ { name = $NF; gsub(/"/, "", name) }
		/^\[1\]\(/ && name { match($0, /\([0-9a-f]*\)/); g = substr($0, RSTART + 1, RLENGTH - 2)
			match($0, /# lid [0-9]*/); print name, substr($0, RSTART + 6, RLENGTH - 6), g; name = "" }' \
		"$TMP/discovered"
} >"$TMP/nodes"
equal "nodes" "$(grep -c '^[SH][1-4] [0-9]* [0-9a-f]*$' "$TMP/nodes")" 6

key() { printf '0x%x' $((0xc0de00 + $1)); }
mkdir "$TMP/keys"
# write_keys [LID KEY]: each node's own, but for that one; put in place as OpenSM does.
write_keys()
{
	while read -r _ lid guid; do
		k=$(key "$lid")
		[ "$lid" = "${1:-}" ] && k=$2
		printf '0x%016x %s\n\n' $((16#$guid)) "$k"
	done <"$TMP/nodes" >"$TMP/keys/guid2cckey.tmp"
	mv "$TMP/keys/guid2cckey.tmp" "$TMP/keys/guid2cckey"
}
set_key() { stock ibccconfig ${3:+-c "$3"} CongestionKeyInfo "$1" "$2" 1 0 0 >"$TMP/cc.log" 2>&1 || fail "ibccconfig"; }
while read -r _ lid _; do set_key "$lid" "$(key "$lid")"; done <"$TMP/nodes"
h1=$(awk '$1 == "H1" { print $2 }' "$TMP/nodes")
violations() { stock ibccquery -c "$(key "$h1")" CongestionKeyInfo "$h1" | sed -n 's/.*Violations:\.*//p'; }

write_config "key_dir: $TMP/keys"
before=$(violations)
tune show >/dev/null 2>"$TMP/show.log"
equal "no file, no question" $? 1
check "the reason" grep -q 'key_dir: .*guid2cckey: No such file' "$TMP/show.log"
equal "no node was asked with a wrong key" "$(violations)" "$before"

write_keys
equal "every node by its own key" "$(tune show -j | jq '[.nodes[] | select(.supported)] | length')" 6
equal "they are known as ours" "$(tune probe -j | jq '[.types[].cc_key["ours, protected"]] | add')" 6
equal "no node was asked with a wrong key" "$(violations)" "$before"

# Through the plugin and by our own port.
for via in plugin direct; do
	stock ibccconfig -c "$(key "$h1")" CACongestionSetting "$h1" 0 0xffff 150 4 0 0 >"$TMP/cc.log" 2>&1 || fail ibccconfig
	check "settings are taken off with the node's key, by $via" tune --via "$via" disable -y
	equal "they are off" "$(tune show -j "$(awk '$1 == "H1" { print "0x" $3 }' "$TMP/nodes")" |
		jq '.nodes[0].CACongestionSetting.sls[0].CCTI_Increase')" 0
done

start_tuned "key_dir: $TMP/keys"
state() { tune status -j | jq -e "$1" >/dev/null; }
wait_until 10 state '.state == "ok"' || fail "$(tune status)"
ok "the daemon has all nodes"
write_keys "$h1" 0xbad
wait_until 20 state '.state == "degraded" and (.reason | test("1 node probably wants another CC_Key.*\"H1\".*key_dir"))' ||
	fail "$(tune status)"
ok "a wrong key is told, and which option to set"
tune status --detailed-exitcode >/dev/null
equal "--detailed-exitcode tells" $? 2
set_key "$h1" 0xbad "$(key "$h1")" # the key is rotated to what the file has
write_keys "$h1" 0xbad
wait_until 20 state '.state == "ok"' || fail "$(tune status)"
ok "a key that is rotated is taken up"
echo garbage >"$TMP/keys/guid2cckey.tmp" && mv "$TMP/keys/guid2cckey.tmp" "$TMP/keys/guid2cckey"
wait_until 20 state '.state == "degraded" and (.reason | test("guid2cckey:1: want a GUID and a key"))' ||
	fail "$(tune status)"
ok "a damaged file is told"
rm "$TMP/keys/guid2cckey"
wait_until 20 state '.state == "degraded" and (.reason | test("No such file.*continues with the keys that it read before"))' ||
	fail "$(tune status)"
ok "so is a lost one"
equal "the keys read before hold" "$(tune show -j | jq '[.nodes[] | select(.supported)] | length')" 6
without "no key is in the log" "$TMP/tuned.log" -iE 'c0de|0xbad'

# --- protection for nodes that have the key already -----------------------------------------------
stop "$TUNED_PID"
while read -r _ lid _; do
	k=$(key "$lid")
	[ "$lid" = "$h1" ] && k=0xbad
	stock ibccconfig -c "$k" CongestionKeyInfo "$lid" 0 0 0 0 >"$TMP/cc.log" 2>&1 || fail "ibccconfig"
done <"$TMP/nodes"
write_config 'apply_via: direct'
echo 0x5afe >"$TMP/key" && chmod 600 "$TMP/key"
check "all nodes get a key" tune key -y "$TMP/key"
equal "with a row for each" "$(grep -c ' CC_Key .*hidden .*another .*verified' "$TMP/check.log")" 6
equal "that names it" "$(grep -c "^~  [HS][1-4] 0x" "$TMP/check.log")" 6
tune key -y -j "$TMP/key" >"$TMP/key.json"
equal "which they keep" "$(jq -c '[.writes, .unchanged]' "$TMP/key.json")" '[0,6]'
tune key -y -j --protect --lease 30 "$TMP/key" >"$TMP/key.json" 2>"$TMP/key.log" || fail "key --protect"
equal "with protection, too" "$(jq -c '[.writes, .verified]' "$TMP/key.json")" '[6,6]'
equal "each change named" \
	"$(jq '[.changes[] | select(.node != "" and .attribute == "CongestionKeyInfo" and .field != "" and .outcome == "verified")] | length' "$TMP/key.json")" 12
stock ibccquery -c 0x5afe CongestionKeyInfo "$h1" >"$TMP/info"
check "it is protected" grep -q 'ProtectBit:\.*1$' "$TMP/info"
check "for so long" grep -q 'LeasePeriod:\.*30$' "$TMP/info"
