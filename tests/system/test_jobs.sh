#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# ibcc-jobs with a site's own command and file, as an administrator starts it. What it does with a real Slurm is in
# tests/slurm.
. "$(dirname "$0")/lib.sh"
jobs=$IBCC_BUILD/ibcc-jobs
mkdir "$TMP/out"
map=$TMP/out/jobs.json
in_map() { jq -e "$1" "$map"; }
# status WANT COMMAND...: its exit code; what it says is in err.log.
status()
{
	local want=$1 rc=0
	shift
	within 20 "$@" >"$TMP/out.log" 2>"$TMP/err.log" || rc=$?
	equal "${*:2} ends with $want" "$rc" "$want"
}

status 0 "$jobs" --help
check "the help has the providers" grep -q 'slurm (default), file or' "$TMP/out.log"
status 0 "$jobs" --version
for wrong in '--provider pbs' '--provider command' '--provider file' '--command true' '--file x' '--period 0' x; do
	# shellcheck disable=SC2086 # an option and its value
	status 1 "$jobs" $wrong --once -o "$map"
	check "and says what is wrong" grep -q '^ibcc-jobs: ' "$TMP/err.log"
done
[ ! -e "$map" ] || fail "a wrong option leaves a map"

# answer JOBS [MADE_S]: a map as a site's script makes it, replaced as a whole.
answer() { printf '{"version": 1, "made_s": %d, "period_s": 60, "source": "site", "jobs": [%s]}\n' "${2:-$(date +%s)}" "$1" >"$TMP/site.new" && mv "$TMP/site.new" "$TMP/site.json"; }
one='{"id": "7", "user": "ann", "name": "cfd", "start_s": 100, "hosts": ["source1", "source2"]}'
two='{"id": "8", "user": "bob", "name": "fft", "start_s": 200, "hosts": ["source1"]}'
answer "$one"
status 0 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "the map has the file's job" in_map '.jobs[0] | .id == "7" and .user == "ann" and .name == "cfd" and .hosts == ["source1", "source2"]'
check "its provider, the longer period and no trouble" in_map '.source == "file" and .period_s == 60 and .trouble == ""'
equal "its group may read it, and others may not" "$(stat -c %a "$map")" 640
answer "$two"
status 0 "$jobs" --once -o "$map" -p file -f "$TMP/site.json" --no-users --no-names
check "a job that has gone ends when it was seen last, also after a new start" in_map '.jobs[0] | .id == "7" and .end_s > 1700000000'
check "names and users can be kept back, of old jobs, too" in_map '[.jobs[] | .user + .name == ""] | length == 2 and all'
rm "$TMP/site.json"
status 1 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "without an answer the jobs stay, with the reason" in_map '(.jobs | length == 2) and (.trouble | test("site.json cannot be read: No such file"))'
answer "$one" 1000
status 1 "$jobs" --once -o "$map" -p file -f "$TMP/site.json"
check "an old answer is none" in_map '.trouble | test("is out of date; see whether the script that makes it still runs")'
rm "$map"
status 0 "$jobs" --once -o "$map" -p command -c "cat $TMP/site.json | sed 's/1000/'\$(date +%s)/"
check "a command is run by a shell" in_map '.source == "command" and (.jobs | length == 1)'
status 1 "$jobs" --once -i 1 -o "$map" -p command -c 'trap "" TERM; sleep 600'
check "a command that hangs is killed, and the map says so" in_map '.trouble | test("had not ended after 1 s and was killed")'

mkdir -m 777 "$TMP/open"
status 1 "$jobs" --once -o "$TMP/open/jobs.json" -p command -c true
check "a folder that others can write to is refused" grep -q 'other users can write to the folder' "$TMP/err.log"
ln -s "$TMP/out" "$TMP/link"
status 1 "$jobs" --once -o "$TMP/link/jobs.json" -p command -c true
check "and so is a link" grep -q 'is a link or no folder' "$TMP/err.log"
equal "nothing is written there" "$(ls "$TMP/open" | wc -l) $(ls "$TMP/out" | wc -l)" "0 1"

# A script's own period is longer than --period, and its answer holds for two of them, also over a new start.
rm "$map"
printf '{"version": 1, "made_s": %d, "period_s": 600, "source": "site", "jobs": [%s]}\n' $(($(date +%s) - 900)) "$one" >"$TMP/site.json"
status 0 "$jobs" --once -i 30 -o "$map" -p file -f "$TMP/site.json"
rm "$TMP/site.json"
status 1 "$jobs" --once -i 30 -o "$map" -p file -f "$TMP/site.json"
check "a new start keeps a script's answer for two of the script's periods" in_map '.period_s == 600 and (.jobs | length == 1)'
jq -c '.source = "slurm"' "$map" >"$TMP/out/slurm.json" && mv "$TMP/out/slurm.json" "$map"
printf '#!/bin/sh\nexit 1\n' >"$TMP/squeue" && chmod 755 "$TMP/squeue"
PATH=$TMP:$PATH status 1 "$jobs" --once -i 30 -o "$map"
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
