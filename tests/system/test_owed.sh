# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# A node is unplugged, settings are taken back or off, and the node is plugged in again: what it still had of ours goes,
# by the program that runs then, and until then the status lists it.
. "$(dirname "$0")/lib.sh"

# of NODE: what it has of congestion control.
of() { sim settings -j | jq -cS --arg node "$1" '[.rows[] | select(.node == $node) | del(.lid, .summary)]'; }
as_before() { [ "$(settings)" = "$before" ]; }
holds_nobody() { [ "$(sim settings -j | jq '[.rows[].ca // empty | .sl[] | .CCTI_Increase + .CCTI_Min] | add')" = 0 ]; }
planned() { tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" && jq -e '.writes > 0' "$TMP/plan.json" >/dev/null; }
owed() { status ".owed.endports == $1"; }
# A cable of source2, which has settings of ours then. ibsim wants it by its own name of the node.
unplug()
{
	sim console 'Unlink "source2"[1]' >"$TMP/console.log" || fail "console Unlink"
	wait_until 30 status '.fabric.channel_adapters == 5' || fail "the daemon does not see that source2 is away"
}
plug() { sim console 'ReLink "source2"[1]' >"$TMP/console.log" || fail "console ReLink"; }
applied()
{
	wait_until 60 planned || fail "there is no plan: $(tail -n 3 "$TMP/tune.log")"
	tune apply -y >"$TMP/apply.log" 2>&1 || fail "apply: $(tail -n 3 "$TMP/apply.log")"
	[ "$(of source2)" != "$clean" ] || fail "source2 has nothing of ours"
}
# fails TEXT PATTERN COMMAND...: it ends with 1 and says that.
fails()
{
	local _text=$1 _pattern=$2 _rc=0
	shift 2
	"$@" >"$TMP/out.log" 2>"$TMP/err.log" || _rc=$?
	[ "$_rc" = 1 ] && grep -qE -- "$_pattern" "$TMP/err.log" || fail "$_text (status $_rc): $(cat "$TMP/err.log")"
	ok "$_text"
}

start_sim "$SCENARIO"
start_opensm --plugin
CONFIG=()
start_tuned "${CONFIG[@]}"
wait_until 30 status '.fabric.channel_adapters == 6' || fail "the daemon does not see the fabric"
before=$(settings)
clean=$(of source2)

# --- rollback -------------------------------------------------------------------------------------
applied
unplug
held=$(of source2)
fails "a rollback says what it could not do, and what becomes of it" 'not on the fabric.*; ibcc-tuned does the rest' tune rollback -y
[ "$(of source2)" = "$held" ] || fail "source2 was written while it was away"
owed 1 || fail "nothing is owed: $(jq -c .owed "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
check "status names the node and the transaction" grep -qE '^Owed: +"source2" 0x0000000200000200 is not on the fabric: what transaction [0-9]+' "$TMP/text"
tune history >"$TMP/text" 2>&1
check "so does the history" grep -q 'rollback done, 1 node owed' "$TMP/text"
stop "$TUNED_PID" KILL
start_tuned "${CONFIG[@]}"
owed 1 || fail "a daemon that is started again forgets it"
plug
wait_until 30 as_before || fail "source2 keeps what it had: $(tune history 2>&1 | head -n 5)"
ok "when it is back it gets what it had before us, in mode observe, by a daemon that was started since"
wait_until 10 owed 0 || fail "it is owed for ever"
tune history >"$TMP/text" 2>&1
check "the history has both" grep -qE ' rollback done .*"source2" .* can be reached: what transaction [0-9]+ \(rollback\) could not do there' "$TMP/text"
check "nothing is left to take back" tune rollback -y
check "as it says" grep -q 'Nothing to change' "$TMP/check.log"

# --- disable --------------------------------------------------------------------------------------
applied
unplug
fails "so does a disable" '1 node with settings of ibcc-tune is not on the fabric.*; ibcc-tuned does the rest' tune disable -y
owed 1 || fail "nothing is owed: $(jq -c .owed "$TMP/status.json")"
plug
wait_until 30 holds_nobody || fail "source2 is throttled: $(tune history 2>&1 | head -n 5)"
wait_until 10 owed 0 || fail "it is owed for ever"
ok "when it is back its settings are taken off"
check "all can be taken back" tune rollback -y
as_before || fail "not all is as before"

# --- no daemon runs ----------------------------------------------------------------------------------
applied
unplug
stop "$TUNED_PID"
fails "without a daemon it is written down, too" 'not on the fabric.*; ibcc-tuned does the rest' tune rollback -y
plug
whole() { stock "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" state | grep -q 'nodes=8 '; }
wait_until 30 whole || fail "OpenSM does not see source2"
check "the next rollback does it" tune rollback -y
as_before || fail "source2 keeps what it had"
start_tuned "${CONFIG[@]}"
owed 0 || fail "what was done is owed: $(jq -c .owed "$TMP/status.json")"
ok "and then nothing is owed"

# --- something else was wanted since --------------------------------------------------------------
applied
unplug
fails "a rollback leaves source2 out" 'not on the fabric' tune rollback -y
stop "$TUNED_PID"
plug
wait_until 30 whole || fail "OpenSM does not see source2"
CONFIG=('mode: apply')
start_tuned "${CONFIG[@]}"
wait_until 30 as_before || fail "source2 keeps what it had: $(tune history 2>&1 | head -n 5)"
ok "a daemon in mode apply does it, too"
check "and goes on when it is told to" tune apply -y
goes_on() { [ "$(of source2)" != "$clean" ]; }
wait_until 60 goes_on || fail "it writes nothing"
check "all can be taken back" tune rollback -y

# --- by a port of one's own -----------------------------------------------------------------------
stop "$TUNED_PID"
stop "$OSM_PID"
start_opensm
CONFIG=('apply_via: direct')
start_tuned "${CONFIG[@]}"
wait_until 60 status '.fabric.channel_adapters == 6' || fail "the daemon does not see the fabric"
as_before || fail "not all is as before"
applied
held=$(of source3)
guid_of() { sim console "Guid \"$1\" $2" >"$TMP/console.log" || fail "console Guid"; }
# source3 says that it is source1, so it is unknown which of the two this GUID means.
guid_of source3 0x200000100
sim console 'Unlink "source2"[1]' >"$TMP/console.log" || fail "console Unlink"
wait_until 60 status '.fabric.channel_adapters == 4' || fail "the daemon does not see which nodes are left: $(jq -c "[.state, .reason]" "$TMP/status.json")"
fails "with its own port the daemon says so, too" 'not on the fabric.*; ibcc-tuned does the rest' tune rollback -y
owed 3 || fail "not all three are owed: $(jq -c .owed "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
check "of two nodes with one GUID, as well, and each node with its own cause" grep -qE \
	'^Owed: +3 nodes still have .*: "source1" 0x0000000200000100: is not the only one with its GUID; "source2" 0x0000000200000200, "source3" 0x0000000200000300: is not on the fabric' "$TMP/text"
places='"leaf1" port [0-9]+ and behind "leaf1" port [0-9]+'
wait_until 60 status '.state == "degraded" and (.reason | startswith("two nodes have one GUID"))' ||
	fail "two nodes with one GUID: $(jq -c "[.state, .reason]" "$TMP/status.json")"
tune status >"$TMP/text" 2>&1
check "the state is degraded, and names both places and what to do" grep -qE \
	"two nodes have one GUID: GUID 0x0000000200000100 .* is behind $places; .*: unplug one of them" "$TMP/text"
[ "$(of source3)" = "$held" ] || fail "source3 was written under the GUID of source1: $(of source3)"
plug
# No trap tells of a GUID: the next walk comes when the cable is back.
sim console 'Unlink "source3"[1]' >"$TMP/console.log" || fail "console Unlink"
guid_of source3 0x200000300
sim console 'ReLink "source3"[1]' >"$TMP/console.log" || fail "console ReLink"
wait_until 60 as_before || fail "source2 or source3 keeps what it had: $(tune history 2>&1 | head -n 5)"
wait_until 10 owed 0 || fail "it is owed for ever"
ok "and does it when the nodes are back, each with its own GUID"
wait_until 30 status '.state == "ok"' || fail "the state stays $(jq -c "[.state, .reason]" "$TMP/status.json")"
ok "the state is ok again"
