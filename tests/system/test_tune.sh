# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The command line: a dry run that names the roles and writes nothing, apply, show and rollback,
# with and without the daemon; the stock tools are the witnesses.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
write_config

# An OpenSM that has swept nothing knows no node, at which all would be well.
sim set mad_loss_permille=1000 >/dev/null || fail "ibcc-sim set"
start_opensm --plugin --no-wait
listens() { timeout 5 "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" state >/dev/null; }
wait_until 20 listens || fail "the plugin does not listen"
if tune show -j >"$TMP/show.json" 2>"$TMP/tune.log"; then fail "show of a fabric that no sweep has found: $(cat "$TMP/show.json")"; fi
check "before OpenSM's first sweep, show says so" grep -q "the plugin's OpenSM knows no LID of its own port yet" "$TMP/tune.log"
stop "$OSM_PID"
sim set mad_loss_permille=0 >/dev/null || fail "ibcc-sim set"
start_opensm --plugin

lid_of() { tune show -j "$1" | jq '.nodes[0].lid'; }
jqtest() { jq -e "$2" "$1" >/dev/null || { jq . "$1" >"$TMP/jq.log"; fail "$3"; } && ok "$3"; }

tune show -j >"$TMP/show.json" 2>"$TMP/tune.log" || fail "show"
jqtest "$TMP/show.json" '[.nodes[].node] | sort == ["destination0", "destination1", "leaf1",
	"leaf2", "source1", "source2", "source3", "source4"]' "show lists all nodes"
leaf2=$(lid_of leaf2)
source1=$(lid_of source1)

# All that stock tools can see of the settings, as text.
settings()
{
	jq -r '.nodes[] | "\(.lid) \(.type)"' "$TMP/show.json" | while read -r lid type; do
		if [ "$type" = switch ]; then
			stock ibccquery SwitchCongestionSetting "$lid"
			stock ibccquery SwitchPortCongestionSetting "$lid" 0
		else
			stock ibccquery CACongestionSetting "$lid"
			stock ibccquery CongestionControlTable "$lid" 0
			stock ibccquery CongestionControlTable "$lid" 1
		fi
	done 2>&1
}

# --- show and stock tools see the same ------------------------------------------------------------
check "ibccconfig sets a switch" stock ibccconfig SwitchCongestionSetting "$leaf2" 0x1f 0x4 0x0 9 8 0 0:0 3
check "ibccconfig sets an adapter" stock ibccconfig CACongestionSetting "$source1" 0 0x2 150 4 2 1
check "ibccconfig sets a table" stock ibccconfig CongestionControlTable "$source1" 3 0 0:0 1:10 2:21 3:32
tune show -j >"$TMP/got.json" || fail "show"
jqtest "$TMP/got.json" '.nodes[] | select(.node == "leaf2").SwitchCongestionSetting |
	.Threshold == 9 and .Packet_Size == 8 and .Marking_Rate == 3 and .Victim_Mask == [2]' \
	"show reads the switch setting"
jqtest "$TMP/got.json" '.nodes[] | select(.node == "source1").CACongestionSetting.sls |
	.[1] == {sl: 1, CCTI_Timer: 150, CCTI_Increase: 4, Trigger_Threshold: 2, CCTI_Min: 1}
	and .[0].CCTI_Timer == 0' "show reads the adapter's setting"
jqtest "$TMP/got.json" '.nodes[] | select(.node == "source1").CongestionControlTable |
	.CCTI_Limit == 3 and ([.entries[] | [.CCT_Shift, .CCT_Multiplier]] ==
	[[0, 0], [1, 10], [2, 21], [3, 32]])' "show reads the table"
tune show source1 >"$TMP/text" || fail "show source1"
equal "show in words" "$(awk '$1 == "source1" && $5 == 1 { print $6, $7, $8, $9, $10, $11 }' "$TMP/text")" \
	"150 4 2 1 3 4"

# Marking on with tables without delays: the switches name the contributors and nothing else changes.
check "marking on" stock ibccconfig SwitchCongestionSetting "$leaf2" 0x1f 0x4 0x0 9 0 0 0:0 0
check "no increase" stock ibccconfig CACongestionSetting "$source1" 0 0xffff 0 0 0 0
check "no delay" stock ibccconfig CongestionControlTable "$source1" 0 0 0:0
settings >"$TMP/before"
sets=$(set_mads)

# --- dry run --------------------------------------------------------------------------------------
who_is_who()
{
	jqtest "$1" '.schema == 1 and (.roots | length) == 1' "$2: one root"
	jqtest "$1" '.roots[0] | .node == "leaf2" and .port == 2 and .kind == "output" and
		.peer.node == "destination1"' "$2: the root is the slow server's port"
	jqtest "$1" '.roots[0] | ([.contributors[].node] | sort) == ["source1", "source2", "source3"]' \
		"$2: three contributors"
	jqtest "$1" '[.roots[0].victims[].node] == ["source4"]' "$2: the victim"
	jqtest "$1" '(.changes | length) > 0 and all(.changes[]; .node != "" and .attribute != "" and
		.field != "" and .old != .new and .reason != "" and (.node_guid | test("^0x[0-9a-f]{16}$")))' \
		"$2: each change has old, new and reason"
	jqtest "$1" '([.changes[].node] | unique) == ["leaf2", "source1", "source2", "source3"]' \
		"$2: no other node is to change"
	jqtest "$1" '.prediction | .known == false and .victims == null and .why != ""' \
		"$2: what the victim gains cannot be told, and why"
}
tune --dry-run -j >"$TMP/plan.json" 2>"$TMP/tune.log" || fail "dry run"
who_is_who "$TMP/plan.json" "alone"
jqtest "$TMP/plan.json" '.fabric.source == "plugin" and .unreachable == []' "alone: topology from the plugin"
tune -n --via direct -j >"$TMP/plan.json" 2>"$TMP/tune.log" || fail "dry run by discovery"
who_is_who "$TMP/plan.json" "by discovery"
jqtest "$TMP/plan.json" '.fabric.source == "discovery"' "by discovery: no plugin was asked"
tune plan --detailed-exitcode >"$TMP/text" 2>"$TMP/tune.log"
equal "detailed exit code of pending changes" $? 2
grep -q 'Root 1: leaf2 0x[0-9a-f]* port 2' "$TMP/text" || fail "no root in words"
grep -q '^ *1 contributor source3 ' "$TMP/text" || fail "no contributors in words"
grep -q '^ *1 victim  *source4 ' "$TMP/text" || fail "no victim in words"
grep -q '^+ *3 CCTI_Increase  *0-15  *0  *[1-9][0-9]*  *source1, source2, source3 *$' "$TMP/text" || fail "no change in words"
sum='^Plan: ([1-9][0-9]*) changes?, ([0-9]+) unchanged, ([0-9]+) nodes? unsupported\.$'
equal "the sum is at the top and at the bottom" "$(grep -cE "$sum" "$TMP/text")" 2
[ "$(tail -n 2 "$TMP/text" | grep -cE "$sum")" = 1 ] && [ "$(head -n 3 "$TMP/text" | grep -cE "$sum")" = 1 ] || fail "the sum is elsewhere"
grep -q '^Changes to make (+ set, ~ changed, - reset)$' "$TMP/text" || fail "no legend of the marks"
cost='^Each change is one Set MAD, read back by one Get MAD: ([1-9][0-9]*) MADs for ([1-9][0-9]*) values in about [0-9.]+ ms\.$'
grep -Eq "$cost" "$TMP/text" || fail "no cost in words"
grep -qx '  Reasons (one node shown per setting)' "$TMP/text" || fail "no reasons below the changes"
ok "the plan in words"
tune plan --full >"$TMP/text" 2>"$TMP/tune.log" || fail "the whole plan"
grep -q '^+ *source2 .* CACongestionSetting  *CCTI_Increase  *0-15  *0  *[1-9]' "$TMP/text" || fail "no change of one node"
ok "the whole plan"
start_tuned
# It wants to see the congestion in more than one pass.
planned() { tune --dry-run -j >"$TMP/plan.json" && jq -e '.writes > 0' "$TMP/plan.json"; }
wait_until 15 planned || fail "the daemon has no plan"
who_is_who "$TMP/plan.json" "by the daemon"
tune plan >"$TMP/text" 2>"$TMP/tune.log" || fail "the daemon's plan in words"
reconciles() { tune plan -j >"$TMP/plan.json" && tune plan >"$TMP/text" &&
	[ "$(sed -nE "s/$sum/\1 \2 \3/p; s/$cost/\1 \2/p" "$TMP/text" | tail -n 2 | tr '\n' ' ')" = "$(
		jq -r '"\(.writes) \(.unchanged) \(.unreachable | length) \(.push.mads) \(.changes | length) "' "$TMP/plan.json")" ]; }
wait_until 15 reconciles || fail "the numbers of a plan are not those of its JSON: $(tail -n 3 "$TMP/text")"
ok "changes, MADs and values of a plan are those of its JSON"
jqtest "$TMP/plan.json" '.push | .mads > 0 and .expected_us > 0' "the plan says what the push costs"
jqtest "$TMP/plan.json" '.age_ms >= 0' "the plan says how old it is"
tune plan >"$TMP/text" 2>"$TMP/tune.log" || fail "the daemon's plan in words"
check "in words, too" grep -q '^Counters and settings as they were [0-9.]* s ago' "$TMP/text"
equal "a dry run sends no Set" "$(set_mads)" "$sets"
settings >"$TMP/after"
same "and changes nothing" "$TMP/before" "$TMP/after"

# --- apply, show, rollback ------------------------------------------------------------------------
# around COMMAND NAME OPTION...: apply, compare with the stock tools, roll back, compare again.
around()
{
	local name=$1 wait=--no-wait
	shift
	# What a daemon refines is looked at when it holds.
	[ $# -gt 0 ] || [ "$name" != 'by the daemon' ] || wait=
	# shellcheck disable=SC2086
	tune apply -y -j $wait "$@" >"$TMP/applied.json" 2>"$TMP/tune.log" || fail "$name: apply"
	jqtest "$TMP/applied.json" '.push.mads == 2 * .result.set_mads' "$name: it cost what was said"
	jqtest "$TMP/applied.json" '.result.verified > 0 and .result.failed == 0 and .error == null and
		all(.changes[]; .outcome == "verified")' "$name: all verified"
	tune show -j "$@" >"$TMP/shown.json" || fail "$name: show"
	# Each new value, where a number, is what show says, as the last step of the apply left it.
	tune history -j "$(tune history -j --limit 1 | jq '.transactions[0].id')" >"$TMP/steps.json" || fail "$name: history"
	jq '.transaction.change_list | [group_by([.node, .attribute, .field, .sl, .port])[] | .[-1]]' \
		"$TMP/steps.json" >"$TMP/last.json"
	jq -r '.[] | select(.attribute == "CACongestionSetting" and .sl != null) |
		"\(.node) \(.sl) \(.field) \(.new)"' "$TMP/last.json" | sort >"$TMP/want"
	jq -r '.nodes[] | select(.type == "ca") | .node as $n | .CACongestionSetting.sls[] |
		.sl as $s | to_entries[] | "\($n) \($s) \(.key) \(.value)"' "$TMP/shown.json" |
		sort >"$TMP/all"
	[ -s "$TMP/want" ] || fail "$name: no adapter was changed"
	silent "$name: show has the adapters' new values" comm -23 "$TMP/want" "$TMP/all"
	jq -r '.[] | select(.attribute == "SwitchPortCongestionSetting" and .field == "Threshold") |
		"\(.port) \(.new)"' "$TMP/last.json" >"$TMP/want"
	jq -r '.nodes[] | select(.node == "leaf2") | .SwitchPortCongestionSetting[] |
		"\(.port) \(.Threshold)"' "$TMP/shown.json" >"$TMP/all"
	same "$name: show has the switch port's new values" "$TMP/want" "$TMP/all"
	# And so say the stock tools.
	stock ibccquery CACongestionSetting "$source1" >"$TMP/text"
	equal "$name: ibccquery sees CCTI_Timer" \
		"$(sed -n 's/^CCTI_Timer:\.*//p' "$TMP/text" | sort -u)" \
		"$(jq -r '.[] | select(.node == "source1" and .field == "CCTI_Timer").new' "$TMP/last.json" | sort -u)"
	stock ibccquery SwitchPortCongestionSetting "$leaf2" 0 >"$TMP/text"
	grep -q 'Valid' "$TMP/text" || fail "$name: ibccquery of the switch's ports"
	settings >"$TMP/after"
	differ "$name: something has changed" "$TMP/before" "$TMP/after"
	tune rollback -y "$@" >"$TMP/text" 2>"$TMP/tune.log" || fail "$name: rollback"
	settings >"$TMP/after"
	same "$name: rolled back bit for bit" "$TMP/before" "$TMP/after"
	tune history -j >"$TMP/history.json" || fail "$name: history"
	jqtest "$TMP/history.json" '.transactions | .[0].action == "rollback" and .[0].outcome == "done"
		and .[1].action == "apply" and .[1].undone_by == .[0].id' "$name: history knows"
}
around "by the daemon"
jqtest "$TMP/history.json" '.transactions[1].who | test("^'"$(id -un)"' \\(uid '"$(id -u)"', pid [0-9]+\\)$")' "history names who asked"
if [ "$(id -u)" = 0 ]; then
	SUDO_USER=alice tune disable -y >"$TMP/text" 2>&1 || fail "disable: $(cat "$TMP/text")"
	SUDO_USER='al ice' tune rollback -y >"$TMP/text" 2>&1 || fail "rollback: $(cat "$TMP/text")"
	tune history -j >"$TMP/history.json" || fail "history"
	jqtest "$TMP/history.json" '.transactions[1].who | test("^root \\(sudo: alice, uid 0, pid [0-9]+\\)$")' "and the login behind sudo"
	jqtest "$TMP/history.json" '.transactions[0].who | test("^root \\(uid 0, pid [0-9]+\\)$")' "unless it is none"
fi
stop "$TUNED_PID"
around "by the plugin"
around "by our own port" --via direct
tune history 1 -j >"$TMP/history.json" || fail "history 1"
jqtest "$TMP/history.json" '.transaction | .id == 1 and (.change_list | length) > 0 and
	all(.change_list[]; .outcome == "verified")' "history of one transaction"
tune rollback -y >"$TMP/text" 2>&1 || fail "rollback with nothing to take back"
grep -q 'Nothing to change' "$TMP/text" && ok "a second rollback has nothing to do"

# --- disable --------------------------------------------------------------------------------------
check "disable" tune disable -y
tune show -j >"$TMP/got.json" || fail "show"
jqtest "$TMP/got.json" 'all(.nodes[] | select(.type == "switch"); .SwitchCongestionSetting.Threshold == 0
	and .SwitchPortCongestionSetting == [])' "disabled: no switch marks"
check "rollback of the disable" tune rollback -y
settings >"$TMP/after"
same "disable can be taken back" "$TMP/before" "$TMP/after"

# --- names ----------------------------------------------------------------------------------------
guid=$(jq -r '.nodes[] | select(.node == "source1").node_guid' "$TMP/show.json")
echo "$guid \"client one\"" >"$TMP/names"
tune show --node-name-map "$TMP/names" -j >"$TMP/got.json" || fail "show with names"
jqtest "$TMP/got.json" 'any(.nodes[]; .node == "client one" and .lid == '"$source1"')' "names of the site"

# --- a plan in a file -----------------------------------------------------------------------------
# The plan's own bytes reach the fabric, or nothing does.
filed()
{
	local name=$1
	rm -f "$TMP/plan.file"
	tune plan -o "$TMP/plan.file" --full >"$TMP/text" 2>"$TMP/tune.log" || fail "$name: plan -o"
	jqtest "$TMP/plan.file" '.format == "ibcc-tune plan 2" and (.data | length) == .writes and .writes > 0 and
		.made > 1700000000 and all(.data[]; (.old | length) == 384 and .old != .new)' "$name: a plan in a file"
	settings >"$TMP/after"
	same "$name: which writes nothing" "$TMP/before" "$TMP/after"
	tune apply -y --no-wait "$TMP/plan.file" >"$TMP/text" 2>"$TMP/tune.log" || fail "$name: apply FILE"
	grep -q '^The plan was made [0-9]* s ago\.$' "$TMP/text" || fail "$name: no age"
	tune history 1000 >"$TMP/text" 2>&1
	tune history -j >"$TMP/history.json"
	jqtest "$TMP/history.json" ".transactions[0] | .action == \"apply\" and .outcome == \"done\" and
		.changes >= $(jq .writes "$TMP/plan.file")" "$name: it is carried out, all of it"
	tune apply -y "$TMP/plan.file" >"$TMP/text" 2>"$TMP/tune.log" && fail "$name: twice"
	grep -q 'nothing is written: [0-9]* of [0-9]* changes\? no longer fits\?: .* has a .* that differs from the one in the plan' \
		"$TMP/tune.log" || fail "$name: no word about what differs"
	ok "$name: a second time it no longer fits"
	tune rollback -y >/dev/null 2>"$TMP/tune.log" || fail "$name: rollback"
	settings >"$TMP/after"
	same "$name: and can be taken back" "$TMP/before" "$TMP/after"
}
filed "alone"
start_tuned
wait_until 15 planned || fail "the daemon has no plan"
filed "by the daemon"
# A plan after a write is one of a pass after it, however soon it is asked for.
pass=$(tune status -j | jq .fabric.pass)
tune disable -y >/dev/null 2>"$TMP/tune.log" || fail "disable"
tune plan -j >"$TMP/got.json" 2>"$TMP/tune.log" || fail "no plan right after a write"
jqtest "$TMP/got.json" ".fabric.pass > $pass" "a plan right after a write is of a later pass"
tune rollback -y >/dev/null 2>"$TMP/tune.log" || fail "rollback of the disable"
# Another program is quicker.
wait_until 15 planned || fail "the daemon has no plan after the rollback"
tune plan -o "$TMP/plan.file" >/dev/null 2>"$TMP/tune.log" || fail "plan -o"
check "another program sets an adapter" stock ibccconfig CACongestionSetting "$source1" 0 0x2 150 4 2 1
settings >"$TMP/other"
sets=$(set_mads)
tune apply -y "$TMP/plan.file" >"$TMP/text" 2>"$TMP/tune.log" && fail "a plan for another fabric is taken"
check "the node that differs is named" grep -q 'source1 port 1 has a CACongestionSetting that differs' "$TMP/tune.log"
equal "and no Set is sent" "$(set_mads)" "$sets"
# Nor does it matter by which clock it was made; but for a time that cannot be.
jq '.made += 400000' "$TMP/plan.file" >"$TMP/future.file"
tune apply -y "$TMP/future.file" >"$TMP/text" 2>"$TMP/tune.log" && fail "a plan for another fabric is taken from the future"
check "a plan from the future is told" grep -q "^By this host's clock, the plan was made 11[01] hours in the future: " "$TMP/text"
jq '.made = -1' "$TMP/plan.file" >"$TMP/future.file"
tune apply -y "$TMP/future.file" >"$TMP/text" 2>"$TMP/tune.log" && fail "a plan from before 1970 is taken"
check "a plan from before 1970 is none" grep -q 'this is not a plan of this release' "$TMP/tune.log"
equal "and no Set is sent" "$(set_mads)" "$sets"
jq '.data[0].new |= "zz" + .[2:]' "$TMP/plan.file" >"$TMP/bad.file"
tune apply -y "$TMP/bad.file" >"$TMP/text" 2>"$TMP/tune.log" && fail "a spoilt plan is taken"
check "a spoilt plan is told" grep -q 'data\[0\]\.new: want 384 hexadecimal digits in lower case' "$TMP/tune.log"
equal "and no Set is sent" "$(set_mads)" "$sets"
check "it is set back" stock ibccconfig CACongestionSetting "$source1" 0 0xffff 0 0 0 0
tune show >/dev/null 2>"$TMP/tune.log" || fail "the daemon reads all settings again"
# A plan from before that does not fit.
pass=$(tune --dry-run -j 2>/dev/null | jq .fabric.pass)
again() { planned && jq -e ".fabric.pass > $pass" "$TMP/plan.json"; }
wait_until 15 again || fail "no plan after all settings were read"
# On a terminal it asks, and takes anything but a yes for a no.
if command -v script >/dev/null; then
	wait_until 15 planned || fail "no plan for the terminal"
	echo n | timeout 30 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml apply" /dev/null >"$TMP/terminal.log" 2>&1
	grep -q 'Make these [0-9]* changes? \[y/N\]' "$TMP/terminal.log" || fail "no question on a terminal"
	grep -q 'nothing was changed' "$TMP/terminal.log" || fail "no is not taken for a no"
	equal "a no on a terminal: no Set is sent" "$(set_mads)" "$((sets + 1))"
	wait_until 15 planned || fail "no plan for the terminal"
	echo y | timeout 30 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml apply" /dev/null >"$TMP/terminal.log" 2>&1
	grep -q '[0-9]* of [0-9]* changes\? verified' "$TMP/terminal.log" || fail "a yes is not taken for a yes"
	ok "a yes on a terminal is carried out"
fi
