# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# A torus of five by four QDR switches, two hosts at each: shortest routes go in a circle there.
build()
{
	local x y i
	for x in 0 1 2 3 4; do
		for y in 0 1 2 3; do
			switch s$x$y 8 $INFINISCALE4 "torus-$x-$y"
			for i in 1 2; do host h$x$y$i $CONNECTX2 "node-$x-$y-$i"; cable s$x$y $i h$x$y$i 1 4xQDR; done
		done
	done
	for x in 0 1 2 3 4; do
		for y in 0 1 2 3; do
			cable s$x$y 3 s$(((x + 1) % 5))$y 4 4xQDR
			cable s$x$y 5 s$x$(((y + 1) % 4)) 6 4xQDR
		done
	done
}

# Three hosts around write to one that takes a quarter of what its link carries. A fourth is at the switch of the first
# and writes straight on over the receiver's switch. These routes make no circle.
traffic()
{
	echo 'traffic:'
	flows hot hot 'h121 h211 h112' h221
	flows victim victim h122 h321
	printf 'events:\n  - {sink: "%s", rate: %d}\n' "$(name h221)" $hot_mbps
}

# 40 links to hosts, and two of each switch's four to others.
switches=20 hosts=40 links=80
ends='160 4xQDR'
types='0x2c9/0x673c 40 32000:40, 0x2c9/0xbd36 20 32000:120'
root='s22 1 output 32000'
# The fourth finds the same link blocked, and is one of them until marks tell.
sources='h121 h211 h112 h122'
# The receiver's rate; and what two thirds of that leave of the link, should both go by it; 26 bytes of header for 2048.
hot_mbps=8000
victim_mbps=$((32000 * 2048 / 2074 - 2 * hot_mbps / 3))
# The receiver's own port shows what it takes, whether it answers or not; no shortest route goes by the far corner.
flow='h121 h221'
silent_host=h221
silent_switch=s33
