# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Advice on NVIDIA's congestion control: none where no device has it, to leave it off where there is no
# congestion, a profile where there is, and no Set in any case.
. "$(dirname "$0")/lib.sh"

# Three clients with something to write now and then to a server that will slow down, and a fourth to
# a healthy one; NVIDIA's control is off at all devices.
{
	sed '/^traffic:/,$d' "$SCENARIO"
	cat <<-YAML
		traffic:
		  - {name: write, from: [source1, source2, source3], to: destination1, kind: hot,
		     rate: 4000 Mb/s, arrivals: exponential, queue_packets: 200}
		  - {name: victim, from: source4, to: destination0, kind: victim,
		     rate: 12000 Mb/s, arrivals: exponential, queue_packets: 200}
		devices:
		  hosts: connectx-6
		  switches: quantum2
	YAML
} >"$TMP/hdr.yaml"
sed '/^devices:/,$d' "$TMP/hdr.yaml" >"$TMP/plain.yaml"

advice() { tune advise -j >"$TMP/advise.json" 2>"$TMP/tune.log" && jq -e "$1" "$TMP/advise.json" >/dev/null; }

# --- no device has it -----------------------------------------------------------------------------
start_sim "$TMP/plain.yaml"
start_opensm
write_config 'apply_via: direct'
tune advise >"$TMP/text" 2>&1
equal "no device has it" $? 1
check "and it says what to do" grep -q 'no device reports NVIDIA.*"ibcc-tune plan"' "$TMP/text"
stop "$OSM_PID"
stop "$SIM_PID"

# --- it is off ------------------------------------------------------------------------------------
start_sim "$TMP/hdr.yaml"
start_opensm
start_tuned 'apply_via: direct'
wait_until 30 advice '.advice.code == "no-congestion"' || fail "no advice: $(cat "$TMP/tune.log" "$TMP/advise.json")"
ok "without congestion it stays off"
check "and there is no profile" jq -e '.advice | .on == false and .profile == null and .root == null and .prediction == null' \
	"$TMP/advise.json"
tune advise >"$TMP/text" 2>"$TMP/tune.log" || fail "advise: $(cat "$TMP/tune.log")"
equal "nor parameters that nothing needs" "$(wc -l <"$TMP/text")" 1
sim set sink_rate.destination1=5600 >/dev/null || fail "the server does not slow down"
wait_until 60 advice '.advice.profile != null' || fail "no profile: $(cat "$TMP/tune.log" "$TMP/advise.json")"
jq -c '.advice | del(.prediction)' "$TMP/advise.json" >"$TMP/advise.log"
check "the root is the slow server" jq -e '.advice.root | .node == "leaf2" and .senders >= 1 and .mbps > 3000' "$TMP/advise.json"
check "min < max, 1 to 100 percent, at least p*" jq -e '.advice.profile | .min_bytes < .max_bytes and .percent >= 1 and
	.percent <= 100 and .percent >= 100 * .mark_share * .swing' "$TMP/advise.json"
check "parameters are those of a sender" jq -e '.advice.adapters | (.read_from.node | test("^source")) and
	.rpg_ai_rate == 5 and .dce_tcp_g == 1019' "$TMP/advise.json"
# All packets of a slow receiver's tree wait for credits: what marks bring there is predicted to be a loss, or nothing is.
check "the worse way to mark is shown" jq -e '.advice | (.prediction.known | not) == (.worst == null)' "$TMP/advise.json"
check "the verdict has its reason" jq -e '.advice | .on == (.code == "turn-on") and (.on or (.text | test("^leave it off, because")))' \
	"$TMP/advise.json"
tune advise >"$TMP/text" 2>"$TMP/tune.log" || fail "advise: $(cat "$TMP/tune.log")"
check "in words" grep -qE '^Profile: +mode fixed, min [0-9]+, max [0-9]+ .in bytes., percent [0-9]+' "$TMP/text"
check "with the number of senders" grep -qE '^Marks: .* shared by [0-9]+ senders?\.' "$TMP/text"
# The fabric can have changed between the two answers, so each is held against itself.
if grep -q '^Advice: *leave it off' "$TMP/text"; then
	check "a profile that was only tried is no recommendation" grep -qE '^Profile: .*It (is not recommended|was not tried)' "$TMP/text"
	without "and is not to be tried on the fabric" "$TMP/text" 'try the profile'
	check "what to do instead is said" grep -qE '^Advice: .*; (let|ask|raise|give) ' "$TMP/text"
fi
check "with the adapters' parameters" grep -qE '^Adapters: +as read from source' "$TMP/text"
sim set nvidia_parameters.source1=off nvidia_parameters.source2=off nvidia_parameters.source3=off \
	nvidia_parameters.source4=off >/dev/null || fail "parameters"
wait_until 30 advice '.advice.profile != null and .advice.adapters.read_from == null' ||
	fail "no factory values: $(cat "$TMP/tune.log" "$TMP/advise.json")"
ok "without an answer they are the factory values"

# --- it is on -------------------------------------------------------------------------------------
for node in leaf1 leaf2 source1 source2 source3 source4 destination0 destination1; do
	sim set "nvidia_cc.$node=on" >/dev/null || fail "nvidia_cc"
done
stop "$TUNED_PID"
start_tuned 'apply_via: direct'
wait_until 60 advice '.advice.code == "not-tried" and (.advice.text | test("^it is on already"))' ||
	fail "on: $(cat "$TMP/tune.log" "$TMP/advise.json")"
ok "where it is on, nothing is predicted"
equal "no Set in any case" "$(set_mads)" 0
