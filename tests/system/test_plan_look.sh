# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# How plans look: CSV, columns, order, units, names, colours and the pager.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
# Two passes are not the same, and on a busy machine one may see no congestion: what is compared is read until both
# are of one.
timers() { grep -c 'CACongestionSetting,CCTI_Timer,0-15,0,' "$TMP/csv"; }
planned()
{
	tune plan -j >"$TMP/plan.json" && tune plan --csv >"$TMP/csv" && [ "$(timers)" -gt 0 ] &&
		[ "$(timers)" = "$(jq '[.changes[] | select(.field == "CCTI_Timer") | .node] | unique | length' "$TMP/plan.json")" ]
}
wait_until 30 planned || fail "no plan with a line for each change: $(cat "$TMP/csv")"
ok "CSV has a line for each change, service levels with the same one together"
equal "CSV has its columns" "$(head -n 1 "$TMP/csv")" "OP,NODE,GUID,PORT,ATTRIBUTE,FIELD,SL,OLD,NEW"
equal "nothing else" "$(grep -vc '^[-+~],[^,]*,0x[0-9a-f]*,[0-9]*,' "$TMP/csv")" 1
of_root() { tune plan --csv --root 1 --columns node,role,mb/s --sort -mb/s >"$TMP/csv" && [ "$(wc -l <"$TMP/csv")" = 5 ]; }
wait_until 20 of_root || fail "CSV of a root"
equal "of a root the sources, with these columns" "$(head -n 1 "$TMP/csv")" "NODE,GUID,ROLE,MB/s"
sed 1d "$TMP/csv" | cut -d, -f4 >"$TMP/rates"
equal "from the most on" "$(cat "$TMP/rates")" "$(sort -rn "$TMP/rates")"
equal "all of them" "$(wc -l <"$TMP/rates")" 4
of_name() { tune plan --csv --root 1 --node '*3' --columns NODE >"$TMP/csv" && [ "$(wc -l <"$TMP/csv")" = 2 ]; }
wait_until 20 of_name || fail "CSV by name"
equal "by name" "$(sed '1d; s/,.*//' "$TMP/csv")" source3
refused() { ! tune plan "${@:2}" >"$TMP/out" 2>"$TMP/err" && grep -q "^ibcc-tune: $1" "$TMP/err"; }
wait_until 20 refused "--root: the plan has no root 2; it has 1" --root 2 || fail "root 2: $(cat "$TMP/err")"
ok "a root that is not there is an error"
wait_until 20 refused "plan has no column 'nonsense'; its columns are .*COUNT, SETTING" --columns NODE,nonsense || fail "nonsense: $(cat "$TMP/err")"
ok "a column that is not there, too"
wait_until 20 refused "plan has no column 'foo'; its columns are " --columns foo || fail "foo: $(cat "$TMP/err")"
silent "no table that was not asked for" awk '/^ *[0-9]+ *CCTI_/' "$TMP/out"
ok "alone as well, and no other table comes instead"
wait_until 20 refused "--node: no node of the plan has a name that matches 'nosuch\*'" --node 'nosuch*' || fail "nosuch: $(cat "$TMP/err")"
ok "a pattern that fits no node is an error"
ln -s /dev/null "$TMP/null"
check "a plan can be written to a device" tune plan -o "$TMP/null"
check "so can a report" tune report --html "$TMP/null"
check "the device is still there" test -L "$TMP/null"
tune show --csv --columns NODE,CCTI_Timer,Threshold >"$TMP/csv" || fail "CSV of show"
equal "show as two tables" "$(grep -c '^NODE,' "$TMP/csv")" 2

rate() { awk '$2 == "suspect" && $3 == "source1" { print $6 }' "$1"; }
agree()
{
	tune plan --root 1 >"$TMP/mbytes" && tune plan --root 1 --units Gb/s >"$TMP/gbits" &&
		awk -v m="$(rate "$TMP/mbytes")" -v g="$(rate "$TMP/gbits")" \
			'BEGIN { r = g > 0 ? m * 8 / 1000 / g : 0; exit !(r > 0.97 && r < 1.03) }'
}
wait_until 20 agree || fail "1000 MB/s are not 8 Gb/s"
ok "1000 MB/s are 8 Gb/s"
grep -q ' Gb/s ' "$TMP/gbits" || fail "the unit is not told"

esc=$(printf '\033')
without "no colours without a terminal" "$TMP/mbytes" "$esc"
tune plan --color always >"$TMP/out" && grep -q "$esc\[1m" "$TMP/out" || fail "no colours that were asked for"
ok "colours always"
[ -n "$(command -v script)" ] || { ok "skipped: no script(1) for a terminal"; exit 0; }
# on_terminal VARIABLES ARGS: what a terminal of 200 columns, or COLUMNS, gets.
on_terminal()
{
	timeout 60 script -qec "stty rows 24 cols ${COLUMNS:-200}; env TERM=xterm $1 $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml $2" \
		/dev/null </dev/null 2>&1 | tr -d '\r'
}
on_terminal PAGER=cat plan >"$TMP/out"
grep -q "$esc\[1m" "$TMP/out" || fail "no colours on a terminal"
on_terminal 'PAGER=cat NO_COLOR=1' plan >"$TMP/out"
without "no colours with NO_COLOR" "$TMP/out" "$esc"
on_terminal PAGER=cat 'plan --color never' >"$TMP/out"
without "no colours with --color never" "$TMP/out" "$esc"
on_terminal "PAGER='sed s/^/paged:/'" plan >"$TMP/out"
grep -q '^paged:Fabric:' "$TMP/out" || { cp "$TMP/out" "$TMP/out.log"; fail "no pager"; }
grep -q "^paged:.*$esc\[1m" "$TMP/out" || fail "no colours through the pager"
on_terminal "PAGER='sed s/^/paged:/'" 'plan --no-pager' >"$TMP/out"
without "no pager with --no-pager" "$TMP/out" '^paged:'
on_terminal "PAGER='sed s/^/paged:/'" 'plan -j' >"$TMP/out"
without "no pager for JSON" "$TMP/out" '^paged:'
on_terminal "PAGER='sed s/^/paged:/'" 'show' >"$TMP/out"
grep -q '^paged:Switches' "$TMP/out" || grep -q 'paged:.*Switches' "$TMP/out" || fail "no pager for show"
# A user that leaves the pager early ends us, too.
on_terminal "PAGER='head -n 2'" show >"$TMP/out"
equal "a pager that ends early is no trouble" "$(wc -l <"$TMP/out")" 2
PAGER='sed s/^/paged:/' tune plan >"$TMP/out"
without "no pager without a terminal" "$TMP/out" '^paged:'
ok "a pager on a terminal"

for command in status plan 'plan --full' 'plan --root 1' show probe; do
	on_80() { COLUMNS=80 on_terminal 'PAGER=cat NO_COLOR=1' "$command" >"$TMP/out" && [ "$(wc -l <"$TMP/out")" -gt 5 ]; }
	wait_until 20 on_80 || fail "$command: $(cat "$TMP/out")"
	awk 'length > 80' "$TMP/out" >"$TMP/wide"
	[ ! -s "$TMP/wide" ] || fail "$command is wider than 80 columns: $(cat "$TMP/wide")"
done
ok "80 columns will do"
on_80() { COLUMNS=80 on_terminal 'PAGER=cat NO_COLOR=1' 'plan --units Gb/s' >"$TMP/out" && grep -q ' Gb/s' "$TMP/out"; }
wait_until 20 on_80 || fail "no rates: $(cat "$TMP/out")"
without "one unit for all" "$TMP/out" -E '[0-9.]+ (Mb|MB)/s'
