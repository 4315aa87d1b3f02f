#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What a purge of the Debian package does in a folder of its own: the state files, by which settings on the fabric can be
# taken back, are kept and named.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; cat "$tmp/out"; exit 1; }
# Users and owners are the host's: they stay as they are.
mkdir "$tmp/bin"
printf '#!/bin/sh\nexit 2\n' >"$tmp/bin/getent"
printf '#!/bin/sh\necho "$*" >>"%s/owners"\n' "$tmp" >"$tmp/bin/chown"
chmod +x "$tmp/bin/getent" "$tmp/bin/chown"
postrm() { PATH=$tmp/bin:$PATH DPKG_ROOT=$tmp/root sh debian/ibcc-tune.postrm "$1" >"$tmp/out" 2>&1 || not_ok "postrm $1 fails"; }
library=$tmp/root/var/lib/ibcc-tune
fresh() { rm -rf "$tmp/root" "$tmp/owners"; mkdir -p "$library/east" "$tmp/root/etc/ibcc-tune" "$tmp/root/run/ibcc-tune"; }

fresh
echo book >"$library/state.db"
echo east >"$library/east/state.db"
DPKG_ROOT=$tmp/root sh debian/ibcc-tune.prerm remove >"$tmp/out" 2>&1 || not_ok "prerm remove fails"
grep -q "stay on the fabric" "$tmp/out" && grep -q "ibcc-tune rollback" "$tmp/out" || not_ok "a removal does not say what stays"
DPKG_ROOT=$tmp/root sh debian/ibcc-tune.prerm upgrade >"$tmp/out" 2>&1 && [ ! -s "$tmp/out" ] || not_ok "an upgrade speaks of a removal"
echo "ok - a removal says what stays on the fabric"
postrm remove
[ ! -s "$tmp/out" ] && [ -s "$library/state.db" ] || not_ok "a removal touches the state file"
postrm purge
[ ! -e "$library" ] && [ ! -e "$tmp/root/etc/ibcc-tune" ] && [ ! -e "$tmp/root/run/ibcc-tune" ] || not_ok "a purge leaves folders"
kept=$(echo "${library%/lib/*}"/backups/ibcc-tune-*)
[ "$(cat "$kept/state.db" "$kept/east/state.db")" = "book
east" ] || not_ok "a purge does not keep the state files"
[ "$(stat -c %a "$kept")" = 700 ] || not_ok "others may read them"
for f in "$kept" "$kept/state.db" "$kept/east" "$kept/east/state.db"; do
	grep -q -- "^-h root:root.* $f\( \|\$\)" "$tmp/owners" || not_ok "$f belongs to a user that is no more"
done
grep -q "settings that ibcc-tune made stay on the fabric" "$tmp/out" && grep -qF "$kept" "$tmp/out" && grep -q "ibcc-tune rollback" "$tmp/out" ||
	not_ok "a purge does not say where the state files are"
echo "ok - a purge keeps the state files, and says where and what for"

fresh
: >"$library/state.db"
postrm purge
[ ! -e "$library" ] && [ ! -e "$tmp/root/var/backups" ] && [ ! -s "$tmp/out" ] || not_ok "a purge keeps what nothing was written to"
echo "ok - without a history nothing is kept"
