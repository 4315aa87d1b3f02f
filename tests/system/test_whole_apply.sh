# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A person types apply, and it ends with roots that hold: the slow sink busy, the victim free, by every way of
# applying. The daemon that refines it may end and be started again meanwhile. The history has one transaction, and a
# rollback brings back what was there before.
. "$(dirname "$0")/lib.sh"

engine_ns() { sim stats -j | jq .engine_ns; }
later() { [ "$(engine_ns)" -gt "$1" ]; }
run_for() { wait_until 60 later $(($(engine_ns) + $1 * 1000000)) || fail "the engine stands still"; }
received()
{
	sim flows -j | jq -r '[.engine_ns, ([.rows[] | select(.kind == "hot").received_bytes] | add),
		([.rows[] | select(.kind == "victim").received_bytes] | add)] | join(" ")'
}
# measure: hot and victim, in kB/s.
measure()
{
	local ns0 hot0 victim0 ns1 hot1 victim1
	read -r ns0 hot0 victim0 <<<"$(received)"
	run_for 40
	read -r ns1 hot1 victim1 <<<"$(received)"
	hot=$(((hot1 - hot0) * 1000000 / (ns1 - ns0)))
	victim=$(((victim1 - victim0) * 1000000 / (ns1 - ns0)))
	[ "$hot" -gt 0 ] && [ "$victim" -gt 0 ] || fail "nothing flows: $hot, $victim"
}

planned() { tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/plan.json" >/dev/null; }

# type TEXT COMMAND...: on a terminal, in the background; $typing is its pid, terminal.log what it shows.
type_in()
{
	local text=$1
	shift
	: >"$TMP/terminal.log"
	(sleep 1; printf '%s\n' "$text"; sleep 100) |
		timeout 120 script -qefc "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml $*" /dev/null >"$TMP/terminal.log" 2>&1 &
	typing=$!
	CHILDREN+=("$typing")
}
ends() { grep -q 'Complete: transaction\|ibcc-tune: ' "$TMP/terminal.log"; }

# restarted SIGNAL: the daemon ends so in the middle of an apply, and another one starts.
restarted()
{
	wait_until 30 status '.apply.stage == "refining"' || fail "it is not refined: $(cat "$TMP/terminal.log")"
	kill -"$1" "$TUNED_PID"
	wait "$TUNED_PID" 2>/dev/null
	start_tuned "${CONFIG[@]}"
}

# holds WAY: what was typed has ended, and both flows have what they can have.
holds()
{
	local way=$1
	wait_until 60 ends || fail "$way: it does not end: $(cat "$TMP/terminal.log")"
	grep -q 'Complete: transaction' "$TMP/terminal.log" || fail "$way: $(cat "$TMP/terminal.log")"
	grep -q 'all adapters send .* -> ' "$TMP/terminal.log" || fail "$way: no effect: $(cat "$TMP/terminal.log")"
	status '.apply.stage == "settled" and .writes_pending == 0' || fail "$way: $(jq -c '[.apply, .writes_pending, .decision]' "$TMP/status.json")"
	status '.situation.code == "controlled" and .situation.roots == 1 and .situation.lacking == false' || fail "$way: the status says: $(jq -c .decision "$TMP/status.json")"
	measure
	[ $((100 * hot)) -ge $((99 * hot_off)) ] || fail "$way: hot sink $hot of $hot_off kB/s"
	[ $((10 * victim)) -ge $((32 * victim_off)) ] || fail "$way: victim $victim, had $victim_off kB/s"
	ok "$way: hot sink $((1000 * hot / hot_off)) permille, victim $((100 * victim / victim_off)) percent"
	tune history -j >"$TMP/history.json" 2>"$TMP/tune.log" || fail "$way: history"
	jq -e '.transactions[0] | .action == "apply" and .outcome == "done" and .undone_by == null and
		.effect.after.total_mbps > 1.4 * .effect.before.total_mbps and (.summary | test("leaf2 port 2"))' \
		"$TMP/history.json" >/dev/null || fail "$way: the history has $(jq -c '.transactions[:3]' "$TMP/history.json")"
	# The headline of the demo, by the daemon's own words: the victim sends more than three times as much.
	tune status >"$TMP/status.txt" && grep -Eq '^Effect: .*source4 [0-9.]+ -> [0-9.]+ MB/s \(x 3\.[23]' "$TMP/status.txt" ||
		fail "$way: the status has no headline: $(head -n 6 "$TMP/status.txt")"
	tune history >"$TMP/gain" && grep -Eq 'x 3\.[23]' "$TMP/gain" || fail "$way: the history: $(cat "$TMP/gain")"
	tune history "$(jq '.transactions[0].id' "$TMP/history.json")" >"$TMP/gain" && grep -Eq 'source4 .*x 3\.[23]' "$TMP/gain" ||
		fail "$way: the transaction does not name the victim: $(cat "$TMP/gain")"
	tune report --html "$TMP/report.html" && grep -Eq 'Effect .*source4 [0-9.]+ -&gt; ' "$TMP/report.html" || fail "$way: the report has no headline"
	grep -Eq 'source4 .* x 3\.[23]' "$TMP/terminal.log" || fail "$way: apply says nothing of it: $(tail -n 20 "$TMP/terminal.log")"
	equal "$way: one transaction" "$(jq '.transactions | length' "$TMP/history.json")" $((before + 1))
	tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "$way: rollback: $(cat "$TMP/rollback.log")"
	equal "$way: rolled back bit for bit" "$(settings)" "$untuned"
}

# way NAME: there is something to apply, and so many transactions before it.
way()
{
	wait_until 60 planned || fail "$1: there is nothing to apply: $(tail -n 3 "$TMP/tune.log")"
	run_for 40 # until the tree stands as it did at first
	before=$(tune history -j --limit 1000 | jq '.transactions | length')
}

# Slow enough for the engine on a busy machine: where virtual time goes by fits and starts, so do rates.
start_sim "$SCENARIO" --speed 0.02
start_opensm --plugin
untuned=$(settings)
CONFIG=('mode: observe' 'interval_ms: 300')
start_tuned "${CONFIG[@]}"
way 'at first'
measure
hot_off=$hot victim_off=$victim

type_in y apply
holds 'answered y'

way 'a plan in a file'
tune plan -o "$TMP/plan.json" >/dev/null 2>"$TMP/tune.log" || fail "plan -o"
type_in y "apply $TMP/plan.json"
restarted TERM
holds 'a plan in a file, and a restart'

way 'without a terminal'
tune apply -y >"$TMP/terminal.log" 2>&1 &
CHILDREN+=($!)
restarted KILL
holds 'without a terminal, and a kill'

way 'on trial'
type_in y 'apply --confirm-within 10m'
# On a terminal the command counts down until a user confirms, here from another one.
wait_until 60 status '.trial.transaction == .apply.transaction and .apply.stage == "settled"' || fail "on trial: it does not settle: $(cat "$TMP/terminal.log")"
check 'a trial is confirmed' tune confirm
holds 'on trial and confirmed'

stop "$TUNED_PID"
# In mode apply no user types anything; after a rollback it pauses until one does.
CONFIG=('mode: apply' 'interval_ms: 300')
start_tuned "${CONFIG[@]}"
wait_until 60 status '.mads.sets > 0' || fail "in mode apply nothing is written"
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
start_tuned "${CONFIG[@]}"
wait_until 60 status '.fabric.pass > 30 and .writes_pending == 0 and .situation.code == "controlled" and .situation.roots == 1 and .situation.lacking == false' ||
	fail "mode apply: $(jq -c '[.state, .reason, .decision, .writes_pending]' "$TMP/status.json")"
measure
[ $((100 * hot)) -ge $((99 * hot_off)) ] && [ $((10 * victim)) -ge $((32 * victim_off)) ] ||
	fail "mode apply: hot sink $hot of $hot_off kB/s, victim $victim, had $victim_off"
ok "mode apply, and a kill: hot sink $((1000 * hot / hot_off)) permille, victim $((100 * victim / victim_off)) percent"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "mode apply: rollback: $(cat "$TMP/rollback.log")"
equal "mode apply: rolled back bit for bit" "$(settings)" "$untuned"
way 'paused'
type_in y apply
holds 'paused, and answered y'
