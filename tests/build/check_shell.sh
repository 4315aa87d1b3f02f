#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# No warning of shellcheck in any script, where there is shellcheck.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

scripts=$(find . -name build -prune -o -name .git -prune -o \( -name '*.sh' -o -path './.ci/run' \) -print)
for s in $scripts; do
	read -r first <"$s"
	case $first in *SPDX-License-Identifier*) continue ;; esac
	head -n 3 "$s" | grep -q SPDX-License-Identifier || not_ok "$s: no SPDX line at its head"
done
if ! command -v shellcheck >/dev/null; then
	echo "ok - scripts are not looked at: there is no shellcheck # SKIP"
	exit 0
fi
check() { shellcheck --severity=warning --format=gcc "$@"; }

# outline FILE: what a script that sources the file has to know of it: its functions, without their bodies, and the global
# variables that it sets and uses. In functions these are those whose names are in capitals. shellcheck reads a sourced file
# again for each script, and lib.sh as it is costs it several times what a test costs.
outline()
{
	awk '
	/^[ \t]*#/ { next }
	match($0, /^[a-z_]+\(\)/) { print substr($0, 1, RLENGTH) " { :; }"; inside = /\(\)$/ }
	{
		for (rest = $0; match(rest, /\$[{#!]*[A-Z][A-Z_0-9]*/); rest = substr(rest, RSTART + RLENGTH)) {
			word = substr(rest, RSTART, RLENGTH)
			gsub(/[${#!]/, "", word)
			used[word]
		}
		for (rest = $0; match(rest, /\(\([^"]*\)\)/); rest = substr(rest, RSTART + RLENGTH)) {
			n = split(substr(rest, RSTART, RLENGTH), words, /[^A-Za-z_0-9]+/)
			for (i = 1; i <= n; i++) if (words[i] ~ /^[A-Z][A-Z_0-9]*$/) used[words[i]]
		}
	}
	/^[ \t]*local / { next }
	!inside && match($0, /^[a-z_]+=/) { set[substr($0, 1, RLENGTH)] }
	{
		for (rest = " " $0; match(rest, /[ \t;({][A-Z][A-Z_0-9]*\+?=\(?/); rest = substr(rest, RSTART + RLENGTH)) {
			word = substr(rest, RSTART + 1, RLENGTH - 1)
			list = sub(/\($/, "", word)
			sub(/\+?=$/, "", word)
			set[word (list ? "+=()" : "=")]
		}
	}
	/^\}$/ { inside = 0 }
	END {
		for (word in set) print word
		printf ":"
		for (word in used) printf " \"$%s\"", word
		print ""
	}' "$1"
}

others=
tests=
for s in $scripts; do
	case $s in
	./tests/system/test_*) tests="$tests $s" ;;
	*) others="$others $s" ;;
	esac
done
# The helpers as they are, and tests with outlines of them.
# shellcheck disable=SC2086 # names without spaces
check $others || not_ok "shellcheck"
mkdir -p "$tmp/tests/system"
cp .shellcheckrc "$tmp"
cp -r tests/system/*.sh tests/system/likeness "$tmp/tests/system"
for helper in tests/system/lib.sh tests/system/chaos.sh tests/system/likeness/checks.sh; do outline "$helper" >"$tmp/$helper"; done
outline tests/wait.sh >>"$tmp/tests/system/lib.sh"
cd "$tmp"
# shellcheck disable=SC2086
check $tests || not_ok "shellcheck"
echo "ok - shellcheck is silent"

# planted LINE: what it says of a test with that line, as numbers.
planted()
{
	printf '%s\n' '# shellcheck shell=bash' '. "$(dirname "$0")/lib.sh"' "$@" >tests/system/planted.sh
	check tests/system/planted.sh | grep -o 'SC[0-9]*' | paste -sd ' '
}
[ "$(planted 'unused=1')" = SC2034 ] || not_ok "it does not see a variable that nothing uses"
[ "$(planted 'echo "$unknown"')" = SC2154 ] || not_ok "it does not see a variable that nothing sets"
[ "$(planted 'sudo start_sim')" = SC2033 ] || not_ok "it does not see a function in place of a program"
[ "$(planted 'CHILDREN=x')" = SC2178 ] || not_ok "it does not see a list in place of a word"
[ -z "$(planted 'SIM_SPEED=1 STATE_FILE=x PLUGIN_OPTIONS=y' 'PACE=$((PACE * 2))' 'echo "$OSM_PID $SIM_PID $OSM_LOG $TUNED_PID $STRETCHED"')" ] ||
	not_ok "it does not know what the helpers use and set"
echo "ok - shellcheck sees mistakes in tests, and knows their helpers"
