#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# lib/core, lib/fabric and lib/agents are pure: no I/O, clock, log or globals. Their objects may refer only to
# the functions listed here, to each other, and hold no writable data; includes go downwards only.
set -eu
B=${IBCC_BUILD:-build}
bad=0

allow='malloc calloc realloc free reallocarray aligned_alloc memcpy memmove memset memcmp bcmp strlen strnlen strcmp
strncmp strcasecmp strcpy strncpy strdup strndup strchr strrchr strstr snprintf vsnprintf qsort qsort_r bsearch
abort __assert_fail __stack_chk_fail __errno_location
sqrt pow exp log log2 ceil floor round lround llround fabs fmin fmax ldexp exp2 cbrt log1p expm1
mad_get_field mad_set_field mad_get_field64 mad_set_field64 mad_get_array mad_set_array
mad_encode_field mad_decode_field
__memcpy_chk __memset_chk __memmove_chk __snprintf_chk __vsnprintf_chk __strncpy_chk __strcpy_chk
_GLOBAL_OFFSET_TABLE_'
allow=" $(echo $allow) "

for part in core fabric agents; do
	lib=$B/lib/libibcc_$part.a
	[ -e "$lib" ] || continue
	for sym in $(nm -u "$lib" 2>/dev/null | sed -n 's/^ *[UwvV] //p' | sed 's/@.*//' | sort -u); do
		case $sym in
		ibcc_* | __asan* | __ubsan* | __sanitizer* | __tsan* | __odr_asan* | __start_* | __stop_*) continue ;;
		esac
		case $allow in
		*" $sym "*) ;;
		*)
			echo "not ok - lib/$part refers to $sym: it must stay pure"
			bad=1 ;;
		esac
	done
	case $B in
	*address*) ;; # the sanitizer adds data of its own
	*)
		# Tables of constant pointers are relocated once (.data.rel.ro) and count as constant.
		if nm -f sysv "$lib" | awk -F'|' '$NF ~ /\.t?(data|bss)|\*COM\*/ && $NF !~ /\.data\.rel\.ro/ &&
			$4 !~ /SECTION/ { print "# " $1; bad = 1 } END { exit !bad }'; then
			echo "not ok - lib/$part has writable data"
			bad=1
		fi ;;
	esac
	echo "ok - symbols of lib/$part"
done

# Who may include whose headers.
deny()
{
	if grep -nE "^#[[:space:]]*include[[:space:]]+[<\"]ibcc/($2)\.h" "$1"/*.c "$1"/*.h 2>/dev/null; then
		echo "not ok - $1 includes a header above it"
		bad=1
	fi
}
io='now|collect|apply|applier|cycle|gate|proto|log|yaml|config|scenario_file'
deny lib/core "$io|transport|agents|inproc|engine|scenario"
deny lib/fabric "$io|transport|agents|inproc"
deny lib/agents "$io"
if grep -rnE '^#[[:space:]]*include[[:space:]]+"(daemon|sim|opensm-plugin|perftest)/' lib sim opensm-plugin 2>/dev/null |
	grep -vE '^sim/[^:]*:[0-9]+:#include "sim/|^opensm-plugin/[^:]*:[0-9]+:#include "opensm-plugin/'; then
	echo "not ok - an include that points upwards"
	bad=1
fi
echo "ok - includes go downwards"
exit $bad
