#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# One writer of phases: a root's phase is changed by ibcc_root_enter() in lib/law/root.c alone, which enforces the state
# diagram. The plugin's sessions have phases of their own, with other names.
set -eu
bad=0
if grep -rnE '(->|\.)phase *[-+|&^]?=[^=]' --include='*.[ch]' lib include daemon opensm-plugin sim perftest |
	grep -v '^lib/law/root\.c:' | grep -v 'IBCC_SESSION_'; then
	echo "not ok - a root's phase is assigned outside ibcc_root_enter()"
	bad=1
fi
n=$(grep -cE '(->|\.)phase *=[^=]' lib/law/root.c)
[ "$n" -eq 1 ] || { echo "not ok - ibcc_root_enter() assigns the phase in $n places"; bad=1; }
echo "ok - one writer of phases"
exit $bad
