#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The texts of all messages of the daemon and the command line, each once, one a line: the formats of what is logged,
# answered as an error or asked, and every sentence that goes into such a text. A sentence has three words or more: it is
# built by snprintf() or ibcc_text_add(), chosen between two, or returned by a function. lib/law/words*.c is left out: it
# has the sentences of decisions, which tests/unit/test_decisions.c and test_words.c know one by one.
set -eu
messages='tune_fail|tune_consent|ibcc_log|ibcc_log_of|ibcc_why_set|ibcc_jsonl_error'
pieces='v?snprintf|ibcc_text_add|ibcc_text_say'
# A call with its arguments, or texts that are returned as they are.
text='"(?:\\.|[^"\\])*"'
call="(?:$messages|$pieces)\\b *(?<args>\\((?:[^\"();]|$text|(?&args))*\\))"
pattern="(?<![\\w\"])(?:$call|return\\b(?:[^\"();]|$text)*;)"
find daemon lib -name '*.c' ! -path 'lib/law/words*' | LC_ALL=C sort | xargs awk '
	FNR == 1 && NR > 1 { print "" }
	{ gsub(/\t/, " "); printf "%s ", $0 }
	END { print "" }' | grep -oP "$pattern" |
	sed -E 's/\\"/\x01/g; s/" *PRI[a-z0-9]* *"//g; s/" *"//g' |
	awk -F '"' '{
		message = $1 !~ /^(v?snprintf|ibcc_text|return)/
		for (i = 2; i <= NF; i += 2)
			if ((message && i == 2) || $i ~ /[a-z]+[,;:)]* [^ ]* ?[a-z]+ [^ ]* ?[a-z]+/) print $i
	}' | sed 's/\x01/"/g' | LC_ALL=C sort -u
