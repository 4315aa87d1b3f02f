#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What `make check-boot` walks a page by: the blocks of a page are read as commands and outputs, and an output is compared
# with what the page shows. And doc/first-day.md has all of its steps.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }

cat >"$tmp/page.md" <<'MD'
# A page
## 1. Look

    look --at it    # a comment
    printf '%s\n' a \
        b

Text with `code`. Expected output of `look`:

    A 1

- Set this in `/etc/x.yaml`, then
  reload:

    mode: apply

Expected output:

    B 2
    C 3
MD
cat >"$tmp/want" <<'TXT'
step 1. Look
run look --at it    # a comment
run printf '%s\n' a     b
expect look
out A 1
file /etc/x.yaml mode: apply
expect
out B 2
out C 3
TXT
awk -f tests/boot/steps.awk "$tmp/page.md" >"$tmp/got"
diff "$tmp/want" "$tmp/got" || not_ok "the steps of a page"
awk -f tests/boot/steps.awk doc/first-day.md >"$tmp/steps"
[ "$(grep -c '^step [1-7]\.' "$tmp/steps")" = 7 ] && [ "$(grep -c '^expect' "$tmp/steps")" -ge 7 ] ||
	not_ok "doc/first-day.md has lost steps or outputs: $(grep -v '^out' "$tmp/steps")"
! grep -q '^run [^ ]*:' "$tmp/steps" || not_ok "an output of doc/first-day.md is taken for a command"
echo "ok - steps of a page"

# same EXPECTED ACTUAL
same() { printf '%b' "$1" >"$tmp/expected" && printf '%b' "$2" >"$tmp/actual" && sh tests/boot/expect.sh "$tmp/expected" "$tmp/actual" >"$tmp/why"; }
shown='Head\nMADs:  12 sent, -3.5 % (+1)  0x00ab\nlast [a|b] $x* ^end\n'
alike() { same "$1" "$2" || not_ok "taken for different: $1: $(cat "$tmp/why")"; }
unlike() { ! same "$1" "$2" || not_ok "taken for equal: $1"; }
alike "$shown" "$shown"
alike 'MADs: 7 sent, 10 % (-2.25) 0x1\n' "$shown"
alike 'Head\nlast [a|b] $x* ^end\n' "$shown"
alike 'MADs:  1 ... 0xf\n' "$shown"
alike '...\nHead\n\n' "$shown"
alike 'a long\n           sentence\n' 'a\n          long sentence\n'
alike 'x 1\n' '50 %\r\033[1mx\033[0m 2  \r\n'
alike 'leaf2 port 1\n' 'leaf2 port 17\n'
unlike 'leaf2 port 1\n' 'leaf3 port 1\n'
for other in 'Tail\n' 'last\n' 'MADs: 12\n' 'MADs: 12 sent, -3.5 % (+1) 1\n' 'last [a|b] $x* ^end\nHead\n' 'Head\nHead\n' \
	'last [ab] $x* ^end\n'; do
	unlike "$other" "$shown"
done
echo "ok - outputs of a page"
