# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The history shows what a transaction brought, and what was measured in the last day, as a list and drawn.
. "$(dirname "$0")/lib.sh"

history() { tune history "${@:2}" -j >"$TMP/history.json" 2>"$TMP/tune.log" && jq -e "$1" "$TMP/history.json" >/dev/null; }

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
# The daemon may have measured something by now.
if tune history --plot "$TMP/none.svg" >"$TMP/plot.log" 2>&1; then
	[ -s "$TMP/none.svg" ] || fail "a drawing of nothing"
else
	grep -q 'there is nothing to plot' "$TMP/plot.log" || fail "nothing to draw, but it says $(cat "$TMP/plot.log")"
fi
made() { tune apply -y >"$TMP/apply.log" 2>&1 && grep -q ' changes\? verified' "$TMP/apply.log"; }
wait_until 30 made || fail "there is nothing to apply: $(tail -n 3 "$TMP/apply.log")"
grep '^Decision:' "$TMP/apply.log" >"$TMP/decision" || fail "apply says no decision: $(cat "$TMP/apply.log")"
without 'and does not call the settings missing that it has just verified' "$TMP/decision" 'not on the fabric'
id=$(tune history -j --limit 1 | jq '.transactions[0].id')
wait_until 30 history '.transaction.effect.after != null' "$id" || fail "the effect is not measured: $(jq -c .transaction.effect "$TMP/history.json")"
jq -e '.transaction.effect | .before.adapters_on == 0 and .after.adapters_on > 0 and .before.roots == 1
	and .after.total_mbps > 1.1 * .before.total_mbps and .passes > 0' "$TMP/history.json" >/dev/null ||
	fail "the effect: $(jq -c .transaction.effect "$TMP/history.json")"
ok "the effect: $(jq -c '.transaction.effect | [.before.total_mbps, .after.total_mbps]' "$TMP/history.json") Mb/s in all"
tune rollback -y >"$TMP/rollback.log" 2>&1 || fail "rollback: $(cat "$TMP/rollback.log")"
wait_until 30 history '.transactions[0] | .action == "rollback" and .effect.after != null' || fail "the effect of the rollback is not measured"
history '(.series.fields | index("total_mbps")) as $f | .series.rows | length > 1 and all(.[]; .[$f] > 0)' --series ||
	fail "the series: $(jq -c .series "$TMP/history.json")"
ok "the series of the last day has what was measured before and after"

tune history >"$TMP/text"
check 'rates in the list are in MB/s' grep -q 'apply .* [0-9.]* MB/s, and the port' "$TMP/text"
grep -q '^ *1 .* apply .* 1 -> [0-9]' "$TMP/text" || fail "the list does not tell roots: $(cat "$TMP/text")"
tune history "$id" >"$TMP/text"
check 'one transaction tells more' grep -q '^All adapters send, MB/s *[1-9][0-9]* *[1-9][0-9]*$' "$TMP/text"
# By itself, and through a pager, which is no terminal.
for pager in cat 'sed -n p'; do
	sleep 2 | timeout 30 script -qec "stty cols 80; NO_COLOR=1 TERM=xterm PAGER='$pager' $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml history" \
		/dev/null >"$TMP/text" 2>&1
	tr -d '\r' <"$TMP/text" | awk 'length > 80 { n = 99 } /apply/ { n++ } END { exit n != 1 }' || fail "80 columns: $(cat "$TMP/text")"
	# From the names of the columns to the next empty line each line begins with the number of a transaction: no cell is wrapped.
	tr -d '\r' <"$TMP/text" | awk '/^ *ID / { table = 1; next } !NF { table = 0 } table && !/^ *[0-9]+ / { bad = 1 }
		table && / x [0-9]/ { gain = 1 } END { exit bad || !gain }' || fail "wrapped: $(cat "$TMP/text")"
done
ok "the list fits into 80 columns, a line for each transaction"

check 'it is drawn' tune history --plot "$TMP/day.svg"
equal 'curves' "$(grep -c '<path' "$TMP/day.svg")" 8
[ "$(grep -o '>[0-9]*</text>' "$TMP/day.svg" | grep -c '>1<')" -ge 4 ] || fail "transactions are not in the drawing"
tail -n 1 "$TMP/day.svg" | grep -q '^</svg>$' || fail "the drawing has no end"
tune history 1 --plot "$TMP/day.svg" >"$TMP/plot.log" 2>&1 && fail "one transaction is drawn"
check 'one transaction is not drawn' grep -q 'not one transaction' "$TMP/plot.log"
tune history --plot "$TMP/no/day.svg" >"$TMP/plot.log" 2>&1 && fail "it is drawn into a folder that is not there"
check 'where it cannot be drawn it says so' grep -q "$TMP/no/day.svg: No such file" "$TMP/plot.log"
stop "$TUNED_PID"
check 'it is drawn without a daemon' tune history --plot "$TMP/day.svg"
