# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Foreign settings throttle adapters though nothing is congested: stock ibccconfig gives two
# of them CCTI_Min and a table with an entry of 4999 packet times. Status is degraded, and names the
# bound and what to do; disable does it.
. "$(dirname "$0")/lib.sh"

lid() { sim settings -j | jq ".rows[] | select(.node == \"$1\").lid"; }
flow() { sim stats -j | jq '[.flows[] | select(.from == "source4").mbps] | add'; }

cat >"$TMP/quiet.yaml" <<'EOF' || exit 1
name: quiet
duration_ms: 1000
topology:
  rate: 4x QDR
  nodes:
    - {host: [source1, source2, sink1, sink2]}
    - {switch: leaf, ports: 8}
  links:
    - [source1, leaf/1]
    - [source2, leaf/2]
    - [sink1, leaf/3]
    - [sink2, leaf/4]
traffic:
  - {from: source1, to: sink1, load_percent: 50}
  - {from: source2, to: sink2, load_percent: 50}
EOF
start_sim "$TMP/quiet.yaml" --speed 0.02
start_opensm --plugin
start_tuned
wait_until 40 status '.state == "ok" and .fabric.pass > 2' || fail "the daemon is not ready: $(cat "$TMP/status.json")"
equal "no adapter is throttled" "$(jq -c .held_back "$TMP/status.json")" '{"endports":0,"text":null}'

for node in source1 source2; do
	check "$node gets a table" stock ibccconfig CongestionControlTable "$(lid $node)" 3 0 0:0 0:1 0:2 0:4999
	check "and CCTI_Min" stock ibccconfig CACongestionSetting "$(lid $node)" 0 0xffff 150 1 0 3
done
wait_until 40 status '.state == "degraded" and (.reason | test("0.8 of 4000 MB/s.*CCTI_Min.*2 adapters in total.*ibcc-tune disable"))' ||
	fail "status does not say it: $(jq -c '[.state, .reason, .held_back]' "$TMP/status.json")"
ok "status: $(jq -r .reason "$TMP/status.json")"
equal "both are counted" "$(jq .held_back.endports "$TMP/status.json")" 2
rc=0
tune status --detailed-exitcode >"$TMP/text" 2>&1 || rc=$?
equal "its detailed exit status" "$rc" 2
grep -q '^Throttled: *source[12] port 1 cannot send faster than 0.8 of 4000 MB/s' "$TMP/text" || fail "status: $(cat "$TMP/text")"
ok "a person reads it, too"
grep -q 'cannot send faster than 0.8 of 4000 MB/s' "$TMP/tuned.log" || fail "the log does not say it"
ok "the log says it"

check "what it advises" tune disable -y
wait_until 40 status '.held_back.endports == 0 and .state == "ok"' ||
	fail "they are still held back: $(jq -c '[.state, .reason, .held_back]' "$TMP/status.json")"
ok "takes the settings off"
