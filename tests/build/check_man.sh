#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The man pages tell all that the tables in the sources accept: keys of scenarios and experiments,
# their words, and commands, options and functions of all programs. Keys of the configuration are test_config's.
set -eu
B=${IBCC_BUILD:-build}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
missing=0
n=0
scenario=man/ibcc-scenario.5
bench=man/ibcc-bench.1
perf=man/ibcc-perf.1
lab=perftest/lab/ibcc-lab.1

# section PAGE TITLE: the lines of a section or subsection.
section() { awk -v t="$2" '/^\.S[sh] /{ on = substr($0, 5) == t } on' "$1"; }

# want TEXT-FILE WHAT PATTERN-OF-A-LINE: for look, which looks for all of them by one process.
want()
{
	n=$((n + 1))
	printf '%s\t%s\t%s\n' "$@" >>"$tmp/wants"
}
# look: names what no line of its text has, as the texts are now.
look()
{
	awk -F '\t' '
	$1 != text {
		text = $1
		for (lines = 0; (getline line <text) > 0; ) of[++lines] = line
		close(text)
		if (!lines) { print text " is empty"; bad = 1 }
	}
	{
		for (i = 1; i <= lines && of[i] !~ $3; i++) ;
		if (i > lines) { print $2 " is not in the man page"; bad = 1 }
	}
	END { exit bad }' "$tmp/wants" || missing=1
	: >"$tmp/wants"
}

keys() { sed -n 's/.*IBCC_YAML_MEMBER("\([^"]*\)".*/\1/p' "$@"; }
names() { tr '\n' ' ' <"$1" | grep -o 'static const char \*const [a-z_]*\[\] = {[^}]*}' | grep -o '"[^"]*"' | tr -d '"'; }

for part in 'yaml:Top level' topo:Topology grid:Topology model:Model traffic:Traffic events:Events \
	'cc:Congestion control' devices:Devices dcqcn:DCQCN verbs:Plans; do
	src=lib/formats/scenario_${part%%:*}.c
	section $scenario "${part#*:}" >"$tmp/text"
	[ "${part%%:*}" != model ] || section $scenario 'Backward congestion notification' >>"$tmp/text"
	keys "$src" >"$tmp/keys"
	[ -s "$tmp/keys" ] || { echo "not ok - no keys in $src"; exit 1; }
	while read -r key; do
		want "$tmp/text" "$src: key $key" "^\.(It )?Cm (.* )?$key( .*)?\$|^\.Li .*$key:"
	done <"$tmp/keys"
	names "$src" >"$tmp/names" || : # some have none
	while read -r word; do
		want "$tmp/text" "$src: word $word" "(^|[^a-z])$word([^a-z]|\$)"
	done <"$tmp/names"
	look
done
[ "$(ls lib/formats/scenario_*.c | wc -l)" = 10 ] || { echo "not ok - a part of scenarios is not checked"; exit 1; }
[ $missing = 0 ] || { echo "not ok - $scenario"; exit 1; }
echo "ok - $scenario has $n keys and words"

n=0
section $bench Experiments >"$tmp/text"
for key in $(keys perftest/bench/experiment*.c); do
	want "$tmp/text" "experiment's key $key" "^\.(It )?(Cm|Pq|Po) ?(.* )?$key( .*)?\$"
done
section $bench 'Real octets' >"$tmp/mpa"
for key in $(keys perftest/mpa/settings.c) $(names perftest/mpa/settings.c) $(sed -n 's/.*\[IBCC_MPA_[A-Z_]*\] = "\([a-z_]*\)".*/\1/p' perftest/mpa/settings.c); do
	want "$tmp/mpa" "key or word $key of mpa" "^\.(It )?(Cm|Pq|Po) ?(.* )?$key( .*)?\$"
done
for f in $(sed -n '/^} functions\[\]/,/^};/s/.*{ "\([A-Za-z_]*\)".*/\1/p' perftest/bench/figure.c) \
	$(sed -n 's/.*strncmp(name, "\([a-z]*\)".*/\1/p' perftest/bench/figure.c); do
	want "$tmp/text" "function $f" "^\.It (.* )?Fn $f "
done

# example PAGE PROGRAM COMMAND: the page shows the command at work.
example() { want "$1" "an example of $2 $3" "^(\.(Dl|Ic) )?([#\$] )?(ibcc-sim exec -- )?$2 (-[^ ]+ )*$3( |\$)"; }

# narrow PROGRAM FILE: its help fits a terminal.
narrow() { [ -z "$(awk 'length > 79' "$2")" ] || { echo "not ok - the help of $1 is wider than a terminal"; exit 1; }; }

# program PAGE PROGRAM: its commands and their options, and an example of each command.
program()
{
	page=$1 program=$B/$2
	"$program" help | sed -n 's/^  \([a-z][a-z-]*\).*/\1/p' >"$tmp/commands"
	[ -s "$tmp/commands" ] || { echo "not ok - no commands of $2"; exit 1; }
	while read -r c; do
		want "$page" "command $c" "^\.It Cm $c\$"
		example "$page" "$2" "$c"
		section "$page" SYNOPSIS | grep -qx -e ".Cm $c\( .*\)\{0,1\}" || { echo "no synopsis of $c"; missing=1; }
	done <"$tmp/commands"
	while read -r c; do "$program" "$c" --help; done <"$tmp/commands" >"$tmp/help"
	"$program" help >>"$tmp/help"
	narrow "$2" "$tmp/help"
	sed -n 's/^  \(-., \|    \)--\([a-z-]*\).*/\2/p' "$tmp/help" | sort -u >"$tmp/options"
	[ -s "$tmp/options" ] || { echo "not ok - no options of $2"; exit 1; }
	for o in $(cat "$tmp/options"); do
		want "$page" "option --$o" "^\.(It|Op|Ar .*|.*) ?.*Fl (.* , )?-$o( .*)?\$|^\.Fl -$o( .*)?\$"
	done
}
program $bench ibcc-bench
look
[ $missing = 0 ] || { echo "not ok - $bench"; exit 1; }
echo "ok - $bench has $n keys and words"

n=0
program $perf ibcc-perf
for w in $(sed -n 's/^\t{ "\([a-z-]*\)", [0-9], .*/\1/p' perftest/verbs/plans.c); do
	want $perf "plan $w" "^\.It Cm $w\$"
done
look
[ $missing = 0 ] || { echo "not ok - $perf"; exit 1; }
echo "ok - $perf has $n commands, options and plans"

n=0
section $lab Fits >"$tmp/fits"
for key in $(keys perftest/lab/fit.c) $(names perftest/lab/fit.c); do
	want "$tmp/fits" "fit's key $key" "^\.(It )?(Cm|Pq|Po) ?(.* )?$key( .*)?\$"
done
for m in $(sed -n '/metrics\[\] = {/,/};/p' perftest/lab/best_report.c | grep -o '"[a-z_]*"' | tr -d '"'); do
	want $lab "number $m" "^\.Cm $m( .*)?\$"
done
program $lab ibcc-lab
look
[ $missing = 0 ] || { echo "not ok - $lab"; exit 1; }
echo "ok - $lab has $n keys and words"

n=0
# The loop's own programs: all options, and no other; what the command line, the control socket, the simulator and
# the plugin take.
for p in ibcc-tune.1 ibcc-tuned.8 ibcc-jobs.8; do
	page=man/$p
	{
		"$B/${p%.*}" --help
		[ $p != ibcc-tune.1 ] || for c in $("$B/ibcc-tune" help | sed -n '/^Commands:/,/^$/s/^  \([a-z-]*\) .*/\1/p'); do "$B/ibcc-tune" help "$c"; done
	} | sed -n 's/^  \(-., \|    \)--\([A-Za-z-]*\).*/\2/p' | sort -u >"$tmp/options"
	sed -n '/^\.It .*Fl/s/ -\([A-Za-z-][A-Za-z-]*\)/\n--\1\n/gp' "$page" | sed -n 's/^--//p' | sort >"$tmp/told"
	diff "$tmp/options" "$tmp/told" || { echo "not ok - options of $page"; exit 1; }
	n=$((n + $(wc -l <"$tmp/options")))
done
sed -n '/^static const struct command commands\[\]/,/^};/s/.*{ "\([a-z-]*\)", tune.*/\1/p' daemon/tune/main.c | sort >"$tmp/commands"
section man/ibcc-tune.1 Commands | sed -n 's/^\.It Cm \([a-z-]*\).*/\1/p' | sort >"$tmp/told"
for c in $(comm -23 "$tmp/commands" "$tmp/told"); do echo "not ok - man/ibcc-tune.1 lacks .It Cm $c in Commands"; missing=1; done
for c in $(comm -13 "$tmp/commands" "$tmp/told"); do echo "not ok - man/ibcc-tune.1 has the command $c, which is none"; missing=1; done
for c in $(cat "$tmp/commands"); do example man/ibcc-tune.1 ibcc-tune "$c"; done
for c in $(section man/ibcc-sim.1 Commands | sed -n 's/^\.It Cm \([a-z]*\)$/\1/p'); do example man/ibcc-sim.1 ibcc-sim "$c"; done
"$B/ibcc-sim" --help >"$tmp/sim"
narrow ibcc-sim "$tmp/sim"
"$B/ibcc-tuned" --help >"$tmp/help"
narrow ibcc-tuned "$tmp/help"
for c in $(section man/ibcc-sim.1 Commands | sed -n 's/^\.It Cm \([a-z]*\)$/\1/p'); do want "$tmp/sim" "command $c of ibcc-sim's help" "^  $c "; done
section man/ibcc-tuned.8 'Control socket' >"$tmp/text"
for c in $(sed -n '/^static const struct command commands\[\]/,/^};/p' daemon/request.c | grep -o '{ "[a-z-]*"' | tr -d '{ "') \
	$(sed -n 's/.*json_object_get(args, "\([a-z_]*\)").*/\1/p' daemon/request.c); do
	want "$tmp/text" "request or argument $c" "^\.Cm (.* )?$c( .*)?\$"
done
for o in $(sed -n 's/.*{ "\([a-z-]*\)", [a-z]*_argument.*/\1/p' sim/cmd_*.c | sort -u); do
	want man/ibcc-sim.1 "option --$o" "Fl (. , (Fl )?)?-$o( .*)?\$"
	want "$tmp/sim" "option --$o in ibcc-sim's help" "^  (-., |    )--$o "
done
for k in $(sed -n 's/^\t{ "\([a-z_]*\)", VALUE_.*/\1/p' sim/requests_knobs.c); do
	want man/ibcc-sim.1 "value $k" "^\.It Cm $k[. ]"
done
for o in $(sed -n 's/.*PREFIX "\([a-z_]*\)".*/\1/p' opensm-plugin/options.c); do
	want man/ibcc_opensm.7 "option ibcc.$o" "^\.It (.* )?Cm ibcc\.$o "
done
look
[ $missing = 0 ] || exit 1
[ "$n" -gt 100 ] || { echo "not ok - only $n commands and options have been looked for"; exit 1; }
echo "ok - the pages of the tuner, its daemon, plugin and simulator have $n commands, options and values"

for page in man/*.[1-8] $lab; do
	grep -q '^\.Sh EXAMPLES$' "$page" || { echo "not ok - $page has no examples"; exit 1; }
	# Pages cite each other by the sections that they are in.
	sed -n 's/^\.Xr \(ibcc[-_][^ ]*\) \([0-9]\).*/\1.\2/p' "$page" | sort -u | while read -r other; do
		[ -e "man/$other" ] || [ -e "perftest/lab/$other" ] || { echo "not ok - $page cites $other"; exit 1; }
	done || exit 1
done
echo "ok - each page has examples, and cites pages that there are"
