#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each message of the daemon, the command line, the OpenSM plugin, the simulator and the programs in perftest/ was read. It says what happened, what it means for
# the fabric, and what to do next, or why it need not: messages.list has the judgements.
set -eu
list=tests/build/messages.list
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

sh tests/build/messages.sh >"$tmp/texts"
[ "$(wc -l <"$tmp/texts")" -gt 500 ] || not_ok "hardly a message was found"
# A file for each, so that one process has the checksums of all.
mkdir "$tmp/each"
awk -v dir="$tmp/each/" '{ file = dir sprintf("%05d", NR); print >file; close(file) }' "$tmp/texts"
(cd "$tmp/each" && cksum ./*) | cut -d ' ' -f 1 | paste -d ' ' - "$tmp/texts" | LC_ALL=C sed 's/^\([0-9]* .\{0,60\}\).*/\1/' | sort >"$tmp/now"
grep -v '^#' "$list" >"$tmp/lines"
! grep -vE '^(full|retry|usage|news|part|lost|view) [0-9]+ ' "$tmp/lines" || not_ok "these lines of $list have no judgement"
cut -d ' ' -f 2- "$tmp/lines" | sort >"$tmp/judged"
comm -23 "$tmp/now" "$tmp/judged" >"$tmp/new"
[ ! -s "$tmp/new" ] || { cat "$tmp/new"; not_ok "judge these messages, and put them into $list"; }
comm -13 "$tmp/now" "$tmp/judged" >"$tmp/gone"
[ ! -s "$tmp/gone" ] || { cat "$tmp/gone"; not_ok "$list has messages that are no more"; }
echo "ok - $(wc -l <"$tmp/now") messages are judged: $(cut -d ' ' -f 1 "$tmp/lines" | sort | uniq -c | awk '{ printf("%s%d %s", NR > 1 ? ", " : "", $1, $2) }')"

# The check itself sees a text in pieces, with a quoted word and with a number of another width, and each text once. It
# sees both of two texts, and sentences that become part of a message, are printed or stand in an array, but not names,
# words for programs or markup.
mkdir -p "$tmp/daemon" "$tmp/lib" "$tmp/opensm-plugin" "$tmp/sim" "$tmp/perftest"
cat >"$tmp/daemon/x.c" <<'C'
	rc = ibcc_why_set(why, f(a, g(b)), "one \"%s\" 0x%016" PRIx64
			  " two", x);
	return tune_fail("three");
	return tune_fail("three");
	rc = ibcc_why_set(why, 0, "%s", a ? "is away; it cannot be read" : "is there and answers");
	snprintf(why->text, sizeof(why->text), "the disk \"%s\" is full" " today", x);
	snprintf(path, n, "%s/two words", x);
	return "that is a sentence";
	return "identifier";
	if (!strcmp(x, "not a sentence that is shown"))
	printf("no change is needed\n");
	fputs("<p>this is markup here</p>", f);
	static const struct { const char *s; int n; } a[] = { { "a cause of trouble", 1 }, { "word", 2 } };
C
echo 'ibcc_plugin_log(log, LEVEL, "ERR IC99: %s", x);' >"$tmp/opensm-plugin/x.c"
echo 'return ibcc_perf_fail(e, ENOMEM, "flows");' >"$tmp/perftest/x.c"
echo 'ibcc_command_say("%s: no", x);' >"$tmp/sim/x.c"
mkdir -p "$tmp/lib/law" && echo 'ibcc_text_say(x, "a sentence of a decision");' >"$tmp/lib/law/words.c"
(cd "$tmp" && sh "$OLDPWD/tests/build/messages.sh") >"$tmp/seen"
[ "$(paste -sd '|' "$tmp/seen")" = '%s|%s: no|ERR IC99: %s|a cause of trouble|flows|is away; it cannot be read|is there and answers|no change is needed\n|one "%s" 0x%016 two|that is a sentence|the disk "%s" is full today|three' ] || { cat "$tmp/seen"; not_ok "the check does not see texts"; }
echo "ok - the check sees texts"

# counts FILE...: the formats in which a number stands before a plural, so that they would say "1 nodes": ibcc_text_plural()
# chooses the form. A number after "port", or one of a limit ("at most", "1 to"), is no such number.
counts()
{
	awk '
		FNR == 1 { print "" }
		{ gsub(/\t/, " "); printf "%s ", $0 }
		END { print "" }' "$@" |
		sed -E 's/" *PRI([a-z])[A-Z0-9a-z]* *"/\1/g; s/" *PRI([a-z])[A-Z0-9a-z]*/\1"/g; s/([^\\])" +"/\1/g' |
		grep -oP '"(?:\\.|[^"\\])*"' | grep -P "$before$number$between$plural"
}
before='(?<!port )(?<!LID )(?<!process )(?<!at most )(?<!more than )(?<!half of the )(?<! to )'
number='%[-+ 0]*(?:[0-9]+|\*)?(?:ll|l|z|h)*[diu]'
between='(?: (?!(?:of|that|with|without|when|in|is|was|are|were|had|do|does|has)\b)[A-Za-z-]+){0,2}'
plural=' (?!(?:is|was|has|does|its|as|this|us|ms|ns)\b)[A-Za-z]+s\b(?!%s)'
# Never 1, by the condition under which they are printed.
never_one='clients asked %u times within|was repaired %u times in|no counters could be read for %u|has not settled in %u'
never_one="$never_one|^\"%u times in %.0f s|%lld MADs for|got %z?u (entries|profiles|events)|got packets of %u bytes"
never_one="$never_one|a circle of %u outputs|a credit loop of %u links|1 of %u packets|%u BECNs to the table's end"
never_one="$never_one|%u adapters in total are throttled|%u measurements|an MTU of %u bytes|%zu simulators are running"
never_one="$never_one|got %d trees, want|levels, with at least %u hosts|%u nodes still have|done in full at %u nodes"
# lib/engine/check.c is left out: it has what the engine's own books say when they do not add up.
find lib include daemon opensm-plugin sim perftest -name '*.[ch]' ! -path lib/engine/check.c | LC_ALL=C sort >"$tmp/sources"
xargs cat <"$tmp/sources" | grep -cF 'ibcc_text_plural(' >"$tmp/uses"
[ "$(cat "$tmp/uses")" -gt 100 ] || not_ok "hardly a count was found"
# shellcheck disable=SC2046 # names of files without blanks
counts $(cat "$tmp/sources") | grep -vE "$never_one" >"$tmp/counts" || true
[ ! -s "$tmp/counts" ] || { cat "$tmp/counts"; not_ok "these say \"1 nodes\": let ibcc_text_plural() choose the form"; }
cat >"$tmp/plural.c" <<'C'
	printf("%u nodes are here", n);
	snprintf(s, 8, "%" PRIu64 " Set MADs", n);
	printf("of %zu more "
	       "writes", n);
	printf("%u node%s, %u %s", n, "s", n, "ports");
	printf("port %u marks, at most %u nodes, 1 to %u ports, %u of the nodes, %u ms", n);
C
[ "$(counts "$tmp/plural.c" | wc -l)" = 3 ] || not_ok "the check does not see counts"
echo "ok - no message says \"1 nodes\""
