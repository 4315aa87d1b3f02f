# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# top and status --watch: rows where there is no terminal, a screen that is drawn again and left as it
# was found where there is one.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
write_config
equal "without a daemon there is nothing to watch" "$(tune top 2>&1 >/dev/null | grep -c 'ibcc-tuned is not running')" 1
start_tuned 'mode: apply'

rooted() { tune status -j >"$TMP/status.json" && jq -e '.now.roots | length == 1' "$TMP/status.json"; }
wait_until 30 rooted || fail "no root is told"
jq -e '.now | .pass > 0 and .sent_mbps > 0 and .roots[0].node == "leaf2" and .roots[0].port == 2' \
	"$TMP/status.json" >"$TMP/jq.log" || fail "the last pass in figures"
ok "status has the last pass in figures"

tune top --watch=1 --limit 3 --units Gb/s >"$TMP/rows" 2>"$TMP/tune.log" || fail "rows"
equal "a heading and as many rows as asked for" "$(wc -l <"$TMP/rows")" 4
equal "with the unit asked for" "$(awk 'NR == 1 { print $4 }' "$TMP/rows")" Gb/s
equal "rows name the worst root" "$(grep -c ' leaf2 0x[0-9a-f]* port 2$' "$TMP/rows")" 3
without "no escapes without a terminal" "$TMP/rows" "$(printf '\033')"
tune status --watch=1 --limit 2 -j >"$TMP/lines" || fail "lines of JSON"
equal "with -j each is a line" "$(jq -s 'map(.schema) | tostring' "$TMP/lines")" '"[1,1]"'

# Rows go on when the daemon has gone, and say so.
background "$TMP/rows.log" "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" top --watch=1
watcher=$!
wait_until 10 grep -q ' leaf2 ' "$TMP/rows.log" || fail "no row"
stop "$TUNED_PID"
wait_until 10 grep -q ' gone' "$TMP/rows.log" || fail "a daemon that is gone is not told"
ok "a daemon that is gone is told"
stop "$watcher"
[ -n "$(command -v script)" ] || { ok "skipped: no script(1) for a terminal"; exit 0; }

start_tuned 'mode: apply'
wait_until 30 rooted || fail "no root is told"
# on_terminal KEYS LOOKS: top on a terminal of 80 by 24, at which a user presses keys when
# there is something to see.
mkfifo "$TMP/keys"
exec 9<>"$TMP/keys"
on_terminal()
{
	: >"$TMP/screen"
	timeout 90 script -qec \
		"stty rows 24 cols 80; NO_COLOR=1 TERM=xterm $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml top --watch=1 $2" \
		/dev/null <&9 >"$TMP/screen" 2>&1 &
	local terminal=$!
	wait_until 20 grep -q Decision "$TMP/screen" || fail "nothing to see on a terminal"
	printf '%s' "$1" >&9
	wait "$terminal"
}
esc=$(printf '\033')
# Key 1 of the keypad sends these bytes.
on_terminal "${esc}Oq" '--limit 4' || fail "top on a terminal"
equal "drawn four times: a q in an escape sequence is no key" "$(grep -o "$esc\[H" "$TMP/screen" | wc -l)" 4
check "the verdict names the slow receiver" grep -q 'Verdict.*destination1 (leaf2 port 2)' "$TMP/screen"
equal "on a screen of its own, once" "$(grep -o "$esc\[?1049h" "$TMP/screen" | wc -l)" 1
equal "which is left again, with the cursor" "$(tail -c 14 "$TMP/screen" | tr -d '\r\n')" "${esc}[?25h${esc}[?1049l"
sed "s/$esc\[[?0-9]*[a-zA-Z]//g" "$TMP/screen" | tr -d '\r' >"$TMP/text"
for line in '^\(Blocked   source\|Effect    since\)' '^Daemon    ok, mode apply via plugin' '^Traffic   adapters send [0-9.]* MB/s' \
	'^MADs      [0-9.]* a second' '^ *1 leaf2  *2 receiver ' '^Decision  [a-z0-9]'; do
	grep -q "$line" "$TMP/text" || { cp "$TMP/text" "$TMP/text.log"; fail "no line $line"; }
done
silent "no line is wider than the terminal" awk 'length > 80; END { exit NR == 0 }' "$TMP/text"
ok "the screen tells it all"
on_terminal q '' || fail "q does not end it"
ok "q ends it"
