#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Runs tests and counts them: run.sh BUILD-DIR KIND...; T=name picks tests by name.
# KINDs: build (sources), unit, sim (virtual time), fuzz (corpus), system (real ibsim and opensm).
set -u

B=$1
shift
top=$(cd "$(dirname "$0")/.." && pwd)
cd "$top" || exit 1
case $B in /*) ;; *) B=$top/$B ;; esac
IBCC_BUILD=$B
export IBCC_BUILD
logs=$B/tests/log
mkdir -p "$logs"

passed=0
failed=

# one NAME SECONDS COMMAND...: a program of tests prints its number as "N test(s)" or "ok N - ".
one()
{
	name=$1
	limit=$2
	shift 2
	case $name in *"${T-}"*) ;; *) return ;; esac
	log=$logs/$(echo "$name" | tr / -).log
	if timeout -k 5 "$limit" "$@" >"$log" 2>&1 </dev/null; then
		n=$(sed -n 's/^.*\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
		[ -n "$n" ] || n=$(grep -c '^ok ' "$log")
		[ "$n" -gt 0 ] || n=1
		passed=$((passed + n))
		printf '  %-44s %4d passed\n' "$name" "$n"
	else
		rc=$?
		[ "$rc" = 124 ] && echo "TIMEOUT after $limit s" >>"$log"
		failed="$failed $name"
		printf '  %-44s FAILED (%d)\n' "$name" "$rc"
		# What failed may be far above the end, with logs behind it.
		{ grep -a '^not ok' "$log"; tail -n 40 "$log" | grep -av '^not ok'; } | sed 's/^/    | /'
	fi
}

for kind; do
	case $kind in
	build)
		for f in tests/build/check_*.sh; do
			[ -e "$f" ] && one "build/$(basename "$f" .sh)" 300 sh "$f"
		done ;;
	unit | sim)
		for f in tests/"$kind"/test_*.c; do
			[ -e "$f" ] || continue
			t=$(basename "$f" .c)
			one "$kind/$t" 600 "$B/tests/$kind/$t"
		done ;;
	fuzz)
		for f in tests/fuzz/fuzz_*.c; do
			[ -e "$f" ] || continue
			t=$(basename "$f" .c)
			one "fuzz/$t" 120 "$B/tests/fuzz/$t" "tests/fuzz/corpus/${t#fuzz_}"
		done ;;
	system)
		for f in tests/system/test_*.sh; do
			[ -e "$f" ] && one "system/$(basename "$f" .sh)" 480 bash "$f"
		done ;;
	*)
		echo "run.sh: unknown kind $kind" >&2
		exit 1 ;;
	esac
done

echo "$passed tests passed${failed:+, FAILED:$failed}"
[ -z "$failed" ]
