# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sourced by everything in tests/ that waits. All times are those of a machine that only runs the tests: they stretch
# with its load, so that a test fails for what it tests and not for what else runs.
# shellcheck shell=bash

# measure_load: sets SLOWDOWN, in percent: how much longer a process takes now than when only the tests run. It is the
# number of processes that want a processor (now, or in the mean of the last minute if that was more), over the number
# of those that do so while only the tests run: one more than there are processors. tests/run.sh runs nearly twice as
# many tests at a time, since a test of the system waits for half of its time and more.
SLOWDOWN=100
USUAL_LOAD=$(($(nproc) + 1))
measure_load()
{
	local mean running
	read -r mean _ _ running _ </proc/loadavg
	mean=$((10#${mean/./}))
	running=$((100 * ${running%/*}))
	SLOWDOWN=$(((mean > running ? mean : running) / USUAL_LOAD))
	[ "$SLOWDOWN" -ge 100 ] || SLOWDOWN=100
}

# stretch SECONDS: sets STRETCHED to that time as the machine's load makes it now, in whole seconds.
stretch()
{
	measure_load
	STRETCHED=$((($1 * SLOWDOWN + 99) / 100))
}

# within SECONDS PROGRAM...: runs it for at most so long, stretched.
within()
{
	stretch "$1"
	timeout "$STRETCHED" "${@:2}"
}

# pause MS: waits MS milliseconds, 100 to 999, without a process of its own, since tests wait thousands of times. Both ends
# of this pipe are open here, so nothing ever comes from it.
nothing_at=$(mktemp -d) && mkfifo "$nothing_at/pipe" && exec {NOTHING}<>"$nothing_at/pipe" && rm -r "$nothing_at"
pause() { read -rt "0.$1" -u "$NOTHING" || :; }

# wait_until SECONDS COMMAND...: runs the command until it succeeds; fails after three times the seconds. The load is
# measured at each try, and a second counts for less while others have the processors. A command takes some 50 ms of a
# processor, so the tries become fewer while it waits: up to half a second lies between two. The command is often a function
# of the test. It would see variables of this one in place of the test's, so these have names that no test uses.
wait_until()
{
	local _left_us=$((3000000 * $1)) _then=${EPOCHREALTIME/[.,]/} _now _ms=100
	shift
	until "$@" >/dev/null 2>&1; do
		measure_load
		_now=${EPOCHREALTIME/[.,]/}
		_left_us=$((_left_us - (_now - _then) * 100 / SLOWDOWN))
		_then=$_now
		[ "$_left_us" -gt 0 ] || return 1
		pause "$_ms"
		[ "$_ms" -ge 500 ] || _ms=$((_ms * 5 / 4))
	done
}
