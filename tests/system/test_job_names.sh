# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=bash
# Users choose the names of their jobs, and some batch systems what a job's number looks like. Names with quotes, line
# feeds, control and directional characters, HTML, formulas of spreadsheets and 1 MB of text harm no output.
. "$(dirname "$0")/lib.sh"

start_marked
start_opensm --plugin
start_tuned "metrics_file: $TMP/metrics.prom"

begun=$(($(date +%s) - 600))
# The first job fills the slow receiver, two others have hosts of it, too, and the last one suffers.
map()
{
	jq -n --argjson now "$(date +%s)" --argjson begun "$begun" '
		("\"'\'',;\n\r\t\u001b]0;evil\u0007\u001b[31m\u009b31m\u0085\u007f\u202e\u2066\u200f\u061c\u2028\ufeff<img src=x onerror=alert(1)></script>&\\%s%n$(id)`id`") as $all |
		def job($number; $first; $more; $hosts): {id: "\($number)\($first)\($all)"[0:40], user: "\($first)u\($all)", name: "\($first)n\($all)\($more)",
			start_s: $begun, end_s: 0, hosts: $hosts};
		{version: 1, made_s: $now, period_s: 600, source: "=s\($all)", jobs: [
			job(""; "="; ""; ["source1", "source2", "source3"]), job(""; "+"; "A" * 1048576; ["source2"]),
			job(""; "-"; ""; ["source3"]), job(""; "@"; ""; ["source4", "=h\($all)"[0:60]])]}' >"$TMP/jobs.new"
	mv "$TMP/jobs.new" "$TMP/jobs.json"
}
map
wait_until 30 status '(.whose // "") | test("is blocked")' || fail "no jobs: $(jq -c '[.jobs, .whose]' "$TMP/status.json")"
settled() { map; sleep 1; tune jobs -j >"$TMP/jobs.answer" 2>"$TMP/tune.log" && jq -e '.jobs | length == 4' "$TMP/jobs.answer"; }
wait_until 60 settled || fail "jobs: $(cat "$TMP/jobs.answer")"
wait_until 60 grep -q ' jobs: job ' "$TMP/tuned.log" || fail "the journal names no job"
wait_until 60 grep -q '^ibcc_job_congestion_share{job="' "$TMP/metrics.prom" || fail "metrics have no jobs: $(grep ibcc_job "$TMP/metrics.prom")"

mkdir "$TMP/out"
for command in status plan show history jobs 'jobs --since 1h' probe; do
	name=${command// /}
	# shellcheck disable=SC2086 # a command and its options
	tune $command >"$TMP/out/$name" 2>"$TMP/tune.log" || fail "$command"
	# shellcheck disable=SC2086
	tune $command -j >"$TMP/out/$name.json" 2>"$TMP/tune.log" || fail "$command -j"
done
tune jobs --csv >"$TMP/out/jobs.csv" 2>"$TMP/tune.log" || fail "jobs --csv"
tune plan --csv >"$TMP/out/plan.csv" 2>"$TMP/tune.log" || fail "plan --csv"
tune report --html "$TMP/out/report.html" -j >"$TMP/out/report.json" 2>"$TMP/tune.log" || fail report
tune bundle -o "$TMP/bundle" >"$TMP/bundle.log" 2>&1 || fail "bundle"
zcat -f "$TMP/bundle" >"$TMP/out/bundle"
cp "$TMP/metrics.prom" "$TMP/out/metrics"
cp "$TMP/tuned.log" "$TMP/out/journal"
named='=n"'\'',;'
for f in status plan jobs jobs.csv report.html status.json plan.json jobs.json; do
	sed -e 's/&quot;/"/g' -e 's/&#39;/'\''/g' -e 's/\\"/"/g' -e 's/""/"/g' "$TMP/out/$f" | grep -qF -- "$named" || fail "$f does not have the name: $(head -c 2000 "$TMP/out/$f")"
done
ok "status, plan, jobs, their JSON, CSV and the report have the names"

cd "$TMP/out" || exit 1
# Bytes: UTF-8's forms of C1 and of directional characters begin with c2, d8, e2 and ef.
for f in *; do
	rc=0
	LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]|\xef\xbb\xbf' "$f" >"$TMP/found.log" || rc=$?
	case $f in bundle) ;; *) [ "$rc" = 1 ] || fail "$f has a character that controls something: $(head -c 500 "$TMP/found.log" | cat -v)" ;; esac
	[ "$(LC_ALL=C tr -d -c A <"$f" | wc -c)" -lt 20000 ] || fail "$f has the long name in full"
done
ok "no output has a control or directional character, or the long name in full"
for f in *.json; do jq -e . "$f" >"$TMP/jq.log" 2>&1 || fail "$f is no JSON: $(cat "$TMP/jq.log")"; done
ok "JSON is JSON"
without "the report has no element of a name's" report.html -i '<img src=x\|onerror=alert(1)><'
check "but has it as text" grep -qF '&lt;img src=x onerror=alert(1)&gt;' report.html
equal "CSV has a line for each job" "$(wc -l <jobs.csv)" 5
without "and no formula" jobs.csv -E '(^|,)"?[=+@]|(^|,)"?-[a-z]'
sed -n 's/^ibcc_job_[a-z_]*{job="//p' metrics >"$TMP/labels"
[ -s "$TMP/labels" ] || fail "metrics have no jobs"
without "labels of metrics end where they should" "$TMP/labels" -vE '^([^"\\]|\\\\|\\"|\\n)*"\} [0-9.]+$'
if command -v promtool >/dev/null; then
	check "promtool reads them" sh -c 'promtool check metrics <metrics'
fi
without "each line of the journal is the daemon's" journal -vE '^<[0-9]>ibcc-tuned: '
without "nor does it have users or names" journal -F "$named"

TERM=xterm timeout 60 script -qec "stty rows 60 cols 250; NO_COLOR=1 $IBCC_BUILD/ibcc-tune -z $TMP/cli.yaml top --limit 1" /dev/null </dev/null >"$TMP/top" || fail top
check "top has the name" grep -qF -- "$named" "$TMP/top"
without "and not what it does to a terminal" "$TMP/top" -P '\x1b\]0;evil|\x1b\[31m|\xc2\x9b'
