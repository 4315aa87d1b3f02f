#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The law's phases and codes. One writer of phases: ibcc_root_enter() in lib/law/root.c alone changes a root's phase, and
# enforces the state diagram. The plugin's sessions have phases of their own, with other names. Each decision's code has a
# rule and a scene.
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

# A code that no rule takes, or whose coming no scene shows, is dead or untested.
for code in $(grep -oE '^\s*IBCC_DECISION_[A-Z_]+' include/ibcc/decision.h); do
	grep -qwr "$code" --include='rule*.c' --include='control*.c' lib/law ||
		{ echo "not ok - no rule in lib/law/ takes $code"; bad=1; }
	grep -qwE "$code" tests/unit/test_controller_*.c ||
		{ echo "not ok - no scene in tests/unit/test_controller_*.c has $code"; bad=1; }
done
echo "ok - each decision has a rule and a scene"
exit $bad
