/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Has a subnet manager set our port up? */
#ifndef IBCC_DAEMON_SM_H
#define IBCC_DAEMON_SM_H

#include <stdint.h>

#include <ibcc/why.h>

/* Asks the port itself, as umad's files are made once and for all on simulated fabrics. Returns 0,
 * -ENETDOWN if it knows no subnet manager, or why it cannot be asked.
 */
int ibcc_sm_check(const char *ca, int port, int timeout_ms, struct ibcc_why *why);

#endif
