/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the commands share that measure the speed of the project itself. */
#ifndef PERFTEST_LAB_SPEED_H
#define PERFTEST_LAB_SPEED_H

#define IBCC_SPEED_WINDOW     64u  /* MADs in flight */
#define IBCC_SPEED_TIMEOUT_MS 2000 /* of a MAD */
#define IBCC_SPEED_REPEAT_MAX 99u

#endif
