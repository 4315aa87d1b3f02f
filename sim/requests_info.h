/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "info". */
#ifndef SIM_REQUESTS_INFO_H
#define SIM_REQUESTS_INFO_H

#include "sim/requests.h"

/* What a command needs to become a client of the fabric: the name by which ibsim takes a client at
 * a host. The request may name the host by its description, its GUID, or its id in the netfile.
 */
json_t *ibcc_requests_info(const struct ibcc_requests *q, const json_t *rq);

#endif
