# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# What a dry run says beforehand: on a fabric that was watched before its server slowed down, a range
# that holds what apply then brings; on one where all senders have been blocked since before the daemon
# looked, that it cannot tell.
. "$(dirname "$0")/lib.sh"

# The Lustre fabric with clients that do not always have something to write: three send 4000 Mb/s
# each to the server that will slow down, a fourth 8000 to the healthy one.
sed '/^traffic:/,$d' "$SCENARIO" >"$TMP/paced.yaml"
cat >>"$TMP/paced.yaml" <<-YAML
	traffic:
	  - {name: write, from: [source1, source2, source3], to: destination1, kind: hot,
	     rate: 4000 Mb/s, arrivals: exponential, queue_packets: 200}
	  - {name: victim, from: source4, to: destination0, kind: victim,
	     rate: 12000 Mb/s, arrivals: exponential, queue_packets: 200}
YAML

# asked COMMAND FILTER [OPTION...]: whether what the answer says is so.
asked() { tune "$1" -j "${@:3}" >"$TMP/$1.json" 2>"$TMP/tune.log" && jq -e "$2" "$TMP/$1.json" >/dev/null; }
status() { asked status "$1"; }
plan() { asked plan "$1"; }
sum() { sim flows -j | jq "[.rows[].mbps] | add | floor"; }

start_sim "$TMP/paced.yaml"
start_opensm --plugin
running() { [ "$(sum)" -gt 20000 ]; }
wait_until 20 running || fail "no traffic"
start_tuned
sees() { status '.fabric.pass > 8 and .roots == 0'; }
wait_until 20 sees || fail "the daemon does not see a fabric at rest"

# --- watched before -------------------------------------------------------------------------------
sim set sink_rate.destination1=5600 >/dev/null || fail "the server does not slow down"
congested() { plan '.roots | length == 1' && plan '.writes > 0'; }
wait_until 60 congested || fail "no plan"
# The plan is kept with what is predicted of it, and that one is applied: each pass makes one of its own.
told()
{
	asked plan '.prediction.known' -o "$TMP/kept" && return
	jq -c '[.prediction.why, .prediction.replay]' "$TMP/plan.json" >>"$TMP/prediction.log"
	return 1
}
# A window may still have the change in it, and says then that loads have moved: each asks for itself.
told_in_words()
{
	tune plan >"$TMP/text" 2>"$TMP/tune.log" &&
		grep -E '^Predicted \(traffic of [0-9]+ (s|min) ago, replay within [0-9]+ %\): .*total [+-]' "$TMP/text" >"$TMP/line"
}
wait_until 30 told_in_words || fail "no prediction in words"
wait_until 30 told || fail "no amounts are told"
ok "$(cat "$TMP/line")"
# The victim's packets queue behind those for the slow server now, and not with the plan.
check "the latency of other traffic falls" jq -e '.prediction | .latency.now_us > 2 * .latency.expected_us and
	.latency.expected_us > 0 and .trades == false' "$TMP/plan.json"
check "in words, too" eval 'tr "\n" " " <"$TMP/text" | grep -qE "other +destinations +take +[0-9.]+ +us +now +and +[0-9.]+ +us"'
# Marks without any delay throttle no sender: nothing changes.
what_if() { tune what-if --set ccti_increase=0 -j >"$TMP/what-if.json" 2>"$TMP/tune.log" && jq -e .prediction.known "$TMP/what-if.json" >/dev/null; }
wait_until 30 what_if || fail "what if: no amounts are told"
jq -c '.prediction | del(.sources)' "$TMP/what-if.json" >"$TMP/what-if.log"
check "what if: no sender is throttled, none gains" jq -e '.set.ccti_increase == 0 and (.prediction | .known and
	.total.low_mbps <= .total.now_mbps and .total.now_mbps <= .total.high_mbps)' "$TMP/what-if.json"
# Tables that hold all senders to next to nothing leave the server idle but for those that recover.
open_in_words()
{
	tune what-if --set table_end=200 >"$TMP/text" 2>"$TMP/tune.log" && grep -qE ' root leaf2 .*port 2 -[0-9]+ to \+2 %' "$TMP/text"
}
wait_until 30 open_in_words || fail "what if: no bounds of a root that is left idle: $(tail -n 3 "$TMP/text")"
ok "what if: a root that is left idle has bounds: $(grep -oE 'root leaf2 .*' "$TMP/text")"
tune what-if --set ccti_timr=1 --set threshold=16 >"$TMP/text" 2>&1
equal "what if: mistakes" $? 1
check "what if: all of them are told" grep -q 'ccti_timr: want one of .*; threshold: want a whole number from 0 to 15' "$TMP/text"
before=$(sum)
equal "a dry run sends no Set" "$(set_mads)" 0
check "the plan that it was told of is applied" tune apply -y "$TMP/kept"
low=$(jq '.prediction.total.low_mbps' "$TMP/plan.json")
high=$(jq '.prediction.total.high_mbps' "$TMP/plan.json")
# By counters, as the prediction is: headers are in it. Mb/s of what all sources send meanwhile.
sent() { sim ports -j | jq -c '[.engine_ns, ([.rows[] | select(.node | test("^source")) | .xmit_bytes] | add)]'; }
rate()
{
	local from=$1 to
	to=$(sent)
	jq -n "$from as \$a | $to as \$b | (\$b[1] - \$a[1]) * 8000 / (\$b[0] - \$a[0]) | floor"
}
holds()
{
	local from now
	from=$(sent)
	sleep 1
	now=$(rate "$from")
	[ "$now" -ge "$low" ] && [ "$now" -le "$high" ] && [ "$(sum)" -gt "$before" ]
}
wait_until 30 holds || fail "what apply brought is not between $low and $high Mb/s"
ok "what apply brought is in the range: $low to $high Mb/s"
# Predicted anew, by the pass before it was written: that it cannot be told may be what that says.
both() { asked history '.transactions[-1] | .prediction != null and .effect.after != null'; }
wait_until 30 both || fail "the history has no prediction beside the effect: $(jq -c '.transactions[-1]' "$TMP/history.json")"
ok "the history has prediction and effect side by side"
counts=$(jq -c '[.transactions[] | select(.prediction.known and .effect.after != null) |
	.prediction.total as $p | .effect.after.total_mbps | . >= $p.low_mbps and . <= $p.high_mbps] |
	{held: map(select(.)) | length, of: length}' "$TMP/history.json")
status . || fail "status"
equal "status counts how often the range held" "$(jq -c '.predictions | {held, of}' "$TMP/status.json")" "$counts"
check "in words, too" eval 'tune history 1 | grep -qE "^(Predicted|Prediction)"'
stop "$TUNED_PID"

# --- too late -------------------------------------------------------------------------------------
check "settings are taken off" tune disable -y
rm -f "$TMP"/state.db*
start_tuned
wait_until 60 congested || fail "no plan for a daemon that came late"
check "a daemon that came late cannot tell" plan '.prediction | .known == false and .victims == null'
# In a pass that sees no root there is something else to say.
late()
{
	tune plan >"$TMP/text" &&
		grep -q "The victims' gain is not predicted: the fabric was already congested when monitoring began" "$TMP/text"
}
wait_until 30 late || fail "a daemon that came late does not say why: $(tail -n 3 "$TMP/text")"
ok "and says so in words"
