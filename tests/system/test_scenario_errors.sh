#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Scenarios that are wrong in the ways people and machines get them wrong: each program that reads
# them ends with 78 and tells the place of each mistake, and nothing else.
. "$(dirname "$0")/lib.sh"
bad=$TMP/bad.yaml

# refused TEXT PLACE PATTERN: both programs refuse $bad with an error of that pattern at LINE:COL.
refused()
{
	local text=$1 place=$2 pattern=$3 rc program
	for program in "ibcc-bench scenario" "ibcc-sim run --name $SIM --scenario"; do
		rc=0
		# Neither much time nor much memory, whatever the file is; sanitizers reserve some.
		(
			[ -n "${SANITIZED-}" ] || ulimit -v 1000000
			# shellcheck disable=SC2086
			exec timeout 20 "$IBCC_BUILD/"$program "$bad"
		) >"$TMP/out.log" 2>"$TMP/err.log" || rc=$?
		equal "$text: ${program%% *} ends with 78" "$rc" 78
		grep -qE "^$bad:$place: $pattern" "$TMP/err.log" || fail "$text: no error '$pattern' at $place"
		without "$text: each line has a place" "$TMP/err.log" -vE "^$bad:[0-9]+:[0-9]+: "
		[ ! -s "$TMP/out.log" ] || fail "$text: something on standard output"
		ok "$text: ${program%% *} tells where"
	done
}
if grep -qa __asan_init "$IBCC_BUILD/ibcc-bench"; then SANITIZED=yes; fi

# good [SED SCRIPT]: a scenario of five switches in a row, with the script's mistake.
good()
{
	sed -e "${1-}" >"$bad" <<'YAML'
name: row
duration_ms: 1
topology:
  nodes:
    - {host: [a, b, c, d, e]}
    - {switch: [s1, s2, s3, s4, s5], ports: 4}
  links:
    - [a, s1/1]
    - [b, s2/1]
    - [c, s3/1]
    - [d, s4/1]
    - [e, s5/1]
    - [s1/2, s2/3]
    - [s2/2, s3/3]
    - [s3/2, s4/3]
    - [s4/2, s5/3]
traffic:
  - {from: [a, b], to: c, rate: 1 Gb/s}
YAML
}

good
check "the scenario that is spoilt below is good" "$IBCC_BUILD/ibcc-bench" scenario "$bad"

good 's/^duration_ms/duraton_ms/'
refused "an unknown key" 2:1 'duraton_ms: unknown key, did you mean "duration_ms"'
good 's/rate: 1 /rate: -1 /'
refused "a negative rate" 18:33 'traffic.rate: got "-1 Gb/s", want .* from 1 to 10000000'
good 's/to: c/to: z/'
refused "a destination that is not there" 18:24 'traffic.to: got "z", want a node'
good '/\[c, s3/d'
refused "a destination without link" 17:24 'traffic.to: got "c", want a host that has a link'
good '/s2\/2/d'
refused "a destination in another part of the fabric" 17:5 \
	'traffic: got a flow from a to c, want links that lead from one to the other'
good 's/\[b, s2\/1\]/[b, s1\/1]/'
refused "a port used twice" 9:11 'topology.links: got "s1/1", want a port that has no link yet'
# Each flow goes by two of five links in a ring, so all five outputs wait for each other.
good 's/^traffic/    - [s5\/2, s1\/3]\n&/; /from: \[a, b\]/d'
for flow in 'a, to: c' 'b, to: d' 'c, to: e' 'd, to: a' 'e, to: b'; do echo "  - {from: $flow, rate: 1 Gb/s}"; done >>"$bad"
refused "routes of flows in a circle" 4:3 \
	'topology: got flows whose routes make a circle of 5 outputs .*\(s[1-5] port [23], s[1-5] port [23], .*\.\.\.\)'
good 's/ms: 1/ms: -1/; s/ports: 4/ports: 0/; s/to: c/too: c/'
refused "several mistakes" 6:45 'topology.nodes.ports: got "0"'
equal "all are told" "$(wc -l <"$TMP/err.log")" 4

good
truncate -s 2G "$bad"
refused "a file of 2 GB" 1:1 'got more than 4 MiB'
deep() { printf 'name: x\ntopology: '; head -c "$1" /dev/zero | tr '\0' "$2"; }
deep 3000000 '[' >"$bad"
refused "lists in lists, three million deep" 2:74 'got lists and mappings nested deeper, want at most 64'
deep 60 '[' >"$bad"
head -c 60 /dev/zero | tr '\0' ']' >>"$bad"
refused "lists in lists, 60 deep" 2:11 'topology: got a list, want a mapping'
awk 'BEGIN { for (i = 0; i < 2000; i++) { printf "%*sa:\n", i, "" } }' >"$bad"
refused "mappings in mappings" 65:65 'got lists and mappings nested deeper, want at most 64'
awk 'BEGIN { for (i = 0; i < 300000; i++) { printf "- &a%d\n", i } }' >"$bad"
refused "names for everything" 257:3 'got another anchor, want at most 256'
printf 'name: &x [*x, *x]\ntopology: &y {nodes: *y, links: *y}\ntraffic: *y\n' >"$bad"
refused "aliases that contain themselves" 1:7 'name: got a list'
awk 'BEGIN { print "a0: &a0 [x, x]"; for (i = 1; i < 60; i++) printf "a%d: &a%d [*a%d, *a%d]\n", i, i, i - 1, i - 1
	print "name: x\nduration_ms: 1\ntopology: *a59\ntraffic: *a59" }' >"$bad"
refused "aliases that double sixty times" 1:1 'a0: unknown key'
head -c 65536 /dev/urandom >"$bad"
refused "noise" '[0-9]+:[0-9]+' 'this is not YAML: '
