/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last Sets of class 0x21: which client sent them, to which node, when. */
#ifndef SIM_SETLOG_H
#define SIM_SETLOG_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/mad.h>

#define IBCC_SETLOG_MAX 65536u

struct ibcc_setlog_entry {
	uint64_t time_us; /* CLOCK_MONOTONIC */
	uint32_t client;  /* its number; no two clients have the same */
	int32_t pid;
	uint16_t lid, attr_id;
	uint32_t attr_mod;
	bool answered;
	char host[32]; /* node that the client sits at */
};

struct ibcc_setlog {
	uint64_t n; /* Sets so far; the last IBCC_SETLOG_MAX of them are kept */
	struct ibcc_setlog_entry *entry;
};

/* Returns 0 or -ENOMEM. */
int ibcc_setlog_init(struct ibcc_setlog *l);
void ibcc_setlog_fini(struct ibcc_setlog *l);
void ibcc_setlog_add(struct ibcc_setlog *l, const struct ibcc_setlog_entry *e);
/* The number of the oldest Set that is kept. The second function returns the Set of a number from
 * there to n - 1.
 */
uint64_t ibcc_setlog_first(const struct ibcc_setlog *l);
const struct ibcc_setlog_entry *ibcc_setlog_at(const struct ibcc_setlog *l, uint64_t i);

#endif
