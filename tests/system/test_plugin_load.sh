# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The plugin under load: clients that send plans and read nothing, as many as it takes; sweeps,
# signals, and nodes that come and go while a plan is applied.
. "$(dirname "$0")/lib.sh"

client() { within 60 "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" "$@"; }
master() { client state | grep -q '^MASTER .* nodes=[1-9]'; }
# Of opensm: resident memory in KiB, and connections.
resident() { sed -n 's/^VmRSS:[^0-9]*\([0-9]*\) kB/\1/p' "/proc/$OSM_PID/status"; }
# grown KIB: more than so much since the beginning. A sanitizer keeps what was freed for a while, and so does Valgrind.
grown() { [ -z "$(plugin_preload)$UNDER" ] && [ "$(resident)" -gt $((memory + $1)) ]; }
sockets() { find "/proc/$OSM_PID/fd" -lname 'socket:*' | wc -l; }
pushed() { client push "$@" >"$TMP/push.log"; }

start_sim "$SCENARIO"
# What is asked of it here is more in a minute than a node is given otherwise.
PLUGIN_OPTIONS="ibcc.socket=$TMP/opensm.sock ibcc.sets_per_minute=0" start_opensm --plugin 'sweep_interval 0'
wait_until 10 master || fail "the plugin does not serve"
pushed timer=100 || fail "the first plan: $(cat "$TMP/push.log")"
memory=$(resident)
connections=$(sockets)

# --- queues ---------------------------------------------------------------------------------------
mutes=()
for i in $(seq 15); do
	background "$TMP/mute.$i" "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" plans
	mutes+=($!)
done
stuck() { [ "$(cat "$TMP"/mute.* | grep -c 'plans taken')" = 15 ]; }
wait_until 20 stuck || fail "the plugin takes plans without end: $(cat "$TMP"/mute.*)"
[ "$(cat "$TMP"/mute.* | sort -n | sed -n '1s/ .*//p')" -gt 0 ] || fail "no plan was taken"
ok "a client that never reads can send a limited number of plans"
check "another client is served beside 15 of these" client ports
# The plugin may not have seen yet that the last one has gone.
watching()
{
	: >"$TMP/watch"
	background "$TMP/watch" "$IBCC_BUILD/tests/system/plugin_client" "$TMP/opensm.sock" watch 1000
	wait_until 1 grep -q '^MASTER' "$TMP/watch" && return
	stop $!
	return 1
}
wait_until 10 watching || fail "no place for a sixteenth client"
mutes+=($!)
client state >"$TMP/busy"
equal "a seventeenth is told that it is busy" "$? $(cut -d' ' -f1 "$TMP/busy")" '2 ERROR'
grown 8192 && fail "opensm grew from $memory to $(resident) KiB"
ok "all of them cost opensm less than 8 MiB"
for p in "${mutes[@]}"; do stop "$p"; done
few() { [ "$(sockets)" -le "$connections" ]; }
wait_until 10 few || fail "$(sockets) connections are left, of $connections"
ok "nothing is left of them"
wait_until 10 pushed timer=200 || fail "after the flood: $(cat "$TMP/push.log")"
ok "and plans are applied as before"

# --- sweeps and nodes in the middle of a push -------------------------------------------------------
begun() { [ "$(set_mads)" -gt "$sent" ]; }
begin_push()
{
	sent=$(set_mads)
	client push repeat=50 timer="$1" >"$TMP/slow.log" &
	pusher=$!
	# The plugin has it later than the client has sent it.
	wait_until 20 begun || fail "the push does not begin: $(cat "$TMP/slow.log")"
	alive "$pusher" || fail "the push was too fast: $(cat "$TMP/slow.log")"
}
sweeps() { grep -c 'HEAVY SWEEP\|SUBNET UP' "$OSM_LOG"; }
swept() { [ "$(sweeps)" -gt "$1" ]; }
# So slow that a sweep is over long before the push.
sim set mad_delay_us=30000 || fail "ibcc-sim set"
begin_push 300
n=$(sweeps)
for i in 1 2 3; do kill -HUP "$OSM_PID"; sleep 0.1; done
wait_until 10 swept "$n" || fail "opensm does not sweep"
alive "$pusher" || fail "the push ended before the sweep: $(cat "$TMP/slow.log")"
sim set mad_delay_us=5000
wait "$pusher"
equal "a sweep that changes nothing stops no push" "$? $(grep -c '^verified 1000$' "$TMP/slow.log")" '0 1'

names=$(client ports | sed -n "s/^CA .* '\(.*\)'\$/\1/p")
host() { echo "$names" | sed -n "$1p"; }
hosts=$(client state | sed 's/.* nodes=\([0-9]*\).*/\1/')
whole() { client state | grep -q " nodes=$hosts "; }
for i in 4 5 6; do
	begin_push $((300 + i))
	sim console "Unlink \"$(host $i)\"[1]" >/dev/null
	kill -HUP "$OSM_PID"
	wait "$pusher"
	grep -q '^END .*\(stopped on the way\|(1000 Set)\)' "$TMP/slow.log" ||
		fail "a push while $(host $i) goes: $(cat "$TMP/slow.log")"
	begin_push $((400 + i))
	sim console "ReLink \"$(host $i)\"[1]" >/dev/null
	kill -HUP "$OSM_PID"
	wait "$pusher"
	wait_until 20 whole || fail "$(host $i) does not come back"
done
ok "nodes go and come in the middle of pushes"
sim set mad_delay_us=0
wait_until 20 pushed timer=500 || fail "after all: $(cat "$TMP/push.log")"
ok "the next plan for all nodes is verified"
echo "# resident memory: $memory KiB at first, $(resident) at the end"
grown 16384 && fail "opensm grew from $memory to $(resident) KiB"
ok "opensm has not grown"
kill -TERM "$OSM_PID"
wait "$OSM_PID"
equal "and ends well" "$?" 0
