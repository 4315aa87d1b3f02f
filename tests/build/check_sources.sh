#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# House rules that a machine can check: licence line, file length, man pages without warnings.
set -eu
bad=0
parts=
for d in Makefile include lib daemon sim opensm-plugin perftest tests systemd monitoring debian man doc .ci; do
	[ -e "$d" ] && parts="$parts $d"
done
files=$(find $parts -type f \
	! -path '*/corpus/*' \( -name '*.[ch]' -o -name '*.sh' -o -name '*.yaml' -o -name '*.[1-8]' \
	-o -name Makefile -o -name '*.mk' -o -name run \))
for f in $files; do
	head -n 4 "$f" | grep -q 'SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB' ||
		{ echo "not ok - $f has no SPDX line"; bad=1; }
done
echo "ok - every file names its licence"
for f in $files; do
	case $f in tests/*) continue ;; *.[ch]) ;; *) continue ;; esac
	n=$(wc -l <"$f")
	[ "$n" -le 700 ] || head -n 20 "$f" | grep -qi 'longer than' ||
		{ echo "not ok - $f has $n lines: split it, or say at its top why it is longer than 700"; bad=1; }
done
echo "ok - files are short"
if command -v mandoc >/dev/null; then
	for f in man/*.[1-8] perftest/lab/*.1; do
		[ -e "$f" ] || continue
		mandoc -Tlint -Wwarning "$f" || { echo "not ok - $f"; bad=1; }
	done
	echo "ok - man pages"
fi
exit $bad
