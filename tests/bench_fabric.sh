# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Speed on whole fabrics: polling all ports and pushing settings, on simulated trees with stock
# opensm. bench_fabric.sh, with IBCC_BUILD set.
. "$(dirname "$0")/system/lib.sh"
BOOT_SECONDS=300 # thousands of hosts
TOOL_SECONDS=300

# fabric PORTS LEVELS: a simulated tree, and opensm with our plugin in charge of it.
fabric()
{
	tree "$1" "$2" >"$TMP/tree.yaml"
	start_sim "$TMP/tree.yaml"
	start_opensm --plugin 'sweep_interval 0' 'sminfo_polling_timeout 60000'
	# Not before the simulator has seen the last LID.
	wait_until 60 all_answer || fail "not all hosts answer"
}
all_answer() { stock "$IBCC_BUILD/ibcc-bench" poll --alone --repeat 1 -j >"$TMP/poll.json" && jq -e '.fresh == .ports' "$TMP/poll.json"; }
quit_fabric()
{
	stop "$OSM_PID"
	stop "$SIM_PID"
}

# bare COMMAND...: on stock ibsim, without ibcc-sim.
bare() { (cd "$TMP" && SIM_HOST=h1 IBSIM_SOCKNAME=$SIM.bare LD_PRELOAD=$UMAD2SIM exec timeout 300 "$@"); }
bare_sm() { bare sminfo; }

fabric 36 2
UMAD2SIM=$(stock sh -c 'echo "${LD_PRELOAD##*:}"')
echo "Polling all ports of a 36-port tree of two levels, 648 hosts, through ibcc-sim:"
stock "$IBCC_BUILD/ibcc-bench" poll || fail "poll"
stock "$IBCC_BUILD/ibcc-bench" poll --alone -j >"$TMP/small.json" || fail "poll"
echo
echo "Settings of its own for each node there, each read back:"
stock "$IBCC_BUILD/ibcc-bench" push || fail "push"
quit_fabric

"$IBCC_BUILD/ibcc-bench" netfile "$TMP/tree.yaml" >"$TMP/tree.net" || fail "netfile"
background "$TMP/ibsim.log" env IBSIM_SOCKNAME="$SIM.bare" ibsim -s -n -N 702 -S 54 -P 4000 "$TMP/tree.net"
ibsim=$!
sleep 1
mkdir "$TMP/bare"
background "$TMP/bare.log" env SIM_HOST=h0 IBSIM_SOCKNAME="$SIM.bare" LD_PRELOAD="$UMAD2SIM" \
	OSM_CACHE_DIR="$TMP/bare" OSM_TMP_DIR="$TMP/bare" opensm -s 0 -f "$TMP/bare/opensm.log"
osm=$!
wait_until 60 grep -q 'Entering MASTER' "$TMP/bare.log" && wait_until 60 bare_sm || fail "no SM on bare ibsim"
echo
echo "The same on bare ibsim, without class 0x21:"
# Before the collector: ibsim hands PortSamplesControl to opensm, which dies of it.
for i in 1 2 3 4 5; do
	{ TIMEFORMAT=%R; time bare ibqueryerrors --counters >/dev/null 2>&1; } 2>>"$TMP/queryerrors" ||
		fail "ibqueryerrors on ibsim"
done
bare "$IBCC_BUILD/ibcc-bench" poll --no-cc --alone || fail "poll on ibsim"
sort -n "$TMP/queryerrors" | sed -n '3s/$/ s: ibqueryerrors --counters/p'
stop "$osm"
stop "$ibsim"

fabric 24 3
echo
echo "A 24-port tree of three levels, 3456 hosts, through ibcc-sim:"
stock "$IBCC_BUILD/ibcc-bench" poll || fail "poll"
stock "$IBCC_BUILD/ibcc-bench" poll --alone -j >"$TMP/large.json" || fail "poll"
echo
jq -rs '"Time for a port at 3456 hosts against 648: \((.[1].pollers[0].seconds / .[1].ports) /
	(.[0].pollers[0].seconds / .[0].ports) * 100 | round / 100)"' "$TMP/small.json" "$TMP/large.json"

start_tuned
passes() { tune status -j >"$TMP/status.json" && jq -e '.fabric.pass >= 12' "$TMP/status.json"; }
wait_until 120 passes || fail "the daemon does not poll"
daemon=$(pgrep -P "$TUNED_PID" -x ibcc-tuned || echo "$TUNED_PID")
awk -v hz="$(getconf CLK_TCK)" -v n="$(jq .fabric.pass "$TMP/status.json")" \
	'{ printf "The daemon there: %.2f s of CPU time in %d passes, one each 200 ms, ", ($14 + $15) / hz, n }' \
	"/proc/$daemon/stat"
awk '/VmRSS/ { printf "%.1f MiB resident\n", $2 / 1024 }' "/proc/$daemon/status"
