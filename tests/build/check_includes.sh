#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# No circles: neither of headers (but the engine's own) nor of folders that include private headers. And
# no private header of one part in another one: what is not in include/ belongs to its part and its tests.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
find include lib daemon opensm-plugin sim perftest tests -name '*.[ch]' | sort >"$tmp/files"

# Pairs of an including and an included file of ours.
xargs grep -oE '^#[[:space:]]*include[[:space:]]+[<"][^>"]+' <"$tmp/files" /dev/null |
	sed -E 's/:#[[:space:]]*include[[:space:]]+[<"]/ /' |
	awk 'NR == FNR { known[$1] = 1; next }
		{ n = split($1, part, "/"); dir = substr($1, 1, length($1) - length(part[n]))
		  if (("include/" $2) in known) print $1, "include/" $2
		  else if ($2 in known) print $1, $2
		  else if ((dir $2) in known) print $1, dir $2 }' "$tmp/files" - >"$tmp/pairs"
[ "$(wc -l <"$tmp/pairs")" -gt 100 ] || { echo "not ok - hardly an include was found"; exit 1; }

grep -E '\.h .*\.h$' "$tmp/pairs" | grep -v '^lib/engine/' >"$tmp/headers"
tsort "$tmp/headers" >/dev/null || { echo "not ok - headers include each other"; exit 1; }
echo "ok - no circle of headers"

sed -E 's,/[^/ ]* , ,; s,/[^/]*$,,' "$tmp/pairs" | grep -v ' include' | awk '$1 != $2' | sort -u >"$tmp/folders"
tsort "$tmp/folders" >/dev/null || { echo "not ok - folders include each other"; exit 1; }
echo "ok - no circle of folders"

awk '
	function part(f) { return match(f, /^lib\/[a-z]*\//) ? substr(f, 1, RLENGTH) : substr(f, 1, index(f, "/")) }
	# The laboratory measures the daemon, and shows its page.
	$1 ~ /^perftest\/lab\// && $2 ~ /^daemon\/(explain|metrics\/metrics|service\/service|tune\/page\/fabric_page)\.h$/ { next }
	$1 ~ /^tests\// || $2 ~ /^include\// || part($1) == part($2) { next }
	{ print "# " $0; bad = 1 }
	END { exit bad }' "$tmp/pairs" || { echo "not ok - a private header of another part"; exit 1; }
echo "ok - parts know each other by include/ alone"
