# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# What the command line prints on a terminal fits the terminal: 80 columns and 200. A pipe gets whole lines.
. "$(dirname "$0")/lib.sh"

# on COLUMNS COMMAND...: what a terminal of that width shows, without what moves its cursor.
mkfifo "$TMP/keys"
exec 9<>"$TMP/keys" # a keyboard at which nothing is typed
on()
{
	local columns=$1
	shift
	timeout "$TOOL_SECONDS" script -qec "stty cols $columns; NO_COLOR=1 TERM=xterm LC_ALL=C.UTF-8 PAGER=cat \
		$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml $*" /dev/null <&9 2>&1 |
		sed 's/\x1b\[[0-9;?]*[A-Za-z]//g' | tr -d '\r'
}

# A line that is wider, as a terminal counts: characters, not bytes.
wider() { LC_ALL=C.UTF-8 grep -qE "^.{$(($1 + 1)),}" "$2"; }

fits()
{
	local columns name=$*
	name=$TMP/${name//[ \/]/_}
	for columns in 80 200; do
		on "$columns" "$@" >"$name.$columns"
		[ -s "$name.$columns" ] || fail "$* prints nothing"
		! wider "$columns" "$name.$columns" || fail "$* is wider than $columns columns: $(cat "$name.$columns")"
	done
	ok "$* fits into 80 and 200 columns"
}

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
planned() { tune plan >"$TMP/plan.log" 2>&1 && grep -q '^Plan: [1-9]' "$TMP/plan.log"; }
wait_until 40 planned || fail "there is no plan: $(tail -n 3 "$TMP/plan.log")"
for command in --help --version 'help plan' 'help apply' 'help what-if' 'help bundle' probe 'probe -v' status 'status -v' \
	plan 'plan -v' 'plan --full' 'plan --root 1' 'show' 'show -v' 'show leaf2' 'show source1' 'show source1 -v' \
	'top --limit 2' 'what-if --set ccti_timer=30' history; do
	# shellcheck disable=SC2086 # a command with its arguments
	fits $command
done
tune apply -y --no-wait >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
measured() { tune history -j --limit 1 | jq -e '.transactions[0].effect.after != null' >/dev/null; }
wait_until 40 measured || fail "the effect is not measured"
for command in status plan show 'show leaf2' 'show source1' 'top --limit 2' history 'history 1'; do
	# shellcheck disable=SC2086 # a command with its arguments
	fits $command
done
# The whole lines, as before.
tune history 1 >"$TMP/whole"
wider 80 "$TMP/whole" || fail "a pipe gets lines that were cut: $(cat "$TMP/whole")"
ok "a pipe gets the whole lines"
on 80 rollback -y >"$TMP/rollback.80"
check "rollback has a table" grep -q '^OP ' "$TMP/rollback.80"
! wider 80 "$TMP/rollback.80" || fail "rollback is wider than 80 columns: $(cat "$TMP/rollback.80")"
ok "rollback fits into 80 columns"
