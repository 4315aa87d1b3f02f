/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "settings". */
#ifndef SIM_REQUESTS_SETTINGS_H
#define SIM_REQUESTS_SETTINGS_H

#include "sim/requests.h"

/* The congestion control registers of all endports. */
json_t *ibcc_requests_settings(const struct ibcc_requests *q);

#endif
