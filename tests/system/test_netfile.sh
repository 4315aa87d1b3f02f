# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Stock ibsim takes the netfiles that are written here, and what stock ibnetdiscover then finds is, to
# the reader, the same fabric.
. "$(dirname "$0")/lib.sh"

tool=$IBCC_BUILD/tests/unit/test_netfile
umad2sim=$(ls /usr/lib*/*/umad2sim/libumad2sim.so /usr/lib*/umad2sim/libumad2sim.so 2>/dev/null | head -n 1)
[ -n "$umad2sim" ] || fail "libumad2sim.so is not installed"

# through_ibsim NAME SCENARIO: a simulator on the written netfile, and a discovery of it.
through_ibsim()
{
	local name=$1 rc pid
	(cd "$top" && "$tool" write "$2") >"$TMP/$name.net" || fail "$name: cannot be written"
	mkfifo "$TMP/$name.console"
	exec 9<>"$TMP/$name.console" # at the end of its console ibsim would loop
	(cd "$TMP" && IBSIM_SOCKNAME=$SIM-$name exec timeout 60 ibsim -s "$name.net" <&9 >"$name.log" 2>&1) &
	pid=$!
	CHILDREN+=("$pid")
	wait_until 10 grep -q 'sim>' "$TMP/$name.log" || fail "$name: ibsim does not start"
	grep -q "^$name.net: parsed" "$TMP/$name.log" || fail "$name: ibsim does not read the netfile"
	(cd "$TMP" && IBSIM_SOCKNAME=$SIM-$name LD_PRELOAD=$umad2sim timeout 30 ibnetdiscover) \
		>"$TMP/$name.found" 2>"$TMP/$name.found.log"
	rc=$?
	stop "$pid"
	[ "$rc" = 0 ] || fail "$name: ibnetdiscover (status $rc)"
	"$tool" list "$TMP/$name.net" | LC_ALL=C sort >"$TMP/$name.want"
	"$tool" list "$TMP/$name.found" | LC_ALL=C sort >"$TMP/$name.got"
	same "$name: ibsim takes it, ibnetdiscover gives it back ($(wc -l <"$TMP/$name.want") lines)" \
		"$TMP/$name.want" "$TMP/$name.got"
}

through_ibsim lustre "$top/perftest/scenarios/lustre.yaml"
through_ibsim tree "$top/perftest/scenarios/tree.yaml"

# Widths and speeds, names that cannot be ids of ibsim, several ports.
cat >"$TMP/odd.yaml" <<'YAML'
name: odd
duration_ms: 1
topology:
  nodes:
    - {host: "a@b#c"}
    - {host: [h1, h2, h3, h4, h5]}
    - {host: "lid 5 lmc 3", ports: 2, guid: 0x2c9030000000010}
    - {switch: "SX6036: \\ 'mgmt'", ports: 36, guid: 0x2c9030000000100}
    - {switch: S-00000000000000aa, ports: 254}
  links:
    - {ends: ["lid 5 lmc 3/2", "SX6036: \\ 'mgmt'/36"], rate: 4x FDR}
    - {ends: ["a@b#c", "SX6036: \\ 'mgmt'/1"], rate: 1x SDR}
    - {ends: [h1, "SX6036: \\ 'mgmt'/2"], rate: 4x DDR}
    - {ends: [h2, "S-00000000000000aa/254"], rate: 12x QDR}
    - {ends: [h3, "S-00000000000000aa/2"], rate: 2x HDR}
    - {ends: [h4, "S-00000000000000aa/3"], rate: 4x EDR}
    - {ends: [h5, "S-00000000000000aa/4"], rate: 8x SDR}
    - {ends: ["SX6036: \\ 'mgmt'/3", "S-00000000000000aa/1"], rate: 1x EDR}
    - {ends: ["SX6036: \\ 'mgmt'/4", "S-00000000000000aa/5"], rate: 4x QDR}
traffic:
  - {from: h1, to: h2}
YAML
through_ibsim odd "$TMP/odd.yaml"
