#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# verbs.sh BUILD-DIR: ibcc-perf on soft RoCE (rdma_rxe), in a virtual machine with Debian's kernel. Correctness
# only: what a device that is software, on a processor that is emulated, carries in a second says nothing.
# Installs what it needs, as root; skipped where it cannot, or where Debian's kernel cannot be had.
set -u
B=$1
case $B in /*) ;; *) B=$PWD/$B ;; esac
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/boot/root.sh
. "$here/../boot/root.sh"
dir=$B/verbs
root=$dir/root
out=$dir/console
qemu=
limit=${IBCC_VERBS_SECONDS:-600} # it shares the processors with check-boot

ok() { printf 'ok - %s\n' "$*"; }
skip() { printf 'ok - nothing on soft RoCE: %s # SKIP\n' "$*"; exit 0; }
fail() { printf 'not ok - %s\n' "$*"; tail -n 60 "$out" 2>/dev/null | cut -c1-300; exit 1; }
cleanup()
{
	trap - EXIT INT TERM
	[ -z "$qemu" ] || kill "$qemu" 2>/dev/null
	rm -rf "$root" "$dir/initrd"
}
trap cleanup EXIT
trap 'exit 1' INT TERM

[ "$(uname -m)" = x86_64 ] || skip "this is written for x86_64"
command -v dpkg >/dev/null || skip "this is no Debian system"
packages="qemu-system-x86 seabios busybox-static cpio kmod iproute2 ibverbs-providers ibverbs-utils jq"
mkdir -p "$dir"
# shellcheck disable=SC2086
install_missing "$dir/apt.log" $packages || skip "$WHY"

# The kernel, kept for the next time. Those for clouds are without rdma_rxe.
kernel=$(flock "$B/apt.lock" apt-cache depends linux-image-amd64 2>/dev/null | sed -n 's/.*Depends: \(linux-image-.*\)/\1/p' | head -n 1)
[ -n "$kernel" ] || skip "the lists of packages have no linux-image-amd64"
release=${kernel#linux-image-}
release=${release%-unsigned}
if [ ! -e "$dir/$release/boot/vmlinuz-$release" ]; then
	rm -rf "$dir"/*.deb "${dir:?}/$release"
	(cd "$dir" && flock "$B/apt.lock" apt-get -q download "$kernel") >"$dir/apt.log" 2>&1 || skip "$kernel cannot be had"
	mkdir "$dir/$release" && dpkg -x "$dir/$kernel"_*.deb "$dir/$release" || fail "$kernel cannot be unpacked"
	rm -f "$dir"/*.deb
	depmod -b "$dir/$release" "$release" || fail "depmod"
fi
modules=$dir/$release

# copy FILE...: into the machine, with the libraries that it is linked with.
copy()
{
	local f
	for f; do
		install -D "$f" "$root/$f"
		ldd "$f" 2>/dev/null | grep -o '/[^ ]*' | while read -r l; do
			[ -e "$root/$l" ] || install -D "$l" "$root/$l"
		done
	done
}

rm -rf "$root"
mkdir -p "$root"/{proc,sys,dev,tmp,run,etc/libibverbs.d,bin,modules}
install "$(command -v busybox)" "$root/bin/busybox"
install "$B/ibcc-perf" "$root/bin/ibcc-perf"
for l in $(ldd "$B/ibcc-perf" | grep -o '/[^ ]*'); do [ -e "$root/$l" ] || install -D "$l" "$root/$l"; done
copy "$(command -v ip)" "$(command -v tc)" "$(command -v rdma)" "$(command -v ibv_devinfo)"
mv "$root/$(command -v ip)" "$root/bin/iproute2-ip"
mv "$root/$(command -v tc)" "$root/bin/iproute2-tc"
copy /usr/lib/x86_64-linux-gnu/libibverbs/librxe-rdmav34.so
cp /etc/libibverbs.d/rxe.driver "$root/etc/libibverbs.d/"
# Each with what it needs, in an order in which they can be loaded.
for m in crc32_generic veth bridge sch_tbf ib_uverbs rdma_ucm rdma_rxe; do
	modprobe --show-depends -d "$modules" -S "$release" "$m" | sed -n 's/^insmod \([^ ]*\).*/\1/p'
done | awk '!seen[$0]++' >"$dir/modules"
while read -r m; do
	install "$m" "$root/modules/" && basename "$m" >>"$root/modules/order"
done <"$dir/modules"
install "$here/init.sh" "$root/init"
cp "$here"/*.yaml "$root/"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) >"$dir/initrd" || fail "no image"

# kvm_pvm has guests stand still.
accel=tcg,thread=multi
if [ -w /dev/kvm ] && { [ -d /sys/module/kvm_intel ] || [ -d /sys/module/kvm_amd ]; } && [ ! -d /sys/module/kvm_pvm ]; then
	accel=kvm
fi
started=$SECONDS
timeout -k 5 "$limit" qemu-system-x86_64 -machine pc -accel $accel -cpu max -smp 2 -m 1024 -nodefaults -no-reboot \
	-display none -serial "file:$out" -kernel "$modules/boot/vmlinuz-$release" -initrd "$dir/initrd" \
	-append "console=ttyS0 quiet panic=-1" </dev/null >"$dir/qemu.log" 2>&1 &
qemu=$!
wait "$qemu"
rc=$?
qemu=
tr -d '\r' <"$out" >"$out.txt"
out=$out.txt
[ $rc != 124 ] || fail "the machine did not come to an end within $limit s"
grep -q '^## end' "$out" || { cat "$dir/qemu.log"; fail "the machine died"; }
! grep '^skip ' "$out" || skip "$(sed -n 's/^skip //p' "$out")"
echo "# Linux $release, $accel, $((SECONDS - started)) s"

# part NAME: what the machine printed between two marks.
part() { sed -n "/^## begin $1\$/,/^## end $1\$/{/^## /d;p}" "$out"; }
# is TEXT NAME FILTER: jq's filter holds for a part.
is()
{
	part "$2" >"$dir/$2.json"
	jq -e "$3" "$dir/$2.json" >/dev/null 2>"$dir/jq.log" || {
		jq '{mbps, flows: [.flows[]? | {name, mbps, messages, verified, wrong, received}], hosts, words}' \
			"$dir/$2.json" 2>&1 | head -n 80
		fail "$1"
	}
	ok "$1"
}
has() { part "$2" | grep -qE -- "$3" || { part "$2"; fail "$1"; }; ok "$1"; }
none() { [ -z "$(part "$2")" ] || { part "$2"; fail "$1"; }; ok "$1"; }

has "the devices are there" devices 'h1|rxe1'
none "no process has a queue pair at first" idle
is "hotspot: all flows moved data" hotspot '[.flows[] | .messages > 0] | all'
is "hotspot: the victim is far above the hot flows" hotspot '
	([.flows[] | select(.kind == "hot") | .mbps] | max) as $hot |
	(.flows[] | select(.kind == "victim") | .mbps) > 2 * $hot'
for p in hotspot send read cm; do
	is "$p: what was compared was right" $p '[.flows[] | .verified > 0 and .wrong == 0] | all'
	is "$p: percentiles are in order" $p '[.flows[] | .latency_p50_us > 0 and .latency_p50_us <= .latency_p99_us and .latency_p99_us <= .latency_max_us] | all'
	is "$p: the hosts know how often they sent again" $p '[.hosts[].retries >= 0] | all'
	is "$p: the hosts counted" $p '
		.window_s as $s | [.hosts[] | .counters | (.sent_pkts // 0) + (.rcvd_pkts // 0) > 0] | all'
done
is "send: all that was sent was received" send '[.flows[] | .received >= .messages] | all'
is "rate: a flow that can has the rate it was given" rate '
	.flows[] | select(.name == "slow") | .mbps > 0.9 and .mbps < 1.1'
is "rate: one that cannot says so" rate '.flows[] | select(.name == "fast") | .given_up_share > 0.1'
is "around: the slow port at eight times its rate" around '.change.hot.change_percent > 100'
has "around: in words" around '"words": "victims .*, hot receiver \+[0-9.]+ % \(\+-'
has "a killed peer ends the run, and is named" peer 'lost the connection to h[0-9]|the peer does not answer'
has "with exit code 1" peer '^status 1$'
none "it leaves no queue pair, region or session" peer-left
none "a killed coordinator leaves none either" coordinator-left
has "SIGINT ends a run with its results" interrupt '^interrupted: the figures cover'
none "and leaves nothing" interrupt-left
has "a wrong token is refused" token 'the token of this host is another one'
has "a device that is not there is named" device 'h1: there is no RDMA device rxe9 on this host'
none "the machine ended its server, and nothing is left" end-left
