/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Has a subnet manager set our port up? */
#ifndef IBCC_DAEMON_SM_H
#define IBCC_DAEMON_SM_H

#include <ibcc/smp.h>
#include <ibcc/transport.h>
#include <ibcc/why.h>

/* Asks the transport's own port, because on simulated fabrics umad's files never change. *info is
 * the port's answer. Returns 0; -ENETDOWN if the port has no link or knows no subnet manager;
 * -EHOSTUNREACH if it does not answer; -EIO if the transport is gone; -ECANCELED.
 */
int ibcc_sm_check(struct ibcc_transport *tr, struct ibcc_smp_port_info *info, struct ibcc_why *why);

#endif
