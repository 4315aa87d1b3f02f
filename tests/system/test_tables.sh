# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A torus, a HyperX and a dragonfly whose routes come from opensm: dump_fts writes its tables, ibcc-bench takes them, and
# flows get the same shares there as on ibcc-sim. opensm takes the same file, too.
. "$(dirname "$0")/lib.sh"
bench=$IBCC_BUILD/ibcc-bench

# scenario SHAPE [TABLES]
scenario()
{
	cat <<-YAML
		name: shape
		duration_ms: 20
		measure_from_ms: 10
		topology: {$1, rate: 4x SDR${2:+, tables: $2}}
		traffic:
		  - {name: one, from: h0, to: h4}
		  - {name: two, from: h1, to: h4}
		  - {name: three, from: h2, to: h7}
		  - {name: four, from: h3, to: h8}
		  - {name: five, from: h6, to: h4}
	YAML
}
tables() { stock dump_fts | grep -v Unicast | sort; }
engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
received() { sim flows -j | jq -c '[.rows[].received_bytes]'; }

# same_shares NAME SHAPE ENGINE: with the routes that this engine of opensm makes.
same_shares()
{
	scenario "$2" >"$TMP/$1.yaml"
	start_sim "$TMP/$1.yaml"
	start_opensm --tag "$1" "routing_engine $3"
	stock dump_fts >"$TMP/$1.fts" || fail "dump_fts"
	tables >"$TMP/$1.want"
	scenario "$2" "$1.fts" >"$TMP/$1-tables.yaml"
	"$bench" scenario "$TMP/$1-tables.yaml" -j >"$TMP/$1.json" || fail "ibcc-bench refuses the tables of $1"
	wait_until 60 later $(($(engine_ns) + 10000000)) || fail "the engine stands still"
	local before after
	before=$(received)
	wait_until 60 later $(($(engine_ns) + 20000000)) || fail "the engine stands still"
	after=$(received)
	# Of all that came, each flow's share.
	jq -c --argjson a "$before" --argjson b "$after" '
		def shares: add as $all | map(. / $all);
		[([range(5)] | map($b[.] - $a[.]) | shares), ([.flows[].mbps] | shares)]
		| transpose | map((.[0] - .[1]) | fabs) | max' "$TMP/$1.json" >"$TMP/$1.off"
	check "$1: ibcc-bench and ibcc-sim have the same shares" jq -e '. < 0.01' "$TMP/$1.off"
}

same_shares torus 'torus: {sizes: [3, 3]}' updn
stop "$OSM_PID"
start_opensm --tag again 'routing_engine file' "lfts_file $TMP/torus.fts"
tables >"$TMP/torus.got"
same "opensm takes the tables, too" "$TMP/torus.want" "$TMP/torus.got"
stop "$OSM_PID"
stop "$SIM_PID"
same_shares hyperx 'hyperx: {sizes: [4, 3]}' minhop
stop "$OSM_PID"
stop "$SIM_PID"
same_shares dragonfly 'dragonfly: {switches: 3, global_links: 1}' updn

# A real fabric, of which each port of an adapter is a node with the port's GUID. ibsim makes other port GUIDs, so its tables
# are right without destinations only.
stop "$OSM_PID"
stop "$SIM_PID"
card() # SWITCH LETTER FIRST_LID: the two ports of an adapter
{
	local i
	for i in 0 1; do
		printf 'caguid=0x%s%d\nCa 1 "H-00000000000000%s%d" # "%s mlx5_%d"\n[1](%s%d) "S-000000000000005%d"[%d] # lid %d lmc 0\n\n' \
			"$2" $i "$2" $i "$2" $i "$2" $i "$1" $((i + 1)) $(($3 + i))
	done
}
{
	for i in 1 2; do
		printf 'switchguid=0x5%d(5%d)\nSwitch 8 "S-000000000000005%d" # "s%d" enhanced port 0 lid %d lmc 0\n' $i $i $i $i $i
		for port in 7 8; do printf '[%d] "S-000000000000005%d"[%d] # lid %d\n' $port $((3 - i)) $port $((3 - i)); done
		for port in 1 2; do printf '[%d] "H-00000000000000%s%d"[1]\n' $port "$([ $i = 1 ] && echo a || echo b)" $((port - 1)); done
		echo
	done
	card 1 a 19
	card 2 b 21
} >"$TMP/cards.net"
cat >"$TMP/cards.fts" <<'FTS'
Unicast lids [0x0-0x16] of switch Lid 1 guid 0x0000000000000051 (s1):
0x0001 000
0x0002 007
0x0013 001
0x0014 002
0x0015 007
0x0016 008
Unicast lids [0x0-0x16] of switch Lid 2 guid 0x0000000000000052 (s2):
0x0001 007
0x0002 000
0x0013 007
0x0014 008
0x0015 001
0x0016 002
FTS
cat >"$TMP/cards.yaml" <<'YAML'
name: cards
duration_ms: 20
topology: {netfile: cards.net, tables: cards.fts}
traffic:
  - {from: a mlx5_0, to: b mlx5_0}
  - {from: a mlx5_1, to: b mlx5_1}
YAML
"$bench" scenario "$TMP/cards.yaml" -j >"$TMP/cards.json" || fail "ibcc-bench refuses the tables of adapters with two nodes"
check "ibcc-bench: the two ports take a link each" jq -e '[.flows[].mbps] | .[0] / .[1] | . > 0.99 and . < 1.01' "$TMP/cards.json"
start_sim "$TMP/cards.yaml"
start_opensm --tag cards 'routing_engine file' "lfts_file $TMP/cards.fts"
stock dump_fts -n | grep '^0x' | tr -d ' ' | sort >"$TMP/cards.got"
grep '^0x' "$TMP/cards.fts" | tr -d ' ' | sort >"$TMP/cards.want"
same "opensm takes tables without destinations as they are" "$TMP/cards.want" "$TMP/cards.got"
