# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# Two FDR switches with six cables between them, one of which came up as DDR.
build()
{
	local s i
	for s in a b; do
		switch $s 36 $SWITCHX "MF0;tor-$s:SX6036/U1"
		for i in 1 2 3 4 5 6; do host $s$i $CONNECTX4 "$s$i mlx5_0"; cable $s $i $s$i 1 4xFDR; done
	done
	for i in 1 2 3 4 5 6; do cable a $((30 + i)) b $((30 + i)) "$([ $i = 3 ] && echo 4xDDR || echo 4xFDR)"; done
}

# Four hosts of one switch write to all six of the other. Each cable carries what is for one of these: OpenSM gives the
# cables destinations in turn, whatever their rates. So a sixth of each host's writes goes by the slow cable, and since an
# adapter sends in the order of arrival the rest waits for it: all are victims.
traffic()
{
	echo 'traffic:'
	flows all victim 'a1 a2 a3 a4' 'b1 b2 b3 b4 b5 b6'
}

switches=2 hosts=12 links=18
ends='2 4xDDR,34 4xFDR'
slow=1
types='0x2c9/0x1013 12 54545:12, 0x2c9/0xc738 2 16000:2 54545:22'
root='a 33 input 16000'
sources='a1 a2 a3 a4'
# Four FDR links; 26 bytes of header for 2048.
hot_mbps=0
victim_mbps=$((4 * 54545 * 2048 / 2074))
speed=0.01
# A host that takes no part but as a receiver. While the second switch is silent the slow cable is still seen from the
# first, as full, with all that wait for it.
flow='a1 b3'
silent_host=b6
hidden_switch=b before_hidden=a hidden_kind=input
