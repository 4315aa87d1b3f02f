# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# Two FDR switches with four clients at one and two servers at the other: the smallest fabric on which one host holds up another.
build()
{
	local i
	for i in 1 2; do switch tor$i 36 $SWITCHX "MF0;tor$i:SX6036/U1"; done
	for i in 1 2 3 4; do host client$i $CONNECTX3 "client$i mlx4_0"; cable tor1 $i client$i 1 4xFDR; done
	for i in 1 2; do host server$i $CONNECTX3 "server$i mlx4_0"; cable tor2 $i server$i 1 4xFDR; done
	cable tor1 36 tor2 36 4xFDR
}

# Three clients write to a server that takes a third of what its link carries; the fourth to the other server, behind
# the same link between the switches.
traffic()
{
	echo 'traffic:'
	flows hot hot 'client1 client2 client3' server2
	flows victim victim client4 server1
	printf 'events:\n  - {sink: "%s", rate: %d}\n' "$(name server2)" $hot_mbps
}

switches=2 hosts=6 links=7
ends='14 4xFDR'
types='0x2c9/0x1003 6 54545:6, 0x2c9/0xc738 2 54545:8'
root='tor2 2 output 54545'
# All four wait before marks tell the victim from the others: all four find the link between the switches blocked.
sources='client1 client2 client3 client4'
# The server's rate; and what that leaves of the link, which carries 54545 Mb/s with 26 bytes of header for 2048.
hot_mbps=18000
victim_mbps=$((54545 * 2048 / 2074 - hot_mbps))
# The receiver's own port shows what it takes, whether it answers or not. All flows go by the second switch: while that is
# silent, the link to it is the last that is known to be held up.
flow='client1 server2'
silent_host=server2
hidden_switch=tor2 before_hidden=tor1 hidden_kind=output
