# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Congestion as the stock tools see it: no marks with congestion control off, marks and their echo
# with it on; and a fabric whose links go down and come back.
. "$(dirname "$0")/lib.sh"

field() { sed -n "s/^$1:\.*//p" | head -n 1; }
lid() { sim settings -j | jq -r --arg n "$1" '.rows[] | select(.node == $n) | .lid'; }
flow() { sim flows -j | jq --arg n "$1" ".rows[] | select(.name == \$n) | .$2"; }
engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
# run_for MS: lets so much engine time pass.
run_for() { wait_until 60 later $(($(engine_ns) + $1 * 1000000)) || fail "the engine stands still"; }
fecns() { stock perfquery --rcvcc "$sink" 1 | field PortPktRcvFECN; }

start_sim "$SCENARIO" --speed 0.05
start_opensm
leaf1=$(lid leaf1) leaf2=$(lid leaf2) sink=$(lid destination1)

run_for 20
[ "$(flow victim mbps)" -gt 0 ] || fail "no traffic"
ok "traffic follows the routes that opensm made"
equal "no FECN with congestion control off" "$(fecns)" 0
w0=$(stock perfquery "$leaf1" 8 | field PortXmitWait)
run_for 5
w1=$(stock perfquery "$leaf1" 8 | field PortXmitWait)
[ "$w1" -gt "$w0" ] || fail "PortXmitWait stands still: $w0 $w1"
ok "XmitWait rises on the inter-switch link's sending side"
equal "and not at its receiving side" "$(stock perfquery "$leaf2" 8 | field PortXmitWait)" 0

victim_off=$(flow victim received_bytes)
run_for 20
victim_off=$(($(flow victim received_bytes) - victim_off))

# Marking on, with the mask for the port that waits for its sink; and sources that react.
stock ibccconfig SwitchCongestionSetting "$leaf2" 0x1f 0x1fe 0x0 9 8 0 0:0 0 || fail "ibccconfig"
for host in source1 source2 source3 source4; do
	l=$(lid $host)
	stock ibccconfig CACongestionSetting "$l" 0 0xffff 150 1 0 0 || fail "ibccconfig"
	# shellcheck disable=SC2046
	stock ibccconfig CongestionControlTable "$l" 63 0 $(for i in $(seq 0 63); do echo "0:$i"; done) ||
		fail "ibccconfig"
done
run_for 20
f0=$(fecns)
[ "$f0" -gt 0 ] || fail "no FECN with marking on"
run_for 5
f1=$(fecns)
[ "$f1" -gt "$f0" ] || fail "FECNs stand still: $f0 $f1"
ok "FECNs rise at the hot sink with marking on"
equal "per SL they are the same" \
	"$(stock perfquery --slrcvfecn "$sink" 1 | sed -n 's/^PortSLRcvFECN[1-9][0-9]*:\.*//p' | sort -u)" 0
for host in source1 source2 source3; do
	b=$(stock perfquery --rcvcc "$(lid $host)" 1 | field PortPktRcvBECN)
	[ "$b" -gt 0 ] || fail "no BECN at $host"
done
ok "the three sources see BECNs"
equal "the victim's destination sees no FECN" \
	"$(stock perfquery --rcvcc "$(lid destination0)" 1 | field PortPktRcvFECN)" 0
t=$(stock perfquery --xmitcc "$leaf2" 2 | field PortXmitTimeCong)
[ "$t" -gt 0 ] || fail "PortXmitTimeCong at the root is $t"
ok "PortXmitTimeCong counts at the root"
victim_on=$(flow victim received_bytes)
run_for 20
victim_on=$(($(flow victim received_bytes) - victim_on))
[ "$victim_on" -gt $((victim_off * 3 / 2)) ] || fail "the victim gained nothing: $victim_off $victim_on"
ok "the victim is better off"

stock ibccconfig SwitchCongestionSetting "$leaf2" 0x1f 0x0 0x0 0 0 0 0:0 0 || fail "ibccconfig"
run_for 2
f0=$(fecns)
run_for 5
equal "no more FECNs once marking is off" "$(fecns)" "$f0"

# A cable is pulled and put back: opensm reroutes, settings and counters survive.
sim console 'Unlink "leaf1"[4]' >"$TMP/console.log" || fail "console"
cut() { stock perfquery "$(lid source4)" 1; }
not() { ! "$@"; }
wait_until 10 not cut || fail "a host without link still answers"
ok "a host whose cable was pulled does not answer"
r0=$(flow victim received_bytes)
run_for 5
equal "and its flow stands still" "$(flow victim received_bytes)" "$r0"
sim console 'ReLink "leaf1"[4]' >"$TMP/console.log" || fail "console"
wait_until 20 cut || fail "the host does not come back"
equal "its settings are still there" "$(sim settings -j |
	jq '.rows[] | select(.node == "source4") | .ca.CCTI_Limit')" 63
runs_again() { [ "$(flow victim received_bytes)" -gt "$r0" ]; }
wait_until 20 runs_again || fail "its flow does not go on"
ok "its flow goes on"

sim set traffic=off || fail "traffic=off"
run_for 1
r0=$(flow victim received_bytes)
run_for 5
equal "traffic can be turned off" "$(flow victim received_bytes)" "$r0"
sim set mad_loss_permille=1000 || fail "mad_loss_permille"
stock perfquery "$sink" 1 >"$TMP/lost.log" 2>&1 && fail "a MAD came through"
check "no MAD comes through" grep -q 'perfquery: iberror: failed' "$TMP/lost.log"
sim set mad_loss_permille=0 mad_delay_us=1000 || fail "mad_loss_permille"
check "MADs get lost and delayed as asked" stock perfquery "$sink" 1
