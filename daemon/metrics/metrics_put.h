/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A growing text, and the functions that write the metrics into it. */
#ifndef IBCC_DAEMON_METRICS_PUT_H
#define IBCC_DAEMON_METRICS_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibcc_text {
	char *text; /* owned, not terminated */
	size_t n, cap;
	bool failed; /* no memory: writes do nothing from now on */
};

void ibcc_put(struct ibcc_text *o, const char *s);
void ibcc_put_u64(struct ibcc_text *o, uint64_t v);
/* 0x and 16 digits. */
void ibcc_put_guid(struct ibcc_text *o, uint64_t v);
/* A number in units of `one`, a power of ten up to 10^19, with as many digits behind the point. */
void ibcc_put_parts(struct ibcc_text *o, uint64_t v, uint64_t one);
/* A node's name, cleaned, and escaped as the exposition format requires in a label. */
void ibcc_put_label(struct ibcc_text *o, const char *text);

#endif
