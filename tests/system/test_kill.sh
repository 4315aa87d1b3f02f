# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The daemon, opensm with the plugin, and the fabric itself are killed at random moments of a push.
# After the restart the history, the settings on the fabric and `ibcc-tune show` must agree, and a
# rollback must bring back the settings from before.
#
# IBCC_KILLS: how often each of the three is killed (default 1; `make check-kill` takes 50).
# IBCC_SEED: of the moments; printed, so that a run can be repeated.
# IBCC_VICTIMS: which, default "daemon opensm fabric".
. "$(dirname "$0")/lib.sh"

KILLS=${IBCC_KILLS:-1}
SEED=${IBCC_SEED:-$((($(date +%s) + $$) % 32768))}
VICTIMS=${IBCC_VICTIMS:-daemon opensm fabric}
RANDOM=$SEED
echo "seed $SEED"

newest() { tune history -j --limit 1 2>"$TMP/tune.log" | jq '.transactions[0].id // 0'; }

# With this delay of each answer a push takes about as long as PUSH_MS.
DELAY_US=60000
PUSH_MS=280
start_all()
{
	start_sim "$SCENARIO"
	start_opensm --plugin
	start_tuned
	delay_mads $DELAY_US
	wait_until 30 status '.sm.state == "MASTER" and .fabric.source == "plugin"' ||
		fail "the system does not get going: $(cat "$TMP/status.json")"
}

settled() { tune history "$1" -j >"$TMP/txn.json" 2>"$TMP/tune.log" &&
	jq -e '.transaction | .outcome != "open" and all(.change_list[]; .outcome != "pending")' "$TMP/txn.json"; }
# What the state file says of the push, and of what came after it, is on the fabric: all that was made, made to what was
# there before it, and nothing else. A fabric that was killed has lost what was made before: there each setting has what
# its last write says of it.
agree()
{
	local filter='by_the_books($book)' base=$untuned
	[ "$who" != fabric ] || { filter='[not_by_the_books($book)]'; base=$(settings); }
	"$IBCC_BUILD/tests/system/book_reader" "$TMP/state.db" "$1" >"$TMP/book.json" 2>"$TMP/agree.log" &&
		[ -s "$TMP/book.json" ] && printf '%s' "$base" | jq -L "$top/tests/system" -cS --slurpfile book "$TMP/book.json" \
		"include \"book\"; $filter" >"$TMP/books" 2>"$TMP/agree.log" || return 1
	if [ "$who" = fabric ]; then echo '[]'; else settings; fi >"$TMP/settings"
	jq . "$TMP/books" >"$TMP/books.json" && jq . "$TMP/settings" >"$TMP/settings.json" &&
		diff "$TMP/books.json" "$TMP/settings.json" >"$TMP/agree.log"
}
# What show says is on the fabric, in lines "node attribute field sl value".
facts='
	.rows[] | .node as $n | if .ca then .ca.sl | to_entries[] | .key as $sl | .value | to_entries[] |
		"\($n) CACongestionSetting \(.key) \($sl) \(.value)"
		else "\($n) SwitchCongestionSetting Threshold - \(.switch.Threshold)" end'
shown()
{
	tune show -j >"$TMP/show.json" 2>"$TMP/tune.log" || return 1
	jq -r '.nodes[] | .node as $n | if .type == "ca" then .CACongestionSetting.sls[] | .sl as $sl |
		to_entries[] | select(.key != "sl") | "\($n) CACongestionSetting \(.key) \($sl) \(.value)"
		else .SwitchCongestionSetting | "\($n) SwitchCongestionSetting Threshold - \(.Threshold)" end' \
		"$TMP/show.json" | sort >"$TMP/shown"
	sim settings -j >"$TMP/settings.json" && jq -r "$facts" "$TMP/settings.json" | sort >"$TMP/facts" &&
		comm -23 "$TMP/shown" "$TMP/facts" >"$TMP/wrong" && [ -s "$TMP/shown" ] && [ ! -s "$TMP/wrong" ]
}

declare -A hit # outcomes of the transactions that were cut off
judge()
{
	local who=$1 round=$2 id=$3
	# A daemon that was started anew completes what was begun, as soon as it can read the counters.
	sim set mad_delay_us=0
	wait_until 60 status '.apply.stage != "refining"' || fail "$who $round: it is refined for ever: $(jq -c .apply "$TMP/status.json")"
	sim set mad_delay_us=$DELAY_US
	wait_until 30 settled "$id" || fail "$who $round: transaction $id stays open: $(jq -c '[.transaction.outcome, [.transaction.change_list[].outcome]]' "$TMP/txn.json")"
	hit[$who/$(jq -r .transaction.outcome "$TMP/txn.json")]=x${hit[$who/$(jq -r .transaction.outcome "$TMP/txn.json")]-}
	agree "$id" || fail "$who $round: books and fabric differ: $(head -n 20 "$TMP/agree.log"), of $(jq -c '.transaction | [.id, .outcome, .detail]' "$TMP/txn.json")"
	shown || fail "$who $round: show differs from the fabric"
}

# between 0 and N ms from now
after() { sleep "$(printf '0.%03d' $((RANDOM % $1)))"; }
# Returns with the first Set; at once, wait_until would look too seldom. A pass may see too little to
# decide on anything, then there is another one.
begin_push()
{
	local sets try command='apply --no-wait'
	[ "$who" != fabric ] || command=disable
	sets=$(set_mads)
	for ((try = 0; try < 10; try++)); do
		timeout 20 "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" $command -y >"$TMP/push.log" 2>&1 &
		pusher=$!
		while alive "$pusher"; do [ "$(set_mads)" -gt "$sets" ] && return 0; done
	done
	return 1
}
made() { tune apply -y >"$TMP/apply.log" 2>&1 && grep -q ' changes\? verified' "$TMP/apply.log"; }
planned() { tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/plan.json"; }

kill_daemon() { kill -KILL "$TUNED_PID"; wait "$TUNED_PID" 2>/dev/null; start_tuned; }
kill_opensm() { kill -KILL "$OSM_PID"; wait "$OSM_PID" 2>/dev/null; start_opensm --plugin; }
kill_fabric()
{
	kill -KILL "$SIM_PID"
	wait "$SIM_PID" 2>/dev/null
	stop "$TUNED_PID" KILL
	stop "$OSM_PID" KILL
	sleep 0.3 # its ibsim ends by itself
	start_all
}

# shellcheck disable=SC2154 # in the trap
trap 'rc=$?; for k in "${!hit[@]}"; do echo "# $k: ${#hit[$k]}"; done; (exit $rc); cleanup' EXIT
start_all
untuned=$(settings)
for who in $VICTIMS; do
	for ((round = 1; round <= KILLS; round++)); do
		wait_until 30 planned ||
			fail "$who $round: nothing to push: $(tail -n 3 "$TMP/tune.log"; jq -c "[.decision, .fabric]" "$TMP/plan.json"; tune status)"
		tuned=$untuned
		if [ "$who" = fabric ]; then
			# There is something to lose: a push before, and one that is cut off.
			wait_until 30 made || fail "apply before the kill: $(cat "$TMP/apply.log")"
			tuned=$(settings)
		fi
		before=$(newest)
		begin_push || fail "$who $round: the push does not begin: $(tail -n 3 "$TMP/push.log")"
		after "$PUSH_MS"
		"kill_$who"
		wait "$pusher" 2>/dev/null
		wait_until 30 status '.state == "ok" and .sm.state == "MASTER"' ||
			fail "$who $round: no recovery: $(jq -c '[.state, .reason, .sm]' "$TMP/status.json")"
		id=$(newest)
		[ "$id" = "$before" ] || judge "$who" "$round" "$id"
		if [ "$who" = fabric ]; then
			# Rebooted nodes have lost what they had: that is told, and made good.
			[ "$id" = "$before" ] || tune rollback -y "$id" >"$TMP/rollback.log" 2>&1 ||
				fail "$who $round: rollback: $(cat "$TMP/rollback.log")"
			drifted() { status '.drift.writes > 0'; }
			wait_until 30 drifted || [ "$(settings)" = "$tuned" ] || fail "$who $round: a reboot is not noticed"
			tune repair -y >"$TMP/repair.log" 2>&1 || fail "$who $round: repair: $(cat "$TMP/repair.log")"
			status '.drift.writes == 0' >/dev/null || fail "$who $round: what was mended still counts as drift"
			[ "$(settings)" = "$tuned" ] || fail "$who $round: not as before the push: $(diff <(echo "$tuned" | jq .) <(settings | jq .) | head -20)"
			ok "fabric, kill $round: what was lost is noticed, rolled back and repaired"
			tuned=$untuned
		fi
		tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "$who $round: rollback: $(cat "$TMP/rollback.log")"
		[ "$(settings)" = "$tuned" ] || fail "$who $round: not as before: $(diff <(echo "$tuned" | jq .) <(settings | jq .) | head -20)"
		ok "$who, kill $round: history, fabric and show agree, and rollback restores"
	done
done
