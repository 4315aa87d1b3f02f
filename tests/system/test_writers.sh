# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# One writer: no program writes beside a daemon that may be running, nor beside another command line.
. "$(dirname "$0")/lib.sh"

start_sim "$SCENARIO"
start_opensm --plugin

# refused PATTERN ARGS...: the command line fails, says that, and has sent nothing.
refused()
{
	local rc=0 sets pattern=$1
	shift
	sets=$(set_mads)
	tune "$@" >"$TMP/out.log" 2>&1 || rc=$?
	[ "$rc" = 1 ] || fail "$*: exit status $rc"
	grep -qE "$pattern" "$TMP/out.log" || fail "$*: no word of $pattern: $(cat "$TMP/out.log")"
	equal "$* is refused, and sends nothing" "$(set_mads)" "$sets"
}
runs='ibcc-tuned is running; .*leave .*--via out'

start_tuned
refused "$runs" --via direct disable -y
refused "$runs" --via plugin rollback -y
echo 0x5 >"$TMP/key"
chmod 600 "$TMP/key"
refused 'ibcc-tuned is running' key -y "$TMP/key"

# It does not answer, but is there.
kill -STOP "$TUNED_PID"
refused "ibcc-tuned .pid $TUNED_PID. does not answer: its process is stopped" --via direct disable -y
kill -CONT "$TUNED_PID"

# Its socket has gone, and it cannot make it anew, but its lock has not.
touch "$TMP/other"
mv "$TMP/other" "$TMP/control.sock"
refused "another program writes to this fabric: process $TUNED_PID holds the lock .*state.db.lock" disable -y
refused 'process [0-9]* holds the lock .*state.db.lock' --via direct disable -y
rc=0
stock timeout 20 "$IBCC_BUILD/ibcc-tuned" -z "$TMP/tuned.yaml" >"$TMP/second.log" 2>&1 || rc=$?
equal "nor is there a second daemon" "$rc" 1
grep -q "process $TUNED_PID holds the lock " "$TMP/second.log" || fail "the second does not say why"
# Nor one with another socket and state file.
sed "s|$TMP/control.sock|$TMP/twin.sock|; s|$TMP/state.db|$TMP/twin.db|" "$TMP/cli.yaml" >"$TMP/twin.yaml"
background "$TMP/twin.log" "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- "$IBCC_BUILD/ibcc-tuned" -z "$TMP/twin.yaml"
twin=$!
told()
{
	stock "$IBCC_BUILD/ibcc-tune" -z "$TMP/twin.yaml" status -j >"$TMP/twin.json" 2>"$TMP/twin-status.log" &&
		jq -e ".state == \"degraded\" and (.reason | test(\"works at the same port: .*process $TUNED_PID holds the lock .*stop one of them\"))" "$TMP/twin.json"
}
wait_until 20 told || fail "a daemon beside the first is not told: $(jq -c '[.state, .reason]' "$TMP/twin.json")"
ok "a daemon with other files at the same port is told, and only observes"
stop "$twin"
stop "$TUNED_PID"
check "and when it has ended, a client may write" tune disable -y
