#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# An ordinary user's PATH on Debian has no folder sbin, where opensm and the tools are: they are found all the same, and
# a program that is missing is named.
. "$(dirname "$0")/lib.sh"

user() { PATH=/usr/local/bin:/usr/bin:/bin "$@"; }

two_switches 8 >"$TMP/net"
user start_sim "$TMP/net"
user start_opensm
ok "opensm is found without sbin in PATH"
check "and the tools" user stock ibnetdiscover
check "which see the fabric" grep -q '"H4"' "$TMP/check.log"
user stock nosuchtool >"$TMP/text" 2>&1
equal "a program that is missing is an error" $? 127
check "and is named" grep -q '^ibcc-sim exec: nosuchtool: not found in the folders of PATH (.*:/usr/sbin:.*): is its package installed?$' "$TMP/text"
user stock /nowhere/opensm >"$TMP/text" 2>&1
equal "so is a path that is none" "$? $(cat "$TMP/text")" "127 ibcc-sim exec: /nowhere/opensm: No such file or directory"

# The demo says what a program said that ended too early.
mkdir "$TMP/bin"
printf '#!/bin/sh\necho "opensm: no fabric today" >&2\nexit 3\n' >"$TMP/bin/opensm"
chmod +x "$TMP/bin/opensm"
PATH=$TMP/bin:$PATH within 60 "$IBCC_BUILD/ibcc-lab" demo --build "$IBCC_BUILD" --out "$TMP/demo" >"$TMP/text" 2>&1
equal "the demo ends when opensm does" $? 1
check "with opensm's own words" grep -q 'the subnet manager did not start: opensm has ended; the last line of its output, in .*opensm.out: opensm: no fabric today$' "$TMP/text"
