# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Rates of links that stock ibsim does not know, as stock tools see them, and as the engine and direct
# mode have them; and what is refused, with its place.
. "$(dirname "$0")/lib.sh"

# one_link LINE RATE: a netfile of two hosts behind a Quantum-2, the first by a link of this rate.
one_link()
{
	cat <<-NET
	vendid=0x2c9
	devid=0xd2f2
	switchguid=0x2c9000000001
	Switch 65 "S-0002c9000000001" # "switch" base port 0 lid 1 lmc 0
	[1] "H-0002c900000a0001"[1](2c900000a0001) # "first" lid 2 $1
	[40] "H-0002c900000b0001"[1](2c900000b0001) # "second" lid 3 4xEDR

	vendid=0x2c9
	devid=0x1021
	caguid=0x2c900000a0000
	Ca 1 "H-0002c900000a0001" # "first"
	[1](2c900000a0001) "S-0002c9000000001"[1] # lid 2 lmc 0 "switch" lid 1 $1

	vendid=0x2c9
	devid=0x1017
	caguid=0x2c900000b0000
	Ca 1 "H-0002c900000b0001" # "second"
	[1](2c900000b0001) "S-0002c9000000001"[40] # lid 3 lmc 0 "switch" lid 1 4xEDR
	NET
}

rate_of() { sim ports -j | jq --argjson port "$1" '.rows[] | select(.node == "switch" and .port == $port) | .rate_mbps'; }

# shown TEXT RATE MBPS TOOL'S WORD
for case in "4xNDR 400000 4xNDR" "2xNDR 200000 2xNDR" "1xNDR 100000 1xNDR" "2xHDR 100000 2xHDR" "8xEDR 200000 8xEDR" \
	"4xXDR 800000 -" "2xXDR 400000 -" "12xQDR 96000 12xQDR"; do
	read -r rate mbps word <<<"$case"
	one_link "$rate" >"$TMP/net"
	start_sim "$TMP/net"
	equal "$rate: the engine's rate" "$(rate_of 1)" "$mbps"
	equal "$rate: and that of its neighbour" "$(rate_of 40)" 100000
	start_opensm --host second
	equal "$rate: the same under a subnet manager" "$(rate_of 1) $(rate_of 40)" "$mbps 100000"
	if [ "$word" != - ]; then
		stock ibnetdiscover >"$TMP/found.net" 2>"$TMP/discover.log" || fail "$rate: ibnetdiscover"
		equal "$rate: ibnetdiscover tells it at both ends" "$(grep -c " $word\$" "$TMP/found.net")" 2
		"$IBCC_BUILD/tests/unit/test_netfile" list "$TMP/found.net" | sort >"$TMP/got"
		"$IBCC_BUILD/tests/unit/test_netfile" list "$TMP/net" | sort >"$TMP/want"
		same "$rate: what it found is what was written" "$TMP/want" "$TMP/got"
	fi
	write_config 'apply_via: direct'
	tune probe -j >"$TMP/probe.json" 2>"$TMP/probe.log" || fail "$rate: probe"
	equal "$rate: direct mode" "$(jq -c '[.types[].link_mbps // {} | keys[]] | unique' "$TMP/probe.json")" \
		"$(jq -nc --arg a "$mbps" '[$a, "100000"] | unique')"
	stop "$OSM_PID"
	stop "$SIM_PID"
done

# A scenario's rates are the same.
cat >"$TMP/fast.yaml" <<'YAML'
name: fast
duration_ms: 1
topology:
  nodes:
    - {host: [a, b, c]}
    - {switch: switch, ports: 4}
  links:
    - {ends: [a, switch/1], rate: 4x NDR}
    - {ends: [b, switch/2], rate: 4x XDR}
    - {ends: [c, switch/3], rate: 2x NDR}
traffic:
  - {from: a, to: c}
YAML
start_sim "$TMP/fast.yaml"
equal "a scenario's rates" "$(rate_of 1) $(rate_of 2) $(rate_of 3)" "400000 800000 200000"
start_opensm
stock ibnetdiscover >"$TMP/found.net" 2>"$TMP/discover.log" || fail "ibnetdiscover"
equal "ibnetdiscover tells NDR and widths" "$(grep -o '[24]xNDR$' "$TMP/found.net" | sort | uniq -c | xargs)" \
	"2 2xNDR 2 4xNDR"
stock smpquery portinfo "$(sim ports -j | jq '[.rows[] | select(.node == "c")][0].lid')" 1 >"$TMP/text" 2>&1
grep -q 'LinkSpeedExtActive:.*106.25' "$TMP/text" || fail "smpquery by LID: $(cat "$TMP/text")"
ok "so does smpquery by LID"
# What is made slower is slower.
stock ibportstate -D 0,1 3 espeed 2 >"$TMP/text" 2>&1 || fail "ibportstate: $(cat "$TMP/text")"
slower() { [ "$(rate_of 3)" = 50000 ]; }
wait_until 10 slower || fail "a link that was set to EDR: $(rate_of 3)"
ok "a link that is set to a lower speed has that"
stop "$OSM_PID"
stop "$SIM_PID"

# FDR10 beside QDR, which PortInfo does not tell apart: at the first ports of a switch hosts with QDR,
# FDR10 behind them. Each link has its own rate, in the engine and in direct mode, at one SMP more.
fdr10()
{
	local s p
	for s in 1 2; do
		printf 'vendid=0x2c9\ndevid=0xc738\nSwitch 36 "S%d"\n' "$s"
		for p in 1 2 3; do printf '[%d] "H%d%d"[1] # "H" lid 9 4xQDR\n' "$p" "$s" "$p"; done
		printf '[4] "H%d4"[1] # "H" lid 9 4xFDR10\n' "$s"
		for p in 5 6 7 8; do printf '[%d] "S%d"[%d] # "S" lid 9 4xFDR10\n' "$p" $((3 - s)) "$p"; done
		echo
	done
	for s in 1 2; do
		for p in 1 2 3 4; do
			printf 'vendid=0x2c9\ndevid=0x1003\nCa 1 "H%d%d"\n[1] "S%d"[%d] # lid 9 lmc 0 "S" lid 9 4x%s\n\n' \
				"$s" "$p" "$s" "$p" "$([ "$p" = 4 ] && echo FDR10 || echo QDR)"
		done
	done
}
fdr10 | sed 's/lid 9 lmc/lid 0 lmc/' >"$TMP/net"
start_sim "$TMP/net"
start_opensm
stock iblinkinfo -l >"$TMP/links" 2>"$TMP/links.log" || fail "iblinkinfo"
equal "iblinkinfo tells FDR10" "$(grep -c FDR10 "$TMP/links")" 12
equal "the engine has as many such ends" "$(sim ports -j | jq '[.rows[] | select(.rate_mbps == 40000)] | length')" 12
write_config 'apply_via: direct'
asked() { sim stats -j | jq '[.rows[] | select(.class == "0x81" and .attr == "0xff90") | .count] | add // 0'; }
before=$(asked)
tune probe -j >"$TMP/probe.json" 2>"$TMP/probe.log" || fail "probe"
equal "and direct mode" "$(jq '[.types[].link_mbps["40000"] // 0] | add' "$TMP/probe.json")" 12
equal "at one question for a link" "$(($(asked) - before))" 12
stop "$OSM_PID"
stop "$SIM_PID"

# What cannot be said is refused where it stands.
refused() # TEXT LINE PATTERN
{
	local rc=0
	timeout 20 "$IBCC_BUILD/ibcc-sim" run --name "$SIM" --netfile "$TMP/net" >"$TMP/out" 2>"$TMP/err" || rc=$?
	equal "$1: status" "$rc" 78
	equal "$1: told with its place, and nothing else" "$(cat "$TMP/err")" "$TMP/net:$2: $3"
	[ ! -s "$TMP/out" ] || fail "$1: something on standard output"
}
one_link 4xABC >"$TMP/net"
sed -i '/first" lid 2/!s/4xABC/4xNDR/' "$TMP/net"
refused "an unknown speed" 5 'got "4xABC", want a link'\''s width and speed, such as 4xEDR'
one_link 16xEDR >"$TMP/net"
sed -i '/first" lid 2/!s/16xEDR/4xNDR/' "$TMP/net"
refused "an unknown width" 5 'got "16xEDR", want a link'\''s width and speed, such as 4xEDR'
printf 'Switch 8 "S1"\n[1] "H1"[1]\n\nCa 1 "H1"\n[1] "S1"[2]\n' >"$TMP/net"
refused "a cable with one end" 2 'got "H1", want a remote port whose own line leads back here'
printf 'Switch 8 "S1"\n[9] "H1"[1]\n' >"$TMP/net"
refused "a port that there is not" 2 'got "[9] "H1"[1]", want [PORT] with a port of the node'
