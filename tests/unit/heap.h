/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much of the heap this process has in use, for tests of programs that must not grow. */
#ifndef TESTS_UNIT_HEAP_H
#define TESTS_UNIT_HEAP_H

#include <malloc.h>
#include <stddef.h>

/* AddressSanitizer defines this function; it has its own heap, so mallinfo2() returns zeros. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

/* The bytes that are allocated and not freed. */
static inline size_t heap_bytes(void)
{
	struct mallinfo2 m;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

#endif
