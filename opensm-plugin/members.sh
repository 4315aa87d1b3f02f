#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# members.sh COMPILER [FLAG]...: how to read what OpenSM's releases and NVIDIA's call otherwise, as a
# header on stdout. Version numbers do not tell, so each name is tried.
set -eu
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# first NAME EXPRESSION... -- COMPILER [FLAG]...: defines NAME as the first expression of an OpenSM `osm`
# that compiles.
first()
{
	name=$1
	shift
	tries=
	while [ "$1" != -- ]; do
		tries="$tries$1
"
		shift
	done
	shift
	printf '%s' "$tries" | while read -r expression; do
		cat >"$tmp/try.c" <<-C
		#include <opensm/osm_config.h>
		#include <opensm/osm_opensm.h>
		unsigned long try(const struct osm_opensm *osm);
		unsigned long try(const struct osm_opensm *osm) { return (unsigned long)($expression); }
		C
		if "$@" -fsyntax-only "$tmp/try.c" >"$tmp/log" 2>&1; then
			echo "#define $name(osm) ($expression)"
			exit 0
		fi
	done >"$tmp/found"
	[ -s "$tmp/found" ] || {
		echo "members.sh: these OpenSM headers have none of what $name could be:" >&2
		printf '%s' "$tries" >&2
		cat "$tmp/log" >&2
		exit 1
	}
	cat "$tmp/found"
}

echo '/* Made by opensm-plugin/members.sh. */'
# Single words that OpenSM's own threads read without its lock, too.
word() { echo "*(const volatile __typeof__((osm)->$1) *)&(osm)->$1"; }
first IBCC_OSM_SM_STATE "$(word subn.sm_state)" "$(word subn.sm_state_info.sm_state)" -- "$@"
# enum ibcc_own_cc. FALSE or TRUE; of NVIDIA's, 0 leave alone, 1 switch off, 2 on.
first IBCC_OSM_OWN_CC "($(word subn.opt.congestion_control) ? 1 : 0)" \
	"($(word subn.opt.mlnx_congestion_control) == 2 ? 2 : 0)" -- "$@"
