#!/bin/sh
# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# The pure folders of lib do no I/O, read no clock, log nothing and have no globals. Their objects refer only to the
# functions listed here and to folders that are pure (check_folders.sh), and hold no writable data. lib/cycle is given
# what does I/O for it, and reads and writes JSON in memory, but is like that itself.
set -eu
B=${IBCC_BUILD:-build}
bad=0

allow='malloc calloc realloc free reallocarray aligned_alloc memcpy memmove memset memcmp memchr bcmp strlen strnlen strcmp
strncmp strcasecmp strcpy strncpy strdup strndup strchr strrchr strstr snprintf vsnprintf qsort qsort_r bsearch
abort __assert_fail __stack_chk_fail __errno_location
sqrt pow exp log log2 ceil floor round lround llround fabs fmin fmax ldexp exp2 cbrt log1p expm1
mad_get_field mad_set_field mad_get_field64 mad_set_field64 mad_get_array mad_set_array
mad_encode_field mad_decode_field
__memcpy_chk __memset_chk __memmove_chk __snprintf_chk __vsnprintf_chk __strncpy_chk __strcpy_chk
_GLOBAL_OFFSET_TABLE_'
allow=" $(echo $allow) "

for part in base codec topo counters ledger demand law whose engine agents cycle; do
	lib=$B/lib/libibcc_$part.a
	[ -e "$lib" ] || { echo "not ok - there is no $lib"; exit 1; }
	more=' '
	[ "$part" != cycle ] || more=" explicit_bzero __explicit_bzero_chk asprintf __asprintf_chk strerror json_loads json_dumps json_pack json_delete json_array
		json_array_size json_array_get json_array_append_new "
	for sym in $(nm -u "$lib" 2>/dev/null | sed -n 's/^ *[UwvV] //p' | sed 's/@.*//' | sort -u); do
		case $sym in
		ibcc_log*)
			echo "not ok - lib/$part refers to $sym: it must not log"
			bad=1
			continue ;;
		ibcc_* | __asan* | __ubsan* | __sanitizer* | __tsan* | __odr_asan* | __start_* | __stop_*) continue ;;
		esac
		case $allow$(echo $more)' ' in
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

exit $bad
