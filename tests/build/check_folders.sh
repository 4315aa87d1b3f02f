#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Folders and modules know no circles: which one uses which, by the symbols of the object files. Headers of include/ibcc are
# lib's own.
set -eu
B=${IBCC_BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

# Which folder may use which. A folder uses those on its line, each of which has a line above its own: so there are no circles. A
# new name here is a decision. daemon/tune/page is a part of daemon/tune, whose words it prints.
cat >"$tmp/allowed" <<'LIST'
lib/base
lib/codec            lib/base
lib/topo             lib/base lib/codec
lib/counters         lib/base lib/topo
lib/ledger           lib/base lib/codec lib/topo
lib/demand           lib/counters lib/ledger lib/topo
lib/law              lib/base lib/codec lib/counters lib/demand lib/ledger lib/topo
lib/whose            lib/base lib/topo
lib/engine           lib/codec lib/demand lib/ledger lib/topo
lib/agents           lib/codec lib/engine lib/ledger lib/topo
lib/text             lib/base
lib/mad              lib/base lib/codec lib/counters lib/ledger lib/topo
lib/formats          lib/agents lib/base lib/codec lib/engine lib/law lib/ledger lib/text lib/topo
lib/state            lib/base lib/codec lib/formats lib/ledger lib/text lib/topo
lib/cycle            lib/base lib/counters lib/formats lib/law lib/ledger lib/mad lib/state lib/text lib/topo
opensm-plugin        lib/codec lib/ledger lib/mad lib/topo
sim                  lib/agents lib/codec lib/engine lib/formats lib/mad lib/text lib/topo
daemon/metrics       lib/base lib/counters lib/cycle lib/law lib/ledger lib/text
daemon/report        lib/counters lib/cycle lib/engine lib/formats lib/law lib/ledger lib/mad lib/text lib/topo
daemon/predict       lib/base lib/demand lib/engine lib/formats lib/law lib/ledger lib/state lib/text lib/topo daemon/report
daemon/bundle        lib/base lib/counters lib/demand lib/law lib/ledger lib/mad lib/text lib/topo daemon/predict daemon/report
daemon/service       lib/base lib/codec lib/counters lib/cycle lib/demand lib/formats lib/law lib/ledger lib/mad lib/state lib/text lib/topo lib/whose daemon/bundle daemon/predict daemon/report
daemon               lib/base lib/codec lib/counters lib/cycle lib/formats lib/law lib/ledger lib/text lib/topo daemon/metrics daemon/service
daemon/jobs          lib/base lib/formats lib/text
daemon/tune          lib/base lib/cycle lib/engine lib/formats lib/law lib/ledger lib/text daemon daemon/bundle daemon/predict daemon/report daemon/service
perftest/mpa         lib/text
perftest/bench       lib/agents lib/codec lib/cycle lib/demand lib/engine lib/formats lib/law lib/mad lib/text lib/topo perftest/mpa
perftest/verbs       lib/base lib/engine lib/formats lib/text perftest/bench
perftest/lab         lib/agents lib/codec lib/counters lib/cycle lib/demand lib/engine lib/formats lib/law lib/ledger lib/mad lib/state lib/text lib/topo lib/whose daemon daemon/metrics daemon/service daemon/tune perftest/bench
LIST
awk '{ for (i = 2; i <= NF; i++) if (!($i in above)) { print "# " $1 " uses " $i " of a line below"; bad = 1 } above[$1] = 1 }
	END { exit bad }' "$tmp/allowed" || not_ok "the list of folders has a circle"

# The objects of sources that there are: a build can have older ones. A line for each symbol: its file, D (defines) or
# U (uses), its name.
find lib daemon opensm-plugin sim perftest -name '*.c' | sed 's/\.c$//' | sort >"$tmp/sources"
while read -r f; do
	[ -e "$B/obj/$f.o" ] || not_ok "$f.c is not built"
	echo "$B/obj/$f.o"
done <"$tmp/sources" >"$tmp/objects"
# shellcheck disable=SC2046 # no name of ours has a blank
nm -A $(cat "$tmp/objects") | sed "s,^$B/obj/,,; s,\.o:, ," |
	awk '$(NF - 1) ~ /^[Uw]$/ { print $1, "U", $NF; next } $(NF - 1) ~ /^[A-Z]$/ && $NF != "main" { print $1, "D", $NF }' >"$tmp/symbols"

# arrows SYMBOLS: a line for each use of a symbol in another file: user, owner, symbol.
arrows()
{
	awk 'NR == FNR { if ($2 == "D") owner[$3] = $1; next }
		$2 == "U" && ($3 in owner) && owner[$3] != $1 { print $1, owner[$3], $3 }' "$1" "$1"
}
# forbidden SYMBOLS: those that point to a folder that the list does not have for theirs.
forbidden()
{
	arrows "$1" | awk '
		function folder(f) { sub(/\/[^\/]*$/, "", f); return f == "daemon/tune/page" ? "daemon/tune" : f }
		NR == FNR { known[$1] = 1; for (i = 2; i <= NF; i++) may[$1, $i] = 1; next }
		{ a = folder($1); b = folder($2) }
		!(a in known) || a != b && !((a, b) in may) { print "# " $1 ".c uses " $3 " of " $2 ".c" }' "$tmp/allowed" -
}
# circles SYMBOLS: modules that use each other. A module is the files of a folder whose names have the same first
# word: estimate.c, estimate_log.c. The packet engine is one module: its files are the stages of a packet's way, which
# share the state in internal.h and call each other, as the packets go round.
circles()
{
	{ arrows "$1" | awk '
		function module(f) { if (f ~ /^lib\/engine\//) return "lib/engine"; sub(/_[^\/]*$/, "", f); return f }
		module($1) != module($2) { print module($1), module($2) }' | sort -u | tsort >/dev/null; } 2>&1 || true
}
[ "$(arrows "$tmp/symbols" | wc -l)" -gt 2000 ] || not_ok "hardly a symbol was found"
forbidden "$tmp/symbols" >"$tmp/found"
[ ! -s "$tmp/found" ] || { cat "$tmp/found"; not_ok "a folder uses one that it may not: see $0"; }
echo "ok - folders use only what the list says"
circles "$tmp/symbols" >"$tmp/found"
[ ! -s "$tmp/found" ] || { cat "$tmp/found"; not_ok "modules use each other"; }
echo "ok - no circle of modules"

# The check itself sees both.
{ cat "$tmp/symbols"; echo 'lib/codec/smp U ibcc_topo_find_guid'; } >"$tmp/bad"
[ "$(forbidden "$tmp/bad" | wc -l)" = 1 ] || not_ok "an arrow upwards is not seen"
{ cat "$tmp/symbols"; echo 'lib/law/root U ibcc_controller_step'; } >"$tmp/bad"
[ -n "$(circles "$tmp/bad")" ] || not_ok "a circle of modules is not seen"

# What a header of include/ibcc declares is defined in lib, or in the header itself, and lib includes it.
find lib -name '*.[ch]' -exec cat {} + >"$tmp/lib"
foreign()
{
	for h; do
		echo "HEADER $h"
		sed 's,/\*.*\*/,,; /^[[:space:]]*\/\*/,/\*\//d' "$h" | grep -oE '\bibcc_[a-z0-9_]+\(' | tr -d '(' || true
	done | awk '
		FILENAME == ARGV[1] { if ($2 == "D") owner[$3] = $1; next }
		FILENAME == ARGV[2] { if (match($0, /#include <ibcc\/[^>]*>/)) included[substr($0, RSTART + 15, RLENGTH - 16)] = 1; next }
		$1 == "HEADER" { h = $2; name = h; sub(/.*\//, "", name); if (!(name in included)) print "# nothing in lib includes " h; next }
		!seen[h, $1]++ && ($1 in owner) && owner[$1] !~ /^lib\// { print "# " h " declares " $1 " of " owner[$1] ".c" }' "$tmp/symbols" "$tmp/lib" -
}
foreign include/ibcc/*.h >"$tmp/found"
[ ! -s "$tmp/found" ] || { cat "$tmp/found"; not_ok "include/ibcc has headers that are not lib's"; }
foreign daemon/metrics/metrics.h | grep -q ibcc_metrics_new || not_ok "a header of the daemon's is taken for lib's"
echo "ok - include/ibcc has only headers of lib"
