# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# apply --confirm-within on a terminal: a countdown that ENTER ends with the change kept, Ctrl-C and the time with the
# change reverted. Without a terminal there is none.
. "$(dirname "$0")/lib.sh"

as_before() { [ "$(settings)" = "$untuned" ]; }
trial() { tune history -j 2>"$TMP/tune.log" | jq -r '[.transactions[] | select(.trial)][0] // empty | .trial.outcome'; }
shows() { grep -q -- "$1" "$TMP/terminal.log"; }
counts_down() { shows 'The daemon reverts the change in [0-9]* s'; }

# on_terminal KEYS ARGUMENT...: an apply on a terminal, where KEYS are typed once it counts down. Sets rc; terminal.log
# has what the terminal shows.
on_terminal()
{
	local keys=$1 pid
	shift
	rm -f "$TMP/keys"
	mkfifo "$TMP/keys"
	: >"$TMP/terminal.log"
	stretch 120
	timeout "$STRETCHED" script -qefc "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml apply $*" /dev/null \
		<"$TMP/keys" >"$TMP/terminal.log" 2>&1 &
	pid=$!
	exec {TYPE}>"$TMP/keys"
	case " $* " in
	*' -y '*) ;;
	*) # An ENTER that comes too early is no answer to the countdown.
		wait_until 30 shows '\[y/N\]' || fail "no question: $(cat "$TMP/terminal.log")"
		printf 'y\n\n' >&"$TYPE" ;;
	esac
	wait_until 60 counts_down || fail "no countdown: $(cat "$TMP/terminal.log")"
	if [ -n "$keys" ]; then
		sleep 1
		equal "it waits for a key" "$(trial)" pending
		# shellcheck disable=SC2059
		printf "$keys" >&"$TYPE"
	fi
	rc=0
	wait "$pid" || rc=$?
	exec {TYPE}>&-
}

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
untuned=$(settings)
planned() { rm -f "$TMP/plan.json"; tune plan -o "$TMP/plan.json" >"$TMP/plan.log" 2>&1 && grep -q '^Plan: [1-9]' "$TMP/plan.log"; }
wait_until 30 planned || fail "there is nothing to try: $(tail -n 3 "$TMP/plan.log")"

on_terminal '\n' "$TMP/plan.json" --confirm-within 10m
check "the keys are named" shows 'Press ENTER to keep it, or Ctrl-C to revert it now'
equal "ENTER keeps the change: exit code" "$rc" 0
check "and says so" shows 'Transaction [0-9]* is kept'
check "then the effect is measured" shows 'all adapters send'
equal "the history has the confirmation" "$(trial)" confirmed
as_before && fail "the change that was kept is not on the fabric"
check "it can be rolled back" tune rollback -y
wait_until 30 as_before || fail "not as before"

wait_until 30 planned || fail "there is nothing to try: $(tail -n 3 "$TMP/plan.log")"
on_terminal '\003' "$TMP/plan.json" -y --confirm-within 10m
equal "Ctrl-C reverts it: exit code" "$rc" 1
check "and says so" shows 'the change was reverted'
check "the fabric is as before" as_before
equal "the history has it" "$(trial)" 'taken back'

wait_until 30 planned || fail "there is nothing to try: $(tail -n 3 "$TMP/plan.log")"
# As much longer as the machine is slower now: the countdown of a trial that is over at once is never seen.
stretch 5
on_terminal '' "$TMP/plan.json" -y --confirm-within "${STRETCHED}s"
equal "the time is over: exit code" "$rc" 1
check "and says so" shows 'was not confirmed, so the daemon reverts it'
wait_until 30 as_before || fail "an unconfirmed change stays"
ok "the daemon reverts it"

wait_until 30 planned || fail "there is nothing to try: $(tail -n 3 "$TMP/plan.log")"
tune apply "$TMP/plan.json" -y --no-wait --confirm-within 10m >"$TMP/apply.log" 2>&1 || fail "apply: $(cat "$TMP/apply.log")"
check "without a terminal it says how to confirm" grep -q 'unless you run ibcc-tune confirm' "$TMP/apply.log"
without "and does not count down" "$TMP/apply.log" 'Press ENTER'
check "which is canceled" tune cancel
