# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# MADs get lost at one switch, or it says nothing at all: each port of the fabric is read or named with
# the reason, a deadline ends a pass that would wait for it, and the exit code says so.
. "$(dirname "$0")/lib.sh"

tree 8 2 >"$TMP/tree.yaml"
start_sim "$TMP/tree.yaml"
# The SM is behind the switch that will be silent, and is not to lose the fabric in a sweep.
start_opensm --plugin 'sweep_interval 0'
PORTS=128 # 32 hosts, and 12 switches of 8 ports
SWITCH=s1-0

status_rc() { local rc=0; tune status --detailed-exitcode >"$TMP/status.txt" || rc=$?; echo "$rc"; }
# Every port is fresh, or in the list, once.
complete() { status ".fabric | .ports_fresh + ([.unread[].ports[]] | length) == $PORTS and .ports_stale + .ports_unreachable == ([.unread[].ports[]] | length)"; }
all_fresh() { status ".fabric.ports_fresh == $PORTS and .fabric.unread == []"; }
passes() { jq .fabric.pass "$TMP/status.json"; }
more_passes() { status ".fabric.pass >= $1"; }

# How long a pass takes here depends on what else the machine does. Units (test_collector, test_cycle_deadline) hold it by a clock of
# its own; here passes go on, and the daemon counts those that the deadline ended.
start_tuned 'pass_deadline_ms: 1000' 'retries: 1' 'timeout_ms: 100'
wait_until 20 all_fresh || fail "not all ports are read: $(jq -c .fabric "$TMP/status.json")"
ok "all ports are read"
equal "and the exit code says so" "$(status_rc)" 0

for percent in 5 20 50; do
	sim set mad_loss_permille.$SWITCH=$((percent * 10)) || fail "set"
	status . >/dev/null
	from=$(passes)
	for n in 2 4 6 8 10; do
		wait_until 20 more_passes $((from + n)) || fail "no more passes with $percent % loss"
		complete >/dev/null || fail "ports are missing with $percent % loss: $(jq -c .fabric "$TMP/status.json")"
		jq -e "[.fabric.unread[].node] - [\"$SWITCH\"] == []" "$TMP/status.json" >/dev/null ||
			fail "others than $SWITCH are unread"
	done
	ok "$percent % loss at a switch: every port is read or named, and passes go on"
done

equal "only the switch has MADs without answer" "$(jq -c '[.mads.errors[] | select(.timed_out > 0) | .node]' "$TMP/status.json")" \
	"[\"$SWITCH\"]"
accounts() { jq -e '.mads | [.errors[] | .timed_out] as $t | ($t | add) <= .timed_out and all(.errors[]; .retried + .timed_out + .refused > 0)' "$TMP/status.json"; }
check "accounts of nodes are within the totals" accounts

sim set mad_loss_permille.$SWITCH=1000 mad_timeout_ms=5000 || fail "set"
silent() { status ".fabric.ports_fresh == $PORTS - 8 and ([.fabric.unread[].ports[]] == [1, 2, 3, 4, 5, 6, 7, 8])"; }
wait_until 20 silent || fail "a silent switch is not told: $(jq -c .fabric "$TMP/status.json")"
ok "a silent switch: its ports are named, all others are read"
equal "the reason is said" "$(jq -r '.fabric.unread[0] | "\(.node) \(.state) \(.reason)"' "$TMP/status.json")" \
	"$SWITCH stale no answer"
equal "the exit code tells" "$(status_rc)" 2
grep -q "Not read: *$SWITCH .*ports 1-8: stale, no answer, last read" "$TMP/status.txt" || fail "status: $(cat "$TMP/status.txt")"
ok "and the text does"
# Engine time: the daemon waits for no node. 20 passes of 200 ms, each with a quarter of the deadline at most
# for the silent switch.
status . >/dev/null
from=$(passes)
wait_until 30 more_passes $((from + 20)) || fail "passes do not go on"
ok "passes go on"

start_again() { status '.fabric.ports_unreachable > 0'; }
stop "$TUNED_PID"
# Two attempts take longer than a pass from now on.
start_tuned 'pass_deadline_ms: 1000' 'retries: 1' 'timeout_ms: 400'
wait_until 20 start_again || fail "ports that never answered are not told"
equal "never read: unreachable" "$(jq -r '.fabric.unread[0] | "\(.node) \(.state) \(.ports | length)"' "$TMP/status.json")" \
	"$SWITCH unreachable 8"
sim set mad_loss_permille.$SWITCH=0 mad_timeout_ms=0 || fail "set"
wait_until 30 all_fresh || fail "the switch is not read again: $(jq -c .fabric "$TMP/status.json")"
ok "and when it is back, all is read again"

sim set mad_loss_permille.$SWITCH=1000 mad_timeout_ms=5000 || fail "set"
cut() { status '.fabric.passes_cut > 0'; }
wait_until 20 cut || fail "no pass is ended by its deadline: $(jq -c .fabric "$TMP/status.json")"
complete >/dev/null || fail "ports are missing after a pass that was cut: $(jq -c .fabric "$TMP/status.json")"
ok "a pass that waits for the silent switch is ended by its deadline"
