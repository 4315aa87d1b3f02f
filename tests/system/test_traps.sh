# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Without the plugin: the fabric is discovered once, and again when the subnet manager tells of a change,
# not by the clock. The simulator counts the SMPs.
. "$(dirname "$0")/lib.sh"

two_switches 3 4 >"$TMP/net"
start_sim "$TMP/net"
start_opensm 'sweep_interval 0'
start_tuned 'apply_via: direct'

told() { jq -c '[.state, .reason, .fabric.links, .traps, .mads.smps]' "$TMP/status.json"; }
# Requests of a class, method and attribute that the fabric has seen.
mads() { sim stats -j | jq "[.rows[] | select(.class == \"$1\" and (\"$2\" == \"\" or .method == \"$2\") and (\"$3\" == \"\" or .attr == \"$3\")) | .count] | add // 0"; }
smps() { echo $(($(mads 0x81 '' '') + $(mads 0x01 '' ''))); }

wait_until 20 status '.state == "ok" and .fabric.links == 6 and .traps.subscribed' ||
	fail "the daemon does not get going: $(told)"
equal "subscribed to traps 64, 65, 128 and 144" "$(mads 0x03 0x02 0x0003)" 4
equal "one discovery" "$(jq .discoveries "$TMP/status.json")" 1

# Nothing changes.
before=$(smps)
passes() { status ".fabric.pass >= $1"; }
wait_until 20 passes $(($(jq .fabric.pass "$TMP/status.json") + 10)) || fail "no passes"
equal "ten passes later no SMP more" "$(smps)" "$before"
equal "nor by the daemon's own count" "$(jq .discoveries "$TMP/status.json")" 1

# A link goes down and comes back.
console() { sim console "$1" >"$TMP/console.txt" || fail "console: $1"; }
console 'Unlink "S1"[3]'
wait_until 20 status '.fabric.links == 5 and .state == "ok"' || fail "a link that is down is not noticed: $(told)"
ok "a link that goes down is seen: $(told)"
[ "$(jq .traps.received "$TMP/status.json")" -gt 0 ] || fail "without a trap: $(told)"
[ "$(mads 0x03 0x06 0x0002)" -gt 0 ] || fail "no report went by"
silent "OpenSM misses no answer to its reports" \
	awk '/ERR|timeout/ && tolower($0) ~ /report|0x6|notice/; END { exit NR == 0 }' "$OSM_LOG"
ok "by reports of traps, which are answered"
console 'ReLink "S1"[3]'
wait_until 20 status '.fabric.links == 6 and .state == "ok"' || fail "a link that is back is not noticed: $(told)"
ok "and when it is back: $(told)"

# Its own: then nothing can tell it anything, and it looks by itself whether the link is back.
console 'Unlink "H1"[1]'
wait_until 30 status '.state == "degraded" and (.reason | test("the local port is down .Polling.: it has no link"))' ||
	fail "a port that has no link is not noticed: $(told)"
console 'ReLink "H1"[1]'
kill -HUP "$OSM_PID"
wait_until 30 status '.fabric.links == 6 and .state == "ok"' || fail "its own link that is back is not noticed: $(told)"
ok "its own port's link goes and comes back: $(told)"

# So does a daemon that begins meanwhile. It finds no port that it could open, and needs no other start when there is one.
stop "$TUNED_PID"
console 'Unlink "H1"[1]'
start_tuned 'apply_via: direct'
no_link='.state == "degraded" and (.reason | startswith("no InfiniBand port of this host has a link"))'
wait_until 20 status "$no_link" || fail "it finds a port without a link: $(told)"
ok "a daemon that begins without a link says so"
pid=$(jq .pid "$TMP/status.json")
console 'ReLink "H1"[1]'
kill -HUP "$OSM_PID"
linked() { stock ibstat | grep -q 'Physical state: LinkUp'; }
wait_until 20 linked || fail "the link is not back: $(stock ibstat)"
equal "libumad2sim does not change the port's file of a program that runs" "$(cat "$(port_file state)")" '1: DOWN'
kernel_sees_link
wait_until 30 status '.fabric.links == 6 and .state == "ok"' || fail "it does not notice its link: $(told)"
equal "and works as soon as the port's file says that the link is back" "$(jq .pid "$TMP/status.json")" "$pid"
wait_until 30 status '.traps.subscribed' || fail "it does not subscribe: $(told)"

# A subnet manager that was restarted has no subscriptions, and what has changed
# meanwhile no trap reports.
kill -KILL "$OSM_PID"
wait "$OSM_PID" 2>/dev/null
console 'Unlink "S1"[3]'
start_opensm 'sweep_interval 0'
wait_until 60 status '.fabric.links == 5' || fail "a change without a subnet manager is not noticed: $(told)"
ok "what changed while there was no subnet manager is seen: $(told)"

# When it ends it subscribes no longer.
wait_until 60 status '.traps.subscribed' || fail "it does not subscribe with the new one: $(told)"
before=$(mads 0x03 0x02 0x0003)
stop "$TUNED_PID"
[ "$(mads 0x03 0x02 0x0003)" -ge $((before + 4)) ] || fail "four subscriptions are not taken back"
ok "four subscriptions are taken back"
console 'ReLink "S1"[3]'

# A link that the subnet manager has not brought up yet is looked at until it has, though no trap comes.
lid=$(stock ibswitches | sed -n 's/.*"S2".* lid \([0-9]*\) .*/\1/p')
# OpenSM makes the link back active when it has set the routes; before that nothing reaches the other switch by its LID.
link_is_active() { stock smpquery portinfo "$lid" 3 | grep -q 'LinkState:\.*Active'; }
wait_until 20 link_is_active || fail "the link does not come back: $(stock smpquery portinfo "$lid" 3)"
kill -STOP "$OSM_PID"
stock ibportstate "$lid" 4 down >"$TMP/console.txt" 2>&1 || fail "ibportstate: $(cat "$TMP/console.txt")"
start_tuned 'apply_via: direct'
fresh() { status ".fabric.links == 6 and .fabric.ports_fresh == $1"; }
not_all() { status ".fabric.links == 6 and .fabric.ports_fresh > 0 and .fabric.ports_fresh < 12"; }
wait_until 30 not_all || fail "the link is not down: $(told) $(jq -c .fabric "$TMP/status.json")"
kill -CONT "$OSM_PID"
kill -HUP "$OSM_PID"
wait_until 30 fresh 12 || fail "a link that was brought up is not noticed: $(told) $(jq .fabric.ports_fresh "$TMP/status.json")"
ok "a link is read as soon as it is up"
stop "$TUNED_PID"

# With the plugin OpenSM tells, and one that is started anew is waited for.
stop "$OSM_PID"
start_opensm --plugin 'sweep_interval 0'
start_tuned
wait_until 20 status '.state == "ok" and .fabric.source == "plugin" and .traps == null' ||
	fail "the daemon does not get going with the plugin: $(told)"
kill -KILL "$OSM_PID"
wait "$OSM_PID" 2>/dev/null
wait_until 10 status '.sm == null' || fail "a dead OpenSM is not noticed: $(told)"
wait_until 20 passes $(($(jq .fabric.pass "$TMP/status.json") + 10)) || fail "no passes without OpenSM: $(told)"
status '.discoveries == 0 and .fabric.source == "plugin" and .fabric.links == 6' ||
	fail "a plugin that is absent for a moment: $(jq -c '[.discoveries, .fabric]' "$TMP/status.json")"
ok "ten passes without the plugin: the fabric is what it was, and not discovered"
start_opensm --plugin 'sweep_interval 0'
wait_until 20 status '.state == "ok" and .sm != null' || fail "the plugin is not found again: $(told)"
console 'Unlink "S1"[4]'
wait_until 20 status '.fabric.links == 5' || fail "OpenSM does not tell: $(told)"
equal "the plugin tells of a link that is down" "$(jq .discoveries "$TMP/status.json")" 0
