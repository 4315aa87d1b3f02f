# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The daemon is stopped (SIGSTOP), with its sockets open: each command says so, with the process and what to do next,
# and root's way back goes on in its place. A daemon that is only busy is waited for.
. "$(dirname "$0")/lib.sh"

made() { tune apply -y --no-wait >"$TMP/apply.log" 2>&1 && grep -q ' changes\? verified' "$TMP/apply.log"; }
as_before() { [ "$(settings)" = "$untuned" ]; }

start_sim "$SCENARIO"
untuned=$(settings)
start_opensm --plugin
# Answers that take so long that reading all settings is long for the client, within the daemon's patience.
start_tuned "timeout_ms: $((20 * TIMEOUT_MS))" "pass_deadline_ms: $((60 * DEADLINE_MS))"
wait_until 30 made || fail "there is nothing to roll back: $(cat "$TMP/apply.log")"
delay_mads 3000000
before=$EPOCHSECONDS
check "a busy daemon is waited for" tune show
echo "# it was busy for $((EPOCHSECONDS - before)) s"
without "and not taken for one that has stopped" "$TMP/check.log" -E 'does not answer|has not answered'
delay_mads 0

# A daemon that is stopped in the middle of a transaction keeps its state file locked. So it goes on until it is not.
locks() { grep -q "^[0-9]*: POSIX .* WRITE $TUNED_PID [^ ]*:$(stat -c %i "${STATE_FILE:-$TMP/state.db}") " /proc/locks; }
is_at_rest()
{
	kill -STOP "$TUNED_PID" || fail "SIGSTOP"
	sleep 0.1
	locks || return 0
	kill -CONT "$TUNED_PID"
	return 1
}
stop_at_rest() { wait_until 30 is_at_rest || fail "the daemon always has its state file locked"; }

# As tune, but does not wait as long for an answer.
ask()
{
	local TOOL_SECONDS=60
	stock "$IBCC_BUILD/ibcc-tune" -z "$TMP/cli.yaml" "$@"
}
# refused PATTERN ARGS...: the command fails, says that on stderr, and sends nothing.
refused()
{
	local rc=0 sets pattern=$1
	shift
	sets=$(set_mads)
	before=$EPOCHSECONDS
	ask "$@" >"$TMP/out.log" 2>"$TMP/err.log" || rc=$?
	echo "# $*: after $((EPOCHSECONDS - before)) s"
	[ "$rc" = 1 ] || fail "$*: exit status $rc: $(cat "$TMP/err.log")"
	grep -q "$pattern" "$TMP/err.log" || fail "$*: no word of $pattern: $(cat "$TMP/err.log")"
	equal "$* says it, and sends nothing" "$(set_mads)" "$sets"
}
stopped="ibcc-tuned (pid $TUNED_PID) does not answer: its process is stopped.*systemctl kill -s KILL ibcc-tuned"
stop_at_rest
for command in status history 'apply -y' 'repair -y' '--via direct disable -y'; do
	# shellcheck disable=SC2086
	refused "$stopped" $command
done
# What the daemon does by its own port it would go on with.
sed -i '$a apply_via: direct' "$TMP/cli.yaml"
refused "$stopped" rollback -y
sed -i '/^apply_via: direct$/d' "$TMP/cli.yaml"
kill -CONT "$TUNED_PID" || fail "SIGCONT"
wait_until 30 status '.state == "ok"' || fail "it does not go on: $(jq -c '[.state, .reason]' "$TMP/status.json")"
ok "and when it goes on, it answers"

# The next step that is named, also where root's own daemon has promised the plugin to be back.
stop_at_rest
taken=$stopped
[ "$(id -u)" != 0 ] || taken='another daemon writes through this plugin, client.*systemctl kill -s KILL ibcc-tuned'
refused "$taken" rollback -y
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
check "the way back is open when it was killed" tune rollback -y
as_before || fail "not as before: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"

[ "$(id -u)" = 0 ] || { echo "# not root: no command takes a daemon's place"; exit 0; }

# A daemon that is not root, as the service's. It goes on with what it had in mind, and finds out.
mkdir "$TMP/daemon"
for_others ibcc-tuned
chown 65534:65534 "$TMP/daemon"
stop "$OSM_PID"
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.mode=0666" start_opensm --plugin
STATE_FILE=$TMP/daemon/state.db write_config 'mode: apply'
sed -i "s|^control_socket: .*|control_socket: $TMP/daemon/control.sock|" "$TMP/tuned.yaml"
cp "$TMP/tuned.yaml" "$TMP/cli.yaml"
chmod 644 "$TMP/tuned.yaml"
(cd "$TMP/daemon" && exec "$IBCC_BUILD/ibcc-sim" exec --name "$SIM" -- setpriv --reuid 65534 --regid 65534 --clear-groups \
	"$TMP/bin/ibcc-tuned" -z "$TMP/tuned.yaml" >>"$TMP/tuned.log" 2>&1 </dev/null) &
TUNED_PID=$!
CHILDREN+=("$TUNED_PID")
tuned() { status '.state == "ok"' && ! as_before; }
wait_until 60 tuned || fail "a daemon in mode apply writes nothing: $(jq -c '[.state, .reason, .decision]' "$TMP/status.json")"
STATE_FILE=$TMP/daemon/state.db stop_at_rest
before=$EPOCHSECONDS
check "root rolls back beside a stopped daemon" tune rollback -y
echo "# rollback: after $((EPOCHSECONDS - before)) s"
check "and is told so" grep -q "ibcc-tuned (pid $TUNED_PID) does not answer.*As root, ibcc-tune writes in its place" "$TMP/check.log"
as_before || fail "not as before: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"
check "and so is the log of OpenSM" grep -q 'ERR IC11: .*(uid 0) writes from now on in place of client .*(uid 65534)' "$OSM_LOG"
kill -CONT "$TUNED_PID" || fail "SIGCONT"
wait_until 30 status '.state == "ok" and (.paused | test("rollback by ibcc-tune uid 0"))' ||
	fail "the daemon does not know of it: $(jq -c '[.state, .reason, .paused]' "$TMP/status.json")"
ok "the daemon finds that when it goes on"
passes=$(jq .fabric.pass "$TMP/status.json")
wait_until 60 status ".fabric.pass > $passes + 10" || fail "the daemon does not go on"
as_before || fail "it writes again what was rolled back: $(diff <(echo "$untuned" | jq .) <(settings | jq .) | head -20)"
ok "and leaves it so"
tune history -j | jq -e '.transactions[0].action == "rollback"' >/dev/null || fail "its history lacks the rollback: $(tune history)"
ok "its history has the rollback"
