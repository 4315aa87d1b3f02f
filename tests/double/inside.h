/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the files of the double of libibverbs share: verbs.c does the work, device.c describes the
 * device, faults.c counts calls and decides which of them fail.
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
