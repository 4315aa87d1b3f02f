#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ibcc-bench and ibcc-lab as scripts use them: JSON, exit codes, sweeps that are killed, shards by the sbatch script.
. "$(dirname "$0")/lib.sh"
bench=$IBCC_BUILD/ibcc-bench
lab=$IBCC_BUILD/ibcc-lab
llnl=$top/perftest/scenarios/llnl.yaml

# exits WANT COMMAND...: the exit code; output in $TMP/out and $TMP/err.
exits()
{
	local want=$1 rc=0
	shift
	timeout 100 "$@" >"$TMP/out" 2>"$TMP/err" || rc=$?
	equal "${1##*/} ${*:2:2} ends with $want" "$rc" "$want"
}

exits 0 "$bench" list -j
check "all experiments are listed" jq -e '[.experiments[].name] | contains(["lustre", "zrl-corners",
	"zrl-128", "zrl-output", "zrl-limit", "zrl-rank", "ooo-anchor", "ooo-collision", "ooo-endpoint", "ooo-cc", "ooo-table"])' "$TMP/out"

exits 0 "$bench" run lustre -j --short --plot "$TMP/plot.svg"
check "the JSON has the contract's keys" jq -e '.schema == 1 and .experiment == "lustre" and .ok
	and (.rows | length > 0) and ([.rows[] | has("name", "unit", "published", "measured", "low",
	"high", "ok")] | all) and (.engine | has("packet_hops", "cpu_s", "wall_s", "simulated_s"))' \
	"$TMP/out"
check "the plot is an SVG" grep -q '</svg>' "$TMP/plot.svg"
exits 1 "$bench" run lustre --short --set 'events.0.rate=1 GB/s'
check "a row out of its bounds is told" grep -q 'NOT OK' "$TMP/out"
exits 1 "$bench" run no-such-experiment
# A copy that is on its own finds none of its experiments, and must say so.
mkdir -p "$TMP/alone/a/b/c"
cp "$bench" "$TMP/alone/a/b/c"
for command in 'run --all' 'run lustre' 'tune --all' list; do
	# shellcheck disable=SC2086 # a command and its option
	exits 1 "$TMP/alone/a/b/c/ibcc-bench" $command
	check "$command: it says where it looks" grep -q 'found no experiments and scenarios' "$TMP/err"
done
exits 1 "$lab" speed no-such-load
check "the loads that there are are told" grep -q 'no load "no-such-load"; there are uniform-128, ' "$TMP/err"
exits 1 "$lab" predict --probe x
check "a wrong value is told by the program's own name" grep -qx 'ibcc-lab: --probe: got "x", want becns or logs' "$TMP/err"
exits 1 "$lab" predict --hosts 649
check "a wrong size of a tree is refused with those that there are" grep -qx 'ibcc-lab: --hosts: got "649", want 128, 648, 1152 or 3456' "$TMP/err"
exits 1 "$bench" sweep
check "ibcc-bench has no command of ibcc-lab" grep -qx "ibcc-bench: unknown command 'sweep'" "$TMP/err"
equal "a command tells its usage" "$("$lab" speed --help | grep -c '^Usage: ibcc-lab speed ')" 1
for p in ibcc-bench ibcc-lab ibcc-perf; do
	equal "$p tells its version" "$("$IBCC_BUILD/$p" --version)" "$("$IBCC_BUILD/ibcc-sim" --version | sed "s/^ibcc-sim/$p/")"
done
exits 78 "$bench" run lustre --set model.buffer_bytes=1 --set model.vls=99
equal "errors of --set name it" "$(grep -c '^--set model\.' "$TMP/err")" 2

# What is measured on this machine's clock has no bounds that a test could hold it to, but a form.
exits 0 "$bench" run iwarp-latency -j --short --set messages=3
check "rows with real octets have reasons in place of published numbers" jq -e '(.limits | length == 2) and
	([.rows[] | .published == null and .measured > 0 and (.reason | length > 0)] | all)' "$TMP/out"
exits 0 "$bench" run iwarp-latency --short --set messages=3
equal "the limits are printed" "$(grep -c '^LIMIT: ' "$TMP/out")" 2
exits 78 "$bench" run iwarp-latency --short --set subjects.based.markers=7
check "a mistake in an assignment names it" grep -q '^--set mpa.subjects.based.markers=7: ' "$TMP/err"

exits 0 "$bench" scenario "$llnl" -j --csv "$TMP/s.csv" --plot "$TMP/s.svg"
check "flows and ports are in the JSON" jq -e '(.flows | length == 4) and (.ports | length == 14)
	and .summary.victim_mbps > 0' "$TMP/out"
equal "the CSV has a head" "$(head -n 1 "$TMP/s.csv")" from_ms,to_ms,scope,name,metric,value
cat >"$TMP/messages.yaml" <<'YAML'
name: messages
duration_ms: 0.2
measure_from_ms: 0.1
topology:
  rate: 4x QDR
  nodes: [{host: [a, b]}, {switch: s, ports: 2}]
  links: [[a, s/1], [b, s/2]]
traffic:
  - {name: m, from: a, to: b, message_bytes: 65536}
  - {name: p, from: b, to: a, load_percent: 10}
YAML
exits 0 "$bench" scenario "$TMP/messages.yaml" -j --csv "$TMP/m.csv"
check "a flow has the latency of its messages, if it has messages" jq -e '.flows | (.[0] | .messages > 1 and
	.message_us.mean > .latency_us and .message_us.p50 <= .message_us.p99) and (.[1] | has("message_us") | not)' "$TMP/out"
equal "so has the CSV" "$(cut -d , -f 4,5 "$TMP/m.csv" | grep message | sort -u | tr '\n' ' ')" \
	"m,message_p50_us m,message_p99_us m,message_us m,messages "
exits 0 "$bench" scenario "$TMP/messages.yaml"
check "and the table" grep -q '^FLOW .* MESSAGE us  *P99$' "$TMP/out"
ln -s /dev/null "$TMP/null"
exits 0 "$bench" scenario "$llnl" --csv "$TMP/null"
check "a CSV for a device does not take its place" test -L "$TMP/null"
check "the CSV has six fields in each line" awk -F, 'NF != 6 { exit 1 }' "$TMP/s.csv"
printf 'name: x\nduration_ms: -1\nfoo: 1\n' >"$TMP/bad.yaml"
exits 78 "$bench" scenario "$TMP/bad.yaml"
check "each error has its place" grep -q "^$TMP/bad.yaml:3:1: foo: unknown key" "$TMP/err"
check "the other, too" grep -q "^$TMP/bad.yaml:2:14: duration_ms: got" "$TMP/err"

cat >"$TMP/ring.yaml" <<'YAML'
name: ring
duration_ms: 20
topology:
  nodes:
    - {host: [a, b, c, d, e, f, g, h]}
    - {switch: [s1, s2, s3, s4], ports: 4}
  links: [[a, s1/1], [b, s2/1], [c, s3/1], [d, s4/1], [e, s1/4], [f, s2/4], [g, s3/4], [h, s4/4],
    [s1/3, s2/2], [s2/3, s3/2], [s3/3, s4/2], [s4/3, s1/2]]
model: {routing: random, buffer_bytes: 4224}
traffic: [{from: [a, e], to: [c, g]}, {from: [c, g], to: [a, e]}, {from: [b, f], to: [d, h]},
  {from: [d, h], to: [b, f]}]
YAML
exits 1 "$bench" scenario "$TMP/ring.yaml" -j
check "a deadlock is reported with all ports in it" grep -qE "^$TMP/ring.yaml: deadlock at [0-9.]+ ms: s1 \
port ([23])( waits for s[234] port \\1){3} waits for s1 port \\1\\. .* no result\\. Use routes without a circle: " "$TMP/err"
silent "and is no result" cat "$TMP/out"
exits 1 "$lab" sweep "$TMP/ring.yaml" --grid model.buffer_bytes=4224,4288 --out "$TMP/ring.jsonl"
check "a sweep names it, too" grep -q "^$TMP/ring.yaml: deadlock at " "$TMP/err"
exits 0 "$bench" scenario "$TMP/ring.yaml" --set model.routing=static -j

grid=(--jobs 1 --set congestion_control.enabled=true --set duration_ms=60
	--grid 'congestion_control.ca.ccti_timer=2,3,4,6,8'
	--grid 'congestion_control.ca.ccti_increase=1,2,3,4,5,6,7,8')

# The results without what differs from run to run.
points() { jq -cS 'del(.cpu_s)' "$@" | sort; }

exits 0 "$lab" sweep "$llnl" "${grid[@]}" --out "$TMP/whole.jsonl"
equal "a sweep has all points" "$(wc -l <"$TMP/whole.jsonl")" 40
points "$TMP/whole.jsonl" >"$TMP/want"

lines() { cat "$@" 2>/dev/null | wc -l; }

# Killed after a few points more, until it once ran through.
kills=0
for i in $(seq 60); do
	until=$(($(lines "$TMP/killed.jsonl") + RANDOM % 6 + 1))
	"$lab" sweep "$llnl" "${grid[@]}" --out "$TMP/killed.jsonl" 2>/dev/null &
	pid=$!
	while kill -0 $pid 2>/dev/null && [ "$(lines "$TMP/killed.jsonl")" -lt $until ]; do
		sleep 0.01
	done
	if kill -KILL $pid 2>/dev/null; then
		kills=$((kills + 1))
	fi
	wait $pid 2>/dev/null && break
done
exits 0 "$lab" sweep "$llnl" "${grid[@]}" --out "$TMP/killed.jsonl"
[ "$kills" -gt 0 ] || fail "no sweep was killed"
points "$TMP/killed.jsonl" >"$TMP/got"
same "a sweep killed $kills times has the same points once" "$TMP/want" "$TMP/got"

for i in 1 2 3; do
	check "the sbatch script runs shard $i" env SLURM_ARRAY_TASK_ID=$i \
		SLURM_ARRAY_TASK_COUNT=3 SWEEP_DIR="$TMP" IBCC_LAB="$lab" \
		sh "$top/perftest/lab/sweep.sbatch" "$llnl" "${grid[@]}"
done
points "$TMP"/sweep-?-of-3.jsonl >"$TMP/got"
same "all shards have all points once" "$TMP/want" "$TMP/got"

exits 0 "$lab" best -j -n 3 --by aggregate_mbps "$TMP"/sweep-?-of-3.jsonl "$TMP/whole.jsonl"
equal "the best is the best" "$(jq '.best[0].result.aggregate_mbps' "$TMP/out")" \
	"$(jq -s 'map(.result.aggregate_mbps) | max' "$TMP/whole.jsonl")"
check "and no point is told twice" jq -e '.best | length == 3 and (map(.point) | unique | length == 3)' \
	"$TMP/out"
exits 78 "$lab" sweep "$llnl" --grid model.buffer_bytes=65536 --out "$TMP/whole.jsonl"
exits 78 "$lab" sweep "$llnl" --grid model.buffer_bytes=65536,1

# A fit of a few draws, of which each is held against what `run` makes of it.
mkdir -p "$TMP/lab/fits"
sed "s|^experiment: |&$top/perftest/experiments/|; s/^draws: .*/draws: 8/" \
	"$top/perftest/lab/fits/lustre.yaml" >"$TMP/lab/fits/few.yaml"
echo 'set: [duration_ms=8, measure_from_ms=2]' >>"$TMP/lab/fits/few.yaml"
few=(--fit "$TMP/lab/fits/few.yaml")
exits 0 "$lab" sweep "${few[@]}" --jobs 1 --out "$TMP/one.jsonl"
exits 0 "$lab" sweep "${few[@]}" --jobs 3 --out "$TMP/three.jsonl"
points "$TMP/one.jsonl" >"$TMP/want"
points "$TMP/three.jsonl" >"$TMP/got"
same "a fit draws the same in any number of jobs" "$TMP/want" "$TMP/got"
for i in 1 2 3; do
	exits 0 "$lab" sweep "${few[@]}" --shard $i/3 --out "$TMP/fit-$i.jsonl"
done
points "$TMP"/fit-?.jsonl >"$TMP/got"
same "and in any number of shards" "$TMP/want" "$TMP/got"
head -n 3 "$TMP/one.jsonl" >"$TMP/killed-fit.jsonl"
exits 0 "$lab" sweep "${few[@]}" --out "$TMP/killed-fit.jsonl"
points "$TMP/killed-fit.jsonl" >"$TMP/got"
same "and goes on where it was" "$TMP/want" "$TMP/got"
exits 0 "$lab" sweep "${few[@]}" --as-is --out "$TMP/as-is.jsonl"
equal "the scenario as it is has one result" "$(jq -c .point "$TMP/as-is.jsonl")" '{}'
exits 0 "$lab" best -j -n 8 --given "$TMP/as-is.jsonl" "$TMP/three.jsonl"
cp "$TMP/out" "$TMP/best.json"
check "the least miss is the best" jq -e '.by == "miss" and .points == 8 and (.best | length == 8) and
	([.best[].result.miss] | . == sort) and .median == .best[3]' "$TMP/best.json"
check "what was given has its rank" jq -e '.given[0] as $g | $g.rank == 1 + ([.best[] |
	select(.result.miss < $g.result.miss)] | length)' "$TMP/best.json"
mapfile -t set <<<"$(jq -r '.best[0].point | to_entries[] | .value as $v | .key / "+" | .[] | "--set\n\(.)=\($v)"' "$TMP/best.json")"
"$bench" run lustre -j --short --set duration_ms=8 --set measure_from_ms=2 "${set[@]}" >"$TMP/out" || :
check "the best misses by what run makes of it" jq -e --slurpfile b "$TMP/best.json" '$b[0].best[0].result as $r |
	[.rows[] | select($r[.name]) | (.measured - $r[.name]) as $d | select($d < 1e-6 and $d > -1e-6) |
	(.measured - .published) / (if .measured > .published then .high else .low end - .published)] |
	length == 3 and ((max - $r.miss) | . < 1e-6 and . > -1e-6)' "$TMP/out"
exits 0 "$lab" best -n 1 "$TMP/three.jsonl"
check "the best is told as lines of the scenario" grep -qE '^    buffer_bytes: [0-9]+$' "$TMP/out"
exits 78 "$lab" sweep "${few[@]}" --grid model.buffer_bytes=1
exits 1 "$lab" sweep "${few[@]}" "$llnl"
sed -i 's/^measure: .*/measure: least/; s/^rows:/foo: 1\n&/' "$TMP/lab/fits/few.yaml"
exits 78 "$lab" sweep "${few[@]}"
equal "mistakes in a fit have their places" "$(grep -cE "few.yaml:[0-9]+:[0-9]+: (foo: unknown|measure: got)" "$TMP/err")" 2

# How long it takes is another question than whether it does.
"$lab" sizes -j --repeat 2 24x3 >"$TMP/sizes.json" || :
check "a decision is measured on 3456 hosts" jq -e '.sizes[0] | .hosts == 3456 and .roots >= 8 and .changes > 500
	and .steps.decide.cpu_ms > 0 and .steps.metrics.bytes > 1000000' "$TMP/sizes.json"
# A sanitizer has a heap of its own, whose size the C library reports as zero.
"$lab" jobs -j --ports 8 --jobs 50 --repeat 3 >"$TMP/jobs.json" || :
check "polling cycles are measured with a map of jobs and without" jq -e --arg sanitized "$(plugin_preload)" '
	(.loads | length == 2) and (.loads[1].jobs == 50) and
	([.loads[] | .hosts == 128 and .roots >= 8 and .jobs >= 20 and .without_cpu_ms > 0 and .ratio > 0 and
	.between_cpu_ms > 0 and (.with_mib > .without_mib or (.with_mib == 0 and $sanitized != "")) and
	(.pairs | length == 3)] | all)' "$TMP/jobs.json"
"$lab" classify --random 3 --seed 500000 -v >"$TMP/out" 2>"$TMP/err" || :
check "a mistake has its seed and its numbers" grep -q '^seed 50000[012]: .*: .* port [0-9]*; .*[0-9]' "$TMP/err"

few=(--grid 'congestion_control.switch.threshold=2,12' --grid congestion_control.ca.ccti_timer=16
	--grid 'individual.table_scale_permille=1000,1400')
exits 0 "$lab" oracle --random 2 --seed 5 "${few[@]}" -j -o "$TMP/oracle.json"
check "the best static setting of a draw is no worse than any" jq -e '(.scenarios | length == 2) and
	([.scenarios[] | (.best >= .off and .best >= .uniform and .best >= .individual)] | all) and
	(.scenarios[0] | .seed == 5 and .best > .off and (.uniform_set | IN("2 16", "12 16")) and
	(.individual_set | IN("1000", "1400")))' "$TMP/out"
check "the shares are counted" jq -e '(.scenarios | map(select(.best >= 0.97)) | length / 2) as $n |
	.settings.best.reached == $n and .settings.either.reached >= $n and .misses.draws == 2 - 2 * $n and
	(.settings.off | .harmed == 0)' "$TMP/out"
jq . "$TMP/out" >"$TMP/want"
jq . "$TMP/oracle.json" >"$TMP/got"
same "the file has the same" "$TMP/want" "$TMP/got"
"$lab" tune --random 2 --seed 5 -j >"$TMP/out" || :
check "the loop reaches the same there, at the start and settled" jq -e --slurpfile o "$TMP/oracle.json" '
	def same($a; $b): $a - $b | . < 1e-6 and . > -1e-6;
	[[.scenarios, $o[0].scenarios] | transpose[] | .[0].seed == .[1].seed and
	same(.[0].start.off; .[1].off) and same(.[0].start.live; .[1].live) and
	same(.[0].settled.live; .[1].live_later)] | all' "$TMP/out"
check "what is asked for is told, with what was measured" jq -e '
	def part(f): (.scenarios | map(select(f)) | length / 2);
	(.rows | length == 5) and .rows[0].measured == part(.settled.harmed) and .rows[0].target == 0.015 and
	.rows[1].measured == part(.settled.reached) and .rows[1].target == 0.87 and
	.rows[3].measured == part(.start.harmed) and .rows[4].measured == part(.start.reached) and
	.ok == ([.rows[].ok] | all)' "$TMP/out"
"$lab" tune --random 1 --seed 5 --condition no-logs -j >"$TMP/out" || :
check "a fabric without logs is judged by harm alone" jq -e '(.rows | length == 1) and .condition == "no-logs"' "$TMP/out"
exits 1 "$lab" tune --random 1 --condition fog
check "the conditions there are are told" grep -q 'want one of per-sl, no-waits' "$TMP/err"
exits 0 "$lab" oracle --random 1 --seed 16 "${few[@]}"
check "a draw without congestion needs nothing" grep -q '^best individual  *100' "$TMP/out"
exits 1 "$lab" oracle --random 1 --grid individual.foo=1
check "a wrong key is told" grep -q 'individual.foo, want individual.table_scale_permille' "$TMP/err"
exits 1 "$lab" oracle --random 1 --grid individual.calm=2
check "a wrong value is told" grep -q 'calm: got "2", want 0 to 1' "$TMP/err"
exits 1 "$lab" oracle --random 1 lustre

# Times are the machine's. A sanitizer's may end at the limit of CPU time, with fewer hops.
"$lab" prediction -j >"$TMP/out" || :
check "predictions are bounded by packet hops, however many adapters wait" jq -e '(.rows | length == 4) and
	[.rows[] | .hosts, .waiting] == [648, 50, 648, 324, 3456, 48, 3456, 1152] and
	([.rows[0, 1, 2].hops <= 6000000] | all) and .rows[3].hops <= 9000000' "$TMP/out"

exits 0 "$lab" osm-model -j --tree 4,1 --tree 4,2 --tree 8,1 --repeat 1
check "counts of three trees are the model's" jq -e '(.trees | length == 3) and
	([.trees[].counts[].ok] | all) and ([.trees[] | .poll_s > 0 and .push_s > 0] | all) and
	(.predictions[0] | has("predicted_s", "predicted_poll_s", "predicted_push_s"))' "$TMP/out"
