#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# A page of the documentation as one HTML file: the text by hand, the figures and the plot measured.
#
# render.sh page BENCH NAME.md NAME.html [OPTION...]   runs the experiment NAME with the options
# render.sh tuned BENCH NAME.md NAME.html [OPTION...]  runs the scoring files that it names
# render.sh index INDEX.html NAME.md...                links to NAME.html beside it
#
# The text is Markdown with tables, for cmark-gfm. "<!-- plot -->" and "<!-- table -->" on a line of their
# own are the places for those; of a scoring file "<!-- plot NAME -->" and "<!-- table NAME -->".
set -eu

head_of()
{
	cat <<-HTML
	<!DOCTYPE html>
	<html lang="en"><head><meta charset="utf-8"><title>$1</title><style>
	body { font: 16px/1.5 system-ui, sans-serif; max-width: 54rem; margin: 2rem auto; padding: 0 1rem }
	table { border-collapse: collapse; margin: 1rem 0; font-size: 14px }
	th, td { border-bottom: 1px solid #ddd; padding: .25rem .75rem .25rem 0; text-align: left; vertical-align: top }
	td:nth-child(2) { white-space: nowrap }
	.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
	small { color: #555; display: block } .bad { background: #fdd }
	code { background: #f3f3f3 } svg { max-width: 100%; height: auto }
	</style></head><body>
	HTML
}

# text MD PLOT TABLE, by way of $tmp
text()
{
	# All pages are in one folder, as HTML.
	cmark-gfm -e table --unsafe "$1" | sed 's|href="\(\.\./\)\{0,1\}\([a-z]*/\)\{0,1\}\([a-z0-9-]*\)\.md|href="\3.html|g' >"$tmp/text"
	awk -v plot="$2" -v table="$3" '
	function insert(file, line) { while ((getline line < file) > 0) print line }
	/^<!-- plot -->$/ { insert(plot); next }
	/^<!-- table -->$/ { insert(table); next }
	/^<!-- plot [a-z0-9-]+ -->$/ { insert(plot "/" $3 ".plot"); next }
	/^<!-- table [a-z0-9-]+ -->$/ { insert(table "/" $3 ".rows"); next }
	!/^<!--.*-->$/' "$tmp/text"
}

title_of() { sed -n 's/^# //p' "$1" | head -n 1; }

# rows JSON: every figure beside the published one.
rows()
{
	jq -r 'def figure: if . == null then "" else (if fabs >= 100 then 10 else 1000 end) as $f
			| . * $f | round / $f | tostring end;
		(if .rows[0] | has("target") then "target" else "published" end) as $held |
		"<table><tr><th>figure</th><th>unit</th><th class=\"n\">\($held)</th>",
		"<th class=\"n\">measured</th><th class=\"n\">low</th><th class=\"n\">high</th></tr>",
		(.rows[] | "<tr" + (if .ok then "" else " class=\"bad\"" end) + "><td>" + (.name | @html)
			+ (if .reason then "<small>" + (.reason | @html) + "</small>" else "" end)
			+ "</td><td>" + (.unit | @html) + "</td>"
			+ ([.[$held], .measured, .low, .high] | map("<td class=\"n\">" + figure + "</td>") | add)
			+ "</tr>"),
		"</table>"' "$1"
}

page()
{
	bench=$1 md=$2 html=$3
	shift 3
	name=$(basename "$md" .md)
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	status=0
	"$bench" run "$name" -j --plot "$tmp/plot" "$@" >"$tmp/json" || status=$?
	[ -s "$tmp/json" ] || exit "$status"
	rows "$tmp/json" >"$tmp/rows"
	{
		head_of "$(title_of "$md")"
		echo '<p><a href="index.html">All experiments</a></p>'
		text "$md" "$tmp/plot" "$tmp/rows"
		jq -r '"<hr><p><small>Measured by <code>ibcc-bench run \(.experiment)</code>: "
			+ (if .engine.packet_hops > 0 then "\(.engine.packet_hops) packet hops"
				else "on the clock of one machine" end)
			+ ", \(.engine.cpu_s | round) s of CPU time.</small></p>"' \
			"$tmp/json"
		echo '</body></html>'
	} >"$tmp/html"
	mv "$tmp/html" "$html"
	# A row out of its bounds is shown, and told; it is for the tests to fail.
	[ "$status" = 0 ] || { echo "render.sh: $name: a figure is out of its bounds" >&2; }
}

# variants JSON: what each way of congestion control gives.
variants()
{
	jq -r 'def figure: if . == null then "" else . * 10 | round / 10 | tostring end;
		"<table><tr><th>setting</th><th class=\"n\">hot MB/s</th><th class=\"n\">victim</th>",
		"<th class=\"n\">background</th><th class=\"n\">share of the ideal, %</th>",
		"<th class=\"n\">cycles to settle</th><th class=\"n\">Sets</th></tr>",
		(.variants[] | "<tr><td>" + (.name | @html) + "</td>" + ([.hot_MBps, .victim_MBps,
			.background_MBps, (if .ideal_share then 100 * .ideal_share else null end),
			.settle_cycles, .sets]
			| map("<td class=\"n\">" + figure + "</td>") | add) + "</tr>"),
		"</table>"' "$1"
}

tuned()
{
	bench=$1 md=$2 html=$3
	shift 3
	tmp=$(mktemp -d)
	trap 'rm -rf "$tmp"' EXIT
	for name in $(sed -n 's/^<!-- \(plot\|table\) \([a-z0-9-]*\) -->$/\2/p' "$md" | sort -u); do
		status=0
		plot=
		! grep -qx "<!-- plot $name -->" "$md" || plot=--plot=$tmp/$name.plot
		"$bench" tune "$name" -j ${plot:+"$plot"} "$@" >"$tmp/$name.json" || status=$?
		[ -s "$tmp/$name.json" ] || exit "$status"
		{ variants "$tmp/$name.json"; rows "$tmp/$name.json"; } >"$tmp/$name.rows"
		[ "$status" = 0 ] || echo "render.sh: $name: a figure is out of its bounds" >&2
	done
	{
		head_of "$(title_of "$md")"
		echo '<p><a href="index.html">All experiments</a></p>'
		text "$md" "$tmp" "$tmp"
		echo '</body></html>'
	} >"$tmp/html"
	mv "$tmp/html" "$html"
}

links() { for page; do printf '<p><a href="%s.html">%s</a></p>\n' "$(basename "$page" .md)" "$(title_of "$page")"; done; }

index()
{
	html=$1
	shift
	{
		head_of 'Documentation'
		echo '<h1>Begin here</h1>'
		links doc/concepts.md doc/first-day.md doc/reading-a-plan.md doc/troubleshooting.md
		echo '<h1>How to</h1>'
		links doc/howto/*.md
		echo '<h1>Reference</h1>'
		links doc/compatibility.md doc/threat-model.md
		echo '<h1>How it works</h1>'
		links doc/internals/*.md
		echo '<h1>Published experiments, reproduced</h1><ul>'
		for md; do
			name=$(basename "$md" .md)
			printf '<li><a href="%s.html">%s</a>: %s</li>\n' "$name" "$name" "$(title_of "$md")"
		done
		echo '</ul></body></html>'
	} >"$html"
}

command=$1
shift
case $command in
page | tuned | index) "$command" "$@" ;;
*) echo "render.sh: unknown command $command" >&2; exit 1 ;;
esac
