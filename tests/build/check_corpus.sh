#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Fuzzing begins with all keys: each one that scenarios have is in some file of the corpus.
set -eu
missing=
n=0
for key in $(sed -n 's/.*IBCC_YAML_MEMBER("\([^"]*\)".*/\1/p' lib/formats/scenario_*.c | sort -u); do
	n=$((n + 1))
	grep -Eqw "$key:" tests/fuzz/corpus/yaml/* || missing="$missing $key"
done
[ "$n" -gt 0 ] || { echo "not ok - no keys found"; exit 1; }
[ -z "$missing" ] || { echo "not ok - tests/fuzz/corpus/yaml has no$missing"; exit 1; }
echo "ok - the corpus has all $n keys of scenarios"

# The plugin's socket is read inside OpenSM, so its seeds have to reach all of what reads it. Seeds that an older version
# of the protocol made end at the first check of a length. Each name is a function, behind a colon the number of its
# lines that no input reaches: the system has no memory, or the socket fails.
case ${IBCC_BUILD-build} in
*address* | *undefined*) echo "ok - the coverage of seeds is that of a build without sanitizers # SKIP"; exit 0 ;;
esac
command -v gcov >/dev/null && command -v gcc >/dev/null || { echo "ok - no gcov here # SKIP"; exit 0; }
top=$PWD
build=${IBCC_BUILD:-build}
case $build in /*) ;; *) build=$top/$build ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
libs=
for l in ledger counters topo codec base; do libs="$libs $build/lib/libibcc_$l.a"; done
covered() # WHAT TARGET SOURCES FLAGS FUNCTION:LINES...
{
	what=$1
	target=$2
	sources=$3
	flags=$4
	shift 4
	mkdir "$tmp/$target"
	cd "$tmp/$target"
	for f in $sources tests/fuzz/fuzz_"$target".c tests/fuzz/replay.c; do
		gcc -c --coverage -O0 -std=c11 -D_GNU_SOURCE -I"$top/include" -I"$top" "$top/$f" -o "$(basename "$f" .c).o"
	done
	# shellcheck disable=SC2086 # several
	gcc --coverage -o fuzz ./*.o $libs $flags -libumad -libmad -lm
	IBCC_FUZZ_MUTATIONS=0 ./fuzz "$top/tests/fuzz/corpus/$target" >fuzz.log
	for f in $sources; do gcov -f "$(basename "$f" .c).o" 2>/dev/null; done >lines
	for want; do
		# Lines executed:93.75% of 16
		missed=$(sed -n "/^Function '${want%:*}'\$/{n;s/^Lines executed:\(.*\)% of \(.*\)/\1 \2/p;}" lines |
			awk '{ printf "%.0f", $2 * (100 - $1) / 100 }')
		[ -n "$missed" ] || { echo "not ok - no function ${want%:*} is in what fuzz_$target tests"; exit 1; }
		[ "$missed" -le "${want#*:}" ] || {
			echo "not ok - tests/fuzz/corpus/$target misses $missed lines of ${want%:*}"
			exit 1
		}
	done
	cd "$top"
	echo "ok - tests/fuzz/corpus/$target reaches all that reads $what ($# functions)"
}
plugin='lib/mad/proto.c lib/mad/proto_topo.c opensm-plugin/session.c'
covered "the plugin's socket" proto "$plugin" '' ibcc_proto_recv:1 is_writable:0 ibcc_proto_change_decode:0 \
	node_is_sane:0 add_port:0 add_sl2vl:1 add_node:0 ibcc_proto_topo_add:0 join_end:0 join:0 ibcc_proto_topo_finish:0
covered "the plugin's socket" session "$plugin" '' ibcc_session_wants_input:0 ibcc_session_abort:0 ibcc_session_notify:0 bad:0 payload_length:0 \
	ibcc_session_input:0 take_lease:0 begin_plan:0 add_change:1 commit_plan:0 ibcc_session_finish:0 ibcc_session_has_output:0
covered "answers of subnet administration" sa_client lib/mad/sa_client.c -Wl,--wrap=clock_gettime \
	receive:0 ibcc_sa_listen:0 drain:0 ibcc_sa_send:0
