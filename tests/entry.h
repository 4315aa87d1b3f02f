/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A program of many tests. The Makefile includes this header before a test and has main() renamed
 * after the file (main_of_test_x), so that all tests of a folder fit into one program: to link each
 * by itself takes longer than to compile them. Each test enters itself into a list before main() of
 * tests/main.c runs, and the program runs the one whose name it was started by.
 */
#ifndef TESTS_ENTRY_H
#define TESTS_ENTRY_H

struct ibcc_test {
	const char *name;
	int (*run)(void);
	struct ibcc_test *next;
};

void ibcc_test_enter(struct ibcc_test *test);

#ifdef main
#define IBCC_TEST_NAME_OF(word) #word
#define IBCC_TEST_NAME(word)    IBCC_TEST_NAME_OF(word)

int main(void);

__attribute__((constructor)) static void ibcc_test_enter_this(void)
{
	static struct ibcc_test test = { &IBCC_TEST_NAME(main)[sizeof("main_of_") - 1], main, 0 };

	ibcc_test_enter(&test);
}
#endif

#endif
