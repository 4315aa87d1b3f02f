/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Shared by the files of the double of libibverbs: verbs.c does the work, device.c says what the
 * device is, faults.c counts calls and says which of them fail.
 */
#ifndef TESTS_DOUBLE_INSIDE_H
#define TESTS_DOUBLE_INSIDE_H

#include "tests/double/verbs.h"

#define QPS_MAX 4096u
#define MRS_MAX 4096u
#define LID     7
#define PUBLIC  __attribute__((visibility("default")))

void double_forget_calls(void);

#endif
