# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Comments for jobs without Slurm: programs that record their arguments stand for Slurm's. tests/slurm/ has a real Slurm.
. "$(dirname "$0")/lib.sh"

mkdir "$TMP/with"
program() { { echo '#!/bin/sh'; cat; } >"$TMP/with/$1" && chmod 755 "$TMP/with/$1"; }
# The job of each update, and its text, is a line of the file `updates`.
program scontrol <<SH
case \$1 in
show) echo "AccountingStorageType   = accounting_storage/slurmdbd" ;;
*) echo "\$2" "\$3" >>$TMP/updates ;;
esac
SH
program squeue <<'SH'
echo '(null)'
SH
program ibcc-tune <<SH
cat $TMP/rows.json
SH
# rows N END MS: jobs from 1001 on that caused congestion for this time.
rows()
{
	jq -n --argjson n "$1" --argjson end "$2" --argjson ms "$3" '{jobs: [range(1001; 1001 + $n) | {id: "\(.)", start: 5, end: $end,
		worst_root: "x", contributor_ms: $ms, shared_contributor_ms: 0, suspect_ms: 0, victim_ms: 0, shared_victim_ms: 0}]}' >"$TMP/rows.json"
}
comments() { cd "$TMP" && PATH=$TMP/with:$PATH within 60 sh "$top/monitoring/job-comments.sh" "$@"; }

# One run writes 100 comments. The figures of all jobs change before each run.
: >"$TMP/updates"
rows 150 null 14000
check "a folder relative to the present one is taken" comments folder
equal "a run writes 100 comments" "$(wc -l <"$TMP/updates")" 100
rows 150 null 15000
check "a second run" comments folder
equal "each job has its turn" "$(cut -d ' ' -f 1 "$TMP/updates" | sort -u | wc -l)" 150
rows 2 null 16000
: >"$TMP/updates"
check "a third run" comments folder
equal "begins again with the first job" "$(cat "$TMP/updates")" "JobId=1001 AdminComment=ibcc-tune: caused congestion for 16 s; longest at x
JobId=1002 AdminComment=ibcc-tune: caused congestion for 16 s; longest at x"
check "a run without changes" comments folder
equal "writes nothing" "$(wc -l <"$TMP/updates")" 2

# What timeout ends with, and says, if there is no such program.
program sacct <<'SH'
echo "timeout: failed to run command 'sacct': No such file or directory" >&2
exit 127
SH
rows 2 9 17000
rc=0
comments folder >"$TMP/missing.log" 2>&1 || rc=$?
equal "a program of Slurm's that is missing is named" "$rc $(cat "$TMP/missing.log")" "1 job-comments.sh: Slurm did not take all comments\
 (2 failed), so the next run tries again: timeout: failed to run command 'sacct': No such file or directory"
