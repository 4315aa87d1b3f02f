#!/bin/busybox sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# shellcheck shell=dash
# The first and only script of the machine: five hosts, each a soft RoCE device on an interface of its own, at
# one bridge whose port to the first is slow; ibcc-perf between them. Prints what verbs.sh looks at.
export PATH=/bin:/usr/bin:/usr/sbin:/sbin
/bin/busybox --install -s /bin
# The shell would take its own, which know less.
ip() { /bin/iproute2-ip "$@"; }
tc() { /bin/iproute2-tc "$@"; }
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmpfs /tmp
echo 1 >/proc/sys/kernel/panic_on_oops
ulimit -l unlimited
# No terminal sends Ctrl-C here; kill does.
exec </dev/null

end() { echo "## end"; poweroff -f; }
part() { name=$1; shift; echo "## begin $name"; "$@"; echo "## end $name"; }

while read -r m; do insmod "/modules/$m" || echo "insmod $m failed"; done </modules/order
ip link set lo up
ip link add name wire type bridge
ip link set wire up
slow() { tc qdisc replace dev p1 root tbf rate "$1" burst 32kb limit 400kb; }
for i in 1 2 3 4 5; do
	ip link add h$i address 02:00:00:00:00:0$i type veth peer name p$i
	ip link set p$i master wire
	echo 0 >/proc/sys/net/ipv6/conf/h$i/accept_dad
	echo 0 >/proc/sys/net/ipv6/conf/h$i/addr_gen_mode
	ip link set p$i up
	ip link set h$i up
done
slow 2mbit
for i in 1 2 3 4 5; do
	rdma link add rxe$i type rxe netdev h$i || { echo "skip no soft RoCE in this kernel"; end; }
done
# Bridge ports forward, and interfaces have their addresses.
sleep 3

# Of ours: the kernel has one for management on each device.
left() { rdma resource show qp | grep -v 'type GSI'; rdma resource show mr; ps | grep '[i]bcc-perf'; }
settled()
{
	n=0
	while [ -n "$(left | grep -v "^ *$server ")" ] && [ $n -lt 100 ]; do sleep 0.2; n=$((n + 1)); done
	left | grep -v "^ *$server "
}

part devices ibv_devinfo -l
server=none
part idle left
echo "the right token" >/tmp/token
chmod 600 /tmp/token
ibcc-perf serve --token-file /tmp/token >/tmp/serve.log 2>&1 &
server=$!
while ! grep -q ready /tmp/serve.log; do sleep 0.1; done
run="ibcc-perf run --token-file /tmp/token"

part hotspot $run /hotspot.yaml -j
part send $run /hotspot.yaml -j --set verbs.operation=send --set duration_ms=4000
part read $run /hotspot.yaml -j --set verbs.operation=read --set duration_ms=4000
part cm $run /hotspot.yaml -j --set verbs.operation=send --set verbs.connect=cm --set duration_ms=4000
part rate $run /rate.yaml -j
# So slow at first that the processor, however busy, carries much more. Messages that wait must not be sent again.
slow 250kbit
part around $run /hotspot.yaml -j --set duration_ms=2500 --set verbs.verify=false --set verbs.message_bytes=1024 \
	--repeats 3 --settle-ms 200 \
	--around 'iproute2-tc qdisc replace dev p1 root tbf rate 2mbit burst 32kb limit 400kb'
slow 2mbit

# Until traffic runs, by what a run prints.
running()
{
	n=0
	while ! grep -q ' s  ' "$1" && [ $n -lt 300 ]; do sleep 0.2; n=$((n + 1)); done
}
session() { ps | grep '[i]bcc-perf serve' | awk -v s=$server '$1 != s { print $1 }' | head -n 1; }
killed_peer()
{
	$run /hotspot.yaml --set duration_ms=60000 >/tmp/peer 2>&1 &
	c=$!
	running /tmp/peer
	kill -9 "$(session)"
	wait $c
	s=$?
	cat /tmp/peer
	echo "status $s"
}
part peer killed_peer
part peer-left settled

$run /hotspot.yaml --set duration_ms=60000 >/tmp/log 2>&1 &
c=$!
running /tmp/log
part coordinator ps
kill -9 $c
part coordinator-left settled

interrupted()
{
	$run /hotspot.yaml --set duration_ms=60000 >/tmp/interrupted 2>&1 &
	c=$!
	running /tmp/interrupted
	kill -INT $c
	wait $c
	s=$?
	cat /tmp/interrupted
	echo "status $s"
}
part interrupt interrupted
part interrupt-left settled

echo "the wrong token" >/tmp/wrong
chmod 600 /tmp/wrong
part token ibcc-perf run --token-file /tmp/wrong /hotspot.yaml 2>&1
part device $run /hotspot.yaml --set hosts.h1.device=rxe9 2>&1
kill $server
wait $server
part end-left left
part serve cat /tmp/serve.log
end
