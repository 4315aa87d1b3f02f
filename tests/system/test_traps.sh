# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Without the plugin: the fabric is discovered once, and again when the subnet manager tells of a change,
# not by the clock. The simulator counts the SMPs.
. "$(dirname "$0")/lib.sh"

two_switches 3 4 >"$TMP/net"
start_sim "$TMP/net"
start_opensm 'sweep_interval 0'
start_tuned 'apply_via: direct' 'clock: host'

status() { tune status -j >"$TMP/status.json" && jq -e "$1" "$TMP/status.json"; }
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
grep -E 'ERR|timeout' "$OSM_LOG" | grep -i 'report\|0x6\|notice' && fail "OpenSM misses answers to its reports"
ok "by reports of traps, which are answered"
console 'ReLink "S1"[3]'
wait_until 20 status '.fabric.links == 6 and .state == "ok"' || fail "a link that is back is not noticed: $(told)"
ok "and when it is back: $(told)"

# When it ends it subscribes no longer.
stop "$TUNED_PID"
equal "four subscriptions are taken back" "$(mads 0x03 0x02 0x0003)" 8
