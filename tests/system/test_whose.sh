# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Whose job it is: a map of jobs names the job that fills a slow receiver and the job that suffers, in status, plan, top and
# the journal. New jobs on the same hosts are not the old ones. A hostile name harms no output, and an old map is not used.
. "$(dirname "$0")/lib.sh"

now() { date +%s; }
# map PERIOD_S JOB...: replaces the map; a job is a JSON object. MADE is when it was made, if not now.
map()
{
	local period=$1 IFS=,
	shift
	printf '{"version": 1, "made_s": %s, "period_s": %s, "source": "file", "jobs": [%s]}\n' "${MADE:-$(now)}" "$period" "$*" >"$TMP/jobs.new"
	mv "$TMP/jobs.new" "$TMP/jobs.json"
}
# job ID USER NAME START_S END_S HOST...
job()
{
	jq -cn --arg id "$1" --arg user "$2" --arg name "$3" --argjson start "$4" --argjson end "$5" --arg hosts "${*:6}" \
		'{id: $id, user: $user, name: $name, start_s: $start, end_s: $end, hosts: ($hosts | split(" "))}'
}
passes() { status .now.pass; }
begun=$(($(now) - 600))

start_marked
start_opensm --plugin
export IBCC_SILENT_FILE=$TMP/jobs.json IBCC_SILENCE=$TMP/silence
TUNED_PRELOAD=$IBCC_BUILD/tests/double/libfile-double.so
start_tuned "metrics_file: $TMP/metrics.prom"
wait_until 30 status '.now.roots[0].victims == 1' || fail "no root with a victim: $(jq -c .now.roots "$TMP/status.json")"
check "without a map no answer has jobs" jq -e '.jobs == null and .whose == null and .now.roots[0].jobs == null' "$TMP/status.json"
tune status >"$TMP/text" 2>"$TMP/tune.log"
without "nor for people" "$TMP/text" -i '^job'
tune report -j --html "$TMP/report.html" >"$TMP/report.json" 2>"$TMP/tune.log" || fail "report"
check "nor the report" jq -e '.jobs == null' "$TMP/report.json"
without "nor its page" "$TMP/report.html" -i '\bjobs\?\b'

# The daemon reads the map after a polling cycle. So the third one after it has the jobs.
map 600 "$(job 4711 ann cfd "$begun" 0 source1 source2 source3)" "$(job 4712 bob lammps "$begun" 0 source4 node99)"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 3" || fail "no polling cycle"
named='.jobs.used and (.now.roots[0].jobs | .basis != "waiting" and
	any(.list[]; .id == "4711" and .user == "ann" and .name == "cfd" and .role == "contributor" and .share_permille == 1000 and .contributors == 3) and
	any(.list[]; .id == "4712" and .role == "victim" and .victims == 1 and .wait_permille > 100))'
check "three cycles later status names the job that contributes and the one that suffers" jq -e "$named" "$TMP/status.json"
sentence='job 4711 (ann, cfd) fills destination1 (leaf2 port 2); job 4712 (bob, lammps) is blocked'
equal "in a sentence" "$(jq -r .whose "$TMP/status.json")" "$sentence"
equal "each sender has its job" "$(jq -r '[.now.blocked[] | "\(.node) \(.jobs | join(","))"] | sort | join("; ")' "$TMP/status.json")" \
	'source1 4711; source2 4711; source3 4711; source4 4712'
equal "a host without an adapter is named" "$(jq -c '[.jobs.unmatched, .jobs.unmatched_names]' "$TMP/status.json")" '[1,["node99"]]'
tune status >"$TMP/text" 2>"$TMP/tune.log" || fail status
check "status has it for people" grep -q '^Jobs: *job 4711 (ann, cfd) fills destination1' "$TMP/text"
check "with the map" grep -q '^Job map: *2 jobs on 5 hosts, from file, .* no adapter has the name of 1 of 5 hosts: node99' "$TMP/text"
tune plan >"$TMP/text" 2>"$TMP/tune.log" || fail plan
check "plan has the sentence" grep -q '^Jobs: job 4711 (ann, cfd) fills destination1' "$TMP/text"
check "and the column JOB" grep -Eq '^ *1 victim +source4 .* 4712 *$' "$TMP/text"
tune plan -j >"$TMP/plan.json" 2>"$TMP/tune.log" || fail "plan -j"
check "plan -j has the jobs of root and senders" jq -e '(.roots[0].jobs.list | length == 2) and ([.roots[0].contributors[].jobs[]] | unique == ["4711"])' "$TMP/plan.json"
TERM=xterm timeout 60 script -qec "stty rows 60 cols 200; NO_COLOR=1 $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml top --limit 1" /dev/null </dev/null >"$TMP/text" || fail top
check "top has sentence and column" sh -c 'grep -q "Jobs *job 4711 (ann, cfd) fills" "$1" && grep -q "STATUS *JOB" "$1" && grep -Eq "leaf2 .* 4711" "$1"' - "$TMP/text"
wait_until 60 grep -q 'jobs: job 4711 fills destination1 (leaf2 port 2); job 4712 is blocked' "$TMP/tuned.log" ||
	fail "the journal: $(grep jobs: "$TMP/tuned.log")"
ok "the journal names the jobs of an admitted root"
without "but neither users nor the names of jobs" "$TMP/tuned.log" 'ann\|cfd\|bob\|lammps'

metrics() { grep -Fqx "$1" "$TMP/metrics.prom"; }
wait_until 30 metrics 'ibcc_job_congestion_share{job="4711"} 1.000' || fail "metrics: $(grep ibcc_job "$TMP/metrics.prom")"
ok "metrics have the share of the one job"
check "and the blocked adapters of the other" metrics 'ibcc_job_blocked_adapters{job="4712"} 1'
without "and no names of users or jobs" "$TMP/metrics.prom" -E '\b(ann|bob|cfd|lammps)\b'

# What jobs did adds up once a map is there that was made after the cycles.
jobs() { tune jobs -j "${@:2}" >"$TMP/jobs.answer" 2>"$TMP/tune.log" && jq -e "$1" "$TMP/jobs.answer"; }
settled()
{
	map 600 "$(job 4711 ann cfd "$begun" 0 source1 source2 source3)" "$(job 4712 bob lammps "$begun" 0 source4 node99)"
	sleep 1
	jobs 'any(.jobs[]; .id == "4711" and .contributor_ms > 0) and any(.jobs[]; .id == "4712" and .victim_ms > 0)'
}
wait_until 60 settled || fail "jobs: $(cat "$TMP/jobs.answer")"
check "the command jobs has the one as contributor and the other as victim" jq -e '
	.jobs[0].id == "4711" and .jobs[0].victim_ms == 0 and .jobs[0].worst_root == "destination1 (leaf2 port 2)" and .jobs[0].sent_bytes > 0 and
	.jobs[1].id == "4712" and .jobs[1].contributor_ms == 0 and .jobs[1].harm_ms == 0 and .jobs[1].end == null' "$TMP/jobs.answer"
check "by user" jobs '[.jobs[].id] == ["4712"]' --user bob
check "and by number" jobs '[.jobs[].id] == ["4711"]' --since 1h 4711
tune jobs >"$TMP/text" 2>"$TMP/tune.log" || fail jobs
for page in README.md doc/howto/slurm.md; do
	equal "$page shows its columns" "$(grep -m 1 '^    JOB ' "$top/$page" | tr -s ' ')" " $(grep -m 1 '^JOB ' "$TMP/text" | tr -s ' ' | sed 's/ $//')"
done
check "and as a table" grep -Eq '^ *4711 +ann +cfd ' "$TMP/text"

# Another user of this host gets no answer.
if [ "$(id -u)" = 0 ]; then
	chmod 711 "$TMP"
	rc=0
	unprivileged ibcc-tune -z "$TMP/cli.yaml" jobs -j >"$TMP/other" 2>&1 || rc=$?
	[ "$rc" != 0 ] || fail "another user is answered: $(cat "$TMP/other")"
	check "another user is refused" grep -q 'not allowed\|ermission' "$TMP/other"
	without "and sees no job" "$TMP/other" -E '4711|4712|\bann\b|\bcfd\b|lammps'
fi

# A bundle without names has nothing of the jobs; nor has a record of a probe.
tune bundle --anonymous -o "$TMP/bundle" >"$TMP/bundle.log" 2>&1 || fail "bundle: $(cat "$TMP/bundle.log")"
tune probe --save "$TMP/probe.json" >"$TMP/probe.log" 2>&1 || fail "probe: $(cat "$TMP/probe.log")"
{ zcat -f "$TMP/bundle"; cat "$TMP/probe.json"; } >"$TMP/records"
without "bundle and probe record name no job" "$TMP/records" -E '4711|lammps|"ann"|\bcfd\b'

# Others run on the same hosts; one host has two jobs. The old jobs ended before.
ended=$(now)
hostile=$(printf '"\033[2J<b>&\\\n%s' "$(head -c 5000 /dev/zero | tr '\0' x)")
map 600 "$(job 4711 ann cfd "$begun" "$ended" source1 source2 source3)" "$(job 4712 bob lammps "$begun" "$ended" source4)" \
	"$(job 4713 cid "$hostile" "$ended" 0 source1 source2)" "$(job 4714 dan 'a,b' "$ended" 0 source1)"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 3" || fail "no polling cycle"
check "three cycles later the new jobs are named and no old one" jq -e '[.now.roots[0].jobs.list[].id] | sort == ["4713", "4714"]' "$TMP/status.json"
check "a shared host is shown as shared, and nobody's as nobody's" jq -e '.now.roots[0].jobs |
	any(.list[]; .id == "4713" and .share_permille > 250 and .share_permille < 420 and .shared_permille > 250) and
	any(.list[]; .id == "4714" and .share_permille == 0 and .shared_permille > 250) and .nobody_permille > 250' "$TMP/status.json"
tune status >"$TMP/text" 2>"$TMP/tune.log" || fail status
tune plan >>"$TMP/text" 2>"$TMP/tune.log" || fail plan
tune report --html "$TMP/report.html" >"$TMP/report.log" 2>&1 || fail "report: $(cat "$TMP/report.log")"
check "the hostile name is there" grep -q 'cid' "$TMP/text"
without "and controls no terminal" "$TMP/text" -P '\033'
without "nor the journal" "$TMP/tuned.log" -P '\033'
without "nor the report" "$TMP/report.html" -F '<b>&'
check "which has the jobs of the last day" grep -qF '<h2>Jobs of the last 24 hours</h2>' "$TMP/report.html"
check "and the jobs at each adapter" grep -qE '>4713(,4714)?<' "$TMP/report.html"
tune report -j >"$TMP/report.json" 2>"$TMP/tune.log" || fail "report -j"
check "report -j has the list of jobs" jq -e '[.jobs[].id] | contains(["4711", "4712"])' "$TMP/report.json"

# No moment after its end is the old job's, and the figures outlive the daemon.
before=$(jobs '.jobs[0].contributor_ms' 4711)
later()
{
	map 600 "$(job 4711 ann cfd "$begun" "$ended" source1 source2 source3)" "$(job 4715 cid fft "$ended" 0 source1 source2 source3)"
	sleep 1
	jobs '.jobs[0].contributor_ms > 3000' 4715
}
wait_until 60 later || fail "jobs: $(cat "$TMP/jobs.answer")"
after=$(jobs '.jobs[0].contributor_ms' 4711)
# The cycles up to its end, if they were not charged before.
[ "$after" -le $((before + 2000 + 10 * INTERVAL_MS)) ] || fail "the old job is charged: $before ms, then $after ms"
for _ in 1 2 3; do later >"$TMP/later.log"; done
equal "the old job is not charged any more" "$(jobs '.jobs[0].contributor_ms' 4711)" "$after"
stop "$TUNED_PID"
check "the figures outlive the daemon" jobs ".jobs[0].contributor_ms == $after" 4711
start_tuned "metrics_file: $TMP/metrics.prom"

# The daemon stores all of many jobs before the next polling cycle, so that a crash does not lose them.
write_config "interval_ms: $((10 * INTERVAL_MS))" && kill -HUP "$TUNED_PID"
many()
{
	jq -cn --argjson now "$(now)" --argjson start "$ended" '{version: 1, made_s: $now, period_s: 600, source: "file", jobs: [range(300) |
		{id: "many\(.)", user: "eve", start_s: $start, end_s: 0, hosts: ["source1"]}]}' >"$TMP/jobs.new"
	mv "$TMP/jobs.new" "$TMP/jobs.json"
	sleep 1
	jobs '.jobs | length > 0' --user eve
}
wait_until 60 many || fail "jobs of many: $(jq '.jobs | length' "$TMP/jobs.answer")"
first=$(passes)
wait_until 60 status ".now.pass > $first" || fail "no polling cycle"
kill -KILL "$TUNED_PID"
wait "$TUNED_PID" 2>/dev/null
check "all of 300 jobs of a host are stored when the daemon is killed" jobs '.jobs | length == 300 and all(.[]; .shared_contributor_ms > 0)' --user eve
start_tuned "metrics_file: $TMP/metrics.prom"
map 600 "$(job 4713 cid "$hostile" "$ended" 0 source1 source2)" "$(job 4714 dan 'a,b' "$ended" 0 source1)"
wait_until 30 status '.now.roots[0].jobs.list | length == 2' || fail "no jobs after a restart"

# A job is put back into the queue and runs again: two runs of one job, which overlap here so that an interval has both.
again()
{
	map 600 "$(job 4711 ann cfd "$begun" 0 source1 source2)" "$(job 4711 ann cfd "$((begun + 1))" 0 source2 source3)"
	sleep 1
	jobs '[.jobs[] | select(.contributor_ms > 0)] | length == 2' 4711
}
wait_until 60 again || fail "jobs: $(cat "$TMP/jobs.answer")"
check "jobs has both runs of a job" jq -e --argjson start "$begun" '[.jobs[].start] | sort == [$start, $start + 1]' "$TMP/jobs.answer"
tune jobs 4711 >"$TMP/text" 2>"$TMP/tune.log" || fail jobs
equal "and the table has their starts" "$(grep -Ec '^ *4711 +[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2} +ann ' "$TMP/text")" 2
check "to status they are one job" status '.now.blocked | any(.[]; .node == "source2" and .jobs == ["4711"])'
check "in sentences, too" status '.whose | test("^job 4711 .ann, cfd. fills destination1")'
one_series() { [ "$(grep -c '^ibcc_job_congestion_share{job="4711"}' "$TMP/metrics.prom")" = 1 ]; }
wait_until 30 one_series || fail "metrics: $(grep ibcc_job "$TMP/metrics.prom")"
ok "and so are they to Prometheus"
map 600 "$(job 4713 cid "$hostile" "$ended" 0 source1 source2)" "$(job 4714 dan 'a,b' "$ended" 0 source1)"
wait_until 30 status '.now.roots[0].jobs.list | length == 2' || fail "no jobs"

# A file that is no map is one sentence, and the map from before stays. Pipes do not stop a cycle.
echo '{' >"$TMP/jobs.new" && mv "$TMP/jobs.new" "$TMP/jobs.json"
wait_until 30 status '.jobs.text // "" | test("jobs.json cannot be read: ")' || fail "a bad file is not named: $(jq -c .jobs "$TMP/status.json")"
check "a file that is no map is one sentence, and the map from before is used" jq -e '.jobs.used and (.now.roots[0].jobs.list | length == 2)' "$TMP/status.json"
rm "$TMP/jobs.json" && mkfifo "$TMP/jobs.json"
wait_until 30 status '.jobs.text // "" | test("it is not a regular file")' || fail "a pipe is not named: $(jq -c .jobs "$TMP/status.json")"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 2" || fail "a pipe stops the daemon"
ok "a pipe stops no cycle"
# Its writer has it open, and is stopped in the middle of a map.
# shellcheck disable=SC2016 # the shell's
background "$TMP/writer.log" sh -c 'exec 3<>"$1" && printf "{" >&3 && kill -STOP $$' - "$TMP/jobs.json"
writer=$!
is_stopped() { grep -q '^State:.T' "/proc/$writer/status"; }
wait_until 30 is_stopped || fail "no writer"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 2" || fail "a pipe with a writer stops the daemon"
ok "nor does one with a writer that stands still"
kill -KILL "$writer"

# The file is on a file server that does not answer.
map 600 "$(job 4711 ann cfd "$begun" 0 source1 source2 source3)"
wait_until 30 status '.jobs.used and .jobs.text == null' || fail "no jobs"
: >"$TMP/silence"
wait_until 30 status '.jobs.text // "" | test("reading .*jobs.json has taken [0-9]+ s so far: see whether its file system answers; the daemon uses the map from before")' ||
	fail "a file that does not answer is not named: $(jq -c .jobs "$TMP/status.json")"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 3" || fail "a file that does not answer stops the daemon"
check "and neither does a file that does not answer; the map from before is used" jq -e '.jobs.used and .whose != null' "$TMP/status.json"
write_config 'jobs_names: jobs' && kill -HUP "$TUNED_PID"
wait_until 30 status '.whose == null' || fail "no reload"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 2" || fail "a reload waits for the file"
ok "a reload does not wait for it, either"
stop "$TUNED_PID"
ok "nor does the end"
start_tuned "metrics_file: $TMP/metrics.prom"
wait_until 30 status '.jobs.text // "" | test("congestion is assigned to no job until it can be read")' || fail "a silent file at the start: $(jq -c .jobs "$TMP/status.json")"
ok "nor the start, and status says so"
rm "$TMP/silence"
wait_until 30 status '.jobs.used and .jobs.text == null' || fail "the file answers again: $(jq -c .jobs "$TMP/status.json")"
ok "when it answers, all is well"

# An old map is not used.
MADE=$(($(now) - 61)) map 30 "$(job 4711 ann cfd "$begun" 0 source1 source2 source3)"
wait_until 30 status '.jobs.text // "" | test("the map of jobs is .* s old, more than twice its period of 30 s")' || fail "an old map: $(jq -c .jobs "$TMP/status.json")"
check "an old map is not used, and status says so" jq -e '.jobs.used == false and .whose == null and .now.roots[0].jobs == null' "$TMP/status.json"

# Descriptions that do not begin with the host name.
write_config 'jobs_host_pattern: "^sou(.*)$"' && kill -HUP "$TUNED_PID"
map 600 "$(job 4711 ann cfd "$begun" 0 rce1 rce2 rce3 source4)"
wait_until 30 status '.whose == "job 4711 (ann, cfd) fills destination1 (leaf2 port 2)"' || fail "names by the pattern: $(jq -c .whose "$TMP/status.json")"
check "a pattern finds the host names, and what it does not find is counted" jq -e '.jobs.unmatched_names == ["source4"]' "$TMP/status.json"

# A site keeps names back.
write_config 'jobs_names: none' && kill -HUP "$TUNED_PID"
map 600 "$(job 4711 ann cfd "$begun" 0 source1 source2 source3)"
wait_until 30 status '.whose == "job 4711 fills destination1 (leaf2 port 2)"' || fail "names kept back: $(jq -c .whose "$TMP/status.json")"
check "names that the site keeps back are nowhere" jq -e '.now.roots[0].jobs.list[0] | .user == null and .name == null' "$TMP/status.json"

# Other names of nodes, with the same map of jobs.
map 600 "$(job 4711 ann cfd "$begun" 0 first source2 source3)"
wait_until 30 status '.jobs.unmatched_names == ["first"]' || fail "a host that is not there: $(jq -c .jobs "$TMP/status.json")"
first=$(passes)
wait_until 30 status ".now.pass >= $first + 2" || fail "no polling cycle"
echo "$(jq -r '.now.blocked[] | select(.node == "source1").node_guid' "$TMP/status.json") \"first\"" >"$TMP/names"
write_config 'jobs_names: none' "node_name_map: $TMP/names" && kill -HUP "$TUNED_PID"
named='.jobs.unmatched == 0 and any(.now.blocked[]; .node == "first" and .jobs == ["4711"])'
wait_until 60 status "$named" || fail "another name: $(jq -c '[.jobs, .now.blocked]' "$TMP/status.json")"
ok "the map is matched with new names of nodes"
