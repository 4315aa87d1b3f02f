#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# boot.sh BUILD-DIR: the packages of `make deb` in a container that systemd boots, with a simulated fabric for
# hardware: installed, used by README's own lines and by all steps of doc/first-day.md with the output that the page
# shows, reloaded, killed by the watchdog, and purged. Runs as root on Debian, and installs what it needs; skipped
# elsewhere, and where a container cannot boot. RELEASE=trixie is another release of Debian: the packages are built
# there, tested and installed.
set -u
B=$1
case $B in /*) ;; *) B=$PWD/$B ;; esac
dir=$B/boot
top=$(cd "$(dirname "$0")/../.." && pwd)
root=$dir/root
# shellcheck source=tests/wait.sh
. "$top/tests/wait.sh"
# shellcheck source=tests/boot/root.sh
. "$top/tests/boot/root.sh"
# shellcheck source=tests/boot/walk.sh
. "$top/tests/boot/walk.sh"
nspawn='' leader=''

ok() { printf 'ok - %s\n' "$*"; }
skip() { printf 'ok - no boot test: %s # SKIP\n' "$*"; exit 0; }
fail()
{
	printf 'not ok - %s\n' "$*"
	if [ -n "$leader" ]; then
		inside journalctl --no-pager -n 40 -u ibcc-tuned -u fabric -u sm -u ibcc-tuned-metrics.socket | cut -c1-300
	fi
	exit 1
}
# check TEXT COMMAND...: the command may read check.log, which has the output of the check before.
check()
{
	local _text=$1 _rc=0
	shift
	"$@" >"$dir/check.new" 2>&1 || _rc=$?
	mv "$dir/check.new" "$dir/check.log"
	[ "$_rc" = 0 ] || { cat "$dir/check.log"; fail "$_text"; }
	ok "$_text"
}
cleanup()
{
	trap - EXIT INT TERM
	# SIGRTMIN+4 powers off.
	[ -z "$leader" ] || kill -s RTMIN+4 "$leader" 2>/dev/null
	[ -z "$nspawn" ] || wait_until 20 gone "$nspawn" || kill -KILL "$nspawn" 2>/dev/null
	rm -rf --one-file-system "$root" "$dir/there"
}
gone() { ! kill -0 "$1" 2>/dev/null; }
trap cleanup EXIT
trap 'exit 1' INT TERM

# In the container.
inside() { nsenter -t "$leader" -m -u -i -n -p -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C "$@"; }
sh_inside() { inside bash -c "$1"; }
journal() { inside journalctl --no-pager -u ibcc-tuned | grep -q -- "$1"; }
pid_of() { inside systemctl show -P MainPID ibcc-tuned; }

# Before anything is installed for it.
may_make_roots || skip "$WHY"
mkdir -p "$dir"
install_missing "$dir/apt.log" systemd-container mmdebstrap dpkg-dev debhelper lintian || skip "$WHY"
here=$(. /etc/os-release && echo "$VERSION_CODENAME")
release=${RELEASE:-$here}
# What debuggers need is neither compiled, linked nor packed, and nothing is compressed: these packages are installed once.
build_options="DEB_BUILD_OPTIONS='noautodbgsym parallel=$(nproc) ${DEB_BUILD_OPTIONS-}' DEB_CFLAGS_STRIP=-g DPKG_DEB_COMPRESSOR_TYPE=none"
if [ "$release" != "$here" ] && ! make_root "$release" "$dir/$release.tar" \
	"dpkg-dev,debhelper,$(sh "$top/tests/build/deps.sh" --list | tr ' ' ,)"; then
	echo "ok - $WHY # SKIP"
	release=$here
fi
if [ "$release" = "$here" ]; then
	sh -c "$build_options make -s -C '$top' deb" >"$dir/deb.log" 2>&1 || { tail -n 20 "$dir/deb.log"; fail "make deb"; }
	ok "packages are built"
	built=$B/deb
else
	# One build for the packages, the units and all else whose outcome libraries, compiler and tools have a say in.
	user_root "$dir/$release.tar" "$dir/there" "$top" || fail "no system of Debian's $release"
	by_user "$dir/there" "$build_options dpkg-buildpackage -us -uc -b" >"$dir/deb.log" 2>&1 ||
		{ tail -n 40 "$dir/deb.log"; fail "packages on Debian's $release"; }
	ok "packages are built on Debian's $release: $(grep '^[0-9]* tests passed' "$dir/deb.log")"
	by_user "$dir/there" "make demo >demo.log 2>&1 && make build/tests/double/libibverbs-double.so build/tests/system/tool build/tests/system/plugin_client && T='check_cppcheck check_lib check_headers
		check_osm_headers check_hardening ooo_check test_perf test_errors test_sbin' bash tests/run.sh build build system" ||
		fail "tests on Debian's $release"
	ok "the demo and what differs most between releases"
	built=$dir/there/home/user
fi
# Only these packages are not compressed.
check "lintian finds nothing" lintian --allow-root --fail-on error,warning \
	--suppress-tags uses-no-compression-for-control-tarball,uses-no-compression-for-data-tarball "$built"/*.changes
debs=$(find "$built" -maxdepth 1 -name "*.deb" ! -name "*dbgsym*")

# A system with what the packages depend on, kept for the next time.
needs=systemd,systemd-sysv,udev,ibsim-utils,opensm
for deb in $debs; do
	needs=$needs,$(dpkg-deb -f "$deb" Depends | tr , '\n' | sed 's/^ *//; s/[ (|:].*//' | grep -v '^ibcc-\|^systemd' | paste -sd,)
done
needs=$(echo "$needs" | tr , '\n' | sort -u | grep . | paste -sd,)
make_root "$release" "$dir/root.tar" "$needs" || skip "$WHY"
rm -rf "$root" && mkdir -p "$root" && tar -xf "$dir/root.tar" -C "$root" && mkdir "$root/debs"
# shellcheck disable=SC2086
cp $debs "$root/debs"

# Without systemd outside, no program keeps a list of containers.
flags=
[ -d /run/systemd/system ] || flags='--register=no --keep-unit'
# shellcheck disable=SC2086
systemd-nspawn -q -b -D "$root" $flags --machine="ibcc-boot-$$" --private-network --link-journal=no --console=pipe \
	>"$dir/console.log" 2>&1 </dev/null &
nspawn=$!
find_leader() { leader=$(cat /proc/$nspawn/task/*/children | tr ' ' '\n' | head -n 1) && [ -n "$leader" ]; }
# systemd-nspawn's first child may be another process, which ends soon.
up() { find_leader && inside systemctl is-system-running | grep -q 'running\|degraded'; }
wait_until 20 find_leader || { leader=; tail -n 3 "$dir/console.log"; skip "systemd-nspawn cannot run here"; }
wait_until 60 up || { tail -n 3 "$dir/console.log"; skip "systemd does not boot in a container here"; }
ok "a container with systemd is up"

files() { sh_inside 'find / -xdev \( -path /debs -o -path /proc -o -path /sys -o -path /tmp -o -path "/var/log" -o -path "/var/cache" -o -path /var/lib/dpkg -o -path /var/tmp -o -path /var/lib/systemd \) -prune -o -print' | sort; }
files >"$dir/before"
check "the packages install" sh_inside 'dpkg -i /debs/*.deb'
for unit in ibcc-tuned.service ibcc-tuned-metrics.socket ibcc-jobs.service; do
	! inside systemctl is-active -q $unit && ! inside systemctl is-enabled -q $unit ||
		fail "$unit was started or enabled by the installation"
done
ok "nothing is started or enabled"
inside id ibcc | grep -q ibcc-umad && ! inside id ibcc | grep -qw rdma || fail "groups: $(inside id ibcc)"
[ "$(inside stat -c %U:%G /run/ibcc-tune)" = ibcc:ibcc ] || fail "no /run/ibcc-tune"
ok "user, groups and folders are there"
check "systemd-analyze security is 1.5 at most" \
	inside systemd-analyze security --no-pager --offline=true --threshold=15 /lib/systemd/system/ibcc-tuned.service
check "and that of ibcc-jobs, which needs TCP, 1.5" \
	inside systemd-analyze security --no-pager --offline=true --threshold=15 /lib/systemd/system/ibcc-jobs.service
check "systemd understands the units" inside systemd-analyze verify --man=no ibcc-tuned.service ibcc-tuned-metrics.socket ibcc-jobs.service

# A batch system that a script stands in for. The daemon's user reads the map, others do not.
sh_inside 'cat >/usr/local/bin/pbs-map && chmod 755 /usr/local/bin/pbs-map' <<-'SCRIPT'
	#!/bin/sh
	echo '{"version": 1, "made_s": '$(date +%s)', "period_s": 5, "source": "x", "jobs": [{"id": "7", "hosts": ["source1"]}]}'
SCRIPT
check "ibcc-jobs starts with a site's command" sh_inside "echo 'IBCC_JOBS_OPTIONS=\"-p command -c /usr/local/bin/pbs-map -i 5\"' >/etc/default/ibcc-jobs &&
	systemctl start ibcc-jobs"
map_of() { inside setpriv --reuid "$1" --regid "$1" --init-groups cat /run/ibcc-jobs/jobs.json | grep -q '"id":"7"'; }
wait_until 20 map_of ibcc || fail "the daemon's user cannot read the map: $(sh_inside 'journalctl --no-pager -u ibcc-jobs; ls -la /run/ibcc-jobs')"
! map_of nobody 2>/dev/null || fail "anyone can read the map"
check "the daemon's user reads the map, and others do not" inside systemctl is-active ibcc-jobs
check "a killed ibcc-jobs leaves its map" sh_inside 'systemctl kill -s KILL ibcc-jobs && sleep 1 && [ -s /run/ibcc-jobs/jobs.json ]'
wait_until 20 inside systemctl is-active -q ibcc-jobs || fail "ibcc-jobs is not started again"
check "and its map goes with it" sh_inside 'systemctl stop ibcc-jobs && [ ! -e /run/ibcc-jobs ] && rm /etc/default/ibcc-jobs /usr/local/bin/pbs-map'

# A container has no device.
! inside systemctl start ibcc-tuned >"$dir/check.log" 2>&1 || fail "the service starts without a device"
inside ibcc-tune status >"$dir/none" 2>&1
check "a host without a device is told so" grep -q 'no InfiniBand device' "$dir/none"

awk -f "$top/tests/boot/steps.awk" "$top/doc/first-day.md" >"$dir/page"
sed -n '/^step Rehearse/,$p' "$dir/page" >"$dir/page.rehearsal"
rehearse "$dir/page.rehearsal"

# The fabric as hardware: abstract sockets, so the service must see the container's network.
sh_inside 'mkdir -p /tmp/osm /etc/systemd/system/ibcc-tuned.service.d && cat >/etc/systemd/system/ibcc-tuned.service.d/sim.conf' <<-'UNIT'
	[Unit]
	AssertPathExists=
	[Service]
	ExecStart=
	ExecStart=/usr/bin/ibcc-sim exec --name demo -- /usr/sbin/ibcc-tuned
	WorkingDirectory=/var/lib/ibcc-tune
	PrivateNetwork=no
	WatchdogSec=5
	TimeoutAbortSec=1
	RestartSec=1
UNIT
# The two lines that INSTALL.md shows.
opensm_lines=$(sed -n 's/^    \(\(event_plugin_name\|congestion_control\) .*\)/\1/p' "$top/INSTALL.md")
[ "$(wc -l <<<"$opensm_lines")" = 2 ] || fail "INSTALL.md's lines for OpenSM: $opensm_lines"
sh_inside 'cat >/etc/opensm/opensm.conf' <<<"$opensm_lines
force_log_flush TRUE"
inside systemd-run -q --unit=fabric --uid=ibcc --working-directory=/tmp ibcc-sim run \
	--scenario /usr/share/ibcc-tune/scenarios/lustre.yaml --name demo --speed 0.02
wait_until 60 sh_inside 'journalctl -u fabric | grep -q "ready demo"' || fail "no fabric"
inside systemd-run -q --unit=sm --working-directory=/tmp/osm --setenv=OSM_CACHE_DIR=/tmp/osm --setenv=OSM_TMP_DIR=/tmp/osm \
	ibcc-sim exec --name demo -- opensm -F /etc/opensm/opensm.conf -f /tmp/osm/opensm.log
wait_until 60 sh_inside 'grep -q "SUBNET UP" /tmp/osm/opensm.log' || fail "opensm does not get going"
ok "a fabric and its subnet manager"

# By its default an apply would take ten polling cycles of ten seconds until its roots hold.
sh_inside 'echo "interval_ms: 1000" >>/etc/ibcc-tune/ibcc-tuned.yaml'
check "the service starts, says READY, and is enabled" inside systemctl enable --now ibcc-tuned
[ "$(inside systemctl is-active ibcc-tuned)" = active ] || fail "it is not active"
wait_until 90 journal 'decision: ' || fail "no decision in the journal"
ok "a decision is in the journal"
inside ibcc-tune status | grep -q 'observe' || fail "it is no observer"

# The commands of README and INSTALL.md as they stand there.
planned() { inside ibcc-tune plan -j | grep -Eq '"writes": ?[1-9]'; }
is_on() { inside ibcc-tune show -j | grep -Eq '"CCTI_Limit": ?[1-9]'; }
wait_until 90 planned || fail "nothing is planned: $(inside ibcc-tune plan)"
sed -n '/^    systemctl enable/,/^$/s/^    \([^#]*[^# ]\).*/\1/p' "$top/README.md" \
	"$top/INSTALL.md" >"$dir/use"
[ "$(wc -l <"$dir/use")" -ge 9 ] || fail "README's commands: $(cat "$dir/use")"
while read -r line <&3; do
	# Without a terminal it would go on.
	[ "$line" != 'ibcc-tune top' ] || line='ibcc-tune top --limit 1'
	# What changes the fabric asks, and a person types a yes, and ENTER at the end of a trial.
	case $line in
	*apply* | *rollback) check "README: $line, and a yes" typed "$line" ;;
	*) check "README: $line" sh_inside "$line" ;;
	esac
	case $line in
	*dry-run*) grep -q Decision "$dir/check.log" && ! is_on || fail "a dry run: $(cat "$dir/check.log")" ;;
	*apply*) grep -q 'changes\? verified' "$dir/check.log" && is_on || fail "apply: $(cat "$dir/check.log")" ;;
	*rollback) ! is_on || fail "rollback leaves: $(inside ibcc-tune show)" ;;
	esac
done 3<"$dir/use"
check "top" inside ibcc-tune top --watch=1 --limit 2
grep -q leaf2 "$dir/check.log" || fail "top does not show the root: $(cat "$dir/check.log")"
sh_inside 'rm -f FILE /FILE'

# The page of the first day, from a daemon that does not run to one that tunes.
check "the service is stopped and disabled" inside systemctl disable --now ibcc-tuned
sed '/^step Rehearse/,$d' "$dir/page" >"$dir/page.day"
walk "$dir/page.day"
sh_inside "grep -q '<svg' $home/fabric.html && grep -q leaf2 $home/fabric.html" || fail "the report has no drawing"
sh_inside "rm -f $home/fabric.html $home/plan.json"
inside ibcc-tune history -j | grep -q '"outcome": *"confirmed"' || fail "the history says nothing of what was confirmed"

sh_inside 'echo "mode: aply" >/etc/ibcc-tune/ibcc-tuned.yaml'
! inside systemctl reload ibcc-tuned >/dev/null 2>&1 || fail "a bad configuration is taken"
[ "$(inside systemctl is-active ibcc-tuned)" = active ] || fail "a bad configuration ends it"
sh_inside 'printf "mode: apply\ninterval_ms: 1000\n" >/etc/ibcc-tune/ibcc-tuned.yaml'
check "reload" inside systemctl reload ibcc-tuned
wait_until 20 journal 'configuration reloaded, mode apply' || fail "the new configuration does not arrive"
wait_until 90 journal 'changes\? verified' || fail "nothing is written in mode apply"
ok "mode apply writes, and says so"
wrote=$(sed -n 's/.*\[IBCC_LOG_WROTE\] = "\(.*\)",/\1/p' lib/text/log_ids.c)
check "it is found by its kind" sh_inside "journalctl --no-pager -u ibcc-tuned MESSAGE_ID=$wrote | grep -q 'changes\? verified'"
check "and explained" sh_inside "journalctl --no-pager -xu ibcc-tuned MESSAGE_ID=$wrote | grep -q 'Subject: Settings were written and verified'"

page() { sh_inside "exec 3<>/dev/tcp/127.0.0.1/10315 && printf 'GET $1 HTTP/1.0\r\n\r\n' >&3 && timeout 10 cat <&3"; }
check "metrics are switched on" sh_inside 'systemctl -q enable ibcc-tuned-metrics.socket && systemctl restart ibcc-tuned'
metrics() { page /metrics >"$dir/page" && grep -q '^ibcc_plugin_connected 1' "$dir/page"; }
wait_until 60 metrics || fail "no metrics: $(head -n 20 "$dir/page")"
ok "and are there"
inside systemctl stop ibcc-tuned
! inside systemctl is-active -q ibcc-tuned-metrics.socket || fail "a scrape would start what was stopped"
inside systemctl start ibcc-tuned
inside systemctl is-active -q ibcc-tuned-metrics.socket || fail "the socket does not come back"
ok "the socket comes and goes with the service"

pid=$(pid_of)
sh_inside "kill -STOP $pid"
another() { local p; p=$(pid_of); [ "$p" != 0 ] && [ "$p" != "$pid" ] && inside systemctl is-active -q ibcc-tuned; }
wait_until 60 another || fail "the watchdog does not bite"
ok "a daemon that hangs is killed and started again"

# One that crashes whenever it is started: systemd gives up by itself.
storm=/etc/systemd/system/ibcc-tuned.service.d/storm.conf
sh_inside "printf '[Service]\nExecStart=\nExecStart=/bin/sh -c \"kill -SEGV \$\$\$\$\"\nRestartSec=100ms\n' >$storm"
inside systemctl daemon-reload
inside systemctl reset-failed ibcc-tuned
! inside systemctl restart ibcc-tuned 2>"$dir/check.log" || fail "a daemon that crashes at its start is active"
gave_up() { inside systemctl is-failed -q ibcc-tuned && [ "$(inside systemctl show -P SubState ibcc-tuned)" = failed ]; }
wait_until 60 gave_up || fail "systemd starts it without end: $(inside systemctl show -P NRestarts ibcc-tuned) times"
restarts=$(inside systemctl show -P NRestarts ibcc-tuned) # the last one is refused
[ "$restarts" = 12 ] || fail "systemd gives up after $restarts restarts"
sh_inside "rm $storm && systemctl daemon-reload && systemctl reset-failed ibcc-tuned ibcc-tuned-metrics.socket"
check "a daemon that crashes at its start is given up, and starts again when it has been mended" inside systemctl start ibcc-tuned

# The daemon of a single fabric, here the same one: it is stopped, and its links go, like the only one's.
inside systemctl stop ibcc-tuned
check "a daemon of a fabric by name" sh_inside '{ cat /etc/ibcc-tune/ibcc-tuned.yaml && echo "plugin_socket: /run/ibcc-tune/opensm.sock"; } >/etc/ibcc-tune/one.yaml &&
	mkdir -p /etc/systemd/system/ibcc-tuned@.service.d && sed "s|sbin/ibcc-tuned\$|& --fabric %i|; s|^Working.*|&/%i|" \
		/etc/systemd/system/ibcc-tuned.service.d/sim.conf >/etc/systemd/system/ibcc-tuned@.service.d/sim.conf &&
	systemctl daemon-reload && systemctl enable --now ibcc-tuned@one'
[ "$(inside systemctl is-active ibcc-tuned@one)" = active ] || fail "it is not active: $(inside systemctl status ibcc-tuned@one)"

# Removed while all of it runs: OpenSM goes on, settings stay, and both is said.
settings() { sh_inside 'cd /tmp && ibcc-sim settings -j --name demo' | grep -c '"CCTI_Limit": *[1-9]'; }
wait_until 90 settings || fail "there are no settings on the fabric that could stay"
check "daemon and plugin are removed while they run" inside dpkg -r ibcc-tune opensm-plugin-ibcc
grep -q 'settings that ibcc-tune made stay on the fabric' "$dir/check.log" && grep -q 'ibcc-tune rollback' "$dir/check.log" ||
	fail "it is not said what stays on the fabric: $(cat "$dir/check.log")"
grep -q 'keeps the plugin until OpenSM is restarted' "$dir/check.log" || fail "nothing is said of the plugin: $(cat "$dir/check.log")"
! inside systemctl is-active -q ibcc-tuned@one || fail "the daemon of a fabric outlives its package"
settings >"$dir/check.log" || fail "the settings have gone with the package"
sleep 2
inside systemctl is-active -q sm || fail "opensm ends when its plugin is removed"
ok "opensm goes on, and settings stay"

# The fabric runs as the daemon's user, which cannot be removed until it ends.
inside systemctl stop sm fabric 2>/dev/null
names=$(for deb in $debs; do dpkg-deb -f "$deb" Package; done | paste -sd' ')
check "the packages are purged" sh_inside "dpkg --purge $names"
way_back=$(sed -n 's|.*"\(mv /var/backups/[^"]*\)".*|\1|p' "$dir/check.log")
[ -n "$way_back" ] || fail "the purge does not say how to go back"
! inside systemctl is-active -q ibcc-tuned || fail "the daemon outlives its package"
! inside systemctl is-active -q ibcc-tuned@one || fail "the daemon of a fabric outlives its package"
sh_inside 'rm -f /etc/ibcc-tune/one.yaml; rmdir /etc/ibcc-tune; rm -rf /etc/systemd/system/ibcc-tuned.service.d /etc/systemd/system/ibcc-tuned@.service.d /etc/opensm/opensm.conf; systemctl daemon-reload'
check "which keeps the state file" sh_inside '[ -s /var/backups/ibcc-tune-*/state.db ]'
# Without a fabric the daemon does not start: another program does, with the unit's user and folder.
check "the packages install again, and the state file is put back as the purge said" sh_inside "dpkg -i /debs/ibcc-tune_*.deb &&
	$way_back && systemd-run -q --unit=owner -p Type=oneshot -p User=ibcc \
		\$(sed -n 's/^StateDirectory[A-Za-z]*=.*/-p &/p' /lib/systemd/system/ibcc-tuned.service | paste -sd' ') true &&
	[ \"\$(stat -c %U /var/lib/ibcc-tune/state.db)\" = ibcc ]"
check "and are purged again" sh_inside "dpkg --purge ibcc-tune && rm -r /var/backups/ibcc-tune-*"
files >"$dir/after"
# Copies of the lists of users, and what OpenSM keeps, are not ours.
comm -13 "$dir/before" "$dir/after" | grep -v '^/etc/\(passwd\|group\|shadow\|gshadow\|subuid\|subgid\)-$\|^/etc/opensm$\|^/run\|^/etc/.pwd.lock' >"$dir/left"
[ ! -s "$dir/left" ] || { cat "$dir/left"; fail "purge leaves something behind"; }
! inside getent passwd ibcc && ! inside getent group ibcc && ! inside getent group ibcc-umad && ! inside getent passwd ibcc-jobs && ! inside getent group ibcc-jobs || fail "purge leaves users"
[ -z "$(sh_inside 'find /run /var /etc -xdev \( -nouser -o -nogroup -o -path "*ibcc*" \) ! -path "/run/systemd/*" ! -path "/var/log/*" | head')" ] ||
	fail "purge leaves: $(sh_inside 'find /run /var /etc -xdev \( -nouser -o -nogroup -o -path "*ibcc*" \) ! -path "/run/systemd/*" ! -path "/var/log/*" | head')"
ok "purge leaves nothing behind"
