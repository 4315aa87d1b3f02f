#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# job-comments.sh [FOLDER]: shows users of Slurm what congestion their jobs caused and suffered. It writes a line into the
# AdminComment of each job that took part in congestion within the last hour:
#
#	ibcc-tune: caused congestion for 14 s; was blocked for 3 min; longest at destination1 (leaf2 port 2)
#
# Run it each minute on the host of ibcc-tuned. Slurm takes the comment from root, SlurmUser and administrators. The folder
# keeps what was written; nobody else may write to it.
#
# It takes no part in the start or the end of a job, so it can neither delay a job nor make it fail. An epilog could not do
# its work: Slurm takes a comment with scontrol only while the job runs, and the last figures come after the end. If there is
# an accounting database, it takes them.
#
# Slurm gets a job's number, figures and the name of a port, and no text that a user has chosen.
set -u
export LC_ALL=C

dir=${1:-/var/lib/ibcc-job-comments}
most=100 # comments of one run
failed=0
why=
tab=$(printf '\t')

end() { echo "job-comments.sh: $*" >&2; exit 1; }
# A call of Slurm's that takes this long does not get faster in this run.
slurm() { timeout -k 1 10 "$@" 2>"$dir/error" </dev/null; }

umask 077
mkdir -p "$dir" && cd "$dir" && dir=$PWD && touch "$dir/written" && exec 9>"$dir/lock" || end "cannot write to $dir, so no job gets a comment"
flock -n 9 || exit 0 # the run before goes on

accounting=$(slurm scontrol show config | sed -n 's/^AccountingStorageType *= *//p')
[ "$accounting" ] || end "Slurm does not answer, so no job gets a comment: $(head -n 1 "$dir/error"); try scontrol ping"
timeout -k 1 30 ibcc-tune -j jobs --since 1h >"$dir/answer" 2>"$dir/error" ||
	end "ibcc-tuned does not answer, so no job gets a comment: $(head -n 1 "$dir/error"); try ibcc-tune status"

# A line for the last run of each job: number, state, comment. Other batch systems may have other numbers.
jq -r 'def time: if . >= 3600000 then "\(. / 360000 | round / 10) h" elif . >= 60000 then "\(. / 60000 | round) min"
		else "\(. / 1000 | round) s" end;
	def part($text): if . >= 500 then "\($text) for \(time)" else empty end;
	[.jobs[] | select(.id | test("^[0-9]+(_[0-9]+)?$"))] | group_by(.id)[] | max_by(.start) |
	[(.contributor_ms | part("caused congestion")), (.shared_contributor_ms | part("may have caused congestion on shared hosts")),
		(.suspect_ms | part("may have caused congestion")), (.victim_ms + .shared_victim_ms | part("was blocked"))] as $parts |
	select($parts != []) | "\($parts | join("; "))\(if .worst_root then "; longest at \(.worst_root)" else "" end)" as $text |
	[.id, if .end then "ended" else "runs" end,
		("ibcc-tune: \($text)" | gsub("[^A-Za-z0-9 ._:;()/+-]"; "?"))[0:250]] | @tsv' "$dir/answer" >"$dir/lines" 2>"$dir/error" ||
	end "cannot read what ibcc-tune says, so no job gets a comment: $(head -n 1 "$dir/error")"
sort "$dir/lines" >"$dir/wanted"
comm -12 "$dir/written" "$dir/wanted" >"$dir/kept"
# Where more jobs change than one run writes, the next run begins behind the last one that was written, so each has its turn.
last=$(head -n 1 "$dir/last" 2>/dev/null)
comm -13 "$dir/written" "$dir/wanted" | awk -F '\t' -v last="$last" '$1 "" > last { print; next }
	{ early[n++] = $0 } END { for (i = 0; i < n; i++) print early[i] }' | head -n "$most" >"$dir/todo"

# Slurm's answer is an error; one that says that the job has ended is none: the next map has that.
unless() { code=$? && ! grep -q "$1" "$dir/error" || return 0; return "$code"; }
# write STATE NUMBER COMMENT: 0: written, or there is nothing to write. A comment that is the site's own stays.
write()
{
	case $1 in
	runs)
		old=$(slurm squeue -h -r -t running -j "$2" -O admin_comment:20) || { unless 'Invalid job id'; return; }
		case $old in 'ibcc-tune:'* | '(null)'*) ;; *) return 0 ;; esac
		slurm scontrol update "JobId=$2" "AdminComment=$3" >/dev/null || unless 'already finished'
		;;
	ended)
		[ "$accounting" = accounting_storage/slurmdbd ] || return 0
		old=$(slurm sacct -nXP -j "$2" -o admincomment) || return
		case $old in '' | 'ibcc-tune:'*) ;; *) return 0 ;; esac
		slurm sacctmgr -i modify job where "jobid=$2" set "AdminComment=$3" >/dev/null
		;;
	esac
}

while IFS=$tab read -r id state text; do
	rc=0
	last=$id
	write "$state" "$id" "$text" || rc=$?
	if [ "$rc" = 0 ]; then
		printf '%s\t%s\t%s\n' "$id" "$state" "$text" >>"$dir/kept"
		continue
	fi
	failed=$((failed + 1))
	why=$(head -n 1 "$dir/error")
	# timeout ended it: further calls would take as long.
	case $rc in 124 | 137) why="no answer within 10 s" && break ;; esac
done <"$dir/todo"
printf '%s\n' "$last" >"$dir/last"
sort "$dir/kept" >"$dir/written"
[ "$failed" = 0 ] || end "Slurm did not take all comments ($failed failed), so the next run tries again: $why"
