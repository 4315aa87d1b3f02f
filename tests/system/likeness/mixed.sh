# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# Four generations of links on three switches, one of which has two of its own ports cabled to each other.
build()
{
	local i
	switch edr 36 $SWITCH_IB 'SwitchIB Mellanox Technologies'
	switch fdr 36 $SWITCHX 'MF0;fdr-tor:SX6036/U1'
	switch qdr 36 $INFINISCALE4 'Infiniscale-IV Mellanox Technologies'
	for i in 1 2 3 4; do host gpu$i $CONNECTX4 "gpu$i mlx5_0"; cable edr $i gpu$i 1 4xEDR; done
	for i in 1 2 3 4; do host cpu$i $CONNECTX3 "cpu$i mlx4_0"; cable fdr $i cpu$i 1 4xFDR; done
	for i in 1 2 3 4; do host old$i $CONNECTX2 "old$i HCA-1"; cable qdr $i old$i 1 4xQDR; done
	host tape $INFINIHOST3 'tape HCA-1'
	cable qdr 5 tape 1 4xSDR
	for i in 31 32; do cable edr $i fdr $i 4xFDR; done
	for i in 33 34; do cable fdr $i qdr $i 4xQDR; done
	cable fdr 35 fdr 36 4xFDR
}

# Two EDR hosts write to the SDR one, three switches on; one of them also to a QDR one.
traffic()
{
	echo 'traffic:'
	flows hot hot 'gpu1 gpu2' tape
	flows victim victim gpu1 old1
}

# 13 links to hosts, two between each pair of switches in a row, and the one from a switch to itself.
switches=3 hosts=13 links=18
ends='8 4xEDR,14 4xFDR,12 4xQDR,2 4xSDR'
types='0x2c9/0x1003 4 54545:4, 0x2c9/0x1013 4 100000:4, 0x2c9/0x6274 1 8000:1, 0x2c9/0x673c 4 32000:4, 0x2c9/0xbd36 1 8000:1 32000:6, 0x2c9/0xc738 1 32000:2 54545:8, 0x2c9/0xcb20 1 54545:2 100000:4'
root='qdr 5 input 8000'
sources='gpu1 gpu2'
# The SDR link; and what is left of a QDR one, should both take the same of the two cables there; 26 bytes of header
# for 2048.
hot_mbps=$((8000 * 2048 / 2074))
victim_mbps=$((32000 * 2048 / 2074 - hot_mbps))
speed=0.03
# A host that takes no part. The tape's switch is the last: while that is silent, the link to it is held up.
flow='gpu1 tape'
silent_host=cpu1
hidden_switch=qdr before_hidden=fdr hidden_kind=output
