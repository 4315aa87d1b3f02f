#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Runs tests and counts them: run.sh BUILD-DIR KIND...; T=name, or several words, picks tests by name. The CPU time of each
# and how long it took are in tests/log/times of the build folder, the longest first.
# KINDs: build (sources), unit, sim (virtual time), fuzz (corpus), system (real ibsim and opensm).
# JOBS of them run at a time; what came of them is told in the order of the list.
set -u
# Each test is a process group of its own, which is ended with all that is in it; and SIGINT is not ignored there.
set -m

B=$1
shift
cd "$(dirname "$0")/.." || exit 1
# shellcheck source=tests/wait.sh
. tests/wait.sh
case $B in /*) ;; *) B=$PWD/$B ;; esac
export IBCC_BUILD=$B
logs=$B/tests/log
mkdir -p "$logs"
# AddressSanitizer keeps what was freed, up to 256 MiB by default: a test of resident memory would take that for growth.
export ASAN_OPTIONS="quarantine_size_mb=4${ASAN_OPTIONS:+:$ASAN_OPTIONS}"

# picked NAME: whether it has one of the words in T, if there are any.
picked()
{
	local word
	[ -n "${T-}" ] || return 0
	for word in $T; do
		case $1 in *"$word"*) return 0 ;; esac
	done
	return 1
}

# Of the system tests these take longest, so they start before the others: a long one that starts last runs alone.
long='chaos likeness confirm likeness_trees likeness_large whole_apply nvidia_writes plan_edited whose stopped_daemon bench silent
	traps settled'

# The list: KIND/NAME.
tests=()
for kind; do
	case $kind in
	build | system) pattern="tests/$kind/*.sh" ;;
	unit | sim | fuzz) pattern="tests/$kind/*.c" ;;
	*) echo "run.sh: unknown kind $kind" >&2; exit 1 ;;
	esac
	[ "$kind" != system ] || pattern="$(printf 'tests/system/test_%s.sh ' $long) $pattern"
	for f in $pattern; do
		name=$kind/${f##*/}
		name=${name%.*}
		case " ${tests[*]-} " in *" $name "*) continue ;; esac
		[ -e "$f" ] && picked "$name" || continue
		case $name in */test_* | build/check_* | fuzz/fuzz_*) tests+=("$name") ;; esac
	done
done

began=()         # EPOCHSECONDS when each test was started
declare -A of=() # which test of the list, by the pid of its process group
results=()       # status of each test that has ended

log_of() { echo "$logs/${tests[$1]/\//-}.log"; }

# start TEST: with a time after which it is ended, which stretches with the load, and some more to clean up.
start()
{
	local name=${tests[$1]} log
	log=$(log_of "$1")
	set -- "$1" "${name#*/}"
	case $name in
	build/*) set -- "$1" 300 sh "tests/$name.sh" ;;
	system/*) set -- "$1" 480 bash "tests/$name.sh" ;;
	fuzz/*) set -- "$1" 300 "$B/tests/$name" "tests/fuzz/corpus/${2#fuzz_}" ;;
	*) set -- "$1" 600 "$B/tests/$name" ;;
	esac
	stretch "$2"
	began[$1]=$EPOCHSECONDS
	timeout -k 15 "$STRETCHED" "${@:3}" >"$log" 2>&1 </dev/null &
	of[$!]=$1
}

passed=0
skipped=0
failed=
# tell TEST: a program of tests prints its number as "N test(s)", a script a line "ok - ..." for each, with "# SKIP" behind
# what it leaves out. One that passes none has tested nothing, unless it says that it skips them.
tell()
{
	local name=${tests[$1]} rc=${results[$1]} log n out
	log=$(log_of "$1")
	if [ "$rc" = 0 ]; then
		n=$(sed -n 's/^.*\[  PASSED  \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
		[ -n "$n" ] || n=$(grep '^ok ' "$log" | grep -vc '# SKIP')
		out=$(sed -n 's/^\[  SKIPPED \] \([0-9]*\) test.*/\1/p' "$log" | tail -n 1)
		[ -n "$out" ] || out=$(grep -cE '^ok .*# SKIP|^\[  SKIPPED \]' "$log")
		[ "$n" -gt 0 ] || [ "$out" -gt 0 ] || {
			echo "not ok - it has tested nothing" >>"$log"
			rc=1
		}
	fi
	if [ "$rc" = 0 ]; then
		passed=$((passed + n))
		skipped=$((skipped + out))
		[ "$out" = 0 ] && out='' || out=", $out skipped"
		printf '  %-44s %4d passed%s\n' "$name" "$n" "$out"
	else
		[ "$rc" != 124 ] || echo "TIMEOUT" >>"$log"
		failed="$failed $name"
		printf '  %-44s FAILED (%d)\n' "$name" "$rc"
		# What failed may be far above the end, with logs behind it.
		{ grep -a '^not ok' "$log"; tail -n 40 "$log" | grep -av '^not ok'; } | sed 's/^/    | /'
	fi
}

# use_of TEST: what its processes have used that it has waited for. One test is reaped at a time, so it is what has been
# added since the one before.
cpu_ms=0
use_of()
{
	local user system before=$cpu_ms
	times >"$logs/used"
	{ read -r _ && read -r user system; } <"$logs/used"
	cpu_ms=$(awk -v t="$user $system" 'BEGIN { split(t, a, /[ms ]+/); printf "%d", 1000 * (60 * (a[1] + a[3]) + a[2] + a[4]) }')
	printf '%8d ms, took %d s: %s\n' $((cpu_ms - before)) $((EPOCHSECONDS - began[$1])) "${tests[$1]}" >>"$logs/times.new"
}

told=0
# finish: waits for one test, and tells of those before which all have ended.
finish()
{
	local pid rc=0
	wait -n -p pid || rc=$?
	results[${of[$pid]}]=$rc
	use_of "${of[$pid]}"
	unset "of[$pid]"
	kill -KILL -- "-$pid" 2>/dev/null # what it has left running
	while [ -n "${results[told]-}" ]; do
		tell "$told"
		told=$((told + 1))
	done
}

stop()
{
	trap '' INT TERM HUP
	echo "stopped: the tests that run are ended" >&2
	kill -TERM "${!of[@]}" 2>/dev/null
	wait
	for pid in "${!of[@]}"; do kill -KILL -- "-$pid" 2>/dev/null; done
	exit 130
}
trap stop INT TERM HUP
: >"$logs/times.new"

# Most of the time the tests of the system wait, so that fewer of them would leave processors idle.
: "${JOBS:=$((2 * $(nproc) + 1))}"

for test in "${!tests[@]}"; do
	[ "${#of[@]}" -lt "$JOBS" ] || finish
	start "$test"
done
while [ "${#of[@]}" -gt 0 ]; do finish; done

sort -rn "$logs/times.new" >"$logs/times"
rm -f "$logs/times.new" "$logs/used"
[ "$skipped" = 0 ] && skipped='' || skipped=" ($skipped skipped)"
echo "$passed tests passed$skipped${failed:+, FAILED:$failed}"
[ -z "$failed" ] && [ "$passed" -gt 0 ]
