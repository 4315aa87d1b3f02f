#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The plugin compiles against OpenSM as it is here, against 3.3.24, and against the layout that NVIDIA's 5.x
# headers have in the members that we read; and reads them right. Those headers cannot be shipped: these
# are the installed ones with such members in their place.
set -eu
B=${IBCC_BUILD:-build}
CC=${CC:-gcc}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
not_ok() { echo "not ok - $*"; exit 1; }
headers=/usr/include/infiniband

cat >"$tmp/main.c" <<'C'
#include <opensm/osm_config.h>
#include <opensm/osm_opensm.h>
#include <stdio.h>
#include <stdlib.h>
#include "opensm-plugin/fabric.h"

/* Two values of OpenSM's option, and what they mean. */
int main(void)
{
	osm_opensm_t *osm = calloc(1, sizeof(*osm));
	struct ibcc_proto_state s = { 0 };

	osm->subn.STATE = 3;
	osm->subn.opt.OPTION = 1;
	ibcc_plugin_sm_read(osm, &s);
	printf("%u %u ", s.sm_state, s.own_cc);
	osm->subn.opt.OPTION = 2;
	ibcc_plugin_sm_read(osm, &s);
	printf("%u %s\n", s.own_cc, s.opensm_version);
	return 0;
}
C

# compile NAME: the plugin with the headers in $tmp/NAME.
compile()
{
	inc="-std=c11 -D_GNU_SOURCE -isystem $tmp/$1"
	mkdir "$tmp/$1.gen"
	sh opensm-plugin/members.sh "$CC" $inc >"$tmp/$1.gen/opensm_members.h" || not_ok "$1: no members"
	for src in opensm-plugin/*.c; do
		"$CC" $inc -Iinclude -I. -I"$tmp/$1.gen" -Wall -Wextra -Werror -fPIC -c \
			-o "$tmp/$1.$(basename "$src" .c).o" "$src" >"$tmp/log" 2>&1 ||
			{ cat "$tmp/log"; not_ok "$1: $src does not compile"; }
	done
}
# reads NAME FABRIC.o STATE OPTION WANT: with the headers in $tmp/NAME, and what was compiled with them.
reads()
{
	"$CC" -std=c11 -D_GNU_SOURCE -isystem "$tmp/$1" -Iinclude -I. "-DSTATE=$3" "-DOPTION=$4" -o "$tmp/$1.run" "$tmp/main.c" "$2" \
		-Wl,--start-group "$B"/lib/libibcc_mad.a "$B"/lib/libibcc_ledger.a "$B"/lib/libibcc_counters.a \
		"$B"/lib/libibcc_topo.a "$B"/lib/libibcc_codec.a "$B"/lib/libibcc_base.a -Wl,--end-group \
		-losmcomp -libumad -libmad -lm -lpthread -Wl,--as-needed >"$tmp/log" 2>&1 ||
		{ cat "$tmp/log"; not_ok "$1: does not link"; }
	got=$("$tmp/$1.run")
	[ "$got" = "$5" ] || not_ok "$1: reads '$got', want '$5'"
	echo "ok - the plugin with headers of $1"
}

case $B in
*variant-*) # the archives want other libraries
	echo "ok - only where the build has no sanitizers"
	exit 0 ;;
esac
version=$(sed -n 's/^#define OSM_VERSION "\(.*\)"/\1/p' "$headers/opensm/osm_version.h")
ln -s "$headers" "$tmp/here"
# With these the build has compiled the plugin.
reads here "$B/obj/opensm-plugin/fabric.o" sm_state congestion_control "3 1 1 $version"

cp -r "$headers" "$tmp/3.3.24"
sed -i 's/OSM_VERSION "OpenSM .*"/OSM_VERSION "OpenSM 3.3.24"/' "$tmp/3.3.24/opensm/osm_version.h"
# Members that came in front of those that we read.
sed -i 's/^\(\tuint8_t sm_state;\)/\tuint32_t came_later;\n\1/; s/^\(\tboolean_t congestion_control;\)/\tboolean_t came_too;\n\1/' \
	"$tmp/3.3.24/opensm/osm_subnet.h"
grep -q came_later "$tmp/3.3.24/opensm/osm_subnet.h" || not_ok "the headers are not as they were"
compile 3.3.24
reads 3.3.24 "$tmp/3.3.24.fabric.o" sm_state congestion_control "3 1 1 OpenSM 3.3.24"

cp -r "$headers" "$tmp/nvidia"
sed -i 's/OSM_VERSION "OpenSM .*"/OSM_VERSION "OpenSM 5.20.0"/' "$tmp/nvidia/opensm/osm_version.h"
sed -i 's/^\tuint8_t sm_state;/\tstruct { uint32_t reason; uint8_t sm_state; } sm_state_info;/
	s/^\tboolean_t congestion_control;/\tuint8_t mlnx_congestion_control;/
	/^\t.* cc_sw_cong.*;/d; /^\t.* cc_ca_cong.*;/d; /^\tosm_cct_t cc_cct;/d' "$tmp/nvidia/opensm/osm_subnet.h"
compile nvidia
reads nvidia "$tmp/nvidia.fabric.o" sm_state_info.sm_state mlnx_congestion_control "3 0 2 OpenSM 5.20.0"

cp -r "$headers" "$tmp/strange"
sed -i 's/^\tboolean_t congestion_control;/\tuint8_t other_name;/' "$tmp/strange/opensm/osm_subnet.h"
if sh opensm-plugin/members.sh "$CC" -std=c11 -D_GNU_SOURCE -isystem "$tmp/strange" >/dev/null 2>"$tmp/log"; then
	not_ok "unknown headers are taken"
fi
grep -q 'none of what IBCC_OSM_OWN_CC could be' "$tmp/log" || not_ok "no message says what is lacking"
echo "ok - unknown headers are told"
