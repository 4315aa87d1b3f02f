#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# What `make install` leaves, that the unit is as confined as it says, and that options are documented.
set -eu
B=${IBCC_BUILD:-build}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT

make -s install DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/etc >/dev/null
for f in usr/sbin/ibcc-tuned usr/sbin/ibcc-jobs usr/bin/ibcc-tune usr/lib/libibcc_opensm.so \
	usr/share/man/man8/ibcc-tuned.8 usr/share/man/man8/ibcc-jobs.8 usr/share/man/man1/ibcc-tune.1 \
	usr/lib/systemd/system/ibcc-tuned.service usr/lib/systemd/system/ibcc-tuned@.service usr/lib/systemd/system/ibcc-jobs.service usr/lib/systemd/system/ibcc-tuned-metrics.socket \
	usr/share/ibcc-tune/schema/ibcc-tune.schema.json usr/share/ibcc-tune/monitoring/ibcc-tune.rules.yaml usr/share/ibcc-tune/monitoring/job-comments.sh usr/share/man/man7/ibcc-metrics.7 usr/lib/sysusers.d/ibcc-tune.conf \
	usr/lib/tmpfiles.d/ibcc-tune.conf usr/lib/udev/rules.d/40-ibcc-tune.rules \
	usr/share/zsh/site-functions/_ibcc-tune usr/lib/systemd/catalog/ibcc-tune.catalog \
	usr/share/bash-completion/completions/ibcc-tune etc/ibcc-tune/ibcc-tuned.yaml; do
	[ -s "$root/$f" ] || { echo "not ok - make install leaves no /$f"; exit 1; }
done
echo "ok - make install leaves all files"

# The pages in their place: each link leads to an installed file, or to the web.
find "$root/usr/share/doc" -name '*.md' | while read -r page; do
	sed -e '/^    /d' -e 's/`[^`]*`//g' "$page" | grep -oE '\]\([^) #]+' | sed 's/^](//' | while read -r to; do
		case $to in
		*://* | mailto:*) ;;
		/*) [ -e "$root$to" ] || echo "${page#"$root"}: $to" ;;
		*) [ -e "$(dirname "$page")/$to" ] || echo "${page#"$root"}: $to" ;;
		esac
	done
done >"$root/broken"
[ ! -s "$root/broken" ] || { cat "$root/broken"; echo "not ok - links of installed pages lead nowhere"; exit 1; }
echo "ok - links of installed pages lead somewhere"

[ "$("$root/usr/bin/ibcc-bench" list -j | jq '.experiments | length')" = "$(ls perftest/experiments/*.yaml | wc -l)" ] ||
	{ echo "not ok - the installed ibcc-bench does not find its experiments"; exit 1; }
n=$("$root/usr/bin/ibcc-bench" help | grep -c '^  [a-z]')
[ "$n" -le 5 ] || { echo "not ok - the installed ibcc-bench has $n commands"; exit 1; }
[ -z "$(find "$root" -name 'ibcc-lab*' -o -name 'fits')" ] || { echo "not ok - the laboratory is installed"; exit 1; }
for c in 'sweep' 'push' 'tune --random 1'; do
	! "$root/usr/bin/ibcc-bench" $c >"$root/out" 2>&1 || { echo "not ok - the installed ibcc-bench has $c"; exit 1; }
done
echo "ok - the laboratory is not installed"

echo "mode: apply" >"$root/etc/ibcc-tune/ibcc-tuned.yaml"
make -s install DESTDIR="$root" PREFIX=/usr SYSCONFDIR=/etc >/dev/null
grep -q '^mode: apply' "$root/etc/ibcc-tune/ibcc-tuned.yaml" ||
	{ echo "not ok - make install overwrites the configuration"; exit 1; }
echo "ok - a configuration that is there stays"

# A user that may use verbs must not thereby be able to reconfigure the fabric.
! grep -v '^#' "$root/usr/lib/udev/rules.d/40-ibcc-tune.rules" "$root/usr/lib/sysusers.d/ibcc-tune.conf" \
	"$root/usr/lib/systemd/system/ibcc-tuned.service" | grep -E '[ ="]rdma("| |$)' ||
	{ echo "not ok - the group rdma is to send MADs"; exit 1; }
for f in udev/rules.d/40-ibcc-tune.rules sysusers.d/ibcc-tune.conf systemd/system/ibcc-tuned.service; do
	grep -v '^#' "$root/usr/lib/$f" | grep -qw ibcc-umad ||
		{ echo "not ok - $f does not have the group for MADs"; exit 1; }
done
echo "ok - MADs have a group of their own"

unit=$root/usr/lib/systemd/system/ibcc-tuned.service
one=${unit%.service}@.service # of several fabrics
jobs=${unit%tuned.service}jobs.service
for line in 'ExecStart=/usr/sbin/ibcc-tuned --fabric %i' 'StateDirectory=ibcc-tune/%i' \
	'ExecReload=/usr/sbin/ibcc-tuned --fabric %i --check-config'; do
	grep -qx -- "$line" "$one" || { echo "not ok - the template unit has no $line"; exit 1; }
done
[ "$(diff "$unit" "$one" | grep -c '^>')" = 4 ] ||
	{ diff "$unit" "$one"; echo "not ok - the template differs in more from the unit"; exit 1; }
echo "ok - each fabric has a unit, with a state directory of its own"
# By systemd's defaults a daemon that crashes is started again without end: never five times in ten seconds.
of_unit() { sed -n "s/^$1=//p" "$unit" | grep . || echo 0; }
[ $(($(of_unit StartLimitBurst) * $(of_unit RestartSec))) -gt 0 ] &&
	[ $(($(of_unit StartLimitBurst) * $(of_unit RestartSec))) -lt "$(of_unit StartLimitIntervalSec)" ] ||
	{ echo "not ok - the unit starts a daemon that crashes again without end"; exit 1; }
echo "ok - a daemon that crashes whenever it is started is given up"
if command -v systemd-analyze >/dev/null; then
	# With the programs where they are now.
	for u in ibcc-tuned.service ibcc-tuned@ib1.service ibcc-jobs.service; do
		case $u in *@*) from=$one ;; *jobs*) from=$jobs ;; *) from=$unit ;; esac
		sed "s|=/usr/sbin/|=$root/usr/sbin/|" "$from" >"$root/$u"
		said=$(systemd-analyze verify --man=no "$root/$u" 2>&1 | grep "$u" || true)
		[ -z "$said" ] || { echo "$said"; echo "not ok - systemd-analyze verify $u"; exit 1; }
	done
	echo "ok - systemd-analyze has nothing to say of the units"
fi
! grep -n '@[A-Z]*@' "$unit" "$one" "$jobs" || { echo "not ok - a place holder is left in the unit"; exit 1; }
if command -v systemd-analyze >/dev/null &&
	systemd-analyze security --help 2>/dev/null | grep -q -- --offline; then
	for u in "6 $unit" "12 $jobs"; do
		most=${u%% *} u=${u#* }
		systemd-analyze security --no-pager --offline=true --threshold="$most" "$u" >"$root/security" 2>&1 ||
			{ tail -n 1 "$root/security"; echo "not ok - $(basename "$u") is not confined as it should be"; exit 1; }
		echo "ok - confinement of $(basename "$u"):$(tail -n 1 "$root/security" | sed 's/.*service://')"
	done
fi

for p in ibcc-tune:man/ibcc-tune.1 ibcc-tuned:man/ibcc-tuned.8 ibcc-jobs:man/ibcc-jobs.8; do
	for o in $("$B/${p%%:*}" --help | grep -oE -- '--[A-Za-z][A-Za-z-]+' | sort -u); do
		grep -q -- "Fl -${o#--}\>" "${p#*:}" ||
			{ echo "not ok - ${p#*:} does not tell of $o"; exit 1; }
	done
	echo "ok - all options of ${p%%:*} are in its page"
done
