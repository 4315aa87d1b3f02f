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
# One program reads the heads and lengths of all: a process for each file took half a minute.
# shellcheck disable=SC2086 # names without spaces
awk '
	FNR <= 4 && /SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB/ { licence[FILENAME] = 1 }
	FNR <= 20 && tolower($0) ~ /longer than/ { excused[FILENAME] = 1 }
	{ lines[FILENAME] = FNR }
	function bad(file, what) { print "not ok - " file " " what; rc = 1 }
	END {
		for (i = 1; i < ARGC; i++) {
			f = ARGV[i]
			if (!(f in licence)) bad(f, "has no SPDX line")
			if (f ~ /\.[ch]$/ && f !~ /^tests\// && lines[f] > 700 && !(f in excused))
				bad(f, "has " lines[f] " lines: split it, or say at its top why it is longer than 700")
		}
		exit rc
	}' $files && echo "ok - every file names its licence, and is short" || bad=1
if command -v mandoc >/dev/null; then
	for f in man/*.[1-8] perftest/lab/*.1; do
		[ -e "$f" ] || continue
		mandoc -Tlint -Wwarning "$f" || { echo "not ok - $f"; bad=1; }
	done
	echo "ok - man pages"
fi
exit $bad
