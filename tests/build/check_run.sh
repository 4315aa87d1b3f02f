#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# run.sh runs tests side by side, reports them in order, counts them, names those that fail or hang, and ends them with all
# that they have started. limit.sh ends a command that does not end by itself.
set -eu
unset T
export JOBS=2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; cat "$tmp/out"; exit 1; }
mkdir -p "$tmp/tests/system"
cp tests/run.sh tests/wait.sh "$tmp/tests"
# a_test NAME: from what comes in.
a_test() { cat >"$tmp/tests/system/test_$1.sh"; }
run() { bash "$tmp/tests/run.sh" "$tmp/b" system >"$tmp/out" 2>&1; }
eventually() { for _ in $(seq 600); do ! "$@" || return 0; sleep 0.1; done; return 1; }

# a ends when b has run, which begins at the same time then.
a_test a <<SH
for _ in \$(seq 600); do [ -e $tmp/b-was-here ] && { echo "ok - a"; echo "ok - again"; exit 0; }; sleep 0.1; done
exit 1
SH
a_test b <<SH
sleep 600 & echo \$! >$tmp/b-was-here; echo '[  PASSED  ] 5 test(s).'
SH
a_test c <<SH
echo 'ok - c'
SH
run || not_ok "what passes fails"
[ "$(sed 's/  */ /g' "$tmp/out")" = " system/test_a 2 passed
 system/test_b 5 passed
 system/test_c 1 passed
8 tests passed" ] || not_ok "two at a time, in order"
[ "$(sed 's/^ *[0-9]* ms, took [0-9]* s: //' "$tmp/b/tests/log/times" | sort | paste -sd' ')" = "system/test_a system/test_b system/test_c" ] ||
	not_ok "the times of each"
[ "$(T='_c _a' bash "$tmp/tests/run.sh" "$tmp/b" system | tail -n 1)" = "3 tests passed" ] || not_ok "several words pick tests"
echo "ok - two at a time, told in order, counted"
gone() { ! kill -0 "$1" 2>/dev/null || grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null; }
eventually gone "$(cat "$tmp/b-was-here")" || not_ok "what a test leaves goes on"
echo "ok - what a test leaves is ended"

rm "$tmp"/tests/system/*
a_test bad <<SH
echo 'not ok - the cause'; seq 100; echo the end; exit 3
SH
a_test good <<SH
echo 'ok - good'
SH
a_test skipped <<SH
printf '[  PASSED  ] 0 test(s).\n[  SKIPPED ] 1 test(s), listed below:\n[  SKIPPED ] a_test\n'
SH
a_test without <<SH
echo 'ok - a part'; echo 'ok - a program is missing, another part is not tried # SKIP'
SH
a_test none <<SH
exit 0
SH
! run || not_ok "what fails passes"
grep -q '^  system/test_bad  *FAILED (3)$' "$tmp/out" && grep -q '^    | not ok - the cause$' "$tmp/out" &&
	grep -q '^    | the end$' "$tmp/out" && ! grep -q '^    | 50$' "$tmp/out" || not_ok "what has failed is not told"
grep -q '^    | not ok - it has tested nothing$' "$tmp/out" || not_ok "a test that tests nothing passes"
grep -q '^  system/test_without  *1 passed, 1 skipped$' "$tmp/out" || not_ok "what is skipped counts as passed"
[ "$(tail -n 1 "$tmp/out")" = '2 tests passed (2 skipped), FAILED: system/test_bad system/test_none' ] || not_ok "the last line"
echo "ok - what fails is told of"

rm "$tmp"/tests/system/*
! run || not_ok "nothing at all passes"
a_test long <<SH
trap 'echo "ok - cleaned up" >$tmp/cleaned; exit 1' TERM
sleep 600 & echo \$! >$tmp/left
: >$tmp/runs; wait
SH
bash "$tmp/tests/run.sh" "$tmp/b" system >"$tmp/out" 2>&1 &
runner=$!
eventually test -e "$tmp/runs" || not_ok "a test does not start"
kill -TERM $runner
! wait $runner || not_ok "what was stopped passes"
[ -e "$tmp/cleaned" ] || not_ok "a test that is stopped cannot clean up"
eventually gone "$(cat "$tmp/left")" || not_ok "what a test has started goes on when it is stopped"
echo "ok - stopping it ends all tests"

cp tests/limit.sh "$tmp/tests"
rc=0
bash "$tmp/tests/limit.sh" 60 sh -c 'echo out; exit 7' >"$tmp/out" 2>&1 || rc=$?
[ "$rc" = 7 ] && [ "$(cat "$tmp/out")" = out ] || not_ok "a limit changes what a command prints, or how it ends: $rc"
rc=0
bash "$tmp/tests/limit.sh" 1 sh -c "sleep 600 & echo \$! >$tmp/left; wait" >"$tmp/out" 2>&1 || rc=$?
[ "$rc" = 124 ] && grep -q '^not ok - it was ended' "$tmp/out" || not_ok "a command that takes too long passes: $rc"
eventually gone "$(cat "$tmp/left")" || not_ok "what a command has started goes on after its time"
echo "ok - a command that takes too long is ended with what it has started"
