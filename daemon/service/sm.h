/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Has a subnet manager set our port up? */
#ifndef IBCC_DAEMON_SM_H
#define IBCC_DAEMON_SM_H

#include <ibcc/smp.h>
#include <ibcc/transport.h>
#include <ibcc/why.h>

/* Asks the transport's own port, as umad's files are made once and for all on simulated fabrics.
 * *info is what it says of itself. Returns 0, -ENETDOWN if it has no link or knows no subnet
 * manager, -EHOSTUNREACH if it does not answer, -EIO when the transport is gone, -ECANCELED.
 */
int ibcc_sm_check(struct ibcc_transport *tr, struct ibcc_smp_port_info *info, struct ibcc_why *why);

#endif
