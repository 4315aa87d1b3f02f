#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Tests that share a program do not disturb each other: such a test defines nothing but its own main(). One that stands
# in for a function of a library would do so for all; it belongs to those that the Makefile links alone.
set -eu
B=${IBCC_BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

# others: of lines "FILE.o: ADDRESS TYPE SYMBOL" those with a symbol that is not the file's name.
others() { awk '{ f = $1; sub(/.*\//, "", f); sub(/\.o:.*/, "", f) } NF >= 3 && $NF != "main_of_" f'; }

for l in "$B"/tests/unit/test_* "$B"/tests/sim/test_*; do
	[ -L "$l" ] || continue
	f=${l#"$B/"}
	[ ! -e "$f.c" ] || echo "$B/obj/$f.o"
done >"$tmp/shared"
[ "$(wc -l <"$tmp/shared")" -gt 150 ] || not_ok "hardly a test shares a program"
# shellcheck disable=SC2046 # no name of ours has a blank
nm -A -g --defined-only $(cat "$tmp/shared") >"$tmp/symbols"
others <"$tmp/symbols" | grep -v ' [A-Z] _*\(asan\|odr_asan\|__odr\)' >"$tmp/found" || true
[ ! -s "$tmp/found" ] || { cat "$tmp/found"; not_ok "put these tests into unit_alone or sim_alone of the Makefile"; }
echo "ok - tests that share a program define nothing for others"

printf '%s\n' 'b/obj/tests/unit/test_a.o:0000000000000000 T main_of_test_a' 'b/obj/tests/unit/test_a.o:0000000000000010 T umad_send' >"$tmp/bad"
[ "$(others <"$tmp/bad" | wc -l)" = 1 ] || not_ok "the check does not see a double"

# A name that is none ends with an error, and not as a test that has passed.
cp "$B/tests/unit/all" "$tmp/test_none"
! "$tmp/test_none" >"$tmp/out" 2>&1 || not_ok "a test that there is not passes"
grep -q '^test_none is not a test' "$tmp/out" && grep -q '^test_cct$' "$tmp/out" || not_ok "it does not say what is wrong"
echo "ok - a name that is no test's is an error"
