#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ibcc-jobs with a site's own command and file, as an administrator starts it. What it does with a real Slurm is in
# tests/slurm.
. "$(dirname "$0")/lib.sh"
jobs=$IBCC_BUILD/ibcc-jobs
mkdir "$TMP/out"
map=$TMP/out/jobs.json
in_map() { jq -e "$1" "$map"; }
# exits WANT COMMAND...: its exit code; what it says is in err.log.
exits()
{
	local want=$1 rc=0
	shift
	within 20 "$@" >"$TMP/out.log" 2>"$TMP/err.log" || rc=$?
	equal "${*:2} ends with $want" "$rc" "$want"
}

exits 0 "$jobs" --help
check "the help has the providers" grep -q 'slurm (default), file or' "$TMP/out.log"
exits 0 "$jobs" --version
for wrong in '--provider pbs' '--provider command' '--provider file' '--command true' '--file x' '--period 0' x; do
	# shellcheck disable=SC2086 # an option and its value
	exits 1 "$jobs" $wrong --once -o "$map"
	check "and says what is wrong" grep -q '^ibcc-jobs: ' "$TMP/err.log"
done
[ ! -e "$map" ] || fail "a wrong option leaves a map"

# answer JOBS [MADE_S]: a map as a site's script makes it, replaced as a whole.
answer() { printf '{"version": 1, "made_s": %d, "period_s": 60, "source": "site", "jobs": [%s]}\n' "${2:-$(date +%s)}" "$1" >"$TMP/site.new" && mv "$TMP/site.new" "$TMP/site.json"; }
one='{"id": "7", "user": "ann", "name": "cfd", "start_s": 100, "hosts": ["source1", "source2"]}'
two='{"id": "8", "user": "bob", "name": "fft", "start_s": 200, "hosts": ["source1"]}'
answer "$one"
exits 0 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "the map has the file's job" in_map '.jobs[0] | .id == "7" and .user == "ann" and .name == "cfd" and .hosts == ["source1", "source2"]'
check "its provider, the longer period and no trouble" in_map '.source == "file" and .period_s == 60 and .trouble == ""'
equal "its group may read it, and others may not" "$(stat -c %a "$map")" 640
answer "$two"
exits 0 "$jobs" --once -o "$map" -p file -f "$TMP/site.json" --no-users --no-names
check "a job that has gone ends when it was seen last, also after a new start" in_map '.jobs[0] | .id == "7" and .end_s > 1700000000'
check "names and users can be kept back, of old jobs, too" in_map '[.jobs[] | .user + .name == ""] | length == 2 and all'
rm "$TMP/site.json"
exits 1 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "without an answer the jobs stay, with the reason" in_map '(.jobs | length == 2) and (.trouble | test("site.json cannot be read: No such file"))'
answer "$one" 1000
exits 1 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "an old answer is none" in_map '.trouble | test("is out of date; see whether the script that makes it still runs")'
rm "$map"
exits 0 "$jobs" --once -o "$map" -p command -c "cat $TMP/site.json | sed 's/1000/'\$(date +%s)/"
check "a command is run by a shell" in_map '.source == "command" and (.jobs | length == 1)'
exits 1 "$jobs" --once -i 1 -o "$map" -p command -c 'trap "" TERM; sleep 600'
check "a command that hangs is killed, and the map says so" in_map '.trouble | test("had not ended after 1 s and was killed")'

mkdir -m 777 "$TMP/open"
exits 1 "$jobs" --once -o "$TMP/open/jobs.json" -p command -c true
check "a folder that others can write to is refused" grep -q 'other users can write to the folder' "$TMP/err.log"
ln -s "$TMP/out" "$TMP/link"
exits 1 "$jobs" --once -o "$TMP/link/jobs.json" -p command -c true
check "and so is a link" grep -q 'is a link or no folder' "$TMP/err.log"
equal "nothing is written there" "$(ls "$TMP/open" | wc -l) $(ls "$TMP/out" | wc -l)" "0 1"

# A script's own period is longer than --period, and its answer holds for two of them, also over a new start.
rm "$map"
printf '{"version": 1, "made_s": %d, "period_s": 600, "source": "site", "jobs": [%s]}\n' $(($(date +%s) - 900)) "$one" >"$TMP/site.json"
exits 0 "$jobs" --once -i 30 -o "$map" -p file -f "$TMP/site.json"
rm "$TMP/site.json"
exits 1 "$jobs" --once -i 30 -o "$map" -p file -f "$TMP/site.json"
check "a new start keeps a script's answer for two of the script's periods" in_map '.period_s == 600 and (.jobs | length == 1)'
jq -c '.source = "slurm"' "$map" >"$TMP/out/slurm.json" && mv "$TMP/out/slurm.json" "$map"
printf '#!/bin/sh\nexit 1\n' >"$TMP/squeue" && chmod 755 "$TMP/squeue"
PATH=$TMP:$PATH exits 1 "$jobs" --once -i 30 -o "$map"
check "of Slurm the period is --period" in_map '.period_s == 30 and .jobs == []'

# A service: it goes on, logs a trouble once, and ends at once though a command runs.
answer "$one"
background "$TMP/jobs.log" "$jobs" -i 1 -o "$map" -p command -c "cat $TMP/site.json"
pid=$!
wait_until 20 in_map '.trouble == ""' || fail "no answer"
rm "$TMP/site.json"
wait_until 20 in_map '.trouble != ""' || fail "a command that fails is not noticed"
chmod 777 "$TMP/out"
wait_until 20 grep -q 'other users can write' "$TMP/jobs.log" || fail "an open folder is not noticed"
chmod 755 "$TMP/out"
wait_until 20 grep -q 'is written again' "$TMP/jobs.log" || fail "it does not go on"
answer "$two"
wait_until 20 in_map '.trouble == "" and .jobs[-1].id == "8"' || fail "it does not go on"
equal "the log has a trouble once" "$(grep -c 'knows no new jobs until this is corrected' "$TMP/jobs.log")" 1
equal "and its end" "$(grep -c 'the provider answers again: ' "$TMP/jobs.log")" 1
kill "$pid"
wait "$pid"
equal "it ends with 0" "$?" 0
background "$TMP/jobs.log" "$jobs" -o "$map" -p command -c "echo \$\$ >$TMP/child; exec sleep 600"
pid=$!
wait_until 20 test -s "$TMP/child" || fail "no command"
kill "$pid"
wait_until 20 gone "$pid" || fail "it waits for its command"
wait_until 20 gone "$(cat "$TMP/child")" || fail "it leaves its command"
ok "it ends with its command"

# The page's scripts for PBS and LSF, as they stand there, with what the clients of these systems print.
page=$top/doc/howto/slurm.md
mkdir "$TMP/with"
# script SECTION: the script of a section of the page.
script() { sed -n "/^## $1\$/,/^## /s/^    //p" "$page" | sed '/^IBCC_JOBS_OPTIONS=/d' >"$TMP/with/$1-map" && chmod 755 "$TMP/with/$1-map"; }
# client NAME ARGUMENTS: a client that prints what comes in if it is called like that.
client() { cat >"$TMP/with/$1.out" && printf '#!/bin/sh\n[ "$*" = "%s" ] && exec cat %s\nexit 2\n' "$2" "$TMP/with/$1.out" >"$TMP/with/$1" && chmod 755 "$TMP/with/$1"; }
by_script() { rm -f "$map" && PATH=$TMP/with:$PATH TZ=UTC within 20 "$jobs" --once -o "$map" -p command -c "$TMP/with/$1-map"; }
script PBS
# A job without hosts yet, subjobs of an array, a number for a name, which qstat does not quote, and a name with quotes.
client qstat '-t -f -F json' <<'JSON'
{
    "timestamp":1795918576,
    "pbs_version":"23.06.06",
    "pbs_server":"pbs1",
    "Jobs":{
        "4711.pbs1":{
            "Job_Name":"cfd \"big\"",
            "Job_Owner":"ann@login1.example.org",
            "job_state":"R",
            "queue":"workq",
            "exec_host":"source1/0*8+source1/1*8+source2/0",
            "exec_vnode":"(source1:ncpus=8)+(source1:ncpus=8)+(source2:ncpus=1)",
            "stime":"Thu Nov  5 08:06:40 2026",
            "Variable_List":{
                "PBS_O_HOME":"/home/ann"
            }
        },
        "4712[].pbs1":{
            "Job_Name":"array",
            "Job_Owner":"bob@login1",
            "job_state":"B",
            "queue":"workq"
        },
        "4712[1].pbs1":{
            "Job_Name":"array",
            "Job_Owner":"bob@login1",
            "job_state":"R",
            "exec_host":"source3/0",
            "stime":"Sun Nov 29 02:03:04 2026"
        },
        "4713.pbs1":{
            "Job_Name":42,
            "Job_Owner":"bob@login1",
            "job_state":"R",
            "exec_host":"source4/0"
        },
        "4714.pbs1":{
            "Job_Name":"waits",
            "Job_Owner":"bob@login1",
            "job_state":"Q"
        }
    }
}
JSON
check "the page's script for PBS is taken" by_script PBS
jq -r '.jobs[] | select(.start_s < 1795918000) | [.id, .user, .name, .start_s, (.hosts | join(" "))] | join("|")' "$map" | sort >"$TMP/got"
same "with the jobs that run, their users, names, starts and hosts" - "$TMP/got" <<'TEXT'
4711.pbs1|ann|cfd "big"|1793866000|source1 source2
4712[1].pbs1|bob|array|1795917784|source3
TEXT
check "and a job whose name is a number" in_map '.jobs[] | select(.id == "4713.pbs1") | .name == "42" and .start_s > 1700000000 and .hosts == ["source4"]'
printf '{"timestamp":1,"pbs_version":"23.06.06","pbs_server":"pbs1"}\n' >"$TMP/with/qstat.out"
check "PBS without jobs" by_script PBS
check "has none" in_map '.jobs == [] and .trouble == ""'

script LSF
client bjobs '-u all -r -json -o jobid jobindex user job_name exec_host' <<'JSON'
{
  "COMMAND":"bjobs",
  "JOBS":4,
  "RECORDS":[
    {
      "JOBID":"4711",
      "JOBINDEX":"0",
      "USER":"ann",
      "JOB_NAME":"cfd",
      "EXEC_HOST":"16*source1:source2:2*source2"
    },
    {
      "JOBID":"4712",
      "JOBINDEX":"1",
      "USER":"bob",
      "JOB_NAME":"array[1]",
      "EXEC_HOST":"source3"
    },
    {
      "JOBID":"4712",
      "JOBINDEX":"2",
      "USER":"bob",
      "JOB_NAME":"array[2]",
      "EXEC_HOST":"source3"
    },
    {
      "JOBID":"4713",
      "JOBINDEX":"0",
      "USER":"bob",
      "JOB_NAME":"starts",
      "EXEC_HOST":""
    }
  ]
}
JSON
check "the page's script for LSF is taken" by_script LSF
jq -r '.jobs[] | [.id, .user, .name, (.hosts | join(" "))] | join("|")' "$map" | sort >"$TMP/got"
same "with the jobs that run" - "$TMP/got" <<'TEXT'
4711|ann|cfd|source1 source2
4712[1]|bob|array[1]|source3
4712[2]|bob|array[2]|source3
TEXT
check "each has a start" in_map '[.jobs[].start_s > 1700000000] | all'
printf '#!/bin/sh\necho "batch system daemon not responding ... still trying" >&2\nexit 255\n' >"$TMP/with/bjobs"
rc=0
by_script LSF >"$TMP/check.log" 2>&1 || rc=$?
equal "a client that fails is no empty list of jobs" "$rc $(jq -r '.trouble != ""' "$map")" "1 true"
