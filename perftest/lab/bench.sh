#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# make bench: speed of the engine, points of a sweep in an hour, the daemon by size of the fabric, predictions, jobs, polling. bench.sh BUILD-DIR
set -eu
B=$1
top=$(cd "$(dirname "$0")/../.." && pwd)
tmp=$(mktemp -d "${TMPDIR:-/tmp}/ibcc-lab.XXXXXX")
trap 'rm -rf "$tmp"' EXIT INT TERM

echo "Packet engine: medians of 5 runs, one thread, CPU seconds; credits, counters and congestion"
echo "control on, packets of 2 KB."
"$B/ibcc-lab" speed

echo
echo "Sweep over the fourth corner case of the Zurich study: 32 nodes, 13 ms."
"$B/ibcc-lab" sweep "$top/perftest/scenarios/zrl.yaml" --set congestion_control.enabled=true \
	--grid congestion_control.ca.ccti_increase=4,5,6,8 \
	--grid congestion_control.ca.ccti_timer=8,10,12 --out "$tmp/sweep.jsonl"

echo
echo "What the daemon's work costs at 648 and 3456 hosts:"
"$B/ibcc-lab" sizes 36x2 24x3 || echo "(longer than it may take)"

echo
echo "What a prediction costs there, also where hundreds of adapters wait:"
"$B/ibcc-lab" prediction || echo "(longer, or with more memory, than it may take)"

echo
echo "Polling cycles of the daemon with a map of 2000 jobs and without, by turns:"
"$B/ibcc-lab" jobs || echo "(longer than it may take)"

echo
echo "What OpenSM sends to bring up fat trees of up to 11664 hosts, one SMP in flight:"
"$B/ibcc-lab" osm-model --large || echo "(counts or times are not as the model has them)"

echo
IBCC_BUILD=$B bash "$top/perftest/lab/bench_fabric.sh"
