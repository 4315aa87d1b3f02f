/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A text that grows, and what the metrics are written with. */
#ifndef IBCC_DAEMON_METRICS_PUT_H
#define IBCC_DAEMON_METRICS_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ibcc_text {
	char *text; /* owned, not terminated */
	size_t n, cap;
	bool failed; /* no memory: nothing is written any more */
};

void ibcc_put(struct ibcc_text *o, const char *s);
void ibcc_put_u64(struct ibcc_text *o, uint64_t v);
/* 0x and 16 digits. */
void ibcc_put_guid(struct ibcc_text *o, uint64_t v);
/* A number in parts of `one`, a power of ten up to 10^19, with as many digits behind the point. */
void ibcc_put_parts(struct ibcc_text *o, uint64_t v, uint64_t one);
/* A node's name, cleaned, and escaped as the exposition format wants it in a label. */
void ibcc_put_label(struct ibcc_text *o, const char *text);

#endif
