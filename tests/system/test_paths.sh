# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A torus of 5 x 5 switches under opensm's engines that avoid deadlocks by layers: lash, dfsssp and nue. saquery prints the
# SLs of paths, dump_fts the tables. ibcc-bench refuses the tables without the SLs, for a circle; and on ibcc-sim, packets
# without them close it. With them, flows have the same shares in ibcc-bench as on ibcc-sim. So they have in a dragonfly and
# a HyperX.
. "$(dirname "$0")/lib.sh"
bench=$IBCC_BUILD/ibcc-bench

# scenario MORE: of the topology
scenario()
{
	local pair
	cat <<-YAML
		name: torus
		duration_ms: 20
		measure_from_ms: 10
		topology: {$shape, rate: 4x SDR, $1}
		model: {vls: 8, buffer_bytes: 2112}
		traffic:
	YAML
	for pair in "${pairs[@]}"; do echo "  - {from: h${pair%:*}, to: h${pair#*:}}"; done
}
engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
run_on() { wait_until 60 later $(($(engine_ns) + $1 * 1000000)) || fail "the engine stands still"; }
received() { sim flows -j | jq -c '[.rows[].received_bytes]'; }
tables() { stock dump_fts | grep -v Unicast | sort; }
# The LID of host n is n + 1.
records()
{
	local pair
	for pair in "${pairs[@]}"; do
		stock saquery PR --slid $((${pair%:*} + 1)) --dlid $((${pair#*:} + 1)) || return
		stock saquery PR --slid $((${pair#*:} + 1)) --dlid $((${pair%:*} + 1)) || return
	done
}

# start SCENARIO ENGINE: while opensm writes tables one by one, a circle may close, and it would stay.
start()
{
	start_sim "$1"
	sim set traffic=off || fail "traffic=off"
	start_opensm --tag "$2" "routing_engine $2" 'qos TRUE' 'nue_max_num_vls 0'
}
end()
{
	stop "$OSM_PID"
	stop "$SIM_PID"
}

# files ENGINE: tables and path records, by packets of one SL, for which the scenario has routes without a circle.
files()
{
	scenario 'routes: up-down' >"$TMP/$1-sl0.yaml"
	start "$TMP/$1-sl0.yaml" "$1"
	stock dump_fts -n >"$TMP/$1.fts" || fail "dump_fts"
	tables >"$TMP/$1.want"
	records >"$TMP/$1.paths" || fail "saquery"
	scenario "tables: $1.fts, paths: $1.paths" >"$TMP/$1.yaml"
}

# circle ENGINE
circle()
{
	sim set traffic=on || fail "traffic=on"
	wait_until 60 grep -q deadlock "$TMP/sim.log" || fail "no deadlock with $1 on one SL"
	ok "$1: without the SLs of paths there is a deadlock"
	scenario "tables: $1.fts" >"$TMP/$1-tables.yaml"
	"$bench" scenario "$TMP/$1-tables.yaml" >"$TMP/$1.refused" 2>&1 && fail "ibcc-bench takes the tables of $1 alone"
	check "$1: tables alone are refused, with the key that helps" grep -q \
		'topology: got flows whose routes make a circle of .* and nue the SLs of paths in topology.paths' "$TMP/$1.refused"
}

# same_shares ENGINE
same_shares()
{
	local before after
	"$bench" scenario "$TMP/$1.yaml" -j >"$TMP/$1.json" || fail "ibcc-bench refuses the paths of $1"
	start "$TMP/$1.yaml" "$1"
	tables >"$TMP/$1.got"
	same "$1: opensm makes the same tables" "$TMP/$1.want" "$TMP/$1.got"
	sim set traffic=on || fail "traffic=on"
	run_on 10
	before=$(received)
	run_on 20
	after=$(received)
	# Of all that came, each flow's share.
	jq -c --argjson a "$before" --argjson b "$after" --argjson n ${#pairs[@]} '
		def shares: add as $all | map(. / $all);
		[([range($n)] | map($b[.] - $a[.]) | shares), ([.flows[].mbps] | shares)]
		| transpose | map((.[0] - .[1]) | fabs) | max' "$TMP/$1.json" >"$TMP/$1.off"
	check "$1: ibcc-bench and ibcc-sim have the same shares" jq -e '. < 0.01' "$TMP/$1.off"
	without "$1: with the SLs there is no deadlock" "$TMP/sim.log" deadlock
	end
}

# In one ring all send to the second next, which is a circle of five outputs; and others go through that ring.
shape='torus: {sizes: [5, 5]}'
pairs=(0:2 1:3 2:4 3:0 4:1 7:2 11:3 15:1 24:0)
for engine in lash dfsssp nue; do
	files "$engine"
	circle "$engine"
	end
	same_shares "$engine"
done

# other ENGINE
other()
{
	files "$1"
	end
	same_shares "$1"
}
# Hosts 0 to 5 are in the first group of four.
shape='dragonfly: {switches: 3, global_links: 1, hosts: 2}'
pairs=(0:7 1:13 2:19 3:0 8:3 14:5 20:1 9:14 23:7 17:10)
other dfsssp
shape='hyperx: {sizes: [4, 3]}'
pairs=(0:5 1:5 2:7 3:8 6:0 11:4 9:5 10:3)
other lash
