#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# size.sh [FILE...]: prints how large the C sources are, by folder, or these files: lines of code, which are neither blank nor comment, and lines
# that have a comment. A line can be both. The first table is the product's, the second one all else. The law is what
# decides on a root, from the estimate of what happens there to register values.
set -eu
[ $# -gt 0 ] || cd "$(dirname "$0")/.."

# count FILE...: "code comments".
count()
{
	cat "$@" | awk '
	{
		code = comment = 0
		# Strings first: they may have what looks like a comment.
		gsub(/\\./, "_")
		if (!inside)
			gsub(/"[^"]*"/, "s")
		while (length($0)) {
			if (inside) {
				comment = 1
				end = index($0, "*/")
				if (!end)
					break
				$0 = substr($0, end + 2)
				inside = 0
				gsub(/"[^"]*"/, "s")
			} else {
				begin = index($0, "/*")
				text = begin ? substr($0, 1, begin - 1) : $0
				if (text ~ /[^ \t]/)
					code = 1
				if (!begin)
					break
				$0 = substr($0, begin + 2)
				inside = comment = 1
			}
		}
		codes += code
		comments += comment
	}
	END { print codes + 0, comments + 0 }'
}

row()
{
	printf '%-16s %8d %8d %6d %%\n' "$1" "$2" "$3" $((100 * $3 / ($2 > 0 ? $2 : 1)))
}

# table NAME FOLDER...: a row for each folder, and their sum.
table()
{
	name=$1 all_code=0 all_comments=0
	shift
	printf '%-16s %8s %8s %8s\n' "$name" code comments share
	for folder; do
		# No name of ours has a blank.
		# shellcheck disable=SC2046
		set -- $(count $(find "$folder" -name '*.[ch]'))
		row "$folder" "$1" "$2"
		all_code=$((all_code + $1)) all_comments=$((all_comments + $2))
	done
	row "all" "$all_code" "$all_comments"
	echo
}

if [ $# -gt 0 ]; then
	# shellcheck disable=SC2046
	set -- $(count "$@")
	row "these" "$1" "$2"
	exit
fi
# shellcheck disable=SC2046
table product $(printf '%s\n' lib/*/ | sed 's,/$,,') include daemon opensm-plugin
table "beside it" sim perftest tests
# shellcheck disable=SC2046
set -- $(count lib/law/controller.c lib/law/control.c lib/law/root.c lib/law/rules.c lib/law/rule_*.c lib/law/rules.h lib/law/group.c lib/law/law.c \
	lib/law/tuner.c lib/law/overlay.c lib/law/estimate*.[ch] include/ibcc/law.h include/ibcc/tuner.h \
	include/ibcc/parameters.h include/ibcc/estimate.h include/ibcc/target.h include/ibcc/control.h)
row "law" "$1" "$2"
