# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A plan in a file that a user has edited: what apply shows is what it would write, by the names of the fabric and in
# the daemon's own words, and a file whose parts do not agree is refused. Nothing is written before a yes.
. "$(dirname "$0")/lib.sh"
command -v script >/dev/null || skip "no script, which makes a terminal"

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
planned() { rm -f "$TMP/plan.json"; tune plan -o "$TMP/plan.json" >"$TMP/plan.log" 2>&1 && grep -q '^Plan: [1-9][0-9]* change' "$TMP/plan.log"; }
wait_until 30 planned || fail "there is no plan: $(tail -n 3 "$TMP/plan.log")"
sets=$(set_mads)

# typed TEXT COMMAND...: the command line on a terminal where a user types the text. Sets rc; terminal.log has what
# the terminal shows, in one line.
typed()
{
	local text=$1
	shift
	rc=0
	printf '%s' "$text" | TERM=dumb within 60 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml $*" /dev/null \
		>"$TMP/typed" 2>&1 || rc=$?
	tr -s '\r\n ' '   ' <"$TMP/typed" | tr -s ' ' >"$TMP/terminal.log"
	[ -s "$TMP/terminal.log" ] || fail "$*: the terminal shows nothing"
}
# edited WHAT JQ PATTERN: the plan, edited so, is refused with these words, even with a yes.
edited()
{
	local what=$1 yes
	jq "$2" "$TMP/plan.json" >"$TMP/edited.json" || fail "$what: jq"
	for yes in '' -y '-y -j'; do
		typed $'y\n' "apply $TMP/edited.json $yes"
		[ "$rc" = 1 ] || fail "$what: status $rc: $(cat "$TMP/terminal.log")"
		grep -qE "$3" "$TMP/terminal.log" || fail "$what: no word of '$3': $(cat "$TMP/terminal.log")"
	done
	equal "$what: refused, and no Set is sent" "$(set_mads)" "$sets"
}

# The first octets of a CACongestionSetting's entries are the timer: 255 slows a sender to a crawl.
slow='(.data[] | select(.attribute == "CACongestionSetting") | .new) |= .[:8] + "00ff" + .[12:]'
shown='row 1 of its changes shows 0x[0-9a-f]* port 1 CCTI_Timer SL 0: 0 -> [0-9]+ .*, but the plan would write 0x[0-9a-f]* port 1 CCTI_Timer SL 0: 0 -> 255 .*make the plan again with ibcc-tune plan -o'
edited "data with another timer" "$slow" "$shown"
edited "changes that look harmless" '(.changes[] | select(.field == "CCTI_Timer") | .new) = "1"' \
	'row 1 of its changes shows .*CCTI_Timer SL 0: 0 -> 1 .*, but the plan would write'
edited "a reason of its own" '.changes[0].reason = "a test"' 'row 1 .*\(a test\), but the plan would write'
edited "fewer changes" '.changes = .changes[:3]' 'row 4 of its changes shows nothing, but the plan would write'
edited "more changes" '.changes += [.changes[0]]' 'but the plan would write nothing'
edited "no changes" 'del(.changes)' 'row 1 of its changes shows nothing, but the plan would write'
edited "another attribute's name" '.data[0].attribute = "SwitchCongestionSetting"' 'data\[0\]\.attribute: want the name'
# Both parts, so that they agree: then the roots do not.
edited "data and changes" "$slow | (.changes[] | select(.field == \"CCTI_Timer\" and .sl == 0) | .new) = \"255\"" \
	'the roots of the plan need another CACongestionSetting than it writes'

# What source1 gets is given to destination0, which no root needs to be held back.
guid_of() { sim settings -j | jq -r --arg node "$1" '.rows[] | select(.node == $node).node_guid'; }
one=$(guid_of source1) other=$(guid_of destination0)
edited "an adapter of none of its roots" \
	"(.data, .changes) |= . + [.[] | select(.node_guid == \"$one\") | .node_guid = \"$other\"]" \
	'destination0 port 1 that throttle more than any of its roots needs'

# Words that are bound to nothing are not shown.
jq '.summary = "it does nothing" | .paths = "it does nothing" | .roots[].explanation = "it does nothing" |
	.changes[].node = "nobody" | .prediction.why = "it does nothing" | .unchanged = 1000 |
	(.data[].reason, .changes[].reason) = "it does nothing"' "$TMP/plan.json" >"$TMP/edited.json"
typed $'n\n' "apply $TMP/edited.json"
equal "a no is a no" "$rc $(set_mads)" "1 $sets"
without "words of the file's own are not shown" "$TMP/terminal.log" -E 'it does nothing|nobody'
grep -q 'Decision: congestion starts at destination[01] (leaf2 port 2).*congestion control for' "$TMP/terminal.log" &&
	grep -q 'CCTI_Timer 0-15 0 .* source1' "$TMP/terminal.log" || fail "what is shown: $(cat "$TMP/terminal.log")"
ok "the names of the fabric and the words of the daemon are"

# An unedited plan is made after a yes, by the words of the daemon and the time in the file.
typed $'y\n' "apply --no-wait $TMP/plan.json"
[ "$rc" = 0 ] || fail "the plan as it was: $(cat "$TMP/terminal.log")"
check "the plan as it was is made" grep -qE 'CCTI_Timer 0-15 0 .* Make these [0-9]+ changes\? .* changes? verified' "$TMP/terminal.log"
made=$(date -u -d "@$(jq .made "$TMP/plan.json")" '+%Y-%m-%d %H:%M:%S')
equal "the history says from which file" "$(tune history -j | jq -r '.transactions[0].summary' | sed -n 's/.*; //p')" "from a plan file of $made UTC"

# Without a daemon.
check "rolled back" tune rollback -y
stop "$TUNED_PID"
sets=$(set_mads)
wait_until 30 planned || fail "there is no plan without a daemon: $(tail -n 3 "$TMP/plan.log")"
alone=$TMP/alone.json
jq "$slow" "$TMP/plan.json" >"$alone"
tune apply "$alone" -y >"$TMP/apply.log" 2>&1 && fail "it is made without a daemon"
grep -qE "$shown" "$TMP/apply.log" || fail "without a daemon: $(cat "$TMP/apply.log")"
equal "without a daemon: refused, and no Set is sent" "$(set_mads)" "$sets"
