#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What tests/size.sh counts, on lines whose code and comments are known.
set -eu
cd "$(dirname "$0")/../.."
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
size_is()
{
	cat >"$tmp/a.c"
	got=$(sh tests/size.sh "$tmp/a.c" | awk '{ print $2, $3 }')
	[ "$got" = "$1" ] || { echo "not ok - $2: $got lines of code and of comments, not $1"; exit 1; }
	echo "ok - $2"
}
size_is "2 0" "blank lines count as nothing" <<'C'
int x;

	
int y;
C
size_is "2 4" "a line can have code and a comment" <<'C'
/* One. */
int x; /* Two,
 * three. */ int y;
/* Four. */
C
size_is "2 0" "strings have no comments" <<'C'
char *s = "/* no */";
char *q = "\"/*";
C
size_is "1 2" "a quote in a comment begins no string" <<'C'
/* It's "one
 * and a half". */ int x;
C
all=$(sh tests/size.sh)
echo "$all" | grep -q '^law .*[1-9]' || { echo "not ok - the law has no lines"; exit 1; }
echo "ok - the law has lines"
