#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Sentences are for people: no program compares what a decision, a reason or a trouble says, or hashes it; it has codes.
# And each sentence of a decision is known to one test alone.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

# What holds a sentence: a member or variable of that name, or a key of JSON.
held='(\b(summary|explanation|sentence|blocked|skipped|drifted|why|reason|trouble)((\.|->)text)?\b|\bwords\b(?!\[)|"(summary|decision|reason|explanation|text)")'
call='\b(strn?cmp|strn?casecmp|strstr|strcasestr|memcmp|memmem|ibcc_hash|fnmatch|regexec)(\((?:[^()]|(?2))*\))'
# compared: calls of what comes in that compare or hash a sentence.
compared() { grep -oP "$call" | grep -P "$held" || true; }
# An argument may be on the next line.
find lib daemon opensm-plugin include -name '*.[ch]' | sort | xargs awk '
	FNR == 1 { printf "\n%s\n", FILENAME }
	{ gsub(/\t/, " "); printf "%s ", $0 }' >"$tmp/all"
[ "$(grep -oP "$call" "$tmp/all" | wc -l)" -gt 200 ] || not_ok "hardly a call was found"
compared <"$tmp/all" >"$tmp/found"
[ ! -s "$tmp/found" ] || { cat "$tmp/found"; not_ok "a sentence is compared, or hashed"; }
echo "ok - no sentence is compared"

# The check itself sees all ways.
printf '%s\n' 'if (!strcmp(why.text, last))' 'h = ibcc_hash(h, c->blocked.text, 1);' 'strstr(tune_str(o, "summary"), "y")' \
	'if (!strcmp(f->field, "x")) return ibcc_why_set(why, 0, "y")' >"$tmp/bad"
[ "$(compared <"$tmp/bad" | wc -l)" = 3 ] || not_ok "the check sees too little or too much"

# Words that only sentences of decisions have.
grep -rlE 'roots? controlled|to be confirmed"|congestion control is enabled|mark (more|fewer) packets|throttle its sources to' tests \
	--include='*.[ch]' --include='*.sh' | grep -v -e /test_decisions.c -e /check_words.sh >"$tmp/tests" || true
[ ! -s "$tmp/tests" ] || { cat "$tmp/tests"; not_ok "sentences of decisions are in other tests than test_decisions.c"; }
echo "ok - one test knows the sentences of decisions"
