# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Stock ibsim and opensm, our plugin and daemon settle where the same loop settles on virtual time:
# two of the scenarios that `ibcc-bench tune` scores, throughput within 5 %.
. "$(dirname "$0")/lib.sh"

# The loop on virtual time; POLL_MS is interval_ms of write_config by the speed.
virtual() # FILE DURATION_MS MEASURE_FROM_MS POLL_MS
{
	cat >"$TMP/virtual.yaml" <<-YAML
	name: virtual
	title: the same on virtual time
	source: here
	scenario: $1
	variants:
	  - {name: live, set: [duration_ms=$2, measure_from_ms=$3], live: {poll_ms: $4}}
	rows:
	  - {name: hot, unit: Mb/s, value: "Mbps(live, hot)"}
	  - {name: other, unit: Mb/s, value: "Mbps(live, victim) + Mbps(live, background)"}
	YAML
	timeout 60 "$IBCC_BUILD/ibcc-bench" tune "$TMP/virtual.yaml" -j >"$TMP/virtual.json" ||
		fail "ibcc-bench tune"
	virtual_hot=$(jq '.rows[0].measured | round' "$TMP/virtual.json")
	virtual_other=$(jq '.rows[1].measured | round' "$TMP/virtual.json")
}

engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
run_for() { wait_until 60 later $(($(engine_ns) + $1 * 1000000)) || fail "the engine stands still"; }

# Payload that was received so far, by kind, at one moment: "NS HOT OTHER".
received()
{
	sim flows -j | jq -r '[.engine_ns, ([.rows[] | select(.kind == "hot").received_bytes] | add // 0),
		([.rows[] | select(.kind != "hot").received_bytes] | add // 0)] | join(" ")'
}

# near TEXT GOT WANT: Mb/s within 5 %.
near()
{
	local off=$((100 * ($2 - $3)))
	[ "${off#-}" -le $((5 * $3)) ] || fail "$1: $2 Mb/s, on virtual time $3 Mb/s"
	ok "$1: $2 Mb/s, on virtual time $3 Mb/s"
}

settled() { status '.fabric.pass > 30 and .writes_pending == 0'; }

# settle NAME FILE SPEED MS_TO_MEASURE
settle()
{
	local ns0 hot0 other0 ns1 hot1 other1
	start_sim "$2" --speed "$3"
	start_opensm --plugin
	start_tuned 'mode: apply'
	wait_until 40 settled || fail "$1: the loop does not settle"
	[ "$(set_mads)" -gt 0 ] || fail "$1: nothing was set"
	read -r ns0 hot0 other0 <<<"$(received)"
	run_for "$4"
	read -r ns1 hot1 other1 <<<"$(received)"
	[ "$virtual_hot" = 0 ] || near "$1: hot" $(((hot1 - hot0) * 8000 / (ns1 - ns0))) "$virtual_hot"
	near "$1: others" $(((other1 - other0) * 8000 / (ns1 - ns0))) "$virtual_other"
	stop "$TUNED_PID"
	stop "$OSM_PID"
	stop "$SIM_PID"
	rm -f "$TMP"/state.db*
}

lustre=$top/perftest/scenarios/llnl.yaml
virtual "$lustre" 160 80 4
settle lustre "$lustre" 0.02 60

# ibsim only knows links that InfiniBand has.
sed 's|rate: 10 Gb/s|rate: 4x SDR|' "$top/perftest/scenarios/campus.yaml" >"$TMP/campus.yaml"
virtual "$TMP/campus.yaml" 450 250 5
settle campus "$TMP/campus.yaml" 0.025 150
