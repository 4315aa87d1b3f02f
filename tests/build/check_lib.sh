#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What system tests check with can fail: the functions of lib.sh do where there is nothing to look at, and no test uses
# a form that succeeds there.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; cat "$tmp/out"; exit 1; }

# passes TEXT / fails TEXT: what comes in, as a system test.
a_test()
{
	{ echo ". tests/system/lib.sh"; cat; } >"$tmp/test.sh"
	rc=0
	TMPDIR=$tmp bash "$tmp/test.sh" >"$tmp/out" 2>&1 || rc=$?
}
passes() { a_test; [ "$rc" = 0 ] && grep -q '^ok ' "$tmp/out" || not_ok "$1"; echo "ok - $1"; }
fails() { a_test; [ "$rc" = 1 ] && grep -q '^not ok ' "$tmp/out" || not_ok "$1"; echo "ok - $1"; }

passes "a check reads the output of the check before" <<'SH'
check "a" echo '{"a": 1}'
check "b" jq -e '.a == 1' "$TMP/check.log"
SH
fails "and fails if that is not what it wants" <<'SH'
check "a" echo '{"a": 1}'
check "b" jq -e '.a == 2' "$TMP/check.log"
SH
fails "a check fails with its command" <<'SH'
check "a" false
SH
grep -q 'status 1: false' "$tmp/out" || not_ok "a check that fails does not say why"
fails "what fails within a condition is told" <<'SH'
condition() { fail "in it"; }
wait_until 1 condition
SH
passes "a test ends its children" <<'SH'
sleep 60 &
CHILDREN+=($!)
echo $! >"$TMPDIR/child"
ok a
SH
! kill -0 "$(cat "$tmp/child")" 2>/dev/null || not_ok "a child goes on"
passes "but no process that has the number of one" <<'SH'
(sleep 60 & echo $! >"$TMPDIR/other")
CHILDREN+=("$(cat "$TMPDIR/other")")
ok a
SH
kill "$(cat "$tmp/other")" 2>/dev/null || not_ok "another process is ended"
fails "jq -e fails on empty input" <<'SH'
: >"$TMP/empty"
check "a" jq -e . "$TMP/empty"
SH
fails "also by a pipe, with other options" <<'SH'
true | jq -ce --arg a b '.a == $a' || fail "empty"
SH
fails "and where there is no such file" <<'SH'
check "a" jq -e . "$TMP/none"
SH
fails "two times nothing is not equal" <<'SH'
equal "a" "$(false)" "$(true)"
SH
passes "what is equal is" <<'SH'
equal "a" "$(echo 1)" 1
SH
fails "what is missing is not without something" <<'SH'
without "a" "$TMP/none" b
SH
fails "nor is an empty file" <<'SH'
: >"$TMP/empty"
without "a" "$TMP/empty" b
SH
fails "nor is what grep does not understand" <<'SH'
echo a >"$TMP/file"
without "a" "$TMP/file" -E '('
SH
fails "nor what has it" <<'SH'
echo a >"$TMP/file"
without "a" "$TMP/file" a
SH
passes "what has it not is" <<'SH'
echo a >"$TMP/file"
without "a" "$TMP/file" b
SH
fails "a command that fails without a word is not silent" <<'SH'
silent "a" false
SH
fails "nor is one that prints something" <<'SH'
silent "a" echo b
SH
passes "one that succeeds without a word is" <<'SH'
silent "a" true
SH
fails "empty files are not the same" <<'SH'
same "a" <(true) <(true)
SH
fails "nor do they differ from others" <<'SH'
echo a >"$TMP/file"
differ "a" "$TMP/file" "$TMP/none"
SH
passes "files with the same lines are the same, others differ" <<'SH'
echo a >"$TMP/file"
same "a" "$TMP/file" <(echo a)
differ "a" "$TMP/file" <(echo b)
SH
fails "files that differ are not the same" <<'SH'
same "a" <(echo a) <(echo b)
SH
# As a clone in root's home, built with a umask of 077.
chmod 711 "$tmp"
mkdir -m 700 "$tmp/build"
cp "$IBCC_BUILD/ibcc-tuned" "$tmp/build"
chmod 700 "$tmp/build/ibcc-tuned"
passes "others run our programs though they may not enter the folder of the build, nor read what is in it" <<SH
IBCC_BUILD=$tmp/build
check "a" unprivileged ibcc-tuned --version
check "b" grep -q ^ibcc-tuned "\$TMP/check.log"
SH
passes "a wait ends with what it waits for" <<'SH'
(sleep 0.3; : >"$TMP/there") &
wait_until 5 test -e "$TMP/there" || fail "it does not see it"
ok "a"
SH
fails "and when its time is over" <<'SH'
wait_until 0 false || fail "over"
SH
passes "what is waited for, and what is checked, sees the test's own variables" <<'SH'
before=1 now=2 left_us=3 text=4 rc=5
sees() { [ "$before $now $left_us $text $rc" = '1 2 3 4 5' ]; }
wait_until 1 sees || fail "not in a wait"
check "a" sees
sets() { before=6; }
wait_until 1 sets && equal "and what it sets stays" "$before" 6
SH
# Twelve processes that want two processors, instead of three: four times as long.
passes "time stretches with the load" <<'SH'
nproc() { echo 2; }
. <(sed "s,/proc/loadavg,$TMP/loadavg," "$top/tests/wait.sh")
echo '0.50 9.99 9.99 12/100 4711' >"$TMP/loadavg"
stretch 3 && equal "the load of now" "$STRETCHED" 12
echo '5.25 0.00 0.00 1/100 4711' >"$TMP/loadavg"
stretch 3 && equal "of the last minute" "$STRETCHED" 6
echo '2.08 0.00 0.00 1/100 4711' >"$TMP/loadavg"
stretch 3 && equal "with the tests alone" "$STRETCHED" 3
SH

# never PATTERN ADVICE FILE...: no line of the files is like that.
never()
{
	pattern=$1 advice=$2
	shift 2
	for f; do [ -s "$f" ] || not_ok "$f: no such file"; done
	! grep -nE -- "$pattern" "$@" /dev/null >"$tmp/out" || not_ok "$advice"
}
# That each of the patterns finds what it is for.
finds() { printf '%s\n' "$2" | grep -qE -- "$1" || not_ok "the pattern $1 does not find $2"; }
: >"$tmp/out"
negated='(^|[;&|{(]|do|then|check "[^"]*")[[:space:]]*![[:space:]]+([^|&;]*\|)?[[:space:]]*(LC_ALL=C )?grep|grep .*&&[[:space:]]*(fail|not_ok)'
finds "$negated" '	! grep -q secret "$TMP/log" || fail "it is there"'
finds "$negated" 'gone() { ! tune status | grep -q there; }'
finds "$negated" 'grep -qi secret "$TMP/log" && fail "it is there"'
none='equal .* ("")$|equal .* ('\'\'')$|equal .*\$\(grep -c .*" 0$'
finds "$none" 'equal "nothing" "$(tune plan)" ""'
finds "$none" 'equal "nothing" "$(grep -c x "$TMP/file")" 0'
alike='(check ("[^"]*"|\$[a-z]*) |[^$(]|^)\<(cmp|diff) .*(\|\||&&) *(fail|not_ok)|check .* (cmp|diff) '
finds "$alike" 'check "the same" cmp "$TMP/a" "$TMP/b"'
finds "$alike" '	diff "$TMP/a" "$TMP/b" || fail "they differ"'
itself='("[^" ]+"|[^ "]+/[^ "]+) ([^|;&]*[^>&0-9|;])?>\1( |$)'
finds "$itself" 'jq .rows "$TMP/a.json" >"$TMP/a.json"'
# In $(...) it is a child's, which ends soon.
substituted='^([^$]|\$[^(])*[<>]\('
finds "$substituted" 'read -r a b < <(received)'
finds "$substituted" 'same "alike" "$TMP/want" <(points "$1")'
never "$negated" "an empty file has nothing; say: without TEXT FILE PATTERN" tests/system/*.sh
never "$none" "a command that fails says nothing; say: silent TEXT COMMAND, or without TEXT FILE PATTERN" tests/system/*.sh
never "$alike" "empty files are alike; say: same TEXT WANT GOT, or differ" tests/system/*.sh
never "$substituted" "bash 5.2 hangs when a later command gets the number of a process substitution; say: <<<\"\$(...)\", or write a file" \
	tests/*.sh tests/system/*.sh tests/slurm/*.sh tests/boot/*.sh
never "$itself" "it empties the file that it reads" tests/*/*.sh perftest/*/*.sh
# shadowing FILE...: variables of functions that run a command for their caller, which would see them in place of the
# caller's, but for those whose names begin with an underscore, which others do not use.
shadowing()
{
	awk '/^[a-z_0-9]+\(\)/ { runs = 0; names = "" }
		/^}/ && runs && names != "" { print FILENAME ":" names }
		/^[[:space:]]*((until|while|if|!)[[:space:]]+)*"\$@"/ { runs = 1 }
		/^[[:space:]]*local / { for (i = 2; i <= NF; i++) if ($i ~ /^[a-z][a-z_0-9]*(=|$)/) names = names " " $i }' "$@"
}
printf 'f()\n{\n\tlocal _a=1 b=$1 c\n\tuntil "$@"; do :; done\n}\n' >"$tmp/shadow.sh"
shadowing "$tmp/shadow.sh" | grep -q ': b=$1 c$' || not_ok "variables that hide others are not found"
shadowing tests/*.sh tests/*/*.sh tests/*/*/*.sh >"$tmp/out"
[ ! -s "$tmp/out" ] || not_ok "a function runs a command that sees these variables in place of the caller's"
never 'command jq|/jq ' "jq of lib.sh fails on empty input" tests/system/test_*.sh tests/system/chaos.sh
never 'echo "skipped:.*exit 0' "skip of lib.sh tells tests/run.sh" tests/system/test_*.sh
echo "ok - no test has a check that cannot fail"
