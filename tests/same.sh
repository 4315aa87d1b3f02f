#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# same.sh BUILD-A BUILD-B FOLDER [WHAT...]: for a change that is to leave results as they are. Runs what both builds
# have to compute alike, by turns, and compares their answers byte for byte, but for the engine's own figures of speed.
# WHAT: scenarios, experiments, tune, draws; all of them by default, which takes about an hour of CPU time. FOLDER keeps
# the answers. SEED is the first draw's, N their number.
set -u
a=$1 b=$2 folder=$3
shift 3
[ $# -gt 0 ] || set -- scenarios experiments tune draws
cd "$(dirname "$0")/.." || exit 1
mkdir -p "$folder/a" "$folder/b"
different=0
# compare NAME PROGRAM ARGUMENT...: an exit code is part of the answer, since a row may miss its target in both. An
# answer that is empty compares nothing.
compare()
{
	local name=$1 program=$2 side build exe
	shift 2
	for side in a b; do
		build=$a
		[ "$side" = a ] || build=$b
		exe=$build/$program
		# An older build has ibcc-research in place of ibcc-lab.
		[ -x "$exe" ] || exe=$build/ibcc-research
		{
			"$exe" "$@" 2>/dev/null || echo "{\"exit_code\": $?}"
		} | jq -S 'del(.engine)' >"$folder/$side/$name"
	done
	[ -s "$folder/a/$name" ] || { echo "EMPTY $name"; different=1; return; }
	if cmp -s "$folder/a/$name" "$folder/b/$name"; then
		echo "same $name ($(wc -c <"$folder/a/$name") bytes)"
	else
		echo "DIFFERENT $name"
		different=1
	fi
}
for what; do
	case $what in
	scenarios)
		for f in perftest/scenarios/*.yaml; do compare "scenario-$(basename "$f")" ibcc-bench scenario "$f" -j; done
		;;
	experiments) compare run-all ibcc-bench run --all --short -j ;;
	tune) compare tune-all ibcc-bench tune --all --short -j ;;
	draws) compare draws ibcc-lab tune --random "${N:-200}" --seed "${SEED:-1}" -j ;;
	*) echo "same.sh: scenarios, experiments, tune or draws, not $what" >&2; exit 1 ;;
	esac
done
exit "$different"
