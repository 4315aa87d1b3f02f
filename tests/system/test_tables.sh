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
