/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two nodes in one process, connected through the kernel, and the memory they send from and to. */
#ifndef PERFTEST_MPA_PAIR_H
#define PERFTEST_MPA_PAIR_H

#include "perftest/mpa/settings.h"

/* STag of either node's memory. Its tagged offsets begin with 0. */
#define IBCC_MPA_PAIR_STAG 0x1badu

/* Where the threads of a pair run: hosts a and b, NICs a and b; -1 anywhere. */
struct ibcc_mpa_cpus {
	int host[2], nic[2];
};
/* Chooses processors by their number. With four or more, each thread has its own. With fewer, both
 * hosts share one and both NICs the other; or, if `alone`, only host a runs on its processor.
 */
void ibcc_mpa_cpus_choose(bool alone, struct ibcc_mpa_cpus *out);
void ibcc_mpa_cpus_tie(int cpu); /* the calling thread */

struct ibcc_mpa_pair {
	struct ibcc_mpa_node *node[2];
	struct ibcc_mpa_sink sink[2];
	uint8_t *source;    /* what node 0 sends, `bytes` of noise */
	uint8_t *region[2]; /* memory to which the other node may write */
	size_t bytes;
};

/* Connects, exchanges startup frames and starts the NICs. buffer_bytes: length of an untagged
 * message's buffer. 0 or -errno; *p needs ibcc_mpa_pair_fini() in any case.
 */
int ibcc_mpa_pair_init(struct ibcc_mpa_pair *p, const struct ibcc_mpa_settings *s,
		       const struct ibcc_mpa_subject *u, const struct ibcc_mpa_cpus *cpus,
		       size_t region_bytes, uint32_t buffer_bytes);
void ibcc_mpa_pair_fini(struct ibcc_mpa_pair *p);

#endif
