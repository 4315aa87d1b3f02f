# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Pushes to nodes that are not as the specification would like them: each MAD status as an answer, no
# class 0x21, either size of a block of switch port settings, QLogic's tables, another program's CC_Key, a
# lease that ends. By the plugin; what the nodes hold is ibcc-sim's word.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
write_config
sim set traffic=off || fail "ibcc-sim set"
lid() { jq --arg n "$1" '.nodes[] | select(.node == $n).lid' "$TMP/show.json"; }
# The plugin may still have the topology of before the LIDs.
all_known() { tune show -j >"$TMP/show.json" 2>"$TMP/tune.log" && jq -e '(.nodes | length) == 8 and all(.nodes[]; .lid > 0)' "$TMP/show.json"; }
wait_until 10 all_known || fail "show: $(cat "$TMP/tune.log" "$TMP/show.json")"
node() { sim settings -j | jq -c --arg n "$1" '.rows[] | select(.node == $n) | if .ca then [.ca.sl[0].CCTI_Timer, .ca.sl[0].CCTI_Increase, .ca.CCTI_Limit, .ca.cct[-1]] else [.switch.Threshold, (.switch.ports | length)] end'; }
outcomes() { jq -r --arg n "$1" '[.changes[] | select(.node == $n).outcome] | unique | join(" ")' "$TMP/out.json"; }

# Another program has throttled and marked: the values that rollbacks have to bring back.
for n in source1 source2; do
	stock ibccconfig CACongestionSetting "$(lid $n)" 0 0xffff 150 4 0 0 || fail "ibccconfig"
	stock ibccconfig CongestionControlTable "$(lid $n)" 3 0 0:0 1:10 2:21 3:64 || fail "ibccconfig"
done
stock ibccconfig SwitchCongestionSetting "$(lid leaf2)" 0x1f 0x4 0x0 9 8 0 0:0 3 || fail "ibccconfig"
before="$(node source1) $(node source2) $(node leaf2)"
equal "the fabric to begin with" "$before" '[150,4,3,49216] [150,4,3,49216] [9,0]'
now() { echo "$(node source1) $(node source2) $(node leaf2)"; }
cleared='[150,0,0,0]'

# --- every MAD status as the answer to a Set ------------------------------------------------------
for status in 0x0001 0x0002 0x0004 0x0008 0x000c 0x001c 0x0100; do
	sim set cc_set_status.source1=$status || fail "ibcc-sim set"
	tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" && fail "status $status: no error"
	equal "status $status: refused, and the rest of the node left alone" "$(outcomes source1)" 'failed skipped'
	equal "status $status: the others are done" "$(outcomes source2) $(node source2) $(node leaf2)" "verified $cleared [0,0]"
	equal "status $status: nothing half-set" "$(node source1)" '[150,4,3,49216]'
	sim set cc_set_status.source1=0 || fail "ibcc-sim set"
	tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "status $status: rollback: $(cat "$TMP/rollback.log")"
	equal "status $status: taken back" "$(now)" "$before"
done

# --- no class 0x21 --------------------------------------------------------------------------------
sim set cc_support.source1=off || fail "ibcc-sim set"
tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" || fail "a node without the class is an error: $(cat "$TMP/tune.log")"
check "without the class: not written to" jq -e '(.changes | length > 0) and all(.changes[]; .node != "source1")' "$TMP/out.json"
tune show source1 >"$TMP/text" 2>&1
grep -q 'no congestion control' "$TMP/text" || fail "show does not say so: $(cat "$TMP/text")"
ok "without the class: show says so"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback"
sim set cc_support.source1=on || fail "ibcc-sim set"
sim set cc_status.source1=0x0002 || fail "ibcc-sim set"
tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" && fail "a node that answers only a redirection: no error"
grep -q '"source1" does not answer' "$TMP/tune.log" || fail "not told: $(cat "$TMP/tune.log")"
ok "a node that could not be asked is told"
sim set cc_status.source1=0 || fail "ibcc-sim set"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback"
equal "as before" "$(now)" "$before"

# --- blocks of switch port settings ---------------------------------------------------------------
for block in 32 48; do
	sim set cc_port_block.leaf2=$block || fail "ibcc-sim set"
	stock ibccconfig SwitchPortCongestionSetting "$(lid leaf2)" 2 1 0 7 0 5 >"$TMP/ibccconfig.log" 2>&1 ||
		fail "ibccconfig: $(cat "$TMP/ibccconfig.log")"
	equal "blocks of $block: a port's own setting" "$(node leaf2)" '[9,1]'
	tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" || fail "blocks of $block: $(cat "$TMP/tune.log")"
	equal "blocks of $block: cleared" "$(outcomes leaf2) $(node leaf2)" 'verified [0,0]'
	tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback"
	equal "blocks of $block: restored" "$(node leaf2)" '[9,1]'
done
sim set cc_port_block.leaf2=0 || fail "ibcc-sim set"
tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" || fail "without the attribute: $(cat "$TMP/tune.log")"
equal "without the attribute: the switch's own setting" "$(outcomes leaf2)" 'verified'
sim set cc_port_block.leaf2=32 || fail "ibcc-sim set"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback"

# --- QLogic's rules -------------------------------------------------------------------------------
sim set cc_qlogic.source1=on || fail "ibcc-sim set"
tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" || fail "QLogic: $(cat "$TMP/tune.log")"
equal "QLogic: verified" "$(outcomes source1)" 'verified'
equal "QLogic: increase off, table flat" "$(node source1 | jq -c '[.[0], .[1], .[3]]')" '[150,0,0]'
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "QLogic: rollback: $(cat "$TMP/rollback.log")"
equal "QLogic: restored" "$(node source1 | jq -c '[.[0], .[1]]')" '[150,4]'
sim set cc_qlogic.source1=off || fail "ibcc-sim set"

# --- CC_Key and lease -----------------------------------------------------------------------------
# key PROTECT LEASE: another program's key at source1.
key() { stock ibccconfig -c "${3:-0}" CongestionKeyInfo "$(lid source1)" 0x1234 "$1" "$2" 0 >"$TMP/ibccconfig.log" 2>&1 || fail "ibccconfig: $(cat "$TMP/ibccconfig.log")"; }
key 0 0
tune show source1 >"$TMP/text" 2>&1
grep -q 'does not accept this CC_Key' "$TMP/text" || fail "show with another's key: $(cat "$TMP/text")"
ok "another's key: show says so"
held=$(node source1)
tune disable -y -j >"$TMP/out.json" 2>"$TMP/tune.log" && fail "another's key: no error"
grep -q '"source1" does not accept this CC_Key' "$TMP/tune.log" || fail "not told: $(cat "$TMP/tune.log")"
equal "another's key: not written to, and told" "$(outcomes source1) $(node source1)" " $held"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback"
echo 0x1234 >"$TMP/key"
chmod 600 "$TMP/key"
echo "cc_key_file: $TMP/key" >>"$TMP/cli.yaml"
tune show source1 -j >"$TMP/got.json" 2>"$TMP/tune.log" || fail "show with the key"
equal "the key from a file: accepted" "$(jq '.nodes[0].CACongestionSetting.sls[0].CCTI_Timer' "$TMP/got.json")" 150
sed -i '/cc_key_file/d' "$TMP/cli.yaml"
# Protected, it cannot even be read, until the lease has ended.
key 1 1 0x1234
tune show source1 >"$TMP/text" 2>&1
grep -q 'but no congestion control requests' "$TMP/text" || fail "protected: $(cat "$TMP/text")"
ok "a protected key: silence, and told"
lease_over() { tune show source1 2>&1 | grep -q 'does not accept this CC_Key'; }
wait_until 20 lease_over || fail "the lease does not end"
ok "when the lease has ended the node can be read again"

# --- our own key, at all nodes --------------------------------------------------------------------
sim set reboot.source1=now || fail "ibcc-sim set"
write_key() { echo "$2" >"$TMP/$1"; chmod 600 "$TMP/$1"; }
write_key first 0xfeedfacecafe0001
write_key second 0xfeedfacecafe0002
write_key none 0x0
check "a CC_Key for all nodes" tune key -y "$TMP/first" --protect --lease 5
tune show source1 >"$TMP/text" 2>&1
grep -q 'but no congestion control requests' "$TMP/text" || fail "not protected: $(cat "$TMP/text")"
ok "protected: no program reads without it"
echo "cc_key_file: $TMP/first" >>"$TMP/cli.yaml"
tune show -j >"$TMP/got.json" 2>"$TMP/tune.log" || fail "show with our key"
equal "with it all can be read" "$(jq '[.nodes[] | select(.CACongestionSetting or .SwitchCongestionSetting)] | length' "$TMP/got.json")" 8
stock ibccquery -c 0xfeedfacecafe0001 CongestionKeyInfo "$(lid leaf1)" >"$TMP/text" 2>&1
grep -q 'LeasePeriod.*\.5$' "$TMP/text" || fail "ibccquery of the key: $(cat "$TMP/text")"
ok "stock ibccquery sees the lease"
check "pushes work with the key" tune disable -y
# A rotation that was cut off: one node has the new key already.
stock ibccconfig -c 0xfeedfacecafe0001 CongestionKeyInfo "$(lid leaf2)" 0xfeedfacecafe0002 1 5 0 || fail "ibccconfig"
check "rotated, also where a part was done" tune key -y "$TMP/second" --protect --lease 5
grep -q '7 of 7 nodes verified, 1 had it already' "$TMP/check.log" || fail "rotation: $(tail -n 3 "$TMP/check.log")"
sed -i "s|$TMP/first|$TMP/second|" "$TMP/cli.yaml"
check "taken away again" tune key -y "$TMP/none"
sed -i '/cc_key_file/d' "$TMP/cli.yaml"
check "and every program may write" tune disable -y
for f in "$TMP"/state.db* "$TMP/osm/opensm.log"; do
	[ -s "$f" ] || continue # the journal, or the lock
	without "no key is in ${f##*/}" "$f" -a feedfacecafe
	LC_ALL=C without "nor its octets" "$f" -aF "$(printf '\xfe\xed\xfa\xce')"
done
tune history -j >"$TMP/history.json" || fail "history"
equal "the history knows of them" "$(jq -r '[.transactions[] | select(.action == "key").outcome] | join(" ")' "$TMP/history.json")" 'done done done'
