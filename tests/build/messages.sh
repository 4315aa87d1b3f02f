#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The texts of all messages of the daemon, the command line, the OpenSM plugin, the simulator and the programs in
# perftest/, each once, one a line: the formats of what is logged, answered as an error or asked, and every sentence that
# is printed, is in an array, or goes into such a text. A sentence has three words or more: it is printed, built by
# snprintf() or ibcc_text_add(), chosen between two, returned by a function, or a member of an initializer.
# lib/law/words*.c is left out: it has the sentences of decisions, which tests/unit/test_decisions.c and test_words.c know
# one by one. Markup is left out, too.
set -eu
messages='tune_fail|tune_consent|ibcc_log|ibcc_log_of|ibcc_why_set|ibcc_jsonl_error|ibcc_plugin_log|ibcc_perf_fail|fail_qp'
messages="$messages|ibcc_command_say|ibcc_yaml_errors_add|complain|complain_of|fail|ibcc_lines_fail"
pieces='v?snprintf|ibcc_text_add|ibcc_text_say|f?printf|f?puts|tune_say'
# A call with its arguments, texts that are returned as they are, or the values of an array or a struct.
text='"(?:\\.|[^"\\])*"'
call="(?:$messages|$pieces)\\b *(?<args>\\((?:[^\"();]|$text|(?&args))*\\))"
values="(?<values>\\{(?:[^\"{};]|$text|(?&values))*\\})"
pattern="(?<![\\w\"])(?:$call|return\\b(?:[^\"();]|$text)*;|= *$values *;)"
find daemon lib opensm-plugin sim perftest -name '*.c' ! -path 'lib/law/words*' | LC_ALL=C sort | xargs awk '
	FNR == 1 && NR > 1 { print "" }
	{ gsub(/\t/, " "); printf "%s ", $0 }
	END { print "" }' | grep -oP "$pattern" |
	sed -E 's/\\"/\x01/g; s/" *PRI[a-z0-9]* *"//g; s/" *"//g' |
	awk -F '"' '{
		message = $1 !~ /^(v?snprintf|ibcc_text|return|f?printf|f?puts|tune_say|=)/
		for (i = 2; i <= NF; i += 2)
			if ((message && i == 2) || ($i !~ /<[a-z\/]/ && $i ~ /[a-z]+[,;:)]* [^ ]* ?[a-z]+ [^ ]* ?[a-z]+/)) print $i
	}' | sed 's/\x01/"/g' | LC_ALL=C sort -u
