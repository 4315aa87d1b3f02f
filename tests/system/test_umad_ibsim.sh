#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The umad transport and discovery on stock ibsim, with stock opensm and ibnetdiscover as witnesses.
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/lib.sh"

umad2sim=$(ls /usr/lib/*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
[ -n "$umad2sim" ] || fail "no umad2sim library"
probe=$IBCC_BUILD/tests/system/umad_probe
leaves=6 spines=3 hosts=8 # at each leaf
name=$SIM-umad

# A tree of 36 port switches, two cables between the first leaf and the first spine.
netfile()
{
	local l s h
	for ((l = 0; l < leaves; l++)); do
		echo "Switch 36 \"L$l\""
		for ((h = 0; h < hosts; h++)); do echo "[$((h + 1))] \"H$((l * hosts + h))\"[1]"; done
		for ((s = 0; s < spines; s++)); do echo "[$((20 + s))] \"S$s\"[$((l + 1))]"; done
		[ "$l" = 0 ] && echo '[36] "S0"[36]'
		echo
	done
	for ((s = 0; s < spines; s++)); do
		echo "Switch 36 \"S$s\""
		for ((l = 0; l < leaves; l++)); do echo "[$((l + 1))] \"L$l\"[$((20 + s))]"; done
		[ "$s" = 0 ] && echo '[36] "L0"[36]'
		echo
	done
	for ((h = 0; h < leaves * hosts; h++)); do
		printf 'Hca 1 "H%d"\n[1] "L%d"[%d]\n\n' "$h" $((h / hosts)) $((h % hosts + 1))
	done
}
netfile >"$TMP/net"

# on HOST COMMAND...: as a client of the simulator.
on()
{
	(cd "$TMP" && timeout 30 env IBSIM_SOCKNAME="$name" SIM_HOST="$1" LD_PRELOAD="$umad2sim" \
		OSM_CACHE_DIR="$TMP" OSM_TMP_DIR="$TMP" "${@:2}")
}
ready() { ss -xl 2>/dev/null | grep -q "@$name:ctl" || grep -q "@$name:ctl" /proc/net/unix; }

background "$TMP/ibsim.log" env IBSIM_SOCKNAME="$name" ibsim -s -n -N 200 -S 50 -P 2000 "$TMP/net"
ibsim_pid=$!
wait_until 10 ready || fail "ibsim does not start"

# Before an SM was there: the whole fabric, but no LIDs.
equal "discovery without an SM" "$(on H0 "$probe" summary)" \
	"nodes 57 links 67 lids 0 routes 0 lost 2688"
check "opensm brings the fabric up" on H0 opensm -o -Q -f "$TMP/opensm.log"
equal "discovery after opensm" "$(on H0 "$probe" summary)" \
	"nodes 57 links 67 lids 57 routes 2688 lost 0"

# Each end of each link as ibnetdiscover has it.
on H0 ibnetdiscover >"$TMP/net.out" 2>"$TMP/ibnetdiscover.log" || fail "ibnetdiscover"
awk '/^(Switch|Ca)\t/ { match($0, /"[^"]*"/); id = substr($0, RSTART + 1, RLENGTH - 2) }
	/^\[/ {
		split($0, part, /[][]/); port = part[2]
		match($0, /"[^"]*"\[[0-9]+\]/); split(substr($0, RSTART, RLENGTH), peer, /["\[\]]+/)
		print id, port, peer[2], peer[3]
	}' "$TMP/net.out" | sort >"$TMP/want"
for host in H0 H47 S2; do
	on $host "$probe" links | sort >"$TMP/got"
	equal "links seen from $host" "$(wc -l <"$TMP/got")" 134
	same "the same as ibnetdiscover's, from $host" "$TMP/want" "$TMP/got"
done

equal "counters of all ports" "$(on H3 "$probe" passes)" "fresh 134 stale 0 unreachable 0"
for window in 1 64 128; do
	equal "window of $window" "$(on H5 "$probe" window $window 3000 | sed 's/guid.*//')" \
		"run 0 good 3000 stray Connection timed out sm yes "
done

# A server that stops reading must not hang us, and is found again.
background "$TMP/stall.log" env IBSIM_SOCKNAME="$name" SIM_HOST=H7 LD_PRELOAD="$umad2sim" \
	"$probe" stall
stall_pid=$!
wait_until 10 grep -q 'run 0' "$TMP/stall.log" || fail "the probe does not start"
kill -STOP "$ibsim_pid"
wait_until 10 grep -q 'run -' "$TMP/stall.log" || { kill -CONT "$ibsim_pid"; fail "stall not noticed"; }
ok "a stopped server is noticed"
kill -CONT "$ibsim_pid"
wait_until 20 gone "$stall_pid" || fail "the probe does not end"
equal "and found again" "$(tail -n 1 "$TMP/stall.log")" "run 0"
rc=0
wait "$stall_pid" || rc=$?
equal "the probe's exit" "$rc" 0
