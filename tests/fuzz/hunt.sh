#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Hunts for what breaks the fuzz targets: hunt.sh BUILD-DIR SECONDS; T=name picks targets, CORPUS=no
# begins from nothing. Whatever is found stays in build/fuzz/.
set -u

B=$1
seconds=$2
cd "$(dirname "$0")/../.." || exit 1
failed=
n=0

# Otherwise libFuzzer would see no farther than into the target.
for f in "$B"/lib/*.a; do
	readelf -SW "$f" 2>/dev/null | grep -q __sancov_cntrs || { echo "$f is not instrumented"; exit 1; }
done
for f in "$B"/hunt/fuzz_*; do
	name=${f##*/fuzz_}
	case $name in *"${T-}"*) ;; *) continue ;; esac
	n=$((n + 1))
	found=build/fuzz/$name
	log=build/fuzz/$name.log
	corpus="$found/new tests/fuzz/corpus/$name"
	if [ "${CORPUS-yes}" = no ]; then
		corpus=$found/fresh
		rm -rf "$corpus"
	fi
	mkdir -p "${corpus%% *}"
	# shellcheck disable=SC2086
	"$f" -max_total_time="$seconds" -timeout=25 -rss_limit_mb=4096 -print_final_stats=1 \
		-artifact_prefix="$found/" $corpus >"$log" 2>&1
	rc=$?
	counters=$(sed -n 's/^INFO: Loaded .*(\([0-9]*\) inline 8-bit counters).*/\1/p' "$log")
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	cover=$(sed -n 's/.* cov: \([0-9]*\) .*/\1/p' "$log" | tail -n 1)
	if [ "$rc" != 0 ]; then
		failed="$failed $name"
		printf '  %-12s FAILED (%d), see %s\n' "$name" "$rc" "$log"
		grep -aE 'ERROR|SUMMARY|runtime error|broken:|Test unit written' "$log" | head -n 5 | sed 's/^/    | /'
	else
		printf '  %-12s %9s inputs, %6s of %6s edges\n' "$name" "$runs" "$cover" "$counters"
	fi
done
[ "$n" -gt 0 ] || { echo "no such target" >&2; exit 1; }
[ -z "$failed" ] || { echo "FAILED:$failed"; exit 1; }
