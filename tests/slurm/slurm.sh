#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# slurm.sh BUILD-DIR: ibcc-jobs with a real Slurm, whose nodes have the names of the hosts of the Lustre fabric, on
# loopback: slurmctld, munged and a slurmd for each host, with folders, sockets and ports of their own. ibcc-tuned names
# the jobs on a simulated fabric, and users get comments. Then a squeue that fails in all ways, and a sweep as an array of
# jobs. Runs as root on Debian, and installs Slurm; skipped elsewhere.
B=$1
case $B in /*) ;; *) B=$PWD/$B ;; esac
IBCC_BUILD=$B
# shellcheck source=tests/system/lib.sh
. "$(dirname "$0")/../system/lib.sh"
# shellcheck source=tests/boot/root.sh
. "$top/tests/boot/root.sh"
jobs=$IBCC_BUILD/ibcc-jobs
lab=$IBCC_BUILD/ibcc-lab
out=$TMP/out
map=$out/jobs.json
ports=$((12000 + $$ % 2000 * 10))
ctld=

[ "$(id -u)" = 0 ] || skip "no test with Slurm: this is not root"
command -v dpkg >/dev/null || skip "no test with Slurm: this is no Debian system"
# Its services are enabled by the installation, and started where systemd runs.
[ ! -d /run/systemd/system ] || command -v slurmctld >/dev/null || skip "no test with Slurm: its installation would start services"
install_missing "$TMP/apt.out" slurmctld slurmd slurm-client slurm-wlm-basic-plugins munge || skip "no test with Slurm: $WHY"

# Jobs and their helpers belong to no process group of ours; what was started with this configuration has it in its
# environment.
ours() { (unset SLURM_CONF && grep -lFz "SLURM_CONF=$TMP/slurm.conf" /proc/[0-9]*/environ 2>/dev/null | cut -d / -f 3); }
none_is_ours() { [ -z "$(ours)" ]; }
ending()
{
	local rc=$? pid
	for pid in $(ours); do kill -CONT "$pid" 2>/dev/null; kill -KILL "$pid" 2>/dev/null; done
	wait_until 10 none_is_ours || { echo "not ok - processes of Slurm are left"; rc=1; }
	(exit "$rc")
	cleanup
}
trap ending EXIT

mkdir -p "$TMP"/{run,state,spool,log,out,fake}
chmod 755 "$TMP" "$out"
host=$(hostname -s)
cat >"$TMP/slurm.conf" <<CONF
ClusterName=sim
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$TMP/run/munge.socket
CredType=cred/munge
SlurmctldPort=$ports
StateSaveLocation=$TMP/state
SlurmdSpoolDir=$TMP/spool/%n
SlurmctldPidFile=$TMP/run/slurmctld.pid
SlurmdPidFile=$TMP/run/slurmd-%n.pid
SlurmctldLogFile=$TMP/log/slurmctld
SlurmdLogFile=$TMP/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
SlurmdParameters=config_overrides
NodeName=source[1-4] NodeAddr=127.0.0.1 NodeHostname=$host Port=[$((ports + 1))-$((ports + 4))] CPUs=4
NodeName=destination[0-1] NodeAddr=127.0.0.1 NodeHostname=$host Port=[$((ports + 5))-$((ports + 6))] CPUs=4
PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=YES
CONF
export SLURM_CONF=$TMP/slurm.conf
(umask 077 && head -c 1024 /dev/urandom >"$TMP/munge.key")
background "$TMP/munged.log" munged --foreground --force --key-file="$TMP/munge.key" --socket="$TMP/run/munge.socket" \
	--pid-file="$TMP/run/munged.pid" --log-file="$TMP/log/munged" --seed-file="$TMP/run/munge.seed"
wait_until 20 test -S "$TMP/run/munge.socket" || fail "munged does not get ready"
start_slurmctld() { background "$TMP/slurmctld.log" slurmctld -D -f "$SLURM_CONF" "$@" && ctld=$!; }
start_slurmctld -c
for node in source1 source2 source3 source4 destination0 destination1; do
	background "$TMP/slurmd-$node.log" slurmd -D -N $node -f "$SLURM_CONF"
done
all_idle() { [ "$(within 20 sinfo -h -t idle -o %D)" = 6 ]; }
wait_until 60 all_idle || fail "Slurm does not get ready: $(within 20 sinfo)"
ok "$(squeue --version) runs with six hosts"

printf '#!/bin/sh\nsleep "$1"\n' >"$TMP/job.sh"
# submit NAME SECONDS OPTION...: its number.
submit() { within 20 sbatch --parsable -J "$1" --output=/dev/null --chdir="$TMP" "${@:3}" "$TMP/job.sh" "$2" || fail "sbatch $*"; }
running() { [ "$(within 20 squeue -h -t R -j "$1" -o %i)" ]; }
ended() { ! running "$1"; }
# by_slurm: "ID USER START HOST..." of each job that runs, by squeue's plain form and scontrol; by_map: the same, from the map.
by_slurm()
{
	within 20 squeue -h -t R -o '%i %u %S %N' | while read -r id user start nodes; do
		echo "$id $user $(date -d "$start" +%s) $(within 20 scontrol show hostnames "$nodes" | paste -sd' ')"
	done | sort
}
by_map() { jq -r '.jobs[] | select(.end_s == 0) | "\(.id) \(.user) \(.start_s) \(.hosts | join(" "))"' "$map" | sort; }
once() { "$jobs" --once -o "$map"; }
trouble() { jq -r .trouble "$map"; }
in_map() { jq -e "$1" "$map"; }

hot=$(submit hot 600 -N3 -w source1,source2,source3)
victim=$(submit victim 600 -n1 -w source4)
beside=$(submit beside 600 -n1 -w source4)
array=$(submit tasks 600 --array=0-2 -n1 -w destination0)
held=$(submit held 600 --hold -n1)
all_run() { running "$hot" && running "$victim" && running "$beside" && [ "$(within 20 squeue -h -t R -r -j "$array" | wc -l)" = 3 ]; }
wait_until 60 all_run || fail "the jobs do not start"
check "ibcc-jobs asks Slurm once" once
by_slurm >"$TMP/want"
by_map >"$TMP/got"
same "the map has the jobs that run, with Slurm's hosts and times" "$TMP/want" "$TMP/got"
equal "on three hosts, and a host with two jobs" "$(jq -r '[.jobs[] | select(.hosts | index("source4")) | .name] | sort | join(" ")' "$map")" "beside victim"
check "an array's tasks have its numbers" in_map "[.jobs[].id | select(startswith(\"${array}_\"))] | length == 3"
check "a job that waits is not in it" in_map "all(.jobs[]; .id != \"$held\")"
check "the map says where it is from" in_map '.source == "slurm" and .period_s == 30 and .trouble == "" and .made_s > 1700000000'
for_others ibcc-jobs && mkdir "$TMP/nobody" && chown 65534 "$TMP/nobody"
check "another user is answered, too" within 30 setpriv --reuid 65534 --regid 65534 --clear-groups "$TMP/bin/ibcc-jobs" --once -o "$TMP/nobody/jobs.json"
jq .jobs "$map" >"$TMP/want"
jq .jobs "$TMP/nobody/jobs.json" >"$TMP/got"
same "with the same jobs" "$TMP/want" "$TMP/got"
check "users and names can be kept back" "$jobs" --once -o "$map" --no-users --no-names
check "and nothing else is" in_map '[.jobs[] | .user == "" and .name == "" and (.hosts | length > 0)] | all and length == 6'

# The page's first commands, as they stand there.
page=$top/doc/howto/slurm.md
sed -n '/^## Slurm$/,/^Then start/s/^    //p' "$page" >"$TMP/page.sh"
equal "the page begins with two commands" "$(wc -l <"$TMP/page.sh")" 2
(cd "$TMP/out" && PATH=$IBCC_BUILD:$PATH bash -e "$TMP/page.sh") >"$TMP/page.out" 2>"$TMP/page.err" || fail "the page's commands: $(cat "$TMP/page.err")"
equal "they print a line for each job, with its user, name and first host" "$(grep -c . "$TMP/page.out") $(grep -cP "^$hot\troot\thot\tsource1$" "$TMP/page.out")" "6 1"
IBCC_JOBS_OPTIONS=
eval "$(sed -n '/^## Options$/,/^## /s/^    \(IBCC_JOBS_OPTIONS=.*\)/\1/p' "$page")"
[ "$IBCC_JOBS_OPTIONS" ] || fail "the page has no options"
# shellcheck disable=SC2086 # options, as the unit splits them
check "the page's options are taken" "$jobs" --once -o "$map" $IBCC_JOBS_OPTIONS
check "and keep names back and set the period" in_map '.period_s == 60 and ([.jobs[] | .user == "" and .name == ""] | all)'

# A running ibcc-jobs sees jobs end and others begin on the same hosts.
rm "$map"
background "$TMP/jobs.log" "$jobs" -i 1 -o "$map"
pid=$!
first=$(submit first 600 -n1 -w destination1)
wait_until 30 running "$first" || fail "the job does not start"
in_the_map() { in_map ".jobs[] | select(.id == \"$1\" and .end_s $2 0)"; }
wait_until 30 in_the_map "$first" == || fail "a job that has started is not in the map"
within 20 scancel "$first"
second=$(submit second 600 -n1 -w destination1)
wait_until 60 running "$second" || fail "the job does not start"
wait_until 30 in_the_map "$second" == || fail "the new job is not in the map"
check "a job that was ended stays, with its end" in_the_map "$first" '>'
epoch() { date -d "$(within 20 scontrol show job "$1" | sed -n "s/.*$2=\([^ ]*\).*/\1/p")" +%s; }
equal "which is Slurm's" "$(jq ".jobs[] | select(.id == \"$first\") | .end_s" "$map")" "$(epoch "$first" EndTime)"
equal "the next one has Slurm's start" "$(jq ".jobs[] | select(.id == \"$second\") | .start_s" "$map")" "$(epoch "$second" StartTime)"
check "no second on the host is both jobs'" in_map "([.jobs[] | select(.id == \"$first\") | .end_s][0]) <= ([.jobs[] | select(.id == \"$second\") | .start_s][0])"
stop "$pid"

# Slurm's controller stops, and is killed. squeue ends with exit code 0 and no jobs then, after ten seconds.
rm "$map"
background "$TMP/jobs.log" "$jobs" -i 2 -o "$map"
pid=$!
wait_until 30 in_map '.trouble == ""' || fail "no map"
kill -STOP "$ctld"
wait_until 30 in_map '.trouble != ""' || fail "a controller that is stopped is not noticed"
trouble >"$TMP/got"
check "it says that squeue hung" grep -q 'squeue had not ended after 2 s and was killed; see whether the batch system answers' "$TMP/got"
wait_until 30 in_map '.jobs == []' || fail "jobs stay for ever"
check "old jobs are removed, and the map's age stays" in_map '.made_s > 1700000000 and .period_s == 2'
check "a patient ibcc-jobs has Slurm's own error" sh -c "! '$jobs' --once -i 30 -o '$out/patient.json'"
check "and not an empty list of jobs" jq -e '.trouble | startswith("what squeue gives cannot be used: Slurm reports an error: ")' "$out/patient.json"
kill -CONT "$ctld"
wait_until 60 in_map '.trouble == "" and (.jobs | length) >= 7' || fail "it does not go on: $(trouble)"
ok "all is well when the controller goes on"
kill -KILL "$ctld"
wait "$ctld" 2>/dev/null
wait_until 30 in_map '.trouble != ""' || fail "a dead controller is not noticed"
start_slurmctld
wait_until 90 in_map '.trouble == "" and (.jobs | length) >= 7' || fail "it does not go on: $(trouble)"
ok "and when it was killed and started again"
equal "the log has each trouble once" "$(grep -c 'knows no new jobs' "$TMP/jobs.log")" 2
equal "and each end of one" "$(grep -c 'answers again' "$TMP/jobs.log")" 2
stop "$pid"

# The daemon with this Slurm.
within 20 scancel "$beside" "$array" "$second"
background "$TMP/jobs.log" "$jobs" -i 1 -o "$map"
pid=$!
start_marked
start_opensm --plugin
start_tuned "jobs_file: $map"
whose() { wait_until 60 status ".whose == \"$1\"" || fail "want $1: $(jq -c '[.whose, .jobs]' "$TMP/status.json")"; }
root='destination1 (leaf2 port 2)'
whose "job $hot (root, hot) fills $root; job $victim (root, victim) is blocked"
ok "status names Slurm's jobs, the one that floods a slow receiver and the one that suffers"
# account JOB CONDITION: holds for the list of the job's runs, the last one first.
account() { tune jobs -j "$1" >"$TMP/account.json" 2>"$TMP/tune.log" && jq -e ".jobs | sort_by(-.start) | $2" "$TMP/account.json"; }
wait_until 60 account "$hot" '.[0].contributor_ms > 3000' || fail "the job's account: $(cat "$TMP/account.json")"

# Slurm puts the job back into its queue, another one gets its hosts, and then it runs there again.
within 20 scontrol requeue "$hot"
wait_until 30 ended "$hot" || fail "the job is not requeued"
next=$(submit next 600 -N3 -w source1,source2,source3)
wait_until 60 running "$next" || fail "no job follows: $(within 20 squeue)"
whose "job $next (root, next) fills $root; job $victim (root, victim) is blocked"
ok "when it is requeued, the job that gets its hosts is named"
wait_until 60 account "$next" '.[0].contributor_ms > 2000' || fail "the next job's account: $(cat "$TMP/account.json")"
charged() { account "$hot" '.[0] | "\(.start) \(.end > .start) \(.contributor_ms)"'; }
before=$(charged)
within 20 scancel "$next"
wait_until 30 ended "$next" || fail "the next job does not end"
within 20 scontrol update JobId="$hot" StartTime=now
wait_until 90 running "$hot" || fail "the requeued job does not run again: $(within 20 scontrol show job "$hot")"
whose "job $hot (root, hot) fills $root; job $victim (root, victim) is blocked"
wait_until 60 account "$hot" 'length == 2 and .[0].contributor_ms > 2000' || fail "two runs: $(cat "$TMP/account.json")"
equal "a second run is Slurm's" "$(account "$hot" '.[0].start')" "$(epoch "$hot" StartTime)"
check "the map has both runs" in_map "[.jobs[] | select(.id == \"$hot\")] | length == 2 and ([.[] | select(.end_s == 0)] | length == 1)"
equal "nothing of the time between or of the second run is the first one's" "$(account "$hot" '.[1] | "\(.start) \(.end > .start) \(.contributor_ms)"')" "$before"

# Users see the figures of their jobs in AdminComment.
mkdir "$TMP/with"
cat >"$TMP/with/ibcc-tune" <<SH
#!/bin/sh
exec $IBCC_BUILD/ibcc-sim exec --name $SIM -- $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml "\$@"
SH
chmod 755 "$TMP/with/ibcc-tune"
comments() { PATH=$TMP/with:$PATH within 60 sh "$top/monitoring/job-comments.sh" "$TMP/comments"; }
comment() { within 20 scontrol show job "$1" | sed -n 's/^ *AdminComment=//p' | sed 's/ $//'; }
check "jobs get comments" comments
comment "$hot" >"$TMP/comment"
check "the one that floods has how long it did" grep -qE "^ibcc-tune: caused congestion for [0-9]+ (s|min); longest at destination1 .leaf2 port 2.$" "$TMP/comment"
comment "$victim" >"$TMP/comment"
check "the one that suffers has how long" grep -qE "^ibcc-tune: was blocked for [0-9]+ (s|min); longest at destination1 .leaf2 port 2.$" "$TMP/comment"
equal "another user sees it" "$(within 20 setpriv --reuid 65534 --regid 65534 --clear-groups scontrol show job "$hot" | grep -c 'AdminComment=ibcc-tune: caused')" 1
within 20 scontrol update JobId="$victim" AdminComment="the site's own"
more() { account "$victim" '.[0].victim_ms > 1000 * '"$1"; }
wait_until 60 more "$(($(jq '.jobs[0].victim_ms' "$TMP/account.json") / 1000 + 3))" || fail "no more congestion"
check "a later run goes on" comments
equal "a comment of the site's own stays" "$(comment "$victim")" "the site's own"
# fake_tune ROW...: an ibcc-tune that has these jobs; row ID END ROOT: one of them.
fake_tune() { local IFS=,; printf '{"jobs": [%s]}\n' "$*" >"$TMP/rows.json"; printf '#!/bin/sh\ncat %s\n' "$TMP/rows.json" >"$TMP/with/ibcc-tune"; }
row()
{
	jq -cn --arg id "$1" --argjson end "$2" --arg root "$3" '{id: $id, start: 5, end: $end, worst_root: $root, contributor_ms: 0,
		shared_contributor_ms: 7200000, suspect_ms: 120000, victim_ms: 2000, shared_victim_ms: 1000}'
}
fake_tune "$(row "$hot" null "\"\$(touch $TMP/harm)'\`touch $TMP/harm\` \\")" "$(row "1;touch $TMP/harm" null x)" "$(row 4000000 null x)"
check "text that does harm to a shell is taken" comments
equal "and does none" "$(comment "$hot")" "ibcc-tune: may have caused congestion on shared hosts for 2 h; may have caused congestion for 2 min;\
 was blocked for 3 s; longest at ??(touch $TMP/harm)??touch $TMP/harm? ?"
[ ! -e "$TMP/harm" ] || fail "it was run"
# slow WHAT MESSAGE: comments end soon, with a message.
slow()
{
	local rc=0 began=$SECONDS
	comments >"$TMP/slow.log" 2>&1 || rc=$?
	equal "$1: it says so" "$rc $(grep -c "$2" "$TMP/slow.log")" "1 1"
	[ $((SECONDS - began)) -lt 40 ] || fail "$1: it takes $((SECONDS - began)) s"
}
kill -STOP "$ctld"
slow "a controller that is stopped" '^job-comments.sh: Slurm does not answer, so no job gets a comment: .*try scontrol ping'
kill -CONT "$ctld"
wait_until 60 within 20 scontrol ping || fail "the controller does not go on"
# An accounting database takes comments of jobs that have ended.
printf '#!/bin/sh\necho "AccountingStorageType   = accounting_storage/slurmdbd"\n' >"$TMP/with/scontrol"
printf '#!/bin/sh\n[ "$3" != 8 ] || echo another\n' >"$TMP/with/sacct"
printf '#!/bin/sh\nprintf "<%%s>" "$@" >>%s\n' "$TMP/sacctmgr.args" >"$TMP/with/sacctmgr"
chmod 755 "$TMP"/with/*
fake_tune "$(row 7_3 9 x)" "$(row 8 9 x)"
check "jobs that have ended are taken" comments
equal "they have their comments in the database, but for one of the site's own" "$(cat "$TMP/sacctmgr.args")" \
	"<-i><modify><job><where><jobid=7_3><set><AdminComment=ibcc-tune: may have caused congestion on shared hosts for 2 h;\
 may have caused congestion for 2 min; was blocked for 3 s; longest at x>"
check "a later run" comments
equal "writes nothing again" "$(grep -o modify "$TMP/sacctmgr.args" | wc -l)" 1
printf '#!/bin/sh\nsleep 600\n' >"$TMP/with/sacct"
fake_tune "$(row 9 9 x)" "$(row 10 9 x)" "$(row 11 9 x)"
slow "a database that hangs" '^job-comments.sh: Slurm did not take all comments (1 failed), so the next run tries again: no answer within 10 s'
stop "$TUNED_PID"
stop "$OSM_PID"
stop "$SIM_PID"
stop "$pid"

# What the lists of hosts mean is what Slurm says.
: >"$TMP/want"
: >"$TMP/got"
for list in 'source[1-3,7],a[01-03]' 'a[1-2]b[3-4]' 'n[1-2][1-2]' 'a[09-11],b' 'a[9-011]' 'a[098-101]' 'a[001-0003]' 'a[01,1]' '[1-3]' \
	'x-[1-2]y[05-06]' "$(within 20 scontrol show hostlist "$(seq -s, -f 'r%03g' 1 3 999)")"; do
	printf '#!/bin/sh\necho '\''{"jobs": [{"job_id": 1, "job_state": "RUNNING", "nodes": "%s"}]}'\''\n' "$list" >"$TMP/fake/squeue"
	chmod 755 "$TMP/fake/squeue"
	within 20 scontrol show hostnames "$list" >>"$TMP/want" || fail "scontrol does not take $list"
	rm -f "$map" # the jobs before stay in it
	PATH=$TMP/fake:$PATH once >"$TMP/check.log" 2>&1 || fail "$list: $(trouble)"
	jq -r '.jobs[0].hosts[]' "$map" >>"$TMP/got"
done
same "$(wc -l <"$TMP/want") hosts of lists are scontrol's" "$TMP/want" "$TMP/got"

# fake: a squeue that is the script that comes in, and no map from before. fails TEXT WANT: ibcc-jobs ends with 1, and the map
# says why.
fake() { cat >"$TMP/fake/squeue" && rm -f "$map"; }
fails()
{
	local rc=0
	fake
	PATH=$TMP/fake:$PATH once >"$TMP/check.log" 2>&1 || rc=$?
	equal "$1: it says so" "$rc $(trouble | grep -cF -- "$2") $(trouble | wc -l)" "1 1 1"
}
fails "no JSON" "what squeue gives cannot be used: byte 1: want an object" <<'SH'
#!/bin/sh
echo 'slurm_load_jobs error: Unable to contact slurm controller'
SH
fails "nothing" "what squeue gives cannot be used: byte 1: want an object" <<'SH'
#!/bin/sh
SH
fails "half of it" "what squeue gives cannot be used: byte 1" <<'SH'
#!/bin/sh
printf '{"jobs": [{"job_id": 1, '
SH
fails "any bytes" "what squeue gives cannot be used: byte " <<'SH'
#!/bin/sh
head -c 5000000 /dev/urandom
SH
fails "an error with control characters" "squeue ended with exit code 1: error: ?[31mred" <<'SH'
#!/bin/sh
printf 'error: \033[31mred\nmore\n' >&2
exit 1
SH
fails "a flood" "squeue printed more than 67108864 bytes and was killed" <<'SH'
#!/bin/sh
cat /dev/zero
SH

# Names of jobs that users choose to do harm. jq writes what a batch system would, and 1 MB of it.
jq -n '("\"<script>alert(1)</script>\u001b]0;x\u0007\u202e\\\n|" + ("A" * 1048576)) as $name |
	{jobs: [{job_id: 7, job_state: "RUNNING", name: $name, user_name: "u", nodes: "source1", start_time: 5}], errors: []}' >"$TMP/name.json"
fake <<SH
#!/bin/sh
cat $TMP/name.json
SH
check "a name of 1 MB with quotes, ESC and HTML is taken" env PATH="$TMP/fake:$PATH" "$jobs" --once -o "$map"
check "it is cut, and has no character that a terminal obeys" in_map '.jobs[0].name | (utf8bytelength == 127) and
	startswith("\"<script>alert(1)</script>?]0;x????\\ |A") and (test("[\u0000-\u001f\u007f-\u009f]") | not)'

# 5000 hosts and 2000 jobs, each with all members that a real one has.
within 20 squeue --json >"$TMP/real.json"
jq -c '.jobs[0] as $job | {meta, errors: [], jobs: [range(2000) | . as $i | $job + {job_id: ($i + 1), job_state: "RUNNING", name: "job \($i)",
	nodes: (if $i < 1000 then "n[\($i * 4 + 1)-\($i * 4 + 4)]" else "n\($i % 1000 + 4001)" end)}]}' "$TMP/real.json" >"$TMP/many.json"
fake <<SH
#!/bin/sh
cat $TMP/many.json
SH
PATH=$TMP/fake:$PATH background "$TMP/many.log" "$jobs" -i 1 -o "$map"
pid=$!
many() { in_map '(.jobs | length == 2000) and ([.jobs[].hosts[]] | unique | length == 5000)'; }
wait_until 30 many || fail "2000 jobs on 5000 hosts: $(trouble)"
ok "2000 jobs on 5000 hosts: $(wc -c <"$TMP/many.json") bytes of squeue, $(wc -c <"$map") bytes of map"
rounds() { [ "$(jq .made_s "$map")" -ge "$1" ]; }
ticks() { sed 's/.*) //' "/proc/$pid/stat" | awk '{ print $12 + $13 }'; }
from=$(jq .made_s "$map") before=$(ticks)
wait_until 60 rounds $((from + 10)) || fail "it does not go on"
peak=$(sed -n 's/^VmHWM:[[:space:]]*\([0-9]*\) kB/\1/p' "/proc/$pid/status")
echo "# $((($(ticks) - before) * 1000 / $(getconf CLK_TCK) / ($(jq .made_s "$map") - from))) ms of CPU time for each period, $peak kB at most"
[ "$peak" -lt 100000 ] || fail "ibcc-jobs takes $peak kB"
ok "memory is bounded"
stop "$pid"
rm "$TMP/fake/squeue"

# A sweep as an array: a shard that is ended goes on when the same command is submitted again.
within 30 scancel -u root
no_jobs() { [ -z "$(within 20 squeue -h)" ]; }
wait_until 60 no_jobs || fail "jobs do not end"
grid=("$top/perftest/scenarios/llnl.yaml" --jobs 1 --set congestion_control.enabled=true --set duration_ms=60
	--grid 'congestion_control.ca.ccti_timer=2,3,4,6,8' --grid 'congestion_control.ca.ccti_increase=1,2,3,4,5,6,7,8')
points() { jq -cS 'del(.cpu_s)' "$@" | sort; }
lines() { cat "$@" 2>/dev/null | wc -l; }
check "a sweep in one" "$lab" sweep "${grid[@]}" --out "$TMP/whole.jsonl"
points "$TMP/whole.jsonl" >"$TMP/want"
equal "it has all points" "$(lines "$TMP/want")" 40
# The third shard stands still after its first point, until it is ended.
cat >"$TMP/lab.sh" <<SH
#!/bin/bash
if [ "\$SLURM_ARRAY_TASK_ID" != 3 ] || [ -e $TMP/stands ]; then exec $lab "\$@"; fi
$lab "\$@" &
until [ -s $TMP/shards/sweep-3-of-8.jsonl ]; do sleep 0.01; done
kill -STOP \$! && : >$TMP/stands && sleep 600
SH
chmod 755 "$TMP/lab.sh"
mkdir "$TMP/shards"
export IBCC_LAB=$TMP/lab.sh SWEEP_DIR=$TMP/shards
sweep() { within 20 sbatch --parsable --array=1-8 --output="$TMP/shards/log-%a" "$top/perftest/lab/sweep.sbatch" "${grid[@]}" || fail "sbatch sweep"; }
array=$(sweep)
only_third() { [ -e "$TMP/stands" ] && [ "$(within 20 squeue -h -r -o %K)" = 3 ]; }
wait_until 120 only_third || { cat "$TMP"/shards/log-*; fail "the array does not run: $(within 20 squeue -r)"; }
[ "$(lines "$TMP/shards/sweep-3-of-8.jsonl")" -lt 5 ] || fail "the third shard was not stopped in time"
within 20 scancel "${array}_3"
wait_until 60 no_jobs || fail "the shard is not ended"
points "$TMP"/shards/sweep-?-of-8.jsonl >"$TMP/got"
differ "an array of eight, of which one was ended, lacks points" "$TMP/want" "$TMP/got"
sweep >"$TMP/number"
wait_until 120 no_jobs || fail "the array does not end"
points "$TMP"/shards/sweep-?-of-8.jsonl >"$TMP/got"
same "submitted again it has all points once, as one run has" "$TMP/want" "$TMP/got"
