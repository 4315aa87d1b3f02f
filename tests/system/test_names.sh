# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Names that ibsim changes on its way from the scenario to the fabric, and names that several nodes have: flows,
# events and knobs of such nodes do what they say, or say why not.
. "$(dirname "$0")/lib.sh"

flow() { sim flows -j | jq -r --arg n "$1" ".rows[] | select(.name == \$n) | .$2"; }
flows() { [ "$(flow "$1" mbps)" -gt 0 ]; }
stands() { [ "$(flow "$1" mbps)" = 0 ]; }
hosts() { stock ibnetdiscover -H | grep -c '^Ca'; }
hosts_are() { [ "$(hosts)" = "$1" ]; }

cat >"$TMP/names.yaml" <<'YAML'
name: names
duration_ms: 100000
topology:
  nodes:
    - {host: [plain, "tab\there", "Müller", far, farther]}
    - {switch: ["switch\tone", two], ports: 4}
  links:
    - [plain, "switch\tone/1"]
    - ["tab\there", "switch\tone/2"]
    - ["Müller", "switch\tone/3"]
    - [far, two/1]
    - [farther, two/2]
traffic:
  - {name: tab, from: "tab\there", to: plain}
  - {name: umlaut, from: "Müller", to: plain}
  - {name: back, from: plain, to: "tab\there"}
  - {name: island, from: far, to: farther}
events:
  - {at_ms: 2000, link_down: "switch\tone/3"}
YAML
start_sim "$TMP/names.yaml"
start_opensm
for f in tab umlaut back; do
	wait_until 60 flows $f || fail "flow $f stands at 0"
done
ok "flows of nodes whose names are not ASCII run"
equal "a flow that no links join to the first host names what is missing" "$(flow island missing)" far
equal "the others miss nothing" "$(sim flows -j | jq -c "[.rows[].missing]")" '["","","","far"]'
grep -q '^ibcc-sim: flow island sends nothing: .* no node far, ' "$TMP/sim.log" || fail "run does not say so"
ok "and run says so"
equal "three hosts are there" "$(hosts)" 3
sim set speed=1
wait_until 60 hosts_are 2 || fail "the link event at a switch with a tab in its name does not happen"
wait_until 60 stands umlaut || fail "the flow runs over the link that is down"
ok "a link event at a switch with a tab in its name happens"
stop "$SIM_PID"

cat >"$TMP/same.net" <<'NET'
switchguid=0x10
Switch	4 "S-0000000000000010"		# "leaf" base port 0 lid 0 lmc 0
[1]	"H-00000000000000a1"[1]
[2]	"H-00000000000000a2"[1]

caguid=0xa1
Ca	1 "H-00000000000000a1"		# "HCA-1"
[1]	"S-0000000000000010"[1]

caguid=0xa2
Ca	1 "H-00000000000000a2"		# "HCA-1"
[1]	"S-0000000000000010"[2]
NET
start_sim "$TMP/same.net"
sim set mad_loss_permille.HCA-1=1000 >"$TMP/set.log" 2>&1 && fail "a knob of two nodes is set at the first"
equal "a knob whose node is two nodes is refused" "$(cat "$TMP/set.log")" \
	"ibcc-sim set: mad_loss_permille.HCA-1: several nodes have this name; write the node's GUID as 0x..."
check "by GUID it is set" sim set mad_loss_permille.0xa2=1000
check "and by ibnetdiscover's id" sim set mad_loss_permille.H-00000000000000a1=0
