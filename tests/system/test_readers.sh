# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Ten hostile readers at the control socket: the daemon goes on with its passes, root has its answers, and nothing
# grows. Readers may ask for whatever only reads, as often as they like. Then the name service falls silent.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "readers are other users, which takes root"
reader=65534 # nobody, of whom nothing belongs to this test
group=$(id -gn "$reader")
gid=$(id -g "$reader")

start_sim "$SCENARIO"
start_opensm --plugin
chmod 711 "$TMP"
export IBCC_NSS_SILENT=$TMP/silent # while there is such a file, the daemon's name service does not answer
TUNED_PRELOAD=$IBCC_BUILD/tests/double/libnss-double.so
start_tuned "control_read_group: $group"
number() { tune status -j >"$TMP/status.json" && jq "$1" "$TMP/status.json"; }
rss_kib() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$(daemon_pid)/status"; }
daemon_pid() { jq .pid "$TMP/status.json"; }
wait_until 20 status '.roots == 1 and .writes_pending > 0' || fail "the daemon sees no congestion"
tune plan -o "$TMP/plan.json" >/dev/null 2>"$TMP/tune.log" || fail "no plan"
before=$(rss_kib)

readers=()
attack()
{
	background "$TMP/reader.log" "$IBCC_BUILD/tests/system/reader_client" "$TMP/control.sock" "$reader" "$gid" "$@"
	readers+=($!)
}
for _ in 1 2 3 4; do
	attack leave '{"command": "show", "args": {}}'
	attack wait '{"command": "what-if", "args": {"set": {"threshold": 15}}}'
done
attack leave '{"command": "probe", "args": {}}'
attack leave '{"command": "what-if", "args": {"set": {"threshold": 14}}}'

pass=$(number .fabric.pass)
later() { [ "$(number .fabric.pass)" -ge $((pass + 10)) ]; }
wait_until 60 later || fail "no ten passes in all that time"
ok "passes go on while ten readers ask"
wait_until 20 status ".clients.control // \"\" | test(\"asked [0-9]+ times within 10 s.*most of them as uid $reader\")" ||
	fail "the status does not name them: $(jq -c .clients "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
check "status names the user" grep -q "^Clients: *clients asked [0-9]* times .*as uid $reader" "$TMP/text"
check "so does the log" grep -q "clients asked [0-9]* times within 10 s at the control socket.*uid $reader" "$TMP/tuned.log"
# Each within the time that the command itself waits for the daemon.
TOOL_SECONDS=100
for command in 'status' 'plan' 'apply -y' 'show' 'rollback -y' 'disable -y'; do
	began=${EPOCHREALTIME/[.,]/}
	# shellcheck disable=SC2086 # a command and its options
	check "root's $command is answered" tune $command
	echo "# $command: after $(((${EPOCHREALTIME/[.,]/} - began) / 1000)) ms"
done
for p in "${readers[@]}"; do alive "$p" || fail "a reader has ended by itself: $(cat "$TMP/reader.log")"; done
grown=$(($(rss_kib) - before))
for p in "${readers[@]}"; do stop "$p"; done
echo "# $(awk '{ n += $1 } END { print n }' "$TMP/reader.log") requests, memory $before KiB and $grown KiB more"
most=16384
[ -z "$(plugin_preload)" ] || most=$((most + 16384)) # as in test_soak.c: a sanitizer's own memory
[ "$grown" -lt "$most" ] || fail "memory has grown by $grown KiB"
ok "memory does not grow with what is asked"
wait_until 20 status '.state == "ok"' || fail "the daemon is not well afterwards: $(jq -c '[.state,.reason]' "$TMP/status.json")"
ok "and afterwards all is well"

# --- a name service that does not answer ------------------------------------------------------------
reloads() { grep -c 'configuration reloaded' "$TMP/tuned.log"; }
reload() # [LINE]...
{
	local before
	before=$(reloads)
	write_config "control_read_group: $group" "$@"
	kill -HUP "$TUNED_PID"
	another() { [ "$(reloads)" -gt "$before" ]; }
	wait_until 20 another || fail "no reload: $*"
}
writer() { unprivileged ibcc-tune -z "$TMP/cli.yaml" "$@"; }
reload "control_write_group: $group"
wait_until 20 writer disable -y || fail "a writer may not write"
touch "$IBCC_NSS_SILENT"
reload "control_write_group: $group"
wait_until 20 status '.roots == 1 and .writes_pending > 0' || fail "no decision while the name service is silent"
check "a writer keeps its right, and passes go on, while the name service is silent" writer apply -y
tune history -j >"$TMP/history.json" || fail "no history"
check "a writer without a name has a number in the history" jq -e '.transactions[0].who | test("^uid 65534 .pid")' "$TMP/history.json"
reload
check "root is answered" tune status
writer disable -y >"$TMP/lost.log" 2>&1 && fail "a group that has lost its right has it still"
check "a group that loses its right loses it at once" grep -q 'control_write_group may change' "$TMP/lost.log"
kill -TERM "$TUNED_PID"
wait_until 20 gone "$TUNED_PID" || fail "the daemon does not end while the name service is silent"
ok "the daemon ends while the name service is silent"
