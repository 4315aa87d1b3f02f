#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# expect.sh EXPECTED ACTUAL: whether an output is what a page shows. Each line of EXPECTED has to be a line of ACTUAL, in
# this order; ACTUAL may have more lines, since pages shorten what they show. Numbers and GUIDs may differ, but not those
# in names such as leaf2. "..." stands for any text, and spaces for any number of spaces. A line that begins with eight
# spaces goes on the line before, as sentences do on a terminal. Prints the first line that is missing.
exec awk '
# What a terminal shows: a carriage return begins the line again, and colours are no text.
function clean(line) {
	sub(/\r+$/, "", line)
	sub(/^.*\r/, "", line)
	gsub(/\033\[[0-9;?]*[A-Za-z]/, "", line)
	sub(/ +$/, "", line)
	return line
}
function pattern(line,	out, rest, before) {
	sub(/^ +/, "", line)
	while (line != "") {
		if (match(line, /^\.\.\./))
			out = out ".*"
		else if (match(line, /^ +/))
			out = out " +"
		else if (match(line, /^0x[0-9a-f]+/))
			out = out "0x[0-9a-f]+"
		else if (before !~ /[A-Za-z0-9_]/ && match(line, /^[-+]?[0-9][0-9.]*/))
			out = out "[-+]?[0-9.]+"
		else if (match(line, /^[A-Za-z0-9_,:;%#<>=" -]/))
			out = out substr(line, 1, 1)
		else if (match(line, /^./))
			out = out "[" (line ~ /^[\\^]/ ? "\\" : "") substr(line, 1, 1) "]"
		before = substr(line, RLENGTH, 1)
		line = substr(line, RLENGTH + 1)
	}
	return "^ *" out "$"
}
# Adds a line to a list, or to the last line of it.
function add(list, n, line) {
	if (n && line ~ /^        /) {
		sub(/^ +/, " ", line)
		list[n] = list[n] line
		return n
	}
	list[++n] = line
	return n
}
FNR == NR { wanted = add(want, wanted, clean($0)); next }
{ given = add(got, given, clean($0)) }
END {
	for (i = 1; i <= wanted; i++) {
		if (want[i] ~ /^ *(\.\.\.)?$/)
			continue
		regex = pattern(want[i])
		for (k++; k <= given && got[k] !~ regex; k++)
			;
		if (k > given) {
			print "not shown, or not in this order: " want[i]
			exit 1
		}
	}
}' "$1" "$2"
