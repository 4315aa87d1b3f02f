# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# Two SX6036 as leaves and one as spine, whose links are FDR10 where both ends can, and QDR at old adapters.
# The first two ports of each leaf are such: what they cannot do says nothing of the others.
build()
{
	local l i n=0
	for l in 1 2; do switch leaf$l 36 $SWITCHX "MF0;fabric-l$l:SX6036/U1"; done
	switch spine 36 $SWITCHX 'MF0;fabric-s1:SX6036/U1'
	for l in 1 2; do
		for ((i = 1; i <= 18; i++)); do
			n=$((n + 1))
			case $n in
			1 | 2 | 7 | 13 | 19 | 20 | 27)
				host n$n $CONNECTX2 "n$n HCA-1"
				cable leaf$l $i n$n 1 4xQDR
				;;
			*)
				host n$n $CONNECTX3 "n$n mlx4_0"
				cable leaf$l $i n$n 1 4xFDR10
				;;
			esac
		done
		for ((i = 1; i <= 9; i++)); do cable leaf$l $((18 + i)) spine $((9 * (l - 1) + i)) 4xFDR10; done
	done
}

# Three FDR10 hosts write to a QDR one at the other leaf, and one of them to its FDR10 neighbour, too. The other way a
# pair fills FDR10 links: 40000 Mb/s, which is no congestion, and would be more than all of a QDR link.
traffic()
{
	echo 'traffic:'
	flows hot hot 'n3 n4 n5' n19
	flows victim victim n3 n21
	flows pair background n22 n6
}

# 36 links to hosts, of which 29 can FDR10, and nine of each leaf to the spine: 47 links of FDR10.
switches=3 hosts=36 links=54
ends='94 4xFDR10,14 4xQDR'
types='0x2c9/0x1003 29 40000:29, 0x2c9/0x673c 7 32000:7, 0x2c9/0xc738 3 32000:7 40000:65'
root='leaf2 1 input 32000'
sources='n3 n4 n5'
# The pair's sender is at the receiver's switch and does not wait.
near=n22
# The QDR link, and what a third of it leaves of the victim's; 26 bytes of header for 2048.
hot_mbps=$((32000 * 2048 / 2074))
victim_mbps=$((40000 * 2048 / 2074 - hot_mbps / 3))
# A host that takes no part. All goes by the one spine: while that is silent, the link to it is held up.
flow='n3 n19'
silent_host=n36
hidden_switch=spine before_hidden=leaf1 hidden_kind=output
# Then it is unknown which host fills the link to the pair's receiver, and those that wait at its switch may wait for that.
beside_hidden='leaf1 6 input 40000'
