# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# ibcc-sim exec finds the host to run at whatever nodes are called, and console prints what ibsim prints.
. "$(dirname "$0")/lib.sh"

# fabric NAME ID: a netfile of two hosts at a switch; the first one has this description and id.
fabric()
{
	printf 'switchguid=0x200\nSwitch 4 "S1" # "switch"\n[1] "%s"[1]\n[2] "H2"[1]\n\n' "$2"
	printf 'caguid=0x100\nCa 1 "%s" # "%s"\n[1] "S1"[1]\n\ncaguid=0x110\nCa 1 "H2" # "second"\n[1] "S1"[2]\n' "$2" "$1"
}

# sits TEXT GUID COMMAND...: the command runs at the node with this GUID.
sits()
{
	local text=$1 guid=$2
	shift 2
	timeout 20 "$@" smpquery nodeinfo -D 0 >"$TMP/out.log" 2>&1 || fail "$text: $(cat "$TMP/out.log")"
	grep -q "^Guid:\.*$guid" "$TMP/out.log" || fail "$text: $(cat "$TMP/out.log")"
	ok "$text"
}
# The program itself, and not the short way of lib.sh.
sim() { within 20 "$IBCC_BUILD/ibcc-sim" "$1" --name "$SIM" "${@:2}"; }
run=("$IBCC_BUILD/ibcc-sim" exec --name "$SIM")
cd "$TMP" || fail "no folder"

fabric 'thirty-two bytes have this name:' H-0000000000000100 >"$TMP/net"
start_sim "$TMP/net"
sits "a first host with a name of 32 bytes" 0x0000000000000100 "${run[@]}" --
sits "the same, by its name" 0x0000000000000100 "${run[@]}" --host 'thirty-two bytes have this name:' --
sits "by its GUID" 0x0000000000000100 "${run[@]}" --host 0x100 --
sits "by its id" 0x0000000000000100 "${run[@]}" --host H-0000000000000100 --
sits "another one by its name" 0x0000000000000110 "${run[@]}" --host second --
sits "by SIM_HOST" 0x0000000000000110 env SIM_HOST=second "${run[@]}" --
"${run[@]}" --host nobody -- true 2>"$TMP/err.log" && fail "a host that is not there"
equal "a host that is not there" "$(cat "$TMP/err.log")" "ibcc-sim exec: nobody: no such node"
sim console 'Dump "S1"' >"$TMP/dump" || fail "console"
equal "console prints the lines of ibsim" "$(grep -c '^0*200 \[[0-4]\]' "$TMP/dump")" 5
sim console -j 'Dump "S1"' >"$TMP/dump.json" || fail "console -j"
equal "and as JSON one text each" "$(jq '[.lines[] | select(test("^0*200 .[0-4]"))] | length' "$TMP/dump.json")" 5
stop "$SIM_PID"

fabric 'Büro' 'Büro' >"$TMP/net"
start_sim "$TMP/net"
sits "a first host whose name is no ASCII" 0x0000000000000100 "${run[@]}" --
sits "by its name" 0x0000000000000100 "${run[@]}" --host 'Büro' --
stop "$SIM_PID"

printf '%s\n' 'name: names' 'duration_ms: 1' 'topology:' '  nodes:' \
	'    - {host: ["a name that is much too long for ibsim to take a client", "ö"]}' \
	'    - {switch: s, ports: 2}' '  links:' \
	'    - ["a name that is much too long for ibsim to take a client", s/1]' '    - ["ö", s/2]' 'traffic: []' >"$TMP/names.yaml"
start_sim "$TMP/names.yaml"
stock smpquery nodedesc -D 0 >"$TMP/out.log" 2>&1 || fail "a scenario whose first host has a long name"
grep -q 'a name that is much too long' "$TMP/out.log" || fail "not at the first host: $(cat "$TMP/out.log")"
ok "a scenario whose first host has a long name"
at 'ö' smpquery nodedesc -D 0 >"$TMP/out.log" 2>&1 || fail "a host with another letter: $(cat "$TMP/out.log")"
silent "a host with another letter is not the first one" awk '/a name that is/' "$TMP/out.log"
ok "a host with another letter"
