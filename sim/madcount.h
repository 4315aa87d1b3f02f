/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests of clients counted by class, method and attribute. */
#ifndef SIM_MADCOUNT_H
#define SIM_MADCOUNT_H

#include <stdint.h>

#include <ibcc/mad.h>

#define IBCC_MADCOUNT_MAX 512u

struct ibcc_madcount {
	uint32_t n;
	struct ibcc_madcount_row {
		uint8_t mgmt_class, method;
		uint16_t attr_id;
		uint64_t count;
		uint64_t first_ns, last_ns; /* when the first and the last one came */
	} row[IBCC_MADCOUNT_MAX];           /* in ascending order */
	uint64_t total, sets;
	uint64_t start_ns; /* when the first of all came */
	uint64_t other;    /* requests that the table has no room for; usually malformed ones */
};

void ibcc_madcount_add(struct ibcc_madcount *c, const uint8_t *mad, uint64_t now_ns);

#endif
