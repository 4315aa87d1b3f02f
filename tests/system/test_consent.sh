# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A command that changes the fabric wants a yes, typed on a terminal or given as -y. Cron, a pipe and -j can be
# asked nothing, so without -y nothing is written there.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin
start_tuned
planned() { tune plan -j | jq -e '.writes > 0'; }
wait_until 20 planned || fail "nothing is planned"
tune plan -o "$TMP/plan.json" >/dev/null 2>"$TMP/tune.log" || fail "plan -o"
echo 0x5afe >"$TMP/key" && chmod 600 "$TMP/key"
sets=$(set_mads)

# typed TEXT COMMAND...: the command line on a terminal where a user types the text. Sets rc; terminal.log has what
# the terminal shows, in one line.
typed()
{
	local text=$1
	shift
	rc=0
	printf '%s' "$text" | timeout 60 script -qec "$IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml $*" /dev/null >"$TMP/typed" 2>&1 || rc=$?
	tr -s '\r\n' '  ' <"$TMP/typed" >"$TMP/terminal.log"
	[ -s "$TMP/terminal.log" ] || fail "$*: the terminal shows nothing"
}

while read -r command; do
	# shellcheck disable=SC2086
	set -- $command
	rc=0
	direct=$("$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@" </dev/null 2>&1) || rc=$?
	equal "$command by cron" "$rc" 1
	grep -q "nothing was changed.*ibcc-tune $1 -y" <<<"$direct" || fail "$command by cron does not say what to do: $direct"
	# A terminal, but what it prints goes elsewhere.
	typed y "$command | cat"
	grep -q "nothing was changed" "$TMP/terminal.log" || fail "$command | cat: $(cat "$TMP/terminal.log")"
	ok "$command into a pipe"
	typed y "-j $command"
	equal "$command -j" "$rc" 1
	typed $'n\n' "$command"
	equal "$command with a no" "$rc" 1
	grep -q '? \[y/N\]' "$TMP/terminal.log" || fail "$command does not ask: $(cat "$TMP/terminal.log")"
	grep -q 'nothing was changed' "$TMP/terminal.log" || fail "$command: $(cat "$TMP/terminal.log")"
	typed $'\n' "$command"
	equal "$command with an empty line" "$rc" 1
done <<COMMANDS
apply
apply --skip-unsupported
apply $TMP/plan.json
rollback
rollback 1
disable
repair
key $TMP/key
key $TMP/key --protect
COMMANDS
check "key --protect says what a lost key costs" grep -q 'If you lose .*you can no longer read or change' "$TMP/terminal.log"
typed $'n\n' "key $TMP/key --protect --lease 30"
check "with a lease, too" grep -q '30 s after' "$TMP/terminal.log"
equal "and no Set is sent" "$(set_mads)" "$sets"

# A yes is a yes, typed or given.
wait_until 20 planned || fail "nothing is planned"
typed $'y\n' apply --skip-unsupported
[ "$rc" = 0 ] || fail "$(cat "$TMP/terminal.log")"
check "a yes on a terminal: apply" grep -q 'changes\? verified' "$TMP/terminal.log"
typed $'y\n' rollback
[ "$rc" = 0 ] || fail "$(cat "$TMP/terminal.log")"
check "a yes on a terminal: rollback" grep -q 'changes\? verified' "$TMP/terminal.log"
typed $'y\n' disable
[ "$rc" = 0 ] || fail "$(cat "$TMP/terminal.log")"
check "a yes on a terminal: disable" grep -q 'Nothing to change' "$TMP/terminal.log"
typed '' repair -y
[ "$rc" = 0 ] || fail "$(cat "$TMP/terminal.log")"
without "-y does not ask" "$TMP/terminal.log" 'y/N'
check "-y asks nothing" grep -q 'Nothing to change' "$TMP/terminal.log"
stop "$TUNED_PID"
tune key "$TMP/key" -y >"$TMP/tune.log" 2>&1 || fail "key -y"
check "-y without a terminal: key" grep -q 'nodes verified' "$TMP/tune.log"
