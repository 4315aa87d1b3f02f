# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash disable=SC2034,SC2154 # figures are for checks.sh, keys from fabric.sh
# A director switch of six leaf boards and three spine boards, six cables between each pair; one of them is missing.
build()
{
	local l s i n=0
	for l in 1 2 3 4 5 6; do switch L$l 36 $INFINISCALE4 "MF0;director:IS5200/L0$l/U1"; done
	for s in 1 2 3; do switch S$s 36 $INFINISCALE4 "MF0;director:IS5200/S0$s/U1"; done
	for l in 1 2 3 4 5 6; do
		for ((i = 1; i <= 10; i++)); do
			n=$((n + 1))
			host c$n $CONNECTX2 "$(printf 'compute-%03d HCA-1' $n)"
			cable L$l $i c$n 1 4xQDR
		done
		for s in 1 2 3; do
			for i in 1 2 3 4 5 6; do
				[ $l$s$i = 423 ] || cable L$l $((18 + 6 * (s - 1) + i)) S$s $((6 * (l - 1) + i)) 4xQDR
			done
		done
	done
}

# Three hosts of the first board write to one of the fourth that takes a quarter of what its link carries; one of them
# also writes to the fifth, and waits in its own adapter.
traffic()
{
	echo 'traffic:'
	flows hot hot 'c1 c2 c3' c31
	flows victim victim c1 c41
	printf 'events:\n  - {sink: "%s", rate: %d}\n' "$(name c31)" $hot_mbps
}

# 60 links to hosts, and six between each of six leaf and each of three spine boards, but one.
switches=9 hosts=60 links=167
ends='334 4xQDR'
types='0x2c9/0x673c 60 32000:60, 0x2c9/0xbd36 9 32000:274'
root='L4 1 output 32000'
sources='c1 c2 c3'
# The receiver's rate; and what its third of that leaves of the victim's link, 26 bytes of header for 2048.
hot_mbps=8000
victim_mbps=$((32000 * 2048 / 2074 - hot_mbps / 3))
# The receiver's own port shows what it takes, whether it answers or not.
flow='c1 c31'
silent_host=c31
silent_switch='S1 S3'
