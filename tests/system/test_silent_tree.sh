# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A fat tree with silent hosts and a silent spine: the first decision comes within five passes, and what it costs to ask
# the silent again is bounded. By LEAVES, HOSTS (of a leaf), SPINES, SILENT and PASS_MS "make check-large" has 2304 hosts
# at 48 leaves and 32 spines, as 80-port switches of split HDR ports make it, of which 10 are silent.
. "$(dirname "$0")/lib.sh"
LEAVES=${LEAVES:-6}
HOSTS=${HOSTS:-6}
SPINES=${SPINES:-3}
SILENT=${SILENT:-3}
BOOT_SECONDS=60
TOOL_SECONDS=120
PASS_MS=${PASS_MS:-1000}

tree_net()
{
	awk -v leaves="$LEAVES" -v hosts="$HOSTS" -v spines="$SPINES" 'BEGIN {
		for (s = 1; s <= spines; s++) {
			printf "Switch %d \"spine%d\"\n", leaves, s
			for (l = 1; l <= leaves; l++) printf "[%d] \"leaf%d\"[%d]\n", l, l, hosts + s
			print ""
		}
		for (l = 1; l <= leaves; l++) {
			printf "Switch %d \"leaf%d\"\n", hosts + spines, l
			for (h = 1; h <= hosts; h++) printf "[%d] \"h%d-%d\"[1]\n", h, l, h
			for (s = 1; s <= spines; s++) printf "[%d] \"spine%d\"[%d]\n", hosts + s, s, l
			print ""
		}
		for (l = 1; l <= leaves; l++)
			for (h = 1; h <= hosts; h++)
				printf "Hca 1 \"h%d-%d\"\n[1] \"leaf%d\"[%d]\n\n", l, h, l, h
	}'
}
tree_net >"$TMP/tree.net"
start_sim "$TMP/tree.net" --speed 1
start_opensm 'sweep_interval 0'
nodes=$((LEAVES * HOSTS + LEAVES + SPINES))
has_lids() { sim settings -j | jq -e '[.rows[] | select(.lid > 0)] | length == '"$nodes"; }
wait_until 120 has_lids || fail "no LIDs"
lid() { sim settings -j | jq --arg n "$1" '.rows[] | select(.node == $n).lid'; }

# The hosts of the second leaf and on, one of each; and a spine.
names=()
for ((i = 0; i < SILENT; i++)); do names+=("h$((2 + i % (LEAVES - 1)))-$((1 + i / (LEAVES - 1)))"); done
for n in "${names[@]}" spine2; do sim set "mad_loss_permille.$n=1000" || fail "set"; done

smps() { sim stats -j | jq '[.rows[] | select(.class == "0x81" or .class == "0x01") | .count] | add // 0'; }
before=$(smps)
start_tuned 'apply_via: direct' "interval_ms: $PASS_MS" 'pass_deadline_ms: 60000' 'node_window: 1' 'node_gap_us: 2000'
wait_until 240 status '(.fabric.pass // 0) >= 1' || fail "no pass: $(cat "$TMP/status.json")"
wait_until 120 status '.decision != null' || fail "no decision: $(cat "$TMP/status.json")"
pass=$(jq .fabric.pass "$TMP/status.json")
[ "$pass" -le 5 ] || fail "the first decision came with pass $pass"
ok "the first decision comes with pass $pass"
n=$(($(smps) - before))
ok "after $n SMPs, a pass every $(jq .interval_ms "$TMP/status.json") ms"

equal "a gap at each silent host, and one at each leaf for the spine" \
	"$(jq -c '.fabric.gaps | [length, (map(select(.leads_to == "switch")) | length)]' "$TMP/status.json")" \
	"[$((SILENT + LEAVES)),$LEAVES]"
equal "with the spine's LID at each" "$(jq -c '[.fabric.gaps[] | select(.leads_to == "switch").lids[]] | unique' "$TMP/status.json")" \
	"[$(lid spine2)]"
for n in "${names[@]}"; do lid "$n"; done | sort -n | jq -sc . >"$TMP/want.json"
equal "and the hosts' own" "$(jq -c '[.fabric.gaps[] | select(.leads_to == "adapter").lids[]] | sort' "$TMP/status.json")" \
	"$(cat "$TMP/want.json")"
equal "the others are there" "$(jq .fabric.nodes "$TMP/status.json")" $((nodes - SILENT - 1))

# Once they are believed to be silent they are asked ever more seldom, and nothing else is.
wait_until 120 status '.state == "ok"' || fail "not ok: $(jq -c '[.state, .reason]' "$TMP/status.json")"
before=$(smps)
passes=$(jq .fabric.pass "$TMP/status.json")
from=$SECONDS
wait_until $((60 + PASS_MS / 100)) status ".fabric.pass >= $((passes + 10))" || fail "no passes"
n=$(($(smps) - before))
equal "without another discovery" "$(jq .discoveries "$TMP/status.json")" 1
# By then a try, of four SMPs a gap, comes every 16 seconds at most. One more SMP asks for the local port.
elapsed=$((SECONDS - from))
[ "$n" -le $(((elapsed / 16 + 1) * (4 * (SILENT + LEAVES) + 1))) ] || fail "$n SMPs in $elapsed s at rest"
ok "$n SMPs in $elapsed s at rest: $((60 * n / (elapsed ? elapsed : 1))) a minute"
