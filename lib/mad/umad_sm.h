/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which subnet manager a local port belongs to. Private to lib/mad. */
#ifndef IBCC_MAD_UMAD_SM_H
#define IBCC_MAD_UMAD_SM_H

#include "lib/mad/umad_port.h"

/* The GUID of the port that the subnet manager runs at, as its own SMInfo has it (IBA vol.
 * 1, 14.4.1). Asks the port's SM LID twice, a second each. 0; -EACCES if the port may not be
 * opened, -ETIMEDOUT without an answer, or another negative errno.
 */
int ibcc_umad_sm_guid(const struct ibcc_umad_port *p, uint64_t *guid);

#endif
