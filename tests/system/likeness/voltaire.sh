# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# A hundred nodes on Voltaire's QDR switches: four leaves, two spines, 94 hosts. All adapters have the description that
# they left the factory with, of 38 bytes, so that nothing but GUIDs tells them apart; those of switches have a # in them.
build()
{
	local l s i n=0
	for l in 1 2 3 4; do switch leaf$l 36 $VOLTAIRE4036 "Voltaire 4036 # rack-$l"; done
	for s in 1 2; do switch spine$s 36 $VOLTAIRE4036 "Voltaire 4036 # core-$s"; done
	for l in 1 2 3 4; do
		for ((i = 1; i <= (l < 3 ? 24 : 23); i++)); do
			n=$((n + 1))
			host h$n $CONNECTX2 'MT25408 ConnectX Mellanox Technologies'
			cable leaf$l $i h$n 1 4xQDR
		done
		for s in 1 2; do
			for i in 1 2 3 4 5 6; do cable leaf$l $((24 + 6 * (s - 1) + i)) spine$s $((6 * (l - 1) + i)) 4xQDR; done
		done
	done
}

# Three hosts of the first rack write to one of the third that takes a quarter of what its link carries; one of them
# also writes to that one's neighbour, and waits in its own adapter.
traffic()
{
	echo 'traffic:'
	flows hot hot 'h2 h3 h4' h60
	flows victim victim h2 h61
	printf 'events:\n  - {sink: "%s", rate: %d}\n' "$(name h60)" $hot_mbps
}

# 94 links to hosts, and six of each leaf to each spine.
switches=6 hosts=94 links=142
ends='284 4xQDR'
types='0x2c9/0x673c 94 32000:94, 0x8f1/0x5a5a 6 32000:190'
# The racks have 24, 24, 23 and 23 hosts: the 60th is at the third one's port 12.
root='leaf3 12 output 32000'
sources='h2 h3 h4'
# The receiver's rate; and what its third of that leaves of the victim's link, 26 bytes of header for 2048.
hot_mbps=8000
victim_mbps=$((32000 * 2048 / 2074 - hot_mbps / 3))
# The receiver's own port shows what it takes, whether it answers or not.
flow='h2 h60'
silent_host=h60
silent_switch='spine1 spine2'
