# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A fat tree with silent hosts and a silent spine: the first decision comes within five passes, and what it costs to ask
# the silent again is bounded. LEAVES, HOSTS (of a leaf), SPINES, SILENT: "make check-large" has 2304 hosts at 48 leaves
# and 32 spines, as 80-port switches of split HDR ports make it, and 10 of them are silent.
. "$(dirname "$0")/lib.sh"
LEAVES=${LEAVES:-6}
HOSTS=${HOSTS:-6}
SPINES=${SPINES:-3}
SILENT=${SILENT:-3}
BOOT_SECONDS=60
TOOL_SECONDS=120
INTERVAL_MS=${INTERVAL_MS:-1000}

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
status() { tune status -j >"$TMP/status.json" && jq -e "$1" "$TMP/status.json"; }
before=$(smps)
start_tuned 'apply_via: direct' 'clock: host' "interval_ms: $INTERVAL_MS" 'pass_deadline_ms: 60000' 'node_window: 1' 'node_gap_us: 2000'
wait_until 240 status '(.fabric.pass // 0) >= 1' || fail "no pass: $(cat "$TMP/status.json")"
wait_until 120 status '.decision != null' || fail "no decision: $(cat "$TMP/status.json")"
pass=$(jq .fabric.pass "$TMP/status.json")
[ "$pass" -le 5 ] || fail "the first decision came with pass $pass"
ok "the first decision comes with pass $pass"
n=$(($(smps) - before))
ok "after $n SMPs"

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
wait_until 120 status ".fabric.pass >= $((passes + 10))" || fail "no passes"
n=$(($(smps) - before))
equal "without another discovery" "$(jq .discoveries "$TMP/status.json")" 1
# Each try is four SMPs a gap, and the subnet manager's port is asked by one; two tries at most are due in the time.
[ "$n" -le $((2 * 4 * (SILENT + LEAVES) + 20)) ] || fail "$n SMPs in 10 passes at rest"
ok "$n SMPs in 10 passes at rest ($((SECONDS - from)) s)"
