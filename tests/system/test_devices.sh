# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A fabric of mixed devices: stock tools see them as they are on hardware, and the loop tunes it
# although no host counts waits that can be used.
. "$(dirname "$0")/lib.sh"

{
	cat "$SCENARIO"
	cat <<-YAML
	devices:
	  hosts: connectx-6
	  switches: switchx
	  nodes: {destination0: qib, leaf2: quantum2}
	YAML
} >"$TMP/mixed.yaml"
setting() { sim settings -j | jq -c --arg n "$1" ".rows[] | select(.node == \$n) | $2"; }
field() { sed -n "s/^$1:\.*//p" | head -n 1; }
tuned()
{
	tune status -j >"$TMP/status.json" 2>/dev/null &&
		jq -e '.fabric.pass > 20 and .roots == 1 and .writes_pending == 0 and .mads.sets > 0' "$TMP/status.json"
}

start_sim "$TMP/mixed.yaml" --speed 0.02
start_opensm --plugin

equal "ibnetdiscover: IDs" \
	"$(stock ibnetdiscover | grep -o '^devid=0x[0-9a-f]*' | sort | uniq -c | awk '{ print $1, $2 }' | tr '\n' ' ')" \
	"5 devid=0x101b 1 devid=0x7322 1 devid=0xc738 1 devid=0xd2f2 "
source=$(setting source1 .lid) leaf=$(setting leaf1 .lid)
# The mlx5 kernel's PortCounters has waits, which stock tools leave out, since no mask claims them.
stock perfquery "$source" 1 >"$TMP/host.log" 2>&1 || fail "perfquery of a host"
[ "$(field PortXmitData <"$TMP/host.log")" -gt 0 ] || fail "a host that sends nothing"
equal "perfquery: no waits of a host" "$(field PortXmitWait <"$TMP/host.log")" 0
[ "$(stock perfquery "$leaf" 8 | field PortXmitWait)" -gt 0 ] || fail "a switch that does not wait"
ok "perfquery: waits of a switch"
stock ibqueryerrors >"$TMP/errors.log" 2>&1
grep -q 'Summary: 8 nodes checked' "$TMP/errors.log" || fail "ibqueryerrors"
without "ibqueryerrors: no host has errors" "$TMP/errors.log" 'Errors for "source'
grep -q 'PortXmitWait == [1-9]' "$TMP/errors.log" || fail "ibqueryerrors: no switch waits"
ok "ibqueryerrors: switches wait, hosts are not seen to"

# A switch that has its counters read at a QP of its own.
sim set pma_qp.leaf1=1234 >/dev/null
start_tuned 'mode: apply'
wait_until 40 tuned || fail "the loop does not settle: $(cat "$TMP/status.json")"
ok "the hotspot is tuned"
tune status >"$TMP/text" 2>&1
grep -q 'PortXmitWait of ConnectX-6 at .* MB/s' "$TMP/text" || fail "status: $(cat "$TMP/text")"
ok "status says that the unit of these counters is undocumented"
grep -q '1 adapter of type QLE7340/7342 (destination0) with no usable count of waits' "$TMP/text" || fail "status: $(cat "$TMP/text")"
ok "status tells whose waits are not known"
grep -q "the daemon reads the counters of leaf1 at LID $leaf, QP 1234, because the node redirects it there" "$TMP/text" || fail "status: $(cat "$TMP/text")"
equal "counters of a switch that redirects are read" "$(jq '.fabric.unread | length' "$TMP/status.json")" 0
