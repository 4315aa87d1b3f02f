# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Settings on trial: confirmed, canceled, left alone until their time is over, or until their daemon ends. Then
# the daemon is killed at random moments from the first Set to after the end of the trial, half the time with a
# confirmation under way: the fabric must end as the plan has it or as it was before, and the history must say
# which. The daemon refines a plan that was confirmed: then the fabric has the plan's writes and those of the further
# steps, each of which the state file must have, and nothing else.
#
# IBCC_KILLS: how often it is killed (default 6; `make check-confirm` takes 50).
# IBCC_SEED: of the moments; printed, so that a run can be repeated.
. "$(dirname "$0")/lib.sh"

KILLS=${IBCC_KILLS:-6}
SEED=${IBCC_SEED:-$((($(date +%s) + $$) % 32768))}
RANDOM=$SEED
echo "seed $SEED"

difference() { echo "$1" | jq . >"$TMP/want"; settings | jq . | diff "$TMP/want" - | head -20; }
as_before() { [ "$(settings)" = "$untuned" ]; }
# The newest transaction that was on trial, as "ID OUTCOME-OF-THE-TRIAL".
trial() { tune history -j 2>"$TMP/tune.log" | jq -r '[.transactions[] | select(.trial)][0] // empty | "\(.id) \(.trial.outcome)"'; }
# What is tried is refined until it holds, unless no client waits for it.
try() { tune apply "$TMP/plan.json" -y --confirm-within "$@" >"$TMP/apply.log" 2>&1; }
is_over() { status '.trial == null and .state == "ok"'; }

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
untuned=$(settings)
planned() { rm -f "$TMP/plan.json"; tune plan -o "$TMP/plan.json" >"$TMP/plan.log" 2>&1 && grep -q '^Plan: [1-9][0-9]* change' "$TMP/plan.log"; }
wait_until 30 planned || fail "there is nothing to try: $(tail -n 3 "$TMP/plan.log")"

for time in 0 0s -1 25h 2d 1.5s s 99999999999; do
	tune apply -y --confirm-within "$time" >"$TMP/other.log" 2>&1 && fail "a trial of $time"
	grep -q "got '$time'" "$TMP/other.log" || fail "a trial of $time: $(cat "$TMP/other.log")"
done
ok "times that are none are refused"
tune confirm >"$TMP/other.log" 2>&1 && fail "there is something to confirm before anything is tried"
check 'there is nothing to confirm before anything is tried' grep -q 'nothing is on trial$' "$TMP/other.log"
try 2m || fail "an apply on trial: $(cat "$TMP/apply.log")"
tuned=$(settings)
[ "$tuned" != "$untuned" ] || fail "an apply on trial writes nothing"
check 'the client is told what becomes of it' grep -q 'On trial: the daemon reverts the change in 1[0-9]* s' "$TMP/apply.log"
status '.trial.transaction > 0 and .trial.seconds_left <= 120 and .trial.over == null' ||
	fail "the status does not tell of the trial: $(jq -c .trial "$TMP/status.json")"
ok "the status tells of the trial"
for command in "apply" "apply --confirm-within 10s" "repair"; do
	# shellcheck disable=SC2086
	tune $command -y >"$TMP/other.log" 2>&1 && fail "$command is carried out during a trial"
	grep -q 'is on trial' "$TMP/other.log" || fail "$command: $(cat "$TMP/other.log")"
done
ok "nothing else is written during a trial"
check 'it is confirmed' tune confirm
equal 'the history says so' "$(trial | cut -d ' ' -f 2-)" confirmed
is_over || fail "a trial that was confirmed goes on: $(jq -c .trial "$TMP/status.json")"
equal 'what was confirmed stands' "$(settings)" "$tuned"
tune confirm >"$TMP/other.log" 2>&1 && fail "it is confirmed twice"
grep -q 'was confirmed' "$TMP/other.log" || fail "a second confirmation: $(cat "$TMP/other.log")"
check 'it can be rolled back' tune rollback -y
as_before || fail "not as before: $(difference "$untuned")"

try 2m || fail "a second apply on trial: $(cat "$TMP/apply.log")"
check 'another is canceled' tune cancel
as_before || fail "not as before it: $(difference "$untuned")"
equal 'the history says that it is taken back' "$(trial | cut -d ' ' -f 2-)" 'taken back'
tune cancel >"$TMP/other.log" 2>&1 && fail "it is canceled twice"
check 'and not twice' grep -q 'nothing is on trial: transaction [0-9]* was reverted' "$TMP/other.log"

try 1 --no-wait || fail "a short trial: $(cat "$TMP/apply.log")"
wait_until 20 as_before || fail "an unconfirmed change stays: $(difference "$untuned")"
wait_until 20 is_over || fail "the trial does not end: $(jq -c .trial "$TMP/status.json")"
tune history -j | jq -e '.transactions[0] | .action == "rollback" and (.summary | test("it was not confirmed within 1 s"))' \
	>/dev/null || fail "the history does not say why: $(tune history)"
ok "an unconfirmed change is reverted, and the history says why"
tune confirm >"$TMP/other.log" 2>&1 && fail "it is confirmed too late"
check "it cannot be confirmed any more" grep -q 'nothing is on trial: transaction [0-9]* was reverted' "$TMP/other.log"

# The daemon that is to revert it, and the file that has it, may be gone when its time is over.
try 2 --no-wait || fail "a trial before opensm's end: $(cat "$TMP/apply.log")"
stop "$OSM_PID"
wait_until 20 status '.trial.over != null' || fail "without opensm the trial does not end: $(jq -c .trial "$TMP/status.json")"
wait_until 20 grep -q 'taking back what was on trial.*no OpenSM plugin' "$TMP/tuned.log" || fail "the daemon does not try to revert it"
status '.trial.over != null' || fail "it is called taken back without opensm: $(jq -c .trial "$TMP/status.json")"
start_opensm --plugin
wait_until 30 as_before || fail "when opensm is back, the unconfirmed change stays: $(difference "$untuned")"
wait_until 20 is_over || fail "the trial does not end: $(jq -c '[.trial, .reason]' "$TMP/status.json")"
ok "an unconfirmed change is reverted when it is there again"
try 2 --no-wait || fail "a trial before the state file's end: $(cat "$TMP/apply.log")"
rm "$TMP/state.db"
wait_until 30 as_before || fail "without the state file an unconfirmed change stays: $(difference "$untuned")"
wait_until 20 is_over || fail "the trial does not end: $(jq -c '[.trial, .reason]' "$TMP/status.json")"
ok "an unconfirmed change is reverted, too, when the state file is lost meanwhile"

try 2m || fail "a trial before the daemon's end: $(cat "$TMP/apply.log")"
check 'marking is taken off during a trial' tune disable -y
is_over || fail "a trial outlives what was tried: $(jq -c .trial "$TMP/status.json")"
check 'which is rolled back' tune rollback -y
as_before || fail "not as before: $(difference "$untuned")"

try 2m || fail "a trial before the daemon's end: $(cat "$TMP/apply.log")"
stop "$TUNED_PID"
as_before || fail "what is on trial outlives its daemon: $(difference "$untuned")"
ok "what is on trial is taken back when the daemon ends"
tune apply "$TMP/plan.json" -y --confirm-within 10s >"$TMP/other.log" 2>&1 && fail "there is a trial without a daemon"
check 'there is no trial without a daemon' grep -q 'a trial needs ibcc-tuned' "$TMP/other.log"
start_tuned
try 2m || fail "a trial whose daemon dies: $(cat "$TMP/apply.log")"
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
tune confirm >"$TMP/other.log" 2>&1 && fail "it is confirmed without a daemon"
check 'no trial is confirmed without a daemon' grep -q 'a trial needs ibcc-tuned' "$TMP/other.log"
check 'without a daemon it is canceled by the command line' tune cancel
as_before || fail "canceled without a daemon, but not as before: $(difference "$untuned")"
equal 'the history has that, too' "$(trial | cut -d ' ' -f 2-)" 'taken back'
start_tuned

# Answers that take so long, so that a push takes about 150 ms at the machine's pace, and the way back as long.
delay_mads 60000
PUSH_MS=$((160 * PACE / 100))
WITHIN_MS=1000
settled() { tune history "$1" -j >"$TMP/txn.json" 2>"$TMP/tune.log" &&
	jq -e '.transaction | .outcome != "open" and all(.change_list[]; .outcome != "pending")' "$TMP/txn.json"; }

# The writes that the state file has since a transaction, and the settings at that moment: nothing is written while
# both are read.
still()
{
	"$IBCC_BUILD/tests/system/book_reader" "$TMP/state.db" "$1" >"$TMP/book.json" 2>"$TMP/book.log" &&
		jq -es 'all(.[]; .ended != "open" and .outcome != "pending")' "$TMP/book.json" && found=$(settings) &&
		"$IBCC_BUILD/tests/system/book_reader" "$TMP/state.db" "$1" | cmp - "$TMP/book.json"
}
# The transaction has each of the plan's writes, and all were made. What else was written is at nodes of the plan.
goes_by_plan()
{
	jq -es --slurpfile plan "$TMP/plan.json" --argjson id "$1" '
		def what: [.node_guid, .port, .attribute_id, .attribute_modifier, .new];
		($plan[0].control.roots | map(.switch_guid, (.nodes[] | select(.[2])[0]))) as $nodes |
		($plan[0].data | length) as $n | map(select(.transaction == $id)) as $ours |
		($n > 0 and ($ours[:$n] | map(what)) == ($plan[0].data | map(what)) and
			all($ours[:$n][]; .outcome == "verified")) and
		all(.[]; (.action == "apply" or .action == "repair") and (.node_guid | IN($nodes[])))' "$TMP/book.json"
}
by_the_books()
{
	printf '%s' "$untuned" | jq -L "$top/tests/system" -cS --slurpfile book "$TMP/book.json" 'include "book"; by_the_books($book)'
}

by_plan_and_books()
{
	local books
	wait_until 30 still "$id" || fail "$round, killed $where: the state file does not come to rest: $(cat "$TMP/book.log" "$TMP/book.json")"
	goes_by_plan "$id" >"$TMP/goes.log" 2>&1 ||
		fail "$round, killed $where: confirmed, but what was written is not the plan and its refinement: $(cut -c 1-600 "$TMP/goes.log" "$TMP/book.json")"
	books=$(by_the_books 2>"$TMP/books.log")
	[ "$found" = "$books" ] ||
		fail "$round, killed $where: confirmed, but not as the books have it: $(cat "$TMP/books.log"; diff <(echo "$books" | jq .) <(echo "$found" | jq .) | head -20)"
}

declare -A hit # by where the kill came
# shellcheck disable=SC2154 # in the trap
trap 'rc=$?; for k in "${!hit[@]}"; do echo "# killed $k: ${#hit[$k]}"; done; (exit $rc); cleanup' EXIT
# Where the books stood when the daemon was killed.
moment()
{
	tune history -j --limit 2 2>"$TMP/tune.log" | jq -r --argjson last "$last" '
		[.transactions[] | select(.id > $last)] | (map(select(.trial))[0]) as $t | (map(select(.action == "rollback"))[0]) as $r |
		if $t == null then "before the push" elif $r and $r.outcome == "interrupted" then "in taking back"
		elif $t.trial.outcome == "taken back" then "after taking back" elif $t.trial.outcome == "confirmed" then "after the confirmation"
		elif $t.outcome == "interrupted" then "in the push" else "on trial" end'
}
last=0
for ((round = 1; round <= KILLS; round++)); do
	last=$(tune history -j --limit 1 | jq '.transactions[0].id // 0')
	sets=$(set_mads)
	# Every third is confirmed for certain, and its daemon killed while it refines: a draw may have none.
	within=1s
	((round % 3)) || within=1m
	(cd "$TMP" && exec timeout 30 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" apply "$TMP/plan.json" -y --no-wait --confirm-within $within \
		>"$TMP/push.log" 2>&1) &
	pusher=$!
	while alive "$pusher"; do [ "$(set_mads)" -gt "$sets" ] && break; done
	[ "$(set_mads)" -gt "$sets" ] || fail "$round: the push does not begin: $(tail -n 3 "$TMP/push.log")"
	confirmer=
	confirmed=no
	# In the push, in taking back, and anywhere.
	case $((RANDOM % 3)) in
	0) at=$((RANDOM % PUSH_MS)) ;;
	1) at=$((WITHIN_MS + PUSH_MS + RANDOM % 400)) ;;
	2) at=$((RANDOM % (WITHIN_MS + 1000))) ;;
	esac
	if [ $within = 1m ]; then
		wait "$pusher" || fail "$round: the push: $(cat "$TMP/push.log")"
		tune confirm >"$TMP/confirm.log" 2>&1 || fail "$round: $(cat "$TMP/confirm.log")"
		confirmed=yes
		at=$((RANDOM % (10 * INTERVAL_MS)))
	elif ((RANDOM % 2)); then
		(sleep "$(printf '%d.%03d' $((at / 1000)) $((at % 1000)))"
		timeout 30 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" confirm >"$TMP/confirm.log" 2>&1) &
		confirmer=$!
		at=$((at + RANDOM % 500))
	fi
	sleep "$(printf '%d.%03d' $((at / 1000)) $((at % 1000)))"
	kill -KILL "$TUNED_PID"
	wait "$TUNED_PID" 2>/dev/null
	wait "$pusher" 2>/dev/null
	[ -z "$confirmer" ] || ! wait "$confirmer" || confirmed=yes
	where=$(moment)
	hit[$where]=x${hit[$where]-}
	start_tuned
	wait_until 30 is_over || fail "$round, killed $where: the trial does not end: $(jq -c '[.state, .reason, .trial]' "$TMP/status.json")"
	read -r id outcome <<<"$(trial)"
	[ "$id" -gt "$last" ] || outcome='taken back'
	[ "$id" -le "$last" ] || wait_until 30 settled "$id" || fail "$round, killed $where: transaction $id stays open"
	[ "$confirmed" = no ] || [ "$outcome" = confirmed ] || fail "$round, killed $where: what was confirmed is $outcome"
	what=$outcome
	case $outcome in
	confirmed)
		by_plan_and_books
		# Half of them are refined to their end, the others rolled back in the middle of it.
		if ((round % 2 == 0)); then
			sim set mad_delay_us=0
			wait_until 60 status '.apply.stage != "refining"' || fail "$round: it is refined for ever: $(jq -c .apply "$TMP/status.json")"
			by_plan_and_books
			delay_mads 60000
		fi
		what="$outcome, $(jq -s length "$TMP/book.json") writes"
		tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "$round: rollback: $(cat "$TMP/rollback.log")" ;;
	'taken back') ;;
	*) fail "$round, killed $where: the trial is $outcome" ;;
	esac
	as_before || fail "$round, killed $where: $outcome, but not as before: $(difference "$untuned")"
	ok "kill $round, $at ms after the $([ $within = 1m ] && echo confirmation || echo 'first Set'), $where: $what"
done
