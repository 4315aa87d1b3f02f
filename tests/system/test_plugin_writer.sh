# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Which client writes through the plugin: an empty plan takes no client's place, root takes it from another user's client, what
# a client calls a way back is none, and nothing but a daemon that lives keeps the dead man's switch from falling.
. "$(dirname "$0")/lib.sh"

[ "$(id -u)" = 0 ] || skip "the clients are different users, which takes root"
other=65534 # nobody
client=$IBCC_BUILD/tests/system/plugin_client
push() { within 60 "$client" "$TMP/opensm.sock" push "$@" >"$TMP/push.log" 2>&1; }
hold() # KEY=VALUE...: one that stays; returns when its plan is through
{
	: >"$TMP/hold.log"
	background "$TMP/hold.log" "$client" "$TMP/opensm.sock" push hold=1 "$@"
	HELD=$!
	wait_until 20 grep -q '^END' "$TMP/hold.log" || fail "a plan does not come to its end"
}
log_has() { grep -q -- "$1" "$OSM_LOG"; }

start_sim "$SCENARIO"
chmod 711 "$TMP"
start_opensm --plugin # without the dead man's switch
before=$(settings) # nothing is set, and that is what the clients say was there before

hold as=$other empty=1
check "a plan of nothing keeps no client from writing" push timer=50
stop "$HELD" KILL

hold as=$other timer=60
check "root takes the place of another user's client that says nothing" push timer=70
check "and OpenSM's log says so" log_has 'ERR IC11: client [0-9]* (uid 0) writes from now on in place of client [0-9]* (uid 65534)'
stop "$HELD" KILL

hold timer=80 lease=600000
push as=$other timer=90
equal "another user does not take root's" $? 3
check "and hears whose it is" grep -q "another daemon writes through this plugin, client [0-9]* (uid 0)" "$TMP/push.log"
stop "$HELD" KILL

# 8 nodes, 60 Sets a minute each: three for an adapter, one for a switch, so often.
push timer=100 repeat=200 flags=1
equal "what calls itself a way back is counted" $? 3
sent=$(sed -n 's/^END.*(\([0-9]*\) Set)$/\1/p' "$TMP/push.log")
grep -q 'more than 60 Sets a minute' "$TMP/push.log" || fail "refused for another reason: $(tail -n 1 "$TMP/push.log")"
[ "${sent:-9999}" -le 480 ] || fail "$sent Sets in a plan that calls itself a way back"
ok "and goes no further than others: $sent Sets"

stop "$OSM_PID"
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.revert_after_s=3" start_opensm --plugin
off() { [ "$(settings)" = "$before" ]; }
background "$TMP/reader.log" "$client" "$TMP/opensm.sock" read
reader=$!
wait_until 20 grep -q 'generation=[1-9]' "$TMP/reader.log" || fail "the plugin has no topology: $(cat "$TMP/reader.log")"
check "a client writes" push timer=110 flags=1
[ "$(settings)" != "$before" ] || fail "nothing is written"
wait_until 20 off || fail "a reader keeps what a client left that has gone"
ok "a reader does not keep what a client left that has gone"
hold as=$other timer=120 lease=1000
[ "$(settings)" != "$before" ] || fail "nothing is written"
wait_until 20 off || fail "a client that has stopped keeps what it wrote"
ok "nor does a client that has stopped"
stop "$HELD" KILL
hold timer=130 lease=600000
sleep 5
[ "$(settings)" != "$before" ] || fail "what a living client wrote is taken off"
ok "one that lives does"
alive "$reader" || fail "the reader has gone: $(cat "$TMP/reader.log")"
stop "$HELD" KILL

# One plan after the other, each of which gives an attribute another value than the one from before: no way back.
guid=$(sim settings -j | jq -r 'first(.rows[] | select(.ca).node_guid)')
# Three Sets each, of which none is free: 60, and one more for each second.
began=$EPOCHSECONDS
for ((n = 0; n < 200; n++)); do
	push "node=$guid" timer=$((200 + n)) flags=1 || break
done
check "a value that was never there is no way back" grep -q 'more than 60 Sets a minute' "$TMP/push.log"
most=$((60 + EPOCHSECONDS - began + 1))
[ $((3 * n)) -le "$most" ] || fail "$((3 * n)) Sets went to one node, not $most"
ok "and counts as any other: $((3 * n)) Sets, of $most"
check "OpenSM lives" alive "$OSM_PID"
