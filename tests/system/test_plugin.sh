# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# The plugin in stock opensm: what it serves is what stock tools see, and nothing that a client, an
# option or a file does keeps opensm from its work.
. "$(dirname "$0")/lib.sh"

client_at() { within 30 "$IBCC_BUILD/tests/system/plugin_client" "$@"; }
client() { client_at "$TMP/opensm.sock" "$@"; }
log_has() { grep -q -- "$1" "$OSM_LOG"; }
generation() { client state | sed 's/.*generation=\([0-9]*\).*/\1/'; }
master() { client state | grep -q '^MASTER.* nodes=[1-9]'; }
served() { wait_until 10 master || fail "the plugin does not serve a topology"; }
sweeps() { grep -c 'SUBNET UP' "$OSM_LOG"; }

two_switches 7 8 >"$TMP/net"
start_sim "$TMP/net"

# --- what is served -------------------------------------------------------------------------------
console=$((20000 + RANDOM % 10000))
start_opensm --plugin 'routing_engine file,minhop' "lfts_file $TMP/lfts" 'console loopback' \
	"console_port $console"
served
log_has 'ibcc_opensm: version' || fail "no word of the plugin in opensm's log"
ok "stock opensm loads the plugin"
equal "permissions of the socket" "$(stat -c %a "$TMP/opensm.sock")" 660
equal "state of the SM" "$(client state | sed 's/ generation.*//')" 'MASTER own_cc=0'

# CA 1 1 0x... 4x QDR - SW 2 1 0x...: ports, LIDs, GUIDs, rates and peers of both ends.
stock ibnetdiscover -p >"$TMP/discover" 2>/dev/null || fail "ibnetdiscover -p"
awk '$7 == "-" { mbps["SDR"] = 2000; mbps["DDR"] = 4000; mbps["QDR"] = 8000; mbps["EDR"] = 25000
	print $1, $2, $3, $4, mbps[$6] * $5, $8, $9, $10 }' "$TMP/discover" | sort >"$TMP/want"
client ports | awk '{ print $1, $2, $3, $4, $5, $10, $11, $12 }' | sort >"$TMP/got"
[ -s "$TMP/want" ] || fail "ibnetdiscover -p shows nothing"
same "links are as ibnetdiscover sees them" "$TMP/want" "$TMP/got"

# lfts_agree TEXT: the plugin's forwarding tables are those in the switches.
lfts_agree()
{
	local lid dlid port
	for lid in $(awk '$1 == "SW" { print $2 }' "$TMP/discover" | sort -un); do
		stock ibroute "$lid" >"$TMP/route" 2>/dev/null || fail "ibroute $lid"
		sed -n 's/^0x\([0-9a-f]*\) \([0-9]*\) :.*/\1 \2/p' "$TMP/route" |
			while read -r dlid port; do echo "$lid $((0x$dlid)) $((10#$port))"; done
	done | sort >"$TMP/want"
	client lft | sort >"$TMP/got"
	[ -s "$TMP/want" ] || fail "ibroute shows nothing"
	same "$1" "$TMP/want" "$TMP/got"
}
lfts_agree "forwarding tables are as ibroute sees them"

# --- changes --------------------------------------------------------------------------------------
before=$(generation)
n=$(sweeps)
kill -HUP "$OSM_PID"
another_sweep() { [ "$(sweeps)" -gt "$n" ]; }
wait_until 20 another_sweep || fail "no sweep after SIGHUP"
sleep 0.5
equal "a sweep that changes nothing keeps the generation" "$(generation)" "$before"

# Both cables between the switches change places: a reroute has no sweep and no SUBNET UP.
client lft | while read -r sw lid port; do
	[ "$sw" = "${last:-}" ] ||
		echo "Unicast lids of guid $(client ports | awk -v s="$sw" '$1 == "SW" && $2 == s { print $4; exit }') ()"
	last=$sw
	case $port in 7) port=8 ;; 8) port=7 ;; esac
	printf '0x%04x %03d :\n' "$lid" "$port"
done >"$TMP/lfts"
other_generation() { [ "$(generation)" != "$before" ]; }
n=$(sweeps)
client lft >"$TMP/lft.before"
{ echo reroute; sleep 1; echo quit; } >/dev/tcp/127.0.0.1/"$console" || fail "opensm's console"
wait_until 20 other_generation || fail "the generation stays after a reroute"
equal "a reroute changes the generation without a sweep" "$(sweeps)" "$n"
client lft >"$TMP/lft.after"
differ "the tables are not the old ones" "$TMP/lft.before" "$TMP/lft.after"
sleep 0.5
lfts_agree "after the reroute, too"
before=$(generation)

# A link down; watch reads what comes unasked.
client watch 1 >"$TMP/watch" &
watcher=$!
switch=$(awk '$1 == "SW" && $8 == "CA" { print $2, $3; exit }' "$TMP/discover")
name=$(client ports | awk -v s="$switch" '$1 == "SW" && $2 " " $3 == s { gsub("\047", "", $NF); print $NF }')
sim console "Unlink \"$name\"[${switch#* }]" >/dev/null || fail "console Unlink"
wait_until 20 other_generation || fail "the generation stays after a link went down"
wait "$watcher" || fail "no STATE came unasked"
equal "clients hear of a new generation" "$(tail -n 1 "$TMP/watch" | sed 's/.*generation=\([0-9]*\).*/\1/')" "$(generation)"
nodes=$(client state | sed 's/.*nodes=\([0-9]*\).*/\1/')
sim console "ReLink \"$name\"[${switch#* }]" >/dev/null || fail "console ReLink"
all_nodes() { client state | grep -q "nodes=$((nodes + 1)) "; }
wait_until 20 all_nodes || fail "the node does not come back"
ok "links down and up change the topology"

# --- bad manners ----------------------------------------------------------------------------------
for how in garbage half version crowd; do
	client "$how" >"$TMP/how.log"
	equal "$how is answered by ERROR" "$? $(cut -d' ' -f1 "$TMP/how.log")" '2 ERROR'
done
client flood >/dev/null
client flood >/dev/null
mutes=()
for i in 1 2 3; do
	client mute >"$TMP/mute.$i" &
	mutes+=($!)
done
wait_until 10 grep -q taken "$TMP/mute.1" "$TMP/mute.2" "$TMP/mute.3" || fail "mute clients"
check "others are served while some never read" client ports
n=$(sweeps)
kill -HUP "$OSM_PID"
wait_until 20 another_sweep || fail "opensm does not sweep while clients never read"
ok "opensm sweeps while clients never read"
for p in "${mutes[@]}"; do kill -KILL "$p" 2>/dev/null; wait "$p" 2>/dev/null; done
files() { ls /proc/"$OSM_PID"/fd | wc -l; }
client state >/dev/null
few_files() { [ "$(find /proc/"$OSM_PID"/fd -lname 'socket:*' | wc -l)" -le "$sockets" ]; }
sockets=$(find /proc/"$OSM_PID"/fd -lname 'socket:*' | wc -l)
for i in $(seq 50); do client state >/dev/null || fail "client $i of 50"; done
wait_until 5 few_files || fail "descriptors of clients that went stay open"
ok "clients that went leave nothing behind"
alive "$OSM_PID" || fail "opensm has gone"

# --- the socket file ------------------------------------------------------------------------------
rm "$TMP/opensm.sock"
wait_until 20 master || fail "the socket does not come back after it was removed"
ok "a removed socket file comes back"
stop "$OSM_PID" KILL
[ -S "$TMP/opensm.sock" ] || fail "a killed opensm's socket file has gone by itself?"
start_opensm --plugin
served
ok "a killed opensm's socket file is replaced"
stop "$OSM_PID"
[ ! -e "$TMP/opensm.sock" ] || fail "the socket file stays after SIGTERM"
grep -q 'Exiting SM' "$OSM_LOG" || fail "opensm did not end by itself on SIGTERM"
ok "SIGTERM ends opensm and removes the socket file"

# --- options --------------------------------------------------------------------------------------
PLUGIN_OPTIONS="otherplugin --x ibcc.socket=$TMP/opensm.sock ibcc.window=0 ibcc.nonsense=1 ibcc.retries" \
	start_opensm --plugin
served
equal "bad options are told, and defaults used" "$(grep -c 'ERR IC01' "$OSM_LOG")" 3
stop "$OSM_PID"
for options in ibcc.socket=relative ibcc.group=no-such-group ibcc.mode=9; do
	PLUGIN_OPTIONS="$options ibcc.socket=$TMP/opensm.sock" start_opensm --plugin
	log_has 'ERR IC02' || fail "$options is not told"
	[ ! -e "$TMP/opensm.sock" ] || fail "$options opens a socket"
	ok "$options: no socket, and opensm reaches SUBNET UP"
	stop "$OSM_PID"
done
PLUGIN_OPTIONS="ibcc.socket=$TMP/no/such/place/sock" start_opensm --plugin
wait_until 5 log_has 'ERR IC04' || fail "an impossible place is not told"
ok "a socket path that cannot be: opensm reaches SUBNET UP"
stop "$OSM_PID"
echo 'not a socket' >"$TMP/opensm.sock"
start_opensm --plugin --no-wait 'log_flags 0xff'
wait_until 5 log_has 'ERR IC04' || fail "a file at the socket's place is not told"
equal "a file at the socket's place is left alone" "$(cat "$TMP/opensm.sock")" 'not a socket'
rm "$TMP/opensm.sock"
wait_until 20 master || fail "no socket after its place became free"
ok "the socket is opened when its place becomes free"
wait_until 5 log_has "nodes copied with OpenSM's lock for reading held for [0-9]* us" || fail "no word of the lock"
ok "at debug it is told for how long OpenSM's lock was held"
