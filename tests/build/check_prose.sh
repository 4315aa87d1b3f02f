#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The pages that a newcomer reads, the manual and the sample configuration are plain English: README is short, no sentence
# of the first pages is long, and constructions that readers stumbled over do not come back. Each relative link of README and the documentation leads to a file and a heading.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

pages='README.md INSTALL.md doc/concepts.md doc/first-day.md doc/reading-a-plan.md doc/troubleshooting.md doc/compatibility.md'
pages="$pages $(ls doc/howto/*.md)"

# prose FILE: "LINE SENTENCE" of each sentence, without code, link targets and comments. Headings, list items and cells of
# tables count as sentences.
prose()
{
	awk '
	function flush(	n, part, i) {
		gsub(/[.!?]["*)]* +/, "&\n", text)
		n = split(text, part, "\n")
		for (i = 1; i <= n; i++) {
			gsub(/^ +| +$/, "", part[i])
			if (part[i] != "") print first, part[i]
		}
		text = ""
	}
	function add(s) { if (text == "") first = NR; text = text " " s }
	{ gsub(/<!--.*-->/, ""); gsub(/`[^`]*`/, "CODE"); gsub(/\]\([^)]*\)/, "]"); gsub(/[][]/, "") }
	/^    / || /^ *$/ { flush(); next }
	/^#/ { flush(); add($0); flush(); next }
	/^\|/ { flush(); n = split($0, cell, "|"); for (c = 2; c < n; c++) { add(cell[c]); flush() } next }
	/^ *([-*]|[0-9]+\.) / { flush(); sub(/^ *([-*]|[0-9]+\.) /, "") }
	{ add($0) }
	END { flush() }' "$1"
}

# Machines are "it", an actor has a name, and a message is logged or shown. People may be "who".
words='who|whom|nobody|somebody|taken back|take them back|let stand|(is|are|was|were) (told|said)|tells? of|is to say|is to be'
words="$words|by chance|likewise|all the same|goes by|where there is none|that have none|again and again|held up|holds up"
words="$words|started anew|without end|means it for"
stumbles()
{
	prose "$1" | sed -E 's/\b(anyone|someone|people|users?|colleagues?|readers?) who\b/\1 that/gI' | grep -iwE "$words" |
		sed "s|^|$1:|"
}

# What the manual and the sample had besides, for things that have a word of their own.
old="$words|anew|so many|so long|who waits|not believed|doubted|at (its|their) end|unknown origin|as we left|dead man"
old="$old|taken off|put on trial|comes to its end|for somebody|whoever"
# manual FILE: its text, line by line, without literal blocks; of a configuration its comments.
manual()
{
	case $1 in
	*.yaml) sed -e '/^#[^ ]/s/.*//' -e 's/^#\( \|$\)//' "$1" ;;
	*) awk '
		/^\.Bd -literal/ { code = 1 }
		/^\.Ed/ { code = 0 }
		code || /^\.(Ed|Pp|Sh|Ss|Bl|El|Dl|D1|Dd|\\")/ { print ""; next }
		/^\.It/ { print ""; next }
		/^\./ { sub(/^\.[A-Z][a-z1]+ */, "") }
		{ gsub(/WHO/, "") } # an argument of functions
		{ print }' "$1" ;;
	esac
}
stale()
{
	manual "$1" >"$tmp/manual"
	prose "$tmp/manual" | sed -E 's/\b(anyone|someone|people|users?) who\b/\1 that/gI' | grep -iwE "$old" | sed "s|^|$1:|"
}
long() { prose "$1" | awk -v f="$1" 'NF - 1 > 30 { print f ":" $0 " (" NF - 1 " words)" }'; }

lines=$(wc -l <README.md)
[ "$lines" -le 110 ] || not_ok "README.md has $lines lines, more than 110"
for f in $pages; do
	case $f in doc/howto/*) least=15 ;; *) least=30 ;; esac # those are short
	[ "$(prose "$f" | wc -l)" -ge "$least" ] || not_ok "$f: hardly a sentence was found"
	stumbles "$f"
done >"$tmp/words"
[ ! -s "$tmp/words" ] || { cat "$tmp/words"; not_ok "say these in other words (plain English: $words)"; }
for f in $pages; do long "$f"; done >"$tmp/long"
[ ! -s "$tmp/long" ] || { cat "$tmp/long"; not_ok "sentences of more than 30 words"; }
echo "ok - the first pages are plain English"

for f in man/*.[1-8] systemd/ibcc-tuned.yaml; do
	manual "$f" >"$tmp/manual"
	[ "$(prose "$tmp/manual" | wc -l)" -ge 30 ] || not_ok "$f: hardly a sentence was found"
	stale "$f"
done >"$tmp/stale"
[ ! -s "$tmp/stale" ] || { cat "$tmp/stale"; not_ok "say these in other words (plain English: $old)"; }
echo "ok - the manual and the sample configuration are plain English"

# has_heading FILE ANCHOR: whether a heading has this one, as GitHub makes them.
has_heading()
{
	awk -v anchor="$2" '
	sub(/^#+ */, "") {
		s = tolower($0)
		gsub(/ /, "-", s)
		gsub(/[^a-z0-9_-]/, "", s)
		if (s == anchor) exit found = 1
	}
	END { exit !found }' "$1"
}
# broken FILE: its links that lead nowhere.
broken()
{
	sed -e '/^    /d' -e 's/`[^`]*`//g' "$1" | grep -oE '\]\([^) ]+' | sed 's/^](//' | while read -r to; do
		case $to in *://* | mailto:*) continue ;; esac
		file=$1
		[ -z "${to%%#*}" ] || case $1 in */*) file=${1%/*}/${to%%#*} ;; *) file=${to%%#*} ;; esac
		[ -e "$file" ] || { echo "$1: $to: there is no $file"; continue; }
		case $to in *'#'*) has_heading "$file" "${to#*#}" || echo "$1: $to: no such heading" ;; esac
	done
}
for f in README.md INSTALL.md CONTRIBUTING.md perftest/README.md doc/*.md doc/*/*.md; do broken "$f"; done >"$tmp/broken"
[ ! -s "$tmp/broken" ] || { cat "$tmp/broken"; not_ok "links that lead nowhere"; }
[ "$(grep -oE '\]\([^)]*' README.md | wc -l)" -ge 10 ] || not_ok "README.md has hardly a link"
echo "ok - links lead somewhere"

# The check itself sees what it is for, and not code or names of files.
printf '%s\n' '# Heading' '- A switch who waits is' '  taken back.' '| x | the host that is told |' '    who waits' '`who`' \
	'[a](b.md) [c](#none) [d](#heading)' 'one two three four five six seven eight nine ten eleven twelve thirteen' \
	'a b c d e f g h i j k l m n o p q r. The end.' >"$tmp/bad.md"
printf '%s\n' '.Bd -literal' 'who' '.Ed' '.It Cm who' 'It is taken' '.Em back .' 'Anyone who reads it.' '.Pp' 'A host, whom it' 'names.' >"$tmp/bad.1"
printf '%s\n' '# Passes until it is' '# taken back.' '#who: 1' '#' '# Polling cycles.' >"$tmp/bad.yaml"
[ "$(stale "$tmp/bad.1" | wc -l)" = 2 ] && [ "$(stale "$tmp/bad.yaml" | wc -l)" = 1 ] &&
	[ "$(stumbles "$tmp/bad.md" | wc -l)" = 2 ] && [ "$(long "$tmp/bad.md" | wc -l)" = 1 ] &&
	[ "$(broken "$tmp/bad.md" | wc -l)" = 2 ] || not_ok "the check sees too little or too much"
echo "ok - and the check sees them"
