/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "set". */
#ifndef SIM_REQUESTS_KNOBS_H
#define SIM_REQUESTS_KNOBS_H

#include "sim/requests.h"

/* Sets the values one after the other, and stops at the first one that is wrong. */
json_t *ibcc_requests_set(const struct ibcc_requests *q, const json_t *rq);

#endif
