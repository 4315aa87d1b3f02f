/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The linker sends all allocations of our objects through here (Makefile: --wrap). A test that
 * includes this file sees each of them, and decides which one fails.
 */
#ifndef TEST_ALLOCS_H
#define TEST_ALLOCS_H

#include <stdbool.h>
#include <stddef.h>

static bool alloc_fails(void);

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__real_reallocarray(void *p, size_t n, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void *__wrap_reallocarray(void *p, size_t n, size_t size);

void *__wrap_malloc(size_t size)
{
	return alloc_fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return alloc_fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return alloc_fails() ? NULL : __real_realloc(p, size);
}

void *__wrap_reallocarray(void *p, size_t n, size_t size)
{
	return alloc_fails() ? NULL : __real_reallocarray(p, n, size);
}

#endif
