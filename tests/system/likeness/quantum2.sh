# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# 622 nodes on Quantum-2: 18 leaves, 9 spines, a SHARP aggregation node at each of them, 568 hosts; all with the
# descriptions that they left the factory with, those of adapters of more than 32 bytes.
build()
{
	local l s i n=0
	for ((l = 1; l <= 18; l++)); do switch leaf$l 65 $QUANTUM2 'Quantum-2 Mellanox Technologies'; done
	for ((s = 1; s <= 9; s++)); do switch spine$s 65 $QUANTUM2 'Quantum-2 Mellanox Technologies'; done
	for i in "${node_keys[@]}"; do
		host an-$i $SHARP 'Mellanox Technologies Aggregation Node' $((node_guid[$i] + 8))
		cable $i 65 an-$i 1 4xNDR
	done
	for ((l = 1; l <= 18; l++)); do
		for ((i = 1; i <= (l < 18 ? 32 : 24); i++)); do
			n=$((n + 1))
			host h$n $CONNECTX7 'MT4129 ConnectX7   Mellanox Technologies'
			cable leaf$l $i h$n 1 4xNDR
		done
		for ((s = 1; s <= 9; s++)); do
			for i in 1 2 3; do cable leaf$l $((32 + 3 * (s - 1) + i)) spine$s $((3 * (l - 1) + i)) 4xNDR; done
		done
	done
}

# Three hosts of the first leaf write to one of the third that takes a quarter of what its link carries; one of them
# also writes to that one's neighbour, and waits in its own adapter.
traffic()
{
	echo 'traffic:'
	flows hot hot 'h2 h3 h4' h66
	flows victim victim h2 h67
	printf 'events:\n  - {sink: "%s", rate: %d}\n' "$(name h66)" $hot_mbps
}

# 568 links to hosts, 27 to aggregation nodes, and three of each leaf to each spine.
switches=27 hosts=568 links=1081
ends='2162 4xNDR'
types='0x2c9/0x1021 568 400000:568, 0x2c9/0xcf09 27 400000:27, 0x2c9/0xd2f2 27 400000:1567'
# 32 hosts a leaf: the 66th is at the third one's second port.
root='leaf3 2 output 400000'
sources='h2 h3 h4'
# The receiver's rate; and what its third of that leaves of the victim's link, 26 bytes of header for 2048.
hot_mbps=100000
victim_mbps=$((400000 * 2048 / 2074 - hot_mbps / 3))
speed=0.001
# A host that takes no part.
flow='h2 h66'
silent_host=h500
silent_switch='spine1 spine2'
