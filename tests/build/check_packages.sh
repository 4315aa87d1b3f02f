#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Each file that `make install` leaves is in one package, by debian/ and by rpm/, and each line there names
# some; versions agree; scripts are clean; `make uninstall` takes everything back.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }
spec=rpm/ibcc-tune.spec

root="$tmp/a root" # with a blank, as a name may have
dirs="PREFIX=/usr SYSCONFDIR=/etc LIBDIR=/usr/lib/arch UNITDIR=/lib/systemd/system UDEVDIR=/lib/udev/rules.d
	DOCDIR=/usr/share/doc/ibcc-tune-doc ZSHCOMPDIR=/usr/share/zsh/vendor-completions"
# shellcheck disable=SC2086
make -s install DESTDIR="$root" $dirs >/dev/null
(cd "$root" && find . -type f | sed 's|^\./||' | sort) >"$tmp/files"
[ "$(wc -l <"$tmp/files")" -gt 50 ] || not_ok "make install leaves hardly a file"

# match LIST: how many of its patterns each installed file is in; files in none or several are shown.
match()
{
	(
		cd "$root"
		while read -r pattern; do
			# shellcheck disable=SC2086 # a pattern
			find $pattern -type f >"$tmp/hit" && [ -s "$tmp/hit" ] || not_ok "$1: $pattern is not installed" >&2
			while read -r f; do echo "$f"; done <"$tmp/hit" # as cat does, without a process
		done
	) <"$2" >"$tmp/hits"
	sort "$tmp/hits" >"$tmp/sorted"
	diff "$tmp/files" "$tmp/sorted" >"$tmp/diff" ||
		{ grep '^[<>]' "$tmp/diff"; not_ok "$1: not each file is in one package"; }
	echo "ok - $1 has each file once"
}
cat debian/*.install >"$tmp/deb"
match debian "$tmp/deb"
sed -n '/^%files/,/^%changelog/p' $spec | sed -n 's/^%config(noreplace) //; /^%{_\|^\//p; /^%[a-z]/d' | sed \
	's|%{_sysconfdir}|etc|; s|%{_unitdir}|lib/systemd/system|; s|%{_udevrulesdir}|lib/udev/rules.d|
	s|%{_bindir}|usr/bin|; s|%{_prefix}|usr|; s|%{_libdir}|usr/lib/arch|; s|%{_datadir}|usr/share|
	s|%{_mandir}|usr/share/man|; s|%{_docdir}|usr/share/doc|; s|%{_sysusersdir}|usr/lib/sysusers.d|
	s|%{_tmpfilesdir}|usr/lib/tmpfiles.d|; s|zsh/site-functions|zsh/vendor-completions|' >"$tmp/rpm"
match rpm "$tmp/rpm"

version=$(sed -n 's/.*IBCC_VERSION "\(.*\)"/\1/p' include/ibcc/version.h)
head -n 1 debian/changelog | grep -q "^ibcc-tune ($version) " || not_ok "debian/changelog is not of version $version"
grep -q "^Version: *$version\$" $spec || not_ok "$spec is not of version $version"
for p in $(sed -n 's/^ *\(build\|tests\)="//p; s/^\([a-z].*-dev\)"$/\1/p' tests/build/deps.sh | grep -oE 'lib[a-z0-9]*-dev' | grep -v cmocka | sort -u); do
	grep -qw -- "$p" debian/control || not_ok "debian/control does not build with $p"
done
echo "ok - versions and build dependencies agree"

for s in debian/*.postinst debian/*.prerm debian/*.postrm; do
	sh -n "$s" || not_ok "$s"
	! command -v shellcheck >/dev/null || shellcheck -s sh "$s" || not_ok "$s"
done
# A daemon of a single fabric is stopped and started again like the only one.
! grep -nE '(stop|try-restart) .*ibcc-tuned\.service' debian/*.p* $spec | grep -v "'ibcc-tuned@\*\.service'" ||
	not_ok "instances are forgotten"
! grep -nE '@([a-z]*\.)*example\.' debian/control debian/changelog $spec || not_ok "an address that is none"
! grep -nE '(systemctl|deb-systemd-invoke)[^|]* (start|enable|restart) ' debian/*.postinst || not_ok "installing starts something"
grep -q 'dh_installsystemd --no-enable --no-start' debian/rules || not_ok "debhelper would start the service"
echo "ok - scripts of the packages"

echo 'mode: apply' >"$root/etc/ibcc-tune/ibcc-tuned.yaml"
echo mine >"$root/usr/bin/other"
# shellcheck disable=SC2086
make -s uninstall DESTDIR="$root" $dirs >"$tmp/out" 2>&1 || { cat "$tmp/out"; not_ok "make uninstall"; }
(cd "$root" && find . -type f | sort | tr '\n' ' ') >"$tmp/left"
[ "$(cat "$tmp/left")" = './etc/ibcc-tune/ibcc-tuned.yaml ./usr/bin/other ' ] ||
	not_ok "make uninstall leaves or takes too much: $(cat "$tmp/left")"
[ ! -e "$root/usr/share/ibcc-tune" ] || not_ok "make uninstall leaves folders"
rm "$root/etc/ibcc-tune/ibcc-tuned.yaml"
# shellcheck disable=SC2086
make -s install DESTDIR="$root" $dirs >/dev/null && make -s uninstall DESTDIR="$root" $dirs >/dev/null
[ ! -e "$root/etc/ibcc-tune" ] || not_ok "make uninstall leaves an unchanged configuration"
echo "ok - make uninstall takes everything back but what was changed"
